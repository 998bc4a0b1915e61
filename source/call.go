package source

import (
	"context"
	"slices"

	"github.com/garner-go/garner"
)

// NewPlan lowers op for arrays, with further as Options has them, and returns the plan in
// the order of its result: see garner.Plan.InOrder. It reads the operands that say where
// bags end, on which the shape of the result can depend, and no other. Errors are those
// of garner.NewPlan and *ReadErrors.
func NewPlan(ctx context.Context, op garner.Op, data, indices Array, further ...Array) (*garner.Plan, error) {
	indices = indicesOf(op, indices)
	g := &gather{data: data, indices: indices, o: Options{Further: further}, threads: 1}
	h, err := held(g.o.given(data, indices)...)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	if err := g.lower(ctx, op); err != nil {
		return nil, err
	}
	return g.plan, h.Check()
}

// indicesOf returns the indices of a call: of an operator that takes none they may be nil.
func indicesOf(op garner.Op, indices Array) Array {
	if indices == nil && !garner.TakesIndices(op) {
		return Memory(garner.Tensor{})
	}
	return indices
}

// given returns the Arrays of a call.
func (o *Options) given(data, indices Array) []Array {
	return append([]Array{data, indices}, slices.DeleteFunc(slices.Clone(o.Further), func(a Array) bool { return a == nil })...)
}

// further returns a further operand of the call; nil for one that is not given.
func (g *gather) further(at garner.Position) Array {
	if !at.Given || at.At >= len(g.o.Further) {
		return nil
	}
	return g.o.Further[at.At]
}

// lower lowers op. It reads the operands that may say where bags end, on which the shape
// of the result can depend.
func (g *gather) lower(ctx context.Context, op garner.Op) error {
	data, indices := g.data.Spec(), g.indices.Spec()
	if len(g.o.Further) == 0 {
		plan, err := garner.NewPlan(op, data, indices)
		if err != nil {
			return err
		}
		g.plan = plan.InOrder()
		return nil
	}
	operands := garner.OperandsOf(op)
	specs, values := make([]garner.Spec, len(g.o.Further)), make([]garner.Tensor, len(g.o.Further))
	g.whole = make([]garner.Tensor, len(g.o.Further))
	for i, a := range g.o.Further {
		if a != nil {
			specs[i] = a.Spec()
		}
	}
	// A plan needs elements only where the last segment says the number of bags. Operands of
	// AnyTypes may be segments too.
	tells := [...]garner.OperandTypes{garner.IntegerTypes, garner.AnyTypes}
	for read := 0; ; read++ {
		p, err := garner.Prepare(op, data, indices, garner.Threads(1), garner.Further(specs...), garner.FurtherValues(values...))
		if err != nil {
			return err
		}
		if plan := p.Plan(); plan != nil {
			g.plan = plan.InOrder()
			return nil
		}
		if read == len(tells) {
			_, err := garner.NewPlan(op, data, indices, specs...)
			return err
		}
		for i, a := range g.o.Further {
			if a == nil || i >= len(operands) || operands[i].Types != tells[read] || !specs[i].DType.IsInteger() {
				continue
			}
			if values[i], err = g.valuesOf(ctx, i); err != nil {
				return err
			}
		}
	}
}

// valuesOf returns a further operand with its elements. It holds those that a budget does
// not let a mapping have.
func (g *gather) valuesOf(ctx context.Context, at int) (t garner.Tensor, err error) {
	a := g.o.Further[at]
	if g.o.Memory == 0 || inMemory(a) {
		if t, here := tensorOf(a); here {
			return t, nil
		}
	}
	g.whole[at], err = g.hold(ctx, a)
	return g.whole[at], err
}

// hold returns an operand in memory, for the whole run: it reads one that the caller does
// not have there.
func (g *gather) hold(ctx context.Context, a Array) (garner.Tensor, error) {
	if inCaller(a) {
		return a.(*memory).tensor, nil
	}
	if err := g.count(a); err != nil {
		return garner.Tensor{}, err
	}
	t, _, err := loaded(ctx, fetches(a, g.o.Memory > 0, g.threads))
	return t, err
}

// copied is hold of an operand that the run has row-major, in memory of its own.
func (g *gather) copied(ctx context.Context, a Array) (garner.Tensor, error) {
	if inCaller(a) {
		if err := g.count(a); err != nil {
			return garner.Tensor{}, err
		}
	}
	t, err := g.hold(ctx, a)
	if err != nil {
		return t, err
	}
	return t.Clone()
}

// count counts an operand that the run holds, within half of the budget.
func (g *gather) count(a Array) error {
	size, err := sizeOf(a.Spec())
	if err != nil {
		return err
	}
	if g.held += size; g.o.Memory > 0 && g.held > g.o.Memory/2 {
		all := max(g.heldWhole(), g.held)
		return garner.Errorf(nil, "the indices, ends and weights of bags, and operands that are not row-major, are held whole: %d bytes, where half of the budget has room for %d; gather fewer bags at a time, or give %d bytes more", all, g.o.Memory/2, 2*all-g.o.Memory)
	}
	return nil
}

// inCaller reports whether an operand is in memory of the caller that stays as it is.
func inCaller(a Array) bool {
	m, ok := a.(*memory)
	return ok && !m.sparse && !m.tensor.CanVanish()
}

// heldWhole returns the bytes of all operands that hold reads; while the plan is not known,
// of all but data.
func (g *gather) heldWhole() (bytes int64) {
	count := func(a Array) {
		if a != nil && !inCaller(a) {
			size, _ := sizeOf(a.Spec())
			bytes += size
		}
	}
	if g.plan == nil || g.plan.Bag != nil {
		count(g.indices)
	}
	for at, a := range g.o.Further {
		if g.plan == nil || g.plan.Bag != nil && (garner.PositionAt(at) == g.plan.Bag.EndsAt || garner.PositionAt(at) == g.plan.Bag.WeightsAt) {
			count(a)
		}
	}
	if g.plan != nil && g.plan.Stored != nil {
		scales, zeros := g.plan.Stored.Operands()
		for _, a := range [...]Array{g.data, g.further(scales), g.further(zeros)} {
			if a != nil && !rowMajor(a.Spec()) { // which is copied
				size, _ := sizeOf(a.Spec())
				bytes += size
			}
		}
	}
	return bytes
}
