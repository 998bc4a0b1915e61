package operators

import "github.com/garner-go/garner"

// onnxTypes has garner's dtypes by ONNX's numbers (TensorProto.DataType).
var onnxTypes = map[int64]garner.DType{
	1: garner.F32, 2: garner.U8, 3: garner.I8, 4: garner.U16, 5: garner.I16, 6: garner.I32, 7: garner.I64, 8: garner.String,
	9: garner.Bool, 10: garner.F16, 11: garner.F64, 12: garner.U32, 13: garner.U64, 14: garner.Complex64, 15: garner.Complex128,
	16: garner.BF16, 17: garner.F8E4M3FN, 18: garner.F8E4M3FNUZ, 19: garner.F8E5M2, 20: garner.F8E5M2FNUZ, 21: garner.U4, 22: garner.I4,
	23: garner.F4E2M1, 24: garner.F8E8M0, 25: garner.U2, 26: garner.I2,
}

// ONNXType gives the dtype that ONNX has a number for, as a tensor's type and the
// attribute to of Cast have it; Invalid for a type that garner lacks.
func ONNXType(number int64) garner.DType { return onnxTypes[number] }
