package main

import (
	"math"
	"syscall"
)

// memory returns the machine's memory in bytes.
func memory() float64 {
	text, err := syscall.Sysctl("hw.memsize")
	if err != nil {
		return math.MaxInt
	}
	// Sysctl returns the value, a little-endian number of 8 bytes, as a string, and
	// omits its last byte if that is 0.
	size := 0.0
	for i := len(text) - 1; i >= 0; i-- {
		size = 256*size + float64(text[i])
	}
	return size
}
