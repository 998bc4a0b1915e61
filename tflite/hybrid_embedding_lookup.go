package tflite

import "github.com/garner-go/garner"

// HybridEmbeddingLookup is the operator EMBEDDING_LOOKUP of a quantised table and a result of
// f32: it decodes the rows that it takes. The further operand scale is that of the table's
// quantisation, one number or one for each row; the zero point is 0.
//
//	output[i, :] = data[indices[i], :]·scale[indices[i]]
//
// Spec: https://ai.google.dev/edge/litert/conversion/tensorflow/op_compatibility#tfl.embedding_lookup
type HybridEmbeddingLookup struct{}

var hybridOperands = []garner.Operand{{Name: "scale"}}

// Operands returns scale; see garner.Operander.
func (HybridEmbeddingLookup) Operands() []garner.Operand { return hybridOperands }

// Lower spends the operands' axes; see garner.Op.
func (HybridEmbeddingLookup) Lower(l *garner.Lowering) {
	if d := l.Data().DType; d != garner.I8 && d != garner.I4 && d != garner.I2 { // LH.1
		l.FailDType("data is %s; codes may be i8, i4 or i2", d)
	}
	l.StoredCodes(garner.Codes{Scales: "scale", DType: garner.F32, Axis: -1}) // LH.2
	lookUp(l)                                                                 // LH.3
}
