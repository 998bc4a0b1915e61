package fix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
)

// WriteText writes what was mended and what remains, a cause each, and last a line that
// counts both:
//
//	model.onnx: mended L.4: "gather" (onnx.Gather-13, graph.node[0]) and 1 more node: the indices are clamped to -5 … 4
//		- y = onnx.Gather-13(table, ids)
//		+ %1 = clamp(ids, -5, 4)
//		+ y = onnx.Gather-13(table, %1)
//	model.onnx: remains error L.2: "other" (onnx.Gather-13, graph.node[1]): indices[0] = 9 is outside …
//		a person must decide: the file does not say what the index is to read
//	mended.onnx: 2 nodes are mended, 1 finding remains
//
// Mends with the same words are one cause, and so are findings of one message: the first is
// shown, with its diff, and the others are counted.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	mends := map[string]int{}
	same := func(m *lint.Mend) string { return m.Node.Operator + ruleNames(m) + strings.Join(m.Words, "\x00") }
	for i := range r.Mends {
		mends[same(&r.Mends[i])]++
	}
	for i := range r.Mends {
		m := &r.Mends[i]
		n := mends[same(m)]
		if n == 0 {
			continue
		}
		mends[same(m)] = 0
		fmt.Fprintf(&b, "%s: mended %s: %s%s: %s\n", r.where(m.Node), ruleNames(m), named(m.Node), others(n, "node"), strings.Join(m.Words, "; "))
		for _, line := range m.Diff() {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	remaining := map[string]int{}
	alike := func(f *lint.Remaining) string {
		return f.Finding.Rule.ID + f.Finding.Node.Operator + f.Finding.Message + f.Why
	}
	for i := range r.Remaining {
		remaining[alike(&r.Remaining[i])]++
	}
	for i := range r.Remaining {
		f := &r.Remaining[i]
		n := remaining[alike(f)]
		if n == 0 {
			continue
		}
		remaining[alike(f)] = 0
		fmt.Fprintf(&b, "%s: remains %s %s: %s%s: %s\n\t%s\n", r.where(f.Finding.Node), f.Finding.Severity, f.Finding.Rule.ID, named(f.Finding.Node), others(n, "node"), terminal.Printable(f.Finding.Message), terminal.Printable(f.Why))
	}
	if r.Weights != "" {
		fmt.Fprintf(&b, "%s\n", terminal.Printable(r.Weights))
	}
	written := ""
	if !r.Written {
		written = "; it is not written"
	}
	fmt.Fprintf(&b, "%s: %s%s\n", names.Plain(r.Out), r.Counts(), written)
	_, err := io.WriteString(w, b.String())
	return err
}

// Counts says how many nodes are mended and how many findings remain.
func (r *Report) Counts() string {
	mended, remain := "nodes are", "findings remain"
	if len(r.Mends) == 1 {
		mended = "node is"
	}
	if len(r.Remaining) == 1 {
		remain = "finding remains"
	}
	return fmt.Sprintf("%d %s mended, %d %s", len(r.Mends), mended, len(r.Remaining), remain)
}

func ruleNames(m *lint.Mend) string {
	var list []string
	for _, rule := range m.Rules {
		if !slices.Contains(list, rule.ID) {
			list = append(list, rule.ID)
		}
	}
	return strings.Join(list, ", ")
}

func (r *Report) where(n *model.Node) string {
	where := names.Plain(r.Model.Path)
	if line, column := (&lint.Finding{Node: n}).Place(); line > 0 {
		return fmt.Sprintf("%s:%d:%d", where, line, column)
	}
	return where
}

func named(n *model.Node) string {
	at := ""
	if line, _ := (&lint.Finding{Node: n}).Place(); line == 0 && n.At != "" {
		at = ", " + names.Plain(n.At)
	}
	return fmt.Sprintf("%s (%s%s)", names.Quote(n.Name), n.Operator, at)
}

func others(n int, what string) string {
	switch n {
	case 1:
		return ""
	case 2:
		return " and 1 more " + what
	}
	return fmt.Sprintf(" and %d more %ss", n-1, what)
}

type jsonReport struct {
	Model     string          `json:"model"`
	Out       string          `json:"out"`
	Format    string          `json:"format"`
	Written   bool            `json:"written"`
	Weights   string          `json:"weights,omitempty"`
	Mends     []jsonMend      `json:"mends"`
	Remaining []jsonRemaining `json:"remaining"`
}

type jsonMend struct {
	Rules []string `json:"rules"`
	jsonNode
	Words []string `json:"words"`
	Diff  []string `json:"diff"`
}

type jsonRemaining struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	jsonNode
	Message string `json:"message"`
	Why     string `json:"why"`
}

type jsonNode struct {
	Node     string `json:"node"`
	Operator string `json:"operator"`
	At       string `json:"at,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
}

func jsonOf(n *model.Node) jsonNode {
	line, column := (&lint.Finding{Node: n}).Place()
	return jsonNode{n.Name, n.Operator, n.At, line, column}
}

// WriteJSON writes one object: model, out, format, the mends with their diffs, and the
// findings that remain, each with what a person must decide.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{r.Model.Path, r.Out, r.Model.Format, r.Written, r.Weights, []jsonMend{}, []jsonRemaining{}}
	for i := range r.Mends {
		m := &r.Mends[i]
		one := jsonMend{Rules: []string{}, jsonNode: jsonOf(m.Node), Words: m.Words, Diff: m.Diff()}
		for _, rule := range m.Rules {
			if !slices.Contains(one.Rules, rule.ID) {
				one.Rules = append(one.Rules, rule.ID)
			}
		}
		out.Mends = append(out.Mends, one)
	}
	for _, f := range r.Remaining {
		out.Remaining = append(out.Remaining, jsonRemaining{f.Finding.Rule.ID, f.Finding.Severity.String(), jsonOf(f.Finding.Node), f.Finding.Message, f.Why})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := terminal.NewJSON(w).Write(b.Bytes())
	return err
}
