// Package strict has garner's own operators: the three ways to gather, with
// nothing forgiven. A negative index and one beyond its axis are errors.
package strict
