package literal_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text  string
		dtype garner.DType
		want  string
	}{
		{"[[1,2],[3,4]]", garner.Invalid, "i64[2,2] [[1, 2], [3, 4]]"},
		{" [ [ 1 ,\n\t2 ] ,\r\n [ 3 , 4 ] ] ", garner.Invalid, "i64[2,2] [[1, 2], [3, 4]]"},
		{"5", garner.Invalid, "i64[] 5"},
		{"-5", garner.Invalid, "i64[] -5"},
		{"[+5, -0]", garner.Invalid, "i64[2] [5, 0]"},
		{"[]", garner.Invalid, "i64[0] []"},
		{"[[],[]]", garner.Invalid, "i64[2,0] [[], []]"},
		{"[[[]]]", garner.Invalid, "i64[1,1,0] [[[]]]"},
		{"[-9223372036854775808, 9223372036854775807]", garner.Invalid, "i64[2] [-9223372036854775808, 9223372036854775807]"},
		{"[+9223372036854775808, 0]", garner.Invalid, "u64[2] [9223372036854775808, 0]"},
		{"18446744073709551615", garner.Invalid, "u64[] 18446744073709551615"},
		{"[1, 18446744073709551616, 0.5]", garner.Invalid, "f64[3] [1.0, 1.8446744073709552e+19, 0.5]"},
		{"[1, 2.]", garner.Invalid, "f64[2] [1.0, 2.0]"},
		{"[1e3, .5, 2]", garner.Invalid, "f64[3] [1000.0, 0.5, 2.0]"},
		{"[NaN, -Infinity, inf, 1]", garner.Invalid, "f64[4] [NaN, -Infinity, Infinity, 1.0]"},
		{"NaN", garner.Invalid, "f64[] NaN"},
		{"[true,false]", garner.Invalid, "bool[2] [true, false]"},
		{"[1+2i, -3j, 0.5, 4]", garner.Invalid, "complex128[4] [1.0+2.0i, 0.0-3.0i, 0.5+0.0i, 4.0+0.0i]"},
		{"NaN+Infinityi", garner.Invalid, "complex128[] NaN+Infinityi"},
		{`["a", 'b', "", '']`, garner.Invalid, `string[4] ["a", "b", "", ""]`},
		{`'it\'s "so", \u00e9 \\'`, garner.Invalid, `string[] "it's \"so\", é \\"`},
		{`["[1,2]", "a\"]"]`, garner.Invalid, `string[2] ["[1,2]", "a\"]"]`},
		{"f32[[1,2],[3,4]]", garner.Invalid, "f32[2,2] [[1.0, 2.0], [3.0, 4.0]]"},
		{"i4[1,-2]", garner.Invalid, "i4[2] [1, -2]"},
		{"U1 [1,0,1]", garner.Invalid, "u1[3] [1, 0, 1]"},
		{"float8_e8m0fnu[1, 0.5]", garner.Invalid, "f8e8m0[2] [1.0, 0.5]"},
		{"f32(5)", garner.Invalid, "f32[] 5.0"},
		{" f32\n( -0.0 ) ", garner.Invalid, "f32[] -0.0"},
		{"bool(true)", garner.Invalid, "bool[] true"},
		{"string('x')", garner.Invalid, `string[] "x"`},
		{"string[]", garner.Invalid, "string[0] []"},
		{"complex64[1, 2i]", garner.Invalid, "complex64[2] [1.0+0.0i, 0.0+2.0i]"},
		{"nf4[1, -1]", garner.NF4, "nf4[2] [1.0, -1.0]"},
		{"[1,2]", garner.F16, "f16[2] [1.0, 2.0]"},
		{"7", garner.U8, "u8[] 7"},
		{"[]", garner.F32, "f32[0] []"},
		{strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64), garner.Invalid,
			"i64[1" + strings.Repeat(",1", 63) + "] " + strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64)},
	} {
		got, err := literal.Parse(tt.text, tt.dtype)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		} else if got.String() != tt.want {
			t.Errorf("%s is %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestParseRefuses: every message names the column and the remedy.
func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		text    string
		dtype   garner.DType
		class   error // nil: a SyntaxError
		message string
	}{
		{"", garner.Invalid, nil, "column 1 of the literal: there is no value; write a scalar such as 5 or a list such as [1, 2]"},
		{" \n", garner.Invalid, nil, "column 3 of the literal: there is no value; write a scalar such as 5 or a list such as [1, 2]"},
		{"[1 2 3]", garner.Invalid, nil, "column 4 of the literal: a comma is missing before '2'; put commas between the values, [1, 2], and between the lists, [[1], [2]]"},
		{"[[1, 2]\n [3, 4]]", garner.Invalid, nil, "column 10 of the literal: a comma is missing before '['; put commas between the values, [1, 2], and between the lists, [[1], [2]]"},
		{`["a""b"]`, garner.Invalid, nil, `column 5 of the literal: a comma is missing before '"'; put commas between the values, [1, 2], and between the lists, [[1], [2]]`},
		{"[1,2", garner.Invalid, nil, "column 5 of the literal: the [ of column 1 is not closed"},
		{"[[1,2],", garner.Invalid, nil, "column 8 of the literal: the literal ends where a value was wanted"},
		{"[", garner.Invalid, nil, "column 2 of the literal: the literal ends where a value was wanted"},
		{"[1,]", garner.Invalid, nil, "column 4 of the literal: ']' stands where a value was wanted"},
		{"[,1]", garner.Invalid, nil, "column 2 of the literal: ',' stands where a value was wanted"},
		{"]", garner.Invalid, nil, "column 1 of the literal: ']' stands where a value was wanted"},
		{"(5)", garner.Invalid, nil, "column 1 of the literal: '(' stands where a value was wanted"},
		{"[1]]", garner.Invalid, nil, "column 4 of the literal: text follows the literal; a list of several values is written [1, 2]"},
		{"1 2", garner.Invalid, nil, "column 3 of the literal: text follows the literal; a list of several values is written [1, 2]"},
		{"1, 2", garner.Invalid, nil, "column 2 of the literal: more values follow; put brackets around them all: [1, 2]"},
		{"f32[2] [1.0, 2.0]", garner.Invalid, nil, "column 8 of the literal: a second list follows; after f32 write the values, not the shape"},
		{"f32 5", garner.Invalid, nil, "column 1 of the literal: f32 is the name of a type; write f32(5), or f32[1, 2] for a list"},
		{"f32(5", garner.Invalid, nil, "column 6 of the literal: the ( of column 4 is not closed"},
		{"f32(", garner.Invalid, nil, "column 5 of the literal: the literal ends where a value was wanted"},
		{"f32(5, 6)", garner.Invalid, nil, "column 6 of the literal: parentheses are for one value; write f32[1, 2] for a list"},
		{"f32([5])", garner.Invalid, nil, "column 4 of the literal: parentheses are for one value; write f32[1, 2] for a list"},
		{"abc", garner.Invalid, nil, `column 1 of the literal: "abc" is no value; a string stands in quotes`},
		{"[1, abc]", garner.Invalid, nil, `column 5 of the literal: "abc" is no value; a string stands in quotes`},
		{"[1, 0x10]", garner.Invalid, nil, `column 5 of the literal: "0x10" is no value; a string stands in quotes`},
		{"[+]", garner.Invalid, nil, `column 2 of the literal: "+" is no value; a string stands in quotes`},
		{"[--1]", garner.Invalid, nil, `column 2 of the literal: "--1" is no value; a string stands in quotes`},
		{"[" + strings.Repeat("x", 999) + "]", garner.Invalid, nil, `column 2 of the literal: "` + strings.Repeat("x", 40) + `"… is no value; a string stands in quotes`},
		{"[True]", garner.Invalid, nil, "column 2 of the literal: True is no value; write true"},
		{`["abc]`, garner.Invalid, nil, `column 2 of the literal: the " is not closed`},
		{`'abc\'`, garner.Invalid, nil, `column 1 of the literal: the ' is not closed`},
		{`"abc\`, garner.Invalid, nil, `column 1 of the literal: the " is not closed`},

		{"[[1,2],[3]]", garner.Invalid, garner.ErrShape, "column 10 of the literal: this list holds 1, one before it 2; every list of one depth needs as many items"},
		{"[[1],[2,3]]", garner.Invalid, garner.ErrShape, "column 10 of the literal: this list holds 2, one before it 1; every list of one depth needs as many items"},
		{"[[[1],[2]],[]]", garner.Invalid, garner.ErrShape, "column 13 of the literal: this list holds 0, one before it 2; every list of one depth needs as many items"},
		{"[[],[1]]", garner.Invalid, garner.ErrShape, "column 7 of the literal: this list holds 1, one before it 0; every list of one depth needs as many items"},
		{"[1,[2]]", garner.Invalid, garner.ErrShape, "column 4 of the literal: a list stands where before there was a value or nothing; every list of one depth needs as many items"},
		{"[[],[[]]]", garner.Invalid, garner.ErrShape, "column 6 of the literal: a list stands where before there was a value or nothing; every list of one depth needs as many items"},
		{"[[1],2]", garner.Invalid, garner.ErrShape, "column 6 of the literal: a value stands where before there was a list; every list of one depth needs as many items"},
		{strings.Repeat("[", 65), garner.Invalid, garner.ErrShape, "column 65 of the literal: lists are nested deeper than 64; a tensor has no more dimensions"},

		{"[1, true]", garner.Invalid, garner.ErrDType, "column 5 of the literal: a bool stands beside an integer; a tensor has one type"},
		{`[1.5, "a"]`, garner.Invalid, garner.ErrDType, "column 7 of the literal: a string stands beside a decimal; a tensor has one type"},
		{`["a", 1i]`, garner.Invalid, garner.ErrDType, "column 7 of the literal: a complex number stands beside a string; a tensor has one type"},
		{"[1, 18446744073709551616]", garner.Invalid, garner.ErrDType, "column 5 of the literal: the integer fits neither i64 nor u64; write 1.0 in place of one 1, and all are f64"},
		{"[1, -9223372036854775809]", garner.Invalid, garner.ErrDType, "column 5 of the literal: the integer fits neither i64 nor u64; write 1.0 in place of one 1, and all are f64"},
		{"[-1, 18446744073709551615]", garner.Invalid, garner.ErrDType, "column 6 of the literal: -1 and 18446744073709551615 fit no integer type together; write 1.0 in place of one 1, and all are f64"},
		{"[9223372036854775808, -2, -3]", garner.Invalid, garner.ErrDType, "column 23 of the literal: -2 and 9223372036854775808 fit no integer type together; write 1.0 in place of one 1, and all are f64"},
		{"i4[1, 8]", garner.Invalid, garner.ErrDType, `column 7 of the literal: "8" is outside i4, which holds -8…7`},
		{"[1, 256]", garner.U8, garner.ErrDType, `column 5 of the literal: "256" is outside u8, which holds 0…255`},
		{"i32[1.0]", garner.Invalid, garner.ErrDType, `column 5 of the literal: "1.0" is no integer, and i32 holds no other`},
		{"f32[1.5.2]", garner.Invalid, garner.ErrDType, `column 5 of the literal: "1.5.2" is no number, which f32 wants`},
		{"bool[1]", garner.Invalid, garner.ErrDType, `column 6 of the literal: "1" is no bool; write true or false`},
		{`f32["1"]`, garner.Invalid, garner.ErrDType, "column 5 of the literal: a string stands here, and the type is f32"},
		{"string[1]", garner.Invalid, garner.ErrDType, "column 8 of the literal: an integer stands here, and the type is string; put quotes around it"},
		{`['\q']`, garner.Invalid, garner.ErrDType, `column 2 of the literal: "\"\\q\"" is no quoted string: \q is no escape; a backslash is written \\`},
		{"f32[1]", garner.F64, garner.ErrDType, "the literal says f32 and the dtype asked for is f64; leave one of them out"},
		{"f33[1]", garner.Invalid, garner.ErrDType, `column 1 of the literal: no dtype "f33"; there are `},
	} {
		_, err := literal.Parse(tt.text, tt.dtype)
		if err == nil || !strings.HasPrefix(err.Error(), "garner: "+tt.message) || len(err.Error()) > 400 {
			t.Errorf("%.50s: %v\nwant garner: %s", tt.text, err, tt.message)
		}
		var syntax *literal.SyntaxError
		if tt.class == nil && !errors.As(err, &syntax) || tt.class != nil && !errors.Is(err, tt.class) {
			t.Errorf("%.50s: %v is a %T", tt.text, err, err)
		}
	}
}

// TestTextReadsBack: what a tensor prints is the literal of the same tensor, of
// every type, for packed and odd shapes too.
func TestTextReadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range garner.DTypes() {
		for _, shape := range [][]int{{}, {0}, {1}, {7}, {2, 3}, {3, 1, 5}, {2, 2, 0}, {64, 33}} {
			want, err := garner.New(d, shape...)
			if err != nil {
				t.Fatal(err)
			}
			fill(t, rng, want)
			got, err := literal.Parse(want.Text(), d)
			if err != nil {
				t.Errorf("%s%v: %v", d, shape, err)
				continue
			}
			check(t, got, want)
			// And with the type in the text.
			text := d.String() + want.Text()
			if len(shape) == 0 {
				text = d.String() + "(" + want.Text() + ")"
			}
			if !literal.IsLiteral(text) {
				t.Errorf("%.50s is no literal", text)
			}
			got, err = literal.Parse(text, garner.Invalid)
			if err != nil {
				t.Errorf("%s%v: %v", d, shape, err)
				continue
			}
			check(t, got, want)
		}
	}
}

// fill writes random bits, but no NaN other than that of the type.
func fill(t *testing.T, rng *rand.Rand, x garner.Tensor) {
	t.Helper()
	if x.DType() == garner.String {
		values, err := garner.Values[string](x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range values {
			b := make([]byte, rng.IntN(8))
			for j := range b {
				b[j] = byte(rng.Uint32())
			}
			values[i] = string(b)
		}
		return
	}
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = byte(rng.Uint32())
		if x.DType() == garner.Bool {
			b[i] &= 1
		}
		if part := x.DType().Bits() / 16; x.DType().IsComplex() && i%part == part-1 {
			b[i] &^= 0x40 // of the exponent, so that no part is a NaN
		}
	}
	if per := 8 / x.DType().Bits(); per > 1 && len(b) > 0 && x.Len()%per != 0 {
		b[len(b)-1] &= 1<<(x.Len()%per*x.DType().Bits()) - 1 // unused bits
	}
	if x.DType().IsFloat() {
		for i := range x.Len() {
			if v, err := x.Float64(i); err != nil {
				t.Fatal(err)
			} else if v != v {
				if err := x.SetText(i, "NaN"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func check(t *testing.T, got, want garner.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) || got.Text() != want.Text() {
		t.Errorf("%s came back as %s", want, got)
		return
	}
	if got.DType() == garner.String {
		a, _ := garner.Values[string](got)
		b, _ := garner.Values[string](want)
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%q came back as %q", b[i], a[i])
			}
		}
		return
	}
	a, err := got.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s: %x came back as %x", want.DType(), b, a)
	}
}

func TestIsLiteral(t *testing.T) {
	for _, text := range []string{
		"[1]", " [1]", "[", "5", "-5", "+.5", "1e9", "true", "false", "NaN", "Infinity", "-Infinity", "inf", "1+2j", "NaN-Infinityi",
		`"a"`, "'a'", "f32[1]", "f32 (5)", "i4\n[1]", "bfloat16[1]", "1,2", "1 2",
	} {
		if !literal.IsLiteral(text) {
			t.Errorf("%q is a literal", text)
		}
	}
	for _, text := range []string{
		"", " ", "-", "--", ".", "..", "./5", "../[1].npy", "a.npy", "2024.npy", "5x", "f32", "f32.npy", "f32 5", "f33[1]", "data[1]", "True", "true.npy",
		"nan.npy", "i", "e5", "model.safetensors#w[0]", "/tmp/1", `C:\1`, "日本", "_[1]",
	} {
		if literal.IsLiteral(text) {
			t.Errorf("%q is no literal", text)
		}
	}
}

// TestParseMemory: a literal takes memory in proportion to its text.
func TestParseMemory(t *testing.T) {
	for _, text := range []string{
		"[" + strings.Repeat("1,", 1<<17) + "1]",
		"[" + strings.Repeat("[],", 1<<17) + "[]]",
		strings.Repeat("[", 1<<18),
		`["` + strings.Repeat(`\n`, 1<<17) + `"]`,
		"1e" + strings.Repeat("9", 1<<18),
		"f16[0." + strings.Repeat("0", 1<<18) + "1]",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := literal.Parse(text, garner.Invalid)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 100*uint64(len(text)) {
			t.Errorf("%.20s… of %d bytes took %d bytes (%v)", text, len(text), used, err)
		}
	}
}

// FuzzParse: nothing panics, every error is of one of the kinds promised, and
// whatever parses prints and reads back as the same bits.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"[[1,2],[3,4]]", "5", "[]", "[[],[]]", "f32[1.5, NaN]", "i4[1,-2]", "bf16(5)", "[1+2j, NaN-Infinityi]", `["a\u0000", 'b\'"']`,
		"[true,false]", "[1 2]", "[18446744073709551615]", "f8e4m3fn[-500, 448]", "nf4[0.1]", "f8e8m0[3]", "f8e4m3fnuz[-1e-9]", "u1[1,0,1]", "[1e400,-0.0]",
		strings.Repeat("[", 65), "[1,[2]]", "string['\\", "complex64(1-2i)", "1ej", "[+]",
		"0:10", "9:-1:-3", "1:2:0",
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(garner.F16))
	}
	f.Fuzz(func(t *testing.T, text string, dtype uint8) {
		if n, ok := literal.Elements(text); ok && n > 1<<16 {
			return // a range takes the memory of its elements
		}
		d := garner.DType(dtype % uint8(len(garner.DTypes())+1))
		got, err := literal.Parse(text, d)
		if err != nil {
			var syntax *literal.SyntaxError
			if !errors.As(err, &syntax) && !errors.Is(err, garner.ErrShape) && !errors.Is(err, garner.ErrDType) {
				t.Fatalf("%q: %T %v", text, err, err)
			}
			if syntax != nil && (syntax.Column < 1 || syntax.Column > len(text)+1) {
				t.Fatalf("%q: column %d", text, syntax.Column)
			}
			return
		}
		if !literal.IsLiteral(text) {
			t.Fatalf("%q is read, but is said to be no literal", text)
		}
		again, err := literal.Parse(got.Text(), got.DType())
		if err != nil {
			t.Fatalf("%q prints as %s: %v", text, got.Text(), err)
		}
		check(t, again, got)
	})
}

func TestDType(t *testing.T) {
	for text, want := range map[string]garner.DType{
		"f32[1,2]": garner.F32, " u4 [1]": garner.U4, "i8(5)": garner.I8, "[1,2]": garner.Invalid, "2.5": garner.Invalid, "NaN": garner.Invalid, "": garner.Invalid, "0:4": garner.Invalid,
	} {
		if got := literal.DType(text); got != want {
			t.Errorf("%q says %v, want %v", text, got, want)
		}
	}
}
