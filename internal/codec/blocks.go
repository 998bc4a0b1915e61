package codec

import (
	"sync"

	"github.com/garner-go/garner/internal/kernel"
)

// Blocks is a table whose codes, scales and zero points are three operands: those of
// com.microsoft.GatherBlockQuantized, and of the pattern that OpenVINO compresses
// tables to. An element is
//
//	(code − zero point) · scale
//
// in f32, each operation rounded once, and then rounded to Out (QB.7). Codes of NF4 are
// first rounded to the form of the scales, as OpenVINO does (QB.8); all others are
// exact in it.
type Blocks struct {
	Codes  Number // form of the codes: 8 bits or fewer
	Scales Number // form of the scales
	Zeros  Number // form of the zero points; None where Zero is the only one
	Zero   float32
	Out    Number // form of the elements: F32, F16 or BF16
	Axes   []Axis // of the table, outermost first
}

// An Axis is one of a table's axes. An element at place i of it has the scale that is
// i/Block·Scale places after that at place 0, and so with Zero. Scale and Zero are 0
// where all of the axis has one: a broadcast operand (QB.9).
type Axis struct {
	Extent int // elements; the codes lie row-major
	Block  int // elements that share a scale and a zero point, 1 or more; the last block may be shorter
	Scale  int // from one block's scale to the next, in scales
	Zero   int // from one block's zero point to the next, in zero points
}

// A Part is a range of the bytes of an operand.
type Part struct {
	Bytes []byte
	From  int64 // bytes of the operand before it
}

// A Span is a range of the bytes of an operand.
type Span = kernel.Span

// Decode writes the elements first … first+n−1 of the table, row-major, to dst,
// little-endian in b.Out. Each operand is given whole or as a part that holds what
// Spans says; zeros is not read where b.Zeros is None. Decode allocates nothing.
func (b *Blocks) Decode(dst []byte, codes, scales, zeros Part, first, n int) {
	table, width := b.Codes.table(b.Scales), uint64(b.Codes.Bits())
	mask, out := byte(1<<width-1), b.Out.Bits()/8
	for n > 0 {
		if done := b.runs(dst, codes, scales, zeros, first, n); done > 0 {
			dst = dst[done*out:]
			first += done
			n -= done
			continue
		}
		scaleAt, zeroAt, run := b.at(first)
		run = min(run, n)
		scale, zero := b.Scales.at(scales.Bytes, scaleAt*int64(b.Scales.Bits())-8*scales.From), b.Zero
		if b.Zeros != None {
			zero = b.Zeros.at(zeros.Bytes, zeroAt*int64(b.Zeros.Bits())-8*zeros.From)
		}
		minus := negative(zero)
		bit := uint64(first)*width - 8*uint64(codes.From)
		for range run {
			code := codes.Bytes[bit/8] >> (bit % 8) & mask
			b.Out.write(dst, product(sum(table[code], minus), scale))
			bit += width
			dst = dst[out:]
		}
		first += run
		n -= run
	}
}

// mostRuns is how many scales and zero points are converted at once. They are in the
// frame, which Go clears: more would cost a short row more.
const mostRuns = 64

// runs decodes whole blocks along the innermost axis from first on, as far as package
// kernel does so, and returns how many elements those are: none, or at most those of
// mostRuns blocks where scales or zero points have to be converted. The arguments are
// those of Decode.
func (b *Blocks) runs(dst []byte, codes, scales, zeros Part, first, n int) int {
	r, ok := b.kernel()
	if len(b.Axes) == 0 || n < 16 || !ok {
		return 0
	}
	a := &b.Axes[len(b.Axes)-1]
	scaleStep, zeroStep := a.Scale, a.Zero
	if b.Zeros == None {
		zeroStep = 0
	}
	i := first % a.Extent
	rest, count := min(n, a.Extent-i), 1
	if scaleStep == 0 && zeroStep == 0 {
		r.Length = rest &^ 15 // all of the axis is one run, of which a part will do
	} else {
		if r.Length = min(a.Block, a.Extent); i%a.Block > 0 {
			return 0
		}
		count = rest / r.Length
	}
	bit := int64(first)*int64(r.Bits) - 8*codes.From
	if count*r.Length == 0 || r.Length%16 > 0 || bit%8 > 0 || scaleStep > 1 || zeroStep > 1 {
		return 0
	}
	r.Count, r.ScaleStep, r.ZeroStep = count, scaleStep, zeroStep
	src := codes.Bytes[bit/8:]
	scaleAt, zeroAt, _ := b.at(first)
	if b.Scales == F32 && b.Zeros == None {
		zero := [...]float32{b.Zero}
		from := 4*scaleAt - scales.From
		if r.Scales, r.Zeros = kernel.Floats(scales.Bytes[from:from+4*int64(1+(count-1)*scaleStep)]), zero[:]; r.Scales != nil {
			kernel.Scale(dst, src, firstPlace, &r)
			return count * r.Length
		}
	}
	r.Count = min(count, mostRuns)
	b.scale(dst, src, r, scales, zeros, scaleAt, zeroAt)
	return r.Count * r.Length
}

// firstPlace is that of a row with which its operands begin.
var firstPlace = []kernel.Place{{}}

// kernel returns what package kernel needs to know of b, and whether it has a form for
// such codes.
func (b *Blocks) kernel() (r kernel.Runs, ok bool) {
	r = kernel.Runs{Bits: b.Codes.Bits(), Signed: b.Codes == I8, Float16: b.Out == F16, Values: b.Codes.table(b.Scales)}
	return r, (r.Bits < 8 || b.Codes == I8 || b.Codes == U8) && b.Out != BF16 && r.Fast()
}

// scale decodes runs whose scales or zero points are first converted to f32.
func (b *Blocks) scale(dst, src []byte, r kernel.Runs, scales, zeros Part, scaleAt, zeroAt int64) {
	var scale, zero [mostRuns]float32
	r.Scales = b.Scales.some(scale[:], scales, scaleAt, 1+(r.Count-1)*r.ScaleStep)
	if r.Zeros = zero[:1]; b.Zeros == None {
		zero[0] = b.Zero
	} else {
		r.Zeros = b.Zeros.some(zero[:], zeros, zeroAt, 1+(r.Count-1)*r.ZeroStep)
	}
	kernel.Scale(dst, src, firstPlace, &r)
}

// DecodeRows is Decode of n elements of each row, one row behind the other in dst, from
// whole operands: row j begins with the element that lies rows[j]+bias bytes behind the
// first, counted as elements lie in memory. It returns false, and dst is any, where it
// has no faster way than Decode of each row: package kernel must have a form, the blocks
// must follow each other as their scales and zero points do, and rows must be whole
// blocks. It allocates nothing once calls have filled its free list.
func (b *Blocks) DecodeRows(dst, codes, scales, zeros []byte, rows []int64, bias, n int) bool {
	r, ok := b.kernel()
	if !ok || n < 16 {
		return false
	}
	block, inScales := dense(b.Axes, func(a *Axis) int { return a.Scale })
	other, inZeros := 0, true
	if b.Zeros != None {
		other, inZeros = dense(b.Axes, func(a *Axis) int { return a.Zero })
	}
	if block > 0 {
		r.ScaleStep = 1
	}
	if other > 0 {
		r.ZeroStep = 1
	}
	switch {
	case !inScales || !inZeros || block > 0 && other > 0 && block != other:
		return false
	case max(block, other) == 0: // all elements have one scale and one zero point
		block = 16
		r.Count, r.Length = 1, n
	default:
		block = max(block, other)
		r.Count, r.Length = n/block, block
	}
	if n%block > 0 || r.Length%16 > 0 {
		return false
	}
	room := placed.Get().(*places)
	defer placed.Put(room)
	width, perByte := int64(b.Out.Bits()/8), int64(8/r.Bits)
	inPlace := func(number Number, operand []byte) []float32 {
		if number != F32 {
			return nil
		}
		return kernel.Floats(operand)
	}
	scalesOf, zerosOf := inPlace(b.Scales, scales), inPlace(b.Zeros, zeros)
	if b.Zeros == None {
		room.zeros[0] = b.Zero
		zerosOf = room.zeros[:1]
	}
	eachScale, eachZero := 1+(r.Count-1)*r.ScaleStep, 1+(r.Count-1)*r.ZeroStep
	r.Far, r.Scales, r.Zeros = true, scalesOf, zerosOf
	most := len(room.places)
	if scalesOf == nil {
		most = min(most, len(room.scales)/eachScale)
	}
	if zerosOf == nil {
		most = min(most, len(room.zeros)/eachZero)
	}
	if most == 0 {
		return false
	}
	for len(rows) > 0 {
		some := room.places[:min(len(rows), most)]
		for j := range some {
			first := (rows[j] + int64(bias)) / width
			at := first / int64(block)
			if at*int64(block) != first {
				return false
			}
			some[j] = kernel.Place{Codes: first / perByte, Scale: at * int64(r.ScaleStep), Zero: at * int64(r.ZeroStep)}
		}
		if scalesOf == nil {
			r.Scales = room.scales[:len(some)*eachScale]
			b.Scales.convert(r.Scales, scales, some, eachScale, func(p *kernel.Place) *int64 { return &p.Scale })
		}
		if zerosOf == nil {
			r.Zeros = room.zeros[:len(some)*eachZero]
			b.Zeros.convert(r.Zeros, zeros, some, eachZero, func(p *kernel.Place) *int64 { return &p.Zero })
		}
		kernel.Scale(dst, codes, some, &r)
		dst, rows = dst[len(some)*n*int(width):], rows[len(some):]
	}
	return true
}

// places are those of the rows that DecodeRows decodes at a time, and their scales and
// zero points where these have to be converted.
type places struct {
	places        [512]kernel.Place
	scales, zeros [1024]float32
}

// placed is the free list of them.
var placed = sync.Pool{New: func() any { return new(places) }}

// dense returns how many elements in turn share a value of an operand with these strides,
// if the values follow each other as the elements do; 0 if all share one.
func dense(axes []Axis, stride func(*Axis) int) (block int, ok bool) {
	inner, values := 1, 1 // elements inside the axis, and their values
	for k := len(axes) - 1; k >= 0; k-- {
		a := &axes[k]
		s := stride(a)
		if a.Block >= a.Extent {
			s = 0 // it has one value
		}
		switch {
		case a.Extent == 1:
		case s == 0 && block == 0:
		case block == 0 && s == 1 && a.Extent%a.Block == 0:
			block, values = inner*a.Block, a.Extent/a.Block
		case block > 0 && s == values && a.Block == 1:
			values *= a.Extent
		default:
			return 0, false
		}
		inner *= a.Extent
	}
	return block, true
}

// convert reads count values of an operand for each row to dst, and sets the places of
// the rows' first values to those there.
func (n Number) convert(dst []float32, operand []byte, rows []kernel.Place, count int, place func(*kernel.Place) *int64) {
	width := int64(n.Bits())
	for j := range rows {
		if later := j + convertAhead; later < len(rows) {
			from := *place(&rows[later]) * width / 8
			kernel.Prefetch(operand[from : from+1])
		}
		at := place(&rows[j])
		n.some(dst[j*count:], Part{Bytes: operand}, *at, count)
		*at = int64(j * count)
	}
}

// convertAhead is how many rows ahead a scale is prefetched while others are converted.
const convertAhead = 16

// some reads count values of an operand, from value at on, to the first places of dst,
// and returns those.
func (n Number) some(dst []float32, p Part, at int64, count int) []float32 {
	dst = dst[:count]
	width := int64(n.Bits())
	bit := at*width - 8*p.From
	done := 0
	if bit%8 == 0 && (count >= 16 || n == F32) {
		to, from := kernel.Bytes(dst), p.Bytes[bit/8:(bit+int64(count)*width)/8]
		switch n {
		case F32:
			done = copy(to, from) / 4 // a processor with kernels is little-endian
		case F16:
			kernel.Convert(to, from, kernel.F16ToF32)
			done = count
		case I4, U4, I8, U8:
			// A scale of 1 and a zero point of 0 leave a code as it is.
			r := kernel.Runs{Bits: int(width), Signed: n == I8, Values: n.table(F32), Count: 1, Length: count &^ 15, Scales: []float32{1}, Zeros: []float32{0}}
			if r.Fast() {
				kernel.Scale(to, from, firstPlace, &r)
				done = r.Length
			}
		}
	}
	for i := done; i < count; i++ {
		dst[i] = n.at(p.Bytes, bit+int64(i)*width)
	}
	return dst
}

// at returns the numbers of an element's scale and zero point, and of how many elements
// from it on they are the scale and the zero point.
func (b *Blocks) at(element int) (scale, zero int64, run int) {
	run = 1
	for k := len(b.Axes) - 1; k >= 0; k-- {
		a := &b.Axes[k]
		i := element % a.Extent
		element /= a.Extent
		block := i
		if a.Block > 1 {
			block /= a.Block
		}
		scale += int64(block) * int64(a.Scale)
		zero += int64(block) * int64(a.Zero)
		if k == len(b.Axes)-1 {
			run = min(a.Block-i%a.Block, a.Extent-i)
		}
	}
	return scale, zero, run
}

// Spans returns the bytes of each operand that Decode of the same elements reads. A run
// that is neither inside one row nor whole rows may get more scales and zero points
// than it reads. Codes without elements have none.
func (b *Blocks) Spans(first, n int) (codes, scales, zeros Span) {
	if n <= 0 {
		return
	}
	codes = span(b.Codes, int64(first), int64(first)+int64(n)-1)
	// Outside the outermost axis along which the run moves, its elements have one place;
	// along that axis they have those of the first and the last; inside it, all.
	var s, z [2]int64 // first and last scale and zero point
	from, to := first, first+n-1
	for k := len(b.Axes) - 1; k >= 0; k-- {
		a := &b.Axes[k]
		if a.Extent == 0 { // there is no element
			return Span{}, Span{}, Span{}
		}
		i, j := from%a.Extent, to%a.Extent
		from, to = from/a.Extent, to/a.Extent
		if from != to {
			i, j = 0, a.Extent-1
		}
		s[0] += int64(i/a.Block) * int64(a.Scale)
		s[1] += int64(j/a.Block) * int64(a.Scale)
		z[0] += int64(i/a.Block) * int64(a.Zero)
		z[1] += int64(j/a.Block) * int64(a.Zero)
	}
	scales = span(b.Scales, s[0], s[1])
	if b.Zeros != None {
		zeros = span(b.Zeros, z[0], z[1])
	}
	return codes, scales, zeros
}

// span returns the bytes of the values first … last of an operand.
func span(n Number, first, last int64) Span {
	bits := int64(n.Bits())
	return Span{From: first * bits / 8, To: ((last+1)*bits + 7) / 8}
}
