package operators

import (
	"strings"

	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
)

// Related describes an operator that takes rows of a table by indices and that this
// package does not have, such as those that compute with what they gather.
type Related struct {
	Name          string // with its domain: "ai.onnx.ml.ArrayFeatureExtractor"
	Data, Indices int    // the numbers of the inputs that are the table and the indices
}

// related lists the operators by domain and name.
var related = map[[2]string]Related{
	{"com.microsoft", "EmbedLayerNormalization"}:  {Data: 2, Indices: 0},
	{"com.microsoft", "QEmbedLayerNormalization"}: {Data: 2, Indices: 0},
	{"ai.onnx.ml", "ArrayFeatureExtractor"}:       {Data: 0, Indices: 1},

	// Of LiteRT. Its STABLEHLO_GATHER moves no window inside, and so is not stablehlo.gather; the Flex
	// operators are TensorFlow's in a custom operator.
	{"", "EMBEDDING_LOOKUP_SPARSE"}:    {Data: 4, Indices: 0},
	{"", "HASHTABLE_LOOKUP"}:           {Data: 2, Indices: 0},
	{"", "STABLEHLO_GATHER"}:           {Data: 0, Indices: 1},
	{"custom", "FlexGather"}:           {Data: 0, Indices: 1},
	{"custom", "FlexGatherV2"}:         {Data: 0, Indices: 1},
	{"custom", "FlexGatherNd"}:         {Data: 0, Indices: 1},
	{"custom", "FlexResourceGather"}:   {Data: 0, Indices: 1},
	{"custom", "FlexResourceGatherNd"}: {Data: 0, Indices: 1},
	// Of TensorFlow: a lookup in a list of tables parts the ids by their table, gathers from
	// each, and stitches the rows together.
	{"", "DynamicPartition"}:      {Data: 0, Indices: 1},
	{"", "DynamicStitch"}:         stitches,
	{"", "ParallelDynamicStitch"}: stitches,
}

// stitches is an operator of as many lists of indices as of tables.
var stitches = Related{Data: -1, Indices: 0}

// RelatedOf describes a node of a related operator; false for any other node. Every
// operator whose name begins with EmbeddingBag is one, but those that this package has:
// exporters keep them under names of their own.
func RelatedOf(n *model.Node) (Related, bool) {
	r, ok := related[[2]string{n.Domain, n.Op}]
	if aten, _ := n.Attributes["operator"].(string); !ok {
		ok = strings.HasPrefix(n.Op, "EmbeddingBag") || n.Op == "ATen" && strings.HasPrefix(aten, "embedding")
		r = Related{Data: 0, Indices: 1}
	}
	if r == stitches {
		r.Data = len(n.Inputs) / 2
	}
	if !ok || n.IsGather() || max(r.Data, r.Indices) >= len(n.Inputs) {
		return Related{}, false
	}
	if r.Name = n.Op; n.Domain != "" {
		r.Name = n.Domain + "." + n.Op
	}
	return r, true
}

// Constants returns a function that gives the constant whose elements a value has, in the
// same row-major order: behind operators that change only its shape, and behind those
// casts that cast passes. It gives nil for any other value. It visits each value of a
// model once, and is not safe for concurrent use.
func Constants(cast func(to, from *model.Value) bool) func(v *model.Value) *model.Constant {
	return trail.New(func(v *model.Value) *model.Value {
		effect, inputs := effectBehind(v)
		if len(inputs) == 1 && (effect == Reshaped || effect == Cast && cast(v, inputs[0])) {
			return inputs[0]
		}
		return nil
	}, (*model.Value).Fixed, nil).Of
}

// Dequantised returns a function that gives the constant that a value is the
// dequantisation of, as a whole: by DequantizeLinear or DEQUANTIZE, or as OpenVINO writes it, by a
// conversion of integers and arithmetic with constants. It gives nil for any other
// value. It visits each value of a model once, and is not safe for concurrent use.
func Dequantised() func(v *model.Value) *model.Constant {
	type source struct {
		constant *model.Constant
		computed bool
	}
	constant := Constants(func(_, _ *model.Value) bool { return true })
	before := func(v *model.Value) (from *model.Value, computed bool) {
		if v.Constant == nil && dequantizes(v.From) {
			return v.From.Inputs[0], true
		}
		effect, inputs := effectBehind(v)
		switch {
		case effect <= Permuted && len(inputs) == 1:
			return inputs[0], false
		case effect == Computed && len(inputs) == 2 && constant(inputs[1]) != nil:
			return inputs[0], true
		}
		return nil, false
	}
	sources := trail.New(func(v *model.Value) *model.Value {
		from, _ := before(v)
		return from
	}, func(v *model.Value) source { return source{constant: v.Fixed()} }, func(v *model.Value, found source) source {
		_, computed := before(v)
		return source{found.constant, found.computed || computed}
	})
	return func(v *model.Value) *model.Constant {
		found := sources.Of(v)
		if c := found.constant; c != nil && found.computed && (c.Spec.DType.IsInteger() || c.Spec.DType.Bits() <= 8) {
			return c
		}
		return nil
	}
}

// dequantizes reports whether a node is a DequantizeLinear, or LiteRT's DEQUANTIZE.
func dequantizes(n *model.Node) bool {
	return n != nil && (n.Op == "DequantizeLinear" && (n.Domain == "" || n.Domain == "com.microsoft") || n.Op == "DEQUANTIZE" && n.Domain == "") &&
		len(n.Inputs) > 0 && n.Inputs[0] != nil
}

// effectBehind is EffectOf the node that makes a value; Opaque where none does.
func effectBehind(v *model.Value) (Effect, []*model.Value) {
	if v.Constant != nil || v.From == nil {
		return Opaque, nil
	}
	return EffectOf(v.From)
}
