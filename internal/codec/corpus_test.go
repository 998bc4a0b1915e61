package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner/internal/float"
)

// A recorded is one case of a file in testdata: what a runtime answered.
type recorded struct {
	Name       string
	Op         string
	Attributes struct {
		Type         string
		Bits         int
		BlockSize    *int `json:"block_size"`
		GatherAxis   int  `json:"gather_axis"`
		QuantizeAxis *int `json:"quantize_axis"`
	}
	Inputs  []*operand
	Outputs []*operand
	Error   string
}

// An operand is a tensor of a case. Its values are numbers, or strings where JSON has
// no number.
type operand struct {
	Name   string
	DType  string
	Shape  []int
	Values []any
	Hex    *string

	number Number
	bytes  []byte
	ints   []int
}

func (c *recorded) input(name string) *operand {
	for _, o := range c.Inputs {
		if o.Name == name {
			return o
		}
	}
	return nil
}

var forms = map[string]Number{
	"int4": I4, "uint4": U4, "int8": I8, "uint8": U8, "nf4": NF4, "float16": F16, "bfloat16": BF16, "float32": F32, "float4_e2m1fn": F4E2M1,
	"float8_e4m3fn": F8E4M3FN, "float8_e5m2": F8E5M2, "float8_e4m3fnuz": F8E4M3FNUZ, "float8_e5m2fnuz": F8E5M2FNUZ,
}

var formats = map[Number]*float.Format{F16: float.Float16, BF16: float.BFloat16, F4E2M1: float.E2M1, F8E4M3FN: float.E4M3FN, F8E5M2: float.E5M2, F8E4M3FNUZ: float.E4M3FNUZ, F8E5M2FNUZ: float.E5M2FNUZ}

// pack makes the operand's bytes of its values.
func (o *operand) pack() error {
	if o.DType == "int32" || o.DType == "int64" {
		for _, v := range o.Values {
			o.ints = append(o.ints, int(v.(float64)))
		}
		return nil
	}
	var ok bool
	if o.number, ok = forms[o.DType]; !ok {
		return fmt.Errorf("%s is of %s", o.Name, o.DType)
	}
	if o.Hex != nil {
		var err error
		o.bytes, err = hex.DecodeString(*o.Hex)
		return err
	}
	width := o.number.Bits()
	o.bytes = make([]byte, (len(o.Values)*width+7)/8)
	for i, value := range o.Values {
		v, ok := value.(float64)
		if !ok {
			if v, ok = map[any]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "-0": math.Copysign(0, -1)}[value]; !ok {
				return fmt.Errorf("%s has %v", o.Name, value)
			}
		}
		var code uint64
		switch f := formats[o.number]; {
		case f != nil:
			if code = f.Round(float32(v)); v == v && float64(f.Decode(code)) != v {
				return fmt.Errorf("%s has %v, which %s does not have", o.Name, v, o.DType)
			}
		case o.number == F32:
			code = uint64(math.Float32bits(float32(v)))
		default:
			code = uint64(int64(v)) & (1<<width - 1)
		}
		for k := 0; k < width; k += 8 {
			o.bytes[(i*width+k)/8] |= byte(code >> k << (i * width % 8))
		}
	}
	return nil
}

// corpus reads a file of testdata.
func corpus(t *testing.T, name string) []*recorded {
	t.Helper()
	dir := "../../testdata/conformance"
	if name == "torch-rows" {
		dir = "testdata"
	}
	text, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*recorded
	for line := range bytes.Lines(text) {
		c := new(recorded)
		if err := json.Unmarshal(line, c); err != nil {
			t.Fatal(err)
		}
		for _, list := range [][]*operand{c.Inputs, c.Outputs} {
			for _, o := range list {
				if err := o.pack(); err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// same reports the first element of got that is not want's: of other bits, unless both
// are NaN.
func same(t *testing.T, name string, got []byte, want *operand) {
	t.Helper()
	width := want.number.Bits() / 8
	if len(got) != len(want.bytes) || len(got) != width*volume(want.Shape) {
		t.Errorf("%s: %d bytes, want %d for %v", name, len(got), len(want.bytes), want.Shape)
		return
	}
	for i := 0; i < len(got); i += width {
		a, b := want.number.at(got, int64(8*i)), want.number.at(want.bytes, int64(8*i))
		if !bytes.Equal(got[i:i+width], want.bytes[i:i+width]) && (a == a || b == b) {
			t.Errorf("%s: element %d is %v (%x), want %v (%x)", name, i/width, a, got[i:i+width], b, want.bytes[i:i+width])
			return
		}
	}
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// counts checks how many cases of a file a test has held, so that none is left out
// unseen.
func counts(t *testing.T, got, want map[string]int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("cases %v, want %v", got, want)
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%d cases of %s, want %d", got[k], k, n)
		}
	}
}

// TestCorpusGGUF holds what gguf-py answers: all blocks, or those of the rows that
// indices name.
func TestCorpusGGUF(t *testing.T) { each(t, testCorpusGGUF) }

func testCorpusGGUF(t *testing.T) {
	seen, held := map[string]bool{}, map[string]int{}
	for _, c := range corpus(t, "quantised-gguf") {
		kind, ok := GGUF(c.Attributes.Type)
		if !ok {
			t.Fatalf("%s: no codec %s", c.Name, c.Attributes.Type)
		}
		seen[kind.Name] = true
		held[c.Op]++
		src := c.input("data").bytes
		if rows := c.input("indices"); rows != nil {
			size := c.input("data").Shape[1]
			all := src
			src = nil
			for _, i := range rows.ints {
				src = append(src, all[i*size:][:size]...)
			}
		}
		dst := make([]byte, len(src)/kind.Bytes*kind.Elements*4)
		kind.Decode(dst, src)
		same(t, c.Name, dst, c.Outputs[0])
	}
	counts(t, held, map[string]int{"gguf.dequantize": 187, "gguf.get_rows": 17})
	if len(seen) != len(gguf)-1 { // F16 is no kind of the corpus
		t.Errorf("%d kinds, want all %d but F16", len(seen), len(gguf))
	}
}

// TestCorpusRows holds what torch answers about rows of FBGEMM. testdata/torch-rows
// has scales of a full f32, whose products with codes are inexact.
func TestCorpusRows(t *testing.T) { each(t, testCorpusRows) }

func testCorpusRows(t *testing.T) {
	held := map[string]int{}
	inexact := 0
	for _, c := range append(corpus(t, "quantised-torch"), corpus(t, "torch-rows")...) {
		switch {
		case c.Error != "":
			held["error"]++ // of an index
			continue
		case c.Op == "torch.quantized_embedding_bag":
			held["bag"]++ // a sum of rows
			continue
		}
		held[c.Op]++
		data := c.input("data")
		tail := 4
		if c.Attributes.Bits == 8 {
			tail = 8
		}
		size := data.Shape[1]
		row, ok := Rows(c.Attributes.Bits, (size-tail)*8/c.Attributes.Bits)
		if !ok || row.Bytes != size {
			t.Fatalf("%s: a row of %d bytes, want %d", c.Name, row.Bytes, size)
		}
		src := data.bytes
		if rows := c.input("indices"); rows != nil {
			src = nil
			for _, i := range rows.ints {
				src = append(src, data.bytes[i*size:][:size]...)
			}
		}
		dst := make([]byte, len(src)/size*row.Elements*4)
		row.Decode(dst, src)
		same(t, c.Name, dst, c.Outputs[0])
		if c.Attributes.Bits == 8 {
			for i := range len(dst) / 4 {
				tail := src[i/row.Elements*size+size-8:]
				if code := src[i/row.Elements*size+i%row.Elements]; sum(product(float32(code), single(tail)), single(tail[4:])) != single(dst[4*i:]) {
					inexact++
				}
			}
		}
	}
	counts(t, held, map[string]int{"error": 10, "bag": 87, "torch.quantized_embedding": 16, "torch.quantized_embedding_unpack": 27})
	if inexact < 100 {
		t.Errorf("only %d elements tell a fused multiply-add from a product and a sum", inexact)
	}
}

// rowMajor returns the axes of a table of a shape whose scales have another: along each
// axis as many as blocks, or one.
func rowMajor(shape, scales, zeros []int, block func(axis int) int) []Axis {
	axes := make([]Axis, len(shape))
	scale, zero := 1, 1
	for k := len(shape) - 1; k >= 0; k-- {
		axes[k] = Axis{Extent: shape[k], Block: block(k)}
		if scales[k] > 1 {
			axes[k].Scale = scale
		}
		if zeros != nil && zeros[k] > 1 {
			axes[k].Zero = zero
		}
		scale *= scales[k]
		if zeros != nil {
			zero *= zeros[k]
		}
	}
	return axes
}

// gather decodes the elements that indices name along an axis; others are zeros.
func gather(b *Blocks, c *recorded, axis int) []byte {
	outer, inner := 1, 1
	for k, a := range b.Axes {
		switch {
		case k < axis:
			outer *= a.Extent
		case k > axis:
			inner *= a.Extent
		}
	}
	extent, width := b.Axes[axis].Extent, b.Out.Bits()/8
	var zeros Part
	if z := c.input("zero_points"); z != nil {
		zeros.Bytes = z.bytes
	} else if z := c.input("zero_point"); z != nil {
		zeros.Bytes = z.bytes
	}
	scales := c.input("scales")
	if scales == nil {
		scales = c.input("scale")
	}
	dst := make([]byte, 0, outer*len(c.input("indices").ints)*inner*width)
	for o := range outer {
		for _, i := range c.input("indices").ints {
			to := make([]byte, inner*width)
			if i < 0 {
				i += extent
			}
			if i >= 0 && i < extent {
				b.Decode(to, Part{Bytes: c.input("data").bytes}, Part{Bytes: scales.bytes}, zeros, (o*extent+i)*inner, inner)
			}
			dst = append(dst, to...)
		}
	}
	return dst
}

// TestCorpusGatherBlockQuantized holds what ONNX Runtime answers.
func TestCorpusGatherBlockQuantized(t *testing.T) { each(t, testCorpusGatherBlockQuantized) }

func testCorpusGatherBlockQuantized(t *testing.T) {
	held := map[string]int{}
	for _, c := range append(corpus(t, "quantised-microsoft"), corpus(t, "quantised-microsoftfp8")...) {
		if c.Error != "" {
			held["error"]++ // of attributes and shapes
			continue
		}
		data, scales, zeros := c.input("data"), c.input("scales"), c.input("zero_points")
		held[data.DType]++
		shape := append([]int(nil), data.Shape...)
		rank := len(shape)
		block, along := 128, 1
		if c.Attributes.BlockSize != nil {
			block = *c.Attributes.BlockSize
		}
		if c.Attributes.QuantizeAxis != nil {
			along = (*c.Attributes.QuantizeAxis + rank) % rank
		}
		b := &Blocks{Codes: data.number, Scales: scales.number, Out: scales.number}
		if data.number == U8 {
			bits := c.Attributes.Bits
			if bits == 0 {
				bits = 4
			}
			b.Codes, b.Zero = map[int]Number{2: U2, 4: U4, 8: U8}[bits], float32(int(1)<<(bits-1))
			shape[rank-1] *= 8 / bits
		}
		var zeroShape []int
		if zeros != nil {
			b.Zeros = b.Codes
			zeroShape = append(zeroShape, zeros.Shape...)
			if data.number == U8 {
				zeroShape[rank-1] *= 8 / b.Codes.Bits()
			}
		}
		if block == 0 {
			block = max(1, shape[along])
		}
		b.Axes = rowMajor(shape, scales.Shape, zeroShape, func(axis int) int {
			if axis == along {
				return block
			}
			return 1
		})
		same(t, c.Name, gather(b, c, (c.Attributes.GatherAxis+rank)%rank), c.Outputs[0])
	}
	counts(t, held, map[string]int{"error": 29, "int4": 31, "uint4": 30, "uint8": 63, "float8_e4m3fn": 7, "float8_e5m2": 7, "float8_e4m3fnuz": 7, "float8_e5m2fnuz": 7, "float4_e2m1fn": 7})
}

// TestCorpusCompressed holds what OpenVINO answers of its compressed gather.
func TestCorpusCompressed(t *testing.T) { each(t, testCorpusCompressed) }

func testCorpusCompressed(t *testing.T) {
	held := map[string]int{}
	for _, c := range corpus(t, "quantised-openvino") {
		data, scale, zeros := c.input("data"), c.input("scale"), c.input("zero_point")
		held[data.DType]++
		b := &Blocks{Codes: data.number, Scales: scale.number, Out: c.Outputs[0].number}
		var zeroShape []int
		if zeros != nil {
			b.Zeros, zeroShape = zeros.number, zeros.Shape
		}
		b.Axes = rowMajor(data.Shape, scale.Shape, zeroShape, func(int) int { return 1 })
		same(t, c.Name, gather(b, c, 0), c.Outputs[0])
	}
	counts(t, held, map[string]int{"uint8": 26, "int8": 26, "uint4": 26, "int4": 26, "nf4": 10})
}
