package convert

import (
	"context"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// Tables of codes, of which an element is (code - zero point)·scale. In ONNX that is GatherBlockQuantized of
// Microsoft's domain, and in OpenVINO IR a constant behind Convert, Subtract, Multiply and Reshape, of which
// its CPU plugin decodes the rows that a Gather takes. Both compute in f32, with the same roundings. The
// codes are those of the source, byte for byte, but where rows are padded to whole blocks, or begin bytes: both formats
// have the first of a byte in its lowest bits.

// What runtimes make of an index outside of a table of codes. OpenVINO does not write those rows of its result.
var (
	onnxBlocksPolicy = policy{fromEnd: true, outside: zeros}
	irBlocksPolicy   = policy{fromEnd: true, outside: undefined}
)

// as gives a constant whose bytes are those of another, of another dtype or shape.
func (p *program) as(v *value, dtype garner.DType, dims []int) *value {
	spec := garner.SpecOf(dtype, dims...)
	if !v.small {
		return &value{wanted: v.wanted, spec: spec, constant: v.constant}
	}
	b, err := v.tensor.Bytes()
	var t garner.Tensor
	if err == nil {
		t, err = garner.FromBytes(dtype, b, dims...)
	}
	if err != nil && p.err == nil {
		p.err = err
	}
	return &value{wanted: v.wanted, spec: spec, tensor: t, small: true}
}

// onnxBlocks converts GatherBlockQuantized.
func onnxBlocks(g *call) {
	data, indices, scales := g.in(0), g.in(1), g.in(2)
	var zeroPoints *value
	if g.has(3) {
		zeroPoints = g.in(3)
	}
	rank := g.needRank(data)
	axis, along := g.axisOf(g.attribute("gather_axis", 0), rank), g.axisOf(g.attribute("quantize_axis", 1), rank)
	size, bits := g.attribute("block_size", 128), int(g.attribute("bits", 4))
	if g.err != nil {
		return
	}
	if g.target == onnxTarget {
		// No node reads a stand-in for the table.
		table := &value{spec: garner.SpecOfDims(scales.spec.DType, slices.Clone(data.spec.Dims)...)}
		if data.spec.DType == garner.U8 && bits < 8 {
			if table.spec.Dims[rank-1] = garner.AnyDim; data.spec.Dims[rank-1].Known() {
				table.spec.Dims[rank-1] = garner.Exactly(data.spec.Dims[rank-1].Min * 8 / bits)
			}
		}
		g.set(g.gatherBy(opGather, table, indices, axis, 0, onnxBlocksPolicy, onnxBlocksPolicy, g.blocksOf(table, data, scales, zeroPoints, axis, []int64{int64(along), size, int64(bits)})))
		return
	}
	shape, known := data.spec.Shape()
	codes := data.spec.DType
	switch {
	case !known || !data.held() || !scales.held() || zeroPoints != nil && !zeroPoints.held():
		g.fail(ErrUnsupported, "%s of a table that the model computes is not converted; OpenVINO's is of constants", g.node.Op)
	case codes != garner.U4 && codes != garner.I4 && codes != garner.U8:
		g.fail(garner.ErrDType, "%s of %s is not converted; that of u4, i4 and u8 is", g.node.Op, codes)
	case scales.spec.DType != garner.F32 && scales.spec.DType != garner.F16:
		g.fail(garner.ErrDType, "%s with scales of %s is not converted; those of f32 and f16 are", g.node.Op, scales.spec.DType)
	case along != rank-1:
		g.fail(ErrUnsupported, "its blocks lie along axis %d of %d, and OpenVINO reads other memory for scales of another axis than the last; transpose the table", along, rank)
	}
	if g.factors(scales); g.err != nil {
		return
	}
	zero := int64(0)
	if codes == garner.U8 {
		zero = 1 << (bits - 1)
		codes = map[int]garner.DType{8: garner.U8, 4: garner.U4, 2: garner.U2}[bits]
		shape[rank-1] *= 8 / bits
	}
	if slices.Contains(shape, 0) {
		g.fail(garner.ErrShape, "its table of %s has no elements", data.spec)
		return
	}
	length := shape[rank-1]
	blocks := int((int64(length) + size - 1) / size)
	padded := length                                              // to whole blocks
	split, each := shape, slices.Concat(shape[:rank-1], []int{1}) // of the codes, and of the scales
	if blocks > 1 {
		padded = blocks * int(size)
		split, each = slices.Concat(shape[:rank-1], []int{blocks, int(size)}), slices.Concat(shape[:rank-1], []int{blocks, 1})
	}
	dtype := scales.spec.DType
	table := g.cast(g.rowsAs(data, length, length, padded, codes, split), dtype)
	switch {
	case zeroPoints != nil:
		wide := blocks
		if zeroPoints.spec.DType == garner.U8 { // in which each row begins a byte
			wide = (blocks*codes.Bits() + 7) / 8 * 8 / codes.Bits()
		}
		table = g.two(opSub, table, g.cast(g.rowsAs(zeroPoints, wide, blocks, blocks, codes, each), dtype))
	case zero != 0:
		table = g.two(opSub, table, g.cast(g.number(garner.U8, zero), dtype))
	}
	table = g.two(opMul, table, g.as(scales, dtype, each))
	if blocks > 1 {
		table = g.reshape(table, g.wholes(append(slices.Clone(shape[:rank-1]), padded)), false)
	}
	if padded == length {
		g.set(g.gatherBy(opGather, table, indices, axis, 0, onnxBlocksPolicy, irBlocksPolicy, nil))
		return
	}
	// No node reads a stand-in for the table without what pads it.
	data = &value{spec: garner.SpecOf(dtype, shape...)}
	g.set(g.gatherBy(opGather, data, indices, axis, 0, onnxBlocksPolicy, irBlocksPolicy, func(indices *value) *value {
		if axis == rank-1 {
			if g.options.Outside == AsIs {
				indices = (&guard{program: g.program, op: opGather, data: data, indices: indices, axis: axis, from: onnxBlocksPolicy}).positive()
			}
			return g.bare(opGather, table, indices, axis, 0)
		}
		made := g.bare(opGather, table, indices, axis, 0)
		return g.cut(made, int64(g.needRank(made)-1), 0, int64(length))
	}))
}

// rowsAs gives a constant of codes, of which each row has some of the first in a row of another, and zeros behind them. wide,
// has and wants are how many codes a row of that has, how many are taken of it, and how many a row has then.
func (p *program) rowsAs(v *value, wide, has, wants int, codes garner.DType, dims []int) *value {
	if wide == has && has == wants {
		return p.as(v, codes, dims)
	}
	spec, bits := garner.SpecOf(codes, dims...), codes.Bits()
	pieces := func(do func(b []byte) error) error {
		out := make([]byte, 0, block)
		var last, at int // bits that are not in out, and how many
		column := 0
		put := func(code byte) error {
			last |= int(code) << at
			if at += bits; at < 8 {
				return nil
			}
			if out = append(out, byte(last)); len(out) == cap(out) {
				if err := do(out); err != nil {
					return err
				}
				out = out[:0]
			}
			last, at = 0, 0
			return nil
		}
		left, _ := garner.Shape(dims).Len()
		err := v.each(context.Background(), func(_ int64, b []byte) error {
			for _, c := range b {
				for i := 0; i < 8 && left > 0; i += bits {
					if column < has {
						if err := put(c >> i & (1<<bits - 1)); err != nil {
							return err
						}
						left--
					}
					if column++; column < wide {
						continue
					}
					column = 0
					for range wants - has {
						if err := put(0); err != nil {
							return err
						}
						left--
					}
				}
			}
			return nil
		})
		if err == nil && at > 0 {
			out = append(out, byte(last))
		}
		if err == nil && len(out) > 0 {
			err = do(out)
		}
		return err
	}
	load := func() (garner.Tensor, error) {
		var all []byte
		err := pieces(func(b []byte) error {
			all = append(all, b...)
			return nil
		})
		if err != nil {
			return garner.Tensor{}, err
		}
		return garner.FromBytes(codes, all, dims...)
	}
	made := model.NewEncoded(v.wanted, spec, load, pieces)
	if c := v.constant; c != nil {
		made.Verify = c.Verify
	}
	return &value{wanted: v.wanted, spec: spec, constant: made}
}

// factors is for the scales or zero points of a table: a NaN of an infinite one is of any sign.
func (p *program) factors(v *value) {
	bits, mantissa := v.spec.DType.Bits(), 10
	if !v.spec.DType.IsFloat() || !v.held() || p.err != nil {
		return
	}
	if bits == 32 {
		mantissa = 23
	}
	odd := false
	err := v.each(context.Background(), func(_ int64, b []byte) error {
		for ; len(b) >= bits/8 && !odd; b = b[bits/8:] {
			n := uint32(b[0]) | uint32(b[1])<<8
			if bits == 32 {
				n |= uint32(b[2])<<16 | uint32(b[3])<<24
			}
			odd = n&(1<<(bits-1)-1)>>mantissa == 1<<(bits-1-mantissa)-1
		}
		return nil
	})
	if err != nil && p.err == nil {
		p.err = err
	}
	if odd {
		p.lossy("its constant %s has an infinite number or a NaN", v.label())
	}
}

// blocksOf makes GatherBlockQuantized of ONNX. list: the axis of the blocks, their length, and the bits of a code.
func (p *program) blocksOf(table, codes, scales, zeroPoints *value, axis int, list []int64) func(indices *value) *value {
	return func(indices *value) *value {
		in := []*value{codes, indices, scales}
		if zeroPoints != nil {
			in = append(in, zeroPoints)
		}
		made := p.add(&node{op: opBlocks, in: in, axis: axis, list: list}, scales.spec.DType)
		dims := inferGather(&node{op: opGather, in: []*value{table, indices}, axis: axis})
		made.spec.Rank, made.spec.Dims = dims.Rank, dims.Dims
		return made
	}
}

// A compressed is a table of OpenVINO of which it decodes the rows that a Gather takes.
type compressed struct {
	codes, scales, zeros *model.Value // zeros is nil where there are none
	split, table         []int        // dims of the codes, and of the table, which may have the last two of them as one
	axis                 int
	alongBlocks          bool // whose scales OpenVINO rounds all the same
	out                  garner.DType
}

// compressedOf gives the table of a Gather that OpenVINO decodes the rows of; nil for any other node, and for
// one whose table the target computes too.
func (p *program) compressedOf(n *model.Node) *compressed {
	if p.options.runtime != openVINO || p.target != onnxTarget || n.Operator != "openvino.Gather-8" {
		return nil
	}
	call, err := operators.CallOf(n, nil)
	if err != nil || call.Operator.Name == n.Operator || call.Attributes["batch_dims"] != nil {
		return nil // of batch dims OpenVINO computes the table
	}
	c := &compressed{codes: call.Inputs[0], scales: call.Inputs[2]}
	if len(call.Inputs) > 3 {
		c.zeros = call.Inputs[3]
	}
	shape, _ := c.codes.Spec.Shape()
	c.split, c.table = shape, shape
	if dims, ok := call.Attributes["reshape"].([]int); ok {
		if merged := len(shape) - 2; len(dims) == len(shape)-1 && merged >= 0 {
			c.table = append(slices.Clone(shape[:merged]), shape[merged]*shape[merged+1])
		}
		if len(dims) != len(c.table) || slices.ContainsFunc(axesOf(dims), func(i int) bool { return dims[i] != -1 && dims[i] != c.table[i] }) {
			return nil
		}
	}
	axis, _ := call.Attributes["axis"].(int64)
	if axis < 0 {
		axis += int64(len(c.table))
	}
	out, _ := call.Attributes["output"].(string)
	if c.out, err = garner.ParseDType(out); err != nil {
		return nil
	}
	if c.axis = int(axis); len(c.table) < len(c.split) && c.axis == len(c.table)-1 {
		if c.alongBlocks = c.out == garner.F16 && c.scales.Spec.DType != garner.F16; !c.alongBlocks {
			return nil
		}
	}
	return c
}

// axesOf counts the axes of dims.
func axesOf(dims []int) []int {
	list := make([]int, len(dims))
	for i := range list {
		list[i] = i
	}
	return list
}

// takes lists what the conversion of a node takes of the source: the constants of a compressed table in place of the
// nodes that compute it.
func (p *program) takes(n *model.Node) []*model.Value {
	c, looked := p.tables[n]
	if !looked {
		c = p.compressedOf(n)
		p.tables[n] = c
	}
	if c == nil {
		return n.Inputs
	}
	list := []*model.Value{c.codes, n.Inputs[1], c.scales}
	if c.zeros != nil {
		list = append(list, c.zeros)
	}
	return list
}

// irBlocks converts a Gather of a compressed table for ONNX: as GatherBlockQuantized where codes have 4 bits, and else as
// a gather of codes, scales and zero points, of which nodes compute the rows.
func irBlocks(g *call, c *compressed) {
	codes, scales := g.value(c.codes), g.value(c.scales)
	var zeroPoints *value
	if c.zeros != nil {
		zeroPoints = g.value(c.zeros)
	}
	dtype := codes.spec.DType
	switch {
	case dtype != garner.U4 && dtype != garner.I4 && dtype != garner.U8 && dtype != garner.I8:
		g.fail(garner.ErrDType, "a Gather of a table that is compressed to %s is not converted; to u4, i4, u8 and i8 it is", dtype)
	case scales.spec.DType != garner.F32 && scales.spec.DType != garner.F16:
		g.fail(garner.ErrDType, "a Gather of a compressed table with scales of %s is not converted; of f32 and f16 it is", scales.spec.DType)
	case c.out != garner.F32 && c.out != garner.F16:
		g.fail(garner.ErrDType, "a Gather of a table that is compressed from %s is not converted; from f32 and f16 it is", c.out)
	case slices.Contains(c.split, 0):
		g.fail(garner.ErrShape, "its table of %s has no elements", codes.spec)
	case c.alongBlocks:
		g.fail(ErrUnsupported, "its compressed table is gathered along the axis of its blocks, and OpenVINO rounds its scales to f16; make the scales f16")
	case c.out == garner.F16 && scales.spec.DType != garner.F16:
		g.lossy("OpenVINO rounds the scales of its compressed table to f16 first")
	}
	g.factors(scales)
	if zeroPoints != nil {
		g.factors(zeroPoints)
	}
	if g.err != nil {
		return
	}
	g.note("differs", "OpenVINO's page has zeros for an index outside, and for a compressed table its CPU plugin leaves what was in memory; it is %s here", map[Outside]string{Keep: "zeros", Clamp: "clamped", AsIs: "what the target makes of it"}[g.options.Outside])
	if c.repeats(scales) || zeroPoints != nil && c.repeats(zeroPoints) {
		g.note("differs", "a scale or a zero point is of columns and not of rows, of which OpenVINO reads others, as lint's L.35 says; the target has those of OpenVINO's page")
	}
	table := &value{spec: garner.SpecOf(c.out, c.table...)} // no node reads it
	to, take := onnxGather, g.rowsOf(c, codes, scales, zeroPoints)
	if dtype.Packed() {
		to, take = onnxBlocksPolicy, g.packedRowsOf(c, table, codes, scales, zeroPoints)
	}
	if g.err == nil {
		g.set(g.gatherBy(opGather, table, g.in(1), c.axis, 0, irGather8, to, take))
	}
}

// aligned gives the dims of an operand of a compressed table as many as its codes have.
func (c *compressed) aligned(v *value) []int {
	dims, _ := v.spec.Shape()
	return append(slices.Repeat([]int{1}, max(len(c.split)-len(dims), 0)), dims...)
}

// repeats reports whether an operand of a compressed table has the same element for several positions of an axis, and
// others along a later one.
func (c *compressed) repeats(v *value) bool {
	same := false
	for i, d := range c.aligned(v) {
		switch {
		case d > 1 && same:
			return true
		case d == 1 && i < len(c.split) && c.split[i] > 1:
			same = true
		}
	}
	return false
}

// packedRowsOf makes GatherBlockQuantized of a compressed table.
func (p *program) packedRowsOf(c *compressed, table, codes, scales, zeroPoints *value) func(indices *value) *value {
	last := len(c.split) - 1
	size, wanted := 16, slices.Clone(c.split[:last]) // of scales
	if len(c.table) < len(c.split) {
		size = c.split[last]
	} else {
		for size < c.split[last] {
			size *= 2
		}
		wanted = append(wanted, 1)
	}
	// whole gives an operand an element for each block.
	whole := func(v *value) *value {
		dims := c.aligned(v)
		for i, d := range dims {
			if d != 1 && (i == last || d != c.split[i]) {
				p.fail(ErrUnsupported, "its codes are %s, with a scale or a zero point of %s; one for each block along the last axis is converted", codes.spec, v.spec)
				return v
			}
		}
		if len(c.table) < len(c.split) {
			dims = dims[:last]
		}
		if v = p.as(v, v.spec.DType, dims); slices.Equal(dims, wanted) {
			return v
		}
		return p.expand(v, p.wholes(wanted))
	}
	if len(wanted) < 2 || size < 16 || size&(size-1) != 0 {
		p.fail(ErrUnsupported, "its codes are %s in blocks of %d, and ONNX Runtime has blocks of a power of two, of 16 and more, in two dims and more; dequantise the table", codes.spec, size)
		return nil
	}
	bits := int64(4)
	switch {
	case zeroPoints == nil:
	case zeroPoints.spec.DType == codes.spec.DType && slices.Equal(c.aligned(zeroPoints), append(slices.Clone(c.split[:last]), 1)):
		zeroPoints = whole(zeroPoints)
	default:
		zero, ok := zeroPoints.only()
		switch {
		case ok && zero == 0:
			zeroPoints = nil
		case ok && zero == 8 && codes.spec.DType == garner.U4 && c.axis == 0 && c.split[last]%2 == 0: // which codes in bytes have
			dims := slices.Clone(c.table)
			dims[len(dims)-1] /= 2
			codes, zeroPoints = p.as(codes, garner.U8, dims), nil
		default:
			p.fail(ErrUnsupported, "its codes are %s, with a zero point of %s; one of the dtype of the codes for each block, or 8 for all of u4 along axis 0, is converted", codes.spec, zeroPoints.spec)
			return nil
		}
	}
	if codes.spec.DType.Packed() {
		codes = p.as(codes, codes.spec.DType, c.table)
	}
	scales = p.cast(whole(scales), c.out)
	return p.blocksOf(table, codes, scales, zeroPoints, c.axis, []int64{int64(len(c.table) - 1), int64(size), bits})
}

// only gives the number that a constant of one element is.
func (v *value) only() (float64, bool) {
	if !v.small || v.tensor.Len() != 1 {
		return 0, false
	}
	if v.tensor.DType().IsFloat() {
		x, err := v.tensor.Float64(0)
		return x, err == nil
	}
	n, err := v.tensor.Int(0)
	return float64(int64(n.Bits)), err == nil
}

// rowsOf makes rows of a compressed table of rows of its codes.
func (p *program) rowsOf(c *compressed, codes, scales, zeroPoints *value) func(indices *value) *value {
	return func(indices *value) *value {
		q := p.needRank(indices)
		// rows gives those of an operand, with a dim of 1 for each of indices where it has one of all rows.
		rows := func(v *value) *value {
			dims := c.aligned(v)
			if dims[c.axis] == 1 && c.split[c.axis] != 1 {
				return p.as(v, v.spec.DType, slices.Concat(dims[:c.axis], slices.Repeat([]int{1}, q), dims[c.axis+1:]))
			}
			return p.bare(opGather, p.as(v, v.spec.DType, dims), indices, c.axis, 0)
		}
		made := p.cast(rows(codes), garner.F32)
		if zeroPoints != nil {
			made = p.two(opSub, made, p.cast(rows(zeroPoints), garner.F32))
		}
		made = p.cast(p.two(opMul, made, p.cast(rows(scales), garner.F32)), c.out)
		if len(c.table) == len(c.split) {
			return made
		}
		parts := []*value{p.shape(indices)}
		if c.axis > 0 {
			parts = append([]*value{p.wholes(c.table[:c.axis])}, parts...)
		}
		return p.reshape(made, p.concat(0, append(parts, p.wholes(c.table[c.axis+1:]))...), false)
	}
}

// wholes makes a constant vector of dims.
func (p *program) wholes(dims []int) *value {
	list := make([]int64, len(dims))
	for i, d := range dims {
		list[i] = int64(d)
	}
	return p.of(list...)
}
