package gguf

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/source"
)

// A kind is a storage type of the format: a number of elements per block and a
// number of bytes per block.
type kind struct {
	name         string
	dtype        garner.DType // of the elements read; Invalid where only blocks can be read
	block, bytes int
	codec        *source.Codec // nil where a block is an element, or is not dequantised
}

// kinds are the kinds of the reference (gguf 0.19.0, GGML_QUANT_SIZES), by the
// format's numbers.
var kinds = map[uint32]kind{
	0:  plain("F32", garner.F32),
	1:  plain("F16", garner.F16),
	2:  dequantised("Q4_0"),
	3:  dequantised("Q4_1"),
	6:  dequantised("Q5_0"),
	7:  dequantised("Q5_1"),
	8:  dequantised("Q8_0"),
	9:  stored("Q8_1", 32, 40),
	10: dequantised("Q2_K"),
	11: dequantised("Q3_K"),
	12: dequantised("Q4_K"),
	13: dequantised("Q5_K"),
	14: dequantised("Q6_K"),
	15: stored("Q8_K", 256, 292),
	16: stored("IQ2_XXS", 256, 66),
	17: stored("IQ2_XS", 256, 74),
	18: stored("IQ3_XXS", 256, 98),
	19: stored("IQ1_S", 256, 50),
	20: dequantised("IQ4_NL"),
	21: stored("IQ3_S", 256, 110),
	22: stored("IQ2_S", 256, 82),
	23: dequantised("IQ4_XS"),
	24: plain("I8", garner.I8),
	25: plain("I16", garner.I16),
	26: plain("I32", garner.I32),
	27: plain("I64", garner.I64),
	28: plain("F64", garner.F64),
	29: stored("IQ1_M", 256, 56),
	30: plain("BF16", garner.BF16),
	34: dequantised("TQ1_0"),
	35: dequantised("TQ2_0"),
	39: dequantised("MXFP4"),
	40: dequantised("NVFP4"),
	41: stored("Q1_0", 128, 18),
}

// plain returns a kind whose blocks are elements.
func plain(name string, dtype garner.DType) kind {
	return kind{name, dtype, 1, dtype.Bits() / 8, nil}
}

// dequantised returns a kind of package codec, which is read as f32.
func dequantised(name string) kind {
	c, ok := codec.GGUF(name)
	if !ok {
		panic("gguf: no codec " + name)
	}
	stored := &source.Codec{Elements: c.Elements, Bytes: c.Bytes, Decode: c.Decode}
	if c.DecodeRows != nil {
		stored.Scattered = func(dst, src []byte, at []int64) {
			c.DecodeRows(dst, src, at, len(dst)/(4*c.Elements*max(len(at), 1)))
		}
	}
	return kind{name, garner.F32, c.Elements, c.Bytes, stored}
}

// stored returns a kind of which only the blocks can be read.
func stored(name string, elements, bytes int) kind {
	return kind{name, garner.Invalid, elements, bytes, nil}
}
