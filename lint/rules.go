package lint

import (
	"slices"

	"github.com/garner-go/garner"
)

// Sources of the answers that are not recorded.
const (
	protoLimit = "https://onnxruntime.ai/docs/tutorials/web/large-models.html"
	cpuTypes   = "https://docs.openvino.ai/2024/openvino-workflow/running-inference/inference-devices-and-modes/cpu-device.html"
	cpuGather  = "https://github.com/openvinotoolkit/openvino/blob/master/src/plugins/intel_cpu/src/nodes/gather.cpp" // one implementation for Gather-7 and Gather-8
	cudaGather = "https://github.com/microsoft/onnxruntime/issues/28107"
)

// rules is the table of all rules. Their checks are in check_*.go by theme, the
// answers that rules share in answers.go. A number is never reused: reports and
// scripts refer to rules by number.
var rules = []Rule{
	{
		ID: "L.1", Severity: Error, Title: "A constant index is negative",
		About: "Looks at constant indices of every gather. Some operators count a negative index from the end, others refuse it. Some runtimes " +
			"do neither: OpenVINO writes zeros for Gather-1 and Gather-7, or reads other memory where data is a short vector of integers, and counts from the end for GatherND and GatherElements, whose " +
			"specifications allow no negative index.",
		Remedy:   "Write the position from the start: add the length of the axis to each negative index.",
		Changes:  true,
		Evidence: negativeAnswers,
		check:    negativeConstant,
	},
	{
		ID: "L.2", Severity: Error, Title: "A constant index is outside its axis",
		About: "Looks at constant indices of every gather whose axis has a known length, and at indices that are computed from constants. OpenVINO does not check the indices of " +
			"GatherND, nor those of Gather where data is a vector of up to 64 integers of 16 bits and more.",
		Remedy:   "Decide what the index is to read, and correct it. To read a row of zeros, add one to data and address it.",
		Changes:  true,
		Evidence: outsideAnswers,
		check:    constantOutside,
	},
	{
		ID: "L.3", Severity: Warning, Title: "Tuples, or indices of bags, from an input are not checked",
		About: "Finds GatherND, and bags, whose indices may be outside as far as the model shows: they come from an input, or from an operator that may " +
			"give anything, and nothing bounds them, or what bounds them is further than the axis. Bounds are intervals: Clip, Mod, ArgMax, a " +
			"narrow type and the like make them, and arithmetic moves them. Positions that ArgMax, TopK or NonZero finds on an axis of unknown length " +
			"are no finding: most models keep both lengths equal. Nor are indices that a guard, such as garner convert writes, moves inside, or outside on purpose. " +
			"OpenVINO does not check tuples: one outside reads memory beside data.",
		Remedy:   "Clamp the indices in the model to the axes (Max and Min, Clip, Clamp), or check them before each run.",
		Changes:  true,
		Evidence: answersOf(outsideAnswers, anyIndex),
		check:    uncheckedTuples,
	},
	{
		ID: "L.4", Severity: Note, Title: "Indices come from an input",
		About: "Finds Gather and GatherElements whose indices may be outside as far as the model shows; see L.3. Bounds are those that the " +
			"specifications give. ONNX Runtime's Clip, Min and Max of i64 on x86-64 compare 32 bits: a value further than 2^31 from a bound becomes another position, or stays outside; " +
			"OpenVINO cuts it to 32 bits before (`lint-vast-clip`, `lint-vast-clip-from-end`, `lint-vast-max-min`).",
		Remedy:   "Clamp the indices in the model to the axis (Clip, Clamp), or check them before each run.",
		Changes:  true,
		Evidence: answersOf(outsideAnswers, notAnyIndex),
		check:    uncheckedIndices,
	},
	{
		ID: "L.5", Severity: Error, Title: "GatherND-5 flattens several batch dims",
		About: "Finds GatherND of opset5 to 7 with batch_dims above 1. It flattens the batch dims of its result into one; every other GatherND " +
			"keeps them. The values are the same, the shape differs.",
		Remedy:  "Use GatherND of opset8, and reshape its result where you need the flat shape.",
		Changes: true,
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
		ID: "L.6", Severity: Error, Title: "Batch dims differ and are accepted",
		About: "Finds GatherND with batch_dims where batch dims of data and of the indices differ, and the indices have a multiple of data's batches. " +
			"ONNX Runtime takes each batch of data for as many of the indices in a row. Where the dims that differ are 1 in data and no other dim " +
			"follows, that is broadcasting. OpenVINO broadcasts dims of 1 when it reads ONNX. The specifications and the other runtimes require equal dims.",
		Remedy:  "Decide which batch of data each of the indices means, and expand data to the batch dims of the indices.",
		Changes: true,
		Evidence: []Evidence{
			recorded("onnx.GatherND-12", Stretches, "onnx-gathernd-12-batch-broadcast-data"),
			recorded("onnx.GatherND-13", Stretches, "onnx-gathernd-13-batch-broadcast-data"),
			recorded("openvino.GatherND-5", Refuses, "openvino-gathernd-5-batch-broadcast-data"),
			recorded("openvino.GatherND-8", Refuses, "openvino-gathernd-8-batch-broadcast-data"),
			recorded("openvino.GatherND-8", Stretches, "lint-batch-broadcast-leading").in(fromONNX),
			recorded("onnx.GatherND-12", Spreads, "lint-batch-broadcast-leading"),
			recorded("onnx.GatherND-13", Spreads, "lint-batch-broadcast-leading"),
			recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-batch-broadcast-data"),
		},
		check: stretchedBatch,
	},
	{
		ID: "L.7", Severity: Warning, Title: "Batch dims of Gather are unknown before the run",
		About: "Finds Gather with batch_dims where a batch dim of data or of the indices is unknown. With unknown dims OpenVINO accepts batch " +
			"dims that differ; the result then depends on other memory or is cut short.",
		Remedy: "Decide which batch dims the model has, and give both operands the same static ones; or check that they are equal before the model runs.",
		Evidence: []Evidence{
			recorded("openvino.Gather-7", ReadsOther, "openvino-gather-7-batch-mismatch").in(dynamic),
			recorded("openvino.Gather-8", ReadsOther, "openvino-gather-8-batch-mismatch").in(dynamic),
		},
		check: unknownBatch,
	},
	{
		ID: "L.8", Severity: Warning, Title: "batch_dims with an unknown rank",
		About: "Finds GatherND with batch_dims where the rank of data is unknown. TensorFlow's tf.gather_nd needs it. It takes indices of unknown " +
			"rank, and dims that are unknown.",
		Remedy: "Decide which rank data has, and declare it; its dims may stay unknown.",
		Evidence: []Evidence{
			recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-batch1-elements").in(unknown),
			recorded("tensorflow.gather_nd", Refuses, "lint-unknown-rank-of-data").in(unknown),
		},
		check: unknownRank,
	},
	{
		ID: "L.9", Severity: Error, Title: "com.microsoft.GatherND has batch_dims",
		About: "Finds the attribute batch_dims at GatherND of the domain com.microsoft. The operator's page shows it once, in an example " +
			"without a domain. ONNX Runtime refuses the attribute in this domain.",
		Remedy:  "Use GatherND of ONNX's own domain, opset 12 or later.",
		Changes: true,
		Evidence: []Evidence{
			recorded("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-batch-attribute"),
		},
		check: microsoftBatch,
	},
	{
		ID: "L.10", Severity: Error, Title: "A constant does not fit 32 bits",
		About: "Looks at constant data of i64, u64 and f64, up to the first value that i32 or f32 does not hold. OpenVINO's CPU plugin computes " +
			"these types in 32 bits.",
		Remedy: "Decide whether the values matter beyond 32 bits. Where they do, run the model in a runtime that keeps 64.",
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
		About:    "Finds data of f64 that is not constant. OpenVINO's CPU plugin computes f64 in f32, which rounds most values.",
		Remedy:   "Decide whether the precision of f32 suffices; cast data to it, or run the model in a runtime that keeps f64.",
		Evidence: nil, // of L.10, see init
		check:    narrowedFloats,
	},
	{
		ID: "L.12", Severity: Note, Title: "64-bit integers are computed in 32 bits",
		About: "Finds data of i64 and u64 that is not constant, unless it comes from shapes alone. OpenVINO's CPU plugin computes these types " +
			"in i32, which changes values outside its range.",
		Remedy:   "Decide whether every value fits i32; where one does not, run the model in a runtime that keeps 64 bits.",
		Evidence: nil, // of L.10, see init
		check:    narrowedIntegers,
	},
	{
		ID: "L.13", Severity: Error, Title: "Tuples are longer than 7",
		About: "Finds GatherND whose tuples have more than 7 components, batch dims included, which tf.gather_nd puts before them. TensorFlow's " +
			"CPU has no kernel for such tuples.",
		Remedy:  "Reshape data to merge dims, and merge the components that address them into one index.",
		Changes: true,
		Evidence: []Evidence{
			recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-rank8-k8"),
			recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-rank8-k8"),
		},
		check: longTuples,
	},
	{
		ID: "L.14", Severity: Error, Title: "A runtime lacks the type of data",
		About: "Compares the type of data with the types that each runtime's operator refused.",
		Remedy: "Cast data to a wider type that the runtime has (u1, i4 and u4 to one of 8 bits, f8 to f16, bf16 to f32), gather that, and cast back. There is none for strings " +
			"and complex numbers: decide which numbers stand for them.",
		Changes: true,
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
		About:   "Finds data of f4e2m1 and u2. OpenVINO accepts these types and reads the wrong elements. It reads i4 and u4 correctly.",
		Remedy:  "Convert data to a type of a byte or more (u2 to u8, f4e2m1 to f16), and gather that.",
		Changes: true,
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
		About:   "Compares the type of the indices with the types that each runtime's operator refused.",
		Remedy:  "Cast the indices to i64, which every runtime accepts.",
		Changes: true,
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
		About: "Finds Gather of strings along an axis before the last. ONNX Runtime copies the first string of each slice and leaves the others " +
			"empty. Along the last axis, and in GatherND and GatherElements, it copies every string.",
		Remedy:  "Transpose the axis to the end and back, or gather numbers in place of the strings.",
		Changes: true,
		Evidence: slices.Concat(
			typed("onnx.Gather-1", Cuts, "onnx-gather-1-data-", garner.String),
			typed("onnx.Gather-11", Cuts, "onnx-gather-11-data-", garner.String),
			typed("onnx.Gather-13", Cuts, "onnx-gather-13-data-", garner.String),
		),
		check: lostStrings,
	},
	{
		ID: "L.18", Severity: Error, Title: "Tuples are empty",
		About: "Finds GatherND whose indices have a last dim of 0. Each tuple then addresses all of data, or all of its batch. OpenVINO writes " +
			"nothing: the result, unless it has no element, is what its memory held before.",
		Remedy:  "Replace the node by a broadcast of data.",
		Changes: true,
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
		ID: "L.19", Severity: Error, Title: "The result of Gather is empty",
		About: "Finds Gather of shapes that OpenVINO infers, whose result is empty because there are no indices or a dim of data is 0. OpenVINO's CPU plugin " +
			"then divides by zero. With dynamic dims it does not, nor where the batch dims alone are empty; nor for one constant index where all dims before the axis are 1, " +
			"for the only row of an axis by the constant 0 without batch dims or with one, and where it computes the result itself, because the operands are constants. Where it reads an ONNX file by its path, it takes an input of shape [0] for a constant too; from memory it does not.",
		Remedy:  "Decide whether the model needs the node, and remove it; or declare the dims of its operands as dynamic.",
		Changes: true,
		Evidence: []Evidence{
			recorded("openvino.Gather-1", Ends, "openvino-gather-1-no-indices"),
			recorded("openvino.Gather-7", Ends, "openvino-gather-7-no-indices"),
			recorded("openvino.Gather-8", Ends, "openvino-gather-8-no-indices"),
			recorded("openvino.Gather-8", Ends, "lint-nothing-by-scalar").in(static),
		},
		check: emptyGather,
	},
	{
		ID: "L.20", Severity: Error, Title: "The axis is not a constant",
		About: "Looks at the axis of OpenVINO's Gather, its third input. Where the shapes of data and indices are static, OpenVINO needs the " +
			"value of the axis to compile the model.",
		Remedy:  "Make the axis a constant. To choose between several, put a Gather along each into the branches of an If.",
		Changes: true,
		Evidence: []Evidence{
			recorded("openvino.Gather-1", Refuses, "openvino-gather-1-axis-runtime-scalar"),
			recorded("openvino.Gather-7", Refuses, "openvino-gather-7-axis-runtime-scalar"),
			recorded("openvino.Gather-8", Refuses, "openvino-gather-8-axis-runtime-scalar"),
		},
		check: computedAxis,
	},
	{
		ID: "L.21", Severity: Error, Title: "GatherElements leaves out a part of data",
		About: "Finds ONNX's GatherElements whose indices are smaller than data off the axis, and, as a warning, those whose dims there have different " +
			"names. ONNX Runtime does not read the rest of data; other runtimes require equal dims.",
		Remedy:  "Cut data to the dims of the indices first, by Split, or by Gather with the positions from 0 on. Not by Slice, which OpenVINO takes out again.",
		Changes: true,
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
		About: "Counts the elements of data. ONNX Runtime on CUDA computed Gather's addresses in 32 bits in releases up to 2026. TensorFlow " +
			"refuses GatherNd where i32 indices cannot count the elements of data.",
		Remedy: "Decide whether the runtime may be trusted with such a table: split it along the gathered axis, use i64 indices, or test a row at the end of the table in the runtime.",
		Evidence: []Evidence{
			{Operator: "onnx.Gather-1", Answer: ReadsOther, Run: "CUDA", Source: cudaGather},
			{Operator: "onnx.Gather-11", Answer: ReadsOther, Run: "CUDA", Source: cudaGather},
			{Operator: "onnx.Gather-13", Answer: ReadsOther, Run: "CUDA", Source: cudaGather},
			{Operator: "tensorflow.GatherNd", Answer: Refuses, DType: garner.I32, Case: "lint-tensorflow-huge-raw"},
			{Operator: "tensorflow.gather_nd", Answer: Refuses, DType: garner.I32, Case: "lint-tensorflow-huge-function"},
		},
		check: hugeData,
	},
	{
		ID: "L.23", Severity: Note, Title: "A table has 2 GiB or more",
		About: "Looks at the size of a constant table in a model that is not ONNX. An ONNX file is one protobuf message of at most 2 GiB, so " +
			"the table must be in a file beside it.",
		Remedy:  "Store the table as external data when you convert the model to ONNX.",
		Changes: true,
		Evidence: []Evidence{
			{Operator: "onnx.Gather-13", Answer: Refuses, Run: "inside the file", Source: protoLimit},
			{Operator: "onnx.GatherND-13", Answer: Refuses, Run: "inside the file", Source: protoLimit},
			{Operator: "onnx.GatherElements-13", Answer: Refuses, Run: "inside the file", Source: protoLimit},
		},
		check: hugeTable,
	},
	{
		ID: "L.24", Severity: Error, Title: "The operator refuses its operands",
		About: "Checks types, attributes, ranks and dims, as far as they are known, against the operator's own rules: an axis that data does " +
			"not have, tuples longer than data's rank, ranks that do not match. ONNX Runtime refuses a negative batch_dims of GatherND, or ends the process.",
		Remedy: "Decide what is meant, and correct what the message names; docs/rules.md has the rules of each operator.",
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
			recorded("com.microsoft.GatherBlockQuantized-1", Refuses, "com-microsoft-gatherblockquantized-1-axis-outside-int4-4b"),
			recorded("onnx.GatherND-12", Ends, "lint-negative-batch-dims-12"),
			recorded("onnx.GatherND-13", Ends, "lint-negative-batch-dims-13"),
		},
		check: refusedOperands,
	},
	{
		ID: "L.25", Severity: Error, Title: "A scalar is addressed by empty tuples",
		About: "Finds GatherND of data of rank 0 whose indices have a last dim of 0. ONNX Runtime refuses data that the model declares to be a scalar, and " +
			"repeats the scalar where the model leaves the rank open; the specifications require data of rank 1 or more.",
		Remedy:  "Replace the node by a broadcast of data.",
		Changes: true,
		Evidence: []Evidence{
			recorded("openvino.GatherND-5", Refuses, "openvino-gathernd-5-scalar-data-k-zero"),
			recorded("openvino.GatherND-8", Refuses, "openvino-gathernd-8-scalar-data-k-zero"),
			recorded("onnx.GatherND-11", Refuses, "lint-scalar-by-empty-tuples-11"),
			recorded("onnx.GatherND-11", Repeats, "onnx-gathernd-11-scalar-data-k-zero").in(openRank),
			recorded("onnx.GatherND-12", Refuses, "lint-scalar-by-empty-tuples-12"),
			recorded("onnx.GatherND-12", Repeats, "onnx-gathernd-12-scalar-data-k-zero").in(openRank),
			recorded("onnx.GatherND-13", Refuses, "lint-scalar-by-empty-tuples-13"),
			recorded("onnx.GatherND-13", Repeats, "onnx-gathernd-13-scalar-data-k-zero").in(openRank),
			recorded("com.microsoft.GatherND-1", Refuses, "lint-scalar-by-empty-tuples-microsoft"),
			recorded("com.microsoft.GatherND-1", Repeats, "com-microsoft-gathernd-1-scalar-data-k-zero").in(openRank),
			recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-scalar-data-k-zero"),
		},
		check: repeatedScalar,
	},
	{
		ID: "L.26", Severity: Error, Title: "batch_dims is below the rank of the indices",
		About: "Finds Gather-7 and Gather-8 with a batch_dims below −q, where q is the rank of the indices. The specifications allow −q … q. " +
			"OpenVINO accepts less, and reads other memory.",
		Remedy: "Decide which dims are batches, and correct batch_dims; a negative one counts from the rank of the indices.",
		Evidence: []Evidence{
			recorded("openvino.Gather-7", ReadsOther, "openvino-gather-7-batch-below-minus-rank"),
			recorded("openvino.Gather-8", ReadsOther, "openvino-gather-8-batch-below-minus-rank"),
			recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-batch-below-minus-rank"),
		},
		check: lowBatch,
	},
	{
		ID: "L.27", Severity: Warning, Title: "Positions are counted past a table",
		About: "Finds indices that are counted up to a length that only a run knows, such as Range up to a dim of an input, where the axis of data has a known " +
			"length: a model with position embeddings. ONNX Runtime makes a Slice of Gather and Range, from its extended level on, and gives fewer rows than " +
			"positions, without an error. Without optimisation it refuses; OpenVINO writes zeros.",
		Remedy:  "Check that no input is longer than the table before each run, or clamp the positions to the table (Clip, Clamp), which repeats its last row.",
		Changes: true,
		Evidence: slices.Concat([]Evidence{
			recorded("onnx.Gather-13", Shortens, "lint-positions-past-table").in(byDefault),
			recorded("onnx.Gather-11", Shortens, "lint-positions-past-table").in(byDefault),
			recorded("onnx.Gather-13", Refuses, "lint-positions-past-table").in(unoptimised),
			recorded("onnx.Gather-11", Refuses, "lint-positions-past-table").in(unoptimised),
		}, outsideAnswers),
		check: countedPositions,
	},
	{
		ID: "L.28", Severity: Error, Title: "A rank is unknown",
		About: "Finds gathers of data or indices whose rank only a run knows (an input of the model leaves it open, or a shape of unknown length gives it), " +
			"GatherND of indices whose last dim, the length of a tuple, an input leaves open, also behind operators that keep it open, and every gather of a model that has an input of unknown rank. " +
			"OpenVINO reads such a model. Its CPU plugin refuses to compile one in which an input, or the result of any operator, has an unknown rank. The rule does not follow dims that the elements of Shape give, or MatMul.",
		Remedy:  "Decide which rank the input has, and declare it, for tuples with its last dim; the others may stay unknown.",
		Changes: true,
		Evidence: []Evidence{
			recorded("openvino.Gather-1", Refuses, "lint-unknown-rank-1-data"),
			recorded("openvino.Gather-1", Refuses, "lint-unknown-rank-1-indices"),
			recorded("openvino.Gather-7", Refuses, "lint-unknown-rank-7-data"),
			recorded("openvino.Gather-7", Refuses, "lint-unknown-rank-7-indices"),
			recorded("openvino.Gather-8", Refuses, "lint-unknown-rank-8-data"),
			recorded("openvino.Gather-8", Refuses, "lint-unknown-rank-8-indices"),
			recorded("openvino.Gather-8", Refuses, "lint-unknown-rank-beside"),
			recorded("openvino.Gather-8", Refuses, "lint-unknown-rank-computed"),
			recorded("openvino.GatherElements-6", Refuses, "lint-unknown-rank-elements-data"),
			recorded("openvino.GatherElements-6", Refuses, "lint-unknown-rank-elements-indices"),
			recorded("openvino.GatherND-5", Refuses, "lint-unknown-rank-tuples-5-data"),
			recorded("openvino.GatherND-5", Refuses, "lint-unknown-rank-tuples-5-indices"),
			recorded("openvino.GatherND-8", Refuses, "lint-unknown-rank-tuples-8-data"),
			recorded("openvino.GatherND-8", Refuses, "lint-unknown-rank-tuples-8-indices"),
			recorded("openvino.GatherND-8", Refuses, "lint-tuples-of-unknown-rank"),
			recorded("openvino.GatherND-8", Refuses, "lint-tuples-of-unknown-length"),
			recorded("openvino.GatherND-8", Refuses, "lint-tuples-behind-clip"),
			recorded("openvino.Gather-8", Refuses, "lint-unknown-rank-tiled"),
			recorded("openvino.Gather-8", Refuses, "lint-unknown-rank-quantised"),
		},
		check: unknownRanks,
	},
	{
		ID: "L.29", Severity: Error, Title: "Batch dims of 1 end at the axis",
		About: "Finds Gather-7 and Gather-8 of static shapes with batch_dims where the dims before the axis are all 1: data [1,2] and indices [1,2] with batch_dims and axis 1. The " +
			"operands are valid, and OpenVINO's CPU plugin reads other memory, which mostly ends the process. With dynamic dims it does not, nor where it runs no Gather, as for the only row in L.19. It folds operators of constants by their dtype (lint/testdata/folds.jsonl); the rule does not follow that it leaves out a product with 1.",
		Remedy:  "Squeeze the batch dims out of data and the indices, gather without batch_dims, and put the dims back with Unsqueeze; or declare a dim as dynamic.",
		Changes: true,
		Evidence: []Evidence{
			recorded("openvino.Gather-7", Ends, "lint-batch-of-one-rows-7").in(static),
			recorded("openvino.Gather-8", Ends, "lint-batch-of-one-rows-8").in(static),
			recorded("openvino.Gather-7", Ends, "lint-batch-of-one-between-7").in(static),
			recorded("openvino.Gather-8", Ends, "lint-batch-of-one-between-8").in(static),
		},
		check: loneBatch,
	},
	{
		ID: "L.30", Severity: Warning, Title: "A gather of TFLite is read by OpenVINO",
		About: "Finds gathers of a TFLite model whose indices may be negative or outside. LiteRT refuses such an index. OpenVINO reads the model with its " +
			"own operators: it counts a negative index from the end, and for one outside writes zeros, or reads other memory (GATHER_ND).",
		Remedy:  "Clamp the indices in the model to the axis, or check them before each run.",
		Changes: true,
		Evidence: []Evidence{
			recorded("tflite.GATHER", Refuses, "lint-tflite-negative"),
			recorded("tflite.GATHER_ND", Refuses, "lint-tflite-tuples-negative"),
			recorded("tflite.EMBEDDING_LOOKUP", Refuses, "tflite-lookup-negative"),
			recorded("tflite.hybrid-embedding-lookup", Refuses, "tflite-hybrid-i8-past-end"),
			recorded("openvino.Gather-8", Counts, "lint-tflite-negative").in(fromTFLite),
			recorded("openvino.Gather-8", Zeros, "lint-tflite-past-end").in(fromTFLite),
			recorded("openvino.GatherND-8", Counts, "lint-tflite-tuples-negative").in(fromTFLite),
			recorded("openvino.GatherND-8", ReadsOther, "lint-tflite-tuples-past-end").in(fromTFLite),
		},
		check: asTFLite,
	},
	{
		ID: "L.31", Severity: Error, Title: "Positions run past the first or the last row",
		About: "Finds ONNX's Gather of a Range that counts down to below 0, as flips do, or up from below 0. From its extended level on, ONNX Runtime makes " +
			"a Slice of Gather and Range, whose ends count from the end where they are negative: positions inside data give other rows, or none. A Range of " +
			"constants is right, for it is folded first.",
		Remedy:  "Clip the positions to 0 and more between Range and Gather, with those that count from the end moved by the length first: behind a Clip, ONNX Runtime makes no Slice.",
		Changes: true,
		Evidence: []Evidence{
			recorded("onnx.Gather-13", Slices, "lint-flipped").in(byDefault),
			recorded("onnx.Gather-11", Slices, "lint-flipped").in(byDefault),
			recorded("onnx.Gather-13", Slices, "lint-from-the-end").in(byDefault),
			recorded("onnx.Gather-11", Slices, "lint-from-the-end").in(byDefault),
		},
		check: slicedRange,
	},
	{
		ID: "L.32", Severity: Error, Title: "A constant has no element",
		About: "Finds gathers of an ONNX model whose data or indices are a constant with a dim of 0, also behind casts, arithmetic and changes of shape. OpenVINO's reader of ONNX makes a scalar 0 of such a constant. Gather by it takes " +
			"the first slice, where ONNX gives a result without elements; so do gathers by what has elements then, and of such data. Other gathers are refused. The rule is silent where only a run knows a dim behind the constant, and behind operators whose dims lint does not infer.",
		Remedy: "Decide whether the model needs the node, whose result has no element or which reads none, and remove it.",
		Evidence: []Evidence{
			recorded("openvino.Gather-8", GivesElements, "lint-empty-indices").in(fromONNX),
			recorded("openvino.Gather-8", GivesElements, "lint-empty-indices-cast").in(fromONNX),
			recorded("openvino.Gather-8", GivesElements, "lint-empty-indices-of-columns").in(fromONNX),
			recorded("openvino.Gather-8", GivesElements, "lint-empty-data-unsqueezed").in(fromONNX),
			recorded("openvino.GatherND-8", GivesElements, "lint-empty-data-of-tuples-in-sum").in(fromONNX),
			recorded("openvino.GatherND-8", GivesElements, "lint-empty-tuples-in-sum").in(fromONNX),
			recorded("openvino.GatherElements-6", GivesElements, "lint-empty-elements-in-sum").in(fromONNX),
			recorded("openvino.Gather-8", Refuses, "lint-empty-data").in(fromONNX),
			recorded("openvino.GatherND-8", Refuses, "lint-empty-tuples").in(fromONNX),
			recorded("openvino.GatherND-8", Refuses, "lint-empty-data-of-tuples").in(fromONNX),
			recorded("openvino.GatherElements-6", Refuses, "lint-empty-elements").in(fromONNX),
			recorded("openvino.GatherElements-6", Refuses, "lint-empty-data-of-elements").in(fromONNX),
		},
		check: emptyConstant,
	},
	{
		ID: "L.33", Severity: Error, Title: "Bags end where they cannot",
		About: "Looks at constant offsets and segment ids of bags: offsets that are negative, fall, or pass the end of the indices, and segment ids that are negative, fall, or are " +
			"no segment. The specifications require that neither falls. OpenVINO refuses such offsets in a run. It takes such segment ids, as a finding that is a warning says. TensorFlow refuses them; " +
			"of its SparseSegmentMean and SparseSegmentSqrtN OpenVINO makes bags with segments.",
		Remedy: "Decide which indices belong to each bag, and correct the constant: offsets are in 0 … q and do not fall, where q is the number of indices; segment ids are below num_segments and do not fall.",
		Evidence: slices.Concat(
			haltsAt("openvino.EmbeddingBagOffsetsSum-3", "lint-bag-ends-fall-offsets-3", "lint-bag-ends-below-offsets-3", "lint-bag-ends-past-end-offsets-3"),
			haltsAt("openvino.EmbeddingBagOffsets-15", "lint-bag-ends-fall-offsets-15", "lint-bag-ends-below-offsets-15", "lint-bag-ends-past-end-offsets-15"),
			[]Evidence{
				recorded("openvino.EmbeddingSegmentsSum-3", Sorts, "lint-bag-ends-fall-segments-3"),
				recorded("openvino.EmbeddingSegmentsSum-3", Sorts, "lint-bag-ends-below-segments-3"),
				recorded("openvino.EmbeddingSegmentsSum-3", Sorts, "lint-bag-ends-past-end-segments-3"),
				recorded("openvino.EmbeddingSegmentsSum-3", Ends, "lint-tensorflow-segments-below").in(fromTF),
				recorded("tensorflow.sparse_segment_sum", Refuses, "tensorflow-sparse-segment-sum-unsorted-sum"),
				recorded("tensorflow.sparse_segment_sum", Refuses, "tensorflow-sparse-segment-sum-segment-negative-sum"),
				recorded("tensorflow.sparse_segment_sum", Refuses, "tensorflow-sparse-segment-sum-segment-outside-sum"),
				recorded("tensorflow.sparse_segment_mean", Refuses, "tensorflow-sparse-segment-mean-unsorted-mean"),
				recorded("tensorflow.sparse_segment_mean", Refuses, "tensorflow-sparse-segment-mean-segment-negative-mean"),
				recorded("tensorflow.sparse_segment_mean", Refuses, "tensorflow-sparse-segment-mean-segment-outside-mean"),
				recorded("tensorflow.sparse_segment_sqrtn", Refuses, "tensorflow-sparse-segment-sqrtn-unsorted-sqrtn"),
				recorded("tensorflow.sparse_segment_sqrtn", Refuses, "tensorflow-sparse-segment-sqrtn-segment-negative-sqrtn"),
				recorded("tensorflow.sparse_segment_sqrtn", Refuses, "tensorflow-sparse-segment-sqrtn-segment-outside-sqrtn"),
			},
		),
		check: misplacedEnds,
	},
	{
		ID: "L.34", Severity: Warning, Title: "default_index is no row",
		About: "Looks at constant default_index of OpenVINO's bags: one outside the table, and −1 at EmbeddingSegmentsSum, where it does not stand for zeros. " +
			"OpenVINO looks at it where a bag has no indices (`lint-bag-default-unused-segments-3`).",
		Remedy: "Decide what a bag without indices is: a row of the table, or zeros, for which default_index is left out.",
		Evidence: slices.Concat(
			haltsAt("openvino.EmbeddingBagOffsetsSum-3", "lint-bag-default-past-end-offsets-3", "lint-bag-default-below-offsets-3"),
			haltsAt("openvino.EmbeddingBagOffsets-15", "lint-bag-default-past-end-offsets-15", "lint-bag-default-below-offsets-15"),
			haltsAt("openvino.EmbeddingSegmentsSum-3", "lint-bag-default-past-end-segments-3", "lint-bag-default-below-segments-3", "lint-bag-default-none-segments-3"),
		),
		check: defaultOutside,
	},
	{
		ID: "L.35", Severity: Error, Title: "A scale of a compressed table is repeated before an axis that it has",
		About: "Finds Gather-8 without batch_dims of a table that Convert, Subtract and Multiply compute of a constant, where the scale or the zero point has the same element for several positions of an " +
			"axis and others along a later axis: one for each column, or for each group of columns, of all rows. OpenVINO divides the position of a code by the number of codes for " +
			"each scale. That is right for a scale of rows, of groups of rows, of all of the table and of each code. Behind Gather-1, Gather-7 and other gathers it computes the table.",
		Remedy:  "Repeat the scale and the zero point in the constant itself, so that each has the dims of the codes.",
		Changes: true,
		Evidence: []Evidence{
			recorded(compressedGather, ReadsOther, "lint-scale-of-matrix"),
			recorded(compressedGather, ReadsOther, "lint-scale-of-vector"),
			recorded(compressedGather, ReadsOther, "lint-scale-of-zero"),
			recorded(compressedGather, ReadsOther, "lint-scale-of-zero-group"),
			recorded(compressedGather, Ends, "lint-scale-of-group"),
		},
		check: repeatedScale,
	},
	{
		ID: "L.36", Severity: Warning, Title: "A gather of TensorFlow is read by OpenVINO",
		About: "Finds gathers of a TensorFlow model (SavedModel, GraphDef) whose indices may be negative or outside. TensorFlow refuses such an index, or with bad_indices_policy IGNORE writes zeros. OpenVINO reads the model " +
			"with its own operators, and knows no bad_indices_policy: it counts a negative index from the end, and for one outside writes zeros (Gather, GatherV2, ResourceGather), or reads other memory (GatherNd).",
		Remedy:  "Clamp the indices in the model to the axis, or check them before each run.",
		Changes: true,
		Evidence: []Evidence{
			recorded("tensorflow.Gather", Refuses, "tf-gather-v1-past-end"),
			recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-past-end"),
			recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-past-end-row"),
			recorded("tensorflow.GatherNd", Zeros, "lint-tensorflow-ignoring-past-end").in(ignoring),
			recorded("openvino.Gather-8", Counts, "lint-tensorflow-gather-negative").in(fromTF),
			recorded("openvino.Gather-8", Counts, "lint-tensorflow-resource-negative").in(fromTF),
			recorded("openvino.Gather-8", Zeros, "lint-tensorflow-gather-past-end").in(fromTF),
			recorded("openvino.Gather-8", Zeros, "lint-tensorflow-resource-past-end").in(fromTF),
			recorded("openvino.GatherND-8", Counts, "lint-tensorflow-tuples-negative").in(fromTF),
			recorded("openvino.GatherND-8", ReadsOther, "lint-tensorflow-tuples-past-end").in(fromTF),
			recorded("openvino.GatherND-8", ReadsOther, "lint-tensorflow-ignoring-past-end").in(fromTF),
		},
		check: asTensorFlow,
	},
	{
		ID: "L.37", Severity: Warning, Title: "OpenVINO's reader lacks a bag of TensorFlow",
		About:  "Finds SparseSegmentSum, and SparseSegmentMean and SparseSegmentSqrtN with num_segments. OpenVINO does not read a model that has one. It reads SparseSegmentMean and SparseSegmentSqrtN without num_segments.",
		Remedy: "Decide whether OpenVINO is to run the model; for it, write a mean without num_segments.",
		Evidence: []Evidence{
			recorded("openvino.EmbeddingSegmentsSum-3", Refuses, "lint-tensorflow-sum-inside").in(fromTF),
			recorded("openvino.EmbeddingSegmentsSum-3", Refuses, "lint-tensorflow-sum-of-inside").in(fromTF),
			recorded("openvino.EmbeddingSegmentsSum-3", Refuses, "lint-tensorflow-mean-of-inside").in(fromTF),
			recorded("openvino.EmbeddingSegmentsSum-3", Refuses, "lint-tensorflow-sqrtn-of-inside").in(fromTF),
		},
		check: unreadBag,
	},
	{
		ID: "L.38", Severity: Warning, Title: "A start outside is moved inside",
		About: "Finds gathers of StableHLO whose starts may be outside. XLA moves such a start inside, without an error: a wrong index reads the first or the last row. " +
			"No finding is a gather with a mask behind it (Select by Compare of the starts), as JAX's mode fill has, nor one of starts that Clamp, Select or a modulus bound. Starts that are not constant are a note.",
		Remedy:   "Decide what an index outside is to give; JAX writes that for its modes fill and wrap.",
		Evidence: movedAnswers,
		check:    movedStarts,
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
