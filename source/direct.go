package source

import (
	"context"

	"github.com/garner-go/garner/internal/exec"
)

// A direct run decodes rows of a File with a codec, whose pages are in the page cache,
// or of a converted Array of memory: each from where it is stored to its place in the
// result.
type direct struct {
	storedRows
	placing placing
	runner  exec.Runner
	ends    []int64 // of the last row in each part of the file, in bytes of the array
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
		d.file, d.storage = a, a.storage
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
		d.storage = a.storage
	default:
		return nil
	}
	d.placing.from = &d.storedRows
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
	p := &d.placing
	p.dst, p.count, p.rows, p.size, p.fill = dst, len(rows), rows, size, fill
	how := p.run(ctx, &d.runner, threads)
	p.dst, p.rows, p.fill = nil, nil, nil
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
		if end > 0 && d.file.offset(p, end+d.block-1) > int64(p.file.mapping().Size()) {
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
		if end > 0 && p.file.mapping().CheckTo(int(d.file.offset(p, end+d.block-1))) != nil {
			return true
		}
	}
	return false
}
