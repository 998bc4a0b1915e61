package torch_test

import (
	"context"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/torch"
)

// TestRunsAllocateNothing holds that a Prepared accepts operands that its operator
// flattens or reads as vectors, run after run, without lowering anew.
func TestRunsAllocateNothing(t *testing.T) {
	table := ruletest.Tensor(t, "iota i64[3,4]")
	turned, err := table.Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		op            garner.Op
		data, indices garner.Tensor
	}{
		{"flat", torch.Take{}, table, ruletest.Tensor(t, "[[5],[1]]")},
		{"flat, strided", torch.Take{}, turned, ruletest.Tensor(t, "[[5],[1]]")},
		{"scalar index", torch.IndexSelect{}, table, ruletest.Tensor(t, "1")},
		{"scalar data", torch.Gather{}, ruletest.Tensor(t, "7"), ruletest.Tensor(t, "0")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := garner.Prepare(tt.op, tt.data.Spec(), tt.indices.Spec(), garner.Threads(1))
			if err != nil {
				t.Fatal(err)
			}
			out, err := garner.New(p.Plan().DType, p.Plan().Out...)
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(20, func() {
				if err := p.Run(context.Background(), tt.data, tt.indices, out); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%v allocations a run", n)
			}
		})
	}
}
