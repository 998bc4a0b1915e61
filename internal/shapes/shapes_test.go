package shapes

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// TestInferCasts holds that a cast and Identity give the shape of
// what they read, and a cast its own dtype.
func TestInferCasts(t *testing.T) {
	in := &model.Value{Spec: garner.SpecOf(garner.I32, 2, 0)}
	like := &model.Value{Spec: garner.SpecOf(garner.U8)}
	chain := func(op string, attributes map[string]any, in ...*model.Value) *model.Node {
		n := &model.Node{Op: op, Attributes: attributes, Inputs: in}
		n.Outputs = []*model.Value{{Spec: model.Unknown, From: n}}
		return n
	}
	wide := chain("Cast", map[string]any{"to": int64(7)}, in)
	for want, nodes := range map[string][]*model.Node{
		"i64[2,0]":   {wide, chain("Identity", nil, wide.Outputs[0])},
		"f32[2,0]":   {chain("Cast", map[string]any{"to": "FLOAT"}, in)},
		"[2,0] own":  {chain("Relu", nil, &model.Value{Spec: garner.SpecOf(garner.Invalid, 2, 0)})},
		"u8[2,0]":    {chain("CastLike", nil, in, like)},
		"[2,0]":      {chain("Cast", map[string]any{"to": int64(99)}, in)},
		"[...] more": {{Op: "Cast", Domain: "own", Inputs: []*model.Value{in}, Outputs: []*model.Value{{Spec: model.Unknown, From: &model.Node{}}}}},
	} {
		Infer(&model.Model{Format: "ONNX", Graph: &model.Graph{Nodes: nodes}})
		last := nodes[len(nodes)-1].Outputs[0]
		if want, _, _ = strings.Cut(want, " "); last.Spec.String() != want {
			t.Errorf("%s: %s; want %s", nodes[0].Op, last.Spec, want)
		}
	}
}

// constant is a value of a list of int64.
func constant(list ...int64) *model.Value {
	t := garner.Of(list, len(list))
	return &model.Value{Spec: t.Spec(), Constant: model.NewConstant("c", t.Spec(), func() (garner.Tensor, error) { return t, nil })}
}

func input(name string, d garner.DType, names ...string) *model.Value {
	return &model.Value{Name: name, Spec: garner.SpecOfRank(d, garner.Exactly(len(names))), DimNames: names}
}

// add appends a node to a graph and gives its first output.
func add(g *model.Graph, op string, attributes map[string]any, in ...*model.Value) *model.Value {
	n := &model.Node{Op: op, Version: 18, Attributes: attributes, Inputs: in}
	n.Outputs = []*model.Value{{Spec: model.Unknown, From: n}}
	g.Nodes = append(g.Nodes, n)
	return n.Outputs[0]
}

// TestShapesOfShapes follows the elements of shapes: the pattern by which exporters split heads.
func TestShapesOfShapes(t *testing.T) {
	x := input("x", garner.F32, "batch", "seq", "")
	x.Spec.Dims[2] = garner.Exactly(64)
	g := &model.Graph{Inputs: []*model.Value{x}}
	shape := add(g, "Shape", nil, x)
	first := add(g, "Slice", nil, shape, constant(0), constant(1), constant(0))
	heads := add(g, "Reshape", nil, x, add(g, "Concat", map[string]any{"axis": int64(0)}, first, constant(-1, 4, 16)))
	turned := add(g, "Transpose", map[string]any{"perm": []int64{0, 2, 1, 3}}, heads)
	product := add(g, "MatMul", nil, turned, add(g, "Transpose", map[string]any{"perm": []int64{0, 1, 3, 2}}, turned))
	total := add(g, "ReduceSum", map[string]any{"keepdims": int64(0)}, product, constant(-1))
	filled := add(g, "ConstantOfShape", nil, add(g, "Mul", nil, shape, constant(2)))
	Infer(&model.Model{Format: "ONNX", Graph: g})
	for v, want := range map[*model.Value]string{
		shape: "i64[3]", heads: "f32[batch,seq,4,16]", turned: "f32[batch,4,seq,16]", product: "f32[batch,4,seq,seq]", total: "f32[batch,4,seq]", filled: "f32[?,?,128]",
	} {
		if got := v.Type(); got != want {
			t.Errorf("%s: %s; want %s", v.From.Op, got, want)
		}
	}
}

// TestLoopsWiden holds that what a turn changes is open and what it keeps is not, in loops that
// stand in each other too.
func TestLoopsWiden(t *testing.T) {
	x, kept := input("x", garner.F32, "n", ""), input("y", garner.F32, "m")
	x.Spec.Dims[1] = garner.Exactly(3)
	loop := func(body func(g *model.Graph, a, b *model.Value) (*model.Value, *model.Value), outer *model.Graph, a, b *model.Value) (*model.Value, *model.Value) {
		n := &model.Node{Op: "Loop", Version: 18, Inputs: []*model.Value{constant(4), nil, a, b}}
		param := func() *model.Value { return &model.Value{Spec: model.Unknown} }
		g := &model.Graph{Inputs: []*model.Value{param(), param(), param(), param()}}
		p, q := body(g, g.Inputs[2], g.Inputs[3])
		g.Outputs = []model.Result{{Value: g.Inputs[1]}, {Value: p}, {Value: q}}
		g.Inputs[2].Takes, g.Inputs[3].Takes = []*model.Value{a, p}, []*model.Value{b, q}
		n.Outputs = []*model.Value{{Spec: model.Unknown, From: n, Takes: []*model.Value{p, a}}, {Spec: model.Unknown, From: n, Takes: []*model.Value{q, b}}}
		n.Graphs = []model.Subgraph{{Name: "body", Graph: g}}
		outer.Nodes = append(outer.Nodes, n)
		return n.Outputs[0], n.Outputs[1]
	}
	g := &model.Graph{Inputs: []*model.Value{x, kept}}
	grown, same := loop(func(g *model.Graph, a, b *model.Value) (*model.Value, *model.Value) {
		return loop(func(g *model.Graph, a, b *model.Value) (*model.Value, *model.Value) {
			return add(g, "Concat", map[string]any{"axis": int64(0)}, a, a), add(g, "Relu", nil, b)
		}, g, a, b)
	}, g, x, kept)
	deeper, _ := loop(func(g *model.Graph, a, b *model.Value) (*model.Value, *model.Value) {
		return add(g, "Unsqueeze", nil, a, constant(0)), b
	}, g, x, kept)
	Infer(&model.Model{Format: "ONNX", Graph: g})
	for v, want := range map[*model.Value]string{grown: "f32[?,3]", same: "f32[m]", deeper: "f32[...1..]"} {
		if got := v.Type(); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// FuzzInfer holds that no graph makes a rule panic, and that every Spec is one.
func FuzzInfer(f *testing.F) {
	formats := []string{"ONNX", "TensorFlow", "TFLite"}
	ops := make([][]string, len(formats))
	for i, rules := range []map[string]rule{onnxRules, tensorflowRules, liteRules} {
		ops[i] = slices.Sorted(maps.Keys(rules))
		for op := range ops[i] {
			f.Add([]byte{byte(i), byte(op), 0, 1, 2, byte(op), 3, 4, 5, byte(op), 1, 6, 2})
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		next := func() int {
			if len(b) == 0 {
				return 0
			}
			n := b[0]
			b = b[1:]
			return int(n)
		}
		format := next() % len(formats)
		ops := ops[format]
		x, y := input("x", garner.F32, "n", "", "n", "c"), input("y", garner.I64, "k")
		x.Spec.Dims[1] = garner.Dim{Min: next() % 4, Max: 5}
		g := &model.Graph{Inputs: []*model.Value{x, y}}
		values := []*model.Value{x, y, constant(), constant(-1), constant(0, -1), constant(2, 3), constant(1), constant(math.MinInt64, math.MaxInt64)}
		for len(b) > 0 && len(g.Nodes) < 30 {
			n := &model.Node{Op: ops[next()%len(ops)], Version: 1 + next()%20, Attributes: map[string]any{}}
			for range next() % 6 {
				n.Inputs = append(n.Inputs, append(values, nil)[next()%(len(values)+1)])
			}
			for _, name := range []string{"axis", "axes", "perm", "pads", "strides", "dilations", "kernel_shape", "keepdims", "split", "to", "group", "hidden_size", "output_shape", "blocksize", "start", "end", "num_outputs",
				"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "offset", "num_split", "squeeze_dims", "shape", "ksize", "block_size", "k", "keep_dims", "new_shape", "explicit_paddings"} {
				switch next() % 8 {
				case 1:
					n.Attributes[name] = int64(int8(next()))
				case 2:
					n.Attributes[name] = []int64{int64(int8(next())), int64(int8(next()))}
				case 3:
					n.Attributes[name] = []int64{math.MaxInt64, math.MinInt64}
				}
			}
			for range next() % 3 {
				v := &model.Value{Spec: model.Unknown, From: n}
				if next()%4 == 0 {
					v.Spec = garner.SpecOfDims(garner.F32, garner.Exactly(next()), garner.AnyDim)
				}
				n.Outputs, values = append(n.Outputs, v), append(values, v)
			}
			g.Nodes = append(g.Nodes, n)
		}
		Infer(&model.Model{Format: formats[format], Graph: g})
		for _, v := range values {
			s := v.Spec
			bad := s.Rank.Min > s.Rank.Max || s.Rank.Min < 0 || s.Rank.Known() != (s.Dims != nil) || s.Rank.Known() && len(s.Dims) != s.Rank.Min
			for _, d := range s.Dims {
				bad = bad || d.Min < 0 || d.Min > d.Max
			}
			if bad || s.Rank.Known() && s.Rank.Min > garner.MaxRank {
				t.Fatalf("%v of %v is no Spec", s, v.From.Op)
			}
		}
	})
}
