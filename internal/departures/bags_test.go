package departures_test

import (
	"testing"

	"github.com/garner-go/garner/internal/departures"
)

// TestBagHead has heads as R.29 has them, about the numbers of terms at which they change.
func TestBagHead(t *testing.T) {
	for terms, want := range map[int]int{0: 0, 1: 1, 8: 8, 9: 9, 10: 2, 11: 3, 15: 7, 16: 8, 17: 9, 18: 2, 24: 8, 25: 9, 26: 2} {
		head := departures.BagHead(terms)
		if head != want {
			t.Errorf("of %d terms the first %d; want %d", terms, head, want)
		}
		if (terms-head)%departures.BagGroup != 0 {
			t.Errorf("of %d terms, the %d behind the head are no groups", terms, terms-head)
		}
	}
}
