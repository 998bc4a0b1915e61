"""Makes the .gguf files beside it with the gguf package, and what that package reads from them.

    pip install gguf==0.19.0 numpy==2.4.6
    python make.py                  makes the files beside this script
    go test -run TestWrite ./format/gguf -keep DIR
    python make.py --check DIR      reads what the test wrote and compares it with what the package reads of real.gguf

all.npz holds every tensor of real.gguf as the package reads it, quantised ones dequantised, and under NAME#raw their
blocks.
"""

import pathlib
import sys

import numpy as np
from gguf import GGMLQuantizationType as Q, GGUFEndian, GGUFReader, GGUFValueType, GGUFWriter, quants
from gguf.constants import GGML_QUANT_SIZES

# The kinds that are read as numbers, each with the places of its scales of f16.
DEQUANTISED = {Q.Q8_0: [0], Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2], Q.Q2_K: [80, 82], Q.Q3_K: [108], Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208],
               Q.IQ4_NL: [0], Q.IQ4_XS: [0], Q.TQ1_0: [52], Q.TQ2_0: [64], Q.MXFP4: [], Q.NVFP4: []}
PLAIN = ["f4", "f2", "f8", "i1", "i2", "i4", "i8"]

# Scales without, or at the edge of, a value: zeros, subnormals, the largest, infinities, quiet and signalling NaNs.
SPECIAL = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 0xFDFF, 0x3C00]


def counting(dtype, shape, first):
    """Elements whose bytes count up from a number of the tensor's own, so that a mix-up shows."""
    n = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return ((np.arange(n) + first) % 251).astype("u1").view(dtype).reshape(shape)


def blocks(kind, rows, columns, seed):
    """Rows of random blocks; the first ones have special scales and minima."""
    block, size = GGML_QUANT_SIZES[kind]
    b = np.random.default_rng(seed).integers(0, 256, (rows * columns // block, size), "u1")
    for place, at in enumerate(DEQUANTISED.get(kind, [])):
        b[:, at + 1] &= 0xBF  # no scale is huge but those that are to be
        for i in range(min(len(SPECIAL), len(b) - 2)):
            scale = SPECIAL[(i * 5 + 3) % len(SPECIAL) if place else i]
            b[i, at : at + 2] = np.array([scale], "<u2").view("u1")
    return b.reshape(rows, -1)


def tensors():
    for k, dtype in enumerate(PLAIN):
        yield f"plain.{dtype}", counting(dtype, (3, 4), 16 * k), None
    yield "plain.bf16", counting("u2", (3, 4), 9).view("u1"), Q.BF16
    yield "cube", counting("f4", (2, 3, 4), 5), None
    yield "row", counting("f4", (5,), 77), None
    yield "naïve \"<名>\"", counting("i1", (3, 1), 1), None
    for k, kind in enumerate(DEQUANTISED):
        yield f"quantised.{kind.name}", blocks(kind, 4, max(128, 4 * GGML_QUANT_SIZES[kind][0]), k), kind
    for k, kind in enumerate(k for k in Q if GGML_QUANT_SIZES[k][0] > 1 and k not in DEQUANTISED):
        yield f"blocks.{kind.name}", blocks(kind, 1, GGML_QUANT_SIZES[kind][0], 50 + k), kind


def write(path, some, alignment=None, **options):
    w = GGUFWriter(path, "test", **options)
    if alignment:
        w.add_custom_alignment(alignment)
    w.add_string("test.text", "words " * 10)
    w.add_array("test.words", ["a", "", "naïve"])
    w.add_array("test.numbers", list(range(70)))
    w.add_array("test.nested", [[1, 2], [3]])
    for name, value, kind in [("u8", 8, "UINT8"), ("i64", -1, "INT64"), ("f64", 0.5, "FLOAT64"), ("yes", True, "BOOL")]:
        w.add_key_value("test." + name, value, GGUFValueType[kind])
    for name, a, kind in some:
        w.add_tensor(name, a, raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def read(path):
    """What the package reads, by name: the numbers, and the blocks as NAME#raw."""
    found = {}
    for t in GGUFReader(path).tensors:
        a = np.asarray(t.data)
        if t.tensor_type == Q.BF16:
            a = a.view("u2")
        if GGML_QUANT_SIZES[t.tensor_type][0] > 1:
            found[t.name + "#raw"] = a
            if t.tensor_type not in DEQUANTISED:
                continue
            with np.errstate(all="ignore"):
                a = quants.dequantize(a, t.tensor_type)
        found[t.name] = a.astype(a.dtype.newbyteorder("<"))
    return found


here = pathlib.Path(__file__).parent
if len(sys.argv) == 3 and sys.argv[1] == "--check":
    want = read(here / "real.gguf")
    got = {}
    for path in pathlib.Path(sys.argv[2]).glob("written.*.gguf"):
        got |= read(path)
    if len(got) != 9:
        sys.exit(f"{len(got)} tensors")
    for name, a in got.items():
        if a.dtype != want[name].dtype or a.shape != want[name].shape or a.tobytes() != want[name].tobytes():
            sys.exit(f"{name}: {a.dtype}{a.shape} is not what real.gguf has")
    print(len(got), "arrays are those of real.gguf")
elif len(sys.argv) == 1:
    everything = list(tensors())
    plain = [t for t in everything if t[0].startswith("plain.") and t[2] is None]
    write(here / "real.gguf", everything)
    np.savez_compressed(here / "all.npz", **read(here / "real.gguf"))
    write(here / "aligned.gguf", plain, alignment=128)
    data = bytearray((here / "aligned.gguf").read_bytes())
    data[4] = 2  # version 2 differs in nothing else
    (here / "version2.gguf").write_bytes(data)
    write(here / "big.gguf", plain, endianess=GGUFEndian.BIG)
    write(here / "split.gguf", plain, split_max_tensors=3)
    for name in ["aligned.gguf", "version2.gguf", "big.gguf"]:
        for k, a in read(here / name).items():
            assert a.tobytes() == read(here / "real.gguf")[k].tobytes(), (name, k)
else:
    sys.exit(__doc__)
