//go:build unix

// Package guard gives tests memory beside pages without access, where a read or a write
// too far faults, and files that are not in memory.
package guard

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
)

// Bytes returns n zero bytes that end where a page without access begins, until the
// test ends.
func Bytes(t testing.TB, n int) []byte {
	page := os.Getpagesize()
	room := (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	for _, at := range []int{0, page + room} {
		if err := syscall.Mprotect(b[at:at+page], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return b[page+room-n : page+room : page+room]
}

// Hide takes away the access to the whole pages of b[from:to], until the test ends. b is
// what Bytes returned.
func Hide(t testing.TB, b []byte, from, to int) {
	page := os.Getpagesize()
	// b ends where a page does.
	from, to = len(b)-(len(b)-from)/page*page, len(b)-(len(b)-to+page-1)/page*page
	if from < to {
		if err := syscall.Mprotect(b[from:to], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
}

// Faults skips a test that needs the address of a fault in a file that was cut short:
// by it Go tells the fault from a nil pointer, and qemu's user emulation does not pass
// it on. On amd64, where the tests run as they are, its absence is an error.
func Faults(t testing.TB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(path, make([]byte, os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b, err := syscall.Mmap(int(file.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	if err := file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	switch told, faulted := fault(b); {
	case told:
	case !faulted || runtime.GOARCH == "amd64":
		t.Fatalf("a page of a file that was cut short was read: a fault is %t, its address known is %t", faulted, told)
	default:
		t.Skip("an emulator gives a fault without its address")
	}
}

// fault reads b, and reports whether that faults, and whether the fault's address is told.
func fault(b []byte) (told, faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			faulted = true
			_, told = r.(interface{ Addr() uintptr })
		}
	}()
	runtime.KeepAlive(b[0])
	return
}
