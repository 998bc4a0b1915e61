// Package mapped maps files into memory for reading.
package mapped

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"

	"github.com/garner-go/garner"
)

// A File is a regular file mapped into memory with the size that it had when it was
// opened. The system reads a page at its first access, so a file may exceed memory.
//
// If another process truncates the file, an access beyond the new end faults. So
// access the bytes under Guard, and mark tensors over them with
// garner.Tensor.Volatile.
type File struct {
	path  string
	info  fs.FileInfo
	data  []byte
	unmap func([]byte) error
	told  bool // mincore reports the truth for this file
}

// Open maps a file. It refuses anything but a regular file (a folder, a pipe, a
// device), and a file whose size does not fit an int. On systems that are neither
// Unix nor Windows it reads the file instead.
func Open(path string) (*File, error) {
	file, _, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Map(path, file)
}

// OpenFile opens a regular file for reading and refuses anything else, as Open does.
// The FileInfo is that of the opened file.
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	// Check before opening: opening a pipe waits for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, failed(path, err)
	}
	if err := regular(path, info); err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, failed(path, err)
	}
	// Check again: the name may mean another file by now.
	if info, err = file.Stat(); err != nil {
		file.Close()
		return nil, nil, failed(path, err)
	}
	if err := regular(path, info); err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// Map maps an open regular file. The caller may close the file afterwards. path is
// for messages.
func Map(path string, file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, failed(path, err)
	}
	size := info.Size()
	if size > math.MaxInt {
		return nil, garner.Errorf(nil, "%s has %d bytes, more than this 32-bit build of garner can map; use a 64-bit one", path, size)
	}
	f := &File{path: path, info: info, told: told(path, info)}
	if size == 0 {
		return f, nil // no system maps 0 bytes
	}
	if f.data, f.unmap, err = mapFile(file, int(size)); err != nil {
		return nil, garner.Errorf(err, "%s cannot be mapped: %v; copy it to a file on another disk", path, err)
	}
	return f, nil
}

func failed(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if scheme, _, ok := strings.Cut(path, "://"); ok {
			return garner.Errorf(err, "there is no file %s, and no scheme %s:// is registered; download what it names", path, scheme)
		}
		return garner.Errorf(err, "there is no file %s; check the name and the folder", path)
	case errors.Is(err, syscall.EMFILE):
		return garner.Errorf(err, "%s cannot be opened: this process has as many files open as it may; raise that, as with ulimit -n", path)
	case errors.Is(err, fs.ErrPermission):
		return garner.Errorf(err, "%s may not be read (%v); ask for the permission", path, err)
	}
	return garner.Errorf(err, "%s cannot be read: %v; check the name, or copy it to another place", path, err)
}

func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return garner.Errorf(nil, "%s is a folder; name a file", path)
	case mode&fs.ModeNamedPipe != 0:
		return garner.Errorf(nil, `%s is a pipe, which cannot be mapped; redirect it to standard input and name "-"`, path)
	default:
		return garner.Errorf(nil, "%s is no regular file (%s) and cannot be mapped; copy it to a file", path, mode)
	}
}

// Bytes returns the contents. The caller must not write to them, or use them after
// Close.
func (f *File) Bytes() []byte { return f.data }

// Size returns the number of bytes.
func (f *File) Size() int { return len(f.data) }

// Info returns the state of the file when it was mapped.
func (f *File) Info() fs.FileInfo { return f.info }

// Close unmaps the file. Views of it, such as tensors, must not be used afterwards. A
// second Close does nothing.
func (f *File) Close() error {
	data, unmap := f.data, f.unmap
	f.data, f.unmap = nil, nil
	if unmap == nil {
		return nil
	}
	if err := unmap(data); err != nil {
		return garner.Errorf(err, "%s cannot be unmapped: %v", f.path, err)
	}
	return nil
}

// Guard calls f and turns a fault in mapped memory into an ErrFault. It covers only
// the calling goroutine. Any other panic, such as a nil dereference, continues.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		// Only faults beyond the first page, unlike nil dereferences, have an address.
		if fault, ok := p.(interface {
			error
			Addr() uintptr
		}); ok {
			err = garner.Errorf(garner.ErrFault, "a file was cut short, or its disk failed, while it was read (fault at address %#x); "+
				"run again when nothing else writes to the file, or on a copy of it", fault.Addr())
			return
		}
		panic(p)
	}()
	return f()
}

// Vanished is an ErrFault for memory that was found to be gone elsewhere.
func Vanished() error {
	return garner.Errorf(garner.ErrFault, "a file was cut short, or its disk failed, while it was read; run again when nothing else writes to the file, or on a copy of it")
}

// Overlap reports whether two slices share memory.
func Overlap(a, b []byte) bool {
	from, at := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 && from < at+uintptr(len(b)) && at < from+uintptr(len(a))
}
