// Package ir reads OpenVINO's IR: an .xml file with the layers of a model and
// the edges between them, and a .bin file beside it with its constants.
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
//   - What a port says of the dims and the type of an output is not believed
//     where they follow from the inputs. A port without dims is a scalar. An
//     input and an output port may have the same id.
//   - Attributes that an operator does not have are passed over.
//   - A layer that no result needs is not held against its inputs' types and
//     shapes, and its inputs may come from nowhere.
//
// It is stricter in what OpenVINO reads over: DOCTYPEs, text after </net>, two
// layers or ports with one id, edges to nowhere and cycles among layers that no
// result needs. And it is milder where nothing can be mistaken: a layer needs no
// name, a port no precision, and <net> no version.
//
// Nodes come with their opset as Version, and a version that is no opset as
// Domain. Of the attributes of what is no gather, those that the operators
// around gathers have are read as numbers, bools and lists; all others are text.
// The bodies of TensorIterator, Loop and If are the node's graphs: body, or
// then_body and else_body. A parameter of a body that is an input of the node as
// it is has that input's type, and its constant.
package ir

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// Options say how a text is read.
type Options struct {
	// Lenient takes what OpenVINO refuses where it can mean one thing only, as in
	// the examples of its documentation: attribute values without quotes, "..."
	// for attributes left out, numbers with a plus, and layers without a version,
	// which are those of the first opset that has them.
	Lenient bool
}

// Open reads a model. Its constants are in the .bin of the same name in the same
// folder, which is mapped, not read, and is not looked for where the model has no
// constant. The model must be closed.
//
// The .xml is read as it comes, up to 256 MiB of it; memory is taken in
// proportion to its layers and edges. What is wrong with it is a *model.Error
// with line, column and layer.
func Open(path string, o Options) (*model.Model, error) {
	file, _, err := mapped.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(path, file, &weights{path: strings.TrimSuffix(path, filepath.Ext(path)) + ".bin"}, o)
}

// Read is Open for a text and weights that are in memory, of which the model
// keeps the latter; name stands for the file in messages.
func Read(name string, xml io.Reader, bin []byte, o Options) (*model.Model, error) {
	return read(name, xml, &weights{bytes: bin}, o)
}

func read(path string, xml io.Reader, w *weights, o Options) (*model.Model, error) {
	p := &parser{path: path, lenient: o.Lenient, most: usual}
	n, err := p.parse(xml)
	if err != nil {
		return nil, err
	}
	m := &model.Model{Path: path, Format: "OpenVINO IR", Producer: n.producer}
	m.OnClose(w.close)
	b := &builder{p, w}
	if m.Graph, err = b.graph(n, false, nil); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}
