package garner

import (
	"math"

	"github.com/garner-go/garner/internal/float"
)

// An arithmetic is how a dtype calculates, on the bits of its elements: the
// definition of the reductions.
type arithmetic struct {
	add, mul, div func(a, b uint64) uint64
	fma           func(a, b, c uint64) uint64 // a·b + c, rounded once; nil for integers
	greater       func(a, b uint64) bool
	of            func(n int) uint64    // a number of terms, rounded
	sqrt          func(a uint64) uint64 // nil for integers
}

// arithmetics has the dtypes that bags take.
var arithmetics = map[DType]arithmetic{
	I8: signedIntegers(I8), I16: signedIntegers(I16), I32: signedIntegers(I32), I64: signedIntegers(I64),
	U8: unsignedIntegers(U8), U16: unsignedIntegers(U16), U32: unsignedIntegers(U32), U64: unsignedIntegers(U64),
	F16: floats32, BF16: floats32, F32: floats32, F64: floats64,
}

// signedIntegers wrap; quotients round toward zero.
func signedIntegers(d DType) arithmetic {
	mask := uint64(math.MaxUint64) >> (64 - d.Bits())
	return arithmetic{
		add:     func(a, b uint64) uint64 { return (a + b) & mask },
		mul:     func(a, b uint64) uint64 { return (a * b) & mask },
		div:     func(a, b uint64) uint64 { return uint64(signed(d, a)/int64(b)) & mask },
		greater: func(a, b uint64) bool { return signed(d, a) > signed(d, b) },
		of:      func(n int) uint64 { return uint64(n) },
	}
}

func unsignedIntegers(d DType) arithmetic {
	mask := uint64(math.MaxUint64) >> (64 - d.Bits())
	return arithmetic{
		add:     func(a, b uint64) uint64 { return (a + b) & mask },
		mul:     func(a, b uint64) uint64 { return (a * b) & mask },
		div:     func(a, b uint64) uint64 { return a / b },
		greater: func(a, b uint64) bool { return a > b },
		of:      func(n int) uint64 { return uint64(n) },
	}
}

// narrowFloats are the dtypes that are reduced as f32.
var narrowFloats = map[DType]*float.Format{F16: float.Float16, BF16: float.BFloat16}

var floats32 = func() arithmetic {
	value := func(a uint64) float32 { return math.Float32frombits(uint32(a)) }
	code := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	return arithmetic{
		add:     func(a, b uint64) uint64 { return code(value(a) + value(b)) },
		mul:     func(a, b uint64) uint64 { return code(value(a) * value(b)) },
		fma:     func(a, b, c uint64) uint64 { return code(float.FMA(value(a), value(b), value(c))) },
		div:     func(a, b uint64) uint64 { return code(value(a) / value(b)) },
		greater: func(a, b uint64) bool { return value(a) > value(b) },
		of:      func(n int) uint64 { return code(float32(n)) },
		sqrt:    func(a uint64) uint64 { return code(float32(math.Sqrt(float64(value(a))))) },
	}
}()

var floats64 = arithmetic{
	add: func(a, b uint64) uint64 { return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b)) },
	mul: func(a, b uint64) uint64 { return math.Float64bits(math.Float64frombits(a) * math.Float64frombits(b)) },
	fma: func(a, b, c uint64) uint64 {
		return math.Float64bits(math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)))
	},
	div:     func(a, b uint64) uint64 { return math.Float64bits(math.Float64frombits(a) / math.Float64frombits(b)) },
	greater: func(a, b uint64) bool { return math.Float64frombits(a) > math.Float64frombits(b) },
	of:      func(n int) uint64 { return math.Float64bits(float64(n)) },
	sqrt:    func(a uint64) uint64 { return math.Float64bits(math.Sqrt(math.Float64frombits(a))) },
}
