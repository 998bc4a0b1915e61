package convert

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/float"
)

// number returns the value of a code by package garner's text of it, which is the
// shortest that reads back as the code; NaN without its payload.
func number(t *testing.T, d garner.DType, code uint64) float64 {
	t.Helper()
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, code)
	x, err := garner.FromBytes(d, b[:(d.Bits()+7)/8], 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := x.Float64(0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// want returns the code of a number in another dtype, rounded once.
func want(to garner.DType, v float64) uint64 {
	switch to {
	case garner.F64:
		return math.Float64bits(v)
	case garner.F32:
		return uint64(math.Float32bits(float32(v)))
	}
	return float.Formats[to.String()].Encode(v, nil)
}

func load(b []byte, size int) uint64 {
	var all [8]byte
	copy(all[:], b[:size])
	return binary.LittleEndian.Uint64(all[:])
}

// inputs returns elements of a dtype: all codes of up to 16 bits; of others random
// bits, and numbers on both sides of the middle between two results.
func inputs(d garner.DType) []byte {
	r := rand.New(rand.NewPCG(uint64(d), 1))
	var b []byte
	switch d.Bits() {
	case 4, 8:
		for i := range 256 {
			b = append(b, byte(i))
		}
	case 16:
		for i := range 1 << 16 {
			b = binary.LittleEndian.AppendUint16(b, uint16(i))
		}
	default:
		add := func(v float64) {
			if d == garner.F32 {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
			} else {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
		}
		for range 1 << 14 {
			b = binary.LittleEndian.AppendUint64(b, r.Uint64())
		}
		for _, f := range []*float.Format{float.Float16, float.BFloat16} {
			for code := uint64(0); code <= f.Max; code += 7 {
				middle := (float64(f.Decode(code)) + float64(f.Decode(min(code+1, f.Max)))) / 2
				for _, v := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, 1e300), middle * (1 + 0x1p-23)} {
					add(v)
					add(-v)
				}
			}
		}
		for _, v := range []float64{0, math.Inf(1), math.NaN(), math.MaxFloat32, math.MaxFloat64, 0x1.ffffffp127, math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat64, 0x1p-150, 0x1.8p-150, 65504, 65519.99, 65520} {
			add(v)
			add(-v)
		}
	}
	return b
}

// TestBetween holds every conversion against the values of the codes, rounded once:
// every code of up to 16 bits.
func TestBetween(t *testing.T) {
	tried := 0
	for _, from := range garner.DTypes() {
		for _, to := range garner.DTypes() {
			r, ok := Between(from, to)
			able := from.IsFloat() && from != to && (to == garner.F16 || to == garner.BF16 || to == garner.F32 || to == garner.F64)
			if ok != able {
				t.Errorf("%s to %s: %v", from, to, ok)
			}
			if !ok {
				continue
			}
			tried++
			if r.Elements*from.Bits() != r.From*8 || r.Elements*to.Bits() != r.To*8 {
				t.Errorf("%s to %s: %d elements in %d bytes become %d", from, to, r.Elements, r.From, r.To)
			}
			src, size := inputs(from), to.Bits()/8
			n := len(src) / r.From * r.Elements
			dst := make([]byte, n*size)
			r.Convert(dst, src)
			for _, n := range []int{0, 1, 2, 7} {
				part := make([]byte, n*size)
				if r.Into(part, src); !bytes.Equal(part, dst[:len(part)]) {
					t.Errorf("%s to %s: %d elements differ", from, to, n)
				}
			}
			for i := range n {
				var code uint64
				if from.Bits() < 8 {
					code = uint64(src[i/2]) >> (i % 2 * 4) & 15
				} else {
					code = load(src[i*from.Bits()/8:], from.Bits()/8)
				}
				v, got := number(t, from, code), load(dst[i*size:], size)
				switch {
				case math.IsNaN(v):
					if number(t, to, got) == number(t, to, got) {
						t.Fatalf("%s to %s: NaN %#x became %#x", from, to, code, got)
					}
				case got != want(to, v):
					t.Fatalf("%s to %s: %#x, which is %v, became %#x, want %#x", from, to, code, v, got, want(to, v))
				}
			}
		}
	}
	if tried != 11*4-4 {
		t.Errorf("%d conversions", tried)
	}
}

// TestNaN holds that NaNs keep sign and payload, and become quiet.
func TestNaN(t *testing.T) {
	for _, tt := range []struct {
		from, to  garner.DType
		code, got uint64
	}{
		{garner.F16, garner.F32, 0xfc01, 0xffc02000},
		{garner.BF16, garner.F32, 0x7f81, 0x7fc10000},
		{garner.F32, garner.F16, 0xff802000, 0xfe01},
		{garner.F32, garner.BF16, 0x7f800001, 0x7fc0},
		{garner.F32, garner.F64, 0xff800001, 0xfff8000020000000},
		{garner.F64, garner.F32, 0x7ff0000020000000, 0x7fc00001},
		{garner.F64, garner.F16, 0xfff0000000000001, 0xfe00},
		{garner.F16, garner.BF16, 0x7e80, 0x7fd0},
		{garner.BF16, garner.F16, 0xffff, 0xfff8},
		{garner.F16, garner.F64, 0x7c01, 0x7ff8040000000000},
		{garner.F8E5M2, garner.F16, 0xfd, 0xff00},
		{garner.F8E4M3FN, garner.F32, 0xff, 0xfff00000},
		{garner.F8E4M3FNUZ, garner.F32, 0x80, 0x7fc00000},
		{garner.F8E8M0, garner.F32, 0xff, 0x7fc00000},
		{garner.F8E8M0, garner.BF16, 0xff, 0x7fc0},
	} {
		r, _ := Between(tt.from, tt.to)
		src, dst := make([]byte, 8), make([]byte, 8)
		binary.LittleEndian.PutUint64(src, tt.code)
		if r.Convert(dst[:tt.to.Bits()/8], src[:tt.from.Bits()/8]); load(dst, 8) != tt.got {
			t.Errorf("%s to %s: NaN %#x became %#x, want %#x", tt.from, tt.to, tt.code, load(dst, 8), tt.got)
		}
	}
}

func TestAllocates(t *testing.T) {
	for _, from := range garner.DTypes() {
		for _, to := range garner.DTypes() {
			if r, ok := Between(from, to); ok {
				src := make([]byte, 1000*r.From)
				dst := make([]byte, 1000*r.To)
				if n := testing.AllocsPerRun(10, func() { r.Convert(dst, src) }); n != 0 {
					t.Errorf("%s to %s: %v allocations", from, to, n)
				}
			}
		}
	}
}

func BenchmarkBetween(b *testing.B) {
	for _, from := range []garner.DType{garner.F64, garner.F32, garner.F16, garner.F8E4M3FN, garner.F4E2M1} {
		for _, to := range []garner.DType{garner.F64, garner.F32, garner.F16} {
			r, ok := Between(from, to)
			if !ok {
				continue
			}
			b.Run("from="+from.String()+"/to="+to.String(), func(b *testing.B) {
				src := make([]byte, 1024*r.From/r.Elements)
				dst := make([]byte, 1024*to.Bits()/8)
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					r.Convert(dst, src)
				}
			})
		}
	}
}
