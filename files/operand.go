package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// An Operand is a parsed name of an array.
type Operand struct {
	Format Format // zero for a URL
	Path   string // a file, a pattern of files, or a URL
	Name   string // the array in the file; "" where none is given

	text   string
	scheme *Scheme
}

// Parse parses an operand: FILE, FILE#NAME, a pattern of either, a folder, or a URL of
// a registered scheme. The extension of FILE tells its format; a file that has none
// that is known, such as /dev/fd/63, is opened for its first bytes, which tell it,
// and no other is. The bytes of a named pipe tell its format, unless that has names.
// A folder is of the format whose Format.Folder is in it, and Path is that file. The prefix
// of a checkpoint of TensorFlow, and a folder of checkpoints, stand for the index, and Path is
// that. An operand of no format, and a URL of no registered scheme, are a garner.ErrAttribute.
func Parse(text string) (Operand, error) {
	if s := schemeOf(text); s != nil {
		url, name, _ := strings.Cut(text, "#")
		return Operand{Path: url, Name: name, text: text, scheme: s}, nil
	}
	if err := NoURL(text); err != nil {
		return Operand{}, err
	}
	// The name begins behind the first extension with a #: a.npz#b.gguf#c is array
	// b.gguf#c of a.npz.
	p, at := Operand{Path: text, text: text}, len(text)
	lower, found := lowerASCII(text), false
	for _, format := range formats() {
		for _, e := range format.all() {
			if k := strings.Index(lower, e+"#"); format.Named && k >= 0 && k < at {
				at, found, p.Format = k, true, format
				p.Path, p.Name = text[:k+len(e)], text[k+len(e)+1:]
			}
		}
	}
	if found {
		return p, nil
	}
	format, _, ok := formatOf(text)
	if ok {
		if p.Format = format; !format.Named && isPipe(text) {
			p.Format = stream
		}
		return p, nil
	}
	if path, name, cut := strings.Cut(text, "#"); cut {
		if format, _, ok := formatOf(path); ok {
			return Operand{}, garner.Errorf(garner.ErrAttribute, "%s: a %s file holds one array, which has no name; leave #%s out", text, format.Extensions[0], name)
		}
	}
	if format, path, name, ok := beginning(text); ok {
		if name != "" && !format.Named {
			what := "a pipe"
			if format.Folder != "" {
				what = "a folder"
			}
			return Operand{}, garner.Errorf(garner.ErrAttribute, "%s: %s holds one array, which has no name; leave #%s out", text, what, name)
		}
		p.Format, p.Path, p.Name = format, path, name
		return p, nil
	}
	if err := refuseForeign(text); err != nil {
		return Operand{}, err
	}
	if err := noArray(text); err != nil {
		return Operand{}, err
	}
	if text == "" {
		return Operand{}, unknownError{garner.Errorf(garner.ErrAttribute, "the name of a file is empty (\"\"); name what garner reads: %s", Readable())}
	}
	return Operand{}, unknownError{garner.Errorf(garner.ErrAttribute, "%s is of no format that garner reads: %s", text, Readable())}
}

// ErrUnknown is the class of operands that are of no format, by their name and by
// their first bytes. They are a garner.ErrAttribute too.
var ErrUnknown = errors.New("of no known format")

// An unknownError is an ErrUnknown.
type unknownError struct{ error }

func (unknownError) Is(target error) bool { return target == ErrUnknown }
func (e unknownError) Unwrap() error      { return e.error }

// ErrForeign is the class of those of ErrUnknown that are known all the same: a file or a
// folder of a format that garner does not read, and a folder that is no array. The message
// says what to name or to save instead.
var ErrForeign = errors.New("of a format that is known and not read")

// A foreignError is an ErrForeign.
type foreignError struct{ error }

func (foreignError) Is(target error) bool { return target == ErrForeign || target == ErrUnknown }
func (e foreignError) Unwrap() error      { return e.error }

// NoURL refuses the URL of a scheme that is not registered, such as https, unless
// a file has that name. The error is a garner.ErrAttribute.
func NoURL(text string) error { return noURL(text, "download the file and name it") }

// NoOutputURL is NoURL of what is written.
func NoOutputURL(text string) error { return noURL(text, "write a file and copy it there") }

func noURL(text, remedy string) error {
	scheme, ok := mapped.URL(text)
	if !ok || schemeOf(text) != nil {
		return nil
	}
	if path, _, _ := strings.Cut(text, "#"); exists(path) || exists(text) {
		return nil
	}
	if strings.EqualFold(scheme, "file") {
		return garner.Errorf(garner.ErrAttribute, "%s is a URL; name the file by its path", text)
	}
	return garner.Errorf(garner.ErrAttribute, "%s is a URL, and no scheme %s:// is registered; %s", text, scheme, remedy)
}

// isPipe reports whether a path is that of a named pipe.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// beginning finds the format of a file, FILE or FILE#NAME, by its first bytes, that of a
// folder by the files in it, and that of the prefix of a checkpoint by its index. ok is false
// where there is none, or it is of no format.
func beginning(text string) (format Format, path, name string, ok bool) {
	path = text
	info, err := os.Stat(path)
	if err != nil {
		path, name, _ = strings.Cut(text, "#")
		if index, ok := checkpointOf(text); ok {
			format, ok = FormatByName("tensorflow")
			return format, index, "", ok
		}
		if info, err = os.Stat(path); err != nil {
			index, ok := checkpointOf(path)
			if ok {
				format, ok = FormatByName("tensorflow")
			}
			return format, index, name, ok
		}
	}
	switch {
	case info.IsDir():
		for _, f := range formats() {
			if file := filepath.Join(path, f.Folder); f.Folder != "" && exists(file) {
				return f, file, name, true
			}
		}
		index, ok := checkpointOf(path)
		if ok {
			format, ok = FormatByName("tensorflow")
		}
		return format, index, name, ok
	case !info.Mode().IsRegular():
		return stream, path, name, true
	}
	head := headOf(path)
	if isTorch(head) || isKeras(head) {
		return format, path, name, false // it begins as .npz does, and has none of its arrays
	}
	for _, f := range formats() {
		if f.Begins != nil && f.Begins(head) && (f.Named || path == text) {
			return f, path, name, true
		}
	}
	return format, path, name, false
}

// noArray is the error of a folder that no file makes an array; nil for what is no
// folder.
func noArray(text string) error {
	if info, err := os.Stat(text); err != nil || !info.IsDir() {
		return nil
	}
	var all []string
	for _, f := range formats() {
		if f.Folder != "" {
			all = append(all, f.Folder)
		}
	}
	return foreignError{garner.Errorf(garner.ErrAttribute, "%s is a folder without %s, by which a folder is an array; name a file, or wait for the job that writes the folder", text, strings.Join(all, " or "))}
}

// lowerASCII is a text of the same length with the letters A to Z in lower case.
// strings.ToLower changes the length of some texts, and with it where a name
// begins.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// String is the operand as it was parsed.
func (p Operand) String() string { return p.text }

// IsPattern reports whether the path stands for all files that match it. A path
// that is the name of a file as it stands is no pattern.
func (p Operand) IsPattern() bool { return p.scheme == nil && isPattern(p.Path) }

func isPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	_, err := os.Lstat(path)
	return err != nil
}

// IsURL reports whether a registered scheme opens the operand.
func (p Operand) IsURL() bool { return p.scheme != nil }

// NeedsName reports whether the operand lacks the name of an array: the format
// has names, none is given, and the path is a pattern, or a file that does not
// have exactly one array. It reads the file's headers.
func (p Operand) NeedsName() bool {
	if !p.Format.Named || p.Name != "" {
		return false
	}
	return p.text != p.Path || !p.Format.Sole && p.sole(Options{}) == ""
}

// sole is the name of the only array that the file has, or each file of a pattern; "" where
// one has others, or cannot be read.
func (p Operand) sole(o Options) (name string) {
	paths, err := p.files()
	if err != nil {
		return ""
	}
	for i, path := range paths {
		list, err := p.Format.List(path, o)
		if err != nil || len(list) != 1 || i > 0 && list[0].Name != name {
			return ""
		}
		name = list[0].Name
	}
	return name
}

// files lists the files that the path means, those of a pattern in numeric
// order: part-2 before part-10.
func (p Operand) files() ([]string, error) {
	if !isPattern(p.Path) {
		return []string{p.Path}, nil
	}
	found, err := filepath.Glob(p.Path)
	if err != nil {
		return nil, garner.Errorf(err, "%s is no pattern of file names (%v); write it as part-*.npy", p.Path, err)
	}
	if len(found) == 0 {
		return nil, garner.Errorf(fs.ErrNotExist, "no file matches %s; check the pattern and the folder", p.Path)
	}
	slices.SortFunc(found, names.Numeric)
	return found, nil
}

// Open opens the operand's array; of a file it reads the header alone. It joins
// the files of a pattern along axis 0: they have one dtype, one encoding,
// row-major order, and the same extents except for the first.
//
// Strings, compressed members, and values of less than a byte in .npy have no
// layout in their file: Open reads them into memory, unless o.InPlace is set.
//
// Errors: fs.ErrNotExist for a file or a name that does not exist;
// garner.ErrAttribute for an option that the format has no use for, and for a
// missing name; garner.ErrShape or garner.ErrDType for files that cannot be
// joined; and those of the format's reader.
func (p Operand) Open(ctx context.Context, o Options) (*Input, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if p.scheme != nil {
		return p.scheme.Open(ctx, p.Path, p.Name, o)
	}
	if err := o.check(p.Format, p.text); err != nil {
		return nil, err
	}
	name, err := p.name(o)
	if err != nil {
		return nil, err
	}
	paths, err := p.files()
	if err != nil {
		return nil, err
	}
	if p.Format.Layout == nil {
		if len(paths) > 1 {
			return nil, garner.Errorf(garner.ErrAttribute, "%s matches %d files, and those of format %s are read one at a time; name one of them", p.text, len(paths), p.Format.Name)
		}
		return p.Format.Open(ctx, paths[0], name, o)
	}
	arrays := make([]layout.Array, len(paths))
	for i, path := range paths {
		arrays[i], err = p.Format.Layout(path, name, o)
		if errors.Is(err, layout.ErrMemory) && len(paths) == 1 && p.Format.Open != nil && !o.InPlace {
			return p.Format.Open(ctx, path, name, o)
		}
		if len(paths) == 1 && o.isSpread(err) {
			s, err := openSpread(path, o)
			if err != nil {
				return nil, err
			}
			return &Input{Array: s, Paths: paths}, nil
		}
		if err != nil {
			return nil, err
		}
		if d := arrays[i].Spec.DType; o.DType != garner.Invalid && o.DType != d {
			return nil, garner.Errorf(garner.ErrDType, "%s is %s itself and the dtype asked for is %s; leave that out", p.text, d, o.DType)
		}
	}
	if err := distinct(p.text, paths, arrays); err != nil {
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
	in, listed := &Input{Array: file, Paths: paths}, map[string]bool{}
	for _, path := range paths {
		listed[path] = true
	}
	for _, s := range joined.Segments {
		if !listed[s.Path] {
			listed[s.Path] = true
			in.Paths = append(in.Paths, s.Path)
		}
	}
	return in, nil
}

// name is the name under which the format looks for the array.
func (p Operand) name(o Options) (string, error) {
	if !p.Format.Named || p.Format.Sole || p.Name != "" {
		return p.Name, nil
	}
	bad := func(has string) error {
		return garner.Errorf(garner.ErrAttribute, "%s names no array: write %s#NAME%s", p.text, p.Path, has)
	}
	if p.IsPattern() {
		if name := p.sole(o); name != "" {
			return name, nil
		}
		return "", bad("")
	}
	list, err := p.Format.List(p.Path, o)
	switch {
	case err != nil:
		return "", err
	case len(list) == 1:
		return list[0].Name, nil
	}
	all := make([]string, len(list))
	for i, a := range list {
		all[i] = a.Name
	}
	return "", bad("; " + names.First(all))
}

// distinct refuses a pattern that finds one array twice: each file of a split
// model finds the arrays of all its files.
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
