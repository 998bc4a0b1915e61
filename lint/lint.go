// Package lint judges the gathers of a model: which of them would answer
// differently in another runtime, or not at all.
//
//	m, err := modelproto.Open("model.onnx")
//	findings, err := lint.Model(ctx, m, lint.Options{})
//	for _, f := range findings {
//		fmt.Println(f.Severity, f.Rule.ID, f.Node.Name, f.Message)
//	}
//
// What a [Rule] says of a runtime was recorded by running it: its [Evidence]
// names a case of testdata/conformance, and a test holds that the case says so.
// Where nothing is recorded, it says that, and where the claim comes from.
package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A Severity says how much a finding matters.
type Severity int

// The severities. A finding has its rule's, or the one below where none of the
// runtimes that it concerns reads the model's format and none was asked for.
const (
	Note    Severity = iota // depends on values that only a run knows, and every runtime stays defined
	Warning                 // depends on what only a run knows, or is undefined in some runtime
	Error                   // this model as it is: refused, or answered differently
)

var severities = []string{Note: "note", Warning: "warning", Error: "error"}

// String is note, warning or error.
func (s Severity) String() string { return severities[s] }

// ParseSeverity reads what String writes.
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
	About    string // what is looked at, and what comes of it
	Remedy   string
	Evidence []Evidence

	check func(r *Rule, s *subject) error
}

// Rules lists every rule, by number.
func Rules() []Rule { return slices.Clone(rules) }

// Runtimes are those that the rule's evidence is of, in the order of the
// package's list.
func (r *Rule) Runtimes() []Runtime { return runtimesOf(r.Evidence) }

// A Finding is a rule that a node of a model meets.
type Finding struct {
	Rule     *Rule
	Severity Severity
	Node     *model.Node
	Message  string     // what stands there, and what each runtime makes of it
	Evidence []Evidence // of the runtimes that it concerns
}

// Runtimes are those that the finding concerns.
func (f *Finding) Runtimes() []Runtime { return runtimesOf(f.Evidence) }

// Place is where the node stands in a file that is text, from 1 on; 0 and 0
// elsewhere.
func (f *Finding) Place() (line, column int) {
	if n, err := fmt.Sscanf(f.Node.At, "line %d, column %d", &line, &column); n != 2 || err != nil {
		return 0, 0
	}
	return line, column
}

// Options say what is judged.
type Options struct {
	Runtimes []Runtime // those to speak of; all where there are none
}

// Model judges every gather of m, those of its sub-graphs too. Findings come in
// the order of the nodes, and for one node in that of the rules.
//
// Constants are read piece by piece: index constants whole, and constant tables
// of 64-bit elements up to the first value that 32 bits lose. It holds some 1 MB
// of them, and takes the time of reading each once, ended by ctx. A constant
// that cannot be read is an error.
func Model(ctx context.Context, m *model.Model, o Options) ([]Finding, error) {
	l := &linter{
		ctx: ctx, format: m.Format, runtimes: AllRuntimes(), home: homes[m.Format], inputs: map[*model.Value]bool{},
		indices: map[string]*indexScan{}, tables: map[*model.Constant]*loss{},
	}
	if len(o.Runtimes) > 0 {
		l.runtimes = slices.DeleteFunc(l.runtimes, func(r Runtime) bool { return !slices.Contains(o.Runtimes, r) })
		l.home = l.runtimes
	}
	if m.Graph != nil {
		for _, v := range m.Graph.Inputs {
			l.inputs[v] = true
		}
	}
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

// homes are the runtimes that read a format themselves.
var homes = map[string][]Runtime{
	"ONNX":        {OpenVINO, ONNXRuntime},
	"OpenVINO IR": {OpenVINO},
}

// A linter judges one model.
type linter struct {
	ctx      context.Context
	runtimes []Runtime
	home     []Runtime // those whose findings have their rule's own severity
	format   string
	inputs   map[*model.Value]bool
	indices  map[string]*indexScan // what was read, by constant and axes
	tables   map[*model.Constant]*loss
	findings []Finding
}

// find adds a finding, unless it concerns no runtime.
func (s *subject) find(r *Rule, evidence []Evidence, format string, args ...any) {
	if len(evidence) == 0 {
		return
	}
	severity := r.Severity
	near := slices.ContainsFunc(evidence, func(e Evidence) bool { return slices.Contains(s.home, e.Runtime()) })
	if !near && severity > Note {
		severity--
	}
	s.findings = append(s.findings, Finding{
		Rule: r, Severity: severity, Node: s.node, Evidence: evidence,
		Message: fmt.Sprintf(format, args...) + ": " + consequences(evidence),
	})
}

// consequences says what each runtime does.
func consequences(evidence []Evidence) string {
	var parts []string
	for _, e := range evidence {
		part := e.Who() + " " + string(e.Answer)
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// answers are what the rule's evidence says of the operators that stand for the
// node in each runtime, without the answers that are passed over.
func (s *subject) answers(r *Rule, over ...Answer) []Evidence {
	var list []Evidence
	for _, runtime := range s.runtimes {
		name := s.as(runtime)
		for _, e := range r.Evidence {
			if e.Operator == name && name != "" && e.Runtime() == runtime && !slices.Contains(over, e.Answer) {
				list = append(list, e)
			}
		}
	}
	return list
}

// as is the operator that stands for the node in a runtime: its own one, or the
// newest that means the same; "" where there is none.
func (s *subject) as(r Runtime) string {
	if runtimeOf(s.operator.Name) == r {
		return s.operator.Name
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
		// torch selects along any dim, but with a vector only.
		if rank := s.indices.Spec.Rank; rank.Max <= 1 {
			return "torch.index_select"
		} else if data := s.data.Spec.Rank; data.Known() && data.Min == 2 && s.axisKnown && s.axis == 0 {
			return "torch.embedding"
		}
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
