"""Makes the models and the checkpoints beside it with TensorFlow, and want.json: what
TensorFlow says of them.

    python make.py [NAME...]

TensorFlow 2.21.0 made what is here. Files that TensorFlow does not make, such as an index
that is compressed, are made by the tests, by bytes.
"""
import json
import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

from walk import describe, plain

v1 = tf.compat.v1
here = os.path.dirname(os.path.abspath(__file__))


def table(rows, columns, start=0, dtype=np.float32):
    return (np.arange(start, start + rows * columns).reshape(rows, columns) / np.asarray(4).astype(dtype)).astype(dtype)


def fresh(name):
    path = os.path.join(here, name)
    shutil.rmtree(path, ignore_errors=True)
    return path


class Gathers(tf.Module):
    """Gathers of every kind, of variables and constants, in nested calls."""

    def __init__(self):
        super().__init__("gathers")
        self.first = tf.Variable(table(6, 4), name="table")
        self.second = tf.Variable(table(6, 4, 100), name="table")  # of the same name
        self.words = tf.Variable(["zero", "one", "", "d" * 300], name="words")
        self.cube = tf.Variable(np.arange(24, dtype=np.int64).reshape(2, 3, 4), name="cube")
        self.half = tf.Variable(table(5, 3, dtype=np.float16), name="half")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
    def inner(self, ids):
        return tf.gather(self.second, ids)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.int64, "ids"),
            tf.TensorSpec([2, None], tf.int32, "grid"),
            tf.TensorSpec([None, 2], tf.int32, "at"),
        ]
    )
    def serve(self, ids, grid, at):
        narrow = tf.cast(ids, tf.int32)
        return {
            "rows": tf.gather(self.first, ids),  # ResourceGather
            "nested": self.inner(narrow) + tf.constant(1.0),  # by a call
            "columns": tf.gather(self.first, narrow % 4, axis=1),
            "batch": tf.gather(self.cube, grid, axis=2, batch_dims=1),
            "tuples": tf.gather_nd(self.cube, at),
            "ignored": tf.raw_ops.GatherNd(params=tf.constant(table(3, 2)), indices=at[:, :1], bad_indices_policy="IGNORE"),
            "strings": tf.gather(self.words, narrow % 4),
            "half": tf.gather(self.half, tf.clip_by_value(narrow, 0, 4)),
            "sums": tf.raw_ops.SparseSegmentSum(data=self.second, indices=narrow, segment_ids=tf.zeros_like(narrow)),
            "means": tf.raw_ops.SparseSegmentMeanWithNumSegments(
                data=self.second, indices=narrow, segment_ids=tf.zeros_like(narrow), num_segments=2
            ),
            "offset": tf.gather(tf.constant([5, 6, 7, 8]), tf.maximum(narrow - 2, 0)),
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids"), tf.TensorSpec([], tf.bool, "which")])
    def branches(self, ids, which):
        if which:
            rows = tf.gather(self.first, ids)
        else:
            rows = tf.gather(self.second, ids)
        total = tf.zeros([4])
        for i in tf.range(tf.size(ids)):
            total += tf.gather(self.second, ids[i])
        return {"rows": rows, "total": total}


def gathers():
    m = Gathers()
    path = fresh("gathers")
    tf.saved_model.save(m, path, signatures={"serving_default": m.serve, "branches": m.branches})
    ids = np.array([0, 3, 5, 3], np.int64)
    feeds = {
        "serving_default": dict(
            ids=ids, grid=np.array([[0, 3, 1], [2, 2, 0]], np.int32), at=np.array([[0, 2], [1, 0], [1, 1]], np.int32)
        ),
        "branches": dict(ids=ids.astype(np.int32), which=np.array(True)),
    }
    return describe(path, feeds)


class Several(tf.Module):
    """Two signatures, neither of them serving_default, of one table and of one each."""

    def __init__(self):
        super().__init__("several")
        self.common = tf.Variable(table(5, 3), name="common")
        self.places = tf.Variable(table(4, 3, 40), name="places")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, "ids")])
    def encode(self, ids):
        return {"rows": tf.gather(self.common, ids)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
    def place(self, ids):
        return {"rows": tf.gather(self.places, ids), "also": tf.gather(self.common, tf.constant([4, 0]))}


def several():
    m = Several()
    path = fresh("several")
    tf.saved_model.save(m, path, signatures={"encode": m.encode, "place": m.place})
    return describe(path, {"encode": {"ids": np.array([4, 0, 4])}, "place": {"ids": np.array([3, 1], np.int32)}})


class Around(tf.Module):
    """What stands around gathers: each result is one operator, or a few."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.int32, "i"),
            tf.TensorSpec([None, None], tf.float32, "f"),
            tf.TensorSpec([None], tf.bool, "b"),
            tf.TensorSpec([None], tf.int64, "n"),
        ]
    )
    def serve(self, i, f, b, n):
        r = tf.raw_ops
        zero = tf.zeros_like(n)
        two = tf.constant(2)
        slices = {
            "a": i[1:, ::-1], "b": i[-1], "c": i[..., 0], "d": i[:, tf.newaxis, 1:100], "e": i[100:-100:-1], "f": i[-100::-2], "g": i[0, 1], "h": i[:, -3:-1],
            "i": n[-100:-200:-1], "j": n[5:2], "k": i[tf.newaxis, ..., tf.newaxis], "l": i[1:1],
        }
        made = {"slice_" + k: v for k, v in slices.items()}
        made |= {
            "add": i + two, "sub": two - i, "mul": i * i * i * i * 65537, "floordiv": i // -3, "floormod": i % -3, "truncatediv": r.TruncateDiv(x=i, y=tf.constant(-3)),
            "truncatemod": r.TruncateMod(x=i, y=tf.constant(-3)), "div": r.Div(x=i, y=two), "mod": r.Mod(x=i, y=two), "neg": -i, "min": tf.minimum(i, two), "max": tf.maximum(i, two),
            "fadd": f + 0.1, "fsub": f - 0.3, "fmul": f * f, "fdiv": f / 3.0, "fchain": f * 3.3 + 0.1, "odd": f * 1e-40, "odd_lt": f * 0.0 < tf.constant(1e-40), "nan": f[:, :1] * tf.constant(np.float32(np.inf)), "dmul": tf.cast(f, tf.float64) * 0.1,
            "and": tf.bitwise.bitwise_and(i, two), "or": tf.bitwise.bitwise_or(i, two), "xor": tf.bitwise.bitwise_xor(i, two), "invert": tf.bitwise.invert(i),
            "eq": i == two, "ne": i != two, "lt": f < 1.0, "le": f <= 1.0, "gt": i > two, "ge": f >= 1.0,
            "land": tf.logical_and(b, i[:, 0] > 2), "lor": tf.logical_or(b, i[:, 0] > 2), "lnot": tf.logical_not(b),
            "select": tf.where(b[:, tf.newaxis], i, two), "select_rows": r.Select(condition=b, x=i, y=-i), "select_all": r.Select(condition=b[0], x=i, y=-i),
            "select_each": r.Select(condition=i > two, x=i, y=-i),
            "shape": tf.shape(i), "shape64": tf.shape(i, tf.int64), "size": tf.size(i), "size64": tf.size(n, tf.int64), "rank": r.Rank(input=i), "prod": tf.reduce_prod(tf.shape(i)),
            "range": tf.range(1, tf.shape(i)[1], 2), "range_down": tf.range(5, -3, -2), "range64": tf.range(n[0], n[0]),
            "fill": tf.fill([2, tf.shape(i)[0]], n[0]), "ones": tf.ones_like(f), "zeros": tf.zeros_like(b), "broadcast": tf.broadcast_to(n, [2, tf.shape(n)[0]]),
            "tile": tf.tile(i, [2, 1]), "tile0": tf.tile(n, [0]), "expand": tf.expand_dims(i, -2), "squeeze": tf.squeeze(i[:1]), "squeeze_axis": tf.squeeze(i[:1], [0]),
            "transpose": tf.transpose(i), "transpose3": r.Transpose(x=i[:, :, tf.newaxis], perm=[-1, 0, 1]), "reshape": tf.reshape(i, [-1, 1, 2]), "reshape0": tf.reshape(i[:0], [0, -1]),
            "concat": tf.concat([i, -i, i], -1), "concat0": tf.concat([n, zero], 0), "pack": tf.stack([i, -i], 1), "pack_last": tf.stack([n, zero], -1), "unpack": r.Unpack(value=i, num=3)[0],
            "slice": tf.slice(i, [1, 0], [-1, 2]), "slice0": tf.slice(n, [1], [0]),
            "to8": tf.cast(i, tf.int8), "to64": tf.cast(i, tf.int64), "tou8": tf.cast(i, tf.uint8), "tof": tf.cast(n, tf.float32), "tod": tf.cast(n, tf.float64), "tohalf": tf.cast(f[::2], tf.float16), "tohalf_odd": tf.cast(f, tf.float16),
            "tobrain": tf.cast(f, tf.bfloat16), "half_f": tf.cast(tf.constant([1.5, 65504, 6e-8], tf.float16), tf.float32) + f[0, 0], "trunc": tf.cast(f[::2, :2], tf.int32), "trunc_odd": tf.cast(f * 1e9, tf.int32), "bad_range": tf.range(5, 5 + tf.shape(i)[0], 1), "tobool": tf.cast(i, tf.bool), "ofbool": tf.cast(b, tf.float32), "ftobool": tf.cast(f, tf.bool),
            "narrow": tf.cast(tf.cast(f, tf.float64) * 1.1, tf.float32), "u64": tf.cast(n, tf.uint64), "shift": tf.cast(n, tf.int32),
        }
        return {k: tf.identity(v) for k, v in made.items()}


def around():
    m = Around()
    path = fresh("around")
    tf.saved_model.save(m, path, signatures=m.serve)
    feeds = dict(
        i=np.array([[5, -7, 2, 0], [300, 1, -129, 2147483647], [2, 2, 2, 3]], np.int32),
        f=np.array([[0.5, -1.75, 3.1], [1, 1e-5, 16777217], [-0.0, 2.5, 1e9]], np.float32),
        b=np.array([True, False, True]),
        n=np.array([3, -1, 2**40 + 5, 7], np.int64),
    )
    return describe(path, {"serving_default": feeds})


def keras():
    """A model of Keras, exported: calls in calls."""
    import keras

    keras.utils.set_random_seed(7)
    ids = keras.Input([3], dtype="int32", name="ids")
    x = keras.layers.Embedding(10, 4, name="words")(ids)
    y = keras.layers.Embedding(5, 4, name="places")(keras.ops.minimum(ids, 4))
    model = keras.Model(ids, keras.layers.Reshape([12])(keras.layers.Add()([x, y])))
    path = fresh("keras")
    model.export(path, verbose=False)
    shutil.rmtree(os.path.join(path, "assets"), ignore_errors=True)
    return describe(path, {"serving_default": {"ids": np.array([[0, 9, 4], [1, 2, 3]], np.int32)}})


def frozen():
    """A graph whose variables were made constants."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    words = tf.Variable(table(300, 2), name="words")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32, "ids")])
    def f(ids):
        y = tf.gather(words, ids)
        top = tf.math.top_k(tf.reduce_sum(y, -1), 1)
        return tf.reshape(y, [-1, 4]), tf.gather(tf.constant([[1, 2], [3, 4]]), top.indices, axis=-1)

    graph = convert_variables_to_constants_v2(f.get_concrete_function()).graph.as_graph_def()
    path = os.path.join(here, "frozen.pb")
    with open(path, "wb") as out:
        out.write(graph.SerializeToString())
    return describe(path, {"": {"ids:0": np.array([[0, 299], [7, 7]], np.int32)}})


def old():
    """A SavedModel as TensorFlow 1 makes it: variables that are references, one of them
    partitioned, an If and a loop of switches."""
    path = fresh("old")
    with tf.Graph().as_default():
        ids = v1.placeholder(tf.int32, [None], "ids")
        words = v1.get_variable("words", initializer=tf.constant(table(6, 3)), use_resource=False)
        other = v1.get_variable("other", initializer=tf.constant(table(4, 3, 50)), use_resource=True)
        parts = v1.get_variable(
            "parts", [7, 2], initializer=lambda shape, dtype=None, partition_info=None: tf.constant(table(7, 2, 9)[partition_info.var_offset[0] :][: shape[0]]),
            partitioner=v1.fixed_size_partitioner(3), use_resource=False,
        )
        x = tf.gather(words, ids)
        y = v1.nn.embedding_lookup(other, tf.minimum(ids, 3))
        z = v1.nn.embedding_lookup(parts, ids, partition_strategy="div")
        v1.disable_control_flow_v2()
        _, w = v1.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.gather(words, i)), [0, tf.zeros([3])])
        u = v1.cond(tf.size(ids) > 1, lambda: tf.gather(words, ids[0]), lambda: tf.gather(words, 0))
        v1.enable_control_flow_v2()
        with v1.Session() as s:
            s.run(v1.global_variables_initializer())
            v1.saved_model.simple_save(s, path, {"ids": ids}, {"x": x, "y": y, "z": z, "w": w, "u": u})
    return describe(path, {"serving_default": {"ids": np.array([0, 3, 5], np.int32)}})


def checkpoint():
    """Checkpoints alone: of TensorFlow 2, with strings, and of TensorFlow 1, in two files,
    with a variable in slices, and the graph beside it."""
    folder = fresh("checkpoint")
    os.makedirs(folder)
    keep = tf.train.Checkpoint(
        table=tf.Variable(table(5, 3)), odd=tf.Variable([True, False, True]), words=tf.Variable(["a", "", "ccc"]), step=tf.Variable(7, dtype=tf.int64),
        wide=tf.Variable(np.arange(6, dtype=np.complex64).reshape(2, 3)), brain=tf.Variable(tf.constant([1.5, -2], tf.bfloat16)),
    )
    keep.write(os.path.join(folder, "new"))
    with tf.Graph().as_default():
        v1.get_variable("words", initializer=tf.constant(table(6, 3)), use_resource=False)
        with tf.device("/cpu:1"):  # in a file of its own
            v1.get_variable("small", initializer=tf.constant([1, 2, 3]), use_resource=True)
        parts = v1.get_variable("parts", [6, 4], initializer=v1.zeros_initializer(), partitioner=lambda shape, dtype: [1, 2], use_resource=False)
        ids = v1.placeholder(tf.int32, [None], "ids")
        tf.gather(list(parts)[1], ids, name="of_part")
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as s:
            s.run(v1.global_variables_initializer())
            for i, p in enumerate(parts):
                p.load(table(6, 4, 3)[:, 2 * i : 2 * i + 2], s)
            v1.train.Saver(sharded=True).save(s, os.path.join(folder, "old.ckpt"))
    os.remove(os.path.join(folder, "checkpoint"))
    made = {}
    for name in ["new", "old.ckpt"]:
        reader = tf.train.load_checkpoint(os.path.join(folder, name))
        made[name] = {k: plain(reader.get_tensor(k)) for k in sorted(reader.get_variable_to_shape_map()) if not k.startswith("_CHECK")}
    return made


def saved():
    """Graphs beside their checkpoints, as tf.compat.v1.train.Saver writes them without a
    signature: of one Saver; of two, the later of which writes in shards and is the one that
    the file describes. The gather "joined" reads a variable that is put together of slices."""
    folder = fresh("saved")
    os.makedirs(folder)
    feeds = np.array([5, 0, 3], np.int32)
    made = {"signatures": {}, "variables": {}}
    back = os.getcwd()
    os.chdir(folder)  # the file named checkpoint then has the bare name
    for name, savers in {"one": [{}], "two": [{}, {"sharded": True}]}.items():
        with tf.Graph().as_default():
            ids = v1.placeholder(tf.int32, [None], "ids")
            words = v1.get_variable("words", initializer=tf.constant(table(6, 3)), use_resource=False)
            others = v1.get_variable("others", initializer=tf.constant(table(6, 2, 40)), use_resource=True)
            tf.identity(tf.gather(words, ids), name="rows")
            v1.nn.embedding_lookup(others, ids, name="lookup")
            parts = v1.get_variable(
                "parts", [7, 2], initializer=lambda shape, dtype=None, partition_info=None: tf.constant(table(7, 2, 9)[partition_info.var_offset[0] :][: shape[0]]),
                partitioner=v1.fixed_size_partitioner(3), use_resource=False,
            )
            tf.gather(parts, ids, name="joined")
            with v1.Session() as s:
                s.run(v1.global_variables_initializer())
                for options in savers:
                    v1.train.Saver(**options).save(s, name)
                ends = {"rows": "rows:0", "lookup/Identity": "lookup/Identity:0", "joined": "joined:0"}
                results = {k: plain(v) for k, v in s.run(ends, {ids: feeds}).items()}
        made["signatures"][name] = {"feeds": {"ids": plain(feeds)}, "results": results}
    os.chdir(back)
    return made


def main():
    path = os.path.join(here, "want.json")
    want = {}
    if os.path.exists(path):
        with open(path) as f:
            want = json.load(f)
    for name in sys.argv[1:] or ["gathers", "several", "around", "keras", "frozen", "old", "checkpoint", "saved"]:
        want[name] = globals()[name]()
        print(name, file=sys.stderr)
    with open(path, "w") as f:
        json.dump(want, f, indent=None, sort_keys=True, separators=(",", ":"))
        f.write("\n")


main()
