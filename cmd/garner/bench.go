package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

const benchHelp = `bench repeats a gather on operands in memory, on huge pages where the system has them:
one of garner's own, or that of --as, into bags and of stored elements too. It reports the time per call and per row, the kernel and the way
that ran, and the share of two limits of this machine. The same run measures the
limits with loops that do nothing else.

--output reuse writes every call into one output. --output fresh gives every call
another output from a pool, which holds two at a time. bench times single calls: it
reads the clock before and after each, and subtracts the measured cost of reading
it. The reported time is the median. The comparison with the limits uses the
shortest call, because the limits are those of the shortest round.

--json prints the figures as one line, with the limits only if --limits is given:
times in ns, sizes in bytes, and the crc32 (IEEE) of the result's little-endian
bytes, or of the texts of strings.

--suite measures row sizes from 1 byte to 64 KiB, with a table in the caches and one
in memory. It prints them as a table, and with -o SUITE.svg draws rows per second
against the row size, with the limits as lines.

A row of stored elements, such as of Q4_K, is read as its codes, scales and zero points.
The limit beside it is that of those bytes: how many of them the machine's rate of random
cache lines allows, not how many of the elements.

DATA and INDICES are those of gather; bench ignores an axis or batch dims that OP
does not have.

Exit status: 0 measured; 1 DATA, INDICES or an index was refused, or a file could
not be read or written; 2 the command was wrong; 130 interrupted.`

// benchFlags are the flags of bench.
type benchFlags struct {
	operator            cmdline.OperatorFlags // without axis and batch dims
	further             cmdline.FurtherFlags
	axis, batchDims     cmdline.Number
	data, indices       cmdline.ArrayFlags
	threads             cmdline.Number
	seconds             seconds
	output              string
	limits, json, suite bool
	picture             string
	operands            [2]cmdline.Operand // DATA and INDICES; unset with suite
}

func (p *program) benchCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench gather|gathernd|elements DATA INDICES",
		Short: "Time a gather beside this machine's limits",
		Long:  benchHelp,
		Example: `  garner bench gather data.npy ids.npy --axis 1 --seconds 0.1
  garner bench gathernd '[[1,2],[3,4]]' '[[0,0],[1,0]]' --threads 1 --seconds 0.1 --json
  garner bench elements '[[1,2],[3,4]]' '[[1,0]]' --output fresh --seconds 0.1
  garner bench gather 'f32[[1,2],[3,4]]' '[1,0]' --as torch.embedding_bag --operand offsets=[0] --seconds 0.1`,
		Args: cobra.ArbitraryArgs, // RunE has a better message
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if f.threads.Given {
				runtime.GOMAXPROCS(int(f.threads.Value))
			}
			if f.suite {
				return p.benchSuite(cmd.Context(), f)
			}
			return p.bench(cmd.Context(), f, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return cmdline.CommandNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return cmdline.CompleteOperand(cmd, args[1:], typed)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.operator.Add(cmd, " (default garner's own)", operators.Gather, operators.GatherND, operators.Elements)
	f.further.Add(cmd, "FILE|LITERAL", "offsets=[0,2]")
	flags.Var(&f.axis, "axis", "the axis of DATA; negative from the end (default 0)")
	flags.Var(&f.batchDims, "batch-dims", "how many leading dims DATA and INDICES share (default 0)")
	flags.Var(&f.threads, "threads", "use exactly `N` cores (default all)")
	flags.Var(&f.seconds, "seconds", "repeat for `S` seconds, at least three times (default 1; with --suite 0.2 per size)")
	flags.StringVar(&f.output, "output", "reuse", "`reuse|fresh`: write all calls into one output, or each into another")
	flags.BoolVar(&f.json, "json", false, "print the figures as one line of JSON")
	flags.BoolVar(&f.limits, "limits", false, "measure the machine's limits with --json too")
	flags.BoolVar(&f.suite, "suite", false, "measure all row sizes instead of one gather")
	flags.StringVarP(&f.picture, "picture", "o", "", "draw the suite into `SUITE`: a .svg file, or - for standard output")
	cmdline.Complete(cmd, "output", "reuse", "fresh")
	f.data.Add(cmd, "")
	f.indices.Add(cmd, "indices-")
	return cmd
}

// seconds is the value of a flag for a duration.
type seconds float64

func (s *seconds) String() string {
	if s == nil || *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

func (s *seconds) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	// The limit is a day: more is a mistake, and might overflow a Duration.
	if err != nil || !(v > 0 && v <= 86400) {
		return errors.New("give a number of seconds above 0, up to 86400, such as 0.5")
	}
	*s = seconds(v)
	return nil
}

func (s *seconds) Type() string { return "S" }

// or returns the given duration, or a default.
func (s seconds) or(otherwise seconds) time.Duration {
	if s == 0 {
		s = otherwise
	}
	return time.Duration(float64(s) * float64(time.Second))
}

// check refuses an invalid command line before anything is opened.
func (f *benchFlags) check(cmd *cobra.Command, args []string) error {
	if f.threads.Given && (f.threads.Value < 1 || f.threads.Value > 1<<10) {
		return cmdline.Wrong("--threads %d: give 1 to 1024; without it all cores are used", f.threads.Value)
	}
	if f.output != "reuse" && f.output != "fresh" {
		return cmdline.Wrong("--output %q: give reuse or fresh", f.output)
	}
	if f.suite {
		switch {
		case len(args) > 0:
			return cmdline.Usage(cmd, "bench --suite makes its own operands; %q was given", args[0])
		case slices.ContainsFunc([]string{"as", "opset", "attr", "operand", "axis", "batch-dims", "dtype", "shape", "offset", "raw", "lenient", "indices-dtype", "indices-shape", "indices-offset", "output"}, cmd.Flags().Changed):
			return cmdline.Usage(cmd, "bench --suite makes its own operands and reuses its output; it takes --threads, --seconds, --json and -o")
		case f.json && f.picture == "-":
			return cmdline.Wrong("--json and -o - both write to standard output; give -o a file")
		case f.picture != "" && f.picture != "-" && f.picture != os.DevNull && !strings.EqualFold(filepath.Ext(f.picture), ".svg"):
			return cmdline.Wrong("-o %s: bench draws .svg files, and svg to standard output for -o -", f.picture)
		}
		return nil
	}
	if f.picture != "" {
		return cmdline.Usage(cmd, "-o is for the picture of bench --suite; for whether the output is a new one there is --output")
	}
	if len(args) == 0 {
		return cmdline.Usage(cmd, "bench takes gather, gathernd or elements, then DATA and INDICES; or --suite")
	}
	if name := args[0]; !slices.Contains(cmdline.CommandNames(), name) {
		meant := ""
		for _, near := range cmd.Root().SuggestionsFor(name) {
			if slices.Contains(cmdline.CommandNames(), near) {
				meant = "; did you mean " + near + "?"
				break
			}
		}
		return cmdline.Usage(cmd, "bench takes gather, gathernd or elements, not %q%s", name, meant)
	}
	if n := len(args) - 1; n != 2 {
		given := fmt.Sprintf("%d were given", n)
		switch {
		case n == 1:
			given = "1 was given"
		case n > 2:
			given += "; put a literal in quotes, such as '[[1, 2], [3, 4]]'"
		}
		return cmdline.Usage(cmd, "bench %s takes DATA and INDICES; %s", args[0], given)
	}
	var err error
	f.operands, err = cmdline.ParseOperands(args[1:])
	return err
}

// A timing is the result of bench, as --json prints it.
type timing struct {
	MedianNS    int64   `json:"median_ns"` // of a call, less the cost of the clock
	MinNS       int64   `json:"min_ns"`
	Runs        int     `json:"runs"`
	CRC32       uint32  `json:"crc32"` // IEEE, of the output's little-endian bytes
	OutputShape []int   `json:"output_shape"`
	OutputBytes int64   `json:"output_bytes"`
	Op          string  `json:"op"`
	Output      string  `json:"output"`
	Kernel      string  `json:"kernel"`
	Regime      string  `json:"regime"`
	Threads     int     `json:"threads"`      // available threads
	ThreadsUsed int     `json:"threads_used"` // threads that took part; a short call stays on one
	Rows        int64   `json:"rows"`
	RowBytes    float64 `json:"row_bytes"`
	CodeBytes   float64 `json:"row_code_bytes,omitempty"` // of codes, scales and zero points that a row of stored elements is read as
	Lines       float64 `json:"-"`                        // cache lines that a row is read from
	NSPerRow    float64 `json:"ns_per_row"`
	GBPerSecond float64 `json:"gb_per_s"` // bytes of output in 1e9, each counted once
	ClockNS     int64   `json:"clock_ns"` // cost of the clock, subtracted from every call
	Limits      *shares `json:"limits,omitempty"`
}

// shares are the machine's limits and the shares of them that a gather reaches.
type shares struct {
	Copy  float64 `json:"copy_gb_per_s"`
	Lines float64 `json:"random_lines_per_s"`
	// The minimum times of a copy of as many bytes, and of as many random lines, as
	// shares of the shortest call.
	CopyPercent  float64 `json:"copy_percent"`
	LinesPercent float64 `json:"random_lines_percent"`
	// Of stored elements: the bytes of codes, scales and zero points that the rate of
	// random lines allows.
	Codes float64 `json:"codes_gb_per_s,omitempty"`
}

func (p *program) bench(ctx context.Context, f *benchFlags, args []string) error {
	o, err := f.operator.Find(operators.Kind(args[0]))
	if err != nil {
		return err
	}
	switch {
	case o.Kind != operators.Kind(args[0]):
		return cmdline.RightCommand(p.Name, o, operators.Kind(args[0]))
	case !garner.TakesIndices(o.Zero):
		return cmdline.Wrong("%s takes no INDICES; bench times gathers", o.Name)
	}
	values, err := f.operator.Numbers()
	if err != nil {
		return err
	}
	texts, err := f.further.Texts(o)
	if err != nil {
		return err
	}
	for name, n := range map[string]cmdline.Number{"axis": f.axis, "batch_dims": f.batchDims} {
		if n.Given && slices.Contains(o.Attributes(), name) {
			values[name] = n.Value
		}
	}
	op, err := cmdline.NewOperator(o, values)
	if err != nil {
		return err
	}
	memory := (&cmdline.SizeFlag{}).Budget()
	r := &cmdline.Request{Operator: o, Numbers: values, Op: op, Memory: memory}
	defer r.Close()
	options, err := r.DataOptions(ctx, f.operands[0], f.data.Options())
	if err != nil {
		return err
	}
	op = r.Op
	data, dataTensor, err := p.Open(ctx, cmdline.OperandRoles[0], f.operands[0], options, memory.Left())
	if err != nil {
		return err
	}
	defer data.Close()
	memory.Take(cmdline.OperandRoles[0], data)
	if err := f.data.Misread(o, op, data.Spec()); err != nil {
		return err
	}
	outputs := 1.0
	if f.output == "fresh" {
		outputs = 3
	}
	if spec, ok := cmdline.RangeSpec(f.operands[1], garner.DType(f.indices.DType), memory.Left()); ok && len(o.Further()) == 0 { // before it is made
		plan, err := garner.NewPlan(op, dataTensor.Spec(), spec)
		if err != nil {
			return err
		}
		if err := fits(plan, outputs, memory.Left(), dataTensor.Spec(), spec); err != nil {
			return err
		}
	}
	indices, indicesTensor, err := p.Open(ctx, cmdline.OperandRoles[1], f.operands[1], f.indices.Options(), memory.Left())
	if err != nil {
		return err
	}
	defer indices.Close()
	memory.Take(cmdline.OperandRoles[1], indices)
	if err := p.OpenFurther(ctx, r, texts, dataTensor.Spec(), indicesTensor.Spec(), false); err != nil {
		return err
	}
	b := bencher{threads: runtime.GOMAXPROCS(0), fresh: f.output == "fresh"}
	defer b.pool.Close()
	if err := b.prepare(op, dataTensor, indicesTensor, r.More(), func(plan *garner.Plan) error {
		return fits(plan, outputs, memory.Left(), append(r.Specs(), dataTensor.Spec(), indicesTensor.Spec())...)
	}); err != nil {
		return err
	}
	t, err := b.time(ctx, f.seconds.or(1))
	if err != nil {
		return err
	}
	if t.Op, t.Output = args[0], f.output; f.operator.As != "" {
		t.Op = o.Name
	}
	if t.CRC32, err = checksum(b.out); err != nil {
		return err
	}
	if !f.json || f.limits {
		if err := b.limit(t); err != nil {
			return err
		}
	}
	if f.json {
		return p.printJSON(t)
	}
	to := p.printer()
	head := func(name string, x garner.Tensor) string { return name + x.DType().String() + x.Shape().String() }
	to.printf("%s   %s   %s   ->   %s\n", t.Op, head("data ", b.data), head("indices ", b.indices), head("", b.out))
	t.print(to)
	return to.flush()
}

// A bencher repeats one gather.
type bencher struct {
	threads int
	fresh   bool
	pool    garner.Pool

	data, indices, out garner.Tensor
	more               []garner.Tensor // the further operands
	prepared           *garner.Prepared
	held               []garner.Tensor // outputs not released yet
}

// prepare copies the operands into memory, unless ask refuses that.
func (b *bencher) prepare(op garner.Op, data, indices garner.Tensor, more []garner.Tensor, ask func(*garner.Plan) error) (err error) {
	if b.prepared, err = garner.Prepare(op, data.Spec(), indices.Spec(), garner.Threads(b.threads), garner.FurtherTensors(more...)); err != nil {
		return err
	}
	if err := ask(b.prepared.Plan()); err != nil {
		return err
	}
	if b.data, err = b.resident(data); err != nil {
		return err
	}
	if b.indices, err = b.resident(indices); err != nil {
		return err
	}
	b.more = make([]garner.Tensor, len(more))
	for i, t := range more {
		if t.DType().Valid() {
			if b.more[i], err = b.resident(t); err != nil {
				return err
			}
		}
	}
	// Prepare again, because the operands are row-major now.
	b.prepared, err = garner.Prepare(op, b.data.Spec(), b.indices.Spec(), garner.Threads(b.threads), garner.FurtherTensors(b.more...))
	return err
}

// run runs the gather once.
func (b *bencher) run(ctx context.Context) error {
	return b.prepared.Run(ctx, b.data, b.indices, b.out, b.more...)
}

// fits refuses operands and results that do not fit memory together.
func fits(plan *garner.Plan, outputs float64, most limits.Bound, operands ...garner.Spec) error {
	all := outputs * run.Memory(garner.SpecOf(plan.DType, plan.Out...))
	for _, x := range operands {
		all += run.Memory(x)
	}
	if all > float64(most.Bytes) {
		return garner.Errorf(garner.ErrShape, "bench holds DATA, INDICES and the result %s%s in memory, %s together, and %s; measure a smaller gather",
			plan.DType, plan.Out, units.GiB.Text(all), most)
	}
	return nil
}

// resident copies a tensor into memory on huge pages.
func (b *bencher) resident(t garner.Tensor) (garner.Tensor, error) {
	r, err := b.pool.New(t.DType(), t.Shape()...)
	if err != nil {
		return garner.Tensor{}, err
	}
	return r, garner.Copy(r, t)
}

// next returns a new output. Like a caller, the bencher keeps two: this one and the
// one before.
func (b *bencher) next() (err error) {
	if len(b.held) == 2 {
		b.pool.Release(b.held[0])
		b.held[0] = b.held[1]
		b.held = b.held[:1]
	}
	plan := b.prepared.Plan()
	if b.out, err = b.pool.New(plan.DType, plan.Out...); err != nil {
		return err
	}
	b.held = append(b.held, b.out)
	return nil
}

// time repeats the gather for the given time, at least three times.
func (b *bencher) time(ctx context.Context, spend time.Duration) (*timing, error) {
	if err := b.next(); err != nil {
		return nil, err
	}
	// The first run warms the caches and finds errors.
	if err := b.run(ctx); err != nil {
		return nil, unbenched(err)
	}
	const most = 1 << 20 // single calls
	clock := clockCost()
	times := make([]int64, 0, most)
	for begin := time.Now(); len(times) < 3 || len(times) < most && time.Since(begin) < spend; {
		start := time.Since(begin)
		if b.fresh {
			if err := b.next(); err != nil {
				return nil, err
			}
		}
		if err := b.run(ctx); err != nil {
			return nil, err
		}
		times = append(times, int64(time.Since(begin)-start))
	}
	slices.Sort(times)
	r := b.prepared.Regime()
	t := &timing{
		Runs: len(times), ClockNS: clock,
		// A time below the cost of the clock is below its resolution.
		MedianNS: max(times[len(times)/2]-clock, 1), MinNS: max(times[0]-clock, 1),
		OutputShape: append([]int{}, b.out.Shape()...), OutputBytes: cmdline.Volume(b.out.DType(), int64(b.out.Len())),
		Kernel: r.Kernel, Regime: r.String(), Threads: b.threads, ThreadsUsed: r.Threads,
	}
	if n := b.out.Len(); n > 0 {
		per := int64(r.SliceSize) // bits, bytes or strings
		switch bits := b.out.DType().Bits(); {
		case bits == 0:
			t.Rows = int64(n) / per
		case bits < 8:
			t.Rows = int64(n) * int64(bits) / per
		default:
			t.Rows = t.OutputBytes / per
		}
		t.RowBytes = float64(t.OutputBytes) / float64(t.Rows)
		if plan := b.prepared.Plan(); plan.Bag != nil { // rows are those that are reduced
			if bags := int64(plan.Loops[0].Extent); bags > 0 {
				t.RowBytes = float64(t.OutputBytes / bags)
			}
			t.Rows = max(int64(b.indices.Len()), 1)
		}
		t.Lines = linesOf(t.RowBytes)
		b.stored(t)
		t.NSPerRow = float64(t.MedianNS) / float64(t.Rows)
		t.GBPerSecond = float64(t.OutputBytes) / float64(t.MedianNS)
	}
	return t, nil
}

// stored notes what a row of stored elements is read as, the mean of some rows.
func (b *bencher) stored(t *timing) {
	plan := b.prepared.Plan()
	if plan.Stored == nil {
		return
	}
	ordered := plan.InOrder()
	extents := garner.Shape{}
	for _, l := range ordered.Terms().Loops {
		extents = append(extents, l.Extent)
	}
	total, _ := extents.Len()
	rows := make([]int64, min(total, 4096))
	if _, err := ordered.Rows(rows, b.indices, 0); err != nil {
		return // the gather has run: it was not refused
	}
	bytes, lines, n := int64(0), int64(0), 0
	for _, row := range rows {
		if row < 0 {
			continue
		}
		n++
		for _, s := range plan.Stored.Spans(int(row), ordered.Slice) {
			if bytes += s.To - s.From; s.To > s.From {
				lines += (s.To-1)/limits.Line - s.From/limits.Line + 1
			}
		}
	}
	if n > 0 {
		t.CodeBytes, t.Lines = float64(bytes)/float64(n), float64(lines)/float64(n)
		if plan.Bag == nil {
			t.Rows, t.RowBytes = int64(total), float64(t.OutputBytes)/float64(total)
		}
	}
}

// clockCost returns the time between two consecutive readings of the clock, in ns:
// the median of many.
func clockCost() int64 {
	var times [1001]int64
	begin := time.Now()
	for i := range times {
		start := time.Since(begin)
		times[i] = int64(time.Since(begin) - start)
	}
	slices.Sort(times[:])
	return times[len(times)/2]
}

// unbenched adds a remedy to the error of a refused index.
func unbenched(err error) error {
	var bad *garner.IndexError
	if !errors.As(err, &bad) || bad.Hint != "" {
		return err
	}
	told := *bad
	told.Hint = "mend it; bench runs garner's own operators, which know no other meaning of it"
	return &told
}

// checksum returns the CRC-32 of a row-major tensor's bytes, or of its texts.
func checksum(t garner.Tensor) (uint32, error) {
	h := crc32.NewIEEE()
	if t.DType() == garner.String {
		texts, err := garner.Values[string](t)
		for _, text := range texts {
			io.WriteString(h, text)
		}
		return h.Sum32(), err
	}
	b, err := t.Bytes()
	h.Write(b)
	return h.Sum32(), err
}

// leastLimited is the minimum size of a result for a comparison with the limits. A
// smaller copy does not reach the machine's bandwidth.
const leastLimited = 4096 // bytes

// limit measures the machine's limits with the threads of a timing, and the
// timing's shares of them. Strings have no limits, because they are not bytes.
func (b *bencher) limit(t *timing) error {
	if b.data.DType() == garner.String || t.OutputBytes < leastLimited {
		return nil
	}
	table, err := b.data.Bytes()
	if err != nil {
		return err
	}
	// Above the size of the caches, the bandwidth does not depend on the size.
	perSecond, err := limits.Copy(t.ThreadsUsed, int(min(t.OutputBytes, 256<<20)))
	if err != nil {
		return err
	}
	t.share(perSecond, limits.RandomLines(t.ThreadsUsed, table))
	return nil
}

// share compares a timing with limits in bytes and in lines per second.
func (t *timing) share(copied, lines float64) {
	s := &shares{Copy: copied / 1e9, Lines: lines}
	s.CopyPercent = 100 * float64(t.OutputBytes) / float64(t.MinNS) / s.Copy
	if lines > 0 {
		s.LinesPercent = 100 * t.Lines * float64(t.Rows) * 1e9 / float64(t.MinNS) / lines
		if t.CodeBytes > 0 && t.Lines > 0 {
			s.Codes = lines / t.Lines * t.CodeBytes / 1e9
		}
	}
	t.Limits = s
}

// linesOf returns the average number of cache lines of a row that begins at any
// multiple of its size.
func linesOf(size float64) float64 {
	n := int64(math.Ceil(size))
	// A row begins at multiples of the greatest power of two in its size.
	begin := min(n&-n, limits.Line)
	return float64(n-begin)/limits.Line + 1
}

func (t *timing) print(to printer) {
	to.printf("time     %s a call, the median of %d; the least %s\n", inTime(float64(t.MedianNS)), t.Runs, inTime(float64(t.MinNS)))
	if t.Rows > 0 {
		to.printf("         %s a row, of %d rows of %s bytes; %.3g GB/s of result\n", inTime(t.NSPerRow), t.Rows, short(t.RowBytes), t.GBPerSecond)
	}
	to.printf("ran      %s\n", t.Regime)
	of := fmt.Sprintf("%d threads", t.Threads)
	if t.Threads == 1 {
		of = "1 thread"
	} else if t.ThreadsUsed == 1 {
		of += ", of which 1 takes part: to wake another would take longer"
	}
	to.printf("threads  %s\n", of)
	to.printf("output   %s, %d bytes, crc32 %08x\n", map[string]string{"reuse": "one, reused", "fresh": "a recycled one for every call"}[t.Output], t.OutputBytes, t.CRC32)
	if t.Limits == nil {
		to.printf("limits   none measured: what costs time here is the call itself\n")
		return
	}
	at := "with 1 thread"
	if t.ThreadsUsed > 1 {
		at = fmt.Sprintf("with %d threads", t.ThreadsUsed)
	}
	to.printf("copy     %.0f%% of this machine's limit, %.3g GB/s %s: what copying as many bytes\n", t.Limits.CopyPercent, t.Limits.Copy, at)
	to.printf("         from one block of memory to another reaches. Above it, rows are read from nearer than that.\n")
	if t.Limits.Lines > 0 {
		to.printf("lines    %.0f%% of this machine's limit, %.3g million cache lines a second %s: what reading\n", t.Limits.LinesPercent, t.Limits.Lines/1e6, at)
		to.printf("         a byte of a line, anywhere in as much memory as DATA takes, reaches. A row touches %.3g\n", t.Lines)
		to.printf("         of 64 bytes. Above 100%%, rows share lines, or lie nearer to each other than at random.\n")
	}
	if t.Limits.Codes > 0 {
		to.printf("codes    %.3g GB/s are read of the %.3g that this rate of lines allows: a row is %s bytes of codes,\n", t.CodeBytes*float64(t.Rows)/float64(t.MinNS), t.Limits.Codes, short(t.CodeBytes))
		to.printf("         scales and zero points, not %s of elements.\n", short(t.RowBytes))
	}
}

// inTime formats a time in ns with three digits.
func inTime(ns float64) string {
	for _, unit := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= unit.ns {
			return fmt.Sprintf("%.3g %s", ns/unit.ns, unit.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}

// short formats a number without trailing zeros.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
