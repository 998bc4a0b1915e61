package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
)

// write makes a file of the given bytes and returns its path.
func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// noise returns n random bytes, the same ones for each n.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func open(t testing.TB, spec garner.Spec, codec *Codec, segments ...Segment) *File {
	t.Helper()
	f, err := Open(spec, codec, segments...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// swapped stores 16-bit numbers in big-endian order.
var swapped = &Codec{Elements: 1, Bytes: 2, Decode: func(dst, src []byte) {
	for i := 0; i < len(src); i += 2 {
		dst[i], dst[i+1] = src[i+1], src[i]
	}
}}

// scaled stores 4 f32 in 5 bytes: a scale and four numbers.
var scaled = &Codec{Elements: 4, Bytes: 5, Decode: func(dst, src []byte) {
	for i := 0; i < len(src); i += 5 {
		for j := range 4 {
			v := float32(src[i]) * float32(src[i+1+j])
			binary.LittleEndian.PutUint32(dst[(i/5*4+j)*4:], math.Float32bits(v))
		}
	}
}}

// cut divides bytes into segments of whole blocks, over three files that have other
// bytes before and between them.
func cut(t testing.TB, r *rand.Rand, b []byte, block int) []Segment {
	t.Helper()
	var segments []Segment
	dir := t.TempDir()
	var files [3]bytes.Buffer
	for len(b) > 0 {
		n := min(len(b), (1+r.IntN(max(1, len(b)/block/2+1)))*block)
		i := r.IntN(len(files))
		files[i].Write(noise(r.IntN(50)))
		segments = append(segments, Segment{filepath.Join(dir, fmt.Sprint(i)), int64(files[i].Len()), int64(n)})
		files[i].Write(b[:n])
		b = b[n:]
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), files[i].Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return segments
}

// FuzzFetch fetches random rows of arrays in random segments, with and without
// codecs, in every way, and compares them with the bytes that were written.
func FuzzFetch(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		blocks := 1 + r.IntN(1<<r.IntN(16))
		stored := noise(blocks * 10)
		codec, spec, want, block := (*Codec)(nil), garner.SpecOf(garner.U8, len(stored)), stored, 1
		switch r.IntN(3) {
		case 1:
			codec, block, spec = swapped, 2, garner.SpecOf(garner.U16, len(stored)/2)
			want = make([]byte, len(stored))
		case 2:
			codec, block, spec = scaled, 5, garner.SpecOf(garner.F32, len(stored)/5*4)
			want = make([]byte, len(stored)/5*16)
		}
		if codec != nil {
			codec.Decode(want, stored)
		}
		file := open(t, spec, codec, cut(t, r, stored, block)...)
		for range 4 {
			rows := someRows(r, len(want))
			for _, way := range append(file.Ways(), Auto) {
				clear(rows.Dst)
				if err := file.FetchBy(t.Context(), way, rows); err != nil {
					t.Fatalf("seed %d: %v: %v", seed, way, err)
				}
				holds(t, fmt.Sprint("seed ", seed, " ", way), rows, want)
			}
			clear(rows.Dst)
			if err := file.fetchUnmapped(t.Context(), rows, 2); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			holds(t, fmt.Sprint("seed ", seed, " unmapped"), rows, want)
		}
	})
}

// someRows returns random rows of an array of size bytes, close together or far
// apart.
func someRows(r *rand.Rand, size int) Rows {
	rows := Rows{Size: r.IntN(1 + min(size, 1<<r.IntN(20)))}
	for range r.IntN(1 + 1<<r.IntN(9)) {
		rows.At = append(rows.At, r.Int64N(int64(size-rows.Size+1)))
	}
	slices.Sort(rows.At)
	rows.At = slices.Compact(rows.At)
	rows.Dst = make([]byte, len(rows.At)*rows.Size)
	return rows
}

func holds(t *testing.T, about string, rows Rows, want []byte) {
	t.Helper()
	for i, at := range rows.At {
		if got := rows.Dst[i*rows.Size : (i+1)*rows.Size]; !bytes.Equal(got, want[at:at+int64(rows.Size)]) {
			t.Fatalf("%s: row %d of %d bytes from byte %d on is another", about, i, rows.Size, at)
		}
	}
}

func TestFetchRefuses(t *testing.T) {
	file := open(t, garner.SpecOf(garner.U8, 100), nil, Segment{write(t, "x", noise(100)), 0, 100})
	for name, rows := range map[string]Rows{
		"before":     {At: []int64{-1}, Size: 1, Dst: make([]byte, 1)},
		"behind":     {At: []int64{98}, Size: 3, Dst: make([]byte, 3)},
		"descending": {At: []int64{9, 8}, Size: 1, Dst: make([]byte, 2)},
		"twice":      {At: []int64{9, 9}, Size: 1, Dst: make([]byte, 2)},
		"too little": {At: []int64{9, 10}, Size: 2, Dst: make([]byte, 3)},
		"huge":       {At: []int64{9, 10}, Size: math.MaxInt, Dst: make([]byte, 3)},
	} {
		for _, a := range []Array{file, Memory(garner.Of(noise(100), 100))} {
			if err := a.Fetch(t.Context(), rows); err == nil || !strings.HasPrefix(err.Error(), "garner: ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	path := write(t, "x.bin", noise(100))
	u8, f16 := garner.SpecOf(garner.U8, 100), garner.SpecOf(garner.F16, 5, 10)
	strided := func(strides ...int) garner.Spec { s := garner.SpecOf(garner.F16, 5, 10); s.Strides = strides; return s }
	for _, tt := range []struct {
		name     string
		spec     garner.Spec
		codec    *Codec
		segments []Segment
		want     string
	}{
		{"too much", u8, nil, []Segment{{path, 1, 100}}, "bytes 1…100: the file has 100 bytes"},
		{"far behind", u8, nil, []Segment{{path, math.MaxInt64, 100}}, "the file has 100 bytes"},
		{"overflow", u8, nil, []Segment{{path, 1, math.MaxInt64}}, "the file has 100 bytes"},
		{"negative", u8, nil, []Segment{{path, -1, 100}}, "no piece of a file"},
		{"too few", u8, nil, []Segment{{path, 1, 99}}, "takes 100 bytes and the segments hold 99"},
		{"too many", u8, nil, []Segment{{path, 0, 100}, {path, 0, 1}}, "takes 100 bytes and the segments hold 101"},
		{"none", u8, nil, nil, "takes 100 bytes and the segments hold 0"},
		{"no file", u8, nil, []Segment{{path + "x", 0, 100}}, "there is no file"},
		{"folder", u8, nil, []Segment{{filepath.Dir(path), 0, 100}}, "is a folder"},
		{"gaps", strided(11, 1), nil, []Segment{{path, 0, 100}}, "side by side"},
		{"negative strides", strided(10, -1), nil, []Segment{{path, 0, 100}}, "side by side"},
		{"few strides", strided(10), nil, []Segment{{path, 0, 100}}, "side by side"},
		{"strings", garner.SpecOf(garner.String, 3), nil, nil, "fixed width"},
		{"dims", garner.SpecOfDims(garner.U8, garner.AnyDim), nil, nil, "needs all its dims"},
		{"large", garner.SpecOf(garner.F64, math.MaxInt), nil, nil, "more bytes than"},
		{"larger", garner.SpecOf(garner.U8, math.MaxInt, 3), nil, nil, "more elements than"},
		{"half a block", f16, swapped, []Segment{{path, 0, 99}}, "no whole number of blocks of 2 bytes"},
		{"packed codec", garner.SpecOf(garner.U4, 200), swapped, []Segment{{path, 0, 100}}, "narrower than a byte"},
		{"empty codec", f16, &Codec{}, []Segment{{path, 0, 100}}, "must be 1 or more"},
		{"overflowing codec", u8, &Codec{Elements: math.MaxInt32, Bytes: 1, Decode: swapped.Decode}, slices.Repeat([]Segment{{path, 0, 100}}, 1<<16), "segments hold"},
	} {
		f, err := Open(tt.spec, tt.codec, tt.segments...)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	var missing *ReadError
	if _, err := Open(u8, nil, Segment{path, 1, 100}); !errors.As(err, &missing) || missing.Path != path || missing.From != 1 || missing.To != 101 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%#v", missing)
	}
}

func TestOpenAccepts(t *testing.T) {
	path := write(t, "x.bin", noise(100))
	fortran := garner.SpecOf(garner.F16, 5, 10)
	fortran.Strides = []int{1, 5}
	for _, tt := range []struct {
		spec     garner.Spec
		segments []Segment
		mapped   bool
	}{
		{garner.SpecOf(garner.U8, 100), []Segment{{path, 0, 100}}, true},
		{fortran, []Segment{{path, 0, 100}}, true},
		{garner.SpecOf(garner.U4, 3, 3), []Segment{{path, 7, 5}}, true},
		{garner.SpecOf(garner.U8), []Segment{{path, 99, 1}}, true},
		{garner.SpecOf(garner.F32, 3, 0), nil, false},
		{garner.SpecOf(garner.F32, 3, 0), []Segment{{path, 100, 0}}, false},
		{garner.SpecOf(garner.U8, 200), []Segment{{path, 0, 100}, {path, 0, 100}}, false},
	} {
		f := open(t, tt.spec, nil, tt.segments...)
		v, ok := f.Tensor()
		if ok != tt.mapped {
			t.Errorf("%v: mapped %v", tt.spec, ok)
		}
		if ok && (v.DType() != tt.spec.DType || v.Len() != must(tt.spec).Len()) {
			t.Errorf("%v came as %v", tt.spec, v.Spec())
		}
		if err := f.Changed(); err != nil {
			t.Error(err)
		}
		if f.Spec().String() != tt.spec.String() {
			t.Error(f.Spec())
		}
	}
}

func must(s garner.Spec) garner.Tensor {
	shape, _ := s.Shape()
	t, err := garner.New(s.DType, shape...)
	if err != nil {
		panic(err)
	}
	return t
}

func TestChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"cut":       {func(path string) error { return os.Truncate(path, 50) }, "cut short while it was read, from 100 bytes to 50"},
		"grown":     {func(path string) error { return os.Truncate(path, 150) }, "grew while it was read, from 100 bytes to 150"},
		"written":   {func(path string) error { return touch(path) }, "written to"},
		"rewritten": {rewrite, "written to"},
		"replaced":  {func(path string) error { return replace(path) }, "replaced by another"},
	} {
		path := write(t, "x.bin", noise(100))
		f := open(t, garner.SpecOf(garner.U8, 100), nil, Segment{path, 0, 100})
		if err := tt.change(path); err != nil {
			mayNotChange(t, err)
		}
		err := f.Changed()
		if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := write(t, "x.bin", noise(100))
	f, err := Open(garner.SpecOf(garner.U8, 100), nil, Segment{path, 0, 100})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := f.Changed(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if _, ok := f.Tensor(); ok {
		t.Error("a closed file is mapped")
	}
}

// TestUnchanged holds that a file whose mode, links or name change has its bytes, for
// Changed and for a Table.
func TestUnchanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"chmod": func(path string) error { return os.Chmod(path, 0o400) },
		"ln":    func(path string) error { return os.Link(path, path+"2") },
		"rm":    os.Remove,
		"mv":    func(path string) error { return os.Rename(path, path+"2") },
	} {
		path := write(t, "x.bin", noise(100))
		f := open(t, garner.SpecOf(garner.U8, 10, 10), nil, Segment{path, 0, 100})
		table, err := NewTable(f)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
		if err := change(path); err != nil {
			mayNotChange(t, err)
		}
		if err := errors.Join(f.Changed(), Lookup(t.Context(), table, []int{3}, make([]byte, 10))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStates tells a file from itself before it was written to, and from another of
// its name, where size and time of modification are kept.
func TestStates(t *testing.T) {
	path := write(t, "x.bin", noise(100))
	other := write(t, "y.bin", noise(50))
	f := open(t, garner.SpecOf(garner.U8, 120), nil, Segment{path, 0, 40}, Segment{other, 0, 50}, Segment{path, 60, 30})
	before, err := f.States()
	if err != nil || len(before) != 3 || before[0] != before[2] || before[0] == before[1] || before[0].Size != 100 || before[1].Size != 50 {
		t.Fatalf("%v, %v", before, err)
	}
	if before[0].Inode == 0 || before[0].Changed.IsZero() {
		t.Skipf("this system does not say: %v", before[0])
	}
	for _, want := range []string{"100 bytes, written ", ", changed ", fmt.Sprint(", inode ", before[0].Inode)} {
		if got := before[0].String(); !strings.Contains(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	}
	time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
	if err := os.WriteFile(path, noise(100), 0o666); err != nil {
		mayNotChange(t, err)
	}
	if err := os.Chtimes(path, before[0].Modified, before[0].Modified); err != nil {
		t.Fatal(err)
	}
	after, err := f.States()
	if err != nil || after[0] == before[0] || after[0].Inode != before[0].Inode || !after[0].Modified.Equal(before[0].Modified) || after[1] != before[1] {
		t.Errorf("%v, then %v, %v", before, after, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.States(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func touch(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	later := info.ModTime().Add(1e9)
	return os.Chtimes(path, later, later)
}

// rewrite writes to a file and keeps its size and its time of modification.
func rewrite(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt([]byte{1, 2, 3}, 10)
	return errors.Join(err, file.Close(), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

func replace(path string) error {
	if err := os.WriteFile(path+"2", noise(100), 0o666); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.Chtimes(path+"2", info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return os.Rename(path+"2", path)
}

// TestMemory fetches from tensors whose dims are stored in every order.
func TestMemory(t *testing.T) {
	base := garner.Of(noise(60), 3, 4, 5)
	for _, perm := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		v, err := base.Transpose(perm...)
		if err != nil {
			t.Fatal(err)
		}
		m := Memory(v)
		want, _ := base.Bytes()
		if !slices.Equal(m.Spec().Strides, v.Strides()) {
			t.Error(m.Spec().Strides)
		}
		rows := Rows{At: []int64{0, 7, 59}, Size: 1, Dst: make([]byte, 3)}
		if err := m.Fetch(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		holds(t, fmt.Sprint(perm), rows, want)
	}
	loose, err := base.Slice(2, 4, -1, -2)
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows{At: []int64{0, 1, 35}, Size: 1, Dst: make([]byte, 3)}
	m := Memory(loose)
	if err := m.Fetch(t.Context(), rows); err != nil || m.Spec().Strides != nil {
		t.Fatal(m.Spec(), err)
	}
	clone, _ := loose.Clone()
	want, _ := clone.Bytes()
	holds(t, "loose", rows, want)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := m.Fetch(ctx, rows); err != cause {
		t.Error(err)
	}
	if err := Memory(garner.Of([]string{"x"}, 1)).Fetch(t.Context(), Rows{}); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
}
