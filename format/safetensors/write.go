package safetensors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/blocks"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// A Named is a tensor and its name in the file.
type Named struct {
	Name   string
	Tensor garner.Tensor
}

// Write writes tensors and, if not nil, metadata. The bytes equal those of the
// reference implementation: wide types come before narrow ones, so that each tensor
// begins at a multiple of its width, and tensors of one type are sorted by name.
//
// Tensors of any strides are written block by block, without a copy of the whole;
// only a packed tensor that is not contiguous is copied. Before it writes anything,
// Write refuses a dtype that the format lacks (garner.ErrDType), and as an ErrFormat
// a name that is given twice, is not UTF-8, or is "__metadata__", an F4 tensor of an
// odd number of elements, and a header of more than 100 MB.
func Write(w io.Writer, tensors []Named, metadata map[string]string) error {
	sorted := inOrder(tensors)
	header, err := makeHeader(describe(sorted), metadata)
	if err != nil {
		return err
	}
	return mapped.Guard(func() error {
		if _, err := w.Write(header); err != nil {
			return err
		}
		for _, n := range sorted {
			if err := writeData(w, n.Tensor); err != nil {
				return err
			}
		}
		return nil
	})
}

// Form returns the form of a file of one tensor, byte for byte as Write writes it.
// Errors are those of Write.
func Form(name string, spec garner.Spec, metadata map[string]string) (layout.Form, error) {
	shape, ok := spec.Shape()
	if !ok {
		return layout.Form{}, garner.Errorf(garner.ErrShape, "tensor %s is %s, whose dims are not all known; give them", names.Quote(name), spec)
	}
	header, err := makeHeader([]described{{name, spec.DType, shape}}, metadata)
	return layout.Form{Spec: spec, Header: header}, err
}

// NewWriter writes the header of a file of one tensor and returns a writer for its
// elements, row-major and little-endian, in pieces of any size, so that the tensor
// may exceed memory. Close it after the last element. Errors are those of Form and
// of w.
func NewWriter(w io.Writer, name string, spec garner.Spec, metadata map[string]string) (*layout.Writer, error) {
	form, err := Form(name, spec, metadata)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}

// Check returns the error with which Write would refuse these tensors, or nil. It
// needs no elements.
func Check(tensors []Named, metadata map[string]string) error {
	_, err := makeHeader(describe(inOrder(tensors)), metadata)
	return err
}

// A described tensor is the part of it that the header has.
type described struct {
	name  string
	dtype garner.DType
	shape garner.Shape
}

func describe(tensors []Named) []described {
	all := make([]described, len(tensors))
	for i, n := range tensors {
		all[i] = described{n.Name, n.Tensor.DType(), n.Tensor.Shape()}
	}
	return all
}

func inOrder(tensors []Named) []Named {
	return slices.SortedStableFunc(slices.Values(tensors), func(a, b Named) int {
		return cmp.Or(cmp.Compare(byDType[b.Tensor.DType()], byDType[a.Tensor.DType()]), cmp.Compare(a.Name, b.Name))
	})
}

func writeData(w io.Writer, t garner.Tensor) error {
	if t.DType().Packed() {
		// A block could begin inside a byte of the file.
		return t.Guard(func(t garner.Tensor) error {
			b, err := t.Bytes()
			if err != nil {
				if t, err = t.Clone(); err != nil {
					return err
				}
				if b, err = t.Bytes(); err != nil {
					return err
				}
			}
			_, err = w.Write(b)
			return err
		})
	}
	return blocks.Write(w, t)
}

// makeHeader returns the bytes before the tensors: the length and the JSON, padded
// with spaces to a multiple of 8.
func makeHeader(tensors []described, metadata map[string]string) ([]byte, error) {
	b := append(make([]byte, 8), '{')
	if metadata != nil {
		b = append(b, `"`+metadataKey+`":{`...)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			if i > 0 {
				b = append(b, ',')
			}
			if !utf8.ValidString(key) || !utf8.ValidString(metadata[key]) {
				return nil, formatError("metadata %s: %s is not UTF-8, as the format asks; write it in hexadecimal or base64", names.Quote(key), names.Quote(metadata[key]))
			}
			b = appendString(b, key)
			b = append(b, ':')
			b = appendString(b, metadata[key])
		}
		b = append(b, '}')
	}
	seen := make(map[string]bool, len(tensors))
	var offset uint64
	for _, n := range tensors {
		dtype, size, err := n.check(seen)
		if err != nil {
			return nil, err
		}
		if len(b) > 9 {
			b = append(b, ',')
		}
		b = appendString(b, n.name)
		b = append(b, `:{"dtype":"`+dtype+`","shape":`...)
		b = append(b, n.shape.String()...)
		b = append(b, `,"data_offsets":[`...)
		b = strconv.AppendUint(b, offset, 10)
		b = append(b, ',')
		next, carry := bits.Add64(offset, size, 0)
		if carry != 0 {
			return nil, formatError("up to tensor %s the tensors have more bytes than can be counted; write several files", names.Quote(n.name))
		}
		offset = next
		b = strconv.AppendUint(b, offset, 10)
		b = append(b, "]}"...)
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	if len(b)-8 > maxHeader {
		return nil, formatError("the header of %d tensors takes %d bytes, and the format allows %d; write several files", len(tensors), len(b)-8, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	return b, nil
}

// check checks a tensor against the format, and returns the format's name of its
// dtype and its size in bytes.
func (n described) check(seen map[string]bool) (dtype string, size uint64, err error) {
	d := n.dtype
	at, ok := byDType[d]
	switch {
	case !d.Valid():
		return "", 0, garner.Errorf(garner.ErrDType, "there is no tensor to write as %s", names.Quote(n.name))
	case !ok:
		return "", 0, garner.Errorf(garner.ErrDType, "tensor %s is of %s, which safetensors does not have; write it as .npy", names.Quote(n.name), d)
	case n.name == metadataKey:
		return "", 0, formatError("no tensor can be named %s, under which the format keeps its metadata; give it another name", names.Quote(n.name))
	case !utf8.ValidString(n.name):
		return "", 0, formatError("the name %s is not UTF-8, as the format asks; give the tensor another name", names.Quote(n.name))
	case seen[n.name]:
		return "", 0, formatError("two tensors are named %s; give one another name", names.Quote(n.name))
	}
	seen[n.name] = true
	count, _ := n.shape.Len()
	if d.Packed() && count%(8/d.Bits()) != 0 {
		return "", 0, formatError("tensor %s is %s%s, whose %d elements fill no whole number of bytes, as the format asks; add one element", names.Quote(n.name), d, n.shape, count)
	}
	// A view with strides of 0 may have more elements than memory has bytes.
	bytes, ok := garner.SpecOf(d, n.shape...).Bytes()
	if !ok {
		return "", 0, formatError("tensor %s is %s%s, more bytes than can be counted; write a part of it", names.Quote(n.name), d, n.shape)
	}
	return dtypes[at].name, uint64(bytes), nil
}

// appendString appends a JSON string with a minimum of escapes, as the reference
// implementation does.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			b = append(b, '\\', "btn-fr"[c-'\b'])
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"')
}
