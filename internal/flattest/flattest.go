// Package flattest writes flatbuffers of TensorFlow Lite's schema for tests, also such as no program
// writes: parts that many others refer to, and places outside of the file.
package flattest

import (
	"encoding/binary"
	"fmt"
)

// A Writer writes flatbuffers for tests, also those that no program writes: a Place may be that of
// many fields.
type Writer struct {
	b       []byte
	patches []patch
}

// A Place is where a table, a vector or a string begins, once it is written.
type Place struct{ at int }

type patch struct {
	at int
	to *Place
}

// Table writes a table. A field is nil, a number, or a *Place.
func (w *Writer) Table(at *Place, fields ...any) {
	var body []byte
	slots := make([]uint16, len(fields))
	var refs []patch
	for i, f := range fields {
		if f == nil {
			continue
		}
		slots[i] = uint16(4 + len(body))
		switch v := f.(type) {
		case *Place:
			refs = append(refs, patch{4 + len(body), v})
			body = append(body, 0, 0, 0, 0)
		case bool:
			body = append(body, map[bool]byte{true: 1}[v])
		case uint8:
			body = append(body, v)
		case int:
			body = binary.LittleEndian.AppendUint32(body, uint32(int32(v)))
		case uint64:
			body = binary.LittleEndian.AppendUint64(body, v)
		default:
			panic(fmt.Sprintf("%T", f))
		}
	}
	vtable := len(w.b)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+2*len(slots)))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+len(body)))
	for _, s := range slots {
		w.b = binary.LittleEndian.AppendUint16(w.b, s)
	}
	at.at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(at.at-vtable))
	for _, r := range refs {
		w.patches = append(w.patches, patch{at.at + r.at, r.to})
	}
	w.b = append(w.b, body...)
}

// Refs writes a vector of tables.
func (w *Writer) Refs(at *Place, list ...*Place) {
	at.at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(list)))
	for _, p := range list {
		w.patches = append(w.patches, patch{len(w.b), p})
		w.b = append(w.b, 0, 0, 0, 0)
	}
}

// Numbers writes a vector of 32-bit numbers.
func (w *Writer) Numbers(at *Place, list ...int) {
	at.at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(list)))
	for _, n := range list {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(int32(n)))
	}
}

// Bytes writes a vector of bytes, or a string.
func (w *Writer) Bytes(at *Place, b []byte) {
	at.at = len(w.b)
	w.b = append(binary.LittleEndian.AppendUint32(w.b, uint32(len(b))), b...)
}

// Done gives the file, whose root is a table.
func (w *Writer) Done(root *Place) []byte {
	binary.LittleEndian.PutUint32(w.b, uint32(root.at))
	for _, p := range w.patches {
		binary.LittleEndian.PutUint32(w.b[p.at:], uint32(p.to.at-p.at))
	}
	return w.b
}

// New begins a file.
func New() *Writer { return &Writer{b: []byte("\x00\x00\x00\x00TFL3")} }

// A Graph is a subgraph.
type Graph struct {
	Name      string
	Tensors   []Tensor
	Operators []Operator
	In, Out   []int // numbers of tensors
}

// A Tensor is one of a subgraph.
type Tensor struct {
	Name   string
	Kind   int // TensorType
	Shape  []int
	Buffer int         // its number, 0 for none
	More   map[int]any // further fields, by number
}

// An Operator is one of a subgraph.
type Operator struct {
	Code    int // its number in the list of codes
	In, Out []int
	Union   uint8 // of its options; 0 for none
	Options []any // their fields
}

// Make makes a tensor.
func Make(name string, kind int, shape []int, buffer int, more map[int]any) Tensor {
	return Tensor{Name: name, Kind: kind, Shape: shape, Buffer: buffer, More: more}
}

// Op makes an operator.
func Op(code int, in, out []int, union uint8, options ...any) Operator {
	return Operator{Code: code, In: in, Out: out, Union: union, Options: options}
}

// Build writes a model: operator codes by number, elements of buffers from 1 on, and subgraphs. more sets
// further fields of the model, and returns what writes them.
func Build(codes []int, buffers [][]byte, graphs []Graph, more func(w *Writer, fields []any) func()) []byte {
	w := New()
	root := &Place{}
	fields := make([]any, 10)
	lists := make([]*Place, 10)
	for i := range lists {
		lists[i] = &Place{}
	}
	fields[0] = 3
	for _, i := range []int{1, 2, 4} {
		fields[i] = lists[i]
	}
	var later func()
	if more != nil {
		later = more(w, fields)
	}
	w.Table(root, fields...)
	if later != nil {
		later()
	}
	places := func(n int) []*Place {
		list := make([]*Place, n)
		for i := range list {
			list[i] = &Place{}
		}
		return list
	}
	all := places(len(codes))
	w.Refs(lists[1], all...)
	for i, c := range codes {
		w.Table(all[i], uint8(min(c, 127)), nil, 1, c)
	}
	all = places(len(buffers) + 1)
	w.Refs(lists[4], all...)
	w.Table(all[0])
	for i, b := range buffers {
		data := &Place{}
		w.Table(all[i+1], data)
		w.Bytes(data, b)
	}
	all = places(len(graphs))
	w.Refs(lists[2], all...)
	for i, g := range graphs {
		tensors, in, out, operators, name := &Place{}, &Place{}, &Place{}, &Place{}, &Place{}
		w.Table(all[i], tensors, in, out, operators, name)
		w.Numbers(in, g.In...)
		w.Numbers(out, g.Out...)
		w.Bytes(name, []byte(g.Name))
		list := places(len(g.Tensors))
		w.Refs(tensors, list...)
		for k, t := range g.Tensors {
			shape, name := &Place{}, &Place{}
			f := make([]any, 11)
			f[0], f[1], f[2], f[3], f[8] = shape, uint8(t.Kind), t.Buffer, name, true
			for n, v := range t.More {
				f[n] = v
			}
			w.Table(list[k], f...)
			w.Numbers(shape, t.Shape...)
			w.Bytes(name, []byte(t.Name))
		}
		list = places(len(g.Operators))
		w.Refs(operators, list...)
		for k, o := range g.Operators {
			in, out, options := &Place{}, &Place{}, &Place{}
			if o.Union == 0 {
				w.Table(list[k], o.Code, in, out)
			} else {
				w.Table(list[k], o.Code, in, out, o.Union, options)
				w.Table(options, o.Options...)
			}
			w.Numbers(in, o.In...)
			w.Numbers(out, o.Out...)
		}
	}
	return w.Done(root)
}

// Plain is a model that gathers rows of a table.
func Plain() []byte {
	return Build([]int{36}, [][]byte{make([]byte, 24)}, []Graph{{
		Name:      "main",
		Tensors:   []Tensor{Make("table", 0, []int{3, 2}, 1, nil), Make("ids", 2, []int{2}, 0, nil), Make("y", 0, []int{2, 2}, 0, nil)},
		Operators: []Operator{Op(0, []int{0, 1}, []int{2}, 23, 0, 0)},
		In:        []int{1}, Out: []int{2},
	}}, nil)
}
