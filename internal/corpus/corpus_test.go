package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// TestElements reads tensors in every form that a case may describe them in,
// and holds their bytes.
func TestElements(t *testing.T) {
	for _, tt := range []struct{ tensor, hex string }{
		{`"dtype":"int64","shape":[2],"values":[9007199254740993,-9223372036854775808]`, "01000000000020000000000000000080"},
		{`"dtype":"uint64","shape":[1],"values":[18446744073709551615]`, "ffffffffffffffff"},
		{`"dtype":"int8","shape":[2],"values":[-128,127]`, "807f"},
		{`"dtype":"uint16","shape":[1,1],"values":[65535]`, "ffff"},
		{`"dtype":"bool","shape":[3],"values":[true,false,true]`, "010001"},
		{`"dtype":"float32","shape":[4],"values":["NaN","-0",-0.5,"-Infinity"]`, "0000c07f00000080000000bf000080ff"},
		{`"dtype":"float64","shape":[],"values":[0.1]`, "9a9999999999b93f"},
		{`"dtype":"float16","shape":[2],"values":[65504,5.960464477539063e-08]`, "ff7b0100"},
		{`"dtype":"bfloat16","shape":[2],"values":["Infinity",1.5]`, "807fc03f"},
		{`"dtype":"float8_e8m0fnu","shape":[2],"values":[1,"NaN"]`, "7fff"},
		{`"dtype":"float4_e2m1fn","shape":[3],"values":[0.5,-6,1]`, "f102"},
		{`"dtype":"int4","shape":[3],"values":[-8,7,-1]`, "780f"},
		{`"dtype":"uint1","shape":[9],"values":[1,0,0,0,0,0,0,1,1]`, "8101"},
		{`"dtype":"complex64","shape":[2],"values":[[1,-0.5],["-0","NaN"]]`, "0000803f000000bf000000800000c07f"},
		{`"dtype":"complex128","shape":[1],"values":[[1,2]]`, "000000000000f03f0000000000000040"},
		{`"dtype":"float32","shape":[2],"values":["NaN",1],"hex":"010080ff0000803f"`, "010080ff0000803f"},
		{`"dtype":"float32","shape":[1],"hex":"010080ff"`, "010080ff"},
		{`"dtype":"float32","shape":[0,3],"values":[]`, ""},
		{`"dtype":"int32","shape":[3],"iota":[1,2]`, "010000000300000005000000"},
		{`"dtype":"int16","shape":[4],"iota":[-3,2],"mod":3`, "0000020001000000"},
		{`"dtype":"int4","shape":[3],"iota":[0,3]`, "3006"},
		{`"dtype":"uint8","shape":[3],"fill":7`, "070707"},
		{`"dtype":"complex64","shape":[2],"fill":[1,0]`, "0000803f000000000000803f00000000"},
		{`"dtype":"int2","shape":[5],"fill":-2`, "aa02"},
		{`"dtype":"uint32","shape":[3],"rule":{"kind":"multiplicative-hash","shift":8}`, "0000000079379e00f36e3c00"},
		{`"dtype":"int64","shape":[3],"rule":{"mod":[1000,256,10]}`, "0000000000000000b1000000000000000600000000000000"},
		{`"dtype":"float32","shape":[2],"rule":{"shift":0,"mod":[7]}`, "000000000000a040"},
	} {
		d, err := parseTensor([]byte("{"+tt.tensor+"}"), inputFields)
		if err != nil {
			t.Errorf("%s: %v", tt.tensor, err)
			continue
		}
		made, err := d.tensor()
		if err != nil {
			t.Errorf("%s: %v", tt.tensor, err)
			continue
		}
		b, err := made.Bytes()
		if got := fmt.Sprintf("%x", b); err != nil || got != tt.hex {
			t.Errorf("%s is %s, %v; want %s", tt.tensor, got, err, tt.hex)
		}
	}
	d, err := parseTensor([]byte(`{"dtype":"string","shape":[2],"values":["\"é\"\u0000",""]}`), inputFields)
	if err != nil {
		t.Fatal(err)
	}
	made, err := d.tensor()
	if err != nil {
		t.Fatal(err)
	}
	if strs, err := garner.Values[string](made); err != nil || !slices.Equal(strs, []string{"\"é\"\x00", ""}) {
		t.Errorf("strings are %q, %v", strs, err)
	}
}

// good is a case that passes; the tests below break it.
const good = `{"name":"n","op":"openvino.Gather-8","attributes":{"batch_dims":0},"inputs":[{"dtype":"float32","shape":[2,2],"values":[1,2,3,4]},{"dtype":"int64","shape":[1],"values":[-1]},{"dtype":"int64","shape":[],"values":[0]}],"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]}`

func TestGood(t *testing.T) {
	if r := parseLine([]byte(good)).Run(); r != (Result{Name: "n", Op: "openvino.Gather-8", Status: Pass}) {
		t.Errorf("%+v", r)
	}
	for _, information := range []string{"source", "note", "also", "recorded", "observed", "message", "checked", "origin", "path"} {
		line := strings.Replace(good, `{"name"`, `{"`+information+`":[{"any":null}],"name"`, 1)
		if r := parseLine([]byte(line)).Run(); r.Status != Pass {
			t.Errorf("%s: %s", information, r.Detail)
		}
	}
}

// TestUnspecified holds that elements which a specification leaves open are not
// compared, and all others are.
func TestUnspecified(t *testing.T) {
	for open, want := range map[string]Status{`[0]`: Pass, `[1,0]`: Pass, `[1]`: Fail, `[]`: Fail, `[2]`: Fail, `[-1]`: Fail, `0`: Fail} {
		line := strings.Replace(good, `"values":[3,4]}]}`, `"values":[9,4]}],"unspecified":`+open+`}`, 1)
		if r := parseLine([]byte(line)).Run(); r.Status != want {
			t.Errorf("%s: %s %s", open, r.Status, r.Detail)
		}
	}
}

// TestFurtherOperands holds that the ends of bags are operands of the call, that an
// open dim of an inference is filled by the result, and that refused ends are found.
func TestFurtherOperands(t *testing.T) {
	const bags = `{"name":"n","op":"tensorflow.sparse_segment_sum","inputs":[{"dtype":"f32","shape":[2],"values":[1,2]},{"dtype":"i64","shape":[2],"values":[1,0]},{"dtype":"i32","shape":[2],"values":[0,2]}],`
	for want, status := range map[string]Status{
		`"outputs":[{"dtype":"f32","shape":[3],"values":[2,0,1]}]}`: Pass,
		`"outputs":[{"dtype":"f32","shape":[2],"values":[2,1]}]}`:   Fail,
		`"outputs":[{"dtype":"f32","shape":[3],"values":[2,1,1]}]}`: Fail,
		`"error":"shape-mismatch"}`:                                 Fail,
		`"error":"index-out-of-range"}`:                             Fail,
	} {
		if r := parseLine([]byte(bags + want)).Run(); r.Status != status {
			t.Errorf("%s: %s %s", want, r.Status, r.Detail)
		}
	}
	huge := strings.Replace(bags, "[0,2]}", "[0,2147483646]}", 1) + `"outputs":[{"dtype":"f32","shape":[1],"values":[2]}]}`
	if r := parseLine([]byte(huge)).Run(); r.Status != Fail || !strings.Contains(r.Detail, "is larger than") {
		t.Errorf("a result of 8 GiB: %s %s", r.Status, r.Detail)
	}
	falling := strings.Replace(bags, "[0,2]}", "[2,0]}", 1) + `"error":"shape-mismatch"}`
	if r := parseLine([]byte(falling)).Run(); r.Status != Pass {
		t.Errorf("falling segments: %s", r.Detail)
	}
}

// TestPolicies runs one case under every policy.
func TestPolicies(t *testing.T) {
	for policy, want := range map[string]string{
		`{"negative":"reject","outside":"zero"}`:   `"outputs":[{"dtype":"float32","shape":[1,2],"values":[0,0]}]`,
		`{"negative":"reject","outside":"error"}`:  `"error":"index-out-of-range"`,
		`{"negative":"reject","outside":"clamp"}`:  `"outputs":[{"dtype":"float32","shape":[1,2],"values":[1,2]}]`,
		`{"negative":"from-end","outside":"wrap"}`: `"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]`,
		`{}`: `"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]`,
	} {
		line := strings.Replace(good, `"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]`, `"policy":`+policy+`,`+want, 1)
		if r := parseLine([]byte(line)).Run(); r.Status != Pass {
			t.Errorf("%s: %s", policy, r.Detail)
		}
	}
}

// TestStrict breaks the text of a case: a text that is not understood fails,
// with a message that names the fault.
func TestStrict(t *testing.T) {
	for _, tt := range []struct{ from, to, detail string }{
		{good, ``, "JSON ends early"},
		{good, `[]`, "no JSON object"},
		{good, `7`, "no JSON object"},
		{good, `{"name":"n"`, "JSON ends early"},
		{`}]}`, `}]}{}`, "something follows"},
		{`}]}`, `}]`, "JSON ends early"},
		{`"name":"n"`, `"name":"n","Name":"m"`, `unknown field "Name"`},
		{`"name":"n"`, `"name":"n","name":"m"`, `field "name" stands twice`},
		{`"name":"n",`, ``, "no name"},
		{`"name":"n"`, `"name":7`, "name is no string"},
		{`"op":"openvino.Gather-8",`, ``, "no op"},
		{`openvino.Gather-8`, `openvino.Gather-9`, "did you mean"},
		{`"attributes"`, `"surprise":1,"attributes"`, `unknown field "surprise"`},
		{`"attributes"`, `"opset":0,"attributes"`, "opset 0"},
		{`"attributes":{"batch_dims":0}`, `"attributes":[]`, "attributes"},
		{`{"batch_dims":0}`, `{"batch_dims":0,"batch_dims":0}`, "stands twice"},
		{`{"batch_dims":0}`, `{"batch_dims":0.5}`, "batch_dims cannot be 0.5"},
		{`{"batch_dims":0}`, `{"batch_dims":[0]}`, "batch_dims cannot be [0]"},
		{`{"batch_dims":0}`, `{"batch_dims":["a"]}`, "no int64"},
		{`{"batch_dims":0}`, `{"bacth_dims":0}`, "no attribute bacth_dims"},
		{`"attributes"`, `"policy":{"negative":"zero"},"attributes"`, "none of"},
		{`"attributes"`, `"policy":{"positive":"zero"},"attributes"`, `unknown field "positive"`},
		{`"attributes"`, `"policy":{"outside":"fill"},"attributes"`, "none of"},
		{`"inputs":[`, `"inputs":[],"x":[`, `unknown field "x"`},
		{`"values":[1,2,3,4]`, `"values":[1,2,3]`, "3 values for the 4"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4,5]`, "more values than the 4"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,"4"]`, "4 is no f32"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,true]`, "true is no f32"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,[4]]`, "[ is no f32"},
		{`"values":[1,2,3,4]`, `"values":{"a":4}`, "no list"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4],"hex":"00"`, "1 bytes are no"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4],"hex":"0000803f000000400000404000008041"`, "values are not its bytes"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4],"hex":"xy"`, "hex"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4],"fill":1`, "more than one way"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4],"runtime":1`, "runtime is no bool"},
		{`"values":[1,2,3,4]`, `"values":[1,2,3,4],"crc32":"00000000"`, `unknown field "crc32"`},
		{`"values":[1,2,3,4]`, `"mod":3`, "mod and no iota"},
		{`"values":[1,2,3,4]`, `"iota":[1]`, "no [start, step]"},
		{`"values":[1,2,3,4]`, `"iota":[1,4294967296]`, "2^31"},
		{`"values":[1,2,3,4]`, `"iota":[1,1],"mod":0`, "mod 0"},
		{`"values":[1,2,3,4]`, `"fill":"x"`, "x is no f32"},
		{`"values":[1,2,3,4]`, `"rule":{"kind":"lcg","shift":1}`, "no kind"},
		{`"values":[1,2,3,4]`, `"rule":{}`, "neither mod nor shift"},
		{`"values":[1,2,3,4]`, `"rule":{"mod":[]}`, "mod []"},
		{`"values":[1,2,3,4]`, `"rule":{"mod":[3,0]}`, "mod [3,0]"},
		{`"values":[1,2,3,4]`, `"rule":{"shift":-1}`, "shift"},
		{`,"values":[1,2,3,4]`, ``, "has none"},
		{`"shape":[2,2]`, `"shape":[2,-2]`, "shape"},
		{`"shape":[2,2]`, `"shape":[2,2.0]`, "shape"},
		{`"shape":[2,2]`, `"shape":null`, "elements and no shape"},
		{`"shape":[2,2],"values":[1,2,3,4]`, `"shape":null`, "has no shape"},
		{`"dtype":"int64","shape":[1],"values":[-1]`, `"dtype":"int64","shape":[1],"values":[9223372036854775808]`, "outside i64"},
		{`"dtype":"int64","shape":[1],"values":[-1]`, `"dtype":"int64","shape":[1],"values":[-1.0]`, "no integer"},
		{`"dtype":"int64","shape":[1],"values":[-1]`, `"dtype":"int64","shape":[1],"values":["-1"]`, "no i64"},
		{`"dtype":"int64","shape":[1],"values":[-1]`, `"dtype":"uint8","shape":[1],"rule":{"shift":0,"mod":[1]},"fill":1`, "more than one way"},
		{`"dtype":"int64","shape":[1],"values":[-1]`, `"shape":[1],"values":[-1]`, "no dtype"},
		{`"dtype":"int64","shape":[1],"values":[-1]`, `"dtype":"int65","shape":[1],"values":[-1]`, "no dtype"},
		{`"outputs"`, `"error":"rank","outputs"`, "2 of outputs, error and output_shape"},
		{`,"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]`, ``, "0 of outputs, error and output_shape"},
		{`"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]`, `"error":"oops"`, `no error class "oops"`},
		{`"outputs":[{"dtype":"float32","shape":[1,2],"values":[3,4]}]`, `"outputs":[]`, "no list of one tensor"},
		{`"shape":[1,2],"values":[3,4]`, `"shape":[1,2]`, "no values"},
		{`"shape":[1,2],"values":[3,4]`, `"shape":[1,2],"crc32":"00000000"`, "stand together"},
		{`"shape":[1,2],"values":[3,4]`, `"shape":[1,2],"crc32":"0000","bytes":8`, "no checksum"},
		{`"shape":[1,2],"values":[3,4]`, `"shape":[1,2],"sha256":"zz"`, "sha256"},
		{`"shape":[1,2],"values":[3,4]`, `"shape":[1,2],"values":[3]`, "1 values for the 2"},
		{`"outputs"`, `"partial_shapes":[],"outputs"`, "0 partial_shapes for 3 inputs"},
		{`"outputs"`, `"partial_shapes":[[3,null],[1],[]],"outputs"`, "its partial shape"},
		{`"outputs"`, `"partial_shapes":[[[3,1],null],[1],[]],"outputs"`, "no [min, max]"},
		{`"outputs"`, `"partial_shapes":[{"rank":[1,2,3]},[1],[]],"outputs"`, "no range of ranks"},
		{`"outputs"`, `"output_dtype":"f64","outputs"`, "output_dtype is f64"},
		{`"outputs"`, `"input_bytes":[256],"outputs"`, "256 is no byte"},
	} {
		line := strings.Replace(good, tt.from, tt.to, 1)
		if line == good {
			t.Errorf("%q is not in the case", tt.from)
		}
		r := parseLine([]byte(line)).Run()
		if r.Status != Fail || !strings.Contains(r.Detail, tt.detail) {
			t.Errorf("%s for %s: %s %q; want %q", tt.to, tt.from, r.Status, r.Detail, tt.detail)
		}
	}
}

// TestPartial runs a case that also has partial shapes to infer from.
func TestPartial(t *testing.T) {
	line := strings.Replace(good, `"outputs"`, `"partial_shapes":[[2,null],{"rank":[1,1]},[]],"partial_output_shape":[null,null],"outputs"`, 1)
	if r := parseLine([]byte(line)).Run(); r.Status != Pass {
		t.Error(r.Detail)
	}
	line = strings.Replace(line, `[null,null]`, `[null,2]`, 1)
	if r := parseLine([]byte(line)).Run(); r.Status != Fail || !strings.Contains(r.Detail, "Infer of the partial shapes") {
		t.Errorf("%s %q", r.Status, r.Detail)
	}
}

// TestNaN holds that any NaN passes, except where the case gives the bytes.
func TestNaN(t *testing.T) {
	for _, tt := range []struct {
		dtype, data, want string
		status            Status
	}{
		{"float32", `"hex":"010080ff"`, `"values":["NaN"]`, Pass},
		{"float32", `"hex":"010080ff"`, `"values":["NaN"],"hex":"010080ff"`, Pass},
		{"float32", `"hex":"010080ff"`, `"values":["NaN"],"hex":"0000c07f"`, Fail},
		{"float32", `"hex":"010080ff"`, `"values":[0]`, Fail},
		{"float16", `"hex":"017c"`, `"values":["NaN"]`, Pass},
		{"float32", `"values":[0]`, `"values":["-0"]`, Fail},
		{"float8_e5m2", `"hex":"7d"`, `"values":["NaN"]`, Pass},
		{"complex64", `"hex":"010080ff0000803f"`, `"values":[["NaN",1]]`, Pass},
		{"complex64", `"hex":"010080ff0000803f"`, `"values":[["NaN",2]]`, Fail},
		{"complex64", `"hex":"010080ff0000803f"`, `"values":[[1,"NaN"]]`, Fail},
	} {
		line := fmt.Sprintf(`{"name":"n","op":"onnx.Gather-13","inputs":[{"dtype":%q,"shape":[1],%s},{"dtype":"i64","shape":[1],"values":[0]}],"outputs":[{"dtype":%q,"shape":[1],%s}]}`, tt.dtype, tt.data, tt.dtype, tt.want)
		if r := parseLine([]byte(line)).Run(); r.Status != tt.status || strings.Contains(r.Detail, "no case") {
			t.Errorf("%s %s, wanting %s: %s %q", tt.dtype, tt.data, tt.want, r.Status, r.Detail)
		}
	}
}

// TestPanic holds that a panic fails its own case only.
func TestPanic(t *testing.T) {
	c := parseLine([]byte(good))
	c.inputs[1].value = func() (garner.Tensor, error) { panic("made up") }
	if r := c.Run(); r.Status != Fail || r.Detail != "panic: made up" {
		t.Errorf("%+v", r)
	}
}

// TestShapesAreFree holds that a shape allocates nothing before its elements
// are needed, and that elements beyond the limit are refused.
func TestShapesAreFree(t *testing.T) {
	const huge = `{"name":"n","op":"onnx.Gather-13","attributes":{"axis":1},"inputs":[{"dtype":"u8","shape":[20000,30000]},{"dtype":"u8","shape":[3]}],"output_shape":[20000,3]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if r := parseLine([]byte(huge)).Run(); r.Status != Pass {
		t.Error(r.Detail)
	}
	for _, elements := range []string{`"values":[1]`, `"fill":1`, `"iota":[0,1]`, `"rule":{"shift":9}`, `"hex":"00"`} {
		line := strings.Replace(huge, `"shape":[20000,30000]`, `"shape":[20000,30000],`+elements, 1)
		line = strings.Replace(line, `"output_shape":[20000,3]`, `"error":"rank"`, 1)
		if r := parseLine([]byte(line)).Run(); r.Status != Fail || !strings.Contains(r.Detail, "no case") {
			t.Errorf("%s: %s %q", elements, r.Status, r.Detail)
		}
	}
	const wide = `{"name":"n","op":"onnx.Gather-13","inputs":[{"dtype":"u8","shape":[1,30000],"fill":1},{"dtype":"u8","shape":[20000],"fill":0}],"error":"index-out-of-range"}`
	if r := parseLine([]byte(wide)).Run(); r.Status != Fail || !strings.Contains(r.Detail, "larger than 512 MiB") {
		t.Errorf("%s %q", r.Status, r.Detail)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 10<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
}

// TestHugeEmpty runs cases without elements whose extents are too large to loop
// over.
func TestHugeEmpty(t *testing.T) {
	for _, tt := range []struct{ op, attributes, data, indices, out string }{
		{"onnx.Gather-13", `{"axis":2}`, "[B,B,0]", "[0]", "[B,B,0]"},
		{"onnx.Gather-13", `{"axis":1}`, "[B,5,B,0]", "[0]", "[B,0,B,0]"},
		{"onnx.GatherElements-13", `{"axis":2}`, "[B,B,0]", "[B,B,0]", "[B,B,0]"},
		{"onnx.GatherND-13", `{}`, "[0]", "[B,B,0,1]", "[B,B,0]"},
		{"openvino.GatherND-8", `{"batch_dims":2}`, "[B,B,0,3]", "[B,B,0,1]", "[B,B,0,3]"},
		{"openvino.GatherND-8", `{}`, "[B,B,0]", "[B,0]", "[B,B,B,0]"},
	} {
		line := fmt.Sprintf(`{"name":"n","op":%q,"attributes":%s,"inputs":[{"dtype":"f32","shape":%s,"values":[]},{"dtype":"i64","shape":%s,"values":[]}],"outputs":[{"dtype":"f32","shape":%s,"values":[]}]}`, tt.op, tt.attributes, tt.data, tt.indices, tt.out)
		if r := parseLine([]byte(strings.ReplaceAll(line, "B", "1073741824"))).Run(); r.Status != Pass {
			t.Errorf("%+v: %s", tt, r.Detail)
		}
	}
}

// TestLoad reads a corpus with lines of every kind.
func TestLoad(t *testing.T) {
	lines := strings.Join([]string{good, "", "  \r", "no JSON", good, `{"name":"other","op":"x.Y"}`, strings.Replace(good, `"n"`, `"last"`, 1)}, "\n")
	var got []string
	for c := range Load(strings.NewReader(lines)) {
		r := c.Run()
		got = append(got, fmt.Sprintf("%s %s %s", r.Name, r.Op, r.Status))
	}
	want := []string{"n openvino.Gather-8 pass", "line 4  fail", "n openvino.Gather-8 fail", "other x.Y fail", "last openvino.Gather-8 pass"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

// endless is a line of so many bytes without an end.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	// The buffer holds zeros, which serve as text.
	n := min(len(b), e.left)
	e.left -= n
	return n, nil
}

// TestLongLine holds that a line beyond the limit fails, and takes no more
// memory than the limit.
func TestLongLine(t *testing.T) {
	r := io.MultiReader(&endless{3 * maxLine}, strings.NewReader("\n"+good+"\n"))
	var got []string
	for c := range Load(r) {
		got = append(got, string(c.Run().Status))
	}
	if !slices.Equal(got, []string{"fail", "pass"}) {
		t.Errorf("got %q", got)
	}
	failing := io.MultiReader(strings.NewReader(good+"\n"), &failingReader{})
	got = nil
	for c := range Load(failing) {
		got = append(got, string(c.Run().Status)+" "+c.Run().Detail)
	}
	if !slices.Equal(got, []string{"pass ", "fail no case: the disk is gone"}) {
		t.Errorf("got %q", got)
	}
}

type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// TestOpen finds cases in files and directories.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write("some/deep/a.jsonl", good+"\n")
	write("some/b.jsonl", good+"\n\n")
	write("some/readme.txt", "no corpus")
	broken := write("models/broken/model.onnx", "no model")
	noSets := filepath.Join(dir, "models", "no-sets")
	if err := os.CopyFS(noSets, os.DirFS("../../testdata/onnx/gather_13_axis0")); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"test_data_set_0", "test_data_set_1"} {
		if err := os.RemoveAll(filepath.Join(noSets, set)); err != nil {
			t.Fatal(err)
		}
	}
	count := func(paths ...string) (pass, fail int) {
		t.Helper()
		cases, err := Open(paths...)
		if err != nil {
			t.Fatal(err)
		}
		for c := range cases {
			if c.Source == "" || c.Name == "" {
				t.Errorf("%+v has no name or source", c)
			}
			if c.Run().Status == Pass {
				pass++
			} else {
				fail++
			}
		}
		return pass, fail
	}
	if pass, fail := count(one); pass != 1 || fail != 0 {
		t.Errorf("a file: %d and %d", pass, fail)
	}
	if pass, fail := count(dir); pass != 2 || fail != 2 {
		t.Errorf("a directory: %d and %d", pass, fail)
	}
	if pass, fail := count(filepath.Dir(broken), one, "../../testdata/onnx/gather_13_axis0"); pass != 3 || fail != 1 {
		t.Errorf("several: %d and %d", pass, fail)
	}
	for _, bad := range []string{
		filepath.Join(dir, "nowhere"),
		filepath.Join(dir, "some/readme.txt"),
		write("empty.jsonl", " \n\t\r\n"),
		filepath.Dir(write("nothing/note.txt", "")),
	} {
		if _, err := Open(one, bad); err == nil || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%s: %v", bad, err)
		}
		if _, err := Dir(bad); err == nil {
			t.Errorf("Dir of %s: no error", bad)
		}
	}
}

// TestEveryWayIsAsked holds that a case fails where only one of the ways gives
// a wrong answer.
func TestEveryWayIsAsked(t *testing.T) {
	c := parseLine([]byte(good))
	answers, err := c.answers()
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]bool{}
	for i, a := range answers {
		ways[a.way] = true
		wrong := slices.Clone(answers)
		wrong[i] = answer{way: a.way, err: errors.New("made up")}
		if err := c.want.judge(wrong); err == nil || !strings.Contains(err.Error(), a.way) {
			t.Errorf("%s wrong: %v", a.way, err)
		}
		if a.loose {
			wrong[i] = answer{way: a.way, loose: true, spec: garner.SpecOf(garner.F32, 1, 3)}
			if err := c.want.judge(wrong); err == nil {
				t.Errorf("%s contradicting the rest passes", a.way)
			}
		}
	}
	for _, way := range []string{"Infer", "Gather", "Reference", "Infer without ranks", "Infer without the axis"} {
		if !ways[way] {
			t.Errorf("%s is not asked", way)
		}
	}
}

// FuzzLine holds that any text at most fails its case.
func FuzzLine(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"name":"n","op":"onnx.GatherND","opset":12,"inputs":[{"dtype":"u4","shape":[3],"iota":[1,1],"mod":5},{"dtype":"u1","shape":[1,1],"fill":1}],"outputs":[{"dtype":"u4","shape":[1],"values":[2]}]}`))
	f.Add([]byte(`{"name":"n","op":"tensorflow.gather","attributes":{"axis":1},"inputs":[{"dtype":"string","shape":[1,2],"values":["a","b"]},{"dtype":"i8","shape":[],"values":[5]}],"error":"index-out-of-range","policy":{"outside":"error"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := parseLine(text)
		for _, in := range c.inputs {
			shape, ok := in.spec.Shape()
			if n, fits := shape.Len(); ok && (!fits || n > 256) {
				return // within the limits, a run may still take long
			}
			for _, d := range shape {
				if d > 1<<16 {
					return
				}
			}
		}
		if r := c.Run(); r.Status != Pass && (r.Detail == "" || strings.HasPrefix(r.Detail, "panic")) {
			t.Errorf("%s: %q", r.Status, r.Detail)
		}
	})
}
