package play

import (
	"slices"

	"github.com/garner-go/garner"
)

// An answer is a recorded answer, as JSON.
type answer any

// kinds of a call, from the best index to the worst.
var kinds = []string{"inside", "negative", "below", "past the end"}

// recordedOf gives the kind of a call, and what the operator's runtime answered to such.
func recordedOf(b *binding, plan *garner.Plan) (kind string, list []answer, err error) {
	kind = kinds[0]
	if len(plan.Axes) == 0 {
		return kind, []answer{}, nil
	}
	for i := range b.indices.Len() {
		m, err := plan.Meaning(b.indices, i, b.more...)
		if err != nil {
			return "", nil, err
		}
		if !m.LeftOut {
			if k := kindOf(m.Value, int64(plan.Axes[m.Component].Dim)); slices.Index(kinds, k) > slices.Index(kinds, kind) {
				kind = k
			}
		}
	}
	return kind, []answer{}, nil
}

func kindOf(v garner.Index, dim int64) string {
	n := int64(v.Bits)
	switch {
	case v.Unsigned && n < 0, n >= dim:
		return kinds[3]
	case n >= 0:
		return kinds[0]
	case n >= -dim:
		return kinds[1]
	}
	return kinds[2]
}
