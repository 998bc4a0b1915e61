// Package protofile reads the protobuf messages of model files that are large because of
// the elements of their tensors. A [Stripper] copies a message without the elements, and
// says where they are in the file, so that a generated package can read the copy.
package protofile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MaxStructure is how many bytes of messages a hostile file can make the reader keep
// in memory, without the elements of tensors. The largest real models reach a tenth.
const MaxStructure = 64 << 20

// A Schema says what a Stripper keeps of a format's messages.
type Schema struct {
	Format   string                         // for messages: "ONNX model"
	Tensor   protoreflect.MessageDescriptor // the message that holds elements
	Elements []protowire.Number             // the fields that hold them
	Raw      protowire.Number               // the one that holds their bytes: a copy has the number of the tensor there
	Strings  protowire.Number               // the one that holds strings
	Unread   map[protoreflect.Name]bool     // the fields that are dropped
	Messages int                            // the most messages, of about 300 bytes each in memory
	Depth    int                            // the most messages in each other
	Deep     string                         // what is wrong with a model that has more
}

// Elements says where the elements of a tensor are in the file.
type Elements struct {
	Message []byte           // the whole tensor
	Field   protowire.Number // the field that holds them; 0 where none does
	Other   protowire.Number // a second field that holds elements
	Count   int              // number of bytes (Schema.Raw), strings or numbers
	Chunks  int              // number of pieces
	At      int              // offset of the last piece in the file, in bytes
	Piece   []byte           // the last piece
	Wire    protowire.Type   // of the last piece

	// Passed, unless it is nil, is told parts of Message that have been read, so that their
	// pages can go.
	Passed func(b []byte)

	of *Schema
}

// A Stripper copies a message without the fields in Unread and without the elements of
// tensors, whose places it records. The field Raw of a copied tensor is the index of its
// elements in the list, as a varint.
type Stripper struct {
	*Schema

	// Visit looks at a field that is a message, one in Unread too, before it is copied.
	// It may have it dropped. depth is that of the message that has the field.
	Visit func(of protoreflect.MessageDescriptor, field protoreflect.FieldDescriptor, content []byte, depth int) (drop bool, err error)

	// Passed is that of the Elements, and is told what is read to count them; it may be nil.
	Passed func(b []byte)

	Out   []byte     // the copy
	Found []Elements // of each tensor
	Budget

	messages int
}

// Number gives the number of a copied tensor, given the bytes in its field Raw; false where
// the tensor is no copy.
func (s *Schema) Number(raw []byte, found []Elements) (*Elements, bool) {
	number, n := protowire.ConsumeVarint(raw)
	if n < 0 || number >= uint64(len(found)) {
		return nil, false
	}
	return &found[number], true
}

// FieldName names a field of a tensor.
func (s *Schema) FieldName(field protowire.Number) string {
	return string(s.Tensor.Fields().ByNumber(field).Name())
}

// An Error is an error in the encoding of a message, with the path of the field.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

// in prefixes the path of an error with a field: graph.node[3].attribute[0].
func in(field protoreflect.FieldDescriptor, index int, err error) error {
	name := string(field.Name())
	if field.IsList() && field.Message() != nil {
		name = fmt.Sprintf("%s[%d]", name, index)
	}
	var inner *Error
	if errors.As(err, &inner) {
		return &Error{name + "." + inner.Path, inner.Err}
	}
	return &Error{name, err}
}

var errCut = errors.New("it ends in the middle of a field: the file is cut short or corrupt; get it again")

// Split takes the first field off a message. content has the bytes of a field with
// a length, number the value of a number.
func Split(b []byte) (field protowire.Number, wire protowire.Type, number uint64, content, rest []byte, err error) {
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

// wireProblem words an error of package protowire.
func wireProblem(n int) error {
	err := protowire.ParseError(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return noMessage{err}
}

// noMessage is the error of bytes that are no message.
type noMessage struct{ error }

func (e noMessage) Error() string { return e.in("") }

// in names the format that a whole file was to be of.
func (e noMessage) in(format string) string {
	if format != "" {
		format = " or no " + format
	}
	return fmt.Sprintf("it is no protobuf message (%v): the file is corrupt%s; get it again", e.error, format)
}

// wireOf gives the wire type of one value of a kind.
func wireOf(kind protoreflect.Kind) protowire.Type {
	switch kind {
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// Strip appends the stripped copy of a message, which begins at byte at of the
// file.
func (s *Stripper) Strip(message []byte, at int, of protoreflect.MessageDescriptor, depth int) error {
	if s.messages++; s.messages > s.Messages {
		return fmt.Errorf("the model has more than %d messages, which no real model has; split it", s.Messages)
	}
	if depth > s.Depth {
		return errors.New(s.Deep)
	}
	fields := of.Fields()
	// protobuf's struct has 40 bytes and some 16 for each field.
	if err := s.Spend(40 + 16*fields.Len()); err != nil {
		return err
	}
	tensor := -1
	if of == s.Tensor {
		tensor = len(s.Found)
		s.Found = append(s.Found, Elements{Message: message, Passed: s.Passed, of: s.Schema})
	}
	passed := 0        // bytes of the message that Passed was told
	var seen [32]bool  // singular messages
	var counts [32]int // messages so far in each repeated field
	for rest := message; len(rest) > 0; {
		field, wire, number, content, after, err := Split(rest)
		if no, ok := err.(noMessage); ok {
			return errors.New(no.in(s.Format))
		} else if err != nil {
			return err
		}
		end := at + len(message) - len(after) // of the field
		whole := rest[:len(rest)-len(after)]
		rest = after
		fd := fields.ByNumber(field)
		if fd == nil {
			continue
		}
		drop := s.Unread[fd.Name()]
		index := 0
		if fd.Cardinality() == protoreflect.Repeated && fd.Message() != nil {
			index = counts[field]
			counts[field]++
		}
		if s.Visit != nil && fd.Message() != nil && wire == protowire.BytesType {
			also, err := s.Visit(of, fd, content, depth)
			if err != nil {
				return in(fd, index, err)
			}
			drop = drop || also
		}
		if drop {
			continue
		}
		want := wireOf(fd.Kind())
		packed := fd.IsList() && wire == protowire.BytesType && want != protowire.BytesType
		if wire != want && !packed {
			return in(fd, index, fmt.Errorf("it is written as no %s: the file is corrupt; get it again", fd.Kind()))
		}
		if tensor >= 0 {
			if slices.Contains(s.Elements, field) {
				if err := s.Found[tensor].note(field, want, wire, content, end-len(content)); err != nil {
					return in(fd, 0, err)
				}
				if read := end - at; s.Passed != nil && read-passed >= passBytes && wire != protowire.BytesType {
					s.Passed(message[passed:read])
					passed = read
				}
				continue
			}
		}
		switch {
		case fd.Message() != nil:
			if fd.Cardinality() != protoreflect.Repeated {
				if seen[field] {
					return in(fd, 0, errors.New("it stands there twice; leave one"))
				}
				seen[field] = true
			}
			s.Out = protowire.AppendTag(s.Out, field, protowire.BytesType)
			s.Structure += int64(len(whole) - len(content))
			from := s.space()
			if err := s.Strip(content, end-len(content), fd.Message(), depth+1); err != nil {
				return in(fd, index, err)
			}
			s.fill(from)
			continue
		case fd.Kind() == protoreflect.StringKind:
			if !utf8.Valid(content) {
				return in(fd, 0, fmt.Errorf("%.200q is no UTF-8; write names as UTF-8", content))
			}
		case fd.Enum() != nil && fd.Enum().IsClosed():
			if number > math.MaxInt32 || fd.Enum().Values().ByNumber(protoreflect.EnumNumber(number)) == nil {
				return in(fd, 0, fmt.Errorf("there is no %s %d; the file is corrupt, or newer than this garner", fd.Enum().Name(), int64(number)))
			}
		}
		if len(s.Out)+len(whole) > MaxStructure {
			return in(fd, index, fmt.Errorf("the model has more than %d MiB beside its tensors' elements, which no real model has; split it", MaxStructure>>20))
		}
		s.Out = append(s.Out, whole...)
		s.Structure += int64(len(whole))
		size := 32 + 3*len(whole)
		if packed {
			size += 16 * len(content) // a number of 8 bytes may have one byte here
		}
		if err := s.Spend(size); err != nil {
			return in(fd, index, err)
		}
	}
	if tensor >= 0 {
		s.Out = protowire.AppendTag(s.Out, s.Raw, protowire.BytesType)
		from := s.space()
		s.Out = protowire.AppendVarint(s.Out, uint64(tensor))
		s.fill(from)
	}
	return nil
}

// lengthBytes is the width of a varint that space reserves and fill sets once the
// length of the message is known. Four bytes hold any length below MaxStructure.
const lengthBytes = 4

func (s *Stripper) space() (from int) {
	s.Out = append(s.Out, 0, 0, 0, 0)
	return len(s.Out)
}

func (s *Stripper) fill(from int) {
	length := len(s.Out) - from
	for i := range lengthBytes {
		b := byte(length>>(7*i)) & 0x7f
		if i < lengthBytes-1 {
			b |= 0x80
		}
		s.Out[from-lengthBytes+i] = b
	}
}

// note records the elements in a field.
func (e *Elements) note(field protowire.Number, want, wire protowire.Type, content []byte, at int) error {
	if wire == protowire.BytesType && len(content) == 0 && field != e.of.Strings {
		return nil
	}
	if e.Field != 0 && e.Field != field {
		e.Other = field
		return nil
	}
	e.Field, e.Wire = field, wire
	e.Chunks++
	e.At, e.Piece = at, content
	switch {
	case want == protowire.BytesType && field != e.of.Strings:
		e.Count = len(content) // the last of several replaces the others
	case field == e.of.Strings || wire != protowire.BytesType:
		e.Count++
	default:
		n, err := countNumbers(want, content, e.Passed)
		if err != nil {
			return err
		}
		e.Count += n
	}
	return nil
}

// passBytes is how much is read before Passed is told: the pages of as much are in memory.
const passBytes = 4 << 20

// countNumbers counts the numbers in a packed field.
func countNumbers(of protowire.Type, content []byte, passed func([]byte)) (int, error) {
	size := 0
	switch of {
	case protowire.Fixed32Type:
		size = 4
	case protowire.Fixed64Type:
		size = 8
	default:
		n := 0
		for part := range slices.Chunk(content, passBytes) {
			for _, b := range part {
				if b < 0x80 {
					n++
				}
			}
			if passed != nil && len(part) == passBytes {
				passed(part)
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

// Numbers calls do with every number of the tensor's field, in order, up to an error.
func (e *Elements) Numbers(of protowire.Type, do func(number uint64) error) error {
	passed := 0 // bytes of the message that Passed was told
	pass := func(read int) {
		if e.Passed != nil && read-passed >= passBytes {
			e.Passed(e.Message[passed:read])
			passed = read
		}
	}
	for rest := e.Message; len(rest) > 0; {
		field, wire, number, content, after, err := Split(rest)
		if err != nil {
			return err
		}
		rest = after
		switch {
		case field != e.Field:
		case wire == of:
			if err := do(number); err != nil {
				return err
			}
			pass(len(e.Message) - len(rest))
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
				if err := do(number); err != nil {
					return err
				}
				pass(len(e.Message) - len(rest) - len(content))
			}
		}
	}
	return nil
}

// Texts gives the strings in a field.
func (e *Elements) Texts(in protowire.Number) ([]string, error) {
	list := make([]string, 0, e.Count)
	for rest := e.Message; len(rest) > 0; {
		field, _, _, content, after, err := Split(rest)
		if err != nil {
			return nil, err
		}
		if rest = after; field == in {
			list = append(list, string(content))
		}
	}
	return list, nil
}
