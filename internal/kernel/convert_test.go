package kernel

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/garner-go/garner/internal/guard"
)

// codes returns every code of 16 bits.
func codes() []byte {
	b := make([]byte, 2<<16)
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(i))
	}
	return b
}

// tryConvert converts every code of 16 bits, or every upper half of an f32 with lower
// halves around the middle between two results, and compares with the definition.
func tryConvert(t *testing.T, form string, c Conversion) {
	t.Helper()
	src := codes()
	if conversions[c].from == 4 {
		upper := src
		src = nil
		for i := 0; i < len(upper); i += 2 {
			for _, low := range []uint16{0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff} {
				src = append(binary.LittleEndian.AppendUint16(src, low), upper[i], upper[i+1])
			}
		}
	}
	n := len(src) / conversions[c].from * conversions[c].to
	want, got := make([]byte, n), make([]byte, n)
	ConvertGeneric(want, src, c)
	Convert(got, src, c)
	for i := range n {
		if got[i] != want[i] {
			t.Fatalf("%s: conversion %d: byte %d of the result is %#x, want %#x", form, c, i, got[i], want[i])
		}
	}
}

// FuzzConvert compares every form of Convert with the definition, on random bits,
// at every length and misalignment, between guard pages.
func FuzzConvert(f *testing.F) {
	for seed := range uint64(80) {
		f.Add(seed, uint16(seed))
	}
	f.Add(uint64(1), uint16(3000))
	f.Fuzz(func(t *testing.T, seed uint64, count uint16) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := int(count) % 5000
		for c, width := range conversions {
			c := Conversion(c)
			src := guard.Bytes(t, n*width.from+r.IntN(width.from)) // bytes behind the last element are not read
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			if r.IntN(2) == 0 {
				// Exponents near the ends of f16's range, zeros and NaNs.
				for i := 0; i+width.from <= len(src); i += width.from {
					src[i+width.from-1] = [...]byte{0, 0x80, 0x33, 0x38, 0x47, 0x7f, 0xff, 0x7c}[r.IntN(8)]
				}
			}
			want := make([]byte, n*width.to)
			ConvertGeneric(want, src, c)
			each(t, func(t *testing.T, form string) {
				got := guard.Bytes(t, n*width.to)
				Convert(got, src, c)
				if !bytes.Equal(got, want) {
					t.Errorf("%s: conversion %d of %d elements: differs from the definition", form, c, n)
				}
				shift := r.IntN(9)
				got = make([]byte, shift+n*width.to+8)
				Convert(got[shift:], src, c)
				if !bytes.Equal(got[shift:shift+len(want)], want) || !bytes.Equal(got[shift+len(want):], make([]byte, 8)) || !bytes.Equal(got[:shift], make([]byte, shift)) {
					t.Errorf("%s: conversion %d of %d elements to byte %d: differs, or wrote behind them", form, c, n, shift)
				}
			})
		}
	})
}

// TestConvertLong converts more elements than one call of the assembly takes.
func TestConvertLong(t *testing.T) {
	src := bytes.Repeat(codes(), 5)[:2*(2*convertMost+21)]
	want, got := make([]byte, 2*len(src)), make([]byte, 2*len(src))
	for _, c := range []Conversion{F16ToF32, F16BitsToF32, BF16ToF32} {
		ConvertGeneric(want, src, c)
		each(t, func(t *testing.T, form string) {
			clear(got)
			if Convert(got, src, c); !bytes.Equal(got, want) {
				t.Errorf("%s: conversion %d differs from the definition", form, c)
			}
		})
	}
}

// TestConvertRefuses holds that a destination which is too short is refused before
// anything is written.
func TestConvertRefuses(t *testing.T) {
	each(t, func(t *testing.T, form string) {
		for c, width := range conversions {
			dst := make([]byte, 40*width.to-1)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: conversion %d into too few bytes: no panic", form, c)
					}
				}()
				Convert(dst, bytes.Repeat([]byte{0x3f}, 40*width.from), Conversion(c))
			}()
			if !bytes.Equal(dst, make([]byte, len(dst))) {
				t.Errorf("%s: conversion %d wrote all the same", form, c)
			}
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	for c, name := range []string{"f16-f32", "f16-f32-bits", "bf16-f32", "f32-f16", "f32-bf16"} {
		width := conversions[c]
		for _, n := range []int{64, 256, 1024, 4096} {
			src, dst := make([]byte, n*width.from), make([]byte, n*width.to)
			for i := range src {
				src[i] = byte(i * 37)
			}
			for _, form := range Forms() {
				b.Run("conversion="+name+"/elements="+strconv.Itoa(n)+"/form="+form, func(b *testing.B) {
					defer Use(form)()
					b.SetBytes(int64(len(dst)))
					for b.Loop() {
						Convert(dst, src, Conversion(c))
					}
				})
			}
		}
	}
}
