"""Holds what garner infers of LiteRT models against the Interpreter: each tensor's shape in its details, and in a run.

    go build -o values ./internal/shapes/testdata/values
    python beside_litert.py ./values [--made] MODEL...

tensorflow 2.21. garner reads a copy in which the results of operators have open dims, so that it infers. Tensors are matched by their names, where one has it. shape_signature has -1 for open dims; a run has
none. --made also converts functions of TensorFlow whose inputs have open dims, and runs each with several feeds.
It ends with 1 where a value of a run is none that garner's Spec allows.
"""
import argparse
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import flatbuffers
import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

from beside_tensorflow import NAMES, Count, judge, values

SIZES = [dict(n=2, m=3), dict(n=4, m=1), dict(n=1, m=5), dict(n=6, m=2)]


def interpreter(path):
    return tf.lite.Interpreter(model_path=path, experimental_preserve_all_tensors=True,
                               experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)


def bare(path, folder):
    """A copy of a model whose operators say no dim of their results, but the ranks."""
    with open(path, "rb") as f:
        m = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(f.read(), 0))
    for g in m.subgraphs:
        for o in g.operators:
            for t in o.outputs:
                if len(g.tensors[t].shape) and not g.tensors[t].isVariable:
                    g.tensors[t].shapeSignature = [-1] * len(g.tensors[t].shape)
    b = flatbuffers.Builder(1 << 16)
    b.Finish(m.Pack(b), b"TFL3")
    to = os.path.join(folder, "bare.tflite")
    with open(to, "wb") as f:
        f.write(b.Output())
    return to


def once(list_, key):
    found = {}
    for x in list_:
        found.setdefault(x[key], []).append(x)
    return {k: v[0] for k, v in found.items() if len(v) == 1}


def compare(tool, path, feeds=None, show=False):
    try:
        i = interpreter(path)
        i.allocate_tensors()
    except Exception as e:
        print(f"{path}: the Interpreter refuses it: {str(e)[:150]}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        ours = once([v for v in values(tool, bare(path, folder)) if v["op"] and not v["inner"]], "name")
    static, near, false = Count(), Count(), 0
    details = once([d for d in i.get_tensor_details() if d["name"]], "name")
    for name, v in ours.items():
        if name not in details:
            continue
        d = details[name]
        dims = [None if s < 0 else int(s) for s in d["shape_signature"]]
        kind = judge(v, NAMES.get(np.dtype(d["dtype"]).name, "string" if d["dtype"] in (np.bytes_, np.object_) else ""), dims)
        static[kind] += 1
        near[kind] += v["near"]
        if kind == "contradicts" or kind == "less" and (show or v["near"]):
            print("  ", kind, v["op"], name, dims, "garner", v["dtype"], v["rank"], v["dims"])
    runs, seen = 0, 0
    for feed in feeds or [None]:
        try:
            for d in i.get_input_details():
                shape = [int(s) for s in d["shape"]]
                x = feed[d["name"]] if feed else np.zeros(shape, d["dtype"])
                if feed:
                    i.resize_tensor_input(d["index"], x.shape)
                x = x.astype(d["dtype"])
                if feed is None or True:
                    i.allocate_tensors()
                i.set_tensor(d["index"], x)
            for d in i.get_input_details():
                if feed:
                    i.set_tensor(d["index"], feed[d["name"]].astype(d["dtype"]))
            i.invoke()
        except Exception as e:
            print("  no run:", str(e)[:150])
            continue
        runs += 1
        for name, v in ours.items():
            if name not in details:
                continue
            try:
                x = i.get_tensor(details[name]["index"])
            except ValueError:
                continue
            seen += 1
            if judge(v, "", list(np.shape(x))) == "contradicts":
                false += 1
                print("   FALSE", v["op"], name, np.shape(x), "garner", v["rank"], v["dims"])
    print(f"{os.path.basename(path)}: {len(ours)} values of nodes beside the details: {static.text()}; of gathers: {near.text()}; {seen} values in {runs} runs, {false} false")
    return static["contradicts"] + false if feeds else false


F = lambda *d: tf.TensorSpec(d, tf.float32)
I = lambda *d: tf.TensorSpec(d, tf.int32)

MADE = {
    "gather": ([F(None, 3), I(None)], lambda x, i: tf.gather(x * 2.0, i % tf.shape(x)[0])),
    "rows": ([F(None, 3), I(None)], lambda x, i: tf.gather(tf.reshape(x, [tf.shape(x)[0] * 3]), tf.reshape(i % 3, [-1, 1]))),
    "nd": ([F(None, 3), I(None)], lambda x, i: tf.gather_nd(x, tf.stack([i % tf.shape(x)[0], i % 3], -1))),
    "where": ([F(None, 3)], lambda x: tf.gather_nd(x, tf.where(x > 0.0))),
    "top": ([F(None, 3)], lambda x: tf.gather(x, tf.math.top_k(tf.reduce_sum(x, 1), k=1).indices)),
    "range": ([F(None, 3)], lambda x: tf.gather(x, tf.range(tf.shape(x)[0] - 1, -1, -1))),
    "slices": ([F(None, 3)], lambda x: (x[:, 1:], x[::2], x[0], x[..., tf.newaxis], x[-1:], tf.slice(x, [0, 1], [-1, 2]))),
    "packs": ([F(None, 3), F(None, 3)], lambda x, y: (tf.concat([x, x], 0), tf.stack([x, x], 1), tf.unstack(x, axis=1), tf.split(x, 3, 1), tf.expand_dims(x, 1), tf.transpose(y), tf.tile(y, [2, 1]))),
    "made": ([F(None, 3)], lambda x: (tf.fill([tf.shape(x)[0], 2], 1.0), tf.zeros_like(x), tf.broadcast_to(x[:, :1], tf.shape(x)), tf.shape(x), tf.rank(x), tf.one_hot(tf.argmax(x, 1), 4))),
    "reduce": ([F(None, 3)], lambda x: (tf.reduce_sum(x, 0), tf.reduce_max(x, 1, keepdims=True), tf.reduce_mean(x), tf.argmax(x, 0), tf.cumsum(x, 1), tf.reduce_any(x > 0.0, 1))),
    "select": ([F(None, 3)], lambda x: (tf.where(x > 0.0, x, -x), tf.cast(x > 1.0, tf.int32), tf.maximum(x, 0.0), tf.abs(x))),
    "unique": ([I(None)], lambda i: tf.unique(i)),
    "matmul": ([F(None, 3), F(3, None)], lambda x, y: (tf.matmul(tf.expand_dims(x, 0), tf.expand_dims(y, 0)), tf.matmul(tf.expand_dims(x, 0), tf.expand_dims(x, 0), transpose_b=True), tf.pad(x, [[1, 2], [0, 1]]))),
    "branch": ([F(None, 3), I(None)], lambda x, i: tf.cond(i[0] > 0, lambda: x + 1.0, lambda: x[:1])),
    "loop": ([F(None, 3), I(None)], lambda x, i: tf.while_loop(lambda k, a, b: k < 3, lambda k, a, b: (k + 1, tf.concat([a, a], 0), b * 2.0), (0, x, x), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 3]), tf.TensorShape([None, 3])))),
}


def make(tool, show):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (specs, do) in MADE.items():
            f = tf.function(lambda *a: {f"r{k}": tf.identity(v) for k, v in enumerate(tf.nest.flatten(do(*a)))}, input_signature=specs)
            c = tf.lite.TFLiteConverter.from_concrete_functions([f.get_concrete_function()])
            path = os.path.join(folder, name + ".tflite")
            try:
                with open(path, "wb") as out:
                    out.write(c.convert())
            except Exception as e:
                print(name, "is not converted:", str(e)[:150])
                continue
            i = interpreter(path)
            rng = np.random.default_rng(1)
            feeds = []
            for env in SIZES:
                feed = {}
                for d, s in zip(sorted(i.get_input_details(), key=lambda d: d["name"]), sorted(f.get_concrete_function().inputs, key=lambda t: t.name)):
                    shape = [3 if k == 3 else env["n"] if at == 0 else env["m"] for at, k in enumerate(s.shape.as_list())]
                    feed[d["name"]] = rng.standard_normal(shape) if s.dtype == tf.float32 else rng.integers(0, 3, shape)
                feeds.append(feed)
            wrong += compare(tool, path, feeds, show)
    return wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("values")
    p.add_argument("--made", action="store_true")
    p.add_argument("--show", action="store_true")
    p.add_argument("models", nargs="*")
    a = p.parse_intermixed_args()
    wrong = sum(compare(a.values, m, None, a.show) for m in a.models)
    if a.made:
        wrong += make(a.values, a.show)
    print(wrong, "wrong")
    sys.exit(wrong > 0)


main()
