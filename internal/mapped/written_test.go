package mapped

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWritten holds that a file that is written to or cut short in place is told from one
// that is renamed or replaced, whose bytes stay mapped.
func TestWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for name, tt := range map[string]struct {
		change func() error
		want   bool
	}{
		"nothing": {func() error { return nil }, false},
		"renamed": {func() error { return os.Rename(path, path+".old") }, false},
		"replaced": {func() error {
			if err := os.WriteFile(path+".new", []byte("ghijkl"), 0o666); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, false},
		"written": {func() error { return os.WriteFile(path, []byte("ghijkl"), 0o666) }, true},
		"cut":     {func() error { return os.Truncate(path, 3) }, true},
	} {
		if copied && !tt.want {
			continue // a system that maps nothing may refuse to replace an open file
		}
		if err := os.WriteFile(path, []byte("abcdef"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.change(); err != nil {
			t.Logf("%s: %v", name, err) // Windows keeps a mapped file as it is
			tt.want = false
		}
		if got, err := f.Written(); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := f.Written(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("behind Close: %v", err)
		}
	}
}

// TestCheckOfOtherMemory holds that bytes beside the mapping are no end of a file, at higher
// addresses and at lower ones.
func TestCheckOfOtherMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("abcdef"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := make([]byte, 16)
	before := &File{path: path, data: other[:8], size: 8, file: f.file} // of which the rest lies behind
	for _, err := range []error{f.Check(other), before.Check(other[8:]), before.Check(f.Bytes())} {
		if err != nil {
			t.Error(err)
		}
	}
}
