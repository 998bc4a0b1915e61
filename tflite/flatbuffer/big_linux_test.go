package flatbuffer

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/flattest"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tflite"
)

// TestBig opens a model whose table has 10 GiB behind the flatbuffer, most of which is a hole in
// its file, and gathers rows of it within 64 MiB.
func TestBig(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int cannot count the elements")
	}
	const rows, columns, at = 10 << 20, 256, 4096
	b := flattest.Build([]int{36}, nil, []flattest.Graph{{
		Name:      "main",
		Tensors:   []flattest.Tensor{flattest.Make("table", 0, []int{rows, columns}, 1, nil), flattest.Make("ids", 2, []int{2}, 0, nil), flattest.Make("y", 0, []int{2, columns}, 0, nil)},
		Operators: []flattest.Operator{flattest.Op(0, []int{0, 1}, []int{2}, 23, 0, 0)},
		In:        []int{1}, Out: []int{2},
	}}, func(w *flattest.Writer, fields []any) func() {
		list, none, behind := &flattest.Place{}, &flattest.Place{}, &flattest.Place{}
		fields[4] = list
		return func() {
			w.Refs(list, none, behind)
			w.Table(none)
			w.Table(behind, nil, uint64(at), uint64(4*rows*columns))
		}
	})
	last := make([]byte, 4*columns)
	for i := range last {
		last[i] = byte(i)
	}
	path := filepath.Join(t.TempDir(), "big.tflite")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(b)
	if err == nil {
		_, err = f.WriteAt(last, at+4*rows*columns-int64(len(last)))
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := m.Graph.Nodes[0].Inputs[0].Constant
	if c.Offset != at || c.Size != 4*rows*columns {
		t.Errorf("%d bytes from %d on", c.Size, c.Offset)
	}
	array, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	var out bytes.Buffer
	err = source.Gather(t.Context(), tflite.Gather{}, array, source.Memory(garner.Of([]int32{7, rows - 1}, 2)), &out, source.Options{Memory: 1 << 20})
	if got := out.Bytes(); err != nil || len(got) != 2*len(last) || !bytes.Equal(got[len(last):], last) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 64<<20 {
		t.Errorf("%d bytes are allocated", bytes)
	}
	if err := os.Truncate(path, at+4*rows*columns-1); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "it is cut short or damaged") {
		t.Errorf("%v", err)
	}
}

// TestTruncatedLater cuts a model's file short after it was opened.
func TestTruncatedLater(t *testing.T) {
	guard.Faults(t)
	b := flattest.Build([]int{36}, [][]byte{make([]byte, 1<<20)}, []flattest.Graph{{
		Name:      "main",
		Tensors:   []flattest.Tensor{flattest.Make("table", 3, []int{1 << 20}, 1, nil), flattest.Make("ids", 2, []int{2}, 0, nil), flattest.Make("y", 3, []int{2}, 0, nil)},
		Operators: []flattest.Operator{flattest.Op(0, []int{0, 1}, []int{2}, 23, 0, 0)},
		In:        []int{1}, Out: []int{2},
	}}, nil)
	path := filepath.Join(t.TempDir(), "m.tflite")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path, Options{})
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
	if _, err := garner.Gather(tflite.Gather{}, table, garner.Of([]int64{1<<20 - 1}, 1)); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("%v", err)
	}
}
