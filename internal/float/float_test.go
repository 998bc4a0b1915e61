package float_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/garner-go/garner/internal/float"
)

// magnitude is the definition of a finite value: fraction · 2^exponent, codes
// past Max included as if the exponents went on.
func magnitude(f *float.Format, code uint64) float64 {
	exponent, fraction := int(code>>f.Mantissa), float64(code&(1<<f.Mantissa-1))/float64(uint64(1)<<f.Mantissa)
	if exponent == 0 {
		return fraction * math.Pow(2, float64(1-f.Bias))
	}
	return (1 + fraction) * math.Pow(2, float64(exponent-f.Bias))
}

// decode is the definition of Decode, a NaN aside.
func decode(f *float.Format, code uint64) float64 {
	sign := uint64(1) << (f.Bits - 1)
	v := math.NaN()
	switch below := code &^ sign; {
	case f.FNUZ && code == f.NaN:
		return v
	case below <= f.Max:
		v = magnitude(f, below)
	case f.Infinite && below == f.Overflow:
		v = math.Inf(1)
	}
	if code&sign != 0 {
		v = -v
	}
	return v
}

// encode is the definition of Encode: of all codes the one nearest to v, the
// distances being exact.
func encode(f *float.Format, v float64) uint64 {
	abs := math.Abs(v)
	code := uint64(sort.Search(int(f.Max)+1, func(code int) bool { return magnitude(f, uint64(code)+1) > abs }))
	if code <= f.Max {
		exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
		down := new(big.Rat).Sub(exact(abs), exact(magnitude(f, code)))
		up := new(big.Rat).Sub(exact(magnitude(f, code+1)), exact(abs))
		if order := down.Cmp(up); order > 0 || order == 0 && code%2 == 1 {
			code++
		}
	}
	switch {
	case code > f.Max && (f.Infinite || f.NoNaN):
		code = f.Overflow
	case code > f.Max:
		return f.NaN
	case code == 0 && f.FNUZ:
		return 0
	}
	if math.Signbit(v) {
		code |= 1 << (f.Bits - 1)
	}
	return code
}

func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

// TestDecode holds every code of every format, all 65,536 of f16 and of bf16,
// against the definition.
func TestDecode(t *testing.T) {
	for name, f := range float.Formats {
		for code := uint64(0); code < 1<<f.Bits; code++ {
			if got, want := float64(f.Decode(code)), decode(f, code); !same(got, want) {
				t.Errorf("%s %#x is %v, want %v", name, code, got, want)
			}
		}
	}
}

// TestRound holds that every code of every format comes back from its value,
// NaNs with sign and payload where the format has Infinity.
func TestRound(t *testing.T) {
	for name, f := range float.Formats {
		for code := uint64(0); code < 1<<f.Bits; code++ {
			v := f.Decode(code)
			want := code
			if v != v {
				if want = f.NaN; f.Infinite {
					want |= code // quiet
				}
			}
			if got := f.Round(v); got != want {
				t.Errorf("%s %#x is %v, which rounds to %#x, want %#x", name, code, v, got, want)
			}
		}
	}
}

// TestNaNPayload holds that float32's NaNs become quiet and keep what fits of
// their payload.
func TestNaNPayload(t *testing.T) {
	for bits, want := range map[uint32]uint64{
		0x7fc00000: 0x7e00, 0x7f800001: 0x7e00, 0xffc00000: 0xfe00, 0x7f802000: 0x7e01, 0xffffffff: 0xffff,
	} {
		if got := float.Float16.Round(math.Float32frombits(bits)); got != want {
			t.Errorf("f16 of NaN %#x is %#x, want %#x", bits, got, want)
		}
	}
	for code, want := range map[uint64]uint32{0x7e00: 0x7fc00000, 0x7c01: 0x7fc02000, 0xfdff: 0xffffe000, 0xffff: 0xffffe000} {
		if got := math.Float32bits(float.Float16.Decode(code)); got != want {
			t.Errorf("f16 %#x is NaN %#x, want %#x", code, got, want)
		}
	}
	if got := float.BFloat16.Round(math.Float32frombits(0xff812345)); got != 0xffc1 {
		t.Errorf("bf16 of a NaN is %#x", got)
	}
}

// TestEncode holds rounding against the definition at every code, at every
// number halfway between two codes, at the float64 on either side of each, and
// at random numbers of every magnitude.
func TestEncode(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, f := range float.Formats {
		check := func(v float64) {
			t.Helper()
			for _, v := range []float64{v, -v} {
				if got, want := f.Encode(v, nil), encode(f, v); got != want {
					t.Errorf("%s: %v became %#x, want %#x", name, v, got, want)
				}
			}
		}
		for code := uint64(0); code <= f.Max; code++ {
			value := magnitude(f, code)
			middle := (value + magnitude(f, code+1)) / 2
			for _, v := range []float64{value, middle} {
				check(v)
				check(math.Nextafter(v, 0))
				check(math.Nextafter(v, math.Inf(1)))
			}
		}
		for range 2000 {
			check(math.Ldexp(1+rng.Float64(), rng.IntN(320)-160))
		}
		check(math.SmallestNonzeroFloat64)
		check(math.MaxFloat64)
		check(0)
		if got, want := f.Encode(math.Inf(1), nil), encode(f, math.Inf(1)); got != want {
			t.Errorf("%s: Infinity became %#x, want %#x", name, got, want)
		}
	}
}

// TestEncodeBeside holds that a number too close to a halfway point for float64
// is rounded to its own side of it, and that only halfway points ask.
func TestEncodeBeside(t *testing.T) {
	for name, f := range float.Formats {
		for code := uint64(0); code < min(f.Max, 5000); code++ {
			middle := (magnitude(f, code) + magnitude(f, code+1)) / 2
			for side, want := range map[int]uint64{-1: code, 0: code + code%2, 1: code + 1} {
				for _, v := range []float64{middle, -middle} {
					want := want
					if v < 0 && (want > 0 || !f.FNUZ) {
						want |= 1 << (f.Bits - 1)
					}
					asked := false
					got := f.Encode(v, func(of float64) int {
						asked = of == middle
						return side
					})
					if !asked || got != want {
						t.Errorf("%s: a number on side %d of %v became %#x, want %#x (asked %v)", name, side, v, got, want, asked)
					}
				}
			}
			f.Encode(magnitude(f, code), func(float64) int {
				t.Errorf("%s: %v, a value of its own, asked", name, magnitude(f, code))
				return 0
			})
		}
	}
}

// TestE8M0 holds every code against the definition, and rounding at the values,
// at the middles, and beside them.
func TestE8M0(t *testing.T) {
	for code := range uint64(0xff) {
		v := math.Pow(2, float64(code)-127)
		if got := float.DecodeE8M0(code); got != v {
			t.Errorf("%#x is %v, want %v", code, got, v)
		}
		above := code + 1 // 0xff, the NaN, above the last
		for _, tt := range []struct {
			v    float64
			side int
			want uint64
		}{
			{v, 0, code}, {math.Nextafter(1.5*v, 0), 0, code}, {1.5 * v, 0, above}, {1.5 * v, -1, code}, {1.5 * v, 1, above},
		} {
			if got := float.EncodeE8M0(tt.v, func(float64) int { return tt.side }); got != tt.want {
				t.Errorf("%v, side %d, became %#x, want %#x", tt.v, tt.side, got, tt.want)
			}
		}
		if got := float.EncodeE8M0(1.5*v, nil); got != above {
			t.Errorf("%v became %#x, want %#x", 1.5*v, got, above)
		}
	}
	if !math.IsNaN(float.DecodeE8M0(float.E8M0NaN)) {
		t.Error("0xff is a number")
	}
	for v, want := range map[float64]uint64{0: 0, 1e-300: 0, 1e300: 0xff, math.Inf(1): 0xff} {
		if got := float.EncodeE8M0(v, nil); got != want {
			t.Errorf("%v became %#x, want %#x", v, got, want)
		}
	}
}

func TestNF4(t *testing.T) {
	for code, v := range float.NF4 {
		if got := float.EncodeNF4(float64(v), nil); got != uint64(code) {
			t.Errorf("%v became %d, want %d", v, got, code)
		}
		if code == 15 {
			break
		}
		middle := (float64(v) + float64(float.NF4[code+1])) / 2
		for side, want := range map[int]int{-1: code, 0: code, 1: code + 1} {
			if got := float.EncodeNF4(middle, func(float64) int { return side }); got != uint64(want) {
				t.Errorf("side %d of %v became %d, want %d", side, middle, got, want)
			}
		}
		if got := float.EncodeNF4(middle, nil); got != uint64(code) {
			t.Errorf("%v became %d, want %d", middle, got, code)
		}
	}
	if a, b := float.EncodeNF4(math.Inf(-1), nil), float.EncodeNF4(math.Inf(1), nil); a != 0 || b != 15 {
		t.Errorf("the infinities became %d and %d", a, b)
	}
}

// TestDouble holds that widening is exact, that narrowing undoes it and rounds to the
// even neighbour, and that NaNs become quiet and keep sign and payload.
func TestDouble(t *testing.T) {
	for bits, want := range map[uint32]uint64{
		0: 0, 1 << 31: 1 << 63, 1: math.Float64bits(math.SmallestNonzeroFloat32), 0x3fc00000: math.Float64bits(1.5),
		0xff800000: math.Float64bits(math.Inf(-1)), 0x7f7fffff: math.Float64bits(math.MaxFloat32),
		0x7fc00000: 0x7ff8000000000000, 0x7f800001: 0x7ff8000020000000, 0xffffffff: 0xffffffffe0000000,
	} {
		if got := float.Double(bits); got != want {
			t.Errorf("Double(%#x) = %#x, want %#x", bits, got, want)
		}
		if back := bits; want>>52&0x7ff == 0x7ff && want<<12 != 0 {
			back |= 0x400000 // quiet
			if got := float.Single(want); got != back {
				t.Errorf("Single(%#x) = %#x, want %#x", want, got, back)
			}
		} else if got := float.Single(want); got != bits {
			t.Errorf("Single(%#x) = %#x, want %#x", want, got, bits)
		}
	}
	for v, want := range map[float64]float32{
		1 + 0x1p-24: 1, 1 + 0x3p-24: 1 + 0x1p-22, 1 + 0x1p-24 + 0x1p-50: 1 + 0x1p-23, -1e300: float32(math.Inf(-1)), 0x1p-150: 0, 0x1.8p-150: 0x1p-149,
	} {
		if got := math.Float32frombits(float.Single(math.Float64bits(v))); got != want {
			t.Errorf("%v became %v, want %v", v, got, want)
		}
	}
	for bits, want := range map[uint64]uint32{0x7ff0000000000001: 0x7fc00000, 0xfff4000000000000: 0xffe00000, 0x7fffffffffffffff: 0x7fffffff} {
		if got := float.Single(bits); got != want {
			t.Errorf("NaN %#x became %#x, want %#x", bits, got, want)
		}
	}
}

// fma is the definition of FMA for finite numbers: exact, then rounded once.
func fma(a, b, c float32) float32 {
	of := func(v float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(v)) }
	exact := of(a)
	exact.Mul(exact, of(b)).Add(exact, of(c))
	if exact.Sign() == 0 { // the sign of a sum of zeros
		return float32(float64(a)*float64(b) + float64(c))
	}
	v, _ := exact.Float32()
	return v
}

// FuzzFMA holds FMA against its definition: for numbers whose sum lies halfway between two
// float32, or nearly, and for subnormal ones.
func FuzzFMA(f *testing.F) {
	for _, bits := range [][3]uint32{
		{0x3f800001, 0x3f800001, 0x33800000}, {0x3f7fffff, 0x3f800001, 0xb3800000}, {0x00800001, 0x3f000000, 0x00000001},
		{0x1a800001, 0x25800001, 0x00000000}, {0x1a800001, 0x25000001, 0x80000001}, {0x7f7fffff, 0x3f800001, 0x73000000}, {0x80000000, 0x3f800000, 0x00000000},
		{0x7f800000, 0x00000000, 0x3f800000}, {0x7f7fffff, 0x7f7fffff, 0xff800000}, {0x7fc00000, 0x3f800000, 0x3f800000}, {0x7f7fffff, 0x40000000, 0xff7fffff},
	} {
		f.Add(bits[0], bits[1], bits[2], uint64(bits[0]))
	}
	f.Fuzz(func(t *testing.T, x, y, z uint32, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 9))
		for range 200 {
			a, b, c := math.Float32frombits(x), math.Float32frombits(y), math.Float32frombits(z)
			got := float.FMA(a, b, c)
			if plain := float64(a)*float64(b) + float64(c); plain-plain != 0 {
				if want := float32(plain); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					t.Fatalf("FMA(%x, %x, %x) = %g, want %g", x, y, z, got, want)
				}
			} else if want := fma(a, b, c); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("FMA(%x, %x, %x) = %g, want %g", x, y, z, got, want)
			}
			x, y = r.Uint32(), r.Uint32()
			if r.IntN(2) == 0 { // few bits: a product near the middle of two numbers
				x, y = x&^(1<<r.IntN(24)-1), y&^(1<<r.IntN(24)-1)
			}
			product := math.Float32bits(math.Float32frombits(x) * math.Float32frombits(y))
			z = r.Uint32()
			switch r.IntN(4) {
			case 0: // as great as the product
				z = product + uint32(r.IntN(7)) - 3 ^ uint32(r.IntN(2))<<31
			case 1: // some bits less, or more
				z = product - uint32(r.IntN(60)-30)<<23 ^ uint32(r.IntN(2))<<31
			case 2: // subnormal sums
				x, z = x&0x1fffffff, z&0x80ffffff
			}
		}
	})
}

// TestAwayFromZero holds AwayFromZero against a search for the nearest code.
func TestAwayFromZero(t *testing.T) {
	for code := range uint64(0x7f80) {
		low := math.Float32bits(float.BFloat16.Decode(code))
		for _, bits := range []uint32{low, low + 1, low + 0x7fff, low + 0x8000, low + 0x8001, low + 0xffff} {
			want := code
			if bits-low >= 0x8000 {
				want++
			}
			for _, sign := range []uint32{0, 1} {
				if got := float.AwayFromZero(math.Float32frombits(bits | sign<<31)); got != want|uint64(sign)<<15 {
					t.Fatalf("%x becomes %x, want %x", bits|sign<<31, got, want|uint64(sign)<<15)
				}
			}
		}
	}
	if got := float.AwayFromZero(float32(math.NaN())); got != 0x7fc0 {
		t.Errorf("NaN becomes %x", got)
	}
	if got := float.AwayFromZero(float32(math.Inf(-1))); got != 0xff80 {
		t.Errorf("-Infinity becomes %x", got)
	}
}
