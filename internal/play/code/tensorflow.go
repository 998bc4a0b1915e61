package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// tensors turns the arrays of NumPy into tensors of TensorFlow.
func (w *writer) tensors() {
	for _, t := range append([]operand{{"data", w.call.Data}, {"indices", w.call.Indices}}, w.operands...) {
		if t.tensor.DType().Bits() < 8 && t.tensor.DType() != garner.String {
			w.fail("TensorFlow gathers no %s of %s", t.name, t.tensor.DType())
		}
	}
	w.arrays()
	w.line("data, indices = tf.constant(data), tf.constant(indices)")
}

func (w *writer) tensorflow() {
	w.imports("import tensorflow as tf")
	w.tensors()
	more := func(name string) string {
		if w.operand(name) == nil {
			w.fail("%s needs %s", w.op.Name, name)
		}
		return name
	}
	call := ""
	switch name := w.function(); name {
	case "GatherNd", "Gather":
		call = fmt.Sprintf("tf.raw_ops.%s(params=data, indices=indices%s)", name, w.keywords("validate_indices", "bad_indices_policy"))
	case "GatherV2":
		call = fmt.Sprintf("tf.raw_ops.GatherV2(params=data, indices=indices, axis=%d%s)", w.number("axis"), w.keywords("batch_dims"))
	case "gather", "gather_nd":
		call = fmt.Sprintf("tf.%s(data, indices%s)", name, w.keywords("axis", "batch_dims", "bad_indices_policy"))
	case "batch_gather":
		call = "tf.compat.v1.batch_gather(data, indices)"
	case "sparse_segment_sum", "sparse_segment_mean", "sparse_segment_sqrtn":
		name = map[string]string{"sum": "sum", "mean": "mean", "sqrtn": "sqrt_n"}[name[strings.LastIndexByte(name, '_')+1:]]
		call = fmt.Sprintf("tf.sparse.segment_%s(data, indices, %s%s)", name, more("segment_ids"), w.keywords("num_segments"))
	case "embedding_lookup_sparse", "safe_embedding_lookup_sparse":
		at := more("ids_indices")
		if w.operand(at).DType() != garner.I64 {
			at += ".astype(np.int64)" // a SparseTensor has no other
		}
		w.line("ids = tf.SparseTensor(%s, indices, %s)", at, w.value(w.integers("dense_shape")))
		weights := "None"
		if w.operand("weights") != nil {
			w.line("sparse_weights = tf.SparseTensor(%s, weights, %s)", at, w.value(w.integers("dense_shape")))
			weights = "sparse_weights"
		}
		call = fmt.Sprintf("tf.nn.%s(data, ids, %s%s)", name, weights, w.keywords("combiner"))
		if name == "safe_embedding_lookup_sparse" {
			call = fmt.Sprintf("tf.nn.%s(data, ids, sparse_weights=%s%s)", name, weights, w.keywords("combiner", "default_id"))
		}
	default:
		w.fail("no Python is known for %s", w.op.Name)
	}
	w.line("result = %s", call)
	w.printTensor("result.numpy()")
}

// printTensor prints an array that may be the bytes of one string.
func (w *writer) printTensor(array string) {
	if w.call.Data.DType() == garner.String {
		array = "np.array(" + array + ", dtype=object)"
	}
	w.line("print(result.dtype.name, tuple(result.shape), %s.tolist())", array)
}

// tfliteTypes are the types of data that TensorFlow's converter makes gathers of.
var tfliteTypes = []garner.DType{garner.Bool, garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.F32, garner.String}

// tflite writes a function of TensorFlow that is converted to one operator and
// interpreted.
func (w *writer) tflite() {
	if !slices.Contains(tfliteTypes, w.call.Data.DType()) {
		w.fail("TensorFlow's converter makes no %s of %s", w.op.Name, w.call.Data.DType())
	}
	if w.call.Data.Len() == 0 || w.call.Indices.Len() == 0 {
		w.fail("TFLite's interpreter takes no tensor without elements")
	}
	w.imports("import tensorflow as tf")
	w.tensors()
	body := "tf.gather_nd(data, indices)"
	if w.op.Name == "tflite.GATHER" {
		body = "tf.gather(data, indices" + w.keywords("axis", "batch_dims") + ")"
	}
	w.line("function = tf.function(lambda data, indices: %s)", body)
	w.line("model = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function(")
	w.line("    tf.TensorSpec(data.shape, data.dtype), tf.TensorSpec(indices.shape, indices.dtype))], function).convert()")
	w.line("interpreter = tf.lite.Interpreter(model_content=model)")
	w.line("interpreter.allocate_tensors()")
	w.line("for given, value in zip(interpreter.get_input_details(), [data, indices]):")
	w.line("    interpreter.set_tensor(given[\"index\"], value.numpy())")
	w.line("interpreter.invoke()")
	w.line("result = interpreter.get_tensor(interpreter.get_output_details()[0][\"index\"])")
	w.print()
}
