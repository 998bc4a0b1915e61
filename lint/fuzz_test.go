package lint

import (
	"bytes"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// FuzzModel judges models that no reader would let through: any operator with
// any operands, attributes of any type and value, inputs that are not there. It
// holds that no rule panics, that findings say something, and that a report of
// them can be written.
func FuzzModel(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed, uint8(seed))
	}
	all := operators.All()
	ops := slices.Sorted(maps.Keys(steps))
	f.Fuzz(func(t *testing.T, seed uint64, which uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		o := all[int(which)%len(all)]
		n := &model.Node{Name: "g\x00", At: "line 1, column 2", Op: "Gather", Operator: o.Name, Attributes: map[string]any{}}
		for _, name := range append(o.Attributes(), "axis", "batch_dims", "other") {
			if r.IntN(3) == 0 {
				n.Attributes[name] = pick(r, any(int64(0)), any(int64(1)), any(int64(2)), any(int64(-1)), any(int64(math.MinInt64)), any(int64(math.MaxInt64)), any("word"), any([]int64{1, 2}), any(true), any(1.5))
			}
		}
		m := &model.Model{Path: "m", Format: pick(r, "ONNX", "OpenVINO IR", "TensorFlow", ""), Graph: &model.Graph{Nodes: []*model.Node{n}}}
		for range r.IntN(5) {
			v := value(r)
			if v != nil && v.Constant == nil && r.IntN(2) == 0 {
				m.Graph.Inputs = append(m.Graph.Inputs, v)
			}
			for range r.IntN(4) { // operators around it, some of which lint bounds
				of := v
				if v = value(r); v == nil {
					break
				}
				v.Constant = nil
				if r.IntN(8) == 0 {
					v.Takes, v.Turn = []*model.Value{of, v, value(r)}[:1+r.IntN(3)], r.IntN(3) == 0
					v.Takes = slices.DeleteFunc(v.Takes, func(v *model.Value) bool { return v == nil })
					continue
				}
				v.From = &model.Node{Op: ops[r.IntN(len(ops))], Inputs: []*model.Value{of, value(r), value(r), nil, value(r)}[:r.IntN(6)], Attributes: map[string]any{}}
				v.From.Outputs = []*model.Value{nil, v}[r.IntN(2):]
				for _, name := range []string{"axis", "to", "min", "max", "destination_type", "output_type", "shrink_axis_mask", "mode", "start", "perm"} {
					if r.IntN(4) == 0 {
						v.From.Attributes[name] = pick(r, any(int64(r.IntN(5)-2)), any("i32"), any("word"), any([]int64{1, 0}), any(1.5), any(int64(math.MinInt64)))
					}
				}
			}
			n.Inputs = append(n.Inputs, v)
		}
		all, err := Model(context.Background(), m, Options{Runtimes: AllRuntimes()[:r.IntN(8)]})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if f.Message == "" || len(f.Runtimes()) == 0 || f.Severity > f.Rule.Severity || strings.Contains(f.Message, "%!") {
				t.Errorf("%+v", f)
			}
		}
		report := &Report{Model: m, Findings: all}
		for _, write := range []func(*Report, *bytes.Buffer) error{text, asJSON, sarif} {
			var b bytes.Buffer
			if err := write(report, &b); err != nil {
				t.Error(err)
			}
		}
	})
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// value is any operand; perhaps nil, perhaps a constant.
func value(r *rand.Rand) *model.Value {
	spec := model.Unknown
	dtype := pick(r, append(garner.DTypes(), garner.Invalid, garner.I64, garner.I64, garner.F32)...)
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		spec.DType = dtype
	case 2:
		spec = garner.SpecOfRank(dtype, garner.Dim{Min: r.IntN(3), Max: 3 + r.IntN(3)})
	default:
		dims := make([]garner.Dim, r.IntN(5))
		for i := range dims {
			n := pick(r, 0, 1, 1, 2, 3, 4, 8, 40, 70000, math.MaxInt32)
			dims[i] = pick(r, garner.Exactly(n), garner.Exactly(n), garner.AnyDim, garner.Dim{Min: n, Max: garner.Unbounded})
		}
		spec = garner.SpecOfDims(dtype, dims...)
	}
	v := &model.Value{Name: "v", Spec: spec}
	if shape, ok := spec.Shape(); ok && dtype.Valid() && r.IntN(2) == 0 {
		if n, ok := shape.Len(); ok && n < 1000 {
			t, err := garner.New(dtype, shape...)
			if err != nil {
				panic(err)
			}
			if b, err := t.Bytes(); err == nil {
				for i := range b {
					b[i] = pick(r, byte(r.Uint32()), 0, 0, 255)
				}
			}
			v.Constant = model.NewConstant("c", spec, func() (garner.Tensor, error) { return t, nil })
		}
	}
	return v
}
