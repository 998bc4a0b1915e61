package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/model"
)

// A Report is the findings in one model, to be written.
type Report struct {
	Model    *model.Model
	Version  string // of garner
	Findings []Finding
	Unjudged []Unjudged // what no rule looks at
}

// AtLeast counts the findings of a severity and above.
func (r *Report) AtLeast(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity >= s {
			n++
		}
	}
	return n
}

// WriteText writes three lines per cause, and nothing where there is none:
//
//	model.xml:12:5: error L.2: "gather" (openvino.Gather-8): indices[1] = 7 is outside …
//		remedy: …
//		evidence: …
//
// For a binary file, the node's place follows its name. Findings of one rule whose
// messages are equal have one cause: the line names the first node and counts the
// others. Nodes that were not judged follow, counted in the same way.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	type cause struct{ rule, operator, message string }
	count := map[cause]int{}
	of := func(f *Finding) cause { return cause{f.Rule.ID, f.Node.Operator, f.Message} }
	for i := range r.Findings {
		count[of(&r.Findings[i])]++
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		n := count[of(f)]
		if n == 0 {
			continue // counted at the first
		}
		count[of(f)] = 0
		where, at := r.place(f.Node)
		fmt.Fprintf(&b, "%s: %s %s: %s (%s%s)%s: %s\n", where, f.Severity, f.Rule.ID, names.Quote(f.Node.Name), f.Node.Operator, at, others(n, "gather"), terminal.Printable(f.Message))
		fmt.Fprintf(&b, "\tremedy: %s\n\tevidence: %s\n", f.Rule.Remedy, strings.Join(cited(f.Evidence), ", "))
	}
	unjudged := map[[2]string]int{}
	for _, u := range r.Unjudged {
		unjudged[[2]string{u.Operator, u.Why}]++
	}
	for _, u := range r.Unjudged {
		n := unjudged[[2]string{u.Operator, u.Why}]
		if n == 0 {
			continue
		}
		unjudged[[2]string{u.Operator, u.Why}] = 0
		where, at := r.place(u.Node)
		fmt.Fprintf(&b, "%s: not judged: %s (%s%s)%s: %s\n", where, names.Quote(u.Node.Name), names.Plain(u.Operator), at, others(n, "node"), u.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// place gives where a node is: the file with line and column, and nothing; or the
// file, and the place to write behind the node's name.
func (r *Report) place(n *model.Node) (where, behind string) {
	where = names.Plain(r.Model.Path)
	if line, column := place(n); line > 0 {
		return fmt.Sprintf("%s:%d:%d", where, line, column), ""
	}
	if n.At == "" {
		return where, ""
	}
	return where, ", " + names.Plain(n.At)
}

// others gives the words for the findings after the first of n.
func others(n int, what string) string {
	switch n {
	case 1:
		return ""
	case 2:
		return fmt.Sprintf(" and 1 more %s", what)
	}
	return fmt.Sprintf(" and %d more %ss", n-1, what)
}

// cited gives each piece of evidence once.
func cited(evidence []Evidence) []string {
	var names []string
	seen := map[string]bool{}
	for _, e := range evidence {
		if name := e.String(); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

type jsonReport struct {
	Model    string         `json:"model"`
	Format   string         `json:"format"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Notes    int            `json:"notes"`
	Unjudged []jsonUnjudged `json:"not_judged"`
	Findings []jsonFinding  `json:"findings"` // last: writeList writes them
}

type jsonUnjudged struct {
	Node     string `json:"node"`
	Operator string `json:"operator"`
	At       string `json:"at,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Why      string `json:"why"`
}

type jsonFinding struct {
	Rule     string `json:"rule"`
	Title    string `json:"title"`
	Severity string `json:"severity"`
	Node     string `json:"node"`
	Operator string `json:"operator"`
	At       string `json:"at,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
	Remedy   string `json:"remedy"` // then runtimes and evidence
}

type jsonEvidence struct {
	Runtime  Runtime `json:"runtime"`
	Operator string  `json:"operator"`
	Answer   Answer  `json:"answer"`
	Run      string  `json:"run,omitempty"`
	Case     string  `json:"case,omitempty"`   // in testdata/conformance
	Source   string  `json:"source,omitempty"` // where nothing is recorded
}

func evidenceOf(evidence []Evidence) []jsonEvidence {
	list := make([]jsonEvidence, len(evidence))
	for i, e := range evidence {
		list[i] = jsonEvidence{e.Runtime(), e.Operator, e.Answer, e.Run, e.Case, e.Source}
	}
	return list
}

// WriteJSON writes one object: model, format, the number of findings of each
// severity, the nodes that were not judged, and the findings, one each.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{
		Model: r.Model.Path, Format: r.Model.Format, Findings: []jsonFinding{}, Unjudged: []jsonUnjudged{},
		Errors:   r.AtLeast(Error),
		Warnings: r.AtLeast(Warning) - r.AtLeast(Error),
		Notes:    r.AtLeast(Note) - r.AtLeast(Warning),
	}
	for _, u := range r.Unjudged {
		line, column := place(u.Node)
		out.Unjudged = append(out.Unjudged, jsonUnjudged{u.Node.Name, u.Operator, u.Node.At, line, column, u.Why})
	}
	return r.writeList(w, out, "]}", "}", func(f *Finding) any {
		line, column := f.Place()
		return jsonFinding{
			Rule: f.Rule.ID, Title: f.Rule.Title, Severity: f.Severity.String(), Node: f.Node.Name, Operator: f.Node.Operator,
			At: f.Node.At, Line: line, Column: column, Message: f.Message, Remedy: f.Rule.Remedy,
		}
	})
}

// writeList writes a report whose list of findings is empty and ends with end, and
// in the list what describe gives for each finding, a line each. Descriptions end
// with inner; the runtimes and the evidence, which most findings share with others,
// come before it. One finding is in memory at a time: all of them take a hundred
// times as much as the model's file.
func (r *Report) writeList(w io.Writer, report any, end, inner string, describe func(f *Finding) any) error {
	to := terminal.NewJSON(w)
	b, err := marshal(report)
	if err != nil {
		return err
	}
	if _, err := to.Write(bytes.TrimSuffix(b, []byte(end))); err != nil {
		return err
	}
	shared := map[*Evidence][]byte{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if b, err = marshal(describe(f)); err != nil {
			return err
		}
		of := &f.Evidence[0] // find adds no finding without evidence
		if shared[of] == nil {
			why, err := marshal(struct {
				Runtimes []Runtime      `json:"runtimes"`
				Evidence []jsonEvidence `json:"evidence"`
			}{f.Runtimes(), evidenceOf(f.Evidence)})
			if err != nil {
				return err
			}
			shared[of] = append(bytes.TrimSuffix(bytes.TrimPrefix(why, []byte("{")), []byte("}")), inner...)
		}
		between := "\n  "
		if i > 0 {
			between = ",\n  "
		}
		for _, part := range [][]byte{[]byte(between), bytes.TrimSuffix(b, []byte(inner)), {','}, shared[of]} {
			if _, err := to.Write(part); err != nil {
				return err
			}
		}
	}
	_, err = io.WriteString(to, end+"\n")
	return err
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// The parts of SARIF 2.1.0 that a report uses. Field names are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations,omitempty"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifRule struct {
		ID                   string     `json:"id"`
		ShortDescription     sarifText  `json:"shortDescription"`
		FullDescription      sarifText  `json:"fullDescription"`
		Help                 sarifText  `json:"help"`
		DefaultConfiguration sarifLevel `json:"defaultConfiguration"`
	}
	sarifResult struct {
		RuleID     string          `json:"ruleId"`
		RuleIndex  int             `json:"ruleIndex"`
		Level      string          `json:"level"`
		Message    sarifText       `json:"message"`
		Locations  []sarifLocation `json:"locations"`
		Properties sarifProperties `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name               string `json:"name"`
		FullyQualifiedName string `json:"fullyQualifiedName,omitempty"`
		Kind               string `json:"kind"`
	}
	sarifProperties struct {
		Operator string `json:"operator"`
		Remedy   string `json:"remedy"` // then runtimes and evidence
	}
)

// WriteSARIF writes a log of SARIF 2.1.0 with one run. It lists every rule, also
// those without a finding. Nodes that were not judged are notifications of the run.
//
// Spec: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
func (r *Report) WriteSARIF(w io.Writer) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "garner", Version: r.Version, InformationURI: "https://github.com/garner-go/garner"}
	index := map[string]int{}
	for i := range rules {
		rule := &rules[i]
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: rule.ID, ShortDescription: sarifText{rule.Title}, FullDescription: sarifText{rule.About},
			Help: sarifText{rule.Remedy}, DefaultConfiguration: sarifLevel{rule.Severity.String()},
		})
	}
	artifact := sarifArtifact{URI: fileURI(r.Model.Path)}
	locate := func(n *model.Node) sarifLocation {
		location := sarifLocation{
			Physical: sarifPhysical{Artifact: artifact},
			Logical:  []sarifLogical{{Name: n.Name, FullyQualifiedName: n.At, Kind: "node"}},
		}
		if line, column := place(n); line > 0 {
			location.Physical.Region = &sarifRegion{line, column}
			location.Logical[0].FullyQualifiedName = ""
		}
		return location
	}
	if len(r.Unjudged) > 0 {
		one := sarifInvocation{Successful: true}
		for _, u := range r.Unjudged {
			one.Notifications = append(one.Notifications, sarifNotification{"note", sarifText{u.Operator + " is not judged: " + u.Why}, []sarifLocation{locate(u.Node)}})
		}
		run.Invocations = append(run.Invocations, one)
	}
	log := sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	}
	return r.writeList(w, log, "]}]}", "}}", func(f *Finding) any {
		return sarifResult{
			RuleID: f.Rule.ID, RuleIndex: index[f.Rule.ID], Level: f.Severity.String(),
			Message:    sarifText{f.Message + ". " + f.Rule.Remedy},
			Locations:  []sarifLocation{locate(f.Node)},
			Properties: sarifProperties{f.Node.Operator, f.Rule.Remedy},
		}
	})
}

// fileURI gives a path as a URI reference, relative where the path is relative.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if runtime.GOOS == "windows" {
			u.Path = "/" + u.Path // file:///C:/a
		}
	}
	return u.String()
}
