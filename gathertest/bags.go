package gathertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/garner-go/garner"
)

// reduced reduces rows along axis 0, with every choice of a Bag free.
type reduced struct {
	bag   garner.Bag
	count int // bags of segments; negative: the last segment tells
}

var operandsOfBags = []garner.Operand{{Name: "ends", Types: garner.IntegerTypes, Optional: true}, {Name: "weights", Types: garner.ElementType, Optional: true}}

func (reduced) Operands() []garner.Operand { return operandsOfBags }

func (p reduced) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)
	count := garner.AnyDim
	if p.count >= 0 {
		count = garner.Exactly(p.count)
	}
	l.NeedRanks(1, 1).Bags(p.bag, count).NameEmpty("empty").Copy()
}

var calculable = []garner.DType{
	garner.F32, garner.F32, garner.F64, garner.F16, garner.BF16, garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.U16, garner.U32, garner.U64,
}

// RandomBags returns a gather into bags: any reduction, ends, dtype, shape, view and
// policy. In about one of eight the ends are no bags, in one of eight an index is
// outside.
func RandomBags(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 0xba65))
	dtype := calculable[r.IntN(len(calculable))]
	ds := []int{1 + some(r, 9)}
	for range r.IntN(3) {
		ds = append(ds, some(r, 9))
	}
	if r.IntN(20) == 0 {
		ds[0] = 0
	}
	c := Case{Data: tensor(r, dtype, ds), Computes: true, seed: seed, vector: -1}
	plain(r, c.Data)
	p := c.bags(r, dtype, ds[0])
	c.bare, c.Op = p, p
	fillIndices(r, c, gather{}, nil, r.IntN(8) == 0) // the terms alone
	c.policies(r, dtype)
	c.describe()
	return c
}

// some returns a random number that is mostly less than n.
func some(r *rand.Rand, n int) int {
	if r.IntN(8) == 0 {
		n *= 20
	}
	return r.IntN(n)
}

// bags adds random indices and the further operands of bags, of elements of a dtype in
// so many rows, and returns their operator.
func (c *Case) bags(r *rand.Rand, dtype garner.DType, rows int) reduced {
	p := reduced{count: -1}
	p.bag = garner.Bag{
		Reduction: garner.Reduction(r.IntN(4)), Ends: garner.Ends(r.IntN(6)), WeightsAt: garner.PositionAt(1),
		FromZero: r.IntN(2) == 0, Reciprocal: r.IntN(2) == 0, Rounded: r.IntN(2) == 0, SkipNegative: r.IntN(6) == 0, SkipWeightless: r.IntN(6) == 0,
	}
	if p.bag.Ends > garner.Segments {
		p.bag.Ends, p.bag.Column = garner.Segments, true
	}
	weighted := r.IntN(2) == 0
	if !dtype.IsFloat() && p.bag.Reduction == garner.SqrtN {
		p.bag.Reduction = garner.Sum
	}
	p.bag.Fused, p.bag.Away = r.IntN(2) == 0, r.IntN(2) == 0
	position := func() garner.Position { return garner.Position{Given: r.IntN(3) == 0, At: r.IntN(rows + 1)} }
	p.bag.Padding, p.bag.Empty, p.bag.EmptyOnUse = position(), position(), r.IntN(2) == 0

	count, terms := some(r, 6), some(r, 12)
	is := []int{terms}
	if p.bag.Ends == garner.Even {
		is = []int{count, some(r, 5)}
	} else {
		p.bag.EndsAt = garner.PositionAt(0)
	}
	it := garner.I64
	if r.IntN(2) == 0 {
		it = integers[r.IntN(len(integers))]
	}
	c.Indices = tensor(r, it, is)
	c.Further = make([]garner.Tensor, 2)
	if weighted {
		c.Further[1] = tensor(r, dtype, is)
		plain(r, c.Further[1])
	}
	if p.bag.Ends != garner.Even {
		c.Further[0] = ends(r, &p, count, terms)
	}
	c.About += fmt.Sprintf("%+v", p)
	return p
}

// plain replaces most elements by small numbers, whose sums show their order.
func plain(r *rand.Rand, t garner.Tensor) {
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
func ends(r *rand.Rand, p *reduced, count, terms int) garner.Tensor {
	bad := r.IntN(8) == 0
	var list []int
	shape := []int{count}
	switch p.bag.Ends {
	case garner.Segments:
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
	if p.bag.Column {
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
