package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/explain"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
)

const explainHelp = `explain prints the plan in words: its loops (batch: both operands move; outer: the
indices are reused; tuple: the data is reused), the gathered axes and the range of an
index, the size of a slice, the operands that are views, and how many indices are
inside, negative and outside; of more than 67108864 it looks at the first ones. With
-o PLAN.svg it also draws data, indices and result as grids; each cell of the result has
the colour of its row of data. "-o -" writes the picture alone to standard output. Large
tensors are drawn in part.

Exit status: 0 explained, also if an index is outside and the gather would fail,
which the explanation says if it is one of those looked at; 1 DATA or INDICES were refused, or a file could
not be read or written; 2 the command was wrong; 130 interrupted.

Words are coloured on a terminal, unless NO_COLOR is set.`

func (p *program) explainCommand() *cobra.Command {
	const short = "Show a gather's plan in words and as a picture, run nothing"
	cmd := &cobra.Command{
		Use:   "explain gather|gathernd|elements DATA INDICES",
		Short: short,
		Long:  explainHelp,
		Example: `  garner explain gather '[[1,2],[3,4],[5,6]]' '[2,0]'
  garner explain gather '[10,20,30]' '[0,-1,7]' --as openvino.Gather-8 -o plan.svg
  garner explain gathernd '[[1,2],[3,4]]' '[[0,0],[1,5]]'
  garner explain elements data.npy at.npy --as numpy.take_along_axis --axis 2`,
		Args: cobra.ArbitraryArgs, // RunE has a better message
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdline.Usage(cmd, "explain takes gather, gathernd or elements, not %q", args[0])
			}
			return cmdline.Usage(cmd, "explain takes gather, gathernd or elements, then DATA and INDICES")
		},
	}
	for _, k := range cmdline.Commands {
		f := &gatherFlags{}
		sub := &cobra.Command{
			Use:               string(k.Kind) + " DATA INDICES",
			Short:             short,
			Long:              explainHelp,
			Example:           "  garner explain " + string(k.Kind) + " data.npy at.npy -o plan.svg",
			Args:              cmdline.TwoOperands,
			ValidArgsFunction: cmdline.CompleteOperand,
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.explain(cmd.Context(), k, f, args)
			},
		}
		f.Add(sub, k)
		sub.Flags().StringVarP(&f.out, "output", "o", "", "also draw the plan into `PLAN`: a .svg file, or - for standard output")
		cmd.AddCommand(sub)
	}
	return cmd
}

// checkPicture refuses a PLAN that garner cannot draw.
func checkPicture(out string) error {
	if out == "-" || out == os.DevNull || strings.EqualFold(filepath.Ext(out), ".svg") {
		return nil
	}
	return cmdline.Wrong("-o %s: explain draws .svg files, and svg to standard output for -o -; what a gather makes is written by garner gather, gathernd or elements", out)
}

func (p *program) explain(ctx context.Context, k cmdline.Command, f *gatherFlags, args []string) error {
	r, err := p.askedOf(ctx, k.Kind, f, args, checkPicture)
	if err != nil {
		return err
	}
	r.Most = explain.MostSurveyed
	if err := p.OpenRequest(ctx, &f.Flags, r); err != nil {
		return err
	}
	defer r.Close()
	e, err := explain.New(ctx, explain.Subject{
		Name: r.Operator.Name, Attributes: r.Given(), Op: r.Op, Data: r.DataTensor, Indices: r.IndicesTensor, Whole: r.Whole, Further: r.More(),
	})
	if err != nil {
		return err
	}
	if f.out != "" {
		to, err := p.createText(f.out, r.Paths()...)
		if err != nil {
			return err
		}
		defer to.abort()
		picture, err := e.SVG()
		if err != nil {
			return err
		}
		if err := to.write(picture); err != nil || f.out == "-" {
			return err
		}
	}
	if colored(p.Stdout) {
		_, err := io.WriteString(terminal.Raw(p.Stdout), e.Text(true)) // whose escapes are the program's own
		return cmdline.NotPrinted(err)
	}
	to := p.printer()
	to.printf("%s", e.Text(false))
	return to.flush()
}

// colored reports whether w is a terminal that shows colours and NO_COLOR is unset.
func colored(w io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	// The old Windows console prints colour codes literally.
	if runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == "" && os.Getenv("TERM") == "" {
		return false
	}
	_, ok := terminal.Width(w)
	return ok
}
