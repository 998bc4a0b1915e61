package beam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/garner-go/garner/beam"
	"github.com/garner-go/garner/files"
)

// A gather on Beam's Prism, in this process. The result is a folder, which files opens as one
// array.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	job := beam.Job{
		Description: beam.Description{
			Operator: "onnx.Gather-13",
			Data:     beam.Operand{Text: "[[1, 2], [3, 4], [5, 6]]"},
			Indices:  beam.Operand{Text: "[2, -3]"},
		},
		Out: filepath.Join(dir, "rows"),
	}
	ctx := context.Background()
	if err := beam.Run(ctx, job, beam.Runner{}); err != nil {
		log.Fatal(err)
	}
	rows, closeRows, err := files.Tensor(ctx, job.Out, files.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer closeRows()
	fmt.Println(rows.Text())
	// Output: [[5, 6], [1, 2]]
}
