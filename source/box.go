package source

import (
	"iter"

	"github.com/garner-go/garner"
)

// A box is a range of consecutive turns of a nest of loops that is itself a
// nest: the innermost loops whole, around them a part of one more.
type box struct {
	loops       []garner.Loop // the nest, outermost first; it shares no memory with the plan
	count       int           // turns
	data, index int           // strides summed up to the first turn, in elements
}

// boxes divides the turns first … first+n-1 of a nest into boxes of at most most
// turns each, in order. Each box is the largest that begins where the one before
// ended. Every Extent is 1 or more, and the nest has first+n turns or more.
func boxes(loops []garner.Loop, first, n, most int) iter.Seq[box] {
	return func(yield func(box) bool) {
		for n > 0 {
			b := boxAt(loops, first, min(n, most))
			if !yield(b) {
				return
			}
			first, n = first+b.count, n-b.count
		}
	}
}

// boxAt returns the largest box that begins with turn first and has at most n
// turns.
func boxAt(loops []garner.Loop, first, n int) box {
	b := box{count: 1}
	level, inner, rest := len(loops), 1, first
	open := true // every loop further inside is at its first turn
	for i := len(loops) - 1; i >= 0; i-- {
		l := loops[i]
		c := rest % l.Extent
		rest /= l.Extent
		b.data += c * l.Data
		b.index += c * l.Index
		if open && inner <= n {
			level = i
			b.count = inner * min(l.Extent-c, n/inner)
		}
		open = open && c == 0
		switch {
		case inner > n:
		case l.Extent > n/inner:
			inner = n + 1 // more than n, without overflow
		default:
			inner *= l.Extent
		}
	}
	if level < len(loops) {
		b.loops = append(b.loops, loops[level:]...)
		size := 1
		for _, l := range b.loops[1:] {
			size *= l.Extent
		}
		b.loops[0].Extent = b.count / size
	}
	return b
}
