package text

import (
	"bytes"
	"errors"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
)

// Format is the model.Format of what this package reads.
const Format = "StableHLO"

// A reader is one reading of a model.
type reader struct {
	scanner
	path string       // "" for a model in memory
	file *mapped.File // nil for a model in memory

	aliases   map[string]any         // attributes by the name behind the #
	types     map[string]garner.Spec // by the name behind the !
	resources map[string]span        // the strings of dialect_resources

	functions []*function
	byName    map[string]*function
	lines     []int // where each begins; nil until one is asked for

	spent int64 // bytes
}

// Open reads a model and infers the types of its values, see shapes.Infer. Its
// file stays mapped until the caller closes the model. It takes memory in proportion to the
// text, and none for the elements of constants. Errors are *model.Error.
func Open(path string) (*model.Model, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, file: file}
	var m *model.Model
	err = file.Read(0, file.Size(), func(b []byte) error {
		m, err = r.read(b)
		return err
	})
	if err != nil {
		file.Close() // it is read-only, so an error of closing it loses nothing
		return nil, model.InFile(path, err)
	}
	m.Files = []string{path}
	m.OnClose(file.Close)
	return m, nil
}

// FromBytes reads a model in memory. Its constants view b, which must not change.
func FromBytes(b []byte) (*model.Model, error) {
	m, err := new(reader).read(b)
	if err != nil {
		return nil, model.InFile("", err)
	}
	return m, nil
}

func (r *reader) read(b []byte) (*model.Model, error) {
	switch {
	case len(b) == 0:
		return nil, errors.New("the file is empty; get it again")
	case bytes.HasPrefix(b, []byte("ML\xefR")):
		return nil, errors.New("it is MLIR bytecode, and garner reads MLIR's text; write that: str(exported.mlir_module()) of a jax.export.Exported, jax.jit(f).lower(...).as_text(), or what stablehlo-translate makes of it by its deserialize")
	}
	r.b = b
	r.aliases, r.types, r.resources = map[string]any{}, map[string]garner.Spec{}, map[string]span{}
	r.byName = map[string]*function{}
	top := r.top()
	if r.err != nil {
		return nil, r.err
	}
	r.collect(top, 0)
	if r.err == nil && len(r.functions) == 0 {
		r.at = len(b)
		r.failf("it has no function (func.func); garner reads the text of a module of StableHLO")
	}
	m := &model.Model{Path: r.path, Format: Format, Graph: &model.Graph{}}
	r.whole(m.Graph)
	if r.err != nil {
		return nil, r.err
	}
	shapes.Infer(m)
	// Constants keep the reader, and need its text alone.
	*r = reader{path: r.path, file: r.file}
	if r.file == nil {
		r.b = b
	}
	return m, nil
}

// What the parts of a model take, in bytes: the part itself, and its place in lists and
// maps.
const (
	nodeBytes      = 400
	gatherBytes    = 18000 // a gather takes them beside: its inference, its line in a list, its findings
	inputBytes     = 50    // an operand of an operator
	attributeBytes = 150
	valueBytes     = 400
	dimBytes       = 40
	constantBytes  = 700
	scopeBytes     = 600 // a function at a call, a region
)

// A model may take freeBytes and perByte for each byte of the text. A function that calls
// another twice, which calls another twice, and so on, is exponential.
const (
	freeBytes = 12 << 20
	perByte   = 250
)

// spend counts bytes of memory, about as many as the reader allocates.
func (r *reader) spend(bytes int) {
	if r.spent += int64(bytes); r.spent > freeBytes+perByte*int64(len(r.b)) && r.err == nil {
		r.failf("its operators, each at every call of its function, take more than %d MiB, in a text of %d bytes; no real model's do: split it",
			(freeBytes+perByte*int64(len(r.b)))>>20, len(r.b))
	}
}

// tensorOf reads a tensor of bytes of the text.
func (r *reader) tensorOf(s span, read func(b []byte) (garner.Tensor, error)) (garner.Tensor, error) {
	if r.file == nil {
		return read(r.b[s.from:s.to])
	}
	return beside.Tensor(r.file, s.from, s.to-s.from, read)
}

// dialectOf splits an operator's name in the dialect, "" for StableHLO's own, and the rest.
func dialectOf(name string) (dialect, op string) {
	dialect, op, ok := strings.Cut(name, ".")
	switch {
	case !ok:
		return "builtin", name
	case dialect == "stablehlo":
		return "", op
	}
	return dialect, op
}
