// Package modelproto reads ONNX models: .onnx files, with the files beside them
// that hold large tensors.
//
// Everything from opset 1 on is read, each operator in the version that the
// model's opset_import means; local functions are put in the place of the nodes
// that call them, and a constant is a value, whether an initializer or a
// Constant node holds it. Elements of tensors are found in the mapped file and
// left there: a model of 10 GB opens in milliseconds and holds a few MB.
//
// A model is untrusted. What is cut short, contradicts itself or is larger than
// any real model is refused, with the file and the node or tensor; a file of
// elements is looked for in the model's folder and nowhere else.
//
// Spec: https://github.com/onnx/onnx/blob/main/docs/IR.md
package modelproto

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
	"github.com/garner-go/garner/operators"
)

//go:generate ./generate.sh

// reader is one reading of a model.
type reader struct {
	path      string       // "" where it is no file
	file      *mapped.File // nil where it is no file
	folder    *folder      // nil where it is no file
	elements  []elements   // where each TensorProto's elements are, by number
	irVersion int64
	functions map[function]*onnxpb.FunctionProto
	spent     int // see spend
}

// Open reads a model and infers the results of its gathers, see
// operators.InferModel. The files with its elements stay mapped until it is
// closed. Errors are *model.Error.
func Open(path string) (*model.Model, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, file: file, folder: &folder{path: filepath.Dir(path)}}
	var m *model.Model
	err = mapped.Guard(func() error {
		m, err = r.read(file.Bytes())
		return err
	})
	if err != nil {
		// Nothing was written: what closing them says does not matter.
		r.folder.close()
		file.Close()
		return nil, model.InFile(path, err)
	}
	m.OnClose(file.Close)
	m.OnClose(r.folder.close)
	return m, nil
}

// FromBytes reads a model that is in memory, which it views and does not change.
// One whose elements stand in other files is refused.
func FromBytes(b []byte) (*model.Model, error) {
	m, err := new(reader).read(b)
	if err != nil {
		return nil, model.InFile("", err)
	}
	return m, nil
}

func (r *reader) read(b []byte) (*model.Model, error) {
	if len(b) == 0 {
		return nil, errors.New("the file is empty; get it again")
	}
	var s stripper
	var p onnxpb.ModelProto
	if err := s.strip(b, 0, p.ProtoReflect().Descriptor(), 0); err != nil {
		return nil, notRead(err)
	}
	r.elements = s.elements
	if err := unmarshal.Unmarshal(s.out, &p); err != nil {
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
		opsets[""] = 1 // before models said which
	}
	if err := r.declare(p.Functions); err != nil {
		return nil, err
	}
	root := &scope{reader: r, place: "graph", opsets: opsets}
	g, err := root.graph(p.Graph)
	if err != nil {
		return nil, err
	}
	m := &model.Model{Path: r.path, Format: "ONNX", Producer: producer(&p), Opsets: opsets, Graph: g}
	operators.InferModel(m)
	return m, nil
}

func producer(p *onnxpb.ModelProto) string {
	if v := p.GetProducerVersion(); v != "" && p.GetProducerName() != "" {
		return p.GetProducerName() + " " + v
	}
	return p.GetProducerName()
}

// notRead is an error of the messages' form, at the field where it is.
func notRead(err error) error {
	var at *wireError
	if errors.As(err, &at) {
		return &model.Error{At: at.path, Err: at.err}
	}
	return err
}

// imports are the opsets of an opset_import.
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

// plain is a domain under its one name.
func plain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

// maxSpent bounds what a model can have: nodes and, for each, its inputs,
// outputs and attributes. Functions can call each other so that a small file
// means a large model.
const maxSpent = 2 << 20

// spend counts parts of the model and the bytes of names that are made for
// them.
func (r *reader) spend(parts, bytes int) error {
	if r.spent += parts + bytes/64; r.spent > maxSpent {
		return fmt.Errorf("with its functions in the place of their calls the model has more than %d nodes, inputs, outputs and attributes, which no real model has; split it", maxSpent)
	}
	return nil
}
