package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are texts that would give a terminal commands, and how they are quoted.
var hostile = map[string]string{
	"":                         "",
	"plain µ → 日本 \ufffd":      "plain µ → 日本 \ufffd",
	"\x1b]0;PWNED\a\x1b[31m":   `\x1b]0;PWNED\a\x1b[31m`,
	"\u009b31mRED":             `\u009b31mRED`,
	"\x9b31m":                  `\x9b31m`,
	"\x7f\b\r\v\f\x00":         `\x7f\b\r\v\f\x00`,
	"a\u202eb\u2066c\u2069":    `a\u202eb\u2066c\u2069`,
	"\u2028\u2029\ufeff":       `\u2028\u2029\ufeff`,
	"\U000e0041":               `\U000e0041`,
	"\xe2\x80":                 `\xe2\x80`,
	"\xff\xc0\xaf\xed\xa0\x80": `\xff\xc0\xaf\xed\xa0\x80`,
}

func TestPrintable(t *testing.T) {
	for text, want := range hostile {
		if got := Printable(text); got != want {
			t.Errorf("%q becomes %s; want %s", text, got, want)
		}
		if Printable(want) != want {
			t.Errorf("%s is quoted again", want)
		}
	}
	if got := Printable("a\nb\tc"); got != `a\nb\tc` {
		t.Errorf("line breaks and tabs: %s", got)
	}
	// Every character is as strconv has it.
	for r := range rune(utf8.MaxRune) {
		if quoted := strconv.Quote(string(r)); r != '"' && r != '\\' && Printable(string(r)) != quoted[1:len(quoted)-1] {
			t.Fatalf("%U becomes %s; strconv has %s", r, Printable(string(r)), quoted)
		}
	}
}

// TestText writes texts whole and in pieces of every length.
func TestText(t *testing.T) {
	for text, want := range hostile {
		text, want = text+"\n\t"+text, want+"\n\t"+want
		for piece := 1; piece <= len(text); piece++ {
			var b bytes.Buffer
			w := NewText(&b)
			for at := 0; at < len(text); at += piece {
				part := text[at:min(at+piece, len(text))]
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || b.String() != want {
				t.Errorf("%q in pieces of %d becomes %q, %v; want %q", text, piece, b.String(), err, want)
			}
		}
	}
}

// TestJSON encodes texts: the output has nothing that a terminal obeys, and reads
// back as the same texts.
func TestJSON(t *testing.T) {
	for text := range hostile {
		var b bytes.Buffer
		w := NewJSON(&b)
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		if err := e.Encode([]string{text, "<&>"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if line, ok := strings.CutSuffix(b.String(), "\n"); !ok || Printable(line) != line {
			t.Errorf("%q is encoded as %q", text, line)
		}
		if !strings.Contains(b.String(), "<&>") {
			t.Errorf("%s", b.Bytes())
		}
		var got []string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got[0] != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) {
			t.Errorf("%q comes back as %q, %v", text, got, err)
		}
		// A Text below it changes nothing more.
		var again bytes.Buffer
		if _, err := NewText(&again).Write(b.Bytes()); err != nil || again.String() != b.String() {
			t.Errorf("%q becomes %q, %v", b.String(), again.String(), err)
		}
	}
}

func TestTextBelow(t *testing.T) {
	var b bytes.Buffer
	w := NewText(&b)
	if NewText(w) != w || Raw(w) != io.Writer(&b) || Raw(&b) != io.Writer(&b) {
		t.Error("a Text is not what it writes to")
	}
	if Is(w) || Is(&b) || Is(nil) {
		t.Error("a buffer is a terminal")
	}
	if _, err := NewText(failing{}).Write([]byte("é\x1b")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if m := NewMeter(w, "gathering", 100); m != nil {
		t.Error("a meter for a buffer")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
