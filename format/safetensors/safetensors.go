// Package safetensors reads and writes files of named tensors in the
// safetensors format (https://github.com/huggingface/safetensors#format).
//
// Open maps a file: it reads the header alone, and a tensor is a view that
// copies nothing. OpenArray maps nothing, for files of any size, and finds the
// tensors of models that are cut into several files by the index of those
// (model.safetensors.index.json). Every check that the format asks for is made
// when a file is opened, so that a spoilt file is refused before it is used.
package safetensors

import (
	"maps"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// A File is an opened file. It may be used by several goroutines at a time.
type File struct {
	path     string
	mapped   *mapped.File
	data     []byte // behind the header
	entries  []entry
	tensors  map[string]*entry
	metadata map[string]string
}

// Open opens a file. Its header may be 100 MB long, the format's limit, and
// takes time in proportion to its length. What breaks the format is an
// ErrFormat that says where.
func Open(path string) (*File, error) {
	m, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, mapped: m}
	if err := mapped.Guard(f.readHeader); err != nil {
		m.Close()
		return nil, names.Error(path, err)
	}
	return f, nil
}

func (f *File) readHeader() error {
	b := f.mapped.Bytes()
	n, err := headerLen(b[:min(len(b), 8)], int64(len(b)))
	if err != nil {
		return err
	}
	f.data = b[8+n:]
	if f.entries, f.metadata, err = parseHeader(b[8:8+n], uint64(len(f.data))); err != nil {
		return err
	}
	f.tensors = make(map[string]*entry, len(f.entries))
	for i := range f.entries {
		f.tensors[f.entries[i].name] = &f.entries[i]
	}
	return nil
}

// Names are the tensors' names, in the order of their bytes in the file.
func (f *File) Names() []string {
	names := make([]string, len(f.entries))
	for i, e := range f.entries {
		names[i] = e.name
	}
	return names
}

// Metadata is the file's own strings; nil where it has none.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

// Tensor is a view of one tensor, Volatile, which may not be looked at after
// Close. Its bytes need not stand where Go would align them; Clone mends that.
// A name that the file does not have is an fs.ErrNotExist that names those like
// it; a dtype that garner does not have is a garner.ErrDType.
func (f *File) Tensor(name string) (garner.Tensor, error) {
	e, ok := f.tensors[name]
	if !ok {
		return garner.Tensor{}, names.Error(f.path, noTensor(name, f.Names()))
	}
	i, ok := byName[e.dtype]
	if !ok || dtypes[i].dtype == garner.Invalid {
		return garner.Tensor{}, names.Error(f.path, unread(name, e.dtype))
	}
	t, err := garner.FromBytes(dtypes[i].dtype, f.data[e.begin:e.end:e.end], e.shape...)
	if err != nil {
		return garner.Tensor{}, names.Error(f.path+": tensor "+quote(name), err)
	}
	return t.Volatile(), nil
}

// Close gives the mapped memory back. Tensor may not be called afterwards.
func (f *File) Close() error { return f.mapped.Close() }
