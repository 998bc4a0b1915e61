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
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/kernel"
)

// A Codec is a kind of block. It stores Elements numbers in Bytes bytes.
type Codec struct {
	Name     string
	Number   uint32 // of a kind of GGUF, in the format
	Elements int    // of a block
	Bytes    int    // of a block

	// Decode writes the elements of whole blocks to dst as little-endian f32. src
	// holds the blocks, a multiple of Bytes; dst has 4 bytes for each of their
	// elements. It allocates nothing, and many goroutines call it at once. It is nil for a
	// kind of GGUF that is read as bytes alone.
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
// false for a name without one.
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

// AllOfGGUF lists the kinds of GGUF that have blocks, also those that GGUF does not
// take: their Decode is nil.
func AllOfGGUF() []*Codec { return slices.Clone(kinds) }

// gguf lists the kinds that are read as numbers (QB.1).
var gguf = slices.DeleteFunc(AllOfGGUF(), func(c *Codec) bool { return c.Decode == nil })

// kinds lists the kinds of the reference (gguf 0.19.0, GGML_QUANT_SIZES) that have
// blocks. The last of them are read as bytes alone. To add a kind, or to read one as
// numbers, give an entry its function in gguf.go: the operators, the files and the random
// gathers of gathertest take the kinds from here.
var kinds = []*Codec{
	{Name: "F16", Number: 1, Elements: 1, Bytes: 2, Decode: func(dst, src []byte) { kernel.Convert(dst, src, kernel.F16BitsToF32) }},
	{Name: "BF16", Number: 30, Elements: 1, Bytes: 2, Decode: bf16},
	fast(blocks(2, "Q4_0", 32, 18, q4_0), kernel.Nibbles, &lessEight),
	blocks(3, "Q4_1", 32, 20, q4_1),
	blocks(6, "Q5_0", 32, 22, q5_0),
	blocks(7, "Q5_1", 32, 24, q5_1),
	fast(blocks(8, "Q8_0", 32, 34, q8_0), kernel.Q8_0, nil),
	blocks(10, "Q2_K", 256, 84, q2_k),
	blocks(11, "Q3_K", 256, 110, q3_k),
	fast(blocks(12, "Q4_K", 256, 144, q4_k), kernel.Q4_K, nil),
	fast(blocks(13, "Q5_K", 256, 176, q5_k), kernel.Q5_K, nil),
	fast(blocks(14, "Q6_K", 256, 210, q6_k), kernel.Q6_K, nil),
	fast(blocks(20, "IQ4_NL", 32, 18, iq4_nl), kernel.Nibbles, &iq4),
	blocks(23, "IQ4_XS", 256, 136, iq4_xs),
	blocks(34, "TQ1_0", 256, 54, tq1_0),
	blocks(35, "TQ2_0", 256, 66, tq2_0),
	fast(blocks(39, "MXFP4", 32, 17, mxfp4), kernel.MXFP4, &twiceE2M1),
	blocks(40, "NVFP4", 64, 36, nvfp4),

	blocks(9, "Q8_1", 32, 40, nil),
	blocks(15, "Q8_K", 256, 292, nil),
	blocks(16, "IQ2_XXS", 256, 66, nil),
	blocks(17, "IQ2_XS", 256, 74, nil),
	blocks(18, "IQ3_XXS", 256, 98, nil),
	blocks(19, "IQ1_S", 256, 50, nil),
	blocks(21, "IQ3_S", 256, 110, nil),
	blocks(22, "IQ2_S", 256, 82, nil),
	blocks(29, "IQ1_M", 256, 56, nil),
	blocks(41, "Q1_0", 128, 18, nil),
}

// blocks returns the codec of a kind, given the function that decodes one block of
// it: src has the block's bytes, dst 4 bytes for each of its elements. Without a
// function the codec decodes nothing.
func blocks(number uint32, name string, elements, bytes int, block func(dst, src []byte)) *Codec {
	c := &Codec{Name: name, Number: number, Elements: elements, Bytes: bytes}
	if block != nil {
		c.Decode = func(dst, src []byte) {
			for ; len(src) > 0; dst, src = dst[4*elements:], src[bytes:] {
				block(dst[:4*elements], src[:bytes])
			}
		}
	}
	return c
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
