package source

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
)

// A blockwise run fetches rows of a File with a codec as they are stored, and then decodes
// each distinct one once, into its place in the result, on all cores. So a block of the
// result has more rows than if they were decoded as they are read, and the disk waits for
// the next one for less time. Rows are whole blocks of the codec.
type blockwise struct {
	raw    Array // the stored bytes, for callers that hold the File
	codec  *Codec
	block  int64 // bytes of a block in the array
	stored int64 // and in the file
	runner exec.Runner
	first  []int // by the number of a distinct row: where it was decoded to
}

// newBlockwise is nil for an array without a codec, or whose slices are not whole blocks.
func (g *gather) newBlockwise() *blockwise {
	f, ok := g.data.(*File)
	if !ok || f.codec == nil || g.plan.Slice == 0 || int64(g.plan.Slice)*int64(g.bits/8)%f.block != 0 {
		return nil
	}
	return &blockwise{raw: fetches(f.raw(), g.o.Memory > 0, g.threads), codec: f.codec, block: f.block, stored: f.stored}
}

// raw returns the File of the stored bytes of f, row by row as f's are.
func (f *File) raw() *File {
	v := &File{files: f.files, of: f.opened(), block: 1, stored: 1}
	if f.rowSize%f.block == 0 {
		v.rowSize = f.rowSize / f.block * f.stored
	}
	for _, p := range f.parts {
		p.from, p.to = v.size, v.size+(p.to-p.from)/f.block*f.stored
		v.size = p.to
		v.parts = append(v.parts, p)
	}
	v.spec = garner.SpecOf(garner.U8, int(v.size))
	return v
}

// sizeOf returns the stored bytes of so many bytes of the array.
func (b *blockwise) sizeOf(bytes int64) int64 { return bytes / b.block * b.stored }

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
			rows[i] = b.sizeOf(row)
		}
	}
	stored := int(b.sizeOf(int64(size)))
	src, err := f.fetchDistinct(ctx, b.raw, rows, stored)
	if err != nil {
		return false, err
	}
	b.first = b.first[:0]
	again := false
	for range len(src) / stored {
		b.first = append(b.first, -1)
	}
	for i, row := range rows {
		if row < 0 {
			continue
		}
		if k := int(row) / stored; b.first[k] < 0 {
			b.first[k] = i
		} else {
			again = true
		}
	}
	unit := max(exec.Tuned.TileBytes/size, 1) // rows
	if len(rows)*size <= exec.Tuned.AloneBytes {
		threads = 1
	}
	each := func(put func(to []byte, i, first int, row int64)) exec.Outcome {
		return b.runner.RunEach(ctx, (len(rows)+unit-1)/unit, threads, func(u int) {
			for i := u * unit; i < min((u+1)*unit, len(rows)); i++ {
				first := -1
				if rows[i] >= 0 {
					first = b.first[int(rows[i])/stored]
				}
				put(dst[i*size:(i+1)*size], i, first, rows[i])
			}
		})
	}
	how := each(func(to []byte, i, first int, row int64) {
		switch {
		case row < 0:
			fillWith(to, fill)
		case first == i:
			b.codec.Decode(to, src[row:row+int64(stored)])
		}
	})
	if again && how == exec.Done {
		how = each(func(to []byte, i, first int, _ int64) {
			if first >= 0 && first != i {
				copy(to, dst[first*size:])
			}
		})
	}
	if how == exec.Stopped {
		return false, context.Cause(ctx)
	}
	return true, nil
}
