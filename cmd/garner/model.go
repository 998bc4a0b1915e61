package main

import (
	"context"
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/model"
	"github.com/spf13/cobra"
)

const modelHelp = `model prints one line per gather: its name, for "garner run --node"; the operator, in
the version of the model's opset, and its attributes; its data and indices and their
origin (a constant of the file, an input of the model, or a node); and its result. An
unknown dim is ?, or the model's name for it. A chain of OpenVINO's that computes a table
of a compressed constant, and its gather, are one: openvino.compressed-gather, or an
operator with scale and zero_point. The list also has operators that gather and that
garner does not run, such as ArrayFeatureExtractor.

Constants are mapped, not read: a model larger than memory opens at once.

--json prints one object:
  path, format, producer       of the file
  opsets                       {"DOMAIN": VERSION}, "" being ONNX's own; {} for others
  inputs, results              the model's own: VALUEs
  gathers                      a list of {name, at, domain, op, version, operator,
                               attributes, inputs, outputs, table_bytes}: operator is
                               a name of "garner ops", "" for an operator that is only
                               listed; table_bytes is the size of its data in the
                               file, also of data that a node dequantises, and null if
                               it is not a constant
A VALUE is {name, type, dtype, dims}: type as in f32[batch,3]; dims is null if the
rank is unknown, and has null for an unknown dim. An input of the model that a run may
leave out, and one of a gather that comes from it, has default, true. An input of a gather also has role
(data, indices, axis, or the operand's name), from (constant, input or node), via (the
operators in between, which change shape or type alone; the last 16), and for a constant
{name, type, bytes, file, offset} as constant, for a node {name, op} as node; those names
are cut at 1000 bytes. One of LiteRT that is quantised has quantised, {scales, zeros,
axis}, up to 64 of them.

--extract writes the data of one gather, if it is a constant, to a .npy, .npz, .safetensors,
.gguf or .raw file, where the format has names under the constant's. It applies the operators between the
constant and the gather; without any, the constant is written piece by piece, and may be
larger than memory. The file appears whole or not at all.

Exit status: 0 done; 1 the model was refused, or a file could not be read or
written; 2 the command was wrong; 130 interrupted.`

// modelFlags are the flags of model.
type modelFlags struct {
	json         bool
	opening      files.ModelOptions
	extract, out string
}

func (p *program) modelCommand() *cobra.Command {
	f := &modelFlags{}
	cmd := &cobra.Command{
		Use:   "model MODEL",
		Short: "List the gathers of a model, and extract their tables",
		Long:  modelHelp,
		Example: `  garner model testdata/models/bert.onnx
  garner model testdata/models/half.xml --json
  garner model testdata/models/hash.onnx --extract node_embedding -o table.npy
  garner model testdata/models/half.xml --extract __module.emb/aten::embedding/Gather -o table.safetensors`,
		Args:              oneModel,
		ValidArgsFunction: completeModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.model(cmd, f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	flags.StringVar(&f.extract, "extract", "", "write the table of the gather `NODE` to a file, instead of the list")
	flags.StringVarP(&f.out, "output", "o", "", "the file for --extract, `OUT`: .npy, .npz, .safetensors, .gguf or .raw, or - for npy on standard output")
	addOpening(cmd, &f.opening)
	return cmd
}

func (p *program) model(cmd *cobra.Command, f *modelFlags, path string) error {
	switch {
	case f.extract == "" && f.out != "":
		return cmdline.Usage(cmd, "-o is the file of --extract NODE; the list goes to standard output")
	case f.extract != "" && f.out == "":
		return cmdline.Usage(cmd, "--extract needs -o: the file to write, %s", files.Writable())
	case f.extract != "" && f.json:
		return cmdline.Usage(cmd, "--extract writes a table and --json prints the list; give one of them")
	}
	if f.extract != "" {
		if err := p.checkOutput(f.out, ""); err != nil {
			return err
		}
	}
	defer limitJudged(path)()
	m, err := openModel(path, f.opening)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := graphless(m, "list"); err != nil {
		return err
	}
	if f.extract != "" {
		return p.extract(cmd.Context(), m, f)
	}
	to := p.printer()
	if f.json {
		if err := writeModelJSON(terminal.NewJSON(to.buf), m); err != nil {
			return cmdline.NotPrinted(err)
		}
		return to.flush()
	}
	to.printf("%s", modelText(m))
	return to.flush()
}

// joins says which constant a node joins slices of, such as the partitions of a variable of TensorFlow
// 1, which the file has whole too; "" of any other node.
func joins(m *model.Model, n *model.Node) string {
	if n == nil {
		return ""
	}
	name := ""
	for _, v := range n.Inputs {
		c := v.Held()
		switch {
		case c != nil && c.Whole != "" && (name == "" || c.Whole == name):
			name = c.Whole
		case c == nil || c.Spec.Rank != garner.Exactly(0): // any but the axis
			return ""
		}
	}
	if _, err := m.Constant(name); name == "" || err != nil {
		return ""
	}
	return fmt.Sprintf(", of slices of constant %s, which the file has whole: \"garner gather %s#%[1]s\" reads that", plain(name), plain(m.Path))
}

// extract writes the table of a gather to a file.
func (p *program) extract(ctx context.Context, m *model.Model, f *modelFlags) error {
	n, err := m.Find(f.extract)
	if err != nil {
		return err
	}
	data, ok := dataOf(n)
	if !ok {
		return cmdline.Wrong("--extract %s: it is a %s and no gather; \"garner model %s\" lists those", f.extract, n.Op, m.Path)
	}
	if data == nil {
		return garner.Errorf(nil, "--extract %s: the node leaves its data out", f.extract)
	}
	o := originsOf(m).of(data)
	if o.constant == nil {
		return garner.Errorf(nil, "--extract %s: its data is no constant of the file: it comes from %s%s", f.extract, o, joins(m, o.value.From))
	}
	var meter *terminal.Meter
	format, _ := formatOf(f.out)
	create := files.CreateOptions{Inputs: m.Files, Progress: p.writing(&meter)}
	if format.Named {
		create.Name = o.constant.Name
	}
	held, spec := data.Held(), garner.Spec{}
	inPieces := held != nil && !held.Unread() && held.Spec.DType.Bits() >= 8
	if inPieces {
		spec = held.Spec
	}
	to, err := p.create(ctx, f.out, spec, create)
	if err != nil {
		return err
	}
	defer func() {
		meter.Stop()
		to.end()
	}()
	if o.constant.Verify != nil { // the whole of it is read
		if err := o.constant.Verify(ctx); err != nil {
			return ofModel(err)
		}
	}
	if inPieces { // the whole may be larger than memory
		err := held.Pieces(ctx, func(_ int64, b []byte) error {
			_, err := to.Write(b)
			return err
		})
		if err != nil {
			return ofModel(err)
		}
		return to.Commit()
	}
	table, err := files.Table(ctx, m, data, int64(min(memory(), 1<<62)))
	if err != nil {
		return ofModel(err)
	}
	if err := to.Put(table); err != nil {
		return err
	}
	if err := m.Changed(); err != nil { // the table may be a view of files, of which Put was the first read
		return ofModel(err)
	}
	return to.Commit()
}
