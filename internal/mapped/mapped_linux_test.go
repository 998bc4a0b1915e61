package mapped

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenFails opens regular files that cannot be read or mapped.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("x"), 0o000); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // root ignores file modes
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
	if _, err := Open(path); !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "garner: "+path+" may not be read (") {
		t.Error(err)
	}
	under := filepath.Join(path, "file")
	if _, err := Open(under); err == nil || !strings.HasPrefix(err.Error(), "garner: "+under+" cannot be read: ") {
		t.Error(err)
	}

	const kernels = "/sys/devices/system/cpu/online" // generated on read: it cannot be mapped
	if _, err := os.Stat(kernels); err != nil {
		t.Skipf("this machine has no %s: %v", kernels, err)
	}
	if _, err := Open(kernels); err == nil || !strings.HasPrefix(err.Error(), "garner: "+kernels+" cannot be mapped: ") {
		t.Error(err)
	}
}
