// Package gguf reads and writes files of named tensors in the GGUF format of
// llama.cpp, versions 2 and 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
//
// F16, BF16, F32, F64 and the integers are read unchanged, in either byte order. A
// fetch dequantises rows to f32, bit for bit as the reference does
// (gguf.quants.dequantize of the Python package gguf): of Q4_0, Q4_1, Q5_0, Q5_1 and
// Q8_0; Q2_K, Q3_K, Q4_K, Q5_K and Q6_K; IQ4_NL and IQ4_XS; TQ1_0 and TQ2_0; MXFP4 and
// NVFP4. These and every other quantised kind (Q1_0, Q8_1, Q8_K, IQ1, IQ2, IQ3) can
// also be read as blocks of bytes. A split model (NAME-00001-of-00003.gguf and so on)
// is read as one.
//
// A file lists extents innermost first. This package lists them outermost first, as
// the reference's arrays do.
package gguf

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// A File is the contents of the headers of a model's files. It holds no file open
// and is safe for concurrent use.
type File struct {
	version int
	tensors []Tensor
	byName  map[string]int
	files   []*layout.Header // closed; recognised when opened again
}

// A Tensor describes a tensor as its header does.
type Tensor struct {
	Name  string
	Kind  string       // the format's name of its kind: F32, Q8_0; "kind 31" for an unknown one
	DType garner.DType // dtype of the elements read: f32 for dequantised kinds; Invalid where only blocks can be read, or nothing
	Shape garner.Shape // in elements
	Path  string       // of its file
	At    int64        // its offset in the file, in bytes
	Bytes int64        // its size in the file; -1 for an unknown kind

	kind uint32
	big  bool
	file int
}

// Options for reading a tensor.
type Options struct {
	// Raw reads a quantised tensor as its blocks: u8, with the bytes of a row as the
	// last extent. Other tensors are read as without it.
	Raw bool

	// Blocks reads a tensor of each kind that gguf.GetRows decodes as that operator takes
	// it: as Raw, and one of F16 or BF16, whose blocks are elements, as u8 too. A quantised
	// tensor of a big-endian file is refused, unless Raw is set.
	Blocks bool
}

// Open reads the header of a file, and those of all files of a split model if path
// names any one of them. It keeps the list of tensors in memory and skips the
// metadata. It reads no more entries than the file has bytes for. A violation of the
// format is an ErrFormat that says where.
//
// Open is stricter than the reference: tensors must begin at multiples of the
// alignment, must not overlap, and must lie within the file.
func Open(path string) (*File, error) {
	file, h, err := open(path)
	if err != nil {
		return nil, err
	}
	f := &File{version: h.version}
	paths := []string{path}
	if h.splits > 1 {
		if paths, err = siblings(path, h); err != nil {
			return nil, names.Error(path, err)
		}
	}
	f.byName = make(map[string]int, len(h.tensors))
	for i, p := range paths {
		part, partHeader := file, h
		if p != path {
			if part, partHeader, err = open(p); err != nil {
				return nil, err
			}
		}
		if err := f.add(p, part, partHeader, i, len(paths)); err != nil {
			return nil, names.Error(p, err)
		}
	}
	if h.splits > 1 && h.splitTensors >= 0 && h.splitTensors != int64(len(f.tensors)) {
		return nil, names.Error(path, formatError("its %d files hold %d tensors, and their headers say %d; one of them is of another model: copy all of them again", len(paths), len(f.tensors), h.splitTensors))
	}
	return f, nil
}

func open(path string) (*layout.Header, *head, error) {
	file, err := layout.OpenHeader(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	h, err := parse(file, file.Size())
	if err != nil {
		return nil, nil, names.Error(path, err)
	}
	return file, h, nil
}

// add adds the tensors of the i-th of n files.
func (f *File) add(path string, file *layout.Header, h *head, i, n int) error {
	if n > 1 && (h.splits != int64(n) || h.split != int64(i)) {
		return formatError("its name says that it is file %d of %d, and its header that it is %d of %d; it is of another model, or was renamed: copy all of them again", i+1, n, h.split+1, max(h.splits, 1))
	}
	f.files = append(f.files, file)
	for _, t := range h.tensors {
		if _, twice := f.byName[t.Name]; twice {
			return formatError("it has tensor %s, which another of the model's files has too; copy all of them again", names.Quote(t.Name))
		}
		t.Path, t.file = path, i
		f.byName[t.Name] = len(f.tensors)
		f.tensors = append(f.tensors, t)
	}
	return nil
}

// part matches the end of the name of a file of a split model.
var part = regexp.MustCompile(`-([0-9]{5})-of-([0-9]{5})\.gguf$`)

// siblings returns the names of all files of a split model, given one of them.
func siblings(path string, h *head) ([]string, error) {
	base := filepath.Base(path)
	at := part.FindStringSubmatchIndex(strings.ToLower(base))
	count := int64(-1)
	if at != nil {
		count, _ = strconv.ParseInt(base[at[4]:at[5]], 10, 64)
	}
	if count != h.splits {
		return nil, formatError("its header says it is file %d of %d of a model; give each the name that it had, such as %s-%05d-of-%05d.gguf, so that the others are found",
			h.split+1, h.splits, strings.TrimSuffix(base, ".gguf"), h.split+1, h.splits)
	}
	paths := make([]string, count)
	for i := range paths {
		paths[i] = path[:len(path)-len(base)] + base[:at[2]] + fmt.Sprintf("%05d", i+1) + base[at[3]:]
	}
	if !slices.Contains(paths, path) {
		return nil, formatError("it is named as file %s of %s; there is no such one", base[at[2]:at[3]], base[at[4]:at[5]])
	}
	return paths, nil
}

// Files returns the names of all files of the model that a file is part of, given
// any one of them; the file alone where its header cannot be read.
func Files(path string) []string {
	if part.MatchString(strings.ToLower(filepath.Base(path))) {
		if _, h, err := open(path); err == nil {
			if paths, err := siblings(path, h); err == nil {
				return paths
			}
		}
	}
	return []string{path}
}

// Version returns the format's version in the file: 2 or 3.
func (f *File) Version() int { return f.version }

// Tensors returns all tensors, file by file, in the order of the file's list.
func (f *File) Tensors() []Tensor { return slices.Clone(f.tensors) }

// Names returns the names of the tensors, in the order of Tensors.
func (f *File) Names() []string {
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.Name
	}
	return names
}

// Layout returns the location of a tensor, for opening it or joining it with others.
// An unknown name is an fs.ErrNotExist that lists similar names. An unsupported kind
// is a garner.ErrDType with a remedy, and so is a quantised kind in a big-endian
// file, because no document defines its byte order.
func (f *File) Layout(name string, o Options) (layout.Array, error) {
	i, ok := f.byName[name]
	if !ok {
		return layout.Array{}, names.Error(f.files[0].Path(), garner.Errorf(fs.ErrNotExist, "it has no tensor %s; %s", names.Quote(name), names.Near(name, f.Names())))
	}
	t := &f.tensors[i]
	array, err := t.layout(o)
	if err != nil {
		return layout.Array{}, names.Error(t.Path+": tensor "+names.Quote(name), err)
	}
	array.Segments = []source.Segment{{Path: t.Path, Offset: t.At, Bytes: t.Bytes}}
	array.Headers = []*layout.Header{f.files[t.file]}
	return array, nil
}

// Array opens a tensor. Errors are those of Layout, and of source.Open.
func (f *File) Array(name string, o Options) (*source.File, error) {
	array, err := f.Layout(name, o)
	if err != nil {
		return nil, err
	}
	return array.Open()
}

// OpenArray opens one tensor of a model: Open and Array.
func OpenArray(path, name string, o Options) (*source.File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return f.Array(name, o)
}

// layout returns a tensor's dtype, shape and codec.
func (t *Tensor) layout(o Options) (layout.Array, error) {
	k, ok := kinds[t.kind]
	switch {
	case !ok:
		return layout.Array{}, garner.Errorf(garner.ErrDType, "it is of %s, which neither garner nor the reference knows; convert the model again with a recent llama.cpp, to F16 or Q8_0", t.Kind)
	case k.block == 1 && o.Blocks && decoded(k.name):
		shape := slices.Clone(t.Shape)
		if len(shape) == 0 {
			shape = garner.Shape{1}
		}
		shape[len(shape)-1] *= k.bytes
		array := layout.Array{Spec: garner.SpecOf(garner.U8, shape...)}
		if t.big { // the blocks are of little-endian numbers
			array.Codec = &source.Codec{Elements: k.bytes, Bytes: k.bytes, Decode: layout.Swap(k.dtype).Decode}
		}
		return array, nil
	case k.block == 1:
		array := layout.Array{Spec: garner.SpecOf(k.dtype, t.Shape...)}
		if t.big {
			array.Codec = layout.Swap(k.dtype)
		}
		return array, nil
	case o.Raw || o.Blocks && !t.big:
		shape := slices.Clone(t.Shape)
		last := len(shape) - 1
		shape[last] = shape[last] / k.block * k.bytes
		return layout.Array{Spec: garner.SpecOf(garner.U8, shape...)}, nil
	case k.codec == nil:
		return layout.Array{}, garner.Errorf(garner.ErrDType, "it is quantised as %s, which garner does not dequantise; read its blocks as bytes (Options.Raw), or convert the model with llama-quantize to F16, Q8_0 or Q4_K", k.name)
	case t.big:
		return layout.Array{}, garner.Errorf(garner.ErrDType, "it is quantised as %s in a big-endian file, where writers differ in how the scales stand; convert the file with gguf-convert-endian FILE little, or read its blocks as bytes (Options.Raw)", k.name)
	}
	return layout.Array{Spec: garner.SpecOf(garner.F32, t.Shape...), Codec: k.codec}, nil
}

// byOffset orders tensors by their offsets.
func byOffset(a, b *Tensor) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Name, b.Name))
}
