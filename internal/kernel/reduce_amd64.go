//go:build !purego

package kernel

// This file declares the assembly functions of reduce_amd64.s as move_amd64.go does
// others. In their loops at32 and at64 read an element, put32 and put64 write one, and
// fill32 and fill64 write one number throughout.

// sum32AVX512 sums bags of f32 without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 4 {
//				put32(to[4*e:], at32(to[4*e:])+at32(from[4*e:]))
//			}
//		}
//	}
//
//go:noescape
func sum32AVX512(a *bagsArgs)

// sum32AVX2 sums bags of f32 without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 4 {
//				put32(to[4*e:], at32(to[4*e:])+at32(from[4*e:]))
//			}
//		}
//	}
//
//go:noescape
func sum32AVX2(a *bagsArgs)

// sum64AVX512 sums bags of f64 without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 8 {
//				put64(to[8*e:], at64(to[8*e:])+at64(from[8*e:]))
//			}
//		}
//	}
//
//go:noescape
func sum64AVX512(a *bagsArgs)

// sum64AVX2 sums bags of f64 without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 8 {
//				put64(to[8*e:], at64(to[8*e:])+at64(from[8*e:]))
//			}
//		}
//	}
//
//go:noescape
func sum64AVX2(a *bagsArgs)

// weigh32AVX512 sums bags of f32 with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			for e := range size / 4 {
//				put32(to[4*e:], at32(to[4*e:])+float32(at32(from[4*e:])*at32(weights[4*j:])))
//			}
//		}
//	}
//
//go:noescape
func weigh32AVX512(a *bagsArgs)

// weigh32AVX2 sums bags of f32 with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			for e := range size / 4 {
//				put32(to[4*e:], at32(to[4*e:])+float32(at32(from[4*e:])*at32(weights[4*j:])))
//			}
//		}
//	}
//
//go:noescape
func weigh32AVX2(a *bagsArgs)

// fuse32AVX512 sums bags of f32 with weights, where a product and its addition are rounded once:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			for e := range size / 4 {
//				put32(to[4*e:], fma(at32(from[4*e:]), at32(weights[4*j:]), at32(to[4*e:])))
//			}
//		}
//	}
//
//go:noescape
func fuse32AVX512(a *bagsArgs)

// fuse32AVX2 sums bags of f32 with weights, where a product and its addition are rounded once:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			for e := range size / 4 {
//				put32(to[4*e:], fma(at32(from[4*e:]), at32(weights[4*j:]), at32(to[4*e:])))
//			}
//		}
//	}
//
//go:noescape
func fuse32AVX2(a *bagsArgs)

// weigh64AVX512 sums bags of f64 with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				fill64(to, negative64)
//			}
//			for e := range size / 8 {
//				put64(to[8*e:], at64(to[8*e:])+float64(at64(from[8*e:])*at64(weights[8*j:])))
//			}
//		}
//	}
//
//go:noescape
func weigh64AVX512(a *bagsArgs)

// weigh64AVX2 sums bags of f64 with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				fill64(to, negative64)
//			}
//			for e := range size / 8 {
//				put64(to[8*e:], at64(to[8*e:])+float64(at64(from[8*e:])*at64(weights[8*j:])))
//			}
//		}
//	}
//
//go:noescape
func weigh64AVX2(a *bagsArgs)

// max32AVX512 takes the greatest of bags of f32, without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 4 {
//				if v := at32(from[4*e:]); v > at32(to[4*e:]) {
//					put32(to[4*e:], v)
//				}
//			}
//		}
//	}
//
//go:noescape
func max32AVX512(a *bagsArgs)

// max32AVX2 takes the greatest of bags of f32, without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 4 {
//				if v := at32(from[4*e:]); v > at32(to[4*e:]) {
//					put32(to[4*e:], v)
//				}
//			}
//		}
//	}
//
//go:noescape
func max32AVX2(a *bagsArgs)

// max64AVX512 takes the greatest of bags of f64, without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 8 {
//				if v := at64(from[8*e:]); v > at64(to[8*e:]) {
//					put64(to[8*e:], v)
//				}
//			}
//		}
//	}
//
//go:noescape
func max64AVX512(a *bagsArgs)

// max64AVX2 takes the greatest of bags of f64, without weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			from := src[int(rows[j])+bias:]
//			if begin == 1 && j == ends[b]-first {
//				copy(to, from)
//				continue
//			}
//			for e := range size / 8 {
//				if v := at64(from[8*e:]); v > at64(to[8*e:]) {
//					put64(to[8*e:], v)
//				}
//			}
//		}
//	}
//
//go:noescape
func max64AVX2(a *bagsArgs)

// affineSum8AVX512 sums bags of rows of FBGEMM of 8 bits:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			scale, shift := at32(tail), at32(tail[4:])
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e]), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineSum8AVX512(a *bagsArgs)

// affineSum8AVX2 sums bags of rows of FBGEMM of 8 bits:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			scale, shift := at32(tail), at32(tail[4:])
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e]), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineSum8AVX2(a *bagsArgs)

// affineWeigh8AVX512 sums bags of rows of FBGEMM of 8 bits, with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			weight := at32(weights[4*j:])
//			scale, shift := float32(at32(tail)*weight), float32(at32(tail[4:])*weight)
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e]), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineWeigh8AVX512(a *bagsArgs)

// affineWeigh8AVX2 sums bags of rows of FBGEMM of 8 bits, with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			weight := at32(weights[4*j:])
//			scale, shift := float32(at32(tail)*weight), float32(at32(tail[4:])*weight)
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e]), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineWeigh8AVX2(a *bagsArgs)

// affineSum4AVX512 sums bags of rows of FBGEMM of 4 bits:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			scale, shift := halfAt(tail), halfAt(tail[2:])
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/2]>>(e%2*4)&15), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineSum4AVX512(a *bagsArgs)

// affineSum4AVX2 sums bags of rows of FBGEMM of 4 bits:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			scale, shift := halfAt(tail), halfAt(tail[2:])
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/2]>>(e%2*4)&15), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineSum4AVX2(a *bagsArgs)

// affineWeigh4AVX512 sums bags of rows of FBGEMM of 4 bits, with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			weight := at32(weights[4*j:])
//			scale, shift := float32(halfAt(tail)*weight), float32(halfAt(tail[2:])*weight)
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/2]>>(e%2*4)&15), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineWeigh4AVX512(a *bagsArgs)

// affineWeigh4AVX2 sums bags of rows of FBGEMM of 4 bits, with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			weight := at32(weights[4*j:])
//			scale, shift := float32(halfAt(tail)*weight), float32(halfAt(tail[2:])*weight)
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/2]>>(e%2*4)&15), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineWeigh4AVX2(a *bagsArgs)

// affineSum2AVX512 sums bags of rows of FBGEMM of 2 bits:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			scale, shift := halfAt(tail), halfAt(tail[2:])
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/4]>>(e%4*2)&3), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineSum2AVX512(a *bagsArgs)

// affineSum2AVX2 sums bags of rows of FBGEMM of 2 bits:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			scale, shift := halfAt(tail), halfAt(tail[2:])
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/4]>>(e%4*2)&3), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineSum2AVX2(a *bagsArgs)

// affineWeigh2AVX512 sums bags of rows of FBGEMM of 2 bits, with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			weight := at32(weights[4*j:])
//			scale, shift := float32(halfAt(tail)*weight), float32(halfAt(tail[2:])*weight)
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/4]>>(e%4*2)&3), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineWeigh2AVX512(a *bagsArgs)

// affineWeigh2AVX2 sums bags of rows of FBGEMM of 2 bits, with weights:
//
//	for b := range bags {
//		to := dst[b*step:][:size]
//		if begin > 0 {
//			clear(to)
//		}
//		for j := ends[b] - first; j < ends[b+1]-first; j++ {
//			if begin == 1 && j == ends[b]-first {
//				fill32(to, negative32)
//			}
//			tail := src[int(rows[j])+bias+codes:]
//			weight := at32(weights[4*j:])
//			scale, shift := float32(halfAt(tail)*weight), float32(halfAt(tail[2:])*weight)
//			for e := range size / 4 {
//				put32(to[4*e:], fma(float32(src[int(rows[j])+bias+e/4]>>(e%4*2)&3), scale, at32(to[4*e:])+shift))
//			}
//		}
//	}
//
//go:noescape
func affineWeigh2AVX2(a *bagsArgs)

// divide32AVX512 divides f32 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put32(dst[4*e:], at32(dst[4*e:])/at32(by))
//	}
//
//go:noescape
func divide32AVX512(a *quotientArgs)

// divide32AVX2 divides f32 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put32(dst[4*e:], at32(dst[4*e:])/at32(by))
//	}
//
//go:noescape
func divide32AVX2(a *quotientArgs)

// divide64AVX512 divides f64 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put64(dst[8*e:], at64(dst[8*e:])/at64(by))
//	}
//
//go:noescape
func divide64AVX512(a *quotientArgs)

// divide64AVX2 divides f64 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put64(dst[8*e:], at64(dst[8*e:])/at64(by))
//	}
//
//go:noescape
func divide64AVX2(a *quotientArgs)

// times32AVX512 multiplies f32 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put32(dst[4*e:], at32(dst[4*e:])*at32(by))
//	}
//
//go:noescape
func times32AVX512(a *quotientArgs)

// times32AVX2 multiplies f32 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put32(dst[4*e:], at32(dst[4*e:])*at32(by))
//	}
//
//go:noescape
func times32AVX2(a *quotientArgs)

// times64AVX512 multiplies f64 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put64(dst[8*e:], at64(dst[8*e:])*at64(by))
//	}
//
//go:noescape
func times64AVX512(a *quotientArgs)

// times64AVX2 multiplies f64 by one; n is a positive multiple of 16:
//
//	for e := range n {
//		put64(dst[8*e:], at64(dst[8*e:])*at64(by))
//	}
//
//go:noescape
func times64AVX2(a *quotientArgs)

// bagsForm returns the form of Bags for numbers, and the bytes of its accumulators; or
// nil.
func bagsForm(n Number, weighted, greater, fused bool) (f bagsFunc, wide int) {
	fused = fused && weighted
	if form < formAVX2 || n != F32 && (n != F64 || fused) || weighted && greater || fused && form < formAVX512 && !decodes {
		return nil, 0
	}
	at := 0
	switch {
	case fused:
		at = 6
	case weighted:
		at = 1
	case greater:
		at = 2
	}
	if n == F64 {
		at += 3
	}
	if form < formAVX512 {
		return [...]bagsFunc{sum32AVX2, weigh32AVX2, max32AVX2, sum64AVX2, weigh64AVX2, max64AVX2, fuse32AVX2}[at], 256
	}
	return [...]bagsFunc{sum32AVX512, weigh32AVX512, max32AVX512, sum64AVX512, weigh64AVX512, max64AVX512, fuse32AVX512}[at], 512
}

// quotientForm returns the form that divides f32, or f64, by a number or multiplies them
// with it, or nil.
func quotientForm(double, times bool) quotientFunc {
	at := 0
	if double {
		at = 1
	}
	if times {
		at += 2
	}
	switch {
	case form < formAVX2:
		return nil
	case form < formAVX512:
		return [...]quotientFunc{divide32AVX2, divide64AVX2, times32AVX2, times64AVX2}[at]
	}
	return [...]quotientFunc{divide32AVX512, divide64AVX512, times32AVX512, times64AVX512}[at]
}

// affineSumForm returns the form of SumAffine for codes of bits bits, and the bytes of its
// accumulators; or nil.
func affineSumForm(bits int, weighted bool) (f bagsFunc, wide int) {
	at := bits / 4 // 2 bits, 4 and 8
	if weighted {
		at += 3
	}
	if form < formAVX512 {
		return widest([...]bagsFunc{affineSum2AVX2, affineSum4AVX2, affineSum8AVX2, affineWeigh2AVX2, affineWeigh4AVX2, affineWeigh8AVX2}[at], nil), 256
	}
	return [...]bagsFunc{affineSum2AVX512, affineSum4AVX512, affineSum8AVX512, affineWeigh2AVX512, affineWeigh4AVX512, affineWeigh8AVX512}[at], 512
}
