package recorded_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// TestKindOf gives the worst index of each call its kind, of slices, of tuples and of bags.
func TestKindOf(t *testing.T) {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	bag := garner.Of([]int64{0}, 1)
	for _, tt := range []struct {
		operator string
		values   map[string]any
		indices  garner.Tensor
		further  []garner.Tensor
		want     recorded.Kind
	}{
		{"onnx.Gather-13", nil, garner.Of([]int64{0, 2}, 2), nil, recorded.Inside},
		{"onnx.Gather-13", nil, garner.Of([]int64{}, 0), nil, recorded.Inside},
		{"onnx.Gather-13", nil, garner.Of([]int64{0, -3}, 2), nil, recorded.Negative},
		{"onnx.Gather-13", nil, garner.Of([]int64{-1, -4}, 2), nil, recorded.Below},
		{"onnx.Gather-13", nil, garner.Of([]int64{3, -4}, 2), nil, recorded.PastEnd},
		{"onnx.Gather-13", map[string]any{"axis": 1}, garner.Of([]int64{2}, 1), nil, recorded.PastEnd},
		{"garner.Gather", nil, garner.Of([]uint64{1 << 63}, 1), nil, recorded.PastEnd},
		{"garner.GatherND", nil, garner.Of([]int64{2, 1}, 1, 2), nil, recorded.Inside},
		{"garner.GatherND", nil, garner.Of([]int64{1, 2}, 1, 2), nil, recorded.PastEnd},
		{"garner.GatherND", nil, garner.Of([]int64{1, -2}, 1, 2), nil, recorded.Negative},
		{"torch.embedding_bag", map[string]any{"mode": "sum"}, garner.Of([]int64{3}, 1), []garner.Tensor{bag}, recorded.PastEnd},
		{"torch.embedding_bag", map[string]any{"mode": "sum"}, garner.Of([]int64{1}, 1), []garner.Tensor{bag}, recorded.Inside},
	} {
		op, err := operators.Parse(tt.operator, tt.values)
		if err != nil {
			t.Fatal(err)
		}
		var specs []garner.Spec
		for _, f := range tt.further {
			specs = append(specs, f.Spec())
		}
		p, err := garner.NewPlan(op, data.Spec(), tt.indices.Spec(), specs...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := recorded.KindOf(p, tt.indices, tt.further...)
		if err != nil || got != tt.want {
			t.Errorf("%s of %s: %q, %v; want %q", tt.operator, tt.indices.Text(), got, err, tt.want)
		}
	}
}

// TestOf holds that every answer says what it is in words, names its recording, and
// that the table is not shared with its caller.
func TestOf(t *testing.T) {
	count := 0
	for _, o := range operators.All() {
		for _, kind := range []recorded.Kind{recorded.Inside, recorded.Negative, recorded.Below, recorded.PastEnd} {
			for _, a := range recorded.Of(o.Name, kind) {
				count++
				if a.Text == "" || a.Case == "" || a.Runtime == "" {
					t.Errorf("%s, %s: %+v", o.Name, kind, a)
				}
			}
		}
	}
	if count < 250 {
		t.Errorf("%d answers", count)
	}
	first := recorded.Of("onnx.Gather-13", recorded.PastEnd)
	first[0].Text = ""
	if recorded.Of("onnx.Gather-13", recorded.PastEnd)[0].Text == "" {
		t.Error("the caller changed the table")
	}
	if got := recorded.Of("none.Gather-1", recorded.Inside); len(got) != 0 {
		t.Errorf("an unknown operator has %d answers", len(got))
	}
	text, err := json.Marshal(recorded.Of("numpy.take", recorded.PastEnd)[0])
	if err != nil || !strings.HasPrefix(string(text), `{"runtime":"numpy 2.4.6","answer":"error","text":"refuses it","follows":true,"case":"numpy-take-`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestFits holds answers of a mode against calls.
func TestFits(t *testing.T) {
	answers := func(values map[string]any, data garner.DType) (list []string) {
		for _, a := range recorded.Of("jax.numpy.take", recorded.PastEnd) {
			if a.Fits(values, data, garner.I64) && a.Where == "" {
				list = append(list, a.Answer)
			}
		}
		return list
	}
	if got := answers(map[string]any{"mode": "clip"}, garner.F32); len(got) != 1 || got[0] != recorded.LastRow {
		t.Errorf("mode=clip: %q", got)
	}
	for _, values := range []map[string]any{nil, {"mode": "fill"}, {"mode": nil}, {"axis": 0}} {
		if got := answers(values, garner.F32); len(got) == 0 || got[0] != recorded.NaN {
			t.Errorf("%v: %q", values, got)
		}
	}
	for _, a := range recorded.Of("onnx.Gather-13", recorded.Inside) {
		if a.Answer == recorded.NoTypes && len(a.Data) > 0 && (!a.Fits(nil, garner.I4, garner.I64) || a.Fits(nil, garner.F32, garner.I64)) {
			t.Errorf("%s fits other types than its own", a.When)
		}
	}
}
