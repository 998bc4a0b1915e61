package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// countingGarner builds the command so that it counts how often each of its statements runs, as a
// file beside the tests' own garner, which is removed with it.
var countingGarner = sync.OnceValues(func() (string, error) {
	garner, err := exec.LookPath("garner")
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(garner), "counting")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	out, err := exec.Command("go", "build", "-cover", "-covermode=atomic", "-o", path, ".").CombinedOutput()
	if err != nil && len(out) > 0 {
		err = errors.New(string(out))
	}
	return path, err
})

// statements is how many statements of this module's packages run in some commands, each
// statement as often as it runs. A slow machine runs as many as a fast one. Whether a command
// does what it is asked to or refuses it does not matter.
func statements(t *testing.T, commands ...[]string) (n uint64) {
	t.Helper()
	garner, err := countingGarner()
	if err != nil {
		t.Fatal(err)
	}
	counts := t.TempDir()
	for _, args := range commands {
		c := exec.Command(garner, args...)
		c.Env = append(os.Environ(), "GOCOVERDIR="+counts)
		var failed *exec.ExitError
		if err := c.Run(); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
	}
	profile := filepath.Join(counts, "profile")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+profile).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		fields := bytes.Fields(line) // FILE:FROM,TO STATEMENTS TIMES, behind "mode: atomic"
		if len(fields) != 3 {
			continue
		}
		in, err := strconv.ParseUint(string(fields[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		times, err := strconv.ParseUint(string(fields[2]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n += in * times
	}
	if n == 0 {
		t.Fatalf("%s counts nothing", garner)
	}
	return n
}

// splitting encodes a node that splits a value into n outputs, and what one operator makes
// of them.
func splitting(n int, from, op, to string) []byte {
	names := strings.Builder{}
	for i := range n {
		names.WriteString(strconv.FormatInt(int64(36+i), 36) + " ") // two characters and more
	}
	axis := field(5, joined(field(1, "axis"), field(20, 2), field(3, 0)))
	return joined(onnxNode("Split", from, names.String(), axis), onnxNode(op, names.String(), to, axis))
}

// longWalks lists ONNX models of less than a megabyte whose indices come from very many
// outputs or nodes, or from a part of those.
func longWalks(part int) map[string][]byte {
	k := make([]byte, 0, 256)
	for i := range uint64(32) {
		k = binary.LittleEndian.AppendUint64(k, i)
	}
	constant := field(5, joined(field(1, 4), field(1, 8), field(2, 7), field(8, "k"), field(9, k)))
	body := joined(splitting(60_000/part, "s", "Max", "j"), onnxNode("Gather", "x j", "w"), onnxNode("Add", "s j", "r"), onnxNode("Identity", "c", "d"),
		field(11, onnxValue("turn", 7)), field(11, onnxValue("c", 9)), field(11, onnxValue("s", 7)), field(12, onnxValue("d", 9)), field(12, onnxValue("r", 7)))
	chain, last := bytes.Buffer{}, "k"
	for i := range 48_000 / part {
		next := strconv.FormatInt(int64(46656+i), 36)
		chain.Write(onnxNode("Abs", last, next))
		last = next
	}
	return map[string][]byte{
		"outputs of a loop's body": onnxModel(joined(constant, onnxNode("Identity", "x", "y"), onnxNode("Loop", "i i k", "v z", field(5, joined(field(1, "body"), field(20, 5), field(6, body)))))),
		"outputs of a split":       onnxModel(joined(constant, splitting(80_000/part, "k", "Concat", "j"), onnxNode("Gather", "x j", "y"))),
		"a chain":                  onnxModel(joined(constant, chain.Bytes(), onnxNode("Gather", "x "+last, "y"))),
	}
}

// TestWorkInProportion lists and judges models of TensorFlow and TensorFlow Lite as
// [TestTensorFlowInProportion] does, and the longest of [TestLintCost]: for a file of four
// times the size at most five times as many statements run. What walks a chain for each of its
// nodes allocates nothing, and runs up to sixteen times as many.
func TestWorkInProportion(t *testing.T) {
	if emulated {
		t.Skip("an emulator runs as many statements, and takes its time")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("this machine runs a test that was built elsewhere: ", err)
	}
	const size, times = 240 << 10, 4
	small, large := costlyTensorFlow(size/times), costlyTensorFlow(size)
	for part, all := range map[int]map[string]costly{times: small, 1: large} {
		for name, b := range longWalks(part) {
			all["onnx "+name] = costly{map[string][]byte{"m.onnx": b}, "m.onnx", nil}
		}
	}
	for name := range large {
		t.Run(name, func(t *testing.T) {
			run := func(c costly) uint64 {
				dir := t.TempDir()
				c.write(t, dir)
				args := append([]string{filepath.Join(dir, c.open)}, c.args...)
				return statements(t, append([]string{"model"}, args...), append([]string{"lint", "--fail-on", "never"}, args...))
			}
			few, many := run(small[name]), run(large[name])
			t.Logf("%d statements, and %d: %.2f times as many", few, many, float64(many)/float64(few))
			if many > times*few*5/4 {
				t.Errorf("%d statements run for a file of about %d bytes, %d for one of a quarter", many, size, few)
			}
		})
	}
}
