package main

import (
	"bytes"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/explain"
	"github.com/garner-go/garner/internal/limits"
)

// TestBudget holds that inputs share one budget: what one takes, others lack.
func TestBudget(t *testing.T) {
	b := &cmdline.Budget{Most: limits.Bound{Bytes: 1000, By: "the control group allows"}}
	if got := b.Left(); got != b.Most {
		t.Errorf("%+v", got)
	}
	b.Take("DATA", files.Hold(garner.Of(make([]uint8, 5), 5)))
	if got := b.Left(); got.Bytes != 995 || got.By != "the control group allows" {
		t.Errorf("%+v", got)
	}
	b.Take("INDICES", files.Hold(garner.Of(make([]int64, 75), 75)))
	if got := b.Left().String(); got != "beside the 605 B of DATA and INDICES the control group allows 395 B" {
		t.Error(got)
	}
	b.Take("INDICES", files.Hold(garner.Of(make([]int64, 75), 75)))
	if got := b.Left(); got.Bytes != 1 {
		t.Errorf("%+v", got)
	}
	if got := b.All(); got.Bytes != 1000 {
		t.Errorf("%+v", got)
	}
}

// TestTogether holds that the commands ask for DATA, INDICES and the result together.
func TestTogether(t *testing.T) {
	defer func(before func() limits.Bound) { cmdline.MemoryBound = before }(cmdline.MemoryBound)
	cmdline.MemoryBound = func() limits.Bound { return limits.Bound{Bytes: 12 << 20, By: "the control group allows"} }
	out := filepath.Join(t.TempDir(), "x.npy")
	const mega = "0:1000000" // 7.6 MiB
	beside := "INDICES 0:1000000 takes 7.6 MiB in memory, and beside the 7.6 MiB of DATA the control group allows 4.4 MiB"
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"gather", mega, mega, "-o", out}, beside},
		{[]string{"gather", mega, mega, "--all"}, beside},
		{[]string{"explain", "gather", mega, mega}, beside},
		{[]string{"bench", "gather", mega, mega}, beside},
		{[]string{"run", "../../testdata/models/hash.onnx", "--input", "ids=0:2000000"}, "--input ids 0:2000000 takes 15.3 MiB in memory, and the control group allows 12 MiB"},
		{[]string{"gather", "0:500000", "0:400000", "-o", out, "--outside", "error"}, ""},
		{[]string{"gather", "0:800000", "0:400000", "-o", out, "--dtype", "i32", "--indices-dtype", "i64"}, ""},
		{[]string{"gather", "0:700000", "0:500000", "-o", out}, "the result i64[500000] takes 3.8 MiB, and beside the 9.2 MiB of DATA and INDICES the control group allows 2.8 MiB of memory"},
	} {
		status, _, stderr := garnerRun(tt.args...)
		if tt.want == "" && status != cmdline.StatusDone || tt.want != "" && (status != cmdline.StatusRefused || !strings.Contains(stderr, tt.want)) {
			t.Errorf("%q: status %d: %s; want %q", tt.args, status, stderr, tt.want)
		}
	}
}

// TestLongRanges holds that a range as INDICES is not made where the result is refused.
func TestLongRanges(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.npy")
	table := garner.Of(make([]uint8, 1<<15), 1<<8, 1<<7)
	data := filepath.Join(t.TempDir(), "data.npy")
	writeNpy(t, data, table)
	halves := filepath.Join(t.TempDir(), "halves.npy") // 32 of f16 in a row
	writeNpy(t, halves, garner.Of(make([]uint8, 1<<14), 1<<8, 1<<6))
	const long = "0:16000000" // 122 MiB
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"gather", "[1,2]", long}, cmdline.StatusUsage, "the result is i64[16000000], 16000000 elements; outside a terminal more than 1000 are printed only if that is asked for"},
		{[]string{"gather", data, long}, cmdline.StatusUsage, "the result is u8[16000000,128]"},
		{[]string{"elements", "[1,2]", "0:16000000:1", "--indices-dtype", "i32"}, cmdline.StatusUsage, "the result is i64[16000000]"},
		{[]string{"gather", data, long, "--all"}, cmdline.StatusRefused, "the result u8[16000000,128] takes 1.9 GiB"},
		{[]string{"gather", "[[1,2,3,4]]", long, "-o", out}, cmdline.StatusRefused, "the result i64[16000000,4] takes 488.3 MiB"},
		{[]string{"bench", "gather", data, long}, cmdline.StatusRefused, "bench holds DATA, INDICES and the result u8[16000000,128] in memory"},
		{[]string{"gather", halves, long, "--as", "gguf.get_rows", "--attr", "type=F16", "--outside", "fill=0.5"}, cmdline.StatusUsage, "the result is f32[16000000,32]"},
		{[]string{"gather", halves, long, "--as", "gguf.get_rows", "--attr", "type=F16", "--all"}, cmdline.StatusRefused, "the result f32[16000000,32] takes 1.9 GiB"},
		{[]string{"gather", "[[1,2]]", long, "--axis", "2"}, cmdline.StatusRefused, "axis 2 of data i64[1,2]"},
		{[]string{"explain", "gather", "[[1,2]]", long, "--axis", "2"}, cmdline.StatusRefused, "axis 2 of data i64[1,2]"},
		{[]string{"explain", "gather", "[[1,2]]", long, "--as", "torch.embedding_bag", "--attr", "mode=most", "--operand", "offsets=[0]"}, cmdline.StatusUsage, "mode \"most\"; there are sum, mean and max"},
		{[]string{"gather", "f32[[1,2]]", long, "--as", "torch.embedding_bag", "--attr", "mode=sum", "--operand", "per_sample_weights=[1]", "--operand", "offsets=[0]"}, cmdline.StatusRefused, "dim 0 is 1 in per_sample_weights"},
		{[]string{"explain", "gather", "[[1,2]]", long, "--as", "tensorflow.sparse_segment_sum"}, cmdline.StatusUsage, "segment_ids"},
	} {
		func() {
			defer func(before func() limits.Bound) { cmdline.MemoryBound = before }(cmdline.MemoryBound)
			cmdline.MemoryBound = func() limits.Bound { return limits.Bound{Bytes: 200 << 20, By: "the control group allows"} }
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			status, _, stderr := garnerRun(tt.args...)
			runtime.ReadMemStats(&after)
			if status != tt.status || !strings.Contains(stderr, tt.want) {
				t.Errorf("%q: status %d: %s; want %q", tt.args, status, stderr, tt.want)
			}
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 50 {
				t.Errorf("%q made %d MiB", tt.args, made)
			}
		}()
	}
}

// TestExplainLong holds that explain makes and looks at a part of many indices, and says
// of how many.
func TestExplainLong(t *testing.T) {
	defer func(before func() limits.Bound, most int) { cmdline.MemoryBound, explain.MostSurveyed = before, most }(cmdline.MemoryBound, explain.MostSurveyed)
	cmdline.MemoryBound = func() limits.Bound { return limits.Bound{Bytes: 200 << 20, By: "the control group allows"} }
	explain.MostSurveyed = 1 << 20
	ids := filepath.Join(t.TempDir(), "ids.npy")
	writeNpy(t, ids, garner.Of(append(make([]uint8, 3<<20-1), 9), 3, 1<<20))
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"[1,2]", "0:2000000000"}, []string{"indices i64[2000000000]   ->   i64[2000000000]", "seen    the first 1048576 of 2000000000 indices: 1048574 are refused: the gather fails", "reads 16000000000 bytes of indices", "indices[2] = 2 is outside"}},
		{[]string{"[1,2]", " 2000000000:-5:-1", "--outside", "clamp"}, []string{"seen    the first 1048576 of 2000000005 indices: 1048576 are outside and mean the nearest position"}},
		{[]string{"[1,2]", "0:1048577", "--outside", "zero"}, []string{"seen    the first 1048576 of 1048577 indices: 1048574 are outside and read as zeros"}},
		{[]string{"[1,2]", "0:1048576", "--outside", "zero"}, []string{"seen    1048576 indices: 1048574 are outside and read as zeros"}},
		{[]string{"[1,2]", ids}, []string{"seen    the first 1048576 of 3145728 indices, all inside"}},
		{[]string{"[1,2]", "0:2000000000", "--axis", "1"}, []string{"axis 1"}},
		{[]string{"[1,2]", "0:2000000000", "--outside", "clamp", "-o", "-"}, []string{"<svg", "indices i64[2000000000]", ">1999999999<"}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, stdout, stderr := garnerRun(append([]string{"explain", "gather"}, tt.args...)...)
		runtime.ReadMemStats(&after)
		for _, want := range tt.want {
			if math.MaxInt > math.MaxInt32 && !strings.Contains(stdout+stderr, want) {
				t.Errorf("%q: status %d: %s%s; want %q", tt.args, status, stdout, stderr, want)
			}
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 50 {
			t.Errorf("%q made %d MiB", tt.args, made)
		}
	}
}

// TestBlocks holds how much of little memory the blocks of a gather take.
func TestBlocks(t *testing.T) {
	for left, want := range map[int64]int64{1 << 40: 0, cmdline.Unbudgeted: 0, cmdline.Unbudgeted - 4: cmdline.Unbudgeted/4 - 1, 100 << 20: 25 << 20, 1 << 20: cmdline.LeastMemory, 1: cmdline.LeastMemory} {
		if got := cmdline.Blocks(limits.Bound{Bytes: left}); got != want {
			t.Errorf("%d B leave %d; want %d", left, got, want)
		}
	}
}

// TestNoMemory holds that the system's refusal of memory is told with the limit.
func TestNoMemory(t *testing.T) {
	var stderr bytes.Buffer
	p := newProgram(nil, &bytes.Buffer{}, &stderr)
	status := p.Report(garner.Errorf(syscall.ENOMEM, "a.npy: cannot allocate memory"))
	p.Stderr.Flush()
	if got := stderr.String(); status != cmdline.StatusRefused || !strings.HasPrefix(got, "garner: a.npy: cannot allocate memory; ") || !strings.HasSuffix(got, "iB\n") {
		t.Error(status, got)
	}
}
