package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/internal/blocks"
	"github.com/garner-go/garner/internal/catalog"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/resumable"
	"github.com/garner-go/garner/source"
)

const (
	// leastMemory is the smallest budget that is taken: below it every few rows
	// would be a block of their own.
	leastMemory = 1 << 20

	// lasting is from how many bytes on a result is written such that a later run
	// can go on with it. Smaller ones are soon made again.
	lasting = 64 << 20
)

// streamFlags say how a gather out of a file runs.
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

// sizeUnits are what a size may end in.
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

// flag names what was asked for that only a gather out of a file can do; ""
// where nothing was.
func (f *streamFlags) flag() string {
	switch {
	case f.memory.given:
		return "--memory " + f.memory.text
	case f.resume:
		return "--resume"
	}
	return ""
}

// check refuses flags that the operands and the output cannot keep, before
// anything is opened.
func (f *gatherFlags) check(data string) error {
	flag := f.stream.flag()
	format, _ := formatOf(f.out)
	switch {
	case flag == "":
		return nil
	case f.out == "":
		return wrong("%s: a result that is printed is made in memory; write it with -o OUT", flag)
	case data == "-" || literal.IsLiteral(data):
		return wrong("%s: DATA %s is in memory as a whole; put it into a file, such as a .npy", flag, brief(data))
	case f.stream.resume && f.out == "-":
		return wrong("--resume: what went to standard output is gone; name a file with -o OUT")
	case f.stream.resume && format.Name == "npz":
		return wrong("--resume: a .npz file ends with sums of all its bytes, so that no other run can go on with it; write a .npy file")
	}
	return nil
}

// brief is the beginning of an argument.
func brief(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}

// streams reports whether a gather may run out of files, without its result in
// memory, if DATA is an array in a file.
func (f *gatherFlags) streams(data string) bool {
	return f.out != "" && data != "-" && !literal.IsLiteral(data)
}

// An input is DATA or INDICES of a gather that runs out of files.
type input struct {
	array source.Array
	paths []string // of its files
	fact  string   // what tells it from every other input
	held  int64    // bytes of memory that it takes
	close func() error
}

// openInput opens DATA or INDICES. What can only be read whole is a
// layout.ErrMemory.
func (p *program) openInput(role, text string, o catalog.ArrayOptions) (*input, error) {
	if text == "-" || literal.IsLiteral(text) {
		return nil, layout.InMemory("it is no file")
	}
	o.InPlace = true
	a, err := p.openArray(role, text, o)
	if err != nil {
		return nil, err
	}
	file, ok := a.Array.(*source.File)
	if !ok {
		a.Close()
		return nil, layout.InMemory("it is in memory")
	}
	in := &input{array: file, paths: a.Paths, close: a.Close}
	if in.fact, err = identify(file); err != nil {
		a.Close()
		return nil, err
	}
	return in, nil
}

// memoryInput is an operand that is in memory.
func memoryInput(o *operand) (*input, error) {
	in := &input{array: source.Memory(o.tensor), paths: o.paths, close: o.close}
	if o.tensor.DType() == garner.String {
		return in, nil // which no operator takes for indices
	}
	in.held = volume(o.tensor.DType(), int64(o.tensor.Len()))
	spec := o.tensor.Spec()
	spec.Strides = nil
	sum := sha256.New()
	io.WriteString(sum, spec.String())
	err := mapped.Guard(func() error {
		return blocks.Each(o.tensor, func(block garner.Tensor) error {
			b, err := block.Bytes()
			sum.Write(b)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	in.fact = fmt.Sprintf("%s with SHA-256 %s", spec, hex.EncodeToString(sum.Sum(nil)))
	return in, nil
}

// identify tells an array in files from every other: where its bytes lie, and
// which state of the files they are of.
func identify(file *source.File) (fact string, err error) {
	var all strings.Builder
	segments := file.Segments()
	for _, s := range segments {
		path, err := filepath.Abs(s.Path)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(s.Path)
		if err != nil {
			return "", &source.ReadError{Path: s.Path, Row: -1, Err: err}
		}
		fmt.Fprintf(&all, "%s, %d bytes from byte %d on of %d, written %s\n", path, s.Bytes, s.Offset, info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
	}
	fact = file.Spec().String()
	switch {
	case len(segments) == 1:
		fact += " in " + strings.TrimSpace(all.String())
	case len(segments) > 1:
		first, _, _ := strings.Cut(all.String(), "\n")
		fact += fmt.Sprintf(" in %d pieces with SHA-256 %x, the first %s", len(segments), sha256.Sum256([]byte(all.String())), first)
	}
	return fact, nil
}

// stream runs a gather whose DATA is in a file and whose result is written block
// by block.
func (p *program) stream(ctx context.Context, f *gatherFlags, r *request, data *input, args []string) error {
	indices, err := p.openInput(operandRoles[1], args[1], f.indices.options())
	if errors.Is(err, layout.ErrMemory) {
		var o *operand
		if o, err = p.open(ctx, operandRoles[1], args[1], f.indices.options()); err == nil {
			if indices, err = memoryInput(o); err != nil {
				o.close()
			}
		}
	}
	if err != nil {
		return err
	}
	defer indices.close()
	if r.op, err = f.policy.amend(r.op, data.array.Spec().DType); err != nil {
		return err
	}
	plan, err := garner.NewPlan(r.op, data.array.Spec(), indices.array.Spec())
	if err != nil {
		return err
	}
	o := source.Options{Threads: int(f.threads.value)}
	if f.stream.memory.given {
		o.Memory = f.stream.memory.bytes - indices.held
		if indices.held > f.stream.memory.bytes/2 {
			return garner.Errorf(nil, "INDICES %s take %s of memory, and --memory %s leaves too little beside them; put them into a .npy file, of which a part is read at a time, or give more",
				brief(args[1]), amount(indices.held), f.stream.memory.text)
		}
		// Or the heap may grow to twice of what is in use before it is looked
		// through.
		limit := f.stream.memory.bytes + 24<<20
		if before := debug.SetMemoryLimit(-1); limit < before {
			debug.SetMemoryLimit(limit)
			defer debug.SetMemoryLimit(before)
		}
	}
	to, err := p.createStream(ctx, f, r, plan, data, indices)
	if err != nil {
		return err
	}
	defer to.end(nil)
	o.From = to.from
	meter := p.meter("gathering", to.size)
	o.Progress = func(done, _ int64) { meter.Set(done) }
	err = source.Gather(ctx, r.op, data.array, indices.array, to.elements, o)
	if err == nil {
		err = to.elements.Close()
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = to.commit()
	}
	meter.Stop()
	return remedy(to.end(err))
}

// A streamSink is where the result of a stream goes.
type streamSink struct {
	program  *program
	path     string
	elements io.WriteCloser
	size     int64 // bytes of the elements
	from     int64 // of which so many stand there already
	whole    int64 // bytes of the file

	atomic *atomicfile.File // one of the two; neither: standard output
	parts  *resumable.File
}

// createStream makes the place of a result. What the file cannot hold is refused
// before it is begun.
func (p *program) createStream(ctx context.Context, f *gatherFlags, r *request, plan *garner.Plan, data, indices *input) (_ *streamSink, err error) {
	format, _ := formatOf(f.out)
	name := cmp.Or(f.name, format.Result)
	spec := garner.SpecOf(plan.DType, plan.Out...)
	s := &streamSink{program: p, path: f.out}
	if s.size, _, err = layout.Size(spec); err != nil {
		return nil, err
	}
	to := &told{ctx: ctx, words: func(err error) error { return err }}
	begin := func() (*layout.Writer, error) { return format.NewWriter(to, name, spec) }
	form, lasts, err := format.Form(name, spec)
	if err == nil {
		if lasts {
			s.whole, err = form.Size()
		} else {
			_, err = format.NewWriter(io.Discard, name, spec)
		}
	}
	if err != nil {
		return nil, err
	}

	inputs := append(slices.Clone(data.paths), indices.paths...)
	if f.out == "-" {
		if err := p.notInput(inputs); err != nil {
			return nil, err
		}
		to.w, to.words = p.stdout, notWritten
		s.elements = &later{begin: begin}
		return s, nil
	}
	place, err := atomicfile.Find(f.out, inputs...)
	if err != nil {
		return nil, err
	}
	if f.stream.resume && place.Target == "" {
		return nil, wrong("--resume: %s is no file on a disk, and what went into it is gone; name a file with -o OUT", f.out)
	}
	p.unfinished.Store(place.Target != "")
	defer func() {
		if err != nil {
			err = s.end(err)
		}
	}()
	if place.Target == "" || !lasts || s.whole < lasting && f.stream.flag() == "" {
		if s.atomic, err = atomicfile.Create(f.out, inputs...); err != nil {
			return nil, err
		}
		to.w = s.atomic
		s.elements = &later{begin: begin}
		return s, nil
	}

	id := r.identity(f, data, indices, fmt.Sprintf("%s, %d bytes of %s", spec, s.whole, strings.TrimSpace(format.Name+" "+name)))
	goOn := f.stream.resume
	if goOn {
		// A job that is started again and again needs one command.
		if s.parts, err = resumable.Resume(place, id, s.whole); errors.Is(err, resumable.ErrNone) {
			fmt.Fprintf(p.stderr, "garner: there is nothing of %s to go on with, so this run starts it\n", f.out)
			goOn = false
		} else if err != nil {
			return nil, err
		}
	}
	if goOn {
		s.from = min(max(s.parts.At()-form.At(0), 0)/(form.At(1)-form.At(0)), s.size)
	} else {
		if s.parts, err = resumable.Create(place, id, s.whole); err != nil {
			return nil, err
		}
		if s.parts.Stale() {
			fmt.Fprintf(p.stderr, "garner: what an interrupted run had written of %s is thrown away, and this one starts anew; --resume would have gone on\n", f.out)
		}
	}
	to.w = s.parts
	if s.from > 0 {
		s.parts.Back(form.At(s.from))
		s.elements, err = form.Resume(to, s.from)
	} else {
		s.parts.Back(0)
		s.elements = &later{begin: begin}
	}
	return s, err
}

// identity is all that a result depends on.
func (r *request) identity(f *gatherFlags, data, indices *input, result string) resumable.Identity {
	operator := r.operator.Name
	for _, name := range slices.Sorted(maps.Keys(r.numbers)) {
		operator += fmt.Sprintf(" %s=%v", name, r.numbers[name])
	}
	if f.policy.negative != "" {
		operator += " --negative " + f.policy.negative
	}
	switch {
	case f.policy.filled:
		operator += " --outside fill=" + f.policy.fill
	case f.policy.outside != "":
		operator += " --outside " + f.policy.outside
	}
	return resumable.Identity{
		{What: "the operator", Value: operator},
		{What: "DATA", Value: data.fact},
		{What: "INDICES", Value: indices.fact},
		{What: "the result", Value: result},
	}
}

// commit sees the result to where it goes.
func (s *streamSink) commit() error {
	switch {
	case s.parts != nil:
		return s.parts.Commit()
	case s.atomic != nil:
		return s.atomic.Commit()
	}
	return nil
}

// end throws away what was not committed, or keeps it where the run was
// interrupted and a later one can go on. It answers what there is to say.
func (s *streamSink) end(err error) error {
	defer s.program.unfinished.Store(false)
	switch {
	case s.atomic != nil:
		s.atomic.Abort()
	case s.parts != nil && errors.Is(err, errInterrupted):
		if kept := s.parts.Keep(); kept > 0 {
			return &interruptedError{fmt.Sprintf("interrupted; %s of the %s of %s are kept, and the same command with --resume goes on", amount(kept), amount(s.whole), s.path)}
		}
	case s.parts != nil:
		s.parts.Abort()
	}
	return err
}

// later writes a header when the first elements come, so that a reader of
// standard output gets nothing where an index is refused.
type later struct {
	begin    func() (*layout.Writer, error)
	elements *layout.Writer
}

func (l *later) open() (err error) {
	if l.elements == nil {
		l.elements, err = l.begin()
	}
	return err
}

func (l *later) Write(b []byte) (int, error) {
	if err := l.open(); err != nil {
		return 0, err
	}
	return l.elements.Write(b)
}

func (l *later) Close() error {
	if err := l.open(); err != nil {
		return err
	}
	return l.elements.Close()
}

// told writes until its context ends, and gives the errors of its writer words
// of garner's.
type told struct {
	ctx   context.Context
	w     io.Writer
	words func(error) error
}

func (t *told) Write(b []byte) (int, error) {
	n, err := contextWriter{t.ctx, t.w, nil}.Write(b)
	return n, t.words(err)
}

// amount is a number of bytes as one says it.
func amount(bytes int64) string {
	value, unit := float64(bytes), 0
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
