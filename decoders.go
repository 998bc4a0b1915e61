package garner

import (
	"sync"

	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// A decoder decodes whole operands, and parts of them: codes, scales and zero points,
// each from a byte of it on, with what Spans says of the elements.
type decoder interface {
	exec.Decoder
	decodeParts(dst []byte, parts *exec.Stored, from *[3]int64, first, n int)

	// block is the codec of blocks that hold their own scales; nil of another form.
	block() *codec.Codec
}

// A summer is what sums the rows of a decoder: whole operands, and parts of them.
type summer interface {
	exec.Summer

	// addParts adds the elements from the first-th on, times a weight, to the sums of f32 in
	// dst. It is the definition of Sum.
	addParts(dst []byte, parts *exec.Stored, from *[3]int64, first int, weight float32)

	// sumParts is Stored.SumParts.
	sumParts(dst, stored []byte, t kernel.Terms, b kernel.Bags, first int)
}

// A blockDecoder decodes blocks that hold their own scales, which lie side by side.
type blockDecoder struct {
	kind  *codec.Codec
	width int       // bytes of an element: 4, or those of the dtype that Blocks was given
	room  sync.Pool // free list of room for one block's elements
	at    sync.Pool // free list of places of blocks
}

func newBlockDecoder(kind *codec.Codec, width int) *blockDecoder {
	d := &blockDecoder{kind: kind, width: width}
	d.room.New = func() any {
		room := make([]byte, width*kind.Elements)
		return &room
	}
	d.at.New = func() any { return new([placesAtOnce]int64) }
	return d
}

// placesAtOnce is the number of blocks that are decoded at a time, each from its place.
const placesAtOnce = 1024

// Decode is decodeBlocks of whole data.
func (d *blockDecoder) Decode(dst []byte, from *exec.Stored, first, n int) {
	d.decodeBlocks(dst, from[0], 0, first, n)
}

func (d *blockDecoder) decodeParts(dst []byte, parts *exec.Stored, from *[3]int64, first, n int) {
	d.decodeBlocks(dst, parts[0], int(from[0])/d.kind.Bytes, first, n)
}

func (d *blockDecoder) block() *codec.Codec { return d.kind }

// firstBlock is the place of the only block.
var firstBlock = []int64{0}

// decodeBlocks decodes whole blocks into their places. A block that is needed in part is
// decoded in part, or into room of its own. stored begins with the block of number from.
func (d *blockDecoder) decodeBlocks(dst, stored []byte, from, first, n int) {
	each, size, width := d.kind.Elements, d.kind.Bytes, d.width
	for n > 0 {
		block, skip := first/each-from, first%each
		count := n / each * each
		if skip == 0 && count > 0 {
			d.kind.Decode(dst[:width*count], stored[block*size:(block+count/each)*size])
		} else {
			count = min(n, each-skip)
			if one := stored[block*size : (block+1)*size]; d.kind.Scattered != nil {
				d.kind.Scattered(dst[:width*count], one, firstBlock, skip, count)
			} else {
				room := d.room.Get().(*[]byte)
				d.kind.Decode(*room, one)
				copy(dst, (*room)[width*skip:width*(skip+count)])
				d.room.Put(room)
			}
		}
		dst, first, n = dst[width*count:], first+count, n-count
	}
}

// DecodeRows decodes parts of blocks, or some whole blocks, where the codec does so from
// their places.
func (d *blockDecoder) DecodeRows(dst []byte, from *exec.Stored, rows []int64, bias, n int) bool {
	skip, ok := d.partAt(bias, n)
	whole := d.kind.DecodeRows != nil && n > 0 && skip == 0 && n%d.kind.Elements == 0
	if !whole && (d.kind.Scattered == nil || !ok) {
		return false
	}
	places := d.at.Get().(*[placesAtOnce]int64)
	defer d.at.Put(places)
	for len(rows) > 0 {
		at := places[:min(len(rows), placesAtOnce)]
		if !d.blocksAt(at, rows, bias-d.width*skip) {
			return false
		}
		if whole {
			d.kind.DecodeRows(dst, from[0], at, n/d.kind.Elements)
		} else {
			d.kind.Scattered(dst, from[0], at, skip, n)
		}
		dst, rows = dst[d.width*n*len(at):], rows[len(at):]
	}
	return true
}

// partAt returns where n elements begin in a block, given how many bytes are before them.
// ok is false where they are no part of one block, if that begins with a row.
func (d *blockDecoder) partAt(bias, n int) (skip int, ok bool) {
	if n == 0 {
		return 0, false
	}
	skip = bias / d.width % d.kind.Elements
	return skip, n <= d.kind.Elements-skip
}

// Summer returns d, if its codec sums blocks.
func (d *blockDecoder) Summer() exec.Summer {
	if d.kind.Sum == nil {
		return nil
	}
	return d
}

// Sum sums rows of whole data.
func (d *blockDecoder) Sum(dst []byte, from *exec.Stored, t kernel.Terms, b kernel.Bags) {
	first := t.Bias / 4
	places := d.at.Get().(*[placesAtOnce]int64)
	defer d.at.Put(places)
	if len(t.Rows) > placesAtOnce || !d.blocksAt(places[:len(t.Rows)], t.Rows, t.Bias-first%d.kind.Elements*4) {
		kernel.AddEach(dst, t, b, func(sums []byte, row int, weight float32) { d.addBlocks(sums, from[0], 0, row/4, weight) })
		return
	}
	t.Rows, t.Bias = places[:len(t.Rows)], 0
	d.sumParts(dst, from[0], t, b, first)
}

func (d *blockDecoder) sumParts(dst, stored []byte, t kernel.Terms, b kernel.Bags, first int) {
	skip := first % d.kind.Elements
	if b.Size/4 <= d.kind.Elements-skip {
		d.kind.Sum(dst, stored, t, b, skip)
		return
	}
	kernel.AddEach(dst, t, b, func(sums []byte, row int, weight float32) { d.addBlocks(sums, stored[row:], 0, skip, weight) })
}

func (d *blockDecoder) addParts(dst []byte, parts *exec.Stored, from *[3]int64, first int, weight float32) {
	d.addBlocks(dst, parts[0], int(from[0])/d.kind.Bytes, first, weight)
}

// addBlocks adds elements of one block after the other. stored begins with the block of
// number from.
func (d *blockDecoder) addBlocks(dst, stored []byte, from, first int, weight float32) {
	each, size := d.kind.Elements, d.kind.Bytes
	for len(dst) > 0 {
		block, skip := first/each-from, first%each
		n := min(len(dst)/4, each-skip)
		d.kind.Add(dst[:4*n], stored[block*size:(block+1)*size], skip, weight)
		dst, first = dst[4*n:], first+n
	}
}

// blocksAt sets at to where blocks lie, given how many bytes of elements are before them.
// It returns false where one begins inside a block.
func (d *blockDecoder) blocksAt(at, rows []int64, bias int) bool {
	size, stored := int64(d.width*d.kind.Elements), int64(d.kind.Bytes)
	each := 1 / float64(size)
	for j := range at {
		first := rows[j] + int64(bias)
		// The nearest integer; a division of integers takes several times as long.
		block := int64(float64(first)*each + 0.5)
		if block*size != first {
			return false
		}
		at[j] = block * stored
	}
	return true
}

// Spans returns the bytes of the blocks of some elements.
func (d *blockDecoder) Spans(first, n int) (spans [3]exec.Span) {
	if n > 0 && d.kind.Elements > 0 {
		each, size := d.kind.Elements, d.kind.Bytes
		spans[0] = exec.Span{From: int64(first/each) * int64(size), To: (int64((first+n-1)/each) + 1) * int64(size)}
	}
	return spans
}

// A codeDecoder decodes codes whose scales and zero points are operands.
type codeDecoder struct{ codec.Blocks }

// Decode decodes codes into their places.
func (d codeDecoder) Decode(dst []byte, from *exec.Stored, first, n int) {
	d.decodeParts(dst, from, new([3]int64), first, n)
}

func (d codeDecoder) decodeParts(dst []byte, parts *exec.Stored, from *[3]int64, first, n int) {
	part := func(k int) codec.Part { return codec.Part{Bytes: parts[k], From: from[k]} }
	d.Blocks.Decode(dst, part(0), part(1), part(2), first, n)
}

func (d codeDecoder) block() *codec.Codec { return nil }

// DecodeRows decodes rows of whole blocks.
func (d codeDecoder) DecodeRows(dst []byte, from *exec.Stored, rows []int64, bias, n int) bool {
	return d.Blocks.DecodeRows(dst, from[0], from[1], from[2], rows, bias, n)
}

// Summer returns nil.
func (codeDecoder) Summer() exec.Summer { return nil }

// Spans returns the bytes of the codes, scales and zero points of some elements.
func (d codeDecoder) Spans(first, n int) [3]exec.Span {
	codes, scales, zeros := d.Blocks.Spans(first, n)
	return [3]exec.Span{codes, scales, zeros}
}
