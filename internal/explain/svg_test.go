package explain

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/jax"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

// pictured has every kind of picture: dims from none to five, batches, tuples,
// windows, negatives, fills, refusals, empty tensors, and texts with XML's
// special characters.
var pictured = []struct {
	name          string
	op            garner.Op
	data, indices string
}{
	{"scalar index", strict.Gather{}, "[1,2,3]", "i64(2)"},
	{"scalar data", numpy.Take{}, "f32(1.5)", "[0,0]"},
	{"vector", openvino.Gather8{}, "[10,20,30,40,50]", "[0,-2,4,7,0]"},
	{"rows", onnx.Gather13{}, "iota f32[4,3]", "[2,0,-1]"},
	{"columns", onnx.Gather13{Axis: 1}, "iota f32[4,3]", "[2,0,-1]"},
	{"matrix of indices", strict.Gather{}, "iota f32[4,3]", "[[2,0],[1,1],[3,0]]"},
	{"sheets", strict.Gather{Axis: 1}, "iota i32[2,3,4]", "[2,0]"},
	{"batches", openvino.GatherND8{BatchDims: 1}, "iota i32[2,3,4]", "[[1],[0]]"},
	{"two batch dims", openvino.GatherND8{BatchDims: 2}, "iota i32[2,3,4]", "[[[[1]],[[0]],[[2]]],[[[0]],[[2]],[[2]]]]"},
	{"batches written as one", openvino.GatherND5{BatchDims: 2}, "iota i32[2,3,4]", "[[[[1]],[[0]],[[2]]],[[[0]],[[2]],[[2]]]]"},
	{"batches of sheets", strict.GatherND{BatchDims: 1}, "iota i8[2,3,2,2]", "[[[0],[2]],[[1],[1]]]"},
	{"refused", strict.Gather{}, "iota f32[4,3]", "[2,7,-1]"},
	{"all refused", strict.GatherND{}, "iota f32[2,2]", "u64[[9,18446744073709551615]]"},
	{"elements", strict.GatherElements{Axis: 1}, "iota i64[3,4]", "[[0,3],[1,1],[2,0]]"},
	{"tuples", tensorflow.GatherNd{}, `[[["<a>","&b"],["c\u0001","d]]>"]],[["\"'","ö"],["a text that is much too long for a cell",""]]]`, "[[[0,0,1],[1,0,1]],[[0,1,1],[1,1,0]]]"},
	{"empty tuples", tensorflow.GatherNd{}, "[[1,2],[3,4]]", "i32[[],[]]"},
	{"windows", stablehlo.Gather{OffsetDims: []int{1, 2}, StartIndexMap: []int{0, 1}, IndexVectorDim: 1, SliceSizes: []int{2, 2}}, "iota i32[4,5]", "[[0,0],[1,1],[9,2]]"},
	{"tuples down the first dim", stablehlo.Gather{CollapsedSliceDims: []int{0, 1}, StartIndexMap: []int{0, 1}, IndexVectorDim: 0, SliceSizes: []int{1, 1}}, "iota i32[4,5]", "[[0,1,3],[4,0,2]]"},
	{"fill", jax.NumpyTake{}, "iota f32[6]", "[1,9,-2]"},
	{"flat", torch.Take{}, "iota f32[3,4]", "[[0,11],[-1,5]]"},
	{"broadcast", numpy.TakeAlongAxis{Axis: new(int)}, "iota f32[3,4]", "[[1],[2]]"},
	{"five dims", strict.Gather{Axis: 1}, "iota i16[2,3,2,2,2]", "[[0,2],[1,1]]"},
	{"much", strict.Gather{Axis: 1}, "iota i16[40,50,3]", "iota i64[5,10]"},
	{"more colours than there are", strict.Gather{}, "iota i32[40,2]", "iota i64[40]"},
	{"no indices", strict.Gather{}, "iota i16[4,3]", "iota i64[0]"},
	{"no data", strict.Gather{}, "iota i16[0,3]", "[0]"},
	{"empty slices", strict.Gather{}, "iota i16[4,0]", "[1,2]"},
	{"packed", strict.GatherND{}, "u4[[1,15],[3,4]]", "[[1],[0]]"},
}

func TestSVG(t *testing.T) {
	for _, tt := range pictured {
		t.Run(tt.name, func(t *testing.T) {
			e := explained(t, "a<b>&\"c", tt.op, ruletest.Tensor(t, tt.data), ruletest.Tensor(t, tt.indices))
			checkSVG(t, e)
		})
	}
}

// TestSVGRandom draws random gathers.
func TestSVGRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shape := func(rank int) []int {
		s := make([]int, rank)
		for i := range s {
			s[i] = r.IntN(5)
			if r.IntN(10) == 0 {
				s[i] = 30
			}
		}
		return s
	}
	drawn := 0
	for range 300 {
		data, err := garner.New(garner.F32, shape(r.IntN(6))...)
		if err != nil {
			t.Fatal(err)
		}
		at := shape(r.IntN(5))
		b := r.IntN(3)
		for i := range min(b, len(at), data.Rank()) {
			at[i] = data.Shape()[i]
		}
		n, _ := garner.Shape(at).Len()
		values := make([]int64, n)
		for i := range values {
			values[i] = r.Int64N(7) - 2
		}
		indices := garner.Of(values, at...)
		for _, op := range []garner.Op{
			strict.GatherND{BatchDims: b}, openvino.Gather8{Axis: -1, BatchDims: b}, openvino.GatherND5{BatchDims: b},
			onnx.GatherElements13{}, garner.WithOutside(numpy.Take{}, garner.Clamp),
		} {
			e, err := New(t.Context(), Subject{Name: "op", Op: op, Data: data, Indices: indices})
			if err != nil {
				continue // the shapes do not match
			}
			checkSVG(t, e)
			drawn++
		}
	}
	if drawn < 200 {
		t.Errorf("only %d pictures were drawn", drawn)
	}
}

// checkSVG holds what is true of every picture: it is XML; everything lies
// inside it; no cell overlaps another; each panel shows what fits; and a cell
// of the result has the value and the colour of the cell of data that the
// gather copies.
func checkSVG(t *testing.T, e *Explanation) {
	t.Helper()
	svg, err := e.SVG()
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.SVG()
	if err != nil || !bytes.Equal(svg, again) {
		t.Errorf("drawn twice, it is two pictures (%v)", err)
	}
	elements := parse(t, svg)

	p := &picture{
		Explanation: &Explanation{Subject: e.Subject, whole: e.whole, plan: e.plan, survey: e.survey},
		sources:     map[int]source{}, tuples: map[int]int{}, readers: map[int][]int{}, color: map[int]int{},
	}
	if p.tracer, err = newTracer(e.Subject); err != nil {
		t.Fatal(err)
	}
	p.plan = p.tracer.plan
	if err := p.follow(); err != nil {
		t.Fatal(err)
	}
	if err := p.measure(); err != nil {
		t.Fatal(err)
	}
	var cells []rect
	for _, panel := range p.panels() {
		all := 1
		for i, extent := range panel.shape {
			all *= len(panel.shown[i])
			if (extent == 0) != (len(panel.shown[i]) == 0) {
				t.Errorf("of %d positions, %v are shown", extent, panel.shown[i])
			}
		}
		if len(panel.order) != all || len(panel.cells) != all || all > 240 {
			t.Errorf("%s %s has %d cells, not %d", panel.name, panel.spec, len(panel.cells), all)
		}
		for _, i := range panel.order {
			cells = append(cells, panel.cells[i])
		}
	}
	for i, a := range cells {
		for _, b := range cells[:i] {
			if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
				t.Fatalf("cells %v and %v lie on each other", a, b)
			}
		}
	}
	if elements["rect"] < len(cells) {
		t.Errorf("%d cells and %d rects", len(cells), elements["rect"])
	}

	// Gathering the positions of data tells where every element comes from.
	n, _ := e.Data.Shape().Len()
	places := make([]int64, n)
	for i := range places {
		places[i] = int64(i)
	}
	op := e.Op
	if p.plan.Outside == garner.Error || p.plan.Outside == garner.Zero || p.plan.Outside == garner.Fill {
		op = garner.WithFill(op, garner.Of([]int64{filled}))
	}
	out, err := garner.Gather(op, garner.Of(places, e.Data.Shape()...), e.Indices)
	if err != nil {
		if errors.Is(err, garner.ErrIndex) {
			return // an axis of length 0 has no position
		}
		t.Fatal(err)
	}
	want, err := garner.Values[int64](out)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range p.sources {
		got := max(s.data, filled) // a refused index counts as filled
		if int64(got) != want[i] {
			t.Fatalf("element %d of the result comes from %d; the picture has it from %d", i, want[i], s.data)
		}
		if s.data >= 0 && !contains(p.readers[s.data], s.row) {
			t.Fatalf("element %d of the result is not of a colour of its element of data", i)
		}
		if (s.data == refused) && !p.fails() {
			t.Fatalf("element %d is refused, and the gather does not fail", i)
		}
	}
}

func contains(rows []int, row int) bool {
	for _, r := range rows {
		if r == row {
			return true
		}
	}
	return false
}

var numbers = regexp.MustCompile(`-?\d+(\.\d+)?`)

// parse reads a picture as XML and counts its elements. Every coordinate is a
// number and lies inside the picture.
func parse(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	if bytes.Contains(svg, []byte("NaN")) && !bytes.Contains(svg, []byte(">NaN<")) || bytes.Contains(svg, []byte("%!")) {
		t.Errorf("not all of it is said: %s", svg)
	}
	counts := map[string]int{}
	width, height := 0.0, 0.0
	d := xml.NewDecoder(bytes.NewReader(svg))
	pattern := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if end, ok := token.(xml.EndElement); ok && end.Name.Local == "defs" {
			pattern = false
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		counts[start.Name.Local]++
		pattern = pattern || start.Name.Local == "defs"
		if pattern {
			continue
		}
		place := map[string]float64{}
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "x", "y", "width", "height":
				v, err := strconv.ParseFloat(a.Value, 64)
				if err != nil {
					t.Fatal(err)
				}
				place[a.Name.Local] = v
			case "d":
				for i, text := range numbers.FindAllString(strings.NewReplacer("-", " -").Replace(a.Value), -1) {
					v, _ := strconv.ParseFloat(text, 64)
					if limit := [...]float64{width, height}[i%2]; v < 0 || v > limit {
						t.Errorf("a path leaves the sheet of %vx%v: %s", width, height, a.Value)
					}
				}
			}
		}
		if start.Name.Local == "svg" {
			width, height = place["width"], place["height"]
			if width <= 0 || width > 2500 || height <= 0 || height > 4000 {
				t.Errorf("a sheet of %vx%v", width, height)
			}
			continue
		}
		if x, y := place["x"]+place["width"], place["y"]+place["height"]; place["x"] < 0 || place["y"] < 0 || x > width || y > height {
			t.Errorf("%s at %v leaves the sheet of %vx%v", start.Name.Local, place, width, height)
		}
	}
	if counts["svg"] != 1 || counts["title"] == 0 || counts["text"] == 0 {
		t.Errorf("it has %v", counts)
	}
	return counts
}
