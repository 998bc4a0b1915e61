package garner

// An Op is one operator of one framework, in that framework's words. It knows
// how its operands' axes become the output's, and what its framework says of
// bad indices; it moves nothing. An Op is a value: it is immutable and safe for
// concurrent use.
type Op interface {
	// Lower spends every axis of both operands once, in the order in which the
	// output has them.
	Lower(*Lowering)
}

// Negative says what a negative index means.
type Negative uint8

const (
	Reject  Negative = iota // it is outside, as any other index that the axis does not have
	FromEnd                 // -1 is the last, -2 the one before
)

// String is "reject" or "from-end".
func (n Negative) String() string {
	if n == FromEnd {
		return "from-end"
	}
	return "reject"
}

// Outside says what an index means that its axis does not have.
type Outside uint8

const (
	Error Outside = iota // the call fails with an IndexError
	Zero                 // its row is all bits zero: 0, false, ""
	Fill                 // its row is a given value
	Clamp                // it means the nearest position that there is
	Wrap                 // it counts modulo the axis
)

var outsideNames = [...]string{Error: "error", Zero: "zero", Fill: "fill", Clamp: "clamp", Wrap: "wrap"}

// String is "error", "zero", "fill", "clamp" or "wrap".
func (o Outside) String() string {
	if int(o) < len(outsideNames) {
		return outsideNames[o]
	}
	return "?"
}

// A Loop walks one dimension of the output. A zero stride means that the
// operand does not move along it, so the zeros alone tell the kinds apart:
//
//	batch   Data != 0, Index != 0   both operands move      (GatherND's batch_dims)
//	outer   Data != 0, Index == 0   the indices are reused  (the axes before Gather's axis)
//	tuple   Data == 0, Index != 0   the data is reused      (the indices' own axes)
type Loop struct {
	Extent int // how many turns
	Data   int // strides, in elements
	Index  int
	Out    int
}

// An Axis is a gathered axis of data: where the component of an index tuple
// that addresses it stands, and what that component may be.
type Axis struct {
	Number int // which axis of data; -1 for data taken flat
	Dim    int // the component lies in 0 … Dim-1
	Data   int // stride in data, in elements
	Index  int // how far the component stands from the tuple's first, in elements

	// Parts is what a position of data taken flat is made of, outermost first,
	// where data's own strides are not those of one axis; Data is 1 then.
	Parts []Part
}

// A Part is one dim of data that is taken flat.
type Part struct {
	Extent int
	Data   int // stride, in elements
}

// offset is how far from data's first element a position of the axis stands.
func (a *Axis) offset(at int) int {
	if len(a.Parts) == 0 {
		return at * a.Data
	}
	offset := 0
	for i := len(a.Parts) - 1; i >= 0; i-- {
		offset += at % a.Parts[i].Extent * a.Parts[i].Data
		at /= a.Parts[i].Extent
	}
	return offset
}

// A Plan is one gather, freed of its framework:
//
//	for every position c of Loops, outermost first:
//	    i_j = indices[c·Index + Axes[j].Index]      for each gathered axis j
//	    row = c·Data + Σ_j i_j·Axes[j].Data
//	    out[c·Out : c·Out+Slice] = data[row : row+Slice]
//
// Strides are in elements and are those of the operands that it was made for.
// A Plan is immutable and safe for concurrent use.
type Plan struct {
	DType     DType  // of data and of the result
	IndexType DType  // of the indices
	Out       Shape  // the shape of the result
	Indices   Shape  // the shape of the indices
	Loops     []Loop // the rows of the result, outermost first
	Axes      []Axis // the gathered axes, one per component of a tuple
	Slice     int    // elements per row, contiguous in data and in the result
	Negative  Negative
	Outside   Outside
	Fill      Tensor // a scalar of DType, where Outside is Fill

	component int // the dimension of the indices along which a tuple lies; -1: tuples of one
}

// NewPlan lowers op for operands of known shape. The plan's rules are those of
// the operator's specification; breaking one is an ErrDType, an ErrAttribute or
// an ErrShape, in that order, with a message that names the remedy. It costs a
// few microseconds and reads no element.
func NewPlan(op Op, data, indices Spec) (*Plan, error) {
	l, _, err := lower(op, data, indices)
	if err != nil {
		return nil, err
	}
	if l.partial { // R.24
		return nil, shapeError(KindRank, "a plan needs every dim of data %s and of indices %s; Infer does without", data, indices)
	}
	return l.plan()
}

// Infer is the dtype and shape of op's result, as far as those of its operands
// tell. Nothing is read and nothing runs. Errors are those of NewPlan; a rule
// that an unknown dim may still keep is not broken.
func Infer(op Op, data, indices Spec) (Spec, error) {
	l, out, err := lower(op, data, indices)
	if err != nil {
		return Spec{}, err
	}
	if !l.partial {
		if _, err := l.plan(); err != nil {
			return Spec{}, err
		}
	}
	return out, nil
}

// normal is a plan in the form that executors walk: the loops that move the
// indices, those that do not, and the longest slice.
type normal struct {
	index []Loop // empty where there are no gathered axes
	free  []Loop
	slice int
	empty bool // the result has no element
}

// normalize drops loops of one turn, joins loops that can be one, and sinks
// index-free loops over contiguous elements into the slice. The rows that the
// plan means stay the same.
func (p *Plan) normalize() normal {
	n := normal{slice: p.Slice, empty: p.Slice == 0}
	for _, l := range p.Loops {
		n.empty = n.empty || l.Extent == 0
		switch {
		case l.Extent == 1:
		case l.Index != 0 && len(p.Axes) > 0:
			n.index = append(n.index, l)
		default:
			n.free = append(n.free, l)
		}
	}
	for i := len(n.free) - 1; i >= 0; i-- {
		if l := n.free[i]; l.Data == n.slice && l.Out == n.slice {
			n.slice *= l.Extent
			n.free = append(n.free[:i], n.free[i+1:]...)
			i = len(n.free) // another loop may fit the longer slice
		}
	}
	n.index, n.free = join(n.index), join(n.free)
	return n
}

// join makes one loop of each two neighbours that step as one.
func join(loops []Loop) []Loop {
	joined := loops[:0]
	for _, in := range loops {
		if k := len(joined) - 1; k >= 0 {
			out := joined[k]
			if out.Data == in.Data*in.Extent && out.Index == in.Index*in.Extent && out.Out == in.Out*in.Extent {
				in.Extent *= out.Extent
				joined[k] = in
				continue
			}
		}
		joined = append(joined, in)
	}
	return joined
}

// turns is how often a nest of loops turns.
func turns(loops []Loop) int {
	n := 1
	for _, l := range loops {
		n *= l.Extent
	}
	return n
}
