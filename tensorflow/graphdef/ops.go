package graphdef

import (
	"sort"

	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// A gather is an operator that gathers: its name in package operators, and the attributes
// that it has there.
type gather struct {
	name       string
	attributes []string
}

// gathers are TensorFlow's operators that gather. Those of a variable are those of its
// elements: they have the same shapes, and refuse the same indices.
var gathers = map[string]gather{
	"Gather":           {"tensorflow.Gather", []string{"validate_indices"}},
	"GatherV2":         {"tensorflow.GatherV2", []string{"batch_dims"}},
	"GatherNd":         {"tensorflow.GatherNd", []string{"bad_indices_policy"}},
	"ResourceGather":   {"tensorflow.Gather", []string{"validate_indices"}}, // see gatherOf
	"ResourceGatherNd": {"tensorflow.GatherNd", nil},

	"SparseSegmentSum": {"tensorflow.sparse_segment_sum", nil}, "SparseSegmentSumWithNumSegments": {"tensorflow.sparse_segment_sum", nil},
	"SparseSegmentMean": {"tensorflow.sparse_segment_mean", nil}, "SparseSegmentMeanWithNumSegments": {"tensorflow.sparse_segment_mean", nil},
	"SparseSegmentSqrtN": {"tensorflow.sparse_segment_sqrtn", nil}, "SparseSegmentSqrtNWithNumSegments": {"tensorflow.sparse_segment_sqrtn", nil},
}

// gatherOf finds the operator of a node that gathers. ResourceGather with batch_dims has
// these as its axis, as tf.gather without an axis has.
func gatherOf(n *tfpb.NodeDef) (g gather, ok bool) {
	if n.Op == "ResourceGather" && n.Attr["batch_dims"].GetI() != 0 {
		return gather{"tensorflow.gather", []string{"batch_dims"}}, true
	}
	g, ok = gathers[n.Op]
	return g, ok
}

// calls are the operators that call a function, by the attribute that names it.
var calls = map[string]string{"PartitionedCall": "f", "StatefulPartitionedCall": "f"}

// choices are the operators that call one of several functions, and loops those that call
// them again and again.
var (
	choices = map[string][]string{"If": {"then_branch", "else_branch"}, "StatelessIf": {"then_branch", "else_branch"}, "Case": {"branches"}, "StatelessCase": {"branches"}}
	loops   = map[string]bool{"While": true, "StatelessWhile": true}
)

// variables are the operators that hold a variable of the graph.
var variables = map[string]bool{"VarHandleOp": true, "VariableV2": true, "Variable": true}

// reading are the operators that read a variable that is a resource, and change nothing. Any
// other may change it.
var reading = map[string]bool{
	"ReadVariableOp": true, "ResourceGather": true, "ResourceGatherNd": true, "VariableShape": true, "VarIsInitializedOp": true, "IsVariableInitialized": true,
	"Identity": true, "If": true, "StatelessIf": true, "Case": true, "StatelessCase": true, "While": true, "StatelessWhile": true,
}

// silent are the operators without a result, and those whose result is a variable that they
// change: none is a result of a graph without signatures.
var silent = map[string]bool{
	"NoOp": true, "Assert": true, "Const": true, "Placeholder": true, "SaveV2": true, "MergeV2Checkpoints": true, "RestoreV2": true,
}

// asks are the operators that TensorFlow adds to each variable, which ask whether it has a value: none is such a result either.
var asks = map[string]bool{"VarIsInitializedOp": true, "IsVariableInitialized": true}

// outputs are the operators with several outputs, by the names of these, which nodes of
// functions read them by. A model of TensorFlow says them itself, but a frozen graph does
// not.
var outputs = map[string][]string{
	"TopK": {"values", "indices"}, "TopKV2": {"values", "indices"},
	"Unique": {"y", "idx"}, "UniqueV2": {"y", "idx"}, "UniqueWithCounts": {"y", "idx", "count"}, "UniqueWithCountsV2": {"y", "idx", "count"},
	"ListDiff": {"out", "idx"}, "SparseReshape": {"output_indices", "output_shape"},
	"SparseFillEmptyRows": {"output_indices", "output_values", "empty_row_indicator", "reverse_index_map"},
	"StringSplit":         {"indices", "values", "shape"}, "StringSplitV2": {"indices", "values", "shape"},
	"Switch": {"output_false", "output_true"}, "Merge": {"output", "value_index"}, "RefMerge": {"output", "value_index"},
	"FusedBatchNorm":   {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"},
	"FusedBatchNormV2": {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"},
	"FusedBatchNormV3": {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"},
	"Moments":          {"mean", "variance"}, "MaxPoolWithArgmax": {"output", "argmax"}, "StringNGrams": {"ngrams", "ngrams_splits"},
}

// types are the types of the first output of operators, by the attribute that has it, or as
// they are, for graphs that do not say them.
var types = map[string]string{
	"GatherV2": "Tparams", "Gather": "Tparams", "GatherNd": "Tparams", "ResourceGather": "dtype", "ResourceGatherNd": "dtype", "ReadVariableOp": "dtype",
	"Cast": "DstT", "Shape": "out_type", "Size": "out_type", "Placeholder": "dtype", "PlaceholderWithDefault": "dtype", "Range": "Tidx", "Rank": "",
}

// output finds which output of a node an input of a function's node names: the k-th of the
// outputs arg. ok is false where the operator says of itself that it has none.
func (n *node) output(arg string, k int) (index int, ok bool) {
	if l := n.layout; l != nil {
		i, ok := l.named[arg]
		if !ok {
			return 0, false
		}
		return l.starts[i] + k, k < l.starts[i+1]-l.starts[i]
	}
	for i, name := range outputs[n.def.Op] {
		if name == arg {
			return i + k, true
		}
	}
	// Of an operator that nobody describes: each name in the order in which they come.
	if n.named == nil {
		n.named = map[string]int{}
	}
	at, ok := n.named[arg]
	if !ok {
		at = len(n.named)
		n.named[arg] = at
	}
	return at + k, true
}

// A layout says which outputs of a node each argument of its operator is: argument i is those
// from starts[i] on, up to starts[i+1].
type layout struct {
	arguments []*tfpb.OpDef_ArgDef
	starts    []int
	named     map[string]int // the first argument of a name
	lists     bool           // an argument may be several outputs, as the node's attributes say
}

// lay finds the layout of a node's outputs; it stays nil where the file does not describe the
// operator. Nodes share it where the operator has no lists.
func (n *node) lay() error {
	def := n.definition()
	if def == nil {
		return nil
	}
	if n.layout = n.scope.layouts[def]; n.layout != nil && !n.layout.lists {
		return nil
	}
	if err := n.scope.Spend(protofile.InputBytes * (1 + len(def.OutputArg))); err != nil {
		return err
	}
	l := &layout{def.OutputArg, make([]int, 1, 1+len(def.OutputArg)), make(map[string]int, len(def.OutputArg)), false}
	for i, a := range def.OutputArg {
		l.lists = l.lists || a.NumberAttr != "" || a.TypeListAttr != ""
		l.starts = append(l.starts, min(l.starts[i]+n.width(a), 1<<30)) // which no file reaches
		if _, twice := l.named[a.Name]; !twice {
			l.named[a.Name] = i
		}
	}
	n.layout, n.scope.layouts[def] = l, l
	return nil
}

// definition describes the operator of a node; nil where the file does not.
func (n *node) definition() *tfpb.OpDef {
	if f := n.scope.functions[n.def.Op]; f != nil {
		return f.Signature
	}
	return n.scope.ops[n.def.Op]
}

// width is how many outputs an argument of the operator is.
func (n *node) width(a *tfpb.OpDef_ArgDef) int {
	switch {
	case a.NumberAttr != "":
		return int(min(max(n.def.Attr[a.NumberAttr].GetI(), 0), mostOutputs))
	case a.TypeListAttr != "":
		return len(n.def.Attr[a.TypeListAttr].GetList().GetType())
	}
	return 1
}

// mostOutputs is the most outputs that a node may have.
const mostOutputs = 1 << 16

// typeOf finds the type of an output; DT_INVALID where it is not known.
func (n *node) typeOf(index int) tfpb.DataType {
	if l := n.layout; l != nil {
		// The argument is the last of those that begin at the output or before it: others
		// that begin there have no output.
		i := sort.SearchInts(l.starts, index+1) - 1
		if i >= len(l.arguments) {
			return tfpb.DataType_DT_INVALID
		}
		switch a := l.arguments[i]; {
		case a.TypeListAttr != "":
			return n.def.Attr[a.TypeListAttr].GetList().GetType()[index-l.starts[i]]
		case a.TypeAttr != "":
			return n.def.Attr[a.TypeAttr].GetType()
		default:
			return a.Type
		}
	}
	name, ok := types[n.def.Op]
	switch {
	case index > 0:
		return tfpb.DataType_DT_INVALID
	case !ok:
		name = "T"
	case name == "":
		return tfpb.DataType_DT_INT32
	}
	if a := n.def.Attr[name]; a != nil {
		return a.GetType()
	}
	if name == "out_type" || name == "Tidx" { // the default, which files leave out
		return tfpb.DataType_DT_INT32
	}
	return tfpb.DataType_DT_INVALID
}
