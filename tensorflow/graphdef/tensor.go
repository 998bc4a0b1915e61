package graphdef

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// dtypes has garner's dtypes by TensorFlow's, with the field that holds their elements where
// tensor_content does not, the bits of a number there, and its wire type.
var dtypes = map[tfpb.DataType]struct {
	dtype garner.DType
	field protowire.Number
	bits  int
	wire  protowire.Type
}{
	tfpb.DataType_DT_FLOAT:         {garner.F32, floatVal, 32, protowire.Fixed32Type},
	tfpb.DataType_DT_DOUBLE:        {garner.F64, doubleVal, 64, protowire.Fixed64Type},
	tfpb.DataType_DT_HALF:          {garner.F16, halfVal, 16, protowire.VarintType},
	tfpb.DataType_DT_BFLOAT16:      {garner.BF16, halfVal, 16, protowire.VarintType},
	tfpb.DataType_DT_INT8:          {garner.I8, intVal, 8, protowire.VarintType},
	tfpb.DataType_DT_INT16:         {garner.I16, intVal, 16, protowire.VarintType},
	tfpb.DataType_DT_INT32:         {garner.I32, intVal, 32, protowire.VarintType},
	tfpb.DataType_DT_INT64:         {garner.I64, int64Val, 64, protowire.VarintType},
	tfpb.DataType_DT_UINT8:         {garner.U8, intVal, 8, protowire.VarintType},
	tfpb.DataType_DT_UINT16:        {garner.U16, intVal, 16, protowire.VarintType},
	tfpb.DataType_DT_UINT32:        {garner.U32, uint32Val, 32, protowire.VarintType},
	tfpb.DataType_DT_UINT64:        {garner.U64, uint64Val, 64, protowire.VarintType},
	tfpb.DataType_DT_BOOL:          {garner.Bool, boolVal, 8, protowire.VarintType},
	tfpb.DataType_DT_COMPLEX64:     {garner.Complex64, scomplexVal, 32, protowire.Fixed32Type},
	tfpb.DataType_DT_COMPLEX128:    {garner.Complex128, dcomplexVal, 64, protowire.Fixed64Type},
	tfpb.DataType_DT_STRING:        {garner.String, stringVal, 0, protowire.BytesType},
	tfpb.DataType_DT_FLOAT8_E5M2:   {garner.F8E5M2, 0, 8, protowire.VarintType},
	tfpb.DataType_DT_FLOAT8_E4M3FN: {garner.F8E4M3FN, 0, 8, protowire.VarintType},
}

// narrow are dtypes that TensorFlow stores as a byte each, and garner packs.
var narrow = map[tfpb.DataType]garner.DType{tfpb.DataType_DT_INT4: garner.I4, tfpb.DataType_DT_UINT4: garner.U4}

// references begin the numbers of types that are references to a variable.
const references = 100

// dtypeOf gives garner's dtype for a type; Invalid for one that garner lacks. readable says
// that garner reads the elements of tensors of it.
func dtypeOf(t tfpb.DataType) (d garner.DType, readable bool) {
	if t > references {
		t -= references
	}
	if of, ok := dtypes[t]; ok {
		return of.dtype, true
	}
	return narrow[t], false
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

// constant makes a constant of a TensorProto. It checks all but the values of the elements.
func (r *reader) constant(t *tfpb.TensorProto, name string) (*model.Constant, error) {
	e, ok := schema.Number(t.GetTensorContent(), r.elements)
	if !ok {
		return nil, errors.New("it has no elements")
	}
	if err := r.Spend(protofile.ConstantBytes); err != nil {
		return nil, err
	}
	if t.GetTensorShape().GetUnknownRank() {
		return nil, errors.New("its shape is not said; write it")
	}
	dims := make([]int64, len(t.GetTensorShape().GetDim()))
	for i, d := range t.GetTensorShape().GetDim() {
		dims[i] = d.Size
	}
	shape, err := shapeOf(dims)
	if err != nil {
		return nil, err
	}
	dtype, readable := dtypeOf(t.Dtype)
	spec := garner.SpecOf(dtype, shape...)
	of := dtypes[t.Dtype]
	if !readable || of.field == 0 && e.Field == float8Val {
		return unreadable(r.path, name, spec, "its elements are %s, which garner does not read; cast it to another type", t.Dtype), nil
	}
	if e.Other != 0 {
		return nil, fmt.Errorf("its elements stand in %s and in %s; leave one", schema.FieldName(e.Field), schema.FieldName(e.Other))
	}
	if dtype == garner.String && e.Field == tensorContent {
		return unreadable(r.path, name, spec, "its strings stand in tensor_content, which garner does not read; write them in string_val"), nil
	}
	l := protofile.Layout{DType: dtype, Shape: shape, Field: of.field, Bits: of.bits, Wire: of.wire, Fewer: true}
	if err := e.Check(l); err != nil {
		return nil, err
	}
	tensor := func() (garner.Tensor, error) { return e.Tensor(l) }
	if r.file != nil {
		tensor = func() (garner.Tensor, error) {
			return beside.Tensor(r.file, 0, r.file.Size(), func([]byte) (garner.Tensor, error) { return e.Tensor(l) })
		}
	}
	c := model.NewConstant(name, spec, func() (garner.Tensor, error) {
		made, err := tensor()
		return made, atConstant(r.path, name, err)
	})
	in, inPlace := e.InPlace(l)
	c.Encoded = !inPlace && !e.Splat(l)
	if inPlace && r.file != nil {
		c.File, c.Offset, c.Size, c.State = r.file.Path(), int64(e.At), int64(len(in)), source.FileState(r.file.Stamp())
	}
	return c, nil
}
