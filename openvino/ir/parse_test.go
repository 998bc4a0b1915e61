package ir

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func parseText(text string, lenient bool) (*net, *links, error) {
	p := &parser{path: "model.xml", lenient: lenient, most: usual}
	n, err := p.parse(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	k, err := p.link(n)
	return n, k, err
}

// TestMend holds what a lenient textReader makes of a text, and that a strict one
// gives it as it stands.
func TestMend(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`<a b=1>`, `<a b="1">`},
		{`<a b=1/>`, `<a b="1"/>`},
		{`<a b=1 />`, `<a b="1" />`},
		{"<a b=1\nc = x/y/>", "<a b=\"1\"\nc = \"x/y\"/>"},
		{`<a b="x y=1" c='d=2' e=3>f=4</a>`, `<a b="x y=1" c='d=2' e="3">f=4</a>`},
		{`<a ...>`, `<a  >`},
		{`<a b="..." ... c=...>...</a>`, `<a b="..."   c="...">...</a>`},
		{`<!-- <a b=1> --><a b=2>`, `<!-- <a b=1> --><a b="2">`},
		{`<!--> <a b=1> --><a b=2>`, `<!--> <a b=1> --><a b="2">`},
		{`<![CDATA[<a b=1>]]><?a b=1?><a b=2>`, `<![CDATA[<a b=1>]]><?a b=1?><a b="2">`},
		{`<a b=>`, `<a b=>`},
		{`<a b=`, `<a b=`},
		{`<a b=1`, `<a b="1`},
		{`<a b="1"c=2>`, `<a b="1"c="2">`},
		{`a=1 <`, `a=1 <`},
	} {
		got, err := io.ReadAll(newTextReader(strings.NewReader(tt.in), usual, true))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s is mended to %s, %v; want %s", tt.in, got, err, tt.want)
		}
		if got, err := io.ReadAll(newTextReader(strings.NewReader(tt.in), usual, false)); err != nil || string(got) != tt.in {
			t.Errorf("%s is read as %s, %v", tt.in, got, err)
		}
	}
}

// TestLimits holds that text without an end is refused where its limit is, and
// not held in memory beyond it.
func TestLimits(t *testing.T) {
	for _, tt := range []struct{ begin, fill, want string }{
		{`<net name="`, "x", "model.xml:1:1: a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net>` + "\n" + `<layers><layer id="1" name="`, "x", "model.xml:2:9: a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net>`, "x", "a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net><!--`, "-x", "a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net><![CDATA[`, "x", "a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net><!DOCTYPE `, "<", "a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net><?x `, "x", "a tag, a text or a comment here is longer than 65536 bytes"},
		{`<`, "n", "a tag, a text or a comment here is longer than 65536 bytes"},
		{`<net>`, "<a>", "<a> stands in 256 others"},
		{`<net>`, `<layers><layer id="1" name="x" type="Loop" version="opset5"><body>`, "stands in 256 others"},
		{`<net>`, "<a></a>" + strings.Repeat(" ", 1<<10), "the file is longer than 1048576 bytes"},
	} {
		for _, lenient := range []bool{false, true} {
			p := &parser{path: "model.xml", lenient: lenient, most: limits{1 << 20, 64 << 10, 256}}
			_, err := p.parse(io.MultiReader(strings.NewReader(tt.begin), &endless{text: tt.fill}))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s%s…: %v; want %q", tt.begin, clip(tt.fill), err, tt.want)
			}
		}
	}
}

// endless repeats a text for 10 GiB.
type endless struct {
	text string
	at   int
	sum  int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.sum > 10<<30 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.text[e.at:])
		n += c
		e.at = (e.at + c) % len(e.text)
	}
	e.sum += int64(n)
	return n, nil
}

// TestTruncated holds that a file cut at any byte is refused, with the place of
// the cut.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"embedding", "strings", "loop"} {
		file := filepath.Join("testdata", name+".xml")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(string(b))
		if _, _, err := parseText(text, false); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for n := range len(text) {
			if _, _, err := parseText(text[:n], n%2 == 1); err == nil {
				t.Fatalf("%s: its first %d bytes are read", file, n)
			} else if !strings.HasPrefix(err.Error(), "garner: model.xml:") {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
}
