package files

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// Info is what a header says of one array.
type Info struct {
	Name      string       // "" where the format has no names
	Kind      string       // the dtype as the format names it: "<f4", "BF16", "Q8_0"
	DType     garner.DType // of what is read; Invalid where nothing is
	Shape     garner.Shape // nil where it is not known
	Bytes     int64        // that its elements take in its file, in a compressed one with their header; -1 where that is not known
	Path      string       // the file that it lies in
	Quantised string       // for which reals the elements stand, such as "scale 0.5, zero point -3"; "" where the file does not say

	Whole string // the array of the same file that this one is a slice of, so that their bytes are the same; else ""

	Note string // why the array is not read, or only whole, and in how many slices it lies; "" where there is nothing to note
}

// List lists the arrays of a file, of all files that a pattern matches, or of
// the files of an index, in the order in which they lie there. An operand with
// #NAME lists that array alone, of each of the files, under the name that the file lists it by: a
// short name of a variable lists what its key does. Headers alone are read. Errors are those of
// Operand.Open.
func List(ctx context.Context, operand string, o Options) ([]Info, error) {
	p, err := Parse(operand)
	if err != nil {
		return nil, err
	}
	list, err := p.List(ctx, o)
	if err != nil || p.Name == "" {
		return list, err
	}
	if called := named(list, p.Name); len(called) > 0 {
		return called, nil
	}
	if p.Format.listed != nil {
		paths, err := p.files()
		if err != nil {
			return nil, err
		}
		if called := named(list, p.Format.listed(paths[0], p.Name, o)); len(called) > 0 {
			return called, nil
		}
	}
	in, err := p.Open(ctx, o) // the format's reader says which names there are
	if err != nil {
		return nil, err
	}
	a := Info{Name: p.Name, DType: in.Spec().DType, Path: p.Path, Bytes: -1}
	a.Shape, _ = in.Spec().Shape()
	if f, ok := in.Array.(*source.File); ok && len(f.ConvertedFrom()) == 0 {
		if size, ok := in.Spec().Bytes(); ok {
			a.Bytes = size
		}
	}
	return []Info{a}, in.Close()
}

// named gives the arrays of a name.
func named(list []Info, name string) []Info {
	var called []Info
	for _, a := range list {
		if a.Name == name {
			called = append(called, a)
		}
	}
	return called
}

// List lists what the operand's files have, whatever its Name; see List.
func (p Operand) List(ctx context.Context, o Options) ([]Info, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if p.scheme != nil {
		if p.scheme.List == nil {
			return nil, garner.Errorf(garner.ErrAttribute, "%s cannot be listed: scheme %s:// opens arrays alone", p.Path, p.scheme.Name)
		}
		return p.scheme.List(ctx, p.Path, o)
	}
	if err := o.check(p.Format, p.Path); err != nil {
		return nil, err
	}
	paths, err := p.files()
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, path := range paths {
		found, err := p.Format.List(path, o)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
