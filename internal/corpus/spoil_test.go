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
	"github.com/garner-go/garner/onnx/modelproto"
)

// TestSpoiledLines changes every expectation of every corpus in every way that
// applies to it, and holds that each fails. garner's answers do not depend on
// the expectation, so they are computed once a case.
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

// spoilLine spoils one case. It need not pass as it is: a few are disputed, and
// another test covers that.
func spoilLine(t *testing.T, line []byte) {
	c := parseLine(line)
	answers, err := c.answers()
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	spoils := spoilFields(t, &c, fields)
	if len(spoils) < 3 {
		t.Errorf("%s: spoiled in %d ways only", c.Name, len(spoils))
	}
	for way, expectation := range spoils {
		spoiled := maps.Clone(fields)
		for _, name := range []string{"outputs", "error", "output_shape", "output_dtype", "output_bytes"} {
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

// checkSpoiled holds that the error is a judgement, and not that the case had
// nothing to judge.
func checkSpoiled(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: it passes", name)
	} else if strings.Contains(err.Error(), "no case") {
		t.Errorf("%s: %v", name, err)
	}
}

// elements are the fields that give the elements of a tensor.
var elements = []string{"values", "hex", "rule", "iota", "mod", "fill", "crc32", "bytes", "sha256"}

// spoilFields returns the spoiled lines by how they are spoiled.
func spoilFields(t *testing.T, c *Case, fields map[string]json.RawMessage) map[string]map[string]json.RawMessage {
	spoils := make(map[string]map[string]json.RawMessage)
	for _, class := range []string{"dtype", "attribute", "rank", "index-out-of-range"} {
		if classes[class] == c.want.class || classes[class] == garner.ErrIndex && !c.valued() {
			continue // the same, or no expectation for a case without values
		}
		spoils["error "+class] = map[string]json.RawMessage{"error": encode(t, class)}
	}
	dtype := c.inputs[0].spec.DType
	switch {
	case c.want.class != nil:
		spoils["a shape"] = map[string]json.RawMessage{"output_shape": encode(t, []int{0})}
		spoils["any shape"] = map[string]json.RawMessage{"output_shape": encode(t, nil)}
		if c.valued() {
			spoils["a result"] = outputs(t, map[string]any{"dtype": dtype.String(), "shape": []int{0}, "values": []int{}})
		}
		return spoils
	case !c.want.ran:
		spoilShape(t, c.want.spec, spoils)
		return spoils
	}
	var outs []map[string]any
	if err := json.Unmarshal(fields["outputs"], &outs); err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return spoils
	}
	shape, _ := c.want.spec.Shape()
	with := func(changes map[string]any) map[string]json.RawMessage {
		o := maps.Clone(outs[0])
		if changes["values"] != nil || changes["hex"] != nil {
			for _, name := range elements {
				delete(o, name)
			}
		}
		maps.Copy(o, changes)
		return outputs(t, o)
	}
	spoils["one more dim"] = with(map[string]any{"shape": append(slices.Clone(shape), 1)})
	spoils["another rank, no elements"] = with(map[string]any{"shape": append(slices.Clone(shape), 0), "values": []int{}})
	if len(shape) > 1 && shape[0] != shape[len(shape)-1] {
		turned := slices.Clone(shape)
		slices.Reverse(turned)
		spoils["dims turned round"] = with(map[string]any{"shape": turned})
	}
	if s := c.want.sum; s != nil {
		digest := slices.Clone(s.digest)
		digest[len(digest)-1] ^= 1
		spoils["a bit of the checksum"] = with(map[string]any{s.name: hex.EncodeToString(digest)})
		if s.bytes >= 0 {
			spoils["a byte more"] = with(map[string]any{"bytes": s.bytes + 1})
		}
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
	spoils["another dtype"] = with(map[string]any{"dtype": another.String(), "hex": hex.EncodeToString(b)})
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
		spoils["a bit of element "+element(value, at)] = with(map[string]any{"hex": hex.EncodeToString(flipped(t, value, at))})
	}
	return spoils
}

// spoilShape spoils an expectation of shape inference: one dim more or less
// known, or another dim.
func spoilShape(t *testing.T, spec garner.Spec, spoils map[string]map[string]json.RawMessage) {
	shape := func(way string, v any) {
		spoils[way] = map[string]json.RawMessage{"output_shape": encode(t, v)}
	}
	another := garner.F64
	if spec.DType == garner.F64 {
		another = garner.F32
	}
	if !spec.Rank.Known() {
		shape("a rank", map[string]any{"rank": []int{0, 32}})
		shape("a shape", []any{nil, nil})
		spoils["another dtype"] = map[string]json.RawMessage{"output_shape": encode(t, nil), "output_dtype": encode(t, another.String())}
		return
	}
	dims := make([]any, len(spec.Dims))
	for i, d := range spec.Dims {
		dims[i] = []any{d.Min, d.Max}
		if d.Max == garner.Unbounded {
			dims[i] = []any{d.Min, nil}
		}
	}
	spoils["another dtype"] = map[string]json.RawMessage{"output_shape": encode(t, dims), "output_dtype": encode(t, another.String())}
	shape("no shape", nil)
	shape("one more dim", append(slices.Clone(dims), nil))
	for i, d := range spec.Dims {
		changed := slices.Clone(dims)
		for _, other := range []garner.Dim{{Min: d.Min + 1, Max: max(d.Max, d.Min+1)}, garner.AnyDim, garner.Exactly(7)} {
			if other == d {
				continue
			}
			if changed[i] = []any{other.Min, other.Max}; other.Max == garner.Unbounded {
				changed[i] = []any{other.Min, nil}
			}
			shape("dim "+other.String(), changed)
		}
	}
}

// flipped returns the bytes of a tensor with one bit of one element flipped:
// the lowest bit of the first element, the highest of any other.
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
			_, spoiled, err := modelproto.Tensor(message)
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

// rawProto encodes a TensorProto with raw_data.
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
	// ONNX's numbers of element types, from 1 on.
	numbers := []garner.DType{
		garner.F32, garner.U8, garner.I8, garner.U16, garner.I16, garner.I32, garner.I64, garner.String, garner.Bool,
		garner.F16, garner.F64, garner.U32, garner.U64, garner.Complex64, garner.Complex128, garner.BF16,
		garner.F8E4M3FN, garner.F8E4M3FNUZ, garner.F8E5M2, garner.F8E5M2FNUZ,
		garner.U4, garner.I4, garner.F4E2M1, garner.F8E8M0, garner.U2, garner.I2,
	}
	m = protowire.AppendTag(m, 2, protowire.VarintType)
	return protowire.AppendVarint(m, uint64(slices.Index(numbers, dtype)+1))
}
