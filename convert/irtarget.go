package convert

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// irTarget is OpenVINO IR for the CPU plugin of OpenVINO 2026.4. testdata/element_types.py held what it
// answers against NumPy: f64 is computed as f32, and 64-bit integers as i32.
var irTarget *target

func init() {
	moved := dtypes(bools, wholes, halves, reals)
	half := []garner.DType{garner.F16}
	numbers := dtypes(signed, reals, []garner.DType{garner.U32, garner.U64})
	irTarget = &target{
		name: "OpenVINO IR", runtime: openVINO, extension: ".xml", batches: true,
		beside:   func(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".bin" },
		policies: map[op]policy{opGather: irGather8, opGatherND: irGatherND, opGatherElements: irElements},
		types: map[op][]garner.DType{
			opGather: moved, opGatherND: moved, opGatherElements: moved, opIdentity: moved, opReshape: moved, opSqueeze: moved, opUnsqueeze: moved,
			opTranspose: moved, opConcat: moved, opSlice: moved, opShape: moved, opCast: dtypes(moved, []garner.DType{garner.U2, garner.U4, garner.I4}), opExpand: moved, opTile: moved, opSelect: moved,
			opRange: signed, opReduceProd: signed, opReduceSum: dtypes(signed, reals), opReduceMax: dtypes(signed, reals), opReduceMin: dtypes(signed, reals), opCumSum: dtypes(signed, reals),
			opAdd: dtypes(numbers, half), opSub: dtypes(numbers, half), opMul: dtypes(numbers, half), opDiv: dtypes(numbers, half), opMin: dtypes(numbers, half), opMax: dtypes(numbers, half),
			opPad: moved, opNonZero: {garner.Bool, garner.F32, garner.I32, garner.I64, garner.U8},
			opAbs:  dtypes(half, reals),
			opSqrt: {garner.F32},
			opTopK: dtypes(signed, half, reals, []garner.DType{garner.I8, garner.I16, garner.U8}), opScatter: dtypes(bools, wholes, half, reals),
			opNeg:   dtypes(signed, half, reals),
			opEqual: dtypes(bools, wholes, half, reals), opLess: dtypes(wholes, half, reals), opLessEq: dtypes(wholes, half, reals), opGreater: dtypes(wholes, half, reals), opGreatEq: dtypes(wholes, half, reals),
			opBag: dtypes(wholes, halves, reals),
			opAnd: bools, opOr: bools, opXor: bools, opNot: bools,
			opBitAnd: wholes, opBitOr: wholes, opBitXor: wholes, opBitNot: wholes,
		},
		layer: irLayer,
	}
}

// irLayers has the type of the layer for each operator, and the opset that has it in the
// form that is written.
var irLayers = map[op]struct {
	kind  string
	opset int
}{
	opGather: {"Gather", 8}, opGatherND: {"GatherND", 8}, opGatherElements: {"GatherElements", 6},
	opCast: {"Convert", 1}, opIdentity: {"Reshape", 1}, opReshape: {"Reshape", 1}, opSqueeze: {"Squeeze", 1}, opUnsqueeze: {"Unsqueeze", 1},
	opTranspose: {"Transpose", 1}, opConcat: {"Concat", 1}, opSlice: {"Slice", 8}, opShape: {"ShapeOf", 3}, opExpand: {"Broadcast", 3},
	opTopK: {"TopK", 11}, opScatter: {"ScatterElementsUpdate", 3},
	opTile: {"Tile", 1}, opRange: {"Range", 4}, opReduceProd: {"ReduceProd", 1}, opReduceSum: {"ReduceSum", 1}, opReduceMax: {"ReduceMax", 1}, opReduceMin: {"ReduceMin", 1}, opPad: {"Pad", 12}, opNonZero: {"NonZero", 3}, opCumSum: {"CumSum", 3}, opAbs: {"Abs", 1}, opSqrt: {"Sqrt", 1}, opSelect: {"Select", 1},
	opAdd: {"Add", 1}, opSub: {"Subtract", 1}, opMul: {"Multiply", 1}, opDiv: {"Divide", 1}, opMin: {"Minimum", 1}, opMax: {"Maximum", 1},
	opNeg: {"Negative", 1}, opEqual: {"Equal", 1}, opLess: {"Less", 1}, opLessEq: {"LessEqual", 1}, opGreater: {"Greater", 1}, opGreatEq: {"GreaterEqual", 1},
	opAnd: {"LogicalAnd", 1}, opOr: {"LogicalOr", 1}, opXor: {"LogicalXor", 1}, opNot: {"LogicalNot", 1},
	opBitAnd: {"BitwiseAnd", 13}, opBitOr: {"BitwiseOr", 13}, opBitXor: {"BitwiseXor", 13}, opBitNot: {"BitwiseNot", 13},
}

func irLayer(p *program, n *node) *layer {
	as := irLayers[n.op]
	l := &layer{op: as.kind, version: as.opset, in: n.in, out: n.out, also: n.also}
	set := func(name string, value any) { l.attributes = append(l.attributes, attribute{name, value}) }
	more := func(v *value) { l.in = append(l.in[:len(l.in):len(l.in)], v) }
	switch n.op {
	case opBag:
		l.op, l.version = n.mode, 3
		if !strings.HasSuffix(n.mode, "Sum") {
			l.version = 15
			set("reduction", map[bool]string{true: "mean", false: "sum"}[n.flag])
		}
	case opGather:
		more(p.number(garner.I64, int64(n.axis)))
		set("batch_dims", int64(n.batch))
	case opGatherND:
		set("batch_dims", int64(n.batch))
	case opGatherElements, opConcat:
		set("axis", int64(n.axis))
	case opAsIs:
	case opIdentity: // a Convert to the same dtype between an input and a result ends OpenVINO's process in its third run
		more(p.of(make([]int64, n.out.spec.Rank.Min)...))
		set("special_zero", true)
	case opCast:
		set("destination_type", irTypes[n.out.spec.DType].attribute)
	case opReshape:
		set("special_zero", n.flag)
	case opSqueeze, opUnsqueeze:
		if n.list != nil {
			more(p.of(n.list...))
		}
	case opTranspose:
		more(p.of(n.list...))
	case opSlice:
		l.in = []*value{n.in[0], n.in[1], n.in[2], n.in[4], n.in[3]} // steps stand before axes
	case opShape:
		set("output_type", irTypes[n.out.spec.DType].attribute)
	case opExpand:
		mode := "bidirectional" // in which a constant of one number loses the sign of a zero
		if length, ok := n.in[1].dim(0); n.in[0].hasOne() && ok && length >= n.in[0].spec.Rank.Min {
			mode = "numpy"
		}
		set("mode", mode)
	case opRange:
		set("output_type", irTypes[n.out.spec.DType].attribute)
	case opCumSum:
		more(p.number(garner.I64, int64(n.axis)))
		set("exclusive", n.flag)
		set("reverse", n.batch == 1)
	case opPad:
		set("pad_mode", n.mode)
	case opNonZero:
		set("output_type", "i64")
	case opTopK:
		set("axis", int64(n.axis))
		set("mode", map[bool]string{true: "min", false: "max"}[n.flag])
		set("sort", "value")
		set("stable", true)
		set("index_element_type", "i64")
	case opScatter:
		more(p.number(garner.I64, int64(n.axis)))
	case opReduceProd, opReduceSum, opReduceMax, opReduceMin:
		more(p.of(n.list...))
		set("keep_dims", n.flag)
	case opDiv:
		set("auto_broadcast", "numpy")
		set("m_pythondiv", false)
	case opAdd, opSub, opMul, opMin, opMax, opEqual, opLess, opLessEq, opGreater, opGreatEq, opAnd, opOr, opXor, opSelect, opBitAnd, opBitOr, opBitXor:
		set("auto_broadcast", "numpy")
	}
	if n.kept {
		l.op, l.version, l.attributes = n.origin.Op, max(n.origin.Version, 1), nil
		for _, name := range slices.Sorted(maps.Keys(n.origin.Attributes)) {
			set(name, n.origin.Attributes[name])
		}
	}
	return l
}

// irTypes has the names of dtypes: of attributes, and of ports.
var irTypes = map[garner.DType]struct{ attribute, port string }{
	garner.Bool: {"boolean", "BOOL"}, garner.U1: {"u1", "U1"}, garner.U2: {"u2", "U2"}, garner.I4: {"i4", "I4"}, garner.U4: {"u4", "U4"},
	garner.I8: {"i8", "I8"}, garner.I16: {"i16", "I16"}, garner.I32: {"i32", "I32"}, garner.I64: {"i64", "I64"},
	garner.U8: {"u8", "U8"}, garner.U16: {"u16", "U16"}, garner.U32: {"u32", "U32"}, garner.U64: {"u64", "U64"},
	garner.F16: {"f16", "FP16"}, garner.BF16: {"bf16", "BF16"}, garner.F32: {"f32", "FP32"}, garner.F64: {"f64", "FP64"},
}
