package play

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/recorded"
)

// recordedOf gives the reach of a call to an operator, and what the operator's runtime
// answered to such a call.
func (t *typed) recordedOf(b *binding, plan *garner.Plan) (recorded.Reach, []recorded.Answer, error) {
	reach, err := t.reachOf(b, plan)
	if err != nil {
		return "", nil, err
	}
	call := recorded.Call{Operator: b.Operator, Values: b.values, Plan: plan, Data: b.data, Indices: b.indices, Further: b.more}
	return reach, append([]recorded.Answer{}, recorded.Of(call, reach)...), nil
}

// reachOf is recorded.ReachOf. It looks once at the indices for all plans that read them
// alike, which takes the time of one large call to one operator instead of all.
func (t *typed) reachOf(b *binding, plan *garner.Plan) (recorded.Reach, error) {
	if plan.Bag != nil {
		return recorded.ReachOf(plan, b.indices, b.more...)
	}
	var alike strings.Builder
	for _, a := range plan.Axes {
		fmt.Fprintln(&alike, a.Dim, a.Index)
	}
	if reach, ok := t.reaches[alike.String()]; ok {
		return reach, nil
	}
	reach, err := recorded.ReachOf(plan, b.indices, b.more...)
	if err == nil {
		t.reaches[alike.String()] = reach
	}
	return reach, err
}
