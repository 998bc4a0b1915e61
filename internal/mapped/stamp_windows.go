package mapped

import (
	"encoding/binary"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// StampOf returns an open file's Stamp: its number is its index. A file system that
// has no time of change gives the zero time.
func StampOf(file *os.File) (Stamp, error) {
	handle := windows.Handle(file.Fd())
	var about windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &about); err != nil {
		return Stamp{}, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	stamp := Stamp{
		Size:     int64(about.FileSizeHigh)<<32 | int64(about.FileSizeLow),
		Modified: time.Unix(0, about.LastWriteTime.Nanoseconds()),
		Inode:    uint64(about.FileIndexHigh)<<32 | uint64(about.FileIndexLow),
	}
	// FILE_BASIC_INFO: the times of creation, access, writing and change, 8 bytes
	// each, and the attributes.
	var basic [40]byte
	if windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo, &basic[0], uint32(len(basic))) != nil {
		return stamp, nil
	}
	if at := binary.LittleEndian.Uint64(basic[24:]); at != 0 {
		changed := windows.Filetime{LowDateTime: uint32(at), HighDateTime: uint32(at >> 32)}
		stamp.Changed = time.Unix(0, changed.Nanoseconds())
	}
	return stamp, nil
}

// alike is false: a FileInfo has no number of links.
func alike(fs.FileInfo, fs.FileInfo) bool { return false }
