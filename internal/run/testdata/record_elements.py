"""Records what OpenVINO answers for pairs of numbers, at and beyond what it computes alike.

    record_elements.py OUT.jsonl.gz

Each line of OUT is one operator of one dtype, with the elements of its inputs and those of its
result: where both inputs are parameters of known dims (pp) and of unknown ones (dyn), where one is a
constant (pc, cp), and where both are (cc), which OpenVINO computes as it loads the model. An answer
that it refuses is missing. Made with OpenVINO 2026.4.1 on x86-64.
"""

import gzip, json, os, sys, tempfile, warnings

import numpy as np
import openvino as ov
import openvino.opset15 as ops

warnings.filterwarnings("ignore")
TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_}
WHOLE = [d for d in TYPES if d[0] in "iu"]
FLOATS = ["f16", "f32", "f64"]
MODES = {"pp": (0, 0), "dyn": (0, 0), "pc": (0, 1), "cp": (1, 0), "cc": (1, 1)}
core = ov.Core()


def numbers(dtype, few):
    """Small numbers, and the edges of each dtype that fit this one."""
    t = TYPES[dtype]
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        v = [0, -0.0, .5, -1.5, 2.5, 7, -7, 3, 1e-40, np.inf, np.nan, 2**24, 2**24 + 1]
        if not few:
            v += [.1, 1.5, 100.7, 127.9, -128.5, 255.9, 256, -300, 32767.5, 65504, 65536, -32769, 2**31 - 1, 2**31, -(2**31), 2**32, 1e10, 1e19, 1e-8, 3e38, -np.inf, 1e-42, 16777216.5]
        return np.array(v).astype(t)
    v = [0, 1, 2, 3, 7, 100, 127, 128, 255, 2**15 - 1, 2**16 - 1, 2**24 - 1, 2**24, 2**24 + 1, 2**31 - 1, 2**31, 2**32 + 5, 2**63 - 1]
    if not few:
        v += [5, 200, 256, 300, 2**15, 2**16, 65504, 65505, 2**31 - 2, 2**32 - 1, 2**32, 2**40, 2**63, 2**64 - 1]
    i = np.iinfo(t)
    return np.array([n for n in v + [-n for n in v[1:]] + [i.min] if i.min <= n <= i.max and (n != i.min or i.min)], t)


def answer(build, inputs, mode, python=True):
    parameters, given = [], []
    for a, constant in zip(inputs, MODES[mode]):
        if constant:
            given.append(ops.constant(a))
        else:
            p = ops.parameter([-1] if mode == "dyn" else list(a.shape), ov.Type(a.dtype))
            parameters.append((p, a))
            given.append(p)
    m = ov.Model([ops.result(build(*given))], [p for p, _ in parameters], "g")
    with tempfile.TemporaryDirectory() as d:
        ov.serialize(m, d + "/m.xml", d + "/m.bin")
        if not python:
            text = open(d + "/m.xml").read()
            changed = text.replace('m_pythondiv="true"', 'm_pythondiv="false"')
            assert changed != text
            open(d + "/m.xml", "w").write(changed)
        m = core.compile_model(core.read_model(d + "/m.xml"), "CPU")
    q = m.create_infer_request()
    for i, (_, a) in enumerate(parameters):
        t = ov.Tensor(ov.Type(a.dtype), ov.Shape(a.shape))
        t.data[...] = a
        q.set_input_tensor(i, t)
    q.start_async()
    q.wait()
    return np.array(q.get_output_tensor(0).data)


def main(out):
    lines = []

    def record(op, build, inputs, **more):
        names = {np.dtype(v): k for k, v in TYPES.items()}
        line = {"op": op, "dtype": names[inputs[0].dtype], **more, "inputs": [a.tobytes().hex() for a in inputs], "want": {}}
        for mode in MODES if len(inputs) == 2 else ("pp", "dyn", "cc"):
            try:
                made = answer(build, inputs, mode, more.get("python", True))
            except RuntimeError:
                continue
            line["made"] = names[made.dtype]
            line["want"][mode] = made.tobytes().hex()
        lines.append(line)

    def pairs(dtype, divisors):
        v = numbers(dtype, True)
        a, b = np.repeat(v, len(v)), np.tile(v, len(v))
        keep = b != 0 if divisors and dtype in WHOLE else np.ones(len(b), bool)
        if divisors and dtype[0] == "i":
            keep &= ~((b == -1) & (a == np.iinfo(a.dtype).min)) # which ends the process, as it does in C
        return [a[keep], b[keep]]

    for d in WHOLE:
        for python in (True, False):
            record("Divide", ops.divide, pairs(d, True), python=python)
        for op, build in (("BitwiseAnd", ops.bitwise_and), ("BitwiseOr", ops.bitwise_or), ("BitwiseXor", ops.bitwise_xor)):
            record(op, build, pairs(d, False))
    for d in WHOLE + FLOATS:
        record("Mod", ops.mod, pairs(d, True))
        record("FloorMod", ops.floor_mod, pairs(d, True))
        for op, build in (("Equal", ops.equal), ("NotEqual", ops.not_equal), ("Less", ops.less), ("LessEqual", ops.less_equal), ("Greater", ops.greater), ("GreaterEqual", ops.greater_equal)):
            record(op, build, pairs(d, False))
    for d in TYPES:
        for to in TYPES:
            if d != to:
                record("Convert", lambda x: ops.convert(x, {"bool": "boolean"}.get(to, to)), [numbers(d, False)], to=to)
    with gzip.GzipFile(out, "wb", mtime=0) as f:
        f.write("".join(json.dumps(l) + "\n" for l in lines).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
