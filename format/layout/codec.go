package layout

import (
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/source"
)

// ErrMemory is the class of arrays without a layout: strings, packed values of one
// byte each, compressed members. A reader must build their elements from other
// bytes, so they can only be read into memory as a whole.
var ErrMemory = errors.New("only in memory")

// InMemory returns the ErrMemory of an array, for a reason such as "it holds
// strings". The message gives the remedy.
func InMemory(format string, args ...any) error {
	return garner.Errorf(ErrMemory, format+", which can only be read whole, from one file and into memory", args...)
}

// ErrTooLarge is the class of arrays that must be read whole and take more memory
// than the caller allows.
var ErrTooLarge = errors.New("too large to be read whole")

// Fits returns the ErrTooLarge of an array that takes size bytes while it is read, where
// most are allowed; nil where they suffice, or where most is 0, which is no limit.
func Fits(what string, size, most float64) error {
	if most == 0 || size <= most {
		return nil
	}
	text := func(bytes float64) string { return units.Of(bytes).Text(bytes) }
	return garner.Errorf(ErrTooLarge, "%s takes %s of memory while it is read, and %s are allowed; put it into a file from which a part is read at a time, such as a .npy of numbers",
		what, text(size), text(most))
}

// swaps are the codecs of Swap, by the sizes in bytes of an element and of the
// numbers in it.
var swaps = map[[2]int]*source.Codec{
	{2, 2}: swap(2, 2), {4, 4}: swap(4, 4), {8, 8}: swap(8, 8), // numbers
	{8, 4}: swap(8, 4), {16, 8}: swap(16, 8), // complex numbers, two numbers each
}

// Swap returns the codec of big-endian elements, nil for numbers of one byte or
// less. Arrays that are stored alike get the same pointer.
func Swap(d garner.DType) *source.Codec {
	size := d.Bits() / 8
	number := size
	if d.IsComplex() {
		number /= 2
	}
	return swaps[[2]int{size, number}]
}

func swap(size, number int) *source.Codec {
	return &source.Codec{Elements: 1, Bytes: size, Decode: func(dst, src []byte) {
		copy(dst, src)
		for b := dst[:len(src)]; len(b) > 0; b = b[number:] {
			slices.Reverse(b[:number])
		}
	}}
}
