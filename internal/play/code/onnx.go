package code

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner"
)

// onnxTypes are the element types of ONNX.
var onnxTypes = map[garner.DType]string{
	garner.Bool: "BOOL", garner.I8: "INT8", garner.I16: "INT16", garner.I32: "INT32", garner.I64: "INT64", garner.U8: "UINT8", garner.U16: "UINT16",
	garner.U32: "UINT32", garner.U64: "UINT64", garner.F16: "FLOAT16", garner.BF16: "BFLOAT16", garner.F32: "FLOAT", garner.F64: "DOUBLE",
	garner.Complex64: "COMPLEX64", garner.Complex128: "COMPLEX128", garner.String: "STRING", garner.I4: "INT4", garner.U4: "UINT4", garner.I2: "INT2",
	garner.U2: "UINT2", garner.F8E4M3FN: "FLOAT8E4M3FN", garner.F8E5M2: "FLOAT8E5M2", garner.F8E4M3FNUZ: "FLOAT8E4M3FNUZ", garner.F8E5M2FNUZ: "FLOAT8E5M2FNUZ",
	garner.F8E8M0: "FLOAT8E8M0", garner.F4E2M1: "FLOAT4E2M1",
}

func (w *writer) onnxType(name string, d garner.DType) string {
	kind, ok := onnxTypes[d]
	if !ok {
		w.fail("ONNX has no type for %s of %s", name, d)
	}
	return "TensorProto." + kind
}

// onnx writes a model of one node and its run in ONNX Runtime. Operands of types that
// NumPy lacks are constants of the model, and results of those are converted to floats.
func (w *writer) onnx() {
	domain, version, opset, ir := "", w.op.Version(), w.op.Version(), 8
	if strings.HasPrefix(w.op.Name, "com.microsoft.") {
		domain, opset = "com.microsoft", 13
	}
	stored := len(w.op.Further()) > 0 // codes, scales and zero points are constants, as in models
	if stored {
		opset, ir = 21, 11
		if w.call.Data.DType() == garner.F4E2M1 {
			opset = 23
		}
	}
	of := w.call.Data.DType()
	if of.IsComplex() {
		w.fail("ONNX Runtime has no complex numbers")
	}
	if domain != "" && w.number("batch_dims") != 0 {
		w.fail("ONNX Runtime's %s has no attribute batch_dims, although its page sets it", w.op.Name)
	}
	if scales := w.operand("scales"); scales != nil {
		of = scales.DType()
	}
	result := w.onnxType("the result", of)
	type input struct {
		name     string
		tensor   garner.Tensor
		constant bool
	}
	inputs := []input{{"data", w.call.Data, stored || ofMLDtypes(w.call.Data.DType())}, {"indices", w.call.Indices, ofMLDtypes(w.call.Indices.DType())}}
	for _, o := range w.operands {
		inputs = append(inputs, input{o.name, o.tensor, true})
	}
	w.imports("import onnx", "import onnxruntime as ort", "from onnx import TensorProto, helper, numpy_helper")
	w.arrays()
	var names, infos, constants, feed []string
	for _, in := range inputs {
		names = append(names, fmt.Sprintf("%q", in.name))
		if in.constant {
			constants = append(constants, fmt.Sprintf("numpy_helper.from_array(%s, %q)", in.name, in.name))
			continue
		}
		infos = append(infos, fmt.Sprintf("helper.make_tensor_value_info(%q, %s, %s)", in.name, w.onnxType(in.name, in.tensor.DType()), "["+ints(in.tensor.Shape())+"]"))
		feed = append(feed, fmt.Sprintf("%q: %s", in.name, in.name))
	}
	attributes := ""
	for _, a := range w.attributes {
		if !a.zero || a.pointer && a.value != nil || a.name == "axis" {
			attributes += fmt.Sprintf(", %s=%s", a.name, w.value(a.value))
		}
	}
	if domain != "" {
		attributes += fmt.Sprintf(", domain=%q", domain)
	}
	w.line("nodes = [helper.make_node(%q, [%s], [\"result\"]%s)]", w.function(), strings.Join(names, ", "), attributes)
	output := "result"
	if ofMLDtypes(of) {
		w.line("nodes.append(helper.make_node(\"Cast\", [\"result\"], [\"floats\"], to=TensorProto.FLOAT))  # NumPy has no type of the result")
		output, result = "floats", "TensorProto.FLOAT"
	}
	w.line("inputs = [%s]", strings.Join(infos, ", "))
	w.line("constants = [%s]", strings.Join(constants, ", "))
	w.line("outputs = [helper.make_tensor_value_info(%q, %s, None)]", output, result)
	w.line("graph = helper.make_graph(nodes, \"gather\", inputs, outputs, constants)")
	opsets := fmt.Sprintf("helper.make_opsetid(\"\", %d)", opset)
	if domain != "" {
		opsets += fmt.Sprintf(", helper.make_opsetid(%q, %d)", domain, version)
	}
	w.line("model = helper.make_model(graph, opset_imports=[%s], ir_version=%d)", opsets, ir)
	w.line("session = ort.InferenceSession(model.SerializeToString(), providers=[\"CPUExecutionProvider\"])")
	w.line("result = session.run(None, {%s})[0]", strings.Join(feed, ", "))
	w.print()
}
