package recorded

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/operators"
)

// A Reach says where the indices of a call point, by the worst of them.
type Reach string

// The reaches, from the best to the worst, for an axis of dim positions.
const (
	Inside   Reach = "inside"       // each is one of 0 … dim-1, or there are none
	Negative Reach = "negative"     // one is from -dim to -1
	Below    Reach = "below"        // one is less than -dim
	PastEnd  Reach = "past the end" // one is dim or more
)

var reaches = []Reach{Inside, Negative, Below, PastEnd}

// ReachOf gives the reach of a call: the plan of its operator, its indices, and its
// further operands, which tell the terms of bags that count nowhere. A plan without
// indices is Inside. It takes some 100 ns an index. Errors are those of
// [garner.Plan.Meaning].
func ReachOf(p *garner.Plan, indices garner.Tensor, further ...garner.Tensor) (Reach, error) {
	if len(p.Axes) == 0 {
		return Inside, nil
	}
	worst := 0
	for i := range indices.Len() {
		m, err := p.Meaning(indices, i, further...)
		if err != nil {
			return "", err
		}
		if m.LeftOut {
			continue
		}
		worst = max(worst, slices.Index(reaches, reachOf(m.Value, p.Axes[m.Component].Dim)))
	}
	return reaches[worst], nil
}

// reachOf gives the reach of one index on an axis of dim positions.
func reachOf(v garner.Index, dim int) Reach {
	n := int64(v.Bits)
	switch {
	case v.Unsigned && n < 0, n >= int64(dim):
		return PastEnd
	case n >= 0:
		return Inside
	case n >= -int64(dim):
		return Negative
	}
	return Below
}

// A Call is a call of one operator.
type Call struct {
	Operator      operators.Operator
	Values        map[string]any // as operators.Operator.New takes them, or those of a model's node
	Plan          *garner.Plan
	Data, Indices garner.Tensor   // Indices is the zero Tensor where the operator takes none
	Further       []garner.Tensor // in the order of Operator.Further
}

// A Like is all of a call that an answer is recorded for, but the dtype of data: calls
// whose Likes are equal differ in the sizes of dims, the values of elements, and the
// position of the axis alone, but for what circumstances say of these.
type Like struct {
	Operator   string
	Reach      Reach
	Indices    string            // their dtype
	Further    string            // the dtypes of the further operands, with commas; "" for one that is not given
	Ranks      string            // of data and of indices, how many dims are batches, and how long a tuple is where indices are tuples: "2 1 0"
	Attributes map[string]string // those that are not at their defaults
	Where      []string          // the circumstances that hold
}

// Equal compares two.
func (l Like) Equal(other Like) bool {
	return l.Operator == other.Operator && l.Reach == other.Reach && l.Indices == other.Indices && l.Further == other.Further &&
		l.Ranks == other.Ranks && maps.Equal(l.Attributes, other.Attributes) && slices.Equal(l.Where, other.Where)
}

// LikeOf decides everything that an answer depends on.
func LikeOf(c Call, reach Reach) Like {
	l := Like{Operator: c.Operator.Name, Reach: reach, Ranks: fmt.Sprint(c.Data.Rank(), c.rank(), c.batch()), Attributes: c.attributes()}
	if s := c.Indices.Shape(); c.Operator.Kind == operators.GatherND && len(s) > 0 {
		l.Ranks += fmt.Sprint(" ", s[len(s)-1])
	}
	if d := c.Indices.DType(); d.Valid() {
		l.Indices = d.String()
	}
	types := make([]string, len(c.Further))
	for i, t := range c.Further {
		if t.DType().Valid() {
			types[i] = t.DType().String()
		}
	}
	l.Further = strings.TrimRight(strings.Join(types, ","), ",")
	for _, at := range circumstances {
		if strings.HasPrefix(c.Operator.Name, at.operators) && at.hold(c) {
			l.Where = append(l.Where, at.name)
		}
	}
	return l
}

func (c Call) rank() int {
	if !c.Indices.DType().Valid() {
		return 0
	}
	return c.Indices.Rank()
}

// number gives the value of an attribute, or of an operand that is read as one.
func (c Call) number(name string) (n int, given bool) {
	n, err := strconv.Atoi(fmt.Sprint(c.Values[name]))
	return n, err == nil
}

// batch gives how many dims are batches by an attribute.
func (c Call) batch() int {
	n, _ := c.number("batch_dims")
	if n < 0 {
		n += c.rank()
	}
	return n
}

// axes are what operators call the axis.
var axes = []string{"axis", "dim", "gather_axis"}

// harmless are the attributes that say where the axes and the windows are, and nothing of
// what becomes of an index. Any other attribute makes a call unlike those without it.
var harmless = []string{
	"axis", "dim", "gather_axis", "batch_dims",
	"offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes", "operand_batching_dims", "start_indices_batching_dims",
}

// attributes gives the attributes of a call that are not at their defaults, without those
// that are harmless.
func (c Call) attributes() map[string]string {
	set := map[string]string{}
	for _, name := range c.Operator.Attributes() {
		v, given := c.Values[name]
		if other, is := c.Values["axis"]; name == "dim" && !given && is {
			v, given = other, true
		}
		_, otherwise := c.Operator.TypeOf(name)
		if slices.Contains(axes, name) {
			if given && v == nil || !given && otherwise == nil {
				if c.Data.Rank() != 1 || c.Operator.Kind == operators.Elements { // a runtime checks elements of flat data by other rules than those of axis 0
					set[name] = "none" // data is taken flat
				}
			}
			continue
		}
		if !given || slices.Contains(harmless, name) {
			continue
		}
		if text := plain(v); text != plain(otherwise) && text != c.usual(name) {
			set[name] = text
		}
	}
	if len(set) == 0 {
		return nil
	}
	return set
}

// usuals are the values of attributes that say what is meant without them, where that is
// not the zero value: of which operators, how their names begin.
var usuals = []struct{ operators, name, value string }{
	{"numpy.", "mode", "raise"}, {"jax.", "mode", "fill"}, {"torch.", "mode", "mean"}, {"tensorflow.", "combiner", "mean"}, {"openvino.", "reduction", "sum"},
}

func (c Call) usual(name string) string {
	for _, u := range usuals {
		if u.name == name && strings.HasPrefix(c.Operator.Name, u.operators) {
			return u.value
		}
	}
	return ""
}

// plain is the text of an attribute's value: a nil is what it is not to be given.
func plain(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// ShortVector is the circumstance in which OpenVINO computes a gather as it does those of
// shapes, and reads what lies behind data or before it.
const ShortVector = "a vector of up to 64 integers"

// circumstances are what else of a call answers depend on. Each is decided here, and
// nowhere else.
var circumstances = []struct {
	name      string
	operators string // of which runtime it matters: how their names begin
	hold      func(c Call) bool
}{
	{"data without elements", "", func(c Call) bool { return c.Data.Len() == 0 }},
	{"no index", "", func(c Call) bool { return c.Indices.DType().Valid() && c.Indices.Len() == 0 }},
	{"an axis without positions", "", func(c Call) bool {
		return slices.ContainsFunc(c.Plan.Axes, func(a garner.Axis) bool { return a.Dim == 0 })
	}},
	{"tuples without components", "", func(c Call) bool {
		s := c.Indices.Shape()
		return c.Operator.Kind == operators.GatherND && len(s) > 0 && s[len(s)-1] == 0
	}},
	{"a bag without terms", "", func(c Call) bool { empty, _, _ := c.bags(); return empty }},
	{"a last bag without terms", "", func(c Call) bool { _, last, _ := c.bags(); return last }},
	{"indices of no bag", "", func(c Call) bool { _, _, rest := c.bags(); return rest }},
	{"a default index", "openvino.Embedding", func(c Call) bool { n, given := c.number("default_index"); return given && n >= 0 }},
	{"a negative default index", "openvino.Embedding", func(c Call) bool { n, given := c.number("default_index"); return given && n < 0 }},
	{"a batch of one", "openvino.", func(c Call) bool { // all dims before the axis
		n := 1
		for _, d := range c.Data.Shape()[:max(c.last(), 0)] {
			n *= d
		}
		return c.batch() > 0 && n == 1
	}},
	{"an axis behind others", "openvino.", func(c Call) bool { return c.batch() > 0 && c.last() > c.batch() }},
	{"a negative axis", "onnx.", func(c Call) bool { n, given := c.number("axis"); return given && n < 0 }},
	{"indices that are shorter than data", "onnx.GatherElements-", func(c Call) bool {
		data, at := c.Data.Shape(), c.Indices.Shape()
		for i := range min(len(data), len(at)) {
			if i != c.last() && at[i] < data[i] {
				return true
			}
		}
		return false
	}},
	{"indices on both sides", "", func(c Call) bool { return c.bothSides() }},
	{"an index of more than 32 bits", "", func(c Call) bool { return Wide(c.Indices) }},
	{ShortVector, "openvino.Gather-", func(c Call) bool {
		return departures.ShortVector(c.Data.Spec(), c.Indices.Spec())
	}},
	{"an index far outside", "openvino.", func(c Call) bool { return c.far() }},
	{"numbers of more than 32 bits", "openvino.", func(c Call) bool { return beyond32(c.Data) }},
	{"signalling NaNs", "openvino.", func(c Call) bool { return signalling(c.Data) }},
	{"signalling NaNs", "jax.", func(c Call) bool { return signalling(c.Data) }},
	{"slices of several strings", "", func(c Call) bool { return c.Data.DType() == garner.String && c.slice() > 1 }},
}

// last gives the last axis of data that is gathered; -1 where there is none.
func (c Call) last() int {
	last := -1
	for _, a := range c.Plan.Axes {
		last = max(last, a.Number)
	}
	return last
}

// slice gives how many elements of data lie behind the last gathered axis.
func (c Call) slice() int {
	last, n := c.last(), 1
	if last < 0 || c.Operator.Kind == operators.Elements {
		return n
	}
	for _, d := range c.Data.Shape()[last+1:] {
		n *= d
	}
	return n
}

// Wide reports whether an index is none of i32, so that a runtime which computes with
// those takes it for another.
func Wide(indices garner.Tensor) bool {
	switch indices.DType() {
	case garner.I64:
		values, err := garner.Values[int64](indices)
		return err == nil && slices.ContainsFunc(values, func(v int64) bool { return int64(int32(v)) != v })
	case garner.U64:
		values, err := garner.Values[uint64](indices)
		return err == nil && slices.ContainsFunc(values, func(v uint64) bool { return v > math.MaxInt32 })
	case garner.U32:
		values, err := garner.Values[uint32](indices)
		return err == nil && slices.ContainsFunc(values, func(v uint32) bool { return v > math.MaxInt32 })
	}
	return false
}

// bothSides reports whether indices are outside below and past the end: the reach is that
// of the worst, and an answer to one is none to the other.
func (c Call) bothSides() bool {
	if len(c.Plan.Axes) == 0 {
		return false
	}
	var below, past bool
	for i := range c.Indices.Len() {
		m, err := c.Plan.Meaning(c.Indices, i, c.Further...)
		if err != nil {
			return false
		}
		if !m.LeftOut {
			reach := reachOf(m.Value, c.Plan.Axes[m.Component].Dim)
			below, past = below || reach == Below, past || reach == PastEnd
		}
	}
	return below && past
}

// far reports whether an index is so far outside that memory there may be none of the
// process.
func (c Call) far() bool {
	most := int64(10_000)
	for _, d := range c.Data.Shape() {
		most = max(most, int64(d)+10_000)
	}
	if !c.Indices.DType().Valid() {
		return false
	}
	numbers, err := integers(c.Indices)
	return err == nil && slices.ContainsFunc(numbers, func(n int64) bool { return n > most || n < -most })
}

// bags reports whether a bag has no terms, whether the last one has none, and whether some
// indices are of no bag.
func (c Call) bags() (empty, last, rest bool) {
	if c.Plan.Bag == nil || !c.Plan.Bag.EndsAt.Given || c.Plan.Bag.EndsAt.At >= len(c.Further) || len(c.Plan.Out) == 0 {
		return false, false, false
	}
	numbers, err := integers(c.Further[c.Plan.Bag.EndsAt.At])
	count := c.Plan.Out[0]
	if err != nil {
		return false, false, false
	}
	if name := c.Operator.Further()[c.Plan.Bag.EndsAt.At]; name != "offsets" {
		column := 1
		if c.Plan.Bag.Column {
			column = 2
		}
		has := map[int64]bool{}
		for i := 0; i < len(numbers); i += column {
			has[numbers[i]] = true
		}
		return len(has) < count, !has[int64(count-1)], false
	}
	for i := range min(count, len(numbers)) {
		end := int64(c.Indices.Len())
		if i+1 < len(numbers) {
			end = numbers[i+1]
		}
		if end <= numbers[i] {
			empty, last = true, i == count-1
		}
	}
	rest = len(numbers) > 0 && (numbers[0] > 0 || len(numbers) > count && numbers[count] < int64(c.Indices.Len()))
	return empty, last, rest
}

// integers gives the elements of a tensor of integers.
func integers(t garner.Tensor) ([]int64, error) {
	if t.DType() == garner.I32 {
		values, err := garner.Values[int32](t)
		list := make([]int64, len(values))
		for i, v := range values {
			list[i] = int64(v)
		}
		return list, err
	}
	return garner.Values[int64](t)
}

// beyond32 reports whether an element is no number of the type of half the width.
func beyond32(t garner.Tensor) bool {
	switch t.DType() {
	case garner.F64:
		values, err := garner.Values[float64](t)
		return err == nil && slices.ContainsFunc(values, func(v float64) bool { return v == v && float64(float32(v)) != v })
	case garner.I64:
		values, err := garner.Values[int64](t)
		return err == nil && slices.ContainsFunc(values, func(v int64) bool { return int64(int32(v)) != v })
	case garner.U64:
		values, err := garner.Values[uint64](t)
		return err == nil && slices.ContainsFunc(values, func(v uint64) bool { return v > math.MaxInt32 })
	}
	return false
}

// signalling reports whether an element is a NaN whose first fraction bit is 0.
func signalling(t garner.Tensor) bool {
	var width, fraction int
	switch t.DType() {
	case garner.F16:
		width, fraction = 2, 10
	case garner.BF16:
		width, fraction = 2, 7
	case garner.F32:
		width, fraction = 4, 23
	case garner.F64:
		width, fraction = 8, 52
	default:
		return false
	}
	b, err := t.Bytes()
	if err != nil {
		return false
	}
	for ; len(b) >= width; b = b[width:] {
		var v uint64
		for i := width - 1; i >= 0; i-- {
			v = v<<8 | uint64(b[i])
		}
		exponent := v >> fraction & (1<<(8*width-1-fraction) - 1)
		if exponent == 1<<(8*width-1-fraction)-1 && v&(1<<fraction-1) != 0 && v>>(fraction-1)&1 == 0 {
			return true
		}
	}
	return false
}
