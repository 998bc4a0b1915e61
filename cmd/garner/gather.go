package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

// A gatherKind is one of the three gather commands. They differ in their operators
// and in the numbers that those take, and share all else.
type gatherKind struct {
	kind            operators.Kind
	short           string
	axis, batchDims bool
	example         string
}

var gatherKinds = []gatherKind{
	{
		kind: operators.Gather, axis: true, batchDims: true,
		short: "Take slices along one axis, at the positions of the indices",
		example: `  garner gather '[[1,2],[3,4],[5,6]]' '[2,0]'                   # [[5, 6], [1, 2]]
  garner gather '[[1,2],[3,4],[5,6]]' '[1]' --axis 1            # [[2], [4], [6]]
  garner gather '[[1,2],[3,4]]' '[[1],[0]]' --axis 1 --batch-dims 1   # [[2], [3]]
  garner gather '[1,2,3]' '[0,-1,7]' --as openvino.Gather-8     # [1, 3, 0]
  garner gather 'f32[1,2,3]' '[0,7]' --outside fill=NaN         # [1.0, NaN]
  garner gather data.npy ids.npy --as onnx.Gather-13 -o rows.npy
  garner gather model.safetensors#embeddings.weight ids.npy -o rows.npy
  garner gather arrays.npz#table arrays.npz#ids -o rows.safetensors --name rows
  garner gather data.npy ids.npy -o rows.npy --memory 512M
  garner gather 'f8e4m3fn[0.5,448]' '[1]' --to f32                # [448.0]
  garner gather 'f32[[1,2],[3,4],[5,6]]' '[2,0,1]' --as torch.embedding_bag --operand offsets=[0,2] --attr mode=sum   # [[6.0, 8.0], [3.0, 4.0]]
  garner gather 'u8[[1,2],[3,4]]' '[1]' --as openvino.compressed-gather --operand scale=0.5   # [[1.5, 2.0]]
  cat ids.npy | garner gather data.npy - -o - > rows.npy`,
	},
	{
		kind: operators.GatherND, batchDims: true,
		short: "Take slices at the tuples along the last axis of the indices",
		example: `  garner gathernd '[[1,2],[3,4]]' '[[0,0],[1,0]]'               # [1, 3]
  garner gathernd '[[1,2],[3,4]]' '[[1],[0]]'                   # [[3, 4], [1, 2]]
  garner gathernd '[[1,2],[3,4]]' '[[1],[0]]' --batch-dims 1    # [2, 3]
  garner gathernd '["a","b","c"]' '[[2],[0]]' --as tensorflow.GatherNd   # ["c", "a"]
  garner gathernd data.npy at.npy --as openvino.GatherND-5 --batch-dims 2 -o out.npy`,
	},
	{
		kind: operators.Elements, axis: true,
		short: "Take one element per index; the result has the shape of INDICES",
		example: `  garner elements '[[1,2],[3,4]]' '[[0,0],[1,0]]' --axis 1      # [[1, 1], [4, 3]]
  garner elements '[[1,2],[3,4]]' '[[1,0]]' --as onnx.GatherElements-13   # [[3, 2]]
  garner elements data.npy at.npy --as openvino.GatherElements-6 --axis 2 -o out.npy`,
	},
}

const gatherHelp = `DATA and INDICES are literals or files:
  '[[1,2],[3,4]]'           integers are i64, decimals f64; true and false are bool,
                            quoted text is string; 'f32[1,2]' and 'u8(3)' name a type
  0:100, 0:100:2, 9:-1:-1   the integers from the first on and before the second, by
                            steps of the third, as Python's range
  FILE.npy
  FILE.npz#NAME             the array NAME
  FILE.safetensors#NAME     the tensor NAME; MODEL.safetensors.index.json#NAME finds
                            it in any of the model's files
  FILE.gguf#NAME            the tensor NAME; quantised ones as f32, or as blocks with
                            --raw and for --as gguf.get_rows and gguf.dequantize
  FILE.onnx#NAME            the constant NAME of a model; also FILE.xml#NAME
                            #NAME may be omitted if a file holds one array
  FILE.raw, FILE.bin        elements without a header: give --dtype, --shape, --offset
  'part-*.npy'              files joined along axis 0, part-2 before part-10
  FILE.txt, FILE.csv        integers as text, one on a line, or several with commas
                            between them, which give rank 2; or a literal
  -                         npy or text on standard input
A file of no such extension, such as /dev/fd/63, is known by its first bytes. INDICES
may have any integer type. gguf.dequantize and torch.quantized_embedding_unpack decode
all of DATA: leave INDICES out.

Some operators of gather take further operands: the offsets, segments and weights of
bags, the scales and zero points of codes. Give each as --operand NAME=VALUE, where
VALUE is a literal or a file as above; "garner ops OP" names them. A literal without a
type has the type that the operator takes.

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
	operator      operatorFlags
	policy        policyFlags
	out, name     string
	all           bool
	to            toFlag
	data, indices arrayFlags
	further       furtherFlags
	threads       number
	stream        streamFlags
}

func (p *program) gatherCommand(k gatherKind) *cobra.Command {
	f := &gatherFlags{}
	cmd := &cobra.Command{
		Use:               string(k.kind) + " DATA INDICES",
		Short:             k.short,
		Long:              gatherHelp,
		Example:           k.example,
		Args:              twoOperands,
		ValidArgsFunction: completeOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.gather(cmd.Context(), k.kind, f, args)
		},
	}
	f.add(cmd, k)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the result to `OUT`: a .npy, .npz, .safetensors, .gguf or .raw file, or - for npy on standard output")
	flags.Var(&f.to, "to", "convert DATA of any float type to `TYPE`: f32, f16, bf16 or f64; NAME=TYPE converts a further operand (default: as they are)")
	complete(cmd, "to", toTypes...)
	flags.BoolVar(&f.all, "all", false, allUsage)
	flags.StringVar(&f.name, "name", "", "the result's `NAME` in a .npz (default arr_0), .safetensors or .gguf file (default output)")
	flags.Var(&f.stream.memory, "memory", "take at most `SIZE` of memory for DATA, INDICES and the result at a time, such as 512M or 2G (default: as much as is fastest)")
	flags.BoolVar(&f.stream.resume, "resume", false, "continue an interrupted run of the same command; safe on a first run")
	flags.Var(&f.threads, "threads", "use `N` cores (default all)")
	return cmd
}

// add adds the flags that say what to gather, and how.
func (f *gatherFlags) add(cmd *cobra.Command, k gatherKind) {
	f.operator.add(cmd, " (default garner's own)", k.kind)
	flags := cmd.Flags()
	// Every gather parses both, so that an operator that lacks one refuses it by
	// name; help shows those that the command's operators take.
	flags.Var(&f.operator.axis, "axis", "the axis of DATA; negative from the end (default 0)")
	flags.Var(&f.operator.batchDims, "batch-dims", "how many leading dims DATA and INDICES share (default 0)")
	flags.Lookup("axis").Hidden = !k.axis
	flags.Lookup("batch-dims").Hidden = !k.batchDims
	f.policy.add(cmd)
	if k.kind == operators.Gather {
		f.further.add(cmd, "FILE|LITERAL", "offsets=[0,2]")
	}
	f.data.add(cmd, "")
	f.indices.add(cmd, "indices-")
}

func twoOperands(cmd *cobra.Command, args []string) error {
	if as := cmd.Flag("as"); as != nil {
		if o, err := operators.Find(as.Value.String(), 0); err == nil && !garner.TakesIndices(o.Zero) {
			if len(args) == 1 {
				return nil
			}
			return usage(cmd, "%s takes DATA alone; %d arguments were given", o.Name, len(args))
		}
	}
	if len(args) == 2 {
		return nil
	}
	given := fmt.Sprintf("%d arguments were given", len(args))
	switch {
	case len(args) == 1:
		given = "1 argument was given"
	case len(args) > 2:
		given += "; put a literal in quotes, such as '[[1, 2], [3, 4]]'"
	}
	return usage(cmd, "%s takes DATA and INDICES; %s", commandName(cmd), given)
}

// A dtypeFlag is the value of a flag that names a dtype.
type dtypeFlag garner.DType

func (d *dtypeFlag) String() string {
	if d == nil || garner.DType(*d) == garner.Invalid {
		return ""
	}
	return garner.DType(*d).String()
}

func (d *dtypeFlag) Set(text string) error {
	parsed, err := garner.ParseDType(text)
	if err != nil {
		return errors.New(bare(err))
	}
	*d = dtypeFlag(parsed)
	return nil
}

func (d *dtypeFlag) Type() string { return "TYPE" }

// A toFlag is the value of --to: a dtype that source.Convert converts DATA to, and those
// of further operands by their names.
type toFlag struct {
	dtypeFlag
	operands map[string]garner.DType
}

var toTypes = []string{"f32", "f16", "bf16", "f64"}

func (f *toFlag) Set(text string) error {
	name, dtype, operand := strings.Cut(text, "=")
	if !operand {
		dtype = text
	}
	var to dtypeFlag
	if err := to.Set(dtype); err != nil || !slices.Contains(toTypes, to.String()) {
		return errors.New("give f32, f16, bf16 or f64, or NAME= and one of them for a further operand")
	}
	switch {
	case !operand:
		f.dtypeFlag = to
	case f.operands == nil:
		f.operands = map[string]garner.DType{name: garner.DType(to)}
	default:
		f.operands[name] = garner.DType(to)
	}
	return nil
}

// check refuses the names of operands that an operator does not take, and a conversion of
// blocks of a .gguf.
func (f *toFlag) check(o operators.Operator) error {
	if f.String() != "" && strings.HasPrefix(o.Name, "gguf.") {
		return wrong("--to %s: %s takes the blocks of DATA, which are bytes, and its result is f32; without --as the numbers of a .gguf are converted", f, o.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(f.operands)) {
		switch takes := o.Further(); {
		case slices.Contains(takes, name):
		case len(takes) == 0:
			return wrong("--to %s=%s: %s takes no operand beyond DATA and INDICES", name, f.operands[name], o.Name)
		default:
			return wrong("--to %s=%s: %s takes %s", name, f.operands[name], o.Name, strings.Join(takes, ", "))
		}
	}
	return nil
}

// convert has DATA converted where --to asks for it.
func (f *toFlag) convert(data *files.Input) error {
	if f.String() == "" {
		return nil
	}
	if err := data.Convert(garner.DType(f.dtypeFlag)); err != nil {
		return about(operandRoles[0]+": ", err)
	}
	return nil
}

// gather runs one gather: block by block out of files if DATA and OUT allow it,
// else in memory.
func (p *program) gather(ctx context.Context, kind operators.Kind, f *gatherFlags, args []string) error {
	if f.out == "" {
		if err := p.checkOutput("", f.name); err != nil {
			return err
		}
	}
	if f.all && f.out != "" {
		return wrong("--all prints the result and -o %s writes it; give one of them", f.out)
	}
	r, err := asked(ctx, kind, f, args, func(out string) error { return p.checkOutput(out, f.name) })
	if err != nil {
		return err
	}
	r.converts = true
	if err := f.check(r.operands[0]); err != nil {
		return err
	}
	if f.streams(r.operands[0]) {
		data, err := p.openInPlace(ctx, operandRoles[0], r.operands[0], r.options)
		switch {
		case err == nil:
			defer data.Close()
			return p.stream(ctx, f, r, data)
		case !errors.Is(err, files.ErrMemory):
			return err
		case f.stream.flag() != "":
			return &usageError{message: f.stream.flag() + ": DATA " + bare(err), err: err}
		}
	}
	r.inPlace = f.out == ""
	if len(r.operator.Further()) == 0 { // else the result's shape follows from operands that are not open yet
		r.ask = func(plan *garner.Plan) error {
			if f.out == "" && !f.all && lists(plan.Out) > printed {
				_, err := p.long("the result", garner.SpecOf(plan.DType, plan.Out...), toOut)
				return err // a terminal shows the ends alone
			}
			return room(plan, r.memory.left())
		}
	}
	if err := p.openRequest(ctx, f, r); err != nil {
		return err
	}
	defer r.close()
	data, indices, more := r.dataTensor, r.indicesTensor, r.more()
	var meter *terminal.Meter
	tell := func(done, _ int64) { meter.Set(volume(data.DType(), done)) }
	prepared, err := garner.Prepare(r.op, r.dataSpec(), indices.Spec(), garner.Threads(int(f.threads.value)), garner.Progress(tell), garner.FurtherTensors(more...))
	if err != nil {
		return err
	}
	plan := prepared.Plan()
	if r.inPlace {
		if done, err := p.gatherPrinted(ctx, f, r, plan); done || err != nil {
			return err
		}
	}
	if indices.Len() > fewIndices {
		if err := room(plan, r.memory.left()); err != nil {
			return err
		}
	}
	if err := checkFirst(ctx, plan, data.Spec(), r.indexArray(), 0); err != nil {
		return f.policy.remedy(err)
	}
	out, err := newResult(plan, r.memory.left())
	if err != nil {
		return err
	}
	var to *output
	if f.out != "" {
		var writing *terminal.Meter
		to, err = p.create(ctx, f.out, garner.SpecOf(out.DType(), out.Shape()...), files.CreateOptions{
			Name: f.name, Descr: r.data.Descr, Inputs: r.paths(), Progress: p.writing(&writing),
		})
		if err != nil {
			return err
		}
		defer func() {
			writing.Stop()
			to.end()
		}()
	}
	meter = p.meter("gathering", volume(out.DType(), int64(out.Len())))
	err = prepared.Run(ctx, data, indices, out, more...)
	meter.Stop()
	if err != nil {
		return f.policy.remedy(err)
	}
	if err := r.changed(); err != nil {
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

// fewIndices is the most indices that are looked at before it is asked whether there is
// room for the result, in memory or on standard output: an index outside is the better
// error, where it is found within some 25 ms.
const fewIndices = 1 << 20

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
			plan.DType, plan.Out, inMemory(size), most)
	}
	return nil
}

// fromEnd reports whether an index is refused that lies on the axis if it counts from
// the end.
func fromEnd(bad *garner.IndexError) bool {
	value := int64(bad.Value.Bits)
	return !bad.FromEnd && !bad.Value.Unsigned && value < 0 && value >= -int64(bad.Dim)
}

// remedy adds to the error of a refused index the flags that accept it.
func (f *policyFlags) remedy(err error) error {
	var bad *garner.IndexError
	if !errors.As(err, &bad) || bad.Hint != "" || bad.Operand != "" { // no policy is for other operands
		return err
	}
	told := *bad
	told.Hint = f.hint(bad)
	return &told
}

// hint gives the flags that accept a refused index, unless they are given.
func (f *policyFlags) hint(bad *garner.IndexError) string {
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
