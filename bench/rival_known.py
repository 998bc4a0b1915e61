"""Where live peers are known to depart from their own specifications, and rival.py's verdicts.

A difference has a name, the numbers of the rules that it departs from (docs/rules.md),
and a test of the case and of both answers. Every one that a run meets is counted and
printed under its name.
"""
import json
import os

from rival_cases import BITS, LIMITS, NAN, Case, Refused, Tensor, dialect, reader

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Difference:
    def __init__(self, name, peers, rules, says, test):
        self.name, self.peers, self.rules, self.says, self.test = name, peers.split(), rules, says, test


class View:
    """A case with both answers, as the tests of differences see it."""

    def __init__(self, case, want, got):
        self.case, self.op, self.want, self.got = case, case.op, want, got
        self.a, self.d, self.ix = case.attributes, case.data, case.indices
        self.refused = want.kind if isinstance(want, Refused) else None   # the class of error that is right
        self.output = got.get("output")                                   # the peer's result
        self.error = got.get("error")                                     # its message
        self.crash = got.get("crash")

    @property
    def empty(self):
        """Whether the result has no element, or nobody can say."""
        return isinstance(self.want, Tensor) and self.want.array.size == 0 or self.output is not None and self.output.array.size == 0


DIFFERENCES = []


def difference(name, peers, rules, says):
    def add(test):
        DIFFERENCES.append(Difference(name, peers, rules, says, test))
        return test
    return add


def disputes():
    """The disputed recordings of testdata/disputed.txt: sets of (operator, dtype) whose NaNs a peer changes."""
    path = os.path.join(ROOT, "testdata", "disputed.txt")
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                file, name = line.split(" | ")[0].split()
                found.setdefault(file, set()).add(name)
    out = set()
    for file, names in found.items():
        with open(os.path.join(ROOT, "testdata", "conformance", file), encoding="utf-8") as f:
            for line in f:
                d = json.loads(line)
                if d["name"] in names:
                    out.add((d["op"], {"bfloat16": "bf16"}.get(d["inputs"][0]["dtype"], d["inputs"][0]["dtype"])))
    return out


DISPUTED = disputes()


# The verdicts on a peer's answer.
AGREED, UNASKED, TYPES, FINDING = "agreed", "not asked", "refused: types", "finding"


def judge(peer, case, want, got, types):
    """The verdict on a peer's answer: one of the four above, or a Difference. types are the dtypes
    of data and of indices that the peer takes for the operator."""
    if "unasked" in got:
        return UNASKED
    if isinstance(want, Refused):
        if "error" in got:
            return AGREED
    elif "output" in got and want.same(got["output"]):
        return AGREED
    if "error" in got and isinstance(want, Tensor) and (case.data.dtype not in types[0] or case.indices.dtype not in types[1]):
        return TYPES
    view = View(case, want, got)
    for d in DIFFERENCES:
        if peer in d.peers and d.test(view):
            return d
    return FINDING
