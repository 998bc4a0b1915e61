package scale

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/scale.md anew")

const (
	docName = "../../docs/scale.md"
	workers = 100
	page    = 8 << 10 // bytes that a random read of the disk moves at least
)

// paper is the plan on paper.
var paper = Job{Indices: 1e9, Table: 1e10, Row: 256}

func column(t *testing.T, name string, j Job, o Order) Column {
	t.Helper()
	c, err := NewColumn(name, j, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// with returns the plan with other numbers: those that are not 0.
func with(indices, table, unit, shard int64) Job {
	j := paper
	for _, f := range []struct {
		field *int64
		value int64
	}{{&j.Indices, indices}, {&j.Table, table}, {&j.Unit, unit}, {&j.Shard, shard}} {
		if f.value != 0 {
			*f.field = f.value
		}
	}
	return j
}

// onDisk returns the bytes that reads of a job move where each moves whole pages,
// and those of as many reads as there are indices.
func onDisk(c Column) (pipeline, parts float64) {
	return float64(c.Counts.ReadBytes + c.Counts.Reads*(page-c.Job.Row)), float64(c.Job.Indices * page)
}

// TestDoc holds every figure of docs/scale.md that the simulation gives: the
// tables between its marks, and the figures in its text. -update writes the
// tables.
func TestDoc(t *testing.T) {
	text, err := os.ReadFile(docName)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	plan := column(t, "256 MiB", paper, Order{})
	small := column(t, "16 MiB", with(0, 0, 16<<20, 0), Order{})
	zipf := column(t, "Zipf, by row", paper, Order{Exponent: 1})
	zipfSmall := column(t, "", with(0, 0, 16<<20, 0), Order{Exponent: 1})
	tables := map[string][]Column{
		"units": {small, column(t, "64 MiB", with(0, 0, 64<<20, 0), Order{}), plan, column(t, "1 GiB", with(0, 0, 1<<30, 0), Order{})},
		"growth": {
			column(t, "10⁸ of 10¹⁰", with(1e8, 0, 0, 0), Order{}),
			column(t, "10⁹ of 10¹⁰", paper, Order{}),
			column(t, "10¹⁰ of 10¹⁰", with(1e10, 0, 0, 0), Order{}),
			column(t, "10¹¹ of 10¹⁰", with(1e11, 0, 0, 0), Order{}),
			column(t, "10⁹ of 10¹¹", with(0, 1e11, 0, 0), Order{}),
		},
		"orders": {
			column(t, "uniform", paper, Order{}),
			column(t, "sorted", paper, Order{Sorted: true}),
			zipf,
			column(t, "Zipf, scattered", paper, Order{Exponent: 1, Scattered: true}),
		},
	}
	for name, columns := range tables {
		var b strings.Builder
		if err := Table(&b, workers, columns); err != nil {
			t.Fatal(err)
		}
		doc = replace(t, doc, name, b.String())
	}
	var b strings.Builder
	b.WriteString("| indices | rows of the table that they name | read by parts, a disk | read by the pipeline, a disk | shuffled by the pipeline, a worker |\n|---|---|---|---|---|\n")
	for _, n := range []int64{1e7, 1e8, 312_500_000, 1e9, 1e10} {
		c := column(t, "", with(n, 0, 0, 0), Order{})
		pipeline, parts := onDisk(c)
		requests, rows := c.Counts.Shuffled(Frame)
		fmt.Fprintf(&b, "| %s | %.2f %% | %s | %s | %s |\n", Number(float64(n)), 100*float64(c.Counts.Fetched)/float64(c.Job.Table),
			Bytes(parts/workers), Bytes(pipeline/workers), Bytes(float64(requests+rows)/workers))
	}
	doc = replace(t, doc, "crossover", b.String())

	held := []string{
		fmt.Sprintf("%.1f rows in a request", small.rowsInRequest()),
		fmt.Sprintf("%.2f of the payload", small.Overhead()),
		fmt.Sprintf("%.2f with units of 256 MiB", plan.Overhead()),
		fmt.Sprintf("a frame of %d bytes", Frame),
		fmt.Sprintf("%.1f %% of the table", 100*float64(paper.Row)/page),
		fmt.Sprintf("%d rows of the sweep", page/paper.Row),
		Bytes(float64(zipf.Counts.LargestUnit.Rows*paper.Row)) + " leave the worker",
		fmt.Sprintf("sends for %.0f s at 10 Gbit/s", float64(zipf.Counts.LargestUnit.Rows*paper.Row)*8/10e9),
		fmt.Sprintf("A shard names %d,%03d rows", paper.shardRows()/1000, paper.shardRows()%1000),
		fmt.Sprintf("10¹² ids of this width have %.1f million shards", 1e12/float64(paper.shardRows())/1e6),
		"with units of 16 MiB still " + Bytes(float64(zipfSmall.Counts.LargestUnit.Rows*paper.Row)),
		Bytes(float64(zipf.Counts.LargestUnit.Bytes)) + " of requests",
		fmt.Sprintf("%s of table", Bytes(float64(paper.Table*paper.Row)/workers)),
	}
	flat := strings.Join(strings.Fields(doc), " ")
	for _, figure := range held {
		if !strings.Contains(flat, strings.Join(strings.Fields(figure), " ")) {
			t.Errorf("docs/scale.md does not say %q", figure)
		}
	}
	if doc == string(text) {
		return
	}
	if !*update {
		t.Fatal("the tables of docs/scale.md are not what the simulation says; run go test ./scale -run Doc -update in beam/, and read what changed")
	}
	if err := os.WriteFile(docName, []byte(doc), 0o666); err != nil {
		t.Fatal(err)
	}
}

// replace replaces what stands between the marks of that name.
func replace(t *testing.T, doc, name, table string) string {
	t.Helper()
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	head, rest, ok := strings.Cut(doc, begin)
	_, tail, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("docs/scale.md has no marks of %s", name)
	}
	return head + begin + table + end + tail
}
