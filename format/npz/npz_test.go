package npz

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/guard"
)

var keep = flag.String("keep", "", "a folder in which to keep the file that TestWriteNumPy writes, for testdata/make.py --check")

func must(t garner.Tensor, err error) garner.Tensor {
	if err != nil {
		panic(err)
	}
	return t
}

// arrays are the arrays of testdata/make.py.
func arrays() []Named {
	return []Named{
		{"f4", garner.Of([]float32{0, 1, 2, 3, 4, 5}, 2, 3), "<f4"},
		{"big", garner.Of([]int64{0, 1, 2, 3, 4, 5}, 3, 2), ">i8"},
		{"fortran", must(garner.Of([]uint16{0, 3, 1, 4, 2, 5}, 3, 2).Transpose()), "<u2"},
		{"scalar", garner.Of([]float64{1.5}), "<f8"},
		{"empty", garner.Of([]float32{}, 0, 4), "<f4"},
		{"words", garner.Of([]string{"ab", "naïve"}, 2), "<U5"},
		{"bytes", garner.Of([]string{"ab", "c"}, 2), "|S2"},
		{"layer/0/名前", garner.Of([]complex128{1 + 2i}, 1), "<c16"},
		{"zeros", must(garner.New(garner.I8, 20000)), "|i1"},
		{"v2", garner.Of([]garner.BFloat16{0x3f80, 0x4000}, 2), "|V2"},
	}
}

func open(t testing.TB, path string, o Options) *File {
	t.Helper()
	f, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// same compares an array that was read with the expected one.
func same(t *testing.T, got, want Named) {
	t.Helper()
	g, w := got.Tensor, want.Tensor
	if got.Name != want.Name || got.Descr != want.Descr || g.DType() != w.DType() || !g.Shape().Equal(w.Shape()) || g.Text() != w.Text() {
		t.Errorf("%s: %s (%s), want %s: %s (%s)", got.Name, g, got.Descr, want.Name, w, want.Descr)
	}
}

// TestNumPy reads files of numpy.savez and numpy.savez_compressed.
func TestNumPy(t *testing.T) {
	for name, n := range map[string]int{"stored": 10, "deflated": 10, "streamed": 2, "streamed_deflated": 2} {
		t.Run(name, func(t *testing.T) {
			f := open(t, filepath.Join("testdata", name+".npz"), Options{})
			want := arrays()[:n]
			var names []string
			for _, a := range want {
				names = append(names, a.Name)
			}
			if !slices.Equal(f.Names(), names) {
				t.Errorf("the names are %q", f.Names())
			}
			var all sync.WaitGroup
			for _, a := range want {
				all.Go(func() {
					f := f
					if a.Name == "v2" {
						f = open(t, f.path, Options{DType: garner.BF16})
					}
					got, err := f.Array(a.Name)
					if err != nil {
						t.Error(err)
						return
					}
					same(t, got, a)
					x, err := f.Tensor(a.Name + ".npy")
					if err != nil || x.Text() != a.Tensor.Text() {
						t.Errorf("%s.npy: %v, %v", a.Name, x, err)
					}
					if err := f.Verify(a.Name); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestInflated checks the progress of a deflated array; a stored one reports none.
func TestInflated(t *testing.T) {
	for name, want := range map[string]int64{"deflated": 128 + 20000, "stored": 0} {
		var calls int
		var last, of int64
		f := open(t, filepath.Join("testdata", name+".npz"), Options{Inflated: func(done, total int64) {
			if done <= last {
				t.Errorf("%d after %d", done, last)
			}
			calls, last, of = calls+1, done, total
		}})
		if _, err := f.Tensor("zeros"); err != nil {
			t.Fatal(err)
		}
		if last != want || of != want || want > 0 && calls == 0 {
			t.Errorf("%s: %d calls end with %d of %d, want %d", name, calls, last, of, want)
		}
	}
}

// TestOne omits the name of the only array.
func TestOne(t *testing.T) {
	f := open(t, "testdata/one.npz", Options{})
	for _, name := range []string{"", "arr_0", "arr_0.npy"} {
		x, err := f.Tensor(name)
		if err != nil || x.String() != "i64[3] [0, 1, 2]" {
			t.Errorf("%q: %v, %v", name, x, err)
		}
	}
}

// TestStoredIsMapped checks that stored numbers are views of the file, because a
// change of the file shows in them, and that other arrays are copies.
func TestStoredIsMapped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be written to there")
	}
	for _, tt := range []struct {
		file, array string
		mapped      bool
	}{{"stored", "f4", true}, {"stored", "fortran", true}, {"stored", "big", false}, {"stored", "words", false}, {"deflated", "f4", false}} {
		b, err := os.ReadFile(filepath.Join("testdata", tt.file+".npz"))
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, write(t, b), Options{})
		x, err := f.Tensor(tt.array)
		if err != nil {
			t.Fatal(err)
		}
		before := x.Text()
		if err := os.WriteFile(f.path, bytes.Repeat([]byte{0x40}, len(b)), 0o666); err != nil {
			t.Fatal(err)
		}
		if changed := x.Text() != before; changed != tt.mapped {
			t.Errorf("%s#%s: mapped is %t", tt.file, tt.array, changed)
		}
	}
}

// TestCopy keeps arrays after their archive is closed.
func TestCopy(t *testing.T) {
	for _, file := range []string{"stored", "deflated"} {
		f, err := Open(filepath.Join("testdata", file+".npz"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var copies []Named
		var want []string
		for _, name := range []string{"f4", "fortran", "big", "words"} {
			a, err := f.Array(name)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, name+a.Tensor.Text()+a.Descr)
			if a, err = f.Copy(name); err != nil {
				t.Fatal(err)
			}
			copies = append(copies, a)
		}
		if _, err := f.Copy("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for i, a := range copies {
			if got := a.Name + a.Tensor.Text() + a.Descr; got != want[i] {
				t.Errorf("%s: %s, want %s", file, got, want[i])
			}
		}
	}
}

// TestCutShort truncates a file after it was opened. Reading is then an error and
// does not end the process.
func TestCutShort(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut short there")
	}
	for _, name := range []string{"stored", "deflated"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".npz"))
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, write(t, b), Options{})
		if err := os.Truncate(f.path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Tensor("f4"); !errors.Is(err, garner.ErrFault) {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Verify("f4"); !errors.Is(err, garner.ErrFault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A member is a member of a test's archive, valid or not.
type member struct {
	name   string
	data   string // as stored in the archive
	method uint16
	flags  uint16
	sum    uint32
	size   uint64
}

func saved(x garner.Tensor) string {
	var b bytes.Buffer
	if err := npy.Write(&b, x); err != nil {
		panic(err)
	}
	return b.String()
}

func deflated(text string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func stored(name, text string) member {
	return member{name: name, data: text, sum: crc32.ChecksumIEEE([]byte(text)), size: uint64(len(text))}
}

func compressed(name, text string) member {
	m := stored(name, text)
	m.data, m.method = deflated(text), zip.Deflate
	return m
}

// archive makes an archive of members, with the headers that they claim.
func archive(members ...member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: m.name, Method: m.method, Flags: m.flags, CRC32: m.sum,
			CompressedSize64: uint64(len(m.data)), UncompressedSize64: m.size,
		})
		if err == nil {
			_, err = io.WriteString(w, m.data)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// TestRefused tries corrupt archives and archives with false headers, and checks the
// messages.
func TestRefused(t *testing.T) {
	array := saved(garner.Of([]int64{1, 2, 3}, 3))
	good := stored("a.npy", array)
	with := func(m member, change func(*member)) member { change(&m); return m }
	header := func(shape, data string) string {
		text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n", shape)
		return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text + data
	}
	several := []member{good}
	for i := range 11 {
		several = append(several, stored(fmt.Sprintf("b%d.npy", i), array))
	}
	for _, tt := range []struct {
		what    string
		file    []byte
		name    string
		class   error
		message string
	}{
		{"empty", nil, "a", ErrFormat, `it is no .npz file: that is a zip archive, and this begins with ""; save the arrays with numpy.savez`},
		{"other", []byte("hello, world"), "a", ErrFormat, `this begins with "hello,"`},
		{"npy", []byte(array), "a", ErrFormat, "it is a single array, as .npy is; name it FILE.npy, without #"},
		{"cut short", archive(good)[:100], "a", ErrFormat, "its list of members is spoilt or missing (not a valid zip file); the file was cut short: copy or save it again"},
		{"two of a name", archive(good, good), "a", ErrFormat, `two of its members are named "a.npy"`},

		{"no name", archive(several...), "", fs.ErrNotExist, `which array of it? Name one with #NAME; it has 12, the first of them "a", "b0", "b1"`},
		{"another name", archive(good, stored("b.npy", array)), "c", fs.ErrNotExist, `it has no array "c"; it has "a", "b"`},
		{"no arrays", archive(stored("readme.txt", "hello")), "", fs.ErrNotExist, "it has none at all"},
		{"no array", archive(stored("readme.txt", "hello")), "readme.txt", npy.ErrFormat, `#readme.txt: it is no .npy file`},

		{"encrypted", archive(with(good, func(m *member) { m.flags = 1 })), "a", ErrFormat, "#a: it is encrypted; save the arrays again with numpy.savez"},
		{"Zstandard", archive(with(good, func(m *member) { m.method = 93 })), "a", ErrFormat, "it is compressed with Zstandard, and only stored and deflated arrays are read"},
		{"unknown method", archive(with(good, func(m *member) { m.method = 77 })), "a", ErrFormat, "it is compressed with method 77,"},
		{"absolute name", archive(stored("/a.npy", array)), "/a", ErrFormat, `its name "/a.npy" leads out of the archive's own folder`},
		{"drive", archive(stored(`C:\a.npy`, array)), `C:\a`, ErrFormat, "leads out"},
		{"parent", archive(stored(`b/../../a.npy`, array)), `b/../../a`, ErrFormat, "leads out"},

		{"stored, two sizes", archive(with(good, func(m *member) { m.size++ })), "a", ErrFormat, "152 bytes are said to be 153; the archive is spoilt"},
		{"stored, cut short", archive(stored("a.npy", array[:140])), "a", npy.ErrFormat, "its header asks for <i8[3], 24 bytes, and the file has 12; it was cut short"},
		{"stored, goes on", archive(stored("a.npy", array+"x")), "a", ErrFormat, "it goes on behind the end of its array"},
		{"stored, 2^60 bytes", archive(stored("a.npy", header("(144115188075855872,)", "12345678"))), "a", npy.ErrFormat, "144115188075855872"},
		{"outside the file", archive(with(good, func(m *member) { m.name = "moved.npy" })), "moved", ErrFormat, "it does not stand where the archive's list says"},

		{"deflated, sum", archive(with(compressed("a.npy", array), func(m *member) { m.sum++ })), "a", ErrFormat, "its checksum is "},
		{"deflated, no sum", archive(with(compressed("a.npy", array), func(m *member) { m.sum = 0 })), "a", ErrFormat, "and the archive says 00000000"},
		{"deflated, size", archive(with(compressed("a.npy", array), func(m *member) { m.size++ })), "a", ErrFormat, "it is 152 bytes long, and the archive says 153"},
		{"deflated, 2^64 bytes", archive(with(compressed("a.npy", array), func(m *member) { m.size = math.MaxUint64 - 1 })), "a", ErrFormat, "the archive says 18446744073709551614"},
		{"deflated, cut short", archive(with(compressed("a.npy", array), func(m *member) { m.data = m.data[:len(m.data)-4] })), "a", ErrFormat, "its compressed bytes are spoilt (it ends too early, after "},
		{"deflated, nothing", archive(with(compressed("a.npy", array), func(m *member) { m.data = "" })), "a", ErrFormat, "its compressed bytes are spoilt (it ends too early, after 0 bytes)"},
		{"deflated, no such", archive(with(compressed("a.npy", array), func(m *member) { m.data = "\xff\xff\xff" })), "a", ErrFormat, "its compressed bytes are spoilt (flate: corrupt input before offset "},
		{"deflated, ends", archive(compressed("a.npy", array[:140])), "a", npy.ErrFormat, "its header asks for <i8[3], 24 bytes, and it ends after 12"},
		{"deflated, goes on", archive(compressed("a.npy", array+strings.Repeat("x", 1000))), "a", ErrFormat, "it goes on behind the end of its array"},
		{"deflated, 2^60 bytes", archive(compressed("a.npy", header("(144115188075855872,)", "12345678"))), "a", npy.ErrFormat, "144115188075855872"},
		{"deflated, no npy", archive(compressed("a.npy", "hello, world")), "a", npy.ErrFormat, "it is no .npy file"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			if tt.what == "outside the file" {
				// Change only the list, so that the member's header stays where it is.
				from := bytes.LastIndex(tt.file, []byte("PK\x01\x02"))
				binary.LittleEndian.PutUint32(tt.file[from+42:], uint32(len(tt.file)-8))
			}
			path := write(t, tt.file)
			f, err := Open(path, Options{})
			if err == nil {
				defer f.Close()
				_, err = f.Tensor(tt.name)
			}
			if err == nil || !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.message) || !strings.HasPrefix(err.Error(), "garner: "+path) {
				t.Errorf("%v\nwant an error of class %q that contains %q", err, tt.class, tt.message)
			}
		})
	}
}

// TestRefusedByNumPy tries archives with other compressions, made by Python.
func TestRefusedByNumPy(t *testing.T) {
	for name, want := range map[string]string{"bzip2": "bzip2", "lzma": "LZMA"} {
		_, err := open(t, filepath.Join("testdata", name+".npz"), Options{}).Tensor("")
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it is compressed with "+want+",") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerify finds a flipped bit in a stored array, which Array does not check.
func TestVerify(t *testing.T) {
	b, err := os.ReadFile("testdata/stored.npz")
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("\x93NUMPY"))+130] ^= 1
	f := open(t, write(t, b), Options{})
	if _, err := f.Tensor("f4"); err != nil {
		t.Error(err)
	}
	if err := f.Verify("f4"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "#f4: its checksum is ") {
		t.Errorf("%v", err)
	}
	if err := f.Verify("big"); err != nil {
		t.Error(err)
	}
	if err := f.Verify("other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}

	f = open(t, write(t, archive(member{name: "a.npy", data: deflated(strings.Repeat("x", 1<<20)), method: zip.Deflate, size: 10})), Options{})
	if err := f.Verify("a"); err == nil || !strings.Contains(err.Error(), "it is 11 bytes long, and the archive says 10") {
		t.Errorf("a member that goes on: %v", err)
	}
}

// TestMemory reads an archive whose header promises a terabyte, and one with 64 MiB
// of deflated bytes behind its array. Neither may allocate that much.
func TestMemory(t *testing.T) {
	text := "{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,), }\n"
	if math.MaxInt == math.MaxInt32 {
		text = strings.Replace(text, "1099511627776", "2147480000", 1)
	}
	head := "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text
	liar := compressed("a.npy", head+"few")
	liar.size = 1 << 40
	bomb := compressed("b.npy", saved(garner.Of([]int64{1}, 1))+strings.Repeat("\x00", 64<<20))
	f := open(t, write(t, archive(liar, bomb)), Options{})

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, name := range []string{"a", "b"} {
		if _, err := f.Tensor(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("%d bytes were taken", took)
	}
}

// longHeader is an array whose header has about size bytes, most of them spaces.
func longHeader(size int) string {
	text := "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }" + strings.Repeat(" ", size-58) + "\n"
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text + "\x01"
}

// TestHeadersAreNotKept lists arrays with long headers, and holds that the list does
// not keep them in memory.
func TestHeadersAreNotKept(t *testing.T) {
	const n, size = 300, 60 << 10
	var members []member
	for i := range n {
		members = append(members, compressed(fmt.Sprintf("%05d.npy", i), longHeader(size)))
	}
	f := open(t, write(t, archive(members...)), Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	list := f.List()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > n*size/10 {
		t.Errorf("%d bytes are kept of %d headers of %d", kept, n, size)
	}
	for _, a := range list {
		if a.Err != nil || a.Descr != "|u1" {
			t.Fatalf("%+v", a)
		}
	}
}

// sharing is an archive whose list names the first of its members n times.
func sharing(n int, members ...member) []byte {
	b := archive(members...)
	at, end := bytes.Index(b, []byte("PK\x01\x02")), bytes.Index(b, []byte("PK\x05\x06"))
	entry := b[at:end]
	if next := bytes.Index(entry[4:], []byte("PK\x01\x02")); next >= 0 {
		entry = entry[:4+next]
	}
	tail := bytes.Clone(b[end:])
	out := bytes.Clone(b[:at])
	for i := range n {
		twin := bytes.Clone(entry)
		copy(twin[46:], fmt.Sprintf("%05x", i))
		out = append(out, twin...)
	}
	out = append(out, b[at+len(entry):end]...)
	count := uint16(n + len(members) - 1)
	binary.LittleEndian.PutUint16(tail[8:], count)
	binary.LittleEndian.PutUint16(tail[10:], count)
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(out)-at))
	return append(out, tail...)
}

// TestSharedBytes refuses members that share bytes, and reads the others.
func TestSharedBytes(t *testing.T) {
	const n = 20000
	for name, shared := range map[string]member{"stored": stored("00000.npy", longHeader(60<<10)), "deflated": compressed("00000.npy", longHeader(60<<10))} {
		b := sharing(n, shared, stored("other.npy", saved(garner.Of([]int64{7}, 1))))
		f := open(t, write(t, b), Options{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list := f.List()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: %d bytes are allocated for an archive of %d", name, took, len(b))
		}
		if len(list) != n+1 {
			t.Fatalf("%s: %d arrays", name, len(list))
		}
		for _, a := range list[:n] {
			if !errors.Is(a.Err, ErrFormat) || !strings.Contains(a.Err.Error(), "it shares bytes with member") {
				t.Fatalf("%s: %s: %v", name, a.Name, a.Err)
			}
		}
		if _, err := f.Tensor("00001"); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if x, err := f.Tensor("other"); err != nil || x.Text() != "[7]" {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
	// A member whose size is spoilt reaches into the next, which is read.
	b := archive(stored("a.npy", saved(garner.Of([]int64{1}, 1))), stored("b.npy", saved(garner.Of([]int64{2}, 1))))
	at := bytes.Index(b, []byte("PK\x01\x02"))
	for _, size := range []int{20, 24} { // as stored, and in memory
		binary.LittleEndian.PutUint32(b[at+size:], 200)
	}
	f := open(t, write(t, b), Options{})
	if _, err := f.Tensor("a"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `shares bytes with member "b.npy"`) {
		t.Errorf("%v", err)
	}
	if x, err := f.Tensor("b"); err != nil || x.Text() != "[2]" {
		t.Errorf("%v, %v", x, err)
	}
}

// TestNames finds each name of Names, also where names differ only by a suffix.
func TestNames(t *testing.T) {
	var members []member
	for i, name := range []string{"a.npy", "a", "b.npy.npy", "b.npy", ".npy", "readme.txt"} {
		members = append(members, stored(name, saved(garner.Of([]int64{int64(i)}))))
	}
	members = append(members, stored("folder/", ""))
	f := open(t, write(t, archive(members...)), Options{})
	want := []string{"a.npy", "b.npy.npy", "b", ""}
	if got := f.Names(); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i, at := range []string{"0", "2", "3", "4"} {
		x, err := f.Tensor(want[i])
		if err != nil || x.Text() != at {
			t.Errorf("%q: %v, %v; want %s", want[i], x, err, at)
		}
	}
	// A member without .npy is not listed, but can be requested.
	if x, err := f.Tensor("a"); err != nil || x.Text() != "1" {
		t.Errorf("a: %v, %v", x, err)
	}
}

// TestZip64 reads an archive with 64-bit sizes in its list and headers, and one
// that begins after other bytes.
func TestZip64(t *testing.T) {
	array := saved(garner.Of([]int64{7, 8}, 2))
	le := binary.LittleEndian
	head := func(name string, list bool) []byte {
		extra := le.AppendUint16(le.AppendUint16(nil, 1), 16)
		extra = le.AppendUint64(le.AppendUint64(extra, uint64(len(array))), uint64(len(array)))
		b := []byte("PK\x03\x04")
		if list {
			b = le.AppendUint16([]byte("PK\x01\x02"), 45)
		}
		b = le.AppendUint16(b, 45)
		b = append(b, make([]byte, 8)...) // flags, method, time, date
		b = le.AppendUint32(b, crc32.ChecksumIEEE([]byte(array)))
		b = le.AppendUint32(le.AppendUint32(b, math.MaxUint32), math.MaxUint32)
		b = le.AppendUint16(le.AppendUint16(b, uint16(len(name))), uint16(len(extra)))
		if list {
			b = append(b, make([]byte, 2+2+2+4+4)...) // comment, disk, attributes, offset 0
		}
		return append(append(b, name...), extra...)
	}
	b := append(head("a.npy", false), array...)
	at := len(b)
	b = append(b, head("a.npy", true)...)
	end := len(b)
	b = le.AppendUint64(append(b, "PK\x06\x06"...), 44)
	b = le.AppendUint16(le.AppendUint16(b, 45), 45)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint64(le.AppendUint64(b, 1), 1)
	b = le.AppendUint64(le.AppendUint64(b, uint64(end-at)), uint64(at))
	b = le.AppendUint32(append(b, "PK\x06\x07"...), 0)
	b = le.AppendUint32(le.AppendUint64(b, uint64(end)), 1)
	b = append(b, "PK\x05\x06\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00"...)

	for what, b := range map[string][]byte{"zip64": b, "behind other bytes": append([]byte("#!/bin/sh\n"), archive(stored("a.npy", array))...)} {
		x, err := open(t, write(t, b), Options{}).Tensor("")
		if err != nil || x.String() != "i64[2] [7, 8]" {
			t.Errorf("%s: %v, %v", what, x, err)
		}
	}
}

// TestWriteNumPy writes the arrays of the NumPy files; testdata/make.py --check reads
// the result with NumPy.
func TestWriteNumPy(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, arrays()); err != nil {
		t.Fatal(err)
	}
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, "written.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f := open(t, path, Options{})
	for _, want := range arrays() {
		if want.Name == "v2" {
			f = open(t, path, Options{DType: garner.BF16})
		}
		if err := f.Verify(want.Name); err != nil {
			t.Error(err)
		}
		want.Descr = strings.Replace(want.Descr, ">", "<", 1)
		got, err := f.Array(want.Name)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		if at := bytes.Index(b.Bytes(), []byte(want.Name+".npy")); at < 0 {
			t.Errorf("%s is not in the file", want.Name)
		}
	}
	// Every array is aligned for all element types.
	for at, n := 0, 0; ; n++ {
		i := bytes.Index(b.Bytes()[at:], []byte("\x93NUMPY"))
		if i < 0 {
			if n != len(arrays()) {
				t.Errorf("%d arrays were found", n)
			}
			break
		}
		if at += i; at%64 != 0 {
			t.Errorf("array %d begins at byte %d", n, at)
		}
		at++
	}
	var again bytes.Buffer
	if err := Write(&again, arrays()); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
		t.Errorf("the same arrays give other bytes (%v)", err)
	}
}

// TestPadding pads a member at any offset to a multiple of 64 bytes.
func TestPadding(t *testing.T) {
	for from := range uint64(200) {
		b := padding(from)
		if (from+uint64(len(b)))%alignment != 0 {
			t.Errorf("from %d: %d bytes", from, len(b))
		}
		if len(b) > 0 && (len(b) < 6 || int(binary.LittleEndian.Uint16(b[2:])) != len(b)-4) {
			t.Errorf("from %d: %v is no field", from, b)
		}
	}
}

// TestWriteRefused gives Write arrays and names that it must refuse.
func TestWriteRefused(t *testing.T) {
	x := garner.Of([]int64{1}, 1)
	for _, tt := range []struct {
		arrays  []Named
		class   error
		message string
	}{
		{[]Named{{Name: "a"}}, garner.ErrDType, `there is no tensor to write as "a"`},
		{[]Named{{"a", x, ""}, {"a", x, ""}}, ErrFormat, `two arrays are named "a"; give one another name`},
		{[]Named{{"\xff", x, ""}}, ErrFormat, `the name "\xff" is not UTF-8; give it another name`},
		{[]Named{{strings.Repeat("a", 65001), x, ""}}, ErrFormat, "a name of 65001 bytes"},
		{[]Named{{"a\x00b", x, ""}}, ErrFormat, "contains NUL"},
		{[]Named{{"/a", x, ""}}, ErrFormat, "leads out of the folder"},
		{[]Named{{`..\a`, x, ""}}, ErrFormat, "leads out of the folder"},
		{[]Named{{"a", garner.Of([]string{"\xff"}, 1), "U"}}, garner.ErrDType, "is not UTF-8 and cannot be written as U"},
	} {
		err := Write(io.Discard, tt.arrays)
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.message) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%v\nwant an error of class %q that contains %q", err, tt.class, tt.message)
		}
		// Check finds all errors but those in the elements.
		if early := Check(tt.arrays); tt.arrays[0].Descr == "" && (early == nil || early.Error() != err.Error()) {
			t.Errorf("Check says %v, Write %v", early, err)
		}
	}
}

// failing accepts n bytes and then fails.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriteFails fails at every byte; the error is the writer's own.
func TestWriteFails(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, arrays()); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < b.Len(); n += 997 {
		if err := Write(&failing{n}, arrays()); err != errFull {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

// FuzzOpen reads any bytes. The result is an error, or arrays whose memory is
// bounded by the file and its compression.
func FuzzOpen(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.npz")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, seed := range seeds {
		b, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(archive(compressed("a.npy", saved(garner.Of([]int64{1}, 1))), stored("../b.npy", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Open(write(t, b), Options{DType: garner.BF16})
		if err != nil {
			if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), "garner: ") {
				t.Fatal(err)
			}
			return
		}
		defer file.Close()
		agree(t, file)
		for _, name := range append(file.Names(), "") {
			x, err := file.Tensor(name)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "garner: ") {
					t.Fatal(err)
				}
				continue
			}
			// Deflate expands by at most 1032; a string's header has 16 bytes.
			if n := x.Len(); n > 16*1032*len(b) && n > 0 && x.DType() != garner.String {
				t.Fatalf("%s%s of %d bytes", x.DType(), x.Shape(), len(b))
			}
			if _, err := x.Clone(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
