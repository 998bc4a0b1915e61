package exec

// Tuning is how work is cut up and where one way of moving ends and the next
// begins. Tests cut it small, so that few elements go every way.
type Tuning struct {
	TileRows    int // rows that are resolved and moved at once, a multiple of 8; up to four times as many short ones
	TileBytes   int // up to which a tile takes more of those
	UnitBytes   int // about what a worker moves before it looks at the context
	UnitTiles   int // tiles that a worker takes together, at most
	SharedRows  int // tuples that are resolved before anything moves, at most, where several turns want their rows
	AloneBytes  int // size of a result up to which a run stays on the caller's goroutine
	NearBytes   int // size of data up to which it is taken to be in the caches: nothing is prefetched
	StayBytes   int // size of data up to which it stays in the last-level cache, if non-temporal stores keep the result out
	AheadLines  int // prefetch distance in cache lines; three quarters of it for rows of eight lines and more
	StreamBytes int // size of a result, per core up to two, from which on its stores are non-temporal; half of it for short slices, and for long ones of far data
	ColumnsFrom int // elements from which on columns are worth their call
	StripBytes  int // width of the strips in which the columns of far data are visited
}

// Tuned keeps a tile's rows and index values, 8 KiB each, in the first-level
// cache, and those of short rows, up to 32 KiB each, in the second-level one.
// Moving a tile takes some 20 to 60 µs, so that the context is looked at often.
// Up to AloneBytes, waking another core costs more than it brings.
// docs/kernels.md has the measurements.
var Tuned = Tuning{
	TileRows: 1024, TileBytes: 64 << 10, UnitBytes: 256 << 10, UnitTiles: 16, SharedRows: 64 << 10, AloneBytes: 512 << 10,
	NearBytes: 512 << 10, StayBytes: 8 << 20, AheadLines: 128, StreamBytes: 24 << 20, ColumnsFrom: 128, StripBytes: 512,
}
