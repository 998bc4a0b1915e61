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
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// An Info describes one array of an archive.
type Info struct {
	npy.Info
	Name     string
	Deflated bool  // compressed: it can only be read into memory
	Packed   int64 // size in the archive in bytes, its own header included
	Err      error // why the array cannot be read; nil if it can
}

// List returns an Info of every array of an archive. It reads only the headers of
// the arrays, and inflates a deflated array only as far as its header.
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

// Layout returns the location of a stored array, for opening it or joining it with
// others. name and errors are those of Array. A deflated array is a
// layout.ErrMemory, as are the arrays to which package npy gives no layout. The
// checksum is not verified.
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

// stat reads the header of a member's array, and returns the location of a stored
// one.
func (f *File) stat(m *zip.File) (info npy.Info, a layout.Array, err error) {
	err = f.read(func(b []byte) error {
		at, err := f.place(m)
		if err != nil {
			return err
		}
		data := b[at:][:m.CompressedSize64]
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

// OpenArray opens one stored array; see Layout. It maps the archive while it reads
// the list of members, and unmaps it afterwards.
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

// NewWriter begins an archive of one array and returns a writer for its elements,
// row-major and little-endian, in pieces of any size, so that the array may exceed
// memory. The bytes and the refusals are those of Write. Close, after the last
// element, writes the end of the archive.
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
