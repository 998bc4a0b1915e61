package gathertest

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/garner-go/garner"
)

// A lookup is one component of an index tuple: its position in the indices, and
// the axis of data that it addresses, with its extent.
type lookup struct {
	at   []int
	axis int
	dim  int
}

// A formula is the definition of an operator of Random, written from its
// specification and without a plan: the shape of the result before dims are
// flattened, and for each of its coordinates the lookups and the element of
// data that they start from.
type formula struct {
	shape  []int
	source func(out []int) (data []int, lookups []lookup)
	bound  func(index []int) (axis, dim int) // axis of data, and its extent, that the component at a position of the indices addresses
	flat   bool                              // a lookup counts elements of data in row-major order
}

// formulaOf returns the formula of an operator for data and indices of the
// given shapes.
func formulaOf(op garner.Op, ds, is []int) formula {
	switch o := op.(type) {
	case gather:
		return gatherFormula(o, ds, is)
	case gatherND:
		return gatherNDFormula(o, ds, is)
	case elements:
		return elementsFormula(o, ds, is)
	case flat:
		return flatFormula(ds, is)
	case scalars:
		return scalarsFormula(o, ds, is)
	case windows:
		return windowsFormula(o, ds, is)
	}
	panic(fmt.Sprintf("no formula for %T", op))
}

// out[p, i, s] = data[p, indices[p[:b], i], s]
func gatherFormula(g gather, ds, is []int) formula {
	axis, q := (g.axis+len(ds))%len(ds), len(is)-g.batch
	return formula{
		shape: slices.Concat(ds[:axis], is[g.batch:], ds[axis+1:]),
		source: func(out []int) ([]int, []lookup) {
			data := slices.Concat(out[:axis], []int{0}, out[axis+q:])
			return data, []lookup{{slices.Concat(out[:g.batch], out[axis:axis+q]), axis, ds[axis]}}
		},
		bound: func([]int) (int, int) { return axis, ds[axis] },
	}
}

// out[p, i, s] = data[p, indices[p, i, 0], … indices[p, i, k-1], s]
func gatherNDFormula(g gatherND, ds, is []int) formula {
	b, last := g.batch, len(is)-1
	k := is[last]
	return formula{
		shape: slices.Concat(is[:last], ds[b+k:]),
		source: func(out []int) ([]int, []lookup) {
			data := slices.Concat(out[:b], make([]int, k), out[last:])
			var lookups []lookup
			for c := range k {
				lookups = append(lookups, lookup{append(slices.Clone(out[:last]), c), b + c, ds[b+c]})
			}
			return data, lookups
		},
		bound: func(index []int) (int, int) { return b + index[last], ds[b+index[last]] },
	}
}

// out[p] = data[p with indices[p] in place of p[axis]]; with Broadcast, an
// extent of 1 has one position for every p.
func elementsFormula(e elements, ds, is []int) formula {
	shape := slices.Clone(is)
	if e.align == garner.Broadcast {
		for i := range shape {
			if i != e.axis && shape[i] == 1 {
				shape[i] = ds[i]
			}
		}
	}
	return formula{
		shape: shape,
		source: func(out []int) ([]int, []lookup) {
			data, at := slices.Clone(out), slices.Clone(out)
			for i := range out {
				if i == e.axis || ds[i] == 1 {
					data[i] = 0
				}
				if is[i] == 1 {
					at[i] = 0
				}
			}
			return data, []lookup{{at, e.axis, ds[e.axis]}}
		},
		bound: func([]int) (int, int) { return e.axis, ds[e.axis] },
	}
}

// out[i] = flatten(data)[indices[i]]
func flatFormula(ds, is []int) formula {
	n := 1
	for _, d := range ds {
		n *= d
	}
	return formula{
		shape: is,
		flat:  true,
		source: func(out []int) ([]int, []lookup) {
			return make([]int, len(ds)), []lookup{{slices.Clone(out), -1, n}}
		},
		bound: func([]int) (int, int) { return -1, n },
	}
}

// elementsFormula along one axis, or gatherFormula, with a dim of 1 for an
// operand of rank 0. The result has one position along such a dim, so leaving
// the dim out does not change the order.
func scalarsFormula(s scalars, ds, is []int) formula {
	d, q := ds, is
	if len(d) == 0 {
		d = []int{1}
	}
	if len(q) == 0 {
		q = []int{1}
	}
	var f formula
	if s.along {
		f = elementsFormula(elements{axis: 0, align: garner.Within}, d, q)
		f.shape = is
	} else {
		f = gatherFormula(gather{axis: s.axis}, d, q)
		if len(ds) == 0 {
			f.shape = ds
		}
	}
	whole, bound := f.source, f.bound
	f.source = func(out []int) ([]int, []lookup) {
		if len(out) == 0 {
			out = []int{0}
		}
		data, lookups := whole(out)
		lookups[0].at = lookups[0].at[:len(is)]
		return data[:len(ds)], lookups
	}
	f.bound = func(index []int) (int, int) { return bound(index) }
	return f
}

// The specification of stablehlo.gather, step by step, but for starts outside.
func windowsFormula(w windows, ds, is []int) formula {
	n := w.numbers
	pick := func(from []int, dims []int) (in, out []int) {
		for i, v := range from {
			if slices.Contains(dims, i) {
				in = append(in, v)
			} else {
				out = append(out, v)
			}
		}
		return in, out
	}
	_, offsetSizes := pick(w.sizes, slices.Concat(n.CollapsedSliceDims, n.OperandBatchingDims))
	_, batchSizes := pick(is, []int{n.IndexVectorDim})
	shape := make([]int, len(offsetSizes)+len(batchSizes))
	for i := range shape {
		if slices.Contains(n.OffsetDims, i) {
			shape[i], offsetSizes = offsetSizes[0], offsetSizes[1:]
		} else {
			shape[i], batchSizes = batchSizes[0], batchSizes[1:]
		}
	}
	starts := func(axis int) int { return ds[axis] - w.sizes[axis] + 1 }
	return formula{
		shape: shape,
		source: func(out []int) ([]int, []lookup) {
			offset, batch := pick(out, n.OffsetDims)
			// batch_index with a colon at index_vector_dim.
			index := batch
			if n.IndexVectorDim < len(is) {
				index = slices.Insert(slices.Clone(batch), n.IndexVectorDim, 0)
			}
			data := make([]int, len(ds))
			for i := range data {
				if !slices.Contains(n.CollapsedSliceDims, i) && !slices.Contains(n.OperandBatchingDims, i) {
					data[i], offset = offset[0], offset[1:]
				}
			}
			for i, dim := range n.OperandBatchingDims {
				data[dim] = index[n.StartIndicesBatchingDims[i]]
			}
			var lookups []lookup
			for c, axis := range n.StartIndexMap {
				at := slices.Clone(index)
				if n.IndexVectorDim < len(is) {
					at[n.IndexVectorDim] = c
				}
				lookups = append(lookups, lookup{at, axis, starts(axis)})
			}
			return data, lookups
		},
		bound: func(index []int) (int, int) {
			axis := n.StartIndexMap[0]
			if n.IndexVectorDim < len(is) {
				axis = n.StartIndexMap[index[n.IndexVectorDim]]
			}
			return axis, starts(axis)
		},
	}
}

// resolved returns the position of an index under the policies of a case, -1
// for a fill; ok is false where the index is refused.
func resolved(c Case, v garner.Index, dim int) (at int, ok bool) {
	i := new(big.Int).SetUint64(v.Bits)
	if !v.Unsigned {
		i.SetInt64(int64(v.Bits))
	}
	s := big.NewInt(int64(dim))
	inside := func(i *big.Int) bool { return i.Sign() >= 0 && i.Cmp(s) < 0 }
	if end := new(big.Int).Add(i, s); c.negative == garner.FromEnd && i.Sign() < 0 && inside(end) {
		i = end
	}
	switch {
	case inside(i):
		return int(i.Int64()), true
	case c.outside == garner.Zero || c.outside == garner.Fill:
		return -1, true
	case c.outside == garner.Error || dim == 0:
		return 0, false
	case c.outside == garner.Wrap:
		return int(i.Mod(i, s).Int64()), true
	case i.Sign() < 0: // clamp
		return 0, true
	}
	return dim - 1, true
}

// each visits every coordinate of a shape in row-major order.
func each(shape []int, visit func(c []int)) {
	n, _ := garner.Shape(shape).Len()
	c := make([]int, len(shape))
	for range n {
		visit(c)
		for i := len(c) - 1; i >= 0; i-- {
			if c[i]++; c[i] < shape[i] {
				break
			}
			c[i] = 0
		}
	}
}

// flatten returns the row-major position of a coordinate.
func flatten(c, shape []int) int {
	at := 0
	for i, d := range shape {
		at = at*d + c[i]
	}
	return at
}

// elementsOf returns the bits of every element in row-major order.
func elementsOf(t *testing.T, x garner.Tensor) []string {
	t.Helper()
	if x.DType() == garner.String {
		s, err := stringsOf(x)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	b, err := bytesOf(x)
	if err != nil {
		t.Fatal(err)
	}
	bits := x.DType().Bits()
	list := make([]string, x.Len())
	for i := range list {
		if bits < 8 {
			list[i] = string(b[i*bits/8] >> (i * bits % 8) & (1<<bits - 1))
		} else {
			list[i] = string(b[i*bits/8 : (i+1)*bits/8])
		}
	}
	return list
}

// TestFormulas holds the definition of a plan, against which executors are
// tested, against formulas that use no plan.
func TestFormulas(t *testing.T) {
	const seeds = 4000
	kinds, refusals := map[string]int{}, 0
	for seed := range uint64(seeds) {
		c := RandomElements(1_000_000 + seed)
		ds, is := c.Data.Shape(), c.Indices.Shape()
		f := formulaOf(c.bare, ds, is)
		kinds[fmt.Sprintf("%T", c.bare)]++
		got, err := garner.Reference(c.Op, c.Data, c.Indices)

		var first []int // position of the first refused index
		axis, refused, components := 0, 0, c.vector < 0 || is[c.vector] > 0
		if components {
			each(is, func(index []int) {
				v, err := c.Indices.Int(flatten(index, is))
				if err != nil {
					t.Fatal(err)
				}
				number, dim := f.bound(index)
				if _, ok := resolved(c, v, dim); !ok {
					if refused++; refused == 1 {
						first, axis = slices.Clone(index), number
					}
				}
			})
		}
		if refused > 0 {
			refusals++
			var bad *garner.IndexError
			if !errors.As(err, &bad) {
				t.Fatalf("seed %d: %s: %v, want a refusal of indices%v", seed, c.About, err, first)
			}
			if !slices.Equal(bad.Position, first) || bad.Axis != axis || bad.Others != refused-1 {
				t.Fatalf("seed %d: %s: %v, want a refusal of indices%v, axis %d, and of %d others", seed, c.About, err, first, axis, refused-1)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, c.About, err)
		}
		shape := slices.Clone(f.shape)
		switch o := c.bare.(type) {
		case gatherND: // GatherND-5 multiplies batch dims
			for range max(0, o.flatten-1) {
				shape = append([]int{shape[0] * shape[1]}, shape[2:]...)
			}
		case flat:
			if o.all {
				n, _ := garner.Shape(shape).Len()
				shape = []int{n}
			}
		}
		if !got.Shape().Equal(shape) {
			t.Fatalf("seed %d: %s: shape %v, want %v", seed, c.About, got.Shape(), shape)
		}
		data, out := elementsOf(t, c.Data), elementsOf(t, got)
		fill := ""
		switch {
		case c.outside == garner.Fill:
			fill = elementsOf(t, c.fill)[0]
		case c.Data.DType() != garner.String:
			fill = string(make([]byte, max(1, c.Data.DType().Bits()/8)))
		}
		each(f.shape, func(o []int) {
			from, lookups := f.source(o)
			want := ""
			for _, l := range lookups {
				v, err := c.Indices.Int(flatten(l.at, is))
				if err != nil {
					t.Fatal(err)
				}
				at, _ := resolved(c, v, l.dim)
				switch {
				case at < 0:
					want = fill
					from = nil
				case from != nil && f.flat:
					want = data[at]
				case len(from) > 0:
					from[l.axis] += at
				}
			}
			if from != nil && !f.flat {
				want = data[flatten(from, ds)]
			}
			if have := out[flatten(o, f.shape)]; have != want {
				t.Fatalf("seed %d: %s: out%v is %x, want %x", seed, c.About, o, have, want)
			}
		})
	}
	for _, kind := range []string{"gather", "gatherND", "elements", "flat", "scalars", "windows"} {
		if n := kinds["gathertest."+kind]; n < seeds/20 {
			t.Errorf("%d cases of %s", n, kind)
		}
	}
	if refusals < seeds/20 || refusals > seeds/2 {
		t.Errorf("%d of %d cases are refused", refusals, seeds)
	}
}
