//go:build !unix

package codec

import "testing"

// guarded returns n bytes of memory, without guard pages on this system.
func guarded(_ testing.TB, n int) []byte { return make([]byte, n) }
