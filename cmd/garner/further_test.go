package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
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
		if status != cmdline.StatusRefused || !strings.HasPrefix(stderr.String(), tt.want) {
			t.Errorf("%s: status %d, %s", tt.args, status, stderr.String())
		}
	}
}
