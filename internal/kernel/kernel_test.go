package kernel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/garner-go/garner/internal/guard"
)

// sizes are slice lengths on both sides of every limit between two forms.
var sizes = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 48, 60, 63, 64, 65, 100, 127, 128, 129, 191, 300, 512, 960, 1000, 1024, 1984, 2047, 2048, 2112, 2200, 3072, 4096, 4160}

// each runs a test in every form that this machine can run.
func each(t *testing.T, f func(t *testing.T, form string)) {
	for _, name := range Forms() {
		restore := Use(name)
		f(t, name)
		restore()
	}
}

// FuzzRows compares every form of Rows with the definition. src and dst end at a
// guard page, if the system has them, and begin at every misalignment; prefetched
// addresses are arbitrary.
func FuzzRows(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, uint8(seed), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, pick uint8, filled bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := sizes[int(pick)%len(sizes)]
		elem := 1
		if size > 0 {
			for _, e := range []int{16, 8, 4, 2} {
				if size%e == 0 && r.IntN(2) == 0 {
					elem = e
					break
				}
			}
		}
		count, n := 1+r.IntN(20), r.IntN(70)
		if r.IntN(8) == 0 {
			n = 200 + r.IntN(400) // above the 256 rows of a patch
		}
		gap := 0
		if r.IntN(3) == 0 {
			gap = r.IntN(20)
		}
		bias := r.IntN(3) * elem
		src := guard.Bytes(t, count*size+bias)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		m := Move{Step: size + gap, Bias: bias, Elem: elem, Size: size, Stream: r.IntN(2) == 0}
		rows := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(guard.Bytes(t, 8*n)))), n)
		for j := range rows {
			if rows[j] = int64(r.IntN(count) * size); filled && r.IntN(6) == 0 {
				rows[j], m.Filled = -1, true
			}
		}
		var fill []byte
		if r.IntN(2) == 0 {
			fill = make([]byte, elem)
			for i := range fill {
				fill[i] = byte(r.Uint32())
			}
		}
		m.Ahead.Bias = int(r.Uint32())
		m.Ahead.Rows = make([]int64, r.IntN(n+10))
		for j := range m.Ahead.Rows {
			m.Ahead.Rows[j] = int64(r.Uint64()) // a prefetch cannot fault
		}
		if m.At = r.IntN(70); r.IntN(2) == 0 {
			m.At, m.Step = 64, (m.Step+63)&^63 // aligned for non-temporal stores
		}
		back := r.IntN(4) == 0
		length := m.At + n*m.Step + size
		if back {
			m.At, m.Step = m.At+n*m.Step, -m.Step
		}
		want := bytes.Repeat([]byte{0x5a}, length)
		RowsGeneric(want, src, rows, m, fill)
		each(t, func(t *testing.T, form string) {
			got := guard.Bytes(t, length)
			for i := range got {
				got[i] = 0x5a
			}
			Rows(got, src, rows, m, fill)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %+v, %d rows of %d: differs from the definition", form, m, n, count)
			}
		})
	})
}

func TestRowsRefusesPlacesOutside(t *testing.T) {
	each(t, func(t *testing.T, form string) {
		for _, size := range sizes[1:] {
			dst := bytes.Repeat([]byte{7}, 2*size+7)
			for _, m := range []Move{{Step: size}, {At: 1, Step: size - 1}, {At: -1, Step: size}, {At: size - 1, Step: -size}} {
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("%s: %+v of size %d: no panic", form, m, size)
						}
						if !bytes.Equal(dst, bytes.Repeat([]byte{7}, len(dst))) {
							t.Errorf("%s: wrote all the same", form)
						}
					}()
					m.Size, m.Elem = size, size
					Rows(dst[:2*size-1:2*size-1], make([]byte, 2*size), []int64{0, 0}, m, nil)
				}()
			}
		}
	})
}

// FuzzElements compares every form of Elements with a loop over its values.
func FuzzElements(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 4))
		size, width := 1<<r.IntN(4), 4<<r.IntN(2)
		dim, n, fromEnd := r.IntN(50), r.IntN(80), r.IntN(2) == 0
		src, values := guard.Bytes(t, dim*size), guard.Bytes(t, n*width)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		want, moved := make([]byte, n*size), 0
		stopped := false
		for j := range n {
			v := int64(0)
			if dim > 0 {
				v = int64(r.IntN(dim))
			}
			switch r.IntN(40) {
			case 0:
				v = int64(dim) + int64(r.IntN(3))
			case 1, 2, 3:
				v = -1 - int64(r.IntN(dim+2))
			case 4:
				v = int64(r.Uint64())
			}
			if width == 4 {
				v = int64(int32(v))
				binary.LittleEndian.PutUint32(values[4*j:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(values[8*j:], uint64(v))
			}
			if fromEnd && v < 0 {
				v += int64(dim)
			}
			if stopped = stopped || v < 0 || v >= int64(dim); !stopped {
				copy(want[j*size:(j+1)*size], src[int(v)*size:])
				moved++
			}
		}
		more := guard.Bytes(t, (n+r.IntN(90))*width) // further values, for prefetches only
		copy(more, values)
		for _, ahead := range []int{0, 1, 7, 64, 200} {
			each(t, func(t *testing.T, form string) {
				got := guard.Bytes(t, n*size)
				v := Values{Bytes: more, Width: width, Dim: dim, FromEnd: fromEnd, Ahead: ahead, Stream: seed%2 == 0}
				if m := Elements(got, src, n, size, v); m != moved {
					t.Errorf("%s: %d of %d moved, want %d", form, m, n, moved)
				}
				if !bytes.Equal(got[:moved*size], want[:moved*size]) {
					t.Errorf("%s: differs", form)
				}
				if bytes.Count(got[moved*size:], []byte{0}) != (n-moved)*size {
					t.Errorf("%s: wrote beyond the first value outside", form)
				}
			})
		}
	})
}

// FuzzSlices compares every form of Slices with a loop over its values, between
// pages without access.
func FuzzSlices(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		size, dim, n, asked := 1+r.IntN(SlicesMost+3), r.IntN(50), r.IntN(80), max(0, r.IntN(90)-20)
		src, values := guard.Bytes(t, dim*size), guard.Bytes(t, n*8)
		for i := range src {
			src[i] = byte(1 + r.IntN(255))
		}
		want, inside, bad := []byte(nil), 0, r.IntN(60)
		for j := range n {
			v := int64(r.IntN(dim + 1))
			if dim > 0 && v == int64(dim) && r.IntN(8) > 0 {
				v = 0
			}
			if j == bad {
				v = []int64{-1, math.MinInt64, math.MaxInt64, int64(dim), -int64(dim)}[r.IntN(5)]
			}
			binary.LittleEndian.PutUint64(values[8*j:], uint64(v))
			if inside == j && 0 <= v && v < int64(dim) {
				inside++
				want = append(want, src[int(v)*size:][:size]...)
			}
		}
		each(t, func(t *testing.T, form string) {
			got, moved := guard.Bytes(t, n*size), inside
			if m := Slices(got, src, n, size, Values{Bytes: values, Dim: dim, Ahead: asked}); m != moved {
				t.Fatalf("%s: slices of %d bytes, %d ahead: %d of %d moved, want %d", form, size, asked, m, n, moved)
			}
			if !bytes.Equal(got[:moved*size], want[:moved*size]) {
				t.Errorf("%s: slices of %d bytes: differs", form, size)
			}
			if bytes.Count(got[moved*size:], []byte{0}) != (n-moved)*size {
				t.Errorf("%s: slices of %d bytes: wrote beyond the first value outside", form, size)
			}
		})
	})
}

// FuzzColumns compares every form of Gather with a loop over its values: on strips,
// on a row of data per tuple, and on layouts between the two.
func FuzzColumns(f *testing.F) {
	for seed := range uint64(160) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 6))
		size, width := 1<<r.IntN(4), 4<<r.IntN(2)
		n, dim, fromEnd, tuples := r.IntN(70), r.IntN(40), r.IntN(2) == 0, r.IntN(6)
		stride, lane, data := r.IntN(n+6), r.IntN(3), r.IntN(80)*size
		if lane > 0 && r.IntN(2) == 0 {
			data = 0 // a strip
		}
		between, gap := n+r.IntN(9), n*size+r.IntN(20)
		if r.IntN(4) == 0 {
			between = 0 // the same values for every tuple
		}
		if r.IntN(2) == 0 {
			gap = (n*size + 63) &^ 63 // aligned for non-temporal stores
		}
		count := 0
		if tuples > 0 && n > 0 {
			count = (tuples-1)*data + (max(0, dim-1)*stride+(n-1)*lane+1)*size
		}
		src, values := guard.Bytes(t, count), guard.Bytes(t, max(0, (tuples-1)*between+n)*width)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		rare := 60 * (1 + r.IntN(20))
		for k := range len(values) / width {
			v := r.Int64N(int64(dim) + 1)
			switch r.IntN(rare) {
			case 0:
				v = int64(r.Uint64())
			case 1, 2:
				v = -1 - v
			default:
				v = max(0, min(v, int64(dim)-1))
			}
			if width == 4 {
				binary.LittleEndian.PutUint32(values[4*k:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(values[8*k:], uint64(v))
			}
		}
		want, moved := make([]byte, max(0, (tuples-1)*gap+n*size)), tuples
		for i := range tuples {
			for j := range n {
				k := i*between + j
				v := int64(0)
				if width == 4 {
					v = int64(int32(binary.LittleEndian.Uint32(values[4*k:])))
				} else {
					v = int64(binary.LittleEndian.Uint64(values[8*k:]))
				}
				if fromEnd && v < 0 {
					v += int64(dim)
				}
				if v < 0 || v >= int64(dim) {
					moved = min(moved, i)
				}
				if i < moved {
					copy(want[i*gap+j*size:][:size], src[i*data+(int(v)*stride+j*lane)*size:])
				}
			}
		}
		each(t, func(t *testing.T, form string) {
			got := guard.Bytes(t, len(want))
			c := Columns{
				Values: Values{Bytes: values, Width: width, Dim: dim, FromEnd: fromEnd, Stream: r.IntN(2) == 0},
				From:   between * width, To: gap, Data: data, Tuples: tuples, Wide: n, Stride: stride, Lane: lane,
				Asked: r.IntN(9), Lines: r.IntN(70), Next: int(r.Int32()), Skip: int(r.Int32()),
			}
			if m := Gather(got, src, size, c); m != moved {
				t.Errorf("%s: %d columns of %d bytes, %d positions: %d of %d tuples moved, want %d", form, n, size, dim, m, tuples, moved)
			}
			for i := range tuples {
				place, gone := got[i*gap:min((i+1)*gap, len(got))], want[i*gap:min((i+1)*gap, len(got))]
				if i < moved && !bytes.Equal(place, gone) {
					t.Errorf("%s: tuple %d of %d columns of %d bytes differs, or what lies behind it", form, i, n, size)
				}
				if bytes.Count(place[n*size:], []byte{0}) != len(place)-n*size {
					t.Errorf("%s: tuple %d: wrote between two places", form, i)
				}
			}
		})
	})
}

// FuzzTuples compares Tuples with Resolve, which takes one component after the
// other.
func FuzzTuples(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 5))
		k, width, n := 1+r.IntN(MaxTuple), 4<<r.IntN(2), r.IntN(60)
		p := Policy{FromEnd: r.IntN(2) == 0, Outside: Fill}
		axes := make([]Component, k)
		for c := range axes {
			axes[c] = Component{Dim: int64(r.IntN(12)), Stride: int64(r.IntN(100))}
			if r.IntN(20) == 0 {
				wide := 30 + r.IntN(28) // bits, so that products need more than 32
				axes[c] = Component{Dim: 1 << wide, Stride: r.Int64N(1 << (58 - wide))}
			}
		}
		values := guard.Bytes(t, n*k*width)
		for i := range n * k {
			v := int64(0)
			if dim := axes[i%k].Dim; dim > 0 {
				v = r.Int64N(dim)
			}
			switch r.IntN(30) {
			case 0:
				v = int64(r.Uint64())
			case 1:
				v = -v - 1
			case 2:
				v += axes[i%k].Dim
			}
			if width == 4 {
				binary.LittleEndian.PutUint32(values[4*i:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(values[8*i:], uint64(v))
			}
		}
		want, scratch := make([]int64, n), make([]int64, n)
		Start(want, 5000, 3)
		for c, axis := range axes {
			Load(scratch, values, c, k, Width{Bits: 8 * width}, axis.Dim)
			Resolve(want, scratch, axis.Dim, axis.Stride, p)
		}
		Finish(want)
		outside := 0
		for _, row := range want {
			if row < 0 {
				outside++
			}
		}
		each(t, func(t *testing.T, form string) {
			var got []int64
			if b := guard.Bytes(t, 8*n); n > 0 {
				got = unsafe.Slice((*int64)(unsafe.Pointer(&b[0])), n)
			}
			if o := Tuples(got, values, width, 5000, 3, axes, p.FromEnd); o != outside || !slices.Equal(got, want) {
				t.Errorf("%s: tuples of %d in %d bytes: %v, %d outside; want %v, %d", form, k, width, got, o, want, outside)
			}
		})
	})
}

// position returns the position that an index value addresses, computed in
// integers of arbitrary size, or that it has none.
func position(v *big.Int, dim int64, p Policy) (at int64, outside bool) {
	d := big.NewInt(dim)
	if v.Sign() < 0 && p.FromEnd && new(big.Int).Neg(v).Cmp(d) <= 0 {
		v = new(big.Int).Add(v, d)
	}
	if v.Sign() >= 0 && v.Cmp(d) < 0 {
		return v.Int64(), false
	}
	switch {
	case p.Outside == Fill:
		return -1, false
	case dim == 0 || p.Outside == Error:
		return 0, true
	case p.Outside == Wrap:
		return new(big.Int).Mod(v, d).Int64(), false
	case v.Sign() < 0:
		return 0, false
	}
	return dim - 1, false
}

// FuzzResolve compares Load and Resolve with integers of arbitrary size: every
// width, every policy, values at the ends of every type.
func FuzzResolve(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	widths := []Width{{1, true}, {2, false}, {2, true}, {4, false}, {4, true}, {8, false}, {8, true}, {16, false}, {16, true}, {32, false}, {32, true}, {64, false}, {64, true}}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := widths[r.IntN(len(widths))]
		p := Policy{r.IntN(2) == 0, Outside(r.IntN(4))}
		dim := []int64{0, 1, 2, 3, 7, 100, 1 << 31, 1 << 40}[r.IntN(8)]
		stride := []int64{1, 5, -3, 0}[r.IntN(4)]
		n, step, lead := r.IntN(40), []int{1, 1, 2, -1, 0}[r.IntN(5)], r.IntN(3)
		if step < 0 {
			lead += n
		}
		count := lead + n*max(step, 0) + 1
		values := make([]*big.Int, count)
		low, span := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(w.Bits))
		if !w.Unsigned {
			low.Rsh(span, 1).Neg(low)
		}
		for i := range values {
			switch v := new(big.Int); r.IntN(4) {
			case 0: // any bits
				values[i] = v.Mod(v.SetUint64(r.Uint64()), span).Add(v, low)
			case 1: // an end of the type
				values[i] = v.Add(low, big.NewInt(int64(r.IntN(2))))
			case 2:
				values[i] = v.Sub(v.Add(low, span), big.NewInt(1+int64(r.IntN(2))))
			default: // around the ends of the axis
				v.SetInt64(r.Int64N(dim+2)*int64(1-2*r.IntN(2)) + int64(r.IntN(2)))
				if v.Cmp(low) < 0 || v.Cmp(new(big.Int).Add(low, span)) >= 0 {
					v.SetInt64(0)
				}
				values[i] = v
			}
		}
		src := guard.Bytes(t, (count*w.Bits+7)/8)
		for i, v := range values {
			bits := new(big.Int).Mod(v, span).Uint64()
			if w.Bits < 8 {
				PutBits(src, i*w.Bits, w.Bits, byte(bits))
				continue
			}
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], bits)
			copy(src[i*w.Bits/8:(i+1)*w.Bits/8], b[:])
		}
		each(t, func(t *testing.T, form string) {
			rows, scratch := make([]int64, n), make([]int64, n)
			Start(rows, 1000, 10)
			Load(scratch, src, lead, step, w, dim)
			outside := Resolve(rows, scratch, dim, stride, p)
			refused := 0
			for j := range n {
				at, bad := position(values[lead+j*step], dim, p)
				switch {
				case bad:
					refused++
				case at < 0:
					if refused++; rows[j] >= 0 {
						t.Errorf("%s: %v of axis %d, %+v: row %d, want a fill", form, values[lead+j*step], dim, p, rows[j])
					}
				case at >= 0 && rows[j] != 1000+10*int64(j)+at*stride:
					t.Errorf("%s: %v of axis %d, %+v %+v: row %d, want position %d", form, values[lead+j*step], dim, p, w, rows[j], at)
				}
			}
			if outside != refused {
				t.Errorf("%s: %d outside, want %d", form, outside, refused)
			}
		})
	})
}

// FuzzSettle compares every form of Settle with integers of arbitrary size, between
// guard pages.
func FuzzSettle(f *testing.F) {
	for seed := range uint64(80) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 8))
		p := Policy{r.IntN(2) == 0, []Outside{Clamp, Wrap}[r.IntN(2)]}
		dim := []int64{1, 2, 3, 100, 1 << 31, 1 << 40, math.MaxInt64/2 + 1, math.MaxInt64}[r.IntN(8)]
		n, off := r.IntN(70), r.IntN(2)*r.IntN(12)
		values, want := make([]int64, n), make([]int64, n)
		for j := range values {
			v := r.Int64N(dim)
			switch r.IntN(1 + off) {
			case 1:
				v = int64(r.Uint64())
			case 2:
				v = -v
			case 3:
				v = -v - 1
			case 4:
				v = dim + int64(r.IntN(2))*v // overflows for long axes: any value will do
			case 5:
				v = -dim - int64(r.IntN(2))
			case 6:
				v = []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1}[r.IntN(4)]
			}
			values[j] = v
			want[j], _ = position(big.NewInt(v), dim, p)
		}
		each(t, func(t *testing.T, form string) {
			var got []int64
			if b := guard.Bytes(t, 8*n); n > 0 {
				got = unsafe.Slice((*int64)(unsafe.Pointer(&b[0])), n)
			}
			from := got // in place, or between guard pages of their own
			if b := guard.Bytes(t, 8*n); seed%2 == 0 && n > 0 {
				from = unsafe.Slice((*int64)(unsafe.Pointer(&b[0])), n)
			}
			copy(from, values)
			if Settle(got, from, dim, p); !slices.Equal(got, want) {
				t.Errorf("%s: axis %d, %+v: %v became %v, want %v", form, dim, p, values, got, want)
			}
		})
	})
}

func TestSettleRefusesAnEmptyAxis(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Settle([]int64{0}, []int64{0}, 0, Policy{Outside: Wrap})
}

func TestFinish(t *testing.T) {
	rows := []int64{0, Filled, 5, Filled + math.MaxInt32, -1, math.MaxInt64}
	Finish(rows)
	if want := []int64{0, -1, 5, -1, -1, math.MaxInt64}; !slices.Equal(rows, want) {
		t.Errorf("%v, want %v", rows, want)
	}
}

// FuzzBits compares Bits with a loop over single bits.
func FuzzBits(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		elem := []int{1, 2, 4}[r.IntN(3)]
		size := r.IntN(60) * elem
		count, n := 1+r.IntN(9), r.IntN(9)
		lead, gap, bias := r.IntN(9)*elem, r.IntN(3)*elem, r.IntN(9)*elem
		src := guard.Bytes(t, (count*size+bias+7)/8)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		rows := make([]int64, n)
		for j := range rows {
			if rows[j] = int64(r.IntN(count) * size); r.IntN(4) == 0 {
				rows[j] = -1
			}
		}
		fill := byte(r.IntN(1 << elem))
		length := (lead + n*(size+gap) + 7) / 8
		got, want := guard.Bytes(t, length), make([]byte, length)
		for i := range got {
			got[i] = byte(r.Uint32())
		}
		copy(want, got)
		Bits(got, src, rows, Move{At: lead, Step: size + gap, Bias: bias, Elem: elem, Size: size}, fill)
		for j, row := range rows {
			for i := range size {
				v := fill >> (i % elem) & 1
				if row >= 0 {
					from := int(row) + bias + i
					v = src[from/8] >> (from % 8) & 1
				}
				at := lead + j*(size+gap) + i
				want[at/8] = want[at/8]&^(1<<(at%8)) | v<<(at%8)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d-bit elements, slices of %d bits: differs", elem, size)
		}
	})
}
