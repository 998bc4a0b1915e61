//go:build !unix

package kernel

import "testing"

// guarded is n bytes of memory; guard pages are a unix matter here.
func guarded(_ *testing.T, n int) []byte { return make([]byte, n) }
