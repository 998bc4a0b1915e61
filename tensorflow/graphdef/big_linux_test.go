package graphdef

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// bigRows and bigColumns are a variable of 10 GiB of f32, most of which is a hole in its file.
const (
	bigRows    = 10 << 20
	bigColumns = 256
	bigBytes   = 4 * bigRows * bigColumns
)

// TestBig opens a checkpoint whose variable has 10 GiB, and gathers rows of it by offset.
func TestBig(t *testing.T) {
	if uint64(bigBytes) > uint64(^uint(0)>>1) {
		t.Skip("a file of 10 GiB has no address in a 32-bit build")
	}
	dir := t.TempDir()
	last := make([]byte, 4*bigColumns)
	for i := range last {
		last[i] = byte(i)
	}
	const at = 3 // unaligned
	data, err := os.Create(filepath.Join(dir, "big.data-00000-of-00001"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if _, err := data.WriteAt(last, at+bigBytes-int64(len(last))); err != nil {
		t.Fatal(err)
	}
	entry := &tfpb.BundleEntryProto{Dtype: tfpb.DataType_DT_FLOAT, Offset: at, Size: bigBytes, Shape: &tfpb.TensorShapeProto{Dim: []*tfpb.TensorShapeProto_Dim{{Size: bigRows}, {Size: bigColumns}}}}
	if err := os.WriteFile(filepath.Join(dir, "big.index"), indexOf(t, map[string]proto.Message{"": &tfpb.BundleHeaderProto{NumShards: 1}, "table": entry}), 0o644); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Open(filepath.Join(dir, "big.index"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := m.Constant("table")
	if err != nil {
		t.Fatal(err)
	}
	array, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	ids := make([]int64, 4096)
	for i := range ids {
		ids[i] = int64(i) * 2500 % bigRows
	}
	ids[len(ids)-1] = bigRows - 1
	var out bytes.Buffer
	err = source.Gather(t.Context(), tensorflow.Gather{}, array, source.Memory(garner.Of(ids, len(ids))), &out, source.Options{Memory: 8 << 20})
	runtime.ReadMemStats(&after)
	b := out.Bytes()
	if err != nil || len(b) != len(ids)*len(last) || !bytes.Equal(b[len(b)-len(last):], last) || bytes.Count(b[:len(b)-len(last)], []byte{0}) != len(b)-len(last) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	t.Logf("%d rows of %d bytes, %d MiB allocated", len(ids), len(last), (after.TotalAlloc-before.TotalAlloc)>>20)
	if after.TotalAlloc-before.TotalAlloc > 128<<20 {
		t.Errorf("%d bytes are allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestBigSlices gathers rows of a variable of 10 GiB that is stored in slices of its first axis,
// in three files: they are read by offset, and nothing is joined.
func TestBigSlices(t *testing.T) {
	if uint64(bigBytes) > uint64(^uint(0)>>1) {
		t.Skip("a file of 10 GiB has no address in a 32-bit build")
	}
	dir := t.TempDir()
	const row, files = 4 * bigColumns, 3
	ends := []int64{0, bigRows/2 + 1, bigRows - 5, bigRows}
	shape := func(rows int64) *tfpb.TensorShapeProto { return dimsOf(rows, bigColumns) }
	whole := &tfpb.BundleEntryProto{Dtype: tfpb.DataType_DT_FLOAT, Shape: shape(bigRows)}
	entries := map[string]proto.Message{"": &tfpb.BundleHeaderProto{NumShards: files}, "table": whole}
	mark := func(i int) []byte { return bytes.Repeat([]byte{byte(i + 1)}, row) }
	for i := range files {
		s := bundle.Slice{Start: []int64{ends[i], 0}, Length: []int64{ends[i+1] - ends[i], bundle.Whole}}
		// The last slice comes first in the index.
		whole.Slices = append([]*tfpb.TensorSliceProto{sliceOf(s)}, whole.Slices...)
		size := s.Length[0] * row
		entries[bundle.SliceKey("table", s)] = &tfpb.BundleEntryProto{Dtype: tfpb.DataType_DT_FLOAT, Shape: shape(s.Length[0]), ShardId: int32(i), Offset: int64(i), Size: size}
		data, err := os.Create(filepath.Join(dir, bundle.Shard("big", i, files)))
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		for _, at := range []int64{0, size - row} { // the first and the last row of a slice
			if _, err := data.WriteAt(mark(i), int64(i)+at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "big.index"), indexOf(t, entries), 0o644); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Open(filepath.Join(dir, "big.index"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := m.Constant("table")
	if err != nil {
		t.Fatal(err)
	}
	array, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	ids := make([]int64, 4096)
	for i := range ids {
		ids[i] = int64(i)*2500%(bigRows/2-2) + 1
	}
	var want []byte
	for i := range files {
		at := copy(ids[len(ids)-2*files+2*i:], []int64{ends[i], ends[i+1] - 1})
		want = append(want, bytes.Repeat(mark(i), at)...)
	}
	var out bytes.Buffer
	err = source.Gather(t.Context(), tensorflow.Gather{}, array, source.Memory(garner.Of(ids, len(ids))), &out, source.Options{Memory: 8 << 20})
	runtime.ReadMemStats(&after)
	b := out.Bytes()
	if err != nil || len(b) != len(ids)*row || !bytes.HasSuffix(b, want) || bytes.Count(b[:len(b)-len(want)], []byte{0}) != len(b)-len(want) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 {
		t.Errorf("it took %d bytes", took)
	}
}

// TestBigColumns gathers rows of a variable of 10 GiB that is stored in two slices of its columns: the
// parts of each row are read by offset, and nothing is joined.
func TestBigColumns(t *testing.T) {
	if uint64(bigBytes) > uint64(^uint(0)>>1) {
		t.Skip("a file of 10 GiB has no address in a 32-bit build")
	}
	dir := t.TempDir()
	const cut, row = 100, 4 * bigColumns
	whole := &tfpb.BundleEntryProto{Dtype: tfpb.DataType_DT_FLOAT, Shape: dimsOf(bigRows, bigColumns)}
	entries := map[string]proto.Message{"": &tfpb.BundleHeaderProto{NumShards: 2}, "table": whole}
	var last []byte // the last row
	for i, columns := range []int64{cut, bigColumns - cut} {
		s := bundle.Slice{Start: []int64{0, int64(i) * cut}, Length: []int64{bundle.Whole, columns}}
		whole.Slices = append(whole.Slices, sliceOf(s))
		size := bigRows * 4 * columns
		entries[bundle.SliceKey("table", s)] = &tfpb.BundleEntryProto{Dtype: tfpb.DataType_DT_FLOAT, Shape: dimsOf(bigRows, columns), ShardId: int32(i), Offset: int64(i), Size: size}
		data, err := os.Create(filepath.Join(dir, bundle.Shard("big", i, 2)))
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		part := bytes.Repeat([]byte{byte(i + 1)}, int(4*columns))
		if _, err := data.WriteAt(part, int64(i)+size-int64(len(part))); err != nil {
			t.Fatal(err)
		}
		last = append(last, part...)
	}
	if err := os.WriteFile(filepath.Join(dir, "big.index"), indexOf(t, entries), 0o644); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Open(filepath.Join(dir, "big.index"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := m.Constant("table")
	if err != nil {
		t.Fatal(err)
	}
	array, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	ids := make([]int64, 4096)
	for i := range ids {
		ids[i] = int64(i) * 2500
	}
	ids[len(ids)-1] = bigRows - 1
	var out bytes.Buffer
	err = source.Gather(t.Context(), tensorflow.Gather{}, array, source.Memory(garner.Of(ids, len(ids))), &out, source.Options{Memory: 8 << 20})
	runtime.ReadMemStats(&after)
	b := out.Bytes()
	if err != nil || len(b) != len(ids)*row || !bytes.HasSuffix(b, last) || bytes.Count(b[:len(b)-row], []byte{0}) != len(b)-row {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 {
		t.Errorf("it took %d bytes", took)
	}
}
