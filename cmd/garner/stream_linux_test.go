package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
)

// TestMemory gathers all rows of a table four times as large as the budget, in
// random order, and holds the process's peak memory as the kernel reports it,
// file pages included.
func TestMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	const rows, width, budget = 1 << 16, 4 << 10, 64 << 20
	dir := t.TempDir()
	var head bytes.Buffer
	if _, err := npy.NewWriter(&head, garner.SpecOf(garner.U8, rows, width)); err != nil {
		t.Fatal(err)
	}
	table, err := os.Create(filepath.Join(dir, "data.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if _, err := table.Write(head.Bytes()); err != nil {
		t.Fatal(err)
	}
	// Each row begins with its number; the rest is a hole in the file.
	if err := table.Truncate(int64(head.Len()) + rows*width); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if _, err := table.WriteAt(binary.LittleEndian.AppendUint32(nil, uint32(i)), int64(head.Len())+int64(i)*width); err != nil {
			t.Fatal(err)
		}
	}
	ids := make([]int32, rows)
	for i := range ids {
		ids[i] = int32(int64(i) * 40503 % rows) // an odd factor, so that every row occurs
	}
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(ids, rows))
	for _, at := range []int{budget, 4 << 20} {
		t.Run(fmt.Sprint(at>>20, " MiB"), func(t *testing.T) {
			stdout, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdout.Close()
			p := start(t, dir, func(c *exec.Cmd) { c.Stdout = w }, "gather", "data.npy", "ids.npy", "-o", "-", "--memory", fmt.Sprint(at))
			w.Close()
			if _, err := io.CopyN(io.Discard, stdout, int64(head.Len())); err != nil {
				t.Fatal(err)
			}
			row := make([]byte, width)
			for i, id := range ids {
				if i == rows-64 { // the rest exceeds a pipe's buffer, so garner still runs
					if most := peak(t, p.cmd.Process.Pid); most > int64(at)+64<<20 {
						t.Errorf("it took %d MiB of memory, and was given %d", most>>20, at>>20)
					}
				}
				if _, err := io.ReadFull(stdout, row); err != nil {
					t.Fatal(err)
				}
				if got := int32(binary.LittleEndian.Uint32(row)); got != id {
					t.Fatalf("row %d is %d, want %d", i, got, id)
				}
			}
			if got := p.status(t); got != statusDone {
				t.Errorf("status %d: %s", got, p.stderr.String())
			}
		})
	}
}

// peak returns the peak memory of a process in bytes.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var n int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
			return n << 10
		}
	}
	t.Fatalf("the kernel says nothing of memory: %s", b)
	return 0
}

// TestStreamToFullDisk writes results out of files to a disk without room:
// garner reports it before the work and leaves no file.
func TestStreamToFullDisk(t *testing.T) {
	if !withMounts(t) {
		return
	}
	inputs := t.TempDir()
	row, err := garner.New(garner.U8, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	data, ids, many := filepath.Join(inputs, "row.npy"), filepath.Join(inputs, "ids.npy"), filepath.Join(inputs, "many.npy")
	writeNpy(t, data, row)
	writeNpy(t, ids, garner.Of(make([]int64, 8), 8))
	writeNpy(t, many, garner.Of(make([]int64, 80), 80))
	dir := mount(t, 0, "size=4m", func(dir string) {
		writeFile(t, filepath.Join(dir, "old.npy"), []byte("as it was"))
	})
	for _, args := range [][]string{{ids, "--memory", "2M"}, {many}} {
		for _, out := range []string{"old.npy", "new.npy"} {
			p := start(t, dir, nil, append([]string{"gather", data, "-o", out}, args...)...)
			got, message := p.status(t), p.stderr.String()
			if got != statusRefused || !strings.HasPrefix(message, "garner: cannot write "+out+": it takes ") || !strings.HasSuffix(message, "; make room on the disk, or write to another one\n") || refusal(message) != nil {
				t.Errorf("status %d, %q", got, message)
			}
			nothingLeft(t, dir, "old.npy")
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "old.npy")); err != nil || string(b) != "as it was" {
		t.Errorf("the old file has changed: %v", err)
	}
	// A result that fits is written, in space allocated before the work.
	p := start(t, dir, nil, "gather", data, "[0,0]", "-o", "new.npy", "--memory", "2M")
	if got := p.status(t); got != statusDone {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
	nothingLeft(t, dir, "old.npy", "new.npy")
}
