package gathertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
)

// A Law is an equation between gathers. It needs no expected values, so it
// tests any executor.
type Law struct {
	Name string
	Hold func(t testing.TB, run Executor, seed uint64)
}

// Laws lists the equations that hold for every executor.
var Laws = []Law{
	{"compose", compose},
	{"identity", identity},
	{"split", split},
	{"permute", permute},
	{"gather-as-gathernd", gatherAsND},
	{"elements-as-gathernd", elementsAsND},
	{"batch-as-loop", batchAsLoop},
}

// A bench tests a law: a source of random operands, and an executor whose
// errors end the test.
type bench struct {
	testing.TB
	*rand.Rand
	run  Executor
	seed uint64
}

func newBench(t testing.TB, run Executor, seed uint64) bench {
	return bench{t, rand.New(rand.NewPCG(seed, 1)), run, seed}
}

func (b bench) gather(op garner.Op, data, indices garner.Tensor) garner.Tensor {
	b.Helper()
	out, err := b.run(context.Background(), op, data, indices)
	if err != nil {
		b.Fatalf("seed %d: %v", b.seed, err)
	}
	return out
}

func (b bench) equal(law string, left, right garner.Tensor) {
	b.Helper()
	if !Equal(left, right) {
		b.Errorf("seed %d: %s: %v and %v", b.seed, law, left, right)
	}
}

// data returns a random tensor of the given shape and of some dtype.
func (b bench) data(shape ...int) garner.Tensor {
	types := garner.DTypes()
	return tensor(b.Rand, types[b.IntN(len(types))], shape)
}

// below returns n random positions less than dim; none where dim is 0.
func (b bench) below(dim, n int) []int64 {
	if dim == 0 {
		n = 0
	}
	at := make([]int64, n)
	for i := range at {
		at[i] = int64(b.IntN(dim))
	}
	return at
}

// compose: gather(gather(x, i), j) = gather(x, i[j]).
func compose(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	x := b.data(b.IntN(6), 1+b.IntN(5))
	i := b.below(x.Shape()[0], b.IntN(40))
	j := b.below(len(i), b.IntN(40))
	ij := make([]int64, len(j))
	for n, at := range j {
		ij[n] = i[at]
	}
	once := b.gather(gather{0, 0}, x, garner.Of(ij, len(ij)))
	twice := b.gather(gather{0, 0}, b.gather(gather{0, 0}, x, garner.Of(i, len(i))), garner.Of(j, len(j)))
	b.equal("gather(gather(x, i), j) = gather(x, i[j])", twice, once)
}

// identity: gather(x, 0 … n-1) = x, on every axis.
func identity(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	x := b.data(b.IntN(5), 1+b.IntN(5), b.IntN(20))
	axis := b.IntN(3)
	all := make([]int64, x.Shape()[axis])
	for i := range all {
		all[i] = int64(i)
	}
	b.equal("gather(x, 0…n-1) = x", b.gather(gather{axis, 0}, x, garner.Of(all, len(all))), x)
}

// split: gather(x, i ++ j) = gather(x, i) ++ gather(x, j).
func split(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	x := b.data(1+b.IntN(9), 1+b.IntN(9))
	ij := b.below(x.Shape()[0], 2+b.IntN(40))
	cut := b.IntN(len(ij))
	whole := b.gather(gather{0, 0}, x, garner.Of(ij, len(ij)))
	for _, part := range [][2]int{{0, cut}, {cut, len(ij)}} {
		piece, err := whole.Slice(0, part[0], part[1], 1)
		if err != nil {
			b.Fatal(err)
		}
		at := ij[part[0]:part[1]]
		b.equal("gather(x, i ++ j) = gather(x, i) ++ gather(x, j)", b.gather(gather{0, 0}, x, garner.Of(at, len(at))), piece)
	}
}

// permute: gather(gather(x, p), p⁻¹) = x.
func permute(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	n := 1 + b.IntN(60)
	x := b.data(2, n, 1+b.IntN(3))
	p, inverse := make([]int64, n), make([]int64, n)
	for i, at := range b.Perm(n) {
		p[i], inverse[at] = int64(at), int64(i)
	}
	back := b.gather(gather{1, 0}, b.gather(gather{1, 0}, x, garner.Of(p, n)), garner.Of(inverse, n))
	b.equal("gather(gather(x, p), p⁻¹) = x", back, x)
}

// gatherAsND: Gather on axis 0 is GatherND with tuples of one.
func gatherAsND(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	x := b.data(1+b.IntN(9), b.IntN(5), 1+b.IntN(3))
	i := garner.Of(b.below(x.Shape()[0], 12), 3, 4)
	tuples, err := i.Reshape(3, 4, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.equal("Gather = GatherND with k = 1", b.gather(gather{0, 0}, x, i), b.gather(gatherND{0, 0}, x, tuples))
}

// elementsAsND: GatherElements is GatherND with the coordinates spelled out.
func elementsAsND(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	x := b.data(1+b.IntN(5), 1+b.IntN(5), 1+b.IntN(5))
	axis := b.IntN(3)
	shape := append(garner.Shape{}, x.Shape()...)
	shape[axis] = 1 + b.IntN(6)
	n, _ := shape.Len()
	at := b.below(x.Shape()[axis], n)
	tuples := make([]int64, 0, 3*n)
	for i := range n {
		c := []int64{int64(i / (shape[1] * shape[2])), int64(i / shape[2] % shape[1]), int64(i % shape[2])}
		c[axis] = at[i]
		tuples = append(tuples, c...)
	}
	left := b.gather(elements{axis: axis}, x, garner.Of(at, shape...))
	right := b.gather(gatherND{0, 0}, x, garner.Of(tuples, append(shape, 3)...))
	b.equal("GatherElements = GatherND of whole coordinates", left, right)
}

// batchAsLoop: a batch axis equals a loop over its positions.
func batchAsLoop(t testing.TB, run Executor, seed uint64) {
	b := newBench(t, run, seed)
	batches := 1 + b.IntN(4)
	x := b.data(batches, 1+b.IntN(9), 1+b.IntN(4))
	i := garner.Of(b.below(x.Shape()[1], batches*5), batches, 5)
	whole := b.gather(gather{1, 1}, x, i)
	for n := range batches {
		part := func(t garner.Tensor) garner.Tensor {
			v, err := t.Slice(0, n, n+1, 1)
			if err == nil {
				v, err = v.Reshape(t.Shape()[1:]...)
			}
			if err != nil {
				b.Fatal(fmt.Errorf("seed %d: %w", seed, err))
			}
			return v
		}
		b.equal("a batch axis is a loop", b.gather(gather{0, 0}, part(x), part(i)), part(whole))
	}
}
