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

"garner lint MODEL" lists the gathers of a model that another runtime refuses or answers differently. Each rule
below says what it looks at, what each runtime's operator does, which recording shows that, and the remedy.

A finding has the severity of its rule if it concerns a runtime that reads the model's format (ONNX: OpenVINO and ONNX Runtime; IR: OpenVINO;
TensorFlow and TFLite: their own and OpenVINO; StableHLO: XLA)
or one that --runtime names. Otherwise it is a note: "--runtime tensorflow" turns notes about TensorFlow into warnings and errors.

- **error**: a runtime refuses this model or answers differently.
- **warning**: whether it does depends on values that only a run knows, or its behaviour is undefined.
- **note**: a run may show a difference.

Findings of one cause are one line of text, which names the first gather and counts the others. Operators that gather and that no rule looks at
(ArrayFeatureExtractor, PyTorch's EmbeddingBag in an ONNX file, and the values of dequantised tables) are named as not judged. So are
gathers whose indices, ends of bags, or table of 64-bit elements are a constant that lint does not read: it reads 64 MiB in all, the smallest first.

Evidence names a case in [testdata/conformance](../testdata/conformance), or, where the name begins with "lint-", in
[lint/testdata](../lint/testdata). Names that begin alike stand behind what they share.
"Not recorded" links the source of the claim instead. Each remedy that changes the model was run in ONNX Runtime, at every level of optimisation, and in OpenVINO;
any other begins with "Decide". "garner lint MODEL --fix -o OUT" makes the mends,
as each rule says, at nodes whose ranks and dims are known as far as that needs; lint/fix/testdata/held.jsonl counts the runs in both that gave what the
model gave before, and for bad indices the same in both. An answer is that of the recorded version:

`

const lintTail = `
"go generate ./internal/gendocs" writes this page from the rules of package lint. Tests hold that every case shows what its rule claims.
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
		fmt.Fprintf(&b, "\n## %s: %s\n\n**%s.** %s\n\nRemedy: %s\n\n%s\n\n", r.ID, r.Title, r.Severity, r.About, r.Remedy, fixed(r))
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
		var rows []row
		for _, group := range groupByAnswer(own) {
			e := group[0]
			made := row{"`" + e.Operator + "`", e.Who() + " " + string(e.Answer), cell(group), group}
			i := slices.IndexFunc(rows, func(r row) bool {
				return r.answer == made.answer && (r.evidence == made.evidence || alike(r.group, group))
			})
			if i < 0 {
				rows = append(rows, made)
				continue
			}
			rows[i].operators += ", " + made.operators
			if rows[i].evidence != made.evidence {
				rows[i].group = slices.Concat(rows[i].group, group)
				rows[i].evidence = cell(rows[i].group)
			}
		}
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.operators, r.answer, r.evidence)
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

// fixed says what --fix does about a rule.
func fixed(r lint.Rule) string {
	if r.Mend != "" {
		return "`--fix`: " + r.Mend
	}
	return "`--fix` leaves it to a person: " + r.Decide + "."
}

// A row is a row of the table of a rule: operators with one answer, and the evidence.
type row struct {
	operators, answer, evidence string
	group                       []lint.Evidence
}

// alike reports whether the names of all cases of two groups begin alike, also within the
// name of the operator, so that one cell lists them.
func alike(a, b []lint.Evidence) bool {
	const least = 14 // bytes: more than a dialect
	shared := a[0].Case
	for _, e := range slices.Concat(a, b) {
		for !strings.HasPrefix(e.Case, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	return len(shared) >= least
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

// cell returns the table cell of the evidence for one answer. Cases whose names begin
// alike are listed behind what they share.
func cell(group []lint.Evidence) string {
	var parts, cases, sources []string
	types := map[string][]string{} // by source
	for _, e := range group {
		if e.Case != "" {
			cases = append(cases, e.Case)
			continue
		}
		if !slices.Contains(sources, e.Source) {
			sources = append(sources, e.Source)
		}
		if e.DType.Valid() {
			types[e.Source] = append(types[e.Source], e.DType.String())
		}
	}
	if len(cases) > 0 {
		parts = append(parts, casesText(cases))
	}
	for _, source := range sources {
		text := "not recorded: <" + source + ">"
		if list := types[source]; len(list) > 0 {
			text = strings.Join(list, ", ") + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "<br>")
}

// casesText lists names of cases. Those of a-b and a-c are `a-` b, c.
func casesText(cases []string) string {
	const least = 8 // bytes that names must share
	word := func(text string) string { return text[:strings.LastIndexByte(strings.TrimSuffix(text, "-"), '-')+1] }
	shared := word(cases[0])
	for _, name := range cases[1:] {
		for !strings.HasPrefix(name, shared) {
			shared = word(shared)
		}
	}
	if len(cases) == 1 || len(shared) < least {
		return "`" + strings.Join(cases, "`<br>`") + "`"
	}
	var ends []string
	for _, name := range cases {
		ends = append(ends, strings.TrimPrefix(name, shared))
	}
	return "`" + shared + "` " + strings.Join(ends, ", ")
}
