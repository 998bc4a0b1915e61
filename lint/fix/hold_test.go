package fix

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
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
		stride := 1 + mended.Len()/1000
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
