"""Records what gguf-py and torch answer, beside the corpora here.

    pip install gguf==0.19.0 numpy==2.4.6        python record.py gguf     writes digests.json
    pip install torch==2.15.0 numpy==2.4.6       python record.py torch    writes torch-rows.jsonl

digests.json holds SHA-256 sums of dequantised blocks of each kind: "scales" of 65,536 blocks that have every f16 as
their scale, "random" of 10,000 random ones. codec_test.go makes the same blocks. NaNs have the bits that x86 gives them.

torch-rows.jsonl holds rows of FBGEMM whose scales and biases have all bits of their type, in the form of the corpora.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).parent

# Where a block has scales of f16.
F16 = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
       "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64]}
OTHER = ["BF16", "MXFP4", "NVFP4"]


def noise(blocks, size):
    """Bytes that follow from their place alone."""
    x = np.arange(blocks, dtype=np.uint32)[:, None] * np.uint32(2654435761) + np.arange(size, dtype=np.uint32)[None, :] * np.uint32(2246822519)
    for shift in (15, 13, 16):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(2246822519)
    return (x >> np.uint32(24)).astype(np.uint8)


def gguf():
    from gguf import GGMLQuantizationType as Q, quants
    from gguf.constants import GGML_QUANT_SIZES

    def digest(b, kind):
        with np.errstate(all="ignore"):
            a = quants.dequantize(b, Q[kind]).astype("<f4")
        return hashlib.sha256(a.tobytes()).hexdigest()

    found = {}
    for kind in list(F16) + OTHER:
        size = GGML_QUANT_SIZES[Q[kind]][1]
        found[kind] = {"random": digest(noise(10000, size), kind)}
        if kind in F16:
            b = np.resize(noise(509, size), (1 << 16, size))
            scale = np.arange(1 << 16, dtype=np.uint32)
            for at in F16[kind]:
                b[:, at:at + 2] = scale.astype("<u2").view("u1").reshape(-1, 2)
                scale = scale * np.uint32(40503) + np.uint32(12345)
            found[kind]["scales"] = digest(b, kind)
    (here / "digests.json").write_text(json.dumps(found, indent=1) + "\n")


def torch():
    import torch
    ops = torch.ops.quantized
    rng = np.random.default_rng(1)

    def tensor(name, a):
        return {"name": name, "dtype": a.dtype.name, "shape": list(a.shape), "hex": np.ascontiguousarray(a).tobytes().hex()}

    with open(here / "torch-rows.jsonl", "w") as f:
        for bits, columns in [(8, 32), (8, 7), (4, 40), (4, 6), (2, 36), (2, 4)]:
            codes = rng.integers(0, 256, (12, columns * bits // 8), dtype=np.uint8)
            tail = (rng.normal(size=(12, 2)) * 10.0 ** rng.integers(-3, 3, (12, 2))).astype(np.float32 if bits == 8 else np.float16)
            if columns > 30:  # sums that lie halfway between two f32, but for a last bit
                tail[0], tail[1], tail[2] = [1 + 2.0 ** -17, 2.0 ** -60], [1 + 2.0 ** -17, -(2.0 ** -60)], [2.0 ** -149, 3 * 2.0 ** -149]
                codes[:3, 0] = 255
            raw = np.concatenate([codes, tail.view(np.uint8)], axis=1)
            unpack = {8: ops.embedding_bag_byte_unpack, 4: ops.embedding_bag_4bit_unpack, 2: ops.embedding_bag_2bit_unpack}[bits]
            out = unpack(torch.from_numpy(raw)).numpy()
            f.write(json.dumps({"name": f"rows-{bits}b-{columns}", "source": f"torch {torch.__version__.split('+')[0]} CPU", "op": "torch.quantized_embedding_unpack", "attributes": {"bits": bits},
                                "inputs": [tensor("data", raw)], "outputs": [tensor("", out)]}, separators=(",", ":")) + "\n")
            # A table's own codes and scales, read back from its packed form.
            if bits == 8:
                q = torch.quantize_per_channel(torch.from_numpy(rng.normal(size=(9, columns)).astype(np.float32)), torch.from_numpy(np.abs(rng.normal(size=9) / 50).astype(np.float32)),
                                               torch.from_numpy((128 + rng.normal(size=9)).astype(np.float32)), 0, torch.quint8)
                scale, zero = q.q_per_channel_scales().numpy().astype(np.float32), q.q_per_channel_zero_points().numpy().astype(np.float32)
                raw = np.concatenate([q.int_repr().numpy(), np.stack([scale, -zero * scale], 1).astype(np.float32).view(np.uint8)], axis=1)
                at = np.array([8, 0, 3, 3], np.int64)
                out = ops.embedding_byte(ops.embedding_bag_prepack(q), torch.from_numpy(at)).numpy()
                f.write(json.dumps({"name": f"embedding-{bits}b-{columns}", "source": f"torch {torch.__version__.split('+')[0]} CPU", "op": "torch.quantized_embedding", "attributes": {"bits": bits},
                                    "inputs": [tensor("data", raw), {"name": "indices", "dtype": "int64", "shape": [4], "values": at.tolist()}], "outputs": [tensor("", out)]}, separators=(",", ":")) + "\n")


if len(sys.argv) != 2 or sys.argv[1] not in ("gguf", "torch"):
    sys.exit(__doc__)
{"gguf": gguf, "torch": torch}[sys.argv[1]]()
