package gguf

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// TestWrite writes tensors and reads them back. The reference reads them too
// (testdata/make.py --check).
func TestWrite(t *testing.T) {
	want := recorded(t)
	path := filepath.Join(t.TempDir(), "written.gguf")
	for _, name := range []string{"cube", "row", "plain.f2", "plain.f8", "plain.i1", "plain.i2", "plain.i4", "plain.i8", "plain.f4"} {
		x := want[name]
		turned := must(x.Transpose())
		var b bytes.Buffer
		// A tensor that is not row-major.
		if err := Write(&b, name, must(must(turned.Clone()).Transpose())); err != nil {
			t.Fatal(err)
		}
		if b.Len()%defaultAlignment != 0 {
			t.Errorf("%s: a file of %d bytes", name, b.Len())
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		same(t, f, name, Options{}, x)
		if *keep != "" {
			if err := os.WriteFile(filepath.Join(*keep, "written."+name+".gguf"), b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name  string
		spec  garner.Spec
		class error
		part  string
	}{
		{"a", garner.SpecOf(garner.U8, 3), garner.ErrDType, `tensor "a" is of u8, which GGUF does not have`},
		{"a", garner.SpecOf(garner.String, 3), garner.ErrDType, "string"},
		{strings.Repeat("a", 64), garner.SpecOf(garner.I8, 3), ErrFormat, "of 64 bytes is longer than 63"},
		{"\xff", garner.SpecOf(garner.I8, 3), ErrFormat, "not UTF-8"},
		{"a", garner.SpecOf(garner.I8, 1, 1, 1, 1, 1), ErrFormat, "up to 4 extents"},
		{"a", garner.SpecOfDims(garner.I8, garner.AnyDim), garner.ErrShape, "not known"},
	} {
		_, err := NewWriter(io.Discard, tt.name, tt.spec)
		refused(t, err, tt.class, tt.part)
	}
	for _, left := range []int{20, 64, 70} { // in the header, the data and the padding
		if err := Write(&failing{left}, "a", garner.Of([]int8{1}, 1)); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
}

// failing accepts n bytes and then fails.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}
