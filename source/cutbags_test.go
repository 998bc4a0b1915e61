package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/openvino"
)

// TestCutOperands cuts the file of each operand of bags, of stored data and of a gather:
// the error names the file.
func TestCutOperands(t *testing.T) {
	guard.Faults(t)
	const rows, columns, terms = 3000, 8, 4000
	numbers := func(n int, shape ...int) garner.Tensor {
		list := make([]float32, n)
		for i := range list {
			list[i] = 1
		}
		return garner.Of(list, shape...)
	}
	ids, ends := make([]int64, terms), make([]int64, terms)
	for i := range ids {
		ids[i], ends[i] = int64(i*7%rows), int64(i)
	}
	sum := openvino.EmbeddingBagOffsetsSum3{}
	segments := openvino.EmbeddingSegmentsSum3{NumSegments: terms}
	compressed := openvino.Compressed{Op: sum}
	for _, tt := range []struct {
		op       garner.Op
		operands []garner.Tensor
	}{
		{sum, []garner.Tensor{numbers(rows*columns, rows, columns), garner.Of(ids, terms), garner.Of(ends, terms), numbers(terms, terms)}},
		{segments, []garner.Tensor{numbers(rows*columns, rows, columns), garner.Of(ids, terms), garner.Of(ends, terms), numbers(terms, terms)}},
		{compressed, []garner.Tensor{garner.Of(make([]uint8, rows*columns), rows, columns), garner.Of(ids, terms), garner.Of(ends, terms), numbers(terms, terms), numbers(rows, rows, 1)}},
		{openvino.Gather8{}, []garner.Tensor{numbers(rows*columns, rows, columns), garner.Of(ids, terms)}},
		{openvino.CompressedGather{}, []garner.Tensor{garner.Of(make([]uint8, rows*columns), rows, columns), garner.Of(ids, terms), numbers(rows, rows, 1)}},
	} {
		for cut := range tt.operands {
			for _, to := range []int64{0, 1000} {
				for _, memory := range []int64{0, 300 << 10} {
					files := make([]Array, len(tt.operands))
					for i, operand := range tt.operands {
						files[i] = stored(t, operand)
					}
					path := files[cut].(*File).files[0].path
					o := Options{Memory: memory, Further: files[2:]}
					views := make([]garner.Tensor, len(files)) // of the mapped files
					viewed := true
					for i, f := range files {
						var ok bool
						views[i], ok = f.(*File).Tensor()
						viewed = viewed && ok
					}
					plan, err := NewPlan(t.Context(), tt.op, files[0], files[1], files[2:]...)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.Truncate(path, to); err != nil {
						mayNotChange(t, err)
					}
					out, err := garner.New(plan.DType, plan.Out...)
					if err != nil {
						t.Fatal(err)
					}
					errs := map[string]error{
						"Gather":     Gather(t.Context(), tt.op, files[0], files[1], io.Discard, o),
						"GatherInto": GatherInto(t.Context(), tt.op, files[0], files[1], out, o),
					}
					if viewed {
						errs["garner.GatherInto"] = garner.GatherInto(t.Context(), tt.op, views[0], views[1], out, views[2:]...)
						_, errs["garner.Gather"] = garner.Gather(tt.op, views[0], views[1], views[2:]...)
						_, errs["Reference"] = garner.Reference(tt.op, views[0], views[1], views[2:]...)
					}
					for how, err := range errs {
						if !errors.Is(err, garner.ErrFault) || !strings.Contains(fmt.Sprint(err), path) {
							t.Errorf("%s of %T in %d, operand %d cut at %d: %v", how, tt.op, memory, cut, to, err)
						}
					}
				}
			}
		}
	}
}
