package garner

import (
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// numbers has the dtypes that bags take, as the kernels know them.
var numbers = map[DType]kernel.Number{
	I8: kernel.I8, I16: kernel.I16, I32: kernel.I32, I64: kernel.I64, U8: kernel.U8, U16: kernel.U16, U32: kernel.U32, U64: kernel.U64,
	F16: kernel.F16, BF16: kernel.BF16, F32: kernel.F32, F64: kernel.F64,
}

// reductions has the reductions as internal/exec knows them.
var reductions = [...]exec.Reduction{Sum: exec.Sum, Mean: exec.Mean, SqrtN: exec.SqrtN, Max: exec.Max}

// exec returns the bags in the form that internal/exec runs: of data whose gathered
// axis has dim positions, of the loops of a plan, and of further operands, of which
// it reads shapes and strides.
func (b *Bag) exec(dtype DType, dim int, loops []Loop, further []Tensor) exec.Bag {
	e := exec.Bag{
		Number: numbers[dtype], Reduction: reductions[b.Reduction], Zero: b.FromZero, Reciprocal: b.Reciprocal, Rounded: b.Rounded, Fused: b.Fused, Away: b.Away, Summed: b.summed,
		Count: loops[0].Extent, Each: loops[1].Extent, Out: loops[0].Out,
		Padding: -1, SkipNegative: b.SkipNegative, SkipWeightless: b.SkipWeightless, Empty: -1,
	}
	if b.Ends != Even {
		ends := &further[b.EndsAt.At]
		e.Ends, e.Bounded, e.First = exec.Starts, b.Ends == Bounds, b.Ends == Bounds || b.Ends == ZeroStart
		if b.Ends == Segments {
			e.Ends = exec.Segments
		}
		e.Width = kernel.Width{Bits: ends.dtype.Bits(), Unsigned: ends.dtype.IsUnsigned()}
		e.EndsStep = ends.strides[0]
	}
	if b.WeightsAt.Given {
		e.Weighted = true
		strides := further[b.WeightsAt.At].strides
		copy(e.Weights[2-len(strides):], strides)
	}
	if b.Padding.Given {
		e.Padding = b.Padding.At
	}
	if b.Empty.Given {
		if e.Empty = b.Empty.At; e.Empty < 0 || e.Empty >= dim {
			e.Empty = -2
		}
	}
	return e
}

// count returns the number of bags that the operand of their ends gives, of a call that
// gives no other; false if it gives none.
func (b *Bag) count(further []Tensor) (bags int, ok bool) {
	ends := &further[b.EndsAt.At]
	switch b.Ends {
	case Bounds:
		bags = ends.shape[0] - 1
	case Segments:
		var err error
		if _, bags, err = lastSegment(ends); err != nil {
			return 0, false
		}
	default:
		bags = ends.shape[0]
	}
	return bags, bags >= 0
}

// alike reports whether the further operands of bags fit the indices.
func (b *Bag) alike(indices *Tensor, further []Tensor) bool {
	if b.WeightsAt.Given && !further[b.WeightsAt.At].shape.Equal(indices.shape) {
		return false
	}
	if b.Ends == Even {
		return true
	}
	ends, rank := further[b.EndsAt.At].shape, 1
	if b.Column {
		rank = 2
	}
	return len(ends) == rank && (rank < 2 || ends[1] > 0) && (b.Ends != Segments || ends[0] == indices.shape[0])
}
