package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner/beam"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

// examples are those of the three gather commands.
var examples = map[operators.Kind]string{
	operators.Gather: `  garner-beam gather table.npy ids.npy -o rows/
  garner-beam gather '/data/table/part-*.npy' '/data/ids/part-*.npy' -o /data/rows/ --runner flink --endpoint HOST:8099
  garner-beam gather model.gguf#token_embd.weight ids.npy -o rows/ --to f16 --shard 16M
  garner-beam gather table.npy ids.npy -o sums/ --as torch.embedding_bag --operand offsets=offsets.npy --attr mode=sum`,
	operators.GatherND: `  garner-beam gathernd data.npy at.npy -o out/
  garner-beam gathernd data.npy at.npy --as openvino.GatherND-8 --batch-dims 1 -o out/ --workers 4`,
	operators.Elements: `  garner-beam elements data.npy at.npy --axis 1 -o out/
  garner-beam elements data.npy at.npy --as onnx.GatherElements-13 -o out/`,
}

const gatherHelp = cmdline.OperandsHelp + `Every worker opens these files by their absolute paths, so all workers need the same
ones; standard input is none of them. A file of no such extension is known by its first
bytes. INDICES may have any integer type. gguf.dequantize and
torch.quantized_embedding_unpack decode all of DATA: leave INDICES out.

` + cmdline.FurtherHelp + `
--to f32, f16, bf16 or f64 converts DATA of any float type, quantised ones too, as its
rows are read. --to NAME=f32 converts a further operand.

DIR gets the result as shards of 16 MiB, part-00001-of-00123.npy and so on, then
manifest.json, and last an empty _SUCCESS. garner opens DIR as one array. DIR is created
if it is absent. It may hold nothing but what an earlier run has left, of which the same
command keeps the shards that are whole, and no file of DATA, INDICES and further
operands.

All indices are checked before any row is written. The error of a bad one is that of
"garner gather".

--runner prism runs the pipeline in this process. --runner flink gives it to the Beam
job server at --endpoint, and waits for its end; --detach prints the id of the job and
leaves it running. The workers start --worker, a path of garner-beam that is the same
build on each machine, or a container of --image. --flink is the REST API of Flink
itself: only it tells how far a job is, and cancels one that runs.

On a terminal the command shows how far the job is, and Ctrl-C asks whether the job is to
be cancelled. Without a terminal Ctrl-C cancels it, as SIGTERM and SIGHUP do always. What
is whole by then stays, and the same command goes on with it. A second Ctrl-C ends the
command at once; a job of Flink then runs on.

Exit status: 0 done; 1 DATA, INDICES or an index was refused, a file could not be read
or written, or the runner failed; 2 the command was wrong, also an unknown operator or
attribute; 130 interrupted.`

// gatherFlags are the flags of a gather.
type gatherFlags struct {
	cmdline.Flags
	out              string
	runner, endpoint string
	flink            string
	worker, image    string
	shard, memory    cmdline.SizeFlag
	workers          cmdline.Number
	detach           bool
}

func (p *program) gatherCommand(k cmdline.Command) *cobra.Command {
	f := &gatherFlags{}
	cmd := &cobra.Command{
		Use:               string(k.Kind) + " DATA INDICES -o DIR",
		Short:             k.Short,
		Long:              gatherHelp,
		Example:           examples[k.Kind],
		Args:              cmdline.TwoOperands,
		ValidArgsFunction: cmdline.CompleteOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				return cmdline.Usage(cmd, "%s needs a folder for the result: -o rows/, for example", cmd.Name())
			}
			return p.gather(cmd.Context(), k.Kind, f, args)
		},
	}
	f.Add(cmd, k)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the result into the folder `DIR`, which is created if necessary")
	f.AddTo(cmd)
	flags.StringVar(&f.runner, "runner", beam.PrismRunner, "run on `prism|flink`: in this process, or by a Beam job server for Flink")
	cmdline.Complete(cmd, "runner", beam.PrismRunner, beam.FlinkRunner)
	flags.StringVar(&f.endpoint, "endpoint", "", "the job server of --runner flink, `HOST:PORT`; the port is most often 8099")
	cmdline.Complete(cmd, "endpoint")
	flags.StringVar(&f.flink, "flink", "", "the REST API of the Flink of --runner flink, `HOST:PORT`; the port is most often 8081")
	cmdline.Complete(cmd, "flink")
	flags.StringVar(&f.worker, "worker", "", "the `PATH` of garner-beam where the workers of --runner flink run (default: that of this one)")
	flags.StringVar(&f.image, "image", "", "the `NAME` of a container image whose entry point is a worker, instead of --worker")
	cmdline.Complete(cmd, "image")
	flags.Var(&f.shard, "shard", "write shards of at most `SIZE`, such as 16M (default 16M, most 32M)")
	flags.Var(&f.memory, "memory", "take at most `SIZE` of memory for the run of one shard, such as 512M (default 128M)")
	flags.Var(&f.workers, "workers", "let `N` workers run at a time (default: the runner's)")
	flags.BoolVar(&f.detach, "detach", false, "return when the job of --runner flink has begun")
	return cmd
}

// gather describes one gather as a job, and runs it.
func (p *program) gather(ctx context.Context, kind operators.Kind, f *gatherFlags, args []string) error {
	runner := f.on()
	r, err := p.Ask(ctx, kind, &f.Flags, args, (&cmdline.SizeFlag{}).Budget(), func() error { return f.check(runner) })
	if err != nil {
		return err
	}
	job := beam.Job{ShardBytes: f.shard.Bytes, Memory: f.memory.Bytes}
	line, err := r.Describe(&f.Flags)
	if err != nil {
		return err
	}
	job.Description = described(line)
	if job.Out, err = filepath.Abs(f.out); err != nil {
		return cmdline.About("-o ", err)
	}
	if err := job.CheckOut(); err != nil {
		return cmdline.About("-o ", err)
	}
	started, err := beam.Start(ctx, job, runner)
	if err != nil {
		if errors.Is(context.Cause(ctx), cmdline.ErrInterrupted) {
			return cmdline.Interrupted(f.interrupted())
		}
		return f.Policy.Remedy(err)
	}
	defer started.Close()
	switch {
	case started.ID == "":
		p.say("%s has the result of this job already", f.out)
		return nil
	case f.detach:
		return p.leave(f, started.ID)
	}
	return f.Policy.Remedy(p.follow(ctx, f, started))
}

// described is a command line as package beam takes it.
func described(line cmdline.Description) beam.Description {
	d := beam.Description{
		Operator: line.Operator, Attributes: beam.Attributes(line.Attributes), Negative: line.Negative, Outside: line.Outside,
		Data: beam.Operand(line.Data), Indices: beam.Operand(line.Indices), Further: make(map[string]beam.Operand),
	}
	for name, o := range line.Further {
		d.Further[name] = beam.Operand(o)
	}
	return d
}

// on is the runner that the flags name.
func (f *gatherFlags) on() beam.Runner {
	return beam.Runner{Name: f.runner, Endpoint: f.endpoint, FlinkREST: f.flink, Worker: f.worker, Image: f.image, Workers: int(f.workers.Value)}
}

// check refuses flags before any operand is looked at.
func (f *gatherFlags) check(runner beam.Runner) error {
	if f.workers.Given && f.workers.Value < 1 {
		return cmdline.Wrong("--workers %d: give 1 or more; without it the runner decides", f.workers.Value)
	}
	if f.shard.Bytes > beam.MostShardBytes {
		return cmdline.Wrong("--shard %s: a shard has at most 32 MiB; give 32M or less", f.shard.Text)
	}
	if f.out == "-" {
		return cmdline.Wrong("-o -: the result is a folder of shards; name one, such as rows/")
	}
	if err := files.NoOutputURL(f.out); err != nil {
		return cmdline.About("-o ", err)
	}
	if err := runner.Check(); err != nil {
		return cmdline.About("--runner "+f.runner+": ", err)
	}
	switch {
	case f.detach && runner.Name != beam.FlinkRunner:
		return cmdline.Wrong("--runner %s: %[1]s runs in this process, and the job ends with it; leave --detach out", f.runner)
	case f.worker != "" && f.image != "":
		return cmdline.Wrong("--worker and --image both say what the workers are; give one of them")
	case f.worker != "" && !filepath.IsAbs(f.worker):
		return cmdline.Wrong("--worker %s: give an absolute path, which means the same on each machine", f.worker)
	case strings.ContainsAny(f.worker, " \t"):
		return cmdline.Wrong("--worker %q: an engine takes a path without spaces; give garner-beam another path", f.worker)
	}
	return nil
}
