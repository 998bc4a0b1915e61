package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
)

// plain is an Array that offers Spec and Fetch alone.
type plain struct{ Array }

// into is a Writer that fills memory.
type into struct{ left []byte }

func (w *into) Write(b []byte) (int, error) {
	n := copy(w.left, b)
	w.left = w.left[n:]
	return n, nil
}

// bytesOf returns a tensor's bytes as Gather writes them.
func bytesOf(t testing.TB, v garner.Tensor) []byte {
	t.Helper()
	c, err := v.Clone()
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stored writes a tensor's elements to a file, in the order in which memory holds
// them, and opens it.
func stored(t testing.TB, v garner.Tensor) *File {
	t.Helper()
	m := Memory(v).(*memory)
	b, err := m.bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "array", append([]byte("head"), b...))
	return open(t, m.Spec(), nil, Segment{path, 4, int64(len(b))})
}

func tensor(r *rand.Rand, dtype garner.DType, shape ...int) garner.Tensor {
	v, err := garner.New(dtype, shape...)
	if err != nil {
		panic(err)
	}
	b, _ := v.Bytes()
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return v
}

// turned is a random tensor whose dims are stored in a random order.
func turned(r *rand.Rand, dtype garner.DType, shape ...int) garner.Tensor {
	perm := r.Perm(len(shape))
	base := make([]int, len(shape))
	for i, p := range perm {
		base[p] = shape[i]
	}
	v, err := tensor(r, dtype, base...).Transpose(perm...)
	if err != nil {
		panic(err)
	}
	return v
}

func fillIndices(r *rand.Rand, v garner.Tensor, dim, bad int) {
	for i := range v.Len() {
		at := r.IntN(dim)
		if bad > 0 && r.IntN(bad) == 0 {
			at = dim + r.IntN(3)
		}
		if v.SetText(i, fmt.Sprint(at)) != nil {
			v.SetText(i, "0")
		}
	}
}

// randomGather returns a random operator with random policies and operands: some
// indices are outside, and dims are stored in any order.
func randomGather(r *rand.Rand) (op garner.Op, data, at garner.Tensor) {
	dtypes := []garner.DType{garner.U8, garner.F16, garner.F32, garner.F64, garner.U4, garner.U1, garner.I2, garner.Complex128}
	dtype := dtypes[r.IntN(len(dtypes))]
	index := []garner.DType{garner.I32, garner.I64, garner.U8, garner.U4, garner.U64}[r.IntN(5)]
	dims := []int{1 + r.IntN(3), 1 + r.IntN(9), 1 + r.IntN(3), 1 + r.IntN(14)}
	axis := r.IntN(4)
	bad := []int{0, 0, 1000, 20}[r.IntN(4)]
	switch r.IntN(4) {
	case 0:
		batch := r.IntN(axis + 1)
		op = openvino.Gather8{Axis: axis, BatchDims: batch}
		at = turned(r, index, append(append([]int{}, dims[:batch]...), r.IntN(5), 1+r.IntN(6))...)
		fillIndices(r, at, dims[axis], bad)
	case 1:
		op = onnx.GatherElements13{Axis: axis}
		shape := append([]int{}, dims...)
		shape[axis] = 1 + r.IntN(8)
		at = turned(r, index, shape...)
		fillIndices(r, at, dims[axis], bad)
	case 2:
		k := r.IntN(4)
		op = onnx.GatherND13{BatchDims: 1}
		at = turned(r, index, dims[0], r.IntN(9), k)
		fillIndices(r, at, min(dims[1], dims[2], dims[3]), bad)
	case 3:
		op = onnx.Gather13{Axis: axis}
		at = turned(r, index, 1+r.IntN(30))
		fillIndices(r, at, dims[axis], bad)
	}
	switch r.IntN(6) {
	case 0:
		op = garner.WithOutside(op, garner.Clamp)
	case 1:
		op = garner.WithOutside(op, garner.Wrap)
	case 2:
		fill := tensor(r, dtype)
		op = garner.WithFill(op, fill)
	}
	return op, turned(r, dtype, dims...), at
}

// FuzzGather gathers random operands with random budgets, and compares the result
// with garner.Gather's.
func FuzzGather(f *testing.F) {
	for seed := range uint64(80) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		op, data, at := randomGather(r)
		var from int64
		if r.IntN(3) == 0 {
			from = int64(r.IntN(100))
		}
		same(t, fmt.Sprint("seed ", seed), op, data, at, from, []int64{0, 1, 1 + r.Int64N(200), 1 + r.Int64N(5000), 1 << 20})
	})
}

// same compares Gather and GatherInto with garner.Gather, with every budget, over
// files, memory and Arrays that only fetch.
func same(t *testing.T, about string, op garner.Op, data, indices garner.Tensor, from int64, budgets []int64) {
	t.Helper()
	want, wantErr := garner.Gather(op, data, indices)
	var all []byte
	if wantErr == nil {
		all = bytesOf(t, want)
		from = min(from, int64(want.Len()))
	} else {
		from = 0
	}
	for name, arrays := range map[string][2]Array{
		"files":  {stored(t, data), stored(t, indices)},
		"memory": {Memory(data), Memory(indices)},
		"plain":  {plain{Memory(data)}, plain{Memory(indices)}},
	} {
		for _, budget := range budgets {
			about := fmt.Sprintf("%s: %s, budget %d, from %d, %v of %v at %v", about, name, budget, from, op, data.Spec(), indices.Spec())
			gatherInto(t, about, op, arrays, Options{Memory: budget}, want, wantErr)
			var out bytes.Buffer
			last := int64(-1)
			o, rest := Options{Memory: budget}, all
			if wantErr == nil && from > 0 {
				o.Range = &Range{from, int64(want.Len())}
				rest = elementsOf(all, want.DType().Bits(), *o.Range)
			}
			o.Progress = func(done, total int64) {
				if done < last || total != int64(len(rest)) && wantErr == nil {
					t.Errorf("%s: progress %d of %d after %d", about, done, total, last)
				}
				last = done
			}
			err := Gather(context.Background(), op, arrays[0], arrays[1], &out, o)
			switch {
			case wantErr != nil:
				if err == nil || err.Error() != wantErr.Error() {
					t.Fatalf("%s: %v, want %v", about, err, wantErr)
				}
				var bad *garner.IndexError
				if errors.As(wantErr, &bad) != errors.As(err, &bad) {
					t.Fatalf("%s: %#v", about, err)
				}
			case err != nil:
				t.Fatalf("%s: %v", about, err)
			case !bytes.Equal(out.Bytes(), rest):
				t.Fatalf("%s: %x, want %x", about, out.Bytes(), rest)
			case last != int64(len(rest)):
				t.Fatalf("%s: progress ended at %d of %d", about, last, len(rest))
			}
		}
	}
}

// gatherInto compares GatherInto with garner.Gather's result.
func gatherInto(t *testing.T, about string, op garner.Op, arrays [2]Array, o Options, want garner.Tensor, wantErr error) {
	t.Helper()
	if wantErr != nil {
		return
	}
	out, err := garner.New(want.DType(), want.Shape()...)
	if err != nil {
		t.Fatal(err)
	}
	if err := GatherInto(context.Background(), op, arrays[0], arrays[1], out, o); err != nil || !gathertest.Equal(out, want) {
		t.Fatalf("%s: into memory: %v, %v, want %v", about, err, out, want)
	}
	turned, err := out.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	if turned, err = turned.Clone(); err != nil {
		t.Fatal(err)
	}
	if turned, err = turned.Transpose(); err != nil {
		t.Fatal(err)
	}
	if err := GatherInto(context.Background(), op, arrays[0], arrays[1], turned, o); err != nil || !gathertest.Equal(turned, want) {
		t.Fatalf("%s: into a view: %v, %v, want %v", about, err, turned, want)
	}
}
