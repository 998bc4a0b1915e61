// Package mapped maps files into memory for reading.
package mapped

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/garner-go/garner"
)

// A File is the contents of a regular file as they stood when it was opened.
// Nothing is read until it is looked at, so that a file may be larger than
// memory.
//
// The memory belongs to the file. Where another process cuts the file short,
// what lay beyond the new end faults: look at the bytes under Guard, and mark
// tensors made of them with garner.Tensor.Volatile.
type File struct {
	path  string
	data  []byte
	unmap func([]byte) error
	told  bool // the kernel says which pages are in memory
}

// Open maps a file. It refuses whatever is no regular file (a folder, a pipe, a
// device), and a file with more bytes than an int counts. On systems that are
// neither Unix nor Windows the file is read instead of mapped.
func Open(path string) (*File, error) {
	file, _, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Map(path, file)
}

// OpenFile opens a regular file for reading and refuses whatever is none, as
// Open does. The FileInfo is that of the file that was opened.
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	// Asked before the file is opened: opening a pipe waits for its writer.
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
	// Asked again: the name may stand for another file by now.
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

// Map maps a regular file that is open, and may be closed as soon as it is
// mapped; path is for messages.
func Map(path string, file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, failed(path, err)
	}
	size := info.Size()
	if size > math.MaxInt {
		return nil, garner.Errorf(nil, "%s has %d bytes, more than this 32-bit build of garner can map; use a 64-bit one", path, size)
	}
	f := &File{path: path, told: told(path, info)}
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

// Bytes are the contents. They may only be read, and only before Close.
func (f *File) Bytes() []byte { return f.data }

// Size is the number of bytes.
func (f *File) Size() int { return len(f.data) }

// Close gives the memory back. Nothing that views it, such as a tensor, may be
// looked at afterwards. Closing twice does nothing.
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

// Guard calls f, and turns a fault of mapped memory that f looks at into an
// ErrFault. It covers only the goroutine that calls it; any other panic, a nil
// pointer's included, goes on.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		// The runtime gives an address to faults beyond the first page alone.
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
