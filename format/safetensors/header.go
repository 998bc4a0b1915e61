package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/jsonfile"
	"github.com/garner-go/garner/internal/names"
)

// ErrFormat is the class of errors about a file that is not safetensors, or is
// corrupt.
var ErrFormat = errors.New("safetensors format")

// maxHeader is the format's own limit on the header, in bytes.
const maxHeader = 100_000_000

const metadataKey = "__metadata__"

// dtypes are the format's element types, in the reference implementation's order.
// Types that garner lacks have a width alone.
var dtypes = []struct {
	name  string
	dtype garner.DType
	bits  uint64
}{
	{"BOOL", garner.Bool, 8},
	{"F4", garner.F4E2M1, 4},
	{"F6_E2M3", garner.Invalid, 6},
	{"F6_E3M2", garner.Invalid, 6},
	{"U8", garner.U8, 8},
	{"I8", garner.I8, 8},
	{"F8_E5M2", garner.F8E5M2, 8},
	{"F8_E4M3", garner.F8E4M3FN, 8},
	{"F8_E8M0", garner.F8E8M0, 8},
	{"F8_E4M3FNUZ", garner.F8E4M3FNUZ, 8},
	{"F8_E5M2FNUZ", garner.F8E5M2FNUZ, 8},
	{"I16", garner.I16, 16},
	{"U16", garner.U16, 16},
	{"F16", garner.F16, 16},
	{"BF16", garner.BF16, 16},
	{"I32", garner.I32, 32},
	{"U32", garner.U32, 32},
	{"F32", garner.F32, 32},
	{"C64", garner.Complex64, 64},
	{"F64", garner.F64, 64},
	{"I64", garner.I64, 64},
	{"U64", garner.U64, 64},
}

// Positions in dtypes.
var byName, byDType = func() (map[string]int, map[garner.DType]int) {
	names, ours := make(map[string]int), make(map[garner.DType]int)
	for i, d := range dtypes {
		names[d.name] = i
		if d.dtype != garner.Invalid {
			ours[d.dtype] = i
		}
	}
	return names, ours
}()

// An entry describes a tensor as the header does.
type entry struct {
	name       string
	dtype      string
	shape      []int
	begin, end uint64 // range of its bytes, from the end of the header
}

func formatError(format string, args ...any) error {
	return garner.Errorf(ErrFormat, format, args...)
}

// headerLen reads the header length at the beginning of a file of size bytes, and
// checks it against size and the limit.
func headerLen(start []byte, size int64) (int, error) {
	if len(start) < 8 {
		return 0, formatError("it has %d bytes, too few for a safetensors file; it was cut short: copy or save it again", size)
	}
	n := binary.LittleEndian.Uint64(start)
	switch {
	case n > maxHeader:
		return 0, formatError("its header says it is %d bytes long, and the format allows %d; it is no safetensors file, or a spoilt one", n, maxHeader)
	case n > uint64(size-8):
		return 0, formatError("its header says it is %d bytes long, and the file has %d after that; it was cut short: copy or save it again", n, size-8)
	}
	return int(n), nil
}

// parseHeader reads the header's JSON and checks the rules of the format: no
// duplicate key, each tensor as long as its dtype and shape require, and the
// tensors contiguous over the whole buffer of size bytes. It returns the entries in
// the order of their bytes.
func parseHeader(text []byte, size uint64) (entries []entry, metadata map[string]string, err error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, nil, formatError("its header does not begin with {; it is no safetensors file, or a spoilt one")
	}
	if !utf8.Valid(text) {
		return nil, nil, formatError("its header is not UTF-8; it is spoilt, save it again")
	}
	p := parser{jsonfile.New(bytes.NewReader(text), "its header", ErrFormat)}
	seen := make(map[string]bool)
	err = p.Object("the header", seen, func(key string) error {
		if key == metadataKey {
			metadata, err = p.metadata()
			return err
		}
		e, err := p.entry(key)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := p.End(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	return entries, metadata, contiguous(entries, size)
}

// contiguous checks that the tensors, sorted by offset, fill a buffer of size bytes
// without gap or overlap.
func contiguous(entries []entry, size uint64) error {
	var end uint64
	before := func(i int) string {
		if i == 0 {
			return "the header"
		}
		return "tensor " + names.Quote(entries[i-1].name)
	}
	for i, e := range entries {
		switch {
		case e.begin > end:
			return formatError("%d bytes between %s and tensor %s belong to no tensor; the format allows no gaps: save it again", e.begin-end, before(i), names.Quote(e.name))
		case e.begin < end:
			return formatError("%s and tensor %s overlap, at bytes %d to %d of the data; the format does not allow that: save it again", before(i), names.Quote(e.name), e.begin, min(end, e.end))
		}
		end = e.end
	}
	switch {
	case end > size:
		return formatError("its tensors take %d bytes, and the file has %d for them; it was cut short: copy or save it again", end, size)
	case end < size:
		return formatError("its tensors take %d bytes, and the file has %d for them; the format allows none left over: save it again", end, size)
	}
	return nil
}

// A parser reads the header.
type parser struct{ jsonfile.Parser }

// metadata reads the file's strings; null means none.
func (p parser) metadata() (map[string]string, error) {
	token, err := p.Token()
	if err != nil {
		return nil, p.Spoilt(err)
	}
	if token == nil {
		return nil, nil
	}
	metadata := make(map[string]string)
	return metadata, p.Members(token, metadataKey, make(map[string]bool), func(key string) error {
		token, err := p.Token()
		if err != nil {
			return p.Spoilt(err)
		}
		s, ok := token.(string)
		if !ok {
			return formatError("%s has %.100v under %s; the format allows only strings: save it again", metadataKey, token, names.Quote(key))
		}
		metadata[key] = s
		return nil
	})
}

// entry reads the entry of one tensor. It ignores unknown keys, as the reference
// implementation does.
func (p parser) entry(name string) (entry, error) {
	e := entry{name: name}
	what := "tensor " + names.Quote(name)
	seen := make(map[string]bool, 3)
	var offsets []uint64
	err := p.Object(what, seen, func(key string) (err error) {
		switch key {
		case "dtype":
			if e.dtype, err = p.Text(what, key); err != nil {
				return err
			}
		case "shape":
			var dims []uint64
			if dims, err = p.Numbers(what, key); err != nil {
				return err
			}
			e.shape = make([]int, len(dims))
			for i, d := range dims {
				if d > math.MaxInt {
					return formatError("%s has an extent of %d, more than an int can count; it is spoilt, save it again", what, d)
				}
				e.shape[i] = int(d)
			}
		case "data_offsets":
			if offsets, err = p.Numbers(what, key); err != nil {
				return err
			}
			if len(offsets) != 2 || offsets[0] > offsets[1] {
				return formatError("%s has the data_offsets %v; they should be where its bytes begin and end: save it again", what, offsets)
			}
			e.begin, e.end = offsets[0], offsets[1]
		default:
			return p.Skip()
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return e, formatError("%s lacks its %s; it is spoilt, save it again", what, key)
		}
	}
	return e, e.checkLength(what)
}

// checkLength checks the bytes of a tensor against its dtype and shape. An unknown
// dtype, which a later version of the format may define, passes; only its own
// tensor cannot be read.
func (e *entry) checkLength(what string) error {
	i, ok := byName[e.dtype]
	if !ok {
		return nil
	}
	total, overflow := dtypes[i].bits, uint64(0)
	for _, n := range e.shape {
		if n == 0 {
			total, overflow = 0, 0
			break
		}
		hi, lo := bits.Mul64(total, uint64(n))
		total, overflow = lo, overflow|hi
	}
	switch {
	case overflow != 0:
		return formatError("%s is %.100s%s, more bits than can be counted; it is spoilt, save it again", what, e.dtype, garner.Shape(e.shape))
	case total%8 != 0:
		return formatError("%s is %s%s, %d bits, no whole number of bytes; save it again with another extent", what, e.dtype, garner.Shape(e.shape), total)
	case total/8 != e.end-e.begin:
		return formatError("%s is %s%s, %d bytes, but has the data_offsets [%d,%d], %d bytes; it is spoilt, save it again", what, e.dtype, garner.Shape(e.shape), total/8, e.begin, e.end, e.end-e.begin)
	}
	return nil
}
