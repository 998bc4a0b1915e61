package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
)

// doubled is a model of OpenVINO IR that broadcasts x to the shape s and adds the
// result to itself, again and again. It gathers row x of that along axis x.
func doubled(times int) string {
	var layers, edges strings.Builder
	layer := func(id int, op, version, data string, inputs int) {
		fmt.Fprintf(&layers, "<layer id=\"%d\" name=\"%s%d\" type=\"%s\" version=\"%s\">%s", id, strings.ToLower(op), id, op, version, data)
		if inputs > 0 {
			layers.WriteString("<input>")
			for i := range inputs {
				fmt.Fprintf(&layers, "<port id=\"%d\"/>", i)
			}
			layers.WriteString("</input>")
		}
		if op != "Result" {
			layers.WriteString("<output><port id=\"9\" precision=\"I64\"/></output>")
		}
		layers.WriteString("</layer>\n")
	}
	edge := func(from, to, port int) {
		fmt.Fprintf(&edges, "<edge from-layer=\"%d\" from-port=\"9\" to-layer=\"%d\" to-port=\"%d\"/>\n", from, to, port)
	}
	layer(0, "Parameter", "opset1", `<data shape="1" element_type="i64"/>`, 0)
	layer(1, "Parameter", "opset1", `<data shape="?" element_type="i64"/>`, 0)
	layer(2, "Broadcast", "opset3", `<data mode="numpy"/>`, 2)
	edge(0, 2, 0)
	edge(1, 2, 1)
	for i := range times {
		layer(3+i, "Add", "opset1", "", 2)
		edge(2+i, 3+i, 0)
		edge(2+i, 3+i, 1)
	}
	layer(3+times, "Gather", "opset8", "", 3)
	edge(2+times, 3+times, 0)
	edge(0, 3+times, 1)
	edge(0, 3+times, 2)
	layer(4+times, "Result", "opset1", "", 1)
	edge(3+times, 4+times, 0)
	return "<net name=\"doubled\" version=\"11\"><layers>\n" + layers.String() + "</layers><edges>\n" + edges.String() + "</edges></net>\n"
}

// watch reads every millisecond how much memory a process has held at most, and how many
// bytes it has read, until it ends; used returns both in MiB. Memory counts the pages of
// mapped files, and read what system calls read, or 0 where the kernel does not count it. The
// resource usage that wait returns is no measure: it counts the memory of this process too,
// as it was before the other began its program.
func watch(pid int) (used func() (memory, read int)) {
	type usage struct{ memory, read int }
	ended := make(chan usage)
	entry := func(file, name string) (n int, found bool) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		_, line, found := strings.Cut(string(b), name)
		if err != nil || !found {
			return 0, false
		}
		if n, err := fmt.Sscan(line, &n); n != 1 || err != nil {
			panic(err)
		}
		return n, true
	}
	go func() {
		var most usage
		for {
			kib, found := entry("status", "VmHWM:")
			if !found {
				ended <- most
				return
			}
			most.memory = kib >> 10
			if bytes, found := entry("io", "rchar:"); found {
				most.read = bytes >> 20
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return func() (memory, read int) {
		most := <-ended
		return most.memory, most.read
	}
}

// TestRunMemory runs a model whose tensors together take ten times the budget, and
// two at a time fit, and holds the process's peak memory as the kernel reports it.
// With half the budget it is refused before anything is computed, so within less
// memory than one tensor takes.
func TestRunMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "doubled.xml"), []byte(doubled(20)))
	args := []string{"run", "doubled.xml", "--input", "parameter0=[0]", "--input", "parameter1=[25165824]"} // 192 MiB each
	const budget = 450
	p := start(t, dir, nil, append(args, "--memory", fmt.Sprint(budget, "M"))...)
	used := watch(p.cmd.Process.Pid)
	if got := p.status(t); got != cmdline.StatusDone {
		t.Fatalf("status %d: %s", got, p.stderr.String())
	}
	most, _ := used()
	t.Logf("%d MiB, of %d", most, budget)
	if most == 0 || most > 3*192 && !raceEnabled { // a third tensor, and the program
		t.Errorf("it took %d MiB of memory, and was given %d", most, budget)
	}
	p = start(t, dir, nil, append(args, "--memory", "300M")...)
	used = watch(p.cmd.Process.Pid)
	if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), `node "add4"`) || !strings.Contains(p.stderr.String(), "a tensor i64[25165824] takes 192 MiB beside the 192 MiB in use, and there are 300 MiB for all; give less at a time; --memory 300M is the limit") {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
	most, _ = used()
	t.Logf("%d MiB to refuse", most)
	if most > 100 && !raceEnabled {
		t.Errorf("it took %d MiB to refuse", most)
	}
}

// TestPrintedMemory prints a result of 128 MiB whole: the text takes no second tensor.
func TestPrintedMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "doubled.xml"), []byte(doubled(1)))
	out, err := os.Create(filepath.Join(dir, "text"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p := start(t, dir, func(c *exec.Cmd) { c.Stdout = out }, "run", "doubled.xml", "--input", "parameter0=[7]", "--input", "parameter1=[16777216]", "--result", "add3", "--all", "--memory", "140M")
	used := watch(p.cmd.Process.Pid)
	if got := p.status(t); got != cmdline.StatusDone {
		t.Fatalf("status %d: %s", got, p.stderr.String())
	}
	most, _ := used()
	t.Logf("%d MiB, of 140", most)
	if most == 0 || most > 140+100 && !raceEnabled {
		t.Errorf("it took %d MiB of memory, and was given 140", most)
	}
	if info, err := out.Stat(); err != nil || info.Size() != int64(len("add3 = i64[")+len("14, ")*16777216-len(", ")+len("]\n")) {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// TestRunAsksFirst runs a model whose result is larger than what is printed: it is
// refused before anything is made, and so is one on a terminal of which only the ends are
// shown, if a gather makes it.
func TestRunAsksFirst(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "doubled.xml"), []byte(doubled(3)))
	args := []string{"run", "doubled.xml", "--input", "parameter0=[0]", "--input", "parameter1=[67108864]", "--result", "add5"} // 512 MiB each
	p := start(t, dir, nil, args...)
	used := watch(p.cmd.Process.Pid)
	if got, message := p.status(t), p.stderr.String(); got != cmdline.StatusUsage || !strings.HasPrefix(message, "garner: result add5 is i64[67108864], 67108864 elements; outside a terminal more than 1000 are printed only if that is asked for") {
		t.Errorf("status %d: %s", got, message)
	}
	most, _ := used()
	t.Logf("%d MiB to refuse", most)
	if most > 100 && !raceEnabled {
		t.Errorf("it took %d MiB to refuse", most)
	}

	// 1 GiB of rows, of which a terminal shows 10 elements.
	row, err := garner.New(garner.U8, 4, 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	b, err := row.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = byte(i%7 + i>>12)
	}
	writeNpy(t, filepath.Join(dir, "rows.npy"), row)
	ids := make([]int64, 1<<18)
	for i := range ids {
		ids[i] = int64(i % 4)
	}
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(ids, len(ids)))
	writeFile(t, filepath.Join(dir, "rows.xml"), []byte(rowsModel))
	status, shows := onConsole(t, dir, nil, "run", "rows.xml", "--input", "data=rows.npy", "--input", "at=ids.npy", "--input", "axis=[0]", "--memory", "64M")
	want := "rows = u8[262144,4096], 1073741824 elements\nfirst [0, 1, 2, 3, 4]\nlast  [9, 3, 4, 5, 6]\n\"-o DIR\" writes them all, and \"--all\" prints them\n"
	if status != cmdline.StatusDone || shows != want {
		t.Errorf("status %d, %q; want %q", status, shows, want)
	}
}

// rowsModel is a model of OpenVINO IR that gathers rows of data.
const rowsModel = `<net name="rows" version="11"><layers>
<layer id="0" name="data" type="Parameter" version="opset1"><data shape="?,?" element_type="u8"/><output><port id="9" precision="U8" names="data"/></output></layer>
<layer id="1" name="at" type="Parameter" version="opset1"><data shape="?" element_type="i64"/><output><port id="9" precision="I64" names="at"/></output></layer>
<layer id="2" name="axis" type="Parameter" version="opset1"><data shape="1" element_type="i64"/><output><port id="9" precision="I64" names="axis"/></output></layer>
<layer id="3" name="rows" type="Gather" version="opset7"><data batch_dims="0"/><input><port id="0"/><port id="1"/><port id="2"/></input><output><port id="9" precision="U8" names="rows"/></output></layer>
<layer id="4" name="rows/result" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="9" to-layer="3" to-port="0"/>
<edge from-layer="1" from-port="9" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="9" to-layer="3" to-port="2"/>
<edge from-layer="3" from-port="9" to-layer="4" to-port="0"/>
</edges></net>
`

// TestSparseIndices gathers at a constant of 8 GiB of zeros, which takes no place on the
// disk. Where the result is refused, they are not read.
func TestSparseIndices(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no file of 8 GiB is opened where an int has 32 bits")
	}
	const n int64 = 1 << 30
	dir := t.TempDir()
	model := strings.Replace(rowsModel, `type="Parameter" version="opset1"><data shape="?" element_type="i64"/>`, fmt.Sprintf(`type="Const" version="opset1"><data shape="%d" element_type="i64" offset="0" size="%d"/>`, n, 8*n), 1)
	writeFile(t, filepath.Join(dir, "rows.xml"), []byte(model))
	sparse(t, filepath.Join(dir, "rows.bin"), 8*n)
	writeNpy(t, filepath.Join(dir, "data.npy"), garner.Of([]uint8{1, 2, 3, 4}, 2, 2))
	writeNpy(t, filepath.Join(dir, "empty.npy"), garner.Of([]uint8{}, 2, 0))
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"gather", "data.npy", "rows.xml#at"}, cmdline.StatusUsage, "the result is u8[1073741824,2]"},
		{[]string{"gather", "[[1,2],[3,4]]", "rows.xml#at"}, cmdline.StatusUsage, "the result is i64[1073741824,2]"},
		{[]string{"gathernd", "[[1,2],[3,4]]", "rows.xml#at"}, cmdline.StatusRefused, "garner: "},
		{[]string{"run", "rows.xml", "--input", "data=[[1,2],[3,4]]", "--input", "axis=[0]"}, cmdline.StatusUsage, "result rows is u8[1073741824,2]"},
		{[]string{"run", "rows.xml", "--input", "data=[[1,2],[3,4]]", "--input", "axis=[0]", "--memory", "64M", "-o", "out"}, cmdline.StatusRefused, "a tensor u8[1073741824,2] takes 2 GiB"},
		{[]string{"model", "rows.xml"}, cmdline.StatusDone, ""},
		{[]string{"info", "rows.xml"}, cmdline.StatusDone, ""},
	} {
		p := start(t, dir, nil, tt.args...)
		used := watch(p.cmd.Process.Pid)
		if got, message := p.status(t), p.stderr.String(); got != tt.status || !strings.Contains(message, tt.want) {
			t.Errorf("%q: status %d: %s; want %s", tt.args, got, message, tt.want)
		}
		most, read := used()
		t.Logf("%q: %d MiB, and %d MiB read", tt.args, most, read)
		if most > 200 && !raceEnabled || read > 64 {
			t.Errorf("%q took %d MiB, and read %d MiB", tt.args, most, read)
		}
	}
}

// ordered encodes numbers up to 2²⁰ as keys of slices have them.
func ordered(numbers ...int) string {
	var b []byte
	for _, v := range numbers {
		switch {
		case v < 1<<6:
			b = append(b, 0x80|byte(v))
		case v < 1<<13:
			b = append(b, 0xc0|byte(v>>8), byte(v))
		default:
			b = append(b, 0xe0|byte(v>>16), byte(v>>8), byte(v))
		}
	}
	return string(b)
}

// TestSlicedMemory gathers rows of a variable that is stored in slices, and extracts it: neither holds it in memory.
func TestSlicedMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	const rows, columns, most = 20 << 10, 1 << 10, 64 // 80 MiB of f32
	typed := func(key string, dtype int) []byte { return field(5, joined(field(1, key), field(2, field(6, dtype)))) }
	node := func(name, op, inputs string, types ...[]byte) []byte {
		b := joined(field(1, name), field(2, op))
		for in := range strings.FieldsSeq(inputs) {
			b = append(b, field(3, in)...)
		}
		return field(1, append(b, joined(types...)...))
	}
	graph := joined(node("v", "VariableV2", "", typed("dtype", 1)), node("copy", "Identity", "v", typed("T", 1)), node("again", "Identity", "copy", typed("T", 1)),
		node("ids", "Placeholder", "", typed("dtype", 3)), node("taken", "Gather", "again ids", typed("Tparams", 1), typed("Tindices", 3)))
	for name, boxes := range map[string][][4]int{ // from and to along each axis
		"whole":   {{0, 0, rows, columns}},
		"rows":    {{0, 0, rows / 4, columns}, {rows / 4, 0, rows, columns}},
		"columns": {{0, 0, rows, 100}, {0, 100, rows, columns}},
	} {
		dir := t.TempDir()
		shape := func(rows, columns int) []byte {
			return field(2, joined(field(2, field(1, rows)), field(2, field(1, columns))))
		}
		data, err := os.Create(filepath.Join(dir, "m.data-00000-of-00001"))
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		keys, entries, extents, at := []string{}, [][]byte{}, []byte(nil), 0
		for _, b := range boxes {
			high, wide := b[2]-b[0], b[3]-b[1]
			elements := make([]byte, 4*high*wide)
			for i := range high { // each row of a slice begins with its own number
				binary.LittleEndian.PutUint32(elements[4*i*wide:], math.Float32bits(float32(b[0]+i)))
			}
			if _, err := data.WriteAt(elements, int64(at)); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, "\x00v\x00\x01\x01\x02"+ordered(b[0], high, b[1], wide))
			entries = append(entries, joined(field(1, 1), shape(high, wide), field(4, at), field(5, len(elements)), fixed32(6, sumOf(elements))))
			extents = append(extents, field(7, joined(field(1, joined(field(1, b[0]), field(2, high))), field(1, joined(field(1, b[1]), field(2, wide)))))...)
			at += len(elements)
		}
		if len(boxes) == 1 {
			keys = []string{"v"}
		} else {
			keys, entries = append(keys, "v"), append(entries, joined(field(1, 1), shape(rows, columns), extents))
		}
		writeFile(t, filepath.Join(dir, "m.index"), checkpointIndex(keys, entries))
		writeFile(t, filepath.Join(dir, "m.meta"), joined(field(1, field(5, "1.15")), field(2, graph)))
		for _, args := range [][]string{
			{"run", "m.meta", "--input", "ids=[0,20479,5120,7]", "-o", "."},
			{"model", "m.meta", "--extract", "taken", "-o", "table.npy"},
			{"gather", "table.npy", "[0,20479,5120,7]", "-o", "rows.npy"},
		} {
			p := start(t, dir, nil, args...)
			used := watch(p.cmd.Process.Pid)
			if got := p.status(t); got != cmdline.StatusDone {
				t.Fatalf("%s: %q: status %d: %s", name, args, got, p.stderr.String())
			}
			took, _ := used()
			t.Logf("%s: %q: %d MiB", name, args, took)
			if took == 0 || took > most && !raceEnabled {
				t.Errorf("%s: %q took %d MiB of memory", name, args, took)
			}
		}
		first, err := os.ReadFile(filepath.Join(dir, "taken.npy"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(filepath.Join(dir, "rows.npy"))
		if err != nil {
			t.Fatal(err)
		}
		last := math.Float32frombits(binary.LittleEndian.Uint32(first[len(first)-4*columns:]))
		if !bytes.Equal(first, again) || last != 7 {
			t.Errorf("%s: %d and %d bytes, of which the last row begins with %v", name, len(first), len(again), last)
		}
	}
}
