package kernel

// Settle sets to[j] to the position of from[j] on an axis of dim positions, dim at least
// 1, by the policy Clamp or Wrap. Under Clamp, values that count from the end do so
// first, if FromEnd is set. No kernel stops at such a position. from has len(to) values;
// it may be to.
func Settle(to, from []int64, dim int64, p Policy) {
	if dim <= 0 {
		panic("kernel: an axis without positions")
	}
	from = from[:len(to)]
	add := dim // under Wrap, a negative value counts from the end or is congruent to one that does
	if p.Outside != Wrap && !p.FromEnd {
		add = 0
	}
	for settle := settleForm(p.Outside); settle != nil && len(to) >= 8; {
		n := len(to) &^ 7
		at := settle.call(&settleArgs{to: &to[0], from: &from[0], n: n, dim: dim, add: add})
		if to, from = to[at:], from[at:]; at == n {
			break
		}
		// The form stops at eight values of which one needs a division.
		wrap(to[:8], from[:8], dim)
		to, from = to[8:], from[8:]
	}
	if p.Outside == Wrap {
		wrap(to, from, dim)
		return
	}
	for j, v := range from {
		v += v >> 63 & add
		to[j] = min(max(v, 0), dim-1)
	}
}

// wrap sets to[j] to from[j] modulo dim. An addition or a subtraction settles
// those less than dim away from the axis; a division takes as long as ten of them.
func wrap(to, from []int64, dim int64) {
	for j, v := range from {
		v += v >> 63 & dim
		v -= (dim - 1 - v) >> 63 & dim
		if uint64(v) >= uint64(dim) {
			if v %= dim; v < 0 {
				v += dim
			}
		}
		to[j] = v
	}
}

// settleArgs are the arguments of a settleFunc.
type settleArgs struct {
	to, from *int64
	n        int   // a positive multiple of 8
	dim, add int64 // add is added to negative values
}

// A settleFunc is a form of Settle in assembly, for one policy. It stops at eight
// values that it cannot settle, sets none of them, and returns how many values
// come before them.
type settleFunc func(*settleArgs) (settled int)

// call runs the form.
func (f settleFunc) call(a *settleArgs) int { return f(noescape(a)) }
