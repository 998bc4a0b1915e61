package convert

import (
	"github.com/garner-go/garner"
)

// onnxTarget is ONNX for ONNX Runtime 1.31. testdata/element_types.py asked it what it takes.
var onnxTarget *target

func init() {
	moved := dtypes(bools, wholes, halves, reals, texts)
	half := []garner.DType{garner.F16}
	numbers := dtypes(wholes, reals)
	extremes := []garner.DType{garner.I8, garner.I32, garner.I64, garner.U8, garner.U32, garner.U64}
	onnxTarget = &target{
		name: "ONNX", runtime: onnxRuntime, extension: ".onnx",
		beside:   func(path string) string { return path + ".data" },
		policies: map[op]policy{opGather: onnxGather, opGatherND: onnxGather, opGatherElements: onnxGather},
		types: map[op][]garner.DType{
			opScatterAdd: {garner.I32, garner.I64, garner.F32}, opBlocks: {garner.I4, garner.U4, garner.U8},
			opGather: moved, opGatherND: moved, opGatherElements: moved, opIdentity: moved, opReshape: moved, opSqueeze: moved, opUnsqueeze: moved,
			opTranspose: moved, opConcat: moved, opSlice: moved, opShape: moved,
			opCast:   dtypes(bools, wholes, halves, reals),
			opExpand: dtypes(bools, wholes, half, reals, texts), opTile: dtypes(bools, wholes, half, reals, texts),
			opRange: signed, opReduceProd: signed, opReduceSum: dtypes(signed, reals), opReduceMax: dtypes(signed, reals), opReduceMin: dtypes(signed, reals), opCumSum: dtypes(signed, reals),
			opSelect: dtypes(signed, half, reals, texts, []garner.DType{garner.I8, garner.U8, garner.U32}),
			opAdd:    dtypes(numbers, half), opSub: dtypes(numbers, half), opMul: dtypes(numbers, half), opDiv: dtypes(numbers, half), opMod: wholes, opFloorMod: wholes,
			opMin: dtypes(extremes, half, reals), opMax: dtypes(extremes, half, reals),
			opPad: dtypes(bools, []garner.DType{garner.I8, garner.I32, garner.I64, garner.U8, garner.U32, garner.U64}, half, reals), opNonZero: {garner.Bool, garner.F32, garner.I32, garner.I64, garner.U8},
			opAbs:  dtypes(half, reals),
			opSqrt: {garner.F32},
			opTopK: dtypes(signed, half, reals, []garner.DType{garner.I8, garner.I16, garner.U8}), opScatter: dtypes(bools, wholes, half, reals),
			opNeg:   dtypes([]garner.DType{garner.I8, garner.I16}, signed, half, reals),
			opEqual: dtypes(bools, half, numbers), opLess: dtypes(numbers, half), opLessEq: dtypes(numbers, half), opGreater: dtypes(numbers, half), opGreatEq: dtypes(numbers, half),
			opAnd: bools, opOr: bools, opXor: bools, opNot: bools,
			opBitAnd: wholes, opBitOr: wholes, opBitXor: wholes, opBitNot: wholes,
		},
		layer: onnxLayer,
	}
}

// onnxVersions has the opset that brought each operator in the form that is written. The
// model's opset is the greatest of those that it uses, and onnxOpset at least.
var onnxVersions = map[op]int{opReduceProd: 18, opReduceMax: 18, opReduceMin: 18, opBitAnd: 18, opBitOr: 18, opBitXor: 18, opBitNot: 18}

const onnxOpset = 17

// The domain of Microsoft's operators, of which all are of version 1, and the opset that has their dtypes of 4 bits.
const (
	microsoft      = "com.microsoft"
	microsoftOpset = 21
)

// onnxIR gives the version of the IR for an opset.
func onnxIR(opset int) int64 {
	switch {
	case opset >= microsoftOpset:
		return 10
	case opset > 18:
		return 9
	}
	return 8
}

func onnxLayer(p *program, n *node) *layer {
	l := &layer{op: string(n.op), version: max(onnxVersions[n.op], onnxOpset), in: n.in, out: n.out, also: n.also}
	set := func(name string, value any) { l.attributes = append(l.attributes, attribute{name, value}) }
	vector := func() {
		if n.list != nil {
			l.in = append(l.in[:len(l.in):len(l.in)], p.of(n.list...))
		}
	}
	switch n.op {
	case opBlocks:
		l.domain, l.version = microsoft, 1
		for i, v := range append([]int64{int64(n.axis)}, n.list...) {
			set([]string{"gather_axis", "quantize_axis", "block_size", "bits"}[i], v)
		}
	case opGather, opGatherElements, opConcat, opScatter:
		set("axis", int64(n.axis))
	case opScatterAdd:
		l.op = "ScatterElements"
		set("axis", int64(0))
		set("reduction", "add")
	case opGatherND:
		if n.batch > 0 {
			set("batch_dims", int64(n.batch))
		}
	case opCast:
		set("to", onnxType(n.out.spec.DType))
	case opReshape:
		if !n.flag {
			set("allowzero", int64(1))
		}
	case opTranspose:
		if n.list != nil {
			set("perm", n.list)
		}
	case opSqueeze, opUnsqueeze:
		vector()
	case opCumSum:
		l.in = append(l.in[:len(l.in):len(l.in)], p.number(garner.I64, int64(n.axis)))
		set("exclusive", flag(n.flag))
		set("reverse", int64(n.batch))
	case opPad:
		set("mode", n.mode)
	case opReduceProd, opReduceSum, opReduceMax, opReduceMin:
		vector()
		set("keepdims", flag(n.flag))
	case opTopK:
		set("axis", int64(n.axis))
		set("largest", flag(!n.flag))
	case opMod:
		set("fmod", int64(1))
	case opFloorMod:
		l.op = "Mod"
	case opSelect:
		l.op = "Where"
	}
	return l
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
