package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/strict"
)

// suiteRows are the row sizes of a suite in bytes: powers of two, and some others.
var suiteRows = []int{1, 2, 3, 4, 7, 8, 12, 16, 20, 32, 60, 64, 100, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10}

// suiteTables are the tables of a suite, and the bytes that a call gathers from
// each. For the table in the caches, all operands of a call fit the caches.
var suiteTables = []struct {
	name          string
	bytes, output int
	least, most   int // rows per call
}{
	{"in cache", 256 << 10, 256 << 10, 4, 32 << 10},
	{"in memory", 256 << 20, 64 << 20, 1 << 10, 4 << 20},
}

// elementOf maps a row size to the dtype of one element per row. Other rows are
// several u8.
var elementOf = map[int]garner.DType{1: garner.U8, 2: garner.U16, 4: garner.F32, 8: garner.F64, 16: garner.Complex128}

// A suite is the result of --suite, as --json prints it.
type suite struct {
	Machine string       `json:"machine"`
	Kernel  string       `json:"kernel"`
	Threads int          `json:"threads"`
	Tables  []suiteTable `json:"tables"`
}

type suiteTable struct {
	Name        string       `json:"name"`
	Bytes       int          `json:"table_bytes"`
	ThreadsUsed int          `json:"threads_used"`
	Copy        float64      `json:"copy_gb_per_s"`
	Lines       float64      `json:"random_lines_per_s"`
	Points      []suitePoint `json:"points"`
}

type suitePoint struct {
	RowBytes      int     `json:"row_bytes"`
	Rows          int64   `json:"rows"`
	MedianNS      int64   `json:"median_ns"`
	MinNS         int64   `json:"min_ns"`
	NSPerRow      float64 `json:"ns_per_row"`
	RowsPerSecond float64 `json:"rows_per_s"`
	GBPerSecond   float64 `json:"gb_per_s"`
	CopyPercent   float64 `json:"copy_percent"`
	LinesPercent  float64 `json:"random_lines_percent"`
	Regime        string  `json:"regime"`
}

func (p *program) benchSuite(ctx context.Context, f *benchFlags) error {
	var to *sink
	if f.picture != "" {
		var err error
		if to, err = p.createText(f.picture); err != nil {
			return err
		}
		defer to.abort()
	}
	s := &suite{Machine: machine(), Kernel: kernel.Form(), Threads: runtime.GOMAXPROCS(0)}
	meter := p.Meter("measuring", int64(len(suiteTables)*len(suiteRows)))
	defer meter.Stop()
	b := bencher{threads: s.Threads}
	defer b.pool.Close()
	for _, t := range suiteTables {
		table, err := b.walk(ctx, suiteTable{Name: t.name, Bytes: t.bytes}, func(size int) int { return min(max(t.output/size, t.least), t.most) }, f, func() { meter.Add(1) })
		if err != nil {
			return err
		}
		s.Tables = append(s.Tables, table)
	}
	meter.Stop()
	if to != nil {
		if err := to.write(s.svg()); err != nil || f.picture == "-" {
			return err
		}
	}
	if f.json {
		return p.printJSON(s)
	}
	out := p.printer()
	s.print(out)
	return out.flush()
}

// walk measures all row sizes of one table.
func (b *bencher) walk(ctx context.Context, table suiteTable, rows func(size int) int, f *benchFlags, tell func()) (suiteTable, error) {
	whole, err := b.pool.New(garner.U8, table.Bytes)
	if err != nil {
		return table, err
	}
	defer b.pool.Release(whole)
	bytes, err := whole.Bytes()
	if err != nil {
		return table, err
	}
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for _, size := range suiteRows {
		t, err := b.step(ctx, bytes, size, rows(size), f)
		if err != nil {
			return table, err
		}
		table.ThreadsUsed = max(table.ThreadsUsed, t.ThreadsUsed)
		table.Points = append(table.Points, suitePoint{
			RowBytes: size, Rows: t.Rows, MedianNS: t.MedianNS, MinNS: t.MinNS, NSPerRow: t.NSPerRow,
			RowsPerSecond: 1e9 / t.NSPerRow, GBPerSecond: t.GBPerSecond, Regime: t.Regime,
		})
		tell()
	}
	copied, err := limits.Copy(table.ThreadsUsed, rows(limits.Line)*limits.Line)
	if err != nil {
		return table, err
	}
	table.Copy, table.Lines = copied/1e9, limits.RandomLines(table.ThreadsUsed, bytes)
	for i := range table.Points {
		t := &table.Points[i]
		perSecond := float64(t.Rows) * 1e9 / float64(t.MinNS)
		t.CopyPercent = 100 * perSecond * float64(t.RowBytes) / (table.Copy * 1e9)
		t.LinesPercent = 100 * perSecond * linesOf(float64(t.RowBytes)) / table.Lines
	}
	return table, nil
}

// step measures the gather of n random rows of one size from a table.
func (b *bencher) step(ctx context.Context, table []byte, size, n int, f *benchFlags) (*timing, error) {
	dtype, shape := garner.U8, []int{len(table) / size, size}
	if d, ok := elementOf[size]; ok {
		dtype, shape = d, shape[:1]
	}
	var err error
	if b.data, err = garner.FromBytes(dtype, table[:shape[0]*size], shape...); err != nil {
		return nil, err
	}
	if b.indices, err = b.pool.New(garner.I64, n); err != nil {
		return nil, err
	}
	defer func() { b.pool.Release(b.indices) }()
	values, err := b.indices.Bytes()
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, uint64(size)))
	for i := range n {
		binary.LittleEndian.PutUint64(values[8*i:], r.Uint64N(uint64(shape[0])))
	}
	if b.prepared, err = garner.Prepare(strict.Gather{}, b.data.Spec(), b.indices.Spec(), garner.Threads(b.threads)); err != nil {
		return nil, err
	}
	t, err := b.time(ctx, f.seconds.or(0.2))
	for _, out := range b.held {
		b.pool.Release(out)
	}
	b.held = b.held[:0]
	return t, err
}

// machine returns a description of this machine.
func machine() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value) + ", " + name
			}
		}
	}
	return name
}

func (s *suite) about() string {
	threads := "1 thread"
	if s.Threads > 1 {
		threads = fmt.Sprintf("%d threads", s.Threads)
	}
	return fmt.Sprintf("%s, kernels %s, %s", s.Machine, s.Kernel, threads)
}

// about describes the limits of a table.
func (t *suiteTable) about() string {
	with := "1 thread takes part"
	if t.ThreadsUsed > 1 {
		with = fmt.Sprintf("%d threads take part", t.ThreadsUsed)
	}
	return fmt.Sprintf("%s (a table of %s), %s: copy %.3g GB/s, random lines %.4g M/s", t.Name, units.Bytes(int64(t.Bytes)), with, t.Copy, t.Lines/1e6)
}

func (s *suite) print(to printer) {
	to.printf("rows at random i64 indices: %s\n", s.about())
	for i := range s.Tables {
		t := &s.Tables[i]
		to.printf("\n%s\n%9s %10s %12s %9s %8s %9s  %s\n", t.about(), "row bytes", "ns a row", "rows a s", "GB/s", "of copy", "of lines", "how")
		for _, p := range t.Points {
			to.printf("%9d %10.2f %12s %9.2f %7.0f%% %8.0f%%  %s\n", p.RowBytes, p.NSPerRow, inThousands(p.RowsPerSecond), p.GBPerSecond, p.CopyPercent, p.LinesPercent, p.Regime)
		}
	}
	to.printf(`
of copy   what share of the speed at which this machine copies bytes that lie in a row
of lines  what share of the random cache lines a second that it reads from such a table, a row
          of 60 bytes counted as the 1.88 lines that it touches on average
Both limits were measured in this run, by code that does nothing else, and are held against the
shortest call. The nearer one binds.
`)
}

// inThousands formats a number with three digits and a suffix for thousands.
func inThousands(v float64) string {
	for _, unit := range []struct {
		letter string
		size   float64
	}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if v >= unit.size {
			return fmt.Sprintf("%.3g %s", v/unit.size, unit.letter)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// svg draws a suite: rows per second against the row size, both logarithmic, and the
// limits as lines.
func (s *suite) svg() []byte {
	c := newChart(s)
	c.axes()
	for i := range s.Tables {
		c.table(i, &s.Tables[i])
	}
	c.legend()
	fmt.Fprint(&c.b, "</svg>\n")
	return c.b.Bytes()
}
