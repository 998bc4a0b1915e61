package garner

import "github.com/garner-go/garner/internal/exec"

// A program is the exec.Program for operands of certain shapes and strides.
type program struct {
	exec.Program
	bags               *exec.Bags // instead of Program, of bags
	data, indices, out operand
	further            []operand // of bags
	loops              []exec.Loop
	walked             []Loop
}

// takes reports whether f was chosen for the shapes and strides of these
// operands.
func (f *program) takes(data, indices, out *Tensor) bool {
	return f.indices.is(indices) && f.data.is(data) && f.out.is(out)
}

// setLoops makes loops those of internal/exec.
func (f *program) setLoops() {
	f.loops = f.loops[:0]
	for _, l := range f.walked {
		f.loops = append(f.loops, exec.Loop(l))
	}
}

// axes returns the memory of the program's axes, empty.
func (f *program) axes() []exec.Axis {
	if f.bags != nil {
		return f.bags.Axes()
	}
	return f.Axes()
}

// walk sets f's loops from the extents and strides of the operands. It returns
// false if they break a rule or do not fit out; lowerAnew then returns the
// error.
func (l *Lowering) walk(f *program, data, indices, out *Tensor, further []Tensor) bool {
	loops := f.walked[:0]
	at, extent := 0, 1
	for i := range l.nest {
		n := &l.nest[i]
		loop := Loop{Extent: n.extent.Min}
		if n.dataAxis > 0 {
			loop.Extent, loop.Data = data.shape[n.dataAxis-1], data.strides[n.dataAxis-1]
		}
		if n.indexAxis > 0 {
			d := indices.shape[n.indexAxis-1]
			if n.dataAxis > 0 && (d > loop.Extent || d < loop.Extent && !n.within) {
				return false
			}
			loop.Extent, loop.Index = d, indices.strides[n.indexAxis-1]
		}
		if n.counted {
			var ok bool
			if loop.Extent, ok = l.bag.count(further); !ok {
				return false
			}
		}
		loops = append(loops, loop)
		// The loop is a dim of the result, alone or as a factor.
		if n.written >= hidden {
			continue
		}
		extent *= loop.Extent
		if i+1 < len(l.nest) && l.nest[i+1].written == joined {
			continue
		}
		if at == len(out.shape) || out.shape[at] != extent {
			return false
		}
		at, extent = at+1, 1
	}
	f.walked = loops
	if at != len(out.shape) {
		return false
	}
	l.restride(loops, out.strides)
	return true
}

func sameDims(shape Shape, dims []Dim) bool {
	if len(shape) != len(dims) {
		return false
	}
	for i, d := range dims {
		if shape[i] < d.Min || shape[i] > d.Max {
			return false
		}
	}
	return true
}
