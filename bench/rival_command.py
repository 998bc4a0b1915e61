"""rival.py's cases through files: data and indices are written in several formats, and one run of the
command gathers from them into a third file, block by block where a budget is given."""
import json
import os
import struct
import subprocess

import numpy as np

import rival_computed as computed
from rival_cases import Refused, Tensor
from rival_peers import NUMPY, array_of

SAFETENSORS = {"bool": "BOOL", "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "complex64": "C64", "f8e4m3fn": "F8_E4M3",
               "f8e5m2": "F8_E5M2", "f8e8m0": "F8_E8M0", "f8e4m3fnuz": "F8_E4M3FNUZ", "f8e5m2fnuz": "F8_E5M2FNUZ"}
SAFETENSORS.update({sign + str(bits): sign.upper() + str(bits) for sign in "iu" for bits in (8, 16, 32, 64)})
BACK = {theirs: name for name, theirs in SAFETENSORS.items()}


class Unsaid(Exception):
    """The command line or the formats have no way to say the case."""


def write(folder, name, t, rng):
    """Writes a tensor in a random format that has its dtype, and returns the operand."""
    if t.dtype not in SAFETENSORS:
        raise Unsaid("no file of " + t.dtype)
    if t.dtype in NUMPY and NUMPY[t.dtype].kind in "biufc" and rng.random() < 0.6:
        a = array_of(t)
        a = np.asfortranarray(a) if a.ndim and rng.random() < 0.3 else a  # of a scalar it makes a vector
        a = a.byteswap().view(a.dtype.newbyteorder(">")) if rng.random() < 0.3 else a
        if rng.random() < 0.3:
            np.savez(os.path.join(folder, name + ".npz"), x=a)
            return name + ".npz#x"
        np.save(os.path.join(folder, name + ".npy"), a)
        return name + ".npy"
    raw = t.bytes()
    header = json.dumps({"x": {"dtype": SAFETENSORS[t.dtype], "shape": list(t.shape), "data_offsets": [0, len(raw)]}}).encode()
    with open(os.path.join(folder, name + ".safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + raw)
    return name + ".safetensors#x"


def read(path):
    with open(path, "rb") as f:
        raw = f.read()
    n = struct.unpack("<Q", raw[:8])[0]
    header = {k: v for k, v in json.loads(raw[8:8 + n]).items() if k != "__metadata__"}
    (entry,) = header.values()
    begin, end = entry["data_offsets"]
    return Tensor.of_bytes(BACK[entry["dtype"]], raw[8 + n + begin:8 + n + end], entry["shape"])


def ask(command, kind, case, want, folder, rng):
    """Runs the case by the command: why the answer is wrong, "" where it is right. kind is the subcommand."""
    line = [command, kind, write(folder, "data", case.data, rng), "--as", case.op, "-o", "out.safetensors"]
    if case.indices is not None:
        line.insert(3, write(folder, "indices", case.indices, rng))
    for name, v in case.attributes.items():
        if v is None or v == "" or v == []:
            raise Unsaid("no empty attribute")
        line.append("--attr=%s=%s" % (name, json.dumps(v) if not isinstance(v, str) else v))
    inputs = computed.INPUTS.get(case.op, [("slice_sizes" if kind == "gathernd" else "axis", computed.NUMBER)])
    for (name, form), t in zip(inputs, case.extra):
        if form == computed.OPERAND:
            line.append("--operand=%s=%s" % (name, write(folder, name, t, rng)))
            continue
        if t.dtype not in SAFETENSORS or t.array.ndim != (name in ("slice_sizes", "dense_shape")) or t.array.size == 0 or t.dtype[0] not in "iu":
            raise Unsaid("an input that is no number")
        line.append("--attr=%s=%s" % (name, t.array.tolist()))
    for name, v in (case.policy or {}).items():
        line.append("--%s=%s" % (name, v))
    if rng.random() < 0.6 and case.op not in computed.INPUTS:  # those run in memory
        line.append("--memory=%d" % rng.choice([1 << 20, 1 << 21, 1 << 26]))
    line.append("--threads=%d" % rng.choice([1, 2]))
    out = os.path.join(folder, "out.safetensors")
    if os.path.exists(out):
        os.remove(out)
    run = subprocess.run(line, cwd=folder, capture_output=True)
    said = run.stderr.decode("utf-8", "replace").strip()
    if isinstance(want, Refused):
        if run.returncode in (1, 2) and not os.path.exists(out):
            return ""
        return "%s: status %d; want an error of class %s" % (" ".join(line[1:]), run.returncode, want.kind)
    if run.returncode:
        return "%s: status %d, %s" % (" ".join(line[1:]), run.returncode, said)
    got = read(out)
    return "" if case.accepts(want, got) else "%s: answered %s; want %s" % (" ".join(line[1:]), json.dumps(got.line()), json.dumps(want.line()))
