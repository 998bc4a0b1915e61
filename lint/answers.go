package lint

import (
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/operators"
)

// compressedGather is what OpenVINO makes of a Gather-8 of a compressed table: see
// operators.CallOf.
const compressedGather = "openvino.compressed-gather"

// blockQuantized is a gather of ONNX Runtime's own, which OpenVINO reads as a Gather of what the table is decoded to.
const blockQuantized = "com.microsoft.GatherBlockQuantized-1"

// outsideAnswers are the recorded answers to an index outside its axis.
var outsideAnswers = slices.Concat(departed(func(g departures.Gather) (departures.Answer, string) { return g.Outside, g.OutsideCase }), []Evidence{
	recorded("openvino.Gather-8", Zeros, "openvino-gather-8-past-end"),
	recorded(compressedGather, LeavesUnset, "openvino-compressed-gather-uint8-outside"),
	recorded("openvino.Gather-1", ReadsOther, "lint-short-vector-past-end-1").in(shortVector),
	recorded("openvino.Gather-7", ReadsOther, "lint-short-vector-past-end-7").in(shortVector),
	recorded("openvino.Gather-8", ReadsOther, "lint-short-vector-past-end-8").in(shortVector),
	recorded("openvino.Gather-1", Zeros, "lint-folded-past-end-1").in(folding),
	recorded("openvino.Gather-7", Zeros, "lint-folded-past-end-7").in(folding),
	recorded("openvino.Gather-8", Zeros, "lint-folded-past-end-8").in(folding),
	recorded("onnx.Gather-1", Refuses, "onnx-gather-1-past-end"),
	recorded("onnx.Gather-11", Refuses, "onnx-gather-11-past-end"),
	recorded("onnx.Gather-13", Refuses, "onnx-gather-13-past-end"),
	recorded("onnx.GatherND-11", Refuses, "onnx-gathernd-11-past-end-row"),
	recorded("onnx.GatherND-12", Refuses, "onnx-gathernd-12-past-end-row"),
	recorded("onnx.GatherND-13", Refuses, "onnx-gathernd-13-past-end-row"),
	recorded("onnx.GatherElements-11", Refuses, "onnx-gatherelements-11-past-end"),
	recorded("onnx.GatherElements-13", Refuses, "onnx-gatherelements-13-past-end"),
	recorded("com.microsoft.GatherND-1", Refuses, "com-microsoft-gathernd-1-past-end-row"),
	recorded("com.microsoft.GatherBlockQuantized-1", Zeros, "com-microsoft-gatherblockquantized-1-outside-int4-4b-100"),
	recorded("tensorflow.Gather", Refuses, "tf-gather-v1-past-end"),
	recorded("tensorflow.gather", Refuses, "tf-gather-past-end"),
	recorded("tensorflow.gather", Clamps, "tf-gather-past-end").in(xla),
	recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-past-end"),
	recorded("tensorflow.GatherV2", Clamps, "tf-gatherv2-past-end").in(xla),
	recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-past-end-row"),
	recorded("tensorflow.GatherNd", Clamps, "tf-gathernd-past-end-row").in(xla),
	recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-past-end-row"),
	recorded("tensorflow.gather_nd", Clamps, "tf-gather-nd-past-end-row").in(xla),
	recorded("tensorflow.batch_gather", OtherBatch, "lint-tensorflow-batches-past-end"),
	recorded("tensorflow.batch_gather", Refuses, "lint-tensorflow-batches-past-last"),
	recorded("tensorflow.sparse_segment_sum", Refuses, "tensorflow-sparse-segment-sum-past-end-sum"),
	recorded("tensorflow.sparse_segment_mean", Refuses, "tensorflow-sparse-segment-mean-past-end-mean"),
	recorded("tensorflow.sparse_segment_sqrtn", Refuses, "tensorflow-sparse-segment-sqrtn-past-end-sqrtn"),
	recorded("torch.index_select", Refuses, "torch-index-select-past-end"),
	recorded("torch.embedding", Refuses, "torch-embedding-past-end"),
	recorded("torch.gather", Refuses, "torch-gather-past-end"),
	recorded("jax.numpy.take", Fills, "jax-take-past-end-default"),
	recorded("jax.numpy.take_along_axis", Fills, "jax-take-along-axis-past-end-default"),
	recorded("webnn.gather", Clamps, "wpt-webnn-gather-float32-2-d-tensor-and-int32-0-d-out-of-bound-positive-indices-default-options"),
	recorded("webnn.gatherND", Clamps, "wpt-webnn-gather-nd-float32-2-d-input-and-2-d-out-of-bounds-indices"),
	recorded("tflite.GATHER", Refuses, "lint-tflite-past-end"),
	recorded("tflite.GATHER_ND", Refuses, "lint-tflite-tuples-past-end"),
	recorded("tflite.EMBEDDING_LOOKUP", Refuses, "tflite-lookup-past-end"),
	recorded("tflite.hybrid-embedding-lookup", Refuses, "tflite-hybrid-i8-past-end"),
}, ofBags("lint-bag-past-end-"))

// negativeAnswers are the recorded answers to an index from −s to −1, where s is
// the length of its axis.
var negativeAnswers = slices.Concat(departed(func(g departures.Gather) (departures.Answer, string) { return g.Negative, g.NegativeCase }), []Evidence{
	recorded("openvino.Gather-8", Counts, "openvino-gather-8-negative"),
	recorded(compressedGather, Counts, "openvino-compressed-gather-uint8-negative"),
	recorded("openvino.Gather-1", ReadsOther, "lint-short-vector-negative-1").in(shortVector),
	recorded("openvino.Gather-7", ReadsOther, "lint-short-vector-negative-7").in(shortVector),
}, departedAtLoad(), []Evidence{
	recorded("openvino.Gather-8", Counts, "lint-folded-negative-8").in(folding),
	recorded("onnx.Gather-1", Counts, "onnx-gather-1-negative"),
	recorded("onnx.Gather-11", Counts, "onnx-gather-11-negative"),
	recorded("onnx.Gather-13", Counts, "onnx-gather-13-negative"),
	recorded("onnx.GatherND-11", Counts, "onnx-gathernd-11-negative-rows"),
	recorded("onnx.GatherND-12", Counts, "onnx-gathernd-12-negative-rows"),
	recorded("onnx.GatherND-13", Counts, "onnx-gathernd-13-negative-rows"),
	recorded("onnx.GatherElements-11", Counts, "onnx-gatherelements-11-negative"),
	recorded("onnx.GatherElements-13", Counts, "onnx-gatherelements-13-negative"),
	recorded("com.microsoft.GatherND-1", Counts, "com-microsoft-gathernd-1-negative-rows"),
	recorded("com.microsoft.GatherBlockQuantized-1", Counts, "com-microsoft-gatherblockquantized-1-outside-int4-4b--1"),
	recorded("tensorflow.Gather", Refuses, "tf-gather-v1-negative"),
	recorded("tensorflow.gather", Refuses, "tf-gather-negative"),
	recorded("tensorflow.GatherV2", Refuses, "tf-gatherv2-negative"),
	recorded("tensorflow.GatherNd", Refuses, "tf-gathernd-negative-rows"),
	recorded("tensorflow.gather_nd", Refuses, "tf-gather-nd-negative-rows"),
	recorded("tensorflow.batch_gather", OtherBatch, "lint-tensorflow-batches-negative"),
	recorded("tensorflow.batch_gather", Refuses, "lint-tensorflow-batches-before-first"),
	recorded("tensorflow.sparse_segment_sum", Refuses, "tensorflow-sparse-segment-sum-negative-sum"),
	recorded("tensorflow.sparse_segment_mean", Refuses, "tensorflow-sparse-segment-mean-negative-mean"),
	recorded("tensorflow.sparse_segment_sqrtn", Refuses, "tensorflow-sparse-segment-sqrtn-negative-sqrtn"),
	recorded("torch.index_select", Refuses, "torch-index-select-negative"),
	recorded("torch.embedding", Refuses, "torch-embedding-negative"),
	recorded("torch.gather", Refuses, "torch-gather-negative"),
	recorded("jax.numpy.take", Counts, "jax-take-negative-default"),
	recorded("jax.numpy.take_along_axis", Counts, "jax-take-along-axis-negative-default"),
	recorded("webnn.gatherElements", Counts, "wpt-webnn-gather-elements-float32-3-d-input-and-int32-negative-indices"),
	recorded("webnn.gatherND", Counts, "wpt-webnn-gather-nd-float32-2-d-input-and-2-d-negative-indices"),
	recorded("tflite.GATHER", Refuses, "lint-tflite-negative"),
	recorded("tflite.GATHER_ND", Refuses, "lint-tflite-tuples-negative"),
	recorded("tflite.EMBEDDING_LOOKUP", Refuses, "tflite-lookup-negative"),
}, ofBags("lint-bag-negative-"))

// movedAnswers are the recorded answers of XLA to a start outside.
var movedAnswers = []Evidence{
	recorded("stablehlo.gather", Clamps, "lint-hlo-gather-negative"),
	recorded("stablehlo.gather", Clamps, "lint-hlo-gather-past-end"),
	recorded("stablehlo.gather", Clamps, "lint-hlo-gather-window"),
	recorded("stablehlo.dynamic_gather", Clamps, "lint-hlo-dynamic-gather-negative"),
	recorded("stablehlo.dynamic_gather", Clamps, "lint-hlo-dynamic-gather-past-end"),
}

// departed returns the recorded answers of the gathers whose runtime takes what their specification
// refuses.
func departed(of func(g departures.Gather) (departures.Answer, string)) []Evidence {
	var list []Evidence
	for _, g := range departures.Gathers {
		answer, name := of(g)
		list = append(list, recorded(g.Operator, answerOf[answer], name))
	}
	return list
}

// departedAtLoad returns the recorded answers of those that take a negative index otherwise when the
// model is loaded.
func departedAtLoad() []Evidence {
	var list []Evidence
	for _, g := range departures.Gathers {
		if g.NegativeAtLoad != g.Negative {
			list = append(list, recorded(g.Operator, answerOf[g.NegativeAtLoad], g.NegativeAtLoadCase).in(folding))
		}
	}
	return list
}

var answerOf = map[departures.Answer]Answer{
	departures.Refused: Halts, departures.Counted: Counts, departures.Zeros: Zeros, departures.OtherMemory: ReadsOther,
}

// ofBags returns the recorded answers of OpenVINO's bags, whose cases begin alike.
func ofBags(prefix string) []Evidence {
	return slices.Concat(
		haltsAt("openvino.EmbeddingBagOffsetsSum-3", prefix+"offsets-3"),
		haltsAt("openvino.EmbeddingBagOffsets-15", prefix+"offsets-15"),
		haltsAt("openvino.EmbeddingBagPackedSum-3", prefix+"packed-3"),
		haltsAt("openvino.EmbeddingBagPacked-15", prefix+"packed-15"),
		haltsAt("openvino.EmbeddingSegmentsSum-3", prefix+"segments-3"),
	)
}

// haltsAt makes evidence from cases at which an operator of OpenVINO halts.
func haltsAt(operator string, names ...string) []Evidence {
	var list []Evidence
	for _, name := range names {
		list = append(list, recorded(operator, Halts, name))
	}
	return list
}

// countsFromEnd reports whether an operator's definition counts a negative index
// from the end; the others refuse it.
func countsFromEnd(operator string) bool {
	return runtimeOf(operator) == ONNXRuntime || operator == "openvino.Gather-8" || operator == compressedGather
}

// countsAsRun reports whether a runtime counts a negative index from the end, though the operator's
// definition refuses it.
func countsAsRun(operator string) bool {
	g, ok := departures.OfGather(operator)
	return ok && g.Negative == departures.Counted
}

// zeroesOutside reports whether an operator's definition gives zeros for an index
// outside; the others refuse it.
func zeroesOutside(operator string) bool {
	return operator == "openvino.Gather-8" || operator == compressedGather || operator == blockQuantized
}

// answersOf returns the answers of a list whose operators fit.
func answersOf(list []Evidence, fits func(operator string) bool) []Evidence {
	var some []Evidence
	for _, e := range list {
		if fits(e.Operator) {
			some = append(some, e)
		}
	}
	return some
}

// tuples reports whether an operator's indices are tuples.
func tuples(operator string) bool {
	o, err := operators.Find(operator, 0)
	return err == nil && o.Kind == operators.GatherND
}

// anyIndex reports whether OpenVINO may answer an index outside with memory that nobody
// wrote: it is part of a tuple, or one of a bag.
func anyIndex(operator string) bool { return tuples(operator) || bags(operator) }

// notAnyIndex reports the opposite of anyIndex.
func notAnyIndex(operator string) bool { return !anyIndex(operator) }

// narrowed returns the recorded cases of a type that OpenVINO computes in 32
// bits.
func narrowed(d garner.DType, name string) []Evidence {
	var list []Evidence
	for _, o := range []string{"Gather-1", "Gather-7", "Gather-8", "GatherND-5", "GatherND-8"} {
		list = append(list, Evidence{Operator: "openvino." + o, Answer: Narrows, DType: d, Case: "openvino-" + strings.ToLower(o) + "-" + name})
	}
	return list
}

// Types that several operators of a runtime refuse.
var (
	onnxLacks  = []garner.DType{garner.Complex64, garner.Complex128, garner.F8E4M3FN, garner.I4, garner.U4}
	oddIndices = []garner.DType{garner.I8, garner.I16, garner.U8, garner.U16, garner.U32, garner.U64}
	tfIndices  = []garner.DType{garner.I8, garner.U8, garner.U16, garner.U32, garner.U64}
)
