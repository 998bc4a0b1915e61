//go:build !linux

package main

import (
	"errors"
	"os"
)

// forget does not exist on this system.
func forget(*os.File, int64, int64) bool { return false }

// written does not exist on this system.
func written(*os.File, int64, int64) bool { return false }

// openDirect does not exist on this system.
func openDirect(path string) (*os.File, error) {
	return nil, &os.PathError{Op: "open", Path: path, Err: errors.ErrUnsupported}
}
