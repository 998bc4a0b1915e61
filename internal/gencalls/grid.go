package main

import (
	"encoding/json"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/code"
)

// An asked is one call of the grid: what testdata/conformance/record_calls.py runs, and
// the fields of the line that it writes.
type asked struct {
	Name       string         `json:"name"`
	Operator   string         `json:"op"`
	Attributes map[string]any `json:"attributes"`
	Inputs     []input        `json:"inputs"`
	Kind       string         `json:"kind"`
	Text       string         `json:"text"`
	Want       *input         `json:"want,omitempty"`  // garner's result
	Texts      *answer        `json:"texts,omitempty"` // the same, as snippets.py compares it
	Error      string         `json:"error,omitempty"` // or the class of its refusal
}

// An input is a tensor as the corpora write it.
type input struct {
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	Values []any  `json:"values"`
}

// writeGrid writes the calls that a framework can be asked.
func writeGrid(to *json.Encoder) error {
	list, err := calls.Grid()
	if err != nil {
		return err
	}
	for _, c := range list {
		text, err := code.Of(c.Operator, c.Call, code.Python)
		if err != nil {
			continue // the framework has no such type or function
		}
		a := asked{Name: nameOf(c), Operator: c.Operator.Name, Attributes: map[string]any{}, Kind: string(c.Reach), Text: text}
		bound := map[string]bool{}
		for _, t := range []garner.Tensor{c.Call.Data, c.Call.Indices} {
			in, err := inputOf(t)
			if err != nil {
				return err
			}
			a.Inputs = append(a.Inputs, *in)
		}
		further := 0
		for i, name := range c.Operator.Inputs() {
			var in *input
			switch v := c.Call.Values[name]; {
			case !c.Operator.Binds(i):
				if t := c.Call.Operands[further]; t.DType().Valid() {
					if in, err = inputOf(t); err != nil {
						return err
					}
				}
				further++
			case v == nil && i < c.Operator.Needs():
				in, bound[name] = &input{"i64", []int{}, []any{0}}, true
			default:
				bound[name] = true
				if list, ok := v.([]int); ok {
					in = &input{"i64", []int{len(list)}, []any{}}
					for _, n := range list {
						in.Values = append(in.Values, n)
					}
				} else if v != nil {
					in = &input{"i64", []int{}, []any{v}}
				}
			}
			if in != nil {
				a.Inputs = append(a.Inputs, *in)
			}
		}
		for name, v := range c.Call.Values {
			if !bound[name] {
				a.Attributes[name] = v
			}
		}
		if c.Err != nil {
			a.Error = "index-out-of-range"
		} else {
			if a.Want, err = inputOf(c.Want); err != nil {
				return err
			}
			if a.Texts, err = answerOf(c.Want); err != nil {
				return err
			}
		}
		if err := to.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// nameOf makes a name of an operator and a title.
func nameOf(c calls.Call) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		case r == ' ', r == '.', r == '_', r == '=', r == ',':
			return '-'
		}
		return -1
	}, "call "+c.Operator.Name+" "+c.Title)
}

func inputOf(t garner.Tensor) (*input, error) {
	a, err := answerOf(t)
	if err != nil {
		return nil, err
	}
	in := &input{a.DType, append([]int{}, a.Shape...), []any{}}
	for _, v := range a.Values {
		switch d := t.DType(); {
		case d == garner.String:
			in.Values = append(in.Values, v)
		case v == "NaN" || strings.HasSuffix(v, "Infinity") || v == "-0" || v == "-0.0":
			in.Values = append(in.Values, strings.TrimSuffix(v, ".0"))
		default:
			in.Values = append(in.Values, json.RawMessage(v))
		}
	}
	return in, nil
}
