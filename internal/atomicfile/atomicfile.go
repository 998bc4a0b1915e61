// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/garner-go/garner"
)

// A File is being written. What was written stands under a temporary name,
// .garner-*.tmp in the same folder, until Commit gives it its own. Every File
// ends with Commit or Abort; only a process that is killed leaves the temporary
// behind.
type File struct {
	place Place
	file  *os.File
	buf   *bufio.Writer
	err   error // the first failure; nothing is written after it
	done  bool
}

// Create begins to write a file. It has the permissions that os.Create would
// give it: those of the file that it replaces, or 0666 less the umask.
//
//   - Where path is a symbolic link, the file that it points to is replaced, in
//     that file's folder; the link stays. It may point to a file that is not
//     there yet.
//   - What is neither a file nor a folder (a pipe, a terminal, /dev/null), and a
//     name of an open file (/dev/stdout, /dev/fd/N), is written straight to, and
//     appended to where it stands for a file: there, nothing is atomic.
//   - A folder, a file that may not be written, a path in a folder that is not
//     there, and a path that is the same file as one of inputs, also by way of
//     links, are refused, before anything is created.
//
// Of inputs, those that are not there are ignored.
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

// A Place is where a file that is asked for is to be written.
type Place struct {
	Path   string // as asked for, for messages
	Target string // the name that the file is to have; "" where Path is written straight to

	exists bool
	mode   fs.FileMode // of the file that is there
}

// Find finds where path leads, and refuses what Create refuses, but for a folder
// that is not there, which is found when something is created in it. Nothing is
// created.
func Find(path string, inputs ...string) (Place, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return Place{}, garner.Errorf(nil, "cannot write %s: it is a folder; name a file in it", path)
	case err == nil && info.Mode().IsRegular():
		for _, input := range inputs {
			if in, err := os.Stat(input); err == nil && os.SameFile(in, info) {
				return Place{}, garner.Errorf(nil, "cannot write %s: it is the input %s, which is still being read; write to another file", path, input)
			}
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
	p := Place{Path: path, Target: target, exists: info != nil}
	if p.exists {
		p.mode = info.Mode().Perm()
		// A rename does not ask whether the file may be written; os.Create does.
		file, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return Place{}, failed(path, err)
		}
		file.Close()
	}
	return p, nil
}

// Permit gives a new file, which is to have the Target's name, the permissions
// of the one that is there.
func (p Place) Permit(file *os.File) error {
	if !p.exists {
		return nil
	}
	return failed(p.Path, file.Chmod(p.mode))
}

// Put sees a new file of the Target's folder to the disk, closes it and gives it
// the Target's name. Unless placed, what stood there before still stands there,
// and the new file under its own name.
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

// Failed says that the file cannot be written, for a reason that the system
// gave, and what can be done about it; nil for nil.
func (p Place) Failed(err error) error {
	if p.Target != "" && errors.Is(err, fs.ErrNotExist) {
		folder := filepath.Dir(p.Target)
		if _, missing := os.Stat(folder); errors.Is(missing, fs.ErrNotExist) {
			return garner.Errorf(err, "cannot write %s: there is no folder %s; make it first", p.Path, folder)
		}
	}
	return failed(p.Path, err)
}

// bufferSize gathers headers and small tensors; larger writes go past it.
const bufferSize = 64 << 10

// follow finds the file that a path's last name stands for, through links, be
// it there or not. direct says that it is a name of an open file instead.
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
			// Not Clean: ".." in a link is taken after links before it.
			link = filepath.Dir(path) + string(filepath.Separator) + link
		}
		path = link
	}
	return "", false, syscall.ELOOP
}

// openFile reports whether path is a name that the system gives to an open
// file of a process.
func openFile(path string) bool {
	dir := filepath.ToSlash(filepath.Dir(path))
	return dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/")
}

func createTemporary(dir string) (*os.File, error) {
	for try := 0; ; try++ {
		// Not os.CreateTemp, which takes all permissions but the owner's away.
		name := filepath.Join(dir, fmt.Sprintf(".garner-%08x.tmp", rand.Uint32()))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return file, err
		}
	}
}

// failed says of an operating system's error, where there is one, what could
// not be done and what can be done about it.
func failed(path string, err error) error {
	if err == nil {
		return nil
	}
	reason := err
	for {
		// The operating system's words alone: it speaks of the temporary name.
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

// Write adds to the file. After an error every further Write and the Commit
// answer with that error.
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

// Commit writes what is still held back, sees it to the disk and gives the
// file its name. Whatever fails is an error, and then the file that stood
// there before still stands there, and the temporary is gone.
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

// Abort throws away what was written. After Commit it does nothing, so that it
// can be deferred.
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

// SyncDir sees a folder's names to the disk, where the system has that.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a folder cannot be flushed there
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
