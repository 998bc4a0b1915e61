"""Makes the .tflite models of this folder, what the TFLite Interpreter answers to random
inputs of them (NAME.inputs.npz, NAME.litert.npz), and in tflite/flatbuffer/testdata/schema.json what
TensorFlow's own reader of the schema finds in each.

    pip install tensorflow-cpu==2.21.0
    python make_tflite.py

Models whose name begins with lite_made are written operator by operator with TensorFlow's schema, for
no converter makes them; TensorFlow's converter makes the others.
"""

import hashlib
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import flatbuffers
import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as s

HERE = os.path.dirname(os.path.abspath(__file__))
O, T = s.BuiltinOperator, s.TensorType
rng = np.random.default_rng(7)


def convert(functions, half=False, quantised=False):
    """Converts functions by their signature keys, each with the specs of its inputs."""
    module = tf.Module()
    signatures = {key: tf.function(f, input_signature=specs) for key, (f, specs) in functions.items()}
    module.functions = list(signatures.values())
    with tempfile.TemporaryDirectory() as path:
        tf.saved_model.save(module, path, signatures=signatures)
        c = tf.lite.TFLiteConverter.from_saved_model(path, signature_keys=list(functions))
        if half or quantised:
            c.optimizations = [tf.lite.Optimize.DEFAULT]
        if half:
            c.target_spec.supported_types = [tf.float16]
        return bytes(c.convert())


def one(f, *specs, **options):
    return convert({"serving_default": (f, list(specs))}, **options)


def spec(shape, dtype, name):
    return tf.TensorSpec(shape, dtype, name)


class Made:
    """A model written operator by operator."""

    def __init__(self):
        self.m = s.ModelT()
        self.m.version, self.m.description, self.m.buffers, self.m.operatorCodes, self.m.subgraphs = 3, "made by hand", [s.BufferT()], [], []
        self.behind = []  # tensors' elements behind the flatbuffer
        self.g = self.subgraph("main")

    def subgraph(self, name):
        g = s.SubGraphT()
        g.tensors, g.inputs, g.outputs, g.operators, g.name = [], [], [], [], name
        self.m.subgraphs.append(g)
        return g

    def tensor(self, name, dtype, shape, raw=None, scale=None, zero=None, axis=0, behind=False):
        t = s.TensorT()
        t.name, t.type, t.shape, t.hasRank, t.buffer = name, dtype, list(shape), True, 0
        if raw is not None:
            b = s.BufferT()
            raw = raw if isinstance(raw, bytes) else raw.tobytes()
            if behind:
                b.offset, b.size = 2, len(raw)
                self.behind.append((len(self.m.buffers), raw))
            else:
                b.data = np.frombuffer(raw, np.uint8)
            t.buffer = len(self.m.buffers)
            self.m.buffers.append(b)
        if scale is not None:
            q = s.QuantizationParametersT()
            q.scale = np.array(scale, np.float32)
            q.zeroPoint = np.array([0] * len(scale) if zero is None else zero, np.int64)
            q.quantizedDimension = axis
            t.quantization = q
        self.g.tensors.append(t)
        return len(self.g.tensors) - 1

    def operator(self, code, inputs, outputs, kind=None, version=1, **options):
        c, o = s.OperatorCodeT(), s.OperatorT()
        c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), version
        o.opcodeIndex, o.inputs, o.outputs = len(self.m.operatorCodes), inputs, outputs
        self.m.operatorCodes.append(c)
        if kind:
            o.builtinOptionsType, o.builtinOptions = getattr(s.BuiltinOptions, kind), getattr(s, kind + "T")()
            for name, value in options.items():
                setattr(o.builtinOptions, name, value)
        self.g.operators.append(o)

    def packed(self):
        b = flatbuffers.Builder(1024)
        b.Finish(self.m.Pack(b), b"TFL3")
        return bytes(b.Output())

    def bytes(self):
        at = -(-len(self.packed()) // 64) * 64  # its length does not depend on the offsets
        offset = at
        for buffer, raw in self.behind:
            self.m.buffers[buffer].offset, self.m.buffers[buffer].size = offset, len(raw)
            offset += -(-len(raw) // 16) * 16
        out = bytearray(self.packed())
        for buffer, raw in self.behind:
            out += bytes(self.m.buffers[buffer].offset - len(out)) + raw
        return bytes(out)


def around():
    table = tf.constant(rng.standard_normal((8, 5)).astype(np.float32))
    cubes = tf.constant(rng.integers(-99, 99, (4, 3, 2)), tf.int64)

    def f(ids, pairs, rows, x):
        n = tf.shape(ids)[0]
        safe = tf.maximum(tf.minimum(ids, 7), 0)
        return {
            "rows_of_table": tf.gather(table, safe),
            "columns": tf.gather(table, tf.math.floormod(ids, 5), axis=1),
            "batched": tf.gather(rows, tf.reshape(tf.math.floormod(ids, 4), [3, 2]), axis=1, batch_dims=1),
            "tuples": tf.gather_nd(cubes, pairs),
            "stacked": tf.gather_nd(cubes, tf.stack([tf.math.floormod(ids, 4), tf.math.floordiv(safe, 3)], axis=-1)),
            "shifted": tf.gather(table, tf.where(ids < 0, ids + 8, ids)),
            "flat": tf.gather(tf.reshape(cubes, [-1]), tf.cast(tf.math.floormod(ids, 24), tf.int64)),
            "sliced": tf.gather(table[1:6:2, ::-1], tf.math.floormod(ids, 3)),
            "counted": tf.gather(rows, tf.range(2), axis=1),
            "turned": tf.transpose(tf.gather(tf.transpose(cubes, [2, 0, 1]), [1, 0, 1]), [1, 2, 0]),
            "joined": tf.concat([tf.gather(table, [0]), tf.expand_dims(tf.gather(table, 3), 0), tf.tile(tf.gather(table, [6]), [2, 1])], 0),
            "added": tf.gather(table, safe) + tf.gather(table, [1]) * x,
            "length": tf.stack([n, n * 2 - 1]),
            "halves": tf.split(tf.gather(rows, [2, 0], axis=2), 2, axis=2)[1],
            "compared": tf.logical_and(tf.gather(rows, [0], axis=1) > 0, tf.not_equal(tf.gather(rows, [1], axis=1), 0)),
        }

    model = one(f, spec([6], tf.int32, "ids"), spec([3, 2], tf.int32, "pairs"), spec([3, 4, 3], tf.float32, "rows"), spec([], tf.float32, "x"))
    return model, {"ids": np.array([0, 6, -7, 3, -1, 5], np.int32), "pairs": np.array([[3, 2], [0, 0], [1, 1]], np.int32),
                   "rows": rng.standard_normal((3, 4, 3)).astype(np.float32), "x": np.float32(1.7)}


def dynamic():
    table = tf.constant(rng.standard_normal((9, 3)).astype(np.float32))

    def f(ids):
        flat = tf.reshape(ids, [-1])
        return {"y": tf.reshape(tf.gather(table, flat), tf.concat([tf.shape(ids), [3]], 0)), "ends": tf.gather(flat, tf.stack([0, tf.shape(flat)[0] - 1]))}

    return one(f, spec([None, None], tf.int32, "ids")), {"ids": rng.integers(0, 9, (2, 5)).astype(np.int32)}


def half():
    table = tf.constant(rng.standard_normal((64, 24)).astype(np.float32))
    return one(lambda ids: {"y": tf.gather(table, ids)}, spec([4], tf.int32, "ids"), half=True), {"ids": np.array([63, 0, 7, 7], np.int32)}


def quantised():
    table = tf.constant(rng.standard_normal((64, 24)).astype(np.float32))
    return one(lambda ids: {"y": tf.gather(table, ids)}, spec([4], tf.int32, "ids"), quantised=True), {"ids": np.array([63, 0, 7, 7], np.int32)}


def signatures():
    table = tf.constant(rng.standard_normal((5, 2)).astype(np.float32))
    model = convert({"encode": (lambda ids: {"rows": tf.gather(table, ids)}, [spec([3], tf.int32, "ids")]),
                     "columns": (lambda at: {"out": tf.gather(table, at, axis=1)}, [spec([2], tf.int32, "at")])})
    return model, {"encode/ids": np.array([4, 0, 4], np.int32), "columns/at": np.array([1, 0], np.int32)}


def control():
    table = tf.constant(rng.standard_normal((6, 2)).astype(np.float32))

    def f(ids, turns):
        y = tf.cond(turns > 2, lambda: tf.gather(table, ids), lambda: tf.gather(table, ids[::-1]) * 2.0)
        i, z = tf.while_loop(lambda i, z: i < turns, lambda i, z: (i + 1, tf.gather(z, [1, 0])), (tf.constant(0), y))
        return {"y": z, "first": tf.gather(table, ids[:1])}

    return one(f, spec([2], tf.int32, "ids"), spec([], tf.int32, "turns")), {"ids": np.array([5, 1], np.int32), "turns": np.int32(3)}


def strings():
    words = tf.constant(["zero", "one", "", "drei", "vier é"])
    return one(lambda ids: {"y": tf.gather(words, ids)}, spec([3], tf.int32, "ids")), {"ids": np.array([4, 2, 0], np.int32)}


def made_lookups():
    m = Made()
    i32 = lambda *v: np.array(v, np.int32)
    ids = m.tensor("ids", T.INT32, [4])
    f32 = rng.standard_normal((5, 3)).astype(np.float32)
    codes = rng.integers(-128, 128, (5, 3)).astype(np.int8)
    table = m.tensor("table", T.FLOAT32, [5, 3], f32, behind=True)
    per_tensor = m.tensor("per_tensor", T.INT8, [5, 3], codes, [0.0371])
    per_row = m.tensor("per_row", T.INT8, [5, 3], codes, rng.random(5) + 0.01)
    nibbles = m.tensor("nibbles", T.INT4, [5, 3], rng.integers(0, 256, 8).astype(np.uint8).tobytes()[:7] + b"\x05", [0.5])
    with_zero = m.tensor("with_zero", T.INT8, [5, 3], codes, [0.021], [-7], behind=True)
    unsigned = m.tensor("unsigned", T.UINT8, [5, 3], codes.view(np.uint8), [0.021], [131])
    by_column = m.tensor("by_column", T.INT8, [5, 3], codes, rng.random(3) + 0.01, [0, 0, 0], 1)
    half = m.tensor("half", T.FLOAT16, [5, 3], f32.astype(np.float16), behind=True)
    bools = m.tensor("bools", T.BOOL, [5], np.array([1, 0, 0, 1, 1], np.bool_))
    none = m.tensor("none", T.FLOAT32, [5, 0])
    outputs = []

    def out(name, dtype, shape, **quantisation):
        outputs.append(m.tensor(name, dtype, shape, **quantisation))
        return outputs[-1]

    m.operator(O.EMBEDDING_LOOKUP, [ids, table], [out("looked_up", T.FLOAT32, [4, 3])])
    m.operator(O.EMBEDDING_LOOKUP, [ids, per_tensor], [out("hybrid", T.FLOAT32, [4, 3])], version=2)
    m.operator(O.EMBEDDING_LOOKUP, [ids, per_row], [out("hybrid_rows", T.FLOAT32, [4, 3])], version=3)
    m.operator(O.EMBEDDING_LOOKUP, [ids, nibbles], [out("hybrid_nibbles", T.FLOAT32, [4, 3])], version=4)
    m.operator(O.EMBEDDING_LOOKUP, [ids, per_tensor], [out("codes", T.INT8, [4, 3], scale=[0.0371])])
    m.operator(O.GATHER, [with_zero, ids], [out("gathered_codes", T.INT8, [4, 3], scale=[0.021], zero=[-7])], "GatherOptions", axis=0, batchDims=0)
    m.operator(O.DEQUANTIZE, [outputs[-1]], [out("behind", T.FLOAT32, [4, 3])], "DequantizeOptions")
    for name, of, version in (("unsigned", unsigned, 1), ("with_zero", with_zero, 2), ("by_column", by_column, 5), ("half", half, 3), ("nibbles", nibbles, 6)):
        wide = m.tensor(name + "_f32", T.FLOAT32, [5, 3])
        m.operator(O.DEQUANTIZE, [of], [wide], "DequantizeOptions", version=version)
        m.operator(O.GATHER, [wide, ids], [out("before_" + name, T.FLOAT32, [4, 3])], "GatherOptions", axis=0, batchDims=0)
    m.operator(O.GATHER, [bools, ids], [out("bools_gathered", T.BOOL, [4])], "GatherOptions", axis=-1, batchDims=0)
    m.operator(O.GATHER, [none, ids], [out("nothing", T.FLOAT32, [4, 0])], "GatherOptions", axis=0, batchDims=0)
    m.g.inputs, m.g.outputs = [ids], outputs
    return m.bytes(), {"ids": i32(4, 0, 0, 2)}


def made_sparse():
    m = Made()
    i32 = lambda *v: np.array(v, np.int32)
    ids, indices, shape, weights = (m.tensor("ids", T.INT32, [3]), m.tensor("indices", T.INT32, [3, 2]), m.tensor("shape", T.INT32, [2]), m.tensor("weights", T.FLOAT32, [3]))
    table = m.tensor("table", T.FLOAT32, [4, 2], np.arange(8, dtype=np.float32))
    y = m.tensor("y", T.FLOAT32, [0])
    m.operator(O.EMBEDDING_LOOKUP_SPARSE, [ids, indices, shape, weights, table], [y], "EmbeddingLookupSparseOptions", combiner=0)
    keys = m.tensor("keys", T.INT32, [4], i32(1, 3, 5, 7))
    found, hits = m.tensor("found", T.FLOAT32, [3, 2]), m.tensor("hits", T.UINT8, [3])
    m.operator(O.HASHTABLE_LOOKUP, [ids, keys, table], [found, hits])
    m.g.inputs, m.g.outputs = [ids, indices, shape, weights], [y, found, hits]
    return m.bytes(), None


NAMES = {v: k for k, v in vars(O).items() if not k.startswith("_")}
TYPES = {v: k for k, v in vars(T).items() if not k.startswith("_")}
TEXT = lambda b: b.decode() if b else ""


def dump(raw):
    """What TensorFlow's reader finds."""
    m = s.Model.GetRootAsModel(raw, 0)
    codes = [max(m.OperatorCodes(i).DeprecatedBuiltinCode(), m.OperatorCodes(i).BuiltinCode()) for i in range(m.OperatorCodesLength())]
    out = []
    for i in range(m.SubgraphsLength()):
        g = m.Subgraphs(i)
        tensors, operators = [], []
        for k in range(g.TensorsLength()):
            t = g.Tensors(k)
            q = t.Quantization()
            b = m.Buffers(t.Buffer())
            data = b"" if b.DataIsNone() else b.DataAsNumpy().tobytes()
            if b.Offset() > 1:
                data = raw[b.Offset():b.Offset() + b.Size()]
            signature = [] if t.ShapeSignatureIsNone() else t.ShapeSignatureAsNumpy().tolist()
            tensors.append({
                "name": TEXT(t.Name()), "type": TYPES[t.Type()], "shape": [] if t.ShapeIsNone() else t.ShapeAsNumpy().tolist(), "signature": signature,
                "scales": [] if q is None or q.ScaleIsNone() else [float(v) for v in q.ScaleAsNumpy()],
                "zeros": [] if q is None or q.ZeroPointIsNone() else q.ZeroPointAsNumpy().tolist(), "axis": 0 if q is None else q.QuantizedDimension(),
                "sha256": hashlib.sha256(data).hexdigest() if data else ""})
        for k in range(g.OperatorsLength()):
            o = g.Operators(k)
            d = {"op": NAMES[codes[o.OpcodeIndex()]], "inputs": o.InputsAsNumpy().tolist() if o.InputsLength() else [], "outputs": o.OutputsAsNumpy().tolist() if o.OutputsLength() else []}
            if d["op"] == "GATHER" and o.BuiltinOptionsType() == s.BuiltinOptions.GatherOptions:
                a = s.GatherOptions()
                a.Init(o.BuiltinOptions().Bytes, o.BuiltinOptions().Pos)
                d["axis"], d["batch_dims"] = a.Axis(), a.BatchDims()
            operators.append(d)
        out.append({"name": TEXT(g.Name()), "inputs": g.InputsAsNumpy().tolist() if g.InputsLength() else [], "outputs": g.OutputsAsNumpy().tolist() if g.OutputsLength() else [], "tensors": tensors, "operators": operators})
    return out


def answers(raw, inputs):
    lite = tf.lite.Interpreter(model_content=raw)
    out = {}
    listed = lite.get_signature_list()
    if not listed:
        for d in lite.get_input_details():
            lite.resize_tensor_input(d["index"], inputs[d["name"]].shape)
        lite.allocate_tensors()
        for d in lite.get_input_details():
            lite.set_tensor(d["index"], inputs[d["name"]])
        lite.invoke()
        return {d["name"]: lite.get_tensor(d["index"]) for d in lite.get_output_details()}
    for key, ends in listed.items():
        prefix = key + "/" if len(listed) > 1 else ""
        got = lite.get_signature_runner(key)(**{name: inputs[prefix + name] for name in ends["inputs"]})
        out.update({prefix + name: v for name, v in got.items()})
    return out


def main():
    found = {}
    for name, make in (("lite_around", around), ("lite_dynamic", dynamic), ("lite_half", half), ("lite_quantised", quantised), ("lite_signatures", signatures), ("lite_control", control),
                       ("lite_strings", strings), ("lite_made_lookups", made_lookups), ("lite_made_sparse", made_sparse)):
        raw, inputs = make()
        path = os.path.join(HERE, name)
        with open(path + ".tflite", "wb") as to:
            to.write(raw)
        found[name] = dump(raw)
        if inputs:
            np.savez(path + ".inputs.npz", **inputs)
            got = answers(raw, inputs)
            np.savez(path + ".litert.npz", **{k: np.array([w.decode() for w in v.reshape(-1)]).reshape(v.shape) if v.dtype == object else v for k, v in got.items()})
        print(name, len(raw))
    folder = os.path.join(HERE, "../../tflite/flatbuffer/testdata")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "schema.json"), "w") as to:
        json.dump(found, to, separators=(",", ":"))
        to.write("\n")


if __name__ == "__main__":
    main()
