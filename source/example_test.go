package source_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/source"
)

// tableFile is a .npy file of four rows.
func tableFile() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "table.npy")
	var b bytes.Buffer
	if err := npy.Write(&b, garner.Of([]float32{0, 1, 10, 11, 20, 21, 30, 31}, 4, 2)); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// A table is opened once and serves batches of rows from then on.
func Example() {
	path, remove := tableFile()
	defer remove()
	array, err := npy.OpenArray(path, npy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer array.Close()
	table, err := source.NewTable(array)
	if err != nil {
		log.Fatal(err)
	}
	ids, rows := []int32{3, 0, 3}, make([]float32, 3*2)
	if err := source.LookupValues(context.Background(), table, ids, rows); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows)
	fmt.Println(source.LookupValues(context.Background(), table, []int32{4}, rows[:2]))
	// Output:
	// [30 31 0 1 30 31]
	// garner: indices[0] = 4 is outside axis 0 of data, which has 0…3
}

// Every operator runs over arrays that are larger than memory, and writes its
// result block by block.
func ExampleGather() {
	path, remove := tableFile()
	defer remove()
	data, err := npy.OpenArray(path, npy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	indices := source.Memory(garner.Of([]int64{-1, 1}, 2))
	var out bytes.Buffer
	if err := source.Gather(context.Background(), onnx.Gather13{Axis: 0}, data, indices, &out, source.Options{Memory: 64 << 20}); err != nil {
		log.Fatal(err)
	}
	rows, err := garner.FromBytes(garner.F32, out.Bytes(), 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Text())
	// Output:
	// [[30.0, 31.0], [10.0, 11.0]]
}
