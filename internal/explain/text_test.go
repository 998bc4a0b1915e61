package explain

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

func explained(t *testing.T, name string, op garner.Op, data, indices garner.Tensor) *Explanation {
	t.Helper()
	e, err := New(context.Background(), Subject{Name: name, Op: op, Data: data, Indices: indices})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestTextCommands holds that the colours of a text are its only commands to a
// terminal, whatever the operator is called and the data holds.
func TestTextCommands(t *testing.T) {
	data := garner.Of([]string{"a", "b"}, 2)
	fill := garner.Of([]string{"\x1b[31m\u202e\u009b"}, 1)
	fill, err := fill.Reshape()
	if err != nil {
		t.Fatal(err)
	}
	e := explained(t, "\x1b]0;PWNED\a", garner.WithFill(strict.Gather{}, fill), data, ruletest.Tensor(t, "[0,7]"))
	text := e.Text(true)
	colours := regexp.MustCompile("\x1b\\[[0-9;]+m")
	if n := len(colours.FindAllString(text, -1)); n < 10 {
		t.Errorf("%d colours in %q", n, text)
	}
	for line := range strings.Lines(colours.ReplaceAllString(text, "")) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Printable(line) != line {
			t.Errorf("%q", line)
		}
	}
}

// TestFirst explains the first indices of a range, in words and as the picture of all.
func TestFirst(t *testing.T) {
	e, err := New(context.Background(), Subject{Name: "a", Op: strict.Gather{}, Data: ruletest.Tensor(t, "[1,2]"), Indices: ruletest.Tensor(t, "[0,1]"), Whole: garner.SpecOf(garner.I64, 1<<27)})
	if err != nil {
		t.Fatal(err)
	}
	if text := e.Text(false); !strings.Contains(text, "the first 2 of 134217728 indices, all inside") || !strings.Contains(text, "indices i64[134217728]") {
		t.Error(text)
	}
	if picture, err := e.SVG(); err != nil || !strings.Contains(string(picture), ">134217727<") || !strings.Contains(string(picture), "i64[134217728]") {
		t.Errorf("%v, %s", err, picture)
	}
	ids := make([]int32, 90000)
	for i := range ids {
		ids[i] = int32(89999 - i)
	}
	all := Subject{Name: "a", Op: openvino.Gather8{}, Data: garner.Of(make([]int8, 180000), 90000, 2), Indices: garner.Of(ids, len(ids))}
	first := all
	first.Indices, first.Whole = garner.Of(ids[:9], 9), all.Indices.Spec()
	var pictures [2][]byte
	for i, s := range []Subject{all, first} {
		e, err := New(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if pictures[i], err = e.SVG(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pictures[0], pictures[1]) {
		t.Errorf("the picture of the first indices is another:\n%s\n%s", pictures[0], pictures[1])
	}
}

func TestText(t *testing.T) {
	transposed, err := ruletest.Tensor(t, "i32[[1,2,3],[4,5,6]]").Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		op            garner.Op
		data, indices garner.Tensor
		want          string
	}{
		{"openvino.Gather-8", openvino.Gather8{Axis: 2, BatchDims: 1}, ruletest.Tensor(t, "iota i32[2,1,5,4]"), ruletest.Tensor(t, "[[1,-2,4],[7,0,0]]"), `
openvino.Gather-8   data i32[2,1,5,4]   indices i64[2,3]   ->   i32[2,1,3,4]
  loops   batch 2 · outer 1 · tuple 3     6 rows of 4 elements, 16 bytes
  index   axis 2, -5 … 4; outside reads as zeros
  seen    6 indices: 1 counts from the end, 1 is outside and reads as zeros
  moves   96 bytes into the result, from data of 160 bytes; reads 48 bytes of indices
  walked  batch 2 · tuple 3 · slice 4     1 loop of one turn dropped, 1 sunk into the slice
             extent   data   indices   result   strides in elements
    batch         2     20         3       12
    outer         1     20         ·       12
    tuple         3      ·         1        4
    slice         4      1         ·        1
    axis 2        5      4      at 0        ·
`},
		{"garner.GatherND", strict.GatherND{}, ruletest.Tensor(t, "iota f32[2,3]"), ruletest.Tensor(t, "u8[[1,2],[0,3],[2,0]]"), `
garner.GatherND   data f32[2,3]   indices u8[3,2]   ->   f32[3]
  loops   tuple 3     3 rows of 1 element, 4 bytes
  index   axis 0, 0 … 1; axis 1, 0 … 2; outside is an error
  wrong   indices[1,1] = 3 is outside axis 1 of data, which has 0…2 (1 more of 6 indices is outside)
  seen    6 indices: 2 are refused: the gather fails
  moves   12 bytes into the result, from data of 24 bytes; reads 6 bytes of indices
  walked  tuple 3 · slice 1
             extent   data   indices   result   strides in elements
    tuple         3      ·         2        1
    slice         1      1         ·        1
    axis 0        2      3      at 0        ·
    axis 1        3      1      at 1        ·
`},
		{"garner.GatherElements", strict.GatherElements{Axis: 1}, transposed, ruletest.Tensor(t, "[[0],[1],[1]]"), `
garner.GatherElements   data i32[3,2]   indices i64[3,1]   ->   i32[3,1]
  loops   batch 3 · tuple 1     3 rows of 1 element, 4 bytes
  index   axis 1, 0 … 1; outside is an error
  seen    3 indices, all inside
  moves   12 bytes into the result, from data of 24 bytes; reads 24 bytes of indices
  view    data has strides [1,3]; row-major would have [2,1]
  walked  batch 3 · slice 1     1 loop of one turn dropped
             extent   data   indices   result   strides in elements
    batch         3      1         1        1
    tuple         1      ·         1        1
    slice         1      1         ·        1
    axis 1        2      3      at 0        ·
`},
		{"tensorflow.GatherNd", tensorflow.GatherNd{}, ruletest.Tensor(t, `[["a","b"],["c","d"]]`), ruletest.Tensor(t, "i32[[],[]]"), `
tensorflow.GatherNd   data string[2,2]   indices i32[2,0]   ->   string[2,2,2]
  loops   tuple 2     2 rows of 4 elements
  index   none: a tuple of no components takes the whole of data, or of its batch
  moves   8 texts of 4 in data; reads 0 bytes of indices
  walked  tuple 2 · slice 4     2 sunk into the slice
            extent   data   indices   result   strides in elements
    tuple        2      ·         1        4
    slice        4      1         ·        1
`},
		{"stablehlo.gather", stablehlo.Gather{OffsetDims: []int{1}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{0, 1}, IndexVectorDim: 1, SliceSizes: []int{1, 2}},
			ruletest.Tensor(t, "iota u4[3,4]"), ruletest.Tensor(t, "[[0,1],[2,9]]"), `
stablehlo.gather   data u4[3,4]   indices i64[2,2]   ->   u4[2,2]
  loops   tuple 2     2 rows of 2 elements, 1 byte
  index   axis 0, 0 … 2; axis 1, 0 … 2 for windows of 2; outside means the nearest position
  seen    4 indices: 1 is outside and means the nearest position
  moves   2 bytes into the result, from data of 6 bytes; reads 32 bytes of indices
  walked  tuple 2 · slice 2     1 sunk into the slice
             extent   data   indices   result   strides in elements
    tuple         2      ·         2        2
    slice         2      1         ·        1
    axis 0        3      4      at 0        ·
    axis 1        3      1      at 1        ·
`},
		{"numpy.take", garner.WithFill(numpy.Take{}, ruletest.Tensor(t, "i32(-1)")), transposed, ruletest.Tensor(t, "[7,8,-1]"), `
numpy.take   data i32[3,2]   indices i64[3]   ->   i32[3]
  loops   tuple 3     3 rows of 1 element, 4 bytes
  index   data taken flat, -6 … 5; outside reads as -1
  seen    3 indices: 1 counts from the end, 2 are outside and read as -1
  moves   12 bytes into the result, from data of 24 bytes; reads 24 bytes of indices
  view    data has strides [1,3]; row-major would have [2,1]
  walked  tuple 3 · slice 1
            extent      data   indices   result   strides in elements
    tuple        3         ·         1        1
    slice        1         1         ·        1
    flat         6   several      at 0        ·
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := explained(t, tt.name, tt.op, tt.data, tt.indices)
			if got := e.Text(false); got != tt.want[1:] {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want[1:])
			}
			painted := e.Text(true)
			if !strings.Contains(painted, "\x1b[") {
				t.Error("no colour, though it was asked for")
			}
			if _, err := garner.Gather(tt.op, tt.data, tt.indices); (err != nil) != e.fails() {
				t.Errorf("the gather ends with %v, the explanation says failing is %v", err, e.fails())
			}
		})
	}
}

// TestBags explains bags: the gather of their terms, and how they are reduced.
func TestBags(t *testing.T) {
	data, indices, segments := ruletest.Tensor(t, "f32[[1,2],[3,4],[5,6]]"), ruletest.Tensor(t, "[2,-1,1]"), ruletest.Tensor(t, "[[0],[0],[2]]")
	one := 1
	for want, s := range map[string]Subject{
		"2 bags, each the mean of its terms, which begin where an operand says; a bag without terms is zeros;": {
			Op: garner.WithNegative(torch.EmbeddingBag{}, garner.FromEnd), Further: []garner.Tensor{ruletest.Tensor(t, "[0,2]")},
		},
		"2 bags, each the mean of its terms, which begin where an operand says; terms of row 1 are left out; a bag without terms is zeros;": {
			Op: garner.WithNegative(torch.EmbeddingBag{PaddingIdx: &one}, garner.FromEnd), Further: []garner.Tensor{ruletest.Tensor(t, "[0,2]")},
		},
		"3 bags, each the sum of its terms, whose bag an operand says, weighted; terms of negative indices are left out; a bag without terms is zeros;": {
			Op: tensorflow.SafeEmbeddingLookupSparse{Combiner: "sum", DenseShape: []int{3, 1}}, Further: []garner.Tensor{segments, ruletest.Tensor(t, "f32[1,1,1]")},
		},
		"3 bags, each the mean of its terms, whose bag an operand says, weighted; terms of negative indices are left out; terms whose weight is not above 0 are left out; a bag without terms is row 1;": {
			Op: tensorflow.SafeEmbeddingLookupSparse{DefaultID: &one, DenseShape: []int{3, 1}}, Further: []garner.Tensor{segments, ruletest.Tensor(t, "f32[1,0,1]")},
		},
	} {
		s.Name, s.Data, s.Indices = "bags", data, indices
		e, err := New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if text := e.Text(false); !strings.Contains(text, want) || strings.Contains(text, "wrong") || !strings.Contains(text, "24 bytes of terms, reduced to") {
			t.Errorf("%s\nlacks %q", text, want)
		}
		if svg, err := e.SVG(); err != nil || !bytes.Contains(svg, []byte("terms")) {
			t.Errorf("%s, %v", svg, err)
		}
	}
}

// TestLeftOut holds that a term that counts nowhere is no wrong index, and that ends that
// no bags can have are wrong.
func TestLeftOut(t *testing.T) {
	data := ruletest.Tensor(t, "f32[[1,2],[3,4]]")
	safe := tensorflow.SafeEmbeddingLookupSparse{DenseShape: []int{2, 2}}
	e, err := New(t.Context(), Subject{
		Name: "safe", Op: safe, Data: data, Indices: ruletest.Tensor(t, "[0,9,1,-3]"),
		Further: []garner.Tensor{ruletest.Tensor(t, "[[0,0],[0,1],[1,0],[1,1]]"), ruletest.Tensor(t, "f32[1,0,1,1]")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := e.Text(false); strings.Contains(text, "wrong") || !strings.Contains(text, "4 indices: 2 count in no bag\n") {
		t.Errorf("it says\n%s", text)
	}
	if svg, err := e.SVG(); err != nil || !bytes.Contains(svg, []byte("counts in no bag")) || !bytes.Contains(svg, []byte("left out")) || bytes.Contains(svg, []byte("outside: ")) {
		t.Errorf("%v; it draws\n%s", err, svg)
	}
	e, err = New(t.Context(), Subject{
		Name: "bag", Op: torch.EmbeddingBag{Mode: "sum"}, Data: data, Indices: ruletest.Tensor(t, "[0,1,1]"),
		Further: []garner.Tensor{ruletest.Tensor(t, "[0,9]")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := e.Text(false); !strings.Contains(text, "wrong   offsets[1] = 9 passes the end; there are 3 indices\n") {
		t.Errorf("it says\n%s", text)
	}
	if svg, err := e.SVG(); err != nil || !bytes.Contains(svg, []byte("offsets[1] = 9 passes the end")) || !bytes.Contains(svg, []byte("no result")) {
		t.Errorf("%v; it draws\n%s", err, svg)
	}
}

// TestStoredTable explains a gather of a table that holds 272 million elements: it
// decodes those alone that it shows.
func TestStoredTable(t *testing.T) {
	rows := 2_000_000
	table, err := garner.FromStrided(garner.U8, make([]byte, 136), 0, []int{rows, 136}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	e := explained(t, "gguf.get_rows", gguf.GetRows{Type: "Q8_0"}, table, ruletest.Tensor(t, "[5,1999999]"))
	if text := e.Text(false); !strings.Contains(text, "data u8[2000000,136]   indices i64[2]   ->   f32[2,128]\n") || !strings.Contains(text, "from data of 272000000 bytes") {
		t.Errorf("it says\n%s", text)
	}
	if svg, err := e.SVG(); err != nil || !bytes.Contains(svg, []byte("f32[2000000,128]")) || !bytes.Contains(svg, []byte(">1999999<")) {
		t.Errorf("%v; it draws\n%s", err, svg)
	}
}
