package main

import (
	"context"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
)

// dataOptions returns how DATA is opened, given its flags. An operator of dialect gguf
// takes the blocks of a .gguf, and the file names their kind where --attr type does not:
// r.op is then of that kind.
func (r *request) dataOptions(ctx context.Context, from operand, o files.Options) (files.Options, error) {
	if !strings.HasPrefix(r.operator.Name, "gguf.") || from.kind != kindFile || !from.file.Format.Quantised {
		return o, nil
	}
	o.Blocks = true
	list, err := from.file.List(ctx, o)
	i := slices.IndexFunc(list, func(a files.Info) bool { return a.Name == from.file.Name })
	if err != nil || i < 0 {
		return o, nil // opening it says more
	}
	kind := list[i].Kind
	given, is := r.numbers["type"]
	switch {
	case list[i].DType != garner.U8 && list[i].DType != garner.Invalid:
		return o, garner.Errorf(garner.ErrDType, "%s is of %s, whose elements %s does not decode; gather them without --as", from.text, kind, r.operator.Name)
	case !is:
		r.numbers["type"] = kind
		r.op, err = r.operator.New(r.numbers)
		return o, err
	case !o.Raw && given != any(kind):
		return o, wrong("--attr type=%v: %s is of %s; leave type out, or say with --raw that its bytes are blocks of %v", given, from.text, kind, given)
	}
	return o, nil
}
