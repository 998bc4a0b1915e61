#!/usr/bin/env python3
"""Records what bags and gathers of stored elements answer in their runtimes, and asks them again.

    record_computed.py --again bags-torch.jsonl ...
        asks the runtime of each line again, and prints the lines that it answers otherwise than recorded;
        it ends with 1 where there is one
    record_computed.py --out FILE --only torch.embedding_bag,torch.quantized_embedding --cases 100 --seed 7
        writes new lines: random cases, none of them twice. With --inexact floats are random numbers, whose sums show how each
        step is rounded, and only lines that have a result are kept

The Python that runs it has the peers of bench/requirements.txt; --tf-python is one that has TensorFlow. Cases, the
definitions that a line is held against, and the calls of the runtimes are those of bench/rival.py. A line on which the
runtime departs from its specification holds what the specification says, and `recorded` keeps what ran.
"""
import argparse
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))

import numpy as np  # noqa: E402: behind the path
import rival_known as known  # noqa: E402: it lies in bench
from rival_cases import Case, Maker, Refused, answer, dialect  # noqa: E402
from rival_computed import INPUTS, ROUND, coded  # noqa: E402
from rival_peers import OF_TENSORFLOW, Peer  # noqa: E402
from rival_recorded import operator, tensor  # noqa: E402

RUNTIME = {"torch": "torch", "openvino": "openvino", "tensorflow": "tensorflow", "com.microsoft": "onnxruntime", "gguf": "gguf"}


class Runtimes:
    """The runtimes, each started when it is first asked."""

    def __init__(self, tf_python):
        self.tf_python, self.peers = tf_python, {}

    def of(self, op):
        name = RUNTIME[dialect(op)]
        if name not in self.peers:
            peer = Peer(name, self.tf_python if name in OF_TENSORFLOW else sys.executable)
            missing = peer.start()
            if missing:
                sys.exit("%s does not load: %s" % (name, missing))
            self.peers[name] = peer
        return self.peers[name]

    def ask(self, case):
        return self.of(case.op).ask([case], fresh=True)[0]

    def stop(self):
        for peer in self.peers.values():
            peer.stop()


def case_of(line):
    ts = [tensor(t) for t in line["inputs"]]
    return Case(operator(line), line.get("attributes", {}), ts[0], ts[1] if len(ts) > 1 else None, ts[2:])


def again(path, runtimes):
    """The number of lines that the runtime answers otherwise than recorded, but for departures that rival_known.py names: some
    give memory that nobody wrote, which changes from run to run."""
    same = unasked = named = other = 0
    for text in open(path, encoding="utf-8"):
        line = json.loads(text)
        case, ran = case_of(line), line.get("recorded", line)
        got = runtimes.ask(case)
        if "unasked" in got or ran.get("undefined"):
            unasked += 1
            continue
        if "outputs" in ran:
            agrees = "output" in got and tensor(ran["outputs"][0]).same_but_nan(got["output"])
        else:
            agrees = "error" in got or "crash" in got
        if agrees:
            same += 1
            continue
        view, peer = known.View(case, answer(case), got), RUNTIME[dialect(case.op)]
        if any(peer in d.peers and d.test(view) for d in known.DIFFERENCES):
            named += 1
        else:
            other += 1
            print("%s %s: %s" % (os.path.basename(path), line["name"], got.get("error") or got.get("crash") or json.dumps(got["output"].line(any_nan=True))[:300]))
    print("%s: %d as recorded, %d not comparable, %d otherwise in a known way, %d otherwise" % (os.path.basename(path), same, unasked, named, other), flush=True)
    return other


def inexact(case, rng):
    """The case with random numbers in place of its floats."""
    def of(t):
        if t is None or t.dtype not in ("f16", "bf16", "f32", "f64"):
            return t
        numbers = np.array([rng.gauss(0, 4) for _ in range(t.array.size)], np.float64).reshape(t.shape)
        return coded(t.dtype, numbers if t.dtype == "f64" else ROUND.get(t.dtype, lambda v: v)(numbers.astype(np.float32)))
    return Case(case.op, case.attributes, of(case.data), case.indices, [of(t) for t in case.extra])


def record(a, runtimes):
    ops = a.only.split(",")
    unknown = [op for op in ops if op not in INPUTS]
    if unknown:
        sys.exit("record_computed.py: --only takes some of %s; %s is none" % (", ".join(INPUTS), unknown[0]))
    seen = set()
    with open(a.out, "w", encoding="utf-8") as out:
        for number in range(a.cases):
            rng = random.Random("%s:%d" % (a.seed, number))
            case = Maker(rng).case(rng.choice(ops))
            if a.inexact:
                case = inexact(case, rng)
            want, text = answer(case), case.text()
            if a.inexact and isinstance(want, Refused):
                continue
            got = runtimes.ask(case)
            if text in seen or "unasked" in got:
                continue
            seen.add(text)
            source = "%s %s CPU" % (RUNTIME[dialect(case.op)], runtimes.of(case.op).version)
            refused = isinstance(want, Refused)
            agrees = "error" in got if refused else "output" in got and case.accepts(want, got["output"])
            line = case.line("%s-%s-%d" % (case.op.lower(), a.seed, number), want)
            if not agrees:
                source = "specification; " + source
                line["recorded"] = {"outputs": [got["output"].line(any_nan=True)]} if "output" in got else {"error": got.get("error") or got["crash"]}
            line = dict(name=line.pop("name"), source=source, **line)
            out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    print("%s: %d lines" % (a.out, len(seen)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--again", nargs="+", metavar="FILE")
    p.add_argument("--out")
    p.add_argument("--only", default=",".join(INPUTS))
    p.add_argument("--cases", type=int, default=100)
    p.add_argument("--seed", default="1")
    p.add_argument("--inexact", action="store_true")
    p.add_argument("--tf-python", default=sys.executable)
    a = p.parse_args()
    if bool(a.again) == bool(a.out):
        p.error("give --again or --out")
    runtimes = Runtimes(a.tf_python)
    try:
        if a.out:
            record(a, runtimes)
        elif sum(again(path, runtimes) for path in a.again):
            sys.exit(1)
    finally:
        runtimes.stop()


if __name__ == "__main__":
    main()
