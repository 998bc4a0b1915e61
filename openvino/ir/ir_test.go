package ir_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/openvino/ir"
	"github.com/garner-go/garner/operators"
)

// read reads a text; the .bin is of 64 bytes, which count up.
func read(t testing.TB, text string, o ir.Options) (*model.Model, error) {
	t.Helper()
	bin := make([]byte, 64)
	for i := range bin {
		bin[i] = byte(i)
	}
	return ir.Read("m.xml", strings.NewReader(text), bin, o)
}

// list writes a model in a few words: a line a node.
func list(m *model.Model) string {
	var b strings.Builder
	values := func(values []*model.Value) {
		for i, v := range values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.String())
			if v.Constant != nil {
				b.WriteString("*")
			}
		}
	}
	var graph func(g *model.Graph, indent string)
	graph = func(g *model.Graph, indent string) {
		b.WriteString(indent + "in ")
		values(g.Inputs)
		b.WriteString("\n")
		for _, n := range g.Nodes {
			fmt.Fprintf(&b, "%s%s %s-%d ", indent, n.Name, n.Op, n.Version)
			if n.IsGather() {
				fmt.Fprintf(&b, "%s %v ", n.Operator, n.Attributes)
			}
			values(n.Inputs)
			b.WriteString(" -> ")
			values(n.Outputs)
			b.WriteString("\n")
			for _, s := range n.Graphs {
				b.WriteString(indent + "  " + s.Name + "\n")
				graph(s.Graph, indent+"  ")
			}
		}
		for _, r := range g.Outputs {
			fmt.Fprintf(&b, "%sout %s %s\n", indent, r.Name, r.Value.Type())
		}
	}
	graph(m.Graph, "")
	return b.String()
}

// The layers that the specifications of GatherND-8, GatherND-5 and Gather-1
// show, attributes as they stand there.
func layer(head string, ports ...string) string {
	text := head + "<input>"
	for i, dims := range ports {
		if i == len(ports)-1 {
			text += "</input><output>"
		}
		id, dims, _ := strings.Cut(dims, ":")
		text += fmt.Sprintf(`<port id="%s">`, id)
		for _, d := range strings.Fields(dims) {
			text += "<dim>" + d + "</dim>\n"
		}
		text += "</port>"
	}
	return "<net>\n<layers>\n\t" + text + "</output>\n</layer></layers></net>"
}

func TestDocumentation(t *testing.T) {
	const any2, any3 = "0:1000 256 10 15|1:25 125 3|3:25 125 15", "0:1 64 64 320|1:1 64 64 1 1|3:1 64 64 1"
	for _, tt := range []struct {
		head, ports string
		refused     string // where, and what it says, where it is; the want is then a lenient reader's
		want        string
	}{
		{`<layer id="1" type="GatherND" version="opset8"><data batch_dims="0" />`, any2, "",
			"GatherND_1 GatherND-8 openvino.GatherND-8 map[batch_dims:0] GatherND_1.0 [1000,256,10,15], GatherND_1.1 [25,125,3] -> GatherND_1 [25,125,15]"},
		{`<layer id="1" type="GatherND" version="opset8"><data batch_dims="2" />`, "0:30 2 100 35|1:30 2 3 1|3:30 2 3 35", "",
			"GatherND_1 GatherND-8 openvino.GatherND-8 map[batch_dims:2] GatherND_1.0 [30,2,100,35], GatherND_1.1 [30,2,3,1] -> GatherND_1 [30,2,3,35]"},
		{`<layer id="1" type="GatherND" version="opset8"><data batch_dims="3" />`, any3, "",
			"GatherND_1 GatherND-8 openvino.GatherND-8 map[batch_dims:3] GatherND_1.0 [1,64,64,320], GatherND_1.1 [1,64,64,1,1] -> GatherND_1 [1,64,64,1]"},
		{`<layer id="1" type="GatherND"><data batch_dims=0 />`, any2,
			`m.xml:3:2: layer "GatherND_1" (GatherND, id 1): it has no version; write version="opset5" if openvino.GatherND-5 is meant, "opset8" if openvino.GatherND-8, or read the file with Options.Lenient`,
			"GatherND_1 GatherND-5 openvino.GatherND-5 map[batch_dims:0] GatherND_1.0 [1000,256,10,15], GatherND_1.1 [25,125,3] -> GatherND_1 [25,125,15]"},
		{`<layer id="1" type="GatherND" version="opset5">` + "\n\t" + `<data batch_dims=2 />`, "0:30 2 100 35|1:30 2 3 1|3:60 3 35",
			`m.xml:4:19: an attribute's value has no quotes; write NAME="VALUE", or read the file with Options.Lenient`,
			"GatherND_1 GatherND-5 openvino.GatherND-5 map[batch_dims:2] GatherND_1.0 [30,2,100,35], GatherND_1.1 [30,2,3,1] -> GatherND_1 [60,3,35]"},
		{`<layer id="1" type="GatherND"><data batch_dims=2 />`, "0:30 2 100 35|1:30 2 3 1|3:60 3 35", "it has no version",
			"GatherND_1 GatherND-5 openvino.GatherND-5 map[batch_dims:2] GatherND_1.0 [30,2,100,35], GatherND_1.1 [30,2,3,1] -> GatherND_1 [60,3,35]"},
		{`<layer id="1" type="Gather" ...>`, "0:6 12 10 24|1:15 4 20 28|2:|2:6 15 4 20 28 10 24",
			`m.xml:3:32: "..." stands for attributes that are left out; write them, or take it out, or read the file with Options.Lenient`,
			"Gather_1 Gather-1 openvino.Gather-1 map[] Gather_1.0 [6,12,10,24], Gather_1.1 [15,4,20,28], Gather_1.2 [] -> Gather_1 [6,15,4,20,28,10,24]"},
		{`<layer id="1" type="EmbeddingBagOffsetsSum" version="opset3">`, "0:5 2|1:4|2:3|9:3 2", "",
			"EmbeddingBagOffsetsSum_1 EmbeddingBagOffsetsSum-3 openvino.EmbeddingBagOffsetsSum-3 map[] EmbeddingBagOffsetsSum_1.0 [5,2], EmbeddingBagOffsetsSum_1.1 [4], EmbeddingBagOffsetsSum_1.2 [3] -> EmbeddingBagOffsetsSum_1 [3,2]"},
		{`<layer id="1" type="EmbeddingBagOffsetsSum" version="opset3">`, "0:5 2|1:4|2:3|3:|4:4|9:3 2", "",
			"EmbeddingBagOffsetsSum_1 EmbeddingBagOffsetsSum-3 openvino.EmbeddingBagOffsetsSum-3 map[] EmbeddingBagOffsetsSum_1.0 [5,2], EmbeddingBagOffsetsSum_1.1 [4], EmbeddingBagOffsetsSum_1.2 [3], EmbeddingBagOffsetsSum_1.3 [], EmbeddingBagOffsetsSum_1.4 [4] -> EmbeddingBagOffsetsSum_1 [3,2]"},
		{`<layer id="1" type="EmbeddingBagOffsets" version="opset15"><data reduction="MEAN"/>`, "0:5 2|1:4|2:3|3:|9:3 2", "",
			"EmbeddingBagOffsets_1 EmbeddingBagOffsets-15 openvino.EmbeddingBagOffsets-15 map[reduction:mean] EmbeddingBagOffsets_1.0 [5,2], EmbeddingBagOffsets_1.1 [4], EmbeddingBagOffsets_1.2 [3], EmbeddingBagOffsets_1.3 [] -> EmbeddingBagOffsets_1 [3,2]"},
		{`<layer id="1" type="EmbeddingBagPackedSum" version="opset3">`, "0:5 2|1:3 2|9:3 2", "",
			"EmbeddingBagPackedSum_1 EmbeddingBagPackedSum-3 openvino.EmbeddingBagPackedSum-3 map[] EmbeddingBagPackedSum_1.0 [5,2], EmbeddingBagPackedSum_1.1 [3,2] -> EmbeddingBagPackedSum_1 [3,2]"},
		{`<layer id="1" type="EmbeddingBagPacked" version="opset15"><data reduction="sum"/>`, "0:5 2|1:3 2|2:3 2|9:3 2", "",
			"EmbeddingBagPacked_1 EmbeddingBagPacked-15 openvino.EmbeddingBagPacked-15 map[reduction:sum] EmbeddingBagPacked_1.0 [5,2], EmbeddingBagPacked_1.1 [3,2], EmbeddingBagPacked_1.2 [3,2] -> EmbeddingBagPacked_1 [3,2]"},
		{`<layer id="1" type="EmbeddingSegmentsSum" version="opset3">`, "0:5 2|1:4|2:4|3:|9:3 2", "",
			"EmbeddingSegmentsSum_1 EmbeddingSegmentsSum-3 openvino.EmbeddingSegmentsSum-3 map[] EmbeddingSegmentsSum_1.0 [5,2], EmbeddingSegmentsSum_1.1 [4], EmbeddingSegmentsSum_1.2 [4], EmbeddingSegmentsSum_1.3 [] -> EmbeddingSegmentsSum_1 [3,2]"},
		{`<layer id="1" type="EmbeddingSegmentsSum" version="opset3">`, "0:5 2|1:4|2:4|3:|4:|5:4|9:3 2", "",
			"EmbeddingSegmentsSum_1 EmbeddingSegmentsSum-3 openvino.EmbeddingSegmentsSum-3 map[] EmbeddingSegmentsSum_1.0 [5,2], EmbeddingSegmentsSum_1.1 [4], EmbeddingSegmentsSum_1.2 [4], EmbeddingSegmentsSum_1.3 [], EmbeddingSegmentsSum_1.4 [], EmbeddingSegmentsSum_1.5 [4] -> EmbeddingSegmentsSum_1 [3,2]"},
		{`<layer id="1" type="Gather">`, "0:6 12|1:15|2:|2:6 15", `m.xml:3:2: layer "Gather_1" (Gather, id 1): it has no version`,
			"Gather_1 Gather-1 openvino.Gather-1 map[] Gather_1.0 [6,12], Gather_1.1 [15], Gather_1.2 [] -> Gather_1 [6,15]"},
	} {
		text := layer(tt.head, strings.Split(tt.ports, "|")...)
		m, err := read(t, text, ir.Options{})
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v; want %s", tt.head, err, tt.refused)
			}
			m, err = read(t, text, ir.Options{Lenient: true})
		}
		if err != nil {
			t.Errorf("%s: %v", tt.head, err)
			continue
		}
		if _, got, _ := strings.Cut(list(m), "\n"); strings.TrimSpace(got) != tt.want {
			t.Errorf("%s is read as\n%s; want\n%s", tt.head, got, tt.want)
		}
	}
}

// TestLenientCorpus holds which of the texts that OpenVINO refuses a lenient
// reader takes. What it makes of them is held with the corpus.
func TestLenientCorpus(t *testing.T) {
	file, err := os.Open("../../testdata/conformance/openvino-ir.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	takes := regexp.MustCompile(`version-absent|version-empty|unquoted|plus-sign|no-version`)
	refused := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ Name, IR, Weights, Error string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		weights, err := hex.DecodeString(c.Weights)
		if err != nil {
			t.Fatal(err)
		}
		for _, lenient := range []bool{false, true} {
			_, err := ir.Read("m.xml", strings.NewReader(c.IR), weights, ir.Options{Lenient: lenient})
			if want := c.Error == "" || lenient && takes.MatchString(c.Name); (err == nil) != want {
				t.Errorf("%s, lenient %v: %v", c.Name, lenient, err)
			}
			if err != nil && !regexp.MustCompile(`^garner: m\.xml:[0-9]+:[0-9]+: .+; .+`).MatchString(err.Error()) && c.Error == "model-format" {
				t.Errorf("%s: %v names no place or no remedy", c.Name, err)
			}
		}
		if c.Error != "" {
			refused++
		}
	}
	if err := lines.Err(); err != nil || refused < 20 {
		t.Errorf("%d refused texts, %v", refused, err)
	}
}

// TestSaved holds what is read of models that OpenVINO itself has saved.
func TestSaved(t *testing.T) {
	generated := regexp.MustCompile(`_[0-9]{3,}`) // names that OpenVINO counts up
	for name, want := range map[string]string{
		"embedding": `in input_ids i64[?,?]
embed Gather-8 openvino.Gather-8 map[batch_dims:0] embed.weight f32[10,4]*, input_ids i64[?,?], Constant_3 i64[]* -> hidden f32[?,?,4]
out hidden f32[?,?,4]
`,
		"embedding_i4": `in ids i32[?]
Gather Gather-8 openvino.Gather-8 map[batch_dims:0] packed i4[3,5]*, ids i32[?], Constant i32[1]* -> Gather i4[?,5]
Convert Convert-1 Gather i4[?,5] -> rows f32[?,5]
out rows f32[?,5]
`,
		"bounded": `in data f16[1..8,3,?], at i32[2..,2]
nd8 GatherND-8 openvino.GatherND-8 map[batch_dims:0] data f16[1..8,3,?], at i32[2..,2] -> out f16[2..,?]
out out f16[2..,?]
`,
		"every_version": `in data f32[2,3,4]
elements6 GatherElements-6 openvino.GatherElements-6 map[axis:1] data f32[2,3,4], along i32[2,1,4]* -> out_elements6 f32[2,1,4]
nd8 GatherND-8 openvino.GatherND-8 map[batch_dims:2] data f32[2,3,4], tuples i64[2,3,1]* -> out_nd8 f32[2,3]
nd5 GatherND-5 openvino.GatherND-5 map[batch_dims:2] data f32[2,3,4], tuples i64[2,3,1]* -> out_nd5 f32[6]
gather8 Gather-8 openvino.Gather-8 map[batch_dims:0] data f32[2,3,4], outside i64[2]*, axis i64[]* -> out_gather8 f32[2,2,4]
gather7 Gather-7 openvino.Gather-7 map[batch_dims:1] data f32[2,3,4], batched i64[2,2]*, axis i64[]* -> out_gather7 f32[2,2,4]
gather1 Gather-1 openvino.Gather-1 map[] data f32[2,3,4], plain i64[2]*, axis i64[]* -> out_gather1 f32[2,2,4]
out out_gather1 f32[2,2,4]
out out_gather7 f32[2,2,4]
out out_gather8 f32[2,2,4]
out out_nd5 f32[6]
out out_nd8 f32[2,3]
out out_elements6 f32[2,1,4]
`,
		"strings": `in ids i64[2]
pick Gather-8 openvino.Gather-8 map[batch_dims:0] words string[2,2]*, ids i64[2], Constant i64[]* -> out string[2,2]
out out string[2,2]
`,
		"branches": `in cond bool[], data f32[4,2]
choose If-8 cond bool[], data f32[4,2] -> out f32[2,2]
  then_body
  in first_rows_x f32[4,2]
  first_rows Gather-8 openvino.Gather-8 map[batch_dims:0] first_rows_x f32[4,2], Constant i64[2]*, Constant i64[]* -> Result f32[2,2]
  out Result f32[2,2]
  else_body
  in last_rows_x f32[4,2]
  last_rows Gather-8 openvino.Gather-8 map[batch_dims:0] last_rows_x f32[4,2], Constant i64[2]*, Constant i64[]* -> Result f32[2,2]
  out Result f32[2,2]
out out f32[2,2]
`,
		"loop": `in data f32[3,4]
rows TensorIterator-1 data f32[3,4] -> out f32[3,2]
  body
  in row f32[1,4]
  in_body Gather-8 openvino.Gather-8 map[batch_dims:0] row f32[1,4], Constant i64[2]*, Constant i64[]* -> Result f32[1,2]
  out Result f32[1,2]
out out f32[3,2]
`,
		"around": `in data f32[?,6], at i32[?]
Convert Convert-1 at i32[?] -> Convert i64[?]
Less Less-1 Convert i64[?], Constant i64[]* -> Less bool[?]
ShapeOf ShapeOf-3 data f32[?,6] -> ShapeOf i64[2]
number_of_rows Gather-8 openvino.Gather-8 map[batch_dims:0] ShapeOf i64[2], Constant i64[]*, Constant i64[]* -> number_of_rows i64[]
Add Add-1 Convert i64[?], number_of_rows i64[] -> Add i64[?]
Select Select-1 Less bool[?], Add i64[?], Convert i64[?] -> Select i64[?]
rows Gather-8 openvino.Gather-8 map[batch_dims:0] data f32[?,6], Select i64[?], Constant i64[]* -> rows f32[?,6]
Reshape Reshape-1 rows f32[?,6], Constant i64[3]* -> Reshape f32[?,2,3]
Transpose Transpose-1 Reshape f32[?,2,3], Constant i64[3]* -> out f32[3,?,2]
out out f32[3,?,2]
`,
	} {
		m, err := ir.Open(filepath.Join("testdata", name+".xml"), ir.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := generated.ReplaceAllString(list(m), ""); got != want {
			t.Errorf("%s is read as\n%s; want\n%s", name, got, want)
		}
		if m.Format != "OpenVINO IR" || !strings.HasPrefix(m.Producer, "OpenVINO 2026.4.1") || m.Graph.Name != name {
			t.Errorf("%s: %s by %s, named %s", name, m.Format, m.Producer, m.Graph.Name)
		}
		if err := errors.Join(m.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestRecorded runs the gathers of saved models whose indices or data are their
// inputs, and holds the answers against OpenVINO's own.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	type tensor struct {
		DType  string
		Shape  []int
		Values []any
	}
	asText := func(v tensor) string { return fmt.Sprint(v.DType, v.Shape, v.Values) }
	for _, name := range []string{"embedding", "bounded", "every_version", "strings"} {
		var recorded struct{ Inputs, Outputs map[string]tensor }
		if err := json.Unmarshal(all[name], &recorded); err != nil {
			t.Fatal(err)
		}
		m, err := ir.Open(filepath.Join("testdata", name+".xml"), ir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		value := func(v *model.Value) garner.Tensor {
			if v.Constant != nil {
				c, err := v.Constant.Tensor()
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			given := recorded.Inputs[v.Name]
			numbers := make([]float64, len(given.Values))
			for i, x := range given.Values {
				numbers[i] = x.(float64)
			}
			return numbersOf(t, given.DType, numbers, given.Shape)
		}
		for _, r := range m.Graph.Outputs {
			n := r.Value.From
			operator, err := operators.Find(n.Operator, 0)
			if err != nil {
				t.Fatal(err)
			}
			var more []operators.Input
			for _, v := range n.Inputs[2:] {
				more = append(more, operators.Input{Spec: v.Spec, Value: value(v)})
			}
			op, err := operator.Bind(n.Attributes, more...)
			if err != nil {
				t.Fatal(err)
			}
			out, err := garner.Gather(op, value(n.Inputs[0]), value(n.Inputs[1]))
			if err != nil {
				t.Errorf("%s, %s: %v", name, n.Name, err)
				continue
			}
			got := tensor{DType: recorded.Outputs[r.Name].DType, Shape: out.Shape()}
			if d, err := garner.ParseDType(got.DType); err != nil || d != out.DType() {
				t.Errorf("%s, %s: %s; want %s", name, r.Name, out.DType(), got.DType)
			}
			for i := range out.Len() {
				if out.DType() == garner.String {
					list, err := garner.Values[string](out)
					if err != nil {
						t.Fatal(err)
					}
					got.Values = append(got.Values, list[i])
					continue
				}
				v, err := out.Float64(i)
				if err != nil {
					t.Fatal(err)
				}
				got.Values = append(got.Values, v)
			}
			if got, want := asText(got), asText(recorded.Outputs[r.Name]); got != want {
				t.Errorf("%s, %s: %s; want %s", name, r.Name, got, want)
			}
		}
		m.Close()
	}
}

// numbersOf makes a tensor of numbers that the dtype holds exactly.
func numbersOf(t *testing.T, dtype string, numbers []float64, shape []int) garner.Tensor {
	t.Helper()
	switch dtype {
	case "int64":
		return converted[int64](numbers, shape)
	case "int32":
		return converted[int32](numbers, shape)
	case "float32":
		return converted[float32](numbers, shape)
	case "float16":
		halves := make([]garner.Float16, len(numbers))
		for i, v := range numbers {
			halves[i] = half(t, v)
		}
		return garner.Of(halves, shape...)
	}
	t.Fatalf("no %s", dtype)
	return garner.Tensor{}
}

func converted[T int64 | int32 | float32](numbers []float64, shape []int) garner.Tensor {
	list := make([]T, len(numbers))
	for i, v := range numbers {
		list[i] = T(v)
	}
	return garner.Of(list, shape...)
}

// half finds the half of a small multiple of a quarter.
func half(t *testing.T, v float64) garner.Float16 {
	t.Helper()
	for bits := range 1 << 16 {
		h := garner.Of([]garner.Float16{garner.Float16(bits)}, 1)
		if got, err := h.Float64(0); err == nil && got == v {
			return garner.Float16(bits)
		}
	}
	t.Fatalf("no half is %v", v)
	return 0
}

// TestConstants holds that constants lie where the file says, and are not
// copied.
func TestConstants(t *testing.T) {
	m, err := ir.Open("testdata/embedding_i4.xml", ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"testdata/embedding_i4.xml", "testdata/embedding_i4.bin"}; !slices.Equal(m.Files, want) {
		t.Errorf("the model consists of %q, want %q", m.Files, want)
	}
	defer m.Close()
	c := m.Graph.Nodes[0].Inputs[0].Constant
	table, err := c.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "packed" || c.Offset != 0 || c.Size != 8 || filepath.Base(c.File) != "embedding_i4.bin" || c.Spec.String() != "i4[3,5]" {
		t.Errorf("%+v", c)
	}
	for i, want := range []string{"-8", "-7", "-6"} {
		if got, err := table.At(0, i); err != nil || got != want {
			t.Errorf("element %d is %s, %v; want %s", i, got, err, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { c.Tensor() }); n > 4 {
		t.Errorf("a tensor takes %v allocations", n)
	}
}

// TestBits reads elements of one bit, the first of which OpenVINO keeps in the high bit,
// with and without a last byte that they do not fill.
func TestBits(t *testing.T) {
	for shape, want := range map[string]string{
		"8":  "u1[8] [0, 0, 0, 1, 1, 1, 0, 1]",
		"11": "u1[11] [0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0]",
		"3":  "u1[3] [0, 0, 0]",
		"0":  "u1[0] []",
	} {
		size := map[string]int{"8": 1, "11": 2, "3": 1, "0": 0}[shape]
		m, err := read(t, usual("</layers>", constant(7, fmt.Sprintf(`element_type="u1" shape="%s" offset="29" size="%d"`, shape, size))+"</layers>"), ir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.Constant("c7")
		if err != nil {
			t.Fatal(err)
		}
		if made, err := c.Tensor(); err != nil || made.String() != want || !c.Encoded || c.File != "" {
			t.Errorf("%s, %v; want %s", made, err, want)
		}
	}
}

// TestUnreadConstant lists a constant that nothing reads.
func TestUnreadConstant(t *testing.T) {
	m, err := read(t, usual("</layers>", constant(7, `element_type="u8" shape="2" offset="3" size="2"`)+"</layers>"), ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name := range m.Constants() {
		all = append(all, name)
	}
	c, err := m.Constant("c7")
	if err != nil || !slices.Equal(all, []string{"c1", "c2", "c7"}) {
		t.Fatalf("%q, %v", all, err)
	}
	if made, err := c.Tensor(); err != nil || made.String() != "u8[2] [3, 4]" {
		t.Errorf("%s, %v", made, err)
	}
}

// TestLarge holds that a table of 10 GB is neither read nor held.
func TestLarge(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("10 GB is more than 32 bits count")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "large.xml")
	bin, err := os.Create(filepath.Join(dir, "large.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	const rows, columns = 2_500_000, 1000
	const size int64 = 4 * rows * columns
	if err := bin.Truncate(size + 8); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("files are not sparse on Windows, and the disk has no room for 10 GB: ", err)
		}
		t.Fatal(err)
	}
	if _, err := bin.WriteAt([]byte{0, 0, 0x80, 0x3f}, size-4); err != nil {
		t.Fatal(err)
	}
	text := net(constant(1, fmt.Sprintf(`element_type="f32" shape="%d,%d" offset="0" size="%d"`, rows, columns, size))+
		constant(2, fmt.Sprintf(`element_type="i64" shape="" offset="%d" size="8"`, size))+
		gather("", 4)+result(5), "1.0>4.0 3.0>4.1 2.0>4.2 4.9>5.0")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := ir.Open(path, ir.Options{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if held := after.TotalAlloc - before.TotalAlloc; held > 4<<20 {
		t.Errorf("opening took %d bytes", held)
	}
	table, err := m.Graph.Nodes[0].Inputs[0].Constant.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table.At(rows-1, columns-1); err != nil || got != "1.0" && got != "1" {
		t.Errorf("the last element is %s, %v", got, err)
	}
}

// What texts of tests are made of. Layer 3 gives indices of i64[2].
func net(layers, edges string) string {
	var text strings.Builder
	text.WriteString("<net name=\"n\" version=\"11\">\n<layers>" + parameter(3, `shape="2" element_type="i64"`) + layers + "</layers>\n<edges>")
	for _, e := range strings.Fields(edges) {
		var a, b, c, d string
		from, to, _ := strings.Cut(e, ">")
		a, b, _ = strings.Cut(from, ".")
		c, d, _ = strings.Cut(to, ".")
		fmt.Fprintf(&text, "\n<edge from-layer=\"%s\" from-port=\"%s\" to-layer=\"%s\" to-port=\"%s\"/>", a, b, c, d)
	}
	text.WriteString("</edges></net>")
	return text.String()
}

func parameter(id int, data string) string {
	return fmt.Sprintf("\n<layer id=\"%d\" name=\"p%d\" type=\"Parameter\" version=\"opset1\"><data %s/><output><port id=\"0\" precision=\"FP32\"/></output></layer>", id, id, data)
}

// TestSpareBits holds that the last byte of a packed constant is read without the
// bits that belong to no element: they may be anything in a file.
func TestSpareBits(t *testing.T) {
	text := usual(`element_type="u8" shape="4,3" offset="8" size="12"`, `element_type="u4" shape="1,3" offset="8" size="2"`)
	bin := make([]byte, 64)
	copy(bin[8:], []byte{0x21, 0xf0})
	m, err := ir.Read("m.xml", strings.NewReader(text), bin, ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range m.Gathers() {
		table, err := n.Inputs[0].Constant.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := table.Bytes(); err != nil || !bytes.Equal(b, []byte{0x21, 0x00}) {
			t.Errorf("%s is % x, %v", table, b, err)
		}
	}
}

func constant(id int, data string) string {
	return fmt.Sprintf("\n<layer id=\"%d\" name=\"c%d\" type=\"Const\" version=\"opset1\"><data %s/><output><port id=\"0\" precision=\"FP32\"/></output></layer>", id, id, data)
}

func result(id int) string {
	return fmt.Sprintf("\n<layer id=\"%d\" name=\"r%d\" type=\"Result\" version=\"opset1\"><input><port id=\"0\"/></input></layer>", id, id)
}

func gather(data string, id int) string {
	return fmt.Sprintf("\n<layer id=\"%d\" name=\"g%d\" type=\"Gather\" version=\"opset8\">%s<input><port id=\"0\"/><port id=\"1\"/><port id=\"2\"/></input><output><port id=\"9\" precision=\"FP32\"/></output></layer>", id, id, data)
}

// usual is a model of one gather with 1 as data, 2 as the axis and 5 as result.
func usual(change ...string) string {
	text := net(constant(1, `element_type="u8" shape="4,3" offset="8" size="12"`)+constant(2, `element_type="i64" shape="" offset="0" size="8"`)+
		gather("", 4)+result(5), "1.0>4.0 3.0>4.1 2.0>4.2 4.9>5.0")
	// Elements 0 to 7 of the .bin are no small axis.
	text = strings.Replace(text, `element_type="i64" shape="" offset="0" size="8"`, `element_type="u8" shape="" offset="1" size="1"`, 1)
	return strings.NewReplacer(change...).Replace(text)
}

// TestSameError reads texts with several faults, and holds that the error names the
// same one each time: the first in the order of the format.
func TestSameError(t *testing.T) {
	for _, tt := range []struct {
		change []string
		want   string
	}{
		{[]string{"</edges>", "<edge/></edges>"}, "<edge> has no from-layer"},
		{[]string{"</edges>", `<edge to-port="x" to-layer="x" from-port="x"/></edges>`}, "<edge> has no from-layer"},
		{[]string{"</edges>", `<edge from-layer="1" to-port="x" to-layer="x" from-port="x"/></edges>`}, `<edge> has from-port="x"`},
		{[]string{`offset="8" size="12"`, ``}, "<data> has no offset"},
		{[]string{`offset="8" size="12"`, `size="x" offset="x"`}, `it has offset="x"`},
		{[]string{`element_type="u8" shape="4,3" offset="8" size="12"`, ``}, "<data> has no element_type"},
		{[]string{`type="Gather" version="opset8">`, `type="Gather" version="opset8"><data batch_dims="x" axis="x"/>`}, `it has batch_dims="x"`},
		{[]string{`type="Gather" version="opset8">`, `type="If" version="opset8">`}, "it has no <then_body>"},
	} {
		for range 20 {
			if _, err := read(t, usual(tt.change...), ir.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%q: %v; want %s", tt.change, err, tt.want)
			}
		}
	}
}

// TestManyNames holds that names which the reader makes of a layer's, and those of
// the results of one port, take memory in proportion to the file.
func TestManyNames(t *testing.T) {
	long := strings.Repeat("n", 1<<20)
	var ports, outputs, names, results, edges strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&ports, `<port id="%d"/>`, i)
		fmt.Fprintf(&outputs, `<port id="%d" precision="FP32"/>`, i)
	}
	const many = 20000
	for i := range many {
		fmt.Fprintf(&names, "a%d,", i)
		results.WriteString(result(10 + i))
		fmt.Fprintf(&edges, "1.0>%d.0 ", 10+i)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"inputs":  {net(`<layer id="1" name="`+long+`" type="Op" version="opset1"><input>`+ports.String()+`</input></layer>`, ""), "the model's names take more than"},
		"outputs": {net(`<layer id="1" name="`+long+`" type="Op" version="opset1"><output>`+outputs.String()+`</output></layer>`, ""), "the model's names take more than"},
		"results": {net(`<layer id="1" name="p" type="Parameter" version="opset1"><data element_type="f32" shape="1"/><output><port id="0" precision="FP32" names="`+names.String()+
			`"><dim>1</dim></port></output></layer>`+results.String(), edges.String()), ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := read(t, tt.text, ir.Options{})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 120<<20 {
			t.Errorf("%s: %d MiB are allocated for a file of %d bytes", name, took>>20, len(tt.text))
		}
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %.300v; want %s", name, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// Each result takes the first name that is free, in the order of their bytes.
		if first, second := m.Graph.Outputs[0].Name, m.Graph.Outputs[1].Name; first != "a0" || second != "a1" || len(m.Graph.Outputs) != many {
			t.Errorf("%d results: %s, %s", len(m.Graph.Outputs), first, second)
		}
	}
}

func TestBad(t *testing.T) {
	if m, err := read(t, usual(), ir.Options{}); err != nil || !strings.Contains(list(m), "-> g4 u8[4,2]\nout r5 u8[4,2]") {
		t.Fatalf("%v", err)
	}
	const edge = "\n<edge from-layer=\"%s\" from-port=\"%s\" to-layer=\"%s\" to-port=\"%s\"/></edges>"
	also := func(a, b, c, d string) []string { return []string{"</edges>", fmt.Sprintf(edge, a, b, c, d)} }
	tests := []struct {
		change []string
		want   string // after m.xml:
	}{
		// The text.
		{[]string{"<net", "<!DOCTYPE net [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><net"}, "1:1: a <!DOCTYPE> is not read"},
		{[]string{`name="n"`, `name="&bomb;"`}, "1:17: invalid character entity &bomb;; XML itself has only"},
		{[]string{`name="n"`, "name=\"\xff\""}, "1:13: the text is not UTF-8 here; save it as UTF-8"},
		{[]string{`name="n"`, "name=\"\x00\""}, "illegal character code U+0000; correct the text"},
		{[]string{"<net", `<?xml version="1.0" encoding="ISO-8859-1"?><net`}, "1:1: the text says that it is not UTF-8; save it as UTF-8"},
		{[]string{"<net", `<?xml version="1.1"?><net`}, `unsupported version "1.1"; only version 1.0 is supported; write it as XML 1.0`},
		{[]string{"</net>", "</net><net/>"}, "<net> follows </net>; a file holds one <net>"},
		{[]string{"</net>", "</net>&lt;junk"}, `there is text outside of <net>: "<junk"; take it out`},
		{[]string{"</net>", "</Net>"}, "element <net> closed by </Net>; correct the text"},
		{[]string{"<net", "junk<net"}, `1:1: there is text outside of <net>: "junk"`},
		{[]string{"<net", "<Model", "</net>", "</Model>"}, "1:1: the file begins with <Model>; an OpenVINO IR begins with <net>"},
		{[]string{`version="11"`, `version="7"`}, `1:1: <net> is of IR version "7"; garner reads 10 and 11`},
		{[]string{`version="11"`, `version="x"`}, `<net> is of IR version "x"`},
		{[]string{"<edges>", "<edges></edges><edges>"}, "<edges> stands there twice"},
		// Layers and ports.
		{[]string{`id="1"`, `id="3"`}, `4:1: layer "c1" (Const, id 3): it has the id of the layer in line 3`},
		{[]string{` id="5"`, ` id="-5"`}, `<layer> has id="-5", which is no number from 0 on`},
		{[]string{` id="5"`, ` id="99999999999999999999"`}, `<layer> has id="99999999999999999999"`},
		{[]string{` id="5"`, ""}, `<layer> has no id; write one`},
		{[]string{`type="Gather"`, ""}, "layer g4 (id 4) has no type; write one"},
		{[]string{`version="opset8"`, ""}, `it has no version; write version="opset1" if openvino.Gather-1 is meant, "opset7" if openvino.Gather-7, "opset8" if openvino.Gather-8, or read`},
		{[]string{`type="Result" version="opset1"`, `type="Result"`}, `it has no version; write one, such as version="opset1", or read`},
		{[]string{`version="opset8"`, `version="opset17"`}, `it has version="opset17"; Gather is in opset1 to opset16`},
		{[]string{`version="opset8"`, `version="opset08"`}, `it has version="opset08"; Gather is in opset1 to opset16`},
		{[]string{`type="Gather" version="opset8"`, `type="GatherElements" version="opset5"`}, `it has version="opset5"; GatherElements is in opset6 to opset16`},
		{[]string{`<port id="2"/>`, `<port id="1"/>`}, `layer "g4" (Gather, id 4): it has two input ports with id 1`},
		{[]string{`<port id="2"/>`, `<port/>`}, "<port> has no id"},
		{[]string{`<port id="2"/>`, `<port id="2"><dim>-2</dim></port>`}, `6:104: layer "g4" (Gather, id 4): port 2 has the dim "-2"; one is a number from 0 on, or -1`},
		{[]string{`<port id="2"/>`, `<port id="2"><dim>x</dim></port>`}, `port 2 has the dim "x"`},
		{[]string{`<port id="2"/>`, `<port id="2"><dim/></port>`}, `port 2 has the dim ""`},
		{[]string{`<port id="2"/>`, `<port id="2">` + strings.Repeat("<dim>1</dim>", 65) + `</port>`}, `port 2 has more than 64 dims`},
		{[]string{`<port id="9" precision="FP32"/>`, `<port id="9" precision="FP33"/>`}, `port 9 has precision="FP33", which is no element type`},
		{[]string{`<port id="9" precision="FP32"/>`, `<port id="9"/><port id="10"/>`}, "it has 2 output ports; a Gather has one"},
		{[]string{`</input><output>`, `</input><input/><output>`}, "it has <input> twice"},
		{[]string{`<data shape="2" element_type="i64"/>`, ""}, `layer "p3" (Parameter, id 3): it has no <data>`},
		{[]string{`shape="2" element_type="i64"`, `shape="2" element_type="i65"`}, `it has element_type="i65", which is none`},
		{[]string{`shape="2" element_type="i64"`, `shape="2,x" element_type="i64"`}, `it has shape="2,x": "x" is no dim; one is 3, -1 or ? for any`},
		{[]string{`shape="2" element_type="i64"`, `shape="-3" element_type="i64"`}, `it has shape="-3"`},
		// Edges.
		{also("77", "0", "4", "0"), "an edge comes from layer 77, which is not there"},
		{also("1", "0", "77", "0"), "an edge leads to layer 77, which is not there"},
		{also("1", "7", "4", "0"), `an edge comes from output port 7 of layer "c1" (Const, id 1), which has 0; correct from-port`},
		{also("1", "0", "4", "7"), `an edge leads to input port 7 of layer "g4" (Gather, id 4), which has 0, 1, 2; correct to-port`},
		{also("1", "0", "5", "7"), `which has 0; correct to-port`},
		{also("5", "0", "4", "0"), `an edge comes from output port 0 of layer "r5" (Result, id 5), which has none`},
		{also("1", "0", "4", "0"), `a second edge leads to input port 0 of layer "g4" (Gather, id 4), beside that of line 9; take one out`},
		{also("1", "0", "4", ""), `<edge> has to-port="", which is no number from 0 on`},
		{[]string{` to-port="2"`, ""}, "<edge> has no to-port; write one"},
		{[]string{`from-layer="1"`, `from-layer="4"`, `from-port="0" to-layer="4" to-port="0"`, `from-port="9" to-layer="4" to-port="0"`}, `9:1: the edge leads from layer "g4" (Gather, id 4) to itself; take it out`},
		{[]string{"\n<edge from-layer=\"2\" from-port=\"0\" to-layer=\"4\" to-port=\"2\"/>", ""}, `layer "g4" (Gather, id 4): no edge leads to its input port 2; write one`},
		{[]string{"\n<edge from-layer=\"4\" from-port=\"9\" to-layer=\"5\" to-port=\"0\"/>", ""}, `layer "r5" (Result, id 5): no edge leads to its input port 0`},
		{[]string{`name="r5" type="Result" version="opset1"><input><port id="0"/>`, `name="r5" type="Result" version="opset1"><input>`, `<edge from-layer="4" from-port="9" to-layer="5" to-port="0"/>`, ""}, "it has 0 input ports; a Result has one"},
		// What a gather needs.
		{[]string{`<port id="2"/>`, "", "\n<edge from-layer=\"2\" from-port=\"0\" to-layer=\"4\" to-port=\"2\"/>", ""}, "it has 2 input ports; openvino.Gather-8 has 3"},
		{[]string{`version="opset8">`, `version="opset8"><data batch_dims="x"/>`}, `it has batch_dims="x", which is no number; write one`},
		{[]string{`version="opset8">`, `version="opset8"><data batch_dims="+0"/>`}, `it has batch_dims="+0", which is no number; write one, such as batch_dims="0", or read the file with Options.Lenient`},
		{[]string{`version="opset8">`, `version="opset8"><data batch_dims="2"/>`}, `batch_dims`},
		{[]string{`element_type="u8" shape="" offset="1"`, `element_type="u8" shape="" offset="7"`}, "axis 7"},
		{[]string{`element_type="u8" shape="" offset="1" size="1"`, `element_type="f32" shape="" offset="0" size="4"`}, "openvino.Gather-8's axis is f32; it must be an integer"},
		{[]string{`element_type="u8" shape="" offset="1" size="1"`, `element_type="u8" shape="2" offset="0" size="2"`}, "openvino.Gather-8's axis is u8[2]; it must be one element"},
		{[]string{`shape="2" element_type="i64"`, `shape="2" element_type="f32"`}, "indices are f32"},
		// Constants.
		{[]string{`<data element_type="u8" shape="4,3" offset="8" size="12"/>`, ""}, `layer "c1" (Const, id 1): it has no <data>`},
		{[]string{`element_type="u8" shape="4,3" `, `shape="4,3" `}, "<data> has no element_type"},
		{[]string{`element_type="u8" shape="4,3" `, `element_type="u8" `}, "<data> has no shape"},
		{[]string{`shape="4,3" offset="8"`, `shape="4,3"`}, "<data> has no offset"},
		{[]string{` size="12"`, ""}, "<data> has no size"},
		{[]string{`element_type="u8" shape="4,3"`, `element_type="zz" shape="4,3"`}, `it has element_type="zz", which is none`},
		{[]string{`element_type="u8" shape="4,3"`, `element_type="u3" shape="4,3"`}, `it has element_type="u3", for which garner has no tensors`},
		{[]string{`element_type="u8" shape="4,3"`, `element_type="dynamic" shape="4,3"`}, `for which garner has no tensors`},
		{[]string{`shape="4,3"`, `shape="4,-3"`}, `it has shape="4,-3": "-3" is no number from 0 on`},
		{[]string{`shape="4,3"`, `shape="4,,3"`}, `it has shape="4,,3": "" is no number`},
		{[]string{`shape="4,3"`, `shape="4,4"`}, `it is u8[4,4] and has size=12; that many elements take 16; correct shape or size`},
		{[]string{`shape="4,3"`, `shape="4611686018427387904,4611686018427387904"`}, ""},
		{[]string{`size="12"`, `size="-1"`}, `it has size="-1", which is no number of bytes`},
		{[]string{`offset="8" size="12"`, `offset="60" size="12"`}, "its elements are 12 bytes from offset 60 on, and the .bin has 64 bytes; copy it again"},
		{[]string{`offset="8" size="12"`, `offset="9223372036854775807" size="9223372036854775807"`}, "its elements are 9223372036854775807 bytes from offset 9223372036854775807 on"},
		{[]string{`offset="8" size="12"`, `offset="18446744073709551615" size="12"`}, `it has offset="18446744073709551615"`},
		{[]string{`element_type="u8" shape="4,3" offset="8" size="12"`, `element_type="u8" shape="0" offset="65" size="0"`}, "0 bytes from offset 65 on"},
		// Graphs in layers.
		{[]string{`type="Gather"`, `type="TensorIterator"`}, "it has no <body>; write one"},
		{[]string{`type="Gather" version="opset8">`, `type="If" version="opset8"><then_body/>`}, "it has no <else_body>; write one"},
		{[]string{`type="Gather" version="opset8">`, `type="Loop" version="opset5"><body><layers>` + result(7) + `</layers></body>`}, `layer "r7" (Result, id 7): no edge leads to its input port 0`},
	}
	for _, tt := range tests {
		text := usual(tt.change...)
		if text == usual() {
			t.Errorf("%q changes nothing", tt.change)
		}
		m, err := read(t, text, ir.Options{})
		if err == nil {
			t.Errorf("%q is read:\n%s", tt.change, list(m))
			continue
		}
		var at *model.Error
		if !errors.As(err, &at) || at.Path != "m.xml" || at.Line < 1 || at.Column < 1 || !strings.HasPrefix(err.Error(), "garner: m.xml:") {
			t.Errorf("%q: %v has no place", tt.change, err)
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v; want %s", tt.change, err, tt.want)
		}
	}
	for _, text := range []string{"", " \n", "<!-- -->", `<?xml version="1.0"?>`} {
		if _, err := read(t, text, ir.Options{}); err == nil || !strings.Contains(err.Error(), "there is no <net>") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := read(t, "\xff\xfe<\x00n\x00", ir.Options{}); err == nil || !strings.Contains(err.Error(), "m.xml:1:1: the text is UTF-16; save it as UTF-8") {
		t.Error(err)
	}
}

// TestAccepted holds texts that OpenVINO reads, and what it makes of them.
func TestAccepted(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change []string
		want   string
	}{
		{"a mark before the text", []string{"<net", "\ufeff<net"}, "-> g4 u8[4,2]\n"},
		{"no version of <net>", []string{` version="11"`, ""}, "out r5 u8[4,2]\n"},
		{"results of version 10", []string{`version="11"`, `version="10"`}, "out g4 u8[4,2]\n"},
		{"a result's own name", []string{`type="Result"`, `type="Result" output_names="y,x"`}, "out x u8[4,2]\n"},
		{"names of ports", []string{`<port id="9" `, `<port id="9" names="b,a\,c" `}, "-> a,c u8[4,2]\nout a,c u8[4,2]\n"},
		{"types in any case", []string{`type="Gather"`, `type="gather"`, `"Const"`, `"const"`}, "g4 Gather-8 openvino.Gather-8"},
		{"stale dims and precision", []string{`<port id="9" precision="FP32"/>`, `<port id="9" precision="I64"><dim>7</dim><dim>7</dim></port>`}, "-> g4 u8[4,2]\n"},
		{"unknown attributes", []string{`version="opset8">`, `version="opset8"><data batch_dims="0" colour="red"/>`}, "map[batch_dims:0]"},
		{"first data, first attribute", []string{`version="opset8">`, `version="opset8"><data batch_dims="0" batch_dims="1"/><data batch_dims="1"/>`}, "map[batch_dims:0]"},
		{"a longer size", []string{`size="12"`, `size="50"`}, "c1 u8[4,3]*"},
		{"no elements, at the end", []string{`element_type="u8" shape="4,3" offset="8" size="12"`, `element_type="u8" shape="4,0" offset="64" size="0"`}, "c1 u8[4,0]*"},
		{"a shared port id", []string{`id="9"`, `id="2"`, `from-port="9"`, `from-port="2"`}, "-> g4 u8[4,2]\n"},
		{"a type not known before", []string{`shape="2" element_type="i64"`, `shape="2"`}, "p3 [2], c2 u8[]* -> g4 u8[4,2]\n"},
		{"an unknown rank", []string{`shape="2" element_type="i64"`, `shape="..." element_type="i64"`}, "p3 i64[...], c2 u8[]* -> g4 u8[...]\n"},
		{"a scalar", []string{`shape="2" element_type="i64"`, `shape="" element_type="i64"`}, "p3 i64[], c2 u8[]* -> g4 u8[4]\n"},
		{"bounds", []string{`shape="2" element_type="i64"`, `shape="1..5,?" element_type="i64"`}, "p3 i64[1..5,?], c2 u8[]* -> g4 u8[4,1..5,?]\n"},
		{"a dead layer with a wrong type", []string{`from-layer="4" from-port="9"`, `from-layer="3" from-port="0"`, `element_type="i64"/>`, `element_type="f32"/>`}, "p3 f32[2], c2 u8[]* -> g4 f32[]\nout r5 f32[2]\n"},
		{"a dead layer without edges", []string{"</layers>", gather("", 70) + "</layers>"}, "g70 Gather-8 openvino.Gather-8 map[] g70.0 [], g70.1 [], g70.2 [] -> g70 f32[]"},
		{"two of one name", []string{"</layers>", strings.Replace(parameter(80, `shape="1"`), "p80", "p3", 1) + "</layers>"}, "in p3 i64[2], p3_80 [1]\n"},
		{"data of a type not known before", []string{`<data element_type="u8" shape="4,3" offset="8" size="12"/>`, `<data element_type="dynamic" shape="4,3"/>`, `"Const" version="opset1"><data element_type="dynamic"`, `"Parameter" version="opset1"><data element_type="dynamic"`,
			`name="c1" type="Const"`, `name="c1" type="Parameter"`}, "c1 [4,3], p3 i64[2], c2 u8[]* -> g4 [4,2]\n"},
		{"another operator", []string{`type="Gather"`, `type="Foo"`}, "g4 Foo-8 c1 u8[4,3]*, p3 i64[2], c2 u8[]* -> g4 f32[]\n"},
		{"a plugin's operator", []string{`type="Gather" version="opset8"`, `type="Foo" version="extension"`}, "g4 Foo-0 c1"},
		{"a result that hands on", []string{"</layers>", result(81) + "</layers>", `version="opset1"><input><port id="0"/></input></layer>`, `version="opset1"><input><port id="0"/></input><output><port id="1"/></output></layer>`,
			"</edges>", `<edge from-layer="5" from-port="1" to-layer="81" to-port="0"/></edges>`}, "out r81 u8[4,2]\n"},
		{"differing extents of a batch", []string{`version="opset8">`, `version="opset8"><data batch_dims="1"/>`, `shape="2" element`, `shape="3,2" element`}, "map[batch_dims:1] c1 u8[4,3]*, p3 i64[3,2], c2 u8[]* -> g4 u8[3,2]\n"},
		{"a comment in a dim", []string{`<port id="9" precision="FP32"/>`, `<port id="9" precision="FP32"><dim>4<!-- rows --></dim><dim>2</dim></port>`}, "-> g4 u8[4,2]\n"},
		{"what stands elsewhere", []string{"<edges>", "<foo><layer/></foo><edges><foo/>", `version="opset8">`, `version="opset8"><rt_info><data x="1"/></rt_info>`}, "-> g4 u8[4,2]\n"},
	} {
		m, err := read(t, usual(tt.change...), ir.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if got := list(m); !strings.Contains(got, tt.want) {
			t.Errorf("%s is read as\n%s; want in it\n%s", tt.name, got, tt.want)
		}
	}
}

// TestOrder holds that nodes come after what they read, whatever the file's
// order, and that a chain of many is no reason for as many calls; a cycle is
// found at any length.
func TestOrder(t *testing.T) {
	const many = 20000
	var layers, edges strings.Builder
	for i := range many {
		fmt.Fprintf(&layers, `<layer id="%d" name="n" type="Relu" version="opset1"><input><port id="0"/></input><output><port id="1"/></output></layer>`, 100+i)
		fmt.Fprintf(&edges, " %d.1>%d.0", 100+i+1, 100+i)
	}
	text := func(last string) string {
		return net(layers.String()+result(5), strings.Replace(edges.String(), fmt.Sprintf("%d.1", 100+many), last, 1)+" 100.1>5.0")
	}
	m, err := read(t, text("3.0"), ir.Options{})
	if err != nil || len(m.Graph.Nodes) != many {
		t.Fatal(err)
	}
	seen := make(map[*model.Node]bool)
	for _, n := range m.Graph.Nodes {
		if from := n.Inputs[0].From; from != nil && !seen[from] {
			t.Fatal("a node stands before what it reads")
		}
		seen[n] = true
	}
	if _, err := read(t, text("100.1"), ir.Options{}); err == nil || !strings.Contains(err.Error(), `the edge closes a cycle: layer "n" (Relu, id 100) needs n, which needs n, which needs n, which needs n, which needs n, which needs 19994 more, which needs n`) {
		t.Errorf("%.300v", err)
	}
}

// TestBodies holds what a body knows of its layer's inputs: an input that is
// handed on as it is keeps its constant, one that is sliced or changes does not.
func TestBodies(t *testing.T) {
	body := func(maps string) string {
		return usual(`type="Gather" version="opset8">`, `type="Loop" version="opset5"><port_map>`+maps+`</port_map><back_edges><edge from-layer="5" to-layer="8"/></back_edges><body>`+
			strings.NewReplacer("<net name=\"n\" version=\"11\">", "", "</net>", "").Replace(
				net(parameter(7, `shape="9,9" element_type="u8"`)+parameter(8, `shape="" element_type="i64"`)+gather("", 4)+result(5), "7.0>4.0 3.0>4.1 8.0>4.2 4.9>5.0"))+`</body>`)
	}
	for maps, want := range map[string]string{
		``: "in p3 i64[2], p7 u8[9,9], p8 i64[]\n",
		`<input external_port_id="0" internal_layer_id="7"/>`:                                                      "in p3 i64[2], p7 u8[4,3]*, p8 i64[]\n",
		`<input external_port_id="0" internal_layer_id="7" axis="0"/>`:                                             "in p3 i64[2], p7 u8[9,9], p8 i64[]\n",
		`<input external_port_id="2" internal_layer_id="8"/>`:                                                      "in p3 i64[2], p7 u8[9,9], p8 i64[]\n",
		`<input external_port_id="-1" internal_layer_id="7"/><input external_port_id="50" internal_layer_id="7"/>`: "in p3 i64[2], p7 u8[9,9], p8 i64[]\n",
	} {
		m, err := read(t, body(maps), ir.Options{})
		if err != nil {
			t.Errorf("%s: %v", maps, err)
		} else if got := list(m); !strings.Contains(got, "  body\n  "+want) {
			t.Errorf("%s is read as\n%s; want in it\n%s", maps, got, want)
		}
	}
}

func TestAttributes(t *testing.T) {
	m, err := read(t, usual(`type="Gather" version="opset8">`, `type="Foo" version="opset8"><data axis="-1" special_zero="True" keep_dims="0" begin_mask="1, 0,1" end_mask="" new_axis_mask="1,x" batch_dims="x" transpose_a="maybe" mode="12" xmlns:a="b" a:axis="3"/>`), ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "map[axis:-1 batch_dims:x begin_mask:[1 0 1] end_mask:[] keep_dims:false mode:12 new_axis_mask:1,x special_zero:true transpose_a:maybe]"
	if got := fmt.Sprint(m.Graph.Nodes[0].Attributes); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestFiles holds what Open says of files: none, folders, a .bin that is missing
// or cut short.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.xml")
	if _, err := ir.Open(path, ir.Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "garner: there is no file") {
		t.Error(err)
	}
	if _, err := ir.Open(dir, ir.Options{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("m.xml", usual())
	if _, err := ir.Open(path, ir.Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `m.xml:4:55: layer "c1"`) || !strings.Contains(err.Error(), "m.bin; check the name") {
		t.Error(err)
	}
	for size := range 20 {
		write("m.bin", strings.Repeat("\x01", size))
		if _, err := ir.Open(path, ir.Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("m.bin has %d bytes; copy it again", size)) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	write("m.bin", strings.Repeat("\x01", 20))
	m, err := ir.Open(path, ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	// Without constants nobody looks for a .bin.
	write("m.xml", net(result(5), "3.0>5.0"))
	if err := os.Remove(filepath.Join(dir, "m.bin")); err != nil {
		t.Fatal(err)
	}
	if m, err = ir.Open(path, ir.Options{}); err != nil {
		t.Fatal(err)
	}
	m.Close()
	write("m.xml", net(constant(1, `element_type="f32" shape="0" offset="0" size="0"`)+result(5), "1.0>5.0"))
	if m, err = ir.Open(path, ir.Options{}); err != nil {
		t.Fatal(err)
	}
	m.Close()
}

func TestStrings(t *testing.T) {
	packed := func(bytes ...byte) (string, error) {
		m, err := ir.Read("m.xml", strings.NewReader(net(constant(1, fmt.Sprintf(`element_type="string" shape="2" offset="0" size="%d"`, len(bytes)))+result(5), "1.0>5.0")), bytes, ir.Options{})
		if err != nil {
			return "", err
		}
		c, err := m.Graph.Outputs[0].Value.Constant.Tensor()
		return c.String(), err
	}
	good := []byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'a', 0xc3, 0xbc}
	if got, err := packed(good...); err != nil || !strings.Contains(got, `"a"`) || !strings.Contains(got, "ü") {
		t.Errorf("%s, %v", got, err)
	}
	for _, tt := range []struct {
		at    int
		value byte
		want  string
	}{
		{0, 3, "do not begin with the number of its strings"}, {3, 0x80, "do not begin with the number"},
		{12, 4, "go down, or beyond its bytes"}, {8, 4, "go down, or beyond"}, {15, 0xff, "go down, or beyond"}, {17, 0xff, "is not UTF-8"},
	} {
		bad := append([]byte{}, good...)
		bad[tt.at] = tt.value
		if got, err := packed(bad...); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `m.xml:4:55: layer "c1"`) {
			t.Errorf("byte %d as %d: %s, %v", tt.at, tt.value, got, err)
		}
	}
	for n := range len(good) {
		if got, err := packed(good[:n]...); err == nil {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}

// FuzzOpen holds that no text makes the reader panic, and that what it reads is
// whole: what a node reads stands before it, and constants have their elements.
func FuzzOpen(f *testing.F) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		bin, err := os.ReadFile(strings.TrimSuffix(file, ".xml") + ".bin")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), bin, false)
	}
	f.Add(usual(), make([]byte, 64), false)
	f.Add(layer(`<layer id="1" type="Gather" ...>`, "0:6 12", "1:15", "2:", "2:6 15"), []byte{}, true)
	f.Add(layer(`<layer id="1" type="GatherND"><data batch_dims=2 />`, "0:30 2 100 35", "1:30 2 3 1", "3:60 3 35"), []byte{}, true)
	f.Fuzz(func(t *testing.T, text string, bin []byte, lenient bool) {
		m, err := ir.Read("m.xml", strings.NewReader(text), bin, ir.Options{Lenient: lenient})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "garner: m.xml:") || strings.Count(err.Error(), "garner: ") != 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		defer m.Close()
		list(m)
		done := make(map[*model.Node]bool)
		for n := range m.Nodes() {
			if n.IsGather() {
				if _, err := operators.Find(n.Operator, 0); err != nil || len(n.Inputs) < 2 || len(n.Outputs) != 1 {
					t.Fatalf("%s %v", n.Operator, err)
				}
			}
			for _, v := range n.Inputs {
				if v.From != nil && !done[v.From] {
					t.Fatal("a node stands before what it reads")
				}
				if c := v.Constant; c != nil && c.Spec.DType != garner.String {
					if _, err := c.Tensor(); err != nil {
						t.Fatal(err)
					}
				} else if c != nil {
					c.Tensor()
				}
			}
			done[n] = true
		}
		if !lenient {
			if _, err := ir.Read("m.xml", strings.NewReader(text), bin, ir.Options{Lenient: true}); err != nil {
				t.Fatalf("only a strict reader takes it: %v", err)
			}
		}
	})
}

// TestBagsRefused holds what a layer of a bag may not lack, and that the pattern
// openvino.compressed-gather is no layer.
func TestBagsRefused(t *testing.T) {
	for _, tt := range []struct{ head, ports, want string }{
		{`<layer id="1" type="EmbeddingBagOffsetsSum" version="opset3">`, "0:5 2|1:4|9:3 2", "it has 2 input ports; openvino.EmbeddingBagOffsetsSum-3 has 3 to 5"},
		{`<layer id="1" type="EmbeddingBagPacked" version="opset15">`, "0:5 2|1:4 2|2:4 2|3:1|9:3 2", "it has 4 input ports; openvino.EmbeddingBagPacked-15 has 2 to 3"},
		{`<layer id="1" type="EmbeddingSegmentsSum" version="opset3">`, "0:5 2|1:4|2:4|9:3 2", "it has 3 input ports; openvino.EmbeddingSegmentsSum-3 has 4 to 6"},
		{`<layer id="1" type="EmbeddingBagPacked" version="opset14">`, "0:5 2|1:4 2|9:3 2", `it has version="opset14"; EmbeddingBagPacked is in opset15 to opset16`},
		{`<layer id="1" type="compressed-gather" version="opset8">`, "0:5 2|1:4|2:5 1|9:4 2", ""},
	} {
		m, err := read(t, layer(tt.head, strings.Split(tt.ports, "|")...), ir.Options{})
		switch {
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v; want %s", tt.head, err, tt.want)
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.head, err)
		case tt.want == "" && m.Graph.Nodes[0].IsGather():
			t.Errorf("%s is read as a gather", tt.head)
		}
	}
}
