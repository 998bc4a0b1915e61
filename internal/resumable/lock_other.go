//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package resumable

import "os"

const noFollow = 0

// tryLock succeeds: the system has no lock that ends with the process.
func tryLock(*os.File) (bool, error) { return true, nil }
