package files

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/garner-go/garner"
)

// TestProtected writes onto every file that an operand's model consists of, by its
// own name and through links: each is refused, whether the operand or the Paths of
// its Input are the Inputs, and each stays as it was.
func TestProtected(t *testing.T) {
	dir := t.TempDir()
	format := func(name string) string { return filepath.Join("..", "format", name) }
	take := func(from string) {
		t.Helper()
		save(t, filepath.Join(dir, filepath.Base(from)), must(os.ReadFile(from)))
	}
	gguf := []string{"split-00001-of-00003.gguf", "split-00002-of-00003.gguf", "split-00003-of-00003.gguf"}
	shards := []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}
	for _, name := range gguf {
		take(format("gguf/testdata/" + name))
	}
	for _, name := range append(shards, "model.safetensors.index.json", "plain.safetensors") {
		take(format("safetensors/testdata/" + name))
	}
	for _, name := range []string{"mlp.onnx", "mlp.data", "bert.xml", "bert.bin"} {
		take("../testdata/models/" + name)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	parts := []string{"part-1.npy", "part-2.npy", "part-10.npy"}
	for _, name := range parts {
		saveNpy(t, filepath.Join(dir, name), garner.Of([]int16{1, 2}, 1, 2))
	}
	save(t, filepath.Join(dir, "folder.npy"), nil)
	if err := Save(t.Context(), filepath.Join(dir, "one.npz"), garner.Of([]int16{1}, 1), CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(dir, "sub", "linked.safetensors")
	links := os.Symlink(filepath.Join("..", shards[0]), elsewhere) == nil
	if !links && runtime.GOOS != "windows" {
		t.Error("this system makes no links")
	}
	cases := []struct {
		operand string
		files   []string
	}{
		{gguf[0] + "#plain.i8", gguf},
		{gguf[2] + "#plain.f4", gguf},
		{"model.safetensors.index.json#norm", shards},
		{shards[0] + "#embed", shards},
		{shards[1] + "#head", shards},
		{"part-*.npy", parts},
		{"bert.xml#self.tok.weight_compressed", []string{"bert.bin"}},
		{"one.npz#arr_0", []string{"one.npz"}},
		{"one.npz", []string{"one.npz"}},
	}
	if links {
		cases = append(cases, struct {
			operand string
			files   []string
		}{"sub/linked.safetensors#embed", shards})
	}
	spec := garner.SpecOf(garner.F32, 2)
	for _, tt := range cases {
		operand := filepath.Join(dir, filepath.FromSlash(tt.operand))
		in := must(open(operand, Options{}))
		for _, name := range tt.files {
			victim := filepath.Join(dir, name)
			before := must(os.ReadFile(victim))
			names := []string{victim, filepath.Join(dir, "sub", "..", name)}
			for i, make := range []func(old, new string) error{os.Link, os.Symlink} {
				link := filepath.Join(dir, "sub", string(rune('a'+i))+filepath.Ext(name))
				if make(victim, link) == nil {
					names = append(names, link)
				}
			}
			for _, path := range names {
				for _, inputs := range [][]string{{operand}, in.Paths} {
					w, err := Create(t.Context(), path, spec, CreateOptions{Inputs: inputs})
					if err == nil {
						w.Abort()
					}
					refused(t, err, nil, "cannot write "+path+": it is the input ")
				}
			}
			for _, link := range names[2:] {
				os.Remove(link)
			}
			if after := must(os.ReadFile(victim)); !bytes.Equal(after, before) {
				t.Errorf("%s has changed", victim)
			}
		}
		for _, free := range []string{"new.npy", "folder.npy", "plain.safetensors", "new-00001-of-00003.gguf"} {
			w, err := Create(t.Context(), filepath.Join(dir, free), spec, CreateOptions{Inputs: []string{operand}})
			if err != nil {
				t.Errorf("%s beside %s: %v", free, tt.operand, err)
				continue
			}
			w.Abort()
		}
		in.Close()
	}

	if got, want := FilesOf(filepath.Join(dir, "mlp.onnx#emb.weight")), filepath.Join(dir, "mlp.data"); !slices.Contains(got, want) {
		t.Errorf("%q lacks %s", got, want)
	}

	// A folder is an input as a whole; formats of other modules have such.
	for _, path := range []string{"sub/new.npy", "sub/../sub/new.npy"} {
		_, err := Create(t.Context(), filepath.Join(dir, path), spec, CreateOptions{Inputs: []string{filepath.Join(dir, "sub")}})
		refused(t, err, nil, "it lies in the input "+filepath.Join(dir, "sub"))
	}
	// Of what cannot be read, the file itself is protected.
	for _, name := range []string{"bad-00001-of-00002.gguf", "bad.safetensors.index.json", "bad.npz"} {
		save(t, filepath.Join(dir, name), []byte("x"))
		if got := FilesOf(filepath.Join(dir, name)); len(got) != 1 {
			t.Errorf("%s has %q", name, got)
		}
	}
	if got := FilesOf("gs://b/a.npy", "[1,2]", filepath.Join(dir, "none.npy"), filepath.Join(dir, "none-*.npy")); len(got) != 4 {
		t.Errorf("%q", got)
	}
}
