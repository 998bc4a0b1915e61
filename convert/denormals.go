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
	if !p.crosses(openVINO) {
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
// as they are, also through a negative and an absolute value. Of f64 those are 0 too that are denormal in f32, to which it is cast.
func (p *program) flushed(ctx context.Context) error {
	err := p.follow((*node).flushes, func(v *value) (bool, error) {
		d := v.spec.DType
		if d != garner.F32 && d != garner.F64 && d != garner.BF16 || d == garner.F32 && p.target == irTarget { // which loaded looks at
			return false, nil
		}
		return p.denormal(ctx, v), p.err
	}, "TensorFlow takes a denormal number for 0 where it computes with it, and its constant %s has one")
	if err != nil {
		return err
	}
	return p.follow((*node).shrinks, func(v *value) (bool, error) {
		if v.spec.DType != garner.F64 {
			return false, nil
		}
		return v.shrinks.by(func() (bool, error) {
			return v.has(ctx, func(b uint64) bool { return b<<1 != 0 && b<<1 < (1023-126)<<53 })
		})
	}, "TensorFlow makes 0 of a number that is denormal where it is cast to, and its constant %s has one")
}

// follow notes the constants that have what is asked of them and whose elements come to a node that computes with them.
func (p *program) follow(at func(n *node, from garner.DType) (computes, passes bool), has func(*value) (bool, error), text string) error {
	asked := make(map[*value]bool) // whose elements a node computes with: other constants, such as large tables, are not read
	for _, n := range slices.Backward(p.nodes) {
		for _, v := range n.in {
			if computes, passes := at(n, v.spec.DType); computes || passes && asked[n.out] {
				asked[v] = true
			}
		}
	}
	of := make(map[*value]*value) // what has elements of a constant that has it, and that constant
	for _, n := range p.nodes {
		for _, v := range n.in {
			constant := of[v]
			if asked[v] && v.held() {
				found, err := has(v)
				if err != nil {
					return model.AtNode(n.origin, err)
				}
				if found {
					constant = v
				}
			}
			switch computes, passes := at(n, v.spec.DType); {
			case constant == nil:
			case passes:
				of[n.out] = constant
			case computes:
				p.at = n.origin
				p.lossy(text, constant.label())
			}
			if p.err != nil {
				return model.AtNode(n.origin, p.err)
			}
		}
	}
	return nil
}

// shrinks reports whether TensorFlow casts f64 to a dtype in which fewer numbers are normal, or passes elements on.
func (n *node) shrinks(from garner.DType) (casts, passes bool) {
	to := n.out.spec.DType
	if from != garner.F64 {
		return false, false
	}
	return n.op == opCast && (to == garner.F32 || to == garner.BF16), to == garner.F64 && (n.op.moves() || n.op == opNeg || n.op == opAbs || n.op == opSelect || n.op == opPad || n.op == opScatter)
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
	switch v.spec.DType {
	case garner.F64:
		return v.has(ctx, func(b uint64) bool { return b<<1-1 < 1<<53-1 })
	case garner.BF16:
		return v.has(ctx, func(b uint64) bool { return less1(uint32(b)<<16) < normal })
	}
	found := errors.New("found")
	err := v.each(ctx, func(_ int64, b []byte) error {
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

// has reports whether a constant of f64 or of bf16 has an element of which is holds, by its bits.
func (v *value) has(ctx context.Context, is func(bits uint64) bool) (bool, error) {
	size, found := v.spec.DType.Bits()/8, errors.New("found")
	err := v.each(ctx, func(_ int64, b []byte) error {
		for ; len(b) >= size; b = b[size:] {
			bits := uint64(binary.LittleEndian.Uint16(b))
			if size == 8 {
				bits = le64(b)
			}
			if is(bits) {
				return found
			}
		}
		return nil
	})
	if err == found {
		return true, nil
	}
	return false, err
}
