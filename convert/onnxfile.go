package convert

import (
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// inline is the size in bytes from which on the elements of a constant stand in the file
// beside the model: one of 64 KiB costs a read of its own, and a model of many smaller ones
// stays far below the 2 GiB that protobuf allows.
const inline = 64 << 10

// onnxAlign is what the offset of the elements of a constant beside the model is a multiple of: a
// page, so that a runtime can map each.
const onnxAlign = 4096

// onnxTypes has ONNX's numbers of dtypes.
var onnxTypes = func() map[garner.DType]int64 {
	m := make(map[garner.DType]int64)
	for i := range int64(64) {
		if d := operators.ONNXType(i); d != garner.Invalid {
			m[d] = i
		}
	}
	return m
}()

func onnxType(d garner.DType) int64 { return onnxTypes[d] }

// A piece is bytes of a file, or the elements of a constant.
type piece struct {
	bytes    []byte
	elements *value
}

func (p piece) size() int64 {
	if p.elements != nil {
		return p.elements.size()
	}
	return int64(len(p.bytes))
}

// A message is a protobuf message that is not in memory as a whole.
type message struct{ pieces []piece }

func (m *message) append(b []byte) {
	if n := len(m.pieces); n > 0 && m.pieces[n-1].elements == nil {
		m.pieces[n-1].bytes = append(m.pieces[n-1].bytes, b...)
		return
	}
	m.pieces = append(m.pieces, piece{bytes: b})
}

func (m *message) size() (n int64) {
	for _, p := range m.pieces {
		n += p.size()
	}
	return n
}

// field appends a field that is a message.
func (m *message) field(number protowire.Number, sub *message) {
	m.append(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(sub.size())))
	for _, p := range sub.pieces {
		if p.elements != nil {
			m.pieces = append(m.pieces, p)
			continue
		}
		m.append(p.bytes)
	}
}

func (m *message) text(number protowire.Number, s string) {
	m.append(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), s))
}

func (m *message) integer(number protowire.Number, n int64) {
	m.append(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(n)))
}

// onnxFile lays a program out as an ONNX model, and its large constants beside it.
// location is the name of the file beside.
func (p *program) onnxFile(layers []*layer, location string) (file, beside []piece, err error) {
	graph, offset := &message{}, int64(0)
	opset, domains := onnxOpset, []string{""}
	for _, l := range layers {
		if l.domain == "" {
			opset = max(opset, l.version)
		} else if opset = max(opset, microsoftOpset); len(domains) == 1 {
			domains = append(domains, l.domain)
		}
		graph.field(1, onnxNode(l))
	}
	graph.text(2, p.graphName())
	for _, v := range slices.Concat(p.constants(layers), p.fallbacks()) {
		t := &message{}
		for _, d := range v.spec.Dims {
			t.integer(1, int64(d.Min))
		}
		t.integer(2, onnxType(v.spec.DType))
		size := v.size()
		switch {
		case v.spec.DType == garner.String:
			list, err := v.strings()
			if err != nil {
				return nil, nil, err
			}
			for _, s := range list {
				t.text(6, s)
			}
			t.text(8, v.name)
		case size < inline:
			t.text(8, v.name)
			t.append(protowire.AppendVarint(protowire.AppendTag(nil, 9, protowire.BytesType), uint64(size)))
			if size > 0 {
				t.pieces = append(t.pieces, piece{elements: v})
			}
		default:
			t.text(8, v.name)
			if pad := -offset & (onnxAlign - 1); pad > 0 {
				beside, offset = append(beside, piece{bytes: make([]byte, pad)}), offset+pad
			}
			for _, entry := range [][2]string{{"location", location}, {"offset", strconv.FormatInt(offset, 10)}, {"length", strconv.FormatInt(size, 10)}} {
				e := &message{}
				e.text(1, entry[0])
				e.text(2, entry[1])
				t.field(13, e)
			}
			t.integer(14, 1) // EXTERNAL
			beside, offset = append(beside, piece{elements: v}), offset+size
		}
		graph.field(5, t)
	}
	for _, v := range p.inputs {
		graph.field(11, onnxValue(v.name, v))
	}
	for _, o := range p.outputs {
		graph.field(12, onnxValue(o.name, o.value))
	}
	m := &message{}
	m.integer(1, onnxIR(opset))
	m.text(2, "garner")
	m.field(7, graph)
	for i, domain := range domains {
		set := &message{}
		set.text(1, domain)
		set.integer(2, []int64{int64(opset), 1}[i])
		m.field(8, set)
	}
	if m.size() > math.MaxInt32 {
		return nil, nil, garner.Errorf(ErrUnsupported, "as ONNX it takes %d bytes beside its large constants, and protobuf allows 2 GiB; split the model", m.size())
	}
	return m.pieces, beside, nil
}

func onnxNode(l *layer) *message {
	m := &message{}
	for _, v := range l.in {
		m.text(1, v.name)
	}
	m.text(2, l.out.name)
	if l.also != nil {
		m.text(2, l.also.name)
	}
	m.text(3, l.name)
	m.text(4, l.op)
	if l.domain != "" {
		m.text(7, l.domain)
	}
	for _, a := range l.attributes {
		sub := &message{}
		sub.text(1, a.name)
		switch v := a.value.(type) {
		case int64:
			sub.integer(3, v)
			sub.integer(20, 2) // INT
		case string:
			sub.text(4, v)
			sub.integer(20, 3) // STRING
		case []int64:
			for _, n := range v {
				sub.integer(8, n)
			}
			sub.integer(20, 7) // INTS
		}
		m.field(5, sub)
	}
	return m
}

// onnxValue is a ValueInfoProto.
func onnxValue(name string, v *value) *message {
	tensor := &message{}
	tensor.integer(1, onnxType(v.spec.DType))
	if v.spec.Rank.Known() {
		shape := &message{}
		for i, d := range v.spec.Dims {
			dim := &message{}
			switch {
			case d.Known():
				dim.integer(1, int64(d.Min))
			case i < len(v.dimNames) && v.dimNames[i] != "":
				dim.text(2, v.dimNames[i])
			}
			shape.field(1, dim)
		}
		tensor.field(2, shape)
	}
	kind := &message{}
	kind.field(1, tensor)
	m := &message{}
	m.text(1, name)
	m.field(2, kind)
	return m
}
