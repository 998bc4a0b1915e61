package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/safetensors"
)

func Example() {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	file, err := os.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = safetensors.Write(file, []safetensors.Named{
		{Name: "embeddings", Tensor: garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)},
		{Name: "ids", Tensor: garner.Of([]int64{2, 0}, 2)},
	}, map[string]string{"format": "pt"})
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	model, err := safetensors.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()
	fmt.Println(model.Names(), model.Metadata())
	embeddings, err := model.Tensor("embeddings")
	fmt.Println(embeddings, err)
	// Output:
	// [ids embeddings] map[format:pt]
	// f32[3,2] [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] <nil>
}
