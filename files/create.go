package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/resumable"
	"github.com/garner-go/garner/source"
)

// ErrNoResume is the class of results that no later run can continue: they are not
// written to a regular file, their format has no Form (.npz ends with a checksum
// of all its bytes), their spec is not known, or they have no Identity.
var ErrNoResume = errors.New("not resumable")

// ErrKept is the class of refusals to continue what an earlier run has left: it is
// made of other things, or another version of garner has begun it. Without Resume a
// run discards it.
var ErrKept = resumable.ErrKept

// CreateOptions say how an array is written.
type CreateOptions struct {
	Name   string   // of the array; "" is the format's own: arr_0 in .npz, output in .safetensors and .gguf
	Format string   // a Format's Name; "" is the one that the path's extension names
	Descr  string   // NumPy's dtype of strings, as Input.Descr; "": U
	Inputs []string // operands that are still read; Create refuses to write onto one of their files, which FilesOf lists

	// Progress is called after each piece with the bytes of the file so far, those
	// of an earlier run included, and the bytes that it will have, 0 if unknown.
	Progress func(done, total int64)

	// Identity lists what the contents are made of, such as the operator and what
	// Identify says of each array, and makes the file resumable:
	// Keep leaves what is written for a later run, and a killed process loses only
	// what it wrote in the last second. Until Commit the files .garner-BASE.part
	// and .garner-BASE.resume stand beside the file BASE. nil: not resumable.
	Identity []Fact

	// ResumeFrom is the least size in bytes of a resumable file. Without Resume, a
	// smaller one is written as if Identity were nil. Default 0.
	ResumeFrom int64

	// Resume continues what a run with the same Identity and result left. It reads
	// that once and compares it with the checksums that the run has written. Where
	// nothing is left that can be continued, this run starts. What a run with
	// another Identity left is an ErrKept, a file that is not resumable an
	// ErrNoResume.
	Resume bool

	// Checked is told how many of the bytes that an earlier run left have been
	// compared, and how many there are, once a mebibyte.
	Checked func(done, total int64)
}

// A Fact is one thing that the contents of a file depend on.
type Fact struct {
	What  string // its name in messages: "the indices"
	Value string // compared, and shown where it differs
}

// A Writer writes one array. It takes the elements, row-major and
// little-endian, packed types without padding, in pieces of any size; or a whole
// tensor with Put. One goroutine uses it. Every Writer ends with Commit, Keep or
// Abort.
type Writer struct {
	ctx    context.Context
	format Format
	o      CreateOptions
	spec   garner.Spec // DType Invalid: Put tells it
	size   int64       // bytes of the elements; 0 where spec is not known
	whole  int64       // bytes of the file
	fixed  bool        // whole is known

	to        paced
	elements  io.WriteCloser                 // nil until the first element comes
	begin     func() (io.WriteCloser, error) // makes elements
	sink      Sink                           // nil: a stream
	parts     *resumable.File                // the sink, where it is resumable
	from      int64
	resumed   bool
	discarded bool
	put       bool // strings were written, which have no elements
}

// Create begins to write an array of spec to a file, or to a URL whose scheme has
// a Create. Commit makes the file appear, whole, and replaces one of the same
// name; until then the bytes have a temporary name in the same folder. A path
// that is no regular file, such as a pipe or /dev/stdout, is written directly.
//
// All dims of spec are known. The zero Spec means that Put will tell it; such a
// file is not resumable.
//
// Create refuses, before it creates anything, a path of no format that is written
// (garner.ErrAttribute), a dtype or a name that the format does not have, a
// folder, a path in a folder that does not exist, a file without write
// permission, one of o.Inputs, and a file that another run is writing resumably.
//
// When ctx is done, Write and Put return its cause within a mebibyte.
func Create(ctx context.Context, path string, spec garner.Spec, o CreateOptions) (*Writer, error) {
	w, err := newWriter(ctx, path, spec, o)
	if err != nil {
		return nil, err
	}
	if s := schemeOf(path); s != nil {
		if err := w.createURL(s, path); err != nil {
			return nil, err
		}
		return w, nil
	}
	inputs := FilesOf(o.Inputs...)
	place, err := atomicfile.Find(path, inputs...)
	if err != nil {
		return nil, err
	}
	lasts := w.fixed && o.Identity != nil
	switch {
	case o.Resume && place.Target == "":
		return nil, garner.Errorf(ErrNoResume, "%s is no file on a disk, and what went into it is gone; name a file", path)
	case o.Resume && o.Identity == nil:
		return nil, garner.Errorf(ErrNoResume, "%s cannot be continued: no Identity says what it is made of; begin anew", path)
	case o.Resume && !lasts:
		return nil, garner.Errorf(ErrNoResume, "%s cannot be continued: its format, or its spec, does not tell the size of the file before it is written; begin anew, or write another format", path)
	case lasts && place.Target != "" && (o.Resume || w.whole >= o.ResumeFrom):
		if err := w.createParts(place); err != nil {
			return nil, err
		}
	default:
		f, err := atomicfile.Create(path, inputs...)
		if err != nil {
			return nil, err
		}
		w.sink, w.to.w = f, f
	}
	return w, nil
}

// NewWriter writes an array of spec to a stream, in the format o.Format, "" being
// npy. It writes nothing before the first element. Commit ends the array and
// leaves the stream open; Abort and Keep do nothing.
func NewWriter(ctx context.Context, to io.Writer, spec garner.Spec, o CreateOptions) (*Writer, error) {
	o.Format = cmp.Or(o.Format, "npy")
	if o.Resume {
		return nil, garner.Errorf(ErrNoResume, "what went to a stream is gone; name a file")
	}
	w, err := newWriter(ctx, "the stream", spec, o)
	if err != nil {
		return nil, err
	}
	w.to.w = to
	return w, nil
}

// Save writes a tensor of any strides to a file, whole or not at all: Create, Put
// and Commit.
func Save(ctx context.Context, path string, t garner.Tensor, o CreateOptions) error {
	w, err := Create(ctx, path, garner.SpecOf(t.DType(), t.Shape()...), o)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.Put(t); err != nil {
		return err
	}
	return w.Commit()
}

// newWriter finds the format, and refuses what it cannot hold.
func newWriter(ctx context.Context, path string, spec garner.Spec, o CreateOptions) (*Writer, error) {
	w := &Writer{ctx: ctx, o: o}
	if o.Format == "" {
		var err error
		if w.format, err = OutputFormat(path); err != nil {
			return nil, err
		}
	} else if f, ok := FormatByName(o.Format); !ok || !f.Writes() {
		return nil, garner.Errorf(garner.ErrAttribute, "%s: garner writes no format %q; it writes %s", path, o.Format, Writable())
	} else {
		w.format = f
	}
	if o.Name != "" && !w.format.Named {
		return nil, garner.Errorf(garner.ErrAttribute, "%s: an array in a %s file has no name; leave %q out", path, w.format.Extensions[0], o.Name)
	}
	w.o.Name = cmp.Or(o.Name, w.format.Result)
	w.to = paced{ctx: ctx, progress: o.Progress}
	if spec.DType == garner.Invalid {
		return w, nil
	}
	return w, w.know(spec)
}

// know checks a spec against the format, and computes the size of the file.
func (w *Writer) know(spec garner.Spec) (err error) {
	w.spec = spec
	if spec.DType == garner.String && w.format.Strings != nil {
		none, err := garner.New(garner.String, 0)
		if err != nil {
			return err
		}
		return w.format.Strings(io.Discard, w.o.Name, none, w.o.Descr) // refuses the name
	}
	w.begin = func() (io.WriteCloser, error) { return w.format.newWriter(&w.to, w.o.Name, spec) }
	if w.format.Form == nil {
		if _, err := w.format.NewWriter(io.Discard, w.o.Name, spec); err != nil {
			return err
		}
		w.size, _, err = layout.Size(spec)
		w.to.total = w.size
		return err
	}
	form, err := w.format.Form(w.o.Name, spec)
	if err != nil {
		return err
	}
	if w.whole, err = form.Size(); err != nil {
		return err
	}
	w.size, _, err = layout.Size(spec)
	w.to.total, w.fixed = w.whole, err == nil
	return err
}

func (w *Writer) createURL(s *Scheme, url string) (err error) {
	if s.Create == nil {
		return garner.Errorf(garner.ErrAttribute, "cannot write %s: scheme %s:// only reads; write a file", url, s.Name)
	}
	if w.o.Resume {
		return garner.Errorf(ErrNoResume, "%s is no file on a disk, and what went into it is gone; name a file", url)
	}
	if w.sink, err = s.Create(w.ctx, url); err == nil {
		w.to.w = w.sink
	}
	return err
}

// createParts begins a resumable file, or continues one.
func (w *Writer) createParts(place atomicfile.Place) (err error) {
	var id resumable.Identity
	for _, f := range w.o.Identity {
		id = append(id, resumable.Fact(f))
	}
	id = append(id, resumable.Fact{What: "the result", Value: fmt.Sprintf("%s, %d bytes of %s", w.spec, w.whole, strings.TrimSpace(w.format.Name+" "+w.o.Name))})
	form, err := w.format.Form(w.o.Name, w.spec)
	if err != nil {
		return err
	}
	if w.parts, err = resumable.Begin(w.ctx, place, id, w.whole, resumable.Options{Resume: w.o.Resume, Checked: w.o.Checked}); err != nil {
		return err
	}
	w.sink, w.to.w = w.parts, w.parts
	w.resumed, w.discarded = w.parts.Resumed(), w.parts.Stale()
	if w.parts.Whole() {
		w.from, w.to.done = w.size, w.whole
		form.Header, form.Trailer = nil, nil // they are written, as all else
		w.elements, err = form.Resume(&w.to, w.size)
		return err
	}
	at := int64(0)
	w.from = min(max(w.parts.At()-form.At(0), 0)/(form.At(1)-form.At(0)), w.size)
	if width := int64(w.spec.DType.Bits() / 8); width > 1 {
		w.from -= w.from % width // a run goes on with an element
	}
	if w.from > 0 {
		at = form.At(w.from)
		if w.elements, err = form.Resume(&w.to, w.from); err != nil {
			w.parts.Abort()
			return err
		}
	}
	w.parts.Back(at)
	w.to.done = at
	return nil
}

// From is how many bytes of the elements an earlier run has written, whole elements; the
// first Write continues behind them.
func (w *Writer) From() int64 { return w.from }

// Rest returns the elements that the first Write continues with up to the last one: of a
// gather whose result the file is, the source.Options.Range. It is zero where the Writer
// has no spec.
func (w *Writer) Rest() source.Range {
	shape, ok := w.spec.Shape()
	if bits := w.spec.DType.Bits(); ok && bits > 0 {
		n, _ := shape.Len()
		return source.Range{First: min(w.from*8/int64(bits), int64(n)), End: int64(n)}
	}
	return source.Range{}
}

// Size is how many bytes the file will have; 0 where that is not known.
func (w *Writer) Size() int64 { return w.whole }

// Resumable reports whether Keep can leave what was written for a later run.
func (w *Writer) Resumable() bool { return w.parts != nil }

// Resumed reports whether this run continues an earlier one.
func (w *Writer) Resumed() bool { return w.resumed }

// Discarded reports whether Create discarded bytes that an earlier run had kept:
// all of them because Resume was not set, or with Resume those that are damaged.
func (w *Writer) Discarded() bool { return w.discarded }

// Write takes the next bytes of the elements. They reach the disk by Commit. After
// an error only Abort and Keep are of use.
func (w *Writer) Write(b []byte) (int, error) {
	if err := w.open(); err != nil {
		return 0, err
	}
	return w.elements.Write(b)
}

// open writes the header.
func (w *Writer) open() (err error) {
	switch {
	case w.elements != nil:
		return nil
	case w.begin == nil || w.put:
		return garner.Errorf(nil, "elements cannot be written: the Writer was given no spec, or one of strings; use Put")
	}
	w.elements, err = w.begin()
	return err
}

// Put writes a whole tensor of any strides, block by block, instead of Writes.
// Its dtype and dims are those of the Writer's spec, where that is known (else
// an ErrDType or ErrShape).
func (w *Writer) Put(t garner.Tensor) error {
	switch spec := garner.SpecOf(t.DType(), t.Shape()...); {
	case w.spec.DType == garner.Invalid:
		if err := w.know(spec); err != nil {
			return err
		}
	case w.spec.DType != t.DType():
		return garner.Errorf(garner.ErrDType, "%s was put into a file of %s", spec, w.spec)
	default:
		if shape, ok := w.spec.Shape(); !ok || !shape.Equal(t.Shape()) {
			return garner.Errorf(garner.ErrShape, "%s was put into a file of %s", spec, w.spec)
		}
	}
	if t.DType() != garner.String {
		if err := w.open(); err != nil {
			return err
		}
		err := raw.Write(w, t)
		if err == nil {
			err = context.Cause(w.ctx)
		}
		return err
	}
	if w.format.Strings == nil || w.put {
		return garner.Errorf(garner.ErrDType, "strings cannot be written to this file, or were written already")
	}
	w.put = true
	return mapped.Guard(func() error { return w.format.Strings(&w.to, w.o.Name, t, w.o.Descr) })
}

// Commit ends the array, flushes the file to the disk and renames it; it does not
// look at the context. On an error, such as missing elements or a full disk, the
// old file is untouched and the new one is discarded.
func (w *Writer) Commit() error {
	if err := w.end(); err != nil {
		return err
	}
	if w.sink == nil {
		return nil
	}
	return w.sink.Commit()
}

func (w *Writer) end() error {
	if w.put {
		return nil
	}
	err := w.open()
	if err == nil {
		err = w.elements.Close()
	}
	if err != nil {
		w.Abort()
	}
	return err
}

// Keep ends this run: it flushes what is written to the disk and leaves it for a
// run with CreateOptions.Resume. It returns how many bytes of the file are kept.
// Where the file is not resumable, or nothing is written, it aborts and returns 0.
// After Commit or Abort it does nothing.
func (w *Writer) Keep() (kept int64) {
	if w.parts == nil {
		w.Abort()
		return 0
	}
	return w.parts.Keep()
}

// Abort discards what is written, an earlier run's part included. After Commit or
// Keep it does nothing, so that it can be deferred. It takes nothing back from a
// stream, a pipe or a device.
func (w *Writer) Abort() {
	if w.sink != nil {
		w.sink.Abort()
	}
}

// A paced writer checks its context once a mebibyte, and reports progress.
type paced struct {
	ctx         context.Context
	w           io.Writer
	progress    func(done, total int64)
	done, total int64
}

func (p *paced) Write(b []byte) (int, error) {
	const piece = 1 << 20
	n := 0
	for {
		if p.ctx.Err() != nil {
			return n, context.Cause(p.ctx)
		}
		k, err := p.w.Write(b[n:min(len(b), n+piece)])
		n += k
		p.done += int64(k)
		if p.progress != nil {
			p.progress(p.done, p.total)
		}
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// FilesOf lists every file that operands are read from: their own files, those that
// a pattern matches, and the others of the models that those are part of, such as
// the files of a split GGUF model and those of a safetensors index. What is written
// while the operands are read must be none of them. Each operand is in the list
// itself too, because a file may be named as an operand of another is. It reads the
// headers and indexes that name other files, and ignores what it cannot read.
func FilesOf(operands ...string) []string {
	var all []string
	listed := map[string]bool{}
	add := func(paths ...string) {
		for _, path := range paths {
			if !listed[path] {
				listed[path] = true
				all = append(all, path)
			}
		}
	}
	for _, text := range operands {
		add(text)
		p, err := Parse(text)
		if err != nil || p.IsURL() {
			continue
		}
		paths, err := p.files()
		if err != nil {
			continue
		}
		for _, path := range paths {
			add(path)
			if p.Format.Files != nil {
				add(p.Format.Files(path)...)
			}
		}
	}
	return all
}
