//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// This file declares the assembly functions of decode_amd64.s as move_amd64.go does
// others. In their loops half reads an f16, put writes an f32 and putHalf an f16; fma
// rounds once, and factors gives a scale and a minimum of 6 bits.

// decodes reports whether the machine has what the forms need beside AVX2: conversions
// of f16, and the fused multiply-add.
var decodes = cpu.X86.HasF16C && cpu.X86.HasFMA

// q8_0AVX512 decodes blocks of Q8_0:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[128*n*j:], src[row:]
//		for b := range n {
//			d := halfAt(src[34*b:])
//			for i, q := range src[34*b+2:][:32] {
//				put(dst[128*b+4*i:], d*float32(int8(q)))
//			}
//		}
//	}
//
//go:noescape
func q8_0AVX512(a *decodeArgs)

// q8_0AVX2 decodes blocks of Q8_0:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[128*n*j:], src[row:]
//		for b := range n {
//			d := halfAt(src[34*b:])
//			for i, q := range src[34*b+2:][:32] {
//				put(dst[128*b+4*i:], d*float32(int8(q)))
//			}
//		}
//	}
//
//go:noescape
func q8_0AVX2(a *decodeArgs)

// nibblesAVX512 decodes blocks of 32 codes of 4 bits behind a scale of f16:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[128*n*j:], src[row:]
//		for b := range n {
//			d := halfAt(src[18*b:])
//			for i, q := range src[18*b+2:][:16] {
//				put(dst[128*b+4*i:], d*float32(values[0][q&15]))
//				put(dst[128*b+4*(16+i):], d*float32(values[0][q>>4]))
//			}
//		}
//	}
//
//go:noescape
func nibblesAVX512(a *decodeArgs)

// nibblesAVX2 decodes blocks of 32 codes of 4 bits behind a scale of f16:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[128*n*j:], src[row:]
//		for b := range n {
//			d := halfAt(src[18*b:])
//			for i, q := range src[18*b+2:][:16] {
//				put(dst[128*b+4*i:], d*float32(values[0][q&15]))
//				put(dst[128*b+4*(16+i):], d*float32(values[0][q>>4]))
//			}
//		}
//	}
//
//go:noescape
func nibblesAVX2(a *decodeArgs)

// mxfp4AVX512 decodes blocks of MXFP4:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[128*n*j:], src[row:]
//		for b := range n {
//			d := powers[0][src[17*b]]
//			for i, q := range src[17*b+1:][:16] {
//				put(dst[128*b+4*i:], d*float32(values[0][q&15]))
//				put(dst[128*b+4*(16+i):], d*float32(values[0][q>>4]))
//			}
//		}
//	}
//
//go:noescape
func mxfp4AVX512(a *decodeArgs)

// mxfp4AVX2 decodes blocks of MXFP4:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[128*n*j:], src[row:]
//		for b := range n {
//			d := powers[0][src[17*b]]
//			for i, q := range src[17*b+1:][:16] {
//				put(dst[128*b+4*i:], d*float32(values[0][q&15]))
//				put(dst[128*b+4*(16+i):], d*float32(values[0][q>>4]))
//			}
//		}
//	}
//
//go:noescape
func mxfp4AVX2(a *decodeArgs)

// q4_kAVX512 decodes blocks of Q4_K:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[1024*n*j:], src[row:]
//		for b := range n {
//			d, m := halfAt(src[144*b:]), halfAt(src[144*b+2:])
//			for e := range 256 {
//				s, t := factors(src[144*b+4:], e/32)
//				q := src[144*b+16+e/64*32+e%32] >> (e / 32 % 2 * 4) & 15
//				put(dst[4*(256*b+e):], float32(float32(d*s)*float32(q))-float32(m*t))
//			}
//		}
//	}
//
//go:noescape
func q4_kAVX512(a *decodeArgs)

// q4_kAVX2 decodes blocks of Q4_K:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[1024*n*j:], src[row:]
//		for b := range n {
//			d, m := halfAt(src[144*b:]), halfAt(src[144*b+2:])
//			for e := range 256 {
//				s, t := factors(src[144*b+4:], e/32)
//				q := src[144*b+16+e/64*32+e%32] >> (e / 32 % 2 * 4) & 15
//				put(dst[4*(256*b+e):], float32(float32(d*s)*float32(q))-float32(m*t))
//			}
//		}
//	}
//
//go:noescape
func q4_kAVX2(a *decodeArgs)

// q5_kAVX512 decodes blocks of Q5_K:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[1024*n*j:], src[row:]
//		for b := range n {
//			d, m := halfAt(src[176*b:]), halfAt(src[176*b+2:])
//			for e := range 256 {
//				s, t := factors(src[176*b+4:], e/32)
//				q := src[176*b+48+e/64*32+e%32]>>(e/32%2*4)&15 | src[176*b+16+e%32]>>(e/32)&1<<4
//				put(dst[4*(256*b+e):], float32(float32(d*s)*float32(q))-float32(m*t))
//			}
//		}
//	}
//
//go:noescape
func q5_kAVX512(a *decodeArgs)

// q5_kAVX2 decodes blocks of Q5_K:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[1024*n*j:], src[row:]
//		for b := range n {
//			d, m := halfAt(src[176*b:]), halfAt(src[176*b+2:])
//			for e := range 256 {
//				s, t := factors(src[176*b+4:], e/32)
//				q := src[176*b+48+e/64*32+e%32]>>(e/32%2*4)&15 | src[176*b+16+e%32]>>(e/32)&1<<4
//				put(dst[4*(256*b+e):], float32(float32(d*s)*float32(q))-float32(m*t))
//			}
//		}
//	}
//
//go:noescape
func q5_kAVX2(a *decodeArgs)

// q6_kAVX512 decodes blocks of Q6_K:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[1024*n*j:], src[row:]
//		for b := range n {
//			d := halfAt(src[210*b+208:])
//			for e := range 256 {
//				s := float32(int8(src[210*b+192+e/16]))
//				q := src[210*b+e/128*64+e%64]>>(e%128/64*4)&15 | src[210*b+128+e/128*32+e%32]>>(e%128/32*2)&3<<4
//				put(dst[4*(256*b+e):], float32(d*s)*float32(int8(q)-32))
//			}
//		}
//	}
//
//go:noescape
func q6_kAVX512(a *decodeArgs)

// q6_kAVX2 decodes blocks of Q6_K:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		dst, src := dst[1024*n*j:], src[row:]
//		for b := range n {
//			d := halfAt(src[210*b+208:])
//			for e := range 256 {
//				s := float32(int8(src[210*b+192+e/16]))
//				q := src[210*b+e/128*64+e%64]>>(e%128/64*4)&15 | src[210*b+128+e/128*32+e%32]>>(e%128/32*2)&3<<4
//				put(dst[4*(256*b+e):], float32(d*s)*float32(int8(q)-32))
//			}
//		}
//	}
//
//go:noescape
func q6_kAVX2(a *decodeArgs)

// affine8AVX512 is Affine of codes of 8 bits:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		scale, bias := at32(src[int(row)+codes:]), at32(src[int(row)+codes+4:])
//		if scale-scale != 0 || bias-bias != 0 {
//			return j
//		}
//		for i := range n {
//			put(dst[j*step+4*i:], fma(float32(src[int(row)+i]), scale, bias))
//		}
//	}
//	return rows
//
//go:noescape
func affine8AVX512(a *affineArgs) (done int)

// affine8AVX2 is Affine of codes of 8 bits:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		scale, bias := at32(src[int(row)+codes:]), at32(src[int(row)+codes+4:])
//		if scale-scale != 0 || bias-bias != 0 {
//			return j
//		}
//		for i := range n {
//			put(dst[j*step+4*i:], fma(float32(src[int(row)+i]), scale, bias))
//		}
//	}
//	return rows
//
//go:noescape
func affine8AVX2(a *affineArgs) (done int)

// affine4AVX512 is Affine of codes of 4 bits:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		scale, bias := halfAt(src[int(row)+codes:]), halfAt(src[int(row)+codes+2:])
//		if scale-scale != 0 || bias-bias != 0 {
//			return j
//		}
//		for i := range n {
//			put(dst[j*step+4*i:], fma(float32(src[int(row)+i/2]>>(i%2*4)&15), scale, bias))
//		}
//	}
//	return rows
//
//go:noescape
func affine4AVX512(a *affineArgs) (done int)

// affine4AVX2 is Affine of codes of 4 bits:
//
//	for j, row := range at[:rows] {
//		prefetch(src, int(at[min(j+ahead, rows-1)]), touched)
//		scale, bias := halfAt(src[int(row)+codes:]), halfAt(src[int(row)+codes+2:])
//		if scale-scale != 0 || bias-bias != 0 {
//			return j
//		}
//		for i := range n {
//			put(dst[j*step+4*i:], fma(float32(src[int(row)+i/2]>>(i%2*4)&15), scale, bias))
//		}
//	}
//	return rows
//
//go:noescape
func affine4AVX2(a *affineArgs) (done int)

// scale4AVX512 is Scale of codes of 4 bits:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			put(dst[4*(j*runs*length+i):], (values[0][src[int(row.Codes)+i/2]>>(i%2*4)&15]-zero)*scale)
//		}
//	}
//
//go:noescape
func scale4AVX512(a *scaleArgs)

// scale4AVX2 is Scale of codes of 4 bits:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			put(dst[4*(j*runs*length+i):], (values[0][src[int(row.Codes)+i/2]>>(i%2*4)&15]-zero)*scale)
//		}
//	}
//
//go:noescape
func scale4AVX2(a *scaleArgs)

// scaleI8AVX512 is Scale of signed codes of 8 bits:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			put(dst[4*(j*runs*length+i):], (float32(int8(src[int(row.Codes)+i]))-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleI8AVX512(a *scaleArgs)

// scaleI8AVX2 is Scale of signed codes of 8 bits:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			put(dst[4*(j*runs*length+i):], (float32(int8(src[int(row.Codes)+i]))-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleI8AVX2(a *scaleArgs)

// scaleU8AVX512 is Scale of unsigned codes of 8 bits:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			put(dst[4*(j*runs*length+i):], (float32(src[int(row.Codes)+i])-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleU8AVX512(a *scaleArgs)

// scaleU8AVX2 is Scale of unsigned codes of 8 bits:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			put(dst[4*(j*runs*length+i):], (float32(src[int(row.Codes)+i])-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleU8AVX2(a *scaleArgs)

// scale4HalfAVX512 is Scale of codes of 4 bits to f16:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			putHalf(dst[2*(j*runs*length+i):], (values[0][src[int(row.Codes)+i/2]>>(i%2*4)&15]-zero)*scale)
//		}
//	}
//
//go:noescape
func scale4HalfAVX512(a *scaleArgs)

// scale4HalfAVX2 is Scale of codes of 4 bits to f16:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			putHalf(dst[2*(j*runs*length+i):], (values[0][src[int(row.Codes)+i/2]>>(i%2*4)&15]-zero)*scale)
//		}
//	}
//
//go:noescape
func scale4HalfAVX2(a *scaleArgs)

// scaleI8HalfAVX512 is Scale of signed codes of 8 bits to f16:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			putHalf(dst[2*(j*runs*length+i):], (float32(int8(src[int(row.Codes)+i]))-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleI8HalfAVX512(a *scaleArgs)

// scaleI8HalfAVX2 is Scale of signed codes of 8 bits to f16:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			putHalf(dst[2*(j*runs*length+i):], (float32(int8(src[int(row.Codes)+i]))-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleI8HalfAVX2(a *scaleArgs)

// scaleU8HalfAVX512 is Scale of unsigned codes of 8 bits to f16:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			putHalf(dst[2*(j*runs*length+i):], (float32(src[int(row.Codes)+i])-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleU8HalfAVX512(a *scaleArgs)

// scaleU8HalfAVX2 is Scale of unsigned codes of 8 bits to f16:
//
//	for j, row := range places[:rows] {
//		prefetchRow(places[min(j+ahead, rows-1)], touched, scalesTouched, zerosTouched)
//		for i := range runs * length {
//			scale, zero := scales[int(row.Scale)+i/length*scaleStep/4], zeros[int(row.Zero)+i/length*zeroStep/4]
//			putHalf(dst[2*(j*runs*length+i):], (float32(src[int(row.Codes)+i])-zero)*scale)
//		}
//	}
//
//go:noescape
func scaleU8HalfAVX2(a *scaleArgs)

// widest returns the form that runs of two, with AVX2 and with AVX512, or the zero
// value.
func widest[F any](avx2, avx512 F) (none F) {
	switch {
	case form < formAVX2 || !decodes:
		return none
	case form < formAVX512:
		return avx2
	}
	return avx512
}

// decodeForm returns the form of Decode for a kind, or nil.
func decodeForm(kind Stored) decodeFunc {
	switch kind {
	case Nibbles:
		return widest[decodeFunc](nibblesAVX2, nibblesAVX512)
	case MXFP4:
		return widest[decodeFunc](mxfp4AVX2, mxfp4AVX512)
	case Q8_0:
		return widest[decodeFunc](q8_0AVX2, q8_0AVX512)
	case Q4_K:
		return widest[decodeFunc](q4_kAVX2, q4_kAVX512)
	case Q5_K:
		return widest[decodeFunc](q5_kAVX2, q5_kAVX512)
	}
	return widest[decodeFunc](q6_kAVX2, q6_kAVX512)
}

// affineForm returns the form of Affine for codes of bits bits, or nil.
func affineForm(bits int) affineFunc {
	switch bits {
	case 8:
		return widest[affineFunc](affine8AVX2, affine8AVX512)
	case 4:
		return widest[affineFunc](affine4AVX2, affine4AVX512)
	}
	return nil
}

// scaleForm returns the form of Scale for codes of bits bits, or nil. signed is of
// codes of 8 bits.
func scaleForm(bits int, signed, toHalf bool) scaleFunc {
	switch {
	case bits == 4 && toHalf:
		return widest[scaleFunc](scale4HalfAVX2, scale4HalfAVX512)
	case bits == 4:
		return widest[scaleFunc](scale4AVX2, scale4AVX512)
	case bits == 8 && signed && toHalf:
		return widest[scaleFunc](scaleI8HalfAVX2, scaleI8HalfAVX512)
	case bits == 8 && signed:
		return widest[scaleFunc](scaleI8AVX2, scaleI8AVX512)
	case bits == 8 && toHalf:
		return widest[scaleFunc](scaleU8HalfAVX2, scaleU8HalfAVX512)
	case bits == 8:
		return widest[scaleFunc](scaleU8AVX2, scaleU8AVX512)
	}
	return nil
}
