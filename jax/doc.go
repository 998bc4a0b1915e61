// Package jax has JAX's gathers: lax.gather, and take and take_along_axis of
// jax.numpy, with their modes and fill values.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
package jax

import (
	"strconv"

	"github.com/garner-go/garner"
)

// fill makes an index outside read as the fill value: the one that is given, or
// else NaN for floats, NaN + 0i for complex, the least value of a signed type,
// the greatest of an unsigned one, true for bool. The two floats that have no
// NaN have no such value: there an index outside is an error.
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
	case d == garner.F4E2M1, d == garner.NF4:
		l.Outside(garner.Error)
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
