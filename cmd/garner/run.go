package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

const runHelp = `run evaluates models, or parts of models, that consist of gathers and the nodes that
exporters put around them: constants, casts, shapes, slices, splits, pads, transpositions,
concatenations, arithmetic of integers and floats, sums, TopK, ArgMax, CumSum, NonZero,
OneHot, ScatterElements. It is not a general graph executor. If a result
needs another node, run refuses it by name and lists the results and gathers that it
can evaluate.

An input is what garner gather takes as DATA: a file of any format, a literal, a range,
or - for npy or text on standard input; a literal has the model's type for the input. Any value of the model
may be given by name, not only inputs; the nodes that compute it then do not run.
--result selects results, or any other value.

A gather of a quantised table decodes the rows that it takes: GatherBlockQuantized, and
Gather behind OpenVINO's Convert, Subtract and Multiply of a constant. OpenVINO's bags run
too.

--node runs one gather of the model. Its inputs are the names of its values, or data,
indices, axis and the names of its operands; those that are not given must follow from constants.

With -o, run writes every result to a .npy file in DIR, under its name, with
characters that file names cannot have replaced. It writes only after all results are
computed, and every file whole or not at all. Without -o it prints results of up to
1000 elements as NAME = LITERAL, and with --all any. Without --all a terminal shows the
ends of a larger one: where a gather makes it, only they are gathered. Elsewhere it is
refused, as soon as its shape is known, which mostly is before anything runs.

Integers wrap and floats are rounded as in ONNX Runtime or OpenVINO, whichever the model is
for; a node whose result differs there between processors or with the threads, such as a
ReduceSum of floats that rounds, is refused. A gather of a constant with denormal f32 has
them as they are, and OpenVINO takes those of a constant for 0. Negative indices and indices outside
follow the policy of the operator in the model's opset; --negative and --outside replace
it for every gather of data that runs. The gathers of the arithmetic on shapes that
exporters write keep their operator's policy, such as Gather(Shape(x), -1): those whose
data and indices depend on shapes and constants alone, unless the data is constant and
the indices are not, but for the one of --node. Of a model that garner convert has made,
a gather behind a guard refuses both flags, as the guard changes the indices before it
does, and the guard of a scatter's indices keeps its policy. Tables are not loaded: only
the gathered rows are read.

--memory SIZE limits the memory of the tensors that run makes and of the inputs that it
reads whole: literals, standard input, text, compressed members of .npz, strings.
Constants and other inputs in files are read in place, and their mapped pages do not
count; constants of ONNX in numbers of variable length (int32_data, int64_data) are
decoded whole, and count. run finds the sizes first: a tensor that would exceed SIZE, or
without --memory the machine's memory, is refused before any large one is computed.

Exit status: 0 done; 1 the model, an input or an index was refused, or a file could
not be read or written; 2 the command was wrong, or an input is missing; 130
interrupted.`

// runFlags are the flags of run.
type runFlags struct {
	inputs, results []string
	node, out       string
	policy          cmdline.PolicyFlags
	memory          cmdline.SizeFlag
	all             bool
	opening         files.ModelOptions
}

func (p *program) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run MODEL --input NAME=FILE... [-o DIR]",
		Short: "Run a model's gathers and the nodes around them",
		Long:  runHelp,
		Example: `  garner run testdata/models/hash.onnx --input ids='[[0,1],[11,100]]' -o results
  garner run testdata/models/beam.xml --input cache=testdata/models/beam.inputs.npz#cache --input beam='[3,0]' -o results
  garner run testdata/models/hash.onnx --input ids='[[0,100]]' --result floor_divide   # floor_divide = i64[[0, 50]]
  garner run testdata/models/bias.onnx --node node_embedding --input indices='[8]'
  garner run testdata/models/bias.xml --node __module.emb/aten::embedding/Gather --input indices=ids.npy -o rows`,
		Args:              oneModel,
		ValidArgsFunction: completeModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runModel(cmd, f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.inputs, "input", "i", nil, "what a value of the model is, `NAME=FILE`")
	flags.StringArrayVar(&f.results, "result", nil, "compute the result, or any other value, `NAME` (default all results)")
	flags.StringVar(&f.node, "node", "", "run the gather `NODE` alone")
	flags.StringVarP(&f.out, "output", "o", "", "write the results to `DIR`, which is created if necessary")
	f.policy.Add(cmd)
	flags.Var(&f.memory, "memory", "refuse tensors that together take more than `SIZE`, such as 512M or 2G (default: what the process may have)")
	flags.BoolVar(&f.all, "all", false, allUsage)
	addOpening(cmd, &f.opening)
	return cmd
}

func (p *program) runModel(cmd *cobra.Command, f *runFlags, path string) error {
	ctx := cmd.Context()
	if f.node != "" && len(f.results) > 0 {
		return cmdline.Usage(cmd, "--node has one result, its own; leave --result out")
	}
	if f.all && f.out != "" {
		return cmdline.Wrong("--all prints the results and -o %s writes them; give one of them", f.out)
	}
	named, err := checkInputs(cmd, f.inputs)
	if err != nil {
		return err
	}
	m, err := openOne(path, f.opening)
	if err != nil {
		return err
	}
	defer m.Close()
	r := &modelRun{program: p, cmd: cmd, model: m, given: make(map[*model.Value]garner.Tensor), memory: f.memory.Budget()}
	defer r.close()
	if len(f.results) == 0 { // of a checkpoint alone a result is a variable
		if err := graphless(m, "run"); err != nil {
			return err
		}
	}
	if f.node != "" {
		if r.node, err = m.Find(f.node); err != nil {
			return err
		}
		if !r.node.IsGather() {
			return r.noGather(f.node)
		}
	}
	goals, err := r.goals(f.results)
	if err != nil {
		return err
	}
	outputs, err := fileNames(goals)
	if f.out != "" && err != nil {
		return err
	}
	if err := r.inputs(ctx, named); err != nil {
		return err
	}
	values := make([]*model.Value, len(goals))
	for i, g := range goals {
		values[i] = g.value
	}
	r.wanted = values
	missing, err := r.needs(values)
	if err != nil {
		return r.remedy(f, err)
	}
	if len(missing) > 0 {
		return r.missing(missing)
	}
	if f.out != "" {
		if err := files.NoOutputURL(f.out); err != nil {
			return cmdline.About("-o ", err)
		}
		info, err := os.Stat(f.out)
		if _, file := formatOf(f.out); err != nil && file {
			return cmdline.Wrong("-o %s: run writes every result to a .npy file in a folder; name the folder, such as -o results", f.out)
		}
		if err == nil && !info.IsDir() {
			return cmdline.Wrong("-o %s: it is a file; results go to a folder", f.out)
		}
	}
	most := r.memory.All()
	if f.memory.Given {
		defer cmdline.LimitHeap(f.memory.Bytes - r.memory.Taken)()
	}
	options := []run.Option{run.Beside(float64(r.memory.Taken))}
	if f.policy.Given() {
		options = append(options, run.Amend(func(g run.Gather) (garner.Op, error) {
			if g.OfShapes && g.Node != r.node {
				return g.Op, nil
			}
			if g.Guarded {
				return nil, run.ErrGuarded
			}
			return f.policy.AmendAll(g.Op, g.DType)
		}))
	}
	long := make([]garner.Spec, len(goals)) // of the results that are shown in part
	if f.out == "" && !f.all {
		options = append(options, run.Accept(func(i int, spec garner.Spec) (ends int, err error) {
			is, err := p.long("result "+plain(goals[i].name), spec, toDir)
			if err != nil || !is {
				return 0, err
			}
			long[i] = spec
			shape, _ := spec.Shape()
			n, _ := shape.Len()
			return min(shown, n), nil
		}))
	}
	tensors, err := run.Values(ctx, m, values, r.given, float64(most.Bytes), options...)
	if err != nil {
		return r.remedy(f, err)
	}
	if f.out == "" {
		return p.printResults(goals, tensors, long)
	}
	return r.write(ctx, f.out, goals, outputs, tensors)
}

// A modelRun is one run of a model.
type modelRun struct {
	program *program
	cmd     *cobra.Command
	model   *model.Model
	node    *model.Node // of --node; nil: the whole model runs
	wanted  []*model.Value
	given   map[*model.Value]garner.Tensor
	opened  []*files.Input
	memory  *cmdline.Budget
}

func (r *modelRun) close() {
	for _, in := range r.opened {
		in.Close()
	}
}

// needs lists the values that are missing. For a node that runs alone those are
// its own inputs, not what they are computed from.
func (r *modelRun) needs(values []*model.Value) ([]*model.Value, error) {
	if r.node == nil {
		return run.Needs(r.model, values, r.given)
	}
	var missing []*model.Value
	for _, v := range run.Reads(r.node, r.given) {
		if v == nil || slices.Contains(missing, v) {
			continue
		}
		if deeper, err := run.Needs(r.model, []*model.Value{v}, r.given); err != nil || len(deeper) > 0 {
			missing = append(missing, v)
		}
	}
	return missing, nil
}

// missing is the usage error of missing values.
func (r *modelRun) missing(values []*model.Value) error {
	const most = 8
	var list []string
	for _, v := range values[:min(len(values), most)] {
		name := v.Name
		if r.node != nil {
			for i, in := range r.node.Inputs {
				if in == v {
					name = roleOf(r.node, i)
				}
			}
		}
		list = append(list, fmt.Sprintf("--input %s=FILE, %s", plain(name), v.Type()))
	}
	text := strings.Join(list, "; ")
	if more := len(values) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	what := "the model"
	if r.node != nil {
		what = "node " + plain(r.node.Name)
	}
	return cmdline.Usage(r.cmd, "%s needs %s", what, text)
}

// remedy adds to an error the flags that avoid it: to that of a node that is not run, or that
// refuses what it is to compute with, of an index that another policy accepts, and of too little memory.
func (r *modelRun) remedy(f *runFlags, err error) error {
	var flag *cmdline.UsageError
	if errors.As(err, &flag) { // a fill that is no number of a gather's type
		return err
	}
	hint := ""
	var bad *run.Unsupported
	var index *garner.IndexError
	var large *run.MemoryError
	switch {
	case errors.As(err, &bad):
		if len(bad.Results) > 0 {
			hint = "; ask for those with --result NAME"
		}
		hint += r.around(bad)
	case errors.As(err, &index) && index.Hint == "" && r.takesPolicy(err):
		hint = "; " + f.policy.Hint(index)
	case errors.As(err, &large) && f.memory.Given && r.memory.Most.Bytes == f.memory.Bytes:
		hint = "; --memory " + f.memory.Text + " is the limit"
	case errors.As(err, &large):
		hint = "; " + r.memory.Most.String()
	case errors.Is(err, garner.ErrDType):
		if n := r.nodeOf(err); n != nil && !n.IsGather() {
			if stands := r.standsFor(n); stands != "" {
				hint = "; " + stands
			}
		}
	}
	if hint == "" {
		return ofModel(err)
	}
	return cmdline.Told(err.Error()+hint, ofModel(err))
}

// around says how to do without a node that is not run.
func (r *modelRun) around(bad *run.Unsupported) string {
	hint, gathers := "", false
	for n := range r.model.Gathers() {
		gathers = gathers || n != r.node
	}
	switch {
	case len(bad.Gathers) > 0:
		hint = "; --node NAME runs one gather"
	case gathers:
		hint = "; --node NAME runs one gather, of the data that --input data=FILE gives it"
	}
	stands := r.standsFor(bad.Node)
	switch {
	case hint != "" && stands != "":
		return hint + ", and " + stands
	case stands != "":
		return "; " + stands
	case hint == "":
		return "; only the model's own runtime computes it"
	}
	return hint
}

// standsFor says what to give in the place of a node; "" where that is all that is wanted.
func (r *modelRun) standsFor(n *model.Node) string {
	i := slices.IndexFunc(n.Outputs, func(v *model.Value) bool { return v != nil })
	if i < 0 || !slices.ContainsFunc(r.wanted, func(v *model.Value) bool { return !slices.Contains(n.Outputs, v) }) {
		return ""
	}
	return fmt.Sprintf("--input %s=FILE stands for what this node makes", plain(n.Outputs[i].Name))
}

// takesPolicy reports whether an error is of a node to which the flags of a policy apply.
func (r *modelRun) takesPolicy(err error) bool {
	n := r.nodeOf(err)
	return n == nil || n.IsGather()
}

// nodeOf finds the node that an error is of; nil where it is of none.
func (r *modelRun) nodeOf(err error) *model.Node {
	var e *model.Error
	if !errors.As(err, &e) || e.At == "" {
		return nil
	}
	for n := range r.model.Nodes() {
		if model.Errorf(n, "").At == e.At {
			return n
		}
	}
	return nil
}

// noGather is the error of a --node that is no gather that runs.
func (r *modelRun) noGather(name string) error {
	n := r.node
	i := slices.IndexFunc(n.Outputs, func(v *model.Value) bool { return v != nil })
	_, related := operators.RelatedOf(n)
	switch {
	case run.Runs(r.model, n) && i >= 0:
		return cmdline.Wrong("--node %s: its %s is no gather; --result %s computes what it makes", name, n.Op, plain(n.Outputs[i].Name))
	case related:
		return cmdline.Wrong("--node %s: its %s gathers in a way that garner lists and does not run; only the model's own runtime computes it", name, n.Op)
	}
	return cmdline.Wrong("--node %s: its %s is no gather, and garner does not run it; \"garner model %s\" lists the gathers", name, n.Op, r.model.Path)
}
