package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
)

// A warmCase is an entry of ../warm.json.
type warmCase struct {
	Name          string
	Op            string
	Data, Indices string // extents, as in "4096,8192"
	Axis          int
}

func warmCases(tb testing.TB) []warmCase {
	tb.Helper()
	text, err := os.ReadFile("../warm.json")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []warmCase
	if err := json.Unmarshal(text, &cases); err != nil {
		tb.Fatal(err)
	}
	if len(cases) == 0 {
		tb.Fatal("warm.json has no cases")
	}
	return cases
}

func extents(tb testing.TB, text string) []int {
	tb.Helper()
	var shape []int
	for s := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			tb.Fatal(err)
		}
		shape = append(shape, n)
	}
	return shape
}

// files writes the operands of a case as .npy files, with the first extent of
// data divided by so much: f32 data, and i64 indices drawn at random.
func (c warmCase) files(tb testing.TB, divisor int) (data, indices string) {
	tb.Helper()
	shape := extents(tb, c.Data)
	shape[0] /= divisor
	table, err := garner.New(garner.F32, shape...)
	if err != nil {
		tb.Fatal(err)
	}
	values, _ := garner.Values[float32](table)
	for i := range values {
		values[i] = float32(uint32(i) * 2654435761)
	}
	at := extents(tb, c.Indices)
	bounds := []int{shape[c.Axis]}
	switch {
	case c.Op == "gathernd":
		bounds = shape[:at[len(at)-1]]
		at[0] /= divisor
	case c.Op == "elements" && c.Axis != 0:
		at[0] = shape[0]
	default:
		at[0] = max(1, at[0]/divisor)
	}
	ids, err := garner.New(garner.I64, at...)
	if err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(31, 32))
	numbers, _ := garner.Values[int64](ids)
	for i := range numbers {
		numbers[i] = r.Int64N(int64(bounds[i%len(bounds)]))
	}
	folder := tb.TempDir()
	write := func(name string, t garner.Tensor) string {
		path := filepath.Join(folder, name)
		f, err := os.Create(path)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		if err := npy.Write(f, t); err != nil {
			tb.Fatal(err)
		}
		return path
	}
	return write("data.npy", table), write("indices.npy", ids)
}

// BenchmarkWarm compares source with Prepared.Run on the same warm mapped files.
// One turn is one call of each way. into/run and gather/run are medians over the
// turns; gather is the time of source.Gather less that of a plain copy of the
// result. With -cpu 1,2 it runs on one core and on two.
func BenchmarkWarm(b *testing.B) {
	for _, c := range warmCases(b) {
		b.Run(c.Name, func(b *testing.B) {
			data, indices := c.files(b, 1)
			op, err := operator(c.Op, c.Axis)
			if err != nil {
				b.Fatal(err)
			}
			w, err := openWarm(op, data, indices)
			if err != nil {
				b.Fatal(err)
			}
			defer w.close()
			t := &warmTimes{}
			for b.Loop() {
				if err := w.turn(b.Context(), len(t.Run), t); err != nil {
					b.Fatal(err)
				}
			}
			var into, gather []float64
			for i, run := range t.Run {
				into = append(into, t.Into[i]/run)
				gather = append(gather, (t.Gather[i]-t.Copy[i])/run)
			}
			b.ReportMetric(1e9*middle(t.Run), "run-ns")
			b.ReportMetric(middle(into), "into/run")
			b.ReportMetric(middle(gather), "gather/run")
		})
	}
}

func middle(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// TestWarm runs every case on small files: the ways agree, each turn times each
// of them once, and a result that differs is found.
func TestWarm(t *testing.T) {
	for _, c := range warmCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			data, indices := c.files(t, 64)
			op, err := operator(c.Op, c.Axis)
			if err != nil {
				t.Fatal(err)
			}
			times, err := warmCalls(op, data, indices, 5)
			if err != nil {
				t.Fatal(err)
			}
			for name, spent := range map[string][]float64{"run": times.Run, "into": times.Into, "gather": times.Gather, "copy": times.Copy} {
				if len(spent) != 5 || slices.Min(spent) <= 0 {
					t.Errorf("%s: %v, want five times", name, spent)
				}
			}
			if times.Bytes == 0 {
				t.Error("the result is empty")
			}
		})
	}
}

func TestWarmFindsADifference(t *testing.T) {
	c := warmCase{Name: "rows", Op: "gather", Data: "64,16", Indices: "32"}
	data, indices := c.files(t, 1)
	op, err := operator(c.Op, c.Axis)
	if err != nil {
		t.Fatal(err)
	}
	w, err := openWarm(op, data, indices)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.dataMapped, err = garner.New(garner.F32, 64, 16) // zeros: no longer the file's elements
	if err != nil {
		t.Fatal(err)
	}
	if err := w.check(context.Background()); err == nil {
		t.Error("a result that differs was not found")
	}
}
