package operators

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// OfNode is the operator of a node that is a gather, and what it is with the
// node's attributes and with its inputs beyond data and indices, as far as the
// model says what they are. Errors, apart from a constant that cannot be read,
// are Bind's; all of them name the node.
func OfNode(n *model.Node) (Operator, garner.Op, error) {
	fail := func(err error) (Operator, garner.Op, error) { return Operator{}, nil, model.AtNode(n, err) }
	operator, err := Find(n.Operator, 0)
	if err != nil {
		return fail(err)
	}
	if len(n.Inputs) < 2 || slices.Contains(n.Inputs, nil) {
		return fail(garner.Errorf(garner.ErrAttribute, "%s needs data and indices, and the node lacks one of its inputs", operator.Name))
	}
	var op garner.Op
	// An input may be of a mapped file.
	err = mapped.Guard(func() error {
		inputs := make([]Input, len(n.Inputs)-2)
		for i, v := range n.Inputs[2:] {
			inputs[i].Spec = v.Spec
			if v.Constant == nil || i >= len(operator.Inputs()) {
				continue
			}
			// Numbers, and never many: what is larger is refused by its shape.
			if size, ok := v.Constant.Bytes(); !ok || size > 16*garner.MaxRank {
				continue
			}
			t, err := v.Constant.Tensor()
			if err != nil {
				return err
			}
			inputs[i].Value = t
		}
		var err error
		op, err = operator.Bind(n.Attributes, inputs...)
		return err
	})
	if err != nil {
		return fail(err)
	}
	return operator, op, nil
}

// InferModel finds what the results of a model's gathers are, of what is known
// of their operands. It holds more than what a file says of them, which may be
// old. Where a gather's own rules refuse its operands, what the file says stays.
func InferModel(m *model.Model) {
	for n := range m.Gathers() {
		_, op, err := OfNode(n)
		if err != nil || len(n.Outputs) == 0 || n.Outputs[0] == nil {
			continue
		}
		data, indices := n.Inputs[0].Spec, n.Inputs[1].Spec
		dtype := data.DType
		// A dtype that is not known must not look like one that is refused.
		if dtype == garner.Invalid {
			data.DType = garner.U8
		}
		if indices.DType == garner.Invalid {
			indices.DType = garner.I64
		}
		spec, err := garner.Infer(op, data, indices)
		if err != nil {
			continue
		}
		spec.DType = dtype
		narrow(n.Outputs[0], spec)
	}
}

// narrow gives a value the inferred type, and keeps what the file says of dims
// that inference leaves open.
func narrow(v *model.Value, inferred garner.Spec) {
	said := v.Spec
	if inferred.DType == garner.Invalid {
		inferred.DType = said.DType
	}
	if !inferred.Rank.Known() {
		if said.Rank.Known() && inferred.Rank.Min <= said.Rank.Min && said.Rank.Min <= inferred.Rank.Max {
			inferred.Rank, inferred.Dims = said.Rank, said.Dims
		}
	} else if said.Rank == inferred.Rank {
		dims := slices.Clone(inferred.Dims)
		for i, d := range said.Dims {
			low, high := max(d.Min, dims[i].Min), min(d.Max, dims[i].Max)
			if low <= high {
				dims[i] = garner.Dim{Min: low, Max: high}
			}
		}
		inferred.Dims = dims
	}
	if said.Rank != inferred.Rank {
		v.DimNames = nil
	}
	v.Spec = inferred
}
