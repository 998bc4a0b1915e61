package run

import (
	"errors"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// OpenVINO's CPU plugin joins a Gather and the arithmetic with constants of one element behind it, also
// where nodes between them move the elements. What is joined leaves the zeros of indices outside as they
// are: 1 + Gather(x, i) is 0 there and not 1.

// LeavesZeros returns the Gather of OpenVINO whose zeros, those of indices outside, a node makes another
// number of by its definition, and OpenVINO may leave as they are; nil where there is none.
func LeavesZeros(n *model.Node) *model.Node {
	v, keeps := joined(n)
	if keeps {
		return nil
	}
	for range 64 {
		if v == nil || v.From == nil {
			return nil
		}
		if slices.Contains([]string{"openvino.Gather-1", "openvino.Gather-7", "openvino.Gather-8"}, v.From.Operator) {
			return v.From
		}
		v, _ = joined(v.From)
	}
	return nil
}

// joined returns the input of a node that OpenVINO may join to what computes it, nil where it
// joins none, and whether the node makes 0 of 0.
func joined(n *model.Node) (from *model.Value, keeps bool) {
	if n.Domain != "" || len(n.Inputs) == 0 || n.Inputs[0] == nil {
		return nil, false
	}
	x := n.Inputs[0]
	switch n.Op {
	case "Convert", "ConvertLike", "Floor", "Ceiling", "Abs", "Sign":
		return x, true
	case "Negative":
		return x, x.Spec.DType.IsInteger()
	case "Clamp":
		low, err := parseNumber("min", text(n.Attributes["min"]))
		high, failed := parseNumber("max", text(n.Attributes["max"]))
		return x, err == nil && failed == nil && low <= 0 && high >= 0
	case "Add", "Subtract", "Multiply", "Divide", "Mod", "FloorMod", "Minimum", "Maximum":
	default:
		if slices.Contains(movers, n.Op) {
			return x, true
		}
		return nil, false
	}
	if len(n.Inputs) != 2 || n.Inputs[1] == nil {
		return nil, false
	}
	c, first := single(n.Inputs[1]), false
	if c == nil {
		if x, c, first = n.Inputs[1], single(x), true; c == nil {
			return nil, false
		}
	}
	switch v := *c; n.Op {
	case "Add", "Subtract":
		return x, v == 0
	case "Multiply":
		return x, !math.Signbit(v) && v < math.Inf(1)
	case "Minimum":
		return x, v >= 0
	case "Maximum":
		return x, v <= 0
	default:
		return x, !first && v > 0
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// single returns a constant of one element; NaN where nodes compute it of constants, and nil of any
// other value.
func single(v *model.Value) *float64 {
	for v.From != nil && v.From.Op == "Convert" && len(v.From.Inputs) == 1 && v.From.Inputs[0] != nil {
		v = v.From.Inputs[0]
	}
	shape, known := v.Spec.Shape()
	if n, ok := shape.Len(); known && (!ok || n != 1) || v.Constant == nil && !foldable(v) {
		return nil
	}
	made := math.NaN()
	if v.Constant == nil {
		return &made
	}
	err := mapped.Guard(func() error {
		t, err := v.Constant.Tensor()
		if err != nil {
			return err
		}
		list := make([]float64, 1)
		if err := (*runner)(nil).numbers(t, list); err != nil {
			return err
		}
		made = list[0]
		return nil
	})
	if err != nil {
		made = math.NaN()
	}
	return &made
}

// checkZeros refuses an index outside whose zeros OpenVINO may leave as they are where a node
// that is run makes another number of them.
func (r *runner) checkZeros(n *model.Node, g *gathering, look func(*garner.Plan) error) error {
	if r.model.Format != irFormat {
		return nil
	}
	if r.changers == nil {
		r.changers = make(map[*model.Node]*model.Node)
		for reader := range r.nodes {
			if of := LeavesZeros(reader); of != nil {
				r.changers[of] = reader
			}
		}
	}
	reader := r.changers[n]
	if reader == nil {
		return nil
	}
	if !g.known {
		r.mayRefuse()
		return nil
	}
	strict := *g
	strict.op = garner.WithOutside(g.op, garner.Error)
	prepared, err := strict.prepare()
	if err != nil {
		return err
	}
	err = look(prepared.Plan())
	var bad *garner.IndexError
	if errors.As(err, &bad) {
		return garner.Errorf(garner.ErrDType, "an index is outside, and OpenVINO may leave the zeros of that as they are in %s %.200q; give indices inside", reader.Op, reader.Name)
	}
	return err
}
