package convert

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// denormals notes the constants that OpenVINO reads otherwise than other runtimes do: where it loads a model, its CPU plugin
// takes denormal f32 for 0. Those of inputs, of f16 and of bf16 stay as they are, and so does the value of a Pad.
func (p *program) denormals(ctx context.Context) error {
	if (p.target == irTarget) == (p.options.runtime == openVINO) {
		return nil
	}
	look := func(v *value, at *model.Node) {
		if p.err != nil || !v.held() || v.spec.DType != garner.F32 {
			return
		}
		found, err := v.denormal.by(func() (bool, error) { return v.hasDenormal(ctx) })
		switch {
		case err != nil:
			p.err = err
		case found:
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

// hasDenormal reports whether a constant of f32 has a denormal one. It looks at two at a time.
func (v *value) hasDenormal(ctx context.Context) (bool, error) {
	// Without its sign and less 1, a denormal is below all others; a 0 is the greatest then.
	less1 := func(bits uint32) uint32 { return bits<<1 - 1 }
	const normal = 1<<24 - 1
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
