// Package calls lists calls of every operator, for the tests of what shows calls: as code,
// as answers, as tables.
package calls

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/play/code"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// A form is a call for each operator of a kind that takes its values, or for those named.
type form struct {
	title         string
	kind          operators.Kind
	only          string // names of operators, separated by spaces; "": all of the kind without needed operands
	data, indices string // literals
	values        map[string]any
	operands      map[string]string
}

type values = map[string]any

// forms are what a call can be: every kind, type, axis, batches, tuples, windows, bags,
// stored elements.
var forms = []form{
	{title: "rows", kind: operators.Gather, data: "f32[[1,2],[3,4],[5,6]]", indices: "[2,0]"},
	{title: "a negative index", kind: operators.Gather, data: "f32[[1,2],[3,4],[5,6]]", indices: "[0,-1]"},
	{title: "an index past the end", kind: operators.Gather, data: "f32[[1,2],[3,4],[5,6]]", indices: "[0,3]"},
	{title: "an index below", kind: operators.Gather, data: "f32[[1,2],[3,4],[5,6]]", indices: "[0,-4]"},
	{title: "columns", kind: operators.Gather, data: "i32[[1,2],[3,4],[5,6]]", indices: "i64[1,1]", values: values{"axis": -1}},
	{title: "a scalar index", kind: operators.Gather, data: "[7,8,9]", indices: "i64(1)"},
	{title: "a scalar index of strings", kind: operators.Gather, data: `["a","b"]`, indices: "i64(1)"},
	{title: "a matrix of indices", kind: operators.Gather, data: "f32[[1,2],[3,4],[5,6]]", indices: "i32[[2,0],[1,1]]"},
	{title: "batches", kind: operators.Gather, data: "f32[[1,2],[3,4]]", indices: "[[1],[0]]", values: values{"axis": 1, "batch_dims": 1}},
	{title: "no index", kind: operators.Gather, data: "f32[[1,2],[3,4]]", indices: "[]"},
	{title: "numbers without a literal", kind: operators.Gather, data: "f32[[NaN,-0.0],[Infinity,0.1],[-Infinity,3e38]]", indices: "[0,2,1]"},
	{title: "hostile strings", kind: operators.Gather, data: `["it's", "\"); import os #", "\n\\", "$(exit) ` + "`exit`" + ` 世界"]`, indices: "[3,2,1,0]"},
	{title: "indices of 8 bits", kind: operators.Gather, data: "f32[[1,2],[3,4],[5,6]]", indices: "u8[2,0]"},
	{title: "elements at tuples", kind: operators.GatherND, data: "f32[[1,2],[3,4]]", indices: "[[0,1],[1,0]]"},
	{title: "rows at tuples", kind: operators.GatherND, data: "i64[[1,2],[3,4]]", indices: "[[1],[0]]"},
	{title: "a tuple past the end", kind: operators.GatherND, data: "f32[[1,2],[3,4]]", indices: "[[0,1],[2,0]]"},
	{title: "a negative tuple", kind: operators.GatherND, data: "f32[[1,2],[3,4]]", indices: "[[0,-1],[1,0]]"},
	{title: "tuples in batches", kind: operators.GatherND, data: "f32[[1,2],[3,4]]", indices: "[[1],[0]]", values: values{"batch_dims": 1}},
	{title: "elements of columns", kind: operators.Elements, data: "f32[[1,2],[3,4]]", indices: "[[1,0],[0,0]]", values: values{"axis": 1}},
	{title: "elements of rows", kind: operators.Elements, data: "f64[[1,2],[3,4]]", indices: "[[1,0],[0,0]]", values: values{"axis": 0}},
	{title: "a negative element", kind: operators.Elements, data: "f32[[1,2],[3,4]]", indices: "[[-1,0],[0,1]]", values: values{"axis": 1}},
	{title: "an element past the end", kind: operators.Elements, data: "f32[[1,2],[3,4]]", indices: "[[0,2],[0,1]]", values: values{"axis": 1}},
	{title: "elements of vectors", kind: operators.Elements, only: "numpy.take_along_axis jax.numpy.take_along_axis", data: "[[1,2],[3,4]]", indices: "[3,0]", values: values{"axis": nil}},

	{title: "mode wrap", only: "numpy.take jax.numpy.take", data: "f32[1,2,3]", indices: "[3,-1,5]", values: values{"mode": "wrap"}},
	{title: "mode clip", only: "numpy.take jax.numpy.take", data: "f32[1,2,3]", indices: "[3,-1,5]", values: values{"mode": "clip", "axis": 0}},
	{title: "a fill value", only: "jax.numpy.take", data: "i32[1,2,3]", indices: "[0,5]", values: values{"fill_value": 7}},
	{title: "bad indices ignored", only: "tensorflow.GatherNd tensorflow.gather_nd", data: "f32[1,2,3]", indices: "[[0],[5]]", values: values{"bad_indices_policy": "IGNORE"}},
	{title: "more than is printed unasked", only: "numpy.take", data: "0:1001", indices: "0:1001", values: values{"axis": 0}},
	{title: "more lists than are printed unasked", only: "numpy.take", data: "f32[" + strings.Repeat("[],", literal.Printed) + "[]]", indices: "0:1001", values: values{"axis": 0}},
	{title: "windows", only: "stablehlo.gather jax.lax.gather", data: "f32[1,2,3,4]", indices: "[[1],[2]]", values: values{"offset_dims": []int{1}, "start_index_map": []int{0}, "index_vector_dim": 1, "slice_sizes": []int{2}}},
	{title: "windows past the end", only: "stablehlo.gather jax.lax.gather", data: "f32[1,2,3,4]", indices: "[[0],[3]]", values: values{"offset_dims": []int{1}, "start_index_map": []int{0}, "index_vector_dim": 1, "slice_sizes": []int{2}}},
	{title: "windows of a matrix, clipped", only: "jax.lax.gather", data: "f32[[1,2,3],[4,5,6]]", indices: "[[0,9]]",
		values: values{"offset_dims": []int{1}, "collapsed_slice_dims": []int{0}, "start_index_map": []int{0, 1}, "slice_sizes": []int{1, 2}, "mode": "clip"}},
	{title: "windows along dim 0 of the indices", only: "stablehlo.gather", data: "f32[[1,2,3],[4,5,6]]", indices: "[[0,1],[2,0]]",
		values: values{"collapsed_slice_dims": []int{0, 1}, "start_index_map": []int{0, 1}, "slice_sizes": []int{1, 1}}},

	{title: "weighted bags", only: "openvino.EmbeddingBagOffsetsSum-3 torch.embedding_bag", data: "f32[[1,2],[3,4],[5,6]]", indices: "[2,0,1]",
		values: values{"mode": "sum"}, operands: map[string]string{"offsets": "[0,2]", "per_sample_weights": "f32[2,1,0.5]"}},
	{title: "bags with a default", only: "openvino.EmbeddingBagOffsets-15", data: "f32[[1,2],[3,4],[5,6]]", indices: "[2,0,1]",
		values: values{"default_index": 1}, operands: map[string]string{"offsets": "[0,0,2]"}},
	{title: "the greatest of bags", only: "torch.embedding_bag", data: "f32[[1,2],[3,4],[5,6]]", indices: "[2,0,1]",
		values: values{"mode": "max", "include_last_offset": true, "padding_idx": 0}, operands: map[string]string{"offsets": "[0,2,3]"}},
	{title: "bags of narrow indices", only: "openvino.EmbeddingBagOffsetsSum-3 openvino.EmbeddingBagOffsets-15", data: "f32[[1,2],[3,4],[5,6]]", indices: "i32[2,0,1]",
		operands: map[string]string{"offsets": "i32[0,2]"}},
	{title: "a bag past the end", only: "torch.embedding_bag openvino.EmbeddingBagOffsets-15", data: "f32[[1,2],[3,4]]", indices: "[2,0,1]",
		values: values{"mode": "sum"}, operands: map[string]string{"offsets": "[0,2]"}},
	{title: "weighted lookups", only: "tensorflow.embedding_lookup_sparse tensorflow.safe_embedding_lookup_sparse", data: "f32[[1,2],[3,4],[5,6]]", indices: "[2,0,1]",
		values: values{"combiner": "mean", "dense_shape": []int{2, 2}}, operands: map[string]string{"ids_indices": "[[0,0],[0,1],[1,0]]", "weights": "f32[3,1,0.5]"}},
	{title: "lookups of narrow ids", only: "tensorflow.embedding_lookup_sparse tensorflow.safe_embedding_lookup_sparse", data: "f32[[1,2],[3,4],[5,6]]", indices: "i32[2,0,1]",
		values: values{"combiner": "sum", "dense_shape": []int{2, 2}}, operands: map[string]string{"ids_indices": "i32[[0,0],[0,1],[1,0]]"}},
	{title: "segments of narrow indices", only: "openvino.EmbeddingSegmentsSum-3 tensorflow.sparse_segment_sum torch.embedding_bag", data: "f32[[1,2],[3,4],[5,6]]", indices: "i32[2,0,1]",
		values: values{"num_segments": 2, "mode": "sum"}, operands: map[string]string{"segment_ids": "i32[0,0,1]", "offsets": "i32[0,2]"}},
	{title: "blocks with zero points", only: "com.microsoft.GatherBlockQuantized-1", data: "u4[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0],[3,15,0,1,3,15,0,1,3,15,0,1,3,15,0,1]]", indices: "[1,0]",
		values: values{"block_size": 16, "quantize_axis": 1}, operands: map[string]string{"scales": "f32[[0.5],[2]]", "zero_points": "u4[[8],[7]]"}},
	{title: "a compressed table with zero points", only: "openvino.compressed-gather", data: "u8[[1,2],[3,15]]", indices: "[1,0]",
		operands: map[string]string{"scale": "f32[[0.5],[2]]", "zero_point": "u8[[1],[2]]"}},
}

// dtypes are data whose type is the question.
var dtypes = []string{
	"bool[true,false,true]", "i8[-1,2,3]", "u8[1,2,255]", "i16[1,-2,3]", "u16[1,2,65535]", "i32[1,-2,3]", "u32[1,2,4294967295]", "i64[1,-2,9007199254740993]",
	"u64[1,2,18446744073709551615]", "f16[0.1,2,3]", "bf16[0.1,2,3]", "f64[0.1,2,1e300]", "complex64[1+2i,-0.5i,3]", "complex128[1+2i,NaN,3]",
	"f8e4m3fn[0.5,2,448]", "f8e5m2[0.5,2,3]", "i4[-8,2,7]", "u4[1,2,15]", "f4e2m1[0.5,2,6]",
}

// A Call is one call of one operator, with what garner answers.
type Call struct {
	Title    string
	Operator operators.Operator
	Call     code.Call
	Reach    recorded.Reach
	Want     garner.Tensor // the zero Tensor where Err says more
	Err      error         // garner's refusal
	Plan     *garner.Plan  // nil where the operands have none
}

// Recorded is the call as package recorded takes it.
func (c Call) Recorded() recorded.Call {
	return recorded.Call{Operator: c.Operator, Values: c.Call.Values, Plan: c.Plan, Data: c.Call.Data, Indices: c.Call.Indices, Further: c.Call.Operands}
}

// All lists the calls: each operator's own example, and the forms with each operator that
// they fit. An error is one of this package's list.
func All() ([]Call, error) {
	var all []Call
	for _, o := range operators.All() {
		l, _, err := Example(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		c, err := form{title: "its example", data: l.Data, indices: l.Indices, values: l.Values, operands: l.Operands}.call(o)
		if err != nil {
			return nil, fmt.Errorf("%s: its example: %w", o.Name, err)
		}
		all = append(all, c)
	}
	list := slices.Clone(forms)
	for _, text := range dtypes {
		title, _, _ := strings.Cut(text, "[")
		list = append(list, form{title: "data of " + title, kind: operators.Gather, data: text, indices: "[2,0]"})
	}
	for _, f := range list {
		fitting := 0
		for _, o := range operators.All() {
			if !f.fits(o) {
				continue
			}
			fitting++
			c, err := f.call(o)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", f.title, o.Name, err)
			}
			if c.Err == nil || c.Reach != recorded.Inside { // a call of other shapes is no call of this operator
				all = append(all, c)
			}
		}
		if fitting == 0 {
			return nil, fmt.Errorf("%s: no operator takes it", f.title)
		}
	}
	return all, nil
}

// Receipt names a text of the call beside garner's answer to it: what was run under this
// name was this text, and was compared with this answer.
func (c Call) Receipt(text string) string {
	answer := "an error"
	if c.Err == nil {
		answer = c.Want.DType().String() + c.Want.Shape().String() + c.Want.Text()
	}
	sum := sha256.Sum256([]byte(text + "\x00" + answer))
	return hex.EncodeToString(sum[:8])
}

// fits reports whether an operator is one that the form is for.
func (f form) fits(o operators.Operator) bool {
	if f.only != "" {
		return slices.Contains(strings.Fields(f.only), o.Name)
	}
	if o.Kind != f.kind || o.Needs() > 1 || strings.HasPrefix(o.Name, "gguf.") || strings.Contains(o.Name, "quantized") || len(o.Further()) > 0 || strings.Contains(o.Shape, "window") {
		return false
	}
	for name := range f.values {
		if _, ok := nameOf(o, name); !ok {
			return false
		}
	}
	return true
}

// nameOf gives the name that an operator has for an attribute.
func nameOf(o operators.Operator, name string) (string, bool) {
	for _, n := range []string{name, map[string]string{"axis": "dim"}[name]} {
		if n != "" && (slices.Contains(o.Attributes(), n) || slices.Contains(o.Inputs(), n)) {
			return n, true
		}
	}
	return "", false
}

func (f form) call(o operators.Operator) (Call, error) {
	c := Call{Title: f.title, Operator: o}
	c.Call.Values = map[string]any{}
	for name, v := range f.values {
		if n, ok := nameOf(o, name); ok {
			c.Call.Values[n] = v
		}
	}
	var err error
	if c.Call.Data, err = literal.Parse(f.data, garner.Invalid); err != nil {
		return c, err
	}
	if f.indices != "" {
		if c.Call.Indices, err = literal.Parse(f.indices, garner.Invalid); err != nil {
			return c, err
		}
	}
	for _, name := range o.Further() {
		var t garner.Tensor
		if text, ok := f.operands[name]; ok {
			if t, err = literal.Parse(text, garner.Invalid); err != nil {
				return c, err
			}
		}
		c.Call.Operands = append(c.Call.Operands, t)
	}
	return c, c.answer()
}

// answer asks garner.
func (c *Call) answer() error {
	op, err := c.Operator.New(c.Call.Values)
	if err != nil {
		return err
	}
	c.Want, c.Err = garner.Gather(op, c.Call.Data, c.Call.Indices, c.Call.Operands...)
	c.Reach = recorded.Inside
	if p, err := c.Call.Prepare(op); err == nil && p.Plan() != nil {
		c.Plan = p.Plan()
		if c.Reach, err = recorded.ReachOf(p.Plan(), c.Call.Indices, c.Call.Operands...); err != nil {
			return err
		}
	}
	return nil
}

// A Line is a call as a command line has it: literals, and values by their names.
type Line struct {
	Data, Indices string // Indices are "" where there are none
	Values        map[string]any
	Operands      map[string]string
}

// Example reads an operator's own example, which is a part of a command line: the call,
// and what it prints.
func Example(o operators.Operator) (l Line, prints string, err error) {
	text, prints, ok := strings.Cut(o.Example, "   # ")
	if !ok {
		return l, "", fmt.Errorf("the example %s says not what it prints", o.Example)
	}
	l.Values, l.Operands = values{}, map[string]string{}
	words, err := split(text)
	for i := 0; i < len(words) && err == nil; i++ {
		switch word := words[i]; {
		case strings.HasPrefix(word, "--") && i+1 == len(words):
			err = fmt.Errorf("nothing follows %s in %s", word, text)
		case word == "--axis", word == "--batch-dims":
			i++
			name, _ := nameOf(o, strings.ReplaceAll(word[2:], "-", "_"))
			l.Values[name], err = strconv.Atoi(words[i])
		case word == "--attr":
			i++
			name, v, _ := strings.Cut(words[i], "=")
			l.Values[name] = valueOf(v)
		case word == "--operand":
			i++
			name, v, _ := strings.Cut(words[i], "=")
			l.Operands[name] = v
		case l.Data == "":
			l.Data = word
		case l.Indices == "":
			l.Indices = word
		default:
			err = fmt.Errorf("%s is one operand too many in %s", word, text)
		}
	}
	return l, prints, err
}

// valueOf reads the value of an attribute: an integer, a list of them, or text.
func valueOf(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	var list []int
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	return text
}

// split gives the words of a command line without escapes.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word string
		if line[0] == '\'' {
			end := strings.IndexByte(line[1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("a quote is open in %s", line)
			}
			word, line = line[1:end+1], line[end+2:]
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		words = append(words, word)
	}
	return words, nil
}
