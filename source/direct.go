package source

import (
	"context"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// A direct run decodes rows of a File with a codec, whose pages are in the page cache,
// or of a converted Array of memory: each from where it is stored to its place in the
// result.
type direct struct {
	file   *File      // nil where the rows are in memory
	memory *converted // nil where they are in a file
	bytes  []byte     // the array as it is stored, where it lies in one piece
	codec  *Codec
	block  int64 // bytes of a block in the array
	stored int64 // and where it is stored
	runner exec.Runner

	// Of the run in progress.
	dst        []byte
	rows       []int64
	size, unit int // bytes of a row, rows of a unit
	fill       []byte
	ends       []int64 // of the last row in each part of the file, in bytes of the array
	copyUnit   func(unit int)
}

// newDirect is nil for an array whose rows can only be fetched, or are copied as they
// are stored.
func newDirect(a Array) *direct {
	d := &direct{}
	switch a := a.(type) {
	case *File:
		if a.codec == nil || !a.mappable() {
			return nil
		}
		d.file, d.codec, d.block, d.stored = a, a.codec, a.block, a.stored
		d.ends = make([]int64, len(a.parts))
		if len(a.parts) == 1 {
			b := a.parts[0].file.mapping().Bytes()
			d.bytes = b[min(a.parts[0].offset, int64(len(b))):]
		}
	case *converted:
		m, ok := a.of.(*memory)
		if !ok {
			return nil
		}
		var err error
		if d.bytes, err = m.bytes(); err != nil {
			return nil // Fetch says why
		}
		d.memory, d.codec, d.block, d.stored = a, a.codec, a.block, a.stored
	default:
		return nil
	}
	d.copyUnit = d.copyRows
	return d
}

// move decodes rows of size bytes to dst, one behind the other, on up to threads cores.
// A negative row is the fill. done is false where they must be fetched: a row is
// shorter than a block, which others may need too, or lies in two parts of the file;
// or a page is not in the page cache, or gone.
func (d *direct) move(ctx context.Context, threads int, dst []byte, rows []int64, size int, fill []byte) (done bool, err error) {
	if int64(size) < d.block || d.file != nil && !d.reach(rows, size) {
		return false, nil
	}
	d.dst, d.rows, d.size, d.fill = dst, rows, size, fill
	d.unit = max(exec.Tuned.TileBytes/size, 1)
	if len(rows)*size <= exec.Tuned.AloneBytes {
		threads = 1
	}
	how := d.runner.RunEach(ctx, (len(rows)+d.unit-1)/d.unit, threads, d.copyUnit)
	d.dst, d.rows, d.fill = nil, nil, nil
	switch how {
	case exec.Stopped:
		return false, context.Cause(ctx)
	case exec.Vanished:
		return false, nil
	}
	return d.file == nil || !d.cut(), nil
}

// reach finds the end of the last row in each part of the file. It is false where a
// row cannot be decoded from the mapping, as far as a look at some of the rows tells.
func (d *direct) reach(rows []int64, size int) bool {
	clear(d.ends)
	for _, row := range rows {
		if row < 0 {
			continue
		}
		i := d.file.partAt(row)
		if row+int64(size) > d.file.parts[i].to {
			return false
		}
		d.ends[i] = max(d.ends[i], row+int64(size))
	}
	for i, end := range d.ends {
		p := &d.file.parts[i]
		if end > 0 && d.offset(p, end+d.block-1) > int64(p.file.mapping().Size()) {
			return false // the file was cut short before it was mapped: a read reports it
		}
	}
	return d.file.resident(rows, size, samples)
}

// cut reports whether a file ends before the last byte of a row, which then reads as
// zero.
func (d *direct) cut() bool {
	for i, end := range d.ends {
		p := &d.file.parts[i]
		if end > 0 && p.file.mapping().CheckTo(int(d.offset(p, end+d.block-1))) != nil {
			return true
		}
	}
	return false
}

// offset returns where the file stores the block of a byte of a part.
func (d *direct) offset(p *part, at int64) int64 {
	return p.offset + (at-p.from)/d.block*d.stored
}

// source returns the stored bytes of the array from the block of a row on.
func (d *direct) source(row int64) []byte {
	if d.bytes != nil {
		return d.bytes[row/d.block*d.stored:]
	}
	p := &d.file.parts[d.file.partAt(row)]
	return p.file.mapping().Bytes()[d.offset(p, row):]
}

// copyRows decodes the rows of a unit.
func (d *direct) copyRows(unit int) {
	first, last := unit*d.unit, min((unit+1)*d.unit, len(d.rows))
	stored := (int64(d.size) + d.block - 1) / d.block * d.stored
	for i := first; i < last; i++ {
		if later := i + aheadRows; later < last && d.rows[later] >= 0 && stored <= aheadBytes {
			src := d.source(d.rows[later])
			kernel.Prefetch(src[:min(stored, int64(len(src)))])
		}
		dst, row := d.dst[i*d.size:(i+1)*d.size], d.rows[i]
		if row < 0 {
			fillWith(dst, d.fill)
			continue
		}
		decode(d.codec, d.block, d.stored, dst, d.source(row), row)
	}
}

// aheadRows is how many rows ahead a stored row of up to aheadBytes is prefetched
// while another is decoded.
const aheadRows, aheadBytes = 4, 1 << 10

// fillWith fills dst with an element; nil is zero.
func fillWith(dst, element []byte) {
	if element == nil {
		clear(dst)
		return
	}
	for n := copy(dst, element); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// decode writes the bytes of an array from byte from on to dst. src has the stored
// blocks from that byte's on: block bytes of the array each, in stored bytes.
func decode(codec *Codec, block, stored int64, dst, src []byte, from int64) {
	if inside := from % block; inside > 0 {
		n := decodePart(codec, block, stored, dst, src, int(inside))
		dst, src = dst[n:], src[stored:]
	}
	n := int64(len(dst)) / block
	if n > 0 {
		codec.Decode(dst[:n*block], src[:n*stored])
	}
	if dst = dst[n*block:]; len(dst) > 0 {
		decodePart(codec, block, stored, dst, src[n*stored:], 0)
	}
}

// decodePart writes the bytes of a block from byte inside on to dst, and returns how
// many.
func decodePart(codec *Codec, block, stored int64, dst, src []byte, inside int) int {
	s := scratches.Get().(*[]byte)
	defer scratches.Put(s)
	b := room(s, int(block))
	codec.Decode(b, src[:stored])
	return copy(dst, b[inside:])
}
