// Package operators finds gather operators by name.
//
// A Go program that knows its operator at compile time sets the fields of a
// struct, such as onnx.Gather13{Axis: 1}. A program that reads the name from a
// model, a configuration or a user calls Parse:
//
//	op, err := operators.Parse("onnx.Gather-13", map[string]any{"axis": 1})
//	out, err := garner.Gather(op, data, indices)
//
// [All] lists the operators and what each takes. [OfNode] gives the operator of
// a node of a model, [CallOf] the operands that it gathers from, and [InferNode]
// the shapes that follow from a model's gathers.
//
// This is the only package that imports every dialect.
package operators

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/jax"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/tflite"
	"github.com/garner-go/garner/torch"
	"github.com/garner-go/garner/webnn"
)

// A Kind says how an operator reads its indices. The command garner has one
// subcommand for each kind, under the same name.
type Kind string

const (
	Gather   Kind = "gather"   // slices along one axis
	GatherND Kind = "gathernd" // slices at index tuples
	Elements Kind = "elements" // one element per index
)

// An Operator describes one version of one framework's gather.
type Operator struct {
	Name string    // DIALECT.OPERATOR-VERSION; without a version where the framework has none
	Kind Kind      // how it reads its indices
	Zero garner.Op // the operator with every attribute at its default; Bind reads the tags of its struct
	Spec string    // address of its specification

	Shape   string // the result's shape, in Python's notation for shapes
	Types   string // the types that its specification allows; garner takes any data and any integer index
	Example string // arguments for the command, and after "   # " what it prints for them
}

// Shapes of results. k is the length of an index tuple: indices.shape[-1].
const (
	axisSlices   = "data[:axis] + indices + data[axis+1:]"
	axisOfTable  = "table[:gather_axis] + indices + table[gather_axis+1:], where a byte of u8 is 8/bits elements of the table"
	batchSlices  = "data[:axis] + indices[batch_dims:] + data[axis+1:]"
	lastSlices   = "indices + data[rank(indices):]: batch_dims and axis are rank(indices) - 1"
	slicesOrFlat = "data[:axis] + indices + data[axis+1:]; without axis data is taken flat: indices"
	selected     = "data[:dim] + [number of indices] + data[dim+1:]"
	embedded     = "indices + data[1:], of a matrix"
	flat         = "indices: data is taken flat"
	tuples       = "indices[:-1] + data[k:], where k = indices[-1]"
	batchTuples  = "indices[:-1] + data[batch_dims+k:], where k = indices[-1]"
	flatTuples   = "[product of indices[:batch_dims]] + indices[batch_dims:-1] + data[batch_dims+k:], where k = indices[-1]"
	elements     = "indices; its dims off the axis are those of data"
	within       = "indices; its dims off the axis are at most those of data"
	broadcast    = "indices and data broadcast off the axis; with an axis of null both are taken flat"
	windows      = "offset_dims walk a window of slice_sizes, the other dims indices without index_vector_dim"
)

// Shapes of bags.
const (
	offsetBags  = "offsets + data[1:]"
	packedBags  = "indices[:1] + data[1:]"
	segmentBags = "[num_segments] + data[1:]; without it, [the last of segment_ids + 1] + data[1:]"
)

// Types that specifications know.
const (
	anyIndex    = "data of any type, indices of any integer type"
	sums        = "data of any number type, indices i32 or i64"
	floatSums   = "data a float, indices i32 or i64"
	index16to64 = "data of any type, indices i16, i32 or i64"
	index32or64 = "data of any type, indices i32 or i64"
	index64     = "data of any type, indices i64"
	onnxOld     = "data of any type but bf16, f8 and packed ones, " // opsets 1 to 12
	onnxNew     = "data of any type but f8 and packed ones, "
	onnx32or64  = "indices i32 or i64"
	onnx64      = "indices i64"
	indexWeb    = "data f32, f16, i64, u64, i32, u32, i8 or u8, indices i32, u32 or i64"
)

const (
	ovPage   = "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/"
	ovSparse = "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/"
	onnxPage = "https://onnx.ai/onnx/operators/onnx__"
	msPage   = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherND"
	tfPage   = "https://www.tensorflow.org/api_docs/python/tf/"
	npPage   = "https://numpy.org/doc/stable/reference/generated/numpy."
	ptPage   = "https://docs.pytorch.org/docs/stable/generated/torch."
	nnPage   = "https://www.w3.org/TR/webnn/#api-mlgraphbuilder-"
	litePage = "https://ai.google.dev/edge/litert/conversion/tensorflow/op_compatibility#tfl."
	hloPage  = "https://openxla.org/stablehlo/spec#"
	jaxPage  = "https://docs.jax.dev/en/latest/_autosummary/jax."
	ovPacked = "https://docs.openvino.ai/2025/openvino-workflow/model-optimization-guide/weight-compression.html"
	msBlocks = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherBlockQuantized"
	ptSource = "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/"
	ggmlPage = "https://github.com/ggml-org/ggml/blob/master/include/ggml.h"
	ggufPage = "https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/quants.py"
	ownPage  = "https://pkg.go.dev/github.com/garner-go/garner/strict#"
)

// table has every operator, versions of one from the oldest to the newest.
var table = []Operator{
	{"garner.Gather", Gather, strict.Gather{}, ownPage + "Gather", batchSlices, anyIndex, `'[[1,2],[3,4],[5,6]]' '[2,0]'   # [[5, 6], [1, 2]]`},
	{"garner.GatherND", GatherND, strict.GatherND{}, ownPage + "GatherND", batchTuples, anyIndex, `'[[1,2],[3,4]]' '[[0,0],[1,1]]'   # [1, 4]`},
	{"garner.GatherElements", Elements, strict.GatherElements{}, ownPage + "GatherElements", elements, anyIndex, `'[[1,2],[3,4]]' '[[0,0],[1,0]]' --axis 1   # [[1, 1], [4, 3]]`},
	{"openvino.Gather-1", Gather, openvino.Gather1{}, ovPage + "gather-1.html", axisSlices, anyIndex, `'[[1,2],[3,4]]' '[1,0,1]' --axis 1   # [[2, 1, 2], [4, 3, 4]]`},
	{"openvino.Gather-7", Gather, openvino.Gather7{}, ovPage + "gather-7.html", batchSlices, anyIndex, `'[[1,2],[3,4]]' '[[1],[0]]' --axis 1 --batch-dims 1   # [[2], [3]]`},
	{"openvino.Gather-8", Gather, openvino.Gather8{}, ovPage + "gather-8.html", batchSlices, anyIndex, `'[1,2,3]' '[0,-1,7]'   # [1, 3, 0]`},
	{"openvino.GatherND-5", GatherND, openvino.GatherND5{}, ovPage + "gather-nd-5.html", flatTuples, anyIndex, `'[[[1,2]],[[3,4]]]' '[[[1]],[[0]]]' --batch-dims 2   # [2, 3]`},
	{"openvino.GatherND-8", GatherND, openvino.GatherND8{}, ovPage + "gather-nd-8.html", batchTuples, anyIndex, `'[[[1,2]],[[3,4]]]' '[[[1]],[[0]]]' --batch-dims 2   # [[2], [3]]`},
	{"openvino.GatherElements-6", Elements, openvino.GatherElements6{}, ovPage + "gather-elements-6.html", elements, anyIndex, `'[[1,2],[3,4]]' '[[1,0]]'   # [[3, 2]]`},
	{"openvino.EmbeddingBagOffsetsSum-3", Gather, openvino.EmbeddingBagOffsetsSum3{}, ovSparse + "embedding-bag-offsets-sum-3.html", offsetBags, sums, `'[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand offsets=[0,2]   # [[6, 8], [3, 4]]`},
	{"openvino.EmbeddingBagOffsets-15", Gather, openvino.EmbeddingBagOffsets15{}, ovSparse + "embedding-bag-offsets-15.html", offsetBags, sums, `'f32[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand offsets=[0,2] --attr reduction=mean   # [[3.0, 4.0], [3.0, 4.0]]`},
	{"openvino.EmbeddingBagPackedSum-3", Gather, openvino.EmbeddingBagPackedSum3{}, ovSparse + "embedding-bag-packed-sum-3.html", packedBags, sums, `'[[1,2],[3,4],[5,6]]' '[[2,0],[1,1]]'   # [[6, 8], [6, 8]]`},
	{"openvino.EmbeddingBagPacked-15", Gather, openvino.EmbeddingBagPacked15{}, ovSparse + "embedding-bag-packed-15.html", packedBags, sums, `'f32[[1,2],[3,4],[5,6]]' '[[2,0],[1,1]]' --attr reduction=mean   # [[3.0, 4.0], [3.0, 4.0]]`},
	{"openvino.EmbeddingSegmentsSum-3", Gather, openvino.EmbeddingSegmentsSum3{}, ovSparse + "embedding-segments-sum-3.html", "[num_segments] + data[1:]", sums, `'[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand segment_ids=[0,0,1] --attr num_segments=2   # [[6, 8], [3, 4]]`},
	{"openvino.compressed-gather", Gather, openvino.CompressedGather{}, ovPacked, "table[:axis] + indices + table[axis+1:], where the table is data, or reshape", "data u8, i8, u4, i4, nf4 or f8, scale f32, f16 or bf16, indices i32 or i64", `'u4[[1,2],[3,15]]' '[1,-2]' --operand 'scale=f32[[0.5],[2]]'   # [[6.0, 30.0], [0.5, 1.0]]`},
	{"onnx.Gather-1", Gather, onnx.Gather1{}, onnxPage + "Gather.html", axisSlices, onnxOld + onnx32or64, `'[[1,2],[3,4]]' '[[1],[0]]'   # [[[3, 4]], [[1, 2]]]`},
	{"onnx.Gather-11", Gather, onnx.Gather11{}, onnxPage + "Gather.html", axisSlices, onnxOld + onnx32or64, `'[[1,2],[3,4]]' '[-1]'   # [[3, 4]]`},
	{"onnx.Gather-13", Gather, onnx.Gather13{}, onnxPage + "Gather.html", axisSlices, onnxNew + onnx32or64, `'[[1,2],[3,4]]' '[1,-2]' --axis -1   # [[2, 1], [4, 3]]`},
	{"onnx.GatherElements-11", Elements, onnx.GatherElements11{}, onnxPage + "GatherElements.html", within, onnxOld + onnx32or64, `'[[1,2],[3,4]]' '[[1,-2]]'   # [[3, 2]]`},
	{"onnx.GatherElements-13", Elements, onnx.GatherElements13{}, onnxPage + "GatherElements.html", within, onnxNew + onnx32or64, `'[[1,2],[3,4]]' '[[1],[0]]' --axis 1   # [[2], [3]]`},
	{"onnx.GatherND-11", GatherND, onnx.GatherND11{}, onnxPage + "GatherND.html", tuples, onnxOld + onnx64, `'[[1,2],[3,4]]' '[[-1],[0]]'   # [[3, 4], [1, 2]]`},
	{"onnx.GatherND-12", GatherND, onnx.GatherND12{}, onnxPage + "GatherND.html", batchTuples, onnxOld + onnx64, `'[[1,2],[3,4]]' '[[1],[0]]' --batch-dims 1   # [2, 3]`},
	{"onnx.GatherND-13", GatherND, onnx.GatherND13{}, onnxPage + "GatherND.html", batchTuples, onnxNew + onnx64, `'[[1,2],[3,4]]' '[[0,-1],[1,0]]'   # [2, 3]`},
	{"com.microsoft.GatherND-1", GatherND, onnx.MicrosoftGatherND1{}, msPage, tuples, index32or64, `'[[0,1],[2,3]]' '[[0,0],[1,1]]'   # [0, 3]`},
	{"com.microsoft.GatherBlockQuantized-1", Gather, onnx.MicrosoftGatherBlockQuantized1{}, msBlocks, axisOfTable, "data i4, u4, u8, f8 or f4e2m1, scales f32, f16 or bf16, indices i32 or i64", `'i4[[1,2],[3,-4]]' '[1,0,7]' --operand 'scales=f32[[0.5],[2]]'   # [[6.0, -8.0], [0.5, 1.0], [0.0, 0.0]]`},
	{"tensorflow.GatherNd", GatherND, tensorflow.GatherNd{}, tfPage + "raw_ops/GatherNd", tuples, index16to64, `'[["a","b"],["c","d"]]' '[[0,0],[1,1]]'   # ["a", "d"]`},
	{"tensorflow.gather_nd", GatherND, tensorflow.GatherNdFunc{}, tfPage + "gather_nd", batchTuples, index16to64, `'[[1,2],[3,4]]' '[[1],[0]]' --batch-dims 1   # [2, 3]`},
	{"tensorflow.Gather", Gather, tensorflow.Gather{}, tfPage + "raw_ops/Gather", axisSlices, index32or64, `'[[1,2],[3,4]]' '[1]'   # [[3, 4]]`},
	{"tensorflow.GatherV2", Gather, tensorflow.GatherV2{}, tfPage + "raw_ops/GatherV2", batchSlices, index16to64, `'[[1,2],[3,4]]' '[[1],[0]]' --axis 1 --batch-dims 1   # [[2], [3]]`},
	{"tensorflow.gather", Gather, tensorflow.GatherFunc{}, tfPage + "gather", batchSlices, index16to64, `'[[1,2],[3,4]]' '[[1],[0]]' --batch-dims 1   # [[2], [3]]`},
	{"tensorflow.batch_gather", Gather, tensorflow.BatchGather{}, tfPage + "compat/v1/batch_gather", lastSlices, index16to64, `'[[1,2],[3,4]]' '[[1],[0]]'   # [[2], [3]]`},
	{"tensorflow.embedding_lookup_sparse", Gather, tensorflow.EmbeddingLookupSparse{}, tfPage + "nn/embedding_lookup_sparse", "[the last bag of ids_indices + 1] + data[1:]", floatSums, `'f32[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand 'ids_indices=[[0,0],[0,1],[1,0]]' --attr dense_shape=[2,2]   # [[3.0, 4.0], [3.0, 4.0]]`},
	{"tensorflow.safe_embedding_lookup_sparse", Gather, tensorflow.SafeEmbeddingLookupSparse{}, tfPage + "nn/safe_embedding_lookup_sparse", "[dense_shape[0]] + data[1:]", floatSums, `'f32[[1,2],[3,4],[5,6]]' '[2,-1]' --operand 'ids_indices=[[0,0],[1,0]]' --attr dense_shape=[2,1] --attr combiner=sum   # [[5.0, 6.0], [0.0, 0.0]]`},
	{"tensorflow.sparse_segment_sum", Gather, tensorflow.SparseSegmentSum{}, tfPage + "sparse/segment_sum", segmentBags, sums, `'[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand segment_ids=[0,0,1]   # [[6, 8], [3, 4]]`},
	{"tensorflow.sparse_segment_mean", Gather, tensorflow.SparseSegmentMean{}, tfPage + "sparse/segment_mean", segmentBags, floatSums, `'f32[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand segment_ids=[0,0,1]   # [[3.0, 4.0], [3.0, 4.0]]`},
	{"tensorflow.sparse_segment_sqrtn", Gather, tensorflow.SparseSegmentSqrtN{}, tfPage + "sparse/segment_sqrtn", segmentBags, floatSums, `'f32[[1,2],[3,4],[5,6]]' '[2,1]' --operand segment_ids=[0,2]   # [[5.0, 6.0], [0.0, 0.0], [3.0, 4.0]]`},
	{"numpy.take", Gather, numpy.Take{}, npPage + "take.html", slicesOrFlat, anyIndex, `'[[1,2],[3,4]]' '[-1,0]' --attr mode=raise   # [4, 1]`},
	{"numpy.take_along_axis", Elements, numpy.TakeAlongAxis{}, npPage + "take_along_axis.html", broadcast, anyIndex, `'[[1,2],[3,4]]' '[[-1],[0]]' --axis 1   # [[2], [3]]`},
	{"torch.gather", Elements, torch.Gather{}, ptPage + "gather.html", within, index64, `'[[1,2],[3,4]]' '[[1,0]]' --axis 0   # [[3, 2]]`},
	{"torch.index_select", Gather, torch.IndexSelect{}, ptPage + "index_select.html", selected, index32or64, `'[[1,2],[3,4]]' '[1,1]' --axis 1   # [[2, 2], [4, 4]]`},
	{"torch.embedding", Gather, torch.Embedding{}, ptPage + "nn.functional.embedding.html", embedded, index32or64, `'[[1,2],[3,4],[5,6]]' '[[2],[0]]'   # [[[5, 6]], [[1, 2]]]`},
	{"torch.embedding_bag", Gather, torch.EmbeddingBag{}, ptPage + "nn.functional.embedding_bag.html", "[number of bags] + data[1:], of a matrix", "data a float, indices i32 or i64", `'f32[[1,2],[3,4],[5,6]]' '[2,0,1]' --operand offsets=[0,2] --attr mode=sum   # [[6.0, 8.0], [3.0, 4.0]]`},
	{"torch.quantized_embedding", Gather, torch.QuantizedEmbedding{}, ptSource + "qembeddingbag.cpp", "indices + [columns]: data is a matrix whose rows hold codes, a scale and a bias", "data u8, indices i32 or i64", `'u8[[1,2,0,0,0,63,0,0,0,0],[3,4,0,0,0,64,0,0,128,63]]' '[1,0]' --attr bits=8   # [[7.0, 9.0], [0.5, 1.0]]`},
	{"torch.quantized_embedding_bag", Gather, torch.QuantizedEmbeddingBag{}, ptSource + "qembeddingbag.cpp", "[number of bags] + [columns]: data is a matrix whose rows hold codes, a scale and a bias", "data u8, indices i32 or i64", `'u8[[1,2,0,0,0,63,0,0,0,0],[3,4,0,0,0,64,0,0,128,63]]' '[1,0]' --operand offsets=[0] --attr bits=8   # [[7.5, 10.0]]`},
	{"torch.quantized_embedding_unpack", Gather, torch.QuantizedEmbeddingUnpack{}, ptSource + "qembeddingbag_unpack.cpp", "data[:-1] + [columns]", "data u8, no indices", `'u8[[1,2,0,0,0,63,0,0,0,0],[3,4,0,0,0,64,0,0,128,63]]' --attr bits=8   # [[0.5, 1.0], [7.0, 9.0]]`},
	{"torch.take", Gather, torch.Take{}, ptPage + "take.html", flat, index64, `'[[1,2],[3,4]]' '[[-1,0]]'   # [[4, 1]]`},
	{"torch.take_along_dim", Elements, torch.TakeAlongDim{}, ptPage + "take_along_dim.html", broadcast, index64, `'[[1,2],[3,4]]' '[[1],[0]]' --axis 1   # [[2], [3]]`},
	{"webnn.gather", Gather, webnn.Gather{}, nnPage + "gather", axisSlices, indexWeb, `'[1,2,3]' '[0,-1,7]'   # [1, 3, 3]`},
	{"webnn.gatherElements", Elements, webnn.GatherElements{}, nnPage + "gatherelements", elements, indexWeb, `'[[1,2],[3,4]]' '[[1,9]]'   # [[3, 4]]`},
	{"webnn.gatherND", GatherND, webnn.GatherND{}, nnPage + "gathernd", tuples, indexWeb, `'[[1,2],[3,4]]' '[[0,-1],[9,0]]'   # [2, 3]`},
	{"tflite.GATHER", Gather, tflite.Gather{}, litePage + "gather", batchSlices, index16to64, `'[[1,2],[3,4]]' '[[1],[0]]' --axis 1 --batch-dims 1   # [[2], [3]]`},
	{"tflite.GATHER_ND", GatherND, tflite.GatherND{}, litePage + "gather_nd", tuples, index16to64, `'[[1,2],[3,4]]' '[[1,0]]'   # [3]`},
	{"tflite.EMBEDDING_LOOKUP", Gather, tflite.EmbeddingLookup{}, litePage + "embedding_lookup", "indices + data[1:], of indices that are a vector", "data of any type, indices i32", `'[[1,2],[3,4]]' '[1,0]'   # [[3, 4], [1, 2]]`},
	{"tflite.hybrid-embedding-lookup", Gather, tflite.HybridEmbeddingLookup{}, litePage + "embedding_lookup", "indices + data[1:], of indices that are a vector", "data i8, i4 or i2, scale f32, indices i32", `'i8[[1,2],[3,4]]' '[1,0]' --operand 'scale=f32(0.5)'   # [[1.5, 2.0], [0.5, 1.0]]`},
	{"stablehlo.gather", GatherND, stablehlo.Gather{}, hloPage + "gather", windows, anyIndex, `'[1,2,3,4]' '[[1],[9]]' --attr offset_dims=[1] --attr start_index_map=[0] --attr index_vector_dim=1 --attr slice_sizes=[2]   # [[2, 3], [3, 4]]`},
	{"stablehlo.dynamic_gather", GatherND, stablehlo.DynamicGather{}, hloPage + "dynamic_gather", windows, anyIndex, `'[1,2,3,4]' '[[1],[9]]' --attr offset_dims=[1] --attr start_index_map=[0] --attr index_vector_dim=1 --attr slice_sizes=[2]   # [[2, 3], [3, 4]]`},
	{"jax.lax.gather", GatherND, jax.LaxGather{}, jaxPage + "lax.gather.html", windows, anyIndex, `'[1,2,3,4]' '[[1],[2]]' --attr offset_dims=[1] --attr start_index_map=[0] --attr slice_sizes=[2]   # [[2, 3], [3, 4]]`},
	{"jax.numpy.take", Gather, jax.NumpyTake{}, jaxPage + "numpy.take.html", slicesOrFlat, anyIndex, `'f32[1,2,3]' '[0,-1,7]'   # [1.0, 3.0, NaN]`},
	{"jax.numpy.take_along_axis", Elements, jax.NumpyTakeAlongAxis{}, jaxPage + "numpy.take_along_axis.html", broadcast, anyIndex, `'f32[[1,2],[3,4]]' '[[-1],[7]]' --axis 1   # [[2.0], [NaN]]`},
	{"gguf.get_rows", Gather, gguf.GetRows{}, ggmlPage, "indices + data[1:-1] + [elements of a row]", "data u8, indices i32 or i64", `'u8[[0,60],[0,64]]' '[1,0]' --attr type=F16   # [[2.0], [1.0]]`},
	{"gguf.dequantize", Gather, gguf.Dequantize{}, ggufPage, "data[:-1] + [elements of a row]", "data u8, no indices", `'u8[[0,60],[0,64]]' --attr type=F16   # [[1.0], [2.0]]`},
}

// All lists every operator: dialect by dialect, and the versions of one operator
// from the oldest to the newest. The caller may change the slice.
func All() []Operator { return slices.Clone(table) }

// Own gives garner's own operator of a kind, which is strict: it refuses a
// negative index and one outside its axis.
func Own(k Kind) Operator {
	for _, o := range table {
		if o.Kind == k {
			return o
		}
	}
	panic("operators: no operator of kind " + string(k))
}

// split separates a name from its version, which is 0 where there is none.
func split(name string) (base string, version int) {
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if v, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i], v
		}
	}
	return name, 0
}

// AxisOfIndices reports whether the rank of the indices sets the axis: it is their last, and those before are batch dims.
func (o Operator) AxisOfIndices() bool { return o.Shape == lastSlices }

// Version gives the opset that introduced this version of the operator; 0 where
// the framework has no versions.
func (o Operator) Version() int {
	_, version := split(o.Name)
	return version
}

// versions are the operators by their names without versions.
var versions = func() map[string][]Operator {
	m := make(map[string][]Operator)
	for _, o := range table {
		base, _ := split(o.Name)
		m[base] = append(m[base], o)
	}
	return m
}()

// Versions lists the versions of an operator, oldest first. The name has no
// version: "onnx.Gather". The list is empty for a name that is not known.
func Versions(name string) []Operator { return slices.Clone(versions[name]) }

// Find finds an operator by its name. A name without a version means the newest
// version that the opset has, or the newest of all where opset is 0; a name with
// a version means that version, whatever the opset. An unknown name is a
// garner.ErrAttribute that suggests the nearest known one.
func Find(name string, opset int) (Operator, error) {
	base, _ := split(name)
	list := versions[base]
	for i := len(list) - 1; i >= 0; i-- {
		if v := list[i].Version(); list[i].Name == name || base == name && (opset == 0 || v <= opset) {
			return list[i], nil
		}
	}
	return Operator{}, garner.Errorf(garner.ErrAttribute, "no operator %s%s", name, suggest(name))
}

// Parse makes an operator of its name and its values: Find(name, 0), then
// [Operator.New].
func Parse(name string, values map[string]any) (garner.Op, error) {
	o, err := Find(name, 0)
	if err != nil {
		return nil, err
	}
	return o.New(values)
}

// dialects has what frameworks are called in programs, beside their names.
var dialects = map[string]string{
	"tf": "tensorflow", "np": "numpy", "pytorch": "torch", "jnp": "jax.numpy", "lax": "jax.lax", "ort": "onnx", "onnxruntime": "onnx", "ov": "openvino",
	"lite": "tflite", "litert": "tflite", "ggml": "gguf", "hlo": "stablehlo", "mhlo": "stablehlo",
}

// suggest ends the message about an unknown operator with the name that was meant. A name of the dialect comes first,
// whether it is the same but for case and underscores or is near; then the same name of another dialect; then the
// nearest of all. Versions are not compared: the newest is suggested. A name without a dialect is compared with names
// without theirs, and several dialects may have it.
func suggest(name string) string {
	base, _ := split(name)
	asked, bare := parted(base)
	if first, rest, _ := strings.Cut(asked, "."); dialects[strings.ToLower(first)] != "" {
		asked = strings.TrimSuffix(dialects[strings.ToLower(first)]+"."+rest, ".") // tf.nn is tensorflow.nn
	}
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	var inDialect, same, sameInDialect []Operator
	for _, o := range table {
		base, _ := split(o.Name)
		dialect, its := parted(base)
		within := asked != "" && (strings.HasPrefix(dialect+".", strings.ToLower(asked)+".") || strings.HasPrefix(strings.ToLower(asked)+".", dialect+"."))
		if within {
			inDialect = append(inDialect, o)
		}
		if plain(its) == plain(bare) {
			if same = append(same, o); within {
				sameInDialect = append(sameInDialect, o)
			}
		}
	}
	// nearest is the newest of the operators whose names are nearest, and at most so far; several says that dialects share the place.
	nearest := func(among []Operator, text func(base string) string, most int) (at string, several bool) {
		meant := text(joined(asked, bare))
		best, exact, of := most, math.MaxInt, ""
		for _, o := range among {
			base, _ := split(o.Name)
			dialect, _ := parted(base)
			d, e := names.Distance(plain(meant), plain(text(base))), names.Distance(meant, text(base))
			if d == best && at != "" {
				several = several || dialect != of
			}
			if d < best || d == best && e <= exact {
				several = several && d == best
				best, exact, at, of = d, e, o.Name, dialect
			}
		}
		return at, several
	}
	last := func(base string) string { _, its := parted(base); return its }
	text := func(base string) string { return base }
	if asked == "" {
		text = last
	}
	for _, try := range []struct {
		among []Operator
		text  func(string) string
		most  int
	}{
		{sameInDialect, last, len(name)}, {inDialect, last, len(bare) / 3}, {same, text, math.MaxInt}, {table, text, len(name) / 2},
	} {
		at, several := nearest(try.among, try.text, try.most)
		if at != "" && several && asked == "" {
			break
		}
		if at != "" {
			return fmt.Sprintf("; did you mean %s?", at)
		}
	}
	return `; "garner ops" lists them`
}

// parted separates a name without a version from its dialect, which is empty where there is none.
func parted(base string) (dialect, bare string) {
	i := strings.LastIndexByte(base, '.')
	return base[:max(i, 0)], base[i+1:]
}

func joined(dialect, bare string) string {
	if dialect == "" {
		return bare
	}
	return dialect + "." + bare
}
