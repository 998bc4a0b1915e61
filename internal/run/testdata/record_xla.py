"""Records what XLA answers to modules of StableHLO with arithmetic of floats: xla.jsonl.gz, one module a
line, with its inputs and its result.

    pip install jax==0.10.2 numpy
    python record_xla.py
"""

import gzip
import json
import os

import jax
import numpy as np
from jax._src import xla_bridge

jax.config.update("jax_enable_x64", True)
HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(int(os.environ.get("SEED", 5)))
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": jax.numpy.bfloat16, "i32": np.int32, "i64": np.int64, "i8": np.int8, "ui8": np.uint8, "i1": np.bool_}
FLOATS = ["f32", "f64", "f16", "bf16"]


def bits(x):
    x = np.ascontiguousarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "hex": x.tobytes().hex()}


def data(kind, n):
    """Numbers of every size, some of them special."""
    d = np.dtype(TYPES[kind])
    if kind == "i1":
        return rng.integers(0, 2, n).astype(bool)
    if kind not in FLOATS:
        return rng.integers(-100 if kind != "ui8" else 0, 100, n).astype(d)
    x = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)).astype(d)
    if rng.random() < .5:
        return x
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, 1e-40, 300.0, 65504.0], np.float64).astype(d)
    return np.where(rng.random(n) < .3, special[rng.integers(0, len(special), n)], x)


def modules():
    n = 24
    for turn in range(2):
        for t in FLOATS:
            of, flags = f"tensor<{n}x{t}>", f"tensor<{n}xi1>"
            for op in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"):
                yield op, [t, t], of, f"%0 = stablehlo.{op} %a0, %a1 : {of}"
            for op in ("abs", "negate", "sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz", "sqrt"):
                yield op, [t], of, f"%0 = stablehlo.{op} %a0 : {of}"
            for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
                yield "compare", [t, t], flags, f"%0 = stablehlo.compare {direction}, %a0, %a1, FLOAT : ({of}, {of}) -> {flags}"
            yield "select", ["i1", t, t], of, f"%0 = stablehlo.select %a0, %a1, %a2 : {flags}, {of}"
            yield "clamp", [t, t, t], of, f"%0 = stablehlo.clamp %a0, %a1, %a2 : {of}"
            for to in TYPES:
                yield "convert", [t], f"tensor<{n}x{to}>", f"%0 = stablehlo.convert %a0 : ({of}) -> tensor<{n}x{to}>"
                if to not in FLOATS:
                    yield "convert", [to], of, f"%0 = stablehlo.convert %a0 : (tensor<{n}x{to}>) -> {of}"
            # What a compiler may join, turn around or leave out.
            first, second = rng.choice(["add", "subtract", "multiply", "divide", "maximum"], 2)
            yield "two", [t, t, t], of, f"%b = stablehlo.{first} %a0, %a1 : {of}\n%0 = stablehlo.{second} %b, %a2 : {of}"
            yield "two", [t, t, t], of, f"%b = stablehlo.{first} %a0, %a1 : {of}\n%0 = stablehlo.{second} %a2, %b : {of}"
            for value in ("0.0", "1.0", "3.0", "0.5", "-2.0", "0.1", "1.1"):
                op = rng.choice(["add", "subtract", "multiply", "divide", "maximum"])
                yield "constant", [t], of, f"%c = stablehlo.constant dense<{value}> : {of}\n%0 = stablehlo.{op} %a0, %c : {of}"
                yield "constant", [t], of, f"%c = stablehlo.constant dense<{value}> : {of}\n%0 = stablehlo.{op} %c, %a0 : {of}"
            yield "same", [t], of, f"%0 = stablehlo.{first} %a0, %a0 : {of}"
            for by in ("f16", "bf16", "f32"):
                yield "narrowed", [t], of, f"%b = stablehlo.convert %a0 : ({of}) -> tensor<{n}x{by}>\n%0 = stablehlo.convert %b : (tensor<{n}x{by}>) -> {of}"
            yield "converted", [t], of, f"%b = stablehlo.convert %a0 : ({of}) -> tensor<{n}xf32>\n%c = stablehlo.add %b, %b : tensor<{n}xf32>\n%0 = stablehlo.convert %c : (tensor<{n}xf32>) -> {of}"


def main():
    client = xla_bridge.get_backend("cpu")
    with gzip.GzipFile(os.environ.get("TO", os.path.join(HERE, "xla.jsonl.gz")), "wb", mtime=0) as to:
        for op, types, result, body in modules():
            inputs = [data(t, 24) for t in types]
            arguments = ", ".join(f"%a{i}: tensor<24x{t}>" for i, t in enumerate(types))
            text = f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %0 : {result}\n}}\n"
            want = client.compile_and_load(text, client.devices()[:1]).execute([jax.device_put(x) for x in inputs])[0]
            line = {"runtime": f"xla of jax {jax.__version__} CPU", "op": op, "text": text, "inputs": [bits(x) for x in inputs], "want": bits(np.asarray(want))}
            to.write((json.dumps(line) + "\n").encode())


if __name__ == "__main__":
    main()
