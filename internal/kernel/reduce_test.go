package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/internal/guard"
)

// sameFloats reports whether two lists of floats are the same bits; NaNs are alike.
func sameFloats(a, b []byte, n Number) bool {
	size := n.Size()
	for at := 0; at+size <= len(a); at += size {
		x, y := floatAt(a[at:], n), floatAt(b[at:], n)
		if !bytes.Equal(a[at:at+size], b[at:at+size]) && (x == x || y == y) {
			return false
		}
	}
	return true
}

func floatAt(b []byte, n Number) float64 {
	if n == F64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

// putFloat writes a number that is seldom exact in a sum, or one of the odd ones.
func putFloat(b []byte, n Number, r *rand.Rand) {
	v := r.NormFloat64() * math.Ldexp(1, r.IntN(40)-20)
	if r.IntN(12) == 0 {
		v = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-42, -1e-310}[r.IntN(7)]
	}
	if n == F64 {
		binary.LittleEndian.PutUint64(b, math.Float64bits(v))
	} else {
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
	}
}

// bagsTrial reduces bags of random terms in every form. Rows end where src does, at a
// guard page, and so do the rows' numbers, the weights, the ends and the bags.
func bagsTrial(t *testing.T, seed uint64, n Number, elements int) {
	r := rand.New(rand.NewPCG(seed, 3))
	size, bags, count, shift := n.Size(), 1+r.IntN(6), 1+r.IntN(9), 0
	if r.IntN(3) == 0 {
		shift = 1 + r.IntN(15) // rows may lie at any byte
	}
	terms := Terms{Bias: shift, Max: r.IntN(3) == 0, Begin: r.IntN(3) > 0, Zero: r.IntN(2) == 0, Ahead: r.IntN(3) * r.IntN(20), Fused: r.IntN(2) == 0}
	b := Bags{Size: elements * size, First: int64(r.IntN(100))}
	b.Step = b.Size + r.IntN(3)*size
	ends := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(guard.Bytes(t, 8*(bags+1))))), bags+1)
	total := r.IntN(4)
	for i := range ends {
		ends[i] = b.First + int64(total)
		if r.IntN(4) > 0 {
			total += r.IntN(7)
		}
	}
	b.Ends = ends
	src := guard.Bytes(t, shift+count*b.Size)
	for at := shift; at < len(src); at += size {
		putFloat(src[at:], n, r)
	}
	if total += r.IntN(3); total == 0 {
		total = 1
	}
	terms.Rows = unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(guard.Bytes(t, 8*total)))), total)
	for j := range terms.Rows {
		terms.Rows[j] = int64(r.IntN(count) * b.Size)
	}
	if r.IntN(2) == 0 {
		terms.Weights = guard.Bytes(t, total*size)
		for at := 0; at < len(terms.Weights); at += size {
			putFloat(terms.Weights[at:], n, r)
		}
	}
	before := make([]byte, (bags-1)*b.Step+b.Size)
	for at := 0; at < len(before); at += size {
		putFloat(before[at:], n, r)
	}
	want := bytes.Clone(before)
	restore := Use("Generic")
	ReduceBags(want, src, n, terms, b)
	restore()
	each(t, func(t *testing.T, form string) {
		got := guard.Bytes(t, len(before))
		copy(got, before)
		ReduceBags(got, src, n, terms, b)
		if !sameFloats(got, want, n) {
			t.Errorf("%s: seed %d, %d bags of %d elements of %d bytes, max %t, begin %t, zero %t, weights %t, fused %t: differs from the definition",
				form, seed, bags, elements, size, terms.Max, terms.Begin, terms.Zero, terms.Weights != nil, terms.Fused)
		}
		for i := range bags - 1 { // between two bags nothing is written
			gap := got[i*b.Step+b.Size : (i+1)*b.Step]
			if !bytes.Equal(gap, before[i*b.Step+b.Size:(i+1)*b.Step]) {
				t.Errorf("%s: seed %d: wrote behind bag %d of %d elements", form, seed, i, elements)
			}
		}
	})
}

// FuzzReduce holds every form of ReduceBags against the definition.
func FuzzReduce(f *testing.F) {
	for elements := range uint16(300) {
		f.Add(uint64(elements), elements, elements%2 == 0)
	}
	f.Add(uint64(1), uint16(1024), true)
	f.Add(uint64(2), uint16(1000), false)
	f.Fuzz(func(t *testing.T, seed uint64, elements uint16, double bool) {
		n := F32
		if double {
			n = F64
		}
		for i := range uint64(4) {
			bagsTrial(t, seed+i<<32, n, 1+int(elements)%1200)
		}
	})
}

// TestReduceRefusesEnds holds that ends which are no terms panic, in every form: the
// kernel reads the rows between them.
func TestReduceRefusesEnds(t *testing.T) {
	each(t, func(t *testing.T, form string) {
		for _, ends := range [][]int64{{0, 3}, {-1, 1}, {2, 1}, {0, 2, 1}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: ends %v of two terms are taken", form, ends)
					}
				}()
				ReduceBags(make([]byte, 64), make([]byte, 64), F32, Terms{Rows: make([]int64, 2), Begin: true}, Bags{Ends: ends, Size: 16, Step: 16})
			}()
		}
	})
}

// trySumAffine holds SumAffine against its formula, for rows and parts of rows of up to 70
// codes and some more. Rows lie at any byte, and end where src does, at a guard page.
func trySumAffine(t *testing.T, form string, bits int, weighted bool) {
	t.Helper()
	if f, _ := affineSumForm(bits, weighted); f == nil {
		if SumAffine(make([]byte, 64), make([]byte, 64), bits, 16*bits/8, Terms{Rows: make([]int64, 1), Begin: true}, Bags{Ends: []int64{0, 1}, Size: 64, Step: 64}) {
			t.Errorf("%s: codes of %d bits are added without a form", form, bits)
		}
		return
	}
	columns := []int{100, 127, 128, 129, 191, 256, 257, 300, 385, 512, 560}
	for n := range 70 {
		columns = append(columns, n+1)
	}
	for _, n := range columns {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			const count = 40
			number := func(at []byte) {
				switch v := float32(r.NormFloat64()); {
				case r.IntN(200) == 0 && bits == 8:
					putFloat(at, F32, r)
				case r.IntN(200) == 0:
					binary.LittleEndian.PutUint16(at, uint16(r.Uint32()))
				case bits == 8:
					put(at, v)
				default:
					binary.LittleEndian.PutUint16(at, uint16(float.Float16.Round(v)))
				}
			}
			skip := r.IntN(3) * 8 / bits // codes before the part
			codes, wide := ((skip+n)*bits+7)/8+r.IntN(2)*3, max(bits, 4)/2
			size := codes + 2*wide
			src := guard.Bytes(t, count*size+1)[1:]
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			for j := range count {
				number(src[j*size+codes:])
				number(src[j*size+codes+wide:])
			}
			total, b := 0, Bags{First: 3, Size: 4 * n, Step: 4*n + 64*r.IntN(2), Ends: []int64{3}}
			for range 1 + r.IntN(5) {
				if total += r.IntN(5); r.IntN(6) == 0 {
					total += 60
				}
				b.Ends = append(b.Ends, int64(3+total))
			}
			terms := Terms{Begin: r.IntN(4) > 0, Zero: seed%2 == 0, Ahead: r.IntN(2) * 9, Rows: make([]int64, total), Bias: skip * bits / 8}
			for j := range terms.Rows {
				terms.Rows[j] = int64(r.IntN(count) * size)
			}
			if weighted {
				terms.Weights = guard.Bytes(t, 4*total)
				for j := range total {
					putFloat(terms.Weights[4*j:], F32, r)
				}
			}
			got := guard.Bytes(t, (len(b.Ends)-2)*b.Step+b.Size)
			for at := 0; at < len(got); at += 4 {
				put(got[at:], float32(r.NormFloat64()))
			}
			want := bytes.Clone(got)
			AddEach(want, terms, b, func(sums []byte, row int, weight float32) {
				tail := src[row+codes-terms.Bias:]
				number := single
				if bits < 8 {
					number = func(b []byte) float32 { return float.Float16.Decode(uint64(binary.LittleEndian.Uint16(b))) }
				}
				scale, bias := float32(number(tail)*weight), float32(number(tail[wide:])*weight)
				for e := range n {
					put(sums[4*e:], float.FMA(float32(digit(src[row:], e*bits, bits)), scale, float32(single(sums[4*e:])+bias)))
				}
			})
			if !SumAffine(got, src, bits, codes-terms.Bias, terms, b) {
				t.Errorf("%s: rows of %d codes of %d bits are refused", form, n, bits)
			}
			for i := range len(b.Ends) - 1 {
				if !sameFloats(got[i*b.Step:][:b.Size], want[i*b.Step:][:b.Size], F32) {
					t.Errorf("%s: seed %d: bags of rows of %d codes of %d bits, weights %t, begin %t: differs from the formula", form, seed, n, bits, weighted, terms.Begin)
					break
				}
				if i > 0 && !bytes.Equal(got[i*b.Step-b.Step+b.Size:i*b.Step], want[i*b.Step-b.Step+b.Size:i*b.Step]) {
					t.Errorf("%s: seed %d: wrote behind a bag of %d codes of %d bits", form, seed, n, bits)
				}
			}
		}
	}
}

// tryDivide divides up to 70 elements.
func tryDivide(t *testing.T, form string, n Number, reciprocal bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	for count := range 70 {
		got := guard.Bytes(t, count*n.Size())
		for at := 0; at < len(got); at += n.Size() {
			putFloat(got[at:], n, r)
		}
		want := bytes.Clone(got)
		for at := 0; at < len(want); at += n.Size() {
			switch v := floatAt(want[at:], n); {
			case n == F64 && reciprocal:
				binary.LittleEndian.PutUint64(want[at:], math.Float64bits(v*(1.0/float64(count+3))))
			case n == F64:
				binary.LittleEndian.PutUint64(want[at:], math.Float64bits(v/float64(count+3)))
			case reciprocal:
				put(want[at:], float32(v)*(1/float32(count+3)))
			default:
				put(want[at:], float32(v)/float32(count+3))
			}
		}
		Divide(got, n, Quotient{Terms: count + 3, Reciprocal: reciprocal})
		if !sameFloats(got, want, n) {
			t.Errorf("%s: %d elements of %d bytes, reciprocal %t: differs from the definition", form, count, n.Size(), reciprocal)
		}
	}
}

// BenchmarkReduce sums bags of 20 terms: in a table that the second-level cache holds,
// and in one of 256 MiB.
func BenchmarkReduce(b *testing.B) {
	for _, table := range benchTables {
		memory := benchMemory()[:table.bytes]
		for _, columns := range []int{64, 128, 256, 1024} {
			for _, each := range []int{1, 20, 100} {
				size, bags := 4*columns, max(1000/each, 1)
				rows, out := randomOffsets(128*bags*each, size, len(memory)), make([]byte, bags*size)
				ends := make([]int64, bags+1)
				for i := range ends {
					ends[i] = int64(i * each)
				}
				for _, form := range Forms() {
					if form == "AMD64" || form == "AVX512VBMI" {
						continue // the forms before them run
					}
					for _, ahead := range []int{0, 8, 16, 32} {
						b.Run(fmt.Sprintf("of=%s/columns=%d/each=%d/form=%s/ahead=%d", table.name, columns, each, form, ahead), func(b *testing.B) {
							defer Use(form)()
							for call := 0; b.Loop(); call++ {
								rows := rows[call%128*bags*each:][:bags*each]
								ReduceBags(out, memory, F32, Terms{Rows: rows, Ahead: ahead, Begin: true, Zero: true}, Bags{Ends: ends, Size: size, Step: size})
							}
							perRow(b, bags*each)
						})
					}
				}
			}
		}
	}
}

// TestReduceMovesItsStack holds that Reduce reads and writes right where the stack grows
// in the middle of it: on new goroutines, each a little deeper than the one before.
func TestReduceMovesItsStack(t *testing.T) {
	const n = 1
	src := make([]byte, 0, 4*n)
	for i := range 2 * n {
		src = binary.LittleEndian.AppendUint16(src, 0x3f80+uint16(i)) // bf16, from 1 on
	}
	term := func(i int) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16) }
	rows := []int64{0, 2 * n}
	var want [n]float32
	for i := range want {
		want[i] = term(i) + term(n+i)
	}
	for depth := range 200 {
		done := make(chan []float32)
		go func() {
			got := make([]float32, n)
			deeper(depth, func() { Reduce(Bytes(got), src, BF16, Terms{Rows: rows, Begin: true}) })
			done <- got
		}()
		if got := <-done; !slices.Equal(got, want[:]) {
			t.Fatalf("depth %d: %v, want %v", depth, got, want)
		}
	}
}

// deeper calls f with that many more frames on the stack.
//
//go:noinline
func deeper(frames int, f func()) {
	var room [64]byte
	if frames > 0 {
		deeper(frames-1, f)
	} else {
		f()
	}
	runtime.KeepAlive(&room)
}
