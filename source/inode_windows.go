package source

import (
	"encoding/binary"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// inode returns a file's index and its time of change. A file system that has no
// such time gives the zero time.
func inode(file *os.File) (number uint64, changed time.Time, err error) {
	handle := windows.Handle(file.Fd())
	var about windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &about); err != nil {
		return 0, time.Time{}, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	number = uint64(about.FileIndexHigh)<<32 | uint64(about.FileIndexLow)
	// FILE_BASIC_INFO: the times of creation, access, writing and change, 8 bytes
	// each, and the attributes.
	var basic [40]byte
	if windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo, &basic[0], uint32(len(basic))) != nil {
		return number, time.Time{}, nil
	}
	at := binary.LittleEndian.Uint64(basic[24:])
	if at == 0 {
		return number, time.Time{}, nil
	}
	filetime := windows.Filetime{LowDateTime: uint32(at), HighDateTime: uint32(at >> 32)}
	return number, time.Unix(0, filetime.Nanoseconds()), nil
}
