"""Records what ONNX Runtime and OpenVINO answer to small random graphs.

    record_operators.py OUT.jsonl.gz SEED COUNT

Each line of OUT is one graph: the model's file, its inputs, and the outputs or the error of
the runtime at its default settings. Made with ONNX Runtime 1.31.1 and OpenVINO 2026.4.1 on
x86-64 without bf16 and f16 arithmetic.
"""

import base64, gzip, json, os, sys, tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import openvino as ov
import openvino.opset15 as ops
from onnx import TensorProto as T, helper, numpy_helper

np.seterr(all="ignore")
TYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32,
         "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}
NAMES = {np.dtype(v): k for k, v in TYPES.items()}
FLOATS, WHOLE = ["f32", "f16", "f64"], ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


class Graph:
    """Random nodes over one runtime's operators, with numpy arrays as inputs."""

    def __init__(self, rng, onnx_):
        self.rng, self.onnx = rng, onnx_
        self.nodes, self.given, self.parameters, self.opset = [], {}, {}, 18

    def pick(self, *of):
        return of[self.rng.integers(len(of))]

    def shape(self, low=0, high=4):
        return tuple(int(d) for d in self.rng.choice([0, 1, 2, 3, 5, 17], p=[.04, .16, .25, .3, .2, .05], size=self.rng.integers(low, high)))

    def values(self, dtype, shape, edge=None):
        """Small whole numbers, or odd ones, or edges of the dtype."""
        t = TYPES[dtype]
        kind = edge or self.pick("small", "small", "odd", "edge")
        n = int(np.prod(shape, dtype=int))
        if dtype == "bool":
            v = self.rng.integers(0, 2, n)
        elif dtype in FLOATS:
            v = self.rng.integers(-6, 7, n).astype(float)
            if kind == "odd":
                v = self.rng.standard_normal(n) * 10 ** self.rng.uniform(-3, 3)
            if kind == "edge":
                at = self.rng.random(n) < .3
                v[at] = self.rng.choice([0., -0., np.inf, -np.inf, np.nan, 1e-40, 65504, 3e38, 1e-7, .5, -2.5], at.sum())
        else:
            i = np.iinfo(t)
            v = self.rng.integers(max(i.min, -6), 7, n)
            if kind == "odd":
                v = self.rng.integers(max(i.min, -2**40), min(i.max, 2**40), n)
            if kind == "edge":
                of = [i.min, i.max, 0, 1, i.max // 2, 3]
                v = np.array([of[k] for k in self.rng.integers(0, len(of), n)], dtype=t)
        return np.array(v).astype(t).reshape(shape)

    def input(self, a, constant=False):
        name = f"x{len(self.given)}"
        self.given[name] = (np.asarray(a), constant)
        return name

    def add(self, op, inputs, n=1, version=None, **attrs):
        outs = [f"y{len(self.nodes)}_{i}" for i in range(n)]
        self.nodes.append((op, inputs, outs, attrs))
        if version:
            self.opset = version
        return outs


def broadcastable(g, shape):
    s = [d if g.rng.random() < .7 else 1 for d in shape]
    return tuple(s[g.rng.integers(0, len(s) + 1):]) if g.rng.random() < .3 else tuple(s)


def axes_of(g, rank):
    a = [int(x) for x in g.rng.permutation(rank)[: g.rng.integers(0, rank + 1)]]
    return [x - rank if g.rng.random() < .3 else x for x in a]


def make(g):
    o, r = g.onnx, g.rng
    number = lambda *d: g.pick(*(d or FLOATS + WHOLE))
    kind = g.pick("binary", "binary", "minmax", "clip", "mod", "cumsum", "reduce", "reduce", "topk", "topk", "scatter", "split", "abs", "half", "half",
                  "nonzero", "arg", "trilu", "onehot", "compress", "eye", "isnan", "pad", "extremes", "prod")
    if not o and kind in ("arg", "trilu", "onehot", "compress", "eye", "nonzero"):
        kind = g.pick("topk", "scatter", "mod", "reduce", "cumsum")
    if kind in ("binary", "minmax"):
        s = g.shape(); d = number()
        a, b = g.values(d, s), g.values(d, broadcastable(g, s))
        if r.random() < .5: a, b = b, a
        op = g.pick("Min", "Max") if kind == "minmax" else g.pick("Add", "Sub", "Mul", "Div")
        if op == "Div" and not o and d in WHOLE:
            op = "Add"  # its processors disagree with its own reference, which the specification follows
        if op == "Div" and d in WHOLE: b = np.where(b == 0, TYPES[d](3), b)
        x, y = g.input(a, r.random() < .2), g.input(b, r.random() < .2)
        if o and kind == "minmax" and r.random() < .3:
            return g.add(op, [x, y, g.input(g.values(d, s))])
        return g.add(op, [x, y])
    if kind == "clip":
        d = number(); s = g.shape(); x = g.input(g.values(d, s))
        lo, hi = sorted(g.values(d, (2,), "small" if r.random() < .8 else "odd").tolist())
        if o:
            if r.random() < .2 and d in ("f32", "f16", "f64"):
                return g.add("Clip", [x], version=g.pick(6, 10), min=float(lo), max=float(hi))
            if r.random() < .1: lo, hi = hi, lo
            ins = [x] + ["" if r.random() < .2 else g.input(np.array(v, TYPES[d])) for v in (lo, hi)]
            return g.add("Clip", ins, version=g.pick(11, 12, 13, 18))
        return g.add("Clamp", [x], min=float(lo), max=float(hi) + .5 * r.integers(0, 2))
    if kind == "mod":
        d = number(); s = g.shape()
        a, b = g.values(d, s), g.values(d, broadcastable(g, s))
        if d in WHOLE:
            b = np.where(b == 0, TYPES[d](3), b)
            if not o: b = np.where(b == -1, TYPES[d](3), b)
            if o: b = np.where((b.astype(float) == -1), TYPES[d](2), b)
        x, y = g.input(a), g.input(b)
        return g.add("Mod", [x, y], version=g.pick(10, 13), fmod=int(d in FLOATS or r.random() < .5)) if o else g.add(g.pick("Mod", "FloorMod"), [x, y])
    if kind == "cumsum":
        d = number("f32", "f16", "f64", "i32", "i64"); s = g.shape(1)
        x = g.input(g.values(d, s)); axis = int(r.integers(-len(s), len(s)))
        e, rv = int(r.integers(0, 2)), int(r.integers(0, 2))
        return g.add("CumSum", [x, g.input(np.array(axis), True)], version=g.pick(11, 14), exclusive=e, reverse=rv)
    if kind in ("reduce", "extremes", "prod"):
        op = {"reduce": "ReduceSum", "prod": "ReduceProd"}.get(kind) or g.pick("ReduceMax", "ReduceMin")
        d = number("f32", "f16", "f64", "i32", "i64", "i8", "u8"); s = g.shape(0 if o else 1)
        if kind == "prod": s, d = (int(r.integers(1, 6)),), number("i32", "i64", "i32")
        if s == () and not o: s = (3,)
        x = g.input(g.values(d, s, "small" if kind == "prod" and r.random() < .7 else None)); keep = int(r.integers(0, 2)); axes = axes_of(g, len(s)) if kind != "prod" else [0]
        if not o:
            if not axes: axes = [0]
            return g.add(op, [x, g.input(np.array(axes, np.int64), True)], keep_dims=bool(keep))
        if op == "ReduceSum":
            if r.random() < .3:
                return g.add(op, [x], version=11, keepdims=keep, **({"axes": axes} if axes else {}))
            ins = [x] + ([g.input(np.array(axes, np.int64), r.random() < .5)] if r.random() < .8 else [])
            return g.add(op, ins, version=13, keepdims=keep, **({"noop_with_empty_axes": 1} if r.random() < .3 else {}))
        if r.random() < .3:
            return g.add(op, [x], version=13, keepdims=keep, **({"axes": axes} if axes else {}))
        ins = [x] + ([g.input(np.array(axes, np.int64), r.random() < .5)] if r.random() < .8 else [])
        return g.add(op, ins, version=18, keepdims=keep)
    if kind == "topk":
        d = number("f32", "f16", "f64", "i32", "i64", "i8", "u8"); s = g.shape(1)
        axis = int(r.integers(0, len(s)))
        if not o and s[axis] == 0: s = s[:axis] + (3,) + s[axis + 1:]
        k = int(r.integers(0 if o else 1, s[axis] + 1)); x = g.input(g.values(d, s))
        axis = axis - len(s) if r.random() < .3 else axis
        if not o:
            return g.add("TopK", [x, g.input(np.array(k), True)], 2, axis=axis, mode=g.pick("max", "min"), sort=g.pick("value", "value", "index"), stable=bool(r.integers(0, 2)), index=g.pick("i32", "i64"))
        v = g.pick(9, 10, 11, 11)
        if v == 9 and d in FLOATS and k:
            return g.add("TopK", [x], 2, version=9, axis=axis, k=k)
        if v == 10 and d in FLOATS:
            return g.add("TopK", [x, g.input(np.array([k]), True)], 2, version=10, axis=axis)
        return g.add("TopK", [x, g.input(np.array([k]))], 2, version=11, axis=axis, largest=int(r.integers(0, 2)), sorted=int(r.random() < .9))
    if kind == "scatter":
        d = number(*FLOATS, *WHOLE, *(["bool"] if o else [])); s = g.shape(1); axis = int(r.integers(0, len(s))); n = s[axis]
        si = tuple(int(r.integers(0 if i == axis or v == 0 else 1, (v if i != axis else 6) + 1)) for i, v in enumerate(s))
        if n == 0: si = si[:axis] + (0,) + si[axis + 1:]
        if not o and (0 in si or 0 in s): s, si, axis, n = (3, 4), (2, 4), 0, 3
        idx = r.integers(-n, n, si) if n else np.zeros(si, np.int64)
        if o and idx.size and r.random() < .05: idx.flat[0] = n
        x, i, u = g.input(g.values(d, s)), g.input(idx.astype(g.pick(np.int32, np.int64))), g.input(g.values(d, si))
        return g.add("ScatterElements", [x, i, u], version=g.pick(11, 13, 16, 18), axis=axis) if o else g.add("ScatterElementsUpdate", [x, i, u, g.input(np.array(axis), True)])
    if kind == "pad":
        d = number("f32", "i32", "f16") if not o else number("f32", "f64", "i32", "i64", "u8"); s = g.shape(1); n = len(s)
        p = [int(v) for v in r.integers(-1, 4, 2 * n)]; mode = g.pick("constant", "edge", "reflect"); x = g.input(g.values(d, s)); v = g.input(g.values(d, ()), not o)
        if not o:
            p = [max(v, 0) if mode == "constant" else min(max(v, 0), max(s[i % n] - 1, 0)) for i, v in enumerate(p)]
            return g.add("Pad", [x, g.input(np.array(p[:n]), True), g.input(np.array(p[n:]), True), v], mode=mode)
        if r.random() < .2 and d in ("f32", "f64"):
            return g.add("Pad", [x], version=2, pads=p, mode=mode, value=1.5)
        if r.random() < .3:
            axes = [int(v) for v in r.permutation(n)[: r.integers(1, n + 1)]]
            return g.add("Pad", [x, g.input(np.array(r.integers(-1, 4, 2 * len(axes)))), v, g.input(np.array(axes))], version=18, mode=mode)
        return g.add("Pad", [x, g.input(np.array(p))] + ([v] if r.random() < .7 else []), version=g.pick(11, 13, 18), mode=mode)
    if kind == "split":
        d = number(*(FLOATS + WHOLE if o else ("f32", "f16", "i32", "i8", "u8"))) # others lose bits wherever OpenVINO moves them
        s = g.shape(1); axis = int(r.integers(0, len(s))); n = int(r.integers(1, 4)); x = g.input(g.values(d, s))
        parts = r.multinomial(s[axis], np.ones(n) / n)
        at = axis - len(s) if r.random() < .3 else axis
        if not o:
            return g.add("VariadicSplit", [x, g.input(np.array(at), True), g.input(parts, True)], n)
        v = g.pick("even", "attr", "input", "num")
        if v == "even": return g.add("Split", [x], n, version=g.pick(2, 11, 13), axis=at)
        if v == "attr": return g.add("Split", [x], n, version=g.pick(2, 11), axis=at, split=[int(p) for p in parts])
        if v == "input": return g.add("Split", [x, g.input(parts, r.random() < .5)], n, version=g.pick(13, 18), axis=at)
        return g.add("Split", [x], n, version=18, axis=at, num_outputs=n)
    if kind == "abs":
        d = number(); return g.add(g.pick("Abs", "Sign"), [g.input(g.values(d, g.shape()))])
    if kind == "isnan":
        d = number(*FLOATS); return g.add("IsNaN", [g.input(g.values(d, g.shape(), "edge"))])
    if kind == "nonzero":
        d = number("f32", "f16", "i32", "i64", "u8", "bool"); return g.add("NonZero", [g.input(g.values(d, g.shape()))])
    if kind == "arg":
        d = number("f32", "f16", "f64", "i8", "i32", "i64", "u8"); s = g.shape(1)
        return g.add(g.pick("ArgMax", "ArgMin"), [g.input(g.values(d, s))], version=g.pick(12, 13), axis=int(r.integers(-len(s), len(s))), keepdims=int(r.integers(0, 2)), select_last_index=int(r.integers(0, 2)))
    if kind == "trilu":
        d = number("f32", "f64", "i64", "bool"); s = g.shape() + g.shape(2, 3)
        return g.add("Trilu", [g.input(g.values(d, s)), g.input(np.array(int(r.integers(-4, 5))))] if r.random() < .7 else [g.input(g.values(d, s))], upper=int(r.integers(0, 2)))
    if kind == "onehot":
        n = int(r.integers(1, 5)); s = g.shape(); d = number("f32", "i64")
        return g.add("OneHot", [g.input(r.integers(-n - 2, n + 2, s)), g.input(np.array(n)), g.input(g.values(d, (2,)))], axis=int(r.integers(-len(s) - 1, len(s) + 1)))
    if kind == "compress":
        d = number("f32", "i64", "u8", "bool"); s = g.shape(1); axis = g.pick(None, int(r.integers(-len(s), len(s))))
        n = int(np.prod(s)) if axis is None else s[axis]
        return g.add("Compress", [g.input(g.values(d, s)), g.input(r.integers(0, 2, int(r.integers(0, n + 1))).astype(bool))], **({} if axis is None else {"axis": axis}))
    if kind == "eye":
        return g.add("EyeLike", [g.input(g.values(number("f32", "i64"), g.shape(2, 3)))], k=int(r.integers(-3, 4)), **({"dtype": g.pick(T.FLOAT, T.INT64, T.DOUBLE)} if r.random() < .5 else {}))
    # Chains of f16: arithmetic, nodes that move elements, casts.
    s = g.shape(1); cur = g.input(g.values("f16", s, g.pick("small", "odd", "odd")), r.random() < .3)
    want, dtype = [], "f16"
    others = lambda: g.input(g.values(dtype, broadcastable(g, s), g.pick("small", "odd")), r.random() < .3)
    for _ in range(r.integers(2, 5)):
        op = g.pick("Add", "Mul", "Sub", "Div", "Neg", "Abs", "Min", "Transpose", "Reshape", "Gather", "Cast", "Less", "ReduceMax", "Concat", "CumSum", "Clip", "Identity")
        if op in ("Add", "Mul", "Sub", "Div", "Min"): cur = g.add(op, [cur, others()])[0]
        elif op in ("Neg", "Abs"): cur = g.add(op, [cur])[0]
        elif op == "Transpose": cur = g.add(op, [cur], perm=list(range(len(s))))[0]
        elif op == "Reshape": cur = g.add(op, [cur, g.input(np.array(s, np.int64), True)])[0] if 0 not in s else cur
        elif op == "Gather" and s[0]: cur = g.add(op, [cur, g.input(np.arange(s[0]), True)])[0]
        elif op == "Identity" and o: cur = g.add(op, [cur])[0]
        elif op == "Cast" and o and dtype == "f16": cur = g.add(op, [cur], to=T.FLOAT)[0]; dtype = "f32"
        elif op == "Less": want += g.add(op, [cur, others()])
        elif op == "Concat" and o: want += g.add(op, [cur, others()], axis=0) if 0 not in s else []
        elif op == "CumSum": cur = g.add(op, [cur, g.input(np.array(0), True)], exclusive=0, reverse=0)[0]
        elif op == "Clip" and o: cur = g.add(op, [cur, g.input(np.array(-2, TYPES[dtype])), g.input(np.array(3, TYPES[dtype]))])[0]
        if r.random() < .2 and cur.startswith("y"): want.append(cur)
    if not g.nodes: cur = g.add("Abs", [cur])[0]
    if cur.startswith("y"): want.append(cur)
    return list(dict.fromkeys(want)) or g.nodes[-1][2]


def array(a):
    a = np.asarray(a, order="C")
    return {"dtype": NAMES[a.dtype], "shape": list(a.shape), "hex": a.tobytes().hex()}


def run_onnx(g, want):
    inputs, initializers = [], []
    for name, (a, constant) in g.given.items():
        if constant:
            initializers.append(numpy_helper.from_array(a, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape))
    nodes = [helper.make_node(op, ins, outs, name=outs[0], **attrs) for op, ins, outs, attrs in g.nodes]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(w) for w in want], initializers)
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=9)
    try:
        inferred = onnx.shape_inference.infer_shapes(m)
        del m.graph.output[:]
        m.graph.output.extend(inferred.graph.output)
    except Exception:
        pass
    raw = m.SerializeToString()
    line = {"runtime": "onnx", "op": g.nodes[-1][0], "model": base64.b64encode(raw).decode()}
    o = ort.SessionOptions()
    o.log_severity_level, o.intra_op_num_threads = 4, 1
    try:
        s = ort.InferenceSession(raw, o, providers=["CPUExecutionProvider"])
        got = s.run(want, {n: a for n, (a, c) in g.given.items() if not c})
        line["want"] = {w: array(v) for w, v in zip(want, got)}
    except Exception as e:
        line["error"] = str(e)[:200]
    return line


core = ov.Core()
core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1})


def run_openvino(g, want):
    known, parameters = {}, []
    for name, (a, constant) in g.given.items():
        if constant:
            known[name] = ops.constant(a, name=name).output(0)
        else:
            p = ops.parameter(list(a.shape), ov.Type(a.dtype), name=name)
            p.output(0).set_names({name})
            parameters.append(p)
            known[name] = p.output(0)
    build = {
        "Add": ops.add, "Sub": ops.subtract, "Mul": ops.multiply, "Div": ops.divide, "Min": ops.minimum, "Max": ops.maximum,
        "Mod": ops.mod, "FloorMod": ops.floor_mod, "Abs": ops.absolute, "Sign": ops.sign, "Neg": ops.negative, "IsNaN": ops.is_nan, "Less": ops.less,
        "Pad": lambda x, b, e, v, mode: ops.pad(x, b, e, mode, v),
        "Clamp": lambda x, min, max: ops.clamp(x, min, max),
        "CumSum": lambda x, axis, exclusive, reverse: ops.cum_sum(x, axis, bool(exclusive), bool(reverse)),
        "ReduceSum": ops.reduce_sum, "ReduceMax": ops.reduce_max, "ReduceMin": ops.reduce_min, "ReduceProd": ops.reduce_prod,
        "TopK": lambda x, k, axis, mode, sort, stable, index: ops.topk(x, k, axis, mode, sort, index_element_type=index, stable=stable),
        "ScatterElementsUpdate": lambda *a: ops.scatter_elements_update(*a),
        "VariadicSplit": lambda x, a, l: ops.variadic_split(x, a, l),
        "Transpose": lambda x, perm: ops.transpose(x, ops.constant(np.array(perm, np.int64))),
        "Reshape": lambda x, s: ops.reshape(x, s, False),
        "Gather": lambda x, i: ops.gather(x, i, ops.constant(np.array(0))),
    }
    try:
        for op, ins, outs, attrs in g.nodes:
            node = build[op](*[known[i] for i in ins], **attrs)
            for out, value in zip(outs, node.outputs()):
                value.set_names({out})
                known[out] = value
        results = []
        for w in want:
            r = ops.result(known[w], name="r_" + w)
            results.append(r)
        m = ov.Model(results, parameters, "g")
    except Exception as e:
        return None
    with tempfile.TemporaryDirectory() as d:
        ov.serialize(m, d + "/m.xml", d + "/m.bin")
        line = {"runtime": "openvino", "op": g.nodes[-1][0], "model": base64.b64encode(open(d + "/m.xml", "rb").read()).decode(),
                "weights": base64.b64encode(open(d + "/m.bin", "rb").read()).decode()}
    try:
        c = core.compile_model(m, "CPU")
        q = c.create_infer_request()
        for i, p in enumerate(parameters):
            a = g.given[p.get_friendly_name()][0]
            t = ov.Tensor(ov.Type(a.dtype), ov.Shape(a.shape))
            t.data[...] = a
            q.set_input_tensor(i, t)
        q.infer()
        line["want"] = {w: array(np.array(q.get_output_tensor(i).data)) for i, w in enumerate(want)}
    except Exception as e:
        line["error"] = str(e)[-200:]
    return line


def main(out, seed, count):
    with gzip.open(out, "wt") as f:
        for i in range(int(count)):
            rng = np.random.default_rng([int(seed), i])
            g = Graph(rng, i % 2 == 0)
            want = make(g)
            line = run_onnx(g, want) if g.onnx else run_openvino(g, want)
            if line is None:
                continue
            line["seed"] = i
            line["inputs"] = {n: array(a) for n, (a, c) in g.given.items() if not c}
            f.write(json.dumps(line) + "\n")
            f.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
