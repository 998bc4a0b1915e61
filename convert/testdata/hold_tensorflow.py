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


def pads(x, ids):
    rows = tf.gather(x, ids)
    p = [[1, 2], [0, 1]]
    return {"zero": tf.pad(rows, p), "seven": tf.pad(rows, p, constant_values=7.0), "reflect": tf.pad(rows, p, mode="REFLECT"), "symmetric": tf.pad(rows, [[3, 1], [2, 4]], mode="SYMMETRIC"), "ids": tf.pad(ids, [[2, 0]], constant_values=-1)}


def parts(x, ids):
    a, b, c = tf.split(x, [1, 3, 2], axis=1)
    return {"a": tf.gather(a, ids), "b": b, "c": c, "one": tf.ones_like(ids), "trunc": tf.truncatediv(ids - 3, 2)}


def args(x, s):
    return {"wide": tf.raw_ops.BroadcastArgs(s0=tf.shape(x), s1=s), "row": tf.raw_ops.BroadcastArgs(s0=s, s1=tf.shape(x)[1:])}


def odd(r, *shape):
    x = f32(r, *shape)
    x[r.integers(0, 3, shape) == 0] = r.choice(np.array([np.nan, 0, -0.0, np.inf, -np.inf, 1], np.float32))
    return x


def compared(x, w, ids):
    rows = tf.gather(x, ids)
    return {n: f(rows, w) for n, f in {"lt": tf.less, "le": tf.less_equal, "gt": tf.greater, "ge": tf.greater_equal, "eq": tf.equal, "ne": tf.not_equal}.items()}


# name: function, specs of its inputs, feed(rng, bad); those whose name begins with onnx are converted to ONNX alone
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
    "pads": (pads, [S([None, 6], tf.float32), S([4], tf.int32)], lambda r, b: (lambda x: [x, index(r, (4,), len(x), b)])(f32(r, r.integers(1, 6), 6))),
    "compared": (compared, [S([None, 6], tf.float32), S([6], tf.float32), S([4], tf.int32)], lambda r, b: (lambda x: [x, odd(r, 6), index(r, (4,), len(x), b)])(odd(r, r.integers(1, 6), 6))),
    "topk": (lambda x, i: dict(zip(["values", "at"], tf.math.top_k(tf.gather(x, i), 3))), [S([None, 7], tf.int32), S([2], tf.int32)], lambda r, b: (lambda n: [r.integers(0, 5, (n, 7)).astype(np.int32), index(r, (2,), n, b)])(int(r.integers(1, 6)))),
    "around": (around, [S([None, 2, 3], tf.float32), S([4], tf.int32)], lambda r, b: (lambda x: [x, index(r, (4,), len(x), b)])(f32(r, r.integers(1, 6), 2, 3))),
}
ONLY_LITERT = {
    "parts": (parts, [S([None, 6], tf.float32), S([4], tf.int32)], lambda r, b: (lambda x: [x, index(r, (4,), len(x), b)])(f32(r, r.integers(1, 6), 6))),
    "args": (args, [S([None, 3], tf.float32), S([3], tf.int32)], lambda r, b: (lambda n: [f32(r, n, 3), np.array([r.integers(1, 4), r.choice([1, n]), r.choice([1, 3])], np.int32)])(int(r.integers(1, 4)))),
}


def constant_segments(op):
    ids = np.repeat([0, 2, 3, 4], [9, 1, 18, 33]).astype(np.int32)
    return lambda x, i: getattr(tf.raw_ops, "SparseSegment" + op)(data=x, indices=i, segment_ids=ids), [S([None, 4], tf.float32), S([len(ids)], tf.int32)], lambda r, b: (lambda x: [x, index(r, len(ids), len(x), b)])(f32(r, r.integers(1, 7), 4))


def zeros_of_signs(x, i, s):
    return tf.raw_ops.SparseSegmentMean(data=x, indices=i, segment_ids=s)


def signs(r, b):
    """Rows of -0 alone, of an unknown number of columns, in segments of 9 and of 10 terms."""
    x = np.full((3, int(r.integers(1, 6))), -0.0, np.float32)
    return [x, index(r, 19, 3, b), np.repeat([0, 1], [9, 10]).astype(np.int32)]


def first_segment(x, i):
    return tf.gather(tf.raw_ops.SparseSegmentSum(data=x, indices=i, segment_ids=np.zeros(3, np.int32)), [0])


def segments(op, dtype=tf.float32, columns=(5,), static=False, counted=None):
    """A reduction of segments, of many lengths to 30, some of them empty. counted: the number of segments, "input" or None."""
    if counted == "input":
        f = lambda x, i, s, n: getattr(tf.raw_ops, f"SparseSegment{op}WithNumSegments")(data=x, indices=i, segment_ids=s, num_segments=n)
    elif counted:
        f = lambda x, i, s: getattr(tf.raw_ops, f"SparseSegment{op}WithNumSegments")(data=x, indices=i, segment_ids=s, num_segments=counted)
    else:
        f = lambda x, i, s: getattr(tf.raw_ops, f"SparseSegment{op}")(data=x, indices=i, segment_ids=s)
    specs = [S([9, *columns] if static else [None, *columns], dtype), S([40 if static else None], tf.int32), S([40 if static else None], tf.int32)]
    if counted == "input":
        specs.append(S([], tf.int32))

    def feed(r, bad):
        rows = 9 if static else int(r.integers(1, 12))
        lengths = r.choice([0, 1, 2, 3, 9, 10, 11, 12, 15, 16, 17, 18, 24, 25, 26, 30], r.integers(0, 6))
        s = np.repeat(np.arange(len(lengths)), lengths)
        if static:
            s = np.sort(np.concatenate([s, np.full(40, len(lengths))])[:40])
        s = s.astype(np.int32)
        x = (r.standard_normal((rows, *columns)) * 10.0 ** r.integers(-3, 4, (rows, *columns))).astype(np.float32)
        x[r.random(x.shape) < 0.2] = -0.0
        x = r.integers(-(2**31), 2**31 - 1, x.shape).astype(np.int32) if dtype.is_integer else x.astype(dtype.as_numpy_dtype)
        how = r.integers(5) if bad else 0
        i = index(r, s.shape, rows, bad and how < 2)
        if how == 2 and s.size:
            s[r.integers(s.size)] = r.choice([-1, -5, -(2**31)])
        elif how == 3 and s.size > 1:
            s = s[::-1].copy()
        elif how == 4 and not static:
            s = np.concatenate([s, [5]]).astype(np.int32) if r.random() < 0.5 else s[:1]
        given = [x, i, s]
        if counted == "input":
            given.append(np.array(r.integers(-2, 3) if bad and r.random() < 0.5 else 6, np.int32))
        return given
    return f, specs, feed


ONLY_TENSORFLOW = {
    "segments-signs": (zeros_of_signs, [S([None, None], tf.float32), S([None], tf.int32), S([None], tf.int32)], signs),
    "segments-first": (first_segment, [S([None, 4], tf.float32), S([3], tf.int32)], lambda r, b: (lambda x: [x, index(r, 3, len(x), b)])(f32(r, r.integers(1, 7), 4))),
    **{f"{'onnx-' if op == 'SqrtN' else ''}segments-{op.lower()}-constant": constant_segments(op) for op in ("Sum", "Mean", "SqrtN")},
    **{f"{'onnx-' if op == 'SqrtN' or dtype == tf.bfloat16 else ''}segments-{op.lower()}-{dtype.name}-{len(columns)}{'-static' if static else ''}{f'-{counted}' if counted else ''}": segments(op, dtype, columns, static, counted)
       for op in ("Sum", "Mean", "SqrtN")
       for dtype, columns, static, counted in [(tf.float32, (5,), False, None), (tf.float32, (2, 3), True, 7), (tf.float32, (), False, "input"), (tf.float16, (5,), False, 7), (tf.bfloat16, (17,), True, None), (tf.int32, (3,), False, "input")] if op == "Sum" or not dtype.is_integer},
    "integers": (lambda x, i: {"div": tf.raw_ops.Div(x=tf.gather(x, i), y=tf.constant(3)), "not": tf.bitwise.invert(x), "one": tf.raw_ops.OnesLike(x=x), "pad2": tf.raw_ops.PadV2(input=x, paddings=[[1, 0]], constant_values=9), "mirror": tf.raw_ops.MirrorPad(input=tf.gather(x, i), paddings=[[2, 3]], mode="SYMMETRIC")},
        [S([None], tf.int32), S([3], tf.int32)], lambda r, b: (lambda x: [x, index(r, (3,), len(x), b)])(r.integers(-(2**31), 2**31 - 1, r.integers(1, 6)).astype(np.int32))),
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
    everything.update({n: (m, "litert") for n, m in ONLY_LITERT.items()})
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
        paths = {} if lite == "litert" else {"tensorflow": (saved, tensorflow)}
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
