#!/usr/bin/env python3
"""Runs calls as Python in their own frameworks, and compares what they print with garner's answers.

    snippets.py [--peers numpy,onnx] [--tf-python PYTHON] [--calls FILE] [--only torch.gather] [--write]

The calls and texts are those of `go run ./internal/gencalls`. Each text runs in a process of its
own, forked from one that has the framework loaded. What it prints must be garner's answer, in type,
shape and elements, and where garner refuses the call it must fail. Where the framework is recorded to
answer otherwise (internal/play/recorded), its answer must be the recorded one: such calls are counted
and listed under their recordings. The exit status is 1 if any other answer differs, or if a peer that
--peers names cannot be loaded.

--write keeps what was run in snippets.json, the receipts of these peers: their versions, and for each
text, by its hash and that of garner's answer, "agreed" or the recording that it differs as. A test of
internal/play/code wants a receipt for each text, in the versions of requirements.txt.
"""
import argparse
import contextlib
import importlib
import importlib.metadata
import io
import json
import math
import os
import re
import select
import signal
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGEST = 60  # seconds that a text may take
RECEIPTS = os.path.join(ROOT, "bench", "snippets.json")

# Each peer: the modules that its texts import, and the dialects that are written for it.
PEERS = {
    "numpy": (("numpy", "ml_dtypes"), ("numpy",)),
    "onnx": (("numpy", "ml_dtypes", "onnx", "onnxruntime"), ("onnx", "com.microsoft")),
    "openvino": (("numpy", "openvino"), ("openvino",)),
    "torch": (("torch",), ("torch",)),
    "jax": (("numpy", "ml_dtypes", "jax", "jax.numpy"), ("jax.numpy", "jax.lax", "stablehlo")),
    "tensorflow": (("numpy", "ml_dtypes", "tensorflow"), ("tensorflow",)),
    "tflite": (("numpy", "ml_dtypes", "tensorflow"), ("tflite",)),
    "gguf": (("numpy", "gguf"), ("gguf",)),
}
OF_TENSORFLOW = ("tensorflow", "tflite")  # these run under --tf-python
NAMES = {"bool_": "bool", "object": "string", "str_": "string", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
         "float4_e2m1fn": "f4e2m1", "bool": "bool", "string": "string", "complex64": "complex64", "complex128": "complex128"}
NAMES.update({kind + str(bits): kind[0] + str(bits) for kind, sizes in
              (("int", (2, 4, 8, 16, 32, 64)), ("uint", (2, 4, 8, 16, 32, 64)), ("float", (16, 32, 64))) for bits in sizes})
WIDENED = ("bf16", "f8e4m3fn", "f8e5m2", "f4e2m1", "i4", "u4")  # NumPy lacks them: a text may print them as f32


# ---------------------------------------------------------------- a worker

def run_text(text, out):
    """Runs a text in this process, which ends with it."""
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(text, "call.py", "exec"), {"__name__": "__main__"})
        except BaseException as e:  # a framework may raise anything
            error = "".join(traceback.format_exception_only(e)).strip()
    os.write(out, json.dumps({"error": error} if error else {"printed": printed.getvalue()}).encode())
    os._exit(0)


def version(module):
    """The version of the package of a module, without what says how it was built."""
    name = {"tensorflow": "tensorflow-cpu"}.get(module, module)
    try:
        return importlib.metadata.version(name).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:  # a module of another package, or another package of the same module
        return getattr(sys.modules[module], "__version__", "").partition("+")[0]


def worker(peer):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        for name in PEERS[peer][0]:
            importlib.import_module(name)
        versions = {name: version(name) for name in PEERS[peer][0]}
    except ImportError as e:
        answers.write(json.dumps({"missing": str(e)}) + "\n")
        return
    answers.write(json.dumps({"versions": {n: v for n, v in versions.items() if "." not in n}}) + "\n")
    for line in sys.stdin:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            run_text(json.loads(line), write)
        os.close(write)
        got, end = b"", time.monotonic() + LONGEST
        while True:
            if not select.select([read], [], [], max(0, end - time.monotonic()))[0]:
                os.kill(pid, signal.SIGKILL)
                break
            part = os.read(read, 1 << 20)
            if not part:
                break
            got += part
        os.close(read)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        answers.write((got.decode() if got else json.dumps({"crash": "ended with status %d" % status})) + "\n")


# ---------------------------------------------------------------- comparing

def flat(value):
    if isinstance(value, list):
        return [x for v in value for x in flat(v)]
    return [value]


def parsed(printed):
    """The type, shape and elements of the last line that a text printed."""
    lines = printed.strip().splitlines()
    m = re.fullmatch(r"(\S+) (\([^)]*\)) (.*)", lines[-1]) if lines else None
    if not m:
        raise ValueError("it printed %r" % printed[-200:])
    known = {"nan": math.nan, "inf": math.inf, "__builtins__": {}, "True": True, "False": False}
    name = m[1].split(".")[-1]
    dtype = "string" if name.startswith("<U") else NAMES.get(name, name)
    if dtype == "string" and m[2] == "()" and not m[3].startswith("b'"):
        return dtype, [], [m[3]]  # print shows one string as it is
    return dtype, list(eval(m[2], known)), flat(eval(m[3], known))  # printed by this test's own texts


def number(text):
    return float(text.replace("Infinity", "inf"))


def element(dtype, text):
    """An element of garner's answer as Python."""
    if dtype == "string":
        return text
    if dtype == "bool":
        return text == "true"
    if dtype.startswith("complex"):
        m = re.fullmatch(r"(.*[^e])([+-].*)i", text)
        return complex(number(m[1]), number(m[2]))
    return number(text) if dtype[0] in "fb" else int(text)


def same(dtype, want, got):
    if isinstance(got, bytes):
        got = got.decode()
    if isinstance(want, complex):
        return isinstance(got, complex) and same(dtype, want.real, got.real) and same(dtype, want.imag, got.imag)
    if not isinstance(want, float):
        if dtype in WIDENED:
            return want == got
        return want == got and isinstance(got, bool) == isinstance(want, bool)
    got = float(got)
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if want == 0:
        return got == 0 and math.copysign(1, want) == math.copysign(1, got)
    # A printed float is the shortest text that its own type reads back, or that of a wider one.
    close = {"f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8, "complex64": 2.0 ** -24}.get(dtype, 0)
    return want == got or abs(want - got) <= close * abs(want)


def is_answer(want, got):
    """Whether what a text printed is an answer of garner's; why not, else None."""
    dtype, shape, values = parsed(got)
    if dtype != want["dtype"] and not (dtype == "f32" and want["dtype"] in WIDENED):
        return "it is of %s, not of %s" % (dtype, want["dtype"])
    if shape != want["shape"]:
        return "its shape is %s, not %s" % (shape, want["shape"])
    wanted = [element(want["dtype"], v) for v in want["values"]]
    if len(values) != len(wanted) or not all(same(want["dtype"], w, g) for w, g in zip(wanted, values)):
        return "it is %s, not %s" % (values, wanted)
    return None


BROKEN = re.compile(r"(Name|Syntax|Indentation|Attribute|Import|ModuleNotFound)Error\b")  # not what a framework refuses a call with
FAILURES = ("error", "no such types", "no empty operands")   # classes of recorded answers that are errors
ANY = ("garbage", "another answer", "converted", "cut")      # those whose elements are no rule's


def verdict(call, got):
    """None for garner's answer, the recorded departure that the answer is, or a complaint."""
    failed = got.get("error") or got.get("crash")
    if BROKEN.match(got.get("error", "")):
        return "the text is broken: %s" % failed
    if call.get("error"):
        complaint = None if got.get("error") else "it should fail: %s" % call["error"]
    elif failed:
        complaint = failed
    else:
        complaint = is_answer(call["want"], got["printed"])
    if not complaint:
        return None
    for known in call.get("known") or []:
        if known["answer"] == "ends the process" and got.get("crash") or known["answer"] in FAILURES and got.get("error"):
            return known
        if got.get("printed") and (known["answer"] in ANY or known.get("want") and not is_answer(known["want"], got["printed"])):
            return known
    return complaint


# ---------------------------------------------------------------- a run

class Peer:
    def __init__(self, name, python):
        self.process = subprocess.Popen([python, "-B", os.path.abspath(__file__), "--worker", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.hello = json.loads(self.process.stdout.readline() or '{"missing": "its Python does not load it"}')

    def ask(self, text):
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--peers", default=",".join(PEERS), help="run these (default all): %s" % ", ".join(PEERS))
    p.add_argument("--tf-python", default=sys.executable, help="the Python that has TensorFlow (default this one)")
    p.add_argument("--calls", help="the output of gencalls (default: run it, with Go)")
    p.add_argument("--only", default="", help="only these operators or titles, separated by commas")
    p.add_argument("--write", action="store_true", help="keep the receipts, if no answer differs")
    p.add_argument("--worker", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.worker:
        return worker(a.worker)
    if a.calls:
        with open(a.calls, encoding="utf-8") as f:
            lines = f.read()
    else:
        lines = subprocess.run(["go", "run", "./internal/gencalls"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    calls = [json.loads(line) for line in lines.splitlines()]
    only = [w for w in a.only.split(",") if w]
    if only and a.write:
        sys.exit("snippets.py: --write needs all calls of a peer; leave --only out")
    receipts = {}
    if only:
        calls = [c for c in calls if c["operator"] in only or c["title"] in only]
    bad, ran = 0, 0
    for name in a.peers.split(","):
        if name not in PEERS:
            sys.exit("snippets.py: no peer %s; there are %s" % (name, ", ".join(PEERS)))
        mine = [c for c in calls if c["operator"].rpartition(".")[0] in PEERS[name][1]]
        peer = Peer(name, a.tf_python if name in OF_TENSORFLOW else sys.executable)
        if "missing" in peer.hello:
            print("%s cannot be loaded: %s" % (name, peer.hello["missing"]))
            bad += 1
            continue
        agreed, unsaid, known = 0, 0, {}
        receipts[name] = {"versions": peer.hello["versions"], "texts": {}}
        for call in mine:
            if "unsaid" in call:
                unsaid += 1
                continue
            ran += 1
            v = verdict(call, peer.ask(call["text"]))
            if v is None:
                agreed += 1
                receipts[name]["texts"][call["receipt"]] = "agreed"
            elif isinstance(v, dict):
                receipts[name]["texts"][call["receipt"]] = v["case"]
                known.setdefault((call["operator"], v["answer"], v["case"]), []).append(call["title"])
            else:
                bad += 1
                print("DIFFERS %s, %s: %s\n%s" % (call["operator"], call["title"], v, re.sub("^", "    ", call["text"], flags=re.M)))
        peer.stop()
        print("%s (%s): %d texts agree, %d differ as recorded, %d calls have no text" % (
            name, ", ".join("%s %s" % item for item in peer.hello["versions"].items()), agreed, sum(map(len, known.values())), unsaid), flush=True)
        for (operator, answer, case), titles in sorted(known.items()):
            print("    %s: %s (%s): %s" % (operator, answer, case, "; ".join(titles)))
    print("%d texts ran, %d differ" % (ran, bad))
    if not ran:
        print("no text ran: --only names no call of these peers")
    if bad or not ran:
        return 1
    if a.write:
        kept = {}
        if os.path.exists(RECEIPTS):
            with open(RECEIPTS, encoding="utf-8") as f:
                kept = json.load(f)
        with open(RECEIPTS, "w", encoding="utf-8") as f:
            json.dump({**kept, **receipts}, f, indent=1, sort_keys=True)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
