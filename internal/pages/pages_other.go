//go:build !linux

package pages

// Elsewhere the collector's own memory serves: its large blocks are whole pages.
func alloc(n int) ([]byte, error) { return make([]byte, n), nil }

func free([]byte) error { return nil }
