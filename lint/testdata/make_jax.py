"""Writes jax.json: what JAX lowers its gathers to, in StableHLO's text, for each mode of indices outside.

    pip install jax
    python make_jax.py

Each text is of data f32[5,4] and of indices i32[3] unless its name says another
dtype. TestJAX holds what lint finds in each.
"""

import json
import os
import warnings

import jax
import jax.numpy as jnp

warnings.filterwarnings("ignore")
jax.config.update("jax_enable_x64", True)
X = jax.ShapeDtypeStruct((5, 4), jnp.float32)
texts = {}


def add(name, f, dtype=jnp.int32):
    texts[name] = jax.jit(f).lower(X, jax.ShapeDtypeStruct((3,), dtype)).as_text()


for mode in ("wrap", "clip", "fill", None):
    add(f"take {mode}", lambda x, i, mode=mode: jnp.take(x, i, axis=0, mode=mode))
for mode in ("clip", "fill", "promise_in_bounds", None):
    add(f"at get {mode}", lambda x, i, mode=mode: x.at[i].get(mode=mode))
    add(f"along {mode}", lambda x, i, mode=mode: jnp.take_along_axis(x, i[:, None], axis=0, mode=mode))
for dtype in ("int64", "uint8", "uint32"):
    add(f"take wrap {dtype}", lambda x, i: jnp.take(x, i, axis=1, mode="wrap"), dtype=jnp.dtype(dtype))
add("take wrap flat", lambda x, i: jnp.take(x, i, mode="wrap"))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax.json"), "w") as f:
    json.dump({"jax": jax.__version__, "texts": texts}, f, indent=1)
    f.write("\n")
