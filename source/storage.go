package source

import (
	"context"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// storage is how an array stores its elements: in blocks that a codec decodes, or as they
// are in memory.
type storage struct {
	codec  *Codec // nil: as in memory
	block  int64  // bytes of a block in memory; 1 without a codec
	stored int64  // bytes of a block as it is stored; 1 without a codec
}

// storageOf returns the storage of elements of a dtype by a codec, which may be nil.
func storageOf(codec *Codec, dtype garner.DType) storage {
	if codec == nil {
		return storage{block: 1, stored: 1}
	}
	return storage{codec, int64(codec.Elements) * int64(dtype.Bits()/8), int64(codec.Bytes)}
}

// at returns where the block of a byte of the array begins, in stored bytes.
func (s *storage) at(byte int64) int64 {
	if s.codec == nil {
		return byte
	}
	return byte / s.block * s.stored
}

// end returns the stored bytes of the blocks that have the bytes of the array before byte
// to.
func (s *storage) end(to int64) int64 { return s.at(to + s.block - 1) }

// decode writes the bytes of the array from byte from on to dst. src has the stored
// blocks from that byte's on.
func (s *storage) decode(dst, src []byte, from int64) {
	if inside := from % s.block; inside > 0 {
		n := s.decodePart(dst, src, int(inside))
		dst, src = dst[n:], src[s.stored:]
	}
	n := int64(len(dst)) / s.block
	if n > 0 {
		s.codec.Decode(dst[:n*s.block], src[:n*s.stored])
	}
	if dst = dst[n*s.block:]; len(dst) > 0 {
		s.decodePart(dst, src[n*s.stored:], 0)
	}
}

// decodePart writes the bytes of a block from byte inside on to dst, and returns how
// many.
func (s *storage) decodePart(dst, src []byte, inside int) int {
	scratch := scratches.Get().(*[]byte)
	defer scratches.Put(scratch)
	b := room(scratch, int(s.block))
	s.codec.Decode(b, src[:s.stored])
	return copy(dst, b[inside:])
}

// storedRows are the rows of an array where they are stored: in mapped files, or in
// memory.
type storedRows struct {
	storage
	file  *File  // nil where the rows are in memory
	bytes []byte // the array as it is stored, where it lies in one piece
}

// source returns what is stored of the array from the block of a byte on.
func (s *storedRows) source(at int64) []byte {
	if s.bytes != nil {
		return s.bytes[s.at(at):]
	}
	p := &s.file.parts[s.file.partAt(at)]
	return p.file.mapping().Bytes()[s.file.offset(p, at):]
}

// A placing writes rows to their places in a result, each copied or decoded from where it
// is stored. It serves one goroutine at a time.
type placing struct {
	from  *storedRows
	whole bool // rows are whole blocks

	dst   []byte  // the rows, one behind the other
	count int     // how many they are
	rows  []int64 // where each begins in the array, in bytes; a negative one is the fill
	at    []int64 // where each is stored in from.bytes, instead of rows; none: rows say it
	size  int     // bytes of a row
	fill  []byte  // an element; nil is zero
	done  []int   // the numbers of rows that are in their places already, ascending

	unit     int // rows of a unit
	copyUnit func(unit int)
	leaves   func(unit, first, last int) bool // whether the unit of these rows stays as it is; nil: none does
}

// scattered reports whether the codec decodes rows from their places.
func (p *placing) scattered() bool {
	return p.from.codec != nil && p.from.codec.Scattered != nil && len(p.at) > 0
}

// run places the rows on up to threads cores.
func (p *placing) run(ctx context.Context, runner *exec.Runner, threads int) exec.Outcome {
	if p.copyUnit == nil {
		p.copyUnit = func(unit int) {
			first, last := unit*p.unit, min((unit+1)*p.unit, p.count)
			if p.leaves == nil || !p.leaves(unit, first, last) {
				p.copy(first, last)
			}
		}
	}
	unit := exec.Tuned.TileBytes
	if p.scattered() {
		unit = min(exec.Tuned.UnitBytes, len(p.dst)/8) // the first rows of a unit are not prefetched
	}
	p.unit = max(unit/p.size, 1)
	if len(p.dst) <= exec.Tuned.AloneBytes {
		threads = 1
	}
	return runner.RunEach(ctx, (p.count+p.unit-1)/p.unit, threads, p.copyUnit)
}

// copy places the rows with the numbers first … last-1.
func (p *placing) copy(first, last int) {
	codec, size, stored := p.from.codec, p.size, int(p.from.end(int64(p.size)))
	scattered := p.scattered()
	done, _ := slices.BinarySearch(p.done, first)
	for i := first; i < last; i++ {
		if done < len(p.done) && p.done[done] == i {
			done++
			continue
		}
		if scattered {
			end := last
			if done < len(p.done) {
				end = min(end, p.done[done])
			}
			codec.Scattered(p.dst[i*size:end*size], p.from.bytes, p.at[i:end])
			i = end - 1
			continue
		}
		if later := i + aheadRows; later < last && stored <= aheadBytes {
			src := p.source(later)
			kernel.Prefetch(src[:min(stored, len(src))])
		}
		switch dst, src := p.dst[i*size:(i+1)*size], p.source(i); {
		case src == nil:
			kernel.Repeat(dst, p.fill)
		case codec == nil:
			copy(dst, src)
		case p.whole:
			codec.Decode(dst, src[:stored])
		default:
			p.from.decode(dst, src, p.rows[i])
		}
	}
}

// source returns what is stored from the first block of row i on; nil for the fill.
func (p *placing) source(i int) []byte {
	switch {
	case len(p.at) > 0:
		return p.from.bytes[p.at[i]:]
	case p.rows[i] < 0:
		return nil
	}
	return p.from.source(p.rows[i])
}

// aheadRows is how many rows ahead a stored row of up to aheadBytes is prefetched
// while another is decoded.
const aheadRows, aheadBytes = 4, 1 << 10
