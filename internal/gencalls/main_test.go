package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/play/code"
)

// TestWrite holds that each call is a line with a text or a reason, and an answer or an
// error; and that a departure of a runtime comes with the result that it makes.
func TestWrite(t *testing.T) {
	var out bytes.Buffer
	if err := write(json.NewEncoder(&out), code.Python); err != nil {
		t.Fatal(err)
	}
	lines, zeros := 0, false
	for text := range strings.Lines(out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		lines++
		if (l.Text == "") == (l.Unsaid == "") || (l.Want == nil) == (l.Error == "") {
			t.Errorf("%s", text)
		}
		for _, k := range l.Known {
			if l.Operator == "openvino.Gather-1" && l.Title == "a negative index" && k.Class == "0" {
				zeros = k.Want != nil && strings.Join(k.Want.Values, " ") == "1.0 2.0 0.0 0.0"
			}
		}
	}
	if lines < 600 || !zeros {
		t.Errorf("%d lines; the zeros of Gather-1 known: %v", lines, zeros)
	}
	if err := write(json.NewEncoder(&out), "fortran"); err != nil {
		t.Errorf("a language without texts: %v", err)
	}
}
