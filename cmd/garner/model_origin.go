package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An origin is the source of a value, before operators that change only its
// shape or its type.
type origin struct {
	value    *model.Value
	constant *model.Constant // nil unless the value is a constant
	via      *passed         // the operators passed, the last one first
}

// passed is a list of operators. Values of one origin share its beginning.
type passed struct {
	op     string
	before *passed
}

// mostVia is the most operators that a list of those passed names.
const mostVia = 16

// last lists the last of the operators passed, up to most, from the origin on;
// more says that there are others before them.
func (v *passed) last(most int) (ops []string, more bool) {
	ops = []string{}
	for ; v != nil && len(ops) < most; v = v.before {
		ops = append(ops, v.op)
	}
	slices.Reverse(ops)
	return ops, v != nil
}

// origins finds the origins of the values of a model. It walks through each node
// once.
type origins struct {
	trail       *trail.Trail[origin]
	dequantised func(*model.Value) *model.Constant
}

func originsOf(m *model.Model) *origins {
	return &origins{trail.New(func(v *model.Value) *model.Value {
		if v.Constant != nil || v.From == nil || !run.Runs(m, v.From) {
			return nil
		}
		if effect, inputs := operators.EffectOf(v.From); effect <= operators.Permuted && len(inputs) == 1 {
			return inputs[0]
		}
		return nil
	}, func(v *model.Value) origin {
		return origin{value: v, constant: v.Fixed()}
	}, func(v *model.Value, at origin) origin {
		at.via = &passed{v.From.Op, at.via}
		return at
	}), operators.Dequantised()}
}

func (o *origins) of(v *model.Value) origin { return o.trail.Of(v) }

// table describes the constant that a gather's data is the dequantisation of; false
// for other data.
func (o *origins) table(v *model.Value) (text string, size int64, ok bool) {
	c := o.dequantised(v)
	if c == nil {
		return "", 0, false
	}
	size, _ = c.Bytes()
	return fmt.Sprintf(" of constant %s, %s, %s", plain(c.Name), c.Spec, units.Bytes(size)), size, true
}

// kind is what the origin is: a constant, an input or a node.
func (o origin) kind() string {
	switch {
	case o.constant != nil:
		return "constant"
	case o.value.From != nil:
		return "node"
	}
	return "input"
}

func (o origin) String() string {
	text := ""
	switch o.kind() {
	case "constant":
		text = "constant " + plain(o.constant.Name)
		if size, ok := o.constant.Bytes(); ok && size > 0 {
			text += ", " + units.Bytes(size)
		}
	case "node":
		text = fmt.Sprintf("node %s (%s)", plain(o.value.From.Name), plain(o.value.From.Op))
	default:
		text = "input " + plain(o.value.Name)
		if o.value.Default {
			text += " with a default"
		}
	}
	if ops, more := o.via.last(4); len(ops) > 0 {
		via := strings.Join(ops, ", ")
		if more {
			via = "…, " + via
		}
		text += ", via " + plain(via)
	}
	return text
}
