package garner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/codec"
)

// StoredBlocks reads data, of u8, as blocks of a kind of GGUF, such as Q4_K, which hold
// their own scales: its last axis has the bytes of whole blocks. A kind that is not
// decoded is an ErrAttribute. From here on data is that of the elements, of f32. Data of
// another dtype is an ErrDType, a part of a block an ErrShape.
func (l *Lowering) StoredBlocks(name string) *Lowering {
	l.computes = true
	l.needBytes("GGUF")
	kind, ok := codec.GGUF(name)
	if name == "" {
		return l.noBlocks("type is not given; it is a kind of GGUF that is decoded, and there are %s", codec.KindsOfGGUF())
	}
	if !ok {
		return l.noBlocks("type %q is no kind of GGUF that is decoded; there are %s", name, codec.KindsOfGGUF())
	}
	return l.blocks(kind.Name, func(bytes Dim) (Dim, bool) {
		blocks := Dim{(bytes.Min + kind.Bytes - 1) / kind.Bytes, bytes.Max}
		if bytes.Max != Unbounded {
			blocks.Max /= kind.Bytes
		}
		if blocks.Min > blocks.Max {
			l.Fail(KindMismatch, "rows of data have %s bytes; a block of %s has %d, so a row is a multiple of them", bytes, kind.Name, kind.Bytes) // R.37
			return Dim{}, false
		}
		elements, ok := product([]Dim{blocks, Exactly(kind.Elements)})
		return elements, ok
	}, func(int) (*codec.Codec, bool) { return kind, true })
}

// StoredRows reads data, of u8, as rows of FBGEMM: its last axis has the codes of a
// row, each of 8, 4 or 2 bits, and then the scale and the bias of the row. Other bits
// are an ErrAttribute. From here on data is that of the elements, of f32. Data of
// another dtype is an ErrDType, a row too short for its scale and bias an ErrShape.
func (l *Lowering) StoredRows(bits int) *Lowering { return l.storedRows(bits, codec.Rows) }

// UnpackedRows is StoredRows where the last columns of codes of 8 bits, those from
// 8·⌊columns/8⌋ on, are rounded to f64 and then to f32, as torch's unpack does; else an
// element is rounded once.
func (l *Lowering) UnpackedRows(bits int) *Lowering { return l.storedRows(bits, codec.Unpacked) }

func (l *Lowering) storedRows(bits int, rows func(bits, columns int) (*codec.Codec, bool)) *Lowering {
	l.computes = true
	l.needBytes("FBGEMM")
	empty, ok := codec.Rows(bits, 0)
	if bits == 0 {
		return l.noBlocks("bits is 0 or not given; rows of FBGEMM have codes of 8, 4 or 2")
	}
	if !ok {
		return l.noBlocks("bits %d; rows of FBGEMM have codes of 8, 4 or 2", bits)
	}
	tail := empty.Bytes
	columns := func(bytes int) int { return (bytes - tail) * (8 / bits) }
	return l.blocks(fmt.Sprintf("FBGEMM, %d bits", bits), func(bytes Dim) (Dim, bool) {
		if bytes.Max < tail {
			l.Fail(KindMismatch, "rows of data have %s bytes; the scale and the bias of a row alone take %d", bytes, tail) // R.37
			return Dim{}, false
		}
		codes := Dim{max(bytes.Min, tail) - tail, bytes.Max}
		if bytes.Max != Unbounded {
			codes.Max -= tail
		}
		return product([]Dim{codes, Exactly(8 / bits)})
	}, func(bytes int) (*codec.Codec, bool) { return rows(bits, columns(bytes)) })
}

// noBlocks records the ErrAttribute of blocks that there are none of. Data is still that
// of the elements, so that no operand is compared with the bytes.
func (l *Lowering) noBlocks(format string, args ...any) *Lowering {
	l.FailAttribute(format, args...)
	l.data.DType = F32
	return l
}

// needBytes checks that data, which holds blocks, is u8.
func (l *Lowering) needBytes(of string) {
	if l.data.DType != U8 { // R.37
		l.FailDType("data is %s; blocks of %s are bytes, u8", l.data.DType, of)
	}
}

// blocks replaces data by the elements of its blocks, given the elements of a row by
// its bytes.
func (l *Lowering) blocks(name string, elements func(bytes Dim) (Dim, bool), kind func(bytes int) (*codec.Codec, bool)) *Lowering {
	defer func() { l.data.DType = F32 }()
	l.NeedRanks(1, 0)
	if l.err != nil || !l.data.Rank.Known() {
		return l
	}
	dims := slices.Clone(l.data.Dims)
	last := len(dims) - 1
	bytes := dims[last]
	d, ok := elements(bytes)
	if !ok {
		if l.err == nil {
			l.Fail(KindMismatch, "data %s holds more elements than an int can count", l.data)
		}
		return l
	}
	dims[last] = d
	if !bytes.Known() {
		return l.store(nil, SpecOfDims(F32, dims...))
	}
	c, _ := kind(bytes.Min)
	return l.store(&Stored{name: name, decoder: newBlockDecoder(c, 4)}, SpecOfDims(F32, dims...))
}

// store makes elements the data that the operator gathers from. s is nil while they are
// known in part.
func (l *Lowering) store(s *Stored, elements Spec) *Lowering {
	l.data = elements
	var err error
	if l.dataStride, err = l.measure("data, decoded,", elements); err != nil {
		l.err = err
		return l
	}
	if shape, known := elements.Shape(); known && s != nil {
		s.view = Tensor{dtype: elements.DType, shape: shape, strides: shape.Strides()}
		l.stored = s
	}
	return l
}

// Codes says how data stores codes whose scales and zero points are operands of their
// own. An element is (code − zero point)·scale.
type Codes struct {
	Bits   int     // of a code, of which a byte of u8 holds several, along the last axis; 0: the elements of data are the codes
	Scales string  // the operand of the scales: f32, f16 or bf16
	Zeros  string  // the operand of the zero points, which may be left out; "": there are none
	Zero   float32 // the zero point if the operand is left out
	DType  DType   // of the elements: f32, f16 or bf16; Invalid: that of the scales
	Shape  []int   // what the table is reshaped to, with -1 for the rest; nil: it is not

	// Along axis Axis, Block elements share a scale and a zero point; if Block is 0, all.
	// Along other axes, each has its own. If Broadcast, one scale may serve all of
	// another axis. If Axis is -1, the scales and the zero points broadcast to data.
	Axis, Block int
	Broadcast   bool
}

// StoredCodes reads data as codes. From here on data is that of the elements. Dtypes
// that are no codes or no scales are an ErrDType, scales or zero points that do not fit
// data an ErrShape that names the operand. c.Axis counts from the front, or is Unknown.
func (l *Lowering) StoredCodes(c Codes) *Lowering {
	l.computes = true
	scales, hasScales := l.Operand(c.Scales)
	var zeros Spec
	hasZeros := false
	if c.Zeros != "" {
		zeros, hasZeros = l.Operand(c.Zeros)
	}
	out := c.DType
	if out == Invalid {
		out = scales.DType
	}
	blocks := codec.Blocks{Zero: c.Zero}
	blocks.Codes = l.number("data", l.data.DType, 8)
	switch scales.DType {
	case F32, F16, BF16:
		blocks.Scales, _ = codec.NumberOf(scales.DType.String())
	case Invalid:
	default:
		l.FailDType("%s must be f32, f16 or bf16, not %s", c.Scales, scales.DType)
	}
	if hasZeros {
		blocks.Zeros = l.number(c.Zeros, zeros.DType, 32)
	}
	if !hasScales { // R.27
		l.FailAttribute("the operator needs its operand %s", c.Scales)
	}
	codes := l.data.DType
	defer func() { l.data.DType = out }() // Invalid where neither the scales nor c say it
	if l.err != nil {
		return l
	}
	blocks.Out, _ = codec.NumberOf(out.String())
	name := fmt.Sprintf("%s, scaled by %s", codes, scales.DType)
	each := 1 // codes of an element of data
	if c.Bits > 0 && c.Bits < 8 {
		each = 8 / c.Bits
		blocks.Codes, _ = codec.NumberOf(fmt.Sprintf("u%d", c.Bits))
		if hasZeros {
			blocks.Zeros = blocks.Codes
		}
		name = fmt.Sprintf("u%d, scaled by %s", c.Bits, scales.DType)
	}
	if c.Axis != -1 {
		l.narrow(&l.data, scales.Rank)
	}
	if !l.data.Rank.Known() {
		if c.Shape != nil {
			l.reshape(c.Shape, AnyDim)
		}
		return l
	}
	dims := slices.Clone(l.data.Dims)
	if last := len(dims) - 1; last >= 0 && each > 1 {
		var ok bool
		if dims[last], ok = product([]Dim{dims[last], Exactly(each)}); !ok {
			l.Fail(KindMismatch, "data %s holds more codes than an int can count", l.data)
			return l
		}
	}
	blocks.Axes = make([]codec.Axis, len(dims))
	for k, d := range dims {
		blocks.Axes[k] = codec.Axis{Extent: d.Min, Block: 1}
		if k == c.Axis {
			if blocks.Axes[k].Block = c.Block; c.Block == 0 {
				blocks.Axes[k].Block = max(d.Min, 1)
			}
		}
	}
	fits := c.fit(l, c.Scales, scales, dims, 1, func(k, stride int) { blocks.Axes[k].Scale = stride })
	if hasZeros {
		fits = c.fit(l, c.Zeros, zeros, dims, each, func(k, stride int) { blocks.Axes[k].Zero = stride }) && fits
	}
	elements := SpecOfDims(out, dims...)
	if _, known := elements.Shape(); !known || !fits {
		l.store(nil, elements)
	} else {
		s := &Stored{name: name, decoder: codeDecoder{blocks}, scales: l.place(c.Scales)}
		if hasZeros {
			s.zeros = l.place(c.Zeros)
		}
		l.store(s, elements)
	}
	if c.Shape != nil && l.err == nil {
		total, ok := product(dims)
		if !ok {
			total = AnyDim
		}
		l.reshape(c.Shape, total)
	}
	return l
}

// number returns the form of a value of an operand, of at most so many bits.
func (l *Lowering) number(name string, d DType, most int) codec.Number {
	n, ok := codec.NumberOf(d.String())
	if !ok || d.Bits() > most {
		var takes []string
		for _, t := range DTypes() {
			if _, ok := codec.NumberOf(t.String()); ok && t.Bits() <= most {
				takes = append(takes, t.String())
			}
		}
		l.FailDType("%s must be one of %s, not %s", name, strings.Join(takes, ", "), d)
	}
	return n
}

// place returns the position of a further operand.
func (l *Lowering) place(name string) Position {
	return PositionAt(slices.IndexFunc(l.takes, func(o Operand) bool { return o.Name == name }))
}

// fit checks the dims of scales or zero points, of which each lie in an element of the
// operand's last axis, against those of the codes (R.38), and gives put the distance
// from one block to the next along each axis. It returns false if some dim that decides
// them is not known, or a rule is broken.
func (c *Codes) fit(l *Lowering, name string, s Spec, dims []Dim, each int, put func(axis, stride int)) bool {
	lead := len(dims) - s.Rank.Min // leading axes that the operand lacks
	switch {
	case !s.Rank.Known():
		return false
	case c.Axis == -1 && lead < 0 || c.Axis != -1 && lead != 0:
		l.Fail(KindMismatch, "%s %s do not fit data, whose codes are %s", name, s, SpecOfDims(U8, dims...).shapeText())
		return false
	}
	known, stride := true, 1
	for k := len(dims) - 1; k >= lead; k-- {
		d, have := dims[k], s.Dims[k-lead]
		want := d
		if k == c.Axis && c.Block == 0 {
			want = Dim{min(d.Min, 1), min(d.Max, 1)}
		} else if k == c.Axis {
			want = d.parts(c.Block)
		}
		packed := 1
		if k == len(dims)-1 && each > 1 {
			packed, want = each, want.parts(each)
		}
		both, ok := want.intersect(have)
		one := (c.Axis == -1 || c.Broadcast && k != c.Axis) && have.Min <= 1 && have.Max >= 1 // QB.9
		if !ok && !one {
			l.Fail(KindMismatch, "%s %s have %s along axis %d; data %s has codes for %s there", name, s, have, k, l.data, want)
			return false
		}
		known = known && have.Known() && (ok && both.Known() || one)
		if have.Min > 1 || have.Min*packed > 1 && !one {
			put(k, stride)
		}
		stride *= have.Min * packed
	}
	return known
}

// parts returns the numbers of parts of n elements that d elements make.
func (d Dim) parts(n int) Dim {
	up := func(v int) int {
		if v == Unbounded {
			return v
		}
		return v/n + min(v%n, 1)
	}
	return Dim{up(d.Min), up(d.Max)}
}

// shapeText returns the dims of a spec as text.
func (s Spec) shapeText() string { return s.String()[len(s.DType.String()):] }

// reshape gives data, whose elements lie row-major, another shape (R.39). total is the
// number of its elements.
func (l *Lowering) reshape(shape []int, total Dim) {
	dims, rest, known := make([]Dim, len(shape)), -1, 1
	for i, d := range shape {
		switch {
		case d == -1 && rest < 0:
			rest = i
		case d < 0:
			l.FailAttribute("reshape %v; its dims are 0 or more, and one may be -1", shape)
			return
		default:
			var ok bool
			if known, ok = mul(known, d); !ok {
				l.Fail(KindMismatch, "reshape %v holds more elements than an int can count", shape)
				return
			}
		}
		dims[i] = Exactly(max(d, 0))
	}
	if rest >= 0 {
		if known == 0 {
			l.Fail(KindMismatch, "reshape %v leaves -1 open: a table without elements may have any number there", shape)
			return
		}
		dims[rest] = AnyDim
		if total.Known() {
			dims[rest] = Exactly(total.Min / known)
			known *= total.Min / known
		}
	}
	if (rest < 0 || total.Known()) && (known < total.Min || known > total.Max) {
		l.Fail(KindMismatch, "reshape %v has not the %s elements of data", shape, total)
		return
	}
	s := l.stored
	l.store(s, SpecOfDims(l.data.DType, dims...))
}

// wholeStored is the error of a plan whose operands of scales or zero points are known
// in part (R.24).
func (l *Lowering) wholeStored(data Spec) error {
	if l.stored == nil && l.data.DType != data.DType {
		return shapeError(KindRank, "a plan needs every dim of data %s, of its scales and of its zero points; Infer does without", data)
	}
	return nil
}

// walked returns what a plan's loops walk for data of a call: the elements that are
// decoded, which lie row-major, or data itself.
func (l *Lowering) walked(data *Tensor) *Tensor {
	if l.stored != nil {
		return &l.stored.view
	}
	return data
}
