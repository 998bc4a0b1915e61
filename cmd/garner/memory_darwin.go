package main

import (
	"math"
	"syscall"
)

// memory is how many bytes of memory the machine has.
func memory() float64 {
	text, err := syscall.Sysctl("hw.memsize")
	if err != nil {
		return math.MaxInt
	}
	// Sysctl takes the answer, a little-endian number of 8 bytes, for a text, and
	// leaves out its last byte where that is 0.
	size := 0.0
	for i := len(text) - 1; i >= 0; i-- {
		size = 256*size + float64(text[i])
	}
	return size
}
