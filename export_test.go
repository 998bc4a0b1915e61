package garner

// Cut makes a Prepared cut its work into the smallest units that there are, so
// that a few elements go through tiles, groups, pieces of slices and several
// goroutines.
func Cut(tileRows, unitBytes, sharedRows int) PrepareOption {
	return func(p *Prepared) {
		p.tuning = tuning{tileRows: tileRows, unitBytes: unitBytes, unitTiles: 2, sharedRows: sharedRows, aheadLines: 5, streamBytes: 200, stripBytes: 8}
	}
}

// StreamBytes is from which size on a result is written past the caches.
func StreamBytes(n int) PrepareOption {
	return func(p *Prepared) { p.tuning.streamBytes = n }
}
