package text

import (
	"bytes"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A scanner reads tokens of MLIR's text. The first error stays, and ends the text.
type scanner struct {
	b       []byte
	at      int
	newline bool // a line ended between the last token and the next
	depth   int  // of what is nested
	err     error
}

// A span is a part of the text.
type span struct{ from, to int }

// mostNested is how deep regions, attributes and brackets may be nested, each for itself.
const mostNested = 128

// failf sets the error, with the line and the column.
func (s *scanner) failf(format string, args ...any) { s.failAt(s.at, format, args...) }

func (s *scanner) failAt(at int, format string, args ...any) {
	if s.err != nil {
		return
	}
	at = min(at, len(s.b))
	before := s.b[:at]
	s.err = &model.Error{
		Line: 1 + bytes.Count(before, []byte("\n")), Column: at - bytes.LastIndexByte(before, '\n'),
		Err: garner.Errorf(nil, format, args...),
	}
	s.at = len(s.b)
}

// expected refuses what comes next.
func (s *scanner) expected(what string) {
	if s.skip(); s.at >= len(s.b) {
		s.failf("the text ends where %s must come; get the file again", what)
		return
	}
	s.failf("%.20q is where %s must come", s.b[s.at:min(len(s.b), s.at+20)], what)
}

// deeper counts a level of nesting, and shallower takes it back.
func (s *scanner) deeper() {
	if s.depth++; s.depth > mostNested {
		s.failf("it is nested %d deep here; no real model nests deeper than %d", s.depth, mostNested)
	}
}

func (s *scanner) shallower() { s.depth-- }

// skip passes spaces and comments.
func (s *scanner) skip() {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case c == '\n':
			s.newline = true
		case c == ' ' || c == '\t' || c == '\r':
		case c == '/' && s.at+1 < len(s.b) && s.b[s.at+1] == '/':
			n := bytes.IndexByte(s.b[s.at:], '\n')
			if n < 0 {
				s.at = len(s.b)
				return
			}
			s.at += n
			continue
		default:
			return
		}
		s.at++
	}
}

// peek gives the first byte of the next token; 0 at the end.
func (s *scanner) peek() byte {
	if s.skip(); s.at < len(s.b) {
		return s.b[s.at]
	}
	return 0
}

// has reports whether the next token begins with a text.
func (s *scanner) has(token string) bool {
	s.skip()
	return bytes.HasPrefix(s.b[s.at:], []byte(token))
}

// take passes a token that is there.
func (s *scanner) take(token string) bool {
	if !s.has(token) {
		return false
	}
	s.at += len(token)
	s.newline = false
	return true
}

func (s *scanner) expect(token string) {
	if !s.take(token) {
		s.expected(token)
	}
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// run passes bytes as long as a function holds.
func (s *scanner) run(is func(c byte) bool) string {
	from := s.at
	for s.at < len(s.b) && is(s.b[s.at]) {
		s.at++
	}
	s.newline = false
	return string(s.b[from:s.at])
}

// word passes an identifier; "" where there is none.
func (s *scanner) word() string {
	if !isLetter(s.peek()) {
		return ""
	}
	return s.run(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c == '$' })
}

// name passes what follows a %, @, # or ^.
func (s *scanner) name() string {
	if s.at < len(s.b) && s.b[s.at] == '"' {
		return s.text()
	}
	name := s.run(func(c byte) bool {
		return isLetter(c) || isDigit(c) || c == '.' || c == '$' || c == '-'
	})
	if name == "" {
		s.expected("a name")
	}
	return name
}

// quoted passes a string, and gives where it is, without its quotes.
func (s *scanner) quoted() span {
	s.expect(`"`)
	from := s.at
	for s.at < len(s.b) {
		n := bytes.IndexAny(s.b[s.at:], "\"\\\n")
		if n < 0 {
			break
		}
		s.at += n
		switch s.b[s.at] {
		case '"':
			s.at++
			return span{from, s.at - 1}
		case '\n':
			s.failAt(from, "a string does not end in its line")
			return span{}
		}
		s.at += 2
	}
	s.at = len(s.b)
	s.failAt(from, "a string does not end; get the file again")
	return span{}
}

// text passes a string, and gives what it says.
func (s *scanner) text() string {
	at := s.quoted()
	if s.err != nil {
		return ""
	}
	b := s.b[at.from:at.to]
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	var made []byte
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			made = append(made, b[i])
			continue
		}
		i++
		high, ok := digitOf(b[i])
		if ok && i+1 < len(b) {
			if low, ok := digitOf(b[i+1]); ok {
				made = append(made, high<<4|low)
				i++
				continue
			}
		}
		switch b[i] {
		case 'n':
			made = append(made, '\n')
		case 't':
			made = append(made, '\t')
		default:
			made = append(made, b[i])
		}
	}
	return string(made)
}

// digitOf gives the value of a hexadecimal digit.
func digitOf(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

var closing = map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// balanced passes brackets and all that is in them, and gives where that is.
func (s *scanner) balanced() span {
	s.skip()
	from := s.at
	var open []byte
	for s.err == nil {
		if s.peek() == 0 {
			s.failAt(from, "a bracket does not close; get the file again")
			break
		}
		switch c := s.b[s.at]; c {
		case '"':
			s.quoted()
			continue
		case '(', '[', '{', '<':
			if open = append(open, closing[c]); len(open) > mostNested {
				s.failf("brackets are nested %d deep here; no real model nests deeper than %d", len(open), mostNested)
			}
		case '-':
			if s.take("->") {
				continue
			}
		case ')', ']', '}', '>':
			if last := len(open) - 1; c == open[last] {
				open = open[:last]
			} else if c != '>' { // which compares, in an affine set
				s.failf("%q closes what %q must close", c, open[last])
			}
		}
		if s.err != nil {
			break
		}
		s.at++
		if len(open) == 0 {
			s.newline = false
			return span{from + 1, s.at - 1}
		}
	}
	return span{}
}
