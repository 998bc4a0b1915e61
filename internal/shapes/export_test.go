package shapes

import (
	"maps"
	"slices"
)

// RuledOps are the operators of ONNX and of ONNX Runtime that have rules.
func RuledOps() (list []string) {
	for op := range onnxRules {
		list = append(list, op)
	}
	for op := range microsoftRules {
		list = append(list, "com.microsoft."+op)
	}
	return list
}

// RuledTensorFlowOps are the operators of TensorFlow that have rules.
func RuledTensorFlowOps() []string { return slices.Collect(maps.Keys(tensorflowRules)) }
