package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/onnx"
)

// TestPartRange holds that parts are contiguous, that together they are the axis, and that
// they differ by one element at most.
func TestPartRange(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1000, math.MaxInt} {
		for _, of := range []int{0, 1, 2, 3, 7, 64, 65} {
			last := 0
			for number := 1; number <= max(of, 1); number++ {
				p := Part{number, of}
				if of == 0 {
					p = Part{}
				}
				first, end := p.axis(n)
				if first != last || end < first {
					t.Fatalf("part %d of %d of %d elements is %d … %d behind %d", number, of, n, first, end, last)
				}
				if more := end - first - n/max(of, 1); more < 0 || more > 1 {
					t.Fatalf("part %d of %d of %d elements has %d", number, of, n, end-first)
				}
				last = end
			}
			if last != n {
				t.Fatalf("%d parts of %d elements end at %d", of, n, last)
			}
		}
	}
}

// TestPartRefused holds what is no part.
func TestPartRefused(t *testing.T) {
	data := garner.Of([]float32{1, 2, 3}, 3)
	for _, p := range []Part{{0, 2}, {3, 2}, {-1, 2}, {1, 0}, {0, 1}, {2, 1}, {1, -1}} {
		if r, err := p.Range(garner.Shape{1}); !errors.Is(err, garner.ErrShape) {
			t.Errorf("%v: %v, %v", p, r, err)
		}
	}
	for _, r := range []Range{{-1, 2}, {0, 3}, {2, 1}, {3, 3}} {
		if err := Gather(t.Context(), onnx.Gather13{}, Memory(data), Memory(garner.Of([]int64{1, 2}, 2)), new(bytes.Buffer), Options{Range: &r}); !errors.Is(err, garner.ErrShape) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if r, err := (Part{1, 2}).Range(nil); !errors.Is(err, garner.ErrShape) {
		t.Errorf("a result without axes: %v, %v", r, err)
	}
}

// elementsOf returns elements of so many bits as Gather writes a range of them.
func elementsOf(all []byte, bits int, r Range) []byte {
	first, end := int(r.First)*bits, int(r.End)*bits
	out := make([]byte, (end-first+7)/8)
	for i := range end - first {
		out[i/8] |= all[(first+i)/8] >> ((first + i) % 8) & 1 << (i % 8)
	}
	return out
}

// inParts returns an executor that joins so many parts, each of which is begun twice.
func inParts(t testing.TB, make func(garner.Tensor) Array, budget int64, of int, seed uint64) gathertest.Executor {
	r := rand.New(rand.NewPCG(seed, 18))
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		o := Options{Threads: 2, Memory: budget}
		for _, x := range more {
			if !x.DType().Valid() {
				o.Further = append(o.Further, nil)
				continue
			}
			o.Further = append(o.Further, make(x))
		}
		at := Memory(indices)
		if indices.DType().Valid() {
			at = make(indices)
		}
		rows := make(data)
		plan, err := NewPlan(ctx, op, rows, at, o.Further...)
		if err != nil {
			return garner.Tensor{}, err
		}
		if len(plan.Out) == 0 {
			of = 1
		}
		out, err := garner.New(plan.DType, plan.Out...)
		if err != nil {
			return out, err
		}
		var bad error
		for number := 1; number <= of; number++ {
			p := Part{number, of}
			shape, err := p.Shape(plan.Out)
			if err != nil {
				return out, err
			}
			whole, err := p.Range(plan.Out)
			if err != nil {
				return out, err
			}
			o.Range = &whole
			var written bytes.Buffer
			if err := Gather(ctx, op, rows, at, &written, o); err != nil {
				if bad == nil {
					bad = err
				} else if err.Error() != bad.Error() {
					t.Fatalf("%d of %d: %v; another part said %v", number, of, err, bad)
				}
				continue
			}
			first := r.Int64N(whole.End - whole.First + 1)
			for _, some := range []Range{{first, whole.End - whole.First}, {first, first + r.Int64N(whole.End-whole.First-first+1)}} {
				o.Range = &Range{whole.First + some.First, whole.First + some.End}
				var piece bytes.Buffer
				if err := Gather(ctx, op, rows, at, &piece, o); err != nil {
					return out, err
				}
				if want := elementsOf(written.Bytes(), plan.DType.Bits(), some); !bytes.Equal(piece.Bytes(), want) {
					t.Fatalf("%d of %d, %+v: %x, want %x of %x", number, of, some, piece.Bytes(), want, written.Bytes())
				}
			}
			part, err := garner.FromBytes(plan.DType, written.Bytes(), shape...)
			if err != nil {
				return out, err
			}
			place := out
			if len(shape) > 0 {
				first, end := p.axis(plan.Out[0])
				if place, err = out.Slice(0, first, end, 1); err != nil {
					return out, err
				}
			}
			if err := garner.Copy(place, part); err != nil {
				return out, err
			}
		}
		return out, bad
	}
}

// TestParts holds that the parts of a result, joined, are the result, and that a bad index
// in any of them is the error of the whole.
func TestParts(t *testing.T) {
	make := map[string]func(t *testing.T) func(garner.Tensor) Array{
		"file": func(t *testing.T) func(garner.Tensor) Array {
			return func(x garner.Tensor) Array { return stored(t, x) }
		},
		"memory": func(*testing.T) func(garner.Tensor) Array { return Memory },
		"fetched": func(*testing.T) func(garner.Tensor) Array {
			return func(x garner.Tensor) Array { return plain{Memory(x)} }
		},
	}
	for name, make := range make {
		for _, of := range []int{1, 2, 3, 7, 40} {
			t.Run(fmt.Sprintf("%s, %d parts", name, of), func(t *testing.T) {
				for seed := range uint64(60) {
					t.Run("", func(t *testing.T) {
						r := rand.New(rand.NewPCG(seed, uint64(of)))
						budget := []int64{0, 1, 300, 1 << 20}[seed%4]
						op, data, at := randomGather(r)
						want, wantErr := garner.Gather(op, data, at)
						got, err := inParts(t, make(t), budget, of, seed)(t.Context(), op, data, at)
						if fmt.Sprint(err) != fmt.Sprint(wantErr) {
							t.Fatalf("%v; want %v", err, wantErr)
						}
						if err == nil && !gathertest.Equal(got, want) {
							t.Fatalf("%v of %v at %v: %v; want %v", op, data.Spec(), at.Spec(), got, want)
						}
					})
				}
				for seed := range uint64(20) {
					t.Run("bags", func(t *testing.T) { gathertest.RandomBags(seed+300).Hold(t, inParts(t, make(t), 0, of, seed)) })
					t.Run("stored", func(t *testing.T) { gathertest.RandomStored(seed+300).Hold(t, inParts(t, make(t), 0, of, seed)) })
				}
			})
		}
	}
}
