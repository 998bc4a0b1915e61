package npz

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
)

// agree compares the layouts of an archive's arrays with the arrays.
func agree(t *testing.T, f *File) {
	t.Helper()
	for _, info := range f.List() {
		want, wantErr := f.Array(info.Name)
		a, err := f.Layout(info.Name)
		if wantErr != nil {
			if err == nil {
				t.Errorf("%q: %v; as an array: %v", info.Name, wantErr, err)
			}
			continue
		}
		if info.DType != want.Tensor.DType() || !info.Shape.Equal(want.Tensor.Shape()) || info.Descr != want.Descr {
			t.Errorf("%q is listed as %+v", info.Name, info)
		}
		d := want.Tensor.DType()
		if d == garner.String || d.Packed() || info.Deflated {
			if !errors.Is(err, layout.ErrMemory) {
				t.Errorf("%q: %v, want an ErrMemory", info.Name, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		opened, err := a.Open()
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := layout.Read(context.Background(), opened)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(elements(got), elements(want.Tensor)) || got.DType() != d || !got.Shape().Equal(want.Tensor.Shape()) {
			t.Errorf("%q is %s, want %s", info.Name, got, want.Tensor)
		}
		opened.Close()
	}
}

func elements(t garner.Tensor) []byte {
	b, err := must(t.Clone()).Bytes()
	if err != nil {
		panic(err)
	}
	return b
}

// TestOpenArray reads NumPy's archives as Array does.
func TestOpenArray(t *testing.T) {
	for _, name := range []string{"stored", "deflated", "streamed", "streamed_deflated", "one", "bzip2", "lzma"} {
		for _, d := range []garner.DType{garner.Invalid, garner.BF16} {
			agree(t, open(t, filepath.Join("testdata", name+".npz"), Options{DType: d}))
		}
	}
	a, err := OpenArray(filepath.Join("testdata", "one.npz"), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if x := must(layout.Read(context.Background(), a)); x.Text() != "[0, 1, 2]" {
		t.Error(x)
	}
	for name, class := range map[string]error{"words": layout.ErrMemory, "nosuch": fs.ErrNotExist, "v2": garner.ErrDType} {
		if _, err := OpenArray(filepath.Join("testdata", "stored.npz"), name, Options{}); !errors.Is(err, class) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := write(t, archive(stored("a.npy", saved(garner.Of([]int8{1}, 1))+"more")))
	if _, err := OpenArray(path, "a", Options{}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

// TestNewWriter writes in pieces and compares the bytes with those of Write.
func TestNewWriter(t *testing.T) {
	nibbles, err := garner.FromBytes(garner.U4, []byte{0x21, 0x03}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []garner.Tensor{garner.Of([]int32{1, 2, 3, 4, 5, 6}, 2, 3), nibbles, garner.Of([]int8{}, 0)} {
		var want, got bytes.Buffer
		if err := Write(&want, []Named{{Name: "rows", Tensor: x}}); err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(&got, "rows", x.Spec())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range elements(x) {
			if _, err := w.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: %v, or other bytes", x, err)
		}
	}
	if _, err := NewWriter(io.Discard, "../a", garner.SpecOf(garner.I8, 1)); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if _, err := NewWriter(io.Discard, "a", garner.SpecOf(garner.String, 1)); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
	if _, err := NewWriter(&failing{}, "a", garner.SpecOf(garner.I8, 1)); err == nil {
		// The archive is buffered, so a failed write shows at the end.
		w, _ := NewWriter(&failing{}, "a", garner.SpecOf(garner.I8, 1))
		w.Write([]byte{1})
		if err := w.Close(); err == nil {
			t.Error("a failed write was not reported")
		}
	}
}
