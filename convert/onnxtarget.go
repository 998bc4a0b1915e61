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
			opGather: moved, opGatherND: moved, opGatherElements: moved, opIdentity: moved, opReshape: moved, opSqueeze: moved, opUnsqueeze: moved,
			opTranspose: moved, opConcat: moved, opSlice: moved, opShape: moved,
			opCast:   dtypes(bools, wholes, halves, reals),
			opExpand: dtypes(bools, wholes, half, reals, texts), opTile: dtypes(bools, wholes, half, reals, texts),
			opRange: signed, opReduceProd: signed, opReduceSum: dtypes(signed, reals), opCumSum: dtypes(signed, reals),
			opSelect: dtypes(signed, half, reals, texts, []garner.DType{garner.I8, garner.U8, garner.U32}),
			opAdd:    numbers, opSub: numbers, opMul: numbers, opDiv: numbers, opMod: wholes, opFloor: wholes,
			opMin: dtypes(extremes, reals), opMax: dtypes(extremes, reals),
			opAbs:   reals,
			opNeg:   dtypes([]garner.DType{garner.I8, garner.I16}, signed, reals),
			opEqual: dtypes(bools, numbers), opLess: numbers, opLessEq: numbers, opGreater: numbers, opGreatEq: numbers,
			opAnd: bools, opOr: bools, opXor: bools, opNot: bools,
			opBitAnd: wholes, opBitOr: wholes, opBitXor: wholes, opBitNot: wholes,
		},
		layer: onnxLayer,
	}
}

// onnxVersions has the opset that brought each operator in the form that is written. The
// model's opset is the greatest of those that it uses, and onnxOpset at least.
var onnxVersions = map[op]int{opReduceProd: 18, opBitAnd: 18, opBitOr: 18, opBitXor: 18, opBitNot: 18}

const onnxOpset = 17

// onnxIR gives the version of the IR for an opset.
func onnxIR(opset int) int64 {
	if opset > 18 {
		return 9
	}
	return 8
}

func onnxLayer(p *program, n *node) *layer {
	l := &layer{op: string(n.op), version: max(onnxVersions[n.op], onnxOpset), in: n.in, out: n.out}
	set := func(name string, value any) { l.attributes = append(l.attributes, attribute{name, value}) }
	vector := func() {
		if n.list != nil {
			l.in = append(l.in[:len(l.in):len(l.in)], p.of(n.list...))
		}
	}
	switch n.op {
	case opGather, opGatherElements, opConcat:
		set("axis", int64(n.axis))
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
	case opReduceProd, opReduceSum:
		vector()
		set("keepdims", flag(n.flag))
	case opMod:
		set("fmod", int64(1))
	case opFloor:
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
