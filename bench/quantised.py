#!/usr/bin/env python3
"""Looks up random rows of quantised tables, and adds bags of them, with garner and with what a user would pick, and prints
the ratios.

    quantised.py --calls ./calls [--python PYTHON] [--gguf-python PYTHON] [--fbgemm-python PYTHON] [--threads 1,2]
                 [--rounds 2] [--seconds 0.2] [--only Q4_K] [--peers torch,fbgemm] [--mib 64] [--json FILE]

Kinds and peers:
    Q4_K Q6_K Q8_0 MXFP4        gguf-py: gguf.quants.dequantize(table[ids]); ggml, the library of llama.cpp: ggml_get_rows
    rows8 rows4                 torch.ops.quantized.embedding_byte and embedding_4bit; FBGEMM's table-batched operator
    int4:32 int4:128            ONNX Runtime: com.microsoft.GatherBlockQuantized on uint8 with bits=4 and f32 scales;
                                OpenVINO: a compressed Gather of u4 in groups
    bags:f32 bags:rows8 :rows4  bags of 1, 20 and 100 of 26 tables, 512 bags of each. torch.nn.functional.embedding_bag and
                                torch.ops.quantized.embedding_bag_*_rowwise_offsets, one call a table; FBGEMM's
                                IntNBitTableBatchedEmbeddingBagsCodegen, one call; garner: one RunAll

A table has --mib MiB of codes, the tables of bags together four times as many. A call looks up rows of 2 Mi elements (8 MiB
of f32). Each process has the tables in memory (garner: rows in the page cache, bags and int4 in huge pages, which NumPy
gives the peers) and asks for the same rows again and again; a round times garner and the peers one after the other, pinned
to as many cores as threads. The times are the least of all rounds, which other work on the machine disturbs less than medians.
`reused` is the peer's time over garner's into one output; the
peers but ggml allocate theirs, of which torch, ONNX Runtime and OpenVINO reuse the memory. `fresh` is the peer's time over
garner's where each call allocates an output by make. `gbs` is the GB of f32 that garner makes in a second.

The results are compared. gguf-py, ONNX Runtime and torch's rows must equal garner's bit for bit. The others may round
otherwise: ggml and FBGEMM fuse a product and a sum, OpenVINO may fold the scale, and sums of bags may go through other orders
or add unrounded products. A peer that differs by more than that is WRONG, and fails the run.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit("quantised.py needs numpy: pip install -r bench/requirements.txt")

from ladder import run_garner
from quantised_peers import BAGS, GGUF

HERE = os.path.dirname(os.path.abspath(__file__))
SCALES = {"Q4_K": (0, 2), "Q6_K": (208,), "Q8_0": (0,)}  # where a block has an f16
COLUMNS = (64, 128, 256, 1024, 4096)
ELEMENTS = 2 << 20
TABLES, LENGTHS, WIDTHS = 26, (1, 20, 100), (64, 128)  # of bags
EXACT = ("gguf-py", "onnxruntime", "torch")  # of rows


def cases(only, folder, mib):
    """The cases whose name has only in it, without their files."""
    for kind in (*GGUF, "rows8", "rows4", "int4:32", "int4:128"):
        for columns in COLUMNS:
            block = GGUF[kind][0] if kind in GGUF else int(kind.split(":")[1]) if ":" in kind else 1
            if columns % block == 0 and only in kind:
                yield dict(kind=kind, columns=columns, length=0, tables=1, size=mib << 20, path=os.path.join(folder, "table"), ids=os.path.join(folder, "ids.npy"))
    for kind in ("bags:f32", "bags:rows8", "bags:rows4"):
        for columns in WIDTHS:
            for length in LENGTHS:
                if only in kind:
                    yield dict(kind=kind, columns=columns, length=length, tables=TABLES, size=mib << 22, path=os.path.join(folder, "table"), ids=os.path.join(folder, "ids.npy"))


def peers_of(kind):
    return ("gguf-py", "ggml") if kind in GGUF else ("onnxruntime", "openvino") if kind.startswith("int4") else ("torch", "fbgemm")


def make(case):
    """Writes the tables of a case, of finite numbers, and the indices; sets the greatest number of a row."""
    r = np.random.default_rng(5)
    kind, columns, size = case["kind"].removeprefix("bags:"), case["columns"], case["size"]
    some = lambda n: np.frombuffer(r.bytes(n), np.uint8)
    if kind in GGUF:
        elements, width, _ = GGUF[kind]
        rows = size // (columns // elements * width)
        raw = some(rows * columns // elements * width).reshape(-1, width).copy()
        for at in SCALES.get(kind, ()):
            raw[:, at:at + 2] = r.uniform(0.001, 0.1, len(raw)).astype(np.float16).view(np.uint8).reshape(-1, 2)
        if kind == "MXFP4":
            raw[:, 0] = r.integers(118, 132, len(raw))
        case["largest"] = {"MXFP4": 6 * 2.0 ** 4, "Q4_K": 0.1 * 63 * 16, "Q6_K": 0.1 * 128 * 32, "Q8_0": 12.8}[kind]
        raw.tofile(case["path"])
    elif kind == "f32":
        rows = size // (4 * columns * case["tables"]) * case["tables"]
        r.random(rows * columns, np.float32).tofile(case["path"])
        case["largest"] = 1
    elif kind.startswith("rows"):
        bits = int(kind[4:])
        rows = size // (columns * bits // 8 * case["tables"]) * case["tables"]
        # Scales and biases that f16 has, as FBGEMM's tables hold them so; the zero points are whole, as torch's packing needs them.
        scale = r.uniform(0.001, 0.1, rows).astype(np.float16).astype(np.float32)
        scale = (scale.view(np.uint32) & 0xfffe0000).view(np.float32)  # of 7 bits: f16 has scale times zero point
        bias = -r.integers(0, 16, rows).astype(np.float32) * scale
        form = np.float32 if bits == 8 else np.float16
        tail = np.stack([scale, bias], 1).astype(form).view(np.uint8)
        np.concatenate([some(rows * columns * bits // 8).reshape(rows, -1), tail], 1).tofile(case["path"])
        case["largest"] = 0.1 * 2 ** bits
    else:
        each = columns // int(kind.split(":")[1])
        rows = size // (columns // 2)
        with open(case["path"], "wb") as f:
            f.write(r.bytes(rows * columns // 2))
            r.uniform(0.001, 0.1, rows * each).astype(np.float32).tofile(f)
        case["largest"] = 0.8
    n = case["tables"] * BAGS * case["length"] if case["length"] else ELEMENTS // columns
    np.save(case["ids"], np.random.default_rng(1).integers(0, rows // case["tables"], n))


def allowed(case, peer):
    """How far a number of the peer may be from garner's."""
    if not case["length"]:
        return 0 if peer in EXACT else 2.0 ** -22 * case["largest"]
    n = case["length"]
    if n == 1 and case["kind"] == "bags:f32":
        return 0
    return n * n * 2.0 ** -23 * case["largest"] + 2.0 ** -22 * case["largest"]


class Worker:
    """A peer's process, pinned to as many cores as threads; one for all cases, as its libraries load slowly."""

    def __init__(self, python, peer, threads):
        cpus = set(sorted(os.sched_getaffinity(0))[:threads])
        self.log = tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen([python, os.path.join(HERE, "quantised_peers.py"), peer, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=self.log, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def ask(self, **question):
        try:
            self.p.stdin.write(json.dumps(question) + "\n")
            self.p.stdin.flush()
            return json.loads(self.p.stdout.readline())
        except (ValueError, OSError):
            self.log.seek(0)
            said = (self.log.read().strip().splitlines() or ["nothing"])[-1][:120]
            return {"error": "ended, exit %s: %s" % (self.p.wait(), said)}

    def close(self):
        try:
            self.p.stdin.close()
        except OSError:
            pass
        self.p.wait()


def compare(case, threads, peers, workers, a, folder):
    """Times a case with one number of threads: garner's times, and those of each peer that ran; the peers that did not, or are wrong."""
    mine = os.path.join(folder, "garner")
    command = [os.path.abspath(a.calls), "-lookup", case["kind"], "-columns", str(case["columns"]), "-seconds", str(a.seconds), "-result", mine]
    if case["length"]:
        command += ["-tables", str(case["tables"]), "-length", str(case["length"])]
    command += [case["path"], case["ids"]]
    rounds, trouble = [run_garner(command, threads)], {}
    if "error" in rounds[0]:
        return rounds, {}, {"garner": rounds[0]["error"]}
    want = np.fromfile(mine, np.float32)
    times = {}
    for peer in peers:
        theirs = os.path.join(folder, "peer")
        a_loaded = workers[peer, threads].ask(load=case, result=theirs)
        if "error" in a_loaded:
            trouble[peer] = a_loaded["error"]
            continue
        got = np.fromfile(theirs, np.float32)
        off = float(np.abs(got - want).max()) if got.shape == want.shape else math.inf
        if not off <= allowed(case, peer):
            trouble[peer] = "WRONG by %g; %g is allowed" % (off, allowed(case, peer))
        times[peer] = []
    for n in range(a.rounds):
        if n:
            rounds.append(run_garner(command, threads))
        for peer in times:
            times[peer].append(workers[peer, threads].ask(time=a.seconds))
    return rounds, times, trouble


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--calls", required=True, help="go build -o calls ./bench/calls")
    p.add_argument("--python", default=sys.executable, help="of torch, ONNX Runtime and OpenVINO")
    p.add_argument("--gguf-python", default=sys.executable)
    p.add_argument("--fbgemm-python", default=sys.executable)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--seconds", type=float, default=0.2)
    p.add_argument("--only", default="", help="the kinds whose name has this in it")
    p.add_argument("--peers", default="gguf-py,ggml,torch,fbgemm,onnxruntime,openvino")
    p.add_argument("--mib", type=int, default=64)
    p.add_argument("--json")
    a = p.parse_args()
    pythons = {"gguf-py": a.gguf_python, "ggml": a.gguf_python, "fbgemm": a.fbgemm_python}
    asked, workers = set(a.peers.split(",")), {}
    record, failed, best, each = [], False, {}, {}
    print(f"{'kind':10} {'row':>5} {'bag':>4} {'thr':>3} {'garner us':>10} {'gbs':>5}  {'peer':12} {'peer us':>10} {'reused':>7} {'fresh':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(a.only, folder, a.mib):
            make(case)
            peers = [n for n in peers_of(case["kind"]) if n in asked]
            for threads in map(int, a.threads.split(",")):
                for peer in peers:
                    if (peer, threads) not in workers:
                        workers[peer, threads] = Worker(pythons.get(peer, a.python), peer, threads)
                rounds, times, trouble = compare(case, threads, peers, workers, a, folder)
                record.append({"case": case, "threads": threads, "garner": rounds, "peers": times, "trouble": trouble})
                head = f"{case['kind']:10} {case['columns']:5} {case['length'] or '':>4} {threads:3}"
                if "garner" in trouble:
                    print(head, trouble["garner"], flush=True)
                    failed = True
                    continue
                reused, fresh = (min(g[way]["min_ns"] for g in rounds) for way in ("reused", "fresh"))
                floats = TABLES * BAGS * case["columns"] if case["length"] else ELEMENTS
                ratios = {}
                for peer in peers:
                    if peer not in times or any("error" in t for t in times[peer]):
                        print(head, " " * 17, f"{peer:12} {trouble.get(peer) or next(t['error'] for t in times[peer] if 'error' in t)}", flush=True)
                        continue
                    theirs = min(t["min_ns"] for t in times[peer])
                    wrong = trouble.get(peer, "")
                    failed = failed or bool(wrong)
                    ratios[peer] = theirs / reused
                    print(head, f"{reused / 1e3:10.0f} {4 * floats / reused:5.1f}  {peer:12} {theirs / 1e3:10.0f} {theirs / reused:7.2f} {theirs / fresh:6.2f} {wrong}", flush=True)
                    each.setdefault((peer, threads), []).append(theirs / reused)
                if ratios:
                    best.setdefault(threads, []).append(min(ratios.values()))
                    group = "bags" if case["length"] else "rows"
                    best.setdefault((group, threads), []).append(min(ratios.values()))
        for w in workers.values():
            w.close()
    mean = lambda r: math.exp(statistics.mean(map(math.log, r)))
    for (peer, threads), r in sorted(each.items()):
        print(f"{peer}, {threads} threads: geometric mean {mean(r):.2f}, least {min(r):.2f} of {len(r)}")
    for key, r in best.items():
        what = f"{key[0]}, {key[1]} threads" if isinstance(key, tuple) else f"all, {key} threads"
        print(f"fastest peer of each line, {what}: geometric mean {mean(r):.2f}, least {min(r):.2f} of {len(r)}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(record, f, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
