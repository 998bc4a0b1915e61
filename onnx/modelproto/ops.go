package modelproto

import (
	"fmt"

	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// gathers names a gather of an opset domain as package operators does, and lists
// its versions, oldest first; none for another operator.
func gathers(domain, op string) (name string, versions []operators.Operator) {
	switch domain {
	case "":
		name = "onnx." + op
	case "com.microsoft":
		name = domain + "." + op
	}
	return name, operators.Versions(name)
}

// version finds which version of its operator a node means.
func (s *scope) version(n *model.Node) error {
	name, versions := gathers(n.Domain, n.Op)
	opset, ok := s.opsets.of(n.Domain)
	if !ok {
		if len(versions) == 0 && n.Domain != "" {
			return nil // an operator that garner does not know anyway
		}
		return fmt.Errorf("the model imports no opset of its domain %q; add it to opset_import", n.Domain)
	}
	n.Version = opset
	for _, o := range versions {
		if o.Version() <= opset {
			n.Operator = o.Name
		}
	}
	if len(versions) > 0 && n.Operator == "" {
		return fmt.Errorf("%s is there since opset %d, and the model imports opset %d; convert the model to a newer opset", name, versions[0].Version(), opset)
	}
	return nil
}
