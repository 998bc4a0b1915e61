package guard

import (
	"os"

	"golang.org/x/sys/unix"
)

// Forget drops a file's pages from the page cache, so that the next read goes to the
// disk. It returns false if the system cannot. Mapped pages that were accessed stay.
func Forget(file *os.File) bool {
	return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED) == nil
}
