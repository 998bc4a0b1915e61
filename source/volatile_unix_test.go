//go:build unix

package source

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/onnx"
)

// TestVolatileMemory gathers from, and by, a tensor of a mapping of the caller's
// whose file was cut short: an ErrFault, not the end of the process.
func TestVolatileMemory(t *testing.T) {
	guard.Faults(t)
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
	defer syscall.Munmap(b)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	whole, _ := garner.FromBytes(garner.I64, b, size/8)
	gone := whole.Volatile()
	there := garner.Of(make([]int64, 100), 100)
	for _, memory := range []int64{0, 1 << 20} {
		for name, operands := range map[string][2]garner.Tensor{"data": {gone, there}, "indices": {there, gone}} {
			if err := Gather(t.Context(), onnx.Gather13{}, Memory(operands[0]), Memory(operands[1]), io.Discard, Options{Memory: memory}); !errors.Is(err, garner.ErrFault) {
				t.Errorf("%s, %d: %v, want an ErrFault", name, memory, err)
			}
		}
	}
	vanished, _ := garner.FromBytes(garner.F16, b, size/256, 128)
	converted, err := Convert(Memory(vanished.Volatile()), garner.F32)
	if err != nil {
		t.Fatal(err)
	}
	if err := Gather(t.Context(), onnx.Gather13{}, converted, Memory(there), io.Discard, Options{}); !errors.Is(err, garner.ErrFault) {
		t.Errorf("converted: %v, want an ErrFault", err)
	}
	for _, n := range []int{1, 2000} { // on one core and on all
		table, err := NewTable(converted)
		if err != nil {
			t.Fatal(err)
		}
		if err := LookupValues(t.Context(), table, make([]int, n), make([]float32, n*128)); !errors.Is(err, garner.ErrFault) {
			t.Errorf("a converted table, %d rows: %v, want an ErrFault", n, err)
		}
	}
	table, err := NewTable(Memory(gone))
	if err != nil {
		t.Fatal(err)
	}
	if err := Lookup(t.Context(), table, []int{1, 2}, make([]byte, 16)); !errors.Is(err, garner.ErrFault) {
		t.Errorf("a table: %v, want an ErrFault", err)
	}
}
