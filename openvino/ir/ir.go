// Package ir reads OpenVINO's IR: an .xml file with a model's layers and edges,
// and the .bin file beside it with its constants.
//
//	m, err := ir.Open("model.xml", ir.Options{})
//	defer m.Close()
//	for n := range m.Gathers() {
//		fmt.Println(n.Name, n.Operator, n.Outputs[0])
//	}
//
// It reads versions 10 and 11, and takes a text as OpenVINO 2026.4 does:
//
//   - A layer's opset says which operator it is: Gather of opset1 to 6 is
//     Gather-1, that of opset7 is Gather-7, and from opset8 on it is Gather-8;
//     GatherND of opset5 to 7 is GatherND-5, and from opset8 on GatherND-8.
//   - The type and the dims of a gather's result are inferred from its inputs. A
//     port's dims only fill in what that leaves unknown. A port without dims is a
//     scalar. An input port and an output port may have the same id.
//   - Attributes that an operator does not have are ignored.
//   - The inputs of a layer that no result needs are not checked, and may be
//     missing.
//
// It refuses what OpenVINO ignores: DOCTYPEs, text after </net>, two layers or
// ports with one id, edges to missing layers, and cycles among layers that no
// result needs. It accepts what OpenVINO refuses where the meaning is clear: a
// layer without a name, a port without a precision, and <net> without a version.
//
// A node's Version is its opset. A version that is no opset is the node's Domain.
// The attributes of the operators around gathers are parsed as numbers, bools and
// lists; all other attributes of other nodes are text. The bodies of
// TensorIterator, Loop and If are the node's graphs: body, or then_body and
// else_body. A parameter of a body that is an unchanged input of the node has that
// input's type and constant.
package ir

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// Options say how the .xml is read.
type Options struct {
	// Lenient accepts text that OpenVINO refuses and that has one sensible meaning,
	// as in the examples of its documentation: attribute values without quotes,
	// "..." for omitted attributes, numbers with a plus sign, and layers without a
	// version, which get the first opset that has them.
	Lenient bool

	// Alone reads a model without its .bin: a constant is a value of known type, like an
	// input, and its elements are not known.
	Alone bool

	// Weights is the path of the .bin for Open, where it is not the file of the same name in
	// the same folder.
	Weights string
}

// Open reads a model and infers the results of its gathers. Its constants are in
// the .bin file of the same name in the same folder, or in Options.Weights. Open maps that file, and does
// not look for it where the model has no constant. The caller closes the model.
//
// The .xml may have up to 256 MiB. Open takes memory in proportion to its layers and
// edges. Errors in it are *model.Error with line, column and layer.
func Open(path string, o Options) (*model.Model, error) {
	file, _, err := mapped.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	bin := strings.TrimSuffix(path, filepath.Ext(path)) + ".bin"
	if o.Weights != "" {
		bin = o.Weights
	}
	return read(path, file, &weights{path: bin, alone: o.Alone}, o)
}

// Read is Open for a model in memory: the text of the .xml and the bytes of the
// .bin, which the model keeps. Messages use name as the path.
func Read(name string, xml io.Reader, bin []byte, o Options) (*model.Model, error) {
	return read(name, xml, &weights{bytes: bin, alone: o.Alone}, o)
}

func read(path string, xml io.Reader, w *weights, o Options) (*model.Model, error) {
	p := &parser{path: path, lenient: o.Lenient, most: usual}
	n, err := p.parse(xml)
	if err != nil {
		return nil, err
	}
	m := &model.Model{Path: path, Format: "OpenVINO IR", Producer: n.producer}
	m.OnClose(w.close)
	if w.path != "" {
		m.Files = []string{path, w.path}
	}
	b := &builder{parser: p, weights: w}
	if m.Graph, _, err = b.graph(n, false, nil); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}
