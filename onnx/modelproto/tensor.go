package modelproto

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/protofile"
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
	e, ok := schema.Number(t.RawData, r.elements)
	if !ok {
		return nil, errors.New("it has no elements")
	}
	if err := r.Spend(protofile.ConstantBytes); err != nil {
		return nil, err
	}
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
	case e.Other != 0:
		return nil, fmt.Errorf("its elements stand in %s and in %s; leave one", schema.FieldName(e.Field), schema.FieldName(e.Other))
	case external && e.Field != 0:
		return nil, fmt.Errorf("its elements stand in another file and in %s; leave one", schema.FieldName(e.Field))
	case !external && len(t.ExternalData) > 0 && e.Field == 0:
		return nil, errors.New("it names another file, and its data_location is not EXTERNAL; set it")
	}
	if external {
		return r.external(t, name, dtype, shape)
	}
	l := layoutOf(dtype, shape)
	if err := e.Check(l); err != nil {
		return nil, err
	}
	tensor := func() (garner.Tensor, error) { return e.Tensor(l) }
	if r.file != nil && e.InPieces(l) {
		return model.NewEncoded(name, spec, func() (garner.Tensor, error) {
			made, err := beside.Tensor(r.file, 0, r.file.Size(), func([]byte) (garner.Tensor, error) { return tensor() })
			return made, r.atTensor(name, err)
		}, func(do func(b []byte) error) error {
			var failed error // of do, which has a place of its own
			err := r.file.Read(0, r.file.Size(), func([]byte) error {
				return e.Pieces(l, pieceBytes, func(b []byte) error {
					failed = do(b)
					return failed
				})
			})
			if err == nil {
				err = beside.Written(r.file)
			}
			switch {
			case failed != nil:
				return failed
			case errors.Is(err, fs.ErrClosed):
				err = beside.ErrClosed
			}
			return r.atTensor(name, err)
		}), nil
	}
	if r.file == nil {
		c := model.NewConstant(name, spec, func() (garner.Tensor, error) {
			made, err := tensor()
			return made, r.atTensor(name, err)
		})
		_, inPlace := e.InPlace(l)
		c.Encoded = !inPlace
		return c, nil
	}
	c := model.NewConstant(name, spec, func() (garner.Tensor, error) {
		made, err := beside.Tensor(r.file, 0, r.file.Size(), func([]byte) (garner.Tensor, error) { return tensor() })
		return made, r.atTensor(name, err)
	})
	if in, ok := e.InPlace(l); ok {
		c.File, c.Offset, c.Size, c.State = r.path, int64(e.At), int64(len(in)), source.FileState(r.file.Stamp())
	} else {
		c.Encoded = true
	}
	return c, nil
}

// pieceBytes is how many bytes of encoded elements are decoded at a time.
const pieceBytes = 1 << 20

// unreadable makes a constant whose Tensor is an error.
func (r *reader) unreadable(name string, spec garner.Spec, format string, args ...any) *model.Constant {
	err := r.atTensor(name, fmt.Errorf(format, args...))
	return model.NewUnread(name, spec, err)
}

// atTensor adds the tensor's name and the file to err; nil stays nil.
func (r *reader) atTensor(name string, err error) error {
	if err == nil {
		return nil
	}
	return &model.Error{Path: r.path, At: tensorNamed(name), Err: err}
}

func tensorNamed(name string) string { return fmt.Sprintf("tensor %.200q", name) }

// layoutOf says how elements of a dtype and a shape stand in a TensorProto.
func layoutOf(dtype garner.DType, shape garner.Shape) protofile.Layout {
	l := protofile.Layout{DType: dtype, Shape: shape, Bits: 64, Wire: protowire.VarintType}
	switch dtype {
	case garner.String:
		l.Field, l.Bits, l.Wire = stringData, 0, protowire.BytesType
	case garner.F32, garner.Complex64:
		l.Field, l.Bits, l.Wire = floatData, 32, protowire.Fixed32Type
	case garner.F64, garner.Complex128:
		l.Field, l.Wire = doubleData, protowire.Fixed64Type
	case garner.I64:
		l.Field = int64Data
	case garner.U32, garner.U64:
		l.Field, l.Bits = uint64Data, dtype.Bits()
	default:
		// A number holds one byte of elements that are narrower than a byte.
		l.Field, l.Bits = int32Data, max(dtype.Bits(), 8)
	}
	return l
}

// Tensor reads a TensorProto, such as a .pb file of ONNX's test directories. The
// tensor is a view of b, or a copy where b encodes the elements. A tensor in
// another file is an error.
func Tensor(b []byte) (name string, t garner.Tensor, err error) {
	r := &reader{}
	s := newStripper()
	if err := s.Strip(b, 0, tensorProto, 0); err != nil {
		return "", garner.Tensor{}, garner.Errorf(nil, "no tensor: %v", err)
	}
	r.elements = s.Found
	var p onnxpb.TensorProto
	if err := unmarshal.Unmarshal(s.Out, &p); err != nil {
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
