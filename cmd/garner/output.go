package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/internal/catalog"
	"github.com/garner-go/garner/internal/terminal"
)

// printed is up to how many elements (lists, where there are none) a result has
// that is printed in full.
const printed = 1000

// checkOutput refuses an OUT that garner cannot write, and a name of the result
// that it has no room for, before anything is done. "" is an OUT or a name that
// was not given.
func checkOutput(out, name string) error {
	format, ok := formatOf(out)
	if ok {
		if name != "" && !format.Named {
			return wrong("--name %s: only in .npz, .safetensors and .gguf files has a result a name; write one of them with -o", name)
		}
		return nil
	}
	if path, name, ok := strings.Cut(out, "#"); ok {
		return wrong("-o %s: give the name apart from the file's, -o %s --name %s", out, path, name)
	}
	return wrong("-o %s: garner writes %s files, and npy to standard output for -o -", out, catalog.Writable())
}

// formatOf is the format that an OUT is written in.
func formatOf(out string) (format catalog.ArrayFormat, ok bool) {
	if out == "" || out == "-" || out == os.DevNull {
		out = ".npy"
	}
	format, extension, ok := catalog.FormatOf(out)
	// An index of safetensors files is no file of an array.
	return format, ok && format.Writes && extension != safetensors.IndexSuffix
}

// A sink is where a result goes.
type sink struct {
	ctx     context.Context
	program *program
	file    *atomicfile.File // nil: standard output
	format  catalog.ArrayFormat
	name    string // of the result in the file
}

// create makes the sink of an OUT, "" for printing, and of the result's name, ""
// for that of the form. What is an input, or cannot be written, is refused here,
// before the work.
func (p *program) create(ctx context.Context, out, name string, inputs ...string) (*sink, error) {
	s := &sink{ctx: ctx, program: p}
	s.format, _ = formatOf(out)
	s.name = cmp.Or(name, s.format.Result)
	switch out {
	case "":
		return s, nil
	case "-":
		return s, p.notInput(inputs)
	}
	info, err := os.Stat(out)
	temporary := err != nil || info.Mode().IsRegular()
	p.unfinished.Store(temporary)
	if s.file, err = atomicfile.Create(out, inputs...); err != nil {
		p.unfinished.Store(false)
		return nil, err
	}
	return s, nil
}

// notInput refuses a standard output that was redirected to an input.
func (p *program) notInput(inputs []string) error {
	stdout, ok := p.stdout.(*os.File)
	if !ok {
		return nil
	}
	info, err := stdout.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	for _, path := range inputs {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, info) {
			return garner.Errorf(nil, "standard output is the input %s, which is still being read; redirect it to another file", path)
		}
	}
	return nil
}

// abort removes what was begun, unless it was committed.
func (s *sink) abort() {
	if s.file != nil {
		s.file.Abort()
		s.program.unfinished.Store(false)
	}
}

// check refuses a result that the form cannot hold, before its elements are
// known.
func (s *sink) check(t garner.Tensor) error {
	switch s.format.Name {
	case "npz":
		return npz.Check([]npz.Named{{Name: s.name, Tensor: t}})
	case "npy":
		return nil // any
	}
	_, _, err := s.format.Form(s.name, garner.SpecOf(t.DType(), t.Shape()...))
	return err
}

// write writes a result, whole or not at all. descr is how data's dtype was
// named, "" where it was not.
func (s *sink) write(t garner.Tensor, descr string) error {
	defer s.abort()
	meter := s.program.meter("writing", onDisk(t))
	defer meter.Stop()
	var w io.Writer = s.program.stdout
	if s.file != nil {
		w = s.file
	}
	w = contextWriter{s.ctx, w, meter}
	var err error
	switch {
	case s.format.Name == "npz":
		err = npz.Write(w, []npz.Named{{Name: s.name, Tensor: t, Descr: descr}})
	case s.format.Name != "npy":
		err = writeForm(w, s.format, s.name, t)
	case t.DType() == garner.String && descr != "":
		err = npy.WriteStrings(w, t, descr)
	default:
		err = npy.Write(w, t)
	}
	if s.file == nil {
		return notWritten(err)
	}
	if err != nil {
		return err
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	return s.file.Commit()
}

// writeForm writes a contiguous tensor to a file of one array.
func writeForm(w io.Writer, format catalog.ArrayFormat, name string, t garner.Tensor) error {
	b, err := t.Bytes()
	if err != nil {
		return err
	}
	elements, err := format.NewWriter(w, name, garner.SpecOf(t.DType(), t.Shape()...))
	if err != nil {
		return err
	}
	if _, err := elements.Write(b); err != nil {
		return err
	}
	return elements.Close()
}

// onDisk is how many bytes a tensor takes in a file, about; 0 where only its
// strings tell.
func onDisk(t garner.Tensor) int64 {
	if t.DType() == garner.String {
		return 0
	}
	return volume(t.DType(), int64(t.Len()))
}

// print prints a result as nested lists, or says what it is where it is large.
func (s *sink) print(t garner.Tensor) error {
	text := ""
	if lists(t.Shape()) <= printed {
		text = t.Text() + "\n"
	} else {
		var err error
		if text, err = summary(t); err != nil {
			return err
		}
	}
	_, err := io.WriteString(s.program.stdout, text)
	return notPrinted(err)
}

// lists is how many elements are printed of a tensor of a shape, or how many
// empty lists; more than printed stands for any number above it.
func lists(shape garner.Shape) int {
	n := 1
	for _, d := range shape {
		if d == 0 {
			break
		}
		if n = min(n, printed+1) * min(d, printed+1); n > printed {
			return printed + 1
		}
	}
	return n
}

// summary says what a large tensor is, and shows its ends.
func summary(t garner.Tensor) (string, error) {
	const shown = 5
	n := t.Len()
	if n == 0 {
		return fmt.Sprintf("%s%s, which has no elements\n", t.DType(), t.Shape()), nil
	}
	flat, err := t.Reshape(n)
	if err != nil {
		return "", err
	}
	first, err := flat.Slice(0, 0, shown, 1)
	if err != nil {
		return "", err
	}
	last, err := flat.Slice(0, n-shown, n, 1)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s, %d elements\nfirst %s\nlast  %s\n\"-o FILE.npy\" writes them all\n", t.DType(), t.Shape(), n, first.Text(), last.Text()), nil
}

// notWritten says why standard output did not take an array.
func notWritten(err error) error {
	switch {
	case err == nil, errors.Is(err, errInterrupted), errors.Is(err, garner.ErrDType), errors.Is(err, garner.ErrFault):
		return err
	case brokenPipe(err):
		return garner.Errorf(err, "standard output was closed before the whole array was written; let its reader read it all")
	}
	return garner.Errorf(err, "cannot write standard output: %v; make room there, or name a file with -o", reason(err))
}

// notPrinted says why standard output did not take text. A reader that wants no
// more of it, such as head, is no reason to say anything.
func notPrinted(err error) error {
	switch {
	case err == nil:
		return nil
	case brokenPipe(err):
		return errReaderGone
	}
	return garner.Errorf(err, "cannot write standard output: %v; make room there", reason(err))
}

// reason is what the operating system says.
func reason(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// printJSON prints a value as one line.
func (p *program) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(append(line, '\n'))
	return notPrinted(err)
}

// A printer prints line by line, and remembers the first failure.
type printer struct {
	buf *bufio.Writer
}

func (p *program) printer() printer { return printer{bufio.NewWriter(p.stdout)} }

func (p printer) printf(format string, args ...any) { fmt.Fprintf(p.buf, format, args...) }

func (p printer) flush() error { return notPrinted(p.buf.Flush()) }

// A contextReader reads until its context ends.
type contextReader struct {
	ctx   context.Context
	r     io.Reader
	meter *terminal.Meter
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.r.Read(b)
	r.meter.Add(int64(n))
	return n, err
}

// A contextWriter writes until its context ends, which it looks at once a
// mebibyte.
type contextWriter struct {
	ctx   context.Context
	w     io.Writer
	meter *terminal.Meter
}

func (w contextWriter) Write(b []byte) (int, error) {
	const block = 1 << 20
	n := 0
	for {
		if w.ctx.Err() != nil {
			return n, context.Cause(w.ctx)
		}
		k, err := w.w.Write(b[n:min(len(b), n+block)])
		n += k
		w.meter.Add(int64(k))
		if err != nil || n == len(b) {
			return n, err
		}
	}
}
