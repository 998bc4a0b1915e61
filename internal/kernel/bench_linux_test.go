package kernel

import (
	"fmt"
	"syscall"
	"testing"
)

// BenchmarkPages compares random rows from huge pages and from pages of 4 KiB.
func BenchmarkPages(b *testing.B) {
	const noHugePages = 15 // MADV_NOHUGEPAGE
	size := len(benchMemory())
	small, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	defer syscall.Munmap(small)
	if err := syscall.Madvise(small, noHugePages); err != nil {
		b.Skip("this kernel has no huge pages to do without: ", err)
	}
	copy(small, benchMemory())
	for _, row := range []int{4, 64, 768} {
		for _, pages := range []struct {
			name  string
			table []byte
		}{{"huge", benchMemory()}, {"small", small}} {
			b.Run(fmt.Sprintf("size=%d/pages=%s", row, pages.name), func(b *testing.B) {
				moveBlocks(b, pages.table, row, aheadRows(row), false, make([]byte, benchRows*row))
			})
		}
	}
}
