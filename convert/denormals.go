package convert

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// denormals notes the constants with denormals that one of the two runtimes takes for 0.
func (p *program) denormals(ctx context.Context) error {
	if err := p.loaded(ctx); err != nil || p.options.runtime != tensorFlow {
		return err
	}
	return p.flushed(ctx)
}

// loaded notes the constants that OpenVINO reads otherwise than other runtimes do: where it loads a model, its CPU plugin
// takes denormal f32 for 0. Those of inputs, of f16 and of bf16 stay as they are, and so does the value of a Pad.
func (p *program) loaded(ctx context.Context) error {
	if (p.target == irTarget) == (p.options.runtime == openVINO) {
		return nil
	}
	look := func(v *value, at *model.Node) {
		if p.err != nil || !v.held() || v.spec.DType != garner.F32 {
			return
		}
		if p.denormal(ctx, v) {
			p.at = at
			p.lossy("OpenVINO takes a denormal f32 of a constant for 0, and its constant %s has one", v.label())
		}
	}
	for _, n := range p.nodes {
		in := n.in
		switch {
		case n.op == opShape, n.op == opCast && !n.out.spec.DType.IsFloat(): // a denormal becomes true there too, or 0
			continue
		case n.op == opPad:
			in = in[:1]
		}
		for _, v := range in {
			if look(v, n.origin); p.err != nil {
				return model.AtNode(n.origin, p.err)
			}
		}
	}
	for _, o := range p.outputs {
		look(o.value, nil)
	}
	return p.err
}

// flushed notes the constants whose denormals TensorFlow computes with: it takes those for 0, and gives those that it moves
// as they are, also through a negative and an absolute value.
func (p *program) flushed(ctx context.Context) error {
	asked := make(map[*value]bool) // whose elements a node computes with: other constants, such as large tables, are not read
	for _, n := range slices.Backward(p.nodes) {
		for _, v := range n.in {
			if computes, passes := n.flushes(v.spec.DType); computes || passes && asked[n.out] {
				asked[v] = true
			}
		}
	}
	of := make(map[*value]*value) // what has elements of a constant with a denormal one, and that constant
	for _, n := range p.nodes {
		for _, v := range n.in {
			constant := of[v]
			if d := v.spec.DType; asked[v] && v.held() && (d == garner.F32 || d == garner.F64 || d == garner.BF16) && p.denormal(ctx, v) {
				constant = v
			}
			if p.err != nil {
				return model.AtNode(n.origin, p.err)
			}
			switch computes, passes := n.flushes(v.spec.DType); {
			case constant == nil:
			case passes:
				of[n.out] = constant
			case computes && (p.target != irTarget || constant.spec.DType != garner.F32): // which loaded looks at
				p.at = n.origin
				p.lossy("TensorFlow takes a denormal number for 0 where it computes with it, and its constant %s has one", constant.label())
			}
			if p.err != nil {
				return model.AtNode(n.origin, p.err)
			}
		}
	}
	return nil
}

// flushes reports whether TensorFlow computes with elements of a dtype at a node, or passes them on. Where it does neither,
// no denormal comes out of the node.
func (n *node) flushes(from garner.DType) (computes, passes bool) {
	switch n.op {
	case opShape:
		return false, false
	case opNeg, opAbs, opSelect, opPad, opScatter:
		return false, true
	case opCast:
		switch to := n.out.spec.DType; {
		case from == garner.BF16 && to == garner.F32:
			return false, true
		case to == garner.Bool, from != garner.F64 && (to == garner.F64 || to == garner.BF16):
			return true, false
		}
		return false, false
	}
	return !n.op.moves(), n.op.moves()
}

// denormal is hasDenormal, asked once.
func (p *program) denormal(ctx context.Context, v *value) bool {
	found, err := v.denormal.by(func() (bool, error) { return v.hasDenormal(ctx) })
	if err != nil {
		p.err = err
	}
	return found
}

// hasDenormal reports whether a constant of f32, f64 or bf16 has a denormal one. Of f32 it looks at two at a time.
func (v *value) hasDenormal(ctx context.Context) (bool, error) {
	// Without its sign and less 1, a denormal is below all others; a 0 is the greatest then.
	less1 := func(bits uint32) uint32 { return bits<<1 - 1 }
	const normal = 1<<24 - 1
	found := errors.New("found")
	dtype := v.spec.DType
	err := v.each(ctx, func(_ int64, b []byte) error {
		for size := dtype.Bits() / 8; dtype != garner.F32 && len(b) >= size; b = b[size:] {
			if dtype == garner.F64 && le64(b)<<1-1 < 1<<53-1 || dtype == garner.BF16 && less1(uint32(binary.LittleEndian.Uint16(b))<<16) < normal {
				return found
			}
		}
		for ; len(b) >= 8; b = b[8:] {
			if two := le64(b); min(less1(uint32(two)), less1(uint32(two>>32))) < normal {
				return found
			}
		}
		if len(b) == 4 && less1(binary.LittleEndian.Uint32(b)) < normal {
			return found
		}
		return nil
	})
	if err == found {
		return true, nil
	}
	return false, err
}
