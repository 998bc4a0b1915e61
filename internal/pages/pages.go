// Package pages allocates memory of whole pages, huge ones where the system has
// them: a random read of a large table then misses the page tables no more, and
// touching a new output costs a fault per 2 MiB instead of one per 4 KiB.
package pages

// Huge is the size of a huge page, in bytes.
const Huge = 2 << 20

// Alloc is n bytes of zeros, aligned to a cache line at least, that the garbage
// collector does not know. They are given back by Free; until then, and not
// longer, slices of them are good.
func Alloc(n int) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	return alloc(n)
}

// Free gives back what Alloc gave: the same slice, from its first byte on.
func Free(b []byte) error {
	if cap(b) == 0 {
		return nil
	}
	return free(b)
}
