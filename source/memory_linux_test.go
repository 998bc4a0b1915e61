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
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/torch"
)

// TestBudgetIsHeld gathers 160 MB by indices of 320 KB from a file of 1 GiB in a
// child process, and reads the child's peak of resident memory (VmHWM): rows as they are
// stored, rows of Q4_K, codes with scales in a place of their own, and bags.
func TestBudgetIsHeld(t *testing.T) {
	for _, what := range []string{"rows", "blocks", "scales", "bags"} {
		t.Run(what, func(t *testing.T) { budgetIsHeld(t, what) })
	}
}

func budgetIsHeld(t *testing.T, what string) {
	const rows, size, budget = 1 << 18, 4096, 8 << 20
	const few = rows / 8 // decoded, as many bytes as an int of 32 bits counts
	if path := os.Getenv("GARNER_TEST_BUDGET"); path != "" {
		var op garner.Op = onnx.Gather13{}
		spec, segment := garner.SpecOf(garner.U8, rows, size), Segment{path, 0, rows * size}
		o := Options{Memory: budget}
		switch what {
		case "blocks":
			op, spec, segment.Bytes = gguf.GetRows{Type: "Q4_K"}, garner.SpecOf(garner.U8, few, 144*28), few*144*28
		case "bags":
			op, spec = torch.EmbeddingBag{Mode: "sum"}, garner.SpecOf(garner.F32, rows, size/4)
			o.Further = []Array{Memory(garner.Of([]int64{0, 10000, 10001, 20000}, 4))}
		case "scales":
			op, spec, segment.Bytes = openvino.CompressedGather{}, garner.SpecOf(garner.U8, few, size/2), few*size/2
			scales, err := Open(garner.SpecOf(garner.F32, few, 1), nil, Segment{path, few * size / 2, few * 4})
			if err != nil {
				t.Fatal(err)
			}
			defer scales.Close()
			o.Further = []Array{scales}
		}
		f, err := Open(spec, nil, segment)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := rand.New(rand.NewPCG(1, 1))
		ids := make([]int64, 40000)
		for i := range ids {
			ids[i] = r.Int64N(int64(spec.Dims[0].Min))
		}
		if err := Gather(t.Context(), op, f, Memory(garner.Of(ids, len(ids))), io.Discard, o); err != nil {
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
	child := exec.Command(os.Args[0], "-test.run", "^TestBudgetIsHeld$/^"+what+"$", "-test.v")
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
