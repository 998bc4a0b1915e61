package mapped

import (
	"io/fs"
	"os"
	"time"

	"github.com/garner-go/garner"
)

// A Stamp tells a file from any other, and from itself before it was last written to,
// whatever its name, its size and its time of modification are set to. Two are
// compared by ==. The device is left out, because a file system may get another one
// each time that it is mounted. The fields are those of source.FileState.
type Stamp struct {
	Size     int64
	Modified time.Time
	Inode    uint64    // 0 where the system has none
	Changed  time.Time // zero where the system does not say
}

// Renewed reports whether the time of change of an open file alone tells that the file
// was written to: its other times and its size are as they were, and so are its name,
// mode, owner and number of links, which change that time too. chmod, chown, ln, rm
// and mv leave the bytes of an open file as they are.
func Renewed(path string, file *os.File, was fs.FileInfo) bool {
	now, err := file.Stat()
	if err != nil || !alike(was, now) {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(named, now)
}

// CutShort is the error, of a class, of a file that is shorter than it was when it
// was opened.
func CutShort(class error, was, now int64) error {
	return garner.Errorf(class, "the file was cut short while it was read, from %d bytes to %d; run again when nothing else writes to it, or on a copy of it", was, now)
}
