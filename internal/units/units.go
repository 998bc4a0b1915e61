// Package units writes numbers of bytes, and times, for people.
package units

import (
	"fmt"
	"strings"
)

// A Unit is what a number of bytes is counted in.
type Unit struct {
	Name  string
	Bytes float64 // in one
}

// The units. Each has 1024 of the one before.
var (
	B   = Unit{"B", 1}
	KiB = Unit{"KiB", 1 << 10}
	MiB = Unit{"MiB", 1 << 20}
	GiB = Unit{"GiB", 1 << 30}
	TiB = Unit{"TiB", 1 << 40}
)

// Of is the largest unit that a number of bytes has at least one of; B below
// that.
func Of(bytes float64) Unit {
	for _, u := range []Unit{TiB, GiB, MiB, KiB} {
		if bytes >= u.Bytes {
			return u
		}
	}
	return B
}

// Text is a number of bytes in the unit, with one decimal unless that is 0:
// "1.5 GiB", "3 GiB".
func (u Unit) Text(bytes float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", bytes/u.Bytes), ".0") + " " + u.Name
}

// Bytes is a number of bytes in its own unit: "24 B", "1.5 MiB".
func Bytes(n int64) string { return Of(float64(n)).Text(float64(n)) }

// Seconds is a time in a unit that leaves it two digits, or hours: "12 s", "3 min", "583 h".
func Seconds(seconds float64) string {
	switch {
	case seconds < 100:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	default:
		return fmt.Sprintf("%.0f h", seconds/3600)
	}
}
