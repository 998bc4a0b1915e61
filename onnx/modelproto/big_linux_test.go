package modelproto

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/source"
)

// bigRows and bigColumns are a table of 10 GiB of f32, most of which is a hole
// in its file.
const (
	bigRows    = 10 << 20
	bigColumns = 256
	bigBytes   = 4 * bigRows * bigColumns
)

// TestBig opens models whose table has 10 GiB, in the model and beside it, and
// gathers its last row.
func TestBig(t *testing.T) {
	last := make([]byte, 4*bigColumns)
	for i := range last {
		last[i] = byte(i)
	}
	p := plainProto()
	table := p.Graph.Initializer[0]
	*table.DataType, table.Dims, table.RawData = 1, []int64{bigRows, bigColumns}, nil
	p.Graph.Initializer = nil

	// The table at the end of the graph at the end of the model, so that their
	// lengths stand before it.
	dir := t.TempDir()
	head := written(t, p)[:0]
	graph := p.Graph
	p.Graph = nil
	head = append(head, written(t, p)...)
	rest, tensor := marshaled(t, graph), marshaled(t, table)
	tensor = protowire.AppendVarint(protowire.AppendTag(tensor, rawData, protowire.BytesType), uint64(bigBytes))
	rest = protowire.AppendVarint(protowire.AppendTag(rest, 5, protowire.BytesType), uint64(len(tensor))+uint64(bigBytes))
	head = protowire.AppendVarint(protowire.AppendTag(head, 7, protowire.BytesType), uint64(len(rest)+len(tensor))+uint64(bigBytes))
	head = append(append(head, rest...), tensor...)
	inside := filepath.Join(dir, "inside.onnx")
	hole(t, inside, head, last)

	p.Graph = graph
	*table = *externalTensor("table.bin", "", "")
	*table.DataType, table.Dims = 1, []int64{bigRows, bigColumns}
	graph.Initializer = append(graph.Initializer, table)
	beside := filepath.Join(dir, "beside.onnx")
	if err := os.WriteFile(beside, written(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	hole(t, filepath.Join(dir, "table.bin"), nil, last)

	for _, path := range []string{inside, beside} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Open(path)
		if math.MaxInt == math.MaxInt32 {
			if err == nil || !strings.Contains(err.Error(), "32-bit build of garner") && !strings.Contains(err.Error(), "than an int can count") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		t.Logf("%s: %d KiB allocated", filepath.Base(path), (after.TotalAlloc-before.TotalAlloc)>>10)
		if after.TotalAlloc-before.TotalAlloc > 2<<20 {
			t.Errorf("%s: %d bytes are allocated", path, after.TotalAlloc-before.TotalAlloc)
		}
		lastRow(t, m, last)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func lastRow(t *testing.T, m *model.Model, want []byte) {
	t.Helper()
	table, err := m.Graph.Nodes[0].Inputs[0].Constant.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	row, err := garner.Gather(onnx.Gather13{}, table, garner.Of([]int64{-1}, 1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := row.Bytes()
	if err != nil || string(got) != string(want) {
		t.Errorf("%v, %v", row, err)
	}
	array, err := m.Graph.Nodes[0].Inputs[0].Constant.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	var out bytes.Buffer
	err = source.Gather(t.Context(), onnx.Gather13{}, array, source.Memory(garner.Of([]int64{0, -1}, 2)), &out, source.Options{Memory: 1 << 20})
	if b := out.Bytes(); err != nil || len(b) != 2*len(want) || string(b[len(want):]) != string(want) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// hole writes a file: head, bigBytes of which all but the last are a hole, and
// last at their end.
func hole(t *testing.T, path string, head, last []byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(head); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(last, int64(len(head))+bigBytes-int64(len(last))); err != nil {
		t.Fatal(err)
	}
}

// TestTruncated cuts a model's file short after it was opened.
func TestTruncated(t *testing.T) {
	guard.Faults(t)
	path := filepath.Join(t.TempDir(), "it.onnx")
	p := plainProto()
	p.Graph.Initializer[0] = tensor("table", 2, strings.Repeat("x", 1<<20), 1<<20)
	if err := os.WriteFile(path, written(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	table, err := m.Graph.Nodes[0].Inputs[0].Constant.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := garner.Gather(onnx.Gather13{}, table, garner.Of([]int64{-1}, 1)); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("%v", err)
	}
}
