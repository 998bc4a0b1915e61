package explain

import (
	"fmt"
	"math"
	"strings"
)

// A lane is the straight end of a leader: from a place in a panel to the edge
// of the panel, above or beside the texts of the cells on its way.
//
// Lengths are along the direction of the leader and across it, so that one code
// draws both reading directions of a picture.
type lane struct {
	at, edge int // along
	across   int
	over     int // how many cells and marks it crosses
}

// flip swaps the axes of an area, between a picture that reads from top to
// bottom and one that reads from left to right.
func (r rect) flip() rect { return rect{r.y, r.x, r.h, r.w} }

func (p *picture) turned(r rect) rect {
	if p.vertical {
		return r.flip()
	}
	return r
}

// lane returns the lane from a place to the edge of its panel: the near edge,
// of smaller coordinates, or the far one.
func (p *picture) lane(of *panel, place rect, near bool) lane {
	place = p.turned(place)
	l := lane{at: place.x, across: place.y + place.h/2}
	if !near {
		l.at = place.x + place.w
	}
	l.edge = l.at
	beside := l.across
	if place.h > 12 {
		beside = place.y + 5 // texts are in the middle of cells
	}
	passes := func(r rect, across int) bool {
		ahead := r.x >= l.at
		if near {
			ahead = r.x+r.w <= l.at
		}
		return ahead && across > r.y && across < r.y+r.h
	}
	for _, i := range of.order {
		r := p.turned(of.cells[i])
		if passes(r, beside) {
			l.over++
		}
		if near {
			l.edge = min(l.edge, r.x)
		} else {
			l.edge = max(l.edge, r.x+r.w)
		}
	}
	if l.over == 0 {
		l.edge = l.at
		return l
	}
	l.across = beside
	for _, m := range of.marks {
		if passes(p.turned(m.area()), beside) {
			l.over += 4
		}
	}
	return l
}

// area returns the approximate area of a mark.
func (m mark) area() rect {
	w := textWidth(m.text, markSize)
	if m.start {
		return rect{m.x, m.y - 9, w, 11}
	}
	return rect{m.x - w/2, m.y - 9, w, 11}
}

// lanes returns, of the lanes from the places of a row, the one that crosses
// least.
func (p *picture) lanes(of *panel, places []rect, near bool) lane {
	best := lane{over: math.MaxInt}
	for _, place := range places {
		if l := p.lane(of, place, near); l.over < best.over {
			best = l
		}
	}
	return best
}

// A leader is a curve with an arrowhead.
type leader struct{ from, to lane }

func (l leader) over() int { return l.from.over + l.to.over }

// drawLeader draws a leader. Its ends are straight inside panels.
func (p *picture) drawLeader(l leader) {
	const room, long, half = 2, 8, 7
	sign := 1
	if l.to.at < l.from.at {
		sign = -1
	}
	end := l.to.at - sign*room
	edge := l.to.edge - sign*room
	if l.to.edge == l.to.at {
		edge = end
	}
	bend := (edge - l.from.edge) / 2
	path := "M" + p.point(l.from.at, l.from.across) +
		"L" + p.point(l.from.edge, l.from.across) +
		"C" + p.point(l.from.edge+bend, l.from.across) + " " + p.point(edge-bend, l.to.across) + " " + p.point(edge, l.to.across) +
		"L" + p.point(end, l.to.across)
	fmt.Fprintf(&p.lines, "<path d=\"%s\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-opacity=\"0.8\"/>\n", path)
	fmt.Fprintf(&p.lines, "<path d=\"%s\" stroke-width=\"1.2\"/>\n", path)
	tip := end + sign
	corners := []string{p.point(tip, l.to.across), p.point(tip-sign*long, l.to.across-half/2), p.point(tip-sign*long, l.to.across+half/2)}
	fmt.Fprintf(&p.lines, "<path d=\"M%sz\" fill=\"%s\" stroke=\"none\"/>\n", strings.Join(corners, "L"), ink)
}

func (p *picture) point(along, across int) string {
	if p.vertical {
		along, across = across, along
	}
	return fmt.Sprintf("%d,%d", along, across)
}

// leaders draws the paths of some tuples: from the indices to the row of data
// that they address, and on to its copy in the result. It draws the first that
// cross nothing; if all cross something, the one that crosses least, unless
// that is too much.
func (p *picture) leaders() {
	const most, tried, tolerable = 3, 24, 8
	type way struct{ back, on leader }
	boxes := map[int]rect{}
	var order []int
	for _, i := range p.indices.order {
		tuple := p.tupleOf(i)
		if _, ok := boxes[tuple]; !ok {
			order = append(order, tuple)
		}
		boxes[tuple] = boxes[tuple].around(p.indices.cells[i])
	}
	sources, results := p.rowBoxes()
	var clear []way
	var least way
	passed := math.MaxInt
	for _, tuple := range order[:min(len(order), tried)] {
		if len(sources[tuple]) == 0 || len(results[tuple]) == 0 {
			continue
		}
		w := way{
			back: leader{p.lane(p.indices, boxes[tuple], true), p.lanes(p.data, sources[tuple], false)},
			on:   leader{p.lane(p.indices, boxes[tuple], false), p.lanes(p.result, results[tuple], true)},
		}
		over := w.back.over() + w.on.over()
		if over == 0 && len(clear) < most {
			clear = append(clear, w)
		}
		if over < passed {
			least, passed = w, over
		}
	}
	if len(clear) == 0 && passed <= tolerable {
		clear = []way{least}
	}
	for _, w := range clear {
		p.drawLeader(w.back)
		p.drawLeader(w.on)
	}
}

// rowBoxes returns, by tuple, the areas of the row in data and in the result,
// one for each sheet that has a part of it.
func (p *picture) rowBoxes() (sources, results map[int][]rect) {
	type part struct{ tuple, sheet int }
	collect := func(of *panel, position func(i int) int) map[int][]rect {
		sheet := 1
		if n := len(of.shape); n >= 2 {
			sheet = of.shape[n-1] * of.shape[n-2]
		} else if n == 1 {
			sheet = of.shape[0]
		}
		boxes, order := map[part]rect{}, []part{}
		for _, i := range p.result.order {
			at := position(i)
			r, ok := of.cells[at]
			if !ok || at < 0 {
				continue
			}
			key := part{p.sources[i].tuple, at / sheet}
			if _, ok := boxes[key]; !ok {
				order = append(order, key)
			}
			boxes[key] = boxes[key].around(r)
		}
		list := map[int][]rect{}
		for _, key := range order {
			list[key.tuple] = append(list[key.tuple], boxes[key])
		}
		return list
	}
	return collect(p.data, func(i int) int { return p.sources[i].data }), collect(p.result, func(i int) int { return i })
}
