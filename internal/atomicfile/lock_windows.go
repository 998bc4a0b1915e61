package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow refuses to open a symbolic link, where the system can.
const NoFollow = 0

// TryLock locks a file for this process, until it closes the file or ends.
func TryLock(file *os.File) (bool, error) {
	// A lock denies others the bytes that it covers, so it covers one far behind the
	// end of the file.
	behind := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

// ours is true: the system has no owner to ask for.
func ours(fs.FileInfo) bool { return true }
