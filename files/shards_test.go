package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// shardsOf cuts an array into shards of some elements each and writes the folder. names
// are those of the files; "" is shards.FileName.
func shardsOf(t *testing.T, dir string, x garner.Tensor, counts []int, names ...string) *shards.Manifest {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	m := &shards.Manifest{DType: x.DType(), Shape: x.Shape()}
	b, from := bytesOf(x), 0
	for i, n := range counts {
		name := shards.FileName(x.DType(), i, len(counts))
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		to := min(len(b), from+(n*x.DType().Bits()+7)/8)
		path := filepath.Join(dir, name)
		if err := Save(t.Context(), path, must(garner.FromBytes(x.DType(), b[from:to], n)), CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		from = to
		s := shards.Shard{File: name, Elements: int64(n)}
		s.Bytes, s.SHA256, _ = shards.Sum(t.Context(), path)
		m.Shards = append(m.Shards, s)
	}
	finish(t, dir, m)
	return m
}

// finish writes the manifest and _SUCCESS.
func finish(t *testing.T, dir string, m *shards.Manifest) {
	t.Helper()
	if err := errors.Join(shards.Write(dir, m), shards.Finish(dir)); err != nil {
		t.Fatal(err)
	}
}

// of is an array of a dtype, whose bytes differ.
func of(d garner.DType, shape ...int) garner.Tensor {
	x := must(garner.New(d, shape...))
	b := must(x.Bytes())
	for i := range b {
		if b[i] = byte(7*i + 1); d == garner.Bool {
			b[i] &= 1
		}
	}
	return x
}

// TestShardsOfEveryDType opens folders of shards of every dtype, in the files that
// shards.Extension names, in place, and gathers from them.
func TestShardsOfEveryDType(t *testing.T) {
	for _, d := range garner.DTypes() {
		if d == garner.String {
			continue
		}
		dir := filepath.Join(t.TempDir(), "rows")
		x := of(d, 3, 16)
		shardsOf(t, dir, x, []int{8, 0, 24, 16})
		for _, text := range []string{dir, dir + "/", filepath.Join(dir, shards.ManifestName)} {
			a, err := Open(t.Context(), text, Options{InPlace: true})
			if err != nil {
				t.Fatalf("%s: %v", d, err)
			}
			if _, inFiles := a.(*source.File); !inFiles || a.Spec().String() != x.Spec().String() {
				t.Errorf("%s is a %T of %s", text, a, a.Spec())
			}
			if got := must(layout.Read(t.Context(), a)); !bytes.Equal(bytesOf(got), bytesOf(x)) {
				t.Errorf("%s: %v, want %v", d, got, x)
			}
			at := garner.Of([]int64{2, 0, 2}, 3)
			want := must(garner.Gather(strict.Gather{}, x, at))
			got := must(garner.New(d, 3, 16))
			into := bytes.NewBuffer(must(got.Bytes())[:0])
			if err := source.Gather(t.Context(), strict.Gather{}, a, source.Memory(at), into, source.Options{}); err != nil || !bytes.Equal(into.Bytes(), bytesOf(want)) {
				t.Errorf("%s: %v, %v; want %v", d, into.Bytes(), err, want)
			}
			a.Close()
		}
		// Each shard by itself, and the bytes that were written.
		from := 0
		m := must(shards.Read(dir))
		for i, s := range m.Shards {
			if err := s.Verify(t.Context(), dir); err != nil {
				t.Error(err)
			}
			a := must(OpenShard(t.Context(), m, i))
			to := from + int(s.Elements)*d.Bits()/8
			if got := must(layout.Read(t.Context(), a)); got.Spec().String() != m.ShardSpec(i).String() || !bytes.Equal(bytesOf(got), bytesOf(x)[from:to]) {
				t.Errorf("%s: shard %d is %v", d, i, got)
			}
			a.Close()
			from = to
		}
	}
}

// TestShards opens folders of unusual shards: of several formats and shapes, in folders
// of their own, none at all, a scalar, an array that ends inside a byte.
func TestShards(t *testing.T) {
	t.Chdir(t.TempDir())
	opened := func(dir string, want garner.Tensor) {
		t.Helper()
		got, closing, err := Tensor(t.Context(), dir, Options{})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			return
		}
		defer closing()
		if got.Spec().String() != want.Spec().String() || !bytes.Equal(bytesOf(got), bytesOf(want)) {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
	}
	x := of(garner.F32, 4, 3)
	if err := os.MkdirAll("mixed/a#b", 0o777); err != nil {
		t.Fatal(err)
	}
	m := shardsOf(t, "mixed", x, []int{3, 1, 2, 2, 4}, "a#b/one.npy", "two.safetensors", "three.gguf", "four.raw", "five.npz")
	opened("mixed", x)
	// A shard of any shape: whole rows.
	saveNpy(t, "mixed/a#b/one.npy", must(must(x.Slice(0, 0, 1, 1)).Reshape(1, 1, 3)))
	m.Shards[0].Bytes, m.Shards[0].SHA256 = 0, ""
	finish(t, "mixed", m)
	opened("mixed/", x)

	none := must(garner.New(garner.F32, 0, 3))
	shardsOf(t, "none", none, nil)
	opened("none", none)
	shardsOf(t, "one of none", none, []int{0})
	opened("one of none", none)
	one := garner.Of([]int64{7})
	shardsOf(t, "scalar", one, []int{1})
	opened("scalar", one)
	odd := of(garner.U4, 3, 5)
	shardsOf(t, "odd", odd, []int{8, 7})
	opened("odd", odd)

	// Big-endian shards, all of them.
	big := []byte("\x93NUMPY\x01\x00\x46\x00" + fmt.Sprintf("%-69s\n", "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}"))
	two := func(a, b byte) []byte { return append(slices.Clone(big), 0, a, 0, b) }
	shardsOf(t, "big", of(garner.I16, 4), []int{2, 2})
	save(t, "big/part-00001-of-00002.npy", two(1, 2))
	m = must(shards.Read("big"))
	m.Shards[0].Bytes, m.Shards[1].Bytes = 0, 0
	finish(t, "big", m)
	_, err := Open(t.Context(), "big", Options{})
	refused(t, err, garner.ErrDType, "big/manifest.json: big/part-00002-of-00002.npy is i16[2], and stored in another byte order or kind than big/part-00001-of-00002.npy")
	save(t, "big/part-00002-of-00002.npy", two(3, 4))
	opened("big", garner.Of([]int16{1, 2, 3, 4}, 4))

	// A pattern joins the manifests of several folders, and each manifest lists as one array.
	shardsOf(t, "t-1", x, []int{12})
	shardsOf(t, "t-2", x, []int{6, 6})
	a := must(Open(t.Context(), "t-*/manifest.json", Options{}))
	if got := a.Spec().String(); got != "f32[8,3]" {
		t.Error(got)
	}
	a.Close()
	list, err := List(t.Context(), "t-*/manifest.json", Options{})
	if want := "[{ 1 shard f32 [4,3] 48 t-1/manifest.json   } { 2 shards f32 [4,3] 48 t-2/manifest.json   }]"; err != nil || fmt.Sprint(list) != want {
		t.Errorf("%v, %v; want %s", list, err, want)
	}

	// The files of the array are protected, and tell it from others.
	all := []string{"t-2/", "t-2/manifest.json", "t-2/part-00001-of-00002.npy", "t-2/part-00002-of-00002.npy"}
	for i, path := range all {
		all[i] = filepath.FromSlash(path)
	}
	if got := FilesOf("t-2/"); !slices.Equal(got, all) {
		t.Errorf("%q, want %q", got, all)
	}
	in := must(must(Parse("t-2")).Open(t.Context(), Options{}))
	if !slices.Equal(in.Paths, all[1:]) {
		t.Errorf("%q, want %q", in.Paths, all[1:])
	}
	before, ok, err := Identify(in.Array)
	in.Close()
	if !ok || err != nil || !strings.Contains(before, "in 2 pieces") {
		t.Errorf("%s %v %v", before, ok, err)
	}
	for _, path := range append(all[1:], "t-2/new.npy") {
		_, err := Create(t.Context(), path, x.Spec(), CreateOptions{Inputs: []string{"t-2"}, Format: "npy"})
		refused(t, err, nil, "the input t-2")
	}
	saveNpy(t, "t-2/part-00002-of-00002.npy", must(garner.FromBytes(garner.F32, make([]byte, 24), 6)))
	b := must(Open(t.Context(), "t-2", Options{}))
	defer b.Close()
	if after, _, _ := Identify(b); after == before {
		t.Error("a shard that was rewritten leaves the identity as it was")
	}
}

// TestShardsRefused holds what is said of folders that cannot be opened.
func TestShardsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	x := of(garner.F32, 4, 3)
	for _, tt := range []struct {
		what   string
		change func(dir string, m *shards.Manifest) // after which the manifest is written again
		class  error
		want   string
	}{
		{"missing", func(dir string, m *shards.Manifest) { os.Remove(dir + "/part-00002-of-00002.npy") },
			fs.ErrNotExist, `missing/manifest.json: its shard "part-00002-of-00002.npy" is not there; copy it to missing/part-00002-of-00002.npy`},
		{"short", func(dir string, m *shards.Manifest) { os.Truncate(dir+"/part-00002-of-00002.npy", 140) },
			shards.ErrFormat, `short/manifest.json: its shard "part-00002-of-00002.npy" has 140 bytes, and 152 were written`},
		{"short unsaid", func(dir string, m *shards.Manifest) {
			os.Truncate(dir+"/part-00002-of-00002.npy", 140)
			m.Shards[1].Bytes = 0
		}, npy.ErrFormat, "short unsaid/part-00002-of-00002.npy: "},
		{"count", func(dir string, m *shards.Manifest) { m.Shards[0].Elements, m.Shards[1].Elements = 5, 7 },
			shards.ErrFormat, `its shard "part-00001-of-00002.npy" is f32[6], and it says f32[5]; make it again, or correct its line`},
		{"dtype", func(dir string, m *shards.Manifest) { m.DType = garner.I32 },
			shards.ErrFormat, `its shard "part-00001-of-00002.npy" is of f32, and it says i32; make it again, or correct the dtype`},
		{"dtype of safetensors", func(dir string, m *shards.Manifest) { m.Shards[0].File, m.Shards[0].Bytes = "o.safetensors", 0 },
			shards.ErrFormat, `its shard "o.safetensors" is i32[6], and it says f32[6]`},
		{"no array", func(dir string, m *shards.Manifest) { m.Shards[0].File = "a.txt" },
			shards.ErrFormat, `its shard "a.txt" is of no format that a shard can have; write it as .npy`},
		{"no extension", func(dir string, m *shards.Manifest) { m.Shards[0].File = "a" },
			shards.ErrFormat, `its shard "a" is of no format that a shard can have`},
		{"itself", func(dir string, m *shards.Manifest) { m.Shards[0].File = "manifest.json" },
			shards.ErrFormat, `its shard "manifest.json" is of no format that a shard can have`},
		{"a folder", func(dir string, m *shards.Manifest) {
			os.Mkdir(dir+"/sub.npy", 0o777)
			m.Shards[0].File, m.Shards[0].Bytes = "sub.npy", 0
		}, nil, "sub.npy is a folder"},
		{"raw", func(dir string, m *shards.Manifest) {
			save(t, dir+"/a.raw", make([]byte, 23))
			m.Shards[0].File, m.Shards[0].Bytes = "a.raw", 0
		}, shards.ErrFormat, `its shard "a.raw" has 23 bytes, and 24 were written`},
		{"raw that is said to be longer", func(dir string, m *shards.Manifest) { m.Shards[0].File, m.Shards[0].Bytes = "a.raw", 25 },
			shards.ErrFormat, `its shard "a.raw" is said to have 25 bytes, and f32[6] takes 24; correct its line`},
		{"two arrays", func(dir string, m *shards.Manifest) {
			save(t, dir+"/two.safetensors", must(os.ReadFile("two.safetensors")))
			m.Shards[0].File, m.Shards[0].Bytes = "two.safetensors", 0
		}, garner.ErrAttribute, "names no array"},
		{"node", func(dir string, m *shards.Manifest) { m.Shards[1].Node = "node7" },
			shards.ErrNode, `node/manifest.json: its shard "part-00002-of-00002.npy" can be read on node "node7" alone, and this is "node8"`},
		{"unfinished", func(dir string, m *shards.Manifest) { os.Remove(dir + "/_SUCCESS") },
			shards.ErrUnfinished, "unfinished/manifest.json: its folder has no file _SUCCESS"},
		{"fortran", func(dir string, m *shards.Manifest) {
			var b bytes.Buffer
			b.WriteString("\x93NUMPY\x01\x00\x36\x00" + fmt.Sprintf("%-54s", "{'descr':'<f4','fortran_order':True,'shape':(2,3)}"))
			b.Write(make([]byte, 24))
			save(t, dir+"/f.npy", b.Bytes())
			m.Shards[0].File, m.Shards[0].Bytes = "f.npy", 0
		}, garner.ErrShape, `its shard "f.npy" is in Fortran order; save it in C order`},
	} {
		t.Setenv("GARNER_NODE", "node8")
		m := shardsOf(t, tt.what, x, []int{6, 6})
		if err := Save(t.Context(), filepath.Join(tt.what, "o.safetensors"), of(garner.I32, 6), CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		save(t, "two.safetensors", []byte("\x78\x00\x00\x00\x00\x00\x00\x00"+fmt.Sprintf("%-120s", `{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`)))
		tt.change(tt.what, m)
		if err := shards.Write(tt.what, m); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), tt.what, Options{})
		if tt.class == nil {
			refused(t, err, nil, tt.want)
		} else if refused(t, err, tt.class, tt.want); err == nil {
			t.Errorf("%s was opened", tt.what)
		}
		if other := (*DTypeError)(nil); errors.As(err, &other) {
			t.Errorf("%v is about an option that was not given", err)
		}
	}
	// Where the node is another, the manifest lists the array all the same.
	list, err := List(t.Context(), "node", Options{})
	if want := `[{ 2 shards f32 [4,3] 48 node/manifest.json   shard "part-00002-of-00002.npy" is read on node "node7" alone}]`; err != nil || fmt.Sprint(list) != want {
		t.Errorf("%v, %v; want %s", list, err, want)
	}
	if got := FilesOf("node"); len(got) != 3 {
		t.Errorf("%q", got)
	}
	m := must(shards.Read("node"))
	if _, err := OpenShard(t.Context(), m, 1); !errors.Is(err, shards.ErrNode) {
		t.Error(err)
	}
	must(OpenShard(t.Context(), m, 0)).Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenShard(canceled, m, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	t.Setenv("GARNER_NODE", "node7")
	must(Open(t.Context(), "node", Options{})).Close()

	// Packed values that are a byte each in their file are read whole, and no shard is.
	shardsOf(t, "packed", of(garner.U4, 8), []int{4, 4}, "a.npy")
	_, err = Open(t.Context(), "packed", Options{})
	refused(t, err, ErrMemory, "packed/manifest.json: packed/a.npy")
	// Options that a manifest has no use for.
	_, err = Open(t.Context(), "node", Options{Shape: []int{2}})
	refused(t, err, garner.ErrAttribute, "says itself what its shape is")
	_, err = Open(t.Context(), "node", Options{Raw: true})
	refused(t, err, garner.ErrAttribute, "has no quantised blocks")
	_, err = Open(t.Context(), "node", Options{DType: garner.I32})
	refused(t, err, garner.ErrDType, "is f32 itself")
	must(Open(t.Context(), "node", Options{DType: garner.F32})).Close()

	// Folders that are no array, and names in one.
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"empty", "empty/", "empty/."} {
		_, err := Parse(text)
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%v is no ErrUnknown", err)
		}
		refused(t, err, garner.ErrAttribute, "garner: "+text+" is a folder without saved_model.pb or manifest.json, by which a folder is an array; name a file, or wait for the job that writes the folder")
	}
	_, err = Parse("node#a")
	refused(t, err, garner.ErrAttribute, "node#a: a folder holds one array, which has no name; leave #a out")
	_, err = Open(t.Context(), "nosuch/manifest.json", Options{})
	refused(t, err, fs.ErrNotExist, "there is no file nosuch/manifest.json")
	_, err = OutputFormat("rows.json")
	refused(t, err, garner.ErrAttribute, "rows.json: garner reads .json files and does not write them")
}
