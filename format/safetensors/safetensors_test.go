package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/strict"
)

var keep = flag.String("keep", "", "a folder in which to keep the files that TestWriteReal writes, for testdata/make.py --check")

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// count makes a tensor of bytes that count up from first, as testdata/make.py
// does.
func count(d garner.DType, first int, shape ...int) garner.Tensor {
	t := must(garner.New(d, shape...))
	b := must(t.Bytes())
	for i := range b {
		b[i] = byte(first + i)
		if d == garner.Bool {
			b[i] &= 1
		}
	}
	return t
}

// realTensors are the tensors that testdata/make.py writes to real.safetensors.
func realTensors() []Named {
	var all []Named
	for i, d := range []struct {
		name  string
		dtype garner.DType
	}{
		{"bool", garner.Bool}, {"uint8", garner.U8}, {"int8", garner.I8}, {"float8_e5m2", garner.F8E5M2}, {"float8_e4m3fn", garner.F8E4M3FN},
		{"float8_e8m0fnu", garner.F8E8M0}, {"float8_e4m3fnuz", garner.F8E4M3FNUZ}, {"float8_e5m2fnuz", garner.F8E5M2FNUZ},
		{"float4_e2m1fn_x2", garner.F4E2M1}, {"int16", garner.I16}, {"uint16", garner.U16}, {"float16", garner.F16}, {"bfloat16", garner.BF16},
		{"int32", garner.I32}, {"uint32", garner.U32}, {"float32", garner.F32}, {"complex64", garner.Complex64}, {"float64", garner.F64},
		{"int64", garner.I64}, {"uint64", garner.U64},
	} {
		columns := 3
		if d.dtype == garner.F4E2M1 {
			columns = 6 // three bytes hold six
		}
		all = append(all, Named{"all." + d.name, count(d.dtype, 16*i, 2, columns)})
	}
	return append(all,
		Named{"empty", count(garner.F32, 0, 0, 4)},
		Named{"scalar", count(garner.I64, 1)},
		Named{"naïve \"<名>\"\n", count(garner.U8, 7, 3)})
}

var realMetadata = map[string]string{"made by": "make.py <&> \u2028"}

// TestOpenReal reads a file of the safetensors package.
func TestOpenReal(t *testing.T) {
	f, err := Open(filepath.Join("testdata", "real.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := realTensors()
	if len(f.Names()) != len(want) {
		t.Errorf("%d tensors, want %d", len(f.Names()), len(want))
	}
	for _, w := range want {
		got, err := f.Tensor(w.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got.DType() != w.Tensor.DType() || !got.Shape().Equal(w.Tensor.Shape()) || !bytes.Equal(must(got.Bytes()), must(w.Tensor.Bytes())) {
			t.Errorf("%q is %s, want %s", w.Name, got, w.Tensor)
		}
	}
	if m := f.Metadata(); len(m) != 1 || m["made by"] != realMetadata["made by"] {
		t.Errorf("metadata %q", m)
	}

	plain, err := Open(filepath.Join("testdata", "plain.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if names := plain.Names(); !slices.Equal(names, []string{"b", "a"}) {
		t.Errorf("names %q; want those of the wide type first, as they stand in the file", names)
	}
	if m := plain.Metadata(); m != nil {
		t.Errorf("metadata %q", m)
	}
}

// TestWriteReal writes the file of the safetensors package byte for byte.
func TestWriteReal(t *testing.T) {
	for name, file := range map[string]struct {
		tensors  []Named
		metadata map[string]string
	}{
		"real.safetensors":  {realTensors(), realMetadata},
		"plain.safetensors": {[]Named{{"b", count(garner.F32, 0, 2, 3)}, {"a", count(garner.I8, 9, 5)}}, nil},
	} {
		var b bytes.Buffer
		if err := Write(&b, file.tensors, file.metadata); err != nil {
			t.Fatal(err)
		}
		if *keep != "" {
			save(t, filepath.Join(*keep, name), b.Bytes())
		}
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: wrote\n%q, want\n%q", name, b.Bytes(), want)
		}
	}
}

func save(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// file makes a file of a header and n bytes.
func file(header string, n int) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + strings.Repeat("x", n)
}

func open(t testing.TB, contents string) (*File, string, error) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	save(t, path, []byte(contents))
	f, err := Open(path)
	if err == nil {
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return f, path, err
}

func one(dtype, shape, offsets string) string {
	return fmt.Sprintf(`{"a":{"dtype":%q,"shape":[%s],"data_offsets":[%s]}}`, dtype, shape, offsets)
}

// TestOpenAllows reads valid files of unusual form.
func TestOpenAllows(t *testing.T) {
	for name, contents := range map[string]string{
		"nothing":              file("{}", 0),
		"only metadata":        file(`{"__metadata__":{"a":"b","c":""}}`, 0),
		"null metadata":        file(`{"__metadata__":null,"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2),
		"padding":              file(one("U8", "2", "0,2")+"   \n", 2),
		"unknown keys":         file(`{"a":{"x":{"y":[1,{"z":[]}],"w":null},"dtype":"U8","more":-1e9,"shape":[2],"data_offsets":[0,2]}}`, 2),
		"no padding":           file(one("I16", "1", "0,2"), 2),
		"any order":            file(`{"b":{"data_offsets":[1,3],"dtype":"I16","shape":[]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 3),
		"empty between others": file(`{"b":{"data_offsets":[1,3],"dtype":"I16","shape":[]},"e":{"data_offsets":[1,1],"dtype":"F64","shape":[3,0]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 3),
		"empty and vast":       file(one("F64", "2147483647,2147483647,2147483647,0", "0,0"), 0),
	} {
		f, _, err := open(t, contents)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, n := range f.Names() {
			if _, err := f.Tensor(n); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if name == "empty between others" && !slices.Equal(f.Names(), []string{"a", "e", "b"}) {
			t.Errorf("%s: in the order %q", name, f.Names())
		}
	}
}

// TestOpenRefuses tries files that break the format.
func TestOpenRefuses(t *testing.T) {
	two := func(a, b string) string {
		return `{"a":{"dtype":"U8","shape":[4],"data_offsets":[` + a + `]},"b":{"dtype":"U8","shape":[4],"data_offsets":[` + b + `]}}`
	}
	tera := string(binary.LittleEndian.AppendUint64(nil, 1<<40)) + "{}"
	deep := `{"a":{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}}`
	for _, tt := range []struct{ name, contents, message string }{
		{"empty", "", "it has 0 bytes, too few for a safetensors file"},
		{"short", "1234567", "it has 7 bytes, too few"},
		{"header of 2^40 bytes", tera, "its header says it is 1099511627776 bytes long, and the format allows 100000000"},
		{"header of 2^64-1 bytes", "\xff\xff\xff\xff\xff\xff\xff\xff{}", "its header says it is 18446744073709551615 bytes long"},
		{"header longer than the file", file("{}", 0)[:9], "its header says it is 2 bytes long, and the file has 1 after that; it was cut short"},
		{"no header", file("", 3), "does not begin with {"},
		{"space first", file(" {}", 0), "does not begin with {"},
		{"other", file("[]", 0), "does not begin with {"},
		{"not UTF-8", file("{\"\xff\":1}", 0), "its header is not UTF-8"},
		{"cut JSON", file(`{"a":{"dtype":`, 0), "its header ends inside its JSON"},
		{"cut JSON 2", file(`{"a"`, 0), "its header ends inside its JSON"},
		{"cut JSON 3", file(`{`, 0), "its header ends inside its JSON"},
		{"no JSON", file(`{a}`, 0), "its header is no JSON after 1 bytes: invalid character 'a'"},
		{"comma", file(strings.Replace(one("U8", "4", "0,4"), "]}}", "]},}", 1), 4), "its header is no JSON"},
		{"comma in list", file(one("U8", "4,", "0,4"), 4), "its header is no JSON after 30 bytes: invalid character ']'"},
		{"more after it", file("{}}", 0), "its header goes on after its closing }"},
		{"two objects", file("{} {}", 0), "its header goes on after its closing }"},
		{"tensor no object", file(`{"a":1}`, 0), `tensor "a" is 1 instead of an object`},
		{"tensor null", file(`{"a":null}`, 0), `tensor "a" is <nil> instead of an object`},
		{"tensor list", file(`{"a":[]}`, 0), `tensor "a" is [ instead of an object`},
		{"name twice", file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{}}`, 0), `the header has the key "a" twice`},
		{"key twice", file(`{"a":{"dtype":"U8","dtype":"I8"}}`, 0), `tensor "a" has the key "dtype" twice`},
		{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), `the header has the key "__metadata__" twice`},
		{"metadata key twice", file(`{"__metadata__":{"x":"1","x":"1"}}`, 0), `__metadata__ has the key "x" twice`},
		{"metadata number", file(`{"__metadata__":{"x":1}}`, 0), `__metadata__ has 1 under "x"; the format allows only strings`},
		{"metadata object", file(`{"__metadata__":{"x":{}}}`, 0), `__metadata__ has { under "x"`},
		{"metadata list", file(`{"__metadata__":[]}`, 0), `__metadata__ is [ instead of an object`},
		{"cut metadata", file(`{"__metadata__":`, 0), "its header ends inside its JSON"},
		{"cut metadata value", file(`{"__metadata__":{"a":`, 0), "its header ends inside its JSON"},
		{"lacks dtype", file(`{"a":{"shape":[],"data_offsets":[0,0]}}`, 0), `tensor "a" lacks its dtype`},
		{"lacks shape", file(`{"a":{"dtype":"U8","data_offsets":[0,0]}}`, 0), `tensor "a" lacks its shape`},
		{"lacks offsets", file(`{"a":{"dtype":"U8","shape":[]}}`, 0), `tensor "a" lacks its data_offsets`},
		{"dtype no string", file(`{"a":{"dtype":8}}`, 0), `tensor "a" has the dtype 8 instead of a string`},
		{"shape no list", file(`{"a":{"shape":8}}`, 0), `tensor "a" has the shape 8 instead of an array`},
		{"cut shape", file(`{"a":{"shape":`, 0), "its header ends inside its JSON"},
		{"cut shape 2", file(`{"a":{"shape":[1,`, 0), "its header ends inside its JSON"},
		{"cut shape 3", file(`{"a":{"shape":[1`, 0), "its header ends inside its JSON"},
		{"negative extent", file(one("U8", "-1", "0,0"), 0), `tensor "a" has -1 in its shape, where integers of 0 or more stand`},
		{"broken extent", file(one("U8", "1.0", "0,1"), 1), `tensor "a" has 1.0 in its shape`},
		{"string extent", file(one("U8", `"1"`, "0,1"), 1), `tensor "a" has 1 in its shape`},
		{"list extent", file(one("U8", "[]", "0,1"), 1), `tensor "a" has [ in its shape`},
		{"vast extent", file(one("U8", "9223372036854775808", "0,1"), 1), "has an extent of 9223372036854775808, more than an int can count"},
		{"vaster extent", file(one("U8", "18446744073709551616", "0,1"), 1), "has 18446744073709551616 in its shape"},
		{"65 dimensions", file(one("U8", strings.Repeat("1,", 64)+"1", "0,1"), 1), "has more than 64 numbers in its shape"},
		{"one offset", file(one("U8", "4", "4"), 4), "has the data_offsets [4]; they should be where its bytes begin and end"},
		{"three offsets", file(one("U8", "4", "0,2,4"), 4), "has the data_offsets [0 2 4]"},
		{"offsets backwards", file(one("U8", "4", "4,0"), 4), "has the data_offsets [4 0]"},
		{"offsets no list", file(`{"a":{"data_offsets":null}}`, 0), `has the data_offsets <nil> instead of an array`},
		{"nested", file(deep, 0), "its header nests deeper than 128"},
		{"cut unknown", file(`{"a":{"x":[1,`, 0), "its header ends inside its JSON"},

		{"too long", file(one("F32", "2,3", "0,20"), 20), `tensor "a" is F32[2,3], 24 bytes, but has the data_offsets [0,20], 20 bytes`},
		{"F4 odd", file(one("F4", "3", "0,2"), 2), `tensor "a" is F4[3], 12 bits, no whole number of bytes`},
		{"F6 odd", file(one("F6_E2M3", "3", "0,2"), 2), `tensor "a" is F6_E2M3[3], 18 bits, no whole number of bytes`},
		{"overflow", file(one("F64", "2147483647,2147483647,2147483647", "0,0"), 0), "more bits than can be counted"},
		{"overflow to 0", file(one("U8", "1073741824,1073741824,16", "0,0"), 0), "more bits than can be counted"},

		{"gap at the beginning", file(one("U8", "4", "1,5"), 5), `1 bytes between the header and tensor "a" belong to no tensor`},
		{"gap", file(two("0,4", "5,9"), 9), `1 bytes between tensor "a" and tensor "b" belong to no tensor`},
		{"overlap", file(two("0,4", "3,7"), 7), `tensor "a" and tensor "b" overlap, at bytes 3 to 4 of the data`},
		{"the same bytes", file(two("0,4", "0,4"), 4), `tensor "a" and tensor "b" overlap, at bytes 0 to 4`},
		{"cut data", file(two("0,4", "4,8"), 7), "its tensors take 8 bytes, and the file has 7 for them; it was cut short"},
		{"bytes left over", file(two("0,4", "4,8"), 9), "its tensors take 8 bytes, and the file has 9 for them; the format allows none left over"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, path, err := open(t, tt.contents)
			refused(t, err, ErrFormat, "garner: "+path+": ", tt.message)
		})
	}
}

func refused(t *testing.T, err, class error, begin, message string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want %q", message)
		return
	}
	if !errors.Is(err, class) || !strings.HasPrefix(err.Error(), begin) || !strings.Contains(err.Error(), message) || strings.Count(err.Error(), "garner: ") != 1 {
		t.Errorf("%v\nwant an error of class %v that begins with %q and contains %q", err, class, begin, message)
	}
	if len(err.Error()) > 3000 {
		t.Errorf("a message of %d bytes", len(err.Error()))
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestOpenLarge reads a header of many tensors, the last first, with memory in proportion, and
// a name so long that no message may repeat it.
func TestOpenLarge(t *testing.T) {
	const n = 20000
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"layer.%d.weight":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}`, i, n-1-i, n-i)
	}
	b.WriteByte('}')
	text := file(b.String(), n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, path, err := open(t, text)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 4000 {
		t.Errorf("%d bytes are allocated for each of %d tensors", each, n)
	}
	if names := f.Names(); names[0] != "layer.19999.weight" || len(names) != n {
		t.Errorf("%d names, the first %s", len(names), names[0])
	}
	_, err = f.Tensor("layer.77.wieght")
	refused(t, err, fs.ErrNotExist, "garner: "+path+": ", `it has no tensor "layer.77.wieght"; of its 20000, the nearest are "layer.`)
	if !strings.Contains(err.Error(), `"layer.77.weight"`) || strings.Count(err.Error(), `"`) != 2*11 {
		t.Errorf("%v does not name ten, layer.77.weight among them", err)
	}

	long := strings.Repeat("n", 1<<20)
	_, path, err = open(t, file(`{"`+long+`":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2))
	refused(t, err, ErrFormat, "garner: "+path+": ", "belong to no tensor")
	_, path, err = open(t, file(`{"`+long+`":{"dtype":"`+long+`","shape":[1],"data_offsets":[0,1]}}`, 2))
	refused(t, err, ErrFormat, "garner: "+path+": ", "none left over")
}

func TestTensorRefuses(t *testing.T) {
	f, path, err := open(t, file(`{"x.weight":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]},"new":{"dtype":"Q7","shape":[9],"data_offsets":[3,4]},"ok":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}}`, 5))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Tensor("x.weight")
	refused(t, err, garner.ErrDType, "garner: "+path+": ", `tensor "x.weight" is of F6_E2M3, which garner does not read`)
	_, err = f.Tensor("new")
	refused(t, err, garner.ErrDType, "garner: "+path+": ", `tensor "new" is of Q7`)
	_, err = f.Tensor("weight")
	refused(t, err, fs.ErrNotExist, "garner: "+path+": ", `it has no tensor "weight"; it has "x.weight", "new", "ok"`)
	if _, err := f.Tensor("ok"); err != nil {
		t.Error(err)
	}
	f, path, err = open(t, file("{}", 0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Tensor("a")
	refused(t, err, fs.ErrNotExist, "garner: "+path+": ", `it has no tensor "a"; it holds none at all`)
}

func TestWriteRefuses(t *testing.T) {
	ok := count(garner.U8, 0, 2)
	vast := must(garner.FromStrided(garner.F64, make([]byte, 8), 0, []int{math.MaxInt}, []int{0}))
	many := []Named{{"a", vast}, {"b", vast}, {"c", vast}}
	for _, tt := range []struct {
		tensors  []Named
		metadata map[string]string
		class    error
		message  string
	}{
		{[]Named{{"a", garner.Tensor{}}}, nil, garner.ErrDType, `there is no tensor to write as "a"`},
		{[]Named{{"a", garner.Of([]string{""}, 1)}}, nil, garner.ErrDType, `tensor "a" is of string, which safetensors does not have; write it as .npy`},
		{[]Named{{"a", count(garner.I4, 0, 2)}}, nil, garner.ErrDType, `tensor "a" is of i4`},
		{[]Named{{"a", count(garner.Complex128, 0, 2)}}, nil, garner.ErrDType, `tensor "a" is of complex128`},
		{[]Named{{"a", count(garner.F4E2M1, 0, 3)}}, nil, ErrFormat, `tensor "a" is f4e2m1[3], whose 3 elements fill no whole number of bytes`},
		{[]Named{{"__metadata__", ok}}, nil, ErrFormat, `no tensor can be named "__metadata__"`},
		{[]Named{{"a\xff", ok}}, nil, ErrFormat, `the name "a\xff" is not UTF-8`},
		{[]Named{{"a", ok}, {"b", ok}, {"a", ok}}, nil, ErrFormat, `two tensors are named "a"`},
		{nil, map[string]string{"a": "\xff"}, ErrFormat, `metadata "a": "\xff" is not UTF-8`},
		{[]Named{{strings.Repeat("n", maxHeader), ok}}, nil, ErrFormat, "the header of 1 tensors takes 1000000"},
		{[]Named{{"a", must(garner.FromStrided(garner.F64, make([]byte, 8), 0, []int{math.MaxInt}, []int{0}))}}, nil, ErrFormat, "more bytes than can be counted"},
		{many, nil, ErrFormat, "more bytes than can be counted"},
	} {
		if math.MaxInt == math.MaxInt32 && strings.HasPrefix(tt.message, "more bytes") {
			continue // 2^31 times 8 bytes is valid, and would be written
		}
		var b bytes.Buffer
		refused(t, Write(&b, tt.tensors, tt.metadata), tt.class, "garner: ", tt.message)
		refused(t, Check(tt.tensors, tt.metadata), tt.class, "garner: ", tt.message)
		if b.Len() > 0 {
			t.Errorf("%q: %d bytes were written before the error", tt.message, b.Len())
		}
	}
	large := must(garner.FromStrided(garner.F64, make([]byte, 8), 0, []int{math.MaxInt / 32}, []int{0})) // 2^61 - 8 bytes
	if math.MaxInt > math.MaxInt32 {
		var many []Named
		for name := 'a'; name <= 'i'; name++ {
			many = append(many, Named{string(name), large})
		}
		refused(t, Write(io.Discard, many, nil), ErrFormat, "garner: ", `up to tensor "i" the tensors have more bytes than can be counted`)
	}
}

// TestWriteStrided writes views, packed ones too, and reads them back.
func TestWriteStrided(t *testing.T) {
	f4 := count(garner.F4E2M1, 0x31, 4, 6)
	f32 := count(garner.F32, 0, 3, 700, 5)
	views := []Named{
		{"f4.whole", f4},
		{"f4.transposed", must(f4.Transpose())},
		{"f4.inside", must(must(f4.Reshape(24)).Slice(0, 1, 23, 1))},
		{"f32.transposed", must(f32.Transpose(1, 2, 0))},
		{"f32.part", must(f32.Slice(2, 1, 4, 1))},
		{"bool", must(count(garner.Bool, 0, 9).Slice(0, 8, -1, -2))},
	}
	metadata := map[string]string{"b": "2", "a": "1\x01\t\"\\", "": ""}
	var b bytes.Buffer
	if err := Write(&b, views, metadata); err != nil {
		t.Fatal(err)
	}
	f, _, err := open(t, b.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		got := must(f.Tensor(v.Name))
		if want := must(must(v.Tensor.Clone()).Bytes()); !bytes.Equal(must(got.Bytes()), want) {
			t.Errorf("%s: other elements came back", v.Name)
		}
	}
	if m := f.Metadata(); len(m) != 3 || m["b"] != "2" || m["a"] != metadata["a"] {
		t.Errorf("metadata %q", m)
	}
	if want := `{"__metadata__":{"":"","a":"1\u0001\t\"\\","b":"2"},"f32.part"`; !strings.HasPrefix(b.String()[8:], want) {
		t.Errorf("the header begins %.80q, want %q", b.String()[8:], want)
	}
}

// failing accepts n bytes and then fails.
type failing struct{ n int }

var errFull = errors.New("full")

func (w *failing) Write(b []byte) (int, error) {
	if len(b) > w.n {
		return 0, errFull
	}
	w.n -= len(b)
	return len(b), nil
}

func TestWriteFails(t *testing.T) {
	tensors := []Named{{"a", count(garner.F32, 0, 4)}, {"b", count(garner.F4E2M1, 0, 4)}}
	var b bytes.Buffer
	if err := Write(&b, tensors, nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, b.Len() - 18, b.Len() - 2, b.Len() - 1} {
		if err := Write(&failing{n}, tensors, nil); err != errFull {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// TestTruncated truncates a mapped file.
func TestTruncated(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	const n = 1 << 20
	f, path, err := open(t, file(one("F32", strconv.Itoa(n), "0,"+strconv.Itoa(4*n)), 4*n))
	if err != nil {
		t.Fatal(err)
	}
	x := must(f.Tensor("a"))
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := Write(new(bytes.Buffer), []Named{{"a", x}}, nil); !errors.Is(err, garner.ErrFault) {
		t.Errorf("writing what is gone: %v", err)
	}
	if _, err := garner.Gather(strict.Gather{}, x, garner.Of([]int64{5}, 1)); !errors.Is(err, garner.ErrFault) {
		t.Errorf("gathering what is gone: %v", err)
	}
}

// FuzzOpen opens any bytes. A file that opens can be written and opened again.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"real.safetensors", "plain.safetensors"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(file("{}", 0)))
	f.Add([]byte(file(`{"__metadata__":{"a":"b"},"x":{"z":[1,{}],"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}`, 3)))
	f.Add([]byte(file(one("F4", "2,3", "0,3"), 3)))
	f.Add([]byte(file(one("U8", "4", "1,5"), 5)))
	f.Add([]byte("\x00\x00\x00\x00\x00\x01\x00\x00{}"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "x.safetensors")
		save(t, path, b)
		first, err := Open(path)
		agree(t, path, first, err)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("an error without a class: %v", err)
			}
			return
		}
		defer first.Close()
		var tensors []Named
		total := 0
		for _, name := range first.Names() {
			x, err := first.Tensor(name)
			if errors.Is(err, garner.ErrDType) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			total += len(must(x.Bytes()))
			tensors = append(tensors, Named{name, x})
		}
		if total != len(first.data) {
			t.Errorf("the tensors have %d bytes of %d", total, len(first.data))
		}
		var again bytes.Buffer
		if err := Write(&again, tensors, first.Metadata()); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(dir, "y.safetensors")
		save(t, other, again.Bytes())
		second, err := Open(other)
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		for _, n := range tensors {
			x, err := second.Tensor(n.Name)
			if err != nil {
				t.Fatal(err)
			}
			if x.DType() != n.Tensor.DType() || !x.Shape().Equal(n.Tensor.Shape()) || !bytes.Equal(must(x.Bytes()), must(n.Tensor.Bytes())) {
				t.Errorf("%q came back as another tensor", n.Name)
			}
		}
	})
}
