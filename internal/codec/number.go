package codec

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/garner-go/garner/internal/float"
)

// A Number is a form in which an operand of Blocks stores a value.
type Number uint8

// The forms. Codes have 8 bits or fewer; scales and zero points any form.
const (
	None Number = iota // no operand
	I2
	U2
	I4
	U4
	NF4
	F4E2M1
	I8
	U8
	F8E4M3FN
	F8E5M2
	F8E4M3FNUZ
	F8E5M2FNUZ
	F8E8M0
	F16
	BF16
	F32
)

// numbers has the name and the width in bits of each form, and the value of a code of
// the integers of up to 8 bits.
var numbers = [...]struct {
	name  string
	bits  int
	value func(code uint64) float32
}{
	None:       {"none", 0, nil},
	I2:         {"i2", 2, func(code uint64) float32 { return float32(int8(code<<6) >> 6) }},
	U2:         {"u2", 2, unsigned},
	I4:         {"i4", 4, func(code uint64) float32 { return float32(int8(code<<4) >> 4) }},
	U4:         {"u4", 4, unsigned},
	NF4:        {"nf4", 4, nil},
	F4E2M1:     {"f4e2m1", 4, nil},
	I8:         {"i8", 8, func(code uint64) float32 { return float32(int8(code)) }},
	U8:         {"u8", 8, unsigned},
	F8E4M3FN:   {"f8e4m3fn", 8, nil},
	F8E5M2:     {"f8e5m2", 8, nil},
	F8E4M3FNUZ: {"f8e4m3fnuz", 8, nil},
	F8E5M2FNUZ: {"f8e5m2fnuz", 8, nil},
	F8E8M0:     {"f8e8m0", 8, nil},
	F16:        {"f16", 16, nil},
	BF16:       {"bf16", 16, nil},
	F32:        {"f32", 32, nil},
}

func unsigned(code uint64) float32 { return float32(code) }

// NumberOf returns the form of a name, which is that of garner's dtype; false for a
// dtype that no operand of Blocks may have.
func NumberOf(name string) (Number, bool) {
	for n, form := range numbers {
		if form.name == name && Number(n) != None {
			return Number(n), true
		}
	}
	return None, false
}

// Bits returns the width of a value. Values narrower than a byte lie side by side,
// the first in the lowest bits of a byte.
func (n Number) Bits() int { return numbers[n].bits }

// String returns garner's name of the form.
func (n Number) String() string {
	if int(n) >= len(numbers) {
		return fmt.Sprintf("number(%d)", uint8(n))
	}
	return numbers[n].name
}

// values returns the values of the codes of every form of up to 8 bits. There are two
// more tables after those of the forms: the values of NF4 rounded to f16 and to bf16.
var values = sync.OnceValue(func() *[len(numbers) + 2][256]float32 {
	v := new([len(numbers) + 2][256]float32)
	for n, form := range numbers {
		value := form.value
		if value == nil {
			value = float.Values(form.name)
		}
		if value == nil || form.bits > 8 {
			continue
		}
		for code := range uint64(1) << form.bits {
			v[n][code] = value(code)
		}
	}
	for code, value := range float.NF4 {
		v[nf4InF16][code] = round(float.Float16, value)
		v[nf4InBF16][code] = round(float.BFloat16, value)
	}
	return v
})

const (
	nf4InF16 = len(numbers) + iota
	nf4InBF16
)

func round(f *float.Format, v float32) float32 { return f.Decode(f.Round(v)) }

// table returns the values of codes under a scale of another form. A code is first
// converted to the form of the scale. Only for NF4 does that round.
func (n Number) table(scale Number) *[256]float32 {
	at := int(n)
	switch {
	case n == NF4 && scale == F16:
		at = nf4InF16
	case n == NF4 && scale == BF16:
		at = nf4InBF16
	}
	return &values()[at]
}

// at returns the value that begins at a bit of b.
func (n Number) at(b []byte, bit int64) float32 {
	b = b[bit/8:]
	switch n {
	case F16:
		return half(b)
	case BF16:
		return float.BFloat16.Decode(uint64(binary.LittleEndian.Uint16(b)))
	case F32:
		return single(b)
	}
	return n.table(F32)[b[0]>>(bit%8)&(1<<n.Bits()-1)]
}

// write writes v in the form: F16, BF16 or F32.
func (n Number) write(dst []byte, v float32) {
	if n == F32 {
		put(dst, v)
		return
	}
	n.writeHalf(dst, v)
}

func (n Number) writeHalf(dst []byte, v float32) {
	format := float.Float16
	if n == BF16 {
		format = float.BFloat16
	}
	binary.LittleEndian.PutUint16(dst, uint16(format.Round(v)))
}
