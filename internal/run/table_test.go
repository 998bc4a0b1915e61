package run_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// ofTable are gathers of a table of OpenVINO, given how many rows and columns it has and the
// rows that are wanted, and the first element of each row of the result where the last row
// of the table holds 6, and the others 0.
func ofTable(table *model.Value, rows, columns int64) map[*model.Node]string {
	last := rows - 1
	weights := vec[float32](0.5, 1, 2)
	return map[*model.Node]string{
		node("openvino.EmbeddingBagOffsetsSum-3", 3, nil, table, vec(last, 0, last), vec[int64](0, 2)):                                     "6.0 6.0",
		node("openvino.EmbeddingBagOffsetsSum-3", 3, nil, table, vec(last, 0, last), vec[int64](0, 2, 3), i64(nil, last), weights):         "3.0 12.0 6.0",
		node("openvino.EmbeddingBagOffsets-15", 15, attrs{"reduction": "mean"}, table, vec(last, 0, last), vec[int64](0, 2)):               "3.0 6.0",
		node("openvino.EmbeddingBagPackedSum-3", 3, nil, table, i64([]int{2, 2}, last, last, 0, last)):                                     "12.0 6.0",
		node("openvino.EmbeddingBagPacked-15", 15, attrs{"reduction": "mean"}, table, i64([]int{2, 2}, last, last, 0, last)):               "6.0 3.0",
		node("openvino.EmbeddingSegmentsSum-3", 3, nil, table, vec(last, 0, last), vec[int64](0, 0, 2), i64(nil, 3), i64(nil, 0), weights): "3.0 0.0 12.0",
		node("openvino.Gather-1", 1, nil, table, vec(last, 0), i64(nil, 0)):                                                                "6.0 0.0",
		node("openvino.Gather-7", 7, attrs{"batch_dims": int64(0)}, table, vec(0, last), i64(nil, 0)):                                      "0.0 6.0",
		node("openvino.Gather-8", 8, nil, table, vec(-1, last+1), i64(nil, 0)):                                                             "6.0 0.0",
		node("openvino.GatherND-8", 8, nil, table, i64([]int{2, 2}, last, columns-1, 0, 0)):                                                "6.0 0.0",
		node("openvino.GatherND-5", 5, nil, table, i64([]int{1, 1}, last)):                                                                 "6.0",
	}
}

// checkOfTable runs the gathers in so much memory, and holds what they allocate.
func checkOfTable(t *testing.T, m *model.Model, table *model.Value, columns int, memory float64, allocates uint64) {
	spec, _ := table.Spec.Shape()
	for n, want := range ofTable(table, int64(spec[0]), int64(columns)) {
		with := &model.Model{Path: m.Path, Format: m.Format, Opsets: m.Opsets}
		graph := *m.Graph
		graph.Nodes = append(append([]*model.Node{}, m.Graph.Nodes...), n)
		with.Graph = &graph
		var got []garner.Tensor
		var err error
		bytes := allocated(func() {
			got, err = run.Values(context.Background(), with, []*model.Value{n.Outputs[0]}, nil, memory)
		})
		if err != nil || bytes > allocates {
			t.Errorf("%s: %v; %d bytes were allocated", n.Operator, err, bytes)
			continue
		}
		var first []string
		for i := range got[0].Shape()[0] {
			at := make([]int, got[0].Rank())
			at[0] = i
			v, err := got[0].At(at...)
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, v)
		}
		if text := strings.Join(first, " "); text != want || got[0].DType() != garner.F32 {
			t.Errorf("%s: %s of %s; want %s", n.Operator, text, got[0].DType(), want)
		}
	}
}

// TestGathersOfCompressed runs gathers and bags of a compressed table of OpenVINO, whose
// whole would exceed the memory many times. OC.7
func TestGathersOfCompressed(t *testing.T) {
	const rows, columns = 1 << 16, 1 << 10 // 32 MiB of codes, and 256 MiB of f32
	m := open(t, compressedModel(t, rows, columns))
	n, err := m.Find("single")
	if err != nil {
		t.Fatal(err)
	}
	checkOfTable(t, m, n.Outputs[0], columns, 1<<20, 8<<20)
	checkOfTable(t, m, n.Outputs[0], columns, 1<<40, 64<<20)
	// Each refusal of the operator stands.
	bag := node("openvino.EmbeddingBagOffsetsSum-3", 3, nil, n.Outputs[0], vec[int64](rows, 0), vec[int64](0))
	seven := node("openvino.Gather-7", 7, nil, n.Outputs[0], vec[int64](0, -1), i64(nil, 0))
	m.Graph.Nodes = append(m.Graph.Nodes, bag, seven)
	for n, want := range map[*model.Node]string{bag: "indices[0] = 65536 is outside axis 0", seven: "indices[1] = -1 is outside axis 0"} {
		if _, err := run.Values(context.Background(), m, []*model.Value{n.Outputs[0]}, nil, 1<<20); !errors.Is(err, garner.ErrIndex) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", n.Operator, err)
		}
	}
}

// TestBagsOfCasts runs bags of a table of f16 that is cast to f32 before them, whose whole
// would exceed the memory.
func TestBagsOfCasts(t *testing.T) {
	const rows = 1 << 20
	m := open(t, compressedModel(t, rows, 2)) // has 2 MiB of scales, all of them 2
	var scale *model.Value
	for _, v := range m.Graph.Constants {
		if v.Constant.Name == "scale" {
			scale = v
		}
	}
	cast := node("Convert", 1, attrs{"destination_type": "f32"}, scale)
	bag := node("openvino.EmbeddingBagOffsetsSum-3", 3, nil, cast.Outputs[0], vec[int64](rows-1, 0, 7), vec[int64](0, 2), nil, vec[float32](0.5, 1, 3))
	mean := node("openvino.EmbeddingBagPacked-15", 15, attrs{"reduction": "mean"}, cast.Outputs[0], i64([]int{1, 2}, 3, rows-1))
	bad := node("openvino.EmbeddingBagPackedSum-3", 3, nil, cast.Outputs[0], i64([]int{1, 2}, 3, rows))
	for _, memory := range []float64{1 << 20, 1 << 30} {
		for n, want := range map[*model.Node]string{bag: "f32[[3.0], [6.0]]", mean: "f32[[2.0]]", bad: "indices[0,1] = 1048576 is outside axis 0"} {
			var got garner.Tensor
			var err error
			bytes := allocated(func() { got, err = last(of("OpenVINO IR", cast, n), memory) })
			text := fmt.Sprint(err)
			if err == nil {
				text = got.DType().String() + got.Text()
			}
			if !strings.Contains(text, want) || memory == 1<<20 && bytes > 4<<20 {
				t.Errorf("%s: %s, and %d bytes were allocated; want %s", n.Operator, text, bytes, want)
			}
		}
	}
	// Something else that reads the table has it whole.
	shape := node("Add", 1, nil, cast.Outputs[0], vec[float32](1))
	var large *run.MemoryError
	if _, err := last(of("OpenVINO IR", cast, shape), 1<<20); !errors.As(err, &large) {
		t.Error(err)
	}
	// A table in memory that a view of it is not dense, and one of fewer elements.
	view, err := garner.Of(make([]garner.Float16, 1<<20), 1<<10, 1<<10).Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []garner.Tensor{view, garner.Of([]garner.Float16{0x3c00, 0x4000}, 2, 1)} {
		cast := node("Convert", 1, attrs{"destination_type": "f32"}, data)
		bag := node("openvino.EmbeddingBagPackedSum-3", 3, nil, cast.Outputs[0], i64([]int{1, 2}, 1, 0))
		if got, err := last(of("OpenVINO IR", cast, bag), 3<<20); err != nil || got.DType() != garner.F32 {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestRandomOfCompressed holds gathers and bags of random compressed tables to those of the
// table that the nodes compute.
func TestRandomOfCompressed(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 27))
	whole := func(n int, below int64) []int64 {
		list := make([]int64, n)
		for i := range list {
			list[i] = r.Int64N(below)
		}
		return list
	}
	tried := 0
	for range 600 {
		rows, groups, columns := 1+r.IntN(5), 1+r.IntN(3), 1+r.IntN(4)
		codes, err := garner.New([]garner.DType{garner.U8, garner.I8, garner.U4, garner.I4}[r.IntN(4)], rows, groups, columns)
		if err != nil {
			t.Fatal(err)
		}
		for i := range codes.Len() {
			if err := codes.SetText(i, fmt.Sprint(r.IntN(8))); err != nil {
				t.Fatal(err)
			}
		}
		scales := make([]float32, rows*groups)
		for i := range scales {
			scales[i] = float32(r.NormFloat64())
		}
		wide := node("Convert", 1, attrs{"destination_type": "f32"}, codes)
		from := node("Subtract", 1, nil, wide.Outputs[0], vec(float32(r.IntN(5))))
		product := node("Multiply", 1, nil, from.Outputs[0], garner.Of(scales, rows, groups, 1))
		flat := node("Reshape", 1, nil, product.Outputs[0], vec(int64(rows), -1))
		nodes := []*model.Node{wide, from, product, flat}
		table, extents := product.Outputs[0], []int{rows, groups, columns}
		if r.IntN(2) == 0 {
			table, extents = flat.Outputs[0], []int{rows, groups * columns}
		}
		k := 1 + r.IntN(5)
		at, ends := whole(k, int64(rows)), whole(1+r.IntN(4), int64(k+1))
		ends[0] = 0
		for i := 1; i < len(ends); i++ {
			ends[i] = max(ends[i], ends[i-1])
		}
		weights := make([]float32, k)
		for i := range weights {
			weights[i] = float32(r.IntN(9)) / 4
		}
		var none any
		weighted := []any{none, garner.Of(weights, k)}[r.IntN(2)]
		axis := r.IntN(len(extents))
		tuple := make([]int64, r.IntN(len(extents)+1))
		for i := range tuple {
			tuple[i] = r.Int64N(int64(extents[i]))
		}
		segments := make([]int64, k)
		for i := range segments {
			segments[i] = int64(i / 2)
		}
		elements, err := garner.New(garner.I64, extents...)
		if err != nil {
			t.Fatal(err)
		}
		batched := garner.Of(whole(rows*k, int64(extents[1])), rows, k)
		n := []*model.Node{
			node("openvino.EmbeddingBagOffsetsSum-3", 3, nil, table, garner.Of(at, k), garner.Of(ends, len(ends)), i64(nil, int64(r.IntN(rows))), weighted),
			node("openvino.EmbeddingBagOffsets-15", 15, attrs{"reduction": "mean"}, table, garner.Of(at, k), garner.Of(ends, len(ends))),
			node("openvino.EmbeddingBagPackedSum-3", 3, nil, table, garner.Of(at, 1, k)),
			node("openvino.EmbeddingBagPacked-15", 15, nil, table, garner.Of(at, k, 1)),
			node("openvino.EmbeddingSegmentsSum-3", 3, nil, table, garner.Of(at, k), garner.Of(segments, k), i64(nil, int64(k+1)), i64(nil, 0), weighted),
			node("openvino.Gather-1", 1, nil, table, garner.Of(whole(k, int64(extents[axis])), k), i64(nil, int64(axis))),
			node("openvino.Gather-7", 7, attrs{"batch_dims": int64(1)}, table, batched, i64(nil, 1)),
			node("openvino.Gather-8", 8, attrs{"batch_dims": int64(-1)}, table, batched, i64(nil, 1)),
			node("openvino.Gather-8", 8, nil, table, vec[int64](-1, 9, 0), i64(nil, -1)),
			node("openvino.GatherND-8", 8, nil, table, garner.Of(tuple, len(tuple))),
			node("openvino.GatherND-5", 5, nil, table, garner.Of(tuple, 1, len(tuple))),
			node("openvino.GatherElements-6", 6, attrs{"axis": int64(axis)}, table, elements),
		}[r.IntN(12)]
		m := of("OpenVINO IR", append(nodes, n)...)
		reads := run.Reads(n, nil)
		if reads[0] != wide.Inputs[0] {
			t.Fatalf("%s does not read the codes", n.Operator)
		}
		got, err := last(m, 1<<20)
		single, err2 := last(of("OpenVINO IR", wide), 1<<20)
		if err != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", n.Operator, err, err2)
		}
		given := map[*model.Value]garner.Tensor{wide.Outputs[0]: single} // so that the nodes compute the table
		want, err := run.Values(context.Background(), m, []*model.Value{n.Outputs[0]}, given, 1<<20)
		if err != nil {
			t.Fatalf("%s: %v", n.Operator, err)
		}
		if !same(t, got, want[0]) {
			t.Errorf("%s: %v; want %v", n.Operator, got, want[0])
		}
		tried++
	}
	if tried < 600 {
		t.Errorf("%d were tried", tried)
	}
}

// TestCutTable cuts the file of the constants that a bag reads, in place and row by row:
// the error names the file.
func TestCutTable(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is mapped from being cut short")
	}
	for _, rows := range []int{1 << 10, 1 << 16} { // 8 KiB of codes and 1 MiB
		path := compressedModel(t, rows, 1<<5)
		m := open(t, path)
		n, err := m.Find("single")
		if err != nil {
			t.Fatal(err)
		}
		var bags []*model.Node
		for _, table := range []*model.Value{n.Outputs[0], n.Inputs[0].From.Inputs[1]} { // and the scale alone
			bag := node("openvino.EmbeddingBagPackedSum-3", 3, nil, table, i64([]int{1, 2}, int64(rows)-1, 0))
			bags, m.Graph.Nodes = append(bags, bag), append(m.Graph.Nodes, bag)
			if _, err := run.Values(context.Background(), m, bag.Outputs, nil, 1<<30); err != nil {
				t.Fatal(err)
			}
		}
		bin := strings.TrimSuffix(path, ".xml") + ".bin"
		if err := os.Truncate(bin, 100); err != nil {
			t.Fatal(err)
		}
		for i, bag := range bags {
			if _, err := run.Values(context.Background(), m, bag.Outputs, nil, 1<<30); !errors.Is(err, garner.ErrFault) || !strings.Contains(err.Error(), bin) {
				t.Errorf("%d rows, bag %d: %v", rows, i, err)
			}
		}
	}
}

// slicedTable is a table of f32 in two files, cut in rows or in columns: its last row holds 6, and all else 0.
func slicedTable(t *testing.T, rows, columns int, axis int) *model.Value {
	t.Helper()
	spec := garner.SpecOf(garner.F32, rows, columns)
	whole := garner.Of(make([]float32, rows*columns), rows, columns)
	values, err := garner.Values[float32](whole)
	if err != nil {
		t.Fatal(err)
	}
	for i := range columns {
		values[len(values)-columns+i] = 6
	}
	c := model.NewConstant("table", spec, func() (garner.Tensor, error) { return whole, nil })
	c.Encoded = true
	var tiles []model.Tile
	cut := whole.Shape()[axis] / 3
	for i, ends := range [][2]int{{0, cut}, {cut, whole.Shape()[axis]}} {
		part, err := whole.Slice(axis, ends[0], ends[1], 1)
		if err == nil {
			part, err = part.Clone()
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := part.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		in := model.NewConstant("part", part.Spec(), nil)
		in.File, in.Size = path, int64(len(b))
		at := make([]int, 2)
		at[axis] = ends[0]
		tiles = append(tiles, model.Tile{At: at, Constant: in})
	}
	if axis > 0 {
		c.SetTiles(tiles)
	} else {
		for _, p := range tiles {
			c.Append(p.Constant, 0, p.Constant.Size)
		}
	}
	return &model.Value{Name: "table", Spec: spec, Constant: c}
}

// TestSlicedTable gathers rows of a table that lies in several files, also behind nodes that copy it, in less memory
// than the whole takes. What else reads it joins it.
func TestSlicedTable(t *testing.T) {
	const rows, columns, size, little = 1 << 10, 1 << 9, 2 << 20, 1 << 20
	for axis := range 2 {
		table := slicedTable(t, rows, columns, axis)
		checkOfTable(t, of("OpenVINO IR"), table, columns, little, 1<<20)
		read := node("ReadVariableOp", 1, nil, table)
		same := node("Identity", 1, nil, read.Outputs[0])
		ids := make([]int64, 20)
		for i := range ids {
			ids[i] = int64(rows - 1 - i%2)
		}
		of := func(n *model.Node) *model.Model { return of("TensorFlow", read, same, n) }
		gather := node("tensorflow.GatherV2", 1, nil, same.Outputs[0], vec[int64](rows-1, 0), i64(nil, 0))
		bag := node("tensorflow.sparse_segment_sum", 1, nil, same.Outputs[0], vec(ids...), vec(make([]int64, len(ids))...))
		many := make([]int64, size/16)
		for i := range many {
			many[i] = rows - 1
		}
		long := node("tensorflow.sparse_segment_sum", 1, nil, same.Outputs[0], vec(many...), vec(make([]int64, len(many))...))
		sum := node("AddV2", 1, nil, table, same.Outputs[0])
		for _, tt := range []struct {
			node   *model.Node
			memory float64
			want   float32 // the first element
		}{
			{gather, little, 6}, {bag, little, 60}, {node("Shape", 1, attrs{"out_type": "i64"}, table), little, rows}, {long, 3 * size, 6 * size / 16}, {sum, 3 * size, 0}, {same, 2 * size, 0},
		} {
			got, err := last(of(tt.node), tt.memory)
			if err != nil {
				t.Errorf("axis %d: %s: %v", axis, tt.node.Op, err)
				continue
			}
			if v, err := got.Float64(0); err != nil || v != float64(tt.want) {
				t.Errorf("axis %d: %s: %v, %v", axis, tt.node.Op, v, err)
			}
		}
		var large *run.MemoryError
		if _, err := last(of(sum), little); !errors.As(err, &large) {
			t.Errorf("axis %d: it joins %d bytes in %d: %v", axis, size, little, err)
		}
		// What is given for a copy stands for that alone.
		given := map[*model.Value]garner.Tensor{read.Outputs[0]: garner.Of([]float32{1, 2}, 2, 1)}
		both := node("tensorflow.GatherV2", 1, nil, same.Outputs[0], vec[int64](1), i64(nil, 0))
		got, err := run.Values(t.Context(), of(both), []*model.Value{both.Outputs[0]}, given, little)
		if err != nil || got[0].Text() != "[[2.0]]" {
			t.Errorf("axis %d: %v, %v", axis, got, err)
		}
	}
}
