package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/source"
)

// A partFlag is the value of --part: K/N.
type partFlag struct{ source.Part }

func (f *partFlag) Type() string { return "K/N" }

func (f *partFlag) String() string {
	if f == nil || !f.given() {
		return ""
	}
	return fmt.Sprintf("%d/%d", f.Number, f.Of)
}

func (f *partFlag) given() bool { return f.Of > 0 }

func (f *partFlag) Set(text string) error {
	k, n, cut := strings.Cut(text, "/")
	number, err := strconv.Atoi(k)
	of, err2 := strconv.Atoi(n)
	switch {
	case !cut || err != nil || err2 != nil:
		return errors.New("give the number of the part and how many there are, such as 3/64")
	case of < 1 || number < 1 || number > of:
		return fmt.Errorf("parts count from 1 to the number of parts: 1/%d is the first and %d/%d the last", max(of, 1), max(of, 1), max(of, 1))
	}
	f.Part = source.Part{Number: number, Of: of}
	return nil
}

// What stands in -o OUT for the number of the part, and for how many parts there are.
const partHole, partsHole = "{part}", "{parts}"

// fill fills the holes of OUT.
func (f *partFlag) fill(out string) (string, error) {
	hole := strings.Contains(out, partHole)
	named := hole || slices.Contains(digitRuns.FindAllString(filepath.Base(out), -1), strconv.Itoa(f.Number)) // as make names a part itself
	switch {
	case !f.given() && (hole || strings.Contains(out, partsHole)):
		return "", cmdline.Wrong("-o %s: %s and %s are for --part K/N; give it, or another name", out, partHole, partsHole)
	case !f.given():
		return out, nil
	case !named && f.Of > 1 && out != "-" && out != "":
		return "", cmdline.Wrong("-o %s: each part needs a name of its own; put %s into it, such as 'rows-%s-of-%s.npy'", out, partHole, partHole, partsHole)
	}
	return strings.NewReplacer(partHole, strconv.Itoa(f.Number), partsHole, strconv.Itoa(f.Of)).Replace(out), nil
}

// of returns the part of a plan's result.
func (f *partFlag) of(plan *garner.Plan) (garner.Spec, source.Range, error) {
	shape, err := f.Shape(plan.Out)
	if err != nil {
		return garner.Spec{}, source.Range{}, cmdline.About("--part "+f.String()+": ", err)
	}
	elements, err := f.Range(plan.Out)
	return garner.SpecOf(plan.DType, shape...), elements, err
}
