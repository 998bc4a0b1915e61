package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

// cold returns an executor of Gather, or of GatherInto, over arrays that make makes, in
// a budget of so many bytes beside twice what bags hold; 0 is none.
func cold(t testing.TB, make func(garner.Tensor) Array, budget int64, whole bool) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		o := Options{Threads: 2}
		held := int64(0)
		for _, x := range append([]garner.Tensor{indices}, more...) {
			size, _ := sizeOf(x.Spec())
			held += size
		}
		for _, x := range more {
			if x.DType().Valid() {
				o.Further = append(o.Further, make(x))
			} else {
				o.Further = append(o.Further, nil)
			}
		}
		if budget > 0 {
			o.Memory = 2*held + budget
		}
		at := Memory(indices)
		if indices.DType().Valid() {
			at = make(indices)
		}
		rows := make(data)
		var written bytes.Buffer
		if !whole {
			if err := Gather(ctx, op, rows, at, &written, o); err != nil {
				return garner.Tensor{}, err
			}
		}
		plan, err := NewPlan(ctx, op, rows, at, o.Further...)
		if err != nil {
			return garner.Tensor{}, err
		}
		if !whole {
			return garner.FromBytes(plan.DType, written.Bytes(), plan.Out...)
		}
		out, err := garner.New(plan.DType, plan.Out...)
		if err == nil {
			err = GatherInto(ctx, op, rows, at, out, o)
		}
		return out, err
	}
}

// ways are the kinds of array, and the budgets, of a test that reads rows.
func ways(t *testing.T, run func(t *testing.T, make func(garner.Tensor) Array, budget int64, whole bool)) {
	kinds := map[string]func(garner.Tensor) Array{
		"file":    func(x garner.Tensor) Array { return stored(t, x) },
		"memory":  Memory,
		"fetched": func(x garner.Tensor) Array { return plain{Memory(x)} },
	}
	for name, make := range kinds {
		for _, budget := range []int64{0, 1, 700, 1 << 20} {
			for _, whole := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, budget %d, whole %v", name, budget, whole), func(t *testing.T) { run(t, make, budget, whole) })
			}
		}
	}
}

// seeds is how many random cases a test has: a fifth of n with -short, which is for
// detectors and emulators.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 5
	}
	return n
}

// TestBags holds bags whose rows are read against the definition: R.29 to R.35, of every
// kind of array and budget.
func TestBags(t *testing.T) {
	ways(t, func(t *testing.T, make func(garner.Tensor) Array, budget int64, whole bool) {
		for seed := range seeds(80) {
			t.Run("", func(t *testing.T) {
				gathertest.RandomBags(seed+uint64(budget)*1000).Hold(t, cold(t, make, budget, whole))
			}) // which closes its files
		}
	})
}

// TestRandomStored holds gathers of stored elements, and bags of them, that are read against
// the definition: with any policy, so that a term of a bag may be the fill.
func TestRandomStored(t *testing.T) {
	for seed := range seeds(600) {
		c, budget := gathertest.RandomStored(seed), []int64{0, 300, 5000}[seed%3]
		for _, x := range append(c.Further, c.Data) {
			if x.DType().Valid() && !x.Contiguous() {
				budget = 0 // what is not row-major is held whole
			}
		}
		c.Hold(t, cold(t, func(x garner.Tensor) Array { return plain{Memory(x)} }, budget, seed%2 == 0))
	}
}

func FuzzBags(f *testing.F) {
	f.Add(uint64(1), uint16(0), false)
	f.Add(uint64(2), uint16(300), true)
	f.Fuzz(func(t *testing.T, seed uint64, budget uint16, whole bool) {
		gathertest.RandomBags(seed).Hold(t, cold(t, func(x garner.Tensor) Array { return plain{Memory(x)} }, int64(budget), whole))
	})
}

// A storedCase is a gather, perhaps into bags, of stored elements.
type storedCase struct {
	name          string
	op            garner.Op
	data, indices garner.Tensor
	more          []garner.Tensor
}

// storedCases are random gathers of each kind of stored elements: with repeats, rows that
// begin inside a byte, blocks along each axis, scales that are shared.
func storedCases(r *rand.Rand) []storedCase {
	rows := 1 + r.IntN(30)
	ids := func(n ...int) garner.Tensor {
		t := tensor(r, garner.I32, n...)
		for i := range t.Len() {
			_ = t.SetText(i, fmt.Sprint(r.IntN(rows)))
		}
		return t
	}
	finite := func(d garner.DType, shape ...int) garner.Tensor {
		t := tensor(r, d, shape...)
		for i := range t.Len() {
			_ = t.SetText(i, fmt.Sprint(float64(r.IntN(64)-32)/16))
		}
		return t
	}
	kinds := strings.Split(codec.KindsOfGGUF(), ", ")
	kind, _ := codec.GGUF(kinds[r.IntN(len(kinds))])
	blocks := tensor(r, garner.U8, rows, (1+r.IntN(3))*kind.Bytes)
	columns := 1 + r.IntN(60)
	packed := tensor(r, garner.U4, rows, columns)
	number := func(n int) *int { return &n }
	along := r.IntN(2)
	scales := []int{rows, columns}
	scales[along] = (scales[along] + 15) / 16
	axis := r.IntN(2)
	at := ids(1 + r.IntN(20))
	if axis == 1 {
		for i := range at.Len() {
			_ = at.SetText(i, fmt.Sprint(r.IntN(columns)))
		}
	}
	turned, err := packed.Transpose(1, 0)
	if err != nil {
		panic(err)
	}
	fbgemm := []int{8, 4, 2}[r.IntN(3)]
	tails := map[int]int{8: 8, 4: 4, 2: 4}[fbgemm]
	table := tensor(r, garner.U8, rows, 1+r.IntN(20)+tails)
	if b, err := table.Bytes(); err == nil { // finite scales and biases
		width := len(b) / rows
		for row := range rows {
			tail := b[(row+1)*width-tails : (row+1)*width]
			if fbgemm == 8 {
				binary.LittleEndian.PutUint32(tail, math.Float32bits(r.Float32()))
				binary.LittleEndian.PutUint32(tail[4:], math.Float32bits(r.Float32()))
			} else {
				tail[1], tail[3] = tail[1]&0x3f, tail[3]&0x3f
			}
		}
	}
	bags := 1 + r.IntN(5)
	offsets := make([]int64, bags)
	terms := r.IntN(40)
	for i := range offsets[1:] {
		offsets[i+1] = int64(r.IntN(terms + 1))
	}
	slices.Sort(offsets)
	batch := tensor(r, garner.I64, rows, 1)
	for i := range batch.Len() {
		_ = batch.SetText(i, fmt.Sprint(r.IntN(columns)))
	}
	return []storedCase{
		{kind.Name, gguf.GetRows{Type: kind.Name}, blocks, ids(1+r.IntN(4), 1+r.IntN(9)), nil},
		{kind.Name + " whole", gguf.Dequantize{Type: kind.Name}, blocks, garner.Tensor{}, nil},
		{"int4", onnx.MicrosoftGatherBlockQuantized1{GatherAxis: axis, QuantizeAxis: number(along), BlockSize: number(16)}, packed, at,
			[]garner.Tensor{finite(garner.F16, scales...), tensor(r, garner.U4, scales...)}},
		{"compressed", openvino.CompressedGather{}, packed, ids(12), []garner.Tensor{finite(garner.F32, rows, 1), tensor(r, garner.U4, 1, 1)}},
		{"columns", openvino.CompressedGather{Axis: 1}, turned, ids(5), []garner.Tensor{finite(garner.F32, 1, 1)}},
		{"batches", openvino.CompressedGather{Axis: 1, BatchDims: 1, Version: 7, Output: "bf16", Reshape: []int{rows, -1, 1}}, packed, batch, []garner.Tensor{finite(garner.F16, 1, columns)}},
		{"bags of compressed rows", openvino.Compressed{Op: openvino.EmbeddingBagOffsetsSum3{DefaultIndex: number(0)}, Output: "f16"}, packed, ids(terms),
			[]garner.Tensor{garner.Of(offsets, bags), finite(garner.F16, terms), finite(garner.F32, rows, 1), tensor(r, garner.U4, 1, columns)}},
		{"means of compressed rows", openvino.Compressed{Op: openvino.EmbeddingBagPacked15{Reduction: "mean"}, Reshape: []int{rows, 1, -1}}, packed, ids(3, 1+terms),
			[]garner.Tensor{{}, finite(garner.F32, rows, columns)}},
		{"tuples of compressed elements", openvino.Compressed{Op: openvino.GatherND8{BatchDims: 1}}, packed, batch, []garner.Tensor{finite(garner.BF16, 1)}},
		{"rows", torch.QuantizedEmbedding{Bits: max(fbgemm, 4)}, tensor(r, garner.U8, rows, 12), ids(9), nil},
		{"bags", torch.QuantizedEmbeddingBag{Bits: fbgemm}, table, ids(terms), []garner.Tensor{garner.Of(offsets, bags), finite(garner.F32, terms)}},
	}
}

// TestStoredRows holds gathers of stored elements that are read row by row against the
// definition, of every kind of array and budget.
func TestStoredRows(t *testing.T) {
	ways(t, func(t *testing.T, make func(garner.Tensor) Array, budget int64, whole bool) {
		for seed := range seeds(20) {
			for _, c := range storedCases(rand.New(rand.NewPCG(seed, uint64(budget)))) {
				want, err := garner.Reference(c.op, c.data, c.indices, c.more...)
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, c.name, err)
				}
				if got, err := cold(t, make, budget, whole)(t.Context(), c.op, c.data, c.indices, c.more...); err != nil && budget > 0 && budget < 4000 && c.name == "columns" && strings.Contains(err.Error(), "not row-major") {
					continue // such codes are held whole
				} else if err != nil || !gathertest.Equal(got, want) {
					t.Errorf("seed %d, %s, data %v: %v, %v; the definition says %v", seed, c.name, c.data.Spec(), got, err, want)
				}
			}
		}
	})
}

// counted is an Array that counts the bytes that are fetched from it.
type counted struct {
	Array
	mu    sync.Mutex
	bytes int
}

func (c *counted) Fetch(ctx context.Context, rows Rows) error {
	c.mu.Lock()
	c.bytes += len(rows.Dst)
	c.mu.Unlock()
	return c.Array.Fetch(ctx, rows)
}

// TestRowsAreReadOnce gathers rows that many indices name: each is read once, with its
// scales and zero points, and no other; and of a File with a codec, decoded once.
func TestRowsAreReadOnce(t *testing.T) {
	const rows, columns, distinct = 1000, 64, 7
	r := rand.New(rand.NewPCG(3, 4))
	list := make([]int64, 500)
	for i := range list {
		list[i] = int64(i%distinct) * 100
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	ids := garner.Of(list, len(list))
	block := 16
	codes, scales, zeros := tensor(r, garner.U4, rows, columns), tensor(r, garner.F32, rows, columns/block), tensor(r, garner.U4, rows, columns/block)
	table := tensor(r, garner.F32, rows, columns)
	for _, tt := range []struct {
		name     string
		op       garner.Op
		operands []garner.Tensor // data, and the further ones that are read row by row
		further  []Array
		want     []int // bytes of a row in each
	}{
		{"stored", onnx.MicrosoftGatherBlockQuantized1{BlockSize: &block}, []garner.Tensor{codes, scales, zeros}, nil, []int{columns / 2, columns / block * 4, columns / block / 2}},
		{"bags", torch.EmbeddingBag{Mode: "sum"}, []garner.Tensor{table}, []Array{Memory(garner.Of([]int64{0, 3, 200}, 3)), nil}, []int{columns * 4}},
	} {
		for _, budget := range []int64{0, 1 << 20} {
			var operands []*counted
			o := Options{Memory: budget}
			for i, x := range tt.operands {
				operands = append(operands, &counted{Array: Memory(x)})
				if i > 0 {
					o.Further = append(o.Further, operands[i])
				}
			}
			o.Further = append(o.Further, tt.further...)
			if err := Gather(t.Context(), tt.op, operands[0], Memory(ids), io.Discard, o); err != nil {
				t.Fatal(err)
			}
			for i, a := range operands {
				if a.bytes != distinct*tt.want[i] {
					t.Errorf("%s, budget %d: %d bytes of operand %d were read; %d rows have %d", tt.name, budget, a.bytes, i, distinct, distinct*tt.want[i])
				}
			}
		}
	}
	// A view of numbers, whose rows are not in the page cache.
	kind, _ := codec.GGUF("Q4_K")
	var mu sync.Mutex
	decoded := 0
	counting := &Codec{Elements: kind.Elements, Bytes: kind.Bytes, Decode: func(dst, src []byte) {
		mu.Lock()
		decoded += len(src) / kind.Bytes
		mu.Unlock()
		kind.Decode(dst, src)
	}}
	const each = 1 // blocks of a row; a hundred rows lie between two, so that no gap is read
	file := open(t, garner.SpecOf(garner.F32, rows, each*kind.Elements), counting, Segment{write(t, "table", make([]byte, rows*each*kind.Bytes)), 0, int64(rows * each * kind.Bytes)})
	for name, op := range map[string]garner.Op{"rows": onnx.Gather13{}, "bags": torch.EmbeddingBag{Mode: "sum"}} {
		decoded = 0
		o := Options{Memory: 64 << 20}
		if name == "bags" {
			o.Further = []Array{Memory(garner.Of([]int64{0, 3, 200}, 3))}
		}
		if err := Gather(t.Context(), op, file, Memory(ids), io.Discard, o); err != nil || decoded != distinct*each {
			t.Errorf("%s: %d blocks were decoded, %v; the rows have %d", name, decoded, err, distinct*each)
		}
	}
}

// floats is a table of f32 whose file fails as f says.
func floats(t *testing.T, rows, columns int, f *faulty) *File {
	t.Helper()
	file := stored(t, tensor(rand.New(rand.NewPCG(1, 2)), garner.F32, rows, columns))
	f.ReaderAt = file.files[0].file
	file.files[0].read = f
	return file
}

// TestBagsFail fails reads of rows, of scales, of indices and of offsets, and cuts and
// rewrites files in the middle of a run.
func TestBagsFail(t *testing.T) {
	const rows, columns = 300, 64
	offsets := garner.Of([]int64{0, 10, 250}, 3)
	bag := torch.EmbeddingBag{Mode: "mean"}
	for n := int64(1); n < 8; n++ {
		noLeak(t)
		file := floats(t, rows, columns, &faulty{fail: n})
		err := Gather(t.Context(), bag, file, Memory(every(rows)), io.Discard, Options{Memory: 20000, Further: []Array{Memory(offsets)}})
		var lost *ReadError
		if !errors.As(err, &lost) || !errors.Is(err, syscall.EIO) || lost.Path != file.files[0].path || lost.Row != (lost.From-4)/(4*columns) {
			t.Errorf("read %d: %v", n, err)
		}
	}
	table := Memory(tensor(rand.New(rand.NewPCG(1, 2)), garner.F32, rows, columns))
	for name, at := range map[string]int{"indices": 0, "offsets": 1} {
		operands := []Array{Memory(every(rows)), Memory(offsets)}
		bad := stored(t, []garner.Tensor{every(rows), offsets}[at])
		bad.files[0].read = &faulty{ReaderAt: bad.files[0].file, fail: 1}
		operands[at] = bad
		if err := Gather(t.Context(), bag, table, operands[0], io.Discard, Options{Memory: 20000, Further: operands[1:]}); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), bad.files[0].path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	block := 16
	codes := Memory(tensor(rand.New(rand.NewPCG(1, 2)), garner.U4, rows, columns))
	scales := floats(t, rows, columns/block, &faulty{fail: 2})
	if err := Gather(t.Context(), onnx.MicrosoftGatherBlockQuantized1{BlockSize: &block}, codes, Memory(every(rows)), io.Discard, Options{Memory: 5000, Further: []Array{scales}}); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), scales.files[0].path) {
		t.Errorf("scales: %v", err)
	}
	for name, tt := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"cut":       {func(path string) error { return os.Truncate(path, 4+100*4*columns/16) }, garner.ErrFault},
		"rewritten": {rewrite, ErrChanged},
	} {
		for _, budget := range []int64{0, 20000} {
			noLeak(t)
			cut := stored(t, tensor(rand.New(rand.NewPCG(1, 2)), garner.F32, rows, columns/block))
			changed := false
			var denied error
			err := Gather(t.Context(), onnx.MicrosoftGatherBlockQuantized1{BlockSize: &block}, plain{codes}, Memory(every(rows)), io.Discard, Options{Memory: budget, Further: []Array{cut}, Progress: func(done, total int64) {
				if !changed {
					changed, denied = true, tt.change(cut.files[0].path)
				}
			}})
			if denied != nil {
				mayNotChange(t, denied)
			}
			var lost *ReadError
			if !errors.As(err, &lost) || lost.Path != cut.files[0].path || !errors.Is(err, tt.want) {
				t.Errorf("%s, budget %d: %v", name, budget, err)
			}
		}
	}
	closed := stored(t, offsets)
	closed.Close()
	if err := Gather(t.Context(), bag, table, Memory(every(rows)), io.Discard, Options{Further: []Array{closed}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed offsets: %v", err)
	}
}

// TestBagsOfSmallBudgets reduces a bag of more terms than the budget has rows for, and
// refuses operands that are held whole and have more than half of it.
func TestBagsOfSmallBudgets(t *testing.T) {
	const rows, columns = 400, 300
	r := rand.New(rand.NewPCG(5, 6))
	table := tensor(r, garner.I32, rows, columns)
	list := make([]uint16, 20000)
	for i := range list {
		list[i] = uint16(r.IntN(rows))
	}
	ids, offsets := garner.Of(list, len(list)), garner.Of([]int64{0, 1, 1, 19000}, 4)
	op := openvino.EmbeddingBagOffsetsSum3{}
	want, err := garner.Reference(op, table, ids, offsets)
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int64{81000, 90000, 200000, 10 << 20} {
		var out bytes.Buffer
		if err := Gather(t.Context(), op, stored(t, table), Memory(ids), &out, Options{Memory: budget, Further: []Array{Memory(offsets)}}); err != nil || !bytes.Equal(out.Bytes(), bytesOf(t, want)) {
			t.Errorf("a budget of %d: %v", budget, err)
		}
	}
	// What the caller has in memory takes nothing of the budget.
	for _, further := range [][]Array{{Memory(offsets)}, {stored(t, offsets)}} {
		var out bytes.Buffer
		if err := Gather(t.Context(), op, stored(t, table), Memory(ids), &out, Options{Memory: 3000, Further: further}); err != nil || !bytes.Equal(out.Bytes(), bytesOf(t, want)) {
			t.Errorf("indices in memory and a budget of 3000: %v", err)
		}
	}
	// Memory that can vanish is copied.
	ids, offsets = ids.Volatile(), offsets.Volatile()
	weights := tensor(r, garner.I32, len(list))
	for name, c := range map[string]struct {
		op            garner.Op
		indices       Array
		further       []Array
		enough, small int64
	}{
		"files":    {op, stored(t, ids), []Array{stored(t, offsets)}, 2 * (40000 + 32), 79000},
		"vanish":   {op, Memory(ids), []Array{Memory(offsets)}, 2 * (40000 + 32), 30000},
		"offsets":  {op, Memory(garner.Of(list, len(list))), []Array{stored(t, offsets), stored(t, weights)}, 2 * (80000 + 32), 50},
		"weights":  {op, stored(t, ids), []Array{stored(t, offsets), stored(t, weights)}, 2 * (40000 + 80000 + 32), 100000},
		"segments": {tensorflow.SparseSegmentSum{}, stored(t, ids), []Array{stored(t, garner.Of(make([]int16, len(list)), len(list)))}, 2 * 80000, 30000},
	} {
		more := int64(0)
		for _, budget := range []int64{c.small, c.enough - 1} {
			err := Gather(t.Context(), c.op, stored(t, table), c.indices, io.Discard, Options{Memory: budget, Further: c.further})
			if err == nil || !strings.Contains(err.Error(), "held whole") || strings.Contains(err.Error(), "--") {
				t.Errorf("%s, a budget of %d: %v", name, budget, err)
				continue
			}
			_, tail, _ := strings.Cut(err.Error(), "or give ")
			if _, err := fmt.Sscanf(tail, "%d bytes more", &more); err != nil || budget+more != c.enough {
				t.Errorf("%s, a budget of %d: %s", name, budget, tail)
			}
			if err := Gather(t.Context(), c.op, stored(t, table), c.indices, io.Discard, Options{Memory: budget + more, Further: c.further}); err != nil {
				t.Errorf("%s, with as much as the message says: %v", name, err)
			}
		}
	}
}

// TestCopiesAreCounted holds that stored data in memory which a run has to copy, because it
// is not row-major, is counted against the budget.
func TestCopiesAreCounted(t *testing.T) {
	rows := garner.Of(make([]byte, 1<<20), 1<<6, 1<<14)
	table, err := rows.Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := plain{Memory(garner.Of([]int64{5, 3}, 2))} // so that the run reads rows
	took := allocatedBytes(func() {
		err = Gather(t.Context(), torch.QuantizedEmbedding{Bits: 8}, Memory(table), ids, io.Discard, Options{Memory: 1 << 18})
	})
	if err == nil || !strings.Contains(err.Error(), "held whole: 1048576 bytes, where half of the budget has room for 131072; gather fewer bags at a time, or give 1835008 bytes more") || took > 1<<19 {
		t.Errorf("%v; %d bytes were allocated", err, took)
	}
	if err := Gather(t.Context(), torch.QuantizedEmbedding{Bits: 8}, Memory(table), ids, io.Discard, Options{Memory: 1<<18 + 1835008}); err != nil {
		t.Error(err)
	}
}

// sumsOfRows sums rows of FBGEMM, of data as a vector where it is flat.
type sumsOfRows struct{ flat bool }

func (s sumsOfRows) Lower(l *garner.Lowering) {
	l.StoredRows(8)
	if s.flat {
		l.FlattenData()
	}
	l.Bags(garner.Bag{Fused: true, FromZero: true}, garner.AnyDim).Copy()
}

// TestSumsInsideBlocks holds sums of stored elements that begin at different places of
// their blocks.
func TestSumsInsideBlocks(t *testing.T) {
	row := []byte{1, 2, 3, 4, 0, 0, 0x80, 0x3f, 0, 0, 0, 0} // four codes, scale 1, bias 0
	wide := garner.Of(slices.Concat(row, make([]byte, 4), row, make([]byte, 4)), 2, 16)
	view, err := wide.Slice(1, 0, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		op   garner.Op
		data garner.Tensor
		ids  []int64
		want string
	}{
		"a row":  {sumsOfRows{}, garner.Of(row, 12), []int64{1, 2}, "[5.0]"},
		"a view": {sumsOfRows{flat: true}, view, []int64{1, 6}, "[5.0]"},
	} {
		ids := garner.Of(tt.ids, 1, 2)
		if got, err := garner.Gather(tt.op, tt.data, ids); err != nil || got.Text() != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got, err := garner.Reference(tt.op, tt.data, ids); err != nil || got.Text() != tt.want {
			t.Errorf("%s, the definition: %v, %v", name, got, err)
		}
		for _, budget := range []int64{0, 4000} {
			if got, err := cold(t, func(x garner.Tensor) Array { return stored(t, x) }, budget, true)(t.Context(), tt.op, tt.data, ids); err != nil || got.Text() != tt.want {
				t.Errorf("%s, a file, budget %d: %v, %v", name, budget, got, err)
			}
		}
	}
}

// TestWithoutIndices gathers by operators that take no indices.
func TestWithoutIndices(t *testing.T) {
	codes := tensor(rand.New(rand.NewPCG(17, 12)), garner.U8, 30, 34)
	for _, op := range []garner.Op{gguf.Dequantize{Type: "Q8_0"}, torch.QuantizedEmbeddingUnpack{Bits: 8}} {
		want, err := garner.Gather(op, codes, garner.Tensor{})
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]Array{"memory": Memory(codes), "a file": stored(t, codes)} {
			for _, budget := range []int64{0, 1 << 10} {
				var written bytes.Buffer
				out, err := garner.New(want.DType(), want.Shape()...)
				if err != nil {
					t.Fatal(err)
				}
				o := Options{Memory: budget}
				if err := Gather(t.Context(), op, data, nil, &written, o); err != nil || !bytes.Equal(written.Bytes(), bytesOf(t, want)) {
					t.Errorf("%T of %s, budget %d: %v", op, name, budget, err)
				}
				if err := GatherInto(t.Context(), op, data, nil, out, o); err != nil || !gathertest.Equal(out, want) {
					t.Errorf("%T of %s into memory, budget %d: %v", op, name, budget, err)
				}
			}
			if p, err := NewPlan(t.Context(), op, data, nil); err != nil || !p.Out.Equal(want.Shape()) {
				t.Errorf("%T of %s: the plan is of %v (%v)", op, name, p, err)
			}
			if err := Gather(t.Context(), op, data, Memory(garner.Of([]int64{0}, 1)), io.Discard, Options{}); !errors.Is(err, garner.ErrAttribute) && !errors.Is(err, garner.ErrDType) && !errors.Is(err, garner.ErrShape) {
				t.Errorf("%T of %s with indices: %v", op, name, err)
			}
		}
	}
	if err := Gather(t.Context(), torch.Embedding{}, Memory(codes), nil, io.Discard, Options{}); !errors.Is(err, garner.ErrShape) {
		t.Errorf("torch.embedding without indices: %v", err)
	}
}

// A mostWritten counts bytes, and the most of one Write.
type mostWritten struct{ all, most int }

func (w *mostWritten) Write(b []byte) (int, error) {
	w.all, w.most = w.all+len(b), max(w.most, len(b))
	return len(b), nil
}

// TestStoredInMemory holds, of bags and of stored elements whose operands are all in
// memory, that a budget bounds what a call allocates, that its progress is told, and that
// an array that is converted is gathered from.
func TestStoredInMemory(t *testing.T) {
	const rows, terms, budget = 1 << 15, 1 << 17, 1 << 20
	r := rand.New(rand.NewPCG(17, 8))
	offsets, ids := make([]int64, terms/4), make([]int16, terms)
	for i := range offsets {
		offsets[i] = int64(4 * i)
	}
	for i := range ids {
		ids[i] = int16(r.IntN(rows))
	}
	halves := tensor(r, garner.U8, rows, 64)
	bag := torch.EmbeddingBag{Mode: "sum"}
	further := []Array{Memory(garner.Of(offsets, len(offsets)))}
	converted, err := Convert(Memory(garner.Of(make([]float32, rows*32), rows, 32)), garner.F64)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		op      garner.Op
		data    Array
		further []Array
		limit   int64
	}{
		{"stored rows", gguf.GetRows{Type: "F16"}, Memory(halves), nil, budget},
		{"quantised rows", gguf.GetRows{Type: "Q8_0"}, Memory(tensor(r, garner.U8, rows, 68)), nil, budget},
		{"bags", bag, Memory(garner.Of(make([]float32, rows*64), rows, 64)), further, 2 * budget},
		{"bags of a converted array", bag, converted, further, 2 * budget},
	} {
		indices := Memory(garner.Of(ids, terms))
		plan, err := NewPlan(t.Context(), tt.op, tt.data, indices, tt.further...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		n, _ := plan.Out.Len()
		size := int64(n * plan.DType.Bits() / 8)
		if size < 4*tt.limit {
			t.Fatalf("%s: a result of %d bytes shows no bound", tt.name, size)
		}
		for _, into := range []bool{false, true} {
			var told []int64
			o := Options{Memory: tt.limit, Further: tt.further, Threads: 2, Progress: func(done, total int64) {
				if told = append(told, done); total != size {
					t.Errorf("%s: progress is of %d bytes, and the result has %d", tt.name, total, size)
				}
			}}
			w := &mostWritten{}
			var out garner.Tensor
			if into {
				if out, err = garner.New(plan.DType, plan.Out...); err != nil {
					t.Fatal(err)
				}
			}
			took := allocatedBytes(func() {
				if into {
					err = GatherInto(t.Context(), tt.op, tt.data, indices, out, o)
				} else {
					err = Gather(t.Context(), tt.op, tt.data, indices, w, o)
				}
			})
			if err != nil || !into && int64(w.all) != size {
				t.Errorf("%s: %d bytes of %d are written: %v", tt.name, w.all, size, err)
			}
			if int64(w.most) > tt.limit/2 || took > uint64(4*tt.limit) {
				t.Errorf("%s, into memory %v: with a budget of %d, %d bytes are allocated and %d written at a time", tt.name, into, tt.limit, took, w.most)
			}
			if len(told) < 3 || told[0] != 0 || told[len(told)-1] != size || !slices.IsSorted(told) {
				t.Errorf("%s, into memory %v: progress tells %v of %d bytes", tt.name, into, told, size)
			}
		}
	}
}

// allocatedBytes is how many bytes f allocates in all.
func allocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// anyTypes is an operator of another author, whose operands may have any type.
type anyTypes struct{ ends garner.Ends }

func (anyTypes) Operands() []garner.Operand {
	return []garner.Operand{{Name: "ends"}, {Name: "weights", Optional: true}}
}

func (o anyTypes) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1).Bags(garner.Bag{Ends: o.ends, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}, garner.AnyDim).Copy()
}

// TestBagsOfAnyTypes holds that the operands of bags are those that bags take, whatever
// the operator says of them (R.31, R.32, R.35).
func TestBagsOfAnyTypes(t *testing.T) {
	ways(t, func(t *testing.T, make func(garner.Tensor) Array, budget int64, whole bool) {
		run := cold(t, make, budget, whole)
		data, ids := garner.Of([]float32{1, 2, 3, 4}, 2, 2), garner.Of([]int64{0, 1, 1}, 3)
		segments, one := garner.Of([]int64{0, 0, 2}, 3), garner.Of([]float32{1, 10, 100}, 3)
		got, err := run(t.Context(), anyTypes{garner.Segments}, data, ids, segments, one)
		if want := garner.Of([]float32{31, 42, 0, 0, 300, 400}, 3, 2); err != nil || !gathertest.Equal(got, want) {
			t.Errorf("segments: %v, %v", got, err)
		}
		for _, more := range [][]garner.Tensor{
			{segments, garner.Of([]float64{1, 10, 100}, 3)}, {segments, garner.Of([]byte{1, 10, 100}, 3)}, {garner.Of([]bool{false, false, true}, 3)},
		} {
			if _, err := run(t.Context(), anyTypes{garner.Segments}, data, ids, more...); !errors.Is(err, garner.ErrDType) {
				t.Errorf("operand of %s: %v", more[len(more)-1].DType(), err)
			}
		}
	})
}

// TestBagsOfDecodedRows holds that bags over rows that a codec decodes, of a mapped file
// whose pages are in the page cache or of memory, are one run of the engine; and that
// they are right, also where the rows are read.
func TestBagsOfDecodedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 27))
	const rows, bags, each = 300, 4, 16
	kind, _ := codec.GGUF("Q4_K")
	blocks := make([]byte, rows*2*kind.Bytes)
	for i := range blocks {
		blocks[i] = byte(r.Uint32())
	}
	for at := 0; at < len(blocks); at += kind.Bytes { // scales of finite numbers
		copy(blocks[at:], []byte{0x11, 0x2c, 0x22, 0x2a})
	}
	decoded := make([]float32, rows*2*kind.Elements)
	kind.Decode(kernel.Bytes(decoded), blocks)
	halves := tensor(r, garner.F16, rows, 64)
	for i := range halves.Len() {
		_ = halves.SetText(i, fmt.Sprint(float64(r.IntN(64)-32)/16))
	}
	big := slices.Clone(bytesOf(t, halves))
	for i := 0; i < len(big); i += 2 {
		big[i], big[i+1] = big[i+1], big[i]
	}
	columns := halves.Spec()
	columns.Strides = []int{1, rows}
	byColumns, err := garner.FromStrided(garner.F16, bytesOf(t, halves), 0, garner.Shape{rows, 64}, []int{1, rows})
	if err != nil {
		t.Fatal(err)
	}
	ids, offsets, weights := make([]int64, bags*each), make([]int64, bags), make([]float32, bags*each)
	for i := range ids {
		ids[i], weights[i] = r.Int64N(rows), float32(r.IntN(8))/4
	}
	for b := range offsets {
		offsets[b] = int64(b * each)
	}
	file := func(b []byte, spec garner.Spec, c *Codec) Array {
		path := write(t, "table", append([]byte("head"), b...))
		return open(t, spec, c, Segment{path, 4, int64(len(b))})
	}
	quantised := garner.Of(decoded, rows, 2*kind.Elements)
	widened, err := garner.New(garner.F32, rows, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range widened.Len() {
		v, err := halves.Float64(i)
		if err != nil {
			t.Fatal(err)
		}
		_ = widened.SetText(i, fmt.Sprint(v))
	}
	for name, c := range map[string]struct {
		data  Array
		equal garner.Tensor
		more  []garner.Tensor
	}{
		"Q4_K":             {file(blocks, quantised.Spec(), &Codec{Elements: kind.Elements, Bytes: kind.Bytes, Decode: kind.Decode}), quantised, []garner.Tensor{garner.Of(offsets, bags), garner.Of(weights, len(weights))}},
		"big-endian":       {file(big, halves.Spec(), swapped), halves, []garner.Tensor{garner.Of(offsets, bags)}},
		"columns":          {file(big, columns, swapped), byColumns, []garner.Tensor{garner.Of(offsets, bags)}},
		"converted file":   {mustConvert(t, file(bytesOf(t, halves), halves.Spec(), nil), garner.F32), widened, []garner.Tensor{garner.Of(offsets, bags)}},
		"converted memory": {mustConvert(t, Memory(halves), garner.F32), widened, []garner.Tensor{garner.Of(offsets, bags), garner.Of(weights, len(weights))}},
	} {
		t.Run(name, func(t *testing.T) {
			op, at := torch.EmbeddingBag{Mode: "sum"}, garner.Of(ids, len(ids))
			want, err := garner.Reference(op, c.equal, at, c.more...)
			if err != nil {
				t.Fatal(err)
			}
			for _, budget := range []int64{0, 1 << 20} {
				o := Options{Memory: budget}
				for _, x := range c.more {
					o.Further = append(o.Further, Memory(x))
				}
				g, err := newGather(t.Context(), op, c.data, Memory(at), o)
				if err != nil {
					t.Fatal(err)
				}
				if _, mapped := c.data.(*File); g.inPlace() != (budget == 0) && (mapped || budget == 0) {
					t.Errorf("budget %d: in place is %v", budget, g.inPlace())
				}
				g.free()
				out, err := garner.New(want.DType(), want.Shape()...)
				if err != nil {
					t.Fatal(err)
				}
				if err := GatherInto(t.Context(), op, c.data, Memory(at), out, o); err != nil || !gathertest.Equal(out, want) {
					t.Errorf("budget %d, into memory: %v", budget, err)
				}
				var written bytes.Buffer
				if err := Gather(t.Context(), op, c.data, Memory(at), &written, o); err != nil || !bytes.Equal(written.Bytes(), bytesOf(t, want)) {
					t.Errorf("budget %d: %v", budget, err)
				}
				bad := Memory(garner.Of([]int64{0, 1, rows}, 3))
				var outside *garner.IndexError
				o.Further = []Array{Memory(garner.Of([]int64{0}, 1))}
				if err := Gather(t.Context(), op, c.data, bad, io.Discard, o); !errors.As(err, &outside) || outside.Value.Bits != rows {
					t.Errorf("budget %d, an index outside: %v", budget, err)
				}
			}
			f, ok := c.data.(*File)
			if !ok {
				return
			}
			guard.Faults(t)
			if err := os.Truncate(f.files[0].path, 1000); err != nil {
				mayNotChange(t, err)
			}
			out, err := garner.New(want.DType(), want.Shape()...)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{}
			for _, x := range c.more {
				o.Further = append(o.Further, Memory(x))
			}
			var lost *ReadError
			if err := GatherInto(t.Context(), op, f, Memory(at), out, o); !errors.As(err, &lost) || lost.Path != f.files[0].path {
				t.Errorf("a file cut short: %v", err)
			}
		})
	}
}
