package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"rows":                   "rows",
		"/model/emb/Gather":      "_model_emb_Gather",
		"a:b\x00c\nd\\e":         "a_b_c_d_e",
		"":                       "_",
		"..":                     "_.",
		".hidden":                "_hidden",
		" x":                     "_x",
		"con":                    "_con",
		"Aux.1":                  "_Aux.1",
		"com1":                   "_com1",
		"comet":                  "comet",
		"größe":                  "größe",
		"\xff":                   "_",
		strings.Repeat("ä", 150): strings.Repeat("ä", 100),
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q becomes %q; want %q", name, got, want)
		}
	}
	if names, err := fileNames([]wanted{{name: "a/b"}, {name: "a"}}); err != nil || strings.Join(names, " ") != "a_b.npy a.npy" {
		t.Errorf("%v, %v", names, err)
	}
	for _, twins := range [][]wanted{{{name: "a/b"}, {name: "a:b"}}, {{name: "A"}, {name: "a"}}} {
		if _, err := fileNames(twins); err == nil || !strings.Contains(err.Error(), "would both be the file") {
			t.Errorf("%v: %v", twins, err)
		}
	}
}

// TestModelErrors holds that what is wrong with a model is not the command's
// fault, whatever its class.
func TestModelErrors(t *testing.T) {
	err := ofModel(garner.Errorf(garner.ErrAttribute, "no such attribute"))
	var shape *garner.ShapeError
	if errors.Is(err, garner.ErrAttribute) || errors.As(err, &shape) || err.Error() != "garner: no such attribute" {
		t.Error(err)
	}
	if err := ofModel(&garner.ShapeError{Message: "m"}); !errors.Is(err, garner.ErrShape) || !errors.As(err, &shape) {
		t.Error(err)
	}
	if ofModel(nil) != nil {
		t.Error("nil is an error")
	}
}
