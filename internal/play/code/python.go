package code

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// numpyTypes are the dtypes of NumPy, and of the package ml_dtypes.
var numpyTypes = map[garner.DType]string{
	garner.Bool: "np.bool_", garner.I8: "np.int8", garner.I16: "np.int16", garner.I32: "np.int32", garner.I64: "np.int64", garner.U8: "np.uint8",
	garner.U16: "np.uint16", garner.U32: "np.uint32", garner.U64: "np.uint64", garner.F16: "np.float16", garner.F32: "np.float32", garner.F64: "np.float64",
	garner.Complex64: "np.complex64", garner.Complex128: "np.complex128", garner.String: "object",
	garner.BF16: "ml_dtypes.bfloat16", garner.F8E4M3FN: "ml_dtypes.float8_e4m3fn", garner.F8E5M2: "ml_dtypes.float8_e5m2",
	garner.F8E4M3FNUZ: "ml_dtypes.float8_e4m3fnuz", garner.F8E5M2FNUZ: "ml_dtypes.float8_e5m2fnuz", garner.F8E8M0: "ml_dtypes.float8_e8m0fnu",
	garner.F4E2M1: "ml_dtypes.float4_e2m1fn", garner.I4: "ml_dtypes.int4", garner.U4: "ml_dtypes.uint4", garner.I2: "ml_dtypes.int2", garner.U2: "ml_dtypes.uint2",
}

// ofMLDtypes reports whether NumPy itself lacks a dtype.
func ofMLDtypes(d garner.DType) bool { return strings.HasPrefix(numpyTypes[d], "ml_dtypes.") }

// frameworks write the Python of a dialect.
var frameworks = map[string]func(w *writer){
	"numpy": (*writer).numpy, "torch": (*writer).torch, "jax": (*writer).jax, "stablehlo": (*writer).stablehlo, "tensorflow": (*writer).tensorflow,
	"tflite": (*writer).tflite, "onnx": (*writer).onnx, "com.microsoft": (*writer).onnx, "openvino": (*writer).openvino, "gguf": (*writer).gguf,
}

// python writes Python of the operator's framework.
func (w *writer) python() {
	dialect := w.op.Name[:strings.LastIndexByte(w.op.Name, '.')]
	if dialect == "jax.numpy" || dialect == "jax.lax" {
		dialect = "jax"
	}
	write := frameworks[dialect]
	switch {
	case dialect == "garner":
		w.fail("%s is an operator of this module; no Python framework has it", w.op.Name)
	case dialect == "webnn":
		w.fail("WebNN is an interface of browsers; it has no Python")
	case write == nil:
		w.fail("no Python is known for %s", w.op.Name)
	}
	w.specified()
	write(w)
}

// specified refuses types that the operator's own specification does not list.
func (w *writer) specified() {
	if words := Beyond(w.op, w.call); words != "" {
		w.fail("%s", words)
	}
}

// Beyond says in words which types of a call are not of those that the operator's own
// specification lists: garner takes more than the frameworks do. It is empty where all are.
func Beyond(op operators.Operator, call Call) string {
	ofData, ofIndices, _ := strings.Cut(op.Types, "indices ")
	no := func(what string, d garner.DType) string {
		return fmt.Sprintf("%s does not take %s of %s; its specification: %s", op.Name, what, d, op.Types)
	}
	d, index := call.Data.DType(), call.Indices.DType()
	if strings.Contains(ofData, " but ") {
		packed, f8 := d != garner.String && d.Bits() < 8, d.IsFloat() && d.Bits() == 8
		if packed || f8 || d == garner.BF16 && strings.Contains(ofData, "bf16") {
			return no("data", d)
		}
	}
	if strings.Contains(ofData, "a float") && !d.IsFloat() {
		return no("data", d)
	}
	if index.Valid() && !strings.Contains(ofIndices, "any integer") && !slices.Contains(strings.FieldsFunc(ofIndices, func(r rune) bool { return r == ' ' || r == ',' }), index.String()) {
		return no("indices", index)
	}
	if strings.HasPrefix(op.Name, "openvino.Embedding") { // T_IND is one type
		for i, name := range op.Further() {
			if (name == "offsets" || name == "segment_ids") && i < len(call.Operands) && call.Operands[i].DType().Valid() && call.Operands[i].DType() != index {
				return fmt.Sprintf("%s takes %s of the type of the indices alone, which are %s", op.Name, name, index)
			}
		}
	}
	return ""
}

// function gives the name of the operator without its dialect and version.
func (w *writer) function() string {
	name := w.op.Name[strings.LastIndexByte(w.op.Name, '.')+1:]
	if v := w.op.Version(); v > 0 {
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(v))
	}
	return name
}

// imports writes the imports of NumPy, and of ml_dtypes where an operand needs it.
func (w *writer) imports(lines ...string) {
	needs := func(t garner.Tensor) bool { return ofMLDtypes(t.DType()) }
	if needs(w.call.Data) || needs(w.call.Indices) || slices.ContainsFunc(w.call.Operands, needs) {
		lines = append(lines, "import ml_dtypes")
	}
	for _, l := range append(lines, "import numpy as np", "") {
		w.line("%s", l)
	}
}

// arrays declares data, indices and the further operands as arrays of NumPy.
func (w *writer) arrays() {
	w.array("data", w.call.Data)
	if garner.TakesIndices(w.op.Zero) {
		w.array("indices", w.call.Indices)
	}
	for _, o := range w.operands {
		w.array(o.name, o.tensor)
	}
}

// array declares an array of NumPy.
func (w *writer) array(name string, t garner.Tensor) {
	kind, ok := numpyTypes[t.DType()]
	if !ok {
		w.fail("NumPy has no type for %s of %s", name, t.DType())
	}
	w.line("%s = %s", name, w.arrayOf(t, kind))
}

func (w *writer) arrayOf(t garner.Tensor, kind string) string {
	if t.Len() == 0 {
		return fmt.Sprintf("np.zeros(%s, dtype=%s)", tuple(t.Shape()), kind)
	}
	return fmt.Sprintf("np.array(%s, dtype=%s)", w.lists(t), kind)
}

// lists gives the elements of a tensor as lists in lists of Python.
func (w *writer) lists(t garner.Tensor) string {
	list := w.elements(t)
	var b strings.Builder
	nested(&b, t.Shape(), 0, "[", "]", func(i int) { b.WriteString(w.element(t.DType(), list[i])) })
	return b.String()
}

// element gives the text of an element as Python.
func (w *writer) element(d garner.DType, text string) string {
	switch {
	case d == garner.String:
		return w.quoted(text)
	case d == garner.Bool:
		return strings.ToUpper(text[:1]) + text[1:]
	case d.IsComplex():
		re, im := parts(text)
		return "complex(" + float(re) + ", " + float(im) + ")"
	case d.IsFloat():
		return float(text)
	}
	return text
}

// float gives the text of a float as Python.
func float(text string) string {
	switch text {
	case "NaN":
		return `float("nan")`
	case "Infinity":
		return `float("inf")`
	case "-Infinity":
		return `float("-inf")`
	}
	return text
}

// quoted gives a string as a literal of Python, in ASCII. Python's strings are of Unicode.
func (w *writer) quoted(s string) string {
	if !utf8.ValidString(s) {
		w.fail("Python's strings are of Unicode; %q is not UTF-8", s)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tuple gives a shape as a tuple of Python.
func tuple(list []int) string {
	if len(list) == 1 {
		return "(" + strconv.Itoa(list[0]) + ",)"
	}
	return "(" + ints(list) + ")"
}

// value gives an attribute's value as Python.
func (w *writer) value(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return w.quoted(v)
	case []int:
		return "[" + ints(v) + "]"
	}
	return fmt.Sprint(v)
}

// keywords gives the attributes of these names as arguments of a call: numbers always,
// others where they are not at their defaults.
func (w *writer) keywords(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		a := w.attribute(name)
		if _, number := a.value.(int); number || !a.zero || a.pointer && a.otherwise != "" {
			fmt.Fprintf(&b, ", %s=%s", name, w.value(a.value))
		}
	}
	return b.String()
}

// fillValue gives the attribute fill_value as an argument of a call: one element of data's
// type.
func (w *writer) fillValue() string {
	text := w.word("fill_value")
	if text == "" {
		return ""
	}
	t, err := garner.New(w.call.Data.DType())
	if err == nil {
		err = t.SetText(0, text)
	}
	if err != nil {
		panic(failure{err})
	}
	return ", fill_value=" + w.element(t.DType(), w.elements(t)[0])
}

// print writes the line that prints an array: its type, its shape, its elements.
func (w *writer) print() {
	w.line("print(result.dtype, tuple(result.shape), result.tolist())")
}

func (w *writer) numpy() {
	w.imports()
	w.arrays()
	call := fmt.Sprintf("np.%s(data, indices%s)", w.function(), w.keywords("axis", "mode"))
	if w.call.Data.DType() == garner.String {
		call = "np.asarray(" + call + ", dtype=object)" // NumPy gives one string as itself
	}
	w.line("result = %s", call)
	w.print()
}

func (w *writer) gguf() {
	if w.op.Name != "gguf.dequantize" {
		w.fail("%s is a function of ggml, in C; gguf-py has gguf.dequantize alone", w.op.Name)
	}
	w.imports("from gguf import GGMLQuantizationType", "from gguf.quants import dequantize")
	w.arrays()
	w.line("result = dequantize(data, GGMLQuantizationType[%s])", w.quoted(w.word("type")))
	w.print()
}

// torchTypes are the dtypes of PyTorch.
var torchTypes = map[garner.DType]string{
	garner.Bool: "bool", garner.I8: "int8", garner.I16: "int16", garner.I32: "int32", garner.I64: "int64", garner.U8: "uint8", garner.U16: "uint16",
	garner.U32: "uint32", garner.U64: "uint64", garner.F16: "float16", garner.BF16: "bfloat16", garner.F32: "float32", garner.F64: "float64",
	garner.Complex64: "complex64", garner.Complex128: "complex128", garner.F8E4M3FN: "float8_e4m3fn", garner.F8E5M2: "float8_e5m2",
	garner.F8E4M3FNUZ: "float8_e4m3fnuz", garner.F8E5M2FNUZ: "float8_e5m2fnuz", garner.F8E8M0: "float8_e8m0fnu",
}

func (w *writer) torchTensor(name string, t garner.Tensor) {
	kind, ok := torchTypes[t.DType()]
	switch {
	case !ok:
		w.fail("PyTorch has no type for %s of %s", name, t.DType())
	case t.Len() == 0:
		w.line("%s = torch.zeros(%s, dtype=torch.%s)", name, tuple(t.Shape()), kind)
	case t.DType().IsFloat() && t.DType().Bits() == 8:
		w.line("%s = torch.tensor(%s, dtype=torch.float32).to(torch.%s)", name, w.lists(t), kind)
	default:
		w.line("%s = torch.tensor(%s, dtype=torch.%s)", name, w.lists(t), kind)
	}
}

func (w *writer) torch() {
	call := ""
	more := func(names ...string) (text string) {
		for _, name := range names {
			if w.operand(name) != nil {
				text += ", " + name + "=" + name
			}
		}
		return text
	}
	codes := map[int]string{8: "byte", 4: "4bit", 2: "2bit"}[w.number("bits")]
	switch name := w.function(); name {
	case "gather", "index_select":
		call = fmt.Sprintf("torch.%s(data, %d, indices%s)", name, w.number("dim"), w.keywords("sparse_grad"))
	case "take":
		if d := w.call.Data.DType(); d.IsFloat() && d.Bits() == 8 || d.IsUnsigned() && d.Bits() > 8 {
			w.fail("PyTorch's take has no kernel for %s", d)
		}
		call = "torch.take(data, indices)"
	case "take_along_dim":
		call = "torch.take_along_dim(data, indices" + w.keywords("dim") + ")"
	case "embedding":
		call = "torch.nn.functional.embedding(indices, data" + w.keywords("padding_idx") + ")"
	case "embedding_bag":
		call = "torch.nn.functional.embedding_bag(indices, data" + more("offsets", "per_sample_weights") + w.keywords("mode", "include_last_offset", "padding_idx") + ")"
	case "quantized_embedding":
		w.fail("PyTorch's quantized embedding takes a packed object, which it makes of floats and not of rows of bytes; ask torch.quantized_embedding_bag")
	case "quantized_embedding_bag", "quantized_embedding_unpack":
		if codes == "" {
			w.fail("PyTorch has no operator for codes of %d bits", w.number("bits"))
		}
		if name == "quantized_embedding_unpack" {
			call = "torch.ops.quantized.embedding_bag_" + codes + "_unpack(data)"
		} else {
			call = "torch.ops.quantized.embedding_bag_" + codes + "_rowwise_offsets(data, indices" + more("offsets", "per_sample_weights") + w.keywords("include_last_offset") + ")"
		}
	default:
		w.fail("no Python is known for %s", w.op.Name)
	}
	w.line("import torch\n")
	w.torchTensor("data", w.call.Data)
	if garner.TakesIndices(w.op.Zero) {
		w.torchTensor("indices", w.call.Indices)
	}
	for _, o := range w.operands {
		w.torchTensor(o.name, o.tensor)
	}
	w.line("result = %s", call)
	if d := w.call.Data.DType(); d.IsFloat() && d.Bits() == 8 {
		w.line("print(result.dtype, tuple(result.shape), result.float().tolist())")
		return
	}
	w.print()
}

// jaxImports begins a text of JAX, which has no strings. It takes 64 bits only when told.
func (w *writer) jaxImports() {
	if w.call.Data.DType() == garner.String {
		w.fail("JAX has no strings")
	}
	w.imports("import jax", "import jax.numpy as jnp")
	w.line("jax.config.update(\"jax_enable_x64\", True)")
	w.arrays()
}

func (w *writer) jax() {
	w.jaxImports()
	if w.op.Name == "jax.lax.gather" {
		if v := w.attribute("index_vector_dim"); v.value != nil && v.value.(int) != w.call.Indices.Rank()-1 {
			w.fail("jax.lax.gather takes the last dim of the indices as the index vector, not dim %d", v.value)
		}
		mode := w.word("mode")
		if mode == "" {
			mode = "fill" // JAX 0.10.2 leaves indices outside open where there is no mode
		}
		w.jaxWindows("jnp.asarray(indices)", w.integers("start_indices_batching_dims"), ", mode="+w.quoted(mode)+w.keywords("unique_indices", "indices_are_sorted")+w.fillValue())
		return
	}
	names := []string{"axis", "mode", "unique_indices", "indices_are_sorted", "wrap_negative_indices"}
	w.line("result = jnp.%s(jnp.asarray(data), jnp.asarray(indices)%s%s)", w.function(), w.keywords(names...), w.fillValue())
	w.print()
}

// jaxWindows writes the call of jax.lax.gather.
func (w *writer) jaxWindows(indices string, batching []int, more string) {
	w.line("numbers = jax.lax.GatherDimensionNumbers(")
	for _, name := range []string{"offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims"} {
		w.line("    %s=%s,", name, tuple(w.integers(name)))
	}
	w.line("    start_indices_batching_dims=%s,\n)", tuple(batching))
	w.line("result = jax.lax.gather(jnp.asarray(data), %s, numbers, slice_sizes=%s%s)", indices, tuple(w.integers("slice_sizes")), more)
	w.print()
}

// stablehlo writes the call of JAX that becomes one stablehlo.gather.
func (w *writer) stablehlo() {
	rank, last := w.call.Indices.Rank(), w.number("index_vector_dim")
	indices := "jnp.asarray(indices)"
	batching := slices.Clone(w.integers("start_indices_batching_dims"))
	switch {
	case last < 0 || last > rank || slices.Contains(batching, last):
		w.fail("the index_vector_dim %d is no dim of indices of rank %d that JAX could move to their end", last, rank)
	case last == rank:
		indices += "[..., None]"
	case last < rank-1:
		indices = fmt.Sprintf("jnp.moveaxis(%s, %d, -1)", indices, last)
		for i, d := range batching {
			if d > last {
				batching[i]--
			}
		}
	}
	w.jaxImports()
	w.line("# In this mode jax.lax.gather is one stablehlo.gather.")
	w.jaxWindows(indices, batching, `, mode="promise_in_bounds"`+w.keywords("indices_are_sorted"))
}
