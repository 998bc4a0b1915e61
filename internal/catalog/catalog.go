// Package catalog is the one list of operators: what the commands offer, what
// the corpora name and what the documentation shows comes from here.
package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
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

// A Kind says how an operator reads its indices; it is the command's name.
type Kind string

const (
	Gather   Kind = "gather"   // slices along one axis
	GatherND Kind = "gathernd" // slices at index tuples
	Elements Kind = "elements" // one element per index
)

// An Operator is one version of one framework's gather.
type Operator struct {
	Name string // DIALECT.OPERATOR-VERSION; without a version where the framework has none
	Kind Kind
	Zero garner.Op // of a struct type whose tags name the attributes; see Bind
	Spec string    // where its specification is
}

const (
	ovPage   = "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/"
	onnxPage = "https://onnx.ai/onnx/operators/onnx__"
	msPage   = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherND"
	tfPage   = "https://www.tensorflow.org/api_docs/python/tf/"
	npPage   = "https://numpy.org/doc/stable/reference/generated/numpy."
	ptPage   = "https://docs.pytorch.org/docs/stable/generated/torch."
	nnPage   = "https://www.w3.org/TR/webnn/#api-mlgraphbuilder-"
	litePage = "https://ai.google.dev/edge/litert/conversion/tensorflow/op_compatibility#tfl."
	hloPage  = "https://openxla.org/stablehlo/spec#"
	jaxPage  = "https://docs.jax.dev/en/latest/_autosummary/jax."
	ownPage  = "https://pkg.go.dev/github.com/garner-go/garner/strict#"
)

// operators has every operator, versions of one from the oldest to the newest.
var operators = []Operator{
	{"garner.Gather", Gather, strict.Gather{}, ownPage + "Gather"},
	{"garner.GatherND", GatherND, strict.GatherND{}, ownPage + "GatherND"},
	{"garner.GatherElements", Elements, strict.GatherElements{}, ownPage + "GatherElements"},
	{"openvino.Gather-1", Gather, openvino.Gather1{}, ovPage + "gather-1.html"},
	{"openvino.Gather-7", Gather, openvino.Gather7{}, ovPage + "gather-7.html"},
	{"openvino.Gather-8", Gather, openvino.Gather8{}, ovPage + "gather-8.html"},
	{"openvino.GatherND-5", GatherND, openvino.GatherND5{}, ovPage + "gather-nd-5.html"},
	{"openvino.GatherND-8", GatherND, openvino.GatherND8{}, ovPage + "gather-nd-8.html"},
	{"openvino.GatherElements-6", Elements, openvino.GatherElements6{}, ovPage + "gather-elements-6.html"},
	{"onnx.Gather-1", Gather, onnx.Gather1{}, onnxPage + "Gather.html"},
	{"onnx.Gather-11", Gather, onnx.Gather11{}, onnxPage + "Gather.html"},
	{"onnx.Gather-13", Gather, onnx.Gather13{}, onnxPage + "Gather.html"},
	{"onnx.GatherElements-11", Elements, onnx.GatherElements11{}, onnxPage + "GatherElements.html"},
	{"onnx.GatherElements-13", Elements, onnx.GatherElements13{}, onnxPage + "GatherElements.html"},
	{"onnx.GatherND-11", GatherND, onnx.GatherND11{}, onnxPage + "GatherND.html"},
	{"onnx.GatherND-12", GatherND, onnx.GatherND12{}, onnxPage + "GatherND.html"},
	{"onnx.GatherND-13", GatherND, onnx.GatherND13{}, onnxPage + "GatherND.html"},
	{"com.microsoft.GatherND-1", GatherND, onnx.MicrosoftGatherND1{}, msPage},
	{"tensorflow.GatherNd", GatherND, tensorflow.GatherNd{}, tfPage + "raw_ops/GatherNd"},
	{"tensorflow.gather_nd", GatherND, tensorflow.GatherNdFunc{}, tfPage + "gather_nd"},
	{"tensorflow.Gather", Gather, tensorflow.Gather{}, tfPage + "raw_ops/Gather"},
	{"tensorflow.GatherV2", Gather, tensorflow.GatherV2{}, tfPage + "raw_ops/GatherV2"},
	{"tensorflow.gather", Gather, tensorflow.GatherFunc{}, tfPage + "gather"},
	{"tensorflow.batch_gather", Gather, tensorflow.BatchGather{}, tfPage + "compat/v1/batch_gather"},
	{"numpy.take", Gather, numpy.Take{}, npPage + "take.html"},
	{"numpy.take_along_axis", Elements, numpy.TakeAlongAxis{}, npPage + "take_along_axis.html"},
	{"torch.gather", Elements, torch.Gather{}, ptPage + "gather.html"},
	{"torch.index_select", Gather, torch.IndexSelect{}, ptPage + "index_select.html"},
	{"torch.embedding", Gather, torch.Embedding{}, ptPage + "nn.functional.embedding.html"},
	{"torch.take", Gather, torch.Take{}, ptPage + "take.html"},
	{"torch.take_along_dim", Elements, torch.TakeAlongDim{}, ptPage + "take_along_dim.html"},
	{"webnn.gather", Gather, webnn.Gather{}, nnPage + "gather"},
	{"webnn.gatherElements", Elements, webnn.GatherElements{}, nnPage + "gatherelements"},
	{"webnn.gatherND", GatherND, webnn.GatherND{}, nnPage + "gathernd"},
	{"tflite.GATHER", Gather, tflite.Gather{}, litePage + "gather"},
	{"tflite.GATHER_ND", GatherND, tflite.GatherND{}, litePage + "gather_nd"},
	{"stablehlo.gather", GatherND, stablehlo.Gather{}, hloPage + "gather"},
	{"stablehlo.dynamic_gather", GatherND, stablehlo.DynamicGather{}, hloPage + "dynamic_gather"},
	{"jax.lax.gather", GatherND, jax.LaxGather{}, jaxPage + "lax.gather.html"},
	{"jax.numpy.take", Gather, jax.NumpyTake{}, jaxPage + "numpy.take.html"},
	{"jax.numpy.take_along_axis", Elements, jax.NumpyTakeAlongAxis{}, jaxPage + "numpy.take_along_axis.html"},
}

// Operators lists every operator, dialect by dialect, versions of one from the
// oldest to the newest.
func Operators() []Operator { return slices.Clone(operators) }

// Own is garner's own, strict operator of a kind.
func Own(k Kind) Operator {
	for _, o := range operators {
		if o.Kind == k {
			return o
		}
	}
	panic("catalog: no operator of kind " + string(k))
}

// base is a name without its version, and the version; 0 where there is none.
func base(name string) (string, int) {
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if v, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i], v
		}
	}
	return name, 0
}

// Find finds an operator by its name. A name without a version means the newest
// version that the opset has, or the newest of all where opset is 0. A name
// that is not known is an ErrAttribute that suggests near ones.
func Find(name string, opset int) (Operator, error) {
	var found *Operator
	for i, o := range operators {
		if o.Name == name {
			return o, nil
		}
		if b, v := base(o.Name); b == name && (opset == 0 || v <= opset) {
			found = &operators[i]
		}
	}
	if found != nil {
		return *found, nil
	}
	return Operator{}, garner.Errorf(garner.ErrAttribute, "no operator %s%s", name, suggest(name))
}

// suggest names the operator whose name is nearest, of several the newest.
func suggest(name string) string {
	best, at := len(name)/2+1, ""
	for _, o := range operators {
		if d := distance(strings.ToLower(name), strings.ToLower(o.Name)); d <= best {
			best, at = d, o.Name
		}
	}
	if at == "" {
		return `; "garner ops" lists them`
	}
	return fmt.Sprintf("; did you mean %s?", at)
}

// distance is how many letters to insert, remove or replace make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
