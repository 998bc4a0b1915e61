package corpus

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/openvino/ir"
	"github.com/garner-go/garner/operators"
)

// errFormat is the class of a model whose text is refused for its syntax,
// whatever its shapes.
var errFormat = errors.New("model-format")

// irModel is a case in OpenVINO IR: a model of one gather whose parameters are
// the inputs of the case.
type irModel struct{ text, weights string }

func parseIR(fields map[string]json.RawMessage) (*irModel, error) {
	raw, ok := fields["ir"]
	if !ok {
		if fields["weights"] != nil {
			return nil, errors.New("it has weights and no ir")
		}
		return nil, nil
	}
	m := &irModel{}
	if err := json.Unmarshal(raw, &m.text); err != nil {
		return nil, fmt.Errorf("ir: %w", err)
	}
	if raw, ok := fields["weights"]; ok {
		var digits string
		if err := json.Unmarshal(raw, &digits); err != nil {
			return nil, fmt.Errorf("weights: %w", err)
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, fmt.Errorf("weights: %w", err)
		}
		m.weights = string(b)
	}
	return m, nil
}

// read reads the model and returns its gather. An error has the class that the
// reader gave it, or errFormat.
func (m *irModel) read(o ir.Options) (*model.Node, error) {
	read, err := ir.Read("model.xml", strings.NewReader(m.text), []byte(m.weights), o)
	if err != nil {
		for _, class := range []error{garner.ErrDType, garner.ErrAttribute, garner.ErrShape, garner.ErrIndex} {
			if errors.Is(err, class) {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	gathers := slices.Collect(read.Gathers())
	if len(gathers) != 1 || len(gathers[0].Outputs) != 1 {
		return nil, fmt.Errorf("the model has %d gathers; want one", len(gathers))
	}
	return gathers[0], nil
}

// answersIR asks garner by the model, which must agree with the case. A text
// that the strict reader refuses may have a meaning for the lenient one, which
// must then agree with the case.
func (c *Case) answersIR() ([]answer, error) {
	node, err := c.ir.read(ir.Options{})
	if err != nil {
		answers := []answer{{way: "the model", err: err}}
		if node, err := c.ir.read(ir.Options{Lenient: true}); err == nil {
			if err := c.means(node); err != nil {
				answers = append(answers, answer{way: "the model, lenient", err: err})
			}
		}
		return answers, nil
	}
	if err := c.means(node); err != nil {
		return []answer{{way: "the model", err: err}}, nil
	}
	plain := *c
	plain.ir, plain.Op, plain.opset, plain.attributes = nil, node.Operator, 0, node.Attributes
	plain.inputs = slices.Clone(c.inputs)
	for i, in := range node.Inputs {
		plain.inputs[i].spec = in.Spec
		if in.Constant != nil {
			plain.inputs[i].value = in.Constant.Tensor
		}
	}
	answers, err := plain.answers()
	if err == nil && c.want.class == nil {
		answers = append(answers, answer{way: "the model's output", spec: node.Outputs[0].Spec, loose: true})
	}
	return answers, err
}

// means holds the meaning of a model against its case.
func (c *Case) means(node *model.Node) error {
	operator, err := operators.Find(c.Op, c.opset)
	if err != nil {
		return err
	}
	if node.Operator != operator.Name {
		return fmt.Errorf("the model's %s is read as %s; want %s", node.Name, node.Operator, operator.Name)
	}
	for name, want := range c.attributes {
		got, ok := node.Attributes[name]
		if !ok && want != nil {
			got = int64(0)
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s=%v is read; want %v", name, got, want)
		}
	}
	if len(node.Inputs) != len(c.inputs) {
		return fmt.Errorf("the model's %s has %d inputs; want %d", node.Name, len(node.Inputs), len(c.inputs))
	}
	for i, in := range c.inputs {
		if got := node.Inputs[i].Spec; got.String() != in.spec.String() {
			return fmt.Errorf("input %d is read as %s; want %s", i, got, in.spec)
		}
	}
	return nil
}
