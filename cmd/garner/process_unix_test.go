//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/cmdline"
)

// patience is when a process that does nothing counts as hung. It is far beyond what a
// loaded machine needs, and below the time that go test gives a package.
const patience = 5 * time.Minute

// A process is a running garner.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan error
}

// start starts garner in dir. Its standard output is discarded, unless prepare
// redirects it.
func start(t *testing.T, dir string, prepare func(*exec.Cmd), args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("garner", args...), ended: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Stderr = dir, &p.stderr
	if prepare != nil {
		prepare(p.cmd)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	go func() { p.ended <- p.cmd.Wait() }()
	return p
}

// status waits for the end and returns the exit status; -1 for a process that a
// signal ended. It checks the form of a refusal's message.
func (p *process) status(t *testing.T) int {
	t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(patience):
		p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.ended
		t.Fatalf("garner has not ended:\n%s", p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// nothingLeft fails if dir holds more than the names given.
func nothingLeft(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		known := false
		for _, n := range names {
			known = known || e.Name() == n
		}
		if !known {
			t.Errorf("%s was left", e.Name())
		}
	}
}

// TestInterrupt sends SIGINT while garner writes a file: the status is 130, the
// previous file remains, and no temporary file does.
func TestInterrupt(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			if ossignal.Ignored(signal) {
				t.Skip("this process was started to ignore the signal, as nohup does, and so is what it starts")
			}
			dir := t.TempDir()
			// Grow the result until the interrupt arrives during the write. On a busy machine
			// this process may not run while garner does, even with 1 GiB to write.
			for rows, tries := 64, 0; tries < 20; rows, tries = min(2*rows, 1024), tries+1 {
				row, err := garner.New(garner.U8, 1, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				writeNpy(t, filepath.Join(dir, "row.npy"), row)
				writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(make([]int64, rows), rows))
				writeFile(t, filepath.Join(dir, "out.npy"), []byte("as it was"))
				// An operand from a pipe is gathered in memory.
				stdin, err := os.Open(filepath.Join(dir, "row.npy"))
				if err != nil {
					t.Fatal(err)
				}
				p := start(t, dir, func(c *exec.Cmd) { c.Stdin = stdin }, "gather", "-", "ids.npy", "-o", "out.npy")
				stdin.Close()
				if !begun(t, p, dir) {
					continue
				}
				if err := p.cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				got := p.status(t)
				if got == cmdline.StatusDone {
					continue // the run ended before the signal
				}
				if want := "garner: interrupted; no file was written\n"; got != cmdline.StatusInterrupted || p.stderr.String() != want {
					t.Errorf("status %d, %q; want %d, %q", got, p.stderr.String(), cmdline.StatusInterrupted, want)
				}
				if b, err := os.ReadFile(filepath.Join(dir, "out.npy")); err != nil || string(b) != "as it was" {
					t.Errorf("the output has changed: %v", err)
				}
				nothingLeft(t, dir, "row.npy", "ids.npy", "out.npy")
				return
			}
			t.Fatal("garner was never caught in mid-write")
		})
	}
}

// begun waits until the temporary file has bytes; false means that garner has
// ended before that was seen.
func begun(t *testing.T, p *process, dir string) bool {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		found, err := filepath.Glob(filepath.Join(dir, ".garner-*.tmp"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if info, err := os.Stat(name); err == nil && info.Size() > 0 {
				return true
			}
		}
		if len(p.ended) > 0 {
			if got := p.status(t); got != cmdline.StatusDone {
				t.Fatalf("status %d: %s", got, p.stderr.String())
			}
			return false
		}
	}
	t.Fatal("garner has written nothing")
	return false
}

// TestInterruptBlocked sends SIGINT while garner waits for a pipe, a read that
// no context ends.
func TestInterruptBlocked(t *testing.T) {
	dir := t.TempDir()
	big, err := garner.New(garner.U8, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	writeNpy(t, filepath.Join(dir, "big.npy"), big)
	writeNpy(t, filepath.Join(dir, "all.npy"), garner.Of(make([]int64, 1<<20), 1<<20))
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.npy"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []string{"big.npy", "all.npy", "fifo.npy"}

	held := func(t *testing.T, prepare func(*exec.Cmd), wait func(), args ...string) {
		p := start(t, dir, prepare, args...)
		wait()
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if got := p.status(t); got != cmdline.StatusInterrupted {
			t.Errorf("status %d; want %d", got, cmdline.StatusInterrupted)
		}
		if want := "garner: interrupted; no file was written\n"; p.stderr.String() != want {
			t.Errorf("it says %q; want %q", p.stderr.String(), want)
		}
		nothingLeft(t, dir, files...)
	}
	t.Run("reading", func(t *testing.T) {
		// The bytes exceed a pipe's buffer: once they are written, garner reads.
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		defer r.Close()
		held(t, func(c *exec.Cmd) { c.Stdin = r }, func() {
			if _, err := w.Write(npyHead(t, garner.SpecOf(garner.U8, 1<<30), 1<<20)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // garner reads the rest and blocks in the next read
		}, "gather", "-", "[0]", "-o", "out.npy")
	})
	t.Run("writing standard output", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		defer r.Close()
		held(t, func(c *exec.Cmd) { c.Stdout = w }, func() {
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}, "gather", "big.npy", "all.npy", "-o", "-")
	})
	t.Run("writing a pipe with a name", func(t *testing.T) {
		var r *os.File
		held(t, nil, func() {
			var err error
			if r, err = os.Open(filepath.Join(dir, "fifo.npy")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}, "gather", "big.npy", "all.npy", "-o", "fifo.npy")
		r.Close()
	})
}

// npyHead returns the header of an npy stream and the given number of bytes of
// its elements, all 0.
func npyHead(t *testing.T, spec garner.Spec, n int) []byte {
	t.Helper()
	shape, ok := spec.Shape()
	if !ok {
		t.Fatalf("%s has no shape", spec)
	}
	descr := map[garner.DType]string{garner.U8: "|u1", garner.I64: "<i8"}[spec.DType]
	dims := strings.Trim(shape.String(), "[]")
	text := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + dims + ",), }\n"
	b := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(text)))
	return append(append(b, text...), make([]byte, n)...)
}

// TestClosedPipe closes the reader of standard output. garner reports an array
// that is cut short; it does not report printed text, whose reader may have
// read enough.
func TestClosedPipe(t *testing.T) {
	dir := t.TempDir()
	big, err := garner.New(garner.U8, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	writeNpy(t, filepath.Join(dir, "big.npy"), big)
	for _, tt := range []struct {
		name    string
		args    []string
		message string
	}{
		{"array", []string{"gather", "big.npy", "[0,1]", "-o", "-"}, "garner: standard output was closed before the whole array was written; let its reader read it all\n"},
		{"text", []string{"gather", "big.npy", "[0,1]"}, ""},
		{"whole", []string{"gather", "big.npy", "big.npy", "--all"}, ""},
		{"operators", []string{"ops"}, ""},
		{"shape", []string{"shape", "--as", "onnx.Gather", "--data", "f32[2]", "--indices", "i64[?]"}, ""},
		{"verify", []string{"verify", "--json", "../../testdata/conformance/microsoft.jsonl"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			in := dir
			if tt.name == "verify" {
				in = "."
			}
			p := start(t, in, func(c *exec.Cmd) { c.Stdout = w }, tt.args...)
			w.Close()
			if got := p.status(t); got != cmdline.StatusRefused || p.stderr.String() != tt.message {
				t.Errorf("status %d, %q; want %d, %q", got, p.stderr.String(), cmdline.StatusRefused, tt.message)
			}
		})
	}
	t.Run("reader that wants the beginning", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = w }, "gather", "big.npy", "big.npy", "-o", "-")
		w.Close()
		if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), "let its reader read it all") {
			t.Errorf("status %d, %q", got, p.stderr.String())
		}
	})
	t.Run("pipe with a name", func(t *testing.T) {
		fifo := filepath.Join(dir, "fifo.npy")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, nil, "gather", "big.npy", "big.npy", "-o", "fifo.npy")
		r, err := os.Open(fifo)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), "cannot write fifo.npy: broken pipe; let the reader") {
			t.Errorf("status %d, %q", got, p.stderr.String())
		}
	})
}

// TestRedirected writes to a standard output that is a file.
func TestRedirected(t *testing.T) {
	dir := t.TempDir()
	data := garner.Of([]int32{1, 2, 3}, 3)
	writeNpy(t, filepath.Join(dir, "data.npy"), data)

	t.Run("another file", func(t *testing.T) {
		w, err := os.Create(filepath.Join(dir, "out.npy"))
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = w }, "gather", "data.npy", "[2,0]", "-o", "-")
		w.Close()
		if got := p.status(t); got != cmdline.StatusDone {
			t.Fatalf("status %d: %s", got, p.stderr.String())
		}
		f, err := npy.Open(filepath.Join(dir, "out.npy"), npy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := f.Tensor().String(); got != "i32[2] [3, 1]" {
			t.Errorf("it holds %s", got)
		}
	})
	t.Run("an input", func(t *testing.T) {
		path := filepath.Join(dir, "data.npy")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = w }, "gather", "data.npy", "[0]", "-o", "-")
		w.Close()
		if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), "standard output is the input data.npy") {
			t.Errorf("status %d, %q", got, p.stderr.String())
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the input has changed: %v", err)
		}
	})
	t.Run("another file of the input's model", func(t *testing.T) {
		const first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
		for _, name := range []string{"model.safetensors.index.json", first, second} {
			b, err := os.ReadFile(filepath.Join("../../format/safetensors/testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, name), b)
		}
		w, err := os.OpenFile(filepath.Join(dir, second), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = w }, "gather", first+"#embed", "[0]", "-o", "-")
		if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), "standard output is the input "+second) {
			t.Errorf("status %d, %q", got, p.stderr.String())
		}
	})
	t.Run("output is standard input", func(t *testing.T) {
		if _, err := os.Stat(cmdline.StdinPath); err != nil {
			t.Skip("this system has no name for standard input: ", err)
		}
		r, err := os.Open(filepath.Join(dir, "data.npy"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p := start(t, dir, func(c *exec.Cmd) { c.Stdin = r }, "gather", "-", "[0]", "-o", "data.npy")
		if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), "cannot write data.npy: it is the input /dev/stdin") {
			t.Errorf("status %d, %q", got, p.stderr.String())
		}
	})
}

// TestTruncated truncates a mapped file after garner has opened it: no signal
// ends the process, and no output is written.
func TestTruncated(t *testing.T) {
	if emulated {
		t.Skip("qemu's user emulation gives SIGBUS without the address, by which a fault is told from a nil pointer")
	}
	const rows, width = 4096, 512
	for _, to := range []int64{0, 1 << 20} {
		for _, out := range []string{"out.npy", "-", ""} {
			dir := t.TempDir()
			data, err := garner.New(garner.U8, rows, width)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "data.npy")
			writeNpy(t, path, data)
			args := []string{"gather", "data.npy", "-"}
			if out != "" {
				args = append(args, "-o", out)
			}
			var stdin io.WriteCloser
			p := start(t, dir, func(c *exec.Cmd) {
				if stdin, err = c.StdinPipe(); err != nil {
					t.Fatal(err)
				}
			}, args...)
			// The indices come in two halves. A pipe does not hold the first:
			// once it is written, garner reads it, and so has opened data.
			const half = 64 << 10
			ids := npyHead(t, garner.SpecOf(garner.I64, 2*half), 16*half)
			for i := range 2 * half {
				binary.LittleEndian.PutUint64(ids[len(ids)-16*half+8*i:], uint64(i%rows))
			}
			if _, err := stdin.Write(ids[:len(ids)-8*half]); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, to); err != nil {
				t.Fatal(err)
			}
			if _, err := stdin.Write(ids[len(ids)-8*half:]); err != nil {
				t.Fatal(err)
			}
			stdin.Close()
			got := p.status(t)
			message := p.stderr.String()
			if err := refusal(message); got != cmdline.StatusRefused || err != nil || !strings.Contains(message, "cut short") {
				t.Errorf("cut to %d, -o %q: status %d, %q (%v)", to, out, got, message, err)
			}
			nothingLeft(t, dir, "data.npy")
		}
	}
}

// TestFullDevice writes to a device that is always full.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full: ", err)
	}
	defer full.Close()
	for _, tt := range []struct {
		args    []string
		message string
	}{
		{[]string{"gather", "[1,2]", "[0]"}, "garner: cannot write standard output: no space left on device; make room there\n"},
		{[]string{"gather", "[1,2]", "[0]", "-o", "-"}, "garner: cannot write standard output: no space left on device; make room there, or name a file with -o\n"},
		{[]string{"help"}, "garner: cannot write standard output: no space left on device; make room there\n"},
		{[]string{"gather", "--help"}, "garner: cannot write standard output: no space left on device; make room there\n"},
	} {
		p := start(t, t.TempDir(), func(c *exec.Cmd) { c.Stdout = full }, tt.args...)
		if got := p.status(t); got != cmdline.StatusRefused || p.stderr.String() != tt.message {
			t.Errorf("%v: status %d, %q; want %d, %q", tt.args, got, p.stderr.String(), cmdline.StatusRefused, tt.message)
		}
	}
}

// TestNamedPipes reads pipes whose names end as those of files of one array: what is in
// them tells what they are.
func TestNamedPipes(t *testing.T) {
	dir := t.TempDir()
	array := filepath.Join(dir, "ids.npy")
	writeNpy(t, array, garner.Of([]int64{1, 0}, 2))
	npy, err := os.ReadFile(array)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, sent string
		args       []string
		status     int
		want       string
	}{
		{"t.txt", "1\n0\n", nil, cmdline.StatusDone, "[6, 5]\n"},
		{"n.npy", string(npy), nil, cmdline.StatusDone, "[6, 5]\n"},
		{"n.csv", string(npy), nil, cmdline.StatusDone, "[6, 5]\n"},
		{"r.raw", "", []string{"--indices-dtype", "i8", "--indices-shape", "?"}, cmdline.StatusUsage, "r.raw is a pipe or a device, of which .npy and text are read; --indices-shape and --indices-offset are for files without a header: save the elements as FILE.raw"},
		{"z.npz#a", "", nil, cmdline.StatusRefused, "z.npz is a pipe, which cannot be mapped; copy it to a file"},
	} {
		file, _, _ := strings.Cut(tt.name, "#")
		if err := syscall.Mkfifo(filepath.Join(dir, file), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = &out }, append([]string{"gather", "[5,6]", tt.name}, tt.args...)...)
		if tt.sent != "" {
			go os.WriteFile(filepath.Join(dir, file), []byte(tt.sent), 0) // which waits for a reader
		}
		if got, message := p.status(t), out.String()+p.stderr.String(); got != tt.status || !strings.Contains(message, tt.want) {
			t.Errorf("%s: status %d: %s; want %s", tt.name, got, message, tt.want)
		}
	}
}

// TestRunReadsAPipeOnce gives a model bytes without a type, as bf16 is saved, by a pipe that
// has a name: its writer comes once.
func TestRunReadsAPipeOnce(t *testing.T) {
	dir := t.TempDir()
	graph := joined(onnxNode("Gather", "d j", "y"), field(11, onnxValue("d", 16, "n")), field(11, onnxValue("j", 7, "m")), field(12, onnxValue("y", 16)))
	m := joined(field(1, 8), field(7, graph), field(8, joined(field(1, ""), field(2, 13))))
	writeFile(t, filepath.Join(dir, "m.onnx"), m)
	header := "{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	bf16 := "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + "\x80\x3f\x00\x40" // 1, 2
	if err := syscall.Mkfifo(filepath.Join(dir, "d.npy"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := start(t, dir, func(c *exec.Cmd) { c.Stdout = &out }, "run", "m.onnx", "--input", "d=d.npy", "--input", "j=i64[1,0,1]")
	go os.WriteFile(filepath.Join(dir, "d.npy"), []byte(bf16), 0)
	if got := p.status(t); got != cmdline.StatusDone || !strings.Contains(out.String(), "[2.0, 1.0, 2.0]") {
		t.Errorf("status %d: %s%s", got, out.String(), p.stderr.String())
	}
}

// TestNoC holds that the command links no C library where README's tag is given: one that
// does, does not start under some limits of the address space.
func TestNoC(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-tags", "netgo", ".")
	list.Env = append(os.Environ(), "CGO_ENABLED=1")
	deps, err := list.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("this machine runs a test that was built elsewhere: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(deps)) {
		if dep == "runtime/cgo" {
			t.Error("the command links C")
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil || !strings.Contains(string(readme), "add `-tags netgo`") {
		t.Errorf("README does not give the tag, %v", err)
	}
}
