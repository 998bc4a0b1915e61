package gguf_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/garner-go/garner/format/gguf"
	"github.com/garner-go/garner/source"
)

// A fetch dequantises one row of a quantised table.
func ExampleOpenArray() {
	path := filepath.Join("testdata", "real.gguf")
	table, err := gguf.OpenArray(path, "quantised.Q8_0", gguf.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Close()
	row := make([]byte, 128*4)
	err = table.Fetch(context.Background(), source.Rows{At: []int64{2 * 128 * 4}, Size: len(row), Dst: row})
	fmt.Println(table.Spec(), err)

	blocks, err := gguf.OpenArray(path, "quantised.Q8_0", gguf.Options{Raw: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer blocks.Close()
	fmt.Println(blocks.Spec())
	// Output:
	// f32[4,128] <nil>
	// u8[4,136]
}

func ExampleOpen() {
	f, err := gguf.Open(filepath.Join("testdata", "split-00001-of-00003.gguf"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range f.Tensors()[2:4] {
		fmt.Println(t.Name, t.Kind, t.Shape, filepath.Base(t.Path))
	}
	// Output:
	// plain.f8 F64 [3,4] split-00001-of-00003.gguf
	// plain.i1 I8 [3,4] split-00002-of-00003.gguf
}
