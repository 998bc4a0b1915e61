package corpus

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// TestLargeResult runs a published test of a result of more than 2^31 bytes, in
// little memory. A 32-bit machine skips it and says why.
func TestLargeResult(t *testing.T) {
	if raceDetector {
		t.Skip("2 GiB take minutes under the race detector; runs without it compare them")
	}
	const line = `{"name":"n","op":"onnx.Gather-13","attributes":{"axis":1},"inputs":[{"dtype":"u8","shape":[46341,1],"iota":[0,1],"mod":256},{"dtype":"i64","shape":[46341],"fill":0}],"outputs":[{"dtype":"u8","shape":[46341,46341],"crc32":"77d4689c","bytes":2147488281}]}`
	if strconv.IntSize == 32 {
		if r := parseLine([]byte(line)).Run(); r.Status != Skip || !strings.Contains(r.Detail, "more bytes than an int of this machine can count") {
			t.Errorf("%s %q", r.Status, r.Detail)
		}
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	r := parseLine([]byte(line)).Run()
	runtime.ReadMemStats(&after)
	if r.Status != Pass {
		t.Errorf("%s %q", r.Status, r.Detail)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 512<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
	t.Logf("%.1f s", time.Since(start).Seconds())
}

// TestPieces holds the comparison in pieces against expectations of every kind, on
// a result of a piece and a half.
func TestPieces(t *testing.T) {
	const line = `{"name":"n","op":"openvino.GatherElements-6","inputs":[{"dtype":DTYPE,"shape":[1536],"iota":[0,1],"mod":2},{"dtype":"u8","shape":[1536],"iota":[0,1],"mod":2}],"outputs":[{"dtype":DTYPE,"shape":[1536],WANT}]}`
	for _, tt := range []struct{ dtype, want, fails string }{
		{"u8", `"iota":[0,1],"mod":2`, ""},
		{"u1", `"iota":[0,1],"mod":2`, ""},
		{"f16", `"iota":[0,1],"mod":2`, ""},
		{"i32", `"iota":[0,1],"mod":2`, ""},
		{"u8", `"iota":[0,1],"mod":3`, "from element 0 on: element [2] is 0; want 2"},
		{"u4", `"fill":0`, "from element 0 on: element [1] is 1; want 0"},
		{"u8", `"crc32":"00000000","bytes":1536`, "the result's crc32 is"},
		{"u8", `"crc32":"00000000","bytes":1535`, "answered 1536 bytes; want 1535"},
	} {
		text := strings.NewReplacer("DTYPE", strconv.Quote(tt.dtype), "WANT", tt.want).Replace(line)
		c := parseLine([]byte(text))
		if c.err != nil {
			t.Fatal(c.err)
		}
		answers, err := c.answers()
		if err != nil {
			t.Fatal(err)
		}
		whole := c.want.judge(answers)
		if (whole == nil) != (tt.fails == "") {
			t.Errorf("%s, wanting %s: %v", tt.dtype, tt.want, whole)
		}
		operator, op := operatorOf(t, &c)
		data, indices := tensorOf(t, c.inputs[0]), tensorOf(t, c.inputs[1])
		err = (&pieces{op, data, indices, data.Len(), 1024}).hold(&c.want)
		if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%s of %s, wanting %s: %v", operator, tt.dtype, tt.want, err)
		}
	}
}

// TestReferenceParts holds parts of the definition against the whole.
func TestReferenceParts(t *testing.T) {
	const line = `{"name":"n","op":"onnx.Gather-13","attributes":{"axis":1},"inputs":[{"dtype":"u4","shape":[5,7,3],"iota":[0,1],"mod":16},{"dtype":"i8","shape":[2,4],"iota":[-7,2],"mod":7}],"error":"index-out-of-range"}`
	c := parseLine([]byte(line))
	_, op := operatorOf(t, &c)
	data, indices := tensorOf(t, c.inputs[0]), tensorOf(t, c.inputs[1])
	whole, err := garner.Reference(op, data, indices)
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	part, err := garner.ReferenceParts(op, data, indices)
	if err != nil {
		t.Fatal(err)
	}
	for first := 0; first <= whole.Len(); first += 2 {
		for n := 0; n <= whole.Len()-first; n += 6 {
			got, err := part(first, n)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := got.Bytes(); err != nil || !bytes.Equal(b, want[first/2:(first+n)/2]) {
				t.Fatalf("%d elements from %d on: %x, %v; want %x", n, first, b, err, want[first/2:(first+n)/2])
			}
		}
	}
	for _, bad := range [][2]int{{-1, 1}, {0, -1}, {0, whole.Len() + 1}, {whole.Len() + 1, 0}} {
		if got, err := part(bad[0], bad[1]); err == nil {
			t.Errorf("%v: %v", bad, got)
		}
	}
}

func operatorOf(t *testing.T, c *Case) (string, garner.Op) {
	t.Helper()
	operator, err := operators.Find(c.Op, c.opset)
	if err != nil {
		t.Fatal(err)
	}
	op, err := c.bind(operator, nil)
	if err != nil {
		t.Fatal(err)
	}
	return operator.Name, op
}

func tensorOf(t *testing.T, in operand) garner.Tensor {
	t.Helper()
	tensor, err := in.value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor
}
