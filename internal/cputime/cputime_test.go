package cputime

import (
	"runtime"
	"testing"
	"time"
)

// TestOf holds that waiting costs nothing, and that computing does.
func TestOf(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processor time on " + runtime.GOOS)
	}
	if took := Of(func() { time.Sleep(300 * time.Millisecond) }); took > 200*time.Millisecond {
		t.Errorf("sleeping takes %v", took)
	}
	end := used() + 50*time.Millisecond
	if took := Of(func() {
		for used() < end {
		}
	}); took < 40*time.Millisecond {
		t.Errorf("50 ms take %v", took)
	}
}
