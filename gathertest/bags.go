package gathertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/garner-go/garner"
)

// pooled reduces rows along axis 0, with every choice of a Bag free.
type pooled struct {
	bag   garner.Bag
	count int // bags of segments; negative: the last segment tells
}

func (pooled) Operands() []garner.Operand {
	return []garner.Operand{{Name: "ends", Types: garner.IntegerTypes, Optional: true}, {Name: "weights", Types: garner.DataType, Optional: true}}
}

func (p pooled) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)
	count := garner.AnyDim
	if p.count >= 0 {
		count = garner.Exactly(p.count)
	}
	l.NeedRanks(1, 1).Bags(p.bag, count).Copy()
}

var calculable = []garner.DType{
	garner.F32, garner.F32, garner.F64, garner.F16, garner.BF16, garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.U16, garner.U32, garner.U64,
}

// RandomBags returns the gather into bags of a seed: any reduction, ends, dtype, shape,
// view and policy. In about one of eight the ends are no bags, in one of eight an
// index is outside.
func RandomBags(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 0xba65))
	some := func(n int) int {
		if r.IntN(8) == 0 {
			return r.IntN(20 * n)
		}
		return r.IntN(n)
	}
	p := pooled{count: -1}
	p.bag = garner.Bag{
		Reduction: garner.Reduction(r.IntN(4)), Ends: garner.Ends(r.IntN(6)), WeightsAt: 1,
		FromZero: r.IntN(2) == 0, Reciprocal: r.IntN(2) == 0, SkipNegative: r.IntN(6) == 0, SkipWeightless: r.IntN(6) == 0,
	}
	dtype := calculable[r.IntN(len(calculable))]
	weighted := r.IntN(2) == 0
	if !dtype.IsFloat() && (p.bag.Reduction == garner.SqrtN || p.bag.Reduction == garner.Mean) {
		if weighted = false; p.bag.Reduction == garner.SqrtN {
			p.bag.Reduction = garner.Sum
		}
	}
	ds := []int{1 + some(9)}
	for range r.IntN(3) {
		ds = append(ds, some(9))
	}
	if r.IntN(20) == 0 {
		ds[0] = 0
	}
	position := func() garner.Position { return garner.Position{Given: r.IntN(3) == 0, At: r.IntN(ds[0] + 1)} }
	p.bag.Padding, p.bag.Empty, p.bag.EmptyLate, p.bag.EmptyName = position(), position(), r.IntN(2) == 0, "empty"

	count := some(6)
	terms := some(12)
	is := []int{terms}
	if p.bag.Ends == garner.Even {
		is = []int{count, some(5)}
		p.bag.EndsAt = -1
	}
	c := Case{Data: tensor(r, dtype, ds), vector: -1}
	it := garner.I64
	if r.IntN(2) == 0 {
		it = integers[r.IntN(len(integers))]
	}
	c.Indices = tensor(r, it, is)
	c.More = make([]garner.Tensor, 2)
	if weighted {
		c.More[1] = tensor(r, dtype, is)
	}
	plain(r, c.Data)
	plain(r, c.More[1])
	if p.bag.Ends != garner.Even {
		c.More[0] = ends(r, &p, count, terms)
	}
	c.bare, c.Op = p, p
	c.About = fmt.Sprintf("%+v", p)
	// Positions for the indices, as of a plan of the terms alone.
	whole := c
	whole.Op = gather{}
	fillIndices(r, whole, r.IntN(8) == 0)
	if r.IntN(4) == 0 {
		c.Op = garner.WithNegative(c.Op, garner.FromEnd)
		c.About += " from-end"
	}
	switch r.IntN(8) {
	case 0:
		c.Op = garner.WithOutside(c.Op, garner.Outside(r.IntN(2)*2+1)) // zero or clamp
	case 1:
		c.Op = garner.WithFill(c.Op, tensor(r, dtype, nil))
	case 2:
		c.Op = garner.WithOutside(c.Op, garner.Wrap)
	}
	c.About += fmt.Sprintf(" data %v%v strides %v indices %v%v ends %v weights %v", dtype, c.Data.Shape(), c.Data.Strides(), it, c.Indices.Shape(), c.More[0], c.More[1])
	return c
}

// plain replaces most elements by small numbers, whose sums show their order.
func plain(r *rand.Rand, t garner.Tensor) {
	if !t.DType().Valid() {
		return
	}
	for i := range t.Len() {
		if r.IntN(40) == 0 {
			continue // any bits: infinities, NaN
		}
		text := fmt.Sprint(r.IntN(100))
		if t.DType().IsFloat() {
			text = fmt.Sprint(float64(r.IntN(2000)-1000) / 64)
			if r.IntN(20) == 0 {
				text = "-0"
			}
		}
		if err := t.SetText(i, text); err != nil {
			panic(err)
		}
	}
}

// ends returns the operand that says where bags end, mostly a right one.
func ends(r *rand.Rand, p *pooled, count, terms int) garner.Tensor {
	bad := r.IntN(8) == 0
	var list []int
	shape := []int{count}
	switch p.bag.Ends {
	case garner.Segments, garner.SegmentRows:
		for range terms {
			list = append(list, r.IntN(max(count, 1)))
		}
		if r.IntN(2) == 0 {
			p.count = count
			if count == 0 && terms > 0 && !bad {
				p.count = 1
			}
		}
		shape = []int{terms}
	default:
		for range count {
			list = append(list, r.IntN(terms+1))
		}
		if p.bag.Ends == garner.Bounds {
			shape[0]++
			list = append(list, r.IntN(terms+1))
		}
	}
	slices.Sort(list)
	if len(list) > 0 && (p.bag.Ends == garner.ZeroStart || p.bag.Ends == garner.Bounds) {
		list[0] = 0
	}
	if bad && len(list) > 0 {
		list[r.IntN(len(list))] = r.IntN(terms+count+3) - 1
	}
	if p.bag.Ends == garner.SegmentRows {
		shape = append(shape, 1+r.IntN(2))
	}
	types := []garner.DType{garner.I64, garner.I32, garner.U16, garner.I16}
	t := tensor(r, types[r.IntN(len(types))], shape)
	for i, v := range list {
		if v < 0 && t.DType().IsUnsigned() {
			v = 40000
		}
		at := i
		if len(shape) == 2 {
			at *= shape[1]
		}
		if err := t.SetText(at, fmt.Sprint(v)); err != nil {
			panic(err)
		}
	}
	return t
}

// AgainstBags holds an executor against the definition on the gather into bags of a
// seed: the same result, bit for bit but for the payload of a NaN, or the same error.
func AgainstBags(t testing.TB, run Executor, seed uint64) {
	t.Helper()
	c := RandomBags(seed)
	want, wantErr := garner.Reference(c.Op, c.Data, c.Indices, c.More...)
	got, err := run(context.Background(), c.Op, c.Data, c.Indices, c.More...)
	switch {
	case (err == nil) != (wantErr == nil):
		t.Errorf("seed %d: %s: error %v, the definition says %v", seed, c.About, err, wantErr)
	case err != nil && err.Error() != wantErr.Error():
		t.Errorf("seed %d: %s: error %q, the definition says %q", seed, c.About, err, wantErr)
	case err == nil && !equalNumbers(got, want):
		t.Errorf("seed %d: %s: %v, the definition says %v", seed, c.About, got, want)
	}
}

// equalNumbers is Equal for numbers, of which all NaNs are one.
func equalNumbers(a, b garner.Tensor) bool {
	if Equal(a, b) {
		return true
	}
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) || !a.DType().IsFloat() {
		return false
	}
	for _, t := range []*garner.Tensor{&a, &b} {
		c, err := t.Clone()
		if err != nil {
			return false
		}
		for i := range c.Len() {
			if v, err := c.Float64(i); err != nil || v != v && c.SetText(i, "NaN") != nil {
				return false
			}
		}
		*t = c
	}
	return Equal(a, b)
}

// RunBags holds an executor against the definition on many random gathers
// into bags.
func RunBags(t *testing.T, run Executor) {
	for seed := range uint64(1500) {
		AgainstBags(t, run, seed)
	}
}
