"""Records what OpenVINO answers to models of TensorFlow, which it reads with its own operators,
and what XLA answers to gathers of StableHLO: readers.jsonl, one case a line, as record.py writes
them. tensorflow.json has the models, and the answers of TensorFlow.

    python make_tensorflow.py          makes the models, and records TensorFlow
    pip install numpy onnx onnxruntime openvino jax
    python record_readers.py
"""

import base64
import json
import os
import tempfile

import jax
import numpy as np
import openvino as ov
from jax._src import xla_bridge

from record import TFLite, compiled, f32, record

MEANT = {"inside": [0, 4, 3], "negative": [0, 4, 4]}


class TensorFlow(TFLite):
    """A model that make_tensorflow.py made, with what TensorFlow answers."""

    def __init__(self, case, models):
        self.case, self.values = case, case["feed"][1]
        self.path = tempfile.mkdtemp()
        files = models[case["model"]]
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(self.path, name)), exist_ok=True)
            with open(os.path.join(self.path, name), "wb") as f:
                f.write(base64.b64decode(text))
        if list(files) == ["frozen.pb"]:
            self.path = os.path.join(self.path, "frozen.pb")

    def runs(self):
        yield "openvino " + ov.__version__.split("-")[0] + " CPU", "reading TensorFlow", "static dims", self.openvino

    def openvino(self):
        m = ov.Core().read_model(self.path)
        feeds = {}
        for i in m.inputs:
            is_data = i.element_type == ov.Type.f32
            feeds[i.any_name] = f32(5, 2) if is_data else np.array(self.values, np.int32).reshape(list(i.shape))
        return compiled(m, feeds)


class Hlo:
    """A gather of StableHLO that XLA runs, in text."""

    def __init__(self, numbers, sizes, shape, indices, dynamic=False):
        at = np.array(indices, np.int32)
        kind = "x".join(map(str, shape))
        self.inputs = [f32(5, 2), at]
        of = "x".join(map(str, at.shape))
        body = f'%0 = "stablehlo.gather"(%d, %i) <{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {sizes}>}}> : (tensor<5x2xf32>, tensor<{of}xi32>) -> tensor<{kind}xf32>'
        if dynamic:
            body = f"%s = stablehlo.constant dense<[{sizes}]> : tensor<2xi32>\n" + (
                f'%0 = "stablehlo.dynamic_gather"(%d, %i, %s) <{{dimension_numbers = #stablehlo.gather<{numbers}>}}> : (tensor<5x2xf32>, tensor<{of}xi32>, tensor<2xi32>) -> tensor<{kind}xf32>')
        self.text = f"func.func @main(%d: tensor<5x2xf32>, %i: tensor<{of}xi32>) -> tensor<{kind}xf32> {{\n{body}\nreturn %0 : tensor<{kind}xf32>\n}}\n"

    def runs(self):
        yield "xla of jax " + jax.__version__ + " CPU", "", "static dims", self.xla

    def xla(self):
        client = xla_bridge.get_backend("cpu")
        run = client.compile_and_load(self.text, client.devices()[:1])
        return np.asarray(run.execute([jax.device_put(x) for x in self.inputs])[0])


ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
WINDOWS = "offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1"


def hlo():
    five = f32(5, 2)
    for op, dynamic in (("gather", False), ("dynamic_gather", True)):
        name = "lint-hlo-" + op.replace("_", "-")
        rows = lambda *at: Hlo(ROWS, "1, 2", (3, 2), [[i] for i in at], dynamic)
        yield name + "-negative", ["L.38"], "stablehlo." + op, rows(0, 4, -1), five[[0, 4, 0]]
        yield name + "-past-end", ["L.38"], "stablehlo." + op, rows(0, 5, 1000), five[[0, 4, 4]]
    yield "lint-hlo-gather-window", ["L.38"], "stablehlo.gather", Hlo(WINDOWS, "2, 2", (3, 2, 2), [[0], [4], [-3]]), np.stack([five[0:2], five[3:5], five[0:2]])


def tensorflow():
    with open("tensorflow.json") as f:
        all = json.load(f)
    for name, case in all["cases"].items():
        model, which = case["model"], name.removeprefix("lint-tensorflow-" + case["model"] + "-")
        five, want, rules = f32(5, 2), None, ["L.36"]
        if "clamped" in model:
            want = five[np.clip(case["feed"][1], 0, 4)]
        elif model.split("-")[0] in ("sum", "mean", "sqrtn", "segments"):
            rules = ["L.37"] if model.startswith("sum") else ["L.33"] if model == "segments" else ["L.2", "L.3"]
        elif model == "batches":  # a batch has 2 rows of data, and what is outside of it is looked up in all rows
            rules, flat = ["L.1", "L.2"], five.flatten()[np.minimum(np.arange(5) * 2 + case["feed"][1], 9)]
            want = flat.reshape(5, 1)
        elif which in MEANT:
            want = five[MEANT[which]]
        else:
            want = np.concatenate([five[:1], np.zeros((2, 2), np.float32)])
        yield name, rules, case["op"], TensorFlow(case, all["models"]), want, "clamped" in model


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    with open("readers.jsonl", "w") as to:
        for case in tensorflow():
            record(to, *case)
        for case in hlo():
            record(to, *case, False)
        with open("tensorflow.json") as f:
            for name, case in json.load(f)["huge"].items():
                to.write(json.dumps({"name": name, "rules": ["L.22"], "op": case["op"], "remedy": False, "runs": [case["run"]]}) + "\n")


if __name__ == "__main__":
    main()
