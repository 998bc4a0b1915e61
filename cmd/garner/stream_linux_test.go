package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/linuxtest"
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
					most := peak(t, p.cmd.Process.Pid)
					t.Logf("%d MiB", most>>20)
					if most > int64(at)+64<<20 && !raceEnabled {
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
			if got := p.status(t); got != cmdline.StatusDone {
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
	if !linuxtest.MayMount(t) {
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
	dir := linuxtest.Mount(t, 0, "size=4m", func(dir string) {
		writeFile(t, filepath.Join(dir, "old.npy"), []byte("as it was"))
	})
	for _, args := range [][]string{{ids, "--memory", "2M"}, {many}} {
		for _, out := range []string{"old.npy", "new.npy"} {
			p := start(t, dir, nil, append([]string{"gather", data, "-o", out}, args...)...)
			got, message := p.status(t), p.stderr.String()
			if got != cmdline.StatusRefused || !strings.HasPrefix(message, "garner: cannot write "+out+": it takes ") || !strings.HasSuffix(message, "; make room on the disk, or write to another one\n") || refusal(message) != nil {
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
	if got := p.status(t); got != cmdline.StatusDone {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
	nothingLeft(t, dir, "old.npy", "new.npy")
}

// TestTextMemory sends 20 million integers to standard input and from a file: garner stops
// reading where they would take more than --memory, or than a limit of the process leaves,
// and says so.
func TestTextMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	dir := t.TempDir()
	writeNpy(t, filepath.Join(dir, "data.npy"), garner.Of([]uint8{1, 2}, 2))
	const lines, more = 20_000_000, 3_000_000 // more than 16 MiB have
	writeFile(t, filepath.Join(dir, "ids.csv"), bytes.Repeat([]byte("1\n"), more))
	writeFile(t, filepath.Join(dir, "ids.txt"), append(bytes.Repeat([]byte("1, "), more), '1'))
	writeFile(t, filepath.Join(dir, "literal.txt"), append(append([]byte("["), bytes.Repeat([]byte("1, "), more)...), "1]"...))
	for _, tt := range []struct {
		name  string
		text  string // of standard input, repeated
		args  []string
		limit int // of address space, in MiB; 0: none
		want  string
		most  int // MiB
	}{
		{"lines", "1\n", []string{"-", "-o", "out.npy", "--memory", "16M"}, 0, "INDICES: the text: line 1048577: the text has more than 1048576 integers, and reading them takes more than the 16 MiB that are allowed; put them into a .npy file, which takes less memory than text; --memory 16M allows 16 MiB", 64},
		{"one line", "1, ", []string{"-", "-o", "out.npy", "--memory", "16M"}, 0, "line 1: the text has more than 1048576 integers", 64},
		{"a literal", "[[[1, 1, 1", []string{"-", "-o", "out.npy", "--memory", "16M"}, 0, "the literal takes 16.1 MiB of memory while it is read, and 16 MiB are allowed", 80},
		{"a file of lines", "", []string{"ids.csv", "-o", "out.npy", "--memory", "16M"}, 0, "ids.csv: line 1048577: the text has more than 1048576 integers", 64},
		{"a file of one line", "", []string{"ids.txt", "-o", "out.npy", "--memory", "16M"}, 0, "ids.txt: line 1: the text has more than 1048576 integers", 64},
		{"a file with a literal", "", []string{"literal.txt", "-o", "out.npy", "--memory", "16M"}, 0, "literal.txt: the literal takes", 80},
		{"a limit of the process", "1\n", []string{"-"}, 1900, "and reading them takes more than the ", 2200},
		{"a range and such a limit", "", []string{"0:1000000000"}, 1900, "INDICES 0:1000000000 takes 7.5 GiB in memory, and RLIMIT_AS leaves ", 100},
		{"a literal and such a limit", "[1, 1, 1, ", []string{"-"}, 1900, "the literal takes", 2200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.limit > 0 && raceEnabled {
				t.Skip("the race detector takes more address space than the limit")
			}
			if tt.limit > 0 && math.MaxInt == math.MaxInt32 {
				t.Skip("the limits are made for addresses of 64 bits")
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p := start(t, dir, func(c *exec.Cmd) {
				c.Stdin = r
				if tt.limit > 0 {
					limited(t, c, tt.limit)
				}
			}, append([]string{"gather", "data.npy"}, tt.args...)...)
			r.Close()
			used := watch(p.cmd.Process.Pid)
			if tt.text != "" {
				part := bytes.Repeat([]byte(tt.text), 1<<14)
				for sent := 0; sent < lines*len(tt.text); sent += len(part) {
					if _, err := w.Write(part); err != nil {
						break // garner does not read it
					}
				}
			}
			w.Close()
			if got, message := p.status(t), p.stderr.String(); got != cmdline.StatusRefused || !strings.Contains(message, tt.want) || refusal(message) != nil {
				t.Errorf("status %d: %.2000s; want %s", got, message, tt.want)
			}
			got, _ := used()
			t.Logf("%d MiB", got)
			if got > tt.most && !raceEnabled {
				t.Errorf("it took %d MiB", got)
			}
			nothingLeft(t, dir, "data.npy", "ids.csv", "ids.txt", "literal.txt")
		})
	}
}

// TestCompressedMemory asks for a compressed member by its header, before it is inflated.
func TestCompressedMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	dir := t.TempDir()
	writeNpy(t, filepath.Join(dir, "data.npy"), garner.Of([]uint8{1, 2}, 2))
	writeZeros(t, filepath.Join(dir, "ids.npz"), 20<<20) // 160 MiB
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"gather", "data.npy", "ids.npz#ids", "-o", "out.npy", "--memory", "200M"}, "INDICES ids.npz#ids take 160 MiB of memory, and --memory 200M leaves too little beside them"},
		{[]string{"gather", "data.npy", "ids.npz", "-o", "out.npy", "--memory", "200M"}, "INDICES ids.npz take 160 MiB of memory"},
		{[]string{"probe", "ids.npz#ids"}, "TABLE ids.npz#ids can only be read whole"},
	} {
		p := start(t, dir, nil, tt.args...)
		used := watch(p.cmd.Process.Pid)
		if got, message := p.status(t), p.stderr.String(); got != cmdline.StatusRefused || !strings.Contains(message, tt.want) {
			t.Errorf("%q: status %d: %s; want %s", tt.args, got, message, tt.want)
		}
		got, _ := used()
		t.Logf("%q: %d MiB", tt.args, got)
		if got > 100 && !raceEnabled {
			t.Errorf("%q took %d MiB", tt.args, got)
		}
	}
}

// writeZeros writes a .npz with a compressed array "ids" of n zeros of i64.
func writeZeros(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	archive := zip.NewWriter(f)
	member, err := archive.CreateHeader(&zip.FileHeader{Name: "ids.npy", Method: zip.Deflate})
	if err != nil {
		t.Fatal(err)
	}
	w, err := npy.NewWriter(member, garner.SpecOf(garner.I64, n))
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 1<<20)
	for left := 8 * n; left > 0; left -= len(part) {
		if _, err := w.Write(part[:min(left, len(part))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
}

// limited has a command start with a limit of address space, in MiB.
func limited(t *testing.T, c *exec.Cmd, limit int) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	c.Args = append([]string{"sh", "-c", fmt.Sprintf("ulimit -v %d && exec \"$0\" \"$@\"", limit<<10), c.Path}, c.Args[1:]...)
	c.Path = sh
}
