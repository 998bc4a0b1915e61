package npz

import (
	"archive/zip"
	"bytes"
	"io"
	"math"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// Info is what an archive says of one of its arrays.
type Info struct {
	npy.Info
	Name     string
	Deflated bool  // compressed; it can only be read into memory
	Packed   int64 // bytes that it takes in the archive, its own header included
	Err      error // why the array is not read; nil where it is
}

// List tells of every array of an archive, without reading more of them than
// their headers; a deflated one is inflated as far as its header goes.
func (f *File) List() []Info {
	all := make([]Info, len(f.names))
	for i, name := range f.names {
		m, err := f.find(name)
		all[i].Name = name
		if err == nil {
			all[i].Packed, all[i].Deflated = int64(min(m.CompressedSize64, math.MaxInt64)), m.Method != zip.Store
			all[i].Info, _, err = f.stat(m)
		}
		if err != nil {
			all[i].Err = names.Error(f.path+"#"+name, err)
		}
	}
	return all
}

// Layout is where a stored array stands, so that it can be opened or joined with
// others; name means what it means to Array, and the errors are those of Array.
// A deflated array is a layout.ErrMemory, as are those of package npy that have
// no layout. The checksum is not looked at.
func (f *File) Layout(name string) (layout.Array, error) {
	m, err := f.find(name)
	if err != nil {
		return layout.Array{}, names.Error(f.path, err)
	}
	_, a, err := f.stat(m)
	if err == nil && m.Method != zip.Store {
		err = layout.InMemory("it is compressed")
	}
	if err != nil {
		return layout.Array{}, names.Error(f.path+"#"+strings.TrimSuffix(m.Name, suffix), err)
	}
	return a, nil
}

// stat reads the header of a member's array; where it is stored, it says where
// it stands.
func (f *File) stat(m *zip.File) (info npy.Info, a layout.Array, err error) {
	err = mapped.Guard(func() error {
		at, err := f.place(m)
		if err != nil {
			return err
		}
		data := f.mapped.Bytes()[at:][:m.CompressedSize64]
		size := int64(min(m.UncompressedSize64, math.MaxInt64))
		if m.Method != zip.Store {
			s := newSummed(data)
			defer s.close()
			if info, _, err = npy.LayoutAt(s, f.header, at, size, npy.Options{DType: f.options.DType}); err != nil {
				err = s.told(err)
			}
			return err
		}
		var r io.Reader = bytes.NewReader(data)
		if info, a, err = npy.LayoutAt(r, f.header, at, size, npy.Options{DType: f.options.DType}); err != nil {
			return err
		}
		if s := a.Segments[0]; s.Offset+s.Bytes != at+size {
			return goesOn()
		}
		return nil
	})
	return info, a, err
}

// OpenArray opens one stored array, as Layout finds it. The archive's list of
// members is mapped while it is read, and nothing afterwards.
func OpenArray(path, name string, o Options) (*source.File, error) {
	f, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := f.Layout(name)
	if err != nil {
		return nil, err
	}
	return a.Open()
}

// NewWriter writes an archive of one array, and answers what takes its elements,
// row-major and little-endian, in pieces of any size: a result can be written
// that is larger than memory. The bytes are those that Write writes, and so is
// what is refused. Close it when all are written: the archive's end is written
// then.
func NewWriter(w io.Writer, name string, spec garner.Spec) (*layout.Writer, error) {
	if err := (described{name, spec.DType}).check(map[string]bool{}); err != nil {
		return nil, err
	}
	form, err := npy.Form(spec)
	if err != nil {
		return nil, err
	}
	archive := zip.NewWriter(w)
	member, err := archive.CreateHeader(head(name, 0))
	if err != nil {
		return nil, err
	}
	to, err := form.NewWriter(member)
	if err != nil {
		return nil, err
	}
	to.End = archive.Close
	return to, nil
}
