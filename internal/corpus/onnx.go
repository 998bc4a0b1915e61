package corpus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
)

// What ONNX's messages look like that a test directory is made of; the numbers
// are those of onnx.proto.

// visit calls do for every field of a message: number is its value where it is
// a number, content its bytes where it has a length.
func visit(message []byte, do func(field protowire.Number, wire protowire.Type, number uint64, content []byte) error) error {
	for len(message) > 0 {
		field, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var number uint64
		var content []byte
		switch wire {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(message)
			number = uint64(v)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(field, wire, message)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", field, protowire.ParseError(n))
		}
		message = message[n:]
		if err := do(field, wire, number, content); err != nil {
			return err
		}
	}
	return nil
}

// errWire is a known field that is not written as its type is.
func errWire(field protowire.Number) error {
	return fmt.Errorf("field %d is not written as its type is", field)
}

// repeated appends the numbers of a field that may be packed.
func repeated(to []uint64, field protowire.Number, of, wire protowire.Type, number uint64, content []byte) ([]uint64, error) {
	if wire == of {
		return append(to, number), nil
	}
	if wire != protowire.BytesType {
		return nil, errWire(field)
	}
	for len(content) > 0 {
		var n int
		switch of {
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(content)
			number = uint64(v)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(content)
		default:
			number, n = protowire.ConsumeVarint(content)
		}
		if n < 0 {
			return nil, fmt.Errorf("field %d: %w", field, protowire.ParseError(n))
		}
		content = content[n:]
		to = append(to, number)
	}
	return to, nil
}

// dataTypes are TensorProto's element types, by their numbers.
var dataTypes = map[uint64]garner.DType{
	1: garner.F32, 2: garner.U8, 3: garner.I8, 4: garner.U16, 5: garner.I16, 6: garner.I32, 7: garner.I64,
	8: garner.String, 9: garner.Bool, 10: garner.F16, 11: garner.F64, 12: garner.U32, 13: garner.U64,
	14: garner.Complex64, 15: garner.Complex128, 16: garner.BF16,
	17: garner.F8E4M3FN, 18: garner.F8E4M3FNUZ, 19: garner.F8E5M2, 20: garner.F8E5M2FNUZ,
	21: garner.U4, 22: garner.I4, 23: garner.F4E2M1, 24: garner.F8E8M0, 25: garner.U2, 26: garner.I2,
}

// tensorProto is a TensorProto as it is written: dims, a type, and the elements
// in one of seven fields.
type tensorProto struct {
	name     string
	dims     []uint64
	dataType uint64
	raw      []byte
	strings  []string
	numbers  []uint64 // of the numeric field that there is
	from     protowire.Number
}

// parseTensorProto reads a TensorProto.
func parseTensorProto(message []byte) (name string, tensor garner.Tensor, err error) {
	var t tensorProto
	data := func(field protowire.Number) error {
		if t.from != 0 && t.from != field {
			return fmt.Errorf("its elements stand in field %d and in field %d", t.from, field)
		}
		t.from = field
		return nil
	}
	err = visit(message, func(field protowire.Number, wire protowire.Type, number uint64, content []byte) (err error) {
		numbers := func(of protowire.Type) error {
			if wire == protowire.BytesType && len(content) == 0 {
				return nil
			}
			if err := data(field); err != nil {
				return err
			}
			t.numbers, err = repeated(t.numbers, field, of, wire, number, content)
			return err
		}
		switch field {
		case 1: // dims
			t.dims, err = repeated(t.dims, field, protowire.VarintType, wire, number, content)
			if len(t.dims) > garner.MaxRank {
				return fmt.Errorf("it has more than %d dims", garner.MaxRank)
			}
		case 2: // data_type
			if wire != protowire.VarintType {
				return errWire(field)
			}
			t.dataType = number
		case 3: // segment
			return errors.New("it is a segment of a tensor, which is not read here")
		case 4: // float_data
			return numbers(protowire.Fixed32Type)
		case 5, 7, 11: // int32_data, int64_data, uint64_data
			return numbers(protowire.VarintType)
		case 10: // double_data
			return numbers(protowire.Fixed64Type)
		case 6: // string_data
			if wire != protowire.BytesType {
				return errWire(field)
			}
			t.strings = append(t.strings, string(content))
			return data(field)
		case 8: // name
			t.name = string(content)
		case 9: // raw_data
			if wire != protowire.BytesType {
				return errWire(field)
			}
			t.raw = content
			if len(content) > 0 {
				return data(field)
			}
		case 13: // external_data
			return errors.New("its elements are in another file, which is not read here")
		case 14: // data_location
			if number != 0 {
				return errors.New("its elements are in another file, which is not read here")
			}
		}
		return err
	})
	if err == nil {
		tensor, err = t.tensor()
	}
	if err != nil {
		return t.name, garner.Tensor{}, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	return t.name, tensor, nil
}

// tensor makes the tensor, with no more memory than a few times the message's.
func (t *tensorProto) tensor() (garner.Tensor, error) {
	fail := func(format string, args ...any) (garner.Tensor, error) {
		return garner.Tensor{}, fmt.Errorf(format, args...)
	}
	dtype, ok := dataTypes[t.dataType]
	if !ok {
		return fail("no data type %d", t.dataType)
	}
	shape := make(garner.Shape, len(t.dims))
	for i, d := range t.dims {
		if d > math.MaxInt {
			return fail("dim %d is %d", i, int64(d))
		}
		shape[i] = int(d)
	}
	n, ok := shape.Len()
	if !ok {
		return fail("shape %s holds more elements than an int can count", shape)
	}
	const rawData, stringData = 9, 6
	if dtype == garner.String {
		if t.from != 0 && t.from != stringData || len(t.strings) != n {
			return fail("%d strings are no %s", len(t.strings), shape)
		}
		return garner.FromSlice(t.strings, shape...)
	}
	switch {
	case t.from == rawData || n == 0 && t.from == 0:
		made, err := garner.FromBytes(dtype, t.raw, shape...)
		if err != nil || !dtype.Packed() {
			return made, err
		}
		return made.Clone() // the unused bits of the last byte may be anything
	case t.from == 0:
		return fail("it has no elements, and shape %s", shape)
	}
	// Bits of the numbers, how many of them make an element, and the field.
	width, field := dtype.Bits(), protowire.Number(5)
	switch dtype {
	case garner.F32, garner.Complex64:
		width, field = 32, 4
	case garner.F64, garner.Complex128:
		width, field = 64, 10
	case garner.I64:
		field = 7
	case garner.U32, garner.U64:
		field = 11
	}
	if t.from != field {
		return fail("its elements stand in field %d; those of %s stand in %d or in raw_data", t.from, dtype, field)
	}
	if dtype.Packed() {
		width = 8 // a number is a byte
	}
	b := make([]byte, 0, len(t.numbers)*width/8)
	for i, v := range t.numbers {
		signed := int64(v)
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		if width < 64 {
			low, high = 0, 1<<width-1
			if dtype.IsInteger() && !dtype.IsUnsigned() && !dtype.Packed() {
				low, high = -1<<(width-1), 1<<(width-1)-1
			}
			if dtype == garner.Bool {
				high = 1
			}
			if signed < low || signed > high {
				return fail("number %d is %d, which is no %s", i, signed, dtype)
			}
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v)
		b = append(b, word[:width/8]...)
	}
	made, err := garner.FromBytes(dtype, b, shape...)
	if err != nil || !dtype.Packed() {
		return made, err
	}
	return made.Clone()
}

// model is what a test's model.onnx says: one node, and what feeds it.
type model struct {
	ir           uint64
	opsets       map[string]uint64
	inputs       []string // of the graph
	outputs      []string
	initializers map[string]garner.Tensor
	nodes        int
	node         node
}

type node struct {
	op, domain      string
	inputs, outputs []string
	attributes      map[string]any
}

// parseModel reads a model of one node.
func parseModel(message []byte) (*model, error) {
	m := &model{opsets: make(map[string]uint64), initializers: make(map[string]garner.Tensor)}
	graphs := 0
	err := visit(message, func(field protowire.Number, wire protowire.Type, number uint64, content []byte) error {
		switch field {
		case 1: // ir_version
			m.ir = number
		case 7: // graph
			if wire != protowire.BytesType {
				return errWire(field)
			}
			graphs++
			return m.parseGraph(content)
		case 8: // opset_import
			if wire != protowire.BytesType {
				return errWire(field)
			}
			return m.parseOpset(content)
		case 25: // functions
			return errors.New("the model has functions of its own, which are not read here")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if graphs != 1 {
		return nil, fmt.Errorf("the model has %d graphs", graphs)
	}
	if m.nodes != 1 {
		return nil, fmt.Errorf("the model has %d nodes; a test of a gather has one", m.nodes)
	}
	return m, nil
}

func (m *model) parseOpset(message []byte) error {
	domain, version := "", uint64(0)
	err := visit(message, func(field protowire.Number, _ protowire.Type, number uint64, content []byte) error {
		switch field {
		case 1:
			domain = string(content)
		case 2:
			version = number
		}
		return nil
	})
	if err != nil {
		return err
	}
	if version < 1 || version > math.MaxInt32 {
		return fmt.Errorf("the model imports opset %d of %q", int64(version), domain)
	}
	if domain = plain(domain); m.opsets[domain] != 0 && m.opsets[domain] != version {
		return fmt.Errorf("the model imports opsets %d and %d of %q", m.opsets[domain], version, domain)
	}
	m.opsets[domain] = version
	return nil
}

// plain is a domain under its one name.
func plain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func (m *model) parseGraph(message []byte) error {
	return visit(message, func(field protowire.Number, wire protowire.Type, number uint64, content []byte) error {
		switch field {
		case 1, 5, 11, 12, 15:
			if wire != protowire.BytesType {
				return errWire(field)
			}
		}
		switch field {
		case 1: // node
			if m.nodes++; m.nodes == 1 {
				return m.node.parse(content)
			}
		case 5: // initializer
			name, t, err := parseTensorProto(content)
			if err != nil {
				return err
			}
			if _, twice := m.initializers[name]; twice || name == "" {
				return fmt.Errorf("initializer %q has no name, or one that another has", name)
			}
			m.initializers[name] = t
		case 11, 12: // input, output
			name, err := firstString(content)
			if err != nil {
				return err
			}
			list := &m.inputs
			if field == 12 {
				list = &m.outputs
			}
			if slices.Contains(*list, name) {
				return fmt.Errorf("the graph has two inputs, or outputs, named %q", name)
			}
			*list = append(*list, name)
		case 15: // sparse_initializer
			return errors.New("the graph has sparse initializers, which are not read here")
		}
		return nil
	})
}

// firstString is field 1 of a message, its name.
func firstString(message []byte) (name string, err error) {
	err = visit(message, func(field protowire.Number, wire protowire.Type, _ uint64, content []byte) error {
		if field == 1 {
			if wire != protowire.BytesType {
				return errWire(field)
			}
			name = string(content)
		}
		return nil
	})
	return name, err
}

func (n *node) parse(message []byte) error {
	n.attributes = make(map[string]any)
	return visit(message, func(field protowire.Number, wire protowire.Type, _ uint64, content []byte) error {
		switch field {
		case 1, 2, 4, 5, 7:
			if wire != protowire.BytesType {
				return errWire(field)
			}
		}
		switch field {
		case 1:
			n.inputs = append(n.inputs, string(content))
		case 2:
			n.outputs = append(n.outputs, string(content))
		case 4:
			n.op = string(content)
		case 5:
			name, value, err := parseAttribute(content)
			if err != nil {
				return fmt.Errorf("attribute %q: %w", name, err)
			}
			if _, twice := n.attributes[name]; twice {
				return fmt.Errorf("attribute %q stands twice", name)
			}
			n.attributes[name] = value
		case 7:
			n.domain = plain(string(content))
		}
		return nil
	})
}

// The types of an attribute that a gather may have, and some that it may be
// given all the same.
const (
	attributeFloat  = 1
	attributeInt    = 2
	attributeString = 3
	attributeInts   = 7
)

func parseAttribute(message []byte) (name string, value any, err error) {
	var kind, single uint64
	var float float64
	var text string
	var many []uint64
	seen := uint64(0) // the type that the value's field tells
	err = visit(message, func(field protowire.Number, wire protowire.Type, number uint64, content []byte) (err error) {
		switch field {
		case 1:
			name = string(content)
		case 2:
			float, seen = float64(math.Float32frombits(uint32(number))), attributeFloat
		case 3:
			if wire != protowire.VarintType {
				return errWire(field)
			}
			single, seen = number, attributeInt
		case 4:
			text, seen = string(content), attributeString
		case 8:
			many, err = repeated(many, field, protowire.VarintType, wire, number, content)
			seen = attributeInts
		case 20:
			kind = number
		case 21:
			return errors.New("it refers to a function's attribute")
		}
		return err
	})
	if err != nil {
		return name, nil, err
	}
	if kind == 0 {
		kind = seen
	}
	if seen != 0 && seen != kind {
		return name, nil, fmt.Errorf("it is of type %d and has a value of type %d", kind, seen)
	}
	switch kind {
	case attributeFloat:
		return name, float, nil
	case attributeInt:
		return name, int64(single), nil
	case attributeString:
		return name, text, nil
	case attributeInts:
		list := make([]int64, len(many))
		for i, v := range many {
			list[i] = int64(v)
		}
		return name, list, nil
	}
	return name, nil, fmt.Errorf("an attribute of type %d, which no gather has", kind)
}

// operator is the name under which the catalog has the node's operator, and the
// opset of its domain.
func (m *model) operator() (name string, opset int, err error) {
	n := &m.node
	name = n.op
	if name == "" {
		return "", 0, errors.New("the node has no op_type")
	}
	version, imported := m.opsets[n.domain]
	switch n.domain {
	case "":
		name = "onnx." + name
		if !imported && m.ir < 3 {
			version, imported = 1, true // before models said which
		}
	default:
		name = n.domain + "." + name
	}
	if !imported {
		return name, 0, fmt.Errorf("the model imports no opset of the node's domain %q", n.domain)
	}
	return name, int(version), nil
}

// feed gives each of the node's inputs its tensor: of the data set, in the order
// of the graph's inputs, or of the model.
func (m *model) feed(set []garner.Tensor) ([]garner.Tensor, error) {
	var free []string
	for _, name := range m.inputs {
		if _, ok := m.initializers[name]; !ok {
			free = append(free, name)
		}
	}
	if len(set) == len(m.inputs) {
		free = m.inputs // those of old models too, which stand among the inputs
	}
	if len(set) != len(free) {
		return nil, fmt.Errorf("the data set has %d inputs and the model %d", len(set), len(free))
	}
	tensors := make([]garner.Tensor, len(m.node.inputs))
	for i, name := range m.node.inputs {
		if at := slices.Index(free, name); at >= 0 {
			tensors[i] = set[at]
		} else if t, ok := m.initializers[name]; ok {
			tensors[i] = t
		} else {
			return nil, fmt.Errorf("the node's input %q is neither an input nor an initializer of the graph", name)
		}
	}
	if len(tensors) < 2 {
		return nil, fmt.Errorf("the node has %d inputs; data and indices are two", len(tensors))
	}
	if len(m.node.outputs) != 1 || !slices.Equal(m.outputs, m.node.outputs) {
		return nil, fmt.Errorf("the node's outputs are %q and the graph's %q; a gather has one", m.node.outputs, m.outputs)
	}
	return tensors, nil
}
