// Package modelproto reads ONNX models: .onnx files, and the files beside them
// that hold large tensors.
//
// It reads every opset, and gives each operator the version that the model's
// opset_import selects. It inlines local functions. A constant is a value, whether
// an initializer or a Constant node holds it. The elements of tensors stay in the
// mapped file: a model of 10 GB opens in milliseconds and takes a few MB of memory.
//
// A model is untrusted. The reader refuses a file that is truncated, that
// contradicts itself, or that is larger than any real model, and names the node or
// the tensor. It opens files of elements in the model's folder only.
//
// Spec: https://github.com/onnx/onnx/blob/main/docs/IR.md
package modelproto

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

//go:generate ./generate.sh

// reader is one reading of a model.
type reader struct {
	path      string               // "" for a model in memory
	file      *mapped.File         // nil for a model in memory
	folder    *beside.Folder       // nil for a model in memory
	elements  []protofile.Elements // where the elements of each TensorProto are, by the number that strip gives it
	irVersion int64
	functions map[function]*declared
	alone     bool                     // the other files of the model are not at hand
	absent    map[*model.Constant]bool // those whose elements are in one of them
	protofile.Budget
}

// Open reads a model and infers the results of its gathers, see
// shapes.Infer. Its files stay mapped until the caller closes the model.
// Errors are *model.Error.
func Open(path string) (*model.Model, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, file: file, folder: beside.In(filepath.Dir(path))}
	var m *model.Model
	err = file.Read(0, file.Size(), func(b []byte) error {
		m, err = r.read(b)
		return err
	})
	if err != nil {
		// The files are read-only, so an error of closing them loses nothing.
		r.folder.Close()
		file.Close()
		return nil, model.InFile(path, err)
	}
	m.OnClose(file.Close)
	m.OnClose(r.folder.Close)
	return m, nil
}

// FromBytes reads a model in memory and infers the results of its gathers. The
// model views b, which must not change. A tensor in another file is an error.
func FromBytes(b []byte) (*model.Model, error) {
	m, err := new(reader).read(b)
	if err != nil {
		return nil, model.InFile("", err)
	}
	return m, nil
}

// FromBytesAlone is FromBytes of a model whose other files are not at hand, such as one
// that a browser was given: an initializer whose elements are in another file is a
// value of known type, like an input, and no constant. Files of the model names the files
// that are wanted, as the model does.
func FromBytesAlone(b []byte) (*model.Model, error) {
	m, err := (&reader{alone: true, absent: map[*model.Constant]bool{}}).read(b)
	if err != nil {
		return nil, model.InFile("", err)
	}
	return m, nil
}

func (r *reader) read(b []byte) (*model.Model, error) {
	if len(b) == 0 {
		return nil, errors.New("the file is empty; get it again")
	}
	s := newStripper()
	if r.file != nil {
		s.Passed = r.file.Passed
	}
	var p onnxpb.ModelProto
	if err := s.Strip(b, 0, p.ProtoReflect().Descriptor(), 0); err != nil {
		return nil, notRead(err)
	}
	r.elements, r.Budget = s.Found, s.Budget
	if err := unmarshal.Unmarshal(s.Out, &p); err != nil {
		return nil, fmt.Errorf("it is no ONNX model: %w", err)
	}
	if p.Graph == nil {
		return nil, errors.New("it has no graph: it is no ONNX model, or cut short; get it again")
	}
	r.irVersion = p.GetIrVersion()
	opsets, err := imports(p.OpsetImport)
	if err != nil {
		return nil, err
	}
	if _, ok := opsets[""]; !ok && r.irVersion < 3 {
		opsets[""] = 1 // older files have no opset_import
	}
	if err := r.declare(p.Functions); err != nil {
		return nil, err
	}
	root := &scope{reader: r, place: "graph", opsets: &imported{versions: opsets}}
	g, err := root.graph(p.Graph)
	if err != nil {
		return nil, err
	}
	m := &model.Model{Path: r.path, Format: "ONNX", Producer: producer(&p), Opsets: opsets, Graph: g}
	if r.alone && len(r.absent) > 0 {
		m.Files = slices.Sorted(slices.Values(s.locations))
		m.Files = slices.Compact(m.Files)
	}
	if r.folder != nil {
		m.Files = append([]string{r.path}, r.folder.Names(s.locations)...)
	}
	shapes.Infer(m)
	return m, nil
}

func producer(p *onnxpb.ModelProto) string {
	if v := p.GetProducerVersion(); v != "" && p.GetProducerName() != "" {
		return p.GetProducerName() + " " + v
	}
	return p.GetProducerName()
}

// notRead words an error of the protobuf encoding, with the field's path.
func notRead(err error) error {
	var at *protofile.Error
	if errors.As(err, &at) {
		return &model.Error{At: at.Path, Err: at.Err}
	}
	return err
}

// imports gives the opsets of an opset_import, by domain.
func imports(list []*onnxpb.OperatorSetIdProto) (map[string]int, error) {
	opsets := make(map[string]int, len(list))
	for _, o := range list {
		domain, version := plain(o.GetDomain()), o.GetVersion()
		if version < 1 || version > math.MaxInt32 {
			return nil, fmt.Errorf("it imports opset %d of domain %.200q; an opset is 1 or more", version, domain)
		}
		if before, ok := opsets[domain]; ok && before != int(version) {
			return nil, fmt.Errorf("it imports opsets %d and %d of domain %.200q; leave one", before, version, domain)
		}
		opsets[domain] = int(version)
	}
	return opsets, nil
}

// plain gives a domain its one name: "ai.onnx" is "".
func plain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}
