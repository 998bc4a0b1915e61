package garner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/strict"
)

func TestRegime(t *testing.T) {
	for _, tt := range []struct {
		op            garner.Op
		data, indices garner.Spec
		threads       int
		want          []string
	}{
		{strict.Gather{}, garner.SpecOf(garner.F32, 2, 2), garner.SpecOf(garner.I64, 2), 2, []string{"rows of 8 bytes", "way near", "data near", "one core"}},
		{strict.Gather{}, garner.SpecOf(garner.F32, 1<<24), garner.SpecOf(garner.I64, 1<<20), 2, []string{"rows of 4 bytes, straight from the indices", "way direct-ahead", "rows ahead", "2 cores"}},
		{strict.Gather{}, garner.SpecOf(garner.F32, 1000, 3), garner.SpecOf(garner.I64, 1<<20), 2, []string{"rows of 12 bytes, straight from the indices", "way direct ", "data near", "2 cores"}},
		{strict.Gather{}, garner.SpecOf(garner.F32, 1<<20, 16), garner.SpecOf(garner.I64, 1<<20), 2, []string{"rows of 64 bytes", "non-temporal stores"}},
		{strict.Gather{Axis: 1}, garner.SpecOf(garner.F32, 8192, 4096), garner.SpecOf(garner.I64, 1024), 2, []string{"columns of 4 bytes", "way columns", "rows resolved once", "end to end"}},
		{strict.GatherElements{}, garner.SpecOf(garner.F32, 8192, 4096), garner.SpecOf(garner.I64, 1024, 4096), 2, []string{"in strips of columns through a buffer", "way strips"}},
		{strict.Gather{}, garner.SpecOf(garner.String, 9), garner.SpecOf(garner.I64, 2), 1, []string{"strings of 1 string ", "Generic"}},
		{strict.Gather{}, garner.SpecOf(garner.U4, 9, 3), garner.SpecOf(garner.I64, 2), 1, []string{"bits of 12 bits", "Generic"}},
	} {
		p, err := garner.Prepare(tt.op, tt.data, tt.indices, garner.Threads(tt.threads))
		if err != nil {
			t.Fatal(err)
		}
		got := p.Regime().String()
		for _, part := range tt.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s lacks %q", got, part)
			}
		}
		if strings.HasPrefix(fmt.Sprint(tt.data.DType), "f") && !strings.Contains(got, kernel.Form()) {
			t.Errorf("%s does not name the kernels", got)
		}
	}
}
