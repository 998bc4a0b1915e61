package garner

import (
	"context"
	"runtime"
	"slices"

	"github.com/garner-go/garner/internal/exec"
)

// Rows sets rows to where the rows first … first+len(rows)-1 of p.Loops begin
// in data, in loop order: the distance from data's first element in elements,
// or -1 for a row of zeros or of the plan's Fill. It returns the number of such
// filled rows. indices must have the shape and the strides that the plan was
// made for.
//
// A caller may lower the Extent of loops and set Indices and the Index strides
// to those of a tensor that holds only the matching part of the indices; the
// result is a valid plan. So rows can be found if the indices are larger than
// memory.
//
// Rows takes about a nanosecond per row, on one core. A refused index is an
// ErrIndex that does not name the index; Check and Survey do. An ErrDType or
// ErrShape means that the plan was made for other indices, or has no such rows.
// An ErrShape also refuses negative strides of data under Zero and Fill,
// because a row that begins before data's first element could equal -1.
// Volatile indices that have vanished are an ErrFault.
//
// Of a plan of bags, Rows finds the rows of its Terms.
func (p *Plan) Rows(rows []int64, indices Tensor, first int) (filled int, err error) {
	p = p.Terms()
	if total, ok := loopTurns(p.Loops); !ok || first < 0 || first > total || len(rows) > total-first {
		return 0, shapeError(KindMismatch, "%d rows from row %d on; the plan has %d", len(rows), first, total)
	}
	if len(rows) == 0 {
		return 0, nil
	}
	fills := p.Outside == Zero || p.Outside == Fill
	if fills && p.backwards() {
		return 0, shapeError(KindMismatch, "data's strides are negative, so that rows begin before its first element and are no other numbers than fills; Clone it")
	}
	if err := p.reaches(indices); err != nil {
		return 0, err
	}
	nest := p.Nest(0)
	// Loops of one turn change no row, and there can be more of them than exec walks.
	r := exec.NewResolver(&nest, execLoops(slices.DeleteFunc(slices.Clone(p.Loops), func(l Loop) bool { return l.Extent == 1 })))
	refused := false
	fault := indices.guard(func() {
		values := make([]int64, min(len(rows), exec.Tuned.TileRows))
		for at := 0; at < len(rows) && !refused; at += len(values) {
			tile := rows[at:min(at+len(values), len(rows))]
			outside := r.Rows(tile, values[:len(tile)], indices.mem.Buf, 0, indices.mem.Offset, first+at)
			if refused = r.Refused(outside); fills && outside > 0 {
				// A tuple with several components outside is one filled row.
				for _, row := range tile {
					if row < 0 {
						filled++
					}
				}
			}
		}
	})
	switch {
	case fault != nil:
		return 0, fault
	case refused:
		return 0, errorf(ErrIndex, "an index is outside its axis; Check says which")
	}
	if elem := int64(r.Elem()); elem > 1 {
		for i, row := range rows {
			if row >= 0 || !fills {
				rows[i] = row / elem
			}
		}
	}
	return filled, nil
}

// backwards reports whether a row can begin before data's first element.
func (p *Plan) backwards() bool {
	for _, a := range p.Axes {
		if a.Dim == 0 {
			return false // there is no row
		}
	}
	return slices.ContainsFunc(p.Loops, func(l Loop) bool { return l.Data < 0 }) || slices.ContainsFunc(p.Axes, func(a Axis) bool { return a.Data < 0 })
}

// loopTurns returns the number of turns of loops that a caller may have
// written; false if an extent is negative or the number overflows.
func loopTurns(loops []Loop) (int, bool) {
	shape := make(Shape, len(loops))
	for i, l := range loops {
		shape[i] = l.Extent
	}
	return shape.Len()
}

// reaches checks that the plan's loops, none of which is empty, stay inside the
// indices.
func (p *Plan) reaches(indices Tensor) error {
	if len(p.Axes) == 0 {
		return nil
	}
	if err := p.takes(indices); err != nil {
		return err
	}
	for _, a := range p.Axes {
		if a.Dim < 0 || slices.ContainsFunc(a.Parts, func(part Part) bool { return part.Extent < 1 }) {
			return shapeError(KindMismatch, "axis %d of the plan has no positions: %d, in parts %v", a.Number, a.Dim, a.Parts)
		}
	}
	walked := Tensor{dtype: indices.dtype, shape: make(Shape, 0, len(p.Loops))}
	for _, l := range p.Loops {
		walked.shape, walked.strides = append(walked.shape, l.Extent), append(walked.strides, l.Index)
	}
	lo, hi, ok := walked.extent()
	low, high := 0, 0
	for _, a := range p.Axes {
		low, high = min(low, a.Index), max(high, a.Index)
	}
	from, to, has := indices.extent()
	if !ok || !has || indices.Len() == 0 || lo+low < from-indices.mem.Offset || hi+high > to-indices.mem.Offset {
		return shapeError(KindMismatch, "indices %s%s with strides %v are not those that the plan was made for", indices.dtype, indices.shape, indices.strides)
	}
	return nil
}

// Check returns the error that a gather would return for its indices and the ends of
// its bags: an *IndexError, or an ErrShape of ends that no bags can have; nil if all are
// accepted. It reads each index once, on all cores, in about half a nanosecond
// each; if it finds an index outside, or if the indices have other strides than those the
// plan was made for, it takes the time of Survey. Other errors are those of Rows and of
// Survey.
//
// further are the operands of the call behind the indices. Of bags without the operand of their ends,
// Check looks at the indices alone.
func (p *Plan) Check(ctx context.Context, indices Tensor, further ...Tensor) error {
	b, err := p.bagsOf(indices, further)
	if err != nil || len(p.Axes) == 0 {
		return err
	}
	return b.guard(func(b *bags) error {
		return b.checkWith(ctx, func() error { return b.checkIndices(ctx) })
	})
}

// checkIndices returns the error of the first refused index, nil if there is none. The
// memory of the operands is held.
func (b *bags) checkIndices(ctx context.Context) error {
	p, indices := b.Plan, b.indices
	if indices.Len() == 0 {
		return nil
	}
	moving := *p.Terms()
	terms := moving.Loops
	moving.Loops = nil
	for _, l := range terms {
		if l.Index != 0 && l.Extent != 1 {
			l.Data, l.Out = 0, 0
			moving.Loops = append(moving.Loops, l)
		}
	}
	if _, ok := loopTurns(moving.Loops); !ok || p.indexStrides != nil && !slices.Equal(p.indexStrides, indices.strides) {
		return b.firstRefused(ctx) // the loops turn more often than there are indices, or would walk beside them
	}
	if err := moving.reaches(indices); err != nil {
		return err
	}
	// Rows of no element: exec resolves them and moves nothing.
	moving.Slice = 0
	program := exec.NewProgram(moving.Nest(0), &exec.Tuned, runtime.GOMAXPROCS(0))
	r := runners.Get().(*exec.Runner)
	r.Progress = nil
	how := r.Run(ctx, program, &exec.Memory{}, &indices.mem, &exec.Memory{})
	runners.Put(r)
	switch how {
	case exec.Vanished:
		return Vanished()
	case exec.Stopped:
		return context.Cause(ctx)
	case exec.Refused:
		if err := b.firstRefused(ctx); err != nil || p.Bag != nil && (p.Bag.SkipNegative || p.Bag.SkipWeightless) {
			return err
		}
		return changedIndices()
	}
	return nil
}
