//go:build !purego

package kernel

// clampAVX512 clamps values to an axis; n is a positive multiple of 8:
//
//	for j, v := range from[:n] {
//		v += v >> 63 & add
//		to[j] = min(max(v, 0), dim-1)
//	}
//	return n
//
//go:noescape
func clampAVX512(a *settleArgs) (settled int)

// wrapAVX512 wraps values by one addition or subtraction; n is a positive multiple of
// 8. It stops at eight values of which one needs more:
//
//	for ; settled < n; settled += 8 {
//		eight := [8]int64(from[settled:])
//		for j, v := range eight {
//			v += v >> 63 & add
//			v -= (dim - 1 - v) >> 63 & dim
//			if uint64(v) >= uint64(dim) {
//				return settled
//			}
//			eight[j] = v
//		}
//		copy(to[settled:], eight[:])
//	}
//	return settled
//
//go:noescape
func wrapAVX512(a *settleArgs) (settled int)

// clampAVX2 clamps values to an axis; n is a positive multiple of 8:
//
//	for j, v := range from[:n] {
//		v += v >> 63 & add
//		to[j] = min(max(v, 0), dim-1)
//	}
//	return n
//
//go:noescape
func clampAVX2(a *settleArgs) (settled int)

// wrapAVX2 wraps values by one addition or subtraction; n is a positive multiple of 8.
// It stops at eight values of which one needs more:
//
//	for ; settled < n; settled += 8 {
//		eight := [8]int64(from[settled:])
//		for j, v := range eight {
//			v += v >> 63 & add
//			v -= (dim - 1 - v) >> 63 & dim
//			if uint64(v) >= uint64(dim) {
//				return settled
//			}
//			eight[j] = v
//		}
//		copy(to[settled:], eight[:])
//	}
//	return settled
//
//go:noescape
func wrapAVX2(a *settleArgs) (settled int)

// settleForm returns the form of Settle for a policy, or nil where the generic form
// runs.
func settleForm(o Outside) settleFunc {
	switch {
	case form >= formAVX512 && o == Wrap:
		return wrapAVX512
	case form >= formAVX512:
		return clampAVX512
	case form >= formAVX2 && o == Wrap:
		return wrapAVX2
	case form >= formAVX2:
		return clampAVX2
	}
	return nil
}
