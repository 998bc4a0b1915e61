// Package strict implements garner's own operators Gather, GatherND and
// GatherElements. Every index outside its axis is an error, also a negative one.
package strict
