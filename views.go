package garner

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// views decodes elements whose operands need not be dense. Of an operand it reads what
// is stored of the wanted elements: in place where that lies side by side, such as in
// every second row of a table, else from a copy of that part.
type views struct {
	decoder  decoder
	operands [3]Tensor // their memory is held
}

// viewParts are parts of operands, and the room for copies of them.
type viewParts struct {
	parts exec.Stored
	from  [3]int64 // bytes of each operand before its part
	room  [3][]byte
	rows  []int64 // where rows lie, for Sum
}

// parts is the free list of them.
var parts = sync.Pool{New: func() any { return new(viewParts) }}

// Decode decodes elements. It reads the operands instead of from.
func (v *views) Decode(dst []byte, _ *exec.Stored, first, n int) {
	p := v.read(first, n)
	v.decoder.decodeParts(dst, &p.parts, &p.from, first, n)
	p.free()
}

// read returns what is stored of n elements.
func (v *views) read(first, n int) *viewParts {
	p := parts.Get().(*viewParts)
	for i, s := range v.decoder.Spans(first, n) {
		if s.To > s.From {
			p.parts[i], p.from[i] = v.operands[i].part(s, &p.room[i]), s.From
		}
	}
	return p
}

// free returns p to the free list.
func (p *viewParts) free() {
	p.parts, p.from = exec.Stored{}, [3]int64{}
	parts.Put(p)
}

// Spans returns the bytes of the operands' memory that lie side by side; none of those
// that Decode copies.
func (v *views) Spans(first, n int) (spans [3]exec.Span) {
	for i, s := range v.decoder.Spans(first, n) {
		if s.To > s.From {
			if at, ok := v.operands[i].inPlace(s); ok {
				spans[i] = exec.Span{From: int64(at), To: int64(at) + s.To - s.From}
			}
		}
	}
	return spans
}

// DecodeRows returns false.
func (v *views) DecodeRows([]byte, *exec.Stored, []int64, int, int) bool { return false }

// Summer returns v, if its decoder has one.
func (v *views) Summer() exec.Summer {
	if v.decoder.Summer() == nil {
		return nil
	}
	return v
}

// Sum sums rows, in place where all of them lie side by side, such as in every second row
// of a table, else one after the other. Rows begin at the same place of a block, as
// Lowering.sumsStored asks. It reads the operands instead of from.
func (v *views) Sum(dst []byte, _ *exec.Stored, t kernel.Terms, b kernel.Bags) {
	p := parts.Get().(*viewParts)
	defer p.free()
	p.rows = p.rows[:0]
	for _, row := range t.Rows {
		at, ok := v.operands[0].inPlace(v.decoder.Spans((int(row)+t.Bias)/4, b.Size/4)[0])
		if !ok {
			break
		}
		p.rows = append(p.rows, int64(at))
	}
	if n := len(p.rows); n > 0 && n == len(t.Rows) {
		first := (int(t.Rows[0]) + t.Bias) / 4
		t.Rows, t.Bias = p.rows, 0
		v.decoder.Summer().(summer).sumParts(dst, v.operands[0].mem.Buf, t, b, first)
		return
	}
	kernel.AddEach(dst, t, b, func(sums []byte, row int, weight float32) { v.add(sums, row/4, weight) })
}

// add is addParts of the operands. The decoder has a summer.
func (v *views) add(dst []byte, first int, weight float32) {
	p := v.read(first, len(dst)/4)
	v.decoder.Summer().(summer).addParts(dst, &p.parts, &p.from, first, weight)
	p.free()
}

// added returns a sum of f32 and an element, times a weight if it is weighted; sums and
// weights are their bits.
func (v *views) added(sum uint64, at int, weight uint64, weighted bool) uint64 {
	var one [4]byte
	binary.LittleEndian.PutUint32(one[:], uint32(sum))
	times := float32(1)
	if weighted {
		times = math.Float32frombits(uint32(weight))
	}
	v.add(one[:], at, times)
	return uint64(binary.LittleEndian.Uint32(one[:]))
}

// run returns how many elements of t lie side by side, from each multiple of that number.
func (t *Tensor) run() int {
	run := 1
	for i := len(t.shape) - 1; i >= 0 && (t.strides[i] == run || t.shape[i] == 1); i-- {
		run *= t.shape[i]
	}
	return run
}

// elementsOf returns the elements of t that have the bytes s of a dense copy.
func (t *Tensor) elementsOf(s exec.Span) (from, to int) {
	bits := int64(t.dtype.Bits())
	// The last byte of a packed type has room for more.
	return int(s.From * 8 / bits), min(int(s.To*8/bits), t.Len())
}

// inPlace returns where the bytes s of a dense copy of t lie in its memory; false unless
// they lie side by side.
func (t *Tensor) inPlace(s exec.Span) (at int, ok bool) {
	from, to := t.elementsOf(s)
	run := t.run()
	bit := int64(t.position(from)) * int64(t.dtype.Bits()) // an int of 32 bits does not count the bits of a table
	return int(bit / 8), to-from <= run-from%run && bit%8 == 0
}

// part returns the bytes s of the elements of t, counted as a dense copy has them. Where
// they do not lie side by side in memory, it copies them into room.
func (t *Tensor) part(s exec.Span, room *[]byte) []byte {
	size := int(s.To - s.From)
	if at, ok := t.inPlace(s); ok {
		return t.mem.Buf[at:][:size]
	}
	bits, run := t.dtype.Bits(), t.run()
	from, to := t.elementsOf(s)
	if cap(*room) < size {
		*room = make([]byte, size)
	}
	dst := (*room)[:size]
	for i := from; i < to; {
		n, at, put := min(run-i%run, to-i), t.position(i), i-from
		if bit := int64(at) * int64(bits); bit%8 == 0 && put*bits%8 == 0 {
			// The last byte of packed elements may hold others behind them, which the next
			// run replaces.
			copy(dst[put*bits/8:], t.mem.Buf[bit/8:(bit+int64(n*bits)+7)/8])
		} else {
			for j := range n {
				setPacked(dst, put+j, bits, packed(t.mem.Buf, at+j, bits))
			}
		}
		i += n
	}
	return dst
}

// dense sets from to the bytes of operands; it returns false if some cannot be read in
// place.
func dense(operands *[3]Tensor, from *exec.Stored) bool {
	for i := range operands {
		t := &operands[i]
		if t.Len() == 0 || !t.dtype.Valid() {
			continue
		}
		bits := int64(t.dtype.Bits())
		first := int64(t.mem.Offset) * bits
		if !t.Contiguous() || first%8 != 0 {
			return false
		}
		from[i] = t.mem.Buf[first/8:][:(int64(t.Len())*bits+7)/8]
	}
	return true
}

// A viewed is a program for operands of which some are not dense.
type viewed struct {
	program exec.Program
	bags    exec.Bags
	views   views
}

// vieweds is the free list of such programs, for one run each.
var vieweds = sync.Pool{New: func() any { return new(viewed) }}

// set returns a program, or one of bags, for these operands, and makes from their memory.
func (v *viewed) set(of decoder, operands *[3]Tensor, program *exec.Program, bags *exec.Bags, from *exec.Stored) (*exec.Program, *exec.Bags) {
	v.views = views{decoder: of, operands: *operands}
	for i := range operands {
		from[i] = operands[i].mem.Buf
	}
	if bags != nil {
		v.bags = *bags
		v.bags.SetDecoder(&v.views)
		return nil, &v.bags
	}
	v.program = *program
	v.program.SetDecoder(&v.views)
	return &v.program, nil
}

// free returns v to the free list.
func (v *viewed) free() {
	*v = viewed{}
	vieweds.Put(v)
}
