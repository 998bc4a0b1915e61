// Package ruletest tests operators against the numbered rules of docs/rules.md: each
// rule with a gather that it accepts and with one that it refuses.
package ruletest

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/literal"
)

// A Case is one gather and the verdict of a rule on it. Operands and results have
// the syntax of Tensor.
type Case struct {
	Rule string    // its number in docs/rules.md; see Of for more than one
	Op   garner.Op // or Bind, for a rule on attributes or on inputs beyond the indices
	Bind func() (garner.Op, error)

	Data, Indices string   // Indices are "" where the operator takes none
	More          []string // the further operands; "" is one that is not given

	Want    string // the result, if the rule accepts the gather
	Refuse  string // otherwise the class, or the kind of shape error
	Message string // part of the error's message
}

// Run runs the cases, each as a subtest named after its rule. It fails for a rule
// that is tried from one side only.
func Run(t *testing.T, cases []Case) {
	t.Helper()
	accepts, refuses := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		side := "accepts"
		if c.Refuse != "" {
			side = "refuses"
			refuses[c.Rule] = true
		} else {
			accepts[c.Rule] = true
		}
		t.Run(c.Rule+"/"+side, func(t *testing.T) { run(t, c) })
	}
	for _, c := range cases {
		if !accepts[c.Rule] || !refuses[c.Rule] {
			t.Errorf("%s is tried from one side only", c.Rule)
		}
	}
}

// Of selects from cases that several operators share those of the operator whose
// rules begin with prefix. Each Rule lists the operators' numbers, separated by
// spaces.
func Of(prefix string, cases []Case) []Case {
	var list []Case
	for _, c := range cases {
		for rule := range strings.FieldsSeq(c.Rule) {
			if strings.HasPrefix(rule, prefix+".") {
				c.Rule = rule
				list = append(list, c)
			}
		}
	}
	return list
}

func run(t *testing.T, c Case) {
	op := c.Op
	if c.Bind != nil {
		bound, err := c.Bind()
		if err != nil {
			Refused(t, err, c.Refuse, c.Message)
			return
		}
		op = bound
	}
	data, indices := Tensor(t, c.Data), garner.Tensor{}
	if c.Indices != "" {
		indices = Tensor(t, c.Indices)
	}
	more := make([]garner.Tensor, len(c.More))
	for i, text := range c.More {
		if text != "" {
			more[i] = Tensor(t, text)
		}
	}
	if c.Refuse == "" {
		gathertest.Check(t, op, data, indices, Tensor(t, c.Want), more...)
		return
	}
	gathertest.CheckError(t, op, data, indices, classes[c.Refuse], more...)
	_, err := garner.Reference(op, data, indices, more...)
	Refused(t, err, c.Refuse, c.Message)
}

// classes maps each value of Refuse to the error for errors.Is.
var classes = map[string]error{
	"dtype":                     garner.ErrDType,
	"attribute":                 garner.ErrAttribute,
	"index-out-of-range":        garner.ErrIndex,
	"overlap":                   garner.ErrOverlap,
	string(garner.KindRank):     garner.ErrShape,
	string(garner.KindAxis):     garner.ErrShape,
	string(garner.KindBatch):    garner.ErrShape,
	string(garner.KindMismatch): garner.ErrShape,
}

// Refused checks that err has a class or a kind, and that its message contains a
// text.
func Refused(t testing.TB, err error, refuse, message string) {
	t.Helper()
	class, known := classes[refuse]
	if !known {
		t.Fatalf("the case refuses as %q, which is no class", refuse)
	}
	if message == "" {
		t.Fatal("the case does not say what the message tells")
	}
	if !errors.Is(err, class) {
		t.Fatalf("%v, want an error of class %v", err, class)
	}
	var shape *garner.ShapeError
	if errors.As(err, &shape) && string(shape.Kind) != refuse {
		t.Errorf("%v is a shape error of kind %s, want %s", err, shape.Kind, refuse)
	}
	if text := err.Error(); !strings.HasPrefix(text, "garner: ") || !strings.Contains(text, message) {
		t.Errorf("%q, want a message of garner's with %q", text, message)
	}
}

// Tensor reads a literal as the command does. "zeros f32[0,3]" and "iota i32[2,3]"
// give a tensor of zeros, or of elements that count from 0.
func Tensor(t testing.TB, text string) garner.Tensor {
	t.Helper()
	fill, spec, found := strings.Cut(text, " ")
	if !found || fill != "zeros" && fill != "iota" {
		tensor, err := literal.Parse(text, garner.Invalid)
		if err != nil {
			t.Fatal(err)
		}
		return tensor
	}
	s, err := garner.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	shape, known := s.Shape()
	if !known {
		t.Fatalf("%q has dims that are not known", text)
	}
	tensor, err := garner.New(s.DType, shape...)
	if err != nil {
		t.Fatal(err)
	}
	if fill == "zeros" {
		return tensor
	}
	for i := range tensor.Len() {
		if err := tensor.SetText(i, strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	return tensor
}
