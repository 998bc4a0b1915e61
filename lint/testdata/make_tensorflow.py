"""Makes models of TensorFlow, and records in tensorflow.json what TensorFlow answers to the
cases of them, by the names of the cases, with the bytes of each model. record_readers.py puts
the answers of OpenVINO beside them.

    pip install tensorflow
    python make_tensorflow.py
"""

import base64
import json
import os
import re
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as frozen

DATA = np.arange(1, 11, dtype=np.float32).reshape(5, 2)
ROW, FLAT = tf.TensorSpec([5, 2], tf.float32, "data"), tf.TensorSpec([3], tf.int32, "indices")
TUPLES = tf.TensorSpec([3, 1], tf.int32, "indices")


def segments(kind, **more):
    return lambda data, indices: getattr(tf.raw_ops, "SparseSegment" + kind)(data=data, indices=indices, segment_ids=tf.constant([0, 0, 1]), **more)


def by_segments(data, segments):
    return tf.raw_ops.SparseSegmentMean(data=data, indices=tf.constant([0, 4, 3]), segment_ids=segments)


class Table(tf.Module):
    def __init__(self):
        self.table = tf.Variable(DATA)

    @tf.function(input_signature=[FLAT])
    def rows(self, indices):
        return {"y": tf.gather(self.table, indices)}


# Of each model: the operator in package operators, the function, and the inputs.
MODELS = {
    "gather": ("tensorflow.GatherV2", lambda data, indices: tf.gather(data, indices), (ROW, FLAT)),
    "tuples": ("tensorflow.GatherNd", lambda data, indices: tf.raw_ops.GatherNd(params=data, indices=indices), (ROW, TUPLES)),
    "ignoring": ("tensorflow.GatherNd", lambda data, indices: tf.raw_ops.GatherNd(params=data, indices=indices, bad_indices_policy="IGNORE"), (ROW, TUPLES)),
    "resource": ("tensorflow.GatherV2", Table(), (FLAT,)),
    "sum": ("tensorflow.sparse_segment_sum", segments("Sum"), (ROW, FLAT)),
    "mean": ("tensorflow.sparse_segment_mean", segments("Mean"), (ROW, FLAT)),
    "sqrtn": ("tensorflow.sparse_segment_sqrtn", segments("SqrtN"), (ROW, FLAT)),
    "sum-of": ("tensorflow.sparse_segment_sum", segments("SumWithNumSegments", num_segments=2), (ROW, FLAT)),
    "mean-of": ("tensorflow.sparse_segment_mean", segments("MeanWithNumSegments", num_segments=2), (ROW, FLAT)),
    "sqrtn-of": ("tensorflow.sparse_segment_sqrtn", segments("SqrtNWithNumSegments", num_segments=2), (ROW, FLAT)),
    "clamped": ("tensorflow.GatherV2", lambda data, indices: tf.gather(data, tf.clip_by_value(indices, 0, 4)), (ROW, FLAT)),
    "tuples-clamped": ("tensorflow.GatherNd", lambda data, indices: tf.gather_nd(data, tf.clip_by_value(indices, 0, 4)), (ROW, TUPLES)),
    "batches": ("tensorflow.batch_gather", tf.compat.v1.batch_gather, (ROW, tf.TensorSpec([5, 1], tf.int32, "indices"))),
    "segments": ("tensorflow.sparse_segment_mean", by_segments, (ROW, tf.TensorSpec([3], tf.int32, "segments"))),
}
INDICES = {"inside": [0, 4, 3], "negative": [0, 4, -1], "past-end": [0, 5, 1000]}
BATCHES = {"inside": [0, 1, 0, 1, 1], "negative": [0, -1, 0, 0, 0], "past-end": [0, 1, 2, 0, 1], "before-first": [-1, 0, 0, 0, 0], "past-last": [0, 0, 0, 0, 2]}
SEGMENTS = {"fall": [1, 0, 2], "below": [-1, 0, 1]}


def files(model):
    """The bytes of a model: a GraphDef, or the files of a SavedModel."""
    with tempfile.TemporaryDirectory() as to:
        tf.saved_model.save(model, to, signatures=model.rows)
        found = {}
        for folder, _, names in os.walk(to):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, to)] = base64.b64encode(f.read()).decode()
        return found


def huge():
    """What GatherNd answers to i32 indices of 2^31 elements, which take 2 GiB."""
    data, made = tf.zeros([2**31], tf.bool), {}
    for name, op, f in (("raw", "tensorflow.GatherNd", lambda data, indices: tf.raw_ops.GatherNd(params=data, indices=indices)), ("function", "tensorflow.gather_nd", tf.gather_nd)):
        assert not np.any(f(data, tf.constant([[0], [5]], tf.int64)))
        try:
            f(data, tf.constant([[0], [5]], tf.int32))
        except tf.errors.InvalidArgumentError as e:
            error = re.search(r"params.NumElements\(\).*?(?= \[)", " ".join(e.message.split()))[0]
        made["lint-tensorflow-huge-" + name] = {"op": op, "run": {"runtime": f"tensorflow {tf.__version__} CPU", "mode": "", "shapes": "static dims", "error": error}}
    return made


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    models, cases = {}, {}
    for name, (op, f, specs) in MODELS.items():
        if isinstance(f, tf.Module):
            run, models[name] = f.rows, files(f)
        else:
            run = tf.function(f, input_signature=specs)
            graph = frozen(run.get_concrete_function()).graph.as_graph_def()
            models[name] = {"frozen.pb": base64.b64encode(graph.SerializeToString()).decode()}
        for which, values in {"segments": SEGMENTS, "batches": BATCHES}.get(name, INDICES).items():
            feeds = {s.name: DATA if s.dtype == tf.float32 else np.array(values, np.int32).reshape(s.shape) for s in specs}
            answer = {"runtime": f"tensorflow {tf.__version__} CPU", "mode": "", "shapes": "static dims"}
            try:
                y = run(*feeds.values())
                y = np.asarray(y["y"] if isinstance(y, dict) else y)
                answer["output"] = {"dtype": str(y.dtype), "shape": list(y.shape), "values": y.flatten().tolist()}
            except tf.errors.InvalidArgumentError as e:
                answer["error"] = re.search(r"(indices\[|segment ids|Segment id).*?(?= \[\[)", " ".join(e.message.split()))[0]
            ints = next(k for k, v in feeds.items() if v.dtype == np.int32)
            cases[f"lint-tensorflow-{name}-{which}"] = {"op": op, "model": name, "feed": [ints, values], "run": answer}
    with open("tensorflow.json", "w") as to:
        json.dump({"models": models, "cases": cases, "huge": huge()}, to, indent=1)
        to.write("\n")


if __name__ == "__main__":
    main()
