package run_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tflite"
)

// quantisedModel is a GATHER along an axis of the DEQUANTIZE of codes in a file.
func quantisedModel(t *testing.T, codes garner.Tensor, q *model.Quantised, axis int) (m *model.Model, ids, table, rows *model.Value) {
	t.Helper()
	b, err := codes.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "codes")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := source.Open(garner.SpecOf(garner.U8, len(b)), nil, source.Segment{Path: path, Bytes: int64(len(b))})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	states, err := f.States()
	if err != nil {
		t.Fatal(err)
	}
	c := model.NewConstant("codes", codes.Spec(), func() (garner.Tensor, error) { return codes, nil })
	c.File, c.Size, c.State = path, int64(len(b)), states[0]
	stored := &model.Value{Name: "codes", Spec: c.Spec, Constant: c, Quantised: q}
	ids = &model.Value{Name: "ids", Spec: garner.SpecOfRank(garner.I32, garner.Exactly(1))}
	decode := &model.Node{Name: "decode", Op: "DEQUANTIZE", Inputs: []*model.Value{stored}}
	table = &model.Value{Name: "table", Spec: garner.SpecOf(garner.F32, codes.Shape()...), From: decode}
	decode.Outputs = []*model.Value{table}
	gather := &model.Node{Name: "rows", Op: "GATHER", Operator: "tflite.GATHER", Attributes: map[string]any{"axis": int64(axis)}, Inputs: []*model.Value{table, ids}}
	rows = &model.Value{Name: "rows", Spec: garner.SpecOfRank(garner.F32, garner.Exactly(2)), From: gather}
	gather.Outputs = []*model.Value{rows}
	g := &model.Graph{Inputs: []*model.Value{ids}, Nodes: []*model.Node{decode, gather}, Outputs: []model.Result{{Name: "rows", Value: rows}, {Name: "table", Value: table}}}
	return &model.Model{Format: "TFLite", Graph: g}, ids, table, rows
}

// TestDequantisedRows holds that a gather behind DEQUANTIZE decodes the rows that it takes as the whole table is
// decoded, the last elements included, which are rounded once, and in memory for the rows alone.
func TestDequantisedRows(t *testing.T) {
	const rows, columns = 4099, 257
	r := rand.New(rand.NewPCG(1, 2))
	scales := func(n int) (list []float32) {
		for range n {
			list = append(list, r.Float32()+0.01)
		}
		return list
	}
	i8, u8, i16 := make([]int8, rows*columns), make([]uint8, rows*columns), make([]int16, rows*columns)
	for i := range i8 {
		i8[i], u8[i], i16[i] = int8(r.Int()), uint8(r.Int()), int16(r.Int())
	}
	for _, tt := range []struct {
		codes garner.Tensor
		q     model.Quantised
		axis  int
	}{
		{garner.Of(i8, rows, columns), model.Quantised{Scales: []float32{0.037}, Zeros: []int64{3}}, 0},
		{garner.Of(i8, rows, columns), model.Quantised{Scales: []float32{0.037}, Zeros: []int64{-7}}, 1},
		{garner.Of(i8, rows, columns), model.Quantised{Scales: []float32{0.1}, Zeros: []int64{0}}, 0},
		{garner.Of(i8, rows, columns), model.Quantised{Scales: scales(rows), Zeros: make([]int64, rows)}, 0},
		{garner.Of(i8, rows, columns), model.Quantised{Scales: scales(columns), Zeros: make([]int64, columns), Axis: 1}, 0},
		{garner.Of(i8, rows, columns), model.Quantised{Scales: scales(rows), Zeros: make([]int64, rows)}, 1},
		{garner.Of(u8, rows, columns), model.Quantised{Scales: []float32{0.037}, Zeros: []int64{128}}, 0},
		{garner.Of(i16, rows, columns), model.Quantised{Scales: []float32{0.01}, Zeros: []int64{0}}, 0},
	} {
		t.Run(fmt.Sprintf("%s %d %d %d", tt.codes.DType(), len(tt.q.Scales), tt.q.Axis, tt.axis), func(t *testing.T) {
			m, ids, table, result := quantisedModel(t, tt.codes, &tt.q, tt.axis)
			last := int32(tt.codes.Shape()[tt.axis] - 1)
			given := map[*model.Value]garner.Tensor{ids: garner.Of([]int32{0, last, 5, last - 1, last}, 5)}
			memory := 256e3
			if tt.axis == 1 {
				memory = 1e6
			}
			got, err := run.Values(t.Context(), m, []*model.Value{result}, given, memory)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := run.Values(t.Context(), m, []*model.Value{table}, given, 1e9)
			if err != nil {
				t.Fatal(err)
			}
			want, err := garner.Gather(tflite.Gather{Axis: tt.axis}, whole[0], given[ids])
			if err != nil {
				t.Fatal(err)
			}
			equalBits(t, got[0], want)
			if _, err := run.Values(t.Context(), m, []*model.Value{table}, given, memory); err == nil {
				t.Error("the whole table is decoded within the memory for some rows")
			}
			// A zero for an index outside is the number 0, whatever the zero point.
			given[ids] = garner.Of([]int32{last + 1, 3}, 2)
			zeros, err := run.Values(t.Context(), m, []*model.Value{result}, given, 1e9, run.Amend(func(g run.Gather) (garner.Op, error) {
				if g.DType != garner.F32 {
					t.Errorf("the gather is of %s", g.DType)
				}
				return garner.WithOutside(g.Op, garner.Zero), nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			if want, err = garner.Gather(garner.WithOutside(tflite.Gather{Axis: tt.axis}, garner.Zero), whole[0], given[ids]); err != nil {
				t.Fatal(err)
			}
			equalBits(t, zeros[0], want)
		})
	}
}

// equalBits holds that two tensors of f32 are equal bit for bit.
func equalBits(t *testing.T, got, want garner.Tensor) {
	t.Helper()
	a, err := garner.Values[float32](got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := garner.Values[float32](want)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != len(b) || !got.Shape().Equal(want.Shape()) {
		t.Fatalf("%s; want %s", got.Shape(), want.Shape())
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("element %d is %v; decoded as a whole it is %v", i, a[i], b[i])
		}
	}
}
