package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/source"
)

// wayColors are the colours of the ways, from the same scheme as chartColors. garner's
// choice is grey, a broad line below the others.
var wayColors = map[string]string{
	source.Mapped.String(): "#4477aa", source.WillNeed.String(): "#228833", source.Pread.String(): "#aa3377", source.Ring.String(): "#cc3311",
	source.Auto.String(): "#bbbbbb",
}

// probeRight is where the plot ends and its legend begins.
const probeRight = chartRight - 150

// A probeChart is the drawing of a probe: µs per row against the batch size, both
// logarithmic; cold lines are solid, warm ones dashed.
type probeChart struct {
	chart
	*probed
	sizes  []int
	before float64 // exponent of two at the left end
}

func (f *probed) svg() []byte {
	c := &probeChart{probed: f}
	ways, sizes := f.ways()
	c.sizes = sizes
	least, most := math.Inf(1), 0.0
	for _, p := range f.Points {
		if p.Batches > 0 {
			least, most = min(least, p.Micros), max(most, p.Micros)
		}
	}
	if d := f.Disk.MicrosPerOne; d > 0 {
		least, most = min(least, d), max(most, d)
	}
	c.low, c.high = math.Floor(math.Log10(least)), math.Ceil(math.Log10(1.05*most))
	c.before = math.Log2(float64(sizes[0]))
	c.widest = max(math.Log2(float64(sizes[len(sizes)-1])), c.before+1)
	c.axes()
	// Draw garner's choice first, below the line of its way.
	slices.Reverse(ways)
	for _, way := range ways {
		c.line(way, cold, "")
		c.line(way, warm, ` stroke-dasharray="7 5"`)
	}
	slices.Reverse(ways)
	c.legend(ways)
	fmt.Fprint(&c.b, "</svg>\n")
	return c.b.Bytes()
}

func (c *probeChart) x(rows int) float64 {
	return chartLeft + 16 + (math.Log2(float64(rows))-c.before)/(c.widest-c.before)*(probeRight-chartLeft-32)
}

// axes draws the frame, the grid, its labels and the disk's own speed.
func (c *probeChart) axes() {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13" fill="#222222">
<title>Microseconds a row against the size of a batch</title>
<rect width="%d" height="%d" fill="#ffffff"/>
`, chartWidth, chartHeight, chartWidth, chartHeight, chartWidth, chartHeight)
	c.text(chartLeft, 28, `font-size="17" font-weight="bold"`, "Microseconds a row against the size of a batch")
	c.text(chartLeft, 50, `fill="#555555"`, fmt.Sprintf("rows of %d bytes out of %s · %s", c.ReadBytes, units.Bytes(c.Bytes), c.probed.about()))
	for _, n := range c.sizes {
		c.printf("<path d=\"M%.1f %dV%d\" stroke=\"#e4e4e4\"/>\n", c.x(n), chartTop, chartBottom)
		c.text(c.x(n), chartBottom+20, `text-anchor="middle"`, fmt.Sprint(n))
	}
	for e := c.low; e <= c.high; e++ {
		y := c.y(math.Pow(10, e))
		c.printf("<path d=\"M%d %.1fH%d\" stroke=\"#d0d0d0\"/>\n", chartLeft, y, probeRight)
		c.text(chartLeft-8, y+4, `text-anchor="end"`, fmt.Sprintf("%g", math.Pow(10, e)))
	}
	c.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#222222\"/>\n", chartLeft, chartTop, probeRight-chartLeft, chartBottom-chartTop)
	c.text((chartLeft+probeRight)/2, chartBottom+46, `text-anchor="middle"`, "rows in a batch")
	middle := float64(chartTop+chartBottom) / 2
	c.text(22, middle, fmt.Sprintf(`text-anchor="middle" transform="rotate(-90 22 %.1f)"`, middle), "µs a row")
	if d := c.Disk.MicrosPerOne; d > 0 {
		c.printf("<path d=\"M%d %.1fH%d\" stroke=\"#222222\" stroke-dasharray=\"2 4\" stroke-width=\"1.6\"/>\n", chartLeft, c.y(d), probeRight)
	}
}

// pen returns the line width of a way.
func pen(way string) float64 {
	if way == source.Auto.String() {
		return 9
	}
	return 2.2
}

// line draws one way in one state.
func (c *probeChart) line(way, state, dash string) {
	var path, marks strings.Builder
	for _, n := range c.sizes {
		p := c.at(state, way, n)
		if p == nil {
			continue
		}
		to := "L"
		if path.Len() == 0 {
			to = "M"
		}
		x, y := c.x(n), c.y(p.Micros)
		fmt.Fprintf(&path, "%s%.1f %.1f", to, x, y)
		fmt.Fprintf(&marks, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, max(3.2, pen(way)/2), wayColors[way])
	}
	if path.Len() == 0 {
		return
	}
	c.printf("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s/>\n%s", &path, wayColors[way], pen(way), dash, &marks)
}

// legend draws the legend to the right of the plot.
func (c *probeChart) legend(ways []string) {
	const x, line = probeRight + 14, 22
	y := float64(chartTop + 16)
	entry := func(stroke, text string) {
		c.printf("<path d=\"M%d %.1fh32\" %s/>\n", x, y-4, stroke)
		c.text(x+40, y, "", text)
		y += line
	}
	for _, way := range ways {
		entry(fmt.Sprintf(`stroke="%s" stroke-width="%.1f"`, wayColors[way], pen(way)), way)
	}
	y += line / 2
	if c.ColdMissing == "" {
		entry(`stroke="#222222" stroke-width="2.2"`, "cold")
	}
	entry(`stroke="#222222" stroke-width="2.2" stroke-dasharray="7 5"`, "warm")
	if c.Disk.MicrosPerOne > 0 {
		entry(`stroke="#222222" stroke-width="1.6" stroke-dasharray="2 4"`, "the disk itself:")
		c.text(x+40, y-4, `fill="#555555"`, fmt.Sprintf("%.3g µs a read", c.Disk.MicrosPerOne))
		y += line - 6
		c.text(x+40, y-4, `fill="#555555"`, fmt.Sprintf("of %s, %d deep", units.Bytes(int64(c.Disk.ReadBytes)), c.Disk.Depth))
	}
}
