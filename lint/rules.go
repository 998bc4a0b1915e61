package lint

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// bad is what becomes of an index that its axis does not have.
var bad = []Evidence{
	recorded("openvino.Gather-1", Zeros, "openvino-gather-1-past-end-as-run"),
	recorded("openvino.Gather-7", Zeros, "openvino-gather-7-past-end-as-run"),
	recorded("openvino.Gather-8", Zeros, "openvino-gather-8-past-end"),
	recorded("openvino.GatherND-5", ReadsOther, "openvino-gathernd-5-past-end-row"),
	recorded("openvino.GatherND-8", ReadsOther, "openvino-gathernd-8-past-end-row"),
	recorded("openvino.GatherElements-6", Refuses, "openvino-gatherelements-6-past-end"),
	recorded("onnx.Gather-1", Refuses, "onnx-gather-1-past-end"),
	recorded("onnx.Gather-11", Refuses, "onnx-gather-11-past-end"),
	recorded("onnx.Gather-13", Refuses, "onnx-gather-13-past-end"),
	recorded("onnx.GatherND-11", Refuses, "onnx-gathernd-11-past-end-row"),
	recorded("onnx.GatherND-12", Refuses, "onnx-gathernd-12-past-end-row"),
	recorded("onnx.GatherND-13", Refuses, "onnx-gathernd-13-past-end-row"),
	recorded("onnx.GatherElements-11", Refuses, "onnx-gatherelements-11-past-end"),
	recorded("onnx.GatherElements-13", Refuses, "onnx-gatherelements-13-past-end"),
	recorded("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-past-end-row"),
	recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-past-end"),
	recorded("tensorflow.GatherV2", Clamps, "tf-gatherv2-past-end").in(xla),
	recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-past-end-row"),
	recorded("tensorflow.GatherNd", Clamps, "tf-gathernd-past-end-row").in(xla),
	recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-past-end-row"),
	recorded("tensorflow.gather_nd", Clamps, "tf-gather-nd-past-end-row").in(xla),
	recorded("torch.index_select", Refuses, "torch-index-select-past-end"),
	recorded("torch.embedding", Refuses, "torch-embedding-past-end"),
	recorded("torch.gather", Refuses, "torch-gather-past-end"),
	recorded("jax.numpy.take", Fills, "jax-take-past-end-default"),
	recorded("jax.numpy.take_along_axis", Fills, "jax-take-along-axis-past-end-default"),
	recorded("webnn.gather", Clamps, "wpt-webnn-gather-float32-2-d-tensor-and-int32-0-d-out-of-bound-positive-indices-default-options"),
	recorded("webnn.gatherND", Clamps, "wpt-webnn-gather-nd-float32-2-d-input-and-2-d-out-of-bounds-indices"),
}

// negative is what becomes of an index from −s to −1, where s is the length of
// its axis.
var negative = []Evidence{
	recorded("openvino.Gather-1", Zeros, "openvino-gather-1-negative-as-run"),
	recorded("openvino.Gather-7", Zeros, "openvino-gather-7-negative-as-run"),
	recorded("openvino.Gather-8", Counts, "openvino-gather-8-negative"),
	recorded("openvino.GatherND-5", Counts, "openvino-gathernd-5-negative-rows-as-run"),
	recorded("openvino.GatherND-8", Counts, "openvino-gathernd-8-negative-rows-as-run"),
	recorded("openvino.GatherElements-6", Counts, "openvino-gatherelements-6-negative-as-run"),
	recorded("onnx.Gather-1", Counts, "onnx-gather-1-negative"),
	recorded("onnx.Gather-11", Counts, "onnx-gather-11-negative"),
	recorded("onnx.Gather-13", Counts, "onnx-gather-13-negative"),
	recorded("onnx.GatherND-11", Counts, "onnx-gathernd-11-negative-rows"),
	recorded("onnx.GatherND-12", Counts, "onnx-gathernd-12-negative-rows"),
	recorded("onnx.GatherND-13", Counts, "onnx-gathernd-13-negative-rows"),
	recorded("onnx.GatherElements-11", Counts, "onnx-gatherelements-11-negative"),
	recorded("onnx.GatherElements-13", Counts, "onnx-gatherelements-13-negative"),
	recorded("com.microsoft.GatherND-1", Counts, "com-microsoft-gathernd-1-negative-rows"),
	recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-negative"),
	recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-negative-rows"),
	recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-negative-rows"),
	recorded("torch.index_select", Refuses, "torch-index-select-negative"),
	recorded("torch.embedding", Refuses, "torch-embedding-negative"),
	recorded("torch.gather", Refuses, "torch-gather-negative"),
	recorded("jax.numpy.take", Counts, "jax-take-negative-default"),
	recorded("jax.numpy.take_along_axis", Counts, "jax-take-along-axis-negative-default"),
	recorded("webnn.gatherElements", Counts, "wpt-webnn-gather-elements-float32-3-d-input-and-int32-negative-indices"),
	recorded("webnn.gatherND", Counts, "wpt-webnn-gather-nd-float32-2-d-input-and-2-d-negative-indices"),
}

// countsFromEnd and zeroesOutside say what operators mean; the others refuse.
func countsFromEnd(operator string) bool {
	return runtimeOf(operator) == ONNXRuntime || operator == "openvino.Gather-8"
}

func zeroesOutside(operator string) bool { return operator == "openvino.Gather-8" }

// of are those answers of a list whose operators fit.
func of(list []Evidence, fits func(operator string) bool) []Evidence {
	var some []Evidence
	for _, e := range list {
		if fits(e.Operator) {
			some = append(some, e)
		}
	}
	return some
}

func tuples(operator string) bool {
	o, err := operators.Find(operator, 0)
	return err == nil && o.Kind == operators.GatherND
}

func noTuples(operator string) bool { return !tuples(operator) }

const (
	protoLimit = "https://onnxruntime.ai/docs/tutorials/web/large-models.html"
	cpuTypes   = "https://docs.openvino.ai/2024/openvino-workflow/running-inference/inference-devices-and-modes/cpu-device.html"
	cpuGather  = "https://github.com/openvinotoolkit/openvino/blob/master/src/plugins/intel_cpu/src/nodes/gather.cpp"       // one node for Gather-7 and Gather-8
	onnxReader = "https://github.com/openvinotoolkit/openvino/blob/master/src/frontends/onnx/frontend/src/op/gather_nd.cpp" // its result of 2026.4.1: a Broadcast, then GatherND-8
	gatherNdH  = "https://github.com/tensorflow/tensorflow/blob/03db37846ab721f0f9581e323ec721b0b96dcc79/tensorflow/core/kernels/gather_nd_op.h"
	cudaGather = "https://github.com/microsoft/onnxruntime/issues/28107"
)

// rules has every rule. Numbers are never given twice: reports and the comments
// that silence them name them.
var rules = []Rule{
	{
		ID: "L.1", Severity: Error, Title: "A constant index is negative",
		About: "Constant indices of every gather. Some operators count a negative index from the end, some refuse it, and some runtimes do neither: " +
			"OpenVINO writes zeros for Gather-1 and Gather-7, and counts from the end for GatherND and GatherElements, whose pages allow no negative index.",
		Remedy:   "Write the position from the start: add the length of the axis to each negative index.",
		Evidence: negative,
		check:    negativeConstant,
	},
	{
		ID: "L.2", Severity: Error, Title: "A constant index is outside its axis",
		About:    "Constant indices of every gather, as far as the length of the axis that they address is known.",
		Remedy:   "Correct the index. Where a zero row is meant, add one to data and point there.",
		Evidence: bad,
		check:    constantOutside,
	},
	{
		ID: "L.3", Severity: Warning, Title: "Tuples from an input are not checked",
		About: "GatherND whose indices come from an input of the model, through nothing that bounds them. OpenVINO does not check a tuple: " +
			"a bad one reads whatever lies beside data in memory.",
		Remedy:   "Clamp the indices in the model (Clip, Clamp), or check them before it runs.",
		Evidence: of(bad, tuples),
		check:    uncheckedTuples,
	},
	{
		ID: "L.4", Severity: Note, Title: "Indices come from an input",
		About: "Gather and GatherElements whose indices come from an input of the model, through nothing that bounds them: each runtime answers " +
			"one outside its own way.",
		Remedy:   "Clamp the indices in the model (Clip, Clamp), or check them before it runs, so that none is outside.",
		Evidence: of(bad, noTuples),
		check:    uncheckedIndices,
	},
	{
		ID: "L.5", Severity: Error, Title: "GatherND-5 flattens several batch dims",
		About: "GatherND of opset5 to 7 with batch_dims above 1. It multiplies the batch dims of its result into one; every other GatherND keeps " +
			"them. The values are the same, the shape is not.",
		Remedy: "Use GatherND of opset8, and reshape its result where the flat shape is wanted.",
		Evidence: []Evidence{
			recorded("openvino.GatherND-5", Flattens, "openvino-gathernd-5-batch2-lists"),
			recorded("openvino.GatherND-8", Keeps, "openvino-gathernd-8-batch2-lists"),
			recorded("onnx.GatherND-12", Keeps, "onnx-gathernd-12-batch2-lists"),
			recorded("onnx.GatherND-13", Keeps, "onnx-gathernd-13-batch2-lists"),
			recorded("tensorflow.gather_nd", Keeps, "tf-gather-nd-batch2-lists"),
		},
		check: flattenedBatch,
	},
	{
		ID: "L.6", Severity: Error, Title: "A batch dim of 1 is stretched",
		About: "GatherND with batch_dims whose data has 1 where the indices have more. ONNX Runtime stretches it, and so does OpenVINO when it " +
			"reads ONNX; the specifications and the other runtimes ask for equal dims. The reverse, indices with 1, is refused.",
		Remedy: "Expand data to the batch dims of the indices, or drop the batch dim and address data without it.",
		Evidence: []Evidence{
			recorded("onnx.GatherND-12", Stretches, "onnx-gathernd-12-batch-broadcast-data"),
			recorded("onnx.GatherND-13", Stretches, "onnx-gathernd-13-batch-broadcast-data"),
			recorded("openvino.GatherND-5", Refuses, "openvino-gathernd-5-batch-broadcast-data"),
			recorded("openvino.GatherND-8", Refuses, "openvino-gathernd-8-batch-broadcast-data"),
			{Operator: "openvino.GatherND-8", Answer: Stretches, Run: fromONNX, Source: onnxReader},
			recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-batch-broadcast-data"),
		},
		check: stretchedBatch,
	},
	{
		ID: "L.7", Severity: Warning, Title: "Batch dims of Gather are not known before the run",
		About: "Gather with batch_dims where a batch dim of data or of the indices is unknown. With unknown dims OpenVINO takes batch dims " +
			"that differ, and the result depends on other memory or is cut short.",
		Remedy: "Give both operands the same static batch dims, or check that they are equal before the model runs.",
		Evidence: []Evidence{
			recorded("openvino.Gather-7", ReadsOther, "openvino-gather-7-batch-mismatch").in(dynamic),
			recorded("openvino.Gather-8", ReadsOther, "openvino-gather-8-batch-mismatch").in(dynamic),
		},
		check: unknownBatch,
	},
	{
		ID: "L.8", Severity: Warning, Title: "batch_dims with a rank that is not known",
		About:  "GatherND with batch_dims where the rank of data or of the indices is unknown: TensorFlow's tf.gather_nd needs both ranks.",
		Remedy: "Give data and the indices a rank; their dims may stay unknown.",
		Evidence: []Evidence{
			recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-batch1-elements").in(unknown),
		},
		check: unknownRank,
	},
	{
		ID: "L.9", Severity: Error, Title: "com.microsoft.GatherND has batch_dims",
		About: "The attribute batch_dims at GatherND of the domain com.microsoft. The operator's page shows it once, in an example without a " +
			"domain; ONNX Runtime knows no such attribute there.",
		Remedy: "Use GatherND of ONNX's own domain, opset 12 or later.",
		Evidence: []Evidence{
			recorded("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-batch-attribute"),
		},
		check: microsoftBatch,
	},
	{
		ID: "L.10", Severity: Error, Title: "A constant does not fit 32 bits",
		About: "Constant data of i64, u64 and f64, read up to the first value that i32 or f32 does not hold. OpenVINO's CPU computes these types " +
			"in 32 bits.",
		Remedy: "Split the table into halves of 32 bits, or run the model where 64 bits are kept.",
		Evidence: slices.Concat(narrowed(garner.I64, "extremes-int64"), narrowed(garner.U64, "extremes-uint64"), []Evidence{
			{Operator: "openvino.Gather-1", Answer: Narrows, DType: garner.F64, Case: "openvino-gather-1-nan-bits-float64"},
			{Operator: "openvino.Gather-7", Answer: Narrows, DType: garner.F64, Case: "openvino-gather-7-nan-bits-float64"},
			{Operator: "openvino.Gather-8", Answer: Narrows, DType: garner.F64, Case: "openvino-gather-8-nan-bits-float64"},
			{Operator: "openvino.GatherND-5", Answer: Narrows, DType: garner.F64, Case: "openvino-gathernd-5-precise-float64"},
			{Operator: "openvino.GatherND-8", Answer: Narrows, DType: garner.F64, Case: "openvino-gathernd-8-precise-float64"},
			{Operator: "openvino.GatherElements-6", Answer: Narrows, DType: garner.F64, Case: "openvino-gatherelements-6-nan-bits-float64"},
		}, unrecorded("openvino.GatherElements-6", Narrows, cpuTypes, garner.I64, garner.U64)),
		check: lossyConstant,
	},
	{
		ID: "L.11", Severity: Warning, Title: "f64 data is computed in 32 bits",
		About:    "Data of f64 whose values are not known. OpenVINO's CPU computes f64 in f32, which holds few of its values.",
		Remedy:   "Cast data to f32 where that is enough, or run the model where f64 is kept.",
		Evidence: nil, // those of L.10, see init
		check:    narrowedFloats,
	},
	{
		ID: "L.12", Severity: Note, Title: "64-bit integers are computed in 32 bits",
		About: "Data of i64 and u64 whose values are not known, unless it is made of shapes alone. OpenVINO's CPU computes these types in i32: " +
			"values that i32 does not hold arrive as others.",
		Remedy:   "Make sure that every value fits i32, or run the model where 64 bits are kept.",
		Evidence: nil, // those of L.10, see init
		check:    narrowedIntegers,
	},
	{
		ID: "L.13", Severity: Error, Title: "Tuples are longer than 7",
		About: "GatherND whose tuples, with the batch dims that tf.gather_nd puts before them, have more than 7 components: TensorFlow's CPU " +
			"has no kernel for them.",
		Remedy: "Join dims of data and the components that address them: reshape data, and compute one index of two.",
		Evidence: []Evidence{
			recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-rank8-k8"),
			recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-rank8-k8"),
		},
		check: longTuples,
	},
	{
		ID: "L.14", Severity: Error, Title: "A runtime lacks the type of data",
		About:  "The type of data of every gather, against the types that each runtime's operator refused.",
		Remedy: "Cast data to a type of the same width that the runtime has, gather that, and cast back; strings need numbers in their place.",
		Evidence: slices.Concat(
			typed("openvino.Gather-1", Refuses, "openvino-gather-1-data-", garner.U1),
			unrecorded("openvino.Gather-7", Refuses, cpuGather, garner.U1),
			typed("openvino.Gather-8", Refuses, "openvino-gather-8-data-", garner.U1),
			typed("openvino.GatherND-5", Refuses, "openvino-gathernd-5-data-", garner.String, garner.U1),
			typed("openvino.GatherND-8", Refuses, "openvino-gathernd-8-data-", garner.String, garner.U1),
			typed("openvino.GatherElements-6", Refuses, "openvino-gatherelements-6-data-", garner.String, garner.U1),
			typed("onnx.Gather-1", Refuses, "onnx-gather-1-data-", garner.BF16),
			typed("onnx.Gather-11", Refuses, "onnx-gather-11-data-", garner.BF16),
			typed("onnx.Gather-13", Refuses, "onnx-gather-13-data-", onnxLacks...),
			typed("onnx.GatherND-11", Refuses, "onnx-gathernd-11-data-", garner.BF16),
			typed("onnx.GatherND-12", Refuses, "onnx-gathernd-12-data-", garner.BF16),
			typed("onnx.GatherND-13", Refuses, "onnx-gathernd-13-data-", onnxLacks...),
			typed("onnx.GatherElements-11", Refuses, "onnx-gatherelements-11-data-", garner.BF16),
			typed("onnx.GatherElements-13", Refuses, "onnx-gatherelements-13-data-", onnxLacks...),
			typed("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-data-", append([]garner.DType{garner.BF16}, onnxLacks...)...),
			typed("tensorflow.GatherNd", Refuses, "tf-gathernd-data-", garner.I4, garner.U4),
			typed("tensorflow.GatherV2", Refuses, "tf-gatherv2-data-", garner.I4, garner.U4),
			typed("torch.gather", Refuses, "torch-gather-data-", garner.F8E4M3FN, garner.F8E5M2, garner.F8E8M0),
		),
		check: missingDataType,
	},
	{
		ID: "L.15", Severity: Error, Title: "Elements narrower than a byte are misread",
		About:  "Data of f4e2m1 and u2: OpenVINO takes them and addresses the wrong elements. (It does i4 and u4 well.)",
		Remedy: "Gather the table as u8 or i4, and unpack after it.",
		Evidence: slices.Concat(
			typed("openvino.Gather-1", Misplaces, "openvino-gather-1-data-", garner.F4E2M1, garner.U2),
			unrecorded("openvino.Gather-7", Misplaces, cpuGather, garner.F4E2M1, garner.U2),
			typed("openvino.Gather-8", Misplaces, "openvino-gather-8-data-", garner.F4E2M1, garner.U2),
			typed("openvino.GatherND-5", Misplaces, "openvino-gathernd-5-data-", garner.F4E2M1, garner.U2),
			typed("openvino.GatherND-8", Misplaces, "openvino-gathernd-8-data-", garner.F4E2M1, garner.U2),
			typed("openvino.GatherElements-6", Misplaces, "openvino-gatherelements-6-data-", garner.F4E2M1, garner.U2),
		),
		check: misreadType,
	},
	{
		ID: "L.16", Severity: Error, Title: "A runtime lacks the type of the indices",
		About:  "The type of the indices of every gather, against the types that each runtime's operator refused.",
		Remedy: "Cast the indices to i64, which every runtime takes.",
		Evidence: slices.Concat(
			typed("openvino.GatherElements-6", Refuses, "openvino-gatherelements-6-indices-",
				append([]garner.DType{garner.I4, garner.U4}, oddIndices...)...),
			typed("onnx.Gather-1", Refuses, "onnx-gather-1-indices-", oddIndices...),
			typed("onnx.Gather-11", Refuses, "onnx-gather-11-indices-", oddIndices...),
			typed("onnx.Gather-13", Refuses, "onnx-gather-13-indices-", oddIndices...),
			typed("onnx.GatherND-11", Refuses, "onnx-gathernd-11-indices-", append([]garner.DType{garner.I32}, oddIndices...)...),
			typed("onnx.GatherND-12", Refuses, "onnx-gathernd-12-indices-", append([]garner.DType{garner.I32}, oddIndices...)...),
			typed("onnx.GatherND-13", Refuses, "onnx-gathernd-13-indices-", append([]garner.DType{garner.I32}, oddIndices...)...),
			typed("onnx.GatherElements-11", Refuses, "onnx-gatherelements-11-indices-", oddIndices...),
			typed("onnx.GatherElements-13", Refuses, "onnx-gatherelements-13-indices-", oddIndices...),
			typed("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-indices-", oddIndices...),
			typed("tensorflow.GatherNd", Refuses, "tf-gathernd-indices-", tfIndices...),
			typed("tensorflow.GatherV2", Refuses, "tf-gatherv2-indices-", tfIndices...),
			typed("torch.gather", Refuses, "torch-gather-indices-", oddIndices...),
			typed("torch.index_select", Refuses, "torch-index-select-indices-", oddIndices...),
		),
		check: missingIndexType,
	},
	{
		ID: "L.17", Severity: Error, Title: "Strings are lost",
		About: "Gather of strings along an axis that has others behind it. ONNX Runtime copies the first string of each slice and leaves the " +
			"others empty. Along the last axis, and in GatherND and GatherElements, strings arrive.",
		Remedy: "Transpose the axis to the end and back, use GatherND, or gather numbers that stand for the strings.",
		Evidence: slices.Concat(
			typed("onnx.Gather-1", Cuts, "onnx-gather-1-data-", garner.String),
			typed("onnx.Gather-11", Cuts, "onnx-gather-11-data-", garner.String),
			typed("onnx.Gather-13", Cuts, "onnx-gather-13-data-", garner.String),
		),
		check: lostStrings,
	},
	{
		ID: "L.18", Severity: Error, Title: "Tuples are empty",
		About: "GatherND whose indices have a last dim of 0: each tuple addresses the whole of data, or of its batch. OpenVINO writes nothing; " +
			"its result is what the memory held before.",
		Remedy: "Replace the node by a broadcast of data.",
		Evidence: []Evidence{
			recorded("openvino.GatherND-5", LeavesUnset, "openvino-gathernd-5-k-zero"),
			recorded("openvino.GatherND-8", LeavesUnset, "openvino-gathernd-8-k-zero"),
			recorded("onnx.GatherND-11", Takes, "onnx-gathernd-11-k-zero"),
			recorded("onnx.GatherND-12", Takes, "onnx-gathernd-12-k-zero"),
			recorded("onnx.GatherND-13", Takes, "onnx-gathernd-13-k-zero"),
			recorded("com.microsoft.GatherND-1", Takes, "com-microsoft-gathernd-1-k-zero"),
			recorded("tensorflow.GatherNd", Takes, "tf-gathernd-k-zero"),
		},
		check: emptyTuples,
	},
	{
		ID: "L.19", Severity: Error, Title: "Gather has nothing to do",
		About: "Gather of static shapes whose result has no element, because there are no indices or another dim of data is 0: OpenVINO's CPU " +
			"divides by zero. (With an empty batch, or with dynamic dims, it does not.)",
		Remedy: "Leave the node out, or give its operands dynamic dims.",
		Evidence: []Evidence{
			recorded("openvino.Gather-1", Ends, "openvino-gather-1-no-indices"),
			recorded("openvino.Gather-7", Ends, "openvino-gather-7-no-indices"),
			recorded("openvino.Gather-8", Ends, "openvino-gather-8-no-indices"),
		},
		check: emptyGather,
	},
	{
		ID: "L.20", Severity: Error, Title: "The axis is not a constant",
		About:  "The axis of OpenVINO's Gather, its third input. Where the shapes of data and indices are static, OpenVINO needs its value to compile.",
		Remedy: "Make the axis a constant; choose between several with If.",
		Evidence: []Evidence{
			recorded("openvino.Gather-1", Refuses, "openvino-gather-1-axis-runtime-scalar"),
			recorded("openvino.Gather-7", Refuses, "openvino-gather-7-axis-runtime-scalar"),
			recorded("openvino.Gather-8", Refuses, "openvino-gather-8-axis-runtime-scalar"),
		},
		check: computedAxis,
	},
	{
		ID: "L.21", Severity: Error, Title: "GatherElements leaves out a part of data",
		About: "ONNX's GatherElements whose indices are smaller than data off the axis. ONNX Runtime leaves the rest of data unvisited; others " +
			"want equal dims.",
		Remedy: "Slice data to the dims of the indices first.",
		Evidence: []Evidence{
			recorded("openvino.GatherElements-6", Refuses, "openvino-gatherelements-6-smaller-other-dim"),
			recorded("onnx.GatherElements-11", Takes, "onnx-gatherelements-11-smaller-other-dim"),
			recorded("onnx.GatherElements-13", Takes, "onnx-gatherelements-13-smaller-other-dim"),
			recorded("torch.gather", Takes, "torch-gather-smaller-other-dim"),
			recorded("jax.numpy.take_along_axis", Refuses, "jax-take-along-axis-smaller-other-dim-default"),
		},
		check: smallerElements,
	},
	{
		ID: "L.22", Severity: Warning, Title: "Data has 2^31 elements or more",
		About: "The number of data's elements. ONNX Runtime on CUDA addressed Gather's data in 32 bits up to releases of 2026; TensorFlow refuses " +
			"GatherNd where i32 indices do not count the elements of data.",
		Remedy: "Split the table along the gathered axis, use i64 indices, and try a row at its end in the runtime before relying on it.",
		Evidence: []Evidence{
			{Operator: "onnx.Gather-1", Answer: ReadsOther, Run: "CUDA", Source: cudaGather},
			{Operator: "onnx.Gather-11", Answer: ReadsOther, Run: "CUDA", Source: cudaGather},
			{Operator: "onnx.Gather-13", Answer: ReadsOther, Run: "CUDA", Source: cudaGather},
			{Operator: "tensorflow.GatherNd", Answer: Refuses, DType: garner.I32, Source: gatherNdH},
			{Operator: "tensorflow.gather_nd", Answer: Refuses, DType: garner.I32, Source: gatherNdH},
		},
		check: hugeData,
	},
	{
		ID: "L.23", Severity: Note, Title: "A table of 2 GiB or more",
		About:  "The size of a constant table in a model that is not ONNX. An ONNX file is one protobuf message, which ends at 2 GiB: there the table must lie in a file beside it.",
		Remedy: "Write the table as external data when the model is converted to ONNX.",
		Evidence: []Evidence{
			{Operator: "onnx.Gather-13", Answer: Refuses, Run: "inside the file", Source: protoLimit},
			{Operator: "onnx.GatherND-13", Answer: Refuses, Run: "inside the file", Source: protoLimit},
			{Operator: "onnx.GatherElements-13", Answer: Refuses, Run: "inside the file", Source: protoLimit},
		},
		check: hugeTable,
	},
	{
		ID: "L.24", Severity: Error, Title: "The operator refuses its operands",
		About: "Types, attributes, ranks and dims against the operator's own rules, as far as they are known: an axis that data does not have, " +
			"tuples longer than data's rank, ranks that do not go together.",
		Remedy: "Correct what the message names; docs/rules.md has the rules of each operator.",
		Evidence: []Evidence{
			recorded("openvino.Gather-1", Refuses, "openvino-gather-1-axis-past-rank"),
			recorded("openvino.Gather-7", Refuses, "openvino-gather-7-axis-past-rank"),
			recorded("openvino.Gather-8", Refuses, "openvino-gather-8-axis-past-rank"),
			recorded("openvino.GatherND-5", Refuses, "openvino-gathernd-5-k-above-rank"),
			recorded("openvino.GatherND-8", Refuses, "openvino-gathernd-8-k-above-rank"),
			recorded("openvino.GatherElements-6", Refuses, "openvino-gatherelements-6-rank-mismatch"),
			recorded("onnx.Gather-1", Refuses, "onnx-gather-1-axis-past-rank"),
			recorded("onnx.Gather-11", Refuses, "onnx-gather-11-axis-past-rank"),
			recorded("onnx.Gather-13", Refuses, "onnx-gather-13-axis-past-rank"),
			recorded("onnx.GatherND-11", Refuses, "onnx-gathernd-11-k-above-rank"),
			recorded("onnx.GatherND-12", Refuses, "onnx-gathernd-12-k-above-rank"),
			recorded("onnx.GatherND-13", Refuses, "onnx-gathernd-13-k-above-rank"),
			recorded("onnx.GatherElements-11", Refuses, "onnx-gatherelements-11-rank-mismatch"),
			recorded("onnx.GatherElements-13", Refuses, "onnx-gatherelements-13-rank-mismatch"),
			recorded("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-k-above-rank"),
		},
		check: refusedOperands,
	},
	{
		ID: "L.25", Severity: Error, Title: "A scalar is addressed by empty tuples",
		About:  "GatherND of data without a dim, whose indices have a last dim of 0. ONNX Runtime repeats the scalar; the specifications ask for data of rank 1 at least.",
		Remedy: "Replace the node by a broadcast of data.",
		Evidence: []Evidence{
			recorded("openvino.GatherND-5", Refuses, "openvino-gathernd-5-scalar-data-k-zero"),
			recorded("openvino.GatherND-8", Refuses, "openvino-gathernd-8-scalar-data-k-zero"),
			recorded("onnx.GatherND-11", Repeats, "onnx-gathernd-11-scalar-data-k-zero"),
			recorded("onnx.GatherND-12", Repeats, "onnx-gathernd-12-scalar-data-k-zero"),
			recorded("onnx.GatherND-13", Repeats, "onnx-gathernd-13-scalar-data-k-zero"),
			recorded("com.microsoft.GatherND-1", Repeats, "com-microsoft-gathernd-1-scalar-data-k-zero"),
			recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-scalar-data-k-zero"),
		},
		check: repeatedScalar,
	},
	{
		ID: "L.26", Severity: Error, Title: "batch_dims is below the rank of the indices",
		About:  "Gather-7 and Gather-8 with a batch_dims below −q, where q is the rank of the indices. Their pages allow −q … q; OpenVINO takes less, and reads other memory.",
		Remedy: "Correct batch_dims; a negative one counts from the rank of the indices.",
		Evidence: []Evidence{
			recorded("openvino.Gather-7", ReadsOther, "openvino-gather-7-batch-below-minus-rank"),
			recorded("openvino.Gather-8", ReadsOther, "openvino-gather-8-batch-below-minus-rank"),
			recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-batch-below-minus-rank"),
		},
		check: batchBelowRank,
	},
}

var (
	onnxLacks  = []garner.DType{garner.Complex64, garner.Complex128, garner.F8E4M3FN, garner.I4, garner.U4}
	oddIndices = []garner.DType{garner.I8, garner.I16, garner.U8, garner.U16, garner.U32, garner.U64}
	tfIndices  = []garner.DType{garner.I8, garner.U8, garner.U16, garner.U32, garner.U64}
)

// narrowed are the cases of one type that OpenVINO computes in 32 bits.
func narrowed(d garner.DType, name string) []Evidence {
	var list []Evidence
	for _, o := range []string{"Gather-1", "Gather-7", "Gather-8", "GatherND-5", "GatherND-8"} {
		list = append(list, Evidence{Operator: "openvino." + o, Answer: Narrows, DType: d, Case: "openvino-" + strings.ToLower(o) + "-" + name})
	}
	return list
}

func init() {
	var narrow []Evidence
	for i := range rules {
		switch rules[i].ID {
		case "L.10":
			narrow = rules[i].Evidence
		case "L.11":
			rules[i].Evidence = slices.DeleteFunc(slices.Clone(narrow), func(e Evidence) bool { return e.DType != garner.F64 })
		case "L.12":
			rules[i].Evidence = slices.DeleteFunc(slices.Clone(narrow), func(e Evidence) bool { return e.DType == garner.F64 })
		}
	}
}

func negativeConstant(r *Rule, s *subject) error {
	scan, err := s.scan()
	if err != nil || scan == nil || scan.negative.count == 0 {
		return err
	}
	var over []Answer
	if countsFromEnd(s.operator.Name) {
		over = append(over, Counts) // as the operator says
	}
	t := &scan.negative
	s.find(r, s.answers(r, over...), "%s = %s is negative%s", s.position(t.at), t.value, t.others(scan.total))
	return nil
}

func constantOutside(r *Rule, s *subject) error {
	scan, err := s.scan()
	if err != nil || scan == nil || scan.outside.count == 0 {
		return err
	}
	var over []Answer
	if zeroesOutside(s.operator.Name) {
		over = append(over, Zeros)
	}
	t := &scan.outside
	axis := ""
	if s.axisKnown && s.operator.Kind != operators.GatherND {
		axis = fmt.Sprintf(" axis %d of data", s.axis)
	} else if s.operator.Kind == operators.GatherND {
		axis = fmt.Sprintf(" axis %d of data", s.batch+t.axis)
	}
	s.find(r, s.answers(r, over...), "%s = %s is outside%s, whose length is %s%s",
		s.position(t.at), t.value, axis, s.addressed()[t.axis], t.others(scan.total))
	return nil
}

func uncheckedTuples(r *Rule, s *subject) error {
	return unchecked(r, s, s.operator.Kind == operators.GatherND)
}

func uncheckedIndices(r *Rule, s *subject) error {
	return unchecked(r, s, s.operator.Kind != operators.GatherND)
}

func unchecked(r *Rule, s *subject, concerned bool) error {
	if !concerned || slices.Contains(s.indices.Spec.Dims, garner.Exactly(0)) { // none to be outside
		return nil
	}
	if o := s.origin(s.indices); o.input != nil {
		s.find(r, s.answers(r), "the indices come from the input %.200q and nothing bounds them; with one outside", o.input.Name)
	}
	return nil
}

func flattenedBatch(r *Rule, s *subject) error {
	if s.operator.Name == "openvino.GatherND-5" && s.batch > 1 {
		s.find(r, s.answers(r), "batch_dims is %d", s.batch)
	}
	return nil
}

// stretched is the first batch dim that is 1 in data and more in the indices,
// where no other pair differs; -1 where there is none.
func (s *subject) stretched() int {
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	first := -1
	if s.operator.Kind != operators.GatherND || s.batch > min(len(data), len(indices)) {
		return first
	}
	for i := range s.batch {
		switch d, n := data[i], indices[i]; {
		case !d.Known() || !n.Known() || d == n:
		case d.Min != 1:
			return -1
		case first < 0:
			first = i
		}
	}
	return first
}

func stretchedBatch(r *Rule, s *subject) error {
	if i := s.stretched(); i >= 0 {
		evidence := slices.DeleteFunc(s.answers(r), func(e Evidence) bool {
			return e.Runtime() == OpenVINO && (e.Run == fromONNX) != (s.format == "ONNX")
		})
		s.find(r, evidence, "batch dim %d is 1 in data and %s in the indices", i, s.indices.Spec.Dims[i])
	}
	return nil
}

func unknownBatch(r *Rule, s *subject) error {
	if s.operator.Kind != operators.Gather || s.batch == 0 {
		return nil
	}
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	if s.batch > 0 && s.batch <= min(len(data), len(indices)) {
		open := -1
		for i := s.batch - 1; i >= 0; i-- {
			if !data[i].Known() || !indices[i].Known() {
				open = i
			}
		}
		if open >= 0 {
			s.find(r, s.answers(r), "batch dim %d is %s in data and %s in the indices; where they differ", open, data[open], indices[open])
		}
		return nil
	}
	if !s.data.Spec.Rank.Known() || !s.indices.Spec.Rank.Known() {
		s.find(r, s.answers(r), "the batch dims are not known; where they differ")
	}
	return nil
}

func unknownRank(r *Rule, s *subject) error {
	if s.operator.Kind != operators.GatherND || s.batch == 0 {
		return nil
	}
	for i, v := range []*model.Value{s.data, s.indices} {
		if !v.Spec.Rank.Known() {
			s.find(r, s.answers(r), "batch_dims is %d and the rank of %s is not known", s.batch, []string{"data", "the indices"}[i])
			return nil
		}
	}
	return nil
}

func microsoftBatch(r *Rule, s *subject) error {
	if b, ok := s.node.Attributes["batch_dims"]; ok && runtimeOf(s.operator.Name) == ONNXRuntime && strings.HasPrefix(s.operator.Name, "com.microsoft.") {
		s.find(r, s.answers(r), "batch_dims is %v", b)
	}
	return nil
}

// ofType are the answers for the type of data or of the indices.
func (s *subject) ofType(r *Rule, d garner.DType) []Evidence {
	return slices.DeleteFunc(s.answers(r), func(e Evidence) bool { return e.DType != d })
}

func lossyConstant(r *Rule, s *subject) error {
	c := constant(s.data)
	if c == nil || c.Spec.DType != s.data.Spec.DType || !wide(c.Spec.DType) {
		return nil
	}
	evidence := s.ofType(r, c.Spec.DType)
	if len(evidence) == 0 {
		return nil // nobody asks, so the table is not read
	}
	first, err := s.loss(c)
	if err == nil && first.found {
		s.find(r, evidence, "element %d of the constant %.200q is %s, which 32 bits do not hold", first.at, c.Name, first.text)
	}
	return err
}

func wide(d garner.DType) bool { return d == garner.F64 || d == garner.I64 || d == garner.U64 }

func narrowedFloats(r *Rule, s *subject) error {
	if d := s.data.Spec.DType; d == garner.F64 && constant(s.data) == nil {
		s.find(r, s.ofType(r, d), "data is %s", s.data.Type())
	}
	return nil
}

func narrowedIntegers(r *Rule, s *subject) error {
	d := s.data.Spec.DType
	if d != garner.I64 && d != garner.U64 || constant(s.data) != nil {
		return nil
	}
	if o := s.origin(s.data); o.input == nil && !o.other {
		return nil // shapes and constants: lengths, which fit
	}
	s.find(r, s.ofType(r, d), "data is %s", s.data.Type())
	return nil
}

func longTuples(r *Rule, s *subject) error {
	const most = 7
	if k := s.k(); s.operator.Kind == operators.GatherND && s.batch >= 0 && k.Min > most-s.batch {
		with := ""
		if s.batch > 0 {
			with = fmt.Sprintf(", with %d batch dims", s.batch)
		}
		s.find(r, s.answers(r), "tuples have %s components%s", k, with)
	}
	return nil
}

func missingDataType(r *Rule, s *subject) error {
	s.find(r, s.ofType(r, s.data.Spec.DType), "data is %s", s.data.Spec.DType)
	return nil
}

func misreadType(r *Rule, s *subject) error {
	s.find(r, s.ofType(r, s.data.Spec.DType), "data is %s", s.data.Spec.DType)
	return nil
}

func missingIndexType(r *Rule, s *subject) error {
	s.find(r, s.ofType(r, s.indices.Spec.DType), "the indices are %s", s.indices.Spec.DType)
	return nil
}

func lostStrings(r *Rule, s *subject) error {
	if s.data.Spec.DType != garner.String || s.operator.Kind != operators.Gather {
		return nil
	}
	// A slice of one string is copied well.
	if dims := s.data.Spec.Dims; s.axisKnown && s.data.Spec.Rank.Known() && s.axis < len(dims) {
		if !slices.ContainsFunc(dims[s.axis+1:], func(d garner.Dim) bool { return d != garner.Exactly(1) }) {
			return nil
		}
	}
	s.find(r, s.answers(r), "data is %s, and a slice of it may have several strings", s.data.Type())
	return nil
}

func emptyTuples(r *Rule, s *subject) error {
	if s.operator.Kind == operators.GatherND && s.k() == garner.Exactly(0) && !s.repeated() {
		s.find(r, s.answers(r, Takes), "the indices are %s, whose tuples have no component", s.indices.Type())
	}
	return nil
}

func emptyGather(r *Rule, s *subject) error {
	data, okData := s.data.Spec.Shape()
	indices, okIndices := s.indices.Spec.Shape()
	if s.operator.Kind != operators.Gather || !okData || !okIndices || !s.axisKnown || s.refused != nil {
		return nil
	}
	b := s.batch
	if b < 0 || b > s.axis || b > len(indices) || s.axis >= len(data) || slices.Contains(data[:b], 0) {
		return nil
	}
	if slices.Contains(data[b:s.axis], 0) || slices.Contains(indices[b:], 0) || slices.Contains(data[s.axis+1:], 0) {
		s.find(r, s.answers(r), "data is %s and the indices are %s, so that the result has no element", s.data.Type(), s.indices.Type())
	}
	return nil
}

func computedAxis(r *Rule, s *subject) error {
	if len(s.operator.Inputs()) == 0 || len(s.node.Inputs) < 3 || constant(input(s.node, 2)) != nil {
		return nil
	}
	if known(s.data) && known(s.indices) {
		s.find(r, s.answers(r), "the axis is %s, which is no constant", input(s.node, 2))
	}
	return nil
}

func smallerElements(r *Rule, s *subject) error {
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	if s.operator.Kind != operators.Elements || runtimeOf(s.operator.Name) != ONNXRuntime || len(data) != len(indices) || !s.axisKnown {
		return nil
	}
	for i := range data {
		if i != s.axis && indices[i].Max < data[i].Min {
			s.find(r, s.answers(r, Takes), "dim %d is %s in data and %s in the indices", i, data[i], indices[i])
			return nil
		}
	}
	return nil
}

// elements is the least number of elements that a value can have, as far as
// int64 counts it.
func elements(v *model.Value) int64 {
	n := int64(1)
	for _, d := range v.Spec.Dims {
		if d.Min == 0 {
			return 0
		}
	}
	for _, d := range v.Spec.Dims {
		if n > math.MaxInt64/int64(d.Min) {
			return math.MaxInt64
		}
		n *= int64(d.Min)
	}
	return n
}

func hugeData(r *Rule, s *subject) error {
	n := elements(s.data)
	if !s.data.Spec.Rank.Known() || n <= math.MaxInt32 {
		return nil
	}
	evidence := slices.DeleteFunc(s.answers(r), func(e Evidence) bool { return e.DType != garner.Invalid && e.DType != s.indices.Spec.DType })
	s.find(r, evidence, "data is %s, %d elements", s.data.Type(), n)
	return nil
}

func hugeTable(r *Rule, s *subject) error {
	if s.format == "ONNX" {
		return nil
	}
	c := constant(s.data)
	if c == nil {
		return nil
	}
	if size, ok := c.Bytes(); !ok || size > math.MaxInt32 {
		s.find(r, s.answers(r), "the constant %.200q is %s, %d bytes", c.Name, c.Spec, size)
	}
	return nil
}

func refusedOperands(r *Rule, s *subject) error {
	err := s.refused
	if err == nil && s.stretched() < 0 && !s.repeated() && !s.below() {
		data, indices := s.data.Spec, s.indices.Spec
		// What an int of this machine does not count is no rule of the operator, so
		// extents that no rule looks at are not told, nor those that agree.
		data.Dims, indices.Dims = slices.Clone(data.Dims), slices.Clone(indices.Dims)
		for i := range data.Dims {
			paired := i < s.batch || s.operator.Kind == operators.Elements && i != s.axis
			switch {
			case !paired || i >= len(indices.Dims):
				data.Dims[i] = garner.AnyDim
			case data.Dims[i] == indices.Dims[i]:
				data.Dims[i], indices.Dims[i] = garner.AnyDim, garner.AnyDim
			}
		}
		_, err = operators.Infer(s.op, data, indices)
	}
	if err == nil {
		return nil
	}
	var at *model.Error
	if errors.As(err, &at) {
		err = at.Err // the finding says where
	}
	s.find(r, s.answers(r), "%s", strings.TrimPrefix(err.Error(), "garner: "))
	return nil
}

// repeated reports whether L.25 speaks of the gather, and below whether L.26
// does.
func (s *subject) repeated() bool {
	return s.operator.Kind == operators.GatherND && s.data.Spec.Rank == garner.Exactly(0) && s.k() == garner.Exactly(0) && s.batch == 0
}

func (s *subject) below() bool {
	return s.operator.Kind == operators.Gather && s.batch < 0 && s.indices.Spec.Rank.Known()
}

func repeatedScalar(r *Rule, s *subject) error {
	if s.repeated() {
		s.find(r, s.answers(r), "data is %s and the indices are %s", s.data.Type(), s.indices.Type())
	}
	return nil
}

func batchBelowRank(r *Rule, s *subject) error {
	if s.below() {
		s.find(r, s.answers(r), "batch_dims is %v and the indices are %s", s.node.Attributes["batch_dims"], s.indices.Type())
	}
	return nil
}
