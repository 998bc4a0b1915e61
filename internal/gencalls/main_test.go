package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/code"
	"github.com/garner-go/garner/internal/play/recorded"
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

// TestGrid holds that each call of the grid is a line with a name of its own, all inputs
// that its operator needs, and a text.
func TestGrid(t *testing.T) {
	var out bytes.Buffer
	if err := writeGrid(json.NewEncoder(&out)); err != nil {
		t.Fatal(err)
	}
	names, kinds := map[string]bool{}, map[string]int{}
	for text := range strings.Lines(out.String()) {
		var a asked
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		if names[a.Name] || len(a.Inputs) < 2 || a.Text == "" || (a.Want == nil) == (a.Error == "") || a.Inputs[0].Shape == nil {
			t.Errorf("%s", text)
		}
		names[a.Name] = true
		kinds[a.Kind]++
	}
	if len(names) < 6000 || len(kinds) != 4 {
		t.Errorf("%d calls, of %v", len(names), kinds)
	}
}

// TestFollows holds, for each call of the list and of the grid, that what a runtime is
// told to have answered as its specification says is what garner answers.
func TestFollows(t *testing.T) {
	list, err := calls.All()
	if err != nil {
		t.Fatal(err)
	}
	grid, err := calls.Grid()
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, c := range append(list, grid...) {
		if c.Plan == nil {
			continue
		}
		for _, a := range recorded.Of(c.Recorded(), c.Reach) {
			if !a.Follows {
				continue
			}
			told++
			fails := a.Class == recorded.Refused || a.Class == recorded.NoEmpty || a.Class == recorded.NoTypes
			wrong := fails != (c.Err != nil)
			if !fails && c.Err == nil && a.Class == recorded.NaN {
				wrong = c.Want.Len() > 0 && !strings.Contains(c.Want.Text(), "NaN")
			}
			if wrong || a.Class == recorded.Garbage || a.Class == recorded.Ends {
				t.Errorf("%s, %s: %s %q, and garner answers %v, %v", c.Operator.Name, c.Title, a.Case, a.Class, c.Want, c.Err)
			}
		}
	}
	if told < 4000 {
		t.Errorf("%d answers that follow their specification", told)
	}
}
