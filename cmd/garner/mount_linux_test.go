package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
)

// insideVariable marks a test process that runs in its own mount namespace.
const insideVariable = "GARNER_TEST_MOUNTS"

// cannotMount is the exit status of a test process that may not mount.
const cannotMount = 77

// withMounts runs the calling test again in a mount namespace where it may
// mount: as root in a new one, else as root of a user namespace. It returns
// true there, and false in the outer process, which then has nothing left to
// test. If the system allows neither, it skips the test.
func withMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		// Mounts from here on are private to this namespace.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			os.Exit(cannotMount)
		}
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, user := range []bool{false, true} {
		cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), insideVariable+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if user {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
			if !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
				t.Fatalf("the test has not run inside:\n%s", out)
			}
			return false
		case errors.As(err, &exit) && exit.ExitCode() != cannotMount:
			t.Fatalf("%v:\n%s", err, out)
		}
		reasons = append(reasons, err.Error())
	}
	t.Skipf("no file system can be mounted here, neither as root nor in a user namespace: %s", strings.Join(reasons, "; "))
	return false
}

// mount mounts a tmpfs, calls prepare in it, and then remounts it with flags.
func mount(t *testing.T, flags uintptr, options string, prepare func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		os.Exit(cannotMount)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	prepare(dir)
	if flags != 0 {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFullDisk writes a result larger than the disk: the previous file remains,
// and no temporary file does.
func TestFullDisk(t *testing.T) {
	if !withMounts(t) {
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
	dir := mount(t, 0, "size=1m", func(dir string) {
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
	if !withMounts(t) {
		return
	}
	dir := mount(t, syscall.MS_RDONLY, "size=1m", func(dir string) {
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
