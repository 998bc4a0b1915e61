package codec

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

// A Span is a range of the bytes of an operand: From … To−1.
type Span struct{ From, To int64 }

// Decode writes the elements first … first+n−1 of the table, row-major, to dst,
// little-endian in b.Out. Each operand is given whole or as a part that holds what
// Spans says; zeros is not read where b.Zeros is None. Decode allocates nothing.
func (b *Blocks) Decode(dst []byte, codes, scales, zeros Part, first, n int) {
	table, width := b.Codes.table(b.Scales), uint64(b.Codes.Bits())
	mask, out := byte(1<<width-1), b.Out.Bits()/8
	for n > 0 {
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

// at returns the numbers of an element's scale and zero point, and of how many elements
// from it on they are the scale and the zero point.
func (b *Blocks) at(element int) (scale, zero int64, run int) {
	run = 1
	for k := len(b.Axes) - 1; k >= 0; k-- {
		a := &b.Axes[k]
		i := element % a.Extent
		element /= a.Extent
		scale += int64(i/a.Block) * int64(a.Scale)
		zero += int64(i/a.Block) * int64(a.Zero)
		if k == len(b.Axes)-1 {
			run = min(a.Block-i%a.Block, a.Extent-i)
		}
	}
	return scale, zero, run
}

// Spans returns the bytes of each operand that Decode of the same elements reads. A run
// that is neither inside one row nor whole rows may get more scales and zero points
// than it reads.
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
	return Span{first * bits / 8, ((last+1)*bits + 7) / 8}
}
