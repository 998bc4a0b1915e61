package calls_test

import (
	"errors"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// TestAll holds that the calls have every operator, kind of operator, kind of index and
// element type that a literal may have, and that garner refuses none but for its indices.
func TestAll(t *testing.T) {
	all, err := calls.All()
	if err != nil {
		t.Fatal(err)
	}
	operator, kind, at, dtype, title := map[string]bool{}, map[operators.Kind]bool{}, map[recorded.Reach]bool{}, map[garner.DType]bool{}, map[string]bool{}
	for _, c := range all {
		operator[c.Operator.Name], kind[c.Operator.Kind], at[c.Reach], dtype[c.Call.Data.DType()], title[c.Title] = true, true, true, true, true
		if c.Err != nil && !errors.Is(c.Err, garner.ErrIndex) {
			t.Errorf("%s, %s: %v", c.Operator.Name, c.Title, c.Err)
		}
		if (c.Err == nil) != c.Want.DType().Valid() {
			t.Errorf("%s, %s: neither an answer nor an error", c.Operator.Name, c.Title)
		}
	}
	if len(operator) != len(operators.All()) || len(kind) != 3 || len(at) != 4 || len(dtype) < 20 || len(title) < 50 {
		t.Errorf("%d operators, %d kinds of them, %d of indices, %d types, %d forms", len(operator), len(kind), len(at), len(dtype), len(title))
	}
}
