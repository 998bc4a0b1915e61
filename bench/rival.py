#!/usr/bin/env python3
"""Holds garner against the gathers of other systems, and against hostile files.

    rival.py --garner ./garner [--cases 1000] [--commands 100] [--files 300] [--seed 1]
             [--peers numpy,torch] [--tf-python PYTHON] [--only openvino,onnx.Gather-13]

Definitions: those that answer the cases are first held against the recordings in
testdata/conformance (rival_recorded.py).

Cases: random cases of every operator that `garner ops` lists are answered by slow
definitions that share no code with garner (rival_cases.py; rival_computed.py of bags
and of stored elements). `garner verify` compares
garner with them, thousands of cases in one process. Each installed peer is asked the
cases of its dialect (rival_peers.py). Where a peer departs from its specification in a
way that rival_known.py names, the difference is counted under its name and rules.

Commands: some of the cases also go through files and one run of the command each, within
random budgets of memory (rival_command.py).

Files: random hostile files under limits of time and memory (rival_files.py).

A finding is printed as a line of a corpus, made as small as it goes. The run ends with
the counts, and with exit status 1 if there is a finding.
"""
import argparse
import concurrent.futures
import functools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import rival_command
import rival_computed as computed
import rival_known as known
import rival_recorded
from rival_cases import BITS, DEFINITIONS, ELEMENTS, LIMITS, TUPLES, WINDOWS, Case, Maker, Refused, Tensor, answer, dialect
from rival_peers import OF_TENSORFLOW, PEERS, Peer

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 2000  # cases in one run of verify

def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--garner", default="./garner", help="the command (default ./garner)")
    p.add_argument("--cases", type=int, default=1000, help="random cases of operators (default 1000)")
    p.add_argument("--commands", type=int, default=100, help="of these cases, how many go through files too (default 100)")
    p.add_argument("--files", type=int, default=300, help="random hostile files (default 300)")
    p.add_argument("--first", type=int, default=0, help="the number of the first case and file (default 0)")
    p.add_argument("--seed", default="1", help="cases and files follow from it and their number (default 1)")
    p.add_argument("--only", default="", help="only these dialects or operators, separated by commas")
    p.add_argument("--peers", default=",".join(PEERS), help="ask these (default all): %s; '' asks none" % ", ".join(PEERS))
    p.add_argument("--tf-python", default=sys.executable, help="the Python that has TensorFlow (default this one)")
    p.add_argument("--keep", metavar="DIR", help="keep the hostile files of findings there")
    p.add_argument("--show", type=int, default=3, help="findings of one kind that are printed (default 3)")
    p.add_argument("--as-made", action="store_true", help="print findings as they were made, not smaller")
    return p.parse_args()


# ---------------------------------------------------------------- garner

class Garner:
    """The command, asked many cases at a time."""

    def __init__(self, command, folder):
        self.command, self.path = os.path.abspath(command), os.path.join(folder, "cases.jsonl")

    def operators(self):
        """The operators that garner lists, and the subcommand of each."""
        text = subprocess.run([self.command, "ops"], capture_output=True, text=True, check=True).stdout
        return dict(re.findall(r"^(\S+\.\S+) +(\S+)", text, re.M))

    def verify(self, cases, answers):
        """For each case, why garner's answer is not the given one; "" where it is."""
        with open(self.path, "w", encoding="utf-8") as f:
            for i, (case, want) in enumerate(zip(cases, answers)):
                f.write(case.text(str(i), want) + "\n")
        run = subprocess.run([self.command, "verify", self.path, "--json"], capture_output=True, text=True)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        details = [line.get("detail") or "" for line in lines if "name" in line]
        if len(details) != len(cases):  # verify ended: the case that it did not answer is the finding
            details.append("garner verify ended with %d: %s" % (run.returncode, run.stderr.strip()[:300]))
            more = self.verify(cases[len(details):], answers[len(details):]) if len(details) < len(cases) else []
            return details + more
        return details


# ---------------------------------------------------------------- what a peer's types are

def smallest(op, dtype, index):
    """A valid case of the operator with these types, as small as it goes."""
    if op in computed.INPUTS:
        return computed.smallest(op, dtype, index)
    data, at = Tensor.of(dtype, ["a", "b"] if dtype == "string" else [1, 1], [2]), Tensor.of(index, [0], [1])
    attributes, extra = {}, []
    if op in WINDOWS:
        attributes = {"collapsed_slice_dims": [0], "start_index_map": [0], "slice_sizes": [1]}
        at = Tensor.of(index, [0], [1, 1])
        if op != "jax.lax.gather":
            attributes["index_vector_dim"] = 1
        if op == "stablehlo.dynamic_gather":
            extra = [Tensor.of("i64", attributes.pop("slice_sizes"), [1])]
    elif op in TUPLES:
        at = Tensor.of(index, [0], [1, 1])
    elif op == "torch.embedding":
        data = Tensor.of(dtype, data.array.tolist(), [2, 1])
    elif op.startswith("torch") and op != "torch.take":
        attributes = {"dim": 0}
    elif op in ELEMENTS:
        attributes = {"axis": 0}
    elif op in ("openvino.Gather-1", "openvino.Gather-7", "openvino.Gather-8", "tensorflow.GatherV2"):
        extra = [Tensor.of("i64", [0], [])]
    return Case(op, attributes, data, at, extra)


def types_of(peer, ops):
    """For each operator, the dtypes of data and of indices with which the peer answers the smallest case."""
    probes = [(op, 0, dtype, smallest(op, dtype, "i64")) for op in ops for dtype in BITS]
    probes += [(op, 1, dtype, smallest(op, computed.ELEMENTS.get(op, "f32"), dtype)) for op in ops if op not in computed.UNINDEXED for dtype in LIMITS]
    types = {op: (set(), set()) for op in ops}
    for (op, which, dtype, _), got in zip(probes, peer.ask([case for *_, case in probes])):
        if "output" in got:
            types[op][which].add(dtype)
    return types


# ---------------------------------------------------------------- smaller cases

def smaller(case):
    """Cases that are a little smaller than this one."""
    if case.indices is None:
        return
    def made(data=case.data, indices=case.indices, attributes=case.attributes, extra=case.extra, policy=case.policy):
        return Case(case.op, attributes, data, indices, extra, policy)
    d, ix = case.data, case.indices
    cut = lambda t, axis, keep: Tensor(t.dtype, np.take(t.array, range(keep), axis))
    for keep_of in (lambda n: n // 2, lambda n: n - 1):
        for axis in range(ix.array.ndim):
            if ix.shape[axis] > 0:
                yield made(indices=cut(ix, axis, keep_of(ix.shape[axis])))
        for axis in range(d.array.ndim):
            if d.shape[axis] > 0:
                yield made(data=cut(d, axis, keep_of(d.shape[axis])))
                if axis < ix.array.ndim and ix.shape[axis] == d.shape[axis]:
                    keep = keep_of(d.shape[axis])
                    yield made(data=cut(d, axis, keep), indices=cut(ix, axis, keep))
    for axis in range(d.array.ndim):
        if d.shape[axis] == 1:
            yield made(data=Tensor(d.dtype, np.squeeze(d.array, axis)))
            if axis < ix.array.ndim and ix.shape[axis] == 1:
                yield made(data=Tensor(d.dtype, np.squeeze(d.array, axis)), indices=Tensor(ix.dtype, np.squeeze(ix.array, axis)))
    for axis in range(ix.array.ndim):
        if ix.shape[axis] == 1:
            yield made(indices=Tensor(ix.dtype, np.squeeze(ix.array, axis)))
    for name in case.attributes:
        yield made(attributes={k: v for k, v in case.attributes.items() if k != name})
        v = case.attributes[name]
        if isinstance(v, int) and not isinstance(v, bool) and v:
            yield made(attributes=dict(case.attributes, **{name: 0}))
            yield made(attributes=dict(case.attributes, **{name: v - 1 if v > 0 else v + 1}))
    if case.policy:
        yield made(policy=None)
    if d.dtype != "i32":
        yield made(data=Tensor.of("i32", list(range(d.array.size)), d.shape))
    if ix.dtype in LIMITS:
        flat = ix.array.ravel()
        if ix.dtype != "i64" and all(v < 2 ** 63 for v in flat):
            yield made(indices=Tensor("i64", ix.array))
        low = max(-1, LIMITS[ix.dtype][0])
        for i in range(min(ix.array.size, 8)):
            for v in (0, low):
                if abs(flat[i]) > abs(v):
                    values = flat.tolist()
                    values[i] = v
                    yield made(indices=Tensor.of(ix.dtype, values, ix.shape))


def kind_of(case, want, detail):
    """What findings have in common that are one: all but the numbers of a message."""
    return case.op, want.kind if isinstance(want, Refused) else "", re.sub(r"\[[^]]*\]|\"[^\"]*\"|[0-9.-]+|\b[iufb]+#\S*", "#", detail)[:50]


def minimise(case, kind, complaints, rounds=60):
    """The smallest case found that is wrong in the same way. complaints gives for a list of cases what is wrong with each, or ""."""
    for _ in range(rounds):
        tries = list(smaller(case))
        good = [t for t, d in zip(tries, complaints(tries)) if d and kind_of(t, answer(t), d) == kind] if tries else []
        if not good:
            break
        case = min(good, key=lambda t: len(t.text()))
    return case


# ---------------------------------------------------------------- a run

def said(got):
    """A peer's answer in words."""
    return got.get("error") or got.get("crash") or "answered %s" % json.dumps(got["output"].line())


def askable(case, want):
    """Whether a peer can be asked: a policy is garner's own, and an attribute that is refused has no place in a call."""
    return not case.policy and not (isinstance(want, Refused) and want.kind == "attribute")


class Rival:
    def __init__(self, a, folder):
        self.a, self.garner = a, Garner(a.garner, folder)
        self.folder, self.kinds, self.commands = folder, self.garner.operators(), a.commands
        listed = list(self.kinds)
        missing = [op for op in listed if op not in DEFINITIONS]
        if missing:
            sys.exit("rival.py: garner has operators that rival_cases.py and rival_computed.py do not define: " + ", ".join(missing))
        only = [w for w in a.only.split(",") if w]
        self.ops = [op for op in listed if not only or op in only or dialect(op) in only]
        if not self.ops:
            sys.exit("rival.py: --only %s names no operator; `garner ops` lists them" % a.only)
        self.counts, self.shown, self.findings = {}, {}, 0
        self.peers, self.types = {}, {}

    def open(self):
        for name in (n for n in self.a.peers.split(",") if n):
            if name not in PEERS:
                sys.exit("rival.py: no peer %s; there are %s" % (name, ", ".join(PEERS)))
            ops = [op for op in self.ops if dialect(op) in PEERS[name][1]]
            if not ops:
                continue
            peer = Peer(name, self.a.tf_python if name in OF_TENSORFLOW else sys.executable)
            missing = peer.start()
            if missing:
                print("%s is left out: %s" % (name, missing))
                continue
            self.peers[name], self.types[name] = peer, types_of(peer, ops)
            print("%s %s" % (name, peer.version))
        print(flush=True)

    def close(self):
        for peer in self.peers.values():
            peer.stop()

    def count(self, *key):
        self.counts[key] = self.counts.get(key, 0) + 1

    def finding(self, who, case, number, want, detail, complaints=None):
        """Counts a finding, and prints the first ones of its kind, made smaller where complaints can be asked."""
        self.findings += 1
        kind = kind_of(case, want, detail)
        self.shown[who, kind] = self.shown.get((who, kind), 0) + 1
        if self.shown[who, kind] > self.a.show:
            return
        least = minimise(case, kind, complaints) if complaints and not self.a.as_made else case
        print("FINDING %s, case %d of seed %s: %s" % (who, number, self.a.seed, detail[:400]))
        print("    " + least.text("rival-%s-%d" % (self.a.seed, number), answer(least)), flush=True)

    def of_garner(self, cases):
        """What is wrong with garner's answers."""
        return self.garner.verify(cases, [answer(c) for c in cases])

    def of_peer(self, name, cases):
        """What is wrong with a peer's answers, and not documented."""
        got = self.peers[name].ask(cases, fresh=True)
        return [said(g) if known.judge(name, c, answer(c), g, self.types[name][c.op]) is known.FINDING else "" for c, g in zip(cases, got)]

    def batch(self, numbers):
        cases, answers = [], []
        for number in numbers:
            rng = random.Random("%s:%d" % (self.a.seed, number))
            cases.append(Maker(rng).case(rng.choice(self.ops)))
            answers.append(answer(cases[-1]))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = {}
            for name in self.peers:
                mine = [i for i, c in enumerate(cases) if c.op in self.types[name] and askable(c, answers[i])]
                asked[name] = (mine, pool.submit(self.peers[name].ask, [cases[i] for i in mine]))
            try:
                details = self.garner.verify(cases, answers)
                asked = {name: (mine, future.result()) for name, (mine, future) in asked.items()}
            except KeyboardInterrupt:
                self.close()  # the threads wait for the peers
                raise
        for i, (case, want, detail) in enumerate(zip(cases, answers, details)):
            self.count(dialect(case.op), "", "cases")
            if detail:
                self.count(dialect(case.op), "", "finding")
                self.finding("garner", case, numbers[i], want, detail, self.of_garner)
            else:
                self.count(dialect(case.op), "", "refused" if isinstance(want, Refused) else "agreed")
            self.by_files(case, want, numbers[i])
        for name, (mine, got) in asked.items():
            judge = lambda i, g: known.judge(name, cases[i], answers[i], g, self.types[name][cases[i].op])
            verdicts = [judge(i, g) for i, g in zip(mine, got)]
            # A case before can have spoilt the memory of the process.
            again = [j for j, verdict in enumerate(verdicts) if verdict is known.FINDING]
            for j, g in zip(again, self.peers[name].ask([cases[mine[j]] for j in again], fresh=True)):
                got[j], verdicts[j] = g, judge(mine[j], g)
                if verdicts[j] is not known.FINDING:
                    self.count("", name, "answered otherwise alone")
            for i, g, verdict in zip(mine, got, verdicts):
                if isinstance(verdict, known.Difference):
                    self.count(dialect(cases[i].op), name, "documented")
                    self.count("", name, verdict)
                    continue
                self.count(dialect(cases[i].op), name, verdict)
                if verdict is known.UNASKED:
                    self.count("unasked", name, g["unasked"])
                if verdict is known.FINDING:
                    self.finding(name, cases[i], numbers[i], answers[i], said(g), functools.partial(self.of_peer, name))

    def by_files(self, case, want, number):
        """Asks the command, while there are commands left."""
        if not self.commands:
            return
        rng = random.Random("%s:command:%d" % (self.a.seed, number))
        try:
            detail = rival_command.ask(self.garner.command, self.kinds[case.op], case, want, self.folder, rng)
        except rival_command.Unsaid:
            return
        self.commands -= 1
        self.count("", "", "commands")
        if detail:
            self.count("", "", "commands that are wrong")
            self.finding("command", case, number, want, detail)

    def report(self):
        get = lambda *key: self.counts.get(key, 0)
        print("\n%-16s %8s %8s %8s %8s" % ("garner", "cases", "agreed", "refused", "findings"))
        for name in sorted({key[0] for key in self.counts if key[2] == "cases"}):
            print("%-16s %8d %8d %8d %8d" % (name, get(name, "", "cases"), get(name, "", "agreed"), get(name, "", "refused"), get(name, "", "finding")))
        print("\n%d of these cases through files and the command, %d findings" % (get("", "", "commands"), get("", "", "commands that are wrong")))
        print("\n%-28s %8s %10s %14s %9s %8s" % ("peer", known.AGREED, "documented", known.TYPES, known.UNASKED, "findings"))
        for of, name in sorted({key[:2] for key in self.counts if key[0] and key[1] and key[0] != "unasked"}):
            print("%-28s %8d %10d %14d %9d %8d" % ("%s of %s" % (name, of), get(of, name, known.AGREED), get(of, name, "documented"),
                                                 get(of, name, known.TYPES), get(of, name, known.UNASKED), get(of, name, known.FINDING)))
        print("\ndocumented differences of peers from their specifications (docs/rules.md numbers the rules)")
        for d in known.DIFFERENCES:
            for name in d.peers:
                if get("", name, d):
                    print("%8d  %-12s %s: %s (%s)" % (get("", name, d), name, d.name, d.says, d.rules))
        for name in PEERS:
            if get("", name, "answered otherwise alone"):
                print("%8d  %-12s answered otherwise after other cases than in a process of its own; the latter counts" % (get("", name, "answered otherwise alone"), name))
        print("\nnot asked")
        for of, name, reason in sorted(key for key in self.counts if key[0] == "unasked"):
            print("%8d  %-12s %s" % (get(of, name, reason), name, reason))
        for (who, (op, refused, detail)), n in sorted(self.shown.items()):
            if n > self.a.show:
                print("%d findings of %s in %s like those above: %s%s" % (n, who, op, detail, refused and "; want an error of class " + refused))


def hostile(a):
    """Runs rival_files.py; it stays a small process, because a child's memory counts its parent's."""
    command = [sys.executable, os.path.join(HERE, "rival_files.py"), "--garner", a.garner, "--files", str(a.files), "--first", str(a.first), "--seed", a.seed]
    if a.keep:
        command += ["--keep", a.keep]
    kinds = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            d = json.loads(line)
            if "files" in d:
                print("\nfiles: %s; %d runs, %d findings" % (", ".join("%d %s" % (n, s) for s, n in sorted(d["files"].items())), d["runs"], d["findings"]))
                break
            kind = (d["suffix"], d["command"].split()[0], d["kind"])
            kinds[kind] = kinds.get(kind, 0) + 1
            if kinds[kind] <= a.show:
                print("FINDING file %d of seed %s (%s, %d bytes): garner %s: %s: %s %s" % (
                    d["file"], a.seed, d["made"], d["bytes"], d["command"], d["kind"], d["text"], d["kept"]), flush=True)
        else:
            sys.exit("rival.py: rival_files.py ended early")
    for kind, n in sorted(kinds.items()):
        print("%6d  %s of %s: %s" % (n, kind[1], kind[0], kind[2]))
    return d["findings"]


def interrupted(*_):
    """Ends the cases once; the counts are still printed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    a = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    begin = time.monotonic()
    findings = 0
    with tempfile.TemporaryDirectory() as folder:
        if a.cases:
            met, bad = rival_recorded.check()
            print("the definitions meet %d recordings" % met)
            for line in bad:
                print("FINDING the definitions do not meet " + line)
            findings += len(bad)
            rival = Rival(a, folder)
            try:
                rival.open()
                for first in range(a.first, a.first + a.cases, BATCH):
                    rival.batch(range(first, min(first + BATCH, a.first + a.cases)))
            except KeyboardInterrupt:
                print("\ninterrupted; the counts are those of whole batches")
                a.files = 0
            finally:
                rival.close()
            rival.report()
            findings += rival.findings
    if a.files:
        findings += hostile(a)
    print("\n%d findings in %d s" % (findings, time.monotonic() - begin))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
