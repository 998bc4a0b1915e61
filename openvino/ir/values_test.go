package ir

import (
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// TestNumber holds what OpenVINO 2026.4.1 made of these attributes: what is
// false it refused.
func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		text    string
		want    int64
		ok      bool
		lenient bool // whether a lenient reader takes it
	}{
		{"1", 1, true, true}, {"-1", -1, true, true}, {"-0", 0, true, true}, {"01", 1, true, true}, {"0x1", 0, true, true},
		{"1.9", 1, true, true}, {"1e3", 1, true, true}, {"1 2", 1, true, true}, {"1,", 1, true, true}, {"1;", 1, true, true},
		{"1_0", 1, true, true}, {"0b", 0, true, true}, {" 0 ", 0, true, true}, {"\t1\n", 1, true, true}, {"0.0", 0, true, true},
		{"+0", 0, false, true}, {"+1", 1, false, true},
		{"", 0, false, false}, {" ", 0, false, false}, {"x", 0, false, false}, {"true", 0, false, false}, {"- 1", 0, false, false},
		{"+ 1", 0, false, false}, {"++1", 0, false, false}, {"+-1", 0, false, false}, {"٣", 0, false, false}, {"99999999999999999999", 0, false, false},
	} {
		for _, lenient := range []bool{false, true} {
			want := tt.ok
			if lenient {
				want = tt.lenient
			}
			if got, ok := number(tt.text, lenient); ok != want || ok && got != tt.want {
				t.Errorf("number(%q, %v) is %d, %v; want %d, %v", tt.text, lenient, got, ok, tt.want, want)
			}
		}
	}
}

// TestPartialShape holds Parameter shapes; those without a want are refused, by
// OpenVINO too but for what the last line says.
func TestPartialShape(t *testing.T) {
	for text, want := range map[string]string{
		"2,3": "f32[2,3]", "[2,3]": "f32[2,3]", " 2 , 3 ": "f32[2,3]", "?,3": "f32[?,3]", "-1,3": "f32[?,3]", "1..4,3": "f32[1..4,3]",
		"..4,3": "f32[0..4,3]", "2..,3": "f32[2..,3]", "...": "f32[...]", "[...]": "f32[...]", "": "f32[]", "[]": "f32[]", "0,3": "f32[0,3]",
		"..,3": "f32[?,3]", "-1..5,3": "f32[0..5,3]", "2..2,3": "f32[2,3]", "1..99999999999999999999,3": "f32[1..,3]",
		"{2,3}": "", "2;3": "", "2,,3": "", "2,3,": "", "2.0,3": "", "+2,3": "", "0x2,3": "", "2 3": "", "x": "", "1...4,3": "", "?..5,3": "",
		"1..x": "", "1..-2": "",
		// OpenVINO reads these as 0, any and 0.
		"-2,3": "", "5..2,3": "", "99999999999999999999,3": "",
		strings.Repeat("1,", 64) + "1": "",
	} {
		got, why := partialShape(garner.F32, text)
		if (why == "") != (want != "") || want != "" && got.String() != want {
			t.Errorf("partialShape(%q) is %s, %q; want %q", text, got, why, want)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"":               nil,
		"a":              {"a"},
		"zeta,alpha":     {"alpha", "zeta"},
		`a\,b,alpha`:     {"a,b", "alpha"},
		`,a,,b,`:         {"a", "b"},
		`a\b`:            {`a\b`},
		"b\u00e9,\u6f22": {"b\u00e9", "\u6f22"},
	} {
		if got := names(text); !slices.Equal(got, want) {
			t.Errorf("names(%q) is %q; want %q", text, got, want)
		}
	}
}

func TestElementTypes(t *testing.T) {
	for name, want := range map[string]garner.DType{
		"f32": garner.F32, "F32": garner.F32, "boolean": garner.Bool, "f8e4m3": garner.F8E4M3FN, "dynamic": garner.Invalid, "u3": garner.Invalid,
	} {
		if got, ok := elementType(name); !ok || got != want {
			t.Errorf("element_type %s is %s, %v; want %s", name, got, ok, want)
		}
	}
	for _, name := range []string{"FP32", "float32", "bool", "i2", "banana", "", "i1", "c64", "BIN"} {
		if got, ok := elementType(name); ok {
			t.Errorf("element_type %s is %s; OpenVINO refuses it", name, got)
		}
	}
	for name, want := range map[string]garner.DType{
		"FP32": garner.F32, "f32": garner.F32, "BOOL": garner.Bool, "BIN": garner.U1, "I64": garner.I64, "STRING": garner.String, "UNSPECIFIED": garner.Invalid,
	} {
		if got, ok := precision(name); !ok || got != want {
			t.Errorf("precision %s is %s, %v; want %s", name, got, ok, want)
		}
	}
	if got, ok := precision("XX"); ok {
		t.Errorf("precision XX is %s", got)
	}
}
