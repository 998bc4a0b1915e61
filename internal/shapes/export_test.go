package shapes

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
