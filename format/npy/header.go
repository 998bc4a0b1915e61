package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// ErrFormat is the class of errors about a file that is not .npy, or is corrupt.
var ErrFormat = errors.New("npy format")

const (
	magic = "\x93NUMPY"

	// maxHeader limits the length of a header in bytes: the limit of version 1.0,
	// several times the need of 32 dimensions.
	maxHeader = 1<<16 - 1

	// maxDescr limits the dtype in a header, in bytes: the longest that NumPy writes
	// for numbers and strings has 12.
	maxDescr = 40
)

// A header describes an array as the file does.
type header struct {
	descr   string // as in the file: <f4, |S10
	fortran bool
	shape   []int

	kind  byte // b i u f c S U V
	size  int  // bytes of an element
	big   bool // the most significant byte first
	count int  // elements
	bytes int  // of all elements
}

func formatError(format string, args ...any) error {
	return garner.Errorf(ErrFormat, format, args...)
}

// prefix returns the number of bytes before the header's text in this version of
// the format: the magic, the version and the text's length.
func prefix(start []byte) (n int, err error) {
	if len(start) >= 4 && string(start[:4]) == "PK\x03\x04" {
		return 0, formatError("it is a zip archive, as .npz is; name it FILE.npz, and one array of it FILE.npz#NAME")
	}
	if len(start) == 0 {
		return 0, formatError("it is empty, and no .npy file; save the array with numpy.save")
	}
	if len(start) < 8 && (strings.HasPrefix(magic, string(start)) || strings.HasPrefix(string(start), magic)) {
		return 0, endsInHeader(len(start))
	}
	if len(start) < 8 || string(start[:6]) != magic {
		return 0, formatError("it is no .npy file: that begins with %q, this with %q; save the array with numpy.save", magic, start[:min(len(start), 6)])
	}
	switch v := [2]byte(start[6:8]); v {
	case [2]byte{1, 0}:
		return 10, nil
	case [2]byte{2, 0}, [2]byte{3, 0}:
		return 12, nil
	default:
		return 0, formatError("it is .npy version %d.%d; versions 1.0, 2.0 and 3.0 are read: save it with numpy.save", v[0], v[1])
	}
}

// textLen returns the length of the header's text, the last field of the prefix.
func textLen(prefix []byte) (int, error) {
	var n uint32
	if len(prefix) == 10 {
		n = uint32(binary.LittleEndian.Uint16(prefix[8:]))
	} else {
		n = binary.LittleEndian.Uint32(prefix[8:])
	}
	if n > maxHeader {
		return 0, formatError("its header says it is %d bytes long; up to %d are read: an array of numbers or strings needs no more, save it again with numpy.save", n, maxHeader)
	}
	return int(n), nil
}

// parseHeader reads the header's text, a Python dict of exactly descr,
// fortran_order and shape, and computes the size of the elements.
func parseHeader(text string) (*header, error) {
	h, err := (&parser{rest: text}).dict()
	if err != nil {
		return nil, err
	}
	if len(h.descr) > maxDescr {
		return nil, garner.Errorf(garner.ErrDType, "its dtype %.40q… is not read; save it with a.astype(...)", h.descr)
	}
	h.descr = strings.Clone(h.descr) // the header may be long, and an Info is kept
	if err := h.parseDescr(); err != nil {
		return nil, err
	}
	if len(h.shape) > garner.MaxRank {
		return nil, formatError("its array has %d dimensions; up to %d are read: reshape it", len(h.shape), garner.MaxRank)
	}
	count, ok := garner.Shape(h.shape).Len()
	hi, lo := bits.Mul(uint(count), uint(h.size))
	if !ok || hi != 0 || lo > math.MaxInt {
		return nil, formatError("its header asks for %s%s, more bytes than an int can count; it is spoilt, save the array again", h.descr, garner.Shape(h.shape))
	}
	h.count, h.bytes = count, int(lo)
	if h.size == 0 && count > 0 {
		return nil, formatError("its header asks for %d elements of no bytes (%s); give them a width, as numpy.save does", count, h.descr)
	}
	return h, nil
}

// parseDescr parses a dtype string.
func (h *header) parseDescr() error {
	rest, order := h.descr, byte('|')
	if rest != "" && strings.IndexByte("<>=|", rest[0]) >= 0 {
		order, rest = rest[0], rest[1:]
	}
	if rest == "" {
		return h.unknown()
	}
	h.kind, h.big = rest[0], order == '>'
	switch h.kind {
	case 'O':
		return garner.Errorf(garner.ErrDType, "it holds Python objects (%s), which only Python can load; save numbers or strings, for example with a.astype(\"f8\")", h.descr)
	case 'M', 'm':
		return garner.Errorf(garner.ErrDType, "it holds %s (%s), which garner does not know; save its integers with a.view(\"i8\")", map[byte]string{'M': "dates (datetime64)", 'm': "time spans (timedelta64)"}[h.kind], h.descr)
	}
	size, err := strconv.ParseUint(rest[1:], 10, 31)
	if err != nil {
		return h.unknown()
	}
	if h.kind == 'U' {
		if size > math.MaxInt32/4 {
			return h.unknown()
		}
		size *= 4
	}
	h.size = int(size)
	switch d, _ := h.native(); {
	case d != garner.Invalid, h.kind == 'S', h.kind == 'U', h.kind == 'V':
		return nil
	case h.kind == 'f' && h.size > 8, h.kind == 'c' && h.size > 16:
		return garner.Errorf(garner.ErrDType, "it holds long doubles (%s), whose form differs between machines; save a.astype(%q)", h.descr, map[byte]string{'f': "f8", 'c': "c16"}[h.kind])
	}
	return h.unknown()
}

func (h *header) unknown() error {
	return garner.Errorf(garner.ErrDType, "its dtype %q is not read; bool, i1 to i8, u1 to u8, f2, f4, f8, c8, c16, S, U and V are: save it with a.astype(...)", h.descr)
}

// native returns the dtype that the descr names; ok is false for V, which names
// none.
func (h *header) native() (garner.DType, bool) {
	switch h.kind {
	case 'S', 'U':
		return garner.String, true
	}
	d, ok := map[string]garner.DType{
		"b1": garner.Bool,
		"i1": garner.I8, "i2": garner.I16, "i4": garner.I32, "i8": garner.I64,
		"u1": garner.U8, "u2": garner.U16, "u4": garner.U32, "u8": garner.U64,
		"f2": garner.F16, "f4": garner.F32, "f8": garner.F64,
		"c8": garner.Complex64, "c16": garner.Complex128,
		"f1": garner.F8E5M2, // the name that ml_dtypes writes for this type
	}[fmt.Sprintf("%c%d", h.kind, h.size)]
	return d, ok
}

// A DTypeError is an array whose header says another dtype than Options.DType.
// errors.Is(err, garner.ErrDType) is true for it.
type DTypeError struct {
	DType garner.DType
	Descr string // the file's name of DType: "<i8"
	Asked garner.DType
}

func (e *DTypeError) Error() string {
	return fmt.Sprintf("garner: it holds %s (%s), not %s; leave the dtype out: it only says what V data means", e.DType, e.Descr, e.Asked)
}

// Unwrap makes errors.Is(err, garner.ErrDType) true.
func (e *DTypeError) Unwrap() error { return garner.ErrDType }

// dtype returns the dtype of the elements, given the caller's Options.DType.
func (h *header) dtype(asked garner.DType) (garner.DType, error) {
	d, ok := h.native()
	if !ok {
		switch {
		case asked == garner.Invalid:
			return d, garner.Errorf(garner.ErrDType, "its dtype %q does not say what its bytes mean; give the dtype (Options.DType bf16, f8e4m3fn, i4 …)", h.descr)
		case asked == garner.String || !asked.Valid() || (asked.Bits()+7)/8 != h.size:
			return d, garner.Errorf(garner.ErrDType, "its elements are of %d bytes (%s) and cannot be %s; give a dtype of that width", h.size, h.descr, asked)
		}
		return asked, nil
	}
	if asked != garner.Invalid && asked != d {
		return d, &DTypeError{d, h.descr, asked}
	}
	return d, nil
}

// A parser reads the Python literal of a header. It refuses anything that it does
// not know.
type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\n\r\f") }

// take reads one character if it is the next one.
func (p *parser) take(c byte) bool {
	p.space()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) want(what string) error {
	found := "its end"
	if p.space(); p.rest != "" {
		found = strconv.Quote(p.rest[:min(len(p.rest), 20)])
	}
	return formatError("its header is spoilt: %s should stand where %s stands; save the array again with numpy.save", what, found)
}

func (p *parser) dict() (*header, error) {
	if !p.take('{') {
		return nil, p.want("{")
	}
	h := &header{}
	seen := make(map[string]bool)
	for !p.take('}') {
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, formatError("its header has %s twice; save the array again with numpy.save", key)
		}
		seen[key] = true
		if !p.take(':') {
			return nil, p.want(":")
		}
		switch key {
		case "descr":
			h.descr, err = p.descr()
		case "fortran_order":
			h.fortran, err = p.boolean()
		case "shape":
			h.shape, err = p.tuple()
		default:
			err = formatError("its header has the unknown key %.100q; save the array again with numpy.save", key)
		}
		if err != nil {
			return nil, err
		}
		if !p.take(',') {
			if !p.take('}') {
				return nil, p.want(", or }")
			}
			break
		}
	}
	if p.space(); p.rest != "" {
		return nil, p.want("nothing more")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return nil, formatError("its header lacks %s; save the array again with numpy.save", key)
		}
	}
	return h, nil
}

// text reads a string without escapes.
func (p *parser) text() (string, error) {
	p.space()
	if p.rest != "" && (p.rest[0] == '\'' || p.rest[0] == '"') {
		s := p.rest[1:]
		if end := strings.IndexByte(s, p.rest[0]); end >= 0 && !strings.ContainsAny(s[:end], "\\\n") {
			p.rest = s[end+1:]
			return s[:end], nil
		}
	}
	return "", p.want("a quoted string")
}

func (p *parser) descr() (string, error) {
	if p.space(); p.rest != "" && (p.rest[0] == '[' || p.rest[0] == '(') {
		what := p.rest
		if len(what) > 60 {
			what = what[:60] + "…"
		}
		return "", garner.Errorf(garner.ErrDType, "it holds records (%s); save one field, a[%q]", strings.TrimSpace(what), "name")
	}
	return p.text()
}

func (p *parser) boolean() (bool, error) {
	p.space()
	for name, v := range map[string]bool{"True": true, "False": false} {
		if rest, ok := strings.CutPrefix(p.rest, name); ok {
			p.rest = rest
			return v, nil
		}
	}
	return false, p.want("True or False")
}

// tuple reads a tuple of extents; a single one has a trailing comma, as in Python.
func (p *parser) tuple() ([]int, error) {
	if !p.take('(') {
		return nil, p.want("a tuple of integers")
	}
	shape := []int{}
	for !p.take(')') {
		d, err := p.extent()
		if err != nil {
			return nil, err
		}
		shape = append(shape, d)
		if !p.take(',') {
			if len(shape) == 1 || !p.take(')') {
				return nil, p.want(",")
			}
			break
		}
	}
	return shape, nil
}

func (p *parser) extent() (int, error) {
	p.space()
	n := 0
	for n < len(p.rest) && '0' <= p.rest[n] && p.rest[n] <= '9' {
		n++
	}
	digits := p.rest[:n]
	if n == 0 || n > 1 && digits[0] == '0' {
		return 0, p.want("an extent, an integer of 0 or more,")
	}
	d, err := strconv.Atoi(digits)
	if err != nil {
		return 0, formatError("its header asks for an extent of %.40s, more than an int can count; it is spoilt, save the array again", digits)
	}
	p.rest = strings.TrimPrefix(p.rest[n:], "L") // the suffix of a long integer in Python 2
	return d, nil
}
