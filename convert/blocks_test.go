package convert_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// codes is a constant of codes, a byte for each 8 bits of them.
func codes(t *testing.T, d garner.DType, shape ...int) garner.Tensor {
	t.Helper()
	b := make([]byte, (count(shape)*d.Bits()+7)/8)
	for i := range b {
		b[i] = byte(37*i + 11)
	}
	made, err := garner.FromBytes(d, b, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// scales are of both signs.
func scales(d garner.DType, shape ...int) garner.Tensor {
	if d == garner.F16 {
		list := make([]garner.Float16, count(shape))
		for i := range list {
			list[i] = garner.Float16(0x3000 + 0x400*(i%5) + 0x8000*(i%2))
		}
		return garner.Of(list, shape...)
	}
	list := make([]float32, count(shape))
	for i := range list {
		list[i] = float32(1+i%7) * float32(1-2*(i%2)) / 16
	}
	return garner.Of(list, shape...)
}

// blocksModel is GatherBlockQuantized.
func blocksModel(a attributes, operands ...any) *model.Model {
	m := oneNode(onnxModel, "GatherBlockQuantized", 1, a, 1, operands...)
	m.Graph.Nodes[0].Domain, m.Graph.Nodes[0].Operator = "com.microsoft", "com.microsoft.GatherBlockQuantized-1"
	return m
}

// compressedModel is a Gather of a table of codes in OpenVINO: Convert to chain, Subtract of zero unless that is nil,
// Multiply, Reshape to table unless that is nil, and Convert to out.
func compressedModel(chain, out string, axis int64, indices garner.Spec, data, scale garner.Tensor, zero any, table []int64) *model.Model {
	m := oneNode(irModel, "Gather", 8, nil, 1, data, indices, number(axis))
	n := m.Graph.Nodes[0]
	n.Operator = "openvino.Gather-8"
	at := n.Inputs[0]
	then := func(op string, a attributes, more ...any) {
		node := &model.Node{Name: fmt.Sprint("before", len(m.Graph.Nodes)), At: "node " + op, Op: op, Version: 1, Attributes: a, Inputs: []*model.Value{at}}
		for _, operand := range more {
			held, isTensor := operand.(garner.Tensor)
			v, _ := operand.(*model.Value)
			if isTensor {
				v = &model.Value{Name: node.Name + "/of", Spec: garner.SpecOf(held.DType(), held.Shape()...)}
				v.Constant = model.NewConstant(v.Name, v.Spec, func() (garner.Tensor, error) { return held, nil })
			}
			node.Inputs = append(node.Inputs, v)
		}
		dtype, shape := at.Spec.DType, at.Spec
		if to, ok := a["destination_type"].(string); ok {
			dtype, _ = garner.ParseDType(to)
		}
		made := &model.Value{Name: node.Name + "/made", From: node, Spec: shape}
		made.Spec.DType = dtype
		if op == "Reshape" {
			dims := make([]int, len(table))
			for i, d := range table {
				if dims[i] = int(d); d < 0 {
					dims[i] = data.Shape()[2] * data.Shape()[3]
				}
			}
			made.Spec = garner.SpecOf(dtype, dims...)
		}
		node.Outputs = []*model.Value{made}
		m.Graph.Nodes = slices.Insert(m.Graph.Nodes, len(m.Graph.Nodes)-1, node)
		at = made
	}
	then("Convert", attributes{"destination_type": chain})
	if z, ok := zero.(garner.Tensor); ok {
		table := at
		at = &model.Value{Name: "zero", Spec: garner.SpecOf(z.DType(), z.Shape()...)}
		at.Constant = model.NewConstant("zero", at.Spec, func() (garner.Tensor, error) { return z, nil })
		then("Convert", attributes{"destination_type": chain})
		point := at
		at = table
		then("Subtract", nil, point)
	}
	then("Multiply", nil, scale)
	if table != nil {
		then("Reshape", attributes{"special_zero": false}, whole(table...))
	}
	if out != chain {
		then("Convert", attributes{"destination_type": out})
	}
	n.Inputs[0] = at
	return m
}

// TestBlocks converts tables of codes to both formats, and holds rows of them, and of an index outside, against the source's.
func TestBlocks(t *testing.T) {
	u4, i4, u8, i8, f32, f16 := garner.U4, garner.I4, garner.U8, garner.I8, garner.F32, garner.F16
	ids := in(garner.I64, -1)
	of16 := func(more ...any) attributes {
		a := attributes{"block_size": int64(16)}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = int64(more[i+1].(int))
		}
		return a
	}
	eight := garner.Of([]uint8{8})
	for name, tt := range map[string]struct {
		m         *model.Model
		onnx, xml string // of the error; "" where it is converted
	}{
		"u4":                 {blocksModel(of16(), codes(t, u4, 5, 32), ids, scales(f32, 5, 2)), "", ""},
		"u4, zero points":    {blocksModel(of16(), codes(t, u4, 5, 32), ids, scales(f16, 5, 2), codes(t, u4, 5, 2)), "", ""},
		"i4, large":          {blocksModel(of16(), codes(t, i4, 50, 64), in(garner.I32, -1, 2), scales(f32, 50, 4)), "", ""},
		"i4, padded":         {blocksModel(of16("gather_axis", 1, "quantize_axis", -1), codes(t, i4, 2, 5, 35), ids, scales(f32, 2, 5, 3), codes(t, i4, 2, 5, 3)), "", ""},
		"i4, of its blocks":  {blocksModel(of16("gather_axis", 1), codes(t, i4, 3, 35), ids, scales(f32, 3, 3)), "", ""},
		"u8":                 {blocksModel(of16("bits", 8), codes(t, u8, 5, 32), ids, scales(f32, 5, 2), codes(t, u8, 5, 2)), "", ""},
		"bytes of 4 bits":    {blocksModel(of16("bits", 4), codes(t, u8, 5, 24), ids, scales(f32, 5, 3), codes(t, u8, 5, 2)), "", ""},
		"bytes of 2 bits":    {blocksModel(of16("bits", 2), codes(t, u8, 5, 8), ids, scales(f32, 5, 2)), "", ""},
		"constant indices":   {blocksModel(of16(), codes(t, u4, 5, 32), whole(0, -5, 4), scales(f32, 5, 2)), "", ""},
		"a first axis":       {blocksModel(of16("gather_axis", 1, "quantize_axis", 0), codes(t, u4, 16, 8), ids, scales(f32, 1, 8)), "", "its blocks lie along axis 0"},
		"a computed table":   {blocksModel(of16(), in(u8, 5, 32), ids, scales(f32, 5, 4)), "", "of a table that the model computes"},
		"scales of bf16":     {blocksModel(of16(), codes(t, u4, 5, 32), ids, garner.Of(make([]garner.BFloat16, 10), 5, 2)), "", "with scales of bf16"},
		"a subnormal scale":  {blocksModel(of16(), codes(t, u4, 5, 16), ids, garner.Of([]float32{1, 1, 1e-40, 1, 1}, 5, 1)), "", "takes a denormal f32 of a constant for 0"},
		"no rows":            {blocksModel(of16(), codes(t, u4, 0, 32), ids, scales(f32, 0, 2)), "", "its table of u4[0,32] has no elements"},
		"no columns":         {blocksModel(of16(), codes(t, u4, 5, 0), ids, scales(f32, 5, 0)), "", "its table of u4[5,0] has no elements"},
		"IR, no elements":    {compressedModel("f32", "f32", 0, ids, codes(t, u4, 3, 0, math.MaxInt32), scales(f32, 3, 1, 1), nil, []int64{3, 0}), "its table of u4[3,0,2147483647] has no elements", "which has no elements"},
		"IR u4":              {compressedModel("f32", "f32", 0, ids, codes(t, u4, 5, 2, 16), scales(f32, 5, 2, 1), nil, []int64{5, 32}), "", ""},
		"IR u4, zero points": {compressedModel("f16", "f32", 0, ids, codes(t, u4, 5, 20), scales(f16, 5, 1), codes(t, u4, 5, 1), nil), "", ""},
		"IR u4, less 8":      {compressedModel("f16", "f16", 0, ids, codes(t, u4, 5, 20), scales(f16, 1, 1), eight, nil), "", ""},
		"IR i4":              {compressedModel("f16", "f32", 1, in(garner.I64, -1, -1), codes(t, i4, 5, 20), scales(f16, 5, 1), nil, nil), "", ""},
		"IR u8":              {compressedModel("f16", "f16", 0, ids, codes(t, u8, 5, 20), scales(f16, 5, 1), eight, nil), "", ""},
		"IR i8":              {compressedModel("f32", "f32", 1, in(garner.I64, 2, -1), codes(t, i8, 2, 5, 3, 4), scales(f32, 2, 1, 3, 1), codes(t, i8, 2, 5, 3, 1), []int64{2, 5, -1}), "", ""},
		"IR i4, less 8":      {compressedModel("f32", "f32", 0, ids, codes(t, i4, 5, 20), scales(f32, 5, 1), eight, nil), "with a zero point of u8[]", ""},
		"IR u4, of columns":  {compressedModel("f32", "f32", 0, ids, codes(t, u4, 5, 20), scales(f32, 1, 20), nil, nil), "one for each block along the last axis", ""},
		"IR u8, more dims":   {compressedModel("f32", "f32", 0, ids, codes(t, u8, 5, 20), scales(f32, 1, 5, 1), nil, nil), "of its table is f32[1,5,1] and its codes are u8[5,20]", ""},
		"IR u8, other dims":  {compressedModel("f32", "f32", 0, ids, codes(t, u8, 1, 20), scales(f32, 5, 1), nil, nil), "of its table is f32[5,1] and its codes are u8[1,20]", ""},
		"IR u4 of 12":        {compressedModel("f32", "f32", 0, ids, codes(t, u4, 5, 2, 12), scales(f32, 5, 2, 1), nil, []int64{5, 24}), "blocks of a power of two", ""},
		"IR u2":              {compressedModel("f32", "f32", 0, ids, codes(t, garner.U2, 5, 16), scales(f32, 5, 1), nil, nil), "a table that is compressed to u2", ""},
		"IR f16 of blocks":   {compressedModel("f32", "f16", 1, ids, codes(t, u8, 5, 2, 16), scales(f32, 5, 2, 1), nil, []int64{5, 32}), "gathered along the axis of its blocks", ""},
		"IR f16 of f32":      {compressedModel("f32", "f16", 0, ids, codes(t, i8, 5, 16), scales(f32, 5, 1), nil, nil), "OpenVINO rounds the scales", ""},
	} {
		for _, extension := range convert.Extensions() {
			if extension == ".xml" && strings.HasPrefix(name, "IR ") && name != "IR u4" {
				continue // its nodes stay as they are
			}
			ways := []convert.Outside{convert.Keep}
			if slices.Contains([]string{"u4", "i4, of its blocks", "IR i4", "IR u8"}, name) {
				ways = append(ways, convert.Clamp, convert.AsIs)
			}
			for _, outside := range ways {
				dir := t.TempDir()
				out := filepath.Join(dir, "out"+extension)
				_, err := convert.File(t.Context(), tt.m, out, convert.Options{Outside: outside})
				if want := map[string]string{".onnx": tt.onnx, ".xml": tt.xml}[extension]; want != "" {
					if left, _ := os.ReadDir(dir); err == nil || !strings.Contains(err.Error(), want) || len(left) > 0 {
						t.Errorf("%s to %s: %v, and %v is left; want %q", name, extension, err, left, want)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s to %s, %s: %v", name, extension, outside, err)
					continue
				}
				made := open(t, out)
				if alike(t, name, tt.m, made) == 0 && name != "a computed table" && name != "no rows" {
					t.Errorf("%s to %s, %s: nothing was compared", name, extension, outside)
				}
				if outside != convert.Keep || len(tt.m.Graph.Inputs) != 1 || len(tt.m.Graph.Inputs[0].Spec.Dims) != 1 {
					continue
				}
				bad := whole(-99, 0, 99)
				ask := func(m *model.Model) garner.Tensor {
					made, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: bad}, 1<<20)
					if err != nil {
						t.Fatal(name, err)
					}
					return made[0]
				}
				if name != "no rows" && !same(t, ask(made), ask(tt.m)) {
					t.Errorf("%s to %s: %v of indices outside is not %v", name, extension, ask(made), ask(tt.m))
				}
			}
		}
	}
}

// TestBlocksNoted notes scales of columns, of which OpenVINO reads others, and what an index outside becomes.
func TestBlocksNoted(t *testing.T) {
	for _, tt := range []struct {
		scale   garner.Tensor
		outside convert.Outside
		columns bool
		want    string
	}{
		{scales(garner.F32, 5, 1), convert.Keep, false, "it is zeros here"},
		{scales(garner.F32, 1, 20), convert.Keep, true, "it is zeros here"},
		{scales(garner.F32, 20), convert.Clamp, true, "it is clamped here"},
		{scales(garner.F32, 5, 20), convert.AsIs, false, "it is what the target makes of it here"},
	} {
		m := compressedModel("f32", "f32", 0, in(garner.I64, -1), codes(t, garner.U8, 5, 20), tt.scale, nil, nil)
		report, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{Outside: tt.outside})
		if err != nil {
			t.Errorf("%v: %v", tt.scale, err)
			continue
		}
		columns, noted := false, false
		for _, n := range report.Notes {
			columns = columns || strings.Contains(n.Text, "is of columns and not of rows")
			noted = noted || strings.Contains(n.Text, tt.want)
		}
		if columns != tt.columns || !noted {
			t.Errorf("%v --outside %s: %v", tt.scale.Shape(), tt.outside, report.Notes)
		}
	}
}

// TestBlocksLossy holds that what a lossy table decodes otherwise is no reason to refuse it.
func TestBlocksLossy(t *testing.T) {
	ids := in(garner.I64, -1)
	for name, m := range map[string]*model.Model{
		"f16 of f32": compressedModel("f32", "f16", 0, ids, codes(t, garner.I8, 5, 16), garner.Of([]float32{0.1, 0.3, 1.0 / 3, 1e-6, 7.77}, 5, 1), nil, nil),
		"infinite":   compressedModel("f32", "f32", 0, ids, codes(t, garner.I8, 5, 16), garner.Of([]float32{1, float32(math.Inf(1)), 2, 3, 4}, 5, 1), nil, nil),
		"4 bits":     compressedModel("f32", "f16", 0, ids, codes(t, garner.U4, 5, 16), garner.Of([]float32{0.1, 0.3, 1.0 / 3, 1e-6, 7.77}, 5, 1), nil, nil),
	} {
		if _, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{}); !errors.Is(err, convert.ErrLossy) {
			t.Errorf("%s: %v", name, err)
		}
		report, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{Lossy: true})
		if err != nil || report.Compared.Answered == 0 {
			t.Errorf("%s: %v, %v", name, report, err)
		}
	}
}
