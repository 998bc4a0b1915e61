"""Records which operators of constants OpenVINO computes before the first run: folds.jsonl,
one operator a line, with the dtypes that it folds and those that it keeps. A Gather by an
input stands behind the operator; the model that runs has the operator, or a constant.

    pip install numpy openvino
    python folds.py
"""

import json
import os

import numpy as np
import openvino as ov
from openvino import opset6, opset8, opset10, opset13

from record import i64

DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "u8": np.uint8, "i8": np.int8, "u32": np.uint32, "u64": np.uint64, "i16": np.int16, "bool": np.bool_}


def const(*v):
    return opset8.constant(i64(*v))


def scalar(v):
    return opset8.constant(np.array(v, np.int64))


def first(v):
    """The first column."""
    return opset8.slice(v, const(0), const(1), const(1), const(1))


def operators():
    """(name in OpenVINO, of two constants [1,3])"""
    for name in "Add Subtract Multiply Divide Minimum Maximum Power Mod FloorMod SquaredDifference Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr LogicalXor".split():
        yield name, lambda a, b, name=name: getattr(opset8, snake(name))(a, b)
    for name in "Abs Negative Sign Floor Ceiling Relu Sqrt Exp Sigmoid Tanh Erf Log SoftPlus Sin Cos LogicalNot".split():
        yield {"Relu": "ReLU"}.get(name, name), lambda a, b, name=name: getattr(opset8, {"SoftPlus": "softplus"}.get(name, snake(name)))(a)
    for name in "BitwiseAnd BitwiseOr BitwiseXor".split():
        yield name, lambda a, b, name=name: getattr(opset13, snake(name))(a, b)
    yield "BitwiseNot", lambda a, b: opset13.bitwise_not(a)
    for name in "ReduceSum ReduceMax ReduceMin ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr".split():
        yield name, lambda a, b, name=name: getattr(opset8, {"ReduceL1": "reduce_l1", "ReduceL2": "reduce_l2"}.get(name, snake(name)))(a, const(0), True)
    yield "Clamp", lambda a, b: opset8.clamp(a, 0, 2)
    yield "Round", lambda a, b: opset8.round(a, "half_to_even")
    yield "Select", lambda a, b: opset8.select(opset8.constant(np.array([[True, False, True]])), a, b)
    yield "Broadcast", lambda a, b: opset8.broadcast(a, const(1, 3))
    yield "Tile", lambda a, b: opset8.tile(a, const(1, 2))
    yield "Concat", lambda a, b: opset8.concat([a, b], 1)
    yield "Split", lambda a, b: opset8.split(a, scalar(1), 3).output(0)
    yield "VariadicSplit", lambda a, b: opset8.variadic_split(a, scalar(1), const(1, 2)).output(1)
    yield "Slice", lambda a, b: opset8.slice(a, const(0), const(2), const(1), const(1))
    yield "StridedSlice", lambda a, b: opset8.strided_slice(a, const(0, 0), const(1, 2), const(1, 1), [0, 0], [0, 0])
    yield "Transpose", lambda a, b: opset8.transpose(a, const(0, 1))
    yield "Reshape", lambda a, b: opset8.reshape(a, const(1, 3), False)
    yield "Pad", lambda a, b: opset8.pad(a, const(0, 0), const(0, 1), "edge")
    yield "ReverseSequence", lambda a, b: opset8.reverse_sequence(a, const(3), 0, 1)
    yield "Roll", lambda a, b: opset8.roll(a, const(1), const(1))
    yield "ScatterUpdate", lambda a, b: opset8.scatter_update(a, const(0), first(b), scalar(1))
    yield "ScatterElementsUpdate", lambda a, b: opset8.scatter_elements_update(a, opset8.constant(np.array([[0]])), first(b), scalar(1))
    yield "ScatterNDUpdate", lambda a, b: opset8.scatter_nd_update(a, opset8.constant(np.array([[0, 0]])), opset8.reshape(first(b), const(1), False))
    yield "CumSum", lambda a, b: opset8.cum_sum(a, scalar(1))
    yield "TopK", lambda a, b: opset8.topk(a, scalar(2), 1, "max", "value").output(1)
    yield "NonZero", lambda a, b: opset8.non_zero(a)
    yield "Bucketize", lambda a, b: opset8.bucketize(a, const(1, 2))
    yield "OneHot", lambda a, b: opset8.one_hot(a, scalar(3), scalar(1), scalar(0), -1)
    yield "Gather", lambda a, b: opset8.gather(a, const(1, 0), scalar(1))
    yield "GatherND", lambda a, b: opset8.unsqueeze(opset8.gather_nd(a, opset8.constant(np.array([[0, 1]]))), const(0))
    yield "GatherElements", lambda a, b: opset6.gather_elements(a, opset8.constant(np.array([[0, 1]])), 1)
    yield "MatMul", lambda a, b: opset8.matmul(a, b, False, True)
    yield "SoftMax", lambda a, b: opset8.softmax(a, 1)
    yield "HardSigmoid", lambda a, b: opset8.hard_sigmoid(a, opset8.constant(np.float32(0.2)), opset8.constant(np.float32(0.5)))
    yield "IsNaN", lambda a, b: opset10.is_nan(a)
    yield "IsInf", lambda a, b: opset10.is_inf(a)


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


def folds(make, dtype):
    """Whether OpenVINO folds the operator; None where it has none of the dtype."""
    a, b = (opset8.constant(np.array([v]).astype(dtype)) for v in ([1, 2, 1], [1, 1, 2]))
    p = opset8.parameter([2], np.int64, name="p")
    try:
        c = ov.Core().compile_model(ov.Model([opset8.gather(make(a, b), p, scalar(-1))], [p], "m"), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
    except Exception:
        return None
    kinds = {o.get_rt_info()["layerType"].astype(str) for o in c.get_runtime_model().get_ordered_ops()}
    return kinds <= {"Input", "Output", "Const", "Gather", "Reorder", "Convert", "Parameter", "Result"}


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    with open("folds.jsonl", "w") as to:
        for name, make in operators():
            found = {d: folds(make, to_numpy) for d, to_numpy in DTYPES.items()}
            to.write(json.dumps({"op": name, "folds": [d for d in found if found[d]], "keeps": [d for d in found if found[d] is False]}) + "\n")
