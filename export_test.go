package garner

import "github.com/garner-go/garner/internal/exec"

// Cut makes a Prepared cut its work into the smallest units that there are, so
// that a few elements go through tiles, groups, pieces of slices and several
// goroutines.
func Cut(tileRows, unitBytes, sharedRows int) PrepareOption {
	return func(p *Prepared) {
		p.tuning = exec.Tuning{TileRows: tileRows, UnitBytes: unitBytes, UnitTiles: 2, SharedRows: sharedRows, AheadLines: 5, StreamBytes: 200, StripBytes: 8}
	}
}

// StreamBytes is from which size on the stores of a result are non-temporal.
func StreamBytes(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.StreamBytes = n }
}
