// Package onnxedit replaces nodes of an ONNX file at the level of protobuf's wire: every
// other byte of the file stays as it is, fields that no schema knows and their order
// included, but for the lengths of the messages around what is replaced. It knows fields
// by their numbers, and no operator.
//
// Spec: https://protobuf.dev/programming-guides/encoding/ and onnx.proto
package onnxedit

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields on the way to a node.
const (
	modelGraph      protowire.Number = 7
	graphNode       protowire.Number = 1
	graphValueInfo  protowire.Number = 13
	nodeInput       protowire.Number = 1
	nodeOutput      protowire.Number = 2
	nodeName        protowire.Number = 3
	nodeOpType      protowire.Number = 4
	nodeAttribute   protowire.Number = 5
	nodeDomain      protowire.Number = 7
	attributeName   protowire.Number = 1
	attributeInt    protowire.Number = 3
	attributeTensor protowire.Number = 5
	attributeGraph  protowire.Number = 6
	attributeInts   protowire.Number = 8
	attributeGraphs protowire.Number = 11
	attributeType   protowire.Number = 20
)

// Values of AttributeProto.type.
const (
	typeInt    = 2
	typeTensor = 4
	typeInts   = 7
)

// maxDepth is how many graphs stand in each other, more than any reader accepts.
const maxDepth = 128

// A Segment is a part of the new file: Bytes, or, where that is nil, the bytes of the old
// file from From to To.
type Segment struct {
	Bytes    []byte
	From, To int
}

// Len gives the bytes of a segment.
func (s Segment) Len() int {
	if s.Bytes != nil {
		return len(s.Bytes)
	}
	return s.To - s.From
}

// A File is an ONNX file whose nodes were found.
type File struct {
	bytes []byte
	nodes map[string]span // NodeProto messages, without their tags, by their places
	used  map[string]bool // names of values and nodes
}

type span struct{ from, to int }

// Parse finds the nodes of a file that a reader has accepted: those of the graph and of
// the graphs in their attributes. Nodes of functions are not among them. It looks at no
// tensor's elements, and keeps b.
func Parse(b []byte) (*File, error) {
	f := &File{bytes: b, nodes: map[string]span{}, used: map[string]bool{}}
	err := f.each(span{0, len(b)}, func(field protowire.Number, _, content span) error {
		if field == modelGraph && content.to > 0 {
			return f.graph(content, "graph", 0)
		}
		return nil
	})
	return f, err
}

// errCut is for bytes that the model's reader would have refused.
var errCut = errors.New("the file is no ONNX model, or was changed")

// each calls do for each field of a message, with the places of the whole field and of its
// content, which is 0 … 0 where it has no length.
func (f *File) each(in span, do func(field protowire.Number, whole, content span) error) error {
	for at := in.from; at < in.to; {
		field, wire, n := protowire.ConsumeTag(f.bytes[at:in.to])
		if n < 0 {
			return errCut
		}
		begin := at + n
		m := protowire.ConsumeFieldValue(field, wire, f.bytes[begin:in.to])
		if m < 0 {
			return errCut
		}
		end := begin + m
		var content span
		if wire == protowire.BytesType {
			_, n := protowire.ConsumeVarint(f.bytes[begin:end])
			content = span{begin + n, end}
		}
		if err := do(field, span{at, end}, content); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// text gives the bytes of a span.
func (f *File) text(s span) string { return string(f.bytes[s.from:s.to]) }

// graph finds the nodes of a graph, at the places that package modelproto gives them.
func (f *File) graph(in span, place string, depth int) error {
	if depth > maxDepth {
		return errCut
	}
	n := 0
	return f.each(in, func(field protowire.Number, _, content span) error {
		switch field {
		case graphNode:
			at := fmt.Sprintf("%s.node[%d]", place, n)
			n++
			f.nodes[at] = content
			return f.node(content, at, depth)
		case 5, 11, 12, graphValueInfo, 15: // initializer, input, output, value_info, sparse_initializer
			f.named(content, field)
		}
		return nil
	})
}

// named notes the name of a tensor or of a value: field 8 of TensorProto, 1 of
// ValueInfoProto; a sparse one has values, a TensorProto, in field 1.
func (f *File) named(in span, of protowire.Number) {
	name := protowire.Number(1)
	if of == 5 {
		name = 8
	}
	_ = f.each(in, func(field protowire.Number, _, content span) error { // the reader has read it
		switch {
		case field != name || content.to == 0:
		case of == 15:
			f.named(content, 5)
		default:
			f.used[f.text(content)] = true
		}
		return nil
	})
}

func (f *File) node(in span, at string, depth int) error {
	return f.each(in, func(field protowire.Number, _, content span) error {
		switch field {
		case nodeInput, nodeOutput, nodeName:
			f.used[f.text(content)] = true
		case nodeAttribute:
			name := ""
			var graphs, list []span
			err := f.each(content, func(field protowire.Number, _, content span) error {
				switch field {
				case attributeName:
					name = f.text(content)
				case attributeGraph:
					graphs = append(graphs, content)
				case attributeGraphs:
					list = append(list, content)
				}
				return nil
			})
			for _, g := range graphs {
				if err == nil {
					err = f.graph(g, at+"."+name, depth+1)
				}
			}
			for i, g := range list {
				if err == nil {
					err = f.graph(g, fmt.Sprintf("%s.%s[%d]", at, name, i), depth+1)
				}
			}
			return err
		}
		return nil
	})
}

// Node gives the NodeProto at a place; nil where there is none.
func (f *File) Node(at string) []byte {
	if s, ok := f.nodes[at]; ok {
		return f.bytes[s.from:s.to:s.to]
	}
	return nil
}

// Free gives a name that begins with wanted and that no value and no node of the file has,
// nor one that was given before.
func (f *File) Free(wanted string) string {
	name := wanted
	for i := 1; f.used[name]; i++ {
		name = fmt.Sprintf("%s_%d", wanted, i)
	}
	f.used[name] = true
	return name
}

// A Replacement is what stands in the place of a node: nodes, in order, and the types of
// values among them, which are ValueInfoProtos for the end of the graph.
type Replacement struct{ Nodes, Types [][]byte }

// Replace gives the new file with other nodes in the place of some, by their places. A place
// in another is an error.
func (f *File) Replace(with map[string]Replacement) ([]Segment, error) {
	var edits []edit
	for at, nodes := range with {
		s, ok := f.nodes[at]
		if !ok {
			return nil, fmt.Errorf("there is no node at %s", at)
		}
		edits = append(edits, edit{s, nodes})
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	for i := 1; i < len(edits); i++ {
		if edits[i].from < edits[i-1].to {
			return nil, errors.New("one node stands in another that is replaced")
		}
	}
	made, err := f.rewrite(span{0, len(f.bytes)}, edits, wayModel)
	if err != nil {
		return nil, err
	}
	return merged(made), nil
}

type edit struct {
	span
	Replacement
}

// A way is a message on the way from the model to a node: the fields that lead on, and to
// what.
type way map[protowire.Number]*way

var wayModel = func() way {
	graph, node, attribute := way{}, way{}, way{}
	graph[graphNode] = &node
	node[nodeAttribute] = &attribute
	attribute[attributeGraph], attribute[attributeGraphs] = &graph, &graph
	return way{modelGraph: &graph}
}()

// rewrite gives the content of a message with its edits.
func (f *File) rewrite(in span, edits []edit, along way) ([]Segment, error) {
	if len(edits) == 0 {
		return []Segment{{From: in.from, To: in.to}}, nil
	}
	var made, types []Segment
	err := f.each(in, func(field protowire.Number, whole, content span) error {
		n := 0
		for n < len(edits) && edits[n].from < whole.to {
			n++
		}
		mine := edits[:n]
		edits = edits[n:]
		next := along[field]
		switch {
		case len(mine) == 0:
			made = append(made, Segment{From: whole.from, To: whole.to})
			return nil
		case mine[0].span == content:
			for _, node := range mine[0].Nodes {
				made = append(made, Segment{Bytes: appendMessage(nil, field, node)})
			}
			for _, info := range mine[0].Types {
				types = append(types, Segment{Bytes: appendMessage(nil, graphValueInfo, info)})
			}
			return nil
		case next == nil:
			return errCut
		}
		inner, err := f.rewrite(content, mine, *next)
		if err != nil {
			return err
		}
		length := 0
		for _, s := range inner {
			length += s.Len()
		}
		made = append(made, Segment{Bytes: protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.BytesType), uint64(length))})
		made = append(made, inner...)
		return nil
	})
	return append(made, types...), err
}

// merged joins segments that follow each other in the old file.
func merged(list []Segment) []Segment {
	var made []Segment
	for _, s := range list {
		if n := len(made) - 1; n >= 0 && s.Bytes == nil && made[n].Bytes == nil && made[n].To == s.From {
			made[n].To = s.To
			continue
		}
		made = append(made, s)
	}
	return made
}

// A Node is a new node.
type Node struct {
	Name, Op        string
	Inputs, Outputs []string
	Attributes      []Attribute
}

// An Attribute is an int, a list of ints, or a tensor of integers.
type Attribute struct {
	Name   string
	Int    *int64
	Ints   []int64
	Tensor *Tensor
}

// A Tensor is a constant: its elements are row-major and little-endian.
type Tensor struct {
	Type int // TensorProto.DataType
	Dims []int64
	Raw  []byte
}

// Marshal writes the node as a NodeProto.
func (n Node) Marshal() []byte {
	var b []byte
	for _, name := range n.Inputs {
		b = appendText(b, nodeInput, name)
	}
	for _, name := range n.Outputs {
		b = appendText(b, nodeOutput, name)
	}
	b = appendText(b, nodeName, n.Name)
	b = appendText(b, nodeOpType, n.Op)
	for _, a := range n.Attributes {
		b = appendMessage(b, nodeAttribute, a.marshal())
	}
	return b
}

func (a Attribute) marshal() []byte {
	b := appendText(nil, attributeName, a.Name)
	kind := uint64(typeInt)
	switch {
	case a.Tensor != nil:
		kind = typeTensor
		var t []byte
		for _, d := range a.Tensor.Dims {
			t = appendNumber(t, 1, uint64(d))
		}
		t = appendNumber(t, 2, uint64(a.Tensor.Type))
		b = appendMessage(b, attributeTensor, appendMessage(t, 9, a.Tensor.Raw))
	case a.Int != nil:
		b = appendNumber(b, attributeInt, uint64(*a.Int))
	default:
		kind = typeInts
		for _, v := range a.Ints {
			b = appendNumber(b, attributeInts, uint64(v))
		}
	}
	return appendNumber(b, attributeType, kind)
}

func appendText(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

// Type writes the type of a value as a ValueInfoProto: a tensor of a TensorProto.DataType
// and dims, of which those below 0 are left open.
func Type(name string, dtype int, dims []int64) []byte {
	var shape []byte
	for _, d := range dims {
		var dim []byte
		if d >= 0 {
			dim = appendNumber(nil, 1, uint64(d))
		}
		shape = appendMessage(shape, 1, dim)
	}
	tensor := appendMessage(appendNumber(nil, 1, uint64(dtype)), 2, shape)
	return appendMessage(appendText(nil, 1, name), 2, appendMessage(nil, 1, tensor))
}

// Changes are what Change does to a node.
type Changes struct {
	Inputs     map[int]string   // other names of some inputs
	Outputs    map[int]string   // and of some outputs
	Attributes map[string]int64 // attributes that are an int, new or with another value
	OwnDomain  bool             // the operator is of ONNX's own domain, and not of another
}

// Change gives a node with changes. All other fields stay as they are, in their order; a
// new attribute is behind them.
func Change(node []byte, c Changes) ([]byte, error) {
	f := &File{bytes: node}
	var made []byte
	inputs, outputs := 0, 0
	left := map[string]bool{}
	for name := range c.Attributes {
		left[name] = true
	}
	err := f.each(span{0, len(node)}, func(field protowire.Number, whole, content span) error {
		keep := func() { made = append(made, node[whole.from:whole.to]...) }
		switch field {
		case nodeInput:
			if name, ok := c.Inputs[inputs]; ok {
				made = appendText(made, field, name)
			} else {
				keep()
			}
			inputs++
		case nodeOutput:
			if name, ok := c.Outputs[outputs]; ok {
				made = appendText(made, field, name)
			} else {
				keep()
			}
			outputs++
		case nodeDomain:
			if !c.OwnDomain {
				keep()
			}
		case nodeAttribute:
			name := ""
			if err := f.each(content, func(field protowire.Number, _, content span) error {
				if field == attributeName {
					name = f.text(content)
				}
				return nil
			}); err != nil {
				return err
			}
			value, ok := c.Attributes[name]
			if !ok {
				keep()
				return nil
			}
			delete(left, name)
			made = appendMessage(made, field, Attribute{Name: name, Int: &value}.marshal())
		default:
			keep()
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(left)) {
		value := c.Attributes[name]
		made = appendMessage(made, nodeAttribute, Attribute{Name: name, Int: &value}.marshal())
	}
	return made, err
}

// Inputs lists the names of a node's inputs.
func Inputs(node []byte) ([]string, error) { return texts(node, nodeInput) }

// Outputs lists the names of a node's outputs.
func Outputs(node []byte) ([]string, error) { return texts(node, nodeOutput) }

func texts(node []byte, of protowire.Number) ([]string, error) {
	f := &File{bytes: node}
	var list []string
	err := f.each(span{0, len(node)}, func(field protowire.Number, _, content span) error {
		if field == of {
			list = append(list, f.text(content))
		}
		return nil
	})
	return list, err
}
