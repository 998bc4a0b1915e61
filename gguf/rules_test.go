package gguf_test

import (
	"testing"

	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/internal/ruletest"
)

// table is [[1,2],[3,4]] in blocks of F16, which have one element.
const table = "u8[[0,60,0,64],[0,66,0,68]]"

func TestRulesOfGetRows(t *testing.T) {
	rows := gguf.GetRows{Type: "F16"}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "GR.1", Op: gguf.GetRows{Type: "BF16"}, Data: "u8[[128,63]]", Indices: "[0]", Want: "f32[[1]]"},
		{Rule: "GR.1", Op: gguf.GetRows{Type: "IQ2_S"}, Data: table, Indices: "[0]", Refuse: "attribute", Message: `type "IQ2_S" is no kind of GGUF that is decoded; there are F16, `},
		{Rule: "GR.1", Op: gguf.GetRows{}, Data: table, Indices: "[0]", Refuse: "attribute", Message: `type is not given; it is a kind of GGUF that is decoded`},

		{Rule: "QB.1", Op: gguf.GetRows{Type: "F16"}, Data: table, Indices: "[1]", Want: "f32[[3,4]]"},
		{Rule: "QB.1", Op: gguf.GetRows{Type: "Q1_0"}, Data: table, Indices: "[0]", Refuse: "attribute", Message: `type "Q1_0" is no kind of GGUF that is decoded`},
		{Rule: "QB.1", Op: gguf.GetRows{Type: "Q8_K"}, Data: table, Indices: "[0]", Refuse: "attribute", Message: `type "Q8_K" is no kind of GGUF that is decoded`},
		{Rule: "QB.1", Op: gguf.Dequantize{Type: "IQ3_S"}, Data: table, Refuse: "attribute", Message: `type "IQ3_S" is no kind of GGUF that is decoded`},

		{Rule: "GR.2", Op: rows, Data: table, Indices: "[1]", Want: "f32[[3,4]]"},
		{Rule: "GR.2", Op: rows, Data: "i8[[0,60]]", Indices: "[0]", Refuse: "dtype", Message: "data is i8; blocks of GGUF are bytes, u8"},
		{Rule: "GR.2", Op: rows, Data: "u8[[0,60,0]]", Indices: "[0]", Refuse: "shape-mismatch", Message: "rows of data have 3 bytes; a block of F16 has 2"},

		{Rule: "GR.3", Op: rows, Data: table, Indices: "[[1,0],[0,0]]", Want: "f32[[[3,4],[1,2]],[[1,2],[1,2]]]"},
		{Rule: "GR.3", Op: rows, Data: "u8[[[0,60],[0,64]],[[0,66],[0,68]]]", Indices: "[1]", Want: "f32[[[3],[4]]]"},
		{Rule: "GR.3", Op: rows, Data: "u8[0,60]", Indices: "[0]", Refuse: "rank", Message: "has rank 1; the operator needs 2 or more"},

		{Rule: "GR.4", Op: rows, Data: table, Indices: "[1]", Want: "f32[[3,4]]"},
		{Rule: "GR.4", Op: rows, Data: table, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 0 of data, which has 0…1"},
		{Rule: "GR.4", Op: rows, Data: table, Indices: "[2]", Refuse: "index-out-of-range", Message: "indices[0] = 2 is outside"},

		{Rule: "R.37", Op: rows, Data: "zeros u8[3,0]", Indices: "[2,0]", Want: "zeros f32[2,0]"},
		{Rule: "R.37", Op: gguf.GetRows{Type: "Q8_0"}, Data: "zeros u8[2,33]", Indices: "[0]", Refuse: "shape-mismatch", Message: "rows of data have 33 bytes; a block of Q8_0 has 34"},
	})
}

func TestRulesOfDequantize(t *testing.T) {
	whole := gguf.Dequantize{Type: "F16"}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "GD.1", Op: whole, Data: "u8[0,60]", Want: "f32[1]"},
		{Rule: "GD.1", Op: gguf.Dequantize{Type: "Q8_K"}, Data: table, Refuse: "attribute", Message: `type "Q8_K" is no kind`},

		{Rule: "GD.2", Op: whole, Data: table, Want: "f32[[1,2],[3,4]]"},
		{Rule: "GD.2", Op: whole, Data: "7", Refuse: "dtype", Message: "data is i64; blocks of GGUF are bytes"},
		{Rule: "GD.2", Op: whole, Data: "u8(7)", Refuse: "rank", Message: "has rank 0; the operator needs 1 or more"},
		{Rule: "GD.2", Op: whole, Data: "u8[[0,60,0]]", Refuse: "shape-mismatch", Message: "rows of data have 3 bytes"},

		{Rule: "GD.3 R.36", Op: whole, Data: table, Want: "f32[[1,2],[3,4]]"},
		{Rule: "GD.3 R.36", Op: whole, Data: table, Indices: "[0]", Refuse: "attribute", Message: "indices i64[1] are given; the operator takes data alone"},
	})
}
