package exec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/kernel"
)

// masked is a Decoder of elements of size bytes, stored in two operands: the bytes of
// an element, each with one mask applied, and the masks.
type masked struct {
	size int
	from Stored
}

// newMasked stores elements.
func newMasked(elements []byte, size int) *masked {
	m := &masked{size: size}
	m.from[0], m.from[2] = make([]byte, len(elements)/size*size), make([]byte, len(elements)/size)
	for i := range m.from[0] {
		m.from[2][i/size] = byte(i/size*37 + 11)
		m.from[0][i] = elements[i] ^ m.from[2][i/size]
	}
	return m
}

func (m *masked) Decode(dst []byte, from *Stored, first, n int) {
	if len(dst) != n*m.size {
		panic("dst has another size")
	}
	for i := range dst {
		dst[i] = from[0][first*m.size+i] ^ from[2][first+i/m.size]
	}
}

// DecodeRows decodes an even number of rows.
func (m *masked) DecodeRows(dst []byte, from *Stored, rows []int64, bias, n int) bool {
	if len(rows)%2 > 0 {
		clear(dst)
		return false
	}
	if len(dst) != len(rows)*n*m.size {
		panic("dst has another size")
	}
	for j, row := range rows {
		m.Decode(dst[j*n*m.size:(j+1)*n*m.size], from, (int(row)+bias)/m.size, n)
	}
	return true
}

// Summer returns m.
func (m *masked) Summer() Summer { return m }

// Sum sums rows.
func (m *masked) Sum(dst []byte, from *Stored, t kernel.Terms, b kernel.Bags) {
	decoded := make([]byte, len(t.Rows)*b.Size)
	places := make([]int64, len(t.Rows))
	for j, row := range t.Rows {
		m.Decode(decoded[j*b.Size:(j+1)*b.Size], from, (int(row)+t.Bias)/m.size, b.Size/m.size)
		places[j] = int64(j * b.Size)
	}
	t.Rows, t.Bias, t.Ahead = places, 0, 0
	kernel.ReduceBags(dst, decoded, kernel.F32, t, b)
}

func (m *masked) Spans(first, n int) [3]Span {
	return [3]Span{{From: int64(first * m.size), To: int64((first + n) * m.size)}, {}, {From: int64(first), To: int64(first + n)}}
}

// TestStored holds a gather of stored rows against the definition, with the thresholds
// of this machine, with work cut into the smallest pieces, and with all data far.
func TestStored(t *testing.T) {
	var u Runner
	var p Program
	ahead, refusals := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 23))
		x := newTrial(r, seed%20 == 9)
		if x.bits < 8 {
			continue
		}
		if x.data.Offset = 0; seed%3 == 0 { // longer rows, which are prefetched
			const wide = 24
			x.slice *= wide
			for i := range x.loops {
				x.loops[i].Data *= wide
				x.loops[i].Out *= wide
			}
			for i := range x.axes {
				x.axes[i].Data *= wide
			}
			x.data = memoryOf(r, (len(x.data.Buf)*8/x.bits+1)*wide, x.bits)
			x.out = memoryOf(r, (len(x.out.Buf)*8/x.bits+1)*wide, x.bits)
		}
		if seed%5 == 0 {
			x.fill = nil
		}
		want := Memory{Buf: slices.Clone(x.out.Buf), Offset: x.out.Offset}
		zeros := x.fill
		if zeros == nil {
			x.fill = make([]byte, x.bits/8)
		}
		refused := x.define(want)
		m := newMasked(x.data.Buf, x.bits/8)
		u.From = m.from
		nest := Nest{Bits: x.bits, Width: x.width, Policy: x.policy, Fill: zeros, Reach: len(x.data.Buf), Decoder: m}
		for i := range tunings {
			got := Memory{Buf: slices.Clone(x.out.Buf), Offset: x.out.Offset}
			threads := 1 + (int(seed)+i)%3
			p.SetLoops(&nest, append(p.Axes(), x.axes...), x.loops, x.slice, false, &tunings[i], threads)
			c := p.Chosen()
			if c.Way != Decoded || c.Way.String() != "decoded" || c.Kernel != "" || p.Few() || p.Reread() != 0 || c.Stream || c.Threads > threads {
				t.Fatalf("seed %d: chosen %+v", seed, c)
			}
			if c.Ahead > 0 {
				ahead++
			}
			how := u.Run(t.Context(), &p, &Memory{Volatile: x.data.Volatile}, &x.indices, &got)
			switch {
			case refused && how == Refused:
				refusals++
			case refused || how != Done:
				t.Fatalf("seed %d, tuning %d: outcome %d, refused %t", seed, i, how, refused)
			case !slices.Equal(got.Buf, want.Buf):
				t.Fatalf("seed %d, tuning %d, %d threads: the result is wrong: loops %+v, axes %+v, slice %d of %d bits, %+v", seed, i, threads, x.loops, x.axes, x.slice, x.bits, x.policy)
			}
		}
	}
	if ahead < 50 || refusals < 50 {
		t.Errorf("%d programs prefetch, %d refuse", ahead, refusals)
	}
}

// TestParts holds that data without a single stride is read as a vector, stored or not,
// and what a Resolver tells of it.
func TestParts(t *testing.T) {
	// 5 rows of 7 columns: a row begins every 20 elements, a column every 2.
	axis := Axis{Dim: 35, Data: 1, Parts: []Part{{Extent: 5, Data: 20}, {Extent: 7, Data: 2}}}
	data := Memory{Buf: make([]byte, 4*100)}
	for i := range data.Buf {
		data.Buf[i] = byte(i*i + i/256)
	}
	const n = 150 // more than are resolved at a time
	indices := Memory{Buf: make([]byte, 8*n)}
	width := kernel.Width{Bits: 64}
	loops := []Loop{{Extent: n, Index: 1, Out: 1}}
	for _, outside := range []kernel.Outside{kernel.Error, kernel.Fill, kernel.Clamp, kernel.Wrap} {
		for _, bad := range []bool{false, true} {
			for i := range n {
				put(indices.Buf, i, width, int64(i%35))
				if bad && i%10 == 3 {
					put(indices.Buf, i, width, int64(i-70))
				}
			}
			nest := Nest{Bits: 32, Width: width, Policy: kernel.Policy{Outside: outside}, Fill: []byte{1, 2, 3, 4}, Reach: 400}
			want := make([]byte, 4*n)
			for i := range n {
				v := int(get(indices.Buf, i, width))
				switch {
				case outside == kernel.Clamp:
					v = min(max(v, 0), 34)
				case outside == kernel.Wrap:
					v = (v%35 + 35*3) % 35
				case v < 0 || v >= 35:
					copy(want[4*i:], nest.Fill)
					continue
				}
				from := 4 * (v/7*20 + v%7*2)
				copy(want[4*i:4*i+4], data.Buf[from:from+4])
			}
			for _, stored := range []bool{false, true} {
				var u Runner
				of := nest
				if stored {
					m := newMasked(data.Buf, 4)
					of.Decoder, u.From = m, m.from
				}
				var p Program
				p.SetLoops(&of, []Axis{axis}, loops, 1, false, &Tuned, 2)
				out := Memory{Buf: make([]byte, 4*n)}
				how := u.Run(t.Context(), &p, &data, &indices, &out)
				if bad && outside == kernel.Error {
					if how != Refused {
						t.Errorf("stored %t: outcome %d of a bad index", stored, how)
					}
				} else if how != Done || !slices.Equal(out.Buf, want) {
					t.Errorf("stored %t, outside %d, bad %t: outcome %d, or the result is wrong", stored, outside, bad, how)
				}
			}
			nest.Axes = []Axis{axis}
			r := NewResolver(&nest, loops)
			rows, values := make([]int64, n), make([]int64, n)
			if found := r.Rows(rows, values, indices.Buf, 8, 0, 0); r.Elem() != 4 || r.Refused(found) != (bad && outside == kernel.Error) || rows[1] != 8+4*2 || rows[7] != 8+4*20 {
				t.Errorf("outside %d, bad %t: %d found outside, rows %d", outside, bad, found, rows[:8])
			}
		}
	}
}
