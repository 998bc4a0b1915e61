package exec

import "github.com/garner-go/garner/internal/kernel"

// columns gathers tuples of neighbouring columns, one index per element:
// GatherElements along any axis, and Gather along an axis whose every turn uses
// the same indices. A tuple is a row of the result.
//
// If data is far and its rows lie apart, as along an axis that is not the last,
// each element of a tuple comes from its own cache line. Then a strip of
// columns is copied row by row into a buffer that stays in the caches, and
// gathered from there.
type columns struct {
	outer  []Loop // the loops around the tuple loop
	around Loop   // the tuple loop
	inner  Loop   // the columns
	rows   int    // positions of the axis
	stride int    // distance between two positions in data, in elements
	wide   int    // columns per unit
	tuples int    // tuples per unit
	width  int    // bytes of an element
	reach  int    // elements of data from the first that Columns can read
	shared bool   // every turn uses the same indices, which are resolved first
	lines  int    // consecutive cache lines of data that are prefetched with each tuple
	next   int    // bytes in data from a turn's first element to its first prefetched line
	skip   int    // bytes between the first prefetched lines of two tuples
	fold   int    // turns that move as one tuple of the kernel; 0: a turn is a tuple
	stream bool   // stores are non-temporal: so much data is read that the result would leave the caches
}

// narrowest is the least width of a strip in bytes, two cache lines, unless a
// strip holds all columns.
const narrowest = 128

// newColumns returns the way Columns or Strips for a nest that is best gathered
// by columns, and Nothing for others.
func newColumns(n *Nest, t *Tuning, threads int) (columns, Way) {
	none := columns{}
	nest := n.Index
	if len(n.Free) > 0 && len(n.Index) == 1 {
		nest = n.loops[:len(n.Free)+1] // Free and Index are adjacent in memory
	}
	last := len(nest) - 1
	if last < 1 || len(n.Free) > 0 && len(n.Index) > 1 || n.Empty || n.Slice != 1 || len(n.Axes) != 1 || len(n.Axes[0].Parts) > 0 || n.Bits < 8 {
		return none, Nothing
	}
	c := columns{
		outer: nest[:last-1], around: nest[last-1], inner: nest[last],
		rows: n.Axes[0].Dim, stride: n.Axes[0].Data, width: n.Bits / 8, shared: len(n.Free) > 0,
	}
	if c.inner.Index != 1 || c.inner.Out != 1 || c.inner.Data < 0 || c.around.Data < 0 || c.rows == 0 {
		return none, Nothing
	}
	if c.shared && c.inner.Extent > t.SharedRows || !c.shared && !n.plain() {
		return none, Nothing
	}
	far, apart := n.Reach > t.NearBytes, n.span()*c.width > t.NearBytes
	still := c.around.Data == 0 // all tuples of a turn read the same rows
	if still && apart && c.inner.Data == 1 && !c.shared {
		return c.strips(n, t)
	}
	count := c.inner.Extent // elements that a tuple, or all tuples of a turn, gather from reach bytes
	if still {
		count *= c.around.Extent
	}
	reach := ((c.rows-1)*c.stride + (c.inner.Extent-1)*c.inner.Data + 1) * c.width
	switch {
	case c.width > 8 || c.stride < 0 || c.around.Extent*c.inner.Extent < t.ColumnsFrom:
		return none, Nothing // a kernel call would gather only a few elements
	case !c.shared && n.Policy.Outside != kernel.Error && c.inner.Extent < t.ColumnsFrom/2:
		return none, Nothing // each index outside sends its tuple to the slow path
	case far && (reach > 2*t.UnitBytes || count*64 < reach):
		return none, Nothing // the reach does not stay in the caches, or most of its lines stay unread
	case far && still:
		if c.lines = (reach/64 + c.around.Extent) / c.around.Extent; last > 1 {
			c.next, c.skip = c.outer[last-2].Data*c.width, c.lines*64
		}
	case far:
		c.lines = reach/64 + 1
		c.skip = c.around.Data * c.width
		c.next = max(1, prefetchBytes/max(1, c.skip)) * c.skip
	}
	if product(turns(nest), c.width) <= t.AloneBytes && turns(n.Index) <= t.SharedRows {
		threads = 1 // the run stays on one core
	}
	c.wide = min(c.inner.Extent, max(8, t.UnitBytes/c.width&^7))
	c.tuples = max(1, min(t.UnitBytes/(c.wide*c.width), turns(c.outer)*c.around.Extent/(4*threads), c.around.Extent))
	for _, l := range nest {
		c.reach += max(0, (l.Extent-1)*l.Data)
	}
	c.reach += (c.rows-1)*c.stride + 1
	if c.shared && c.wide == c.inner.Extent && c.wide <= foldWidest && c.around.Out == c.wide && 0 < c.around.Data && c.around.Data*c.width <= foldApart {
		c.fold = min(foldElements/c.wide, c.around.Extent)
	}
	return c, Columns
}

// foldElements is about how many elements move as one tuple where a turn has up to
// foldWidest and begins up to foldApart bytes behind the one before: the channels of an
// image, a few columns of a table. A tuple of three elements took 6 ns.
const (
	foldElements = 1024
	foldWidest   = 64
	foldApart    = 256
)

// strips divides the columns of far data into strips. It returns Nothing if
// most of the copied rows would not be read.
func (c columns) strips(n *Nest, t *Tuning) (columns, Way) {
	c.tuples = c.around.Extent
	c.wide = t.StripBytes / c.width
	room := 16 * t.UnitBytes // largest buffer that stays in the caches
	for c.rows*c.wide*c.width > room && c.wide*c.width > narrowest {
		c.wide /= 2
	}
	switch {
	case c.wide < 2 || c.inner.Extent < 2*c.wide:
		return columns{}, Nothing // too few columns for two strips
	case c.around.Extent < c.rows/16 || c.rows*c.wide*c.width > room:
		return columns{}, Nothing // the tuples read few of the rows, or the buffer exceeds the caches
	}
	c.stream = n.span()*c.width >= t.StreamBytes
	return c, Strips
}

// bytes returns the size of a strip's buffer.
func (c *columns) bytes() int { return c.rows * c.wide * c.width }

// pieces returns the number of units along the columns and along the tuples of
// a turn.
func (c *columns) pieces() (wide, tuples int) {
	return (c.inner.Extent + c.wide - 1) / c.wide, (c.around.Extent + c.tuples - 1) / c.tuples
}

// units returns the total number of units.
func (c *columns) units() int {
	wide, tuples := c.pieces()
	return turns(c.outer) * wide * tuples
}
