package files_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// Rows of a table that stays in its file go into another file, which appears
// when all of them are written.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	err = files.Save(ctx, filepath.Join(dir, "table.safetensors"), garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), files.CreateOptions{Name: "weights"})
	if err != nil {
		log.Fatal(err)
	}

	weights, err := files.Open(ctx, filepath.Join(dir, "table.safetensors#weights"), files.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer weights.Close()
	ids := source.Memory(garner.Of([]int64{2, 0}, 2))
	op := onnx.Gather13{}
	spec, err := garner.Infer(op, weights.Spec(), ids.Spec())
	if err != nil {
		log.Fatal(err)
	}
	out, err := files.Create(ctx, filepath.Join(dir, "rows.npy"), spec, files.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer out.Abort() // does nothing after Commit
	if err := source.Gather(ctx, op, weights, ids, out, source.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		log.Fatal(err)
	}

	rows, done, err := files.Tensor(ctx, filepath.Join(dir, "rows.npy"), files.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer done()
	fmt.Println(rows.Text())
	// Output: [[5.0, 6.0], [1.0, 2.0]]
}

func ExampleOpen() {
	ctx := context.Background()
	weights, err := files.Open(ctx, "../format/safetensors/testdata/model.safetensors.index.json#embed", files.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer weights.Close()
	table, err := source.NewTable(weights)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(weights.Spec(), table.Len(), "rows of", table.RowBytes(), "bytes")
	// Output: f32[4,3] 4 rows of 12 bytes
}

// Elements alone do not say what they are.
func ExampleTensor() {
	t, done, err := files.Tensor(context.Background(), "../format/raw/testdata/table.bin", files.Options{
		DType: garner.F32, Shape: []int{files.AnyExtent, 3}, Offset: 4,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer done() // t is a view of the mapped file
	fmt.Println(t)
	// Output: f32[5,3] [[0.0, 0.25, 0.5], [0.75, 1.0, 1.25], [1.5, 1.75, 2.0], [2.25, 2.5, 2.75], [3.0, 3.25, 3.5]]
}

func ExampleList() {
	list, err := files.List(context.Background(), "../format/safetensors/testdata/plain.safetensors", files.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range list {
		fmt.Println(a.Name, a.Kind, a.Shape, a.Bytes, "bytes")
	}
	// Output:
	// b F32 [2,3] 24 bytes
	// a I8 [5] 5 bytes
}

func ExampleOpenModel() {
	m, err := files.OpenModel("../testdata/models/hash.onnx", files.ModelOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for n := range m.Gathers() {
		fmt.Println(n.Name, n.Operator, n.Outputs[0].Type())
	}
	// Output: node_embedding onnx.Gather-13 f32[s23,s27,6]
}

// An interrupted file is resumed by a run that is made of the same things.
func ExampleCreate_resume() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rows.npy")
	o := files.CreateOptions{Identity: []files.Fact{{What: "the table", Value: "weights of 3 May"}}, Resume: true}

	begun, err := files.Create(ctx, path, garner.SpecOf(garner.U8, 4), o)
	if err != nil {
		log.Fatal(err)
	}
	begun.Write([]byte{1, 2})
	begun.Keep()

	again, err := files.Create(ctx, path, garner.SpecOf(garner.U8, 4), o)
	if err != nil {
		log.Fatal(err)
	}
	defer again.Abort()
	fmt.Println("resumed:", again.Resumed(), "with", again.Rest()) // a gather's source.Options.Range
	again.Write([]byte{3, 4})
	fmt.Println(again.Commit())
	// Output:
	// resumed: true with {2 4}
	// <nil>
}

// A scheme opens URLs: here, tables that are computed.
func ExampleRegisterScheme() {
	files.RegisterScheme(files.Scheme{
		Name: "range",
		Open: func(_ context.Context, url, _ string, _ files.Options) (*files.Input, error) {
			var n int
			if _, err := fmt.Sscanf(url, "range://%d", &n); err != nil {
				return nil, garner.Errorf(err, "%s is no range; write range://10", url)
			}
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(i)
			}
			return files.Hold(garner.Of(values, n)), nil
		},
	})
	table, done, err := files.Tensor(context.Background(), "range://10", files.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer done()
	out, err := garner.Gather(strict.Gather{}, table, garner.Of([]int64{9, 3}, 2))
	fmt.Println(out.Text(), err)
	// Output: [9, 3] <nil>
}

// The formats that are there, registered ones too.
func ExampleFormats() {
	var names []string
	for _, f := range files.Formats() {
		names = append(names, f.Name)
	}
	fmt.Println(slices.Contains(names, "npy"), slices.Contains(names, "gguf"))
	// Output: true true
}
