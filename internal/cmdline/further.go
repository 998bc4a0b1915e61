package cmdline

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

// FurtherFlags are the operands that an operator takes after DATA and INDICES.
type FurtherFlags struct{ Given []string }

// Add adds the flags to a command.
func (f *FurtherFlags) Add(cmd *cobra.Command, value, what string) {
	cmd.Flags().StringArrayVar(&f.Given, "operand", nil, "an operand of the operator beyond DATA and INDICES, `NAME="+value+"`, such as "+what)
	Complete(cmd, "operand")
}

// Texts returns what is given for each further operand of an operator, in its order;
// "" for one that is not.
func (f *FurtherFlags) Texts(o operators.Operator) ([]string, error) {
	names := o.Further()
	texts := make([]string, len(names))
	for _, g := range f.Given {
		name, text, found := strings.Cut(g, "=")
		i := slices.Index(names, name)
		switch {
		case !found || name == "" || text == "":
			return nil, Wrong("--operand %s: write it as NAME=VALUE, for example --operand offsets=[0,2]", g)
		case i < 0 && (slices.Contains(o.Inputs(), name) || slices.Contains(o.Attributes(), name)):
			return nil, Wrong("--operand %s: it is part of the operator, no operand of a call; give it as --attr %s=%s", name, name, text)
		case len(names) == 0:
			return nil, Wrong("--operand %s: %s takes no operand beyond DATA and INDICES", name, o.Name)
		case i < 0:
			return nil, Wrong("--operand %s: %s takes %s", name, o.Name, strings.Join(names, ", "))
		case texts[i] != "":
			return nil, Wrong("--operand %s is given twice; give it once", name)
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

// OpenFurther opens the operands that an operator takes after DATA and INDICES, those
// that are given: as tensors, or in place, without reading elements, where that is
// possible. A literal without a type is of DATA's for an operand of that type, of that of
// INDICES for one of integers, where it holds them, and else of one that the operator takes.
func (p *Console) OpenFurther(ctx context.Context, r *Request, texts []string, data, indices garner.Spec, inPlace bool) error {
	operands := garner.OperandsOf(r.Op)
	r.further = make([]further, len(texts))
	given := make([]Operand, len(texts))
	var untyped []int // literals of which DATA says no type
	for i, text := range texts {
		to, converts := r.to[operands[i].Name]
		switch {
		case text == "" && converts:
			return notGiven(operands[i].Name, to)
		case text == "":
			continue
		}
		role := furtherRole(operands[i])
		from := ParseOperand(text)
		if err := r.checkFurther(role, from, given[:i], operands); err != nil {
			return err
		}
		given[i] = from
		o := files.Options{}
		if from.Kind == KindLiteral && literal.DType(from.Text) == garner.Invalid && !converts {
			switch operands[i].Types {
			case garner.DataType:
				o.DType = data.DType
			case garner.IntegerTypes:
				if _, ok := retyped(from, indices.DType); ok {
					o.DType = indices.DType
				}
			case garner.AnyTypes, garner.ElementType:
				untyped = append(untyped, i)
			}
		}
		if inPlace && from.Kind == KindFile {
			in, err := p.OpenInPlace(ctx, role, from, o)
			if err == nil && converts {
				err = in.Convert(to)
			}
			if err == nil {
				r.further[i] = further{input: in}
				continue
			}
			if !errors.Is(err, files.ErrMemory) {
				return named(role, err)
			}
		}
		in, t, err := p.Open(ctx, role, from, o, r.Memory.Left())
		if err == nil && converts {
			if err = in.Convert(to); err == nil {
				if in, t, err = p.loaded(ctx, role, in, r.Memory.Left()); err == nil {
					in.Array = source.Memory(t)
				}
			}
		}
		if err != nil {
			return named(role, err)
		}
		r.further[i] = further{in, t}
	}
	if len(untyped) > 0 {
		r.settle(given, untyped, data, indices)
	}
	for i, f := range r.further {
		if f.tensor.DType() != garner.Invalid {
			r.Memory.Take(furtherRole(operands[i]), f.input)
		}
	}
	return nil
}

// notGiven is the error of a conversion of a further operand that is not given.
func notGiven(name string, to garner.DType) error {
	return Wrong("--to %s=%s: the operand is not given; add --operand %s=VALUE", name, to, name)
}

// furtherRole is how messages name a further operand.
func furtherRole(o garner.Operand) string { return "--operand " + o.Name }

// isFurther reports whether a role is of a further operand.
func isFurther(role string) bool { return strings.HasPrefix(role, "--operand ") }

// named is an error that begins with the role of an operand.
func named(role string, err error) error {
	if strings.HasPrefix(Bare(err), role) {
		return err
	}
	return About(role+": ", err)
}

// checkFurther refuses what cannot be a further operand beside those before it.
func (r *Request) checkFurther(role string, from Operand, before []Operand, operands []garner.Operand) error {
	switch {
	case from.Kind == KindUnreadable && from.Err != nil:
		return Unreadable(role, from)
	case from.Kind == KindUnreadable: // standard input is none either
		return Wrong("%s %q is neither a literal such as '[0, 2]' nor a file that garner reads: %s", role, from.Text, files.Readable())
	case from.Kind == KindStdin:
		return Wrong("%s cannot be -; put it in a file, or write a literal such as [0,2]", role)
	case from.Kind == KindFile && from.File.Format.Headerless:
		return Wrong("%s %s does not say what its bytes are, and no flag says it of an operand; save it as a .npy file", role, from.Text)
	case from.Kind == KindFile && from.File.NeedsName():
		return nameless(role, from)
	}
	for j, other := range r.Operands {
		if OnePipe(other, from) {
			return ReadOnce(OperandRoles[j], other, role, from)
		}
	}
	for j, other := range before {
		if OnePipe(other, from) {
			return ReadOnce(furtherRole(operands[j]), other, role, from)
		}
	}
	return nil
}

// settle gives the literals at the given places a type that the operator takes: the one
// that is written, else that of DATA, else f32. Where it takes none of them, they stay as
// they are written, and settle returns false. f32 counts as written where f64 is, which
// no scale and no weight of stored data is.
func (r *Request) settle(given []Operand, untyped []int, data, indices garner.Spec) bool {
	if len(untyped) == 0 {
		_, err := garner.Infer(r.Op, data, indices, r.Specs()...)
		return !errors.Is(err, garner.ErrDType)
	}
	at := untyped[0]
	written := r.further[at]
	if written.tensor.DType() == garner.F64 {
		if f, ok := retyped(given[at], garner.F32); ok {
			written = f
		}
	}
	candidates := []further{written}
	for _, d := range []garner.DType{data.DType, garner.F32} {
		if f, ok := retyped(given[at], d); ok && d != written.tensor.DType() {
			candidates = append(candidates, f)
		}
	}
	for _, c := range candidates {
		r.further[at] = c
		if r.settle(given, untyped[1:], data, indices) {
			return true
		}
	}
	r.further[at] = written
	return false
}

// retyped returns a literal of a type; false where the type lacks one of its elements.
func retyped(from Operand, dtype garner.DType) (further, bool) {
	t, err := literal.Parse(from.Text, dtype)
	return further{files.Hold(t), t}, err == nil
}

// convertible adds to the error of an operand whose float type the operator does not take
// the flag that converts it.
func (r *Request) convertible(err error, data, indices garner.Spec) error {
	if !r.Converts || !errors.Is(err, garner.ErrDType) {
		return err
	}
	operands := garner.OperandsOf(r.Op)
	specs := r.Specs()
	for i, s := range specs {
		for _, to := range []garner.DType{data.DType, garner.F32} {
			if !s.DType.IsFloat() || s.DType == to || !slices.Contains(toTypes, to.String()) {
				continue
			}
			specs[i].DType = to
			if _, other := garner.Infer(r.Op, data, indices, specs...); !errors.Is(other, garner.ErrDType) {
				return Told(fmt.Sprintf("%s; --to %s=%s converts it", err, operands[i].Name, to), err)
			}
		}
		specs[i] = s
	}
	return err
}

// refused is the error of further operands that are missing, or of a float type that the
// operator does not take, with what to do.
func (r *Request) refused(data, indices garner.Spec) error {
	if err := r.Missing(data, indices); err != nil {
		return err
	}
	if _, err := garner.Infer(r.Op, data, indices, r.Specs()...); err != nil && len(r.further) > 0 {
		if told := r.convertible(err, data, indices); told != err {
			return told
		}
	}
	return nil
}

// Missing is the error of an operand that is not given, and how to give it.
func (r *Request) Missing(data, indices garner.Spec) error {
	for i, o := range garner.OperandsOf(r.Op) {
		if !o.Optional && r.further[i].input == nil {
			_, err := garner.Infer(r.Op, data, indices, r.Specs()...)
			if errors.Is(err, garner.ErrAttribute) { // the operand's, which precedes those of attributes
				return &UsageError{Message: fmt.Sprintf("%s; give it as --operand %s=VALUE", Bare(err), o.Name), Err: err}
			}
			return nil
		}
	}
	return nil
}

// Arrays returns the further operands as package source takes them, and how many bytes
// of memory they take that were read whole.
func (r *Request) Arrays() (more []source.Array, held int64) {
	for _, f := range r.further {
		var a source.Array
		if f.input != nil {
			if a = f.input.Array; a == nil {
				a = source.Memory(f.tensor) // strings, which the plan refuses
			}
			if f.tensor.DType().Valid() {
				held += Volume(f.tensor.DType(), int64(f.tensor.Len()))
			}
		}
		more = append(more, a)
	}
	return more, held
}

// Specs returns the specs of the further operands; the zero Spec is one that is not given.
func (r *Request) Specs() []garner.Spec {
	specs := make([]garner.Spec, len(r.further))
	for i, f := range r.further {
		if f.input != nil {
			specs[i] = f.input.Spec()
		}
	}
	return specs
}

// More returns the further operands as a call takes them.
func (r *Request) More() []garner.Tensor {
	var more []garner.Tensor
	for _, f := range r.further {
		more = append(more, f.tensor)
	}
	return more
}
