package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/garner-go/garner/internal/units"
)

// The picture's sizes, in pixels.
const (
	chartWidth, chartHeight = 900, 600
	chartLeft, chartRight   = 84, 876
	chartTop, chartBottom   = 70, 532
)

// Colours for the tables, from Paul Tol's "bright" scheme, which colour-blind
// readers can distinguish. In grey the marks distinguish the tables.
var chartColors = []string{"#4477aa", "#cc3311", "#228833", "#aa3377"}

// A chart is the drawing of a suite.
type chart struct {
	*suite
	b         bytes.Buffer
	low, high float64 // exponents of ten at the ends of the vertical axis
	widest    float64 // exponent of two at the right end
}

func newChart(s *suite) *chart {
	c := &chart{suite: s}
	least, most := math.Inf(1), 1.0
	for _, t := range s.Tables {
		most = max(most, t.Lines)
		for _, p := range t.Points {
			least, most = min(least, p.RowsPerSecond), max(most, p.RowsPerSecond)
			c.widest = max(c.widest, math.Log2(float64(p.RowBytes)))
		}
	}
	c.low, c.high = math.Floor(math.Log10(min(least, most))), math.Ceil(math.Log10(1.2*most))
	return c
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

func (c *chart) x(size float64) float64 {
	return chartLeft + math.Log2(size)/c.widest*(chartRight-chartLeft)
}

func (c *chart) y(rows float64) float64 {
	return chartBottom - (math.Log10(rows)-c.low)/(c.high-c.low)*(chartBottom-chartTop)
}

func (c *chart) text(x, y float64, style, text string) {
	c.printf("<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style)
	_ = xml.EscapeText(&c.b, []byte(text)) // writes to a buffer do not fail
	c.printf("</text>\n")
}

// axes draws the frame, the grid and its labels.
func (c *chart) axes() {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13" fill="#222222">
<title>Rows a second against the size of a row</title>
<clipPath id="plot"><rect x="%d" y="%d" width="%d" height="%d"/></clipPath>
<rect width="%d" height="%d" fill="#ffffff"/>
`, chartWidth, chartHeight, chartWidth, chartHeight, chartLeft, chartTop, chartRight-chartLeft, chartBottom-chartTop, chartWidth, chartHeight)
	c.text(chartLeft, 28, `font-size="17" font-weight="bold"`, "Rows a second against the size of a row")
	c.text(chartLeft, 50, `fill="#555555"`, "gather at random i64 indices · "+c.about())
	for e := 0.0; e <= c.widest; e++ {
		x := c.x(math.Exp2(e))
		c.printf("<path d=\"M%.1f %dV%d\" stroke=\"#e4e4e4\"/>\n", x, chartTop, chartBottom)
		if int(e)%2 == 0 {
			c.text(x, chartBottom+20, `text-anchor="middle"`, units.Bytes(1<<int(e)))
		}
	}
	for e := c.low; e <= c.high; e++ {
		y := c.y(math.Pow(10, e))
		c.printf("<path d=\"M%d %.1fH%d\" stroke=\"#d0d0d0\"/>\n", chartLeft, y, chartRight)
		c.text(chartLeft-8, y+4, `text-anchor="end"`, inThousands(math.Pow(10, e)))
	}
	c.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#222222\"/>\n", chartLeft, chartTop, chartRight-chartLeft, chartBottom-chartTop)
	c.text((chartLeft+chartRight)/2, chartBottom+46, `text-anchor="middle"`, "size of a row")
	middle := float64(chartTop+chartBottom) / 2
	c.text(22, middle, fmt.Sprintf(`text-anchor="middle" transform="rotate(-90 22 %.1f)"`, middle), "rows a second")
}

// table draws the measurements of one table, and its limits.
func (c *chart) table(i int, t *suiteTable) {
	var measured, copied, lines strings.Builder
	for j, p := range t.Points {
		size := float64(p.RowBytes)
		pen := "L"
		if j == 0 {
			pen = "M"
		}
		fmt.Fprintf(&measured, "%s%.1f %.1f", pen, c.x(size), c.y(p.RowsPerSecond))
		// Sizes between powers of two touch more lines than their neighbours.
		if bits.OnesCount(uint(p.RowBytes)) == 1 {
			fmt.Fprintf(&copied, "%s%.1f %.1f", pen, c.x(size), c.y(t.Copy*1e9/size))
			fmt.Fprintf(&lines, "%s%.1f %.1f", pen, c.x(size), c.y(t.Lines/linesOf(size)))
		}
	}
	c.printf("<g clip-path=\"url(#plot)\" fill=\"none\" stroke=\"%s\">\n", chartColors[i])
	c.printf("<path d=\"%s\" stroke-dasharray=\"9 5\" stroke-width=\"1.3\"/>\n", &copied)
	c.printf("<path d=\"%s\" stroke-dasharray=\"2 4\" stroke-width=\"1.6\"/>\n", &lines)
	c.printf("<path d=\"%s\" stroke-width=\"2.2\"/>\n</g>\n", &measured)
	for _, p := range t.Points {
		c.mark(i, c.x(float64(p.RowBytes)), c.y(p.RowsPerSecond))
	}
}

// mark draws the mark of the i-th table.
func (c *chart) mark(i int, x, y float64) {
	if i%2 == 0 {
		c.printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\" fill=\"%s\"/>\n", x, y, chartColors[i])
		return
	}
	c.printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"6.6\" height=\"6.6\" fill=\"%s\"/>\n", x-3.3, y-3.3, chartColors[i])
}

// legend draws the legend in the upper right corner, which no line reaches because
// long rows are slow.
func (c *chart) legend() {
	const x, width, line = chartRight - 336, 326, 20
	y := chartTop + 10
	c.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#ffffff\" stroke=\"#d0d0d0\"/>\n", x, y, width, 3*line*len(c.Tables)+12)
	for i := range c.Tables {
		t := &c.Tables[i]
		with := "1 thread"
		if t.ThreadsUsed > 1 {
			with = fmt.Sprintf("%d threads", t.ThreadsUsed)
		}
		for j, entry := range []struct{ stroke, text string }{
			{`stroke-width="2.2"`, fmt.Sprintf("garner %s (%s), %s", t.Name, units.Bytes(int64(t.Bytes)), with)},
			{`stroke-dasharray="9 5" stroke-width="1.3"`, fmt.Sprintf("limit: copying there, %.3g GB/s", t.Copy)},
			{`stroke-dasharray="2 4" stroke-width="1.6"`, fmt.Sprintf("limit: random cache lines there, %s/s", inThousands(t.Lines))},
		} {
			at := float64(y + line*(3*i+j) + 18)
			c.printf("<path d=\"M%d %.1fh36\" stroke=\"%s\" %s/>\n", x+10, at-4, chartColors[i], entry.stroke)
			if j == 0 {
				c.mark(i, x+28, at-4)
			}
			c.text(x+54, at, "", entry.text)
		}
	}
}
