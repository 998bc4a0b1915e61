package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/format/text"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// ErrMemory is the class of arrays that can only be read whole, into memory:
// strings, compressed members, values of less than a byte in .npy.
var ErrMemory = layout.ErrMemory

// AnyExtent is the one extent of Options.Shape that the size of the file tells.
const AnyExtent = raw.Any

// ErrTooLarge is the class of arrays that must be read whole and take more than
// Options.Memory.
var ErrTooLarge = layout.ErrTooLarge

// A DTypeError is a .npy of another dtype than Options.DType.
type DTypeError = npy.DTypeError

// ParseShape reads extents such as "1000,256", "[?,256]" or "-1 256"; "?" and -1
// are AnyExtent, and "[]" is the shape of a scalar. What is no shape is a
// garner.ErrShape.
func ParseShape(text string) ([]int, error) { return raw.ParseShape(text) }

// Options say how to read an array. The zero Options suit every file that says
// itself what it has. An option that the format has no use for is a
// garner.ErrAttribute.
type Options struct {
	DType  garner.DType // of elements whose file does not say it; else Invalid, or what the file says
	Shape  []int        // of a file without a header, with one AnyExtent at most; nil: one dimension of AnyExtent
	Offset int64        // bytes before the first element of such a file; default 0
	Raw    bool         // read quantised tensors as blocks of u8 instead of dequantising them to f32
	Blocks bool         // read tensors of the kinds of GGUF as the blocks of u8 that gguf.GetRows takes: as Raw, and those of F16 and BF16 too

	// Of a file of a model, whose constants are its arrays, these are as in ModelOptions.
	Lenient   bool
	Signature string

	// Elsewhere is asked for rows of shards that other nodes have. The array of a manifest with
	// such shards is then a *Spread. nil: it is a shards.ErrNode.
	Elsewhere Elsewhere

	// InPlace refuses, as an ErrMemory, an array that can only be read whole.
	InPlace bool

	// Memory is the most bytes that an array may take while it is read into memory. A
	// larger one is an ErrTooLarge: by its header where it has one, else as soon as so
	// much of it has been read. 0 is no limit.
	Memory int64

	// Inflated is told how many bytes of a compressed array have come, and how
	// many there will be: every 32 KiB or so, by the goroutine that opens it.
	Inflated func(done, total int64)
}

// check refuses options that the format has no use for.
func (o Options) check(f Format, operand string) error {
	switch {
	case (o.Shape != nil || o.Offset != 0) && f.Name == stream.Name:
		return garner.Errorf(garner.ErrAttribute, "%s is a pipe or a device, of which .npy and text are read; Options.Shape and Options.Offset are for files without a header: save the elements as FILE.raw", operand)
	case (o.Shape != nil || o.Offset != 0) && !f.Headerless:
		return garner.Errorf(garner.ErrAttribute, "%s says itself what its shape is and where it begins; Options.Shape and Options.Offset are for files without a header, .raw and .bin", operand)
	case (o.Raw || o.Blocks) && !f.Quantised:
		return garner.Errorf(garner.ErrAttribute, "%s has no quantised blocks; Options.Raw is for those of .gguf", operand)
	case o.Lenient && !f.isModel():
		return garner.Errorf(garner.ErrAttribute, "%s is no model; Options.Lenient is for the text of .xml: leave it out", operand)
	case o.Signature != "" && !f.isModel():
		return garner.Errorf(garner.ErrAttribute, "%s is no model; Options.Signature is for those of TensorFlow and TFLite: leave it out", operand)
	}
	return nil
}

// An Array is a source.Array that keeps its files open until Close. One that is
// read in place is a *source.File, so that package source reads it in its fastest
// ways. One that was read into memory has a method Tensor, as a *source.File has.
type Array interface {
	source.Array
	io.Closer
}

// Open opens an array of any format; see Parse for what an operand is, and
// Operand.Open for what is read and what is refused. Strings, which no Array
// holds, are a garner.ErrDType: Tensor reads them.
func Open(ctx context.Context, operand string, o Options) (Array, error) {
	p, err := Parse(operand)
	if err != nil {
		return nil, err
	}
	in, err := p.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if in.Array == nil {
		in.Close()
		return nil, garner.Errorf(garner.ErrDType, "%s is %s, which has no rows of bytes; read it with files.Tensor", operand, in.Spec())
	}
	if a, ok := in.Array.(Array); ok && in.Closer == nil {
		return a, nil
	}
	return &held{in.Array, in}, nil
}

// Tensor gives an array of any format in memory: a view of the mapped file where
// the elements lie there in one piece, little-endian, else a copy. A view is
// Volatile and valid until close; the caller calls close in either case. Errors
// are those of Operand.Open, and *source.ReadErrors.
func Tensor(ctx context.Context, operand string, o Options) (t garner.Tensor, close func() error, err error) {
	p, err := Parse(operand)
	if err != nil {
		return garner.Tensor{}, nil, err
	}
	in, err := p.Open(ctx, o)
	if err != nil {
		return garner.Tensor{}, nil, err
	}
	if t, err = in.Tensor(ctx); err != nil {
		in.Close()
		return garner.Tensor{}, nil, err
	}
	return t, in.Close, nil
}

// held is the Array of an Input that needs more than its Array to be closed.
type held struct {
	source.Array
	in *Input
}

// Tensor is the array in memory; false where it is not there.
func (h *held) Tensor() (garner.Tensor, bool) {
	if v, ok := h.Array.(interface{ Tensor() (garner.Tensor, bool) }); ok {
		return v.Tensor()
	}
	return garner.Tensor{}, false
}

// Changed is what the Array says of its files; nil where it has none.
func (h *held) Changed() error {
	return h.in.Changed()
}

// Close closes the files.
func (h *held) Close() error { return h.in.Close() }

// An Input is an opened array of any dtype, strings included, and the files that
// it comes from. Operand.Open gives one; most programs call Open or Tensor.
type Input struct {
	Array source.Array // a *source.File where it is read in place; nil for strings
	Paths []string     // the files that it is read from; FilesOf adds those of their models
	Descr string       // NumPy's name of the dtype of strings, "<U3" or "|S10"; of no use for other dtypes

	// Closer is closed by Close, besides an Array that is an io.Closer. nil: nothing
	// else to close.
	Closer io.Closer

	tensor garner.Tensor // of an array in memory
}

// Hold is the Input of a tensor, which it does not copy.
func Hold(t garner.Tensor) *Input {
	in := &Input{tensor: t}
	if t.DType() != garner.String {
		in.Array = source.Memory(t)
	}
	return in
}

// streamHead is how many bytes tell what a stream is. No .npy is shorter, so that Read
// reads nothing behind one.
const streamHead = 9

// Read reads an array from a stream into memory: .npy, and nothing behind it; or,
// to the end of the stream, text: integers or a literal, see package text. The first
// bytes tell which. Read uses o.DType and o.Memory alone.
//
// An empty stream, one of another format, which is read from a file alone, and a
// compressed one are an npy.ErrFormat. Other errors are those of npy.OpenReader and text.Read.
func Read(r io.Reader, o Options) (*Input, error) {
	r = &endingReader{from: r}
	head := make([]byte, streamHead)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if head = head[:n]; n == 0 {
		return nil, garner.Errorf(npy.ErrFormat, "the stream is empty; send a .npy, integers as text, or a literal such as [1, 2]")
	}
	if err := fromFilesAlone(head); err != nil {
		return nil, err
	}
	r = io.MultiReader(bytes.NewReader(head), r)
	if printable(head[0]) {
		t, err := text.Read(r, text.Options{DType: o.DType, Memory: o.Memory})
		if err != nil {
			return nil, names.Error("the text", err)
		}
		return Hold(t), nil
	}
	f, err := npy.OpenReader(r, npy.Options{DType: o.DType, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	in := Hold(f.Tensor())
	in.Descr = f.Descr()
	return in, nil
}

// An endingReader stays at the end of a stream. A terminal would wait for more to be
// typed behind it.
type endingReader struct {
	from  io.Reader
	ended bool
}

func (r *endingReader) Read(b []byte) (int, error) {
	if r.ended {
		return 0, io.EOF
	}
	n, err := r.from.Read(b)
	r.ended = err == io.EOF
	return n, err
}

// printable reports whether a text may begin with c: with a letter, a digit, white
// space, or the mark of UTF-8.
func printable(c byte) bool {
	return ' ' <= c && c <= '~' || strings.IndexByte("\t\r\n\xef", c) >= 0
}

// Spec is the array's dtype and dims.
func (in *Input) Spec() garner.Spec {
	if in.Array == nil {
		return in.tensor.Spec()
	}
	return in.Array.Spec()
}

// View is the array where it is in memory or can be mapped; it reads nothing. ok is
// false where Tensor would read.
func (in *Input) View() (t garner.Tensor, ok bool) {
	if in.tensor.DType() != garner.Invalid {
		return in.tensor, true
	}
	if v, ok := in.Array.(interface{ Tensor() (garner.Tensor, bool) }); ok {
		return v.Tensor()
	}
	return garner.Tensor{}, false
}

// Memory is how many bytes of memory the array takes; 0 where it is a view of a mapped
// file, or has not been read. A string counts with its text.
func (in *Input) Memory() int64 {
	t := in.tensor
	if t.DType() == garner.Invalid || t.Keeper() != nil {
		return 0
	}
	if t.DType() != garner.String {
		n, _ := t.Spec().Bytes()
		return n
	}
	const header = 16 // bytes of a Go string without its text
	n := header * int64(t.Len())
	if values, err := garner.Values[string](t); err == nil {
		for _, s := range values {
			n += int64(len(s))
		}
	}
	return n
}

// Tensor is the array in memory: its View, valid until Close, else a copy, which
// the Input keeps. One goroutine at a time calls it.
func (in *Input) Tensor(ctx context.Context) (garner.Tensor, error) {
	if t, ok := in.View(); ok {
		return t, nil
	}
	t, err := layout.Read(ctx, in.Array)
	if err == nil {
		in.tensor = t
	}
	return t, err
}

// Convert makes the Input one of the same array in another float dtype: a view where
// the array is read in place, which source.Convert describes, else one that Tensor
// converts whole. Errors are those of source.Convert.
func (in *Input) Convert(to garner.DType) error {
	a := in.Array
	if a == nil {
		a = source.Memory(in.tensor)
	}
	a, err := source.Convert(a, to)
	if err != nil || a == in.Array {
		return err
	}
	in.Array, in.tensor = a, garner.Tensor{}
	return nil
}

// Changed is a *source.ReadError where one of the array's files is no longer what
// it was when it was opened; see source.File.Changed. nil of other arrays.
func (in *Input) Changed() error {
	if c, ok := in.Array.(interface{ Changed() error }); ok {
		return c.Changed()
	}
	return nil
}

// Close closes the files.
func (in *Input) Close() error {
	var err error
	if c, ok := in.Array.(io.Closer); ok {
		err = c.Close()
	}
	if in.Closer != nil {
		if closing := in.Closer.Close(); err == nil {
			err = closing
		}
	}
	return err
}
