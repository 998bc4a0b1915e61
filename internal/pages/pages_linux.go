package pages

import "syscall"

const madvHugepage = 14 // MADV_HUGEPAGE

func alloc(n int) ([]byte, error) {
	// A mapping of a huge page or more is placed on a border of them by kernels
	// since 6.7; for the others the length leaves room for all pages but two.
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	if n >= Huge {
		// Advice: a kernel without huge pages serves small ones.
		_ = syscall.Madvise(b, madvHugepage)
	}
	return b, nil
}

func free(b []byte) error { return syscall.Munmap(b[:cap(b)]) }
