package corpus

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
)

// TestSpoiledLines spoils every expectation of every corpus in every way that
// applies to it, and sees each of them fail. What garner answers does not depend
// on what a case expects, so it is asked once a case.
func TestSpoiledLines(t *testing.T) {
	files, err := filepath.Glob("../../testdata/conformance/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d corpora, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := make(chan []byte)
			var workers sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				workers.Go(func() {
					for line := range lines {
						spoilLine(t, line)
					}
				})
			}
			for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
				lines <- line
			}
			close(lines)
			workers.Wait()
		})
	}
}

func spoilLine(t *testing.T, line []byte) {
	c := parseLine(line)
	answers, err := c.answers()
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	if err := c.want.judge(answers); err != nil {
		t.Errorf("%s, as it stands: %v", c.Name, err)
		return
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	spoils := spoilFields(t, &c, fields)
	if len(spoils) < 4 {
		t.Errorf("%s: spoiled in %d ways only", c.Name, len(spoils))
	}
	for way, expectation := range spoils {
		spoiled := maps.Clone(fields)
		for _, name := range []string{"outputs", "error", "output_shape", "output_dtype"} {
			delete(spoiled, name)
		}
		maps.Copy(spoiled, expectation)
		text, err := json.Marshal(spoiled)
		if err != nil {
			t.Errorf("%s, %s: %v", c.Name, way, err)
			continue
		}
		s := parseLine(text)
		if s.err != nil {
			t.Errorf("%s, %s: the spoiled line is none: %v", c.Name, way, s.err)
			continue
		}
		checkSpoiled(t, c.Name+", "+way, s.want.judge(answers))
	}
}

// checkSpoiled wants a judgement, and not that there was nothing to judge.
func checkSpoiled(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: it passes", name)
	} else if strings.Contains(err.Error(), "no case") {
		t.Errorf("%s: %v", name, err)
	}
}

// spoilFields is what a line could expect instead, by the way it is spoiled.
func spoilFields(t *testing.T, c *Case, fields map[string]json.RawMessage) map[string]map[string]json.RawMessage {
	spoils := make(map[string]map[string]json.RawMessage)
	for _, class := range []string{"dtype", "attribute", "rank", "index-out-of-range"} {
		if classes[class] != c.want.class {
			spoils["error "+class] = map[string]json.RawMessage{"error": encode(t, class)}
		}
	}
	dtype := c.inputs[0].spec.DType
	if c.want.class != nil {
		spoils["a result"] = outputs(t, map[string]any{"dtype": dtype.String(), "shape": []int{0}, "values": []int{}})
		return spoils
	}
	var outs []map[string]any
	if err := json.Unmarshal(fields["outputs"], &outs); err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return spoils
	}
	shape, _ := c.want.spec.Shape()
	out := outs[0]
	with := func(changes map[string]any) map[string]json.RawMessage {
		o := maps.Clone(out)
		maps.Copy(o, changes)
		maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
		return outputs(t, o)
	}
	spoils["one more dim"] = with(map[string]any{"shape": append(slices.Clone(shape), 1)})
	spoils["another rank, no elements"] = with(map[string]any{"shape": append(slices.Clone(shape), 0), "values": []int{}, "hex": nil, "crc32": nil, "bytes": nil})
	if len(shape) > 1 && shape[0] != shape[len(shape)-1] {
		turned := slices.Clone(shape)
		slices.Reverse(turned)
		spoils["dims turned round"] = with(map[string]any{"shape": turned})
	}
	if c.want.sum != nil {
		digest := slices.Clone(c.want.sum.digest)
		digest[len(digest)-1] ^= 1
		spoils["a bit of the checksum"] = with(map[string]any{c.want.sum.name: hex.EncodeToString(digest)})
		spoils["a byte more"] = with(map[string]any{"bytes": c.want.sum.bytes + 1})
		return spoils
	}
	value, err := c.want.value()
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return spoils
	}
	another := garner.I16
	if dtype == garner.I16 {
		another = garner.BF16
	}
	zeros, err := garner.New(another, shape...)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return spoils
	}
	b, err := zeros.Bytes()
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	spoils["another dtype"] = with(map[string]any{"dtype": another.String(), "values": nil, "hex": hex.EncodeToString(b)})
	for _, at := range []int{0, value.Len() - 1} {
		if value.Len() == 0 {
			break
		}
		if dtype == garner.String {
			values, err := garner.Values[string](value)
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			values = slices.Clone(values)
			values[at] += "\x00"
			spoils["a string, element "+element(value, at)] = with(map[string]any{"values": values})
			continue
		}
		spoils["a bit of element "+element(value, at)] = with(map[string]any{"values": nil, "hex": hex.EncodeToString(flipped(t, value, at))})
	}
	return spoils
}

// flipped is the bytes of a tensor with one bit of one element turned: the
// lowest of the first, the highest of any other.
func flipped(t *testing.T, value garner.Tensor, at int) []byte {
	b, err := value.Bytes()
	if err != nil {
		t.Error(err)
	}
	b = slices.Clone(b)
	bit := at * value.DType().Bits()
	if at > 0 {
		bit += value.DType().Bits() - 1
	}
	b[bit/8] ^= 1 << (bit % 8)
	return b
}

func outputs(t *testing.T, out map[string]any) map[string]json.RawMessage {
	return map[string]json.RawMessage{"outputs": encode(t, []any{out})}
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return b
}

// TestSpoiledShapes spoils expectations of shape inference alone.
func TestSpoiledShapes(t *testing.T) {
	const line = `{"name":"n","op":"openvino.Gather-7","attributes":{"batch_dims":2},"inputs":[{"dtype":"f32","shape":null},{"dtype":"i64","shape":null},{"dtype":"i64","shape":[1],"values":[2]}],` +
		`"partial_shapes":[[[1,7],[1,3],200,400],[[7,10],[2,null],3,8],[1]],"output_shape":[7,[2,3],3,8,400],"output_dtype":"f32"}`
	if r := parseLine([]byte(line)).Run(); r.Status != Pass {
		t.Fatal(r.Detail)
	}
	for _, shape := range []string{`null`, `{"rank":[5,5]}`, `{"rank":[4,5]}`, `[7,[2,3],3,8]`, `[8,[2,3],3,8,400]`, `[7,[2,4],3,8,400]`, `[7,[1,3],3,8,400]`, `[7,null,3,8,400]`, `[7,2,3,8,400]`, `[]`} {
		spoiled := strings.Replace(line, `[7,[2,3],3,8,400]`, shape, 1)
		checkRunFails(t, shape, spoiled)
	}
	checkRunFails(t, "dtype", strings.Replace(line, `"output_dtype":"f32"`, `"output_dtype":"f64"`, 1))
	for _, class := range []string{"dtype", "attribute", "rank"} {
		checkRunFails(t, class, strings.Replace(line, `"output_shape":[7,[2,3],3,8,400],"output_dtype":"f32"`, `"error":"`+class+`"`, 1))
	}
}

func checkRunFails(t *testing.T, name, line string) {
	t.Helper()
	r := parseLine([]byte(line)).Run()
	if r.Status != Fail || strings.Contains(r.Detail, "no case") {
		t.Errorf("%s: %s %q", name, r.Status, r.Detail)
	}
}

// TestSpoiledDirectories spoils the outputs of every ONNX test.
func TestSpoiledDirectories(t *testing.T) {
	cases, err := Dir("../../testdata/onnx")
	if err != nil {
		t.Fatal(err)
	}
	for c := range cases {
		answers, err := c.answers()
		if err == nil {
			err = c.want.judge(answers)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		value, err := c.want.value()
		if err != nil {
			t.Fatal(err)
		}
		for way, message := range spoilProto(t, value) {
			_, spoiled, err := parseTensorProto(message)
			if err != nil {
				t.Errorf("%s, %s: %v", c.Name, way, err)
				continue
			}
			w := wantTensor(spoiled)
			checkSpoiled(t, c.Name+", "+way, w.judge(answers))
		}
	}
}

func spoilProto(t *testing.T, value garner.Tensor) map[string][]byte {
	shape := value.Shape()
	if value.DType() == garner.String {
		values, err := garner.Values[string](value)
		if err != nil {
			t.Fatal(err)
		}
		spoils := map[string][]byte{"one more dim": stringProto(append(slices.Clone(shape), 1), values)}
		if len(values) > 0 {
			values = slices.Clone(values)
			values[len(values)-1] += "!"
			spoils["a string"] = stringProto(shape, values)
		}
		return spoils
	}
	b, err := value.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	another := garner.U8
	if value.DType() == garner.U8 {
		another = garner.I8
	}
	spoils := map[string][]byte{
		"one more dim":  rawProto(value.DType(), append(slices.Clone(shape), 1), b),
		"another dtype": rawProto(another, shape, make([]byte, value.Len())),
	}
	if value.Len() > 0 {
		spoils["a bit"] = rawProto(value.DType(), shape, flipped(t, value, value.Len()-1))
	}
	return spoils
}

// rawProto writes a TensorProto with raw_data.
func rawProto(dtype garner.DType, shape garner.Shape, b []byte) []byte {
	m := protoHead(dtype, shape)
	m = protowire.AppendTag(m, 9, protowire.BytesType)
	return protowire.AppendBytes(m, b)
}

func stringProto(shape garner.Shape, values []string) []byte {
	m := protoHead(garner.String, shape)
	for _, s := range values {
		m = protowire.AppendTag(m, 6, protowire.BytesType)
		m = protowire.AppendString(m, s)
	}
	return m
}

func protoHead(dtype garner.DType, shape garner.Shape) (m []byte) {
	for _, d := range shape {
		m = protowire.AppendTag(m, 1, protowire.VarintType)
		m = protowire.AppendVarint(m, uint64(d))
	}
	for number, d := range dataTypes {
		if d == dtype {
			m = protowire.AppendTag(m, 2, protowire.VarintType)
			m = protowire.AppendVarint(m, number)
		}
	}
	return m
}
