package operators_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// throwBags tries bags that words choose: Infer, Reference, Gather and source.Gather
// agree, and every refusal has a class.
func throwBags(t *testing.T, w words, o operators.Operator, about string) (ran bool) {
	types := []garner.DType{garner.F32, garner.F64, garner.F16, garner.BF16, garner.I8, garner.U32, garner.I64}
	dtype := types[w.IntN(len(types))]
	if w.IntN(12) == 0 {
		dtype = garner.DTypes()[w.IntN(len(garner.DTypes()))]
	}
	ds := []int{1 + w.IntN(5), w.IntN(5)}
	if w.IntN(10) == 0 {
		ds = append(ds, 2)
	}
	bags := w.IntN(4)
	is := []int{w.IntN(7)}
	if slices.Contains([]string{"openvino.EmbeddingBagPackedSum-3", "openvino.EmbeddingBagPacked-15"}, o.Name) || o.Name == "torch.embedding_bag" && w.IntN(3) == 0 {
		is = []int{bags, w.IntN(4)}
	}
	if w.IntN(20) == 0 {
		is = append(is, 1)
	}
	data, indices := w.tensor(dtype, ds), w.tensor(garner.I64, is)
	for i := range data.Len() {
		_ = data.SetText(i, fmt.Sprint(w.IntN(9))) // no NaN, of which any is as good; bool and strings keep theirs
	}
	for i := range indices.Len() {
		v := w.IntN(ds[0])
		if w.IntN(60) == 0 {
			v = w.IntN(9) - 2
		}
		if err := indices.SetText(i, fmt.Sprint(v)); err != nil {
			t.Fatal(err)
		}
	}
	ascending := func(n, below int) garner.Tensor {
		list := make([]int64, n)
		for i := range list {
			list[i] = w.Int64N(int64(below))
		}
		if w.IntN(12) > 0 {
			slices.Sort(list)
		}
		return garner.Of(list, n)
	}
	one := func(v int64) operators.Input {
		v0 := garner.Of([]int64{v})
		return operators.Input{Spec: v0.Spec(), Value: v0}
	}
	given := func(v garner.Tensor) operators.Input { return operators.Input{Spec: v.Spec(), Value: v} }
	attributes := map[string]any{}
	for _, name := range o.Attributes() {
		switch words := o.Values(name); {
		case w.IntN(2) == 0:
		case len(words) > 0:
			attributes[name] = words[w.IntN(len(words))]
		case name == "include_last_offset":
			attributes[name] = true
		default:
			attributes[name] = w.Int64N(4) - 1
		}
	}
	var inputs []operators.Input
	for _, name := range o.Inputs() {
		in := operators.Input{}
		switch {
		case w.IntN(40) == 0:
		case name == "offsets" && len(is) == 1:
			offsets := ascending(bags, is[0]+1)
			if values, err := garner.Values[int64](offsets); err == nil && bags > 0 && w.IntN(8) > 0 {
				values[0] = 0
			}
			in = given(offsets)
		case name == "offsets":
		case name == "segment_ids":
			in = given(ascending(is[0], max(bags, 1)))
		case name == "ids_indices":
			ids := ascending(is[0], max(bags, 1))
			rows, err := ids.Reshape(is[0], 1)
			if err != nil {
				t.Fatal(err)
			}
			in = given(rows)
		case name == "num_segments":
			in = one(int64(bags))
		case name == "dense_shape":
			in = given(garner.Of([]int64{int64(bags), 9}, 2))
		case name == "default_index" && w.IntN(2) == 0:
			in = one(w.Int64N(int64(ds[0])+1) - 1)
		case (name == "weights" || name == "per_sample_weights") && w.IntN(3) == 0:
			weights := w.tensor(dtype, is)
			for i := range weights.Len() {
				_ = weights.SetText(i, fmt.Sprint(w.IntN(3)))
			}
			in = given(weights)
		}
		inputs = append(inputs, in)
	}
	about = fmt.Sprintf("%s, bags of data %v%v indices %v attributes %v inputs %v", about, dtype, garner.Shape(ds), indices, attributes, inputs)
	op, err := o.Bind(attributes, inputs...)
	if err != nil {
		refusal(t, about, err)
		return false
	}
	var more []garner.Tensor
	var specs []garner.Spec
	for _, in := range o.Operands(inputs) {
		more, specs = append(more, in.Value), append(specs, in.Spec)
	}
	spec, err := garner.Infer(op, data.Spec(), indices.Spec(), specs...)
	if err != nil {
		refusal(t, about, err)
	}
	want, wantErr := garner.Reference(op, data, indices, more...)
	got, gotErr := garner.Gather(op, data, indices, more...)
	if wantErr != nil {
		refusal(t, about, wantErr)
		if gotErr == nil || gotErr.Error() != wantErr.Error() {
			t.Errorf("%s: Gather says %v, the definition %v", about, gotErr, wantErr)
		}
	}
	outOfCore(t, about, op, data, indices, more, func(way string, written []byte, err error) {
		if wantErr != nil {
			if err == nil || err.Error() != wantErr.Error() {
				t.Errorf("%s: %s says %v, the definition %v", about, way, err, wantErr)
			}
		} else if b, bytesErr := got.Bytes(); gotErr == nil && (bytesErr != nil || err != nil || !bytes.Equal(b, written)) {
			t.Errorf("%s: %s wrote %x, %v; want %x", about, way, written, err, b)
		}
	})
	if wantErr != nil {
		return false
	}
	shape, known := spec.Shape()
	switch {
	case err != nil || known && !shape.Equal(want.Shape()) || spec.DType != want.DType() || spec.Rank != garner.Exactly(want.Rank()):
		t.Errorf("%s: Infer says %v, %v; the result is %v", about, spec, err, want)
	case gotErr != nil || !gathertest.Equal(got, want) && dtype.Bits() >= 8:
		// A quotient of zeros is a NaN, of which any is as good.
		if gotErr != nil || got.Text() != want.Text() {
			t.Errorf("%s: %v, %v; the definition says %v", about, got, gotErr, want)
		}
	}
	return true
}

// fetched is an Array whose rows can only be fetched.
type fetched struct{ source.Array }

// outOfCore runs source.Gather over arrays in memory, and over such as can only be
// fetched, with a budget too, and tells what each wrote.
func outOfCore(t *testing.T, about string, op garner.Op, data, indices garner.Tensor, more []garner.Tensor, tell func(way string, written []byte, err error)) {
	array := func(cold bool, x garner.Tensor) source.Array {
		switch {
		case !x.DType().Valid() && garner.TakesIndices(op):
			return nil
		case cold && x.DType().Valid():
			return fetched{source.Memory(x)}
		}
		return source.Memory(x)
	}
	for way, o := range map[string]source.Options{"source.Gather": {}, "source.Gather of fetched arrays": {Threads: 2}, "source.Gather with a budget": {Memory: 1 << 14}} {
		cold := way != "source.Gather"
		for _, m := range more {
			o.Further = append(o.Further, array(cold, m))
		}
		var written bytes.Buffer
		err := source.Gather(t.Context(), op, array(cold, data), array(cold, indices), &written, o)
		tell(way, written.Bytes(), err)
	}
}
