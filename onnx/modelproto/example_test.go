package modelproto_test

import (
	"context"
	"fmt"
	"log"

	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/source"
)

// The embedding of a model serves rows without the model being loaded: its
// elements stay in the mapped file.
func Example() {
	m, err := modelproto.Open("testdata/torch_embedding_external.onnx")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	embed, err := m.Find("node_embedding")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(embed.Operator, embed.Outputs[0])
	words, err := embed.Inputs[0].Constant.Array()
	if err != nil {
		log.Fatal(err)
	}
	table, err := source.NewTable(words)
	if err != nil {
		log.Fatal(err)
	}
	ids, rows := []int64{7, 7}, make([]float32, 2*8)
	if err := source.LookupValues(context.Background(), table, ids, rows); err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Len(), "rows of", table.RowBytes(), "bytes;", rows[0] == rows[8])
	// Output:
	// onnx.Gather-13 embedding f32[2,3,8]
	// 50 rows of 32 bytes; true
}
