// Package lint finds the gathers of a model that another runtime refuses, or
// answers differently.
//
//	m, err := modelproto.Open("model.onnx")
//	findings, err := lint.Model(ctx, m, lint.Options{})
//	for _, f := range findings {
//		fmt.Println(f.Severity, f.Rule.ID, f.Node.Name, f.Message)
//	}
//
// A [Rule] rests on [Evidence]: a case of testdata/conformance that was recorded
// by running the runtime, which a test checks. Evidence without a recording says
// so and names its source.
package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A Severity ranks findings.
type Severity int

// The severities. A finding has the severity of its rule, or a lower one where
// dims that only a run knows decide. It is a note where no runtime that it concerns
// reads the model's format, unless Options name one.
const (
	Note    Severity = iota // depends on values at run time; every runtime's answer is defined
	Warning                 // depends on values at run time, or some runtime's answer is undefined
	Error                   // a runtime refuses this model, or answers differently
)

var severities = []string{Note: "note", Warning: "warning", Error: "error"}

// String gives note, warning or error.
func (s Severity) String() string { return severities[s] }

// ParseSeverity parses what String gives.
func ParseSeverity(text string) (Severity, error) {
	if i := slices.Index(severities, text); i >= 0 {
		return Severity(i), nil
	}
	return 0, fmt.Errorf("garner: no severity %q; there are %s", text, strings.Join(severities, ", "))
}

// A Rule is one difference between runtimes.
type Rule struct {
	ID       string // "L.1"; never given to another rule
	Title    string
	Severity Severity
	About    string // what the rule looks at, and the consequence
	Remedy   string
	Changes  bool   // the remedy changes the model; lint/testdata has it run in ONNX Runtime and OpenVINO. Of any other, a person decides
	Mend     string // what Mends does about it; "" where Decide is not
	Decide   string // what a person must decide, so that no mend can; "" where Mend is not
	Evidence []Evidence

	check func(r *Rule, s *subject) error
}

// Rules lists every rule, by number.
func Rules() []Rule { return slices.Clone(rules) }

// Runtimes lists the runtimes of the rule's evidence, in the order of
// AllRuntimes.
func (r *Rule) Runtimes() []Runtime { return runtimesOf(r.Evidence) }

// A Finding is one rule that applies to one node of a model.
type Finding struct {
	Rule     *Rule
	Severity Severity
	Node     *model.Node
	Message  string     // what the node has, and what each runtime does with it
	Evidence []Evidence // for the runtimes that the finding concerns
}

// Runtimes lists the runtimes that the finding concerns.
func (f *Finding) Runtimes() []Runtime { return runtimesOf(f.Evidence) }

// Place gives the node's line and column in a text file, counted from 1; both are
// 0 for a binary file.
func (f *Finding) Place() (line, column int) { return place(f.Node) }

func place(node *model.Node) (line, column int) {
	if n, err := fmt.Sscanf(node.At, "line %d, column %d", &line, &column); n != 2 || err != nil {
		return 0, 0
	}
	return line, column
}

// An Unjudged is a node that gathers, or a part of what one does, that no rule
// looks at.
type Unjudged struct {
	Node     *model.Node
	Operator string // its name, with its domain
	Why      string // what is not judged, and what to do
}

// NotJudged lists the nodes of m that gather by an operator that lint has no rules
// for, the gathers whose table nodes dequantise, of which the rules judge
// the indices and not the values of the table, and the gathers whose indices, or whose
// table of 64-bit elements, Model does not read because of their size.
func NotJudged(m *model.Model) []Unjudged {
	var list []Unjudged
	dequantised, constant := operators.Dequantised(), constants()
	allowed := allowanceOf(m, constant)
	for n := range m.Nodes() {
		if r, ok := operators.RelatedOf(n); ok {
			list = append(list, Unjudged{n, r.Name, noRules})
		}
		if !n.IsGather() {
			continue
		}
		judges := func(e Evidence) bool { return e.Operator == n.Operator }
		if !slices.ContainsFunc(outsideAnswers, judges) && !slices.ContainsFunc(movedAnswers, judges) {
			list = append(list, Unjudged{n, n.Operator, noRules})
			continue
		}
		if why := unjudgedWindows(n); why != "" {
			list = append(list, Unjudged{n, n.Operator, why})
		}
		if dequantised(input(n, 0)) != nil {
			list = append(list, Unjudged{n, n.Operator, "its table is dequantised before it; lint judges the indices, and not how runtimes compute the table's values"})
		}
		if c := constant(input(n, 1)); c != nil && !allowed.allows(c) {
			list = append(list, Unjudged{n, n.Operator, fmt.Sprintf("its indices are %s so check that none is negative or outside where they are made", unreadText(c))})
		}
		ends, name := endsOf(n)
		if c := constant(ends); c != nil && !allowed.allows(c) {
			list = append(list, Unjudged{n, n.Operator, fmt.Sprintf("its %s are %s so check where they are made that none is negative, falls or is beyond the last", name, unreadText(c))})
		}
		if c := tableOf(n, constant); c != nil && !allowed.allows(c) {
			list = append(list, Unjudged{n, n.Operator, fmt.Sprintf("its table is %s so check that 32 bits hold its values if OpenVINO runs the model", unreadText(c))})
		}
	}
	return list
}

// noRules is why no rule looks at a node.
const noRules = "lint has no rules for this operator; compare what the runtimes document of its indices"

// Options select what Model reports.
type Options struct {
	Runtimes []Runtime // the runtimes to report on; all where it is empty
}

// Model applies every rule to every gather of m, those in sub-graphs included.
// Findings are in the order of the nodes, and for one node in that of the rules.
//
// It reads each index constant once, each constant that indices are computed from
// once more, and each constant table of 64-bit elements up to the first value that
// does not fit 32 bits. Of indices and tables it reads 64 MiB in all, the smallest
// constants first; NotJudged lists the gathers of those that it does not read. Of the
// constants that indices are computed from it reads what is left of that, and 8 MiB at
// least; any other may have every value. It reads a constant in pieces of half a MB.
// What it reads of a mapped file may stay in memory.
// Beside that, its time and memory are linear in the number of nodes. Errors are a
// constant that cannot be read and the cause of ctx.
func Model(ctx context.Context, m *model.Model, o Options) ([]Finding, error) {
	l := newLinter(ctx, m)
	if len(o.Runtimes) > 0 {
		l.runtimes = slices.DeleteFunc(l.runtimes, func(r Runtime) bool { return !slices.Contains(o.Runtimes, r) })
		l.home = l.runtimes
	}
	l.lookAtInputs()
	for n := range m.Gathers() {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		s, err := l.subject(n)
		if err != nil {
			return nil, model.InFile(m.Path, err)
		}
		for i := range rules {
			if err := rules[i].check(&rules[i], s); err != nil {
				return nil, model.InFile(m.Path, model.AtNode(n, err))
			}
		}
	}
	return l.findings, nil
}

// lookAtInputs notes the inputs of the model.
func (l *linter) lookAtInputs() {
	if l.model.Graph == nil {
		return
	}
	for _, v := range l.model.Graph.Inputs {
		l.inputs[v] = true
		_, known := v.Spec.Shape()
		l.dynamic = l.dynamic || !known
		if l.openInput == nil && l.rankless(v) {
			l.openInput = v
		}
	}
}

// A linter collects the findings of one model.
type linter struct {
	ctx       context.Context
	runtimes  []Runtime
	home      []Runtime // a finding that concerns one of these keeps its rule's severity
	format    string
	model     *model.Model
	inputs    map[*model.Value]bool
	dynamic   bool                  // an input has an unknown dim
	openInput *model.Value          // the first input of the model whose rank is unknown; nil without one
	indices   map[any]*constantScan // index constants, as stored; nil before the first is needed
	tables    map[any]*loss         // 64-bit tables that were read, as stored
	ends      map[any]*endsScan     // ends of bags that were read, as stored
	allowed   *allowance            // the constants to read
	findings  []Finding

	constant func(*model.Value) *model.Constant // as constants says
	ranges   map[*model.Value]bounds            // what bounds found
	computed int                                // how often compute ran, which tests count
	sources  *trail.Trail[*model.Value]         // as sourcesOf says
	begun    map[*model.Value]int32             // values that bounds has visited: see groups
	uses     map[*model.Value][]*model.Node     // as usesOf says; nil before it is needed
	at       operation                          // what compute works on
	held     map[any]bounds                     // constants that bounds has read, as stored
	lists    map[*model.Constant][]int64        // short constants that are attributes in other formats, as list read them
	codes    map[*model.Node]bool               // what computesCodes found
	places   map[*model.Value]int32             // of the model's values, as placesOf says; nil before a loop needs them

	isFolded    map[*model.Value]bool     // what folded found
	foldedSeen  map[*model.Value]int32    // values that folded has visited: see groups
	withoutRank map[*model.Value]bool     // what rankless found
	ranked      map[*model.Value]int32    // values that rankless has visited: see groups
	inferred    *inference                // of OpenVINO
	declared    *inference                // of the model
	shared      map[answersKey][]Evidence // what answers found
	words       map[*Evidence]string      // consequences, by the first of the evidence
}

func newLinter(ctx context.Context, m *model.Model) *linter {
	l := &linter{
		ctx: ctx, model: m, format: m.Format, runtimes: AllRuntimes(), home: formats[m.Format].readers, inputs: map[*model.Value]bool{},
		tables: map[any]*loss{}, ends: map[any]*endsScan{}, constant: constants(),
		ranges: map[*model.Value]bounds{}, begun: map[*model.Value]int32{}, held: map[any]bounds{}, lists: map[*model.Constant][]int64{}, codes: map[*model.Node]bool{},
		isFolded: map[*model.Value]bool{}, foldedSeen: map[*model.Value]int32{},
		withoutRank: map[*model.Value]bool{}, ranked: map[*model.Value]int32{},
		shared: map[answersKey][]Evidence{}, words: map[*Evidence]string{},
	}
	l.inferred, l.declared = l.inference(true), l.inference(false)
	l.sources, l.allowed = l.sourcesOf(), allowanceOf(m, l.constant)
	return l
}

// find adds a finding, unless its evidence is empty.
func (s *subject) find(r *Rule, evidence []Evidence, format string, args ...any) {
	s.findAs(r, r.Severity, evidence, format, args...)
}

// findAs is find with a severity of at most the rule's.
func (s *subject) findAs(r *Rule, severity Severity, evidence []Evidence, format string, args ...any) {
	if len(evidence) == 0 {
		return
	}
	near := slices.ContainsFunc(evidence, func(e Evidence) bool { return slices.Contains(s.home, e.Runtime()) })
	if !near {
		severity = Note
	}
	s.findings = append(s.findings, Finding{
		Rule: r, Severity: severity, Node: s.node, Evidence: evidence,
		Message: fmt.Sprintf(format, args...) + ": " + s.consequences(evidence),
	})
}

// consequences gives the words for what each runtime does.
func (l *linter) consequences(evidence []Evidence) string {
	if text, ok := l.words[&evidence[0]]; ok {
		return text
	}
	var parts []string
	for _, e := range evidence {
		part := e.Who() + " " + string(e.Answer)
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, ", ")
	l.words[&evidence[0]] = text
	return text
}

// answers gives the rule's evidence for the operator that each runtime has for the
// node, without evidence of the answers in over. Nodes that are alike share the
// list, which must not be changed.
func (s *subject) answers(r *Rule, over ...Answer) []Evidence {
	key := answersKey{r, s.operator.Name, fmt.Sprint(over), s.batch != 0, s.torch(), s.shortVector(), s.compressed, s.ignores(), s.folds()}
	if list, ok := s.shared[key]; ok {
		return list
	}
	var list []Evidence
	for _, runtime := range s.runtimes {
		name := s.as(runtime)
		if runtime == OpenVINO && s.compressed && slices.ContainsFunc(r.Evidence, func(e Evidence) bool { return e.Operator == compressedGather }) {
			name = compressedGather
		}
		for _, e := range r.Evidence {
			if e.Operator != name || name == "" || e.Runtime() != runtime || slices.Contains(over, e.Answer) {
				continue
			}
			if runtime == TensorFlow && s.ignores() && ofBadIndices(e) || e.Run == ignoring && !s.ignores() {
				continue
			}
			if isFolded := e.Run == folding; runtime == OpenVINO && ofBadIndices(e) && s.operator.Kind == operators.Gather && isFolded != s.folds() {
				continue
			}
			if words, reads := readingOf[e.Run]; reads && !s.wordsOf(words) {
				continue
			}
			if short := s.shortVector() && !s.folds(); e.Run == shortVector && !short || runtime == OpenVINO && e.Answer == Zeros && short {
				continue
			}
			list = append(list, e)
		}
	}
	s.shared[key] = list
	return list
}

// An answersKey is what the answers of a rule depend on.
type answersKey struct {
	rule           *Rule
	operator, over string
	batched        bool
	torch          string
	short          bool
	compressed     bool
	ignores        bool
	folds          bool
}

// shortVector reports whether OpenVINO may gather as departures.ShortVector says.
func (s *subject) shortVector() bool {
	return s.operator.Kind == operators.Gather && departures.ShortVector(s.data.Spec, s.indices.Spec)
}

// folds reports whether OpenVINO computes the node before the first run, as it does a Gather of constants.
func (s *subject) folds() bool {
	return s.operator.Kind == operators.Gather && !s.compressed && len(s.node.Outputs) > 0 && s.node.Outputs[0] != nil && s.folded(s.node.Outputs[0])
}

// torch names PyTorch's operator for Gather; "" where there is none. It selects along
// any dim, but with a vector only.
func (s *subject) torch() string {
	if rank := s.indices.Spec.Rank; rank.Max <= 1 {
		return "torch.index_select"
	} else if data := s.data.Spec.Rank; data.Known() && data.Min == 2 && s.axisKnown && s.axis == 0 {
		return "torch.embedding"
	}
	return ""
}

// as names the operator that a runtime has for the node: the node's own operator,
// or the newest that means the same; "" where the runtime has none.
func (s *subject) as(r Runtime) string {
	if runtimeOf(s.operator.Name) == r {
		return s.operator.Name
	}
	if s.operator.Name == "tflite.hybrid-embedding-lookup" && r == OpenVINO { // which dequantises the table before a gather
		return "openvino.Gather-8"
	}
	if r == OpenVINO && segmentsAsBags(s.node) {
		return "openvino.EmbeddingSegmentsSum-3"
	}
	if combines(s.operator) || runtimeOf(s.operator.Name) == XLA { // no other runtime moves windows inside
		return ""
	}
	batched := s.batch != 0
	switch s.operator.Kind {
	case operators.Gather:
		switch {
		case r == OpenVINO:
			return "openvino.Gather-8"
		case r == TensorFlow:
			return "tensorflow.GatherV2"
		case batched: // the others have no batch dims here
			return ""
		case r == ONNXRuntime:
			return "onnx.Gather-13"
		case r == JAX:
			return "jax.numpy.take"
		case r == WebNN:
			return "webnn.gather"
		}
		return s.torch()
	case operators.GatherND:
		switch {
		case r == OpenVINO:
			return "openvino.GatherND-8"
		case r == ONNXRuntime:
			return "onnx.GatherND-13"
		case r == TensorFlow && batched:
			return "tensorflow.gather_nd"
		case r == TensorFlow:
			return "tensorflow.GatherNd"
		case r == WebNN && !batched:
			return "webnn.gatherND"
		}
	case operators.Elements:
		switch r {
		case OpenVINO:
			return "openvino.GatherElements-6"
		case ONNXRuntime:
			return "onnx.GatherElements-13"
		case Torch:
			return "torch.gather"
		case JAX:
			return "jax.numpy.take_along_axis"
		case WebNN:
			return "webnn.gatherElements"
		}
	}
	return ""
}
