"""Writes StableHLO as JAX lowers it, and what JAX answers: NAME.mlir and recorded.jsonl.

Of each case recorded.jsonl has the inputs, the results, and the gathers of the jaxpr, those of called
functions where they are called: dimension numbers and slice sizes. Written with jax 0.10.2 on the CPU:

    python make.py
"""

import json
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(7)


def bits(x):
    x = np.asarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "bytes": x.tobytes().hex()}


def gathers(jaxpr):
    found = []
    for e in jaxpr.eqns:
        if e.primitive.name == "gather":
            d = e.params["dimension_numbers"]
            found.append({
                "offset_dims": list(d.offset_dims), "collapsed_slice_dims": list(d.collapsed_slice_dims),
                "operand_batching_dims": list(d.operand_batching_dims),
                "start_indices_batching_dims": list(d.start_indices_batching_dims),
                "start_index_map": list(d.start_index_map), "slice_sizes": [int(n) if isinstance(n, int) else str(n) for n in e.params["slice_sizes"]],
                "index_vector_dim": len(e.invars[1].aval.shape) - 1,
                "shape": [int(n) if isinstance(n, int) else -1 for n in e.outvars[0].aval.shape],
            })
        for p in [q for p in e.params.values() for q in (p if isinstance(p, tuple) else [p])]:
            if hasattr(p, "jaxpr"):
                found += gathers(p.jaxpr if hasattr(p.jaxpr, "eqns") else p.jaxpr.jaxpr)
    return found


x = np.arange(20, dtype=np.float32).reshape(5, 4) / 3
wide = rng.integers(-100, 100, (3, 5, 4)).astype(np.int32)
ids = np.array([[0, 4], [2, -1], [3, 3]], np.int32)
far = np.array([[0, 9], [-7, 2], [5, -5]], np.int32)
few = np.array([1, 0, 3, 2, 1], np.int32)
table = jnp.asarray(rng.standard_normal((40, 3)).astype(np.float32))

cases = {
    "take": (lambda x, i: jnp.take(x, i, axis=0), (x, far)),
    "take_clip": (lambda x, i: jnp.take(x, i, axis=1, mode="clip"), (x, far)),
    "take_wrap": (lambda x, i: jnp.take(x, i, axis=0, mode="wrap"), (x, far)),
    "take_fill": (lambda x, i: jnp.take(x, i, axis=0, mode="fill", fill_value=-3), (wide, far)),
    "take_f16": (lambda x, i: jnp.take(x, i, axis=0), (x.astype(np.float16), far)),
    "take_flat": (lambda x, i: jnp.take(x, i), (wide, ids)),
    "along": (lambda x, i: jnp.take_along_axis(x, i, axis=0), (x, np.array([[0, 4, 1, 9], [-1, 2, 2, -6]], np.int32))),
    "along_last": (lambda x, i: jnp.take_along_axis(x, i, axis=2), (wide, rng.integers(0, 4, (3, 5, 2)).astype(np.int32))),
    "rows": (lambda x, i: x[i], (x, ids)),
    "rows_u8": (lambda x, i: x[i], (x, ids.astype(np.uint8) % 5)),
    "pairs": (lambda x, i, j: x[i, j], (x, few[:4], np.array([3, -1, 0, 7], np.int32))),
    "middle": (lambda x, i: x[:, i, 1:3], (wide, few)),
    "apart": (lambda x, i, j: x[i, :, j], (wide, np.array([2, 0], np.int32), np.array([1, 3], np.int32))),
    "vmap": (lambda x, i: jax.vmap(lambda a, b: a[b])(x, i), (x, few)),
    "vmap_take": (lambda x, i: jax.vmap(lambda a, b: jnp.take(a, b, axis=1, mode="clip"))(wide, i) + x, (np.int32(5), ids)),
    "embedding": (lambda i: table[i], (ids,)),
    "bools": (lambda i: jnp.asarray([True, False, True, True])[i], (few,)),
    "twice": (lambda x, i: jnp.take(jnp.take(x, i, axis=0), i, axis=1), (x, few[:3])),
    "arithmetic": (lambda x, i: x[jnp.clip((i * 3 - 2) // 2, 0, jnp.maximum(i, 4)).astype(jnp.int16)], (x, few)),
    "iota": (lambda x: x[jnp.concatenate([jnp.arange(3)[::-1], jnp.arange(2)])].T, (x,)),
    "scan": (lambda x, i: jax.lax.scan(lambda c, k: (c + x[k], c[0]), x[0], i), (x, few)),
    "cond": (lambda x, i: jax.lax.cond(i[0] > 0, lambda: x[i], lambda: x[i + 1]), (x, few)),
}

recorded = []
for name, (f, args) in cases.items():
    lowered = jax.jit(f).lower(*args)
    with open(os.path.join(HERE, name + ".mlir"), "w") as file:
        file.write(lowered.as_text())
    outs = jax.tree_util.tree_leaves(jax.jit(f)(*args))
    recorded.append({"name": name, "inputs": [bits(a) for a in args], "outputs": [bits(o) for o in outs],
                     "gathers": gathers(jax.make_jaxpr(f)(*args).jaxpr)})
    if name in ("take", "along", "vmap", "scan", "cond", "embedding"):
        with open(os.path.join(HERE, name + ".generic.mlir"), "w") as file:
            lowered.compiler_ir().operation.print(file=file, print_generic_op_form=True)

dynamic = export.export(jax.jit(lambda x, i: x[i]))(
    jax.ShapeDtypeStruct(export.symbolic_shape("a, b"), np.float32), ids)
with open(os.path.join(HERE, "dynamic.mlir"), "w") as file:
    file.write(dynamic.mlir_module().replace(HERE, ""))
with open(os.path.join(HERE, "bytecode.mlir"), "wb") as file:
    file.write(dynamic.mlir_module_serialized)

with open(os.path.join(HERE, "recorded.jsonl"), "w") as file:
    for r in recorded:
        file.write(json.dumps(r, default=int) + "\n")
