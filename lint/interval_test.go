package lint

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// A graphMaker makes a random graph, node by node, and keeps what each value is in
// a run.
type graphMaker struct {
	*rand.Rand
	*model.Model
	values  []*model.Value
	given   map[*model.Value]garner.Tensor
	results map[*model.Value]garner.Tensor
	tried   map[string]int // nodes that ran, by operator
}

// TestIntervals holds the law of bounds: every value that a run computes lies in its
// interval, that of its position along the last axis too; and an interval that
// claims to be exact has both ends.
func TestIntervals(t *testing.T) {
	tried := map[string]int{}
	for seed := range uint64(6000) {
		checkIntervals(t, seed, tried)
		if t.Failed() {
			return
		}
	}
	for _, names := range []string{onnxSteps, irSteps} {
		for op := range strings.FieldsSeq(names) {
			if tried[op] < 20 {
				t.Errorf("%s ran %d times", op, tried[op])
			}
		}
	}
}

// FuzzIntervals is TestIntervals with other seeds.
func FuzzIntervals(f *testing.F) {
	f.Add(uint64(1 << 40))
	f.Add(uint64(1<<40 + 95)) // an x that run refuses to add to
	f.Fuzz(func(t *testing.T, seed uint64) { checkIntervals(t, seed, map[string]int{}) })
}

func checkIntervals(t *testing.T, seed uint64, tried map[string]int) {
	g := &graphMaker{
		Rand:  rand.New(rand.NewPCG(seed, 3)),
		Model: &model.Model{Path: "m", Format: []string{"ONNX", "OpenVINO IR"}[seed%2], Graph: &model.Graph{}},
		given: map[*model.Value]garner.Tensor{}, results: map[*model.Value]garner.Tensor{}, tried: tried,
	}
	for range 3 + g.IntN(3) {
		g.leaf()
	}
	for range 3 + g.IntN(8) {
		g.node()
	}
	l := newLinter(context.Background(), g.Model)
	for _, v := range g.values {
		b, err := l.bounds(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := contains(b, g.results[v]); err != nil {
			t.Fatalf("seed %d: %v of %s\n%s", seed, err, v.Name, g)
		}
	}
}

// contains holds the elements of a tensor against bounds.
func contains(b bounds, x garner.Tensor) error {
	x, err := x.Clone()
	if err != nil || x.DType() == garner.String {
		return err
	}
	if b.dtype != garner.Invalid && b.dtype != x.DType() {
		return fmt.Errorf("it is %s, not %s", x.DType(), b.dtype)
	}
	width := 1
	if n := x.Rank(); n > 0 {
		width = x.Shape()[n-1]
	}
	if b.rank >= 0 && b.rank != x.Rank() {
		return fmt.Errorf("its rank is %d, not %d", x.Rank(), b.rank)
	}
	if b.one && (x.Len() != 1 || len(b.last) != 1) {
		return fmt.Errorf("it has %d elements", x.Len())
	}
	if len(b.last) > 0 && len(b.last) != width {
		return fmt.Errorf("it has %d positions along the last axis, not %d", width, len(b.last))
	}
	least, most := math.Inf(1), math.Inf(-1)
	err = numbers(x, func(i int, v float64) {
		least, most = min(least, v), max(most, v)
		if v < b.low.at || v > b.high.at {
			err = fmt.Errorf("element %d is %v, outside %+v", i, v, b.interval)
		}
		if len(b.last) > 0 {
			if at := b.last[i%width]; v < at.low.at || v > at.high.at {
				err = fmt.Errorf("element %d is %v, outside %+v of position %d", i, v, at, i%width)
			}
		}
	})
	if err == nil && b.exact && x.Len() > 0 && least <= most && (least != b.low.at || most != b.high.at) {
		return fmt.Errorf("%v to %v is not exactly %+v", least, most, b.interval)
	}
	return err
}

func (g *graphMaker) String() string {
	var s strings.Builder
	for _, v := range g.values {
		from := "given"
		if v.Constant != nil {
			from = "constant"
		} else if v.From != nil {
			var in []string
			for _, i := range v.From.Inputs {
				in = append(in, i.Name)
			}
			from = fmt.Sprint(v.From.Op, in, v.From.Attributes)
		}
		fmt.Fprintf(&s, "%s = %s: %.200s, %s\n", v.Name, from, g.results[v], v.Spec)
	}
	return s.String()
}

// add names a value and keeps what it is. Of a value that a node makes, the model
// may say less than it is.
func (g *graphMaker) add(v *model.Value, x garner.Tensor) *model.Value {
	v.Name = fmt.Sprint("v", len(g.values))
	v.Spec = garner.SpecOf(x.DType(), x.Shape()...)
	if v.Constant == nil {
		for i := range v.Spec.Dims {
			switch g.IntN(4) {
			case 0:
				v.Spec.Dims[i] = garner.AnyDim
			case 1:
				v.Spec.Dims[i].Max += g.IntN(3)
			}
		}
	}
	if v.From != nil && g.IntN(2) == 0 {
		v.Spec = model.Unknown
		if g.Format != "ONNX" { // OpenVINO's IR has every type
			v.Spec.DType = x.DType()
		}
	}
	g.values = append(g.values, v)
	g.results[v] = x
	return v
}

// number gives integers with a liking for the ends of types.
func (g *graphMaker) number() int64 {
	switch g.IntN(12) {
	case 0:
		return pick(g.Rand, int64(math.MinInt64), math.MaxInt64, math.MaxInt32, math.MinInt32, 1<<40, 1<<53+1, -1<<60)
	case 1, 2:
		return int64(g.IntN(400)) - 200
	}
	return int64(g.IntN(12)) - 4
}

func (g *graphMaker) tensor(dtype garner.DType, shape ...int) garner.Tensor {
	x, err := garner.New(dtype, shape...)
	if err != nil {
		panic(err)
	}
	for i := range x.Len() {
		text := fmt.Sprint(g.number())
		if dtype.IsFloat() && g.IntN(2) == 0 {
			text = fmt.Sprint(float64(g.IntN(100))/8 - 4)
		}
		if dtype == garner.Bool {
			text = pick(g.Rand, "true", "false")
		}
		_ = x.SetText(i, text) // a text that does not fit the type leaves 0
	}
	return x
}

// constant makes a constant.
func (g *graphMaker) constant(x garner.Tensor) *model.Value {
	v := &model.Value{}
	v.Constant = model.NewConstant("c", garner.SpecOf(x.DType(), x.Shape()...), func() (garner.Tensor, error) { return x, nil })
	return g.add(v, x)
}

func (g *graphMaker) leaf() *model.Value {
	dtype := pick(g.Rand, garner.I64, garner.I64, garner.I64, garner.I32, garner.F32, garner.Bool, garner.U8, garner.I8)
	x := g.tensor(dtype, [][]int{{}, {1}, {3}, {2, 3}, {2, 1}, {3, 3}, {4}, {0}}[g.IntN(8)]...)
	if g.IntN(2) == 0 {
		return g.constant(x)
	}
	v := g.add(&model.Value{}, x)
	g.Graph.Inputs = append(g.Graph.Inputs, v)
	g.given[v] = x
	return v
}

// of picks a value, of one of some types where there is one.
func (g *graphMaker) of(dtypes ...garner.DType) *model.Value {
	for range 20 {
		v := g.values[g.IntN(len(g.values))]
		d := g.results[v].DType()
		for _, want := range dtypes {
			if d == want {
				return v
			}
		}
		if len(dtypes) == 0 {
			return v
		}
	}
	return g.constant(g.tensor(dtypes[0], 3))
}

func (g *graphMaker) i64(values ...int64) *model.Value {
	return g.constant(garner.Of(values, len(values)))
}
func (g *graphMaker) scalar(v int64) *model.Value { return g.constant(garner.Of([]int64{v})) }

// The operators that a node is made of.
const (
	onnxSteps = "Add Sub Mul Div Mod Min Max Neg Clip Cast CastLike Where Concat Slice Shape Size Range Unsqueeze Squeeze Reshape Flatten Transpose Expand ConstantOfShape ReduceProd Equal Identity Gather GatherElements Abs ReduceSum ReduceMax ReduceMin CumSum TopK Split ScatterElements ArgMax Sign NonZero Trilu Compress OneHot"
	irSteps   = "Add Subtract Multiply Divide Mod FloorMod Minimum Maximum Negative Clamp Convert Select Concat Slice StridedSlice ShapeOf Range Unsqueeze Squeeze Reshape Transpose Broadcast ReduceProd Less Gather BitwiseAnd BitwiseOr Floor Abs ReduceSum ReduceMax ReduceMin CumSum TopK VariadicSplit ScatterElementsUpdate Sign"
)

// fromEnd makes the operands of x < 0 ? x + n : x, and of its mirror image. Where package run
// refuses one of them, as x + n, which OpenVINO would compute in i32, the operands have another x.
func (g *graphMaker) fromEnd(x *model.Value) []*model.Value {
	another := func() *model.Value {
		return g.i64(int64(g.IntN(12))-4, int64(g.IntN(12))-4, int64(g.IntN(12))-4)
	}
	if g.Format != "ONNX" {
		for i := range g.results[x].Len() {
			if v, err := g.results[x].Int(i); err != nil || int64(v.Bits) != int64(int16(v.Bits)) {
				x = another()
				break
			}
		}
	}
	add := func(op string, in ...*model.Value) *model.Value {
		n := &model.Node{Op: op, Inputs: in, Attributes: map[string]any{}, Version: 18}
		v := &model.Value{From: n}
		n.Outputs = []*model.Value{v}
		g.Graph.Nodes = append(g.Graph.Nodes, n)
		results, err := run.Values(context.Background(), g.Model, n.Outputs, g.given, 1<<20)
		if err != nil {
			g.Graph.Nodes = g.Graph.Nodes[:len(g.Graph.Nodes)-1]
			return nil
		}
		return g.add(v, results[0])
	}
	n := g.scalar(int64(g.IntN(20)))
	for ; ; x = another() {
		moved := pick(g.Rand, add("Add", x, n), add("Add", n, x))
		k := g.scalar(int64(g.IntN(3) / 2))
		op, less := map[bool]string{true: "GreaterOrEqual", false: "GreaterEqual"}[g.Format == "ONNX"], g.IntN(2) == 0
		if less {
			op = "Less"
		}
		switch condition := add(op, x, k); {
		case moved == nil || condition == nil:
		case less:
			return []*model.Value{condition, moved, x}
		default:
			return []*model.Value{condition, x, moved}
		}
	}
}

// node adds a node, unless its operator refuses what it got.
func (g *graphMaker) node() {
	before := len(g.values)
	onnx := g.Format == "ONNX"
	ops := strings.Fields(irSteps)
	if onnx {
		ops = strings.Fields(onnxSteps)
	}
	n := &model.Node{Op: ops[g.IntN(len(ops))], Attributes: map[string]any{}, Version: 18}
	ints := []garner.DType{garner.I64, garner.I64, garner.I32, garner.U8, garner.I8}
	x := g.of(ints...)
	rank := int64(g.results[x].Rank())
	n.Inputs = []*model.Value{x}
	like := func() *model.Value { return g.of(g.results[x].DType()) }
	switch n.Op {
	case "Add", "Sub", "Mul", "Div", "Subtract", "Multiply":
		if g.IntN(4) == 0 {
			x = g.of(garner.F32)
			n.Inputs[0] = x
		}
		n.Inputs = append(n.Inputs, like())
	case "Mod", "Min", "Max", "FloorMod", "Minimum", "Maximum", "Equal", "Less", "BitwiseAnd", "BitwiseOr", "Divide":
		n.Inputs = append(n.Inputs, like())
		if n.Op == "Mod" && onnx {
			n.Attributes["fmod"] = int64(g.IntN(2))
		}
		n.Attributes["m_pythondiv"] = g.IntN(2) == 0
	case "Clip":
		n.Inputs = append(n.Inputs, g.constant(g.tensor(g.results[x].DType())), g.constant(g.tensor(g.results[x].DType())))[:1+g.IntN(3)]
	case "Clamp":
		n.Attributes["min"], n.Attributes["max"] = fmt.Sprint(float64(g.IntN(10))/2-3), fmt.Sprint(float64(g.IntN(20))/2+2)
	case "Cast":
		n.Inputs[0] = g.of()
		n.Attributes["to"] = pick(g.Rand, int64(1), 2, 3, 6, 7, 9, 10, 11, 12, 13, 16)
	case "Convert":
		n.Inputs[0] = g.of()
		n.Attributes["destination_type"] = pick(g.Rand, "i64", "i32", "f32", "u8", "i8", "f16", "boolean"[:4], "u64")
	case "CastLike":
		n.Inputs = []*model.Value{g.of(), g.of()}
	case "Where", "Select":
		n.Inputs = []*model.Value{g.of(garner.Bool), x, like()}
		if g.IntN(2) == 0 {
			n.Inputs = g.fromEnd(g.of(garner.I64))
		}
	case "Concat":
		n.Attributes["axis"] = int64(g.IntN(3)) - 1
		n.Inputs = append(n.Inputs, like())
	case "Slice":
		starts, ends, axes := g.i64(int64(g.IntN(6)-3)), g.i64(int64(g.IntN(8)-3)), g.i64(int64(g.IntN(2)))
		steps := g.i64(pick(g.Rand, int64(1), 1, -1, 2))
		if n.Inputs = append(n.Inputs, starts, ends, axes, steps); !onnx {
			n.Inputs[3], n.Inputs[4] = steps, axes
		}
	case "StridedSlice":
		n.Inputs = append(n.Inputs, g.i64(int64(g.IntN(6)-3)), g.i64(int64(g.IntN(8)-3)), g.i64(pick(g.Rand, int64(1), 1, 1, -1)))
		for _, mask := range []string{"begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask"} {
			n.Attributes[mask] = []int64{int64(g.IntN(4) / 3)}
		}
	case "Shape", "ShapeOf", "Size", "Identity", "Floor":
		if n.Op == "Shape" && g.IntN(3) == 0 {
			n.Attributes["start"], n.Attributes["end"] = int64(g.IntN(4)-2), int64(g.IntN(4)-1)
		}
		if n.Op == "ShapeOf" {
			n.Attributes["output_type"] = pick(g.Rand, "i64", "i32")
		}
		if n.Op != "Floor" {
			n.Inputs[0] = g.of()
		}
	case "Range":
		n.Inputs = []*model.Value{g.scalar(int64(g.IntN(9) - 4)), g.scalar(int64(g.IntN(30) - 10)), g.scalar(pick(g.Rand, int64(1), 1, 2, 3, -1, -2))}
		if g.IntN(3) == 0 {
			n.Inputs[g.IntN(3)] = x
		}
	case "Unsqueeze":
		n.Inputs = append(n.Inputs, g.i64(int64(g.IntN(4))-int64(g.IntN(3))))
	case "Squeeze":
		if g.IntN(2) == 0 {
			n.Inputs = append(n.Inputs, g.i64(int64(g.IntN(3)-1)))
		}
	case "Reshape":
		n.Inputs = append(n.Inputs, pick(g.Rand, g.i64(-1), g.i64(1, -1), g.i64(-1, 1), g.i64(3, -1), g.i64(-1, 3), g.constant(garner.Of([]int64{}, 0))))
	case "Flatten":
		n.Attributes["axis"] = int64(g.IntN(int(rank) + 1))
	case "Transpose":
		if !onnx {
			n.Inputs = append(n.Inputs, g.constant(garner.Of([]int64{}, 0)))
		}
	case "Expand", "Broadcast":
		n.Inputs = append(n.Inputs, pick(g.Rand, g.i64(3), g.i64(2, 3), g.i64(2, 1, 1)))
		n.Attributes["mode"] = "bidirectional"
	case "ConstantOfShape":
		n.Inputs[0] = pick(g.Rand, g.i64(2), g.i64(2, 3))
		if g.IntN(2) == 0 {
			value := garner.Of([]int64{g.number()}, 1)
			n.Attributes["value"] = model.NewConstant("value", garner.SpecOf(garner.I64, 1), func() (garner.Tensor, error) { return value, nil })
		}
	case "ReduceProd":
		if n.Attributes["keepdims"] = int64(g.IntN(2)); !onnx {
			n.Inputs = append(n.Inputs, g.i64(0))
		}
	case "Gather":
		n.Operator = "onnx.Gather-13"
		n.Attributes["axis"] = pick(g.Rand, int64(0), 0, 1, -1)
		if n.Inputs = append(n.Inputs, g.of(garner.I64)); g.IntN(2) == 0 {
			n.Inputs[1] = pick(g.Rand, g.scalar(int64(g.IntN(4)-2)), g.i64(int64(g.IntN(4)-2), int64(g.IntN(4)-2)))
		}
		if !onnx {
			n.Operator = "openvino.Gather-8"
			n.Inputs = append(n.Inputs, g.scalar(n.Attributes["axis"].(int64)))
			n.Attributes = map[string]any{}
		}
	case "Abs", "Sign", "NonZero":
		n.Inputs[0] = g.of(append(ints, garner.F32)...)
	case "ReduceSum", "ReduceMax", "ReduceMin":
		n.Inputs = append(n.Inputs, g.i64(int64(g.IntN(3)-1)))
		n.Attributes["keepdims"], n.Attributes["keep_dims"] = int64(g.IntN(2)), int64(g.IntN(2))
	case "CumSum":
		n.Inputs = append(n.Inputs, g.scalar(int64(g.IntN(3)-1)))
		n.Attributes["exclusive"], n.Attributes["reverse"] = int64(g.IntN(2)), int64(g.IntN(2))
	case "ArgMax":
		n.Attributes["axis"] = int64(g.IntN(3) - 1)
	case "TopK":
		n.Inputs = append(n.Inputs, g.scalar(int64(g.IntN(3))))
		n.Attributes["axis"], n.Attributes["largest"] = int64(g.IntN(3)-1), int64(g.IntN(2))
		n.Attributes["mode"], n.Attributes["sort"], n.Attributes["stable"] = pick(g.Rand, "max", "min"), pick(g.Rand, "value", "index"), int64(1)
	case "Split":
		n.Attributes["num_outputs"], n.Attributes["axis"] = int64(2), int64(g.IntN(3)-1)
	case "VariadicSplit":
		n.Inputs = append(n.Inputs, g.scalar(int64(g.IntN(3)-1)), g.i64(1, -1))
	case "ScatterElements", "ScatterElementsUpdate":
		n.Inputs = append(n.Inputs, pick(g.Rand, g.of(garner.I64), g.i64(0, -1), g.i64(1)), like())
		if !onnx {
			n.Inputs = append(n.Inputs, g.scalar(0))
		}
	case "Trilu":
		n.Attributes["upper"] = int64(g.IntN(2))
	case "Compress":
		n.Inputs = append(n.Inputs, g.of(garner.Bool))
	case "OneHot":
		n.Inputs = append(n.Inputs, g.scalar(int64(1+g.IntN(4))), g.i64(g.number(), g.number()))
	case "GatherElements":
		n.Operator = "onnx.GatherElements-13"
		n.Inputs = append(n.Inputs, g.of(garner.I64))
	}
	outputs := map[string]int{"TopK": 2, "Split": 2, "VariadicSplit": 2}
	for range max(outputs[n.Op], 1) {
		n.Outputs = append(n.Outputs, &model.Value{From: n})
	}
	g.Graph.Nodes = append(g.Graph.Nodes, n)
	results, err := run.Values(context.Background(), g.Model, n.Outputs, g.given, 1<<20)
	if err != nil || results[0].Len() > 4096 {
		g.Graph.Nodes = g.Graph.Nodes[:len(g.Graph.Nodes)-1]
		for _, v := range g.values[before:] {
			delete(g.results, v)
		}
		g.values = g.values[:before]
		return
	}
	g.tried[n.Op]++
	for i, out := range n.Outputs {
		g.add(out, results[i])
	}
}

// TestIntervalsOfOthers holds the law against what ONNX Runtime answers to operators
// that package run does not evaluate: with constants, and with inputs that are known
// to be in some interval.
func TestIntervalsOfOthers(t *testing.T) {
	f, err := os.Open("testdata/laws.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	tried := map[string]int{}
	tight := map[string]bool{}
	for lines.Scan() {
		var c struct {
			Op, Domain      string
			Attributes      map[string]any
			Inputs, Outputs []values
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		tried[c.Op]++
		for name, v := range c.Attributes {
			if n, ok := v.(float64); ok {
				c.Attributes[name] = int64(n)
			}
		}
		for _, constant := range []bool{true, false} {
			l := newLinter(context.Background(), &model.Model{Format: "ONNX"})
			n := &model.Node{Name: "n", Op: c.Op, Domain: c.Domain, Version: 18, Attributes: c.Attributes}
			for i, in := range c.Inputs {
				x := elementsOfValues(t, in)
				v := held(x)
				if !constant && i == 0 { // an input that the model bounds
					v = &model.Value{Name: "x", Spec: garner.SpecOf(x.DType(), x.Shape()...)}
					b, err := l.bounds(held(x))
					if err != nil {
						t.Fatal(err)
					}
					b.last, b.exact, b.low.at, b.high.at = nil, false, b.low.at-1, b.high.at+1
					least, most := rangeOf(x.DType())
					b.low.at, b.high.at = max(b.low.at, least), min(b.high.at, most)
					l.ranges[v], l.begun[v] = b, visited
				}
				n.Inputs = append(n.Inputs, v)
			}
			for range c.Outputs {
				n.Outputs = append(n.Outputs, &model.Value{Spec: model.Unknown, From: n})
			}
			for i, out := range c.Outputs {
				b, err := l.bounds(n.Outputs[i])
				if err != nil {
					t.Fatal(err)
				}
				if err := contains(b, elementsOfValues(t, out)); err != nil {
					t.Errorf("%s %v, constant %t, output %d: %v", c.Op, c.Attributes, constant, i, err)
				}
				tight[c.Op] = tight[c.Op] || b.why() < open
			}
		}
	}
	if err := lines.Err(); err != nil || len(tried) < 35 {
		t.Errorf("%d operators, %v", len(tried), err)
	}
	for op := range tried {
		if bounded := tight[op]; bounded == (op == "ArrayFeatureExtractor" || op == "Mean") {
			t.Errorf("%s is bounded: %t", op, bounded)
		}
	}
}

// elementsOfValues makes a tensor of recorded values.
func elementsOfValues(t *testing.T, v values) garner.Tensor {
	t.Helper()
	d, err := garner.ParseDType(v.DType)
	if err != nil {
		t.Fatal(err)
	}
	x, err := garner.New(d, v.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range v.Values {
		text := fmt.Sprint(e)
		if n, ok := e.(float64); ok && d.IsInteger() {
			text = strconv.FormatFloat(n, 'f', 0, 64)
		}
		if err := x.SetText(i, text); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// TestRound holds the interval of each mode of Round, to what OpenVINO 2026.4.1 computes.
func TestRound(t *testing.T) {
	for mode, ends := range map[string][2]float64{"": {-2, 2}, "half_to_even": {-2, 2}, "half_away_from_zero": {-3, 3}, "HALF_AWAY_FROM_ZERO": {-3, 3}} {
		x := with(made("Clamp", "f32[?]", given("f32[?]")), map[string]any{"min": "-2.5", "max": "2.5"})
		n := with(made("Round", "f32[?]", x), map[string]any{})
		if mode != "" {
			n.From.Attributes["mode"] = mode
		}
		g := gather{op: "openvino.Gather-8", data: given("f32[3]"), indices: with(made("Convert", "i64[?]", n), map[string]any{"destination_type": "i64"})}
		b, err := newLinter(t.Context(), g.model()).bounds(g.indices)
		if err != nil || b.low.at != ends[0] || b.high.at != ends[1] {
			t.Errorf("%q: %v to %v, not %v, %v", mode, b.low.at, b.high.at, ends, err)
		}
	}
}

// TestDivide holds the interval of Divide of integers, which OpenVINO 2026.4.1 rounds down, towards 0 or, of
// bytes, to the nearest.
func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		dtype     string
		two       garner.Tensor
		low, high float64
	}{
		{"i8", garner.Of([]int8{2}), -4, 4},
		{"i32", garner.Of([]int32{2}), -4, 3},
	} {
		x := with(made("Clamp", tt.dtype+"[?]", given(tt.dtype+"[?]")), map[string]any{"min": "-7", "max": "7"})
		n := with(made("Divide", tt.dtype+"[?]", x, held(tt.two)), map[string]any{"m_pythondiv": true})
		g := gather{op: "openvino.Gather-8", data: given("f32[3]"), indices: with(made("Convert", "i64[?]", n), map[string]any{"destination_type": "i64"})}
		b, err := newLinter(t.Context(), g.model()).bounds(g.indices)
		if err != nil || b.low.at != tt.low || b.high.at != tt.high {
			t.Errorf("%s: %v to %v, not %v to %v, %v", tt.dtype, b.low.at, b.high.at, tt.low, tt.high, err)
		}
	}
}
