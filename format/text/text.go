// Package text reads arrays that people and shell programs write as text: integers,
// one or several on a line, or a literal such as [[1.5, 2], [3, 4]].
//
// The integers of a line are separated by commas, or by spaces and tabs. Lines of
// one integer each make an array of rank 1; lines of several, which must be equally
// many, one of rank 2: [lines, integers of a line]. Blank lines count for nothing.
// Integers are i64, or u64 where one of them needs it.
package text

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// ErrFormat is the class of errors about text that is neither integers nor a
// literal.
var ErrFormat = errors.New("text format")

// Options for reading an array.
type Options struct {
	DType garner.DType // of the elements; Invalid: as the text says
}

// Open reads the array of a file into memory. Errors are those of Read, and name
// the file.
func Open(path string, o Options) (garner.Tensor, error) {
	f, _, err := mapped.OpenFile(path)
	if err != nil {
		return garner.Tensor{}, err
	}
	defer f.Close()
	t, err := Read(f, o)
	if err != nil {
		return garner.Tensor{}, names.Error(path, err)
	}
	return t, nil
}

// Is reports whether a text that begins with head can be an array: it begins with
// an integer or with a literal.
func Is(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, bom), blank+"\n")
	return len(head) > 0 && (strings.IndexByte(signs, head[0]) >= 0 || literal.IsLiteral(string(head)))
}

const (
	blank = " \t\r"
	signs = "+-0123456789"
)

// bom is the mark that spreadsheets write before the text.
var bom = []byte("\ufeff")

// isLiteral reports whether a text that begins with c is a literal, not a line of
// integers.
func isLiteral(c byte) bool { return strings.IndexByte(signs, c) < 0 }

// Read reads an array from a stream, to its end, into memory. It takes 8 bytes for
// an integer, and for a literal several times its text.
//
// Text that is no array, and text without any value, are an ErrFormat; lines of
// different lengths are a garner.ErrShape; an integer that does not fit the dtype is
// a garner.ErrDType. Messages name the line. Errors of a literal are those of its
// syntax.
func Read(r io.Reader, o Options) (garner.Tensor, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if head, err := in.Peek(len(bom)); err == nil && bytes.Equal(head, bom) {
		in.Discard(len(bom))
	}
	p := parser{dtype: o.DType}
	for {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if long {
			line, err = longLine(in, line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return garner.Tensor{}, err
		}
		ended := err != nil
		p.number++
		if line = bytes.Trim(line, blank+"\n"); len(line) > 0 {
			if p.lines == 0 && isLiteral(line[0]) {
				return readLiteral(line, in, o.DType)
			}
			if err := p.line(line); err != nil {
				return garner.Tensor{}, err
			}
		}
		if ended {
			return p.tensor()
		}
	}
}

// longLine is a line that the buffer does not hold, from its beginning on.
func longLine(in *bufio.Reader, begin []byte) ([]byte, error) {
	line := bytes.Clone(begin)
	rest, err := in.ReadBytes('\n')
	return append(line, rest...), err
}

// readLiteral reads a literal whose first line has been read.
func readLiteral(line []byte, rest io.Reader, dtype garner.DType) (garner.Tensor, error) {
	var all bytes.Buffer
	all.Write(line)
	all.WriteByte('\n')
	if _, err := all.ReadFrom(rest); err != nil {
		return garner.Tensor{}, err
	}
	if !literal.IsLiteral(all.String()) {
		return garner.Tensor{}, garner.Errorf(ErrFormat, "%s is no integer, and begins no literal such as [1, 2]; write integers, one on a line or several with commas between them", clip(line))
	}
	return literal.Parse(all.String(), dtype)
}

// A parser reads lines of integers.
type parser struct {
	dtype  garner.DType
	number int // of the line that is read, from 1
	lines  int // that hold integers
	first  int // the number of the first of them
	width  int // integers of a line

	values   []int64 // the bits of each
	negative int     // number of a line with a negative integer; 0 without one
	large    int     // number of a line with an integer that only u64 holds; 0 without one
}

// line reads the integers of a line, which is trimmed and not empty.
func (p *parser) line(line []byte) error {
	before := len(p.values)
	for {
		// A comma separates, and so do blanks where there is none.
		end := bytes.IndexAny(line, ","+blank)
		word := line
		if end >= 0 {
			word = line[:end]
		}
		if err := p.integer(word); err != nil {
			return err
		}
		if end < 0 {
			break
		}
		line = bytes.TrimLeft(line[end:], blank)
		if line[0] == ',' {
			line = bytes.TrimLeft(line[1:], blank)
		}
		if len(line) == 0 {
			return p.wrong("a comma ends it; an integer stands behind each comma")
		}
	}
	width := len(p.values) - before
	if p.lines++; p.lines == 1 {
		p.width, p.first = width, p.number
	}
	if width != p.width {
		return garner.Errorf(garner.ErrShape, "line %d holds %s, and line %d holds %s; every line needs as many", p.number, count(width), p.first, count(p.width))
	}
	return nil
}

func count(n int) string {
	if n == 1 {
		return "1 integer"
	}
	return strconv.Itoa(n) + " integers"
}

func (p *parser) wrong(format string, args ...any) error {
	return garner.Errorf(ErrFormat, "line "+strconv.Itoa(p.number)+": "+format, args...)
}

// integer reads one integer.
func (p *parser) integer(word []byte) error {
	if v, ok := small(word); ok {
		if v < 0 {
			p.negative = p.number
		}
		p.values = append(p.values, v)
		return nil
	}
	text := string(word)
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		if v < 0 {
			p.negative = p.number
		}
		p.values = append(p.values, v)
		return nil
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
	switch {
	case err == nil:
		p.large = p.number
		p.values = append(p.values, int64(v))
		return nil
	case errors.Is(err, strconv.ErrRange), strings.Trim(text, "0123456789") == "-" && len(text) > 1:
		return garner.Errorf(garner.ErrDType, "line %d: %s fits neither i64 nor u64", p.number, clip(word))
	case text == "":
		return p.wrong("nothing stands before a comma; an integer stands on either side")
	}
	return p.wrong("%s is no integer; a line holds integers, with commas between them", clip(word))
}

// small reads an integer of at most 18 digits, as nearly all are.
func small(word []byte) (v int64, ok bool) {
	digits := word
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int64(c-'0')
	}
	if word[0] == '-' {
		v = -v
	}
	return v, true
}

// tensor is the array of all lines.
func (p *parser) tensor() (garner.Tensor, error) {
	if p.lines == 0 {
		return garner.Tensor{}, garner.Errorf(ErrFormat, "the text holds no integer; write [] for an array without elements")
	}
	if p.large > 0 && p.negative > 0 {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "line %d holds an integer that only u64 holds, and line %d a negative one; no type holds both", p.large, p.negative)
	}
	if p.dtype == garner.String {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "integers are no strings; write a literal such as [\"1\", \"2\"]")
	}
	shape := []int{p.lines, p.width}
	if p.width == 1 {
		shape = shape[:1]
	}
	own := garner.I64
	if p.large > 0 {
		own = garner.U64
	}
	dtype := p.dtype
	if dtype == garner.Invalid {
		dtype = own
	}
	if dtype == garner.I64 && own == garner.I64 {
		return garner.FromSlice(p.values, shape...)
	}
	t, err := garner.New(dtype, shape...)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i, v := range p.values {
		text := strconv.FormatInt(v, 10)
		if v < 0 && p.large > 0 {
			text = strconv.FormatUint(uint64(v), 10)
		}
		if err := t.SetText(i, text); err != nil {
			return garner.Tensor{}, names.Error("integer "+strconv.Itoa(i+1), err)
		}
	}
	return t, nil
}

// clip quotes a word of the text for a message, 40 bytes at most.
func clip(word []byte) string {
	const most = 40
	if len(word) > most {
		return strconv.Quote(string(word[:most])) + "…"
	}
	return strconv.Quote(string(word))
}
