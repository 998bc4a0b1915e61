"""Makes the models of quantised tables and of bags of this folder, and records what
ONNX Runtime and OpenVINO answer to them, as make_models.py does.

    pip install numpy onnx onnxruntime openvino
    python make_quantised.py
    python make_quantised.py 7 /tmp/others   # other models, of another seed, elsewhere
"""

import os
import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import openvino as ov
from onnx import TensorProto, helper
from openvino import opset1, opset3, opset5, opset6, opset7, opset8, opset15

seed, where = (int(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else (1, os.path.dirname(os.path.abspath(__file__)))
os.chdir(where)
rng = np.random.default_rng(seed)


def packed(codes, bits):
    """Packs codes, the first in the lowest bits."""
    flat = np.asarray(codes, np.uint8).reshape(-1) & ((1 << bits) - 1)
    each = 8 // bits
    flat = np.concatenate([flat, np.zeros(-len(flat) % each, np.uint8)]).reshape(-1, each)
    return sum(flat[:, i].astype(np.uint16) << (bits * i) for i in range(each)).astype(np.uint8).tobytes()


def scale_of(shape, dtype):
    return (rng.standard_normal(shape) * 0.1).astype(dtype)


def blocks():
    """GatherBlockQuantized of every type of codes, by indices from the input."""
    types = {"int4": (TensorProto.INT4, 4), "uint4": (TensorProto.UINT4, 4), "uint8": (TensorProto.UINT8, 8)}
    nodes, tables, outputs = [], [], []
    for n in range(18):
        kind = ["int4", "uint4", "uint8"][n % 3]
        element, bits = types[kind]
        code_bits = int(rng.choice([8, 4, 2])) if kind == "uint8" else 4
        block = int(rng.choice([16, 32]))
        columns = block * int(rng.integers(1, 4)) - (0 if kind == "uint8" else int(rng.integers(0, 3)))
        rows = int(rng.integers(3, 12))
        shape = [rows, columns] if n % 4 else [rows, 3, columns]
        attributes = {"block_size": block, "quantize_axis": len(shape) - 1 if n % 2 else -1, "gather_axis": 0}
        if kind == "uint8":
            attributes["bits"] = code_bits
        elif n % 5 == 0:
            attributes["gather_axis"] = 1 if n % 2 else -2
            attributes["quantize_axis"] = len(shape) - 1
        codes = rng.integers(0, 1 << code_bits, shape)
        stored = list(shape)
        stored[-1] = stored[-1] * code_bits // bits
        tables.append(helper.make_tensor(f"q{n}", element, stored, packed(codes, code_bits), raw=True))
        across = shape[:-1] + [-(-columns // block)]
        s = scale_of(across, np.float16 if n % 3 == 1 else np.float32)
        tables.append(helper.make_tensor(f"s{n}", TensorProto.FLOAT16 if n % 3 == 1 else TensorProto.FLOAT, across, s.tobytes(), raw=True))
        inputs = [f"q{n}", "ids", f"s{n}"]
        if n % 2:
            zeros = list(across)
            zeros[-1] = -(-zeros[-1] * code_bits // bits)
            z = rng.integers(0, 1 << code_bits, zeros[:-1] + [zeros[-1] * bits // code_bits])
            tables.append(helper.make_tensor(f"z{n}", element, zeros, packed(z, code_bits), raw=True))
            inputs.append(f"z{n}")
        elif n % 4 == 0:
            inputs.append("")  # an optional input that is left out
        nodes.append(helper.make_node("GatherBlockQuantized", inputs, [f"r{n}"], name=f"n{n}", domain="com.microsoft", **attributes))
        outputs.append(helper.make_empty_tensor_value_info(f"r{n}"))
    ids = np.array([[1, 0, -1], [2, -2, 0]], np.int64)
    graph = helper.make_graph(nodes, "blocks", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "s"])], outputs, tables)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), "blocks.onnx")
    np.savez("blocks.inputs.npz", ids=ids)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession("blocks.onnx", options, providers=["CPUExecutionProvider"])
    answers = session.run(None, {"ids": ids})
    np.savez("blocks.onnxruntime.npz", **{o.name: a for o, a in zip(session.get_outputs(), answers)})


def constant(kind, shape, raw):
    """A constant of any type of OpenVINO."""
    t = ov.Tensor(getattr(ov.Type, kind), ov.Shape(shape))
    t.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(raw, np.uint8)
    return ov.op.Constant(t)


floats = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
widths = {"u8": 8, "i8": 8, "u4": 4, "i4": 4, "nf4": 4, "f8e4m3": 8, "f8e5m2": 8}


def table_of(kind, shape):
    """Random codes of a type, finite."""
    n = int(np.prod(shape))
    if kind == "f8e4m3":
        raw = rng.standard_normal(n).astype(ml_dtypes.float8_e4m3fn).tobytes()
    elif kind == "f8e5m2":
        raw = rng.standard_normal(n).astype(ml_dtypes.float8_e5m2).tobytes()
    else:
        raw = packed(rng.integers(0, 1 << widths[kind], n), widths[kind])
    return constant(kind, shape, raw)


def save(results, parameters, name, inputs):
    for n, o in enumerate(results):
        o.output(0).set_names({f"r{n}"})
        (o if hasattr(o, "set_friendly_name") else o.node).set_friendly_name(f"n{n}")
    m = ov.Model([opset1.result(o) for o in results], parameters, name)
    ov.save_model(m, name + ".xml", compress_to_fp16=False)
    np.savez(name + ".inputs.npz", **inputs)
    compiled = ov.Core().compile_model(name + ".xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    answers = compiled({i: inputs[i.any_name] for i in compiled.inputs})
    np.savez(name + ".openvino.npz", **{f"r{n}": np.array(answers[o]) for n, o in enumerate(compiled.outputs)})


def parameter(name, value, static=False):
    p = opset1.parameter(value.shape if static else [-1] * value.ndim, value.dtype, name=name)
    p.output(0).set_names({name})
    return p


def compressed():
    """Gathers of tables that Convert, Subtract and Multiply make of constants."""
    ids = np.array([[3, 0, -1], [1, -2, 3]], np.int32)
    p = parameter("ids", ids)
    results = []
    for n in range(28):
        kind = list(widths)[n % len(widths)]
        grouped = n % 3 == 1
        rows, groups, per = int(rng.integers(4, 9)), int(rng.integers(1, 4)), int(rng.choice([4, 8, 16, 64]))
        shape = [rows, groups, per] if grouped else [rows, groups * per]
        # OpenVINO 2026.4.1 reads other memory where a scale is of a column, such as [1, columns].
        across = [rows, groups, 1] if grouped else [[rows, 1], [1], [rows, 1], []][n % 4]
        computed = "f16" if n % 2 else "f32"
        out = "f32" if n % 4 != 3 else computed
        v = opset1.convert(table_of(kind, shape), computed)
        if n % 5 < 3 and not kind.startswith(("f8", "nf")):
            zeros = constant(kind, across, packed(rng.integers(0, 1 << widths[kind], across), widths[kind]))
            v = opset1.subtract(v, opset1.convert(zeros, computed))
        elif n % 5 == 3:
            v = opset1.subtract(v, constant(computed, across, rng.integers(0, 3, across).astype(floats[computed]).tobytes()))
        if n % 6 == 4 and computed == "f32" and kind != "nf4":
            scale = opset1.convert(constant("f16", across, scale_of(across, np.float16).tobytes()), "f32")
        else:
            scale = constant(computed, across, scale_of(across, floats[computed]).tobytes())
        v = opset1.multiply(v, scale) if n % 7 else opset1.multiply(scale, v)
        if grouped:
            v = opset1.reshape(v, opset1.constant(np.array([rows, -1] if n % 2 else [0, groups * per], np.int64)), n % 2 == 0)
        if out != computed:
            v = opset1.convert(v, out)
        results.append(opset8.gather(v, p, opset1.constant(np.array([0, 0, 1, -1][n % 4], np.int64))))
        if computed == "f32":
            table = v
    results += [table, opset3.shape_of(table)]  # which is wanted elsewhere too
    save(results, [p], "compressed", {"ids": ids})


def bags():
    """OpenVINO's five bags, with their optional operands and without."""
    ids, matrix = np.array([3, 0, 1, 1, 4, 2, 0], np.int64), np.array([[3, 0], [1, 4], [2, 2]], np.int32)
    offsets, segments = np.array([0, 2, 2, 5], np.int64), np.array([0, 0, 2, 2, 2, 3, 3], np.int64)
    weights = rng.standard_normal(7).astype(np.float32)
    inputs = {"ids": ids, "matrix": matrix, "offsets": offsets, "segments": segments, "weights": weights}
    p = {name: parameter(name, value, static=True) for name, value in inputs.items()}  # the CPU plugin's own condition
    table = opset1.constant(rng.standard_normal((5, 6)).astype(np.float32))
    cube = opset1.constant(rng.standard_normal((5, 2, 3)).astype(np.float32))
    whole = opset1.constant(rng.integers(-9, 9, (5, 4)).astype(np.int32))
    default, four = opset1.constant(np.array(1, np.int64)), opset1.constant(np.array(4, np.int64))
    nowhere = opset1.constant(np.array(-1, np.int64))
    two = opset1.constant(rng.standard_normal((3, 2)).astype(np.float32))
    i, o, s, w, m = p["ids"], p["offsets"], p["segments"], p["weights"], p["matrix"]
    results = [
        opset3.embedding_bag_offsets_sum(table, i, o),
        opset3.embedding_bag_offsets_sum(cube, i, o, default_index=default),
        opset3.embedding_bag_offsets_sum(table, i, o, default_index=nowhere, per_sample_weights=w),
        opset3.embedding_bag_offsets_sum(whole, i, o, default_index=default),
        opset15.embedding_bag_offsets(table, i, o, reduction="mean"),
        opset15.embedding_bag_offsets(table, i, o, default_index=default, reduction="mean"),
        opset15.embedding_bag_offsets(table, i, o, default_index=default, per_sample_weights=w, reduction="sum"),
        opset3.embedding_bag_packed_sum(table, m),
        opset3.embedding_bag_packed_sum(cube, m, per_sample_weights=two),
        opset15.embedding_bag_packed(table, m, reduction="mean"),
        opset15.embedding_bag_packed(whole, m, reduction="sum"),
        opset3.embedding_segments_sum(table, i, s, four),
        opset3.embedding_segments_sum(table, i, s, four, default_index=default),
        opset3.embedding_segments_sum(cube, i, s, four, default_index=default, per_sample_weights=w),
    ]
    save(results, list(p.values()), "bags", inputs)


def compressed_others():
    """The other gathers, and bags, of such tables: OpenVINO computes these tables."""
    inputs = {
        "ids": np.array([3, 0, 1, 1, 2], np.int64), "matrix": np.array([[3, 0], [1, 2]], np.int32), "offsets": np.array([0, 2, 2], np.int64),
        "segments": np.array([0, 0, 2, 2, 3], np.int64), "weights": rng.standard_normal(5).astype(np.float32), "batch": np.array([[1, 0, 2]] * 4, np.int64),
    }
    p = {name: parameter(name, value, static=True) for name, value in inputs.items()}
    i, m, o, s, w, b = p.values()
    at = lambda n: opset1.constant(np.array(n, np.int64))
    gathers = [
        lambda v: opset1.gather(v, i, at(0)), lambda v: opset7.gather(v, m, at(0)), lambda v: opset1.gather(v, i, at(1)), lambda v: opset7.gather(v, i, at(-1)),
        lambda v: opset7.gather(v, b, at(1), 1), lambda v: opset8.gather(v, b, at(1), -1), lambda v: opset8.gather_nd(v, m), lambda v: opset5.gather_nd(v, m, 0),
        lambda v: opset6.gather_elements(v, b, 1),
        lambda v: opset3.embedding_bag_offsets_sum(v, i, o, at(1), w), lambda v: opset15.embedding_bag_offsets(v, i, o, at(1), reduction="mean"),
        lambda v: opset3.embedding_bag_packed_sum(v, m), lambda v: opset15.embedding_bag_packed(v, m, reduction="mean"), lambda v: opset3.embedding_segments_sum(v, i, s, at(4), at(2), w),
    ]
    results = []
    for n in range(4 * len(gathers)):
        kind = list(widths)[n % len(widths)]
        grouped, computed = n % 3 == 1, ["f32", "f16"][n // 2 % 2]
        groups, per = int(rng.integers(1, 4)), int(rng.choice([4, 8, 16]))
        shape = [4, groups, per] if grouped else [4, groups * per]
        across = [4, groups, 1] if grouped else [[4, 1], [1], [1, groups * per], []][n % 4]
        v = opset1.convert(table_of(kind, shape), computed)
        if n % 5 < 3 and not kind.startswith(("f8", "nf")):
            zeros = constant(kind, across, packed(rng.integers(0, 1 << widths[kind], across), widths[kind]))
            v = opset1.subtract(v, opset1.convert(zeros, computed))
        scale = constant(computed, across, scale_of(across, floats[computed]).tobytes())
        v = opset1.multiply(v, scale) if n % 7 else opset1.multiply(scale, v)
        if grouped:
            v = opset1.reshape(v, at([4, -1]), False)
        gather = gathers[n % len(gathers)]
        v = opset1.convert(v, "f32") if computed == "f16" else v
        results.append(gather(v))
    save(results, list(p.values()), "compressed_others", inputs)


blocks()
compressed()
bags()
compressed_others()
