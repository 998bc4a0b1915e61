//go:build !linux

package ring

import "os"

// A Ring does not exist on this system.
type Ring struct{}

// New is ErrNone on this system.
func New(int) (*Ring, error) { return nil, ErrNone }

// Depth is 0.
func (r *Ring) Depth() int { return 0 }

// Push does nothing: there is no Ring.
func (r *Ring) Push(*os.File, []byte, int64, int) {}

// Wait is ErrNone.
func (r *Ring) Wait(int, func(Read)) error { return ErrNone }

// Close does nothing.
func (r *Ring) Close() error { return nil }
