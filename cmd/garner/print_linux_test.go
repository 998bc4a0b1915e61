package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/linuxtest"
)

// onConsole runs garner in dir with its standard output on a terminal, and returns
// the status, and what the terminal and standard error show.
func onConsole(t *testing.T, dir string, prepare func(*exec.Cmd), args ...string) (status int, shows string) {
	t.Helper()
	if emulated {
		t.Skip("an emulator knows too little of terminals")
	}
	screen := linuxtest.NewScreen(t, 0)
	p := start(t, dir, func(c *exec.Cmd) {
		c.Stdout = screen.TTY
		if prepare != nil {
			prepare(c)
		}
	}, args...)
	status = p.status(t)
	const end = "the end of the test"
	fmt.Fprint(screen.TTY, end)
	for deadline := time.Now().Add(patience); !strings.HasSuffix(screen.String(), end); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal shows %q", screen.String())
		}
	}
	shows = strings.ReplaceAll(strings.TrimSuffix(screen.String(), end), "\r\n", "\n")
	return status, shows + p.stderr.String()
}

// TestSummary gathers 4 GiB onto a terminal: the summary reads only the ends, so that
// it takes little memory.
func TestSummary(t *testing.T) {
	const rows, width = 1 << 10, 4 << 10
	dir := t.TempDir()
	var head bytes.Buffer
	if _, err := npy.NewWriter(&head, garner.SpecOf(garner.U8, rows, width)); err != nil {
		t.Fatal(err)
	}
	table := make([]byte, head.Len()+rows*width)
	copy(table, head.Bytes())
	for i := range rows {
		binary.LittleEndian.PutUint32(table[head.Len()+i*width:], uint32(i))
		table[head.Len()+(i+1)*width-1] = byte(i)
	}
	writeFile(t, filepath.Join(dir, "data.npy"), table)
	n := 1 << 20
	if math.MaxInt == math.MaxInt32 {
		n = 1 << 18 // a result of 4 GiB has more elements than an int counts
	}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i % rows)
	}
	ids[0], ids[len(ids)-1] = 513, 255
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(ids, len(ids)))
	status, shows := onConsole(t, dir, nil, "gather", "data.npy", "ids.npy")
	want := fmt.Sprintf("u8[%d,4096], %d elements\n", n, int64(n)*width) + "first [1, 2, 0, 0, 0]\nlast  [0, 0, 0, 0, 255]\n\"-o FILE.npy\" writes them all, and \"--all\" prints them\n"
	if status != cmdline.StatusDone || shows != want {
		t.Errorf("status %d, %q; want %q", status, shows, want)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	screen := linuxtest.NewScreen(t, 0)
	if status := newProgram(nil, screen.TTY, screen.TTY).run(t.Context(), []string{"gather", filepath.Join(dir, "data.npy"), filepath.Join(dir, "ids.npy")}); status != cmdline.StatusDone {
		t.Errorf("status %d, %q", status, screen.String())
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("it allocates %d MiB", took>>20)
	}

	// Every index is looked at all the same.
	ids[n/2] = rows
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(ids, len(ids)))
	if status, shows := onConsole(t, dir, nil, "gather", "data.npy", "ids.npy"); status != cmdline.StatusRefused || !strings.Contains(shows, fmt.Sprintf("indices[%d] = 1024 is outside axis 0", n/2)) {
		t.Errorf("status %d, %q", status, shows)
	}
}

// TestSummaryEnds holds the summary of every dtype and of odd places against the
// result that is printed whole.
func TestSummaryEnds(t *testing.T) {
	dir := t.TempDir()
	for _, d := range garner.DTypes() {
		x, err := garner.New(d, 3, 7)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Len() {
			text := fmt.Sprint((i*5 + 1) % 2)
			switch {
			case d == garner.Bool:
				text = fmt.Sprint(i%3 == 0)
			case d == garner.F8E8M0:
				text = fmt.Sprint(1 << (i % 5))
			case d.Bits() >= 8:
				text = fmt.Sprint(i)
			}
			if err := x.SetText(i, text); err != nil {
				t.Fatal(d, err)
			}
		}
		args := []string{"gather", d.String() + x.Text(), "0:401:1", "--outside", "wrap"}
		status, whole := onConsole(t, dir, nil, append(args, "--all")...)
		if status != cmdline.StatusDone {
			t.Fatal(d, whole)
		}
		words := strings.Split(strings.Trim(whole, "[]\n"), ", ")
		for i, w := range words {
			words[i] = strings.Trim(w, "[]")
		}
		if len(words) != 401*7 {
			t.Fatalf("%s: %d elements", d, len(words))
		}
		want := fmt.Sprintf("%s[401,7], 2807 elements\nfirst [%s]\nlast  [%s]\n", d, strings.Join(words[:5], ", "), strings.Join(words[2802:], ", "))
		if status, shows := onConsole(t, dir, nil, args...); status != cmdline.StatusDone || !strings.HasPrefix(shows, want) {
			t.Errorf("%s: status %d, %q; want %q", d, status, shows, want)
		}
	}
}

// TestConsole holds what differs on a terminal.
func TestConsole(t *testing.T) {
	dir := t.TempDir()
	writeNpy(t, filepath.Join(dir, "data.npy"), garner.Of([]int64{1, 2}, 2))
	for _, args := range [][]string{
		{"gather", "data.npy", "[0]", "-o", "-"},
		{"gather", "nosuch.npy", "[0]", "-o", "-"}, // before anything is opened
		{"gather", "data.npy", "-", "-o", "-"},
		{"model", "nosuch.onnx", "--extract", "n", "-o", "-"},
	} {
		status, shows := onConsole(t, dir, nil, args...)
		if want := "garner: -o -: standard output is a terminal, and npy is no text; "; status != cmdline.StatusUsage || !strings.HasPrefix(shows, want) {
			t.Errorf("%q: status %d, %q; want %q", args, status, shows, want)
		}
	}
	// A picture is text.
	if status, shows := onConsole(t, dir, nil, "explain", "gather", "data.npy", "[0]", "-o", "-"); status != cmdline.StatusDone || !strings.Contains(shows, "<svg") {
		t.Errorf("status %d, %.100q", status, shows)
	}
	if status, shows := onConsole(t, dir, nil, "gather", "data.npy", "[1]"); status != cmdline.StatusDone || shows != "[2]\n" {
		t.Errorf("status %d, %q", status, shows)
	}
	// Colours are the program's own.
	colours := func(c *exec.Cmd) { c.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=") }
	if status, shows := onConsole(t, dir, colours, "explain", "gather", "data.npy", "[0]"); status != cmdline.StatusDone || !strings.HasPrefix(shows, "\x1b[1mgarner.Gather\x1b[0m   data i64[2]") {
		t.Errorf("status %d, %q", status, shows)
	}

	// A terminal is told that it is waited for.
	for _, args := range [][]string{{"gather", "data.npy", "-"}, {"gather", "-", "[1, 0]"}} {
		keys := linuxtest.NewScreen(t, 0)
		var stdout bytes.Buffer
		p := start(t, dir, func(c *exec.Cmd) { c.Stdin, c.Stdout = keys.TTY, &stdout }, args...)
		keys.Type(t, "1\n0\n\x04")
		role := "INDICES"
		if args[1] == "-" {
			role = "DATA"
		}
		want := "garner: " + role + ": reading what you type: integers, or a literal; Ctrl-D on a line of its own ends it\n"
		if got := p.status(t); got != cmdline.StatusDone || p.stderr.String() != want {
			t.Errorf("%q: status %d, %q; want %q", args, got, p.stderr.String(), want)
		}
		if want := map[string]string{"INDICES": "[2, 1]\n", "DATA": "[0, 1]\n"}[role]; stdout.String() != want {
			t.Errorf("%q prints %q; want %q", args, stdout.String(), want)
		}
	}
	// A pipe is not.
	p := start(t, dir, func(c *exec.Cmd) { c.Stdin = strings.NewReader("1") }, "gather", "data.npy", "-")
	if got := p.status(t); got != cmdline.StatusDone || p.stderr.Len() > 0 {
		t.Errorf("status %d, %q", got, p.stderr.String())
	}
}
