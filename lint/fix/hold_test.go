package fix

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
	"github.com/garner-go/garner/source"
)

// TestDamagedCopies changes bytes of mended models, and holds that compare sees it, but for what means
// nothing: the length of a name that is not there, the text of a comment.
func TestDamagedCopies(t *testing.T) {
	for _, name := range []string{"rows-18.onnx", "in-if.onnx", "strings.onnx", "tuples-batch.onnx", "flipped.onnx", "function.onnx", "ir-rows-7.xml", "ir-in-if.xml"} {
		path := "testdata/" + name
		m := open(t, path)
		out := filepath.Join(t.TempDir(), "out"+filepath.Ext(path))
		var f format
		var err error
		if filepath.Ext(path) == ".onnx" {
			f, err = openONNX(m, out)
		} else {
			f, err = openIR(m, out)
		}
		if err != nil {
			t.Fatal(err)
		}
		findings, err := lint.Model(t.Context(), m, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mends, _, err := lint.Mends(t.Context(), m, findings)
		if err != nil {
			t.Fatal(err)
		}
		var mended bytes.Buffer
		made, err := f.write(&mended, mends)
		if err != nil {
			t.Fatal(err)
		}
		var bin []byte
		if f.beside() != "" {
			bin = read(t, binOf(path))
		}
		again := func(b, bin []byte) (*model.Model, error) {
			if filepath.Ext(path) == ".onnx" {
				return modelproto.FromBytes(b)
			}
			return ir.Read("out.xml", bytes.NewReader(b), bin, ir.Options{})
		}
		back, err := again(mended.Bytes(), bin)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compare(t.Context(), m, back, mends, made); err != nil {
			t.Fatalf("%s: unchanged: %v", name, err)
		}
		all, seen := 0, 0
		what := map[string]bool{}
		try := func(b, bin []byte) {
			all++
			back, err := again(b, bin)
			if err == nil {
				if _, err = compare(t.Context(), m, back, mends, made); err != nil {
					what[err.Error()] = true
				}
			}
			if err != nil {
				seen++
			}
		}
		stride := 1 + mended.Len()/500
		for i := 0; i < mended.Len(); i += stride {
			for _, with := range []byte{1, 0x12} {
				b := bytes.Clone(mended.Bytes())
				b[i] ^= with
				try(b, bin)
			}
		}
		constants := 0
		for i := range bin {
			b := bytes.Clone(bin)
			b[i] ^= 1
			was := seen
			if try(mended.Bytes(), b); seen > was {
				constants++
			}
		}
		if seen < all/2 || len(what) < 10 || len(bin) > 0 && constants < len(bin)/2 {
			t.Errorf("%s: %d of %d changes were seen, %d of %d of constants, with %d messages", name, seen, all, constants, len(bin), len(what))
		}
		if err := f.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWeights holds the three ways in which the file beside a mended IR is made, and when it is kept
// or refused.
func TestWeights(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"ir-rows-7", "ir-rows-1"} {
		for _, extension := range []string{".xml", ".bin"} {
			put(t, at(name+extension), read(t, "testdata/"+name+extension))
		}
	}
	mend := func(in, out string) (string, error) {
		report, err := File(t.Context(), in, out, Options{})
		if err != nil {
			return "", err
		}
		return report.Weights, nil
	}
	how, err := mend(at("ir-rows-7.xml"), at("out.xml"))
	if err != nil || !strings.Contains(how, " is a") {
		t.Fatal(how, err)
	}
	if how, err := mend(at("ir-rows-7.xml"), at("out.xml")); err != nil || how != at("out.bin")+" has the model's weights already" {
		t.Error(how, err)
	}
	// An old model of other weights is replaced with them; weights that no old model refers to are not.
	put(t, at("ir-rows-1.bin"), append(read(t, at("ir-rows-1.bin")), 7))
	if how, err := mend(at("ir-rows-1.xml"), at("out.xml")); err != nil || !strings.Contains(how, " is a") {
		t.Error(how, err)
	}
	if !bytes.Equal(read(t, at("out.bin")), read(t, at("ir-rows-1.bin"))) {
		t.Error("out.bin has other weights")
	}
	put(t, at("own.bin"), []byte("a letter"))
	if _, err := mend(at("ir-rows-1.xml"), at("own.xml")); err == nil || !strings.Contains(err.Error(), "no old own.xml refers to it") {
		t.Error(err)
	}
	if string(read(t, at("own.bin"))) != "a letter" {
		t.Error("own.bin was changed")
	}
	// A copy, where there is no other name to be had: on another file system.
	shared, err := os.MkdirTemp("/dev/shm", "garner")
	if err == nil {
		defer os.RemoveAll(shared)
		how, err := mend(at("ir-rows-1.xml"), filepath.Join(shared, "out.xml"))
		if err != nil || !strings.Contains(how, " is a") && !strings.Contains(how, "another name") {
			t.Error(how, err)
		}
		if !bytes.Equal(read(t, filepath.Join(shared, "out.bin")), read(t, at("ir-rows-1.bin"))) {
			t.Error("the copy has other weights")
		}
	}
	left, err := filepath.Glob(at(".garner-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestRanges compares and copies files with holes.
func TestRanges(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const size = 5*pieceBytes + 3
	for name, place := range map[string]int64{"a": 3*pieceBytes + 5, "b": 3*pieceBytes + 5, "c": 3*pieceBytes + 6} {
		f, err := os.Create(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{1}, place); err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for other, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if equal, err := equalFiles(at("a"), at(other)); err != nil || equal != want {
			t.Errorf("a and %s: %v, %v", other, equal, err)
		}
	}
	for _, pair := range [][2]string{{"none", "a"}, {"a", "none"}} {
		if _, err := equalFiles(at(pair[0]), at(pair[1])); err == nil || !strings.Contains(err.Error(), "none cannot be read") {
			t.Errorf("%v: %v", pair, err)
		}
	}
	put(t, at("short"), []byte("short"))
	if _, err := equalFiles(at("a"), at("short")); err == nil {
		t.Error("a shorter file is equal")
	}
	in, err := os.Open(at("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var all bytes.Buffer
	if err := copyRange(&all, in, 1, size); err != nil || !bytes.Equal(all.Bytes(), read(t, at("a"))[1:]) {
		t.Error(err)
	}
	holes := &holer1{}
	if err := copyRange(holes, in, 0, size); err != nil || runtime.GOOS == "linux" && holes.holes == 0 || !bytes.Equal(holes.Bytes(), read(t, at("a"))) {
		t.Errorf("%v, %d bytes in holes", err, holes.holes)
	}
	if err := copyRange(&all, in, 0, size+1); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

// holer1 counts the bytes of holes.
type holer1 struct {
	bytes.Buffer
	holes int64
}

func (h *holer1) Hole(n int64) error {
	h.holes += n
	h.Write(make([]byte, n))
	return nil
}

// A broken is a format that does some things wrongly.
type broken struct {
	format
	writes   func(to io.Writer, mends []lint.Mend) ([]added, error)
	reads    error
	finishes error
}

func (b *broken) write(to io.Writer, mends []lint.Mend) ([]added, error) {
	if b.writes != nil && len(mends) > 0 {
		return b.writes(to, mends)
	}
	return b.format.write(to, mends)
}

func (b *broken) read(path string) (*model.Model, error) {
	if b.reads != nil {
		return nil, b.reads
	}
	return b.format.read(path)
}

func (b *broken) finish(out *atomicfile.Pair) (string, error) {
	if b.finishes != nil {
		return "", b.finishes
	}
	return b.format.finish(out)
}

// TestBroken holds that a mend that is not made, that brings a finding, or that cannot be written is left
// out and named, and that nothing is written where the copy is not the model.
func TestBroken(t *testing.T) {
	const path = "testdata/rows-18.onnx"
	old := read(t, path)
	wrong := errors.New("wrong")
	for _, tt := range []struct {
		name string
		broken
		want, remains string
	}{
		{"not made", broken{writes: func(to io.Writer, mends []lint.Mend) ([]added, error) {
			_, err := to.Write(old)
			return make([]added, len(mends)), err
		}}, "", "behind the mend the finding is still there"},
		{"unmendable", broken{writes: func(io.Writer, []lint.Mend) ([]added, error) { return nil, &unmendable{0, wrong} }}, "", "wrong"},
		{"write", broken{writes: func(io.Writer, []lint.Mend) ([]added, error) { return nil, wrong }}, "wrong", ""},
		{"another model", broken{writes: func(to io.Writer, mends []lint.Mend) ([]added, error) {
			_, err := to.Write(read(t, "testdata/rows-13.onnx"))
			return make([]added, len(mends)), err
		}}, "was not written, because garner does not read it back equal to the model", ""},
		{"read", broken{reads: wrong}, "does not read it back equal to the model: wrong", ""},
		{"finish", broken{finishes: wrong}, "wrong", ""},
	} {
		m := open(t, path)
		dir := t.TempDir()
		out := filepath.Join(dir, "out.onnx")
		f, err := openONNX(m, out)
		if err != nil {
			t.Fatal(err)
		}
		tt.format = f
		report, err := write(t.Context(), m, &tt.broken, out, Options{})
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%s: %v, %v", tt.name, left, err)
			}
		} else if err != nil || !report.Written || len(report.Mends) > 0 || len(report.Remaining) == 0 || !strings.Contains(report.Remaining[0].Why, tt.remains) {
			t.Errorf("%s: %v, %v; want %s", tt.name, report, err, tt.remains)
		} else if !bytes.Equal(read(t, out), old) {
			t.Errorf("%s: the copy is another model", tt.name)
		}
		if err := f.close(); err != nil {
			t.Error(err)
		}
	}
	e := &unmendable{0, wrong}
	if !errors.Is(e, wrong) || e.Error() != "wrong" {
		t.Error(e)
	}
}

// TestWritten holds that nothing is written where the model is written to meanwhile, before or after the copy is compared
// with it, and that the error says so.
func TestWritten(t *testing.T) {
	for _, name := range []string{"rows-18.onnx", "ir-rows-7.xml", "ir-rows-7.bin"} {
		for _, late := range []bool{false, true} {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			for _, name := range []string{"rows-18.onnx", "ir-rows-7.xml", "ir-rows-7.bin"} {
				put(t, at(name), read(t, "testdata/"+name))
			}
			path := at(name)
			if filepath.Ext(name) == ".bin" {
				path = at("ir-rows-7.xml")
			}
			m, out := open(t, path), at("out"+filepath.Ext(path))
			opened := openIR
			if filepath.Ext(path) == ".onnx" {
				opened = openONNX
			}
			f, err := opened(m, out)
			if err != nil {
				t.Fatal(err)
			}
			meddle := func() {
				b := bytes.Clone(read(t, at(name)))
				b[len(b)-1] ^= 1
				if err := os.WriteFile(at(name), b, 0o666); err != nil {
					t.Fatal(err)
				}
				then := time.Now().Add(time.Hour) // whatever a tick of the file system's clock is
				if err := os.Chtimes(at(name), then, then); err != nil {
					t.Fatal(err)
				}
			}
			b, o := &broken{format: f}, Options{}
			if late {
				o.Accept = func(*Report) error { meddle(); return nil }
			} else {
				b.writes = func(to io.Writer, mends []lint.Mend) ([]added, error) {
					made, err := f.write(to, mends)
					meddle()
					if name != "ir-rows-7.bin" { // of which the copy has other constants
						b.reads = errors.New("not equal")
					}
					return made, err
				}
			}
			_, err = write(t.Context(), m, b, out, o)
			if !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), "was changed or replaced after the model was opened") || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, late %v: %v", name, late, err)
			}
			if _, err := os.Stat(out); !os.IsNotExist(err) {
				t.Errorf("%s, late %v: a copy is there: %v", name, late, err)
			}
			if err := f.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestAccept holds that nothing is written where Accept refuses the report, which counts by severity.
func TestAccept(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.onnx")
	report, err := File(t.Context(), "testdata/rows-18.onnx", out, Options{Rules: []string{"L.1"}, Accept: func(r *Report) error {
		if r.AtLeast(lint.Note) != len(r.Remaining) || len(r.Remaining) == 0 || r.AtLeast(lint.Error+1) != 0 {
			t.Errorf("%d of %d", r.AtLeast(lint.Note), len(r.Remaining))
		}
		return errors.New("not this")
	}})
	if err == nil || !strings.Contains(err.Error(), "not this") || report == nil || report.Written {
		t.Fatal(report, err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Error(err)
	}
	for _, path := range []string{t.TempDir(), os.DevNull} {
		if _, err := File(t.Context(), "testdata/rows-18.onnx", path, Options{}); err == nil || !strings.Contains(err.Error(), "cannot write "+path) {
			t.Error(err)
		}
	}
}

// TestAgree holds when two specs, and two attributes, are one.
func TestAgree(t *testing.T) {
	f32 := garner.SpecOf(garner.F32, 2, 3)
	open := garner.SpecOfDims(garner.F32, garner.Exactly(2), garner.AnyDim)
	for _, tt := range []struct {
		a, b garner.Spec
		want bool
	}{
		{f32, f32, true}, {f32, open, true}, {open, f32, true},
		{f32, garner.SpecOfRank(garner.F32, garner.AnyDim), true},
		{f32, garner.SpecOfRank(garner.Invalid, garner.AnyDim), true},
		{f32, garner.SpecOf(garner.I32, 2, 3), false},
		{f32, garner.SpecOf(garner.F32, 2), false},
		{f32, garner.SpecOf(garner.F32, 2, 4), false},
		{open, garner.SpecOf(garner.F32, 3, 4), false},
	} {
		if got := agree(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
	if nan := math.NaN(); !sameBits(nan, nan) || sameBits(1.0, int64(1)) || sameBits("a", "b") {
		t.Error("sameBits")
	}
	h := &held{}
	if h.alike("call1.x", "call2.x") {
		t.Error("names without functions")
	}
	if h.inlines = true; !h.alike("call1.x", "call2.x") || h.alike("call1.x", "call1.y") {
		t.Error("names of what functions have")
	}
	if _, err := h.file(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

// TestWords holds the words of ports and attributes, and of the steps that no format has.
func TestWords(t *testing.T) {
	for d, want := range map[garner.DType][2]string{
		garner.F16: {"FP16", "f16"}, garner.F32: {"FP32", "f32"}, garner.F64: {"FP64", "f64"}, garner.Bool: {"BOOL", "boolean"}, garner.U1: {"BIN", "u1"},
		garner.I64: {"I64", "i64"}, garner.F8E4M3FN: {"F8E4M3", "f8e4m3"}, garner.BF16: {"BF16", "bf16"},
	} {
		if got := [2]string{precision(d), elementType(d)}; got != want {
			t.Errorf("%s: %v; want %v", d, got, want)
		}
	}
	if precision(garner.Invalid) != "UNSPECIFIED" {
		t.Error(precision(garner.Invalid))
	}
	if _, err := portOf(garner.SpecOfRank(garner.F32, garner.AnyDim)); err == nil || !strings.Contains(err.Error(), "declare it in the model") {
		t.Error(err)
	}
	if p, err := portOf(garner.SpecOfDims(garner.F32, garner.AnyDim, garner.Exactly(3))); err != nil || p.Precision != "FP32" || len(p.Dims) != 2 || p.Dims[0] != -1 || p.Dims[1] != 3 {
		t.Error(p, err)
	}
	for n, want := range map[int]string{1: "", 2: " and 1 more node", 4: " and 3 more nodes"} {
		if got := others(n, "node"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if onnxType(garner.Invalid) != 0 || onnxType(garner.I64) != 7 {
		t.Error(onnxType(garner.Invalid), onnxType(garner.I64))
	}
	old := &tooOld{8, 12}
	if !strings.Contains(old.Error(), "the model has opset 8, and the mend needs operators of opset 12") {
		t.Error(old)
	}
	if err := (&onnxSteps{onnxWriter: &onnxWriter{nil, 8}}).needs(9); err == nil {
		t.Error("opset 9 in a model of opset 8")
	}
	none := lint.Step{Kind: "none", Spec: garner.SpecOf(garner.I64)}
	if err := (&onnxSteps{}).step(&none); err == nil || !strings.Contains(err.Error(), "is written") {
		t.Error(err)
	}
	if _, err := (&irSteps{}).step(&none); err == nil || !strings.Contains(err.Error(), "is written") {
		t.Error(err)
	}
	if err := (&onnxSteps{}).constant("c", garner.Bool, true, []int64{1}); err == nil || !strings.Contains(err.Error(), "no constant of bool is written") {
		t.Error(err)
	}
}

// TestGraphsDiffer changes one thing of a graph, and holds that compare names it.
func TestGraphsDiffer(t *testing.T) {
	make1 := func() *model.Graph {
		spec := garner.SpecOf(garner.I64, 2)
		constant := func(name string, list ...int64) *model.Value {
			return &model.Value{Name: name, Spec: spec, Constant: model.NewConstant(name, spec, func() (garner.Tensor, error) { return garner.Of(list, len(list)), nil })}
		}
		x, c, y, z := &model.Value{Name: "x", Spec: spec}, constant("c", 1, 2), &model.Value{Name: "y", Spec: spec}, &model.Value{Name: "z", Spec: spec}
		body := &model.Graph{Name: "body", Inputs: []*model.Value{{Name: "b", Spec: spec}}}
		a := &model.Node{Name: "a", At: "node 0", Op: "Add", Inputs: []*model.Value{x, c, nil}, Outputs: []*model.Value{y, nil}, Attributes: map[string]any{"k": int64(1), "c": constant("k", 3, 4).Constant}}
		b := &model.Node{Name: "b", At: "node 1", Op: "If", Inputs: []*model.Value{y}, Outputs: []*model.Value{z}, Graphs: []model.Subgraph{{Name: "then", Graph: body}}}
		y.From, z.From = a, b
		return &model.Graph{Name: "g", Inputs: []*model.Value{x}, Constants: []*model.Value{c}, Nodes: []*model.Node{a, b}, Outputs: []model.Result{{Name: "z", Value: z}}}
	}
	of := func(g *model.Graph) *model.Model { return &model.Model{Format: "ONNX", Graph: g} }
	if _, err := compare(t.Context(), of(make1()), of(make1()), nil, nil); err != nil {
		t.Fatal(err)
	}
	other := func(list ...int64) *model.Constant {
		return model.NewConstant("c", garner.SpecOf(garner.I64, 2), func() (garner.Tensor, error) { return garner.Of(list, len(list)), nil })
	}
	unreadable := model.NewConstant("c", garner.SpecOf(garner.I64, 2), func() (garner.Tensor, error) { return garner.Tensor{}, errors.New("cut") })
	for want, change := range map[string]func(g *model.Graph){
		"graph \"g\" has other inputs":                  func(g *model.Graph) { g.Inputs = nil },
		"constant \"c\" is gone":                        func(g *model.Graph) { g.Constants = nil },
		"constant \"d\" is new":                         func(g *model.Graph) { g.Constants = append(g.Constants, &model.Value{Name: "d"}) },
		"value \"c\" is no constant any more":           func(g *model.Graph) { g.Constants[0].Constant = nil },
		"constant \"c\" has other elements":             func(g *model.Graph) { g.Constants[0].Constant = other(1, 3) },
		"constant \"c\" has other element":              func(g *model.Graph) { g.Constants[0].Constant = unreadable },
		"value \"x\" is now named \"v\"":                func(g *model.Graph) { g.Inputs[0].Name = "v" },
		"value \"x\" is i32[2], and was i64[2]":         func(g *model.Graph) { g.Inputs[0].Spec = garner.SpecOf(garner.I32, 2) },
		"node \"b\" is gone":                            func(g *model.Graph) { g.Nodes = g.Nodes[:1] },
		"node \"n\" is new, or stands elsewhere":        func(g *model.Graph) { g.Nodes = append(g.Nodes, &model.Node{Name: "n"}) },
		"output \"z\" is another value":                 func(g *model.Graph) { g.Outputs[0].Value = g.Inputs[0] },
		"node \"a\" (node 0) has another operator":      func(g *model.Graph) { g.Nodes[0].Op = "Sub" },
		"another number of results":                     func(g *model.Graph) { g.Nodes[0].Outputs = g.Nodes[0].Outputs[:1] },
		"another number of inputs":                      func(g *model.Graph) { g.Nodes[0].Inputs = g.Nodes[0].Inputs[:1] },
		"node \"b\" (node 1) has another number of gr":  func(g *model.Graph) { g.Nodes[1].Graphs = nil },
		"node \"b\" (node 1) has another graph":         func(g *model.Graph) { g.Nodes[1].Graphs[0].Name = "else" },
		"graph \"body\" has other inputs":               func(g *model.Graph) { g.Nodes[1].Graphs[0].Graph.Inputs = nil },
		"node \"a\" (node 0) has another input 2":       func(g *model.Graph) { g.Nodes[0].Inputs[2] = g.Inputs[0] },
		"node \"a\" (node 0) has another input 0":       func(g *model.Graph) { g.Nodes[0].Inputs[0] = g.Constants[0] },
		"a node has more or fewer values":               func(g *model.Graph) { g.Nodes[0].Outputs[1] = &model.Value{Name: "w"} },
		"node \"a\" has another attribute \"k\"":        func(g *model.Graph) { g.Nodes[0].Attributes["k"] = int64(2) },
		"node \"a\" has another attribute \"c\"":        func(g *model.Graph) { g.Nodes[0].Attributes["c"] = other(3, 5) },
		"node \"a\" has another attribute \"more\"":     func(g *model.Graph) { g.Nodes[0].Attributes["more"] = "text" },
		"value \"y\" is now named \"another\"":          func(g *model.Graph) { g.Nodes[0].Outputs[0].Name = "another" },
		"value \"b\" is now named \"the body's other\"": func(g *model.Graph) { g.Nodes[1].Graphs[0].Graph.Inputs[0].Name = "the body's other" },
	} {
		g := make1()
		change(g)
		if _, err := compare(t.Context(), of(make1()), of(g), nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	producer := of(make1())
	producer.Producer = "another"
	if _, err := compare(t.Context(), of(make1()), producer, nil, nil); err == nil || !strings.Contains(err.Error(), "its format, opsets or producer differ") {
		t.Error(err)
	}
	// Constants in files: elsewhere in one file, and in one that is gone.
	path := filepath.Join(t.TempDir(), "weights")
	put(t, path, bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 4))
	inFile := func(path string, offset int64) *model.Constant {
		return &model.Constant{Spec: garner.SpecOf(garner.I64, 2), File: path, Offset: offset, Size: 16}
	}
	h := &held{open: map[string]*os.File{}}
	defer func() {
		for _, f := range h.open {
			f.Close()
		}
	}()
	for offset, want := range map[int64]bool{0: true, 8: true, 1: false} {
		if equal, err := h.equalConstants(inFile(path, 0), inFile(path, offset)); err != nil || equal != want {
			t.Errorf("%d: %v, %v", offset, equal, err)
		}
	}
	for _, pair := range [][2]*model.Constant{{inFile(path, 0), inFile(path+"x", 0)}, {inFile(path+"x", 0), inFile(path, 0)}, {inFile(path, 0), inFile(path, 24)}} {
		if _, err := h.equalConstants(pair[0], pair[1]); err == nil {
			t.Errorf("%v", pair)
		}
	}
}

// TestVanished holds the errors of files that vanish or change while a model is mended, and of mends
// whose node is not in the file.
func TestVanished(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"rows-18.onnx", "ir-rows-7.xml", "ir-rows-7.bin"} {
		put(t, at(name), read(t, "testdata/"+name))
	}
	m := open(t, at("ir-rows-7.xml"))
	made, err := openIR(m, at("out.xml"))
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	f := made.(*irFile)
	if _, err := f.keeps(at("none.bin")); err == nil || !strings.Contains(err.Error(), "cannot write "+at("none.bin")) {
		t.Error(err)
	}
	gone := &irFile{path: at("gone.xml"), out: at("out.xml"), m: m}
	if _, err := gone.keeps(at("ir-rows-7.bin")); err == nil || !strings.Contains(err.Error(), "gone.bin cannot be looked at") {
		t.Error(err)
	}
	if keep, err := f.keeps(at("ir-rows-7.bin")); err != nil || !keep {
		t.Error(keep, err)
	}
	pair, err := atomicfile.NewPair(at("out.xml"), at("out.bin"), atomicfile.PairOptions{Uses: usesAs(".xml")})
	if err != nil {
		t.Fatal(err)
	}
	defer pair.Abort()
	if _, err := weights(at("gone.bin"), at("out.bin"), pair); err == nil || !strings.Contains(err.Error(), "gone.bin cannot be read") {
		t.Error(err)
	}
	mends := []lint.Mend{{Node: &model.Node{Name: "n", At: "nowhere", Outputs: []*model.Value{{}}}}}
	var not *unmendable
	if _, err := f.write(io.Discard, mends); !errors.As(err, &not) || !strings.Contains(err.Error(), "the layer has no place in the text") {
		t.Error(err)
	}
	f.text = []byte("<net")
	if _, err := f.write(io.Discard, nil); err == nil {
		t.Error("a cut text was mended")
	}
	if _, err := openIR(&model.Model{Path: at("gone.xml")}, at("out.xml")); err == nil {
		t.Error("an IR that is gone was opened")
	}
	if _, err := openONNX(&model.Model{Path: at("gone.onnx")}, at("out.onnx")); err == nil {
		t.Error("a model that is gone was opened")
	}
	if _, err := openONNX(&model.Model{Path: at("none/m.onnx"), Files: []string{"m.onnx", "m.data"}}, at("out.onnx")); err == nil || !strings.Contains(err.Error(), "its folder cannot be looked at") {
		t.Error(err)
	}
	one := open(t, at("rows-18.onnx"))
	made, err = openONNX(one, at("out.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	if _, err := made.write(io.Discard, mends); !errors.As(err, &not) || !strings.Contains(err.Error(), "the node is not in the file at nowhere") {
		t.Error(err)
	}
	put(t, at("rows-18.onnx"), append(read(t, at("rows-18.onnx")), 0))
	if _, err := made.write(io.Discard, nil); err == nil || !strings.Contains(err.Error(), "was changed or replaced") {
		t.Error(err)
	}
	if err := os.Remove(at("rows-18.onnx")); err != nil {
		t.Fatal(err)
	}
	if _, err := made.write(io.Discard, nil); err == nil {
		t.Error("a model that is gone was copied")
	}
	if list := usesAs(".onnx")(at("gone.onnx")); list != nil {
		t.Error(list)
	}
	if _, err := outputOf([]byte{0xff}); err == nil {
		t.Error("the outputs of a cut node")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := compare(ctx, m, m, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
