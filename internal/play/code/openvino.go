package code

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/garner-go/garner"
)

// openvinoTypes are the element types of OpenVINO that NumPy lacks.
var openvinoTypes = map[garner.DType]string{
	garner.BF16: "bf16", garner.F8E4M3FN: "f8e4m3", garner.F8E5M2: "f8e5m2", garner.F8E8M0: "f8e8m0", garner.F4E2M1: "f4e2m1", garner.NF4: "nf4",
	garner.I4: "i4", garner.U4: "u4", garner.U2: "u2",
}

// packedTensor declares a tensor of a type that NumPy lacks, of its bytes.
func (w *writer) packedTensor(name string, t garner.Tensor) {
	kind, ok := openvinoTypes[t.DType()]
	if !ok {
		w.fail("OpenVINO has no type for %s of %s that Python could fill", name, t.DType())
	}
	w.line("%s = ov.Tensor(ov.Type.%s, ov.Shape([%s]))  # %s", name, kind, ints(t.Shape()), strings.Join(w.elements(t), ", "))
	if t.Len() > 0 {
		w.line("%s.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(bytes.fromhex(%q), np.uint8)", name, hex.EncodeToString(w.bytes(t)))
	}
}

// openvino writes a model of one operator and its run on the CPU, in the precision of its
// types.
func (w *writer) openvino() {
	all := []operand{{"data", w.call.Data}, {"indices", w.call.Indices}}
	all = append(all, w.operands...)
	set := "opset8"
	name, version := w.function(), w.op.Version()
	if version > 0 {
		set = fmt.Sprintf("opset%d", version)
	}
	compressed := w.op.Name == "openvino.compressed-gather"
	sets := "from openvino import " + set
	if compressed {
		sets = "from openvino import opset1, opset8"
	} else if set != "opset1" {
		sets = "from openvino import opset1, " + set
	}
	w.line("import numpy as np\nimport openvino as ov\n%s\n", sets)
	var parameters, feed []string
	for _, o := range all {
		d := o.tensor.DType()
		switch _, plain := numpyTypes[d]; {
		case d.IsComplex():
			w.fail("OpenVINO has no complex numbers")
		case d == garner.String && o.tensor.Len() > 0:
			w.line("%s = ov.Tensor(%s)", o.name, w.arrayOf(o.tensor, "np.str_"))
		case plain && !ofMLDtypes(d) && d != garner.String:
			w.line("%s = ov.Tensor(%s)", o.name, w.arrayOf(o.tensor, numpyTypes[d]))
		default:
			w.packedTensor(o.name, o.tensor)
		}
	}
	for _, o := range all {
		if compressed && o.name != "indices" {
			w.line("%s = ov.op.Constant(%s)", o.name, o.name)
			continue
		}
		w.line("%s_in = opset1.parameter(list(%s.shape), %s.element_type)", o.name, o.name, o.name)
		parameters, feed = append(parameters, o.name+"_in"), append(feed, o.name)
	}
	constant := func(n any) string { return fmt.Sprintf("opset1.constant(np.array(%s, np.int64))", w.value(n)) }
	index := func(n any) string { // numbers beside indices are of their type
		return fmt.Sprintf("opset1.constant(np.array(%s, np.int%d))", w.value(n), w.call.Indices.DType().Bits())
	}
	more := ""
	if v := w.attribute("default_index"); v.value != nil {
		more += ", default_index=" + index(v.value)
	}
	if w.operand("per_sample_weights") != nil {
		if more == "" && !strings.Contains(name, "Packed") {
			more = ", default_index=" + index(-1) // the weights follow it; -1 means that there is none
		}
		more += ", per_sample_weights=per_sample_weights_in"
	}
	reduction := ""
	if w.attribute("reduction").value != nil {
		reduction = fmt.Sprintf(", reduction=%q", "sum")
		if word := w.word("reduction"); word != "" {
			reduction = ", reduction=" + w.quoted(word)
		}
	}
	needs := func(name string) string {
		if w.operand(name) == nil {
			w.fail("%s needs %s", w.op.Name, name)
		}
		return name + "_in"
	}
	switch name {
	case "Gather":
		batch := ""
		if version > 1 {
			batch = fmt.Sprintf(", batch_dims=%d", w.number("batch_dims"))
		}
		w.line("node = %s.gather(data_in, indices_in, %s%s)", set, constant(w.number("axis")), batch)
	case "GatherND":
		w.line("node = %s.gather_nd(data_in, indices_in, batch_dims=%d)", set, w.number("batch_dims"))
	case "GatherElements":
		w.line("node = %s.gather_elements(data_in, indices_in, axis=%d)", set, w.number("axis"))
	case "EmbeddingBagOffsetsSum":
		w.line("node = %s.embedding_bag_offsets_sum(data_in, indices_in, %s%s)", set, needs("offsets"), more)
	case "EmbeddingBagOffsets":
		w.line("node = %s.embedding_bag_offsets(data_in, indices_in, %s%s%s)", set, needs("offsets"), reduction, more)
	case "EmbeddingBagPackedSum":
		w.line("node = %s.embedding_bag_packed_sum(data_in, indices_in%s)", set, more)
	case "EmbeddingBagPacked":
		w.line("node = %s.embedding_bag_packed(data_in, indices_in%s%s)", set, reduction, more)
	case "EmbeddingSegmentsSum":
		w.line("node = %s.embedding_segments_sum(data_in, indices_in, %s, %s%s)", set, needs("segment_ids"), index(w.number("num_segments")), more)
	case "compressed-gather":
		w.compressed(constant)
	default:
		w.fail("no Python is known for %s", w.op.Name)
	}
	if d := w.call.Data.DType(); !compressed && ofMLDtypes(d) {
		w.line("node = opset1.convert(node, \"f32\")  # NumPy has no type of the result")
	}
	w.line("model = ov.Model([node], [%s], \"gather\")", strings.Join(parameters, ", "))
	w.line("compiled = ov.Core().compile_model(model, \"CPU\", {\"INFERENCE_PRECISION_HINT\": \"f32\"})")
	w.line("result = np.asarray(compiled([%s])[0])", strings.Join(feed, ", "))
	w.print()
}

// compressed writes the pattern of a compressed table: all but the indices is constant.
func (w *writer) compressed(constant func(n any) string) {
	scale := w.operand("scale")
	if scale == nil {
		w.fail("%s needs scale", w.op.Name)
	}
	if v := w.number("version"); v != 0 && v != 8 {
		w.fail("the pattern is written with Gather-8, not with Gather-%d", v)
	}
	w.line("table = opset1.convert(data, %q)", scale.DType().String())
	if w.operand("zero_point") != nil {
		w.line("table = opset1.subtract(table, opset1.convert(zero_point, %q))", scale.DType().String())
	}
	w.line("table = opset1.multiply(table, scale)")
	if list := w.integers("reshape"); len(list) > 0 {
		w.line("table = opset1.reshape(table, %s, False)", constant(list))
	}
	if word := w.word("output"); word != "" {
		d, err := garner.ParseDType(word)
		if err != nil {
			panic(failure{err})
		}
		w.line("table = opset1.convert(table, %q)", d.String())
	}
	w.line("node = opset8.gather(table, indices_in, %s, batch_dims=%d)", constant(w.number("axis")), w.number("batch_dims"))
}
