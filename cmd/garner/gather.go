package main

import (
	"context"
	"errors"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

// gatherExamples are those of the three gather commands.
var gatherExamples = map[operators.Kind]string{
	operators.Gather: `  garner gather '[[1,2],[3,4],[5,6]]' '[2,0]'                   # [[5, 6], [1, 2]]
  garner gather '[[1,2],[3,4],[5,6]]' '[1]' --axis 1            # [[2], [4], [6]]
  garner gather '[[1,2],[3,4]]' '[[1],[0]]' --axis 1 --batch-dims 1   # [[2], [3]]
  garner gather '[1,2,3]' '[0,-1,7]' --as openvino.Gather-8     # [1, 3, 0]
  garner gather 'f32[1,2,3]' '[0,7]' --outside fill=NaN         # [1.0, NaN]
  garner gather data.npy ids.npy --as onnx.Gather-13 -o rows.npy
  garner gather model.safetensors#embeddings.weight ids.npy -o rows.npy
  garner gather arrays.npz#table arrays.npz#ids -o rows.safetensors --name rows
  garner gather data.npy ids.npy -o rows.npy --memory 512M
  garner gather data.npy ids.npy -o 'rows-{part}-of-{parts}.npy' --part 1/4
  garner gather 'f8e4m3fn[0.5,448]' '[1]' --to f32                # [448.0]
  garner gather 'f32[[1,2],[3,4],[5,6]]' '[2,0,1]' --as torch.embedding_bag --operand offsets=[0,2] --attr mode=sum   # [[6.0, 8.0], [3.0, 4.0]]
  garner gather 'u8[[1,2],[3,4]]' '[1]' --as openvino.compressed-gather --operand scale=0.5   # [[1.5, 2.0]]
  cat ids.npy | garner gather data.npy - -o - > rows.npy`,
	operators.GatherND: `  garner gathernd '[[1,2],[3,4]]' '[[0,0],[1,0]]'               # [1, 3]
  garner gathernd '[[1,2],[3,4]]' '[[1],[0]]'                   # [[3, 4], [1, 2]]
  garner gathernd '[[1,2],[3,4]]' '[[1],[0]]' --batch-dims 1    # [2, 3]
  garner gathernd '["a","b","c"]' '[[2],[0]]' --as tensorflow.GatherNd   # ["c", "a"]
  garner gathernd data.npy at.npy --as openvino.GatherND-5 --batch-dims 2 -o out.npy`,
	operators.Elements: `  garner elements '[[1,2],[3,4]]' '[[0,0],[1,0]]' --axis 1      # [[1, 1], [4, 3]]
  garner elements '[[1,2],[3,4]]' '[[1,0]]' --as onnx.GatherElements-13   # [[3, 2]]
  garner elements data.npy at.npy --as openvino.GatherElements-6 --axis 2 -o out.npy`,
}

const gatherHelp = cmdline.OperandsHelp + `  -                         npy or text on standard input
A file of no such extension, such as /dev/fd/63, is known by its first bytes. INDICES
may have any integer type. gguf.dequantize and torch.quantized_embedding_unpack decode
all of DATA: leave INDICES out.

` + cmdline.FurtherHelp + `
Without -o the command prints a result of up to 1000 elements as nested lists, which
are a literal that garner reads again; --dtype gives it its type back. Nested lists do
not show the dims that follow a 0: write an empty result with -o to keep its shape. A
larger result is printed whole with --all. Without --all a terminal shows its type,
shape and ends, for which only those elements are read; elsewhere it is refused. A file
of -o appears whole or not at all.

DATA in a file, INDICES and the result of -o may each be larger than memory: garner
reads only the rows that the indices name and writes the result block by block.
--memory SIZE limits the memory held at a time, mapped pages of files included.
INDICES that can only be read whole, such as text, may take half of it; so may all
INDICES and operands of bags, which are held whole. It does not change the result.

--part K/N makes one of N parts of the result, so that N runs, on any machines, share
the work: contiguous ranges of the result's first axis, of which some are empty where
it is shorter than N. A bad index of a part is told as that of the whole. "garner join"
makes one file of the parts, and garner opens 'rows-*-of-64.npy' as one array.

--to f32, f16, bf16 or f64 converts DATA of any float type, quantised ones too, as its
rows are read. What the type does not have rounds to the nearest value, of two as near
the even one. A fill is one of that type. --to NAME=f32 converts a further operand.

When Ctrl-C, kill -9 or a power loss interrupts a run whose OUT has 64 MiB or more,
or a run with --memory, the same command with --resume continues it; --resume is
safe on a first run too. --resume is refused if DATA, INDICES, a further operand or
what the flags mean has changed. An unfinished run leaves .garner-OUT.part and
.garner-OUT.resume beside OUT. --resume compares what is kept with its checksums
first; without --resume the command starts anew. OUT must be none of the files of
DATA, INDICES, further operands and the models they are part of.

Exit status: 0 done; 1 DATA, INDICES or an index was refused, or a file could not
be read or written; 2 the command was wrong, also an unknown operator or attribute;
130 interrupted. If a reader such as head closes the pipe early, the status is 1;
for printed text there is then no message.`

// gatherFlags are the flags of a gather.
type gatherFlags struct {
	cmdline.Flags
	out, name string
	all       bool
	threads   cmdline.Number
	stream    streamFlags
}

func (p *program) gatherCommand(k cmdline.Command) *cobra.Command {
	f := &gatherFlags{}
	cmd := &cobra.Command{
		Use:               string(k.Kind) + " DATA INDICES",
		Short:             k.Short,
		Long:              gatherHelp,
		Example:           gatherExamples[k.Kind],
		Args:              cmdline.TwoOperands,
		ValidArgsFunction: cmdline.CompleteOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.gather(cmd.Context(), k.Kind, f, args)
		},
	}
	f.Add(cmd, k)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the result to `OUT`: a .npy, .npz, .safetensors, .gguf or .raw file, or - for npy on standard output")
	f.AddTo(cmd)
	flags.BoolVar(&f.all, "all", false, allUsage)
	flags.StringVar(&f.name, "name", "", "the result's `NAME` in a .npz (default arr_0), .safetensors or .gguf file (default output)")
	flags.Var(&f.stream.memory, "memory", "take at most `SIZE` of memory for DATA, INDICES and the result at a time, such as 512M or 2G (default: as much as is fastest)")
	flags.BoolVar(&f.stream.resume, "resume", false, "continue an interrupted run of the same command; safe on a first run")
	flags.Var(&f.stream.part, "part", "make part `K/N` of the result alone, 1/N to N/N: a range of its first axis; {part} and {parts} in OUT are K and N")
	flags.Var(&f.threads, "threads", "use `N` cores (default all)")
	return cmd
}

// gather runs one gather: block by block out of files if DATA and OUT allow it,
// else in memory.
func (p *program) gather(ctx context.Context, kind operators.Kind, f *gatherFlags, args []string) (err error) {
	if f.out, err = f.stream.part.fill(f.out); err != nil {
		return err
	}
	if f.out == "" {
		if err := p.checkOutput("", f.name); err != nil {
			return err
		}
	}
	if f.all && f.out != "" {
		return cmdline.Wrong("--all prints the result and -o %s writes it; give one of them", f.out)
	}
	r, err := p.askedOf(ctx, kind, f, args, func(out string) error { return p.checkOutput(out, f.name) })
	if err != nil {
		return err
	}
	r.Converts = true
	if err := f.check(r.Operands[0]); err != nil {
		return err
	}
	if f.streams(r.Operands[0]) {
		r.Data, err = p.OpenInPlace(ctx, cmdline.OperandRoles[0], r.Operands[0], r.Options)
		switch {
		case err == nil:
			defer r.Close()
			return p.stream(ctx, f, r)
		case !errors.Is(err, files.ErrMemory):
			return err
		case f.stream.flag() != "":
			return &cmdline.UsageError{Message: f.stream.flag() + ": DATA " + cmdline.Bare(err), Err: err}
		}
	}
	r.InPlace = f.out == ""
	if len(r.Operator.Further()) == 0 { // else the result's shape follows from operands that are not open yet
		r.Ask = func(plan *garner.Plan) error {
			if f.out == "" && !f.all && literal.Lists(plan.Out, printed) > printed {
				_, err := p.long("the result", garner.SpecOf(plan.DType, plan.Out...), toOut)
				return err // a terminal shows the ends alone
			}
			return room(plan, r.Memory.Left())
		}
	}
	if err := p.OpenRequest(ctx, &f.Flags, r); err != nil {
		return err
	}
	defer r.Close()
	data, indices, more := r.DataTensor, r.IndicesTensor, r.More()
	var meter *terminal.Meter
	tell := func(done, _ int64) { meter.Set(cmdline.Volume(data.DType(), done)) }
	prepared, err := garner.Prepare(r.Op, r.DataSpec(), indices.Spec(), garner.Threads(int(f.threads.Value)), garner.Progress(tell), garner.FurtherTensors(more...))
	if err != nil {
		return err
	}
	plan := prepared.Plan()
	if r.InPlace {
		if done, err := p.gatherPrinted(ctx, f, r, plan); done || err != nil {
			return err
		}
	}
	if indices.Len() > cmdline.FewIndices {
		if err := room(plan, r.Memory.Left()); err != nil {
			return err
		}
	}
	if err := checkFirst(ctx, plan, data.Spec(), r.IndexArray(), 0); err != nil {
		return f.Policy.Remedy(err)
	}
	out, err := newResult(plan, r.Memory.Left())
	if err != nil {
		return err
	}
	var to *output
	if f.out != "" {
		var writing *terminal.Meter
		to, err = p.create(ctx, f.out, garner.SpecOf(out.DType(), out.Shape()...), files.CreateOptions{
			Name: f.name, Descr: r.Data.Descr, Inputs: r.Paths(), Progress: p.writing(&writing),
		})
		if err != nil {
			return err
		}
		defer func() {
			writing.Stop()
			to.end()
		}()
	}
	meter = p.Meter("gathering", cmdline.Volume(out.DType(), int64(out.Len())))
	err = prepared.Run(ctx, data, indices, out, more...)
	meter.Stop()
	if err != nil {
		return f.Policy.Remedy(err)
	}
	if err := r.Changed(); err != nil {
		return err
	}
	if f.out == "" {
		return p.print(out, f.all)
	}
	return to.write(out)
}

// checkFirst looks at the indices of a gather whose data has no element, before
// memory or disk is taken for its result, which may have any size: no index is
// inside. Bags can leave out such an index. budget is the most bytes that it takes of the
// indices at a time; 0 is no budget.
func checkFirst(ctx context.Context, plan *garner.Plan, data garner.Spec, indices source.Array, budget int64) error {
	shape, _ := data.Shape()
	if n, _ := shape.Len(); n > 0 || plan.Bag != nil || len(plan.Axes) == 0 {
		return nil
	}
	if size, ok := indices.Spec().Bytes(); budget == 0 && (!ok || size > surveyed) {
		budget = surveyed
	}
	r, err := source.NewResolver(plan, indices, budget)
	if err != nil {
		return err
	}
	s, err := r.Survey(ctx)
	if err == nil && s.First != nil {
		err = s.First
	}
	return err
}

// surveyed is the most bytes of indices that are looked at in place. Larger ones are
// read a part of so many bytes at a time, so that a mapped file does not fill the memory.
const surveyed = 64 << 20

// memory returns the most bytes of memory that this process can have.
func memory() float64 { return float64(limits.Memory().Bytes) }

// newResult allocates a result for which there is room.
func newResult(plan *garner.Plan, most limits.Bound) (garner.Tensor, error) {
	if err := room(plan, most); err != nil {
		return garner.Tensor{}, err
	}
	return garner.New(plan.DType, plan.Out...)
}

// room refuses a result larger than the memory that the process can have, whose
// allocation would kill it.
func room(plan *garner.Plan, most limits.Bound) error {
	_, ok := plan.Out.Len()
	if size := run.Memory(garner.SpecOf(plan.DType, plan.Out...)); !ok || size > float64(most.Bytes) {
		return garner.Errorf(garner.ErrShape, "the result %s%s takes %s, and %s of memory; gather fewer rows at a time",
			plan.DType, plan.Out, cmdline.InMemory(size), most)
	}
	return nil
}
