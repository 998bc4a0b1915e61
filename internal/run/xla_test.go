package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/stablehlo/text"
)

// TestXLA holds that modules of StableHLO with floats give what XLA answered, bit for bit, or are refused. Of a module
// that is refused for some elements it also runs the others. GARNER_RUN_XLA is another such file.
func TestXLA(t *testing.T) {
	path := os.Getenv("GARNER_RUN_XLA")
	if path == "" {
		path = "testdata/xla.jsonl.gz"
	}
	equal, refused := map[string]int{}, map[string]int{}
	lines := linesOf(t, path)
	for lines.Scan() {
		var l struct {
			Op, Text string
			Inputs   []recordedTensor
			Want     recordedTensor
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		var inputs []garner.Tensor
		for _, in := range l.Inputs {
			inputs = append(inputs, in.tensor(t))
		}
		want := l.Want.tensor(t)
		n := want.Len()
		// All elements at once, then each alone.
		for at := -1; at < n; at++ {
			words, wanted := l.Text, want
			if at >= 0 {
				words = strings.ReplaceAll(words, "tensor<24x", "tensor<1x")
				wanted = slice(t, want, at)
			}
			m, err := text.FromBytes([]byte(words))
			if err != nil {
				t.Fatal(err)
			}
			given := make(map[*model.Value]garner.Tensor)
			for i, v := range m.Graph.Inputs {
				given[v] = inputs[i]
				if at >= 0 {
					given[v] = slice(t, inputs[i], at)
				}
			}
			key := l.Op + " " + want.DType().String()
			got, err := run.Values(context.Background(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<24)
			var not *run.Unsupported
			switch {
			case errors.As(err, &not), errors.Is(err, garner.ErrDType):
				refused[key]++
			case err != nil:
				t.Errorf("%s: %v", l.Text, err)
			case !same(t, got[0], wanted):
				t.Errorf("%s at %d: %v; want %v", l.Text, at, got[0], wanted)
				for _, v := range m.Graph.Inputs {
					t.Log(given[v])
				}
			default:
				equal[key]++
				if at < 0 {
					at = n // each alone says no more
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("equal %v, refused %v", equal, refused)
	for _, op := range []string{"add", "subtract", "multiply", "divide", "maximum", "minimum", "abs", "negate", "clamp", "select", "convert", "constant"} {
		for _, d := range []string{"f32", "f64"} {
			if equal[op+" "+d] == 0 {
				t.Errorf("%s of %s: none is run", op, d)
			}
		}
	}
	if equal["compare bool"] < 5 || slices.Max([]int{equal["two f16"], equal["add f16"], equal["add bf16"]}) > 0 {
		t.Error(equal)
	}
}

func slice(t *testing.T, x garner.Tensor, at int) garner.Tensor {
	t.Helper()
	x, err := x.Slice(0, at, at+1, 1)
	if err == nil {
		x, err = x.Clone()
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}
