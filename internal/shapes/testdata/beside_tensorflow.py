"""Holds what garner infers of models of TensorFlow against TensorFlow's own inference and against runs.

    go build -o values ./internal/shapes/testdata/values
    python beside_tensorflow.py ./values [--made] [MODEL...]

tensorflow 2.21. The graph of a model is imported, which infers, and so is the body of each function for each of its calls.
--made also makes graphs of every operator that has a rule, runs each, and compares each result with what garner infers.
It prints for each model how many tensors are equal, how many garner knows more or less of, how many contradict, and
names what is less among the inputs of gathers. It ends with 1 where something contradicts.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import function_def_to_graph

v1 = tf.compat.v1
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool", "string": "string", "complex64": "complex64", "complex128": "complex128"}


def values(tool, path):
    said = json.loads(subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout)
    if "error" in said:
        raise SystemExit(f"{path}: {said['error']}")
    return said["values"]


def bare(path, folder):
    """A copy of a model without the shapes that TensorFlow wrote into it when it was made."""
    def strip(nodes):
        for n in nodes:
            n.attr.pop("_output_shapes", None)

    def stripped(graph):
        strip(graph.node)
        for f in graph.library.function:
            strip(f.node_def)
            for a in f.arg_attr.values():
                a.attr.pop("_output_shapes", None)

    if not os.path.isdir(path):
        graph = read(path)
        stripped(graph)
        to = os.path.join(folder, "bare.pb")
        with open(to, "wb") as f:
            f.write(graph.SerializeToString())
        return to
    saved = saved_model_pb2.SavedModel()
    with open(os.path.join(path, "saved_model.pb"), "rb") as f:
        saved.ParseFromString(f.read())
    for m in saved.meta_graphs:
        stripped(m.graph_def)
    with open(os.path.join(folder, "saved_model.pb"), "wb") as f:
        f.write(saved.SerializeToString())
    os.symlink(os.path.abspath(os.path.join(path, "variables")), os.path.join(folder, "variables"))
    return folder


def judge(v, dtype, dims):
    """equal, more, less or contradicts: what garner says beside TensorFlow's dims (None: no rank, or an open dim)."""
    if v["dtype"] and dtype and v["dtype"] != dtype:
        return "contradicts"
    if dims is None:
        return "equal" if v["dims"] is None else "more"
    if v["dims"] is None:
        ok = v["rank"][0] <= len(dims) and (v["rank"][1] < 0 or len(dims) <= v["rank"][1])
        return "less" if ok else "contradicts"
    if len(dims) != len(v["dims"]):
        return "contradicts"
    less = more = False
    for d, (low, high) in zip(dims, v["dims"]):
        if d is None:
            more |= low == high
        elif d < low or 0 <= high < d:
            return "contradicts"
        else:
            less |= low != high
    return "less" if less else "more" if more else "equal"


class Count(dict):
    def __init__(self):
        super().__init__(equal=0, more=0, less=0, contradicts=0)

    def text(self):
        return ", ".join(f"{n} {k}" for k, n in self.items())


def read(path):
    """The graph of a model that serves, with its functions."""
    if os.path.isdir(path):
        saved = saved_model_pb2.SavedModel()
        with open(os.path.join(path, "saved_model.pb"), "rb") as f:
            saved.ParseFromString(f.read())
        return saved.meta_graphs[0].graph_def
    graph = v1.GraphDef()
    with open(path, "rb") as f:
        graph.ParseFromString(f.read())
    return graph


def tensors(def_):
    """Each tensor of a graph and of the functions that it calls, by its path: TensorFlow infers the body of a
    function anew for each call, of the shapes that it is given."""
    functions = {f.signature.name: f for f in def_.library.function}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(def_, name="")
    found = {}

    def walk(g, prefix, depth):
        for op in g.get_operations():
            for i, t in enumerate(op.outputs):
                found.setdefault(prefix + op.name + (f":{i}" if i else ""), []).append((op, t))
            if depth > 20:
                continue
            if op.type in functions:
                enter(op, op.type, op.inputs, prefix + op.name + "/", depth)
            for name, branch in (("f", ""), ("then_branch", "then_branch/"), ("else_branch", "else_branch/"), ("cond", "cond/"), ("body", "body/")):
                try:
                    called = op.get_attr(name).name
                except (ValueError, AttributeError):
                    continue
                given = list(op.inputs)
                if name.endswith("branch"):
                    given = given[1:]
                if called in functions:
                    enter(op, called, None if name in ("cond", "body") else given, prefix + op.name + "/" + branch, depth)

    def enter(op, name, given, prefix, depth):
        f = functions[name]
        shapes = None
        if given is not None and len(given) == len(f.signature.input_arg):
            # What a resource has is lost on the way, and its own shape would be taken for that.
            shapes = [tf.TensorShape(None) if t.dtype == tf.resource else t.shape for t in given]
        with graph.as_default():  # which has the functions that f calls
            body = function_def_to_graph.function_def_to_graph(f, input_shapes=shapes)
        walk(body, prefix, depth + 1)

    walk(graph, "", 0)
    return found


def dims_of(t):
    return None if t.shape.rank is None else t.shape.as_list()


def compare(tool, path, show):
    with tempfile.TemporaryDirectory() as folder:
        copy = bare(path, folder)
        theirs, list_ = tensors(read(copy)), values(tool, copy)
    ours = {}
    for v in list_:
        if v["op"]:
            ours.setdefault(v["name"], []).append(v)
    all_, near = Count(), Count()
    matched = 0
    for name, vs in ours.items():
        at = theirs.get(name)
        if at is None or len(at) != 1 or len(vs) != 1:
            continue
        matched += 1
        op, t = at[0]
        if t.dtype in (tf.resource, tf.variant):
            continue
        kind = judge(vs[0], NAMES.get(t.dtype.name, ""), dims_of(t))
        all_[kind] += 1
        if vs[0]["near"]:
            near[kind] += 1
        if kind == "contradicts" or kind == "less" and (vs[0]["near"] or show):
            print(f"  {kind}: {op.type} {name} {t.dtype.name}{dims_of(t)}, garner {vs[0]['dtype']} {vs[0]['rank']} {vs[0]['dims']}")
    print(f"{path}: {sum(len(v) for v in ours.values())} values of garner, {matched} matched: {all_.text()}; of gathers: {near.text()}")
    return all_["contradicts"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("values")
    p.add_argument("--made", action="store_true")
    p.add_argument("--show", action="store_true", help="name all that garner knows less of")
    p.add_argument("models", nargs="*")
    a = p.parse_intermixed_args()
    wrong = sum(compare(a.values, m, a.show) for m in a.models)
    if a.made:
        import made_tensorflow

        wrong += made_tensorflow.main(a.values, a.show)
    print(wrong, "contradict")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
