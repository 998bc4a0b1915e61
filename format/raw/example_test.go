package raw_test

import (
	"fmt"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/raw"
)

func ExampleOpenArray() {
	table, err := raw.OpenArray(filepath.Join("testdata", "table.bin"), raw.Options{DType: garner.F32, Shape: []int{raw.Any, 3}, Offset: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Close()
	fmt.Println(table.Spec())
	// Output: f32[5,3]
}
