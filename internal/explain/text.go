package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/terminal"
)

// A painter colours text where it is true.
type painter bool

// Colours of the terminal, as SGR parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31;1"
	yellow = "33"
)

var kindColors = [...]string{batch: "35", outer: "36", tuple: "32", still: "2"}

func (p painter) paint(color, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Text returns the explanation in words, one fact a line, with terminal colours
// on request.
func (e *Explanation) Text(color bool) string {
	p := painter(color)
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %s %s\n", p.paint(dim, fmt.Sprintf("%-7s", label)), text)
		}
	}
	plan := e.plan
	fmt.Fprintf(&b, "%s   data %s%s   ", p.paint(bold, terminal.Printable(e.Name)), e.Data.DType(), e.Data.Shape())
	if !e.bare {
		fmt.Fprintf(&b, "indices %s%s   ", e.Indices.DType(), e.indicesShape())
	}
	fmt.Fprintf(&b, "->   %s%s\n", plan.DType, e.whole.Out)
	line("bags", e.bagsText())
	line("loops", e.loopsText(p)+"     "+e.rowsText())
	line("index", e.axesText())
	if err := e.survey.Err(); err != nil {
		line("wrong", p.paint(red, bare(err)))
	}
	line("seen", e.surveyText(p))
	line("moves", e.movesText())
	if e.whole.Stored != nil {
		dtype, shape := e.elements()
		line("stored", fmt.Sprintf("data holds %s, which is decoded to %s%s", e.whole.Stored, dtype, shape))
	}
	line("view", viewText("data", e.Data))
	line("view", viewText("indices", e.Indices))
	line("walked", e.walkedText(p))
	b.WriteString(e.table(p))
	return b.String()
}

func bare(err error) string { return strings.TrimPrefix(err.Error(), "garner: ") }

func (e *Explanation) loopsText(p painter) string {
	if len(e.loops) == 0 {
		return "none"
	}
	return loopList(p, e.loops)
}

func loopList(p painter, loops []garner.Loop) string {
	var words []string
	for _, l := range loops {
		k := kindOf(l)
		words = append(words, p.paint(kindColors[k], fmt.Sprintf("%s %d", k, l.Extent)))
	}
	return strings.Join(words, " · ")
}

func (e *Explanation) rowsText() string {
	return fmt.Sprintf("%s of %s%s", count(e.rows(), "row"), count(e.slice, "element"), e.sizeText(e.slice))
}

// sizeText returns the memory of n elements of data, after a comma; nothing for
// strings, which do not move as bytes.
func (e *Explanation) sizeText(n int) string {
	if e.plan.DType == garner.String {
		return ""
	}
	return ", " + size(e.plan.DType, n)
}

// size returns the memory of n elements, in bits where they do not fill whole
// bytes.
func size(d garner.DType, n int) string {
	if w := d.Bits(); n%8*w%8 != 0 {
		return count(int64(n)*int64(w), "bit")
	}
	bytes, ok := garner.SpecOf(d, n).Bytes()
	if !ok {
		return "more bytes than can be counted"
	}
	return count(bytes, "byte")
}

func count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bagsText describes how terms are reduced; nothing where they are not.
func (e *Explanation) bagsText() string {
	bag := e.whole.Bag
	if bag == nil {
		return ""
	}
	bags, terms := count(e.whole.Loops[0].Extent, "bag"), e.whole.Loops[1].Extent
	text := ""
	switch bag.Ends {
	case garner.Even:
		text = fmt.Sprintf("%s of %s, each the %s of its terms", bags, count(terms, "term"), bag.Reduction)
	case garner.Starts, garner.ZeroStart, garner.Bounds:
		text = fmt.Sprintf("%s, each the %s of its terms, which begin where an operand says", bags, bag.Reduction)
	default:
		text = fmt.Sprintf("%s, each the %s of its terms, whose bag an operand says", bags, bag.Reduction)
	}
	if bag.WeightsAt.Given {
		text += ", weighted"
	}
	if bag.Padding.Given {
		text += fmt.Sprintf("; terms of row %d are left out", bag.Padding.At)
	}
	if bag.SkipNegative {
		text += "; terms of negative indices are left out"
	}
	if bag.SkipWeightless && bag.WeightsAt.Given {
		text += "; terms whose weight is not above 0 are left out"
	}
	if bag.Empty.Given {
		text += fmt.Sprintf("; a bag without terms is row %d", bag.Empty.At)
	} else {
		text += "; a bag without terms is zeros"
	}
	return text + "; the loops are those of the terms"
}

// axesText describes the axes that the components of a tuple address, and their
// bounds.
func (e *Explanation) axesText() string {
	plan := e.plan
	switch {
	case e.bare:
		return "none: data is taken whole"
	case len(plan.Axes) == 0:
		return "none: a tuple of no components takes the whole of data, or of its batch"
	}
	var words []string
	for _, a := range plan.Axes {
		name := "data taken flat"
		window := ""
		if a.Number >= 0 {
			name = fmt.Sprintf("axis %d", a.Number)
			if reach := e.reach(a); reach > 1 {
				window = fmt.Sprintf(" for windows of %d", reach)
			}
		}
		low := 0
		if plan.Negative == garner.FromEnd {
			low = -a.Dim
		}
		span := "has no position"
		if a.Dim > 0 {
			span = fmt.Sprintf("%d … %d", low, a.Dim-1)
		}
		words = append(words, name+", "+span+window)
	}
	return strings.Join(words, "; ") + "; " + outsideText(plan)
}

// reach returns the length of a window along a gathered axis.
func (e *Explanation) reach(a garner.Axis) int {
	_, shape := e.elements()
	if a.Number >= len(shape) {
		return 1 // data of rank 0 counts as a vector of one
	}
	return shape[a.Number] - a.Dim + 1
}

func outsideText(plan *garner.Plan) string {
	switch plan.Outside {
	case garner.Zero:
		if !plan.DType.HasZero() {
			return "outside is an error: " + plan.DType.String() + " has no zero"
		}
		return "outside reads as zeros"
	case garner.Fill:
		return "outside reads as " + plan.Fill.Text()
	case garner.Clamp:
		return "outside means the nearest position"
	case garner.Wrap:
		return "outside counts modulo the axis"
	}
	return "outside is an error"
}

// surveyText describes the indices: how many are negative, outside or refused.
func (e *Explanation) surveyText(p painter) string {
	s := e.survey
	if len(e.plan.Axes) == 0 {
		return ""
	}
	var words []string
	add := func(n int, one, many, color string) {
		if n == 1 {
			words = append(words, p.paint(color, "1 "+one))
		} else if n > 1 {
			words = append(words, p.paint(color, strconv.Itoa(n)+" "+many))
		}
	}
	add(s.FromEnd, "counts from the end", "count from the end", yellow)
	switch e.plan.Outside {
	case garner.Fill:
		fill := e.plan.Fill.Text()
		add(s.Filled, "is outside and reads as "+fill, "are outside and read as "+fill, yellow)
	default:
		add(s.Filled, "is outside and reads as zeros", "are outside and read as zeros", yellow)
	}
	moved := "mean the nearest position"
	if e.plan.Outside == garner.Wrap {
		moved = "count modulo the axis"
	}
	add(s.Moved, "is outside and "+strings.Replace(strings.Replace(moved, "mean ", "means ", 1), "count ", "counts ", 1), "are outside and "+moved, yellow)
	add(s.LeftOut, "counts in no bag", "count in no bag", yellow)
	add(s.Refused, "is refused: the gather fails", "are refused: the gather fails", red)
	all := indicesCount(s.Indices)
	if n := e.indicesLen(); n > MostSurveyed {
		all = fmt.Sprintf("the first %d of %s", s.Indices, indicesCount(n))
	}
	if len(words) == 0 {
		return all + ", all inside"
	}
	return all + ": " + strings.Join(words, ", ")
}

func indicesCount(n int) string {
	if n == 1 {
		return "1 index"
	}
	return fmt.Sprintf("%d indices", n)
}

// movesText describes how much the gather reads and writes.
func (e *Explanation) movesText() string {
	n, _ := e.plan.Out.Len()
	held := e.Data.Len()
	reads := ""
	if !e.bare {
		reads = fmt.Sprintf("; reads %s of indices", size(e.plan.IndexType, e.indicesLen()))
	}
	if e.plan.DType == garner.String {
		return fmt.Sprintf("%s of %d in data%s", count(n, "text"), held, reads)
	}
	if e.whole.Bag != nil {
		bags, _ := e.whole.Out.Len()
		return fmt.Sprintf("%s of terms, reduced to %s of the result%s", size(e.plan.DType, n), size(e.plan.DType, bags), reads)
	}
	return fmt.Sprintf("%s into the result, from data of %s%s", size(e.plan.DType, n), size(e.Data.DType(), held), reads)
}

// viewText describes the memory layout of an operand that is not row-major and
// dense.
func viewText(name string, t garner.Tensor) string {
	if t.Contiguous() {
		return ""
	}
	return fmt.Sprintf("%s has strides %s; row-major would have %s", name, garner.Shape(t.Strides()), garner.Shape(t.Shape().Strides()))
}

// walkedText describes the loops after normalisation.
func (e *Explanation) walkedText(p painter) string {
	walked := e.plan.Normalize()
	dropped, left := 0, make([]garner.Loop, 0, len(e.plan.Loops))
	for _, l := range e.plan.Loops {
		if l.Extent == 1 {
			dropped++
		} else {
			left = append(left, l)
		}
	}
	// The slice has grown by the loops that sank into it.
	sunk := 0
	for slice := e.plan.Slice; slice != walked.Slice; sunk++ {
		i := slices.IndexFunc(left, func(l garner.Loop) bool { return l.Data == slice && l.Out == slice && l.Index == 0 })
		if i < 0 {
			break
		}
		slice *= left[i].Extent
		left = slices.Delete(left, i, i+1)
	}
	joined := len(left) - len(walked.Loops)
	words := append([]string{}, loopWords(p, walked)...)
	var how []string
	if dropped > 0 {
		how = append(how, count(dropped, "loop")+" of one turn dropped")
	}
	if joined > 0 {
		how = append(how, fmt.Sprintf("%d joined with a neighbour", joined))
	}
	if sunk > 0 {
		how = append(how, fmt.Sprintf("%d sunk into the slice", sunk))
	}
	text := strings.Join(words, " · ")
	if len(how) > 0 {
		text += "     " + strings.Join(how, ", ")
	}
	return text
}

func loopWords(p painter, plan *garner.Plan) []string {
	var words []string
	if len(plan.Loops) > 0 {
		words = append(words, loopList(p, plan.Loops))
	}
	return append(words, fmt.Sprintf("slice %d", plan.Slice))
}

// table has one line per loop: its extent and its strides.
func (e *Explanation) table(p painter) string {
	rows := [][]string{{"", "extent", "data", "indices", "result"}}
	stride := func(n int) string {
		if n == 0 {
			return "·"
		}
		return strconv.Itoa(n)
	}
	kinds := []kind{}
	for _, l := range e.loops {
		kinds = append(kinds, kindOf(l))
		rows = append(rows, []string{kindOf(l).String(), strconv.Itoa(l.Extent), stride(l.Data), stride(l.Index), stride(l.Out)})
	}
	rows = append(rows, []string{"slice", strconv.Itoa(e.slice), "1", "·", "1"})
	for _, a := range e.plan.Axes {
		name := "flat"
		if a.Number >= 0 {
			name = fmt.Sprintf("axis %d", a.Number)
		}
		data := stride(a.Data)
		if len(a.Parts) > 0 {
			data = "several"
		}
		rows = append(rows, []string{name, strconv.Itoa(a.Dim), data, "at " + strconv.Itoa(a.Index), "·"})
	}
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for i, r := range rows {
		first := fmt.Sprintf("%-*s", width[0], r[0])
		if i > 0 && i <= len(kinds) {
			first = p.paint(kindColors[kinds[i-1]], first)
		}
		fmt.Fprintf(&b, "    %s", first)
		for j, cell := range r[1:] {
			b.WriteString(strings.Repeat(" ", 3+width[j+1]-len([]rune(cell))))
			if i == 0 {
				cell = p.paint(dim, cell)
			}
			b.WriteString(cell)
		}
		if i == 0 {
			b.WriteString("   " + p.paint(dim, "strides in elements"))
		}
		b.WriteString("\n")
	}
	return b.String()
}
