package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/play"
	"github.com/garner-go/garner/operators"
)

const answersHead = `# Which answer does each framework give?

Ten calls that frameworks answer differently. Every table has the operators of one kind that can take the operands, grouped by what they answer; that is
what each operator's specification says, and garner's answer. Beside it stands what the framework itself answered when such a call was recorded: its
version, and the name of the recording in [testdata/conformance](../testdata/conformance), or, where it begins with "lint-", in
[lint/testdata](../lint/testdata). Such a call has the same types, ranks, batch dims and attributes; its numbers, the lengths of its dims and the
place of its axis may differ. JAX ran with types of 64 bits ("x64 on"), which it has only where they are asked for. **Differs** marks an answer that is
not what the operator's own specification says. Parentheses name a way of running that is not the usual one. An operator of which no such call was
recorded has none.

"garner play" and the page [play](play/) answer any other call. "go generate ./internal/gendocs" writes this page, and a test holds that it is up to date.
[rules.md](rules.md) has what each operator accepts and refuses.
`

// A question is a section of docs/answers.md.
type question struct {
	title, about string
	kind         operators.Kind // of the operators in the table
	call         play.Call
}

func integer(n int64) *int64 { return &n }

var questions = []question{
	{"−1", "Is it the last row, or an error?", operators.Gather, play.Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: "[0,-1]", Axis: integer(0)}},
	{"An index past the end", "There are three rows, and the index is 3.", operators.Gather, play.Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: "[0,3]", Axis: integer(0)}},
	{"An index below the first", "There are three rows, and the index is −4.", operators.Gather, play.Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: "[0,-4]", Axis: integer(0)}},
	{"An index past the end of a short vector of integers", "Shape computations in models are such gathers.", operators.Gather, play.Call{Data: "[1,2,3]", Indices: "[0,7]", Axis: integer(0)}},
	{"batch_dims", "Each row of data has its own row of indices.", operators.Gather, play.Call{Data: "f32[[1,2,3],[4,5,6]]", Indices: "[[2,0],[1,1]]", Axis: integer(1), BatchDims: integer(1)}},
	{"−1 in a tuple", "GatherND's indices address one element each.", operators.GatherND, play.Call{Data: "f32[[1,2],[3,4]]", Indices: "[[0,1],[1,-1]]"}},
	{"A tuple past the end", "The second tuple would be inside the memory of data, and is outside its second dim.", operators.GatherND, play.Call{Data: "f32[[1,2],[3,4]]", Indices: "[[0,1],[0,2]]"}},
	{"−1 for each element", "GatherElements has one index for each element of the result.", operators.Elements, play.Call{Data: "f32[[1,2],[3,4]]", Indices: "[[1,-1],[0,0]]", Axis: integer(1)}},
	{"An element past the end", "", operators.Elements, play.Call{Data: "f32[[1,2],[3,4]]", Indices: "[[1,2],[0,0]]", Axis: integer(1)}},
	{"A bag past the end", "Rows are added up, and one of the indices is of no row.", operators.Gather, play.Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: "[2,0,3]", Operands: map[string]string{
		"offsets": "[0,2]", "segment_ids": "[0,0,1]", "ids_indices": "[[0,0],[0,1],[1,0]]",
	}, Attributes: map[string]map[string]any{
		"*": {"num_segments": 2, "dense_shape": []any{2, 2}}, "torch.embedding_bag": {"mode": "sum"},
		"tensorflow.embedding_lookup_sparse": {"combiner": "sum"}, "tensorflow.safe_embedding_lookup_sparse": {"combiner": "sum"},
	}}},
}

// answersPage returns docs/answers.md.
func answersPage() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(answersHead)
	for _, q := range questions {
		answers, err := play.Answer(q.call)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.title, err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n", q.title)
		if q.about != "" {
			fmt.Fprintf(&b, "%s\n\n", q.about)
		}
		fmt.Fprintf(&b, "```\ndata    %s\nindices %s", q.call.Data, q.call.Indices)
		for _, name := range []string{"offsets", "segment_ids", "ids_indices"} {
			if text := q.call.Operands[name]; text != "" {
				fmt.Fprintf(&b, "\n%s %s", name, text)
			}
		}
		for _, n := range []struct {
			name  string
			value *int64
		}{{"axis", q.call.Axis}, {"batch_dims", q.call.BatchDims}} {
			if n.value != nil {
				fmt.Fprintf(&b, "\n%s %d", n.name, *n.value)
			}
		}
		b.WriteString("\n```\n\n| answer | operators | the framework itself |\n|---|---|---|\n")
		for _, g := range answers.Groups {
			answer := "`" + g.Values + "`"
			if g.Error != "" {
				answer = "an error"
			}
			for _, r := range rowsOf(g, q.kind) {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", answer, r.operators, r.evidence)
				answer = ""
			}
		}
	}
	return b.Bytes(), nil
}

// rowsOf gives the rows of a group of equal answers: one for the operators of a kind whose
// runtimes answered alike.
func rowsOf(g play.Group, kind operators.Kind) []row {
	type told struct {
		names   []string
		answers []string   // what the runtimes answered, without the recordings
		cases   [][]string // the recordings of each answer
	}
	var all []*told
	for _, o := range g.Operators {
		if of, err := operators.Find(o.Name, 0); err != nil || of.Kind != kind {
			continue
		}
		t := &told{names: []string{"`" + o.Name + "`"}}
		for _, a := range o.Recorded {
			text := a.Runtime + " " + a.Text
			if a.When != "" {
				text += " (" + a.When + ")"
			}
			if !a.Follows {
				text = "**Differs:** " + text
			}
			t.answers, t.cases = append(t.answers, text), append(t.cases, []string{a.Case})
		}
		i := slices.IndexFunc(all, func(other *told) bool { return slices.Equal(other.answers, t.answers) })
		if i < 0 {
			all = append(all, t)
			continue
		}
		all[i].names = append(all[i].names, t.names...)
		for j := range t.cases {
			all[i].cases[j] = append(all[i].cases[j], t.cases[j]...)
		}
	}
	var rows []row
	for _, t := range all {
		var parts []string
		for i, text := range t.answers {
			parts = append(parts, text+": "+strings.ReplaceAll(casesText(t.cases[i]), "<br>", ", "))
		}
		rows = append(rows, row{operators: strings.Join(t.names, ", "), evidence: strings.Join(parts, "<br>")})
	}
	return rows
}
