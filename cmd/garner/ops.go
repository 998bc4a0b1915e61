package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

func (p *program) opsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ops [NAME]",
		Short: "List operators: shapes, policies, types, an example, the specification",
		Long: `NAME is an operator with or without its version, a dialect, or the command that runs
operators, such as gather; without NAME ops lists every operator. The first line has
its name, the command that runs it, and its specification. Shapes are in Python
notation: data[:axis] are the dims of data before the axis. Policies say what a
negative index and an index outside mean; --negative and --outside replace them.

Exit status: 0 done; 2 there is no operator of that name.`,
		Example: `  garner ops
  garner ops openvino.Gather-8
  garner ops jax
  garner ops elements`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cmdline.Usage(cmd, "ops takes one NAME or none; %d were given", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, o := range operators.All() {
				if len(args) == 0 {
					names = append(names, o.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			list := operators.All()
			if len(args) > 0 {
				list = slices.DeleteFunc(list, func(o operators.Operator) bool {
					return !strings.HasPrefix(o.Name, args[0]+".") && string(o.Kind) != args[0]
				})
				if len(list) == 0 {
					o, err := operators.Find(args[0], 0)
					if err != nil {
						return err
					}
					list = []operators.Operator{o}
				}
			}
			to := p.printer()
			for i, o := range list {
				if i > 0 {
					to.printf("\n")
				}
				text, err := p.describe(o)
				if err != nil {
					return err
				}
				to.printf("%s", text)
			}
			return to.flush()
		},
	}
}

// describe returns the description of an operator. All but its shape, its types and
// its example follows from the operator itself.
func (p *program) describe(o operators.Operator) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %-9s %s\n", o.Name, o.Kind, o.Spec)
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "    %-8s %s\n", label, text)
		}
	}
	line("result", o.Shape)
	var takes []string
	inputs, further, attributes := o.Inputs(), o.Further(), o.Attributes()
	for i, name := range inputs {
		kind := "input"
		if slices.Contains(further, name) {
			kind = "operand"
		}
		takes = append(takes, fmt.Sprintf("%s (%s %d)", name, kind, 3+i))
	}
	for _, name := range attributes {
		if slices.Contains(inputs, name) {
			continue
		}
		if words := o.Values(name); len(words) > 0 {
			name += " (" + strings.Join(words, ", ") + ")"
		}
		if otherwise := o.Default(name); otherwise != "" {
			name += " (" + otherwise + " where it is not given; null: none)"
		}
		takes = append(takes, name)
	}
	line("takes", strings.Join(takes, ", "))
	policies, err := p.policies(o)
	if err != nil {
		return "", err
	}
	for i, text := range policies {
		line([]string{"indices", ""}[min(i, 1)], text)
	}
	line("types", o.Types)
	line("example", exampleOf(o))
	return b.String(), nil
}

// exampleOf returns a command line that runs the operator, and its output.
func exampleOf(o operators.Operator) string {
	command, prints, _ := strings.Cut(o.Example, "   # ")
	if _, own := strings.CutPrefix(o.Name, "garner."); !own {
		command += " --as " + o.Name
	}
	return fmt.Sprintf("garner %s %s   # %s", o.Kind, command, prints)
}

// policies returns the policies for negative indices and indices outside: one line
// for the defaults, and one for every value of an attribute that changes them.
func (p *program) policies(o operators.Operator) ([]string, error) {
	own, err := p.policy(o, "", "")
	if err != nil {
		return nil, err
	}
	lines := []string{own}
	for _, attribute := range o.Attributes() {
		for _, word := range o.Values(attribute) {
			text, err := p.policy(o, attribute, word)
			if err != nil {
				return nil, err
			}
			if text != own {
				lines = append(lines, fmt.Sprintf("%s (%s=%s)", text, attribute, word))
			}
		}
	}
	return lines, nil
}

// policy returns the policies in the plan of the operator's example, with one
// attribute set to a word.
func (p *program) policy(o operators.Operator, attribute, word string) (string, error) {
	if !garner.TakesIndices(o.Zero) {
		return "none: it decodes all of data", nil
	}
	command, _, _ := strings.Cut(o.Example, "   # ")
	args, err := shellWords(command)
	if err != nil {
		return "", err
	}
	f := &cmdline.Flags{}
	i := slices.IndexFunc(cmdline.Commands, func(k cmdline.Command) bool { return k.Kind == o.Kind })
	cmd := &cobra.Command{}
	f.Add(cmd, cmdline.Commands[i])
	if err := cmd.ParseFlags(args); err != nil {
		return "", err
	}
	f.Operator.As = o.Name
	if attribute != "" {
		f.Operator.Attributes = slices.DeleteFunc(f.Operator.Attributes, func(a string) bool { return strings.HasPrefix(a, attribute+"=") })
		f.Operator.Attributes = append(f.Operator.Attributes, attribute+"="+word)
	}
	r, err := p.Ask(cmd.Context(), o.Kind, f, cmd.Flags().Args(), (&cmdline.SizeFlag{}).Budget(), nil)
	if err == nil {
		err = p.OpenRequest(cmd.Context(), f, r)
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	prepared, err := garner.Prepare(r.Op, r.DataTensor.Spec(), r.IndicesTensor.Spec(), garner.FurtherTensors(r.More()...))
	if err != nil {
		return "", err
	}
	plan := prepared.Plan()
	negative := plan.Negative.String()
	if plan.Bag != nil && plan.Bag.SkipNegative {
		negative = "left out"
	}
	return "negative: " + negative + ", outside: " + plan.Outside.String(), nil
}

// shellWords splits a command line as a shell does, with single quotes only.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quoted, begun := false, false
	for _, c := range line {
		switch {
		case c == '\'':
			quoted, begun = !quoted, true
		case c == ' ' && !quoted:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quoted {
		return nil, errors.New("garner: a quote is not closed in " + line)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
