package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
)

const convertHelp = `convert writes a model of ONNX, OpenVINO IR, TensorFlow or LiteRT as ONNX or OpenVINO IR.
The extension of OUT says which: .onnx, or .xml with the constants in a .bin beside it. Large
constants of an ONNX model stand in OUT.onnx.data. The model may also stay in its format.

It converts models that consist of gathers and of the nodes around them that garner run
runs, and takes the branch of an If or a Case that a constant chooses. Any other node is
refused by name, before a byte is written, and so are a dtype that the target's runtime lacks,
branches that the model chooses, and loops. Bags are those of OpenVINO (for ONNX of f32 and i32),
and TensorFlow's SparseSegmentSum, Mean and SqrtN, which the target adds in the order in which
TensorFlow's CPU does: of f32 and f16, and sums of i32, for ONNX of bf16 and sums of i64 too.
SqrtN is for ONNX alone. The Unique that tf.nn.embedding_lookup_sparse makes is refused: without
weights, export tf.sparse.segment_sum, segment_mean or segment_sqrt_n, by its combiner, of the table,
the ids and the segment ids, whose answers are the same.

--outside says what becomes of an index outside of its axis:
  keep    the target refuses it, or answers it, where the source's runtime does: guards in the graph
  clamp   it becomes the nearest index that the axis has: cheaper, and equal for valid ones; a segment id
          outside is left out
  as-is   whatever the target makes of it: no guard, but that bags end inside; what lint finds for the target is printed

--defaults says what becomes of an input with a default, an initializer among the inputs of an
ONNX model, which a caller may give or leave out: keep (it stays that; OpenVINO IR has no
defaults, so there a model with one is refused), input (every caller gives it), or constant (none does).

With one thread (INFERENCE_NUM_THREADS=1, or one CPU), the infer call of OpenVINO 2026.4 loses
the error of any node, and leaves the result as it was, or crashes. There start_async and wait report what
keep has refused, or convert with --outside clamp. Dims that its Reshape
refuses, it answers with the result before where they come a second time.

Where a runtime departs from its page, the conversion follows the runtime, and says so: Gather-1
and Gather-7 of OpenVINO give zeros for an index outside, its GatherND takes negative ones, and
LiteRT's GATHER_ND looks rows up by their number. Indices outside of GatherND read other
memory in OpenVINO; a target refuses them.

GatherBlockQuantized of ONNX becomes a gather of a compressed table in OpenVINO, of codes of 2, 4 and 8 bits with
scales of f32 and f16 for blocks along the last axis. A compressed table of 4 bits becomes GatherBlockQuantized, one of
8 bits a gather of codes, scales and zero points; along the axis of its blocks one of 4 bits is refused, and one whose
scales OpenVINO rounds to f16.

A node that the target computes less exactly is refused without --lossy, such as f64 in OpenVINO, which
computes it as f32, 64-bit constants beyond 32 bits, quotients of floats, ReduceSum, ReduceMax and
ReduceMin but of small integers, ArgMax and ArgMin of floats, the least and greatest of floats, a product that is added, a second step of f16, TopK and a Where of floats
between formats, a Slice with a negative step whose ends are computed, and for OpenVINO a Slice whose starts, ends, axes or steps come from an input of i64. So is a denormal f32 in a constant, between OpenVINO, which takes it for 0, and other formats; of
numbers that come at run time nothing is known: TensorFlow's bags and arithmetic take denormals for 0, and the target computes with them; a constant that has one and that they read is refused. OpenVINO computes every i64 as i32: an index of 2^32+1 is 1 before any guard sees it.

What was guarded, replaced (by another form with the same answers), renamed and dropped (names of dims, which an IR lacks), and
what differs (the target answers otherwise for some inputs, as for an index whose row is other memory in OpenVINO), is printed on
standard error, and on how many feeds source and target were compared, unless --quiet. The file beside OUT is replaced only where the old OUT refers to it,
and no other model in its folder, those in it and the one above does;
of two that write to one OUT at a time, the later is refused. OUT and the
file beside it appear whole or not at all, and only after garner has read them back, found them
equal to what was to be written, and had the same results of both models, and with keep the same
refusals, on feeds with indices of every axis, negative ones and ones outside, where it runs them. Constants are copied from file to file: a model may be larger than memory.

--json prints one object instead: {model, format, target, outside, files, nodes, guarded, notes,
compared}. files are those that were written, nodes those of the target, and guarded counts the gathers
with a guard; a note has {kind, node, op, text}, of the kinds guarded, unguarded, replaced, differs, lossy, renamed and dropped, and compared has the feeds {answered, refused, clamped, not}:
answered and refused by both, clamped where the source refuses and the target answers, and
{feeds, reason} of those that were not compared. With --outside as-is, lint is what "garner lint
--format json" prints for the target's runtime.

Exit status: 0 done; 1 the model was refused, or a file could not be read or written;
2 the command was wrong; 130 interrupted.`

// convertFlags are the flags of convert.
type convertFlags struct {
	out, outside, defaults string

	lossy, quiet bool
	json         bool
	opening      files.ModelOptions
}

func (p *program) convertCommand() *cobra.Command {
	f := &convertFlags{}
	cmd := &cobra.Command{
		Use:   "convert MODEL -o OUT.onnx|OUT.xml",
		Short: "Write a model of gathers for another runtime",
		Long:  convertHelp,
		Example: `  garner convert testdata/models/hash.onnx -o hash.xml
  garner convert testdata/models/bias.xml -o bias.onnx --outside clamp
  garner convert testdata/onnx/gather_13_double/model.onnx -o double.xml --lossy --quiet`,
		Args:              oneModel,
		ValidArgsFunction: completeModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.convert(cmd, f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "output", "o", "", "write the model to `OUT`: a .onnx file, or a .xml file with a .bin beside it")
	flags.StringVar(&f.outside, "outside", convert.Keep.String(), "what becomes of an index outside: keep, clamp or as-is")
	flags.StringVar(&f.defaults, "defaults", convert.DefaultsKept.String(), "what becomes of an input with a default: keep, input or constant")
	flags.BoolVar(&f.lossy, "lossy", false, "accept nodes that the target computes less exactly; each is named")
	flags.BoolVar(&f.quiet, "quiet", false, "print no notes and no comparison")
	flags.BoolVar(&f.json, "json", false, "print one JSON object on standard output, and no notes beside it")
	addOpening(cmd, &f.opening)
	_ = cmd.RegisterFlagCompletionFunc("defaults", cobra.FixedCompletions([]string{"keep", "input", "constant"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("outside", cobra.FixedCompletions([]string{"keep", "clamp", "as-is"}, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
	return cmd
}

func (p *program) convert(cmd *cobra.Command, f *convertFlags, path string) error {
	outside, err := convert.ParseOutside(f.outside)
	if err != nil {
		return cmdline.Usage(cmd, "--outside %q: it is keep, clamp or as-is", f.outside)
	}
	defaults, err := convert.ParseDefaults(f.defaults)
	if err != nil {
		return cmdline.Usage(cmd, "--defaults %q: it is keep, input or constant", f.defaults)
	}
	if f.out == "" {
		return cmdline.Usage(cmd, "say where to write the model: -o OUT, a %s file", strings.Join(convert.Extensions(), " or "))
	}
	if err := files.NoOutputURL(f.out); err != nil {
		return cmdline.About("-o ", err)
	}
	if !convert.Writes(f.out) {
		return cmdline.Wrong("-o %s: its extension is that of no format that models are converted to; name a %s file", f.out, strings.Join(convert.Extensions(), " or "))
	}
	m, err := openOne(path, f.opening)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := graphless(m, "convert"); err != nil {
		return err
	}
	var found *lint.Report
	if outside == convert.AsIs && (f.json || !f.quiet) {
		if found, err = foundFor(cmd.Context(), m, f.out); err != nil {
			return err
		}
		if !f.json {
			if err := found.WriteText(p.Stderr); err != nil {
				return garner.Errorf(err, "the findings cannot be printed: %v", err)
			}
		}
	}
	p.unfinished.Store(true)
	defer p.unfinished.Store(false)
	report, err := convert.File(cmd.Context(), m, f.out, convert.Options{Outside: outside, Defaults: defaults, Lossy: f.lossy})
	for class, words := range map[error][2]string{
		convert.ErrLossy:       {"accept that with the option lossy", "accept that with --lossy"},
		convert.ErrUnsupported: {"say with the option defaults whether it becomes an input that every caller gives, or a constant", "say with --defaults input or --defaults constant what it becomes"},
	} {
		if errors.Is(err, class) && strings.Contains(err.Error(), words[0]) {
			return cmdline.Told(strings.Replace(err.Error(), words[0], words[1], 1), ofModel(err))
		}
	}
	if err != nil {
		return ofModel(err)
	}
	if f.json {
		to := p.printer()
		if err := writeConversionJSON(to.buf, m, outside, report, found); err != nil {
			return cmdline.NotPrinted(err)
		}
		return to.flush()
	}
	if !f.quiet {
		for _, n := range joinedNotes(report.Notes) {
			fmt.Fprintf(p.Stderr, "%s: %s\n", path, terminal.Printable(n.String()))
		}
		fmt.Fprintf(p.Stderr, "%s: %s\n", path, terminal.Printable(report.Compared.String()))
	}
	return nil
}

// mostNamed is how many nodes a line names that is printed for many.
const mostNamed = 3

// joinedNotes makes one of notes that say the same of several nodes, in the place of the first.
func joinedNotes(notes []convert.Note) []convert.Note {
	type text struct{ kind, op, text string }
	nodes := map[text][]string{}
	for _, n := range notes {
		key := text{n.Kind, n.Op, n.Text}
		nodes[key] = append(nodes[key], n.Node)
	}
	var list []convert.Note
	for _, n := range notes {
		key := text{n.Kind, n.Op, n.Text}
		names, left := nodes[key]
		if !left {
			continue
		}
		delete(nodes, key)
		n.Node = strings.Join(names[:min(len(names), mostNamed)], ", ")
		if more := len(names) - mostNamed; more > 0 {
			n.Node += fmt.Sprintf(" and %d more", more)
		}
		list = append(list, n)
	}
	return list
}

// What --json prints; convertHelp describes it.
type (
	conversionJSON struct {
		Model    string         `json:"model"`
		Format   string         `json:"format"`
		Target   string         `json:"target"`
		Outside  string         `json:"outside"`
		Files    []string       `json:"files"`
		Nodes    int            `json:"nodes"`
		Guarded  int            `json:"guarded"`
		Notes    []noteJSON     `json:"notes"`
		Compared comparisonJSON `json:"compared"`

		Lint json.RawMessage `json:"lint,omitempty"` // as garner lint --format json prints it
	}
	noteJSON struct {
		Kind string `json:"kind"`
		Node string `json:"node,omitempty"`
		Op   string `json:"op,omitempty"`
		Text string `json:"text"`
	}
	comparisonJSON struct {
		Answered int               `json:"answered"`
		Refused  int               `json:"refused"`
		Clamped  int               `json:"clamped"`
		Not      []notComparedJSON `json:"not"`
	}
	notComparedJSON struct {
		Feeds  int    `json:"feeds"`
		Reason string `json:"reason"`
	}
)

// writeConversionJSON writes a report as one object, with what lint found in the model unless that is nil.
func writeConversionJSON(w io.Writer, m *model.Model, outside convert.Outside, report *convert.Report, found *lint.Report) error {
	made := conversionJSON{
		Model: m.Path, Format: m.Format, Target: report.Target, Outside: outside.String(), Files: report.Files, Nodes: report.Nodes,
		Notes: []noteJSON{}, Compared: comparisonJSON{Answered: report.Compared.Answered, Refused: report.Compared.Refused, Clamped: report.Compared.Clamped, Not: []notComparedJSON{}},
	}
	guarded := map[string]bool{}
	for _, n := range report.Notes {
		made.Notes = append(made.Notes, noteJSON{n.Kind, n.Node, n.Op, n.Text})
		if n.Kind == "guarded" {
			guarded[n.Node] = true
		}
	}
	made.Guarded = len(guarded)
	for _, n := range report.Compared.Not {
		made.Compared.Not = append(made.Compared.Not, notComparedJSON{n.Feeds, n.Reason})
	}
	if found != nil {
		var b bytes.Buffer
		if err := found.WriteJSON(&b); err != nil {
			return err
		}
		made.Lint = b.Bytes()
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(made)
}

// foundFor gives what lint finds in a model for the runtime that reads the output.
func foundFor(ctx context.Context, m *model.Model, out string) (*lint.Report, error) {
	runtime := lint.ONNXRuntime
	if strings.HasSuffix(strings.ToLower(out), ".xml") {
		runtime = lint.OpenVINO
	}
	findings, err := lint.Model(ctx, m, lint.Options{Runtimes: []lint.Runtime{runtime}})
	if err != nil {
		return nil, err
	}
	return &lint.Report{Model: m, Version: cmdline.Version(), Findings: findings, Unjudged: lint.NotJudged(m)}, nil
}
