package play

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/explain"
	"github.com/garner-go/garner/internal/play/code"
)

// A Picture is how one operator gathers, as explain draws and says it.
type Picture struct {
	SVG   string                  `json:"svg"`  // without style sheet and script; cells have the attribute data-cell
	Text  string                  `json:"text"` // the same in words
	Cells map[string]explain.Cell `json:"cells"`
}

// Draw draws the call as one operator takes it. An operator that cannot take the operands
// is a *Refusal, and so is a call whose shapes it refuses; an index outside is drawn.
func Draw(c Call, operator string) (*Picture, error) {
	b, err := c.bound(operator)
	if err != nil {
		return nil, err
	}
	prepared, err := b.prepare()
	if err == nil {
		err = affordable(prepared.Plan())
	}
	if err != nil {
		return nil, refuse("", "%s: %s", operator, bare(err))
	}
	e, err := explain.New(context.Background(), explain.Subject{
		Name: b.Name, Attributes: b.given(), Op: b.op, Data: shortened(b.data), Indices: b.indices, Further: b.more,
	})
	if err != nil {
		return nil, refusal("", err)
	}
	svg, cells, err := e.Marked()
	if err != nil {
		return nil, refusal("", err)
	}
	return &Picture{string(svg), e.Text(false), cells}, nil
}

// shortened is a tensor whose strings are cut to what a picture could show of them: it would
// quote the whole of one for each place that shows its beginning.
func shortened(t garner.Tensor) garner.Tensor {
	if t.DType() != garner.String {
		return t
	}
	values, err := garner.Values[string](t)
	if err != nil {
		return t // explain says why
	}
	values = slices.Clone(values)
	for i, s := range values {
		values[i] = s[:min(len(s), mostText)]
	}
	return garner.Of(values, t.Shape()...)
}

// Code is a call as code.
type Code struct {
	Code string `json:"code"`
}

// Write writes the call to one operator as code in a language: "python", with the
// operator's own framework, "go" or "garner". Where a language has no such call, or for
// an operator that cannot take the operands, the error is a *Refusal.
func Write(c Call, operator, language string) (*Code, error) {
	b, err := c.bound(operator)
	if err != nil {
		return nil, err
	}
	text, err := code.Of(b.Operator, b.call(), language)
	if err != nil {
		return nil, refusal("", err)
	}
	return &Code{text}, nil
}

// bound reads a call and gives one operator what is for it.
func (c Call) bound(operator string) (*binding, error) {
	e, err := find(operator)
	if err != nil {
		return nil, refuse("", "%s", bare(err))
	}
	t, err := c.read()
	if err != nil {
		return nil, err
	}
	b, err := t.bind(e)
	if err != nil {
		return nil, refuse("", "%s: %s", operator, err)
	}
	return b, nil
}

// given lists the values of the operator that the call has, each as "axis=1", in the
// operator's order.
func (b *binding) given() []string {
	var list []string
	for _, name := range b.names {
		if v, ok := b.values[name]; ok {
			text := fmt.Sprint(v)
			if _, is := v.([]any); is {
				text = strings.ReplaceAll(text, " ", ",")
			}
			list = append(list, name+"="+clip(text))
		}
	}
	return list
}
