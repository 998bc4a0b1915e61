package garner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/torch"
)

// randomBytes returns a tensor of random bits.
func randomBytes(t testing.TB, dtype garner.DType, shape ...int) garner.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(len(shape)), 5))
	made, err := garner.New(dtype, shape...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := made.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return made
}

func randomRows(n, rows int) garner.Tensor {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	at := make([]int64, n)
	for i := range at {
		at[i] = r.Int64N(int64(rows))
	}
	return garner.Of(at, n)
}

func FuzzStored(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(306)) // bags, all empty, of blocks that have no elements
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := gathertest.RandomStored(seed)
		c.Hold(t, garner.GatherContext)
		c.Hold(t, prepared(garner.Threads(3), garner.Cut(8, 16, 0)))
		c.Hold(t, batches(garner.Threads(2), garner.Cut(8, 16, 64)))
	})
}

// TestCopies holds which plans copy: those that neither reduce rows nor decode them, with
// indices or without.
func TestCopies(t *testing.T) {
	matrix, at := garner.SpecOf(garner.F32, 3, 2), garner.SpecOf(garner.I64, 2, 2)
	for name, c := range map[string]struct {
		op            garner.Op
		data, indices garner.Spec
		want          bool
	}{
		"rows":       {onnx.Gather13{}, matrix, at, true},
		"data alone": {whole{}, matrix, garner.Spec{}, true},
		"bags":       {torch.EmbeddingBag{}, matrix, at, false},
		"blocks":     {gguf.GetRows{Type: "Q8_0"}, garner.SpecOf(garner.U8, 3, 34), at, false},
		"all blocks": {gguf.Dequantize{Type: "Q8_0"}, garner.SpecOf(garner.U8, 3, 34), garner.Spec{}, false},
		"both":       {torch.QuantizedEmbeddingBag{Bits: 8}, garner.SpecOf(garner.U8, 3, 10), at, false},
	} {
		plan, err := garner.NewPlan(c.op, c.data, c.indices)
		if err != nil || plan.Copies() != c.want {
			t.Errorf("%s: Copies is %t, %v; want %t", name, err == nil && plan.Copies(), err, c.want)
		}
	}
}

// TestStoredOfEverySize runs gathers that take several units, tiles and chunks, of near
// and of far data, against the definition.
func TestStoredOfEverySize(t *testing.T) {
	block := 32
	for name, c := range map[string]struct {
		op            garner.Op
		data, indices garner.Tensor
		more          []garner.Tensor
	}{
		"rows of far data":         {gguf.GetRows{Type: "Q4_K"}, randomBytes(t, garner.U8, 2000, 2*144), randomRows(5000, 2000), nil},
		"rows of near data":        {gguf.GetRows{Type: "Q8_0"}, randomBytes(t, garner.U8, 100, 34), randomRows(3, 100), nil},
		"a table whole":            {gguf.Dequantize{Type: "Q6_K"}, randomBytes(t, garner.U8, 3, 200*210), garner.Tensor{}, nil},
		"rows longer than a chunk": {torch.QuantizedEmbedding{Bits: 4}, randomBytes(t, garner.U8, 3, 100_003), randomRows(4, 3), nil},
		"a block that is a row":    {torch.QuantizedEmbeddingUnpack{Bits: 8}, randomBytes(t, garner.U8, 300, 1025), garner.Tensor{}, nil},
		"columns across blocks": {
			onnx.MicrosoftGatherBlockQuantized1{GatherAxis: 1, BlockSize: &block}, randomBytes(t, garner.I4, 999, 100), randomRows(30, 100),
			[]garner.Tensor{randomBytes(t, garner.F16, 999, 4), randomBytes(t, garner.I4, 999, 4)},
		},
		"rows with three operands": {
			onnx.MicrosoftGatherBlockQuantized1{BlockSize: &block}, randomBytes(t, garner.U8, 5000, 128), randomRows(2000, 5000),
			[]garner.Tensor{randomBytes(t, garner.BF16, 5000, 8), randomBytes(t, garner.U8, 5000, 4)},
		},
		"a scale that serves all": {openvino.CompressedGather{}, randomBytes(t, garner.I8, 3000, 250), randomRows(999, 3000), []garner.Tensor{randomBytes(t, garner.F32, 3000, 1)}},
		"bags of long rows":       {torch.QuantizedEmbeddingBag{Bits: 4}, bounded(t, 300, 20_003), matrix(t, randomRows(60, 300), 2, 30), nil},
		"bags":                    {torch.QuantizedEmbeddingBag{Bits: 8}, bounded(t, 3000, 128), matrix(t, randomRows(6000, 3000), 300, 20), nil},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := garner.Reference(c.op, c.data, c.indices, c.more...)
			if err != nil {
				t.Fatal(err)
			}
			for threads := range 4 {
				p, err := garner.Prepare(c.op, c.data.Spec(), c.indices.Spec(), garner.Threads(threads), garner.FurtherTensors(c.more...))
				if err != nil {
					t.Fatal(err)
				}
				out, err := garner.New(want.DType(), want.Shape()...)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Run(context.Background(), c.data, c.indices, out, c.more...); err != nil {
					t.Fatal(err)
				}
				if !gathertest.Equal(out, want) {
					t.Errorf("on %d threads the result is not the definition's", threads)
				}
			}
		})
	}
}

// bounded returns rows of FBGEMM in 8 bits whose scales and biases are numbers.
func bounded(t testing.TB, rows, columns int) garner.Tensor {
	table := randomBytes(t, garner.U8, rows, columns+8)
	b, err := table.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for row := range rows {
		tail := b[row*(columns+8)+columns:]
		tail[2], tail[3], tail[6], tail[7] = tail[2]&127, 60, tail[6]&127, 188 // about 0.01 and -0.01
	}
	return table
}

func matrix(t testing.TB, vector garner.Tensor, rows, columns int) garner.Tensor {
	m, err := vector.Reshape(rows, columns)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestStoredAllocatesNothing holds runs of a Prepared, also of batches of other lengths.
func TestStoredAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties free lists")
	}
	block := 32
	for name, c := range map[string]struct {
		op   garner.Op
		data garner.Tensor
		more []garner.Tensor
	}{
		"blocks": {gguf.GetRows{Type: "Q4_K"}, randomBytes(t, garner.U8, 200, 144), nil},
		"codes": {
			onnx.MicrosoftGatherBlockQuantized1{BlockSize: &block}, randomBytes(t, garner.I4, 200, 256),
			[]garner.Tensor{randomBytes(t, garner.F32, 200, 8), randomBytes(t, garner.I4, 200, 8)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := garner.Prepare(c.op, c.data.Spec(), garner.SpecOfDims(garner.I64, garner.AnyDim), garner.Threads(1), garner.FurtherTensors(c.more...))
			if err != nil {
				t.Fatal(err)
			}
			var indices, out [2]garner.Tensor
			for i, n := range [...]int{7, 300} {
				indices[i] = randomRows(n, 200)
				if out[i], err = garner.New(garner.F32, n, 256); err != nil {
					t.Fatal(err)
				}
			}
			run := func(i int) {
				if err := p.Run(context.Background(), c.data, indices[i], out[i], c.more...); err != nil {
					t.Fatal(err)
				}
			}
			run(0)
			run(1)
			if n := testing.AllocsPerRun(50, func() { run(0); run(1) }); n != 0 {
				t.Errorf("two runs allocate %v times", n)
			}
			for i := range out {
				want, err := garner.Reference(c.op, c.data, indices[i], c.more...)
				if err != nil || !gathertest.Equal(out[i], want) {
					t.Errorf("batch %d is not the definition's; %v", i, err)
				}
			}
		})
	}
}

// A counter is a Keeper that counts.
type counter struct{ held, released, checked int }

func (c *counter) Hold() error        { c.held++; return nil }
func (c *counter) Release()           { c.released++ }
func (c *counter) Check([]byte) error { c.checked++; return nil }

// TestStoredOperandsAreKept holds that a run holds and checks the memory of codes,
// scales and zero points.
func TestStoredOperandsAreKept(t *testing.T) {
	keepers := [3]counter{}
	data := garner.Of([]uint8{33, 67}, 2, 1).KeptBy(&keepers[0])
	scales := garner.Of([]float32{0.5, 2}, 2, 1).KeptBy(&keepers[1])
	zeros := garner.Of([]uint8{1, 2}, 2, 1).KeptBy(&keepers[2])
	got, err := garner.Gather(onnx.MicrosoftGatherBlockQuantized1{}, data, garner.Of([]int64{1}, 1), scales, zeros)
	if want := garner.Of([]float32{2, 4}, 1, 2); err != nil || !gathertest.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for i, k := range keepers {
		if k.held == 0 || k.held != k.released || k.checked == 0 {
			t.Errorf("operand %d: held %d times, released %d, checked %d", i, k.held, k.released, k.checked)
		}
	}
}

func TestStoredRegime(t *testing.T) {
	for rows, want := range map[int]string{
		10:   "rows of 1024 bytes, each decoded · way decoded · one core",
		9000: "rows of 1024 bytes, each decoded · way decoded · prefetched 42 rows ahead · one core",
	} {
		p, err := garner.Prepare(gguf.GetRows{Type: "Q4_K"}, garner.SpecOf(garner.U8, rows, 144), garner.SpecOf(garner.I64, 5), garner.Threads(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Regime().String(); got != want {
			t.Errorf("%d rows: %q, want %q", rows, got, want)
		}
	}
}

func TestStoredRefusals(t *testing.T) {
	ctx := context.Background()
	memory := garner.Of([]float32{0.5, 2, 0, 0}, 4)
	scales, _ := memory.Slice(0, 0, 2, 1)
	scales, _ = scales.Reshape(2, 1)
	shared, _ := memory.Slice(0, 1, 3, 1)
	shared, _ = shared.Reshape(1, 2)
	codes, err := garner.FromBytes(garner.I4, []byte{0x21, 0x43}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	op, row := onnx.MicrosoftGatherBlockQuantized1{}, garner.Of([]int64{1}, 1)
	if err := garner.GatherInto(ctx, op, codes, row, shared, scales); !errors.Is(err, garner.ErrOverlap) || !strings.Contains(err.Error(), "shares memory with an input, scales;") {
		t.Errorf("an output in the scales: %v", err)
	}
	other, _ := garner.New(garner.I4, 1, 2)
	if err := garner.GatherInto(ctx, op, codes, row, other, scales); !errors.Is(err, garner.ErrDType) {
		t.Errorf("an output of the type of the codes: %v", err)
	}
	if _, err := garner.Prepare(op, codes.Spec(), row.Spec(), garner.Further(garner.SpecOfRank(garner.F32, garner.AnyDim))); !errors.Is(err, garner.ErrShape) {
		t.Errorf("scales of unknown shape: %v", err)
	}
	// A missing scale is no dtype (R.27), unless data has a wrong one (R.6).
	for name, c := range map[string]struct {
		op      garner.Op
		message string
	}{
		"GatherBlockQuantized": {op, "garner: the operator needs its operand scales, number 3"},
		"compressed-gather":    {openvino.CompressedGather{}, "garner: the operator needs its operand scale, number 3"},
	} {
		if _, err := garner.Gather(c.op, codes, row); !errors.Is(err, garner.ErrAttribute) || err.Error() != c.message {
			t.Errorf("%s without scales: %v", name, err)
		}
		if _, err := garner.Infer(c.op, garner.SpecOfDims(garner.I4, garner.AnyDim, garner.AnyDim), row.Spec()); !errors.Is(err, garner.ErrAttribute) || err.Error() != c.message {
			t.Errorf("Infer of %s without scales: %v", name, err)
		}
		if _, err := garner.Gather(c.op, memory, row); !errors.Is(err, garner.ErrDType) {
			t.Errorf("%s of f32 without scales: %v", name, err)
		}
		if _, err := garner.Gather(c.op, codes, row, garner.Of([]float64{1, 1}, 2, 1)); !errors.Is(err, garner.ErrDType) || !strings.HasSuffix(err.Error(), "must be f32, f16 or bf16, not f64") {
			t.Errorf("%s with scales of f64: %v", name, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := garner.GatherContext(stopped, op, codes, row, scales); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestStoredFills holds that a fill is one of the elements that are decoded.
func TestStoredFills(t *testing.T) {
	op, data, at := gguf.GetRows{Type: "F16"}, garner.Of([]uint8{0, 60, 0, 64}, 1, 4), garner.Of([]int64{3, 0}, 2)
	want := garner.Of([]float32{7, 7, 1, 2}, 2, 2)
	for name, op := range map[string]garner.Op{"text": garner.WithFillText(op, "7"), "a tensor": garner.WithFill(op, garner.Of([]float32{7}))} {
		gathertest.Check(t, op, data, at, want)
		if _, err := garner.Gather(op, garner.Of([]uint8{0, 60, 0}, 1, 3), at); !errors.Is(err, garner.ErrShape) {
			t.Errorf("%s: a row that is no whole block: %v", name, err)
		}
	}
	gathertest.CheckError(t, garner.WithFill(op, garner.Of([]uint8{7})), data, at, garner.ErrDType)
	gathertest.CheckError(t, garner.WithFillText(op, "many"), data, at, garner.ErrAttribute)
}

// TestPartsOfRows holds that what decodes or sums a part of a row of FBGEMM looks at no other:
// of a row of many pages, the others have no access. A part that took as long as the row made
// long rows take as the square of their length.
func TestPartsOfRows(t *testing.T) {
	const pages, first, n = 40, 1 << 17, 1 << 12
	for _, bits := range []int{8, 4, 2} {
		ones := []byte{0, 0x3c, 0, 0x3c} // a scale and a bias, of f16
		if bits == 8 {
			ones = []byte{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f} // of f32
		}
		codes := pages * os.Getpagesize()
		columns := codes * 8 / bits
		row := guard.Bytes(t, codes+len(ones))
		for i := range codes {
			row[i] = byte(i * 7 / 3)
		}
		copy(row[codes:], ones)
		p, err := garner.Prepare(torch.QuantizedEmbeddingBag{Bits: bits}, garner.SpecOf(garner.U8, 1, len(row)), garner.SpecOf(garner.I64, 1), garner.FurtherTensors(garner.Of([]int64{0}, 1)))
		if err != nil {
			t.Fatal(err)
		}
		stored, all, part := p.Plan().Stored, make([]byte, 4*columns), make([]byte, 4*n)
		want := all[4*first : 4*(first+n)]
		stored.DecodeParts(all, &exec.Stored{row}, new([3]int64), 0, columns)
		guard.Hide(t, row, 0, first*bits/8)
		guard.Hide(t, row, (first+n)*bits/8, codes)
		if stored.DecodeParts(part, &exec.Stored{row}, new([3]int64), first, n); !bytes.Equal(part, want) {
			t.Errorf("%d bits: a part of a row is decoded otherwise", bits)
		}
		stored.SumParts(part, row, kernel.Terms{Rows: []int64{0}, Begin: true, Zero: true}, kernel.Bags{Ends: []int64{0, 1}, Size: 4 * n, Step: 4 * n}, first)
		if !bytes.Equal(part, want) { // the only term of its sum
			t.Errorf("%d bits: a part of a row is summed otherwise", bits)
		}
	}
}

// TestRowsOfManyBytes infers tables of FBGEMM without rows, or not in memory, whose rows have
// more bytes than any memory: their columns are counted, or refused, and never wrap.
func TestRowsOfManyBytes(t *testing.T) {
	const most = math.MaxInt
	for _, tt := range []struct {
		bits, bytes int
		want        string
	}{
		{2, most/4 + 4, fmt.Sprintf("f32[1,%d]", most/4*4)},
		{2, most/4 + 5, "more elements than an int can count"},
		{4, most/2 + 4, fmt.Sprintf("f32[1,%d]", most/2*2)},
		{4, most/2 + 5, "more elements than an int can count"},
		{8, most - 1, fmt.Sprintf("f32[1,%d]", most-9)},
		{2, most - 1, "more elements than an int can count"},
		{2, most/8 + 1, fmt.Sprintf("f32[1,%d]", (most/8-3)*4)},
	} {
		got := ""
		if spec, err := garner.Infer(torch.QuantizedEmbeddingUnpack{Bits: tt.bits}, garner.SpecOf(garner.U8, 1, tt.bytes), garner.Spec{}); err != nil {
			got = err.Error()
		} else {
			got = spec.String()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("rows of %d bytes, %d bits: %s; want %s", tt.bytes, tt.bits, got, tt.want)
		}
	}
	out, err := garner.NewPlan(torch.QuantizedEmbedding{Bits: 4}, garner.SpecOf(garner.U8, 0, most/8+1), garner.SpecOf(garner.I64, 0))
	if err != nil || !out.Out.Equal(garner.Shape{0, (most/8 - 3) * 2}) {
		t.Errorf("a table without rows: %v, %v", out, err)
	}
}

// reversed runs over blocks of the elements of data, each in the opposite order of its
// bytes and the last block filled up, and prepares for indices of any batch if it can.
func reversed(elements int, options ...garner.PrepareOption) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, further ...garner.Tensor) (garner.Tensor, error) {
		spec, width := data.Spec(), data.DType().Bits()/8
		if data.DType() == garner.String || data.DType().Packed() || !garner.TakesIndices(op) {
			return garner.GatherContext(ctx, op, data, indices, further...)
		}
		if p, err := garner.Prepare(op, spec, indices.Spec(), garner.FurtherTensors(further...)); err == nil && p.Plan().Stored != nil {
			return garner.GatherContext(ctx, op, data, indices, further...)
		}
		dense, err := data.Clone()
		if err != nil {
			return garner.Tensor{}, err
		}
		bytes, err := dense.Bytes()
		if err != nil {
			return garner.Tensor{}, err
		}
		swap := func(dst, src []byte) {
			for i := 0; i < len(src); i += elements * width {
				copy(dst[i:i+elements*width], src[i:])
				slices.Reverse(dst[i : i+elements*width])
			}
		}
		stored := make([]byte, (dense.Len()+elements-1)/elements*elements*width)
		swap(stored, append(slices.Clone(bytes), make([]byte, len(stored)-len(bytes))...))
		return batchesOf(garner.SpecOf(data.DType(), data.Shape()...), garner.Of(stored, len(stored)),
			append(slices.Clone(options), garner.Blocks(elements, elements*width, swap))...)(ctx, op, data, indices, further...)
	}
}

// TestBlocks holds runs over blocks that a caller decodes against the definition of the
// same elements: of any operator, any dtype and any policy.
func TestBlocks(t *testing.T) {
	for _, elements := range []int{1, 3, 32} {
		run := reversed(elements, garner.Threads(2))
		for seed := range uint64(100) {
			gathertest.RandomBags(seed).Hold(t, run)
			gathertest.Random(seed).Hold(t, run)
		}
	}
	// Elements that are stored in another order of the dims.
	swap := func(dst, src []byte) {
		for i := range src {
			dst[i] = src[i^1]
		}
	}
	spec := garner.SpecOf(garner.I16, 2, 3)
	spec.Strides = []int{1, 2}
	columns := garner.Of([]byte{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}, 12)
	at, out := garner.Of([]int64{1, 0}, 2), garner.Of(make([]int16, 6), 2, 3)
	p, err := garner.Prepare(onnx.Gather13{}, spec, at.Spec(), garner.Blocks(1, 2, swap))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), columns, at, out); err != nil || out.Text() != "[[2, 4, 6], [1, 3, 5]]" {
		t.Errorf("columns: %v, %v", out, err)
	}
	if err := p.Run(t.Context(), columns, garner.Of([]int64{1, 2}, 2), out); !errors.Is(err, garner.ErrIndex) {
		t.Errorf("an index outside: %v", err)
	}
	if err := p.Run(t.Context(), garner.Of(make([]int16, 6), 2, 3), at, out); !errors.Is(err, garner.ErrDType) {
		t.Errorf("elements instead of blocks: %v", err)
	}
	if err := p.Run(t.Context(), garner.Of(make([]byte, 11), 11), at, out); !errors.Is(err, garner.ErrShape) {
		t.Errorf("too few bytes: %v", err)
	}
	shared, gaps := garner.SpecOf(garner.I16, 2, 2, 2), garner.SpecOf(garner.I16, 2, 3)
	shared.Strides, gaps.Strides = []int{1, 1, 5}, []int{4, 1}
	for name, tt := range map[string]struct {
		op     garner.Op
		spec   garner.Spec
		blocks garner.PrepareOption
		class  error
	}{
		"no elements": {onnx.Gather13{}, spec, garner.Blocks(0, 2, swap), garner.ErrAttribute},
		"no bytes":    {onnx.Gather13{}, spec, garner.Blocks(1, 0, swap), garner.ErrAttribute},
		"no decoder":  {onnx.Gather13{}, spec, garner.Blocks(1, 2, nil), garner.ErrAttribute},
		"strings":     {onnx.Gather13{}, garner.SpecOf(garner.String, 2), garner.Blocks(1, 2, swap), garner.ErrDType},
		"packed":      {onnx.Gather13{}, garner.SpecOf(garner.U4, 2), garner.Blocks(1, 2, swap), garner.ErrDType},
		"stored":      {gguf.GetRows{Type: "Q8_0"}, garner.SpecOf(garner.U8, 2, 34), garner.Blocks(1, 2, swap), garner.ErrDType},
		"shared":      {onnx.Gather13{}, shared, garner.Blocks(1, 2, swap), garner.ErrShape},
		"gaps":        {onnx.Gather13{}, gaps, garner.Blocks(1, 2, swap), garner.ErrShape},
		"unknown":     {onnx.Gather13{}, garner.SpecOfDims(garner.I16, garner.AnyDim), garner.Blocks(1, 2, swap), garner.ErrShape},
		"too many":    {onnx.Gather13{}, garner.SpecOf(garner.U8, math.MaxInt/4), garner.Blocks(1, 1<<20, swap), garner.ErrShape},
	} {
		if _, err := garner.Prepare(tt.op, tt.spec, at.Spec(), tt.blocks); !errors.Is(err, tt.class) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
