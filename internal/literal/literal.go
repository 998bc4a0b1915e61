// Package literal reads the tensors that a person types on a command line, and
// that garner prints.
//
//	[[1,2],[3,4]]        i64[2,2]; u64 where an integer needs it
//	[1, 2.5, NaN]        f64[3]: one decimal, NaN or Infinity makes all f64
//	[1+2j, 0.5]          complex128[2]
//	[true, false]        bool[2]
//	["a", 'b']           string[2]
//	5                    i64[], a scalar
//	[[],[]]              i64[2,0]
//	f32[[1,2],[3,4]]     f32[2,2], and so with every name that garner.ParseDType knows
//	bf16(5)              bf16[], a scalar
//	0:10                 i64[10], the integers from 0 on and before 10
//	10:0:-2              i64[5], every second one from 10 down and above 0
//
// White space, line breaks included, may stand between the parts.
package literal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// A SyntaxError is text that is no literal.
type SyntaxError struct {
	Column  int    // of the byte where reading stopped, from 1
	Message string // what stood there and what would have been good
}

func (e *SyntaxError) Error() string {
	return "garner: column " + strconv.Itoa(e.Column) + " of the literal: " + e.Message
}

// Parse reads a literal. dtype, unless it is garner.Invalid, is the type of its
// elements, as a prefix would be; both together must agree. An empty literal of
// unnamed type is i64.
//
// What Tensor.Text prints comes back with the same elements, given the dtype;
// with the same shape too, unless an extent of 0 hides those inside it. NaNs
// come back as the NaN of their type.
//
// Text that is no literal is a *SyntaxError. Ragged lists, and lists deeper than
// garner.MaxRank, are a garner.ErrShape. Elements of different kinds, and those
// that the dtype does not have, are a garner.ErrDType. Every message says the
// column. Memory is in proportion to the text, whatever it says; but for a range,
// of which Elements tells the length.
func Parse(text string, dtype garner.DType) (garner.Tensor, error) {
	if isRange(text) {
		r, err := parseRange(text)
		if err != nil {
			return garner.Tensor{}, err
		}
		return r.tensor(dtype)
	}
	p := parser{text: text, elements: make([]span, 0, mostElements(text))}
	if err := p.parse(); err != nil {
		return garner.Tensor{}, err
	}
	switch {
	case p.dtype == garner.Invalid:
		p.dtype = dtype
	case dtype != garner.Invalid && dtype != p.dtype:
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "the literal says %s and the dtype asked for is %s; leave one of them out", p.dtype, dtype)
	}
	if p.dtype == garner.Invalid {
		var err error
		if p.dtype, err = p.infer(); err != nil {
			return garner.Tensor{}, err
		}
	}
	t, err := garner.New(p.dtype, p.shape...)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i, at := range p.elements {
		if err := p.set(t, i, at); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// DType returns the dtype that a literal says; garner.Invalid where it says none. It
// reads the first word alone.
func DType(text string) garner.DType {
	p := parser{text: text}
	p.next()
	d, _ := garner.ParseDType(identifier(text[p.pos:]))
	return d
}

// Memory returns the most bytes that Parse takes for a text that is no range, beside
// the text itself. It reads the text once.
func Memory(text string) int64 {
	const element = 32 // its place in the text, and up to 16 bytes in the tensor
	return element * int64(mostElements(text))
}

// mostElements is the most elements that a text can have: each but the last has a comma
// behind it.
func mostElements(text string) int { return strings.Count(text, ",") + 1 }

// IsLiteral reports whether an operand of a command is meant as a literal
// rather than as the name of a file. A file that has the name of a literal, such
// as one called 5, is for the caller to look for first.
func IsLiteral(text string) bool {
	text = strings.Trim(text, whiteSpace)
	if text == "" {
		return false
	}
	if strings.IndexByte(`["'`, text[0]) >= 0 || kindOf(text) != other || isRange(text) {
		return true
	}
	if name := identifier(text); name != "" {
		rest := strings.TrimLeft(text[len(name):], whiteSpace)
		_, err := garner.ParseDType(name)
		return err == nil && rest != "" && (rest[0] == '[' || rest[0] == '(')
	}
	// Neither 2024.npy nor -, but a list without its brackets, of which the
	// message of Parse is the more helpful one.
	return strings.ContainsAny(text, "0123456789") && strings.Trim(text, "+-.0123456789eEij,"+whiteSpace) == ""
}

const whiteSpace = " \t\r\n"

// kind is what an element looks like. Of two numbers the later kind has both.
type kind int

const (
	other kind = iota
	integer
	decimal
	complexNumber
	boolean
	quoted
)

func (k kind) String() string {
	return [...]string{"no value", "an integer", "a decimal", "a complex number", "a bool", "a string"}[k]
}

// kindOf looks at a word, which is not empty, far enough to tell the kinds
// apart; Tensor.SetText looks at the rest.
func kindOf(word string) kind {
	lower := strings.ToLower(word)
	if word[0] == '+' || word[0] == '-' {
		lower = lower[1:]
	}
	switch {
	case word[0] == '"' || word[0] == '\'':
		return quoted
	case word == "true" || word == "false":
		return boolean
	case lower == "nan" || lower == "inf" || lower == "infinity":
		return decimal
	case lower == "":
		return other
	case strings.Trim(lower, "0123456789") == "":
		return integer
	}
	number, found := lower, decimal
	if last := len(lower) - 1; lower[last] == 'i' || lower[last] == 'j' {
		found = complexNumber
		number = strings.NewReplacer("nan", "0", "infinity", "0", "inf", "0").Replace(lower[:last])
	}
	if number == "" || strings.IndexByte(".0123456789", number[0]) < 0 ||
		!strings.ContainsAny(number, "0123456789") || strings.Trim(number, "+-.0123456789e") != "" {
		return other
	}
	return found
}

// identifier is the dtype name that a text begins with; "" where it begins with a
// value.
func identifier(text string) string {
	n := 0
	for n < len(text) && (text[n] == '_' || 'a' <= text[n]|0x20 && text[n]|0x20 <= 'z' || n > 0 && '0' <= text[n] && text[n] <= '9') {
		n++
	}
	if n == 0 || kindOf(text[:n]) != other {
		return ""
	}
	return text[:n]
}

type span struct{ start, end int }

type parser struct {
	text     string
	pos      int
	dtype    garner.DType // of the prefix; Invalid without one
	shape    garner.Shape // -1 for a depth at which no list is closed yet
	ranked   bool         // an element or an empty list has fixed the rank
	elements []span       // in row-major order
}

// next skips white space and returns the byte behind it; ok is false at the end.
func (p *parser) next() (c byte, ok bool) {
	for p.pos < len(p.text) && strings.IndexByte(whiteSpace, p.text[p.pos]) >= 0 {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0, false
	}
	return p.text[p.pos], true
}

func (p *parser) syntax(at int, format string, args ...any) error {
	return &SyntaxError{at + 1, fmt.Sprintf(format, args...)}
}

func (p *parser) ragged(at int, format string, args ...any) error {
	return p.shapeError(garner.KindMismatch, at, fmt.Sprintf(format, args...)+"; every list of one depth needs as many items")
}

func (p *parser) shapeError(kind garner.ShapeKind, at int, message string) error {
	return &garner.ShapeError{Kind: kind, Message: place(at) + message}
}

func dtypeError(at int, format string, args ...any) error {
	return garner.Errorf(garner.ErrDType, "%s%s", place(at), fmt.Sprintf(format, args...))
}

func place(at int) string {
	return "column " + strconv.Itoa(at+1) + " of the literal: "
}

func (p *parser) parse() error {
	if _, ok := p.next(); !ok {
		return p.syntax(p.pos, "there is no value; write a scalar such as 5 or a list such as [1, 2]")
	}
	at := p.pos
	name := identifier(p.text[at:])
	if name == "" {
		if err := p.value(0); err != nil {
			return err
		}
		return p.end()
	}
	p.pos += len(name)
	c, _ := p.next()
	if c != '[' && c != '(' {
		return p.noValue(at)
	}
	var err error
	if p.dtype, err = garner.ParseDType(name); err != nil {
		return dtypeError(at, "%s", bare(err))
	}
	if c == '[' {
		err = p.value(0)
	} else {
		err = p.scalar()
	}
	if err != nil {
		return err
	}
	return p.end()
}

// scalar reads a value in parentheses behind a dtype: (5).
func (p *parser) scalar() error {
	open := p.pos
	p.pos++
	if c, _ := p.next(); c == '[' {
		return p.syntax(open, "parentheses are for one value; write %s[1, 2] for a list", p.dtype)
	}
	if err := p.value(0); err != nil {
		return err
	}
	c, ok := p.next()
	switch {
	case !ok:
		return p.syntax(p.pos, "the ( of column %d is not closed", open+1)
	case c != ')':
		return p.syntax(p.pos, "parentheses are for one value; write %s[1, 2] for a list", p.dtype)
	}
	p.pos++
	return nil
}

func (p *parser) end() error {
	c, ok := p.next()
	switch {
	case !ok:
		return nil
	case c == ',':
		return p.syntax(p.pos, "more values follow; put brackets around them all: [1, 2]")
	case c == '[' && p.dtype != garner.Invalid:
		return p.syntax(p.pos, "a second list follows; after %s write the values, not the shape", p.dtype)
	}
	return p.syntax(p.pos, "text follows the literal; a list of several values is written [1, 2]")
}

// value reads an element or a list that stands inside depth lists, at most
// garner.MaxRank.
func (p *parser) value(depth int) error {
	c, ok := p.next()
	switch {
	case !ok:
		return p.syntax(p.pos, "the literal ends where a value was wanted")
	case c == '[':
		return p.list(depth)
	}
	at, err := p.element()
	if err != nil {
		return err
	}
	if p.ranked && depth != len(p.shape) {
		return p.ragged(at.start, "a value stands where before there was a list")
	}
	p.ranked = true
	p.elements = append(p.elements, at)
	return nil
}

func (p *parser) list(depth int) error {
	open := p.pos
	p.pos++
	if depth == garner.MaxRank {
		return p.shapeError(garner.KindRank, open, fmt.Sprintf("lists are nested deeper than %d; a tensor has no more dimensions", garner.MaxRank))
	}
	if depth == len(p.shape) {
		if p.ranked {
			return p.ragged(open, "a list stands where before there was a value or nothing")
		}
		p.shape = append(p.shape, -1)
	}
	n := 0
	c, _ := p.next()
	if c == ']' {
		p.ranked = true
	}
	for c != ']' {
		if err := p.value(depth + 1); err != nil {
			return err
		}
		n++
		var ok bool
		c, ok = p.next()
		switch {
		case !ok:
			return p.syntax(p.pos, "the [ of column %d is not closed", open+1)
		case c == ',':
			p.pos++
		case c != ']':
			return p.syntax(p.pos, "a comma is missing before %q; put commas between the values, [1, 2], and between the lists, [[1], [2]]", c)
		}
	}
	switch {
	case p.shape[depth] < 0:
		p.shape[depth] = n
	case p.shape[depth] != n:
		return p.ragged(p.pos, "this list holds %d, one before it %d", n, p.shape[depth])
	}
	p.pos++
	return nil
}

// element finds the end of an element.
func (p *parser) element() (at span, err error) {
	at = span{p.pos, p.pos}
	if quote := p.text[p.pos]; quote == '"' || quote == '\'' {
		for at.end++; at.end < len(p.text) && p.text[at.end] != quote; at.end++ {
			if p.text[at.end] == '\\' {
				at.end++
			}
		}
		if at.end >= len(p.text) {
			return at, p.syntax(at.start, "the %c is not closed", quote)
		}
		at.end++
	} else {
		for at.end < len(p.text) && strings.IndexByte("[](),\"'"+whiteSpace, p.text[at.end]) < 0 {
			at.end++
		}
		if at.end == at.start || kindOf(p.text[at.start:at.end]) == other {
			return at, p.noValue(at.start)
		}
	}
	p.pos = at.end
	return at, nil
}

// noValue is the error of text that is no value; it says what to write instead.
func (p *parser) noValue(at int) error {
	end := at
	for end < len(p.text) && strings.IndexByte("[](),\"'"+whiteSpace, p.text[end]) < 0 {
		end++
	}
	word := p.text[at:end]
	_, err := garner.ParseDType(word)
	switch {
	case word == "":
		return p.syntax(at, "%q stands where a value was wanted", p.text[at])
	case err == nil:
		return p.syntax(at, "%s is the name of a type; write %s(5), or %s[1, 2] for a list", word, word, word)
	case strings.EqualFold(word, "true") || strings.EqualFold(word, "false"):
		return p.syntax(at, "%s is no value; write %s", word, strings.ToLower(word))
	case isRange(word):
		return p.syntax(at, "%s is a range, which stands alone; a list of ranges is none", word)
	case len(word) > 40:
		return p.syntax(at, "%q… is no value; a string stands in quotes", word[:40])
	}
	return p.syntax(at, "%q is no value; a string stands in quotes", word)
}

// infer finds the dtype that has all elements.
func (p *parser) infer() (garner.DType, error) {
	if len(p.elements) == 0 {
		return garner.I64, nil
	}
	widest := kindOf(p.word(p.elements[0]))
	for _, at := range p.elements[1:] {
		k := kindOf(p.word(at))
		if k != widest && (k > complexNumber || widest > complexNumber) {
			return garner.Invalid, dtypeError(at.start, "%s stands beside %s; a tensor has one type", k, widest)
		}
		widest = max(widest, k)
	}
	switch widest {
	case decimal:
		return garner.F64, nil
	case complexNumber:
		return garner.Complex128, nil
	case boolean:
		return garner.Bool, nil
	case quoted:
		return garner.String, nil
	}
	negative, large := -1, -1 // the first element of either sort, where there is one
	for i, at := range p.elements {
		word := p.word(at)
		if v, err := strconv.ParseInt(word, 10, 64); err == nil {
			if v < 0 && negative < 0 {
				negative = i
			}
			continue
		}
		if _, err := strconv.ParseUint(strings.TrimPrefix(word, "+"), 10, 64); err != nil {
			return garner.Invalid, dtypeError(at.start, "the integer fits neither i64 nor u64; write 1.0 in place of one 1, and all are f64")
		}
		if large < 0 {
			large = i
		}
	}
	switch {
	case large < 0:
		return garner.I64, nil
	case negative < 0:
		return garner.U64, nil
	}
	at := p.elements[max(large, negative)]
	return garner.Invalid, dtypeError(at.start, "%s and %s fit no integer type together; write 1.0 in place of one 1, and all are f64",
		p.word(p.elements[negative]), p.word(p.elements[large]))
}

func (p *parser) word(at span) string { return p.text[at.start:at.end] }

// set parses the word at a place into the i-th element of t.
func (p *parser) set(t garner.Tensor, i int, at span) error {
	word := p.word(at)
	isString := kindOf(word) == quoted
	if isString != (t.DType() == garner.String) {
		if isString {
			return dtypeError(at.start, "a string stands here, and the type is %s", t.DType())
		}
		return dtypeError(at.start, "%s stands here, and the type is string; put quotes around it", kindOf(word))
	}
	if isString && word[0] == '\'' {
		word = doubleQuoted(word)
	}
	if err := t.SetText(i, word); err != nil {
		return dtypeError(at.start, "%s", bare(err))
	}
	return nil
}

// doubleQuoted turns a string in single quotes into one in double quotes.
func doubleQuoted(word string) string {
	body := []byte{'"'}
	for i := 1; i < len(word)-1; i++ {
		switch c := word[i]; {
		case c == '"':
			body = append(body, '\\', '"')
		case c == '\\' && word[i+1] == '\'':
			body = append(body, '\'')
			i++
		case c == '\\':
			body = append(body, c, word[i+1])
			i++
		default:
			body = append(body, c)
		}
	}
	return string(append(body, '"'))
}

// bare is an error's message without garner's prefix, to be put into another.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "garner: ") }
