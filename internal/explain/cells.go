package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// The tensors of a picture, as the first letter of the names of their cells.
const (
	inData    = "d"
	inIndices = "i"
	inResult  = "r"
)

// cellID names a cell of a picture by its row-major position in a tensor.
func cellID(tensor string, position int) string { return tensor + strconv.Itoa(position) }

// A Cell is a cell of a picture in words: where it is, what it holds, and the cells of the
// other tensors that go with it.
type Cell struct {
	At      string   `json:"at"`      // "result[1,0]"
	Text    string   `json:"text"`    // "result[1,0] = 5 is data[2,0], by indices[1] = 2"
	Related []string `json:"related"` // the names of cells, in the order of data, indices and result
}

// Marked is SVG with the cells named, and the cells by their names: "d4" is the cell of
// data at row-major position 4, "i0" one of the indices, "r3" one of the result, or of the
// terms of bags. Shapes and text of a cell have its name in the attribute data-cell. Only
// cells that are drawn are named.
func (e *Explanation) Marked() ([]byte, map[string]Cell, error) {
	p, err := e.picture(true)
	if err != nil {
		return nil, nil, err
	}
	cells, err := p.named()
	return p.b.Bytes(), cells, err
}

// named describes the cells that are drawn.
func (p *picture) named() (map[string]Cell, error) {
	cells := map[string]Cell{}
	readers := map[string][]int{} // the positions of the result that a cell of data or indices goes to
	result := "result"
	if p.whole.Bag != nil {
		result = "terms"
	}
	for _, r := range p.result.order {
		s := p.sources[r]
		at := result + where(p.result.shape, r)
		id := cellID(inResult, r)
		var by, related []string
		if s.data >= 0 {
			related = append(related, cellID(inData, s.data))
		}
		for _, a := range p.plan.Axes {
			i := s.tuple + a.Index
			text, err := p.indexText(i)
			if err != nil {
				return nil, err
			}
			by = append(by, "indices"+where(p.indices.shape, i)+" = "+text)
			related = append(related, cellID(inIndices, i))
		}
		text := at
		switch {
		case s.data == refused:
			text = "there is no " + at + ": outside"
		case s.data == leftOut:
			text += " counts in no bag"
		case s.data == filled:
			text += " = " + p.fillText() + " is filled: outside"
		default:
			value, err := p.element(s.data)
			if err != nil {
				return nil, err
			}
			text += " = " + clipTo(value, 60) + " is data" + where(p.data.shape, s.data)
		}
		if len(by) > 0 {
			text += ", by " + strings.Join(by, ", ")
		}
		related = slices.DeleteFunc(related, func(id string) bool { return !p.drawn(id) })
		cells[id] = Cell{at, text, related}
		for _, other := range related {
			readers[other] = append(readers[other], r)
		}
	}
	for _, i := range p.data.order {
		value, err := p.element(i)
		if err != nil {
			return nil, err
		}
		at := "data" + where(p.data.shape, i)
		id := cellID(inData, i)
		text := at + " = " + clipTo(value, 60) + " " + times(len(readers[id]))
		if len(p.readers[i]) == 0 {
			text = at + " = " + clipTo(value, 60) + " is not read"
		}
		cells[id] = p.from(id, at, text, readers)
	}
	for _, i := range p.indices.order {
		if p.bare {
			break // the operator has none
		}
		value, err := p.indexText(i)
		if err != nil {
			return nil, err
		}
		at := "indices" + where(p.indices.shape, i)
		id := cellID(inIndices, i)
		text := at + " = " + value
		if len(p.plan.Axes) > 0 {
			m, err := p.tracer.meaning(i)
			if err != nil {
				return nil, err
			}
			text += p.means(m)
		}
		cells[id] = p.from(id, at, text, readers)
	}
	return cells, nil
}

// from describes a cell of data or of the indices by the cells of the result that it goes
// to, and what those come from.
func (p *picture) from(id, at, text string, readers map[string][]int) Cell {
	var others, results []string
	for _, r := range readers[id] {
		results = append(results, cellID(inResult, r))
		s := p.sources[r]
		if s.data >= 0 {
			others = append(others, cellID(inData, s.data))
		}
		for _, a := range p.plan.Axes {
			others = append(others, cellID(inIndices, s.tuple+a.Index))
		}
	}
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(other string) bool { return other == id || !p.drawn(other) })
	return Cell{at, text, append(append([]string{}, others...), results...)}
}

// drawn reports whether a cell is in the picture.
func (p *picture) drawn(id string) bool {
	i, err := strconv.Atoi(id[1:])
	if err != nil {
		return false
	}
	panel := map[string]*panel{inData: p.data, inIndices: p.indices, inResult: p.result}[id[:1]]
	_, ok := panel.cells[i]
	return ok
}

// means says what an index addresses.
func (p *picture) means(m garner.Meaning) string {
	axis := "data, taken flat"
	if n := p.plan.Axes[m.Component].Number; n >= 0 {
		axis = "axis " + strconv.Itoa(n)
	}
	switch {
	case m.Refused:
		return " is outside " + axis + ", and refused"
	case m.LeftOut:
		return " counts in no bag"
	case m.At < 0:
		return " is outside " + axis + ": " + p.fillText()
	}
	return fmt.Sprintf(" is position %d of %s", m.At, axis)
}

// where is the coordinates of a row-major position: "[1,0]"; "" of a scalar.
func where(shape garner.Shape, position int) string {
	if len(shape) == 0 {
		return ""
	}
	return garner.Shape(coordinates(shape, position)).String()
}

func times(n int) string {
	switch n {
	case 0:
		return "is read by cells that are not drawn"
	case 1:
		return "is read once"
	}
	return fmt.Sprintf("is read %d times", n)
}

// clipTo shortens a text.
func clipTo(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
