package main

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner/internal/cmdline"
)

// TestFixCost mends models with a table of 10 GiB, which is a hole of its file, within 256
// MiB: in the ONNX file itself, beside it, and in the .bin of an IR. Where the file system
// tells what is a hole, the table is not read.
func TestFixCost(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no file of 10 GiB is opened where an int has 32 bits")
	}
	const rows = 10 << 20
	const size = rows * 256 * 4
	dir := t.TempDir()
	graph := joined(onnxNode("Gather", "t i", "y"), field(11, onnxValue("i", 7)), field(12, onnxValue("y", 1)))

	// The table at the end of the graph at the end of the model, so that their lengths
	// stand before it.
	tensor := joined(field(1, rows), field(1, 256), field(2, 1), field(8, "t"))
	tensor = protowire.AppendVarint(protowire.AppendTag(tensor, 9, protowire.BytesType), size)
	inner := protowire.AppendVarint(protowire.AppendTag(graph, 5, protowire.BytesType), uint64(len(tensor))+size)
	head := joined(field(1, 8), field(8, joined(field(1, ""), field(2, 18))))
	head = protowire.AppendVarint(protowire.AppendTag(head, 7, protowire.BytesType), uint64(len(inner)+len(tensor))+size)
	head = joined(head, inner, tensor)
	writeFile(t, filepath.Join(dir, "inside.onnx"), head)
	sparse(t, filepath.Join(dir, "table.bin"), size)
	if err := os.Truncate(filepath.Join(dir, "inside.onnx"), int64(len(head))+size); err != nil {
		t.Fatal(err)
	}
	beside := joined(field(1, rows), field(1, 256), field(2, 1), field(8, "t"), field(13, joined(field(1, "location"), field(2, "table.bin"))), field(14, 1))
	writeFile(t, filepath.Join(dir, "beside.onnx"), joined(field(1, 8), field(8, joined(field(1, ""), field(2, 18))), field(7, joined(graph, field(5, beside)))))
	writeFile(t, filepath.Join(dir, "table.xml"), []byte(`<net name="n" version="11"><layers>
<layer id="0" name="t" type="Const" version="opset1"><data element_type="f32" shape="10485760,256" offset="0" size="10737418240"/><output><port id="0" precision="FP32"><dim>10485760</dim><dim>256</dim></port></output></layer>
<layer id="1" name="i" type="Parameter" version="opset1"><data element_type="i64" shape="?"/><output><port id="0" precision="I64"><dim>-1</dim></port></output></layer>
<layer id="2" name="a" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0" precision="I64"/></output></layer>
<layer id="3" name="g" type="Gather" version="opset8"><data batch_dims="0"/><input><port id="0"/><port id="1"/><port id="2"/></input><output><port id="3" precision="FP32"><dim>-1</dim><dim>256</dim></port></output></layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/><edge from-layer="2" from-port="0" to-layer="3" to-port="2"/><edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>`))
	table, err := os.Open(filepath.Join(dir, "table.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	const seekData = 3 // SEEK_DATA
	_, err = table.Seek(0, seekData)
	holes := errors.Is(err, syscall.ENXIO)
	if !holes {
		t.Logf("this file system does not tell a hole, %v: the whole table is read", err)
	}
	for _, name := range []string{"inside.onnx", "beside.onnx", "table.xml"} {
		var out strings.Builder
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = &out }, "lint", name, "--fix", "-o", "mended-"+name)
		used := watch(p.cmd.Process.Pid)
		if got := p.status(t); got != cmdline.StatusDone || !strings.Contains(out.String(), "1 node is mended") {
			t.Errorf("%s: status %d: %s%s", name, got, p.stderr.String(), out.String())
		}
		most, read := used()
		t.Logf("%s: %v of a processor, %d MiB, and %d MiB read", name, p.cmd.ProcessState.UserTime()+p.cmd.ProcessState.SystemTime(), most, read)
		if most > 256 && !raceEnabled {
			t.Errorf("%s: it took %d MiB", name, most)
		}
		if read > 64 && holes {
			t.Errorf("%s: it read %d MiB", name, read)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "mended-inside.onnx")); err != nil || info.Size() <= size {
		t.Errorf("%v, %v", info, err)
	}
}
