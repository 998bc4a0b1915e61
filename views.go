package garner

import (
	"sync"

	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/exec"
)

// views decodes elements whose operands need not be dense. Of an operand it reads what
// is stored of the wanted elements: in place where that lies side by side, such as in
// every second row of a table, else from a copy of that part.
type views struct {
	form     form
	operands [3]Tensor // their memory is held
}

// viewParts are parts of operands, and the room for copies of them.
type viewParts struct {
	parts [3]codec.Part
	room  [3][]byte
}

// parts is the free list of them.
var parts = sync.Pool{New: func() any { return new(viewParts) }}

// Decode decodes elements. It reads the operands instead of from.
func (v *views) Decode(dst []byte, _ *exec.Stored, first, n int) {
	p := parts.Get().(*viewParts)
	for i, s := range v.form.Spans(first, n) {
		if s.To > s.From {
			p.parts[i] = codec.Part{Bytes: v.operands[i].part(s, &p.room[i]), From: s.From}
		}
	}
	v.form.decodeParts(dst, &p.parts, first, n)
	p.parts = [3]codec.Part{}
	parts.Put(p)
}

// Spans returns no bytes: nothing is prefetched.
func (v *views) Spans(first, n int) (spans [3]exec.Span) { return spans }

// part returns the bytes s of the elements of t, counted as a dense copy has them. Where
// they do not lie side by side in memory, it copies them into room.
func (t *Tensor) part(s exec.Span, room *[]byte) []byte {
	bits := t.dtype.Bits()
	from, to := int(s.From)*8/bits, int(s.To)*8/bits
	if n := t.Len(); to > n {
		to = n // the last byte of a packed type has room for more
	}
	run := 1 // elements that lie side by side
	for i := len(t.shape) - 1; i >= 0 && (t.strides[i] == run || t.shape[i] == 1); i-- {
		run *= t.shape[i]
	}
	size := int(s.To - s.From)
	if at := t.position(from); to-from <= run-from%run && at*bits%8 == 0 {
		return t.mem.Buf[at*bits/8:][:size]
	}
	if cap(*room) < size {
		*room = make([]byte, size)
	}
	dst := (*room)[:size]
	for i := from; i < to; {
		n, at, put := min(run-i%run, to-i), t.position(i), i-from
		if at*bits%8 == 0 && put*bits%8 == 0 {
			// The last byte of packed elements may hold others behind them, which the next
			// run replaces.
			copy(dst[put*bits/8:], t.mem.Buf[at*bits/8:(at*bits+n*bits+7)/8])
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
		first := t.mem.Offset * t.dtype.Bits()
		if !t.Contiguous() || first%8 != 0 {
			return false
		}
		from[i] = t.mem.Buf[first/8:][:(t.Len()*t.dtype.Bits()+7)/8]
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

// set makes v the program f for these operands.
func (v *viewed) set(of form, operands *[3]Tensor, f *program) (*exec.Program, *exec.Bags) {
	v.views = views{form: of, operands: *operands}
	if f.bags != nil {
		v.bags = *f.bags
		v.bags.SetDecoder(&v.views)
		return nil, &v.bags
	}
	v.program = f.Program
	v.program.SetDecoder(&v.views)
	return &v.program, nil
}

// free returns v to the free list.
func (v *viewed) free() {
	*v = viewed{}
	vieweds.Put(v)
}
