#!/usr/bin/env python3
"""Make test directories in the form of ONNX's backend tests.

    make_onnx_tests.py [DIR]      with onnx 1.23.2 and numpy; DIR is testdata/onnx

Each directory holds one gather: model.onnx, and test_data_set_N with input_N.pb
and output_0.pb. The results are computed here, with plain loops over lists that
follow the formulas of the operators; the onnx package only writes the messages.
"""
import itertools
import math
import pathlib
import shutil
import sys

import numpy as np
from onnx import TensorProto, helper

T = TensorProto


class Tensor:
    """A data type, a shape and the elements' bits (a string: its bytes)."""

    def __init__(self, dtype, shape, items):
        assert len(items) == math.prod(shape), (shape, len(items))
        self.dtype, self.shape, self.items = dtype, tuple(shape), list(items)

    def at(self, position):
        """Where an element stands, by its coordinates."""
        i = 0
        for p, d in zip(position, self.shape, strict=True):
            assert 0 <= p < d, (position, self.shape)
            i = i * d + p
        return i


def positions(shape):
    return itertools.product(*map(range, shape))


# ---------------------------------------------------------------- the operators

def counted(i, d):
    """An index, a negative one counted from the end of its axis."""
    assert -d <= i < d, (i, d)
    return i + d if i < 0 else i


def gather(data, indices, axis=0):
    r, q = len(data.shape), len(indices.shape)
    axis = axis + r if axis < 0 else axis
    shape = data.shape[:axis] + indices.shape + data.shape[axis + 1:]
    out = []
    for p in positions(shape):
        i = counted(indices.items[indices.at(p[axis:axis + q])], data.shape[axis])
        out.append(data.items[data.at(p[:axis] + (i,) + p[axis + q:])])
    return Tensor(data.dtype, shape, out)


def gather_elements(data, indices, axis=0):
    axis = axis + len(data.shape) if axis < 0 else axis
    out = []
    for p in positions(indices.shape):
        i = counted(indices.items[indices.at(p)], data.shape[axis])
        out.append(data.items[data.at(p[:axis] + (i,) + p[axis + 1:])])
    return Tensor(data.dtype, indices.shape, out)


def gather_nd(data, indices, batch_dims=0):
    q, k, b = len(indices.shape), indices.shape[-1], batch_dims
    shape = indices.shape[:-1] + data.shape[b + k:]
    out = []
    for p in positions(shape):
        t = [counted(indices.items[indices.at(p[:q - 1] + (j,))], data.shape[b + j]) for j in range(k)]
        out.append(data.items[data.at(p[:b] + tuple(t) + p[q - 1:])])
    return Tensor(data.dtype, shape, out)


OPERATORS = {"Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd}

# ---------------------------------------------------------------- messages

RAW = {T.FLOAT: 4, T.UINT8: 1, T.INT8: 1, T.UINT16: 2, T.INT16: 2, T.INT32: 4, T.INT64: 8, T.BOOL: 1, T.FLOAT16: 2,
       T.DOUBLE: 8, T.UINT32: 4, T.UINT64: 8, T.COMPLEX64: 8, T.COMPLEX128: 16, T.BFLOAT16: 2, T.FLOAT8E4M3FN: 1,
       T.FLOAT8E4M3FNUZ: 1, T.FLOAT8E5M2: 1, T.FLOAT8E5M2FNUZ: 1, T.FLOAT8E8M0: 1}
PACKED = {T.UINT4: 4, T.INT4: 4, T.FLOAT4E2M1: 4, T.UINT2: 2, T.INT2: 2}
SIGNED = {T.INT8: 8, T.INT16: 16, T.INT32: 32, T.INT64: 64}


def packed(t):
    bits = PACKED[t.dtype]
    per = 8 // bits
    out = bytearray(-(-len(t.items) // per))
    for i, v in enumerate(t.items):
        out[i // per] |= (v & ((1 << bits) - 1)) << (i % per * bits)
    return bytes(out)


def raw(t):
    if t.dtype in PACKED:
        return packed(t)
    w = RAW[t.dtype]
    return b"".join((v & ((1 << 8 * w) - 1)).to_bytes(w, "little") for v in t.items)


def message(t, name, typed):
    """A TensorProto: the elements in raw_data, or in the field of their type."""
    m = T(name=name, data_type=t.dtype, dims=t.shape)
    if t.dtype == T.STRING:
        m.string_data.extend(t.items)
    elif not typed:
        m.raw_data = raw(t)
    elif t.dtype == T.FLOAT:
        m.float_data.extend(np.frombuffer(raw(t), "<f4"))
    elif t.dtype == T.COMPLEX64:
        m.float_data.extend(np.frombuffer(raw(t), "<f4"))
    elif t.dtype in (T.DOUBLE, T.COMPLEX128):
        m.double_data.extend(np.frombuffer(raw(t), "<f8"))
    elif t.dtype == T.INT64:
        m.int64_data.extend(t.items)
    elif t.dtype in (T.UINT32, T.UINT64):
        m.uint64_data.extend(t.items)
    elif t.dtype in PACKED:
        m.int32_data.extend(packed(t))
    else:
        m.int32_data.extend(t.items)
    return m


def write(root, name, opset, op, sets, attributes={}, domain="", table=False, ir=None):
    """One test: sets are pairs of data and indices, of the same shapes; table makes data an initializer."""
    folder = root / name
    folder.mkdir(parents=True)
    data, indices = sets[0]
    inputs, initializers = ["data", "indices"], []
    infos = [helper.make_tensor_value_info(n, t.dtype, t.shape) for n, t in zip(inputs, (data, indices))]
    if table:
        initializers = [message(data, "data", False)]
        if ir is None or ir >= 4:
            infos = infos[1:]
    node = helper.make_node(op, inputs, ["output"], domain=domain, **attributes)
    result = helper.make_tensor_value_info("output", data.dtype, OPERATORS[op](data, indices, **attributes).shape)
    graph = helper.make_graph([node], name, infos, [result], initializer=initializers)
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir or 8)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for i, (data, indices) in enumerate(sets):
        into = folder / f"test_data_set_{i}"
        into.mkdir()
        out = OPERATORS[op](data, indices, **attributes)
        given = [indices] if table else [data, indices]
        for j, t in enumerate(given):
            (into / f"input_{j}.pb").write_bytes(message(t, f"input_{j}", i % 2 == 1).SerializeToString(deterministic=True))
        (into / "output_0.pb").write_bytes(message(out, "output_0", i % 2 == 1).SerializeToString(deterministic=True))


# ---------------------------------------------------------------- the cases

def numbers(dtype, shape, seed=1):
    """Bits that are all different from their neighbours, of any type."""
    n = math.prod(shape)
    if dtype == T.STRING:
        return Tensor(dtype, shape, [["", "é", "a\0b", "long " * 9][i % 4].encode() + str(i).encode() for i in range(n)])
    if dtype == T.BOOL:
        return Tensor(dtype, shape, [(i * 7 + seed) // 3 % 2 for i in range(n)])
    bits = PACKED.get(dtype) or 8 * RAW[dtype]
    u = [(i * 2654435761 + seed * 40503) * 0x9E3779B97F4A7C15 * 0x9E3779B97F4A7C15 % 2**128 >> 128 - bits for i in range(n)]
    if dtype in (T.FLOAT, T.DOUBLE, T.COMPLEX64, T.COMPLEX128):
        # Python would make signaling NaNs quiet on their way into typed fields, so there are none here.
        kind = "<f4" if dtype in (T.FLOAT, T.COMPLEX64) else "<f8"
        special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e-45, 1 / 3]
        w = RAW[dtype]
        each = w // np.dtype(kind).itemsize
        v = [special[i % 11] if i % 11 < 8 else (i * 37 % 64 - 31) / 8 for i in range(n * each)]
        b = np.array(v, kind).tobytes()
        u = [int.from_bytes(b[i * w:(i + 1) * w], "little") for i in range(n)]
    if dtype in SIGNED:
        u = [v - (1 << bits) if v >= 1 << (bits - 1) else v for v in u]
    return Tensor(dtype, shape, u)


def at(dims, shape, dtype=T.INT64, seed=1, negative=True):
    """Indices: component j lies in the axis dims[j % len(dims)]."""
    items = []
    for i in range(math.prod(shape)):
        d = dims[i % len(dims)]
        v = (i * 2654435761 + seed * 97) % 2**32 * d >> 32
        items.append(v - d if negative and (i + seed) % 3 == 0 else v)
    return Tensor(dtype, shape, items)


def both(make):
    """Two data sets, the second in typed fields."""
    return [make(1), make(2)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "onnx")
    shutil.rmtree(root, ignore_errors=True)
    for opset in (1, 11, 12, 13):
        write(root, f"gather_{opset}_axis0", opset, "Gather", both(lambda s: (numbers(T.FLOAT, (5, 3), s), at([5], (4,), seed=s))), {"axis": 0})
        write(root, f"gather_{opset}_axis1_2d", opset, "Gather", both(lambda s: (numbers(T.INT32, (3, 4, 2), s), at([4], (2, 3), T.INT32, s))), {"axis": 1})
        write(root, f"gather_{opset}_negative_axis", opset, "Gather", both(lambda s: (numbers(T.DOUBLE, (2, 3, 5), s), at([5], (), seed=s))), {"axis": -1})
        write(root, f"gather_{opset}_no_attribute", opset, "Gather", both(lambda s: (numbers(T.INT16, (6,), s), at([6], (3, 1), seed=s))))
        write(root, f"gather_{opset}_empty_indices", opset, "Gather", both(lambda s: (numbers(T.FLOAT, (4, 3), s), at([4], (2, 0), seed=s))), {"axis": 0})
        write(root, f"gather_{opset}_empty_data", opset, "Gather", both(lambda s: (numbers(T.FLOAT, (4, 0, 2), s), at([4], (3,), seed=s))), {"axis": 0})
    write(root, "gather_1_table", 1, "Gather", both(lambda s: (numbers(T.FLOAT, (7, 3)), at([7], (2, 2), seed=s, negative=False))), {"axis": 0}, table=True, ir=3)
    write(root, "gather_13_table", 13, "Gather", both(lambda s: (numbers(T.BFLOAT16, (7, 3)), at([7], (2, 2), seed=s))), {"axis": 0}, table=True)
    for dtype in sorted([*RAW, *PACKED, T.STRING]):
        kind = T.DataType.Name(dtype).lower()
        write(root, f"gather_13_{kind}", 13, "Gather", both(lambda s: (numbers(dtype, (3, 5), s), at([5], (3,), seed=s))), {"axis": 1}, ir=13)
    for opset in (11, 12, 13):
        write(root, f"gatherelements_{opset}_axis0", opset, "GatherElements", both(lambda s: (numbers(T.FLOAT, (3, 4), s), at([3], (2, 4), seed=s))), {"axis": 0})
        write(root, f"gatherelements_{opset}_smaller", opset, "GatherElements", both(lambda s: (numbers(T.UINT8, (3, 4, 5), s), at([4], (2, 6, 3), T.INT32, s))), {"axis": 1})
        write(root, f"gatherelements_{opset}_negative_axis", opset, "GatherElements", both(lambda s: (numbers(T.STRING, (2, 3), s), at([3], (2, 2), seed=s))), {"axis": -1})
        write(root, f"gatherelements_{opset}_empty", opset, "GatherElements", both(lambda s: (numbers(T.FLOAT, (2, 3), s), at([3], (2, 0), seed=s))), {"axis": 1})
        write(root, f"gathernd_{opset}_elements", opset, "GatherND", both(lambda s: (numbers(T.INT64, (4, 5), s), at([4, 5], (3, 2), seed=s))))
        write(root, f"gathernd_{opset}_slices", opset, "GatherND", both(lambda s: (numbers(T.FLOAT16, (4, 5, 3), s), at([4], (2, 3, 1), seed=s))))
        write(root, f"gathernd_{opset}_strings", opset, "GatherND", both(lambda s: (numbers(T.STRING, (2, 2, 3), s), at([2, 2], (4, 2), seed=s))))
        write(root, f"gathernd_{opset}_empty", opset, "GatherND", both(lambda s: (numbers(T.FLOAT, (2, 3), s), at([2], (0, 1), seed=s))))
    for opset in (12, 13):
        write(root, f"gathernd_{opset}_batch1", opset, "GatherND", both(lambda s: (numbers(T.INT32, (2, 4, 3), s), at([4], (2, 5, 1), seed=s))), {"batch_dims": 1})
        write(root, f"gathernd_{opset}_batch2", opset, "GatherND", both(lambda s: (numbers(T.INT4, (2, 3, 5), s), at([5], (2, 3, 1), seed=s))), {"batch_dims": 2}, ir=13)
    write(root, "microsoft_gathernd_elements", 13, "GatherND", both(lambda s: (numbers(T.FLOAT, (2, 2, 2), s), at([2, 2, 2], (2, 1, 3), seed=s))), domain="com.microsoft")
    write(root, "microsoft_gathernd_strings", 13, "GatherND", both(lambda s: (numbers(T.STRING, (3, 2), s), at([3], (2, 1), T.INT32, s))), domain="com.microsoft")


if __name__ == "__main__":
    main()
