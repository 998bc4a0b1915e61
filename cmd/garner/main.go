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
	"context"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/spf13/cobra"
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
	cancel(cmdline.ErrInterrupted)
	// Reads and writes of pipes do not end with the context. Wait for them only if
	// there is a temporary file to remove.
	const patience = 250 * time.Millisecond
	for {
		select {
		case status := <-done:
			os.Exit(status)
		case <-time.After(patience):
			if !p.unfinished.Load() {
				os.Exit(p.Report(cmdline.ErrInterrupted))
			}
		}
	}
}

// A program is one run of the command.
type program struct {
	*cmdline.Console
	unfinished atomic.Bool // there is a temporary file on the disk
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	return &program{Console: cmdline.NewConsole("garner", stdin, stdout, stderr)}
}

// run executes a command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	return p.Execute(ctx, p.command(), args)
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
  garner convert  MODEL -o OUT.onnx|OUT.xml [--outside keep|clamp|as-is]         write a model of gathers for another runtime
  garner join     PARTS -o OUT                                                   join the parts that gathers with --part wrote
  garner play                                                                    which answer each framework gives, in the browser
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

func (p *program) command() *cobra.Command {
	var commands []*cobra.Command
	for _, k := range cmdline.Commands {
		commands = append(commands, p.gatherCommand(k))
	}
	commands = append(commands, p.shapeCommand(), p.explainCommand(), p.opsCommand(), p.infoCommand(), p.verifyCommand(), p.benchCommand(), p.probeCommand(),
		p.runCommand(), p.modelCommand(), p.lintCommand(), p.convertCommand(), p.joinCommand(), p.playCommand(), p.manCommand())
	return p.Root(rootHelp, "gather, gathernd, elements, shape, explain, ops, info, verify, bench, probe, run, model, lint, convert, join, play or man", commands...)
}
