"""Holds the definitions of rival_cases.py against the recordings in testdata/conformance."""
import glob
import json
import math
import os

import numpy as np

import rival_computed  # the definitions of operators that compute
from rival_cases import BITS, DEFINITIONS, LIMITS, Case, Refused, Tensor, answer
from rival_known import ROOT, disputed_names
from rival_peers import NUMPY

ALIASES = {"float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
           "float8_e8m0fnu": "f8e8m0", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz", "float4_e2m1fn": "f4e2m1"}
ALIASES.update({("uint" if name[0] == "u" else "int") + name[1:]: name for name in LIMITS})
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
CLASSES = ("dtype", "attribute", "index-out-of-range")  # the others are of shape, and count as one


class NotHere(Exception):
    """The line has no elements, no operator of rival_cases.py, or a dtype that this Python lacks."""


def tensor(t):
    dtype = ALIASES.get(t["dtype"], t["dtype"])
    if "hex" in t:
        return Tensor.of_bytes(dtype, bytes.fromhex(t["hex"]), t["shape"])
    if t.get("values") is None:
        raise NotHere
    if dtype in LIMITS or dtype in ("string", "bool", "nf4"):  # nf4 by its codes
        return Tensor.of(dtype, [int(v) for v in t["values"]] if dtype == "bool" else t["values"], t["shape"])
    if dtype not in NUMPY:
        raise NotHere
    number = lambda v: WORDS.get(v, v) if isinstance(v, str) else v
    a = np.empty(len(t["values"]), NUMPY[dtype])
    for i, v in enumerate(t["values"]):
        if dtype.startswith("complex"):
            a.real[i], a.imag[i] = map(number, v)
        else:
            a[i] = number(v)
    if BITS[dtype] < 8:
        return Tensor.of(dtype, [int(c) for c in a.view(np.uint8)], t["shape"])
    return Tensor.of_bytes(dtype, a.tobytes(), t["shape"])


def operator(d):
    """The operator that a line names, with its version."""
    if d["op"] in DEFINITIONS:
        return d["op"]
    versions = [op for op in DEFINITIONS if op.rpartition("-")[0] == d["op"]]
    versions = [op for op in versions if int(op.rpartition("-")[2]) <= d.get("opset", 1000)]
    if not versions:
        raise NotHere
    return max(versions, key=lambda op: int(op.rpartition("-")[2]))


def wrong(d):
    """Whether the definition does not give what the line asks for."""
    if "ir" in d or "partial_shapes" in d or "input_bytes" in d:
        raise NotHere
    ts = [tensor(t) for t in d["inputs"]]
    op = operator(d)
    if op in rival_computed.UNINDEXED:
        ts.insert(1, None)
    got = answer(Case(op, d.get("attributes", {}), ts[0], ts[1], ts[2:], d.get("policy")))
    if "error" in d:
        kind = lambda name: name if name in CLASSES else "shape"
        return not isinstance(got, Refused) or kind(got.kind) != kind(d["error"])
    if "outputs" not in d:
        raise NotHere
    want = tensor(d["outputs"][0])
    for i in d.get("unspecified", []):
        if isinstance(got, Tensor) and got.shape == want.shape:
            want.array.ravel()[i] = got.array.ravel()[i]
    return isinstance(got, Refused) or not (got.same(want) if "hex" in d["outputs"][0] else got.same_but_nan(want))


def check():
    """The number of lines that the definitions meet, and those that they do not; disputed ones must not be met."""
    met, bad, disputed = 0, [], disputed_names()
    for path in sorted(glob.glob(os.path.join(ROOT, "testdata", "conformance", "*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            for line in f:
                d = json.loads(line)
                try:
                    failed = wrong(d) != ((os.path.basename(path), d["name"]) in disputed)
                except NotHere:
                    continue
                met += not failed
                if failed:
                    bad.append("%s %s (%s)" % (os.path.basename(path), d["name"], d["op"]))
    return met, bad
