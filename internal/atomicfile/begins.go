package atomicfile

import (
	"bytes"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// beginsAs reports whether a file may be a model as those of an extension are, by its first bytes: Uses of a
// PairOptions reads all of a file.
func beginsAs(extension, path string, size int64) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() // it was only read
	head := make([]byte, 64)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	if head = head[:n]; strings.EqualFold(extension, ".onnx") {
		return onnxBegins(head, size)
	}
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"), []byte("<"))
}

// onnxFields are the fields of ONNX's ModelProto, in any order.
var onnxFields = map[protowire.Number]protowire.Type{
	1: protowire.VarintType, 5: protowire.VarintType, // ir_version, model_version
	2: protowire.BytesType, 3: protowire.BytesType, 4: protowire.BytesType, 6: protowire.BytesType,
	7: protowire.BytesType, 8: protowire.BytesType, 14: protowire.BytesType, 20: protowire.BytesType, 25: protowire.BytesType, 26: protowire.BytesType,
}

// onnxBegins reports whether the fields in the head of a file of a size can be those of a model.
func onnxBegins(head []byte, size int64) bool {
	for fields, left := 0, size; ; fields++ {
		number, kind, n := protowire.ConsumeTag(head)
		if n < 0 { // the head ends here, or there is no tag
			return fields > 0 && len(head) < 10
		}
		if is, ok := onnxFields[number]; !ok || is != kind {
			return false
		}
		v, length := protowire.ConsumeVarint(head[n:])
		if length < 0 {
			return fields > 0
		}
		n += length
		left -= int64(n)
		if kind == protowire.BytesType {
			if v > uint64(max(left, 0)) {
				return false
			}
			if left -= int64(v); v >= uint64(len(head)-n) {
				return true
			}
			n += int(v)
		}
		head = head[n:]
	}
}
