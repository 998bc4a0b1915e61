//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mapped

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenRefusesSpecial opens files that cannot be mapped. Open must not wait for a
// pipe's writer.
func TestOpenRefusesSpecial(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	refused(t, pipe, pipe+" is a pipe, which cannot be mapped; copy it to a file")
	if _, err := Open("/dev/null"); err == nil || !strings.HasPrefix(err.Error(), "garner: /dev/null is no regular file (") {
		t.Error(err)
	}
}
