package cmdline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

// A Number is the value of a flag that takes an integer.
type Number struct {
	Given    bool
	Value    int64
	unknown  bool // "?" was given
	Question bool // "?" may be given
}

// String is the value as it was given; "" where none is.
func (n *Number) String() string {
	if n == nil || !n.Given {
		return ""
	}
	return strconv.FormatInt(n.Value, 10)
}

// Set parses a value.
func (n *Number) Set(text string) error {
	text = strings.TrimSpace(text)
	n.Given = true
	if n.unknown = n.Question && text == "?"; n.unknown {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("no tensor has so many; give a smaller number")
	}
	if err != nil {
		return errors.New("give an integer, such as 1 or -1")
	}
	n.Value = v
	return nil
}

// Type names the value in a help.
func (n *Number) Type() string { return "N" }

// OperatorFlags select the operator.
type OperatorFlags struct {
	As              string
	opset           Number
	Axis, BatchDims Number
	Attributes      []string
	values          map[string]any // more of them, which are not parsed
}

// Add adds the flags to a command for operators of these kinds. otherwise ends the
// usage text of --as.
func (f *OperatorFlags) Add(cmd *cobra.Command, otherwise string, kinds ...operators.Kind) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.As, "as", "", "the operator, an `OP` that \"garner ops\" lists, such as openvino.Gather-8"+otherwise)
	var names []string
	for _, o := range operators.All() {
		if slices.Contains(kinds, o.Kind) {
			names = append(names, o.Name)
		}
	}
	Complete(cmd, "as", names...)
	flags.Var(&f.opset, "opset", "an opset: the newest version in it, if OP has no version")
	flags.StringArrayVar(&f.Attributes, "attr", nil, "an attribute of the operator, `NAME=VALUE`: an integer, a list of them, true or false, null for none, or text")
}

// Complete registers the values of a flag for shell completion.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist: a bug in this program
	}
}

// Find returns the operator of --as, or garner's own.
func (f *OperatorFlags) Find(own operators.Kind) (operators.Operator, error) {
	if f.opset.Given && (f.opset.Value < 1 || f.opset.Value > 1<<20) {
		return operators.Operator{}, Wrong("--opset %d: opsets count from 1", f.opset.Value)
	}
	if f.As == "" {
		if f.opset.Given {
			return operators.Operator{}, Wrong("--opset is of an operator of --as; name one, such as --as onnx.Gather")
		}
		return operators.Own(own), nil
	}
	o, err := operators.Find(f.As, int(f.opset.Value))
	if err != nil && f.opset.Given {
		if newest, also := operators.Find(f.As, 0); also == nil {
			return o, Wrong("--opset %d has no %s; %s is of a later one", f.opset.Value, f.As, newest.Name)
		}
	}
	return o, err
}

// Numbers returns the operator's attributes, and its inputs after data and indices,
// by name.
func (f *OperatorFlags) Numbers() (map[string]any, error) {
	values := make(map[string]any)
	maps.Copy(values, f.values)
	for _, a := range f.Attributes {
		name, text, found := strings.Cut(a, "=")
		if !found || name == "" {
			return nil, Wrong("--attr %s: write it as NAME=VALUE, for example --attr axis=1", a)
		}
		if _, twice := values[name]; twice {
			return nil, Wrong("--attr %s is given twice; give it once", name)
		}
		v, err := attribute(text)
		if err != nil {
			return nil, About("--attr "+name+": ", err)
		}
		values[name] = v
	}
	for _, n := range []struct {
		flag, name string
		number     *Number
	}{{"axis", "axis", &f.Axis}, {"batch-dims", "batch_dims", &f.BatchDims}} {
		if !n.number.Given {
			continue
		}
		if _, twice := values[n.name]; twice {
			return nil, Wrong("--attr %s and --%s say the same; give one of them", n.name, n.flag)
		}
		values[n.name] = n.number.Value
		if n.number.unknown {
			values[n.name] = int(garner.Unknown)
		}
	}
	return values, nil
}

// NewOperator makes an operator of its values by name. The error of an input that is not
// given says how to give it.
func NewOperator(o operators.Operator, values map[string]any) (garner.Op, error) {
	op, err := o.New(values)
	for _, name := range o.Inputs() {
		if err != nil && strings.HasSuffix(err.Error(), " needs its input "+name) {
			return nil, &UsageError{Message: fmt.Sprintf("%s; give it as --attr %s=VALUE", Bare(err), name), Err: err}
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
		return nil, Wrong("%s", Bare(err))
	}
	if t.DType() == garner.String && t.Rank() == 0 {
		s, err := garner.Values[string](t)
		if err != nil {
			return nil, err
		}
		return s[0], nil
	}
	if t.DType() != garner.I64 || t.Rank() != 1 {
		return nil, Wrong("%s is a tensor %s%s; an attribute is an integer, a list of integers, true or false, null, or text", text, t.DType(), t.Shape())
	}
	return garner.Values[int64](t)
}

// RightCommand is the error of an operator that another command of a program runs.
func RightCommand(program string, o operators.Operator, asked operators.Kind) error {
	return Wrong("%s is no %s operator; use \"%s %s --as %s\"", o.Name, asked, program, o.Kind, o.Name)
}
