package files

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/gguf"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/format/safetensors"
)

// builtin lists the formats of this package. A new one is a package in format/
// and a line here.
var builtin = []Format{
	{Name: "npy", Extensions: []string{".npy"}, Layout: npyLayout, Open: npyOpen, List: npyList, Form: npyForm, Strings: npyStrings},
	{Name: "npz", Extensions: []string{".npz"}, Named: true, Sole: true, Result: "arr_0", Layout: npzLayout, Open: npzOpen, List: npzList, NewWriter: npzWriter, Strings: npzStrings},
	{Name: "safetensors", Extensions: []string{".safetensors"}, Indexes: []string{safetensors.IndexSuffix}, Named: true, Result: "output", Layout: safetensorsLayout, List: safetensorsList, Files: safetensors.Files, Form: safetensorsForm},
	{Name: "gguf", Extensions: []string{".gguf"}, Named: true, Quantised: true, Result: "output", Layout: ggufLayout, List: ggufList, Files: gguf.Files, Form: gguf.Form},
	{Name: "raw", Extensions: []string{".raw", ".bin"}, Headerless: true, Layout: rawLayout, List: rawList, Form: rawForm},
}

func npyLayout(path, _ string, o Options) (layout.Array, error) {
	return npy.Layout(path, npy.Options{DType: o.DType})
}

func npyOpen(_ context.Context, path, _ string, o Options) (*Input, error) {
	f, err := npy.Open(path, npy.Options{DType: o.DType})
	if err != nil {
		return nil, err
	}
	in := Hold(f.Tensor())
	in.Paths, in.Descr = []string{path}, f.Descr()
	if f.Copied() {
		return in, f.Close()
	}
	in.Closer = f
	return in, nil
}

func npyForm(_ string, spec garner.Spec) (layout.Form, error) { return npy.Form(spec) }

func npyStrings(w io.Writer, _ string, t garner.Tensor, descr string) error {
	if descr == "" {
		return npy.Write(w, t)
	}
	return npy.WriteStrings(w, t, descr)
}

func npyList(path string, o Options) ([]Info, error) {
	info, _, err := npy.Stat(path, npy.Options{DType: o.DType})
	if err != nil && !errors.Is(err, layout.ErrMemory) && (!errors.Is(err, garner.ErrDType) || info.Descr == "") {
		return nil, err
	}
	a := npyInfo(info, err)
	a.Path, a.Bytes = path, info.Bytes
	return []Info{a}, nil
}

// npyInfo is what a .npy header says; err is why it has no layout.
func npyInfo(info npy.Info, err error) Info {
	a := Info{Kind: info.Descr, DType: info.DType, Shape: info.Shape}
	switch {
	case errors.Is(err, layout.ErrMemory):
		a.Note = "read whole"
	case err != nil:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the name of the file, or of the array in it
		}
		a.DType, a.Note = garner.Invalid, strings.TrimPrefix(err.Error(), "garner: ")
	case info.Fortran && len(info.Shape) > 1:
		a.Note = "Fortran order"
	}
	return a
}

func npzLayout(path, name string, o Options) (layout.Array, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType})
	if err != nil {
		return layout.Array{}, err
	}
	defer f.Close()
	return f.Layout(name)
}

func npzOpen(_ context.Context, path, name string, o Options) (*Input, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType, Inflated: o.Inflated})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := f.Copy(name)
	if err != nil {
		return nil, err
	}
	in := Hold(a.Tensor)
	in.Paths, in.Descr = []string{path}, a.Descr
	return in, nil
}

func npzWriter(w io.Writer, name string, spec garner.Spec) (io.WriteCloser, error) {
	return npz.NewWriter(w, name, spec)
}

func npzStrings(w io.Writer, name string, t garner.Tensor, descr string) error {
	return npz.Write(w, []npz.Named{{Name: name, Tensor: t, Descr: descr}})
}

func npzList(path string, o Options) ([]Info, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Info
	for _, info := range f.List() {
		a := npyInfo(info.Info, info.Err)
		a.Name, a.Path, a.Bytes = info.Name, path, info.Packed
		if info.Deflated && info.Err == nil {
			a.Note = "compressed, read whole"
		}
		all = append(all, a)
	}
	return all, nil
}

func safetensorsLayout(path, name string, _ Options) (layout.Array, error) {
	return safetensors.Layout(path, name)
}

func safetensorsForm(name string, spec garner.Spec) (layout.Form, error) {
	return safetensors.Form(name, spec, nil)
}

func safetensorsList(path string, _ Options) ([]Info, error) {
	l, err := safetensors.List(path)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, t := range l.Tensors() {
		a := Info{Name: t.Name, Kind: t.Kind, DType: t.DType, Shape: t.Shape, Bytes: t.Bytes, Path: t.Path}
		if t.DType == garner.Invalid {
			a.Note = "not read"
		}
		all = append(all, a)
	}
	return all, nil
}

func ggufLayout(path, name string, o Options) (layout.Array, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return layout.Array{}, err
	}
	return f.Layout(name, gguf.Options{Raw: o.Raw})
}

func ggufList(path string, o Options) ([]Info, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, t := range f.Tensors() {
		a := Info{Name: t.Name, Kind: t.Kind, DType: t.DType, Shape: t.Shape, Bytes: t.Bytes, Path: t.Path}
		// What one would get.
		if at, err := f.Layout(t.Name, gguf.Options{Raw: o.Raw}); err == nil {
			a.DType = at.Spec.DType
			a.Shape, _ = at.Spec.Shape()
		} else if _, err := f.Layout(t.Name, gguf.Options{Raw: true}); err == nil {
			a.DType, a.Note = garner.Invalid, "only with --raw"
		} else {
			a.DType, a.Note = garner.Invalid, "not read"
		}
		all = append(all, a)
	}
	return all, nil
}

func rawLayout(path, _ string, o Options) (layout.Array, error) {
	return raw.Layout(path, raw.Options{DType: o.DType, Shape: o.Shape, Offset: o.Offset})
}

func rawForm(_ string, spec garner.Spec) (layout.Form, error) { return raw.Form(spec) }

func rawList(path string, o Options) ([]Info, error) {
	asked := o
	if o.DType == garner.Invalid {
		asked.DType, asked.Shape = garner.U8, nil
	}
	at, err := rawLayout(path, "", asked)
	if err != nil {
		return nil, err
	}
	a := Info{DType: asked.DType, Bytes: at.Segments[0].Bytes, Path: path}
	a.Shape, _ = at.Spec.Shape()
	if o.DType == garner.Invalid {
		a.Note = "bytes; say what they are with --dtype, --shape and --offset"
	}
	return []Info{a}, nil
}
