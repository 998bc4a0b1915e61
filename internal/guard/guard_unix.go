//go:build unix

// Package guard gives tests memory beside pages without access, where a read or a write
// too far faults.
package guard

import (
	"os"
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
