#!/usr/bin/env python3
"""Record what NumPy, PyTorch, JAX and OpenVINO do at edges that record.py does not
visit: attributes that are null or not given, indices without elements, negative
indices under the rarer modes, fill values beyond int64, and OpenVINO's inference
where an axis or a rank is not known.

    record_edges.py > edges.jsonl     (requirements.txt, main environment)
"""
import json, os

os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import numpy as np
import openvino
import torch
from jax import lax
from openvino import Dimension, PartialShape, opset1, opset5, opset6, opset7, opset8

NAMES = {"int64": "i64", "uint64": "u64", "float32": "f32", "int8": "i8"}
UNSET = object()


def tensor(a, name=None):
    a = np.asarray(a)
    values = ["NaN" if v != v else v for v in a.flatten().tolist()]
    return {"dtype": name or NAMES[str(a.dtype)], "shape": list(a.shape), "values": values}


def record(name, op, attributes, data, indices, call, version, error="rank"):
    line = {"name": name, "op": op, "attributes": attributes, "inputs": [tensor(data), tensor(indices)]}
    try:
        line["outputs"] = [tensor(call())]
    except Exception as e:
        line["error"], line["message"] = error, str(e).split("\n")[0][:160]
    line["source"] = version
    print(json.dumps(line, separators=(",", ":")))


def given(**attributes):
    return {k: v for k, v in attributes.items() if v is not UNSET}


def ints(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.int64).reshape(shape) * 10


def at(values):
    return np.array(values, dtype=np.int64)


def none(*shape):
    return np.zeros(shape, dtype=np.int64)


def numpy_cases():
    version = "numpy " + np.__version__
    for name, op, d, x, kw in [
        ("take-null", "take", ints(2, 3), at([[5], [-6]]), dict(axis=None)),
        ("take-null-mode", "take", ints(2, 3), at([2, -3]), dict(axis=1, mode=None)),
        ("take-unset", "take", ints(2, 3), at([5, 0]), dict()),
        ("along-unset", "take_along_axis", ints(2, 3), at([[2], [-3]]), dict()),
        ("along-unset-rank", "take_along_axis", ints(2, 3), at([5]), dict()),
        ("along-unset-deep", "take_along_axis", ints(2, 2, 3), at([[[2, 0]], [[-1, -3]]]), dict()),
        ("along-null", "take_along_axis", ints(2, 3), at([5, -6]), dict(axis=None)),
        ("along-null-rank", "take_along_axis", ints(2, 3), at([[2], [0]]), dict(axis=None)),
        ("along-null-empty", "take_along_axis", ints(2, 3), none(0), dict(axis=None)),
    ]:
        kw_call = {k: v for k, v in kw.items() if k != "mode" or v}
        record("numpy-" + name, "numpy." + op, kw, d, x, lambda: getattr(np, op)(d, x, **kw_call), version)


def torch_cases():
    version = "torch " + torch.__version__.split("+")[0]
    t = lambda a: torch.from_numpy(np.asarray(a))
    for name, d, x, dim in [
        ("matrix", ints(5), none(2, 0), 0), ("vector", ints(2, 3), none(0), 1), ("wide", ints(2, 3), none(0, 7), 0),
        ("deep", ints(2, 3), none(5, 0, 4), -1), ("scalar", ints(), none(3, 0), 0), ("no-data", none(0, 3), none(0, 9), 0),
        ("bad-dim", ints(2, 3), none(0), 2), ("one-index", ints(2, 3), at([[[0]]]), 0), ("wide-index", ints(2, 3), at([[0, 1, 0, 1]]), 0),
    ]:
        record("torch-gather-empty-" + name, "torch.gather", {"dim": dim}, d, x, lambda: torch.gather(t(d), dim, t(x)).numpy(), version)
    for name, d, x, dim in [
        ("unset", ints(2, 3), at([[5], [0]]), UNSET), ("unset-negative", ints(2, 3), at([5, -1]), UNSET), ("null", ints(2, 3), at([[5, 0]]), None),
        ("null-negative", ints(2, 3), at([-6]), None), ("null-scalar", ints(2, 3), at(4), None), ("null-empty", ints(2, 3), none(0), None),
        ("negative", ints(2, 3), at([[-1], [-3]]), 1),
    ]:
        record("torch-take-along-dim-" + name, "torch.take_along_dim", given(dim=dim), d, x,
               lambda: torch.take_along_dim(t(d), t(x), **given(dim=dim)).numpy(), version, "index-out-of-range")


def jax_cases():
    version = "jax " + jax.__version__
    for name, op, d, x, kw in [
        ("take-null", "take", ints(2, 3), at([[5], [-6]]), dict(axis=None, mode=None, fill_value=None)),
        ("take-u64", "take", np.array([1, 2], dtype=np.uint64), at([1, 5]), dict(axis=0, fill_value=18446744073709551615)),
        ("take-u64-odd", "take", np.array([1, 2], dtype=np.uint64), at([1, 5]), dict(axis=0, fill_value=9223372036854775809)),
        ("take-i64-odd", "take", ints(2), at([1, 5]), dict(axis=0, fill_value=-9007199254740993)),
        ("along-unset", "take_along_axis", ints(2, 3), at([[2], [-3]]), dict()),
        ("along-unset-rank", "take_along_axis", ints(2, 3), at([5]), dict()),
        ("along-null", "take_along_axis", ints(2, 3), at([5, -6, 6]), dict(axis=None, fill_value=-1)),
        ("along-null-rank", "take_along_axis", ints(2, 3), at([[2], [0]]), dict(axis=None)),
    ] + [
        (f"along-{mode or 'null'}-{'unset' if wrap is UNSET else wrap}".lower(), "take_along_axis", ints(3), at([-1, -3, -4, 3]), {"axis": 0, "mode": mode, **given(wrap_negative_indices=wrap)})
        for mode in (None, "fill", "clip", "promise_in_bounds") for wrap in (UNSET, None, True, False) if not (mode is None and wrap is UNSET)
    ]:
        record("jax-" + name, "jax.numpy." + op, kw, d, x, lambda: getattr(jnp, op)(jnp.asarray(d), jnp.asarray(x), **kw), version)
    for name, sizes, d, x in [
        ("one", (1, 2), ints(2, 3), at([[0, 1]])), ("zero-window", (1, 0), ints(2, 3), at([[0, 1]])), ("zero-collapsed", (0, 2), ints(2, 3), at([[0, 1]])),
        ("zero-collapsed-no-windows", (0, 2), ints(2, 3), none(0, 2)), ("zero-collapsed-no-data", (0, 2), none(0, 3), none(0, 2)),
    ]:
        numbers = dict(offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0, 1])
        record("jax-lax-" + name, "jax.lax.gather", dict(numbers, slice_sizes=list(sizes), mode="clip"), d, x,
               lambda: lax.gather(jnp.asarray(d), jnp.asarray(x), lax.GatherDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()}), sizes, mode="clip"), version)


def partial(shape):
    def dim(d):
        if isinstance(d, list):
            return Dimension(d[0], -1 if d[1] is None else d[1])
        return Dimension.dynamic() if d is None else Dimension(d)
    return PartialShape.dynamic() if shape is None else PartialShape([dim(d) for d in shape])


def known(shape):
    if shape.rank.is_dynamic:
        return None
    dims = []
    for d in shape:
        low, high = d.get_min_length(), d.get_max_length()
        dims.append(low if d.is_static else None if (low, high) == (0, -1) else [low, None if high == -1 else high])
    return dims


def openvino_cases():
    version = "openvino " + openvino.__version__.split("-")[0]
    X = None  # an axis that is known only when the model runs
    for name, op, attribute, data, indices, axis in [
        ("gather-axis-b1", "Gather-8", 1, [2, 3], [2, 7], X), ("gather7-axis-b1", "Gather-7", 1, [2, 3, 4], [2, 7], X),
        ("gather-axis-b2", "Gather-8", 2, [2, None, 4], [2, 3, 7], X), ("gather-axis-negative", "Gather-8", -1, [[1, 4], 3], [[3, 9], 7], X),
        ("gather-axis-b0", "Gather-8", 0, [2, 3], [5, 6], X), ("gather-axis-prefix", "Gather-8", 1, [2, 3], [5, 7], X),
        ("gather7-axis-prefix", "Gather-7", 2, [2, 3, 4], [2, [4, 5], 7], X), ("gather-axis-rank", "Gather-8", 1, None, [2, 7], X),
        ("gather1-axis", "Gather-1", 0, [2, 3], [5], X), ("gather-axis-batch-above", "Gather-8", 3, [2, 3], [2, 3], X),
        ("elements-indices", "GatherElements-6", 1, [2, 3, 4], None, X), ("elements-indices-ranges", "GatherElements-6", -1, [[2, 3], None, 4], None, X),
        ("elements-data", "GatherElements-6", 1, None, [2, None, 4], X), ("elements-both", "GatherElements-6", 0, None, None, X),
        ("elements-ranges", "GatherElements-6", 1, [[2, 5], None], [[3, 9], 4], X),
        ("nd-tuples", "GatherND-8", 1, [2, 3], [2, None], X), ("nd5-rank", "GatherND-5", 0, None, [2, 1], X),
    ]:
        d, i = opset1.parameter(partial(data), dtype=np.float32), opset1.parameter(partial(indices), dtype=np.int64)
        line = {"name": "openvino-infer-" + name, "op": "openvino." + op, "inputs": [{"dtype": "f32"}, {"dtype": "i64"}], "partial_shapes": [data, indices]}
        try:
            if op.startswith("Gather-"):
                line["inputs"].append({"dtype": "i32", "shape": []})
                line["partial_shapes"].append([])
                a = opset1.parameter([], dtype=np.int32)
                if op != "Gather-1":
                    line["attributes"] = {"batch_dims": attribute}
                node = {"Gather-1": lambda: opset1.gather(d, i, a), "Gather-7": lambda: opset7.gather(d, i, a, attribute), "Gather-8": lambda: opset8.gather(d, i, a, attribute)}[op]()
            elif op == "GatherElements-6":
                line["attributes"] = {"axis": attribute}
                node = opset6.gather_elements(d, i, attribute)
            else:
                line["attributes"] = {"batch_dims": attribute}
                node = (opset5 if op == "GatherND-5" else opset8).gather_nd(d, i, attribute)
            line["output_shape"] = known(node.output(0).get_partial_shape())
        except Exception as e:
            line["error"], line["message"] = "batch-dims", str(e).strip().split("\n")[-1][:160]
        line["source"] = version
        print(json.dumps(line, separators=(",", ":")))


numpy_cases()
torch_cases()
jax_cases()
openvino_cases()
