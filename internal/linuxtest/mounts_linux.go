package linuxtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// insideVariable marks a test process that runs in its own mount namespace.
const insideVariable = "GARNER_TEST_MOUNTS"

// cannotMount is the exit status of a test process that may not mount.
const cannotMount = 77

// MayMount runs the calling test again in a mount namespace where it may
// mount: as root in a new one, else as root of a user namespace. It returns
// true there, and false in the outer process, which then has nothing left to
// test. If the system allows neither, it skips the test.
func MayMount(t testing.TB) bool {
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

// Mount mounts a file system in memory until the test ends, where MayMount is true. It
// calls prepare with its folder, unless that is nil, and then remounts it with flags.
func Mount(t testing.TB, flags uintptr, options string, prepare func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		os.Exit(cannotMount)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	if prepare != nil {
		prepare(dir)
	}
	if flags != 0 {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
