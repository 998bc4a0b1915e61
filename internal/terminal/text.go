package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable quotes what a terminal would not print as one line: control
// characters of C0 and C1, DEL, line breaks and tabs, marks that turn the
// direction of text, separators of lines, and bytes that are not UTF-8. Each
// becomes its escape in a Go string, such as \x1b or \u202e; all other text
// stays.
func Printable(text string) string {
	for i, r := range text {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return text[:i] + string(appendPrintable(nil, text[i:], false, ""))
		}
	}
	return text
}

// A Text is a Writer of text for people. What Printable quotes it writes quoted,
// so that a name out of a file gives a terminal no commands; line breaks and tabs
// alone pass. Goroutines may share it.
type Text struct {
	w    io.Writer
	json bool

	mu   sync.Mutex
	held []byte // the beginning of a character, whose rest the next Write brings
	room []byte
}

// NewText writes to w. A w that is a Text already is returned as it is.
func NewText(w io.Writer) *Text {
	if t, ok := w.(*Text); ok {
		return t
	}
	return &Text{w: w}
}

// NewJSON writes to w what an encoder of JSON makes. Characters that Printable
// quotes become \uXXXX, which JSON reads back.
func NewJSON(w io.Writer) *Text { return &Text{w: w, json: true} }

// Raw is the writer below a Text, for bytes that are no text and for the
// program's own commands to the terminal; any other w is returned as it is.
func Raw(w io.Writer) io.Writer {
	if t, ok := w.(*Text); ok {
		return t.w
	}
	return w
}

// Write writes text. It may hold up to three bytes back, which the next Write or
// Flush writes.
func (t *Text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.held) == 0 && plain(b) {
		return t.w.Write(b)
	}
	all := b
	if len(t.held) > 0 {
		all = append(t.held, b...)
	}
	whole := len(all)
	for n := 1; n < utf8.UTFMax && n <= len(all); n++ {
		if last := all[len(all)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= n
			}
			break
		}
	}
	t.room = appendPrintable(t.room[:0], string(all[:whole]), t.json, "\n\t")
	t.held = bytes.Clone(all[whole:])
	if _, err := t.w.Write(t.room); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes the bytes that are held back, quoted: the text ends inside a
// character.
func (t *Text) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.held) == 0 {
		return nil
	}
	_, err := t.w.Write(appendPrintable(nil, string(t.held), t.json, ""))
	t.held = nil
	return err
}

// plain reports whether text is of ASCII alone, with nothing to quote.
func plain(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// appendPrintable appends text, quoted but for the characters that pass.
func appendPrintable(dst []byte, text string, json bool, pass string) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1 && json:
			dst = append(dst, `\ufffd`...)
		case r == utf8.RuneError && size == 1:
			dst = fmt.Appendf(dst, `\x%02x`, text[i])
		case strconv.IsPrint(r) || strings.IndexByte(pass, text[i]) >= 0:
			dst = append(dst, text[i:i+size]...)
		case json:
			for _, unit := range utf16.AppendRune(nil, r) {
				dst = fmt.Appendf(dst, `\u%04x`, unit)
			}
		default:
			quoted := strconv.QuoteRune(r)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		i += size
	}
	return dst
}
