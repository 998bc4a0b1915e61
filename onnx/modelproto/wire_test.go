package modelproto

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
	"github.com/garner-go/garner/source"
)

// message writes a message of fields: a number is a varint, bytes and strings
// have a length, and a float32 stands for itself.
func message(parts ...any) (m []byte) {
	for i := 0; i < len(parts); i += 2 {
		field := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			m = protowire.AppendTag(m, field, protowire.VarintType)
			m = protowire.AppendVarint(m, uint64(v))
		case uint64:
			m = protowire.AppendTag(m, field, protowire.VarintType)
			m = protowire.AppendVarint(m, v)
		case string:
			m = protowire.AppendTag(m, field, protowire.BytesType)
			m = protowire.AppendString(m, v)
		case []byte:
			m = protowire.AppendTag(m, field, protowire.BytesType)
			m = protowire.AppendBytes(m, v)
		case fixed32:
			m = protowire.AppendTag(m, field, protowire.Fixed32Type)
			m = protowire.AppendFixed32(m, uint32(v))
		case fixed64:
			m = protowire.AppendTag(m, field, protowire.Fixed64Type)
			m = protowire.AppendFixed64(m, uint64(v))
		}
	}
	return m
}

type (
	fixed32 uint32
	fixed64 uint64
)

// TestTensorProtos reads messages that say something wrong, and some that are
// right in an unusual way.
func TestTensorProtos(t *testing.T) {
	const dims, dataType, floats, int32s, strs, int64s, raw, doubles, uint64s = 1, 2, 4, 5, 6, 7, 9, 10, 11
	for _, tt := range []struct {
		message []byte
		want    string // the tensor, or a part of the error
	}{
		{message(dims, 2, dataType, 7, int64s, 5, int64s, -1), "i64[2] [5, -1]"},
		{message(dims, "\x01\x02", dataType, 7, int64s, "\x05\x06"), "i64[1,2] [[5, 6]]"},
		{message(dims, 2, dataType, 1, floats, fixed32(0x3f800000), floats, "\x00\x00\x00\x40"), "f32[2] [1.0, 2.0]"},
		{message(dataType, 11, doubles, fixed64(0x3ff0000000000000)), "f64[] 1.0"},
		{message(dims, 1, dataType, 14, floats, "\x00\x00\x80\x3f\x00\x00\x00\x40"), "complex64[1] [1.0+2.0i]"},
		{message(dims, 1, dataType, 12, uint64s, uint64(1<<32-1)), "u32[1] [4294967295]"},
		{message(dims, 2, dataType, 3, int32s, -128, int32s, 127), "i8[2] [-128, 127]"},
		{message(dims, 3, dataType, 22, int32s, 0x87, int32s, 0xff), "i4[3] [7, -8, -1]"},
		{message(dims, 3, dataType, 22, raw, "\x87\xff"), "i4[3] [7, -8, -1]"},
		{message(dims, 5, dataType, 25, raw, "\xe4\x03"), "u2[5] [0, 1, 2, 3, 3]"},
		{message(dims, 0, dataType, 1), "f32[0] []"},
		{message(dims, 0, dataType, 1, floats, "", raw, ""), "f32[0] []"},
		{message(dims, 2, dataType, 8, strs, "", strs, "é"), `string[2] ["", "é"]`},
		{message(dims, 1, dataType, 9, int32s, 1, 99, "unknown", 98, fixed32(1), 97, fixed64(1)), "bool[1] [true]"},

		{message(dims, 1, dataType, 0, raw, "a"), "not said"},
		{message(dims, 1, dataType, 99, raw, "a"), "no element type 99"},
		{message(dims, 1, raw, "a"), "not said"},
		{message(dims, -1, dataType, 2, raw, "a"), "dim 0 is -1"},
		{message(dims, 1<<30, dims, 1<<30, dims, 1<<30, dataType, 2, raw, "a"), "more elements than an int"},
		{message(dims, strings.Repeat("\x01", 65), dataType, 2, raw, "a"), "65 dims; there may be 64"},
		{message(dims, 2, dataType, 2, raw, "a"), "1 bytes; u8[2] takes 2"},
		{message(dims, 2, dataType, 2), "no elements"},
		{message(dims, 1, dataType, 2, raw, "a", int32s, 1), "in raw_data and in int32_data"},
		{message(dims, 1, dataType, 2, int64s, 1), "stand in int64_data; those of u8 stand in int32_data"},
		{message(dims, 1, dataType, 7, int32s, 1), "those of i64 stand in int64_data"},
		{message(dims, 1, dataType, 2, int32s, 256), "256, which is no u8"},
		{message(dims, 1, dataType, 2, int32s, -1), "-1, which is no u8"},
		{message(dims, 1, dataType, 3, int32s, 128), "128, which is no i8"},
		{message(dims, 1, dataType, 9, int32s, 2), "2, which is no bool"},
		{message(dims, 1, dataType, 10, int32s, 1<<16), "no f16"},
		{message(dims, 1, dataType, 12, uint64s, uint64(1<<32)), "no u32"},
		{message(dims, 1, dataType, 8, raw, "a"), "its strings stand in raw_data"},
		{message(dims, 2, dataType, 8, strs, "a"), "1 strings, and its shape [2] wants 2"},
		{message(dims, 1, dataType, 14, floats, fixed32(1)), "1 numbers in float_data; complex64[1] takes 2"},
		{message(dims, 1, dataType, 7, int64s, "\xff"), "int64_data: it ends in the middle"},
		{message(dims, 1, dataType, 1, floats, "\x00\x00"), "float_data: it ends"},
		{message(dims, 1, dataType, 11, doubles, "\x00\x00"), "double_data: it ends"},
		{message(dims, fixed32(1), dataType, 2, raw, "a"), "dims: it is written as no int64"},
		{message(dims, 1, dataType, "x", raw, "a"), "data_type: it is written as no int32"},
		{message(dims, 1, dataType, 2, raw, 1), "raw_data: it is written as no bytes"},
		{message(dims, 1, dataType, 8, strs, 1), "string_data: it is written as no bytes"},
		{message(dataType, 2, 3, ""), "segment"},
		{message(dims, 0, dataType, 2, 13, message(1, "location", 2, "f")), "data_location"},
		{message(dataType, 2, 14, 1), "another file"},
		{[]byte{0xff}, "tensor"},
		{[]byte{9<<3 | 2, 200, 1, 'a'}, "200 bytes by its own account, and 1 are left"},
		{message(dims, 2, dataType, 2, raw, "a", raw, "ab"), "u8[2] [97, 98]"},
		{message(dims, 2, dataType, 3, 14, 7), "no DataLocation 7"},
		{message(dims, 1, dataType, 27, raw, "a"), "FLOAT6E2M3, which garner does not know"},
		{message(dims, 1, dataType, uint64(1<<31), raw, "a"), "no element type"},
		{message(dims, 1, dataType, 2, raw, "a", 14, 1), "in another file and in raw_data"},
		{message(dims, 1, dataType, 8, 14, 1), "strings are said to be in another file"},
		{message(dims, uint64(1<<62), dims, 4, dataType, 1), "more"},
		{message(dataType, 2, raw, "a", 8, "\xff"), "name: \"\\xff\" is no UTF-8"},
		{message(8, "its name", dataType, 99), `tensor "its name"`},
	} {
		_, got, err := Tensor(tt.message)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: error %q; want %s", tt.message, err, tt.want)
			}
		} else if got.String() != tt.want {
			t.Errorf("%q is %s; want %s", tt.message, got, tt.want)
		}
	}
}

// TestAttributes reads attributes of every type that a node may be given.
func TestAttributes(t *testing.T) {
	const name, float, integer, text, integers, kind, reference = 1, 2, 3, 4, 8, 20, 21
	for _, tt := range []struct {
		message []byte
		want    any // a string that begins with "error" is a part of one
	}{
		{message(name, "a", integer, -1, kind, 2), int64(-1)},
		{message(name, "a", integer, 5), int64(5)},
		{message(name, "a", kind, 2), int64(0)},
		{message(name, "a", float, fixed32(0x3fc00000), kind, 1), 1.5},
		{message(name, "a", text, "x", kind, 3), "x"},
		{message(name, "a", integers, 1, integers, "\x02\x03", kind, 7), []int64{1, 2, 3}},
		{message(name, "a", integers, fixed32(1), kind, 7), "error ints: it is written as no int64"},
		{message(name, "a", integer, "x"), "error i: it is written as no int64"},
		{message(name, "a", integer, 1, kind, 1), "error it is of type FLOAT and has a value of type INT"},
		{message(name, "a", kind, 4), "error of type TENSOR and has no value"},
		{message(name, "a", kind, 5), "error of type GRAPH and has no value"},
		{message(name, "a", kind, 99), "error there is no AttributeType 99"},
		{message(name, "a", integer, 1, float, fixed32(0)), "error it is of type FLOAT and has a value of type INT"},
		{message(name, "a"), "error it has no value"},
		{message(name, "a", reference, "b"), "error stands in no function"},
	} {
		got, value, err := parseAttribute(tt.message)
		text, _ := tt.want.(string)
		part, isError := strings.CutPrefix(text, "error ")
		list, isList := tt.want.([]int64)
		switch {
		case isError:
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v; want %s", tt.message, err, part)
			}
		case err != nil || got != "a":
			t.Errorf("%q: %q, %v", tt.message, got, err)
		case isList:
			if v, ok := value.([]int64); !ok || !slices.Equal(v, list) {
				t.Errorf("%q is %v; want %v", tt.message, value, list)
			}
		case value != tt.want:
			t.Errorf("%q is %v; want %v", tt.message, value, tt.want)
		}
	}
}

// parseAttribute reads an AttributeProto that stands in no function.
func parseAttribute(b []byte) (string, any, error) {
	r := &reader{}
	var p onnxpb.AttributeProto
	s := newStripper()
	if err := s.Strip(b, 0, p.ProtoReflect().Descriptor(), 0); err != nil {
		return "", nil, err
	}
	if err := unmarshal.Unmarshal(s.Out, &p); err != nil {
		return "", nil, err
	}
	sc := &scope{reader: r}
	g, _, err := sc.attribute(&p)
	if err != nil {
		return p.GetName(), nil, err
	}
	v, err := sc.value(g, p.GetName())
	return p.GetName(), v, err
}

// TestPieces reads numbers of a file that are packed, stand alone or in several parts, piece by
// piece, and holds that they are those of Tensor.
func TestPieces(t *testing.T) {
	const n = 3<<20 + 7
	var packed, alone, parts []byte
	for i := range n {
		packed = protowire.AppendVarint(packed, uint64(i%200))
		alone = protowire.AppendVarint(protowire.AppendTag(alone, int64Data, protowire.VarintType), uint64(i*77))
	}
	for i := range 3 {
		parts = append(parts, message(4, string(bytes.Repeat([]byte{byte(i), 0, 128, 63}, 1000)))...)
	}
	initializer := func(name string, dims, dtype int, fields []byte) []byte {
		return append(message(1, dims, 2, dtype, 8, name), fields...)
	}
	var graph []byte
	for _, b := range [][]byte{
		initializer("packed", n, 2, message(5, packed)),
		initializer("alone", n, 7, alone),
		initializer("parts", 3000, 1, parts),
		initializer("wrong", n, 3, message(5, packed)),
		initializer("in place", 1000, 1, message(4, string(bytes.Repeat([]byte{0, 0, 128, 63}, 1000)))),
		initializer("nibbles", 5, 22, message(5, 0x87, 5, 0xff, 5, 0x01)),
	} {
		graph = append(graph, message(5, b)...)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, message(1, 8, 8, message(2, 13), 7, graph), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range m.Constants() {
		var got []byte
		err := c.Pieces(t.Context(), func(_ int64, b []byte) error {
			got = append(got, b...)
			return nil
		})
		if name == "wrong" {
			if want := `tensor "wrong": its number 128 is 128, which is no i8`; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		tensor, err := c.Tensor()
		if err != nil {
			t.Fatal(name, err)
		}
		if want, err := tensor.Bytes(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, and %d of the tensor (%v)", name, len(got), len(want), err)
		}
		end := errors.New("the end")
		if err := c.Pieces(t.Context(), func(int64, []byte) error { return end }); err != end {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := m.Constant("alone")
	if err != nil {
		t.Fatal(err)
	}
	// A file that is written to meanwhile may have given numbers of two states.
	touch := func() error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) }
	if err := c.Pieces(t.Context(), func(int64, []byte) error { return touch() }); !errors.Is(err, source.ErrChanged) {
		t.Errorf("written to: %v", err)
	}
	if _, err := c.Tensor(); !errors.Is(err, source.ErrChanged) {
		t.Errorf("written to: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Pieces(t.Context(), func(int64, []byte) error { return nil }); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
