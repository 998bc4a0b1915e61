"""Holds garner convert against ONNX Runtime and OpenVINO: source and target answer
random feeds alike, a fifth of which have bad indices.

    pip install numpy onnx onnxruntime openvino ml_dtypes
    go build -o garner ./cmd/garner
    python hold.py ./garner            every model, 1,000 feeds each, all ways of --outside
    python hold.py ./garner NAME...    these models alone
    FIX=1 python hold.py ./garner      the same, with each target behind garner lint --fix
    python hold.py ./garner --recorded FOLDER litert|tensorflow    those of hold_tensorflow.py

Each model comes with a function that makes a feed, valid or bad. For a source in which a
bad index reads other memory (OpenVINO's GatherND), the target must refuse it. With
--outside clamp and as-is only valid feeds are compared, and under clamp bad ones must be
answered. It prints one line for each model and way, with the counts of feeds that were
answered alike, and refused alike. For a source that leaves rows of bad indices as they were
in memory (zeros: the axis and its length), the target must give zeros there. OpenVINO runs with THREADS threads, 2 without that variable,
by start_async and wait: with one thread its infer call loses the errors of nodes.
"""

import glob
import os
import pickle
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import openvino as ov
from onnx import TensorProto as T
from onnx import helper as H
from openvino import opset1, opset3, opset4, opset5, opset6, opset7, opset8, opset10, opset11, opset12, opset13, opset15

THREADS = int(os.environ.get("THREADS", 2))
FIX = bool(os.environ.get("FIX"))
FEEDS = int(os.environ.get("FEEDS", 1000))
HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "testdata", "models")
ort.set_default_logger_severity(4)
core = ov.Core()
cases = {}


class Case:
    """A model: path writes it, feed(rng, bad) makes its inputs by name."""

    def __init__(self, write, feed, undefined=False, flags=(), zeros=None, to=None):
        self.write, self.feed, self.undefined, self.flags, self.zeros, self.to = write, feed, undefined, list(flags), zeros, to


# Indices.


def index(rng, shape, length, bad, dtype=np.int64, negative=True):
    """Random indices of an axis; with bad, one at least is outside."""
    low = -length if negative and np.iinfo(dtype).min < 0 else 0
    a = rng.integers(low, max(length, low + 1), shape).astype(dtype)
    if bad and a.size:
        flat = a.reshape(-1)
        for at in rng.integers(0, a.size, rng.integers(1, 3)):
            far = [length, length + 1, 2 * length + 7, 2**31 - 1 if np.iinfo(dtype).max >= 2**31 - 1 else np.iinfo(dtype).max]
            if np.iinfo(dtype).min < 0:
                far += [-length - 1, -2 * length - 9] + ([-(2**31)] if np.iinfo(dtype).min <= -(2**31) else [])
            if not negative:
                far += [-1, -length] if np.iinfo(dtype).min < 0 else []
            far = [v for v in far if np.iinfo(dtype).min <= v <= np.iinfo(dtype).max]
            flat[at] = far[rng.integers(len(far))]
    return a


def data(rng, shape, dtype):
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


# ONNX.

KIND = {np.float32: T.FLOAT, np.float64: T.DOUBLE, np.float16: T.FLOAT16, ml_dtypes.bfloat16: T.BFLOAT16, np.bool_: T.BOOL, np.int8: T.INT8, np.int16: T.INT16,
        np.int32: T.INT32, np.int64: T.INT64, np.uint8: T.UINT8, np.uint16: T.UINT16, np.uint32: T.UINT32, np.uint64: T.UINT64}


def onnx_model(nodes, inputs, outputs, constants=None, opset=18):
    """Writes an ONNX model. inputs and outputs are (name, dtype, shape)."""
    info = lambda l: [H.make_tensor_value_info(n, KIND[d], s) for n, d, s in l]
    held = [onnx.numpy_helper.from_array(v, n) for n, v in (constants or {}).items()]
    graph = H.make_graph(nodes, "g", info(inputs), info(outputs), held)
    m = H.make_model(graph, opset_imports=[H.make_opsetid("", opset)], ir_version=8)

    def write(folder):
        path = os.path.join(folder, "source.onnx")
        onnx.save(m, path)
        return path

    return write


def name(d):
    return np.dtype(d).name


def add_onnx():
    N = H.make_node
    for d in KIND:
        for shape in (["n", 4], [7, 4]) if d in (np.float32, np.int8, np.bool_) else (["n", 4],):
            rows = lambda rng: 7 if shape[0] == 7 else int(rng.integers(1, 9))

            def feed(rng, bad, d=d, shape=shape):
                x = data(rng, (7 if shape[0] == 7 else int(rng.integers(1, 9)), 4), d)
                return {"x": x, "i": index(rng, (2, 3), x.shape[0], bad)}

            flags = ["--lossy"] if d == np.float64 else []
            if d == np.float64:
                exact = feed
                feed = lambda rng, bad, feed=exact: {k: v.astype(np.float32).astype(np.float64) if k == "x" else v for k, v in feed(rng, bad).items()}
            cases[f"onnx-gather-{name(d)}-{'static' if shape[0] == 7 else 'dynamic'}"] = Case(
                onnx_model([N("Gather", ["x", "i"], ["y"])], [("x", d, shape), ("i", np.int64, [2, 3])], [("y", d, None)]), feed, flags=flags)
    for axis in (0, 1, 2, -1):
        def feed(rng, bad, axis=axis):
            x = data(rng, (3, 4, 5), np.float32)
            return {"x": x, "i": index(rng, tuple(rng.integers(0, 4, 2)), x.shape[axis], bad, np.int32)}
        cases[f"onnx-gather-axis{axis}"] = Case(onnx_model([N("Gather", ["x", "i"], ["y"], axis=axis)], [("x", np.float32, ["a", "b", "c"]), ("i", np.int32, ["p", "q"])], [("y", np.float32, None)]), feed)
    cases["onnx-gather-scalar"] = Case(onnx_model([N("Gather", ["x", "i"], ["y"], axis=1)], [("x", np.float32, [3, 4]), ("i", np.int64, [])], [("y", np.float32, None)]),
        lambda rng, bad: {"x": data(rng, (3, 4), np.float32), "i": index(rng, (), 4, bad)})
    table = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    # Denormal constants that OpenVINO keeps: of f16 and bf16, a Pad's value, and what becomes true.
    tiny = np.array([[1e-40, 6e-8], [2, -1e-39], [0, 3]], np.float32)
    cases["onnx-denormals"] = Case(onnx_model(
        [N("Gather", ["half", "i"], ["h"]), N("Gather", ["brain", "i"], ["b"]), N("Cast", ["b"], ["wide"], to=T.FLOAT), N("Cast", ["tiny"], ["true"], to=T.BOOL), N("Gather", ["true", "i"], ["t"]),
         N("Pad", ["x", "pads", "value"], ["p"]), N("Shape", ["tiny"], ["s"])],
        [("x", np.float32, ["n"]), ("i", np.int64, ["k"])], [("h", np.float16, None), ("wide", np.float32, None), ("t", np.bool_, None), ("p", np.float32, None), ("s", np.int64, None)],
        {"half": tiny.astype(np.float16), "brain": tiny.astype(ml_dtypes.bfloat16), "tiny": tiny, "pads": np.array([1, 0]), "value": np.array(1e-40, np.float32)}),
        lambda rng, bad: {"x": data(rng, (3,), np.float32) * np.float32(1e-38), "i": index(rng, (4,), 3, bad)})
    for opset in (1, 11, 13):
        nodes = [N("Gather", ["t", "i"], ["y"])]
        cases[f"onnx-table-{opset}"] = Case(onnx_model(nodes, [("i", np.int64, ["b", "s"])], [("y", np.float32, None)], {"t": table}, opset=max(opset, 7)),
            lambda rng, bad: {"i": index(rng, (2, 3), 50, bad)})
    large = np.random.default_rng(0).standard_normal((5000, 16)).astype(np.float32)
    cases["onnx-table-large"] = Case(onnx_model([N("Gather", ["t", "i"], ["y"])], [("i", np.int64, ["b", "s"])], [("y", np.float32, None)], {"t": large}),
        lambda rng, bad: {"i": index(rng, (2, 3), 5000, bad)})
    for b in (0, 1, 2):
        for k in (1, 2):
            def feed(rng, bad, b=b, k=k):
                s = tuple(int(v) for v in rng.integers(1, 5, 5))
                i = np.stack([index(rng, s[:b] + (3,), s[b + j], bad and j == k - 1) for j in range(k)], -1)
                return {"x": data(rng, s, np.float32), "i": i}
            cases[f"onnx-gathernd-b{b}-k{k}"] = Case(onnx_model([N("GatherND", ["x", "i"], ["y"], batch_dims=b)], [("x", np.float32, list("abcde")), ("i", np.int64, list("abcde")[:b] + ["q", k])], [("y", np.float32, None)]), feed)
    for d in (np.float32, np.int64, np.bool_, np.uint16):
        for axis in (0, 1, -1):
            def feed(rng, bad, d=d, axis=axis):
                x = data(rng, (4, 5, 3), d)
                s = list(rng.integers(1, [5, 6, 4]))
                s[axis] = int(rng.integers(1, 7))
                return {"x": x, "i": index(rng, s, x.shape[axis], bad)}
            cases[f"onnx-gatherelements-{name(d)}-{axis}"] = Case(onnx_model([N("GatherElements", ["x", "i"], ["y"], axis=axis)], [("x", d, ["a", "b", "c"]), ("i", np.int64, ["p", "q", "r"])], [("y", d, None)]), feed)
    # Arithmetic around gathers.
    for d in (np.int32, np.int64, np.int8, np.int16, np.uint8):
        def feed(rng, bad, d=d):
            top = min(np.iinfo(d).max, 2**31 - 1)
            low = max(np.iinfo(d).min + 1, -(2**31) + 1)
            x = rng.integers(low, top, 20, endpoint=True).astype(d)
            y = rng.integers(max(low, -1000), min(top, 1000), 20).astype(d)
            y[y == 0] = 3
            if np.iinfo(d).min < 0:
                y[(x == np.iinfo(d).min) & (y == -1)] = 2
            return {"x": x, "y": y}
        nodes = [N("Div", ["x", "y"], ["div"]), N("Mod", ["x", "y"], ["mod"]), N("Mod", ["x", "y"], ["fmod"], fmod=1), N("Add", ["x", "y"], ["add"]), N("Sub", ["x", "y"], ["sub"]),
                 N("Less", ["x", "y"], ["less"]), N("GreaterOrEqual", ["x", "y"], ["ge"]), N("Equal", ["x", "y"], ["eq"])]
        outs = [(n, d, None) for n in ("div", "mod", "fmod")]
        if np.dtype(d).itemsize < 8:
            nodes.append(N("Mul", ["x", "y"], ["mul"]))
            outs += [(n, d, None) for n in ("add", "sub", "mul")]
        else:
            nodes = [n for n in nodes if n.op_type not in ("Add", "Sub")]
        if d in (np.int32, np.int64, np.int8):
            nodes += [N("Where", ["less", "x", "y"], ["where"]), N("Min", ["x", "y"], ["min"]), N("Max", ["x", "y"], ["max"])]
            outs += [(n, d, None) for n in ("where", "min", "max")]
        outs += [(n, np.bool_, None) for n in ("less", "ge", "eq")]
        cases[f"onnx-arithmetic-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n"]), ("y", d, ["n"])], outs), feed)
    nodes = [N("Shape", ["x"], ["s"]), N("Gather", ["s", "zero"], ["n"]), N("Unsqueeze", ["n", "axis0"], ["n1"]), N("Concat", ["n1", "rest"], ["to"], axis=0), N("Reshape", ["x", "to"], ["r"]),
             N("Transpose", ["r"], ["t"], perm=[1, 0]), N("Slice", ["t", "one", "big", "axis0"], ["c"]), N("Range", ["zero", "n", "step"], ["range"]), N("Gather", ["c", "i"], ["y"], axis=1),
             N("Flatten", ["x"], ["f"], axis=2), N("Expand", ["n1", "wide"], ["e"]), N("Tile", ["n1", "times"], ["tile"]), N("Size", ["x"], ["size"]), N("ReduceProd", ["s", "axis0"], ["prod"], keepdims=0),
             N("ConstantOfShape", ["s"], ["cos"], value=onnx.numpy_helper.from_array(np.array([7], np.int32))), N("Squeeze", ["n1", "axis0"], ["sq"]), N("Cast", ["i"], ["cast"], to=T.FLOAT), N("Identity", ["x"], ["same"]),
             N("Clip", ["i", "zero", "step"], ["clip"]), N("Neg", ["i"], ["neg"]), N("Not", ["b"], ["not"]), N("And", ["b", "not"], ["and"])]
    outs = [("y", np.float32, None), ("f", np.float32, None), ("range", np.int64, None), ("e", np.int64, None), ("tile", np.int64, None), ("size", np.int64, None), ("prod", np.int64, None), ("cos", np.int32, None),
            ("sq", np.int64, None), ("cast", np.float32, None), ("same", np.float32, None), ("clip", np.int64, None), ("neg", np.int64, None), ("not", np.bool_, None), ("and", np.bool_, None), ("x", np.float32, ["n", 2, 3])]
    consts = {"zero": np.array(0, np.int64), "axis0": np.array([0], np.int64), "rest": np.array([6], np.int64), "one": np.array([1], np.int64), "big": np.array([2**63 - 1], np.int64), "step": np.array(1, np.int64), "wide": np.array([3], np.int64), "times": np.array([2], np.int64)}

    def feed(rng, bad):
        n = int(rng.integers(1, 6))
        return {"x": data(rng, (n, 2, 3), np.float32), "i": index(rng, (4,), n, bad), "b": data(rng, (3,), np.bool_)}
    cases["onnx-shapes"] = Case(onnx_model(nodes, [("x", np.float32, ["n", 2, 3]), ("i", np.int64, ["k"]), ("b", np.bool_, ["m"])], outs, consts), feed)
    cases["onnx-empty-axis"] = Case(onnx_model([N("Gather", ["x", "i"], ["y"])], [("x", np.float32, ["n", 2]), ("i", np.int64, ["k"])], [("y", np.float32, None)]),
        lambda rng, bad: {"x": data(rng, (0, 2) if bad else (3, 2), np.float32), "i": index(rng, (int(rng.integers(1, 4)),), 0 if bad else 3, False)})


def add_one_row():
    """Axes of length 1, which OpenVINO folds gathers of."""
    N = H.make_node
    for op in ("Gather", "GatherND", "GatherElements"):
        for table in ("constant", "input"):
            for length in (None, 1, 5, 100):
                for static in (True, False):
                    for rows in (1, 4):
                        if length is None and (op != "Gather" or not static):
                            continue
                        shape = [] if length is None else [length] if op == "Gather" else [length, 1 if op == "GatherND" else 3]
                        c = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
                        ins = [("i", np.int64, shape if static else ["n"] + shape[1:])] + ([("c", np.float32, [rows, 3] if static else ["r", 3])] if table == "input" else [])
                        feed = lambda rng, bad, c=c, shape=tuple(shape), rows=rows, table=table: {"i": index(rng, shape, rows, bad), **({"c": c} if table == "input" else {})}
                        write = onnx_model([N(op, ["c", "i"], ["y"])], ins, [("y", np.float32, None)], {"c": c} if table == "constant" else {})
                        cases[f"rows{rows}-{op.lower()}-{table}-{length}-{'static' if static else 'dynamic'}"] = Case(write, feed)


def add_tiles():
    """Tile and Slice, which OpenVINO and ONNX Runtime answer otherwise in places, behind a gather."""
    N = H.make_node
    for table in ((1, 1, 3, 3), (1, 3, 3), (3, 3), (2, 2, 3, 3)):
        c = np.arange(int(np.prod(table)), dtype=np.float32).reshape(table)
        n = len(table) + 1
        nodes = [N("Gather", ["c", "i"], ["g"], axis=n - 2), N("Tile", ["g", "times"], ["y"])]
        cases[f"tile-{n}"+"".join(map(str, table))] = Case(onnx_model(nodes, [("i", np.int64, ["a", "b"])], [("y", np.float32, None)], {"c": c, "times": np.full(n, 2, np.int64)}),
            lambda rng, bad: {"i": index(rng, (2, 4), 3, bad)})
    for end in (2**31 - 1, 2**63 - 1):
        nodes = [N("Gather", ["x", "i"], ["g"]), N("Slice", ["g", "two", "end", "zero", "back"], ["y"])]
        cases[f"slice-onnx-{end}"] = Case(onnx_model(nodes, [("x", np.float32, [4]), ("i", np.int64, [4])], [("y", np.float32, None)], {"two": np.array([2], np.int64), "end": np.array([end], np.int64), "zero": np.array([0], np.int64), "back": np.array([-1], np.int64)}),
            lambda rng, bad: {"x": data(rng, (4,), np.float32), "i": index(rng, (4,), 4, bad)})

        def build(end=end):
            x, i = par("x", np.float32, [4]), par("i", np.int64, [4])
            return ov.Model([result(opset8.slice(opset8.gather(x, i, K(0)), K([2]), K([end]), K([-1]), K([0])))], [x, i], "g")
        cases[f"slice-ov-{end}"] = Case(ov_model(build), lambda rng, bad: {"x": data(rng, (4,), np.float32), "i": index(rng, (4,), 4, bad)})


def add_constant_indices():
    """Gathers whose indices are constants: of any rank and length, negative ones among them, and none at all."""
    for shape in ([5, 4], ["n", 4], [5, "n"]):
        feed = lambda rng, bad: {"x": data(rng, (5, 4), np.float32)}
        for k, (op, axis, c) in {"scalar": ("Gather", 0, -2), "vector": ("Gather", 1, np.arange(200) % 8 - 4), "matrix": ("Gather", 0, np.arange(400).reshape(20, 20) % 10 - 5), "none": ("Gather", 1, np.zeros((2, 0))),
                "tuples": ("GatherND", None, [[0, -4], [4, 3]]), "no-tuples": ("GatherND", None, np.zeros((0, 1))), "elements": ("GatherElements", 0, [[0, 1, 0, -5], [-1, 2, 4, 1]]), "fewer-elements": ("GatherElements", 0, [[0, -1]])}.items():
            node = H.make_node(op, ["x", "c"], ["y"], **({} if axis is None else {"axis": axis}))
            cases[f"onnx-constant-{k}-{'-'.join(map(str, shape))}"] = Case(onnx_model([node], [("x", np.float32, shape)], [("y", np.float32, None)], {"c": np.array(c, np.int64)}), feed)
    node = H.make_node("Gather", ["x", "c"], ["y"])
    for shape in ([5, 4], ["n", 4]):
        for k, (op, axis, c) in {"gather": ("Gather", 0, [1, -5, 4]), "elements": ("GatherElements", 1, [[0, -4], [3, -1]]), "tuples": ("GatherND", None, [[0, -4], [4, 3]]), "scatter": ("ScatterElements", 0, [[0, -5, 4], [1, 2, -4]])}.items():
            for computed in (False, True):
                more = ["u"] if op == "ScatterElements" else []
                nodes = ([H.make_node("Add", ["c", "zero"], ["j"])] if computed else []) + [H.make_node(op, ["x", "j" if computed else "c"] + more, ["y"], **({} if axis is None else {"axis": axis}))]
                if not computed and not more:
                    continue
                feed = lambda rng, bad, more=more: {"x": data(rng, (5, 4), np.float32), **({"u": data(rng, (2, 3), np.float32)} if more else {})}
                cases[f"onnx-{'computed' if computed else 'constant'}-{k}-{'-'.join(map(str, shape))}"] = Case(
                    onnx_model(nodes, [("x", np.float32, shape)] + [("u", np.float32, [2, 3])] * len(more), [("y", np.float32, None)], {"c": np.array(c, np.int64), **({"zero": np.array(0, np.int64)} if computed else {})}), feed)
    for axis, shape in ((0, [0, 4]), (1, [0, 4]), (0, [2, 0])):
        for fed in (False, True):
            node = H.make_node("GatherElements", ["x", "c"], ["y"], axis=axis)
            cases[f"onnx-no-elements-{axis}-{shape[0]}-{'fed' if fed else 'constant'}"] = Case(
                onnx_model([node], [("x", np.float32, [5, 4])] + [("c", np.int64, shape)] * fed, [("y", np.float32, None)], {} if fed else {"c": np.zeros(shape, np.int64)}),
                lambda rng, bad, shape=shape, fed=fed: {"x": data(rng, (5, 4), np.float32), **({"c": np.zeros(shape, np.int64)} if fed else {})})
    for op in ("Add", "Mul", "Max"):  # a number of more dims than what it is beside
        for how, (operator, ins, held) in {"held": (None, [], {"c": np.full((1, 1), 2, np.int32)}), "unsqueezed": ("Unsqueeze", ["c0", "a"], {"c0": np.array(2, np.int32), "a": np.arange(2)}), "expanded": ("Expand", ["c0", "a"], {"c0": np.array(2, np.int32), "a": np.ones(2, np.int64)})}.items():
            nodes = ([H.make_node(operator, ins, ["c"])] if operator else []) + [H.make_node("Gather", ["x", "i"], ["g"]), H.make_node(op, ["g", "c"], ["y"])]
            cases[f"onnx-raised-{op.lower()}-{how}"] = Case(onnx_model(nodes, [("x", np.int32, [5, 4]), ("i", np.int64, [])], [("y", np.int32, None)], held),
                lambda rng, bad: {"x": data(rng, (5, 4), np.int32), "i": index(rng, (), 5, bad)})
    cases["onnx-constant-data"] = Case(onnx_model([node], [], [("y", np.float32, None)], {"c": np.array([[0, -1]]), "x": np.arange(6, dtype=np.float32).reshape(3, 2)}), lambda rng, bad: {})


def codes_of(rng, kind, shape):
    """Random codes, and their bytes, the first in the lowest bits."""
    bits = int(kind[1:])
    low = -(1 << bits - 1) if kind[0] == "i" else 0
    codes = rng.integers(low, low + (1 << bits), shape)
    per = 8 // bits
    flat = np.zeros(-(-codes.size // per) * per, np.uint8)
    flat[: codes.size] = codes.reshape(-1) & ((1 << bits) - 1)
    packed = sum(flat[k::per].astype(np.uint16) << bits * k for k in range(per)).astype(np.uint8)
    return codes, packed.tobytes()


def scales_of(rng, shape, d):
    """Scales of all sizes, negative ones, zeros, and of f16 subnormal numbers, which OpenVINO takes for 0 in f32."""
    scales = rng.standard_normal(shape) * 10.0 ** rng.integers(-9 if d == np.float16 else -36, 2, shape)
    return np.where((rng.random(shape) < 0.1) | (abs(scales) < 2.0**-126), 0, scales).astype(d)


def add_blocks_onnx():
    """GatherBlockQuantized: codes of u4, i4, u8, and of 8, 4 and 2 bits in bytes, with zero points and without."""
    kinds = [("u4", T.UINT4, 4, "u4"), ("i4", T.INT4, 4, "i4"), ("u8", T.UINT8, 8, "u8"), ("u8", T.UINT8, 4, "u4"), ("u8", T.UINT8, 2, "u2")]
    layouts = [((12, 64), 16, 0), ((12, 40), 64, 0), ((12, 48), 16, 0), ((2, 16), 16, 0), ((3, 5, 32), 16, 0), ((3, 5, 32), 32, 1), ((12, 64), 16, 1), ((3, 5, 32), 16, -1), ((3, 5, 36), 16, 0), ((5, 36), 16, 1)]
    for held, kind, bits, each in kinds:
        for shape, size, axis in layouts:
            if held == "u8" and axis != 0:
                continue
            for zeros in (False, True):
                for d in (np.float32, np.float16):
                    rng = np.random.default_rng(len(cases))
                    blocks = -(-shape[-1] // size)
                    table = shape[:-1] + (shape[-1] * bits // 8,) if held == "u8" else shape
                    inits = [H.make_tensor("t", kind, table, codes_of(rng, each, shape)[1], raw=True), onnx.numpy_helper.from_array(scales_of(rng, shape[:-1] + (blocks,), d), "s")]
                    if zeros and held == "u8":
                        wide = -(-blocks * bits // 8)
                        inits.append(H.make_tensor("z", kind, shape[:-1] + (wide,), rng.integers(0, 256, shape[:-1] + (wide,)).astype(np.uint8).tobytes(), raw=True))
                    elif zeros:
                        inits.append(H.make_tensor("z", kind, shape[:-1] + (blocks,), codes_of(rng, each, shape[:-1] + (blocks,))[1], raw=True))
                    node = H.make_node("GatherBlockQuantized", ["t", "i", "s"] + ["z"] * zeros, ["y"], domain="com.microsoft", gather_axis=axis, quantize_axis=len(shape) - 1, block_size=size, **({"bits": bits} if held == "u8" else {}))
                    it, dims = (np.int32, ["a", "b"]) if size == 16 else (np.int64, ["a"])
                    graph = H.make_graph([node], "g", [H.make_tensor_value_info("i", KIND[it], dims)], [H.make_tensor_value_info("y", KIND[d], None)], inits)
                    m = H.make_model(graph, opset_imports=[H.make_opsetid("", 21), H.make_opsetid("com.microsoft", 1)], ir_version=10)

                    def write(folder, m=m):
                        path = os.path.join(folder, "source.onnx")
                        onnx.save(m, path)
                        return path
                    feed = lambda rng, bad, it=it, dims=dims, n=shape[axis]: {"i": index(rng, (3, 2)[: len(dims)], n, bad, it)}
                    cases[f"onnx-blocks-{held}-{bits}-{'x'.join(map(str, shape))}-{size}-{axis}-{'zeros' if zeros else 'none'}-{name(d)}"] = Case(write, feed)


def held_codes(rng, kind, shape):
    t = ov.Tensor(getattr(ov.Type, kind), list(shape))
    np.asarray(t.data).view(np.uint8).reshape(-1)[:] = np.frombuffer(codes_of(rng, kind, shape)[1], np.uint8)
    return ov.op.Constant(t, shared_memory=False)


def add_blocks_ov():
    """Gathers of compressed tables of OpenVINO: a scale for each row or group, in f32 and f16, with zero points and without."""
    for kind in ("u4", "i4", "u8", "i8"):
        for split, table, axis in (((12, 40), None, 0), ((12, 4, 16), (12, 64), 0), ((2, 16), None, 0), ((3, 5, 2, 16), (3, 5, 32), 1), ((12, 40), None, 1)):
            for zeros in ("none", "each", "one"):
                for chain, out in (("f32", "f32"), ("f16", "f32"), ("f16", "f16")):
                    if zeros == "one" and (kind == "i4" or kind == "u4" and axis):
                        continue  # ONNX has a zero point for each block
                    rng = np.random.default_rng(len(cases))
                    each = split[:-1] + (1,)
                    codes, scales = held_codes(rng, kind, split), scales_of(rng, each, np.float32 if chain == "f32" else np.float16)
                    zero = None if zeros == "none" else held_codes(rng, kind, each) if zeros == "each" else opset8.constant(np.array(8, np.uint8))

                    def build(codes=codes, scales=scales, zero=zero, chain=chain, out=out, table=table, axis=axis):
                        i = par("i", np.int64, [-1, 2])
                        v = opset1.convert(codes, chain)
                        if zero is not None:
                            v = opset1.subtract(v, opset1.convert(zero, chain))
                        v = opset1.multiply(v, opset8.constant(scales))
                        if table:
                            v = opset1.reshape(v, K(table), False)
                        if out != chain:
                            v = opset1.convert(v, out)
                        return ov.Model([result(opset8.gather(v, i, K(axis)))], [i], "g")
                    n = (table or split)[axis]
                    feed = lambda rng, bad, n=n: {"i": index(rng, (3, 2), n, bad)}
                    cases[f"ov-blocks-{kind}-{'x'.join(map(str, split))}-{axis}-{zeros}-{chain}-{out}"] = Case(ov_model(build), feed, zeros=(axis, n))


def add_bags_ov():
    """Bags of OpenVINO: empty ones, weights, means, and offsets that fall."""
    sums = lambda rng, d, shape: (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)).astype(d) if d == np.float32 else rng.integers(-1000, 1000, shape).astype(d)

    def mixed(rng, d, shape):
        a = sums(rng, d, shape)
        return np.where(rng.random(shape) < 0.2, np.array(-0.0, d), a)
    for d in (np.float32, np.int32):
        for columns in ((5,), (2, 3)):
            for static in (True, False):
                for weighted in (False, True):
                    for default in (None, 2):
                        if not static and default is not None or weighted and not static:
                            continue  # a default_index is of a known table; OpenVINO loads no weights of unknown dims
                        many = lambda rng, low, weighted=weighted: 12 if weighted else int(rng.integers(low, 30))
                        table = mixed(np.random.default_rng(len(cases)), d, (7,) + columns)
                        tag = f"{name(d)}-{len(columns)}-{'constant' if static else 'input'}-{'weights' if weighted else 'plain'}-{default}"

                        def parts(dims, static=static, d=d, columns=columns, weighted=weighted, table=table):
                            x = K(table, d) if static else par("x", d, [-1] + list(columns))
                            i = par("i", np.int64, dims)
                            w = par("w", d, dims) if weighted else None
                            return x, i, w, ([] if static else [x]) + [i] + ([w] if weighted else [])

                        def made(rng, i, static=static, d=d, weighted=weighted, columns=columns):
                            return {"i": i, **({} if static else {"x": mixed(rng, d, (7,) + columns)}), **({"w": mixed(rng, d, i.shape)} if weighted else {})}

                        def offsets(version, mean=False, default=default, weighted=weighted, parts=parts, d=d):
                            def build():
                                x, i, w, inputs = parts([12 if weighted else -1])
                                o = par("o", np.int64, [3 if weighted else -1])
                                at = K(default if default is not None else -1) if default is not None or weighted else None
                                bag = opset3.embedding_bag_offsets_sum(x, i, o, at, w) if version == 3 else opset15.embedding_bag_offsets(x, i, o, at, w, reduction="mean" if mean else "sum")
                                return ov.Model([result(bag)], inputs + [o], "g")
                            return build

                        def feed_offsets(rng, bad, made=made, many=many, weighted=weighted):
                            # An offset that is the number of indices OpenVINO refuses, and the target takes, as the page says.
                            n = many(rng, 1)
                            i = index(rng, (n,), 7, bad and rng.random() < 0.5, negative=False)
                            o = np.sort(rng.integers(0, n, 3 if weighted else int(rng.integers(1, 6))))
                            if bad or rng.random() < 0.7:  # at bad indices before the first bag OpenVINO does not look
                                o[0] = 0
                            if bad:
                                o[-1] = rng.choice([n + 1, -1, 2 * n + 5, o[-1], o[0]])
                            return {**made(rng, i), "o": o}

                        def packed(version, mean=False, parts=parts, weighted=weighted):
                            def build():
                                x, i, w, inputs = parts([3, 11] if weighted else [-1, -1])
                                bag = opset3.embedding_bag_packed_sum(x, i, w) if version == 3 else opset15.embedding_bag_packed(x, i, w, reduction="mean" if mean else "sum")
                                return ov.Model([result(bag)], inputs, "g")
                            return build
                        feed_packed = lambda rng, bad, made=made, weighted=weighted: made(rng, index(rng, (3, 11) if weighted else tuple(int(n) for n in rng.integers(1, [5, 20])), 7, bad, negative=False))

                        def segments(default=default, parts=parts, weighted=weighted):
                            x, i, w, inputs = parts([12 if weighted else -1])
                            s = par("s", np.int64, [12 if weighted else -1])
                            at = K(default) if default is not None else None
                            return ov.Model([result(opset3.embedding_segments_sum(x, i, s, K(5), at, w))], inputs + [s], "g")

                        def feed_segments(rng, bad, made=made, many=many):
                            n = many(rng, 1)
                            return {**made(rng, index(rng, (n,), 7, bad, negative=False)), "s": np.sort(rng.integers(0, 5, n))}
                        cases[f"ov-bags-offsets3-{tag}"] = Case(ov_model(offsets(3)), feed_offsets)
                        if default is not None or not weighted:
                            cases[f"ov-bags-segments3-{tag}"] = Case(ov_model(segments), feed_segments)
                        if default is None:
                            cases[f"ov-bags-packed3-{tag}"] = Case(ov_model(packed(3)), feed_packed)
                            if not weighted:
                                cases[f"ov-bags-packed15-{tag}"] = Case(ov_model(packed(15, True)), feed_packed)
                        if not weighted:
                            cases[f"ov-bags-offsets15-{tag}"] = Case(ov_model(offsets(15, True)), feed_offsets)
    for n in [n for n in cases if n.startswith("ov-bags-")]:
        cases[n.replace("ov-bags-", "ov-bags-stay-")] = Case(cases[n].write, cases[n].feed, to="xml")


def add_edges_onnx():
    """Ranges that have no numbers, conditions of Compress that are constants, repeats of a scalar and repeats that are fed, and a model whose constants are empty."""
    N = H.make_node
    for d in (np.int32, np.int64):
        ends = [("start", d, []), ("limit", d, []), ("step", d, [])]
        feed = lambda rng, bad, d=d: {n: np.array(rng.integers(-9, 10), d) for n in ("start", "limit")}
        for step in (1, -2):
            cases[f"onnx-range-{name(d)}-{step}"] = Case(onnx_model([N("Range", ["start", "limit", "step"], ["y"])], ends[:2], [("y", d, None)], {"step": np.array(step, d)}), feed)
        cases[f"onnx-range-{name(d)}-fed"] = Case(onnx_model([N("Range", ["start", "limit", "step"], ["y"])], ends, [("y", d, None)]), lambda rng, bad, feed=feed, d=d: {**feed(rng, bad), "step": np.array(rng.choice([-3, -1, 1, 2]), d)})
    for k, c in {"none": [False, False], "one": [False, True], "longer": [True, False, True]}.items():
        for shape in ([2, 3], ["n", 3]):
            cases[f"onnx-compress-{k}-{shape[0]}"] = Case(onnx_model([N("Compress", ["x", "c"], ["y"], axis=0)], [("x", np.float32, shape)], [("y", np.float32, None)], {"c": np.array(c)}), lambda rng, bad: {"x": data(rng, (2, 3), np.float32)})
    cases["onnx-tile-scalar"] = Case(onnx_model([N("Tile", ["x", "r"], ["y"])], [("x", np.float32, []), ("r", np.int64, [0])], [("y", np.float32, None)]), lambda rng, bad: {"x": np.array(rng.standard_normal(), np.float32), "r": np.zeros(0, np.int64)})
    cases["onnx-tile-fed"] = Case(onnx_model([N("Tile", ["x", "r"], ["y"])], [("x", np.float32, ["n", 2]), ("r", np.int64, [2])], [("y", np.float32, None)]), lambda rng, bad: {"x": data(rng, (int(rng.integers(1, 4)), 2), np.float32), "r": rng.integers(0, 4, 2)})
    cases["onnx-reshape-kept"] = Case(onnx_model([N("Reshape", ["c", "s"], ["y"])], [("s", np.int64, [2])], [("y", np.float32, None)], {"c": np.ones((2, 3), np.float32)}),
        lambda rng, bad: {"s": np.array([[0, 0], [0, -1], [3, 2], [-1, 3], [2, 0]][rng.integers(5)])})
    cases["onnx-empty-constant"] = Case(onnx_model([N("Transpose", ["c"], ["y"])], [], [("y", np.int64, None)], {"c": np.zeros((1, 0), np.int64)}), lambda rng, bad: {})


def add_further_onnx():
    """Split, Abs, CumSum, and with --lossy ReduceSum and the least and greatest of floats, around a gather."""
    N = H.make_node
    for d in (np.float32, np.int32, np.int64, np.int8):
        nodes = [N("Split", ["x", "lengths"], ["p", "gap", "q"], axis=1), N("Split", ["x"], ["u", "v"], axis=-1, num_outputs=2), N("Split", ["q"], ["l", "m", "n"], axis=1, num_outputs=3), N("Abs", ["x"], ["abs"]),
                 N("Gather", ["p", "i"], ["y"], axis=0), N("Gather", ["abs", "i"], ["z"], axis=0)]
        outs = [(o, d, None) for o in ("p", "q", "u", "v", "l", "m", "n", "abs", "y", "z")]
        feed = lambda rng, bad, d=d: {"x": data(rng, (5, 8), d) - (50 if np.issubdtype(d, np.integer) else 0), "i": index(rng, (2, 3), 5, bad)}
        if np.issubdtype(d, np.integer):
            def feed(rng, bad, d=d):
                x = rng.integers(max(np.iinfo(d).min, -(2**31)), min(np.iinfo(d).max, 2**31 - 1), (5, 8), endpoint=True).astype(d)
                x[0, 0] = max(np.iinfo(d).min, -(2**31)) + (d == np.int64)
                return {"x": x, "i": index(rng, (2, 3), 5, bad)}
        cases[f"onnx-split-abs-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", 8]), ("i", np.int64, ["a", "b"])], outs, {"lengths": np.array([3, 0, 5], np.int64)}), feed)
    cases["onnx-sqrt-float32"] = Case(onnx_model([N("Gather", ["x", "i"], ["g"]), N("Sqrt", ["g"], ["y"]), N("Sqrt", ["x"], ["z"])], [("x", np.float32, ["n", 8]), ("i", np.int64, ["a", "b"])], [("y", np.float32, None), ("z", np.float32, None)]),
        lambda rng, bad: {"x": (np.abs(rng.standard_normal((5, 8))) * 10.0 ** rng.integers(-44, 38, (5, 8))).astype(np.float32), "i": index(rng, (2, 3), 5, bad)})
    for d in (np.float32, np.int32, np.int64):
        nodes = [N("CumSum", ["x", f"axis{a}"], [f"c{a}{e}{r}"], exclusive=e, reverse=r) for a in (0, 1) for e in (0, 1) for r in (0, 1)] + [N("Gather", ["x", "i"], ["g"]), N("CumSum", ["g", "last"], ["y"])]
        outs = [(o.output[0], d, None) for o in nodes]
        high = 2**31 - 1 if d == np.int32 else 2**20
        feed = lambda rng, bad, d=d, high=high: {"x": data(rng, (int(rng.integers(1, 6)), 7), d) if d == np.float32 else rng.integers(-high, high, (int(rng.integers(1, 6)), 7)).astype(d), "i": None}

        def whole(rng, bad, feed=feed):
            made = feed(rng, bad)
            made["i"] = index(rng, (2, 3), made["x"].shape[0], bad)
            return made
        cases[f"onnx-cumsum-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", 7]), ("i", np.int64, ["a", "b"])], outs, {"axis0": np.array(0, np.int64), "axis1": np.array(1, np.int64), "last": np.array(-1, np.int64)}), whole)
    for d in (np.float32, np.int32):
        nodes = [N("Gather", ["x", "i"], ["g"]), N("ReduceSum", ["g", "axis"], ["y"]), N("ReduceSum", ["g"], ["all"], keepdims=0), N("ReduceSum", ["x", "axis"], ["flat"], keepdims=0)]
        cases[f"onnx-reducesum-{name(d)}"] = Case(onnx_model(nodes, [("x", d, [5, 4]), ("i", np.int64, ["a"])], [("y", d, None), ("all", d, None), ("flat", d, None)], {"axis": np.array([1], np.int64)}),
            lambda rng, bad, d=d: {"x": rng.integers(-1000, 1000, (5, 4)).astype(d), "i": index(rng, (3,), 5, bad)}, flags=["--lossy"])
    nodes = [N("Gather", ["x", "i"], ["g"]), N("Min", ["g", "w"], ["min"]), N("Max", ["g", "w"], ["max"]), N("Clip", ["g", "low", "high"], ["clip"]), N("Clip", ["g", "", "high"], ["below"])]
    cases["onnx-extremes-float32"] = Case(onnx_model(nodes, [("x", np.float32, [5, 4]), ("w", np.float32, [4]), ("i", np.int64, ["a"])], [(o, np.float32, None) for o in ("min", "max", "clip", "below")], {"low": np.array(-0.5, np.float32), "high": np.array(0.75, np.float32)}),
        lambda rng, bad: {"x": data(rng, (5, 4), np.float32), "w": data(rng, (4,), np.float32), "i": index(rng, (3,), 5, bad)}, flags=["--lossy"])


def add_unread():
    """A gather whose elements no result reads, in known and in open shapes; and that with a rank of 0."""
    for op in ("Size", "Shape", "CastLike"):
        for shape in ([3], ["a"], []):
            nodes = [H.make_node("Gather", ["x", "i"], ["g"]), H.make_node(op, ["w", "g"] if op == "CastLike" else ["g"], ["y"])]
            inputs = [("x", np.float32, [5, 4]), ("i", np.int64, shape)] + ([("w", np.int32, [2])] if op == "CastLike" else [])
            dims = [3] if shape else []
            cases[f"onnx-unread-{op.lower()}-{'open' if shape == ['a'] else len(shape)}"] = Case(onnx_model(nodes, inputs, [("y", np.float32 if op == "CastLike" else np.int64, None)]),
                lambda rng, bad, dims=dims, op=op: {"x": data(rng, (5, 4), np.float32), "i": index(rng, dims, 5, bad), **({"w": rng.integers(-9, 9, (2,)).astype(np.int32)} if op == "CastLike" else {})})


def add_joins():
    """Products of constants of few bits and other dims, which OpenVINO could take for a compressed table; and what it joins to the same numbers, a -0 among them."""
    for d in (np.uint8, np.int8, np.int32, np.float32):
        for axis in (0, 1):
            for shape in ((1, 1), (5, 4), (5, 5, 4)):
                rng = np.random.default_rng(len(cases))
                held = {"c": rng.integers(0, 40, (5, 5, 4)).astype(d), "by": rng.integers(1, 4, shape).astype(d)}
                cases[f"onnx-product-{name(d)}-{axis}-{len(shape)}-{shape[0]}"] = Case(onnx_model([H.make_node("Mul", ["by", "c"], ["m"]), H.make_node("Gather", ["m", "i"], ["y"], axis=axis)], [("i", np.int64, ["k"])], [("y", d, None)], held),
                    lambda rng, bad: {"i": index(rng, (3,), 5, bad)})
    nodes = [H.make_node("Add", ["x", "c"], ["a"]), H.make_node("Transpose", ["a"], ["t"], perm=[1, 0]), H.make_node("Add", ["t", "d"], ["moved"]), H.make_node("Mul", ["x", "one"], ["m"]), H.make_node("Mul", ["m", "d"], ["product"]),
        H.make_node("Add", ["x", "minus"], ["sum"]), H.make_node("Sub", ["x", "zero"], ["less"]), H.make_node("Gather", ["x", "i"], ["y"])]

    def feed(rng, bad):
        x = data(rng, (4, 3), np.float32)
        x[rng.random((4, 3)) < 0.3] = -0.0
        return {"x": x, "i": index(rng, (2,), 4, bad)}
    cases["onnx-not-joined"] = Case(onnx_model(nodes, [("x", np.float32, [4, 3]), ("i", np.int64, [2])], [(o, np.float32, None) for o in ("moved", "product", "sum", "less", "y")],
        {n: np.array(v, np.float32) for n, v in {"c": 0.6386982, "d": 34.94514, "one": -1, "minus": -0.0, "zero": 0}.items()}), feed)


def add_further_ov():
    """What add_further_onnx has, of OpenVINO."""
    for d in (np.float32, np.int32):
        def build(d=d):
            x, i = par("x", d, [-1, 8]), par("i", np.int64, [-1])
            s, v = opset1.split(x, K(1), 4), opset1.variadic_split(x, K(-1), K([2, -1, 1]))
            c, e = opset3.cum_sum(x, K(1)), opset3.cum_sum(opset8.gather(x, i, K(0)), K(0), True, True)
            return ov.Model([result(n, f"o{k}") for k, n in enumerate([opset8.gather(x, i, K(0)), opset1.absolute(x), c, e])]
                + [opset1.result(s.output(k)) for k in range(4)] + [opset1.result(v.output(k)) for k in range(3)], [x, i], "g")

        def feed(rng, bad, d=d):
            x = data(rng, (int(rng.integers(1, 6)), 8), d) if d == np.float32 else rng.integers(-(2**31) + 1, 2**31 - 1, (int(rng.integers(1, 6)), 8)).astype(d)
            return {"x": x, "i": index(rng, (3,), x.shape[0], bad)}
        cases[f"ov-further-{name(d)}"] = Case(ov_model(build), feed)

        def lossy(d=d):
            x, i = par("x", d, [5, 4]), par("i", np.int64, [-1])
            g = opset8.gather(x, i, K(0))
            return ov.Model([result(opset1.reduce_sum(g, K([1]), True), "keep"), result(opset1.reduce_sum(g, K([0, 1])), "all")] + ([result(opset1.minimum(g, K(0.5, d)), "min"), result(opset1.maximum(g, K(0.5, d)), "max")] if d == np.float32 else []), [x, i], "g")
        cases[f"ov-further-lossy-{name(d)}"] = Case(ov_model(lossy), lambda rng, bad, d=d: {"x": rng.integers(-1000, 1000, (5, 4)).astype(d), "i": index(rng, (3,), 5, bad)}, flags=["--lossy"])


def odd(rng, shape, d):
    """Floats with NaNs, zeros of both signs, denormals and infinities; integers of the whole range that i32 holds."""
    if d == np.bool_ or not np.issubdtype(d, np.integer):
        x = data(rng, shape, d)
        if d != np.bool_:
            strange = np.array([np.nan, 0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, 1, -1], np.float32).astype(d)
            some = rng.integers(0, 3, shape) == 0
            x[some] = strange[rng.integers(0, len(strange), int(some.sum()))]
        return x
    low, high = max(np.iinfo(d).min, -(2**31)), min(np.iinfo(d).max, 2**31 - 1)
    return np.where(rng.integers(0, 3, shape) == 0, 0, rng.integers(low, high, shape, endpoint=True)).astype(d)


def add_positions_onnx():
    """Operators about positions and signs, around a gather."""
    N = H.make_node

    def feed_of(d, shape):
        def feed(rng, bad):
            s = tuple(int(rng.integers(1, 6)) if n is None else n for n in shape)
            return {"x": odd(rng, s, d), "i": index(rng, (2, 3), s[0], bad)}
        return feed
    for d in (np.float32, np.float16):
        cases[f"onnx-isnan-{name(d)}"] = Case(onnx_model([N("IsNaN", ["x"], ["n"]), N("Gather", ["n", "i"], ["y"])], [("x", d, ["n", 7]), ("i", np.int64, ["a", "b"])], [("n", np.bool_, None), ("y", np.bool_, None)]), feed_of(d, (None, 7)))
    nodes = [N("Gather", ["x", "i"], ["g"])] + [N(op, [v, "w"], [f"{op}-{v}"]) for op in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal") for v in "xg"]
    exact = feed_of(np.float32, (None, 7))
    cases["onnx-comparisons-float32"] = Case(onnx_model(nodes, [("x", np.float32, ["n", 7]), ("w", np.float32, [7]), ("i", np.int64, ["a", "b"])], [(n.output[0], np.bool_, None) for n in nodes[1:]]),
        lambda rng, bad, exact=exact: {**exact(rng, bad), "w": odd(rng, (7,), np.float32)})
    for d in (np.int32, np.int64):
        # Numbers beyond 2^24 that are next to each other, which f32 does not tell apart.
        nodes = [N("Gather", ["x", "i"], ["g"]), N("Sub", ["x", "w"], ["gap"]), N("Less", ["gap", "half"], ["y"]), N("Where", ["y", "x", "w"], ["where"])]
        nodes += [N(op, [v, "w"], [f"{op}-{v}"]) for op in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal") for v in "xg"]
        outs = [("where", d, None)] + [(n.output[0], np.bool_, None) for n in nodes[4:]]

        def feed(rng, bad, d=d):
            x = rng.integers(-(2**30), 2**30, (int(rng.integers(1, 6)), 7)).astype(d)
            x[0, 0] = 2**24 + 1
            return {"x": x, "w": (x[0] + rng.integers(-1, 2, 7)).astype(d), "i": index(rng, (2, 3), x.shape[0], bad)}
        cases[f"onnx-comparisons-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", 7]), ("w", d, [7]), ("i", np.int64, ["a", "b"])], outs, {"half": np.array(2**28, d)}), feed)
    for d in (np.float32, np.int8, np.int16, np.int32, np.int64, np.uint8):
        cases[f"onnx-sign-{name(d)}"] = Case(onnx_model([N("Gather", ["x", "i"], ["g"]), N("Sign", ["g"], ["y"]), N("Sign", ["x"], ["z"])], [("x", d, ["n", 7]), ("i", np.int64, ["a", "b"])], [("y", d, None), ("z", d, None)]), feed_of(d, (None, 7)))
    for d in (np.float32, np.bool_, np.int32, np.int64, np.uint8):
        nodes = [N("NonZero", ["x"], ["z"]), N("Transpose", ["z"], ["t"], perm=[1, 0]), N("GatherND", ["x", "t"], ["found"]), N("Gather", ["x", "i"], ["y"])]
        cases[f"onnx-nonzero-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", 4]), ("i", np.int64, ["a", "b"])], [("z", np.int64, None), ("found", d, None), ("y", d, None)]), feed_of(d, (None, 4)))
    for d in (np.float32, np.int8, np.bool_):
        nodes = [N("Compress", ["x", "c"], ["rows"], axis=0), N("Compress", ["x", "c"], ["columns"], axis=-1), N("Compress", ["x", "c"], ["flat"]), N("Gather", ["x", "i"], ["y"])]

        def feed(rng, bad, d=d):
            x = odd(rng, (int(rng.integers(1, 6)), 4), d)
            return {"x": x, "c": rng.integers(0, 2, int(rng.integers(1, 8))).astype(bool), "i": index(rng, (2, 3), x.shape[0], bad)}
        cases[f"onnx-compress-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", 4]), ("c", np.bool_, ["m"]), ("i", np.int64, ["a", "b"])], [(o, d, None) for o in ("rows", "columns", "flat", "y")]), feed)
    for d in (np.float32, np.int64):
        nodes = [N("EyeLike", ["x"], ["e"], k=1, dtype=KIND[d]), N("EyeLike", ["g2"], ["f"], k=-2, dtype=KIND[d]), N("Gather", ["x", "i"], ["g"]), N("Reshape", ["g", "two"], ["g2"])]
        nodes = [nodes[2], nodes[3], nodes[0], nodes[1]]
        cases[f"onnx-eyelike-{name(d)}"] = Case(onnx_model(nodes, [("x", np.float32, ["n", 4]), ("i", np.int64, ["a", "b"])], [("e", d, None), ("f", d, None), ("g2", np.float32, None)], {"two": np.array([6, 4], np.int64)}), feed_of(np.float32, (None, 4)))
    for d in (np.float32, np.int64, np.bool_, np.float16):
        nodes = [N("Gather", ["x", "i"], ["g"]), N("Trilu", ["x"], ["up"]), N("Trilu", ["x", "k"], ["low"], upper=0), N("Trilu", ["g", "minus"], ["y"])]
        exact = feed_of(d, (None, 4))
        cases[f"onnx-trilu-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", 4]), ("i", np.int64, ["a", "b"]), ("k", np.int64, [])], [(o, d, None) for o in ("up", "low", "y")], {"minus": np.array(-1, np.int64)}),
            lambda rng, bad, exact=exact: {**exact(rng, bad), "k": np.array(rng.integers(-5, 6), np.int64)})
    for d in (np.float32, np.int64):
        for axis in (-1, 0, 1):
            nodes = [N("OneHot", ["i", "depth", "values"], ["hot"], axis=axis), N("Gather", ["x", "i"], ["y"])]
            values = np.array([-0.0, 2.5] if d == np.float32 else [-3, 7], d)
            cases[f"onnx-onehot-{name(d)}-{axis}"] = Case(onnx_model(nodes, [("x", d, [5, 4]), ("i", np.int64, ["a", "b"])], [("hot", d, None), ("y", d, None)], {"depth": np.array(5, np.int64), "values": values}), feed_of(d, (5, 4)))
    cases["onnx-onehot-wide"] = Case(onnx_model([N("OneHot", ["j", "depth", "values"], ["hot"])], [("j", np.int64, ["a", "b"])], [("hot", np.int64, None)], {"depth": np.array([5], np.int64), "values": np.array([0, 1], np.int64)}),
        lambda rng, bad: {"j": rng.integers(-9, 10, (2, 3))})
    for d in (np.float32, np.int8, np.int32):
        nodes = [N("Gather", ["x", "i"], ["g"])] + [N(op, ["x"], [f"{op}{a}{last}"], axis=a, keepdims=last, select_last_index=last) for op in ("ArgMax", "ArgMin") for a in (0, -1) for last in (0, 1)] + [N("ArgMax", ["g"], ["y"], axis=1)]
        nodes += [N("ReduceMax", ["x", "axis"], ["most"], keepdims=0), N("ReduceMin", ["g", "axis"], ["least"]), N("ReduceMax", ["x"], ["all"])]
        outs = [(n.output[0], np.int64, None) for n in nodes[1:10]] + [(n.output[0], d, None) for n in nodes[10:]]
        cases[f"onnx-extreme-{name(d)}"] = Case(onnx_model(nodes, [("x", d, [5, 6]), ("i", np.int64, [2, 3])], outs, {"axis": np.array([1], np.int64)}),
            lambda rng, bad, d=d: {"x": rng.integers(-3, 4, (5, 6)).astype(d) + (d(0.5) if d == np.float32 else 0), "i": index(rng, (2, 3), 5, bad)}, flags=[] if d == np.int8 else ["--lossy"])


def add_pads_onnx():
    """Pad in each mode, of constant and of computed pads, around a gather."""
    N = H.make_node
    for d in (np.float32, np.float16, np.bool_, np.int8, np.int32, np.int64, np.uint8):
        nodes = [N("Gather", ["x", "i"], ["g"], axis=1), N("Pad", ["g", "pads"], ["zero"]), N("Pad", ["g", "pads", "value"], ["constant"], mode="constant"), N("Pad", ["g", "pads"], ["edge"], mode="edge"), N("Pad", ["r", "pads"], ["reflect"], mode="reflect"),
                 N("Pad", ["x", "some", "value", "axes"], ["axes_"]), N("Pad", ["x", "away", "value"], ["less"])]
        outs = [(n.output[-1], d, None) for n in nodes[1:]]
        held = {"pads": np.array([1, 2, 0, 1], np.int64), "value": np.array(1 if d == np.bool_ else 3, d), "some": np.array([2, 1], np.int64), "axes": np.array([-1], np.int64), "away": np.array([-1, 1, 0, -2], np.int64)}
        cases[f"onnx-pad-{name(d)}"] = Case(onnx_model(nodes, [("x", d, ["n", "m"]), ("r", d, [3, 4]), ("i", np.int64, [4])], outs, held),
            lambda rng, bad, d=d: (lambda x: {"x": x, "r": odd(rng, (3, 4), d), "i": index(rng, (4,), x.shape[1], bad)})(odd(rng, (int(rng.integers(1, 5)), int(rng.integers(2, 6))), d)))
    nodes = [N("Gather", ["x", "i"], ["g"], axis=1), N("Pad", ["g", "p"], ["zero"]), N("Pad", ["x", "p"], ["edge"], mode="edge")]
    cases["onnx-pad-computed"] = Case(onnx_model(nodes, [("x", np.float32, ["n", 4]), ("i", np.int64, [3]), ("p", np.int64, [4])], [(o, np.float32, None) for o in ("zero", "edge")]),
        lambda rng, bad: {"x": data(rng, (int(rng.integers(3, 6)), 4), np.float32), "i": index(rng, (3,), 4, bad), "p": rng.integers(-1, 4, 4)})
    cases["onnx-pad-axis"] = Case(onnx_model([N("Gather", ["x", "i"], ["g"]), N("Pad", ["g", "p", "", "axes"], ["y"])], [("x", np.float32, ["n", 4]), ("i", np.int64, [3]), ("p", np.int64, [2])], [("y", np.float32, None)], {"axes": np.array([1], np.int64)}),
        lambda rng, bad: (lambda x: {"x": x, "i": index(rng, (3,), len(x), bad), "p": rng.integers(0, 4, 2)})(data(rng, (int(rng.integers(1, 5)), 4), np.float32)))


def add_positions_ov():
    """What add_positions_onnx and add_pads_onnx have, of OpenVINO."""
    for d in (np.float32, np.int32, np.int8, np.uint8, np.int64, np.bool_):
        def build(d=d):
            x, i = par("x", d, [-1, 4]), par("i", np.int64, [3])
            g = opset8.gather(x, i, K(0))
            r = par("r", d, [3, 4])
            outs = {f"{mode}{k}": opset12.pad(x, K([1, 0]), K(end), mode) for k, end in enumerate(([0, 2], [0, -2])) for mode in ("constant", "edge")}
            outs["reflect"] = opset12.pad(r, K([1, 0]), K([0, 3]), "reflect")
            outs["value"] = opset1.pad(g, K([0, 3]), K([1, 0]), "constant", K(True if d == np.bool_ else 3, d))
            outs["mirror"] = opset1.pad(g, K([3, 0]), K([1, 2]), "symmetric")
            if d != np.bool_:
                outs["sign"] = opset1.sign(g)
            if d == np.float32:
                outs.update({"nan": opset10.is_nan(x), "gt": opset1.greater(r, opset1.transpose(opset1.transpose(r, K([1, 0])), K([1, 0]))), "gt0": opset1.greater(r, K(0, d)), "ge0": opset1.greater_equal(r, K(0, d)), "lt0": opset1.less(r, K(0, d)), "le0": opset1.less_equal(r, K(0, d)), "ne0": opset1.not_equal(r, r)})
            return ov.Model([result(v, k) for k, v in outs.items()], [x, i, r], "g")

        def feed(rng, bad, d=d):
            x = odd(rng, (int(rng.integers(2, 6)), 4), d)
            return {"x": x, "r": odd(rng, (3, 4), d), "i": index(rng, (3,), x.shape[0], bad)}
        cases[f"ov-positions-{name(d)}"] = Case(ov_model(build), feed)
    for d in (np.float32, np.int32, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.int64):
        def extremes(d=d):
            x, i = par("x", d, [5, 4]), par("i", np.int64, [3])
            g = opset8.gather(x, i, K(0))
            return ov.Model([result(opset1.reduce_max(g, K([1]), True), "most"), result(opset1.reduce_min(g, K([0, 1])), "least"), result(opset1.reduce_max(x, K([-2])), "columns")], [x, i], "g")
        high = min(np.iinfo(d).max, 2**24) if np.issubdtype(d, np.integer) else 99
        low = max(np.iinfo(d).min, -(2**24)) if np.issubdtype(d, np.integer) else -99
        cases[f"ov-extreme-{name(d)}"] = Case(ov_model(extremes), lambda rng, bad, d=d, low=low, high=high: {"x": rng.integers(low, high, (5, 4), endpoint=True).astype(d), "i": index(rng, (3,), 5, bad)}, flags=[] if np.dtype(d).itemsize < 4 else ["--lossy"])
def add_chosen():
    """TopK, and ScatterElements without a reduction: their ties, repeated indices, and bad ones."""
    N = H.make_node
    for d in (np.float32, np.float16, np.int8, np.uint8, np.int16, np.int32, np.int64):
        floats = not np.issubdtype(d, np.integer)
        for shape in ((4, 7), (3, 600)):
            nodes = [N("TopK", ["x", "three"], ["v", "p"], axis=0), N("TopK", ["x", "one"], ["lv", "lp"], sorted=0, largest=0), N("TopK", ["x", "five"], ["w", "q"], largest=0), N("Gather", ["t", "q"], ["y"]), N("Gather", ["x", "i"], ["g"]), N("TopK", ["g", "five"], ["gv", "gp"])]
            outs = [(o, d if o in ("v", "lv", "w", "gv") else np.float32 if o == "y" else np.int64, None) for o in ("v", "p", "lv", "lp", "w", "q", "y", "gv", "gp")]
            consts = {"three": np.array([3], np.int64), "one": np.array([1], np.int64), "five": np.array([5], np.int64), "t": np.arange(1200, dtype=np.float32).reshape(600, 2)}
            feed = lambda rng, bad, d=d, shape=shape: {"x": rng.integers(0, 6, shape).astype(d) if rng.random() < 0.5 else data(rng, shape, d), "i": index(rng, (2,), shape[0], bad)}
            cases[f"onnx-topk-{name(d)}-{shape[1]}"] = Case(onnx_model(nodes, [("x", d, ["a", "b"]), ("i", np.int64, ["k"])], outs, consts), feed, flags=["--lossy"] if floats else [])

            def build(d=d):
                x, i = par("x", d, [-1, -1]), par("i", np.int64, [-1])
                made = []
                for node, n in ((opset11.topk(x, K(3), 0, "max", "value", "i32", True), "v"), (opset11.topk(x, K(1), 1, "min", "value", "i64", True), "l"), (opset11.topk(opset8.gather(x, i, K(0)), K(5), 1, "min", "value", "i64", True), "w")):
                    for at in range(2):
                        node.output(at).set_names({f"{n}{at}"})
                        made.append(opset1.result(node.output(at)))
                return ov.Model(made, [x, i], "g")
            cases[f"ov-topk-{name(d)}-{shape[1]}"] = Case(ov_model(build), feed, flags=["--lossy"] if floats else [])
    for d in (np.float32, np.float16, np.bool_, np.int8, np.uint16, np.int32, np.int64, np.uint32, np.uint64):
        for rank in (1, 2, 3):
            for axis in range(rank):
                dims = list("abc")[:rank]

                def feed(rng, bad, d=d, rank=rank, axis=axis):
                    x = data(rng, tuple(int(n) for n in rng.integers(1, 7, rank)), d)
                    s = [int(rng.integers(1, n + 1)) for n in x.shape]
                    s[axis] = int(rng.integers(1, 9))
                    return {"x": x, "i": index(rng, s, x.shape[axis], bad, np.int32 if d == np.int32 else np.int64), "u": data(rng, s, d)}
                it = np.int32 if d == np.int32 else np.int64
                cases[f"onnx-scatter-{name(d)}-{rank}-{axis}"] = Case(onnx_model([N("ScatterElements", ["x", "i", "u"], ["y"], axis=axis - (rank if d == np.int8 else 0))], [("x", d, dims), ("i", it, list("pqr")[:rank]), ("u", d, list("pqr")[:rank])], [("y", d, None)]), feed)
                for version in (3, 12):
                    def build(d=d, rank=rank, axis=axis, version=version, it=it):
                        x, i, u = par("x", d, [-1] * rank), par("i", it, [-1] * rank), par("u", d, [-1] * rank)
                        return ov.Model([result(opset3.scatter_elements_update(x, i, u, K(axis)) if version == 3 else opset12.scatter_elements_update(x, i, u, K(axis), "none", True))], [x, i, u], "g")
                    if d in (np.float32, np.int32) or version == 12 and d == np.bool_:
                        cases[f"ov-scatter{version}-{name(d)}-{rank}-{axis}"] = Case(ov_model(build), feed, undefined=True)
    # f16: one step of arithmetic, around which elements move.
    binary = {"Add": opset1.add, "Sub": opset1.subtract, "Mul": opset1.multiply, "Less": opset1.less, "GreaterOrEqual": opset1.greater_equal, "Equal": opset1.equal}

    def halves(rng, shape):
        a = rng.integers(0, 1 << 16, shape).astype(np.uint16).view(np.float16)
        return np.where(np.isfinite(a), a, np.float16(1)) if rng.random() < 0.5 else data(rng, shape, np.float16)
    feed = lambda rng, bad: {"x": halves(rng, (5, 16)), "w": halves(rng, (16,)), "i": index(rng, (3,), 5, bad)}
    nodes = [N("Gather", ["x", "i"], ["g"])] + [N(o, ["g", "w"], [o]) for o in binary] + [N("Abs", ["g"], ["abs"]), N("Transpose", ["Mul"], ["t"]), N("Add", ["x", "abs1"], ["s"]), N("Abs", ["w"], ["abs1"])]
    nodes[-1], nodes[-2] = nodes[-2], nodes[-1]
    outs = [(o, np.bool_ if o in ("Less", "GreaterOrEqual", "Equal") else np.float16, None) for o in [*binary, "abs", "t", "s"]]
    cases["onnx-halves"] = Case(onnx_model(nodes, [("x", np.float16, ["n", 16]), ("w", np.float16, [16]), ("i", np.int64, ["k"])], outs), feed)

    def build():
        x, w, i = par("x", np.float16, [5, 16]), par("w", np.float16, [16]), par("i", np.int64, [-1])
        g = opset1.transpose(x, K([1, 0]))
        return ov.Model([result(f(opset1.transpose(g, K([1, 0])), w), o) for o, f in binary.items()] + [result(opset1.absolute(x), "abs"), result(opset8.gather(x, i, K(0)), "g")], [x, w, i], "g")
    cases["ov-halves"] = Case(ov_model(build), feed)
    nodes = [N("Gather", ["t", "i"], ["g"]), N("ScatterElements", ["g", "j", "u"], ["y"], axis=1)]
    cases["onnx-scatter-static"] = Case(onnx_model(nodes, [("i", np.int64, [3]), ("j", np.int64, [2, 2]), ("u", np.float32, [2, 2])], [("y", np.float32, None)], {"t": np.arange(20, dtype=np.float32).reshape(5, 4)}),
        lambda rng, bad: {"i": index(rng, (3,), 5, bad and rng.random() < 0.5), "j": index(rng, (2, 2), 4, bad), "u": data(rng, (2, 2), np.float32)})


def add_branches():
    """If whose condition is a constant: either branch, one in another, and values from outside."""
    N = H.make_node

    def onnx_branch(n, add, inside=None):
        t = lambda v, k: onnx.numpy_helper.from_array(np.array(v), k)
        nodes = inside or [N("Gather", ["x", "i"], [n + "_g"]), N("Add", [n + "_g", n + "_a"], [n])]
        return H.make_graph(nodes, n, [], [H.make_tensor_value_info(n, T.FLOAT, None)], [t(np.float32(add), n + "_a")])
    for chosen in (True, False):
        for shape in ((), (1,)):
            inner = onnx_branch("o", 0, [N("Squeeze", ["no"], ["s"]), N("If", ["s"], ["o"], then_branch=onnx_branch("a", 1), else_branch=onnx_branch("b", 2))])
            nodes = [N("Identity", ["c"], ["d"]), N("If", ["d"], ["z"], then_branch=inner, else_branch=onnx_branch("e", 3)), N("Gather", ["z", "zero"], ["y"])]
            cases[f"onnx-if-{chosen}-{len(shape)}"] = Case(onnx_model(nodes, [("x", np.float32, ["n", 3]), ("i", np.int64, ["k"])], [("z", np.float32, None), ("y", np.float32, None)], {"c": np.full(shape, chosen), "no": np.array([False]), "zero": np.array(0)}),
                lambda rng, bad: (lambda x: {"x": x, "i": index(rng, (2,), len(x), bad)})(data(rng, (int(rng.integers(1, 5)), 3), np.float32)))

        def build(chosen=chosen):
            x, i = par("x", np.float32, [-1, 3]), par("i", np.int64, [-1])

            def body(axis):
                a, b = opset1.parameter([-1, 3], np.float32), opset1.parameter([-1], np.int64)
                return ov.Model([opset1.result(opset1.unsqueeze(opset8.gather(a, b, K(0)), K(axis)))], [a, b], "body"), a, b
            (then, ta, tb), (other, oa, ob) = body(0), body(1)
            node = opset8.if_op(opset1.constant(np.array(chosen)))
            node.set_then_body(then)
            node.set_else_body(other)
            node.set_input(x.output(0), ta, oa)
            node.set_input(i.output(0), tb, ob)
            node.set_output(then.results[0], other.results[0])
            node.output(0).set_names({"y"})
            return ov.Model([opset1.result(node.output(0))], [x, i], "g")
        cases[f"ov-if-{chosen}"] = Case(ov_model(build), lambda rng, bad: (lambda x: {"x": x, "i": index(rng, (2,), len(x), bad)})(data(rng, (int(rng.integers(1, 5)), 3), np.float32)))


# OpenVINO.

P = {"f4": np.float32}


def ov_model(build):
    def write(folder):
        path = os.path.join(folder, "source.xml")
        ov.save_model(build(), path, compress_to_fp16=False)
        return path
    return write


def par(name, dtype, shape):
    p = opset1.parameter(shape, ov.Type.bf16 if dtype == ml_dtypes.bfloat16 else dtype, name=name)
    p.output(0).set_names({name})
    return p


def result(node, name="y"):
    node.output(0).set_names({name})
    return opset1.result(node)


def K(v, dtype=np.int64):
    return opset1.constant(np.array(v, dtype))


def add_ov():
    gathers = {"1": lambda x, i, a, b: opset1.gather(x, i, K(a)), "7": lambda x, i, a, b: opset7.gather(x, i, K(a), b), "8": lambda x, i, a, b: opset8.gather(x, i, K(a), b)}
    for v, gather in gathers.items():
        for d in (np.float32, np.int8, np.bool_, np.uint16, np.float16, ml_dtypes.bfloat16, np.int64, np.uint64, np.uint32, np.int16) if v == "8" else (np.float32,):
            for n in (-1, 6):
                def build(gather=gather, d=d, n=n):
                    x, i = par("x", d, [n, 4]), par("i", np.int64, [2, -1])
                    return ov.Model([result(gather(x, i, 0, 0))], [x, i], "g")

                def feed(rng, bad, d=d, n=n, v=v):
                    # On an empty axis OpenVINO does not run, and its result is the one before.
                    rows = n if n > 0 else int(rng.integers(1, 6))
                    return {"x": data(rng, (rows, 4), d), "i": index(rng, (2, 3), rows, bad, negative=v == "8")}
                cases[f"ov-gather{v}-{name(d)}-{'static' if n > 0 else 'dynamic'}"] = Case(ov_model(build), feed)
        for axis, b in ((1, 0), (2, 0), (-1, 0)) + (((1, 1), (2, 1), (2, 2)) if v != "1" else ()):
            def build(gather=gather, axis=axis, b=b):
                x, i = par("x", np.float32, [2, 3, 4]), par("i", np.int32, [2, 3, -1][:b] + [-1] * max(0, 2 - b) if b < 2 else [2, 3, -1])
                return ov.Model([result(gather(x, i, axis, b))], [x, i], "g")

            def feed(rng, bad, axis=axis, b=b, v=v):
                x = data(rng, (2, 3, 4), np.float32)
                s = [2, 3][:b] + list(rng.integers(1, 4, max(1, 2 - b)))
                return {"x": x, "i": index(rng, s, x.shape[axis], bad, np.int32, negative=v == "8")}
            cases[f"ov-gather{v}-axis{axis}-b{b}"] = Case(ov_model(build), feed)
    for dt in (np.int8, np.uint8, np.int16, np.uint16, np.uint32):
        def build(dt=dt):
            x, i = par("x", np.float32, [6, 4]), par("i", dt, [-1])
            return ov.Model([result(opset8.gather(x, i, K(0)))], [x, i], "g")
        cases[f"ov-gather8-index-{name(dt)}"] = Case(ov_model(build), lambda rng, bad, dt=dt: {"x": data(rng, (6, 4), np.float32), "i": index(rng, (3,), 6, bad, dt)})
    for v in ("5", "8"):
        for b, k in ((0, 1), (0, 2), (1, 1), (1, 2), (2, 1)):
            def build(v=v, b=b, k=k):
                x, i = par("x", np.float32, [-1] * 4), par("i", np.int64, [-1] * (b + 1) + [k])
                node = opset5.gather_nd(x, i, b) if v == "5" else opset8.gather_nd(x, i, b)
                return ov.Model([result(node)], [x, i], "g")

            def feed(rng, bad, b=b, k=k):
                s = tuple(int(n) for n in rng.integers(1, 5, 4))
                i = np.stack([index(rng, s[:b] + (3,), s[b + j], bad and j == 0) for j in range(k)], -1)
                return {"x": data(rng, s, np.float32), "i": i}
            cases[f"ov-gathernd{v}-b{b}-k{k}"] = Case(ov_model(build), feed, undefined=True)
    for axis in (0, 1):
        for d in (np.float32, np.int8, np.bool_):
            def build(axis=axis, d=d):
                x, i = par("x", d, [-1, -1]), par("i", np.int32, [-1, -1])
                return ov.Model([result(opset6.gather_elements(x, i, axis))], [x, i], "g")

            def feed(rng, bad, axis=axis, d=d):
                x = data(rng, (3, 4), d)
                s = [3, 4]
                s[axis] = int(rng.integers(1, 6))
                return {"x": x, "i": index(rng, s, x.shape[axis], bad, np.int32)}
            cases[f"ov-gatherelements6-{name(d)}-{axis}"] = Case(ov_model(build), feed)

    def around():
        x, i, b = par("x", np.float32, [-1, 2, 3]), par("i", np.int32, [-1]), par("b", np.bool_, [-1])
        s = opset3.shape_of(x, "i32")
        n = opset8.gather(s, K(0), K(0))
        r = opset1.reshape(x, K([0, -1]), True)
        outs = {
            "shape": s, "rows": opset8.gather(opset1.transpose(r, K([1, 0])), i, K(1)), "range": opset4.range(K(0, np.int32), n, K(2, np.int32), "i64"),
            "cut": opset8.slice(x, K([0]), K([2**31 - 1]), K([2]), K([2])), "last": opset1.strided_slice(x, K([0, 0, -1]), K([0, 0, 0]), K([1, 1, 1]), [1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]),
            "new": opset1.strided_slice(x, K([0, 0]), K([0, 1]), K([1, 1]), [0, 0], [0, 0], [1, 0], [0, 0], [0, 0]), "dots": opset1.strided_slice(x, K([0, 1]), K([0, 3]), K([1, 1]), [0, 0], [0, 0], [0, 0], [0, 0], [1, 0]),
            "back": opset1.strided_slice(x, K([0]), K([0]), K([-1]), [1], [1], [0], [0], [0]),
            "wide": opset3.broadcast(opset1.unsqueeze(i, K([1])), K([1, 3]), broadcast_spec="BIDIRECTIONAL"), "tile": opset1.tile(i, K([2, 1])), "explicit": opset3.broadcast(K([1, 2]), K([2, 3]), K([0]), "EXPLICIT"),
            "prod": opset1.reduce_prod(s, K([0]), True), "sel": opset1.select(b, opset1.convert(b, "i32"), K(5, np.int32)), "clamp": opset1.clamp(i, -2.5, 3.5), "neg": opset1.negative(i),
            "ne": opset1.not_equal(i, K(1, np.int32)), "floor": opset1.floor_mod(i, K(3, np.int32)), "mod": opset1.mod(i, K(3, np.int32)), "div": opset1.divide(i, K(2, np.int32)),
            "lnot": opset1.logical_not(b), "bits": opset13.bitwise_and(i, K(6, np.int32)), "squeeze": opset1.squeeze(opset1.unsqueeze(i, K([0])), K([0])), "float": opset1.convert(i, "f32"), "small": opset1.convert(i, "u8"),
        }
        return ov.Model([result(v, k) for k, v in outs.items()], [x, i, b], "g")

    def feed(rng, bad):
        n = int(rng.integers(1, 6))
        # OpenVINO divides integers beyond 2^24 inexactly.
        return {"x": data(rng, (n, 2, 3), np.float32), "i": np.clip(index(rng, (4,), n, bad, np.int32), -1000, 1000), "b": data(rng, (3,), np.bool_)}
    cases["ov-around"] = Case(ov_model(around), feed)


def add_stays():
    """OpenVINO IR to OpenVINO IR: arithmetic, comparisons and reductions behind a gather, whose answers are OpenVINO's own."""
    def gather(kind, x, i):
        if kind == "nd":  # whose target has a guard
            return opset8.gather_nd(x, opset1.unsqueeze(i, K([1])))
        return {"7": opset7, "8": opset8}[kind].gather(x, i, K(0))

    def around(d, g, guarded):
        """Results of rows of 4, by name. g makes new ones for each, because OpenVINO joins a node that alone reads another."""
        c = lambda v: K(np.array(v).astype(d), d)
        floats = not np.issubdtype(d, np.integer)
        row = [0.1, -0.3, 3, -7.5] if floats else [1, 2, 3, 250 if np.iinfo(d).min == 0 else -7]
        some = 0.3 if floats else 3
        t = lambda: opset1.transpose(g(), K([1, 0]))
        made = {
            "add": opset1.add(g(), c(some)), "addrow": opset1.add(g(), c(row)), "moved": opset1.add(t(), c(some)), "sub": opset1.subtract(g(), c(some)), "mulrow": opset1.multiply(g(), c(row)),
            "min": opset1.minimum(g(), c(some)), "max": opset1.maximum(g(), c(row)), "less": opset1.less(g(), c(some)), "greater": opset1.greater(g(), c(some)), "atleast": opset1.greater_equal(g(), c(row)), "equal": opset1.equal(g(), c(row)),
            "differs": opset1.not_equal(g(), c(some)), "select": (lambda v: opset1.select(opset1.greater(v, c(some)), v, c(row)))(g()), "sign": opset1.sign(g()),
        }
        if not guarded or not floats:
            made.update({"minus": opset1.subtract(c(0), g()), "mul": opset1.multiply(g(), c(some)), "muladd": opset1.add(opset1.multiply(g(), c(row)), c(row[::-1])), "onemuladd": opset1.add(opset1.multiply(g(), c(some)), c(7)), "mulself": (lambda v: opset1.add(opset1.multiply(v, v), v))(g()), "mulsub": opset1.subtract(opset1.multiply(t(), c(some)), c(7))})
        if not guarded or d not in (np.float32, np.float16, np.float64, np.int8, np.uint8):
            made.update({"div": opset1.divide(g(), c(some)), "divadd": opset1.add(opset1.divide(g(), c(some)), c(1))})
        if floats or np.iinfo(d).min < 0:
            made.update({**({} if guarded and floats else {"negative": opset1.negative(g())}), "abs": opset1.absolute(g()), **({} if guarded and floats else {"negadd": opset1.add(opset1.negative(g()), c(some))})})
        if floats:
            made.update({"nan": opset10.is_nan(g()), "quotient": opset1.divide(g(), g())})
        else:
            made.update({"clamp": opset1.clamp(g(), -2.5, 30.5), "mod": opset1.mod(g(), c(some)), "floormod": opset1.floor_mod(g(), c(some)), "floor": opset1.floor(g()), "ceiling": opset1.ceiling(g()), "and": opset13.bitwise_and(g(), c(6)), "not": opset13.bitwise_not(g()), "wide": opset1.convert(opset1.add(g(), c(some)), "f32")})
        if d not in (np.float16, np.uint64):
            made.update({"most": opset1.reduce_max(g(), K([1]), True), "least": opset1.reduce_min(g(), K([0, 1])), "columns": opset1.reduce_max(g(), K([-2]))})
        if d in (np.float32, np.float64, np.int32, np.int64):
            made.update({"sum": opset1.reduce_sum(g(), K([1]), True), "all": opset1.reduce_sum(g(), K([0, 1])), "below": opset1.reduce_sum(g(), K([0])), "sumrow": opset1.reduce_sum(opset1.add(g(), c(row)), K([1])), "cumsum": opset3.cum_sum(g(), K(1))})
        if d == np.int64:
            made.update({"far": opset1.add(g(), c(2**40 + 3)), "farmin": opset1.minimum(g(), c(2**33))})
        if guarded and d in (np.int8, np.uint8):  # which garner refuses without --lossy where dims are known
            for k in ("add", "addrow", "moved", "sub", "mulrow", "minus", "mul", "muladd", "onemuladd", "mulself", "mulsub", "negadd", "wide"):
                made.pop(k, None)
        return made

    for d in (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        for rows in (-1, 5):
            for kind in ("8", "7", "nd"):
                def build(d=d, rows=rows, kind=kind):
                    x, inputs = par("x", d, [rows, 4]), []

                    def g():
                        inputs.append(par(f"i{len(inputs)}", np.int64, [3 if rows > 0 else -1]))
                        return gather(kind, x, inputs[-1])
                    made = around(d, g, kind == "nd")
                    return ov.Model([result(v, k) for k, v in made.items()], [x, *inputs], "g")

                def feed(rng, bad, d=d, kind=kind, n=len(build().get_parameters()) - 1):
                    return {"x": odd(rng, (5, 4), d), **{f"i{k}": index(rng, (3,), 5, bad, negative=kind != "7") for k in range(n)}}
                cases[f"stays-{name(d)}-{'dynamic' if rows < 0 else 'static'}-{kind}"] = Case(ov_model(build), feed, undefined=kind == "nd", to="xml")


def add_files():
    def there(path):
        return lambda folder: os.path.join(MODELS, path)

    def ids(high, *shape):
        return lambda rng, bad: index(rng, shape, high, bad, negative=False)

    for ext in ("onnx", "xml"):
        neg = ext == "xml"
        cases[f"file-bert.{ext}"] = Case(there(f"bert.{ext}"), lambda rng, bad: {0: index(rng, (2, 5), 50, bad, negative=True), 1: index(rng, (2, 5), 2, False)})
        cases[f"file-hash.{ext}"] = Case(there(f"hash.{ext}"), lambda rng, bad, high=2**18 if neg else 2**24: {0: rng.integers(-(2**18) if bad else 0, high, (2, 3))})  # OpenVINO divides inexactly beyond
        cases[f"file-bias.{ext}"] = Case(there(f"bias.{ext}"), lambda rng, bad: {0: rng.integers(-100, 100, 4), 1: rng.integers(-100, 100, 5)})
        cases[f"file-beam.{ext}"] = Case(there(f"beam.{ext}"), None)
        cases[f"file-half.{ext}"] = Case(there(f"half.{ext}"), None)
        cases[f"file-last.{ext}"] = Case(there(f"last.{ext}"), None)
    cases["file-mix.onnx"] = Case(there("mix.onnx"), None)
    high = {"beam": 2, "half": 40, "last": 3, "mix": 4}
    for n, c in cases.items():
        if n.startswith("file-") and c.feed is None:
            c.feed = recorded(n[5:].split(".")[0], high[n[5:].split(".")[0]])


def recorded(model, high):
    """Feeds of the shapes that are recorded; indices are small."""
    inputs = np.load(os.path.join(MODELS, model + ".inputs.npz"))

    def feed(rng, bad):
        made = {}
        for k in inputs.files:
            v = inputs[k]
            if v.dtype.kind in "iu":
                made[k] = index(rng, v.shape, high, bad, v.dtype.type)
                if model == "last":
                    made[k] = np.abs(made[k]) % 3 + 1 if not bad else made[k]
            else:
                made[k] = data(rng, v.shape, v.dtype.type)
        return made
    return feed


class Onnx:
    def __init__(self, path):
        self.session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.inputs = [i.name for i in self.session.get_inputs()]
        self.names = [o.name for o in self.session.get_outputs()]

    def __call__(self, feed):
        try:
            if any(v.dtype == ml_dtypes.bfloat16 for v in feed.values()) or any(o.type == "tensor(bfloat16)" for o in self.session.get_outputs()):
                b = self.session.io_binding()
                for k, v in feed.items():
                    value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(v.view(np.uint16).copy(), T.BFLOAT16) if v.dtype == ml_dtypes.bfloat16 else ort.OrtValue.ortvalue_from_numpy(v)
                    b.bind_ortvalue_input(k, value)
                for n in self.names:
                    b.bind_output(n)
                self.session.run_with_iobinding(b)
                return [bits_of_ort(o) for o in b.get_outputs()]
            return self.session.run(None, feed)
        except Exception as e:
            return str(e)


def bits_of_ort(o):
    import ctypes
    shape = o.shape()
    n = int(np.prod(shape))
    raw = (ctypes.c_char * (2 * n)).from_address(o.data_ptr()) if n else b""
    return np.frombuffer(bytes(raw), ml_dtypes.bfloat16).reshape(shape)


class OpenVINO:
    def __init__(self, path):
        read = core.read_model(path)
        declared = [o.names for o in read.outputs]  # compiling makes names for those without
        self.model = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": THREADS})
        self.request = self.model.create_infer_request()
        self.all = [i.names for i in self.model.inputs]
        self.inputs = [min(n) for n in self.all]
        self.outs = declared
        self.names = [min(n) if n else f"output {i}" for i, n in enumerate(self.outs)]

    def __call__(self, feed):
        try:
            tensors = {}
            for k, v in feed.items():
                at = next(i for i, names in enumerate(self.all) if k in names)
                t = ov.Tensor(v.view(np.uint16).copy(), list(v.shape), ov.Type.bf16) if v.dtype == ml_dtypes.bfloat16 else ov.Tensor(np.ascontiguousarray(v).reshape(v.shape))
                tensors[at] = t
            self.request.start_async(tensors)
            self.request.wait()
            made = []
            for i in range(len(self.names)):
                t = self.request.get_output_tensor(i)
                a = np.array(t.data)
                made.append(a.view(np.uint16).view(ml_dtypes.bfloat16) if t.element_type == ov.Type.bf16 else a)
            return made
        except Exception as e:
            return str(e)


def opened(path):
    return Onnx(path) if path.endswith(".onnx") else OpenVINO(path)


def same(a, b):
    return len(a) == len(b) and all(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in zip(a, b))


def with_zeros(run, feed, axis, length):
    """What a gather answers, with zeros for the indices i outside."""
    bad = (feed["i"] < -length) | (feed["i"] >= length)
    want = run({**feed, "i": np.where(bad, 0, feed["i"]).astype(feed["i"].dtype)})
    want[0][(slice(None),) * axis + (bad,)] = 0
    return want


def hold(garner, case_name, case, outside):
    with tempfile.TemporaryDirectory() as folder:
        path = case.write(folder)
        target = os.path.join(folder, "target." + (case.to or ("xml" if path.endswith(".onnx") else "onnx")))
        done = subprocess.run([garner, "convert", path, "-o", target, "--outside", outside, "--quiet"] + case.flags, capture_output=True, text=True)
        if done.returncode:
            return f"not converted: {done.stderr.strip()}", False
        if FIX and outside != "as-is":
            mended = os.path.join(folder, "mended." + target.rsplit(".", 1)[1])
            done = subprocess.run([garner, "lint", target, "--fix", "-o", mended, "--fail-on", "never"], capture_output=True, text=True)
            if not os.path.exists(mended):
                return f"not mended: {done.stderr.strip()}", False
            target = mended
            if "mended L.3" in done.stdout:
                outside = "clamp"  # of an operator that refuses a bad index by itself, which convert does not guard
        try:
            a, b = opened(path), opened(target)
        except Exception as e:
            return f"does not load: {str(e).strip().splitlines()[-1][:300]}", False
        if len(a.names) != len(b.names) or (isinstance(a, Onnx) and any(n not in m for n, m in zip(a.names, b.outs))) or (isinstance(b, Onnx) and any(m and n not in m for n, m in zip(b.names, a.outs))):
            return f"names of outputs: {a.names} {b.names}", False
        rng = np.random.default_rng(sum(map(ord, case_name)))
        answered = refused = 0
        for n in range(FEEDS):
            bad = n % 5 == 4
            if bad and outside == "as-is":
                continue  # it may read other memory, and crash
            feed = case.feed(rng, bad)
            if 0 in feed:
                feed = {a.inputs[k]: v for k, v in feed.items()}
            if bad and case.zeros:
                want = with_zeros(a, feed, *case.zeros)
            else:
                want = a(feed) if not (bad and case.undefined) else "reads other memory"
            if isinstance(want, str) and isinstance(a, OpenVINO):
                a = opened(path)  # a run that it refuses spoils the next, where dims are dynamic
            if isinstance(a, OpenVINO):  # a tensor has several names, of which ONNX keeps one
                feed = {b.inputs[next(i for i, names in enumerate(a.all) if k in names)]: v for k, v in feed.items()}
            got = b(feed)
            if isinstance(got, str) and case.to:
                b = opened(target)  # as above: it is the source's own node
            if isinstance(want, str) and isinstance(got, str) and outside != "clamp":
                refused += 1
                continue
            if bad and outside == "clamp" and not isinstance(got, str):
                answered += 1
                continue
            if isinstance(want, str) and outside == "clamp":
                refused += 1  # of an empty axis, or other than an index
                continue
            if isinstance(want, str) != isinstance(got, str) or not same(want, got):
                at = [k for k in range(len(want)) if isinstance(want, str) or isinstance(got, str) or not same([want[k]], [got[k]])]
                show = lambda v: v[-300:] if isinstance(v, str) else [(a.names[k], v[k]) for k in at[:1]]
                return f"feed {n} ({'bad' if bad else 'valid'}): {feed}\n  source: {show(want)}\n  target: {show(got)}", False
            answered += 1
        return f"{answered} answered alike, {refused} refused alike", True


def hold_recorded(garner, path, outside, to):
    """Compares with the answers of hold_tensorflow.py."""
    with open(path + ".feeds", "rb") as f:
        feeds = pickle.load(f)
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "target." + to)
        done = subprocess.run([garner, "convert", path, "-o", target, "--outside", outside, "--quiet"], capture_output=True, text=True)
        if done.returncode:
            return f"not converted: {done.stderr.strip()}", False
        try:
            b = opened(target)
        except Exception as e:
            return f"does not load: {str(e).strip().splitlines()[-1][:300]}", False
        outs = b.names if isinstance(b, Onnx) else [next(iter(n)) for n in b.outs]
        answered = refused = 0
        for n, (bad, feed, want) in enumerate(feeds):
            if bad and outside == "as-is":
                continue
            got = b(feed)
            if want is None and isinstance(got, str) and outside == "keep":
                refused += 1
                continue
            if bad and outside == "clamp" and not isinstance(got, str):
                answered += 1
                continue
            if bad and outside == "clamp" and want is None:
                refused += 1  # of other than an index
                continue
            if want is None or isinstance(got, str) or sorted(want) != sorted(outs) or not same([want[k] for k in outs], got):
                at = [(k, want and want.get(k), not isinstance(got, str) and got[i]) for i, k in enumerate(outs) if want is None or isinstance(got, str) or not same([want.get(k)], [got[i]])]
                return f"feed {n} ({'bad' if bad else 'valid'}): {feed}\n  name, source, target: {at[:1]} {got[-300:] if isinstance(got, str) else ''} {outs}", False
            answered += 1
        return f"{answered} answered alike, {refused} refused alike", True


def main():
    garner = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["--recorded"]:
        total = failed = 0
        for path in sorted(glob.glob(os.path.join(sys.argv[3], "*.feeds"))):
            path = path[: -len(".feeds")]
            if (".tflite" in path) != (sys.argv[4:5] != ["tensorflow"]):
                continue
            for to in ("onnx",) if os.path.basename(path).startswith("onnx-") else ("onnx", "xml"):
                for outside in ("keep", "clamp", "as-is"):
                    text, ok = hold_recorded(garner, path, outside, to)
                    total += 1
                    failed += not ok
                    print(f"{'ok  ' if ok else 'FAIL'} {os.path.basename(path)} to {to} --outside {outside}: {text}", flush=True)
        print(f"{total} conversions, {failed} failed; onnxruntime {ort.__version__}, openvino {ov.__version__.split('-')[0]}")
        sys.exit(failed > 0)
    add_onnx()
    add_constant_indices()
    add_edges_onnx()
    add_further_onnx()
    add_unread()
    add_joins()
    add_positions_onnx()
    add_pads_onnx()
    add_blocks_onnx()
    add_blocks_ov()
    add_bags_ov()
    add_one_row()
    add_tiles()
    add_ov()
    add_further_ov()
    add_positions_ov()
    add_chosen()
    add_branches()
    add_stays()
    add_files()
    wanted = [n for n in cases if not sys.argv[2:] or any(n.startswith(w) for w in sys.argv[2:])]
    failed = total = 0
    for n in wanted:
        for outside in ("keep", "clamp", "as-is"):
            text, ok = hold(garner, n, cases[n], outside)
            total += 1
            failed += not ok
            print(f"{'ok  ' if ok else 'FAIL'} {n} --outside {outside}: {text}", flush=True)
    print(f"{total} conversions of {len(wanted)} models, {FEEDS} feeds each: {failed} failed; onnxruntime {ort.__version__}, openvino {ov.__version__.split('-')[0]}")
    sys.exit(failed > 0)


main()
