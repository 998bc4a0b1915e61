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

// An executor elsewhere resolves the rows of its part of the result, and fetches
// their bytes.
func ExampleResolver() {
	ctx := context.Background()
	path, remove := tableFile()
	defer remove()
	data, err := npy.OpenArray(path, npy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	indices := source.Memory(garner.Of([]int64{3, 0, 3, 1}, 4))
	plan, err := garner.NewPlan(onnx.Gather13{Axis: 0}, data.Spec(), indices.Spec())
	if err != nil {
		log.Fatal(err)
	}
	plan = plan.InOrder()
	resolver, err := source.NewResolver(plan, indices, 64<<20)
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]int64, 3) // rows 0 … 2 of the result
	if _, err := resolver.Rows(ctx, rows, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println("elements", rows)
	width := int64(plan.DType.Bits() / 8)
	for i := range rows {
		rows[i] *= width
	}
	part, err := garner.New(plan.DType, len(rows), plan.Slice)
	if err != nil {
		log.Fatal(err)
	}
	b, err := part.Bytes()
	if err != nil {
		log.Fatal(err)
	}
	if err := source.FetchRows(ctx, data, rows, plan.Slice*int(width), b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(part.Text())
	// Output:
	// elements [6 0 6]
	// [[30.0, 31.0], [0.0, 1.0], [30.0, 31.0]]
}

// Survey finds the first bad index of all, also where the indices do not fit in
// memory.
func ExampleResolver_Survey() {
	indices := source.Memory(garner.Of([]int64{3, 7, -5, 1}, 2, 2))
	plan, err := garner.NewPlan(onnx.Gather13{Axis: 0}, garner.SpecOf(garner.F32, 4, 2), indices.Spec())
	if err != nil {
		log.Fatal(err)
	}
	resolver, err := source.NewResolver(plan, indices, 64<<20)
	if err != nil {
		log.Fatal(err)
	}
	survey, err := resolver.Survey(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(survey.First)
	// Output:
	// garner: indices[0,1] = 7 is outside axis 0 of data, which has -4…3 (1 more of 4 indices is outside)
}

// Rows may be fetched in any order and with repeats; each is read once.
func ExampleFetchRows() {
	array := source.Memory(garner.Of([]uint8{0, 1, 2, 3, 4, 5, 6, 7}, 8))
	dst := []byte("..-..")[:4]
	if err := source.FetchRows(context.Background(), array, []int64{6, -1}, 2, dst); err != nil {
		log.Fatal(err)
	}
	fmt.Println(dst[:2], string(dst[2:]))
	// Output:
	// [6 7] -.
}
