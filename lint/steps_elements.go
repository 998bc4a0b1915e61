package lint

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// elementSteps are the operators whose results are elements of their inputs, in other
// places.
var elementSteps = map[string]step{
	"Slice": of(sliced, 0), "StridedSlice": of(stridedSlice, 0),
	"Split": of(split, 0), "VariadicSplit": of(split, 0),
	"Expand": of(expanded, 0), "Broadcast": of(expanded, 0),
	"Concat": ofAll(concatenated),
	"Pad":    ofAll(padded),

	"Compress": of(elementsOf, 0), "Tile": of(elementsOf, 0), "Roll": of(elementsOf, 0),
	"Reverse": of(elementsOf, 0), "ReverseSequence": of(elementsOf, 0),
	"DepthToSpace": of(elementsOf, 0), "SpaceToDepth": of(elementsOf, 0),
	"ReduceMax": of(extreme, 0), "ReduceMin": of(extreme, 0),
	"Trilu": of(orZero, 0),

	"Scatter": of(scattered, 0, 2), "ScatterElements": of(scattered, 0, 2), "ScatterND": of(scattered, 0, 2),
	"ScatterUpdate": of(scattered, 0, 2), "ScatterElementsUpdate": of(scattered, 0, 2), "ScatterNDUpdate": of(scattered, 0, 2),
}

// elementsOf is the bounds of some elements of the first input, in any order.
func elementsOf(c *operation) bounds {
	b, _ := c.input(0)
	b.exact = false
	return b.flat()
}

// extreme is the bounds of ReduceMax and ReduceMin. Of no element they give the least and
// the greatest value of the type.
func extreme(c *operation) bounds {
	b := elementsOf(c)
	axes, known := c.list("axes", 1)
	if c.number("noop_with_empty_axes", 0) != 0 && len(axes) == 0 {
		return b
	}
	// The file may say nothing of the dims behind operators.
	dims, err := c.declared.of(input(c.node, 0))
	if c.err = err; known && len(axes) > 0 {
		of := dims
		dims = nil
		for _, a := range axes {
			if at := axisOf(a, of); at >= 0 {
				dims = append(dims, of[at])
			}
		}
	}
	if !slices.Contains(dims, 0) {
		return b
	}
	least, most := rangeOf(b.dtype)
	if c.node.Op == "ReduceMin" {
		least = most
	}
	b.interval = span(least, least)
	return b
}

// reshaped keeps the positions along the last axis where its extent stays.
func reshaped(c *operation) bounds {
	b, _ := c.input(0)
	if c.node.Op == "Identity" {
		return b
	}
	dims := c.result.Spec.Dims
	axes, known := c.list("axes", 1)
	if c.node.Op == "Unsqueeze" && slices.Equal(axes, []int64{-1}) || len(dims) > 0 && dims[len(dims)-1] == garner.Exactly(1) {
		b.last = []interval{b.interval} // there is one position
	} else if !b.one && (len(dims) == 0 || len(b.last) == 0 || dims[len(dims)-1] != garner.Exactly(len(b.last))) {
		return b.flat()
	}
	rank := -1
	if known && b.rank >= 0 {
		switch c.node.Op {
		case "Unsqueeze":
			rank = b.rank + len(axes)
		case "Squeeze":
			rank = b.rank - len(axes)
		}
	}
	b.rank = rank
	return b
}

func castTo(c *operation) bounds {
	b, _ := c.input(0)
	to := operators.CastType(c.node)
	if to == garner.Invalid && c.node.Attributes["to"] == nil {
		to = c.result.Spec.DType
	}
	if !to.Valid() || !to.IsInteger() && !to.IsFloat() && to != garner.Bool {
		return anything(c.result)
	}
	return b.each(to, func(i interval) interval { return cast(to, i) })
}

// transposed keeps what is known of the components of NonZero's positions, which
// stand along its first axis.
func transposed(c *operation) bounds {
	b, _ := c.input(0)
	rank := b.rank
	b = b.flat()
	b.rank = rank
	order, given := c.list("perm", 1)
	if turned := !given && len(c.node.Inputs) == 1 && c.node.Attributes["perm"] == nil || slices.Equal(order, []int64{1, 0}); !turned {
		return b
	}
	if from := input(c.node, 0).From; from != nil && from.Op == "NonZero" && from.Domain == "" {
		for _, d := range input(from, 0).Spec.Dims {
			b.last = append(b.last, upTo(d, -1, position))
		}
	}
	return b
}

// onLast reports whether an axis is the last of so many; a rank of -1 is unknown.
func onLast(axis int64, rank int) bool { return axis == -1 || rank > 0 && axis == int64(rank)-1 }

// sliced selects positions along the last axis where its starts and ends are
// constants.
func sliced(c *operation) bounds {
	b, _ := c.input(0)
	axesAt, stepsAt := 3, 4
	if c.wordsOf(OpenVINO) {
		axesAt, stepsAt = 4, 3
	}
	starts, ok := c.list("starts", 1)
	ends, also := c.list("ends", 2)
	axes, named := c.list("axes", axesAt)
	if !ok || !also || len(starts) != 1 || len(ends) != 1 || b.rank != 1 && !(named && len(axes) == 1 && onLast(axes[0], b.rank)) {
		return elementsOf(c)
	}
	if by, known := c.list("steps", stepsAt); len(c.node.Inputs) > stepsAt && (!known || !slices.Equal(by, []int64{1})) {
		return elementsOf(c)
	}
	return b.along(b.part(starts[0], ends[0]))
}

// along gives some positions of b the rank of b.
func (b bounds) along(some bounds) bounds {
	some.rank, some.one = b.rank, some.one && b.rank == 1
	return some
}

// split selects the positions along the last axis that one of its outputs has.
func split(c *operation) bounds {
	b, _ := c.input(0)
	axis := c.number("axis", 0)
	sizes, ok := c.list("split", 1)
	given := len(c.node.Inputs) > 1
	if c.wordsOf(OpenVINO) {
		list, known := c.list("axis", 1)
		if !known || len(list) != 1 {
			return elementsOf(c)
		}
		axis = list[0]
		sizes, ok = c.list("split_lengths", 2)
		given = len(c.node.Inputs) > 2
	}
	if outputs := len(c.node.Outputs); !ok && !given && 0 < outputs && outputs <= len(b.last) && len(b.last)%outputs == 0 {
		sizes, ok = slices.Repeat([]int64{int64(len(b.last) / outputs)}, outputs), true
	}
	if !ok || !onLast(axis, b.rank) || c.output < 0 || c.output >= len(sizes) {
		return elementsOf(c)
	}
	from := int64(0)
	for _, n := range sizes[:c.output+1] {
		if n < 0 || n > mostPositions { // -1 is the rest
			return elementsOf(c)
		}
		from += n
	}
	n := sizes[c.output]
	return b.along(b.part(from-n, from))
}

// part is the bounds of a slice of a vector.
func (b bounds) part(from, to int64) bounds {
	n := int64(len(b.last))
	if n == 0 {
		b.exact = false
		return b.flat()
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	from, to = min(max(from, 0), n), min(max(to, 0), n)
	if from >= to {
		b.exact = false
		return b.flat()
	}
	return b.positions(b.last[from:to])
}

// positions is the bounds of a vector of some of the positions of b.
func (b bounds) positions(list []interval) bounds {
	made := bounds{interval: list[0], last: list, dtype: b.dtype, rank: 1, one: len(list) == 1, from: b.from}
	for _, i := range list[1:] {
		made.interval = union(made.interval, i)
	}
	return made.settled()
}

func stridedSlice(c *operation) bounds {
	b, _ := c.input(0)
	begin, ok := c.list("begin", 1)
	end, also := c.list("end", 2)
	if !ok || !also || len(begin) != 1 || len(end) != 1 || b.rank != 1 {
		return elementsOf(c)
	}
	if by, known := c.list("strides", 3); len(c.node.Inputs) > 3 && (!known || !slices.Equal(by, []int64{1})) {
		return elementsOf(c)
	}
	marked := func(name string) bool {
		mask, _ := c.node.Attributes[name].([]int64)
		return len(mask) > 0 && mask[0] != 0
	}
	from, to := begin[0], end[0]
	switch {
	case marked("new_axis_mask"), marked("ellipsis_mask"):
		return b.flat()
	case marked("shrink_axis_mask"):
		if c.wordsOf(OpenVINO) && marked("begin_mask") { // which the other runtimes do not look at here
			from = 0
		}
		if to = from + 1; to == 0 {
			to = math.MaxInt64
		}
	default:
		if marked("begin_mask") {
			from = 0
		}
		if marked("end_mask") {
			to = math.MaxInt64
		}
	}
	made := b.part(from, to)
	if marked("shrink_axis_mask") {
		made.rank = 0
	}
	return made
}

// expanded repeats elements.
func expanded(c *operation) bounds {
	b, _ := c.input(0)
	dims := c.result.Spec.Dims
	if len(dims) == 0 || len(b.last) == 0 || dims[len(dims)-1] != garner.Exactly(len(b.last)) {
		b = b.flat()
	}
	b.rank, b.one, b.exact = -1, false, false
	return b
}

func concatenated(c *operation) bounds { return concatenatedAlong(c, c.number("axis", 1)) }

// concatenatedAlong is the bounds of all inputs, one behind the other along an axis.
func concatenatedAlong(c *operation, axis int64) bounds {
	list := make([]bounds, 0, len(c.node.Inputs)) // there may be 100,000
	for i := range c.node.Inputs {
		if b, ok := c.input(i); ok {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return anything(c.result)
	}
	made := join(list)
	rank := rankOf(c.result.Spec)
	for _, b := range list {
		rank = max(rank, b.rank)
	}
	made.rank = rank
	if axis != -1 && (rank < 0 || axis != int64(rank)-1) {
		if rank < 0 {
			made.last = nil // the axis may be the last
		}
		return made
	}
	made.last = nil
	for _, b := range list {
		if len(b.last) == 0 || len(made.last)+len(b.last) > mostPositions {
			made.last = nil
			break
		}
		made.last = append(made.last, b.last...)
	}
	return made
}

// scattered is the bounds of the first input with elements of the third in places.
func scattered(c *operation) bounds {
	if how, ok := c.node.Attributes["reduction"].(string); ok && how != "none" {
		return anything(c.result)
	}
	a, _ := c.input(0)
	b, _ := c.input(2)
	made := join([]bounds{a.flat(), b.flat()})
	made.exact = false
	return made
}

func padded(c *operation) bounds {
	b, _ := c.input(0)
	how := "constant"
	for _, name := range []string{"mode", "pad_mode"} {
		if v, ok := c.node.Attributes[name].(string); ok {
			how = v
		}
	}
	b = b.flat()
	b.exact = false
	if how != "constant" {
		return b
	}
	with := bounds{interval: number(0), dtype: b.dtype}
	at := 2
	if c.wordsOf(OpenVINO) {
		at = 3
	}
	if v, ok := c.input(at); ok {
		with = v
	} else if v, ok := c.node.Attributes["value"].(float64); ok {
		with.interval = number(v)
	}
	return join([]bounds{b, with.flat()}).flat()
}

func orZero(c *operation) bounds {
	b := elementsOf(c)
	b.interval = union(b.interval, span(0, 0))
	b.last = nil
	return b
}

// gathered is the bounds of the elements that a gather reads. Constant indices
// select positions of a vector, such as a shape.
func gathered(c *operation) bounds {
	b, _ := c.input(0)
	at, _ := c.input(1)
	if made, ok := b.selected(at, c); ok {
		return made
	}
	b.exact = false
	if b = b.flat(); zeroesOutside(c.node.Operator) {
		b = b.each(b.dtype, func(i interval) interval { return union(i, span(0, 0)) })
	}
	return b
}

// selected is the bounds of the positions of b that a gather reads at constant
// indices; false where there are none such.
func (b bounds) selected(at bounds, c *operation) (bounds, bool) {
	var list []interval
	if b.rank == 1 && len(b.last) > 0 && (c.gathersAlong() || c.gathersElements()) {
		for _, i := range at.last {
			n := i.low.at
			if n < 0 && countsFromEnd(c.node.Operator) {
				n += float64(len(b.last))
			}
			if !i.exact || !i.point() || n < 0 || n >= float64(len(b.last)) {
				list = nil
				break
			}
			list = append(list, b.last[int(n)])
		}
	}
	if len(list) == 0 {
		return b.column(at, c)
	}
	made := b.positions(list)
	made.rank, made.one = at.rank, at.one
	return made, true
}

// column is the bounds of one position of b along its last axis.
func (b bounds) column(at bounds, c *operation) (bounds, bool) {
	axis := c.number("axis", 0)
	if list, ok := c.list("axis", 2); ok && len(list) == 1 {
		axis = list[0]
	}
	if b.rank == 1 || len(b.last) == 0 || !at.one || !at.exact || !onLast(axis, b.rank) || !c.gathersAlong() || c.number("batch_dims", 0) != 0 {
		return b, false
	}
	n := at.low.at
	if n < 0 && countsFromEnd(c.node.Operator) {
		n += float64(len(b.last))
	}
	if !at.point() || n < 0 || n >= float64(len(b.last)) {
		return b, false
	}
	b.interval = b.last[int(n)]
	return b.flat().settled(), true
}

// gathersAlong reports whether a gather takes slices along an axis.
func (c *operation) gathersAlong() bool {
	o, err := operators.Find(c.node.Operator, 0)
	return err == nil && o.Kind == operators.Gather
}

// gathersElements reports whether a gather takes elements of a vector, which Gather does
// too.
func (c *operation) gathersElements() bool {
	o, err := operators.Find(c.node.Operator, 0)
	return err == nil && o.Kind == operators.Elements
}
