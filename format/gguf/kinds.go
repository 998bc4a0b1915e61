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

// kinds are the kinds of the format by its numbers: those whose blocks are elements, and
// those of package codec.
var kinds = func() map[uint32]kind {
	all := map[uint32]kind{
		0:  plain("F32", garner.F32),
		1:  plain("F16", garner.F16),
		24: plain("I8", garner.I8),
		25: plain("I16", garner.I16),
		26: plain("I32", garner.I32),
		27: plain("I64", garner.I64),
		28: plain("F64", garner.F64),
		30: plain("BF16", garner.BF16),
	}
	for _, c := range codec.AllOfGGUF() {
		if _, plain := all[c.Number]; !plain {
			all[c.Number] = quantised(c)
		}
	}
	return all
}()

// decoded reports whether package codec decodes a kind.
func decoded(name string) bool {
	_, ok := codec.GGUF(name)
	return ok
}

// plain returns a kind whose blocks are elements.
func plain(name string, dtype garner.DType) kind {
	return kind{name, dtype, 1, dtype.Bits() / 8, nil}
}

// quantised returns a kind of package codec, which is read as f32 where it is decoded.
func quantised(c *codec.Codec) kind {
	if c.Decode == nil {
		return kind{c.Name, garner.Invalid, c.Elements, c.Bytes, nil}
	}
	stored := &source.Codec{Elements: c.Elements, Bytes: c.Bytes, Decode: c.Decode}
	if c.DecodeRows != nil {
		stored.Scattered = func(dst, src []byte, at []int64) {
			c.DecodeRows(dst, src, at, len(dst)/(4*c.Elements*max(len(at), 1)))
		}
	}
	return kind{c.Name, garner.F32, c.Elements, c.Bytes, stored}
}
