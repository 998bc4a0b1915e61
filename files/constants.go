package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
)

// constantOpen opens a constant of a model: in place, or in memory where its
// elements are encoded.
func constantOpen(_ context.Context, path, name string, o Options) (*Input, error) {
	m, err := openModel(path, ModelOptions{Lenient: o.Lenient, Signature: o.Signature, constants: true})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	c, err := m.Constant(name)
	if errors.Is(err, fs.ErrNotExist) {
		var all []string
		for has := range m.Constants() {
			all = append(all, has)
		}
		err = garner.Errorf(err, "%s: it has no constant %s; %s", path, names.Quote(name), names.Near(name, all))
	}
	if err != nil {
		return nil, err
	}
	if d := c.Spec.DType; o.DType != garner.Invalid && d != garner.Invalid && o.DType != d {
		return nil, garner.Errorf(garner.ErrDType, "%s#%s is %s itself and the dtype asked for is %s; leave that out", path, name, d, o.DType)
	}
	if c.File != "" && c.Size > 0 || len(c.Tiles) > 0 {
		array, err := c.Open()
		if err != nil {
			return nil, err
		}
		return &Input{Array: array, Paths: m.Files}, nil
	}
	if o.InPlace {
		return nil, layout.InMemory("%s: the elements of its constant %.200q are encoded", path, name)
	}
	if size, ok := c.Bytes(); ok {
		if err := layout.Fits(names.Quote(name)+" "+c.Spec.String(), float64(size), float64(o.Memory)); err != nil {
			return nil, names.Error(path, err)
		}
	}
	t, err := c.Tensor()
	if err != nil {
		return nil, err
	}
	if !c.Encoded || t.CanVanish() || !t.Contiguous() { // the tensor may view the model's files, which are closed here
		if t, err = t.Clone(); err != nil {
			return nil, err
		}
	}
	in := Hold(t)
	in.Paths = m.Files
	return in, nil
}

// constantList lists the constants of a model.
func constantList(path string, o Options) ([]Info, error) {
	m, err := openModel(path, ModelOptions{Lenient: o.Lenient, Signature: o.Signature, constants: true})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var all []Info
	for name, v := range m.ConstantValues() {
		a := constantInfo(m, name, v.Constant)
		if v.Quantised != nil {
			a.Quantised = v.Quantised.String()
		}
		all = append(all, a)
	}
	return all, nil
}

// constantListed gives the name by which constantList lists a constant that m.Constant finds by
// another one, such as a variable's own name beside its key in the checkpoint.
func constantListed(path, name string, o Options) string {
	m, err := openModel(path, ModelOptions{Lenient: o.Lenient, Signature: o.Signature, constants: true})
	if err != nil {
		return ""
	}
	defer m.Close()
	c, err := m.Constant(name)
	if err != nil {
		return "" // opening it says why
	}
	for listed, is := range m.Constants() {
		if is == c {
			return listed
		}
	}
	return ""
}

// constantFiles lists the files of a model.
func constantFiles(path string) []string {
	m, err := openModel(path, ModelOptions{Lenient: true, constants: true})
	if err != nil {
		return nil
	}
	defer m.Close()
	return m.Files
}

func constantInfo(m *model.Model, name string, c *model.Constant) Info {
	a := Info{Name: name, DType: c.Spec.DType, Bytes: -1, Path: m.Path, Whole: c.Whole}
	a.Shape, _ = c.Spec.Shape()
	if n, ok := c.Bytes(); ok && c.Spec.DType != garner.String {
		a.Bytes = n
	}
	if c.File != "" {
		a.Path = c.File
	}
	if len(c.Tiles) > 0 {
		a.Path = c.Tiles[0].Constant.File
	} else if c.Encoded && c.File == "" {
		a.Note = "read whole"
	} else if c.File == "" {
		switch _, err := c.Tensor(); {
		case errors.Is(err, fs.ErrNotExist):
			a.DType, a.Bytes, a.Note = garner.Invalid, -1, "missing"
		case err != nil: // such as a sparse one; it decodes nothing
			a.DType, a.Note = garner.Invalid, "not read"
		}
	}
	switch {
	case c.Whole != "":
		a.Note = noted("a slice of "+names.Plain(c.Whole), a.Note)
	case c.Slices > 1:
		a.Note = noted(fmt.Sprintf("joined from %d slices", c.Slices), a.Note)
	}
	return a
}

// noted joins two notes; more may be "".
func noted(note, more string) string {
	if more == "" {
		return note
	}
	return note + ", " + more
}
