package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/source"
)

const (
	// leastMemory is the smallest --memory, in bytes: with less, a block has only a
	// few rows.
	leastMemory = 1 << 20

	// lasting is the least size in bytes of a result that is written resumably
	// without being asked for; a smaller one is soon made again.
	lasting = 64 << 20

	// unbudgeted is the memory in bytes that lets a gather do without a budget of its
	// own. Package source then takes up to 192 MiB beside the indices, or holds a result of up
	// to 256 MiB whole.
	unbudgeted = 384 << 20
)

// streamFlags are the flags of a gather out of a file.
type streamFlags struct {
	memory sizeFlag
	resume bool
}

// A sizeFlag is the value of a flag that takes a number of bytes.
type sizeFlag struct {
	given bool
	bytes int64
	text  string
}

func (s *sizeFlag) String() string { return s.text }
func (s *sizeFlag) Type() string   { return "SIZE" }

// sizeUnits lists the suffixes of a size, in bytes.
var sizeUnits = map[string]int64{
	"": 1, "B": 1,
	"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

func (s *sizeFlag) Set(text string) error {
	text = strings.TrimSpace(text)
	number := strings.TrimRightFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	unit, ok := sizeUnits[strings.ToUpper(strings.TrimSpace(text[len(number):]))]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || strings.Trim(number, "0123456789.") != "" {
		return errors.New("give a number of bytes, such as 512M, 2G, 64MiB or 100000000")
	}
	if n *= float64(unit); n >= math.MaxInt64 {
		return errors.New("no machine has so much; give a smaller number")
	}
	if n < leastMemory {
		return errors.New("it is too little to work with; give 1M or more")
	}
	*s = sizeFlag{true, int64(n), text}
	return nil
}

// bound returns what limits the memory of a command: the flag, or what the process may
// have where that is less.
func (s *sizeFlag) bound() limits.Bound {
	most := memoryBound()
	if s.given && s.bytes < most.Bytes {
		return limits.Bound{Bytes: s.bytes, By: "--memory " + s.text + " allows"}
	}
	return most
}

// flag is the first given flag that only a gather out of a file can do; "" where
// none is given.
func (f *streamFlags) flag() string {
	switch {
	case f.memory.given:
		return "--memory " + f.memory.text
	case f.resume:
		return "--resume"
	}
	return ""
}

// check refuses flags that DATA or OUT rules out, before anything is opened.
func (f *gatherFlags) check(data operand) error {
	flag := f.stream.flag()
	format, _ := formatOf(f.out)
	switch {
	case flag == "":
		return nil
	case f.out == "":
		return wrong("%s: a result that is printed is made in memory; write it with -o OUT", flag)
	case data.kind != kindFile:
		return wrong("%s: DATA %s is in memory as a whole; put it into a file, such as a .npy", flag, brief(data.text))
	case f.stream.resume && f.out == "-":
		return wrong("--resume: what went to standard output is gone; name a file with -o OUT")
	case f.stream.resume && format.Name == "npz":
		return wrong("--resume: a .npz file ends with sums of all its bytes, so that no other run can go on with it; write a .npy file")
	}
	return nil
}

// brief is the beginning of an argument, for a message.
func brief(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}

// streams reports whether a gather may run block by block out of a file.
func (f *gatherFlags) streams(data operand) bool { return f.out != "" && data.kind == kindFile }

// openInPlace opens DATA or INDICES without reading elements. An array that can
// only be read whole is a files.ErrMemory.
func (p *program) openInPlace(ctx context.Context, role string, from operand, o files.Options) (*files.Input, error) {
	o.InPlace = true
	in, err := p.openFile(ctx, role, from.file, o, limits.Memory())
	if err == nil && in.Array == nil {
		in.Close()
		return nil, garner.Errorf(files.ErrMemory, "%s holds %s, which can only be read whole", from.text, in.Spec())
	}
	return in, err
}

// stream gathers from DATA in a file and writes the result block by block.
func (p *program) stream(ctx context.Context, f *gatherFlags, r *request, data *files.Input) error {
	if err := f.data.misread(r.operator, r.op, data.Spec()); err != nil {
		return err
	}
	// Before INDICES are opened: a pipe may keep that waiting while DATA changes.
	dataFact, dataKnown, err := files.Identify(data.Array)
	if err != nil {
		return err
	}
	if err := f.to.convert(data); err != nil {
		return err
	}
	if f.stream.memory.given {
		defer limitHeap(f.stream.memory.bytes)()
	}
	defer r.close() // the further operands
	indices, held, err := p.openIndices(ctx, f, r, data.Spec())
	if err != nil {
		return err
	}
	defer indices.Close()
	r.memory.take(operandRoles[1], indices)
	indicesFact, indicesKnown := "", true
	if garner.TakesIndices(r.op) {
		if indicesFact, indicesKnown, err = files.Identify(indices.Array); err != nil {
			return err
		}
	}
	texts, err := f.further.texts(r.operator)
	if err != nil {
		return err
	}
	indicesSpec := garner.Spec{}
	if garner.TakesIndices(r.op) {
		indicesSpec = indices.Spec()
	}
	if err := p.openFurther(ctx, r, texts, data.Spec(), indicesSpec, true); err != nil {
		return err
	}
	if err := r.refused(data.Spec(), indicesSpec); err != nil {
		return err
	}
	more, further := r.arrays()
	held += further
	facts, known, err := r.furtherFacts(more)
	if err != nil {
		return err
	}
	if r.op, err = f.policy.amend(r.op, resultType(r.op, data.Spec(), indices.Spec(), r.specs())); err != nil {
		return err
	}
	plan, err := source.NewPlan(ctx, r.op, data.Array, indices.Array, more...)
	if err != nil {
		return err
	}
	if err := checkFirst(ctx, plan, data.Spec(), indices.Array, f.stream.memory.bytes); err != nil {
		return f.policy.remedy(err)
	}
	o := source.Options{Threads: int(f.threads.value), Further: more}
	if !f.stream.memory.given {
		if o.Memory = blocks(r.memory.left()); o.Memory > 0 {
			defer limitHeap(o.Memory)()
		}
	} else {
		o.Memory = f.stream.memory.bytes - held
		what := operandRoles[1] + " " + brief(r.operands[1].text)
		if further > held/100 { // less is not worth a word
			what = strings.Join(r.memory.of, " and ")
		}
		remedy := intoFile
		if plan.Bag != nil {
			remedy = giveMemory
		}
		if err := f.stream.beside(what, held, remedy); err != nil {
			return err
		}
	}
	create := files.CreateOptions{
		Name: f.name, Inputs: slices.Concat(data.Paths, indices.Paths, r.paths()),
		Resume: f.stream.resume,
	}
	switch {
	case dataKnown && indicesKnown && known:
		create.Identity = append(r.identity(plan, dataFact, indicesFact), facts...)
	case f.stream.resume:
		return wrong("--resume: DATA and INDICES of a URL cannot be told from others; put them into files")
	}
	if f.stream.flag() == "" {
		create.ResumeFrom = lasting
	}
	spec := garner.SpecOf(plan.DType, plan.Out...)
	var checking *terminal.Meter
	checked := false
	create.Checked = func(done, total int64) {
		if !checked {
			checked, checking = true, p.meter("checking what is kept", total)
		}
		checking.Set(done)
	}
	to, err := p.create(ctx, f.out, spec, create)
	checking.Stop()
	if checked && errors.Is(err, errInterrupted) {
		return &interruptedError{fmt.Sprintf("interrupted; what is kept of %s stays, and the same command with --resume goes on", f.out)}
	}
	if errors.Is(err, files.ErrKept) {
		return &toldError{err.Error() + ": run without --resume", err}
	}
	if errors.Is(err, files.ErrNoResume) {
		return &usageError{message: "--resume: " + bare(err) + " with -o OUT", err: err}
	}
	if err != nil {
		return err
	}
	defer to.end()
	switch {
	case f.stream.resume && to.Discarded():
		fmt.Fprintf(p.stderr, "garner: what is kept of %s is damaged behind its first %s, and this run makes that again\n", f.out, units.Bytes(to.From()))
	case f.stream.resume && !to.Resumed():
		// So a job that is restarted needs only one command.
		fmt.Fprintf(p.stderr, "garner: there is nothing of %s to go on with, so this run starts it\n", f.out)
	case to.Discarded():
		fmt.Fprintf(p.stderr, "garner: what an interrupted run had written of %s is thrown away, and this one starts anew; --resume would have gone on\n", f.out)
	}
	o.From = to.From()
	meter := p.meter("gathering", int64(spaceOf(spec)))
	meter.From(o.From)
	o.Progress = func(done, _ int64) { meter.Set(done) }
	err = source.Gather(ctx, r.op, data.Array, indices.Array, to, o)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = to.Commit()
	}
	meter.Stop()
	if errors.Is(err, errInterrupted) {
		if kept := to.Keep(); kept > 0 {
			return &interruptedError{fmt.Sprintf("interrupted; %s of the %s of %s are kept, and the same command with --resume goes on", units.Bytes(kept), units.Bytes(to.Size()), f.out)}
		}
	}
	return f.policy.remedy(err)
}

// limitHeap makes the garbage collector keep what the heap gets beside what it has near
// a budget, in bytes, until the function that it returns is called. Without a limit the
// heap doubles before the garbage collector runs.
func limitHeap(budget int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	var has runtime.MemStats
	runtime.ReadMemStats(&has)
	program := 24<<20 + int64(has.HeapAlloc)
	debug.SetMemoryLimit(min(before, min(budget, math.MaxInt64-program)+program))
	return func() { debug.SetMemoryLimit(before) }
}

// openIndices opens the INDICES of a stream, in place where possible. held is how
// many bytes of memory they take.
func (p *program) openIndices(ctx context.Context, f *gatherFlags, r *request, data garner.Spec) (in *files.Input, held int64, err error) {
	if !garner.TakesIndices(r.op) {
		return files.Hold(garner.Tensor{}), 0, nil
	}
	from := r.operands[1]
	if from.kind == kindFile {
		if in, err = p.openInPlace(ctx, operandRoles[1], from, f.indices.options()); !errors.Is(err, files.ErrMemory) {
			return in, 0, err
		}
	}
	role := operandRoles[1] + " " + brief(from.text)
	// Before it is inflated, or the range made.
	if spec, size := p.headerSpec(ctx, from, f.indices.options()); f.stream.beside(role, size, "") != nil {
		remedy, err := p.wholeIndices(ctx, f, r, data, spec)
		if err == nil {
			err = f.stream.beside(role, size, remedy)
		}
		return nil, 0, err
	}
	in, t, err := p.open(ctx, operandRoles[1], from, f.indices.options(), r.memory.left())
	if err != nil {
		return nil, 0, err
	}
	if in.Array == nil { // strings, which NewPlan refuses by their dtype
		in.Array = source.Memory(t)
	}
	return in, volume(t.DType(), int64(t.Len())), nil
}

// headerSpec is the spec of a range, or of an array by its header, of which no element is
// read, and its bytes in memory; 0 where none says it.
func (p *program) headerSpec(ctx context.Context, from operand, o files.Options) (garner.Spec, int64) {
	if n, ok := literal.Elements(from.text); ok && from.kind == kindLiteral {
		spec := garner.SpecOfDims(cmp.Or(o.DType, garner.I64), garner.Dim{Max: garner.Unbounded})
		if n <= math.MaxInt { // else no int holds the length
			spec = garner.SpecOf(spec.DType, int(n))
		}
		size, _ := rangeBytes(from.text, spec.DType)
		return spec, int64(min(size, 1<<62))
	}
	if from.kind != kindFile || from.file.Format.Layout == nil || from.file.IsURL() || from.file.IsPattern() {
		return garner.Spec{}, 0
	}
	list, err := from.file.List(ctx, o)
	if err != nil {
		return garner.Spec{}, 0 // opening it says more
	}
	for _, a := range list {
		if (a.Name == from.file.Name || len(list) == 1) && a.DType != garner.Invalid {
			spec := garner.SpecOf(a.DType, a.Shape...)
			return spec, int64(min(spaceOf(spec), 1<<62))
		}
	}
	return garner.Spec{}, 0
}

// What to do about an operand that is held whole.
const (
	intoFile   = "put them into a .npy file, of which a part is read at a time, or give more"
	giveMemory = "give more: the operator makes bags, and all that says what is in them is held whole"
)

// wholeIndices says what to do about INDICES of a spec that are too large to hold: intoFile,
// unless the operator makes bags of them. Its error is that of a gather that is refused,
// however much memory it has.
func (p *program) wholeIndices(ctx context.Context, f *gatherFlags, r *request, data, indices garner.Spec) (string, error) {
	texts, err := f.further.texts(r.operator)
	if err == nil {
		err = p.openFurther(ctx, r, texts, data, indices, true)
	}
	if err == nil {
		err = r.refused(data, indices)
	}
	if err == nil {
		_, err = garner.Infer(r.op, data, indices, r.specs()...)
	}
	if err != nil {
		return "", err
	}
	if garner.Copies(r.op) {
		return intoFile, nil
	}
	if _, known := indices.Shape(); !known {
		indices = garner.SpecOf(indices.DType, 1) // a plan needs a length
	}
	plan, err := garner.NewPlan(r.op, data, indices, r.specs()...)
	if err != nil || plan.Bag != nil { // only plans of bags need elements of operands, which Infer does without
		return giveMemory, nil
	}
	return intoFile, nil
}

// beside refuses operands that take so much memory that --memory leaves too little.
func (f *streamFlags) beside(what string, held int64, remedy string) error {
	if !f.memory.given || held <= f.memory.bytes/2 {
		return nil
	}
	return garner.Errorf(nil, "%s take %s of memory, and --memory %s leaves too little beside them; %s", what, units.Bytes(held), f.memory.text, remedy)
}

// identity lists everything that a result depends on, beside its dtype and shape. The
// operator stands there as its plan: what means the same is the same, however the flags
// say it.
func (r *request) identity(plan *garner.Plan, data, indices string) []files.Fact {
	numbers := make([]string, len(plan.Axes))
	for i, a := range plan.Axes {
		numbers[i] = strconv.Itoa(a.Number)
	}
	outside := plan.Outside.String()
	if plan.Outside == garner.Fill {
		outside += "=" + plan.Fill.Text()
	}
	facts := []files.Fact{
		{What: "the operator", Value: fmt.Sprintf("a gather along axis %s with negative %s and outside %s, its loops %s",
			strings.Join(numbers, ","), plan.Negative, outside, hashed(plan.Loops, plan.Axes, plan.Slice))},
		{What: "DATA", Value: data},
		{What: "INDICES", Value: indices},
	}
	if plan.Bag != nil {
		facts = append(facts, files.Fact{What: "what becomes of bags", Value: bagText(plan.Bag)})
	}
	if plan.Stored != nil { // how it decodes is told by the attributes too
		form := plan.Stored.String()
		for _, name := range slices.Sorted(maps.Keys(r.numbers)) {
			form += fmt.Sprintf(" %s=%v", name, r.numbers[name])
		}
		facts = append(facts, files.Fact{What: "the form of stored elements", Value: form})
	}
	return facts
}

// hashed is a short text that differs where values do.
func hashed(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", values))
	return fmt.Sprintf("%x", sum[:8])
}

// bagText tells how the terms of bags are reduced. Two bags have one text only where they
// mean the same.
func bagText(b *garner.Bag) string {
	words := []string{b.Reduction.String()}
	if b.Padding.Given {
		words = append(words, fmt.Sprintf("without row %d", b.Padding.At))
	}
	if b.SkipNegative {
		words = append(words, "without negative indices")
	}
	if b.SkipWeightless {
		words = append(words, "without terms of no weight")
	}
	if b.Empty.Given {
		words = append(words, fmt.Sprintf("row %d for an empty bag", b.Empty.At))
	}
	return strings.Join(words, ", ") + "; " + hashed(*b)
}

// furtherFacts lists the further operands that a result depends on; known is false where
// one cannot be told from others.
func (r *request) furtherFacts(more []source.Array) (facts []files.Fact, known bool, err error) {
	operands := garner.OperandsOf(r.op)
	for i, a := range more {
		if a == nil {
			continue
		}
		fact, known, err := files.Identify(a)
		if err != nil || !known {
			return nil, false, err
		}
		facts = append(facts, files.Fact{What: "--operand " + operands[i].Name, Value: fact})
	}
	return facts, true, nil
}
