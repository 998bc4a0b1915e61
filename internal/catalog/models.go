// Package catalog is the list of file formats for arrays and that for models.
package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
)

// A ModelFormat is a format of model files.
type ModelFormat struct {
	Name      string // "ONNX"
	Extension string // ".onnx"

	open func(path string, o ModelOptions) (*model.Model, error)
}

// ModelOptions say how a model is read.
type ModelOptions struct {
	Lenient bool // give a text that its format refuses its one sensible meaning, where it has one
}

// modelFormats has every format of models.
var modelFormats = []ModelFormat{
	{"ONNX", ".onnx", func(path string, _ ModelOptions) (*model.Model, error) { return modelproto.Open(path) }},
	{"OpenVINO IR", ".xml", func(path string, o ModelOptions) (*model.Model, error) {
		return ir.Open(path, ir.Options{Lenient: o.Lenient})
	}},
}

// ModelFormats lists every format of model files.
func ModelFormats() []ModelFormat { return slices.Clone(modelFormats) }

// OpenModel opens a model file, of the format that its extension says. The
// readers infer the results of its gathers.
func OpenModel(path string, o ModelOptions) (*model.Model, error) {
	extension := strings.ToLower(filepath.Ext(path))
	i := slices.IndexFunc(modelFormats, func(f ModelFormat) bool { return f.Extension == extension })
	if i < 0 {
		known := make([]string, len(modelFormats))
		for i, f := range modelFormats {
			known[i] = f.Extension + " (" + f.Name + ")"
		}
		return nil, garner.Errorf(nil, "%s is no model file by its extension; there are %s", path, strings.Join(known, ", "))
	}
	return modelFormats[i].open(path, o)
}
