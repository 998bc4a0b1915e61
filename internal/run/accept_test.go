package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestAccept refuses a result by its shape: before a large tensor is made where the shape
// depends on none, and before the result is made where it does.
func TestAccept(t *testing.T) {
	stop := errors.New("not this one")
	numbers := node("Range", 11, nil, i64(nil, 0), i64(nil, 1<<20), i64(nil, 1)) // 8 MiB
	sum := node("Add", 13, nil, numbers.Outputs[0], i64(nil, 1))
	dims := node("onnx.Gather-13", 13, nil, numbers.Outputs[0], vec[int64](1<<19, 8)) // [524288, 8]
	wide := node("Expand", 13, nil, i64(nil, 7), dims.Outputs[0])                     // 32 MiB
	at := node("Expand", 13, nil, i64(nil, 1), dims.Outputs[0])
	rows := node("onnx.Gather-13", 13, nil, vec[int64](1, 2), at.Outputs[0])
	count := node("Shape", 13, nil, sum.Outputs[0])
	for _, tt := range []struct {
		name   string
		wanted []*model.Node
		refuse int
		spec   string
		most   uint64 // bytes that are allocated
	}{
		{"known before the run", []*model.Node{sum}, 0, "i64[1048576]", 1 << 20},
		{"the second of two", []*model.Node{count, sum}, 1, "i64[1048576]", 1 << 20},
		{"of elements of a large tensor", []*model.Node{wide}, 0, "i64[524288,8]", 12 << 20},
		{"a gather by such", []*model.Node{rows}, 0, "i64[524288,8]", 46 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := of("ONNX", numbers, sum, dims, wide, at, rows, count)
			var wanted []*model.Value
			for _, n := range tt.wanted {
				wanted = append(wanted, n.Outputs[0])
			}
			asked := ""
			accept := run.Accept(func(i int, spec garner.Spec) (int, error) {
				asked += fmt.Sprint(i, " ")
				if i != tt.refuse {
					return 0, nil
				}
				if spec.String() != tt.spec {
					t.Errorf("it asks for %s, want %s", spec, tt.spec)
				}
				return 0, stop
			})
			var err error
			bytes := allocated(func() { _, err = run.Values(context.Background(), m, wanted, nil, 1<<30, accept) })
			if err != stop || bytes > tt.most {
				t.Errorf("%v; %d bytes were allocated", err, bytes)
			}
			if want := "0 1 "[:2*tt.refuse+2]; asked != want {
				t.Errorf("it asks for %s, want %s", asked, want)
			}
		})
	}
	// What is accepted is asked for once.
	m := of("ONNX", numbers, sum, dims, wide, at, rows, count)
	asked := make(map[int]int)
	results, err := run.Values(context.Background(), m, []*model.Value{rows.Outputs[0], count.Outputs[0], rows.Outputs[0], wide.Outputs[0]}, nil, 1<<30, run.Accept(func(i int, _ garner.Spec) (int, error) {
		asked[i]++
		return 0, nil
	}))
	if err != nil || fmt.Sprint(asked) != "map[0:1 1:1 2:1 3:1]" || results[0].Spec().String() != "i64[524288,8]" || results[1].Text() != "[1048576]" {
		t.Errorf("%v, %v", err, asked)
	}
}

// TestAcceptEnds asks for the ends of results: of gathers, which make no more, of what
// something else reads too, and of other nodes.
func TestAcceptEnds(t *testing.T) {
	const n = 1 << 19
	table := make([]float32, 16)
	for i := range table {
		table[i] = float32(i)
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i % 4)
	}
	half, err := garner.FromBytes(garner.F16, []byte{0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44}, 4) // 1 to 4
	if err != nil {
		t.Fatal(err)
	}
	gather := node("onnx.Gather-13", 13, nil, garner.Of(table, 4, 4), garner.Of(ids, n))
	cast := node("Cast", 13, attrs{"to": int64(1)}, half)
	wider := node("onnx.Gather-13", 13, nil, cast.Outputs[0], garner.Of(ids, n))
	twice := node("Add", 13, nil, wider.Outputs[0], wider.Outputs[0])
	words := node("onnx.Gather-13", 13, nil, vec("a", "b", "c", "d"), garner.Of(ids, n))
	flat := node("Reshape", 13, nil, gather.Outputs[0], vec[int64](2, -1))
	narrow := node("Cast", 13, attrs{"to": int64(10)}, flat.Outputs[0])
	column := node("Unsqueeze", 13, nil, narrow.Outputs[0], vec[int64](0))
	whole := node("Cast", 13, attrs{"to": int64(7)}, flat.Outputs[0]) // may refuse an element
	back := node("Cast", 13, attrs{"to": int64(1)}, whole.Outputs[0])
	codes := node("GatherElements", 13, nil, garner.Of(make([]uint8, 4), 4), garner.Of(ids, n))
	codes.Operator = "onnx.GatherElements-13"
	numbers := node("Cast", 13, attrs{"to": int64(1)}, garner.Of(make([]int64, n), n))
	stored := node(blocksOp, 1, attrs{"block_size": int64(16), "bits": int64(8)}, garner.Of(bytes.Repeat([]byte{130}, 64), 4, 16), garner.Of(ids, n), garner.Of([]float32{1, 2, 3, 4}, 4, 1))
	m := of("ONNX", gather, cast, wider, twice, words, flat, narrow, column, whole, back, codes, numbers, stored)
	first := map[*model.Node]string{gather: "[0.0, 1.0, 2.0, 13.0, 14.0, 15.0]", wider: "[1.0, 2.0, 3.0, 2.0, 3.0, 4.0]", twice: "[2.0, 4.0, 6.0, 4.0, 6.0, 8.0]", words: `["a", "b", "c", "b", "c", "d"]`,
		column: "[0.0, 1.0, 2.0, 13.0, 14.0, 15.0]", back: "[0.0, 1.0, 2.0, 13.0, 14.0, 15.0]", whole: "[0, 1, 2, 13, 14, 15]",
		codes: "[0, 0, 0, 0, 0, 0]", numbers: "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", stored: "[2.0, 2.0, 2.0, 8.0, 8.0, 8.0]"}
	for _, tt := range []struct {
		name   string
		wanted []*model.Node
		most   uint64
	}{
		{"a gather", []*model.Node{gather}, 4 << 20},
		{"a gather with a cast behind it", []*model.Node{wider}, 4 << 20},
		{"a gather that is wanted twice", []*model.Node{wider, wider}, 4 << 20},
		{"a gather that another node reads", []*model.Node{wider, twice}, 64 << 20},
		{"another node", []*model.Node{twice}, 64 << 20},
		{"strings", []*model.Node{words}, 64 << 20},
		{"a gather behind changes of its shape and a cast", []*model.Node{column}, 4 << 20},
		{"a cast that may refuse an element", []*model.Node{whole}, 64 << 20},
		{"a cast behind one", []*model.Node{back}, 64 << 20},
		{"a gather and what is made of it", []*model.Node{gather, column}, 64 << 20},
		{"elements", []*model.Node{codes}, 4 << 20},
		{"a cast", []*model.Node{numbers}, 4 << 20},
		{"stored elements", []*model.Node{stored}, 4 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var wanted []*model.Value
			for _, n := range tt.wanted {
				wanted = append(wanted, n.Outputs[0])
			}
			var got []garner.Tensor
			var err error
			size := allocated(func() {
				got, err = run.Values(context.Background(), m, wanted, nil, 1<<30, run.Accept(func(int, garner.Spec) (int, error) { return 3, nil }))
			})
			if err != nil || size > tt.most {
				t.Fatalf("%v; %d bytes were allocated", err, size)
			}
			for i, n := range tt.wanted {
				if got[i].Text() != first[n] {
					t.Errorf("%d: %s, want %s", i, got[i].Text(), first[n])
				}
			}
		})
	}
	// Every index is looked at all the same.
	ids[n/2] = 9
	if _, err := run.Values(context.Background(), m, gather.Outputs, nil, 1<<30, run.Accept(func(int, garner.Spec) (int, error) { return 3, nil })); !errors.Is(err, garner.ErrIndex) {
		t.Error(err)
	}
	ids[n/2] = 1
	if _, err := run.Values(context.Background(), m, gather.Outputs, nil, 1<<30, run.Accept(func(int, garner.Spec) (int, error) { return 4*n/2 + 1, nil })); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
}

// TestBeside counts what the caller has among the memory that tensors take.
func TestBeside(t *testing.T) {
	numbers := node("Range", 11, nil, i64(nil, 0), i64(nil, 1<<17), i64(nil, 1)) // 1 MiB
	m := of("ONNX", numbers)
	if _, err := run.Values(context.Background(), m, numbers.Outputs, nil, 3<<20, run.Beside(2<<20)); err != nil {
		t.Error(err)
	}
	_, err := run.Values(context.Background(), m, numbers.Outputs, nil, 3<<20, run.Beside(2<<20+1))
	if err == nil || !strings.Contains(err.Error(), "takes 1 MiB beside the 2 MiB in use, and there are 3 MiB for all") {
		t.Error(err)
	}
}

// TestOfShapes tells gathers of data from those of the arithmetic on shapes.
func TestOfShapes(t *testing.T) {
	x := &model.Value{Name: "x", Spec: model.Unknown}
	at := &model.Value{Name: "at", Spec: model.Unknown}
	given := map[*model.Value]garner.Tensor{x: i64([]int{2, 3}, 1, 2, 3, 4, 5, 6), at: vec[int64](-1)}
	last := vec[int64](-1)
	shape := node("Shape", 13, nil, x)
	size := node("Size", 13, nil, x)
	dims := node("Concat", 13, attrs{"axis": int64(0)}, shape.Outputs[0], vec[int64](9))
	widened := node("Cast", 13, attrs{"to": int64(7)}, dims.Outputs[0])
	mixed := node("Concat", 13, attrs{"axis": int64(0)}, shape.Outputs[0], at)
	sized := node("Unsqueeze", 13, nil, size.Outputs[0], vec[int64](0))
	constants := node("Concat", 13, attrs{"axis": int64(0)}, vec[int64](1), vec[int64](2))
	table := node("Expand", 13, nil, vec[int64](1), shape.Outputs[0])
	nodes := []*model.Node{shape, size, dims, widened, mixed, sized, constants, table}
	for name, tt := range map[string]struct {
		data, indices any
		of            bool
	}{
		"a shape":                           {shape.Outputs[0], last, true},
		"a shape, at a shape":               {shape.Outputs[0], sized.Outputs[0], true},
		"a shape, at an input":              {shape.Outputs[0], at, false},
		"a table cut to a shape":            {table.Outputs[0], at, false},
		"a table cut to a shape, at -1":     {table.Outputs[0], last, true},
		"a size":                            {sized.Outputs[0], last, true},
		"a shape and constants, cast":       {widened.Outputs[0], last, true},
		"constants at constants":            {vec[int64](1, 2), last, true},
		"what constants make":               {constants.Outputs[0], last, true},
		"constants at an input":             {vec[int64](1, 2), at, false},
		"an input":                          {x, last, false},
		"an input, at a shape":              {x, shape.Outputs[0], false},
		"constants at positions of a shape": {i64([]int{4}, 1, 2, 3, 4), shape.Outputs[0], false},
		"a shape and an input":              {mixed.Outputs[0], last, false},
	} {
		t.Run(name, func(t *testing.T) {
			gather := node("onnx.Gather-13", 13, nil, tt.data, tt.indices)
			m := of("ONNX", append(nodes[:len(nodes):len(nodes)], gather)...)
			calls := 0
			_, err := run.Values(context.Background(), m, gather.Outputs, given, 1<<20, run.Amend(func(g run.Gather) (garner.Op, error) {
				calls++
				if g.OfShapes != tt.of || g.Node != gather || g.DType != garner.I64 {
					t.Errorf("%+v", g)
				}
				return g.Op, nil
			}))
			if calls == 0 {
				t.Error("it was not asked", err)
			}
		})
	}
	// What is given is data, whatever the model makes it of.
	gather := node("onnx.Gather-13", 13, nil, shape.Outputs[0], last)
	_, err := run.Values(context.Background(), of("ONNX", shape, gather), gather.Outputs, map[*model.Value]garner.Tensor{shape.Outputs[0]: vec[int64](2, 3)}, 1<<20, run.Amend(func(g run.Gather) (garner.Op, error) {
		if g.OfShapes {
			t.Error("a given tensor is a shape")
		}
		return g.Op, nil
	}))
	if err != nil {
		t.Error(err)
	}
}

// TestLargeIndices looks at the indices of a constant in a file, of which it reads a part
// at a time, before it makes a result of long rows.
func TestLargeIndices(t *testing.T) {
	const n = 9 << 20 // 72 MiB of i64
	if math.MaxInt == math.MaxInt32 {
		t.Skip("its result has more bytes than an int counts")
	}
	path := filepath.Join(t.TempDir(), "weights")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(8 * n); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{2}, 8*(n-5)); err != nil {
		t.Fatal(err)
	}
	at := &model.Value{Name: "at", Spec: garner.SpecOf(garner.I64, n/3, 3)}
	// Its tensor has other elements than the file, which tells which of them are read.
	at.Constant = model.NewConstant("at", at.Spec, func() (garner.Tensor, error) { return garner.New(garner.I64, n/3, 3) })
	at.Constant.File, at.Constant.Size = path, 8*n
	gather := node("onnx.Gather-13", 13, nil, wide(t, garner.U8, 2, 256), at)
	_, err = run.Values(context.Background(), of("ONNX", gather), gather.Outputs, nil, math.MaxInt)
	var bad *garner.IndexError
	if !errors.As(err, &bad) || fmt.Sprint(bad.Position) != fmt.Sprint([]int{(n - 5) / 3, (n - 5) % 3}) || bad.Total != n {
		t.Errorf("%v", err)
	}
}

// TestWithoutAFirstInput holds that a node behind a gather that lacks its first input is
// refused.
func TestWithoutAFirstInput(t *testing.T) {
	for _, op := range []string{"Reshape", "Squeeze", "Unsqueeze", "CastLike"} {
		gather := node("onnx.Gather-13", 13, nil, garner.Of([]int64{1, 2}, 2), garner.Of([]int64{1}, 1))
		behind := node(op, 15, nil, nil, gather.Outputs[0])
		_, err := run.Values(t.Context(), of("ONNX", gather, behind), []*model.Value{behind.Outputs[0]}, nil, 1<<20)
		if err == nil || !strings.Contains(err.Error(), "needs an input 0") {
			t.Errorf("%s: %v", op, err)
		}
	}
}
