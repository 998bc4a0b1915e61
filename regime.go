package garner

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner/internal/kernel"
)

// A Regime says how a Prepared runs on this machine: what was chosen for its
// sizes, dtypes and strides. It is information; no result depends on it.
type Regime struct {
	Kernel    string // the form of the kernels: AVX512VBMI, AVX512, AVX2, AMD64 or Generic
	Way       string // elements, columns, strips, rows, strings or bits
	SliceSize int    // bytes that are moved for one row; bits of packed types, strings of strings
	Ahead     int    // how many rows before its turn a row is asked for; 0: data is near
	Straight  bool   // data is asked for from end to end instead of row by row
	Stream    bool   // the result is written past the caches
	Shared    bool   // the rows of all tuples are found before anything moves
	Threads   int    // how many cores take part
}

// Regime is how p runs for the strides that it was last given.
func (p *Prepared) Regime() Regime {
	l, bits := &p.layout, p.plan.DType.Bits()
	r := Regime{
		Kernel: kernel.Form(), Way: "rows", SliceSize: p.normal.slice * p.resolver.unit,
		Ahead: l.ahead, Straight: l.linear, Stream: l.stream, Shared: l.share, Threads: p.threads,
	}
	if l.alone {
		r.Threads = 1
	}
	switch {
	case bits == 0:
		r.Way, r.Kernel = "strings", "Generic"
	case bits < 8:
		r.Way, r.Kernel = "bits", "Generic"
	case p.columns != nil && p.columns.buffer:
		r.Way, r.Stream = "strips", p.columns.stream
	case p.columns != nil:
		r.Way, r.Straight, r.Stream = "columns", l.ahead > 0, false
	case l.direct > 0:
		r.Way = "elements"
	}
	return r
}

// String is the regime in a few words.
func (r Regime) String() string {
	unit := "byte"
	switch r.Way {
	case "bits":
		unit = "bit"
	case "strings":
		unit = "string"
	}
	size := fmt.Sprintf("%d %ss", r.SliceSize, unit)
	if r.SliceSize == 1 {
		size = "1 " + unit
	}
	words := []string{r.Way + " of " + size, r.Kernel}
	switch r.Way {
	case "elements":
		words[0] += ", straight from the indices"
	case "columns":
		words[0] += ", straight from the indices, row after row"
	case "strips":
		words[0] = "elements of " + size + ", in strips of columns through a buffer"
	}
	if r.Shared {
		words = append(words, "rows found once")
	}
	switch {
	case r.Ahead == 0:
		words = append(words, "data near")
	case r.Straight:
		words = append(words, "data prefetched end to end")
	case r.Way != "strips":
		words = append(words, fmt.Sprintf("prefetched %d rows ahead", r.Ahead))
	}
	if r.Stream {
		words = append(words, "written past the caches")
	}
	if r.Threads == 1 {
		words = append(words, "one core")
	} else {
		words = append(words, fmt.Sprintf("%d cores", r.Threads))
	}
	return strings.Join(words, " · ")
}
