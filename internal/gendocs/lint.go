package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/garner-go/garner/lint"
)

const lintHead = `# What lint finds

"garner lint MODEL" lists the gathers of an ONNX file or of OpenVINO's IR that another runtime refuses or answers differently. Each rule
below says what it looks at, what each runtime's operator does, which recording shows that, and the remedy.

A finding has the severity of its rule if it concerns a runtime that reads the model's format (ONNX: OpenVINO and ONNX Runtime; IR: OpenVINO)
or one that --runtime names. Otherwise it is a note: "--runtime tensorflow" turns notes about TensorFlow into warnings and errors.

- **error**: a runtime refuses this model or answers differently.
- **warning**: whether it does depends on values that only a run knows, or its behaviour is undefined.
- **note**: a run may show a difference.

Findings of one cause are one line of text, which names the first gather and counts the others. Operators that gather and that no rule looks at
(GatherBlockQuantized, ArrayFeatureExtractor, EmbeddingBag and EmbeddingSegmentsSum, and gathers of dequantised tables) are named as not judged.

Evidence names a case in [testdata/conformance](../testdata/conformance), or, where the name begins with "lint-", in
[lint/testdata](../lint/testdata/recorded.jsonl), which holds the answer of the runtime itself; "not recorded" links the source of the claim
instead. Each remedy that changes the model was run in ONNX Runtime, at every level of optimisation, and in OpenVINO, with the answers beside it;
any other begins with "Decide", because a person must know what the model means. An answer is that of the recorded version:

`

const lintTail = `
"go generate ./internal/gendocs" writes this page from the rules of package lint. Tests hold that the page is up to date, and that every case
shows what its rule claims.
`

// lintPage returns docs/lint.md.
func lintPage() []byte {
	var b bytes.Buffer
	b.WriteString(lintHead)
	b.WriteString("| runtime | recorded |\n|---|---|\n")
	for _, r := range lint.AllRuntimes() {
		recorded := r.Recorded()
		if recorded == "" {
			recorded = "no run: the cases of its published tests"
		}
		fmt.Fprintf(&b, "| %s (`--runtime %s`) | %s |\n", r.Name(), r, recorded)
	}
	b.WriteString(lintTail)
	seen := map[lint.Evidence]string{} // the rule that lists it
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "\n## %s: %s\n\n**%s.** %s\n\nRemedy: %s\n\n", r.ID, r.Title, r.Severity, r.About, r.Remedy)
		own, of := []lint.Evidence{}, map[string][]string{} // operators by the rule that lists their evidence
		for _, e := range r.Evidence {
			if rule := seen[e]; rule == "" {
				seen[e] = r.ID
				own = append(own, e)
			} else if name := "`" + e.Operator + "`"; !slices.Contains(of[rule], name) {
				of[rule] = append(of[rule], name)
			}
		}
		if len(own) > 0 {
			b.WriteString("| operator | the runtime | evidence |\n|---|---|---|\n")
		}
		for _, group := range groupByAnswer(own) {
			e := group[0]
			var names []string
			for _, e := range group {
				names = append(names, cell(e))
			}
			fmt.Fprintf(&b, "| `%s` | %s %s | %s |\n", e.Operator, e.Who(), e.Answer, strings.Join(names, "<br>"))
		}
		for i, rule := range slices.Sorted(maps.Keys(of)) {
			if i > 0 || len(own) > 0 {
				b.WriteString("\n")
			}
			const most = 12
			operators := "the operators"
			if len(of[rule]) <= most {
				operators = strings.Join(of[rule], ", ")
			}
			fmt.Fprintf(&b, "Further answers for %s: see %s.\n", operators, rule)
		}
	}
	return b.Bytes()
}

// groupByAnswer groups evidence by operator and answer.
func groupByAnswer(evidence []lint.Evidence) [][]lint.Evidence {
	var groups [][]lint.Evidence
	for _, e := range evidence {
		i := slices.IndexFunc(groups, func(g []lint.Evidence) bool {
			return g[0].Operator == e.Operator && g[0].Answer == e.Answer && g[0].Run == e.Run
		})
		if i < 0 {
			groups = append(groups, []lint.Evidence{e})
		} else {
			groups[i] = append(groups[i], e)
		}
	}
	return groups
}

// cell returns the table cell of a piece of evidence.
func cell(e lint.Evidence) string {
	text := "`" + e.Case + "`"
	if e.Case == "" {
		text = "not recorded: <" + e.Source + ">"
	}
	if e.DType.Valid() {
		text = e.DType.String() + ": " + text
	}
	return text
}
