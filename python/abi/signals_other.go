//go:build !linux || (!amd64 && !arm64)

package main

import "unsafe"

// guards says that nothing puts Go's handlers of page faults back where another has replaced
// them, so that tables are read by system calls.
const guards = false

func guard() error { return nil }

func ofFiles(...unsafe.Pointer) bool { return false }
