// Package codec turns stored blocks of quantised numbers into floats. It knows
// bytes and numbers only: no tensor, no file and no operator.
//
// A [Codec] is one kind of block that holds its own scales: those of GGUF, and
// the rows of FBGEMM. A [Blocks] is a table whose codes, scales and zero points
// are three operands.
//
// The functions here are the definition, under the numbers of docs/rules.md. Each
// operation is rounded to f32 in the order in which the reference does it, on every
// processor alike. Package kernel does the same, bit for bit, by the instructions of
// some processors; it decodes what it can, and the definition decodes the rest.
package codec

import (
	"strings"

	"github.com/garner-go/garner/internal/kernel"
)

// A Codec is a kind of block. It stores Elements numbers in Bytes bytes.
type Codec struct {
	Name     string
	Elements int // of a block
	Bytes    int // of a block

	// Decode writes the elements of whole blocks to dst as little-endian f32. src
	// holds the blocks, a multiple of Bytes; dst has 4 bytes for each of their
	// elements. It allocates nothing, and many goroutines call it at once.
	Decode func(dst, src []byte)

	// DecodeRows is Decode of rows of so many blocks, which lie at the given places of src;
	// their elements follow each other in dst. It is nil where it would be no faster than
	// Decode of each.
	DecodeRows func(dst, src []byte, at []int64, blocks int)

	// Scattered writes the elements first … first+n-1 of each of the blocks that lie at the
	// given places of src to dst, one part behind the other. It takes no longer for a part
	// than the part is long. It is nil where a part needs the decode of its block.
	Scattered func(dst, src []byte, at []int64, first, n int)

	// Add adds the elements of a block, from first on, times a weight, to the sums in dst,
	// which are little-endian f32. It is the definition of Sum, and nil where blocks are
	// decoded, and elements then added.
	Add func(dst, block []byte, first int, weight float32)

	// Sum adds parts of blocks as kernel.ReduceBags does rows, from element first on; a row
	// of the terms is the place of a block in src. It is nil where Add is.
	Sum func(dst, src []byte, t kernel.Terms, b kernel.Bags, first int)
}

// GGUF returns the codec of a kind of GGUF, by the name that the format gives it;
// false for a name without one. Adding a kind is one entry of this table, and its
// function in gguf.go.
func GGUF(name string) (*Codec, bool) {
	for _, c := range gguf {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// KindsOfGGUF lists the names that GGUF takes.
func KindsOfGGUF() string {
	names := make([]string, len(gguf))
	for i, c := range gguf {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// gguf lists the kinds that are read as numbers (QB.1).
var gguf = []*Codec{
	{Name: "F16", Elements: 1, Bytes: 2, Decode: func(dst, src []byte) { kernel.Convert(dst, src, kernel.F16ToF32) }},
	{Name: "BF16", Elements: 1, Bytes: 2, Decode: bf16},
	fast(blocks("Q4_0", 32, 18, q4_0), kernel.Nibbles, &lessEight),
	blocks("Q4_1", 32, 20, q4_1),
	blocks("Q5_0", 32, 22, q5_0),
	blocks("Q5_1", 32, 24, q5_1),
	fast(blocks("Q8_0", 32, 34, q8_0), kernel.Q8_0, nil),
	blocks("Q2_K", 256, 84, q2_k),
	blocks("Q3_K", 256, 110, q3_k),
	fast(blocks("Q4_K", 256, 144, q4_k), kernel.Q4_K, nil),
	fast(blocks("Q5_K", 256, 176, q5_k), kernel.Q5_K, nil),
	fast(blocks("Q6_K", 256, 210, q6_k), kernel.Q6_K, nil),
	fast(blocks("IQ4_NL", 32, 18, iq4_nl), kernel.Nibbles, &iq4),
	blocks("IQ4_XS", 256, 136, iq4_xs),
	blocks("TQ1_0", 256, 54, tq1_0),
	blocks("TQ2_0", 256, 66, tq2_0),
	fast(blocks("MXFP4", 32, 17, mxfp4), kernel.MXFP4, &twiceE2M1),
	blocks("NVFP4", 64, 36, nvfp4),
}

// blocks returns the codec of a kind, given the function that decodes one block of
// it: src has the block's bytes, dst 4 bytes for each of its elements.
func blocks(name string, elements, bytes int, block func(dst, src []byte)) *Codec {
	return &Codec{Name: name, Elements: elements, Bytes: bytes, Decode: func(dst, src []byte) {
		for ; len(src) > 0; dst, src = dst[4*elements:], src[bytes:] {
			block(dst[:4*elements], src[:bytes])
		}
	}}
}

// fast gives a codec the kernels of a kind. values has the values of the codes, where the
// kind has a table of them.
func fast(c *Codec, kind kernel.Stored, values *[16]int8) *Codec {
	definition := c.Decode
	c.DecodeRows = func(dst, src []byte, at []int64, blocks int) {
		if kernel.Decode(kind, values, dst, src, at, blocks) {
			return
		}
		row, out := blocks*c.Bytes, 4*blocks*c.Elements
		for j, at := range at {
			definition(dst[j*out:(j+1)*out], src[at:int(at)+row])
		}
	}
	c.Decode = func(dst, src []byte) { c.DecodeRows(dst, src, begin, len(src)/c.Bytes) }
	return c
}
