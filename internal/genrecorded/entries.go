package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/corpus"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// A told is what one run of a recording answered.
type told struct {
	recorded.Like
	data    string // its dtype
	runtime string
	run     string // the way of running; "" for the usual one
	class   string
	follows bool
	name    string // of the recording
}

// entriesOf gives the entries of the recordings of a folder and of those of lint, sorted
// by operator, reach and way of running. An error names the recording that it is of.
func entriesOf(folder, lintFolder string) ([]recorded.Entry, error) {
	all, err := toldOf(folder, lintFolder)
	if err != nil {
		return nil, err
	}
	all, err = settle(all)
	if err != nil {
		return nil, err
	}
	return join(all), nil
}

// toldOf reads the runs of all recordings that answer something about indices or types.
func toldOf(folder, lintFolder string) ([]told, error) {
	of, err := ofLint(lintFolder)
	if err != nil {
		return nil, err
	}
	recordings, err := corpus.Recordings(folder)
	if err != nil {
		return nil, err
	}
	// An answer is told by the recording that asks for it first, and by the grid last.
	slices.SortStableFunc(recordings, func(a, b corpus.Recording) int {
		last := func(r corpus.Recording) int {
			if strings.Contains(r.Name, "-random-") {
				return 2
			}
			return slices.Index([]string{"edges.jsonl", "calls.jsonl"}, r.File)
		}
		return cmp.Compare(last(a), last(b))
	})
	disputed, err := disputedIn(filepath.Join(folder, "..", "disputed.txt"))
	if err != nil {
		return nil, err
	}
	var all []told
	for _, r := range recordings {
		list, err := read(r, disputed[r.Name])
		if err != nil {
			return nil, fmt.Errorf("garner: %s: %s: %w", r.File, r.Name, err)
		}
		all = append(all, list...)
	}
	all = append(all, of...)
	// A published test is no run: it stands for a runtime of which there is no recording.
	suite := func(t told) bool { return strings.HasSuffix(t.runtime, "test suite") }
	ran := map[string]bool{}
	for _, t := range all {
		ran[t.Operator] = ran[t.Operator] || !suite(t)
	}
	return slices.DeleteFunc(all, func(t told) bool { return suite(t) && ran[t.Operator] }), nil
}

// disputedIn reads the names of the lines whose recorded answer is no answer of a gather,
// and what is wrong with it.
func disputedIn(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(line, " | ")
		if len(fields) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		_, name, _ := strings.Cut(fields[0], " ")
		if !strings.Contains(fields[1], "other NaNs of signalling ones") {
			return nil, fmt.Errorf("garner: %s: %s: say in genrecorded what its evidence means: %s", file, name, fields[1])
		}
		all[name] = recorded.Rounded
	}
	return all, nil
}

// read gives what the runs of a recording answered. class is that of a disputed one.
func read(r corpus.Recording, class string) ([]told, error) {
	plan, err := planOf(r)
	if err != nil || strings.Contains(r.Name, "-axis-dtype-") { // the type of an axis is no part of a call
		return nil, nil // a call that breaks a rule of types, shapes or attributes says nothing of indices
	}
	reach, err := recorded.ReachOf(plan, r.Indices, r.Further...)
	if err != nil || reach == recorded.Inside && r.Error != "" {
		return nil, nil
	}
	like := recorded.LikeOf(recorded.Call{Operator: r.Operator, Values: r.Attributes, Plan: plan, Data: r.Data, Indices: r.Indices, Further: r.Further}, reach)
	t := told{Like: like, data: r.Data.DType().String(), name: r.Name}
	if class != "" {
		t.runtime, t.class = runtimeName(r.Source), class
		return []told{t}, nil
	}
	var list []told
	for _, run := range r.Runs {
		source, way := r.Source, run.Way
		if before, after, ok := strings.Cut(source, ", "); ok {
			source, way = before, after
		}
		if strings.HasPrefix(run.Way, "onnx ") { // another runtime
			source, way = run.Way, ""
		}
		t := t
		t.runtime, t.run, t.follows = runtimeName(source), way, !run.Departs
		if t.class, err = judge(r, reach, plan, run); err != nil {
			return nil, err
		}
		// Of a runtime that narrows indices, another answer to a wide one is luck.
		narrows := strings.HasPrefix(t.runtime, "openvino ") || strings.HasPrefix(t.runtime, "jax ")
		if narrows && reach != recorded.Inside && recorded.Wide(r.Indices) && t.class != recorded.Low32 && t.class != recorded.Ends {
			continue
		}
		if t.class != "" {
			list = append(list, t)
		}
	}
	source, class, err := ofNote(r.Note)
	if err != nil {
		return nil, err
	}
	if class != "" {
		t.runtime, t.class = runtimeName(source), class
		list = append(list, t)
	}
	return list, nil
}

// A meaning is what words in a note mean; the class "" is none of a gather.
type meaning struct{ words, class string }

// ofNotes are the notes of answers that no result or error says.
var ofNotes = []meaning{
	{"process ended by signal", recorded.Ends},
	{"computes this element type in 32 bits", recorded.Rounded},
	{"quiets signalling NaN", recorded.Rounded},
	{"mis-addresses elements narrower than a byte", recorded.Garbage},
	{"outside the operator's definition", ""},
	{"the peer leaves the output memory as it was", recorded.Garbage},
	{"memory nobody wrote", recorded.Garbage},
	{"what came out depends on memory outside the case", recorded.Garbage},
	{"reads other memory", recorded.Garbage},
	{"the result depends on other memory or is cut short", recorded.Garbage},
	{"given as memory that is no row", recorded.Garbage},
}

// ofUsual are the notes of what the usual run of a runtime did where a line has the answer
// of another way of running.
var ofUsual = []meaning{
	{"process ended by signal", recorded.Ends},
	{"MLDataType for: tensor(", recorded.NoTypes},
	{"batchDims <= axis' failed", ""},   // the axis was an input of the model,
	{"[EliminateGather] END: node", ""}, // which is no part of a call
}

func means(list []meaning, note string) (string, error) {
	for _, m := range list {
		if strings.Contains(note, m.words) {
			return m.class, nil
		}
	}
	return "", fmt.Errorf("say in genrecorded what this note means: %q", note)
}

// ofNote gives the runtime and the class that a line's note tells; "" where it tells
// nothing beyond the line.
func ofNote(note string) (source, class string, err error) {
	if before, text, ok := strings.Cut(note, ", usual run: "); ok {
		class, err = means(ofUsual, text)
		return before, class, err
	}
	if before, _, ok := strings.Cut(note, " gives the wrong result shown as observed"); ok {
		return before, recorded.Cut, nil
	}
	return "", "", nil
}

// judge gives the class of an answer; "" where it says nothing of indices or types.
func judge(r corpus.Recording, reach recorded.Reach, plan *garner.Plan, run corpus.Run) (string, error) {
	n, known := plan.Out.Len()
	empty := r.Data.Len() == 0 || r.Indices.DType().Valid() && r.Indices.Len() == 0 || known && n == 0
	switch {
	case run.Undefined:
		class, err := means(ofNotes, run.Note)
		if class == recorded.Garbage && plan.Bag != nil && reach != recorded.Inside && strings.HasPrefix(r.Operator.Name, "openvino.") {
			class = recorded.Other // the terms before the index, and not memory
		}
		return class, err
	case run.Error == "dtype":
		return recorded.NoTypes, nil
	case run.Error != "" && reach == recorded.Inside && empty:
		return recorded.NoEmpty, nil
	case run.Error != "":
		return recorded.Refused, nil
	case run.Unread || run.Output.DType() == garner.Invalid:
		return "", nil
	}
	switch fitting := classes(r, reach, plan, run.Output); {
	case len(fitting) == 1:
		return fitting[0], nil
	case len(fitting) == 0 && cut(r, run.Output):
		return recorded.Cut, nil
	case len(fitting) == 0 && run.Departs && reach != recorded.Inside && strings.HasPrefix(r.Operator.Name, "openvino.") && plan.Bag == nil:
		return recorded.Garbage, nil // it checks no index, and no rule gives these elements
	case len(fitting) == 0 && run.Departs:
		return recorded.Other, nil
	}
	return "", nil // several fit, or only by elements that the specification leaves open
}

// classes gives the classes that the result fits, garner's own answer first.
func classes(r corpus.Recording, reach recorded.Reach, plan *garner.Plan, got garner.Tensor) []string {
	var list []string
	fits := func(class string, op garner.Op) {
		out, err := garner.Gather(op, r.Data, r.Indices, r.Further...)
		if err == nil && equal(out, got) && !slices.Contains(list, class) {
			list = append(list, class)
		}
	}
	if reach == recorded.Inside {
		fits(recorded.Row, r.Op)
		return list
	}
	if got.Len() == 0 {
		return nil // no element tells a class from another
	}
	if r.Indices.DType() == garner.I64 && recorded.Wide(r.Indices) {
		out, err := garner.Gather(garner.WithOutside(r.Op, garner.Error), r.Data, narrowed(r.Indices), r.Further...)
		if err == nil && equal(out, got) {
			return []string{recorded.Low32}
		}
	}
	if plan.Bag != nil || plan.Stored != nil {
		fits(own(plan, reach), r.Op)
	}
	nearest := recorded.LastRow
	if reach != recorded.PastEnd {
		nearest = recorded.FirstRow
	}
	for _, negative := range []garner.Negative{garner.FromEnd, garner.Reject} {
		op := garner.WithNegative(r.Op, negative)
		if reach == recorded.Negative && negative == garner.FromEnd {
			fits(recorded.FromEnd, garner.WithOutside(op, garner.Error))
			if len(list) > 0 && list[len(list)-1] == recorded.FromEnd {
				return list // so does the index modulo the axis
			}
			continue
		}
		fits(recorded.Zero, garner.WithOutside(op, garner.Zero))
		fits(nearest, garner.WithOutside(op, garner.Clamp))
		fits(recorded.Wrapped, garner.WithOutside(op, garner.Wrap))
		if plan.Outside == garner.Fill {
			class := recorded.Fill
			if nan(plan.Fill) {
				class = recorded.NaN
			}
			fits(class, garner.WithNegative(r.Op, negative))
		}
	}
	return list
}

// narrowed gives the low 32 bits of indices of i64.
func narrowed(indices garner.Tensor) garner.Tensor {
	values, err := garner.Values[int64](indices)
	if err != nil {
		panic(err) // it is of i64
	}
	low := make([]int64, len(values))
	for i, v := range values {
		low[i] = int64(int32(v))
	}
	return garner.Of(low, indices.Shape()...)
}

// cut reports whether a result is garner's but for strings that are empty.
func cut(r corpus.Recording, got garner.Tensor) bool {
	want, err := garner.Gather(r.Op, r.Data, r.Indices, r.Further...)
	if err != nil || got.DType() != garner.String || want.DType() != garner.String || !want.Shape().Equal(got.Shape()) {
		return false
	}
	a, errA := garner.Values[string](want)
	b, errB := garner.Values[string](got)
	for i := range a {
		if i < len(b) && a[i] != b[i] && b[i] != "" {
			return false
		}
	}
	return errA == nil && errB == nil
}

// nan reports whether a scalar is NaN.
func nan(t garner.Tensor) bool { return strings.Contains(t.Text(), "NaN") }

// own is the class of garner's own answer of a plan that computes.
func own(plan *garner.Plan, reach recorded.Reach) string {
	switch {
	case plan.Bag != nil && plan.Bag.SkipNegative && reach != recorded.PastEnd:
		return recorded.LeftOut
	case reach == recorded.Negative && plan.Negative == garner.FromEnd:
		return recorded.FromEnd
	}
	return recorded.Zero
}

// equal compares the elements of two tensors, all NaNs alike.
func equal(a, b garner.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if x, err := a.Bytes(); err == nil {
		if y, err := b.Bytes(); err == nil && bytes.Equal(x, y) {
			return true
		}
	}
	return a.Text() == b.Text()
}

func planOf(r corpus.Recording) (*garner.Plan, error) {
	further := make([]garner.Spec, len(r.Further))
	for i, t := range r.Further {
		if t.DType().Valid() {
			further[i] = t.Spec()
		}
	}
	var at garner.Spec
	if r.Indices.DType().Valid() {
		at = r.Indices.Spec()
	}
	plan, err := garner.NewPlan(r.Op, r.Data.Spec(), at, further...)
	if err == nil || len(r.Further) == 0 {
		return plan, err
	}
	// The elements of further operands may tell the shape of the result.
	p, err := garner.Prepare(r.Op, r.Data.Spec(), at, garner.Threads(1), garner.FurtherTensors(r.Further...))
	if err != nil {
		return nil, err
	}
	return p.Plan(), nil
}

// suites are whose published tests a source names.
var suites = map[string]string{
	"openvino": "OpenVINO", "onnx/onnx": "ONNX", "onnxruntime/test": "ONNX Runtime", "google-ai-edge/LiteRT": "LiteRT", "openxla/stablehlo": "StableHLO",
	"jax-ml/jax": "JAX", "tensorflow": "XLA", "tensorflow/python": "TensorFlow", "tensorflow/core": "TensorFlow", "web-platform-tests": "Web Platform",
}

// runtimeName gives the name, the version and the device of a recording's source.
func runtimeName(source string) string {
	if parts := strings.SplitN(source, "/", 3); len(parts) > 1 {
		first, _, _ := strings.Cut(source, " ")
		for _, name := range []string{first, parts[0] + "/" + parts[1]} {
			if of := suites[name]; of != "" {
				return of + "'s test suite"
			}
		}
	}
	const wide = " (x64 on)" // without it JAX has no types of 64 bits
	name, _, _ := strings.Cut(source, " ")
	source = strings.TrimSuffix(source, wide)
	switch name {
	case "openvino", "torch", "jax", "tensorflow", "onnxruntime": // those of edges.jsonl do not say it
		if !strings.HasSuffix(source, " CPU") {
			source += " CPU"
		}
	}
	if name == "jax" {
		source += wide
	}
	return source
}

// unchecked reports whether a runtime reads memory at an index like those of t, so that
// no run tells anything of the next. OpenVINO's GatherND does, and its Gather of vectors
// of integers, which it computes as it does shapes.
func unchecked(t told) bool {
	switch {
	case !strings.HasPrefix(t.runtime, "openvino ") || slices.Contains([]string{recorded.NoTypes, recorded.Refused, recorded.Low32}, t.class):
		return false
	case strings.HasPrefix(t.Operator, "openvino.GatherND-"):
		return t.Reach == recorded.Below || t.Reach == recorded.PastEnd // negatives count from the end
	case slices.Contains(t.Where, recorded.ShortVector):
		return t.Reach != recorded.Inside && t.class != recorded.FromEnd
	}
	return false
}

// settle leaves one answer of a runtime to calls that are alike, by each way of running.
// Where memory that is no row, or that nobody wrote, happened to look like another answer,
// or the process ended, those answers are left. Other recordings that contradict each other
// are an error: package recorded has to know what they differ in.
func settle(all []told) ([]told, error) {
	wild := map[string]bool{} // calls that a runtime answers with memory, by any way of running
	by := map[string][]told{}
	var keys []string
	call := func(t told) string { return fmt.Sprint(t.Like, t.data, t.runtime) }
	for _, t := range all {
		if unchecked(t) {
			t.class, t.follows = recorded.Memory, false
		}
		k := fmt.Sprint(t.Like, " ", t.data, " ", t.runtime, "; ", t.run)
		if by[k] == nil {
			keys = append(keys, k)
		}
		if !slices.ContainsFunc(by[k], func(u told) bool { return u.class == t.class && u.follows == t.follows }) {
			by[k] = append(by[k], t)
		}
		wild[call(t)] = wild[call(t)] || t.class == recorded.Garbage
	}
	var settled []told
	var errs []string
	for _, k := range keys {
		list := by[k]
		has := func(class string) bool {
			return slices.ContainsFunc(list, func(t told) bool { return t.class == class })
		}
		switch {
		case len(list) == 2 && has(recorded.Refused) && has(recorded.Other) && strings.HasPrefix(list[0].Operator, "openvino.EmbeddingBag"):
			list = list[:1]
			list[0].class, list[0].follows = recorded.Varies, false
		case wild[call(list[0])] || has(recorded.Ends):
			list = slices.DeleteFunc(list, func(t told) bool { // luck
				return t.class != recorded.Garbage && t.class != recorded.Ends && t.class != recorded.Refused && (len(list) > 1 || t.class == recorded.Zero)
			})
		}
		if has(recorded.Garbage) && has(recorded.Refused) || len(list) > 1 && !has(recorded.Garbage) && !has(recorded.Ends) {
			text := k + ":"
			for _, t := range list {
				text += fmt.Sprintf(" %s, which follows: %v (%s)", t.class, t.follows, t.name)
			}
			errs = append(errs, text)
		}
		settled = append(settled, list...)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("garner: recordings of calls that are alike have different answers; say in package recorded what they differ in:\n%s", strings.Join(errs, "\n"))
	}
	return settled, nil
}

// join makes entries: one of the answers that differ in the dtype of data alone.
func join(all []told) []recorded.Entry {
	order := map[string]int{}
	for i, o := range operators.All() {
		order[o.Name] = i
	}
	reaches := []recorded.Reach{recorded.Inside, recorded.Negative, recorded.Below, recorded.PastEnd}
	var entries []recorded.Entry
	at := map[string]int{}
	for _, t := range all {
		k := fmt.Sprint(t.Like, t.runtime, t.run, t.class, t.follows)
		i, ok := at[k]
		if !ok {
			i = len(entries)
			at[k] = i
			entries = append(entries, recorded.Entry{Like: t.Like, Runtime: t.runtime, Class: t.class, Follows: t.follows, Run: t.run})
		}
		if at, has := slices.BinarySearch(entries[i].Data, t.data); !has {
			entries[i].Data = slices.Insert(entries[i].Data, at, t.data)
			entries[i].Cases = slices.Insert(entries[i].Cases, at, t.name)
		}
	}
	slices.SortStableFunc(entries, func(a, b recorded.Entry) int {
		return cmp.Or(
			cmp.Compare(order[a.Operator], order[b.Operator]),
			cmp.Compare(slices.Index(reaches, a.Reach), slices.Index(reaches, b.Reach)),
			cmp.Compare(len(a.Attributes), len(b.Attributes)),
			cmp.Compare(len(a.Where), len(b.Where)),
			cmp.Compare(a.Runtime, b.Runtime),
			cmp.Compare(a.Run, b.Run),
		)
	})
	return entries
}
