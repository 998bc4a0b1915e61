package lint

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A mender adds to a mend what takes the finding of its rule away. Where it cannot at this
// node, it says why, and what a person is to do; then it has added nothing.
type mender func(m *mending) (why string)

// menders are the rules with a mend, in the order in which mends of one node are made:
// each works on the operands that those before have made. says is the line of
// docs/lint.md.
var menders = []struct {
	rule, says string
	do         mender
}{
	{"L.18", "The node becomes a broadcast of data. OpenVINO's, of dynamic dims, makes a signalling NaN a quiet one.", broadcastData},
	{"L.25", "The node becomes a broadcast of data, as for L.18.", broadcastData},
	{"L.9", "The node becomes GatherND of ONNX's own domain, from opset 12 on.", ownGatherND},
	{"L.16", "The indices are cast to i64.", wideIndices},
	{"L.6", "Data is expanded to the batch dims of the indices, where ONNX Runtime answers as broadcasting does.", expandBatches},
	{"L.29", "The batch dims are squeezed out of the indices, and batch_dims becomes 0: the result is the same where the dims before the axis are 1.", dropBatch},
	{"L.1", "The length of the axis is added to each index below 0. Bags are left to a person.", fromStart},
	{"L.3", "The indices are clamped to the axes.", clampIndices},
	{"L.4", "The indices are clamped to the axis. Where the operator means zeros by an index outside, a mask keeps them.", clampIndices},
	{"L.27", "The positions are clamped to the table, which repeats its last row.", clampIndices},
	{"L.31", "The positions are clamped to the axis, behind which ONNX Runtime makes no Slice.", clampIndices},
	{"L.13", "Data is reshaped so that the dims that a tuple addresses are one, and each tuple becomes one index.", mergeTuples},
	{"L.21", "Data is cut to the dims of the indices, by Gather with the positions from 0 on, where the dims are known.", cutData},
	{"L.17", "The axis is transposed to the end and back.", stringsLast},
	{"L.5", "The node becomes GatherND of opset8, and its result is reshaped.", keepBatches},
}

// decisions say, for each rule without a mend, what a person must decide.
var decisions = map[string]string{
	"L.2":  "the file does not say what the index is to read",
	"L.7":  "the file does not say which batch dims the model is to have",
	"L.8":  "the file does not say which rank data is to have",
	"L.10": "only what uses the result knows whether its values matter beyond 32 bits; as i32[…,2] it would have another type",
	"L.11": "only what uses the result knows whether f32 suffices",
	"L.12": "only what uses the result knows whether its values fit i32",
	"L.14": "a cast gives each runtime another type to compute in, and strings and complex numbers have none",
	"L.15": "a cast gives the table another type in memory, of two to four times the size",
	"L.19": "the file does not say whether the model needs a result without elements, or dims that are dynamic",
	"L.20": "the file does not say which axes are to be chosen between",
	"L.22": "only a test of the runtime shows whether it reads such a table right",
	"L.23": "nothing in this model is wrong; it is about a model that is made of it",
	"L.24": "the file does not say what is meant",
	"L.26": "the file does not say which dims are batches",
	"L.28": "the file does not say which rank the input is to have",
	"L.30": "it is for TensorFlow Lite's own tools to write a TFLite model",
	"L.32": "the file does not say whether the model needs the node",
	"L.33": "the file does not say which indices belong to each bag",
	"L.34": "the file does not say what a bag without indices is",
	"L.36": "it is for TensorFlow's own tools to write a TensorFlow model",
	"L.37": "only a person knows whether OpenVINO is to run the model",
	"L.38": "only a person knows what an index outside is to give",
	"L.35": "the scale must be repeated in the constant itself, and weights are not rewritten",
}

func init() {
	for i := range rules {
		r := &rules[i]
		r.Decide = decisions[r.ID]
		for _, m := range menders {
			if m.rule == r.ID {
				r.Mend = m.says
			}
		}
	}
}

// Mends makes the mends of a model for findings that Model gave for it, one for each node
// that has one, in the order of the nodes, and lists the findings that remain. It reads
// what Model reads, and changes nothing. Errors are those of Model.
func Mends(ctx context.Context, m *model.Model, findings []Finding) ([]Mend, []Remaining, error) {
	l := newLinter(ctx, m)
	l.lookAtInputs()
	var mends []Mend
	var left []Remaining
	for len(findings) > 0 {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		n := 1
		for n < len(findings) && findings[n].Node == findings[0].Node {
			n++
		}
		mend, remaining, err := l.mend(findings[:n])
		if err != nil {
			return nil, nil, model.InFile(m.Path, err)
		}
		if mend != nil {
			mends = append(mends, *mend)
		}
		left = append(left, remaining...)
		findings = findings[n:]
	}
	return mends, left, nil
}

// mend makes the mend of a node; nil where no finding has one.
func (l *linter) mend(findings []Finding) (*Mend, []Remaining, error) {
	s, err := l.subject(findings[0].Node)
	if err != nil {
		return nil, nil, err
	}
	m := &mending{subject: s, data: Input(0), indices: Input(1)}
	m.mend.Node = s.node
	m.has = func(rule string) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule.ID == rule })
	}
	why := map[string]string{}
	taken := map[string]bool{}
	for _, by := range menders {
		if !m.has(by.rule) {
			continue
		}
		text := m.cannot()
		if text == "" {
			text = by.do(m)
		}
		if why[by.rule] = text; text == "" {
			taken[by.rule] = true
		}
	}
	var left []Remaining
	for _, f := range findings {
		switch {
		case taken[f.Rule.ID]:
			m.mend.Rules = append(m.mend.Rules, f.Rule)
		case f.Rule.Decide != "":
			left = append(left, Remaining{f, "a person must decide: " + f.Rule.Decide})
		default:
			left = append(left, Remaining{f, why[f.Rule.ID]})
		}
	}
	if len(m.mend.Rules) == 0 {
		return nil, left, nil
	}
	if !m.replaced {
		if err := m.gather(); err != nil {
			return nil, nil, err
		}
	}
	return &m.mend, left, nil
}

// cannot says why no finding of the node has a mend.
func (m *mending) cannot() string {
	switch _, in, ok := strings.Cut(m.node.At, ", function "); {
	case ok:
		return fmt.Sprintf("the node is in the local function %.100s, which other calls may share; inline the model's functions first (onnx.inliner)", in)
	case m.refused != nil || m.has("L.24"):
		return "the operator refuses the node as it is; see rule L.24"
	case !formats[m.format].written:
		return "garner writes ONNX and OpenVINO IR"
	case len(m.node.Outputs) != 1 || m.node.Outputs[0] == nil:
		return "the node has no result"
	}
	return ""
}

// integers casts the indices to i64, unless they are i64 already, or are i32 and no length
// that only a run knows meets them. "" or why it cannot.
func (m *mending) integers() string {
	d := m.spec(m.indices).DType
	if i, ok := m.indices.Input(); d == garner.Invalid && ok { // the file does not say it; what makes them may
		b, err := m.bounds(input(m.node, i))
		if err != nil {
			return strings.TrimPrefix(err.Error(), "garner: ")
		}
		if d = b.dtype; d.IsInteger() {
			m.typed(d)
		}
	}
	switch {
	case d == garner.I64 || d == garner.I32 && !m.openLengths():
	case d == garner.Invalid && !m.wordsOf(ONNXRuntime):
		return "the type of the indices is not known; declare it in the model"
	case d == garner.Invalid: // a Cast takes any
		m.indices = m.cast(m.indices, garner.I64)
	case !d.IsInteger():
		return "the indices are no integers"
	default:
		m.indices = m.cast(m.indices, garner.I64)
	}
	return ""
}

// openLengths reports whether only a run knows the length of an axis.
func (m *mending) openLengths() bool {
	dims, _ := m.components()
	return slices.ContainsFunc(dims, func(d garner.Dim) bool { return !d.Known() })
}

func wideIndices(m *mending) string {
	if d := m.spec(m.indices).DType; !d.IsInteger() {
		return "the indices are no integers; decide what they mean"
	}
	m.say("the indices are cast from %s to i64", m.spec(m.indices).DType)
	m.indices = m.cast(m.indices, garner.I64)
	return ""
}

// components lists the dims that the components of an index address; nil where the length
// of a tuple is unknown.
func (m *mending) components() (dims []garner.Dim, first int) {
	if bags(m.operator.Name) {
		return []garner.Dim{firstDim(m.data, m)}, 0
	}
	dims = m.addressed()
	if m.operator.Kind == operators.GatherND {
		return dims, m.batch
	}
	return dims, m.axis
}

func firstDim(o Operand, m *mending) garner.Dim {
	if dims := m.spec(o).Dims; len(dims) > 0 {
		return dims[0]
	}
	return garner.AnyDim
}

// ends are the least index of each component and the greatest, and the length of its axis: operands where only a run
// knows one, and numbers else.
type ends struct {
	low, high, length Operand
	lengths           []int64 // nil where only a run knows one
}

// ends gives the ends of the indices, as integers of a dtype; or why it cannot.
func (m *mending) ends(d garner.DType) (e ends, why string) {
	dims, first := m.components()
	if len(dims) == 0 {
		return e, "the length of a tuple is not known; declare it in the model"
	}
	if m.operator.Kind != operators.GatherND && !bags(m.operator.Name) && !m.axisKnown {
		return e, "the axis is no constant, or counts from the end of data whose rank is not known; declare the rank in the model"
	}
	open := false
	for _, dim := range dims {
		switch {
		case dim.Known() && dim.Min == 0:
			return e, "the axis has the length 0, so that every index is outside; decide what it is to read"
		case dim.Known() && dim.Min > math.MaxInt32:
			return e, "the axis is longer than 2^31 - 1, which OpenVINO does not count; split the table"
		}
		open = open || !dim.Known()
	}
	if !open {
		for _, dim := range dims {
			e.lengths = append(e.lengths, int64(dim.Min))
		}
		return e, ""
	}
	if !m.spec(m.data).Rank.Known() && !m.wordsOf(ONNXRuntime) {
		return e, "the rank of data is not known; declare it in the model"
	}
	at := make([]int, len(dims))
	for i := range at {
		at[i] = first + i
	}
	e.length = m.cast(m.lengths(m.data, len(at) == 1, at...), d)
	e.low = m.scalar(d, 0)
	if countsFromEnd(m.operator.Name) {
		e.low = m.binary(Taken, d, e.low, e.length)
	}
	e.high = m.binary(Taken, d, e.length, m.scalar(d, 1))
	return e, ""
}

// clampIndices clamps the indices to the axes, once for all rules that ask for it.
func clampIndices(m *mending) string {
	if m.clamped || m.replaced {
		return ""
	}
	if !m.spec(m.indices).Rank.Known() && !m.wordsOf(ONNXRuntime) {
		return "the rank of the indices is not known; declare it in the model"
	}
	masked := zeroesOutside(m.operator.Name)
	if masked {
		if why := m.maskable(); why != "" {
			return why
		}
	}
	switch g, err := m.guarded(); {
	case err != nil:
		return "what guards the indices cannot be read: " + strings.TrimPrefix(err.Error(), "garner: ")
	case g == outward:
		return "a guard makes bad indices the length of the axis, and a clamp would defeat it; decide whether this runtime is to run the model, and convert the source for it (garner convert)"
	}
	begin := len(m.mend.Steps)
	indices := m.indices
	if why := m.integers(); why != "" {
		return why
	}
	x := m.indices
	d := m.spec(x).DType
	e, why := m.ends(d)
	if why != "" {
		m.mend.Steps, m.indices = m.mend.Steps[:begin], indices
		return why
	}
	if countsAsRun(m.operator.Name) { // an index below -s becomes one below 0
		x = m.countFromStart(x, m.lengthsOf(d, e))
		m.say("the length of the axis is added to the indices below 0, as OpenVINO does")
	}
	lengths := e.lengths
	least := make([]int64, len(lengths))
	s := Step{Kind: Clamped, Operands: []Operand{x}, Spec: m.spec(x)}
	var tops []int64
	for i, n := range lengths {
		if countsFromEnd(m.operator.Name) {
			least[i] = -n
		}
		tops = append(tops, n-1)
	}
	switch {
	case lengths == nil:
		m.indices = m.binary(Greatest, d, m.binary(Least, d, x, e.high), e.low)
		m.say("the indices are clamped to the length of the axis, which only a run knows")
	case same(lengths):
		s.Numbers = []int64{least[0], tops[0]}
		m.indices = m.add(s)
		m.say("the indices are clamped to %d … %d", least[0], tops[0])
	default:
		s.Numbers = slices.Concat(least, tops)
		m.indices = m.add(s)
		m.say("the components of the indices are clamped to %s … %s", numbersText(least, false), numbersText(tops, false))
	}
	if was := m.spec(indices).DType; bags(m.operator.Name) && was == garner.I32 { // the bags' other integers have it too
		m.indices = m.cast(m.indices, was)
	}
	m.clamped = true
	if masked {
		m.mask(x, e)
	}
	return ""
}

// maskable says why a mask cannot keep the zeros that an operator writes for an index
// outside.
func (m *mending) maskable() string {
	out := m.node.Outputs[0].Spec
	switch {
	case !m.spec(m.data).Rank.Known() || !m.spec(m.indices).Rank.Known():
		return "the operator means zeros by an index outside, and the ranks are not known, so that no mask keeps them; declare them in the model"
	case m.readBy(ONNXRuntime) && out.DType != garner.F32:
		return fmt.Sprintf("the operator means zeros by an index outside, and ONNX Runtime may lack a Where of %s to keep them; check the indices before each run", typeName(out.DType))
	case !out.DType.IsFloat() && !out.DType.IsInteger() && out.DType != garner.Bool, out.DType.Packed():
		return fmt.Sprintf("the operator means zeros by an index outside, and no mask of %s keeps them; check the indices before each run", typeName(out.DType))
	}
	return ""
}

func typeName(d garner.DType) string {
	if d == garner.Invalid {
		return "an unknown type"
	}
	return d.String()
}

// mask makes the slices of indices outside zeros behind the node, as the operator means them.
func (m *mending) mask(x Operand, e ends) {
	d := m.spec(x).DType
	if n := e.lengths; n != nil {
		e.low, e.high = m.scalar(d, -n[0]), m.scalar(d, n[0]-1)
	}
	outside := m.binary(Either, garner.Bool, m.binary(IsLess, garner.Bool, x, e.low), m.binary(IsLess, garner.Bool, e.high, x))
	// The indices' dims stand at the axis, behind the batch dims; the others become 1.
	b, q, r := m.batch, len(m.spec(x).Dims), len(m.spec(m.data).Dims)
	var axes []int64
	for i := range r + q - 1 - b {
		if i >= b && i < m.axis || i >= m.axis+q-b {
			axes = append(axes, int64(i))
		}
	}
	outside = m.unsqueeze(outside, axes)
	m.say("a mask writes zeros for the indices that were outside, as before")
	m.after = append(m.after, func() {
		zero := m.cast(m.scalar(garner.I64, 0), m.spec(m.result).DType)
		// The result comes second: ONNX Runtime's Where makes 0 of a -0 that it takes of its first branch.
		m.result = m.add(Step{Kind: Chosen, Operands: []Operand{outside, zero, m.result}, Spec: m.spec(m.result)})
	})
}

// fromStart adds the lengths of the axes to constant indices below 0.
func fromStart(m *mending) string {
	switch {
	case bags(m.operator.Name):
		return "a bag has no index below 0; decide which row is meant"
	case m.has("L.2"):
		return "other indices are outside; correct those of rule L.2 first"
	case !m.spec(m.indices).Rank.Known():
		return "the rank of the indices is not known; declare it in the model"
	}
	begin, indices := len(m.mend.Steps), m.indices
	if why := m.integers(); why != "" {
		return why
	}
	x := m.indices
	d := m.spec(x).DType
	e, why := m.ends(d)
	if why != "" {
		m.mend.Steps, m.indices = m.mend.Steps[:begin], indices
		return why
	}
	m.indices = m.countFromStart(x, m.lengthsOf(d, e))
	if len(e.lengths) > 1 && !same(e.lengths) { // as the intervals of lint see it
		m.indices = m.clampTo(m.indices, e.lengths)
	}
	m.say("the length of the axis is added to the indices below 0")
	return ""
}

// lengthsOf gives the lengths of the axes as an operand. No number is added to a length on the way: OpenVINO joins the
// sums of a length, numbers and constant indices of one element into one, without the dims of the indices.
func (m *mending) lengthsOf(d garner.DType, e ends) Operand {
	if e.lengths != nil {
		return m.perComponent(d, e.lengths)
	}
	return e.length
}

// countFromStart is Chosen(x < 0, x + n, x).
func (m *mending) countFromStart(x, n Operand) Operand {
	d := m.spec(x).DType
	below := m.binary(IsLess, garner.Bool, x, m.scalar(d, 0))
	return m.binary(Chosen, d, below, m.binary(Added, d, x, n), x)
}

// clampTo clamps positions from the start to below the lengths.
func (m *mending) clampTo(x Operand, lengths []int64) Operand {
	s := Step{Kind: Clamped, Operands: []Operand{x}, Spec: m.spec(x), Numbers: make([]int64, len(lengths))}
	for _, n := range lengths {
		s.Numbers = append(s.Numbers, n-1)
	}
	return m.add(s)
}

// broadcastData takes the place of a GatherND of empty tuples.
func broadcastData(m *mending) string {
	if m.replaced {
		return ""
	}
	data, indices := m.spec(m.data), m.spec(m.indices)
	if !data.Rank.Known() || !indices.Rank.Known() || m.batch < 0 || m.batch >= len(indices.Dims) || m.batch > len(data.Dims) {
		return "the ranks of data and of the indices are not known; declare them in the model"
	}
	if m.operator.Name == "openvino.GatherND-5" && m.batch > 1 {
		return "the node flattens its batch dims too; make it a GatherND of opset8 first"
	}
	last := len(indices.Dims) - 1
	var between []int64 // the dims of the indices that data does not have
	for i := m.batch; i < last; i++ {
		between = append(between, int64(i))
	}
	x := m.data
	if m.batch > 0 {
		x = m.unsqueeze(x, between)
	}
	m.say("the node becomes a broadcast of data")
	m.expand(x, slices.Concat(m.extents(m.indices, 0, last), m.extents(m.data, m.batch, len(data.Dims))))
	m.replaced = true
	return ""
}

// ownGatherND makes com.microsoft.GatherND that of ONNX.
func ownGatherND(m *mending) string {
	switch opset := m.model.Opsets[""]; {
	case opset < 12:
		return fmt.Sprintf("the model has opset %d, and GatherND has batch_dims from 12 on; raise the opset first", opset)
	case opset < 13:
		m.becomes = "onnx.GatherND-12"
	default:
		m.becomes = "onnx.GatherND-13"
	}
	m.say("the node becomes GatherND of ONNX's own domain")
	if d := m.spec(m.indices).DType; d != garner.I64 && d.IsInteger() {
		m.indices = m.cast(m.indices, garner.I64)
	}
	return ""
}

func expandBatches(m *mending) string {
	made, ok := m.stretched()
	switch {
	case !ok || !made.ones || !made.plain:
		return "which batch of data each of the indices means is not sure, for runtimes disagree; decide it, and expand data to the batch dims of the indices"
	case !m.spec(m.data).Rank.Known():
		return "the rank of data is not known; declare it in the model"
	}
	m.say("data is expanded to the batch dims of the indices")
	m.data = m.expand(m.data, slices.Concat(m.extents(m.indices, 0, m.batch), m.extents(m.data, m.batch, len(m.spec(m.data).Dims))))
	return ""
}

// dropBatch is for batch dims of 1: nothing but 1 stands before the axis, so the result has
// the same dims without batches.
func dropBatch(m *mending) string {
	dims := m.spec(m.indices).Dims
	if len(dims) < m.batch || slices.ContainsFunc(dims[:m.batch], func(d garner.Dim) bool { return d != garner.Exactly(1) }) {
		return "the dims of the indices are not known; declare them in the model"
	}
	m.indices = m.squeeze(m.indices, m.batch)
	m.attributes = map[string]int64{"batch_dims": 0}
	m.say("the batch dims of the indices, which are 1, are squeezed, and batch_dims is 0")
	m.batch = 0
	return ""
}

// mergeTuples makes one dim of those that a tuple addresses.
func mergeTuples(m *mending) string {
	data := m.spec(m.data)
	dims, _ := m.components()
	total := int64(1)
	var lengths []int64
	for _, d := range dims {
		if !d.Known() || d.Min == 0 || total > math.MaxInt32/int64(d.Min) {
			return "the dims that the tuples address are not known, or are 2^31 positions or more; reshape data by hand"
		}
		lengths = append(lengths, int64(d.Min))
		total *= int64(d.Min)
	}
	k := len(dims)
	switch {
	case k == 0 || !data.Rank.Known() || m.batch+k > len(data.Dims) || !m.spec(m.indices).Rank.Known():
		return "the length of a tuple, or a rank, is not known; declare it in the model"
	case m.batch > 6:
		return "the batch dims alone are more than TensorFlow takes; reshape data by hand"
	case m.operator.Name == "openvino.GatherND-5" && m.batch > 1:
		return "the node flattens its batch dims too; make it a GatherND of opset8 first"
	}
	if m.spec(m.indices).DType != garner.I64 {
		m.indices = m.cast(m.indices, garner.I64)
	}
	x := m.indices
	counts := countsFromEnd(m.operator.Name) || countsAsRun(m.operator.Name) && !m.clamped
	if m.constant(m.subject.indices) == nil && !m.clamped { // so that no component reaches into another row
		low := make([]int64, k)
		if counts {
			for i, n := range lengths {
				low[i] = -n
			}
		}
		s := Step{Kind: Clamped, Operands: []Operand{x}, Spec: m.spec(x), Numbers: slices.Clone(low)}
		for _, n := range lengths {
			s.Numbers = append(s.Numbers, n-1)
		}
		x = m.add(s)
	}
	if counts {
		x = m.countFromStart(x, m.perComponent(garner.I64, lengths))
	}
	strides := make([]int64, k)
	stride := int64(1)
	for i := k - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= lengths[i]
	}
	x = m.binary(Times, garner.I64, x, m.numbers(garner.I64, strides...))
	spec := m.spec(x)
	spec.Dims = slices.Clone(spec.Dims)
	spec.Dims[len(spec.Dims)-1] = garner.Exactly(1)
	x = m.add(Step{Kind: SumOfLast, Operands: []Operand{x}, Spec: spec})
	m.indices = m.clampTo(x, []int64{total})
	list := slices.Concat(m.extents(m.data, 0, m.batch), []extent{{dim: garner.Exactly(int(total))}}, m.extents(m.data, m.batch+k, len(data.Dims)))
	m.data = m.reshape(m.data, list, false)
	m.say("the %d components of a tuple become one index into data of %s", k, m.spec(m.data))
	m.clamped = true
	return ""
}

// mostPositionsOfCut is how many positions a mend writes to cut a dim of data.
const mostPositionsOfCut = 1 << 16

func cutData(m *mending) string {
	data, indices := m.spec(m.data), m.spec(m.indices)
	var cut []int
	for i, d := range indices.Dims {
		switch {
		case i == m.axis || d == data.Dims[i]:
		case !d.Known() || !data.Dims[i].Known():
			return "the dims of data and of the indices are not known, so that a run alone shows which part is left out; declare them in the model"
		case d.Min > mostPositionsOfCut:
			return fmt.Sprintf("the part of data is %d long, too long for a list of positions; cut it by Split", d.Min)
		case d.Min < data.Dims[i].Min:
			cut = append(cut, i)
		}
	}
	for _, i := range cut {
		positions := make([]int64, indices.Dims[i].Min)
		for at := range positions {
			positions[at] = int64(at)
		}
		spec := m.spec(m.data)
		spec.Dims = slices.Clone(spec.Dims)
		spec.Dims[i] = indices.Dims[i]
		m.data = m.add(Step{Kind: Rows, Operands: []Operand{m.data, m.numbers(garner.I64, positions...)}, Numbers: []int64{int64(i)}, Spec: spec})
		m.say("dim %d of data is cut to %d", i, len(positions))
	}
	return ""
}

func stringsLast(m *mending) string {
	switch {
	case !m.readBy(ONNXRuntime):
		return "OpenVINO, which reads this format, copies every string; it is ONNX Runtime that loses them, in a model that is made of this one"
	case !m.spec(m.data).Rank.Known() || !m.spec(m.indices).Rank.Known():
		return "the ranks of data and of the indices are not known; declare them in the model"
	}
	r, q, a := len(m.spec(m.data).Dims), len(m.spec(m.indices).Dims), m.axis
	var there, back []int64
	for i := range r {
		if i != a {
			there = append(there, int64(i))
		}
	}
	m.data = m.transpose(m.data, append(there, int64(a)))
	for i := range r - 1 + q {
		switch {
		case i < a:
			back = append(back, int64(i))
		case i < a+q:
			back = append(back, int64(i-a+r-1))
		default:
			back = append(back, int64(i-q))
		}
	}
	m.attributes = map[string]int64{"axis": int64(r - 1)}
	m.after = append(m.after, func() { m.result = m.transpose(m.result, back) })
	m.say("axis %d of data is transposed to the end, and back behind the node", a)
	return ""
}

func keepBatches(m *mending) string {
	if m.replaced {
		return ""
	}
	out := m.node.Outputs[0].Spec
	if !out.Rank.Known() {
		return "the ranks of data and of the indices are not known; declare them in the model"
	}
	for _, d := range out.Dims[1:] {
		if !d.Known() || d.Min == 0 {
			return "the dims of a slice are not known, or 0; use GatherND of opset8, and reshape its result"
		}
	}
	m.becomes = "openvino.GatherND-8"
	m.say("the node becomes GatherND of opset8, and its result is reshaped to %s", out)
	m.after = append(m.after, func() {
		list := make([]extent, len(out.Dims))
		for i, d := range out.Dims {
			list[i] = extent{dim: d}
		}
		m.result = m.reshape(m.result, list, true)
	})
	return ""
}
