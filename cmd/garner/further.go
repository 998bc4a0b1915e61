package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
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
// possible. A literal for an operand of DATA's type is of that type.
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
		if from.kind == kindLiteral && operands[i].Types == garner.DataType {
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
		if err != nil {
			return err
		}
		r.memory.take(role, in)
		r.further[i] = further{in, t}
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

// more returns the further operands as a call takes them.
func (r *request) more() []garner.Tensor {
	var more []garner.Tensor
	for _, f := range r.further {
		more = append(more, f.tensor)
	}
	return more
}
