package run

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// FuzzEvaluate evaluates any operator of any attributes and inputs: it returns a
// tensor or an error, does not panic, and takes no more memory than allowed. It
// answers alike where the survey leaves every tensor to the run.
func FuzzEvaluate(f *testing.F) {
	f.Add(byte(0), byte(0), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	for i := range len(onnxOperators) {
		f.Add(byte(0), byte(i), []byte{6, 2, 2, 3, 1, 2, 3, 4, 5, 6, 6, 1, 2, 1, 0, 6, 1, 1, 1})
	}
	for i := range len(irOperators) {
		f.Add(byte(1), byte(i), []byte{6, 2, 2, 3, 1, 2, 3, 4, 5, 6, 6, 1, 2, 1, 0, 6, 1, 1, 1, 6, 1, 1, 1})
	}
	f.Fuzz(func(t *testing.T, framework, op byte, text []byte) {
		next := func() int {
			if len(text) == 0 {
				return 0
			}
			b := text[0]
			text = text[1:]
			return int(b)
		}
		format, table := "ONNX", onnxOperators
		if framework&1 == 1 {
			format, table = "OpenVINO IR", irOperators
		}
		names := slices.Sorted(maps.Keys(table))
		n := &model.Node{Name: "n", Op: names[int(op)%len(names)], Version: int(framework >> 1), Attributes: map[string]any{}}
		dtypes := garner.DTypes()
		for len(text) > 0 && len(n.Inputs) < 5 {
			dtype := dtypes[next()%len(dtypes)]
			shape := make([]int, next()%4)
			for i := range shape {
				shape[i] = next() % 4
			}
			x, err := garner.New(dtype, shape...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.Len() {
				v := []string{"0", "1", "-1", "2", "3", "-9223372036854775808", "9223372036854775807", "NaN", "1e30", "true", "4"}[next()%11]
				_ = x.SetText(i, v) // a text that does not fit the type leaves 0
			}
			n.Inputs = append(n.Inputs, &model.Value{Spec: x.Spec(), Constant: model.NewConstant("c", x.Spec(), func() (garner.Tensor, error) { return x, nil })})
		}
		for _, name := range []string{"axis", "axes", "to", "perm", "mode", "destination_type", "output_type", "begin_mask", "shrink_axis_mask", "ellipsis_mask", "new_axis_mask", "broadcast", "min", "max"} {
			switch next() % 8 {
			case 1:
				n.Attributes[name] = int64(next() - 128)
			case 2:
				n.Attributes[name] = []int64{int64(next() % 4), int64(next()%4) - 2}
			case 3:
				n.Attributes[name] = []string{"i32", "f16", "explicit", "-1.5", "1e300"}[next()%5]
			case 4:
				n.Attributes[name] = int64(math.MinInt64)
			}
		}
		n.Outputs = []*model.Value{{Spec: model.Unknown, From: n}}
		m := &model.Model{Format: format, Graph: &model.Graph{Nodes: []*model.Node{n}}}
		const memory = 1 << 30
		got, err := Values(context.Background(), m, n.Outputs, nil, memory)
		if err == nil && (len(got) != 1 || !got[0].DType().Valid()) {
			t.Errorf("%s answers %v", n.Op, got)
		}
		if err == nil && got[0].Len() > 1<<12 {
			return // its text takes seconds
		}
		defer SetSurveyed(-1)()
		again, also := Values(context.Background(), m, n.Outputs, nil, memory)
		if (err == nil) != (also == nil) || err != nil && err.Error() != also.Error() || err == nil && got[0].Text() != again[0].Text() {
			t.Errorf("%s answers %v, %v, and behind a survey that leaves all %v, %v", n.Op, got, err, again, also)
		}
	})
}
