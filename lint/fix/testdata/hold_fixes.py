"""Makes small models with findings of lint, mends each with "garner lint --fix", and runs
the mended ones in ONNX Runtime and OpenVINO.

    pip install numpy==2.4.6 onnx onnxruntime==1.31.1 openvino==2026.4.1
    go build -o /tmp/garner ../../../cmd/garner
    python hold_fixes.py /tmp/garner             writes held.jsonl, a line for each model
    python hold_fixes.py /tmp/garner NAME...     runs these alone, and writes nothing
    python hold_fixes.py                         makes the models alone

Each model has random feeds. With those that its operator takes, the mended model must
give in both runtimes what NumPy gives, bit for bit, and so must the model itself wherever a
runtime is not what the finding is about. With bad indices, both runtimes must give what
NumPy gives for clamped ones. Every run is in a process of its own: some models end it.
"""

import glob
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import openvino as ov
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from openvino import opset1, opset3, opset5, opset6, opset7, opset8, opset15

os.chdir(os.path.dirname(os.path.abspath(__file__)))
FEEDS = 40
N = h.make_node


def i64(*values):
    return np.array(values, np.int64)


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


class Data:
    """An input of random numbers."""

    def __init__(self, shape, dtype=np.float32, declared=None, quiet=False):
        """quiet leaves out signalling NaN, which OpenVINO's Broadcast of dynamic dims makes quiet."""
        self.shape, self.dtype, self.declared, self.quiet = shape, np.dtype(dtype), declared, quiet

    def feed(self, rng, bad):
        if self.dtype == object:
            return np.array([f"s{n}" for n in rng.integers(0, 1000, int(np.prod(self.shape)))], object).reshape(self.shape)
        if self.dtype == bool:
            return rng.integers(0, 2, self.shape) > 0
        if self.dtype.kind in "iu":
            return rng.integers(0, 100, self.shape).astype(self.dtype)
        if self.quiet:
            return rng.standard_normal(self.shape).astype(self.dtype)
        return rng.integers(0, 2**32, self.shape, np.uint32).view(np.float32) if self.dtype == np.float32 else rng.standard_normal(self.shape).astype(self.dtype)


class Index(Data):
    """An input of indices: for each component the least valid one and the length."""

    def __init__(self, shape, low, length, dtype=np.int64, declared=None, far=2**30):
        super().__init__(shape, dtype, declared)
        self.low, self.length, self.far = np.array(low), np.array(length), far

    def feed(self, rng, bad):
        good = rng.integers(self.low, self.length, self.shape)
        if bad:
            reach = min(self.far, np.iinfo(self.dtype).max - int(np.max(self.length)))
            near = self.length + rng.integers(0, 6, self.shape)
            if np.iinfo(self.dtype).min < 0:
                near = np.where(rng.integers(0, 2, self.shape) > 0, near, -self.length - 1 - rng.integers(0, 6, self.shape))
                wild = rng.integers(-reach, reach, self.shape)
            else:
                wild = rng.integers(0, reach, self.shape)
            pick = rng.integers(0, 4, self.shape)
            good = np.where(pick == 0, near, np.where(pick == 1, wild, good))
        return good.astype(self.dtype)


class Case:
    """A model with inputs; want gives its result by NumPy. breaks names the runtimes that the finding is about."""

    def __init__(self, name, rules, inputs, want, breaks="", bad=False, openvino=True):
        self.name, self.rules, self.inputs, self.want, self.breaks, self.bad, self.openvino = name, rules, inputs, want, breaks.split(), bad, openvino


class Onnx(Case):
    suffix = ".onnx"

    def __init__(self, name, rules, nodes, inputs, want, constants=None, opset=18, **more):
        super().__init__(name, rules, inputs, want, **more)
        self.nodes, self.constants, self.opset = nodes, constants or {}, opset

    def write(self, path):
        inputs = []
        for name, d in self.inputs.items():
            t = T.STRING if d.dtype == object else h.np_dtype_to_tensor_dtype(d.dtype)
            inputs.append(h.make_tensor_value_info(name, t, list(d.shape) if d.declared is None else d.declared))
        held = [numpy_helper.from_array(v, n) for n, v in self.constants.items()]
        g = h.make_graph(self.nodes, "g", inputs, [h.make_empty_tensor_value_info("y")], held)
        onnx.save(h.make_model(g, opset_imports=[h.make_opsetid("", self.opset), h.make_opsetid("com.microsoft", 1)], ir_version=8), path)


class Ir(Case):
    suffix = ".xml"

    def __init__(self, name, rules, make, inputs, want, patch=None, **more):
        """patch is what of the text is replaced by what: OpenVINO's API refuses to make such a model."""
        super().__init__(name, rules, inputs, want, **more)
        self.make, self.patch = make, patch

    def write(self, path):
        p = []
        for name, d in self.inputs.items():
            shape = list(d.shape) if d.declared is None else d.declared
            one = opset8.parameter(ov.PartialShape(shape), np.int32 if self.patch and d.dtype.itemsize < 4 else d.dtype, name=name)
            one.output(0).set_names({name})
            p.append(one)
        y = self.make(*p)
        y.output(0).set_names({"y"})
        ov.save_model(ov.Model([y], p, "m"), path, compress_to_fp16=False)
        if self.patch:
            with open(path) as f:
                text = f.read()
            with open(path, "w") as f:
                for old, new in self.patch:
                    text = text.replace(old, new)
                f.write(text)


class Exact(Data):
    """Data whose sums are exact."""

    def feed(self, rng, bad):
        return rng.integers(-9, 9, self.shape).astype(self.dtype)


def bag(kind, d, i, mean):
    """Three bags of two indices each; those of a mean are of opset15."""
    ends, ids, count = (opset8.constant(np.array(v, np.int32)) for v in ((0, 2, 4), (0, 0, 1, 1, 2, 2), 3))
    if kind == "offsets":
        return opset15.embedding_bag_offsets(d, i, ends, reduction="mean") if mean else opset3.embedding_bag_offsets_sum(d, i, ends)
    if kind == "packed":
        return opset15.embedding_bag_packed(d, i, reduction="mean") if mean else opset3.embedding_bag_packed_sum(d, i)
    return opset3.embedding_segments_sum(d, i, ids, count)


def clamp(i, low, length):
    return np.clip(i.astype(np.int64), low, np.array(length) - 1)


def nd(d, i):
    """GatherND without batch dims."""
    return d[tuple(np.moveaxis(i, -1, 0))]


def cases():
    g = lambda **a: [N("Gather", ["d", "i"], ["y"], name="g", **a)]
    table = {"d": Data((5, 3))}
    # L.1: constants below 0.
    for opset in (9, 11, 13, 18):
        yield Onnx(f"negative-{opset}", "L.1", g(), table, lambda d: d[[0, -1, 4, -5]], {"i": i64(0, -1, 4, -5)}, opset=opset)
    yield Onnx("negative-columns", "L.1", g(axis=-1), table, lambda d: d[:, [[0, -1]]], {"i": i64(0, -1).reshape(1, 2)})
    yield Onnx("negative-scalar", "L.1", g(), table, lambda d: d[-2], {"i": np.array(-2, np.int32)})
    yield Onnx("negative-of-unknown", "L.1", g(), {"d": Data((5, 3), declared=["n", 3])}, lambda d: d[[0, -1]], {"i": i64(0, -1)})
    tuples = i64(0, -1, -5, 2, 4, -3).reshape(3, 2)
    yield Onnx("negative-tuples", "L.1", [N("GatherND", ["d", "i"], ["y"])], table, lambda d: nd(d, tuples), {"i": tuples})
    at = i64(0, -1, 2, -2, 1, -3).reshape(2, 3)
    yield Onnx("negative-elements", "L.1", [N("GatherElements", ["d", "i"], ["y"], axis=1)], {"d": Data((2, 3))}, lambda d: np.take_along_axis(d, at, 1), {"i": at})
    # Of one element, whose dims OpenVINO drops where it joins sums of numbers.
    open_table, open_vector = {"d": Data((5, 3), declared=["n", 3])}, {"d": Data((5,), declared=["n"])}
    for n, one in (("1", i64(-1)), ("2", i64(-1).reshape(1, 1)), ("3", i64(-4).reshape(1, 1, 1))):
        yield Onnx("negative-one-" + n, "L.1", g(), open_table, lambda d, one=one: d[one], {"i": one})
        if one.ndim > 1:
            yield Onnx("negative-one-tuple-" + n, "L.1", [N("GatherND", ["d", "i"], ["y"])], open_vector, lambda d, one=one: nd(d, one), {"i": one})
    yield Onnx("negative-one-narrow", "L.1", g(axis=1), {"d": Data((5, 3), declared=[5, "n"])}, lambda d: d[:, [-3]], {"i": np.array([-3], np.int32)})
    yield Onnx("negative-one-element", "L.1", [N("GatherElements", ["d", "i"], ["y"], axis=0)], open_vector, lambda d: d[[-1]], {"i": i64(-1)})
    # L.3: tuples.
    t = lambda **a: [N("GatherND", ["d", "i"], ["y"], **a)]
    low = [-5, -3]
    for opset in (11, 12, 18):
        yield Onnx(f"tuples-{opset}", "L.3", t(), {**table, "i": Index((6, 2), low, [5, 3])}, lambda d, i: nd(d, clamp(i, low, [5, 3])), opset=opset, bad=True)
    yield Onnx("tuples-of-one", "L.3", t(), {**table, "i": Index((2, 4, 1), -5, 5)}, lambda d, i: nd(d, clamp(i, -5, 5)), bad=True)
    yield Onnx("tuples-of-equal-dims", "L.3", t(), {"d": Data((4, 4)), "i": Index((6, 2), -4, 4)}, lambda d, i: nd(d, clamp(i, -4, 4)), bad=True)
    yield Onnx("tuples-open", "L.3", t(), {"d": Data((5, 3), declared=["a", "b"]), "i": Index((6, 2), low, [5, 3], declared=["n", 2])}, lambda d, i: nd(d, clamp(i, low, [5, 3])), bad=True)
    batched = lambda d, i: np.stack([nd(d[n], clamp(i[n], [-4], [4])) for n in range(len(d))])
    yield Onnx("tuples-batch", "L.3", t(batch_dims=1), {"d": Data((3, 4, 2)), "i": Index((3, 6, 1), -4, 4)}, batched, bad=True)
    yield Onnx("tuples-batch-open", "L.3", t(batch_dims=1), {"d": Data((3, 4, 2), declared=["b", "n", 2]), "i": Index((3, 6, 1), -4, 4, declared=["b", "m", 1])}, batched, bad=True)
    yield Onnx("tuples-microsoft", "L.3", [N("GatherND", ["d", "i"], ["y"], domain="com.microsoft")], {**table, "i": Index((6, 2), low, [5, 3], np.int32)}, lambda d, i: nd(d, clamp(i, low, [5, 3])), bad=True, openvino=False)
    # L.4: slices and elements.
    for opset in (8, 11, 13, 18):
        yield Onnx(f"rows-{opset}", "L.4", g(), {**table, "i": Index((7,), -5, 5)}, lambda d, i: d[clamp(i, -5, 5)], opset=opset, bad=True)
    for axis in (1, -1, -2):
        n = (5, 3)[axis]
        yield Onnx(f"rows-axis{axis}", "L.4", g(axis=axis), {**table, "i": Index((2, 3), -n, n, np.int32)}, lambda d, i, n=n, axis=axis: d.take(clamp(i, -n, n), axis), bad=True)
    yield Onnx("rows-scalar", "L.4", g(), {**table, "i": Index((), -5, 5)}, lambda d, i: d[clamp(i, -5, 5)], bad=True)
    yield Onnx("rows-of-table", "L.4", g(), {"i": Index((2, 3), -50, 50)}, lambda i: f32(50, 4)[clamp(i, -50, 50)], {"d": f32(50, 4)}, bad=True)
    yield Onnx("rows-open", "L.4", g(), {"d": Data((5, 3), declared=["n", "m"]), "i": Index((4,), -5, 5, np.int32, declared=["k"])}, lambda d, i: d[clamp(i, -5, 5)], bad=True)
    yield Onnx("rows-of-unknown-rank", "L.4", g(), {**table, "i": Index((2, 3), -5, 5)}, lambda d, i: d[clamp(i, -5, 5)], bad=True)
    yield Onnx("short-vector", "L.4", g(), {"d": Data((5,), np.int32), "i": Index((7,), -5, 5)}, lambda d, i: d[clamp(i, -5, 5)], bad=True)
    yield Onnx("elements", "L.4", [N("GatherElements", ["d", "i"], ["y"], axis=0)], {**table, "i": Index((4, 3), -5, 5)}, lambda d, i: np.take_along_axis(d, clamp(i, -5, 5), 0), bad=True)
    yield Onnx("rows-unnamed", "L.4", [N("Relu", ["d"], ["r"]), N("Gather", ["r", "i"], ["a"]), N("Gather", ["r", "j"], ["b"]), N("Add", ["a", "b"], ["y"])],
               {"d": Data((5, 3), np.int32), "i": Index((4,), -5, 5), "j": Index((4,), -5, 5)}, lambda d, i, j: np.maximum(d, 0)[clamp(i, -5, 5)] + np.maximum(d, 0)[clamp(j, -5, 5)], opset=14, bad=True)
    branch = lambda name, axis: h.make_graph([N("Gather", ["d", "i"], [name], axis=axis)], name, [], [h.make_empty_tensor_value_info(name)])
    yield Onnx("in-if", "L.4", [N("Greater", ["c", "zero"], ["b"]), N("If", ["b"], ["y"], then_branch=branch("then", 0), else_branch=branch("else", 1))],
               {"d": Data((4, 4)), "i": Index((3,), -4, 4), "c": Index((), -2, 3)}, lambda d, i, c: d.take(clamp(i, -4, 4), 0 if c > 0 else 1), {"zero": np.array(0, np.int64)}, bad=True)
    body = h.make_graph([N("Gather", ["d", "n"], ["row"]), N("Gather", ["row", "i"], ["cells"]), N("Identity", ["go"], ["going"])], "body",
                        [h.make_tensor_value_info("n", T.INT64, []), h.make_tensor_value_info("go", T.BOOL, [])],
                        [h.make_tensor_value_info("going", T.BOOL, []), h.make_tensor_value_info("cells", T.FLOAT, [2])])
    yield Onnx("in-loop", "L.4", [N("Loop", ["five", ""], ["y"], body=body)], {**table, "i": Index((2,), -3, 3)}, lambda d, i: d[:, clamp(i, -3, 3)], {"five": np.array(5, np.int64)}, bad=True)
    codes = np.arange(64, dtype=np.uint8).reshape(4, 16)
    scales = f32(4, 1)
    quant = (codes.astype(np.float32) - 128) * scales
    kept = lambda i: np.where(((i >= -4) & (i < 4))[..., None], quant[clamp(i, -4, 4)], np.float32(0))
    yield Onnx("quantised-rows", "L.4", [N("GatherBlockQuantized", ["d", "i", "s"], ["y"], domain="com.microsoft", block_size=16, bits=8, gather_axis=0, quantize_axis=1)], {"i": Index((2, 3), -4, 4)},
               kept, {"d": codes, "s": scales}, bad=True, openvino=False)
    # L.6, L.9.
    yield Onnx("batch-of-one", "L.6", t(batch_dims=1), {"d": Data((1, 4)), "i": Index((3, 1), -4, 4)}, lambda d, i: d[0][clamp(i[:, 0], -4, 4)])
    yield Onnx("batches-of-one", "L.6", t(batch_dims=2), {"d": Data((2, 1, 4)), "i": Index((2, 3, 1), -4, 4)}, lambda d, i: np.take_along_axis(np.broadcast_to(d, (2, 3, 4)), clamp(i, -4, 4), 2)[..., 0])
    yield Onnx("microsoft-batch", "L.9", [N("GatherND", ["d", "i"], ["y"], domain="com.microsoft", batch_dims=1)], {"d": Data((3, 4, 2)), "i": Index((3, 6, 1), -4, 4)}, batched, breaks="onnxruntime openvino", bad=True)
    yield Onnx("microsoft-batch-narrow", "L.9", [N("GatherND", ["d", "i"], ["y"], domain="com.microsoft", batch_dims=1)], {"d": Data((3, 4, 2)), "i": Index((3, 6, 1), -4, 4, np.int32)}, batched, breaks="onnxruntime openvino", bad=True)
    # L.13.
    eight, dims = (1, 2, 1, 2, 1, 2, 1, 3), np.array([1, 2, 1, 2, 1, 2, 1, 3])
    yield Onnx("long-tuples", "L.13", t(), {"d": Data(eight), "i": Index((5, 8), -dims, dims)}, lambda d, i: nd(d, clamp(i, -dims, dims)), bad=True)
    long = np.array([[0, -1, 0, 1, -1, 1, 0, 2], [0, 0, 0, -2, 0, 1, 0, -3]], np.int64)
    yield Onnx("long-constant-tuples", "L.13", t(), {"d": Data(eight)}, lambda d: nd(d, long), {"i": long})
    yield Onnx("long-tuples-of-rows", "L.13", t(), {"d": Data(eight + (2,), declared=list(eight) + ["n"]), "i": Index((5, 8), -dims, dims)}, lambda d, i: nd(d, clamp(i, -dims, dims)), bad=True)
    # L.16.
    for dtype in (np.int32, np.uint8, np.int16):
        low = 0 if dtype == np.uint8 else np.array([-5, -3])
        yield Onnx("narrow-tuples-" + np.dtype(dtype).name, "L.16", t(), {**table, "i": Index((4, 2), low, [5, 3], dtype)}, lambda d, i, low=low: nd(d, clamp(i, [-5, -3], [5, 3])), breaks="onnxruntime", bad=True)
    yield Onnx("narrow-rows", "L.16", g(), {**table, "i": Index((4,), -5, 5, np.int8)}, lambda d, i: d[clamp(i, -5, 5)], breaks="onnxruntime", bad=True)
    yield Onnx("unsigned-elements", "L.16", [N("GatherElements", ["d", "i"], ["y"], axis=0)], {**table, "i": Index((4, 3), 0, 5, np.uint32)}, lambda d, i: np.take_along_axis(d, clamp(i, -5, 5), 0), breaks="onnxruntime openvino")
    # L.17.
    words = {"d": Data((4, 3), object)}
    yield Onnx("strings", "L.17", g(), {**words, "i": Index((2, 2), -4, 4)}, lambda d, i: d[clamp(i, -4, 4)], breaks="onnxruntime", bad=True, openvino=False)
    yield Onnx("strings-between", "L.17", g(axis=1), {"d": Data((2, 4, 3), object), "i": Index((2,), -4, 4)}, lambda d, i: d[:, clamp(i, -4, 4)], breaks="onnxruntime", bad=True, openvino=False)
    # L.18, L.25.
    none = np.zeros((3, 0), np.int64)
    yield Onnx("empty-tuples", "L.18", t(), {**table, "i": Index((3, 0), 0, 1)}, lambda d, i: np.broadcast_to(d, (3, 5, 3)), breaks="openvino")
    yield Onnx("empty-tuples-open", "L.18", t(), {"d": Data((5, 3), declared=["a", "b"], quiet=True), "i": Index((3, 0), 0, 1, declared=["n", 0])}, lambda d, i: np.broadcast_to(d, (3, 5, 3)), breaks="openvino")
    yield Onnx("empty-tuples-batch", "L.18", t(batch_dims=1), {**table, "i": Index((5, 2, 0), 0, 1)}, lambda d, i: np.broadcast_to(d[:, None], (5, 2, 3)), breaks="openvino")
    yield Onnx("scalar", "L.25", t(), {"d": Data(()), "i": Index((4, 0), 0, 1)}, lambda d, i: np.full(4, d), breaks="onnxruntime openvino")
    # L.21.
    yield Onnx("smaller-elements", "L.21", [N("GatherElements", ["d", "i"], ["y"], axis=0)], {"d": Data((3, 4, 5)), "i": Index((2, 2, 3), -3, 3)}, lambda d, i: np.take_along_axis(d[:, :2, :3], clamp(i, -3, 3), 0), breaks="openvino", bad=True)
    # L.27, L.31: positions.
    zero, one, last = np.array(0, np.int64), np.array(1, np.int64), np.array(-1, np.int64)
    counted = [N("Shape", ["ids"], ["s"]), N("Gather", ["s", "one"], ["n"]), N("Range", ["zero", "n", "one"], ["p"]), N("Gather", ["t", "p"], ["y"])]
    for n in (6, 8):
        yield Onnx(f"positions-{n}", "L.27", counted, {"ids": Data((1, n), np.int32, declared=[1, "n"])}, lambda ids, n=n: f32(8, 2)[:n], {"t": f32(8, 2), "zero": zero, "one": one})
    yield Onnx("positions-past", "L.27", counted, {"ids": Data((1, 9), np.int32, declared=[1, "n"])}, lambda ids: f32(8, 2)[[0, 1, 2, 3, 4, 5, 6, 7, 7]], {"t": f32(8, 2), "zero": zero, "one": one}, breaks="onnxruntime openvino")
    length = [N("Shape", ["d"], ["s"]), N("Gather", ["s", "zero"], ["n"])]
    open_rows = {"d": Data((5, 2), declared=["n", 2])}
    ends = {"zero": zero, "one": one, "last": last}
    yield Onnx("flipped", "L.31", length + [N("Add", ["n", "last"], ["a"]), N("Range", ["a", "last", "last"], ["p"]), N("Gather", ["d", "p"], ["y"])], open_rows, lambda d: d[::-1], ends, breaks="onnxruntime")
    yield Onnx("from-the-end", "L.31", length + [N("Neg", ["n"], ["a"]), N("Range", ["a", "zero", "one"], ["p"]), N("Gather", ["d", "p"], ["y"])], open_rows, lambda d: d, ends, breaks="onnxruntime")

    # OpenVINO's IR.
    c = lambda *v, dtype=np.int64: opset8.constant(np.array(v, dtype))
    s = lambda v, dtype=np.int64: opset8.constant(np.array(v, dtype))
    ops = {1: lambda d, i, a, **k: opset1.gather(d, i, a), 7: opset7.gather, 8: opset8.gather}
    for b in (1, 7, 8):
        yield Ir(f"ir-negative-{b}", "L.1", lambda d, b=b: ops[b](d, c(0, -1, -5), s(0)), table, lambda d: d[[0, -1, -5]], breaks="openvino" if b < 8 else "")
    yield Ir("ir-negative-tuples", "L.1", lambda d: opset8.gather_nd(d, opset8.constant(tuples)), table, lambda d: nd(d, tuples))
    open_table = {"d": Data((5, 3), declared=[-1, 3])}
    for n, one in (("1", i64(-1)), ("2", i64(-1).reshape(1, 1)), ("3", i64(-4).reshape(1, 1, 1))):
        yield Ir("ir-negative-one-" + n, "L.1", lambda d, one=one: opset8.gather(d, opset8.constant(one), s(0)), open_table, lambda d, one=one: d[one])
    for b in (1, 7):
        yield Ir(f"ir-rows-{b}", "L.4", lambda d, i, b=b: ops[b](d, i, s(1)), {**table, "i": Index((2, 4), 0, 3, np.int32)}, lambda d, i: d[:, clamp(i, 0, 3)], bad=True)
    zeros = lambda d, i, n: np.where(((i >= -n) & (i < n)).reshape(i.shape + (1,) * (d.ndim - 1)), d[clamp(i, -n, n)], d.dtype.type(0))
    for dtype in (np.float32, np.int32, bool, np.float16, np.uint8):
        yield Ir("ir-zeros-" + np.dtype(dtype).name, "L.4", lambda d, i: opset8.gather(d, i, s(0)), {"d": Data((5, 3), dtype), "i": Index((2, 4), -5, 5)}, lambda d, i: zeros(d, i, 5), bad=True)
    yield Ir("ir-zeros-open", "L.4", lambda d, i: opset8.gather(d, i, s(0)), {"d": Data((5, 3), declared=[-1, -1]), "i": Index((4,), -5, 5, np.int32, declared=[-1])}, lambda d, i: zeros(d, i, 5), bad=True)
    yield Ir("ir-zeros-scalar", "L.4", lambda d, i: opset8.gather(d, i, s(0)), {**table, "i": Index((), -5, 5)}, lambda d, i: zeros(d, i, 5), bad=True)
    yield Ir("ir-zeros-short", "L.4", lambda d, i: opset8.gather(d, i, s(0)), {"d": Data((5,), np.int32), "i": Index((7,), -5, 5)}, lambda d, i: zeros(d, i, 5), breaks="openvino", bad=True)
    rows = lambda d, i: np.stack([np.moveaxis(zeros(np.moveaxis(d[n], 1, 0), i[n], 3), -1, 0) for n in range(2)])
    yield Ir("ir-zeros-batch", "L.4", lambda d, i: opset8.gather(d, i, s(2), 1), {"d": Data((2, 4, 3)), "i": Index((2, 6), -3, 3)}, rows, bad=True)
    coded = lambda d, i: opset8.gather(opset8.multiply(opset8.convert(opset8.constant(np.arange(20, dtype=np.int8).reshape(5, 4)), "f32"), opset8.constant(f32(5, 1))), i, s(0))
    yield Ir("ir-compressed", "L.4", lambda i: coded(None, i), {"i": Index((6,), -5, 5)}, lambda i: zeros(np.arange(20, dtype=np.float32).reshape(5, 4) * f32(5, 1), i, 5), breaks="openvino", bad=True)
    for dtype in (np.int32, np.int64):
        yield Ir("ir-elements-" + np.dtype(dtype).name, "L.4", lambda d, i: opset6.gather_elements(d, i, 0), {**table, "i": Index((4, 3), -5, 5, dtype)}, lambda d, i: np.take_along_axis(d, clamp(i, -5, 5), 0), bad=True)
    for dtype in (np.int8, np.uint8, np.int16):
        yield Ir("ir-narrow-elements-" + np.dtype(dtype).name, "L.16", lambda d, i: opset6.gather_elements(d, i, 0), {**table, "i": Index((4, 3), 0 if dtype == np.uint8 else -5, 5, dtype)}, lambda d, i: np.take_along_axis(d, clamp(i, -5, 5), 0), breaks="openvino", bad=True, patch=[("i32", (n := np.dtype(dtype).name.replace("uint", "u").replace("int", "i"))), ("I32", n.upper())])
    for b, op in ((5, opset5), (8, opset8)):
        for dtype in (np.int32, np.int64):
            yield Ir(f"ir-tuples-{b}-{np.dtype(dtype).name}", "L.3", lambda d, i, op=op: op.gather_nd(d, i), {**table, "i": Index((6, 2), [-5, -3], [5, 3], dtype)}, lambda d, i: nd(d, clamp(i, [-5, -3], [5, 3])), bad=True)
    yield Ir("ir-tuples-open", "L.3", lambda d, i: opset8.gather_nd(d, i), {"d": Data((5, 3, 2), declared=[-1, -1, 2]), "i": Index((6, 2), [-5, -3], [5, 3], declared=[-1, 2])}, lambda d, i: nd(d, clamp(i, [-5, -3], [5, 3])), bad=True)
    yield Ir("ir-tuples-batch", "L.3", lambda d, i: opset8.gather_nd(d, i, 1), {"d": Data((3, 4, 2)), "i": Index((3, 6, 1), -4, 4)}, batched, bad=True)
    whole = {"d": Exact((5, 3))}
    yield Ir("ir-bag-offsets", "L.3", lambda d, i: opset3.embedding_bag_offsets_sum(d, i, c(0, 2, dtype=np.int32)), {**whole, "i": Index((4,), 0, 5, np.int32)}, lambda d, i: np.stack([d[clamp(i[:2], 0, 5)].sum(0), d[clamp(i[2:], 0, 5)].sum(0)]), breaks="openvino", bad=True)
    yield Ir("ir-bag-packed", "L.3", lambda d, i: opset3.embedding_bag_packed_sum(d, i), {**whole, "i": Index((3, 2), 0, 5)}, lambda d, i: d[clamp(i, 0, 5)].sum(1), breaks="openvino", bad=True)
    yield Ir("ir-bag-segments", "L.3", lambda d, i: opset3.embedding_segments_sum(d, i, c(0, 0, 2, dtype=np.int32), s(3, np.int32)), {**whole, "i": Index((3,), 0, 5, np.int32)},
             lambda d, i: np.stack([d[clamp(i[:2], 0, 5)].sum(0), np.zeros(3, np.float32), d[clamp(i[2], 0, 5)]]), breaks="openvino", bad=True)
    # The indices keep the dtype that they share with the other integers.
    for mean, kinds in ((False, ("offsets", "packed", "segments")), (True, ("offsets", "packed"))):
        for kind in kinds:
            yield Ir(f"ir-{'mean' if mean else 'bag'}-{kind}-open", "L.3", lambda d, i, kind=kind, mean=mean: bag(kind, d, i, mean),
                     {"d": Exact((5, 3), declared=[-1, 3]), "i": Index((3, 2) if kind == "packed" else (6,), 0, 5, np.int32)},
                     lambda d, i, mean=mean: d[clamp(i, 0, 5)].reshape(3, 2, 3).sum(1) / np.float32(1 + mean), breaks="openvino", bad=True)
    three = {"d": Data((2, 3, 4)), "i": Index((2, 3, 1), -4, 4)}
    yield Ir("ir-flat-batch", "L.5", lambda d, i: opset5.gather_nd(d, i, 2), three, lambda d, i: np.take_along_axis(d, clamp(i, -4, 4), 2)[..., 0].reshape(6), bad=True)
    yield Ir("ir-flat-batch-of-rows", "L.5", lambda d, i: opset5.gather_nd(d, i, 2), {"d": Data((2, 3, 4, 2)), "i": Index((2, 3, 5, 1), -4, 4)}, lambda d, i: np.take_along_axis(d, clamp(i, -4, 4), 2).reshape(6, 5, 2), bad=True)
    yield Ir("ir-long-tuples", "L.13", lambda d, i: opset8.gather_nd(d, i), {"d": Data(eight), "i": Index((5, 8), -dims, dims)}, lambda d, i: nd(d, clamp(i, -dims, dims)), bad=True)
    yield Ir("ir-empty-tuples", "L.18", lambda d, i: opset8.gather_nd(d, i), {**table, "i": Index((3, 0), 0, 1)}, lambda d, i: np.broadcast_to(d, (3, 5, 3)), breaks="openvino")
    for b, op in ((7, opset7), (8, opset8)):
        yield Ir(f"ir-lone-batch-{b}", "L.29", lambda d, i, op=op: op.gather(d, i, s(1), 1), {"d": Data((1, 4)), "i": Index((1, 3), 0, 4)}, lambda d, i: d[:, clamp(i[0], 0, 4)], breaks="openvino")
    yield Ir("ir-lone-batch-between", "L.29", lambda d, i: opset8.gather(d, i, s(2), 1), {"d": Data((1, 1, 4)), "i": Index((1, 3), 0, 4)}, lambda d, i: d[:, :, clamp(i[0], 0, 4)], breaks="openvino")

    def in_body(cond, d, i):
        outer = [(d, Data((4, 4))), (i, Index((3,), 0, 4))]
        made = opset8.if_op(cond)
        for then, axis in ((True, 0), (False, 1)):
            p, q = opset8.parameter([4, 4], np.float32), opset8.parameter([3], np.int64)
            r = opset8.result(opset7.gather(p, q, s(axis)))
            body = ov.Model([r], [p, q], "body")
            (made.set_then_body if then else made.set_else_body)(body)
            ins = (p, q)
            if then:
                first = (p, q, r)
            else:
                made.set_input(d.output(0), first[0], p)
                made.set_input(i.output(0), first[1], q)
                made.set_output(first[2], r)
        return made

    yield Ir("ir-in-if", "L.4", in_body, {"c": Data((), bool), "d": Data((4, 4)), "i": Index((3,), 0, 4)}, lambda c, d, i: d.take(clamp(i, 0, 4), 0 if c else 1), bad=True)


def in_child(job):
    """Runs job in a process of its own; an exception or an exit code where it ends otherwise."""
    queue = multiprocessing.get_context("fork").SimpleQueue()

    def work():
        sys.stderr = open(os.devnull, "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            queue.put((job(), None))
        except Exception as e:
            queue.put((None, str(e)[:300] or type(e).__name__))
        os._exit(0)

    p = multiprocessing.get_context("fork").Process(target=work)
    p.start()
    while p.is_alive() and queue.empty():
        p.join(0.01)
    got = (None, None) if queue.empty() else queue.get()
    p.join()
    return (None, f"the process ends with {p.exitcode}") if got == (None, None) else got


def answers(path, feeds, runtime):
    """The answers of a runtime to some feeds; an exception for those that it refuses."""
    def ort():
        o = onnxruntime.SessionOptions()
        o.log_severity_level, o.intra_op_num_threads = 4, 2
        session = onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])
        return lambda f: session.run(None, f)[0]

    def vino():
        compiled = ov.Core().compile_model(ov.Core().read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()

        def run(f):
            request.start_async(f)
            request.wait()  # infer may lose the error of a node
            return np.array(request.get_output_tensor(0).data)

        return run

    def job():
        run, list_ = {"onnxruntime": ort, "openvino": vino}[runtime](), []
        for f in feeds:
            try:
                list_.append(run(f))
            except Exception as e:
                list_.append("refused: " + str(e)[:200])
        return list_

    return in_child(job)


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return False
    if a.dtype == object or a.dtype.kind == "U":
        return a.shape == b.shape and (a.astype(object) == b.astype(object)).all()
    return a.dtype == b.dtype and a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def hold(case, garner):
    """Mends a model and runs it; returns its line of held.jsonl and what did not hold."""
    rng = np.random.default_rng(7)
    folder = tempfile.mkdtemp()
    old, out = os.path.abspath(case.name + case.suffix), os.path.join(folder, "mended" + case.suffix)
    p = subprocess.run([garner, "lint", old, "--fix", "-o", out, "--fail-on", "never", "--format", "json"], capture_output=True, text=True)
    if p.returncode:
        return None, [p.stderr.strip()]
    report = json.loads(p.stdout)
    wrong = [] if any(case.rules in m["rules"] for m in report["mends"]) else ["not mended: " + json.dumps(report["remaining"])[:400]]
    again = json.loads(subprocess.run([garner, "lint", out, "--fail-on", "never", "--format", "json"], capture_output=True, text=True).stdout)
    left = {f["rule"] for f in again["findings"]}
    if left & {r for m in report["mends"] for r in m["rules"]} - {f["rule"] for f in report["remaining"]}:
        wrong.append("linted again: " + ", ".join(left))
    line = {"name": case.name, "rules": sorted({r for m in report["mends"] for r in m["rules"]}), "remaining": sorted({f["rule"] for f in report["remaining"]})}
    runtimes = (["onnxruntime"] if case.suffix == ".onnx" else []) + (["openvino"] if case.openvino else [])
    feeds = {bad: [{n: d.feed(rng, bad) for n, d in case.inputs.items()} for _ in range(FEEDS)] for bad in ((False, True) if case.bad else (False,))}
    for bad, list_ in feeds.items():
        want = [np.array(case.want(*f.values())) for f in list_]
        for runtime in runtimes:
            got, failed = answers(out, list_, runtime)
            key = runtime + (" bad" if bad else " valid")
            if failed:
                wrong.append(f"{key}: {failed}")
                continue
            equal = sum(bool(same(a, b)) for a, b in zip(got, want))
            line[key] = equal
            if equal < FEEDS:
                i = [same(a, b) for a, b in zip(got, want)].index(False)
                wrong.append(f"{key}: {FEEDS - equal} of {FEEDS} differ: feed {[v.tolist() for n, v in list_[i].items() if n != 'd']}, got {got[i] if isinstance(got[i], str) else (got[i].dtype, got[i].tolist())}, want {want[i].dtype, want[i].tolist()}"[:900])
            if not bad:
                was, failed = answers(old, list_, runtime)
                n = 0 if failed else sum(bool(same(a, b)) for a, b in zip(was, want))
                line["before: " + runtime] = n
                if n < FEEDS and runtime not in case.breaks:
                    wrong.append(f"before, {runtime}: {n} of {FEEDS}: {failed or [a for a in was if isinstance(a, str)][:1]}"[:500])
    return line, wrong


def function():
    """Writes a gather in a local function, which is no case: it is not mended."""
    f = h.make_function("own", "Rows", ["d", "i"], ["y"], [N("Gather", ["d", "i"], ["y"])], [h.make_opsetid("", 18)])
    g = h.make_graph([N("Rows", ["d", "i"], ["y"], domain="own")], "g", [h.make_tensor_value_info("d", T.FLOAT, [5, 3]), h.make_tensor_value_info("i", T.INT64, [4])], [h.make_empty_tensor_value_info("y")])
    onnx.save(h.make_model(g, functions=[f], opset_imports=[h.make_opsetid("", 18), h.make_opsetid("own", 1)], ir_version=8), "function.onnx")


def main():
    all_ = list(cases())
    if len(sys.argv) < 2:
        for old in glob.glob("*.onnx") + glob.glob("*.xml") + glob.glob("*.bin"):
            os.remove(old)
        function()
    names = sys.argv[2:]
    lines, bad = [], 0
    for case in all_:
        if names and case.name not in names:
            continue
        path = case.name + case.suffix
        if len(sys.argv) < 2 or not os.path.exists(path):
            case.write(path)
        if len(sys.argv) < 2:
            continue
        line, wrong = hold(case, os.path.abspath(sys.argv[1]))
        for w in wrong:
            print(f"{case.name}: {w}")
        bad += bool(wrong)
        lines.append(line)
    if len(sys.argv) < 2:
        return
    count = lambda suffix: sum(v for l in lines if l for k, v in l.items() if k.endswith(suffix))
    print(f"{len(lines)} models, {bad} do not hold; {count(' valid')} runs of valid feeds and {count(' bad')} of bad ones are equal")
    if not names:
        with open("held.jsonl", "w") as f:
            f.write(json.dumps({"onnxruntime": onnxruntime.__version__, "openvino": ov.__version__.split("-")[0], "feeds": FEEDS}) + "\n")
            for line in lines:
                f.write(json.dumps(line) + "\n")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
