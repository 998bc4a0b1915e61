"""Makes the models beside it and, in want.json, what the package onnx reads in them.

    python -m venv venv && venv/bin/pip install torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.31.1
    venv/bin/python make.py

Models torch_* are what torch.onnx.export writes, without its notes on the sources
(they name folders of the machine); the others are made with onnx.helper. ONNX
Runtime has loaded every one.
"""

import glob
import hashlib
import json
import os

import numpy as np
import onnx
import onnx.inliner
import onnxruntime
import torch
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

os.chdir(os.path.dirname(os.path.abspath(__file__)))
for old in glob.glob("*.onnx") + glob.glob("*.data"):
    os.remove(old)
torch.manual_seed(1)


def bare(messages):
    """Removes notes from graphs, nodes, values and functions."""
    for m in messages:
        if hasattr(m, "metadata_props"):
            del m.metadata_props[:]
        m.ClearField("doc_string")
        for part in ("node", "input", "output", "value_info", "initializer"):
            bare([x for x in getattr(m, part, []) if not isinstance(x, str)])
        for a in getattr(m, "attribute", []):
            if not isinstance(a, str):
                bare([a.g] if a.HasField("g") else [])


def export(name, module, args, opset, external=False, **options):
    program = torch.onnx.export(module.eval(), args, dynamo=True, opset_version=opset, verbose=False, **options)
    program.save("tmp.onnx", external_data=False)
    m = onnx.load("tmp.onnx")
    os.remove("tmp.onnx")
    bare([m.graph] + list(m.functions))
    del m.metadata_props[:]
    if external:
        onnx.save(m, name, save_as_external_data=True, location=name.replace(".onnx", ".data"), size_threshold=256)
    else:
        onnx.save(m, name)


class Embedding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(50, 8)
        self.places = torch.nn.Embedding(16, 8)

    def forward(self, input_ids):
        at = torch.arange(input_ids.shape[1]).unsqueeze(0)
        return self.words(input_ids) + self.places(at)


class IndexSelect(torch.nn.Module):
    def forward(self, x, at):
        return torch.index_select(x, 1, at)


class Gather(torch.nn.Module):
    def forward(self, x, at):
        return torch.gather(x, 2, at)


class Index(torch.nn.Module):
    def forward(self, x, i, j):
        return x[i, j], x[:, i], x[:, -1]


batch = torch.export.Dim("batch")
ids = torch.tensor([[1, 2, 3], [4, 5, 49]])
export("torch_embedding.onnx", Embedding(), (ids,), 18, input_names=["input_ids"], output_names=["hidden"], dynamic_shapes=({0: batch},))
export("torch_embedding_external.onnx", Embedding(), (ids,), 20, external=True, input_names=["input_ids"], output_names=["hidden"])
export("torch_index_select.onnx", IndexSelect(), (torch.rand(3, 4, 5), torch.tensor([3, 0])), 18)
export("torch_gather.onnx", Gather(), (torch.rand(2, 3, 4), torch.randint(0, 4, (2, 3, 2))), 18)
export("torch_index.onnx", Index(), (torch.rand(3, 4, 5), torch.tensor([2, 0]), torch.tensor([1, 3])), 18)


def value(name, dtype, shape):
    return h.make_tensor_value_info(name, dtype, shape)


def model(name, graph, opsets, ir=8, functions=(), check=True):
    m = h.make_model(graph, opset_imports=[h.make_opsetid(d, v) for d, v in opsets], functions=list(functions), ir_version=ir, producer_name="make.py")
    if check:
        onnx.checker.check_model(m)
    onnx.save(m, name)


# Every version of ONNX's own operators.
for opset in (1, 9, 10, 11, 12, 13, 18, 21):
    nodes = [h.make_node("Gather", ["x", "i"], ["g"], name="g", axis=1)]
    outputs = [value("g", T.FLOAT, [2, 2, 4])]
    if opset >= 11:
        nodes.append(h.make_node("GatherElements", ["x", "e"], ["ge"], axis=-1))
        nodes.append(h.make_node("GatherND", ["x", "n"], ["gn"], **({"batch_dims": 1} if opset >= 12 else {})))
        outputs += [value("ge", T.FLOAT, [None] * 3), value("gn", T.FLOAT, [None] * (4 if opset == 11 else 3))]
    inits = [
        h.make_tensor("i", T.INT64, [2], [2, 0]),
        h.make_tensor("e", T.INT64, [2, 3, 1], [0, 1, 2, 3, -1, -4]),
        h.make_tensor("n", T.INT64, [2, 2, 1], [0, 1, 2, 0]),
    ][: 3 if opset >= 11 else 1]
    inputs = [value("x", T.FLOAT, [2, 3, 4])]
    ir = 8
    if opset < 9:  # initializers stand among the inputs too
        ir = 3
        inputs.append(value("i", T.INT64, [2]))
    if opset == 21:
        ir = 10
    model(f"opset{opset}.onnx", h.make_graph(nodes, "g", inputs, outputs, inits), [("", opset)], ir)

# The domain of ONNX Runtime.
model(
    "microsoft.onnx",
    h.make_graph([h.make_node("GatherND", ["x", "i"], ["y"], name="m", domain="com.microsoft")], "g",
                 [value("x", T.FLOAT, ["rows", 4]), value("i", T.INT32, ["n", 1])], [value("y", T.FLOAT, ["n", 4])]),
    [("", 13), ("com.microsoft", 1)], check=False)

# Sub-graphs: one reads the graph around it, one stands in a loop.
then = h.make_graph([h.make_node("Gather", ["x", "i"], ["t"], name="inner")], "then", [], [value("t", T.FLOAT, None)])
other = h.make_graph(
    [h.make_node("Constant", [], ["j"], value_ints=[1, 1]), h.make_node("Gather", ["x", "j"], ["e"])],
    "else", [], [value("e", T.FLOAT, None)])
body = h.make_graph(
    [h.make_node("Identity", ["cond"], ["more"]), h.make_node("Gather", ["carried", "i"], ["next"], name="turn")],
    "body", [value("turn_no", T.INT64, []), value("cond", T.BOOL, []), value("carried", T.FLOAT, [2, 4])],
    [value("more", T.BOOL, []), value("next", T.FLOAT, [2, 4])])
model(
    "subgraphs.onnx",
    h.make_graph(
        [h.make_node("If", ["c"], ["y"], name="choose", then_branch=then, else_branch=other),
         h.make_node("Loop", ["turns", "", "y"], ["z"], name="loop", body=body)],
        "g", [value("c", T.BOOL, []), value("x", T.FLOAT, [2, 4]), value("turns", T.INT64, [])], [value("z", T.FLOAT, [None, None])],
        [h.make_tensor("i", T.INT64, [2], [1, 0])]),
    [("", 16)])

# Functions: one calls another, one has an attribute with a default, and opsets of its own.
row = h.make_function("here", "Row", ["table", "at"], ["row"], [
    h.make_node("Gather", ["table", "at"], ["row"], name="pick")], [h.make_opsetid("", 13)], attributes=["axis"])
row.node[0].attribute.add(name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT)
twice = h.make_function("here", "Twice", ["table", "at"], ["out", "same"], [
    h.make_node("Row", ["table", "at"], ["one"], domain="here", name="first", axis=0),
    h.make_node("Row", ["one", "at"], ["out"], domain="here", name="second", axis=1),
    h.make_node("Constant", [], ["unused"], value_float=2.5),
    h.make_node("Identity", ["one"], ["same"])], [h.make_opsetid("", 16), h.make_opsetid("here", 1)])
model(
    "functions.onnx",
    h.make_graph([h.make_node("Twice", ["x", "i"], ["y", "s"], domain="here", name="call"),
                  h.make_node("Twice", ["y", "i"], ["z", ""], domain="here")],
                 "g", [value("x", T.FLOAT, [3, 3])], [value("z", T.FLOAT, [None, None]), value("s", T.FLOAT, [None, None])],
                 [h.make_tensor("i", T.INT64, [2], [1, 0])]),
    [("", 16), ("here", 1)], functions=[row, twice])

# Tensors of every type, raw and typed, and constants of every form.
inits = []
for name, number in T.DataType.items():
    if name in ("UNDEFINED", "STRING", "FLOAT6E2M3", "FLOAT6E3M2"):
        continue
    values = [0, 1, 1, 0, 1] if name.endswith("2") or name == "BOOL" else [1, 2, 3, 0, 1]
    if name.startswith("COMPLEX"):
        values = [complex(v, -v) for v in values]
    if name == "FLOAT8E8M0":
        values = [1, 2, 4, 8, 16]
    inits.append(h.make_tensor("typed_" + name, number, [5], values))
    array = numpy_helper.to_array(inits[-1])
    inits.append(numpy_helper.from_array(array, "raw_" + name))
inits.append(h.make_tensor("typed_STRING", T.STRING, [3], ["a", "é", ""]))
inits.append(h.make_tensor("scalar", T.INT32, [], [7]))
inits.append(h.make_tensor("empty", T.FLOAT, [0, 3], []))
constants = [
    h.make_node("Constant", [], ["value"], value=h.make_tensor("", T.INT64, [2, 1], [5, 6])),
    h.make_node("Constant", [], ["value_int"], value_int=-3),
    h.make_node("Constant", [], ["value_ints"], value_ints=[1, -1]),
    h.make_node("Constant", [], ["value_float"], value_float=0.5),
    h.make_node("Constant", [], ["value_floats"], value_floats=[0.5, -2.0]),
    h.make_node("Constant", [], ["value_string"], value_string="é"),
    h.make_node("Constant", [], ["value_strings"], value_strings=["a", ""]),
]
types = [(T.INT64, [2, 1]), (T.INT64, []), (T.INT64, [2]), (T.FLOAT, []), (T.FLOAT, [2]), (T.STRING, []), (T.STRING, [2])]
outputs = [value(n.output[0], *t) for n, t in zip(constants, types)]
model("constants.onnx", h.make_graph(constants, "g", [], outputs, inits), [("", 25)], ir=13)


def digest(array):
    if array.dtype == object:
        return [x.decode() if isinstance(x, bytes) else x for x in array.reshape(-1)]
    return array.tobytes().hex() if array.nbytes < 64 else hashlib.sha256(array.tobytes()).hexdigest()


def walk(graph, opsets, found):
    for n in graph.node:
        if n.op_type.startswith("Gather"):
            domain = "" if n.domain == "ai.onnx" else n.domain
            since = onnx.defs.get_schema(n.op_type, opsets[domain], domain).since_version if domain == "" else 1
            found.append(f"{domain or 'onnx'}.{n.op_type}-{since}")
        for a in n.attribute:
            if a.HasField("g"):
                walk(a.g, opsets, found)


want = {}
for name in sorted(glob.glob("*.onnx")):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(name, options, providers=["CPUExecutionProvider"])
        loads = True
    except Exception as e:
        loads = False
        print(name, "does not load in ONNX Runtime:", str(e)[:200])
    m = onnx.load(name)
    for other in glob.glob("*.data"):
        os.chmod(other, 0o644)
    opsets = {o.domain: o.version for o in m.opset_import}
    for f in m.functions:
        for o in f.opset_import:
            o.version = opsets[o.domain]  # the inliner leaves others alone
    if m.functions:
        m = onnx.inliner.inline_local_functions(m)
    gathers = []
    walk(m.graph, opsets, gathers)
    want[name] = {
        "loads": loads,
        "inputs": [i.name for i in m.graph.input],
        "outputs": [o.name for o in m.graph.output],
        "gathers": sorted(gathers),
        "initializers": {t.name: {"dtype": T.DataType.Name(t.data_type), "shape": list(t.dims), "values": digest(numpy_helper.to_array(t))} for t in m.graph.initializer},
    }
with open("want.json", "w") as f:
    json.dump(want, f, indent=1, sort_keys=True)
    f.write("\n")
