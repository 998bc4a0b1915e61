package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner/internal/cmdline"
)

// external encodes a TensorProto i64 whose elements are in table.bin.
func external(name string, offset int64, dims ...int) []byte {
	var b []byte
	for _, d := range dims {
		b = append(b, field(1, d)...)
	}
	entry := func(key, value string) []byte { return field(13, joined(field(1, key), field(2, value))) }
	return field(5, joined(b, field(2, 7), field(8, name), entry("location", "table.bin"), entry("offset", fmt.Sprint(offset)), field(14, 1)))
}

// sparse makes a file of so many bytes that takes no place on the disk. A file system
// that holds no file of that size skips the test; another error fails it.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	writeFile(t, path, nil)
	if err := os.Truncate(path, size); errors.Is(err, syscall.EFBIG) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// TestLintCost judges models of less than a megabyte that name sparse files of 8 GiB, or
// whose nodes have very many outputs: each takes less than 256 MiB, the pages of mapped files
// included, and reads less than 64 MiB. What it computes is in [TestWorkInProportion].
func TestLintCost(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	const tableSize = 8 << 30
	var many []byte
	for i := range 60 {
		name := fmt.Sprint("c", i)
		many = joined(many, external(name, int64(i)<<26, 1<<23), onnxNode("Gather", "x "+name, fmt.Sprint("y", i)))
	}
	many = joined(many, onnxNode("Identity", "x", "y"))
	const ir = `<net name="n" version="11"><layers>
<layer id="0" name="t" type="Const" version="opset1"><data element_type="i64" shape="268435456,4" offset="0" size="8589934592"/><output><port id="0" precision="I64"><dim>268435456</dim><dim>4</dim></port></output></layer>
<layer id="1" name="i" type="Parameter" version="opset1"><data element_type="i64" shape="?"/><output><port id="0" precision="I64"><dim>-1</dim></port></output></layer>
<layer id="2" name="a" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0" precision="I64"/></output></layer>
<layer id="3" name="g" type="Gather" version="opset8"><data batch_dims="0"/><input><port id="0"/><port id="1"/><port id="2"/></input><output><port id="3" precision="I64"><dim>-1</dim><dim>4</dim></port></output></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/><edge from-layer="2" from-port="0" to-layer="3" to-port="2"/></edges></net>`
	const unread = "not judged: "
	walks := longWalks(1)
	for _, tt := range []struct {
		name  string
		model []byte
		want  string // in the report
		count int
		limit int // of address space, in MiB; 0: none
	}{
		{"loop.onnx", walks["outputs of a loop's body"], "", 0, 0},
		{"split.onnx", walks["outputs of a split"], "", 0, 0},
		{"chain.onnx", walks["a chain"], "", 0, 0},
		{"table.onnx", onnxModel(joined(external("t", 0, 1<<28, 4), onnxNode("Gather", "t i", "y"))), `its table is the constant "t", whose 8 GiB lint does not read`, 1, 0},
		{"again.onnx", onnxModel(joined(external("t", 0, 1<<28, 4), onnxNode("Gather", "t i", "y"))), `its table is the constant "t", whose 8 GiB lint does not read`, 1, 2000},
		{"table.xml", []byte(ir), `its table is the constant "t", whose 8 GiB lint does not read`, 1, 0},
		{"indices.onnx", onnxModel(joined(external("t", 0, 1<<28, 4), onnxNode("Gather", "x t", "y"))), `its indices are the constant "t", whose 8 GiB lint does not read`, 1, 0},
		{"many.onnx", onnxModel(many), `lint does not read`, 59, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.limit > 0 && raceEnabled {
				t.Skip("the race detector takes more address space than the limit")
			}
			if tt.count > 0 && math.MaxInt == math.MaxInt32 {
				t.Skip("no file of 8 GiB is opened where an int has 32 bits")
			}
			if len(tt.model) > 1e6 {
				t.Fatalf("the model has %d bytes", len(tt.model))
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, tt.name), tt.model)
			for _, name := range []string{"table.bin", strings.TrimSuffix(tt.name, filepath.Ext(tt.name)) + ".bin"} {
				sparse(t, filepath.Join(dir, name), tableSize)
			}
			var out strings.Builder
			p := start(t, dir, func(c *exec.Cmd) {
				if c.Stdout = &out; tt.limit > 0 {
					limited(t, c, tt.limit)
				}
			}, "lint", "--fail-on", "never", tt.name)
			used := watch(p.cmd.Process.Pid)
			if got := p.status(t); got != cmdline.StatusDone || strings.Count(out.String(), unread) != tt.count || tt.count > 0 && !strings.Contains(out.String(), tt.want) {
				t.Errorf("status %d: %s%.1000s; want %s", got, p.stderr.String(), out.String(), tt.want)
			}
			most, read := used()
			t.Logf("%v of a processor, %d MiB, and %d MiB read", p.cmd.ProcessState.UserTime()+p.cmd.ProcessState.SystemTime(), most, read)
			if most > 256 && !raceEnabled || read > 64 {
				t.Errorf("it took %d MiB, and read %d MiB", most, read)
			}
		})
	}
}

// TestNoAddressSpace reads files that are longer than the address space that the process
// may have: the error names the limit.
func TestNoAddressSpace(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes more address space than the limit")
	}
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no file of 8 GiB is opened where an int has 32 bits")
	}
	dir := t.TempDir()
	for _, name := range []string{"table.bin", "big.raw"} {
		sparse(t, filepath.Join(dir, name), 8<<30)
	}
	writeFile(t, filepath.Join(dir, "short.onnx"), onnxModel(joined(external("t", 0, 8), onnxNode("Gather", "x t", "y"))))
	writeFile(t, filepath.Join(dir, "table.onnx"), onnxModel(joined(external("t", 0, 1<<30), onnxNode("Gather", "t i", "y"))))
	const mapping = `tensor "t": table.bin cannot be mapped: it has 8 GiB, and RLIMIT_AS allows this process 2 GiB of address space in all; raise that limit, as with ulimit -v`
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"lint", "short.onnx"}, mapping},
		{[]string{"run", "table.onnx", "--input", "x=f32[0]", "--input", "i=[5,7]"}, mapping},
		{[]string{"explain", "gather", "big.raw", "[1,2]", "--dtype", "u8", "--shape", "8589934592"}, "MiB; raise that limit, as with ulimit -v"},
	} {
		p := start(t, dir, func(c *exec.Cmd) { limited(t, c, 2048) }, tt.args...)
		if got, message := p.status(t), p.stderr.String(); got != cmdline.StatusRefused || !strings.Contains(message, tt.want) || refusal(message) != nil {
			t.Errorf("%q: status %d: %s; want %s", tt.args, got, message, tt.want)
		}
	}
}
