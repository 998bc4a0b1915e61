package operators

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// An Input is an operand beyond data and indices: what is known of it, and its
// tensor where its value is known.
type Input struct {
	Spec  garner.Spec
	Value garner.Tensor // the zero Tensor: not known
}

// field is one number of an operator: a field of its struct that is tagged
// `attr:"name"`, or `input:"name"` where it is an input of its own, with
// ",scalar" where that must have rank 0. With both tags it may be given either
// way.
//
// `values:"a,b"` lists what an attribute may be, where that is a choice of words.
type field struct {
	name   string
	input  bool
	scalar bool
	index  int
	values string
}

func fields(op garner.Op) []field {
	t := reflect.TypeOf(op)
	var list []field
	for i := range t.NumField() {
		if name, ok := t.Field(i).Tag.Lookup("attr"); ok {
			list = append(list, field{name: name, index: i, values: t.Field(i).Tag.Get("values")})
		}
		if tag, ok := t.Field(i).Tag.Lookup("input"); ok {
			name, option, _ := strings.Cut(tag, ",")
			list = append(list, field{name: name, input: true, scalar: option == "scalar", index: i})
		}
	}
	return list
}

// Attributes are the names of an operator's attributes, in its own order.
func (o Operator) Attributes() []string { return o.names(false) }

// Values are the words of which an attribute is one; none where it is no choice.
func (o Operator) Values(attribute string) []string {
	for _, f := range fields(o.Zero) {
		if f.name == attribute && f.values != "" {
			return strings.Split(f.values, ",")
		}
	}
	return nil
}

// Inputs are the names of an operator's inputs beyond data and indices, in
// order.
func (o Operator) Inputs() []string { return o.names(true) }

func (o Operator) names(input bool) []string {
	var names []string
	for _, f := range fields(o.Zero) {
		if f.input == input {
			names = append(names, f.name)
		}
	}
	return names
}

// Bind makes the operator of its attributes' values and of its inputs beyond
// data and indices. A value is an int64 (or an int), a bool, a string or a
// []int64, as the attribute's type wants; an input whose value is not known
// makes an operator for inference alone.
//
// What is refused, in this order: an axis that is no integer (ErrDType); an
// attribute that the operator lacks, or a value that it does not take
// (ErrAttribute); an input too many or too few (ErrAttribute), and one that is
// not one element (ErrShape).
func (o Operator) Bind(attributes map[string]any, inputs ...Input) (garner.Op, error) {
	value := reflect.New(reflect.TypeOf(o.Zero)).Elem()
	list := fields(o.Zero)
	wanted := o.Inputs()
	for i, in := range inputs {
		if i < len(wanted) && !in.Spec.DType.IsInteger() {
			return nil, garner.Errorf(garner.ErrDType, "%s's %s is %s; it must be an integer", o.Name, wanted[i], in.Spec.DType)
		}
	}
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		i := slices.IndexFunc(list, func(f field) bool { return !f.input && f.name == name })
		if i < 0 {
			return nil, garner.Errorf(garner.ErrAttribute, "%s has no attribute %s; %s", o.Name, name, o.has())
		}
		if f := value.Field(list[i].index); !set(f, given(f, attributes[name])) {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s cannot be %v; it is %s", o.Name, name, attributes[name], kindOf(value.Field(list[i].index).Type()))
		}
	}
	if len(inputs) > len(wanted) {
		return nil, garner.Errorf(garner.ErrAttribute, "%s takes %d inputs; %d were given", o.Name, 2+len(wanted), 2+len(inputs))
	}
	for i := range inputs {
		if _, ok := attributes[wanted[i]]; ok {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s was given twice, as an attribute and as an input", o.Name, wanted[i])
		}
	}
	for _, name := range wanted[len(inputs):] {
		if _, ok := attributes[name]; !ok {
			return nil, garner.Errorf(garner.ErrAttribute, "%s needs its input %s", o.Name, name)
		}
	}
	for i, in := range inputs {
		f := list[slices.IndexFunc(list, func(f field) bool { return f.input && f.name == wanted[i] })]
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

// WithNumbers makes the operator of values that a person gave by name, be they
// attributes or inputs; what is not given is 0. An axis is also the operator's
// dim, where that is its name. Errors are Bind's.
func (o Operator) WithNumbers(values map[string]any) (garner.Op, error) {
	attributes := make(map[string]any)
	inputs := make([]Input, len(o.Inputs()))
	for i := range inputs {
		inputs[i] = known(0)
	}
	for name, v := range values {
		if name == "axis" && !slices.Contains(o.Attributes(), "axis") && slices.Contains(o.Attributes(), "dim") {
			name = "dim"
		}
		i := slices.Index(o.Inputs(), name)
		if i < 0 {
			attributes[name] = v
			continue
		}
		if list, ok := v.([]int64); ok {
			t := garner.Of(list, len(list))
			inputs[i] = Input{t.Spec(), t}
			continue
		}
		n, ok := integer(v)
		if !ok {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s cannot be %v; it is an integer", o.Name, name, v)
		}
		inputs[i] = known(n)
	}
	if name := o.list(); name != "" && values[name] == nil {
		inputs = nil // a list has no 0; Bind says that it is needed
	}
	return o.Bind(attributes, inputs...)
}

// list is the name of the input that is a list; no operator has others beside
// one.
func (o Operator) list() string {
	for _, f := range fields(o.Zero) {
		if f.input && reflect.TypeOf(o.Zero).Field(f.index).Type.Kind() == reflect.Slice {
			return f.name
		}
	}
	return ""
}

func known(n int64) Input {
	t := garner.Of([]int64{n})
	return Input{t.Spec(), t}
}

// has says which attributes there are.
func (o Operator) has() string {
	if names := o.Attributes(); len(names) > 0 {
		return "it has " + strings.Join(names, ", ")
	}
	return "it has none"
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

// near is the i-th integer of t, moved to the nearest int that is not
// garner.Unknown: what that loses is out of range before and after.
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

// given is an attribute's value with its numbers fit for their field, so that
// none reads as one that is not known.
func given(field reflect.Value, v any) any {
	if field.Kind() == reflect.String {
		return v
	}
	if list, ok := v.([]int64); ok {
		fitted := make([]int64, len(list))
		for i, n := range list {
			fitted[i] = fit(n)
		}
		return fitted
	}
	if n, ok := integer(v); ok {
		return fit(n)
	}
	return v
}

// vector reads an input that must be a vector of integers; nil where not even
// its length is known.
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

// set stores a value whose numbers fit an int in a field, if the field can hold
// it.
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
		// A fill value may be given as what it is; the operator reads it.
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

func integer(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	}
	return 0, false
}

// kindOf is how a field's type reads in a message.
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
