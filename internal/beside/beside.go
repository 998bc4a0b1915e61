// Package beside opens the files that hold elements of a model's tensors, beside the
// model: those in its folder, and no others.
package beside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// A Folder is the model's folder, with those of its files that hold elements.
// Find checks a file when the model is opened; the file is mapped on the first read.
type Folder struct {
	path  string
	root  *os.Root // opened for the first file
	files map[string]*File
}

// In is the folder of a path. It opens nothing.
func In(path string) *Folder { return &Folder{path: path} }

// A File is a file of elements beside the model.
type File struct {
	Path  string           // for messages
	State source.FileState // when Find looked at it

	name string // in the folder
	root *os.Root

	lock   sync.Mutex
	file   *mapped.File
	err    error
	closed bool
}

// Find finds a file in the model's folder. It refuses a path that leads out of the
// folder, also through a symbolic link.
func (f *Folder) Find(location string) (*File, error) {
	if b, ok := f.files[location]; ok {
		return b, b.err
	}
	name := filepath.FromSlash(location)
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("its elements are said to be in %.200q, which is not in the model's folder; put the file beside the model and name it without a folder", location)
	}
	if f.root == nil {
		root, err := os.OpenRoot(f.path)
		if err != nil {
			return nil, err
		}
		f.root = root
	}
	b := &File{Path: filepath.Join(f.path, name), name: name, root: f.root}
	// Stat comes before Open, because opening a pipe waits for its writer.
	info, err := f.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.err = garner.Errorf(fs.ErrNotExist, "its elements are in %s, and there is no such file; put it beside the model", b.Path)
	case err != nil:
		// os.Root refuses a link out of the folder with an error of no class.
		b.err = fmt.Errorf("its elements are in %s, which cannot be looked at: %v; a file in the model's folder is wanted, not a link to another", b.Path, err)
	case !info.Mode().IsRegular():
		b.err = fmt.Errorf("its elements are in %s, which is no regular file (%s); name a file", b.Path, info.Mode())
	default:
		b.State, b.err = b.look()
	}
	if f.files == nil {
		f.files = make(map[string]*File)
	}
	f.files[location] = b
	return b, b.err
}

// Names gives the paths of files in the folder, each once, and leaves out what cannot
// be there.
func (f *Folder) Names(locations []string) []string {
	slices.Sort(locations)
	var all []string
	for _, location := range slices.Compact(locations) {
		if name := filepath.FromSlash(location); filepath.IsLocal(name) {
			all = append(all, filepath.Join(f.path, name))
		}
	}
	return all
}

// look returns the state of the file.
func (b *File) look() (source.FileState, error) {
	file, err := b.root.Open(b.name)
	if err != nil {
		return source.FileState{}, err
	}
	defer file.Close()
	stamp, err := mapped.StampOf(file)
	return source.FileState(stamp), err
}

// mapping gives the mapped file, the one that look saw, which nobody has written to: a
// constant may be read long after another of the same file.
func (b *File) mapping() (*mapped.File, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if b.file == nil {
		file, err := b.root.Open(b.name)
		if err != nil {
			return nil, err
		}
		view, err := mapped.Map(b.Path, file)
		if err != nil {
			file.Close()
			return nil, err
		}
		if err := model.Unchanged(b.Path, b.State, source.FileState(view.Stamp())); err != nil {
			view.Close()
			return nil, err
		}
		b.file = view
		return view, nil
	}
	if err := Written(b.file); err != nil {
		return nil, err
	}
	return b.file, nil
}

// Close unmaps the files, behind calls in progress that read them.
func (f *Folder) Close() error {
	var all []error
	for _, b := range f.files {
		b.lock.Lock()
		b.closed = true
		if b.file != nil {
			all = append(all, b.file.Close())
			b.file = nil
		}
		b.lock.Unlock()
	}
	if f.root != nil {
		all = append(all, f.root.Close())
		f.root = nil
	}
	return errors.Join(all...)
}

// Tensor makes a tensor from size bytes of the file, from an offset on, or over them:
// then the mapped file keeps it. Errors are those of opening the file, a
// source.ErrChanged where it is no longer the one that Find looked at, and ErrClosed.
func (b *File) Tensor(offset, size int, read func(b []byte) (garner.Tensor, error)) (garner.Tensor, error) {
	file, err := b.mapping()
	if err != nil {
		return garner.Tensor{}, err
	}
	return Tensor(file, offset, size, read)
}

// ErrClosed is the error of a constant that is read behind the close of its model.
var ErrClosed = garner.Errorf(fs.ErrClosed, "its file was closed; read constants before the model is closed")

// Tensor makes a tensor from size bytes of a mapped file, from an offset on, or
// over them: then the file keeps it. A file that was written to since it was mapped is a source.ErrChanged.
func Tensor(file *mapped.File, offset, size int, read func(b []byte) (garner.Tensor, error)) (made garner.Tensor, err error) {
	err = file.Read(offset, size, func(b []byte) error {
		if made, err = read(b); err == nil {
			made = file.View(made)
		}
		return err
	})
	if err == nil {
		err = Written(file)
	}
	if errors.Is(err, fs.ErrClosed) {
		err = ErrClosed
	}
	return made, err
}

// Written is a source.ErrChanged of a mapped file that was written to since, so that what was read of it may be of two
// states.
func Written(file *mapped.File) error {
	written, err := file.Written()
	if err == nil && written {
		err = model.Changed(file.Path())
	}
	return err
}
