"""Records what ONNX Runtime answers to If with a constant condition: if.jsonl.gz, one model a line, with
its file, its input and its result.

    pip install onnx==1.23.2 onnxruntime==1.31.1
    python record_if.py
"""

import base64
import gzip
import json
import os

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


def bits(x):
    return {"dtype": x.dtype.name, "shape": list(x.shape), "hex": np.ascontiguousarray(x).tobytes().hex()}


def info(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def branch(name, rows, add):
    """Rows of x, which is outside, plus a number."""
    held = [numpy_helper.from_array(np.array(rows), name + "_i"), numpy_helper.from_array(np.array(add, np.float32), name + "_a")]
    nodes = [helper.make_node("Gather", ["x", name + "_i"], [name + "_g"]), helper.make_node("Add", [name + "_g", name + "_a"], [name])]
    return helper.make_graph(nodes, name, [], [info(name)], held)


def models():
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for condition in (True, False):
        for shape in ((), (1,)):
            c = numpy_helper.from_array(np.full(shape, condition), "c")
            nodes = [helper.make_node("Identity", ["c"], ["d"])] if shape else []
            choose = helper.make_node("If", ["d" if shape else "c"], ["z"], then_branch=branch("t", [2, 0], 1.5), else_branch=branch("e", [-1], -2))
            nodes += [choose, helper.make_node("Gather", ["z", "first"], ["y"])]
            first = numpy_helper.from_array(np.array(0), "first")
            yield x, helper.make_graph(nodes, "g", [info("x", [3, 2])], [info("y")], [c, first])
    # A choice within a branch.
    inner = helper.make_node("If", ["f"], ["t"], then_branch=branch("a", [1], 0), else_branch=branch("b", [2, 2], 1))
    outer = helper.make_graph([inner], "outer", [], [info("t")])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=outer, else_branch=branch("e", [0], 0))]
    held = [numpy_helper.from_array(np.array(True), "c"), numpy_helper.from_array(np.array(False), "f")]
    yield x, helper.make_graph(nodes, "g", [info("x", [3, 2])], [info("y")], held)


def main():
    with gzip.GzipFile(os.path.join(HERE, "if.jsonl.gz"), "wb", mtime=0) as to:
        for x, graph in models():
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10).SerializeToString()
            want = onnxruntime.InferenceSession(model).run(None, {"x": x})[0]
            line = {"runtime": "onnxruntime " + onnxruntime.__version__, "kind": "choices", "file": "m.onnx", "model": base64.b64encode(model).decode()}
            to.write((json.dumps(line | {"input": bits(x), "want": bits(want)}) + "\n").encode())


if __name__ == "__main__":
    main()
