package main

import (
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/operators"
)

// TestIdentityOfBags holds that --resume goes on with bags of the same meaning, however it
// is said, and says in words how others differ.
func TestIdentityOfBags(t *testing.T) {
	facts := func(attributes map[string]any) []files.Fact {
		t.Helper()
		o, err := operators.Find("torch.embedding_bag", 0)
		if err != nil {
			t.Fatal(err)
		}
		op, err := o.New(attributes)
		if err != nil {
			t.Fatal(err)
		}
		p, err := garner.NewPlan(op, garner.SpecOf(garner.F32, 9, 4), garner.SpecOf(garner.I64, 6), garner.SpecOf(garner.I64, 2))
		if err != nil {
			t.Fatal(err)
		}
		return (&cmdline.Request{Op: op, Operator: o, Numbers: attributes}).Identity(p, "a", "b")
	}
	told := func(of []files.Fact) (text string) {
		for _, f := range of {
			text += f.What + ": " + f.Value + "\n"
		}
		return text
	}
	begun := told(facts(nil))
	for _, same := range []map[string]any{{"mode": "mean"}, {"include_last_offset": false}, {"mode": "mean", "include_last_offset": int64(0)}} {
		if now := told(facts(same)); now != begun {
			t.Errorf("%v: %s; want %s", same, now, begun)
		}
	}
	for want, other := range map[string]map[string]any{
		"what becomes of bags: sum; ":               {"mode": "sum"},
		"what becomes of bags: max; ":               {"mode": "max"},
		"what becomes of bags: mean, without row 3": {"padding_idx": int64(3)},
		"what becomes of bags: mean; ":              {"include_last_offset": true},
	} {
		if now := told(facts(other)); now == begun || !strings.Contains(now, want) {
			t.Errorf("%v: %s; want %q, which differs from %s", other, now, want, begun)
		}
	}
}
