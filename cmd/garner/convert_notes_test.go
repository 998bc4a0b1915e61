package main

import (
	"slices"
	"testing"

	"github.com/garner-go/garner/convert"
)

// TestJoinedNotes holds that what is said of many nodes is said once, and each of few is named.
func TestJoinedNotes(t *testing.T) {
	guarded := func(node string) convert.Note {
		return convert.Note{Kind: "guarded", Node: node, Op: "Gather", Text: "t"}
	}
	other := convert.Note{Kind: "guarded", Node: "h", Op: "Gather", Text: "other"}
	model := convert.Note{Kind: "dropped", Text: "a name"}
	got := joinedNotes([]convert.Note{guarded("a"), other, guarded("b"), model, guarded("c"), guarded("d"), guarded("e")})
	want := []convert.Note{guarded("a, b, c and 2 more"), other, model}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	few := []convert.Note{guarded("a"), guarded("b"), guarded("c")}
	if got := joinedNotes(few); len(got) != 1 || got[0].String() != "guarded: a, b, c (Gather): t" {
		t.Errorf("%v", got)
	}
	if got := joinedNotes(nil); got != nil {
		t.Errorf("%v", got)
	}
}
