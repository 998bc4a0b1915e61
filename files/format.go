package files

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
)

// A Format reads and writes files of one kind. Its functions are safe for
// concurrent use, and their errors name the file.
type Format struct {
	Name       string   // such as "npy"
	Extensions []string // of its files: lower case, with the dot; messages name the first
	Indexes    []string // extensions of files that say where the arrays of a model are: read, never written
	Folder     string   // name of the file that makes the folder around it an array: FOLDER means FOLDER/Folder
	Named      bool     // a file has several arrays: FILE#NAME
	Sole       bool     // Layout and Open take "" as the name of the only array of a file
	Headerless bool     // a file does not say what it has: it needs Options.DType, and takes Shape and Offset
	Quantised  bool     // Options.Raw means something
	Result     string   // name of a written array that is given none; "" where arrays have no names

	// Begins reports whether a file that begins with head, 512 bytes or the whole
	// file, is of the format; it tells the format of a file without an extension that
	// is known. nil: only the extension tells.
	Begins func(head []byte) bool

	// Layout says where an array lies in its file; name is "" where the format
	// has no names. An array with a layout is read in place, and a pattern can join
	// it with others. An array without one is an ErrMemory. nil: no array has one.
	Layout func(path, name string, o Options) (layout.Array, error)

	// Open opens an array that has no layout; with o.InPlace it refuses, as an
	// ErrMemory, to read one whole. nil: every array has a layout.
	Open func(ctx context.Context, path, name string, o Options) (*Input, error)

	// List reads the headers of a file.
	List func(path string, o Options) ([]Info, error)

	// listed gives the name that List has of an array that Open and Layout take by a shorter or a
	// longer one too; "" where there is none. nil: List has every name that they take.
	listed func(path, name string, o Options) string

	// Files lists the files of the model that a file is part of, as far as it can
	// find them, so that no result is written onto one of them. nil: each file is
	// by itself.
	Files func(path string) []string

	// Form is the header and the trailer of a file with one array; its elements lie
	// between them as in memory. Such a file is resumable. nil: see NewWriter.
	Form func(name string, spec garner.Spec) (layout.Form, error)

	// NewWriter begins a file with one array on w; it is used where Form is nil. The
	// result takes the elements, row-major and little-endian; Close ends the file.
	// Both nil: the format is not written.
	NewWriter func(w io.Writer, name string, spec garner.Spec) (io.WriteCloser, error)

	// Strings writes a file with one tensor of strings; descr is as
	// Input.Descr. nil: the format has no strings.
	Strings func(w io.Writer, name string, t garner.Tensor, descr string) error
}

// A Scheme opens URLs, such as those that begin with s3://. Its functions are
// safe for concurrent use, and their errors name the URL.
type Scheme struct {
	Name string // the URL up to "://", lower case

	// Open opens the array of a URL. name is what stands behind the first #.
	Open func(ctx context.Context, url, name string, o Options) (*Input, error)

	// List lists what a URL has. nil: it cannot be listed.
	List func(ctx context.Context, url string, o Options) ([]Info, error)

	// Create begins an object, whose bytes are those of a file of the format that
	// the URL's extension names. nil: nothing is written.
	Create func(ctx context.Context, url string) (Sink, error)
}

// A Sink takes the bytes of an object. Commit makes the object appear, whole;
// Abort discards it, and does nothing after Commit.
type Sink interface {
	io.Writer
	Commit() error
	Abort()
}

var registry = struct {
	sync.RWMutex
	formats []Format
	schemes []Scheme
}{}

// Not as the value that registry begins with: one format, of shards, looks up the others.
func init() { registry.formats = builtin }

// Register adds a format; call it from an init function. It panics if the format
// lacks a name, an extension or a way to read, and if its name, its folder's file or
// one of its extensions is registered already. It is safe for concurrent use.
func Register(f Format) {
	registry.Lock()
	defer registry.Unlock()
	if f.Name == "" || len(f.Extensions) == 0 || f.Layout == nil && f.Open == nil || f.List == nil {
		panic("files: a format needs a Name, Extensions, Layout or Open, and List")
	}
	if f.Folder != "" && (!filepath.IsLocal(f.Folder) || filepath.Base(f.Folder) != f.Folder) {
		panic("files: format " + f.Name + ": " + f.Folder + " is no name of a file in a folder")
	}
	for i, e := range f.all() {
		if len(e) < 2 || e[0] != '.' || e != strings.ToLower(e) || strings.Contains(e, "#") {
			panic("files: format " + f.Name + ": " + e + " is no extension; write it in lower case, with its dot and without #")
		}
		if slices.Contains(f.all()[:i], e) {
			panic("files: format " + f.Name + ": extension " + e + " is given twice")
		}
	}
	for _, other := range registry.formats {
		if other.Name == f.Name {
			panic("files: format " + f.Name + " is registered twice")
		}
		if f.Folder != "" && other.Folder == f.Folder {
			panic("files: format " + f.Name + ": a folder with " + f.Folder + " belongs to format " + other.Name)
		}
		for _, e := range f.all() {
			if slices.Contains(other.all(), e) {
				panic("files: format " + f.Name + ": extension " + e + " belongs to format " + other.Name)
			}
		}
	}
	f.Extensions, f.Indexes = slices.Clone(f.Extensions), slices.Clone(f.Indexes)
	// A new slice, so that readers need no lock for the one that they have.
	registry.formats = append(slices.Clone(registry.formats), f)
}

// RegisterScheme adds a scheme of URLs; call it from an init function. It panics
// if the scheme lacks Open, if no URL can begin with its name, and if its name is
// registered already. It is safe for concurrent use.
func RegisterScheme(s Scheme) {
	registry.Lock()
	defer registry.Unlock()
	if s.Open == nil || s.Name == "" || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		panic("files: a scheme needs Open and a Name of lower-case letters, digits, +, - and ., such as s3")
	}
	if slices.ContainsFunc(registry.schemes, func(other Scheme) bool { return other.Name == s.Name }) {
		panic("files: scheme " + s.Name + " is registered twice")
	}
	registry.schemes = append(slices.Clone(registry.schemes), s)
}

// Formats lists every format, those of this package first.
func Formats() []Format { return slices.Clone(formats()) }

func formats() []Format {
	registry.RLock()
	defer registry.RUnlock()
	return registry.formats
}

// schemeOf finds the scheme of a URL; nil for what is none.
func schemeOf(text string) *Scheme {
	name, _, ok := strings.Cut(text, "://")
	if !ok {
		return nil
	}
	registry.RLock()
	defer registry.RUnlock()
	i := slices.IndexFunc(registry.schemes, func(s Scheme) bool { return s.Name == strings.ToLower(name) })
	if i < 0 {
		return nil
	}
	return &registry.schemes[i]
}

// all lists the extensions by which files are read.
func (f *Format) all() []string { return slices.Concat(f.Extensions, f.Indexes) }

// Writes reports whether results can be written in the format.
func (f Format) Writes() bool { return f.Form != nil || f.NewWriter != nil }

// newWriter begins a file on w.
func (f *Format) newWriter(w io.Writer, name string, spec garner.Spec) (io.WriteCloser, error) {
	if f.Form == nil {
		return f.NewWriter(w, name, spec)
	}
	form, err := f.Form(name, spec)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}

// formatOf finds the format with the longest extension that a path ends in.
func formatOf(path string) (f Format, extension string, ok bool) {
	lower := lowerASCII(path)
	for _, format := range formats() {
		for _, e := range format.all() {
			if strings.HasSuffix(lower, e) && len(e) > len(extension) {
				f, extension, ok = format, e, true
			}
		}
	}
	return f, extension, ok
}

// FormatByName finds a format by its Name.
func FormatByName(name string) (f Format, ok bool) {
	for _, f := range formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// OutputFormat finds the format that a file is written in, by its extension.
// Where there is none the error is a garner.ErrAttribute that lists those that
// there are.
func OutputFormat(path string) (Format, error) {
	if err := NoOutputURL(path); err != nil {
		return Format{}, err
	}
	f, extension, ok := formatOf(path)
	switch {
	case !ok:
		return Format{}, garner.Errorf(garner.ErrAttribute, "%s is of no format that garner writes: %s", path, Writable())
	case !f.Writes() || slices.Contains(f.Indexes, extension):
		return Format{}, garner.Errorf(garner.ErrAttribute, "%s: garner reads %s files and does not write them; it writes %s", path, extension, Writable())
	}
	return f, nil
}

// Readable lists the files and folders that are read, for messages: ".npy, .npz#NAME, ...".
func Readable() string {
	var all []string
	for _, f := range formats() {
		for _, e := range f.all() {
			if f.Named {
				e += "#NAME"
			}
			all = append(all, e)
		}
		if f.Folder != "" {
			all = append(all, "a folder with "+f.Folder)
		}
	}
	return strings.Join(all, ", ")
}

// Writable lists the files that are written, for messages: ".npy, .npz and
// ...".
func Writable() string {
	var all []string
	for _, f := range formats() {
		if f.Writes() {
			all = append(all, f.Extensions[0])
		}
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
