package garner

import "github.com/garner-go/garner/internal/exec"

// Cut makes a Prepared divide its work into the smallest possible units, so
// that a few elements go through tiles, groups, pieces of slices and several
// goroutines.
func Cut(tileRows, unitBytes, sharedRows int) PrepareOption {
	return func(p *Prepared) {
		p.tuning = exec.Tuning{TileRows: tileRows, UnitBytes: unitBytes, UnitTiles: 2, SharedRows: sharedRows, AheadLines: 5, StreamBytes: 200, StripBytes: 8}
	}
}

// StreamBytes sets the least size of a result whose stores are non-temporal.
func StreamBytes(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.StreamBytes = n }
}
