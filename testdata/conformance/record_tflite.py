"""Records tflite.jsonl: what the TFLite Interpreter answers to EMBEDDING_LOOKUP.

    pip install tensorflow-cpu==2.21.0
    python record_tflite.py > tflite.jsonl

Models are made here, one operator each, by TensorFlow's own schema. Values come from a
fixed seed.
"""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import flatbuffers
import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as s

TYPES = {"f32": (s.TensorType.FLOAT32, np.float32), "f16": (s.TensorType.FLOAT16, np.float16), "f64": (s.TensorType.FLOAT64, np.float64),
         "i8": (s.TensorType.INT8, np.int8), "i16": (s.TensorType.INT16, np.int16), "i32": (s.TensorType.INT32, np.int32), "i64": (s.TensorType.INT64, np.int64),
         "u8": (s.TensorType.UINT8, np.uint8), "u16": (s.TensorType.UINT16, np.uint16), "u32": (s.TensorType.UINT32, np.uint32), "bool": (s.TensorType.BOOL, np.bool_),
         "i4": (s.TensorType.INT4, np.int8), "i2": (s.TensorType.INT2, np.int8)}
SOURCE = f"tf.lite {tf.__version__} CPU"
rng = np.random.default_rng(1)


def packed(values, bits):
    per, flat = 8 // bits, list(values.reshape(-1))
    flat += [0] * (-len(flat) % per)
    return bytes(sum((int(v) & (1 << bits) - 1) << bits * i for i, v in enumerate(flat[k:k + per])) for k in range(0, len(flat), per))


class Model:
    """A model of one subgraph."""

    def __init__(self):
        self.m, self.g = s.ModelT(), s.SubGraphT()
        self.m.version, self.m.buffers, self.m.operatorCodes, self.m.subgraphs = 3, [s.BufferT()], [], [self.g]
        self.g.tensors, self.g.inputs, self.g.outputs, self.g.operators, self.g.name = [], [], [], [], "main"

    def tensor(self, dtype, shape, values=None, scale=None):
        t = s.TensorT()
        t.type, t.shape, t.buffer, t.hasRank, t.name = TYPES[dtype][0], list(shape), 0, True, f"t{len(self.g.tensors)}"
        if values is not None:
            b = s.BufferT()
            raw = packed(values, int(dtype[1:])) if dtype in ("i4", "i2") else values.tobytes()
            b.data, t.buffer = np.frombuffer(raw, np.uint8), len(self.m.buffers)
            self.m.buffers.append(b)
        if scale is not None:
            q = s.QuantizationParametersT()
            q.scale, q.zeroPoint, q.quantizedDimension = scale.reshape(-1), np.zeros(scale.size, np.int64), 0
            t.quantization = q
        self.g.tensors.append(t)
        return len(self.g.tensors) - 1

    def run(self, code, inputs, given, output):
        c, o = s.OperatorCodeT(), s.OperatorT()
        c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), 4
        o.opcodeIndex, o.inputs, o.outputs = 0, inputs, [output]
        self.m.operatorCodes, self.g.operators, self.g.inputs, self.g.outputs = [c], [o], [i for i, _ in given], [output]
        b = flatbuffers.Builder(1024)
        b.Finish(self.m.Pack(b), b"TFL3")
        lite = tf.lite.Interpreter(model_content=bytes(b.Output()))
        lite.allocate_tensors()
        for i, v in given:
            lite.set_tensor(i, v)
        lite.invoke()
        return lite.get_tensor(output)


def values(a):
    if a.dtype == np.bool_:
        return a.reshape(-1).tolist()
    return [("-0" if v == 0 and np.signbit(v) else float(v) if np.isfinite(v) else "Infinity" if v > 0 else "-Infinity") if np.issubdtype(a.dtype, np.floating) else int(v) for v in a.reshape(-1)]


def line(name, op, attributes, inputs, answer, refused=None):
    out = {"name": name, "op": op, "attributes": attributes,
           "inputs": [{"name": n, "dtype": d, "shape": list(v.shape), "values": values(v)} for n, d, v in inputs]}
    if refused:
        out["error"] = refused
    else:
        out["outputs"] = [{"dtype": {"float32": "f32", "float16": "f16", "float64": "f64"}.get(str(answer.dtype), str(answer.dtype).replace("uint", "u").replace("int", "i")),
                           "shape": list(answer.shape), "values": values(answer)}]
    out["source"] = SOURCE
    print(json.dumps(out, separators=(",", ":")))


def table(dtype, shape):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype in ("i4", "i2"):
        half = 1 << int(dtype[1:]) - 1
        return rng.integers(-half, half, shape).astype(np.int8)
    if dtype[0] == "f":
        return rng.standard_normal(shape).astype(TYPES[dtype][1])
    info = np.iinfo(TYPES[dtype][1])
    return rng.integers(info.min, info.max, shape, dtype=TYPES[dtype][1], endpoint=True)


def lookup(name, dtype, shape, ids, scale=None):
    data, ids = table(dtype, shape), np.array(ids, np.int32)
    m = Model()
    i = m.tensor("i32", ids.shape)
    t = m.tensor(dtype, shape, data, scale)
    y = m.tensor("f32" if scale is not None else dtype, list(ids.shape) + list(shape[1:]))
    inputs = [("data", dtype, data), ("indices", "i32", ids)]
    if scale is not None:
        inputs.append(("scale", "f32", scale))
    answer, refused = None, None
    try:
        answer = m.run(s.BuiltinOperator.EMBEDDING_LOOKUP, [i, t], [(i, ids)], y)
    except (RuntimeError, ValueError) as e:
        text = str(e)
        refused = "index-out-of-range" if "out of bounds" in text else "rank" if "NumDimensions" in text else sys.exit(text)
    op = "tflite.EMBEDDING_LOOKUP" if scale is None else "tflite.hybrid-embedding-lookup"
    line(("tflite-lookup-" if scale is None else "tflite-hybrid-") + name, op, {}, inputs, answer, refused)


def main():
    for dtype in TYPES:
        if dtype not in ("i4", "i2"):
            lookup("rows-" + dtype, dtype, [5, 3], [4, 0, 0, 2])
    lookup("one", "f32", [1, 7], [0])
    lookup("none", "f32", [5, 3], [])
    lookup("cubes", "f32", [4, 2, 3], [3, 1])
    lookup("empty-rows", "f32", [4, 0], [3, 1])
    lookup("negative", "f32", [5, 3], [1, -1])
    lookup("past-end", "f32", [5, 3], [1, 5])
    lookup("vector", "f32", [5], [1])
    lookup("matrix-of-ids", "f32", [5, 3], [[1, 2]])
    one = lambda: (rng.standard_normal(()) * 0.1).astype(np.float32).reshape(())
    for dtype in ("i8", "i4", "i2"):
        lookup(f"{dtype}", dtype, [6, 8], [5, 0, 3], np.abs(one()))
        for k in range(3):
            lookup(f"rows-{dtype}-{k}", dtype, [6, 8, 2][:2 + k % 2], [5, 1, 1, 2], np.abs(rng.standard_normal([6] + [1] * (1 + k % 2)).astype(np.float32)))
        lookup(f"{dtype}-negative", dtype, [6, 8], [-1], np.abs(one()))
        lookup(f"{dtype}-past-end", dtype, [6, 8], [6], np.abs(one()))
    lookup("i4-odd", "i4", [4, 8], [3, 0, 1], np.abs(one()))
    lookup("tiny", "i8", [4, 3], [3, 0, 1], np.array(1e-40, np.float32))
    lookup("huge", "i8", [4, 3], [3, 0, 1], np.array(3e38, np.float32))


if __name__ == "__main__":
    main()
