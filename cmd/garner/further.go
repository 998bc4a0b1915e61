package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

// furtherFlags are the operands that an operator takes after DATA and INDICES.
type furtherFlags struct{ given []string }

func (f *furtherFlags) add(cmd *cobra.Command, value, what string) {
	cmd.Flags().StringArrayVar(&f.given, "operand", nil, "an operand of the operator beyond DATA and INDICES, `NAME="+value+"`, such as "+what)
	complete(cmd, "operand")
}

// texts returns what is given for each further operand of an operator, in its order;
// "" for one that is not.
func (f *furtherFlags) texts(o operators.Operator) ([]string, error) {
	names := o.Further()
	texts := make([]string, len(names))
	for _, g := range f.given {
		name, text, found := strings.Cut(g, "=")
		i := slices.Index(names, name)
		switch {
		case !found || name == "" || text == "":
			return nil, wrong("--operand %s: write it as NAME=VALUE, for example --operand offsets=[0,2]", g)
		case i < 0 && (slices.Contains(o.Inputs(), name) || slices.Contains(o.Attributes(), name)):
			return nil, wrong("--operand %s: it is part of the operator, no operand of a call; give it as --attr %s=%s", name, name, text)
		case len(names) == 0:
			return nil, wrong("--operand %s: %s takes no operand beyond DATA and INDICES", name, o.Name)
		case i < 0:
			return nil, wrong("--operand %s: %s takes %s", name, o.Name, strings.Join(names, ", "))
		case texts[i] != "":
			return nil, wrong("--operand %s is given twice; give it once", name)
		}
		texts[i] = text
	}
	return texts, nil
}

// further is a further operand, opened.
type further struct {
	input  *files.Input
	tensor garner.Tensor
}

// openFurther opens the operands that an operator takes after DATA and INDICES, those
// that are given: as tensors, or in place, without reading elements, where that is
// possible. A literal without a type is of DATA's for an operand of that type, and else f32
// where it has fractions.
func (p *program) openFurther(ctx context.Context, r *request, texts []string, data garner.DType, inPlace bool) error {
	operands := garner.OperandsOf(r.op)
	for i, text := range texts {
		r.further = append(r.further, further{})
		if text == "" {
			continue
		}
		role := "--operand " + operands[i].Name
		from := parseOperand(text)
		switch from.kind {
		case kindUnreadable:
			if from.err == nil { // standard input is none either
				return wrong("%s %q is neither a literal such as '[0, 2]' nor a file that garner reads: %s", role, from.text, files.Readable())
			}
			return unreadable(role, from)
		case kindStdin:
			return wrong("%s cannot be -; put it in a file, or write a literal such as [0,2]", role)
		}
		for j, other := range r.operands {
			if onePipe(other, from) {
				return readOnce(operandRoles[j], other, role, from)
			}
		}
		o := files.Options{}
		untyped := from.kind == kindLiteral && literal.DType(from.text) == garner.Invalid
		if untyped && operands[i].Types == garner.DataType {
			o.DType = data
		}
		if inPlace && from.kind == kindFile {
			in, err := p.openInPlace(ctx, role, from, o)
			if err == nil {
				r.further[i] = further{input: in}
				continue
			}
			if !errors.Is(err, files.ErrMemory) {
				return err
			}
		}
		in, t, err := p.open(ctx, role, from, o, r.memory.left())
		if err == nil && untyped && operands[i].Types == garner.AnyTypes && t.DType() == garner.F64 {
			o.DType = garner.F32 // scales and weights of stored data, of which none is f64
			in, t, err = p.open(ctx, role, from, o, r.memory.left())
		}
		if err != nil {
			return err
		}
		r.memory.take(role, in)
		r.further[i] = further{in, t}
	}
	return nil
}

// missing is the error of an operand that is not given, and how to give it.
func (r *request) missing() error {
	for i, o := range garner.OperandsOf(r.op) {
		if !o.Optional && r.further[i].input == nil {
			_, err := garner.Infer(r.op, r.data.Spec(), r.indicesTensor.Spec(), r.specs()...)
			if errors.Is(err, garner.ErrAttribute) { // the operand's, which precedes those of attributes
				return &usageError{message: fmt.Sprintf("%s; give it as --operand %s=VALUE", bare(err), o.Name), err: err}
			}
			return nil
		}
	}
	return nil
}

// arrays returns the further operands as package source takes them, and how many bytes
// of memory they take that were read whole.
func (r *request) arrays() (more []source.Array, held int64) {
	for _, f := range r.further {
		var a source.Array
		if f.input != nil {
			if a = f.input.Array; a == nil {
				a = source.Memory(f.tensor) // strings, which the plan refuses
			}
			if f.tensor.DType().Valid() {
				held += volume(f.tensor.DType(), int64(f.tensor.Len()))
			}
		}
		more = append(more, a)
	}
	return more, held
}

// specs returns the specs of the further operands; the zero Spec is one that is not given.
func (r *request) specs() []garner.Spec {
	specs := make([]garner.Spec, len(r.further))
	for i, f := range r.further {
		if f.input != nil {
			specs[i] = f.input.Spec()
		}
	}
	return specs
}

// more returns the further operands as a call takes them.
func (r *request) more() []garner.Tensor {
	var more []garner.Tensor
	for _, f := range r.further {
		more = append(more, f.tensor)
	}
	return more
}
