// Package jax implements JAX's gathers: lax.gather, and take and take_along_axis
// of jax.numpy, with their modes and fill values.
//
// The default fill value is NaN for floats, NaN + 0i for complex types, the
// minimum of a signed type, the maximum of an unsigned type, true for bool and
// "" for strings. nf4 and f4e2m1 have no NaN: there an index outside is an error,
// as it is where fill_value is another number that data's type lacks.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package jax

import (
	"strconv"

	"github.com/garner-go/garner"
)

// fill sets the policy for indices outside to a fill with value, or with JAX's
// default if value is ""; see the package comment.
func fill(l *garner.Lowering, value string) {
	if value != "" {
		l.FillText(value)
		return
	}
	d := l.Data().DType
	switch {
	case d == garner.Bool:
		l.FillText("true")
	case d == garner.String:
		l.Outside(garner.Zero)
	case d.IsComplex():
		l.FillText("NaN+0i")
	case d.IsFloat():
		l.FillText("NaN")
	case d.IsUnsigned():
		l.FillText(strconv.FormatUint(1<<(d.Bits()-1)-1+1<<(d.Bits()-1), 10))
	default:
		l.FillText(strconv.FormatInt(-1<<(d.Bits()-1), 10))
	}
}
