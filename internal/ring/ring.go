// Package ring reads files with many requests under way at once and no thread
// for each: io_uring, on a Linux that lets a program have it.
package ring

import "errors"

// ErrNone says that this system has no rings, or gives none to this program.
var ErrNone = errors.New("no io_uring")

// A Read is a request that has ended.
type Read struct {
	Tag int   // what it was pushed with
	N   int   // bytes that were read; fewer than were asked for where the system chose so
	Err error // what the system said, a syscall.Errno
}
