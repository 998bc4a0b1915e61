package text_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/garner-go/garner"
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
