package gathertest

import (
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/codec"
)

// TestRandomStoredTakesEachKind (QB.1) holds that random gathers of stored data are of
// each kind that package codec decodes.
func TestRandomStoredTakesEachKind(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(2000) {
		if s, ok := RandomStored(seed).bare.(stored); ok {
			seen[s.kind] = true
		}
	}
	for kind := range strings.SplitSeq(codec.KindsOfGGUF(), ", ") {
		if !seen[kind] {
			t.Errorf("2,000 random gathers have none of %s", kind)
		}
	}
}
