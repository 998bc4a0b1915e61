package garner_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// recordedValues is testdata/values.json, whose own script says what it holds.
type recordedValues struct {
	Decode, Text map[string][]recordedCode
	Encode       map[string][]recordedText
	Integers     map[string][]recordedInteger
}

type recordedCode struct {
	Code uint64
	Text string
}

type recordedText struct {
	Text string
	Code *uint64 // nil for any NaN
}

type recordedInteger struct {
	Code  uint64
	Value int64
}

// UnmarshalJSON reads [code, text]; the code of a float64 is quoted, as JSON's
// numbers do not carry it.
func (r *recordedCode) UnmarshalJSON(b []byte) error {
	var code json.RawMessage
	if err := json.Unmarshal(b, &[]any{&code, &r.Text}); err != nil {
		return err
	}
	var err error
	r.Code, err = strconv.ParseUint(strings.Trim(string(code), `"`), 10, 64)
	return err
}

func (r *recordedText) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.Text, &r.Code})
}

func (r *recordedInteger) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.Code, &r.Value})
}

func readValues(t *testing.T) (v recordedValues) {
	t.Helper()
	b, err := os.ReadFile("testdata/values.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Decode) != 9 || len(v.Encode) != 9 || len(v.Text) != 11 || len(v.Integers) != 6 {
		t.Fatalf("values.json holds %d, %d, %d and %d types", len(v.Decode), len(v.Encode), len(v.Text), len(v.Integers))
	}
	return v
}

// scalarOf is a rank-0 tensor with the given bits, for types of up to 64.
func scalarOf(t *testing.T, d garner.DType, code uint64) garner.Tensor {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, code)
	s, err := garner.FromBytes(d, b[:(d.Bits()+7)/8])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// codeOf is the bits of a rank-0 tensor.
func codeOf(t *testing.T, s garner.Tensor) uint64 {
	t.Helper()
	b, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

func dtypeNamed(t *testing.T, name string) garner.DType {
	t.Helper()
	d, err := garner.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sameFloat(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

// TestDecodeRecorded holds the value of every code of the narrow floats, and of
// a sample of f16 and bf16, against ml_dtypes and numpy.
func TestDecodeRecorded(t *testing.T) {
	for name, rows := range readValues(t).Decode {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			want, err := strconv.ParseFloat(r.Text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := scalarOf(t, d, r.Code).Float64(0); err != nil || !sameFloat(got, want) {
				t.Errorf("%s %#x is %v (%v), want %v", d, r.Code, got, err, want)
			}
		}
	}
}

// TestEncodeRecorded holds decimals, ties and neighbours of ties above all,
// against their nearest codes.
func TestEncodeRecorded(t *testing.T) {
	for name, rows := range readValues(t).Encode {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			s := scalarOf(t, d, 1)
			if err := s.SetText(0, r.Text); err != nil {
				t.Errorf("%s %s: %v", d, r.Text, err)
				continue
			}
			v, err := s.Float64(0)
			if err != nil {
				t.Fatal(err)
			}
			if r.Code == nil {
				if !math.IsNaN(v) {
					t.Errorf("%s %s became %v, want NaN", d, r.Text, v)
				}
			} else if code := codeOf(t, s); code != *r.Code {
				t.Errorf("%s %s became %#x, want %#x", d, r.Text, code, *r.Code)
			}
		}
	}
}

// TestTextRecorded holds what is printed against numpy's shortest decimals for
// f32, f64 and f16, and against the shortest found by trying for the others.
func TestTextRecorded(t *testing.T) {
	for name, rows := range readValues(t).Text {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			if got, err := scalarOf(t, d, r.Code).At(); err != nil || got != r.Text {
				t.Errorf("%s %#x prints as %s (%v), want %s", d, r.Code, got, err, r.Text)
			}
		}
	}
}

func TestIntegersRecorded(t *testing.T) {
	for name, rows := range readValues(t).Integers {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			s := scalarOf(t, d, r.Code)
			want := strconv.FormatInt(r.Value, 10)
			if got, err := s.At(); err != nil || got != want {
				t.Errorf("%s %#x prints as %s (%v), want %s", d, r.Code, got, err, want)
			}
			if got, err := s.Int(0); err != nil || got.String() != want || got.Unsigned != d.IsUnsigned() {
				t.Errorf("%s %#x is %v (%v), want %s", d, r.Code, got, err, want)
			}
			if got, err := s.Float64(0); err != nil || got != float64(r.Value) {
				t.Errorf("%s %#x is %v (%v), want %s", d, r.Code, got, err, want)
			}
			back := scalarOf(t, d, 0)
			if err := back.SetText(0, want); err != nil || codeOf(t, back) != r.Code {
				t.Errorf("%s %s became %#x (%v), want %#x", d, want, codeOf(t, back), err, r.Code)
			}
		}
	}
}

// TestTextReadsBack prints every code of the types of up to 16 bits, and many
// of the wider ones, and reads the text back. NaNs come back as NaN.
func TestTextReadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range garner.DTypes() {
		if d == garner.String || d == garner.Complex128 {
			continue
		}
		codes := make([]uint64, 0, 1<<16)
		switch {
		case d == garner.Bool:
			codes = append(codes, 0, 1)
		case d.Bits() <= 16:
			step := uint64(1)
			if testing.Short() && d.Bits() == 16 {
				step = 7
			}
			for c := uint64(0); c < 1<<d.Bits(); c += step {
				codes = append(codes, c)
			}
		default:
			for range 2000 {
				codes = append(codes, rng.Uint64()>>(64-d.Bits()))
			}
			for shift := range d.Bits() {
				codes = append(codes, 1<<shift, 1<<shift-1, ^uint64(0)>>(64-d.Bits())^1<<shift)
			}
		}
		for _, code := range codes {
			s, back := scalarOf(t, d, code), scalarOf(t, d, 0)
			text, err := s.At()
			if err != nil {
				t.Fatal(err)
			}
			if err := back.SetText(0, text); err != nil {
				t.Errorf("%s %#x prints as %s: %v", d, code, text, err)
				continue
			}
			if codeOf(t, back) == code {
				continue
			}
			again, _ := back.At()
			if !strings.Contains(text, "NaN") || again != text {
				t.Errorf("%s %#x prints as %s, which reads back as %#x, %s", d, code, text, codeOf(t, back), again)
			}
		}
	}
}

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

// TestSetText sets what At does not print, or prints otherwise.
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
		// Rounded by way of float64 these two would go astray.
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

// TestSetTextRefuses names what was there and what the type holds.
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

// TestElementAccess reads and writes through a strided view and refuses what
// lies outside.
func TestElementAccess(t *testing.T) {
	base, err := garner.FromBytes(garner.I4, []byte{0x10, 0x32, 0x54}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	v, err := base.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Text(); got != "[[0, 3], [1, 4], [2, 5]]" {
		t.Fatalf("the view holds %s", got)
	}
	if got, err := v.At(2, 1); err != nil || got != "5" {
		t.Errorf("element [2,1] is %s (%v)", got, err)
	}
	if err := v.SetText(3, "-8"); err != nil {
		t.Error(err)
	}
	if got := base.Text(); got != "[[0, 1, 2], [3, -8, 5]]" {
		t.Errorf("after writing through the view, the base holds %s", got)
	}
	if got, err := v.Int(3); err != nil || got != (garner.Index{Bits: 1<<64 - 8}) {
		t.Errorf("element 3 is %v (%v)", got, err)
	}

	_, err = v.At(1)
	checkShapeError(t, err, garner.KindRank, "garner: 1 coordinates for a tensor of shape [3,2]; give 2")
	_, err = v.At(1, 2)
	checkShapeError(t, err, garner.KindMismatch, "garner: coordinates [1,2] are outside shape [3,2]: dimension 1 has no position 2")
	_, err = v.At(-1, 0)
	checkShapeError(t, err, garner.KindMismatch, "garner: coordinates [-1,0] are outside shape [3,2]: dimension 0 has no position -1")
	for _, i := range []int{-1, 6, math.MaxInt, math.MinInt} {
		want := "garner: element " + strconv.Itoa(i) + " of a tensor of 6"
		checkShapeError(t, v.SetText(i, "1"), garner.KindMismatch, want)
		_, err = v.Float64(i)
		checkShapeError(t, err, garner.KindMismatch, want)
		_, err = v.Int(i)
		checkShapeError(t, err, garner.KindMismatch, want)
	}

	var none garner.Tensor
	if _, err := none.At(); !errors.Is(err, garner.ErrDType) {
		t.Errorf("At of the zero Tensor: %v", err)
	}
	if err := none.SetText(0, "1"); !errors.Is(err, garner.ErrDType) {
		t.Errorf("SetText of the zero Tensor: %v", err)
	}
	for _, s := range []garner.Tensor{garner.Of([]bool{true}), garner.Of([]string{"1"}), garner.Of([]complex64{1})} {
		if _, err := s.Float64(0); !errors.Is(err, garner.ErrDType) {
			t.Errorf("Float64 of %s: %v", s, err)
		}
		if _, err := s.Int(0); !errors.Is(err, garner.ErrDType) {
			t.Errorf("Int of %s: %v", s, err)
		}
	}
	if _, err := garner.Of([]float32{1}).Int(0); !errors.Is(err, garner.ErrDType) {
		t.Errorf("Int of a float: %v", err)
	}
}

// TestVolatileElements looks at elements of a file that was cut short.
func TestVolatileElements(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	base, err := garner.FromBytes(garner.I32, file.Bytes(), 1<<14)
	if err != nil {
		t.Fatal(err)
	}
	x := base.Volatile()
	if err := x.SetText(0, "1"); !errors.Is(err, garner.ErrFault) {
		t.Errorf("writing what is only to be read: %v", err)
	}
	if got, err := x.Int(5); err != nil || got.Bits != 0 {
		t.Errorf("element 5 is %s (%v)", got, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := x.At(5); !errors.Is(err, garner.ErrFault) {
		t.Errorf("At gave %q (%v)", got, err)
	}
	if got, err := x.Int(5); !errors.Is(err, garner.ErrFault) {
		t.Errorf("Int gave %s (%v)", got, err)
	}
	if got, err := x.Float64(5); !errors.Is(err, garner.ErrFault) {
		t.Errorf("Float64 gave %v (%v)", got, err)
	}
}

func checkShapeError(t *testing.T, err error, kind garner.ShapeKind, message string) {
	t.Helper()
	var shape *garner.ShapeError
	if !errors.As(err, &shape) || !errors.Is(err, garner.ErrShape) || shape.Kind != kind || err.Error() != message {
		t.Errorf("%v, want a ShapeError of kind %s: %s", err, kind, message)
	}
}

// FuzzSetText takes any text for any type: what is stored prints, and reads
// back as the same bits.
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
