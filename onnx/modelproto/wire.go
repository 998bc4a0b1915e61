package modelproto

import (
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

// Limits of what a hostile file can make the reader keep in memory: maxStructure
// bytes of messages without the elements of tensors, and maxMessages messages of
// about 300 bytes each. The largest real models reach a tenth of them.
const (
	maxStructure = 64 << 20
	maxMessages  = 1 << 20
	maxDepth     = 3*maxGraphs + 16 // nested messages; a sub-graph takes three
	maxGraphs    = 64               // nested graphs
)

// elements says where the elements of a TensorProto are in the file.
type elements struct {
	message []byte           // the whole TensorProto
	field   protowire.Number // the field that holds them; 0 where none does
	other   protowire.Number // a second field that holds elements, which is an error
	count   int              // number of bytes (raw_data), strings or numbers
	chunks  int              // number of pieces
	at      int              // offset of the last piece in the file, in bytes
	piece   []byte           // the last piece
	wire    protowire.Type   // of the last piece
}

// Fields of TensorProto that hold elements.
const (
	floatData  protowire.Number = 4
	int32Data  protowire.Number = 5
	stringData protowire.Number = 6
	int64Data  protowire.Number = 7
	rawData    protowire.Number = 9
	doubleData protowire.Number = 10
	uint64Data protowire.Number = 11
)

// Fields that name a tensor's file: TensorProto.external_data has entries of a key
// and a value.
const (
	externalData protowire.Number = 13
	entryKey     protowire.Number = 1
	entryValue   protowire.Number = 2
)

// unread lists the fields that the reader drops.
var unread = map[protoreflect.Name]bool{
	"doc_string": true, "metadata_props": true, "denotation": true,
	"training_info": true, "configuration": true, "device_configurations": true, "quantization_annotation": true,
}

// A stripper copies a message without the fields in unread and without the
// elements of tensors, whose places it records. The raw_data of a copied
// TensorProto is the index of its elements in the list, as a varint.
type stripper struct {
	out       []byte
	elements  []elements
	locations []string // of the files that tensors name, with repeats
	messages  int
	budget
}

var tensorProto = (*onnxpb.TensorProto)(nil).ProtoReflect().Descriptor()

// A wireError is an error in the encoding of a message, with the path of the field.
type wireError struct {
	path string
	err  error
}

func (e *wireError) Error() string { return e.path + ": " + e.err.Error() }

// in prefixes the path of an error with a field: graph.node[3].attribute[0].
func in(field protoreflect.FieldDescriptor, index int, err error) error {
	name := string(field.Name())
	if field.IsList() && field.Message() != nil {
		name = fmt.Sprintf("%s[%d]", name, index)
	}
	var inner *wireError
	if errors.As(err, &inner) {
		return &wireError{name + "." + inner.path, inner.err}
	}
	return &wireError{name, err}
}

var errCut = errors.New("it ends in the middle of a field: the file is cut short or corrupt; get it again")

// split takes the first field off a message. content has the bytes of a field with
// a length, number the value of a number.
func split(b []byte) (field protowire.Number, wire protowire.Type, number uint64, content, rest []byte, err error) {
	field, wire, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, 0, 0, nil, nil, wireProblem(n)
	}
	b = b[n:]
	switch wire {
	case protowire.VarintType:
		number, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(b)
		number = uint64(v)
	case protowire.Fixed64Type:
		number, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		var length uint64
		if length, n = protowire.ConsumeVarint(b); n >= 0 {
			if length > uint64(len(b)-n) {
				return 0, 0, 0, nil, nil, fmt.Errorf("its field %d has %d bytes by its own account, and %d are left: the file is cut short or corrupt; get it again", field, length, len(b)-n)
			}
			content = b[n : n+int(length)]
			n += int(length)
		}
	default:
		n = protowire.ConsumeFieldValue(field, wire, b)
	}
	if n < 0 {
		return 0, 0, 0, nil, nil, wireProblem(n)
	}
	return field, wire, number, content, b[n:], nil
}

func wireProblem(n int) error {
	err := protowire.ParseError(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return fmt.Errorf("it is no protobuf message (%v): the file is corrupt or no ONNX model; get it again", err)
}

// wireOf gives the wire type of one value of a kind.
func wireOf(kind protoreflect.Kind) protowire.Type {
	switch kind {
	case protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// strip appends the stripped copy of a message, which begins at byte at of the
// file.
func (s *stripper) strip(message []byte, at int, of protoreflect.MessageDescriptor, depth int) error {
	if s.messages++; s.messages > maxMessages {
		return fmt.Errorf("the model has more than %d messages, which no real model has; split it", maxMessages)
	}
	if depth > maxDepth {
		return fmt.Errorf("its graphs stand in each other more than %d deep; flatten it", maxGraphs)
	}
	fields := of.Fields()
	// protobuf's struct has 40 bytes and some 16 for each field.
	if err := s.spend(40 + 16*fields.Len()); err != nil {
		return err
	}
	tensor := -1
	if of == tensorProto {
		tensor = len(s.elements)
		s.elements = append(s.elements, elements{message: message})
	}
	var seen [32]bool  // singular messages
	var counts [32]int // messages so far in each repeated field
	for rest := message; len(rest) > 0; {
		field, wire, number, content, after, err := split(rest)
		if err != nil {
			return err
		}
		end := at + len(message) - len(after) // of the field
		whole := rest[:len(rest)-len(after)]
		rest = after
		fd := fields.ByNumber(field)
		if fd == nil {
			continue
		}
		if unread[fd.Name()] {
			if fd.Name() == "training_info" && wire == protowire.BytesType {
				s.alsoNamed(content, fd.Message(), depth+1)
			}
			continue
		}
		index := 0
		if fd.IsList() && fd.Message() != nil {
			index = counts[field]
			counts[field]++
		}
		want := wireOf(fd.Kind())
		packed := fd.IsList() && wire == protowire.BytesType && want != protowire.BytesType
		if wire != want && !packed {
			return in(fd, index, fmt.Errorf("it is written as no %s: the file is corrupt; get it again", fd.Kind()))
		}
		if tensor >= 0 {
			switch field {
			case floatData, int32Data, stringData, int64Data, rawData, doubleData, uint64Data:
				if err := s.elements[tensor].note(field, want, wire, content, end-len(content)); err != nil {
					return in(fd, 0, err)
				}
				continue
			}
		}
		switch {
		case fd.Message() != nil:
			if !fd.IsList() {
				if seen[field] {
					return in(fd, 0, errors.New("it stands there twice; leave one"))
				}
				seen[field] = true
			}
			if tensor >= 0 && field == externalData {
				if err := s.locate(content); err != nil {
					return in(fd, index, err)
				}
			}
			s.out = protowire.AppendTag(s.out, field, protowire.BytesType)
			s.structure += int64(len(whole) - len(content))
			from := s.space()
			if err := s.strip(content, end-len(content), fd.Message(), depth+1); err != nil {
				return in(fd, index, err)
			}
			s.fill(from)
			continue
		case fd.Kind() == protoreflect.StringKind:
			if !utf8.Valid(content) {
				return in(fd, 0, fmt.Errorf("%.200q is no UTF-8; write names as UTF-8", content))
			}
		case fd.Enum() != nil:
			if number > math.MaxInt32 || fd.Enum().Values().ByNumber(protoreflect.EnumNumber(number)) == nil {
				return in(fd, 0, fmt.Errorf("there is no %s %d; the file is corrupt, or newer than this garner", fd.Enum().Name(), int64(number)))
			}
		}
		if len(s.out)+len(whole) > maxStructure {
			return in(fd, index, fmt.Errorf("the model has more than %d MiB beside its tensors' elements, which no real model has; split it", maxStructure>>20))
		}
		s.out = append(s.out, whole...)
		s.structure += int64(len(whole))
		size := 32 + 3*len(whole)
		if packed {
			size += 16 * len(content) // a number of 8 bytes may have one byte here
		}
		if err := s.spend(size); err != nil {
			return in(fd, index, err)
		}
	}
	if tensor >= 0 {
		s.out = protowire.AppendTag(s.out, rawData, protowire.BytesType)
		from := s.space()
		s.out = protowire.AppendVarint(s.out, uint64(tensor))
		s.fill(from)
	}
	return nil
}

// alsoNamed notes the files that tensors of a dropped message name, which belong to
// the model too, up to the first error: nothing else of the message is read.
func (s *stripper) alsoNamed(message []byte, of protoreflect.MessageDescriptor, depth int) {
	var aside stripper
	_ = aside.strip(message, 0, of, depth)
	s.locations = append(s.locations, aside.locations...)
}

// locate notes the location in an entry of external_data.
func (s *stripper) locate(entry []byte) error {
	var key, value string
	for len(entry) > 0 {
		field, wire, _, content, after, err := split(entry)
		if err != nil {
			return err
		}
		entry = after
		switch {
		case wire != protowire.BytesType:
		case field == entryKey:
			key = string(content)
		case field == entryValue:
			value = string(content)
		}
	}
	// Most tensors are in the file of the one before.
	if n := len(s.locations); key == "location" && (n == 0 || s.locations[n-1] != value) {
		s.locations = append(s.locations, value)
	}
	return nil
}

// lengthBytes is the width of a varint that space reserves and fill sets once the
// length of the message is known. Four bytes hold any length below maxStructure.
const lengthBytes = 4

func (s *stripper) space() (from int) {
	s.out = append(s.out, 0, 0, 0, 0)
	return len(s.out)
}

func (s *stripper) fill(from int) {
	length := len(s.out) - from
	for i := range lengthBytes {
		b := byte(length>>(7*i)) & 0x7f
		if i < lengthBytes-1 {
			b |= 0x80
		}
		s.out[from-lengthBytes+i] = b
	}
}

// note records the elements in a field.
func (e *elements) note(field protowire.Number, want, wire protowire.Type, content []byte, at int) error {
	if wire == protowire.BytesType && len(content) == 0 && field != stringData {
		return nil
	}
	if e.field != 0 && e.field != field {
		e.other = field
		return nil
	}
	e.field, e.wire = field, wire
	e.chunks++
	e.at, e.piece = at, content
	switch {
	case field == rawData:
		e.count = len(content) // the last of several replaces the others
	case field == stringData || wire != protowire.BytesType:
		e.count++
	default:
		n, err := countNumbers(want, content)
		if err != nil {
			return err
		}
		e.count += n
	}
	return nil
}

// countNumbers counts the numbers in a packed field.
func countNumbers(of protowire.Type, content []byte) (int, error) {
	size := 0
	switch of {
	case protowire.Fixed32Type:
		size = 4
	case protowire.Fixed64Type:
		size = 8
	default:
		n := 0
		for _, b := range content {
			if b < 0x80 {
				n++
			}
		}
		if content[len(content)-1] >= 0x80 {
			return 0, errCut
		}
		return n, nil
	}
	if len(content)%size != 0 {
		return 0, errCut
	}
	return len(content) / size, nil
}

// numbers calls do with every number of the tensor's field, in order.
func (e *elements) numbers(of protowire.Type, do func(number uint64)) error {
	for rest := e.message; len(rest) > 0; {
		field, wire, number, content, after, err := split(rest)
		if err != nil {
			return err
		}
		rest = after
		switch {
		case field != e.field:
		case wire == of:
			do(number)
		default:
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
					return wireProblem(n)
				}
				content = content[n:]
				do(number)
			}
		}
	}
	return nil
}

// strings gives the tensor's string_data.
func (e *elements) strings() ([]string, error) {
	list := make([]string, 0, e.count)
	for rest := e.message; len(rest) > 0; {
		field, _, _, content, after, err := split(rest)
		if err != nil {
			return nil, err
		}
		if rest = after; field == stringData {
			list = append(list, string(content))
		}
	}
	return list, nil
}
