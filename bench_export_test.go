package garner

import "math"

// What the benchmarks turn to see a threshold from both sides.

// AllNear treats all data as near: nothing is prefetched, and columns are not
// gathered in strips.
func AllNear() PrepareOption {
	return func(p *Prepared) { p.tuning.NearBytes = math.MaxInt }
}

// NeverAlone runs even the smallest result on all threads.
func NeverAlone() PrepareOption {
	return func(p *Prepared) { p.tuning.AloneBytes = 0 }
}

// StripBytes sets the width of strips; 0: no strips.
func StripBytes(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.StripBytes = n }
}

// TileRows sets the number of rows per tile.
func TileRows(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.TileRows = n }
}

// AheadLines sets the prefetch distance in cache lines.
func AheadLines(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.AheadLines = n }
}
