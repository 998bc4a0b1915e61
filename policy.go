package garner

import "errors"

// WithNegative returns op with another policy for negative indices.
func WithNegative(op Op, n Negative) Op {
	return amended{op, func(l *Lowering) { l.negative = n }, func(l *Lowering) {
		if n > FromEnd {
			l.FailAttribute("negative policy %d; there are reject and from-end", n)
		}
	}}
}

// WithOutside returns op with another policy for indices outside their axis. The
// policy Fill needs a value: see WithFill. Zero refuses an index outside if
// data's dtype has no zero.
func WithOutside(op Op, o Outside) Op {
	return amended{op, func(l *Lowering) { l.Outside(o) }, func(l *Lowering) {
		switch {
		case o > Wrap:
			l.FailAttribute("outside policy %d; there are error, zero, fill, clamp and wrap", o)
		case o == Fill:
			l.FailAttribute("the outside policy fill needs a value; use WithFill")
		}
	}}
}

// WithFill returns op with a fill for indices outside their axis: a tensor of one
// element (else an ErrShape), of data's dtype (else an ErrDType). A Volatile fill is
// read when op is lowered.
func WithFill(op Op, value Tensor) Op {
	amend := func(l *Lowering) {
		l.outside, l.fill = Fill, value
		if value.dtype != l.data.DType { // R.12
			l.FailDType("the fill is %s and data %s; they must be equal", value.dtype, l.data.DType)
		}
		if value.mem.Volatile && l.err == nil {
			l.fill, l.err = value.Clone()
		}
	}
	return amended{op, amend, func(l *Lowering) {
		if value.Len() != 1 {
			l.Fail(KindRank, "a fill of %d elements; it must be one", value.Len())
		}
	}}
}

// WithFillText returns op with a fill for indices outside their axis, given as
// text. Text that is no value of data's dtype is an ErrAttribute. A number that a
// float type lacks, such as 0 in f8e8m0, refuses an index outside.
func WithFillText(op Op, text string) Op {
	return amended{op, func(l *Lowering) {
		// An attribute precedes shapes (R.6), and its dtype is known behind the operator's rules.
		before := l.err
		if errors.Is(before, ErrShape) {
			l.err = nil
		}
		if l.FillText(text); l.err == nil {
			l.err = before
		}
	}, nil}
}

// amended is an operator with one policy replaced.
type amended struct {
	Op
	amend func(*Lowering)
	check func(*Lowering) // runs before the operator's own rules; may be nil
}

// Operands returns those of the operator.
func (a amended) Operands() []Operand { return OperandsOf(a.Op) }

func (a amended) amends() Op { return a.Op }

// Lower lowers the operator and replaces its policy.
func (a amended) Lower(l *Lowering) {
	if a.check != nil {
		a.check(l)
	}
	if a.Op == nil {
		l.FailAttribute("there is no operator whose policy could be another; name one, such as onnx.Gather13{}")
		return
	}
	a.Op.Lower(l)
	a.amend(l)
}
