package npy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
)

// agree compares OpenArray of a file with Open.
func agree(t *testing.T, path string, o Options, opened *File, openErr error) {
	t.Helper()
	a, err := OpenArray(path, o)
	if openErr != nil {
		// Only Open reads strings.
		if err == nil || !errors.Is(err, layout.ErrMemory) && err.Error() != openErr.Error() {
			t.Errorf("opened as an array: %v; else: %v", err, openErr)
		}
		return
	}
	want := opened.Tensor()
	if d := want.DType(); d == garner.String || d.Packed() {
		if !errors.Is(err, layout.ErrMemory) {
			t.Errorf("%s: %v, want an ErrMemory", d, err)
		}
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer a.Close()
	got, err := layout.Read(context.Background(), a)
	if err != nil {
		t.Error(err)
		return
	}
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) || !bytes.Equal(elements(got), elements(want)) {
		t.Errorf("as an array it is %s, else %s", got, want)
	}
	if view, ok := a.Tensor(); ok && !bytes.Equal(elements(view), elements(want)) {
		t.Errorf("a view of the array is %s, want %s", view, want)
	}
}

func elements(t garner.Tensor) []byte { return must(must(t.Clone()).Bytes()) }

// TestOpenArray reads NumPy's files as Open does.
func TestOpenArray(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	for _, r := range recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			save(t, path, r.NPY)
			f, err := Open(path, r.options(t))
			if err == nil {
				defer f.Close()
			}
			agree(t, path, r.options(t), f, err)
		})
	}
}

// TestOpenArrayTruncated truncates a file at every byte.
func TestOpenArrayTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	whole := []byte(file(dict("'>f4'", "(2, 3)"), "012345678901234567890123"))
	for n := range whole {
		save(t, path, whole[:n])
		_, err := OpenArray(path, Options{})
		refused(t, err, ErrFormat, "garner: "+path+": ", "")
	}
	save(t, path, append(whole, "more"...))
	a, err := OpenArray(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// TestStat checks the Info of a header, also of an array that cannot be read.
func TestStat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	for _, tt := range []struct {
		descr, shape string
		bytes        int
		dtype        garner.DType
		class        error
	}{
		{"'>f4'", "(2, 3)", 24, garner.F32, nil},
		{"'<U2'", "(2,)", 16, garner.String, layout.ErrMemory},
		{"'|V2'", "(2,)", 4, garner.Invalid, garner.ErrDType},
	} {
		save(t, path, []byte(file(dict(tt.descr, tt.shape), "")+string(make([]byte, tt.bytes))))
		info, _, err := Stat(path, Options{})
		if !errors.Is(err, tt.class) || "'"+info.Descr+"'" != tt.descr || info.DType != tt.dtype || info.Bytes != int64(tt.bytes) || info.Shape[0] != 2 {
			t.Errorf("%s: %+v, %v", tt.descr, info, err)
		}
	}
}

// TestNewWriter writes in pieces and compares the bytes with those of Write.
func TestNewWriter(t *testing.T) {
	for _, d := range garner.DTypes() {
		for _, shape := range [][]int{{}, {0, 3}, {7}, {3, 5}} {
			x, err := garner.New(d, shape...)
			if err != nil {
				t.Fatal(err)
			}
			if d == garner.String {
				_, err := NewWriter(io.Discard, x.Spec())
				refused(t, err, garner.ErrDType, "garner: ", "an array of string has no bytes")
				continue
			}
			b := must(x.Bytes())
			for i := range b {
				b[i] = byte(i*i + 0x9d)
			}
			var want, got bytes.Buffer
			if err := Write(&want, x); err != nil {
				t.Fatal(err)
			}
			w := must(NewWriter(&got, x.Spec()))
			for rest := b; len(rest) > 0; {
				n := min(3, len(rest))
				if k, err := w.Write(rest[:n]); k != n || err != nil {
					t.Fatal(k, err)
				}
				if rest = rest[n:]; len(rest) > 0 {
					refused(t, w.Close(), garner.ErrShape, "garner: ", "bytes of "+x.Spec().String()+" are missing")
				}
			}
			if _, err := w.Write([]byte{1}); err == nil {
				t.Errorf("%s%v: one byte too many was taken", d, shape)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%s%v: %q, want %q", d, shape, got.Bytes(), want.Bytes())
			}
		}
	}
	_, err := NewWriter(io.Discard, garner.SpecOfDims(garner.F32, garner.AnyDim))
	refused(t, err, garner.ErrShape, "garner: ", "not known")
	full := &failing{200}
	w := must(NewWriter(full, garner.SpecOf(garner.U4, 999)))
	if _, err := w.Write(make([]byte, 500)); err == nil {
		t.Error("a failed write was not reported")
	}
}

// TestOpenArrayFails opens paths that are not files.
func TestOpenArrayFails(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenArray(filepath.Join(dir, "nosuch.npy"), Options{})
	refused(t, err, os.ErrNotExist, "garner: ", "nosuch.npy")
	if _, err = OpenArray(dir, Options{}); err == nil {
		t.Error("a folder was opened")
	}
}
