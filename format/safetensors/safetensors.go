// Package safetensors reads and writes files of named tensors in the
// safetensors format (https://github.com/huggingface/safetensors#format).
//
// Open maps a file and reads only its header; a tensor is a view without a copy.
// OpenArray maps nothing, so files may have any size, and it finds the tensors of a
// sharded model by its index (model.safetensors.index.json). Opening a file makes
// every check that the format requires, so a corrupt file is refused before use.
package safetensors

import (
	"maps"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// A File is an opened file. It is safe for concurrent use, Close included.
type File struct {
	path     string
	mapped   *mapped.File
	data     []byte // after the header
	entries  []entry
	tensors  map[string]*entry
	metadata map[string]string
}

// Open opens a file, in time proportional to the length of its header. The format
// limits the header to 100 MB. A violation of the format is an ErrFormat that says
// where.
func Open(path string) (*File, error) {
	m, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, mapped: m}
	if err := m.Read(0, m.Size(), f.readHeader); err != nil {
		m.Close()
		return nil, names.Error(path, err)
	}
	return f, nil
}

func (f *File) readHeader(b []byte) error {
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

// Names returns the names of the tensors, in the order of their bytes in the file.
func (f *File) Names() []string {
	names := make([]string, len(f.entries))
	for i, e := range f.entries {
		names[i] = e.name
	}
	return names
}

// Metadata returns the strings of the file's metadata, nil if it has none.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

// Tensor returns a view of one tensor, which the File keeps: see
// garner.Tensor.KeptBy. After Close it, and reading the view, is an fs.ErrClosed. Its
// bytes may be unaligned; Clone copies them into aligned memory. An unknown name
// is an fs.ErrNotExist that lists similar names; an unsupported dtype is a
// garner.ErrDType.
func (f *File) Tensor(name string) (garner.Tensor, error) {
	e, ok := f.tensors[name]
	if !ok {
		return garner.Tensor{}, names.Error(f.path, noTensor(name, f.Names()))
	}
	i, ok := byName[e.dtype]
	if !ok || dtypes[i].dtype == garner.Invalid {
		return garner.Tensor{}, names.Error(f.path, unread(name, e.dtype))
	}
	if err := f.mapped.Hold(); err != nil {
		return garner.Tensor{}, err
	}
	defer f.mapped.Release()
	t, err := garner.FromBytes(dtypes[i].dtype, f.data[e.begin:e.end:e.end], e.shape...)
	if err != nil {
		return garner.Tensor{}, names.Error(f.path+": tensor "+names.Quote(name), err)
	}
	return t.KeptBy(f.mapped), nil
}

// Close unmaps the file, behind calls in progress that read its tensors.
func (f *File) Close() error { return f.mapped.Close() }
