package limits

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner/internal/kernel"
)

func plausible(perSecond float64) bool {
	return perSecond > 0 && !math.IsInf(perSecond, 0) && !math.IsNaN(perSecond)
}

// TestCopy checks that there is a positive speed for any size and number of threads.
// It fixes no value, because that depends on the machine.
func TestCopy(t *testing.T) {
	for _, tt := range []struct{ threads, bytes int }{{1, 0}, {1, 1}, {2, 5000}, {3, 3 << 20}} {
		perSecond, err := Copy(tt.threads, tt.bytes)
		if err != nil || !plausible(perSecond) {
			t.Errorf("%d bytes by %d threads: %v a second, %v", tt.bytes, tt.threads, perSecond, err)
		}
	}
	if _, err := Copy(1, math.MaxInt/2); math.MaxInt > math.MaxInt32 && err == nil {
		t.Error("more memory than there is was copied")
	}
}

func TestRandomLines(t *testing.T) {
	forms := kernel.Forms()
	for _, form := range slices.Compact([]string{forms[0], forms[len(forms)-1]}) {
		restore := kernel.Use(form)
		for _, tt := range []struct{ threads, bytes int }{{1, Line}, {3, 1 << 20}} {
			if perSecond := RandomLines(tt.threads, make([]byte, tt.bytes)); !plausible(perSecond) {
				t.Errorf("%s: of %d bytes by %d threads: %v a second", form, tt.bytes, tt.threads, perSecond)
			}
		}
		restore()
	}
	if perSecond := RandomLines(1, make([]byte, Line-1)); perSecond != 0 {
		t.Errorf("a table without a line: %v a second", perSecond)
	}
}

// TestRounds holds that every thread works as often as every other.
func TestRounds(t *testing.T) {
	var times [3]atomic.Int64
	took := rounds(len(times), func(worker int) {
		times[worker].Add(1)
	})
	if took <= 0 {
		t.Errorf("took %v s", took)
	}
	for i := range times {
		if n := times[i].Load(); n == 0 || n != times[0].Load() {
			t.Errorf("thread %d worked %d times, thread 0 %d times", i, n, times[0].Load())
		}
	}
}
