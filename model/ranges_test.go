package model

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// TestRanges opens constants of parts of others, in one file and across the ranges of several, and
// holds that each file is known again.
func TestRanges(t *testing.T) {
	dir := t.TempDir()
	ranges := make([]*Constant, 3)
	var all []byte
	for i := range ranges {
		path := filepath.Join(dir, string(rune('a'+i)))
		b := []byte{9, byte(10 * i), byte(10*i + 1), byte(10*i + 2)}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		all = append(all, b[1:]...)
		ranges[i] = &Constant{File: path, Offset: 1, Size: 3}
	}
	whole := &Constant{Spec: garner.SpecOf(garner.U8, 9)}
	for _, r := range ranges {
		whole.Append(r, 0, 0) // which adds nothing
		whole.Append(r, 0, r.Size)
	}
	for from := range 9 {
		for size := 1; size <= 9-from; size++ {
			part := &Constant{Spec: garner.SpecOf(garner.U8, size)}
			part.Append(whole, int64(from), int64(size))
			a, err := part.Open()
			if err != nil {
				t.Fatalf("%d bytes from %d on: %v", size, from, err)
			}
			got := make([]byte, size)
			if err := a.Fetch(t.Context(), source.Rows{At: []int64{0}, Size: size, Dst: got}); err != nil || !bytes.Equal(got, all[from:from+size]) {
				t.Errorf("%d bytes from %d on are %v, %v; want %v", size, from, got, err, all[from:from+size])
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if want := (from+size-1)/3 - from/3; len(part.More) != want || part.Size != int64(size) {
				t.Errorf("%d bytes from %d on are %d in %d further ranges; want %d", size, from, part.Size, len(part.More), want)
			}
		}
	}
	whole.More[1].State.Size = 4 // and no other state
	if _, err := whole.Open(); !errors.Is(err, source.ErrChanged) {
		t.Errorf("%v", err)
	}
}
