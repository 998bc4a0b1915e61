package protofile

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A Layout says how the elements of a tensor stand in its message: in Raw, or in Field.
type Layout struct {
	DType garner.DType
	Shape garner.Shape
	Field protowire.Number
	Bits  int            // of a number in Field that are kept; 0 of strings
	Wire  protowire.Type // of such a number

	// Fewer says that Field may have fewer numbers than the shape wants: the last element
	// stands for those that follow, and without one they are zeros.
	Fewer bool
}

// Check compares the number of elements with the shape, and the field with the
// dtype.
func (e *Elements) Check(l Layout) error {
	n, _ := l.Shape.Len()
	switch {
	case e.Field == 0 && (n == 0 || l.Fewer):
		return nil
	case e.Field == 0:
		return fmt.Errorf("it has no elements, and its shape %s wants %d", l.Shape, n)
	case l.DType == garner.String && e.Field == e.of.Raw:
		return fmt.Errorf("its strings stand in %s; write them in %s", e.of.FieldName(e.of.Raw), e.of.FieldName(e.of.Strings))
	case e.Field != e.of.Raw && e.Field != l.Field:
		return fmt.Errorf("its elements stand in %s; those of %s stand in %s or in %s", e.of.FieldName(e.Field), l.DType, e.of.FieldName(l.Field), e.of.FieldName(e.of.Raw))
	case l.DType == garner.String:
		if e.Count != n && !(l.Fewer && e.Count < n) {
			return fmt.Errorf("it has %d strings, and its shape %s wants %d", e.Count, l.Shape, n)
		}
		return nil
	}
	size, ok := garner.SpecOf(l.DType, l.Shape...).Bytes()
	if !ok {
		return fmt.Errorf("its shape %s takes more bytes than garner can count", l.Shape)
	}
	if e.Field == e.of.Raw {
		if int64(e.Count) != size {
			return fmt.Errorf("it has %d bytes; %s%s takes %d", e.Count, l.DType, l.Shape, size)
		}
		return nil
	}
	each := int64(l.Bits / 8)
	fits := int64(e.Count) == size/each && size%each == 0
	if l.Fewer {
		fits = int64(e.Count) <= size/each && e.Count*l.Bits%l.DType.Bits() == 0
	}
	if !fits {
		return fmt.Errorf("it has %d numbers in %s; %s%s takes %d", e.Count, e.of.FieldName(e.Field), l.DType, l.Shape, size/each)
	}
	return nil
}

// whole reports whether a field has every element of the tensor.
func (e *Elements) whole(l Layout) bool {
	n, _ := l.Shape.Len()
	return !l.Fewer || e.Field == e.of.Raw || e.Field != 0 && int64(e.Count)*int64(l.Bits) == int64(n)*int64(l.DType.Bits())
}

// InPlace gives the elements as a view of the file; false where they are encoded.
func (e *Elements) InPlace(l Layout) ([]byte, bool) {
	if e.Field == e.of.Raw || e.Chunks == 1 && e.Wire == protowire.BytesType && (l.Wire == protowire.Fixed32Type || l.Wire == protowire.Fixed64Type) && e.whole(l) {
		return e.Piece, true
	}
	return nil, false
}

// Splat reports whether all elements are one, so that Tensor makes a view of one.
func (e *Elements) Splat(l Layout) bool {
	n, _ := l.Shape.Len()
	return l.Fewer && n > 1 && l.DType != garner.String && e.Field != e.of.Raw && e.Count*l.Bits <= l.DType.Bits()
}

// decode calls do with the bytes of each number of Field.
func (e *Elements) decode(l Layout, do func(word []byte) error) error {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if l.Bits < 64 && l.Wire == protowire.VarintType {
		low, high = 0, 1<<l.Bits-1
		switch {
		case l.DType == garner.Bool:
			high = 1
		case l.DType.IsInteger() && !l.DType.IsUnsigned() && !l.DType.Packed():
			low, high = -1<<(l.Bits-1), 1<<(l.Bits-1)-1
		}
	}
	i := 0
	var word [8]byte
	return e.Numbers(l.Wire, func(v uint64) error {
		if signed := int64(v); signed < low || signed > high {
			return fmt.Errorf("its number %d is %d, which is no %s", i, signed, l.DType)
		}
		binary.LittleEndian.PutUint64(word[:], v)
		i++
		return do(word[:l.Bits/8])
	})
}

// InPieces reports whether Pieces gives the elements: those that are encoded, one number or several for
// each.
func (e *Elements) InPieces(l Layout) bool {
	_, inPlace := e.InPlace(l)
	return !inPlace && l.DType != garner.String && !l.DType.Packed() && e.Field != 0 && e.whole(l)
}

// Pieces calls do with the bytes of the elements, size at most at a time; Check has passed and InPieces
// holds.
func (e *Elements) Pieces(l Layout, size int, do func(b []byte) error) error {
	b := make([]byte, 0, size)
	err := e.decode(l, func(word []byte) error {
		if len(b)+len(word) > cap(b) {
			if err := do(b); err != nil {
				return err
			}
			b = b[:0]
		}
		b = append(b, word...)
		return nil
	})
	if err != nil || len(b) == 0 {
		return err
	}
	return do(b)
}

// Tensor makes the tensor; Check has passed.
func (e *Elements) Tensor(l Layout) (garner.Tensor, error) {
	n, _ := l.Shape.Len()
	if l.DType == garner.String {
		list, err := e.Texts(l.Field)
		if err != nil {
			return garner.Tensor{}, err
		}
		if len(list) < n {
			last := ""
			if len(list) > 0 {
				last = list[len(list)-1]
			}
			all := make([]string, n)
			for i := copy(all, list); i < n; i++ {
				all[i] = last
			}
			list = all
		}
		return garner.FromSlice(list, l.Shape...)
	}
	if b, ok := e.InPlace(l); ok {
		return model.View(l.DType, b, l.Shape...)
	}
	b := make([]byte, 0, e.Count*(l.Bits/8))
	err := e.decode(l, func(word []byte) error {
		b = append(b, word...)
		return nil
	})
	if err != nil {
		return garner.Tensor{}, err
	}
	if e.whole(l) {
		return model.View(l.DType, b, l.Shape...)
	}
	one := l.DType.Bits() / 8
	if len(b) == 0 {
		b = make([]byte, one)
	}
	if e.Splat(l) {
		return garner.FromStrided(l.DType, b, 0, l.Shape, make([]int, len(l.Shape)))
	}
	all := make([]byte, n*one)
	for i := copy(all, b); i < len(all); i += one {
		copy(all[i:], b[len(b)-one:])
	}
	return model.View(l.DType, all, l.Shape...)
}
