package play

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/recorded"
)

// recordedOf gives the kind of a call to an operator, and what the operator's runtime
// answered to such calls.
func (t *typed) recordedOf(b *binding, plan *garner.Plan) (recorded.Kind, []recorded.Answer, error) {
	kind, err := t.kindOf(b, plan)
	if err != nil {
		return "", nil, err
	}
	list := []recorded.Answer{}
	for _, a := range recorded.Of(b.Name, kind) {
		if a.Fits(b.values, b.data.DType(), b.indices.DType()) {
			list = append(list, a)
		}
	}
	return kind, list, nil
}

// kindOf is recorded.KindOf. It looks once at the indices for all plans that read them
// alike, which takes the time of one large call to one operator instead of all.
func (t *typed) kindOf(b *binding, plan *garner.Plan) (recorded.Kind, error) {
	if plan.Bag != nil {
		return recorded.KindOf(plan, b.indices, b.more...)
	}
	var alike strings.Builder
	for _, a := range plan.Axes {
		fmt.Fprintln(&alike, a.Dim, a.Index)
	}
	if kind, ok := t.kinds[alike.String()]; ok {
		return kind, nil
	}
	kind, err := recorded.KindOf(plan, b.indices, b.more...)
	if err == nil {
		t.kinds[alike.String()] = kind
	}
	return kind, err
}
