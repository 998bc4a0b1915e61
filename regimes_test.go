package garner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/strict"
)

// TestRegimes holds every way that data larger than the caches takes against
// the definition, in every form of the kernels.
func TestRegimes(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	past := 2000000 // rows of 16 bytes, past the caches
	if raceEnabled || runtime.GOARCH != "amd64" {
		past /= 20 // there is no assembly, or none that the detector sees, and the definition takes ten times as long
	}
	for _, tt := range []struct {
		name          string
		op            garner.Op
		dtype         garner.DType
		data, indices []int
		index         garner.DType
	}{
		{"elements of 1", strict.Gather{}, garner.U8, []int{3 << 20}, []int{50000}, garner.I64},
		{"elements of 2", strict.Gather{}, garner.F16, []int{1 << 20}, []int{50001}, garner.I32},
		{"elements of 4", strict.Gather{}, garner.F32, []int{1 << 19}, []int{33333}, garner.I64},
		{"elements of 8", strict.Gather{}, garner.I64, []int{1 << 18}, []int{33333}, garner.I32},
		{"elements of 16", strict.Gather{}, garner.Complex128, []int{1 << 17}, []int{20000}, garner.I64},
		{"elements by u64", strict.Gather{}, garner.F32, []int{1 << 19}, []int{20000}, garner.U64},
		{"elements by i16", strict.Gather{}, garner.F32, []int{1 << 15}, []int{20000}, garner.I16},
		{"rows of 3 bytes", strict.Gather{}, garner.U8, []int{1 << 20, 3}, []int{20000}, garner.I64},
		{"rows of 7 bytes", strict.Gather{}, garner.U8, []int{1 << 19, 7}, []int{20000}, garner.I32},
		{"rows of 12 bytes", strict.Gather{}, garner.F32, []int{1 << 18, 3}, []int{20000}, garner.I64},
		{"rows of 20 bytes", strict.Gather{}, garner.F32, []int{1 << 17, 5}, []int{20000}, garner.I64},
		{"rows of 60 bytes", strict.GatherND{}, garner.F32, []int{100, 16, 40, 15}, []int{5000, 3}, garner.I64},
		{"rows of 64 bytes", strict.Gather{}, garner.F32, []int{1 << 15, 16}, []int{9000}, garner.I64},
		{"rows of 100 bytes", strict.Gather{}, garner.F32, []int{20000, 25}, []int{5000}, garner.I64},
		{"rows of 3 KiB", strict.Gather{}, garner.F32, []int{1000, 768}, []int{300}, garner.I64},
		{"rows of 1 MiB", strict.Gather{}, garner.U8, []int{3, 1<<20 + 5}, []int{4}, garner.I64},
		{"pairs", strict.GatherND{}, garner.F32, []int{512, 1024}, []int{20000, 2}, garner.I64},
		{"pairs by u64", strict.GatherND{}, garner.F32, []int{512, 1024}, []int{20000, 2}, garner.U64},
		{"triples by u32", strict.GatherND{}, garner.F32, []int{64, 64, 128}, []int{20000, 3}, garner.U32},
		{"elements by u8", strict.Gather{}, garner.F16, []int{200}, []int{20000}, garner.U8},
		{"elements of 16 near", strict.Gather{}, garner.Complex128, []int{1 << 10}, []int{past}, garner.I64},
		{"fours", strict.GatherND{}, garner.I16, []int{16, 32, 40, 64}, []int{20000, 4}, garner.I32},
		{"sixes", strict.GatherND{}, garner.I8, []int{8, 16, 8, 8, 16, 16}, []int{9000, 6}, garner.I64},
		{"sevens", strict.GatherND{}, garner.I8, []int{8, 4, 4, 8, 8, 16, 16}, []int{9000, 7}, garner.I64},
		{"batches", strict.GatherND{BatchDims: 1}, garner.F32, []int{16, 8192, 4}, []int{16, 1000, 1}, garner.I64},
		{"columns of the last axis", strict.Gather{Axis: 1}, garner.F32, []int{300, 2048}, []int{500}, garner.I64},
		{"few columns of the last axis", strict.Gather{Axis: 1}, garner.F32, []int{300, 2048}, []int{11}, garner.I64},
		{"many columns of the last axis", strict.Gather{Axis: 1}, garner.U8, []int{20, 1 << 17}, []int{70000}, garner.I64},
		{"a middle axis", strict.Gather{Axis: 1}, garner.F32, []int{20, 30, 500}, []int{70}, garner.I64},
		{"elements along the last axis", strict.GatherElements{Axis: 1}, garner.F32, []int{300, 2048}, []int{300, 500}, garner.I64},
		{"few elements along the last axis", strict.GatherElements{Axis: 1}, garner.F32, []int{300, 2048}, []int{300, 7}, garner.I64},
		{"many elements along the last axis", strict.GatherElements{Axis: 1}, garner.F32, []int{30, 20000}, []int{30, 9000}, garner.I64},
		{"elements along the first axis", strict.GatherElements{}, garner.F32, []int{2000, 300}, []int{500, 300}, garner.I64},
		{"elements along the first axis, by i32", strict.GatherElements{}, garner.I8, []int{2000, 1100}, []int{130, 1100}, garner.I32},
		{"elements along a middle axis", strict.GatherElements{Axis: 1}, garner.I16, []int{3, 1500, 300}, []int{3, 200, 300}, garner.I64},
		{"few elements along the first axis", strict.GatherElements{}, garner.F32, []int{2000, 1024}, []int{50, 1024}, garner.I64},
		{"few elements, odd, along the first axis", strict.GatherElements{}, garner.F32, []int{2000, 1021}, []int{50, 1021}, garner.I64},
		{"elements along the last axis, near", strict.GatherElements{Axis: 1}, garner.F32, []int{500, 100}, []int{500, 33}, garner.I64},
		{"bytes along the last axis, near", strict.GatherElements{Axis: 2}, garner.U8, []int{20, 30, 101}, []int{20, 30, 50}, garner.I32},
		{"elements along the first axis, near", strict.GatherElements{}, garner.F64, []int{100, 301}, []int{700, 301}, garner.I64},
		{"halves along the first axis, near", strict.GatherElements{}, garner.F16, []int{100, 301}, []int{700, 301}, garner.I32},
		{"elements along a middle axis, near in turn", strict.GatherElements{Axis: 1}, garner.F32, []int{40, 100, 90}, []int{40, 60, 90}, garner.I64},
		{"columns of the last axis by u8", strict.Gather{Axis: 1}, garner.F32, []int{5000, 64}, []int{10}, garner.U8},
		{"bytes of the last axis", strict.Gather{Axis: 1}, garner.U8, []int{5000, 301}, []int{113}, garner.I64},
		{"columns of a middle axis", strict.Gather{Axis: 1}, garner.I64, []int{30, 500, 1}, []int{300}, garner.U32},
		{"many columns of long rows", strict.Gather{Axis: 1}, garner.F32, []int{6, 60000}, []int{16384}, garner.I64},
		{"many turns of few elements", strict.GatherElements{Axis: 1}, garner.F32, []int{20000, 8, 4}, []int{20000, 2, 4}, garner.I64},
		{"elements along the first axis, by u32", strict.GatherElements{}, garner.F32, []int{2000, 300}, []int{500, 300}, garner.U32},
	} {
		for _, policy := range []string{"", "zero", "clamp", "wrap", "one refused"} {
			t.Run(tt.name+" "+policy, func(t *testing.T) {
				data, err := garner.New(tt.dtype, tt.data...)
				if err != nil {
					t.Fatal(err)
				}
				b, _ := data.Bytes()
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				indices, err := garner.New(tt.index, tt.indices...)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := garner.NewPlan(tt.op, data.Spec(), indices.Spec())
				if err != nil {
					t.Fatal(err)
				}
				outside := -1
				if policy != "" {
					outside = r.IntN(indices.Len())
				}
				for i := range indices.Len() {
					dim := plan.Axes[i%len(plan.Axes)].Dim
					v := r.IntN(dim)
					if i == outside || policy != "" && policy != "one refused" && r.IntN(50) == 0 {
						v = dim + r.IntN(2)
					}
					if tt.index.Bits() == 16 {
						v = min(v, 1<<15-1)
					}
					if err := indices.SetText(i, fmt.Sprint(v)); err != nil {
						t.Fatal(err)
					}
				}
				op := tt.op
				switch policy {
				case "zero":
					op = garner.WithOutside(op, garner.Zero)
				case "clamp":
					op = garner.WithOutside(op, garner.Clamp)
				case "wrap":
					op = garner.WithOutside(op, garner.Wrap)
				}
				want, wantErr := garner.Reference(op, data, indices)
				for _, form := range kernel.Forms() {
					restore := kernel.Use(form)
					for _, threads := range []int{1, 3} {
						p := prepare(t, op, data, indices, garner.Threads(threads))
						out, err := garner.New(plan.DType, plan.Out...)
						if err != nil {
							t.Fatal(err)
						}
						err = p.Run(context.Background(), data, indices, out)
						switch {
						case fmt.Sprint(err) != fmt.Sprint(wantErr):
							t.Errorf("%s, %d threads: %v, want %v", form, threads, err, wantErr)
						case err == nil && !gathertest.Equal(out, want):
							t.Errorf("%s, %d threads: differs from the definition", form, threads)
						}
					}
					restore()
				}
			})
		}
	}
}
