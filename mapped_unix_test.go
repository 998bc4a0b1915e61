//go:build unix && !386

package garner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/strict"
)

// mapSparse maps a file of the given size that takes no room on disk.
func mapSparse(t *testing.T, size int) (*os.File, []byte) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	return f, b
}

func TestBeyondTwoToThe31(t *testing.T) {
	ctx := context.Background()
	t.Run("data", func(t *testing.T) {
		const n = 5 << 30 // elements and bytes
		f, b := mapSparse(t, n)
		for _, at := range []int64{0, 1 << 31, 1<<32 + 1, n - 1} {
			if _, err := f.WriteAt([]byte{byte(at>>28) + 1}, at); err != nil {
				t.Fatal(err)
			}
		}
		data, err := garner.FromBytes(garner.U8, b, n)
		if err != nil {
			t.Fatal(err)
		}
		out, err := garner.GatherContext(ctx, strict.Gather{}, data, garner.Of([]int64{n - 1, 1, 1<<32 + 1, 1 << 31, 0}, 5))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := garner.Values[uint8](out)
		if want := [5]uint8{20, 0, 17, 9, 1}; [5]uint8(got) != want {
			t.Errorf("%v, want %v", got, want)
		}
		rows, err := data.Reshape(n/1024, 1024)
		if err != nil {
			t.Fatal(err)
		}
		out, err = garner.GatherContext(ctx, strict.GatherND{}, rows, garner.Of([]int64{(1<<32 + 1) / 1024, 1, n/1024 - 1, 1023}, 2, 2))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := garner.Values[uint8](out); got[0] != 17 || got[1] != 20 {
			t.Errorf("%v, want [17 20]", got)
		}
	})
	t.Run("result", func(t *testing.T) {
		const half = 1<<30 + 32 // elements; the result has twice as many, of half a byte
		_, b := mapSparse(t, half)
		data, err := garner.FromBytes(garner.U4, b, 2, half)
		if err != nil {
			t.Fatal(err)
		}
		out, err := garner.GatherContext(ctx, garner.WithFill(strict.Gather{}, u4(t, 7)), data, garner.Of([]int64{0, 9}, 2))
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[int]string{0: "0", half - 1: "0", half: "7", 2*half - 1: "7"} {
			if got, err := out.At(at/half, at%half); got != want || err != nil {
				t.Errorf("element %d is %s (%v), want %s", at, got, err, want)
			}
		}
	})
}

func u4(t *testing.T, v int) garner.Tensor {
	s, err := garner.FromBytes(garner.U4, []byte{byte(v)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVolatile cuts a file short under a run, which is an error and no signal.
func TestVolatile(t *testing.T) {
	guard.Faults(t)
	const n = 64 << 20
	f, b := mapSparse(t, n)
	data, err := garner.FromBytes(garner.F32, b, n/64, 16)
	if err != nil {
		t.Fatal(err)
	}
	at := make([]int64, 100_000)
	for i := range at {
		at[i] = int64(i * 7919 % (n / 64))
	}
	indices := garner.Of(at, len(at))
	ctx := context.Background()
	if _, err := garner.GatherContext(ctx, strict.Gather{}, data.Volatile(), indices); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 3} {
		p := prepare(t, strict.Gather{}, data, indices, garner.Threads(threads))
		out := garner.Of(make([]float32, 16*len(at)), len(at), 16)
		if err := p.Run(ctx, data.Volatile(), indices, out); !errors.Is(err, garner.ErrFault) {
			t.Errorf("%d threads: %v, want ErrFault", threads, err)
		}
	}
	if _, err := data.Volatile().Clone(); !errors.Is(err, garner.ErrFault) {
		t.Errorf("Clone: %v, want ErrFault", err)
	}
	// Indices that vanish, too.
	vanished, err := garner.FromBytes(garner.I64, b, n/8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := garner.GatherContext(ctx, strict.Gather{}, garner.Of([]int8{1}, 1), vanished.Volatile()); !errors.Is(err, garner.ErrFault) {
		t.Errorf("indices: %v, want ErrFault", err)
	}
}
