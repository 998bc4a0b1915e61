// Package code writes a call of an operator as a text that runs: Python of the operator's
// own framework, Go with this module, or a command line of garner.
//
// Every text is complete: it has its imports, the operands with their types, and prints the
// result. It is made of parsed tensors and of attributes that the operator took, never of
// what a user typed; strings are quoted for the language. Python and Go have all but ASCII
// escaped, a command line what a terminal does not show as it is.
package code

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// The languages of Of.
const (
	Python = "python"
	Go     = "go"
	Garner = "garner"
)

// Languages lists the languages.
func Languages() []string { return []string{Python, Go, Garner} }

// A Call is what an operator gathers from.
type Call struct {
	Data     garner.Tensor
	Indices  garner.Tensor   // the zero Tensor where the operator takes none
	Values   map[string]any  // attributes and inputs by name, the axis too, as operators.Operator.New takes them
	Operands []garner.Tensor // in the order of operators.Operator.Further; a zero Tensor is left out
}

// Prepare lowers an operator for the call, on one core.
func (c Call) Prepare(op garner.Op) (*garner.Prepared, error) {
	return garner.Prepare(op, c.Data.Spec(), c.Indices.Spec(), garner.Threads(1), garner.FurtherTensors(c.Operands...))
}

// Of returns a call as a text in one of Languages. It fails, in words, where a language or
// a framework has no way to say the call: no such function, type or shape. The text can
// fail itself, as the call does. It takes time and memory in proportion to the operands.
func Of(op operators.Operator, call Call, language string) (text string, err error) {
	bound, err := op.New(call.Values)
	if err != nil {
		return "", err
	}
	switch {
	case !call.Data.DType().Valid():
		return "", garner.Errorf(garner.ErrDType, "there is no data")
	case garner.TakesIndices(op.Zero) != call.Indices.DType().Valid():
		return "", garner.Errorf(garner.ErrAttribute, "%s takes indices: %v; given: %v", op.Name, garner.TakesIndices(op.Zero), call.Indices.DType().Valid())
	case len(call.Operands) > len(op.Further()):
		return "", garner.Errorf(garner.ErrAttribute, "%s takes %d operands after the indices; %d were given", op.Name, len(op.Further()), len(call.Operands))
	}
	if _, err := call.Prepare(bound); errors.Is(err, garner.ErrAttribute) {
		return "", err // no framework's, and garner's neither
	}
	w := writer{op: op, call: call, bound: bound, attributes: attributesOf(bound)}
	for i, t := range call.Operands {
		if t.DType().Valid() {
			w.operands = append(w.operands, operand{op.Further()[i], t})
		}
	}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			text, err = "", f.error
		default:
			panic(f)
		}
	}()
	switch language {
	case Python:
		w.python()
	case Go:
		w.golang()
	case Garner:
		w.command()
	default:
		w.fail("no language %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	return w.text.String(), nil
}

// A failure ends the writing of a text.
type failure struct{ error }

func (w *writer) fail(format string, args ...any) {
	panic(failure{garner.Errorf(garner.ErrAttribute, format, args...)})
}

// A writer writes one text.
type writer struct {
	op         operators.Operator
	call       Call
	bound      garner.Op
	attributes []attribute
	operands   []operand // those that are given
	text       strings.Builder
}

type operand struct {
	name   string
	tensor garner.Tensor
}

// operand gives a further operand by its name; nil where it is left out.
func (w *writer) operand(name string) *garner.Tensor {
	for i := range w.operands {
		if w.operands[i].name == name {
			return &w.operands[i].tensor
		}
	}
	return nil
}

// line writes a line.
func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.text, format, args...)
	w.text.WriteByte('\n')
}

// An attribute is a field of an operator: an attribute or an input of its own.
type attribute struct {
	name      string // the framework's name
	field     string // the name in Go
	value     any    // an int, a bool, a string, a []int; nil: none
	pointer   bool   // nil is what it is where it is not given, unless otherwise says more
	otherwise string // the default, if that is not what the zero of the field means
	zero      bool   // the field has its zero
}

func attributesOf(op garner.Op) []attribute {
	v := reflect.ValueOf(op)
	var list []attribute
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, ok := f.Tag.Lookup("attr")
		if input, is := f.Tag.Lookup("input"); is && !ok {
			name, _, _ = strings.Cut(input, ",")
		}
		a := attribute{name: name, field: f.Name, otherwise: f.Tag.Get("default"), zero: v.Field(i).IsZero(), pointer: f.Type.Kind() == reflect.Pointer}
		switch field := v.Field(i); {
		case !a.pointer:
			a.value = field.Interface()
		case !field.IsNil():
			a.value = field.Elem().Interface()
		}
		list = append(list, a)
	}
	return list
}

// attribute gives an attribute by its name; its value is nil where the operator lacks it.
func (w *writer) attribute(name string) attribute {
	i := slices.IndexFunc(w.attributes, func(a attribute) bool { return a.name == name })
	if i < 0 {
		return attribute{name: name, zero: true}
	}
	return w.attributes[i]
}

// number gives an attribute that is an int, 0 where it has none.
func (w *writer) number(name string) int {
	n, _ := w.attribute(name).value.(int)
	return n
}

// word gives an attribute that is a string.
func (w *writer) word(name string) string {
	s, _ := w.attribute(name).value.(string)
	return s
}

// integers gives an attribute that is a list.
func (w *writer) integers(name string) []int {
	list, _ := w.attribute(name).value.([]int)
	return list
}

// nested writes the elements of a tensor as lists in lists between the two brackets. leaf
// writes the element with a number in row-major order.
func nested(b *strings.Builder, shape []int, first int, open, end string, leaf func(i int)) {
	if len(shape) == 0 {
		leaf(first)
		return
	}
	step := 1
	for _, n := range shape[1:] {
		step *= n
	}
	b.WriteString(open)
	for i := range shape[0] {
		if i > 0 {
			b.WriteString(", ")
		}
		nested(b, shape[1:], first+i*step, open, end, leaf)
	}
	b.WriteString(end)
}

// elements gives the elements of a tensor as texts, in row-major order; those of strings
// as they are.
func (w *writer) elements(t garner.Tensor) []string {
	if t.DType() == garner.String {
		values, err := garner.Values[string](t)
		if err != nil {
			panic(failure{err})
		}
		return values
	}
	flat, err := t.Reshape(t.Len())
	if err != nil {
		panic(failure{err})
	}
	list := make([]string, t.Len())
	for i := range list {
		if list[i], err = flat.At(i); err != nil {
			panic(failure{err})
		}
	}
	return list
}

// parts gives the two parts of the text of a complex number.
func parts(text string) (re, im string) {
	at := len(text) - 2 // the sign between them is the last one of no exponent
	for text[at] != '+' && text[at] != '-' || text[at-1] == 'e' {
		at--
	}
	return text[:at], strings.TrimSuffix(strings.TrimPrefix(text[at:], "+"), "i")
}

// bytes gives the elements of a tensor in memory.
func (w *writer) bytes(t garner.Tensor) []byte {
	b, err := t.Bytes()
	if err != nil {
		panic(failure{err})
	}
	return b
}

// ints writes a list of numbers, separated by commas.
func ints(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}
