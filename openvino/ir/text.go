package ir

import (
	"bufio"
	"errors"
	"io"
)

// limits bound the memory that a hostile file can make the reader take.
type limits struct {
	text  int64 // bytes of a .xml: its layers and edges are kept
	token int64 // bytes of a tag, a text or a comment, which is in memory whole
	depth int   // nested elements; a sub-graph in a sub-graph takes four
}

// Weights are in the .bin, so real files are far below these limits.
var usual = limits{text: 256 << 20, token: 16 << 20, depth: 256}

var (
	errTooLarge = errors.New("too large")
	errTooLong  = errors.New("too long")
)

// A textReader gives an XML decoder the bytes of a file, up to the limits. A
// lenient one quotes attribute values without quotes, and replaces the "..." of
// omitted attributes by a space.
type textReader struct {
	in    *bufio.Reader
	most  limits
	total int64 // bytes read
	token int64 // bytes read before the current token

	lenient  bool
	state    state
	previous byte   // the last byte, in a tag
	quote    byte   // the quote that ends the value
	end      string // the text that ends the comment, CDATA or directive
	opening  int    // bytes left of its opening
	seen     string // the last bytes in it, as many as end has
	held     int    // the byte after an inserted quote; -1: none
	added    int    // bytes inserted into the current line
}

// state is the position of a lenient textReader in the syntax.
type state uint8

const (
	inText     state = iota
	inTag            // in a tag, outside of values
	afterEqual       // before a value
	inQuotes         // in a quoted value
	inBare           // in a value without quotes
	inOther          // in a comment, a CDATA section, a directive or an instruction
)

func newTextReader(in io.Reader, most limits, lenient bool) *textReader {
	return &textReader{in: bufio.NewReaderSize(in, 64<<10), most: most, lenient: lenient, held: -1}
}

// begin begins a token, whose length is limited.
func (s *textReader) begin() { s.token = s.total }

// Read makes a textReader an io.Reader, as xml.NewDecoder requires. The decoder
// calls only ReadByte.
func (s *textReader) Read(p []byte) (int, error) {
	for i := range p {
		b, err := s.ReadByte()
		if err != nil {
			return i, err
		}
		p[i] = b
	}
	return len(p), nil
}

// ReadByte gives the next byte; errTooLarge or errTooLong beyond a limit.
func (s *textReader) ReadByte() (byte, error) {
	if s.held >= 0 {
		b := byte(s.held)
		s.held = -1
		s.pass(b)
		return b, nil
	}
	b, err := s.in.ReadByte()
	if err != nil {
		return 0, err
	}
	s.total++
	switch {
	case s.total > s.most.text:
		return 0, errTooLarge
	case s.total-s.token > s.most.token:
		return 0, errTooLong
	case !s.lenient:
		return b, nil
	}
	return s.mend(b), nil
}

// mend gives the byte to deliver for b: b itself, an inserted quote before it, or
// its replacement.
func (s *textReader) mend(b byte) byte {
	if b == '\n' {
		s.added = 0
	}
	switch s.state {
	case inTag:
		if b == '.' && blank(s.previous) && s.follows("..") {
			n, _ := s.in.Discard(2)
			s.total += int64(n)
			s.added -= n
			return ' '
		}
	case afterEqual:
		if !blank(b) && b != '"' && b != '\'' && b != '>' {
			return s.insert(b, inBare)
		}
	case inBare:
		if blank(b) || b == '>' || b == '/' && s.follows(">") {
			return s.insert(b, inTag)
		}
	}
	s.pass(b)
	return b
}

// insert delivers a quote and holds b for the next call.
func (s *textReader) insert(b byte, next state) byte {
	s.held, s.state = int(b), next
	if b != '\n' { // the quote then belongs to the line before
		s.added++
	}
	return '"'
}

// pass advances the state over b.
func (s *textReader) pass(b byte) {
	switch s.state {
	case inText:
		if b == '<' {
			s.open()
		}
	case inTag:
		s.previous = b
		switch b {
		case '=':
			s.state = afterEqual
		case '>':
			s.state = inText
		case '"', '\'':
			s.state, s.quote = inQuotes, b
		}
	case afterEqual:
		switch b {
		case '"', '\'':
			s.state, s.quote = inQuotes, b
		case '>':
			s.state = inText
		}
	case inQuotes:
		if b == s.quote {
			s.state, s.previous = inTag, b
		}
	case inOther:
		if s.opening > 0 { // the dashes of <!--> are no closing -->
			s.opening--
			return
		}
		s.seen += string(b)
		if len(s.seen) > len(s.end) {
			s.seen = s.seen[1:]
		}
		if s.seen == s.end {
			s.state = inText
		}
	}
}

// open advances the state over a "<".
func (s *textReader) open() {
	s.state, s.previous, s.seen = inTag, 0, ""
	for _, other := range [...]struct{ begin, end string }{
		{"!--", "-->"}, {"![CDATA[", "]]>"}, {"?", "?>"}, {"!", ">"}, // the parser refuses the last
	} {
		if s.follows(other.begin) {
			s.state, s.opening, s.end = inOther, len(other.begin), other.end
			return
		}
	}
}

// follows reports whether text comes next.
func (s *textReader) follows(text string) bool {
	next, err := s.in.Peek(len(text))
	return err == nil && string(next) == text
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
