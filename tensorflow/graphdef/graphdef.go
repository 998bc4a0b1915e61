// Package graphdef reads TensorFlow's models and checkpoints: folders of SavedModel, graphs
// alone (.pb, GraphDef, such as frozen ones), graphs of TensorFlow 1 beside a checkpoint
// (.meta), and checkpoints alone (.index).
//
//	m, err := graphdef.Open("saved_model", graphdef.Options{})
//	defer m.Close()
//	for n := range m.Gathers() {
//		fmt.Println(n.Name, n.Operator, n.Inputs[0])
//	}
//
// The graph is that of one signature, with the functions that it calls in the place of their
// calls. The branches of If and Case, and the body and the condition of While, are the node's
// graphs. Of the loops of TensorFlow 1 the edge that closes the loop, from NextIteration to
// Merge, is left out.
//
// A variable is a constant whose elements stay in the checkpoint's files, by its key there:
// table/.ATTRIBUTES/VARIABLE_VALUE. Which variable an argument of a function is follows from
// the object that the file binds to it, as in TensorFlow, and never from a name: two variables
// may bear one. A node that reads a variable has it as its input, as if the resource were its
// elements. A variable that the signature itself changes is no constant of its nodes.
//
// A model is untrusted. The reader refuses a file that is truncated, that contradicts itself,
// or whose functions call each other in a circle, and names the node or the tensor. It opens
// the files of the checkpoint only, whose names follow from the model's.
//
// Spec: https://www.tensorflow.org/guide/saved_model
package graphdef

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

//go:generate ./generate.sh

// Format is the Format of the models.
const Format = "TensorFlow"

// SavedModel is the name of the file that makes the folder around it a SavedModel.
const SavedModel = "saved_model.pb"

// Options say what is read.
type Options struct {
	// Signature is the signature whose graph the model is, a function of the root object, such
	// as __call__ or encoder.embed, or a function by its own name. "" is serving_default, or
	// else the only signature, or the only function.
	Signature string

	// Constants reads a file of several signatures, none of which is asked for, too: the model
	// has its variables and the constants of all its functions then, FUNCTION/NODE, and no node.
	// A variable that the checkpoint lacks, or whose file is missing, is a constant whose every read is an
	// fs.ErrNotExist.
	Constants bool
}

// reader is one reading of a model.
type reader struct {
	path       string // "" for a graph in memory
	meta       bool   // the file is a MetaGraphDef, as a .meta file is
	saved      bool   // the file is that of a SavedModel's folder, which has the variables too
	constants  bool   // Options.Constants
	file       *mapped.File
	checkpoint *checkpoint // nil where there is none
	elements   []protofile.Elements
	ops        map[string]*tfpb.OpDef
	functions  map[string]*tfpb.FunctionDef
	objects    *objects          // nil in models of TensorFlow 1
	names      map[string]string // of variables, by their keys

	top       *model.Graph
	main      *scope
	restores  map[string]restored // of variables of the main graph, by the name of their nodes
	variables map[*model.Value]*variable
	byKey     map[string]*variable
	resolved  map[ref]*model.Value
	layouts   map[*tfpb.OpDef]*layout // of the outputs of operators
	pending   []*node
	loops     []*loop
	ifs       []*branches
	protofile.Budget
}

// Open reads a model and infers the types of its values, see shapes.Infer. path is
// a SavedModel's folder or the file in it, a .pb file with a GraphDef, a .meta file, or the
// .index file of a checkpoint, whose model has constants alone. Its files stay mapped until
// the caller closes the model. Errors are *model.Error; a signature that the file does not
// have is a garner.ErrAttribute, one that must be named a model.ErrSignature too, and a file that is missing, of the model or of its variables, an
// fs.ErrNotExist.
func Open(path string, o Options) (*model.Model, error) {
	named := path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, SavedModel)
	}
	r := &reader{path: named, constants: o.Constants, names: map[string]string{}}
	m := &model.Model{Path: named, Format: Format, Graph: &model.Graph{}}
	fail := func(err error) (*model.Model, error) {
		m.Close() // the files are read-only, so an error of closing them loses nothing
		return nil, model.InFile(path, err)
	}
	switch extension := strings.ToLower(filepath.Ext(path)); {
	case extension == ".index":
		if err := r.open(m, path[:len(path)-len(extension)]); err != nil {
			return fail(err)
		}
		if r.checkpoint == nil {
			return fail(garner.Errorf(fs.ErrNotExist, "there is no such file; check its name"))
		}
		r.top = m.Graph
		if r.checkpoint.index.Find(objectGraph) != nil {
			if _, err := r.savedObjects(); err != nil {
				return fail(err)
			}
		}
		if err := r.list(); err != nil {
			return fail(err)
		}
		return m, nil
	case filepath.Base(path) == SavedModel:
		r.saved = true
		if err := r.open(m, filepath.Join(filepath.Dir(path), "variables", "variables")); err != nil {
			return fail(err)
		}
	case extension == ".meta":
		r.meta = true
		if err := r.open(m, path[:len(path)-len(extension)]); err != nil {
			return fail(err)
		}
	}
	file, err := mapped.Open(path)
	if err != nil {
		m.Close()
		return nil, err
	}
	r.file = file
	m.OnClose(file.Close)
	m.Files = append([]string{path}, m.Files...)
	err = file.Read(0, file.Size(), func(b []byte) error { return r.read(b, m, o) })
	if err != nil {
		return fail(err)
	}
	shapes.Infer(m)
	return m, nil
}

// FromBytes reads a SavedModel's file, a MetaGraphDef (meta) or a GraphDef in memory, and
// infers the types of its values. The model views b, which must not change. Its variables
// are values of known type, like inputs, and no constants.
func FromBytes(b []byte, meta bool, o Options) (*model.Model, error) {
	r := &reader{meta: meta, names: map[string]string{}}
	m := &model.Model{Format: Format, Graph: &model.Graph{}}
	err := r.read(b, m, o)
	if err != nil {
		return nil, model.InFile("", err)
	}
	shapes.Infer(m)
	return m, nil
}

var tensorProto = (*tfpb.TensorProto)(nil).ProtoReflect().Descriptor()

// Fields of TensorProto that hold elements.
const (
	tensorContent protowire.Number = 4
	floatVal      protowire.Number = 5
	doubleVal     protowire.Number = 6
	intVal        protowire.Number = 7
	stringVal     protowire.Number = 8
	scomplexVal   protowire.Number = 9
	int64Val      protowire.Number = 10
	boolVal       protowire.Number = 11
	dcomplexVal   protowire.Number = 12
	halfVal       protowire.Number = 13
	uint32Val     protowire.Number = 16
	uint64Val     protowire.Number = 17
	float8Val     protowire.Number = 18
)

// schema is what is read of TensorFlow's messages, beside what reduce.py leaves out. A node
// of a real graph has some 30 messages.
var schema = protofile.Schema{
	Format:   "model of TensorFlow",
	Tensor:   tensorProto,
	Elements: []protowire.Number{tensorContent, floatVal, doubleVal, intVal, stringVal, scomplexVal, int64Val, boolVal, dcomplexVal, halfVal, uint32Val, uint64Val, float8Val},
	Raw:      tensorContent, Strings: stringVal,
	Messages: 4 << 20,
	Depth:    32,
	Deep:     "its messages stand in each other more than 32 deep, which those of TensorFlow do not; get the file again",
}

// outputShapes is the attribute with the shapes of a node's outputs, the only one of those
// that begin with _ that is read.
const outputShapes = "_output_shapes"

// visit drops the attributes that TensorFlow keeps for itself.
func visit(_ protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor, content []byte, _ int) (drop bool, err error) {
	if fd.Name() != "attr" || !fd.IsMap() {
		return false, nil
	}
	for len(content) > 0 {
		field, wire, _, key, rest, err := protofile.Split(content)
		if err != nil {
			return false, err
		}
		if field == 1 && wire == protowire.BytesType {
			return strings.HasPrefix(string(key), "_") && string(key) != outputShapes, nil
		}
		content = rest
	}
	return false, nil
}

// message reads a message into p; its tensors are those of r.elements.
func (r *reader) message(b []byte, p proto.Message) error {
	s := &protofile.Stripper{Schema: &schema, Visit: visit, Budget: r.Budget}
	if err := s.Strip(b, 0, p.ProtoReflect().Descriptor(), 0); err != nil {
		var at *protofile.Error
		if errors.As(err, &at) {
			return &model.Error{At: at.Path, Err: at.Err}
		}
		return err
	}
	r.elements, r.Budget = s.Found, s.Budget
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(s.Out, p); err != nil {
		return fmt.Errorf("it is no model of TensorFlow: %w", err)
	}
	return nil
}

// read reads the file of a model.
func (r *reader) read(b []byte, m *model.Model, o Options) error {
	if len(b) == 0 {
		return errors.New("the file is empty; get it again")
	}
	r.top = m.Graph
	meta := &tfpb.MetaGraphDef{}
	field, wire, _, _, _, err := protofile.Split(b)
	switch {
	case err == nil && field == 1 && wire == protowire.VarintType: // its schema's version
		var p tfpb.SavedModel
		if err := r.message(b, &p); err != nil {
			return err
		}
		if meta, err = serving(p.MetaGraphs); err != nil {
			return err
		}
	case r.meta:
		if err := r.message(b, meta); err != nil {
			return err
		}
	default:
		meta.GraphDef = &tfpb.GraphDef{}
		if err := r.message(b, meta.GraphDef); err != nil {
			return err
		}
	}
	if meta.GraphDef == nil || len(meta.GraphDef.Node) == 0 && len(meta.GraphDef.GetLibrary().GetFunction()) == 0 {
		return errors.New("it has no graph: it is no model of TensorFlow, or cut short; get it again")
	}
	if v := meta.GetMetaInfoDef().GetTensorflowVersion(); v != "" {
		m.Producer = "tensorflow " + v
	}
	r.ops = map[string]*tfpb.OpDef{}
	for _, op := range meta.GetMetaInfoDef().GetStrippedOpList().GetOp() {
		r.ops[op.Name] = op
	}
	r.functions = map[string]*tfpb.FunctionDef{}
	for i, f := range meta.GraphDef.GetLibrary().GetFunction() {
		name := f.GetSignature().GetName()
		if _, twice := r.functions[name]; twice || name == "" {
			return fmt.Errorf("library.function[%d]: function %.200q has no name, or one that another has; name it", i, name)
		}
		r.functions[name] = f
	}
	r.resolved, r.variables, r.byKey = map[ref]*model.Value{}, map[*model.Value]*variable{}, map[string]*variable{}
	r.layouts = map[*tfpb.OpDef]*layout{}
	if err := r.readObjects(meta.ObjectGraphDef); err != nil {
		return err
	}
	if err := r.list(); err != nil {
		return err
	}
	if r.constants {
		if err := r.listLost(); err != nil {
			return err
		}
	}
	return r.build(meta, o)
}

// serving picks the graph of a SavedModel that serves.
func serving(list []*tfpb.MetaGraphDef) (*tfpb.MetaGraphDef, error) {
	var tags []string
	for _, g := range list {
		if slices.Contains(g.GetMetaInfoDef().GetTags(), "serve") {
			return g, nil
		}
		tags = append(tags, "["+strings.Join(g.GetMetaInfoDef().GetTags(), ", ")+"]")
	}
	switch len(list) {
	case 0:
		return nil, errors.New("it has no graph: it is no SavedModel, or cut short; get it again")
	case 1:
		return list[0], nil
	}
	return nil, fmt.Errorf("it has %d graphs and none with the tag serve, by which one is chosen; their tags are %.500s", len(list), names.First(tags))
}

// errorf is an ErrAttribute: what was asked for is not there.
func errorf(format string, args ...any) error {
	return garner.Errorf(garner.ErrAttribute, format, args...)
}

// unnamed is an ErrAttribute and a model.ErrSignature.
func unnamed(format string, args ...any) error { return unnamedError{errorf(format, args...)} }

type unnamedError struct{ error }

func (unnamedError) Is(target error) bool { return target == model.ErrSignature }
func (e unnamedError) Unwrap() error      { return e.error }
