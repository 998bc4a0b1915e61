package npy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
)

func Example() {
	dir, err := os.MkdirTemp("", "npy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.npy")

	file, err := os.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = npy.Write(file, garner.Of([]float32{1, 2, 3, 4}, 2, 2))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	opened, err := npy.Open(path, npy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer opened.Close()
	fmt.Println(opened.Descr(), opened.Tensor())
	// Output: <f4 f32[2,2] [[1.0, 2.0], [3.0, 4.0]]
}

// The header of a bfloat16 array of ml_dtypes gives only the size of an element, two
// bytes.
func ExampleRead() {
	var stream bytes.Buffer
	if err := npy.Write(&stream, garner.Of([]garner.BFloat16{0x3f80, 0x4000}, 2)); err != nil {
		fmt.Println(err)
		return
	}
	saved := stream.Bytes()
	_, err := npy.Read(bytes.NewReader(saved), npy.Options{})
	fmt.Println(err)
	t, err := npy.Read(bytes.NewReader(saved), npy.Options{DType: garner.BF16})
	fmt.Println(t, err)
	// Output:
	// garner: the npy stream: its dtype "|V2" does not say what its bytes mean; give the dtype (Options.DType bf16, f8e4m3fn, i4 …)
	// bf16[2] [1.0, 2.0] <nil>
}

func ExampleWriteStrings() {
	var b bytes.Buffer
	if err := npy.WriteStrings(&b, garner.Of([]string{"ab", "c"}, 2), "|S4"); err != nil {
		fmt.Println(err)
		return
	}
	f, err := npy.OpenReader(&b, npy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Descr(), f.Tensor())
	// Output: |S4 string[2] ["ab", "c"]
}
