package onnx

import "github.com/garner-go/garner"

// MicrosoftGatherBlockQuantized1 is GatherBlockQuantized of the domain com.microsoft:
// slices of a table whose elements are codes, decoded. Along one axis, blocks of codes
// share a scale and a zero point, which are further operands.
//
//	table = (data - zero_points)·scales
//	output[p…, i…, q…] = table[p…, indices[i…], q…]
//
// A negative index counts from the end of the axis, and an index outside the axis
// yields zeros. Bytes of u8 hold codes of Bits bits, the first in the lowest.
//
// Spec: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherBlockQuantized
type MicrosoftGatherBlockQuantized1 struct {
	GatherAxis   int  `attr:"gather_axis"`   // -r … r-1
	QuantizeAxis *int `attr:"quantize_axis"` // -r … r-1, along which the blocks lie; nil: 1
	BlockSize    *int `attr:"block_size"`    // a power of two, 16 or more; 0, of codes that are floats: all of the axis; nil: 128
	Bits         *int `attr:"bits"`          // of a code in data of u8: 8, 4 or 2; nil: 4
}

var blockOperands = []garner.Operand{{Name: "scales"}, {Name: "zero_points", Types: garner.DataType, Optional: true}}

// Operands returns scales and zero_points; see garner.Operander.
func (MicrosoftGatherBlockQuantized1) Operands() []garner.Operand { return blockOperands }

// Lower spends the operands' axes; see garner.Op.
func (g MicrosoftGatherBlockQuantized1) Lower(l *garner.Lowering) {
	data := l.Data().DType
	c := garner.Codes{Scales: "scales", Zeros: "zero_points", Block: or(g.BlockSize, 128)}
	bits := or(g.Bits, 4)
	switch data { // MB.1
	case garner.I4, garner.U4:
		if bits != 4 { // MB.2
			l.FailAttribute("bits %d of data %s, whose codes have 4", bits, data)
		}
	case garner.U8:
		if c.Bits = bits; bits != 8 && bits != 4 && bits != 2 { // MB.2
			l.FailAttribute("bits %d; it may be 8, 4 or 2", bits)
		} else {
			c.Zero = float32(int(1) << (bits - 1)) // MB.7
		}
	case garner.F8E4M3FN, garner.F8E5M2, garner.F8E4M3FNUZ, garner.F8E5M2FNUZ, garner.F4E2M1:
		c.Broadcast = true                               // MB.6
		if _, given := l.Operand("zero_points"); given { // MB.7
			l.FailAttribute("zero_points are given; codes of %s have none", data)
		}
	default:
		l.FailDType("data is %s; it may be i4, u4, u8, a type of f8 or f4e2m1", data)
	}
	if c.Block < 16 && !(c.Block == 0 && c.Broadcast) || c.Block&(c.Block-1) != 0 { // MB.3
		l.FailAttribute("block_size %d; it may be a power of two from 16 on", c.Block)
	}
	l.NeedRanks(1, 0)                                                     // MB.4
	c.Axis = l.Axis(or(g.QuantizeAxis, 1))                                // MB.4
	gathered := l.Axis(g.GatherAxis)                                      // MB.4
	if data == garner.U8 && gathered != 0 && gathered != garner.Unknown { // MB.5
		l.FailAttribute("gather_axis %d; data of u8 is gathered along axis 0", g.GatherAxis)
	}
	if data == garner.U8 && bits < 8 && gathered == c.Axis && gathered != garner.Unknown { // MB.5
		l.FailAttribute("gather_axis and quantize_axis are both %d; codes of %d bits lie along the one and not the other", gathered, bits)
	}
	l.StoredCodes(c) // MB.6
	l.Outer(gathered)
	l.Gather()
	l.Tuples()
	l.Copy()
	l.Negative(garner.FromEnd) // MB.8
	l.Outside(garner.Zero)     // MB.8
}

// or returns the value of an attribute, or its default.
func or(v *int, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return *v
}
