//go:build unix

package exec

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/kernel"
)

// unmapped is the memory of a mapped file that was cut short: every access is a
// fault.
func unmapped(t *testing.T) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "gone"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 1 << 16
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestVanished holds that a page fault over volatile memory ends a run, a look at
// it, and nothing else.
func TestVanished(t *testing.T) {
	guard.Faults(t)
	gone := unmapped(t)
	n := Nest{Bits: 8, Width: kernel.Width{Bits: 64}, Axes: []Axis{{Dim: len(gone), Data: 1}}, Reach: len(gone)}
	n.Walk([]Loop{{Extent: 3, Index: 1, Out: 1}}, 1)
	indices, out := Memory{Buf: make([]byte, 24)}, Memory{Buf: make([]byte, 3)}
	var u Runner
	if how := u.Run(t.Context(), NewProgram(n, &Tuned, 1), &Memory{Buf: gone, Volatile: true}, &indices, &out); how != Vanished {
		t.Errorf("outcome %d", how)
	}
	var known Program
	known.SetKnown(2, 1, 8, len(gone), nil, &Tuned, 1)
	if how := u.RunKnown(t.Context(), &known, &Memory{Buf: gone, Volatile: true}, &out, []int64{0, 5}, false); how != Vanished {
		t.Errorf("rows that are known: outcome %d", how)
	}
	if how := u.RunEach(t.Context(), 5, 2, func(unit int) { kernel.Convert(make([]byte, 400), gone[:200], kernel.F16ToF32) }); how != Vanished {
		t.Errorf("calls: outcome %d", how)
	}
	if !Guard(func() { out.Buf[0] = gone[len(gone)/2] }) {
		t.Error("a look at a page that is gone is no fault")
	}
	defer func() {
		if r := recover(); r == nil || IsFault(r) {
			t.Errorf("recovered %v, want the panic that is no fault", r)
		}
	}()
	Guard(func() { panic("no fault") })
}

// TestBagsVanish holds that a page fault ends bags, whichever operand is gone.
func TestBagsVanish(t *testing.T) {
	guard.Faults(t)
	gone := &Memory{Buf: unmapped(t), Volatile: true}
	for threads := 1; threads <= 3; threads++ {
		for operand := range 4 {
			x := manyBags(500, Segments)
			x.bag.Weighted, x.bag.Weights = true, [2]int{0, 1}
			weights := Memory{Buf: make([]byte, 4*1000)}
			operands := []*Memory{&x.data, &x.indices, &x.ends, &weights}
			var u Runner
			var p Bags
			x.set(&p, &u, &tunings[1], threads)
			run := func() Outcome {
				return u.RunBags(t.Context(), &p, operands[0], operands[1], operands[2], operands[3], &x.out)
			}
			kept := operands[operand]
			operands[operand] = gone
			if how := run(); how != Vanished {
				t.Errorf("operand %d on %d: outcome %d", operand, threads, how)
			}
			operands[operand] = kept
			if how := run(); how != Done {
				t.Errorf("operand %d on %d: outcome %d afterwards", operand, threads, how)
			}
		}
	}
}
