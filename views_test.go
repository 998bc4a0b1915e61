package garner_test

import (
	"context"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/torch"
)

// must returns a view, which cannot fail.
func must(t testing.TB) func(v garner.Tensor, err error) garner.Tensor {
	return func(v garner.Tensor, err error) garner.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestStoredViews holds gathers of stored data whose operands are views against those of
// their copies, and that a run of them allocates nothing: it copies no table.
func TestStoredViews(t *testing.T) {
	view := must(t)
	everySecond := func(dtype garner.DType, rows, columns int) garner.Tensor {
		return view(randomBytes(t, dtype, 2*rows, columns).Slice(0, 1, 2*rows, 2))
	}
	transposed := func(dtype garner.DType, rows, columns int) garner.Tensor {
		return view(randomBytes(t, dtype, columns, rows).Transpose(1, 0))
	}
	inside := func(dtype garner.DType, rows, columns int) garner.Tensor {
		return view(randomBytes(t, dtype, rows, columns+3).Slice(1, 1, columns+1, 1))
	}
	backwards := func(v garner.Tensor) garner.Tensor {
		b, err := v.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		rows, columns := v.Shape()[0], v.Shape()[1]
		return view(garner.FromStrided(v.DType(), b, (rows-1)*columns, v.Shape(), []int{-columns, 1}))
	}
	block := 32
	quantized := onnx.MicrosoftGatherBlockQuantized1{BlockSize: &block}
	for name, c := range map[string]struct {
		op            garner.Op
		data, indices garner.Tensor
		more          []garner.Tensor
	}{
		"every second row":    {gguf.GetRows{Type: "Q4_K"}, everySecond(garner.U8, 500, 144), randomRows(40, 500), nil},
		"rows of far data":    {gguf.GetRows{Type: "Q4_K"}, everySecond(garner.U8, 9000, 144), randomRows(500, 9000), nil},
		"volatile":            {gguf.GetRows{Type: "Q4_K"}, everySecond(garner.U8, 500, 144).KeptBy(&counter{}), randomRows(40, 500), nil},
		"parts of rows":       {gguf.GetRows{Type: "Q8_0"}, inside(garner.U8, 300, 68), randomRows(40, 300), nil},
		"columns":             {gguf.GetRows{Type: "Q8_0"}, transposed(garner.U8, 300, 68), randomRows(40, 300), nil},
		"rows that go back":   {torch.QuantizedEmbedding{Bits: 8}, backwards(bounded(t, 300, 100)), randomRows(40, 300), nil},
		"bags":                {torch.QuantizedEmbeddingBag{Bits: 8}, backwards(bounded(t, 300, 100)), matrix(t, randomRows(400, 300), 20, 20), nil},
		"all rows":            {torch.QuantizedEmbeddingUnpack{Bits: 4}, inside(garner.U8, 300, 30), garner.Tensor{}, nil},
		"codes inside a byte": {quantized, inside(garner.U4, 300, 64), randomRows(40, 300), []garner.Tensor{inside(garner.F16, 300, 2), inside(garner.U4, 300, 2)}},
		"codes in columns":    {quantized, transposed(garner.I4, 300, 64), randomRows(40, 300), []garner.Tensor{transposed(garner.F32, 300, 2), transposed(garner.I4, 300, 2)}},
		"packed zero points":  {quantized, everySecond(garner.U8, 300, 32), randomRows(40, 300), []garner.Tensor{everySecond(garner.BF16, 300, 2), everySecond(garner.U8, 300, 1)}},
		"scales alone":        {openvino.CompressedGather{}, randomBytes(t, garner.I8, 300, 50), randomRows(40, 300), []garner.Tensor{everySecond(garner.F32, 300, 1)}},
		"a scale that is one": {openvino.CompressedGather{}, randomBytes(t, garner.I8, 300, 50), randomRows(40, 300), []garner.Tensor{view(everySecond(garner.F16, 4, 1).Slice(0, 3, 4, 1))}},
	} {
		t.Run(name, func(t *testing.T) {
			dense := func(v garner.Tensor) garner.Tensor { return must(t)(v.Clone()) }
			var more []garner.Tensor
			for _, m := range c.more {
				more = append(more, dense(m))
			}
			want, err := garner.Reference(c.op, dense(c.data), c.indices, more...)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := garner.Reference(c.op, c.data, c.indices, c.more...); err != nil || !gathertest.Equal(got, want) {
				t.Errorf("the definition of the views is not that of their copies: %v", err)
			}
			for threads := range 3 {
				p, err := garner.Prepare(c.op, c.data.Spec(), c.indices.Spec(), garner.Threads(threads), garner.FurtherTensors(c.more...))
				if err != nil {
					t.Fatal(err)
				}
				out := must(t)(garner.New(want.DType(), want.Shape()...))
				run := func() {
					if err := p.Run(context.Background(), c.data, c.indices, out, c.more...); err != nil {
						t.Fatal(err)
					}
				}
				if run(); !gathertest.Equal(out, want) {
					t.Errorf("on %d threads the result is not the definition's", threads)
				}
				if n := testing.AllocsPerRun(20, run); n > 0.5 && threads == 1 && !raceEnabled {
					t.Errorf("a run allocates %v times", n)
				}
				if run(); !gathertest.Equal(out, want) {
					t.Errorf("on %d threads a later run differs", threads)
				}
				// The program for views serves dense operands of other strides too.
				data := dense(c.data)
				if !c.indices.DType().Valid() {
					continue
				}
				if err := p.Run(context.Background(), data, c.indices, out, more...); err != nil || !gathertest.Equal(out, want) {
					t.Errorf("on %d threads dense operands differ: %v", threads, err)
				}
			}
		})
	}
}

// TestDecodePart holds that elements are decoded in part, and what it refuses.
func TestDecodePart(t *testing.T) {
	data := must(t)(randomBytes(t, garner.U8, 40, 144).Slice(0, 0, 40, 3))
	plan, err := garner.NewPlan(gguf.GetRows{Type: "Q4_K"}, data.Spec(), garner.SpecOf(garner.I64, 1))
	if err != nil {
		t.Fatal(err)
	}
	whole := must(t)(plan.Stored.Decode(data))
	flat := must(t)(whole.Reshape(whole.Len()))
	for _, c := range [][2]int{{0, 0}, {0, 1}, {255, 2}, {300, 1000}, {whole.Len() - 7, 7}, {whole.Len(), 0}} {
		got, err := plan.Stored.DecodePart(c[0], c[1], data)
		if want := must(t)(flat.Slice(0, c[0], c[0]+c[1], 1)); err != nil || got.Text() != want.Text() {
			t.Errorf("%d elements from element %d: %v", c[1], c[0], err)
		}
	}
	for name, refused := range map[string]error{
		"before":        second(plan.Stored.DecodePart(-1, 2, data)),
		"behind":        second(plan.Stored.DecodePart(whole.Len(), 1, data)),
		"another shape": second(plan.Stored.DecodePart(0, 1, randomBytes(t, garner.U8, 3, 144))),
		"another dtype": second(plan.Stored.Decode(randomBytes(t, garner.I8, 14, 144))),
	} {
		if refused == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second(_ garner.Tensor, err error) error { return err }
