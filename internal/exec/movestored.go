package exec

import "github.com/garner-go/garner/internal/kernel"

// decodeRun decodes evenly spaced rows into the result, as moveRun moves them.
func (u *state) decodeRun(rows, later []int64, filled bool, place, step, bias, next, size int) {
	p := u.program
	elem := p.resolver.elem
	if step == size && !filled && len(rows) > 1 && p.nest.Decoder.DecodeRows(u.dst.Buf[place*elem:(place+len(rows)*size)*elem], &u.From, rows, bias*elem, size) {
		return
	}
	for j, row := range rows {
		if j < len(later) && later[j] >= 0 {
			u.prefetchStored(int(later[j])/elem+next, size)
		}
		u.decodeRow(u.dst.Buf[place*elem:(place+size)*elem], row, bias)
		place += step
	}
}

// decodeRow decodes one row, or the fill, from an element on.
func (u *state) decodeRow(dst []byte, row int64, bias int) {
	n := &u.program.nest
	if row < 0 {
		kernel.Repeat(dst, n.Fill)
		return
	}
	elem := n.elem()
	n.Decoder.Decode(dst, &u.From, int(row)/elem+bias, len(dst)/elem)
}

// prefetchStored prefetches what is stored of some elements, or the first of it: then the
// processor has found the sequence.
func (u *state) prefetchStored(first, n int) {
	for k, s := range u.program.nest.Decoder.Spans(first, n) {
		kernel.Prefetch(u.From[k][s.From:min(s.To, s.From+4096)])
	}
}
