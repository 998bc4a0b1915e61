// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/garner-go/garner"
)

// A File is a file that is being written. Its bytes stand under a temporary name,
// .garner-*.tmp in the same folder, until Commit renames it. Every File ends with
// Commit or Abort; only a killed process leaves the temporary file behind.
type File struct {
	place Place
	file  *os.File
	buf   *bufio.Writer
	err   error // the first failure; nothing is written after it
	done  bool
}

// Create begins to write a file, with the permissions that os.Create would give
// it: those of the file that it replaces, or 0666 less the umask.
//
//   - A symbolic link stays: the file that it points to is replaced, in that
//     file's folder. It may point to a file that does not exist yet.
//   - A pipe, a terminal, a device, and a name of an open file (/dev/stdout,
//     /dev/fd/N) are written directly; a name of an open regular file is appended
//     to. There, nothing is atomic.
//   - Create refuses a folder, a file without write permission, a path in a folder
//     that does not exist, a path to the same file as one of inputs, also
//     through links, and a path in a folder that is one of inputs. It refuses them
//     before it creates anything.
//
// Inputs that do not exist are ignored.
func Create(path string, inputs ...string) (*File, error) {
	place, err := Find(path, inputs...)
	if err != nil {
		return nil, err
	}
	if place.Target == "" {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return nil, place.Failed(err)
		}
		return &File{place: place, file: file, buf: bufio.NewWriterSize(file, bufferSize)}, nil
	}
	file, err := createTemporary(filepath.Dir(place.Target))
	if err != nil {
		return nil, place.Failed(err)
	}
	f := &File{place: place, file: file, buf: bufio.NewWriterSize(file, bufferSize)}
	if err := place.Permit(file); err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

// A Place is where a file will be written.
type Place struct {
	Path   string // as the caller gave it, for messages
	Target string // the name to rename to, links resolved; "" where Path is written directly

	exists bool
	mode   fs.FileMode // permissions of the existing file
	inputs []string
}

// Find resolves path, and refuses what Create refuses, except for a folder that
// does not exist: creating a file in it reports that. Find creates nothing.
func Find(path string, inputs ...string) (Place, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return Place{}, garner.Errorf(nil, "cannot write %s: it is a folder; name a file in it", path)
	case err == nil && info.Mode().IsRegular():
		if input, ok := InputOf(info, inputs); ok {
			return Place{}, garner.Errorf(nil, "cannot write %s: it is the input %s, which is still being read; write to another file", path, input)
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Place{}, failed(path, err)
	}
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return Place{}, garner.Errorf(nil, "cannot write %q: it names no file; add the file's name", path)
	}
	target, direct, err := follow(path)
	if err != nil {
		return Place{}, failed(path, err)
	}
	if direct || info != nil && !info.Mode().IsRegular() {
		return Place{Path: path}, nil
	}
	if folder, ok := around(target, inputs); ok {
		return Place{}, garner.Errorf(nil, "cannot write %s: it lies in the input %s, which is still being read; write to another folder", path, folder)
	}
	p := Place{Path: path, Target: target, exists: info != nil, inputs: inputs}
	if p.exists {
		p.mode = info.Mode().Perm()
		// A rename needs no permission of the file that it replaces; os.Create does.
		file, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return Place{}, failed(path, err)
		}
		file.Close()
	}
	return p, nil
}

// InputOf returns which of the paths name the file that info describes, also through
// links. Paths that do not exist are ignored.
func InputOf(info fs.FileInfo, paths []string) (path string, ok bool) {
	for _, path := range paths {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, info) {
			return path, true
		}
	}
	return "", false
}

// Input returns which of the inputs given to Find is the file at path; false where
// none is, or there is no such file.
func (p Place) Input(path string) (input string, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	return InputOf(info, p.inputs)
}

// around returns which of the inputs is a folder that holds path, at any depth.
func around(path string, inputs []string) (folder string, ok bool) {
	for _, input := range inputs {
		in, err := os.Stat(input)
		if err != nil || !in.IsDir() {
			continue
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return "", false // creating the file reports it
		}
		for {
			if info, err := os.Stat(dir); err == nil && os.SameFile(info, in) {
				return input, true
			}
			above := filepath.Dir(dir)
			if above == dir {
				break
			}
			dir = above
		}
	}
	return "", false
}

// Permit gives a new file the permissions of the existing Target.
func (p Place) Permit(file *os.File) error {
	if !p.exists {
		return nil
	}
	return failed(p.Path, file.Chmod(p.mode))
}

// Put flushes a file in the Target's folder to the disk, closes it and renames it
// to Target. While placed is false, the old Target is untouched and the new file
// keeps its own name.
func (p Place) Put(file *os.File) (placed bool, err error) {
	if err := file.Sync(); err != nil {
		return false, failed(p.Path, err)
	}
	if err := file.Close(); err != nil {
		return false, failed(p.Path, err)
	}
	if err := os.Rename(file.Name(), p.Target); err != nil {
		return false, failed(p.Path, err)
	}
	if err := SyncDir(filepath.Dir(p.Target)); err != nil {
		return true, garner.Errorf(err, "%s is written, but its folder could not be seen to the disk: %v; write it again if the machine stops now", p.Path, err)
	}
	return true, nil
}

// Failed turns an error of the operating system into one that says that the file
// cannot be written, why, and what to do; nil for nil.
func (p Place) Failed(err error) error {
	if p.Target != "" && errors.Is(err, fs.ErrNotExist) {
		folder := filepath.Dir(p.Target)
		if _, missing := os.Stat(folder); errors.Is(missing, fs.ErrNotExist) {
			return garner.Errorf(err, "cannot write %s: there is no folder %s; make it first", p.Path, folder)
		}
	}
	return failed(p.Path, err)
}

// bufferSize is in bytes. The buffer collects headers and small tensors; larger
// writes bypass it.
const bufferSize = 64 << 10

// follow resolves the links in a path's last element. target need not exist.
// direct reports that path is a name of an open file instead.
func follow(path string) (target string, direct bool, err error) {
	for range 255 {
		if openFile(path) {
			return path, true, nil
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, false, nil
		}
		if err != nil {
			return "", false, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, false, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(link) {
			// No Clean: ".." in a link applies after the links before it.
			link = filepath.Dir(path) + string(filepath.Separator) + link
		}
		path = link
	}
	return "", false, syscall.ELOOP
}

// openFile reports whether path is a name that the system gives to an open file,
// such as /dev/fd/1.
func openFile(path string) bool {
	dir := filepath.ToSlash(filepath.Dir(path))
	return dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/")
}

func createTemporary(dir string) (*os.File, error) {
	for try := 0; ; try++ {
		// os.CreateTemp would give the file to its owner alone.
		name := filepath.Join(dir, fmt.Sprintf(".garner-%08x.tmp", rand.Uint32()))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return file, err
		}
	}
}

// failed says that path cannot be written, the operating system's reason, and
// what to do; nil for nil.
func failed(path string, err error) error {
	if err == nil {
		return nil
	}
	reason := err
	for {
		// The innermost error is the reason alone; the outer ones name the temporary
		// file.
		inner := errors.Unwrap(reason)
		if inner == nil {
			break
		}
		reason = inner
	}
	remedy := "write to another place"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		remedy = "make room on the disk, or write to another one"
	case errors.Is(err, fs.ErrPermission):
		remedy = "ask for the permission, or write to another place"
	case errors.Is(err, syscall.EPIPE):
		remedy = "let the reader at the other end read it all"
	}
	return garner.Errorf(err, "cannot write %s: %v; %s", path, reason, remedy)
}

// Write appends to the file. After an error every further Write and Commit
// return that error.
func (f *File) Write(b []byte) (int, error) {
	if f.done {
		return 0, garner.Errorf(fs.ErrClosed, "cannot write %s: it is closed", f.place.Path)
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.buf.Write(b)
	if err != nil {
		f.err = failed(f.place.Path, err)
	}
	return n, f.err
}

// Hole appends n bytes that are 0. In a file under a temporary name they take no room on
// the disk, where the file system has holes.
func (f *File) Hole(n int64) error {
	if f.done || f.err != nil || f.place.Target == "" {
		for zeros := make([]byte, min(n, bufferSize)); n > 0; n -= int64(len(zeros)) {
			zeros = zeros[:min(n, int64(len(zeros)))]
			if _, err := f.Write(zeros); err != nil {
				return err
			}
		}
		return nil
	}
	err := f.buf.Flush()
	var at int64
	if err == nil {
		at, err = f.file.Seek(n, io.SeekCurrent)
	}
	if err == nil {
		err = f.file.Truncate(at) // the hole may be the end
	}
	if err != nil {
		f.err = failed(f.place.Path, err)
	}
	return f.err
}

// Written writes the buffer and gives the temporary name, under which the file can be read
// before Commit; "" for what is written directly.
func (f *File) Written() (path string, err error) {
	if _, err := f.Write(nil); err != nil {
		return "", err
	}
	if err := f.buf.Flush(); err != nil {
		f.err = failed(f.place.Path, err)
		return "", f.err
	}
	if f.place.Target == "" {
		return "", nil
	}
	return f.file.Name(), nil
}

// Commit writes the buffer, flushes the file to the disk and renames it. On an
// error the old file is untouched, and the temporary file is removed.
func (f *File) Commit() error {
	if f.done {
		return garner.Errorf(fs.ErrClosed, "cannot write %s: it is closed", f.place.Path)
	}
	if err := f.commit(); err != nil {
		f.Abort()
		return err
	}
	return nil
}

func (f *File) commit() error {
	if f.err != nil {
		return f.err
	}
	if err := f.buf.Flush(); err != nil {
		return failed(f.place.Path, err)
	}
	if f.place.Target == "" {
		f.done = true
		return failed(f.place.Path, f.file.Close())
	}
	var err error
	f.done, err = f.place.Put(f.file)
	return err
}

// Abort removes the temporary file. After Commit it does nothing, so that it can
// be deferred.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.file.Close()
	if f.place.Target != "" {
		os.Remove(f.file.Name())
	}
}

// SyncDir flushes a folder's entries to the disk, where the system can.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot flush a folder
	}
	d, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil // a folder may be writable and not readable
		}
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
