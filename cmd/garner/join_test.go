package main

import (
	"fmt"
	"testing"
)

// TestMissingParts holds what the names of parts tell.
func TestMissingParts(t *testing.T) {
	parts := func(format string, of int, numbers ...int) (paths []string) {
		for _, n := range numbers {
			if of > 0 {
				paths = append(paths, fmt.Sprintf(format, n, of))
			} else {
				paths = append(paths, fmt.Sprintf(format, n))
			}
		}
		return paths
	}
	var even []int
	for n := 2; n <= 64; n += 2 {
		even = append(even, n)
	}
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{parts("/data2/rows-%d-of-%d.npy", 3, 1, 2, 3), ""},
		{parts("rows-%d-of-%d.npy", 1, 1), ""},
		{parts("rows-%d-of-%d.npy", 3, 1, 3), "part 2 of 3 is missing"},
		{parts("rows-%d-of-%d.npy", 4, 3), "parts 1 to 2 and 4 of 4 are missing"},
		{parts("rows%d_of_%d.npy", 9, 4, 5), "parts 1 to 3 and 6 to 9 of 9 are missing"},
		{parts("rows-%03d-of-%03d.npy", 12, 1, 2, 4, 6, 7, 8, 9, 10, 11, 12), "parts 3 and 5 of 12 are missing"},
		{parts("rows-%d-of-%d.npy", 2, 1, 2, 3), "there is a part 3 of 2"},
		{[]string{"rows-1-of-2.npy", "rows-01-of-2.npy", "rows-2-of-2.npy"}, "part 1 is there twice"},
		{[]string{"a/rows-1-of-2.npy", "b/rows-2-of-2.npy"}, ""},
		{parts("rows-%d-of-%d.npy", 64, even...), "parts 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39 and others of 64 are missing"},
		{parts("2024-rows-%d.npy", 0, 1, 2, 4), "part 3 is missing"},
		{parts("2024-rows-%d.npy", 0, 0, 1, 2), ""},
		{parts("2024-rows-%d.npy", 0, 2, 3), "part 1 is missing"},
		{[]string{"a1.npy", "b2.npy"}, ""}, // no numbers of parts
		{[]string{"a1-1.npy", "a2-2.npy"}, ""},
		{[]string{"rows-1-of-2.npy", "rows-2-of-3.npy"}, `these are parts of several results, by the number behind "of"`},
		{[]string{"a.npy", "b.npy"}, ""},
		{parts("rows-%d-of-%d.npy", 1999999999, 1), "parts 2 to 1999999999 of 1999999999 are missing"},
		{[]string{"rows-1-of-99999999999999999999.npy"}, ""},
	} {
		if got := missingParts(tt.paths); got != tt.want {
			t.Errorf("%q: %q; want %q", tt.paths, got, tt.want)
		}
	}
}
