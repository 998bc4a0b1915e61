package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
)

// left lists what stands in a folder.
func left(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	for _, e := range must(os.ReadDir(dir)) {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestCreateRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	spec := garner.SpecOf(garner.F32, 2)
	saveNpy(t, "in.npy", garner.Of([]int16{1}, 1))
	if err := os.Mkdir("folder.npy", 0o777); err != nil {
		t.Fatal(err)
	}
	inputs := CreateOptions{Inputs: []string{"in.npy"}}
	words, vague := garner.SpecOf(garner.String, 1), garner.SpecOfDims(garner.F32, garner.AnyDim)
	for _, tt := range []struct {
		path  string
		spec  garner.Spec
		o     CreateOptions
		class error
		want  string
	}{
		{"out.csv", spec, CreateOptions{}, garner.ErrAttribute, "garner: out.csv: garner reads .csv files and does not write them; it writes .npy, .npz, .safetensors, .gguf and .raw"},
		{"out", spec, CreateOptions{Format: "csv"}, garner.ErrAttribute, `garner: out: garner writes no format "csv"; it writes .npy, `},
		{"out.safetensors.index.json", spec, CreateOptions{}, garner.ErrAttribute, "garner reads .safetensors.index.json files and does not write them"},
		{"out.npy", spec, CreateOptions{Name: "a"}, garner.ErrAttribute, `garner: out.npy: an array in a .npy file has no name; leave "a" out`},
		{"./in.npy", spec, inputs, nil, "garner: cannot write ./in.npy: it is the input in.npy, which is still being read; write to another file"},
		{"in.npy", spec, CreateOptions{Inputs: []string{"i*.npy"}}, nil, "garner: cannot write in.npy: it is the input in.npy"},
		{"folder.npy", spec, CreateOptions{}, nil, "garner: cannot write folder.npy: it is a folder; name a file in it"},
		{"nosuch/out.npy", spec, CreateOptions{}, fs.ErrNotExist, "garner: cannot write nosuch/out.npy: there is no folder nosuch; make it first"},
		{"out.npy", vague, CreateOptions{}, garner.ErrShape, "f32[?]"},
		{"out.raw", words, CreateOptions{}, garner.ErrDType, "an array of string cannot be written without a header"},
		{"out.gguf", words, CreateOptions{}, garner.ErrDType, "string"},
		{"out.safetensors", garner.SpecOf(garner.U4, 3), CreateOptions{}, garner.ErrDType, "safetensors does not have"},
		{"out.npz", words, CreateOptions{Name: "../a"}, nil, "leads out of the folder"},
		{"out.npz", spec, CreateOptions{Name: "../a"}, nil, "leads out of the folder"},
		{"out.safetensors", spec, CreateOptions{Name: "__metadata__"}, nil, "no tensor can be named"},
		{"out.npy", spec, CreateOptions{Resume: true}, ErrNoResume, "out.npy cannot be continued: no Identity"},
		{"out.npz", spec, CreateOptions{Resume: true, Identity: []Fact{}}, ErrNoResume, "out.npz cannot be continued: its format"},
		{"out.npy", garner.Spec{}, CreateOptions{Resume: true, Identity: []Fact{}}, ErrNoResume, "out.npy cannot be continued: its format"},
		{"gs://b/out.npy", spec, CreateOptions{}, garner.ErrAttribute, "garner: gs://b/out.npy is a URL, and no scheme gs:// is registered; write a file and copy it there"},
	} {
		w, err := Create(t.Context(), tt.path, tt.spec, tt.o)
		if err == nil {
			w.Abort()
		}
		if err == nil || tt.class != nil && !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%s: %v; want %s", tt.path, err, tt.want)
		}
	}
	if _, err := NewWriter(t.Context(), io.Discard, spec, CreateOptions{Resume: true}); !errors.Is(err, ErrNoResume) {
		t.Error(err)
	}
	if runtime.GOOS != "windows" && os.Geteuid() != 0 { // whom no permission stops
		if err := os.Chmod("in.npy", 0o444); err != nil {
			t.Fatal(err)
		}
		_, err := Create(t.Context(), "in.npy", spec, CreateOptions{})
		refused(t, err, fs.ErrPermission, "cannot write in.npy: permission denied; ask for the permission")
	}
	if got := left(t, "."); got != "folder.npy in.npy" {
		t.Errorf("%s are left", got)
	}
}

// TestCreateWhole holds that a file that stands there is replaced by Commit and
// by nothing else.
func TestCreateWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.npy")
	save(t, path, []byte("as it was"))
	x := garner.Of([]uint8{1, 2, 3}, 3)
	create := func(ctx context.Context) *Writer { return must(Create(ctx, path, x.Spec(), CreateOptions{})) }
	asItWas := func(why string) {
		t.Helper()
		if b := must(os.ReadFile(path)); string(b) != "as it was" || left(t, dir) != "out.npy" {
			t.Errorf("%s: the file is %q, and there are %s", why, b, left(t, dir))
		}
	}
	w := create(t.Context())
	must(w.Write([]byte{1, 2}))
	if w.Keep() != 0 {
		t.Error("a file without an Identity was kept")
	}
	asItWas("Keep")
	w = create(t.Context())
	must(w.Write([]byte{1, 2, 3}))
	w.Abort()
	w.Abort()
	asItWas("Abort")
	if err := w.Commit(); err == nil {
		t.Error("it was committed after Abort")
	}
	asItWas("Commit after Abort")

	w = create(t.Context())
	must(w.Write([]byte{1, 2}))
	refused(t, w.Commit(), garner.ErrShape, "the last 1 bytes of u8[3] are missing")
	asItWas("too few")
	w = create(t.Context())
	_, err := w.Write([]byte{1, 2, 3, 4})
	refused(t, err, garner.ErrShape, "more bytes came than u8[3] has")
	w.Abort()
	asItWas("too many")
	w = create(t.Context())
	refused(t, w.Put(garner.Of([]int8{1, 2, 3}, 3)), garner.ErrDType, "i8[3] was put into a file of u8[3]")
	refused(t, w.Put(garner.Of([]uint8{1, 2, 3}, 3, 1)), garner.ErrShape, "u8[3,1] was put into a file of u8[3]")
	w.Abort()
	asItWas("another tensor")

	ctx, cancel := context.WithCancelCause(t.Context())
	w = create(ctx)
	cancel(fs.ErrClosed)
	if err := w.Put(x); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	w.Abort()
	asItWas("cancelled")

	if err := Save(t.Context(), path, x, CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := must(npy.Read(bytes.NewReader(must(os.ReadFile(path))), npy.Options{})); got.Text() != "[1, 2, 3]" || left(t, dir) != "out.npy" {
		t.Error(got, left(t, dir))
	}
}

// TestStrings writes strings, in the formats that have them.
func TestStrings(t *testing.T) {
	dir := t.TempDir()
	x := garner.Of([]string{"a", "bc"}, 2)
	for file, descr := range map[string]string{"a.npy": "", "b.npy": "|S2", "c.npz": "", "d.npz": "|S2"} {
		path := filepath.Join(dir, file)
		if err := Save(t.Context(), path, x, CreateOptions{Descr: descr}); err != nil {
			t.Fatal(err)
		}
		in := must(open(path, Options{}))
		if got := must(in.Tensor(t.Context())).Text(); got != `["a", "bc"]` || descr != "" && in.Descr != descr {
			t.Errorf("%s: %s, %s", file, got, in.Descr)
		}
		in.Close()
	}
	path := filepath.Join(dir, "a.npy")
	w := must(Create(t.Context(), path, x.Spec(), CreateOptions{}))
	_, err := w.Write([]byte("a"))
	refused(t, err, nil, "use Put")
	w.Abort()
	refused(t, Save(t.Context(), filepath.Join(dir, "a.raw"), x, CreateOptions{}), garner.ErrDType, "without a header")
	w = must(Create(t.Context(), filepath.Join(dir, "late.raw"), garner.Spec{}, CreateOptions{}))
	_, err = w.Write([]byte("a"))
	refused(t, err, nil, "use Put")
	refused(t, w.Put(x), garner.ErrDType, "without a header")
	w.Abort()
	if got := left(t, dir); got != "a.npy b.npy c.npz d.npz" {
		t.Error(got)
	}
}

// TestResume interrupts a file after each of its bytes, and goes on.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	nibbles := must(garner.FromBytes(garner.U4, []byte{0x21, 0x43, 0x05}, 5))
	for file, x := range map[string]garner.Tensor{
		"a.npy": garner.Of([]uint16{1, 2, 3}, 3), "b.npy": nibbles, "c.raw": nibbles, "d.gguf": garner.Of([]float32{1, 2}, 2),
		"e.safetensors": garner.Of([]int8{1, 2, 3}, 3), "f.raw": garner.Of([]int8{}, 0),
	} {
		path := filepath.Join(dir, file)
		if err := Save(t.Context(), path, x, CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		whole := must(os.ReadFile(path))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		id := []Fact{{"the table", "v1"}}
		elements := bytesOf(x)
		for n := range len(elements) + 1 {
			w := must(Create(t.Context(), path, x.Spec(), CreateOptions{Identity: id}))
			if !w.Resumable() || w.Resumed() || w.Discarded() || w.From() != 0 {
				t.Fatalf("%s: %+v", file, w)
			}
			if n > 0 {
				must(w.Write(elements[:n]))
			}
			kept := w.Keep()
			if kept > 0 {
				_, err := Create(t.Context(), path, x.Spec(), CreateOptions{Identity: []Fact{{"the table", "v2"}}, Resume: true})
				refused(t, err, ErrKept, "was begun with something else: the table: then v1, now v2")
				_, err = Create(t.Context(), path, garner.SpecOf(x.DType(), 9, 8), CreateOptions{Identity: id, Resume: true})
				refused(t, err, ErrKept, "was begun with something else: the result: then "+x.Spec().String())
			}
			var first int64
			w = must(Create(t.Context(), path, x.Spec(), CreateOptions{Identity: id, Resume: true, Progress: func(done, total int64) {
				if first == 0 {
					first = done
				}
				if total != int64(len(whole)) {
					t.Errorf("%s: of %d bytes", file, total)
				}
			}}))
			bits := x.DType().Bits()
			if w.Resumed() != (kept > 0) || w.From() > int64(n) || kept > 0 && n >= max(bits/8, 1) && w.From() == 0 {
				t.Errorf("%s after %d bytes: it goes on from %d, %d were kept", file, n, w.From(), kept)
			}
			if rest := w.Rest(); rest.End != int64(x.Len()) || rest.First != min(w.From()*8/int64(bits), rest.End) || w.From()*8%int64(bits) != 0 {
				t.Errorf("%s after %d bytes: from byte %d it goes on with elements %+v", file, n, w.From(), rest)
			}
			from := w.From()
			if from < int64(len(elements)) {
				must(w.Write(elements[from:]))
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			if from > 0 && first != 0 && first < kept {
				t.Errorf("%s: progress begins with %d, and %d were kept", file, first, kept)
			}
			if got := must(os.ReadFile(path)); !bytes.Equal(got, whole) || left(t, dir) != file {
				t.Errorf("%s after %d bytes: %q, want %q; there are %s", file, n, got, whole, left(t, dir))
			}
		}
		// Without Resume what is left is thrown away.
		w := must(Create(t.Context(), path, x.Spec(), CreateOptions{Identity: id}))
		if len(elements) > 0 {
			must(w.Write(elements[:1]))
			_, err := Create(t.Context(), path, x.Spec(), CreateOptions{Identity: id})
			refused(t, err, nil, "another garner is writing it")
		}
		kept := w.Keep()
		w = must(Create(t.Context(), path, x.Spec(), CreateOptions{Identity: id}))
		if w.Discarded() != (kept > 0) {
			t.Errorf("%s: %d were kept, and discarded: %v", file, kept, w.Discarded())
		}
		w.Abort()
		// A small file is not worth it.
		w = must(Create(t.Context(), path, x.Spec(), CreateOptions{Identity: id, ResumeFrom: int64(len(whole)) + 1}))
		if w.Resumable() {
			t.Errorf("%s is resumable", file)
		}
		w.Abort()
		os.Remove(path)
	}
}

// TestResumeWhole goes on with files whose run ended between the rename and the
// removal of the journal, and with files whose last bytes are damaged.
func TestResumeWhole(t *testing.T) {
	dir := t.TempDir()
	nibbles := must(garner.FromBytes(garner.U4, []byte{0x21, 0x43, 0x05}, 5))
	for file, x := range map[string]garner.Tensor{
		"a.npy": garner.Of([]uint16{1, 2, 3}, 3), "b.npy": nibbles, "c.raw": nibbles, "d.gguf": garner.Of([]float32{1, 2}, 2),
		"e.safetensors": garner.Of([]int8{1, 2, 3}, 3),
	} {
		path := filepath.Join(dir, file)
		part, journal := filepath.Join(dir, ".garner-"+file+".part"), filepath.Join(dir, ".garner-"+file+".resume")
		o := CreateOptions{Identity: []Fact{{"the table", "v1"}}, Resume: true}
		elements := bytesOf(x)
		var w *Writer
		var noted []byte
		for bytes.Count(noted, []byte("\n")) != 2 { // a machine that halts for a second makes a line of the header too
			os.Remove(journal)
			w = must(Create(t.Context(), path, x.Spec(), o))
			must(w.Write(elements))
			if err := w.end(); err != nil {
				t.Fatal(err)
			}
			if kept := w.Keep(); kept != w.Size() {
				t.Fatalf("%s: %d bytes are kept", file, kept)
			}
			noted = must(os.ReadFile(journal))
		}
		if err := os.Rename(part, path); err != nil {
			t.Fatal(err)
		}
		whole := must(os.ReadFile(path))

		w = must(Create(t.Context(), path, x.Spec(), o))
		if !w.Resumed() || w.Discarded() || w.From() != int64(len(elements)) {
			t.Errorf("%s: resumed %v from %d", file, w.Resumed(), w.From())
		}
		if err := w.Commit(); err != nil {
			t.Error(err)
		}
		if got := must(os.ReadFile(path)); !bytes.Equal(got, whole) || left(t, dir) != file {
			t.Errorf("%s: %q, want %q; there are %s", file, got, whole, left(t, dir))
		}

		// The journal's only line does not hold.
		damaged := bytes.Clone(whole)
		damaged[len(damaged)-1] ^= 1
		save(t, part, damaged)
		save(t, journal, noted)
		var told int64
		o.Checked = func(done, total int64) { told = max(told, done+total) }
		w = must(Create(t.Context(), path, x.Spec(), o))
		if w.Resumed() || !w.Discarded() || w.From() != 0 || told != 2*int64(len(whole)) {
			t.Errorf("%s: resumed %v from %d, discarded %v, told %d", file, w.Resumed(), w.From(), w.Discarded(), told)
		}
		must(w.Write(elements))
		if err := w.Commit(); err != nil {
			t.Error(err)
		}
		if got := must(os.ReadFile(path)); !bytes.Equal(got, whole) || left(t, dir) != file {
			t.Errorf("%s: %q, want %q; there are %s", file, got, whole, left(t, dir))
		}
		os.Remove(path)
	}
}

// TestCreatePipe writes to a file that is none on a disk.
func TestCreatePipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such files")
	}
	x := garner.Of([]uint8{1, 2, 3}, 3)
	if err := Save(t.Context(), os.DevNull, x, CreateOptions{Format: "npy", Identity: []Fact{}}); err != nil {
		t.Error(err)
	}
	_, err := Create(t.Context(), os.DevNull, x.Spec(), CreateOptions{Format: "npy", Identity: []Fact{}, Resume: true})
	refused(t, err, ErrNoResume, "is no file on a disk, and what went into it is gone; name a file")
}
