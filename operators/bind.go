package operators

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
)

// An Input is an operand beyond data and indices, such as the axis.
type Input struct {
	Spec  garner.Spec   // dtype and shape, as far as they are known
	Value garner.Tensor // its elements; the zero Tensor where they are not known
}

// A field is a field of an operator's struct that has a tag: `attr:"name"` for an
// attribute, `input:"name"` for an input of its own, and both where frameworks
// write it either way. ",scalar" after an input's name means that its rank must
// be 0, ",needed" that [Operator.New] has no default for it; one whose field is a
// pointer may be left out. `after:"offsets"` means that the input follows that
// operand of the call; without it, inputs precede all of them. `values:"a,b"` lists the words of which an attribute is one. `default:"-1"`
// is the integer that an attribute is where it is not given, if that is not what the
// zero of its field means.
type field struct {
	name      string
	input     bool
	scalar    bool
	needed    bool
	optional  bool
	after     string // the operand of the call that it follows; "" precedes all
	index     int
	values    string
	otherwise string // the default; "" where it is the zero of the field
}

func fields(op garner.Op) []field {
	t := reflect.TypeOf(op)
	var list []field
	for i := range t.NumField() {
		if name, ok := t.Field(i).Tag.Lookup("attr"); ok {
			list = append(list, field{name: name, index: i, values: t.Field(i).Tag.Get("values"), otherwise: t.Field(i).Tag.Get("default")})
		}
		if tag, ok := t.Field(i).Tag.Lookup("input"); ok {
			name, option, _ := strings.Cut(tag, ",")
			list = append(list, field{
				name: name, input: true, scalar: option == "scalar", needed: option == "needed" || t.Field(i).Type.Kind() == reflect.Slice,
				optional: t.Field(i).Type.Kind() == reflect.Pointer, after: t.Field(i).Tag.Get("after"), index: i,
			})
		}
	}
	return list
}

// Attributes lists the names of the operator's attributes, in the order of its
// struct.
func (o Operator) Attributes() []string {
	var names []string
	for _, f := range fields(o.Zero) {
		if !f.input {
			names = append(names, f.name)
		}
	}
	return names
}

// Inputs lists the names of the operator's inputs beyond data and indices, in the
// order in which models write them: those that Bind stores in the operator, such as
// the axis, and the operands of the call, which Further lists.
func (o Operator) Inputs() []string {
	var names []string
	for _, p := range o.places() {
		names = append(names, p.name)
	}
	return names
}

// Needs gives how many of Inputs a model must give, the first ones: the others are
// optional.
func (o Operator) Needs() int {
	operands := garner.OperandsOf(o.Zero)
	needs := 0
	for i, p := range o.places() {
		optional := p.optional()
		if p.field == nil {
			optional = operands[p.operand].Optional
		}
		if !optional {
			needs = i + 1
		}
	}
	return needs
}

// Binds reports whether Bind stores the i-th of Inputs in the operator; the others are
// operands of the call.
func (o Operator) Binds(i int) bool {
	places := o.places()
	return i < len(places) && places[i].field != nil
}

// Further lists the names of the operands that a call takes after the indices, such
// as offsets: see garner.Operander.
func (o Operator) Further() []string {
	var names []string
	for _, operand := range garner.OperandsOf(o.Zero) {
		names = append(names, operand.Name)
	}
	return names
}

// Operands picks, of inputs beyond data and indices as [Operator.Bind] takes them,
// those that are operands of the call, in the order of Further. An input that is
// not given is the zero Input.
func (o Operator) Operands(inputs []Input) []Input {
	var list []Input
	for i, p := range o.places() {
		if p.field != nil {
			continue
		}
		if i < len(inputs) {
			list = append(list, inputs[i])
		} else {
			list = append(list, Input{})
		}
	}
	for i := len(o.places()); i < len(inputs); i++ {
		list = append(list, inputs[i]) // garner refuses them
	}
	return list
}

// A place is an input beyond data and indices: a field of the operator's struct, or
// an operand of the call.
type place struct {
	name    string
	field   *field // nil for an operand of the call
	operand int    // the number of the operand among those of the call
}

// optional reports whether Bind does without the input.
func (p place) optional() bool { return p.field == nil || p.field.optional }

// places lists the inputs in the order in which models write them.
func (o Operator) places() []place {
	list := fields(o.Zero)
	var all []place
	put := func(after string) {
		for i := range list {
			if list[i].input && list[i].after == after {
				all = append(all, place{name: list[i].name, field: &list[i]})
			}
		}
	}
	put("")
	for i, operand := range garner.OperandsOf(o.Zero) {
		all = append(all, place{name: operand.Name, operand: i})
		put(operand.Name)
	}
	return all
}

// absent reports whether an input is not given.
func (in Input) absent() bool {
	return in.Spec.DType == garner.Invalid && in.Spec.Rank == garner.Exactly(0) && !in.Value.DType().Valid()
}

// Values lists the words that an attribute may be; nil where it is no choice of
// words.
func (o Operator) Values(attribute string) []string {
	for _, f := range fields(o.Zero) {
		if f.name == attribute && f.values != "" {
			return strings.Split(f.values, ",")
		}
	}
	return nil
}

// Default gives the integer that an attribute is where it is not given, as text; ""
// where it is then what the zero of its field means.
func (o Operator) Default(attribute string) string {
	for _, f := range fields(o.Zero) {
		if f.name == attribute {
			return f.otherwise
		}
	}
	return ""
}

// TypeOf gives the type of an attribute, or of an input that Bind stores: "int", "ints",
// "bool" or "string", and its default: an int, a bool, or nil where it is none or follows
// from other values. The type of a name that the operator lacks is "".
func (o Operator) TypeOf(name string) (kind string, otherwise any) {
	value := reflect.ValueOf(o.Zero)
	for _, f := range fields(o.Zero) {
		if f.name != name {
			continue
		}
		at := value.Field(f.index)
		t := at.Type()
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Slice:
			return "ints", nil
		case reflect.String:
			return "string", nil
		}
		if at.Kind() != reflect.Pointer && !f.needed {
			otherwise = at.Interface()
		}
		if n, err := strconv.Atoi(f.otherwise); err == nil {
			otherwise = n
		}
		return t.Kind().String(), otherwise
	}
	return "", nil
}

// Bind makes the operator of its attributes by name and of its inputs beyond data
// and indices by position, which is how models write them; [Operator.New] takes
// both by name.
//
// An attribute is any Go integer, a json.Number, a bool, a string, a []int or a
// []int64, as the operator's field wants. nil, which is JSON's null and Python's
// None, is no value: numpy.take_along_axis flattens data, although its axis is -1
// where it is not given. An attribute that must be a number cannot be nil. The axis
// may be garner.Unknown, as an int. An operator that has an unknown axis, or an
// input without a Value, is good for garner.Infer only. Bind stores nothing of the
// inputs that are operands of the call, and does not look at them.
//
// Errors, in this order: an input that is no integer (ErrDType); an attribute
// that the operator lacks, or a value of the wrong type (ErrAttribute); an input
// too many or too few (ErrAttribute); an input of a wrong shape (ErrShape).
// Values are checked against the operands later, by garner.Gather and
// garner.Infer.
func (o Operator) Bind(attributes map[string]any, inputs ...Input) (garner.Op, error) {
	value := reflect.New(reflect.TypeOf(o.Zero)).Elem()
	list := fields(o.Zero)
	wanted := o.places()
	given := func(i int) bool { return i < len(inputs) && !(wanted[i].optional() && inputs[i].absent()) }
	for i, in := range inputs {
		if i < len(wanted) && wanted[i].field != nil && given(i) && !in.absent() && !in.Spec.DType.IsInteger() {
			return nil, garner.Errorf(garner.ErrDType, "%s's %s is %s; it must be an integer", o.Name, wanted[i].name, in.Spec.DType)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		i := slices.IndexFunc(list, func(f field) bool { return !f.input && f.name == name })
		if i < 0 {
			return nil, garner.Errorf(garner.ErrAttribute, "%s has no attribute %s; %s", o.Name, name, has(o.Attributes(), name))
		}
		f := value.Field(list[i].index)
		if attributes[name] == nil && f.Kind() != reflect.Int { // R.25
			continue
		}
		if attributes[name] == nil {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s needs a value; it is %s", o.Name, name, kindOf(f.Type()))
		}
		if !set(f, fitted(f, name, attributes[name])) {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s cannot be %s; it is %s", o.Name, name, written(attributes[name]), kindOf(f.Type()))
		}
	}
	if len(inputs) > len(wanted) {
		return nil, garner.Errorf(garner.ErrAttribute, "%s takes %d inputs; %d were given", o.Name, 2+len(wanted), 2+len(inputs))
	}
	for _, f := range list {
		if _, ok := attributes[f.name]; !ok && f.otherwise != "" {
			set(value.Field(f.index), json.Number(f.otherwise))
		}
	}
	for i, p := range wanted {
		if p.field == nil {
			continue
		}
		_, twice := attributes[p.name]
		switch there := given(i) && !inputs[i].absent(); {
		case there && twice:
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s was given twice, as an attribute and as an input", o.Name, p.name)
		case !there && !p.optional() && attributes[p.name] == nil:
			return nil, garner.Errorf(garner.ErrAttribute, "%s needs its input %s", o.Name, p.name)
		}
	}
	for i, in := range inputs {
		if wanted[i].field == nil || in.absent() {
			continue
		}
		f := *wanted[i].field
		var v any
		var err error
		if value.Field(f.index).Kind() == reflect.Slice {
			v, err = vector(o.Name, f, in)
		} else {
			v, err = one(o.Name, f, in)
		}
		if err != nil {
			return nil, err
		}
		set(value.Field(f.index), v)
	}
	return value.Interface().(garner.Op), nil
}

// New makes the operator of values by name: its attributes, and its inputs beyond
// data and indices, such as the axis of openvino.Gather-8. What is not given has
// the operator's default, and an input is 0. "axis" also names the attribute dim
// of PyTorch's operators; both together are refused. The types of values and the
// errors are those of [Operator.Bind]; an input is an integer, or a list of them.
// Values may be what encoding/json decodes: a whole float64 or a json.Number is an
// integer, and a []any of them a list.
func (o Operator) New(values map[string]any) (garner.Op, error) {
	wanted := o.places()
	attributes := make(map[string]any)
	inputs := make([]Input, len(wanted))
	var bound []string
	for i, p := range wanted {
		if p.field == nil {
			continue
		}
		if bound = append(bound, p.name); !p.field.needed && !p.field.optional {
			inputs[i] = known(0)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := decoded(values[name])
		if name == "axis" && !slices.Contains(o.Attributes(), "axis") && slices.Contains(o.Attributes(), "dim") {
			name = "dim"
			if _, twice := values[name]; twice {
				return nil, garner.Errorf(garner.ErrAttribute, "%s's axis and dim are the same attribute; give one of them", o.Name)
			}
		}
		i := slices.IndexFunc(wanted, func(p place) bool { return p.field != nil && p.name == name })
		if i < 0 {
			if slices.Contains(o.Further(), name) {
				return nil, garner.Errorf(garner.ErrAttribute, "%s's %s is an operand, no attribute; give it with data and indices", o.Name, name)
			}
			if list := o.Attributes(); !slices.Contains(list, name) {
				return nil, garner.Errorf(garner.ErrAttribute, "%s has no attribute %s; %s", o.Name, name, has(slices.Concat(bound, list), name))
			}
			attributes[name] = v
			continue
		}
		if list, ok := integers(v); ok {
			t := garner.Of(list, len(list))
			inputs[i] = Input{t.Spec(), t}
			continue
		}
		n, ok := integer(v)
		switch {
		case v == nil:
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s needs a value; it is an integer", o.Name, name)
		case !ok:
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s cannot be %s; it is an integer", o.Name, name, written(v))
		case v == garner.Unknown:
			inputs[i] = Input{Spec: garner.SpecOf(garner.I64)}
		default:
			inputs[i] = known(n)
		}
	}
	return o.Bind(attributes, inputs...)
}

// decoded returns what encoding/json made of integers as integers, and other values
// as they are.
func decoded(v any) any {
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v && v > -1<<53 && v < 1<<53 {
			return n
		}
	case []any:
		list := make([]int64, len(v))
		for i, e := range v {
			n, ok := integer(decoded(e))
			if !ok {
				return v
			}
			list[i] = n
		}
		return list
	}
	return v
}

// written is a value in a message: text is in quotes, which tell "0" from 0.
func written(v any) string {
	switch v := v.(type) {
	case string:
		return names.Quote(v)
	case []string:
		return fmt.Sprintf("%.200q", v)
	case []any:
		var list []string
		for _, e := range v {
			list = append(list, written(e))
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	return fmt.Sprint(v)
}

func known(n int64) Input {
	t := garner.Of([]int64{n})
	return Input{t.Spec(), t}
}

// has is the remedy for a name that the operator lacks: the one of list that was
// meant, or all of list.
func has(list []string, wrong string) string {
	if len(list) == 0 {
		return "it has none"
	}
	best, at := len(wrong)/2, ""
	for _, name := range list {
		if d := names.Distance(strings.ToLower(wrong), name); d <= best {
			best, at = d, name
		}
	}
	if at != "" {
		return fmt.Sprintf("did you mean %s?", at)
	}
	return "it has " + strings.Join(list, ", ")
}

// one reads an input that must be one integer.
func one(op string, f field, in Input) (int64, error) {
	rank := in.Spec.Rank
	if f.scalar && rank.Min > 0 || rank.Min > 1 {
		want := "a scalar"
		if !f.scalar {
			want += " or one element"
		}
		return 0, &garner.ShapeError{Kind: garner.KindRank, Message: op + "'s " + f.name + " is " + in.Spec.String() + "; it must be " + want}
	}
	for _, d := range in.Spec.Dims {
		if d.Min > 1 || d.Max < 1 {
			return 0, &garner.ShapeError{Kind: garner.KindRank, Message: op + "'s " + f.name + " is " + in.Spec.String() + "; it must be one element"}
		}
	}
	if !in.Value.DType().Valid() {
		return int64(garner.Unknown), nil
	}
	return near(in.Value, 0)
}

// near gives the i-th integer of t, moved to the nearest int that is not
// garner.Unknown. An integer that no int holds is out of range of every axis, and
// so is the nearest int.
func near(t garner.Tensor, i int) (int64, error) {
	v, err := t.Int(i)
	if err != nil {
		return 0, err
	}
	if v.Unsigned && v.Bits > math.MaxInt {
		return math.MaxInt, nil
	}
	return fit(int64(v.Bits)), nil
}

// fit moves a number to the nearest int that is not garner.Unknown.
func fit(n int64) int64 { return min(max(n, math.MinInt+1), math.MaxInt) }

// fitted gives an attribute's value with its numbers moved into the range of its
// field, so that no number of a file reads as garner.Unknown.
func fitted(field reflect.Value, name string, v any) any {
	if field.Kind() == reflect.String {
		return v
	}
	if list, ok := integers(v); ok {
		moved := make([]int64, len(list))
		for i, n := range list {
			moved[i] = fit(n)
		}
		return moved
	}
	if v == garner.Unknown && (name == "axis" || name == "dim") {
		return v
	}
	if n, ok := integer(v); ok {
		return fit(n)
	}
	return v
}

// vector reads an input that must be a vector of integers; nil where its length
// is not known.
func vector(op string, f field, in Input) ([]int64, error) {
	if rank := in.Spec.Rank; rank.Min > 1 || rank.Max < 1 {
		return nil, &garner.ShapeError{Kind: garner.KindRank, Message: op + "'s " + f.name + " is " + in.Spec.String() + "; it must be a vector"}
	}
	if !in.Value.DType().Valid() {
		if len(in.Spec.Dims) == 0 || !in.Spec.Dims[0].Known() || in.Spec.Dims[0].Min > garner.MaxRank {
			return nil, nil
		}
		return slices.Repeat([]int64{int64(garner.Unknown)}, in.Spec.Dims[0].Min), nil
	}
	list := make([]int64, in.Value.Len())
	for i := range list {
		var err error
		if list[i], err = near(in.Value, i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// set stores a value, whose numbers fit an int, in a field. It reports false
// where the field is of another type.
func set(field reflect.Value, v any) bool {
	if field.Kind() == reflect.Pointer {
		inner := reflect.New(field.Type().Elem())
		if !set(inner.Elem(), v) {
			return false
		}
		field.Set(inner)
		return true
	}
	switch field.Kind() {
	case reflect.Int:
		n, ok := integer(v)
		if ok {
			field.SetInt(n)
		}
		return ok
	case reflect.Bool:
		if n, ok := integer(v); ok && (n == 0 || n == 1) {
			v = n == 1
		}
		b, ok := v.(bool)
		field.SetBool(ok && b)
		return ok
	case reflect.String:
		// A fill value may be given as a number or a bool; the operator reads its text.
		s, ok := v.(string)
		if !ok && !isList(v) {
			s, ok = fmt.Sprint(v), true
		}
		field.SetString(s)
		return ok
	case reflect.Slice:
		list, ok := v.([]int64)
		if !ok || list == nil {
			return ok // nil stays nil: not known
		}
		ints := make([]int, len(list))
		for i, n := range list {
			ints[i] = int(n)
		}
		field.Set(reflect.ValueOf(ints))
		return true
	}
	return false
}

func isList(v any) bool { return v == nil || reflect.TypeOf(v).Kind() == reflect.Slice }

// integer gives the value of any of Go's integer types, or of a json.Number that is
// an integer; ok is false for anything else. One that no int64 holds becomes the
// nearest.
func integer(v any) (n int64, ok bool) {
	if number, is := v.(json.Number); is {
		n, err := number.Int64()
		return n, err == nil || errors.Is(err, strconv.ErrRange)
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return x.Int(), true
	case x.CanUint():
		return int64(min(x.Uint(), math.MaxInt64)), true
	}
	return 0, false
}

// integers gives a list of integers; ok is false for anything else.
func integers(v any) (list []int64, ok bool) {
	switch l := v.(type) {
	case []int64:
		return l, true
	case []int:
		list = make([]int64, len(l))
		for i, n := range l {
			list[i] = int64(n)
		}
		return list, true
	}
	return nil, false
}

// kindOf gives the words for a field's type in a message.
func kindOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int:
		return "an integer"
	case reflect.Bool:
		return "a bool"
	case reflect.Slice:
		return "a list of integers"
	}
	return "a " + t.Kind().String()
}
