//go:build !linux

package mapped

import "os"

// Resident returns known = false on this system.
func (f *File) Resident(int, int) (resident, known bool) { return false, false }

func told(string, os.FileInfo) bool { return false }

// Passed does nothing on this system.
func (f *File) Passed([]byte) {}

// Scattered does nothing on this system.
func (f *File) Scattered() {}

// Alone does nothing on this system.
func Alone(*os.File) {}

// WillNeed returns false on this system.
func WillNeed(*os.File, int64, int64) bool { return false }
