package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPermissions(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "out")
	mode := func() string {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().String()
	}
	if err := put(path, "new"); err != nil {
		t.Fatal(err)
	}
	if got := mode(); got != "-rw-r-----" {
		t.Errorf("a new file is %s", got)
	}
	if err := os.Chmod(path, 0o606); err != nil {
		t.Fatal(err)
	}
	if err := put(path, "again"); err != nil {
		t.Fatal(err)
	}
	if got := mode(); got != "-rw----rw-" {
		t.Errorf("a file that was replaced is %s", got)
	}
}

// TestFull writes to a device that is always full.
func TestFull(t *testing.T) {
	err := put("/dev/full", "x")
	refused(t, err, "/dev/full: no space left on device; make room on the disk, or write to another one")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v is not ENOSPC", err)
	}
	refused(t, put("/dev/full", strings.Repeat("x", 2*bufferSize)), "no space left")
}

// TestTooLong names a file that no file system takes.
func TestTooLong(t *testing.T) {
	dir := t.TempDir()
	refused(t, put(filepath.Join(dir, strings.Repeat("x", 300)), "x"), "file name too long; write to another place")
	// The longest that it takes: the temporary's name is no longer.
	if err := put(filepath.Join(dir, strings.Repeat("x", 255)), "x"); err != nil {
		t.Error(err)
	}
}

// TestForbidden writes where the mode forbids it. It is tried by another user
// where the test runs as root, whom no mode stops.
func TestForbidden(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	plain(t, path, "before")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	// A folder may be written to that may not be read.
	blind := filepath.Join(dir, "blind")
	if err := os.Mkdir(blind, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(blind, 0o333); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Seteuid(65534); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := syscall.Seteuid(0); err != nil {
				t.Fatal(err)
			}
		}()
	}
	refused(t, put(path, "x"), "permission denied; ask for the permission, or write to another place")
	if os.Geteuid() != 0 {
		refused(t, put("/out", "x"), "permission denied")
	}
	holds(t, path, "before")
	if names := entries(t, dir); names != "blind out" {
		t.Errorf("the folder holds %s", names)
	}
	if err := put(filepath.Join(blind, "out"), "unseen"); err != nil {
		t.Error(err)
	}
	holds(t, filepath.Join(blind, "out"), "unseen")
}

// TestStraight writes to what cannot be replaced.
func TestStraight(t *testing.T) {
	dir := t.TempDir()
	if err := put("/dev/null", "gone"); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatalf("/dev/null is now %v, %v", info, err)
	}

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			b = []byte(err.Error())
		}
		got <- string(b)
	}()
	if err := put(pipe, "through the pipe"); err != nil {
		t.Error(err)
	}
	if s := <-got; s != "through the pipe" {
		t.Errorf("the pipe gave %q", s)
	}

	// An open file, as a shell's redirection leaves it: the rest goes behind
	// what is there, and the file stays the same one.
	path := filepath.Join(dir, "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := io.WriteString(file, "first, "); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "stdout")
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), link); err != nil {
		t.Fatal(err)
	}
	if err := put(link, "second"); err != nil {
		t.Error(err)
	}
	if err := put(fmt.Sprintf("/dev/fd/%d", file.Fd()), ", third"); err != nil {
		t.Error(err)
	}
	holds(t, path, "first, second, third")
	f, err := Create(link)
	if err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if names := entries(t, dir); names != "out pipe stdout" {
		t.Errorf("the folder holds %s", names)
	}
}

// TestSocket names what cannot be opened to write.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	refused(t, put(path, "x"), "no such device or address; write to another place")
}

// TestClosedPipe writes to a pipe whose reader is gone.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, err := Create(fmt.Sprintf("/dev/fd/%d", w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	_, err = f.Write(make([]byte, 2*bufferSize))
	refused(t, err, "broken pipe; let the reader at the other end read it all")
	f.Abort()
}

// TestDisk writes to a disk that is too small, and to one that is read-only.
func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	path := filepath.Join(dir, "out")
	before := strings.Repeat("before", 6<<10)
	if err := put(path, before); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{40 << 10, 1 << 20} { // seen by Commit, by Write
		refused(t, put(path, strings.Repeat("x", n)), "no space left on device; make room on the disk, or write to another one")
		if names := entries(t, dir); names != "out" {
			t.Errorf("the folder holds %s", names)
		}
		holds(t, path, before)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	refused(t, put(path, "x"), "read-only file system; write to another place")
	refused(t, put(filepath.Join(dir, "new"), "x"), "read-only file system; write to another place")
	holds(t, path, before)
}
