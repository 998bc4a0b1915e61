package onnx

import "github.com/garner-go/garner"

// MicrosoftGatherND1 is GatherND of the domain com.microsoft, the predecessor of
// ONNX's own GatherND: slices of data at index tuples.
//
//	output[i_0…i_{q-2}, :] = data[indices[i_0…i_{q-2}, 0…k-1], :]
//
// An index outside -s … s-1 is an error. The page lists no attribute, but its
// third test sets batch_dims. garner gives it the meaning that it has in
// [GatherND12]; ONNX Runtime refuses the attribute in this domain.
//
// Spec: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherND
type MicrosoftGatherND1 struct {
	BatchDims int `attr:"batch_dims"` // b: 0 … min(ranks)-1; the first b dims are equal
}

// Lower spends the operands' axes; see garner.Op.
func (g MicrosoftGatherND1) Lower(l *garner.Lowering) { lowerGatherND(l, g.BatchDims) }
