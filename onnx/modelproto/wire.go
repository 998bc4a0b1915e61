package modelproto

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

// maxGraphs is how many graphs may stand in each other.
const maxGraphs = 64

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

var tensorProto = (*onnxpb.TensorProto)(nil).ProtoReflect().Descriptor()

// schema is what is read of ONNX's messages. The largest real models have a tenth of
// the messages that it allows.
var schema = protofile.Schema{
	Format:   "ONNX model",
	Tensor:   tensorProto,
	Elements: []protowire.Number{floatData, int32Data, stringData, int64Data, rawData, doubleData, uint64Data},
	Raw:      rawData, Strings: stringData,
	Unread: map[protoreflect.Name]bool{
		"doc_string": true, "metadata_props": true, "denotation": true,
		"training_info": true, "configuration": true, "device_configurations": true, "quantization_annotation": true,
	},
	Messages: 1 << 20,
	Depth:    3*maxGraphs + 16, // a sub-graph takes three
	Deep:     fmt.Sprintf("its graphs stand in each other more than %d deep; flatten it", maxGraphs),
}

// A stripper is a protofile.Stripper of ONNX's messages, which notes the files that
// tensors name.
type stripper struct {
	protofile.Stripper
	locations []string // with repeats
}

func newStripper() *stripper {
	s := &stripper{}
	s.Schema, s.Visit = &schema, s.visit
	return s
}

func (s *stripper) visit(of protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor, content []byte, depth int) (drop bool, err error) {
	switch {
	case of == tensorProto && fd.Number() == externalData:
		return false, s.locate(content)
	case fd.Name() == "training_info":
		s.alsoNamed(content, fd.Message(), depth+1)
	}
	return false, nil
}

// alsoNamed notes the files that tensors of a dropped message name, which belong to
// the model too, up to the first error: nothing else of the message is read.
func (s *stripper) alsoNamed(message []byte, of protoreflect.MessageDescriptor, depth int) {
	aside := newStripper()
	_ = aside.Strip(message, 0, of, depth)
	s.locations = append(s.locations, aside.locations...)
}

// locate notes the location in an entry of external_data.
func (s *stripper) locate(entry []byte) error {
	var key, value string
	for len(entry) > 0 {
		field, wire, _, content, after, err := protofile.Split(entry)
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
