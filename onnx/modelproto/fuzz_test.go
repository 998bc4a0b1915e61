package modelproto

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

// FuzzTensor holds that no bytes make a tensor larger than they are, and that
// what is read is what was written.
func FuzzTensor(f *testing.F) {
	files, err := filepath.Glob("../../testdata/onnx/gather_13_*/test_data_set_*/output_0.pb")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	numbers := map[garner.DType]int32{}
	for number := range onnxpb.TensorProto_DataType_name {
		dtype, err := dtypeOf(number)
		if err != nil {
			f.Fatal(err)
		}
		numbers[dtype] = number
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		_, made, err := Tensor(message)
		if err != nil {
			return
		}
		p := &onnxpb.TensorProto{DataType: proto.Int32(numbers[made.DType()])}
		for _, d := range made.Shape() {
			p.Dims = append(p.Dims, int64(d))
		}
		if made.DType() == garner.String {
			values, err := garner.Values[string](made)
			if err != nil || len(values) > len(message) {
				t.Fatalf("%d strings of %d bytes, %v", len(values), len(message), err)
			}
			for _, s := range values {
				p.StringData = append(p.StringData, []byte(s))
			}
		} else {
			b, err := made.Bytes()
			if err != nil || len(b) > 8*len(message) {
				t.Fatalf("%d bytes of %d, %v", len(b), len(message), err)
			}
			p.RawData = b
		}
		_, again, err := Tensor(marshaled(t, p))
		if err != nil || again.DType() != made.DType() || !again.Shape().Equal(made.Shape()) || made.Len() > 0 && again.Text() != made.Text() {
			t.Errorf("%v comes back as %v, %v", made.Spec(), again.Spec(), err)
		}
	})
}
