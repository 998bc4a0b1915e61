package layout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// at returns an array over a new file of n bytes, which count up.
func at(t *testing.T, name string, bytes int, spec garner.Spec, codec *source.Codec) Array {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(i)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	h := must(OpenHeader(path))
	defer h.Close()
	return Array{Spec: spec, Codec: codec, Segments: []source.Segment{{Path: path, Bytes: h.Size()}}, Headers: []*Header{h}}
}

func TestJoin(t *testing.T) {
	a := at(t, "a", 12, garner.SpecOf(garner.U16, 2, 3), nil)
	b := at(t, "b", 6, garner.SpecOf(garner.U16, 1, 3), nil)
	none := at(t, "none", 0, garner.SpecOf(garner.U16, 0, 3), nil)
	j := must(Join([]Array{a, none, b, a}))
	if got := j.Spec.String(); got != "u16[5,3]" {
		t.Error(got)
	}
	f := must(j.Open())
	x := must(Read(context.Background(), f))
	f.Close()
	if got := x.Text(); got != "[[256, 770, 1284], [1798, 2312, 2826], [256, 770, 1284], [256, 770, 1284], [1798, 2312, 2826]]" {
		t.Error(got)
	}
	turned := a
	turned.Spec.Strides = []int{1, 2}
	if one := must(Join([]Array{turned})); one.Spec.Strides == nil {
		t.Error("one array is not as it was")
	}
	line := b
	line.Spec.Strides = []int{1, 1} // one row is contiguous in both orders
	must(Join([]Array{line, b}))

	nibbles := at(t, "nibbles", 2, garner.SpecOf(garner.U4, 1, 3), nil)
	blocks := &source.Codec{Elements: 2, Bytes: 1, Decode: func(dst, src []byte) {}}
	half := at(t, "half", 2, garner.SpecOf(garner.U16, 1, 3), blocks)
	long := at(t, "long", 0, garner.SpecOf(garner.U16, math.MaxInt, 3, 0), nil)
	for _, tt := range []struct {
		arrays []Array
		class  error
		parts  string
	}{
		{nil, garner.ErrShape, "no array"},
		{[]Array{a, at(t, "c", 6, garner.SpecOf(garner.I16, 1, 3), nil)}, garner.ErrDType, "c is i16[1,3] and "},
		{[]Array{a, at(t, "c", 4, garner.SpecOf(garner.U16, 1, 2), nil)}, garner.ErrShape, "c is u16[1,2] and "},
		{[]Array{a, at(t, "c", 6, garner.SpecOf(garner.U16, 3), nil)}, garner.ErrShape, "c is u16[3] and "},
		{[]Array{at(t, "c", 2, garner.SpecOf(garner.U16), nil), a}, garner.ErrShape, "c is u16[], which has no axis"},
		{[]Array{a, at(t, "c", 6, garner.SpecOf(garner.U16, 1, 3), Swap(garner.U16))}, garner.ErrDType, "stored in another byte order or kind than "},
		{[]Array{a, turned}, garner.ErrShape, "in Fortran order"},
		{[]Array{nibbles, nibbles}, garner.ErrShape, "which ends inside a byte"},
		{[]Array{half, half}, garner.ErrShape, "which ends inside a block of 2 elements"},
		{[]Array{long, long}, garner.ErrShape, "more rows than an int can count"},
	} {
		_, err := Join(tt.arrays)
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.parts) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%v, want %q", err, tt.parts)
		}
	}
}

// TestOpenChanged opens arrays of files that have changed.
func TestOpenChanged(t *testing.T) {
	spec := garner.SpecOf(garner.U8, 4)
	for name, change := range map[string]func(path string) error{
		"replaced": func(path string) error {
			other := path + ".new"
			if err := os.WriteFile(other, []byte("abcd"), 0o666); err != nil {
				return err
			}
			return os.Rename(other, path)
		},
		"rewritten": func(path string) error {
			info, err := os.Stat(path)
			time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
			return errors.Join(err, os.WriteFile(path, []byte("abcd"), 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"longer": func(path string) error { return os.WriteFile(path, []byte("abcde"), 0o666) },
	} {
		a := at(t, name, 4, spec, nil)
		if err := change(a.Segments[0].Path); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Open(); !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), name+": the file was changed or replaced") {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := at(t, "shorter", 4, spec, nil)
	if err := os.Truncate(a.Segments[0].Path, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(); err == nil {
		t.Error("a file that was cut short was opened")
	}
}

func TestSwap(t *testing.T) {
	src := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for d, want := range map[garner.DType][]byte{
		garner.BF16:       {2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15},
		garner.F32:        {4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13},
		garner.Complex64:  {4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13},
		garner.I64:        {8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9},
		garner.Complex128: {8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9},
	} {
		c := Swap(d)
		dst := make([]byte, len(src))
		c.Decode(dst, src)
		if !bytes.Equal(dst, want) || c.Elements != 1 || c.Bytes != d.Bits()/8 || c != Swap(d) {
			t.Errorf("%s: %v", d, dst)
		}
	}
	if Swap(garner.I8) != nil || Swap(garner.U4) != nil {
		t.Error("there is nothing to swap in a byte")
	}
}

// TestRead reads an array in Fortran order that is larger than a piece.
func TestRead(t *testing.T) {
	spec := garner.SpecOf(garner.U8, 3, 3<<20+1)
	spec.Strides = []int{1, 3}
	a := at(t, "large", 3*(3<<20+1), spec, nil)
	f := must(a.Open())
	defer f.Close()
	x := must(Read(context.Background(), f))
	want, _ := f.Tensor()
	if fmt.Sprint(x.Strides()) != "[1 3]" || !bytes.Equal(must(must(x.Clone()).Bytes()), must(must(want.Clone()).Bytes())) {
		t.Error("other elements were read")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, f); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestForm writes a file at once, and again resumed from every byte.
func TestForm(t *testing.T) {
	for _, tt := range []struct {
		form     Form
		elements string
		want     string
	}{
		{Form{garner.SpecOf(garner.U16, 3), []byte("head"), []byte("end"), true}, "abcdef", "headabcdefend"},
		{Form{garner.SpecOf(garner.U4, 3), []byte("head"), nil, false}, "\x21\x03", "head\x21\x03"},
		{Form{garner.SpecOf(garner.U4, 3), nil, []byte("end"), true}, "\x21\x03", "\x01\x02\x03end"},
		{Form{garner.SpecOf(garner.U16, 0), []byte("head"), nil, true}, "", "head"},
	} {
		if size, err := tt.form.Size(); err != nil || size != int64(len(tt.want)) {
			t.Errorf("%s: %d bytes, %v", tt.form.Spec, size, err)
		}
		for from := range len(tt.elements) + 1 {
			var b bytes.Buffer
			var w *Writer
			if from == 0 {
				w = must(tt.form.NewWriter(&b))
			} else {
				b.WriteString(tt.want[:min(int(tt.form.At(int64(from))), len(tt.want)-len(tt.form.Trailer))])
				w = must(tt.form.Resume(&b, int64(from)))
			}
			must(w.Write([]byte(tt.elements[from:])))
			if err := w.Close(); err != nil || b.String() != tt.want {
				t.Errorf("%s from %d: %q, %v, want %q", tt.form.Spec, from, b.String(), err, tt.want)
			}
			if err := w.Close(); err != nil || b.String() != tt.want {
				t.Errorf("closed twice: %v", err)
			}
		}
		for _, from := range []int64{-1, int64(len(tt.elements) + 1)} {
			if _, err := tt.form.Resume(nil, from); !errors.Is(err, garner.ErrShape) {
				t.Errorf("from %d: %v", from, err)
			}
		}
	}
}
