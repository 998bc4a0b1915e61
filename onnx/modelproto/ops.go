package modelproto

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/model"
)

// operator is an operator's name in its domain.
type operator struct{ domain, name string }

// A gather is an operator under garner's name, from an opset of its domain on.
type gather struct {
	since int
	name  string
}

// gathers are those of ONNX, the newest version of each last.
var gathers = map[operator][]gather{
	{"", "Gather"}:                {{1, "onnx.Gather-1"}, {11, "onnx.Gather-11"}, {13, "onnx.Gather-13"}},
	{"", "GatherElements"}:        {{11, "onnx.GatherElements-11"}, {13, "onnx.GatherElements-13"}},
	{"", "GatherND"}:              {{11, "onnx.GatherND-11"}, {12, "onnx.GatherND-12"}, {13, "onnx.GatherND-13"}},
	{"com.microsoft", "GatherND"}: {{1, "com.microsoft.GatherND-1"}},
}

// version finds which version of its operator a node means.
func (s *scope) version(n *model.Node) error {
	versions := gathers[operator{n.Domain, n.Op}]
	opset, ok := s.opsets[n.Domain]
	if !ok {
		if versions == nil && n.Domain != "" {
			return nil // an operator that garner does not know anyway
		}
		return fmt.Errorf("the model imports no opset of its domain %q; add it to opset_import", n.Domain)
	}
	n.Version = opset
	if versions == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(versions, opset+1, func(g gather, opset int) int { return g.since - opset })
	if i == 0 {
		name, _, _ := strings.Cut(versions[0].name, "-")
		return fmt.Errorf("%s is there since opset %d, and the model imports opset %d; convert the model to a newer opset", name, versions[0].since, opset)
	}
	n.Operator = versions[i-1].name
	return nil
}
