//go:build !linux

package pages

// alloc uses the Go heap, whose large blocks are whole pages.
func alloc(n int) ([]byte, error) { return make([]byte, n), nil }

func free([]byte) error { return nil }
