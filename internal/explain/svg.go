package explain

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

const (
	titleSize   = 16
	headingSize = 13
	noteSize    = 12
	markSize    = 10
	lineHeight  = 17
)

// textWidth returns the approximate width of a sans-serif text.
func textWidth(text string, size int) int {
	return len([]rune(text)) * size * 58 / 100
}

// colors are Paul Tol's "light" scheme, which suits black text and colour-blind
// readers.
var colors = [...]string{"#77aadd", "#eedd88", "#ee8866", "#99ddff", "#bbcc33", "#ffaabb", "#44bb99", "#aaaa00"}

const (
	ink     = "#222222"
	pale    = "#777777"
	bad     = "#cc0000"
	nothing = "#ffffff" // a cell that no index reads
)

// A picture is the drawing of an explanation.
type picture struct {
	*Explanation
	tracer                *tracer
	data, indices, result *panel
	vertical              bool // the panels are one below the other

	sources map[int]source // by position in the result
	tuples  map[int]int    // the row that a tuple addresses, by the position of its first index
	readers map[int][]int  // the rows that contain an element of data, by its position
	color   map[int]int    // the colour number of a row, by row
	windows bool           // some elements of data are in several rows
	unread  bool           // some elements of data are in no row
	notes   bool           // indices have a small line of text below them
	top     int            // y of the panels

	b     bytes.Buffer             // the cells
	lines bytes.Buffer             // leaders, drawn over the cells
	texts map[string]*bytes.Buffer // texts by their classes, drawn over both
	order []string                 // the classes of texts

	marked bool // cells say which they are, for a page
}

// scanned is the largest result, in elements, whose every element is traced
// back to data. Of a larger one, the elements that are drawn are.
const scanned = 1 << 16

// SVG draws the explanation: data, indices and result as grids of cells, each
// cell of the result in the colour of the row of data that it comes from. Of
// large tensors it draws some positions only. The same subject gives the same
// bytes. Errors are those of reading the operands.
func (e *Explanation) SVG() ([]byte, error) {
	p, err := e.picture(false)
	if err != nil {
		return nil, err
	}
	return p.b.Bytes(), nil
}

// picture draws the explanation. marked says whether cells have the attribute data-cell.
func (e *Explanation) picture(marked bool) (*picture, error) {
	t, err := newTracer(e.Subject)
	if err != nil {
		return nil, err
	}
	p := &picture{
		Explanation: e, tracer: t, marked: marked,
		sources: map[int]source{}, tuples: map[int]int{}, readers: map[int][]int{}, color: map[int]int{}, texts: map[string]*bytes.Buffer{},
	}
	p.plan = t.plan
	if err := p.follow(); err != nil {
		return nil, err
	}
	if err := p.measure(); err != nil {
		return nil, err
	}
	return p, p.draw()
}

// positions returns the row-major positions of a shape of which the shown
// positions along each dim are drawn.
func positions(shape garner.Shape, shown [][]int) []int {
	list := []int{0}
	for axis, extent := range shape {
		var next []int
		for _, position := range list {
			for _, i := range shown[axis] {
				next = append(next, position*extent+i)
			}
		}
		list = next
	}
	return list
}

// shownOf returns the positions along each dim of a shape that are drawn,
// preferably the wanted coordinates.
func shownOf(shape garner.Shape, wanted [][]int) [][]int {
	shown := make([][]int, len(shape))
	for axis, limit := range limits(shape) {
		var w []int
		for _, c := range wanted {
			w = append(w, c[axis])
		}
		shown[axis] = choose(shape[axis], limit, w)
	}
	return shown
}

// follow traces the elements of the result and chooses what to draw.
func (p *picture) follow() error {
	b, into := p.tracer.batchDims(p.Subject)
	p.result = &panel{shape: p.plan.Out, batch: into, shown: shownOf(p.plan.Out, nil)}
	var elements []int
	if n, _ := p.plan.Out.Len(); n <= scanned {
		for i := range n {
			elements = append(elements, i)
		}
	} else {
		elements = positions(p.plan.Out, p.result.shown)
	}
	drawn := map[int]bool{}
	for _, i := range positions(p.plan.Out, p.result.shown) {
		drawn[i] = true
	}
	_, dataShape := p.elements()
	indexShape := p.indicesShape()
	var wantedData, wantedIndices [][]int
	for _, i := range elements {
		s, err := p.tracer.source(i)
		if err != nil {
			return err
		}
		if drawn[i] {
			p.sources[i] = s
			if len(p.plan.Axes) > 0 {
				wantedIndices = append(wantedIndices, coordinates(indexShape, s.tuple))
			}
		}
		if len(p.plan.Axes) > 0 || len(indexShape) > 0 {
			p.tuples[s.tuple] = s.row
		}
		if s.data < 0 {
			continue
		}
		if drawn[i] {
			wantedData = append(wantedData, coordinates(dataShape, s.data))
		}
		if _, ok := p.color[s.row]; !ok {
			p.color[s.row] = len(p.color)
		}
		if rows := p.readers[s.data]; !slices.Contains(rows, s.row) {
			p.readers[s.data] = append(rows, s.row)
			p.windows = p.windows || len(rows) > 0
		}
	}
	if first := p.survey.First; first != nil && len(first.Position) == len(indexShape) {
		wantedIndices = append([][]int{first.Position}, wantedIndices...)
	}
	p.data = &panel{shape: dataShape, batch: b, ticks: true, shown: shownOf(dataShape, wantedData)}
	for _, a := range p.plan.Axes {
		if a.Number >= 0 {
			p.data.gathered = append(p.data.gathered, a.Number)
		}
	}
	p.indices = &panel{shape: indexShape, batch: b, shown: shownOf(indexShape, wantedIndices)}
	return nil
}

// measure computes the sizes of the cells and places the panels.
func (p *picture) measure() error {
	dtype, shape := p.elements()
	p.data.name, p.data.spec = "data", dtype.String()+shape.String()
	p.indices.name, p.indices.spec = "indices", p.Indices.DType().String()+p.indicesShape().String()
	p.result.name, p.result.spec = "result", p.plan.DType.String()+p.plan.Out.String()
	if bag := p.whole.Bag; bag != nil {
		p.result.name, p.result.spec = "terms", "by bag, "+bag.Reduction.String()+": "+p.plan.DType.String()+p.whole.Out.String()
	}
	if p.fails() {
		p.result.name, p.result.spec = "no result", "the gather fails"
	}
	widest := 1
	for _, i := range positions(p.data.shape, p.data.shown) {
		text, err := p.element(i)
		if err != nil {
			return err
		}
		widest = max(widest, len([]rune(clip(text))))
	}
	for _, s := range p.sources {
		if s.data == filled {
			widest = max(widest, len([]rune(clip(p.fillText()))))
			break
		}
	}
	p.data.cellWidth = max(minWidth, int(float64(widest)*charWidth)+10)
	p.data.cellHeight = cellHeight
	p.result.cellWidth, p.result.cellHeight = p.data.cellWidth, cellHeight

	widest = 1
	for _, i := range positions(p.indices.shape, p.indices.shown) {
		text, err := p.indexText(i)
		if err != nil {
			return err
		}
		widest = max(widest, len([]rune(clip(text))))
		note, err := p.note(i)
		if err != nil {
			return err
		}
		if note != "" {
			p.notes = true
			widest = max(widest, (len([]rune(note))*markSize*62/100+6)*10/73)
		}
	}
	p.indices.cellWidth = max(minWidth, int(float64(widest)*charWidth)+10)
	p.indices.cellHeight = cellHeight
	if p.notes {
		p.indices.cellHeight += noteHeight
	}
	p.place()
	return nil
}

// place chooses the reading direction: from left to right, or from top to
// bottom where data is one row, its columns are gathered, or the panels are too
// wide to be side by side.
func (p *picture) place() {
	const widest = 900
	p.top = margin + 46
	rank := len(p.data.shape)
	oneRow := rank <= 1 && len(p.indices.shape) <= 1
	columns := rank == 2 && slices.Equal(p.data.gathered, []int{1}) && len(p.indices.shape) <= 1
	p.vertical = oneRow || columns
	if p.vertical {
		// Equal widths align an index with the cell that it reads.
		w := max(p.data.cellWidth, p.indices.cellWidth)
		p.data.cellWidth, p.indices.cellWidth, p.result.cellWidth = w, w, w
	}
	if !p.vertical {
		p.indices.column = len(p.indices.shape) == 1
		p.result.column = len(p.result.shape) == 1 && len(p.indices.shape) <= 2
		if p.across() > widest {
			p.vertical, p.indices.column, p.result.column = true, false, false
		}
	}
	if p.vertical {
		p.down()
	}
}

func (p *picture) panels() []*panel { return []*panel{p.data, p.indices, p.result} }

func (p *picture) across() (width int) {
	h := 0
	for _, panel := range p.panels() {
		panel.arrange(0, p.top, true)
		h = max(h, panel.area.h)
	}
	// Lower panels are centred.
	x := margin
	for _, panel := range p.panels() {
		panel.arrange(x, p.top+(h-panel.area.h)/2, true)
		x += panel.area.w + panelGap
	}
	return x - panelGap + margin
}

func (p *picture) down() {
	x, y := margin, p.top
	for _, panel := range p.panels() {
		x = max(x, margin+20+max(textWidth(panel.name, headingSize), textWidth(panel.spec, noteSize)))
	}
	left := 0 // width of the tick labels of data
	if len(p.data.shape) == 2 {
		left = p.data.tickWidth(0)
	}
	for i, panel := range p.panels() {
		if i == 1 {
			x += left
		}
		panel.arrange(x, y, false)
		y += panel.area.h + panelGap*2/3
	}
}

// at returns the text of the element of t that the panel draws for a position.
func (p *panel) at(t garner.Tensor, position int) (string, error) {
	return t.At(coordinates(p.shape, position)...)
}

// indexText returns the text of an index.
func (p *picture) indexText(i int) (string, error) {
	indices, err := p.index(i)
	if err != nil {
		return "", err
	}
	return p.indices.at(indices, i)
}

// clip shortens a text to fit a cell.
func clip(text string) string {
	const most = 10
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// fillText returns the text of a result cell whose index is outside.
func (p *picture) fillText() string {
	if p.plan.Outside == garner.Fill {
		return p.plan.Fill.Text()
	}
	zero, err := garner.New(p.plan.DType)
	if err != nil {
		return ""
	}
	return zero.Text()
}

// note returns the small line of text under an index whose position differs
// from its value.
func (p *picture) note(i int) (string, error) {
	if len(p.plan.Axes) == 0 {
		return "", nil
	}
	m, err := p.tracer.meaning(i)
	switch {
	case err != nil:
		return "", err
	case m.Refused:
		return "outside", nil
	case m.LeftOut:
		return "left out", nil
	case m.Outside && m.At < 0 && p.plan.Outside == garner.Zero:
		return "→ zero", nil
	case m.Outside && m.At < 0:
		return "→ fill", nil
	case m.Outside, !m.Value.Unsigned && int64(m.Value.Bits) < 0:
		return fmt.Sprintf("→ %d", m.At), nil
	}
	return "", nil
}

// escape escapes a text for XML.
func escape(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return "" // writing to a Builder does not fail
	}
	return b.String()
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// into returns where the texts of classes are written.
func (p *picture) into(classes string) *bytes.Buffer {
	b, ok := p.texts[classes]
	if !ok {
		b = &bytes.Buffer{}
		p.texts[classes] = b
		p.order = append(p.order, classes)
	}
	return b
}

// text writes a text at a baseline. Its class says whether x is its start or
// its middle.
func (p *picture) text(x, y int, class, text string) {
	fmt.Fprintf(p.into(class), "<text x=\"%d\" y=\"%d\">%s</text>\n", x, y, escape(text))
}

// pair writes two texts one after the other, whatever the width of the font.
func (p *picture) pair(x, y int, class, text, then, after string) {
	fmt.Fprintf(p.into(""), "<text x=\"%d\" y=\"%d\"><tspan %s>%s</tspan><tspan dx=\"10\" %s>%s</tspan></text>\n",
		x, y, presentation(class), escape(text), presentation(then), escape(after))
}

// A look is the presentation attributes of a text.
type look struct {
	mono, bold, middle bool
	size               int
	fill               string // "": the colour of all texts
}

// looks are those of the classes of texts. A text of two classes has the attributes of
// both. There is no style sheet, so that a page whose policy forbids one can show the
// picture; its own sheet goes before the attributes.
var looks = map[string]look{
	"t": {size: titleSize, bold: true},
	"a": {size: noteSize},
	"h": {size: headingSize, bold: true},
	"v": {size: 12, mono: true, middle: true},
	"n": {size: markSize, middle: true},
	"k": {size: markSize, middle: true, fill: pale},
	"s": {size: markSize, middle: true, bold: true},
	"l": {size: noteSize - 1, fill: pale},
	"d": {size: noteSize - 1, bold: true},
	"b": {bold: true, fill: bad},
	"g": {fill: pale},
}

// presentation returns the attributes of classes, which are separated by spaces.
func presentation(classes string) string {
	var all look
	for class := range strings.FieldsSeq(classes) {
		l := looks[class]
		all.mono, all.bold, all.middle = all.mono || l.mono, all.bold || l.bold, all.middle || l.middle
		all.size = max(all.size, l.size)
		if l.fill != "" {
			all.fill = l.fill
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `class="%s"`, classes)
	if all.mono {
		b.WriteString(` font-family="Menlo,Consolas,'DejaVu Sans Mono',monospace"`)
	}
	if all.size > 0 {
		fmt.Fprintf(&b, ` font-size="%d"`, all.size)
	}
	if all.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if all.middle {
		b.WriteString(` text-anchor="middle"`)
	}
	if all.fill != "" {
		fmt.Fprintf(&b, ` fill="%s"`, all.fill)
	}
	return b.String()
}

// draw writes the picture.
func (p *picture) draw() error {
	title, attributes := p.Name, strings.Join(p.Attributes, "  ")
	width := max(430, textWidth(title, titleSize+1)+16+textWidth(attributes, headingSize))
	for _, panel := range p.panels() {
		width = max(width, panel.area.x+panel.area.w-margin)
	}
	about := wrap(p.axesText(), width, noteSize)
	if more := len(about) - 1; more > 0 {
		p.top += more * lineHeight
		if p.vertical {
			p.down()
		} else {
			p.across()
		}
	}
	bottom := 0
	for _, panel := range p.panels() {
		bottom = max(bottom, panel.area.y+panel.area.h)
		p.frame(panel)
	}
	if err := p.dataCells(); err != nil {
		return err
	}
	if err := p.indexCells(); err != nil {
		return err
	}
	if err := p.resultCells(); err != nil {
		return err
	}
	p.leaders()
	p.pair(margin, margin+12, "t", title, "h g", attributes)
	for i, line := range about {
		p.text(margin, margin+32+i*lineHeight, "a", line)
	}
	bottom += 32
	if err := p.survey.Err(); err != nil {
		for _, line := range wrap(bare(err), width, noteSize) {
			p.text(margin, bottom, "a b", line)
			bottom += lineHeight
		}
		bottom += 6
	}
	height := p.legend(bottom, width) + margin - 8
	width += 2 * margin

	cells := p.b
	p.b = bytes.Buffer{}
	p.printf(`<?xml version="1.0" encoding="UTF-8"?>`)
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`, width, height, width, height)
	dtype, shape := p.elements()
	p.printf(`<title>%s</title>`, escape(fmt.Sprintf("%s of data %s%s and indices %s%s", p.Name, dtype, shape, p.Indices.DType(), p.indicesShape())))
	p.printf(`<defs><pattern id="outside" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1,1L1,-1M0,6L6,0M5,7L7,5" fill="none" stroke="#999999"/></pattern></defs>`)
	p.printf(`<rect width="%d" height="%d" fill="#ffffff" stroke="none"/>`, width, height)
	p.printf(`<g fill="none" stroke="%s">`, ink)
	p.b.Write(cells.Bytes())
	p.b.Write(p.lines.Bytes())
	p.printf("</g>")
	p.printf(`<g font-family="Helvetica,Arial,'DejaVu Sans',sans-serif" fill="%s">`, ink)
	for _, class := range p.order {
		if class != "" {
			p.printf("<g %s>", presentation(class))
		}
		p.b.Write(p.texts[class].Bytes())
		if class != "" {
			p.printf("</g>")
		}
	}
	p.printf("</g>")
	p.printf(`</svg>`)
	return nil
}

// frame writes the parts of a panel other than its cells.
func (p *picture) frame(of *panel) {
	class := ""
	if of == p.result && p.fails() {
		class = " b"
	}
	if at := p.heading(of); p.vertical {
		p.text(at[0].x, at[0].y+12, "h"+class, of.name)
		p.text(at[1].x, at[1].y+12, "a"+class, of.spec)
	} else {
		p.pair(at[0].x, at[0].y+12, "h"+class, of.name, "a"+class, of.spec)
	}
	if of.empty() {
		p.text(of.area.x, of.area.y+of.area.h-9, "l", "no elements")
	}
	for _, f := range of.frames() {
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="4" stroke="%s" stroke-dasharray="4 3"/>`, f.x, f.y, f.w, f.h, pale)
	}
	for _, m := range of.marks {
		switch {
		case m.start && m.strong:
			p.text(m.x, m.y, "d", m.text)
		case m.start:
			p.text(m.x, m.y, "l", m.text)
		case m.strong:
			p.text(m.x, m.y, "s", m.text)
		default:
			p.text(m.x, m.y, "k", m.text)
		}
	}
}

// heading returns the areas of a panel's name and of its type: above it or at
// its left.
func (p *picture) heading(of *panel) [2]rect {
	name, spec := textWidth(of.name, headingSize), textWidth(of.spec, noteSize)
	x, y := of.area.x, of.area.y
	if !p.vertical {
		return [2]rect{{x, y, name, 16}, {x + name + 8, y, spec, 16}}
	}
	if of.ticks && len(of.shape) > 0 {
		y += tickHeight
	}
	return [2]rect{{margin, y, name, 16}, {margin, y + 15, spec, 16}}
}

// fill returns the colour of a row.
func (p *picture) fill(row int) string {
	n, ok := p.color[row]
	if !ok {
		return nothing
	}
	return colors[n%len(colors)]
}

// cell draws a cell in the colour of its rows; of several, side by side.
func (p *picture) cell(r rect, rows []int) {
	switch len(rows) {
	case 0:
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, r.x, r.y, r.w, r.h, nothing)
	case 1:
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, r.x, r.y, r.w, r.h, p.fill(rows[0]))
	default:
		for i, row := range rows {
			from, to := r.x+r.w*i/len(rows), r.x+r.w*(i+1)/len(rows)
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="none"/>`, from, r.y, to-from, r.h, p.fill(row))
		}
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d"/>`, r.x, r.y, r.w, r.h)
	}
	if len(rows) == 1 {
		// Dots tell rows of the same colour apart.
		for i := range min(p.color[rows[0]]/len(colors), 4) {
			p.printf(`<rect x="%d" y="%d" width="3" height="3" fill="%s" stroke="none"/>`, r.x+3+5*i, r.y+3, ink)
		}
	}
}

// value writes the text of a cell.
func (p *picture) value(r rect, id, class, text string) {
	mark, title, short := "", "", clip(text)
	if p.marked {
		mark = ` data-cell="` + id + `"`
	}
	if short != text {
		title = "<title>" + escape(clipTo(text, 1000)) + "</title>"
	}
	fmt.Fprintf(p.into(class), "<text x=\"%d\" y=\"%d\"%s>%s%s</text>\n", r.midX(), r.midY()+4, mark, title, escape(short))
}

// begin and end enclose the shapes of a cell.
func (p *picture) begin(id string) {
	if p.marked {
		p.printf(`<g data-cell="%s">`, id)
	}
}

func (p *picture) end() {
	if p.marked {
		p.printf("</g>")
	}
}

func (p *picture) dataCells() error {
	for _, i := range p.data.order {
		text, err := p.element(i)
		if err != nil {
			return err
		}
		class := "v"
		if len(p.readers[i]) == 0 {
			class, p.unread = "v g", true
		}
		id := cellID(inData, i)
		p.begin(id)
		p.cell(p.data.cells[i], p.readers[i])
		p.end()
		p.value(p.data.cells[i], id, class, text)
	}
	return nil
}

func (p *picture) indexCells() error {
	boxes, first := map[int]rect{}, []int{}
	for _, i := range p.indices.order {
		r := p.indices.cells[i]
		text, err := p.indexText(i)
		if err != nil {
			return err
		}
		note, err := p.note(i)
		if err != nil {
			return err
		}
		tuple := p.tupleOf(i)
		row, ok := p.tuples[tuple]
		class := "v"
		var m garner.Meaning
		if len(p.plan.Axes) > 0 {
			if m, err = p.tracer.meaning(i); err != nil {
				return err
			}
		}
		id := cellID(inIndices, i)
		p.begin(id)
		switch {
		case m.Refused:
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="#ffffff" stroke="%s" stroke-width="2"/>`, r.x+1, r.y+1, r.w-2, r.h-2, bad)
			class = "v b"
		case m.At < 0:
			p.hatched(r)
		case !ok || row < 0:
			p.cell(r, nil)
		default:
			p.cell(r, []int{row})
		}
		p.end()
		at := r
		if note != "" {
			at.h -= noteHeight
		}
		if m.At < 0 && !m.Refused && len(p.plan.Axes) > 0 {
			p.backing(at, text)
		}
		p.value(at, id, class, text)
		if note != "" {
			kind := "n"
			if m.Refused {
				kind = "n b"
			} else if m.At < 0 {
				w := textWidth(note, markSize)
				p.printf(`<rect x="%d" y="%d" width="%d" height="11" fill="#ffffff" stroke="none"/>`, r.midX()-w/2, r.y+r.h-14, w)
			}
			p.text(r.midX(), r.y+r.h-5, kind, note)
		}
		if _, ok := boxes[tuple]; !ok {
			first = append(first, tuple)
		}
		boxes[tuple] = boxes[tuple].around(r)
	}
	if len(p.plan.Axes) > 1 {
		for _, tuple := range first {
			r := boxes[tuple]
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="2" stroke-width="2"/>`, r.x, r.y, r.w, r.h)
		}
	}
	return nil
}

// tupleOf returns the position of the first index of the tuple that an index is
// in.
func (p *picture) tupleOf(i int) int {
	if len(p.plan.Axes) < 2 {
		return i
	}
	m, err := p.tracer.meaning(i)
	if err != nil {
		return i
	}
	return i - p.plan.Axes[m.Component].Index
}

func (p *picture) hatched(r rect) {
	p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="#ffffff"/>`, r.x, r.y, r.w, r.h)
	p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="url(#outside)"/>`, r.x, r.y, r.w, r.h)
}

// backing draws a background that keeps a text on hatching legible.
func (p *picture) backing(r rect, text string) {
	w := int(float64(len([]rune(clip(text))))*charWidth) + 4
	p.printf(`<rect x="%d" y="%d" width="%d" height="15" fill="#ffffff" stroke="none"/>`, r.midX()-w/2, r.midY()-8, w)
}

func (p *picture) resultCells() error {
	for _, i := range p.result.order {
		r, s, id := p.result.cells[i], p.sources[i], cellID(inResult, i)
		class, text := "v", ""
		p.begin(id)
		switch {
		case s.data == refused:
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="#ffffff" stroke="%s" stroke-width="2"/>`, r.x+1, r.y+1, r.w-2, r.h-2, bad)
			class, text = "v b", "×"
		case s.data == leftOut:
			p.hatched(r)
		case s.data == filled:
			text = p.fillText()
			p.hatched(r)
			p.backing(r, text)
		default:
			var err error
			if text, err = p.element(s.data); err != nil {
				return err
			}
			p.cell(r, []int{s.row})
		}
		p.end()
		if text != "" {
			p.value(r, id, class, text)
		}
	}
	return nil
}

// legend explains the signs that occur in the picture. It returns the y of its
// end.
func (p *picture) legend(y, width int) int {
	x := margin
	item := func(draw func(r rect), text string) {
		w := 26 + textWidth(text, noteSize-1) + 18
		if x > margin && x+w > margin+width+18 {
			x, y = margin, y+20
		}
		draw(rect{x + 2, y - 11, 16, 14})
		p.text(x+26, y, "l", text)
		x += w
	}
	plain := func(attributes string) func(rect) {
		return func(r rect) {
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" %s/>`, r.x, r.y, r.w, r.h, attributes)
		}
	}
	if len(p.color) > 0 {
		text := "same colour: same slice of data"
		if p.windows {
			text = "same colour: same window of data"
		}
		if len(p.sources) > 0 && p.rowIsElement() {
			text = "same colour: same element of data"
		}
		item(func(r rect) {
			p.printf(`<rect x="%d" y="%d" width="10" height="%d" fill="%s"/>`, r.x-2, r.y, r.h, colors[0])
			p.printf(`<rect x="%d" y="%d" width="10" height="%d" fill="%s"/>`, r.x+8, r.y, r.h, colors[1])
		}, text)
	}
	for _, i := range positions(p.data.shape, p.data.shown) {
		if len(p.readers[i]) == 0 {
			item(plain(`fill="#ffffff"`), "not read")
			break
		}
	}
	if p.data.batch > 0 {
		item(plain(`stroke-dasharray="4 3" stroke="`+pale+`"`), "one batch")
	}
	if len(p.plan.Axes) > 1 {
		item(plain(`stroke-width="2"`), "one index tuple")
	}
	if p.survey.FromEnd+p.survey.Moved > 0 {
		item(func(r rect) { p.text(r.midX(), r.y+11, "n", "→ 1") }, "the position that an index means")
	}
	if p.survey.Filled > 0 {
		text := "outside: filled with " + clip(p.fillText())
		if p.plan.Outside == garner.Zero {
			text = "outside: zeros"
		}
		item(p.hatched, text)
	}
	if p.survey.LeftOut > 0 {
		item(p.hatched, "counts in no bag")
	}
	if p.survey.Refused > 0 {
		item(plain(`stroke-width="2" stroke="`+bad+`"`), "outside: refused")
	}
	return y
}

// rowIsElement reports whether rows are single elements.
func (p *picture) rowIsElement() bool {
	for _, l := range p.plan.Loops {
		if kindOf(l) == outer && l.Extent > 1 {
			return false
		}
	}
	return p.plan.Slice == 1
}

// wrap breaks a text into lines of a width.
func wrap(text string, width, size int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && textWidth(line+" "+word, size) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
