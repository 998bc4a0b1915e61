//go:build !linux

package main

import "math"

// memory is how many bytes of memory the process may ever have, as far as is
// known here: what a process can address.
func memory() float64 { return min(math.MaxInt, 1<<46) }
