package layout

import (
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// ErrMemory is the class of arrays that have no layout, because a reader must
// make their elements of other bytes than theirs: strings, packed values that
// take a byte each, compressed members. They can be read into memory as a whole.
var ErrMemory = errors.New("only in memory")

// InMemory says of an array that it has no layout, in words such as "it holds
// strings". The message gives the remedy.
func InMemory(format string, args ...any) error {
	return garner.Errorf(ErrMemory, format+", which can only be read whole, from one file and into memory", args...)
}

// swaps are the codecs of Swap, by the bytes of an element and of the numbers
// in it.
var swaps = map[[2]int]*source.Codec{
	{2, 2}: swap(2, 2), {4, 4}: swap(4, 4), {8, 8}: swap(8, 8), // numbers
	{8, 4}: swap(8, 4), {16, 8}: swap(16, 8), // complex numbers, which are two
}

// Swap is the codec of elements whose numbers stand most significant byte
// first; nil where they are of one byte or less. It is the same pointer for all
// that are stored alike.
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
