package safetensors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/source"
)

func elements(t garner.Tensor) []byte { return must(must(t.Clone()).Bytes()) }

// agree compares List and OpenArray of a file with Open.
func agree(t *testing.T, path string, f *File, openErr error) {
	t.Helper()
	l, err := List(path)
	if fmt.Sprint(err) != fmt.Sprint(openErr) {
		t.Fatalf("listed: %v; opened: %v", err, openErr)
	}
	if err != nil {
		return
	}
	if !slices.Equal(l.Names(), f.Names()) {
		t.Fatalf("%q, want %q", l.Names(), f.Names())
	}
	for _, tensor := range l.Tensors() {
		want, wantErr := f.Tensor(tensor.Name)
		a, err := OpenArray(path, tensor.Name)
		if wantErr != nil {
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("as an array: %v; else: %v", err, wantErr)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := layout.Read(context.Background(), a)
		if err != nil {
			t.Error(err)
		} else if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) || !bytes.Equal(elements(got), elements(want)) {
			t.Errorf("%q is %s, want %s", tensor.Name, got, want)
		}
		if tensor.DType != want.DType() || !tensor.Shape.Equal(want.Shape()) || tensor.Bytes != int64(len(elements(want))) || tensor.Path != path {
			t.Errorf("listed as %+v", tensor)
		}
		a.Close()
	}
}

// TestOpenArray reads files of the safetensors package as Open does.
func TestOpenArray(t *testing.T) {
	for _, name := range []string{"real.safetensors", "plain.safetensors", "model-00001-of-00002.safetensors"} {
		path := filepath.Join("testdata", name)
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, path, f, nil)
		f.Close()
	}
	_, err := OpenArray(filepath.Join("testdata", "plain.safetensors"), "c")
	refused(t, err, fs.ErrNotExist, "garner: ", `plain.safetensors: it has no tensor "c"; it has "b", "a"`)
	_, err = OpenArray("nosuch.safetensors", "c")
	refused(t, err, fs.ErrNotExist, "garner: ", "there is no file nosuch.safetensors")
	whole := must(os.ReadFile(filepath.Join("testdata", "plain.safetensors")))
	path := filepath.Join(t.TempDir(), "x.safetensors")
	for n := range whole {
		save(t, path, whole[:n])
		_, err := OpenArray(path, "a")
		refused(t, err, ErrFormat, "garner: "+path+": ", "")
	}
	save(t, path, whole)
	l := must(List(path))
	save(t, path, append(whole, 0))
	a := must(l.Layout("a"))
	_, err = a.Open()
	refused(t, err, source.ErrChanged, "garner: ", "x.safetensors: the file was changed")
}

// TestIndex reads a model of two shards.
func TestIndex(t *testing.T) {
	path := filepath.Join("testdata", "model.safetensors.index.json")
	l, err := List(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Names(), []string{"embed", "norm", "head"}) {
		t.Errorf("%q", l.Names())
	}
	for name, want := range map[string]garner.Tensor{
		"embed": count(garner.F32, 0, 4, 3), "norm": count(garner.BF16, 50, 3), "head": count(garner.I64, 100, 2, 2),
	} {
		a, err := OpenArray(path, name)
		if err != nil {
			t.Error(err)
			continue
		}
		got := must(layout.Read(context.Background(), a))
		if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) || !bytes.Equal(elements(got), elements(want)) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		a.Close()
	}
	_, err = OpenArray(path, "haed")
	refused(t, err, fs.ErrNotExist, "garner: ", `model.safetensors.index.json: it has no tensor "haed"; it has "embed", "head", "norm"`)
}

// TestIndexRefused tries corrupt indexes, and indexes that lead out of their folder.
func TestIndexRefused(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "model")
	must(0, os.Mkdir(dir, 0o777))
	path := filepath.Join(dir, "model.safetensors.index.json")
	good := []byte(file(one("U8", "4", "0,4"), 4))
	save(t, filepath.Join(dir, "good.safetensors"), good)
	save(t, filepath.Join(top, "outside.safetensors"), good)
	index := func(weights string) []byte {
		return []byte(`{"metadata":{"total":[1,{"a":2}]},"weight_map":{` + weights + `}}`)
	}

	for weights, message := range map[string]string{
		`"x":"../outside.safetensors"`:      `names the file "../outside.safetensors", which is not in its own folder`,
		`"x":"a/../../outside.safetensors"`: "which is not in its own folder",
		`"x":"..\\outside.safetensors"`:     "which is not in its own folder",
		`"x":"/etc/passwd"`:                 "which is not in its own folder",
		`"x":"C:\\x"`:                       "which is not in its own folder",
		`"x":""`:                            "which is not in its own folder",
		`"x":"."`:                           "which is not in its own folder",
		`"x":7`:                             `has 7 for tensor "x" instead of a file's name`,
		`"x":"good.safetensors","x":"good.safetensors"`: `weight_map has the key "x" twice`,
		`"x":"good.safetensors"},"weight_map":{`:        `the index has the key "weight_map" twice`,
		`"x":"good.safetensors"}`:                       "",
		`"x":`:                                          "",
	} {
		save(t, path, index(weights))
		for _, err := range []error{second(List(path)), second(OpenArray(path, "x"))} {
			refused(t, err, ErrFormat, "garner: "+path+": ", message)
		}
	}
	for text, message := range map[string]string{
		"":                                    "",
		"[]":                                  "the index is [ instead of an object",
		"{}":                                  "it has no weight_map",
		`{"weight_map":[]}`:                   "weight_map is [ instead of an object",
		`{"weight_map":{}} {}`:                "it goes on after its closing }",
		`{"weight_map":{}}x`:                  "it goes on",
		`{"deep":` + strings.Repeat("[", 200): "nests deeper than 128",
	} {
		save(t, path, []byte(text))
		refused(t, second(List(path)), ErrFormat, "garner: "+path+": ", message)
	}
	if runtime.GOOS != "windows" {
		if err := os.Truncate(path, maxIndex+1); err != nil {
			t.Fatal(err)
		}
		refused(t, second(List(path)), ErrFormat, "garner: "+path+": ", "an index of up to 100000000 is read")
		must(0, os.Truncate(path, 0))
	}

	save(t, path, index(`"a":"good.safetensors","b":"good.safetensors"`))
	refused(t, second(List(path)), ErrFormat, "garner: "+path+": ", `it says that tensor "b" is in "good.safetensors", and it is not`)
	refused(t, second(OpenArray(path, "b")), fs.ErrNotExist, "garner: ", `good.safetensors: it has no tensor "b"; it has "a"`)
	save(t, path, index(`"a":"nosuch.safetensors"`))
	refused(t, second(List(path)), fs.ErrNotExist, "garner: "+path+": ", "nosuch.safetensors")
	save(t, path, index(`"a":"model.safetensors.index.json"`))
	refused(t, second(List(path)), ErrFormat, "garner: "+path+": ", "")

	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("making a link needs a privilege on Windows: ", err)
			}
			t.Fatal(err)
		}
	}
	link(filepath.Join("..", "outside.safetensors"), filepath.Join(dir, "link.safetensors"))
	link(top, filepath.Join(dir, "up"))
	link("good.safetensors", filepath.Join(dir, "inside.safetensors"))
	for _, shard := range []string{"link.safetensors", "up/outside.safetensors"} {
		save(t, path, index(`"a":"`+shard+`"`))
		for _, err := range []error{second(List(path)), second(OpenArray(path, "a"))} {
			refused(t, err, ErrFormat, "garner: "+path+": ", "is a link that leads out of its own folder, to ")
		}
	}
	save(t, path, index(`"a":"inside.safetensors"`))
	if a, err := OpenArray(path, "a"); err != nil {
		t.Error(err)
	} else {
		a.Close()
	}
	// As in a hub's cache, the index and its files are links into one folder.
	blobs, snapshot := filepath.Join(top, "blobs"), filepath.Join(top, "snapshot")
	must(0, os.Mkdir(blobs, 0o777))
	must(0, os.Mkdir(snapshot, 0o777))
	save(t, filepath.Join(blobs, "1234"), index(`"a":"m.safetensors"`))
	save(t, filepath.Join(blobs, "5678"), good)
	path = filepath.Join(snapshot, "m.safetensors.index.json")
	link(filepath.Join("..", "blobs", "1234"), path)
	link(filepath.Join("..", "blobs", "5678"), filepath.Join(snapshot, "m.safetensors"))
	if a, err := OpenArray(path, "a"); err != nil {
		t.Error(err)
	} else {
		a.Close()
	}
}

func second[T any](_ T, err error) error { return err }

// TestNewWriter writes in pieces and compares the bytes with those of Write.
func TestNewWriter(t *testing.T) {
	for _, x := range []garner.Tensor{count(garner.F32, 3, 4, 5), count(garner.F4E2M1, 3, 2, 4), count(garner.Bool, 0), count(garner.U8, 0, 0, 3)} {
		var want, got bytes.Buffer
		if err := Write(&want, []Named{{"a b", x}}, realMetadata); err != nil {
			t.Fatal(err)
		}
		w := must(NewWriter(&got, "a b", x.Spec(), realMetadata))
		for rest := must(x.Bytes()); len(rest) > 0; {
			n := must(w.Write(rest[:min(7, len(rest))]))
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%v: %q, want %q", err, got.Bytes(), want.Bytes())
		}
	}
	refused(t, second(NewWriter(io.Discard, "a", garner.SpecOf(garner.U4, 2), nil)), garner.ErrDType, "garner: ", `tensor "a" is of u4`)
	refused(t, second(NewWriter(io.Discard, "a", garner.SpecOfDims(garner.U8, garner.AnyDim), nil)), garner.ErrShape, "garner: ", "not all known")
	if _, err := NewWriter(&failing{0}, "a", garner.SpecOf(garner.U8, 2), nil); !errors.Is(err, errFull) {
		t.Errorf("a header that cannot be written: %v", err)
	}
}

// FuzzIndex reads any bytes as an index.
func FuzzIndex(f *testing.F) {
	f.Add(must(os.ReadFile(filepath.Join("testdata", "model.safetensors.index.json"))))
	f.Add([]byte(`{"weight_map":{"a":"../x"}}`))
	f.Add([]byte(`{"weight_map":{"a":"x/../y","b":"y"},"z":[[[]]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ix := &index{weights: map[string]string{}}
		if err := ix.read(bytes.NewReader(b), int64(len(b))); err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("an error without a class: %v", err)
			}
			return
		}
		for name, shard := range ix.weights {
			if !filepath.IsLocal(shard) || !slices.Contains(ix.shards, shard) || !slices.Contains(ix.names, name) {
				t.Errorf("%q in %q", name, shard)
			}
		}
	})
}
