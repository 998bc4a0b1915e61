//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cputime

import (
	"syscall"
	"time"
)

func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
