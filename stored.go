package garner

import (
	"sync"

	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/exec"
)

// Stored says how data holds elements that are not stored as they are: as codes and
// scales, which a run decodes. It is immutable.
type Stored struct {
	name    string
	decoder decoder
	scales  int       // place among the further operands; -1: data holds them
	zeros   int       // place of the zero points; -1: there are none
	view    Tensor    // the elements' dtype and shape, without memory
	specs   [3]Tensor // the dtypes and shapes of data, scales and zero points, without memory
}

// String names the form, such as "Q4_K" or "u4, scaled by f16".
func (s *Stored) String() string { return s.name }

// Elements returns the dtype and the shape of the elements, which count in row-major
// order.
func (s *Stored) Elements() Spec { return s.view.Spec() }

// A blockDecoder decodes blocks that hold their own scales, which lie side by side.
type blockDecoder struct {
	kind *codec.Codec
	room sync.Pool // free list of room for one block's elements
}

func newBlockDecoder(kind *codec.Codec) *blockDecoder {
	d := &blockDecoder{kind: kind}
	d.room.New = func() any {
		room := make([]byte, 4*kind.Elements)
		return &room
	}
	return d
}

// Decode is decodeBlocks of whole data.
func (d *blockDecoder) Decode(dst []byte, from *exec.Stored, first, n int) {
	d.decodeBlocks(dst, from[0], 0, first, n)
}

func (d *blockDecoder) decodeParts(dst []byte, parts *exec.Stored, from *[3]int64, first, n int) {
	d.decodeBlocks(dst, parts[0], int(from[0])/d.kind.Bytes, first, n)
}

// decodeBlocks decodes whole blocks into their places, and a block that is needed in
// part into room of its own. stored begins with the block of number from.
func (d *blockDecoder) decodeBlocks(dst, stored []byte, from, first, n int) {
	each, size := d.kind.Elements, d.kind.Bytes
	for n > 0 {
		block, skip := first/each-from, first%each
		count := n / each * each
		if skip == 0 && count > 0 {
			d.kind.Decode(dst[:4*count], stored[block*size:(block+count/each)*size])
		} else {
			count = min(n, each-skip)
			room := d.room.Get().(*[]byte)
			d.kind.Decode(*room, stored[block*size:(block+1)*size])
			copy(dst, (*room)[4*skip:4*(skip+count)])
			d.room.Put(room)
		}
		dst, first, n = dst[4*count:], first+count, n-count
	}
}

// Spans returns the bytes of the blocks of some elements.
func (d *blockDecoder) Spans(first, n int) (spans [3]exec.Span) {
	if n > 0 {
		each, size := d.kind.Elements, d.kind.Bytes
		spans[0] = exec.Span{From: int64(first/each) * int64(size), To: (int64((first+n-1)/each) + 1) * int64(size)}
	}
	return spans
}

// A codeDecoder decodes codes whose scales and zero points are operands.
type codeDecoder struct{ codec.Blocks }

// Decode decodes codes into their places.
func (d codeDecoder) Decode(dst []byte, from *exec.Stored, first, n int) {
	d.decodeParts(dst, from, new([3]int64), first, n)
}

func (d codeDecoder) decodeParts(dst []byte, parts *exec.Stored, from *[3]int64, first, n int) {
	part := func(k int) codec.Part { return codec.Part{Bytes: parts[k], From: from[k]} }
	d.Blocks.Decode(dst, part(0), part(1), part(2), first, n)
}

// Spans returns the bytes of the codes, scales and zero points of some elements.
func (d codeDecoder) Spans(first, n int) [3]exec.Span {
	codes, scales, zeros := d.Blocks.Spans(first, n)
	return [3]exec.Span{exec.Span(codes), exec.Span(scales), exec.Span(zeros)}
}

// Decode returns all elements of the data of a call, on one core: the definition of what
// it holds. more are the further operands of the call. Errors are those of DecodePart.
func (s *Stored) Decode(data Tensor, more ...Tensor) (Tensor, error) {
	all, err := s.DecodePart(0, s.view.Len(), data, more...)
	if err != nil {
		return Tensor{}, err
	}
	return all.Reshape(s.view.shape...)
}

// DecodePart returns n elements of the data of a call, from the first-th on in row-major
// order, as a vector. It reads what is stored of these alone, on one core. Operands of
// other dtypes or shapes than those that the plan was made for are an ErrDType or an
// ErrShape, and so are elements that there are not. Errors are also those of New, and
// ErrFault for Volatile operands.
func (s *Stored) DecodePart(first, n int, data Tensor, more ...Tensor) (Tensor, error) {
	operands := s.operands(data, more)
	for i, t := range operands {
		if want := s.specs[i]; t.dtype != want.dtype {
			return Tensor{}, errorf(ErrDType, "an operand of stored data is %s; the plan was made for %s", t.dtype, want.dtype)
		} else if !t.shape.Equal(want.shape) {
			return Tensor{}, shapeError(KindMismatch, "an operand of stored data is %s%s; the plan was made for %s%s", t.dtype, t.shape, want.dtype, want.shape)
		}
	}
	if total := s.view.Len(); first < 0 || n < 0 || first > total || n > total-first {
		return Tensor{}, shapeError(KindMismatch, "%d elements from element %d on; data holds %d", n, first, total)
	}
	out, err := New(s.view.dtype, n)
	if err != nil || n == 0 {
		return out, err
	}
	var decode func(at int) error
	decode = func(at int) error {
		if at < len(operands) {
			return operands[at].Guard(func(held Tensor) error {
				operands[at] = held
				return decode(at + 1)
			})
		}
		v := views{decoder: s.decoder, operands: operands}
		v.Decode(out.mem.Buf, nil, first, n)
		return nil
	}
	return out, decode(0)
}

// operands returns the operands of a call that hold the elements; the zero Tensor for
// those that the form does not have.
func (s *Stored) operands(data Tensor, more []Tensor) [3]Tensor {
	return [3]Tensor{data, operandAt(more, s.scales), operandAt(more, s.zeros)}
}
