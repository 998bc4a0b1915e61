package play

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// asks sends a question and decodes the answer.
func asks[T any](t *testing.T, question string, call Call, more ...string) T {
	t.Helper()
	r := map[string]any{"ask": question, "call": call}
	for i := 0; i < len(more); i += 2 {
		r[more[i]] = more[i+1]
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var answer T
	if got := Ask(b); json.Unmarshal(got, &answer) != nil || bytes.HasPrefix(got, []byte(`{"error"`)) {
		t.Fatalf("%s\ngives %s", b, got)
	}
	return answer
}

// lines are the groups of an answer, each "3 i64[2] [1, 3]: first second".
func lines(a Answers) []string {
	var list []string
	for _, g := range a.Groups {
		var names []string
		for _, o := range g.Operators {
			names = append(names, o.Name)
		}
		what := g.DType + g.Shape.String() + " " + g.Values
		if g.Error != "" {
			what = g.Class
		}
		list = append(list, fmt.Sprintf("%d %s: %s", len(names), what, strings.Join(names, " ")))
	}
	return list
}

// TestAnswers compares whole tables.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		call Call
		kind recorded.Reach
		want []string
	}{
		{"past the end", Call{Data: "f32[1,2,3]", Indices: "[0,-1,7]"}, recorded.PastEnd, []string{
			"21 index-out-of-range: garner.Gather garner.GatherElements openvino.Gather-1 openvino.Gather-7 openvino.GatherElements-6 onnx.Gather-1 onnx.Gather-11 onnx.Gather-13 onnx.GatherElements-11 onnx.GatherElements-13 tensorflow.Gather tensorflow.GatherV2 tensorflow.gather tensorflow.batch_gather numpy.take numpy.take_along_axis torch.gather torch.index_select torch.take torch.take_along_dim tflite.GATHER",
			"2 f32[3] [1.0, 3.0, 3.0]: webnn.gather webnn.gatherElements",
			"2 f32[3] [1.0, 3.0, NaN]: jax.numpy.take jax.numpy.take_along_axis",
			"1 f32[3] [1.0, 3.0, 0.0]: openvino.Gather-8",
		}},
		{"axis 1 of three", Call{Data: "[[1,2,3],[4,5,6]]", Indices: "i32[2,0]", Axis: number(-1)}, recorded.Inside, []string{
			"14 i64[2,2] [[3, 1], [6, 4]]: garner.Gather openvino.Gather-1 openvino.Gather-7 openvino.Gather-8 onnx.Gather-1 onnx.Gather-11 onnx.Gather-13 tensorflow.GatherV2 tensorflow.gather numpy.take torch.index_select webnn.gather tflite.GATHER jax.numpy.take",
		}},
		{"a mode for all", Call{Data: "[1,2,3]", Indices: "[7]", Axis: number(0), Attributes: map[string]map[string]any{"*": {"mode": "clip"}}}, recorded.PastEnd, []string{
			"30 index-out-of-range: garner.Gather garner.GatherND garner.GatherElements openvino.Gather-1 openvino.Gather-7 openvino.GatherND-5 openvino.GatherND-8 openvino.GatherElements-6 onnx.Gather-1 onnx.Gather-11 onnx.Gather-13 onnx.GatherElements-11 onnx.GatherElements-13 onnx.GatherND-11 onnx.GatherND-12 onnx.GatherND-13 com.microsoft.GatherND-1 tensorflow.GatherNd tensorflow.gather_nd tensorflow.Gather tensorflow.GatherV2 tensorflow.gather tensorflow.batch_gather numpy.take_along_axis torch.gather torch.index_select torch.take torch.take_along_dim tflite.GATHER tflite.GATHER_ND",
			"5 i64[1] [3]: numpy.take webnn.gather webnn.gatherElements jax.numpy.take jax.numpy.take_along_axis",
			"1 i64[1] [0]: openvino.Gather-8",
			"1 i64[] 3: webnn.gatherND",
		}},
		{"batch_dims", Call{Data: "[[1,2,3],[4,5,6]]", Indices: "[[2],[0]]", BatchDims: number(1), Axis: number(1)}, recorded.Inside, []string{
			"7 i64[2,1] [[3], [4]]: garner.Gather openvino.Gather-7 openvino.Gather-8 tensorflow.GatherV2 tensorflow.gather tensorflow.batch_gather tflite.GATHER",
		}},
		{"without indices", Call{Data: "u8[[0,60],[0,64]]", Attributes: map[string]map[string]any{"*": {"type": "F16"}}}, recorded.Inside, []string{
			"1 f32[2,1] [[1.0], [2.0]]: gguf.dequantize",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := asks[Answers](t, "answers", tt.call)
			if got := lines(a); !slices.Equal(got, tt.want) || a.Kind != tt.kind {
				t.Errorf("kind %s, groups\n%s\nwant %s,\n%s", a.Kind, strings.Join(got, "\n"), tt.kind, strings.Join(tt.want, "\n"))
			}
			asked := len(a.NotAsked)
			for _, g := range a.Groups {
				asked += len(g.Operators)
			}
			if all := len(operators.All()); asked != all {
				t.Errorf("%d operators are told of, of %d", asked, all)
			}
		})
	}
}

// exampleOf is the example of an operator as a call, and what it prints.
func exampleOf(t *testing.T, o operators.Operator) (c Call, prints string) {
	t.Helper()
	l, prints, err := calls.Example(o)
	if err != nil {
		t.Fatal(err)
	}
	return Call{Data: l.Data, Indices: l.Indices, Attributes: map[string]map[string]any{o.Name: l.Values}, Operands: l.Operands}, prints
}

// TestExamples asks each operator its own example: it is asked, answers what the command
// prints, is drawn, and is written as a command line.
func TestExamples(t *testing.T) {
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			call, prints := exampleOf(t, o)
			a := asks[Answers](t, "answers", call)
			found := false
			for _, g := range a.Groups {
				if slices.ContainsFunc(g.Operators, func(x Answered) bool { return x.Name == o.Name }) {
					if found = true; g.Values != prints || g.Error != "" {
						t.Errorf("it answers %s%s, and the example prints %s", g.Values, g.Error, prints)
					}
				}
			}
			if !found {
				t.Errorf("it is not asked: %v", a.NotAsked)
			}
			p := asks[Picture](t, "picture", call, "operator", o.Name)
			if !strings.Contains(p.SVG, `data-cell="r0"`) || strings.Contains(p.SVG, "style") || !strings.Contains(p.Text, o.Name) || p.Cells["r0"].At == "" {
				t.Errorf("its picture is %s\n%s\n%v", p.SVG, p.Text, p.Cells)
			}
			c := asks[Code](t, "code", call, "operator", o.Name, "language", "garner")
			if !strings.HasPrefix(c.Code, "garner "+string(o.Kind)+" ") {
				t.Errorf("the command line is %s", c.Code)
			}
		})
	}
}

// TestPageExamples asks the examples of the page: each is answered by several operators.
func TestPageExamples(t *testing.T) {
	titles := map[string]bool{}
	for _, e := range asks[Catalog](t, "operators", Call{}).Examples {
		a := asks[Answers](t, "answers", e.Call)
		asked := 0
		for _, g := range a.Groups {
			asked += len(g.Operators)
		}
		if asked < 2 || titles[e.Title] || e.Title == "" {
			t.Errorf("%s: %d operators", e.Title, asked)
		}
		titles[e.Title] = true
	}
	if len(titles) < 10 {
		t.Errorf("%d examples", len(titles))
	}
}

// TestCatalog holds what a page builds its forms of.
func TestCatalog(t *testing.T) {
	c := asks[Catalog](t, "operators", Call{})
	if len(c.Operators) != len(operators.All()) || len(c.DTypes) != len(garner.DTypes()) {
		t.Errorf("%d operators, %d types", len(c.Operators), len(c.DTypes))
	}
	kinds := map[string]int{}
	for i, o := range operators.All() {
		info := c.Operators[i]
		kinds[info.Kind]++
		if info.Name != o.Name || !strings.HasPrefix(info.Name, info.Dialect+".") || info.Page != o.Spec {
			t.Errorf("%s is %+v", o.Name, info)
		}
		for _, a := range info.Attributes {
			if !slices.Contains([]string{"int", "ints", "bool", "string"}, a.Type) {
				t.Errorf("%s's %s is of type %q", o.Name, a.Name, a.Type)
			}
		}
		for _, name := range o.Further() {
			if likeness(name) < 0 {
				t.Errorf("%s's operand %s is in no row of alike", o.Name, name)
			}
		}
	}
	for kind, n := range map[string]int{"bag": 11, "stored": 8, "window": 3} {
		if kinds[kind] != n {
			t.Errorf("%d operators of kind %s, not %d", kinds[kind], kind, n)
		}
	}
	if c.Limits != (Limits{4194304, 65536, 64, 209715200}) {
		t.Errorf("the limits are %+v", c.Limits)
	}
	find := func(operator, name string) AttributeInfo {
		for _, o := range c.Operators {
			for _, a := range o.Attributes {
				if o.Name == operator && a.Name == name {
					return a
				}
			}
		}
		t.Fatalf("%s has no %s", operator, name)
		return AttributeInfo{}
	}
	for name, want := range map[string]string{
		"onnx.Gather-13 axis": "axis", "torch.gather dim": "axis", "torch.gather sparse_grad": "", "openvino.Gather-8 batch_dims": "batch_dims", "openvino.Gather-8 axis": "axis",
		"com.microsoft.GatherBlockQuantized-1 gather_axis": "axis", "com.microsoft.GatherBlockQuantized-1 quantize_axis": "",
	} {
		operator, attribute, _ := strings.Cut(name, " ")
		if got := find(operator, attribute).StandsFor; got != want {
			t.Errorf("%s stands for %q, not %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		operator, name, kind string
		otherwise            any
		values               int
	}{
		{"onnx.Gather-13", "axis", "int", 0.0, 0},
		{"openvino.Gather-8", "axis", "int", 0.0, 0},
		{"numpy.take_along_axis", "axis", "int", -1.0, 0},
		{"numpy.take", "axis", "int", nil, 0},
		{"numpy.take", "mode", "string", nil, 3},
		{"torch.gather", "sparse_grad", "bool", false, 0},
		{"stablehlo.gather", "slice_sizes", "ints", nil, 0},
		{"openvino.EmbeddingSegmentsSum-3", "num_segments", "int", nil, 0},
	} {
		if a := find(tt.operator, tt.name); a.Type != tt.kind || a.Default != tt.otherwise || len(a.Values) != tt.values {
			t.Errorf("%s's %s is %+v", tt.operator, tt.name, a)
		}
	}
}

// TestAxes holds that the operators which have no attribute for it gather along the axis
// that place compares with the call's.
func TestAxes(t *testing.T) {
	for _, call := range []Call{
		{Data: "[1,2,3]", Indices: "[0,1]"},
		{Data: "[[1,2],[3,4]]", Indices: "[1,0]"},
		{Data: "[[1,2],[3,4]]", Indices: "[[1,0],[0,1]]"},
		{Data: "[[[1],[2]],[[3],[4]]]", Indices: "[[1,0],[0,1]]"},
	} {
		read, err := call.read()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range catalog() {
			if e.axis != "" || e.Kind == "window" {
				continue
			}
			b, err := read.bind(e)
			if err != nil {
				continue
			}
			p, err := b.prepare()
			if err != nil {
				continue
			}
			want := int64(p.Plan().Axes[0].Number)
			if want < 0 && read.data.Rank() == 1 {
				want = 0
			}
			if want < 0 {
				want = -2
			}
			if got := read.fixedAxis(e); got != want {
				t.Errorf("%s of data %s and indices %s gathers along axis %d, not %d", e.Name, read.data.Spec(), read.indices.Spec(), want, got)
			}
		}
	}
}

// TestNotAsked holds why operators are not asked.
func TestNotAsked(t *testing.T) {
	for _, tt := range []struct {
		call      Call
		name, why string
	}{
		{Call{Data: "[1,2,3]", Indices: "[0]"}, "stablehlo.gather", "needs attributes of its own, such as slice_sizes"},
		{Call{Data: "[1,2,3]", Indices: "[0]"}, "torch.embedding_bag", "needs operands or attributes of its own, such as offsets"},
		{Call{Data: "[1,2,3]", Indices: "[0]"}, "gguf.get_rows", "needs operands or attributes of its own, such as type"},
		{Call{Data: "[1,2,3]", Indices: "[0]"}, "torch.embedding", "data i64[3] has rank 1; the operator needs 2 or more"},
		{Call{Data: "[1,2,3]", Indices: "[0]"}, "gguf.dequantize", "takes no indices: it decodes all of data"},
		{Call{Data: "u8[1,2]", Attributes: map[string]map[string]any{"*": {"type": "F16"}}}, "onnx.Gather-13", "needs indices"},
		{Call{Data: "[[1,2],[3,4]]", Indices: "[0]", Axis: number(1)}, "torch.embedding", "takes no axis; its own is 0"},
		{Call{Data: "[[1,2],[3,4]]", Indices: "[0]", Axis: number(0)}, "torch.take", "takes no axis; its own is data, taken flat"},
		{Call{Data: "[[1,2],[3,4]]", Indices: "[0]", BatchDims: number(1)}, "onnx.Gather-13", "takes no batch_dims; its own are 0"},
		{Call{Data: "[[1,2],[3,4]]", Indices: "[0]", Operands: map[string]string{"offsets": "[0]"}}, "onnx.Gather-13", "takes no offsets"},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "[0]", Operands: map[string]string{"segment_ids": "[0]"}}, "openvino.EmbeddingSegmentsSum-3", "needs its input num_segments"},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "[0]", Operands: map[string]string{"weights": "[1]"}}, "tensorflow.embedding_lookup_sparse", "needs its input dense_shape"},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "[0]", Attributes: map[string]map[string]any{"openvino.EmbeddingBagOffsets-15": {}}}, "openvino.EmbeddingBagOffsets-15", "needs its operand offsets"},
		{Call{Data: "[1,2,3]", Indices: "[0]", Attributes: map[string]map[string]any{"*": {"mode": "raise"}}}, "jax.numpy.take", `mode "raise"; there are fill, clip and wrap`},
	} {
		a := asks[Answers](t, "answers", tt.call)
		i := slices.IndexFunc(a.NotAsked, func(n NotAsked) bool { return n.Name == tt.name })
		if i < 0 {
			t.Errorf("%s is asked of %+v", tt.name, tt.call)
		} else if a.NotAsked[i].Why != tt.why {
			t.Errorf("%s %s; want %s", tt.name, a.NotAsked[i].Why, tt.why)
		}
	}
}

// TestRefused holds the words for wrong requests, and which part of the call they name.
func TestRefused(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("0,", MostElements+1), ",")
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for _, tt := range []struct{ request, where, says string }{
		{``, "", "not JSON of a known form"},
		{`[]`, "", "cannot be a JSON array"},
		{`{"ask":"answers"}`, "", "the request has no call"},
		{`{"ask":"guess"}`, "", `there is no question "guess"`},
		{`{"ask":"operators"} {}`, "", "text follows the request"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","colour":"red"}}`, "", `unknown field "colour"`},
		{`{"ask":"answers","call":{"data":[1],"indices":"[0]"}}`, "data", "cannot be a JSON array"},
		{`{"ask":"answers","call":{"data":"[1","indices":"[0]"}}`, "data", "the [ of column 1 is not closed"},
		{`{"ask":"answers","call":{"data":"","indices":"[0]"}}`, "data", "there is no value"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[[0],1]"}}`, "indices", "column 6"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0.5]"}}`, "indices", "must be of an integer type"},
		{`{"ask":"answers","call":{"data":"[300]","data_dtype":"u8","indices":"[0]"}}`, "data", "column 2"},
		{`{"ask":"answers","call":{"data":"[3]","data_dtype":"u9","indices":"[0]"}}`, "data", "u9"},
		{`{"ask":"answers","call":{"data":"f32[3]","data_dtype":"u8","indices":"[0]"}}`, "data", "leave one of them out"},
		{`{"ask":"answers","call":{"data":"[3]","indices":"[0]","indices_dtype":"f32"}}`, "indices", "must be of an integer type"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","axis":1.5}}`, "axis", "give an integer"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","axis":"1"}}`, "axis", "give an integer"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","batch_dims":99999999999999999999}}`, "batch_dims", "give an integer"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"onnx.Gather-99":{}}}}`, "attributes", "onnx.Gather-13"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"onnx.Gather":{}}}}`, "attributes", "such as onnx.Gather-13"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"onnx.Gather-13":{"mode":"clip"}}}}`, "attributes", `onnx.Gather-13 has no attribute "mode"; it has axis`},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"*":{"colour":"red"}}}}`, "attributes", `no operator has an attribute "colour"`},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"*":{"axis":{"a":1}}}}}`, "attributes", "axis: a value is an integer"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"*":{"slice_sizes":["a"]}}}}`, "attributes", "a list holds integers alone"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","attributes":{"*":{"slice_sizes":[` + many + `]}}}}`, "attributes", "a list of 65537 numbers; there may be 64"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","operands":{"colour":"[1]"}}}`, "operands", `there is no operand "colour"`},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]","operands":{"offsets":"[1"}}}`, "operands.offsets", "is not closed"},
		{`{"ask":"answers","call":{"data":"[` + many + `]","indices":"[0]"}}`, "data", "more than 65536 elements together"},
		{`{"ask":"answers","call":{"data":"0:40000","indices":"0:40000"}}`, "indices", "more than 65536 elements together"},
		{`{"ask":"answers","call":{"data":"0:9223372036854775807","indices":"[0]"}}`, "data", "more than 65536 elements together"},
		{`{"ask":"answers","call":{"data":"` + deep + `","indices":"[0]"}}`, "data", "deeper than 64"},
		{`{"ask":"answers","call":{"data":"[1]","indices":"[0]"}}` + strings.Repeat(" ", MostBytes), "", "there may be 4194304"},
		{`{"ask":"picture","call":{"data":"[1]","indices":"[0]"}}`, "", "the request has no operator"},
		{`{"ask":"picture","operator":"onnx.Gather","call":{"data":"[1]","indices":"[0]"}}`, "", "no operator onnx.Gather"},
		{`{"ask":"picture","operator":"<script>","call":{"data":"[1]","indices":"[0]"}}`, "", "no operator <script>"},
		{`{"ask":"picture","operator":"torch.embedding","call":{"data":"[1]","indices":"[0]"}}`, "", "torch.embedding: data i64[1] has rank 1"},
		{`{"ask":"picture","operator":"onnx.Gather-13","call":{"data":"[1]","indices":"[0]","axis":5}}`, "", "onnx.Gather-13: axis 5"},
		{`{"ask":"code","operator":"onnx.Gather-13","language":"cobol","call":{"data":"[1]","indices":"[0]"}}`, "", `no language "cobol"`},
		{`{"ask":"code","operator":"webnn.gather","language":"python","call":{"data":"[1]","indices":"[0]"}}`, "", "no Python"},
	} {
		var r Refusal
		if got := Ask([]byte(tt.request)); json.Unmarshal(got, &r) != nil || r.Where != tt.where || !strings.Contains(r.Message, tt.says) || len(got) > 1000 {
			t.Errorf("%.200s\ngives %.500s; want where %q, %q", tt.request, got, tt.where, tt.says)
		}
	}
}

// TestLimits holds that small operands cannot ask for much.
func TestLimits(t *testing.T) {
	why := func(call Call, name string) string {
		for _, n := range asks[Answers](t, "answers", call).NotAsked {
			if n.Name == name {
				return n.Why
			}
		}
		return "it is asked"
	}
	lists := "[" + strings.TrimSuffix(strings.Repeat("[],", 20000), ",") + "]"
	row := "f32[[" + strings.TrimSuffix(strings.Repeat("1,", 2000), ",") + "]]"
	for _, tt := range []struct {
		call       Call
		name, says string
	}{
		{Call{Data: "[[1,2,3]]", Indices: "i8[" + strings.TrimSuffix(strings.Repeat("0,", 30000), ",") + "]", Axis: number(0)}, "onnx.Gather-13", "has more than 65536 elements"},
		{Call{Data: lists, Indices: lists, Axis: number(1)}, "onnx.Gather-13", "has more than 65536 empty lists"},
		{Call{Data: row, Indices: "i8[" + strings.TrimSuffix(strings.Repeat("0,", 600), ",") + "]", Operands: map[string]string{"offsets": "[0]"}}, "openvino.EmbeddingBagOffsetsSum-3", "have more than 1048576 elements together"},
		{Call{Data: "f32[[1]]", Indices: "[0]", Operands: map[string]string{"segment_ids": "[0]"}, Attributes: map[string]map[string]any{"*": {"num_segments": 1 << 20}}}, "openvino.EmbeddingSegmentsSum-3", "has more than 65536 elements"},
	} {
		if got := why(tt.call, tt.name); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.says)
		}
	}

	// A text that is repeated is not printed as often.
	long := strings.Repeat("long ", 100000)
	call := Call{Data: `["` + long + `"]`, Indices: "[" + strings.TrimSuffix(strings.Repeat("0,", 5000), ",") + "]"}
	b, err := json.Marshal(map[string]any{"ask": "answers", "call": call})
	if err != nil {
		t.Fatal(err)
	}
	if got := Ask(b); len(got) > 20*mostText || !bytes.Contains(got, []byte(`"cut":true`)) {
		t.Errorf("an answer of %d bytes: %.200s", len(got), got)
	}
	if p := asks[Picture](t, "picture", call, "operator", "onnx.Gather-13"); len(p.SVG) > 1<<20 {
		t.Errorf("a picture of %d bytes", len(p.SVG))
	}
}

// TestKinds holds the kind of each operator's own indices, and with it what is told as
// recorded, where operators see the same indices on different axes: two see data flat.
func TestKinds(t *testing.T) {
	a := asks[Answers](t, "answers", Call{Data: "f32[[1,2],[3,4]]", Indices: "i64[3]"})
	got := map[string]recorded.Reach{}
	for _, g := range a.Groups {
		for _, o := range g.Operators {
			got[o.Name] = o.Kind
		}
	}
	for name, want := range map[string]recorded.Reach{
		"onnx.Gather-13": recorded.PastEnd, "numpy.take": recorded.Inside, "torch.take": recorded.Inside, "torch.index_select": recorded.PastEnd, "webnn.gather": recorded.PastEnd,
	} {
		if got[name] != want {
			t.Errorf("the index of %s is %q, not %q", name, got[name], want)
		}
	}
}

// TestSettled holds the types of operands whose literals say none.
func TestSettled(t *testing.T) {
	bag := func(indices, offsets string) Call {
		return Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: indices, Operands: map[string]string{"offsets": offsets, "per_sample_weights": "[2,1,0.5]"}}
	}
	const name = "openvino.EmbeddingBagOffsetsSum-3"
	for _, tt := range []struct {
		call Call
		says string
	}{
		{bag("i32[2,0,1]", "[0,2]"), "'offsets=i32[0, 2]' --operand 'per_sample_weights=f32["},
		{bag("[2,0,1]", "[0,2]"), "'offsets=i64[0, 2]'"},
		{bag("i32[2,0,1]", "i64[0,2]"), "'offsets=i64[0, 2]'"},
		{bag("i8[2,0,1]", "[0,300]"), "'offsets=i64[0, 300]'"}, // which i8 has not
	} {
		if c := asks[Code](t, "code", tt.call, "operator", name, "language", "garner"); !strings.Contains(c.Code, tt.says) {
			t.Errorf("%+v is %s; want %s", tt.call, c.Code, tt.says)
		}
	}
}

// TestDrawLimits holds that a picture, too, is refused what is too much, and that it takes
// no time for what it does not show.
func TestDrawLimits(t *testing.T) {
	call := Call{Data: "[[1,2,3]]", Indices: "i8[" + strings.TrimSuffix(strings.Repeat("0,", 30000), ",") + "]", Axis: number(0)}
	if _, err := Draw(call, "onnx.Gather-13"); err == nil || !strings.Contains(err.Error(), "has more than 65536 elements") {
		t.Errorf("a result of 90000 elements is drawn: %v", err)
	}
	long := strings.Repeat("ä", 1<<20)
	p, err := Draw(Call{Data: `["` + long + `"]`, Indices: "[0]"}, "onnx.Gather-13")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`<title>("|&#34;|&quot;)` + long[:2*998] + `…</title>`).MatchString(p.SVG) {
		t.Errorf("the beginning of a long text is not its title: %.3000s", p.SVG)
	}
	if got := shortened(garner.Of([]string{long, "b"}, 2, 1)); got.Shape().String() != "[2,1]" || len(got.Text()) > 2*mostText {
		t.Errorf("a text of %d bytes is left of one of %d, of shape %s", len(got.Text()), len(long), got.Shape())
	}
}

// TestCut cuts texts between characters.
func TestCut(t *testing.T) {
	for most := range 12 {
		got, cut := text(garner.Of([]string{"äöü"}, 1), most)
		whole := `["äöü"]`
		if want := len(whole) > most; cut != want || !strings.HasPrefix(whole, strings.TrimSuffix(got, "…")) || strings.ContainsRune(got, '�') {
			t.Errorf("cut at %d it is %s, %t", most, got, cut)
		}
	}
}

// TestSame compares results.
func TestSame(t *testing.T) {
	nan, other := garner.Of([]uint32{0x7fc00000, 0}, 2), garner.Of([]uint32{0xffc00001, 0}, 2)
	float := func(u garner.Tensor) garner.Tensor {
		b, err := u.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		f, err := garner.FromBytes(garner.F32, b, u.Shape()...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for i, tt := range []struct {
		a, b garner.Tensor
		want bool
	}{
		{garner.Of([]int64{1, 2}, 2), garner.Of([]int64{1, 2}, 2), true},
		{garner.Of([]int64{1, 2}, 2), garner.Of([]int64{1, 2}, 2, 1), false},
		{garner.Of([]int64{1, 2}, 2), garner.Of([]uint64{1, 2}, 2), false},
		{garner.Of([]int64{1, 2}, 2), garner.Of([]int64{1, 3}, 2), false},
		{garner.Of([]string{"a", "b"}, 2), garner.Of([]string{"a", "b"}, 2), true},
		{garner.Of([]string{"a", "b"}, 2), garner.Of([]string{"a", "c"}, 2), false},
		{float(nan), float(other), true},
		{nan, other, false},
		{garner.Of([]float32{0, 1}, 2), garner.Of([]float32{float32(math.Copysign(0, -1)), 1}, 2), false},
	} {
		if same(tt.a, tt.b) != tt.want {
			t.Errorf("%d: %s and %s are the same: %t", i, tt.a, tt.b, !tt.want)
		}
	}
}

// ways are all ways of running that an answer may name: what no call says.
var ways = []string{"dynamic dimensions", "on one thread", "tf.function, XLA", "tf.function, unknown shapes"}

// TestRecorded holds that what a runtime answered stands beside its operator, for calls of
// the same kind alone.
func TestRecorded(t *testing.T) {
	of := func(call Call, name string) []recorded.Answer {
		for _, g := range asks[Answers](t, "answers", call).Groups {
			for _, o := range g.Operators {
				if o.Name == name {
					return o.Recorded
				}
			}
		}
		t.Fatalf("%s is not asked", name)
		return nil
	}
	batches := func(data, indices string) Call {
		return Call{Data: data, Indices: indices, Axis: number(1), BatchDims: number(1)}
	}
	bags := func(data, offsets string) Call {
		return Call{Data: data, Indices: "[2,0,1]", Operands: map[string]string{"offsets": offsets}, Attributes: map[string]map[string]any{"torch.embedding_bag": {"mode": "sum"}}}
	}
	fill := Call{Data: "f32[1,2,3]", Indices: "[0,7]", Axis: number(0), Attributes: map[string]map[string]any{"jax.numpy.take": {"fill_value": json.Number("7")}}}
	for _, tt := range []struct {
		call     Call
		operator string
		want     string // the classes of the usual way of running, with commas
	}{
		{Call{Data: "f32[1,2,3]", Indices: "[0,-1]"}, "openvino.Gather-7", "0 against its specification"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,1]"}, "openvino.Gather-7", "the row"},
		{batches("f32[[1,2]]", "[[0,1]]"), "openvino.Gather-8", "ends the process against its specification"},
		{batches("f32[[1,2,3],[4,5,6]]", "[[0,1],[1,1]]"), "openvino.Gather-8", "the row"},
		{Call{Data: "f32[[[1,2],[3,4]]]", Indices: "[[0]]", Axis: number(2), BatchDims: number(1)}, "openvino.Gather-8", "the row"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,-1]"}, "torch.take_along_dim", ""},
		{Call{Data: "f32[1,2,3]", Indices: "[0,-1]", Axis: number(0)}, "torch.take_along_dim", "from the end"},
		{Call{Data: "[1,2,3]", Indices: "[[-9101],[1]]"}, "openvino.GatherND-8", "other memory against its specification"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,4294967297]", Axis: number(0)}, "jax.numpy.take", "low 32 bits against its specification"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,-4294967295]", Axis: number(0)}, "jax.numpy.take", ""},
		{Call{Data: "f32[1,2,3]", Indices: "[0,4294967297]"}, "openvino.Gather-8", "low 32 bits against its specification"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,4294967297]"}, "onnx.Gather-13", "error"},
		{Call{Data: "[1,2,3]", Indices: "[0,7]"}, "openvino.Gather-8", "other memory against its specification"},
		{Call{Data: "[1,2,3]", Indices: "[0,1000000]"}, "openvino.Gather-8", "other memory against its specification"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,7]"}, "openvino.Gather-8", "0"},
		{Call{Data: "[5,6,7]", Indices: "[-4,-5,-9]"}, "openvino.Gather-8", "other memory against its specification"},
		{Call{Data: "f32[1,2,3]", Indices: "[0,7]", Axis: number(0)}, "jax.numpy.take", "NaN"},
		{Call{Data: "[1,2,3]", Indices: "[0,7]", Axis: number(0)}, "jax.numpy.take", "fill value"},
		{fill, "jax.numpy.take", ""},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "[[0,1],[1,0]]"}, "onnx.GatherND-11", "the row"},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "[[0,1],[1,0]]"}, "tensorflow.GatherNd", "the row"},
		{Call{Data: `["red","green","blue"]`, Indices: "[2,0]"}, "torch.index_select", ""},
		{Call{Data: `["red","green","blue"]`, Indices: "[2,0]"}, "jax.numpy.take", ""},
		{Call{Data: `["red","green","blue"]`, Indices: "[2,0]"}, "onnx.Gather-13", "the row"},
		{Call{Data: `[["a","b"],["c","d"]]`, Indices: "[0,1]"}, "onnx.Gather-13", "cut against its specification"},
		{Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: "u8[2,0]"}, "onnx.Gather-13", "no such types"},
		{Call{Data: "i4[1,2,3]", Indices: "[1,0]"}, "numpy.take", ""},
		{Call{Data: "u4[[1,2],[3,15]]", Indices: "[1,0]", Operands: map[string]string{"scales": "f32[[0.5],[2]]"}}, "com.microsoft.GatherBlockQuantized-1", ""},
		{bags("[[1,2],[3,4],[5,6]]", "[0,2]"), "torch.embedding_bag", ""}, // of i64
		{bags("f32[[1,2],[3,4],[5,6]]", "[0,2]"), "openvino.EmbeddingBagOffsetsSum-3", "the row"},
		{bags("f32[[1,2],[3,4],[5,6]]", "[0,3]"), "openvino.EmbeddingBagOffsetsSum-3", ""}, // its last bag is empty
	} {
		var classes []string
		for _, a := range of(tt.call, tt.operator) {
			class := a.Class
			if !a.Follows {
				class += " against its specification"
			}
			if a.When == "" && !strings.HasPrefix(a.Runtime, "onnx ") && !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
			if a.When != "" && !slices.Contains(ways, a.When) {
				t.Errorf("%s of %s at %s: %q is no way of running", tt.operator, tt.call.Data, tt.call.Indices, a.When)
			}
		}
		slices.Sort(classes)
		if got := strings.Join(classes, ", "); got != tt.want {
			t.Errorf("%s of %s at %s: %q; want %q", tt.operator, tt.call.Data, tt.call.Indices, got, tt.want)
		}
	}
	for _, e := range recorded.Entries() {
		if e.Run != "" && !slices.Contains(ways, e.Run) {
			t.Errorf("%s: %q is no way of running that this test knows", e.Cases[0], e.Run)
		}
	}
}

// TestBeyond holds which answers are garner's alone, because the operator's specification
// has not the types.
func TestBeyond(t *testing.T) {
	for _, tt := range []struct {
		call       Call
		name, says string
	}{
		{Call{Data: "f32[1,2]", Indices: "u8[1]"}, "onnx.Gather-13", "onnx.Gather-13 does not take indices of u8; its specification: data of any type but"},
		{Call{Data: "f32[1,2]", Indices: "[1]"}, "onnx.Gather-13", ""},
		{Call{Data: "f32[1,2]", Indices: "u8[1]"}, "numpy.take", ""},
		{Call{Data: "[[1,2],[3,4]]", Indices: "[1,0]", Operands: map[string]string{"offsets": "[0]"}, Attributes: map[string]map[string]any{"torch.embedding_bag": {"mode": "sum"}}}, "torch.embedding_bag", "torch.embedding_bag does not take data of i64"},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "[1,0]", Operands: map[string]string{"offsets": "i32[0]"}}, "openvino.EmbeddingBagOffsetsSum-3", "takes offsets of the type of the indices alone, which are i64"},
		{Call{Data: "f32[[1,2],[3,4]]", Indices: "i32[1,0]", Operands: map[string]string{"offsets": "i32[0]"}}, "openvino.EmbeddingBagOffsetsSum-3", ""},
	} {
		found := false
		for _, g := range asks[Answers](t, "answers", tt.call).Groups {
			for _, o := range g.Operators {
				if o.Name != tt.name {
					continue
				}
				found = true
				if (o.Beyond == "") != (tt.says == "") || !strings.Contains(o.Beyond, tt.says) {
					t.Errorf("%s of %s at %s: %q; want %q", tt.name, tt.call.Data, tt.call.Indices, o.Beyond, tt.says)
				}
				for _, a := range o.Recorded {
					if o.Beyond != "" && a.Class == recorded.NoTypes && !a.Follows {
						t.Errorf("%s of %s at %s: %s departs by refusing what the specification refuses", tt.name, tt.call.Data, tt.call.Indices, a.Runtime)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s of %s at %s is not asked", tt.name, tt.call.Data, tt.call.Indices)
		}
	}
}

// TestOpen describes files of every format that it takes.
func TestOpen(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tt := range []struct {
		name, kind, has string
		note            string
	}{
		{"testdata/models/bert.onnx", "model", `"name":"node_embedding","at":"graph.node[4]","operator":"onnx.Gather-13","attributes":"axis=0","inputs":"data: tok.weight f32[50,8], a constant; indices: ids i64[s23,s22]"`, ""},
		{"testdata/models/bert.onnx", "model", `"rule":"L.27","title":"Positions are counted past a table","severity":"warning","node":"node_embedding_1"`, ""},
		{"testdata/models/half.xml", "model", `"operator":"openvino.Gather-8","attributes":"batch_dims=0","inputs":"data: self.emb.weight f16[40,8]; indices: __module.emb/aten::embedding/Convert i32[?,?]; axis: `, "constants are in the .bin"},
		{"onnx/modelproto/testdata/torch_embedding_external.onnx", "model", `"inputs":"data: words.weight f32[50,8]; indices: input_ids i64[2,3]"`, "such as torch_embedding_external.data"},
	} {
		var f File
		got := Open(t.Context(), read(tt.name), "x/"+filepath.Base(tt.name))
		if err := json.Unmarshal(got, &f); err != nil || f.Kind != tt.kind || !bytes.Contains(got, []byte(tt.has)) || (f.Note == "") != (tt.note == "") || !strings.Contains(f.Note, tt.note) {
			t.Errorf("%s: %v, %s", tt.name, err, got)
		}
	}
}

// safetensorsOf is a file of n empty tensors, whose names are of some length.
func safetensorsOf(n, length int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `,"%0*d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`, length, i)
	}
	b.WriteByte('}')
	b.Bytes()[0] = '{'
	return append(binary.LittleEndian.AppendUint64(nil, uint64(b.Len())), b.Bytes()...)
}

// irOf is a model of n gathers in OpenVINO's format.
func irOf(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`<net name="m" version="11"><layers>` +
		`<layer id="0" name="data" type="Parameter" version="opset1"><data shape="3,3" element_type="f32"/><output><port id="0" precision="FP32"><dim>3</dim><dim>3</dim></port></output></layer>` +
		`<layer id="1" name="i" type="Parameter" version="opset1"><data shape="3" element_type="i64"/><output><port id="0" precision="I64"><dim>3</dim></port></output></layer>` +
		`<layer id="2" name="axis" type="Parameter" version="opset1"><data shape="" element_type="i64"/><output><port id="0" precision="I64"></port></output></layer>`)
	for i := range n {
		fmt.Fprintf(&b, `<layer id="%d" name="g%d" type="Gather" version="opset8"><data batch_dims="0"/><input><port id="0"><dim>3</dim><dim>3</dim></port><port id="1"><dim>3</dim></port><port id="2"></port></input>`+
			`<output><port id="3" precision="FP32"><dim>3</dim><dim>3</dim></port></output></layer>`, i+3, i)
	}
	b.WriteString(`</layers><edges>`)
	for i := range n {
		for port := range 3 {
			fmt.Fprintf(&b, `<edge from-layer="%d" from-port="0" to-layer="%d" to-port="%d"/>`, port, i+3, port)
		}
	}
	b.WriteString(`</edges></net>`)
	return b.Bytes()
}

// opened opens a file that is none of the refused ones.
func opened(t *testing.T, b []byte, name string) File {
	t.Helper()
	var f File
	if got := Open(t.Context(), b, name); json.Unmarshal(got, &f) != nil || f.Kind == "" {
		t.Fatalf("%s: %.300s", name, got)
	}
	return f
}

// TestOpenMuch holds what is told of files that have much, and what is refused.
func TestOpenMuch(t *testing.T) {
	if f := opened(t, safetensorsOf(mostListed+5, 4), "a.safetensors"); len(f.Tensors) != mostListed || f.More != 5 || f.Tensors[7].Name != "0007" || f.Tensors[7].Bytes == nil {
		t.Errorf("%d tensors, %d more", len(f.Tensors), f.More)
	}
	f := opened(t, irOf(mostListed+5), "a.xml")
	findings := len(f.Findings) + f.More - 5 // as many of each gather, which are alike
	if len(f.Gathers) != mostListed || len(f.Findings) != mostListed || findings == mostListed || findings%(mostListed+5) != 0 {
		t.Errorf("%d gathers, %d findings, %d more", len(f.Gathers), len(f.Findings), f.More)
	}
	f = opened(t, irOf(mostLinted+1), "a.xml")
	if len(f.Findings) != 0 || f.More != mostLinted+1-mostListed || !strings.Contains(f.Note, "findings are left out: the model has 20001 gathers") {
		t.Errorf("%d findings, %d more: %s", len(f.Findings), f.More, f.Note)
	}
	header := append(binary.LittleEndian.AppendUint64(nil, mostDescribed+1), bytes.Repeat([]byte(" "), mostDescribed+1)...)
	for name, tt := range map[string]struct {
		bytes []byte
		says  string
	}{
		"a.safetensors": {header, "the header has 16777217 bytes; this page looks at up to 16777216"},
		"a.xml":         {header[7:], "the .xml has 16777218 bytes; this page looks at up to 16777216"},
	} {
		var r Refusal
		if got := Open(t.Context(), tt.bytes, name); json.Unmarshal(got, &r) != nil || !strings.Contains(r.Message, tt.says) {
			t.Errorf("%s: %.300s; want %s", name, got, tt.says)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if got := Open(gone, irOf(1), "a.xml"); string(got) != `{"error":"context canceled"}` {
		t.Errorf("for nobody: %s", got)
	}
}

// TestOpenTypes holds that a model's types are shortened, and that strings have no size.
func TestOpenTypes(t *testing.T) {
	long := &model.Value{Name: "v", Spec: garner.SpecOfDims(garner.F32, slices.Repeat([]garner.Dim{garner.Exactly(1234567)}, 64)...)}
	if got := described(long); len(got) > mostType+10 || !strings.HasSuffix(got, "…") || !strings.HasPrefix(got, "v f32[1234567,") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	header := "{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }"
	header += strings.Repeat(" ", 118-1-len(header)) + "\n"
	f := opened(t, []byte("\x93NUMPY\x01\x00v\x00"+header+"a\x00\x00\x00b\x00\x00\x00"), "a.npy")
	if len(f.Tensors) != 1 || f.Tensors[0].Bytes != nil || f.Tensors[0].DType != "string" || f.Tensors[0].Values != `["a", "b"]` {
		t.Errorf("%+v", f)
	}
}

// TestFaults holds that a fault of garner's is an answer too.
func TestFaults(t *testing.T) {
	old := questions["operators"]
	defer func() { questions["operators"] = old }()
	questions["operators"] = question{answer: func(*request) (any, error) { panic("of the test") }}
	if got := string(Ask([]byte(`{"ask":"operators"}`))); got != `{"error":"garner has a fault: of the test; please report it with this call"}` {
		t.Errorf("%s", got)
	}
	openers[".zz"] = func(context.Context, []byte) (*File, error) { panic("of the test") }
	defer delete(openers, ".zz")
	if got := string(Open(t.Context(), []byte("x"), "a.zz")); got != `{"error":"garner has a fault: of the test; please report it with this file"}` {
		t.Errorf("%s", got)
	}
}

// TestOpenRefused holds the words for files that are none.
func TestOpenRefused(t *testing.T) {
	for _, tt := range []struct{ name, bytes, says string }{
		{"a.txt", "[1]", "a.txt is no file that this page reads"},
		{"a", "[1]", "a is no file that this page reads"},
		{"<b>\u202e.exe", "x", `"<b>\u202e.exe" is no file that this page reads`},
		{"a.onnx", "", "a.onnx is empty"},
		{"a.onnx", "nothing", ""},
		{"a.XML", "<html></html>", ""},
		{"a.npy", "\x93NUMPY\x01\x00\x05\x00{'a':", ""},
		{"a.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}", ""},
	} {
		var r Refusal
		if got := Open(t.Context(), []byte(tt.bytes), tt.name); json.Unmarshal(got, &r) != nil || r.Message == "" || !strings.Contains(r.Message, tt.says) || strings.HasPrefix(r.Message, "garner") {
			t.Errorf("%s: %s; want %q", tt.name, got, tt.says)
		}
	}
}

// FuzzAsk holds that every request has an answer in JSON, the same each time, that is no
// fault of garner's.
func FuzzAsk(f *testing.F) {
	for _, e := range examples {
		for _, more := range []string{`"answers"`, `"picture","operator":"onnx.Gather-13"`, `"code","language":"go","operator":"torch.embedding_bag"`} {
			b, err := json.Marshal(e.Call)
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(`{"ask":` + more + `,"call":` + string(b) + `}`))
		}
	}
	f.Add([]byte(`{"ask":"operators"}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		if len(request) > 1<<12 {
			return
		}
		got := Ask(request)
		if !json.Valid(got) || bytes.HasPrefix(got, []byte(`{"error":"garner has a fault`)) {
			t.Errorf("%s\ngives %s", request, got)
		}
		if again := Ask(request); !bytes.Equal(got, again) {
			t.Errorf("%s\ngives %s\nand then %s", request, got, again)
		}
	})
}

// FuzzOpen holds that every file has an answer in JSON that is no fault of garner's.
func FuzzOpen(f *testing.F) {
	for i, name := range []string{"onnx/gather_13_table/model.onnx", "models/half.xml"} {
		b, err := os.ReadFile("../../testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint8(i))
	}
	f.Add([]byte("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }                                                          \n\x00\x00\x80?\x00\x00\x00@"), uint8(2))
	f.Add([]byte("\x40\x00\x00\x00\x00\x00\x00\x00"+`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}          `+"\x00\x00\x80?"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, kind uint8) {
		name := []string{"a.onnx", "a.xml", "a.npy", "a.safetensors"}[kind%4]
		if got := Open(t.Context(), b, name); !json.Valid(got) || bytes.HasPrefix(got, []byte(`{"error":"garner has a fault`)) {
			t.Errorf("%s gives %s", name, got)
		}
	})
}

// TestFollows holds, over random calls, what "follows its specification" cannot mean: that
// a runtime refuses a call which garner answers, or answers one which garner refuses.
func TestFollows(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	data := []string{"f32[1,2,3]", "[1,2,3]", "f32[[1,2,3],[4,5,6]]", "[[1,2],[3,4],[5,6]]", "f32[[[1,2],[3,4]]]", "f32[[[1,2,3]],[[4,5,6]]]"}
	refused := []string{recorded.Refused, recorded.NoTypes, recorded.NoEmpty}
	random := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = []string{"0", "1", "2", "0", "1", "-1", "-4", "7", "4294967297"}[rng.IntN(9)]
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	notes, calls := 0, 400
	if testing.Short() {
		calls = 40
	}
	for range calls {
		c := Call{Data: data[rng.IntN(len(data))], Indices: random(1 + rng.IntN(3))}
		switch rng.IntN(5) {
		case 0:
			c.Indices = "[" + random(2) + "," + random(2) + "]"
		case 1:
			c.Indices = "i32" + strings.ReplaceAll(c.Indices, "4294967297", "9")
		case 2: // bags
			c.Data, c.Indices = data[2], random(3)
			c.Operands = map[string]string{"offsets": random(2), "segment_ids": random(3), "ids_indices": "[" + random(2) + "," + random(2) + "," + random(2) + "]"}
			c.Attributes = map[string]map[string]any{"torch.embedding_bag": {"mode": "sum"}}
		}
		if rng.IntN(2) == 0 {
			c.Axis = number(rng.Int64N(5) - 2)
		}
		if rng.IntN(4) == 0 {
			c.BatchDims = number(1)
		}
		for _, g := range asks[Answers](t, "answers", c).Groups {
			for _, o := range g.Operators {
				for _, a := range o.Recorded {
					notes++
					if a.Follows && o.Beyond == "" && slices.Contains(refused, a.Class) != (g.Error != "") {
						t.Errorf("%s of %s at %s, %+v: garner answers %s%s, and %s %s, as its specification says (%s)", o.Name, c.Data, c.Indices, c, g.Values, o.Error, a.Runtime, a.Text, a.Case)
					}
				}
			}
		}
	}
	if notes < 5*calls {
		t.Errorf("%d answers were recorded for %d calls", notes, calls)
	}
}
