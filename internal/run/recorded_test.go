package run_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// A recordedTensor is a tensor in a line of testdata/record_operators.py.
type recordedTensor struct {
	DType, Hex string
	Shape      []int
}

func (r recordedTensor) tensor(t *testing.T) garner.Tensor {
	t.Helper()
	raw, err := hex.DecodeString(r.Hex)
	if err != nil {
		t.Fatal(err)
	}
	dtype, err := garner.ParseDType(r.DType)
	if err != nil {
		t.Fatal(err)
	}
	made, err := garner.FromBytes(dtype, raw, r.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestRecordedOperators holds that each graph of testdata/operators.jsonl.gz gives, bit for
// bit, what its runtime answered, or is refused. GARNER_RUN_RECORDED is another such file.
func TestRecordedOperators(t *testing.T) {
	path := os.Getenv("GARNER_RUN_RECORDED")
	if path == "" {
		path = "testdata/operators.jsonl.gz"
	}
	type count struct{ equal, refused, alone, refusedBoth int }
	counts := make(map[string]*count)
	why := make(map[string]int)
	dir := t.TempDir()
	lines := linesOf(t, path)
	for lines.Scan() {
		var l struct {
			Runtime, Op, Error, Model, Weights string
			Seed                               int
			Inputs, Want                       map[string]recordedTensor
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "m.onnx")
		if l.Runtime == "openvino" {
			name = filepath.Join(dir, "m.xml")
		}
		for ext, text := range map[string]string{filepath.Ext(name): l.Model, ".bin": l.Weights} {
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "m"+ext), raw, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		c := counts[l.Runtime+" "+l.Op]
		if c == nil {
			c = &count{}
			counts[l.Runtime+" "+l.Op] = c
		}
		got, err := evaluateRecorded(t, name, l.Inputs, l.Want)
		switch {
		case err != nil && l.Error != "":
			c.refusedBoth++
		case err != nil:
			c.refused++
			if testing.Verbose() {
				_, reason, _ := strings.Cut(err.Error(), "): ")
				why[l.Op+": "+l.Runtime+": "+reason[:min(len(reason), 70)]]++
			}
		case l.Error != "":
			c.alone++
			if testing.Verbose() {
				t.Logf("%s %s of seed %d: the runtime says %q", l.Runtime, l.Op, l.Seed, l.Error)
			}
		default:
			c.equal++
			for k, g := range got {
				if want := l.Want[k].tensor(t); !same(t, g, want) {
					c.equal--
					t.Errorf("%s %s of seed %d: %s is %v; want %v; inputs %v", l.Runtime, l.Op, l.Seed, k, g, want, describe(t, l.Inputs))
					break
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for op, c := range counts {
		t.Logf("%s: %d equal, %d refused, %d refused by both, %d run that the runtime refuses", op, c.equal, c.refused, c.refusedBoth, c.alone)
		if c.equal == 0 && c.refused > 5 {
			t.Errorf("%s: none is run", op)
		}
	}
	var reasons []string
	for r := range why {
		reasons = append(reasons, r)
	}
	slices.Sort(reasons)
	for _, r := range reasons {
		t.Logf("%4d %s", why[r], r)
	}
	if len(counts) < 30 {
		t.Errorf("%d operators", len(counts))
	}
}

func describe(t *testing.T, inputs map[string]recordedTensor) string {
	var b strings.Builder
	for _, name := range []string{"x0", "x1", "x2", "x3"} {
		if in, ok := inputs[name]; ok {
			b.WriteString(in.tensor(t).String() + "; ")
		}
	}
	return b.String()
}

// evaluateRecorded evaluates the results of a model in a survey and a run, and without one.
func evaluateRecorded(t *testing.T, path string, inputs, want map[string]recordedTensor) (map[string]garner.Tensor, error) {
	t.Helper()
	m := open(t, path)
	given := make(map[*model.Value]garner.Tensor)
	for _, v := range m.Graph.Inputs {
		for _, name := range append([]string{v.Name}, v.Aliases...) {
			if in, ok := inputs[name]; ok {
				given[v] = in.tensor(t)
			}
		}
	}
	var wanted []*model.Value
	var names []string
	for _, o := range m.Graph.Outputs {
		wanted = append(wanted, o.Value)
		names = append(names, strings.TrimPrefix(o.Name, "r_"))
	}
	got, err := run.Values(context.Background(), m, wanted, given, math.MaxInt)
	restore := run.SetSurveyed(-1)
	again, bad := run.Values(context.Background(), m, wanted, given, math.MaxInt)
	restore()
	if (err == nil) != (bad == nil) {
		t.Errorf("%v, and without a survey %v", err, bad)
	}
	if err != nil {
		return nil, err
	}
	made := make(map[string]garner.Tensor)
	for i, g := range got {
		if bad == nil && !same(t, g, again[i]) {
			t.Errorf("%v, and without a survey %v", g, again[i])
		}
		made[names[i]] = g
	}
	for name := range want {
		if _, ok := made[name]; !ok {
			t.Errorf("%s is no result of %v", name, names)
		}
	}
	return made, nil
}
