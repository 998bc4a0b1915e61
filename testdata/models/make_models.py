"""Makes the models of this folder, and records what ONNX Runtime and OpenVINO
answer to them.

Models around gathers, as torch.onnx.export and OpenVINO's convert_model write
them, and two that try the operators around gathers one by one (evaluate). Beside
each NAME.onnx and NAME.xml stand NAME.inputs.npz, NAME.onnxruntime.npz and
NAME.openvino.npz, the answers by the names of the results.

    pip install numpy torch onnx onnxscript onnxruntime openvino
    python make_models.py
"""

import os
import warnings

import numpy as np
import onnx
import onnxruntime
import openvino as ov
import torch
from onnx import TensorProto, helper, numpy_helper
from openvino import opset1, opset3, opset4, opset8, opset13, opset15

warnings.filterwarnings("ignore")
torch.manual_seed(1)


class Bert(torch.nn.Module):
    """Sums three embeddings."""

    def __init__(self):
        super().__init__()
        self.tok = torch.nn.Embedding(50, 8)
        self.pos = torch.nn.Embedding(16, 8)
        self.typ = torch.nn.Embedding(2, 8)

    def forward(self, ids, types):
        pos = torch.arange(ids.shape[1], dtype=torch.int64).unsqueeze(0)
        return self.tok(ids) + self.pos(pos) + self.typ(types)


class Last(torch.nn.Module):
    """Takes the last state of sequences in three ways."""

    def forward(self, hidden, lengths):
        batch = torch.arange(hidden.shape[0])
        at = (lengths - 1)[:, None, None].expand(-1, -1, hidden.shape[2])
        return hidden[batch, lengths - 1], hidden[:, -1], torch.gather(hidden, 1, at)


class Beam(torch.nn.Module):
    """Reorders a cache as a beam search does."""

    def forward(self, cache, beam):
        return torch.index_select(cache, 1, beam), cache.transpose(1, 2).reshape(cache.shape[0], -1)


class Bias(torch.nn.Module):
    """Looks biases of relative positions up."""

    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Embedding(9, 4)

    def forward(self, q, k):
        relative = torch.clamp(k[None, :] - q[:, None], -4, 4) + 4
        return self.emb(relative).permute(2, 0, 1).unsqueeze(0)


class Hash(torch.nn.Module):
    """Does arithmetic on indices."""

    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Embedding(13, 6)

    def forward(self, ids):
        h = (ids * 31 + 7) % 13
        half = ids // 2
        row = torch.where(ids == 0, torch.zeros_like(ids), h)
        return self.emb(row), half, torch.minimum(h, half), torch.maximum(h, half), (ids > h) | (ids <= 3)


class Mix(torch.nn.Module):
    """Slices, joins and gathers; OpenVINO makes a ScatterUpdate of it."""

    def forward(self, x, at):
        y = torch.cat([x[:, ::2], x[:, 1:3]], 1)
        return torch.take_along_dim(y, at, 1), x[..., -1], x[:, None].flatten(1, 2), x[1:], x[at[:, 0] % 2]


class Half(torch.nn.Module):
    """Looks up in a table of halves."""

    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Embedding(40, 8).half()

    def forward(self, ids):
        return self.emb(ids.to(torch.int64)).float()


class Mlp(torch.nn.Module):
    """Has what garner does not run, after a gather."""

    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Embedding(10, 4)
        self.lin = torch.nn.Linear(4, 3)

    def forward(self, ids):
        x = self.emb(ids)
        return x, self.lin(x)


def i64(*values):
    return torch.tensor(values, dtype=torch.int64)


exports = {
    "bert": (Bert(), {"ids": i64([3, 1, 49, 7], [0, 2, 5, 5]), "types": i64([0, 0, 1, 1], [1, 0, 0, 1])}, [{0: "b", 1: "s"}] * 2),
    "last": (Last(), {"hidden": torch.randn(3, 5, 4), "lengths": i64(5, 1, 3)}, [{0: "b", 1: "s"}, {0: "b"}]),
    "beam": (Beam(), {"cache": torch.randn(2, 4, 3, 5), "beam": i64(3, 3, 0)}, [{1: "beams", 2: "h"}, {0: "n"}]),
    "bias": (Bias(), {"q": i64(0, 1, 2, 3, 4, 5, 6), "k": i64(0, 1, 2, 3, 4, 5)}, [{0: "q"}, {0: "k"}]),
    "hash": (Hash(), {"ids": i64([0, 1, 2, 3], [11, 100, 7, 0])}, [{0: "b", 1: "s"}]),
    "mix": (Mix(), {"x": torch.randn(2, 6, 3), "at": torch.randint(0, 5, (2, 2, 3))}, [{}, {}]),
    "half": (Half(), {"ids": torch.tensor([[1, 2, 39]], dtype=torch.int32)}, [{0: "b", 1: "s"}]),
    "mlp": (Mlp(), {"ids": i64([1, 9, 0])}, [{1: "s"}]),
}


def strip(path):
    """Takes out what tells of the machine that exported."""
    m = onnx.load(path)
    m.ClearField("metadata_props")
    for g in [m.graph, *m.functions]:
        g.ClearField("metadata_props")
        for part in [*g.node, *g.value_info, *getattr(g, "input", []), *getattr(g, "output", []), *getattr(g, "initializer", [])]:
            if not isinstance(part, str):
                part.ClearField("doc_string")
                part.ClearField("metadata_props")
    if path == "mlp.onnx":  # whose tables are to stand in another file
        onnx.save(m, path, save_as_external_data=True, location="mlp.data", size_threshold=64)
        os.chmod("mlp.data", 0o644)
    else:
        onnx.save(m, path)


def record_onnx(name, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(name + ".onnx", options, providers=["CPUExecutionProvider"])
    answers = session.run(None, {i.name: inputs[i.name] for i in session.get_inputs()})
    # Strings come as objects.
    answers = [a.astype(np.str_) if a.dtype == object else a for a in answers]
    np.savez(name + ".onnxruntime.npz", **{o.name: a for o, a in zip(session.get_outputs(), answers)})


def record_ir(name, inputs):
    core = ov.Core()
    m = core.read_model(name + ".xml")
    names = [o.any_name if o.names else o.node.friendly_name for o in m.outputs]
    compiled = core.compile_model(m, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    answers = compiled({i: inputs[(i.names & set(inputs)).pop()] for i in compiled.inputs})
    np.savez(name + ".openvino.npz", **{n: np.array(answers[o]) for n, o in zip(names, compiled.outputs)})


def export():
    for name, (module, args, dynamic) in exports.items():
        module.eval()
        tensors = tuple(args.values())
        inputs = {n: t.numpy() for n, t in args.items()}
        np.savez(name + ".inputs.npz", **inputs)
        shapes = tuple({d: torch.export.Dim.AUTO for d in dims} for dims in dynamic)
        torch.onnx.export(module, tensors, name + ".onnx", input_names=list(args), dynamo=True,
                          dynamic_shapes=shapes, external_data=False, verbose=False)
        strip(name + ".onnx")
        record_onnx(name, inputs)
        if name in ("last", "hash"):
            # What exporters wrote before, with ConstantOfShape, Where and Flatten.
            old = name + "13"
            np.savez(old + ".inputs.npz", **inputs)
            torch.onnx.export(module, tensors, old + ".onnx", input_names=list(args), dynamo=False, opset_version=13,
                              dynamic_axes={n: d for n, d in zip(args, dynamic)})
            strip(old + ".onnx")
            record_onnx(old, inputs)
        partial = [(n, ov.PartialShape([-1 if d in dims else s for d, s in enumerate(t.shape)])) for (n, t), dims in zip(args.items(), dynamic)]
        m = ov.convert_model(module, example_input=tensors, input=partial)
        ov.save_model(m, name + ".xml", compress_to_fp16=name in ("bert", "half"))
        record_ir(name, inputs)


evaluate_inputs = {
    "x": np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7,
    "i": np.array([-7, -6, -1, 0, 1, 6, 7], np.int64),
    "j": np.array([3, -4, 2, -2, 5, -1, 4], np.int64),
    "b": np.array([True, False, True, True, False, False, True]),
    "f": np.array([-2.5, -0.5, 0.0, 0.49999, 1.5, 100.75, 70000.0], np.float32),
}


def evaluate_onnx():
    nodes, outputs, constants = [], [], {}

    def constant(value, dtype=np.int64):
        a = np.asarray(value, dtype)
        name = f"c{len(constants)}"
        constants[name] = numpy_helper.from_array(a, name)
        return name

    def node(op, *inputs, **attributes):
        name = f"{op}_{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        if attributes.get("to") != TensorProto.BFLOAT16:  # for which NumPy has no type
            outputs.append(helper.make_empty_tensor_value_info(name))
        return name

    c = constant
    for op in ["Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]:
        node(op, "i", "j")
    node("Mod", "i", "j", fmod=1)
    node("Min", "i", "j", c(0))
    node("Neg", "i")
    node("Clip", "i", c(-3), c(4))
    node("Clip", "i", "", c(4))
    for op in ["Add", "Sub", "Mul", "Div", "Less", "Equal"]:
        node(op, "f", c(0.3, np.float32))
    node("Add", "x", c([[1], [2], [3]], np.float32))
    node("Sub", c([[[1]], [[2]]], np.float32), "x")
    for op in ["And", "Or", "Xor"]:
        node(op, "b", c([True, True, False, True, False, False, False], bool))
    node("Not", "b")
    node("Where", "b", "i", "j")
    node("Where", "b", c(1), c([[2], [3]]))
    node("Where", "b", "f", c(-1, np.float32))
    for to in [TensorProto.INT32, TensorProto.INT8, TensorProto.UINT8, TensorProto.UINT64, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.BOOL]:
        node("Cast", node("Cast", "i", to=to), to=TensorProto.DOUBLE)
    for to in [TensorProto.INT32, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.BOOL]:
        node("Cast", node("Cast", "f", to=to), to=TensorProto.FLOAT)
    tiny = c(np.ldexp(np.arange(1, 40, dtype=np.float32), -26), np.float32)
    node("Cast", node("Cast", tiny, to=TensorProto.FLOAT16), to=TensorProto.FLOAT)
    node("Cast", "b", to=TensorProto.INT64)
    node("CastLike", "i", "f")
    node("Identity", "x")
    node("Reshape", "x", c([0, -1]))
    node("Reshape", "x", c([4, 3, 2]))
    node("Reshape", c(np.zeros((0, 3)), np.float32), c([3, 0]), allowzero=1)
    node("Flatten", "x", axis=2)
    node("Flatten", "x", axis=0)
    one = node("Unsqueeze", "x", c([0, -1]))
    node("Squeeze", one)
    node("Squeeze", one, c([-1]))
    node("Transpose", "x")
    node("Transpose", "x", perm=[1, 0, 2])
    node("Reshape", node("Transpose", "x", perm=[1, 0, 2]), c([-1]))
    node("Concat", "x", "x", axis=-1)
    node("Concat", "i", "j", axis=0)
    node("Slice", "x", c([1]), c([3]), c([1]))
    node("Slice", "x", c([-1, 0]), c([-(2**63), 2**63 - 1]), c([2, 1]), c([-2, 2]))
    node("Slice", "x", c([5, -100]), c([9, 2]))
    node("Slice", "i", c([5]), c([1]), c([0]), c([-3]))
    node("Shape", "x")
    node("Shape", "x", start=1, end=-1)
    node("Size", "x")
    node("Expand", c([[1], [2]]), c([2, 1, 3]))
    node("Expand", "i", c([1]))
    node("Expand", c(["a", "b"], np.str_), c([2, 2]))
    node("ConstantOfShape", c([2, 2]), value=numpy_helper.from_array(np.array([5], np.int64)))
    node("ConstantOfShape", c([2]))
    node("Range", c(3), c(-4), c(-2))
    node("Range", c(3), c(3), c(1))
    node("ReduceProd", node("Shape", "x"), c([0]), keepdims=0)
    node("ReduceProd", node("Shape", "x"))
    graph = helper.make_graph(nodes, "evaluate", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in evaluate_inputs.items()],
                              outputs, list(constants.values()))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), "evaluate.onnx")


def evaluate_ir():
    p = {n: opset1.parameter(a.shape, a.dtype, name=n) for n, a in evaluate_inputs.items()}
    for n, v in p.items():
        v.output(0).set_names({n})
    x, i, j, b, f = p["x"], p["i"], p["j"], p["b"], p["f"]
    outs = []

    def c(value, dtype=np.int64):
        return opset1.constant(np.asarray(value, dtype))

    def strided(begin, end, strides, **masks):
        full = {m: [0] * len(begin) for m in ["begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"]}
        return opset1.strided_slice(x, c(begin), c(end), c(strides), **{**full, **masks})

    for op in ["add", "subtract", "multiply", "floor_mod", "mod", "minimum", "maximum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]:
        outs.append(getattr(opset1, op)(i, j))
    for op in ["add", "subtract", "multiply", "less"]:
        outs.append(getattr(opset1, op)(f, c(0.3, np.float32)))
    outs += [
        # The CPU plugin truncates where OpenVINO's specification, and its own evaluate, round down.
        opset1.divide(opset1.clamp(i, 0, 9), c([[2], [3]])), opset1.clamp(i, -2.5, 3.5), opset1.negative(i),
        opset1.logical_and(b, c([True, True, False, True, False, False, False], bool)), opset1.logical_not(b),
        opset1.logical_xor(b, c([True], bool)), opset13.bitwise_and(i, j), opset13.bitwise_or(i, j), opset13.bitwise_not(i),
        opset1.select(b, i, j), opset1.select(b, c(1), c([[2], [3]])),
        opset1.convert(i, "i32"), opset1.convert(b, "i64"), opset1.convert(f, "i64"), opset1.convert(f, "f16"),
        opset1.convert_like(i, f),
        opset1.reshape(x, c([0, -1]), True), opset1.reshape(x, c([4, 3, 2]), False), opset1.reshape(x, c([3, 8, 1]), True),
        opset1.unsqueeze(x, c([0, -1])), opset15.squeeze(opset1.unsqueeze(x, c([0, -1]))), opset1.squeeze(opset1.unsqueeze(x, c([0, -1])), c([-1])),
        opset1.transpose(x, c([1, 0, 2])), opset1.concat([x, x], -1),
        opset8.slice(x, c([1]), c([3]), c([1]), c([1])), opset8.slice(x, c([-1, 0]), c([-100, 100]), c([-2, 2]), c([2, 1])),
        opset8.slice(i, c([5]), c([1]), c([-3])),
        strided([0, 1], [1, 3], [1, 1]), strided([0, 1], [1, 3], [1, 1], begin_mask=[0, 1], end_mask=[1, 0]),
        strided([1, 0, 0], [2, 0, 2], [1, 1, 1], shrink_axis_mask=[1, 0, 0], end_mask=[0, 1, 0]),
        strided([0, 0, 1], [0, 0, 2], [1, 1, 1], new_axis_mask=[1, 0, 0], ellipsis_mask=[0, 1, 0]),
        strided([0, -1], [0, -5], [1, -1], ellipsis_mask=[1, 0]), strided([5, 0, 9], [0, 9, 0], [-1, 2, -2], end_mask=[1, 0, 0]),
        strided([0, -1], [0, 0], [1, 1], ellipsis_mask=[1, 0], shrink_axis_mask=[0, 1]),
        opset1.shape_of(x), opset3.shape_of(x, "i32"),
        opset1.broadcast(c([[1], [2]]), c([3, 2, 2])), opset3.broadcast(c([[1], [2]]), c([2, 1, 3]), broadcast_spec="BIDIRECTIONAL"),
        opset1.broadcast(c([1, 2]), c([2, 3]), c([0]), "explicit"),
        opset4.range(c(3), c(-4), c(-2), "i64"), opset4.range(c(3), c(9), c(4), "i32"),
        opset1.reduce_prod(opset1.shape_of(x), c([0]), True), opset1.reduce_prod(opset1.shape_of(x), c([0]), False),
    ]
    results = []
    for n, o in enumerate(outs):
        node = o if hasattr(o, "get_friendly_name") else o.node
        o.output(0).set_names({f"{node.get_type_name()}_{n}"})
        results.append(opset1.result(o))
    ov.save_model(ov.Model(results, list(p.values()), "evaluate"), "evaluate.xml", compress_to_fp16=False)


if os.path.exists("mlp.data"):  # onnx does not write over it
    os.remove("mlp.data")
np.savez("evaluate.inputs.npz", **evaluate_inputs)
evaluate_onnx()
record_onnx("evaluate", evaluate_inputs)
evaluate_ir()
record_ir("evaluate", evaluate_inputs)
export()
