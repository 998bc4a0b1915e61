package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func bytesOf(t garner.Tensor) []byte { return must(must(t.Clone()).Bytes()) }

func saveNpy(t *testing.T, path string, x garner.Tensor) {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, x); err != nil {
		t.Fatal(err)
	}
	save(t, path, b.Bytes())
}

func save(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"a.npy":                          "npy a.npy ",
		"A.NPY":                          "npy A.NPY ",
		"a.npz":                          "npz a.npz ",
		"a.npz#":                         "npz a.npz ",
		"a.npz#b.npy":                    "npz a.npz b.npy",
		"dir.npz/a.safetensors#b.gguf#c": "safetensors dir.npz/a.safetensors b.gguf#c",
		"m.safetensors.index.json#a":     "safetensors m.safetensors.index.json a",
		"m.safetensors.index.json":       "safetensors m.safetensors.index.json ",
		"m-00001-of-00002.GGUF#a b":      "gguf m-00001-of-00002.GGUF a b",
		"*.gguf#a":                       "gguf *.gguf a",
		"a.raw":                          "raw a.raw ",
		"a.bin":                          "raw a.bin ",
		"a.parquet":                      "",
		"a.raw#b":                        "",
		"index.json#a":                   "",
		"":                               "",
	} {
		got := ""
		p, err := Parse(text)
		if err == nil {
			got = fmt.Sprintf("%s %s %s", p.Format.Name, p.Path, p.Name)
			if p.String() != text || p.IsURL() {
				t.Errorf("%q was parsed as %v", text, p)
			}
		} else if !errors.Is(err, garner.ErrAttribute) {
			t.Errorf("%q: %v", text, err)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Writable(); got != ".npy, .npz, .safetensors, .gguf and .raw" {
		t.Error(got)
	}
}

// TestFormatsRoundTrip writes an array in every format, in pieces and as a
// whole, and opens it again.
func TestFormatsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	x := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	for _, f := range builtin {
		if !f.Writes() { // models
			continue
		}
		path := filepath.Join(dir, "x"+f.Extensions[0])
		var told int64
		w, err := Create(t.Context(), path, x.Spec(), CreateOptions{Progress: func(done, _ int64) { told = done }})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range bytesOf(x) {
			must(w.Write([]byte{v}))
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Abort() // does nothing
		written := must(os.ReadFile(path))
		if told != int64(len(written)) || w.Resumable() || f.Form != nil && w.Size() != told {
			t.Errorf("%s has %d bytes, was said to have %d, and %d were told of", f.Name, len(written), w.Size(), told)
		}
		var stream bytes.Buffer
		if w, err = NewWriter(t.Context(), &stream, x.Spec(), CreateOptions{Format: f.Name}); err != nil || stream.Len() > 0 {
			t.Fatal(f.Name, err)
		}
		turned := must(must(x.Transpose(1, 0)).Clone())
		if err := w.Put(must(turned.Transpose(1, 0))); err != nil {
			t.Error(err)
		}
		if err := w.Commit(); err != nil || !bytes.Equal(stream.Bytes(), written) {
			t.Errorf("%s: as a whole it is %q, %v", f.Name, stream.Bytes(), err)
		}

		operand, o := path, Options{}
		if f.Result != "" {
			operand += "#" + f.Result
		}
		if f.Headerless {
			o.DType, o.Shape = garner.F32, []int{AnyExtent, 2}
		}
		opened, err := Open(t.Context(), operand, o)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, ok := opened.(*source.File); !ok {
			t.Errorf("%s is opened as a %T, which source does not read in its fastest ways", f.Name, opened)
		}
		var got bytes.Buffer
		if err := source.Gather(t.Context(), strict.Gather{}, opened, source.Memory(garner.Of([]int8{2, 0}, 2)), &got, source.Options{}); err != nil || got.String() != string(bytesOf(garner.Of([]float32{5, 6, 1, 2}, 4))) {
			t.Errorf("%s: %x, %v", f.Name, got.Bytes(), err)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
		in := must(must(Parse(operand)).Open(t.Context(), o))
		if got := must(in.Tensor(t.Context())); got.Text() != x.Text() || in.Spec().String() != "f32[3,2]" || !slices.Equal(in.Paths, []string{path}) {
			t.Errorf("%s: %s of %v", f.Name, got, in.Paths)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		read, done, err := Tensor(t.Context(), operand, o)
		if err != nil || read.Text() != x.Text() || done() != nil {
			t.Errorf("%s: %v, %v", f.Name, read, err)
		}
		for _, text := range []string{path, operand} {
			list, err := List(t.Context(), text, o)
			if err != nil || len(list) != 1 || list[0].Name != f.Result || list[0].DType != garner.F32 || !list[0].Shape.Equal(x.Shape()) || list[0].Path != path || list[0].Bytes < 24 {
				t.Errorf("%s is listed as %+v, %v", f.Name, list, err)
			}
		}
	}
}

func open(text string, o Options) (*Input, error) {
	p, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return p.Open(context.Background(), o)
}

func refused(t *testing.T, err, class error, part string) {
	t.Helper()
	if err == nil || class != nil && !errors.Is(err, class) || !strings.Contains(err.Error(), part) || !strings.HasPrefix(err.Error(), "garner: ") {
		t.Errorf("%v, want %q", err, part)
	}
}

// TestPattern joins files in numeric order.
func TestPattern(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	saveNpy(t, at("p10.npy"), garner.Of([]int16{5, 6}, 1, 2))
	saveNpy(t, at("p9.npy"), garner.Of([]int16{1, 2, 3, 4}, 2, 2))
	saveNpy(t, at("p1[0].npy"), garner.Of([]int16{9}, 1))
	opened := must(open(at("p*[0-9].npy"), Options{}))
	if got := must(opened.Tensor(context.Background())).Text(); got != "[[1, 2], [3, 4], [5, 6]]" {
		t.Error(got)
	}
	if want := []string{at("p9.npy"), at("p10.npy")}; !slices.Equal(opened.Paths, want) {
		t.Errorf("%v", opened.Paths)
	}
	opened.Close()
	// A file that is named like a pattern is itself.
	opened = must(open(at("p1[0].npy"), Options{}))
	if got := must(opened.Tensor(context.Background())).Text(); got != "[9]" {
		t.Error(got)
	}
	opened.Close()

	save(t, at("a1.bin"), []byte{1, 2, 3, 4})
	save(t, at("a2.bin"), []byte{5, 6})
	opened = must(open(at("a?.bin"), Options{DType: garner.U8, Shape: []int{AnyExtent, 2}}))
	if got := must(opened.Tensor(context.Background())).Text(); got != "[[1, 2], [3, 4], [5, 6]]" {
		t.Error(got)
	}
	opened.Close()

	for i, x := range []garner.Tensor{garner.Of([]int8{1, 2}, 2), garner.Of([]int8{3}, 1)} {
		var b bytes.Buffer
		if err := npz.Write(&b, []npz.Named{{Name: "a", Tensor: x}}); err != nil {
			t.Fatal(err)
		}
		save(t, at(fmt.Sprintf("z%d.npz", i)), b.Bytes())
	}
	opened = must(open(at("z*.npz#a"), Options{}))
	if got := must(opened.Tensor(context.Background())).Text(); got != "[1, 2, 3]" {
		t.Error(got)
	}
	opened.Close()
	if list := must(List(t.Context(), at("z*.npz"), Options{})); len(list) != 2 || list[0].Path != at("z0.npz") {
		t.Errorf("%+v", list)
	}

	_, err := open(at("q*.npy"), Options{})
	refused(t, err, fs.ErrNotExist, "no file matches")
	_, err = open(at("[.npy"), Options{})
	refused(t, err, filepath.ErrBadPattern, "is no pattern of file names")
	saveNpy(t, at("p11.npy"), garner.Of([]string{"a"}, 1))
	_, err = open(at("p1?.npy"), Options{})
	refused(t, err, ErrMemory, "p11.npy: it holds strings, which can only be read whole, from one file")
	_, err = open(filepath.Join("..", "format", "gguf", "testdata", "split-*.gguf")+"#plain.f4", Options{})
	refused(t, err, garner.ErrAttribute, "which are parts of one model; name one of them")
}

// TestOptions gives formats what they have no use for.
func TestOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	saveNpy(t, path, garner.Of([]int16{5, 6}, 2))
	for _, o := range []Options{{Shape: []int{}}, {Offset: 1}, {Raw: true}} {
		_, err := open(path, o)
		refused(t, err, garner.ErrAttribute, "a.npy ")
		_, err = List(t.Context(), path, o)
		refused(t, err, garner.ErrAttribute, "a.npy ")
	}
	_, err := open("a.parquet", Options{})
	refused(t, err, garner.ErrAttribute, "a.parquet is of no format that garner reads: .npy, .npz#NAME, ")
	_, err = List(t.Context(), "a.parquet", Options{})
	refused(t, err, garner.ErrAttribute, "a.parquet is of no format that garner reads")
	_, err = open(filepath.Join("..", "format", "safetensors", "testdata", "plain.safetensors#a"), Options{DType: garner.U8})
	refused(t, err, garner.ErrDType, "plain.safetensors#a is i8 itself and the dtype asked for is u8; leave that out")
}

// TestInMemory opens what can only be read whole.
func TestInMemory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "words.npy")
	saveNpy(t, path, garner.Of([]string{"a", "b"}, 2))
	opened := must(open(path, Options{}))
	if got := must(opened.Tensor(context.Background())).Text(); got != `["a", "b"]` || opened.Array != nil || opened.Descr != "<U1" || opened.Spec().String() != "string[2]" {
		t.Errorf("%+v", opened)
	}
	opened.Close()
	deflated := filepath.Join("..", "format", "npz", "testdata", "deflated.npz")
	told := false
	opened = must(open(deflated+"#zeros", Options{Inflated: func(done, total int64) { told = true }}))
	if got := must(opened.Tensor(context.Background())); got.Len() != 20000 || opened.Array == nil || !told {
		t.Error(got)
	}
	opened.Close()
	_, err := open(deflated+"#zeros", Options{InPlace: true})
	refused(t, err, ErrMemory, "deflated.npz#zeros: it is compressed, which can only be read whole")
	nibbles := must(garner.FromBytes(garner.U4, []byte{0x21, 0x03}, 3))
	saveNpy(t, path, nibbles)
	opened = must(open(path, Options{DType: garner.U4}))
	if got := must(opened.Tensor(context.Background())).Text(); got != "[1, 2, 3]" || opened.Array.Spec().String() != "u4[3]" {
		t.Error(got)
	}
	opened.Close()
}

// FuzzParse holds that an operand that is parsed is its path and its name, that
// parsing does not depend on what is on the disk, and that the path alone is an
// operand of the same format.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a.npy", "a.npz#b.gguf#c", "A.SafeTensors.Index.JSON#x", "part-*.bin", "s3://a.npy#b", ".npy#", "#", "\x00.gguf#\xff", "İ.npz#a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			if !errors.Is(err, garner.ErrAttribute) || !strings.HasPrefix(err.Error(), "garner: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if p.String() != text || p.Path != text && p.Path+"#"+p.Name != text || p.Name != "" && !p.Format.Named {
			t.Fatalf("%q is %q of %q, format %s", text, p.Name, p.Path, p.Format.Name)
		}
		if alone, err := Parse(p.Path); err != nil || alone.Format.Name != p.Format.Name || alone.Path != p.Path {
			t.Errorf("%q alone is %q, format %s, %v", p.Path, alone.Path, alone.Format.Name, err)
		}
	})
}
