package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
	"github.com/garner-go/garner/stablehlo/text"
	"github.com/garner-go/garner/tensorflow/graphdef"
	"github.com/garner-go/garner/tflite/flatbuffer"
)

// A ModelFormat is a kind of model files.
type ModelFormat struct {
	Name      string // "ONNX"
	Extension string // ".onnx"
	Folder    string // name of the file that makes the folder around it such a model; "" where none does

	open func(path string, o ModelOptions) (*model.Model, error)
}

// ModelOptions say how to read a model.
type ModelOptions struct {
	Lenient   bool   // accept a text that the format refuses, where it has one sensible meaning
	Signature string // the signature of a TensorFlow or TFLite model, see graphdef.Options and flatbuffer.Options; "" is the format's own choice

	constants bool // whoever asks needs the constants alone
}

var modelFormats = []ModelFormat{
	{"ONNX", ".onnx", "", func(path string, _ ModelOptions) (*model.Model, error) { return modelproto.Open(path) }},
	{"OpenVINO IR", ".xml", "", func(path string, o ModelOptions) (*model.Model, error) {
		return ir.Open(path, ir.Options{Lenient: o.Lenient})
	}},
	{"TFLite", ".tflite", "", func(path string, o ModelOptions) (*model.Model, error) {
		return flatbuffer.Open(path, flatbuffer.Options{Signature: o.Signature})
	}},
	{text.Format, ".mlir", "", func(path string, _ ModelOptions) (*model.Model, error) { return text.Open(path) }},
	{graphdef.Format, ".pb", graphdef.SavedModel, openTensorFlow},
	{graphdef.Format, ".meta", "", openTensorFlow},
	{graphdef.Format, ".index", "", openTensorFlow},
}

func openTensorFlow(path string, o ModelOptions) (*model.Model, error) {
	return graphdef.Open(path, graphdef.Options{Signature: o.Signature, Constants: o.constants})
}

// isModel reports whether the files of a format are those of models.
func (f Format) isModel() bool {
	return slices.ContainsFunc(modelFormats, func(m ModelFormat) bool { return slices.Contains(f.Extensions, m.Extension) })
}

// ModelFormats lists every format of model files.
func ModelFormats() []ModelFormat { return slices.Clone(modelFormats) }

// ModelFormatOf finds the format of a model: of a file by its extension, of a folder by the
// file in it, and of the prefix of a checkpoint by the graph beside its index, .meta, or
// else by its index. What is no model by these is a garner.ErrAttribute, also an
// ErrForeign where the message says more than which formats there are; what is not there is an fs.ErrNotExist.
func ModelFormatOf(path string) (ModelFormat, error) {
	if f, ok := modelFolder(path); ok {
		return f, nil
	}
	extension := strings.ToLower(filepath.Ext(path))
	if index, ok := checkpointOf(path); ok {
		extension = filepath.Ext(checkpointModel(index))
	}
	i := slices.IndexFunc(modelFormats, func(f ModelFormat) bool { return f.Extension == extension })
	if i < 0 {
		return ModelFormat{}, noModel(path)
	}
	return modelFormats[i], nil
}

// noModel is the error of what is of no format of models: it names the file or the folder that is not there, what the folder
// holds, the array that a name is of, or what to save instead.
func noModel(path string) error {
	info, err := os.Stat(path)
	before, name, named := strings.Cut(path, "#")
	switch {
	case err != nil && named && exists(before):
		return foreignError{garner.Errorf(garner.ErrAttribute, "%s names %s of %s, and a model is named whole: leave out #%s", path, name, before, name)}
	case errors.Is(err, fs.ErrNotExist):
		return garner.Errorf(fs.ErrNotExist, "there is no file %s; check the name and the folder", path)
	case err == nil && info.IsDir():
		return noModelFolder(path)
	case err == nil && info.Mode().IsRegular():
		head := headOf(path)
		for _, f := range foreign {
			if f.model != "" && f.is(head) {
				return foreignError{garner.Errorf(garner.ErrAttribute, "%s is of %s, which garner does not read; %s", path, f.name, f.model)}
			}
		}
	}
	var known []string
	for _, f := range modelFormats {
		known = append(known, f.Extension+" ("+f.Name+")")
		if f.Folder != "" {
			known = append(known, "a folder with "+f.Folder)
		}
	}
	return garner.Errorf(garner.ErrAttribute, "%s is no model file by its extension; there are %s", path, strings.Join(known, ", "))
}

// noModelFolder is the error of a folder that is no model: it names the first model in it.
func noModelFolder(path string) error {
	entries := entriesOf(path)
	for _, f := range modelFormats {
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(lowerASCII(e.Name()), f.Extension) {
				return foreignError{garner.Errorf(garner.ErrAttribute, "%s is a folder, which is no model itself%s; it holds %s: name %s", path, stateFault(path), e.Name(), filepath.Join(path, e.Name()))}
			}
		}
	}
	return foreignError{garner.Errorf(garner.ErrAttribute, "%s is a folder without %s, by which a folder is a model, and holds no file of one", path, graphdef.SavedModel)}
}

// modelFolder finds the format of a folder.
func modelFolder(path string) (ModelFormat, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return ModelFormat{}, false
	}
	i := slices.IndexFunc(modelFormats, func(f ModelFormat) bool { return f.Folder != "" && exists(filepath.Join(path, f.Folder)) })
	if i < 0 {
		return ModelFormat{}, false
	}
	return modelFormats[i], true
}

// OpenModel opens a model, a file or a folder: see ModelFormatOf. The readers
// infer the results of its gathers. Constants are mapped, not read: a model larger
// than memory opens at once. The caller closes the model. Errors of its path are those of
// ModelFormatOf; an option that the format has no use for is a garner.ErrAttribute;
// other errors are those of the format's reader.
func OpenModel(path string, o ModelOptions) (*model.Model, error) {
	if err := NoURL(path); err != nil {
		return nil, err
	}
	return openModel(path, o)
}

// openModel is OpenModel for a path that is known to be no URL.
func openModel(path string, o ModelOptions) (*model.Model, error) {
	f, err := ModelFormatOf(path)
	if err != nil {
		return nil, err
	}
	if o.Signature != "" && f.Name != graphdef.Format && f.Extension != ".tflite" {
		return nil, garner.Errorf(garner.ErrAttribute, "%s is of format %s, whose models have one graph; Options.Signature is for those of %s and TFLite: leave it out", path, f.Name, graphdef.Format)
	}
	if index, ok := checkpointOf(path); ok && f.Name == graphdef.Format && f.Extension != ".pb" {
		if path = index; !o.constants {
			path = checkpointModel(index)
		}
	}
	return f.open(path, o)
}

// Table gives a value of the model that follows from constants, such as the data of a
// gather: it applies the operators between them and the value, such as the Convert of a
// table that is stored in f16. A constant itself is a view of the model's files, valid
// until the model is closed; Constant.Open reads one that is larger than memory.
//
// memory is how many bytes the tensors that Table makes may take together; one for
// which it does not suffice is a garner.ErrShape. A value that depends on an input of
// the model is an error, and so is an operator that "garner run" does not run. Errors
// are *model.Error.
func Table(ctx context.Context, m *model.Model, v *model.Value, memory int64) (garner.Tensor, error) {
	made, err := run.Values(ctx, m, []*model.Value{v}, nil, float64(memory))
	if err != nil {
		return garner.Tensor{}, err
	}
	return made[0], nil
}
