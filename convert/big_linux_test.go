package convert_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/lint/fix"
	"github.com/garner-go/garner/model"
)

// TestBig converts a model whose table has 1 GiB, most of which is a hole in its file, to ONNX and back. The
// copies have the hole too. It allocates less than 128 MiB in all for each, of which 64 MiB at most are for a run of both models.
// With GARNER_BIG=1 the table has 10 GiB, and what is allocated no more.
func TestBig(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 1 GiB of zeros, several times")
	}
	rows, columns := int64(1<<20), int64(256)
	if os.Getenv("GARNER_BIG") != "" {
		rows *= 10
	}
	table := 4 * rows * columns
	if uint64(table) > uint64(^uintptr(0)) {
		t.Skip("a 32-bit build does not address 10 GiB")
	}
	dir := t.TempDir()
	text := strings.NewReplacer(
		`<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="?,256"/>`, fmt.Sprintf(`<layer id="0" name="x" type="Const" version="opset1"><data element_type="f32" shape="%d,256" offset="64" size="%d"/>`, rows, table),
	).Replace(small("Gather", "opset8", "", "f32 ?,256", "?", "?,256"))
	if !strings.Contains(text, fmt.Sprintf(`size="%d"`, table)) {
		t.Fatal(text)
	}
	source := filepath.Join(dir, "source.xml")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	bin, err := os.Create(filepath.Join(dir, "source.bin"))
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.Repeat([]byte{7}, int(4*columns))
	if _, err := bin.WriteAt(last, 64+table-int64(len(last))); err != nil {
		t.Fatal(err)
	}
	if err := bin.Close(); err != nil {
		t.Fatal(err)
	}
	path := source
	for _, name := range []string{"out.onnx", "out.xml"} {
		m := open(t, path)
		path = filepath.Join(dir, name)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		if _, err := convert.File(t.Context(), m, path, convert.Options{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		t.Logf("%s: %v, %d KiB allocated", name, time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>10)
		if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
			t.Errorf("%s took %d bytes", name, n)
		}
		var stat syscall.Stat_t
		beside := map[string]string{"out.onnx": "out.onnx.data", "out.xml": "out.bin"}[name]
		if err := syscall.Stat(filepath.Join(dir, beside), &stat); err != nil || stat.Size < table || stat.Blocks > 1<<16 {
			t.Errorf("%s has %d bytes in %d blocks (%v)", beside, stat.Size, stat.Blocks, err)
		}
	}
	m := open(t, path)
	var c *model.Constant
	for _, v := range m.Graph.Constants {
		if n, _ := v.Constant.Bytes(); n == table {
			c = v.Constant
		}
	}
	if c == nil {
		t.Fatal("the table is gone")
	}
	tensor, err := c.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	row, err := tensor.Slice(0, int(rows-1), int(rows), 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := row.Bytes()
	if err != nil || !bytes.Equal(got, last) {
		t.Errorf("the last row is %v (%v)", row, err)
	}
}

// TestBigTyped converts and mends a model whose table of 64 MiB is encoded, as varints of a byte each. Each
// decodes it several times, and has it in memory once at most, for runs of both models.
func TestBigTyped(t *testing.T) {
	const rows, columns = 1 << 13, 1 << 10
	varint := func(field, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, protowire.Number(field), protowire.VarintType), n)
	}
	text := func(field uint64, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(field), protowire.BytesType), b)
	}
	value := func(name string, dim []byte) []byte {
		return slices.Concat(text(1, []byte(name)), text(2, text(1, slices.Concat(varint(1, 7), text(2, dim)))))
	}
	table := slices.Concat(varint(1, rows), varint(1, columns), varint(2, 7), text(8, []byte("w")), text(7, bytes.Repeat([]byte{5}, rows*columns)))
	node := slices.Concat(text(1, []byte("w")), text(1, []byte("i")), text(2, []byte("y")), text(4, []byte("Gather")))
	open1 := text(1, text(2, []byte("n")))
	graph := slices.Concat(text(1, node), text(5, table), text(11, value("i", open1)), text(12, value("y", slices.Concat(open1, text(1, varint(1, columns))))))
	dir := t.TempDir()
	source := filepath.Join(dir, "source.onnx")
	if err := os.WriteFile(source, slices.Concat(varint(1, 8), text(8, varint(2, 13)), text(7, graph)), 0o666); err != nil {
		t.Fatal(err)
	}
	m := open(t, source)
	for name, do := range map[string]func() error{
		"out.onnx": func() error {
			_, err := convert.File(t.Context(), m, filepath.Join(dir, "out.onnx"), convert.Options{})
			return err
		},
		"out.xml": func() error {
			_, err := convert.File(t.Context(), m, filepath.Join(dir, "out.xml"), convert.Options{})
			return err
		},
		"fixed": func() error {
			_, err := fix.File(t.Context(), source, filepath.Join(dir, "fixed.onnx"), fix.Options{})
			return err
		},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := do(); err != nil {
			t.Fatal(name, err)
		}
		runtime.ReadMemStats(&after)
		n := after.TotalAlloc - before.TotalAlloc
		if t.Logf("%s: %d KiB allocated", name, n>>10); n > 100<<20 {
			t.Errorf("%s took %d bytes", name, n)
		}
	}
}
