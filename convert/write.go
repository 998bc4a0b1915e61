package convert

import (
	"context"
	"errors"
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
	out, err := atomicfile.NewPair(path, beside, atomicfile.PairOptions{Inputs: m.Files, Uses: p.target.uses})
	if err != nil {
		return nil, err
	}
	defer out.Abort()
	paths := []string{path}
	if len(elements) > 0 {
		if err := out.Free(); err != nil {
			return nil, err
		}
		paths = append(paths, beside)
	}
	for i, pieces := range [][]piece{file, elements}[:len(paths)] {
		if err := lay(ctx, out, i, pieces); err != nil {
			return nil, err
		}
	}
	compared, err := p.reread(ctx, m, out.Temporary(0), layers)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	// What was written, and what it was compared with, may be of two states of the source.
	if err := m.Changed(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, model.InFile(m.Path, garner.Errorf(errors.Join(ErrReread, err), "what was written for %s is not what was to be written, and is not put in place: %v; report this with the model", path, err))
	}
	if err := out.Put(); err != nil {
		return nil, err
	}
	return &Report{Files: paths, Target: p.target.name, Nodes: len(layers), Notes: p.notes, Compared: compared}, nil
}

// open opens a model that was written, by the reader of its format.
func (t *target) open(path string) (*model.Model, error) {
	if t == onnxTarget {
		return modelproto.Open(path)
	}
	return ir.Open(path, ir.Options{})
}

// uses lists the files with weights of the model at path; none where it is no model of the format.
func (t *target) uses(path string) []string {
	m, err := t.open(path)
	if err != nil {
		return nil
	}
	defer m.Close() // only its files are asked for
	return m.Weights()
}

// lay writes a file. Blocks of zeros are left out, so that holes of the source's files stay
// holes where the system has them.
func lay(ctx context.Context, out *atomicfile.Pair, i int, pieces []piece) error {
	file, err := out.Create(i)
	if err != nil {
		return err
	}
	end := int64(0)
	for _, piece := range pieces {
		start := end
		end += piece.size()
		if piece.elements == nil {
			if _, err := file.WriteAt(piece.bytes, start); err != nil {
				return out.Failed(i, err)
			}
			continue
		}
		if c := piece.elements.constant; c != nil && !piece.elements.small && c.Verify != nil { // the target keeps no checksum of the source's
			if err := c.Verify(ctx); err != nil {
				return err
			}
		}
		err := piece.elements.each(ctx, func(at int64, b []byte) error {
			if start+at+int64(len(b)) > end {
				return garner.Errorf(garner.ErrShape, "constant %s has more elements than its shape %s", piece.elements.label(), piece.elements.spec)
			}
			if len(b) <= block && isZero(b) {
				return nil
			}
			_, err := file.WriteAt(b, start+at)
			return out.Failed(i, err)
		})
		if err != nil {
			return err
		}
	}
	return out.Failed(i, file.Truncate(end))
}
