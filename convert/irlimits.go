package convert

import (
	"slices"

	"github.com/garner-go/garner"
)

// broadcastRank is the most dims that OpenVINO 2026.4's CPU plugin broadcasts. Behind a guard it gave memory of
// others for integers of 7 dims, where one operand had fewer or other ones.
const broadcastRank = 6

// limits refuses what OpenVINO's CPU plugin answers otherwise than its operators' specifications say, and what ends its
// process. Each was seen on OpenVINO 2026.4.1.
func (p *program) limits(n *node) {
	if !inferred(n).Rank.Known() { // whatever the model declares: OpenVINO infers it again
		p.fail(garner.ErrShape, "the rank of what it makes is not known, and OpenVINO needs it; declare the shapes of the model's inputs")
		return
	}
	switch n.op {
	case opSlice:
		if !n.in[3].held() {
			p.fail(ErrUnsupported, "the axes of its Slice are computed, which ends OpenVINO's process; make them constant")
		}
		p.backward(n)
	case opMul:
		p.codes(n)
		p.broadcastable(n)
	case opGather, opGatherND:
		p.emptyIndices(n.op, n.in[1])
	case opNonZero:
		if slices.Contains(n.in[0].spec.Dims, garner.Exactly(0)) {
			p.fail(ErrUnsupported, "it looks for what is not 0 in %s, which has no elements, and OpenVINO ends its process where it loads that", n.in[0].spec)
		}
	default:
		if broadcasts(n) {
			p.broadcastable(n)
		}
	}
}

// emptyIndices refuses indices without elements of some shapes, with which OpenVINO ends its process when it loads them:
// constant ones with a dim of more than 1 behind one of 0, and those of a GatherElements whose data is not known to be as long.
func (p *program) emptyIndices(o op, indices *value) {
	dims, _ := indices.spec.Shape()
	none := slices.Index(dims, 0)
	switch {
	case p.target != irTarget || none < 0:
	case o == opGatherElements:
		p.fail(ErrUnsupported, "its indices %s have no elements, and OpenVINO ends its process where it loads them beside data whose other dims it does not know; declare these", indices.spec)
	case indices.held() && slices.ContainsFunc(dims[none:], func(d int) bool { return d > 1 }):
		p.fail(ErrUnsupported, "its constant indices %s have no elements, which ends OpenVINO's process where it loads them", indices.spec)
	}
}

// backward refuses a Slice with a negative step whose start is not behind its end, where both are counted from the end of
// an axis whose length is not known: OpenVINO takes the result for one without elements, which it is not where the axis is shorter.
func (p *program) backward(n *node) {
	starts, ok := n.in[1].integers()
	ends, also := n.in[2].integers()
	axes, known := n.in[3].integers()
	steps, stepped := n.in[4].integers()
	rank, ranked := n.in[0].rank()
	if !ok || !also || !known || !stepped || !ranked || len(starts) != len(ends) || len(starts) != len(axes) || len(starts) != len(steps) {
		return
	}
	for i, a := range axes {
		axis := p.axisOf(a, rank)
		if p.err != nil {
			return
		}
		if _, exact := n.in[0].dim(axis); steps[i] < 0 && starts[i] <= ends[i] && ends[i] < -1 && (!exact || n.in[0].waits()) {
			p.fail(ErrUnsupported, "its Slice goes backward from %d to %d along an axis whose length is not known, of which OpenVINO takes no element, also where the axis is shorter; declare the length", starts[i], ends[i])
			return
		}
	}
}

// broadcasts reports whether a node broadcasts its inputs.
func broadcasts(n *node) bool {
	switch n.op {
	case opAsIs:
		return len(n.in) > 1
	case opExpand, opSelect, opAdd, opSub, opMul, opDiv, opMin, opMax, opEqual, opLess, opLessEq, opGreater, opGreatEq, opAnd, opOr, opXor, opBitAnd, opBitOr, opBitXor:
		return true
	}
	return false
}

// broadcastable refuses results that OpenVINO does not broadcast to. What a gather becomes, guards and all, is not the model's
// own, and was held in every rank.
func (p *program) broadcastable(n *node) {
	made := n.out.spec.Dims
	operands := n.in
	if n.op == opExpand {
		operands = n.in[:1]
	}
	differ := slices.ContainsFunc(operands, func(v *value) bool {
		return !(v.small && v.tensor.Len() == 1) && !slices.Equal(v.spec.Dims, made)
	})
	switch {
	case !differ:
	case slices.Contains(made, garner.Exactly(0)) && !n.guards:
		p.fail(ErrUnsupported, "it broadcasts to %s, which has no elements, and OpenVINO makes another shape of that, or ends its process", n.out.spec)
	case len(made) > broadcastRank && !n.guards && !n.out.spec.DType.IsFloat():
		p.fail(ErrUnsupported, "it broadcasts integers to %d dims, where OpenVINO may answer with other memory; up to %d are converted", len(made), broadcastRank)
	}
}
