package graphdef

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

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
		t.Skip("a 32-bit build")
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
	start := time.Now()
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
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	b := out.Bytes()
	if err != nil || len(b) != len(ids)*len(last) || !bytes.Equal(b[len(b)-len(last):], last) || bytes.Count(b[:len(b)-len(last)], []byte{0}) != len(b)-len(last) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	t.Logf("%d rows of %d bytes in %v, %d MiB allocated", len(ids), len(last), took, (after.TotalAlloc-before.TotalAlloc)>>20)
	if took > 30*time.Second || after.TotalAlloc-before.TotalAlloc > 128<<20 {
		t.Errorf("it took %v and %d bytes", took, after.TotalAlloc-before.TotalAlloc)
	}
}

// indexOf writes an index of one block.
func indexOf(t testing.TB, entries map[string]proto.Message) []byte {
	t.Helper()
	block := func(list map[string][]byte, keys []string) []byte {
		var b []byte
		for _, key := range keys {
			b = append(b, 0)
			b = binary.AppendUvarint(b, uint64(len(key)))
			b = binary.AppendUvarint(b, uint64(len(list[key])))
			b = append(append(b, key...), list[key]...)
		}
		b = append(b, 0, 0, 0, 0, 1, 0, 0, 0) // one restart, at 0
		b = append(b, 0)                      // not compressed
		return binary.LittleEndian.AppendUint32(b, bundle.Sum(b))
	}
	values := map[string][]byte{}
	for key, p := range entries {
		values[key] = marshaled(t, p)
	}
	first := block(values, []string{"", "table"})
	handle := binary.AppendUvarint([]byte{0}, uint64(len(first)-5))
	of := block(map[string][]byte{"table": handle}, []string{"table"})
	file := append(first, of...)
	footer := append([]byte{0, 0}, binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(first))), uint64(len(of)-5))...)
	file = append(append(file, footer...), make([]byte, 40-len(footer))...)
	return binary.LittleEndian.AppendUint64(file, 0xdb4775248b80fb57)
}
