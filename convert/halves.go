package convert

import (
	"github.com/garner-go/garner"
)

// ONNX Runtime and OpenVINO compute f16 as f32, and round a result where the graph gives it out;
// where another node computes with it, each keeps f32 or rounds as it likes. So one step of
// arithmetic is equal in both, and two are not.

// rounds is for an operator that computes with values. It refuses bf16, which ONNX Runtime does not
// compute with, and notes f16 that may not have been rounded before.
func (p *program) rounds(name string, in ...*value) {
	for _, v := range in {
		switch {
		case v.spec.DType == garner.BF16:
			p.fail(garner.ErrDType, "%s of bf16 is not converted: ONNX Runtime has none, and OpenVINO rounds in a way of its own; cast to f32 around it", name)
		case v.spec.DType == garner.F16 && p.options.runtime != p.target.runtime && v.wide16():
			p.lossy("%s computes with f16 that a node before computed, and runtimes round between the two or do not; cast to f32 before both", name)
		}
	}
}

// wide16 reports whether f16 comes from a node that rounds, also behind nodes that move elements.
func (v *value) wide16() bool {
	return v.finds(func(v *value) (bool, []*value) {
		if v.from == nil || v.spec.DType != garner.F16 {
			return false, nil
		}
		switch v.from.op {
		case opAdd, opSub, opMul, opDiv, opBlocks:
			return true, nil
		case opCast:
			if d := v.from.in[0].spec.DType; d.IsFloat() || d.Bits() > 8 {
				return true, nil // integers of 8 bits are f16 as they are
			}
		}
		return false, v.from.in
	})
}
