package garner

import "math"

// What the benchmarks turn to see a threshold from both sides.

// AllNear takes all data to be near: nothing is asked for ahead, and columns
// are not visited in strips.
func AllNear() PrepareOption {
	return func(p *Prepared) { p.tuning.NearBytes = math.MaxInt }
}

// NeverAlone spreads the smallest run over all threads.
func NeverAlone() PrepareOption {
	return func(p *Prepared) { p.tuning.AloneBytes = 0 }
}

// StripBytes is how wide strips are; 0: columns are visited as they come.
func StripBytes(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.StripBytes = n }
}

// TileRows is how many rows are resolved at once, and then moved.
func TileRows(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.TileRows = n }
}

// AheadLines is how many cache lines are asked for before their turn.
func AheadLines(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.AheadLines = n }
}
