"""Holds garner convert against ONNX Runtime and OpenVINO: source and target answer
random feeds alike, a fifth of which have bad indices.

    pip install numpy onnx onnxruntime openvino ml_dtypes
    go build -o garner ./cmd/garner
    python hold.py ./garner            every model, 1,000 feeds each, all ways of --outside
    python hold.py ./garner NAME...    these models alone
    python hold.py ./garner --recorded FOLDER litert|tensorflow    those of hold_tensorflow.py

Each model comes with a function that makes a feed, valid or bad. For a source in which a
bad index reads other memory (OpenVINO's GatherND), the target must refuse it. With
--outside clamp and as-is only valid feeds are compared, and under clamp bad ones must be
answered. It prints one line for each model and way, with the counts of feeds that were
answered alike, and refused alike. OpenVINO runs with THREADS threads, 2 without that variable,
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
from openvino import opset1, opset3, opset4, opset5, opset6, opset7, opset8, opset13

THREADS = int(os.environ.get("THREADS", 2))
FEEDS = int(os.environ.get("FEEDS", 1000))
HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "testdata", "models")
ort.set_default_logger_severity(4)
core = ov.Core()
cases = {}


class Case:
    """A model: path writes it, feed(rng, bad) makes its inputs by name."""

    def __init__(self, write, feed, undefined=False, flags=()):
        self.write, self.feed, self.undefined, self.flags = write, feed, undefined, list(flags)


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


def hold(garner, case_name, case, outside):
    with tempfile.TemporaryDirectory() as folder:
        path = case.write(folder)
        target = os.path.join(folder, "target." + ("xml" if path.endswith(".onnx") else "onnx"))
        done = subprocess.run([garner, "convert", path, "-o", target, "--outside", outside, "--quiet"] + case.flags, capture_output=True, text=True)
        if done.returncode:
            return f"not converted: {done.stderr.strip()}", False
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
            want = a(feed) if not (bad and case.undefined) else "reads other memory"
            if isinstance(want, str) and isinstance(a, OpenVINO):
                a = opened(path)  # a run that it refuses spoils the next, where dims are dynamic
            if isinstance(a, OpenVINO):  # a tensor has several names, of which ONNX keeps one
                feed = {b.inputs[next(i for i, names in enumerate(a.all) if k in names)]: v for k, v in feed.items()}
            got = b(feed)
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
            for to in ("onnx", "xml"):
                for outside in ("keep", "clamp", "as-is"):
                    text, ok = hold_recorded(garner, path, outside, to)
                    total += 1
                    failed += not ok
                    print(f"{'ok  ' if ok else 'FAIL'} {os.path.basename(path)} to {to} --outside {outside}: {text}", flush=True)
        print(f"{total} conversions, {failed} failed; onnxruntime {ort.__version__}, openvino {ov.__version__.split('-')[0]}")
        sys.exit(failed > 0)
    add_onnx()
    add_further_onnx()
    add_one_row()
    add_tiles()
    add_ov()
    add_further_ov()
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
