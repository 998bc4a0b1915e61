package lint

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An inferredDim is what an inference finds of a dim before the first run: a number from 0
// on, or one of these.
type inferredDim int

const (
	openDim    inferredDim = -1 // only a run knows it: an input of the model leaves it open
	unclearDim inferredDim = -2 // lint does not follow it
	unreadDim  inferredDim = -3 // the one dim of a value whose node OpenVINO does not read, so that it refuses the model
)

// An inference finds the dims of the values of a model.
type inference struct {
	*linter
	openvino bool                    // as OpenVINO infers them, whose reader of ONNX makes a scalar of a constant without elements
	packed   map[*model.Value]string // the dims that it has found, as varints: there is a list for each value of a model
	seen     map[*model.Value]int32  // values that it has visited: see groups
}

func (l *linter) inference(openvino bool) *inference {
	return &inference{l, openvino, map[*model.Value]string{}, map[*model.Value]int32{}}
}

// keep stores the dims of a value. A value and the first that it reads mostly have the same,
// which are then stored once, and so are those that both inferences find.
func (f *inference) keep(v *model.Value, list []inferredDim) {
	var space [garner.MaxRank * binary.MaxVarintLen64]byte
	packed := space[:0]
	for _, e := range list {
		packed = binary.AppendVarint(packed, int64(e))
	}
	if from := f.reads(v); len(from) > 0 && from[0] != nil {
		if same, ok := f.packed[from[0]]; ok && same == string(packed) {
			f.packed[v] = same
			return
		}
	}
	if same, ok := f.inferred.packed[v]; ok && same == string(packed) {
		f.packed[v] = same
		return
	}
	f.packed[v] = string(packed)
}

// list gives the dims that keep has stored, for the caller to change; nil where there are none.
func (f *inference) list(v *model.Value) []inferredDim {
	packed, ok := f.packed[v]
	if !ok {
		return nil
	}
	list := make([]inferredDim, 0, len(packed))
	for at := []byte(packed); len(at) > 0; {
		e, n := binary.Varint(at)
		list, at = append(list, inferredDim(e)), at[n:]
	}
	return list
}

// of gives the dims of a value; nil where lint does not know its rank, or where it is above
// garner.MaxRank. Of the operators that stand before indices it follows those that keep a
// dim open, so that the inference of OpenVINO has openDim only where OpenVINO infers no more.
func (f *inference) of(v *model.Value) ([]inferredDim, error) {
	err := groups(v, f.seen, f.reads, func(group []*model.Value) error {
		if len(group) > 1 {
			return nil // a loop, which may change them
		}
		list, err := f.infer(group[0])
		if list != nil && len(list) <= garner.MaxRank {
			f.keep(group[0], list)
		}
		return err
	})
	return f.list(v), err
}

// reads lists the values whose dims infer needs: of a result behind the first, such as the
// second part of Split, the first input alone.
func (f *inference) reads(v *model.Value) []*model.Value {
	switch {
	case f.told(v):
		return nil
	case len(v.Takes) > 0:
		return v.Takes
	case v.From == nil || f.shaperOf(v) == nil:
		return nil
	}
	if !isFirst(v) {
		return v.From.Inputs[:min(len(v.From.Inputs), 1)]
	}
	return v.From.Inputs
}

// scalars reports whether the dims are those that OpenVINO's reader of ONNX infers, which makes
// a scalar of a constant without elements.
func (f *inference) scalars() bool { return f.openvino && f.wordsOf(ONNXRuntime) }

// told reports whether a value has the dims that the file says, and no others. OpenVINO has
// written into its IR what it infers of each value, and its reader of ONNX infers that anew.
func (f *inference) told(v *model.Value) bool {
	return v.Constant != nil || f.inputs[v] || known(v) && !f.scalars() || f.wordsOf(OpenVINO) && v.Spec.Rank.Known()
}

// declaredDims gives the dims that the file says of a value, and another dim for those that it
// leaves open.
func declaredDims(v *model.Value, otherwise inferredDim) []inferredDim {
	list := make([]inferredDim, len(v.Spec.Dims))
	for i, d := range v.Spec.Dims {
		if list[i] = otherwise; d.Known() {
			list[i] = inferredDim(d.Min)
		}
	}
	return list
}

// infer gives the dims of a value from those of what it reads.
func (f *inference) infer(v *model.Value) ([]inferredDim, error) {
	var list []inferredDim
	switch {
	case f.told(v):
		if !v.Spec.Rank.Known() {
			return nil, nil
		}
		if list = declaredDims(v, openDim); v.Constant != nil && f.scalars() && slices.Contains(list, 0) {
			list = []inferredDim{}
		}
		return list, nil
	case len(v.Takes) > 0:
		list = f.joined(v.Takes)
	case v.From != nil:
		if shape := f.shaperOf(v); shape != nil {
			if slices.ContainsFunc(f.reads(v), func(v *model.Value) bool { return f.packed[v] == packedUnread }) {
				return []inferredDim{unreadDim}, nil
			}
			c := &operation{linter: f.linter, dims: f, node: v.From, result: v, output: slices.Index(v.From.Outputs[:min(len(v.From.Outputs), mostPositions)], v)}
			if list = shape(c); c.err != nil || isUnread(list) {
				return list, c.err
			}
		}
	}
	switch {
	case !v.Spec.Rank.Known():
	case list == nil && len(v.Spec.Dims) > garner.MaxRank:
	case list == nil:
		list = declaredDims(v, unclearDim)
	case len(list) == len(v.Spec.Dims):
		for i, e := range declaredDims(v, unclearDim) {
			if e >= 0 && (list[i] == unclearDim || list[i] == openDim && !f.openvino) { // which OpenVINO leaves open
				list[i] = e
			}
		}
	}
	return list, nil
}

func isUnread(list []inferredDim) bool { return len(list) == 1 && list[0] == unreadDim }

var packedUnread = string(binary.AppendVarint(nil, int64(unreadDim)))

// unread is the dims of what needs an axis, where its operand is a scalar that OpenVINO's
// reader of ONNX has made; nil where it is not.
func (c *operation) unread(list []inferredDim) []inferredDim {
	if list != nil && len(list) == 0 && c.dims.scalars() {
		return []inferredDim{unreadDim}
	}
	return nil
}

// never is the dims of a result whose operands do not fit each other. In a valid model, one of
// them comes from a scalar that OpenVINO's reader of ONNX has made; nil in other formats.
func (c *operation) never(list []inferredDim) []inferredDim {
	if list == nil || !c.dims.scalars() {
		return nil
	}
	return []inferredDim{unreadDim}
}

// joined gives the dims of a value that may be any of several; nil unless they have one
// rank.
func (f *inference) joined(values []*model.Value) []inferredDim {
	list := f.list(values[0])
	for _, v := range values[1:] {
		taken := f.list(v)
		if taken == nil || len(taken) != len(list) {
			return nil
		}
		for i, e := range taken {
			switch {
			case e == openDim || list[i] == openDim:
				list[i] = openDim
			case e != list[i]:
				list[i] = unclearDim
			}
		}
	}
	return list
}

// shaperOf gives the function of the node that makes a value, by which it infers the value's
// dims; nil where lint has none.
func (l *linter) shaperOf(v *model.Value) func(c *operation) []inferredDim {
	n := v.From
	if !isFirst(v) && n.Op != "Split" && n.Op != "VariadicSplit" && n.Op != "TopK" {
		return nil
	}
	if n.IsGather() {
		return dimsOfGather
	}
	if n.Domain != "" || len(n.Graphs) > 0 {
		return nil
	}
	if effect, _ := operators.EffectOf(n); effect == operators.Cast {
		return dimsOfFirst
	}
	return shapersByName[l.nameOf(n)]
}

// shapersByName are the operators whose results have dims of their inputs, by their names
// in ONNX and in OpenVINO.
var shapersByName = func() map[string]func(c *operation) []inferredDim {
	all := map[string]func(c *operation) []inferredDim{
		"Transpose": dimsOfTranspose, "Concat": dimsOfConcat, "Slice": dimsOfSlice, "Tile": dimsOfTile,
		"Expand": dimsOfExpand, "Broadcast": dimsOfExpand, "Pad": dimsOfPad, "Flatten": dimsOfFlatten,
		"Split": dimsOfSplit, "VariadicSplit": dimsOfSplit, "Unsqueeze": dimsOfUnsqueeze, "Squeeze": dimsOfSqueeze, "Reshape": dimsOfReshape,
		"CumSum": dimsOfCumSum, "Where": dimsOfBroadcast, "Select": dimsOfBroadcast,
	}
	for _, op := range []string{
		"Identity", "Abs", "Neg", "Negative", "Relu", "Floor", "Ceil", "Ceiling", "Round", "Sign", "Not", "LogicalNot", "BitwiseNot",
		"ReLU", "Sqrt", "Exp", "Log", "Sigmoid", "HardSigmoid", "Softmax", "SoftMax", "Tanh", "Erf", "Sin", "Cos", "Clip", "Clamp", "Trilu", "ReverseSequence", "Roll", "ScatterElements", "ScatterND", "ScatterUpdate", "ScatterElementsUpdate", "ScatterNDUpdate",
	} {
		all[op] = dimsOfFirst
	}
	for _, op := range []string{
		"Add", "Sum", "Sub", "Subtract", "Mul", "Multiply", "Div", "Divide", "Mod", "FloorMod", "Pow", "Power", "SquaredDifference", "Min", "Minimum", "Max", "Maximum",
		"BitwiseAnd", "BitwiseOr", "BitwiseXor", "And", "Or", "Xor", "LogicalAnd", "LogicalOr", "LogicalXor",
		"Equal", "NotEqual", "Less", "LessOrEqual", "LessEqual", "Greater", "GreaterOrEqual", "GreaterEqual",
	} {
		all[op] = dimsOfBroadcast
	}
	for _, op := range []string{"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"} {
		all[op] = dimsOfReduce
	}
	all["ArgMax"], all["ArgMin"], all["TopK"], all["Compress"] = dimsOfArgMax, dimsOfArgMax, dimsOfTopK, dimsOfCompress
	return all
}()

// dimsOf gives the dims of the i-th input; nil where they are not known.
func (c *operation) dimsOf(i int) []inferredDim {
	if i >= len(c.node.Inputs) || c.node.Inputs[i] == nil {
		return nil
	}
	return c.dims.list(c.node.Inputs[i])
}

// short is list for as many integers as a tensor has dims; an attribute may have more.
func (c *operation) short(name string, i int) ([]int64, bool) {
	list, ok := c.list(name, i)
	return list, ok && len(list) <= garner.MaxRank
}

func dimsOfFirst(c *operation) []inferredDim { return c.dimsOf(0) }

// dimsOfBroadcast is the dims of operands that broadcast: a known one other than 1 is
// that of the result.
func dimsOfBroadcast(c *operation) []inferredDim {
	made := []inferredDim{}
	for i := range c.node.Inputs {
		list := c.dimsOf(i)
		if list == nil {
			return nil
		}
		made = broadcast(made, list)
	}
	return made
}

// broadcast gives the dims of two operands that broadcast. It may change the first.
func broadcast(made, list []inferredDim) []inferredDim {
	made = padded1(made, len(list))
	for i, e := range list {
		at := &made[len(made)-len(list)+i]
		switch {
		case *at == 1:
			*at = e
		case e == 1 || *at >= 0:
		case e >= 0:
			*at = e
		default:
			*at = min(*at, e) // unclear rather than open
		}
	}
	return made
}

// padded1 puts ones before dims that are fewer than a rank.
func padded1(list []inferredDim, rank int) []inferredDim {
	return append(slices.Repeat([]inferredDim{1}, max(rank-len(list), 0)), list...)
}

// dimsOfExpand is the dims of a value that is broadcast to a constant shape.
func dimsOfExpand(c *operation) []inferredDim {
	list := c.dimsOf(0)
	shape, ok := c.short("shape", 1)
	if how, text := c.node.Attributes["mode"].(string); !ok || list == nil || text && !strings.EqualFold(how, "bidirectional") && !strings.EqualFold(how, "numpy") {
		return nil
	}
	to := make([]inferredDim, len(shape))
	for i, n := range shape {
		if n < 0 || n > math.MaxInt32 {
			return nil
		}
		to[i] = inferredDim(n)
	}
	return broadcast(list, to)
}

// dimsOfPad adds what constants say, and keeps what is open.
func dimsOfPad(c *operation) []inferredDim {
	list := c.dimsOf(0)
	if none := c.unread(list); none != nil {
		return none
	}
	pads, ok := c.list("pads", 1)
	ok = ok && c.wordsOf(ONNXRuntime) && len(c.node.Inputs) < 4 && len(pads) == 2*len(list)
	for i, e := range list {
		switch {
		case ok && e >= 0 && max(pads[i], -pads[i], pads[i+len(list)], -pads[i+len(list)], int64(e)) < math.MaxInt32/4:
			list[i] = max(e+inferredDim(pads[i]+pads[i+len(list)]), unclearDim)
			if list[i] < 0 {
				list[i] = unclearDim
			}
		case e >= 0:
			list[i] = unclearDim
		}
	}
	return list
}

// dimsOfCumSum is the dims of its input. OpenVINO takes the first axis of a scalar.
func dimsOfCumSum(c *operation) []inferredDim {
	list := c.dimsOf(0)
	if axis, ok := c.short("axis", 1); c.unread(list) != nil && (!ok || len(axis) != 1) {
		return nil
	} else if c.unread(list) != nil && axis[0] != 0 && axis[0] != -1 {
		return c.unread(list)
	}
	return list
}

// dimsOfFlatten is the two dims of Flatten.
func dimsOfFlatten(c *operation) []inferredDim {
	list := c.dimsOf(0)
	axis := c.number("axis", 1)
	if none := c.unread(list); none != nil && axis != 0 {
		return none
	}
	if axis < 0 {
		axis += int64(len(list))
	}
	if list == nil || axis < 0 || axis > int64(len(list)) {
		return nil
	}
	made := []inferredDim{volumeOf(list[:axis]), volumeOf(list[axis:])}
	if int(axis) == len(list) && made[0] < 0 {
		made[1] = made[0] // OpenVINO infers no 1
	}
	return made
}

// volumeOf is the product of dims.
func volumeOf(list []inferredDim) inferredDim {
	n := inferredDim(1)
	for _, e := range list {
		switch {
		case n < 0 || e < 0:
			n = min(n, e, openDim) // unclear rather than open
		case e > 0 && n > math.MaxInt32/e:
			n = unclearDim
		default:
			n *= e
		}
	}
	if n < 0 && slices.Contains(list, 0) {
		return unclearDim
	}
	return n
}

func dimsOfTranspose(c *operation) []inferredDim {
	list := c.dimsOf(0)
	order, given := c.short("perm", 1)
	if !given {
		if len(c.node.Inputs) > 1 {
			return unclear(len(list), list != nil)
		}
		slices.Reverse(list)
		return list
	}
	made := make([]inferredDim, len(order))
	for i, from := range order {
		if len(order) != len(list) || from < 0 || from >= int64(len(list)) {
			return c.never(list)
		}
		made[i] = list[from]
	}
	return made
}

// unclear is so many dims of which nothing is known; nil unless the rank is known.
func unclear(rank int, known bool) []inferredDim {
	if !known {
		return nil
	}
	return slices.Repeat([]inferredDim{unclearDim}, rank)
}

// axisOf counts an axis from 0; -1 where there is none such.
func axisOf(axis int64, list []inferredDim) int {
	if axis < 0 {
		axis += int64(len(list))
	}
	if axis < 0 || axis >= int64(len(list)) {
		return -1
	}
	return int(axis)
}

// dimsOfConcat joins operands. OpenVINO's reader of ONNX leaves out those that it has
// made scalars.
func dimsOfConcat(c *operation) []inferredDim {
	var made []inferredDim
	axis, scalars := -1, 0
	for i := range c.node.Inputs {
		switch list := c.dimsOf(i); {
		case c.unread(list) != nil:
			scalars++
		case made == nil:
			if axis, made = axisOf(c.number("axis", 1), list), list; axis < 0 && list != nil {
				return c.never(list)
			}
		case list != nil && len(list) != len(made):
			return c.never(list)
		default:
			joinAlong(axis, made, list)
		}
	}
	switch {
	case made == nil && scalars == len(c.node.Inputs):
		return c.unread([]inferredDim{})
	case made != nil && c.dimsOf(0) == nil:
		joinAlong(axis, made, nil)
	}
	return made
}

// joinAlong makes the dims of an operand of Concat those of the operand and of another; nil are
// dims that are not known.
func joinAlong(axis int, made, other []inferredDim) {
	for i := range made {
		e := unclearDim
		if other != nil {
			e = other[i]
		}
		switch {
		case i == axis:
			made[i] = sumOf(made[i], e)
		case e >= 0: // of all operands
			made[i] = e
		case made[i] < 0:
			made[i] = min(made[i], e)
		}
	}
}

// sumOf is the sum of two dims: open if one of them is.
func sumOf(a, b inferredDim) inferredDim {
	switch {
	case a == openDim || b == openDim:
		return openDim
	case a < 0 || b < 0 || a > math.MaxInt32-b:
		return unclearDim
	}
	return a + b
}

// dimsOfSlice keeps the dims that are not sliced. A part of an open dim is open, unless
// it has no element.
func dimsOfSlice(c *operation) []inferredDim {
	axesAt := 3
	if !c.wordsOf(ONNXRuntime) {
		axesAt = 4
	}
	list := c.dimsOf(0)
	if none := c.unread(list); none != nil {
		return none
	}
	axes, ok := c.short("axes", axesAt)
	if starts, given := c.short("starts", 1); !ok && given && len(c.node.Inputs) <= axesAt && c.node.Attributes["axes"] == nil {
		for i := range starts {
			axes = append(axes, int64(i))
		}
		ok = true
	}
	for i, e := range list {
		sliced := !ok || slices.ContainsFunc(axes, func(a int64) bool { return axisOf(a, list) == i })
		if sliced && e > 0 {
			list[i] = unclearDim
		}
	}
	if ends, given := c.short("ends", 2); given && slices.Contains(ends, 0) {
		return unclear(len(list), list != nil)
	}
	return list
}

func dimsOfTile(c *operation) []inferredDim {
	list := c.dimsOf(0)
	repeats, ok := c.short("repeats", 1)
	if ok && list != nil {
		list = padded1(list, len(repeats))
	}
	if ok && len(repeats) != len(list) {
		return nil
	}
	for i, e := range list {
		switch {
		case !ok && e >= 0, ok && repeats[i] < 0, ok && e < 0 && repeats[i] == 0:
			list[i] = unclearDim
		case ok && e >= 0 && repeats[i] > math.MaxInt32/int64(max(e, 1)):
			return nil
		case ok && e >= 0:
			list[i] *= inferredDim(repeats[i])
		}
	}
	return list
}

// dimsOfSplit keeps the dims off the axis. A part of an open dim is open, unless the
// model says how long the parts are.
func dimsOfSplit(c *operation) []inferredDim {
	list := c.dimsOf(0)
	axis, sizes, known := c.number("axis", 0), []int64(nil), false
	if c.wordsOf(ONNXRuntime) {
		sizes, known = c.list("split", 1)
	} else {
		given, ok := c.list("axis", 1)
		if !ok || len(given) != 1 {
			return unclear(len(list), list != nil)
		}
		axis = given[0]
		sizes, known = c.list("split_lengths", 2)
	}
	at := axisOf(axis, list)
	switch {
	case at < 0:
		return c.never(list)
	case known && c.output >= 0 && c.output < len(sizes) && sizes[c.output] >= 0 && sizes[c.output] < math.MaxInt32:
		list[at] = inferredDim(sizes[c.output])
	case known || list[at] > 0: // of none, each part has none
		list[at] = unclearDim
	}
	return list
}

func dimsOfUnsqueeze(c *operation) []inferredDim {
	list := c.dimsOf(0)
	axes, ok := c.short("axes", 1)
	if !ok || list == nil {
		return nil
	}
	made := unclear(len(list)+len(axes), true)
	for _, a := range axes {
		at := axisOf(a, made)
		if at < 0 {
			return nil
		}
		made[at] = 1
	}
	for i, e := range made {
		if e != 1 && len(list) > 0 {
			made[i], list = list[0], list[1:]
		}
	}
	return made
}

func dimsOfSqueeze(c *operation) []inferredDim {
	list := c.dimsOf(0)
	axes, ok := c.short("axes", 1)
	if every := len(c.node.Inputs) < 2 && c.node.Attributes["axes"] == nil; every {
		for i, e := range list {
			if e < 0 { // perhaps 1
				return nil
			}
			if e == 1 {
				axes = append(axes, int64(i))
			}
		}
	} else if !ok {
		return nil
	}
	if list == nil {
		return nil
	}
	gone := map[int]bool{}
	for _, a := range axes {
		at := axisOf(a, list)
		if first := a == 0 || a == -1; at < 0 && !(len(list) == 0 && first) { // a scalar has a first axis here
			return c.never(list)
		}
		gone[at] = true
	}
	made := []inferredDim{}
	for i, e := range list {
		if !gone[i] {
			made = append(made, e)
		}
	}
	return made
}

// dimsOfReshape is the dims of a constant shape: 0 takes that of the input, and -1 is
// open where one of the others is.
func dimsOfReshape(c *operation) []inferredDim {
	list := c.dimsOf(0)
	shape, ok := c.short("shape", 1)
	if !ok || list == nil {
		return nil
	}
	if c.number("allowzero", 0) != 0 && slices.Contains(shape, 0) {
		if volumeOf(list) > 0 {
			return c.never(list) // of elements, none is made
		}
		made := unclear(len(shape), true)
		for i, n := range shape {
			if n >= 0 && n <= math.MaxInt32 {
				made[i] = inferredDim(n)
			}
		}
		return made
	}
	if special, given := c.node.Attributes["special_zero"].(bool); given && !special {
		return nil
	}
	made := make([]inferredDim, len(shape))
	rest, others := slices.Clone(list), inferredDim(1) // what is left for -1, and what the numbers take of it
	for i, n := range shape {
		switch {
		case n > 0 && n < math.MaxInt32/int64(others):
			made[i] = inferredDim(n)
			others *= made[i]
		case n == 0 && i < len(list):
			made[i], rest[i] = list[i], 1
		case n == 0 && c.unread(list) != nil:
			return c.unread(list)
		default:
			made[i] = unclearDim
		}
	}
	if i := slices.Index(shape, -1); i >= 0 {
		if made[i] = volumeOf(rest); made[i] >= 0 {
			if made[i]%others != 0 {
				return c.never(list)
			}
			made[i] /= others
		}
	} else if all, wanted := volumeOf(list), volumeOf(made); all >= 0 && wanted >= 0 && all != wanted {
		return c.never(list)
	}
	return made
}

// dimsOfReduce is the dims without those along axes, or with 1 in their places.
func dimsOfReduce(c *operation) []inferredDim {
	axes, ok := c.short("axes", 1)
	every := len(c.node.Inputs) < 2 && c.node.Attributes["axes"] == nil
	if !c.wordsOf(ONNXRuntime) || !ok && !every || len(axes) == 0 && c.number("noop_with_empty_axes", 0) != 0 {
		return nil
	}
	return c.reduced(axes)
}

// dimsOfArgMax is ArgMax and ArgMin of ONNX.
func dimsOfArgMax(c *operation) []inferredDim { return c.reduced([]int64{c.number("axis", 0)}) }

// reduced is the dims of the first input without those along axes, or all, and with 1 in their
// places where the node keeps them.
func (c *operation) reduced(axes []int64) []inferredDim {
	list := c.dimsOf(0)
	if list == nil {
		return nil
	}
	gone := make([]bool, len(list))
	for _, a := range axes {
		at := axisOf(a, list)
		if at < 0 {
			return nil
		}
		gone[at] = true
	}
	made := []inferredDim{}
	for i, e := range list {
		switch {
		case !gone[i] && len(axes) > 0:
			made = append(made, e)
		case c.number("keepdims", 1) != 0:
			made = append(made, 1)
		}
	}
	return made
}

// dimsOfTopK is the dims of ONNX's TopK, both of whose results have as many along the axis
// as a constant says.
func dimsOfTopK(c *operation) []inferredDim {
	list := c.dimsOf(0)
	at := axisOf(c.number("axis", -1), list)
	if at < 0 || !c.wordsOf(ONNXRuntime) {
		return nil
	}
	list[at] = unclearDim
	if k, ok := c.short("k", 1); ok && len(k) == 1 && k[0] >= 0 && k[0] < math.MaxInt32 {
		list[at] = inferredDim(k[0])
	}
	return list
}

// dimsOfCompress keeps the dims off the axis.
func dimsOfCompress(c *operation) []inferredDim {
	list := c.dimsOf(0)
	at := axisOf(c.number("axis", 0), list)
	if at < 0 || c.node.Attributes["axis"] == nil {
		return nil
	}
	list[at] = unclearDim
	return list
}

// dimsOfGather is the dims of Gather along a constant axis.
func dimsOfGather(c *operation) []inferredDim {
	data, indices := c.dimsOf(0), c.dimsOf(1)
	if o, err := operators.Find(c.node.Operator, 0); err == nil && o.Kind == operators.Elements {
		for i, e := range indices {
			if e < 0 && (len(data) != len(indices) || data[i] != e) { // perhaps that of data
				indices[i] = unclearDim
			}
		}
		return indices
	}
	if data == nil || indices == nil || !c.gathersAlong() || c.number("batch_dims", 0) != 0 {
		return nil
	}
	axis := c.number("axis", 0)
	if list, ok := c.list("axis", 2); ok && len(list) == 1 {
		axis = list[0]
	} else if len(c.node.Inputs) > 2 {
		return nil
	}
	at := axisOf(axis, data)
	if at < 0 {
		return c.never(data)
	}
	made := append(make([]inferredDim, 0, len(data)+len(indices)), data[:at]...)
	return append(append(made, indices...), data[at+1:]...)
}
