package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/blocks"
	"github.com/garner-go/garner/internal/mapped"
)

// Write writes a tensor as numpy.save would: version 1.0, little-endian, C
// order, byte for byte the same. A tensor of any strides is written block by
// block, without a copy of the whole.
//
// A dtype that NumPy lacks is written as ml_dtypes does: bf16 as V2, the 8-bit floats
// and the packed types as V1, one value per byte. After numpy.load,
// a.view(ml_dtypes.bfloat16) is the array. (f8e5m2 is V1 too, because numpy.load
// does not know the name that ml_dtypes writes.)
//
// Strings are written as WriteStrings does for "U" if all are UTF-8, else for "S".
func Write(w io.Writer, t garner.Tensor) error {
	return write(w, t, "")
}

// WriteStrings writes a tensor of strings as the dtype that descr names: "U", "S",
// or the Descr of a File, which preserves the dtype of an array that was read. A
// width in descr is the minimum width; longer strings widen it. The byte order in
// descr is ignored: the file is little-endian.
//
// A string that is not UTF-8 cannot be U. A string that ends in NUL can be neither,
// because NumPy treats the NUL as padding. Both are a garner.ErrDType that names the
// element. So is a descr that is neither U nor S.
func WriteStrings(w io.Writer, t garner.Tensor, descr string) error {
	if t.DType() != garner.String {
		return garner.Errorf(garner.ErrDType, "a tensor of %s cannot be written as %q; write it with its own dtype", t.DType(), descr)
	}
	return write(w, t, descr)
}

func write(w io.Writer, t garner.Tensor, strs string) error {
	return mapped.Guard(func() error {
		switch d := t.DType(); {
		case !d.Valid():
			return garner.Errorf(garner.ErrDType, "there is no tensor to write")
		case d == garner.String:
			return writeStrings(w, t, strs)
		default:
			return writeNumbers(w, t, d)
		}
	})
}

func writeNumbers(w io.Writer, t garner.Tensor, d garner.DType) error {
	if err := writeHeader(w, descrOf(d), t.Shape()); err != nil {
		return err
	}
	var scratch []byte
	return blocks.Each(t, func(block garner.Tensor) error {
		b, err := block.Bytes()
		if err != nil {
			return err
		}
		if d.Packed() {
			if cap(scratch) < block.Len() {
				scratch = make([]byte, block.Len())
			}
			scratch = scratch[:block.Len()]
			unpack(scratch, d, b)
			b = scratch
		}
		_, err = w.Write(b)
		return err
	})
}

// descrOf returns NumPy's name of a dtype other than String.
func descrOf(d garner.DType) string {
	size := max(1, d.Bits()/8)
	kind := byte('V')
	switch {
	case d == garner.Bool:
		kind = 'b'
	case d.Packed():
	case d.IsUnsigned():
		kind = 'u'
	case d.IsInteger():
		kind = 'i'
	case d.IsComplex():
		kind = 'c'
	case d == garner.F16 || d == garner.F32 || d == garner.F64:
		kind = 'f'
	}
	order := "<"
	if size == 1 || kind == 'V' {
		order = "|"
	}
	return fmt.Sprintf("%s%c%d", order, kind, size)
}

// writeHeader writes the bytes before the elements, padded to a multiple of 64.
// With at most 32 dimensions the header always fits version 1.0.
func writeHeader(w io.Writer, descr string, shape []int) error {
	_, err := w.Write(appendHeader(nil, descr, shape))
	return err
}

func appendHeader(b []byte, descr string, shape []int) []byte {
	var dims strings.Builder
	for i, d := range shape {
		if i > 0 {
			dims.WriteString(", ")
		}
		dims.WriteString(strconv.Itoa(d))
	}
	if len(shape) == 1 {
		dims.WriteByte(',')
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims.String())
	if len(shape) > 0 {
		// NumPy reserves room for the first extent to grow in place to any 64-bit
		// number.
		text += strings.Repeat(" ", 21-len(strconv.Itoa(shape[0])))
	}
	const before = len(magic) + 2 + 2
	text += strings.Repeat(" ", 64-(before+len(text)+1)%64) + "\n"

	b = append(append(b, magic...), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

// writeStrings reads the strings twice: to find the width of the longest, and to
// write them.
func writeStrings(w io.Writer, t garner.Tensor, descr string) error {
	kind, width, err := stringType(t, descr)
	if err != nil {
		return err
	}
	longest, err := widest(t, kind)
	if err != nil {
		return err
	}
	width = max(width, longest)
	unit, order := 1, "|"
	if kind == 'U' {
		unit, order = 4, "<"
	}
	if width > math.MaxInt32/unit {
		return garner.Errorf(garner.ErrDType, "a string of %d characters is longer than NumPy's %c can be, %d; write the strings to another format", width, kind, math.MaxInt32/unit)
	}
	if err := writeHeader(w, fmt.Sprintf("%s%c%d", order, kind, width), t.Shape()); err != nil {
		return err
	}
	return blocks.Each(t, func(block garner.Tensor) error {
		values, err := garner.Values[string](block)
		if err != nil {
			return err
		}
		return writeText(w, values, kind, width)
	})
}

// stringType parses descr; for "" it chooses U or S.
func stringType(t garner.Tensor, descr string) (kind byte, width int, err error) {
	if descr == "" {
		kind = 'U'
		err := eachString(t, func(_ int, s string) error {
			if !utf8.ValidString(s) {
				kind = 'S'
			}
			return nil
		})
		return kind, 1, err
	}
	rest := strings.TrimLeft(descr, "<>=|")
	if rest == "" || rest[0] != 'S' && rest[0] != 'U' {
		return 0, 0, garner.Errorf(garner.ErrDType, "strings cannot be written as %q; write them as U or S", descr)
	}
	width = 1
	if rest[1:] != "" {
		n, err := strconv.ParseUint(rest[1:], 10, 31)
		if err != nil {
			return 0, 0, garner.Errorf(garner.ErrDType, "strings cannot be written as %q; write them as U or S, with a width up to %d", descr, math.MaxInt32)
		}
		width = max(1, int(n)) // NumPy turns a width of 0 into 1
	}
	return rest[0], width, nil
}

// eachString calls f with every string in row-major order.
func eachString(t garner.Tensor, f func(i int, s string) error) error {
	i := 0
	return blocks.Each(t, func(block garner.Tensor) error {
		values, err := garner.Values[string](block)
		if err != nil {
			return err
		}
		for _, s := range values {
			if err := f(i, s); err != nil {
				return err
			}
			i++
		}
		return nil
	})
}

// widest returns the length of the longest string, in bytes for S and in characters
// for U. It refuses strings that the kind cannot hold.
func widest(t garner.Tensor, kind byte) (width int, err error) {
	err = eachString(t, func(i int, s string) error {
		switch {
		case strings.HasSuffix(s, "\x00"):
			return garner.Errorf(garner.ErrDType, "element %s, %.40q, ends in NUL, which NumPy drops from strings; write the strings to another format", place(i, t.Shape()), s)
		case kind == 'S':
			width = max(width, len(s))
		case !utf8.ValidString(s):
			return garner.Errorf(garner.ErrDType, "element %s, %.40q, is not UTF-8 and cannot be written as U; write the strings as S", place(i, t.Shape()), s)
		default:
			width = max(width, utf8.RuneCountInString(s))
		}
		return nil
	})
	return width, err
}

// writeText writes strings padded with NUL, up to a mebibyte at a time.
func writeText(w io.Writer, values []string, kind byte, width int) error {
	const enough = 1 << 20
	var b []byte
	pad := func(n int) error {
		for n > 0 {
			k := min(n, enough)
			b = append(b, make([]byte, k)...)
			if n -= k; len(b) >= enough {
				if _, err := w.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
		return nil
	}
	for _, s := range values {
		var err error
		if kind == 'S' {
			b = append(b, s...)
			err = pad(width - len(s))
		} else {
			n := 0
			for _, r := range s {
				b = binary.LittleEndian.AppendUint32(b, uint32(r))
				n++
			}
			err = pad(4 * (width - n))
		}
		if err != nil {
			return err
		}
		if len(b) >= enough {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	if len(b) == 0 {
		return nil
	}
	_, err := w.Write(b)
	return err
}
