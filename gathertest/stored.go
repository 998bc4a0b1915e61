package gathertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/codec"
)

// stored is an operator over stored data: then gathers or reduces the elements.
type stored struct {
	kind     string        // blocks of a kind of GGUF
	bits     int           // rows of FBGEMM
	unpacked bool          // rounded as torch's unpack does
	codes    *garner.Codes // codes whose scales and zero points are operands
	then     garner.Op
}

// decoded decodes stored data whole.
type decoded struct{ stored }

func (s stored) Operands() (all []garner.Operand) {
	if _, ok := s.then.(reduced); ok {
		all = slices.Clone(operandsOfBags)
	}
	if s.codes != nil {
		all = append(all, garner.Operand{Name: "scales"}, garner.Operand{Name: "zeros", Optional: true})
	}
	return all
}

// decode says how data is stored.
func (s stored) decode(l *garner.Lowering) {
	switch {
	case s.codes != nil:
		l.StoredCodes(*s.codes)
	case s.unpacked:
		l.UnpackedRows(s.bits)
	case s.bits > 0:
		l.StoredRows(s.bits)
	default:
		l.StoredBlocks(s.kind)
	}
}

func (s stored) Lower(l *garner.Lowering) {
	s.decode(l)
	s.then.Lower(l)
}

func (d decoded) Lower(l *garner.Lowering) {
	d.decode(l)
	l.Copy()
}

func (decoded) Unindexed() {}

var (
	// kindsOfGGUF are the kinds that are decoded.
	kindsOfGGUF  = slices.DeleteFunc(codec.AllOfGGUF(), func(c *codec.Codec) bool { return c.Decode == nil })
	typesOfCodes = []garner.DType{
		garner.U8, garner.I8, garner.U4, garner.I4, garner.U2, garner.I2, garner.NF4, garner.F4E2M1, garner.F8E4M3FN, garner.F8E5M2, garner.F8E4M3FNUZ, garner.F8E5M2FNUZ,
	}
	typesOfScales = []garner.DType{garner.F32, garner.F16, garner.BF16}
)

// RandomStored returns a gather of stored data, or into bags of it, or one that decodes
// it whole: blocks of any kind of GGUF, rows of FBGEMM, or codes whose scales and zero
// points are operands, of any shape, view and policy. In one of eight an index is
// outside.
func RandomStored(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 0x570e))
	c := Case{Computes: true, seed: seed, vector: -1}
	var s stored
	var shape []int // of the elements
	element := garner.F32
	var form []garner.Tensor // scales and zero points
	switch r.IntN(3) {
	case 0:
		kind := kindsOfGGUF[r.IntN(len(kindsOfGGUF))]
		blocks := r.IntN(1 + 700/kind.Elements)
		shape = append(lead(r), blocks*kind.Elements)
		c.Data = tensor(r, garner.U8, append(slices.Clone(shape[:len(shape)-1]), blocks*kind.Bytes))
		s.kind, c.About = kind.Name, kind.Name
	case 1:
		s.bits, s.unpacked = []int{8, 4, 2}[r.IntN(3)], r.IntN(2) == 0
		bytes, tail := some(r, 12), 4
		if s.bits == 8 {
			tail = 8
		}
		shape = append(lead(r), bytes*8/s.bits)
		c.Data = tensor(r, garner.U8, append(slices.Clone(shape[:len(shape)-1]), bytes+tail))
		c.About = fmt.Sprintf("rows of %d bits, unpacked %t", s.bits, s.unpacked)
	default:
		shape = append(lead(r), some(r, 12))
		s.codes = &garner.Codes{Scales: "scales", Zeros: "zeros"}
		c.Data, form, element = codesOf(r, s.codes, &shape)
		c.About = fmt.Sprintf("%+v", *s.codes)
	}
	c.About = fmt.Sprintf("%s, elements %v, ", c.About, shape)

	terms := s
	terms.then = gather{axis: r.IntN(len(shape))}
	switch way := r.IntN(8); {
	case way == 0:
		c.Further, c.Op = form, decoded{s}
		c.About += "whole"
		c.describe()
		return c
	case way < 4:
		terms.then = gather{}
		p := c.bags(r, element, shape[0])
		s.then = p
		c.Further = append(c.Further, form...)
	default:
		s.then = terms.then
		it := garner.I64
		if r.IntN(2) == 0 {
			it = integers[r.IntN(len(integers))]
		}
		is := make([]int, r.IntN(3))
		for i := range is {
			is[i] = r.IntN(9)
		}
		c.Indices, c.Further = tensor(r, it, is), form
		c.About += fmt.Sprintf("%+v", s.then)
	}
	c.bare, c.Op = s, s
	fillIndices(r, c, terms, form, r.IntN(8) == 0)
	c.policies(r, element)
	c.describe()
	return c
}

// lead returns the dims of stored data before its last.
func lead(r *rand.Rand) (dims []int) {
	for range r.IntN(5) / 2 {
		dims = append(dims, 1+r.IntN(6))
	}
	if r.IntN(20) == 0 && len(dims) > 0 {
		dims[0] = 0
	}
	return dims
}

// codesOf makes random codes of a shape, with their scales and zero points, and says in
// c how they lie. It sets shape to that of the elements, and returns their dtype.
func codesOf(r *rand.Rand, c *garner.Codes, shape *[]int) (data garner.Tensor, form []garner.Tensor, element garner.DType) {
	dims := *shape
	last := len(dims) - 1
	dtype, each := typesOfCodes[r.IntN(len(typesOfCodes))], 1
	if r.IntN(3) == 0 {
		dtype, c.Bits = garner.U8, []int{8, 4, 2}[r.IntN(3)]
		each = 8 / c.Bits
		dims[last] = (dims[last] + each - 1) / each * each
	}
	packed := slices.Clone(dims)
	packed[last] /= each
	data = tensor(r, dtype, packed)
	if r.IntN(2) == 0 {
		c.Zero = float32(r.IntN(16))
	}

	// One scale for each block along an axis, and for all others, or for each.
	if c.Axis = r.IntN(len(dims)+1) - 1; c.Axis >= 0 {
		c.Block = []int{0, 1, 2, 3, 4, 16}[r.IntN(6)]
		c.Broadcast = r.IntN(2) == 0
	}
	of := func(codes int) []int {
		d := slices.Clone(dims)
		for i := range d {
			if i == c.Axis && c.Block == 0 {
				d[i] = min(d[i], 1)
			} else if i == c.Axis {
				d[i] = (d[i] + c.Block - 1) / c.Block
			}
			if i == last {
				d[i] = (d[i] + codes - 1) / codes
			}
			if (c.Axis == -1 || c.Broadcast && i != c.Axis) && r.IntN(2) == 0 {
				d[i] = 1
			}
		}
		if c.Axis == -1 {
			d = d[r.IntN(len(d)+1):]
		}
		return d
	}
	scale := typesOfScales[r.IntN(len(typesOfScales))]
	form = []garner.Tensor{tensor(r, scale, of(1)), {}}
	plain(r, form[0])
	if r.IntN(2) == 0 {
		form[1] = tensor(r, dtype, of(each))
	}
	element = scale
	if r.IntN(3) == 0 {
		element = typesOfScales[r.IntN(len(typesOfScales))]
		c.DType = element
	}
	if r.IntN(4) == 0 {
		n, _ := garner.Shape(dims).Len()
		c.Shape = [][]int{{n}, {1, n}, {n, 1}}[r.IntN(3)]
		*shape = c.Shape
	}
	return data, form, element
}
