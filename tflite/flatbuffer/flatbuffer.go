package flatbuffer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
)

// A reader is one reading of a model.
type reader struct {
	flat
	path   string         // "" for a model in memory
	file   *mapped.File   // nil for a model in memory
	folder *beside.Folder // nil for a model in memory

	codes     []code
	buffers   vector
	external  map[uint32]external // external buffers by id
	groups    []string            // the files of external buffers
	subgraphs []subgraphTables    // by number

	signature string   // that is asked for; "" is all
	several   []string // the keys of signatures, where the graph has several

	strings   map[uint64]string  // by place
	tensors   map[uint64]*tensor // by place
	constants map[uint64]*model.Constant

	spent int64 // bytes

}

// Options say what of a model Open reads.
type Options struct {
	// Signature is the key of the signature whose subgraph alone is the model's graph: its inputs and
	// results are the signature's, under their names. "" reads all signatures.
	Signature string
}

// Open reads a model and infers the types of its values, see shapes.Infer. Its
// files stay mapped until the caller closes the model. It takes memory in proportion to the
// model's tensors and operators, and none for their elements. Errors are *model.Error; a signature that the file does not have is
// also a garner.ErrAttribute.
func Open(path string, o Options) (*model.Model, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{signature: o.Signature, path: path, file: file, folder: beside.In(filepath.Dir(path))}
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

// FromBytes reads a model in memory, with what is behind its flatbuffer. The model views b,
// which must not change. A tensor in another file is an error.
func FromBytes(b []byte) (*model.Model, error) {
	m, err := new(reader).read(b)
	if err != nil {
		return nil, model.InFile("", err)
	}
	return m, nil
}

func (r *reader) read(b []byte) (*model.Model, error) {
	if len(b) < 8 || string(b[4:8]) != "TFL3" {
		return nil, notTFLite(b)
	}
	r.b = b
	r.strings, r.tensors, r.constants = map[uint64]string{}, map[uint64]*tensor{}, map[uint64]*model.Constant{}
	root := r.table("Model", uint64(r.u32("Model", 0)))
	if r.err == nil && !root.there() {
		r.failf("its Model is at byte 0: the file is damaged; get it again")
	}
	if version := root.index(0); r.err == nil && version != 3 {
		return nil, fmt.Errorf("its schema is version %d; garner and LiteRT read version 3: convert the model again", version)
	}
	m := &model.Model{Path: r.path, Format: "TFLite", Producer: r.string(root, 3)}
	r.buffers = root.vector(4, "Buffer", 4)
	codes := root.vector(1, "OperatorCode", 4)
	r.spend(codeBytes * codes.n)
	for i := 0; i < codes.n && r.err == nil; i++ {
		r.codes = append(r.codes, r.code(codes.tableAt(i)))
	}
	r.readExternal(root)
	if err := r.readSubgraphs(root); err != nil {
		return nil, err
	}
	g, err := r.whole(root)
	if r.err != nil {
		err = r.err
	}
	if err != nil {
		return nil, err
	}
	m.Graph, m.Signatures = g, r.several
	if r.path != "" {
		m.Files = append([]string{r.path}, r.folder.Names(slices.Clone(r.groups))...)
	}
	shapes.Infer(m)
	return m, nil
}

// notTFLite says what a file is that does not begin as a .tflite does.
func notTFLite(b []byte) error {
	if len(b) == 0 {
		return errors.New("the file is empty; get it again")
	}
	if len(b) >= 8 && string(b[4:7]) == "TFL" {
		return fmt.Errorf("its schema is %.4q; garner and LiteRT read TFL3: convert the model again", b[4:8])
	}
	return errors.New("it is no TFLite model, which has TFL3 as its bytes 4 to 7; get it again, or name the file by its kind")
}

// What the parts of a model take, in bytes: the part itself, and its place in lists and
// maps.
const (
	nodeBytes      = 500
	gatherBytes    = 1200 // a gather takes them beside: its inference, its line in a list, its findings
	inputBytes     = 50   // an input or an output of a node
	attributeBytes = 150
	valueBytes     = 350
	dimBytes       = 40
	constantBytes  = 700
	scopeBytes     = 1000 // a graph
	tensorBytes    = 200  // what is kept of a tensor that several graphs have
	codeBytes      = 100
)

// A model may take freeBytes and perByte for each byte of the flatbuffer. Parts of a
// flatbuffer refer to each other by offsets of 4 bytes, so a small file can have one tensor, one operator
// or one subgraph a million times; no program writes such a file.
const (
	freeBytes = 12 << 20
	perByte   = 60
)

// spend counts bytes of memory, about as many as the reader allocates.
func (r *reader) spend(bytes int) {
	if r.spent += int64(bytes); r.spent > freeBytes+perByte*r.structure() && r.err == nil {
		r.failf("its operators, tensors and subgraphs, each where others refer to it, take more than %d MiB, in a flatbuffer of %d bytes; no real model's do: split it",
			(freeBytes+perByte*r.structure())>>20, r.structure())
	}
}

// structure gives the bytes of the file that a flatbuffer can have: what is behind them are
// elements.
func (r *reader) structure() int64 { return min(int64(len(r.b)), 1<<31) }

// string reads a string field, each place of the file once.
func (r *reader) string(t table, number int) string {
	at, ok := t.field(number, 4)
	if !ok {
		return ""
	}
	place := t.follow(t.kind, at)
	if s, ok := r.strings[place]; ok {
		return s
	}
	s := t.text(number)
	r.spend(inputBytes + len(s))
	r.strings[place] = s
	return s
}
