package garner_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

func TestPrint(t *testing.T) {
	huge := math.Inf(1)
	for _, tt := range []struct {
		tensor garner.Tensor
		want   string
	}{
		{garner.Of([]bool{false, true}, 2), "[false, true]"},
		{garner.Of([]int64{math.MinInt64, math.MaxInt64}, 2), "[-9223372036854775808, 9223372036854775807]"},
		{garner.Of([]uint64{0, math.MaxUint64}, 2), "[0, 18446744073709551615]"},
		{garner.Of([]float64{2, math.Copysign(0, -1), 0.1, 1e16, 1e-5, -1e30, 9999999999999998, 0.0001}, 8), "[2.0, -0.0, 0.1, 1e+16, 1e-05, -1e+30, 9999999999999998.0, 0.0001]"},
		{garner.Of([]float64{math.NaN(), huge, -huge}, 3), "[NaN, Infinity, -Infinity]"},
		{garner.Of([]float32{0.1, 16777216, 123456789, 3.4028235e38}, 4), "[0.1, 16777216.0, 123456792.0, 3.4028235e+38]"},
		{garner.Of([]garner.Float16{0x7bff, 0x3c01}, 2), "[65504.0, 1.001]"},
		{garner.Of([]garner.Float8E4M3FN{0x7e, 0x7f, 0xff}, 3), "[448.0, NaN, NaN]"},
		{garner.Of([]complex64{1 + 2i, complex(-0.5, float32(math.Copysign(0, -1)))}, 2), "[1.0+2.0i, -0.5-0.0i]"},
		{garner.Of([]complex128{complex(math.NaN(), huge), complex(1e20, -huge)}, 2), "[NaN+Infinityi, 1e+20-Infinityi]"},
		{garner.Of([]string{"", "a\"b\\c", "\n\r\t\x00\x7f", "日本", "\u2028\U000e0001", "a\xffb"}, 6),
			`["", "a\"b\\c", "\n\r\t\u0000\u007f", "日本", "\u2028\udb40\udc01", "a\xffb"]`},
		{garner.Of([]int32{1, 2, 3, 4}, 2, 2), "[[1, 2], [3, 4]]"},
		{garner.Of([]int32{}, 2, 0), "[[], []]"},
	} {
		if got := tt.tensor.Text(); got != tt.want {
			t.Errorf("%s prints as %s, want %s", tt.tensor.DType(), got, tt.want)
		}
	}
}

// TestSetText sets texts that At does not print, or prints differently.
func TestSetText(t *testing.T) {
	for _, tt := range []struct {
		d    garner.DType
		text string
		want string
	}{
		{garner.I8, "+127", "127"},
		{garner.I8, "-128", "-128"},
		{garner.I8, "000000000000000000000000000001", "1"},
		{garner.U8, "-0", "0"},
		{garner.U1, "1", "1"},
		{garner.I64, "-9223372036854775808", "-9223372036854775808"},
		{garner.U64, "18446744073709551615", "18446744073709551615"},
		{garner.F64, "+Inf", "Infinity"},
		{garner.F64, "-INFINITY", "-Infinity"},
		{garner.F64, "1e400", "Infinity"},
		{garner.F64, "-1e-400", "-0.0"},
		{garner.F64, ".5", "0.5"},
		{garner.F64, "5.", "5.0"},
		{garner.F64, "1E+2", "100.0"},
		// Rounding to float64 first would give other values.
		{garner.F32, "1.000000059604644775390624999999999999", "1.0"},
		{garner.F32, "1.000000059604644775390625000000000001", "1.0000001"},
		{garner.F32, "3.4028235677973367e38", "Infinity"},
		{garner.F16, "65519.99999999999999999999", "65504.0"},
		{garner.F16, "65520", "Infinity"},
		{garner.F8E4M3FN, "-inf", "NaN"},
		{garner.F8E4M3FNUZ, "-0", "0.0"},
		{garner.F8E5M2FNUZ, "-1e-30", "0.0"},
		{garner.F4E2M1, "-Infinity", "-6.0"},
		{garner.F8E8M0, "1e-400", "5.877472e-39"},
		{garner.F8E8M0, "0.19", "0.25"},
		{garner.Complex64, "3", "3.0+0.0i"},
		{garner.Complex64, "2j", "0.0+2.0i"},
		{garner.Complex64, "-1e-2i", "0.0-0.01i"},
		{garner.Complex128, "-1e+5-1e-7j", "-100000.0-1e-07i"},
		{garner.Complex128, "inf-infi", "Infinity-Infinityi"},
		{garner.Complex128, "NaN", "NaN+0.0i"},
		{garner.Complex128, "0-NaNi", ""},
		{garner.String, "as it is", `"as it is"`},
		{garner.String, "", `""`},
		{garner.String, `"\n\r\t\\\""`, `"\n\r\t\\\""`},
		{garner.String, `"\u0041\ud83d\ude00\/\b\f\x80"`, `"A😀/\u0008\u000c\x80"`},
	} {
		s, err := garner.New(tt.d)
		if err != nil {
			t.Fatal(err)
		}
		err = s.SetText(0, tt.text)
		if tt.want == "" {
			if !errors.Is(err, garner.ErrDType) {
				t.Errorf("%s %s: %v, want an ErrDType", tt.d, tt.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", tt.d, tt.text, err)
		} else if got := s.Text(); got != tt.want {
			t.Errorf("%s %s became %s, want %s", tt.d, tt.text, got, tt.want)
		}
	}
}

// TestSetTextRefuses holds that an error names the text and the values that the
// type holds.
func TestSetTextRefuses(t *testing.T) {
	long := strings.Repeat("9", 1000)
	for _, tt := range []struct {
		d       garner.DType
		text    string
		message string
	}{
		{garner.Bool, "1", `garner: "1" is no bool; write true or false`},
		{garner.I4, "8", `garner: "8" is outside i4, which holds -8…7`},
		{garner.I4, "-9", `garner: "-9" is outside i4, which holds -8…7`},
		{garner.U1, "2", `garner: "2" is outside u1, which holds 0…1`},
		{garner.U8, "-1", `garner: "-1" is outside u8, which holds 0…255`},
		{garner.U8, "256", `garner: "256" is outside u8, which holds 0…255`},
		{garner.I64, "9223372036854775808", `garner: "9223372036854775808" is outside i64, which holds -9223372036854775808…9223372036854775807`},
		{garner.U64, "18446744073709551616", `garner: "18446744073709551616" is outside u64, which holds 0…18446744073709551615`},
		{garner.I32, long, `garner: "` + long[:40] + `"… is outside i32, which holds -2147483648…2147483647`},
		{garner.I32, "1.0", `garner: "1.0" is no integer, and i32 holds no other`},
		{garner.I32, "", `garner: "" is no integer, and i32 holds no other`},
		{garner.I32, "0x10", `garner: "0x10" is no integer, and i32 holds no other`},
		{garner.I32, "1_000", `garner: "1_000" is no integer, and i32 holds no other`},
		{garner.F32, "0x1p2", `garner: "0x1p2" is no number, which f32 wants`},
		{garner.F32, "1_0.5", `garner: "1_0.5" is no number, which f32 wants`},
		{garner.F32, ".", `garner: "." is no number, which f32 wants`},
		{garner.F32, "-", `garner: "-" is no number, which f32 wants`},
		{garner.F32, "1e", `garner: "1e" is no number, which f32 wants`},
		{garner.F32, "1e5.5", `garner: "1e5.5" is no number, which f32 wants`},
		{garner.F32, "-NaN", `garner: "-NaN" is no number, which f32 wants`},
		{garner.F32, "1.2.3", `garner: "1.2.3" is no number, which f32 wants`},
		{garner.F16, " 1", `garner: " 1" is no number, which f16 wants`},
		{garner.F4E2M1, "NaN", "garner: f4e2m1 has no NaN"},
		{garner.NF4, "nan", "garner: nf4 has no NaN"},
		{garner.F8E8M0, "0", `garner: "0" is outside f8e8m0, which holds 2^-127…2^127 and NaN`},
		{garner.F8E8M0, "-1", `garner: "-1" is outside f8e8m0, which holds 2^-127…2^127 and NaN`},
		{garner.F8E8M0, "-1e-400", `garner: "-1e-400" is outside f8e8m0, which holds 2^-127…2^127 and NaN`},
		{garner.Complex64, "i", `garner: "i" is no complex64; write it as 1.5-2.0i`},
		{garner.Complex64, "1+2ij", `garner: "1+2ij" is no complex64; write it as 1.5-2.0i`},
		{garner.Complex64, "1+2", `garner: "1+2" is no complex64; write it as 1.5-2.0i`},
		{garner.Complex64, "1+-2i", `garner: "1+-2i" is no complex64; write it as 1.5-2.0i`},
		{garner.Complex128, "1 + 2i", `garner: "1 + 2i" is no complex128; write it as 1.5-2.0i`},
		{garner.String, `"`, `garner: "\"" is no quoted string: the closing " is missing`},
		{garner.String, `"a`, `garner: "\"a" is no quoted string: the closing " is missing`},
		{garner.String, `"a\"`, `garner: "\"a\\\"" is no quoted string: the closing " is missing`},
		{garner.String, `"a"b"`, `garner: "\"a\"b\"" is no quoted string: a " inside must be written \"`},
		{garner.String, `"\q"`, `garner: "\"\\q\"" is no quoted string: \q is no escape; a backslash is written \\`},
		{garner.Complex64, "1.5.2+2i", `garner: "1.5.2+2i" is no complex64; write it as 1.5-2.0i`},
		{garner.String, `"\x4"`, `garner: "\"\\x4\"" is no quoted string: \x wants two hexadecimal digits`},
		{garner.String, `"\u12"`, `garner: "\"\\u12\"" is no quoted string: \u wants four hexadecimal digits`},
		{garner.String, `"\u+123"`, `garner: "\"\\u+123\"" is no quoted string: \u wants four hexadecimal digits`},
		{garner.String, `"\ud800"`, `garner: "\"\\ud800\"" is no quoted string: half of a surrogate pair stands alone`},
		{garner.String, `"\ud800\u0041"`, `garner: "\"\\ud800\\u0041\"" is no quoted string: half of a surrogate pair stands alone`},
	} {
		s, err := garner.New(tt.d)
		if err != nil {
			t.Fatal(err)
		}
		before := s.Text()
		err = s.SetText(0, tt.text)
		if err == nil || err.Error() != tt.message || !errors.Is(err, garner.ErrDType) {
			t.Errorf("%s %.50s: %v, want %s", tt.d, tt.text, err, tt.message)
		}
		if s.Text() != before {
			t.Errorf("%s %.50s was refused but stored", tt.d, tt.text)
		}
	}
}

// FuzzSetText sets any text for any type: the stored value prints, and its text
// reads back as the same bits.
func FuzzSetText(f *testing.F) {
	for _, seed := range []string{"1", "-0", "NaN", "-Infinity", "1e-45", "65519.9999999999999999", "1.5-2i", "true", `"a\u0000\xff"`, "0.0000e99999999999999999999"} {
		for _, d := range garner.DTypes() {
			f.Add(uint8(d), seed)
		}
	}
	f.Fuzz(func(t *testing.T, dtype uint8, text string) {
		d := garner.DTypes()[int(dtype)%len(garner.DTypes())]
		s, err := garner.New(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetText(0, text); err != nil {
			if !errors.Is(err, garner.ErrDType) {
				t.Fatalf("%s %q: %v", d, text, err)
			}
			return
		}
		back, _ := garner.New(d)
		if err := back.SetText(0, s.Text()); err != nil || back.Text() != s.Text() {
			t.Fatalf("%s %q prints as %s, which reads back as %s (%v)", d, text, s.Text(), back.Text(), err)
		}
		if d == garner.String {
			return
		}
		a, _ := s.Bytes()
		if b, _ := back.Bytes(); string(a) != string(b) {
			t.Fatalf("%s %q is %x, prints as %s, which reads back as %x", d, text, a, s.Text(), b)
		}
	})
}
