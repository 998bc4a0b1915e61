package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// Lengths of a picture, in pixels.
const (
	charWidth   = 7.3 // of a character of the monospaced 12 px font of the cells
	cellHeight  = 26
	noteHeight  = 11 // of the small line of text under an index
	minWidth    = 28
	batchGap    = 14 // between batches, for their frames
	frameRoom   = 5  // between a batch's cells and its frame
	sheetGap    = 16
	sheetLabel  = 15
	headingRoom = 22
	tickWidth   = 17
	tickHeight  = 14
	gapWidth    = 18 // of an ellipsis
	panelGap    = 64
	margin      = 20
)

// A rect is an area of the picture.
type rect struct{ x, y, w, h int }

// around returns the bounding box of both. The zero rect is empty.
func (r rect) around(o rect) rect {
	if r == (rect{}) {
		return o
	}
	x, y := min(r.x, o.x), min(r.y, o.y)
	return rect{x, y, max(r.x+r.w, o.x+o.w) - x, max(r.y+r.h, o.y+o.h) - y}
}

func (r rect) grow(by int) rect { return rect{r.x - by, r.y - by, r.w + 2*by, r.h + 2*by} }

func (r rect) midX() int { return r.x + r.w/2 }
func (r rect) midY() int { return r.y + r.h/2 }

// A mark is a small text in a panel: an ellipsis, the name of a sheet or a tick
// label.
type mark struct {
	text   string
	x, y   int // of the baseline, at its middle or, with start, at its start
	start  bool
	strong bool
}

// A panel is one tensor, drawn as a grid of cells: the last two dims as rows
// and columns, and further dims as sheets, alternately side by side and one
// below the other.
type panel struct {
	name, spec string // the heading
	shape      garner.Shape
	shown      [][]int // the positions along each dim that are drawn
	batch      int     // number of leading dims that are batch dims
	column     bool    // of rank 1, drawn from top to bottom
	ticks      bool    // rows and columns have tick labels
	gathered   []int   // the dims whose tick labels are dark
	cellWidth  int
	cellHeight int

	area   rect
	order  []int        // the positions that are drawn, in row-major order
	cells  map[int]rect // by position in row-major order
	marks  []mark
	blocks []rect // of batches that have several sheets
}

// arrange places the cells of the panel with the top left corner at x, y. above
// says whether the heading is above them.
func (p *panel) arrange(x, y int, above bool) {
	p.cells, p.order, p.marks, p.blocks = map[int]rect{}, nil, nil, nil
	heading, wide := 0, 0
	if above {
		heading, wide = headingRoom, textWidth(p.name+"  "+p.spec, headingSize)
	}
	w, h := p.place(0, x, y+heading, 0)
	p.area = rect{x, y, max(w, wide), h + heading}
}

func (p *panel) empty() bool {
	return slices.Contains(p.shape, 0)
}

// place places the part of the tensor from an axis on. position is the
// row-major position of its first element over the axes before.
func (p *panel) place(axis, x, y, position int) (w, h int) {
	if p.empty() {
		return 96, cellHeight
	}
	rank := len(p.shape) - axis
	if rank == 0 {
		p.cells[position] = rect{x, y, p.cellWidth, p.cellHeight}
		p.order = append(p.order, position)
		return p.cellWidth, p.cellHeight
	}
	across := rank%2 == 1 && !p.column
	gap, label := 0, 0
	if rank > 2 {
		gap = sheetGap * (rank - 2)
	}
	if rank == 3 {
		label = sheetLabel
	}
	if axis < p.batch {
		gap = max(gap, batchGap)
	}
	// Tick labels are at the top and at the left of a sheet, outside the
	// frames of batches.
	left, top, room := 0, 0, p.frameRoom(axis)
	if p.ticks && rank == 2 {
		left, top = p.tickWidth(axis), tickHeight
	} else if p.ticks && rank == 1 && axis == 0 {
		top = tickHeight
	}
	left, top = left+room, top+room
	cx, cy := x+left, y+top
	last := -1
	var first rect
	for n, i := range p.shown[axis] {
		if n > 0 {
			if across {
				cx += gap
			} else {
				cy += gap
			}
		}
		if i != last+1 {
			p.ellipsis(across, first, &cx, &cy)
		}
		last = i
		if label > 0 {
			p.marks = append(p.marks, mark{text: p.sheetName(axis, position, i), x: cx, y: cy + label - 5, start: true, strong: p.ticks && slices.Contains(p.gathered, axis)})
		}
		cw, ch := p.place(axis+1, cx, cy+label, position*p.shape[axis]+i)
		if label > 0 {
			cw = max(cw, textWidth(p.sheetName(axis, position, i), noteSize-1))
		}
		child := rect{cx, cy, cw, ch + label}
		if n == 0 {
			first = child
		}
		if p.ticks && rank == 2 {
			p.tick(axis, i, x+p.tickWidth(axis)/2, cy+ch/2+3)
			if n == 0 {
				p.columnTicks(axis+1, cx, y+tickHeight-4)
			}
		} else if p.ticks && rank == 1 && axis == 0 {
			p.tick(axis, i, cx+cw/2, y+tickHeight-4)
		}
		w, h = max(w, cx+cw-x), max(h, cy+ch+label-y)
		if across {
			cx += cw
		} else {
			cy += ch + label
		}
	}
	if last != p.shape[axis]-1 {
		p.ellipsis(across, first, &cx, &cy)
		w, h = max(w, cx-x), max(h, cy-y)
	}
	w, h = w+room, h+room
	if axis == p.batch && rank > 2 && p.batch > 0 {
		p.blocks = append(p.blocks, rect{x, y, w, h})
	}
	return w, h
}

// frameRoom returns the width that the frames of batches need around the part
// of the tensor from an axis on.
func (p *panel) frameRoom(axis int) int {
	switch rank := len(p.shape) - axis; {
	case p.batch == 0:
		return 0
	case rank == 2 && p.batch >= axis, rank == 1 && axis == 0, rank > 2 && p.batch == axis:
		return frameRoom
	}
	return 0
}

// tickWidth returns the width of the tick labels of an axis.
func (p *panel) tickWidth(axis int) int {
	return 9 + 7*len(fmt.Sprint(p.shape[axis]-1))
}

// columnTicks adds tick labels to the columns of a sheet whose rows begin at x.
func (p *panel) columnTicks(axis, x, y int) {
	last := -1
	for _, i := range p.shown[axis] {
		if i != last+1 {
			x += gapWidth
		}
		last = i
		p.tick(axis, i, x+p.cellWidth/2, y)
		x += p.cellWidth
		if axis < p.batch {
			x += batchGap
		}
	}
}

func (p *panel) tick(axis, i, x, y int) {
	p.marks = append(p.marks, mark{text: fmt.Sprint(i), x: x, y: y, strong: slices.Contains(p.gathered, axis)})
}

// ellipsis marks a gap of positions that are not drawn, in line with the first
// cell.
func (p *panel) ellipsis(across bool, first rect, x, y *int) {
	if across {
		p.marks = append(p.marks, mark{text: "…", x: *x + gapWidth/2, y: *y + max(first.h, p.cellHeight)/2 + 4})
		*x += gapWidth
		return
	}
	p.marks = append(p.marks, mark{text: "⋮", x: *x + max(first.w, p.cellWidth)/2, y: *y + gapWidth/2 + 4})
	*y += gapWidth
}

// sheetName returns the NumPy index of a sheet: [1,:,:].
func (p *panel) sheetName(axis, position, i int) string {
	c := coordinates(p.shape[:axis], position)
	words := make([]string, len(p.shape))
	for j := range words {
		switch {
		case j < axis:
			words[j] = fmt.Sprint(c[j])
		case j == axis:
			words[j] = fmt.Sprint(i)
		default:
			words[j] = ":"
		}
	}
	return "[" + strings.Join(words, ",") + "]"
}

// frames returns the areas of the batches.
func (p *panel) frames() []rect {
	if p.batch == 0 || p.empty() {
		return nil
	}
	if len(p.blocks) > 0 {
		return p.blocks
	}
	inner, _ := p.shape[p.batch:].Len()
	var order []int
	frames := map[int]rect{}
	for _, position := range p.order {
		n := position / inner
		if _, ok := frames[n]; !ok {
			order = append(order, n)
		}
		frames[n] = frames[n].around(p.cells[position])
	}
	list := make([]rect, len(order))
	for i, n := range order {
		list[i] = frames[n].grow(frameRoom)
	}
	return list
}

// choose returns the positions of a dim that are drawn: all if they fit; else
// the first and the last, the wanted ones, and as many from the start as there
// is room for.
func choose(extent, limit int, wanted []int) []int {
	var list []int
	if extent <= limit {
		for i := range extent {
			list = append(list, i)
		}
		return list
	}
	add := func(i, limit int) {
		if len(list) < limit && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	add(0, limit)
	add(extent-1, limit)
	for _, i := range wanted {
		add(i, limit)
	}
	for i := range limit {
		add(i, limit-1) // an ellipsis takes the room of a cell
	}
	slices.Sort(list)
	return list
}

// limits returns how many positions of each dim are drawn at most. They bound
// the cells of a panel, and the cells side by side, to what fits a page.
func limits(shape garner.Shape) []int {
	const cells, beside = 240, 36
	most := [...]int{12, 12, 6, 4, 2} // of the last dim, the one before, and so on
	list := make([]int, len(shape))
	across := make([]bool, len(shape))
	for i := range list {
		back := len(shape) - i
		list[i], across[i] = min(shape[i], most[min(back, len(most))-1]), back%2 == 1
	}
	// shrink takes positions from the longest of some dims until their
	// product fits.
	shrink := func(fits int, of func(i int) bool) {
		for {
			n, longest := 1, -1
			for i := range list {
				if !of(i) {
					continue
				}
				n = min(n*max(1, list[i]), 2*cells)
				if longest < 0 || list[i] > list[longest] {
					longest = i
				}
			}
			if n <= fits {
				return
			}
			list[longest]--
		}
	}
	shrink(beside, func(i int) bool { return across[i] })
	shrink(cells, func(int) bool { return true })
	return list
}
