package shards_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/shards"
)

func Example() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	// Six elements of f32 in one shard; a .raw file holds the elements alone.
	shard := shards.Shard{File: "part-00001-of-00001.raw", Elements: 6}
	path := filepath.Join(dir, shard.File)
	if err := os.WriteFile(path, make([]byte, 24), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	if shard.Bytes, shard.SHA256, err = shards.Sum(context.Background(), path); err != nil {
		fmt.Println(err)
		return
	}
	m := &shards.Manifest{DType: garner.F32, Shape: garner.Shape{3, 2}, Shards: []shards.Shard{shard}}
	if err := shards.Write(dir, m); err != nil {
		fmt.Println(err)
		return
	}
	if err := shards.Finish(dir); err != nil {
		fmt.Println(err)
		return
	}

	m, err = shards.Read(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Spec(), m.ShardSpec(0), m.Shards[0].Verify(context.Background(), m.Dir()))
	// Output: f32[3,2] f32[6] <nil>
}
