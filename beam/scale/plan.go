package scale

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Frame is the bytes that Beam and Flink put around an element of a shuffle
// beside its key and its message: 8 of the timestamp, 4 of the number of windows,
// 1 of the pane, 4 to 7 of the lengths of key and value, and 4 of Flink's record.
const Frame = 24

// A Column is one job of a [Table].
type Column struct {
	Name   string
	Job    Job
	Order  Order
	Counts Counts
}

// NewColumn returns a column with expected counts.
func NewColumn(name string, j Job, o Order) (Column, error) {
	c, err := Expect(j, o)
	return Column{name, j, o, c}, err
}

// Table writes what jobs move on so many workers, in Markdown: a column each.
// Each worker has a disk with its share of the table.
func Table(w io.Writer, workers int64, columns []Column) error {
	var b strings.Builder
	line := func(name string, cell func(c Column) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", cell(c))
		}
		b.WriteByte('\n')
	}
	number := func(name string, f func(c Column) float64) {
		line(name, func(c Column) string { return Number(f(c)) })
	}
	size := func(name string, f func(c Column) float64) {
		line(name, func(c Column) string { return Bytes(f(c)) })
	}
	per := float64(workers)
	line("", func(c Column) string { return c.Name })
	b.WriteString("|---|" + strings.Repeat("---|", len(columns)) + "\n")
	number("shards of the result", func(c Column) float64 { return float64(c.Counts.Shards) })
	number("units of the table", func(c Column) float64 { return float64(c.Counts.Units) })
	number("requests: elements", func(c Column) float64 { return float64(c.Counts.RequestElements) })
	number("rows in a request", func(c Column) float64 { return c.rowsInRequest() })
	size("requests: bytes", func(c Column) float64 { r, _ := c.Counts.Shuffled(Frame); return float64(r) })
	number("rows: elements", func(c Column) float64 { return float64(c.Counts.RowElements) })
	size("rows: payload", func(c Column) float64 { return float64(c.Counts.RowPayload) })
	size("rows: other bytes", func(c Column) float64 {
		_, r := c.Counts.Shuffled(Frame)
		return float64(r - c.Counts.RowPayload)
	})
	line("shuffled, over payload + 8 B an index", func(c Column) string { return fmt.Sprintf("%.3f", c.Overhead()) })
	size("shuffled, a worker", func(c Column) float64 { q, r := c.Counts.Shuffled(Frame); return float64(q+r) / per })
	size("memory of fetch, largest unit", func(c Column) float64 { return float64(c.Counts.FetchMemory(c.Job, Frame)) })
	size("memory of write, largest shard", func(c Column) float64 { return float64(c.Counts.WriteMemory(c.Job, Frame)) })
	size("rows that leave the largest unit", func(c Column) float64 { return float64(c.Counts.LargestUnit.Rows * c.Job.Row) })
	number("reads, a disk", func(c Column) float64 { return float64(c.Counts.Reads) / per })
	size("read, a disk", func(c Column) float64 { return float64(c.Counts.ReadBytes) / per })
	line("read, of the table", func(c Column) string {
		return fmt.Sprintf("%.1f %%", 100*float64(c.Counts.ReadBytes)/(float64(c.Job.Table)*float64(c.Job.Row)))
	})
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Column) rowsInRequest() float64 {
	return float64(c.Counts.RequestRows) / max(1, float64(c.Counts.RequestElements))
}

// Overhead returns the bytes that go through the engine over those that no
// pipeline of this kind saves: the rows that are distinct within a shard, and 8
// bytes an index.
func (c Column) Overhead() float64 {
	requests, rows := c.Counts.Shuffled(Frame)
	return float64(requests+rows) / max(1, float64(c.Counts.RowPayload+8*c.Job.Indices))
}

// Bytes writes a number of bytes in three digits: 12.3 MB.
func Bytes(x float64) string {
	if x < 999.5 {
		return Number(x) + " B"
	}
	return Number(x) + "B"
}

// Number writes a number in three digits: 12.3 M.
func Number(x float64) string {
	unit := ""
	for _, next := range []string{"k", "M", "G", "T", "P", "E"} {
		if x < 999.5 {
			break
		}
		x /= 1000
		unit = next
	}
	digits := 2
	switch {
	case x >= 99.95 || x == float64(int64(x)) && unit == "":
		digits = 0
	case x >= 9.995:
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', digits, 64)+" "+unit, " ")
}
