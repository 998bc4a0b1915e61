package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/play/code"
	"github.com/garner-go/garner/internal/play/recorded"
)

// Answers are what the operators answer to a call.
type Answers struct {
	Groups   []Group        `json:"groups"`    // of equal answers, the largest first, else in the order of "garner ops"
	NotAsked []NotAsked     `json:"not_asked"` // operators that cannot take these operands
	Kind     recorded.Reach `json:"kind"`      // of the first operator asked: see Answered.Kind
}

// A Group is the operators with one answer: equal values, dtype and shape, or an error of
// one class.
type Group struct {
	Shape     garner.Shape `json:"shape"`
	DType     string       `json:"dtype"`
	Values    string       `json:"values"`          // as the command prints them
	Cut       bool         `json:"cut,omitempty"`   // Values are the first of them
	Error     string       `json:"error"`           // "" where there are values
	Class     string       `json:"class,omitempty"` // of the error: "index-out-of-range", …
	Operators []Answered   `json:"operators"`

	tensor garner.Tensor
}

// An Answered is one operator of a group.
type Answered struct {
	Name     string            `json:"name"`
	Form     string            `json:"form"`             // OperatorInfo.Kind
	Error    string            `json:"error,omitempty"`  // in its own words
	Kind     recorded.Reach    `json:"kind,omitempty"`   // of its worst index; "" where the operator looks at none
	Beyond   string            `json:"beyond,omitempty"` // which types of the call its specification has not: the answer is garner's alone
	Recorded []recorded.Answer `json:"recorded"`         // what its runtime answered to calls of this kind
}

// A NotAsked is an operator that cannot take the operands of a call, or that needs others.
type NotAsked struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Answer asks every operator that can take the operands of a call. An operator that
// refuses their ranks, their types or its attributes is not asked; one that refuses an
// index, an axis, batch dims or extents answers with an error. The error is a *Refusal.
func Answer(c Call) (*Answers, error) {
	t, err := c.read()
	if err != nil {
		return nil, err
	}
	a := &Answers{Groups: []Group{}, NotAsked: []NotAsked{}}
	for _, e := range catalog() {
		b, err := t.bind(e)
		if err == nil {
			err = a.add(t, b)
		}
		if err == nil {
			continue
		}
		var not notAsked
		if !errors.As(err, &not) {
			return nil, err
		}
		a.NotAsked = append(a.NotAsked, NotAsked{e.Name, string(not)})
	}
	slices.SortStableFunc(a.Groups, func(x, y Group) int { return len(y.Operators) - len(x.Operators) })
	return a, nil
}

// prepare lowers an operator.
func (b *binding) prepare() (*garner.Prepared, error) { return b.call().Prepare(b.op) }

// unfit reports whether an error says that the operands are none of the operator's, and
// is no answer to them.
func unfit(err error) bool {
	var shape *garner.ShapeError
	return errors.Is(err, garner.ErrDType) || errors.Is(err, garner.ErrAttribute) || errors.As(err, &shape) && shape.Kind == garner.KindRank
}

// add asks an operator and adds its answer to the group that gives the same.
func (a *Answers) add(t *typed, b *binding) error {
	prepared, err := b.prepare()
	if err != nil {
		if unfit(err) {
			return notAsked(bare(err))
		}
		a.put(nil, err, Answered{Name: b.Name, Form: b.Kind, Error: bare(err), Recorded: []recorded.Answer{}})
		return nil
	}
	plan := prepared.Plan()
	if err := affordable(plan); err != nil {
		return err
	}
	kind, answers, err := t.recordedOf(b, plan)
	if err != nil {
		return err
	}
	answered := Answered{Name: b.Name, Form: b.Kind, Kind: kind, Beyond: code.Beyond(b.Operator, b.call()), Recorded: answers}
	for i, r := range answers {
		if answered.Beyond != "" && (r.Class == recorded.NoTypes || r.Class == recorded.Refused) {
			answers[i].Follows = true // the specification refuses them too
		}
	}
	if a.Kind == "" {
		a.Kind = kind
	}
	out, err := garner.New(plan.DType, plan.Out...)
	if err == nil {
		err = prepared.Run(context.Background(), b.data, b.indices, out, b.more...)
	}
	if err != nil {
		if !errors.Is(err, garner.ErrIndex) { // of a further operand, which no recording is looked up by
			answered.Recorded = []recorded.Answer{}
		}
		answered.Error = bare(err)
		a.put(nil, err, answered)
		return nil
	}
	a.put(&out, nil, answered)
	return nil
}

// affordable refuses a plan whose result is too long to be shown, or to be computed.
func affordable(plan *garner.Plan) error {
	n, ok := plan.Out.Len()
	if !ok || n > MostElements {
		return notAsked(fmt.Sprintf("its result %s has more than %d elements", plan.Out, MostElements))
	}
	if literal.Lists(plan.Out, mostLists) > mostLists {
		return notAsked(fmt.Sprintf("its result %s has more than %d empty lists", plan.Out, mostLists))
	}
	if terms, ok := plan.Terms().Out.Len(); !ok || terms > mostTerms {
		return notAsked(fmt.Sprintf("its bags have more than %d elements together", mostTerms))
	}
	return nil
}

// put adds an operator to the group that has its result, or its class of error.
func (a *Answers) put(out *garner.Tensor, err error, answered Answered) {
	class, words := "", ""
	if err != nil {
		class, words = classOf(err)
	}
	for i := range a.Groups {
		g := &a.Groups[i]
		if g.Class == class && (err != nil || same(g.tensor, *out)) {
			g.Operators = append(g.Operators, answered)
			return
		}
	}
	g := Group{Shape: garner.Shape{}, Error: words, Class: class, Operators: []Answered{answered}}
	if err == nil {
		g.tensor, g.DType = *out, out.DType().String()
		g.Shape = shapeOf(out.Shape())
		g.Values, g.Cut = text(*out, mostText)
	}
	a.Groups = append(a.Groups, g)
}

// same reports whether two results have the same dtype, shape and values. Every NaN of a
// type is the same value.
func same(a, b garner.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.DType() == garner.String {
		x, errX := garner.Values[string](a)
		y, errY := garner.Values[string](b)
		return errX == nil && errY == nil && slices.Equal(x, y)
	}
	x, errX := a.Bytes()
	y, errY := b.Bytes()
	if errX != nil || errY != nil {
		return false
	}
	if bytes.Equal(x, y) || !a.DType().IsFloat() && !a.DType().IsComplex() {
		return bytes.Equal(x, y)
	}
	at := make([]int, a.Rank())
	for range a.Len() {
		s, errX := a.At(at...)
		t, errY := b.At(at...)
		if errX != nil || errY != nil || s != t {
			return false
		}
		next(at, a.Shape())
	}
	return true
}

// next moves coordinates to the next element in row-major order.
func next(at []int, shape garner.Shape) {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < shape[i] {
			return
		}
		at[i] = 0
	}
}

// text is the values of a tensor as nested lists; the first most bytes of it, and an
// ellipsis, if there are more.
func text(t garner.Tensor, most int) (values string, cut bool) {
	var b []byte
	at := make([]int, t.Rank())
	var list func(axis int)
	list = func(axis int) {
		if len(b) > most {
			return
		}
		if axis == len(at) {
			element, err := t.At(at...)
			if err != nil {
				element = err.Error()
			}
			b = append(b, element...)
			return
		}
		b = append(b, '[')
		for i := range t.Shape()[axis] {
			if len(b) > most {
				return
			}
			if i > 0 {
				b = append(b, ", "...)
			}
			at[axis] = i
			list(axis + 1)
		}
		b = append(b, ']')
	}
	list(0)
	if len(b) <= most {
		return string(b), false
	}
	for most > 0 && b[most]&0xC0 == 0x80 { // within a character
		most--
	}
	return string(b[:most]) + "…", true
}
