// Package departures has what runtimes do other than the specifications of their operators
// say, as they answered it themselves. What runs models follows it or refuses, what converts them
// carries it to the target, and what judges them reports it.
package departures

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// An Answer is what a runtime makes of an index.
type Answer uint8

// The answers.
const (
	Refused     Answer = iota // an error, which a call on one thread may lose
	Counted                   // it counts from the end of the axis
	Zeros                     // the result has zeros there
	OtherMemory               // the result has what stands there in memory
)

// A Gather is an operator whose runtime takes indices that its specification refuses.
type Gather struct {
	Operator string // as package operators has it
	Negative Answer // to an index from -s to -1, where s is the length of its axis
	Outside  Answer // to any other index that the axis does not have

	NegativeCase, OutsideCase string // the recordings, in testdata/conformance

	NegativeAtLoad     Answer // to a negative index where data and indices are constants, so that no run computes it
	NegativeAtLoadCase string // the recording, where that is another answer
}

// Gathers are OpenVINO's, as its CPU plugin runs them: every specification refuses a negative
// index and one outside.
var Gathers = []Gather{
	{"openvino.Gather-1", Zeros, Zeros, "openvino-gather-1-negative-as-run", "openvino-gather-1-past-end-as-run", Counted, "lint-folded-negative-1"},
	{"openvino.Gather-7", Zeros, Zeros, "openvino-gather-7-negative-as-run", "openvino-gather-7-past-end-as-run", Counted, "lint-folded-negative-7"},
	{"openvino.GatherND-5", Counted, OtherMemory, "openvino-gathernd-5-negative-rows-as-run", "openvino-gathernd-5-past-end-row", Counted, ""},
	{"openvino.GatherND-8", Counted, OtherMemory, "openvino-gathernd-8-negative-rows-as-run", "openvino-gathernd-8-past-end-row", Counted, ""},
	{"openvino.GatherElements-6", Counted, Refused, "openvino-gatherelements-6-negative-as-run", "lint-elements-past-end", Counted, ""},
}

// OfGather returns the departure of a gather; false where its runtime has none.
func OfGather(operator string) (Gather, bool) {
	i := slices.IndexFunc(Gathers, func(g Gather) bool { return g.Operator == operator })
	if i < 0 {
		return Gather{}, false
	}
	return Gathers[i], true
}

// Op gives an operator of the gather the policy of the runtime; other memory is refused.
func (g Gather) Op(op garner.Op) garner.Op {
	if g.Negative == Counted {
		op = garner.WithNegative(op, garner.FromEnd)
	}
	if g.Outside == Zeros {
		op = garner.WithOutside(op, garner.Zero)
	}
	return op
}

// mostOfShortVector is how many elements OpenVINO's CPU plugin takes for those of a shape.
const mostOfShortVector = 64

// ShortVector reports whether OpenVINO's CPU plugin may run a Gather of such data and indices as
// it runs those of shapes, which reads other memory for an index outside: both have up to 64
// elements and at most one dim, and data are integers of 16 bits or more. A Gather of constants it
// computes when it loads the model, without that.
func ShortVector(data, indices garner.Spec) bool {
	short := func(s garner.Spec) bool {
		return s.Rank == garner.Exactly(0) || s.Rank == garner.Exactly(1) && s.Dims[0].Min <= mostOfShortVector
	}
	return data.DType.IsInteger() && data.DType.Bits() >= 16 && short(data) && short(indices)
}

// TrueOfNaN reports whether a comparison, by the name that OpenVINO has for it, is true in its CPU
// plugin where an operand is NaN. When it loads a model, it computes it of constants as
// everywhere else.
func TrueOfNaN(comparison string) bool {
	return comparison == "Greater" || comparison == "GreaterEqual"
}

// Held returns the dtype in which OpenVINO's CPU plugin holds elements of a dtype, and
// computes with them.
func Held(d garner.DType) garner.DType {
	switch d {
	case garner.I64, garner.U64, garner.U32:
		return garner.I32
	case garner.F64:
		return garner.F32
	}
	return d
}

// ComparesInF32 reports whether OpenVINO's CPU plugin compares integers of a dtype as f32, so that
// it may take two beyond 2^24 for equal.
func ComparesInF32(d garner.DType) bool { return Held(d) == garner.I32 }

// A Rounding is what becomes of a quotient of integers.
type Rounding uint8

// The roundings.
const (
	TowardsZero       Rounding = iota
	Down                       // to the next lower integer
	DownOrTowardsZero          // one of the two
	Any                        // to an integer beside it
)

// A Moment is when a runtime computes a node.
type Moment uint8

// The moments.
const (
	InRun   Moment = iota // in each run, because the node needs elements of an input
	AtLoad                // when the model is loaded, because its inputs are constants
	Unknown               // one of the two
)

// Quotient returns how OpenVINO's CPU plugin rounds a quotient of integers of a dtype, which
// the specification has it round down with m_pythondiv: it does so only when it loads the
// model. One of i8 and u8 it rounds to the nearest where it knows no dims, and elsewhere
// towards 0.
func Quotient(d garner.DType, python bool, when Moment) Rounding {
	switch {
	case d == garner.I8 || d == garner.U8:
		return Any
	case !python || d.IsUnsigned() || when == InRun:
		return TowardsZero
	case when == AtLoad:
		return Down
	}
	return DownOrTowardsZero
}

// Quotients returns all the roundings of a dtype, as functions of the quotient.
func Quotients(d garner.DType) []func(float64) float64 {
	list := []func(float64) float64{math.Floor, math.Trunc}
	if Quotient(d, true, Unknown) == Any {
		list = append(list, math.RoundToEven)
	}
	return list
}
