package flatbuffer

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// A tensor is what the file says of a tensor, for every graph that has it.
type tensor struct {
	at        uint64
	name      string
	spec      garner.Spec
	shape     garner.Shape // of its elements, where the file has them; nil where a dim is unknown
	quantised *model.Quantised
	buffer    uint32
	external  uint32 // the id of an external buffer; 0 for none
	variable  bool
	sparse    bool
	empty     bool // it has no element
}

// tensor reads a tensor of a subgraph; nil after an error.
func (r *reader) tensor(tensors vector, number int) *tensor {
	place := tensors.follow("Tensor", tensors.at+4*uint64(number))
	if have, ok := r.tensors[place]; ok || r.err != nil {
		return have
	}
	f := r.table("Tensor", place)
	t := &tensor{at: place, name: r.string(f, 3), buffer: f.index(2), external: f.index(10), variable: f.flag(5), sparse: f.sub(6, "SparsityParameters").there()}
	shape, signature := f.vector(0, "shape", 4), f.vector(7, "shape_signature", 4)
	if shape.n > garner.MaxRank {
		r.failf("tensor %s has %d dims; there may be %d", names.Quote(t.name), shape.n, garner.MaxRank)
	}
	r.spend(tensorBytes + dimBytes*min(shape.n, garner.MaxRank))
	if r.err != nil {
		return nil
	}
	dtype := dtypeOf(f.u8(1, 0))
	dims := make([]garner.Dim, shape.n)
	t.shape = make(garner.Shape, shape.n)
	for i := range dims {
		d := shape.i32(i)
		if d < -1 {
			r.failf("dim %d of tensor %s is %d; dims are 0 or more, or -1 where they are unknown", i, names.Quote(t.name), d)
			return nil
		}
		dims[i] = garner.AnyDim
		if d >= 0 && t.shape != nil {
			t.shape[i] = int(d)
		} else {
			t.shape = nil
		}
		if d >= 0 && !(signature.n == shape.n && signature.i32(i) == -1) {
			dims[i] = garner.Exactly(int(d))
		}
	}
	t.spec = garner.SpecOfDims(dtype, dims...)
	if shape.n == 0 && !f.flag(8) && t.buffer == 0 && t.external == 0 {
		t.spec, t.shape = garner.SpecOfRank(dtype, garner.AnyDim), nil // the shape of a scalar, or nothing is said
	}
	if t.shape != nil {
		n, ok := t.shape.Len()
		t.empty = ok && n == 0
	}
	t.quantised = r.quantised(f.sub(4, "QuantizationParameters"), t)
	if r.err != nil {
		return nil
	}
	r.tensors[place] = t
	return t
}

// variable reports whether a tensor keeps its elements from run to run.
func (r *reader) variable(s *subgraphTables, number int) bool {
	t := r.tensor(s.tensors, number)
	return t != nil && t.variable
}

// quantised reads how a tensor is quantised; nil where it is not.
func (r *reader) quantised(q table, t *tensor) *model.Quantised {
	scales, zeros := q.vector(2, "list of scales", 4), q.vector(3, "list of zero points", 8)
	if r.err != nil || !q.there() {
		return nil
	}
	if q.u8(4, 0) == 2 { // BlockwiseQuantization
		return &model.Quantised{Blocks: true}
	}
	if scales.n == 0 {
		return nil
	}
	made := &model.Quantised{Axis: int(q.i32(6))}
	rank := len(t.spec.Dims)
	switch {
	case zeros.n != scales.n && zeros.n != 0:
		r.failf("tensor %s has %d scales and %d zero points; there must be as many", names.Quote(t.name), scales.n, zeros.n)
	case scales.n == 1:
	case made.Axis < 0 || made.Axis >= rank:
		r.failf("tensor %s has %d scales along axis %d, and has %d dims", names.Quote(t.name), scales.n, made.Axis, rank)
	case t.spec.Dims[made.Axis] != garner.Exactly(scales.n):
		r.failf("tensor %s has %d scales along axis %d, whose length is %s", names.Quote(t.name), scales.n, made.Axis, t.spec.Dims[made.Axis])
	}
	r.spend(16 * scales.n)
	if r.err != nil {
		return nil
	}
	made.Scales, made.Zeros = make([]float32, scales.n), make([]int64, scales.n)
	for i := range made.Scales {
		made.Scales[i] = math.Float32frombits(uint32(scales.i32(i)))
	}
	if zeros.n > 0 {
		copy(made.Zeros, zeros.list64())
	}
	return made
}

// constant gives the elements of a tensor, where the file has them; nil where it has none.
func (r *reader) constant(t *tensor) *model.Constant {
	if c, ok := r.constants[t.at]; ok || r.err != nil {
		return c
	}
	c, err := r.elements(t)
	if err != nil && r.err == nil {
		r.err = err
	}
	if r.err != nil {
		return nil
	}
	if c != nil {
		r.spend(constantBytes)
	}
	r.constants[t.at] = c
	return c
}

// elements finds the elements of a tensor.
func (r *reader) elements(t *tensor) (*model.Constant, error) {
	dtype := t.spec.DType
	if t.external != 0 {
		if t.buffer != 0 {
			return nil, r.atTensor(t, garner.Errorf(nil, "its elements are in buffer %d and in the external buffer %d; leave one", t.buffer, t.external))
		}
		return r.outside(t)
	}
	if t.buffer != 0 && int64(t.buffer) >= int64(r.buffers.n) {
		return nil, r.atTensor(t, garner.Errorf(nil, "its elements are in buffer %d, and there are %d: the file is damaged; get it again", t.buffer, r.buffers.n))
	}
	var at, size uint64
	if t.buffer != 0 {
		f := r.buffers.tableAt(int(t.buffer))
		data := f.vector(0, "Buffer", 1)
		at, size = data.at, uint64(data.n)
		if off := f.u64(1); size == 0 && off > 1 { // behind the flatbuffer
			at, size = off, f.u64(2)
			r.bytes("the buffer of tensor "+names.Quote(t.name), at, size)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if size == 0 {
		if !t.empty || dtype == garner.Invalid || t.variable {
			return nil, nil // an operator or the caller gives them
		}
		spec := garner.SpecOf(dtype, t.shape...)
		shape := t.shape
		return model.NewConstant(t.name, spec, func() (garner.Tensor, error) { return garner.New(dtype, shape...) }), nil
	}
	return r.held(t, at, size, r.file, r.path, r.b[at:at+size:at+size])
}

// checked refuses elements of another size than the tensor's type and shape say.
func (r *reader) checked(t *tensor, size uint64) error {
	dtype := t.spec.DType
	switch {
	case t.shape == nil:
		return garner.Errorf(nil, "it has elements, and a dim that is unknown: the file is damaged; get it again")
	case dtype == garner.Invalid || dtype == garner.String || t.sparse:
		return nil
	}
	if _, ok := t.shape.Len(); !ok {
		return garner.Errorf(garner.ErrShape, "its shape %s holds more elements than an int can count", t.shape)
	}
	if want, ok := garner.SpecOf(dtype, t.shape...).Bytes(); !ok || uint64(want) != size {
		return garner.Errorf(garner.ErrShape, "its buffer has %d bytes; %s%s takes %d", size, dtype, t.shape, want)
	}
	return nil
}

// held makes a constant of bytes of a file, or of memory where file is nil.
func (r *reader) held(t *tensor, at, size uint64, file *mapped.File, path string, b []byte) (*model.Constant, error) {
	if err := r.checked(t, size); err != nil {
		return nil, r.atTensor(t, err)
	}
	dtype, shape, name := t.spec.DType, t.shape, t.name
	spec := garner.SpecOf(dtype, shape...)
	switch {
	case t.sparse:
		return r.unreadable(t, spec, "its elements are sparse, which garner does not read; convert the model without sparsity"), nil
	case dtype == garner.Invalid:
		return r.unreadable(t, spec, "its elements are of a type that garner lacks"), nil
	}
	where := r.path
	load := func(tensor func(b []byte) (garner.Tensor, error)) func() (garner.Tensor, error) {
		return func() (made garner.Tensor, err error) {
			if file == nil {
				made, err = tensor(b)
			} else {
				made, err = beside.Tensor(file, int(at), int(size), tensor)
			}
			if err != nil {
				err = &model.Error{Path: where, At: tensorNamed(name), Err: err}
			}
			return made, err
		}
	}
	if dtype == garner.String {
		c := model.NewConstant(name, spec, load(func(b []byte) (garner.Tensor, error) {
			list, why := unpack(b, shape)
			if why != "" {
				return garner.Tensor{}, garner.Errorf(nil, "%s: the file is damaged; get it again", why)
			}
			return garner.FromSlice(list, shape...)
		}))
		c.Encoded = true
		return c, nil
	}
	c := model.NewConstant(name, spec, load(func(b []byte) (garner.Tensor, error) { return model.View(dtype, b, shape...) }))
	if file != nil {
		c.File, c.Offset, c.Size, c.State = path, int64(at), int64(size), source.FileState(file.Stamp())
	}
	return c, nil
}

// unreadable makes a constant whose Tensor is an error.
func (r *reader) unreadable(t *tensor, spec garner.Spec, format string, args ...any) *model.Constant {
	err := r.atTensor(t, garner.Errorf(nil, format, args...))
	return model.NewUnread(t.name, spec, err)
}

// atTensor adds the tensor's name and the file to err.
func (r *reader) atTensor(t *tensor, err error) error {
	return &model.Error{Path: r.path, At: tensorNamed(t.name), Err: err}
}

func tensorNamed(name string) string { return fmt.Sprintf("tensor %s", names.Quote(name)) }

// unpack reads strings. A buffer of them has, in 32 bits each, their number and the offsets of
// the start of each and of the end of the last, from the buffer's begin, and then the text. Where
// the bytes are damaged, it says how.
func unpack(b []byte, shape garner.Shape) ([]string, string) {
	n, ok := shape.Len()
	if !ok || len(b) < 4 || int64(int32(binary.LittleEndian.Uint32(b))) != int64(n) {
		return nil, fmt.Sprintf("its bytes do not begin with the number of its strings, which shape %s has", shape)
	}
	if (len(b)-4)/4 < n+1 {
		return nil, "its bytes end before the offsets of its strings do"
	}
	list := make([]string, n)
	for i := range list {
		from, to := binary.LittleEndian.Uint32(b[4+4*i:]), binary.LittleEndian.Uint32(b[8+4*i:])
		if from > to || uint64(to) > uint64(len(b)) {
			return nil, "the offsets of its strings go down, or beyond its bytes"
		}
		list[i] = string(b[from:to])
	}
	return list, ""
}
