package ir

import (
	"bufio"
	"errors"
	"io"
)

// limits are what a hostile file can make the reader take up.
type limits struct {
	text  int64 // bytes of a .xml: its layers and edges are kept
	token int64 // bytes of a tag, a text or a comment, which is in memory as it stands
	depth int   // elements in each other; a sub-graph in a sub-graph takes four
}

// Weights stand in the .bin, so that real files are far below.
var usual = limits{text: 256 << 20, token: 16 << 20, depth: 256}

var (
	errTooLarge = errors.New("too large")
	errTooLong  = errors.New("too long")
)

// A source gives a decoder the bytes of a file, and no more of them than the
// limits allow. Where it is lenient it puts quotes around attribute values that
// have none, and a space for a "..." that stands for attributes left out.
type source struct {
	in    *bufio.Reader
	most  limits
	total int64 // bytes read
	token int64 // of which before the current token

	lenient  bool
	state    state
	previous byte   // in a tag
	quote    byte   // that ends the value
	end      string // that ends a comment or its like
	opening  int    // bytes of its beginning to come
	seen     string // what stood last in it
	held     int    // a byte to come after one that was put in; -1: none
	added    int    // bytes put into the current line so far
}

// state is where a lenient source is in the text.
type state uint8

const (
	inText     state = iota
	inTag            // between a tag's words
	afterEqual       // before a value
	inQuotes         // in a value that has quotes
	inBare           // in one that has none
	inOther          // in a comment, or what else begins with <! or <?
)

func newSource(in io.Reader, most limits, lenient bool) *source {
	return &source{in: bufio.NewReaderSize(in, 64<<10), most: most, lenient: lenient, held: -1}
}

// begin says that a token ends here and another begins.
func (s *source) begin() { s.token = s.total }

// Read makes a source an io.Reader, which a decoder asks for. It calls only
// ReadByte.
func (s *source) Read(p []byte) (int, error) {
	for i := range p {
		b, err := s.ReadByte()
		if err != nil {
			return i, err
		}
		p[i] = b
	}
	return len(p), nil
}

// ReadByte is the next byte; errTooLarge and errTooLong where a limit is met.
func (s *source) ReadByte() (byte, error) {
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

// mend is what to give where b stands: b, or what is put before or for it.
func (s *source) mend(b byte) byte {
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

// insert gives a quote, and b after it.
func (s *source) insert(b byte, next state) byte {
	s.held, s.state = int(b), next
	if b != '\n' { // else it stands in the line before
		s.added++
	}
	return '"'
}

// pass follows the text over b.
func (s *source) pass(b byte) {
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
		if s.opening > 0 { // the dashes of <!--> close nothing
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

// open follows the text over a "<".
func (s *source) open() {
	s.state, s.previous, s.seen = inTag, 0, ""
	for _, other := range [...]struct{ begin, end string }{
		{"!--", "-->"}, {"![CDATA[", "]]>"}, {"?", "?>"}, {"!", ">"}, // the last the reader refuses anyway
	} {
		if s.follows(other.begin) {
			s.state, s.opening, s.end = inOther, len(other.begin), other.end
			return
		}
	}
}

// follows reports whether text stands next.
func (s *source) follows(text string) bool {
	next, err := s.in.Peek(len(text))
	return err == nil && string(next) == text
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
