"""Writes zoo.mlir and zoo.generic.mlir: operators of many syntaxes, with locations. Written with jax 0.10.2:

    python zoo.py
"""

import os

import jax
import jax.numpy as jnp
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def f(x, i, key):
    y = jax.lax.conv_general_dilated(x[None, :, :, None], jnp.ones((2, 2, 1, 3), x.dtype), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    s, o = jax.lax.sort_key_val(x[0], i)
    t, k = jax.lax.top_k(x, 2)
    w = jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + x[c[0]]), (jnp.int32(0), x[0]))
    b = jax.lax.switch(i[0], [lambda: x[i], lambda: x[i + 1], lambda: x * 2])
    u = x.at[i].add(1).at[i, 0].set(7)
    r = jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 2), (1, 1), "VALID")
    d = jax.lax.dynamic_slice(x, (i[0], 0), (2, 2))
    e = jax.lax.dynamic_update_slice(x, d, (0, i[1]))
    p = jnp.pad(x, 1)[::2, ::-1]
    n = jax.random.uniform(jax.random.wrap_key_data(key), (3,))
    z = jnp.fft.fft(x[0]).real, jnp.argmax(x, axis=1), jnp.cumsum(x, axis=0), jnp.linalg.cholesky(x @ x.T + jnp.eye(4))
    q = jax.lax.map(lambda j: x[j].sum(), i)
    return y, s, o, t, k, w, b, u, r, d, e, p, n, z, q, x.astype(jnp.float8_e4m3fn), jnp.tanh(x), jax.lax.erf(x), jax.lax.bitcast_convert_type(x, jnp.int32)


lowered = jax.jit(f).lower(np.ones((4, 4), np.float32), np.zeros(4, np.int32), np.zeros(2, np.uint32))
with open(os.path.join(HERE, "zoo.mlir"), "w") as file:
    file.write(lowered.as_text(debug_info=True).replace(HERE, ""))
with open(os.path.join(HERE, "zoo.generic.mlir"), "w") as file:
    lowered.compiler_ir().operation.print(file=file, print_generic_op_form=True)
