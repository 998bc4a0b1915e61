package kernel

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/garner-go/garner/internal/float"
)

// A Number is a type of elements that reductions calculate with. Integers wrap.
type Number uint8

// The numbers. Floats of 16 bits are reduced as f32.
const (
	U8 Number = iota
	U16
	U32
	U64
	I8
	I16
	I32
	I64
	F16
	BF16
	F32
	F64
)

// Size returns the size of a number in bytes.
func (n Number) Size() int { return numberSizes[n] }

// Wide returns the size of what Reduce makes of numbers, in bytes: that of f32 for
// floats of 16 bits, else Size.
func (n Number) Wide() int {
	if n == F16 || n == BF16 {
		return 4
	}
	return numberSizes[n]
}

var numberSizes = [...]int{U8: 1, U16: 2, U32: 4, U64: 8, I8: 1, I16: 2, I32: 4, I64: 8, F16: 2, BF16: 2, F32: 4, F64: 8}

// Terms are rows of src that Reduce adds to dst, in order. Row j begins Rows[j]+Bias
// bytes behind the start of src, a whole number of elements, and lies inside src.
type Terms struct {
	Rows    []int64 // none is negative, with Bias added
	Weights []byte  // one element for each row, of the same type, adjacent and aligned; nil: none
	Ahead   int     // prefetch distance in rows; 0: none
	Bias    int     // added to rows
	Max     bool    // the greater element stays, instead of the sum; a NaN never replaces
	Begin   bool    // dst holds nothing yet: the first row begins it
	Zero    bool    // sums begin at +0, so that none is -0
	Fused   bool    // a product of floats and its addition are rounded once
}

// Bags say which terms are reduced into which part of dst.
type Bags struct {
	Ends  []int64 // the first term of each bag, and the end of the last; none falls
	First int64   // the term that Rows[0] is
	Size  int     // bytes of a bag, and of a row if that is not of floats of 16 bits
	Step  int     // bytes from one bag in dst to the next
}

// Reduce reduces rows of src, which have as many elements as dst, into dst, whose
// elements are aligned:
//
//	dst[e] = dst[e] + Weights[j] · src[Rows[j]+e]     for each row j in turn
//
// A product is rounded before it is added, unless t is Fused, and each sum is rounded. Of
// floats of 16 bits dst holds f32, which Store rounds.
func Reduce(dst, src []byte, n Number, t Terms) {
	ends := [...]int64{0, int64(len(t.Rows))}
	ReduceBags(dst, src, n, t, Bags{Ends: noescape(&ends)[:], Size: len(dst), Step: len(dst)})
	runtime.KeepAlive(&ends) // of which the compiler sees no use since noescape
}

// ReduceBags is Reduce for bag after bag. With Begin, a bag without terms is zeros.
func ReduceBags(dst, src []byte, n Number, t Terms, b Bags) {
	bags := len(b.Ends) - 1
	if bags <= 0 || b.Size == 0 {
		return
	}
	b.check(dst, len(t.Rows))
	f, wide := bagsForm(n, t.Weights != nil, t.Max, t.Fused)
	if f == nil {
		for i := range bags {
			reduceGeneric(dst[i*b.Step:i*b.Step+b.Size], src, n, t, int(b.Ends[i]-b.First), int(b.Ends[i+1]-b.First))
		}
		return
	}
	if len(t.Rows) == 0 && !t.Begin {
		return
	}
	if t.Weights != nil {
		_ = t.Weights[:len(t.Rows)*n.Size()]
	}
	var a bagsArgs
	a.reduce(f, dst, src, t, b, n.Size(), wide)
}

// SumAffine sums bags of rows of FBGEMM, or of parts of them, which begin at t.Rows+t.Bias
// of src: codes of bits bits, 8, 4 or 2, and tail bytes behind the first code a scale and
// a bias, as Affine reads them. A row makes a sum a into
//
//	fma(scale · weight, code, a + bias · weight)
//
// where each product and the sum are rounded. Without weights they are the scale and the
// bias themselves. It returns false, and does nothing, where no form in assembly does so.
func SumAffine(dst, src []byte, bits, tail int, t Terms, b Bags) bool {
	f, wide := affineSumForm(bits, t.Weights != nil)
	if f == nil {
		return false
	}
	if len(b.Ends) < 2 || b.Size == 0 || len(t.Rows) == 0 && !t.Begin {
		return true
	}
	b.check(dst, len(t.Rows))
	if tail < (b.Size/4*bits+7)/8 {
		panic("kernel: a scale among the codes")
	}
	last := len(src) - tail - max(bits, 4)
	for _, row := range t.Rows {
		if at := int(row) + t.Bias; at < 0 || at > last {
			panic("kernel: a row outside src")
		}
	}
	if t.Weights != nil {
		_ = t.Weights[:4*len(t.Rows)]
	}
	a := bagsArgs{codes: tail}
	a.reduce(f, dst, src, t, b, 4, wide)
	return true
}

// AddEach is ReduceBags of terms that add adds to sums of f32, one after the other. row is
// where a term begins, and weight is 1 where terms have none.
func AddEach(dst []byte, t Terms, b Bags, add func(sums []byte, row int, weight float32)) {
	weights := view[float32](t.Weights)
	for i := range len(b.Ends) - 1 {
		sums := dst[i*b.Step:][:b.Size]
		first, end := int(b.Ends[i]-b.First), int(b.Ends[i+1]-b.First)
		if t.Begin && (t.Zero || first == end) {
			clear(sums)
		} else if t.Begin {
			for e := range view[uint32](sums) {
				view[uint32](sums)[e] = 1 << 31
			}
		}
		for j := first; j < end; j++ {
			weight := float32(1)
			if weights != nil {
				weight = weights[j]
			}
			add(sums, int(t.Rows[j])+t.Bias, weight)
		}
	}
}

// What the accumulators begin with: +0, or −0, which leaves a product as it is.
var (
	positive   [64]uint64
	negative32 = filled(1<<31 | 1<<63)
	negative64 = filled(1 << 63)
)

func filled(v uint64) (all [64]uint64) {
	for i := range all {
		all[i] = v
	}
	return all
}

// check panics where a bag is outside dst or an end is none of so many terms.
func (b *Bags) check(dst []byte, terms int) {
	last := b.First
	for _, end := range b.Ends {
		if end < last || end > b.First+int64(terms) {
			panic("kernel: the end of a bag is no term")
		}
		last = end
	}
	_ = dst[(len(b.Ends)-2)*b.Step:][:b.Size]
}

// reduce calls a form whose accumulators have wide bytes, for elements of size bytes.
func (a *bagsArgs) reduce(f bagsFunc, dst, src []byte, t Terms, b Bags, size, wide int) {
	bags, begin, most := len(b.Ends)-1, 0, int64(stripsTerms+stripTerms)
	switch {
	case t.Begin && t.Zero && !t.Max:
		begin = beginZero
	case t.Begin:
		begin = beginFirst
	}
	if b.Size <= wide {
		most = math.MaxInt64
	}
	a.src, a.rows, a.weights = unsafe.SliceData(src), unsafe.SliceData(t.Rows), unsafe.SliceData(t.Weights)
	a.first, a.last, a.ahead, a.bias, a.size, a.step = b.First, len(t.Rows)-1, t.Ahead, t.Bias, b.Size, b.Step
	if t.Ahead == 0 {
		a.ahead = -1
	}
	a.positive, a.negative = &positive[0], &negative32[0]
	if size == 8 {
		a.negative = &negative64[0]
	}
	a.strip = (b.Size-1)%wide + 1
	a.mask = 1<<((a.strip/size-1)%(wide/8/size)+1) - 1
	for i := 0; i < bags; {
		n := 0
		for i+n < bags && b.Ends[i+n+1]-b.Ends[i+n] <= most {
			n++
		}
		if n > 0 {
			a.dst, a.ends, a.bags, a.begin = &dst[i*b.Step], &b.Ends[i], n, begin
			f.call(a)
			i += n
			continue
		}
		for first, end := b.Ends[i], b.Ends[i+1]; first < end; {
			piece := [...]int64{first, end}
			if end-first > most {
				piece[1] = first + stripsTerms
			}
			a.dst, a.ends, a.bags, a.begin = &dst[i*b.Step], noescape(&piece[0]), 1, begin
			if first > b.Ends[i] {
				a.begin = 0
			}
			f.call(a)
			first = piece[1]
			runtime.KeepAlive(&piece)
		}
		i++
	}
}

const (
	// The fewest terms of a bag with rows of several strips of which the next strip is
	// prefetched.
	stripTerms = 8

	// The terms that pass through one strip before the next one: what is prefetched for
	// that must stay in the first-level cache. At the end there are up to stripTerms more.
	stripsTerms = 16
)

// bagsArgs are the arguments of a bagsFunc.
type bagsArgs struct {
	dst, src *byte
	rows     *int64
	weights  *byte  // one for each of rows
	ends     *int64 // the first term of each bag, and the end of the last
	bags     int    // 1 or more; the assembly counts them down
	first    int64  // the term that is rows[0]
	last     int    // of the rows that can be prefetched
	ahead    int    // prefetch distance in rows; negative: none
	bias     int    // bytes, added to rows
	size     int    // bytes of a row and of a bag, 1 or more
	step     int    // bytes from one bag in dst to the next
	begin    int    // 0: dst is added to; or one of those below
	strip    int    // bytes of the first strip of a bag: a remainder, or all accumulators
	mask     int    // the lanes of its last accumulator, a bit each

	positive, negative *uint64 // +0 and −0, as many as the accumulators have

	codes int // bytes from the first code of a row of FBGEMM to its scale
}

// What a bag begins with.
const (
	beginFirst = 1 // the first term; a bag without terms is zeros
	beginZero  = 2 // +0
)

// A bagsFunc is a form of ReduceBags in assembly.
type bagsFunc func(*bagsArgs)

func (f bagsFunc) call(a *bagsArgs) { f(noescape(a)) }

// reduceGeneric is the definition of Reduce, for the terms from … to-1 and one bag.
// Where it begins a bag without terms, that is zeros.
func reduceGeneric(dst, src []byte, n Number, t Terms, from, to int) {
	if from == to && t.Begin {
		clear(dst)
		return
	}
	switch {
	case n == F16:
		reduceNarrow(dst, src, F16ToF32, t, from, to)
	case n == BF16:
		reduceNarrow(dst, src, BF16ToF32, t, from, to)
	case n == F32:
		reduceAs(dst, src, t, from, to, float.FMA)
	case n == F64:
		reduceAs(dst, src, t, from, to, math.FMA)
	case n == I8 && t.Max: // products wrap alike, signed or not
		reduceAs[int8](dst, src, t, from, to, nil)
	case n == I16 && t.Max:
		reduceAs[int16](dst, src, t, from, to, nil)
	case n == I32 && t.Max:
		reduceAs[int32](dst, src, t, from, to, nil)
	case n == I64 && t.Max:
		reduceAs[int64](dst, src, t, from, to, nil)
	case n == U8 || n == I8:
		reduceAs[uint8](dst, src, t, from, to, nil)
	case n == U16 || n == I16:
		reduceAs[uint16](dst, src, t, from, to, nil)
	case n == U32 || n == I32:
		reduceAs[uint32](dst, src, t, from, to, nil)
	default:
		reduceAs[uint64](dst, src, t, from, to, nil)
	}
}

// prefetch prefetches the row that is the prefetch distance behind row j.
func (t *Terms) prefetch(src []byte, j, size int) {
	if j += t.Ahead; t.Ahead > 0 && j < len(t.Rows) {
		at := int(t.Rows[j]) + t.Bias
		Prefetch(src[at : at+size])
	}
}

type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// view returns aligned bytes as elements.
func view[T number](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// Floats returns bytes as the f32 that lie there, little-endian as the machine is that has
// kernels, or nil where they are not aligned.
func Floats(b []byte) []float32 {
	if !Aligned(b, 4) {
		return nil
	}
	return view[float32](b)
}

// reduceAs is reduceGeneric for one type of numbers; fma is nil for integers.
func reduceAs[T number](dst, src []byte, t Terms, first, end int, fma func(a, b, c T) T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	to, weights := view[T](dst), view[T](t.Weights)
	if !t.Fused {
		fma = nil
	}
	begin, aligned := t.Begin, Aligned(src, size)
	var copied [64]T
	for j := first; j < end; j++ {
		t.prefetch(src, j, len(dst))
		if aligned && weights == nil && !t.Max && !begin && j+4 <= end {
			var four [4][]T
			for i := range four {
				at := int(t.Rows[j+i]) + t.Bias
				four[i] = view[T](src[at : at+len(dst)])
				if i > 0 {
					t.prefetch(src, j+i, len(dst))
				}
			}
			addFour(to, four[0], four[1], four[2], four[3])
			j += 3
			continue
		}
		at := int(t.Rows[j]) + t.Bias
		from := src[at : at+len(dst)]
		var weight T
		if weights != nil {
			weight = weights[j]
		}
		if aligned {
			reduceRow(to, view[T](from), weights != nil, weight, t.Max, begin, t.Zero, fma)
		} else {
			for at := 0; at < len(to); at += len(copied) {
				n := min(len(copied), len(to)-at)
				copy(unsafe.Slice((*byte)(unsafe.Pointer(&copied)), n*size), from[at*size:(at+n)*size])
				reduceRow(to[at:at+n], copied[:n], weights != nil, weight, t.Max, begin, t.Zero, fma)
			}
		}
		begin = false
	}
}

// addFour adds four rows to dst, one after the other.
func addFour[T number](dst, a, b, c, d []T) {
	a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	for e, v := range dst {
		v += a[e]
		v += b[e]
		v += c[e]
		dst[e] = v + d[e]
	}
}

// reduceRow reduces one row into dst. The conversions keep a product and a sum from
// one rounding, which fma makes where it is not nil.
func reduceRow[T number](dst, src []T, weighted bool, weight T, greater, begin, zero bool, fma func(a, b, c T) T) {
	src = src[:len(dst)]
	switch {
	case greater && weighted:
		for e, v := range src {
			if v = T(v * weight); begin || v > dst[e] {
				dst[e] = v
			}
		}
	case greater && begin:
		copy(dst, src)
	case greater:
		for e, v := range src {
			if v > dst[e] {
				dst[e] = v
			}
		}
	case weighted && fma != nil:
		if begin && zero {
			clear(dst)
		}
		for e, v := range src {
			if begin && !zero {
				dst[e] = T(v * weight)
			} else {
				dst[e] = fma(v, weight, dst[e])
			}
		}
	case begin && weighted && zero:
		for e, v := range src {
			dst[e] = 0 + T(v*weight)
		}
	case begin && weighted:
		for e, v := range src {
			dst[e] = T(v * weight)
		}
	case begin && zero:
		for e, v := range src {
			dst[e] = 0 + v
		}
	case begin:
		copy(dst, src)
	case weighted:
		for e, v := range src {
			dst[e] += T(v * weight)
		}
	default:
		for e, v := range src {
			dst[e] += v
		}
	}
}

// reduceNarrow is Reduce for floats of 16 bits, which c converts to f32: some terms of
// some columns at a time.
func reduceNarrow(dst, src []byte, c Conversion, t Terms, first, end int) {
	const most, mostTerms = len(wideRows{}.rows), len(wideRows{}.places)
	room := widened.Get().(*wideRows)
	rows, weights, places := &room.rows, &room.weights, &room.places
	for column := 0; column < len(dst)/4; {
		n := min(len(dst)/4-column, 256)
		each := min(most/n, mostTerms)
		Start(places[:each], 0, int64(4*n))
		part := Terms{Max: t.Max, Begin: t.Begin, Zero: t.Zero, Fused: t.Fused}
		for j := first; j < end; j += each {
			count := min(each, end-j)
			for k := range count {
				if column == 0 {
					t.prefetch(src, j+k, len(dst)/2)
				}
				from := src[int(t.Rows[j+k])+t.Bias:][:len(dst)/2]
				Convert(Bytes(rows[k*n:(k+1)*n]), from[2*column:2*(column+n)], c)
			}
			if t.Weights != nil {
				part.Weights = Bytes(weights[:count])
				Convert(part.Weights, t.Weights[2*j:2*(j+count)], c)
			}
			part.Rows = places[:count]
			Reduce(dst[4*column:4*(column+n)], Bytes(rows[:count*n]), F32, part)
			part.Begin = false
		}
		column += n
	}
	widened.Put(room)
}

// wideRows are some terms of floats of 16 bits as f32.
type wideRows struct {
	rows    [1024]float32
	weights [16]float32
	places  [16]int64
}

// widened is the free list of them.
var widened = sync.Pool{New: func() any { return new(wideRows) }}

// Store ends a reduction: it writes what Reduce and Divide made, which may lie in dst, as
// elements of n. Floats of 16 bits are rounded, those of bf16 as away says.
func Store(dst, reduced []byte, n Number, away bool) {
	switch {
	case n == BF16 && away:
		from := view[float32](reduced)
		for e := range len(dst) / 2 {
			binary.LittleEndian.PutUint16(dst[2*e:], uint16(float.AwayFromZero(from[e])))
		}
	case n == F16:
		Convert(dst, reduced, F32ToF16)
	case n == BF16:
		Convert(dst, reduced, F32ToBF16)
	case unsafe.SliceData(dst) != unsafe.SliceData(reduced):
		copy(dst, reduced)
	}
}

// rounded rounds f32 to elements of n, and keeps them as f32.
func rounded(sums []float32, n Number, away bool) {
	f := float.Float16
	if n == BF16 {
		f = float.BFloat16
	}
	for e, v := range sums {
		if n == BF16 && away {
			sums[e] = f.Decode(float.AwayFromZero(v))
		} else {
			sums[e] = f.Decode(f.Round(v))
		}
	}
}

// A Quotient ends a mean: by what a sum is divided.
type Quotient struct {
	Terms      int
	Weights    uint64 // the sum that AddWeights gave, instead of Terms
	Weighted   bool
	Root       bool // the root of either
	Reciprocal bool // without weights, a product with the rounded reciprocal
	Rounded    bool // of the sum of floats of 16 bits, rounded to them
	Away       bool // which rounds a sum of bf16 halfway between two away from 0
}

// Divide divides every element of dst, which is aligned and as Reduce made it. A quotient by 0 is 0, which only
// weights make. Integers round toward zero; they have no Root.
func Divide(dst []byte, n Number, q Quotient) {
	if q.Rounded && n.Wide() > n.Size() {
		rounded(view[float32](dst), n, q.Away)
	}
	switch n {
	case F16, BF16, F32:
		d := float32(q.Terms)
		if q.Weighted {
			d = float32(math.Float64frombits(q.Weights))
		}
		if q.Root {
			d = float32(math.Sqrt(float64(d)))
		}
		divideFloats(view[float32](dst), d, q)
	case F64:
		d := float64(q.Terms)
		if q.Weighted {
			d = math.Float64frombits(q.Weights)
		}
		if q.Root {
			d = math.Sqrt(d)
		}
		divideFloats(view[float64](dst), d, q)
	case I8:
		divideIntegers[int8, int64](dst, q)
	case I16:
		divideIntegers[int16, int64](dst, q)
	case I32:
		divideIntegers[int32, int64](dst, q)
	case I64:
		divideIntegers[int64, int64](dst, q)
	case U8:
		divideIntegers[uint8, uint64](dst, q)
	case U16:
		divideIntegers[uint16, uint64](dst, q)
	case U32:
		divideIntegers[uint32, uint64](dst, q)
	default:
		divideIntegers[uint64, uint64](dst, q)
	}
}

func divideFloats[T float32 | float64](dst []T, d T, q Quotient) {
	if d == 0 { // TES.5
		clear(dst)
		return
	}
	times := q.Reciprocal && !q.Weighted
	if times {
		d = 1 / d
	}
	if f, n := quotientForm(unsafe.Sizeof(d) == 8, times), len(dst)&^15; f != nil && n > 0 {
		f.call(&quotientArgs{(*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(noescape(&d))), n})
		dst = dst[n:]
	}
	if times {
		for e := range dst {
			dst[e] *= d
		}
		return
	}
	for e := range dst {
		dst[e] /= d
	}
}

// quotientArgs are the arguments of a quotientFunc.
type quotientArgs struct {
	dst, by *byte
	n       int // elements, a positive multiple of 16
}

// A quotientFunc divides elements by one, or multiplies them with it.
type quotientFunc func(*quotientArgs)

func (f quotientFunc) call(a *quotientArgs) { f(noescape(a)) }

// divideIntegers divides by the terms, or by weights whose sum is a T.
func divideIntegers[T number, W int64 | uint64](dst []byte, q Quotient) {
	d := W(q.Terms)
	if q.Weighted {
		d = W(T(q.Weights))
	}
	if d == 0 { // TES.5
		clear(dst)
		return
	}
	elements := view[T](dst)
	if q.Weighted && unsafe.Sizeof(d) == unsafe.Sizeof(elements[0]) {
		for e, v := range elements {
			elements[e] = T(throughFloat(W(v), d))
		}
		return
	}
	for e, v := range elements {
		elements[e] = T(W(v) / d)
	}
}

// throughFloat is a quotient of f64, cut to an integer: TES.5. What W does not hold is the
// least int64, or 2^63.
func throughFloat[W int64 | uint64](v, d W) W {
	q, most := float64(v)/float64(d), float64(1<<63)
	if W(0)-1 > 0 {
		most *= 2
	}
	if q >= most {
		return W(1) << 63
	}
	return W(q)
}

// AddWeights adds weights, which are adjacent and aligned, to a sum: the bits of an f64
// for floats, and an integer modulo 2^64 for integers. With squared it adds the squares of
// floats. Each product and each sum of floats is rounded as Reduce rounds.
func AddWeights(sum uint64, weights []byte, n Number, squared bool) uint64 {
	switch n {
	case I8, U8:
		return addIntegers[uint8](sum, weights)
	case I16, U16:
		return addIntegers[uint16](sum, weights)
	case I32, U32:
		return addIntegers[uint32](sum, weights)
	case I64, U64:
		return addIntegers[uint64](sum, weights)
	}
	return math.Float64bits(addFloats(math.Float64frombits(sum), weights, n, squared))
}

func addIntegers[T uint8 | uint16 | uint32 | uint64](sum uint64, weights []byte) uint64 {
	for _, w := range view[T](weights) {
		sum += uint64(w)
	}
	return sum
}

func addFloats(sum float64, weights []byte, n Number, squared bool) float64 {
	switch n {
	case F32:
		s := float32(sum)
		for _, w := range view[float32](weights) {
			if squared {
				w = float32(w * w)
			}
			s += w
		}
		return float64(s)
	case F64:
		for _, w := range view[float64](weights) {
			if squared {
				w = float64(w * w)
			}
			sum += w
		}
		return sum
	}
	c, wide := F16ToF32, [64]float32{}
	if n == BF16 {
		c = BF16ToF32
	}
	for len(weights) > 0 {
		some := wide[:min(len(weights)/2, len(wide))]
		Convert(Bytes(some), weights[:2*len(some)], c)
		sum, weights = addFloats(sum, Bytes(some), F32, squared), weights[2*len(some):]
	}
	return sum
}

// Weightless reports whether a weight is not above 0.
func Weightless(weight []byte, n Number) bool {
	switch n {
	case F32:
		return !(view[float32](weight)[0] > 0)
	case F64:
		return !(view[float64](weight)[0] > 0)
	case F16, BF16:
		f := float.Float16
		if n == BF16 {
			f = float.BFloat16
		}
		return !(f.Decode(uint64(view[uint16](weight)[0])) > 0)
	case I8:
		return int8(weight[0]) <= 0
	case I16:
		return view[int16](weight)[0] <= 0
	case I32:
		return view[int32](weight)[0] <= 0
	case I64:
		return view[int64](weight)[0] <= 0
	}
	for _, b := range weight[:n.Size()] {
		if b != 0 {
			return false
		}
	}
	return true
}
