"""What TensorFlow says of a model: its gathers, its variables, and its results.

    python walk.py MODEL [SIGNATURE=FEEDS.npz]

prints as JSON what describe returns.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

v1 = tf.compat.v1

GATHERS = {
    "Gather", "GatherV2", "GatherNd", "ResourceGather", "ResourceGatherNd", "SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN",
    "SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments",
}
FUNCTIONS = ["f", "then_branch", "else_branch", "cond", "body", "branches"]


def plain(value):
    """A tensor as its type, its shape, and its bytes; strings as a list."""
    value = np.asarray(value)
    if value.dtype.kind in "SOU":
        texts = [t.decode() if isinstance(t, bytes) else str(t) for t in value.ravel()]
        return {"dtype": "string", "shape": list(value.shape), "strings": texts}
    return {"dtype": value.dtype.name, "shape": list(value.shape), "hex": value.tobytes().hex()}


def read(path):
    """The graph of a model, and its signatures."""
    if os.path.isdir(path):
        saved = saved_model_pb2.SavedModel()
        with open(os.path.join(path, "saved_model.pb"), "rb") as f:
            saved.ParseFromString(f.read())
        meta = saved.meta_graphs[0]
        return meta.graph_def, dict(meta.signature_def)
    graph = v1.GraphDef()
    with open(path, "rb") as f:
        graph.ParseFromString(f.read())
    return graph, {}


def reached(nodes, ends):
    """The nodes that ends need, control inputs included, in the order of the graph."""
    by = {n.name: n for n in nodes}
    seen, todo = set(), [e.split(":")[0].lstrip("^") for e in ends]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [i.split(":")[0].lstrip("^") for i in by[name].input]
    return [n for n in nodes if n.name in seen]


def gathers(nodes, functions):
    """The gathers among nodes and in the functions that they call, once for each call."""
    for n in nodes:
        if n.op in GATHERS:
            attributes = {}
            for name in ["batch_dims", "bad_indices_policy"]:
                if name in n.attr:
                    a = n.attr[name]
                    attributes[name] = a.i if a.HasField("i") else a.s.decode()
            yield {"op": n.op, "name": n.name, "attributes": {k: v for k, v in attributes.items() if v}}
        if n.op in functions:
            yield from gathers(functions[n.op].node_def, functions)
        for name in FUNCTIONS:
            if name in n.attr:
                for f in [n.attr[name].func] if n.attr[name].HasField("func") else n.attr[name].list.func:
                    if f.name:
                        yield from gathers(functions[f.name].node_def, functions)


def describe(path, feeds):
    """feeds has the inputs of each signature by name; "" is the signature of a graph alone."""
    graph, signatures = read(path)
    functions = {f.signature.name: f for f in graph.library.function}
    made = {"signatures": {}, "variables": {}}
    if not os.path.isdir(path):
        used = {i.split(":")[0].lstrip("^") for n in graph.node for i in n.input}
        ends = [n.name for n in graph.node if n.name not in used and n.op not in ("NoOp", "Const", "Placeholder")]
        with tf.Graph().as_default() as g:
            v1.import_graph_def(graph, name="")
            with v1.Session(graph=g) as s:
                results = {e: plain(s.run(e + ":0", feeds[""])) for e in ends}
        made["signatures"][""] = {
            "gathers": list(gathers(graph.node, functions)),
            "feeds": {k.split(":")[0]: plain(v) for k, v in feeds[""].items()},
            "results": results,
        }
        return made
    with tf.Graph().as_default() as g, v1.Session(graph=g) as s:
        v1.saved_model.load(s, ["serve"], path)
        for key, values in feeds.items():
            signature = signatures[key]
            names = {k: v.name for k, v in signature.outputs.items()}
            results = s.run(names, {signature.inputs[k].name: v for k, v in values.items()})
            made["signatures"][key] = {
                "gathers": list(gathers(reached(graph.node, names.values()), functions)),
                "feeds": {k: plain(v) for k, v in values.items()},
                "results": {k: plain(v) for k, v in results.items()},
            }
    prefix = os.path.join(path, "variables", "variables")
    if os.path.exists(prefix + ".index"):
        reader = tf.train.load_checkpoint(prefix)
        for key in sorted(reader.get_variable_to_shape_map()):
            if not key.startswith("_CHECK"):
                made["variables"][key] = plain(reader.get_tensor(key))
    return made


if __name__ == "__main__":
    feeds = {}
    for arg in sys.argv[2:]:
        key, file = arg.split("=", 1)
        feeds[key] = dict(np.load(file))
    json.dump(describe(sys.argv[1], feeds), sys.stdout, indent=1, sort_keys=True)
    print()
