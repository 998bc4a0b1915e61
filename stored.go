package garner

import (
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// Stored says how data holds elements that are not stored as they are: as codes and
// scales, which a run decodes. It is immutable.
type Stored struct {
	name    string
	decoder decoder
	scales  Position  // among the further operands; none: data holds them
	zeros   Position  // of the zero points; none: there are none
	view    Tensor    // the elements' dtype and shape, without memory
	specs   [3]Tensor // the dtypes and shapes of data, scales and zero points, without memory
}

// String names the form, such as "Q4_K" or "u4, scaled by f16".
func (s *Stored) String() string { return s.name }

// Operands returns the positions of the scales and of the zero points among the further
// operands; none where data holds them, or there are none.
func (s *Stored) Operands() (scales, zeros Position) { return s.scales, s.zeros }

// Elements returns the dtype and the shape of the elements, which count in row-major
// order.
func (s *Stored) Elements() Spec { return s.view.Spec() }

// Spans returns the bytes of data, of the scales and of the zero points that n elements
// from the first-th on are decoded from; its type is internal.
func (s *Stored) Spans(first, n int) [3]exec.Span { return s.decoder.Spans(first, n) }

// DecodeParts decodes n elements from the first-th on into dst, which has their size,
// for this module's executors: the type of parts is internal. parts are bytes of data, of
// the scales and of the zero points, row-major, each from byte from on, which Spans gives,
// with at least what it says. It allocates nothing once calls have filled its free list.
func (s *Stored) DecodeParts(dst []byte, parts *exec.Stored, from *[3]int64, first, n int) {
	s.decoder.decodeParts(dst, parts, from, first, n)
}

// Blocks returns the codec of data of blocks that hold their own scales and lie side by
// side: a block holds so many elements in so many bytes, and decode writes the elements of
// whole blocks to dst, as that of the option Blocks does. decode is nil where the scales
// are an operand.
func (s *Stored) Blocks() (elements, bytes int, decode func(dst, src []byte)) {
	if c := s.decoder.block(); c != nil {
		return c.Elements, c.Bytes, c.Decode
	}
	return 0, 0, nil
}

// SumParts sums stored rows bag by bag, for this module's executors: the types of t and b
// are internal. t.Rows says where the bytes of each row begin in stored, those that Spans
// gives; first is the number of the first element of any of them, as all begin at the same
// place of a block. It is for plans of which Sums is true.
func (s *Stored) SumParts(dst, stored []byte, t kernel.Terms, b kernel.Bags, first int) {
	s.decoder.Summer().(summer).sumParts(dst, stored, t, b, first)
}

// Decode returns all elements of the data of a call, on one core: the definition of what
// it holds. further are the operands of the call behind the indices. Errors are those of DecodePart.
func (s *Stored) Decode(data Tensor, further ...Tensor) (Tensor, error) {
	all, err := s.DecodePart(0, s.view.Len(), data, further...)
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
func (s *Stored) DecodePart(first, n int, data Tensor, further ...Tensor) (Tensor, error) {
	for i, t := range s.operands(data, further) {
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
	return out, s.held(data, further, func(v *views) error {
		v.Decode(out.mem.Buf, nil, first, n)
		return nil
	})
}

// held calls look while the memory of the operands is held.
func (s *Stored) held(data Tensor, more []Tensor, look func(v *views) error) error {
	v := &views{decoder: s.decoder, operands: s.operands(data, more)}
	var hold func(at int) error
	hold = func(at int) error {
		if at == len(v.operands) {
			return look(v)
		}
		return v.operands[at].Guard(func(held Tensor) error {
			v.operands[at] = held
			return hold(at + 1)
		})
	}
	return hold(0)
}

// operands returns the operands of a call that hold the elements; the zero Tensor for
// those that the form does not have.
func (s *Stored) operands(data Tensor, further []Tensor) [3]Tensor {
	return [3]Tensor{data, operandAt(further, s.scales), operandAt(further, s.zeros)}
}
