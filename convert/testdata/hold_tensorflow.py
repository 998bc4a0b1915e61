"""Makes models of TensorFlow and LiteRT, and records what their runtimes answer to random feeds,
a fifth of which have bad indices. hold.py --recorded compares what garner makes of them.

    pip install tensorflow-cpu
    python hold_tensorflow.py FOLDER        1,000 feeds a model; FEEDS says otherwise
"""

import os
import pickle
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

FEEDS = int(os.environ.get("FEEDS", 1000))


def index(rng, shape, length, bad):
    a = rng.integers(0, max(length, 1), shape).astype(np.int32)
    if bad and a.size:
        a.reshape(-1)[rng.integers(a.size)] = rng.choice([-1, -length, -length - 1, length, length + 5, 2**31 - 1, -(2**31)])
    return a


def f32(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


S = tf.TensorSpec
table = np.random.default_rng(0).standard_normal((40, 6)).astype(np.float32)
large = np.random.default_rng(1).standard_normal((5000, 8)).astype(np.float32)


def around(x, ids):
    n = tf.shape(x)[0]
    rows = tf.gather(tf.transpose(tf.reshape(x, [n, 6])), ids, axis=1)
    half = ids // 2
    return {"rows": rows, "half": half, "rest": ids % 3, "row": tf.range(n), "cut": x[:, 1:, ::2], "last": x[:, -1], "new": x[:, tf.newaxis], "wide": tf.broadcast_to(tf.expand_dims(ids, 1), [4, 3]), "tile": tf.tile(ids, [2]),
            "pack": tf.stack([ids, half]), "join": tf.concat([ids, half], 0), "zero": tf.zeros_like(ids), "fill": tf.fill([2, 3], 7.0), "pick": tf.where(ids > half, ids, half), "float": tf.cast(ids, tf.float32),
            "low": tf.minimum(ids, 3), "ne": tf.not_equal(ids, half), "sum": tf.add(ids, half), "some": tf.logical_and(ids > 1, ids < 3), "squeeze": tf.squeeze(tf.expand_dims(ids, 0), [0]), "part": tf.slice(x, [0, 1, 0], [-1, 1, 2])}


# name: function, specs of its inputs, feed(rng, bad)
MODELS = {
    "gather": (lambda x, i: tf.gather(x, i), [S([None, 4], tf.float32), S([2, 3], tf.int32)], lambda r, b: (lambda x: [x, index(r, (2, 3), len(x), b)])(f32(r, r.integers(1, 7), 4))),
    "gather-static": (lambda x, i: tf.gather(x, i), [S([7, 4], tf.float32), S([2, 3], tf.int32)], lambda r, b: [f32(r, 7, 4), index(r, (2, 3), 7, b)]),
    "gather-axis1": (lambda x, i: tf.gather(x, i, axis=1), [S([2, None, 3], tf.float32), S([None], tf.int32)], lambda r, b: [f32(r, 2, 5, 3), index(r, (r.integers(1, 4),), 5, b)]),
    "gather-batch1": (lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), [S([2, 5, 3], tf.float32), S([2, 4], tf.int32)], lambda r, b: [f32(r, 2, 5, 3), index(r, (2, 4), 5, b)]),
    "gather-batch1-axis2": (lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), [S([2, 5, 3], tf.float32), S([2, 4], tf.int32)], lambda r, b: [f32(r, 2, 5, 3), index(r, (2, 4), 3, b)]),
    "gather-scalar": (lambda x, i: tf.gather(x, i), [S([7, 4], tf.float32), S([], tf.int32)], lambda r, b: [f32(r, 7, 4), index(r, (), 7, b)]),
    "gather-i64": (lambda x, i: tf.gather(x, i), [S([7, 4], tf.int32), S([3], tf.int64)], lambda r, b: [r.integers(0, 99, (7, 4)).astype(np.int32), index(r, (3,), 7, b).astype(np.int64)]),
    "gather-bool": (lambda x, i: tf.gather(x, i), [S([7, 4], tf.bool), S([3], tf.int32)], lambda r, b: [r.integers(0, 2, (7, 4)).astype(bool), index(r, (3,), 7, b)]),
    "table": (lambda i: tf.gather(tf.constant(table), i), [S([None, 3], tf.int32)], lambda r, b: [index(r, (r.integers(1, 4), 3), 40, b)]),
    "large": (lambda i: tf.gather(tf.constant(large), i), [S([None], tf.int32)], lambda r, b: [index(r, (r.integers(1, 6),), 5000, b)]),
    "nd": (lambda x, i: tf.gather_nd(x, i), [S([None, 4, 5], tf.float32), S([3, 2], tf.int32)], lambda r, b: (lambda x: [x, np.stack([index(r, 3, len(x), b), index(r, 3, 4, False)], -1)])(f32(r, r.integers(1, 5), 4, 5))),
    "nd-elements": (lambda x, i: tf.gather_nd(x, i), [S([3, 4], tf.float32), S([5, 2], tf.int32)], lambda r, b: [f32(r, 3, 4), np.stack([index(r, 5, 3, False), index(r, 5, 4, b)], -1)]),
    "around": (around, [S([None, 2, 3], tf.float32), S([4], tf.int32)], lambda r, b: (lambda x: [x, index(r, (4,), len(x), b)])(f32(r, r.integers(1, 6), 2, 3))),
}
ONLY_TENSORFLOW = {
    "nd-ignore": (lambda x, i: tf.raw_ops.GatherNd(params=x, indices=i, bad_indices_policy="IGNORE"), [S([3, 4, 5], tf.float32), S([3, 2], tf.int32)], lambda r, b: [f32(r, 3, 4, 5), np.stack([index(r, 3, 3, b), index(r, 3, 4, False)], -1)]),
    "nd-batch": (lambda x, i: tf.gather_nd(x, i, batch_dims=1), [S([2, 4, 5], tf.float32), S([2, 3, 1], tf.int32)], lambda r, b: [f32(r, 2, 4, 5), index(r, (2, 3, 1), 4, b)]),
}


class Variable(tf.Module):
    """Reads a table that is a variable."""

    def __init__(self):
        super().__init__()
        self.table = tf.Variable(table)

    @tf.function(input_signature=[S([None, 3], tf.int32, "i0")])
    def __call__(self, i0):
        return {"y": tf.gather(self.table, i0)}


def made(f, specs):
    """The module of a function, with inputs i0, i1 … and outputs by name."""
    m = tf.Module()
    named = [S(s.shape, s.dtype, f"i{k}") for k, s in enumerate(specs)]

    def call(*a):
        r = f(*a)
        return r if isinstance(r, dict) else {"y": r}

    m.f = tf.function(call, input_signature=named)
    return m, m.f


def tensorflow(path, names):
    loaded = tf.saved_model.load(path)
    f = loaded.signatures["serving_default"]

    def run(feed):
        try:
            return {k: v.numpy() for k, v in f(**{k: tf.constant(v) for k, v in feed.items()}).items()}
        except Exception:
            return None
    return run


def litert(path, names):
    state = {}

    def opened():
        i = tf.lite.Interpreter(path)
        state["i"], state["r"] = i, i.get_signature_runner("serving_default")

    opened()

    def run(feed):
        try:
            return dict(state["r"](**feed))
        except Exception:
            opened()
            return None
    return run


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    index_of = {}
    everything = {**{n: (m, True) for n, m in MODELS.items()}, **{n: (m, False) for n, m in ONLY_TENSORFLOW.items()}}
    everything["variable"] = ((None, [S([None, 3], tf.int32)], MODELS["table"][2]), True)
    for name, ((f, specs, feed), lite) in everything.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        if f is None:
            m = Variable()
            call = m.__call__
        else:
            m, call = made(f, specs)
        saved = os.path.join(folder, name)
        tf.saved_model.save(m, saved, signatures=call.get_concrete_function())
        paths = {"tensorflow": (saved, tensorflow)}
        if lite:
            c = tf.lite.TFLiteConverter.from_saved_model(saved)
            path = saved + ".tflite"
            with open(path, "wb") as out:
                out.write(c.convert())
            paths["litert"] = (path, litert)
        for kind, (path, open_) in paths.items():
            run = open_(path, None)
            rng = np.random.default_rng(sum(map(ord, name)))
            feeds = []
            for n in range(FEEDS):
                bad = n % 5 == 4
                given = {f"i{k}": v for k, v in enumerate(feed(rng, bad))}
                feeds.append((bad, given, run(given)))
            with open(path + ".feeds", "wb") as out:
                pickle.dump(feeds, out)
            print(name, kind, sum(f[2] is not None for f in feeds), "answered", sum(f[2] is None for f in feeds), "refused", flush=True)


main()
