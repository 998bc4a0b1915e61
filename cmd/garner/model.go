package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

const modelHelp = `model prints one line per gather: its name, for "garner run --node"; the operator, in
the version of the model's opset, and its attributes; its data and indices and their
origin (a constant of the file, an input of the model, or a node); and its result. An
unknown dim is ?, or the model's name for it. It also lists the operators that gather
and that garner does not run: GatherBlockQuantized, EmbeddingBag and the like.

Constants are mapped, not read: a model larger than memory opens at once.

--json prints one object:
  path, format, producer       of the file
  opsets                       {"DOMAIN": VERSION}, "" being ONNX's own; {} for OpenVINO
  inputs, results              the model's own: VALUEs
  gathers                      a list of {name, at, domain, op, version, operator,
                               attributes, inputs, outputs, table_bytes}: operator is
                               a name of "garner ops", "" for an operator that is only
                               listed; table_bytes is the size of its data in the
                               file, also of data that a node dequantises, and null if
                               it is not a constant
A VALUE is {name, type, dtype, dims}: type as in f32[batch,3]; dims is null if the
rank is unknown, and has null for an unknown dim. An input of a gather also has role
(data, indices, axis), from (constant, input or node), via (the operators in between,
which change shape or type alone; the last 16), and for a constant {name, type, bytes, file,
offset} as constant, for a node {name, op} as node; those names are cut at 1000 bytes.

--extract writes the data of one gather, if it is a constant, to a .npy, .npz or
.safetensors file under the constant's name. It applies the operators between the
constant and the gather. The file appears whole or not at all.

Exit status: 0 done; 1 the model was refused, or a file could not be read or
written; 2 the command was wrong; 130 interrupted.`

// modelFlags are the flags of model.
type modelFlags struct {
	json, lenient bool
	extract, out  string
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
	flags.StringVarP(&f.out, "output", "o", "", "the file for --extract, `OUT`: .npy, .npz or .safetensors, or - for npy on standard output")
	addLenient(cmd, &f.lenient)
	return cmd
}

// addLenient adds the flag of commands that read models.
func addLenient(cmd *cobra.Command, lenient *bool) {
	cmd.Flags().BoolVar(lenient, "lenient", false, "accept text that OpenVINO refuses if it has one sensible meaning")
}

func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(cmd, "%s takes one MODEL, %s; %d were given", cmd.Name(), modelFiles(), len(args))
}

// modelFiles lists the files that are models, for a message.
func modelFiles() string {
	var list []string
	for _, f := range files.ModelFormats() {
		list = append(list, "a "+f.Extension+" file")
	}
	return strings.Join(list, " or ")
}

func completeModel(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var extensions []string
	for _, f := range files.ModelFormats() {
		extensions = append(extensions, f.Extension[1:])
	}
	return extensions, cobra.ShellCompDirectiveFilterFileExt
}

// openModel opens MODEL. An extension of no model format is a usage error.
func openModel(path string, lenient bool) (*model.Model, error) {
	if err := files.NoURL(path); err != nil {
		return nil, about("MODEL ", err)
	}
	extension := strings.ToLower(filepath.Ext(path))
	if !slices.ContainsFunc(files.ModelFormats(), func(f files.ModelFormat) bool { return f.Extension == extension }) {
		return nil, wrong("MODEL %q is no model that garner reads: %s", path, modelFiles())
	}
	m, err := files.OpenModel(path, files.ModelOptions{Lenient: lenient})
	return m, ofModel(err)
}

// ofModel keeps an attribute error of a model from being taken for a usage error
// of the command.
func ofModel(err error) error {
	if err == nil {
		return nil
	}
	return &modelError{err}
}

// A modelError is an error in a model.
type modelError struct{ err error }

func (e *modelError) Error() string { return e.err.Error() }

// Is is errors.Is of the error inside, except for garner.ErrAttribute, the class
// of usage errors.
func (e *modelError) Is(target error) bool {
	return target != garner.ErrAttribute && errors.Is(e.err, target)
}

// As is errors.As of the error inside.
func (e *modelError) As(target any) bool { return errors.As(e.err, target) }

func (p *program) model(cmd *cobra.Command, f *modelFlags, path string) error {
	switch {
	case f.extract == "" && f.out != "":
		return usage(cmd, "-o is the file of --extract NODE; the list goes to standard output")
	case f.extract != "" && f.out == "":
		return usage(cmd, "--extract needs -o: the .npy, .npz or .safetensors file to write")
	case f.extract != "" && f.json:
		return usage(cmd, "--extract writes a table and --json prints the list; give one of them")
	}
	if f.extract != "" {
		if err := p.checkOutput(f.out, ""); err != nil {
			return err
		}
	}
	m, err := openModel(path, f.lenient)
	if err != nil {
		return err
	}
	defer m.Close()
	if f.extract != "" {
		return p.extract(cmd.Context(), m, f)
	}
	to := p.printer()
	if f.json {
		if err := writeModelJSON(terminal.NewJSON(to.buf), m); err != nil {
			return notPrinted(err)
		}
		return to.flush()
	}
	to.printf("%s", modelText(m))
	return to.flush()
}

// extract writes the table of a gather to a file.
func (p *program) extract(ctx context.Context, m *model.Model, f *modelFlags) error {
	n, err := m.Find(f.extract)
	if err != nil {
		return err
	}
	at, ok := dataOf(n)
	if !ok {
		return wrong("--extract %s: it is a %s and no gather; \"garner model %s\" lists those", f.extract, n.Op, m.Path)
	}
	data := n.Inputs[at]
	if data == nil {
		return garner.Errorf(nil, "--extract %s: the node leaves its data out", f.extract)
	}
	o := originsOf(m).of(data)
	if o.constant == nil {
		return garner.Errorf(nil, "--extract %s: its data is no constant of the file: it comes from %s", f.extract, o)
	}
	var meter *terminal.Meter
	format, _ := formatOf(f.out)
	create := files.CreateOptions{Inputs: m.Files, Progress: p.writing(&meter)}
	if format.Named {
		create.Name = o.constant.Name
	}
	to, err := p.create(ctx, f.out, garner.Spec{}, create)
	if err != nil {
		return err
	}
	defer func() {
		meter.Stop()
		to.end()
	}()
	table, err := files.Table(ctx, m, data, int64(min(memory(), 1<<62)))
	if err != nil {
		return ofModel(err)
	}
	return to.write(table)
}

// listed lists the gathers of a model, and the operators that are related to them.
func listed(m *model.Model) []*model.Node {
	var list []*model.Node
	for n := range m.Nodes() {
		if _, ok := dataOf(n); ok {
			list = append(list, n)
		}
	}
	return list
}

// dataOf gives the number of the input that is a gather's data; false for a node
// that is no gather.
func dataOf(n *model.Node) (int, bool) {
	if n.IsGather() {
		return 0, len(n.Inputs) > 0
	}
	r, ok := operators.RelatedOf(n)
	return r.Data, ok
}

// An origin is the source of a value, before operators that change only its
// shape or its type.
type origin struct {
	value    *model.Value
	constant *model.Constant // nil unless the value is a constant
	via      *passed         // the operators passed, the last one first
}

// passed is a list of operators. Values of one origin share its beginning.
type passed struct {
	op     string
	before *passed
}

// mostVia is the most operators that a list of those passed names.
const mostVia = 16

// last lists the last of the operators passed, up to most, from the origin on;
// more says that there are others before them.
func (v *passed) last(most int) (ops []string, more bool) {
	ops = []string{}
	for ; v != nil && len(ops) < most; v = v.before {
		ops = append(ops, v.op)
	}
	slices.Reverse(ops)
	return ops, v != nil
}

// origins finds the origins of the values of a model. It walks through each node
// once.
type origins struct {
	trail       *trail.Trail[origin]
	dequantised func(*model.Value) *model.Constant
}

func originsOf(m *model.Model) *origins {
	return &origins{trail.New(func(v *model.Value) *model.Value {
		if v.Constant != nil || v.From == nil || !run.Runs(m, v.From) {
			return nil
		}
		if effect, inputs := operators.EffectOf(v.From); effect <= operators.Permuted && len(inputs) == 1 {
			return inputs[0]
		}
		return nil
	}, func(v *model.Value) origin {
		return origin{value: v, constant: v.Constant}
	}, func(v *model.Value, at origin) origin {
		at.via = &passed{v.From.Op, at.via}
		return at
	}), operators.Dequantised()}
}

func (o *origins) of(v *model.Value) origin { return o.trail.Of(v) }

// table describes the constant that a gather's data is the dequantisation of; false
// for other data.
func (o *origins) table(v *model.Value) (text string, size int64, ok bool) {
	c := o.dequantised(v)
	if c == nil {
		return "", 0, false
	}
	size, _ = c.Bytes()
	return fmt.Sprintf(" of constant %s, %s, %s", plain(c.Name), c.Spec, units.Bytes(size)), size, true
}

// kind is what the origin is: a constant, an input or a node.
func (o origin) kind() string {
	switch {
	case o.constant != nil:
		return "constant"
	case o.value.From != nil:
		return "node"
	}
	return "input"
}

func (o origin) String() string {
	text := ""
	switch o.kind() {
	case "constant":
		text = "constant " + plain(o.constant.Name)
		if size, ok := o.constant.Bytes(); ok && size > 0 {
			text += ", " + units.Bytes(size)
		}
	case "node":
		text = fmt.Sprintf("node %s (%s)", plain(o.value.From.Name), plain(o.value.From.Op))
	default:
		text = "input " + plain(o.value.Name)
	}
	if ops, more := o.via.last(4); len(ops) > 0 {
		via := strings.Join(ops, ", ")
		if more {
			via = "…, " + via
		}
		text += ", via " + plain(via)
	}
	return text
}

// plain makes an untrusted name safe for one line of a terminal.
func plain(name string) string {
	const most = 120
	quoted := fmt.Sprintf("%.*q", most, name)
	if name != "" && len(quoted) == len(name)+2 && quoted[1:len(quoted)-1] == name {
		return name
	}
	return quoted
}

// nodeNames lists the names by which Model.Find finds nodes.
func nodeNames(m *model.Model) map[*model.Node]string {
	names := make(map[*model.Node]string)
	for name, n := range m.Names() {
		names[n] = name
	}
	return names
}

// roleOf is the name of a gather's i-th input: data, indices, axis.
func roleOf(n *model.Node, i int) string {
	if r, ok := operators.RelatedOf(n); ok {
		switch i {
		case r.Data:
			return "data"
		case r.Indices:
			return "indices"
		}
		return fmt.Sprintf("input %d", i)
	}
	roles := []string{"data", "indices"}
	if o, err := operators.Find(n.Operator, 0); err == nil {
		roles = append(roles, o.Inputs()...)
	}
	if i < len(roles) {
		return roles[i]
	}
	return fmt.Sprintf("input %d", i)
}

// modelText is the list of a model's gathers, as model prints it.
func modelText(m *model.Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", plain(m.Path), m.Format)
	domains := make([]string, 0, len(m.Opsets))
	for domain := range m.Opsets {
		domains = append(domains, domain)
	}
	slices.Sort(domains)
	for _, domain := range domains {
		if domain == "" {
			fmt.Fprintf(&b, ", opset %d", m.Opsets[domain])
		} else {
			fmt.Fprintf(&b, ", %s %d", plain(domain), m.Opsets[domain])
		}
	}
	if m.Producer != "" {
		fmt.Fprintf(&b, ", written by %s", plain(m.Producer))
	}
	gathers := listed(m)
	switch len(gathers) {
	case 0:
		b.WriteString("; it has no gather\n")
		return b.String()
	case 1:
		b.WriteString("; 1 gather\n")
	default:
		fmt.Fprintf(&b, "; %d gathers\n", len(gathers))
	}
	names, origins := nodeNames(m), originsOf(m)
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tOPERATOR\tDATA\tINDICES\tRESULT")
	for _, n := range gathers {
		cells := []string{plain(names[n]), operatorText(n), "", "", ""}
		for i, v := range n.Inputs {
			if v == nil {
				continue
			}
			switch roleOf(n, i) {
			case "data":
				table, _, _ := origins.table(v)
				cells[2] = v.Type() + " " + origins.of(v).String() + table
			case "indices":
				cells[3] = v.Type() + " " + origins.of(v).String()
			}
		}
		if len(n.Outputs) > 0 && n.Outputs[0] != nil {
			cells[4] = n.Outputs[0].Type()
		}
		for i, c := range cells {
			cells[i] = terminal.Printable(c) // the name of a dim may have any character
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
	return b.String()
}

// operatorText is a gather's operator with its attributes, and with its constant
// inputs behind data and indices.
func operatorText(n *model.Node) string {
	text := n.Operator
	if r, ok := operators.RelatedOf(n); ok {
		text = plain(r.Name)
	}
	for i := 2; n.IsGather() && i < len(n.Inputs); i++ {
		value := "?"
		if v := n.Inputs[i]; v != nil && v.Constant != nil {
			if size, ok := v.Constant.Bytes(); ok && size <= 64 {
				if t, err := v.Constant.Tensor(); err == nil {
					if c, err := t.Clone(); err == nil {
						value = c.Text()
					}
				}
			}
		}
		text += fmt.Sprintf(" %s=%s", roleOf(n, i), value)
	}
	names := make([]string, 0, len(n.Attributes))
	for name := range n.Attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text += fmt.Sprintf(" %s=%.40s", plain(name), plain(fmt.Sprint(n.Attributes[name])))
	}
	return text
}

// What --json prints; modelHelp describes it.
type (
	modelJSON struct {
		Path     string         `json:"path"`
		Format   string         `json:"format"`
		Producer string         `json:"producer"`
		Opsets   map[string]int `json:"opsets"`
		Inputs   []valueJSON    `json:"inputs"`
		Results  []valueJSON    `json:"results"`
		Gathers  []gatherJSON   `json:"gathers"`
	}
	gatherJSON struct {
		Name       string         `json:"name"`
		At         string         `json:"at"`
		Domain     string         `json:"domain"`
		Op         string         `json:"op"`
		Version    int            `json:"version"`
		Operator   string         `json:"operator"`
		Attributes map[string]any `json:"attributes"`
		Inputs     []inputJSON    `json:"inputs"`
		Outputs    []valueJSON    `json:"outputs"`
		TableBytes *int64         `json:"table_bytes"`
	}
	inputJSON struct {
		Role string `json:"role"`
		valueJSON
		From     string        `json:"from"`
		Via      []string      `json:"via"`
		Constant *constantJSON `json:"constant,omitempty"`
		Node     *nodeJSON     `json:"node,omitempty"`
	}
	valueJSON struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		DType string `json:"dtype"`
		Dims  []*int `json:"dims"`
	}
	constantJSON struct {
		Name   string `json:"name"`
		Type   string `json:"type"`
		Bytes  int64  `json:"bytes"`
		File   string `json:"file"`
		Offset int64  `json:"offset"`
	}
	nodeJSON struct {
		Name string `json:"name"`
		Op   string `json:"op"`
	}
)

// writeModelJSON writes what --json prints, one gather at a time: all of them
// together take several times as much memory as the model.
func writeModelJSON(w io.Writer, m *model.Model) error {
	encode := func(v any) ([]byte, error) {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(v)
		return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
	}
	b, err := encode(describeModel(m))
	if err != nil {
		return err
	}
	const end = "]}" // of the list of gathers, which is empty, and of the object
	if _, err := w.Write(bytes.TrimSuffix(b, []byte(end))); err != nil {
		return err
	}
	between := ""
	err = eachGather(m, func(g gatherJSON) error {
		b, err := encode(g)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", between, b)
			between = ","
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, end+"\n")
	return err
}

// cut shortens a name that a hostile model has many references to.
func cut(name string) string {
	const most = 1000
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// describeModel describes a model without its gathers.
func describeModel(m *model.Model) modelJSON {
	made := modelJSON{
		Path: m.Path, Format: m.Format, Producer: m.Producer, Opsets: m.Opsets,
		Inputs: []valueJSON{}, Results: []valueJSON{}, Gathers: []gatherJSON{},
	}
	if made.Opsets == nil {
		made.Opsets = map[string]int{}
	}
	for _, v := range m.Graph.Inputs {
		made.Inputs = append(made.Inputs, describeValue(v.Name, v))
	}
	for _, r := range m.Graph.Outputs {
		made.Results = append(made.Results, describeValue(r.Name, r.Value))
	}
	return made
}

// eachGather calls do with the description of each gather of a model, until it
// returns an error.
func eachGather(m *model.Model, do func(gatherJSON) error) error {
	names, origins := nodeNames(m), originsOf(m)
	for _, n := range listed(m) {
		g := gatherJSON{
			Name: names[n], At: n.At, Domain: n.Domain, Op: n.Op, Version: n.Version, Operator: n.Operator,
			Attributes: map[string]any{}, Inputs: []inputJSON{}, Outputs: []valueJSON{},
		}
		for name, v := range n.Attributes {
			switch v := v.(type) {
			case *model.Constant:
				g.Attributes[name] = v.Spec.String()
			case float64:
				if g.Attributes[name] = v; math.IsNaN(v) || math.IsInf(v, 0) { // which JSON does not have
					g.Attributes[name] = fmt.Sprint(v)
				}
			case []float64:
				g.Attributes[name] = fmt.Sprint(v)
			default:
				g.Attributes[name] = v
			}
		}
		for i, v := range n.Inputs {
			if v == nil {
				continue
			}
			o := origins.of(v)
			in := inputJSON{Role: roleOf(n, i), valueJSON: describeValue(v.Name, v), From: o.kind()}
			in.Via, _ = o.via.last(mostVia)
			switch {
			case o.constant != nil:
				size, _ := o.constant.Bytes()
				in.Constant = &constantJSON{cut(o.constant.Name), o.constant.Spec.String(), size, o.constant.File, o.constant.Offset}
				if in.Role == "data" {
					g.TableBytes = &size
				}
			case o.value.From != nil:
				in.Node = &nodeJSON{cut(names[o.value.From]), o.value.From.Op}
				if _, size, ok := origins.table(v); ok && in.Role == "data" {
					g.TableBytes = &size
				}
			}
			g.Inputs = append(g.Inputs, in)
		}
		for _, v := range n.Outputs {
			if v != nil {
				g.Outputs = append(g.Outputs, describeValue(v.Name, v))
			}
		}
		if err := do(g); err != nil {
			return err
		}
	}
	return nil
}

func describeValue(name string, v *model.Value) valueJSON {
	made := valueJSON{Name: name, Type: v.Type()}
	if v.Spec.DType != garner.Invalid {
		made.DType = v.Spec.DType.String()
	}
	if v.Spec.Rank.Known() {
		made.Dims = make([]*int, len(v.Spec.Dims))
		for i, d := range v.Spec.Dims {
			if d.Known() {
				made.Dims[i] = &v.Spec.Dims[i].Min
			}
		}
	}
	return made
}
