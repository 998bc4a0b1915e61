package run

import (
	"bytes"
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// ONNX Runtime and OpenVINO have no arithmetic of f16 on most processors. They compute in
// f32, and drop the casts between two nodes: the result of a node rounds to f16 where the
// graph gives it out, not where another node reads it. So the result of arithmetic on f16 is
// a wide value: a tensor of f32, with a pending cast that further arithmetic leaves out.
//
// Where a node that is not known to take wide values takes one, the cast is done. If it
// rounds, the value is rounded, and only nodes that move elements take it: what another node
// computes of it would differ from the runtimes. Nodes that move elements take wide values in
// OpenVINO alone: whether ONNX Runtime keeps f32 through them depends on all that read them.
//
// OpenVINO and ONNX Runtime disagree about bf16, which ONNX Runtime does not run. It is run
// where nothing rounds.

// movers are the operators that move the elements of their first input and look at none.
var movers = []string{"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "StridedSlice", "Expand", "Broadcast", "Tile"}

// narrowKernels are the operators that ONNX Runtime computes in f16 itself: their inputs are
// rounded first.
var narrowKernels = []string{"Mod"}

// computesNarrow reports whether the node takes f16 as it is stored.
func (c *call) computesNarrow() bool { return c.onnx() && slices.Contains(narrowKernels, c.node.Op) }

// isNarrow reports whether arithmetic on a dtype is that of f32.
func isNarrow(d garner.DType) bool { return d == garner.F16 || d == garner.BF16 }

// takes returns the i-th input, which the node has; of a wide value the f32 where the node
// moves elements.
func (c *call) takes(i int) (garner.Tensor, error) {
	v := c.node.Inputs[i]
	have, err := c.lazy(v)
	if err != nil {
		return garner.Tensor{}, err
	}
	moves := i == 0 && slices.Contains(movers, c.node.Op)
	wide := have.wide && !have.unknown
	if wide && moves && c.openvino() {
		c.keepWide(have)
		return have.tensor, nil
	}
	t, err := c.tensor(v)
	if err != nil {
		return garner.Tensor{}, err
	}
	if c.computesNarrow() {
		return t, nil
	}
	if wide && have.bare && !moves {
		c.mayRefuse()
	}
	if have.rounded && !moves {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s is not run behind arithmetic that rounds to %s: the runtimes keep f32 between the two; cast to f32 before the arithmetic", c.node.Op, t.DType(), t.DType())
	}
	c.rounded = c.rounded || have.rounded
	return t, nil
}

// sameElements makes the result of the node a value of the same elements as the first input,
// with its pending cast, and returns the tensor of that.
func (c *call) sameElements() (garner.Tensor, error) {
	if !c.has(0) {
		return c.input(0)
	}
	v, err := c.lazy(c.node.Inputs[0])
	if err != nil {
		return garner.Tensor{}, err
	}
	if v.wide && !v.unknown && !c.openvino() {
		if _, err := c.tensor(c.node.Inputs[0]); err != nil {
			return garner.Tensor{}, err
		}
	}
	c.keepWide(v)
	return v.tensor, nil
}

// keepWide makes the result of the node a wide value, whose elements are those of another.
func (c *call) keepWide(v *value) {
	c.pending, c.wide, c.rounded = v.pending, v.wide, v.rounded
	c.bare = c.bare || v.bare
}

// widened returns the inputs that arithmetic takes, of one dtype: f16 and bf16 as f32, of
// which the result is then wide.
func (c *call) widened(positions ...int) ([]garner.Tensor, error) {
	list := make([]garner.Tensor, len(positions))
	var dtype garner.DType
	for k, i := range positions {
		if !c.has(i) {
			_, err := c.input(i)
			return nil, err
		}
		have, err := c.lazy(c.node.Inputs[i])
		if err != nil {
			return nil, err
		}
		of := have.dtype()
		if have.wide && !have.unknown && !c.strict && !c.computesNarrow() {
			list[k] = have.tensor
			c.bare = c.bare || have.bare
		} else if list[k], err = c.takes(i); err != nil {
			return nil, err
		}
		if k > 0 && of != dtype {
			return nil, garner.Errorf(garner.ErrDType, "%s of %s and %s; cast one", c.node.Op, dtype, of)
		}
		dtype = of
		if !isNarrow(of) {
			continue
		}
		if list[k], err = c.cast(list[k], garner.F32); err != nil {
			return nil, err
		}
		c.pending, c.wide = of, true
	}
	return list, nil
}

// narrowed finishes the results of a node that may be wide.
func (c *call) narrowed(made []garner.Tensor) ([]garner.Tensor, error) {
	if !c.wide {
		return made, nil
	}
	if c.strict {
		for i, t := range made {
			if t.DType() != garner.F32 {
				continue
			}
			c.mayRefuse()
			to, err := c.cast(t, c.pending)
			if err != nil {
				return nil, err
			}
			exact, err := c.same(to, t)
			if err != nil {
				return nil, err
			}
			c.rounded = c.rounded || !exact
			made[i] = to
		}
		c.pending, c.wide = garner.Invalid, false
		return made, nil
	}
	for i, t := range made {
		if t.DType() != garner.F32 { // a comparison
			c.pending, c.wide = garner.Invalid, false
			return made, nil
		}
		if c.pending != garner.BF16 {
			continue
		}
		c.mayRefuse()
		to, err := c.cast(t, garner.BF16)
		if err != nil {
			return nil, err
		}
		if exact, err := c.same(to, t); err != nil {
			return nil, err
		} else if !exact {
			return nil, garner.Errorf(garner.ErrDType, "%s of bf16 is not run where it rounds: ONNX Runtime does not run it, and others round at other places; cast to f32 before it", c.node.Op)
		}
		made[i] = to
	}
	if c.pending == garner.BF16 {
		c.pending, c.wide = garner.Invalid, false
	}
	return made, nil
}

// same reports whether the elements of a narrow tensor are those of a tensor of f32. Of
// stand-ins they are.
func (r *runner) same(narrow, wide garner.Tensor) (bool, error) {
	if r.bare {
		return true, nil
	}
	flat, err := r.reshape(wide, garner.Shape{wide.Len()})
	if err != nil || r.bare {
		return true, err
	}
	if flat, _, err = elements[float32](r, flat); err != nil {
		return false, err
	}
	if flat.Len() == 1 && wide.Len() > 1 { // broadcast
		if narrow, err = narrow.Reshape(narrow.Len()); err == nil {
			narrow, err = narrow.Slice(0, 0, 1, 1)
		}
		if err != nil {
			return false, err
		}
	}
	src, err := flat.Bytes()
	if err != nil {
		return false, err
	}
	short, err := narrow.Bytes()
	if err != nil {
		return false, err
	}
	const block = 1 << 12
	back := make([]byte, 4*block)
	for at := 0; at < flat.Len(); at += block {
		n := min(block, flat.Len()-at)
		part := src[4*at : 4*(at+n)]
		convertRun(back[:4*n], short[2*at:2*(at+n)], narrow.DType(), garner.F32)
		if bytes.Equal(back[:4*n], part) {
			continue
		}
		for i := 0; i < 4*n; i += 4 {
			if a, b := singleAt(back[i:]), singleAt(part[i:]); a != b && (a == a || b == b) {
				return false, nil
			}
		}
	}
	return true, nil
}

func singleAt(b []byte) float32 {
	return math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}
