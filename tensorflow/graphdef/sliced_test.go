package graphdef

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// indexOf writes an index of one block.
func indexOf(t testing.TB, entries map[string]proto.Message) []byte {
	t.Helper()
	block := func(keys []string, value func(key string) []byte) []byte {
		var b []byte
		for _, key := range keys {
			v := value(key)
			b = append(b, 0)
			b = binary.AppendUvarint(b, uint64(len(key)))
			b = binary.AppendUvarint(b, uint64(len(v)))
			b = append(append(b, key...), v...)
		}
		b = append(b, 0, 0, 0, 0, 1, 0, 0, 0) // one restart, at 0
		b = append(b, 0)                      // not compressed
		return binary.LittleEndian.AppendUint32(b, bundle.Sum(b))
	}
	keys := slices.Sorted(maps.Keys(entries))
	first := block(keys, func(key string) []byte { return marshaled(t, entries[key]) })
	handle := binary.AppendUvarint([]byte{0}, uint64(len(first)-5))
	of := block(keys[len(keys)-1:], func(string) []byte { return handle })
	file := append(first, of...)
	footer := append([]byte{0, 0}, binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(first))), uint64(len(of)-5))...)
	file = append(append(file, footer...), make([]byte, 40-len(footer))...)
	return binary.LittleEndian.AppendUint64(file, 0xdb4775248b80fb57)
}

func dimsOf(list ...int64) *tfpb.TensorShapeProto {
	p := &tfpb.TensorShapeProto{}
	for _, d := range list {
		p.Dim = append(p.Dim, &tfpb.TensorShapeProto_Dim{Size: d})
	}
	return p
}

// sliceOf encodes a slice.
func sliceOf(s bundle.Slice) *tfpb.TensorSliceProto {
	p := &tfpb.TensorSliceProto{}
	for axis, length := range s.Length {
		e := &tfpb.TensorSliceProto_Extent{Start: s.Start[axis]}
		if length != bundle.Whole {
			e.HasLength = &tfpb.TensorSliceProto_Extent_Length{Length: length}
		}
		p.Extent = append(p.Extent, e)
	}
	return p
}

// sliced writes a checkpoint: a tensor v of i32 of a shape, which
// holds 0, 1, 2 …, in slices, of which each has a file of its own.
func sliced(t testing.TB, shape []int64, list []bundle.Slice, change func(entries map[string]proto.Message)) (index string) {
	t.Helper()
	dir := t.TempDir()
	size := int64(1)
	for _, d := range shape {
		size *= d
	}
	numbers := make([]int32, size)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	of := make([]int, len(shape))
	for i, d := range shape {
		of[i] = int(d)
	}
	all := garner.Of(numbers, of...)
	whole := &tfpb.BundleEntryProto{Dtype: i32, Shape: dimsOf(shape...)}
	entries := map[string]proto.Message{"": &tfpb.BundleHeaderProto{NumShards: int32(len(list))}, "v": whole}
	for i, s := range list {
		whole.Slices = append(whole.Slices, sliceOf(s))
		part, err := cut(all, s)
		if err != nil {
			t.Fatal(err)
		}
		if part, err = part.Clone(); err != nil {
			t.Fatal(err)
		}
		b, err := part.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		dims := make([]int64, len(shape))
		for axis, d := range part.Shape() {
			dims[axis] = int64(d)
		}
		entries[bundle.SliceKey("v", s)] = &tfpb.BundleEntryProto{Dtype: i32, Shape: dimsOf(dims...), ShardId: int32(i), Offset: 1, Size: int64(len(b)), Crc32C: bundle.Sum(b)}
		if err := os.WriteFile(filepath.Join(dir, bundle.Shard("m", i, len(list))), append([]byte{9}, b...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(entries)
	}
	index = filepath.Join(dir, "m.index")
	if err := os.WriteFile(index, indexOf(t, entries), 0o644); err != nil {
		t.Fatal(err)
	}
	return index
}

func pair(starts, lengths []int64) bundle.Slice { return bundle.Slice{Start: starts, Length: lengths} }

var (
	rows   = []bundle.Slice{pair([]int64{4, 0}, []int64{3, -1}), pair([]int64{0, 0}, []int64{2, -1}), pair([]int64{2, 0}, []int64{2, 3})}
	pillar = []bundle.Slice{pair([]int64{0, 0}, []int64{-1, 2}), pair([]int64{0, 2}, []int64{-1, 1})}
	grid   = []bundle.Slice{pair([]int64{0, 0}, []int64{4, 2}), pair([]int64{0, 2}, []int64{4, 1}), pair([]int64{4, 0}, []int64{3, 1}), pair([]int64{4, 1}, []int64{3, 2})}
)

// elementsOf reads the elements of an array, row by row from the last one.
func elementsOf(t *testing.T, a source.Array, rows, size int) []byte {
	t.Helper()
	b := make([]byte, rows*size)
	for i := range rows {
		at := (rows - 1 - i) * size
		if err := a.Fetch(t.Context(), source.Rows{At: []int64{int64(at)}, Size: size, Dst: b[at : at+size]}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestSliced reads tensors that are stored in slices, where they lie and joined in memory, and holds
// that both are the same elements.
func TestSliced(t *testing.T) {
	cube := func(from, to [3]int64) bundle.Slice {
		return pair(from[:], []int64{to[0] - from[0], to[1] - from[1], to[2] - from[2]})
	}
	for _, tt := range []struct {
		about  string
		shape  []int64
		slices []bundle.Slice
		tiles  int
	}{
		{"rows", []int64{7, 3}, rows, 0},
		{"columns", []int64{7, 3}, pillar, 2},
		{"a grid", []int64{7, 3}, grid, 4},
		{"one slice", []int64{7, 3}, []bundle.Slice{pair([]int64{0, 0}, []int64{-1, -1})}, 0},
		{"the middle of three", []int64{3, 5, 2}, []bundle.Slice{pair([]int64{0, 3, 0}, []int64{-1, 2, -1}), pair([]int64{0, 0, 0}, []int64{-1, 3, -1})}, 2},
		{"boxes", []int64{4, 3, 5}, []bundle.Slice{
			cube([3]int64{0, 0, 0}, [3]int64{4, 1, 5}), cube([3]int64{0, 1, 0}, [3]int64{3, 3, 2}), cube([3]int64{0, 1, 2}, [3]int64{3, 3, 5}), cube([3]int64{3, 1, 0}, [3]int64{4, 3, 5}),
		}, 4},
		{"nothing", []int64{2, 0}, []bundle.Slice{pair([]int64{0, 0}, []int64{1, -1}), pair([]int64{1, 0}, []int64{1, -1})}, 0},
		{"no columns", []int64{2, 2}, []bundle.Slice{pair([]int64{0, 0}, []int64{-1, 0}), pair([]int64{0, 0}, []int64{-1, 2})}, 2},
	} {
		m, err := Open(sliced(t, tt.shape, tt.slices, nil), Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.about, err)
		}
		defer m.Close()
		c, err := m.Constant("v")
		if err != nil {
			t.Fatal(err)
		}
		joined, err := c.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		want := []byte{}
		for i := range joined.Len() {
			want = binary.LittleEndian.AppendUint32(want, uint32(i))
		}
		if b, err := joined.Bytes(); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: %v, %v", tt.about, joined, err)
		}
		if err := c.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.about, err)
		}
		if len(c.Tiles) != tt.tiles || len(want) > 0 && (c.File != "") != (tt.tiles == 0) {
			t.Errorf("%s: its file is %q, and it has %d tiles", tt.about, c.File, len(c.Tiles))
		}
		a, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 {
			count := int(tt.shape[0])
			if got := elementsOf(t, a, count, len(want)/count); !bytes.Equal(got, want) || a.Spec().String() != joined.Spec().String() {
				t.Errorf("%s: %s, %v", tt.about, a.Spec(), got)
			}
		}
		// Ranges that cross lines, overlap, and begin anywhere.
		for size := 1; size <= len(want); size += 5 {
			ask := source.Rows{Size: size}
			var all []byte
			for at := 0; at+size <= len(want); at += 3 {
				ask.At, all = append(ask.At, int64(at)), append(all, want[at:at+size]...)
			}
			ask.Dst = make([]byte, len(all))
			if err := a.Fetch(t.Context(), ask); err != nil || !bytes.Equal(ask.Dst, all) {
				t.Errorf("%s: %d rows of %d bytes: %v", tt.about, len(ask.At), size, err)
			}
		}
		pieces := []byte{}
		if err := c.Pieces(t.Context(), func(_ int64, b []byte) error { pieces = append(pieces, b...); return nil }); err != nil || !bytes.Equal(pieces, want) {
			t.Errorf("%s: %v, %v", tt.about, pieces, err)
		}
		if err := a.Fetch(t.Context(), source.Rows{At: []int64{int64(len(want))}, Size: 1, Dst: make([]byte, 1)}); err == nil {
			t.Errorf("%s: a byte behind the last is read", tt.about)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := a.Fetch(t.Context(), source.Rows{At: []int64{0}, Size: 1, Dst: make([]byte, 1)}); err == nil {
			t.Errorf("%s: it is read behind Close", tt.about)
		}
	}
}

// TestSlicedRefused holds what is said of slices that do not make the tensor, of bytes that are
// others, and of files that are missing.
func TestSlicedRefused(t *testing.T) {
	entry := func(entries map[string]proto.Message, i int) *tfpb.BundleEntryProto {
		return entries[bundle.SliceKey("v", rows[i])].(*tfpb.BundleEntryProto)
	}
	whole := func(entries map[string]proto.Message) *tfpb.BundleEntryProto {
		return entries["v"].(*tfpb.BundleEntryProto)
	}
	for _, tt := range []struct {
		about  string
		change func(entries map[string]proto.Message)
		want   string
	}{
		{"a slice twice", func(e map[string]proto.Message) { whole(e).Slices = append(whole(e).Slices, whole(e).Slices[0]) }, "its slices 0 and 3 have elements in common"},
		{"slices that overlap and leave a hole", func(e map[string]proto.Message) {
			whole(e).Slices[1] = sliceOf(pair([]int64{1, 0}, []int64{2, -1}))
		}, "its slices 1 and 2 have elements in common"},
		{"a hole", func(e map[string]proto.Message) { whole(e).Slices = whole(e).Slices[1:] }, "its slices have 12 elements, and its shape [7 3] has 21"},
		{"no such slice", func(e map[string]proto.Message) { delete(e, bundle.SliceKey("v", rows[1])) }, "one of its slices is not in the index"},
		{"a slice of another shape", func(e map[string]proto.Message) { entry(e, 1).Shape = dimsOf(3, 2) }, "one of its slices is DT_INT32[3 2] in the index, and DT_INT32[2 3] of the whole"},
		{"a slice of another type", func(e map[string]proto.Message) { entry(e, 1).Dtype = tfpb.DataType_DT_FLOAT }, "one of its slices is DT_FLOAT[2 3]"},
		{"more bytes than elements", func(e map[string]proto.Message) { entry(e, 0).Size = 33 }, "it has 33 bytes by its own account; i32[3,3] takes 36"},
		{"bytes beyond the file", func(e map[string]proto.Message) { entry(e, 0).Offset = 2 }, "its elements are 36 bytes from 2 on of"},
		{"strings", func(e map[string]proto.Message) { whole(e).Dtype = tfpb.DataType_DT_STRING }, "in slices of DT_STRING, which garner does not read"},
		{"a wrong checksum", func(e map[string]proto.Message) { entry(e, 1).Crc32C++ }, "its checksum is"},
	} {
		index := sliced(t, []int64{7, 3}, rows, tt.change)
		m, err := Open(index, Options{})
		if err == nil {
			c, also := m.Constant("v")
			if also != nil {
				t.Fatal(also)
			}
			_, err = c.Tensor()
			if c.Verify != nil {
				if also := c.Verify(t.Context()); also == nil || err == nil || also.Error() != err.Error() {
					t.Errorf("%s: Verify says %v, and Tensor %v", tt.about, also, err)
				}
			}
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `"v"`) || !errors.As(err, new(*model.Error)) {
			t.Errorf("%s: %v; want %q", tt.about, err, tt.want)
		}
	}
	index := sliced(t, []int64{7, 3}, rows, nil)
	missing := strings.TrimSuffix(index, ".index") + ".data-00001-of-00003"
	if err := os.Remove(missing); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(index, Options{}); err == nil || !strings.Contains(err.Error(), missing+", and there is no such file") {
		t.Errorf("%v", err)
	}
}

// TestSlicedChanged holds that each file of a tensor in slices is known again.
func TestSlicedChanged(t *testing.T) {
	list := rows
	for i := range len(rows) + len(pillar) {
		if i >= len(rows) {
			i, list = i-len(rows), pillar
		}
		index := sliced(t, []int64{7, 3}, list, nil)
		m, err := Open(index, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		c, err := m.Constant("v")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(filepath.Dir(index), bundle.Shard("m", i, len(list)))
		b := contents(t, path)
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Open(); !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), path) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

// TestSlicedDamaged cuts each file of a tensor in slices short at every byte, and changes each
// of their bytes: the first is refused, and some checksum tells the second.
func TestSlicedDamaged(t *testing.T) {
	index := sliced(t, []int64{7, 3}, rows, nil)
	files := []string{index}
	for i := range rows {
		files = append(files, filepath.Join(filepath.Dir(index), bundle.Shard("m", i, len(rows))))
	}
	for k, path := range files {
		good := contents(t, path)
		use := func(about string, b []byte) error {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			m, err := Open(index, Options{})
			if err != nil {
				if !errors.As(err, new(*model.Error)) {
					t.Errorf("%s: %T %v", about, err, err)
				}
				return err
			}
			defer m.Close()
			for _, c := range m.Constants() {
				if _, err := c.Tensor(); err != nil {
					return err
				}
			}
			return nil
		}
		for n := range good {
			if use(fmt.Sprint(path, n), good[:n]) == nil {
				t.Errorf("%s of %d bytes is read", path, n)
			}
			changed := bytes.Clone(good)
			changed[n] ^= 0x10
			// Byte 0 of the elements is of no tensor; of the index, the footer has bytes that mean nothing.
			if err := use(fmt.Sprint(path, n), changed); err == nil && (k > 0 && n > 0 || k == 0 && n < len(good)-48) {
				t.Errorf("byte %d of %s may be changed", n, path)
			}
		}
		if err := use(path, good); err != nil {
			t.Error(err)
		}
	}
}

// restoredSlice opens a graph of TensorFlow 1 beside a checkpoint: a variable p that is restored from a slice
// of the tensor v, as text names it.
func restoredSlice(t *testing.T, index, text string) (*model.Model, error) {
	t.Helper()
	list := func(texts ...string) *tfpb.TensorProto {
		p := &tfpb.TensorProto{Dtype: tfpb.DataType_DT_STRING, TensorShape: dimsOf(int64(len(texts)))}
		for _, s := range texts {
			p.StringVal = append(p.StringVal, []byte(s))
		}
		return p
	}
	meta := &tfpb.MetaGraphDef{
		MetaInfoDef: &tfpb.MetaGraphDef_MetaInfoDef{TensorflowVersion: "1.15"},
		SaverDef:    &tfpb.SaverDef{RestoreOpName: "restore"},
		GraphDef: graph(nil, def("p", "VariableV2", nil, "dtype", i32), def("file", "Const", nil, "value", list("")),
			def("names", "Const", nil, "value", list("other", "v")), def("slices", "Const", nil, "value", list("", text)),
			def("read", "RestoreV2", []string{"file", "names", "slices"}), def("same", "Identity", []string{"read:1"}), def("also", "Identity", []string{"same"}),
			def("assign", "Assign", []string{"p", "also"}), def("restore", "NoOp", []string{"^assign"}),
			def("axis", "Const", nil, "value", ints(0)), def("rows", "GatherV2", []string{"p", "in", "axis"})),
	}
	path := strings.TrimSuffix(index, ".index") + ".meta"
	if err := os.WriteFile(path, marshaled(t, meta), 0o644); err != nil {
		t.Fatal(err)
	}
	return Open(path, Options{})
}

// TestRestoredSlices reads variables that are slices of a tensor, which is stored in other slices: those
// of the first axis by offset.
func TestRestoredSlices(t *testing.T) {
	for _, tt := range []struct {
		stored  []bundle.Slice
		text    string
		spec    string
		first   uint32
		inPlace bool
		want    string
	}{
		{rows, "7 3 4,3:-", "i32[3,3]", 12, true, ""},
		{rows, "7 3 1,5:0,3", "i32[5,3]", 3, true, ""},
		{rows, "7 3 6,1:-", "i32[1,3]", 18, true, ""},
		{rows, "7 3 -:-", "i32[7,3]", 0, true, ""},
		{rows, "7 3 -:1,2", "i32[7,2]", 1, false, ""},
		{pillar, "7 3 2,3:-", "i32[3,3]", 6, false, ""},
		{rows, "7 3 5,3:-", "", 0, false, "is no slice of a tensor"},
		{rows, "7 -:-", "", 0, false, "is no slice of a tensor"},
		{rows, "7 x -:-", "", 0, false, "is no slice of a tensor"},
		{rows, "7 3 -:1", "", 0, false, "is no slice of a tensor"},
		{rows, "8 3 -:-", "", 0, false, "a slice of tensor \"v\" of dims [8 3], which has [7 3]"},
	} {
		m, err := restoredSlice(t, sliced(t, []int64{7, 3}, tt.stored, nil), tt.text)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v; want %q", tt.text, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		defer m.Close()
		var c *model.Constant
		for n := range m.Gathers() {
			c = n.Inputs[0].Constant
		}
		if c == nil || c.Spec.String() != tt.spec || (c.File != "") != tt.inPlace {
			t.Errorf("%s: %+v", tt.text, c)
			continue
		}
		if err := c.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
		made, err := c.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if made, err = made.Clone(); err != nil {
			t.Fatal(err)
		}
		want, err := made.Bytes()
		if err != nil || binary.LittleEndian.Uint32(want) != tt.first {
			t.Errorf("%s: %v, %v", tt.text, made, err)
		}
		a, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		shape := made.Shape()
		if got := elementsOf(t, a, shape[0], 4*shape[1]); !bytes.Equal(got, want) {
			t.Errorf("%s: %v; want %v", tt.text, got, want)
		}
	}
}
