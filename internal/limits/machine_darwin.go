package limits

import (
	"math"
	"syscall"
)

func current() Bound {
	b := Bound{Bytes: math.MaxInt, By: byMachine}
	// Sysctl returns the value, a little-endian number of 8 bytes, as a string, and
	// omits its last byte if that is 0.
	if text, err := syscall.Sysctl("hw.memsize"); err == nil {
		b.Bytes = 0
		for i := len(text) - 1; i >= 0; i-- {
			b.Bytes = b.Bytes<<8 | int64(text[i])
		}
	}
	return b
}
