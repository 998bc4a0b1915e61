package house

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/codec"
)

// kindOfGGUF matches the name of a kind.
var kindOfGGUF = regexp.MustCompile(`\b[A-Z]+[0-9]+(_[0-9A-Z]+)*\b`)

// TestDocumentsNameEachKind (QB.1) holds that the rule and the comment of format/gguf
// name each kind that is decoded, and no other.
func TestDocumentsNameEachKind(t *testing.T) {
	decoded := strings.Split(codec.KindsOfGGUF(), ", ")
	elements := []string{"F16", "BF16", "F32", "F64"} // which the format has as they are
	for _, d := range []struct{ name, from, to string }{
		{"docs/rules.md", "**QB.1**", "Others are refused"},
		{"format/gguf/gguf.go", "Package gguf", "and every other"},
	} {
		_, text, found := strings.Cut(string(read(t, d.name)), d.from)
		text, _, also := strings.Cut(text, d.to)
		if !found || !also {
			t.Errorf("%s has no %q, or no %q behind it", d.name, d.from, d.to)
			continue
		}
		said := kindOfGGUF.FindAllString(text, -1)
		for _, kind := range decoded {
			if !slices.Contains(said, kind) {
				t.Errorf("%s: %q does not name %s", d.name, d.from, kind)
			}
		}
		for _, kind := range said {
			if !slices.Contains(decoded, kind) && !slices.Contains(elements, kind) {
				t.Errorf("%s: %q names %s, which package codec does not decode", d.name, d.from, kind)
			}
		}
	}
}
