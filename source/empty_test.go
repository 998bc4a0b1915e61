package source

import (
	"context"
	"errors"
	"testing"

	"github.com/garner-go/garner"
)

// TestAnEmptyTable refuses each number of a table without rows by its number, whatever
// the memory for its rows.
func TestAnEmptyTable(t *testing.T) {
	table, err := NewTable(Memory(garner.Of([]float64{}, 0, 4)))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 32} {
		var bad *garner.IndexError
		if err := Lookup(context.Background(), table, []int64{7}, make([]byte, size)); !errors.As(err, &bad) || bad.Value.Bits != 7 || bad.Dim != 0 {
			t.Errorf("row 7 into %d bytes: %v", size, err)
		}
	}
	if err := Lookup(context.Background(), table, []int64{}, nil); err != nil {
		t.Error(err)
	}
	if err := Lookup(context.Background(), table, []int64{}, make([]byte, 8)); !errors.Is(err, garner.ErrShape) {
		t.Errorf("no rows into 8 bytes: %v", err)
	}
}
