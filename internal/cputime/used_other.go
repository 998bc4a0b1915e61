//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cputime

import "time"

func used() time.Duration { return 0 }
