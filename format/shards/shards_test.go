package shards

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func save(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err, class error, want string) {
	t.Helper()
	if !errors.Is(err, class) || err == nil || !strings.HasPrefix(err.Error(), "garner: ") || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s, of class %v", err, want, class)
	}
}

func decode(text string) (*Manifest, error) {
	m, err := parse(strings.NewReader(text), int64(len(text)))
	if err == nil {
		err = m.Check()
	}
	return m, err
}

var sum = strings.Repeat("0a", 32)

// whole is a manifest with every key.
var whole = `{"garner": 1, "dtype": "f32", "shape": [5, 2],
 "operator": {"name": "numpy.take", "attributes": {"axis": 0, "mode": "clip"}, "outside": "zero"},
 "inputs": [{"operand": "data", "text": "a<b>.npy", "identity": "f32[9,2] in a.npy"}, {"operand": "indices", "text": "-", "identity": ""}],
 "shards": [
  {"file": "part-00001-of-00002.npy", "elements": 6, "bytes": 152, "sha256": "` + sum + `"},
  {"file": "/disk3/rest.npy", "elements": 4, "node": "node7"}
 ]}
`

// TestRead reads a manifest by its folder and by its name, with every key and with
// those alone that it needs.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ManifestName)
	save(t, path, whole)
	_, err := Read(dir)
	refused(t, err, ErrUnfinished, path+": its folder has no file _SUCCESS, which is written last; wait for the job")
	if err := Finish(dir); err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		DType: garner.F32, Shape: garner.Shape{5, 2},
		Operator: &Operator{Name: "numpy.take", Attributes: map[string]any{"axis": json.Number("0"), "mode": "clip"}, Outside: "zero"},
		Inputs:   []Input{{"data", "a<b>.npy", "f32[9,2] in a.npy"}, {"indices", "-", ""}},
		Shards:   []Shard{{"part-00001-of-00002.npy", 6, 152, sum, ""}, {"/disk3/rest.npy", 4, 0, "", "node7"}},
		Path:     path,
	}
	for _, from := range []string{dir, path} {
		m, err := Read(from)
		if err != nil || !reflect.DeepEqual(m, want) {
			t.Fatalf("%+v, %v; want %+v", m, err, want)
		}
		if m.Dir() != dir || m.Spec().String() != "f32[5,2]" || m.ShardSpec(1).String() != "f32[4]" {
			t.Errorf("%s %s %s", m.Dir(), m.Spec(), m.ShardSpec(1))
		}
	}
	// What is written has the same form, and no key that says nothing.
	if err := Write(dir, want); err != nil {
		t.Fatal(err)
	}
	compact := func(text string) string { return strings.ReplaceAll(text, " ", "") }
	if got := string(must(os.ReadFile(path))); compact(got) != compact(whole) {
		t.Errorf("%s; want %s", got, whole)
	}
	for text, want := range map[string]string{
		`{"garner":1,"dtype":"float32","shape":[],"shards":[{"elements":1,"file":"a/b.npy","more":{"x":[]}}],"else":null}`:                           "f32[]",
		`{"shards":[],"shape":[0,9],"dtype":"u4","garner":1}`:                                                                                        "u4[0,9]",
		`{"garner":1,"dtype":"u4","shape":[3],"shards":[{"file":"a.raw","elements":2},{"file":"b.raw","elements":1}]}`:                               "u4[3]",
		`{"garner":1,"dtype":"u1","shape":[9],"shards":[{"file":"a.raw","elements":0},{"file":"b.raw","elements":9}]}`:                               "u1[9]",
		`{"garner":1,"dtype":"u8","shape":[2],"operator":null,"shards":[{"file":"a","elements":1,"node":"x"},{"file":"a","elements":1,"node":"y"}]}`: "u8[2]",
	} {
		if m, err := decode(text); err != nil || m.Spec().String() != want {
			t.Errorf("%s: %v, %v; want %s", text, m, err, want)
		}
	}
}

// line is a manifest of u8[2] with the given lines of shards.
func line(shards string) string {
	return `{"garner":1,"dtype":"u8","shape":[2],"shards":[` + shards + `]}`
}

// TestRefused holds what is no manifest. Write refuses it too, where a Manifest can say it.
func TestRefused(t *testing.T) {
	long := strings.Repeat("a", maxName+1)
	for text, want := range map[string]string{
		``:                                  "it ends inside its JSON",
		`1`:                                 "it is 1 instead of an object",
		`[]`:                                "it is [ instead of an object",
		`null`:                              "instead of an object",
		`{}`:                                `it has no "garner"; it is no manifest of shards, which begins with {"garner": 1`,
		`{"garner":1}`:                      `it has no "dtype"`,
		`{"garner":1,"dtype":"f32"}`:        `it has no "shape"`,
		line(``) + `{}`:                     "it goes on after its closing }",
		`{"garner":2,"shards":"elsewhere"}`: "it is a manifest of version 2, and this garner reads version 1",
		`{"garner":"1"}`:                    `it has the garner 1 instead of an integer`,
		`{"garner":1.0}`:                    "instead of an integer",
		`{"garner":1,"garner":1}`:           `it has the key "garner" twice`,
		`{"garner":1,"dtype":7}`:            "it has the dtype 7 instead of a string",
		`{"garner":1,"dtype":"f33"}`:        `its dtype is "f33", which garner does not know`,
		`{"garner":1,"shape":{}}`:           "instead of an array",
		`{"garner":1,"shape":[-1]}`:         "it has -1 in its shape, where integers of 0 or more stand",
		`{"garner":1,"shape":[1.5]}`:        "it has 1.5 in its shape",
		`{"garner":1,"shape":[1e3]}`:        "it has 1e3 in its shape",
		`{"garner":1,"shape":["1"]}`:        "in its shape",
		`{"garner":1,"shape":[9223372036854775808]}`:                                                                   "more than an int can count",
		`{"garner":1,"shape":[99999999999999999999]}`:                                                                  "in its shape",
		`{"garner":1,"shape":[` + strings.Repeat("1,", garner.MaxRank) + `1]}`:                                         "numbers in its shape",
		`{"garner":1,"dtype":"string","shape":[0],"shards":[]}`:                                                        "its dtype is string, whose elements have no fixed width",
		`{"garner":1,"dtype":"u8","shape":[2147483647,2147483647,2147483647],"shards":[]}`:                             "which has more bytes or dims than can be counted",
		`{"garner":1,"dtype":"f64","shape":[2147483647,2147483647],"shards":[]}`:                                       "which has more bytes or dims than can be counted",
		`{"garner":1` + manyKeys() + `}`:                                                                               "has more than 1000 keys that a manifest does not have",
		`{"garner":1,"operator":[]}`:                                                                                   "its operator is none",
		`{"garner":1,"operator":{"name":7}}`:                                                                           "its operator is none",
		`{"garner":1,"operator":{"name":"` + strings.Repeat("a", maxOperator) + `"}}`:                                  "its operator takes",
		`{"garner":1,"inputs":[[]]}`:                                                                                   "an input is [ instead of an object",
		`{"garner":1,"inputs":[{"text":1}]}`:                                                                           "an input has the text 1 instead of a string",
		`{"garner":1,"inputs":[` + strings.Repeat("{},", maxInputs) + `{}]}`:                                           "it has more than 1000 inputs",
		`{"garner":1,"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`:                               "it nests deeper than 128",
		`{"garner":1,"operator":{"attributes":{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}}`: "depth",
		line(`[]`):                          "a shard is [ instead of an object",
		line(`{}`):                          `shard 1 of it has no "file"; give every shard its file and elements`,
		line(`{"file":"a"}`):                `shard 1 of it has no "elements"`,
		line(`{"file":"a","elements":-1}`):  "a shard has the elements -1 instead of an integer of 0 or more",
		line(`{"file":"a","elements":2.0}`): "a shard has the elements 2.0",
		line(`{"file":"a","elements":9223372036854775808}`): "a shard has the elements 9223372036854775808",
		line(`{"file":"a","elements":2,"bytes":-5}`):        "a shard has the bytes -5",
		line(`{"file":"a","elements":2,"elements":2}`):      `a shard has the key "elements" twice`,
		line(`{"file":7,"elements":2}`):                     "a shard has the file 7 instead of a string",
		line(`{"file":"a","elements":1}`):                   "its shards have 1 elements, and u8[2] has 2; list the shards that are missing",
		line(``):                                            "its shards have 0 elements, and u8[2] has 2",
		line(`{"file":"a","elements":3}`):                   `up to its shard "a" there are more elements than the 2 of u8[2]`,
		line(`{"file":"a","elements":9223372036854775807},{"file":"b","elements":9223372036854775807}`):        "there are more elements than the 2",
		line(`{"file":"a","elements":1},{"file":"a","elements":1}`):                                            `its shard "a" is listed twice`,
		line(`{"file":"a","elements":1},{"file":"./a","elements":1}`):                                          `its shard "./a" is listed twice`,
		line(`{"file":"a","elements":1,"node":"w"},{"file":"b/../a","elements":1,"node":"w"}`):                 "is listed twice",
		`{"garner":1,"dtype":"u4","shape":[2],"shards":[{"file":"a","elements":1},{"file":"b","elements":1}]}`: `its shard "a" has 1 elements of u4 and ends inside a byte`,
		line(`{"file":"","elements":2}`):                                                                       "has no name of up to 4096 printable characters",
		line(`{"file":"a\n","elements":2}`):                                                                    `its shard "a\n" has no name`,
		line(`{"file":"a\u001b[2J","elements":2}`):                                                             "printable characters",
		line(`{"file":"a\u0000","elements":2}`):                                                                "printable characters",
		line(`{"file":"a\u202e","elements":2}`):                                                                "printable characters",
		line("{\"file\":\"a\xff\",\"elements\":2}"):                                                            "printable characters",
		line(`{"file":"` + long + `","elements":2}`):                                                           "has no name of up to 4096",
		line(`{"file":"a","elements":2,"node":"w\u0007"}`):                                                     `has a node, "w\a", whose name is not printable`,
		line(`{"file":"/a","elements":2}`):                                                                     `its shard "/a" is not in the manifest's own folder; copy it there, or give its node`,
		line(`{"file":"../a","elements":2}`):                                                                   "is not in the manifest's own folder",
		line(`{"file":"b/../../a","elements":2}`):                                                              "is not in the manifest's own folder",
		line(`{"file":".","elements":2}`):                                                                      "is not in the manifest's own folder",
		line(`{"file":"b\\a","elements":2}`):                                                                   "is not in the manifest's own folder",
		line(`{"file":"C:a","elements":2}`):                                                                    "is not in the manifest's own folder",
		line(`{"file":"s3://b/a.npy","elements":2}`):                                                           "is not in the manifest's own folder",
		line(`{"file":"../a","elements":2,"node":"w"}`):                                                        "is not in the manifest's own folder",
		line(`{"file":"/b/../a","elements":2,"node":"w"}`):                                                     "is an absolute path with . or .. or // in it",
		line(`{"file":"//a","elements":2,"node":"w"}`):                                                         "is an absolute path with . or .. or // in it",
		line(`{"file":"a","elements":2,"sha256":"` + sum[1:] + `"}`):                                           "which is not of 64 hexadecimal digits",
		line(`{"file":"a","elements":2,"sha256":"` + sum[1:] + `A"}`):                                          "which is not of 64 hexadecimal digits",
	} {
		_, err := decode(text)
		if refused(t, err, ErrFormat, want); t.Failed() {
			t.Fatalf("%.200s", text)
		}
	}
	dir := t.TempDir()
	bad := &Manifest{DType: garner.U8, Shape: garner.Shape{-1}}
	refused(t, Write(dir, bad), ErrFormat, ManifestName+": its shape [-1] has an extent below 0")
	bad = &Manifest{DType: garner.U8, Shape: garner.Shape{2}, Shards: []Shard{{File: "a", Elements: -2}}}
	refused(t, Write(dir, bad), ErrFormat, "neither can be below 0")
	bad = &Manifest{DType: garner.U8, Shape: garner.Shape{0}, Operator: &Operator{Attributes: map[string]any{"f": func() {}}}}
	refused(t, Write(dir, bad), ErrFormat, "give attributes that JSON has")
	bad = &Manifest{DType: garner.U8, Shape: garner.Shape{0}, Shards: make([]Shard, MaxShards+1)}
	refused(t, Write(dir, bad), ErrFormat, "it has 1048577 shards, and up to 1048576 are read")
	bad = &Manifest{DType: garner.U8, Shape: garner.Shape{0}, Inputs: make([]Input, maxInputs+1)}
	refused(t, Write(dir, bad), ErrFormat, "it has 1001 inputs")
	if left := must(os.ReadDir(dir)); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	_, err := parse(nil, maxBytes+1)
	refused(t, err, ErrFormat, "a manifest of up to 268435456 is read")
	_, err = Read(dir)
	refused(t, err, fs.ErrNotExist, "there is no file "+filepath.Join(dir, ManifestName))
}

// TestTruncated cuts a manifest at every byte.
func TestTruncated(t *testing.T) {
	text := strings.TrimSpace(whole)
	for n := range text {
		if _, err := decode(text[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, ManifestName), text[:100])
	_, err := Read(dir)
	refused(t, err, ErrFormat, ManifestName+": it ends inside its JSON; it is spoilt, save it again")
}

// TestProportion reads hostile manifests, which take memory in proportion to their bytes.
func TestProportion(t *testing.T) {
	const n = 1 << 18
	for name, text := range map[string]string{
		"empty shards":   line(strings.Repeat("{},", n) + "{}"),
		"empty lists":    `{"garner":1,"x":[` + strings.Repeat("[],", n) + "[]]}",
		"inputs":         `{"garner":1,"inputs":[` + strings.Repeat("{},", n) + "{}]}",
		"attributes":     `{"garner":1,"operator":{"attributes":{"a":[` + strings.Repeat("[],", 2*n) + `[]]}}}`,
		"a shard's keys": line(`{"file":"a","elements":2,"x":[` + strings.Repeat("1,", n) + `1]}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(text)
		runtime.ReadMemStats(&after)
		if most := uint64(100*len(text) + 1<<20); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%s: %d bytes allocated for %d, %v", name, after.TotalAlloc-before.TotalAlloc, len(text), err)
		}
	}
}

// TestFind looks at shards that are there, that are not, and that other nodes have.
func TestFind(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	ctx := context.Background()
	save(t, filepath.Join(dir, "a.npy"), "12345678")
	save(t, filepath.Join(far, "b.npy"), "12345678")
	bytes, hash, err := Sum(ctx, filepath.Join(dir, "a.npy"))
	if bytes != 8 || hash != "ef797c8118f02dfb649607dd5d3f8c7623048c9c063d532cc95c5ed7a898a64f" || err != nil {
		t.Errorf("%d %s %v", bytes, hash, err)
	}
	t.Setenv("GARNER_NODE", "node7")
	for _, s := range []Shard{
		{File: "a.npy"}, {File: "a.npy", Bytes: 8, SHA256: hash}, {File: "a.npy", Node: "node7"},
		{File: filepath.ToSlash(filepath.Join(far, "b.npy")), Node: "node7", Bytes: 8, SHA256: hash},
	} {
		if runtime.GOOS == "windows" && s.File != "a.npy" {
			continue
		}
		if at, err := s.Find(dir); err != nil || at != s.Path(dir) || !s.Local() {
			t.Errorf("%+v is at %s, %v", s, at, err)
		}
		if err := s.Verify(ctx, dir); err != nil {
			t.Error(err)
		}
	}
	short := Shard{File: "a.npy", Bytes: 9}
	_, err = short.Find(dir)
	refused(t, err, ErrFormat, `its shard "a.npy" has 8 bytes, and 9 were written; it was cut short or replaced`)
	refused(t, short.Verify(ctx, dir), ErrFormat, "has 8 bytes")
	refused(t, Shard{File: "a.npy", SHA256: sum}.Verify(ctx, dir), ErrFormat, `its shard "a.npy" has the SHA-256 ef797c81`)
	_, err = Shard{File: "c/d.npy"}.Find(dir)
	refused(t, err, fs.ErrNotExist, `its shard "c/d.npy" is not there; copy it to `+filepath.Join(dir, "c", "d.npy"))
	_, err = Shard{File: "../a.npy"}.Find(dir)
	refused(t, err, ErrFormat, "is not in the manifest's own folder")
	_, err = Shard{File: "/a.npy", Node: "node8"}.Find(dir)
	refused(t, err, ErrNode, `its shard "/a.npy" can be read on node "node8" alone, and this is "node7"`)
	canceled, cancel := context.WithCancelCause(ctx)
	cancel(fs.ErrInvalid)
	if err := (Shard{File: "a.npy", SHA256: sum}).Verify(canceled, dir); err != fs.ErrInvalid {
		t.Error(err)
	}
	t.Setenv("GARNER_NODE", "")
	if host := must(os.Hostname()); Node() != host {
		t.Errorf("%s, want %s", Node(), host)
	}
	if os.Symlink(filepath.Join(far, "b.npy"), filepath.Join(dir, "link.npy")) != nil || os.Symlink("a.npy", filepath.Join(dir, "inner.npy")) != nil {
		t.Skip("no links on this system")
	}
	_, err = Shard{File: "link.npy"}.Find(dir)
	refused(t, err, ErrFormat, `its shard "link.npy" cannot be looked at (path escapes from parent); copy the file itself to `+filepath.Join(dir, "link.npy"))
	if _, err := (Shard{File: "inner.npy"}).Find(dir); err != nil {
		t.Error(err)
	}
}

// TestFileName names the files of shards of every dtype.
func TestFileName(t *testing.T) {
	var all []string
	for _, d := range garner.DTypes() {
		if d != garner.String {
			all = append(all, d.String()+FileName(d, 0, 123)[len("part-00001-of-00123"):])
		}
	}
	const want = "bool.npy u1.raw i2.raw u2.raw i4.raw u4.raw nf4.raw f4e2m1.raw i8.npy i16.npy i32.npy i64.npy u8.npy u16.npy u32.npy u64.npy " +
		"f16.npy bf16.safetensors f32.npy f64.npy f8e4m3fn.safetensors f8e5m2.safetensors f8e4m3fnuz.safetensors f8e5m2fnuz.safetensors f8e8m0.safetensors complex64.npy complex128.npy"
	if got := strings.Join(all, " "); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if got := FileName(garner.F32, 122, 123); got != "part-00123-of-00123.npy" {
		t.Error(got)
	}
}

// FuzzRead holds that a manifest that is read is written and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(line(`{"file":"a","elements":1},{"file":"b/c","elements":1,"node":"w","bytes":7}`)))
	f.Add([]byte(`{"shards":[],"shape":[0,9],"dtype":"u4","garner":1,"x":[{}]}`))
	f.Add([]byte(`{"garner":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decode(string(text))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("an error without a class: %v", err)
			}
			return
		}
		first, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(string(first))
		if err != nil {
			t.Fatalf("%v: %s", err, first)
		}
		second := must(again.encode())
		if !bytes.Equal(first, second) || fmt.Sprint(again.Spec(), again.Shards) != fmt.Sprint(m.Spec(), m.Shards) {
			t.Errorf("%s is read as %s", first, second)
		}
	})
}

// manyKeys are more keys that no manifest has than are read.
func manyKeys() string {
	var b strings.Builder
	for i := range maxUnknown + 1 {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return b.String()
}
