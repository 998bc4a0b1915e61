package modelproto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// dtypeOf gives garner's dtype for an element type: Invalid for UNDEFINED and for a
// type that garner lacks, an error for a number that ONNX lacks.
func dtypeOf(number int32) (garner.DType, error) {
	t := onnxpb.TensorProto_DataType(number)
	if t.Descriptor().Values().ByNumber(t.Number()) == nil {
		return garner.Invalid, fmt.Errorf("there is no element type %d; the file is corrupt, or newer than this garner", number)
	}
	return operators.ONNXType(int64(number)), nil
}

// shapeOf converts a tensor's dims.
func shapeOf(dims []int64) (garner.Shape, error) {
	if len(dims) > garner.MaxRank {
		return nil, fmt.Errorf("it has %d dims; there may be %d", len(dims), garner.MaxRank)
	}
	shape := make(garner.Shape, len(dims))
	for i, d := range dims {
		switch {
		case d < 0:
			return nil, fmt.Errorf("its dim %d is %d; a tensor's dims are 0 or more", i, d)
		case d > math.MaxInt:
			return nil, fmt.Errorf("its dim %d is %d, more than this 32-bit build of garner can count; use a 64-bit one", i, d)
		}
		shape[i] = int(d)
	}
	if _, ok := shape.Len(); !ok {
		return nil, fmt.Errorf("its shape %s holds more elements than an int can count", shape)
	}
	return shape, nil
}

// constant makes a constant of a TensorProto. It checks all but the values of the
// elements.
func (r *reader) constant(t *onnxpb.TensorProto, name string) (*model.Constant, error) {
	number, n := protowire.ConsumeVarint(t.RawData)
	if n < 0 || number >= uint64(len(r.elements)) {
		return nil, errors.New("it has no elements")
	}
	if err := r.spend(constantBytes); err != nil {
		return nil, err
	}
	e := &r.elements[number]
	shape, err := shapeOf(t.Dims)
	if err != nil {
		return nil, err
	}
	dtype, err := dtypeOf(t.GetDataType())
	if err != nil {
		return nil, err
	}
	if t.GetDataType() == int32(onnxpb.TensorProto_UNDEFINED) {
		return nil, errors.New("its element type is not said; set data_type")
	}
	if t.Segment != nil {
		return nil, errors.New("it is a segment of a tensor, which nobody reads; write the tensor whole")
	}
	spec := garner.SpecOf(dtype, shape...)
	if dtype == garner.Invalid {
		kind := onnxpb.TensorProto_DataType(t.GetDataType())
		return r.unreadable(name, spec, "its elements are %s, which garner does not know; cast it to another type", kind), nil
	}
	external := t.GetDataLocation() == onnxpb.TensorProto_EXTERNAL
	switch {
	case e.other != 0:
		return nil, fmt.Errorf("its elements stand in %s and in %s; leave one", fieldName(e.field), fieldName(e.other))
	case external && e.field != 0:
		return nil, fmt.Errorf("its elements stand in another file and in %s; leave one", fieldName(e.field))
	case !external && len(t.ExternalData) > 0 && e.field == 0:
		return nil, errors.New("it names another file, and its data_location is not EXTERNAL; set it")
	}
	if external {
		return r.external(t, name, dtype, shape)
	}
	if err := e.check(dtype, shape); err != nil {
		return nil, err
	}
	tensor := func() (garner.Tensor, error) { return e.tensor(dtype, shape) }
	if r.file == nil {
		c := model.NewConstant(name, spec, func() (garner.Tensor, error) {
			made, err := tensor()
			return made, r.atTensor(name, err)
		})
		_, inPlace := e.inPlace(dtype)
		c.Encoded = !inPlace
		return c, nil
	}
	c := model.NewConstant(name, spec, func() (garner.Tensor, error) {
		made, err := beside.Read(r.file, 0, r.file.Size(), func([]byte) (garner.Tensor, error) { return tensor() })
		return made, r.atTensor(name, err)
	})
	if in, ok := e.inPlace(dtype); ok {
		c.File, c.Offset, c.Size, c.State = r.path, int64(e.at), int64(len(in)), source.FileState(r.file.Stamp())
	} else {
		c.Encoded = true
	}
	return c, nil
}

// unreadable makes a constant whose Tensor is an error.
func (r *reader) unreadable(name string, spec garner.Spec, format string, args ...any) *model.Constant {
	err := r.atTensor(name, fmt.Errorf(format, args...))
	return model.NewConstant(name, spec, func() (garner.Tensor, error) { return garner.Tensor{}, err })
}

// atTensor adds the tensor's name and the file to err; nil stays nil.
func (r *reader) atTensor(name string, err error) error {
	if err == nil {
		return nil
	}
	return &model.Error{Path: r.path, At: tensorNamed(name), Err: err}
}

func tensorNamed(name string) string { return fmt.Sprintf("tensor %.200q", name) }

// fieldName names a field of TensorProto.
func fieldName(field protowire.Number) string {
	return string(tensorProto.Fields().ByNumber(field).Name())
}

// fieldOf gives the field that holds elements of a dtype where raw_data does not:
// its number, the bits of a number that are kept, and the wire type.
func fieldOf(dtype garner.DType) (field protowire.Number, bits int, wire protowire.Type) {
	switch dtype {
	case garner.String:
		return stringData, 0, protowire.BytesType
	case garner.F32, garner.Complex64:
		return floatData, 32, protowire.Fixed32Type
	case garner.F64, garner.Complex128:
		return doubleData, 64, protowire.Fixed64Type
	case garner.I64:
		return int64Data, 64, protowire.VarintType
	case garner.U32, garner.U64:
		return uint64Data, dtype.Bits(), protowire.VarintType
	}
	// A number holds one byte of elements that are narrower than a byte.
	return int32Data, max(dtype.Bits(), 8), protowire.VarintType
}

// check compares the number of elements with the shape, and the field with the
// dtype.
func (e *elements) check(dtype garner.DType, shape garner.Shape) error {
	n, _ := shape.Len()
	field, bits, _ := fieldOf(dtype)
	switch {
	case e.field == 0 && n == 0:
		return nil
	case e.field == 0:
		return fmt.Errorf("it has no elements, and its shape %s wants %d", shape, n)
	case dtype == garner.String && e.field == rawData:
		return errors.New("its strings stand in raw_data; write them in string_data")
	case e.field != rawData && e.field != field:
		return fmt.Errorf("its elements stand in %s; those of %s stand in %s or in raw_data", fieldName(e.field), dtype, fieldName(field))
	case dtype == garner.String:
		if e.count != n {
			return fmt.Errorf("it has %d strings, and its shape %s wants %d", e.count, shape, n)
		}
		return nil
	}
	size, ok := garner.SpecOf(dtype, shape...).Bytes()
	if !ok {
		return fmt.Errorf("its shape %s takes more bytes than garner can count", shape)
	}
	if e.field == rawData {
		if int64(e.count) != size {
			return fmt.Errorf("it has %d bytes; %s%s takes %d", e.count, dtype, shape, size)
		}
		return nil
	}
	if each := int64(bits / 8); int64(e.count) != size/each || size%each != 0 {
		return fmt.Errorf("it has %d numbers in %s; %s%s takes %d", e.count, fieldName(e.field), dtype, shape, size/each)
	}
	return nil
}

// inPlace gives the elements as a view of the file; false where they are encoded.
func (e *elements) inPlace(dtype garner.DType) ([]byte, bool) {
	_, _, wire := fieldOf(dtype)
	if e.field == rawData || e.chunks == 1 && e.wire == protowire.BytesType && (wire == protowire.Fixed32Type || wire == protowire.Fixed64Type) {
		return e.piece, true
	}
	return nil, false
}

// tensor makes the tensor; check has passed.
func (e *elements) tensor(dtype garner.DType, shape garner.Shape) (garner.Tensor, error) {
	if dtype == garner.String {
		list, err := e.strings()
		if err != nil {
			return garner.Tensor{}, err
		}
		return garner.FromSlice(list, shape...)
	}
	if b, ok := e.inPlace(dtype); ok {
		return model.View(dtype, b, shape...)
	}
	_, bits, wire := fieldOf(dtype)
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if bits < 64 && wire == protowire.VarintType {
		low, high = 0, 1<<bits-1
		switch {
		case dtype == garner.Bool:
			high = 1
		case dtype.IsInteger() && !dtype.IsUnsigned() && !dtype.Packed():
			low, high = -1<<(bits-1), 1<<(bits-1)-1
		}
	}
	b := make([]byte, 0, e.count*(bits/8))
	var bad error
	i := 0
	err := e.numbers(wire, func(v uint64) {
		if signed := int64(v); (signed < low || signed > high) && bad == nil {
			bad = fmt.Errorf("its number %d is %d, which is no %s", i, signed, dtype)
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v)
		b = append(b, word[:bits/8]...)
		i++
	})
	if err = errors.Join(err, bad); err != nil {
		return garner.Tensor{}, err
	}
	return model.View(dtype, b, shape...)
}

// Tensor reads a TensorProto, such as a .pb file of ONNX's test directories. The
// tensor is a view of b, or a copy where b encodes the elements. A tensor in
// another file is an error.
func Tensor(b []byte) (name string, t garner.Tensor, err error) {
	r := &reader{}
	var s stripper
	if err := s.strip(b, 0, tensorProto, 0); err != nil {
		return "", garner.Tensor{}, garner.Errorf(nil, "no tensor: %v", err)
	}
	r.elements = s.elements
	var p onnxpb.TensorProto
	if err := unmarshal.Unmarshal(s.out, &p); err != nil {
		return "", garner.Tensor{}, garner.Errorf(nil, "no tensor: %v", err)
	}
	c, err := r.constant(&p, p.GetName())
	if err != nil {
		return p.GetName(), garner.Tensor{}, r.atTensor(p.GetName(), err)
	}
	t, err = c.Tensor()
	return p.GetName(), t, err
}

var unmarshal = proto.UnmarshalOptions{DiscardUnknown: true}

// parseBytes parses a number of bytes in an entry of external_data.
func parseBytes(key, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("its %s is %.100q, which is no number of bytes", key, text)
	}
	return n, nil
}
