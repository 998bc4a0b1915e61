package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/source"
)

// TestOpenRefuses holds what Open, Tensor and List refuse, and in which words.
func TestOpenRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	saveNpy(t, "a.npy", garner.Of([]int16{1, 2, 3, 4}, 2, 2))
	saveNpy(t, "part-1.npy", garner.Of([]int16{1, 2, 3, 4}, 2, 2))
	saveNpy(t, "part-2.npy", garner.Of([]int16{1, 2, 3}, 1, 3))
	saveNpy(t, "kind-1.npy", garner.Of([]int16{1, 2}, 2))
	saveNpy(t, "kind-2.npy", garner.Of([]int32{1, 2}, 2))
	saveNpy(t, "words.npy", garner.Of([]string{"a"}, 1))
	for path, x := range map[string][]safetensors.Named{
		"two.safetensors": {{Name: "b", Tensor: garner.Of([]int8{1}, 1)}, {Name: "a", Tensor: garner.Of([]int8{2}, 1)}},
		"one.safetensors": {{Name: "only", Tensor: garner.Of([]int8{7}, 1)}},
	} {
		var b strings.Builder
		if err := safetensors.Write(&b, x, nil); err != nil {
			t.Fatal(err)
		}
		save(t, path, []byte(b.String()))
	}
	var b strings.Builder
	if err := npz.Write(&b, []npz.Named{{Name: "x", Tensor: garner.Of([]int8{1}, 1)}, {Name: "y", Tensor: garner.Of([]int8{2}, 1)}}); err != nil {
		t.Fatal(err)
	}
	save(t, "two.npz", []byte(b.String()))
	save(t, "cut.npy", []byte("\x93NUMPY"))
	save(t, "table.bin", make([]byte, 10))
	if err := os.Mkdir("folder.npy", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		operand string
		o       Options
		class   error
		want    string
	}{
		{"nosuch.npy", Options{}, fs.ErrNotExist, "garner: there is no file nosuch.npy; check the name and the folder"},
		{"nosuch.safetensors", Options{}, fs.ErrNotExist, "nosuch.safetensors"},
		{"nosuch/model.gguf#a", Options{}, fs.ErrNotExist, "model.gguf"},
		{"a.parquet", Options{}, garner.ErrAttribute, "garner: a.parquet is of no format that garner reads: .npy, .npz#NAME, .safetensors#NAME, .safetensors.index.json#NAME, .gguf#NAME, .raw, .bin"},
		{"", Options{}, ErrUnknown, `garner: the name of a file is empty (""); name what garner reads: .npy, `},
		{"a.npy#b", Options{}, garner.ErrAttribute, "garner: a.npy#b: a .npy file holds one array, which has no name; leave #b out"},
		{"two.safetensors", Options{}, garner.ErrAttribute, "garner: two.safetensors names no array: write two.safetensors#NAME; it has a, b"},
		{"two.safe*.safetensors", Options{}, garner.ErrAttribute, "garner: two.safe*.safetensors names no array: write two.safe*.safetensors#NAME"},
		{"two.npz", Options{}, fs.ErrNotExist, `garner: two.npz: which array of it? Name one with #NAME; it has "x", "y"`},
		{"two.safetensors#c", Options{}, fs.ErrNotExist, `garner: two.safetensors: it has no tensor "c"; it has "a", "b"`},
		{"two.npz#z", Options{}, fs.ErrNotExist, `garner: two.npz: it has no array "z"; it has "x", "y"`},
		{"q-*.npy", Options{}, fs.ErrNotExist, "garner: no file matches q-*.npy; check the pattern and the folder"},
		{"[.npy", Options{}, filepath.ErrBadPattern, "is no pattern of file names"},
		{"part-*.npy", Options{}, garner.ErrShape, "garner: part-2.npy is i16[1,3] and part-1.npy is i16[2,2]; only the first extent may differ from file to file"},
		{"kind-*.npy", Options{}, garner.ErrDType, "garner: kind-2.npy is i32[2] and kind-1.npy is i16[2]; arrays of one dtype make a table"},
		{"folder.npy", Options{}, nil, "folder.npy is a folder; name a file"},
		{"cut.npy", Options{}, nil, "garner: cut.npy: "},
		{"a.npy", Options{DType: garner.F32}, garner.ErrDType, "a.npy"},
		{"a.npy", Options{Shape: []int{2}}, garner.ErrAttribute, "a.npy says itself what its shape is"},
		{"a.npy", Options{Raw: true}, garner.ErrAttribute, "a.npy has no quantised blocks"},
		{"table.bin", Options{}, garner.ErrDType, "table.bin: it does not say what its bytes are; give the dtype"},
		{"table.bin", Options{DType: garner.F32}, nil, "table.bin: its 10 bytes are no whole number of f32[], 4 bytes each"},
		{"words.npy", Options{InPlace: true}, ErrMemory, "words.npy: it holds strings, which can only be read whole"},
		{"gs://bucket/a.npy#b", Options{}, garner.ErrAttribute, "gs://bucket/a.npy"},
		{"gs://bucket/a.npy", Options{}, garner.ErrAttribute, "garner: gs://bucket/a.npy is a URL, and no scheme gs:// is registered; download the file and name it"},
		{"gs://bucket/a", Options{}, garner.ErrAttribute, "garner: gs://bucket/a is a URL, and no scheme gs:// is registered; download the file and name it"},
		{"file:///tmp/a.npy", Options{}, garner.ErrAttribute, "garner: file:///tmp/a.npy is a URL; name the file by its path"},
	} {
		_, err := Open(t.Context(), tt.operand, tt.o)
		if _, _, also := Tensor(t.Context(), tt.operand, tt.o); also == nil || err == nil || also.Error() != err.Error() {
			t.Errorf("%s: Open says %v, Tensor %v", tt.operand, err, also)
			continue
		}
		if tt.class != nil && !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%s: %v; want %s", tt.operand, err, tt.want)
		}
	}
	_, err := Open(t.Context(), "words.npy", Options{})
	refused(t, err, garner.ErrDType, "words.npy is string[1], which has no rows of bytes; read it with files.Tensor")
	words, done, err := Tensor(t.Context(), "words.npy", Options{})
	if err != nil || words.Text() != `["a"]` || done() != nil {
		t.Error(words, err)
	}
	// The only array of a file needs no name.
	one := must(Open(t.Context(), "one.safetensors", Options{}))
	if one.Spec().String() != "i8[1]" {
		t.Error(one.Spec())
	}
	one.Close()
	_, err = List(t.Context(), "two.npz#z", Options{})
	refused(t, err, fs.ErrNotExist, `it has no array "z"`)
	if list := must(List(t.Context(), "two.npz#y", Options{})); len(list) != 1 || list[0].Name != "y" {
		t.Errorf("%+v", list)
	}
	if list, want := must(List(t.Context(), "two.npz#y.npy", Options{})), must(List(t.Context(), "two.npz#y", Options{})); want[0].Bytes < 1 || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v; want %+v", list, want) // the member's own name means the same array
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fs.ErrClosed)
	if _, err := Open(ctx, "a.npy", Options{}); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := List(ctx, "a.npy", Options{}); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// TestNeedsName tells operands that lack a name from those that need none.
func TestNeedsName(t *testing.T) {
	dir := filepath.Join("..", "format")
	for text, want := range map[string]bool{
		"a.npy":       false,
		"a.npz":       false, // its reader says which there are
		"a.npz#":      true,
		"a.npz#b":     false,
		"nosuch.gguf": true,
		filepath.Join(dir, "safetensors", "testdata", "plain.safetensors"): true,
		filepath.Join(dir, "gguf", "testdata", "split-*.gguf"):             true,
	} {
		if got := must(Parse(text)).NeedsName(); got != want {
			t.Errorf("%s needs a name: %v", text, got)
		}
	}
}

// TestMemory serves rows of an array that was inflated into memory.
func TestMemory(t *testing.T) {
	a := must(Open(t.Context(), filepath.Join("..", "format", "npz", "testdata", "deflated.npz")+"#zeros", Options{}))
	defer a.Close()
	if x, ok := a.(interface{ Tensor() (garner.Tensor, bool) }); !ok {
		t.Error("it gives no tensor")
	} else if v, ok := x.Tensor(); !ok || v.Len() != 20000 {
		t.Error(v, ok)
	}
	if _, wrapped := a.(*held); wrapped {
		t.Error("package source does not see that it is memory, and reads it row by row")
	}
	table := must(source.NewTable(a))
	dst := make([]byte, 2*table.RowBytes())
	dst[0] = 1
	if err := source.Lookup(t.Context(), table, []int{1, 0}, dst); err != nil || dst[0] != 0 {
		t.Error(err)
	}
}

// TestRead reads a stream, and holds a tensor.
func TestRead(t *testing.T) {
	var b strings.Builder
	w := must(NewWriter(t.Context(), &b, garner.Spec{}, CreateOptions{Descr: "|S1"}))
	if err := w.Put(garner.Of([]string{"x", "y"}, 2)); err != nil || w.Commit() != nil {
		t.Fatal(err)
	}
	in := must(Read(strings.NewReader(b.String()), Options{}))
	if x, ok := in.View(); !ok || x.Text() != `["x", "y"]` || in.Descr != "|S1" || in.Array != nil || in.Close() != nil {
		t.Errorf("%+v", in)
	}
	for text, want := range map[string]string{"none": "garner: the text: ", "": "garner: the stream is empty; ", "\x00": "garner: the npy stream: ", "\x93NUMPZ": "garner: the npy stream: "} {
		if _, err := Read(strings.NewReader(text), Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	in = must(Read(strings.NewReader("1,2\n3,4\n"), Options{DType: garner.U8}))
	if x, ok := in.View(); !ok || x.String() != "u8[2,2] [[1, 2], [3, 4]]" || in.Close() != nil {
		t.Errorf("%+v", in)
	}
	in = Hold(garner.Of([]int8{1}, 1))
	if in.Spec().String() != "i8[1]" || in.Array == nil || in.Close() != nil {
		t.Errorf("%+v", in)
	}
}
