package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
)

// write writes a program to path, and the elements of its constants beside it.
func (p *program) write(ctx context.Context, m *model.Model, path string) (*Report, error) {
	layers, err := p.layers()
	if err != nil {
		return nil, model.InFile(m.Path, err)
	}
	beside := p.target.beside(path)
	var file, elements []piece
	if p.target == onnxTarget {
		file, elements, err = p.onnxFile(layers, filepath.Base(beside))
	} else {
		file, elements, err = p.irFile(layers)
	}
	if err != nil {
		return nil, model.InFile(m.Path, err)
	}
	inputs := m.Files
	paths := []string{path}
	if len(elements) > 0 {
		paths = append(paths, beside)
	}
	out, err := newOutput(paths, inputs)
	if err != nil {
		return nil, err
	}
	defer out.abort()
	for i, pieces := range [][]piece{file, elements}[:len(paths)] {
		if err := out.fill(ctx, i, pieces); err != nil {
			return nil, err
		}
	}
	if err := p.reread(ctx, m, out.temporary(0), layers); err != nil {
		return nil, model.InFile(m.Path, garner.Errorf(errors.Join(ErrReread, err), "what was written for %s is not what was to be written, and is not put in place: %v; report this with the model", path, err))
	}
	if err := out.put(); err != nil {
		return nil, err
	}
	return &Report{Files: paths, Nodes: len(layers), Notes: p.notes}, nil
}

// open opens a model that was written, by the reader of its format.
func (t *target) open(path string) (*model.Model, error) {
	if t == onnxTarget {
		return modelproto.Open(path)
	}
	return ir.Open(path, ir.Options{})
}

// An output is a model's file, and the file beside it, while they are written: in a folder
// beside their places, under the names that they will have.
type output struct {
	places []atomicfile.Place
	folder string
	files  []*os.File
}

// newOutput makes the folder. What atomicfile.Find refuses is refused, and a path that is no
// regular file: the file beside would not be found from it.
func newOutput(paths, inputs []string) (*output, error) {
	p := &output{}
	for _, path := range paths {
		place, err := atomicfile.Find(path, inputs...)
		if err != nil {
			return nil, err
		}
		if place.Target != path {
			return nil, garner.Errorf(nil, "cannot write %s: it is a link, or no regular file, and a model has a file beside it; name a file", path)
		}
		p.places = append(p.places, place)
	}
	dir := filepath.Dir(paths[0])
	for try := 0; ; try++ {
		p.folder = filepath.Join(dir, fmt.Sprintf(".garner-%08x.tmp", rand.Uint32()))
		err := os.Mkdir(p.folder, 0o700)
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return nil, p.places[0].Failed(err)
		}
	}
}

// temporary gives the path of a file until it is put in place.
func (p *output) temporary(i int) string {
	return filepath.Join(p.folder, filepath.Base(p.places[i].Target))
}

// fill writes a file. Blocks of zeros are left out, so that holes of the source's files stay
// holes where the system has them.
func (p *output) fill(ctx context.Context, i int, pieces []piece) error {
	file, err := os.OpenFile(p.temporary(i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return p.places[i].Failed(err)
	}
	p.files = append(p.files, file)
	if err := p.places[i].Permit(file); err != nil {
		return err
	}
	end := int64(0)
	for _, piece := range pieces {
		start := end
		end += piece.size()
		if piece.elements == nil {
			if _, err := file.WriteAt(piece.bytes, start); err != nil {
				return p.places[i].Failed(err)
			}
			continue
		}
		err := piece.elements.each(ctx, func(at int64, b []byte) error {
			if start+at+int64(len(b)) > end {
				return garner.Errorf(nil, "constant %s has more elements than its shape %s", piece.elements.label(), piece.elements.spec)
			}
			if len(b) <= block && isZero(b) {
				return nil
			}
			_, err := file.WriteAt(b, start+at)
			return p.places[i].Failed(err)
		})
		if err != nil {
			return err
		}
	}
	return p.places[i].Failed(file.Truncate(end))
}

// put puts the files in place: first the one beside, then the model. An old model is out of the
// way before, so that no reader finds it beside new elements; it comes back where the new
// one cannot be put.
func (p *output) put() (err error) {
	model := p.places[0]
	old := filepath.Join(p.folder, "old")
	moved := false
	if len(p.files) > 1 {
		switch err := os.Rename(model.Target, old); {
		case err == nil:
			moved = true
		case !errors.Is(err, fs.ErrNotExist):
			return model.Failed(err)
		}
	}
	for i := len(p.files) - 1; i >= 0; i-- {
		placed, err := p.places[i].Put(p.files[i])
		if err != nil {
			if moved && !placed && i == len(p.files)-1 {
				_ = os.Rename(old, model.Target) // its elements are still those beside it
			}
			return err
		}
	}
	return nil
}

// abort removes what is not put in place.
func (p *output) abort() {
	for _, f := range p.files {
		f.Close() // one that is in place is closed
	}
	os.RemoveAll(p.folder)
}
