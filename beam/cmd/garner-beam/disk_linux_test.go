package main

import (
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/linuxtest"
)

// TestFullDisk runs a job on a disk that is full in the middle. With more room the same
// command goes on.
func TestFullDisk(t *testing.T) {
	if !linuxtest.MayMount(t) {
		return
	}
	dir, disk := inputs(t), linuxtest.Mount(t, 0, "size=8m", nil)
	out := filepath.Join(disk, "rows")
	args := []string{"gather", "table.npy", "ids.npy", "-o", out, "--shard", "1M"}
	p := start(t, dir, nil, args...)
	want := regexp.MustCompile(`^garner-beam: job job-\d+ is FAILED: cannot write \S+: no space left on device; make room on the disk, or write to another one\n$`)
	if got := p.status(); got != cmdline.StatusRefused || !want.MatchString(p.stderr.String()) || p.stdout.Len() > 0 {
		t.Fatalf("status %d, %q, %q; want %d, %s", got, p.stdout.String(), p.stderr.String(), cmdline.StatusRefused, want)
	}
	n, done := placed(out)
	if n == 0 || done {
		t.Errorf("%d shards are in place, done: %v", n, done)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=80m"); err != nil {
		t.Fatal(err)
	}
	p = start(t, dir, nil, args...)
	if got := p.status(); got != 0 || p.stderr.Len() > 0 {
		t.Fatalf("with room: status %d, %q", got, p.stderr.String())
	}
	if err := same(out, filepath.Join(dir, "want.npy")); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyFolder runs jobs whose folder cannot be written.
func TestReadOnlyFolder(t *testing.T) {
	if !linuxtest.MayMount(t) {
		return
	}
	dir, disk := inputs(t), linuxtest.Mount(t, syscall.MS_RDONLY, "size=1m", nil)
	for _, out := range []string{disk, filepath.Join(disk, "rows")} {
		p := start(t, dir, nil, "gather", "table.npy", "ids.npy", "-o", out)
		want := regexp.MustCompile(`^garner-beam: [^\n]*read-only file system[^\n]*\n$`)
		if got := p.status(); got != cmdline.StatusRefused || !want.MatchString(p.stderr.String()) || p.stdout.Len() > 0 {
			t.Errorf("status %d, %q, %q; want %d, %s", got, p.stdout.String(), p.stderr.String(), cmdline.StatusRefused, want)
		}
		if names := listed(filepath.Join(disk, "rows")); names != nil {
			t.Errorf("it left %v", names)
		}
	}
}
