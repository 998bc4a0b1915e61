package run

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A scaling is how DEQUANTIZE makes numbers of codes.
type scaling struct {
	q     *model.Quantised
	from  garner.DType
	shape garner.Shape // of the codes
	twice int          // how many of the first elements are rounded twice
}

// scalingOf checks a DEQUANTIZE of codes of a dtype and a shape. constant says that the codes are a
// constant of the file.
func scalingOf(n *model.Node, from garner.DType, shape garner.Shape, constant bool) (scaling, error) {
	q, to := n.Inputs[0].Quantised, n.Outputs[0].Spec.DType
	s := scaling{q: q, from: from, shape: shape}
	switch {
	case to != garner.F32:
		return s, garner.Errorf(garner.ErrDType, "DEQUANTIZE to %s is not run; to f32 it is", to)
	case !from.IsInteger() || from.Bits() > 16:
		return s, garner.Errorf(garner.ErrDType, "DEQUANTIZE of %s is not run; it is of i8, u8, i16, i4 and i2", from)
	case q == nil || q.Blocks:
		return s, garner.Errorf(garner.ErrDType, "DEQUANTIZE of a value without scales is not run")
	case len(q.Scales) > 1 && (q.Axis >= len(shape) || shape[q.Axis] != len(q.Scales)):
		return s, mismatch("it has %d scales along axis %d of %s", len(q.Scales), q.Axis, shape)
	}
	if len(q.Scales) == 1 && constant && (from == garner.I8 || from == garner.I4) {
		n, _ := shape.Len()
		s.twice = n &^ 7
	}
	return s, nil
}

// number is the number of a code with the k-th scale.
func (s scaling) number(code int64, k int, twice bool) float32 {
	scale := s.q.Scales[k]
	if twice {
		zero := float32(float64(-s.q.Zeros[k]) * float64(scale))
		return float32(float32(code)*scale) + zero // the conversion keeps machines from fusing both
	}
	return float32(code-s.q.Zeros[k]) * scale
}

// decode makes numbers of codes. at gives for the i-th its scale, and whether it is rounded twice.
func (s scaling) decode(to garner.Tensor, codes garner.Tensor, at func(i int) (k int, twice bool)) error {
	out, err := garner.Values[float32](to)
	if err != nil {
		return err
	}
	const block = 1 << 12
	whole := make([]int64, min(block, len(out)))
	for from := 0; from < len(out); from += block {
		n := min(block, len(out)-from)
		part, err := codes.Slice(0, from, from+n, 1)
		if err != nil {
			return err
		}
		if err := readIntegers(part, whole[:n]); err != nil {
			return err
		}
		for i, code := range whole[:n] {
			k, twice := at(from + i)
			out[from+i] = s.number(code, k, twice)
		}
	}
	return nil
}

// dequantised gives the DEQUANTIZE of a large constant that makes the table of a gather of LiteRT, of which
// only the gathered rows are then decoded; nil for another gather. Codes of less than a byte are decoded before.
func dequantised(n *model.Node, given map[*model.Value]garner.Tensor) *model.Node {
	if !strings.HasPrefix(n.Operator, "tflite.") || len(n.Inputs) == 0 || n.Inputs[0] == nil {
		return nil
	}
	v := n.Inputs[0]
	if _, ok := given[v]; ok || v.Constant != nil || v.From == nil || v.From.Op != "DEQUANTIZE" || v.From.Domain != "" || len(v.From.Inputs) != 1 || v.From.Inputs[0] == nil {
		return nil
	}
	codes := v.From.Inputs[0]
	c := codes.Constant
	if _, ok := given[codes]; ok || c == nil || c.Encoded || c.File == "" || c.Size < inFile || c.Spec.DType.Bits() < 8 {
		return nil
	}
	shape, ok := c.Spec.Shape()
	if !ok {
		return nil
	}
	if _, err := scalingOf(v.From, c.Spec.DType, shape, true); err != nil {
		return nil // which the node says
	}
	return v.From
}

// decodeWhole decodes the table of a gather before it: an index outside gives a number that is no code.
func (r *runner) decodeWhole(g *gathering) error {
	made, err := (&call{runner: r, node: g.decode}).evaluate()
	if err == nil {
		g.data, g.decode = &value{tensor: made[0], bare: r.bare}, nil
	}
	return err
}

// decodeRows gathers codes, and makes the numbers of a result of them.
func (r *runner) decodeRows(ctx context.Context, g *gathering, prepared *garner.Prepared, out garner.Tensor) error {
	s, err := scalingOf(g.decode, g.data.tensor.DType(), g.data.tensor.Shape(), true)
	if err != nil {
		return err
	}
	codes, err := r.new(s.from, out.Shape())
	if err != nil || r.bare {
		return err
	}
	if err := r.move(ctx, g, prepared, codes); err != nil {
		return err
	}
	if codes, err = r.reshape(codes, garner.Shape{codes.Len()}); err != nil || r.bare {
		return err
	}
	total, _ := s.shape.Len()
	switch {
	case len(s.q.Scales) > 1:
		scales, err := r.positions(ctx, g, out, []int{s.q.Axis})
		if err != nil || r.bare {
			return err
		}
		return s.decode(out, codes, func(i int) (int, bool) { return int(scales[i]), false })
	case s.twice < total && s.twice > 0 && s.q.Zeros[0] != 0: // the last elements of the table are others
		axes := make([]int, len(s.shape))
		for i := range axes {
			axes[i] = i
		}
		places, err := r.positions(ctx, g, out, axes)
		if err != nil || r.bare {
			return err
		}
		return s.decode(out, codes, func(i int) (int, bool) { return 0, int(places[i]) < s.twice })
	}
	return s.decode(out, codes, func(int) (int, bool) { return 0, s.twice > 0 })
}

// positions gives for each element of a result where in data it is from, counted through some axes in row-major
// order: it gathers the numbers of the positions along each, which take no memory along the others.
func (r *runner) positions(ctx context.Context, g *gathering, out garner.Tensor, axes []int) ([]int64, error) {
	shape := g.data.tensor.Shape()
	sum, err := r.new(garner.I64, out.Shape())
	if err != nil || r.bare {
		return nil, err
	}
	part := sum
	if len(axes) > 1 {
		if part, err = r.new(garner.I64, out.Shape()); err != nil || r.bare {
			return nil, err
		}
	}
	total, err := garner.Values[int64](sum)
	if err != nil {
		return nil, err
	}
	by := 1
	for _, a := range slices.Backward(axes) {
		numbers, err := r.new(garner.U8, garner.Shape{8 * shape[a]})
		if err != nil || r.bare {
			return nil, err
		}
		b, err := numbers.Bytes()
		if err != nil {
			return nil, err
		}
		for i := range shape[a] {
			binary.NativeEndian.PutUint64(b[8*i:], uint64(i*by))
		}
		strides := make([]int, len(shape))
		strides[a] = 1
		along, err := garner.FromStrided(garner.I64, b, 0, shape, strides)
		if err != nil {
			return nil, err
		}
		prepared, err := garner.Prepare(g.op, along.Spec(), g.indices.Spec())
		if err != nil {
			return nil, err
		}
		if err := prepared.Run(ctx, along, g.indices, part); err != nil {
			return nil, err
		}
		if len(axes) > 1 {
			more, err := garner.Values[int64](part)
			if err != nil {
				return nil, err
			}
			for i, n := range more {
				total[i] += n
			}
		}
		by *= shape[a]
	}
	return total, nil
}
