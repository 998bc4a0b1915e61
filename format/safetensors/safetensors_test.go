package safetensors

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
)

func TestSmoke(t *testing.T) {
	x := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	var b bytes.Buffer
	if err := Write(&b, []Named{{"a", x}}, map[string]string{"k": "v"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := f.Tensor("a")
	if err != nil {
		t.Fatal(err)
	}
	v, err := garner.Values[float32](z)
	if err != nil || v[1] != 2 {
		t.Fatal(v, err)
	}
	_, err = f.Tensor("b")
	t.Log(err)
}
