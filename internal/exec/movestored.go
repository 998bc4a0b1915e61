package exec

import "github.com/garner-go/garner/internal/kernel"

// decodeRun decodes evenly spaced rows into the result, as moveRun moves them.
func (u *state) decodeRun(rows, later []int64, place, step, bias, next, size int) {
	p := u.program
	elem := p.resolver.elem
	for j, row := range rows {
		if j < len(later) && later[j] >= 0 {
			u.prefetchStored(int(later[j])/elem+next, size)
		}
		dst := u.dst.Buf[place*elem : (place+size)*elem]
		switch {
		case row >= 0:
			p.nest.Decoder.Decode(dst, &u.From, int(row)/elem+bias, size)
		case p.nest.Fill == nil:
			clear(dst)
		default:
			kernel.Repeat(dst, p.nest.Fill)
		}
		place += step
	}
}

// prefetchStored prefetches what is stored of some elements.
func (u *state) prefetchStored(first, n int) {
	for k, s := range u.program.nest.Decoder.Spans(first, n) {
		kernel.Prefetch(u.From[k][s.From:s.To])
	}
}
