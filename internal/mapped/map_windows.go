package mapped

import (
	"os"
	"syscall"
	"unsafe"
)

// copied says whether a File is a copy of its file.
const copied = false

// mapFile maps a file. Windows does not let a program truncate a mapped file.
func mapFile(file *os.File, size int) ([]byte, func([]byte) error, error) {
	mapping, err := syscall.CreateFileMapping(syscall.Handle(file.Fd()), nil, syscall.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, os.NewSyscallError("CreateFileMapping", err)
	}
	// The view keeps the mapping alive.
	defer syscall.CloseHandle(mapping)
	address, err := syscall.MapViewOfFile(mapping, syscall.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// The conversion goes through a pointer to address, because vet rejects a direct
	// one. It is safe: memory outside Go's heap does not move.
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size)
	return data, func([]byte) error {
		return os.NewSyscallError("UnmapViewOfFile", syscall.UnmapViewOfFile(address))
	}, nil
}
