package play

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
	"github.com/garner-go/garner/operators"
)

// MostFile is the largest file that Open takes, in bytes.
const MostFile = 200 << 20

// Limits of what is in a file. They bound the time, which is not its size: elements take
// none, but a description of 16 MiB takes some seconds, and so do 20,000 gathers.
const (
	mostListed    = 2000     // gathers, findings or tensors that are told
	mostDescribed = 16 << 20 // bytes of an .xml, or of the header of a .safetensors
	mostLinted    = 20_000   // gathers of a model that lint looks at
	mostType      = 200      // characters of a value's type, whose dims have names
)

// A File is what a file holds: a model's gathers with what lint finds, or tensors.
type File struct {
	Kind     string    `json:"kind"` // model or tensors
	Note     string    `json:"note"` // what is not known, because it is in other files; "" where nothing is missing
	Gathers  []Gather  `json:"gathers,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Tensors  []Tensor  `json:"tensors,omitempty"`
	More     int       `json:"more,omitempty"` // how many gathers, findings or tensors are not listed
}

// A Gather is a gather of a model.
type Gather struct {
	Name       string `json:"name"`
	At         string `json:"at"`         // its place in the file
	Operator   string `json:"operator"`   // as operators names it; the model's own name for one that garner does not run
	Attributes string `json:"attributes"` // "axis=0, batch_dims=1"
	Inputs     string `json:"inputs"`     // "data: table f32[100,8]; indices: ids i64[?]"
	Result     string `json:"result"`
}

// A Finding is one of lint's.
type Finding struct {
	Rule     string `json:"rule"`
	Title    string `json:"title"`
	Severity string `json:"severity"` // error, warning or note
	Node     string `json:"node"`
	At       string `json:"at"`
	Message  string `json:"message"`
	Remedy   string `json:"remedy"`
	Runtimes string `json:"runtimes"` // "OpenVINO, JAX"
}

// A Tensor is a tensor of a file.
type Tensor struct {
	Name   string       `json:"name"`
	DType  string       `json:"dtype"`
	Shape  garner.Shape `json:"shape"`
	Bytes  *int64       `json:"bytes,omitempty"`  // nil for strings, whose elements have no size
	Values string       `json:"values,omitempty"` // of an .npy, the first of them
}

// openers read files by the ends of their names.
var openers = map[string]func(ctx context.Context, b []byte) (*File, error){
	".onnx": openONNX, ".xml": openIR, ".npy": openNPY, ".safetensors": openSafetensors,
}

// Open describes a file, given its bytes and its name, as JSON of a [File]; or
// {"error":"words"}, also for a file that is none of its format. It never panics. It reads
// nothing but the bytes, which it may keep until it returns. Where the context ends while
// a model's findings are looked for, the answer is an error.
//
// Memory is some times that of the file: of an array of strings of one byte 25 times, of a
// model without weights up to 60 times, which is where its reader refuses it.
func Open(ctx context.Context, b []byte, name string) (answer []byte) {
	defer func() {
		if r := recover(); r != nil {
			answer = encode(&Refusal{Message: fmt.Sprintf("garner has a fault: %v; please report it with this file", r)})
		}
	}()
	f, err := open(ctx, b, name)
	if err != nil {
		return encode(refusal("", err))
	}
	return encode(f)
}

func open(ctx context.Context, b []byte, name string) (*File, error) {
	read, ok := openers[strings.ToLower(path.Ext(name))]
	switch {
	case !ok:
		return nil, refuse("", "%s is no file that this page reads: .onnx, .xml of OpenVINO, .npy and .safetensors are; the command garner reads more", names.Plain(name))
	case len(b) > MostFile:
		return nil, refuse("", "%s has %d bytes; this page takes up to %d. The command garner reads files of any size", names.Plain(name), len(b), MostFile)
	case len(b) == 0:
		return nil, refuse("", "%s is empty", names.Plain(name))
	}
	return read(ctx, b)
}

func openONNX(ctx context.Context, b []byte) (*File, error) {
	m, err := modelproto.FromBytesAlone(b)
	if err != nil {
		return nil, err
	}
	note := ""
	if len(m.Files) > 0 {
		note = fmt.Sprintf("constants in other files, such as %s, are not known here, and findings that follow from them are missing; \"garner lint\" reads them", names.Plain(m.Files[0]))
	}
	return describe(ctx, m, note)
}

func openIR(ctx context.Context, b []byte) (*File, error) {
	if len(b) > mostDescribed {
		return nil, refuse("", "the .xml has %d bytes; this page looks at up to %d. \"garner lint\" reads all", len(b), mostDescribed)
	}
	m, err := ir.Read("the .xml", bytes.NewReader(b), nil, ir.Options{Lenient: true, Alone: true})
	if err != nil {
		return nil, err
	}
	return describe(ctx, m, "constants are in the .bin, which is not read here: an axis, indices or tables that are constants are not known, and findings that follow from them are missing; \"garner lint\" reads both files")
}

// describe lists the gathers and the findings of a model, and closes it.
func describe(ctx context.Context, m *model.Model, note string) (*File, error) {
	defer m.Close()
	f := &File{Kind: "model", Note: note, Gathers: []Gather{}, Findings: []Finding{}}
	gathers := 0
	for range m.Gathers() {
		gathers++
	}
	for n := range m.Nodes() {
		related, ok := operators.RelatedOf(n)
		if !ok && !n.IsGather() {
			continue
		}
		if len(f.Gathers) == mostListed {
			f.More++
			continue
		}
		f.Gathers = append(f.Gathers, gatherOf(n, related))
	}
	if gathers > mostLinted {
		f.Note = strings.TrimPrefix(f.Note+"; findings are left out: the model has "+strconv.Itoa(gathers)+" gathers; \"garner lint\" looks at all", "; ")
		return f, nil
	}
	findings, err := lint.Model(ctx, m, lint.Options{})
	if err != nil {
		return nil, err
	}
	for i := range findings {
		if i == mostListed {
			f.More += len(findings) - i
			break
		}
		l := &findings[i]
		finding := Finding{
			Rule: l.Rule.ID, Title: l.Rule.Title, Severity: l.Severity.String(), Node: names.Plain(l.Node.Name), At: l.Node.At,
			Message: l.Message, Remedy: l.Rule.Remedy,
		}
		var runtimes []string
		for _, r := range l.Runtimes() {
			runtimes = append(runtimes, r.Name())
		}
		finding.Runtimes = strings.Join(runtimes, ", ")
		f.Findings = append(f.Findings, finding)
	}
	return f, nil
}

// gatherOf describes a gather, or a node of a related operator.
func gatherOf(n *model.Node, related operators.Related) Gather {
	g := Gather{Name: names.Plain(n.Name), At: n.At, Operator: n.Operator}
	var set, from []string
	inputs, attributes := n.Inputs, n.Attributes
	role := func(i int) string {
		switch {
		case n.IsGather():
			return fmt.Sprintf("input %d", i)
		case i == related.Data:
			return "data"
		case i == related.Indices:
			return "indices"
		}
		return fmt.Sprintf("input %d", i)
	}
	if !n.IsGather() {
		g.Operator = related.Name
	} else if c, err := operators.CallOf(n, nil); err == nil {
		g.Operator, inputs, attributes = c.Operator.Name, c.Inputs, c.Attributes
		role = func(i int) string {
			if r := c.Role(i); r != "" {
				return r
			}
			return fmt.Sprintf("input %d", i)
		}
	}
	for name, v := range attributes {
		switch v.(type) {
		case int64, bool, string, float64, []int64, []float64:
			set = append(set, names.Plain(name)+"="+clip(fmt.Sprint(v)))
		}
	}
	slices.Sort(set)
	for i, v := range inputs {
		if v != nil && i < 16 {
			from = append(from, role(i)+": "+described(v))
		}
	}
	g.Attributes, g.Inputs = strings.Join(set, ", "), strings.Join(from, "; ")
	if len(n.Outputs) > 0 && n.Outputs[0] != nil {
		g.Result = described(n.Outputs[0])
	}
	return g
}

// described is a value's name and type.
func described(v *model.Value) string {
	text := names.Plain(v.Name) + " " + clipTo(v.Type(), mostType)
	if v.Constant != nil {
		text += ", a constant"
	}
	return text
}

func openNPY(_ context.Context, b []byte) (*File, error) {
	f, _, err := npy.FromBytes(b, npy.Options{Memory: MostFile * 2})
	if err != nil {
		return nil, err
	}
	t := f.Tensor()
	var size *int64
	if n, ok := t.Spec().Bytes(); ok {
		size = &n
	}
	values := ""
	if t.Len() > 0 {
		values, _ = text(t, mostText)
	}
	return &File{Kind: "tensors", Tensors: []Tensor{{"", t.DType().String(), shapeOf(t.Shape()), size, values}}}, nil
}

func openSafetensors(_ context.Context, b []byte) (*File, error) {
	if len(b) >= 8 {
		if n := binary.LittleEndian.Uint64(b); n > mostDescribed && n <= uint64(len(b)) {
			return nil, refuse("", "the header has %d bytes; this page looks at up to %d. \"garner info\" reads all", n, mostDescribed)
		}
	}
	list, err := safetensors.Describe(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	f := &File{Kind: "tensors", Tensors: []Tensor{}}
	for i, t := range list {
		if i == mostListed {
			f.More = len(list) - i
			break
		}
		dtype := t.DType.String()
		if t.DType == garner.Invalid {
			dtype = clip(t.Kind)
		}
		f.Tensors = append(f.Tensors, Tensor{Name: names.Plain(t.Name), DType: dtype, Shape: shapeOf(t.Shape), Bytes: &t.Bytes})
	}
	return f, nil
}

// shapeOf is a shape that is a list in JSON, also one of rank 0.
func shapeOf(s garner.Shape) garner.Shape { return append(garner.Shape{}, s...) }
