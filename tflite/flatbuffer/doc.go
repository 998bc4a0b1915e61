// Package flatbuffer reads models of LiteRT (TensorFlow Lite): .tflite files, and the
// files beside them that hold external buffers.
//
//	m, err := flatbuffer.Open("model.tflite", flatbuffer.Options{})
//	defer m.Close()
//	for n := range m.Gathers() {
//		fmt.Println(n.Name, n.Operator, n.Outputs[0])
//	}
//
// Every subgraph of the file is in the model. Those that operators refer to (IF, WHILE,
// CALL_ONCE and the like) are sub-graphs of the node, one copy for each. The others are
// the model's graph: the first of the file, those of signatures, and what nothing refers
// to. Where that are several, the names of inputs and results begin with the signature's
// key, or the subgraph's name: "decode/x". Options.Signature reads one signature alone,
// whose names have no such beginning.
//
// An input and a result have the names of the signature, and the tensor's name as an alias. A
// node has the name of the tensor that it makes, for operators have none. An operator
// reads tensors in the order of the file, as the Interpreter does. The input ids of
// EMBEDDING_LOOKUP is the node's second, behind the table, as in every gather; where the
// operator decodes a quantised table, a third input has the table's scales.
//
// The elements of constants stay in the mapped file, also those that are behind the
// flatbuffer (Buffer.offset) and in files beside it (external_buffers). How a tensor is
// quantised is in [model.Value.Quantised].
//
// A model is untrusted. The reader refuses a file that is truncated, that contradicts
// itself, or whose parts refer to each other more often than those of any real model,
// and says where. It opens files of elements in the model's folder only.
//
// Schema: https://github.com/google-ai-edge/LiteRT/blob/main/tflite/converter/schema/schema.fbs
package flatbuffer
