// Package ring reads files with many requests in flight on one thread, by io_uring on
// Linux.
package ring

import "errors"

// ErrNone is the class of systems without io_uring, or with io_uring forbidden for
// this program.
var ErrNone = errors.New("no io_uring")

// A Read is a completed request.
type Read struct {
	Tag int   // the tag passed to Push
	N   int   // bytes read; may be fewer than requested
	Err error // the system error, a syscall.Errno; nil on success
}
