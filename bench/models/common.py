"""What the comparisons of all formats share: the command, its answers, and what differs."""
import argparse
import collections
import hashlib
import json
import multiprocessing
import os
import re
import resource
import subprocess
import tempfile
import traceback

import numpy as np
import onnxruntime as ort
import openvino as ov

ort.set_default_logger_severity(4)
NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool"} | {s[0] + str(n): s + str(n) for s in ("int", "uint") for n in (8, 16, 32, 64)}
DTYPES = {np.dtype(v): k for k, v in NUMPY.items()}
PER_KIND = 3  # differences that are printed of each kind
SECONDS, BYTES = 600, 12 << 30  # of one model: past either, its comparison fails
Node = collections.namedtuple("Node", "op name outputs")


class Report:
    """Counts of what was compared, by name, and every difference."""

    def __init__(self, path, against, note=""):
        self.path, self.against, self.note = path, against, note
        self.counts = collections.Counter()
        self.refused = collections.Counter()  # by the name of the node's operator, or the reason
        self.differences = []

    def check(self, kind, what, got, want):
        """Counts a comparison of this kind; a difference is kept."""
        self.counts[kind] += 1
        if got != want:
            self.differ(kind, f"{what}: garner has {got!r:.200}, {self.against} {want!r:.200}")

    def differ(self, kind, text):
        self.differences.append((kind, re.sub(r"\s+", " ", text)[:600]))

    def same(self, kind, what, got, want):
        """Compares two arrays bit for bit."""
        self.counts[kind] += 1
        got, want = np.asarray(got), np.asarray(want)
        if got.dtype != want.dtype or got.shape != want.shape:
            self.differ(kind, f"{what}: garner has {got.dtype}{list(got.shape)}, {self.against} {want.dtype}{list(want.shape)}")
        elif got.tobytes() != want.tobytes():
            a, b = (np.frombuffer(x.tobytes(), np.uint8).reshape(x.size, -1) for x in (got, want))
            at = np.flatnonzero((a != b).any(1))
            self.differ(kind, f"{what}: {len(at)} of {got.size} elements differ; at {at[0]} garner has {got.ravel()[at[0]]!r}, {self.against} {want.ravel()[at[0]]!r}")

    def shape(self, what, dims, want):
        """Compares dims that garner infers, None where it does not know one, with the shape of a run."""
        self.counts["shapes"] += 1
        if dims is not None and (len(dims) != len(want) or any(d is not None and d != w for d, w in zip(dims, want))):
            self.differ("shapes", f"{what}: garner has {dims}, {self.against} {list(want)}")

    def row(self):
        """The report as JSON."""
        whole = hashlib.sha256()
        for folder, _, files in sorted(os.walk(self.path)) or [(os.path.dirname(self.path), None, [os.path.basename(self.path)])]:
            for name in sorted(files):
                with open(os.path.join(folder, name), "rb") as f:
                    whole.update(f.read())
        return {"note": self.note, "sha256": whole.hexdigest(), "counts": dict(self.counts), "refused": dict(self.refused), "differences": list(self.details())}

    def details(self):
        """Some differences of each kind."""
        left = collections.Counter()
        for kind, text in self.differences:
            left[kind] += 1
            if left[kind] <= PER_KIND:
                yield f"{kind}: {text}"
        for kind, n in left.items():
            if n > PER_KIND:
                yield f"{kind}: {n - PER_KIND} more"


class Refused(Exception):
    """What the command printed where it ended with 1."""


class Garner:
    """The command, on one model."""

    def __init__(self, command, path, *flags):
        self.command, self.path, self.flags = command, path, flags

    def __call__(self, *args):
        done = subprocess.run([self.command, *args], capture_output=True, text=True)
        if done.returncode not in (0, 1) or "panic:" in done.stderr:
            raise AssertionError(f"garner {args[0]}: {done.returncode}: {done.stderr}")
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    def model(self):
        return json.loads(self("model", self.path, "--json", *self.flags))

    def arrays(self):
        return json.loads(self("info", self.path, "--json"))["arrays"]

    def rows(self, name, count):
        """The first axis of an array of the file, whole."""
        with tempfile.TemporaryDirectory() as scratch:
            np.save(os.path.join(scratch, "all.npy"), np.arange(count))
            out = os.path.join(scratch, "out.npy")
            self("gather", f"{self.path}#{name}", os.path.join(scratch, "all.npy"), "-o", out)
            return np.load(out)

    def run(self, feeds, results=(), node=None):
        """The results by name, each under its own where results are named; those of a node where it is given."""
        with tempfile.TemporaryDirectory() as scratch:
            args = ["run", self.path, *self.flags]
            for k, (name, value) in enumerate(feeds.items()):
                file = os.path.join(scratch, f"{k}.npy")
                np.save(file, value)
                args += ["--input", f"{name}={file}"]
            if node is not None:
                args += ["--node", node]
            rounds = []  # of results, no two of which have the same file
            for r in results or [None]:
                at = next((g for g in rounds if file_name(r).lower() not in (file_name(o).lower() for o in g)), None) if r else None
                if at is None:
                    rounds.append(at := [])
                at.append(r)
            found = {}
            for k, group in enumerate(rounds):
                out = os.path.join(scratch, f"out{k}")
                self(*args, "-o", out, *(a for r in group if r for a in ("--result", r)))
                files = {f.removesuffix(".npy"): np.load(os.path.join(out, f)) for f in os.listdir(out)}
                found |= {r: files[file_name(r)] for r in group} if results else files
            return found


def file_name(name):
    """How run -o spells the name of a value."""
    return re.sub(r"[^\w.+ -]", "_", name)[:200]


def reason(refusal):
    """A refusal without what is peculiar to one node: the operator, or the first words."""
    text = re.sub(r"\s+", " ", refusal).strip()
    for pattern in (r": ([\w.]+) is not converted", r"(\w+) has sub-graphs"):
        if found := re.search(pattern, text):
            return found[1]
    text = re.sub(r'^garner: [^:]*: ', "", text)
    text = re.sub(r'node "[^"]*" \([^)]*\): |node "[^"]*": ', "", text)
    return re.sub(r'"[^"]*"', "…", re.sub(r"\d+", "N", text))[:70]


def one_line(report, kind, refusal):
    """A refusal names what it refuses, in one line."""
    report.counts[kind] += 1
    if refusal.count("\n") > 1 or not refusal.startswith("garner: "):
        report.differ(kind, refusal)


def indices(random, shape, bound, dtype, bad):
    """Random indices of an axis, from its end too; with bad, some that it has not."""
    ids = random.integers(-bound if bound else 0, max(bound, 1), shape)
    if bad and ids.size:
        flat = ids.reshape(-1)
        flat[random.integers(flat.size)] = random.choice([bound, -bound - 1, bound + 1000, -(2**31), 2**31 - 1])
    return ids.astype(dtype)


def random_like(random, dtype, shape):
    """Values of a dtype, for data: all bits of integers count, floats are finite."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(0, 100, shape).astype(dtype)


def session(model, optimised=True):
    """A model, or what serialises to one, in ONNX Runtime."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model if isinstance(model, (str, bytes)) else model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def in_openvino(path, feeds):
    """The results of a model in OpenVINO, of inputs by name."""
    request = ov.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    for port in request.model_inputs:
        (value,) = (v for n, v in feeds.items() if n in port.get_names())
        request.set_tensor(port, ov.Tensor(np.array(value, order="C")))
    request.start_async()
    request.wait()
    return [request.get_tensor(p).data.copy() for p in request.model_outputs]


def together(report, garner, nodes, known, feeds):
    """Runs at once all that garner runs of the nodes, from the feeds and from what the nodes make that it refuses.

    known has what the runtime made of each value. Gives what was fed, and the names of the results that were compared.
    """
    made_by = {o: n for n in nodes for o in n.outputs}
    given = dict(feeds)
    report.counts["values"] += sum(o in known for o in made_by)
    while True:
        names = [o for o in made_by if o in known and o not in given]
        try:
            got = garner.run(given, names) if names else {}
        except Refused as e:
            one_line(report, "refusals", str(e))
            left = [n for n in nodes if any(o in names for o in n.outputs)]
            if operator := re.search(r"garner does not run ([\w.]+)", str(e)):
                left = [n for n in left if n.op == operator[1].split(".")[-1]]
            else:
                node = re.search(r'node "([^"]*)"', str(e))
                left = [n for n in left if node and n.name == node[1]]
            if not left:
                raise AssertionError(str(e))
            for n in left:
                given.update({o: known[o] for o in n.outputs if o in known})
                report.refused[n.op] += 1
            continue
        for o in names:
            report.same("results", f"{made_by[o].op} {o}", got[o], known[o])
        return given, names


def piece(report, command, path, runs, kind):
    """Runs a model with one result by garner and as what it converts it to; runs has inputs and the result, None where it is refused."""
    for given, want in runs:
        try:
            (got,) = Garner(command, path).run(given).values()
        except Refused as e:
            if want is None:
                one_line(report, "bad indices that both refuse", str(e))
            else:
                report.differ(kind, str(e))
            continue
        if want is None:
            report.differ(kind, f"garner answers what {report.against} refuses")
        else:
            report.same(kind, path, got, want)
    converted(report, command, path, runs)


def converted(report, command, path, runs):
    """Converts a model with one result to ONNX and to IR, and runs both; they refuse what the source refuses."""
    def in_runtime(out, given):
        if not out.endswith(".onnx"):
            return in_openvino(out, given)[0]
        s = session(out)
        return s.run(None, {i.name: given[i.name] for i in s.get_inputs()})[0]

    with tempfile.TemporaryDirectory() as folder:
        for runtime, out in (("ONNX Runtime", "made.onnx"), ("OpenVINO", "made.xml")):
            out = os.path.join(folder, out)
            try:
                Garner(command, path)("convert", path, "-o", out, "--quiet")
            except Refused as e:
                report.refused[f"convert for {runtime}: {reason(str(e))}"] += 1
                one_line(report, "refusals", str(e))
                continue
            for given, want in runs:
                try:
                    got = in_runtime(out, given)
                except Exception as e:
                    if want is None:
                        report.counts["bad indices that the converted model refuses"] += 1
                    else:
                        report.differ("results of converted models", f"{runtime}: {e}")
                    continue
                if want is None:
                    report.differ("results of converted models", f"{runtime} answers what {report.against} refuses")
                else:
                    report.same(f"results of models converted for {runtime}", path, got, want)


def main(doc, models, compare):
    """Compares each model of the packages in a process of its own, and writes a line of JSON for each.

    models has (folder of the package, file, what compare needs besides). A row says what was compared, or how it failed.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--garner", required=True, help="the command")
    parser.add_argument("--models", required=True, help="the folder of the unpacked packages")
    parser.add_argument("--only", default="", help="models whose package or file contains this")
    args = parser.parse_args()

    def work(path, more, pipe):
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        try:
            pipe.send(compare(os.path.abspath(args.garner), path, more).row())
        except BaseException:
            pipe.send({"failed": traceback.format_exc()})

    for package, file, more in models:
        if args.only not in package + " " + file:
            continue
        here, there = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=work, args=(os.path.join(args.models, package, file), more, there))
        child.start()
        there.close()
        row = {"failed": f"it took more than {SECONDS} s"}
        try:
            if here.poll(SECONDS):
                row = here.recv()
        except EOFError:
            row = {"failed": "its process ended"}
        child.kill()
        child.join()
        print(json.dumps({"package": package, "file": file, **row}), flush=True)
