package lint

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A foldable tells which dtypes of the first operand with elements OpenVINO computes of
// constants before the first run.
type foldable func(d garner.DType) bool

func ofEvery(garner.DType) bool        { return true }
func ofNoType(garner.DType) bool       { return false }
func ofFloats(d garner.DType) bool     { return d.IsFloat() }
func exceptFloats(d garner.DType) bool { return !d.IsFloat() }
func exceptI8(d garner.DType) bool     { return d != garner.I8 }
func exceptBytes(d garner.DType) bool  { return d != garner.I8 && d != garner.U8 }
func exceptBytesAndBool(d garner.DType) bool {
	return exceptBytes(d) && d != garner.Bool
}

// foldables are the operators that OpenVINO folds of some dtypes alone, and those that lint
// does not bound, by their names in ONNX and in OpenVINO: measured, in testdata/folds.jsonl.
// OpenVINO folds any other operator that lint bounds.
var foldables = func() map[string]foldable {
	all := map[string]foldable{}
	for _, group := range []struct {
		of    foldable
		names []string
	}{
		{ofNoType, []string{"GatherND", "GatherElements", "ReverseSequence", "Roll", "Bucketize", "HardSigmoid", "IsNaN", "IsInf", "NonMaxSuppression"}},
		{ofFloats, []string{"CumSum", "SquaredDifference", "ReduceL2", "Softmax", "SoftMax", "SoftPlus", "Softplus"}},
		{exceptFloats, []string{"Mod"}},
		{exceptI8, []string{"Min", "Minimum", "Not", "LogicalNot"}},
		{exceptBytes, []string{
			"Mul", "Multiply", "Div", "Divide", "Max", "Maximum", "Pow", "Power", "Abs", "Neg", "Negative", "Sign", "Relu", "ReLU", "Sqrt", "Exp", "Log",
			"Sigmoid", "Tanh", "Erf", "Sin", "Cos", "NotEqual", "Less", "LessOrEqual", "LessEqual", "Greater", "GreaterOrEqual", "GreaterEqual",
			"ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ScatterElements", "ScatterElementsUpdate", "ScatterND", "ScatterNDUpdate", "MatMul",
		}},
		{exceptBytesAndBool, []string{"TopK", "ArgMax", "ArgMin"}},
		{ofEvery, []string{"ReduceLogicalAnd", "ReduceLogicalOr", "OneHot"}},
		{func(d garner.DType) bool { return d == garner.Bool }, []string{"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"}},
	} {
		for _, name := range group.names {
			all[name] = group.of
		}
	}
	return all
}()

// folded reports whether OpenVINO computes a value before the first run, because it
// depends on constants and on known shapes alone.
func (l *linter) folded(v *model.Value) bool {
	_ = groups(v, l.foldedSeen, l.foldedFrom, func(group []*model.Value) error { // which has no error
		for _, v := range group {
			from := l.foldedFrom(v)
			l.isFolded[v] = v.Constant != nil || // OpenVINO's reader of ONNX takes the default of an input for a constant
				l.knownShape(v) || len(from) > 0 && !slices.ContainsFunc(from, func(v *model.Value) bool { return v != nil && !l.isFolded[v] })
		}
		return nil
	})
	return l.isFolded[v]
}

// knownShape reports whether a value is the shape of one whose dims OpenVINO infers.
func (l *linter) knownShape(v *model.Value) bool {
	if v.From == nil || v.From.Domain != "" {
		return false
	}
	switch v.From.Op {
	case "Shape", "ShapeOf", "Size":
		list, err := l.inferred.of(input(v.From, 0))
		return err == nil && list != nil && !slices.ContainsFunc(list, func(e inferredDim) bool { return e < 0 })
	}
	return false
}

// foldedFrom lists what must be folded so that OpenVINO folds a value; nothing where it
// does not.
func (l *linter) foldedFrom(v *model.Value) []*model.Value {
	if v.Constant != nil || v.From == nil {
		return nil
	}
	if !isFirst(v) { // it is folded with the first
		return v.From.Outputs[:1]
	}
	n := v.From
	of, listed := foldables[l.nameOf(n)]
	if n.Domain != "" && !n.IsGather() {
		return nil
	}
	if _, bounded := l.stepOf(v); !bounded && !listed {
		return nil
	}
	if listed {
		d := input(n, 0).Spec.DType
		if d == garner.Invalid { // the file does not say; of most operators the result has the same
			d = v.Spec.DType
		}
		if !of(d) {
			return nil
		}
	}
	return n.Inputs
}
