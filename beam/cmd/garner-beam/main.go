// Command garner-beam gathers on more than one machine, as a pipeline of Apache Beam:
//
//	garner-beam gather '/data/table/part-*.npy' /data/ids.npy -o /data/rows/ --runner flink --endpoint HOST:8099
//	garner-beam gather table.npy ids.npy -o rows/
//
// Its gathers are those of command garner. "garner-beam help gather" shows the usage of one.
// Where an engine starts it, it is a worker.
package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/garner-go/garner/beam/worker"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/spf13/cobra"
)

func main() {
	if worker.Called(os.Args[1:]) {
		c := cmdline.NewConsole("garner-beam", os.Stdin, os.Stdout, os.Stderr)
		os.Exit(c.Report(worker.Main(context.Background(), os.Args[1:])))
	}
	// Prism and Beam's client log each step; the command tells what a user must know. Init
	// sets a logger of its own.
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	// Ignore SIGPIPE, so that a closed pipe is an error of the write instead of the end of the process.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancelCause(context.Background())
	p := newProgram(os.Stdin, os.Stdout, os.Stderr)
	heard := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		heard = append(heard, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, heard...)
	go func() {
		for s := range signals {
			signal.Stop(signals) // a second signal ends the process at once
			cause := error(cmdline.ErrInterrupted)
			if f := p.following.Load(); s == os.Interrupt && f != nil {
				cause = f.ask()
			}
			if cause != nil {
				cancel(cause)
				return
			}
			signal.Notify(signals, heard...)
		}
	}()
	os.Exit(p.run(ctx, os.Args[1:]))
}

// A program is one run of the command.
type program struct {
	*cmdline.Console
	stdin     io.Reader
	following atomic.Pointer[following] // the job that it waits for; else nil
	status    int                       // where nothing is wrong
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	return &program{Console: cmdline.NewConsole("garner-beam", stdin, stdout, stderr), stdin: stdin}
}

// run executes a command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	if status := p.Execute(ctx, p.command(), args); status != cmdline.StatusDone {
		return status
	}
	return p.status
}

const rootHelp = `garner-beam gathers slices of tensors on more than one machine, as a pipeline of Apache
Beam: in this process with its runner Prism, or on Flink.

Usage:
  garner-beam gather   DATA INDICES [--axis N] [--batch-dims N] [--as OP] -o DIR    slices along one axis
  garner-beam gathernd DATA INDICES [--batch-dims N] [--as OP] -o DIR               slices at index tuples
  garner-beam elements DATA INDICES [--axis N] [--as OP] -o DIR                     one element per index
  garner-beam status   [JOB] --endpoint HOST:PORT [--flink HOST:PORT]               the jobs of an engine, or how far one is
  garner-beam worker   --id ID --provision_endpoint HOST:PORT                       what an engine starts on each machine
  garner-beam version                                                               the version
  garner-beam help COMMAND                                                          usage and examples of a command
  garner-beam completion bash|zsh|fish|powershell                                   a completion script for the shell

Examples:
  garner-beam gather table.npy ids.npy -o rows/
  garner-beam gather '/data/table/part-*.npy' /data/ids.npy -o /data/rows/ --runner flink --endpoint HOST:8099

DATA, INDICES and OP are those of garner: "garner help gather" and "garner ops" say more.
DIR gets shards of the result and manifest.json, by which garner opens it as one array.

Exit status: 0 done; 1 the data or an index was refused, a file could not be read or
written, or the runner failed; 2 the command was wrong; 3 the job that status asks for
has not ended; 130 interrupted.`

func (p *program) command() *cobra.Command {
	var commands []*cobra.Command
	for _, k := range cmdline.Commands {
		commands = append(commands, p.gatherCommand(k))
	}
	return p.Root(rootHelp, "gather, gathernd, elements, status, worker or version", append(commands, p.statusCommand(), workerCommand(), p.versionCommand())...)
}

const workerHelp = `An engine starts this command on each of its machines, once for each job, and passes
these flags. The worker runs the stages of the job until the engine ends it or is gone.
garner-beam without the word worker does the same where --provision_endpoint is given.

Nobody types this command. The engine finds it by the path that "garner-beam gather
--worker" names, or as the entry point of a container of --image. It must be the build
that started the job.

Exit status: 0 the engine has ended it; 1 the engine did not answer, or is gone.`

// workerCommand is for those who ask; main hands a worker's command line to package worker.
func workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "worker --id ID --provision_endpoint HOST:PORT",
		Short:             "Work for an engine, which starts this command",
		Long:              workerHelp,
		Example:           "  garner-beam worker --id=1-1 --provision_endpoint=localhost:40000",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmdline.Usage(cmd, "worker is what an engine starts, with --id=ID --provision_endpoint=HOST:PORT; it needs both")
		},
	}
	cmd.Flags().String("id", "", "the `ID` that the engine gives the worker")
	cmd.Flags().String("provision_endpoint", "", "where the engine tells its other endpoints, `HOST:PORT`")
	return cmd
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  garner-beam version",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdline.Usage(cmd, "version takes no arguments; %q was given", args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(p.Stdout, "garner-beam "+cmdline.Version()+"\n")
			return cmdline.NotPrinted(err)
		},
	}
}
