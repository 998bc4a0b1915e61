package cmdline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/garner-go/garner"
	"github.com/spf13/cobra"
)

// fromEnd reports whether an index is refused that lies on the axis if it counts from
// the end.
func fromEnd(bad *garner.IndexError) bool {
	value := int64(bad.Value.Bits)
	return !bad.FromEnd && !bad.Value.Unsigned && value < 0 && value >= -int64(bad.Dim)
}

// Remedy adds to the error of a refused index the flags that accept it.
func (f *PolicyFlags) Remedy(err error) error {
	var bad *garner.IndexError
	if !errors.As(err, &bad) || bad.Hint != "" || bad.Operand != "" { // no policy is for other operands
		return err
	}
	told := *bad
	told.Hint = f.Hint(bad)
	return &told
}

// Hint gives the flags that accept a refused index, unless they are given.
func (f *PolicyFlags) Hint(bad *garner.IndexError) string {
	switch {
	case bad.Dim > 0 && fromEnd(bad):
		if f.negative == "" {
			return "\"--negative from-end\" counts it from the end"
		}
	case bad.Dim == 0 && f.outside != "zero" && !f.filled:
		return "nothing can be taken from it; \"--outside zero\" or \"--outside fill=V\" put something there"
	case f.outside == "":
		return "mend it, or say what it means with --outside zero, clamp, wrap or fill=V"
	}
	return "mend it"
}

// PolicyFlags are the policies for negative indices and indices outside.
type PolicyFlags struct {
	negative, outside string
	fill              string
	filled            bool
}

// Add adds the flags to a command.
func (f *PolicyFlags) Add(cmd *cobra.Command) {
	cmd.Flags().Var(policyFlag{&f.negative, "reject|from-end", f.setNegative}, "negative", "the policy for negative indices (default: the operator's)")
	cmd.Flags().Var(policyFlag{&f.outside, "error|zero|clamp|wrap|fill=V", f.setOutside}, "outside", "the policy for indices outside their axis (default: the operator's); V is of the result's dtype")
	Complete(cmd, "negative", "reject", "from-end")
	Complete(cmd, "outside", "error", "zero", "clamp", "wrap", "fill=")
}

type policyFlag struct {
	value *string
	words string
	set   func(string) error
}

func (f policyFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f policyFlag) Set(text string) error { return f.set(text) }

func (f policyFlag) Type() string { return f.words }

func (f *PolicyFlags) setNegative(text string) error {
	if text != "reject" && text != "from-end" {
		return errors.New("give reject or from-end")
	}
	f.negative = text
	return nil
}

func (f *PolicyFlags) setOutside(text string) error {
	f.fill, f.filled = "", false
	switch text {
	case "error", "zero", "clamp", "wrap":
	case "fill", "fill=":
		return errors.New("a fill needs its value, for example --outside fill=-1")
	default:
		if f.fill, f.filled = strings.CutPrefix(text, "fill="); !f.filled {
			return errors.New("give error, zero, clamp, wrap, or fill= with a value")
		}
	}
	f.outside = text
	return nil
}

// checkValue returns the error of text that is no value of a type.
func checkValue(dtype garner.DType, text string) error {
	value, err := garner.New(dtype)
	if err == nil {
		err = value.SetText(0, text)
	}
	return err
}

// Given reports whether any policy is given.
func (f *PolicyFlags) Given() bool { return f.negative != "" || f.outside != "" }

// AmendAll amends an operator for one of several gathers, whose data may have other types: a
// fill is a number, and where data's type lacks it an index outside is an error.
func (f *PolicyFlags) AmendAll(op garner.Op, data garner.DType) (garner.Op, error) {
	amended, err := f.amend(op, data)
	if err != nil && f.filled && checkValue(garner.F64, strings.TrimSpace(f.fill)) == nil {
		strict := PolicyFlags{negative: f.negative, outside: garner.Error.String()}
		return strict.amend(op, data)
	}
	return amended, err
}

// amend applies the given policies to the operator.
func (f *PolicyFlags) amend(op garner.Op, data garner.DType) (garner.Op, error) {
	switch f.negative {
	case "reject":
		op = garner.WithNegative(op, garner.Reject)
	case "from-end":
		op = garner.WithNegative(op, garner.FromEnd)
	}
	if f.filled {
		text := strings.TrimSpace(f.fill)
		err := checkValue(data, text)
		if err != nil && data.IsFloat() && checkValue(garner.F64, text) == nil {
			err = nil // a number that data's type lacks counts only where an index is outside
		}
		if err != nil {
			return nil, &UsageError{Message: fmt.Sprintf("--outside fill=%s: data is %s: %s", f.fill, data, Bare(err)), Err: err}
		}
		return garner.WithFillText(op, text), nil
	}
	for _, o := range []garner.Outside{garner.Error, garner.Zero, garner.Clamp, garner.Wrap} {
		if o.String() == f.outside {
			op = garner.WithOutside(op, o)
		}
	}
	return op, nil
}
