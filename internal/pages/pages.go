// Package pages allocates memory in whole pages, huge pages where the system has
// them. With huge pages a random read of a large table causes fewer TLB misses, and
// a new output costs one page fault per 2 MiB instead of one per 4 KiB.
package pages

// Huge is the size of a huge page, in bytes.
const Huge = 2 << 20

// Alloc returns n zero bytes, aligned at least to a cache line, outside the garbage
// collector's heap. They and all slices of them are valid until Free.
func Alloc(n int) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	return alloc(n)
}

// Free releases memory of Alloc. b must begin at its first byte.
func Free(b []byte) error {
	if cap(b) == 0 {
		return nil
	}
	return free(b)
}
