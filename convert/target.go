package convert

import (
	"slices"

	"github.com/garner-go/garner"
)

// A layer is one operator of a target, as its file has it.
type layer struct {
	op, domain string
	version    int // the opset that has it
	attributes []attribute
	in         []*value
	out, also  *value // also: a second output, or nil
	name       string
}

type attribute struct {
	name  string
	value any // int64, []int64; in OpenVINO IR also bool and string
}

// A target is a format that models are converted to.
type target struct {
	name, runtime string
	extension     string
	beside        func(path string) string // the file of the elements
	policies      map[op]policy            // of its own gathers, as they run
	batches       bool                     // its Gather has batch dims

	// types has the dtypes that the runtime takes as the first input, by operator; for
	// Select as the second.
	types map[op][]garner.DType
	layer func(p *program, n *node) *layer
}

// takes reports whether the runtime has an operator for a dtype.
func (t *target) takes(o op, dtype garner.DType) bool { return slices.Contains(t.types[o], dtype) }

// check refuses a node whose operator the target's runtime lacks for its dtype.
func (p *program) check(n *node) {
	if n.kept {
		return // the runtime is the source's
	}
	dtype := n.in[0].spec.DType
	if n.op == opSelect {
		dtype = n.in[1].spec.DType
	}
	types := p.target.types[n.op]
	if n.op == opCast && !p.target.takes(n.op, n.out.spec.DType) {
		dtype = n.out.spec.DType
	}
	if !slices.Contains(types, dtype) {
		p.fail(garner.ErrDType, "%s has no %s of %s; convert its input to another type, or leave the node out", p.target.runtime, n.op, dtype)
	}
}

// dtypes joins lists of dtypes.
func dtypes(lists ...[]garner.DType) []garner.DType { return slices.Concat(lists...) }

var (
	bools  = []garner.DType{garner.Bool}
	wholes = []garner.DType{garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.U16, garner.U32, garner.U64}
	signed = []garner.DType{garner.I32, garner.I64}
	reals  = []garner.DType{garner.F32, garner.F64}
	halves = []garner.DType{garner.F16, garner.BF16}
	texts  = []garner.DType{garner.String}
)
