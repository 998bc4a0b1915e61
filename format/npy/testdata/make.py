"""Makes numpy.jsonl: .npy files as numpy.save writes them, with what is in them. And checks files that garner wrote.

    pip install numpy==2.4.6 ml_dtypes==0.6.0
    python make.py                  makes numpy.jsonl beside this script
    go test -run TestNumPy ./format/npy -keep DIR
    python make.py --check DIR      loads what the test wrote and compares it with the same arrays

A line is one file: name; npy, its bytes in base64; ask, the dtype that the reader must be told, or ""; dtype and
shape; hex, the elements in C order, little-endian, packed types packed; or strings, each in hex; same, whether
writing the array as NumPy gives the same file; refused, what the error for a file that is not read must contain.
"""

import base64
import io
import json
import pathlib
import sys

import ml_dtypes
import numpy as np

SHORT = {"bool": "bool", "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "complex64",
         "complex128": "complex128", "bfloat16": "bf16", "float8_e8m0fnu": "f8e8m0", "float4_e2m1fn": "f4e2m1"}
BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "uint1": 1, "float4_e2m1fn": 4}


def short(name):
    """garner's name of a dtype: f8e4m3fn of float8_e4m3fn, u4 of uint4."""
    return SHORT.get(name) or name.replace("float8_", "f8").replace("int", "i").replace("ui", "u")


def saved(a, version=None):
    f = io.BytesIO()
    if version:
        np.lib.format.write_array(f, a, version)
    else:
        np.save(f, a)
    return f.getvalue()


def case(name, a, version=None, ask=None, same=False):
    a = np.asarray(a)
    line = {"name": name, "npy": base64.b64encode(saved(a, version)).decode(), "ask": "", "shape": list(a.shape), "same": same}
    if a.dtype.kind in "SU":
        line["dtype"] = "string"
        line["strings"] = [(s if isinstance(s, bytes) else s.encode()).hex() for s in a.ravel().tolist()]
        return line, a
    line["dtype"] = short(ask or a.dtype.name)
    if ask and not (ask == "float8_e5m2" and a.dtype.kind == "f"):
        line["ask"] = line["dtype"]
    raw = np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<")).view(np.uint8).ravel() if a.size else np.zeros(0, np.uint8)
    if ask in BITS:
        bits = BITS[ask]
        raw = np.packbits(((raw[:, None] >> np.arange(bits)) & 1).ravel().astype(np.uint8), bitorder="little")
    line["hex"] = raw.tobytes().hex()
    return line, a


def cases():
    rng = np.random.default_rng(3)

    def some(dtype, *shape):
        b = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype=np.uint8)
        return (b & 1 if dtype == "bool" else b).view(dtype).reshape(shape)

    for d in ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        a = some(d, 2, 3)  # any bits: NaN payloads too
        yield case(d, a, same=True)
        if a.itemsize > 1:
            yield case(d + " big-endian", a.astype(a.dtype.newbyteorder(">")) if a.dtype.kind in "iu" else a.byteswap().view(a.dtype.newbyteorder(">")))
    a = some("i4", 2, 3, 4)
    yield case("Fortran order", np.asfortranarray(a))
    yield case("Fortran order, big-endian", np.asfortranarray(a.astype(">i4")))
    yield case("Fortran order, strings", np.asfortranarray(a.astype("U12")))
    yield case("Fortran order, packed", np.asfortranarray(some("u1", 3, 5) & 15).astype(ml_dtypes.uint4, order="K"), ask="uint4")
    for v in [(1, 0), (2, 0), (3, 0)]:
        yield case(f"version {v[0]}", a, version=v, same=v == (1, 0))
    yield case("scalar", np.float32(1.5), same=True)
    yield case("vector", some("u2", 7), same=True)
    yield case("empty", some("f8", 3, 0, 2), same=True)
    yield case("32 dimensions", some("i1", *[1] * 31, 2), same=True)
    yield case("long", some("i8", 1000), same=True)

    words = np.array([["", "a", "naïve"], ["名前", "🙂!", "in\0side"]])
    yield case("U", words, same=True)
    yield case("U big-endian", words.astype(words.dtype.newbyteorder(">")))
    yield case("U wider than its strings", words.astype("U9"), same=True)
    yield case("U empty", np.zeros((0, 2), "U3"), same=True)
    yield case("U of empty strings", np.zeros(3, "U1"), same=True)
    yield case("S", np.array([b"", b"a", b"in\0side", b"\xff\xfe"]), same=True)
    yield case("S scalar", np.array(b"abc"), same=True)

    for name in ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
                 "int4", "uint4", "int2", "uint2", "uint1", "float4_e2m1fn"]:
        t = np.dtype(getattr(ml_dtypes, name))
        b = some("u2" if t.itemsize == 2 else "u1", 3, 5)
        if name in BITS:
            b &= (1 << BITS[name]) - 1
        a = b.view(t)
        yield case(name, a, ask=name)
        # As NumPy saves what it has loaded without ml_dtypes.
        line, _ = case(name, a, ask=name)
        line |= {"name": name + " as bytes", "npy": base64.b64encode(saved(a.view(f"V{t.itemsize}"))).decode(),
                 "ask": short(name), "same": True}
        yield line, a
    line, a = case("bfloat16 big-endian", some("u2", 4).view(ml_dtypes.bfloat16), ask="bfloat16")
    line["npy"] = base64.b64encode(saved(a.astype(a.dtype.newbyteorder(">")))).decode()
    yield line, a

    refused = {
        "long double": (np.zeros(2, np.longdouble), "long doubles (<f16)"),
        "complex long double": (np.zeros(2, np.clongdouble), "long doubles (<c32)"),
        "datetime": (np.zeros(2, "M8[ns]"), "datetime64"),
        "timedelta": (np.zeros(2, "m8[s]"), "timedelta64"),
        "object": (np.array([{}, None]), "Python objects"),
        "records": (np.zeros(2, [("name", "U3"), ("age", "i4")]), "records ([('name'"),
        "bytes without meaning": (np.zeros(2, "V3"), "does not say what its bytes mean"),
        "lone surrogate": (np.array(["a", "b\ud800"]), "element [1] of the file holds the code 0xd800"),
    }
    for name, (a, why) in refused.items():
        yield {"name": name, "npy": base64.b64encode(saved(a)).decode(), "refused": why}, a


here = pathlib.Path(__file__).parent
if len(sys.argv) == 3 and sys.argv[1] == "--check":
    n = 0
    for line, want in cases():
        if "refused" in line:
            continue
        got = np.load(pathlib.Path(sys.argv[2]) / (line["name"] + ".npy"), allow_pickle=False)
        if got.dtype.kind == "V":
            got = got.view(want.dtype.newbyteorder("<"))
        want = want.astype(want.dtype.newbyteorder("<"))
        if got.dtype != want.dtype or got.shape != want.shape or got.tolist() != want.tolist() \
                and got.tobytes() != want.tobytes():
            sys.exit(f"{line['name']}: {got.dtype}{got.shape} is not {want.dtype}{want.shape}")
        n += 1
    print(n, "files are the arrays that they were made of")
elif len(sys.argv) == 1:
    with open(here / "numpy.jsonl", "w", encoding="ascii", newline="\n") as f:
        for line, _ in cases():
            f.write(json.dumps(line) + "\n")
else:
    sys.exit(__doc__)
