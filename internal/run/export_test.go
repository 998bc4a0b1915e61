package run

// SetSurveyed replaces the size in bytes up to which the survey computes a tensor:
// with -1 it leaves all to the run. The caller calls restore.
func SetSurveyed(size float64) (restore func()) {
	before := surveyed
	surveyed = size
	return func() { surveyed = before }
}

// EndsOf is endsOf.
var EndsOf = endsOf
