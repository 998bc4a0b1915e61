package exec

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner/internal/kernel"
)

// arithmetic is that of one type of numbers, on the codes of elements.
type arithmetic struct {
	number kernel.Number
	bits   int
	float  bool
	signed bool
	digits int // of a float's significand
	least  int // the exponent of the least float above 0
}

var arithmetics = []arithmetic{
	{number: kernel.U8, bits: 8}, {number: kernel.U16, bits: 16}, {number: kernel.U32, bits: 32}, {number: kernel.U64, bits: 64},
	{number: kernel.I8, bits: 8, signed: true}, {number: kernel.I16, bits: 16, signed: true}, {number: kernel.I32, bits: 32, signed: true}, {number: kernel.I64, bits: 64, signed: true},
	{number: kernel.F16, bits: 16, float: true, digits: 11, least: -24}, {number: kernel.BF16, bits: 16, float: true, digits: 8, least: -133},
	{number: kernel.F32, bits: 32, float: true}, {number: kernel.F64, bits: 64, float: true},
}

// singles is the arithmetic of f32, in which floats of 16 bits are reduced.
var singles = arithmetic{number: kernel.F32, bits: 32, float: true}

// load returns the code of an element.
func (a *arithmetic) load(b []byte, at int) uint64 {
	var raw [8]byte
	copy(raw[:], b[at*a.bits/8:(at+1)*a.bits/8])
	return binary.LittleEndian.Uint64(raw[:])
}

// store writes the code of an element.
func (a *arithmetic) store(b []byte, at int, code uint64) {
	copy(b[at*a.bits/8:(at+1)*a.bits/8], binary.LittleEndian.AppendUint64(nil, code))
}

// value returns the float of a code.
func (a *arithmetic) value(code uint64) float64 {
	switch a.number {
	case kernel.F64:
		return math.Float64frombits(code)
	case kernel.F32:
		return float64(math.Float32frombits(uint32(code)))
	case kernel.BF16:
		return float64(math.Float32frombits(uint32(code) << 16))
	}
	exponent, fraction := int(code>>10&31), float64(code&1023)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	}
	if code>>15 != 0 {
		v = -v
	}
	return v
}

// code returns the code of the float nearest to v, of two the even one.
func (a *arithmetic) code(v float64) uint64 {
	switch a.number {
	case kernel.F64:
		return math.Float64bits(v)
	case kernel.F32:
		return uint64(math.Float32bits(float32(v)))
	}
	if _, e := math.Frexp(v); v != 0 && !math.IsInf(v, 0) && v == v {
		quantum := max(e-a.digits, a.least)
		v = math.Ldexp(math.RoundToEven(math.Ldexp(v, -quantum)), quantum)
	}
	if a.number == kernel.BF16 {
		return uint64(math.Float32bits(float32(v)) >> 16)
	}
	var sign uint64
	if math.Signbit(v) {
		sign, v = 1<<15, -v
	}
	switch fraction, e := math.Frexp(v); {
	case v != v:
		return 0x7e00
	case v >= 1<<16:
		return sign | 0x7c00
	case v < math.Ldexp(1, -14):
		return sign | uint64(math.Ldexp(v, 24))
	default:
		return sign | uint64(e+14)<<10 | uint64(math.Ldexp(fraction, 11))&1023
	}
}

// of returns the code of an integer.
func (a *arithmetic) of(n int) uint64 {
	if a.float {
		return a.code(float64(n))
	}
	return a.wrap(uint64(n))
}

func (a *arithmetic) wrap(v uint64) uint64 { return v << (64 - a.bits) >> (64 - a.bits) }

// signedValue returns a signed integer.
func (a *arithmetic) signedValue(code uint64) int64 {
	return int64(code<<(64-a.bits)) >> (64 - a.bits)
}

func (a *arithmetic) add(x, y uint64) uint64 {
	if a.float {
		return a.code(a.value(x) + a.value(y))
	}
	return a.wrap(x + y)
}

// fuse returns x·y + z, rounded once.
func (a *arithmetic) fuse(x, y, z uint64) uint64 {
	of := func(code uint64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(a.value(code)) }
	plain := a.value(x)*a.value(y) + a.value(z)
	if math.IsInf(plain, 0) || plain != plain || math.IsInf(a.value(z), 0) {
		return a.code(plain)
	}
	exact := of(x)
	exact.Mul(exact, of(y)).Add(exact, of(z))
	if exact.Sign() == 0 {
		return a.code(plain)
	}
	if a.number == kernel.F64 {
		v, _ := exact.Float64()
		return math.Float64bits(v)
	}
	v, _ := exact.Float32()
	return uint64(math.Float32bits(v))
}

func (a *arithmetic) multiply(x, y uint64) uint64 {
	if a.float {
		return a.code(a.value(x) * a.value(y))
	}
	return a.wrap(x * y)
}

func (a *arithmetic) divide(x, y uint64) uint64 {
	switch {
	case a.float && a.value(y) == 0 || !a.float && y == 0:
		return 0
	case a.float:
		return a.code(a.value(x) / a.value(y))
	case a.signed:
		return a.wrap(uint64(a.signedValue(x) / int64(y)))
	}
	return x / y
}

// throughFloat divides integers of 64 bits as f64, and cuts the quotient.
func (a *arithmetic) throughFloat(x, y uint64) uint64 {
	most, v := math.Ldexp(1, 64), float64(x)/float64(y)
	if a.signed {
		most, v = math.Ldexp(1, 63), float64(int64(x))/float64(int64(y))
	}
	exact, _ := big.NewFloat(math.Trunc(v)).Int(nil)
	switch {
	case v >= most:
		return 1 << 63
	case exact.Sign() < 0:
		return -exact.Neg(exact).Uint64()
	}
	return exact.Uint64()
}

func (a *arithmetic) less(x, y uint64) bool {
	switch {
	case a.float:
		return a.value(x) < a.value(y)
	case a.signed:
		return a.signedValue(x) < a.signedValue(y)
	}
	return x < y
}

// same reports whether two codes are the same element; NaNs are alike.
func (a *arithmetic) same(x, y uint64) bool {
	return x == y || a.float && a.value(x) != a.value(x) && a.value(y) != a.value(y)
}

// draw returns the code of a small number, of floats rarely that of one that is none.
func (a *arithmetic) draw(r *rand.Rand) uint64 {
	if !a.float {
		return a.wrap(r.Uint64() >> r.IntN(64))
	}
	if r.IntN(60) == 0 {
		return a.code([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}[r.IntN(3)])
	}
	return a.code(float64(r.IntN(65)-32) / 4)
}

// A bagTrial is a random program of bags with memory that it stays inside.
type bagTrial struct {
	arithmetic
	nest    Nest
	axis    Axis
	terms   []Loop
	columns []Loop
	bag     Bag
	total   int // terms
	stored  bool
	data    Memory
	indices Memory
	ends    Memory
	weights Memory
	out     Memory
}

// room returns memory of n elements behind an offset, sometimes not aligned.
func room(r *rand.Rand, n, bits int) Memory {
	m := Memory{Offset: r.IntN(3)}
	skip := r.IntN(8) * r.IntN(2) * r.IntN(2)
	m.Buf = make([]byte, skip+(n+m.Offset+1)*bits/8)[skip:]
	return m
}

// newBagTrial draws a program of bags.
func newBagTrial(r *rand.Rand, large bool) *bagTrial {
	x := &bagTrial{arithmetic: arithmetics[r.IntN(len(arithmetics))], stored: r.IntN(3) == 0}
	widths := []kernel.Width{{Bits: 8}, {Bits: 16}, {Bits: 16, Unsigned: true}, {Bits: 32}, {Bits: 64}, {Bits: 64}, {Bits: 64, Unsigned: true}}
	some := func(n int) int { return r.IntN(n + 1) }
	most := 6
	if large {
		most = 25
	}
	b := &x.bag
	b.Number, b.Count, b.Each = x.number, some(most), some(most)
	b.Zero, b.Reciprocal, b.Rounded, b.Weighted = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	b.Fused, b.Away = r.IntN(2) == 0, r.IntN(2) == 0
	b.Reduction = Reduction(r.IntN(4))
	b.Summed = x.stored && b.Number == kernel.F32 && b.Reduction != Max && r.IntN(2) == 0
	if !x.float && b.Reduction == SqrtN {
		b.Reduction = Sum
	}
	b.Ends = Ends(r.IntN(3))

	// The row: one loop or two, around a position of the axis.
	wide := 1 + r.IntN(9)
	if large {
		wide = 1 + r.IntN(300)
	}
	if r.IntN(20) == 0 {
		wide = 0
	}
	dim := 1 + r.IntN(12)
	if r.IntN(30) == 0 {
		dim = 0
	}
	inner, around := Loop{Extent: wide, Data: 1, Out: 1}, Loop{Extent: 1 + r.IntN(3)}
	around.Data, around.Out = wide*max(dim, 1), wide+r.IntN(2)
	x.axis = Axis{Dim: dim, Data: wide}
	if r.IntN(4) == 0 { // rows of single elements that lie apart
		inner.Data, around.Data, x.axis.Data = max(dim, 1), 1, around.Extent*max(dim, 1)*wide
		x.axis.Data, around.Data = 1, max(dim, 1)*wide
	}
	x.columns = []Loop{around, inner}
	b.Out = around.Extent * around.Out
	if r.IntN(3) == 0 {
		b.Out += 2
	}
	x.out = room(r, b.Count*b.Out+wide+2, x.bits)
	for i := range x.out.Buf {
		x.out.Buf[i] = byte(r.Uint32())
	}
	x.data = room(r, around.Extent*wide*max(dim, 1), x.bits)
	x.data.Volatile = r.IntN(4) == 0
	if x.stored {
		x.data.Offset = 0
	}
	for i := range len(x.data.Buf) * 8 / x.bits {
		x.store(x.data.Buf, i, x.draw(r))
	}

	// The indices and the loops of terms.
	step := 1 + r.IntN(2)*r.IntN(2)
	if b.Ends == Even {
		x.total = b.Count * b.Each
		x.terms = []Loop{{Extent: b.Count, Index: step * b.Each}, {Extent: b.Each, Index: step}}
		if r.IntN(3) == 0 { // the other way round
			x.terms[0].Index, x.terms[1].Index = step, step*b.Count
		}
	} else {
		x.total = some(2 * most)
		if large {
			x.total = some(800)
		}
		x.terms = []Loop{{Extent: x.total, Index: step}}
	}
	n := &x.nest
	n.Bits, n.Reach = x.bits, len(x.data.Buf)
	n.Width = widths[r.IntN(len(widths))]
	n.Policy = kernel.Policy{FromEnd: r.IntN(2) == 0, Outside: kernel.Outside(r.IntN(4))}
	if r.IntN(2) == 0 {
		n.Fill = make([]byte, x.bits/8)
		x.store(n.Fill, 0, x.draw(r))
	}
	b.Padding, b.Empty = -1, -1-r.IntN(2)*r.IntN(2)
	if dim > 0 && r.IntN(3) == 0 {
		b.Empty = r.IntN(dim)
	}
	if dim > 0 && r.IntN(4) == 0 {
		b.Padding = r.IntN(dim)
	}
	b.SkipNegative, b.SkipWeightless = r.IntN(5) == 0, r.IntN(5) == 0
	x.indices = room(r, step*x.total, n.Width.Bits)
	bad := r.IntN(3) == 0
	for i := range len(x.indices.Buf) * 8 / n.Width.Bits {
		v := int64(0)
		if dim > 0 {
			v = int64(r.IntN(dim))
		}
		switch {
		case n.Policy.Outside != kernel.Error && r.IntN(3) == 0, bad && r.IntN(20) == 0:
			v = int64(r.IntN(4*dim+4) - 2*dim - 2)
		case r.IntN(4) == 0 && (n.Policy.FromEnd || b.SkipNegative) && !n.Width.Unsigned:
			v -= int64(dim)
		}
		put(x.indices.Buf, i, n.Width, v)
	}

	// The ends.
	if b.Ends != Even {
		b.Width, b.EndsStep = widths[1+r.IntN(len(widths)-1)], 1+r.IntN(2)
		b.Bounded, b.First = b.Ends == Starts && r.IntN(2) == 0, b.Ends == Starts && r.IntN(2) == 0
		count, top := x.total, b.Count
		if b.Ends == Starts {
			if count, top = b.Count, x.total+1; b.Bounded {
				count++
			}
		}
		ends := make([]int64, count)
		for i := range ends {
			ends[i] = int64(r.IntN(max(top, 1)))
		}
		slices.Sort(ends)
		if b.First && count > 0 && r.IntN(10) > 0 {
			ends[0] = 0
		}
		if count > 0 && r.IntN(8) == 0 {
			ends[r.IntN(count)] = int64(r.IntN(2*top+4) - 2)
		}
		x.ends = room(r, count*b.EndsStep, b.Width.Bits)
		for i, v := range ends {
			put(x.ends.Buf, x.ends.Offset+i*b.EndsStep, b.Width, v)
		}
	}

	// The weights.
	if b.Weighted {
		b.Weights = [2]int{0, 1 + r.IntN(2)}
		if b.Ends == Even {
			b.Weights[0] = b.Each*b.Weights[1] + r.IntN(2)*3
		}
		x.weights = room(r, x.total*2+b.Count*3, x.bits)
		for i := range len(x.weights.Buf) * 8 / x.bits {
			v := x.draw(r)
			if r.IntN(4) == 0 {
				v = 0
			}
			x.store(x.weights.Buf, i, v)
		}
	}
	return x
}

// put writes an integer, whose high bits are lost.
func put(b []byte, at int, w kernel.Width, v int64) {
	copy(b[at*w.Bits/8:(at+1)*w.Bits/8], binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

// bitsOf returns the bits of an integer.
func bitsOf(b []byte, at int, w kernel.Width) uint64 {
	var raw [8]byte
	copy(raw[:], b[at*w.Bits/8:(at+1)*w.Bits/8])
	return binary.LittleEndian.Uint64(raw[:])
}

// get reads an integer; one beyond int64 is 1<<62.
func get(b []byte, at int, w kernel.Width) int64 {
	v := int64(bitsOf(b, at, w))
	if shift := 64 - w.Bits; !w.Unsigned {
		return v << shift >> shift
	}
	if v < 0 {
		return 1 << 62
	}
	return v
}

// bagOf returns the bag of each term, -1 of one in no bag. It reports whether an end
// is refused.
func (x *bagTrial) bagOf() (bags []int, refused bool) {
	b := &x.bag
	bags = make([]int, x.total)
	last := int64(0)
	end := func(i int, top int64) int {
		v := get(x.ends.Buf, x.ends.Offset+i*b.EndsStep, b.Width)
		refused = refused || v < last || v > top
		last = v
		return int(min(max(v, 0), top))
	}
	switch b.Ends {
	case Even:
		for i := range bags {
			bags[i] = i / b.Each
		}
	case Segments:
		for i := range bags {
			bags[i] = end(i, int64(b.Count-1))
		}
	case Starts:
		for i := range bags {
			bags[i] = -1
		}
		for bag := range b.Count {
			at := end(bag, int64(x.total))
			refused = refused || bag == 0 && b.First && at != 0
			for i := at; i < x.total; i++ {
				bags[i] = bag
			}
		}
		if b.Bounded {
			at := end(b.Count, int64(x.total))
			refused = refused || b.Count == 0 && b.First && at != 0
			for i := at; i < x.total; i++ {
				bags[i] = -1
			}
		}
	}
	return bags, refused
}

// define reduces the bags term by term into out. It reports whether the run is refused.
func (x *bagTrial) define(out Memory) (refused bool) {
	b := &x.bag
	bags, refused := x.bagOf()
	if refused {
		return true
	}
	type term struct {
		at     int // the position of its row; -1: the fill
		weight uint64
	}
	kept := make([][]term, b.Count)
	for i, bag := range bags {
		index := i * x.terms[0].Index
		weight := i * b.Weights[1]
		if b.Ends == Even {
			index = i/b.Each*x.terms[0].Index + i%b.Each*x.terms[1].Index
			weight = i/b.Each*b.Weights[0] + i%b.Each*b.Weights[1]
		}
		v := get(x.indices.Buf, x.indices.Offset+index, x.nest.Width)
		t := term{}
		if b.Weighted {
			t.weight = x.load(x.weights.Buf, x.weights.Offset+weight)
			if b.SkipWeightless && !x.less(0, t.weight) {
				continue
			}
		}
		if b.SkipNegative && v < 0 {
			continue
		}
		dim := int64(x.axis.Dim)
		if x.nest.Policy.FromEnd && !x.nest.Width.Unsigned && v < 0 && v >= -dim {
			v += dim
		}
		if v < 0 || v >= dim {
			switch outside := x.nest.Policy.Outside; {
			case outside == kernel.Fill:
				v = -1
			case outside == kernel.Error || dim == 0:
				return true
			case outside == kernel.Clamp:
				v = min(max(v, 0), dim-1)
			case x.nest.Width.Unsigned:
				v = int64(bitsOf(x.indices.Buf, x.indices.Offset+index, x.nest.Width) % uint64(dim))
			default:
				v = (v%dim + dim) % dim
			}
		}
		if v >= 0 && int(v) == b.Padding {
			continue
		}
		if t.at = int(v); bag >= 0 {
			kept[bag] = append(kept[bag], t)
		}
	}
	around, inner := x.columns[0], x.columns[1]
	for bag, terms := range kept {
		for c := range around.Extent * inner.Extent {
			data := x.data.Offset + c/inner.Extent*around.Data + c%inner.Extent*inner.Data
			to := out.Offset + bag*b.Out + c/inner.Extent*around.Out + c%inner.Extent*inner.Out
			switch {
			case len(terms) > 0:
			case b.Empty >= 0:
				x.store(out.Buf, to, x.load(x.data.Buf, data+x.axis.Offset(b.Empty)))
				continue
			case b.Empty < -1:
				return true
			default:
				x.store(out.Buf, to, 0)
				continue
			}
			elements, x := x, &x.arithmetic
			wide := func(code uint64) uint64 { return code }
			if x.bits == 16 && x.float {
				x = &singles
				wide = func(code uint64) uint64 { return x.code(elements.value(code)) }
			}
			rounded := func(code uint64) uint64 {
				if x == &singles {
					return elements.code(x.value(code))
				}
				return code
			}
			roundedSum := func(code uint64) uint64 {
				if v := float32(x.value(code)); b.Away && elements.number == kernel.BF16 && b.Reduction != Max && v == v {
					return uint64(math.Float32bits(v)+0x8000) >> 16
				}
				return rounded(code)
			}
			sum, weights := uint64(0), uint64(0)
			for i, t := range terms {
				v := uint64(0)
				if t.at >= 0 {
					v = elements.load(elements.data.Buf, data+elements.axis.Offset(t.at))
				} else if elements.nest.Fill != nil {
					v = elements.load(elements.nest.Fill, 0)
				}
				v, t.weight = wide(v), wide(t.weight)
				square, fused := t.weight, b.Weighted && b.Fused && x.float && b.Reduction != Max && (i > 0 || b.Zero)
				if fused {
					sum = x.fuse(v, t.weight, sum)
				} else if b.Weighted {
					v = x.multiply(v, t.weight)
				}
				if b.Reduction == SqrtN {
					square = x.multiply(t.weight, t.weight)
				}
				weights = x.add(weights, square)
				switch {
				case fused:
				case b.Reduction == Max && (i == 0 || x.less(sum, v)), b.Reduction != Max && i == 0 && !b.Zero:
					sum = v
				case b.Reduction != Max:
					sum = x.add(sum, v)
				}
			}
			if b.Reduction == Mean || b.Reduction == SqrtN {
				if b.Rounded {
					sum = wide(roundedSum(sum))
				}
				by := x.of(len(terms))
				if !x.float {
					by = uint64(len(terms))
				}
				if b.Weighted {
					by = weights
				}
				if b.Weighted && x.signed {
					by = uint64(x.signedValue(by))
				}
				if b.Reduction == SqrtN {
					by = x.code(math.Sqrt(x.value(by)))
				}
				if x.float && b.Reciprocal && !b.Weighted {
					sum = x.multiply(sum, x.divide(x.of(1), by))
				} else if b.Weighted && !x.float && x.bits == 64 && by != 0 {
					sum = x.throughFloat(sum, by)
				} else {
					sum = x.divide(sum, by)
				}
			}
			if b.Reduction == Sum {
				sum = roundedSum(sum)
			} else {
				sum = rounded(sum)
			}
			elements.store(out.Buf, to, sum)
		}
	}
	return false
}

// set makes p the program of the trial, and returns the memory that holds its data.
func (x *bagTrial) set(p *Bags, u *Runner, t *Tuning, threads int) *Memory {
	n := x.nest
	data := &x.data
	if x.stored {
		m := newMasked(x.data.Buf, x.bits/8)
		n.Decoder, u.From = m, m.from
		data = &Memory{Volatile: x.data.Volatile}
	}
	p.Set(&n, append(p.Axes(), x.axis), x.terms, x.columns, x.bag, t, threads)
	return data
}

// bagSeeds is the number of trials of TestBags.
const bagSeeds = 1500

// TestBags holds bags against their definition, on one to three threads, with work cut
// as on this machine and into the smallest pieces.
func TestBags(t *testing.T) {
	var u Runner
	var p Bags
	outcomes := map[Outcome]int{}
	for seed := range uint64(bagSeeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		x := newBagTrial(r, seed%15 == 7)
		want := x.out
		want.Buf = slices.Clone(x.out.Buf)
		refused := x.define(want)
		for i := range tunings {
			threads := 1 + (int(seed)+i)%3
			got := x.out
			skip := r.IntN(2)
			got.Buf = append(make([]byte, skip, skip+len(x.out.Buf)), x.out.Buf...)[skip:]
			told, total := int64(-1), int64(-1)
			u.Progress = func(done, all int64) {
				if done < told {
					t.Errorf("seed %d: %d elements after %d", seed, done, told)
				}
				told, total = done, all
			}
			data := x.set(&p, &u, &tunings[i], threads)
			how := u.RunBags(t.Context(), &p, data, &x.indices, &x.ends, &x.weights, &got)
			outcomes[how]++
			if c := p.Chosen(); c.Way != Reduced || c.Threads < 1 || c.Threads > threads {
				t.Fatalf("seed %d: chosen %+v", seed, c)
			}
			if refused {
				if how != Refused {
					t.Fatalf("seed %d, tuning %d: outcome %d, want it refused: %+v", seed, i, how, x.bag)
				}
				continue
			}
			elements := int64(x.bag.Count * x.columns[0].Extent * x.columns[1].Extent)
			if how != Done || told != elements || total != elements {
				t.Fatalf("seed %d, tuning %d: outcome %d, %d of %d elements told, want %d: %+v", seed, i, how, told, total, elements, x.bag)
			}
			for e := range len(got.Buf) * 8 / x.bits {
				if a, b := x.load(got.Buf, e), x.load(want.Buf, e); !x.same(a, b) {
					t.Fatalf("seed %d, tuning %d, %d threads: element %d is %#x, want %#x: stored %t, %+v, terms %+v, columns %+v, axis %+v, policy %+v",
						seed, i, threads, e, a, b, x.stored, x.bag, x.terms, x.columns, x.axis, x.nest.Policy)
				}
			}
		}
	}
	if outcomes[Done] < bagSeeds || outcomes[Refused] < bagSeeds/10 {
		t.Errorf("too few trials end either way: %v", outcomes)
	}
}

// manyBags returns a trial of n bags of two terms of four f32, so many that their ends
// are checked in several units.
func manyBags(n int, ends Ends) *bagTrial {
	x := &bagTrial{arithmetic: arithmetics[10], total: 2 * n, axis: Axis{Dim: 3, Data: 4}}
	x.nest = Nest{Bits: 32, Width: kernel.Width{Bits: 64}}
	x.terms, x.columns = []Loop{{Extent: 2 * n, Index: 1}}, []Loop{{Extent: 1}, {Extent: 4, Data: 1, Out: 1}}
	x.bag = Bag{Number: x.number, Ends: ends, Width: kernel.Width{Bits: 32}, EndsStep: 1, Count: n, Out: 4, Padding: -1, Empty: -1}
	x.data, x.out, x.indices = Memory{Buf: make([]byte, 3*4*4)}, Memory{Buf: make([]byte, 16*n)}, Memory{Buf: make([]byte, 16*n)}
	for i := range 12 {
		x.store(x.data.Buf, i, x.of(i))
	}
	for i := range 2 * n {
		put(x.indices.Buf, i, x.nest.Width, int64(i%3))
	}
	if ends == Starts {
		x.ends.Buf = make([]byte, 4*n)
		for i := range n {
			put(x.ends.Buf, i, x.bag.Width, int64(2*i))
		}
		return x
	}
	x.ends.Buf = make([]byte, 8*n)
	for i := range 2 * n {
		put(x.ends.Buf, i, x.bag.Width, int64(i/2))
	}
	return x
}

// TestManyEnds holds that an end is held against the one before it, also where another
// unit checks that.
func TestManyEnds(t *testing.T) {
	const n = 2*endsOfUnit + 100
	tuning := Tuned
	tuning.AloneBytes = 0 // all threads work; smaller pieces only take longer
	for _, ends := range []Ends{Starts, Segments} {
		for threads := 1; threads <= 3; threads++ {
			x := manyBags(n, ends)
			want := Memory{Buf: make([]byte, len(x.out.Buf))}
			if x.define(want) {
				t.Fatal("the definition refuses")
			}
			var u Runner
			var p Bags
			x.set(&p, &u, &tuning, threads)
			run := func() Outcome { return u.RunBags(t.Context(), &p, &x.data, &x.indices, &x.ends, &Memory{}, &x.out) }
			if how := run(); how != Done || !slices.Equal(x.out.Buf, want.Buf) {
				t.Errorf("ends %d on %d: outcome %d, or the result is wrong", ends, threads, how)
			}
			for _, at := range []int{1, endsOfUnit, 2*endsOfUnit + 1} {
				before := get(x.ends.Buf, at, x.bag.Width)
				put(x.ends.Buf, at, x.bag.Width, get(x.ends.Buf, at-1, x.bag.Width)-1)
				if how := run(); how != Refused {
					t.Errorf("ends %d on %d: outcome %d where end %d falls", ends, threads, how, at)
				}
				put(x.ends.Buf, at, x.bag.Width, before)
			}
		}
	}
}

// TestEndsChange reduces bags whose ends are other than those that were checked, as if
// another goroutine wrote to them: the run ends, and no term outside is read.
func TestEndsChange(t *testing.T) {
	const n = 100
	r := rand.New(rand.NewPCG(1, 9))
	for trial := range 300 {
		x := manyBags(n, []Ends{Starts, Segments}[trial%2])
		for at := range n {
			if r.IntN(3) == 0 {
				put(x.ends.Buf, at, x.bag.Width, []int64{-1, math.MinInt64, math.MaxInt64, int64(r.IntN(4 * n))}[r.IntN(4)])
			}
		}
		var u Runner
		var p Bags
		x.set(&p, &u, &tunings[2], 1+trial%3)
		u.program, u.ctx, u.src, u.at, u.dst = &p.Program, t.Context(), x.data, x.indices, x.out
		u.bags, u.ends = &p, x.ends
		u.reserveBags()
		u.phases(reduceBags, p.units+1)
		if u.fault.Load() {
			t.Fatal("memory outside was read")
		}
	}
}

// looked is a context that ends after so many looks at it.
type looked struct {
	context.Context
	left atomic.Int64
}

func (l *looked) Err() error {
	if l.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestBagsStop holds that a context ends bags at any look, and that the Runner serves
// afterwards.
func TestBagsStop(t *testing.T) {
	for _, kind := range []func(x *bagTrial){
		func(x *bagTrial) {},
		func(x *bagTrial) { x.bag.Padding = 1 },
		func(x *bagTrial) { put(x.ends.Buf, 0, x.bag.Width, 1) }, // term 0 is in no bag
	} {
		for threads := 1; threads <= 3; threads++ {
			x := manyBags(40, Starts)
			kind(x)
			want := Memory{Buf: make([]byte, len(x.out.Buf))}
			if x.define(want) {
				t.Fatal("the definition refuses")
			}
			var u Runner
			var p Bags
			x.set(&p, &u, &tunings[1], threads)
			stopped, done := 0, false
			for looks := int64(0); !done && looks < 10_000; looks++ {
				ctx := &looked{Context: t.Context()}
				ctx.left.Store(looks)
				switch how := u.RunBags(ctx, &p, &x.data, &x.indices, &x.ends, &Memory{}, &x.out); how {
				case Stopped:
					stopped++
				case Done:
					done = true
				default:
					t.Fatalf("outcome %d after %d looks", how, looks)
				}
			}
			if !done || stopped < 40 || !slices.Equal(x.out.Buf, want.Buf) {
				t.Errorf("on %d: done %t, stopped after %d looks, or the result is wrong", threads, done, stopped)
			}
		}
	}
}

// TestBagsAllocateNothing holds that a repeated Set and run of bags allocate nothing.
func TestBagsAllocateNothing(t *testing.T) {
	x := manyBags(40, Segments)
	var u Runner
	var p Bags
	axes := []Axis{x.axis}
	if n := testing.AllocsPerRun(20, func() {
		p.Set(&x.nest, axes, x.terms, x.columns, x.bag, &Tuned, 1)
		if how := u.RunBags(context.Background(), &p, &x.data, &x.indices, &x.ends, &Memory{}, &x.out); how != Done {
			t.Fatalf("outcome %d", how)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
