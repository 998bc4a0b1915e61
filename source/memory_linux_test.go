package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
)

// TestBudgetIsHeld gathers 160 MB by indices of 320 KB from a file of 1 GiB in a
// child process, and reads the child's peak of resident memory (VmHWM).
func TestBudgetIsHeld(t *testing.T) {
	const rows, size, budget = 1 << 18, 4096, 8 << 20
	if path := os.Getenv("GARNER_TEST_BUDGET"); path != "" {
		f, err := Open(garner.SpecOf(garner.U8, rows, size), nil, Segment{path, 0, rows * size})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := rand.New(rand.NewPCG(1, 1))
		ids := make([]int64, 40000)
		for i := range ids {
			ids[i] = r.Int64N(rows)
		}
		if err := Gather(t.Context(), onnx.Gather13{}, f, Memory(garner.Of(ids, len(ids))), io.Discard, Options{Memory: budget}); err != nil {
			t.Fatal(err)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
		held, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("held KiB:", held)
		if held<<10 > budget+64<<20 && !raceEnabled {
			t.Errorf("it held %d KiB", held)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, rows*size); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestBudgetIsHeld$", "-test.v")
	child.Env = append(os.Environ(), "GARNER_TEST_BUDGET="+path)
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("this machine runs the test under an emulator, and no child of it")
	}
	if err != nil || !bytes.Contains(out, []byte("held KiB:")) {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}
