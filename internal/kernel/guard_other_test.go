//go:build !unix

package kernel

import "testing"

// guarded returns n bytes of memory, without guard pages on this system.
func guarded(_ *testing.T, n int) []byte { return make([]byte, n) }
