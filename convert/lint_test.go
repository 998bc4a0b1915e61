package convert_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/lint/fix"
)

// guardsHold holds that package lint sees what guards a converted model has: no finding is of indices that they
// hold, and mending the model leaves each guard as it is.
func guardsHold(t *testing.T, report *convert.Report, out string) (guarded int) {
	t.Helper()
	var names []string
	for _, n := range report.Notes {
		if n.Kind == "guarded" {
			names = append(names, n.Node)
		}
	}
	held := func(name string) bool {
		return slices.ContainsFunc(names, func(of string) bool { return name == of || strings.HasPrefix(name, of+"/") })
	}
	ofIndices := []string{"L.1", "L.2", "L.3", "L.4", "L.27", "L.31"}
	findings, err := lint.Model(t.Context(), open(t, out), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if slices.Contains(ofIndices, f.Rule.ID) && held(f.Node.Name) {
			t.Errorf("%s: %s at %s: %s", filepath.Base(out), f.Rule.ID, f.Node.Name, f.Message)
		}
	}
	mended := filepath.Join(filepath.Dir(out), "mended"+filepath.Ext(out))
	fixed, err := fix.File(t.Context(), out, mended, fix.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fixed.Mends {
		if held(m.Node.Name) {
			t.Errorf("%s: %s is mended: %q", filepath.Base(out), m.Node.Name, m.Words)
		}
	}
	if len(fixed.Mends) == 0 {
		before, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(mended); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: a copy without a mend differs; %v", filepath.Base(out), err)
		}
	}
	return len(names)
}
