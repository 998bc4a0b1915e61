package main

import (
	"errors"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

// shapeFlags are the flags of shape.
type shapeFlags struct {
	operator      cmdline.OperatorFlags
	further       cmdline.FurtherFlags
	data, indices string
}

func (p *program) shapeCommand() *cobra.Command {
	f := &shapeFlags{}
	f.operator.Axis.Question = true
	cmd := &cobra.Command{
		Use:   "shape --as OP --data SPEC --indices SPEC",
		Short: "Infer the type and shape of an operator's output from specs, without data",
		Long: `SPEC is a type and its dims: f32[2,3]. An unknown dim is ?, a range is 1..8 or 1..,
and f32[...] is a shape of unknown rank.

Exit status: 0 done; 1 the shapes were refused; 2 the command was wrong.`,
		Example: `  garner shape --as openvino.GatherND-8 --data 'f32[1000,256,10,15]' --indices 'i64[25,?,3]'   # f32[25,?,15]
  garner shape --as openvino.GatherND-5 --data 'f32[30,2,100,35]' --indices 'i32[30,2,3,1]' --batch-dims 2   # f32[60,3,35]
  garner shape --as onnx.Gather-13 --data 'f32[?,1..8]' --indices 'i64[4]' --axis -1   # f32[?,4]
  garner shape --as openvino.Gather-8 --data 'f32[2,3]' --indices 'i64[4]' --axis '?'   # f32[?,?]
  garner shape --as torch.embedding_bag --data 'f32[9,4]' --indices 'i64[?]' --operand 'offsets=i64[3]'   # f32[3,4]`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdline.Usage(cmd, "shape takes no arguments beside its flags; %q was given", args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.shape(cmd, f)
		},
	}
	f.operator.Add(cmd, "", operators.Gather, operators.GatherND, operators.Elements)
	f.further.Add(cmd, "SPEC", "'offsets=i64[3]'")
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "type and shape of data, a `SPEC`")
	flags.StringVar(&f.indices, "indices", "", "type and shape of indices, a `SPEC`; none of an operator that takes data alone")
	flags.Var(&f.operator.Axis, "axis", "the axis of data; ? if unknown (default 0)")
	flags.Var(&f.operator.BatchDims, "batch-dims", "how many leading dims data and indices share (default 0)")
	for _, name := range []string{"data", "indices", "axis", "batch-dims"} {
		cmdline.Complete(cmd, name)
	}
	return cmd
}

func (p *program) shape(cmd *cobra.Command, f *shapeFlags) error {
	if f.operator.As == "" {
		return cmdline.Usage(cmd, "shape needs an operator: --as onnx.Gather-13, for example")
	}
	o, err := f.operator.Find("")
	if err != nil {
		return err
	}
	var specs [2]garner.Spec
	for i, s := range []struct{ flag, text string }{{"data", f.data}, {"indices", f.indices}} {
		if i == 1 && !garner.TakesIndices(o.Zero) {
			if s.text != "" {
				return cmdline.Wrong("--indices: %s takes data alone; leave it out", o.Name)
			}
			continue
		}
		if s.text == "" {
			return cmdline.Usage(cmd, "shape needs --%s, for example --%s '%s'", s.flag, s.flag, [...]string{"f32[2,?]", "i64[3]"}[i])
		}
		if specs[i], err = garner.ParseSpec(s.text); err != nil {
			return cmdline.Wrong("--%s: %s", s.flag, cmdline.Bare(err))
		}
	}
	numbers, err := f.operator.Numbers()
	if err != nil {
		return err
	}
	op, err := cmdline.NewOperator(o, numbers)
	if err != nil {
		return err
	}
	texts, err := f.further.Texts(o)
	if err != nil {
		return err
	}
	more := make([]garner.Spec, len(texts))
	for i, text := range texts {
		if text == "" {
			continue
		}
		if strings.HasPrefix(text, "[") {
			err = errors.New("it has no type")
		} else {
			more[i], err = garner.ParseSpec(text)
		}
		if err != nil {
			return cmdline.Wrong("--operand %s=%s: %s; write a type and its dims, for example --operand %s=i64[3]", o.Further()[i], text, cmdline.Bare(err), o.Further()[i])
		}
	}
	out, err := garner.Infer(op, specs[0], specs[1], more...)
	if err != nil {
		return err
	}
	to := p.printer()
	to.printf("%s\n", out)
	return to.flush()
}
