// Package numpy has NumPy's gathers: take and take_along_axis.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
package numpy
