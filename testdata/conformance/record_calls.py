#!/usr/bin/env python3
"""Asks the runtimes the grid of calls that `go run ./internal/gencalls grid` prints, and records their answers.

    record_calls.py [--peers numpy,onnx,openvino,torch,jax] [--tf-python PYTHON] [--calls FILE] > calls.jsonl

Each call runs as the Python text that the page play copies, in a process of its own, by bench/snippets.py. Where
the answer is garner's, the line holds the runtime's own; else it holds garner's, which the specification of the
operator says, and `recorded` keeps what the runtime did. What a text raises is named by CLASSES; a text that none
of its words is found in is an error of this script, so that no answer is guessed.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import snippets  # noqa: E402

# Runtimes by peer, as the other corpora write them.
SOURCES = {"numpy": ("numpy", "numpy %s"), "onnx": ("onnxruntime", "onnxruntime %s CPU"), "openvino": ("openvino", "openvino %s CPU"),
           "torch": ("torch", "torch %s CPU"), "jax": ("jax", "jax %s CPU (x64 on)"), "tensorflow": ("tensorflow", "tensorflow %s CPU"), "tflite": ("tensorflow", "tf.lite %s CPU")}
# What the words of an error say it is of.
CLASSES = [
    ("index-out-of-range", ["out of bounds", "out of range", "out-of-bounds", "not in [", "does not index into", "indices element out of data bounds", "index error",
                            "invalid index", "cannot do a non-empty take", "has_only_positive", "Out of bounds", "could not be validated", "gather index out of",
                            "Input index", "non-empty take", "idx=", "found idx to be", "i < index_size", "from an empty tensor", "out of data bounds"]),
    ("attribute", ["Invalid mode", "Unknown gather mode"]),
    ("dtype", ["NOT_IMPLEMENTED", "not implemented for", "Unsupported", "unsupported", "must be of int32 or int64", "Expected dtype", "dtype", "tensor(", "must have type",
               "integer", "data type", "element type", "No OpKernel", "Value for attr", "Could not find device", "is not one of the allowed", "does not support", "not supported by gather"]),
    ("rank", ["rank", "shape", "dimension", "axis", "Dims", "reshape", "batch"]),
]


def classed(text):
    for name, words in CLASSES:
        if any(w.lower() in text.lower() for w in words):
            return name
    return None


def plain(v):
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, float):
        if math.isnan(v):
            return "NaN"
        if math.isinf(v):
            return "Infinity" if v > 0 else "-Infinity"
        if v == 0 and math.copysign(1, v) < 0:
            return "-0"
    return v


def line(call, got, source):
    out = {"name": call["name"], "op": call["op"], "attributes": call["attributes"], "inputs": call["inputs"]}
    want = {"outputs": [call["want"]]} if call.get("want") else {"error": call["error"]}
    answer, agrees = None, False
    if got.get("crash"):
        number = re.search(r"-(\d+)", got["crash"])
        answer = {"undefined": True, "note": "process ended by signal %s" % number[1]} if number else None
        if answer is None or number[1] == "9":  # snippets.py ended it: it took too long
            raise ValueError("%s: %s" % (call["name"], got["crash"]))
    elif got.get("error"):
        if snippets.BROKEN.match(got["error"]):
            raise ValueError("%s: the text is broken: %s" % (call["name"], got["error"]))
        name = classed(got["error"])
        if name is None:
            raise ValueError("%s: say in CLASSES what this is: %s" % (call["name"], got["error"][:300]))
        if name == "rank" and call.get("error"):  # shapes that it takes by an index inside
            name = call["error"]
        answer, agrees = {"error": name, "message": " ".join(got["error"].split())[:120]}, name == call.get("error")
    else:
        dtype, shape, values = snippets.parsed(got["printed"])
        if call.get("want"):
            agrees = snippets.is_answer(call["texts"], got["printed"]) is None
        answer = {"outputs": [{"dtype": dtype, "shape": shape, "values": [plain(v) for v in values]}]}
    out.update(want)
    out["source"] = source if agrees else "specification; " + source
    if not agrees:
        out["recorded"] = answer
    return json.dumps(out, separators=(",", ":"), ensure_ascii=False)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--peers", default=",".join(SOURCES))
    p.add_argument("--tf-python", default=sys.executable)
    p.add_argument("--calls")
    a = p.parse_args()
    if a.calls:
        text = open(a.calls, encoding="utf-8").read()
    else:
        text = subprocess.run(["go", "run", "./internal/gencalls", "grid"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    calls = [json.loads(l) for l in text.splitlines()]
    bad = 0
    for name in a.peers.split(","):
        peer = snippets.Peer(name, a.tf_python if name in snippets.OF_TENSORFLOW else sys.executable)
        if "missing" in peer.hello:
            sys.exit("%s cannot be loaded: %s" % (name, peer.hello["missing"]))
        module, form = SOURCES[name]
        source = form % re.split("[-+]", peer.hello["versions"][module])[0]
        for call in calls:
            if call["op"].rpartition(".")[0] in snippets.PEERS[name][1]:
                try:
                    print(line(call, peer.ask(call["text"]), source), flush=True)
                except ValueError as e:
                    bad += 1
                    print(e, file=sys.stderr)
        peer.stop()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
