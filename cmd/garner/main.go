// Command garner gathers slices of tensors with exactly the semantics of a
// framework's operator:
//
//	garner gathernd '[[1,2],[3,4]]' '[[0,0],[1,0]]'        prints [1, 3]
//	garner gather data.npy ids.npy --as openvino.Gather-8 --axis 1 -o rows.npy
//	garner shape --as onnx.GatherND-13 --data 'f32[1000,256,10,15]' --indices 'i64[25,?,3]'
//	garner verify conformance/
//
// "garner help" lists the commands, and "garner help gather" shows the usage of one.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	// Ignore SIGPIPE, so that a closed pipe is an error of the write instead of the
	// end of the process: the command can report it and remove temporary files.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}

	p := newProgram(os.Stdin, os.Stdout, os.Stderr)
	done := make(chan int, 1)
	go func() { done <- p.run(ctx, os.Args[1:]) }()
	select {
	case status := <-done:
		os.Exit(status)
	case <-signals:
	}
	// A second signal ends the process at once.
	signal.Stop(signals)
	cancel(errInterrupted)
	// Reads and writes of pipes do not end with the context. Wait for them only if
	// there is a temporary file to remove.
	const patience = 250 * time.Millisecond
	for {
		select {
		case status := <-done:
			os.Exit(status)
		case <-time.After(patience):
			if !p.unfinished.Load() {
				os.Exit(p.report(errInterrupted))
			}
		}
	}
}

// A program is one run of the command.
type program struct {
	stdin          io.Reader
	stdout, stderr *terminal.Text // what is written quotes what would command a terminal; terminal.Raw is below it
	unfinished     atomic.Bool    // there is a temporary file on the disk
	shown          atomic.Pointer[terminal.Meter]
	helped         error // of writing a help text
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	return &program{stdin: stdin, stdout: terminal.NewText(stdout), stderr: terminal.NewText(stderr)}
}

// run executes a command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.command()
	root.SetArgs(shieldNumbers(args))
	err := root.ExecuteContext(ctx)
	flushed := p.stdout.Flush()
	if err == nil {
		err = notPrinted(cmp.Or(p.helped, flushed))
	}
	return p.report(err)
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

const rootHelp = `garner gathers slices of tensors: it reads data where integer indices say, with
exactly the semantics of the framework operator that --as names.

Usage:
  garner gather   DATA INDICES [--axis N] [--batch-dims N] [--as OP] [-o OUT]    slices along one axis
  garner gathernd DATA INDICES [--batch-dims N] [--as OP] [-o OUT]               slices at index tuples
  garner elements DATA INDICES [--axis N] [--as OP] [-o OUT]                     one element per index
  garner shape    --as OP --data SPEC --indices SPEC ...                         infer the output's shape, run nothing
  garner explain  gather|gathernd|elements DATA INDICES ... [-o PLAN.svg]        show the plan, run nothing
  garner ops      [NAME]                                                         the operators: shapes, policies, types, examples
  garner info     FILE [--json]                                                  the arrays of a file: names, types, shapes, sizes
  garner verify   PATH... [--json]                                               compare garner with recorded answers
  garner bench    gather|gathernd|elements DATA INDICES ...                      time a gather beside this machine's limits
  garner probe    TABLE [--rows N,...] [-o PROBE.svg]                            time the ways of reading rows of a table
  garner run      MODEL --input NAME=FILE... [-o DIR]                            run a model's gathers and the nodes around them
  garner model    MODEL [--json]                                                 list the gathers of a model, extract their tables
  garner lint     MODEL [--runtime R,...] [--format text|json|sarif]             find gathers that differ in another runtime
  garner help COMMAND                                                            usage and examples of a command
  garner completion bash|zsh|fish|powershell                                     a completion script for the shell
  garner man DIR                                                                 the manual pages of all commands

Examples:
  garner gathernd '[[1,2],[3,4]]' '[[0,0],[1,0]]'
  garner gather data.npy ids.npy --axis 1 -o rows.npy
  garner gather model.safetensors#embeddings.weight ids.npy -o rows.npy

OP is DIALECT.OPERATOR-VERSION, for example openvino.Gather-8; the default is
garner's own strict operator. "garner ops" lists all.
DATA and INDICES are literals such as '[[1,2],[3,4]]', ranges such as 0:100:2, or
files: .npy, .npz#NAME, .safetensors#NAME, .gguf#NAME, .raw, .bin, and integers as
text in .txt and .csv; "-" is npy or text on standard input.
Without -o a small result is printed, and with --all any. OUT is a file, .npy, .npz,
.safetensors, .gguf or .raw; "-o -" writes npy to standard output. DATA in a file may
be larger than memory, and so may the result.

Exit status: 0 done; 1 the data or an index was refused, a file could not be read
or written, a verify had failures or a lint findings; 2 the command was wrong;
130 interrupted.`

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

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:               "garner",
		Long:              rootHelp,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              cobra.ArbitraryArgs, // RunE has a better message
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return emptyFlag(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return usage(cmd, "say what to do: gather, gathernd, elements, shape, explain, ops, info, verify, bench, probe, run, model, lint or man")
		},
	}
	root.SetIn(p.stdin) // before the completion command, which keeps the output
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SuggestionsMinimumDistance = 2
	root.SetHelpTemplate(helpTemplate)
	// cobra prints an error of writing a help text, and returns none.
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		root.SetOut(&text)
		help(cmd, args)
		root.SetOut(p.stdout)
		_, p.helped = text.WriteTo(p.stdout)
	})
	root.SetVersionTemplate("garner {{.Version}}\n")
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
	for _, k := range gatherKinds {
		root.AddCommand(p.gatherCommand(k))
	}
	root.AddCommand(p.shapeCommand(), p.explainCommand(), p.opsCommand(), p.infoCommand(), p.verifyCommand(), p.benchCommand(), p.probeCommand(),
		p.runCommand(), p.modelCommand(), p.lintCommand(), p.manCommand())
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
		return usage(cmd, "completion takes the name of a shell: bash, zsh, fish or powershell")
	}
	for _, shell := range completion.Commands() {
		shell.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(completion, "completion %s takes no arguments; %q was given", cmd.Name(), args[0])
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
	return usage(root, "no command %q%s", name, meant)
}

// emptyFlag refuses a flag with an empty value, such as an unset variable of a
// script. Otherwise the flag would silently have no effect.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = wrong("--%s is empty; give it a value, or leave it out", f.Name)
		}
	})
	return err
}

// flagError rewords an error of the flag parser.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return usage(cmd, "--%s %q: %v", value.GetFlag().Name, strings.TrimSpace(value.GetValue()), value.Unwrap())
	}
	var missing *pflag.ValueRequiredError
	if errors.As(err, &missing) {
		name := "--" + missing.GetFlag().Name
		if short := missing.GetFlag().Shorthand; short != "" {
			name = "-" + short
		}
		return usage(cmd, "%s needs a value", name)
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			if strings.HasPrefix(short, "#") {
				return namedStdin("-" + short)
			}
			// A long name with one dash is parsed as several short ones.
			return usage(cmd, "%s has no flag -%s%s", commandName(cmd), name, nearFlag(cmd, short))
		}
		return usage(cmd, "%s has no flag --%s%s", commandName(cmd), name, nearFlag(cmd, name))
	}
	return usage(cmd, "%v", err)
}

// nearFlag suggests what takes a flag that cmd lacks: one of its own commands, or the
// command of another kind of gather. Else it suggests a flag that begins like a mistyped one.
func nearFlag(cmd *cobra.Command, name string) string {
	others := cmd.Commands()
	if slices.Contains(kindNames(), cmd.Name()) {
		others = cmd.Parent().Commands()
	}
	for _, kind := range kindNames() {
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
