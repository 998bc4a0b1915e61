package gguf_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gguf"
)

// A row of Q8_0 is blocks of 34 bytes: a scale of f16, and 32 codes of i8.
func ExampleGetRows() {
	block := make([]byte, 34)
	block[1] = 0x38              // 0.5
	block[2], block[3] = 3, 0xff // 3 and -1
	rows, err := garner.Gather(gguf.GetRows{Type: "Q8_0"}, garner.Of(block, 1, 34), garner.Of([]int64{0}, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows.Slice(1, 0, 3, 1))
	// Output: f32[1,3] [[1.5, -0.5, 0.0]] <nil>
}
