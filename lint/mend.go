package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A Mend takes findings of one node away. It is a list of steps that stand in the
// node's place, one of which is the node itself, in the words of no file format:
// package lint/fix writes them as nodes of ONNX or as layers of OpenVINO's IR.
type Mend struct {
	Node  *model.Node
	Rules []*Rule  // whose findings it takes away, by number
	Words []string // what it does, a line each: "the indices are clamped to -5 … 4"
	Steps []Step   // in order; the result of the last is what the node's output was
}

// A StepKind is what a step computes of its operands x, y, z.
type StepKind string

// The kinds of steps. Operands broadcast as NumPy's do, and integers are compared and
// added as such.
const (
	Numbers   StepKind = "numbers"   // a constant: one number without dims where Scalar is set, else a vector
	Casted    StepKind = "cast"      // x in the dtype of Spec
	Lengths   StepKind = "lengths"   // the dims of x with the numbers in Numbers: i64, one without dims where Scalar is set, else a vector
	Clamped   StepKind = "clamp"     // x, at least Numbers[0] and at most Numbers[1]; of tuples of k, Numbers has k least values, then k greatest
	Added     StepKind = "add"       // x + y
	Taken     StepKind = "subtract"  // x - y
	Times     StepKind = "multiply"  // x · y
	Greatest  StepKind = "maximum"   // the greater of x and y
	Least     StepKind = "minimum"   // the less of x and y
	IsLess    StepKind = "less"      // x < y
	Either    StepKind = "or"        // x or y
	Chosen    StepKind = "select"    // y where x is true, else z
	SumOfLast StepKind = "sum"       // the sum along the last axis of x, which stays as a dim of 1
	Shaped    StepKind = "reshape"   // x with the dims in the vector y, one of which may be -1
	Permuted  StepKind = "transpose" // x with the axes in the order of Numbers
	Expanded  StepKind = "broadcast" // x broadcast to the dims in the vector y
	Unsqueeze StepKind = "unsqueeze" // x with dims of 1 at Numbers, which are axes of the result, ascending
	Squeezed  StepKind = "squeeze"   // x without the dims of 1 at Numbers
	Joined    StepKind = "concat"    // vectors, one after the other
	Rows      StepKind = "gather"    // x at the positions in the vector y along the axis Numbers[0]
	Gathered  StepKind = "the node"  // the node itself, with the changes in Operator and Attributes; its operands are those that the node has, in order
)

// An Operand of a step is the result of the step with that number, or, below 0, an
// input of the node: see Input.
type Operand int

// Input is the i-th input of the node.
func Input(i int) Operand { return Operand(-1 - i) }

// Input gives the number of the node's input; false for the result of a step.
func (o Operand) Input() (i int, ok bool) { return int(-1 - o), o < 0 }

// A Step is one operator of a mend.
type Step struct {
	Kind     StepKind
	Operands []Operand
	Numbers  []int64
	Scalar   bool
	Spec     garner.Spec // of the result, as far as it is known

	// Of Gathered: the operator that the node becomes, and its attributes with new values.
	Operator   string
	Attributes map[string]int64
}

// A Remaining is a finding that no mend takes away.
type Remaining struct {
	Finding Finding
	Why     string // and what a person is to do
}

// mending builds the mend of one node.
type mending struct {
	*subject
	mend          Mend
	data, indices Operand
	attributes    map[string]int64
	becomes       string   // the operator that the node becomes; "" where it stays
	after         []func() // what follows the node, each of the result before
	result        Operand  // while after runs
	replaced      bool     // the node is not among the steps
	clamped       bool
	dtype         garner.DType           // of the indices, where the file does not say it
	has           func(rule string) bool // whether the node has a finding of a rule
}

func (m *mending) say(format string, args ...any) {
	m.mend.Words = append(m.mend.Words, fmt.Sprintf(format, args...))
}

// add adds a step and gives its result.
func (m *mending) add(s Step) Operand {
	m.mend.Steps = append(m.mend.Steps, s)
	return Operand(len(m.mend.Steps) - 1)
}

// spec gives what is known of an operand.
func (m *mending) spec(o Operand) garner.Spec {
	if i, ok := o.Input(); ok {
		s := input(m.node, i).Spec
		if i == 1 && s.DType == garner.Invalid {
			s.DType = m.dtype
		}
		return s
	}
	return m.mend.Steps[o].Spec
}

// typed notes the type of the indices, which the file does not say.
func (m *mending) typed(d garner.DType) { m.dtype = d }

// numbers is a vector of integers of a dtype.
func (m *mending) numbers(d garner.DType, values ...int64) Operand {
	return m.add(Step{Kind: Numbers, Numbers: values, Spec: garner.SpecOf(d, len(values))})
}

func (m *mending) scalar(d garner.DType, value int64) Operand {
	return m.add(Step{Kind: Numbers, Numbers: []int64{value}, Scalar: true, Spec: garner.SpecOf(d)})
}

// perComponent is numbers of one value for each component of a tuple, as a scalar where
// all are equal.
func (m *mending) perComponent(d garner.DType, values []int64) Operand {
	if same(values) {
		return m.scalar(d, values[0])
	}
	return m.numbers(d, values...)
}

func same(values []int64) bool {
	return !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] })
}

func (m *mending) cast(x Operand, to garner.DType) Operand {
	s := m.spec(x)
	if s.DType == to {
		return x
	}
	s.DType = to
	return m.add(Step{Kind: Casted, Operands: []Operand{x}, Spec: s})
}

// binary adds a step of operands that broadcast, whose last two have the dtype of the
// result unless d is another.
func (m *mending) binary(kind StepKind, d garner.DType, operands ...Operand) Operand {
	made := garner.SpecOf(d)
	for _, o := range operands {
		made = spread(made, m.spec(o))
	}
	return m.add(Step{Kind: kind, Operands: operands, Spec: made})
}

// spread gives the dims of two operands that broadcast, with the dtype of the first.
func spread(a, b garner.Spec) garner.Spec {
	if !a.Rank.Known() || !b.Rank.Known() {
		return garner.SpecOfRank(a.DType, garner.AnyDim)
	}
	long, short := a.Dims, b.Dims
	if len(long) < len(short) {
		long, short = short, long
	}
	dims := slices.Clone(long)
	for i, d := range short {
		at := len(long) - len(short) + i
		switch one := garner.Exactly(1); {
		case dims[at] == one:
			dims[at] = d
		case d != one && (!dims[at].Known() || d.Known()):
			dims[at] = d
		}
	}
	return garner.SpecOfDims(a.DType, dims...)
}

// lengths gives the dims of x with some numbers, as a vector, or as a scalar where it is
// one for a scalar.
func (m *mending) lengths(x Operand, scalar bool, at ...int) Operand {
	s := Step{Kind: Lengths, Operands: []Operand{x}, Scalar: scalar, Spec: garner.SpecOf(garner.I64, len(at))}
	if scalar {
		s.Spec = garner.SpecOf(garner.I64)
	}
	for _, i := range at {
		s.Numbers = append(s.Numbers, int64(i))
	}
	return m.add(s)
}

// An extent is one dim of a shape: a number, or the dim of an operand.
type extent struct {
	dim garner.Dim
	of  Operand
	at  int
}

// extents lists the dims of x from one to another.
func (m *mending) extents(x Operand, from, to int) []extent {
	var list []extent
	for i := from; i < to; i++ {
		list = append(list, extent{m.spec(x).Dims[i], x, i})
	}
	return list
}

// shape makes a vector of extents.
func (m *mending) shape(list []extent) Operand {
	var parts []Operand
	for i := 0; i < len(list); {
		var known []int64
		for ; i < len(list) && list[i].dim.Known(); i++ {
			known = append(known, int64(list[i].dim.Min))
		}
		if len(known) > 0 {
			parts = append(parts, m.numbers(garner.I64, known...))
		}
		var open []int
		of := Operand(0)
		for ; i < len(list) && !list[i].dim.Known() && (len(open) == 0 || of == list[i].of); i++ {
			of = list[i].of
			open = append(open, list[i].at)
		}
		if len(open) > 0 {
			parts = append(parts, m.lengths(of, false, open...))
		}
	}
	switch len(parts) {
	case 0:
		return m.numbers(garner.I64)
	case 1:
		return parts[0]
	}
	return m.add(Step{Kind: Joined, Operands: parts, Spec: garner.SpecOf(garner.I64, len(list))})
}

func dimsOf(list []extent) []garner.Dim {
	dims := make([]garner.Dim, len(list))
	for i, e := range list {
		dims[i] = e.dim
	}
	return dims
}

// reshape gives x the dims of list; the first is -1 where rest is set.
func (m *mending) reshape(x Operand, list []extent, rest bool) Operand {
	dims := dimsOf(list)
	if rest {
		list = slices.Clone(list)
		list[0] = extent{dim: garner.Exactly(-1)}
	}
	return m.add(Step{Kind: Shaped, Operands: []Operand{x, m.shape(list)}, Spec: garner.SpecOfDims(m.spec(x).DType, dims...)})
}

func (m *mending) expand(x Operand, list []extent) Operand {
	return m.add(Step{Kind: Expanded, Operands: []Operand{x, m.shape(list)}, Spec: garner.SpecOfDims(m.spec(x).DType, dimsOf(list)...)})
}

func (m *mending) transpose(x Operand, order []int64) Operand {
	s := m.spec(x)
	dims := make([]garner.Dim, len(order))
	for i, from := range order {
		dims[i] = s.Dims[from]
	}
	return m.add(Step{Kind: Permuted, Operands: []Operand{x}, Numbers: order, Spec: garner.SpecOfDims(s.DType, dims...)})
}

// unsqueeze adds dims of 1 at ascending axes of the result.
func (m *mending) unsqueeze(x Operand, axes []int64) Operand {
	if len(axes) == 0 {
		return x
	}
	s := m.spec(x)
	dims := slices.Clone(s.Dims)
	for _, a := range axes {
		dims = slices.Insert(dims, int(a), garner.Exactly(1))
	}
	return m.add(Step{Kind: Unsqueeze, Operands: []Operand{x}, Numbers: axes, Spec: garner.SpecOfDims(s.DType, dims...)})
}

// squeeze takes the first n dims off, which are 1.
func (m *mending) squeeze(x Operand, n int) Operand {
	s := Step{Kind: Squeezed, Operands: []Operand{x}, Spec: m.spec(x)}
	for i := range n {
		s.Numbers = append(s.Numbers, int64(i))
	}
	s.Spec = garner.SpecOfDims(s.Spec.DType, s.Spec.Dims[n:]...)
	return m.add(s)
}

// gather adds the node itself, between what is before and behind it.
func (m *mending) gather() error {
	n := m.node
	s := Step{Kind: Gathered, Operator: m.becomes, Attributes: m.attributes, Spec: m.node.Outputs[0].Spec}
	changed := &model.Node{Name: n.Name, At: n.At, Op: n.Op, Operator: n.Operator, Attributes: map[string]any{}, Inputs: slices.Clone(n.Inputs), Outputs: n.Outputs}
	if m.becomes != "" {
		changed.Operator = m.becomes
	}
	for name, v := range n.Attributes {
		changed.Attributes[name] = v
	}
	for name, v := range m.attributes {
		changed.Attributes[name] = v
	}
	for i := range n.Inputs {
		of := Input(i)
		switch i {
		case 0:
			of = m.data
		case 1:
			of = m.indices
		}
		if s.Operands = append(s.Operands, of); of >= 0 {
			changed.Inputs[i] = &model.Value{Spec: m.spec(of)}
		}
	}
	if len(m.after) > 0 { // otherwise the result has the type that it had
		operator, op, err := operators.OfNode(changed)
		if err != nil {
			return err
		}
		if s.Spec, err = operators.Infer(op, changed.Inputs[0].Spec, changed.Inputs[1].Spec, operators.FurtherOf(operator, changed)...); err != nil {
			return err
		}
	}
	m.result = m.add(s)
	for _, f := range m.after {
		f()
	}
	return nil
}

// Diff writes a mend as a diff of two lists of calls: the lines of the node as it was
// begin with "- ", those that stand in its place with "+ ".
func (m *Mend) Diff() []string {
	operand := func(n *model.Node, o Operand, letters []string) string {
		if i, ok := o.Input(); ok {
			return valueText(input(n, i))
		}
		return letters[o]
	}
	result := "the result"
	if len(m.Node.Outputs) > 0 && m.Node.Outputs[0] != nil {
		result = valueText(m.Node.Outputs[0])
	}
	var before []string
	for i := range m.Node.Inputs {
		before = append(before, operand(m.Node, Input(i), nil))
	}
	lines := []string{fmt.Sprintf("- %s = %s(%s)", result, m.Node.Operator, strings.Join(before, ", "))}
	letters := make([]string, len(m.Steps))
	next := 0
	for i, s := range m.Steps {
		if s.Kind == Numbers {
			letters[i] = numbersText(s.Numbers, s.Scalar)
			continue
		}
		var of []string
		for _, o := range s.Operands {
			of = append(of, operand(m.Node, o, letters))
		}
		name := string(s.Kind)
		switch s.Kind {
		case Gathered:
			if name = m.Node.Operator; s.Operator != "" {
				name = s.Operator
			}
			for _, a := range sortedKeys(s.Attributes) {
				of = append(of, fmt.Sprintf("%s=%d", a, s.Attributes[a]))
			}
		case Casted:
			of = append(of, s.Spec.DType.String())
		case Clamped:
			k := len(s.Numbers) / 2
			of = append(of, numbersText(s.Numbers[:k], k == 1), numbersText(s.Numbers[k:], k == 1))
		case Lengths, Permuted, Unsqueeze, Squeezed, Rows:
			of = append(of, numbersText(s.Numbers, s.Scalar || s.Kind == Rows))
		}
		if letters[i] = result; i < len(m.Steps)-1 {
			next++
			letters[i] = "%" + strconv.Itoa(next)
		}
		lines = append(lines, fmt.Sprintf("+ %s = %s(%s)", letters[i], name, strings.Join(of, ", ")))
	}
	return lines
}

func valueText(v *model.Value) string {
	if v == lacking {
		return "–"
	}
	return names.Plain(v.Name)
}

// numbersText writes up to eight numbers.
func numbersText(values []int64, scalar bool) string {
	if scalar && len(values) == 1 {
		return strconv.FormatInt(values[0], 10)
	}
	var list []string
	for _, v := range values[:min(len(values), 8)] {
		list = append(list, strconv.FormatInt(v, 10))
	}
	if len(values) > 8 {
		list = append(list, fmt.Sprintf("and %d more", len(values)-8))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func sortedKeys(m map[string]int64) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
