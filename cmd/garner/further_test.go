package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// TestMemoryOfBags holds what is said where INDICES or an operand that is read whole
// leaves too little of --memory: a file makes it no less for bags.
func TestMemoryOfBags(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNpy(t, "table.npy", garner.Of([]float32{1, 2}, 1, 2))
	writeNpy(t, "ids.npy", garner.Of(make([]int64, 250000), 250000))
	ids, err := os.ReadFile("ids.npy")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"table.npy - --as torch.embedding_bag --operand offsets=[0]", "garner: INDICES - take 1.9 MiB of memory, and --memory 2M leaves too little beside them; give more: the operator makes bags"},
		{"table.npy [0] --as torch.embedding_bag --operand offsets=0:250000", "garner: INDICES and --operand offsets take 1.9 MiB of memory, and --memory 2M leaves too little beside them; give more: the operator makes bags"},
		{"table.npy -", "garner: INDICES - take 1.9 MiB of memory, and --memory 2M leaves too little beside them; put them into a .npy file"},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"gather"}, strings.Fields(tt.args)...)
		status := newProgram(bytes.NewReader(ids), &stdout, &stderr).run(context.Background(), append(args, "-o", "out.npy", "--memory", "2M"))
		if status != statusRefused || !strings.HasPrefix(stderr.String(), tt.want) {
			t.Errorf("%s: status %d, %s", tt.args, status, stderr.String())
		}
	}
}

// TestIdentityNamesAttributes holds that --resume names the operator and the attributes of
// what computes with elements, which its loops do not tell.
func TestIdentityNamesAttributes(t *testing.T) {
	f := &gatherFlags{}
	f.operator.as, f.operator.attributes = "torch.embedding_bag", []string{"mode=sum"}
	r, err := asked(t.Context(), "gather", f, []string{"table.npy", "ids.npy"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := garner.NewPlan(r.op, garner.SpecOf(garner.F32, 4, 2), garner.SpecOf(garner.I64, 3), garner.SpecOf(garner.I64, 2))
	if err != nil {
		t.Fatal(err)
	}
	if operator := r.identity(plan, "", "")[0].Value; !strings.HasPrefix(operator, "torch.embedding_bag mode=sum, a gather along axis 0 with negative reject") {
		t.Error(operator)
	}
}
