package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

// A number is the value of a flag that takes an integer.
type number struct {
	given    bool
	value    int64
	unknown  bool // "?" was given
	question bool // "?" may be given
}

func (n *number) String() string {
	if n == nil || !n.given {
		return ""
	}
	return strconv.FormatInt(n.value, 10)
}

func (n *number) Set(text string) error {
	text = strings.TrimSpace(text)
	n.given = true
	if n.unknown = n.question && text == "?"; n.unknown {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("no tensor has so many; give a smaller number")
	}
	if err != nil {
		return errors.New("give an integer, such as 1 or -1")
	}
	n.value = v
	return nil
}

func (n *number) Type() string { return "N" }

// operatorFlags select the operator.
type operatorFlags struct {
	as              string
	opset           number
	axis, batchDims number
	attributes      []string
}

// add adds the flags to a command for operators of these kinds. otherwise ends the
// usage text of --as.
func (f *operatorFlags) add(cmd *cobra.Command, otherwise string, kinds ...operators.Kind) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.as, "as", "", "the operator, an `OP` that \"garner ops\" lists, such as openvino.Gather-8"+otherwise)
	var names []string
	for _, o := range operators.All() {
		if slices.Contains(kinds, o.Kind) {
			names = append(names, o.Name)
		}
	}
	complete(cmd, "as", names...)
	flags.Var(&f.opset, "opset", "an opset: the newest version in it, if OP has no version")
	flags.StringArrayVar(&f.attributes, "attr", nil, "an attribute of the operator, `NAME=VALUE`: an integer, a list of them, true or false, null for none, or text")
}

// complete registers the values of a flag for shell completion.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist: a bug in this program
	}
}

// find returns the operator of --as, or garner's own.
func (f *operatorFlags) find(own operators.Kind) (operators.Operator, error) {
	if f.opset.given && (f.opset.value < 1 || f.opset.value > 1<<20) {
		return operators.Operator{}, wrong("--opset %d: opsets count from 1", f.opset.value)
	}
	if f.as == "" {
		if f.opset.given {
			return operators.Operator{}, wrong("--opset is of an operator of --as; name one, such as --as onnx.Gather")
		}
		return operators.Own(own), nil
	}
	o, err := operators.Find(f.as, int(f.opset.value))
	if err != nil && f.opset.given {
		if newest, also := operators.Find(f.as, 0); also == nil {
			return o, wrong("--opset %d has no %s; %s is of a later one", f.opset.value, f.as, newest.Name)
		}
	}
	return o, err
}

// numbers returns the operator's attributes, and its inputs after data and indices,
// by name.
func (f *operatorFlags) numbers() (map[string]any, error) {
	values := make(map[string]any)
	for _, a := range f.attributes {
		name, text, found := strings.Cut(a, "=")
		if !found || name == "" {
			return nil, wrong("--attr %s: write it as NAME=VALUE, for example --attr axis=1", a)
		}
		if _, twice := values[name]; twice {
			return nil, wrong("--attr %s is given twice; give it once", name)
		}
		v, err := attribute(text)
		if err != nil {
			return nil, about("--attr "+name+": ", err)
		}
		values[name] = v
	}
	for _, n := range []struct {
		flag, name string
		number     *number
	}{{"axis", "axis", &f.axis}, {"batch-dims", "batch_dims", &f.batchDims}} {
		if !n.number.given {
			continue
		}
		if _, twice := values[n.name]; twice {
			return nil, wrong("--attr %s and --%s say the same; give one of them", n.name, n.flag)
		}
		values[n.name] = n.number.value
		if n.number.unknown {
			values[n.name] = int(garner.Unknown)
		}
	}
	return values, nil
}

// newOperator makes an operator of its values by name. The error of an input that is not
// given says how to give it.
func newOperator(o operators.Operator, values map[string]any) (garner.Op, error) {
	op, err := o.New(values)
	for _, name := range o.Inputs() {
		if err != nil && strings.HasSuffix(err.Error(), " needs its input "+name) {
			return nil, &usageError{message: fmt.Sprintf("%s; give it as --attr %s=VALUE", bare(err), name), err: err}
		}
	}
	return op, err
}

// attribute parses the value of an attribute.
func attribute(text string) (any, error) {
	trimmed := strings.TrimSpace(text)
	if v, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
		return v, nil
	}
	switch {
	case trimmed == "true":
		return true, nil
	case trimmed == "false":
		return false, nil
	case trimmed == "null":
		return nil, nil
	case strings.HasPrefix(trimmed, "["), strings.HasPrefix(trimmed, `"`), strings.HasPrefix(trimmed, "'"):
		return listOrText(trimmed)
	}
	return text, nil
}

// listOrText parses a list of integers, or quoted text.
func listOrText(text string) (any, error) {
	t, err := literal.Parse(text, garner.Invalid)
	if err != nil {
		return nil, wrong("%s", bare(err))
	}
	if t.DType() == garner.String && t.Rank() == 0 {
		s, err := garner.Values[string](t)
		if err != nil {
			return nil, err
		}
		return s[0], nil
	}
	if t.DType() != garner.I64 || t.Rank() != 1 {
		return nil, wrong("%s is a tensor %s%s; an attribute is an integer, a list of integers, true or false, null, or text", text, t.DType(), t.Shape())
	}
	return garner.Values[int64](t)
}

// rightCommand is the error of an operator that another command runs.
func rightCommand(o operators.Operator, asked operators.Kind) error {
	return wrong("%s is no %s operator; use \"garner %s --as %s\"", o.Name, asked, o.Kind, o.Name)
}

// policyFlags are the policies for negative indices and indices outside.
type policyFlags struct {
	negative, outside string
	fill              string
	filled            bool
}

func (f *policyFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(policyFlag{&f.negative, "reject|from-end", f.setNegative}, "negative", "the policy for negative indices (default: the operator's)")
	cmd.Flags().Var(policyFlag{&f.outside, "error|zero|clamp|wrap|fill=V", f.setOutside}, "outside", "the policy for indices outside their axis (default: the operator's); V is of the result's dtype")
	complete(cmd, "negative", "reject", "from-end")
	complete(cmd, "outside", "error", "zero", "clamp", "wrap", "fill=")
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
func (f policyFlag) Type() string          { return f.words }

func (f *policyFlags) setNegative(text string) error {
	if text != "reject" && text != "from-end" {
		return errors.New("give reject or from-end")
	}
	f.negative = text
	return nil
}

func (f *policyFlags) setOutside(text string) error {
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

// given reports whether any policy is given.
func (f *policyFlags) given() bool { return f.negative != "" || f.outside != "" }

// amendAll is amend for one of several gathers, whose data may have other types: a
// fill is a number, and where data's type lacks it an index outside is an error.
func (f *policyFlags) amendAll(op garner.Op, data garner.DType) (garner.Op, error) {
	amended, err := f.amend(op, data)
	if err != nil && f.filled && checkValue(garner.F64, strings.TrimSpace(f.fill)) == nil {
		strict := policyFlags{negative: f.negative, outside: garner.Error.String()}
		return strict.amend(op, data)
	}
	return amended, err
}

// amend applies the given policies to the operator.
func (f *policyFlags) amend(op garner.Op, data garner.DType) (garner.Op, error) {
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
			return nil, &usageError{message: fmt.Sprintf("--outside fill=%s: data is %s: %s", f.fill, data, bare(err)), err: err}
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
