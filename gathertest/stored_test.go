package gathertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/codec"
)

// TestRandomStoredTakesEachKind (QB.1) holds that random gathers of stored data are of
// each kind that package codec decodes, and of rows of FBGEMM of either rounding.
func TestRandomStoredTakesEachKind(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(2000) {
		if s, ok := RandomStored(seed).bare.(stored); ok {
			seen[s.kind] = true
			seen[fmt.Sprint(s.bits, s.unpacked)] = true
		}
	}
	for _, rows := range []string{"8 false", "8 true", "4 false", "4 true", "2 false", "2 true"} {
		if !seen[rows] {
			t.Errorf("2,000 random gathers have no rows of %s", rows)
		}
	}
	for kind := range strings.SplitSeq(codec.KindsOfGGUF(), ", ") {
		if !seen[kind] {
			t.Errorf("2,000 random gathers have none of %s", kind)
		}
	}
}
