"""The live peers of rival.py, each in a process of its own, because some peers
end their process when an index is bad.

    rival_peers.py PEER

reads one case a line, as a corpus has it without its answer, and writes one
answer a line: {"output": TENSOR}, {"error": TEXT}, or {"unasked": REASON} where
the peer has no way to say the case.
"""
import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading

import numpy as np

from rival_cases import BITS, LIMITS, Case, Tensor
from rival_computed import INPUTS, named

# ---------------------------------------------------------------- numpy arrays

NUMPY = {"bool": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "complex64": "complex64", "complex128": "complex128"}
NUMPY.update({name: "%sint%d" % ("u" if name[0] == "u" else "", BITS[name]) for name in LIMITS if BITS[name] >= 8})
NUMPY = {name: np.dtype(n) for name, n in NUMPY.items()}
try:
    import ml_dtypes
    for _name, _theirs in (("bf16", "bfloat16"), ("f8e4m3fn", "float8_e4m3fn"), ("f8e5m2", "float8_e5m2"), ("f8e4m3fnuz", "float8_e4m3fnuz"),
                           ("f8e5m2fnuz", "float8_e5m2fnuz"), ("f8e8m0", "float8_e8m0fnu"), ("f4e2m1", "float4_e2m1fn"),
                           ("i4", "int4"), ("u4", "uint4"), ("i2", "int2"), ("u2", "uint2")):
        if hasattr(ml_dtypes, _theirs):
            NUMPY[_name] = np.dtype(getattr(ml_dtypes, _theirs))
except ImportError:
    pass
NAMES = {dtype: name for name, dtype in NUMPY.items()}


class Unasked(Exception):
    """The peer has no way to say the case."""


def array_of(t):
    if t.dtype == "string":
        return t.array
    if t.dtype not in NUMPY:
        raise Unasked("no dtype %s" % t.dtype)
    dtype = NUMPY[t.dtype]
    if BITS[t.dtype] >= 8:
        return np.frombuffer(t.bytes(), dtype).reshape(t.shape).copy()
    if t.dtype in LIMITS:
        return t.array.astype(np.int8).astype(dtype)
    return t.array.astype(np.uint8).view(dtype)


def tensor_of(a, string=False):
    a = np.asarray(a, object if string else None)  # NumPy's own bytes lose NULs at their end
    if a.dtype.kind in "OSU":
        return Tensor.of("string", [x.decode() if isinstance(x, bytes) else str(x) for x in a.ravel()], a.shape)
    name = NAMES[a.dtype]
    if BITS[name] >= 8:
        return Tensor.of_bytes(name, np.ascontiguousarray(a).tobytes(), a.shape)
    flat = np.ascontiguousarray(a).ravel()
    codes = flat.astype(np.int64) if name in LIMITS else flat.view(np.uint8)
    return Tensor.of(name, [int(c) for c in codes], a.shape)


def axis_input(case):
    """The axis of an operator that takes it as an input, with its shape."""
    t = case.extra[0]
    if t.dtype not in LIMITS:
        return array_of(t)
    if not all(-2 ** 63 <= v < 2 ** 63 for v in t.array.ravel()):
        raise Unasked("no axis %s" % t.array)
    return t.array.astype(np.int64)


def given(case, *names):
    return {n: case.attributes[n] for n in names if n in case.attributes}


# ---------------------------------------------------------------- peers

def load_numpy():
    def ask(case):
        d, ix = array_of(case.data), array_of(case.indices)
        if case.op == "numpy.take":
            if case.attributes.get("mode") == "wrap" and any(isinstance(v, int) and abs(v) >= 2 ** 20 for v in case.indices.array.ravel()):
                raise Unasked("an index of 2^20 or more: mode wrap steps towards it")
            return tensor_of(np.take(d, ix, **given(case, "axis", "mode")))
        return tensor_of(np.take_along_axis(d, ix, **given(case, "axis")))
    return np.__version__, ask


def load_torch():
    import torch
    torch.set_num_threads(1)
    kinds = {"bf16": torch.bfloat16, "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "f8e4m3fnuz": torch.float8_e4m3fnuz,
             "f8e5m2fnuz": torch.float8_e5m2fnuz, "f8e8m0": getattr(torch, "float8_e8m0fnu", None)}
    kinds = {name: kind for name, kind in kinds.items() if kind is not None}
    back = {kind: name for name, kind in kinds.items()}

    def make(t):
        if t.dtype in kinds:
            raw = np.frombuffer(t.bytes(), np.int16 if BITS[t.dtype] == 16 else np.uint8).copy()
            return torch.from_numpy(raw).view(kinds[t.dtype]).reshape(t.shape)
        if t.dtype == "string" or BITS[t.dtype] < 8:
            raise Unasked("no dtype %s" % t.dtype)
        return torch.from_numpy(np.ascontiguousarray(array_of(t))).reshape(t.shape)

    def read(x):
        if x.dtype in back:
            name = back[x.dtype]
            raw = x.contiguous().view(torch.int16 if BITS[name] == 16 else torch.uint8).numpy()
            return Tensor.of_bytes(name, raw.tobytes(), tuple(x.shape))
        return tensor_of(x.numpy())

    def pooled(case):
        """torch.embedding_bag."""
        more = {name: make(t) for name, t in named(case).items()}
        return torch.nn.functional.embedding_bag(make(case.indices), make(case.data), **more, **case.attributes)

    def quantized(case):
        """The operators over rows of FBGEMM."""
        a, d, q = dict(case.attributes), make(case.data), torch.ops.quantized
        bits = a.pop("bits")
        names = {8: "byte", 4: "4bit", 2: "2bit"}
        if bits not in names:
            raise Unasked("no operator of such bits")
        if case.op == "torch.quantized_embedding_unpack":
            return getattr(q, "embedding_bag_%s_unpack" % names[bits])(d)
        ix = make(case.indices)
        if case.op == "torch.quantized_embedding_bag":
            more = {name: make(t) for name, t in named(case).items()}
            return getattr(q, "embedding_bag_%s_rowwise_offsets" % names[bits])(d, ix, **more, **a)
        if bits == 2 or d.dtype != torch.uint8 or d.ndim != 2 or d.shape[1] <= (8 if bits == 8 else 4):
            raise Unasked("no packed table of this data")
        # The operator takes a packed object alone: one that is made of the numbers, with the scales that round to these codes.
        tail, form = (8, torch.float32) if bits == 8 else (4, torch.float16)
        pair = d[:, -tail:].contiguous().view(form).to(torch.float32)
        codes = d[:, :-tail]
        if bits == 4:
            codes = torch.stack([codes & 15, codes >> 4], 2).reshape(len(d), -1)
        scale, zero = pair[:, 0].contiguous(), (-pair[:, 1] / pair[:, 0]).contiguous()
        full = torch.quantize_per_channel(codes.float() * pair[:, :1] + pair[:, 1:], scale, zero, 0, torch.quint8 if bits == 8 else torch.quint4x2)
        kept = torch.equal(full.int_repr().reshape(-1), (codes if bits == 8 else d[:, :-tail]).reshape(-1))
        if not kept or not torch.equal(-zero * scale, pair[:, 1]):
            raise Unasked("no packed table of these scales")
        return (q.embedding_byte if bits == 8 else q.embedding_4bit)(q.embedding_bag_prepack(full), ix)

    def ask(case):
        if case.op in INPUTS:
            return read(pooled(case) if case.op == "torch.embedding_bag" else quantized(case))
        d, ix, a = make(case.data), make(case.indices), case.attributes
        op = case.op.split(".")[1]
        if op in ("gather", "index_select") and not isinstance(a.get("dim"), int):
            raise Unasked("dim is needed")
        return read({"gather": lambda: torch.gather(d, a["dim"], ix), "index_select": lambda: torch.index_select(d, a["dim"], ix),
                     "take": lambda: torch.take(d, ix), "take_along_dim": lambda: torch.take_along_dim(d, ix, **given(case, "dim")),
                     "embedding": lambda: torch.nn.functional.embedding(ix, d, **given(case, "padding_idx"))}[op]())
    return torch.__version__.split("+")[0], ask


def load_jax():
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax import lax

    def ask(case):
        if "string" in (case.data.dtype, case.indices.dtype):
            raise Unasked("no strings")
        ix = array_of(case.indices)
        op, a = case.op, dict(case.attributes)
        if a.get("mode") == "":
            raise Unasked("no empty mode")
        d = jnp.asarray(array_of(case.data))
        if op == "jax.numpy.take":
            return tensor_of(jnp.take(d, jnp.asarray(ix), **a))
        if op == "jax.numpy.take_along_axis":
            wrap = a.pop("wrap_negative_indices", None)
            more = {} if wrap is None else {"wrap_negative_indices": wrap}
            return tensor_of(jnp.take_along_axis(d, jnp.asarray(ix), **a, **more))
        last = a.pop("index_vector_dim", ix.ndim - 1)
        if op.startswith("stablehlo"):
            if "slice_sizes" not in a:
                a["slice_sizes"] = case.extra[0].array.tolist()
            if not 0 <= last <= ix.ndim:
                raise Unasked("no such index_vector_dim")
            if last == ix.ndim:
                ix = ix[..., None]
            ix = np.moveaxis(ix, last, -1)
            # The other dims keep their order, and so their numbers up to the index vector's.
            moving = a.get("start_indices_batching_dims") or []
            if last in moving:
                raise Unasked("the index vector moves")
            a["start_indices_batching_dims"] = [y - (1 if y > last else 0) for y in moving]
            a["mode"] = "promise_in_bounds"
        numbers = lax.GatherDimensionNumbers(**{name: tuple(a.get(name) or ()) for name in (
            "offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims", "start_indices_batching_dims")})
        return tensor_of(lax.gather(d, jnp.asarray(ix), numbers, tuple(a.get("slice_sizes") or ()), mode=a.get("mode", "fill"), fill_value=a.get("fill_value")))
    return jax.__version__, ask


def onnx_model(case):
    from onnx import TensorProto, helper
    types = dict(f32="FLOAT", f64="DOUBLE", f16="FLOAT16", bf16="BFLOAT16", bool="BOOL", string="STRING", complex64="COMPLEX64",
                 complex128="COMPLEX128", f8e4m3fn="FLOAT8E4M3FN", f8e5m2="FLOAT8E5M2", f8e4m3fnuz="FLOAT8E4M3FNUZ", f8e5m2fnuz="FLOAT8E5M2FNUZ",
                 i4="INT4", u4="UINT4", f4e2m1="FLOAT4E2M1", f8e8m0="FLOAT8E8M0", i2="INT2", u2="UINT2")
    types.update({name: ("UINT%d" if name[0] == "u" else "INT%d") % BITS[name] for name in LIMITS if BITS[name] >= 8})
    def kind(t):
        if t.dtype not in types or not hasattr(TensorProto, types[t.dtype]):
            raise Unasked("no dtype %s" % t.dtype)
        return getattr(TensorProto, types[t.dtype])
    if any(v is None for v in case.attributes.values()):
        raise Unasked("no null")
    name, version = case.op.rsplit(".", 1)[1].split("-")
    domain = "com.microsoft" if case.op.startswith("com.microsoft") else ""
    stored = named(case) if case.op in INPUTS else {}
    node = helper.make_node(name, ["data", "indices"] + list(stored), ["output"], domain=domain, **case.attributes)
    # Codes, scales and zero points are constants, as in exported models; their types have no arrays of NumPy.
    constants = [helper.make_tensor(n, kind(t), t.shape, t.bytes(), raw=True) for n, t in [("data", case.data)] + list(stored.items())] if stored else []
    infos = [helper.make_tensor_value_info(n, kind(t), None) for n, t in (("data", case.data), ("indices", case.indices)) if n == "indices" or not stored]
    out = stored["scales"] if stored else case.data
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("output", kind(out), None)], constants)
    opsets = [helper.make_opsetid("", (23 if case.data.dtype == "f4e2m1" else 21) if stored else 13 if domain else int(version))]
    if domain:
        opsets.append(helper.make_opsetid(domain, int(version)))
    return helper.make_model(graph, opset_imports=opsets, ir_version=11 if stored else 8), kind(case.data)


def load_onnxruntime():
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    ort.set_default_logger_severity(4)

    def ask(case):
        model, kind = onnx_model(case)
        if case.op in INPUTS:
            session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            scales = named(case)["scales"].dtype
            out = session.run_with_ort_values(["output"], {"indices": ort.OrtValue.ortvalue_from_numpy(array_of(case.indices))})[0]
            shape = tuple(out.shape())
            n = int(np.prod(shape)) * BITS[scales] // 8
            return Tensor.of_bytes(scales, ctypes.string_at(out.data_ptr(), n) if n else b"", shape)
        d, ix = array_of(case.data), array_of(case.indices)
        if BITS[case.indices.dtype] < 8 or d.dtype.kind == "V" and BITS[case.data.dtype] < 8:
            raise Unasked("no packed types")
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        if d.dtype.kind != "V":
            return tensor_of(session.run(None, {"data": d, "indices": ix})[0])
        feed = {"data": ort.OrtValue.ortvalue_from_numpy_with_onnx_type(d.view(np.uint16 if d.dtype.itemsize == 2 else np.uint8), kind),
                "indices": ort.OrtValue.ortvalue_from_numpy(ix)}
        out = session.run_with_ort_values(["output"], feed)[0]
        shape = tuple(out.shape())
        n = int(np.prod(shape)) * d.dtype.itemsize
        return Tensor.of_bytes(case.data.dtype, ctypes.string_at(out.data_ptr(), n) if n else b"", shape)
    return ort.__version__, ask


def load_onnx():
    import onnx
    from onnx.reference import ReferenceEvaluator

    def ask(case):
        if case.op.startswith("com.microsoft"):
            raise Unasked("no com.microsoft")
        if "GatherElements" in case.op and (case.indices.dtype not in LIMITS or any(abs(v) >= 2 ** 20 for v in case.indices.array.ravel())):
            raise Unasked("indices that are no integers, or of 2^20 or more: numpy.choose, which it calls, steps towards them")
        model, _ = onnx_model(case)
        out = np.asarray(ReferenceEvaluator(model).run(None, {"data": array_of(case.data), "indices": array_of(case.indices)})[0])
        if out.dtype.kind == "O" and case.data.dtype != "string":
            raise ValueError("an array of objects")
        return tensor_of(out)
    return onnx.__version__, ask


def load_openvino():
    import openvino as ov
    from openvino import opset1, opset3, opset5, opset6, opset7, opset8, opset15
    core = ov.Core()
    names = {name: name for name in BITS}
    names.update(bool="boolean", f8e4m3fn="f8e4m3")
    names = {name: n for name, n in names.items() if hasattr(ov.Type, n)}
    back = {n: name for name, n in names.items()}

    def bits_of_u1(raw):
        """OpenVINO's u1 begins at the high bit."""
        return np.packbits(np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little"), bitorder="big").tobytes()

    def make(t):
        if t.dtype not in names:
            raise Unasked("no dtype %s" % t.dtype)
        kind = getattr(ov.Type, names[t.dtype])
        if t.dtype == "string":
            if any(s.endswith("\0") for s in t.array.ravel()):
                raise Unasked("NumPy's strings lose NULs at their end")
            return ov.Tensor(np.array(t.array, np.str_)) if t.array.size else ov.Tensor(kind, ov.Shape(list(t.shape)))
        x = ov.Tensor(kind, ov.Shape(list(t.shape)))
        if t.array.size:
            raw = bits_of_u1(t.bytes()) if t.dtype == "u1" else t.bytes()
            to = x.data.reshape(-1).view(np.uint8)
            to[:] = np.frombuffer(raw, np.uint8)[:to.size]
        return x

    def read(x):
        dtype, shape = back[x.element_type.to_string()], tuple(x.shape)
        if dtype == "string":
            return Tensor.of(dtype, [str(s) for s in np.array(x.str_data, object).ravel()], shape)
        raw = np.asarray(x.data).tobytes() if 0 not in shape else b""
        return Tensor.of_bytes(dtype, bits_of_u1(raw) if dtype == "u1" else raw, shape)

    def stored(case):
        """The pattern of a compressed table: everything but the indices is a constant."""
        more = {name: ov.op.Constant(make(t)) for name, t in named(case).items()}
        kind = getattr(ov.Type, names[named(case)["scale"].dtype]).to_string()
        v = opset1.convert(ov.op.Constant(make(case.data)), kind)
        if "zero_point" in more:
            v = opset1.subtract(v, opset1.convert(more["zero_point"], kind))
        v = opset1.multiply(v, more["scale"])
        if "reshape" in case.attributes:
            v = opset1.reshape(v, ov.op.Constant(np.array(case.attributes["reshape"], np.int64)), False)
        output = case.attributes.get("output", kind)
        output = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(output, output)
        if output != kind:
            v = opset1.convert(v, output)
        x = make(case.indices)
        p = opset1.parameter(ov.PartialShape(list(x.shape)), x.element_type)
        return opset8.gather(v, p, ov.op.Constant(np.array(case.attributes.get("axis", 0), np.int64))), [p], [x]

    def pooled(case):
        """The five operators of bags: numbers are constants, the rest parameters."""
        feed, parameters, nodes = [], [], {}
        for name, t in [("data", case.data), ("indices", case.indices)] + list(named(case).items()):
            x = make(t)
            if name in ("default_index", "num_segments"):
                nodes[name] = ov.op.Constant(x)
                continue
            p = opset1.parameter(ov.PartialShape(list(x.shape)), x.element_type)
            parameters.append(p)
            feed.append(x)
            nodes[name] = p
        a, more = case.attributes, {n: nodes[n] for n in ("default_index", "per_sample_weights") if n in nodes}
        d, ix = nodes["data"], nodes["indices"]
        node = {"EmbeddingBagOffsetsSum-3": lambda: opset3.embedding_bag_offsets_sum(d, ix, nodes["offsets"], **more),
                "EmbeddingBagOffsets-15": lambda: opset15.embedding_bag_offsets(d, ix, nodes["offsets"], **{"reduction": "sum", **a}, **more),
                "EmbeddingBagPackedSum-3": lambda: opset3.embedding_bag_packed_sum(d, ix, **more),
                "EmbeddingBagPacked-15": lambda: opset15.embedding_bag_packed(d, ix, **{"reduction": "sum", **a}, **more),
                "EmbeddingSegmentsSum-3": lambda: opset3.embedding_segments_sum(d, ix, nodes["segment_ids"], nodes["num_segments"], **more)}[
            case.op.split(".", 1)[1]]()
        return node, parameters, feed

    def run(node, parameters, feed):
        config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        request = core.compile_model(ov.Model([node], parameters, "m"), "CPU", config).create_infer_request()
        for i, x in enumerate(feed):
            request.set_input_tensor(i, x)
        request.infer()
        return read(request.get_output_tensor(0))

    def ask(case):
        if case.op in INPUTS:
            return run(*(stored(case) if case.op == "openvino.compressed-gather" else pooled(case)))
        feed, nodes, parameters = [make(case.data), make(case.indices)], [], []
        for x in feed:
            p = opset1.parameter(ov.PartialShape(list(x.shape)), x.element_type)
            parameters.append(p)
            nodes.append(p)
        if case.extra:
            axis = axis_input(case)
            nodes.append(ov.op.Constant(axis) if axis.size else opset1.constant(axis))
        if any(v is None for v in case.attributes.values()):
            raise Unasked("no null")
        b, axis = case.attributes.get("batch_dims", 0), case.attributes.get("axis", 0)
        make_node = {"Gather-1": lambda: opset1.gather(*nodes), "Gather-7": lambda: opset7.gather(*nodes, b), "Gather-8": lambda: opset8.gather(*nodes, b),
                     "GatherND-5": lambda: opset5.gather_nd(*nodes, b), "GatherND-8": lambda: opset8.gather_nd(*nodes, b),
                     "GatherElements-6": lambda: opset6.gather_elements(*nodes, axis)}[case.op.split(".", 1)[1]]
        return run(make_node(), parameters, feed)
    return ov.__version__.split("-")[0], ask


def import_tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != here]  # TensorFlow looks for a package "python", which python.py here is not
    import tensorflow as tf
    tf.get_logger().setLevel("ERROR")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf


def load_tensorflow():
    tf = import_tensorflow()

    def make(t):
        if t.dtype == "string":
            flat = np.array([s.encode() for s in t.array.ravel()] or np.empty(0, object), object)
            return tf.constant(flat.reshape(t.shape), tf.string, shape=t.shape)
        return tf.constant(array_of(t))

    def pooled(case):
        """Sums of sparse segments, and lookups, whose ids and weights are values of sparse tensors."""
        more, a = {name: make(t) for name, t in named(case).items()}, case.attributes
        d, ix = make(case.data), make(case.indices)
        name = case.op.split(".", 1)[1]
        if name.startswith("sparse_segment_"):
            call = {"sum": tf.sparse.segment_sum, "mean": tf.sparse.segment_mean, "sqrtn": tf.sparse.segment_sqrt_n}[name.rsplit("_", 1)[1]]
            return call(d, ix, more["segment_ids"], num_segments=more.get("num_segments"))
        ids = tf.SparseTensor(more["ids_indices"], ix, more["dense_shape"])
        weights = tf.SparseTensor(more["ids_indices"], more["weights"], more["dense_shape"]) if "weights" in more else None
        call = tf.nn.safe_embedding_lookup_sparse if name.startswith("safe") else tf.nn.embedding_lookup_sparse
        return call(d, ids, sparse_weights=weights, **a) if name.startswith("safe") else call(d, ids, weights, **a)

    def ask(case):
        if case.op in INPUTS:
            return tensor_of(pooled(case).numpy())
        if any(v is None for v in case.attributes.values()) and case.op != "tensorflow.gather":
            raise Unasked("no null")
        d, ix, a = make(case.data), make(case.indices), case.attributes
        op = case.op.split(".", 1)[1]
        return tensor_of({"GatherNd": lambda: tf.raw_ops.GatherNd(params=d, indices=ix, **a), "gather_nd": lambda: tf.gather_nd(d, ix, **a),
                          "GatherV2": lambda: tf.raw_ops.GatherV2(params=d, indices=ix, axis=tf.constant(axis_input(case)), **a),
                          "Gather": lambda: tf.raw_ops.Gather(params=d, indices=ix, **a), "gather": lambda: tf.gather(d, ix, **a),
                          "batch_gather": lambda: tf.compat.v1.batch_gather(d, ix)}[op]().numpy(), case.data.dtype == "string")
    return tf.__version__, ask


def load_tflite():
    tf = import_tensorflow()
    import flatbuffers
    import warnings
    from tensorflow.lite.python import schema_py_generated as schema
    warnings.simplefilter("ignore")
    types = dict(f32="FLOAT32", f16="FLOAT16", f64="FLOAT64", bf16="BFLOAT16", bool="BOOL", complex64="COMPLEX64", complex128="COMPLEX128", i4="INT4", string="STRING")
    types.update({name: ("UINT%d" if name[0] == "u" else "INT%d") % BITS[name] for name in LIMITS if BITS[name] >= 8})

    def tensor(t, shape):
        x = schema.TensorT()
        if t.dtype not in types or t.dtype == "string":
            raise Unasked("no dtype %s" % t.dtype)
        x.type, x.buffer, x.shape, x.name = getattr(schema.TensorType, types[t.dtype]), 0, shape, b"t"
        x.shapeSignature = None
        return x

    def scales(case):
        """The table's scales in the file: one, or one for each row."""
        scale = named(case)["scale"]
        if scale.dtype != "f32" or math.prod(scale.shape) not in (1, case.data.shape[0]) or scale.array.ndim not in (0, case.data.array.ndim):
            raise Unasked("no such scales")
        if case.data.dtype not in ("i8", "i4"):
            raise Unasked("no dtype %s of codes" % case.data.dtype)
        if scale.array.ndim and scale.shape[0] != math.prod(scale.shape):
            raise Unasked("scales along another axis")
        q = schema.QuantizationParametersT()
        q.scale = array_of(scale).reshape(-1)
        q.zeroPoint, q.quantizedDimension = np.zeros(q.scale.size, np.int64), 0
        return q

    def stored(t):
        """The bytes of a table in the file: two codes of 4 bits a byte, the first in the low half."""
        a = array_of(t)
        if t.dtype != "i4":
            return np.frombuffer(a.tobytes(), np.uint8)
        codes = a.astype(np.int8).reshape(-1) & 15
        codes = np.append(codes, np.zeros(codes.size % 2, np.int8)).astype(np.uint8)
        return codes[::2] | codes[1::2] << 4

    def options(case, node):
        """The node's attributes."""
        if case.op == "tflite.GATHER_ND":
            node.builtinOptionsType, node.builtinOptions = schema.BuiltinOptions.GatherNdOptions, schema.GatherNdOptionsT()
            return
        made = schema.GatherOptionsT()
        made.axis, made.batchDims = case.attributes.get("axis", 0), case.attributes.get("batch_dims", 0)
        if not all(-2 ** 31 <= v < 2 ** 31 for v in (made.axis, made.batchDims)):
            raise Unasked("a number of more than 32 bits")
        node.builtinOptionsType, node.builtinOptions = schema.BuiltinOptions.GatherOptions, made

    def ask(case):
        if any(v is None for v in case.attributes.values()):
            raise Unasked("no null")
        code, node, graph, model = schema.OperatorCodeT(), schema.OperatorT(), schema.SubGraphT(), schema.ModelT()
        lookup, hybrid = case.op.endswith(("EMBEDDING_LOOKUP", "lookup")), case.op in INPUTS
        number = schema.BuiltinOperator.EMBEDDING_LOOKUP if lookup else getattr(schema.BuiltinOperator, case.op.split(".")[1])
        code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), 4 if lookup else 1
        node.opcodeIndex, node.inputs, node.outputs = 0, [1, 0] if lookup else [0, 1], [2]
        if not lookup:
            options(case, node)
        data, indices = tensor(case.data, list(case.data.shape)), tensor(case.indices, list(case.indices.shape))
        answer, buffers, given = tensor(case.data, []), [schema.BufferT()], [case.data, case.indices]
        if hybrid:
            data.quantization, answer.type = scales(case), schema.TensorType.FLOAT32
            held = schema.BufferT()
            held.data, data.buffer = stored(case.data), 1
            buffers.append(held)
            given = [None, case.indices]
        graph.tensors, graph.outputs, graph.operators, graph.name = [data, indices, answer], [2], [node], b"g"
        graph.inputs = [i for i, t in enumerate(given) if t is not None]
        model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        interpreter = tf.lite.Interpreter(model_content=bytes(builder.Output()), num_threads=1)
        interpreter.allocate_tensors()
        for i in graph.inputs:
            interpreter.set_tensor(i, array_of(given[i]))
        interpreter.invoke()
        return tensor_of(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return tf.__version__, ask


def load_gguf():
    import importlib.metadata
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    def ask(case):
        kind = getattr(GGMLQuantizationType, case.attributes["type"])
        raw = array_of(case.data)
        if case.indices is not None:
            raw = np.take(raw, array_of(case.indices), 0)
        return tensor_of(dequantize(np.ascontiguousarray(raw), kind))
    return importlib.metadata.version("gguf"), ask


# Each peer: how it is loaded, and the dialects that it answers for.
PEERS = {
    "numpy": (load_numpy, ("numpy",)),
    "onnx": (load_onnx, ("onnx",)),
    "onnxruntime": (load_onnxruntime, ("onnx", "com.microsoft")),
    "openvino": (load_openvino, ("openvino",)),
    "torch": (load_torch, ("torch",)),
    "jax": (load_jax, ("jax", "stablehlo")),
    "tensorflow": (load_tensorflow, ("tensorflow",)),
    "tflite": (load_tflite, ("tflite",)),
    "gguf": (load_gguf, ("gguf",)),
}
LONGEST = 20  # seconds that a peer may take for one case
OF_TENSORFLOW = ("tensorflow", "tflite")  # these run under --tf-python


def answer_lines(peer_asks, lines, out):
    """Answers one case a line."""
    for line in lines:
        case = Case.of_line(json.loads(line))
        try:
            with np.errstate(all="ignore"):
                answer = {"output": peer_asks(case).line()}
        except Unasked as e:
            answer = {"unasked": str(e)}
        except Exception as e:  # a peer may raise anything
            answer = {"error": "%s: %s" % (type(e).__name__, e)}
        out.write(json.dumps(answer) + "\n")


class Child:
    """A fork of the loaded worker. A peer that ends its process ends only this, and the next costs no import."""

    def __init__(self, peer_asks):
        to, self.cases = os.pipe()
        self.answers, back = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.cases)
            os.close(self.answers)
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: also one that hangs ends with the worker
            answer_lines(peer_asks, os.fdopen(to, "r"), os.fdopen(back, "w", buffering=1))
            os._exit(0)
        os.close(to)
        os.close(back)

    def ask(self, line):
        """The answer's line, or None where the process ended or hung."""
        with contextlib.suppress(BrokenPipeError):
            rest = memoryview(line.encode())
            while rest:
                rest = rest[os.write(self.cases, rest):]
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([self.answers], [], [], LONGEST)[0]:
                os.kill(self.pid, signal.SIGKILL)
                return None
            part = os.read(self.answers, 1 << 20)
            if not part:
                return None
            answer += part
        return answer.decode()

    def close(self):
        """Ends a process that waits for a case."""
        os.close(self.cases)
        os.close(self.answers)
        os.waitpid(self.pid, 0)

    def ended(self):
        """How the process ended, in words."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.cases)
        os.close(self.answers)
        if status == -signal.SIGKILL:
            return "%d s without an answer" % LONGEST
        return "ended by %s" % signal.Signals(-status).name if status < 0 else "ended with status %d" % status


def worker(peer):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        version, peer_asks = PEERS[peer][0]()
    except ImportError as e:
        out.write(json.dumps({"missing": str(e)}) + "\n")
        return
    out.write(json.dumps({"version": version}) + "\n")
    child = None
    for line in sys.stdin:
        if line == "fresh\n":
            if child:
                child.close()
            child = None
            continue
        child = child or Child(peer_asks)
        answer = child.ask(line)
        if answer is None:
            answer, child = json.dumps({"crash": child.ended()}) + "\n", None
        out.write(answer)


class Peer:
    """A peer's worker."""

    def __init__(self, name, python):
        self.name, self.python, self.process, self.version = name, python, None, None

    def start(self):
        """Starts the worker; returns why it has no peer, None where it has one."""
        self.process = subprocess.Popen([self.python, os.path.abspath(__file__), self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        hello = json.loads(self.process.stdout.readline() or '{"missing": "its Python does not load it"}')
        self.version = hello.get("version")
        return hello.get("missing")

    def stop(self):
        """Ends the worker, also while it is asked, and with its pipes its child."""
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()

    def ask(self, cases, fresh=False):
        """The answers of the cases: as the worker writes them, or {"crash": HOW} where the peer ended its process or hung.
        fresh asks each in a process of its own."""
        def feed():
            for case in cases:
                if fresh:
                    self.process.stdin.write("fresh\n")
                self.process.stdin.write(case.text() + "\n")
            self.process.stdin.flush()
        writer = threading.Thread(target=feed)
        writer.start()
        answers = []
        for _ in cases:
            a = json.loads(self.process.stdout.readline())
            if "output" in a:
                a["output"] = Tensor.of_line(a["output"])
            answers.append(a)
        writer.join()
        return answers


if __name__ == "__main__":
    worker(sys.argv[1])
