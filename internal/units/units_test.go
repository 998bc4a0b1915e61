package units

import (
	"math"
	"testing"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0:             "0 B",
		1023:          "1023 B",
		1 << 10:       "1 KiB",
		1536:          "1.5 KiB",
		2000000:       "1.9 MiB",
		16 << 20:      "16 MiB",
		3355443200:    "3.1 GiB",
		1<<30 - 1:     "1024 MiB", // rounded, in the unit that it has at least one of
		5 << 40:       "5 TiB",
		math.MaxInt64: "8388608 TiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if got := GiB.Text(1 << 44); got != "16384 GiB" {
		t.Error(got)
	}
	if got := GiB.Text(100 << 20); got != "0.1 GiB" {
		t.Error(got)
	}
	if got := Of(-1); got != B {
		t.Error(got)
	}
}

func TestSeconds(t *testing.T) {
	for n, want := range map[float64]string{0: "0 s", 0.4: "0 s", 99: "99 s", 100: "2 min", 5999: "100 min", 6000: "2 h", 2.1e6: "583 h"} {
		if got := Seconds(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}
