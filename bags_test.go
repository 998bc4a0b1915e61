package garner_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

func FuzzBags(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := gathertest.RandomBags(seed)
		c.Hold(t, garner.GatherContext)
		c.Hold(t, prepared(garner.Threads(3), garner.Cut(8, 16, 0)))
		c.Hold(t, batches(garner.Threads(2), garner.Cut(8, 16, 64)))
	})
}

// TestBagsAllocateNothing holds that runs of a Prepared allocate nothing, also of
// another number of indices than the run before, on one core and on two.
func TestBagsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties free lists")
	}
	for _, dtype := range []garner.DType{garner.F32, garner.F16} {
		for _, threads := range []int{1, 2} {
			bagsAllocateNothing(t, dtype, threads)
		}
	}
}

func bagsAllocateNothing(t *testing.T, dtype garner.DType, threads int) {
	t.Helper()
	made := func(shape ...int) garner.Tensor {
		made, err := garner.New(dtype, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	data := made(1000, 64)
	p, err := garner.Prepare(bagsOf{garner.Bag{Ends: garner.ZeroStart, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}}, data.Spec(), garner.SpecOfDims(garner.I64, garner.AnyDim), garner.Threads(threads),
		garner.Further(garner.SpecOf(garner.I64, 512), garner.SpecOfDims(dtype, garner.AnyDim)))
	if err != nil {
		t.Fatal(err)
	}
	out := made(512, 64)
	var calls []func()
	for _, n := range []int{10240, 5120} {
		ids, weights := garner.Of(make([]int64, n), n), made(n)
		offsets := make([]int64, 512)
		for b := range offsets {
			offsets[b] = int64(b * n / 512)
		}
		ends := garner.Of(offsets, 512)
		calls = append(calls, func() {
			if err := p.Run(t.Context(), data, ids, out, ends, weights); err != nil {
				t.Fatal(err)
			}
		})
	}
	if n := testing.AllocsPerRun(50, func() { calls[0](); calls[1]() }); n > 0.5 {
		t.Errorf("%s, %d threads: %v allocations in two runs", dtype, threads, n)
	}
}

// bagsOf reduces rows of a matrix.
type bagsOf struct{ bag garner.Bag }

func (bagsOf) Operands() []garner.Operand {
	return []garner.Operand{{Name: "ends", Types: garner.IntegerTypes, Optional: true}, {Name: "weights", Types: garner.ElementType, Optional: true}}
}

func (b bagsOf) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)
	l.NeedRanks(1, 1).Bags(b.bag, garner.AnyDim).NameEmpty("default").Copy()
}

// TestBagsOnAnyThreads holds that sums whose order shows are the same bits on any
// number of threads, of few bags of long rows and of many of short ones.
func TestBagsOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct{ rows, columns, bags, terms int }{{500, 3000, 2, 200}, {5000, 33, 700, 20}, {64, 1, 3, 100000}} {
		values := make([]float32, tt.rows*tt.columns)
		for i := range values {
			values[i] = float32(r.NormFloat64())
		}
		ids := make([]int64, tt.bags*tt.terms)
		for i := range ids {
			ids[i] = r.Int64N(int64(tt.rows))
		}
		data, indices := garner.Of(values, tt.rows, tt.columns), garner.Of(ids, tt.bags, tt.terms)
		op := bagsOf{garner.Bag{Reduction: garner.Mean, Reciprocal: true}}
		want, err := garner.Reference(op, data, indices)
		if err != nil {
			t.Fatal(err)
		}
		for threads := 1; threads <= 8; threads++ {
			got, err := prepared(garner.Threads(threads))(t.Context(), op, data, indices)
			if err != nil || !gathertest.Equal(got, want) {
				t.Errorf("%+v on %d threads differs from the definition: %v", tt, threads, err)
			}
		}
	}
}

// TestRunAll runs the bags of 26 tables in one call, without an allocation, and names
// the call that fails.
func TestRunAll(t *testing.T) {
	op := bagsOf{garner.Bag{Ends: garner.ZeroStart, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}}
	calls, want := make([]garner.Call, 26), make([]garner.Tensor, 26)
	for i := range calls {
		rows, columns := 100+i, 16+i
		values, ids, offsets := make([]float32, rows*columns), make([]int64, 512*3), make([]int64, 512)
		for j := range values {
			values[j] = float32(j)
		}
		for j := range ids {
			ids[j] = int64(j * 7 % rows)
		}
		for b := range offsets {
			offsets[b] = int64(3 * b)
		}
		c := garner.Call{Data: garner.Of(values, rows, columns), Indices: garner.Of(ids, len(ids)), Further: []garner.Tensor{garner.Of(offsets, 512)}}
		var err error
		if c.Prepared, err = garner.Prepare(op, c.Data.Spec(), c.Indices.Spec(), garner.Threads(1), garner.FurtherTensors(c.Further...)); err != nil {
			t.Fatal(err)
		}
		if want[i], err = garner.Reference(op, c.Data, c.Indices, c.Further...); err != nil {
			t.Fatal(err)
		}
		if c.Out, err = garner.New(garner.F32, 512, columns); err != nil {
			t.Fatal(err)
		}
		calls[i] = c
	}
	run := func() {
		if err := garner.RunAll(t.Context(), calls); err != nil {
			t.Fatal(err)
		}
	}
	run()
	for i, c := range calls {
		if !gathertest.Equal(c.Out, want[i]) {
			t.Errorf("table %d differs from the definition", i)
		}
	}
	if n := testing.AllocsPerRun(20, run); n > 0.5 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	if err := calls[3].Indices.SetText(5, "-1"); err != nil {
		t.Fatal(err)
	}
	err := garner.RunAll(t.Context(), calls)
	if !errors.Is(err, garner.ErrIndex) || !strings.Contains(err.Error(), "call 3 of 26") || !strings.Contains(err.Error(), "indices[5] = -1") {
		t.Errorf("a bad index: %v", err)
	}
	calls[2].Prepared = nil
	if err := garner.RunAll(t.Context(), calls); !errors.Is(err, garner.ErrAttribute) {
		t.Errorf("no Prepared: %v", err)
	}
}

// moved returns a row-major copy of t whose memory begins at an odd address; t itself
// where its elements fill no bytes.
func moved(t garner.Tensor) (garner.Tensor, error) {
	if !t.DType().Valid() || t.DType().Packed() || t.DType() == garner.String {
		return t, nil
	}
	c, err := t.Clone()
	if err != nil {
		return t, err
	}
	b, err := c.Bytes()
	if err != nil {
		return t, err
	}
	odd := append(make([]byte, 1, len(b)+1), b...)
	return garner.FromBytes(t.DType(), odd[1:], t.Shape()...)
}

// TestUnaligned holds gathers over memory that begins at odd addresses.
func TestUnaligned(t *testing.T) {
	gathertest.Run(t, func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		want, err := garner.Reference(op, data, indices, more...)
		if err != nil {
			return garner.GatherContext(ctx, op, data, indices, more...)
		}
		out, err := moved(want)
		if err != nil {
			return out, err
		}
		all := append([]garner.Tensor{data, indices}, more...)
		for i := range all {
			if all[i], err = moved(all[i]); err != nil {
				return out, err
			}
		}
		if err := garner.GatherInto(ctx, op, all[0], all[1], out, all[2:]...); err != nil {
			return out, err
		}
		return out.Clone()
	})
}

// TestKeptBags holds that a run of bags holds and checks the memory of every operand,
// also where it is refused, and that it ends with what a Keeper says.
func TestKeptBags(t *testing.T) {
	op := bagsOf{garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}}
	operands := func(id int64) []garner.Tensor {
		return []garner.Tensor{garner.Of([]float32{1, 2, 3}, 3), garner.Of([]int64{2, id}, 2), garner.Of([]int64{0, 1}, 2), garner.Of([]float32{1, 2}, 2)}
	}
	gone, cut := errors.New("gone"), errors.New("cut")
	for i, name := range []string{"data", "indices", "ends", "weights"} {
		for _, tt := range []struct {
			gone, cut error
			id        int64
			want      error
		}{{want: nil}, {id: 9, want: garner.ErrIndex}, {gone: gone, want: gone}, {cut: cut, want: cut}, {cut: cut, id: 9, want: cut}} {
			all, k := operands(tt.id), &counted{gone: tt.gone, cut: tt.cut}
			all[i] = all[i].KeptBy(k)
			p, err := garner.Prepare(op, all[0].Spec(), all[1].Spec(), garner.Further(all[2].Spec(), all[3].Spec()))
			if err != nil {
				t.Fatal(err)
			}
			out := garner.Of([]float32{0, 0}, 2)
			err = p.Run(t.Context(), all[0], all[1], out, all[2:]...)
			if !errors.Is(err, tt.want) || tt.want == nil && (err != nil || out.Text() != "[3.0, 2.0]") {
				t.Errorf("%s, %+v: %v, %v", name, tt.want, out, err)
			}
			if k.open.Load() != 0 || tt.gone == nil && (k.holds.Load() == 0 || k.checks.Load() == 0) {
				t.Errorf("%s, %v: %d holds, %d checks, %d left open", name, tt.want, k.holds.Load(), k.checks.Load(), k.open.Load())
			}
		}
	}
}

// TestRegimeOfBags holds what a Prepared says of how it runs bags: the size of a row is
// that of data, into however many chunks cores divide it, and batches have one too.
func TestRegimeOfBags(t *testing.T) {
	even := bagsOf{garner.Bag{}}
	ids, weights := garner.SpecOfDims(garner.I64, garner.AnyDim), garner.SpecOfDims(garner.F32, garner.AnyDim)
	for name, c := range map[string]struct {
		op            garner.Op
		data, indices garner.Spec
		more          []garner.Spec
		threads       int
		want          string
	}{
		"short rows": {even, garner.SpecOf(garner.F32, 100, 16), garner.SpecOf(garner.I64, 3, 2), nil, 2, "rows of 64 bytes, reduced into bags · way reduced · "},
		"long rows":  {even, garner.SpecOf(garner.F32, 1000, 65536), garner.SpecOf(garner.I64, 1, 20), nil, 8, "rows of 262144 bytes, reduced into bags · way reduced · "},
		"batches":    {even, garner.SpecOf(garner.F32, 100, 16), garner.SpecOfDims(garner.I64, garner.AnyDim, garner.Exactly(4)), nil, 2, "rows of 64 bytes, reduced into bags · way reduced · "},
		"batches of any bags": {
			bagsOf{garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}}, garner.SpecOf(garner.F32, 100, 16), ids, []garner.Spec{ids, weights}, 2, "rows of 64 bytes, reduced into bags · way reduced · ",
		},
		"batches with bounds": {
			bagsOf{garner.Bag{Ends: garner.Bounds, EndsAt: garner.PositionAt(0)}}, garner.SpecOf(garner.F64, 100, 16), ids, []garner.Spec{ids}, 2, "rows of 128 bytes, reduced into bags · way reduced · ",
		},
		"batches of segments": {
			segmentsOf{garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}}, garner.SpecOf(garner.F32, 100, 16), ids, []garner.Spec{ids, weights}, 2, "rows of 64 bytes, reduced into bags · way reduced · ",
		},
	} {
		p, err := garner.Prepare(c.op, c.data, c.indices, garner.Threads(c.threads), garner.Further(c.more...))
		if err != nil {
			t.Fatal(name, err)
		}
		if text := p.Regime().String(); !strings.HasPrefix(text, c.want) || strings.Contains(text, "Generic") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// ownBag is an operator of another author: it names no type of its operands, and data may
// be blocks of GGUF.
type ownBag struct {
	stored string
	bag    garner.Bag
}

func (ownBag) Operands() []garner.Operand {
	return []garner.Operand{{Name: "ends", Optional: true}, {Name: "weights", Optional: true}}
}

func (o ownBag) Lower(l *garner.Lowering) {
	if o.stored != "" {
		l.StoredBlocks(o.stored)
	}
	l.NeedRanks(1, 1).Bags(o.bag, garner.AnyDim).Copy()
}

// TestBagsHoldTheirOperands holds that the dtypes of the ends, of the weights and of data
// are checked for any operator, also one that does not check them itself (R.31, R.34, R.35).
func TestBagsHoldTheirOperands(t *testing.T) {
	half := garner.Of([]byte{0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44}, 2, 4) // 1, 2 and 3, 4 of f16
	plain := garner.Of([]float32{1, 2, 3, 4}, 2, 2)
	ids, ends, one := garner.Of([]int64{0, 1, 1}, 3), garner.Of([]int64{0, 2}, 2), garner.Of([]float32{1, 10, 100}, 3)
	offsets, numbers := garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}, garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}
	want := garner.Of([]float32{31, 42, 300, 400}, 2, 2)
	for _, c := range []struct {
		op   garner.Op
		data garner.Tensor
	}{{ownBag{"", offsets}, plain}, {ownBag{"F16", offsets}, half}} {
		gathertest.Check(t, c.op, c.data, ids, want, ends, one)
		for _, weights := range []garner.Tensor{
			garner.Of([]float64{1, 10, 100}, 3), garner.Of([]int64{1, 10, 100}, 3), garner.Of([]byte{1, 10, 100}, 3),
			garner.Of([]string{"a", "b", "c"}, 3), garner.Of([]bool{true, false, true}, 3), garner.Of([]garner.Float16{1, 2, 3}, 3),
		} {
			message := gathertest.CheckError(t, c.op, c.data, ids, garner.ErrDType, ends, weights)
			if !strings.Contains(message, "weights is "+weights.DType().String()+" and the elements of data f32") {
				t.Errorf("weights of %s: %s", weights.DType(), message)
			}
			for name, lower := range map[string]func() error{
				"Infer": func() error {
					_, err := garner.Infer(c.op, garner.SpecOfRank(c.data.DType(), garner.AnyDim), garner.SpecOfRank(garner.I64, garner.AnyDim), ends.Spec(), weights.Spec())
					return err
				},
				"Prepare": func() error {
					unknown := garner.SpecOfDims(garner.I64, garner.AnyDim)
					_, err := garner.Prepare(c.op, c.data.Spec(), unknown, garner.Further(unknown, garner.SpecOfDims(weights.DType(), garner.AnyDim)))
					return err
				},
				"a wrong shape": func() error { // R.6
					_, err := garner.NewPlan(c.op, c.data.Spec(), garner.SpecOf(garner.I64), ends.Spec(), weights.Spec())
					return err
				},
			} {
				if err := lower(); !errors.Is(err, garner.ErrDType) || err.Error() != message {
					t.Errorf("%s with weights of %s: %v", name, weights.DType(), err)
				}
			}
		}
		for _, ends := range []garner.Tensor{garner.Of([]bool{false, true}, 2), garner.Of([]float32{0, 2}, 2), garner.Of([]string{"a", "b"}, 2)} {
			message := gathertest.CheckError(t, c.op, c.data, ids, garner.ErrDType, ends, one)
			if !strings.Contains(message, "ends is "+ends.DType().String()+"; it must be an integer type") {
				t.Errorf("ends of %s: %s", ends.DType(), message)
			}
		}
		message := gathertest.CheckError(t, c.op, c.data, ids, garner.ErrAttribute, garner.Tensor{}, one) // R.27
		if !strings.Contains(message, "needs its operand ends, number 3") {
			t.Error("without ends:", message)
		}
	}
	segments := garner.Of([]bool{false, false, true}, 3)
	gathertest.CheckError(t, ownBag{"", numbers}, plain, ids, garner.ErrDType, segments)
	for _, data := range []garner.Tensor{garner.Of([]string{"a", "b"}, 2, 1), garner.Of([]bool{true, false}, 2, 1), garner.Of([]garner.Float8E5M2{1, 2}, 2, 1)} {
		if message := gathertest.CheckError(t, ownBag{"", offsets}, data, ids, garner.ErrDType, ends); !strings.Contains(message, "data is "+data.DType().String()+"; the operator calculates") { // R.34
			t.Errorf("data of %s: %s", data.DType(), message)
		}
	}
	for _, at := range []garner.Bag{{Ends: garner.Starts, EndsAt: garner.PositionAt(2)}, {Ends: garner.Starts}, {WeightsAt: garner.PositionAt(2)}} {
		if message := gathertest.CheckError(t, ownBag{"", at}, plain, ids, garner.ErrAttribute, ends); !strings.Contains(message, "declares 2 further operands") {
			t.Errorf("%+v: %s", at, message)
		}
	}
	// Bags of equal length have no ends, whatever the operand of number 0.
	gathertest.Check(t, ownBag{"", garner.Bag{}}, plain, garner.Of([]int64{0, 1}, 1, 2), garner.Of([]float32{4, 6}, 1, 2), garner.Of([]string{"a"}, 1))
}

// TestAnyNumberOfBagsAllocatesNothing holds that runs of one Prepared whose numbers of
// indices and of bags differ from one to the next allocate nothing, each by itself and
// in RunAll, and that each is right.
func TestAnyNumberOfBagsAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties free lists")
	}
	rows, segments := garner.SpecOfDims(garner.I64, garner.AnyDim), garner.SpecOfDims(garner.I64, garner.AnyDim, garner.Exactly(2))
	weights := garner.SpecOfDims(garner.F32, garner.AnyDim)
	values, bytes := make([]float32, 1000*64), make([]byte, 1000*72)
	for i := range values {
		values[i] = float32(i%91) / 7
	}
	for i := range bytes {
		bytes[i] = byte(i % 60)
	}
	floats, fbgemm, blocks := garner.Of(values, 1000, 64), garner.Of(bytes, 1000, 72), garner.Of(bytes[:1000*68], 1000, 68)
	for name, c := range map[string]struct {
		op   garner.Op
		data garner.Tensor
		more []garner.Spec
		ends func(bags, each int) []int64 // nil: a segment for each term
	}{
		"EmbeddingBag":           {torch.EmbeddingBag{Mode: "sum"}, floats, []garner.Spec{rows}, starts},
		"EmbeddingBag, weighted": {torch.EmbeddingBag{Mode: "sum"}, floats, []garner.Spec{rows, weights}, starts},
		"EmbeddingBag, the end":  {torch.EmbeddingBag{IncludeLastOffset: true}, floats, []garner.Spec{rows}, func(bags, each int) []int64 { return append(starts(bags, each), int64(bags*each)) }},
		"QuantizedEmbeddingBag":  {torch.QuantizedEmbeddingBag{Bits: 8}, fbgemm, []garner.Spec{rows, weights}, starts},
		"Q8_0":                   {ownBag{"Q8_0", garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}}, blocks, []garner.Spec{rows}, starts},
		"EmbeddingBagOffsetsSum": {openvino.EmbeddingBagOffsetsSum3{}, floats, []garner.Spec{rows, weights}, starts},
		"SparseSegmentSum":       {tensorflow.SparseSegmentSum{}, floats, []garner.Spec{rows}, nil},
		"embedding_lookup":       {tensorflow.EmbeddingLookupSparse{}, floats, []garner.Spec{segments, weights}, nil},
		"safe_embedding_lookup":  {tensorflow.SafeEmbeddingLookupSparse{DenseShape: []int{16, 9}}, floats, []garner.Spec{segments}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := garner.Prepare(c.op, c.data.Spec(), rows, garner.Further(c.more...), garner.Threads(1))
			if err != nil {
				t.Fatal(err)
			}
			call := func(p *garner.Prepared, bags, each int) garner.Call {
				ids, factors, ends := make([]int64, bags*each), make([]float32, bags*each), []int64(nil)
				for i := range ids {
					ids[i], factors[i] = int64(i*37%1000), float32(i%5)
				}
				of := garner.Call{Prepared: p, Data: c.data, Indices: garner.Of(ids, len(ids))}
				switch {
				case c.ends != nil:
					ends = c.ends(bags, each)
					of.Further = []garner.Tensor{garner.Of(ends, len(ends))}
				case len(c.more[0].Dims) == 2:
					for i := range ids {
						ends = append(ends, int64(i/each), int64(i%each))
					}
					of.Further = []garner.Tensor{garner.Of(ends, len(ids), 2)}
				default:
					for i := range ids {
						ends = append(ends, int64(i/each))
					}
					of.Further = []garner.Tensor{garner.Of(ends, len(ids))}
				}
				if len(c.more) > 1 {
					of.Further = append(of.Further, garner.Of(factors, len(factors)))
				}
				want, err := garner.Reference(c.op, of.Data, of.Indices, of.Further...)
				if err != nil {
					t.Fatal(err)
				}
				if of.Out, err = garner.New(want.DType(), want.Shape()...); err != nil {
					t.Fatal(err)
				}
				if err := p.Run(t.Context(), of.Data, of.Indices, of.Out, of.Further...); err != nil || !gathertest.Equal(of.Out, want) {
					t.Fatalf("%d bags of %d: %v", bags, each, err)
				}
				short, err := of.Out.Slice(0, 0, want.Shape()[0]-1, 1)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Run(t.Context(), of.Data, of.Indices, short, of.Further...); !errors.Is(err, garner.ErrShape) {
					t.Errorf("an output with a bag less: %v", err)
				}
				return of
			}
			sizes := [][2]int{{16, 2}, {16, 3}, {9, 3}}
			runs, all := []garner.Call{}, [][]garner.Call{make([]garner.Call, 26), make([]garner.Call, 26)}
			for _, s := range sizes {
				runs = append(runs, call(p, s[0], s[1]))
			}
			for i := range 26 {
				own, err := garner.Prepare(c.op, c.data.Spec(), rows, garner.Further(c.more...), garner.Threads(1))
				if err != nil {
					t.Fatal(err)
				}
				all[0][i], all[1][i] = call(own, sizes[i%3][0], sizes[i%3][1]), call(own, sizes[(i+1)%3][0], sizes[(i+1)%3][1])
			}
			if n := testing.AllocsPerRun(50, func() {
				for i := range runs {
					r := &runs[i]
					if err := p.Run(t.Context(), r.Data, r.Indices, r.Out, r.Further...); err != nil {
						t.Fatal(err)
					}
				}
			}); n != 0 {
				t.Errorf("%v allocations in runs of %v", n, sizes)
			}
			if n := testing.AllocsPerRun(20, func() {
				for _, calls := range all {
					if err := garner.RunAll(t.Context(), calls); err != nil {
						t.Fatal(err)
					}
				}
			}); n != 0 {
				t.Errorf("%v allocations in two of RunAll", n)
			}
		})
	}
}

// starts returns the first index of each of some bags.
func starts(bags, each int) []int64 {
	all := make([]int64, bags)
	for b := range all {
		all[b] = int64(b * each)
	}
	return all
}

// TestEndsOfAnyRank holds what a Prepared refuses where it was prepared for ends of any
// rank and any dims.
func TestEndsOfAnyRank(t *testing.T) {
	data, ids, out := garner.Of(make([]float32, 20), 10, 2), garner.Of([]int64{1, 2, 3}, 3), garner.Of(make([]float32, 6), 3, 2)
	any, none := garner.SpecOfRank(garner.I64, garner.AnyDim), garner.Of([]int64{}, 0)
	for name, c := range map[string]struct {
		op    garner.Op
		right garner.Tensor
		wrong []garner.Tensor
	}{
		"offsets":  {openvino.EmbeddingBagOffsetsSum3{}, garner.Of([]int64{0, 1, 2}, 3), []garner.Tensor{garner.Of([]int64{0}), garner.Of([]int64{0, 1, 2}, 3, 1), none}},
		"the end":  {torch.EmbeddingBag{IncludeLastOffset: true}, garner.Of([]int64{0, 1, 2, 3}, 4), []garner.Tensor{garner.Of([]int64{0}), garner.Of([]int64{0, 1, 2, 3}, 4, 1), none}},
		"segments": {tensorflow.SparseSegmentSum{}, garner.Of([]int64{0, 1, 2}, 3), []garner.Tensor{garner.Of([]int64{2}), garner.Of([]int64{0, 1, 2}, 3, 1), none, garner.Of([]int64{0, 2}, 2)}},
		"rows": {tensorflow.EmbeddingLookupSparse{}, garner.Of([]int64{0, 1, 2}, 3, 1), []garner.Tensor{
			garner.Of([]int64{2}), garner.Of([]int64{0, 1, 2}, 3), garner.Of([]int64{}, 3, 0), garner.Of([]int64{}, 0, 1), garner.Of([]int64{0, 2}, 2, 1),
		}},
		"rows of a number": {tensorflow.SafeEmbeddingLookupSparse{DenseShape: []int{3, 1}}, garner.Of([]int64{0, 1, 2}, 3, 1), []garner.Tensor{
			garner.Of([]int64{2}), garner.Of([]int64{0, 1, 2}, 3), garner.Of([]int64{}, 3, 0), garner.Of([]int64{}, 0, 1), garner.Of([]int64{0, 2}, 2, 1),
		}},
	} {
		p, err := garner.Prepare(c.op, data.Spec(), garner.SpecOfDims(garner.I64, garner.AnyDim), garner.Further(any))
		if err != nil {
			t.Fatal(name, err)
		}
		for _, ends := range append([]garner.Tensor{c.right}, c.wrong...) {
			want, refused := garner.Reference(c.op, data, ids, ends)
			switch err := p.Run(t.Context(), data, ids, out, ends); {
			case refused == nil && want.Shape()[0] == 3:
				if err != nil || !gathertest.Equal(out, want) {
					t.Errorf("%s %v: %v", name, ends, err)
				}
			case !errors.Is(err, garner.ErrShape):
				t.Errorf("%s %v: %v, and the definition: %v", name, ends.Spec(), err, refused)
			}
		}
	}
}

// TestDTypesOfBags holds that the engine and the definition calculate with the same dtypes,
// and that every other is refused (R.34).
func TestDTypesOfBags(t *testing.T) {
	floats := []garner.DType{garner.F16, garner.BF16, garner.F32, garner.F64}
	ids := garner.Of([]int64{0, 1, 1}, 1, 3)
	for _, d := range garner.DTypes() {
		data, err := garner.New(d, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(floats, d) && (!d.IsInteger() || d.Packed()) {
			gathertest.CheckError(t, ownBag{}, data, ids, garner.ErrDType)
			continue
		}
		want, err := garner.New(d, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{data.SetText(0, "3"), data.SetText(1, "2"), want.SetText(0, "7")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		gathertest.Check(t, ownBag{}, data, ids, want)
	}
}
