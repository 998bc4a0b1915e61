// Package cputime tells tests what a piece of a program costs, whatever else the machine
// does meanwhile.
package cputime

import "time"

// Of calls f and gives the processor time that the process took for it, collection of
// garbage and other goroutines included; 0 on a system that does not tell.
func Of(f func()) time.Duration {
	before := used()
	f()
	return used() - before
}
