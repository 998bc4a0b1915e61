package text_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/text"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("7,", 1<<17) + "8"
	for _, tt := range []struct {
		text  string
		dtype garner.DType
		want  string
	}{
		{"1\n2\n3\n", garner.Invalid, "i64[3] [1, 2, 3]"},
		{"1\n2\n3", garner.Invalid, "i64[3] [1, 2, 3]"},
		{"5", garner.Invalid, "i64[1] [5]"},
		{"\n\n 1 \r\n\t2\r\n\r\n", garner.Invalid, "i64[2] [1, 2]"},
		{"1,2,3", garner.Invalid, "i64[1,3] [[1, 2, 3]]"},
		{"1,2\n3,4\n", garner.Invalid, "i64[2,2] [[1, 2], [3, 4]]"},
		{"1, 2\n3 ,4\n", garner.Invalid, "i64[2,2] [[1, 2], [3, 4]]"},
		{"1 2\n3\t 4\n", garner.Invalid, "i64[2,2] [[1, 2], [3, 4]]"},
		{"\ufeff1\n-2\n+3\n", garner.Invalid, "i64[3] [1, -2, 3]"},
		{"007\n-0\n", garner.Invalid, "i64[2] [7, 0]"},
		{"9223372036854775807\n-9223372036854775808\n", garner.Invalid, "i64[2] [9223372036854775807, -9223372036854775808]"},
		{"18446744073709551615\n1\n", garner.Invalid, "u64[2] [18446744073709551615, 1]"},
		{"000000000000000000000000001\n", garner.Invalid, "i64[1] [1]"},
		{"1\n2\n", garner.U8, "u8[2] [1, 2]"},
		{"1\n2\n", garner.I64, "i64[2] [1, 2]"},
		{"18446744073709551615", garner.U64, "u64[1] [18446744073709551615]"},
		{"1\n2\n", garner.F16, "f16[2] [1.0, 2.0]"},
		{"1\n-2\n", garner.I2, "i2[2] [1, -2]"},
		{"[[1, 2],\n [3, 4]]\n", garner.Invalid, "i64[2,2] [[1, 2], [3, 4]]"},
		{" f32[1.5, NaN]", garner.Invalid, "f32[2] [1.5, NaN]"},
		{"[]", garner.Invalid, "i64[0] []"},
		{"[1.5]", garner.F32, "f32[1] [1.5]"},
		{`["a", "b"]`, garner.Invalid, `string[2] ["a", "b"]`},
		{"true", garner.Invalid, "bool[] true"},
		{"NaN\n", garner.Invalid, "f64[] NaN"},
		{long, garner.Invalid, "i64[1,131073]"},
		{strings.ReplaceAll(long, ",", "\n"), garner.Invalid, "i64[131073]"},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(tt.text), "bytes": iotest.OneByteReader(strings.NewReader(tt.text)), "end": iotest.DataErrReader(strings.NewReader(tt.text)),
		} {
			if got, err := text.Read(r, text.Options{DType: tt.dtype}); err != nil || got.String() != tt.want {
				t.Errorf("%.40q, %s: %s, %v; want %s", tt.text, name, got, err, tt.want)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct {
		text  string
		dtype garner.DType
		class error
		want  string
	}{
		{"", garner.Invalid, text.ErrFormat, "the text holds no integer; write [] for an array without elements"},
		{" \n\n", garner.Invalid, text.ErrFormat, "the text holds no integer"},
		{"1\n2.5\n", garner.Invalid, text.ErrFormat, `line 2: "2.5" is no integer`},
		{"1\n\nid\n", garner.Invalid, text.ErrFormat, `line 3: "id" is no integer`},
		{"id\n1\n", garner.Invalid, text.ErrFormat, `"id" is no integer, and begins no literal`},
		{"# ids\n1\n", garner.Invalid, text.ErrFormat, `"# ids" is no integer`},
		{"1,,2\n", garner.Invalid, text.ErrFormat, "line 1: nothing stands before a comma"},
		{"1,\n2,\n", garner.Invalid, text.ErrFormat, "line 1: a comma ends it"},
		{"1;2\n", garner.Invalid, text.ErrFormat, `line 1: "1;2" is no integer`},
		{"0x10\n", garner.Invalid, text.ErrFormat, `line 1: "0x10" is no integer`},
		{"1_000\n", garner.Invalid, text.ErrFormat, "is no integer"},
		{"--1\n", garner.Invalid, text.ErrFormat, "is no integer"},
		{"-\n", garner.Invalid, text.ErrFormat, `line 1: "-" is no integer`},
		{"1,2\n3\n", garner.Invalid, garner.ErrShape, "line 2 holds 1 integer, and line 1 holds 2 integers"},
		{"\n1\n2,3\n", garner.Invalid, garner.ErrShape, "line 3 holds 2 integers, and line 2 holds 1 integer"},
		{"18446744073709551616\n", garner.Invalid, garner.ErrDType, `line 1: "18446744073709551616" fits neither i64 nor u64`},
		{"-9223372036854775809\n", garner.Invalid, garner.ErrDType, `line 1: "-9223372036854775809" fits neither`},
		{"18446744073709551615\n-1\n", garner.Invalid, garner.ErrDType, "line 1 holds an integer that only u64 holds, and line 2 a negative one"},
		{"1\n300\n", garner.U8, garner.ErrDType, `integer 2: "300" is outside u8`},
		{"18446744073709551615\n", garner.I64, garner.ErrDType, `integer 1: "18446744073709551615" is outside i64`},
		{"1\n", garner.String, garner.ErrDType, "integers are no strings"},
		{"[1,[2]]", garner.Invalid, garner.ErrShape, "column 4 of the literal"},
		{"[\n\x1b", garner.Invalid, nil, "column 3 of the literal"},
		{strings.Repeat("x", 1<<18), garner.Invalid, text.ErrFormat, `"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… is no integer`},
	} {
		_, err := text.Read(strings.NewReader(tt.text), text.Options{DType: tt.dtype})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") || tt.class != nil && !errors.Is(err, tt.class) {
			t.Errorf("%.40q: %v; want %s", tt.text, err, tt.want)
		}
	}
	if _, err := text.Read(io.MultiReader(strings.NewReader("1\n"), iotest.ErrReader(io.ErrClosedPipe)), text.Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if _, err := text.Read(io.MultiReader(strings.NewReader("[1\n"), iotest.ErrReader(io.ErrClosedPipe)), text.Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// An endless reader repeats a text for ever, and counts what is read of it.
type endless struct {
	begin, text string
	read        int
}

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		at := e.read + i - len(e.begin)
		if at < 0 {
			b[i] = e.begin[e.read+i]
			continue
		}
		b[i] = e.text[at%len(e.text)]
	}
	e.read += len(b)
	return len(b), nil
}

// TestMemory holds that Read stops where it would take more than it may, on one line and
// on many, and that an integer counts 16 bytes and no more.
func TestMemory(t *testing.T) {
	const memory = 1 << 20
	for _, tt := range []struct{ begin, text, want string }{
		{"", "7\n", "line 65537: the text has more than 65536 integers, and reading them takes more than the 1 MiB that are allowed; put them into a .npy file"},
		{"", "7,", "line 1: the text has more than 65536 integers"},
		{"1,2\n", "7 8\n", "line 32769: the text has more than 65536 integers"},
		{"", "-9223372036854775808\n", "the text has more than 65536 integers"},
		{"", "18446744073709551615,", "the text has more than 65536 integers"},
		{"[", "1,", "the literal takes 1.1 MiB of memory while it is read, and 1 MiB are allowed"},
		{"[", "[],", "the literal takes"},
		{"['", "a", "the literal takes"},
		{"[", "\n", "the literal takes"},
		{"", "8", `line 1: "8888888888888888888888888888888888888888"… is no integer`},
		{"", "0", `line 1: "0000000000000000000000000000000000000000"… is no integer`},
		{"", "x", `"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… is no integer, and begins no literal`},
	} {
		r := &endless{begin: tt.begin, text: tt.text}
		_, err := text.Read(r, text.Options{Memory: memory})
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, text.ErrFormat) == errors.Is(err, layout.ErrTooLarge) {
			t.Errorf("%s%s…: %v; want %s", tt.begin, tt.text, err, tt.want)
		}
		if r.read > 3*memory {
			t.Errorf("%s%s…: it has read %d bytes", tt.begin, tt.text, r.read)
		}
	}
	for _, tt := range []struct {
		text  string
		dtype garner.DType
		least int64
	}{
		{strings.Repeat("5\n", 1<<17), garner.Invalid, 16 << 17},
		{strings.Repeat("5,", 1<<17-1) + "5", garner.Invalid, 16 << 17},
		{strings.Repeat("5\n", 1<<10), garner.U8, 16 << 10},
		{strings.Repeat("5\n", 1<<10), garner.Complex128, 24 << 10},
		{"18446744073709551615\n1\n", garner.Invalid, 32},
		{"[1, 2, 3]", garner.Invalid, 300},
	} {
		whole, err := text.Read(strings.NewReader(tt.text), text.Options{DType: tt.dtype})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := text.Read(strings.NewReader(tt.text), text.Options{DType: tt.dtype, Memory: tt.least}); err != nil || got.Text() != whole.Text() {
			t.Errorf("%.20q: %s, %v", tt.text, got, err)
		}
		if strings.HasPrefix(tt.text, "[") {
			continue
		}
		if _, err := text.Read(strings.NewReader(tt.text), text.Options{DType: tt.dtype, Memory: tt.least - 1}); !errors.Is(err, layout.ErrTooLarge) {
			t.Errorf("%.20q: %v", tt.text, err)
		}
	}
	many := strings.Repeat("7,", 1<<20) + "7"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := text.Read(strings.NewReader(many), text.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20+4<<20 {
		t.Errorf("reading 2^20 integers allocates %d bytes, more than 16 for each", took)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ids.txt")
	if err := os.WriteFile(path, []byte("3\nx\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := text.Open(path, text.Options{}); !errors.Is(err, text.ErrFormat) || !strings.HasPrefix(err.Error(), "garner: "+path+": line 2: ") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if x, err := text.Open(path, text.Options{}); err != nil || x.String() != "i64[1] [3]" {
		t.Error(x, err)
	}
	if _, err := text.Open(filepath.Join(dir, "none.txt"), text.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := text.Open(dir, text.Options{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

func TestIs(t *testing.T) {
	for head, want := range map[string]bool{
		"1\n": true, " -5": true, "\ufeff3": true, "\n\n7": true, "[1": true, "f32[1]": true, "\"a": true, "": false, " \n": false, "\x93NUMPY": false, "PK\x03\x04": false,
		"GGUF": false, "hello": false, "{": false, "#!": false, "f32 x": false,
	} {
		if text.Is([]byte(head)) != want {
			t.Errorf("%q: %t", head, !want)
		}
	}
}

// FuzzRead: nothing panics, every text that is read in one piece is read in bytes
// with the same result, and what is read prints as text that is read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"1\n2\n", "1,2\n3,4\n", "\ufeff-1\r\n", "[1.5]", "18446744073709551615", "1,\n", "f32[1]\n", "\n", "1  ,2"} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(garner.U8))
	}
	f.Fuzz(func(t *testing.T, b []byte, dtype uint8) {
		o := text.Options{DType: garner.DType(dtype % uint8(len(garner.DTypes())+1))}
		got, err := text.Read(bytes.NewReader(b), o)
		again, also := text.Read(iotest.OneByteReader(bytes.NewReader(b)), o)
		if (err == nil) != (also == nil) || err == nil && got.String() != again.String() {
			t.Fatalf("%q: %s, %v and %s, %v", b, got, err, again, also)
		}
		if err != nil {
			return
		}
		if again, err = text.Read(strings.NewReader(got.Text()), text.Options{DType: got.DType()}); err != nil && got.Rank() > 0 || err == nil && got.Rank() > 0 && again.Text() != got.Text() {
			t.Fatalf("%q: %s comes back as %s, %v", b, got, again, err)
		}
	})
}
