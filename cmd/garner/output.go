package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
)

// checkOutput refuses an OUT whose format garner does not write, a terminal for
// its bytes, and a name that the format cannot store, before any work. "" means that OUT or the name
// is not given.
func (p *program) checkOutput(out, name string) error {
	if out == "-" && terminal.Is(p.Stdout) {
		return cmdline.Wrong("-o -: standard output is a terminal, and npy is no text; redirect it or pipe it into a program, or leave -o out, and the result is printed")
	}
	format, ok := formatOf(out)
	if ok {
		if name != "" && !format.Named {
			return cmdline.Wrong("--name %s: only in .npz, .safetensors and .gguf files has a result a name; write one of them with -o", name)
		}
		return nil
	}
	if path, name, ok := strings.Cut(out, "#"); ok {
		return cmdline.Wrong("-o %s: give the name apart from the file's, -o %s --name %s", out, path, name)
	}
	if err := files.NoOutputURL(out); err != nil {
		return cmdline.About("-o ", err)
	}
	return cmdline.Wrong("-o %s: garner writes %s files, and npy to standard output for -o -", out, files.Writable())
}

// formatOf is the format of an OUT.
func formatOf(out string) (format files.Format, ok bool) {
	if out == "" || out == "-" || out == os.DevNull {
		return files.FormatByName("npy")
	}
	format, err := files.OutputFormat(out)
	return format, err == nil
}

// An output is the writer of a result; the caller ends it.
type output struct {
	*files.Writer
	program *program
}

// create begins OUT, a file or -. It refuses an input and what cannot be written,
// before the work. The zero spec is one that is not known yet.
func (p *program) create(ctx context.Context, out string, spec garner.Spec, o files.CreateOptions) (_ *output, err error) {
	format, _ := formatOf(out)
	o.Format = format.Name
	to := &output{program: p}
	if out == "-" {
		if to.Writer, err = files.NewWriter(ctx, stdoutWriter{terminal.Raw(p.Stdout)}, spec, o); err == nil {
			err = p.notInput(o.Inputs)
		}
		return to, err
	}
	p.unfinished.Store(onDisk(out))
	if to.Writer, err = files.Create(ctx, out, spec, o); err != nil {
		p.unfinished.Store(false)
	}
	return to, err
}

// onDisk reports whether OUT is written under a temporary name.
func onDisk(out string) bool {
	info, err := os.Stat(out)
	return err != nil || info.Mode().IsRegular()
}

// end discards OUT, unless it is committed or kept.
func (o *output) end() {
	o.Abort()
	o.program.unfinished.Store(false)
}

// write writes a whole tensor and commits it.
func (o *output) write(t garner.Tensor) error {
	err := o.Put(t)
	if err == nil {
		err = o.Commit()
	}
	return err
}

// A stdoutWriter words the errors of standard output.
type stdoutWriter struct{ w io.Writer }

func (s stdoutWriter) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	return n, notWritten(err)
}

// notInput refuses standard output that is redirected to an input.
func (p *program) notInput(inputs []string) error {
	stdout, ok := terminal.Raw(p.Stdout).(*os.File)
	if !ok {
		return nil
	}
	info, err := stdout.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if path, ok := atomicfile.InputOf(info, files.FilesOf(inputs...)); ok {
		return garner.Errorf(nil, "standard output is the input %s, which is still being read; redirect it to another file", path)
	}
	return nil
}

// A sink takes a text, such as a picture.
type sink struct {
	program *program
	file    *atomicfile.File // nil: standard output
}

// createText begins OUT, a file or -, for a text.
func (p *program) createText(out string, inputs ...string) (*sink, error) {
	s := &sink{program: p}
	if err := files.NoOutputURL(out); err != nil {
		return nil, cmdline.About("-o ", err)
	}
	if out == "-" {
		return s, p.notInput(inputs)
	}
	p.unfinished.Store(onDisk(out))
	var err error
	if s.file, err = atomicfile.Create(out, files.FilesOf(inputs...)...); err != nil {
		p.unfinished.Store(false)
		return nil, err
	}
	return s, nil
}

// write writes a text; a file appears whole or not at all.
func (s *sink) write(text []byte) error {
	defer s.abort()
	if s.file == nil {
		_, err := s.program.Stdout.Write(text)
		return cmdline.NotPrinted(err)
	}
	if _, err := s.file.Write(text); err != nil {
		return err
	}
	return s.file.Commit()
}

// abort discards the text, unless it is committed.
func (s *sink) abort() {
	if s.file != nil {
		s.file.Abort()
		s.program.unfinished.Store(false)
	}
}

// notWritten words the error of an array on standard output.
func notWritten(err error) error {
	switch {
	case err == nil, errors.Is(err, cmdline.ErrInterrupted), errors.Is(err, garner.ErrDType), errors.Is(err, garner.ErrFault):
		return err
	case cmdline.BrokenPipe(err):
		return garner.Errorf(err, "standard output was closed before the whole array was written; let its reader read it all")
	}
	return garner.Errorf(err, "cannot write standard output: %v; make room there, or name a file with -o", cmdline.Reason(err))
}

// printJSON prints a value as one line.
func (p *program) printJSON(v any) error {
	to := p.printer()
	if err := to.json().Encode(v); err != nil {
		return cmdline.NotPrinted(err)
	}
	return to.flush()
}

// A printer prints line by line, and keeps the first error.
type printer struct {
	buf *bufio.Writer
}

func (p *program) printer() printer { return printer{bufio.NewWriter(p.Stdout)} }

func (p printer) printf(format string, args ...any) { fmt.Fprintf(p.buf, format, args...) }

// json encodes values as lines of JSON.
func (p printer) json() *json.Encoder {
	e := json.NewEncoder(terminal.NewJSON(p.buf))
	e.SetEscapeHTML(false)
	return e
}

func (p printer) flush() error { return cmdline.NotPrinted(p.buf.Flush()) }
