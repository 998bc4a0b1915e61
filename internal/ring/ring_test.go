package ring

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestRing(t *testing.T) {
	want := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range want {
		want[i] = byte(r.Uint32())
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, want, 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ring, err := New(16)
	if errors.Is(err, ErrNone) {
		t.Skip("the kernel gives this program no io_uring, as in many containers; files are then read in other ways, which package source tries: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ring.Close(); err != nil {
			t.Error(err)
		}
	}()
	if ring.Depth() != 16 {
		t.Error(ring.Depth())
	}
	const reads = 500
	bufs, at := make([][]byte, reads), make([]int64, reads)
	pushed, flying, done := 0, 0, 0
	for done < reads {
		for ; flying < ring.Depth() && pushed < reads; pushed++ {
			bufs[pushed] = make([]byte, 1+r.IntN(9000))
			at[pushed] = r.Int64N(1<<20 - 9000)
			ring.Push(file, bufs[pushed], at[pushed], pushed)
			flying++
		}
		err := ring.Wait(1+r.IntN(8), func(read Read) {
			flying--
			done++
			if read.Err != nil || read.N != len(bufs[read.Tag]) || !bytes.Equal(bufs[read.Tag], want[at[read.Tag]:][:read.N]) {
				t.Errorf("read %d of %d bytes: %d, %v", read.Tag, len(bufs[read.Tag]), read.N, read.Err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Beyond the end, and of a file that is not open for reading.
	blind, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer blind.Close()
	b := make([]byte, 100)
	ring.Push(file, b, 1<<20-10, 1)
	ring.Push(file, b, 1<<21, 2)
	ring.Push(blind, b, 0, 3)
	n := 0
	if err := ring.Wait(3, func(read Read) {
		n++
		switch {
		case read.Tag == 1 && (read.N != 10 || read.Err != nil), read.Tag == 2 && (read.N != 0 || read.Err != nil):
			t.Error(read)
		case read.Tag == 3 && read.Err != syscall.EBADF:
			t.Error(read)
		}
	}); err != nil || n != 3 {
		t.Error(n, err)
	}
	if err := ring.Wait(5, func(Read) { t.Error("nothing was asked for") }); err != nil {
		t.Error(err)
	}
}
