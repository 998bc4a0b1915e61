//go:build unix

package cmdline

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAreNotDescribed refuses a named pipe, and keeps a ".." behind a symbolic link, which
// is not the folder that the link is in.
func TestPipesAreNotDescribed(t *testing.T) {
	folder := inputs(t)
	if err := syscall.Mkfifo("pipe.npy", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := describe(t, "gather", "[1]", "pipe.npy"); err == nil || !strings.Contains(err.Error(), "INDICES pipe.npy is of this process") {
		t.Error(err)
	}
	d := Description{Operator: "garner.Gather", Data: Described{Text: "[1]"}, Indices: Described{Text: filepath.Join(folder, "pipe.npy")}}
	if _, err := d.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "is of this process") { // and does not wait for a writer
		t.Error(err)
	}

	other := t.TempDir()
	if err := os.Symlink(folder, filepath.Join(other, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(other)
	d, err := describe(t, "gather", "link/../"+filepath.Base(folder)+"/table.npy", "[0]")
	if err != nil {
		t.Fatal(err)
	}
	o, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
}
