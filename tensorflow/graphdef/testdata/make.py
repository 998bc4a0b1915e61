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
    """Checkpoints alone: of TensorFlow 2, with strings, and of TensorFlow 1, in three files,
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
        v1.get_variable("small", initializer=tf.constant([1, 2, 3]), use_resource=True)
        parts = v1.get_variable("parts", [6, 4], initializer=v1.zeros_initializer(), partitioner=lambda shape, dtype: [1, 2], use_resource=False)
        ids = v1.placeholder(tf.int32, [None], "ids")
        tf.gather(list(parts)[1], ids, name="of_part")
        with v1.Session() as s:
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


def main():
    path = os.path.join(here, "want.json")
    want = {}
    if os.path.exists(path):
        with open(path) as f:
            want = json.load(f)
    for name in sys.argv[1:] or ["gathers", "keras", "frozen", "old", "checkpoint"]:
        want[name] = globals()[name]()
        print(name, file=sys.stderr)
    with open(path, "w") as f:
        json.dump(want, f, indent=1, sort_keys=True)
        f.write("\n")


main()
