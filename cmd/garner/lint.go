package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/lint"
	"github.com/spf13/cobra"
)

// lintFlags are the flags of lint.
type lintFlags struct {
	failOn, format, runtime string
	opening                 files.ModelOptions
	fix                     bool
	out, rules              string
}

const never = "never"

// lintFormats are the formats of a report; the first is the default.
var lintFormats = []string{"text", "json", "sarif"}

func (p *program) lintCommand() *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint MODEL",
		Short: "Find the gathers of a model that other runtimes answer differently",
		Long: `MODEL is an ONNX file (.onnx), OpenVINO's IR (.xml, with its .bin beside it), a
LiteRT model (.tflite), StableHLO's text (.mlir), or TensorFlow's: the folder of a
SavedModel, a frozen graph (.pb), or a graph beside its checkpoint (.meta).

A finding has the number of its rule, a severity, the place in the model, the behaviour
of each runtime, the remedy, and the evidence: a recorded answer in
testdata/conformance or lint/testdata. Findings of one cause are one line, which counts
the gathers. docs/lint.md lists all rules. Operators that gather and that no rule looks
at, such as ArrayFeatureExtractor, and gathers whose indices, ends of bags or table are a
constant too large to be read, are named as not judged; they do not change the exit
status. For a model without either lint prints nothing.

Severities: error, a runtime refuses this model or answers differently; warning, it may
do so for values that only a run knows; note, a run may show a difference. A finding
about runtimes that do not read the model's format is a note, unless --runtime names
them.

With --fix, lint writes a mended copy of MODEL to -o OUT, prints what it changed as a diff in
words, and lists the findings that remain, each with what a person must decide.
docs/lint.md says which rules have a mend. Every other node and every weight is byte for
byte what it was, and every answer to indices that the node takes is the same. OUT has the
format of MODEL. External data of an ONNX file is not copied, so OUT is then in MODEL's
folder. The weights of an IR, OUT's .bin, become a clone of MODEL's .bin, or another name of
it, or a copy, whichever the file system has. OUT is read back and compared before it is put
in place; it is written also where nothing is mended. Findings that remain do not change the
exit status, unless --fail-on is given: then OUT is not written where one is that severe.

Exit status: 0 no finding of the severity of --fail-on or above, or with --fix OUT is
written; 1 there is one, or MODEL could not be read, or OUT not written; 2 the command was
wrong; 130 interrupted.`,
		Example: `  garner lint testdata/onnx/gather_13_table/model.onnx
  garner lint testdata/onnx/gathernd_13_elements/model.onnx --runtime openvino,onnxruntime --fail-on error
  garner lint testdata/onnx/gather_13_string/model.onnx --fail-on never --format sarif
  garner lint testdata/onnx/gathernd_13_elements/model.onnx --fix -o mended.onnx`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.Usage(cmd, "lint takes one MODEL; %d were given", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var extensions []string
			for _, f := range files.ModelFormats() {
				extensions = append(extensions, strings.TrimPrefix(f.Extension, "."))
			}
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return extensions, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.lint(cmd, args[0], f) },
	}
	choices := func(name string, words []string) {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
	}
	cmd.Flags().StringVar(&f.failOn, "fail-on", lint.Error.String(), "exit with 1 for findings of this severity or above: error, warning, note or never")
	choices("fail-on", []string{"error", "warning", "note", never})
	cmd.Flags().StringVar(&f.format, "format", lintFormats[0], "text, json or sarif (SARIF 2.1.0)")
	choices("format", lintFormats)
	cmd.Flags().StringVar(&f.runtime, "runtime", "", "only these runtimes, separated by commas: "+runtimeNames()+" (default all)")
	choices("runtime", strings.Split(runtimeNames(), ", "))
	cmd.Flags().BoolVar(&f.fix, "fix", false, "write a mended copy of MODEL to -o OUT, and print what changed")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "with --fix: the file to write, of MODEL's format")
	cmd.Flags().StringVar(&f.rules, "rules", "", "with --fix: mend only findings of these rules, separated by commas, such as L.3,L.4 (default all)")
	addOpening(cmd, &f.opening)
	return cmd
}

func runtimeNames() string {
	var names []string
	for _, r := range lint.AllRuntimes() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

func (p *program) lint(cmd *cobra.Command, path string, f lintFlags) error {
	var options lint.Options
	if cmd.Flags().Changed("runtime") {
		for name := range strings.SplitSeq(f.runtime, ",") {
			r := lint.Runtime(strings.ToLower(strings.TrimSpace(name)))
			if !slices.Contains(lint.AllRuntimes(), r) {
				return cmdline.Usage(cmd, "--runtime %q: no runtime %q; there are %s", f.runtime, name, runtimeNames())
			}
			options.Runtimes = append(options.Runtimes, r)
		}
	}
	least := lint.Error + 1 // never
	if f.failOn != never {
		var err error
		if least, err = lint.ParseSeverity(f.failOn); err != nil {
			return cmdline.Usage(cmd, "--fail-on %q: it is error, warning, note or never", f.failOn)
		}
	}
	if !slices.Contains(lintFormats, f.format) {
		return cmdline.Usage(cmd, "--format %q: it is text, json or sarif", f.format)
	}
	if f.fix || f.out != "" || f.rules != "" {
		return p.lintFix(cmd, path, f, options, least)
	}
	report, err := p.judge(cmd.Context(), path, options, f.opening)
	if err != nil {
		return err
	}
	to := p.printer()
	switch f.format {
	case "json":
		err = report.WriteJSON(to.buf)
	case "sarif":
		err = report.WriteSARIF(to.buf)
	default:
		err = report.WriteText(to.buf)
	}
	if err != nil {
		return cmdline.NotPrinted(err)
	}
	if err := to.flush(); err != nil {
		return err
	}
	if n := report.AtLeast(least); n > 0 {
		return garner.Errorf(nil, "%s: %d of %d findings are of severity %s or above", path, n, len(report.Findings), least)
	}
	return nil
}

// judge opens a model and judges it. The report does not refer to the model's mapped
// files.
func (p *program) judge(ctx context.Context, path string, o lint.Options, opening files.ModelOptions) (*lint.Report, error) {
	defer limitJudged(path)()
	m, err := openModel(path, opening)
	if err != nil {
		return nil, err
	}
	if err := graphless(m, "judge"); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	findings, err := lint.Model(ctx, m, o)
	if err := errors.Join(err, m.Close()); err != nil {
		return nil, err
	}
	return &lint.Report{Model: m, Version: cmdline.Version(), Findings: findings, Unjudged: lint.NotJudged(m)}, nil
}
