package raw

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
)

var keep = flag.String("keep", "", "a folder in which to keep the file that TestNumPy writes, for testdata/make.py --check")

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func refused(t *testing.T, err, class error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	if !errors.Is(err, class) || !strings.HasPrefix(err.Error(), "garner: ") || strings.Count(err.Error(), "garner: ") != 1 {
		t.Errorf("%v: of another class, or not with its beginning", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v: want %q in it", err, p)
		}
	}
}

// TestNumPy reads files of numpy.ndarray.tofile and writes the same bytes.
func TestNumPy(t *testing.T) {
	path := filepath.Join("testdata", "table.bin")
	var values []float32
	for i := range 15 {
		values = append(values, float32(i)/4)
	}
	want := garner.Of(values, 5, 3)
	for _, shape := range [][]int{{5, 3}, {Any, 3}, {5, Any}} {
		a, err := OpenArray(path, Options{garner.F32, shape, 4})
		if err != nil {
			t.Error(err)
			continue
		}
		got := must(layout.Read(context.Background(), a))
		if !got.Shape().Equal(want.Shape()) || !slices.Equal(must(garner.Values[float32](got)), values) {
			t.Errorf("%v: %s", shape, got)
		}
		a.Close()
	}
	var b, c bytes.Buffer
	if err := Write(&b, want); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(path))
	if !bytes.Equal(b.Bytes(), whole[4:]) {
		t.Error("other bytes were written")
	}
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, "written.bin"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w := must(NewWriter(&c, want.Spec()))
	must(w.Write(b.Bytes()[:7]))
	must(w.Write(b.Bytes()[7:]))
	if err := w.Close(); err != nil || !bytes.Equal(b.Bytes(), c.Bytes()) {
		t.Error(err, "in two pieces")
	}
	refused(t, Write(io.Discard, garner.Of([]string{"a"}, 1)), garner.ErrDType, "string cannot be written without a header")

	// Views of any width are written in their own order.
	turned := must(must(want.Transpose()).Clone())
	b.Reset()
	if err := Write(&b, must(want.Transpose())); err != nil || !bytes.Equal(b.Bytes(), must(turned.Bytes())) {
		t.Error(err, "turned")
	}
	nibbles := must(garner.FromBytes(garner.U4, []byte{0x10, 0x32, 0x54}, 2, 3))
	b.Reset()
	if err := Write(&b, must(nibbles.Transpose())); err != nil || !bytes.Equal(b.Bytes(), []byte{0x30, 0x41, 0x52}) {
		t.Errorf("%v: % x", err, b.Bytes())
	}
}

func TestSpec(t *testing.T) {
	for _, tt := range []struct {
		o     Options
		size  int64
		want  string // the spec
		class error
		parts string
	}{
		{Options{garner.F32, nil, 0}, 24, "f32[6]", nil, ""},
		{Options{garner.F32, nil, 8}, 24, "f32[4]", nil, ""},
		{Options{garner.F32, nil, 24}, 24, "f32[0]", nil, ""},
		{Options{garner.F32, []int{}, 0}, 4, "f32[]", nil, ""},
		{Options{garner.F32, []int{0, Any}, 0}, 0, "f32[0,0]", nil, ""},
		{Options{garner.F32, []int{Any, 2}, 0}, 24, "f32[3,2]", nil, ""},
		{Options{garner.U4, []int{Any, 3}, 0}, 3, "u4[2,3]", nil, ""},
		{Options{garner.U4, []int{3}, 0}, 2, "u4[3]", nil, ""},
		{Options{garner.U1, nil, 0}, 2, "u1[16]", nil, ""},
		{Options{garner.I8, []int{0, math.MaxInt}, 0}, 0, "", nil, ""},
		{Options{}, 24, "", garner.ErrDType, "it does not say what its bytes are; give the dtype (Options.DType f32)"},
		{Options{garner.String, nil, 0}, 24, "", garner.ErrDType, "cannot hold string"},
		{Options{garner.F32, nil, -1}, 24, "", ErrFormat, "the offset -1 is negative"},
		{Options{garner.F32, nil, 25}, 24, "", ErrFormat, "it has 24 bytes, fewer than the offset 25"},
		{Options{garner.F32, nil, 2}, 24, "", ErrFormat, "its 22 bytes behind the offset 2 are no whole number of f32[], 4 bytes each"},
		{Options{garner.F32, []int{Any, 5}, 0}, 24, "", ErrFormat, "its 24 bytes are no whole number of f32[5], 20 bytes each"},
		{Options{garner.U4, []int{Any, 3}, 0}, 4, "", ErrFormat, "its 4 bytes are no whole number of u4[3], 12 bits each"},
		{Options{garner.F32, []int{Any, 0}, 0}, 4, "", ErrFormat, "its 4 bytes are no whole number of f32[0], 0 bytes each"},
		{Options{garner.F32, []int{Any, Any}, 0}, 24, "", garner.ErrShape, "two extents"},
		{Options{garner.F32, []int{-2}, 0}, 24, "", garner.ErrShape, "extent of -2"},
		{Options{garner.F32, []int{2, 2}, 0}, 24, "", ErrFormat, "it has 24 bytes, and f32[2,2] takes 16; check the dtype, the shape and the offset"},
		{Options{garner.F32, []int{4, 2}, 0}, 24, "", ErrFormat, "it has 24 bytes, and f32[4,2] takes 32"},
		{Options{garner.F32, []int{math.MaxInt, math.MaxInt, math.MaxInt}, 0}, 24, "", garner.ErrShape, "more bytes than can be counted"},
		{Options{garner.F32, []int{Any, math.MaxInt, math.MaxInt, math.MaxInt}, 0}, 24, "", garner.ErrShape, "more bytes than can be counted"},
	} {
		spec, size, err := tt.o.spec(tt.size)
		if tt.class != nil {
			refused(t, err, tt.class, tt.parts)
			continue
		}
		if err != nil || tt.want != "" && spec.String() != tt.want || size != tt.size-tt.o.Offset {
			t.Errorf("%v of %d bytes: %s, %d bytes, %v; want %s", tt.o, tt.size, spec, size, err, tt.want)
		}
	}
	_, err := OpenArray(filepath.Join("testdata", "table.bin"), Options{DType: garner.F32, Shape: []int{Any, 3}})
	refused(t, err, ErrFormat, "table.bin: its 64 bytes are no whole number of f32[3]")
	_, err = OpenArray("nosuch.bin", Options{DType: garner.F32})
	refused(t, err, fs.ErrNotExist, "nosuch.bin")
}

func TestParseShape(t *testing.T) {
	for text, want := range map[string][]int{
		"3": {3}, "3,4": {3, 4}, "[3, 4]": {3, 4}, "(3,4,)": {3, 4}, "?,4": {Any, 4}, "-1 4": {Any, 4}, "[]": {}, " [ ] ": {}, "0": {0},
	} {
		if got, err := ParseShape(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for text, part := range map[string]string{
		"": "the shape is empty", "a": `"a" in the shape "a" is no extent`, "-2": "no extent", "?,-1": "two extents", "[3": "is no shape",
		"99999999999999999999": "no extent", strings.Repeat("1,", 65): "65 extents", "3.0": "no extent",
	} {
		_, err := ParseShape(text)
		refused(t, err, garner.ErrShape, part)
	}
}

// FuzzSpec checks that an accepted Spec has exactly the file's bytes, and that only
// such a file can be opened.
func FuzzSpec(f *testing.F) {
	f.Add("?,3", uint8(garner.F32), int64(4), uint16(64))
	f.Add("[]", uint8(garner.U4), int64(0), uint16(1))
	f.Add("0,?", uint8(garner.U1), int64(-1), uint16(0))
	f.Add("9223372036854775807,2,?", uint8(garner.Complex128), int64(1<<62), uint16(9))
	path := filepath.Join(f.TempDir(), "x.bin")
	f.Fuzz(func(t *testing.T, text string, dtype uint8, offset int64, size uint16) {
		shape, err := ParseShape(text)
		if err != nil {
			if !errors.Is(err, garner.ErrShape) {
				t.Error(err)
			}
			return
		}
		o := Options{garner.DType(dtype), shape, offset}
		if !o.DType.Valid() {
			return
		}
		spec, bytes, err := o.spec(int64(size))
		if err != nil {
			return
		}
		want, _, err := layout.Size(spec)
		if err != nil || want != bytes || offset+bytes != int64(size) {
			t.Fatalf("%s of %d bytes from %d of %d, %v", spec, bytes, offset, size, err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := OpenArray(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if x, err := layout.Read(context.Background(), a); err != nil || int64(x.Len()) > 8*int64(size) {
			t.Error(err)
		}
		a.Close()
	})
}
