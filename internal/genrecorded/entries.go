package main

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/corpus"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/operators"
)

// entriesOf gives the entries of the recordings of a folder, and of the evidence of lint
// beyond them, sorted by operator, kind, and how special their conditions are.
func entriesOf(folder string) ([]recorded.Entry, error) {
	recordings, err := corpus.Recordings(folder)
	if err != nil {
		return nil, err
	}
	// Those of corner cases show what others do not, and come last.
	slices.SortStableFunc(recordings, func(a, b corpus.Recording) int {
		corner := func(r corpus.Recording) int { return cmp.Compare(r.File, "edges.jsonl") }
		return cmp.Compare(1-corner(a)*corner(a), 1-corner(b)*corner(b))
	})
	disputed, err := os.ReadFile(filepath.Join(folder, "..", "disputed.txt"))
	if err != nil {
		return nil, err
	}
	var all []*found
	for _, r := range recordings {
		if strings.Contains(string(disputed), " "+r.Name+" | ") { // all are of NaNs, which a gather must not change
			f := &found{Entry: recorded.Entry{Operator: r.Operator.Name, Kind: recorded.Inside}}
			f.Runtime, f.Case, f.Data = runtimeName(r.Source), r.Name, []string{r.Data.DType().String()}
			f.Answer.Answer, f.Where = recorded.Rounded, recorded.Signalling
			all = add(all, f)
			continue
		}
		for _, f := range read(r) {
			all = add(all, f)
		}
	}
	for _, f := range ofLint() {
		all = add(all, f)
	}
	all = slices.DeleteFunc(all, func(f *found) bool {
		return strings.HasSuffix(f.Runtime, "test suite") && slices.ContainsFunc(all, func(g *found) bool {
			return g.Operator == f.Operator && g.Kind == f.Kind && !strings.HasSuffix(g.Runtime, "test suite")
		})
	})
	order := map[string]int{}
	for i, o := range operators.All() {
		order[o.Name] = i
	}
	kinds := []recorded.Kind{recorded.Inside, recorded.Negative, recorded.Below, recorded.PastEnd}
	slices.SortStableFunc(all, func(a, b *found) int {
		return cmp.Or(
			cmp.Compare(order[a.Operator], order[b.Operator]),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(len(a.Attributes), len(b.Attributes)),
			cmp.Compare(a.special(), b.special()),
			cmp.Compare(b.count, a.count),
		)
	})
	entries := make([]recorded.Entry, len(all))
	for i, f := range all {
		entries[i] = f.Entry
	}
	return entries, nil
}

// A found is an entry in the making.
type found struct {
	recorded.Entry
	count     int  // recordings that show it
	ambiguous bool // several classes fit the recording
}

// special counts the conditions of an entry.
func (f *found) special() int {
	n := len(f.Data) + len(f.Indices)
	if f.Run != "" {
		n++
	}
	if f.Where != "" {
		n++
	}
	return n
}

// add joins an entry to those that say the same of other types.
func add(all []*found, f *found) []*found {
	for _, g := range all {
		same := g.Operator == f.Operator && g.Kind == f.Kind && g.Runtime == f.Runtime && g.Answer.Answer == f.Answer.Answer && g.Follows == f.Follows &&
			g.Run == f.Run && g.Where == f.Where && len(g.Attributes) == len(f.Attributes) && (len(g.Data) > 0) == (len(f.Data) > 0) && (len(g.Indices) > 0) == (len(f.Indices) > 0)
		for name, v := range f.Attributes {
			same = same && g.Attributes[name] == v
		}
		if !same {
			continue
		}
		g.Data, g.Indices = union(g.Data, f.Data), union(g.Indices, f.Indices)
		if g.count++; g.ambiguous && !f.ambiguous {
			g.Case, g.ambiguous = f.Case, false
		}
		return all
	}
	f.count = 1
	return append(all, f)
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// read gives the entries of a recording.
func read(r corpus.Recording) []*found {
	if strings.Contains(r.Name, "-random-") { // they mix what the others ask one by one
		return nil
	}
	plan, err := planOf(r)
	if err != nil {
		return nil // a call that breaks a rule of types, shapes or attributes says nothing of indices
	}
	kind, err := recorded.KindOf(plan, r.Indices, r.Further...)
	if err != nil || kind == recorded.Inside && r.Error != "" {
		return nil
	}
	values := map[string]any{}
	maps.Copy(values, r.Attributes)
	var list []*found
	for _, run := range r.Runs {
		f := &found{Entry: recorded.Entry{Operator: r.Operator.Name, Kind: kind}}
		f.Runtime, f.Case, f.Follows, f.Run = r.Source, r.Name, !run.Departs, run.Way
		if before, way, ok := strings.Cut(f.Runtime, ", "); ok {
			f.Runtime, f.Run = before, way
		}
		if strings.HasPrefix(run.Way, "onnx ") { // another runtime
			f.Runtime, f.Run = run.Way, ""
		}
		f.Runtime = runtimeName(f.Runtime)
		if set := recorded.ModesOf(r.Operator.Name, values); len(set) > 0 {
			f.Attributes = set
		}
		if f.judge(r, plan, run) {
			list = append(list, f)
		}
	}
	if f := ofNote(r, kind); f != nil {
		list = append(list, f)
	}
	return list
}

// ofNote gives the entry of a line whose note says what the usual run of its runtime
// did, where the line itself has the answer of another one.
func ofNote(r corpus.Recording, kind recorded.Kind) *found {
	f := &found{Entry: recorded.Entry{Operator: r.Operator.Name, Kind: kind}}
	f.Case = r.Name
	runtime, text, ok := strings.Cut(r.Note, ", usual run: ")
	wrong, _, cut := strings.Cut(r.Note, " gives the wrong result shown as observed")
	switch {
	case ok && strings.Contains(text, "process ended"):
		f.Answer.Answer, f.Where = recorded.Ends, recorded.WithoutElements
	case ok && strings.Contains(text, "MLDataType"):
		f.Answer.Answer = recorded.NoTypes
		f.types(r)
	case cut:
		runtime, f.Answer.Answer = wrong, recorded.Cut
		f.types(r)
	default:
		return nil
	}
	f.Runtime = runtimeName(runtime)
	return f
}

// suites are whose published tests a source names.
var suites = map[string]string{
	"openvino": "OpenVINO", "onnx/onnx": "ONNX", "google-ai-edge/LiteRT": "LiteRT", "openxla/stablehlo": "StableHLO", "jax-ml/jax": "JAX",
	"tensorflow": "XLA", "tensorflow/python": "TensorFlow", "tensorflow/core": "TensorFlow", "web-platform-tests": "Web Platform",
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
	source = strings.TrimSuffix(source, " (x64 on)")
	switch name, _, _ := strings.Cut(source, " "); name {
	case "openvino", "torch", "jax", "tensorflow", "onnxruntime": // those of edges.jsonl do not say it
		if !strings.HasSuffix(source, " CPU") {
			source += " CPU"
		}
	}
	return source
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

// judge sets the class of an answer; false where it says nothing of indices or types.
func (f *found) judge(r corpus.Recording, plan *garner.Plan, run corpus.Run) bool {
	empty := r.Data.Len() == 0 || r.Indices.DType().Valid() && r.Indices.Len() == 0
	if n, ok := plan.Out.Len(); ok && n == 0 {
		empty = true
	}
	if empty {
		f.Where = recorded.WithoutElements
	}
	switch {
	case run.Undefined || run.Output.DType() == garner.Invalid && run.Error == "":
		return f.undefined(r, run.Note)
	case run.Error == "index-out-of-range" && f.Kind != recorded.Inside:
		f.Answer.Answer = recorded.Refused
		return true
	case run.Error == "dtype":
		if f.Kind != recorded.Inside {
			return false
		}
		f.Answer.Answer, f.Where = recorded.NoTypes, ""
		f.types(r)
		return !slices.Equal(f.Data, []string{"f32"}) // of those it is another operand's type
	case run.Error != "":
		f.Answer.Answer = recorded.Refused
		if f.Kind == recorded.Inside && empty {
			f.Answer.Answer, f.Where = recorded.NoEmpty, ""
			return f.Run == "" // ways of running have rules of shapes of their own
		}
		return f.Kind != recorded.Inside && !empty
	}
	if empty {
		return false // no element tells a class from another
	}
	fitting := f.classes(r, plan, run.Output)
	if len(fitting) == 1 && fitting[0] == recorded.Row && f.Run != "" {
		return false
	}
	if len(fitting) == 0 {
		f.Answer.Answer = recorded.Other
		return run.Departs
	}
	f.Answer.Answer, f.ambiguous = fitting[0], len(fitting) > 1
	return !f.ambiguous
}

// undefined classes what was not recorded as a result.
func (f *found) undefined(r corpus.Recording, note string) bool {
	has := func(s string) bool { return strings.Contains(note, s) }
	switch {
	case has("process ended"):
		f.Answer.Answer = recorded.Ends
	case has("32 bits"), has("quiets"):
		f.Answer.Answer, f.Where = recorded.Rounded, recorded.Beyond32
		if has("quiets") {
			f.Where = recorded.Signalling
		}
		f.Data = []string{r.Data.DType().String()}
	case has("narrower than a byte"):
		f.Answer.Answer = recorded.Garbage
		f.types(r)
	case has("outside the operator's definition"):
		return false
	case f.Kind == recorded.Inside && (has("tuples are empty") || has("nobody wrote")):
		f.Answer.Answer, f.Where = recorded.Garbage, recorded.WithoutTerms
	case f.Kind == recorded.Inside:
		return false
	default:
		f.Answer.Answer = recorded.Garbage
	}
	return true
}

// types sets the dtype that the answer depends on: that of the indices where the
// operator's page does not list it or they are no i32 and i64, else that of data.
func (f *found) types(r corpus.Recording) {
	_, listed, _ := strings.Cut(r.Operator.Types, "indices ")
	name := r.Indices.DType().String()
	usual := name == "i64" || name == "i32" && !strings.HasSuffix(listed, "i64") || name == "i32" && strings.Contains(listed, "i32")
	if strings.Contains(r.Name, "-indices-") || !usual && r.Indices.DType().Valid() {
		f.Indices = []string{name}
		return
	}
	f.Data = []string{r.Data.DType().String()}
}

// classes gives the classes that the result fits, garner's own answer first.
func (f *found) classes(r corpus.Recording, plan *garner.Plan, got garner.Tensor) []string {
	var list []string
	fits := func(class string, op garner.Op) {
		out, err := garner.Gather(op, r.Data, r.Indices, r.Further...)
		if err == nil && equal(out, got) && !slices.Contains(list, class) {
			list = append(list, class)
		}
	}
	if f.Kind == recorded.Inside {
		fits(recorded.Row, r.Op)
		return list
	}
	if plan.Bag != nil || plan.Stored != nil {
		fits(own(plan, f.Kind, r.Indices), r.Op)
	}
	nearest := recorded.LastRow
	if f.Kind != recorded.PastEnd {
		nearest = recorded.FirstRow
	}
	for _, negative := range []garner.Negative{garner.FromEnd, garner.Reject} {
		op := garner.WithNegative(r.Op, negative)
		if f.Kind == recorded.Negative && negative == garner.FromEnd {
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
			if d := plan.DType; d.IsFloat() || d.IsComplex() {
				class = recorded.NaN
			}
			fits(class, garner.WithNegative(r.Op, negative))
		}
	}
	return list
}

// own is the class of garner's own answer of a plan that computes.
func own(plan *garner.Plan, kind recorded.Kind, indices garner.Tensor) string {
	switch {
	case plan.Bag != nil && plan.Bag.SkipNegative && kind != recorded.PastEnd:
		return recorded.LeftOut
	case kind == recorded.Negative && plan.Negative == garner.FromEnd:
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

// lintClasses are the answers that the rules of lint know by the classes of the table.
var lintClasses = map[lint.Answer]string{
	lint.Refuses: recorded.Refused, lint.Counts: recorded.FromEnd, lint.Zeros: recorded.Zero, lint.Fills: recorded.NaN,
	lint.ReadsOther: recorded.Garbage, lint.LeavesUnset: recorded.Garbage, lint.Halts: recorded.Refused, lint.Ends: recorded.Ends,
}

// ofLint gives the answers to negative indices and to those past the end that lint has
// recordings of its own for, and those of other ways of running.
func ofLint() []*found {
	var list []*found
	for _, r := range lint.Rules() {
		kind := map[string]recorded.Kind{"L.1": recorded.Negative, "L.2": recorded.PastEnd}[r.ID]
		if kind == "" {
			continue
		}
		for _, e := range r.Evidence {
			if !strings.HasPrefix(e.Case, "lint-") {
				continue
			}
			class, ok := lintClasses[e.Answer]
			if e.Answer == lint.Clamps {
				class, ok = recorded.LastRow, true
			}
			if !ok {
				continue
			}
			f := &found{Entry: recorded.Entry{Operator: e.Operator, Kind: kind}}
			f.Runtime, f.Case, f.Where = e.Runtime().Recorded(), e.Case, e.Run
			f.Answer.Answer, f.Follows = class, follows(e.Operator, kind, class)
			if e.Answer == lint.Halts {
				f.Where = "on several threads"
				one := *f
				one.Where, one.Answer.Answer, one.Follows = "on one thread", recorded.Garbage, false
				list = append(list, &one)
			}
			list = append(list, f)
		}
	}
	return list
}

// follows reports whether a class is what an operator's definition says.
func follows(operator string, kind recorded.Kind, class string) bool {
	o, err := operators.Find(operator, 0)
	if err != nil {
		return false
	}
	d := garner.SpecOf(garner.F32, 3, 3)
	at := garner.SpecOf(garner.I64, 1, 1)
	if o.Kind == operators.Gather {
		at = garner.SpecOf(garner.I64, 1)
	}
	p, err := garner.NewPlan(o.Zero, d, at)
	if err != nil { // a bag: all refuse
		return class == recorded.Refused
	}
	switch {
	case kind == recorded.Negative && p.Negative == garner.FromEnd:
		return class == recorded.FromEnd
	case p.Outside == garner.Error:
		return class == recorded.Refused
	case p.Outside == garner.Zero:
		return class == recorded.Zero
	}
	return class == recorded.LastRow
}
