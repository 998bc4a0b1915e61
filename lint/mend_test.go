package lint_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
)

// TestMends holds that each finding of the models of lint/fix is either mended or remains with a reason, and that the
// steps of a mend take operands that stand before them. Tests of lint/fix run what is made of the steps.
func TestMends(t *testing.T) {
	mended, masks, sums, bags := map[string]bool{}, 0, 0, 0
	for _, pattern := range []string{"fix/testdata/*.onnx", "fix/testdata/*.xml", "testdata/*.onnx", "testdata/*.xml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			var m *model.Model
			if filepath.Ext(path) == ".onnx" {
				m, err = modelproto.Open(path)
			} else {
				m, err = ir.Open(path, ir.Options{})
			}
			if err != nil {
				continue // what a reader refuses is no model to be mended
			}
			t.Cleanup(func() { m.Close() })
			findings, err := lint.Model(t.Context(), m, lint.Options{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			mends, remaining, err := lint.Mends(t.Context(), m, findings)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			taken := len(remaining)
			for _, mend := range mends {
				if len(mend.Steps) == 0 || len(mend.Words) == 0 || len(mend.Rules) == 0 {
					t.Errorf("%s: the mend of %q has %d steps, %d words and %d rules", path, mend.Node.Name, len(mend.Steps), len(mend.Words), len(mend.Rules))
				}
				// isSum reports whether an operand is a sum with a number.
				isSum := func(o lint.Operand) bool {
					s := lint.Step{}
					if _, input := o.Input(); !input {
						s = mend.Steps[o]
					}
					return (s.Kind == lint.Added || s.Kind == lint.Taken) && slices.ContainsFunc(s.Operands, func(o lint.Operand) bool {
						_, input := o.Input()
						return !input && mend.Steps[o].Kind == lint.Numbers
					})
				}
				for _, s := range mend.Steps {
					// The indices of a bag have the dtype of its other integers.
					if s.Kind == lint.Gathered && strings.HasPrefix(mend.Node.Operator, "openvino.Embedding") {
						bags++
						made := mend.Node.Inputs[1].Spec.DType
						if _, input := s.Operands[1].Input(); !input {
							made = mend.Steps[s.Operands[1]].Spec.DType
						}
						if was := mend.Node.Inputs[1].Spec.DType; made != was {
							t.Errorf("%s: the mend of %q makes indices of %s of those of %s", path, mend.Node.Name, made, was)
						}
					}
					// OpenVINO joins such sums, and constant indices of one element with them, whose dims it drops.
					if s.Kind == lint.Added || s.Kind == lint.Taken {
						if sums++; slices.ContainsFunc(s.Operands, isSum) {
							t.Errorf("%s: the mend of %q adds to a sum with a number", path, mend.Node.Name)
						}
					}
					// ONNX Runtime's Where makes 0 of a -0 that it takes of its first branch.
					if s.Kind == lint.Chosen && s.Spec.DType.IsFloat() {
						masks++
						if zero := mend.Steps[s.Operands[1]]; zero.Kind != lint.Numbers && zero.Kind != lint.Casted {
							t.Errorf("%s: the mend of %q takes the result, and not zeros, where its mask is true", path, mend.Node.Name)
						}
					}
				}
				for _, r := range mend.Rules {
					mended[r.ID] = true
					if r.Mend == "" {
						t.Errorf("%s: rule %s is mended, and says that a person must decide", path, r.ID)
					}
					for _, f := range findings {
						if f.Node == mend.Node && f.Rule.ID == r.ID {
							taken++
						}
					}
				}
			}
			if taken < len(findings) {
				t.Errorf("%s: %d findings, of which %d are mended or remain", path, len(findings), taken)
			}
		}
	}
	if sums == 0 || bags == 0 {
		t.Errorf("%d mends add, %d are of bags", sums, bags)
	}
	if masks == 0 {
		t.Error("no mend has a mask of floats")
	}
	for _, r := range lint.Rules() {
		if r.Mend != "" && !mended[r.ID] {
			t.Errorf("no model has a finding of %s that is mended", r.ID)
		}
	}
}
