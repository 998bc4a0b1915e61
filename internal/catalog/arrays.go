package catalog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/gguf"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// An ArrayFormat is a kind of file that holds arrays.
type ArrayFormat struct {
	Name       string
	Extensions []string // by which its files are known, in small letters
	Named      bool     // a file holds several arrays: FILE#NAME
	Sole       bool     // the format itself lets the name go where there is one
	Headerless bool     // a file does not say what it holds: ArrayOptions do
	Writes     bool     // results can be written
	Result     string   // a result's name, where it needs one and has none

	layout func(path, name string, o ArrayOptions) (layout.Array, error)
	list   func(path string, o ArrayOptions) ([]ArrayInfo, error)
	memory func(path, name string, o ArrayOptions) (*Opened, error)                 // of arrays without a layout; nil: there are none
	form   func(name string, spec garner.Spec) (layout.Form, error)                 // nil: the file is no header and elements
	writer func(w io.Writer, name string, spec garner.Spec) (*layout.Writer, error) // where there is no form
}

// arrayFormats has every format.
var arrayFormats = []ArrayFormat{
	{Name: "npy", Extensions: []string{".npy"}, Writes: true, layout: npyLayout, list: npyList, memory: npyMemory, form: npyForm},
	{Name: "npz", Extensions: []string{".npz"}, Named: true, Sole: true, Writes: true, Result: "arr_0", layout: npzLayout, list: npzList, memory: npzMemory, writer: npz.NewWriter},
	{Name: "safetensors", Extensions: []string{".safetensors", safetensors.IndexSuffix}, Named: true, Writes: true, Result: "output", layout: safetensorsLayout, list: safetensorsList, form: safetensorsForm},
	{Name: "gguf", Extensions: []string{".gguf"}, Named: true, Writes: true, Result: "output", layout: ggufLayout, list: ggufList, form: gguf.Form},
	{Name: "raw", Extensions: []string{".raw", ".bin"}, Headerless: true, Writes: true, layout: rawLayout, list: rawList, form: rawForm},
}

// ArrayFormats lists every format.
func ArrayFormats() []ArrayFormat { return slices.Clone(arrayFormats) }

// FormatOf is the format of a file by its name, and the extension that says so.
func FormatOf(path string) (f ArrayFormat, extension string, ok bool) {
	lower := strings.ToLower(path)
	for _, format := range arrayFormats {
		for _, e := range format.Extensions {
			if strings.HasSuffix(lower, e) && len(e) > len(extension) {
				f, extension, ok = format, e, true
			}
		}
	}
	return f, extension, ok
}

// Unnamed reports whether the name of an array may be left out: a file, and not
// a pattern, holds it alone.
func Unnamed(path string) bool {
	f, _, _ := FormatOf(path)
	return f.Sole || f.Named && sole(f, path, ArrayOptions{}) != ""
}

// sole is the name of the only array that a file holds, "" where that cannot be
// said.
func sole(f ArrayFormat, path string, o ArrayOptions) string {
	if IsPattern(path) {
		return ""
	}
	list, err := f.list(path, o)
	if err != nil || len(list) != 1 {
		return ""
	}
	return list[0].Name
}

// ParseOperand takes an operand apart: FILE, or FILE#NAME where the format has
// names. ok is false where it is of no format.
func ParseOperand(text string) (f ArrayFormat, path, name string, ok bool) {
	lower, at, end := strings.ToLower(text), len(text), 0
	for _, format := range arrayFormats {
		for _, e := range format.Extensions {
			if k := strings.Index(lower, e+"#"); format.Named && k >= 0 && k < at {
				at, end, f, ok = k, k+len(e), format, true
			}
		}
	}
	if ok {
		return f, text[:end], text[end+1:], true
	}
	f, _, ok = FormatOf(text)
	return f, text, "", ok
}

// ArrayOptions say how to read an array. What a format has no use for is a
// garner.ErrAttribute where it is given.
type ArrayOptions struct {
	DType  garner.DType // of bytes that do not say what they are; else Invalid, or just what they are
	Shape  []int        // of a file without a header; raw.Any for what its size tells; nil: not given
	Offset int64        // of the first element of such a file, in bytes
	Raw    bool         // blocks of quantised tensors, instead of numbers

	// InPlace refuses, as a layout.ErrMemory, what can only be read whole.
	InPlace bool

	// Inflated is told how much of a compressed array is there, as npz.Options
	// has it.
	Inflated func(done, total int64)
}

// check refuses what the format has no use for.
func (o ArrayOptions) check(f ArrayFormat, operand string) error {
	switch {
	case (o.Shape != nil || o.Offset != 0) && !f.Headerless:
		return garner.Errorf(garner.ErrAttribute, "%s says itself what its shape is and where it begins; --shape and --offset are for files without a header, .raw and .bin", operand)
	case o.Raw && f.Name != "gguf":
		return garner.Errorf(garner.ErrAttribute, "%s has no quantised blocks; --raw is for those of .gguf", operand)
	}
	return nil
}

// An Opened is an array of one or more files.
type Opened struct {
	Array source.Array // nil for strings, which only Tensor has
	Paths []string     // of its files
	Descr string       // NumPy's name of the dtype, where it matters to what is written: of strings

	tensor garner.Tensor // of an array that is in memory
	closer func() error
}

// OpenArray opens an operand: FILE, FILE#NAME, or a pattern such as part-*.npy
// of files that are joined along axis 0. The files that match come in numeric
// order: part-2 before part-10. They must be of one dtype, stored alike, and of
// the same extents but for the first.
//
// Arrays that can only be read whole (strings, compressed members, values of
// less than a byte in .npy) are read here; of all others headers alone.
func OpenArray(operand string, o ArrayOptions) (*Opened, error) {
	f, path, name, ok := ParseOperand(operand)
	if !ok {
		return nil, garner.Errorf(garner.ErrAttribute, "%s is of no format that garner reads: %s", operand, Readable())
	}
	if err := o.check(f, operand); err != nil {
		return nil, err
	}
	if f.Named && !f.Sole && name == "" {
		name = sole(f, path, o)
	}
	paths, err := Expand(path)
	if err != nil {
		return nil, err
	}
	arrays := make([]layout.Array, len(paths))
	for i, p := range paths {
		arrays[i], err = f.layout(p, name, o)
		if errors.Is(err, layout.ErrMemory) && len(paths) == 1 && f.memory != nil && !o.InPlace {
			return f.memory(p, name, o)
		}
		if err != nil {
			return nil, err
		}
		if d := arrays[i].Spec.DType; o.DType != garner.Invalid && o.DType != d {
			return nil, garner.Errorf(garner.ErrDType, "%s is %s itself and the dtype asked for is %s; leave that out", operand, d, o.DType)
		}
	}
	if err := distinct(operand, paths, arrays); err != nil {
		return nil, err
	}
	joined, err := layout.Join(arrays)
	if err != nil {
		return nil, err
	}
	file, err := joined.Open()
	if err != nil {
		return nil, err
	}
	opened := &Opened{Array: file, closer: file.Close}
	for _, s := range joined.Segments {
		if !slices.Contains(opened.Paths, s.Path) {
			opened.Paths = append(opened.Paths, s.Path)
		}
	}
	return opened, nil
}

// distinct refuses a pattern by which one array is found twice, as each file of
// a split model finds it.
func distinct(operand string, paths []string, arrays []layout.Array) error {
	at := map[source.Segment]string{}
	for i, a := range arrays {
		for _, s := range a.Segments {
			if before, twice := at[s]; twice && s.Bytes > 0 {
				return garner.Errorf(garner.ErrAttribute, "%s finds the same array by %s and by %s, which are parts of one model; name one of them", operand, before, paths[i])
			}
			at[s] = paths[i]
		}
	}
	return nil
}

// Expand is the files that a pattern of filepath.Match matches, in numeric
// order. A path that is no pattern, or the name of a file as it stands, is that.
func Expand(path string) ([]string, error) {
	if !IsPattern(path) {
		return []string{path}, nil
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return nil, garner.Errorf(err, "%s is no pattern of file names (%v); write it as part-*.npy", path, err)
	}
	if len(found) == 0 {
		return nil, garner.Errorf(fs.ErrNotExist, "no file matches %s; check the pattern and the folder", path)
	}
	slices.SortFunc(found, names.Numeric)
	return found, nil
}

// IsPattern reports whether a path stands for all files that match it.
func IsPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	_, err := os.Lstat(path)
	return err != nil
}

// Spec is the array's dtype and dims.
func (o *Opened) Spec() garner.Spec {
	if o.Array == nil {
		return o.tensor.Spec()
	}
	return o.Array.Spec()
}

// Tensor is the array in memory: a view of a mapped file where it can be one,
// which is good until Close, else a copy.
func (o *Opened) Tensor(ctx context.Context) (garner.Tensor, error) {
	if o.tensor.DType() != garner.Invalid {
		return o.tensor, nil
	}
	if f, ok := o.Array.(*source.File); ok {
		if t, ok := f.Tensor(); ok {
			return t, nil
		}
	}
	t, err := layout.Read(ctx, o.Array)
	if err == nil {
		o.tensor = t
	}
	return t, err
}

// Close closes the files.
func (o *Opened) Close() error {
	if o.closer == nil {
		return nil
	}
	return o.closer()
}

// inMemory is an array that was read whole.
func inMemory(t garner.Tensor, path, descr string, closer func() error) *Opened {
	o := &Opened{Paths: []string{path}, Descr: descr, tensor: t, closer: closer}
	if t.DType() != garner.String {
		o.Array = source.Memory(t)
	}
	return o
}

// An ArrayInfo is what a header says of an array.
type ArrayInfo struct {
	Name  string       // "" where the format has no names
	Kind  string       // the dtype as the format names it: "<f4", "BF16", "Q8_0"
	DType garner.DType // of what is read; Invalid where nothing is
	Shape garner.Shape // nil where it is not known
	Bytes int64        // in the file; -1 where they are not known
	Path  string       // of the file that it stands in
	Note  string       // what else there is to know: why it is not read, or only whole
}

// List tells what the files are of that a path or a pattern names, without
// reading data.
func List(path string, o ArrayOptions) ([]ArrayInfo, error) {
	f, _, ok := FormatOf(path)
	if !ok {
		return nil, garner.Errorf(garner.ErrAttribute, "%s is of no format that garner reads: %s", path, Readable())
	}
	if err := o.check(f, path); err != nil {
		return nil, err
	}
	paths, err := Expand(path)
	if err != nil {
		return nil, err
	}
	var all []ArrayInfo
	for _, p := range paths {
		found, err := f.list(p, o)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Readable says in words which files are read.
func Readable() string {
	var all []string
	for _, f := range arrayFormats {
		for _, e := range f.Extensions {
			if f.Named {
				e += "#NAME"
			}
			all = append(all, e)
		}
	}
	return strings.Join(all, ", ")
}

// Writable says in words which files are written.
func Writable() string {
	var all []string
	for _, f := range arrayFormats {
		if f.Writes {
			all = append(all, f.Extensions[0])
		}
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// Form is how a file of the format looks that holds one array; ok is false where
// it is more than a header and elements, and cannot be gone on with in its
// middle.
func (f ArrayFormat) Form(name string, spec garner.Spec) (form layout.Form, ok bool, err error) {
	if f.form == nil {
		return layout.Form{}, false, nil
	}
	form, err = f.form(name, spec)
	return form, true, err
}

// NewWriter writes what stands before the elements of an array, and answers what
// takes those. Strings are a garner.ErrDType.
func (f ArrayFormat) NewWriter(w io.Writer, name string, spec garner.Spec) (*layout.Writer, error) {
	if f.form == nil {
		return f.writer(w, name, spec)
	}
	form, err := f.form(name, spec)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}

func npyLayout(path, _ string, o ArrayOptions) (layout.Array, error) {
	return npy.Layout(path, npy.Options{DType: o.DType})
}

func npyMemory(path, _ string, o ArrayOptions) (*Opened, error) {
	f, err := npy.Open(path, npy.Options{DType: o.DType})
	if err != nil {
		return nil, err
	}
	return inMemory(f.Tensor(), path, f.Descr(), f.Close), nil
}

func npyForm(_ string, spec garner.Spec) (layout.Form, error) { return npy.Form(spec) }

func npyList(path string, o ArrayOptions) ([]ArrayInfo, error) {
	info, _, err := npy.Stat(path, npy.Options{DType: o.DType})
	if err != nil && !errors.Is(err, layout.ErrMemory) && (!errors.Is(err, garner.ErrDType) || info.Descr == "") {
		return nil, err
	}
	a := npyInfo(info, err)
	a.Path, a.Bytes = path, info.Bytes
	return []ArrayInfo{a}, nil
}

// npyInfo is what a .npy header says; err is why it has no layout.
func npyInfo(info npy.Info, err error) ArrayInfo {
	a := ArrayInfo{Kind: info.Descr, DType: info.DType, Shape: info.Shape}
	switch {
	case errors.Is(err, layout.ErrMemory):
		a.Note = "read whole"
	case err != nil:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the name of the file, or of the array in it
		}
		a.DType, a.Note = garner.Invalid, strings.TrimPrefix(err.Error(), "garner: ")
	case info.Fortran && len(info.Shape) > 1:
		a.Note = "Fortran order"
	}
	return a
}

func npzLayout(path, name string, o ArrayOptions) (layout.Array, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType})
	if err != nil {
		return layout.Array{}, err
	}
	defer f.Close()
	return f.Layout(name)
}

func npzMemory(path, name string, o ArrayOptions) (*Opened, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType, Inflated: o.Inflated})
	if err != nil {
		return nil, err
	}
	a, err := f.Array(name)
	if err != nil {
		f.Close()
		return nil, err
	}
	return inMemory(a.Tensor, path, a.Descr, f.Close), nil
}

func npzList(path string, o ArrayOptions) ([]ArrayInfo, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []ArrayInfo
	for _, info := range f.List() {
		a := npyInfo(info.Info, info.Err)
		a.Name, a.Path, a.Bytes = info.Name, path, info.Packed
		if info.Deflated && info.Err == nil {
			a.Note = "compressed, read whole"
		}
		all = append(all, a)
	}
	return all, nil
}

func safetensorsLayout(path, name string, _ ArrayOptions) (layout.Array, error) {
	return safetensors.Layout(path, name)
}

func safetensorsForm(name string, spec garner.Spec) (layout.Form, error) {
	return safetensors.Form(name, spec, nil)
}

func safetensorsList(path string, _ ArrayOptions) ([]ArrayInfo, error) {
	l, err := safetensors.List(path)
	if err != nil {
		return nil, err
	}
	var all []ArrayInfo
	for _, t := range l.Tensors() {
		a := ArrayInfo{Name: t.Name, Kind: t.Kind, DType: t.DType, Shape: t.Shape, Bytes: t.Bytes, Path: t.Path}
		if t.DType == garner.Invalid {
			a.Note = "not read"
		}
		all = append(all, a)
	}
	return all, nil
}

func ggufLayout(path, name string, o ArrayOptions) (layout.Array, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return layout.Array{}, err
	}
	return f.Layout(name, gguf.Options{Raw: o.Raw})
}

func ggufList(path string, o ArrayOptions) ([]ArrayInfo, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	var all []ArrayInfo
	for _, t := range f.Tensors() {
		a := ArrayInfo{Name: t.Name, Kind: t.Kind, DType: t.DType, Shape: t.Shape, Bytes: t.Bytes, Path: t.Path}
		// What one would get.
		if at, err := f.Layout(t.Name, gguf.Options{Raw: o.Raw}); err == nil {
			a.DType = at.Spec.DType
			a.Shape, _ = at.Spec.Shape()
		} else if _, err := f.Layout(t.Name, gguf.Options{Raw: true}); err == nil {
			a.DType, a.Note = garner.Invalid, "only with --raw"
		} else {
			a.DType, a.Note = garner.Invalid, "not read"
		}
		all = append(all, a)
	}
	return all, nil
}

func rawLayout(path, _ string, o ArrayOptions) (layout.Array, error) {
	return raw.Layout(path, raw.Options{DType: o.DType, Shape: o.Shape, Offset: o.Offset})
}

func rawForm(_ string, spec garner.Spec) (layout.Form, error) { return raw.Form(spec) }

func rawList(path string, o ArrayOptions) ([]ArrayInfo, error) {
	asked := o
	if o.DType == garner.Invalid {
		asked.DType, asked.Shape = garner.U8, nil
	}
	at, err := rawLayout(path, "", asked)
	if err != nil {
		return nil, err
	}
	a := ArrayInfo{DType: asked.DType, Bytes: at.Segments[0].Bytes, Path: path}
	a.Shape, _ = at.Spec.Shape()
	if o.DType == garner.Invalid {
		a.Note = "bytes; say what they are with --dtype, --shape and --offset"
	}
	return []ArrayInfo{a}, nil
}
