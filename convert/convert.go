// Package convert writes a model for another framework: models of ONNX, OpenVINO IR, TensorFlow
// and LiteRT as ONNX or OpenVINO IR.
//
//	report, err := convert.File(ctx, m, "model.xml", convert.Options{})
//
// It converts models that consist of gathers and of the operators around them that
// "garner run" runs, and the branch of an If or a Case that a constant chooses. It refuses
// any other by the name of its node before it writes a byte. Bags are OpenVINO's, and TensorFlow's of segments. It
// keeps what the source's runtime makes of an index outside: guards in the graph make the
// target refuse it, or answer it, where the source does. [Options] choose cheaper ways.
//
// A model goes through a neutral form: a source is a table from the operators of its format to those
// of the form (onnxsource.go, irsource.go, tensorflowsource.go, litesource.go), and a target a table back and a writer
// (onnxtarget.go, onnxfile.go; irtarget.go, irfile.go). Guards are of neutral operators (guard.go).
//
// Constants are copied from file to file, a block at a time. What is written is read again by
// garner's own reader, and compared with what was to be written, before it is put
// in place.
package convert

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// Outside says what becomes of indices outside of their axis.
type Outside uint8

// The ways.
const (
	Keep  Outside = iota // the target refuses them, or answers them, where the source does
	Clamp                // they become the nearest index that the axis has
	AsIs                 // whatever the target makes of them
)

var outsides = []string{"keep", "clamp", "as-is"}

// String gives the name of a way; "Outside(9)" for one that there is not.
func (o Outside) String() string {
	if int(o) < len(outsides) {
		return outsides[o]
	}
	return fmt.Sprintf("Outside(%d)", uint8(o))
}

// ParseOutside finds a way by its name: keep, clamp or as-is.
func ParseOutside(name string) (Outside, error) {
	for i, n := range outsides {
		if n == name {
			return Outside(i), nil
		}
	}
	return Keep, garner.Errorf(garner.ErrAttribute, "%q is no way to treat indices outside; there are %s", name, strings.Join(outsides, ", "))
}

// Defaults says what becomes of inputs with a default: of initializers among the inputs of an
// ONNX model, which ONNX Runtime lets a caller give or leave out.
type Defaults uint8

// The ways.
const (
	DefaultsKept     Defaults = iota // they stay that, in ONNX; OpenVINO IR has none, so a model with one is refused
	DefaultsInput                    // they become inputs that every caller gives
	DefaultsConstant                 // they become constants, and no caller gives them
)

var defaults = []string{"keep", "input", "constant"}

// String gives the name of a way; "Defaults(9)" for one that there is not.
func (d Defaults) String() string {
	if int(d) < len(defaults) {
		return defaults[d]
	}
	return fmt.Sprintf("Defaults(%d)", uint8(d))
}

// ParseDefaults finds a way by its name: keep, input or constant.
func ParseDefaults(name string) (Defaults, error) {
	if i := slices.Index(defaults, name); i >= 0 {
		return Defaults(i), nil
	}
	return DefaultsKept, garner.Errorf(garner.ErrAttribute, "%q is no way to treat inputs with a default; there are %s", name, strings.Join(defaults, ", "))
}

// Classes of errors.
var (
	ErrUnsupported = errors.New("it is not converted")      // a node that the conversion does not know
	ErrLossy       = errors.New("the target computes less") // a node that the target computes less exactly
	ErrReread      = errors.New("what was written differs") // nothing was put in place
)

// Options say how a model is converted.
type Options struct {
	Outside  Outside
	Defaults Defaults
	Lossy    bool // accept nodes that the target computes less exactly; each is noted

	runtime string // the source's
}

// A Note is something that a person may want to know of a conversion. What is replaced has another form in the target, and the
// same answers; where something differs, the target answers otherwise for some inputs, and the option lossy is not asked for.
type Note struct {
	Node, Op string // "" for the model
	Kind     string // "guarded", "unguarded", "replaced", "differs", "lossy", "renamed", "dropped"
	Text     string
}

// String gives the note in one line.
func (n Note) String() string {
	if n.Node == "" {
		return n.Kind + ": " + n.Text
	}
	return fmt.Sprintf("%s: %s (%s): %s", n.Kind, n.Node, n.Op, n.Text)
}

// A Report says what a conversion did.
type Report struct {
	Files  []string // that were written, the model first
	Target string   // the format that they have: "ONNX" or "OpenVINO IR"
	Nodes  int      // of the target
	Notes  []Note   // in the order of the source's nodes

	Compared Comparison // of garner's own runs of the source and of the target
}

// Extensions lists the extensions that File takes.
func Extensions() []string { return []string{onnxTarget.extension, irTarget.extension} }

// targetOf finds the target that a path's extension names.
func targetOf(path string) (*target, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case onnxTarget.extension:
		return onnxTarget, nil
	case irTarget.extension:
		return irTarget, nil
	}
	return nil, garner.Errorf(garner.ErrAttribute, "%s: its extension names no format that models are converted to; there are %s", path, strings.Join(Extensions(), " and "))
}

// File converts a model to the format that the extension of path names, .onnx or .xml, and writes it
// there. Elements of constants go into a file beside it: path with .data after it for
// ONNX, where they are large; path with .bin in the place of .xml for OpenVINO IR.
//
// Both files appear whole or not at all, and no reader sees one of an old model
// beside one of the new: where a model is replaced, there is none for a moment.
//
// A node that is not converted is an ErrUnsupported, one of a dtype that the target lacks
// an ErrDType, and one that the target computes less exactly an ErrLossy without
// Options.Lossy; all are *model.Error at the node. An Outside or a Defaults that there is not is
// an ErrAttribute. An output that is an input, or a file
// of the source model, is refused. What cannot be read back equal is an ErrReread.
func File(ctx context.Context, m *model.Model, path string, o Options) (*Report, error) {
	p, err := read(m, path, o)
	if err == nil {
		err = p.denormals(ctx)
	}
	if err != nil {
		return nil, model.InFile(m.Path, err)
	}
	return p.write(ctx, m, path)
}

// read makes the program that is written to path.
func read(m *model.Model, path string, o Options) (*program, error) {
	t, err := targetOf(path)
	if err != nil {
		return nil, err
	}
	if int(o.Outside) >= len(outsides) || int(o.Defaults) >= len(defaults) {
		return nil, garner.Errorf(garner.ErrAttribute, "the options are %s and %s; the ways are %s, and %s", o.Outside, o.Defaults, strings.Join(outsides, ", "), strings.Join(defaults, ", "))
	}
	from := sources[m.Format]
	if from == nil {
		return nil, garner.Errorf(ErrUnsupported, "a model of %s is not converted; those of ONNX, OpenVINO IR, TensorFlow and LiteRT are", m.Format)
	}
	if m.Graph == nil || len(m.Graph.Outputs) == 0 {
		if m.Format == "TensorFlow" && m.Graph != nil && len(m.Graph.Nodes)+len(m.Graph.Inputs) == 0 {
			return nil, garner.Errorf(ErrUnsupported, "it holds variables and no graph, so that there is nothing to convert; name the model that reads them, a .meta file or a SavedModel's folder")
		}
		return nil, garner.Errorf(ErrUnsupported, "it has no outputs, and there is nothing to convert")
	}
	o.runtime = from.runtime
	p := &program{target: t, options: o, noted: make(map[Note]bool), zeroed: make(map[*model.Node]bool), inexact: make(map[*model.Node]bool), tables: make(map[*model.Node]*compressed)}
	if err := p.read(m, from); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p, nil
}

// finish checks a program for its target, and drops nodes that nothing reads.
func (p *program) finish() error {
	if p.proven(p.reads()); p.err != nil {
		return model.AtNode(p.at, p.err)
	}
	read := p.reads()
	p.nodes = slices.DeleteFunc(p.nodes, func(n *node) bool { return !read[n.out] && (n.also == nil || !read[n.also]) })
	for _, n := range p.nodes {
		p.at = n.origin
		p.check(n)
		if p.target == irTarget {
			if p.crosses(openVINO) {
				p.exact(n)
			}
			p.limits(n)
		}
		if p.err != nil {
			return model.AtNode(n.origin, p.err)
		}
	}
	p.at = nil
	for _, v := range p.inputs {
		if list := slices.DeleteFunc(slices.Clone(v.dimNames), func(name string) bool { return name == "" }); p.target == irTarget && len(list) > 0 {
			p.note("dropped", "OpenVINO IR has no names of dims; the input %.200q had %.200s", v.wanted, strings.Join(list, ", "))
		}
		p.holds("input", v.wanted, v)
	}
	for _, o := range p.outputs {
		p.holds("output", o.name, o.value)
	}
	return p.err
}

// reads lists the values that results need.
func (p *program) reads() map[*value]bool {
	read := make(map[*value]bool)
	for _, o := range p.outputs {
		read[o.value] = true
	}
	for _, n := range slices.Backward(p.nodes) {
		if read[n.out] || n.also != nil && read[n.also] {
			for _, v := range n.in {
				read[v] = true
			}
		}
	}
	return read
}

// holds refuses an input or an output of a dtype that the target does not move.
func (p *program) holds(kind, name string, v *value) {
	if !p.target.takes(opReshape, v.spec.DType) {
		p.fail(garner.ErrDType, "the %s %.200q is %s, which %s does not take", kind, name, v.spec, p.target.runtime)
	}
}

// exact notes what OpenVINO computes in 32 bits.
func (p *program) exact(n *node) {
	for i, v := range append(n.in[:len(n.in):len(n.in)], n.out) {
		switch v.spec.DType {
		case garner.F64:
			p.lossy("OpenVINO computes f64 as f32")
		case garner.I64, garner.U64:
			bound := n.op == opSlice && i > 0 && i < len(n.in)
			if bound && v.fed() {
				p.lossy("OpenVINO cuts an input of 64-bit integers to i32, and a start, an end or a step beyond that becomes another one, as the greatest i64 becomes -1")
			}
			if bound || !v.held() {
				continue // constant bounds outside are clamped, and mean the same
			}
			wide, err := v.wide.by(v.beyond32)
			if err != nil && p.err == nil {
				p.err = err
			}
			if wide {
				p.lossy("OpenVINO computes 64-bit integers as i32, and its constant %s has one that i32 does not hold", v.label())
			}
		}
	}
}

// fed reports whether elements of an input of the model with 64-bit integers come to a value as they are.
func (v *value) fed() bool {
	return v.finds(func(v *value) (bool, []*value) {
		if v.from == nil {
			return !v.held() && v.spec.DType.Bits() == 64, nil
		}
		switch v.from.op {
		case opConcat:
			return false, v.from.in
		case opCast, opGather, opGatherND, opGatherElements, opSlice, opReshape, opSqueeze, opUnsqueeze, opTranspose, opExpand, opTile, opIdentity:
			return false, v.from.in[:1]
		}
		return false, nil
	})
}

// beyond32 reports whether a constant of 64-bit integers has one that i32 does not hold.
func (v *value) beyond32() (bool, error) {
	found := false
	unsigned := v.spec.DType == garner.U64
	err := v.each(context.Background(), func(_ int64, b []byte) error {
		for ; len(b) >= 8 && !found; b = b[8:] {
			n := int64(le64(b))
			found = n < math.MinInt32 || n > math.MaxInt32 || unsigned && n < 0
		}
		return nil
	})
	return found, err
}

// Writes reports whether File takes the extension of a path.
func Writes(path string) bool {
	_, err := targetOf(path)
	return err == nil
}
