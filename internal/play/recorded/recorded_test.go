package recorded_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// TestReachOf gives the worst index of each call its reach, of slices, of tuples and of bags.
func TestReachOf(t *testing.T) {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	bag := garner.Of([]int64{0}, 1)
	for _, tt := range []struct {
		operator string
		values   map[string]any
		indices  garner.Tensor
		further  []garner.Tensor
		want     recorded.Reach
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
		got, err := recorded.ReachOf(p, tt.indices, tt.further...)
		if err != nil || got != tt.want {
			t.Errorf("%s of %s: %q, %v; want %q", tt.operator, tt.indices.Text(), got, err, tt.want)
		}
	}
}

// callOf makes a call of literals.
func callOf(t *testing.T, operator string, values map[string]any, data, indices string, further ...string) (recorded.Call, recorded.Reach) {
	t.Helper()
	c := recorded.Call{Values: values}
	var err error
	read := func(text string) (x garner.Tensor) {
		if text != "" && err == nil {
			x, err = literal.Parse(text, garner.Invalid)
		}
		return x
	}
	c.Data, c.Indices = read(data), read(indices)
	for _, text := range further {
		c.Further = append(c.Further, read(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.Operator, err = operators.Find(operator, 0); err != nil {
		t.Fatal(err)
	}
	op, err := c.Operator.New(values)
	if err != nil {
		t.Fatal(err)
	}
	for len(c.Further) < len(c.Operator.Further()) {
		c.Further = append(c.Further, garner.Tensor{})
	}
	p, err := garner.Prepare(op, c.Data.Spec(), c.Indices.Spec(), garner.Threads(1), garner.FurtherTensors(c.Further...))
	if err != nil {
		t.Fatal(err)
	}
	c.Plan = p.Plan()
	reach, err := recorded.ReachOf(c.Plan, c.Indices, c.Further...)
	if err != nil {
		t.Fatal(err)
	}
	return c, reach
}

// TestWhere has for each circumstance a call that it holds for, and one like it that it
// does not hold for.
func TestWhere(t *testing.T) {
	type values = map[string]any
	seen := map[string]bool{}
	for _, tt := range []struct {
		operator      string
		values        values
		data, indices string
		further       []string
		want          string // with semicolons
	}{
		{"onnx.Gather-13", nil, "f32[1,2]", "[0]", nil, ""},
		{"onnx.Gather-13", nil, "f32[1,2]", "[]", nil, "no index"},
		{"onnx.Gather-13", nil, "f32[[],[]]", "[0]", nil, "data without elements"},
		{"onnx.Gather-13", values{"axis": 1}, "f32[[],[]]", "[0]", nil, "data without elements;an axis without positions"},
		{"onnx.GatherND-13", nil, "f32[1,2]", "[[0],[1]]", nil, ""},
		{"onnx.GatherND-13", nil, "f32[1,2]", "[[],[]]", nil, "no index;tuples without components"},
		{"onnx.Gather-13", nil, `[["a","b"],["c","d"]]`, "[0]", nil, "slices of several strings"},
		{"onnx.Gather-13", values{"axis": 1}, `[["a","b"],["c","d"]]`, "[0]", nil, ""},
		{"onnx.GatherElements-13", nil, `[["a","b"],["c","d"]]`, "[[0,0]]", nil, ""},
		{"openvino.Gather-8", values{"axis": 1, "batch_dims": 1}, "f32[[1,2]]", "[[0,1]]", nil, "a batch of one"},
		{"openvino.Gather-8", values{"axis": 1, "batch_dims": 1}, "f32[[1,2],[3,4]]", "[[0],[1]]", nil, ""},
		{"openvino.Gather-8", values{"axis": 2, "batch_dims": 1}, "f32[[[1,2],[3,4]]]", "[[0]]", nil, "an axis behind others"},
		{"openvino.Gather-8", values{"axis": 2, "batch_dims": 1}, "f32[[[1,2]]]", "[[0]]", nil, "a batch of one;an axis behind others"},
		{"openvino.Gather-8", values{"axis": 1}, "f32[[1,2],[3,4]]", "[0]", nil, ""},
		{"onnx.Gather-13", values{"axis": -1}, "f32[1,2]", "[0]", nil, "a negative axis"},
		{"onnx.Gather-13", values{"axis": 0}, "f32[1,2]", "[0]", nil, ""},
		{"numpy.take", values{"axis": -1}, "f32[1,2]", "[0]", nil, ""},
		{"onnx.GatherElements-13", values{"axis": 1}, "f32[[1,2],[3,4]]", "[[0,1]]", nil, "indices that are shorter than data"},
		{"onnx.GatherElements-13", values{"axis": 0}, "f32[[1,2],[3,4]]", "[[0,1]]", nil, ""},
		{"jax.numpy.take", values{"axis": 0}, "f32[1,2]", "[4294967297]", nil, "an index of more than 32 bits"},
		{"jax.numpy.take", values{"axis": 0}, "f32[1,2]", "[-2147483649]", nil, "an index of more than 32 bits"},
		{"jax.numpy.take", values{"axis": 0}, "f32[1,2]", "[-2147483648]", nil, ""},
		{"jax.numpy.take", values{"axis": 0}, "f32[1,2]", "u64[2147483648]", nil, "an index of more than 32 bits"},
		{"numpy.take", values{"axis": 0}, "f32[1,2]", "u32[4294967295]", nil, "an index of more than 32 bits"},
		{"numpy.take", values{"axis": 0}, "f32[1,2]", "u32[7]", nil, ""},
		{"numpy.take", values{"axis": 0}, "f32[1,2]", "[-4,7]", nil, "indices on both sides"},
		{"numpy.take", values{"axis": 0}, "f32[1,2]", "[-1,7]", nil, ""},
		{"numpy.take", values{"axis": 0}, "f32[1,2]", "[-4,-1,0]", nil, ""},
		{"openvino.Gather-8", values{"axis": 1}, "f32[[1,2]]", "[[0,1]]", nil, ""},
		{"openvino.Gather-8", nil, "i32[1,2]", "[0]", nil, "a vector of up to 64 integers"},
		{"openvino.Gather-8", nil, "i32[" + strings.Repeat("1,", 64) + "1]", "[0]", nil, ""},
		{"openvino.Gather-8", nil, "f32[1,2]", "[0]", nil, ""},
		{"onnx.Gather-13", nil, "i32[1,2]", "[0]", nil, ""},
		{"openvino.GatherND-8", nil, "f32[1,2]", "[[10003]]", nil, "an index far outside"},
		{"openvino.GatherND-8", nil, "f32[1,2]", "[[-10003]]", nil, "an index far outside"},
		{"openvino.GatherND-8", nil, "f32[1,2]", "i32[[10002]]", nil, ""},
		{"openvino.GatherND-8", nil, "[2147483648]", "[[0]]", nil, "numbers of more than 32 bits"},
		{"openvino.GatherND-8", nil, "[2147483647]", "[[0]]", nil, ""},
		{"openvino.GatherND-8", nil, "f64[0.1]", "[[0]]", nil, "numbers of more than 32 bits"},
		{"openvino.GatherND-8", nil, "f64[0.5,NaN]", "[[0]]", nil, ""},
		{"openvino.GatherND-8", nil, "u64[18446744073709551615]", "[[0]]", nil, "numbers of more than 32 bits"},
		{"onnx.GatherND-13", nil, "f64[0.1]", "[[0]]", nil, ""},
		{"torch.embedding_bag", values{"mode": "sum"}, "f32[[1],[2]]", "[0,1]", []string{"[0,1]"}, ""},
		{"torch.embedding_bag", values{"mode": "sum"}, "f32[[1],[2]]", "[0,1]", []string{"[0,0]"}, "a bag without terms"},
		{"torch.embedding_bag", values{"mode": "sum"}, "f32[[1],[2]]", "[0,1]", []string{"[0,2]"}, "a bag without terms;a last bag without terms"},
		{"torch.embedding_bag", values{"mode": "sum", "include_last_offset": true}, "f32[[1],[2]]", "[0,1]", []string{"[0,1]"}, "indices of no bag"},
		{"openvino.EmbeddingSegmentsSum-3", values{"num_segments": 2}, "f32[[1],[2]]", "[0,1]", []string{"[0,1]"}, ""},
		{"openvino.EmbeddingSegmentsSum-3", values{"num_segments": 1}, "f32[[1],[2]]", "[0,1]", []string{"[0,0]"}, ""},
		{"openvino.EmbeddingSegmentsSum-3", values{"num_segments": 1, "default_index": -1}, "f32[[1],[2]]", "[0,1]", []string{"[0,0]"}, "a negative default index"},
		{"openvino.EmbeddingSegmentsSum-3", values{"num_segments": 1, "default_index": 1}, "f32[[1],[2]]", "[0,1]", []string{"[0,0]"}, "a default index"},
		{"openvino.EmbeddingSegmentsSum-3", values{"num_segments": 2}, "f32[[1],[2]]", "[0,1]", []string{"[1,1]"}, "a bag without terms"},
		{"openvino.EmbeddingSegmentsSum-3", values{"num_segments": 3}, "f32[[1],[2]]", "[0,1]", []string{"[0,1]"}, "a bag without terms;a last bag without terms"},
	} {
		c, reach := callOf(t, tt.operator, tt.values, tt.data, tt.indices, tt.further...)
		got := recorded.LikeOf(c, reach).Where
		if strings.Join(got, ";") != tt.want {
			t.Errorf("%s of %s at %s %v: %q; want %q", tt.operator, tt.data, tt.indices, tt.values, got, tt.want)
		}
		for _, name := range got {
			seen[name] = true
		}
	}
	quiet, signalling := garner.Of([]garner.BFloat16{0x7fc0}, 1), garner.Of([]garner.BFloat16{0x7f81}, 1)
	for _, operator := range []string{"openvino.Gather-8", "jax.numpy.take"} {
		c, reach := callOf(t, operator, map[string]any{"axis": 0}, "bf16[1]", "[0]")
		c.Data = signalling
		if got := recorded.LikeOf(c, reach).Where; !slices.Equal(got, []string{"signalling NaNs"}) {
			t.Errorf("%s of a signalling NaN: %q", operator, got)
		}
		if c.Data = quiet; recorded.LikeOf(c, reach).Where != nil {
			t.Errorf("%s of a quiet NaN: %q", operator, recorded.LikeOf(c, reach).Where)
		}
	}
	seen["signalling NaNs"] = true
	for _, e := range recorded.Entries() {
		for _, name := range e.Where {
			if !seen[name] {
				t.Errorf("%s: %q is no circumstance that this test knows", e.Cases[0], name)
			}
		}
	}
}

// TestLike holds what makes calls alike, and what does not.
func TestLike(t *testing.T) {
	type values = map[string]any
	like := func(operator string, v values, data, indices string) recorded.Like {
		return recorded.LikeOf(callOf(t, operator, v, data, indices))
	}
	one := like("jax.numpy.take", values{"axis": 0}, "f32[[1,2],[3,4]]", "[0,7]")
	for _, other := range []recorded.Like{
		like("jax.numpy.take", values{"axis": 1}, "f32[[1,2,3],[3,4,5]]", "[9]"),
		like("jax.numpy.take", values{"axis": 0, "mode": "fill"}, "f64[[1,2],[3,4]]", "[2]"),
		like("jax.numpy.take", values{"axis": 0, "mode": nil, "fill_value": nil}, "f64[[1,2],[3,4]]", "[2]"),
	} {
		if !one.Equal(other) {
			t.Errorf("%+v is not like %+v", other, one)
		}
	}
	for _, other := range []recorded.Like{
		like("jax.numpy.take", values{"axis": 0, "fill_value": 7}, "f32[[1,2],[3,4]]", "[7]"),
		like("jax.numpy.take", values{"axis": 0, "mode": "clip"}, "f32[[1,2],[3,4]]", "[7]"),
		like("jax.numpy.take", nil, "f32[[1,2],[3,4]]", "[7]"), // flat
		like("jax.numpy.take", values{"axis": 0}, "f32[[1,2],[3,4]]", "[1]"),
		like("jax.numpy.take", values{"axis": 0}, "f32[[1,2],[3,4]]", "i32[7]"),
		like("jax.numpy.take", values{"axis": 0}, "f32[[1,2],[3,4]]", "[[7]]"),
		like("jax.numpy.take", values{"axis": 0}, "f32[[[1,2],[3,4]]]", "[7]"),
		like("numpy.take", values{"axis": 0}, "f32[[1,2],[3,4]]", "[7]"),
	} {
		if one.Equal(other) {
			t.Errorf("%+v is like %+v", other, one)
		}
	}
	if got := like("torch.take_along_dim", values{"axis": 1}, "f32[[1,2]]", "[[0]]").Attributes; got != nil {
		t.Errorf("the axis of take_along_dim makes it %v", got)
	}
	if got := like("torch.take_along_dim", nil, "f32[[1,2]]", "[[0]]").Attributes; !maps.Equal(got, map[string]string{"dim": "none"}) {
		t.Errorf("take_along_dim without dim: %v", got)
	}
	batches := like("tensorflow.GatherV2", values{"axis": 1, "batch_dims": -1}, "f32[[1,2],[3,4]]", "[[0],[1]]")
	if batches.Ranks != "2 2 1" || batches.Attributes != nil {
		t.Errorf("batch_dims -1: %+v", batches)
	}
}

// TestOf holds that every answer says what it is in words and names its recording, that a
// call of which no like was recorded has none, and that the table is not shared.
func TestOf(t *testing.T) {
	count := 0
	for _, e := range recorded.Entries() {
		count++
		if slices.Contains(e.Cases, "") || e.Runtime == "" || len(e.Data) == 0 || len(e.Cases) != len(e.Data) || strings.Contains(e.Runtime, "/") {
			t.Errorf("%+v", e)
		}
	}
	if count < 2500 {
		t.Errorf("%d entries", count)
	}
	past, reach := callOf(t, "numpy.take", map[string]any{"axis": 0}, "f32[[1,2],[3,4]]", "[0,7]")
	first := recorded.Of(past, reach)
	text, err := json.Marshal(first)
	if err != nil || !strings.HasPrefix(string(text), `[{"runtime":"numpy 2.4.6","answer":"error","text":"refuses it","follows":true,"case":"`) || len(first) != 1 {
		t.Fatalf("%s, %v", text, err)
	}
	first[0].Text = ""
	if recorded.Of(past, reach)[0].Text == "" {
		t.Error("the caller changed the table")
	}
	for _, data := range []string{"u2[[1,2],[3,0]]", "f32[[[[[[1]]]]]]"} {
		if got := recorded.Of(callOf(t, "numpy.take", map[string]any{"axis": 0}, data, "[0,7]")); len(got) != 0 {
			t.Errorf("numpy.take of %s was never recorded: %v", data, got)
		}
	}
}

// TestText holds that entries are written as they are read.
func TestText(t *testing.T) {
	want, err := os.ReadFile("answers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var line string
	var before []string
	for _, e := range recorded.Entries() {
		line, before = e.Text(before)
		got.WriteString(line)
	}
	if got.String() != string(want) {
		t.Error("the entries are written otherwise than they are read")
	}
}
