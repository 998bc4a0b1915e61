// Package gathertest tests executors of plans: it holds them against the
// definition on random gathers, and against laws, which need no expected
// values.
package gathertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/convert"
)

// An Executor runs an operator: garner.GatherContext, or another that must
// return the same results and errors.
type Executor func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error)

// Equal reports whether two tensors agree in dtype, shape and every bit.
func Equal(a, b garner.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.DType() == garner.String {
		x, errX := stringsOf(a)
		y, errY := stringsOf(b)
		if errX != nil || errY != nil || len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	x, errX := bytesOf(a)
	y, errY := bytesOf(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func bytesOf(t garner.Tensor) ([]byte, error) {
	if b, err := t.Bytes(); err == nil && !t.DType().Packed() {
		return b, nil
	}
	c, err := t.Clone() // a clone clears the unused bits of the last byte
	if err != nil {
		return nil, err
	}
	return c.Bytes()
}

func stringsOf(t garner.Tensor) ([]string, error) {
	c, err := t.Clone()
	if err != nil {
		return nil, err
	}
	return garner.Values[string](c)
}

// Check runs op by the definition, on one core and on all, over the operands
// and over strided views of them. Every result must equal want. more are the
// operator's further operands.
func Check(t testing.TB, op garner.Op, data, indices, want garner.Tensor, more ...garner.Tensor) {
	t.Helper()
	for name, run := range forms() {
		got, err := run(context.Background(), op, data, indices, more...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	out, err := garner.Infer(op, data.Spec(), indices.Spec(), specs(more)...)
	if err != nil {
		t.Errorf("Infer: %v", err)
	} else if shape, ok := out.Shape(); !ok || out.DType != want.DType() || !shape.Equal(want.Shape()) {
		t.Errorf("Infer: %v, want %v%v", out, want.DType(), want.Shape())
	}
}

// CheckError runs op in every form. Every run must fail with an error of the
// class and the same message, which CheckError returns.
func CheckError(t testing.TB, op garner.Op, data, indices garner.Tensor, class error, more ...garner.Tensor) string {
	t.Helper()
	message := ""
	for name, run := range forms() {
		got, err := run(context.Background(), op, data, indices, more...)
		switch {
		case err == nil:
			t.Errorf("%s: %v, want an error of class %v", name, got, class)
		case !errors.Is(err, class):
			t.Errorf("%s: %v, want an error of class %v", name, err, class)
		case message == "":
			message = err.Error()
		case message != err.Error():
			t.Errorf("%s: %q, another form says %q", name, err, message)
		}
	}
	return message
}

func forms() map[string]Executor {
	prepared := func(threads int) Executor {
		return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
			p, err := garner.Prepare(op, data.Spec(), indices.Spec(), garner.Threads(threads), garner.Further(specs(more)...))
			if err != nil {
				return garner.Tensor{}, err
			}
			if p.Plan() == nil { // only the further operands' elements tell the result's shape
				return garner.GatherContext(ctx, op, data, indices, more...)
			}
			out, err := garner.New(p.Plan().DType, p.Plan().Out...)
			if err != nil {
				return garner.Tensor{}, err
			}
			return out, p.Run(ctx, data, indices, out, more...)
		}
	}
	return map[string]Executor{
		"the definition": func(_ context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
			return garner.Reference(op, data, indices, more...)
		},
		"all cores": garner.GatherContext,
		"one core":  prepared(1),
		"3 threads": prepared(3),
		"strided operands": func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
			all := append([]garner.Tensor{data, indices}, more...)
			for i, t := range all {
				var err error
				if all[i], err = strided(t); err != nil {
					return garner.Tensor{}, err
				}
			}
			return garner.GatherContext(ctx, op, all[0], all[1], all[2:]...)
		},
	}
}

// specs returns the specs of further operands; the zero Tensor has the zero Spec.
func specs(more []garner.Tensor) []garner.Spec {
	all := make([]garner.Spec, len(more))
	for i, t := range more {
		all[i] = t.Spec()
	}
	return all
}

// strided returns the same tensor as a view with negative strides along the
// first axis and gaps along the last.
func strided(t garner.Tensor) (garner.Tensor, error) {
	if t.Rank() == 0 || t.Len() == 0 {
		return t, nil
	}
	shape := append(garner.Shape{}, t.Shape()...)
	last := len(shape) - 1
	shape[last] *= 2
	wide, err := garner.New(t.DType(), shape...)
	if err != nil {
		return garner.Tensor{}, err
	}
	v, err := wide.Slice(last, 1, shape[last], 2)
	if err != nil {
		return garner.Tensor{}, err
	}
	if v, err = v.Slice(0, v.Shape()[0]-1, -1, -1); err != nil {
		return garner.Tensor{}, err
	}
	return v, garner.Copy(v, t)
}

// A Case is a random gather.
type Case struct {
	Op            garner.Op
	Data, Indices garner.Tensor   // the zero Tensor for the indices of an Unindexed
	Further       []garner.Tensor // the operands behind the indices
	Computes      bool            // the result is calculated or decoded, so any NaN is as good as another
	About         string

	seed     uint64
	bare     garner.Op // without the policies below
	negative garner.Negative
	outside  garner.Outside
	fill     garner.Tensor
	vector   int // dim of the indices that holds the tuples; -1: each index is a tuple
}

// The operators of gathers that move elements: the lowerings of the dialects, with
// every choice free.
type (
	gather   struct{ axis, batch int }
	gatherND struct{ batch, flatten int }
	elements struct {
		axis  int
		align garner.Alignment
	}
	flat    struct{ all bool } // all: the result is flat too
	scalars struct {           // operands of rank 0 count as vectors of one element
		axis  int
		along bool // one element per index; else slices
	}
	windows struct {
		numbers garner.DimensionNumbers
		sizes   []int
	}
)

func (g gather) Lower(l *garner.Lowering) {
	axis := l.NeedRanks(1, 0).Axis(g.axis)
	b := l.BatchDims(g.batch, axis)
	l.Batch(b).Outer(axis - b).Gather().Tuples().Copy()
}

func (g gatherND) Lower(l *garner.Lowering) {
	b := l.NeedRanks(1, 1).BatchDimsND(g.batch)
	k := l.TupleLen(b)
	l.Batch(b).Components(k).Tuples().Copy().Flatten(g.flatten)
}

func (g elements) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1).SameRank()
	l.Elements(l.Axis(g.axis), g.align)
}

func (f flat) Lower(l *garner.Lowering) {
	l.FlattenData().Gather().Tuples()
	if f.all {
		l.FlattenAll()
	}
}

func (s scalars) Lower(l *garner.Lowering) {
	data, indices := l.DataAsVector(), l.IndicesAsVector()
	if s.along {
		if l.Elements(s.axis, garner.Within); indices {
			l.Hide()
		}
		return
	}
	if l.Outer(s.axis).Gather().Tuples(); data {
		l.Hide()
	}
	l.Copy()
}

func (w windows) Lower(l *garner.Lowering) { l.Windows(w.numbers, w.sizes, false) }

var integers = []garner.DType{garner.I64, garner.I32, garner.I8, garner.I16, garner.U8, garner.U16, garner.U32, garner.U64, garner.I4, garner.U4, garner.I2, garner.U2, garner.U1}

// Random returns the gather of a seed: one in five is of RandomBags, one of
// RandomStored, and the others are of RandomElements.
func Random(seed uint64) Case {
	switch seed % 5 {
	case 3:
		return RandomBags(seed)
	case 4:
		return RandomStored(seed)
	}
	return RandomElements(seed)
}

// RandomElements returns a gather that moves elements as they are: any operator,
// dtype, shape, view and policy. Most indices are inside; in about one of four gathers
// some are not.
func RandomElements(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	dim := func() int {
		switch r.IntN(12) {
		case 0:
			return 0
		case 1, 2:
			return 1
		case 3:
			return 1 + r.IntN(40)
		}
		return 1 + r.IntN(5)
	}
	shape := func(n int) []int {
		s := make([]int, n)
		for i := range s {
			s[i] = dim()
		}
		return s
	}
	small := func(s []int) bool { n, ok := garner.Shape(s).Len(); return ok && n <= 20000 }

	c := Case{seed: seed}
	var ds, is []int
	rank := 1 + r.IntN(5)
	for {
		ds, c.vector = shape(rank), -1
		switch r.IntN(7) {
		case 0, 1:
			b := r.IntN(rank)
			axis := b + r.IntN(rank-b)
			is = append(append([]int{}, ds[:b]...), shape(r.IntN(3))...)
			g := gather{axis, b}
			if r.IntN(3) == 0 {
				g.axis -= rank
			}
			c.bare, c.About = g, fmt.Sprintf("Gather axis %d batch_dims %d", g.axis, b)
		case 2:
			b := r.IntN(rank)
			k := r.IntN(rank - b + 1)
			is = append(append([]int{}, ds[:b]...), append(shape(r.IntN(3)), k)...)
			c.vector = len(is) - 1
			g := gatherND{b, 0}
			if b > 1 && r.IntN(2) == 0 {
				g.flatten = b
			}
			c.bare, c.About = g, fmt.Sprintf("GatherND batch_dims %d k %d flatten %d", b, k, g.flatten)
		case 3:
			e := elements{axis: r.IntN(rank), align: garner.Alignment(r.IntN(3))}
			is = append([]int{}, ds...)
			is[e.axis] = dim()
			for i := range is {
				switch {
				case i == e.axis:
				case e.align == garner.Within:
					is[i] = r.IntN(is[i] + 1)
				case e.align == garner.Broadcast && r.IntN(3) == 0:
					is[i] = 1
				case e.align == garner.Broadcast && r.IntN(3) == 0:
					is[i], ds[i] = dim(), 1
				}
			}
			c.bare, c.About = e, fmt.Sprintf("GatherElements axis %d align %d", e.axis, e.align)
		case 4:
			f := flat{r.IntN(2) == 0}
			is = shape(r.IntN(3))
			c.bare, c.About = f, fmt.Sprintf("flat, all %v", f.all)
		case 5:
			s := scalars{along: r.IntN(2) == 0}
			ds, is = shape(r.IntN(2)), shape(r.IntN(2))
			switch {
			case s.along:
			case len(ds) == 0 && len(is) == 1:
				is[0] = 1
			case r.IntN(2) == 0:
				ds = shape(rank)
				s.axis = r.IntN(rank)
			}
			c.bare, c.About = s, fmt.Sprintf("scalars axis %d along %v", s.axis, s.along)
		case 6:
			var w windows
			w, is, c.vector = randomWindows(r, ds, shape(r.IntN(3)))
			c.bare, c.About = w, fmt.Sprintf("windows %+v", w)
		}
		c.Op = c.bare
		out, err := garner.Infer(c.Op, garner.SpecOf(garner.U8, ds...), garner.SpecOf(garner.I64, is...))
		if err != nil {
			panic(fmt.Sprintf("%s data %v indices %v: %v", c.About, ds, is, err)) // the cases above are valid by construction
		}
		if o, _ := out.Shape(); small(ds) && small(is) && small(o) {
			break
		}
	}
	types := garner.DTypes()
	c.Data = tensor(r, types[r.IntN(len(types))], ds)
	it := garner.I64
	if r.IntN(2) == 0 {
		it = integers[r.IntN(len(integers))]
	}
	c.Indices = tensor(r, it, is)
	fillIndices(r, c, c.Op, nil, r.IntN(4) == 0)
	c.policies(r, c.Data.DType())
	c.describe()
	return c
}

// policies puts policies at random in place of the operator's own, for elements of a
// dtype.
func (c *Case) policies(r *rand.Rand, dtype garner.DType) {
	if r.IntN(3) == 0 {
		c.negative = garner.FromEnd
		c.Op = garner.WithNegative(c.Op, garner.FromEnd)
		c.About += " from-end"
	}
	c.outside = [...]garner.Outside{garner.Error, garner.Error, garner.Zero, garner.Clamp, garner.Wrap, garner.Fill}[r.IntN(6)]
	switch {
	case c.outside == garner.Fill:
		c.fill = tensor(r, dtype, nil)
		c.Op = garner.WithFill(c.Op, c.fill)
	case c.outside != garner.Error:
		c.Op = garner.WithOutside(c.Op, c.outside)
		if c.outside == garner.Zero && !dtype.HasZero() {
			c.outside = garner.Error // that is what such a dtype makes of it
		}
	}
	c.About += " " + c.outside.String()
}

// describe adds the operands to About.
func (c *Case) describe() {
	c.About = fmt.Sprintf("%s data %v%v strides %v indices %v%v strides %v", c.About,
		c.Data.DType(), c.Data.Shape(), c.Data.Strides(), c.Indices.DType(), c.Indices.Shape(), c.Indices.Strides())
	for _, t := range c.Further {
		c.About += fmt.Sprintf(" and %v", t)
	}
}

// randomWindows returns dimension numbers for data, the shape of the indices
// that fit them, and the dim of the indices that holds the tuples, -1 where
// each index is a tuple. starts are the dims of the indices that are neither
// batch dims nor that one.
func randomWindows(r *rand.Rand, data, starts []int) (w windows, indices []int, vector int) {
	dims := r.Perm(len(data))
	batching := dims[:r.IntN(len(dims)+1)/2]
	slices.Sort(batching)
	var free, collapsed []int
	w.sizes = make([]int, len(data))
	for _, d := range dims[len(batching):] {
		switch {
		case data[d] > 0 && r.IntN(3) == 0:
			collapsed = append(collapsed, d)
			w.sizes[d] = 1
		case data[d] > 0:
			w.sizes[d] = 1 + r.IntN(data[d])
		}
		free = append(free, d)
	}
	for _, d := range batching {
		w.sizes[d] = min(1, data[d])
	}
	slices.Sort(collapsed)
	mapped := free[:r.IntN(len(free)+1)]

	// The dims of the indices; batches is the dim of data that a batch dim
	// goes with, else -1.
	type dim struct{ extent, batches int }
	var list []dim
	for _, n := range starts {
		list = append(list, dim{n, -1})
	}
	for _, d := range batching {
		list = append(list, dim{data[d], d})
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	rank := len(list) + len(free) - len(collapsed)
	vector = -1
	if len(mapped) != 1 || r.IntN(2) == 0 {
		vector = r.IntN(len(list) + 1)
		list = slices.Insert(list, vector, dim{len(mapped), -1})
	}
	pairs := make([]int, len(batching))
	for i, d := range list {
		if indices = append(indices, d.extent); d.batches >= 0 {
			pairs[slices.Index(batching, d.batches)] = i
		}
	}
	offset := r.Perm(rank)[:len(free)-len(collapsed)]
	slices.Sort(offset)
	w.numbers = garner.DimensionNumbers{
		OffsetDims: offset, CollapsedSliceDims: collapsed, OperandBatchingDims: batching,
		StartIndicesBatchingDims: pairs, StartIndexMap: mapped, IndexVectorDim: vector,
	}
	if vector < 0 {
		w.numbers.IndexVectorDim = len(list)
	}
	return w, indices, vector
}

// tensor returns a tensor of random bits, in half of the cases a view:
// permuted, with gaps, backwards, or with an offset.
func tensor(r *rand.Rand, d garner.DType, shape []int) garner.Tensor {
	perm := r.Perm(len(shape))
	if r.IntN(2) == 0 {
		for i := range perm {
			perm[i] = i
		}
	}
	base := make([]int, len(shape))
	for i, p := range perm {
		base[p] = shape[i]
	}
	type cut struct{ from, to, step int }
	cuts := make([]cut, len(base))
	for i, n := range base {
		cuts[i] = cut{0, n, 1}
		if n == 0 || r.IntN(3) > 0 {
			continue
		}
		lead, step := r.IntN(3), 1+r.IntN(2)
		last := lead + (n-1)*step
		base[i] = last + 1 + r.IntN(2)
		cuts[i] = cut{lead, last + 1, step}
		if r.IntN(2) == 0 {
			cuts[i] = cut{last, lead - 1, -step}
		}
	}
	t, err := garner.New(d, base...)
	if err != nil {
		panic(err)
	}
	if d == garner.String {
		s, _ := garner.Values[string](t)
		for i := range s {
			s[i] = fmt.Sprint("s", r.IntN(1000))
		}
	} else {
		b, _ := t.Bytes()
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}
	for i, c := range cuts {
		if t, err = t.Slice(i, c.from, c.to, c.step); err != nil {
			panic(err)
		}
	}
	if t, err = t.Transpose(perm...); err != nil {
		panic(err)
	}
	return t
}

// fillIndices overwrites random bits of the indices with positions inside the axes that
// op gathers, which more are the further operands of. With bad, it leaves some random.
func fillIndices(r *rand.Rand, c Case, op garner.Op, more []garner.Tensor, bad bool) {
	p, err := garner.NewPlan(op, c.Data.Spec(), c.Indices.Spec(), specs(more)...)
	if err != nil {
		panic(err)
	}
	n := c.Indices.Len()
	for i := range n {
		if bad && r.IntN(1+n/3) == 0 {
			continue
		}
		dim := 0
		if len(p.Axes) > 0 {
			dim = p.Axes[c.component(i)].Dim
		}
		if dim > 0 {
			// In a type too narrow for the position, its low bits
			// are a smaller position.
			v := r.IntN(dim)
			if bits := c.Indices.DType().Bits(); bits < 32 {
				top := 1 << bits
				if !c.Indices.DType().IsUnsigned() {
					top /= 2
				}
				v = min(v, top-1)
			}
			if err := c.Indices.SetText(i, fmt.Sprint(v)); err != nil {
				panic(err)
			}
		}
	}
}

// component returns which component of its tuple the i-th index is.
func (c Case) component(i int) int {
	if c.vector < 0 {
		return 0
	}
	shape := c.Indices.Shape()
	for _, n := range shape[c.vector+1:] {
		i /= n
	}
	return i % shape[c.vector]
}

// Converted returns the same gather over data that is converted whole to another
// dtype, as source.Convert converts it, with the fill of the operator: what a gather
// over a converted view must give. It is false where the dtype of data is converted to
// no such dtype, and where the case is not one of RandomElements.
func (c Case) Converted(to garner.DType) (Case, bool) {
	data, ok := converted(c.Data, to)
	if !ok || c.Computes {
		return Case{}, false
	}
	c.About += " as " + to.String()
	c.Data, c.Op = data, c.bare
	if c.negative == garner.FromEnd {
		c.Op = garner.WithNegative(c.Op, garner.FromEnd)
	}
	switch c.outside {
	case garner.Error:
	case garner.Fill:
		c.fill, _ = converted(c.fill, to)
		c.Op = garner.WithFill(c.Op, c.fill)
	default:
		c.Op = garner.WithOutside(c.Op, c.outside)
	}
	return c, true
}

// converted returns the elements of t in another dtype, row-major.
func converted(t garner.Tensor, to garner.DType) (garner.Tensor, bool) {
	run, ok := convert.Between(t.DType(), to)
	if !ok {
		return garner.Tensor{}, false
	}
	src, err := bytesOf(t)
	if err != nil {
		panic(err)
	}
	dst := make([]byte, t.Len()*to.Bits()/8)
	run.Into(dst, src)
	made, err := garner.FromBytes(to, dst, t.Shape()...)
	if err != nil {
		panic(err)
	}
	return made, true
}

// Hold holds an executor against the definition: the same result, bit for bit, or the
// same error. Where the case computes, any NaN is as good as another.
func (c Case) Hold(t testing.TB, run Executor) {
	t.Helper()
	want, wantErr := garner.Reference(c.Op, c.Data, c.Indices, c.Further...)
	got, err := run(context.Background(), c.Op, c.Data, c.Indices, c.Further...)
	switch {
	case (err == nil) != (wantErr == nil):
		t.Errorf("seed %d: %s: error %v, the definition says %v", c.seed, c.About, err, wantErr)
	case err != nil && err.Error() != wantErr.Error():
		t.Errorf("seed %d: %s: error %q, the definition says %q", c.seed, c.About, err, wantErr)
	case err == nil && !Equal(got, want) && !(c.Computes && equalNumbers(got, want)):
		t.Errorf("seed %d: %s: %v, the definition says %v", c.seed, c.About, got, want)
	}
}

// equalNumbers is Equal for numbers, of which all NaNs are one.
func equalNumbers(a, b garner.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) || !a.DType().IsFloat() {
		return false
	}
	for _, t := range []*garner.Tensor{&a, &b} {
		c, err := t.Clone()
		if err != nil {
			return false
		}
		for i := range c.Len() {
			if v, err := c.Float64(i); err != nil || v != v && c.SetText(i, "NaN") != nil {
				return false
			}
		}
		*t = c
	}
	return Equal(a, b)
}

// Against holds an executor against the definition on the gather of a seed.
func Against(t testing.TB, run Executor, seed uint64) {
	t.Helper()
	Random(seed).Hold(t, run)
}

// Run holds an executor against the definition on a few thousand random gathers, bags
// and gathers of stored data among them, and against the laws; on a fifth of them in
// go test -short, which is for detectors and emulators.
func Run(t *testing.T, run Executor) {
	gathers, laws := uint64(5000), uint64(200)
	if testing.Short() {
		gathers, laws = gathers/5, laws/5
	}
	t.Run("definition", func(t *testing.T) {
		for seed := range gathers {
			Against(t, run, seed)
		}
	})
	for _, law := range Laws {
		t.Run(law.Name, func(t *testing.T) {
			for seed := range laws {
				law.Hold(t, run, seed)
			}
		})
	}
}
