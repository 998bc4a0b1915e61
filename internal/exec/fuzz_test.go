package exec

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/kernel"
)

// A trial is a random nest with memory that it stays inside.
type trial struct {
	loops   []Loop // as a plan has them
	axes    []Axis
	slice   int
	bits    int // of an element; 0 for strings
	width   kernel.Width
	policy  kernel.Policy
	fill    []byte
	data    Memory
	indices Memory
	out     Memory
	size    int // elements of the result
}

// newTrial draws a nest: loops in a random order, each with a stride in the
// result, and in data, the indices or both.
func newTrial(r *rand.Rand, large bool) trial {
	widths := []kernel.Width{{Bits: 8}, {Bits: 16, Unsigned: true}, {Bits: 32}, {Bits: 32, Unsigned: true}, {Bits: 64}, {Bits: 64}, {Bits: 64}}
	x := trial{slice: 1 + r.IntN(4)*r.IntN(2), bits: []int{0, 4, 8, 16, 32, 32, 64, 128}[r.IntN(8)], width: widths[r.IntN(len(widths))]}
	x.policy = kernel.Policy{FromEnd: r.IntN(2) == 0, Outside: kernel.Outside(r.IntN(4))}
	extent := func() int { return 1 + r.IntN(9) }
	if large {
		extent = func() int { return 1 + r.IntN(50) }
	}
	last := r.IntN(3) == 0 // the gathered axis is data's last
	var lastDim int
	if last {
		x.slice, lastDim = 1, extent()
	}
	data, index, out := x.slice*max(lastDim, 1), 1, x.slice
	for range r.IntN(3) + 1 {
		l := Loop{Extent: extent(), Out: out}
		out *= l.Extent
		kind := r.IntN(4)
		if kind == 0 || kind == 1 {
			l.Data = data
			data *= l.Extent
		}
		if kind != 1 {
			l.Index = index
			index *= l.Extent
		}
		x.loops = append(x.loops, l)
	}
	slices.Reverse(x.loops) // innermost last, as a row-major result has them
	if r.IntN(4) == 0 {
		r.Shuffle(len(x.loops), func(i, j int) { x.loops[i], x.loops[j] = x.loops[j], x.loops[i] })
	}
	components := 1 + r.IntN(2)*r.IntN(3)
	if last {
		components = 1
		x.axes = append(x.axes, Axis{Dim: lastDim, Data: 1})
	}
	if components > 1 {
		for i := range x.loops {
			x.loops[i].Index *= components
		}
		index *= components
	}
	for c := len(x.axes); c < components; c++ {
		a := Axis{Dim: extent(), Data: data, Index: c}
		if c == 0 && components == 1 && r.IntN(3) == 0 {
			a.Data = 1 // windows: rows overlap
			data += a.Dim
		} else {
			data *= a.Dim
		}
		x.axes = append(x.axes, a)
	}
	x.size = out
	x.data = memoryOf(r, data+3, x.bits)
	x.data.Offset = r.IntN(4)
	x.out = memoryOf(r, out+5, x.bits)
	x.out.Offset = r.IntN(6)
	x.data.Volatile = r.IntN(4) == 0
	x.indices = Memory{Offset: r.IntN(3)}
	for range index + x.indices.Offset {
		dim := x.axes[r.IntN(len(x.axes))].Dim
		v := int64(r.IntN(dim))
		if x.policy.Outside != kernel.Error || r.IntN(40) == 0 && index < 20 {
			v = int64(r.IntN(4*dim+4) - 2*dim - 2)
		} else if r.IntN(3) == 0 && x.policy.FromEnd && !x.width.Unsigned {
			v -= int64(dim)
		}
		x.indices.Buf = binary.LittleEndian.AppendUint64(x.indices.Buf, uint64(v))[:len(x.indices.Buf)+x.width.Bits/8]
	}
	if x.bits > 0 {
		x.fill = make([]byte, max(1, x.bits/8))
		for i := range x.fill {
			x.fill[i] = byte(r.Uint32())
		}
		if x.bits < 8 {
			x.fill[0] &= 1<<x.bits - 1
		}
	}
	return x
}

func memoryOf(r *rand.Rand, n, bits int) Memory {
	if bits == 0 {
		m := Memory{Strs: make([]string, n)}
		for i := range m.Strs {
			m.Strs[i] = string(rune('a' + r.IntN(26)))
		}
		return m
	}
	m := Memory{Buf: make([]byte, (n*bits+7)/8)}
	for i := range m.Buf {
		m.Buf[i] = byte(r.Uint32())
	}
	return m
}

// define runs the trial as a Nest is defined, element after element. It reports
// whether an index is refused.
func (x *trial) define(out Memory) (refused bool) {
	var walk func(level, data, index, to int)
	walk = func(level, data, index, to int) {
		if level < len(x.loops) {
			l := x.loops[level]
			for c := range l.Extent {
				walk(level+1, data+c*l.Data, index+c*l.Index, to+c*l.Out)
			}
			return
		}
		filled := false
		for _, a := range x.axes {
			at, ok := x.position(index+a.Index, a.Dim)
			refused = refused || !ok
			if filled = filled || at < 0; !filled {
				data += at * a.Data
			}
		}
		for e := range x.slice {
			switch {
			case refused:
			case filled && x.bits == 0:
				out.Strs[to+e] = "fill"
			case filled:
				copyBits(out.Buf, (to+e)*x.bits, x.fill, 0, x.bits)
			case x.bits == 0:
				out.Strs[to+e] = x.data.Strs[data+e]
			default:
				copyBits(out.Buf, (to+e)*x.bits, x.data.Buf, (data+e)*x.bits, x.bits)
			}
		}
	}
	walk(0, x.data.Offset, x.indices.Offset, out.Offset)
	return refused
}

// position is the position that an index means: -1 for the fill, not ok where it
// is refused.
func (x *trial) position(i, dim int) (at int, ok bool) {
	w := x.width.Bits / 8
	var raw [8]byte
	copy(raw[:], x.indices.Buf[i*w:(i+1)*w])
	v := int64(binary.LittleEndian.Uint64(raw[:]))
	if shift := 64 - x.width.Bits; !x.width.Unsigned {
		v = v << shift >> shift
	} else if v < 0 {
		v = 1 << 62
	}
	if v < 0 && v >= -int64(dim) && x.policy.FromEnd {
		v += int64(dim)
	}
	if v >= 0 && v < int64(dim) {
		return int(v), true
	}
	switch x.policy.Outside {
	case kernel.Fill:
		return -1, true
	case kernel.Clamp:
		return int(min(max(v, 0), int64(dim-1))), true
	case kernel.Wrap:
		return int((v%int64(dim) + int64(dim)) % int64(dim)), true
	}
	return 0, false
}

func copyBits(dst []byte, to int, src []byte, from, n int) {
	for i := range n {
		bit := src[(from+i)/8] >> ((from + i) % 8) & 1
		dst[(to+i)/8] = dst[(to+i)/8]&^(1<<((to+i)%8)) | bit<<((to+i)%8)
	}
}

// tunings are those of FuzzNest.
var tunings = []Tuning{
	Tuned,
	{TileRows: 8, UnitBytes: 16, UnitTiles: 2, SharedRows: 1 << 20, AheadLines: 5, StreamBytes: 200, StripBytes: 8},
	{TileRows: 16, UnitBytes: 1000, UnitTiles: 2, SharedRows: 50, AheadLines: 5, StreamBytes: 1 << 20, StripBytes: 16, ColumnsFrom: 8},
	{TileRows: 64, TileBytes: 512, UnitBytes: 64 << 10, UnitTiles: 3, SharedRows: 1 << 20, AheadLines: 128, StreamBytes: 64, StripBytes: 64, StayBytes: 1 << 20, ColumnsFrom: 1 << 20},
}

// FuzzNest holds every way against the definition: with the thresholds of this
// machine, with work cut into the smallest pieces, and with all data taken to be
// far. Nothing but the elements of the result changes.
func FuzzNest(f *testing.F) {
	for seed := range uint64(seeds) {
		f.Add(seed, seed%20 == 9)
	}
	var u Runner
	var p Program
	f.Fuzz(func(t *testing.T, seed uint64, large bool) {
		r := rand.New(rand.NewPCG(seed, 17))
		x := newTrial(r, large)
		want := Memory{Buf: slices.Clone(x.out.Buf), Strs: slices.Clone(x.out.Strs), Offset: x.out.Offset}
		refused := x.define(want)
		nest := Nest{Bits: x.bits, Width: x.width, Policy: x.policy, Fill: x.fill, Str: "fill", Reach: len(x.data.Buf)}
		for i, tuning := range tunings {
			if tuning.NearBytes > 0 && i > 0 {
				t.Fatal("not all far")
			}
			got := Memory{Buf: slices.Clone(x.out.Buf), Strs: slices.Clone(x.out.Strs), Offset: x.out.Offset}
			p.SetLoops(&nest, x.axes, x.loops, x.slice, false, &tuning, 1+int(seed%3))
			how := Done
			if p.Few() && !x.data.Volatile && seed%2 == 0 {
				how = p.RunFew(t.Context(), &x.data, &x.indices, &got)
			} else {
				how = u.Run(t.Context(), &p, &x.data, &x.indices, &got)
			}
			switch {
			case refused && how == Refused:
			case refused || how != Done:
				t.Fatalf("tuning %d, %s: outcome %d, refused %t: %+v", i, p.choice.way, how, refused, x.loops)
			case !slices.Equal(got.Buf, want.Buf) || !slices.Equal(got.Strs, want.Strs):
				t.Fatalf("tuning %d, %s, by rows %s: the result is wrong: loops %+v, axes %+v, slice %d of %d bits, %+v",
					i, p.choice.way, p.choice.byRows, x.loops, x.axes, x.slice, x.bits, x.policy)
			}
		}
	})
}

// seeds is the number of FuzzNest's trials in a plain test.
const seeds = 300

// TestEveryWay holds that FuzzNest's seeds go every way that moves something.
func TestEveryWay(t *testing.T) {
	tried := map[Way]int{}
	for seed := range uint64(seeds) {
		x := newTrial(rand.New(rand.NewPCG(seed, 17)), seed%20 == 9)
		for i := range tunings {
			var p Program
			p.SetLoops(&Nest{Bits: x.bits, Width: x.width, Policy: x.policy, Reach: len(x.data.Buf)}, x.axes, x.loops, x.slice, false, &tunings[i], 1+int(seed%3))
			tried[p.choice.way]++
			if p.choice.way.columnar() {
				tried[p.choice.byRows]++
			}
		}
	}
	for way := Strings; way <= Strips; way++ {
		if tried[way] == 0 {
			t.Errorf("no seed goes the way %s: %v", way, tried)
		}
	}
}

// TestRunEnds holds what a run does that is stopped, or has nothing to look at.
func TestRunEnds(t *testing.T) {
	n := nestOf(400, []Axis{{Dim: 100, Data: 1}}, 1, Loop{Extent: 100_000, Index: 1, Out: 1})
	data, indices, out := Memory{Buf: make([]byte, 400)}, Memory{Buf: make([]byte, 800_000)}, Memory{Buf: make([]byte, 400_000)}
	ctx, cancel := context.WithCancel(t.Context())
	var u Runner
	var told int64
	u.Progress = func(done, total int64) {
		if done < told || total != 100_000 {
			t.Errorf("%d of %d after %d", done, total, told)
		}
		told = done
	}
	if how := u.Run(ctx, NewProgram(n, &Tuned, 2), &data, &indices, &out); how != Done || told != 100_000 {
		t.Errorf("outcome %d, %d told", how, told)
	}
	idle := n
	idle.Idle = true
	if how := u.Run(ctx, NewProgram(idle, &Tuned, 2), &data, &Memory{}, &out); how != Done {
		t.Errorf("no indices: outcome %d", how)
	}
	cancel()
	p := NewProgram(n, &Tuned, 2)
	if how := u.Run(ctx, p, &data, &indices, &out); how != Stopped {
		t.Errorf("outcome %d after the context ended", how)
	}
	few := NewProgram(nestOf(400, []Axis{{Dim: 100, Data: 1}}, 1, Loop{Extent: 3, Index: 1, Out: 1}), &Tuned, 2)
	if how := few.RunFew(ctx, &data, &indices, &out); !few.Few() || how != Stopped {
		t.Errorf("few rows: outcome %d", how)
	}
	if how := u.RunKnown(ctx, p, &data, &out, nil, false); how != Stopped {
		t.Errorf("rows that are known: outcome %d", how)
	}
}

// TestThreadsAreBounded holds that a run has scratch for no more goroutines than
// find a unit.
func TestThreadsAreBounded(t *testing.T) {
	n := nestOf(64<<20, []Axis{{Dim: 4096, Data: 4096}}, 1, Loop{Extent: 1024, Index: 4096, Out: 4096}, Loop{Extent: 4096, Data: 1, Index: 1, Out: 1})
	for _, threads := range []int{1, 2, 1 << 20} {
		p := NewProgram(n, &Tuned, threads)
		if units := p.choice.columns.units(); p.cores != min(threads, max(units, (p.choice.tiles+p.choice.unitTiles-1)/p.choice.unitTiles)) || p.cores > 1024 {
			t.Errorf("%d cores of %d threads, for %d units", p.cores, threads, units)
		}
	}
}

// TestSteppedIndices holds that indices of any step are gathered as they are defined:
// in runs on both sides of steppedFrom, of every width, under every policy.
func TestSteppedIndices(t *testing.T) {
	var u Runner
	var p Program
	direct := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 23))
		step, n, dim := []int{2, 3, 7, -1, -2}[r.IntN(5)], steppedFrom-2+r.IntN(40)*r.IntN(4), 1+r.IntN(40)
		x := trial{slice: []int{1, 1, 3}[r.IntN(3)], bits: []int{8, 16, 32, 64}[r.IntN(4)], axes: []Axis{{Dim: dim}}}
		x.width = []kernel.Width{{Bits: 8}, {Bits: 32}, {Bits: 32, Unsigned: true}, {Bits: 64}, {Bits: 16, Unsigned: true}}[r.IntN(5)]
		x.policy = kernel.Policy{FromEnd: r.IntN(2) == 0, Outside: kernel.Outside(r.IntN(4))}
		x.axes[0].Data, x.size = x.slice, 2*n*x.slice
		length := n * max(step, -step)
		x.loops = []Loop{{Extent: 2, Index: length, Out: n * x.slice}, {Extent: n, Index: step, Out: x.slice}}
		x.data, x.out, x.fill = memoryOf(r, dim*x.slice, x.bits), memoryOf(r, x.size, x.bits), make([]byte, x.bits/8)
		if step < 0 {
			x.indices.Offset = length - 1
		}
		rare := []int{0, 3, 100}[r.IntN(3)]
		for range 2 * length {
			v := int64(r.IntN(dim))
			if rare > 0 && r.IntN(rare) == 0 && x.policy.Outside != kernel.Error {
				v += int64(r.IntN(7*dim)) - int64(3*dim)
			}
			x.indices.Buf = binary.LittleEndian.AppendUint64(x.indices.Buf, uint64(v))[:len(x.indices.Buf)+x.width.Bits/8]
		}
		want := Memory{Buf: slices.Clone(x.out.Buf)}
		if x.define(want) {
			t.Fatal("an index is refused")
		}
		for i, tuning := range tunings {
			got := Memory{Buf: slices.Clone(x.out.Buf)}
			p.SetLoops(&Nest{Bits: x.bits, Width: x.width, Policy: x.policy, Fill: x.fill, Reach: len(x.data.Buf)}, x.axes, x.loops, x.slice, false, &tuning, 1+int(seed%2))
			if how := u.Run(t.Context(), &p, &x.data, &x.indices, &got); how != Done || !slices.Equal(got.Buf, want.Buf) {
				t.Fatalf("seed %d, tuning %d, %s: outcome %d, or the result is wrong: step %d, %d of %d, %+v, %+v", seed, i, p.choice.way, how, step, n, dim, x.width, x.policy)
			}
			if p.choice.way.direct() {
				direct++
			}
		}
	}
	if direct < 400 {
		t.Errorf("%d runs straight from their indices", direct)
	}
}

// TestFoldedTurns holds that turns which share few indices are gathered as they are
// defined where many move at once: at every remainder, with axes that overlap, and
// under every policy.
func TestFoldedTurns(t *testing.T) {
	var u Runner
	var p Program
	folded := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 29))
		n, dim, turns := 2+r.IntN(8), 1+r.IntN(9), 1+r.IntN(900)
		apart := dim + r.IntN(3)
		if r.IntN(4) == 0 {
			apart = 1 + r.IntN(dim) // overlapping windows
		}
		x := trial{slice: 1, bits: []int{8, 16, 32, 64}[r.IntN(4)], axes: []Axis{{Dim: dim, Data: 1}}, width: kernel.Width{Bits: []int{8, 32, 64}[r.IntN(3)]}}
		x.policy = kernel.Policy{FromEnd: r.IntN(2) == 0, Outside: kernel.Outside(r.IntN(4))}
		x.loops = []Loop{{Extent: 2, Data: turns*apart + dim, Out: turns * n}, {Extent: turns, Data: apart, Out: n}, {Extent: n, Index: 1, Out: 1}}
		x.size = 2 * turns * n
		x.data, x.out, x.fill = memoryOf(r, 2*(turns*apart+dim), x.bits), memoryOf(r, x.size+3, x.bits), make([]byte, x.bits/8)
		x.out.Offset = r.IntN(4)
		for range n {
			v := int64(r.IntN(dim))
			if r.IntN(4) == 0 && x.policy.Outside != kernel.Error {
				v = int64(r.IntN(7*dim)) - int64(3*dim)
			}
			x.indices.Buf = binary.LittleEndian.AppendUint64(x.indices.Buf, uint64(v))[:len(x.indices.Buf)+x.width.Bits/8]
		}
		want := Memory{Buf: slices.Clone(x.out.Buf), Offset: x.out.Offset}
		if x.define(want) {
			t.Fatal("an index is refused")
		}
		for i, tuning := range tunings {
			got := Memory{Buf: slices.Clone(x.out.Buf), Offset: x.out.Offset}
			p.SetLoops(&Nest{Bits: x.bits, Width: x.width, Policy: x.policy, Fill: x.fill, Reach: len(x.data.Buf)}, x.axes, x.loops, 1, false, &tuning, 1+int(seed%2))
			if how := u.Run(t.Context(), &p, &x.data, &x.indices, &got); how != Done || !slices.Equal(got.Buf, want.Buf) {
				t.Fatalf("seed %d, tuning %d, %s: outcome %d, or the result is wrong: %+v of %d, %+v", seed, i, p.choice.way, how, x.loops, dim, x.policy)
			}
			if p.choice.way == Columns && p.choice.columns.fold > 0 && !u.outside.Load() {
				folded++
			}
		}
	}
	if folded < 200 {
		t.Errorf("%d runs folded their turns", folded)
	}
}

// TestSteppedData holds that data whose elements have a step is gathered as it is
// defined: tuples of every count, turns on both sides of acrossTurns, steps of both signs.
func TestSteppedData(t *testing.T) {
	var u Runner
	var p Program
	across := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 31))
		n, dim, turns, step := 1+r.IntN(300), 1+r.IntN(20), acrossTurns-2+r.IntN(90), []int{2, 3, 9, -1, -2}[r.IntN(5)]
		row := turns * max(step, -step)
		x := trial{slice: 1, bits: []int{8, 16, 32, 64, 128}[r.IntN(5)], axes: []Axis{{Dim: dim, Data: row}}, width: kernel.Width{Bits: []int{8, 32, 64}[r.IntN(3)]}}
		x.policy = kernel.Policy{FromEnd: r.IntN(2) == 0, Outside: kernel.Outside(r.IntN(4))}
		x.loops = []Loop{{Extent: n, Index: 1, Out: turns}, {Extent: turns, Data: step, Out: 1}}
		x.size = turns * n
		x.data, x.out, x.fill = memoryOf(r, dim*row, x.bits), memoryOf(r, x.size+3, x.bits), make([]byte, x.bits/8)
		if x.out.Offset = r.IntN(4); step < 0 {
			x.data.Offset = row - 1
		}
		for range n {
			v := int64(r.IntN(dim))
			if r.IntN(9) == 0 && x.policy.Outside != kernel.Error {
				v = int64(r.IntN(5*dim)) - int64(2*dim)
			}
			x.indices.Buf = binary.LittleEndian.AppendUint64(x.indices.Buf, uint64(v))[:len(x.indices.Buf)+x.width.Bits/8]
		}
		want := Memory{Buf: slices.Clone(x.out.Buf), Offset: x.out.Offset}
		if x.define(want) {
			t.Fatal("an index is refused")
		}
		for i, tuning := range tunings {
			got := Memory{Buf: slices.Clone(x.out.Buf), Offset: x.out.Offset}
			p.SetLoops(&Nest{Bits: x.bits, Width: x.width, Policy: x.policy, Fill: x.fill, Reach: len(x.data.Buf)}, x.axes, x.loops, 1, false, &tuning, 1+int(seed%2))
			if how := u.Run(t.Context(), &p, &x.data, &x.indices, &got); how != Done || !slices.Equal(got.Buf, want.Buf) {
				t.Fatalf("seed %d, tuning %d, %s: outcome %d, or the result is wrong: %+v of %d, %+v", seed, i, p.choice.way, how, x.loops, dim, x.policy)
			}
			if p.choice.way == Across && n > acrossTuples {
				across++
			}
		}
	}
	if across < 200 {
		t.Errorf("%d runs across", across)
	}
}
