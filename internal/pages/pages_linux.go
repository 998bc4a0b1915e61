package pages

import "syscall"

const madvHugepage = 14 // MADV_HUGEPAGE

func alloc(n int) ([]byte, error) {
	// Kernels since 6.7 align a mapping of at least one huge page to huge pages. In
	// older kernels up to two of its huge pages are lost to misalignment.
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	if n >= Huge {
		// This is advice: a kernel without huge pages uses small ones.
		_ = syscall.Madvise(b, madvHugepage)
	}
	return b, nil
}

func free(b []byte) error { return syscall.Munmap(b[:cap(b)]) }
