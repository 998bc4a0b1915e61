package exec

import "github.com/garner-go/garner/internal/kernel"

// Tuning holds the sizes into which work is divided, and the thresholds between
// the ways. Tests make them small, so that a few elements take every way.
type Tuning struct {
	TileRows    int // rows per tile, a multiple of 8; up to four times as many if rows are short
	TileBytes   int // size of a tile of short rows, in bytes of the result
	UnitBytes   int // bytes of the result that a worker moves between two looks at the context, about
	UnitTiles   int // most tiles per unit
	SharedRows  int // most tuples that are resolved before any row moves, if several turns use their rows
	AloneBytes  int // largest result that runs on the caller's goroutine alone
	AloneTime   int // longest run on the caller's goroutine alone, by estimate, in nanoseconds; 0: AloneBytes alone decides
	NearBytes   int // largest data that counts as near, that is in the caches: it is not prefetched
	StayBytes   int // largest data that stays in the last-level cache if non-temporal stores bypass it
	AheadLines  int // prefetch distance in cache lines; three quarters of it for rows of eight lines or more
	StreamBytes int // least result with non-temporal stores; half of it for single elements, and for long slices of far data
	CacheBytes  int // size of the last-level cache; 0: not known
	ColumnsFrom int // fewest elements in a turn for which columns are worth a kernel call
	StripBytes  int // width of a strip of columns of far data
}

// Tuned keeps a tile's rows and index values, 8 KiB each, in the first-level
// cache, and those of short rows, up to 32 KiB each, in the second-level cache.
// A tile takes some 20 to 60 µs to move, so a worker looks at the context
// often. For a result of up to AloneBytes, waking another core costs more than
// it saves. docs/kernels.md has the measurements.
var Tuned = Tuning{
	CacheBytes: kernel.LastCache(),

	TileRows: 1024, TileBytes: 64 << 10, UnitBytes: 256 << 10, UnitTiles: 16, SharedRows: 64 << 10, AloneBytes: 512 << 10,
	NearBytes: 512 << 10, StayBytes: 8 << 20, AheadLines: 128, StreamBytes: 24 << 20, ColumnsFrom: 128, StripBytes: 512,
}

// resultStays returns the size from which a result of near data does not stay in the
// last-level cache until the caller reads it. Processors name caches of hundreds of
// MiB that many virtual machines share: of 480 MiB, results of up to 64 MiB stayed.
func (t *Tuning) resultStays() int { return max(t.StreamBytes, min(t.CacheBytes/8, 64<<20)) }
