package openvino_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/openvino"
)

// An example is an example of the specification, digit for digit.
type example struct {
	number              int
	batchDims           int
	indices, data, want string
}

// elementsAndSlices are examples 1 to 5, which GatherND-5 and GatherND-8 share.
var elementsAndSlices = []example{
	{1, 0,
		`[[0, 0],
		  [1, 0]]`,
		`[[1, 2],
		  [3, 4]]`,
		`[1, 3]`},
	{2, 0,
		`[[1], [0]]`,
		`[[1, 2],
		  [3, 4]]`,
		`[[3, 4],
		  [1, 2]]`},
	{3, 0,
		`[[[1]], [[0]]]`,
		`[[1, 2],
		  [3, 4]]`,
		`[[[3, 4]],
		  [[1, 2]]]`},
	{4, 1,
		`[[1],
		  [0]]`,
		`[[1, 2],
		  [3, 4]]`,
		`[2, 3]`},
	{5, 1,
		`[[1],
		  [0]]`,
		`[[[1,   2,  3,  4], [ 5,  6,  7,  8], [ 9, 10, 11, 12]],
		  [[13, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]]]`,
		`[[ 5,  6,  7,  8], [13, 14, 15, 16]]`},
}

// sixBatches is example 6 without its output, whose shape differs between the
// versions.
var sixBatches = example{6, 2,
	`[[[[1]],
	   [[0]],
	   [[2]]],
	  [[[0]],
	   [[2]],
	   [[2]]]]`,
	`[[[ 1,  2,  3,  4],
	   [ 5,  6,  7,  8],
	   [ 9, 10, 11, 12]],
	  [[13, 14, 15, 16],
	   [17, 18, 19, 20],
	   [21, 22, 23, 24]]]`,
	``}

func (e example) output(want string) example {
	e.want = want
	return e
}

func runExamples(t *testing.T, op func(batchDims int) garner.Op, examples []example) {
	for _, e := range examples {
		t.Run(fmt.Sprint("example ", e.number), func(t *testing.T) {
			gathertest.Check(t, op(e.batchDims), ruletest.Tensor(t, e.data), ruletest.Tensor(t, e.indices), ruletest.Tensor(t, e.want))
		})
	}
}

func TestGatherND5Spec(t *testing.T) {
	op := func(batchDims int) garner.Op { return openvino.GatherND5{BatchDims: batchDims} }
	runExamples(t, op, append(elementsAndSlices[:5:5],
		sixBatches.output(`[[2], [5], [11], [13], [19], [23]]`)))
}

func TestGatherND8Spec(t *testing.T) {
	op := func(batchDims int) garner.Op { return openvino.GatherND8{BatchDims: batchDims} }
	runExamples(t, op, append(elementsAndSlices[:5:5],
		sixBatches.output(`[[[ 2], [ 5], [11]], [[13], [19], [23]]]`),
		example{7, 3,
			`[[[[1],
			    [0]],
			   [[3],
			    [2]]]]`,
			`[[[[ 1,  2,  3,  4],
			    [ 5,  6,  7,  8]],
			   [[ 9, 10, 11, 12],
			    [13, 14, 15, 16]]]]`,
			`[[[ 2,  5],
			   [12, 15]]]`}))
}

// The layers on the pages have shapes and no values. Here every element of data
// is its own position, so that each element of the output identifies its origin;
// axes are the extents of the axes that a tuple addresses.
func layer(t *testing.T, op garner.Op, data, indices, axes, want garner.Shape) (values []int32, at []int64, out []int32) {
	t.Helper()
	n, _ := data.Len()
	values = make([]int32, n)
	for i := range values {
		values[i] = int32(i)
	}
	m, _ := indices.Len()
	at = make([]int64, m)
	for i := range at {
		at[i] = int64(uint32(i)*2654435761) % int64(axes[i%len(axes)])
	}
	d, x := garner.Of(values, data...), garner.Of(at, indices...)
	spec, err := garner.Infer(op, d.Spec(), x.Spec())
	if err != nil {
		t.Fatal(err)
	}
	if shape, ok := spec.Shape(); !ok || !shape.Equal(want) {
		t.Fatalf("Infer: %v, want %v", spec, want)
	}
	got, err := garner.Gather(op, d, x)
	if err != nil {
		t.Fatal(err)
	}
	defined, err := garner.Reference(op, d, x)
	if err != nil {
		t.Fatal(err)
	}
	if !gathertest.Equal(got, defined) {
		t.Error("Gather and the definition differ")
	}
	if !got.Shape().Equal(want) {
		t.Fatalf("shape %v, want %v", got.Shape(), want)
	}
	if out, err = garner.Values[int32](got); err != nil {
		t.Fatal(err)
	}
	return values, at, out
}

func TestGatherNDSpecLayers(t *testing.T) {
	nd5 := func(batchDims int) garner.Op { return openvino.GatherND5{BatchDims: batchDims} }
	nd8 := func(batchDims int) garner.Op { return openvino.GatherND8{BatchDims: batchDims} }
	for _, tt := range []struct {
		name          string
		op            garner.Op
		batchDims     int
		data, indices garner.Shape
		want          garner.Shape
	}{
		{"GatherND-8 layer 1", nd8(0), 0, garner.Shape{1000, 256, 10, 15}, garner.Shape{25, 125, 3}, garner.Shape{25, 125, 15}},
		{"GatherND-8 layer 2", nd8(2), 2, garner.Shape{30, 2, 100, 35}, garner.Shape{30, 2, 3, 1}, garner.Shape{30, 2, 3, 35}},
		{"GatherND-8 layer 3", nd8(3), 3, garner.Shape{1, 64, 64, 320}, garner.Shape{1, 64, 64, 1, 1}, garner.Shape{1, 64, 64, 1}},
		{"GatherND-5 layer 1", nd5(0), 0, garner.Shape{1000, 256, 10, 15}, garner.Shape{25, 125, 3}, garner.Shape{25, 125, 15}},
		{"GatherND-5 layer 2", nd5(2), 2, garner.Shape{30, 2, 100, 35}, garner.Shape{30, 2, 3, 1}, garner.Shape{60, 3, 35}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := tt.indices[len(tt.indices)-1]
			axes := tt.data[tt.batchDims : tt.batchDims+k]
			values, at, out := layer(t, tt.op, tt.data, tt.indices, axes, tt.want)
			// The formula: batches, then tuples, then the slice.
			batches, _ := tt.indices[:tt.batchDims].Len()
			tuples, _ := tt.indices[tt.batchDims : len(tt.indices)-1].Len()
			slice, _ := tt.data[tt.batchDims+k:].Len()
			perBatch, _ := axes.Len()
			for p := range batches {
				for i := range tuples {
					row := p * perBatch
					place := 0
					for j, extent := range axes {
						place = place*extent + int(at[(p*tuples+i)*k+j])
					}
					row += place
					for e := range slice {
						if got, want := out[(p*tuples+i)*slice+e], values[row*slice+e]; got != want {
							t.Fatalf("batch %d, tuple %d, element %d is %d, want %d", p, i, e, got, want)
						}
					}
				}
			}
		})
	}
}

func TestGather1Spec(t *testing.T) {
	op := openvino.Gather1{Axis: 1}
	for _, tt := range []struct {
		name                string
		data, indices, want garner.Shape
	}{
		// The page's own layer has 48 million elements of output. The test compares the
		// formula element by element on a layer that is smaller off the axis.
		{"layer, off the axis smaller", garner.Shape{6, 12, 1, 2}, garner.Shape{15, 4, 2, 28}, garner.Shape{6, 15, 4, 2, 28, 1, 2}},
		{"layer, with smaller indices", garner.Shape{6, 12, 10, 24}, garner.Shape{5, 2, 2, 3}, garner.Shape{6, 5, 2, 2, 3, 10, 24}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values, at, out := layer(t, op, tt.data, tt.indices, tt.data[1:2], tt.want)
			outer, axis := tt.data[0], tt.data[1]
			slice, _ := tt.data[2:].Len()
			for p := range outer {
				for i, index := range at {
					for e := range slice {
						got, want := out[(p*len(at)+i)*slice+e], values[(p*axis+int(index))*slice+e]
						if got != want {
							t.Fatalf("outer %d, index %d, element %d is %d, want %d", p, i, e, got, want)
						}
					}
				}
			}
		})
	}
	t.Run("layer", func(t *testing.T) {
		data := ruletest.Tensor(t, "iota i16[6,12,10,24]")
		at := make([]int64, 15*4*20*28)
		for i := range at {
			at[i] = int64(i) * 7 % 12
		}
		got, err := garner.Gather(op, data, garner.Of(at, 15, 4, 20, 28))
		if err != nil {
			t.Fatal(err)
		}
		if want := (garner.Shape{6, 15, 4, 20, 28, 10, 24}); !got.Shape().Equal(want) {
			t.Fatalf("shape %v, want %v", got.Shape(), want)
		}
		out, err := garner.Values[int16](got)
		if err != nil {
			t.Fatal(err)
		}
		const slice = 10 * 24
		for row := range len(out) / slice {
			first := (row/len(at)*12 + int(at[row%len(at)])) * slice
			for e, v := range out[row*slice : (row+1)*slice] {
				if int(v) != first+e {
					t.Fatalf("row %d, element %d is %d, want %d", row, e, v, first+e)
				}
			}
		}
	})
	t.Run("axis is a scalar or one element", func(t *testing.T) {
		for _, axis := range []string{"1", "[1]", "-3", "i8[-3]", "u64(1)"} {
			bound, err := bind(t, "openvino.Gather-1", axis)()
			if err != nil {
				t.Fatal(err)
			}
			if bound != op && bound != (openvino.Gather1{Axis: -3}) {
				t.Errorf("axis %s binds %v", axis, bound)
			}
			spec, err := garner.Infer(bound, garner.SpecOf(garner.F32, 6, 12, 10, 24), garner.SpecOf(garner.I32, 15, 4, 20, 28))
			if err != nil || !strings.HasSuffix(spec.String(), "[6,15,4,20,28,10,24]") {
				t.Errorf("axis %s: %v, %v", axis, spec, err)
			}
		}
	})
}
