package lint

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// TestFolds holds what lint takes for folded against what OpenVINO folds, which
// testdata/folds.py measures: each operator of constants, of each dtype.
func TestFolds(t *testing.T) {
	f, err := os.Open("testdata/folds.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tried := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			Op           string
			Folds, Keeps []string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for folds, names := range map[bool][]string{true: c.Folds, false: c.Keeps} {
			for _, name := range names {
				d, err := garner.ParseDType(name)
				if err != nil {
					t.Fatal(err)
				}
				of := []*model.Value{
					{Spec: garner.SpecOf(d, 1, 3), Constant: &model.Constant{Spec: garner.SpecOf(d, 1, 3)}}, {Spec: garner.SpecOf(d, 1, 3), Constant: &model.Constant{Spec: garner.SpecOf(d, 1, 3)}},
				}
				v := made(c.Op, "f32[1,3]", of...)
				if v.Spec.DType = d; c.Op[:min(len(c.Op), 6)] == "Gather" {
					v.From.Operator = "openvino." + c.Op + map[string]string{"Gather": "-8", "GatherND": "-8", "GatherElements": "-6"}[c.Op]
				}
				l := newLinter(t.Context(), &model.Model{Format: "OpenVINO IR", Graph: &model.Graph{}})
				if tried++; l.folded(v) != folds {
					t.Errorf("%s of %s: lint says folded: %t, OpenVINO folds it: %t", c.Op, name, !folds, folds)
				}
			}
		}
	}
	if tried < 400 {
		t.Errorf("%d are tried", tried)
	}
}
