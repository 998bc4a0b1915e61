//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/cmdline"
)

// A large gather has a result so large that a test can interrupt the run in its
// middle.
type large struct {
	dir   string
	table [][]byte // rows of DATA
	ids   []int32
}

// wide is the size of a row in bytes.
const wide = 64 << 10

func newLarge(t *testing.T, rows int) *large {
	t.Helper()
	l := &large{dir: t.TempDir()}
	data, err := garner.New(garner.U8, 16, wide)
	if err != nil {
		t.Fatal(err)
	}
	b, err := data.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for i := range 16 {
		l.table = append(l.table, b[i*wide:(i+1)*wide])
	}
	for range rows {
		l.ids = append(l.ids, r.Int32N(16))
	}
	writeNpy(t, filepath.Join(l.dir, "data.npy"), data)
	writeNpy(t, filepath.Join(l.dir, "ids.npy"), garner.Of(l.ids, rows))
	return l
}

// holds fails unless out.npy is the result, whole.
func (l *large) holds(t *testing.T) {
	t.Helper()
	f, err := os.Open(filepath.Join(l.dir, "out.npy"))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	var head bytes.Buffer
	if _, err := npy.NewWriter(&head, garner.SpecOf(garner.U8, len(l.ids), wide)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReaderSize(f, 1<<20)
	got := make([]byte, head.Len())
	if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, head.Bytes()) {
		t.Errorf("the header is %q, %v", got, err)
	}
	got = make([]byte, wide)
	for i, id := range l.ids {
		if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, l.table[id]) {
			t.Errorf("row %d of %d is another (%v)", i, len(l.ids), err)
			return
		}
	}
	if n, err := in.Read(got); n > 0 || err != io.EOF {
		t.Errorf("behind it there is more: %d, %v", n, err)
	}
}

const partOf, journalOf = ".garner-out.npy.part", ".garner-out.npy.resume"

// noted waits until the journal of a run shows that it can be resumed. It
// returns false if the run ends first.
func (l *large) noted(t *testing.T, p *process) bool {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(200 * time.Microsecond) {
		if b, err := os.ReadFile(filepath.Join(l.dir, journalOf)); err == nil && bytes.Count(b, []byte("\n")) > 1 {
			return true
		}
		if len(p.ended) > 0 {
			if got := p.status(t); got != cmdline.StatusDone {
				t.Fatalf("status %d: %s", got, p.stderr.String())
			}
			return false
		}
	}
	t.Fatal("garner has noted nothing")
	return false
}

// caught runs larger and larger gathers until it interrupts one in its middle. On a busy
// machine this process may not run while garner does, even with 1.5 GiB to write.
func caught(t *testing.T, prepare func(*large), then func(*large, *process), args ...string) *large {
	t.Helper()
	for rows, tries := 3<<10, 0; tries < 20; rows, tries = min(2*rows, 24<<10), tries+1 { // 192 MiB and more
		l := newLarge(t, rows)
		if prepare != nil {
			prepare(l)
		}
		p := start(t, l.dir, nil, append([]string{"gather", "data.npy", "ids.npy", "-o", "out.npy"}, args...)...)
		if !l.noted(t, p) {
			continue
		}
		if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if len(p.ended) > 0 {
			continue
		}
		then(l, p)
		return l
	}
	t.Fatal("garner was never caught in mid-write")
	return nil
}

func (l *large) refused(t *testing.T, message string, args ...string) {
	t.Helper()
	p := start(t, l.dir, nil, args...)
	if got := p.status(t); got != cmdline.StatusRefused || !strings.Contains(p.stderr.String(), message) || refusal(p.stderr.String()) != nil {
		t.Errorf("%q: status %d, %q; want %q", args, got, p.stderr.String(), message)
	}
}

// TestResumeAfterKill kills a run in its middle. A second run resumes it,
// unless its result would differ.
func TestResumeAfterKill(t *testing.T) {
	l := caught(t, nil, func(l *large, p *process) {
		// While the run lives, no other run may write.
		l.refused(t, "cannot write out.npy: another garner is writing it", "gather", "data.npy", "ids.npy", "-o", "out.npy")
		l.refused(t, "cannot write out.npy: another garner is writing it", "gather", "data.npy", "ids.npy", "-o", "out.npy", "--resume")
		p.cmd.Process.Kill()
		p.status(t)
	})
	nothingLeft(t, l.dir, "data.npy", "ids.npy", partOf, journalOf)
	before := l.safe(t)
	if before == 0 {
		t.Fatal("nothing was noted")
	}

	// Other indices, another table, other flags, another file; the files stay.
	other := garner.Of(append([]int32{15 - l.ids[0]}, l.ids[1:]...), len(l.ids))
	writeNpy(t, filepath.Join(l.dir, "other.npy"), other)
	again := func(data, ids string, more ...string) []string {
		return append([]string{"gather", data, ids, "-o", "out.npy", "--resume"}, more...)
	}
	l.refused(t, "out.npy was begun with something else: INDICES: then i32[", again("data.npy", "other.npy")...)
	for args, now := range map[string]string{
		"--outside zero":                          "negative reject and outside zero",
		"--outside fill=7":                        "negative reject and outside fill=7",
		"--as openvino.Gather-8":                  "negative from-end and outside zero",
		"--as numpy.take --axis 0 --outside zero": "negative from-end and outside zero",
		"--negative from-end":                     "negative from-end and outside error",
	} {
		l.refused(t, "the operator: then a gather along axis 0 with negative reject and outside error, its loops ", again("data.npy", "ids.npy", strings.Fields(args)...)...)
		l.refused(t, ", now a gather along axis 0 with "+now+", its loops ", again("data.npy", "ids.npy", strings.Fields(args)...)...)
	}
	copied, err := os.ReadFile(filepath.Join(l.dir, "data.npy"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(l.dir, "table.npy"), copied)
	l.refused(t, "DATA: then u8[16,65536] in ", again("table.npy", "ids.npy")...)
	if after := l.safe(t); after != before {
		t.Errorf("%d bytes were safe, and now %d are", before, after)
	}
	os.Remove(filepath.Join(l.dir, "other.npy"))
	os.Remove(filepath.Join(l.dir, "table.npy"))

	// Bytes beyond those in the journal are written again. Other flags of the same meaning
	// go on.
	part, err := os.OpenFile(filepath.Join(l.dir, partOf), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.WriteAt([]byte("these bytes never reached the disk"), before); err != nil {
		t.Fatal(err)
	}
	part.Close()
	p := start(t, l.dir, nil, again("data.npy", "ids.npy", "--memory", "16M", "--threads", "1", "--axis", "-2", "--negative", "reject", "--outside", "error", "--batch-dims", "0")...)
	if got := p.status(t); got != cmdline.StatusDone || p.stderr.Len() > 0 {
		t.Fatalf("status %d: %s", got, p.stderr.String())
	}
	l.holds(t)
	nothingLeft(t, l.dir, "data.npy", "ids.npy", "out.npy")
}

// safe is what the journal says.
func (l *large) safe(t *testing.T) (n int64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(l.dir, journalOf))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(lines) < 2 || len(fields) != 4 {
		t.Fatalf("the journal ends with %q", fields)
	}
	for _, c := range fields[1] {
		n = n*10 + int64(c-'0')
	}
	return n
}

// TestResumeKills kills runs with --resume at random moments, and starts them again
// until one succeeds: every time the result is whole and nothing stands beside it.
// GARNER_KILLS says how many to kill.
func TestResumeKills(t *testing.T) {
	kills := 8
	if text := os.Getenv("GARNER_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("GARNER_KILLS is %q; give a number", text)
		}
	}
	l := newLarge(t, 9<<8) // 144 MiB: the journal gets two lines on the way
	args := []string{"gather", "data.npy", "ids.npy", "-o", "out.npy", "--memory", "8M", "--resume"}
	out := filepath.Join(l.dir, "out.npy")
	from := time.Now()
	if p := start(t, l.dir, nil, args...); p.status(t) != cmdline.StatusDone {
		t.Fatal(p.stderr.String())
	}
	usual := time.Since(from)
	r := rand.New(rand.NewPCG(uint64(from.UnixNano()), 0))
	resumed, whole := 0, 0
	for killed := 0; killed < kills; {
		writeFile(t, out, []byte("as it was"))
		for {
			p := start(t, l.dir, nil, args...)
			time.Sleep(time.Duration(r.Int64N(int64(usual) * 9 / 8)))
			p.cmd.Process.Kill()
			if got := p.status(t); got == cmdline.StatusDone {
				if !strings.Contains(p.stderr.String(), "nothing of out.npy to go on with") {
					resumed++
				}
				break
			} else if got != -1 {
				t.Fatalf("after %d kills: status %d, %s", killed, got, p.stderr.String())
			}
			killed++
			if info, err := os.Stat(out); err != nil {
				t.Fatal(err)
			} else if info.Size() > 100 {
				whole++
			}
		}
		l.holds(t)
		nothingLeft(t, l.dir, "data.npy", "ids.npy", "out.npy")
	}
	t.Logf("%d runs were killed, %d of them behind the rename; %d results were resumed, and not started anew", kills, whole, resumed)
}

// TestResumeAfterInterrupt sends SIGINT: the partial result and the previous
// file remain, and a run that does not resume reports that.
func TestResumeAfterInterrupt(t *testing.T) {
	l := caught(t, func(l *large) {
		writeFile(t, filepath.Join(l.dir, "out.npy"), []byte("as it was"))
	}, func(l *large, p *process) {
		if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		got, message := p.status(t), p.stderr.String()
		if got != cmdline.StatusInterrupted || !strings.HasPrefix(message, "garner: interrupted; ") || !strings.HasSuffix(message, " of out.npy are kept, and the same command with --resume goes on\n") {
			t.Errorf("status %d, %q", got, message)
		}
	})
	nothingLeft(t, l.dir, "data.npy", "ids.npy", "out.npy", partOf, journalOf)
	if b, err := os.ReadFile(filepath.Join(l.dir, "out.npy")); err != nil || string(b) != "as it was" {
		t.Errorf("the output has changed: %v", err)
	}
	if info, err := os.Stat(filepath.Join(l.dir, partOf)); err != nil || info.Size() != l.safe(t) {
		t.Errorf("%v, %v; want %d bytes", info, err, l.safe(t))
	}

	// Without --resume the run starts anew and reports that.
	p := start(t, l.dir, nil, "gather", "data.npy", "ids.npy", "-o", "out.npy")
	if got := p.status(t); got != cmdline.StatusDone {
		t.Fatalf("status %d: %s", got, p.stderr.String())
	}
	if want := "garner: what an interrupted run had written of out.npy is thrown away, and this one starts anew; --resume would have gone on\n"; p.stderr.String() != want {
		t.Errorf("it says %q; want %q", p.stderr.String(), want)
	}
	l.holds(t)
	nothingLeft(t, l.dir, "data.npy", "ids.npy", "out.npy")
}

// TestChanged writes to the table during a run: garner discards the partial
// result.
func TestChanged(t *testing.T) {
	l := caught(t, nil, func(l *large, p *process) {
		if err := os.Chtimes(filepath.Join(l.dir, "data.npy"), time.Time{}, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		got, message := p.status(t), p.stderr.String()
		if want := "garner: data.npy cannot be read: the file was written to while it was read; run again on one that is left alone\n"; got != cmdline.StatusRefused || message != want {
			t.Errorf("status %d, %q; want %q", got, message, want)
		}
	})
	nothingLeft(t, l.dir, "data.npy", "ids.npy")
}

// TestExtractChanged writes to a model while the table of a gather is extracted, as read and as a view of the mapped file:
// the rows behind those that were written already are others.
func TestExtractChanged(t *testing.T) {
	const rows = 3 << 20
	graph := joined(onnxNode("Gather", "t i", "y", field(3, "g")), onnxNode("Reshape", "t s", "r"), onnxNode("Gather", "r i", "z", field(3, "h")),
		field(5, joined(field(1, rows), field(2, 2), field(8, "t"), field(9, make([]byte, rows)))),
		field(5, joined(field(1, 2), field(2, 7), field(8, "s"), field(9, []byte{0: 2, 10: 24, 15: 0}))))
	for _, node := range []string{"g", "h"} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "m.onnx"), onnxModel(graph))
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p := start(t, dir, func(c *exec.Cmd) { c.Stdout = w }, "model", "m.onnx", "--extract", node, "-o", "-")
		w.Close()
		// More than the head: a pipe does not hold the rest.
		if _, err := io.ReadFull(r, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, "m.onnx"), time.Time{}, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Fatal(err)
		}
		if got, message := p.status(t), p.stderr.String(); got != cmdline.StatusRefused || !strings.Contains(message, "m.onnx was changed or replaced") {
			t.Errorf("%s: status %d, %q", node, got, message)
		}
	}
}

// TestPrintedChanged cuts a table short while the indices are still awaited: what
// is printed would be zeros of the page behind the file's end.
func TestPrintedChanged(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "data.npy")
	writeNpy(t, table, garner.Of(make([]int32, 1000), 1000))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p := start(t, dir, func(c *exec.Cmd) { c.Stdin = r }, "gather", "data.npy", "-")
	r.Close()
	// More than a pipe holds: the command has begun to read, and opened the table.
	head := npyHead(t, garner.SpecOf(garner.U8, 1<<17), 1<<17)
	if _, err := w.Write(head[:len(head)-1]); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(table, 2000); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(head[len(head)-1:]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got, message := p.status(t), p.stderr.String(); got != cmdline.StatusRefused || !strings.Contains(message, "data.npy cannot be read: the file was cut short") {
		t.Errorf("status %d, %q", got, message)
	}
}

// TestInterruptNothing interrupts a run that has nothing to keep: no file
// remains.
func TestInterruptNothing(t *testing.T) {
	dir := t.TempDir()
	writeNpy(t, filepath.Join(dir, "data.npy"), garner.Of([]int32{1, 2, 3}, 3))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p := start(t, dir, func(c *exec.Cmd) { c.Stdin = r }, "gather", "data.npy", "-", "-o", "out.npy", "--memory", "2M")
	r.Close()
	if _, err := w.Write(npyHead(t, garner.SpecOf(garner.U8, 1<<20), 1<<17)); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got, want := p.status(t), "garner: interrupted; no file was written\n"; got != cmdline.StatusInterrupted || p.stderr.String() != want {
		t.Errorf("status %d, %q; want %q", got, p.stderr.String(), want)
	}
	nothingLeft(t, dir, "data.npy")
}

// TestPartKills kills the runs of parts at random moments, and starts each again with
// --resume until it succeeds: the parts, joined, are the result, and nothing stands beside
// them.
func TestPartKills(t *testing.T) {
	const parts, kills = 2, 4
	l := newLarge(t, 9<<8)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 18))
	args := func(part int) []string {
		return []string{"gather", "data.npy", "ids.npy", "-o", fmt.Sprintf("part-%d-of-{parts}.npy", part), "--part", fmt.Sprintf("%d/%d", part, parts), "--memory", "8M", "--resume"}
	}
	from := time.Now()
	if p := start(t, l.dir, nil, args(1)...); p.status(t) != cmdline.StatusDone {
		t.Fatal(p.stderr.String())
	}
	usual := time.Since(from)
	files := []string{"data.npy", "ids.npy"}
	for part := 1; part <= parts; part++ {
		name := fmt.Sprintf("part-%d-of-%d.npy", part, parts)
		files = append(files, name)
		os.Remove(filepath.Join(l.dir, name))
		for killed := 0; ; killed++ {
			p := start(t, l.dir, nil, args(part)...)
			if killed < kills {
				time.Sleep(time.Duration(r.Int64N(int64(usual))))
				p.cmd.Process.Kill()
			}
			got := p.status(t)
			if got == cmdline.StatusDone && killed >= kills {
				break
			}
			if got != -1 && got != cmdline.StatusDone {
				t.Fatalf("part %d after %d kills: status %d, %s", part, killed, got, p.stderr.String())
			}
		}
	}
	nothingLeft(t, l.dir, files...)
	p := start(t, l.dir, nil, "join", "part-*-of-2.npy", "-o", "out.npy")
	if got := p.status(t); got != cmdline.StatusDone {
		t.Fatalf("status %d: %s", got, p.stderr.String())
	}
	l.holds(t)
}
