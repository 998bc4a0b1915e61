package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/model"
	"github.com/spf13/cobra"
)

const runHelp = `run evaluates models, or parts of models, that consist of gathers and the nodes that
exporters put around them: constants, casts, shapes, slices, transpositions,
concatenations and index arithmetic. It is not a general graph executor. If a result
needs another node, run refuses it by name and lists the results and gathers that it
can evaluate.

An input is a file (.npy, .npz#NAME or .safetensors#NAME), a literal, or - for npy or
text on standard input; a literal has the model's type for the input. Any value of the model
may be given by name, not only inputs; the nodes that compute it then do not run.
--result selects results, or any other value.

--node runs one gather of the model. Its inputs are the names of its values, or data,
indices and axis; those that are not given must follow from constants.

With -o, run writes every result to a .npy file in DIR, under its name, with
characters that file names cannot have replaced. It writes only after all results are
computed, and every file whole or not at all. Without -o it prints results of up to
1000 elements as NAME = LITERAL, and with --all any. Without --all a terminal shows the
ends of a larger one: where a gather makes it, only they are gathered. Elsewhere it is
refused, as soon as its shape is known, which mostly is before anything runs.

Integers wrap and floats are rounded as in NumPy. Negative indices and indices outside
follow the policy of the operator in the model's opset; --negative and --outside replace
it for every gather of data that runs. The gathers of the arithmetic on shapes that
exporters write keep their operator's policy, such as Gather(Shape(x), -1): those whose
data depends on shapes and constants alone, and those of constants at constant indices,
but for the one of --node. Tables are not loaded: only the gathered rows are read.

--memory SIZE limits the memory of the tensors that run makes and of the inputs that it
reads whole: literals, standard input, text, compressed members of .npz, strings.
Constants and other inputs in files are read in place, and their mapped pages do not
count. run finds the sizes first: a tensor that would exceed SIZE, or without --memory
the machine's memory, is refused before any large one is computed.

Exit status: 0 done; 1 the model, an input or an index was refused, or a file could
not be read or written; 2 the command was wrong, or an input is missing; 130
interrupted.`

// runFlags are the flags of run.
type runFlags struct {
	inputs, results []string
	node, out       string
	policy          policyFlags
	memory          sizeFlag
	all, lenient    bool
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
	f.policy.add(cmd)
	flags.Var(&f.memory, "memory", "refuse tensors that together take more than `SIZE`, such as 512M or 2G (default: what the process may have)")
	flags.BoolVar(&f.all, "all", false, allUsage)
	addLenient(cmd, &f.lenient)
	return cmd
}

// A wanted is a value to compute, and the name that asked for it.
type wanted struct {
	name  string
	value *model.Value
}

func (p *program) runModel(cmd *cobra.Command, f *runFlags, path string) error {
	ctx := cmd.Context()
	if f.node != "" && len(f.results) > 0 {
		return usage(cmd, "--node has one result, its own; leave --result out")
	}
	if f.all && f.out != "" {
		return wrong("--all prints the results and -o %s writes them; give one of them", f.out)
	}
	named, err := checkInputs(cmd, f.inputs)
	if err != nil {
		return err
	}
	m, err := openModel(path, f.lenient)
	if err != nil {
		return err
	}
	defer m.Close()
	r := &modelRun{program: p, cmd: cmd, model: m, given: make(map[*model.Value]garner.Tensor), most: f.memory.bound()}
	defer r.close()
	if f.node != "" {
		if r.node, err = m.Find(f.node); err != nil {
			return err
		}
		if !r.node.IsGather() {
			return wrong("--node %s: it is a %s and no gather; \"garner model %s\" lists those", f.node, r.node.Op, path)
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
	missing, err := r.needs(values)
	if err != nil {
		return r.remedy(f, err)
	}
	if len(missing) > 0 {
		return r.missing(missing)
	}
	if f.out != "" {
		if err := files.NoOutputURL(f.out); err != nil {
			return about("-o ", err)
		}
		info, err := os.Stat(f.out)
		if err == nil && !info.IsDir() {
			return wrong("-o %s: it is a file; results go to a folder", f.out)
		}
	}
	// Mapped inputs take address space.
	if now := limits.Memory(); now.Bytes+r.taken < r.most.Bytes {
		r.most = limits.Bound{Bytes: now.Bytes + r.taken, By: now.By}
	}
	if f.memory.given {
		defer limitHeap(f.memory.bytes - r.taken)()
	}
	options := []run.Option{run.Beside(float64(r.taken))}
	if f.policy.given() {
		options = append(options, run.Amend(func(g run.Gather) (garner.Op, error) {
			if g.OfShapes && g.Node != r.node {
				return g.Op, nil
			}
			return f.policy.amendAll(g.Op, g.DType)
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
	tensors, err := run.Values(ctx, m, values, r.given, float64(r.most.Bytes), options...)
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
	given   map[*model.Value]garner.Tensor
	opened  []*files.Input
	most    limits.Bound // memory that the run may take
	taken   int64        // bytes of it that the inputs take that were read whole
}

func (r *modelRun) close() {
	for _, in := range r.opened {
		in.Close()
	}
}

// A namedInput is one --input.
type namedInput struct {
	name  string
	value operand
}

// checkInputs parses the --input flags, as far as that needs no model.
func checkInputs(cmd *cobra.Command, list []string) ([]namedInput, error) {
	var named []namedInput
	streams := 0
	for _, text := range list {
		// The first = ends the name: files contain = more often than names.
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return nil, usage(cmd, "--input %s: write it as NAME=FILE, for example --input ids=ids.npy", text)
		}
		if slices.ContainsFunc(named, func(n namedInput) bool { return n.name == name }) {
			return nil, wrong("--input %s is given twice; give it once", name)
		}
		in := namedInput{name, parseOperand(file)}
		if err := in.check(); err != nil {
			return nil, err
		}
		if in.value.kind == kindStdin {
			streams++
		}
		named = append(named, in)
	}
	if streams > 1 {
		return nil, wrong("%d inputs cannot be -, there is one standard input; put all but one in files", streams)
	}
	return named, nil
}

// check refuses what cannot be an input, before anything is opened.
func (in namedInput) check() error {
	switch v := in.value; {
	case v.kind == kindUnreadable:
		return unreadable("--input "+in.name+":", v)
	case v.kind == kindFile && v.file.NeedsName():
		return wrong("--input %s: %s names no tensor; put its name after a #%s", in.name, v.text, tensorsOf(v.file))
	}
	return nil
}

// values finds the values of a name: among the graph's inputs, else among those
// of its nodes, constants included, else those that have it as another name.
func (r *modelRun) values(name string) []*model.Value {
	var found, other []*model.Value
	look := func(v *model.Value) {
		switch {
		case v == nil:
		case v.Name == name && !slices.Contains(found, v):
			found = append(found, v)
		case v.Name != name && slices.Contains(v.Aliases, name) && !slices.Contains(other, v):
			other = append(other, v)
		}
	}
	for _, v := range r.model.Graph.Inputs {
		look(v)
	}
	if inputs := append(found, other...); len(inputs) > 0 {
		return inputs
	}
	for _, v := range r.model.Graph.Constants {
		look(v)
	}
	for n := range r.model.Nodes() {
		for _, v := range n.Outputs {
			look(v)
		}
		for _, v := range n.Inputs {
			look(v)
		}
		for _, s := range n.Graphs {
			for _, v := range s.Graph.Inputs {
				look(v)
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	return other
}

// value finds the value that a flag names. None, or several, is an error.
func (r *modelRun) value(flag, name string) (*model.Value, error) {
	if r.node != nil {
		for i, v := range r.node.Inputs {
			if v != nil && roleOf(r.node, i) == name {
				return v, nil
			}
		}
		for _, v := range r.node.Inputs {
			if v != nil && (v.Name == name || slices.Contains(v.Aliases, name)) {
				return v, nil
			}
		}
	}
	switch found := r.values(name); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, wrong("%s %s: the model has no such value; %s", flag, name, r.names(flag))
	default:
		return nil, wrong("%s %s: %d values of the model have that name; give another name of the one that you mean, or --node", flag, name, len(found))
	}
}

// names lists the names that a flag accepts, for a message.
func (r *modelRun) names(flag string) string {
	const most = 12
	var list []string
	what := "its inputs are "
	switch {
	case flag == "--result":
		what = "its results are "
		for _, o := range r.model.Graph.Outputs {
			list = append(list, plain(o.Name))
		}
	case r.node != nil:
		what = "the node takes "
		for i, v := range r.node.Inputs {
			if v != nil {
				list = append(list, fmt.Sprintf("%s (%s)", roleOf(r.node, i), plain(v.Name)))
			}
		}
	default:
		for _, v := range r.model.Graph.Inputs {
			list = append(list, plain(v.Name))
		}
	}
	if len(list) == 0 {
		return "it has none"
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("%d more", more))
	}
	return what + strings.Join(list, ", ")
}

// goals lists the values to compute.
func (r *modelRun) goals(results []string) ([]wanted, error) {
	var goals []wanted
	switch {
	case r.node != nil:
		v := r.node.Outputs[0]
		name := v.Name
		if name == "" {
			name = r.node.Name
		}
		return []wanted{{name, v}}, nil
	case len(results) == 0:
		for _, o := range r.model.Graph.Outputs {
			goals = append(goals, wanted{o.Name, o.Value})
		}
		if len(goals) == 0 {
			return nil, garner.Errorf(nil, "%s has no results; name a value of it with --result, or a gather with --node", r.model.Path)
		}
		return goals, nil
	}
	for _, name := range results {
		if slices.ContainsFunc(goals, func(g wanted) bool { return g.name == name }) {
			return nil, wrong("--result %s is given twice; give it once", name)
		}
		at := slices.IndexFunc(r.model.Graph.Outputs, func(o model.Result) bool { return o.Name == name })
		if at >= 0 {
			goals = append(goals, wanted{name, r.model.Graph.Outputs[at].Value})
			continue
		}
		v, err := r.value("--result", name)
		if err != nil {
			return nil, err
		}
		goals = append(goals, wanted{name, v})
	}
	return goals, nil
}

// inputs opens the given inputs and checks them against the model.
func (r *modelRun) inputs(ctx context.Context, named []namedInput) error {
	targets := make([]*model.Value, len(named))
	for i, in := range named {
		v, err := r.value("--input", in.name)
		if err != nil {
			return err
		}
		if at := slices.Index(targets, v); at >= 0 {
			return wrong("--input %s and --input %s are the same value; give one of them", named[at].name, in.name)
		}
		targets[i] = v
	}
	for i, in := range named {
		v := targets[i]
		opened, t, err := r.open(ctx, in, v.Spec.DType)
		if err != nil {
			return err
		}
		r.opened = append(r.opened, opened)
		r.taken += opened.Memory()
		expected := *v
		if v.From != nil || v.Constant != nil && !slices.Contains(r.model.Graph.Inputs, v) {
			// A value that stands for a node's result may have another shape.
			expected.Spec = garner.SpecOfRank(v.Spec.DType, garner.AnyDim)
		}
		if r.node != nil && slices.Contains(r.node.Inputs[1:], v) && t.DType().IsInteger() {
			expected.Spec.DType = garner.Invalid // a gather takes indices of any integer type
		}
		if err := run.Check(&expected, t); err != nil {
			return about("--input "+in.name+": ", err)
		}
		r.given[v] = t
	}
	return nil
}

// open opens an input. A literal and standard input take the model's dtype. A file
// has its own, which Check compares with the model's; one that does not say its
// dtype takes the model's.
func (r *modelRun) open(ctx context.Context, in namedInput, dtype garner.DType) (*files.Input, garner.Tensor, error) {
	role, typed := "--input "+in.name, files.Options{DType: dtype}
	most := limits.Bound{Bytes: r.most.Bytes - r.taken, By: r.most.By}
	if r.taken > 0 {
		most.By = "beside the " + units.Bytes(r.taken) + " of other inputs " + most.By
	}
	if in.value.kind != kindFile {
		return r.program.open(ctx, role, in.value, typed, most)
	}
	opened, t, err := r.program.open(ctx, role, in.value, files.Options{}, most)
	if errors.Is(err, garner.ErrDType) && dtype != garner.Invalid {
		if opened, t, also := r.program.open(ctx, role, in.value, typed, most); also == nil { // bytes without a type, as bf16 is saved
			return opened, t, nil
		}
	}
	return opened, t, err
}

// needs lists the values that are missing. For a node that runs alone those are
// its own inputs, not what they are computed from.
func (r *modelRun) needs(values []*model.Value) ([]*model.Value, error) {
	if r.node == nil {
		return run.Needs(r.model, values, r.given)
	}
	var missing []*model.Value
	for _, v := range r.node.Inputs {
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
	return usage(r.cmd, "%s needs %s", what, text)
}

// remedy adds to an error the flags that avoid it: to that of an unsupported node,
// of an index that another policy accepts, and of too little memory.
func (r *modelRun) remedy(f *runFlags, err error) error {
	var flag *usageError
	if errors.As(err, &flag) { // a fill that is no number of a gather's type
		return err
	}
	hint := ""
	var bad *run.Unsupported
	var index *garner.IndexError
	var large *run.MemoryError
	switch {
	case errors.As(err, &bad):
	case errors.As(err, &index) && index.Hint == "":
		hint = "; " + indexHint(index)
	case errors.As(err, &large) && f.memory.given && r.most.Bytes == f.memory.bytes:
		hint = "; --memory " + f.memory.text + " is the limit"
	case errors.As(err, &large):
		hint = "; " + r.most.String()
	}
	if bad == nil {
		if hint == "" {
			return ofModel(err)
		}
		return &toldError{err.Error() + hint, ofModel(err)}
	}
	if len(bad.Results) > 0 {
		hint += "; ask for those with --result NAME"
	}
	hint += "; --node NAME runs one gather"
	if len(bad.Node.Outputs) > 0 && bad.Node.Outputs[0] != nil {
		hint += fmt.Sprintf(", and --input %s=FILE stands for what this node makes", plain(bad.Node.Outputs[0].Name))
	}
	return &toldError{err.Error() + hint, ofModel(err)}
}

// printResults prints results, each as NAME = LITERAL.
// Of a long one the spec is given, and its tensor has the elements at its ends.
func (p *program) printResults(goals []wanted, tensors []garner.Tensor, long []garner.Spec) error {
	to := p.printer()
	for i, t := range tensors {
		if shape, ok := long[i].Shape(); ok && long[i].DType != garner.Invalid {
			text, err := summed(t.DType(), shape, func(first, n int) (string, error) {
				if first > 0 {
					first = t.Len() - n
				}
				part, err := t.Slice(0, first, first+n, 1)
				return part.Text(), err
			})
			if err != nil {
				return err
			}
			to.printf("%s = %s", plain(goals[i].name), strings.Replace(text, "-o FILE.npy", "-o DIR", 1))
			continue
		}
		t, err := t.Clone() // a mapped file may be cut short while it is printed
		if err != nil {
			return err
		}
		open, end := "", ""
		if t.Rank() == 0 {
			open, end = "(", ")"
		}
		to.printf("%s = %s%s", plain(goals[i].name), t.DType(), open)
		if err := writeLists(to.buf, t); err != nil {
			return err
		}
		to.printf("%s\n", end)
	}
	return to.flush()
}

// fileNames lists the file names of results. It refuses two that are the same file
// on some system.
func fileNames(goals []wanted) ([]string, error) {
	names := make([]string, len(goals))
	taken := make(map[string]string)
	for i, g := range goals {
		names[i] = fileName(g.name) + ".npy"
		folded := strings.ToLower(names[i])
		if other, ok := taken[folded]; ok {
			return nil, wrong("results %s and %s would both be the file %s; ask for one at a time with --result", plain(other), plain(g.name), names[i])
		}
		taken[folded] = g.name
	}
	return names, nil
}

// fileName makes a file name that every system accepts: letters, digits and some
// others stay, all else becomes _.
func fileName(name string) string {
	safe := strings.Map(func(c rune) rune {
		if c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("-_.+ ", c)) {
			return c
		}
		return '_'
	}, name)
	const most = 200 // bytes; file systems take 255
	if len(safe) > most {
		safe = strings.ToValidUTF8(safe[:most], "")
	}
	// Hidden names, empty names, and the device names of Windows.
	if strings.HasPrefix(safe, ".") || strings.HasPrefix(safe, " ") {
		safe = "_" + safe[1:]
	}
	base, _, _ := strings.Cut(strings.ToUpper(safe), ".")
	base = strings.TrimSpace(base)
	if safe == "" || slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, base) ||
		len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")) && base[3] >= '0' && base[3] <= '9' {
		safe = "_" + safe
	}
	return safe
}

// onDiskSize is about how many bytes a tensor takes in a file; 0 for strings.
func onDiskSize(t garner.Tensor) int64 {
	if t.DType() == garner.String {
		return 0
	}
	return volume(t.DType(), int64(t.Len()))
}

// write writes all results under temporary names, and then renames them all.
func (r *modelRun) write(ctx context.Context, dir string, goals []wanted, names []string, tensors []garner.Tensor) (err error) {
	p := r.program
	inputs := slices.Clip(r.model.Files)
	for _, in := range r.opened {
		inputs = append(inputs, in.Paths...)
	}
	if err := os.Mkdir(dir, 0o777); err == nil {
		defer func() {
			if err != nil {
				os.Remove(dir) // which fails unless it is empty
			}
		}()
	} else if !errors.Is(err, os.ErrExist) {
		return garner.Errorf(err, "cannot make the folder %s: %v; make the one around it, or name another", dir, reason(err))
	}
	p.unfinished.Store(true)
	defer p.unfinished.Store(false)
	total := int64(0)
	for _, t := range tensors {
		total += onDiskSize(t)
	}
	meter := p.meter("writing", total)
	defer meter.Stop()
	writers := make([]*files.Writer, len(tensors))
	before := int64(0) // bytes of the finished files
	for i, t := range tensors {
		o := files.CreateOptions{Inputs: inputs, Progress: func(done, _ int64) { meter.Set(before + done) }}
		if writers[i], err = files.Create(ctx, filepath.Join(dir, names[i]), garner.SpecOf(t.DType(), t.Shape()...), o); err != nil {
			return err
		}
		defer writers[i].Abort()
		if err := writers[i].Put(t); err != nil {
			return about("result "+plain(goals[i].name)+": ", err)
		}
		before += onDiskSize(t)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for i, f := range writers {
		if err := f.Commit(); err != nil {
			return err
		}
		if names[i] != goals[i].name+".npy" {
			meter.Stop()
			fmt.Fprintf(p.stderr, "result %s is in %s\n", plain(goals[i].name), names[i])
		}
	}
	return nil
}
