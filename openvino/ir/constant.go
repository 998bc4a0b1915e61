package ir

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// A constant says where in the .bin the elements of a Const layer are.
type constant struct {
	dtype        garner.DType
	shape        garner.Shape
	offset, size uint64 // bytes
	at           place  // of the layer's data
}

// constant reads the attributes of a Const layer.
func (p *parser) constant(l *layer) (*constant, error) {
	if l.data == nil {
		return nil, p.errorf(l.place, l, nil, "it has no <data>, which says where its elements are; write it")
	}
	c := &constant{at: l.data.place}
	need := func(name string) (string, error) {
		text, ok := l.data.get(name)
		if !ok {
			return "", p.errorf(c.at, l, nil, "<data> has no %s; write one", name)
		}
		return text, nil
	}
	text, err := need("element_type")
	if err != nil {
		return nil, err
	}
	var ok bool
	if c.dtype, ok = elementType(text); !ok {
		return nil, p.errorf(c.at, l, garner.ErrDType, "it has element_type=%q, which is none; f32 and i64 are some", clip(text))
	}
	if c.dtype == garner.Invalid {
		return nil, p.errorf(c.at, l, garner.ErrDType, "it has element_type=%q, for which garner has no tensors; convert the constant to another type", clip(text))
	}
	if text, err = need("shape"); err != nil {
		return nil, err
	}
	var why string
	if c.shape, why = shapeOf(text); why != "" {
		return nil, p.errorf(c.at, l, garner.ErrShape, "it has shape=%q: %s; write it as 2,3", clip(text), clip(why))
	}
	for _, number := range [...]struct {
		name string
		to   *uint64
	}{{"offset", &c.offset}, {"size", &c.size}} {
		if text, err = need(number.name); err != nil {
			return nil, err
		}
		if *number.to, ok = natural(text); !ok {
			return nil, p.errorf(c.at, l, nil, "it has %s=%q, which is no number of bytes from 0 on", number.name, clip(text))
		}
	}
	if want, ok := c.bytes(); !ok || want > c.size {
		return nil, p.errorf(c.at, l, garner.ErrShape, "it is %s%s and has size=%d; that many elements take %s; correct shape or size", c.dtype, c.shape, c.size, bytesText(want, ok))
	}
	return c, nil
}

// bytes gives the size of the elements in bytes, for strings the least possible
// size; false where it overflows an int.
func (c *constant) bytes() (uint64, bool) {
	dtype := c.dtype
	if dtype == garner.String {
		dtype = garner.U32 // the offset of its end
	}
	if _, ok := c.shape.Len(); !ok {
		return 0, false
	}
	n, ok := garner.SpecOf(dtype, c.shape...).Bytes()
	return uint64(n), ok && n <= math.MaxInt
}

func bytesText(n uint64, ok bool) string {
	if !ok {
		return "more bytes than this build of garner can count"
	}
	return strconv.FormatUint(n, 10)
}

// weights holds the bytes of all constants: a .bin file, which hold maps for the
// first constant, or memory.
type weights struct {
	path  string // "" for memory
	bytes []byte
	file  *mapped.File
	alone bool // they are not at hand
}

func (w *weights) close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// hold makes the model's constant, after checking that weights has its bytes.
func (w *weights) hold(p *parser, l *layer, c *constant) (*model.Constant, error) {
	if w.path != "" && w.file == nil {
		file, err := mapped.Open(w.path)
		if errors.Is(err, fs.ErrNotExist) && c.size == 0 && c.offset == 0 {
			file, err = &mapped.File{}, nil // an empty constant needs no file
		}
		if err != nil {
			return nil, p.wrap(c.at, l, err)
		}
		w.file, w.bytes = file, file.Bytes()
	}
	size := uint64(len(w.bytes))
	if c.offset > size || c.size > size-c.offset {
		name := w.path
		if name == "" {
			name = "the .bin"
		}
		return nil, p.errorf(c.at, l, nil, "its elements are %d bytes from offset %d on, and %s has %d bytes; copy it again, it is cut short or belongs to another .xml", c.size, c.offset, name, size)
	}
	// The closures capture these, and so do not keep the parser in memory.
	path, at, name := p.path, c.at, l.String()
	file, offset, length := w.file, int(c.offset), int(c.size)
	if c.dtype != garner.String {
		want, _ := c.bytes() // the file may have more
		length = int(want)
	}
	var held []byte // where no file is mapped
	if file == nil {
		held = w.bytes[offset : offset+length : offset+length]
	}
	load := func(tensor func(b []byte) (garner.Tensor, error)) func() (garner.Tensor, error) {
		return func() (t garner.Tensor, err error) {
			if file == nil {
				t, err = tensor(held)
			} else {
				err = file.Read(offset, length, func(b []byte) error {
					if t, err = tensor(b); err == nil {
						t = file.View(t)
					}
					return err
				})
			}
			if err != nil {
				return garner.Tensor{}, &model.Error{Path: path, Line: at.line, Column: at.column, At: name, Err: err}
			}
			return t, nil
		}
	}
	dtype, shape := c.dtype, c.shape
	spec := garner.SpecOf(dtype, shape...)
	if dtype == garner.String {
		held := model.NewConstant(l.name, spec, load(func(b []byte) (garner.Tensor, error) {
			list, why := unpack(b, shape)
			if why != "" {
				return garner.Tensor{}, garner.Errorf(nil, "%s; copy the .bin again, or convert the model again", why)
			}
			return garner.FromSlice(list, shape...)
		}))
		held.Encoded = true
		return held, nil
	}
	if dtype == garner.U1 {
		held := model.NewConstant(l.name, spec, load(func(b []byte) (garner.Tensor, error) {
			mirrored := make([]byte, len(b))
			for i := range b {
				mirrored[i] = bits.Reverse8(b[i]) // OpenVINO's first element is the high bit
			}
			return model.View(dtype, mirrored, shape...)
		}))
		held.Encoded = true
		return held, nil
	}
	constant := model.NewConstant(l.name, spec, load(func(b []byte) (garner.Tensor, error) { return model.View(dtype, b, shape...) }))
	constant.File, constant.Offset, constant.Size = w.path, int64(offset), int64(length)
	if file != nil {
		constant.State = source.FileState(file.Stamp())
	}
	return constant, nil
}

// unpack reads the elements of a Const of strings. It holds, in 32 bits each, the
// number of strings, the offset of the start of each string and of the end of the
// last, and then the text. Where the bytes are damaged, it says how.
func unpack(b []byte, shape garner.Shape) ([]string, string) {
	n, _ := shape.Len()
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) != uint64(n) {
		return nil, "its bytes do not begin with the number of its strings"
	}
	if (len(b)-4)/4 < n+1 {
		return nil, "its bytes end before the offsets of its strings do"
	}
	offsets, text := b[4:4+4*(n+1)], b[4+4*(n+1):]
	list := make([]string, n)
	for i := range list {
		from := binary.LittleEndian.Uint32(offsets[4*i:])
		to := binary.LittleEndian.Uint32(offsets[4*i+4:])
		if from > to || uint64(to) > uint64(len(text)) {
			return nil, "the offsets of its strings go down, or beyond its bytes"
		}
		list[i] = string(text[from:to])
		if !utf8.ValidString(list[i]) {
			return nil, "one of its strings is not UTF-8"
		}
	}
	return list, ""
}
