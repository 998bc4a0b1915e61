package npy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
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
	"strings"
	"testing"
	"testing/iotest"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/strict"
)

var keep = flag.String("keep", "", "a folder in which to keep the files that TestNumPy writes, for testdata/make.py --check")

// A recording is a file that NumPy wrote; see testdata/make.py.
type recording struct {
	Name    string
	NPY     []byte // base64 in JSON
	Ask     string
	DType   string
	Shape   []int
	Hex     string
	Strings []string
	Same    bool
	Refused string
}

func (r *recording) options(t testing.TB) Options {
	if r.Ask == "" {
		return Options{}
	}
	return Options{DType: dtype(t, r.Ask)}
}

func dtype(t testing.TB, name string) garner.DType {
	d, err := garner.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func recordings(t testing.TB) []recording {
	file, err := os.Open(filepath.Join("testdata", "numpy.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []recording
	for d := json.NewDecoder(file); ; {
		var r recording
		if err := d.Decode(&r); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// check compares a tensor with the values that NumPy recorded.
func (r *recording) check(t *testing.T, how string, x garner.Tensor) {
	t.Helper()
	if got, want := x.DType(), dtype(t, r.DType); got != want || !x.Shape().Equal(r.Shape) {
		t.Fatalf("%s: %s%s, want %s%v", how, got, x.Shape(), want, r.Shape)
	}
	x, err := x.Clone()
	if err != nil {
		t.Fatal(err)
	}
	if x.DType() == garner.String {
		values, err := garner.Values[string](x)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, s := range values {
			got = append(got, hex.EncodeToString([]byte(s)))
		}
		if !slices.Equal(got, r.Strings) {
			t.Errorf("%s: strings %q, want %q", how, got, r.Strings)
		}
		return
	}
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b); got != r.Hex {
		t.Errorf("%s: %s, want %s", how, got, r.Hex)
	}
}

// TestNumPy reads NumPy's files, from disk and from a stream, and writes them again.
func TestNumPy(t *testing.T) {
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	for _, r := range recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.npy")
			save(t, path, r.NPY)
			opened, err := Open(path, r.options(t))
			_, readErr := Read(bytes.NewReader(r.NPY), r.options(t))
			if r.Refused != "" {
				for _, err := range []error{err, readErr} {
					if err == nil || !strings.Contains(err.Error(), r.Refused) {
						t.Errorf("%v; want an error with %q", err, r.Refused)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			r.check(t, "mapped", opened.Tensor())

			stream := iotest.OneByteReader(io.MultiReader(bytes.NewReader(r.NPY), strings.NewReader("rest")))
			read, err := OpenReader(stream, r.options(t))
			if err != nil {
				t.Fatal(err)
			}
			r.check(t, "read", read.Tensor())
			if read.Descr() != opened.Descr() || !bytes.Contains(r.NPY, []byte("'"+read.Descr()+"'")) {
				t.Errorf("Descr is %q and %q", read.Descr(), opened.Descr())
			}
			if err := read.Close(); err != nil {
				t.Error(err)
			}
			if rest, err := io.ReadAll(stream); err != nil || string(rest) != "rest" {
				t.Errorf("the stream goes on with %q, %v", rest, err)
			}

			var written bytes.Buffer
			if opened.Tensor().DType() == garner.String {
				err = WriteStrings(&written, opened.Tensor(), opened.Descr())
			} else {
				err = Write(&written, opened.Tensor())
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := written.Bytes(), r.NPY; r.Same && !bytes.Equal(got, want) {
				t.Errorf("wrote %q\nNumPy %q", got, want)
			}
			save(t, filepath.Join(dir, r.Name+".npy"), written.Bytes())
			o := r.options(t)
			if d := opened.Tensor().DType(); descrOf(d)[1] == 'V' && d != garner.String {
				o.DType = d
			}
			back, err := Read(&written, o)
			if err != nil {
				t.Fatal(err)
			}
			r.check(t, "written and read", back)
		})
	}
}

func save(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestOpenMaps checks that little-endian numbers are mapped, not copied.
func TestOpenMaps(t *testing.T) {
	for _, r := range recordings(t) {
		want := false
		switch r.Name {
		case "f4", "Fortran order", "bfloat16", "version 3":
			want = true
		case "f4 big-endian", "U", "S", "int4":
		default:
			continue
		}
		path := filepath.Join(t.TempDir(), "x.npy")
		save(t, path, r.NPY)
		f, err := Open(path, r.options(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.mapped != nil; got != want {
			t.Errorf("%s: mapped is %t", r.Name, got)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// file makes a .npy file of a header's text and data.
func file(text, data string) string {
	return magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text + data
}

func dict(descr, shape string) string {
	return fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
}

// TestHeaders reads headers that NumPy accepts and does not write.
func TestHeaders(t *testing.T) {
	for name, text := range map[string]string{
		"Python 2":          "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 1L), }",
		"any order":         "{'shape': (2, 1), 'fortran_order': False, 'descr': '<i2'}",
		"double quotes":     `{"descr": "<i2", "fortran_order": False, "shape": (2, 1)}`,
		"spaces":            " {\t'descr':'<i2','fortran_order':False,\n'shape':(2,1 ,) ,  } \n ",
		"no order":          dict("'i2'", "(2, 1)"),
		"the machine's own": dict("'=i2'", "(2, 1)"),
		"no order matters":  dict("'|i2'", "(2, 1)"),
	} {
		x, err := Read(strings.NewReader(file(text, "\x01\x00\x02\x00")), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := x.String(); got != "i16[2,1] [[1], [2]]" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRefused tries files with false headers and truncated files, and checks the
// messages.
func TestRefused(t *testing.T) {
	good := file(dict("'<f4'", "(2, 3)"), strings.Repeat("\x00", 24))
	for _, tt := range []struct {
		name, file string
		class      error
		message    string // by file
		stream     string // by stream; "" is the same
	}{
		{"empty", "", ErrFormat, "it is empty, and no .npy file; save the array with numpy.save", ""},
		{"other", "hello, world", ErrFormat, `this with "hello,"; save the array with numpy.save`, ""},
		{"npz", "PK\x03\x04.....", ErrFormat, "it is a zip archive, as .npz is; name it FILE.npz, and one array of it FILE.npz#NAME", ""},
		{"version", magic + "\x04\x00\x00\x00", ErrFormat, "it is .npy version 4.0; versions 1.0, 2.0 and 3.0 are read", ""},
		{"cut in the magic", good[:3], ErrFormat, "it ends after 3 bytes, inside the header; it was cut short: copy or save it again", ""},
		{"cut behind the magic", good[:6], ErrFormat, "it ends after 6 bytes, inside the header; it was cut short: copy or save it again", ""},
		{"cut in the version", good[:7], ErrFormat, "it ends after 7 bytes, inside the header", ""},
		{"cut in the prefix", good[:9], ErrFormat, "it ends after 9 bytes, inside the header", ""},
		{"cut in the header", good[:40], ErrFormat, "it ends after 40 bytes, inside the header", ""},
		{"cut in the data", good[:len(good)-3], ErrFormat, "asks for <f4[2,3], 24 bytes, and the file has 21; it was cut short", "asks for <f4[2,3], 24 bytes, and it ends after 21; it was cut short"},
		{"long header", magic + "\x02\x00\x00\x00\x01\x00" + good, ErrFormat, "its header says it is 65536 bytes long; up to 65535 are read", ""},
		{"longest header", magic + "\x03\x00\xff\xff\xff\xff" + good, ErrFormat, "its header says it is 4294967295 bytes long", ""},

		{"2^60 bytes", file(dict("'<f8'", "(134217728, 1073741824)"), "12345678"), nil, "", ""}, // below
		{"overflow of elements", file(dict("'|i1'", "(4294967296, 4294967296)"), ""), ErrFormat, "than an int can count", ""},
		{"overflow of bytes", file(dict("'<U536870911'", "(2147483647, 2147483647)"), ""), ErrFormat, "more bytes than an int can count", ""},
		{"extent", file(dict("'|i1'", "(99999999999999999999,)"), ""), ErrFormat, "an extent of 99999999999999999999, more than an int can count", ""},
		{"negative extent", file(dict("'|i1'", "(-1,)"), ""), ErrFormat, `an extent, an integer of 0 or more, should stand where "-1,), }`, ""},
		{"octal extent", file(dict("'|i1'", "(010,)"), ""), ErrFormat, "an integer of 0 or more, should stand", ""},
		{"no tuple", file(dict("'|i1'", "(3)"), ""), ErrFormat, `, should stand where "), }\n" stands`, ""},
		{"list", file(dict("'|i1'", "[3]"), ""), ErrFormat, "a tuple of integers should stand", ""},
		{"no comma", file(dict("'|i1'", "(3, 4"), ""), ErrFormat, `extent, an integer of 0 or more, should stand where "}`, ""},
		{"no comma in tuple", file(dict("'|i1'", "(3, 4 5)"), ""), ErrFormat, `, should stand where "5), }`, ""},
		{"65 dimensions", file(dict("'|i1'", "("+strings.Repeat("1, ", 65)+")"), "1"), ErrFormat, "its array has 65 dimensions; up to 64 are read", ""},
		{"elements of no bytes", file(dict("'|S0'", "(1000000000,)"), ""), ErrFormat, "1000000000 elements of no bytes (|S0)", ""},

		{"no dict", file("descr", ""), ErrFormat, `its header is spoilt: { should stand where "descr" stands`, ""},
		{"open dict", file("{'descr': '<f4', ", ""), ErrFormat, "a quoted string should stand where its end stands", ""},
		{"no colon", file("{'descr' '<f4'}", ""), ErrFormat, ": should stand where", ""},
		{"no comma in dict", file("{'descr': '<f4' 'shape': ()}", ""), ErrFormat, ", or } should stand where", ""},
		{"key twice", file("{'shape': (), 'shape': ()}", ""), ErrFormat, "its header has shape twice", ""},
		{"unknown key", file("{'shapes': ()}", ""), ErrFormat, `its header has the unknown key "shapes"`, ""},
		{"lacks a key", file("{'descr': '<f4', 'shape': ()}", ""), ErrFormat, "its header lacks fortran_order", ""},
		{"more after it", file(dict("'<f4'", "()")+"x", "1234"), ErrFormat, `nothing more should stand where "x" stands`, ""},
		{"no boolean", file("{'fortran_order': 0}", ""), ErrFormat, "True or False should stand where", ""},
		{"escape", file(`{'descr': '<f4\x00'}`, ""), ErrFormat, "a quoted string should stand where", ""},

		{"records", file(dict("[('a', '<f4')]", "(2,)"), "12345678"), garner.ErrDType, "it holds records ([('a', '<f4')]", ""},
		{"long records", file(dict("[('a', '<f4'), "+strings.Repeat("('b', '<f4'), ", 9)+"]", "(2,)"), ""), garner.ErrDType, "…); save one field", ""},
		{"unknown dtype", file(dict("'<q4'", "(2,)"), ""), garner.ErrDType, `its dtype "<q4" is not read; bool, i1 to i8`, ""},
		{"unknown width", file(dict("'<i3'", "(2,)"), ""), garner.ErrDType, `its dtype "<i3" is not read`, ""},
		{"no width", file(dict("'<i'", "(2,)"), ""), garner.ErrDType, `its dtype "<i" is not read`, ""},
		{"no dtype", file(dict("'<'", "(2,)"), ""), garner.ErrDType, `its dtype "<" is not read`, ""},
		{"wide dtype", file(dict("'<U600000000'", "(0,)"), ""), garner.ErrDType, `its dtype "<U600000000" is not read`, ""},
		{"12-byte long double", file(dict("'<f12'", "(2,)"), ""), garner.ErrDType, `long doubles (<f12), whose form differs between machines; save a.astype("f8")`, ""},
		{"no character", file(dict("'<U1'", "(2,)"), "a\x00\x00\x00\x00\x00\x11\x00"), ErrFormat, "element [1] of the file holds the code 0x110000, which is no Unicode", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "2^60 bytes" {
				tt.class, tt.message = ErrFormat, "asks for <f8[134217728,1073741824], 1152921504606846976 bytes, and the file has 8; it was cut short"
				tt.stream = "asks for <f8[134217728,1073741824], 1152921504606846976 bytes, and it ends after 8"
				if math.MaxInt == math.MaxInt32 {
					tt.message, tt.stream = "more bytes than an int can count", ""
				}
			}
			path := filepath.Join(t.TempDir(), "x.npy")
			save(t, path, []byte(tt.file))
			f, err := Open(path, Options{})
			if err == nil {
				f.Close()
			}
			refused(t, err, tt.class, "garner: "+path+": ", tt.message)
			_, err = Read(strings.NewReader(tt.file), Options{})
			if tt.stream == "" {
				tt.stream = tt.message
			}
			refused(t, err, tt.class, "garner: the npy stream: ", tt.stream)
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
		t.Errorf("%v\nwant an error of class %q that begins with %q and contains %q", err, class, begin, message)
	}
}

// TestRefusedBeforeAllocating checks that a false header allocates nothing.
func TestRefusedBeforeAllocating(t *testing.T) {
	lie := file(dict("'<f8'", "(16777216, 2)"), "12345678") // 256 MiB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Read(strings.NewReader(lie), Options{}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes were allocated for a stream of %d", n, len(lie))
	}
}

// TestReadGrows reads more than the first allocation.
func TestReadGrows(t *testing.T) {
	data := make([]byte, 3*firstRead+8)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	x := garner.Of(data, len(data)/4, 4)
	var b bytes.Buffer
	if err := Write(&b, x); err != nil {
		t.Fatal(err)
	}
	if y, err := Read(bufio.NewReader(&b), Options{}); err != nil {
		t.Fatal(err)
	} else if got, err := y.Bytes(); err != nil || !bytes.Equal(got, data) {
		t.Errorf("other bytes came back; %v", err)
	}
}

func TestDTypeOption(t *testing.T) {
	for _, tt := range []struct {
		descr, shape string
		ask          garner.DType
		message      string // "" if the file is valid
	}{
		{"'<f4'", "(2,)", garner.F32, ""},
		{"'<f4'", "(2,)", garner.I32, "it holds f32 (<f4), not i32; leave the dtype out"},
		{"'|i1'", "(8,)", garner.I4, "it holds i8 (|i1), not i4"},
		{"'|S1'", "(8,)", garner.U8, "it holds string (|S1), not u8"},
		{"'|S1'", "(8,)", garner.String, ""},
		{"'|V1'", "(8,)", garner.Invalid, `its dtype "|V1" does not say what its bytes mean; give the dtype (Options.DType bf16`},
		{"'|V1'", "(8,)", garner.BF16, "its elements are of 1 bytes (|V1) and cannot be bf16; give a dtype of that width"},
		{"'|V2'", "(4,)", garner.I4, "its elements are of 2 bytes (|V2) and cannot be i4"},
		{"'|V2'", "(4,)", garner.String, "cannot be string"},
		{"'|V2'", "(4,)", garner.DType(200), "cannot be dtype(200)"},
		{"'|V4'", "(2,)", garner.F32, ""},
		{"'|V1'", "(8,)", garner.NF4, ""},
	} {
		x, err := Read(strings.NewReader(file(dict(tt.descr, tt.shape), "12345678")), Options{DType: tt.ask})
		if tt.message != "" {
			refused(t, err, garner.ErrDType, "garner: ", tt.message)
		} else if err != nil || x.DType() != tt.ask {
			t.Errorf("%s as %s: %s, %v", tt.descr, tt.ask, x.DType(), err)
		}
	}
}

// TestPackIgnoresOtherBits reads int4 as ml_dtypes does, which uses the low bits
// alone.
func TestPackIgnoresOtherBits(t *testing.T) {
	x, err := Read(strings.NewReader(file(dict("'|V1'", "(3,)"), "\xf7\xff\x21")), Options{DType: garner.I4})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := x.Bytes(); err != nil || !bytes.Equal(b, []byte{0xf7, 0x01}) {
		t.Errorf("%x, %v", b, err)
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none.npy"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	good := file(dict("'<f4'", "(2,)"), "12345678")
	for _, n := range []int{0, 9, 30, len(good) - 4} {
		broken := errors.New("broken")
		_, err := Read(io.MultiReader(strings.NewReader(good[:n]), iotest.ErrReader(broken)), Options{})
		refused(t, err, broken, "garner: the npy stream: ", "it cannot be read: broken")
	}
}

// TestTruncated truncates a mapped file.
func TestTruncated(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	save(t, path, []byte(file(dict("'<f4'", "(65536, 4)"), strings.Repeat("1234", 4*65536))))
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	transposed, err := f.Tensor().Transpose()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []garner.Tensor{f.Tensor(), transposed} {
		if err := Write(new(bytes.Buffer), x); !errors.Is(err, garner.ErrFault) {
			t.Errorf("writing what is gone: %v", err)
		}
		if _, err := x.Clone(); !errors.Is(err, garner.ErrFault) {
			t.Errorf("copying what is gone: %v", err)
		}
		if _, err := garner.Gather(strict.Gather{}, x, garner.Of([]int64{1}, 1)); !errors.Is(err, garner.ErrFault) {
			t.Errorf("gathering what is gone: %v", err)
		}
	}
}

// TestWriteStrided writes views of all kinds, larger and smaller than a block.
func TestWriteStrided(t *testing.T) {
	for _, d := range []garner.DType{garner.U8, garner.I4, garner.U1, garner.F64, garner.Complex128, garner.String} {
		shapes := [][]int{{3, 5}}
		if d == garner.F64 {
			const block = 1 << 17 // elements
			shapes = append(shapes, []int{3, 5, block / 10}, []int{2, block + 9}, []int{block + 9, 2})
		}
		if d == garner.I4 {
			shapes = append(shapes, []int{1<<20 + 3}) // a block and three
		}
		for _, shape := range shapes {
			x, err := garner.New(d, shape...)
			if err != nil {
				t.Fatal(err)
			}
			if d == garner.String {
				values, _ := garner.Values[string](x)
				for i := range values {
					values[i] = strings.Repeat("é", i)
				}
			} else {
				b, _ := x.Bytes()
				for i := range b {
					b[i] = byte(i*i>>7 + i)
				}
			}
			last := len(shape) - 1
			transposed := must(x.Transpose())
			for name, view := range map[string]garner.Tensor{
				"whole":      x,
				"transposed": transposed,
				"part":       must(x.Slice(last, 1, shape[last], 1)),
				"backwards":  must(x.Slice(0, shape[0]-1, -1, -1)),
			} {
				var b bytes.Buffer
				if err := Write(&b, view); err != nil {
					t.Fatal(err)
				}
				o := Options{}
				if d.Packed() {
					o.DType = d
				}
				got := must(Read(&b, o))
				want := must(view.Clone())
				if d == garner.String {
					if g, w := must(garner.Values[string](got)), must(garner.Values[string](want)); !slices.Equal(g, w) {
						t.Errorf("%s%v %s: %q, want %q", d, shape, name, g, w)
					}
				} else if !got.Shape().Equal(want.Shape()) || !bytes.Equal(must(got.Bytes()), must(want.Bytes())) {
					t.Errorf("%s%v %s: other elements came back", d, shape, name)
				}
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestDescr checks the dtype that is written for each of garner's.
func TestDescr(t *testing.T) {
	want := map[garner.DType]string{
		garner.Bool: "|b1", garner.I8: "|i1", garner.I16: "<i2", garner.I32: "<i4", garner.I64: "<i8",
		garner.U8: "|u1", garner.U16: "<u2", garner.U32: "<u4", garner.U64: "<u8",
		garner.F16: "<f2", garner.F32: "<f4", garner.F64: "<f8", garner.Complex64: "<c8", garner.Complex128: "<c16",
		garner.BF16: "|V2", garner.String: "<U1",
	}
	for _, d := range garner.DTypes() {
		x, err := garner.New(d, 2)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, x); err != nil {
			t.Fatal(err)
		}
		w, ok := want[d]
		if !ok {
			w = "|V1"
		}
		if !bytes.Contains(b.Bytes(), []byte("'"+w+"'")) {
			t.Errorf("%s is written as %.40q, want %s", d, b.Bytes(), w)
		}
	}
}

func TestWriteStrings(t *testing.T) {
	for _, tt := range []struct {
		values  []string
		descr   string
		want    string // the dtype in the file
		message string
	}{
		{[]string{"a", "naïve"}, "", "<U5", ""},
		{[]string{"a", "na\xefve"}, "", "|S5", ""},
		{[]string{"a", "naïve"}, "S", "|S6", ""},
		{[]string{"a", "naïve"}, "|S10", "|S10", ""},
		{[]string{"a", "naïve"}, ">U3", "<U5", ""},
		{[]string{"a", "naïve"}, "<U30", "<U30", ""},
		{[]string{""}, "|S0", "|S1", ""},
		{nil, "U", "<U1", ""},
		{[]string{strings.Repeat("long", 300000), "a"}, "S", "|S1200000", ""},
		{[]string{strings.Repeat("long", 300000), "a"}, "U", "<U1200000", ""},
		{[]string{"a", "b\x00"}, "", "", `element [1], "b\x00", ends in NUL, which NumPy drops`},
		{[]string{"a", "b\x00"}, "S", "", "element [1]"},
		{[]string{"a", "na\xefve"}, "U", "", `element [1], "na\xefve", is not UTF-8 and cannot be written as U; write the strings as S`},
		{[]string{"a"}, "f4", "", `strings cannot be written as "f4"; write them as U or S`},
		{[]string{"a"}, "<", "", `strings cannot be written as "<"`},
		{[]string{"a"}, "U-1", "", "with a width up to"},
		{[]string{"a"}, "U2147483647", "", "a string of 2147483647 characters is longer than NumPy's U can be, 536870911"},
	} {
		x := garner.Of(tt.values, len(tt.values))
		var b bytes.Buffer
		err := WriteStrings(&b, x, tt.descr)
		if tt.descr == "" {
			b.Reset()
			err = Write(&b, x)
		}
		if tt.message != "" {
			refused(t, err, garner.ErrDType, "garner: ", tt.message)
			if b.Len() > 0 {
				t.Errorf("%d bytes were written before the error", b.Len())
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		f, err := OpenReader(&b, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := must(garner.Values[string](f.Tensor())); f.Descr() != tt.want || !slices.Equal(got, tt.values) {
			t.Errorf("%.40q as %q: %.40q as %q, want %q", tt.values, tt.descr, got, f.Descr(), tt.want)
		}
	}
	refused(t, WriteStrings(io.Discard, garner.Of([]int8{1}, 1), "U"), garner.ErrDType, "garner: ", `a tensor of i8 cannot be written as "U"`)
	refused(t, Write(io.Discard, garner.Tensor{}), garner.ErrDType, "garner: ", "there is no tensor to write")
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

// TestWriteFails checks that every failed write is reported.
func TestWriteFails(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for _, x := range []garner.Tensor{
		garner.Of([]int16{1, 2}, 2),
		garner.Of([]string{"a", "b"}, 2),
		garner.Of([]string{"a", long}, 2),
		garner.Of([]string{long, "a"}, 2),
		must(garner.New(garner.U4, 3)),
	} {
		var b bytes.Buffer
		if err := Write(&b, x); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 128, b.Len() / 3, b.Len() / 2, b.Len() - 1} {
			if err := Write(&failing{n}, x); err != errFull {
				t.Errorf("%s: after %d bytes: %v", x.DType(), n, err)
			}
		}
		if err := Write(&failing{b.Len()}, x); err != nil {
			t.Error(err)
		}
	}
}

// FuzzRead reads any bytes. An array that is read can be written and read again.
func FuzzRead(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.NPY, uint8(r.options(f).DType))
	}
	f.Add([]byte(file(dict("'|S0'", "(0, 9223372036854775807)"), "")), uint8(0))
	f.Add([]byte(file(dict("'<f8'", "(134217728, 1073741824)"), "12345678")), uint8(0))
	f.Add([]byte(file("{'descr': [('a', '<f4')], 'fortran_order': True, 'shape': (2L,)}", "12345678")), uint8(0))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, ask uint8) {
		o := Options{DType: garner.DType(ask)}
		path := filepath.Join(dir, "x.npy")
		save(t, path, b)
		opened, openErr := Open(path, o)
		if openErr == nil {
			defer opened.Close()
		}
		agree(t, path, o, opened, openErr)
		x, err := Read(bytes.NewReader(b), o)
		if (err == nil) != (openErr == nil) {
			t.Fatalf("read: %v; opened: %v", err, openErr)
		}
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, garner.ErrDType) {
				t.Errorf("an error without a class: %v", err)
			}
			return
		}
		var once, mapped, twice bytes.Buffer
		if err := Write(&once, x); err != nil {
			t.Fatal(err)
		}
		if err := Write(&mapped, opened.Tensor()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), mapped.Bytes()) {
			t.Error("a file and a stream differ")
		}
		if d := x.DType(); descrOf(d)[1] != 'V' || d == garner.String {
			o.DType = garner.Invalid
		} else {
			o.DType = d
		}
		y, err := Read(bytes.NewReader(once.Bytes()), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(&twice, y); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Error("what was written, read and written again differs")
		}
	})
}

// TestReadGrowing holds that a stream takes 9/8 of its array with all that is allocated,
// which the garbage collector need not find in time.
func TestReadGrowing(t *testing.T) {
	for _, n := range []int{0, 1, firstRead, 8 * firstRead, 8*firstRead + 1, 40*firstRead - 3} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i % 251)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, have, err := readGrowing(bytes.NewReader(data), n)
		runtime.ReadMemStats(&after)
		if err != nil || have != n || !bytes.Equal(b, data) {
			t.Errorf("%d bytes: %d, %v", n, have, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(n+n/8+64<<10) {
			t.Errorf("%d bytes took %d", n, took)
		}
		if n > 0 {
			if _, have, err := readGrowing(bytes.NewReader(data[:n-1]), n); err == nil || have != n-1 {
				t.Errorf("%d of %d bytes: %d, %v", n-1, n, have, err)
			}
		}
	}
}
