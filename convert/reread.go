package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// reread opens a model that was written, and compares it with what was to be written: inputs,
// results, nodes with their attributes and edges, and every constant. Then both models
// run on a few feeds, where garner runs them.
func (p *program) reread(ctx context.Context, source *model.Model, path string, layers []*layer) error {
	m, err := p.target.open(path)
	if err != nil {
		return err
	}
	defer m.Close() // it was only read
	if err := p.compare(ctx, m, layers); err != nil {
		return err
	}
	return p.runs(ctx, source, m)
}

func (p *program) compare(ctx context.Context, m *model.Model, layers []*layer) error {
	g := m.Graph
	if len(g.Inputs) != len(p.inputs) || len(g.Outputs) != len(p.outputs) || len(g.Nodes) != len(layers) {
		return fmt.Errorf("it has %d inputs, %d outputs and %d nodes; %d, %d and %d were written", len(g.Inputs), len(g.Outputs), len(g.Nodes), len(p.inputs), len(p.outputs), len(layers))
	}
	is := make(map[*value]*model.Value) // what was read, by what was written
	for i, v := range p.inputs {
		got := g.Inputs[i]
		if got.Name != v.name || got.Spec.DType != v.spec.DType || got.Spec.Rank != v.spec.Rank || got.Constant != nil {
			return fmt.Errorf("its input %d is %s; %.200q %s was written", i, got, v.name, v.spec)
		}
		for j, d := range v.spec.Dims {
			if e := got.Spec.Dims[j]; e != d && (p.target != onnxTarget || d.Known() || e != garner.AnyDim) {
				return fmt.Errorf("its input %d is %s; %.200q %s was written", i, got, v.name, v.spec)
			}
		}
		is[v] = got
	}
	nodes := make(map[string]*model.Node, len(g.Nodes))
	for _, n := range g.Nodes {
		if nodes[n.Name] != nil {
			return fmt.Errorf("two nodes are named %.200q", n.Name)
		}
		nodes[n.Name] = n
	}
	for _, l := range layers {
		n := nodes[l.name]
		if n == nil {
			return fmt.Errorf("it has no node %.200q", l.name)
		}
		if n.Op != l.op || n.Domain != "" || len(n.Outputs) != 1 || n.Outputs[0] == nil || len(n.Inputs) != len(l.in) || len(n.Graphs) > 0 {
			return fmt.Errorf("node %.200q is a %s of %d inputs; a %s of %d was written", l.name, n.Op, len(n.Inputs), l.op, len(l.in))
		}
		if p.target == irTarget && n.Version != l.version || p.target == onnxTarget && n.Version < l.version {
			return fmt.Errorf("node %.200q is of opset %d; opset %d was written", l.name, n.Version, l.version)
		}
		for _, a := range l.attributes {
			if got := n.Attributes[a.name]; fmt.Sprint(got) != fmt.Sprint(a.value) && !(p.target == irTarget && n.IsGather() && a.name == "auto_broadcast") {
				return fmt.Errorf("attribute %s of node %.200q is %v; %v was written", a.name, l.name, got, a.value)
			}
		}
		if is[l.out] = n.Outputs[0]; n.Outputs[0].From != n {
			return fmt.Errorf("the output of node %.200q is another's", l.name)
		}
	}
	same := func(v *value, got *model.Value, what string) error {
		if got == nil {
			return fmt.Errorf("%s is missing", what)
		}
		if !v.held() {
			if is[v] != got {
				return fmt.Errorf("%s is %s; it is not the one that was written", what, got)
			}
			return nil
		}
		if is[v] == got {
			return nil
		}
		if is[v] != nil || got.Constant == nil {
			return fmt.Errorf("%s is %s; it is not the constant that was written", what, got)
		}
		is[v] = got
		if err := sameElements(ctx, v, got.Constant); err != nil {
			return fmt.Errorf("%s, the constant %.200q: %w", what, v.name, err)
		}
		return nil
	}
	for _, l := range layers {
		for i, v := range l.in {
			if err := same(v, nodes[l.name].Inputs[i], fmt.Sprintf("input %d of node %.200q", i, l.name)); err != nil {
				return err
			}
		}
	}
	for i, o := range p.outputs {
		got := g.Outputs[i]
		if got.Name != o.name {
			return fmt.Errorf("its output %d is named %.200q; %.200q was written", i, got.Name, o.name)
		}
		if err := same(o.value, got.Value, fmt.Sprintf("output %.200q", o.name)); err != nil {
			return err
		}
	}
	return nil
}

var errEnd = errors.New("the end of a comparison")

// sameElements compares a constant with the one that was read, a block of each at a time.
func sameElements(ctx context.Context, v *value, c *model.Constant) error {
	shape, ok := v.spec.Shape()
	read, also := c.Spec.Shape()
	if !ok || !also || c.Spec.DType != v.spec.DType || !shape.Equal(read) {
		return fmt.Errorf("it is %s; %s was written", c.Spec, v.spec)
	}
	if v.spec.DType == garner.String {
		want, err := v.strings()
		if err != nil {
			return err
		}
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		got, err := garner.Values[string](t)
		if err == nil && !slices.Equal(got, want) {
			err = errors.New("its strings differ")
		}
		return err
	}
	// The reader of one runs beside that of the other; blocks go through a pipe.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := io.Pipe()
	go func() {
		to.CloseWithError(eachOf(ctx, c, func(_ int64, b []byte) error {
			_, err := to.Write(b)
			return err
		}))
	}()
	defer from.CloseWithError(errEnd)
	buf := make([]byte, block)
	total := int64(0)
	err := v.each(ctx, func(at int64, b []byte) error {
		for len(b) > 0 {
			n := min(len(b), len(buf))
			if _, err := io.ReadFull(from, buf[:n]); err != nil {
				return fmt.Errorf("its elements end early: %w", err)
			}
			if !bytes.Equal(buf[:n], b[:n]) {
				return fmt.Errorf("its elements differ in the %d bytes from byte %d on", n, at)
			}
			b, at = b[n:], at+int64(n)
		}
		total = at
		return nil
	})
	if err != nil {
		return err
	}
	if n, err := from.Read(buf[:1]); n > 0 || err != io.EOF {
		return fmt.Errorf("it has more elements than the %d bytes that were written (%v)", total, err)
	}
	return nil
}

// runMemory is how many bytes the tensors of a run may take that compares two models.
const runMemory = 64 << 20

// runs runs both models on a few feeds. Where the source gives results, the target gives the
// same; where the source refuses an index, it refuses one too, if it is to keep that.
func (p *program) runs(ctx context.Context, source, made *model.Model) error {
	if p.departs || slices.ContainsFunc(p.notes, func(n Note) bool { return n.Kind == "lossy" }) {
		return nil
	}
	results := func(m *model.Model) (list []*model.Value) {
		for _, o := range m.Graph.Outputs {
			list = append(list, o.Value)
		}
		return list
	}
	if _, err := run.Needs(source, results(source), nil); err != nil {
		return nil // garner does not run it
	}
	if _, err := run.Needs(made, results(made), nil); err != nil {
		return nil
	}
	amended := func(strict bool) run.Option {
		return run.Amend(func(g run.Gather) (garner.Op, error) { return asRun(g, strict), nil })
	}
	strict := amended(p.options.Outside != Keep)
	const feeds = 6
	rng := rand.New(rand.NewPCG(1, 2))
	for range feeds {
		given, also := make(map[*model.Value]garner.Tensor), make(map[*model.Value]garner.Tensor)
		if !p.feed(rng, source, made, given, also) {
			return nil
		}
		want, err := run.Values(ctx, source, results(source), given, runMemory, strict)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			var bad *garner.IndexError
			if p.options.Outside == Keep && errors.As(err, &bad) {
				if _, err := run.Values(ctx, made, results(made), also, runMemory, amended(false)); err == nil {
					return fmt.Errorf("it answers where the source refuses an index: %v", bad)
				}
			}
			continue
		}
		got, err := run.Values(ctx, made, results(made), also, runMemory, amended(false))
		var large *run.MemoryError
		if errors.As(err, &large) {
			continue
		}
		if err != nil {
			return fmt.Errorf("it fails where the source gives results: %w", err)
		}
		for i := range want {
			if err := sameTensor(ctx, got[i], want[i]); err != nil {
				return fmt.Errorf("output %.200q: %w", p.outputs[i].name, err)
			}
		}
	}
	return nil
}

// asRun gives a gather the policy of its runtime, where that departs from its page; with strict,
// one that refuses every index outside.
func asRun(g run.Gather, strict bool) garner.Op {
	op := g.Op
	switch g.Node.Operator {
	case "openvino.Gather-1", "openvino.Gather-7":
		op = garner.WithOutside(op, garner.Zero)
	case "openvino.GatherND-5", "openvino.GatherND-8", "openvino.GatherElements-6":
		op = garner.WithNegative(op, garner.FromEnd)
	}
	if strict {
		op = garner.WithOutside(op, garner.Error)
	}
	return op
}

// feed makes a random tensor for each input, for the source and for what was made of it.
func (p *program) feed(rng *rand.Rand, source, made *model.Model, given, also map[*model.Value]garner.Tensor) bool {
	const most = 1 << 20 // bytes of an input
	dims := make(map[string]int)
	common := 1 + rng.IntN(4)
	of := make(map[*value]*model.Value)
	for _, in := range source.Graph.Inputs {
		of[p.values[in]] = in
	}
	for i, v := range made.Graph.Inputs {
		from := p.inputs[i]
		rank := v.Spec.Rank.Min
		if !v.Spec.Rank.Known() {
			rank = max(min(2, v.Spec.Rank.Max), v.Spec.Rank.Min)
		}
		shape := make(garner.Shape, rank)
		for j := range shape {
			shape[j] = common
			if j < len(from.spec.Dims) {
				d := from.spec.Dims[j]
				name := ""
				if j < len(from.dimNames) {
					name = from.dimNames[j]
				}
				if known, ok := dims[name]; ok && name != "" {
					shape[j] = known
				} else if name != "" {
					shape[j] = 1 + rng.IntN(4)
				}
				shape[j] = max(min(shape[j], d.Max), d.Min)
				dims[name] = shape[j]
			}
		}
		n, ok := garner.SpecOf(v.Spec.DType, shape...).Bytes()
		if !ok || n > most || v.Spec.DType == garner.String {
			return false
		}
		t, err := garner.New(v.Spec.DType, shape...)
		if err != nil {
			return false
		}
		b, err := t.Bytes()
		if err != nil {
			return false
		}
		fill(rng, v.Spec.DType, b)
		also[v] = t
		given[of[from]] = t
	}
	return true
}

// fill makes random elements: small integers, and floats of some size.
func fill(rng *rand.Rand, dtype garner.DType, b []byte) {
	size := max(dtype.Bits()/8, 1)
	for at := 0; at+size <= len(b); at += size {
		n := uint64(int64(rng.IntN(7) - 2))
		switch dtype {
		case garner.Bool:
			n = uint64(rng.IntN(2))
		case garner.F32:
			n = uint64(math.Float32bits(float32(rng.NormFloat64())))
		case garner.F64:
			n = math.Float64bits(rng.NormFloat64())
		case garner.F16, garner.BF16:
			n = 0x3c00 + uint64(rng.IntN(1024))
		case garner.U8, garner.U16, garner.U32, garner.U64:
			n = uint64(rng.IntN(4))
		}
		for i := range size {
			b[at+i] = byte(n >> (8 * i))
		}
	}
}

// sameTensor compares two tensors bit for bit, a block at a time.
func sameTensor(ctx context.Context, got, want garner.Tensor) error {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("it is %s%s; the source gives %s%s", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if got.DType() == garner.String {
		if got.Text() != want.Text() {
			return errors.New("its strings differ from the source's")
		}
		return nil
	}
	a, err := got.Clone()
	if err != nil {
		return err
	}
	b, err := want.Clone()
	if err != nil {
		return err
	}
	x, err := a.Bytes()
	if err != nil {
		return err
	}
	y, err := b.Bytes()
	if err != nil {
		return err
	}
	for at := 0; at < len(x); at += block {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if end := min(at+block, len(x)); !bytes.Equal(x[at:end], y[at:end]) {
			return errors.New("its elements differ from the source's")
		}
	}
	return nil
}
