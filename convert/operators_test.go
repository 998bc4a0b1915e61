package convert

import (
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/run"
)

// TestOperators holds the operators that are converted to be those that "garner run" runs, as the message,
// the help and the comment of the package say.
func TestOperators(t *testing.T) {
	for format, from := range sources {
		runs := run.Operators(format)
		if len(runs) < 20 {
			t.Errorf("%s: run has %v alone", format, runs)
		}
		for _, name := range runs {
			if from.nodes[name] == nil {
				t.Errorf("%s: %s is run, and not converted", format, name)
			}
		}
		for name := range from.nodes {
			if !slices.Contains(runs, name) {
				t.Errorf("%s: %s is converted, and not run", format, name)
			}
		}
	}
}
