package mapped

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
)

// TestUsers holds that the resource is freed once, after the last call, whether Close
// or a call is last, and that no call begins afterwards.
func TestUsers(t *testing.T) {
	for range 200 {
		var u Users
		var freed, inside atomic.Int64
		free := func() error {
			if freed.Add(1) != 1 || inside.Load() != 0 {
				t.Error("it was freed twice, or under a call")
			}
			return nil
		}
		var all, begun sync.WaitGroup
		for g := range uint(8) {
			begun.Add(1)
			all.Go(func() {
				for turn := 0; ; turn++ {
					entered := u.Enter(g)
					if turn == 0 {
						begun.Done()
					}
					if entered {
						inside.Add(1)
						if freed.Load() != 0 {
							t.Error("a call began after the resource was freed")
						}
						inside.Add(-1)
					}
					if u.Leave(g) {
						if err := u.FreeIdle(free); err != nil {
							t.Error(err)
						}
					}
					if !entered {
						return
					}
					runtime.Gosched() // the goroutine that closes waits for a core
				}
			})
		}
		begun.Wait()
		for range 2 {
			if err := u.Close(free); err != nil {
				t.Error(err)
			}
		}
		all.Wait()
		if freed.Load() != 1 {
			t.Fatalf("it was freed %d times", freed.Load())
		}
	}
	broken := errors.New("broken")
	var u Users
	if err := u.Close(func() error { return broken }); err != broken {
		t.Error(err)
	}
}

func mapNew(t testing.TB, size int) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	b := make([]byte, size)
	for i := range b {
		b[i] = 1
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, path
}

// TestCheck cuts a file at every place that differs, and holds that Check finds
// exactly the reads that reach behind the cut.
func TestCheck(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	page := pageSize
	size := 3*page + 100
	ends := []int{1, page - 1, page, page + 1, 2*page + 5, 3 * page, 3*page + 1, size - 1, size}
	for _, cut := range append([]int{0}, ends...) {
		f, path := mapNew(t, size)
		for _, end := range ends {
			if err := f.Check(f.Bytes()[end-1 : end]); err != nil {
				t.Errorf("a whole file: %v", err)
			}
		}
		if err := os.Truncate(path, int64(cut)); err != nil {
			t.Fatal(err)
		}
		for _, end := range ends {
			err := f.Check(f.Bytes()[:end])
			if end > cut && !errors.Is(err, garner.ErrFault) || end <= cut && err != nil {
				t.Errorf("%d bytes of a file that is cut at %d: %v", end, cut, err)
			}
		}
		if err := f.Check(nil); err != nil {
			t.Error(err)
		}
		// What was read may be zeros, so its error is not told.
		err := f.Read(0, size, func(b []byte) error { return errors.New("zeros") })
		if cut < size && !errors.Is(err, garner.ErrFault) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	empty, _ := mapNew(t, 0)
	if err := errors.Join(empty.Check(nil), empty.CheckTo(0), empty.Read(0, 0, func(b []byte) error { return nil })); err != nil {
		t.Error(err)
	}
}

// TestReadClosed closes a file inside a Read, and after it.
func TestReadClosed(t *testing.T) {
	f, path := mapNew(t, 10)
	other, err := garner.FromBytes(garner.U8, []byte{1})
	if err != nil {
		t.Fatal(err)
	}
	err = f.Read(2, 5, func(b []byte) error {
		if err := f.Close(); err != nil || len(b) != 5 || b[4] != 1 {
			t.Error(err, b)
		}
		return nil
	})
	if err != nil || f.Bytes() != nil || f.Size() != 10 || f.Path() != path {
		t.Error(err)
	}
	for _, err := range []error{f.Hold(), f.Read(0, 10, func([]byte) error { t.Error("it reads"); return nil })} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%v, want an ErrClosed", err)
		}
	}
	if f.View(other).Keeper() != nil {
		t.Error("it keeps memory of others")
	}
}

func TestCheckAllocates(t *testing.T) {
	f, _ := mapNew(t, 3*pageSize)
	if n := testing.AllocsPerRun(100, func() {
		if err := errors.Join(f.CheckTo(5), f.CheckTo(3*pageSize)); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCheck times a Hold and a Release, and a Check of bytes before the file's
// last page and of its last byte.
func BenchmarkCheck(b *testing.B) {
	f, _ := mapNew(b, 3*pageSize)
	b.Run("hold", func(b *testing.B) {
		for b.Loop() {
			_ = f.Hold()
			f.Release()
		}
	})
	for name, end := range map[string]int{"page": 5, "end": 3 * pageSize} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f.CheckTo(end); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
