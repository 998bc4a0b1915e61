package cmdline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Console is the surroundings of one run of a command: its name and its streams.
type Console struct {
	Name           string // of the command, which begins each of its messages
	stdin          io.Reader
	Stdout, Stderr *terminal.Text // what is written quotes what would command a terminal; terminal.Raw is below it
	shown          atomic.Pointer[terminal.Meter]
	helped         error // of writing a help text
}

// NewConsole returns the console of a command.
func NewConsole(name string, stdin io.Reader, stdout, stderr io.Writer) *Console {
	return &Console{Name: name, stdin: stdin, Stdout: terminal.NewText(stdout), Stderr: terminal.NewText(stderr)}
}

// Execute runs a command line and returns the exit status.
func (p *Console) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(shieldNumbers(args))
	err := root.ExecuteContext(ctx)
	flushed := p.Stdout.Flush()
	if err == nil {
		err = NotPrinted(cmp.Or(p.helped, flushed))
	}
	return p.Report(err)
}

// shieldNumbers allows a negative number as an operand, as in
// "garner gather '[1,2]' -1". It puts a space before the number, so that it is not
// parsed as a flag; literals and number flags ignore the space.
func shieldNumbers(args []string) []string {
	shielded := make([]string, len(args))
	for i, a := range args {
		if strings.HasPrefix(strings.TrimLeft(a, " "), "-") && literal.IsLiteral(a) {
			a = " " + a
		}
		shielded[i] = a
	}
	return shielded
}

// unshielded is an argument as it was typed, whose columns an error may name.
func unshielded(arg string) string {
	if strings.HasPrefix(strings.TrimLeft(arg, " "), "-") {
		return strings.TrimPrefix(arg, " ")
	}
	return arg
}

// helpTemplate shows the usage first.
const helpTemplate = `{{if not .HasParent}}{{.Long}}
{{else}}{{.Short}}.

Usage:
  {{.UseLine}}
{{if .HasExample}}
Examples:
{{.Example}}
{{end}}{{if .HasAvailableSubCommands}}
Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{with .Long}}
{{. | trimTrailingWhitespaces}}
{{end}}{{end}}`

// Root is the command above all others: its help, its version, and the form of messages.
// what names the commands for a user who names none.
func (p *Console) Root(help, what string, commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:               p.Name,
		Long:              help,
		Version:           Version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              cobra.ArbitraryArgs, // RunE has a better message
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return emptyFlag(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return Usage(cmd, "say what to do: %s", what)
		},
	}
	root.SetIn(p.stdin) // before the completion command, which keeps the output
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SuggestionsMinimumDistance = 2
	root.SetHelpTemplate(helpTemplate)
	// cobra prints an error of writing a help text, and returns none.
	write := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		root.SetOut(&text)
		write(cmd, args)
		root.SetOut(p.Stdout)
		_, p.helped = text.WriteTo(p.Stdout)
	})
	root.SetVersionTemplate(p.Name + " {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the usage of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || about == cmd.Root() && len(rest) > 0 {
				return noCommand(cmd.Root(), strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if len(args) == 0 && c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	})
	root.AddCommand(commands...)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		wantShell(completion)
	}
	return root
}

// wantShell gives errors in the use of cobra's own command the form of all others.
func wantShell(completion *cobra.Command) {
	completion.Short = "Make the completion script of a shell"
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, _ []string) error {
		return Usage(cmd, "completion takes the name of a shell: bash, zsh, fish or powershell")
	}
	for _, shell := range completion.Commands() {
		shell.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Usage(completion, "completion %s takes no arguments; %q was given", cmd.Name(), args[0])
			}
			return nil
		}
	}
}

// noCommand is the error of an unknown command.
func noCommand(root *cobra.Command, name string) error {
	meant := ""
	if near := root.SuggestionsFor(name); len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return Usage(root, "no command %q%s", name, meant)
}

// emptyFlag refuses a flag with an empty value, such as an unset variable of a
// script. Otherwise the flag would silently have no effect.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = Wrong("--%s is empty; give it a value, or leave it out", f.Name)
		}
	})
	return err
}

// flagError rewords an error of the flag parser.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return Usage(cmd, "--%s %q: %v", value.GetFlag().Name, strings.TrimSpace(value.GetValue()), value.Unwrap())
	}
	var missing *pflag.ValueRequiredError
	if errors.As(err, &missing) {
		name := "--" + missing.GetFlag().Name
		if short := missing.GetFlag().Shorthand; short != "" {
			name = "-" + short
		}
		return Usage(cmd, "%s needs a value", name)
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			if strings.HasPrefix(short, "#") {
				return namedStdin("-" + short)
			}
			// A long name with one dash is parsed as several short ones.
			return Usage(cmd, "%s has no flag -%s%s", commandName(cmd), name, nearFlag(cmd, short))
		}
		return Usage(cmd, "%s has no flag --%s%s", commandName(cmd), name, nearFlag(cmd, name))
	}
	return Usage(cmd, "%v", err)
}

// nearFlag suggests what takes a flag that cmd lacks: one of its own commands, or the
// command of another kind of gather. Else it suggests a flag that begins like a mistyped one.
func nearFlag(cmd *cobra.Command, name string) string {
	others := cmd.Commands()
	if slices.Contains(CommandNames(), cmd.Name()) {
		others = cmd.Parent().Commands()
	}
	for _, kind := range CommandNames() {
		for _, other := range others {
			if other.Name() == kind && cmd.Flags().Lookup(name) == nil && other.Flags().Lookup(name) != nil {
				return fmt.Sprintf("; %q takes it", other.CommandPath())
			}
		}
	}
	meant, most := "", 1
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		same := 0
		for same < min(len(name), len(f.Name)) && name[same] == f.Name[same] {
			same++
		}
		if same > most {
			meant, most = fmt.Sprintf("; did you mean --%s?", f.Name), same
		}
	})
	return meant
}

// Meter shows the progress of work of so many bytes, 0 where that is unknown, on
// standard error where that is a terminal. The caller stops it; report does too.
func (p *Console) Meter(what string, bytes int64) *terminal.Meter {
	m := terminal.NewMeter(p.Stderr, what, bytes)
	p.shown.Store(m)
	return m
}

// Version returns the version in the build information: the module's, or that of
// the checkout.
func Version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = buildVersion(info)
	}
	return v + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}

func buildVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+dirty"
		}
	}
	if revision == "" {
		return "(devel)"
	}
	return "(devel) " + revision + modified
}
