package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// TestBegins opens files by names that tell no format: a name without extension, one
// with an unknown extension, and a symbolic link.
func TestBegins(t *testing.T) {
	dir := t.TempDir()
	x := garner.Of([]float32{1, 2, 3, 4}, 2, 2)
	for _, f := range builtin {
		if f.Begins == nil && !f.Writes() {
			continue // a model: its own reader opens it, by its extension
		}
		from := filepath.Join(dir, "x"+f.Extensions[0])
		if f.Name == "text" {
			save(t, from, []byte("1,2\n3,4\n"))
		} else if err := Save(t.Context(), from, x, CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		b := must(os.ReadFile(from))
		for _, name := range []string{f.Name, "tmp.X" + f.Name, "a.b/" + f.Name, "link" + f.Name} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "link") {
				if err := os.Symlink(from, path); err != nil {
					t.Log(err) // Windows wants a privilege for it
					continue
				}
			} else {
				save(t, path, b)
			}
			p, err := Parse(path)
			if f.Headerless {
				if !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "is of no format that garner reads") {
					t.Errorf("%s: %v, %v", name, p, err)
				}
				continue
			}
			if err != nil || p.Format.Name != f.Name || p.Path != path || p.Name != "" || p.String() != path || p.NeedsName() {
				t.Errorf("%s: %v, %v", name, p, err)
				continue
			}
			in, err := p.Open(t.Context(), Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			got, err := in.Tensor(t.Context())
			if want := strings.ReplaceAll(x.Text(), ".0", ""); err != nil || strings.ReplaceAll(got.Text(), ".0", "") != want || len(in.Paths) != 1 || in.Paths[0] != path {
				t.Errorf("%s: %s, %v, %v; want %s", name, got, in.Paths, err, want)
			}
			in.Close()
			if list, err := p.List(t.Context(), Options{}); err != nil || len(list) != 1 || list[0].Path != path {
				t.Errorf("%s lists %v, %v", name, list, err)
			}
			// Where arrays have names, #NAME is one.
			p, err = Parse(path + "#" + f.Result)
			if f.Named != (err == nil) || f.Named && (p.Name != f.Result || p.Path != path) {
				t.Errorf("%s#%s: %+v, %v", name, f.Result, p, err)
			}
		}
	}
	// What begins as nothing that is known, is empty, or is a folder.
	save(t, filepath.Join(dir, "else"), []byte("PAR1"))
	save(t, filepath.Join(dir, "empty"), nil)
	for _, name := range []string{"else", "empty", "a.b", "none", "else#a", ""} {
		if p, err := Parse(filepath.Join(dir, name)); !errors.Is(err, garner.ErrAttribute) {
			t.Errorf("%q: %v, %v", name, p, err)
		}
	}
	// An extension that is known outranks the first bytes, and a file of the whole text
	// outranks #.
	save(t, filepath.Join(dir, "text.npy"), []byte("1\n"))
	if p := must(Parse(filepath.Join(dir, "text.npy"))); p.Format.Name != "npy" {
		t.Errorf("%v", p)
	}
	save(t, filepath.Join(dir, "a#b"), []byte("1\n"))
	if p := must(Parse(filepath.Join(dir, "a#b"))); p.Format.Name != "text" || p.Name != "" {
		t.Errorf("%v", p)
	}
	// Text can only be read whole.
	if _, err := must(Parse(filepath.Join(dir, "text"))).Open(t.Context(), Options{InPlace: true}); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// TestNoURL holds what is a URL.
func TestNoURL(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, text := range []string{"https://host/a.npy", "HTTP://host/a", "s3://b/k.safetensors#w", "x+y.z-1://a", "file:///a.npy", "hf://a/b.gguf#c"} {
		if err := NoURL(text); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), text+" is a URL") {
			t.Errorf("%s: %v", text, err)
		}
		if p, err := Parse(text); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "is a URL") {
			t.Errorf("%s: %v, %v", text, p, err)
		}
		if _, err := OpenModel(text, ModelOptions{}); !errors.Is(err, garner.ErrAttribute) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Create(t.Context(), text, garner.SpecOf(garner.U8, 1), CreateOptions{}); !errors.Is(err, garner.ErrAttribute) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "a.npy", "C://a.npy", "a/b://c", "://a", "a#b://c", "[\"https://a\"]"} {
		if err := NoURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Mkdir("none:", 0o777); err != nil {
			t.Fatal(err)
		}
		save(t, "none:/a.npy", nil)
		for _, text := range []string{"none://a.npy", "none://a.npy#b"} {
			if err := NoURL(text); err != nil {
				t.Errorf("%s is a file: %v", text, err)
			}
		}
	}
}

// TestStreams reads pipes by their paths, as a shell's <(...) gives them.
func TestStreams(t *testing.T) {
	var npy strings.Builder
	w := must(NewWriter(t.Context(), &npy, garner.SpecOf(garner.U8, 2), CreateOptions{}))
	must(w.Write([]byte{5, 6}))
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{npy.String(): "u8[2] [5, 6]", "1\n2\n": "i64[2] [1, 2]", "[1.5]\n": "f64[1] [1.5]", "x\n": ""} {
		r, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		must(pipe.WriteString(text))
		pipe.Close()
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(path); err != nil {
			t.Skip("this system has no names for pipes: ", err)
		}
		if _, err := must(Parse(path)).Open(t.Context(), Options{InPlace: true}); !errors.Is(err, ErrMemory) {
			t.Error(err) // and has read nothing
		}
		if want == "" {
			if _, err := must(Parse(path)).Open(t.Context(), Options{}); err == nil || !strings.HasPrefix(err.Error(), "garner: "+path+": the text: ") {
				t.Error(err)
			}
			continue
		}
		in, err := must(Parse(path)).Open(t.Context(), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := in.View(); !ok || got.String() != want || in.Paths[0] != path {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
		if _, err := Parse(path + "#a"); !errors.Is(err, garner.ErrAttribute) {
			t.Error(err)
		}
	}
}
