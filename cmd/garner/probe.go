package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

const probeHelp = `probe reads random rows of TABLE in every way that this system has, in batches of
several sizes, and times them: cold, with none of their pages in the page cache, and
warm, with all of them. It reports the median time per row, the way that garner
chooses in each case and why, and the share of the disk's own speed.

  mapped    copy from the mapped file
  willneed  request all rows by posix_fadvise, then copy from the mapped file
  pread     system calls on many threads
  ring      io_uring, hundreds of requests in flight on one thread
  auto      garner's own choice among these, by the state of the page cache

The rows of a batch are read in file order, each once. Cold rows are rows that are not
in the page cache. If there are too few, probe drops the pages of the rows that it
reads by posix_fadvise, and those that the system keeps together with them, and no
others. It also drops the pages that a run brought into the page cache. If the system
cannot report or drop the pages, the report says so. Warm rows, also mapped ones,
were accessed before.

The disk's own speed is that of random reads that bypass the page cache (O_DIRECT),
64 in flight, each of the pages of 4 KiB that a row needs.

Rows of stored elements may have codes, scales and zero points in several files, or places
of one: --as names the operator that decodes them and --operand the scales, and probe says
how many pages a row is read from, and warns where it is more than one place.

A run takes about --seconds and reads at most 1 GiB. A batch that takes longer is
abandoned; batches of more than 16 MiB have fewer rows.

--json prints one line:
  table, dtype, shape, rows, row_bytes   the table; of rows longer than 16 MiB
                         only read_bytes of each are read
  bytes, files           size of the table as stored, and number of files
  machine, threads       the machine
  cold_how               how probe ensured that rows were cold
  cold_missing           why there are no cold rows, if there are none
  disk                   read_bytes, depth, reads_per_s, us_per_read, how; or missing: why not
  places                 of --as: per operand that a row is read from its bytes, row_bytes
                         and pages_per_row; warning, where they lie apart
  points                 per way, state (cold, warm) and batch_rows: us_per_row (the
                         median), min_us_per_row, batches (timed), took (the choice of
                         auto); or gave_up_s, the seconds after which a batch was abandoned
  choices                per state: way, batch_rows, us_per_row, why, percent_of_disk
                         (cold), and fastest and fastest_us_per_row of all ways

TABLE is a file of rows along its first axis, as for gather.

Exit status: 0 measured; 1 TABLE was refused, or could not be read; 2 the command
was wrong; 130 interrupted.`

// probeFlags are the flags of probe.
type probeFlags struct {
	operator cmdline.OperatorFlags // without axis and batch dims
	further  cmdline.FurtherFlags
	rows     rowCounts
	seconds  seconds
	json     bool
	picture  string
	dtype    cmdline.DTypeFlag
	shape    string
	offset   cmdline.Number
	raw      bool
	lenient  bool
}

// rowCounts is the value of a flag that takes batch sizes, in rows.
type rowCounts []int

func (r *rowCounts) String() string {
	if r == nil {
		return ""
	}
	var list []string
	for _, n := range *r {
		list = append(list, strconv.Itoa(n))
	}
	return strings.Join(list, ",")
}

func (r *rowCounts) Set(text string) error {
	*r = nil
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 || n > 1<<20 {
			return errors.New("give numbers of rows from 1 to 1048576, such as 1,16,256")
		}
		*r = append(*r, n)
	}
	slices.Sort(*r)
	if *r = slices.Compact(*r); len(*r) > 12 {
		return errors.New("give 12 sizes at most")
	}
	return nil
}

func (r *rowCounts) Type() string { return "N,..." }

func (p *program) probeCommand() *cobra.Command {
	f := &probeFlags{}
	cmd := &cobra.Command{
		Use:   "probe TABLE",
		Short: "Time the ways of reading rows of a table, on this disk",
		Long:  probeHelp,
		Example: `  garner probe data.npy --seconds 0.3
  garner probe model.safetensors#embeddings.weight --rows 1,2 --seconds 0.2 -o probe.svg
  garner probe data.npy --rows 2 --seconds 0.1 --json`,
		Args: cobra.ArbitraryArgs, // RunE says it better
		RunE: func(cmd *cobra.Command, args []string) error {
			table, o, err := f.check(cmd, args)
			if err != nil {
				return err
			}
			return p.probe(cmd.Context(), f, table, o)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return cmdline.CompleteOperand(cmd, args, typed)
		},
	}
	f.rows = rowCounts{1, 16, 256, 4096}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.rows, "rows", "the sizes of batches, in rows")
	flags.Var(&f.seconds, "seconds", "measure for about `S` seconds (default 10)")
	flags.BoolVar(&f.json, "json", false, "print the figures as one line of JSON")
	flags.StringVarP(&f.picture, "picture", "o", "", "draw the figures into `PROBE`: a .svg file, or - for standard output")
	flags.Var(&f.dtype, "dtype", "the type of the elements of a file without a header, or of untyped bytes in a .npy")
	flags.StringVar(&f.shape, "shape", "", "the `DIMS` of a file without a header, such as 1000,256; one may be ?")
	flags.Var(&f.offset, "offset", "bytes before the first element of such a file (default 0)")
	flags.BoolVar(&f.raw, "raw", false, "read the blocks of quantised rows of a .gguf instead of their numbers")
	cmdline.AddLenient(cmd, &f.lenient)
	f.operator.Add(cmd, ", that decodes the rows of TABLE (default: they are read as they are)", operators.Gather)
	f.further.Add(cmd, "FILE", "scales=scales.npy")
	var dtypes []string
	for _, d := range garner.DTypes() {
		dtypes = append(dtypes, d.String())
	}
	cmdline.Complete(cmd, "dtype", dtypes...)
	return cmd
}

// check parses a command line, and refuses what is wrong with it before it opens
// anything.
func (f *probeFlags) check(cmd *cobra.Command, args []string) (table files.Operand, o files.Options, err error) {
	switch {
	case len(args) == 0:
		return table, o, cmdline.Usage(cmd, "probe takes a TABLE: a file such as table.npy, or model.gguf#NAME")
	case len(args) > 1:
		return table, o, cmdline.Usage(cmd, "probe takes one TABLE; %d were given", len(args))
	}
	from := cmdline.ParseOperand(args[0])
	table = from.File
	switch {
	case from.Kind == cmdline.KindStdin:
		return table, o, cmdline.Wrong("TABLE - is standard input, of which no row can be read twice; name a file")
	case f.json && f.picture == "-":
		return table, o, cmdline.Wrong("--json and -o - both write to standard output; give -o a file")
	case f.picture != "" && f.picture != "-" && f.picture != os.DevNull && !strings.EqualFold(filepath.Ext(f.picture), ".svg"):
		return table, o, cmdline.Wrong("-o %s: probe draws .svg files, and svg to standard output for -o -", f.picture)
	case from.Err != nil:
		return table, o, cmdline.About("TABLE ", from.Err)
	case from.Kind != cmdline.KindFile:
		return table, o, cmdline.Wrong("TABLE %q is no file that garner reads: %s", args[0], files.Readable())
	case table.NeedsName():
		return table, o, cmdline.Wrong("TABLE %s names no tensor: write %s#NAME; \"garner info %s\" lists what it has", args[0], table.Path, table.Path)
	}
	o = files.Options{DType: garner.DType(f.dtype), Offset: f.offset.Value, Raw: f.raw, Lenient: f.lenient}
	if f.shape != "" {
		if o.Shape, err = files.ParseShape(f.shape); err != nil {
			return table, o, cmdline.Wrong("--shape: %s", cmdline.Bare(err))
		}
	}
	return table, o, nil
}

// A probed is the result of probe, as --json prints it.
type probed struct {
	Table       string        `json:"table"`
	DType       string        `json:"dtype"`
	Shape       []int         `json:"shape"`
	Rows        int           `json:"rows"`
	RowBytes    int64         `json:"row_bytes"`
	ReadBytes   int           `json:"read_bytes"` // of a row
	Bytes       int64         `json:"bytes"`      // of the table, as they are stored
	Files       int           `json:"files"`
	Machine     string        `json:"machine"`
	Threads     int           `json:"threads"`
	ColdHow     string        `json:"cold_how,omitempty"`
	ColdMissing string        `json:"cold_missing,omitempty"`
	Places      []probedPlace `json:"places,omitempty"`
	Warning     string        `json:"warning,omitempty"`
	Disk        probedDisk    `json:"disk"`
	Points      []probedPoint `json:"points"`
	Choices     []choice      `json:"choices"`
}

// probedDisk is the disk's own speed, without garner.
type probedDisk struct {
	ReadBytes    int     `json:"read_bytes,omitempty"`
	Depth        int     `json:"depth,omitempty"`
	ReadsPerS    float64 `json:"reads_per_s,omitempty"`
	MicrosPerOne float64 `json:"us_per_read,omitempty"`
	How          string  `json:"how,omitempty"`
	Missing      string  `json:"missing,omitempty"` // why it is not known
}

// A probedPoint is the time of one way of reading at one batch size.
type probedPoint struct {
	Way       string  `json:"way"`
	State     string  `json:"state"`
	BatchRows int     `json:"batch_rows"`
	Micros    float64 `json:"us_per_row,omitempty"` // the median
	Least     float64 `json:"min_us_per_row,omitempty"`
	Batches   int     `json:"batches,omitempty"`
	Took      string  `json:"took,omitempty"` // the way that auto chose
	GaveUp    float64 `json:"gave_up_s,omitempty"`
}

// A choice is the way of reading that garner takes, and why.
type choice struct {
	State       string  `json:"state"`
	Way         string  `json:"way"`
	BatchRows   int     `json:"batch_rows"`
	Micros      float64 `json:"us_per_row"`
	Why         string  `json:"why"`
	OfDisk      float64 `json:"percent_of_disk,omitempty"`
	Fastest     string  `json:"fastest"`
	FastestTime float64 `json:"fastest_us_per_row"`
}

// The states of rows: none, or all of their pages in the page cache.
const (
	cold = "cold"
	warm = "warm"
)

func (p *program) probe(ctx context.Context, f *probeFlags, table files.Operand, o files.Options) error {
	as, err := f.request()
	if err == nil && as != nil {
		o, err = as.DataOptions(ctx, cmdline.Operand{Kind: cmdline.KindFile, Text: table.String(), File: table}, o)
	}
	if err != nil {
		return err
	}
	o.InPlace = true
	open := func() (*source.File, error) {
		opened, err := table.Open(ctx, o)
		if err != nil && !errors.Is(err, files.ErrMemory) {
			return nil, cmdline.NotOpened("TABLE", table, err)
		}
		var file *source.File
		if err == nil {
			if file, _ = opened.Array.(*source.File); file == nil && opened.Memory() == 0 {
				opened.Close()
				return nil, garner.Errorf(nil, "TABLE %s is put together of several arrays, and probe times the reading of rows that lie in one piece; save it as a .npy", table)
			}
			if file == nil {
				opened.Close()
			}
		}
		if file == nil {
			return nil, garner.Errorf(nil, "TABLE %s can only be read whole: no row of it is read by itself, and there is nothing to probe; save it as a .npy of numbers that is not compressed", table)
		}
		return file, nil
	}
	r := &prober{open: open, spend: f.seconds.or(10)}
	if err := r.begin(); err != nil {
		return err
	}
	defer r.end()
	var to *sink
	if f.picture != "" {
		var err error
		if to, err = p.createText(f.picture, r.paths()...); err != nil {
			return err
		}
		defer to.abort()
	}
	spec := r.file.Spec()
	found := &probed{
		Table: table.String(), DType: spec.DType.String(), Shape: append([]int{}, shapeOf(spec)...), Rows: r.count, RowBytes: r.rowBytes, ReadBytes: r.size,
		Bytes: r.stored, Files: len(r.parts), Machine: machine(), Threads: runtime.GOMAXPROCS(0),
	}
	if found.Places, err = p.places(ctx, f, as, r.file); err != nil {
		return err
	}
	found.Warning = apart(found.Places)
	meter := p.Meter("probing", r.spend.Milliseconds())
	err = r.run(ctx, found, f.rows, meter.Set)
	meter.Stop()
	if err != nil {
		return err
	}
	found.choose()
	if to != nil {
		if err := to.write(found.svg()); err != nil || f.picture == "-" {
			return err
		}
	}
	if f.json {
		return p.printJSON(found)
	}
	out := p.printer()
	found.print(out)
	return out.flush()
}

// at finds a timed point; nil without one.
func (f *probed) at(state, way string, rows int) *probedPoint {
	for i := range f.Points {
		if p := &f.Points[i]; p.State == state && p.Way == way && p.BatchRows == rows && p.Batches > 0 {
			return p
		}
	}
	return nil
}

// ways lists the ways in the order of timing, and the batch sizes in ascending
// order.
func (f *probed) ways() (ways []string, sizes []int) {
	for _, p := range f.Points {
		if !slices.Contains(ways, p.Way) {
			ways = append(ways, p.Way)
		}
		if !slices.Contains(sizes, p.BatchRows) {
			sizes = append(sizes, p.BatchRows)
		}
	}
	slices.Sort(sizes)
	return ways, sizes
}

// choose notes for each state the way that garner took for the largest batch, and
// why.
func (f *probed) choose() {
	ways, sizes := f.ways()
	for _, state := range []string{cold, warm} {
		for _, rows := range slices.Backward(sizes) {
			auto := f.at(state, source.Auto.String(), rows)
			if auto == nil {
				continue
			}
			c := choice{State: state, Way: auto.Took, BatchRows: rows, Micros: auto.Micros, Fastest: auto.Way, FastestTime: auto.Micros}
			for _, way := range ways {
				if p := f.at(state, way, rows); p != nil && p.Micros < c.FastestTime {
					c.Fastest, c.FastestTime = way, p.Micros
				}
			}
			if state == cold && f.Disk.MicrosPerOne > 0 {
				stored := float64(f.Bytes) / float64(f.Rows) * float64(f.ReadBytes) / float64(f.RowBytes)
				c.OfDisk = 100 * f.Disk.MicrosPerOne * math.Ceil(stored/float64(f.Disk.ReadBytes)) / c.Micros
			}
			c.Why = whyChosen(state, auto.Took, rows, slices.Contains(ways, source.Ring.String()))
			f.Choices = append(f.Choices, c)
			break
		}
	}
}

// whyChosen says in a sentence why garner takes a way.
func whyChosen(state, way string, rows int, rings bool) string {
	switch {
	case way == source.Mapped.String() && state == warm:
		return "it looks at some of the rows, all of them are in the page cache, and then copying them from the mapped file takes no system call"
	case way == source.Mapped.String():
		return "the rows that it looks at are in the page cache already, such as those that share their pages with others"
	case way == source.Pread.String() && rows == 1 && state == warm:
		return "a single row is a single request, and a system call that reads it takes no longer than one that asks whether it is in the page cache"
	case way == source.Pread.String() && rows == 1:
		return "a single row that is not in the page cache is a single request, and a system call is the shortest way to make one"
	case state == warm && way == source.Ring.String():
		return "the system does not say that these rows are in the page cache, so they are read as if they were not: by io_uring, hundreds of requests at once"
	case state == warm:
		return "the system does not say that these rows are in the page cache, so they are read as if they were not"
	case way == source.Ring.String():
		return "some of the rows are not in the page cache, and io_uring keeps the disk busy with hundreds of requests at once on a single thread"
	case way == source.WillNeed.String() && !rings:
		return "some of the rows are not in the page cache, this system gives the program no io_uring, and the kernel can be asked for all rows at once"
	default:
		return "some of the rows are not in the page cache, this system gives the program no io_uring, and many threads that wait for the disk keep it busy"
	}
}

func (f *probed) print(to printer) {
	cut := ""
	if f.Files > 1 {
		cut = fmt.Sprintf(" in %d files", f.Files)
	}
	to.printf("table    %s   %s%s   %d rows of %d bytes, %s on the disk%s\n", terminal.Printable(f.Table), f.DType, garner.Shape(f.Shape), f.Rows, f.RowBytes, units.Bytes(f.Bytes), cut)
	if int64(f.ReadBytes) < f.RowBytes {
		to.printf("         of each row the first %s are read\n", units.Bytes(int64(f.ReadBytes)))
	}
	if f.Warning != "" {
		to.printf("apart    %s\n", f.Warning)
	}
	to.printf("machine  %s\n", f.about())
	if f.Disk.Missing != "" {
		to.printf("disk     its own speed is not known: %s\n", f.Disk.Missing)
	} else {
		to.printf("disk     %s: %s random reads of %s a second, %d at once, %s\n", inTime(1000*f.Disk.MicrosPerOne), inThousands(f.Disk.ReadsPerS), units.Bytes(int64(f.Disk.ReadBytes)), f.Disk.Depth, f.Disk.How)
	}
	ways, sizes := f.ways()
	for _, state := range []string{cold, warm} {
		about := f.ColdHow
		if state == warm {
			about = "in the page cache"
		} else if f.ColdMissing != "" {
			to.printf("\ncold     not measured: %s\n", f.ColdMissing)
			continue
		}
		to.printf("\n%s, µs a row (%s)\n%9s", state, about, "rows")
		for _, way := range ways {
			to.printf(" %9s", way)
		}
		to.printf("   auto took\n")
		for _, rows := range sizes {
			f.printRow(to, state, rows, ways)
		}
	}
	to.printf("\n")
	for _, c := range f.Choices {
		to.printf("%s     garner takes %s: %s.\n", c.State, c.Way, c.Why)
		to.printf("         %s a row in batches of %d%s", inTime(1000*c.Micros), c.BatchRows, c.disk(f.Disk.ReadBytes))
		// A difference below a fifth may be noise of the measurement.
		switch faster := c.FastestTime < 0.8*c.Micros; {
		case faster && c.Fastest == c.Way:
			to.printf("; without looking what is in the page cache %s", inTime(1000*c.FastestTime))
		case faster:
			to.printf("; %s was faster here, %s", c.Fastest, inTime(1000*c.FastestTime))
		}
		to.printf("\n")
	}
}

// disk says which share of the disk's own speed a choice reaches.
func (c choice) disk(bytes int) string {
	if c.OfDisk == 0 {
		return ""
	}
	said := fmt.Sprintf(", %.0f%% of the disk's own speed at reads of %s", c.OfDisk, units.Bytes(int64(bytes)))
	if c.OfDisk > 110 {
		said += " (rows that lie near each other share a read, or others had kept the disk busy)"
	}
	return said
}

func (f *probed) printRow(to printer, state string, rows int, ways []string) {
	var line strings.Builder
	took, any := "", false
	for _, way := range ways {
		text := "-"
		for _, p := range f.Points {
			if p.State != state || p.Way != way || p.BatchRows != rows {
				continue
			}
			any = true
			switch {
			case p.Batches > 0:
				text = inMicros(p.Micros)
			case p.GaveUp > 0:
				text = ">" + inMicros(1e6*p.GaveUp/float64(rows))
			}
			if p.Took != "" {
				took = p.Took
			}
		}
		fmt.Fprintf(&line, " %9s", text)
	}
	if any {
		to.printf("%9d%s   %s\n", rows, &line, took)
	}
}

// inMicros is a number of µs, to three digits or more.
func inMicros(v float64) string {
	if v >= 999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// about names the machine and its threads.
func (f *probed) about() string {
	threads := "1 thread"
	if f.Threads > 1 {
		threads = fmt.Sprintf("%d threads", f.Threads)
	}
	return f.Machine + ", " + threads
}
