package lint

import (
	"slices"

	"github.com/garner-go/garner"
)

// Sources of the answers that are not recorded.
const (
	protoLimit = "https://onnxruntime.ai/docs/tutorials/web/large-models.html"
	cpuTypes   = "https://docs.openvino.ai/2024/openvino-workflow/running-inference/inference-devices-and-modes/cpu-device.html"
	cpuGather  = "https://github.com/openvinotoolkit/openvino/blob/master/src/plugins/intel_cpu/src/nodes/gather.cpp"       // one implementation for Gather-7 and Gather-8
	onnxReader = "https://github.com/openvinotoolkit/openvino/blob/master/src/frontends/onnx/frontend/src/op/gather_nd.cpp" // 2026.4.1 converts to a Broadcast and GatherND-8
	gatherNdH  = "https://github.com/tensorflow/tensorflow/blob/03db37846ab721f0f9581e323ec721b0b96dcc79/tensorflow/core/kernels/gather_nd_op.h"
	cudaGather = "https://github.com/microsoft/onnxruntime/issues/28107"
)

// rules is the table of all rules. Their checks are in check_*.go by theme, the
// answers that rules share in answers.go. A number is never reused: reports and
// scripts refer to rules by number.
var rules = []Rule{
	{
		ID: "L.1", Severity: Error, Title: "A constant index is negative",
		About: "Constant indices of every gather. Some operators count a negative index from the end, some refuse it, and some runtimes do neither: " +
			"OpenVINO writes zeros for Gather-1 and Gather-7, and counts from the end for GatherND and GatherElements, whose pages allow no negative index.",
		Remedy:   "Write the position from the start: add the length of the axis to each negative index.",
		Evidence: negativeAnswers,
		check:    negativeConstant,
	},
	{
		ID: "L.2", Severity: Error, Title: "A constant index is outside its axis",
		About:    "Constant indices of every gather, as far as the length of the axis that they address is known.",
		Remedy:   "Correct the index. Where a zero row is meant, add one to data and point there.",
		Evidence: outsideAnswers,
		check:    constantOutside,
	},
	{
		ID: "L.3", Severity: Warning, Title: "Tuples from an input are not checked",
		About: "GatherND whose indices come from an input of the model, through nothing that bounds them. OpenVINO does not check a tuple: " +
			"a bad one reads whatever lies beside data in memory.",
		Remedy:   "Clamp the indices in the model (Clip, Clamp), or check them before it runs.",
		Evidence: answersOf(outsideAnswers, tuples),
		check:    uncheckedTuples,
	},
	{
		ID: "L.4", Severity: Note, Title: "Indices come from an input",
		About: "Gather and GatherElements whose indices come from an input of the model, through nothing that bounds them: each runtime answers " +
			"one outside its own way.",
		Remedy:   "Clamp the indices in the model (Clip, Clamp), or check them before it runs, so that none is outside.",
		Evidence: answersOf(outsideAnswers, noTuples),
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
		Evidence: nil, // of L.10, see init
		check:    narrowedFloats,
	},
	{
		ID: "L.12", Severity: Note, Title: "64-bit integers are computed in 32 bits",
		About: "Data of i64 and u64 whose values are not known, unless it is made of shapes alone. OpenVINO's CPU computes these types in i32: " +
			"values that i32 does not hold arrive as others.",
		Remedy:   "Make sure that every value fits i32, or run the model where 64 bits are kept.",
		Evidence: nil, // of L.10, see init
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
		check: listedDataType,
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
		check: listedDataType,
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
		check: listedIndexType,
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
		check: lowBatch,
	},
}

// init gives L.11 and L.12 the evidence of L.10 for their types.
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
