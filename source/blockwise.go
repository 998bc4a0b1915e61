package source

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// A blockwise run fetches rows as they are stored, of a File with a codec or of stored data
// whose blocks hold their own scales. It decodes each distinct one once, into its place in
// the result, on all cores. So a block of the result has more rows than if they were decoded
// as they are read, and the disk waits for the next one for less time. Rows are whole blocks.
type blockwise struct {
	storage
	raw    Array // the stored bytes, for callers that hold the array
	runner exec.Runner
	first  []int // by the number of a distinct row: where it was decoded to
}

// newBlockwise is nil for an array without blocks, or whose slices are not whole blocks.
func (g *gather) newBlockwise() *blockwise {
	b := &blockwise{}
	if d, ok := g.elements.(*decoded); ok {
		elements, bytes, decode := d.form.Blocks()
		if decode == nil || elements == 0 {
			return nil
		}
		b.storage, b.raw = storageOf(&Codec{Elements: elements, Bytes: bytes, Decode: decode}, d.spec.DType), d.of[0]
	} else if f, ok := g.data.(*File); ok && f.codec != nil {
		b.storage, b.raw = f.storage, fetches(f.raw(), g.o.Memory > 0, g.threads)
	} else {
		return nil
	}
	if g.plan.Slice == 0 || int64(g.plan.Slice)*int64(g.bits/8)%b.block != 0 {
		return nil
	}
	return b
}

// raw returns the File of the stored bytes of f, row by row as f's are.
func (f *File) raw() *File {
	v := &File{files: f.files, of: f.opened(), storage: storageOf(nil, garner.U8)}
	if f.rowSize%f.block == 0 {
		v.rowSize = f.at(f.rowSize)
	}
	for _, p := range f.parts {
		p.from, p.to = v.size, v.size+f.at(p.to-p.from)
		v.size = p.to
		v.parts = append(v.parts, p)
	}
	v.spec = garner.SpecOf(garner.U8, int(v.size))
	return v
}

// move writes rows of size bytes to dst, one behind the other, on up to threads cores. A
// negative row is the fill. done is false where a row is not whole blocks; rows are then
// as they were.
func (b *blockwise) move(ctx context.Context, f *fetcher, threads int, dst []byte, rows []int64, size int, fill []byte) (done bool, err error) {
	if int64(size)%b.block != 0 {
		return false, nil
	}
	for _, row := range rows {
		if row >= 0 && row%b.block != 0 {
			return false, nil
		}
	}
	for i, row := range rows {
		if row >= 0 {
			rows[i] = b.at(row)
		}
	}
	stored := int(b.at(int64(size)))
	at, err := f.order.distinct(ctx, rows, stored)
	if err != nil {
		return false, err
	}
	b.first = b.first[:0]
	for range at {
		b.first = append(b.first, -1)
	}
	rest := false // rows that are fills, or are there already
	for i, row := range rows {
		if row >= 0 && b.first[int(row)/stored] < 0 {
			b.first[int(row)/stored] = i
		} else {
			rest = true
		}
	}
	if len(rows)*size <= exec.Tuned.AloneBytes {
		threads = 1
	}
	unit := max(exec.Tuned.TileBytes/size, 1) // rows
	if err := b.decode(ctx, f, threads, dst, at, size, stored, unit); err != nil || !rest {
		return err == nil, err
	}
	how := b.runner.RunEach(ctx, (len(rows)+unit-1)/unit, threads, func(u int) {
		for i := u * unit; i < min((u+1)*unit, len(rows)); i++ {
			to := dst[i*size : (i+1)*size]
			if rows[i] < 0 {
				kernel.Repeat(to, fill)
			} else if first := b.first[int(rows[i])/stored]; first != i {
				copy(to, dst[first*size:])
			}
		}
	})
	if how == exec.Stopped {
		return false, context.Cause(ctx)
	}
	return true, nil
}

// pieces is how many parts the distinct rows of a block are read in, of which reading are
// read side by side: where one ends, the disk has requests of the next, and the one before
// is decoded meanwhile. leastPiece is the least number of rows of a part.
const pieces, reading, leastPiece = 6, 2, 512

// A partRead is a read of a part.
type partRead struct {
	done   chan struct{}
	err    error
	panics exec.Panics // of the Array
}

// decode reads distinct rows, of which each has stored bytes from at on, and decodes them
// to their first places, in units of so many rows. The error is that of the first part that
// has one, and ends the reads of those behind.
func (b *blockwise) decode(ctx context.Context, f *fetcher, threads int, dst []byte, at []int64, size, stored, unit int) error {
	each := max((len(at)+pieces-1)/pieces, leastPiece)
	stage, err := f.room(min(len(at), (reading+1)*each) * stored)
	if err != nil {
		return err
	}
	part := func(first int) []byte { // where the rows from first on are read to
		from := first / each % (reading + 1) * each * stored
		return stage[from : from+min(each, len(at)-first)*stored]
	}
	ctx, cancel := context.WithCancel(ctx)
	var reads [reading]*partRead // by the turn of a part; nil: none is under way
	read := func(first int) {
		if first >= len(at) {
			return
		}
		r := &partRead{done: make(chan struct{})}
		reads[first/each%reading] = r
		rows := Rows{At: at[first:min(first+each, len(at))], Size: stored, Dst: part(first)}
		go func() {
			defer close(r.done)
			r.panics.Run(func() { r.err = b.raw.Fetch(ctx, rows) })
		}()
	}
	defer func() { // also where the codec panics: the stage is read into
		cancel()
		for _, r := range reads {
			if r != nil {
				<-r.done
			}
		}
	}()
	for k := range reading {
		read(k * each)
	}
	for first := 0; first < len(at); first += each {
		turn := first / each % reading
		r := reads[turn]
		<-r.done
		reads[turn] = nil
		if r.panics.Rethrow(); r.err != nil {
			return r.err
		}
		read(first + reading*each)
		src, n := part(first), min(each, len(at)-first)
		how := b.runner.RunEach(ctx, (n+unit-1)/unit, threads, func(u int) {
			for k := u * unit; k < min((u+1)*unit, n); k++ {
				place := b.first[first+k]
				b.codec.Decode(dst[place*size:(place+1)*size], src[k*stored:(k+1)*stored])
			}
		})
		if how == exec.Stopped {
			return context.Cause(ctx)
		}
	}
	return nil
}
