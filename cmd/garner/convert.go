package main

import (
	"context"
	"errors"
	"fmt"
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
runs. Any other node is refused by name, before a byte is written, and so are a dtype that
the target's runtime lacks, and sub-graphs (If, Loop).

--outside says what becomes of an index outside of its axis:
  keep    the target refuses it, or answers it, where the source's runtime does: guards in the graph
  clamp   it becomes the nearest index that the axis has: cheaper, and equal for valid ones
  as-is   whatever the target makes of it: no guard; what lint finds for the target is printed

With one thread (INFERENCE_NUM_THREADS=1, or one CPU), the infer call of OpenVINO 2026.4 loses
the error of any node, and leaves the result as it was, or crashes. There start_async and wait report what
keep has refused, or convert with --outside clamp.

Where a runtime departs from its page, the conversion follows the runtime, and says so: Gather-1
and Gather-7 of OpenVINO give zeros for an index outside, its GatherND takes negative ones, and
LiteRT's GATHER_ND looks rows up by their number. Indices outside of GatherND read other
memory in OpenVINO; a target refuses them.

A node that the target computes less exactly is refused without --lossy: f64 in OpenVINO, which
computes it as f32, 64-bit constants beyond 32 bits, quotients of floats, ReduceSum, the least and
greatest of floats, a Where of floats between ONNX and other formats, and a Slice with
a negative step whose ends are computed. OpenVINO computes every i64 as i32: an index of 2^32+1 is 1 before any guard sees it.

What was guarded, replaced, renamed and dropped (names of dims, which an IR lacks) is printed on
standard error, unless --quiet. The file beside OUT is replaced only where the old OUT refers to it;
of two that write to one OUT at a time, the later is refused. OUT and the
file beside it appear whole or not at all, and only after garner has read them back, found them
equal to what was to be written, and had the same results of both models on a few
inputs, where it runs them. Constants are copied from file to file: a model may be larger than memory.

Exit status: 0 done; 1 the model was refused, or a file could not be read or written;
2 the command was wrong; 130 interrupted.`

// convertFlags are the flags of convert.
type convertFlags struct {
	out, outside string
	lossy, quiet bool
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
	flags.BoolVar(&f.lossy, "lossy", false, "accept nodes that the target computes less exactly; each is named")
	flags.BoolVar(&f.quiet, "quiet", false, "do not print what was guarded and replaced")
	addOpening(cmd, &f.opening)
	_ = cmd.RegisterFlagCompletionFunc("outside", cobra.FixedCompletions([]string{"keep", "clamp", "as-is"}, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
	return cmd
}

func (p *program) convert(cmd *cobra.Command, f *convertFlags, path string) error {
	outside, err := convert.ParseOutside(f.outside)
	if err != nil {
		return cmdline.Usage(cmd, "--outside %q: it is keep, clamp or as-is", f.outside)
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
	m, err := openModel(path, f.opening)
	if err != nil {
		return err
	}
	defer m.Close()
	if outside == convert.AsIs && !f.quiet {
		if err := p.foundFor(cmd.Context(), m, f.out); err != nil {
			return err
		}
	}
	p.unfinished.Store(true)
	defer p.unfinished.Store(false)
	report, err := convert.File(cmd.Context(), m, f.out, convert.Options{Outside: outside, Lossy: f.lossy})
	if errors.Is(err, convert.ErrLossy) {
		message := strings.Replace(err.Error(), "accept that with the option lossy", "accept that with --lossy", 1)
		return cmdline.Told(message, ofModel(err))
	}
	if err != nil {
		return ofModel(err)
	}
	if !f.quiet {
		for _, n := range report.Notes {
			fmt.Fprintf(p.Stderr, "%s: %s\n", path, terminal.Printable(n.String()))
		}
	}
	return nil
}

// foundFor prints what lint finds in a model for the runtime that reads the output.
func (p *program) foundFor(ctx context.Context, m *model.Model, out string) error {
	runtime := lint.ONNXRuntime
	if strings.HasSuffix(strings.ToLower(out), ".xml") {
		runtime = lint.OpenVINO
	}
	findings, err := lint.Model(ctx, m, lint.Options{Runtimes: []lint.Runtime{runtime}})
	if err != nil {
		return err
	}
	report := &lint.Report{Model: m, Version: cmdline.Version(), Findings: findings, Unjudged: lint.NotJudged(m)}
	if err := report.WriteText(p.Stderr); err != nil {
		return garner.Errorf(err, "the findings cannot be printed: %v", err)
	}
	return nil
}
