// Package float converts the bits of narrow floating-point formats, of 4, 8 and
// 16 bits, to numbers and back. It is the only package that knows how their bits
// are laid out. The formats and their rounding are those of ml_dtypes.
package float

import "math"

// A Format is a float of a sign bit, an exponent and a mantissa. A code is its
// bits. Below the sign bit, a greater code is a greater magnitude. Every finite
// value of a Format is exact in float32.
type Format struct {
	Bits     int    // width of a code
	Mantissa int    // width of the mantissa, in bits
	Bias     int    // the exponent field of 1.0
	Max      uint64 // code of the greatest finite magnitude
	Overflow uint64 // code of a magnitude that rounds to more than Max
	NaN      uint64 // code of the default NaN
	Infinite bool   // Overflow is Infinity; the codes above it are NaNs
	FNUZ     bool   // there is no negative zero; its code is the only NaN
	NoNaN    bool   // every code is a number
}

// The formats that frameworks store tensors in.
var (
	Float16  = &Format{Bits: 16, Mantissa: 10, Bias: 15, Max: 0x7bff, Overflow: 0x7c00, NaN: 0x7e00, Infinite: true}
	BFloat16 = &Format{Bits: 16, Mantissa: 7, Bias: 127, Max: 0x7f7f, Overflow: 0x7f80, NaN: 0x7fc0, Infinite: true}
	E5M2     = &Format{Bits: 8, Mantissa: 2, Bias: 15, Max: 0x7b, Overflow: 0x7c, NaN: 0x7e, Infinite: true}
	E4M3FN   = &Format{Bits: 8, Mantissa: 3, Bias: 7, Max: 0x7e, Overflow: 0x7f, NaN: 0x7f}
	E4M3FNUZ = &Format{Bits: 8, Mantissa: 3, Bias: 8, Max: 0x7f, Overflow: 0x80, NaN: 0x80, FNUZ: true}
	E5M2FNUZ = &Format{Bits: 8, Mantissa: 2, Bias: 16, Max: 0x7f, Overflow: 0x80, NaN: 0x80, FNUZ: true}
	E2M1     = &Format{Bits: 4, Mantissa: 1, Bias: 1, Max: 0x7, Overflow: 0x7, NoNaN: true}
)

// Formats are the formats by the names of their dtypes.
var Formats = map[string]*Format{
	"f16": Float16, "bf16": BFloat16, "f8e4m3fn": E4M3FN, "f8e5m2": E5M2, "f8e4m3fnuz": E4M3FNUZ, "f8e5m2fnuz": E5M2FNUZ, "f4e2m1": E2M1,
}

// Layout of float32 and float64.
const (
	mantissa32, bias32 = 23, 127
	mantissa64, bias64 = 52, 1023
	quiet32            = 0x7fc0_0000 // exponent and first mantissa bit of a quiet NaN
	quiet64            = 0x7ff8_0000_0000_0000
)

// Decode returns the value of a code, exactly. A NaN keeps its sign and its
// payload and becomes quiet; the one NaN of a FNUZ format has neither.
func (f *Format) Decode(code uint64) float32 {
	sign := code >> (f.Bits - 1)
	magnitude := code &^ (1 << (f.Bits - 1))
	exponent, fraction := int(magnitude>>f.Mantissa), magnitude&(1<<f.Mantissa-1)
	widened := uint32(fraction) << (mantissa32 - f.Mantissa)
	var bits uint32
	switch {
	case f.FNUZ && code == f.NaN:
		return math.Float32frombits(quiet32)
	case magnitude > f.Max && f.Infinite && magnitude == f.Overflow:
		bits = 0x7f800000
	case magnitude > f.Max:
		bits = quiet32 | widened
	case exponent == 0: // zero, or subnormal in f and mostly not in float32
		least := math.Float64frombits(uint64(1-f.Bias-f.Mantissa+bias64) << mantissa64)
		bits = math.Float32bits(float32(float64(fraction) * least))
	default:
		bits = uint32(exponent-f.Bias+bias32)<<mantissa32 | widened
	}
	return math.Float32frombits(uint32(sign)<<31 | bits)
}

// Encode returns the code nearest to a number, of two as near the even one. What
// rounds to more than the greatest finite magnitude becomes Overflow.
//
// Where v is the number itself, beside is nil. Where v is only the float64
// nearest to the number, beside(|v|) returns the sign of the number's magnitude
// less |v|. Encode calls it where |v| lies halfway between two codes: only there
// does a difference too small for float64 decide.
//
// v is no NaN.
func (f *Format) Encode(v float64, beside func(v float64) int) uint64 {
	const mask = 1<<mantissa64 - 1
	abs := math.Float64bits(math.Abs(v))
	exponent, significand := int(abs>>mantissa64)-bias64+f.Bias, abs&mask
	drop := mantissa64 - f.Mantissa // bits that f has no room for
	if exponent <= 0 {              // subnormal in f: the leading 1 is in the mantissa
		significand |= 1 << mantissa64
		drop = min(drop+1-exponent, 63)
		exponent = 0
	}
	code := uint64(exponent)<<f.Mantissa + significand>>drop
	switch rest, half := significand&(1<<drop-1), uint64(1)<<(drop-1); {
	case rest > half:
		code++
	case rest == half:
		more := 0
		if beside != nil {
			more = beside(math.Abs(v))
		}
		if more > 0 || more == 0 && code&1 == 1 {
			code++
		}
	}
	switch {
	case code > f.Max && !f.Infinite && !f.NoNaN:
		return f.NaN
	case code > f.Max:
		code = f.Overflow
	case code == 0 && f.FNUZ:
		return 0
	}
	if math.Signbit(v) {
		code |= 1 << (f.Bits - 1)
	}
	return code
}

// Round returns the code nearest to v, as Encode does. A NaN becomes quiet; in a
// format with Infinity it keeps its sign and the leading bits of its payload.
// f has a NaN.
func (f *Format) Round(v float32) uint64 {
	if v == v {
		return f.Encode(float64(v), nil)
	}
	if !f.Infinite {
		return f.NaN
	}
	bits := uint64(math.Float32bits(v))
	sign, payload := bits>>31<<(f.Bits-1), bits&(1<<mantissa32-1)>>(mantissa32-f.Mantissa)
	return sign | f.NaN | payload
}

// AwayFromZero returns the code of the bf16 nearest to v, of two as near the one farther
// from 0. A NaN becomes quiet.
func AwayFromZero(v float32) uint64 {
	if v != v {
		return BFloat16.Round(v)
	}
	return uint64(math.Float32bits(v)+1<<15) >> 16
}

// FMA returns a·b + c, rounded once, to the nearest, of two as near the even one.
func FMA(a, b, c float32) float32 {
	const low = mantissa64 - mantissa32   // bits that float32 has no room for
	p := float64(float64(a) * float64(b)) // exact: 24 + 24 bits
	s := float64(p + float64(c))
	// s is rounded to 53 bits. Where it lies halfway between two float32, rounding it
	// again can give another number than rounding the exact sum once. A sum that is
	// rounded to odd does not lie there unless it is exact. Subnormals have fewer bits,
	// so that others lie halfway too.
	bits := math.Float64bits(s)
	if exponent := int(bits >> mantissa64 & 0x7ff); bits&1 == 0 && (bits&(1<<low-1) == 1<<(low-1) || exponent <= bias64-bias32+1) {
		t := s - p
		switch lost := (p - (s - t)) + (float64(c) - t); { // exact (Knuth); NaN of infinities
		case lost > 0 && s > 0, lost < 0 && s < 0:
			bits++
		case lost > 0, lost < 0:
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// Double returns the value of a float32, given and returned as its bits. A NaN
// becomes quiet and keeps its sign and its payload, which a conversion of the
// processor does not promise.
func Double(bits uint32) uint64 {
	v := math.Float32frombits(bits)
	if v == v {
		return math.Float64bits(float64(v))
	}
	return uint64(bits>>31)<<63 | quiet64 | uint64(bits&(1<<mantissa32-1))<<(mantissa64-mantissa32)
}

// Single returns the float32 nearest to a float64, of two as near the even one,
// both as their bits. A NaN becomes quiet and keeps its sign and the leading bits
// of its payload.
func Single(bits uint64) uint32 {
	v := math.Float64frombits(bits)
	if v == v {
		return math.Float32bits(float32(v))
	}
	return uint32(bits>>63)<<31 | quiet32 | uint32(bits>>(mantissa64-mantissa32))&(1<<mantissa32-1)
}

// E8M0NaN is the one code of E8M0 that is no number.
const E8M0NaN = 0xff

const e8m0Bias = 127

// DecodeE8M0 returns the value of a code of E8M0, which is an exponent alone:
// 2^-127 … 2^127.
func DecodeE8M0(code uint64) float64 {
	if code == E8M0NaN {
		return math.NaN()
	}
	return math.Ldexp(1, int(code)-e8m0Bias)
}

// EncodeE8M0 returns the code of the power of two nearest to v, of two as near
// the greater one; below 2^-127 the code of that, above 2^127 the NaN. v is not
// negative and no NaN. See Format.Encode for beside.
func EncodeE8M0(v float64, beside func(v float64) int) uint64 {
	fraction, exponent := math.Frexp(v) // fraction in [½, 1)
	exponent--
	if fraction > 0.75 || fraction == 0.75 && (beside == nil || beside(v) >= 0) {
		exponent++
	}
	if v == 0 {
		exponent = -e8m0Bias
	}
	if math.IsInf(v, 1) || exponent > e8m0Bias {
		return E8M0NaN
	}
	return uint64(max(exponent, -e8m0Bias) + e8m0Bias)
}

// NF4 is the sixteen values of 4-bit NormalFloat by their codes, ascending. They
// are those of the QLoRA paper (arXiv 2305.14314, appendix E), which
// bitsandbytes and OpenVINO both hold.
var NF4 = [16]float32{
	-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
	-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
	0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
	0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
}

// EncodeNF4 returns the code of the value of NF4 nearest to v, of two as near
// the lower one. v is no NaN. See Format.Encode for beside; here it gets v with
// its sign, and compares numbers, not magnitudes.
func EncodeNF4(v float64, beside func(v float64) int) uint64 {
	code := uint64(0)
	for i := range len(NF4) - 1 {
		middle := (float64(NF4[i]) + float64(NF4[i+1])) / 2
		if v > middle || v == middle && beside != nil && beside(v) > 0 {
			code = uint64(i) + 1
		}
	}
	return code
}

// Values returns the function that gives the value of a code of a dtype of 16 bits or
// fewer, by the name of the dtype; nil for one that is no such float. A NaN keeps its sign
// and its payload and becomes quiet.
func Values(name string) func(code uint64) float32 {
	switch name {
	case "nf4":
		return func(code uint64) float32 { return NF4[code] }
	case "f8e8m0":
		return func(code uint64) float32 { return math.Float32frombits(Single(math.Float64bits(DecodeE8M0(code)))) }
	}
	if f := Formats[name]; f != nil {
		return f.Decode
	}
	return nil
}
