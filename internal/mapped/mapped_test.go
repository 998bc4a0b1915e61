package mapped

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
)

func TestOpen(t *testing.T) {
	for _, want := range []string{"", "a", strings.Repeat("0123456789abcdef", 10000)} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(f.Bytes()) != want || f.Size() != len(want) {
			t.Errorf("%d bytes, of %d, are not the file's %d", len(f.Bytes()), f.Size(), len(want))
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if f.Bytes() != nil {
			t.Error("bytes after Close")
		}
	}
}

func TestCloseFails(t *testing.T) {
	broken := errors.New("broken")
	f := &File{path: "x.npy", unmap: func([]byte) error { return broken }}
	if err := f.Close(); !errors.Is(err, broken) || err.Error() != "garner: x.npy cannot be unmapped: broken" {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	if _, err := Open(none); !errors.Is(err, fs.ErrNotExist) || err.Error() != "garner: there is no file "+none+"; check the name and the folder" {
		t.Errorf("a file that is not there: %v", err)
	}
	refused(t, dir, dir+" is a folder; name a file")
}

func refused(t *testing.T, path, message string) {
	t.Helper()
	f, err := Open(path)
	if err == nil {
		f.Close()
		t.Errorf("%s was opened", path)
	} else if got := err.Error(); got != "garner: "+message {
		t.Errorf("%s\nwant %s", got, message)
	}
}

// TestOpenURL refuses a URL as a URL; a path that looks like one is a missing file.
func TestOpenURL(t *testing.T) {
	for _, path := range []string{"https://host/a.npy", "file:///a.npy", "S3://b/c"} {
		if _, err := Open(path); !errors.Is(err, garner.ErrAttribute) || err.Error() != "garner: "+path+" is a URL; name a file by its path" {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"a/b://c", "none", "://a"} {
		if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestLarge maps more than 2^31 bytes of a sparse file, which 32-bit systems
// refuse.
func TestLarge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux is a truncated file sure to be sparse")
	}
	path := filepath.Join(t.TempDir(), "sparse")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const size = 3 << 30
	if _, err := file.WriteAt([]byte("end"), size-3); err != nil {
		t.Fatal(err)
	}
	if math.MaxInt == math.MaxInt32 {
		refused(t, path, path+" has 3221225472 bytes, more than this 32-bit build of garner can map; use a 64-bit one")
		return
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if end := string(f.Bytes()[f.Size()-3:]); end != "end" {
		t.Errorf("it ends in %q", end)
	}
}

// TestGuard truncates a file while it is read.
func TestGuard(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var sum byte
	err = Guard(func() error {
		for _, b := range f.Bytes() {
			sum += b
		}
		return nil
	})
	if !errors.Is(err, garner.ErrFault) || !strings.Contains(err.Error(), "garner: a file was cut short") || !strings.Contains(err.Error(), "run again") {
		t.Errorf("reading what is gone: %v, sum %d", err, sum)
	}
}

func TestGuardPasses(t *testing.T) {
	if err := Guard(func() error { return nil }); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := Guard(func() error { return broken }); err != broken {
		t.Error(err)
	}
	var nothing *File
	for name, f := range map[string]func() error{
		"a panic":     func() error { panic("on purpose") },
		"nil pointer": func() error { nothing.path = "x"; return nil },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was held back", name)
				}
			}()
			Guard(f)
		}()
	}
}

// The error of a process at its limit of open files says so.
func TestTooManyFiles(t *testing.T) {
	err := failed("a.npy", &fs.PathError{Op: "open", Path: "a.npy", Err: syscall.EMFILE})
	if want := "garner: a.npy cannot be opened: this process has as many files open as it may; raise that, as with ulimit -n"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
