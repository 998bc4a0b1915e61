// Package numpy implements NumPy's gathers: take and take_along_axis.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package numpy
