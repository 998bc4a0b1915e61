package npz_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npz"
)

func Example() {
	dir, err := os.MkdirTemp("", "npz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.npz")

	file, err := os.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = npz.Write(file, []npz.Named{
		{Name: "table", Tensor: garner.Of([]float32{1, 2, 3, 4}, 2, 2)},
		{Name: "words", Tensor: garner.Of([]string{"ant", "bee"}, 2)},
	})
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	opened, err := npz.Open(path, npz.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer opened.Close()
	for _, name := range opened.Names() {
		a, err := opened.Array(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(a.Name, a.Descr, a.Tensor)
	}
	// Output:
	// table <f4 f32[2,2] [[1.0, 2.0], [3.0, 4.0]]
	// words <U3 string[2] ["ant", "bee"]
}
