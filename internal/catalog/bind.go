package catalog

import (
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
// ",scalar" where that must have rank 0.
type field struct {
	name   string
	input  bool
	scalar bool
	index  int
}

func fields(op garner.Op) []field {
	t := reflect.TypeOf(op)
	var list []field
	for i := range t.NumField() {
		if name, ok := t.Field(i).Tag.Lookup("attr"); ok {
			list = append(list, field{name: name, index: i})
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
		if !set(value.Field(list[i].index), attributes[name]) {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s cannot be %v; it is %s", o.Name, name, attributes[name], kindOf(value.Field(list[i].index).Type()))
		}
	}
	if len(inputs) > len(wanted) {
		return nil, garner.Errorf(garner.ErrAttribute, "%s takes %d inputs; %d were given", o.Name, 2+len(wanted), 2+len(inputs))
	}
	if len(inputs) < len(wanted) {
		return nil, garner.Errorf(garner.ErrAttribute, "%s needs its input %s", o.Name, wanted[len(inputs)])
	}
	for i, in := range inputs {
		f := list[slices.IndexFunc(list, func(f field) bool { return f.input && f.name == wanted[i] })]
		n, err := one(o.Name, f, in)
		if err != nil {
			return nil, err
		}
		set(value.Field(f.index), n)
	}
	return value.Interface().(garner.Op), nil
}

// WithNumbers makes the operator of numbers that a person gave by name, be they
// attributes or inputs; what is not given is 0. Errors are Bind's.
func (o Operator) WithNumbers(numbers map[string]any) (garner.Op, error) {
	attributes := make(map[string]any)
	inputs := make([]Input, len(o.Inputs()))
	for i := range inputs {
		inputs[i] = scalar(0)
	}
	for name, v := range numbers {
		i := slices.Index(o.Inputs(), name)
		if i < 0 {
			attributes[name] = v
			continue
		}
		n, ok := integer(v)
		if !ok {
			return nil, garner.Errorf(garner.ErrAttribute, "%s's %s cannot be %v; it is an integer", o.Name, name, v)
		}
		inputs[i] = scalar(n)
	}
	return o.Bind(attributes, inputs...)
}

func scalar(n int64) Input {
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
	v, err := in.Value.Int(0)
	if err != nil {
		return 0, err
	}
	// No tensor has an axis beyond these bounds, so that what the narrowing
	// loses is out of range before and after.
	const far = 1 << 30
	if v.Unsigned && v.Bits > far {
		return far, nil
	}
	return min(max(int64(v.Bits), -far), far), nil
}

// set stores an attribute's value in a field, if the field can hold it.
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
		if !ok || field.OverflowInt(n) {
			return false
		}
		field.SetInt(n)
		return true
	case reflect.Bool:
		if n, ok := integer(v); ok && (n == 0 || n == 1) {
			v = n == 1
		}
		b, ok := v.(bool)
		field.SetBool(ok && b)
		return ok
	case reflect.String:
		s, ok := v.(string)
		field.SetString(s)
		return ok
	}
	return false
}

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
	}
	return "a " + t.Kind().String()
}
