package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
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

// TestStreamsOfFiles reads streams of formats that are read from files alone, an empty
// stream, and one that takes more memory than it may.
func TestStreamsOfFiles(t *testing.T) {
	dir := t.TempDir()
	x := garner.Of([]float32{1, 2, 3, 4}, 2, 2)
	for _, f := range builtin {
		if f.Begins == nil || f.Name == "npy" || f.Name == "text" {
			continue
		}
		path := filepath.Join(dir, "x"+f.Extensions[0])
		if err := Save(t.Context(), path, x, CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		b := must(os.ReadFile(path))
		for _, r := range []io.Reader{bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b)), bytes.NewReader(b[:9])} {
			want := "garner: the stream begins as a " + f.Extensions[0] + " file, which cannot be read from a stream; save it, and name it as FILE" + f.Extensions[0] + "#NAME"
			if _, err := Read(r, Options{}); !errors.Is(err, npy.ErrFormat) || err.Error() != want {
				t.Errorf("%s: %v; want %s", f.Name, err, want)
			}
		}
	}
	onnx, xml := "../testdata/models/hash.onnx", "../testdata/models/beam.xml"
	for head, want := range map[string]string{
		string(must(os.ReadFile(onnx))):            "begins as a .onnx file, which cannot be read from a stream; save it, and name it as FILE.onnx#NAME",
		string(must(os.ReadFile(xml))):             "begins as a .xml file, which cannot be read from a stream; save it, and name it as FILE.xml#NAME",
		"\x08\x0a\x3a\x02":                         "begins as a .onnx file",
		"<net name=\"a\" version=\"11\">":          "begins as a .xml file",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03": "is compressed by gzip; send what \"gzip -dc\" makes of it",
		"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00":     "is compressed by zstd; send",
		"\xfd7zXZ\x00\x00\x04":                     "is compressed by xz; send",
		"BZh91AY&SY":                               "is compressed by bzip2; send",
		"\x93NUMPY":                                "the npy stream: it ends after 6 bytes, inside the header; it was cut short",
		"\x93NUM":                                  "the npy stream: it ends after 4 bytes, inside the header; it was cut short",
		"\x93NUMPY\x01":                            "the npy stream: it ends after 7 bytes, inside the header; it was cut short",
	} {
		if _, err := Read(strings.NewReader(head), Options{}); !errors.Is(err, npy.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v; want %s", head, err, want)
		}
	}
	if _, err := Read(strings.NewReader(""), Options{}); !errors.Is(err, npy.ErrFormat) || err.Error() != "garner: the stream is empty; send a .npy, integers as text, or a literal such as [1, 2]" {
		t.Error(err)
	}
	if _, err := Read(iotest.ErrReader(io.ErrClosedPipe), Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	// A terminal goes on behind the end of what is typed.
	typed := &pausing{"1\n", "", "2\n"}
	if in, err := Read(typed, Options{}); err != nil || in.Spec().String() != "i64[1]" || len(*typed) != 1 {
		t.Errorf("%v, %q is left", err, *typed)
	}
	// Nothing behind a .npy is read.
	var one bytes.Buffer
	if err := npy.Write(&one, garner.Of([]uint8{7}, 1)); err != nil {
		t.Fatal(err)
	}
	one.WriteString("rest")
	if in, err := Read(&one, Options{}); err != nil || in.Spec().String() != "u8[1]" || one.String() != "rest" {
		t.Errorf("%v, %q", err, one.String())
	}
	for text, least := range map[string]int64{strings.Repeat("1\n", 1000): 16000, string(must(os.ReadFile(bigEndian(t, dir)))): 8000} {
		if in, err := Read(strings.NewReader(text), Options{Memory: least}); err != nil || in.Memory() != 8000 {
			t.Errorf("%d, %v", in.Memory(), err)
		}
		if _, err := Read(strings.NewReader(text), Options{Memory: least - 1}); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	}
}

// A pausing reader reads one text after the other; "" is an end, behind which others come.
type pausing []string

func (p *pausing) Read(b []byte) (int, error) {
	text := (*p)[0]
	*p = (*p)[1:]
	if text == "" {
		return 0, io.EOF
	}
	return copy(b, text), nil
}

// bigEndian is a .npy of 1,000 integers that is read into memory.
func bigEndian(t *testing.T, dir string) string {
	var b bytes.Buffer
	if err := npy.Write(&b, garner.Of(make([]int64, 1000), 1000)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "big.npy")
	save(t, path, bytes.Replace(b.Bytes(), []byte("<i8"), []byte(">i8"), 1))
	return path
}

// TestMemoryAllowed opens what is read whole, and what is read in place, with little memory.
func TestMemoryAllowed(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "ids.csv"), []byte(strings.Repeat("1,2\n", 500)))
	words := filepath.Join(dir, "words.npy")
	if err := Save(t.Context(), words, garner.Of([]string{"ab", "c"}, 2), CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	numbers := filepath.Join(dir, "numbers.npy")
	if err := Save(t.Context(), numbers, garner.Of(make([]int64, 1000), 1000), CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ least, takes int64 }{
		filepath.Join(dir, "ids.csv"): {16000, 8000},
		words:                         {48, 35},
		numbers:                       {1, 0},
		bigEndian(t, dir):             {1, 0}, // in place, as long as nothing reads it whole
	} {
		in, err := must(Parse(path)).Open(t.Context(), Options{Memory: want.least})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := in.Memory(); got != want.takes {
			t.Errorf("%s takes %d bytes, want %d", path, got, want.takes)
		}
		if path == filepath.Join(dir, "big.npy") {
			if _, err := in.Tensor(t.Context()); err != nil || in.Memory() != 8000 {
				t.Errorf("%s takes %d bytes, %v", path, in.Memory(), err)
			}
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if want.takes == 0 {
			continue
		}
		if _, err := must(Parse(path)).Open(t.Context(), Options{Memory: want.least - 1}); !errors.Is(err, ErrTooLarge) || !strings.HasPrefix(err.Error(), "garner: "+path+": ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestStreams reads pipes by their paths, as a shell's <(...) gives them.
func TestStreams(t *testing.T) {
	var array strings.Builder
	w := must(NewWriter(t.Context(), &array, garner.SpecOf(garner.U8, 2), CreateOptions{}))
	must(w.Write([]byte{5, 6}))
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{array.String(): "u8[2] [5, 6]", "1\n2\n": "i64[2] [1, 2]", "[1.5]\n": "f64[1] [1.5]", "x\n": ""} {
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
		if _, err := must(Parse(path)).Open(t.Context(), Options{Shape: []int{AnyExtent}}); !errors.Is(err, garner.ErrAttribute) || !strings.HasPrefix(err.Error(), "garner: "+path+" is a pipe or a device, of which .npy and text are read; ") {
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
		if _, err := Parse(path + "#a"); !errors.Is(err, garner.ErrAttribute) || errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "#a: a pipe holds one array, which has no name; leave #a out") {
			t.Error(err)
		}
	}
}
