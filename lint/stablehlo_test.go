package lint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/garner-go/garner/model"
	hlotext "github.com/garner-go/garner/stablehlo/text"
)

// TestMasks judges what JAX makes of its modes: a mask behind the gather, or bounds before it, are no finding.
func TestMasks(t *testing.T) {
	found := map[string]bool{}
	for _, name := range []string{"take", "take.generic", "take_fill", "take_f16", "take_flat", "along", "along.generic", "along_last", "twice", "iota",
		"take_clip", "rows", "pairs", "middle", "embedding", "vmap", "vmap.generic", "dynamic", "cond"} {
		m, err := hlotext.Open(filepath.Join("../stablehlo/text/testdata", name+".mlir"))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, f := range everything(t, m) {
			if f.Rule.ID != "L.38" || f.Severity != Note {
				t.Errorf("%s: %s %s: %s", name, f.Severity, f.Rule.ID, f.Message)
			}
			found[name] = true
		}
		if list := NotJudged(m); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
	for name := range strings.FieldsSeq("take take.generic take_fill take_f16 take_flat along along.generic along_last twice iota") {
		if found[name] {
			t.Errorf("%s: a mask is not seen", name)
		}
		delete(found, name)
	}
	if len(found) != 9 {
		t.Errorf("%v", found)
	}
}

// TestJAX judges what JAX lowers its gathers to (testdata/jax.json): with mode wrap no index is outside, mode fill masks
// what is, and clip leaves it to XLA, as promise_in_bounds and no mode do where they have no mask.
func TestJAX(t *testing.T) {
	var recorded struct{ Texts map[string]string }
	jaxTexts, err := os.ReadFile("testdata/jax.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(jaxTexts, &recorded); err != nil {
		t.Fatal(err)
	}
	for name, text := range recorded.Texts {
		m, err := hlotext.FromBytes([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		noted := strings.Contains(name, "clip") || strings.Contains(name, "promise") || name == "at get None"
		all := everything(t, m)
		if (len(all) == 1) != noted || len(all) > 1 {
			t.Errorf("%s: %d findings", name, len(all))
		}
		for _, f := range all {
			if f.Rule.ID != "L.38" || f.Severity != Note || !strings.Contains(f.Message, "nothing bounds them") {
				t.Errorf("%s: %s %s: %s", name, f.Severity, f.Rule.ID, f.Message)
			}
		}
		// Another modulus is longer than the axis.
		if strings.HasPrefix(name, "take wrap") {
			again, err := hlotext.FromBytes([]byte(regexp.MustCompile(`dense<(4|5|20)>`).ReplaceAllString(text, "dense<21>")))
			if err != nil {
				t.Fatal(err)
			}
			if all := everything(t, again); len(all) != 1 || !strings.Contains(all[0].Message, "the indices may be 0 to 20") {
				t.Errorf("%s, of 21: %v", name, all)
			}
		}
	}
	if len(recorded.Texts) != 16 {
		t.Errorf("%d texts", len(recorded.Texts))
	}
}

// TestMasksThatMiss changes what makes the mask of a gather right.
func TestMasksThatMiss(t *testing.T) {
	const module = `func.func @main(%d: tensor<5x2xf32>, %i: tensor<3x1xi32>, %e: tensor<3x2xf32>, %p: tensor<3xi1>) -> tensor<3x2xf32> {
		%zero = stablehlo.constant dense<0> : tensor<3x1xi32>
		%last = stablehlo.constant dense<4> : tensor<3x1xi32>
		%true = stablehlo.constant dense<true> : tensor<i1>
		%0 = stablehlo.compare GE, %i, %zero, SIGNED : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi1>
		%1 = stablehlo.compare LE, %i, %last, SIGNED : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi1>
		%2 = stablehlo.and %0, %1 : tensor<3x1xi1>
		%3 = stablehlo.reduce(%2 init: %true) applies stablehlo.and across dimensions = [1] : (tensor<3x1xi1>, tensor<i1>) -> tensor<3xi1>
		%4 = "stablehlo.gather"(%d, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
		%5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<3xi1>) -> tensor<3x2xi1>
		%6 = stablehlo.select %5, %4, %e : tensor<3x2xi1>, tensor<3x2xf32>
		return %6 : tensor<3x2xf32>
	}`
	for _, c := range []struct {
		old, new string
		seen     bool
	}{
		{"", "", true},
		{"GE, %i, %zero", "GT, %i, %zero", true},
		{"LE, %i, %last", "LT, %i, %last", true},
		{"dense<4>", "dense<5>", false},
		{"LE, %i, %last", "LT, %i, %last", true},
		{"dense<0>", "dense<-1>", false},
		{"GE, %i, %zero", "GE, %zero, %i", false},
		{"LE, %i, %last", "NE, %i, %last", false},
		{"stablehlo.and %0, %1", "stablehlo.or %0, %1", false},
		{"applies stablehlo.and", "applies stablehlo.or", false},
		{"%5, %4, %e", "%5, %e, %4", false},
		{"return %6", "return %4", false},
		{"in_dim %3", "in_dim %p", false},
		{"%6 = stablehlo.select %5, %4, %e : tensor<3x2xi1>, tensor<3x2xf32>", "%7 = stablehlo.select %5, %4, %e : tensor<3x2xi1>, tensor<3x2xf32>\n %6 = stablehlo.add %4, %7 : tensor<3x2xf32>", false},
	} {
		m, err := hlotext.FromBytes([]byte(strings.Replace(module, c.old, c.new, 1)))
		if err != nil {
			t.Fatalf("%s: %v", c.new, err)
		}
		if all := findings(t, m, "L.38", Options{}); (len(all) == 0) != c.seen {
			t.Errorf("%q: %d findings", c.new, len(all))
		}
	}
}

// TestWindowsInTheMiddle leaves constant starts to a person whose components do not lie along the last dim.
func TestWindowsInTheMiddle(t *testing.T) {
	g := windows(given("i32[2,3]"), 1, 0, 1)
	g.attributes["index_vector_dim"] = int64(0)
	m := g.model()
	if all := findings(t, m, "L.38", Options{}); len(all) != 1 || !strings.Contains(all[0].Message, "nothing bounds them") {
		t.Error(all)
	}
	if list := NotJudged(m); len(list) != 1 || !strings.Contains(list[0].Why, "along the last dim") {
		t.Error(list)
	}
	for _, name := range []string{"start_index_map", "index_vector_dim", "slice_sizes", "offset_dims"} {
		g := windows(given("i32[3,1]"), 1)
		delete(g.attributes, name)
		m := g.model()
		m.Graph.Outputs = []model.Result{{Value: m.Graph.Nodes[0].Outputs[0]}}
		if _, err := Model(t.Context(), m, Options{}); err != nil {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// everything gives the findings of all rules.
func everything(t *testing.T, m *model.Model) []Finding {
	t.Helper()
	all, err := Model(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
