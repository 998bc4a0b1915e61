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
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/units"
)

// ErrFormat is the class of errors about text that is neither integers nor a
// literal.
var ErrFormat = errors.New("text format")

// Options for reading an array.
type Options struct {
	DType garner.DType // of the elements; Invalid: as the text says

	// Memory is the most bytes that Read may take at a time, 16 for each integer. It
	// stops at the integer beyond them, with a layout.ErrTooLarge. 0 is no limit.
	Memory int64
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

// pieceBytes is how much of the text is read at a time; no integer is longer.
const pieceBytes = 1 << 16

// Read reads an array from a stream, to its end, into memory. While it reads it takes
// 16 bytes for an integer, or 8 and an element of a wider dtype, and afterwards those of
// the array; for a literal several times its text.
//
// Text that is no array, and text without any value, are an ErrFormat; lines of
// different lengths are a garner.ErrShape; an integer that does not fit the dtype is
// a garner.ErrDType; more than o.Memory is a layout.ErrTooLarge. Messages name the
// line. Errors of a literal are those of its syntax.
func Read(r io.Reader, o Options) (garner.Tensor, error) {
	in := bufio.NewReaderSize(r, pieceBytes)
	if head, err := in.Peek(len(bom)); err == nil && bytes.Equal(head, bom) {
		in.Discard(len(bom))
	}
	p := newParser(o)
	switch c, err := p.first(in); {
	case errors.Is(err, io.EOF):
		return p.tensor()
	case err != nil:
		return garner.Tensor{}, err
	case isLiteral(c):
		return readLiteral(in, o)
	}
	piece := make([]byte, 0, pieceBytes)
	for {
		n, err := in.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return garner.Tensor{}, err
		}
		end := len(piece)
		if err == nil { // the last word may go on
			end = bytes.LastIndexAny(piece, ",\n"+blank) + 1
		}
		if end == 0 && len(piece) == cap(piece) {
			return garner.Tensor{}, p.noInteger(piece)
		}
		if err := p.read(piece[:end]); err != nil {
			return garner.Tensor{}, err
		}
		if err != nil {
			if err := p.endLine(); err != nil {
				return garner.Tensor{}, err
			}
			return p.tensor()
		}
		piece = piece[:copy(piece, piece[end:])]
	}
}

// readLiteral reads a literal to the end of the text.
func readLiteral(in *bufio.Reader, o Options) (garner.Tensor, error) {
	// What begins no literal is not read to its end.
	head, err := in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return garner.Tensor{}, err
	}
	none := func(text string) error {
		line, _, _ := strings.Cut(text, "\n")
		return garner.Errorf(ErrFormat, "%s is no integer, and begins no literal such as [1, 2]; write integers, one on a line or several with commas between them", clip([]byte(strings.Trim(line, blank))))
	}
	if !literal.IsLiteral(string(head)) {
		return garner.Tensor{}, none(string(head))
	}
	text, err := readText(in, o.Memory)
	if err == nil {
		size := 2*int64(len(text)) + literal.Memory(text)
		err = layout.Fits("the literal", float64(size), float64(o.Memory))
	}
	if err != nil {
		return garner.Tensor{}, err
	}
	if !literal.IsLiteral(text) {
		return garner.Tensor{}, none(text)
	}
	return literal.Parse(text, o.DType)
}

// readText reads a text to its end. It takes twice its bytes, and stops where they are
// more than memory; 0 is no limit.
func readText(in io.Reader, memory int64) (string, error) {
	var pieces [][]byte // no growth copies them, and leaves room between them that is too small
	size := 0
	for {
		piece := make([]byte, pieceBytes)
		n, err := io.ReadFull(in, piece)
		pieces, size = append(pieces, piece[:n]), size+n
		if err := layout.Fits("the literal", 2*float64(size), float64(memory)); err != nil {
			return "", err
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			var all strings.Builder
			all.Grow(size)
			for _, piece := range pieces {
				all.Write(piece)
			}
			return all.String(), nil
		case err != nil:
			return "", err
		}
	}
}

// A parser reads lines of integers.
type parser struct {
	dtype  garner.DType
	memory int64 // bytes that may be taken; 0: no limit
	most   int   // integers that fit them
	number int   // of the line that is read, from 1
	lines  int   // that have integers
	begins int   // the number of the first of them
	width  int   // integers of a line

	// Of the line that is read:
	words int  // integers so far
	comma bool // the last separator was a comma

	pieces   [][]int64 // the bits of each integer, so that no growth copies them all
	count    int       // integers
	negative int       // number of a line with a negative integer; 0 without one
	large    int       // number of a line with an integer that only u64 has; 0 without one
}

// pieceLen is how many integers one piece of a parser has.
const pieceLen = 1 << 13

func newParser(o Options) *parser {
	p := &parser{dtype: o.DType, memory: o.Memory, most: math.MaxInt, number: 1}
	if o.Memory > 0 {
		element := 8 // bytes of an integer in the array
		if o.DType != garner.Invalid {
			element = max(element, o.DType.Bits()/8)
		}
		p.most = int(min(o.Memory/int64(8+element), math.MaxInt))
	}
	return p
}

// first skips blanks and blank lines, and returns the byte behind them, which it does
// not read.
func (p *parser) first(in *bufio.Reader) (byte, error) {
	for {
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			p.number++
		case strings.IndexByte(blank, c) < 0:
			return c, in.UnreadByte()
		}
	}
}

// read reads whole words, and the separators behind them.
func (p *parser) read(text []byte) error {
	for at := 0; at < len(text); {
		switch c := text[at]; c {
		case '\n':
			if err := p.endLine(); err != nil {
				return err
			}
			at++
		case ',':
			if p.words == 0 || p.comma {
				return p.wrong("nothing stands before a comma; an integer stands on either side")
			}
			p.comma = true
			at++
		case ' ', '\t', '\r':
			at++
		default:
			end := at + 1
			for end < len(text) && !separates(text[end]) {
				end++
			}
			if err := p.integer(text[at:end]); err != nil {
				return err
			}
			p.comma = false
			p.words++
			at = end
		}
	}
	return nil
}

func separates(c byte) bool { return c == ',' || c == '\n' || c == ' ' || c == '\t' || c == '\r' }

// endLine ends a line; one without a word counts for nothing.
func (p *parser) endLine() error {
	width := p.words
	switch {
	case p.comma:
		return p.wrong("a comma ends it; an integer stands behind each comma")
	case width == 0:
	default:
		if p.lines++; p.lines == 1 {
			p.width, p.begins = width, p.number
		}
		if width != p.width {
			return garner.Errorf(garner.ErrShape, "line %d holds %s, and line %d holds %s; every line needs as many", p.number, count(width), p.begins, count(p.width))
		}
	}
	p.words = 0
	p.number++
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

func (p *parser) noInteger(word []byte) error {
	return p.wrong("%s is no integer; a line holds integers, with commas between them", clip(word))
}

// add appends an integer, unless the integers then take too much memory.
func (p *parser) add(v int64) error {
	if p.count == p.most {
		return garner.Errorf(layout.ErrTooLarge, "line %d: the text has more than %s, and reading them takes more than the %s that are allowed; put them into a .npy file, which takes less memory than text",
			p.number, count(p.most), units.Bytes(p.memory))
	}
	last := len(p.pieces) - 1
	if p.count%pieceLen == 0 {
		last++
		var piece []int64 // the first one grows: most texts are short
		if last > 0 {
			piece = make([]int64, 0, pieceLen)
		}
		p.pieces = append(p.pieces, piece)
	}
	p.pieces[last] = append(p.pieces[last], v)
	p.count++
	return nil
}

// integer reads one integer.
func (p *parser) integer(word []byte) error {
	v, ok := small(word)
	if !ok {
		text := string(word)
		var err error
		if v, err = strconv.ParseInt(text, 10, 64); err != nil {
			var large uint64
			large, err = strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
			switch {
			case err == nil:
				p.large = p.number
				return p.add(int64(large))
			case errors.Is(err, strconv.ErrRange), strings.Trim(text, "0123456789") == "-" && len(text) > 1:
				return garner.Errorf(garner.ErrDType, "line %d: %s fits neither i64 nor u64", p.number, clip(word))
			}
			return p.noInteger(word)
		}
	}
	if v < 0 {
		p.negative = p.number
	}
	return p.add(v)
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
	t, err := garner.New(dtype, shape...)
	if err != nil {
		return garner.Tensor{}, err
	}
	if dtype == own {
		return t, p.copy(t)
	}
	i := 0
	for _, piece := range p.pieces {
		for _, v := range piece {
			text := strconv.FormatInt(v, 10)
			if v < 0 && p.large > 0 {
				text = strconv.FormatUint(uint64(v), 10)
			}
			if err := t.SetText(i, text); err != nil {
				return garner.Tensor{}, names.Error("integer "+strconv.Itoa(i+1), err)
			}
			i++
		}
	}
	return t, nil
}

// copy copies the integers to a tensor of i64 or u64.
func (p *parser) copy(t garner.Tensor) error {
	if t.DType() == garner.U64 {
		values, err := garner.Values[uint64](t)
		for i, piece := range p.pieces {
			for j, v := range piece {
				values[i*pieceLen+j] = uint64(v)
			}
		}
		return err
	}
	values, err := garner.Values[int64](t)
	for i, piece := range p.pieces {
		copy(values[i*pieceLen:], piece)
	}
	return err
}

// clip quotes a word of the text for a message, 40 bytes at most.
func clip(word []byte) string {
	const most = 40
	if len(word) > most {
		return strconv.Quote(string(word[:most])) + "…"
	}
	return strconv.Quote(string(word))
}
