package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/literal"
)

// garnerRun runs a command line in this process.
func garnerRun(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	p := newProgram(strings.NewReader(""), &out, &err)
	status = p.run(context.Background(), args)
	return status, out.String(), err.String()
}

// TestPaste prints a tensor of every type, and pastes what was printed: it
// prints the same again, given the type.
func TestPaste(t *testing.T) {
	for _, d := range garner.DTypes() {
		text := "[[1, 0], [0, 1]]"
		switch {
		case d == garner.Bool:
			text = "[[true, false], [false, true]]"
		case d == garner.String:
			text = `[["a, b", "\"]"], ["", "é\n"]]`
		case d == garner.F8E8M0:
			text = "[[1, 0.5], [NaN, 2]]"
		case d.IsFloat() && d.Bits() > 4:
			text = "[[1.5, -0.25], [NaN, 0]]"
		case d.IsComplex():
			text = "[[1.5-2i, NaN+1i], [0, 3]]"
		case d == garner.I64:
			text = "[[9223372036854775807, -9223372036854775808], [0, 1]]"
		case d == garner.U64:
			text = "[[18446744073709551615, 0], [0, 1]]"
		}
		want := ""
		for range 2 {
			status, out, message := garnerRun("gather", text, "[0,1]", "--dtype", d.String())
			if status != cmdline.StatusDone {
				t.Fatalf("%s %s: status %d: %s", d, text, status, message)
			}
			if want != "" && out != want {
				t.Errorf("%s: %q comes back as %q", d, want, out)
			}
			want, text = out, strings.TrimSpace(out)
		}
	}
}

// TestPrintedWhole prints results of every type and of many shapes, with all that
// their elements can be: what is printed is the literal of the same bits, also where
// it is written in parts.
func TestPrintedWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range garner.DTypes() {
		for _, shape := range []garner.Shape{{}, {0}, {3, 0}, {2000, 0}, {7}, {1001}, {40, 50}, {2, 3, 400}, {1, 1, 1500}, {700, 2}} {
			x, err := garner.New(d, shape...)
			if err != nil {
				t.Fatal(err)
			}
			odd := []string{"0", "1"}
			switch {
			case d == garner.Bool:
				odd = []string{"true", "false"}
			case d == garner.String:
				odd = []string{`""`, `"a, \"[b]\""`, `"\u001b[31m\u202e\n"`, `"\xff"`, `"日本"`}
			case d == garner.F8E8M0:
				odd = []string{"NaN", "1", "0.5"}
			case d == garner.F4E2M1 || d == garner.NF4:
				odd = []string{"0", "1", "-0.5", "-0.0"}
			case d == garner.F8E4M3FNUZ || d == garner.F8E5M2FNUZ:
				odd = []string{"0", "-1.5", "NaN"}
			case d.IsFloat():
				odd = []string{"0", "-0.0", "NaN", "Infinity", "-Infinity", "0.1", "-1e-3"}
			case d.IsComplex():
				odd = []string{"0", "-0.0-0.0i", "NaN-Infinityi", "1.5+NaNi", "-0.1i"}
			case d == garner.I64:
				odd = []string{"9223372036854775807", "-9223372036854775808"}
			case d == garner.U64:
				odd = []string{"18446744073709551615", "0"}
			}
			for i := range x.Len() {
				if err := x.SetText(i, odd[r.IntN(len(odd))]); err != nil {
					t.Fatal(d, err)
				}
			}
			path := filepath.Join(t.TempDir(), "x.txt")
			text := d.String() + x.Text()
			args := []string{"gather", path, "0:" + strconv.Itoa(append(shape, 0)[0]), "--all"}
			if len(shape) == 0 { // one element of a vector
				text, args[2] = d.String()+"["+x.Text()+"]", "0"
			}
			writeFile(t, path, []byte(text))
			status, out, message := garnerRun(args...)
			if status != cmdline.StatusDone || out != x.Text()+"\n" {
				t.Fatalf("%s%s: status %d, %.200q, %s; want %.200q", d, shape, status, out, message, x.Text())
			}
			again, err := literal.Parse(out, d)
			if err != nil || again.Text() != x.Text() || d != garner.String && !bytes.Equal(bitsOf(t, again), bitsOf(t, x)) {
				t.Errorf("%s%s comes back as %s, %v", d, shape, again, err)
			}
			// Above 1000 elements it is refused without --all, and nothing is printed.
			if literal.Lists(shape, printed) > printed {
				status, out, message := garnerRun(args[:len(args)-1]...)
				if status != cmdline.StatusUsage || out != "" || !strings.Contains(message, "--all prints all, -o - writes npy, and -o OUT a file") {
					t.Errorf("%s%s: status %d, %.100q, %s", d, shape, status, out, message)
				}
			}
		}
	}
}

func bitsOf(t *testing.T, x garner.Tensor) []byte {
	t.Helper()
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPrintedRows prints a row of a table that is not mapped, because its numbers are
// big-endian: only the row is read.
func TestPrintedRows(t *testing.T) {
	const rows, width = 1 << 15, 1 << 10
	path := filepath.Join(t.TempDir(), "x.npy")
	head := fmt.Sprintf("{'descr': '>f4', 'fortran_order': False, 'shape': (%d, %d), }\n", rows, width)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
	writeFile(t, path, append(b, head...))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := int64(len(b) + len(head))
	if err := f.Truncate(begin + 4*rows*width); err != nil { // the rest is a hole
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0x3f, 0xc0, 0, 0}, begin+4*width*7); err != nil { // 1.5
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, tt := range []struct{ args, want string }{
		{"gather INDICES [7,0]", "[[1.5, 0.0, 0.0"},
		{"gather INDICES [[7,0]]", "[[[1.5, 0.0, 0.0"},
		{"gathernd INDICES [[7,0],[7,1]]", "[1.5, 0.0]\n"},
	} {
		args := strings.Fields(strings.Replace(tt.args, "INDICES", path, 1))
		if !strings.Contains(tt.args, "nd") {
			args = append(args, "--all")
		}
		if status, out, message := garnerRun(args...); status != cmdline.StatusDone || !strings.HasPrefix(out, tt.want) {
			t.Errorf("%s: status %d, %.40q, %s", tt.args, status, out, message)
		}
	}
	if status, _, message := garnerRun("gather", path, "[7,40000]", "--all"); status != cmdline.StatusRefused || !strings.Contains(message, "indices[1] = 40000 is outside axis 0") {
		t.Errorf("status %d, %s", status, message)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("it allocates %d MiB, and the table has %d", took>>20, 4*rows*width>>20)
	}
}
