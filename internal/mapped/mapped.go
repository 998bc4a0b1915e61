// Package mapped maps files into memory for reading.
package mapped

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/units"
)

// A File is a regular file mapped into memory with the size that it had when it was
// opened. The system reads a page at its first access, so a file may exceed memory.
//
// If another process truncates the file, an access to a page behind the new end
// faults, and the rest of the page with the new end reads as zeros. So access the
// bytes by Read, and make tensors over them by View, which a File keeps as a
// garner.Keeper.
type File struct {
	path  string
	stamp Stamp
	size  int
	data  []byte
	unmap func([]byte) error
	told  bool     // mincore reports the truth for this file
	file  *os.File // whose size Check asks for
	users Users
}

// Open maps a file. It refuses anything but a regular file (a folder, a pipe, a
// device), and a file whose size does not fit an int. On systems that are neither
// Unix nor Windows it reads the file instead.
func Open(path string) (*File, error) {
	file, _, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Map(path, file)
	if err != nil {
		file.Close()
	}
	return f, err
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

// Map maps an open regular file, which Close closes; after an error the caller closes
// it. path is for messages.
func Map(path string, file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, failed(path, err)
	}
	stamp, err := StampOf(file)
	if err != nil {
		return nil, failed(path, err)
	}
	size := stamp.Size
	if size > math.MaxInt {
		return nil, garner.Errorf(nil, "%s has %d bytes, more than this 32-bit build of garner can map; use a 64-bit one", path, size)
	}
	f := &File{path: path, size: int(size), stamp: stamp, told: told(path, info), file: file}
	if size == 0 {
		return f, nil // no system maps 0 bytes
	}
	if f.data, f.unmap, err = mapFile(file, int(size)); err != nil {
		return nil, unmapped(path, size, err)
	}
	return f, nil
}

// unmapped is the error of a file that the system does not map.
func unmapped(path string, size int64, err error) error {
	if !errors.Is(err, syscall.ENOMEM) {
		return garner.Errorf(err, "%s cannot be mapped: %v; copy it to a file on another disk", path, err)
	}
	most, ok := limits.AddressSpace()
	if !ok {
		return garner.Errorf(err, "%s cannot be mapped: it has %s, and the system has no room for them in this process (%v); close other files, or raise what limits the process", path, units.Bytes(size), err)
	}
	return garner.Errorf(err, "%s cannot be mapped: it has %s, and RLIMIT_AS allows this process %s of address space in all; raise that limit, as with ulimit -v", path, units.Bytes(size), units.Bytes(most))
}

// URL gives the scheme of a URL, which has two characters or more: C://a is a path of
// Windows. ok is false for a text that is no URL.
func URL(text string) (scheme string, ok bool) {
	scheme, _, ok = strings.Cut(text, "://")
	ok = ok && len(scheme) > 1 && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
	return scheme, ok
}

func failed(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, ok := URL(path); ok {
			return garner.Errorf(garner.ErrAttribute, "%s is a URL; name a file by its path", path)
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
		return garner.Errorf(nil, "%s is a pipe, which cannot be mapped; copy it to a file", path)
	default:
		return garner.Errorf(nil, "%s is no regular file (%s) and cannot be mapped; copy it to a file", path, mode)
	}
}

// Bytes returns the contents, nil after Close. The caller must not write to them, and
// use them only between Hold and Release, or before Close.
func (f *File) Bytes() []byte { return f.data }

// Path returns the name with which the file was mapped.
func (f *File) Path() string { return f.path }

// Stamp returns the state of the file when it was mapped.
func (f *File) Stamp() Stamp { return f.stamp }

// Written reports whether the file has been written to, or cut short, since it was mapped.
// It is an fs.ErrClosed after Close.
func (f *File) Written() (bool, error) {
	if err := f.Hold(); err != nil {
		return false, err
	}
	defer f.Release()
	now, err := StampOf(f.file)
	return now.Size != f.stamp.Size || !now.Modified.Equal(f.stamp.Modified), err
}

// Size returns the number of bytes, also after Close.
func (f *File) Size() int { return f.size }

// Close unmaps the file, or lets the last call that holds it do so; it waits for no
// call. Calls that begin later are an fs.ErrClosed. A second Close does nothing.
func (f *File) Close() error { return f.users.Close(f.free) }

func (f *File) free() (err error) {
	data, unmap := f.data, f.unmap
	f.data, f.unmap = nil, nil
	if unmap != nil {
		if err = unmap(data); err != nil {
			err = garner.Errorf(err, "%s cannot be unmapped: %v", f.path, err)
		}
	}
	if f.file != nil {
		if closing := f.file.Close(); err == nil && closing != nil && !errors.Is(closing, fs.ErrClosed) {
			err = garner.Errorf(closing, "%s cannot be closed: %v", f.path, closing)
		}
	}
	return err
}

// Hold keeps the file mapped until Release. It is an fs.ErrClosed after Close.
func (f *File) Hold() error {
	if f.users.Enter(0) {
		return nil
	}
	f.Release()
	return Closed(f.path)
}

// Release ends a Hold.
func (f *File) Release() {
	if f.users.Leave(0) {
		_ = f.users.FreeIdle(f.free) // nothing is lost where the system cannot unmap
	}
}

// Closed is the error of a file that was closed.
func Closed(path string) error {
	return garner.Errorf(fs.ErrClosed, "%s was closed; open it again, and close it when nothing reads it any more", path)
}

// Check is an ErrFault where the file ends before the last of some of its bytes, which
// were read since Hold: they may have read as zeros. Where they end before the file's
// last page, it reads a byte of that page, which faults once the file is shorter;
// else it makes one system call. It allocates nothing. Other memory, which a strided view
// that the File keeps may be of, is no part of the file.
func (f *File) Check(read []byte) error {
	if len(read) == 0 {
		return nil
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(read))) - uintptr(unsafe.Pointer(unsafe.SliceData(f.data)))
	if start >= uintptr(len(f.data)) {
		return nil
	}
	return f.CheckTo(int(start) + len(read))
}

// CheckTo is Check for bytes that end at an offset of the file.
func (f *File) CheckTo(end int) error {
	if copied || len(f.data) == 0 {
		return nil
	}
	if last := (len(f.data) - 1) / pageSize * pageSize; end <= last && there(f.data[last:]) {
		return nil
	}
	now, err := StampOf(f.file)
	if err != nil {
		return failed(f.path, err)
	}
	if now.Size < int64(end) {
		cut := CutShort(garner.ErrFault, int64(len(f.data)), now.Size)
		return garner.Errorf(garner.ErrFault, "%s cannot be read: %s", f.path, strings.TrimPrefix(cut.Error(), "garner: "))
	}
	return nil
}

// there reports whether the page of the first byte can be read.
func there(b []byte) bool { return !exec.Guard(func() { load(b) }) }

//go:noinline
func load(b []byte) byte { return b[0] }

// Read calls look with size bytes of the file from an offset on, which lie inside it,
// and turns a fault into an ErrFault. Where the file was cut short meanwhile, look may
// have seen zeros: Read then returns the ErrFault of Check in place of look's error.
// After Close it is an fs.ErrClosed, and does not call look.
func (f *File) Read(offset, size int, look func(b []byte) error) error {
	if err := f.Hold(); err != nil {
		return err
	}
	defer f.Release()
	b := f.data[offset : offset+size : offset+size]
	err := Guard(func() error { return look(b) })
	if cut := f.Check(b); cut != nil {
		return cut
	}
	return err
}

// View returns t, a view of the File's memory or of other memory: in the first case
// the File keeps it, see garner.Tensor.KeptBy.
func (f *File) View(t garner.Tensor) garner.Tensor {
	if b, err := t.Bytes(); t.DType() == garner.String || err == nil && !Overlap(b, f.data) {
		return t
	}
	return t.KeptBy(f)
}

var pageSize = os.Getpagesize()

// Guard calls f and turns a fault in mapped memory into an ErrFault. It covers only
// the calling goroutine. Any other panic, such as a nil dereference, continues.
func Guard(f func() error) (err error) {
	if exec.Guard(func() { err = f() }) {
		return garner.Vanished()
	}
	return err
}

// Overlap reports whether two slices share memory.
func Overlap(a, b []byte) bool {
	from, at := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 && from < at+uintptr(len(b)) && at < from+uintptr(len(a))
}
