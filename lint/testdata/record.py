"""Records what ONNX Runtime, at every level of optimisation, and OpenVINO answer
to the remedies of lint's rules, and to models that some rules rest on.

Writes recorded.jsonl, one case a line. A remedy is the model that a rule's remedy
makes of one that breaks the rule; every run of it must give what is wanted. Each
model runs with static and with dynamic dims, in a process of its own, because
some of the answers are a crash.

    python make_tflite.py       makes the models of TFLite, and records LiteRT
    pip install numpy onnx onnxruntime openvino
    python record.py            records everything
    python record.py NAME...    records these cases alone, and leaves the others as they are
"""

import io
import itertools
import json
import os
import pickle
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import openvino as ov
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from openvino import opset1, opset3, opset5, opset6, opset7, opset8, opset15

LEVELS = {
    "no optimisation": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic level": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended level": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "default level": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


def i64(*values):
    return np.array(values, np.int64)


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


N = helper.make_node


class Onnx:
    """An ONNX model. inputs are (name, array), or (name, array, declared shape)."""

    def __init__(self, nodes, inputs, constants=None, opset=18, external=False):
        self.nodes, self.inputs, self.constants = nodes, inputs, constants or {}
        self.opset, self.external = opset, external

    def declared(self, dynamic):
        for name, value, *shape in self.inputs:
            yield name, value, shape[0] if shape else [None] * value.ndim if dynamic else list(value.shape)

    def proto(self, dynamic):
        inputs = [helper.make_tensor_value_info(n, T.STRING if v.dtype == object else helper.np_dtype_to_tensor_dtype(v.dtype), s) for n, v, s in self.declared(dynamic)]
        held = [v if isinstance(v, onnx.TensorProto) else numpy_helper.from_array(v, n) for n, v in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, [helper.make_empty_tensor_value_info("y")], held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)], ir_version=10)

    def runs(self):
        for dynamic in (False, True):
            shapes = "dynamic dims" if dynamic else "static dims"
            if dynamic and all(len(i) > 2 or i[1].ndim == 0 for i in self.inputs):
                continue
            for level in LEVELS:
                yield "onnxruntime " + onnxruntime.__version__, level, shapes, (lambda d=dynamic, l=level: self.onnxruntime(d, l))
            yield "openvino " + ov.__version__.split("-")[0] + " CPU", "", shapes, (lambda d=dynamic: self.openvino(d))

    def path(self, dynamic):
        """The file of a model that has its tables beside it; else its bytes."""
        m = self.proto(dynamic)
        if not self.external:
            return m.SerializeToString()
        path = os.path.join(tempfile.mkdtemp(), "m.onnx")
        onnx.save(m, path, save_as_external_data=True, location="m.data", size_threshold=0)
        return path

    def feeds(self):
        return {n: v for n, v, *_ in self.inputs}

    def onnxruntime(self, dynamic, level):
        o = onnxruntime.SessionOptions()
        o.graph_optimization_level, o.log_severity_level = LEVELS[level], 4
        s = onnxruntime.InferenceSession(self.path(dynamic), o, providers=["CPUExecutionProvider"])
        return s.run(None, self.feeds())[0]

    def openvino(self, dynamic):
        return compiled(ov.Core().read_model(self.path(dynamic)), self.feeds())


class Ir:
    """A model of OpenVINO's own operators: make builds it of the parameters. inputs are as of Onnx."""

    def __init__(self, make, inputs):
        self.make, self.inputs = make, inputs

    def runs(self):
        for dynamic in (False, True):
            yield "openvino " + ov.__version__.split("-")[0] + " CPU", "", "dynamic dims" if dynamic else "static dims", (lambda d=dynamic: self.openvino(d))

    def openvino(self, dynamic):
        p = []
        for name, v, *shape in self.inputs:
            declared = shape[0] if shape else [-1] * v.ndim if dynamic else list(v.shape)
            one = opset8.parameter(ov.PartialShape.dynamic() if declared is None else ov.PartialShape(declared), v.dtype, name=name)
            one.output(0).set_names({name})
            p.append(one)
        return compiled(ov.Model([self.make(*p)], p, "m"), {n: v for n, v, *_ in self.inputs})


class Folded(Ir):
    """A model of constants alone, which OpenVINO computes before the first run."""

    def runs(self):
        yield "openvino " + ov.__version__.split("-")[0] + " CPU", "all operands constant", "static dims", self.folded

    def folded(self):
        return compiled(ov.Model([self.make(*(opset8.constant(v) for _, v in self.inputs))], [], "m"), {})


class Bags(Ir):
    """Operators of OpenVINO that also run on one thread, into memory of 77s: its infer call hides their errors there."""

    def runs(self):
        yield from super().runs()
        yield "openvino " + ov.__version__.split("-")[0] + " CPU", "one thread", "static dims", self.alone

    def alone(self):
        p = [opset8.parameter(list(v.shape), v.dtype) for _, v in self.inputs]
        c = ov.Core().compile_model(ov.Model([self.make(*p)], p, "m"), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        q, made = c.create_infer_request(), np.full(list(c.outputs[0].shape), 77, np.float32)
        q.set_output_tensor(ov.Tensor(made, shared_memory=True))
        q.infer({n: v for n, (_, v) in enumerate(self.inputs)})
        return made


def bag(name, offsets=(0, 2), segments=(0, 0, 2), default=None, at=(0, 1, 2)):
    """Makes a bag of an operator of the rows at, with the ends that it has."""
    const = lambda v: opset8.constant(np.array(v, np.int32))
    more = {} if default is None else {"default_index": const(default)}
    if name.startswith("packed"):
        at = [at]
    make = {
        "offsets-3": lambda d, i: opset3.embedding_bag_offsets_sum(d, i, const(offsets), **more),
        "offsets-15": lambda d, i: opset15.embedding_bag_offsets(d, i, const(offsets), reduction="sum", **more),
        "packed-3": lambda d, i: opset3.embedding_bag_packed_sum(d, i),
        "packed-15": lambda d, i: opset15.embedding_bag_packed(d, i, reduction="sum"),
        "segments-3": lambda d, i: opset3.embedding_segments_sum(d, i, const(segments), const(3), **more),
    }[name]
    op = {"offsets-3": "EmbeddingBagOffsetsSum-3", "offsets-15": "EmbeddingBagOffsets-15", "packed-3": "EmbeddingBagPackedSum-3", "packed-15": "EmbeddingBagPacked-15", "segments-3": "EmbeddingSegmentsSum-3"}[name]
    return "openvino." + op, Bags(make, [("d", f32(5, 2)), ("i", np.array(at, np.int32))])


class TFLite:
    """A model that make_tflite.py made, with what LiteRT answers; or a case of TensorFlow's own."""

    def __init__(self, name):
        with open("litert.json") as f:
            self.case = json.load(f)[name]

    def runs(self):
        if "model" in self.case:
            yield "openvino " + ov.__version__.split("-")[0] + " CPU", "reading TFLite", "static dims", self.openvino

    def openvino(self):
        m = ov.Core().read_model(self.case["model"])
        indices = np.array(self.case["indices"], np.int32)
        return compiled(m, {i.any_name: f32(5, 2) if i.element_type == ov.Type.f32 else indices.reshape(list(i.shape)) for i in m.inputs})


def compiled(m, feeds):
    c = ov.Core().compile_model(m, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    q = c.create_infer_request()
    feeds = {n: v.astype(np.str_) if v.dtype == object else v for n, v in feeds.items()}
    return np.array(q.infer({i: feeds[(i.names & set(feeds)).pop()] for i in c.inputs})[c.outputs[0]])


def apart(run):
    """Runs in a process of its own: an array, an error, or the signal that ended it."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            made = run()
        except Exception as e:
            made = str(e)
        with os.fdopen(w, "wb") as f:
            pickle.dump(made, f)
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        text = f.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    made = pickle.loads(text)
    if isinstance(made, str):
        return {"error": " ".join(made.split())[-160:]}
    return {"output": tensor(made)}


def tensor(a):
    a = np.asarray(a)
    if a.dtype == object:
        a = a.astype(np.str_)
    return {"dtype": "string" if a.dtype.kind in "UT" else str(a.dtype), "shape": list(a.shape), "values": a.flatten().tolist()}


def record(to, name, rules, op, model, want, remedy):
    runs = []
    if isinstance(model, TFLite):
        runs.append(model.case["run"])
    for runtime, mode, shapes, run in model.runs():
        answer = apart(run)
        # What reads other memory does not crash each time: one crash of many is kept.
        for _ in range(30 if name.startswith("lint-batch-of-one") and shapes == "static dims" else 0):
            if "signal" not in answer:
                answer = apart(run)
        runs.append({"runtime": runtime, "mode": mode, "shapes": shapes, **answer})
    line = {"name": name, "rules": rules, "op": op, "remedy": remedy, "want": None if want is None else tensor(want), "runs": runs}
    to.write(json.dumps(line) + "\n")
    wrong = [r for r in runs if r.get("output") != line["want"]]
    if remedy and wrong:
        print(name, "does not hold:", *wrong, sep="\n    ")


def compressed(name, codes, scale, zero=None):
    """Rows of a table that OpenVINO decodes, and what they are."""
    def make(i):
        v = opset1.convert(opset8.constant(codes), "f32")
        if zero is not None:
            v = opset1.subtract(v, opset1.convert(opset8.constant(zero.astype(np.uint8)), "f32"))
        v = opset1.multiply(v, opset8.constant(scale.astype(np.float32)))
        if codes.ndim > 2:
            v = opset1.reshape(v, opset8.constant(i64(5, 8)), False)
        return opset8.gather(v, i, opset8.constant(np.array(0, np.int64)))

    want = ((codes.astype(np.float32) - (0 if zero is None else zero)) * scale).astype(np.float32).reshape(5, 8)[[4, 0]]
    return "scale-of-" + name, ["L.35"], "openvino.compressed-gather", Ir(make, [("i", np.array([4, 0], np.int32))]), want


def remedies():
    """(name, rules, operator, model, what it must give)"""
    each = np.arange(1, 41, dtype=np.uint8).reshape(5, 8)
    yield compressed("each", each, each % 8 + 1, each % 8)
    table, rows = f32(5, 2), i64(0, 4, -1)
    at = np.where(rows < 0, rows + 5, rows)
    yield "positions-from-the-start", ["L.1"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("d", table)], {"i": at}), table[rows]
    padded = np.concatenate([table, np.zeros((1, 2), np.float32)])
    yield "row-of-zeros", ["L.2"], "onnx.Gather-13", Onnx([N("Concat", ["d", "z"], ["p"], axis=0), N("Gather", ["p", "i"], ["y"])], [("d", table)], {"z": padded[5:], "i": i64(0, 5)}), padded[[0, 5]]
    outside = i64(0, 9, -7, 4)
    clip = lambda of, to, low, high: N("Clip", [of, low, high], [to])
    scalars = {"zero": np.array(0, np.int64), "four": np.array(4, np.int64)}
    yield "clip-rows", ["L.4"], "onnx.Gather-13", Onnx([clip("i", "c", "zero", "four"), N("Gather", ["d", "c"], ["y"])], [("d", table), ("i", outside)], scalars), table[np.clip(outside, 0, 4)]
    vector = np.arange(1, 6, dtype=np.int64)
    yield "clip-short-vector", ["L.4"], "onnx.Gather-13", Onnx([clip("i", "c", "zero", "four"), N("Gather", ["d", "c"], ["y"])], [("d", vector), ("i", outside)], scalars), vector[np.clip(outside, 0, 4)]
    each = np.stack([outside, outside], 1)
    yield "clip-elements", ["L.4"], "onnx.GatherElements-13", Onnx([clip("i", "c", "zero", "four"), N("GatherElements", ["d", "c"], ["y"])], [("d", table), ("i", each)], scalars), np.take_along_axis(table, np.clip(each, 0, 4), 0)
    tuples = np.stack([outside, i64(1, 0, 1, 2)], 1)
    ends = np.minimum(np.maximum(tuples, 0), i64(4, 1))
    yield "min-max-tuples", ["L.3"], "onnx.GatherND-13", Onnx(
        [N("Max", ["i", "zero"], ["a"]), N("Min", ["a", "last"], ["b"]), N("GatherND", ["d", "b"], ["y"])],
        [("d", table), ("i", tuples, [4, 2])], {"zero": i64(0), "last": i64(4, 1)}), table[ends[:, 0], ends[:, 1]]
    data, nd = f32(2, 3, 4), np.array([[[1], [0], [3]], [[2], [2], [0]]], np.int64)
    kept = np.take_along_axis(data, nd, 2)[..., 0]
    yield "keep-batch-dims", ["L.5"], "onnx.GatherND-13", Onnx(
        [N("GatherND", ["d", "i"], ["g"], batch_dims=2), N("Reshape", ["g", "flat"], ["y"])], [("d", data), ("i", nd, [2, 3, 1])], {"flat": i64(6)}), kept.reshape(6)
    one, many = f32(1, 3), i64(0, 2, 1, 0).reshape(4, 1)
    yield "expand-batch", ["L.6"], "onnx.GatherND-13", Onnx([N("Expand", ["d", "s"], ["e"]), N("GatherND", ["e", "i"], ["y"], batch_dims=1)], [("d", one, [1, 3]), ("i", many, [4, 1])], {"s": i64(4, 3)}), one[0][many[:, 0]]
    wide, deep = f32(1, 2, 3), np.arange(8, dtype=np.int64).reshape(4, 2, 1) % 3
    yield "expand-batches", ["L.6"], "onnx.GatherND-13", Onnx([N("Expand", ["d", "s"], ["e"]), N("GatherND", ["e", "i"], ["y"], batch_dims=2)], [("d", wide, [1, 2, 3]), ("i", deep, [4, 2, 1])], {"s": i64(4, 2, 3)}), np.take_along_axis(np.broadcast_to(wide, (4, 2, 3)), deep, 2)[..., 0]
    yield "own-gathernd", ["L.9"], "onnx.GatherND-13", Onnx([N("GatherND", ["d", "i"], ["y"], batch_dims=1)], [("d", f32(2, 2)), ("i", i64(1, 0).reshape(2, 1), [2, 1])]), np.array([2, 3], np.float32)
    deep8, k8 = f32(1, 2, 1, 2, 1, 2, 1, 2), np.array([[0, 1, 0, 0, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1, 0, 0]], np.int64)
    yield "merged-dims", ["L.13"], "onnx.GatherND-13", Onnx(
        [N("Reshape", ["d", "s"], ["m"]), N("Mul", ["i", "strides"], ["t"]), N("ReduceSum", ["t", "last"], ["j"], keepdims=1), N("GatherND", ["m", "j"], ["y"])],
        [("d", deep8), ("i", k8)], {"s": i64(-1), "strides": i64(16, 8, 8, 4, 4, 2, 2, 1), "last": i64(-1)}), deep8[tuple(k8.T)]
    for name, dtype, over, values in (
        ("bf16", T.BFLOAT16, T.FLOAT, [1, -2, 3]), ("f8e4m3fn", T.FLOAT8E4M3FN, T.FLOAT16, [1, -2, 3]), ("i4", T.INT4, T.INT8, [1, -8, 7]), ("u4", T.UINT4, T.UINT8, [1, 15, 7]),
    ):
        held = helper.make_tensor("d", dtype, [3], np.array(values, helper.tensor_dtype_to_np_dtype(dtype)).tobytes() if dtype == T.BFLOAT16 else values, raw=dtype == T.BFLOAT16)
        yield "wider-" + name, ["L.14"], "onnx.Gather-13", Onnx(
            [N("Cast", ["d"], ["w"], to=over), N("Gather", ["w", "i"], ["g"]), N("Cast", ["g"], ["n"], to=dtype), N("Cast", ["n"], ["y"], to=T.FLOAT)], [("i", i64(2, 1, 0))], {"d": held}, opset=21), np.array(values, np.float32)[[2, 1, 0]]
    for name, kind, over, rule, packed, values in (
        ("u1", ov.Type.u1, "u8", "L.14", [0b01010000], [0, 1, 0, 1]), ("u2", ov.Type.u2, "u8", "L.15", [0b00101101], [1, 3, 2, 0]), ("f4e2m1", ov.Type.f4e2m1, "f16", "L.15", [0x42, 0x71], [1, 2, 0.5, 6]),
    ):
        def make(i, kind=kind, over=over, packed=packed):
            t = ov.Tensor(kind, [4])
            np.asarray(t.data).view(np.uint8)[:] = packed
            c = opset8.convert(ov.op.Constant(t, shared_memory=False), over)
            return opset8.convert(opset8.gather(c, i, opset8.constant(np.array(0, np.int64))), "f32")

        yield "wider-" + name, [rule], "openvino.Gather-8", Ir(make, [("i", i64(3, 1, 0, 2))]), np.array(values, np.float32)[[3, 1, 0, 2]]
    for dtype in (np.int32, np.uint8):
        yield "wide-indices-" + np.dtype(dtype).name, ["L.16"], "onnx.GatherND-13", Onnx([N("Cast", ["i"], ["j"], to=T.INT64), N("GatherND", ["d", "j"], ["y"])], [("d", table), ("i", np.array([[4], [0]], dtype), [2, 1])]), table[[4, 0]]
    words = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    yield "strings-along-last", ["L.17"], "onnx.Gather-13", Onnx([N("Transpose", ["d"], ["t"]), N("Gather", ["t", "i"], ["g"], axis=1), N("Transpose", ["g"], ["y"])], [("d", words), ("i", i64(1, 0))]), words[[1, 0]]
    yield "strings-as-numbers", ["L.17", "L.14"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("d", np.arange(6, dtype=np.int64).reshape(2, 3)), ("i", i64(1, 0))]), np.arange(6, dtype=np.int64).reshape(2, 3)[[1, 0]]
    yield "expand-for-empty-tuples", ["L.18"], "onnx.GatherND-13", Onnx([N("Expand", ["d", "s"], ["y"])], [("d", table)], {"s": i64(3, 5, 2)}), np.broadcast_to(table, (3, 5, 2))
    yield "expand-scalar", ["L.25"], "onnx.GatherND-13", Onnx([N("Expand", ["d", "s"], ["y"])], [("d", np.array(7, np.float32), [])], {"s": i64(4)}), np.full(4, 7, np.float32)
    yield "empty-with-dynamic-dims", ["L.19"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("d", f32(3, 4), [3, 4]), ("i", i64(), [None])]), f32(3, 4)[[]]
    branches = {b: helper.make_graph([N("Gather", ["d", "i"], [b], axis=a)], b, [], [helper.make_empty_tensor_value_info(b)]) for b, a in (("then", 0), ("else", 1))}
    for first in (True, False):
        yield "if-for-axis-" + ("0" if first else "1"), ["L.20"], "onnx.Gather-13", Onnx([N("If", ["c"], ["y"], then_branch=branches["then"], else_branch=branches["else"])], [("d", f32(3, 4)), ("i", i64(2, 0)), ("c", np.array(first), [])]), f32(3, 4).take([2, 0], 0 if first else 1)
    big, small = f32(3, 4), np.array([[0, 2], [1, 0]], np.int64)
    less = np.take_along_axis(big[:, :2], small, 0)
    yield "split-data", ["L.21"], "onnx.GatherElements-13", Onnx([N("Split", ["d", "parts"], ["a", "b"], axis=1), N("GatherElements", ["a", "i"], ["y"], axis=0)], [("d", big), ("i", small)], {"parts": i64(2, 2)}), less
    yield "gather-data", ["L.21"], "onnx.GatherElements-13", Onnx([N("Gather", ["d", "first"], ["a"], axis=1), N("GatherElements", ["a", "i"], ["y"], axis=0)], [("d", big), ("i", small)], {"first": i64(0, 1)}), less
    yield "table-beside", ["L.23"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("i", i64(4, 0))], {"d": table}, external=True), table[[4, 0]]
    counted = [N("Shape", ["ids"], ["s"]), N("Gather", ["s", "one"], ["n"]), N("Range", ["zero", "n", "one"], ["p"])]
    ids, eight = np.zeros((1, 9), np.int64), f32(8, 2)
    yield "clip-positions", ["L.27"], "onnx.Gather-13", Onnx(counted + [clip("p", "c", "zero", "seven"), N("Gather", ["t", "c"], ["y"])], [("ids", ids)], {"t": eight, "zero": np.array(0, np.int64), "one": np.array(1, np.int64), "seven": np.array(7, np.int64)}), eight[[0, 1, 2, 3, 4, 5, 6, 7, 7]]
    back, flip = f32(5, 2), [N("Shape", ["d"], ["s"]), N("Gather", ["s", "zero"], ["n"]), N("Add", ["n", "last"], ["a"]), N("Range", ["a", "last", "last"], ["p"])]
    ends = {"zero": np.array(0, np.int64), "last": np.array(-1, np.int64), "most": np.array(2**31 - 1, np.int64)}
    yield "clip-flipped", ["L.31"], "onnx.Gather-13", Onnx(flip + [clip("p", "c", "zero", "most"), N("Gather", ["d", "c"], ["y"])], [("d", back)], ends), back[::-1]
    yield "declared-rank-of-rows", ["L.28"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("d", table, [None, None]), ("i", i64(4, 0), [None])]), table[[4, 0]]
    yield "declared-rank-of-elements", ["L.28"], "onnx.GatherElements-13", Onnx([N("GatherElements", ["d", "i"], ["y"])], [("d", table, [None, None]), ("i", i64(4, 0).reshape(1, 2), [None, None])]), np.take_along_axis(table, i64(4, 0).reshape(1, 2), 0)
    yield "declared-rank", ["L.28"], "onnx.GatherND-13", Onnx([N("GatherND", ["d", "i"], ["y"])], [("d", table), ("i", i64(4, 0).reshape(2, 1), [None, 1])]), table[[4, 0]]
    lone, pair = f32(1, 2), i64(1, 0).reshape(1, 2)
    yield "no-batch-dim", ["L.29"], "onnx.Gather-13", Onnx(
        [N("Squeeze", ["d", "zero"], ["a"]), N("Squeeze", ["i", "zero"], ["b"]), N("Gather", ["a", "b"], ["g"]), N("Unsqueeze", ["g", "zero"], ["y"])], [("d", lone, [1, 2]), ("i", pair, [1, 2])], {"zero": i64(0)}), lone[:, [1, 0]]
    for b, op in ((7, opset7), (8, opset8)):
        def make(d, i, op=op):
            c = lambda v: op.constant(np.array(v, np.int64))
            return op.unsqueeze(op.gather(op.squeeze(d, c([0])), op.squeeze(i, c([0])), c(0)), c([0]))

        yield f"no-batch-dim-{b}", ["L.29"], f"openvino.Gather-{b}", Ir(make, [("d", lone), ("i", pair)]), lone[:, [1, 0]]


    for name, op in (("tflite-clamped", "tflite.GATHER"), ("tflite-tuples-clamped", "tflite.GATHER_ND")):
        yield name, ["L.30"], op, TFLite("lint-" + name), table[[0, 4, 3]]


def evidence():
    """The same of models that break a rule; what is wanted is the specification's answer."""
    ids, eight = np.zeros((1, 9), np.int64), f32(8, 2)
    counted = [N("Shape", ["ids"], ["s"]), N("Gather", ["s", "one"], ["n"]), N("Range", ["zero", "n", "one"], ["p"]), N("Gather", ["t", "p"], ["y"])]
    yield "positions-past-table", ["L.27"], "onnx.Gather-13", Onnx(counted, [("ids", ids)], {"t": eight, "zero": np.array(0, np.int64), "one": np.array(1, np.int64)}), np.concatenate([eight, np.zeros((1, 2), np.float32)])
    moved = counted[:3] + [N("Add", ["p", "one"], ["q"]), N("Gather", ["t", "q"], ["y"])]
    yield "moved-positions-past-table", ["L.27"], "onnx.Gather-13", Onnx(moved, [("ids", ids[:, :8])], {"t": eight, "zero": np.array(0, np.int64), "one": np.array(1, np.int64)}), np.concatenate([eight[1:], np.zeros((1, 2), np.float32)])
    back = f32(5, 2)
    ends = {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "last": np.array(-1, np.int64)}
    length = [N("Shape", ["d"], ["s"]), N("Gather", ["s", "zero"], ["n"])]
    flip = length + [N("Add", ["n", "last"], ["a"]), N("Range", ["a", "last", "last"], ["p"]), N("Gather", ["d", "p"], ["y"])]
    yield "flipped", ["L.31"], "onnx.Gather-13", Onnx(flip, [("d", back)], ends), back[::-1]
    behind = length + [N("Neg", ["n"], ["a"]), N("Range", ["a", "zero", "one"], ["p"]), N("Gather", ["d", "p"], ["y"])]
    yield "from-the-end", ["L.31"], "onnx.Gather-13", Onnx(behind, [("d", back)], ends), back
    far = i64(0, 5, 45, 1005, 20005)
    for dtype in (np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.uint8):
        v = np.arange(1, 6).astype(dtype)
        want = np.concatenate([v[:1], np.zeros(4, dtype)])
        yield "short-vector-past-end-" + np.dtype(dtype).name, ["L.2", "L.4"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("d", v), ("i", far)]), want
    v = np.arange(1, 66, dtype=np.int64)
    yield "vector-of-65-past-end", ["L.2", "L.4"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"])], [("d", v), ("i", far + 60 * (far > 0))]), np.concatenate([v[:1], np.zeros(4, np.int64)])
    short = np.arange(1, 6, dtype=np.int64)
    axis = lambda op: op.constant(np.array(0, np.int64))
    for b, op in ((1, opset1), (7, opset7), (8, opset8)):
        make = lambda d, i, op=op: op.gather(d, i, axis(op))
        yield f"short-vector-past-end-{b}", ["L.2", "L.4"], f"openvino.Gather-{b}", Ir(make, [("d", short), ("i", far)]), np.concatenate([short[:1], np.zeros(4, np.int64)])
        if b < 8:
            yield f"short-vector-negative-{b}", ["L.1"], f"openvino.Gather-{b}", Ir(make, [("d", short), ("i", i64(-1, -2, -3))]), np.zeros(3, np.int64)
    for b, op in ((1, opset1), (7, opset7), (8, opset8)):
        make = lambda d, i, op=op: op.gather(d, i, axis(op))
        for kind, d in (("", f32(5, 2)), ("-vector", short)):
            yield f"folded-past-end-{b}{kind}", ["L.2"], f"openvino.Gather-{b}", Folded(make, [("d", d), ("i", i64(0, 5, 1000))]), np.concatenate([d[:1], np.zeros_like(d[:2])])
            yield f"folded-negative-{b}{kind}", ["L.1"], f"openvino.Gather-{b}", Folded(make, [("d", d), ("i", i64(-1, -2, -3))]), d[[-1, -2, -3]]
    beyond = np.array([[0, 1], [5, 0], [2, 3]], np.int32)
    yield "elements-past-end", ["L.2", "L.4"], "openvino.GatherElements-6", Bags(lambda d, i: opset8.gather_elements(d, i, 0), [("d", f32(5, 2)), ("i", beyond)]), None
    for name, ds, is_, b in (("one", (1, 3), (4, 1), 1), ("trailing", (2, 1, 3), (2, 4, 1), 2), ("leading", (1, 2, 3), (4, 2, 1), 2), ("divisor", (2, 3), (4, 1), 1)):
        d, i = f32(*ds), np.arange(np.prod(is_), dtype=np.int64).reshape(is_) % 3
        want = None
        if name != "divisor":
            want = np.take_along_axis(np.broadcast_to(d, is_[:b] + ds[b:]), i, b)[..., 0]
        yield "batch-broadcast-" + name, ["L.6"], "onnx.GatherND-13", Onnx([N("GatherND", ["d", "i"], ["y"], batch_dims=b)], [("d", d, list(ds)), ("i", i, list(is_))]), want
    table, two = f32(3, 2), i64(0, 2).reshape(2, 1)
    for name, shape in (("rank", None), ("length", [None, None])):
        yield "tuples-of-unknown-" + name, ["L.28"], "onnx.GatherND-13", Onnx([N("GatherND", ["d", "i"], ["y"])], [("d", table, [3, 2]), ("i", two, shape)]), table[[0, 2]]
    none, most = np.array(0, np.int64), np.array(2, np.int64)
    for name, nodes, constants, rows in (
        ("cast", [N("Cast", ["i"], ["j"], to=T.INT64)], {}, [0, 2]),
        ("clip", [N("Clip", ["i", "none", "most"], ["j"])], {"none": none, "most": most}, [0, 2]),
        ("abs", [N("Abs", ["i"], ["j"])], {}, [0, 2]),
        ("sum", [N("Add", ["i", "none"], ["j"])], {"none": none}, [0, 2]),
        ("where", [N("Less", ["i", "none"], ["l"]), N("Add", ["i", "three"], ["p"]), N("Where", ["l", "p", "i"], ["j"])], {"none": none, "three": i64(3)}, [0, 2]),
        ("transposes", [N("Transpose", ["i"], ["t"]), N("Transpose", ["t"], ["j"], perm=[1, 0])], {}, [0, 2]),
        ("slice-of-rows", [N("Slice", ["i", "from", "to"], ["j"])], {"from": i64(0), "to": i64(1)}, [0]),
        ("slice", [N("Slice", ["i", "from", "to", "axes"], ["j"])], {"from": i64(0), "to": i64(1), "axes": i64(-1)}, [0, 2]),
        ("concat-of-rows", [N("Concat", ["i", "i"], ["j"], axis=0)], {}, [0, 2, 0, 2]),
        ("tile", [N("Tile", ["i", "twice"], ["j"])], {"twice": i64(2, 1)}, [0, 2, 0, 2]),
        ("split", [N("Split", ["i"], ["j", "k"], axis=0, num_outputs=2)], {}, [0]),
        ("rest", [N("Reshape", ["i", "shape"], ["j"])], {"shape": i64(0, -1)}, [0, 2]),
        ("gather", [N("Gather", ["i", "last"], ["j"])], {"last": i64(1)}, [2]),
        ("expand", [N("Expand", ["i", "ones"], ["j"])], {"ones": i64(1, 1)}, [0, 2]),
        ("pad", [N("Pad", ["i", "pads"], ["j"])], {"pads": i64(1, 0, 0, 0)}, [0, 0, 2]),
        ("known-expand", [N("Slice", ["i", "from", "to", "axes"], ["t"]), N("Concat", ["t", "row"], ["j"], axis=0)], {"from": i64(0), "to": i64(1), "axes": i64(1), "row": i64(1).reshape(1, 1)}, [0, 2, 1]),
        ("known-sum", [N("Concat", ["i", "row"], ["j"], axis=0)], {"row": i64(1).reshape(1, 1)}, [0, 2, 1]),
        ("known-reshape", [N("Reshape", ["i", "shape"], ["j"])], {"shape": i64(-1, 1)}, [0, 2]),
        ("known-unsqueeze", [N("Reshape", ["i", "flat"], ["t"]), N("Unsqueeze", ["t", "last"], ["j"])], {"flat": i64(-1), "last": i64(-1)}, [0, 2]),
    ):
        yield "tuples-behind-" + name, ["L.28"], "onnx.GatherND-13", Onnx(nodes + [N("GatherND", ["d", "j"], ["y"])], [("d", table, [3, 2]), ("i", two, [None, None])], constants), table[rows]
    tiled = [N("Tile", ["i", "s"], ["j"]), N("Gather", ["d", "j"], ["y"])]
    yield "unknown-rank-tiled", ["L.28"], "onnx.Gather-13", Onnx(tiled, [("d", table, [3, 2]), ("i", i64(2, 0), [2]), ("s", i64(1), [None])]), table[[2, 0]]
    five, pair = f32(5, 2), i64(4, 0)
    by_axis = {"1": opset1, "7": opset7, "8": opset8}
    for kind, op, make, i, want in (
        *((k, f"openvino.Gather-{k}", lambda d, i, o=o: o.gather(d, i, axis(o)), pair, five[pair]) for k, o in by_axis.items()),
        ("elements", "openvino.GatherElements-6", lambda d, i: opset6.gather_elements(d, i, 0), pair.reshape(1, 2), np.take_along_axis(five, pair.reshape(1, 2), 0)),
        *((f"tuples-{k}", f"openvino.GatherND-{k}", lambda d, i, o=o: o.gather_nd(d, i, 0), pair.reshape(2, 1), five[pair]) for k, o in ((5, opset5), (8, opset8))),
    ):
        yield f"unknown-rank-{kind}-data", ["L.28"], op, Ir(make, [("d", five, None), ("i", i)]), want
        yield f"unknown-rank-{kind}-indices", ["L.28"], op, Ir(make, [("d", five), ("i", i, None)]), want
    yield "unknown-rank-beside", ["L.28"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"]), N("Relu", ["x"], ["z"])], [("d", five), ("i", pair), ("x", five, None)]), five[pair]
    codes = np.arange(80, dtype=np.uint8).reshape(5, 16)
    blocks = [N("GatherBlockQuantized", ["d", "i", "s"], ["y"], domain="com.microsoft", bits=8, block_size=16, gather_axis=0, quantize_axis=1)]
    yield "unknown-rank-quantised", ["L.28"], "com.microsoft.GatherBlockQuantized-1", Onnx(blocks, [("i", pair, None)], {"d": codes, "s": f32(5, 1)}), (codes.astype(np.float32) - 128)[pair] * f32(5, 1)[pair]
    shaped = [N("Reshape", ["i", "s"], ["j"]), N("Gather", ["d", "j"], ["y"])]
    yield "unknown-rank-computed", ["L.28"], "onnx.Gather-13", Onnx(shaped, [("d", five), ("i", pair), ("s", i64(1, 2), [None])]), five[pair.reshape(1, 2)]
    one = np.zeros((1, 2), np.int64)
    for op in ("Squeeze", "Unsqueeze"):
        rows = f32(5, 2)[one[0]] if op == "Squeeze" else f32(5, 2)[one[None]]
        yield f"unknown-rank-{op.lower()}d", ["L.28"], "onnx.Gather-13", Onnx([N(op, ["i", "s"], ["j"]), N("Gather", ["d", "j"], ["y"])], [("d", f32(5, 2), [5, 2]), ("i", one, [1, 2]), ("s", i64(0), [1])]), rows
    none, gather = i64().reshape(0), [N("Gather", ["d", "i"], ["y"])]
    hollow, scalar = np.zeros((1, 0, 3), np.float32), np.array(0, np.int64)
    yield "nothing-by-scalar", ["L.19"], "onnx.Gather-13", Onnx(gather, [("d", hollow), ("i", scalar)]), hollow[0]
    yield "nothing-by-constant-scalar", ["L.19"], "onnx.Gather-13", Onnx(gather, [("d", hollow)], {"i": scalar}), hollow[0]
    yield "nothing-by-constant-row", ["L.19"], "onnx.Gather-13", Onnx(gather, [("d", np.zeros((2, 0, 3), np.float32))], {"i": i64(1)}), np.zeros((1, 0, 3), np.float32)
    yield "nothing-by-constant-rows", ["L.19"], "onnx.Gather-13", Onnx(gather, [("d", hollow)], {"i": i64(0, 0)}), np.zeros((2, 0, 3), np.float32)
    yield "nothing-of-the-only-row", ["L.19"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"], axis=1)], [("d", np.zeros((4, 1, 0), np.float32))], {"i": scalar}), np.zeros((4, 0), np.float32)
    yield "nothing-of-the-last-row", ["L.19"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"], axis=1)], [("d", np.zeros((4, 1, 0), np.float32))], {"i": np.array(-1, np.int64)}), np.zeros((4, 0), np.float32)
    yield "empty-indices", ["L.32"], "onnx.Gather-13", Onnx(gather, [("d", five)], {"i": none}), five[none]
    yield "empty-indices-cast", ["L.32"], "onnx.Gather-13", Onnx([N("Cast", ["i"], ["j"], to=T.INT64), N("Gather", ["d", "j"], ["y"])], [("d", five)], {"i": none.astype(np.int32)}), five[none]
    for name, nodes, constants in (
        ("abs", [N("Abs", ["i"], ["j"])], {}),
        ("casts-of-abs", [N("Cast", ["i"], ["p"], to=T.INT32), N("Abs", ["p"], ["q"]), N("Cast", ["q"], ["j"], to=T.INT64)], {}),
        ("sum", [N("Add", ["i", "one"], ["j"])], {"one": np.array(1, np.int64)}),
        ("sum-of-vector", [N("Add", ["i", "one"], ["j"])], {"one": i64(1)}),
        ("clip", [N("Clip", ["i", "zero", "one"], ["j"])], {"zero": np.array(0, np.int64), "one": np.array(1, np.int64)}),
        ("where", [N("Where", ["true", "i", "one"], ["j"])], {"true": np.array(True), "one": np.array(1, np.int64)}),
        ("transpose", [N("Transpose", ["i"], ["j"])], {}),
        ("concat", [N("Concat", ["i"], ["j"], axis=0)], {}),
        ("concat-of-two", [N("Concat", ["i", "i"], ["j"], axis=0)], {}),
        ("reshape", [N("Reshape", ["i", "flat"], ["j"])], {"flat": i64(-1)}),
        ("unsqueeze", [N("Unsqueeze", ["i", "first"], ["j"])], {"first": i64(0)}),
        ("tile", [N("Tile", ["i", "twice"], ["j"])], {"twice": i64(2)}),
        ("slice", [N("Slice", ["i", "from", "to"], ["j"])], {"from": i64(0), "to": i64(1)}),
        ("squeeze", [N("Squeeze", ["i"], ["j"])], {}),
        ("expand", [N("Expand", ["i", "ones"], ["j"])], {"ones": i64(1)}),
        ("expand-to-nothing", [N("Expand", ["i", "shape"], ["j"])], {"shape": i64(0)}),
        ("gather", [N("Gather", ["v", "i"], ["j"])], {"v": i64(1, 2)}),
        ("transpose-by-order", [N("Transpose", ["i"], ["j"], perm=[0])], {}),
        ("reshape-by-zero", [N("Reshape", ["i", "shape"], ["j"])], {"shape": i64(0, 3)}),
    ):
        want = five[none.reshape({"unsqueeze": (1, 0), "reshape-by-zero": (0, 3)}.get(name, 0))]
        yield "empty-indices-behind-" + name, ["L.32"], "onnx.Gather-13", Onnx(nodes + [N("Gather", ["d", "j"], ["y"])], [("d", five)], {"i": none, **constants}), want
    yield "empty-indices-of-columns", ["L.32"], "onnx.Gather-13", Onnx([N("Gather", ["d", "i"], ["y"], axis=1)], [("d", five)], {"i": none}), five[:, none]
    yield "empty-data", ["L.32"], "onnx.Gather-13", Onnx(gather, [("i", i64(1, 2))], {"d": np.zeros((3, 0), np.float32)}), np.zeros((2, 0), np.float32)
    tuples = [N("GatherND", ["d", "i"], ["y"])]
    yield "empty-tuples", ["L.32"], "onnx.GatherND-13", Onnx(tuples, [("d", five)], {"i": none.reshape(0, 1)}), five[none]
    yield "empty-data-of-tuples", ["L.32"], "onnx.GatherND-13", Onnx(tuples, [("i", i64(1).reshape(1, 1))], {"d": np.zeros((3, 0), np.float32)}), np.zeros((1, 0), np.float32)
    elements = [N("GatherElements", ["d", "i"], ["y"])]
    sums = lambda what: [N("Add", ["nothing", "some"], [what])]
    yield "empty-data-unsqueezed", ["L.32"], "onnx.Gather-13", Onnx([N("Unsqueeze", ["nothing", "first"], ["d"]), *gather], [("i", i64(0))], {"nothing": np.zeros(0, np.float32), "first": i64(0)}), np.zeros((1, 0), np.float32)
    yield "empty-data-of-tuples-in-sum", ["L.32"], "onnx.GatherND-13", Onnx(sums("d") + tuples, [("i", i64(0, 2).reshape(2, 1), [2, 1])], {"nothing": np.zeros((3, 0), np.float32), "some": f32(3, 1)}), np.zeros((2, 0), np.float32)
    yield "empty-tuples-in-sum", ["L.32"], "onnx.GatherND-13", Onnx(sums("i") + tuples, [("d", five)], {"nothing": none.reshape(0, 1), "some": i64(1).reshape(1, 1)}), five[none]
    yield "empty-elements-in-sum", ["L.32"], "onnx.GatherElements-13", Onnx(sums("i") + [N("GatherElements", ["d", "i"], ["y"])], [("d", five)], {"nothing": none.reshape(0, 2), "some": i64(1, 1).reshape(1, 2)}), np.zeros((0, 2), np.float32)
    yield "empty-elements", ["L.32"], "onnx.GatherElements-13", Onnx(elements, [("d", five)], {"i": none.reshape(0, 2)}), np.zeros((0, 2), np.float32)
    yield "empty-data-of-elements", ["L.32"], "onnx.GatherElements-13", Onnx(elements, [("i", none.reshape(2, 0))], {"d": np.zeros((3, 0), np.float32)}), np.zeros((2, 0), np.float32)
    d, i = f32(1, 1, 2), i64(1, 0).reshape(1, 2)
    for b, op in ((7, opset7), (8, opset8)):
        yield f"batch-of-one-between-{b}", ["L.29"], f"openvino.Gather-{b}", Ir(lambda d, i, op=op: op.gather(d, i, op.constant(np.array(2, np.int64)), 1), [("d", d), ("i", i)]), d[:, :, [1, 0]]
    for b, op in ((7, opset7), (8, opset8)):
        for name, ds, is_, n in (("vector", (1, 2), (1, 2), 1), ("rows", (1, 2, 3), (1, 2), 1), ("two", (1, 1, 3), (1, 1, 2), 2)):
            d, i = f32(*ds), np.arange(np.prod(is_), dtype=np.int64).reshape(is_) % ds[n]
            make = lambda d, i, op=op, n=n: op.gather(d, i, op.constant(np.array(n, np.int64)), n)
            yield f"batch-of-one-{name}-{b}", ["L.29"], f"openvino.Gather-{b}", Ir(make, [("d", d), ("i", i)]), d[(0,) * n][i[(0,) * n]].reshape(is_ + ds[n + 1:])
    for b, op in ((7, opset7), (8, opset8)):
        for name, ds, is_, n, fixed in (
            ("only-row", (1, 1, 3), (1,), 1, None), ("only-row-by-constant", (1, 1, 3), (1,), 1, 0), ("only-row-of-two", (1, 1, 1, 3), (1, 1), 2, 0),
            ("row-of-folded", (1, 3), (1, 2), 1, 1), ("row-of-rolled", (1, 3), (1, 2), 1, 1), ("row-of-sums", (1, 3), (1, 2), 1, 1), ("row-of-sums-of-integers", (1, 3), (1, 2), 1, 1), *([("only-row-from-end", (1, 1, 3), (1,), 1, -1)] if b == 8 else []),
        ):
            d, i = f32(*ds), np.full(is_, fixed or 0, np.int64)
            computed = {"row-of-folded": lambda d, op: op.add(d, op.constant(np.float32(0))), "row-of-rolled": lambda d, op: op.roll(d, op.constant(i64(3)), op.constant(i64(1)))}.get(name)
            if name.startswith("row-of-sums"):
                d = np.ones(ds, np.int64 if name.endswith("integers") else np.float32)
                computed = lambda d, op: op.cum_sum(d, op.constant(np.array(0, np.int64)))

            def make(*p, op=op, n=n, d=d, i=i, fixed=fixed, computed=computed):
                data = computed(op.constant(d), op) if computed else p[0]
                return op.gather(data, p[-1] if fixed is None else op.constant(i), op.constant(np.array(n, np.int64)), n)

            yield f"batch-of-one-{name}-{b}", ["L.29"], f"openvino.Gather-{b}", Ir(make, [] if computed else [("d", d), *([("i", i)] if fixed is None else [])]), d[(0,) * n][i[(0,) * n]].reshape(is_ + ds[n + 1:])
    for name, ds, is_, n, b, fixed in (
        ("empty-batch-of-nothing", (0, 2, 0), (0, 1), 1, 1, False), ("empty-batch-before-axis", (0, 0, 2), (0, 2), 2, 1, False), ("empty-batch-without-indices", (0, 2, 2), (0, 0), 1, 1, False),
        ("empty-batch", (0, 2), (0, 1), 1, 1, False), ("empty-batch-of-rows", (0, 2, 3), (0, 1), 1, 1, False), ("row-of-a-batch", (2, 1, 0), (2,), 1, 1, True), ("row-of-two-batches", (2, 1, 1, 0), (2, 1), 2, 2, True),
    ):
        d, i = np.zeros(ds, np.float32), np.zeros(is_, np.int64)
        make = lambda *p, n=n, b=b, i=i: opset8.gather(p[0], opset8.constant(i) if len(p) < 2 else p[1], opset8.constant(np.array(n, np.int64)), b)
        yield "nothing-of-" + name, ["L.19"], "openvino.Gather-8", Ir(make, [("d", d), *([] if fixed else [("i", i)])]), np.zeros(ds[:n] + is_[b:] + ds[n + 1:], np.float32)
    yield "nothing-of-constant", ["L.19"], "onnx.Gather-13", Onnx(gather, [("i", i64())], {"d": five}), np.zeros((0, 2), np.float32)  # right, if OpenVINO reads a file by its path
    yield "nothing-by-empty-tuples", ["L.18"], "openvino.GatherND-8", Ir(lambda d, i: opset8.gather_nd(d, i, 0), [("d", five), ("i", i64().reshape(0, 0))]), np.zeros((0, 5, 2), np.float32)
    tuples = [N("GatherND", ["d", "i"], ["y"], batch_dims=-1)]
    for b in (12, 13):
        yield f"negative-batch-dims-{b}", ["L.24"], f"onnx.GatherND-{b}", Onnx(tuples, [("d", f32(3), [3]), ("i", i64(), [0])], opset=b), None
    seven, empty = np.array(7, np.float32), i64().reshape(4, 0)
    for b in (11, 12, 13):
        yield f"scalar-by-empty-tuples-{b}", ["L.25"], f"onnx.GatherND-{b}", Onnx([N("GatherND", ["d", "i"], ["y"])], [("d", seven, []), ("i", empty, [4, 0])], opset=b), None
    yield "scalar-by-empty-tuples-microsoft", ["L.25"], "com.microsoft.GatherND-1", Onnx([N("GatherND", ["d", "i"], ["y"], domain="com.microsoft")], [("d", seven, []), ("i", empty, [4, 0])]), None
    vast = i64(2**31, 2**31 + 5, -2**31 - 1, -2**32 + 7)
    for name, low, nodes in (("clip", 0, [N("Clip", ["i", "low", "four"], ["c"])]), ("clip-from-end", -5, [N("Clip", ["i", "low", "four"], ["c"])]), ("max-min", 0, [N("Max", ["i", "low"], ["a"]), N("Min", ["a", "four"], ["c"])])):
        yield "vast-" + name, ["L.4"], "onnx.Gather-13", Onnx(nodes + [N("Gather", ["d", "c"], ["y"])], [("d", f32(5, 2)), ("i", vast)], {"low": np.array(low, np.int64), "four": np.array(4, np.int64)}), f32(5, 2)[np.clip(vast, low, 4)]
    big, small = f32(3, 4), np.array([[0, 2], [1, 0]], np.int64)
    yield "smaller-elements", ["L.21"], "onnx.GatherElements-13", Onnx([N("GatherElements", ["d", "i"], ["y"])], [("d", big), ("i", small)]), np.take_along_axis(big[:, :2], small, 0)
    yield "sliced-elements", ["L.21"], "onnx.GatherElements-13", Onnx([N("Slice", ["d", "from", "to", "axes"], ["a"]), N("GatherElements", ["a", "i"], ["y"])], [("d", big), ("i", small)], {"from": i64(0), "to": i64(2), "axes": i64(1)}), np.take_along_axis(big[:, :2], small, 0)
    for name in ("offsets-3", "offsets-15", "packed-3", "packed-15", "segments-3"):
        yield "bag-past-end-" + name, ["L.2", "L.3"], *bag(name, at=(0, 5, 1)), None
        yield "bag-negative-" + name, ["L.1"], *bag(name, at=(0, -1, 1)), None
        if not name.startswith("packed"):
            for which, default in (("past-end", 5), ("below", -2), *([("none", -1)] if name == "segments-3" else [])):
                yield f"bag-default-{which}-{name}", ["L.34"], *bag(name, offsets=(0, 2, 2), default=default), None
        if name.startswith("offsets"):
            for which, offsets in (("fall", (0, 2, 1)), ("below", (-1, 1)), ("past-end", (0, 4))):
                yield f"bag-ends-{which}-{name}", ["L.33"], *bag(name, offsets=offsets), None
    for which, segments, want in (("fall", (1, 0, 2), [1, 0, 2]), ("below", (-1, 0, 1), [1, 2, None]), ("past-end", (0, 1, 3), [0, 1, None])):
        yield f"bag-ends-{which}-segments-3", ["L.33"], *bag("segments-3", segments=segments, default=4), f32(5, 2)[[4 if n is None else n for n in want]]
    yield "bag-default-unused-segments-3", ["L.34"], *bag("segments-3", segments=(0, 1, 2), default=7), f32(3, 2)
    flat, columns = np.arange(1, 41, dtype=np.uint8).reshape(5, 8), np.arange(1, 9)
    for name, scale, zero in (
        ("matrix", columns.reshape(1, 8), None), ("vector", columns, None), ("zero", np.ones((5, 1)), columns.reshape(1, 8)), ("row", columns[:5].reshape(5, 1), None),
        ("group", columns[:2].reshape(1, 2, 1), None), ("zero-group", np.ones((5, 2, 1)), columns[:2].reshape(1, 2, 1)), ("row-group", np.arange(10).reshape(5, 2, 1), None),
    ):
        yield compressed(name, flat.reshape(5, 2, 4) if name.endswith("group") else flat, scale, zero)
    five = f32(5, 2)
    for name, op in (("tflite", "tflite.GATHER"), ("tflite-tuples", "tflite.GATHER_ND")):
        yield name + "-negative", ["L.1", "L.30"], op, TFLite(f"lint-{name}-negative"), five[[0, 4, 4]]
        yield name + "-past-end", ["L.2", "L.30"], op, TFLite(f"lint-{name}-past-end"), np.concatenate([five[:1], np.zeros((2, 2), np.float32)])
    for name in ("data", "indices", "neither"):
        yield "unknown-rank-of-" + name, ["L.8"], "tensorflow.gather_nd", TFLite("lint-unknown-rank-of-" + name), np.array([2, 3], np.float32)


def laws():
    """What ONNX Runtime answers to operators that lint bounds and garner does not run: laws.jsonl, one node a line."""
    r = np.random.default_rng(1)
    integers = lambda *shape: r.integers(-9, 10, shape)
    floats = lambda *shape: (r.integers(-40, 41, shape) / 8).astype(np.float32)
    for turn in range(6):
        n = 2 + turn % 3
        x, f, axis = integers(n, 3), floats(n, 3), turn % 2
        u = r.integers(0, 200, (n, 3)).astype(np.uint8)
        flag = (x > 0)
        yield from [
            ("ReduceSum", [x, i64(axis)], {"keepdims": turn % 2}), ("ReduceSum", [f], {}), ("ReduceMax", [x, i64(axis)], {}), ("ReduceMin", [f], {}),
            ("ReduceMean", [x, i64(axis)], {}), ("ReduceMean", [f, i64(axis)], {}), ("CumSum", [x, np.array(axis, np.int64)], {"exclusive": turn % 2, "reverse": turn % 3 // 2}),
            ("Abs", [x], {}), ("Abs", [f], {}), ("Sign", [x], {}), ("Relu", [f], {}), ("Floor", [f], {}), ("Ceil", [f], {}), ("Round", [f], {}), ("Sum", [f, floats(3), floats(n, 1)], {}),
            ("ArgMax", [f], {"axis": axis, "keepdims": turn % 2}), ("ArgMin", [f], {"axis": axis - 2}), ("TopK", [f, i64(2)], {"axis": axis}), ("NonZero", [x], {}), ("NonZero", [flag], {}),
            ("Pad", [x, i64(1, 0, 0, 2)], {}), ("Pad", [x, i64(1, 0, 0, 2), np.array(17, np.int64)], {}), ("Pad", [x, i64(1, 0, 0, 1)], {"mode": "reflect"}),
            ("OneHot", [x % 4, np.array(4, np.int64), i64(-3, 8)], {"axis": -1}), ("Trilu", [x + 20], {"upper": turn % 2}), ("Tile", [x, i64(2, 1)], {}),
            ("ScatterElements", [x, np.zeros((1, 3), np.int64), integers(1, 3) + 30], {"axis": 0}), ("ScatterND", [x, np.zeros((1, 1), np.int64), integers(1, 3) - 30], {}),
            ("Compress", [x, np.array([True, False, True])], {"axis": 1}), ("Split", [x, i64(1, 2)], {"axis": 1}), ("BitwiseAnd", [u, u[::-1].copy()], {}),
            ("BitwiseOr", [u, u[::-1].copy()], {}), ("BitwiseXor", [u, u[::-1].copy()], {}), ("BitwiseAnd", [x, x[::-1].copy()], {}), ("Mean", [f, floats(n, 3)], {}),
            ("ReverseSequence", [x, np.full(3, n, np.int64)], {}), ("DepthToSpace", [floats(1, 4, 1, 2)], {"blocksize": 2}), ("Tanh", [f], {}), ("Sigmoid", [f], {}), ("Softmax", [f], {}),
            ("ReduceProd", [x, i64(axis)], {}), ("Max", [f, floats(3)], {}), ("Min", [f, floats(n, 1), floats(3)], {}), ("Clip", [f, np.array(-1.5, np.float32), np.array(2, np.float32)], {}),
            ("NonMaxSuppression", [r.random((1, 6, 4)).astype(np.float32), r.random((1, 2, 6)).astype(np.float32), i64(4), np.array([0.5], np.float32)], {}),
            *((op, [integers(0, 3).astype(to), i64(0)], {"keepdims": turn % 2}) for op in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd") for to in (np.int32, np.float32)[: 2 if op in ("ReduceSum", "ReduceProd") else 1]),
            ("Cast", [f], {"to": T.INT64}), ("Cast", [x], {"to": T.FLOAT16}), ("Identity", [x], {}), ("ArrayFeatureExtractor", [f, i64(2, 0)], {}),
        ]


def record_laws():
    with open("laws.jsonl", "w") as to:
        for op, inputs, attributes in laws():
            domain = "ai.onnx.ml" if op == "ArrayFeatureExtractor" else ""
            outputs = ["y", "z"] if op in ("TopK", "Split") else ["y"]
            names = [f"i{k}" for k in range(len(inputs))]
            graph = helper.make_graph(
                [N(op, names, outputs, domain=domain, **attributes)], "g", [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in zip(names, inputs)],
                [helper.make_empty_tensor_value_info(o) for o in outputs])
            m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=10)
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            answers = onnxruntime.InferenceSession(m.SerializeToString(), options).run(None, dict(zip(names, inputs)))
            to.write(json.dumps({"op": op, "domain": domain, "attributes": attributes, "inputs": [tensor(v) for v in inputs], "outputs": [tensor(v) for v in answers]}) + "\n")


def quantised():
    """A model of operators that lint does not judge, for the tests of the command."""
    table = {"q": np.arange(128, dtype=np.uint8).reshape(8, 16), "s": np.ones((8, 2), np.float32), "x": f32(3, 8), "w": np.arange(16, dtype=np.int8).reshape(8, 2), "half": np.array(0.5, np.float32)}
    nodes = [
        N("GatherBlockQuantized", ["q", "i", "s"], ["a"], name="blocks", domain="com.microsoft", block_size=16),
        N("GatherBlockQuantized", ["q", "i", "s"], ["b"], name="again", domain="com.microsoft", block_size=16),
        N("ArrayFeatureExtractor", ["x", "i"], ["c"], name="features", domain="ai.onnx.ml"),
        N("DequantizeLinear", ["w", "half"], ["d"], name="dq"),
        N("Gather", ["d", "i"], ["e"], name="rows"),
    ]
    inputs = [helper.make_tensor_value_info("i", T.INT64, ["k"])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(n) for n in "abce"], [numpy_helper.from_array(v, n) for n, v in table.items()])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("ai.onnx.ml", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), "quantised.onnx")


def cases():
    return itertools.chain(((c, True) for c in remedies()), ((c, False) for c in evidence()))


def record_some(names):
    """Records cases by their names, in the places that they have in recorded.jsonl, or at its end."""
    with open("recorded.jsonl") as f:
        lines = {json.loads(line)["name"]: line for line in f}
    for case, remedy in cases():
        if "lint-" + case[0] in names:
            made = io.StringIO()
            record(made, "lint-" + case[0], *case[1:], remedy)
            lines["lint-" + case[0]] = made.getvalue()
    with open("recorded.jsonl", "w") as f:
        f.writelines(lines.values())


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:]:
        record_some(sys.argv[1:])
    else:
        quantised()
        record_laws()
        with open("recorded.jsonl", "w") as to:
            for case, remedy in cases():
                record(to, "lint-" + case[0], *case[1:], remedy)
