package literal_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
)

func TestRange(t *testing.T) {
	for _, tt := range []struct {
		text  string
		dtype garner.DType
		want  string
	}{
		{"0:5", garner.Invalid, "i64[5] [0, 1, 2, 3, 4]"},
		{"0:10:2", garner.Invalid, "i64[5] [0, 2, 4, 6, 8]"},
		{"0:9:2", garner.Invalid, "i64[5] [0, 2, 4, 6, 8]"},
		{"1:9:4", garner.Invalid, "i64[2] [1, 5]"},
		{"10:0:-2", garner.Invalid, "i64[5] [10, 8, 6, 4, 2]"},
		{"3:-1:-1", garner.Invalid, "i64[4] [3, 2, 1, 0]"},
		{"-3:0", garner.Invalid, "i64[3] [-3, -2, -1]"},
		{" +1 : 3 \n", garner.Invalid, "i64[2] [1, 2]"},
		{"5:5", garner.Invalid, "i64[0] []"},
		{"5:0", garner.Invalid, "i64[0] []"},
		{"0:5:-1", garner.Invalid, "i64[0] []"},
		{"0:3", garner.U8, "u8[3] [0, 1, 2]"},
		{"0:3", garner.F32, "f32[3] [0.0, 1.0, 2.0]"},
		{"-8:8:15", garner.I4, "i4[2] [-8, 7]"},
		{"9223372036854775805:9223372036854775807", garner.Invalid, "i64[2] [9223372036854775805, 9223372036854775806]"},
		{"-9223372036854775808:9223372036854775807:9223372036854775807", garner.Invalid, "i64[3] [-9223372036854775808, -1, 9223372036854775806]"},
		{"9223372036854775807:-9223372036854775808:-9223372036854775808", garner.Invalid, "i64[2] [9223372036854775807, -1]"},
	} {
		got, err := literal.Parse(tt.text, tt.dtype)
		if err != nil || got.String() != tt.want {
			t.Errorf("%q: %s, %v; want %s", tt.text, got, err, tt.want)
		}
		if !literal.IsLiteral(tt.text) {
			t.Errorf("%q is no literal", tt.text)
		}
		if n, ok := literal.Elements(tt.text); !ok || err == nil && n != uint64(got.Len()) {
			t.Errorf("%q has %d elements, %t", tt.text, n, ok)
		}
	}
	for _, tt := range []struct {
		text    string
		dtype   garner.DType
		class   error
		message string
	}{
		{"0:5:0", garner.Invalid, nil, "column 5 of the literal: the step of a range is 0"},
		{":5", garner.Invalid, nil, "column 1 of the literal: a range names both ends"},
		{"5:", garner.Invalid, nil, "column 3 of the literal: a range names both ends"},
		{"5::2", garner.Invalid, nil, "column 3 of the literal: a range names both ends"},
		{"0:5:", garner.Invalid, nil, "column 5 of the literal: a range names both ends"},
		{"0:5:1:1", garner.Invalid, nil, "column 5 of the literal: a range has three parts at most"},
		{"0:--5", garner.Invalid, nil, `column 3 of the literal: "--5" is no integer`},
		{"1 2:5", garner.Invalid, nil, `column 1 of the literal: "1 2" is no integer`},
		{"0:9223372036854775808", garner.Invalid, garner.ErrDType, "column 3 of the literal: 9223372036854775808 of the range does not fit i64"},
		{"0:300", garner.U8, garner.ErrDType, `the range: "256" is outside u8`},
		{"-1:1", garner.U64, garner.ErrDType, `the range: "-1" is outside u64`},
		{"0:2", garner.Bool, garner.ErrDType, "a range is of integers, and the dtype asked for is bool"},
		{"0:2", garner.String, garner.ErrDType, "a range is of integers"},
		{"[0:5]", garner.Invalid, nil, "column 2 of the literal: 0:5 is a range, which stands alone"},
		{"-9223372036854775808:9223372036854775807", garner.Invalid, garner.ErrShape, "the range has 18446744073709551615 elements"},
	} {
		_, err := literal.Parse(tt.text, tt.dtype)
		if err == nil || !strings.HasPrefix(err.Error(), "garner: "+tt.message) {
			t.Errorf("%q: %v; want %s", tt.text, err, tt.message)
		}
		var syntax *literal.SyntaxError
		if tt.class == nil && !errors.As(err, &syntax) || tt.class != nil && !errors.Is(err, tt.class) {
			t.Errorf("%q: %v is a %T", tt.text, err, err)
		}
	}
	for _, text := range []string{":", "a:5", "0:5.npy", "C:1x", "1:2#a", "0.5:1", "http://1:2"} {
		if literal.IsLiteral(text) {
			t.Errorf("%q is a literal", text)
		}
	}
	if n, ok := literal.Elements("0:9223372036854775807"); !ok || n != math.MaxInt64 {
		t.Error(n, ok)
	}
	for _, text := range []string{"[1]", "5", ":5", "0:5:0"} {
		if n, ok := literal.Elements(text); ok {
			t.Errorf("%q is a range of %d", text, n)
		}
	}
}

// TestFirst holds the first elements of a range.
func TestFirst(t *testing.T) {
	for _, tt := range []struct {
		text  string
		n     int
		first string
		ok    bool
	}{
		{"0:10", 3, "0:3:1", true},
		{"5:-5:-3", 2, "5:-1:-3", true},
		{"-9223372036854775808:9223372036854775807", 1, "-9223372036854775808:-9223372036854775807:1", true},
		{"0:9223372036854775807:9223372036854775806", 1, "0:9223372036854775806:9223372036854775806", true},
		{"0:3", 3, "", false},
		{"0:3", 0, "", false},
		{"3:0", 1, "", false},
		{"[0,1]", 1, "", false},
		{"0:x", 1, "", false},
	} {
		if first, ok := literal.First(tt.text, tt.n); first != tt.first || ok != tt.ok {
			t.Errorf("%s of %d: %q, %t", tt.text, tt.n, first, ok)
		}
	}
}
