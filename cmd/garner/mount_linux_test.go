package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/linuxtest"
)

// TestFullDisk writes a result larger than the disk: the previous file remains,
// and no temporary file does.
func TestFullDisk(t *testing.T) {
	if !linuxtest.MayMount(t) {
		return
	}
	inputs := t.TempDir()
	row, err := garner.New(garner.U8, 1, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	data, ids := filepath.Join(inputs, "row.npy"), filepath.Join(inputs, "ids.npy")
	writeNpy(t, data, row)
	writeNpy(t, ids, garner.Of(make([]int64, 64), 64))
	dir := linuxtest.Mount(t, 0, "size=1m", func(dir string) {
		writeFile(t, filepath.Join(dir, "old.npy"), []byte("as it was"))
	})
	for _, out := range []string{"old.npy", "new.npy"} {
		p := start(t, dir, nil, "gather", data, ids, "-o", out)
		want := "garner: cannot write " + out + ": no space left on device; make room on the disk, or write to another one\n"
		if got := p.status(t); got != cmdline.StatusRefused || p.stderr.String() != want {
			t.Errorf("status %d, %q; want %d, %q", got, p.stderr.String(), cmdline.StatusRefused, want)
		}
		nothingLeft(t, dir, "old.npy")
		if b, err := os.ReadFile(filepath.Join(dir, "old.npy")); err != nil || string(b) != "as it was" {
			t.Errorf("the old file has changed: %v", err)
		}
	}
	// A result that fits is still written.
	p := start(t, dir, nil, "gather", data, "[0]", "-o", "new.npy")
	if got := p.status(t); got != cmdline.StatusDone {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
	nothingLeft(t, dir, "old.npy", "new.npy")
}

// TestReadOnlyMount writes to a file system that is mounted read-only.
func TestReadOnlyMount(t *testing.T) {
	if !linuxtest.MayMount(t) {
		return
	}
	dir := linuxtest.Mount(t, syscall.MS_RDONLY, "size=1m", func(dir string) {
		writeFile(t, filepath.Join(dir, "old.npy"), []byte("as it was"))
		writeNpy(t, filepath.Join(dir, "data.npy"), garner.Of([]int32{1, 2, 3}, 3))
	})
	for _, out := range []string{"old.npy", "new.npy"} {
		p := start(t, dir, nil, "gather", "data.npy", "[0]", "-o", out)
		got, message := p.status(t), p.stderr.String()
		if want := "garner: cannot write " + out + ": read-only file system; "; got != cmdline.StatusRefused || !strings.HasPrefix(message, want) || refusal(message) != nil {
			t.Errorf("status %d, %q; want %d, %q…", got, message, cmdline.StatusRefused, want)
		}
		nothingLeft(t, dir, "old.npy", "data.npy")
	}
	// Reading from the mount works.
	p := start(t, dir, nil, "gather", "data.npy", "[2]")
	if got := p.status(t); got != cmdline.StatusDone {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
}
