package lint

import (
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// untold makes an operator of whose result the file says nothing.
func untold(op string, of ...*model.Value) *model.Value {
	v := made(op, "f32[]", of...)
	v.Spec = model.Unknown
	return v
}

// TestTuplesBehind holds L.28 against the runs of OpenVINO: it finds GatherND whose tuples
// have an unknown length behind other operators, and those alone that OpenVINO refuses.
func TestTuplesBehind(t *testing.T) {
	in := func() *model.Value { return given("i64[?,?]") }
	zero, one := i64(nil, 0), i64([]int{1}, 0)
	negative := in()
	to := func(v *model.Value, name string, value any) *model.Value {
		return with(v, map[string]any{name: value})
	}
	all := map[string]*model.Value{
		"cast": to(untold("Cast", in()), "to", int64(7)), "clip": untold("Clip", in(), zero, i64(nil, 2)), "abs": untold("Abs", in()), "sum": untold("Add", in(), zero),
		"where":      untold("Where", untold("Less", negative, zero), untold("Add", negative, i64([]int{1}, 3)), negative),
		"transposes": to(untold("Transpose", untold("Transpose", in())), "perm", []int64{1, 0}),
		"slice":      untold("Slice", in(), one, i64([]int{1}, 1), i64([]int{1}, -1)), "slice-of-rows": untold("Slice", in(), one, i64([]int{1}, 1)),
		"concat-of-rows": to(untold("Concat", in(), in()), "axis", int64(0)), "tile": untold("Tile", in(), i64([]int{2}, 2, 1)),
		"split": to(untold("Split", in()), "num_outputs", int64(2)), "rest": untold("Reshape", in(), i64([]int{2}, 0, -1)), "gather": untold("Gather", in(), i64([]int{1}, 1)),
		"expand": untold("Expand", in(), i64([]int{2}, 1, 1)), "pad": untold("Pad", in(), i64([]int{4}, 1, 0, 0, 0)),
		"known-expand":  to(untold("Concat", untold("Slice", in(), one, i64([]int{1}, 1), i64([]int{1}, 1)), i64([]int{1, 1}, 1)), "axis", int64(0)),
		"known-sum":     to(untold("Concat", in(), i64([]int{1, 1}, 1)), "axis", int64(0)),
		"known-reshape": untold("Reshape", in(), i64([]int{2}, -1, 1)), "known-unsqueeze": untold("Unsqueeze", untold("Reshape", in(), i64([]int{1}, -1)), i64([]int{1}, -1)),
	}
	all["gather"].From.Operator = "onnx.Gather-13"
	for name, c := range recordsOf(t, "lint-tuples-behind-", all) {
		refused := false
		for _, r := range c.Runs {
			refused = refused || strings.HasPrefix(r.Runtime, "openvino") && r.Error != ""
		}
		g := gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: all[name]}
		if found := len(findings(t, g.model(), "L.28", Options{})) > 0; found != refused {
			t.Errorf("%s: found %t, refused %t", name, found, refused)
		}
		// What the file says of the rank alone changes nothing.
		all[name].Spec = given("i64[?,?]").Spec
		if found := len(findings(t, g.model(), "L.28", Options{})) > 0; found != refused {
			t.Errorf("%s, with a rank: found %t, refused %t", name, found, refused)
		}
	}
}

// recordsOf returns the records whose names begin with a prefix, by the rest of their
// names. These are the names of all that is tried.
func recordsOf(t *testing.T, prefix string, tried map[string]*model.Value) map[string]record {
	t.Helper()
	of := map[string]record{}
	for name, c := range records(t) {
		if name, ok := strings.CutPrefix(name, prefix); ok {
			if of[name] = c; tried[name] == nil {
				t.Fatalf("%s is recorded and not tried", name)
			}
		}
	}
	if len(of) != len(tried) {
		t.Errorf("%d of %d are recorded", len(of), len(tried))
	}
	return of
}

// TestDims holds which dims behind operators are open, are known and are unclear.
func TestDims(t *testing.T) {
	in := given("i64[?,3]")
	vector := func(n ...int64) *model.Value { return i64([]int{len(n)}, n...) }
	const o, u = openDim, unclearDim
	second := untold("Split", in, vector(1, 2))
	second.From.Attributes = axis(1)
	second.From.Outputs = []*model.Value{given("i64[]"), second}
	for i, tt := range []struct {
		v    *model.Value
		want []inferredDim
	}{
		{in, []inferredDim{o, 3}},
		{i64([]int{2, 1}, 0, 0), []inferredDim{2, 1}},
		{made("NonZero", "i64[2,?]", given("bool[?,?]")), []inferredDim{2, u}},
		{untold("NonZero", given("bool[?,?]")), nil},
		{untold("Add", in, i64([]int{2, 1}, 0, 0)), []inferredDim{2, 3}},
		{untold("Add", in, vector(1, 2, 3)), []inferredDim{o, 3}},
		{untold("Add", in, untold("NonZero", in)), nil},
		{untold("Add", in, made("NonZero", "i64[?,?]", in)), []inferredDim{u, 3}},
		{made("Abs", "i64[4,?]", in), []inferredDim{o, 3}}, // whatever the file says: OpenVINO infers no more
		{made("NonZero", "i64[2,4]", given("bool[?,?]")), []inferredDim{2, 4}},
		{untold("Transpose", in), []inferredDim{3, o}},
		{with(untold("Transpose", in), map[string]any{"perm": []int64{0, 5}}), []inferredDim{unreadDim}},
		{with(untold("Concat", in, in), axis(-1)), []inferredDim{o, 6}},
		{with(untold("Concat", in, given("i64[2,?]")), axis(1)), []inferredDim{2, o}},
		{with(untold("Concat", in, untold("NonZero", in)), axis(0)), []inferredDim{o, 3}},
		{with(untold("Concat", in, untold("NonZero", in)), axis(1)), []inferredDim{u, u}},
		{with(untold("Concat", in, vector(1)), axis(0)), []inferredDim{unreadDim}},
		{untold("Slice", in, vector(0), vector(2), vector(1)), []inferredDim{o, u}},
		{untold("Slice", in, vector(0), vector(0), vector(0)), []inferredDim{u, u}},
		{untold("Slice", in, given("i64[1]"), given("i64[1]"), given("i64[1]")), []inferredDim{o, u}},
		{untold("Tile", in, vector(2, 2)), []inferredDim{o, 6}},
		{untold("Tile", in, given("i64[2]")), []inferredDim{o, u}},
		{untold("Tile", in, vector(1)), nil},
		{second, []inferredDim{o, 2}},
		{with(untold("Split", in), axis(1)), []inferredDim{o, u}},
		{with(untold("Split", in, vector(5)), axis(0)), []inferredDim{5, 3}},
		{untold("Unsqueeze", in, vector(0, -1)), []inferredDim{1, o, 3, 1}},
		{untold("Unsqueeze", in, given("i64[1]")), nil},
		{untold("Squeeze", made("Unsqueeze", "i64[?,1,?]", in, vector(1)), vector(1)), []inferredDim{o, 3}},
		{untold("Reshape", in, vector(3, -1)), []inferredDim{3, o}},
		{untold("Reshape", in, vector(-1, 0)), []inferredDim{o, 3}},
		{untold("Reshape", in, vector(0, -1)), []inferredDim{o, 3}},
		{untold("Reshape", i64([]int{2, 3}, 1, 2, 3, 4, 5, 6), vector(-1, 2)), []inferredDim{3, 2}},
		{untold("Flatten", in), []inferredDim{o, 3}},
		{untold("Squeeze", i64([]int{1, 1}, 0)), []inferredDim{}},
		{untold("Squeeze", in), nil},
		{untold("Expand", in, vector(2, 1, 1)), []inferredDim{2, o, 3}},
		{untold("Pad", in, vector(0, 1, 0, 1)), []inferredDim{o, 5}},
		{untold("Pad", in, vector(0, -1, 0, -3)), []inferredDim{o, u}},
		{untold("Pad", in, given("i64[4]")), []inferredDim{o, u}},
		{untold("Pow", in, vector(1)), []inferredDim{o, 3}},
		{untold("ReduceMax", in, vector(1)), []inferredDim{o, 1}},
		{untold("ReduceSum", in), []inferredDim{1, 1}},
		{with(untold("ReduceSum", in, vector(-2)), map[string]any{"keepdims": int64(0)}), []inferredDim{3}},
		{untold("ReduceSum", in, given("i64[1]")), nil},
		{with(untold("ArgMax", in), map[string]any{"axis": int64(1), "keepdims": int64(0)}), []inferredDim{o}},
		{with(untold("TopK", in, vector(2)), axis(1)), []inferredDim{o, 2}},
		{with(untold("TopK", in, given("i64[1]")), axis(1)), []inferredDim{o, u}},
		{with(untold("Compress", in, vector(2)), axis(1)), []inferredDim{o, u}},
		{untold("Compress", in, vector(2)), nil},
		{with(untold("Flatten", in), axis(2)), []inferredDim{o, o}},
		{with(untold("Flatten", i64([]int{2, 1}, 0, 0)), axis(2)), []inferredDim{2, 1}},
		{untold("Less", in, i64(nil, 0)), []inferredDim{o, 3}},
		{untold("Reshape", in, given("i64[2]")), nil},
		{with(untold("Reshape", given("i64[0,?]"), vector(2, 0)), map[string]any{"allowzero": int64(1)}), []inferredDim{2, 0}},
		{with(untold("Reshape", i64([]int{0}), vector(2, 0)), map[string]any{"allowzero": int64(1)}), []inferredDim{unreadDim}},
		{with(untold("Split", i64([]int{0})), axis(0)), []inferredDim{unreadDim}},
		{with(untold("Split", given("i64[?,0]")), axis(1)), []inferredDim{o, 0}},
		{parameter("i64[...]", in, given("i64[2,3]")), []inferredDim{o, 3}},
		{parameter("i64[...]", in, given("i64[3]")), nil},
		{given("i64[...]"), nil},
	} {
		m := gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: tt.v}.model()
		l := newLinter(t.Context(), m)
		for _, v := range m.Graph.Inputs {
			l.inputs[v] = true
		}
		got, err := l.inferred.of(tt.v)
		if err != nil || len(got) != len(tt.want) || got == nil != (tt.want == nil) {
			t.Errorf("%d: %v, %v; want %v", i, got, err, tt.want)
			continue
		}
		for j := range got {
			if got[j] != tt.want[j] {
				t.Errorf("%d: %v; want %v", i, got, tt.want)
				break
			}
		}
	}
}

// TestComputedOfNothing holds L.32 and L.19 against the runs of OpenVINO: behind which
// operators it has an element of what ONNX computes from a constant without any, whatever the
// file says of the dims between.
func TestComputedOfNothing(t *testing.T) {
	e := func() *model.Value { return i64([]int{0}) }
	one, first := i64(nil, 1), i64([]int{1}, 0)
	to := func(v *model.Value, name string, value any) *model.Value {
		return with(v, map[string]any{name: value})
	}
	all := map[string]*model.Value{
		"abs": untold("Abs", e()), "casts-of-abs": to(untold("Cast", untold("Abs", to(untold("Cast", e()), "to", int64(6)))), "to", int64(7)),
		"sum": untold("Add", e(), one), "sum-of-vector": untold("Add", e(), i64([]int{1}, 1)), "clip": untold("Clip", e(), i64(nil, 0), one),
		"where": untold("Where", held(garner.Of([]bool{true})), e(), one), "transpose": untold("Transpose", e()),
		"concat": to(untold("Concat", e()), "axis", int64(0)), "concat-of-two": to(untold("Concat", e(), e()), "axis", int64(0)),
		"reshape": untold("Reshape", e(), i64([]int{1}, -1)), "unsqueeze": untold("Unsqueeze", e(), first), "tile": untold("Tile", e(), i64([]int{1}, 2)),
		"slice": untold("Slice", e(), first, i64([]int{1}, 1)), "squeeze": untold("Squeeze", e()), "expand": untold("Expand", e(), i64([]int{1}, 1)),
		"expand-to-nothing": untold("Expand", e(), first), "gather": untold("Gather", i64([]int{2}, 1, 2), e()),
		"reshape-by-zero": untold("Reshape", e(), i64([]int{2}, 0, 3)), "transpose-by-order": to(untold("Transpose", e()), "perm", []int64{0}),
	}
	all["gather"].From.Operator = "onnx.Gather-13"
	for name, c := range recordsOf(t, "lint-empty-indices-behind-", all) {
		filled, ends := false, false // refused counts as filled: it is a finding of L.32
		for _, r := range c.Runs {
			if strings.HasPrefix(r.Runtime, "openvino") && r.Shapes == static {
				filled, ends = r.Error != "" || r.Output != nil && len(r.Output.Values) > 0, r.Signal != 0
			}
		}
		g := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: all[name]}
		for _, declared := range []bool{false, true} {
			if declared {
				all[name].Spec = garner.SpecOf(garner.I64, c.Want.Shape[:len(c.Want.Shape)-1]...)
			}
			for rule, want := range map[string]bool{"L.32": filled, "L.19": ends} {
				if found := len(findings(t, g.model(), rule, Options{})) > 0; found != want {
					t.Errorf("%s, declared %t: %s found %t, filled %t, ends %t", name, declared, rule, found, filled, ends)
				}
			}
		}
	}
}

// TestAsInferred holds that the rules ask what OpenVINO infers, where the file says nothing of a
// value or more than that. OpenVINO 2026.4.1 ended or refused, or ran, as is wanted here.
func TestAsInferred(t *testing.T) {
	row := map[string]any{"axis": int64(0)}
	for i, tt := range []struct {
		rule string
		gather
		found bool
	}{
		{"L.19", gather{op: "onnx.Gather-13", data: given("f32[3,2]"), indices: untold("Abs", given("i64[0]"))}, true},
		{"L.19", gather{op: "onnx.Gather-13", data: untold("Relu", given("f32[3,0]")), indices: given("i64[2]")}, true},
		{"L.19", gather{op: "onnx.Gather-13", data: given("f32[3,3,3]"), indices: made("Add", "i64[2,0]", i64([]int{2, 0}), given("i64[?,0]"))}, false},
		{"L.28", gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: made("Abs", "i64[2,1]", given("i64[?,?]"))}, true},
		{"L.28", gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: made("Abs", "i64[2,1]", given("i64[?,1]"))}, false},
		{"L.28", gather{op: "openvino.GatherND-8", data: given("f32[3,2]"), indices: made("TopK", "i64[1,?]", given("i64[?,?]"))}, true}, // which the port of an IR says
		{"L.18", gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: untold("Abs", given("i64[2,0]"))}, true},
		{"L.18", gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: given("i64[0,0]")}, false},
		{"L.32", gather{op: "onnx.Gather-13", data: untold("Add", i64([]int{3, 0}), given("i64[3,1]")), indices: i64([]int{2}, 0, 2)}, true},
		{"L.32", gather{op: "onnx.Gather-13", data: untold("Add", i64([]int{3, 0}), given("i64[3,1]")), indices: given("i64[0]")}, false},
		{"L.32", gather{op: "onnx.GatherElements-13", data: given("f32[3,2]"), indices: untold("Add", i64([]int{0, 2}), i64([]int{1, 2}, 1, 1)), attributes: row}, true},
	} {
		if found := len(findings(t, tt.model(), tt.rule, Options{})) > 0; found != tt.found {
			t.Errorf("%d: %s found %t", i, tt.rule, found)
		}
	}
}
