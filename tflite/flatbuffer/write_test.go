package flatbuffer

import (
	"encoding/binary"
	"fmt"
)

// A writer writes flatbuffers for tests, also those that no program writes: a place may be that of
// many fields.
type writer struct {
	b       []byte
	patches []patch
}

// A place is where a table, a vector or a string begins, once it is written.
type place struct{ at int }

type patch struct {
	at int
	to *place
}

// table writes a table. A field is nil, a number, or a *place.
func (w *writer) table(at *place, fields ...any) {
	var body []byte
	slots := make([]uint16, len(fields))
	var refs []patch
	for i, f := range fields {
		if f == nil {
			continue
		}
		slots[i] = uint16(4 + len(body))
		switch v := f.(type) {
		case *place:
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

// refs writes a vector of tables.
func (w *writer) refs(at *place, list ...*place) {
	at.at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(list)))
	for _, p := range list {
		w.patches = append(w.patches, patch{len(w.b), p})
		w.b = append(w.b, 0, 0, 0, 0)
	}
}

// numbers writes a vector of 32-bit numbers.
func (w *writer) numbers(at *place, list ...int) {
	at.at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(list)))
	for _, n := range list {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(int32(n)))
	}
}

// bytes writes a vector of bytes, or a string.
func (w *writer) bytes(at *place, b []byte) {
	at.at = len(w.b)
	w.b = append(binary.LittleEndian.AppendUint32(w.b, uint32(len(b))), b...)
}

// done gives the file, whose root is a table.
func (w *writer) done(root *place) []byte {
	binary.LittleEndian.PutUint32(w.b, uint32(root.at))
	for _, p := range w.patches {
		binary.LittleEndian.PutUint32(w.b[p.at:], uint32(p.to.at-p.at))
	}
	return w.b
}

func newWriter() *writer { return &writer{b: []byte("\x00\x00\x00\x00TFL3")} }

// A graph is a subgraph of a model of gathers.
type graphSpec struct {
	name      string
	tensors   []tensorSpec
	operators []operatorSpec
	in, out   []int
}

type tensorSpec struct {
	name   string
	kind   int // TensorType
	shape  []int
	buffer int
	more   map[int]any // further fields, by number
}

type operatorSpec struct {
	code    int // its number in the list of codes
	in, out []int
	union   uint8 // of its options
	options []any // their fields
}

// build writes a model: operator codes by number, elements of buffers from 1 on, and subgraphs. more sets
// further fields of the model, and returns what writes them.
func build(codes []int, buffers [][]byte, graphs []graphSpec, more func(w *writer, fields []any) func()) []byte {
	w := newWriter()
	root := &place{}
	fields := make([]any, 10)
	lists := make([]*place, 10)
	for i := range lists {
		lists[i] = &place{}
	}
	fields[0] = 3
	for _, i := range []int{1, 2, 4} {
		fields[i] = lists[i]
	}
	var later func()
	if more != nil {
		later = more(w, fields)
	}
	w.table(root, fields...)
	if later != nil {
		later()
	}
	places := func(n int) []*place {
		list := make([]*place, n)
		for i := range list {
			list[i] = &place{}
		}
		return list
	}
	all := places(len(codes))
	w.refs(lists[1], all...)
	for i, c := range codes {
		w.table(all[i], uint8(min(c, 127)), nil, 1, c)
	}
	all = places(len(buffers) + 1)
	w.refs(lists[4], all...)
	w.table(all[0])
	for i, b := range buffers {
		data := &place{}
		w.table(all[i+1], data)
		w.bytes(data, b)
	}
	all = places(len(graphs))
	w.refs(lists[2], all...)
	for i, g := range graphs {
		tensors, in, out, operators, name := &place{}, &place{}, &place{}, &place{}, &place{}
		w.table(all[i], tensors, in, out, operators, name)
		w.numbers(in, g.in...)
		w.numbers(out, g.out...)
		w.bytes(name, []byte(g.name))
		list := places(len(g.tensors))
		w.refs(tensors, list...)
		for k, t := range g.tensors {
			shape, name := &place{}, &place{}
			f := make([]any, 11)
			f[0], f[1], f[2], f[3], f[8] = shape, uint8(t.kind), t.buffer, name, true
			for n, v := range t.more {
				f[n] = v
			}
			w.table(list[k], f...)
			w.numbers(shape, t.shape...)
			w.bytes(name, []byte(t.name))
		}
		list = places(len(g.operators))
		w.refs(operators, list...)
		for k, o := range g.operators {
			in, out, options := &place{}, &place{}, &place{}
			if o.union == 0 {
				w.table(list[k], o.code, in, out)
			} else {
				w.table(list[k], o.code, in, out, o.union, options)
				w.table(options, o.options...)
			}
			w.numbers(in, o.in...)
			w.numbers(out, o.out...)
		}
	}
	return w.done(root)
}

// plain is a model that gathers rows of a table.
func plain() []byte {
	return build([]int{36}, [][]byte{make([]byte, 24)}, []graphSpec{{
		name:      "main",
		tensors:   []tensorSpec{{"table", 0, []int{3, 2}, 1, nil}, {"ids", 2, []int{2}, 0, nil}, {"y", 0, []int{2, 2}, 0, nil}},
		operators: []operatorSpec{{0, []int{0, 1}, []int{2}, 23, []any{0, 0}}},
		in:        []int{1}, out: []int{2},
	}}, nil)
}
