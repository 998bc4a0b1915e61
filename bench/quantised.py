#!/usr/bin/env python3
"""Looks up random rows of quantised tables with garner and with what a user would pick, and prints the ratios.

    quantised.py --calls ./calls --gguf-python VENV/bin/python --python VENV/bin/python [--threads 1,2] [--rounds 3]
                 [--seconds 0.5] [--only Q4_K] [--mib 64] [--json FILE]

Kinds and peers:
    Q4_K Q6_K Q8_0 MXFP4  gguf-py: gguf.quants.dequantize(table[ids])
    rows8 rows4           torch.ops.quantized.embedding_byte and embedding_4bit
    int4:32 int4:128      ONNX Runtime, com.microsoft.GatherBlockQuantized on uint8 with bits=4 and f32 scales; garner's is
                          one goroutine on any number of threads

A table has --mib MiB of codes; a call looks up rows of 2 Mi elements (8 MiB of f32). Each process has the table in memory
(garner: in the page cache) and looks up the same rows again and again; a round times them one after the other, pinned to
as many cores as threads. The times are the least of all rounds, which other work on the machine disturbs less than
medians. `reused` is the peer's time over garner's into one output; the peers allocate theirs, of which torch and ONNX Runtime reuse the
memory. `fresh` is the peer's time over garner's where each call allocates an output by make. `gbs` is the GB of f32
that garner makes in a second. A peer whose bytes differ from garner's is WRONG, and fails the run.
"""
import argparse, json, math, os, statistics, subprocess, sys, tempfile, time, zlib

try:
    import numpy as np
except ImportError:
    sys.exit("quantised.py needs numpy: pip install -r bench/requirements.txt")

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"Q4_K": (256, 144), "Q6_K": (256, 210), "Q8_0": (32, 34), "MXFP4": (32, 17)}
SCALES = {"Q4_K": (0, 2), "Q6_K": (208,), "Q8_0": (0,)}  # where a block has an f16
COLUMNS = (64, 256, 1024, 4096)
ELEMENTS = 2 << 20


def parts(kind, columns, raw):
    """The codes [rows, bytes] and scales [rows, blocks] of an int4 table in one file."""
    each = columns // int(kind.split(":")[1])
    rows = len(raw) // (columns // 2 + 4 * each)
    cut = rows * columns // 2
    return raw[:cut].reshape(rows, columns // 2), raw[cut:].view(np.float32).reshape(rows, each)


def make(kind, columns, size, path):
    """Writes a table of finite numbers; returns the number of rows."""
    r = np.random.default_rng(5)
    if kind in KINDS:
        elements, width = KINDS[kind]
        rows = size // (columns // elements * width)
        raw = r.integers(0, 256, (rows * columns // elements, width), np.uint8)
        for at in SCALES.get(kind, ()):
            raw[:, at:at + 2] = r.uniform(0.001, 0.1, len(raw)).astype(np.float16).view(np.uint8).reshape(-1, 2)
        if kind == "MXFP4":
            raw[:, 0] = r.integers(118, 132, len(raw))
    elif kind.startswith("rows"):
        bits = int(kind[4:])
        rows = size // (columns * bits // 8)
        scale, zero = r.uniform(0.001, 0.1, rows).astype(np.float32), r.uniform(0, 15, rows).astype(np.float32)
        codes = r.integers(0, 256, (rows, columns * bits // 8), np.uint8)
        form = np.float32 if bits == 8 else np.float16
        tail = np.stack([scale, -zero * scale], 1).astype(form).view(np.uint8)
        raw = np.concatenate([codes, tail], 1)
        np.savez(path + ".torch", codes=codes, scale=scale, zero=zero)  # torch packs them itself
    else:
        each = columns // int(kind.split(":")[1])
        rows = size // (columns // 2)
        raw = np.concatenate([r.integers(0, 256, rows * columns // 2, np.uint8),
                              r.uniform(0.001, 0.1, rows * each).astype(np.float32).view(np.uint8)])
    raw.tofile(path)
    return rows


def peer(kind, columns, path, ids, threads):
    """A function that looks the rows up."""
    raw = np.fromfile(path, np.uint8)
    if kind in KINDS:
        from gguf import GGMLQuantizationType
        from gguf.quants import dequantize
        elements, width = KINDS[kind]
        table, kind = raw.reshape(-1, columns // elements * width), GGMLQuantizationType[kind]
        return lambda: dequantize(table[ids], kind)
    if kind.startswith("rows"):
        import torch
        torch.set_num_threads(threads)
        saved = np.load(path + ".torch.npz")
        scale, zero = (torch.from_numpy(saved[n]) for n in ("scale", "zero"))
        codes = torch.from_numpy(saved["codes"])
        if kind == "rows8":
            q = torch._make_per_channel_quantized_tensor(codes, scale, zero, 0)
        else:
            # There is no such constructor for codes of 4 bits: the numbers that round to them.
            low, high = codes & 15, codes >> 4
            numbers = torch.stack([low, high], 2).reshape(len(codes), -1).float()
            q = torch.quantize_per_channel((numbers - zero[:, None]) * scale[:, None], scale, zero, 0, torch.quint4x2)
        packed = torch.ops.quantized.embedding_bag_prepack(q)
        look = torch.ops.quantized.embedding_byte if kind == "rows8" else torch.ops.quantized.embedding_4bit
        ids = torch.from_numpy(ids)
        return lambda: look(packed, ids).numpy()
    import onnxruntime
    from onnx import TensorProto, helper
    codes, scales = parts(kind, columns, raw)
    node = helper.make_node("GatherBlockQuantized", ["data", "indices", "scales"], ["out"], domain="com.microsoft",
                            block_size=int(kind.split(":")[1]), bits=4, quantize_axis=1)
    graph = helper.make_graph([node], "g", [
        helper.make_tensor_value_info("data", TensorProto.UINT8, codes.shape),
        helper.make_tensor_value_info("indices", TensorProto.INT64, ids.shape),
        helper.make_tensor_value_info("scales", TensorProto.FLOAT, scales.shape),
    ], [helper.make_tensor_value_info("out", TensorProto.FLOAT, [len(ids), columns])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), o, providers=["CPUExecutionProvider"])
    bound = session.io_binding()
    for name, v in (("data", codes), ("indices", ids), ("scales", scales)):
        bound.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(v))
    bound.bind_output("out")

    def look():
        session.run_with_iobinding(bound)
        return bound.get_outputs()[0].numpy()

    def call():
        session.run_with_iobinding(bound)
    call.result = look
    return call


def worker(kind, columns, path, ids, threads, seconds):
    """Prints the times of a peer, a line for each line that it reads."""
    call = peer(kind, columns, path, np.load(ids), threads)
    crc = zlib.crc32(np.ascontiguousarray(getattr(call, "result", call)()))
    print("{}", flush=True)
    for _ in sys.stdin:
        spent, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(spent) < 3:
            begin = time.perf_counter_ns()
            call()
            spent.append(time.perf_counter_ns() - begin)
        print(json.dumps({"median_ns": statistics.median(spent), "min_ns": min(spent), "crc32": crc}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--calls")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--gguf-python", default=sys.executable)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.5)
    p.add_argument("--only", default="")
    p.add_argument("--mib", type=int, default=64)
    p.add_argument("--json")
    p.add_argument("--worker", nargs=6, help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.worker:
        kind, columns, path, ids, threads, seconds = a.worker
        return worker(kind, int(columns), path, ids, int(threads), float(seconds))
    if not a.calls:
        p.error("--calls is needed: go build -o calls ./bench/calls")
    from ladder import Peer, run_garner

    record, failed, ratios = [], False, {}
    print(f"{'kind':10} {'row':>5} {'thr':>3} {'garner us':>10} {'peer us':>10} {'reused':>6} {'fresh':>6} {'gbs':>5}")
    for kind in (*KINDS, "rows8", "rows4", "int4:32", "int4:128"):
        for columns in COLUMNS:
            block = KINDS[kind][0] if kind in KINDS else int(kind.split(":")[1]) if ":" in kind else 1
            if columns % block or a.only not in kind:
                continue
            with tempfile.TemporaryDirectory() as d:
                path, ids = os.path.join(d, "table"), os.path.join(d, "ids.npy")
                rows = make(kind, columns, a.mib << 20, path)
                np.save(ids, np.random.default_rng(1).integers(0, rows, ELEMENTS // columns))
                for threads in map(int, a.threads.split(",")):
                    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
                    w = Peer(["taskset", "-c", cpus, a.gguf_python if kind in KINDS else a.python, os.path.abspath(__file__), "--worker",
                              kind, str(columns), path, ids, str(threads), str(a.seconds)])
                    command = [os.path.abspath(a.calls), "-lookup", kind, "-columns", str(columns), "-seconds", str(a.seconds), path, ids]
                    rounds = [(run_garner(command, threads), w.time()) for _ in range(a.rounds)]
                    w.close()
                    error = next((g["error"] for r in rounds for g in r if "error" in g), None)
                    if error:
                        print(f"{kind:10} {columns:5} {threads:3}  {error}")
                        failed = True
                        continue
                    wrong = "" if all(g["crc32"] == r["crc32"] for g, r in rounds) else "  WRONG"
                    failed = failed or bool(wrong)
                    mine, fresh, theirs = (min(x) for x in zip(*((g["reused"]["min_ns"], g["fresh"]["min_ns"], r["min_ns"]) for g, r in rounds)))
                    ratios.setdefault(threads, []).append(theirs / mine)
                    print(f"{kind:10} {columns:5} {threads:3} {mine / 1e3:10.0f} {theirs / 1e3:10.0f} {theirs / mine:6.2f} {theirs / fresh:6.2f} "
                          f"{4 * ELEMENTS / mine:5.1f}{wrong}", flush=True)
                    record.append({"kind": kind, "columns": columns, "threads": threads, "rounds": rounds})
    for threads, r in ratios.items():
        print(f"{threads} threads: geometric mean {math.exp(statistics.mean(map(math.log, r))):.2f}, least {min(r):.2f}")
    if a.json:
        json.dump(record, open(a.json, "w"), indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
