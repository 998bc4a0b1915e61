//go:build !unix

// Package guard gives tests memory beside pages without access, where a read or a write
// too far faults, and files that are not in memory.
package guard

import "testing"

// Bytes returns n zero bytes, without guard pages on this system.
func Bytes(_ testing.TB, n int) []byte { return make([]byte, n) }

// Hide returns: no page loses its access on this system.
func Hide(testing.TB, []byte, int, int) {}

// Faults returns: this system keeps a mapped file from being cut short, or none is mapped.
func Faults(testing.TB) {}
