package gguf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/source"
)

var keep = flag.String("keep", "", "a folder in which to keep the file that TestWrite writes, for testdata/make.py --check")

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// bytesOf returns the elements of a tensor in row-major order.
func bytesOf(t garner.Tensor) []byte { return must(must(t.Clone()).Bytes()) }

// recorded returns the arrays that the reference read from testdata/real.gguf, by
// name.
func recorded(t testing.TB) map[string]garner.Tensor {
	t.Helper()
	f, err := npz.Open(filepath.Join("testdata", "all.npz"), npz.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]garner.Tensor{}
	for _, name := range f.Names() {
		if all[name], err = f.Tensor(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// same compares an opened tensor with the reference's array.
func same(t *testing.T, f *File, name string, o Options, want garner.Tensor) {
	t.Helper()
	a, err := f.Array(name, o)
	if err != nil {
		t.Error(err)
		return
	}
	defer a.Close()
	got, err := layout.Read(context.Background(), a)
	if err != nil {
		t.Error(err)
		return
	}
	dtype := want.DType()
	if name == "plain.bf16" {
		dtype = garner.BF16 // which NumPy lacks
	}
	if got.DType() != dtype || !got.Shape().Equal(want.Shape()) || !bytes.Equal(bytesOf(got), bytesOf(want)) {
		t.Errorf("%s is %s, want %s", name, got, want)
	}
}

// TestReal reads every tensor as the reference does, bit for bit.
func TestReal(t *testing.T) {
	want := recorded(t)
	f, err := Open(filepath.Join("testdata", "real.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Version() != 3 {
		t.Errorf("version %d", f.Version())
	}
	read := 0
	for _, tensor := range f.Tensors() {
		raw, quantised := want[tensor.Name+"#raw"]
		if w, ok := want[tensor.Name]; ok {
			read++
			same(t, f, tensor.Name, Options{}, w)
			if tensor.DType != w.DType() && tensor.Name != "plain.bf16" || !tensor.Shape.Equal(w.Shape()) {
				t.Errorf("%s is listed as %s%s", tensor.Name, tensor.DType, tensor.Shape)
			}
			if !quantised {
				same(t, f, tensor.Name, Options{Raw: true}, w)
			}
		} else {
			_, err := f.Array(tensor.Name, Options{})
			refused(t, err, garner.ErrDType, "real.gguf: tensor ", tensor.Kind, "Options.Raw")
			if tensor.DType != garner.Invalid {
				t.Errorf("%s is listed as %s", tensor.Name, tensor.DType)
			}
		}
		if quantised {
			read++
			same(t, f, tensor.Name, Options{Raw: true}, raw)
			if tensor.Bytes != int64(raw.Len()) || tensor.Kind != strings.SplitN(tensor.Name, ".", 2)[1] {
				t.Errorf("%s is listed as %s of %d bytes", tensor.Name, tensor.Kind, tensor.Bytes)
			}
		}
	}
	if read != len(want) || read < 53 {
		t.Errorf("%d arrays, want %d", read, len(want))
	}
}

// TestOtherForms reads version 2, another alignment, the other byte order, and a
// model of three files.
func TestOtherForms(t *testing.T) {
	want := recorded(t)
	for name, version := range map[string]int{
		"aligned.gguf": 3, "version2.gguf": 2, "big.gguf": 3,
		"split-00001-of-00003.gguf": 3, "split-00002-of-00003.gguf": 3, "split-00003-of-00003.gguf": 3,
	} {
		f, err := Open(filepath.Join("testdata", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Version() != version || len(f.Tensors()) != 7 {
			t.Errorf("%s: version %d, %d tensors", name, f.Version(), len(f.Tensors()))
		}
		for _, n := range f.Names() {
			same(t, f, n, Options{}, want[n])
			same(t, f, n, Options{Raw: true}, want[n])
		}
	}
}

func refused(t *testing.T, err, class error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	if class != nil && !errors.Is(err, class) || !strings.HasPrefix(err.Error(), "garner: ") || strings.Contains(err.Error()[8:], "garner:") {
		t.Errorf("%v: of another class, or without its beginning", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v: want %q in it", err, p)
		}
	}
}

// A maker makes files, valid or not.
type maker struct {
	bytes.Buffer
	order binary.AppendByteOrder
}

func (m *maker) u32(v uint32) *maker { m.Write(m.order.AppendUint32(nil, v)); return m }
func (m *maker) u64(v uint64) *maker { m.Write(m.order.AppendUint64(nil, v)); return m }
func (m *maker) text(s string) *maker {
	m.u64(uint64(len(s)))
	m.WriteString(s)
	return m
}

// begin writes the beginning of a file.
func begin(version uint32, tensors, values uint64) *maker {
	m := &maker{order: binary.LittleEndian}
	m.WriteString(magic)
	return m.u32(version).u64(tensors).u64(values)
}

func (m *maker) tensor(name string, kind uint32, at uint64, ne ...uint64) *maker {
	m.text(name).u32(uint32(len(ne)))
	for _, d := range ne {
		m.u64(d)
	}
	return m.u32(kind).u64(at)
}

// data ends the list and adds bytes of data.
func (m *maker) data(n int) []byte {
	for m.Len()%defaultAlignment != 0 {
		m.WriteByte(0)
	}
	return append(bytes.Clone(m.Bytes()), make([]byte, n)...)
}

func parsed(b []byte) (*head, error) { return parse(bytes.NewReader(b), int64(len(b))) }

func TestRefused(t *testing.T) {
	nested := func(depth int) *maker {
		m := begin(3, 0, 1).text("k").u32(typeArray)
		for range depth {
			m.u32(typeArray).u64(1)
		}
		return m.u32(typeUint8).u64(1)
	}
	if _, err := parsed(append(nested(maxDepth-1).Bytes(), 1)); err != nil {
		t.Errorf("%d arrays: %v", maxDepth, err)
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"empty":            {nil, `that begins with "GGUF", this with ""`},
		"three bytes":      {[]byte("GGU"), `that begins with "GGUF", this with "GGU"`},
		"npy":              {[]byte("\x93NUMPY\x01\x00"), `this with "\x93NUM"`},
		"no version":       {[]byte("GGUF\x03"), "ends after 5 bytes, inside its first 24 bytes"},
		"version 1":        {begin(1, 0, 0).Bytes(), "GGUF version 1; versions 2 and 3 are read"},
		"version 4":        {begin(4, 0, 0).Bytes(), "GGUF version 4"},
		"version 0":        {begin(0, 0, 0).Bytes(), "GGUF version 0"},
		"values":           {begin(3, 0, 1<<63).data(99), "asks for 9223372036854775808 metadata values, more than its 131 bytes can hold"},
		"tensors":          {begin(3, 1<<60, 0).data(99), "asks for 1152921504606846976 tensors, more than its 131 bytes can list"},
		"many values":      {begin(3, 0, maxValues+1).data(13 * (maxValues + 1)), "lists 131073 metadata values; up to 131072 are read"},
		"many tensors":     {begin(3, maxTensors+1, 0).data(24 * (maxTensors + 1)), "lists 131073 tensors; up to 131072 are read"},
		"long key":         {begin(3, 0, 1).u64(1 << 62).data(99), "metadata value 1 of 1 has a string of 4611686018427387904 bytes"},
		"key to 2^64":      {begin(3, 0, 1).u64(1<<64 - 1).data(99), "has a string of 18446744073709551615 bytes"},
		"type":             {begin(3, 0, 1).text("k").u32(13).data(9), `metadata value "k" is of type 13, which the format does not have`},
		"array type":       {begin(3, 0, 1).text("k").u32(typeArray).u32(99).u64(1).data(9), `metadata value "k" is an array of type 99`},
		"long array":       {begin(3, 0, 1).text("k").u32(typeArray).u32(typeUint64).u64(1 << 61).data(9), `metadata value "k" is an array of 2305843009213693952 values`},
		"long strings":     {begin(3, 0, 1).text("k").u32(typeArray).u32(typeString).u64(6).data(30), `metadata value "k" is an array of 6 values`},
		"long arrays":      {begin(3, 0, 1).text("k").u32(typeArray).u32(typeArray).u64(9).data(30), `metadata value "k" is an array of 9 values`},
		"deep arrays":      {append(nested(maxDepth).Bytes(), 1), `metadata value "k" nests arrays deeper than 16`},
		"alignment":        {begin(3, 0, 1).text(keyAlignment).u32(typeUint32).u32(0).data(9), "its general.alignment is 0"},
		"alignment 48":     {begin(3, 0, 1).text(keyAlignment).u32(typeUint32).u32(48).data(9), "its general.alignment is 48, of type 4; it must be a power of two"},
		"alignment type":   {begin(3, 0, 1).text(keyAlignment).u32(typeUint64).u64(32).data(9), "its general.alignment is 32, of type 10"},
		"alignment word":   {begin(3, 0, 1).text(keyAlignment).u32(typeString).text("32").data(9), "is of type 8, where an integer belongs"},
		"alignment twice":  {begin(3, 0, 2).text(keyAlignment).u32(typeUint32).u32(32).text(keyAlignment).u32(typeUint32).u32(64).data(9), "stands there twice"},
		"negative split":   {begin(3, 0, 1).text(keySplit).u32(typeInt32).u32(1 << 31).data(9), "is negative or beyond counting"},
		"long name":        {begin(3, 1, 0).text(strings.Repeat("n", maxName+1)).data(99), "entry 1 of its list of 1 tensors has a name of 65536 bytes"},
		"name to 2^63":     {begin(3, 1, 0).u64(1 << 63).data(99), "has a string of 9223372036854775808 bytes"},
		"name not UTF-8":   {begin(3, 1, 0).tensor("a\xff", 0, 0, 1).data(99), `the name "a\xff", which is not UTF-8`},
		"twice":            {begin(3, 2, 0).tensor("a", 0, 0, 1).tensor("a", 0, 32, 1).data(99), `two tensors named "a"`},
		"rank":             {begin(3, 1, 0).tensor("a", 0, 0, make([]uint64, 65)...).data(99), `tensor "a" has 65 dimensions; up to 64 are read`},
		"rank of 2^32":     {begin(3, 1, 0).text("a").u32(1<<32 - 1).data(99), `tensor "a" has 4294967295 dimensions`},
		"extent":           {begin(3, 1, 0).tensor("a", 0, 0, 1<<63).data(99), `tensor "a" has an extent of 9223372036854775808`},
		"extents":          {begin(3, 1, 0).tensor("a", 0, 0, 1<<30, 1<<30, 1<<30).data(99), `tensor "a" is F32[1073741824,1073741824,1073741824], more bytes than can be counted`},
		"extents of bytes": {begin(3, 1, 0).tensor("a", 28, 0, 1<<30, 1<<30, 2).data(99), `tensor "a" is F64[2,1073741824,1073741824], more bytes than can be counted`},
		"row of bytes":     {begin(3, 1, 0).tensor("a", 0, 0, math.MaxInt, 0).data(99), "more bytes than can be counted"},
		"offset":           {begin(3, 1, 0).tensor("a", 0, 1<<63, 1).data(99), `tensor "a" begins at byte 9223372036854775808`},
		"offset unaligned": {begin(3, 1, 0).tensor("a", 0, 16, 1).data(99), `tensor "a" begins at byte 16 of the data, and the alignment is 32`},
		"offset of empty":  {begin(3, 1, 0).tensor("a", 0, 16, 0).data(99), `tensor "a" begins at byte 16`},
		"offset behind":    {begin(3, 1, 0).tensor("a", 0, 128, 1).data(64), `tensor "a" is F32[1], 4 bytes from byte 128 of the data, and the file has 64 bytes of data`},
		"offset far":       {begin(3, 1, 0).tensor("a", 0, 1<<63-32, 1).data(64), `from byte 9223372036854775776 of the data`},
		"cut short":        {begin(3, 1, 0).tensor("a", 0, 0, 5, 4).data(79), `tensor "a" is F32[4,5], 80 bytes from byte 0 of the data, and the file has 79 bytes of data`},
		"kind at the end":  {begin(3, 1, 0).tensor("a", 99, 96, 5, 4).data(79), `tensor "a" is kind 99[4,5], unknown bytes from byte 96`},
		"no data at all":   {begin(3, 1, 0).tensor("a", 0, 0, 1).Bytes(), `and the file has 0 bytes of data`},
		"overlap":          {begin(3, 2, 0).tensor("a", 0, 0, 9).tensor("b", 0, 32, 9).data(99), `tensor "a" and tensor "b" overlap, from byte`},
		"same place":       {begin(3, 2, 0).tensor("a", 0, 32, 1).tensor("b", 99, 32, 1).data(99), `overlap`},
		"half a block":     {begin(3, 1, 0).tensor("a", 8, 0, 33).data(99), `tensor "a" is Q8_0[33], and rows of it come in blocks of 32`},
		"scalar block":     {begin(3, 1, 0).tensor("a", 2, 0).data(99), `tensor "a" is Q4_0[], and rows of it come in blocks of 32`},
		"alignment of all": {begin(3, 1, 1).text(keyAlignment).u32(typeUint32).u32(1<<31).tensor("a", 0, 0, 1).data(999), "and the file has 0 bytes of data"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parsed(tt.file)
			refused(t, err, ErrFormat, tt.want)
		})
	}
}

// TestSmall reads minimal valid files.
func TestSmall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.gguf")
	save := func(b []byte) *File {
		t.Helper()
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := save(begin(3, 0, 0).Bytes()); len(f.Tensors()) != 0 {
		t.Error("tensors")
	}
	m := begin(2, 5, 0).tensor("scalar", 24, 0).tensor("empty", 0, 64, 4, 0).tensor("none", 8, 32, 0, 7).tensor("new", 99, 32, 4).tensor("", 24, 64, 3)
	f := save(append(m.data(64), 1, 2, 3))
	for name, want := range map[string]string{"scalar": "i8[]", "empty": "f32[0,4]", "none": "f32[7,0]", "": "i8[3]"} {
		a, err := f.Array(name, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := a.Spec().String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		x := must(layout.Read(context.Background(), a))
		if name == "" && !bytes.Equal(bytesOf(x), []byte{1, 2, 3}) {
			t.Errorf("%s", x)
		}
		a.Close()
	}
	for _, o := range []Options{{}, {Raw: true}} {
		_, err := f.Array("new", o)
		refused(t, err, garner.ErrDType, `a.gguf: tensor "new": it is of kind 99`)
	}
	_, err := f.Array("scaler", Options{})
	refused(t, err, fs.ErrNotExist, `a.gguf: it has no tensor "scaler"; it has "scalar", "empty"`)

	// The file is replaced before the tensor is opened.
	if err := os.WriteFile(path, append(m.data(64), 1, 2, 3, 4), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = f.Array("scalar", Options{})
	refused(t, err, source.ErrChanged, "a.gguf: the file was changed or replaced")

	// A quantised tensor of a big-endian file.
	m = &maker{order: binary.BigEndian}
	m.WriteString(magic)
	m.u32(3).u64(1).u64(0).tensor("q", 8, 0, 32)
	f = save(m.data(34))
	_, err = f.Array("q", Options{})
	refused(t, err, garner.ErrDType, `tensor "q": it is quantised as Q8_0 in a big-endian file`, "Options.Raw")
	if _, err := OpenArray(path, "q", Options{Raw: true}); err != nil {
		t.Error(err)
	}
	_, err = Open(filepath.Join(dir, "nosuch.gguf"))
	refused(t, err, fs.ErrNotExist, "nosuch.gguf")
	_, err = Open(dir)
	refused(t, err, nil, "is a folder")
}

// TestSplitRefused tries corrupt models of three files.
func TestSplitRefused(t *testing.T) {
	var parts [3][]byte
	names := []string{"split-00001-of-00003.gguf", "split-00002-of-00003.gguf", "split-00003-of-00003.gguf"}
	for i, n := range names {
		parts[i] = must(os.ReadFile(filepath.Join("testdata", n)))
	}
	fill := func(t *testing.T, names ...string) string {
		dir := t.TempDir()
		for i, n := range names {
			if n != "" {
				if err := os.WriteFile(filepath.Join(dir, n), parts[i], 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		return dir
	}
	_, err := Open(filepath.Join(fill(t, names[0], "", names[2]), names[0]))
	refused(t, err, fs.ErrNotExist, names[1])
	_, err = Open(filepath.Join(fill(t, names[1], names[0], names[2]), names[2]))
	refused(t, err, ErrFormat, names[0]+": its name says that it is file 1 of 3, and its header that it is 2 of 3")
	_, err = Open(filepath.Join(fill(t, "model.gguf"), "model.gguf"))
	refused(t, err, ErrFormat, "model.gguf: its header says it is file 1 of 3 of a model; give each the name that it had, such as model-00001-of-00003.gguf")
	_, err = Open(filepath.Join(fill(t, "m-00001-of-00002.gguf"), "m-00001-of-00002.gguf"))
	refused(t, err, ErrFormat, "give each the name")
	_, err = Open(filepath.Join(fill(t, "m-00007-of-00003.gguf"), "m-00007-of-00003.gguf"))
	refused(t, err, ErrFormat, "it is named as file 00007 of 00003")
	plain := must(os.ReadFile(filepath.Join("testdata", "aligned.gguf")))
	parts[1] = plain
	_, err = Open(filepath.Join(fill(t, names...), names[0]))
	refused(t, err, ErrFormat, names[1]+": its name says that it is file 2 of 3, and its header that it is 1 of 1")
	// Replace the second part: first with a wrong number of tensors, then with a tensor
	// of the first part.
	second := func(tensors ...string) []byte {
		m := begin(3, uint64(len(tensors)), 2).text(keySplit).u32(typeUint16)
		m.Write([]byte{1, 0})
		m.text(keySplits).u32(typeUint16)
		m.Write([]byte{3, 0})
		for _, n := range tensors {
			m.tensor(n, 24, 0, 0)
		}
		return m.data(0)
	}
	parts[1] = second("x")
	_, err = Open(filepath.Join(fill(t, names...), names[0]))
	refused(t, err, ErrFormat, "its 3 files hold 5 tensors, and their headers say 7")
	parts[1] = second("plain.f4")
	_, err = Open(filepath.Join(fill(t, names...), names[2]))
	refused(t, err, ErrFormat, names[1]+`: it has tensor "plain.f4", which another of the model's files has too`)
}

// TestTruncated truncates files at every byte. None may be read as a complete file.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"real.gguf", "version2.gguf", "big.gguf", "split-00001-of-00003.gguf"} {
		whole := must(os.ReadFile(filepath.Join("testdata", name)))
		h, err := parsed(whole)
		if err != nil {
			t.Fatal(err)
		}
		end := int64(0)
		for _, tensor := range h.tensors {
			end = max(end, tensor.At+tensor.Bytes)
		}
		for n := range whole {
			// Only padding follows the last tensor.
			if _, err := parsed(whole[:n]); (err == nil) != (int64(n) >= end) || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("%s, cut short to %d of %d bytes: %v", name, n, len(whole), err)
			}
		}
	}
}

// TestKindsOfCodec (QB.1) holds that files know each kind of package codec, and read as
// f32 what it decodes.
func TestKindsOfCodec(t *testing.T) {
	for _, c := range codec.AllOfGGUF() {
		h, err := parsed(begin(3, 1, 0).tensor("a", c.Number, 0, uint64(2*c.Elements), 3).data(6 * c.Bytes))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		want := garner.Invalid
		switch {
		case c.Elements == 1:
			want = map[string]garner.DType{"F16": garner.F16, "BF16": garner.BF16}[c.Name]
		case c.Decode != nil:
			want = garner.F32
		}
		if a := h.tensors[0]; a.Kind != c.Name || a.DType != want || a.Bytes != int64(6*c.Bytes) {
			t.Errorf("%s: a file has %s of %s in %d bytes, want %s in %d", c.Name, a.Kind, a.DType, a.Bytes, want, 6*c.Bytes)
		}
		if at, err := h.tensors[0].layout(Options{}); (err == nil) != (c.Decode != nil) || err == nil && at.Spec.DType != want {
			t.Errorf("%s is read as %s, %v; want %s", c.Name, at.Spec, err, want)
		}
	}
}

// TestBlocks (GR.2) holds that Blocks reads every kind that is decoded as its bytes, of
// F16 little-endian whatever the file is, and no other.
func TestBlocks(t *testing.T) {
	for _, name := range []string{"real.gguf", "big.gguf"} {
		f := must(Open(filepath.Join("testdata", name)))
		for _, tensor := range f.Tensors() {
			a, err := f.Array(tensor.Name, Options{Blocks: true})
			if err != nil {
				t.Errorf("%s: %v", tensor.Name, err)
				continue
			}
			c, decoded := codec.GGUF(tensor.Kind)
			switch spec := a.Spec(); {
			case !decoded && tensor.DType != garner.Invalid:
				if spec.DType != tensor.DType {
					t.Errorf("%s is read as %s", tensor.Name, spec)
				}
			case spec.DType != garner.U8:
				t.Errorf("%s is read as %s", tensor.Name, spec)
			case decoded:
				blocks := must(layout.Read(t.Context(), a))
				got := make([]byte, 4*len(bytesOf(blocks))/c.Bytes*c.Elements)
				c.Decode(got, bytesOf(blocks))
				numbers := must(f.Array(tensor.Name, Options{}))
				if want := bytesOf(must(layout.Read(t.Context(), must(source.Convert(numbers, garner.F32))))); !bytes.Equal(got, want) {
					t.Errorf("%s: %s: blocks decode to other numbers", name, tensor.Name)
				}
				numbers.Close()
			}
			a.Close()
		}
	}
}

// FuzzParse parses any bytes. Accepted tensors lie inside the file and can be opened.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.gguf"))
	if err != nil || len(files) < 7 {
		f.Fatal(err, len(files))
	}
	for _, name := range files {
		b := must(os.ReadFile(name))
		f.Add(b)
		f.Add(b[:len(b)/2])
		spoilt := bytes.Clone(b)
		spoilt[40] ^= 0x80
		f.Add(spoilt)
	}
	f.Add(begin(3, 2, 0).tensor("a", 8, 0, 32).tensor("b", 24, 64, 3).data(99))
	f.Add(begin(3, 0, 1).text("k").u32(typeArray).u32(typeArray).u64(2).u32(typeString).u64(0).u32(typeUint8).u64(1).data(99))
	for n, k := range kinds {
		f.Add(begin(3, 1, 0).tensor("a", n, 0, uint64(2*k.block), 1).data(2 * k.bytes))
		f.Add(begin(3, 1, 0).tensor("a", n, 0, uint64(2*k.block+1), 1).data(2*k.bytes - 1))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parsed(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("of no class: %v", err)
			}
			return
		}
		var names []string
		for _, tensor := range h.tensors {
			names = append(names, tensor.Name)
			if tensor.At < 0 || tensor.Bytes < -1 || tensor.At > int64(len(b)) || tensor.Bytes > int64(len(b))-tensor.At {
				t.Errorf("%d bytes at %d of a file of %d", tensor.Bytes, tensor.At, len(b))
			}
		}
		if slices.Sort(names); len(slices.Compact(names)) != len(h.tensors) {
			t.Error("a name twice")
		}
		if h.splits > 1 || len(h.tensors) > 8 {
			return
		}
		path := filepath.Join(dir, "x.gguf")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			for _, o := range []Options{{}, {Raw: true}} {
				a, err := file.Array(name, o)
				if err != nil {
					if !errors.Is(err, garner.ErrDType) {
						t.Error(err)
					}
					continue
				}
				if _, err := layout.Read(context.Background(), a); err != nil {
					t.Error(err)
				}
				a.Close()
			}
		}
	})
}

// TestMemory checks that the reader skips metadata without holding it, and that false
// counts do not allocate memory.
func TestMemory(t *testing.T) {
	m := begin(3, 1, 3).text("long").u32(typeString).text(strings.Repeat("x", 8<<20))
	m.text("words").u32(typeArray).u32(typeString).u64(200000)
	for range 200000 {
		m.text("token")
	}
	m.text(strings.Repeat("k", 2<<20)).u32(typeUint8)
	m.WriteByte(1)
	file := m.tensor("a", 24, 0, 3).data(3)
	lying := begin(3, maxTensors, 0).tensor("a", 24, 0, 3).data(24 * maxTensors)
	for name, b := range map[string][]byte{"sound": file, "lying": lying} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parsed(b)
		runtime.ReadMemStats(&after)
		if (err == nil) != (name == "sound") {
			t.Error(err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes of memory for a header of %d", name, n, len(b))
		}
	}
}
