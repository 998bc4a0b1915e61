// Package jsonfile reads the JSON of files token by token, because decoding into a
// map would lose duplicate keys, and decoding into any could allocate many times the
// length of the text.
package jsonfile

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
)

// A Parser reads one JSON text. Its errors are of its class.
type Parser struct {
	*json.Decoder
	what  string
	class error
}

// New returns a Parser. what names the text in messages, such as "its header"; class
// is that of errors.
func New(r io.Reader, what string, class error) Parser {
	p := Parser{json.NewDecoder(r), what, class}
	p.UseNumber()
	return p
}

func (p Parser) error(format string, args ...any) error {
	return garner.Errorf(p.class, format, args...)
}

// Spoilt returns the error of a text that the decoder refuses.
func (p Parser) Spoilt(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return p.error("%s ends inside its JSON; it is spoilt, save it again", p.what)
	}
	return p.error("%s is no JSON after %d bytes: %v; it is spoilt, save it again", p.what, p.InputOffset(), err)
}

// Object reads an object and calls value to read the value of each key. It records
// the keys in seen. A key that stands there twice is an error.
func (p Parser) Object(what string, seen map[string]bool, value func(key string) error) error {
	token, err := p.Token()
	if err != nil {
		return p.Spoilt(err)
	}
	return p.Members(token, what, seen, value)
}

// Members reads the rest of an object after its first token.
func (p Parser) Members(token json.Token, what string, seen map[string]bool, value func(key string) error) error {
	if token != json.Delim('{') {
		return p.error("%s is %.100v instead of an object; it is spoilt, save it again", what, token)
	}
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return p.Spoilt(err)
		}
		key := token.(string) // the decoder accepts only strings as keys
		if seen[key] {
			return p.error("%s has the key %s twice; the format does not allow that: save it again", what, names.Quote(key))
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	if _, err := p.Token(); err != nil {
		return p.Spoilt(err)
	}
	return nil
}

// List reads an array and calls value to read each of its values.
func (p Parser) List(what, key string, value func() error) error {
	token, err := p.Token()
	if err != nil {
		return p.Spoilt(err)
	}
	if token != json.Delim('[') {
		return p.error("%s has the %s %.100v instead of an array; it is spoilt, save it again", what, key, token)
	}
	for p.More() {
		if err := value(); err != nil {
			return err
		}
	}
	if _, err := p.Token(); err != nil {
		return p.Spoilt(err)
	}
	return nil
}

// Numbers reads an array of unsigned integers, garner.MaxRank at most.
func (p Parser) Numbers(what, key string) (numbers []uint64, err error) {
	err = p.List(what, key, func() error {
		token, err := p.Token()
		if err != nil {
			return p.Spoilt(err)
		}
		number, _ := token.(json.Number)
		n, err := strconv.ParseUint(string(number), 10, 64)
		if err != nil {
			return p.error("%s has %.100v in its %s, where integers of 0 or more stand; it is spoilt, save it again", what, token, key)
		}
		if numbers = append(numbers, n); len(numbers) > garner.MaxRank {
			return p.error("%s has more than %d numbers in its %s, the most that garner reads; reshape it", what, garner.MaxRank, key)
		}
		return nil
	})
	return numbers, err
}

// Count reads an integer of 0 or more.
func (p Parser) Count(what, key string) (int64, error) {
	token, err := p.Token()
	if err != nil {
		return 0, p.Spoilt(err)
	}
	number, _ := token.(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || n < 0 {
		return 0, p.error("%s has the %s %.100v instead of an integer of 0 or more; it is spoilt, save it again", what, key, token)
	}
	return n, nil
}

// Text reads a string.
func (p Parser) Text(what, key string) (string, error) {
	token, err := p.Token()
	if err != nil {
		return "", p.Spoilt(err)
	}
	text, ok := token.(string)
	if !ok {
		return "", p.error("%s has the %s %.100v instead of a string; it is spoilt, save it again", what, key, token)
	}
	return text, nil
}

// maxDepth limits the nesting of a skipped value, to bound the decoder's stack.
const maxDepth = 128

// Skip reads any value.
func (p Parser) Skip() error {
	for depth := 0; ; {
		token, err := p.Token()
		if err != nil {
			return p.Spoilt(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return p.error("%s nests deeper than %d; it is spoilt, save it again", p.what, maxDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// End checks that nothing follows the value that was read.
func (p Parser) End() error {
	if _, err := p.Token(); err != io.EOF {
		return p.error("%s goes on after its closing }; it is spoilt, save it again", p.what)
	}
	return nil
}
