"""Holds garner against ONNX Runtime and OpenVINO on ONNX models that nobody here made: compare.py runs it.

It compares, of each model: the gathers, attributes and operands with those of the package onnx; every constant, bit for
bit; inferred shapes with those of a run; every value that "garner run" computes from the inputs, and from what the nodes
make that it refuses, with ONNX Runtime's; and each gather alone on random operands, bad indices too. What lint --fix
writes has the same nodes and weights, byte for byte, but for those that it names, no finding that it had not left, and
the same answers in ONNX Runtime and, where that takes the model, in OpenVINO. The part of each gather that runs is cut
out: "garner convert" writes it as IR, and OpenVINO's own converter does; both run in OpenVINO and are compared, and the
latter goes back to ONNX.
"""
import collections
import json
import os
import re
import tempfile

import numpy as np
import onnx
import openvino as ov
from onnx import helper, numpy_helper

from common import DTYPES, NUMPY, Garner, Node, Refused, Report, in_openvino, indices, main, one_line, random_like, reason, session, together

SILERO, OCR = "silero_vad/data/silero_vad", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"
STATE = {"state": (2, 2, 128), "sr": np.array(16000)}
# By package: its models, and what their inputs need: shapes, values, or a dim in the place of those that are dynamic (*).
MODELS = {
    "silero-vad": {
        SILERO + ".onnx": STATE | {"input": (2, 576)},
        SILERO + "_16k_op15.onnx": STATE | {"input": (2, 512)},
        SILERO + "_half.onnx": STATE | {"input": (2, 512)},
        SILERO + "_op18_ifless.onnx": STATE | {"input": (2, 576)},
        SILERO + "_openvino_16k.onnx": {},
    },
    "speechmos": {"speechmos/plcmos_models/plcmos_v2.onnx": {"degraded_audio": (2, 1, 40, 257)}},
    "nudenet": {"nudenet/320n.onnx": {"images": (1, 3, 64, 64)}},
    "ddddocr": {"ddddocr/common_old.onnx": {"*": 96}, "ddddocr/common.onnx": {"*": 96}},
    "piper-tts": {"piper/hebrew/nakdimon.onnx": {"input_1": np.arange(18, dtype=np.float32).reshape(2, 9)}, "piper/tashkeel/model.onnx": {"*": 9}},
    "rapidocr-onnxruntime": {OCR: {"x": (1, 3, 48, 64)}},
    "magika": {"magika/models/standard_v3_3/model.onnx": {}},
    "basic-pitch": {"basic_pitch/saved_models/icassp_2022/nmp.onnx": {"*": 1}},
}
GATHERS = {"Gather", "GatherElements", "GatherND", "ArrayFeatureExtractor", "GatherBlockQuantized"}
numbered = re.compile(r"#\d+$")  # what tells those of one name apart
RUNS = 6  # of each gather alone, with random operands; every third has a bad index


def walk(graph, at="graph"):
    """Every node of a graph and of its sub-graphs, in order, the graph it stands in, and where."""
    for k, n in enumerate(graph.node):
        yield n, graph, f"{at}.node[{k}]"
        for a in n.attribute:
            for g in [a.g] if a.HasField("g") else a.graphs:
                yield from walk(g, f"{at}.node[{k}].{a.name}")


def feeds_of(s, sizes, seed):
    """Random inputs for a session; sizes has a shape or a whole array for each input that needs one."""
    random, feeds = np.random.default_rng(seed), {}
    for i in s.get_inputs():
        want = sizes.get(i.name, sizes.get("*", 2))
        if isinstance(want, np.ndarray):
            feeds[i.name] = want
            continue
        shape = want if isinstance(want, tuple) else tuple(d if isinstance(d, int) else want for d in i.shape)
        dtype = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64", "tensor(bool)": "bool"}.get(i.type) or i.type[7:-1]
        value = random_like(random, dtype, shape)
        feeds[i.name] = value % sizes.get("below", 10) if value.dtype.kind in "iu" else value
    return feeds


def values(model, feeds):
    """What ONNX Runtime computes for every node of the main graph, by name."""
    every = onnx.ModelProto()
    every.CopyFrom(model)
    del every.graph.output[:]
    names = [o for n in model.graph.node for o in n.output if o]
    every.graph.output.extend(helper.make_empty_tensor_value_info(n) for n in names)
    found = session(every, optimised=False).run(names, feeds)
    return {n: v for n, v in zip(names, found) if isinstance(v, np.ndarray)} | feeds


def listed(report, garner, model):
    """Compares the list of gathers, and gives it, each with its node."""
    found = {at: n for n, _, at in walk(model.graph) if n.op_type in GATHERS}
    got = garner.model()["gathers"]
    for g in got:
        n = found.pop(g["at"], None)
        report.check("gathers", g["at"], [g["op"], numbered.sub("", g["name"])], n and [n.op_type, n.name or n.output[0]])
        if n:
            report.check("attributes", n.name, g["attributes"], {a.name: helper.get_attribute_value(a) for a in n.attribute})
            report.check("operands", n.name, [i["name"] for i in g["inputs"]][:2], list(n.input)[:2])
            g["node"] = n
    for at in found:
        report.differ("gathers", f"garner does not list {at}")
    return got


def constants(report, garner, model, folder):
    """Compares every initializer, and every Constant of the file; one of several with a name has a number."""
    want = collections.defaultdict(list)
    for graph in graphs(model):
        for t in graph.initializer:
            want[t.name].append(numpy_helper.to_array(t, folder))
        for n in graph.node:
            if n.op_type == "Constant" and n.attribute[0].name == "value":
                want[n.output[0]].append(numpy_helper.to_array(n.attribute[0].t, folder))
    want = {f"{k}#{i}" if len(v) > 1 else k: x for k, v in want.items() for i, x in enumerate(v)}
    for a in garner.arrays():
        if a["name"] not in want:
            report.differ("constants", f"the file has no {a['name']}")
            continue
        value = want.pop(a["name"])
        report.check("constants", a["name"], [a["dtype"], a["shape"]], [DTYPES.get(value.dtype, a["dtype"]), list(value.shape)])
        if value.ndim and value.size and value.dtype in DTYPES:
            report.same("constants read whole", a["name"], garner.rows(a["name"], len(value)), value)
    for name in want:
        report.differ("constants", f"garner does not list {name}")


def alone(report, garner, model, gathers, known):
    """Runs each gather alone, those of sub-graphs too, on random operands with bad indices, as a model of one node in ONNX Runtime."""
    for number, g in enumerate(gathers):
        n, (data, ids) = g["node"], g["inputs"][:2]
        if data["dtype"] not in NUMPY or data["dims"] is None or ids["dims"] is None:
            report.refused["a gather alone: of " + (data["dtype"] or "an unknown type")] += 1
            continue
        one = helper.make_model(
            helper.make_graph(
                [helper.make_node(n.op_type, ["data", "indices"], ["out"], **{a.name: helper.get_attribute_value(a) for a in n.attribute})], "one",
                [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(np.dtype(NUMPY[v["dtype"]])), [None] * len(v["dims"])) for k, v in (("data", data), ("indices", ids))],
                [helper.make_empty_tensor_value_info("out")]),
            opset_imports=model.opset_import, ir_version=min(model.ir_version, 11))
        s = session(one)
        for k in range(RUNS):
            random = np.random.default_rng([number, k])
            shape = [d if d is not None else int(random.integers(1, 5)) for d in data["dims"]]
            if known.get(data["name"]) is not None and known[data["name"]].ndim == len(shape):
                shape = list(known[data["name"]].shape)
            axis = next((a.i for a in n.attribute if a.name == "axis"), 0)
            bound = min(shape) if n.op_type == "GatherND" else shape[axis]
            count = [d if d is not None else int(random.integers(1, 5)) for d in ids["dims"]]
            if n.op_type == "GatherElements":
                count = [min(c, d) if j != axis % len(shape) else c for j, (c, d) in enumerate(zip(count, shape))]
            feeds = {"data": random_like(random, NUMPY[data["dtype"]], shape), "indices": indices(random, count, bound, NUMPY[ids["dtype"]], k % 3 == 2)}
            if data["from"] == "constant" and not data["via"]:
                table = garner.rows(data["name"], data["dims"][0]) if data["dims"] else None
                feeds["data"] = table if table is not None else feeds["data"]
            try:
                want = s.run(None, feeds)[0]
            except Exception as e:
                if "out of bounds" not in str(e) and "out of data bounds" not in str(e) and "invalid index" not in str(e):
                    raise
                want = None
            given = {k: v for k, v in feeds.items() if k == "indices" or data["from"] != "constant"}
            try:
                (got,) = garner.run(given, node=g["name"]).values()
            except Refused as e:
                if want is None:
                    one_line(report, "bad indices that both refuse", str(e))
                else:
                    report.differ("gathers alone", f"{g['name']}: {e}")
                continue
            if want is None:
                report.differ("gathers alone", f"{g['name']}: garner answers what ONNX Runtime refuses")
            else:
                report.same("results of gathers alone", g["name"], got, want)


def mended(report, garner, path, feeds):
    """What lint --fix writes: the rest of the model is the same, and so are its answers; no finding is left that it does not name."""
    out = os.path.join(os.path.dirname(path), "mended-" + os.path.basename(path))
    try:
        fixed = json.loads(garner("lint", path, "--fix", "-o", out, "--format", "json"))
        report.counts["mends"] += len(fixed["mends"])
        key = lambda f: (f["rule"], f["node"], f["message"])
        left = json.loads(garner("lint", out, "--fail-on", "never", "--format", "json"))["findings"]
        report.check("findings after the mends", "they", sorted(map(key, left)), sorted(key(f.get("finding", f)) for f in fixed["remaining"]))
        unchanged(report, onnx.load(path), onnx.load(out), {m["node"] for m in fixed["mends"]})
        compare_runs(report, "ONNX Runtime", lambda p: [v for v in session(p).run(None, feeds) if isinstance(v, np.ndarray)], path, out)
        compare_runs(report, "OpenVINO", lambda p: in_openvino(p, feeds), path, out)
    except Refused as e:
        report.differ("mended", str(e))
    finally:
        if os.path.exists(out):
            os.remove(out)


def compare_runs(report, runtime, run, path, out):
    """Compares the answers to a model and to the mended one in a runtime; one that it refuses counts as refused."""
    try:
        want = run(path)
    except Exception as e:
        report.refused[f"{runtime} the model"] += 1
        return
    for k, (got, value) in enumerate(zip(run(out), want, strict=True)):
        report.same(f"results of the mended model in {runtime}", f"result {k}", got, value)


def unchanged(report, model, made, mended):
    """Every initializer and every node that was not mended is what it was, byte for byte."""
    for kind, parts in (("weights", lambda g: g.initializer), ("nodes", lambda g: g.node)):
        have = [collections.Counter(p.SerializeToString(deterministic=True) for g in graphs(m) for p in parts(g)) for m in (made, model)]
        for g in graphs(model):
            for p in parts(g):
                holds = kind == "nodes" and ({p.name, *p.output} & mended or any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in p.attribute))
                if not holds:
                    report.check(kind + " kept by the mends", p.name, have[0][p.SerializeToString(deterministic=True)] >= have[1][p.SerializeToString(deterministic=True)], True)


def graphs(model):
    """The main graph and all sub-graphs."""
    return list({id(g): g for g in [model.graph] + [g for _, g, _ in walk(model.graph)]}.values())


def cut(model, known, given, results):
    """The part of a model between values that are given and results, as a model of its own."""
    need, needed = list(results), set()
    by = {o: n for n in model.graph.node for o in n.output}
    while need:
        v = need.pop()
        if v in given or v not in by or id(by[v]) in needed:
            continue
        needed.add(id(by[v]))
        need += [i for m, _, _ in walk(helper.make_graph([by[v]], "", [], [])) for i in m.input if i]
    keep = [n for n in model.graph.node if id(n) in needed]
    used = {i for n in keep for m, _, _ in walk(helper.make_graph([n], "", [], [])) for i in m.input} | set(results)
    info = lambda v: helper.make_tensor_value_info(v, helper.np_dtype_to_tensor_dtype(known[v].dtype), known[v].shape)
    made = helper.make_graph(keep, "cut", [info(v) for v in given if v in used], [info(v) for v in results], [t for t in model.graph.initializer if t.name in used])
    return helper.make_model(made, opset_imports=model.opset_import, ir_version=model.ir_version, functions=model.functions)


def compare(command, path, sizes):
    """The report of one model."""
    report = Report(path, "ONNX Runtime")
    garner = Garner(command, path)
    model = onnx.load(path)
    constants(report, garner, model, os.path.dirname(path))
    gathers = listed(report, garner, model)
    feeds = feeds_of(session(path, optimised=False), sizes, 1)
    known = values(model, feeds)
    for g in gathers:
        for v in g["inputs"] + g["outputs"]:
            if v["name"] in known:
                report.shape(v["name"], v["dims"], known[v["name"]].shape)
    nodes = [Node(n.op_type, n.name or n.output[0], list(n.output)) for n in model.graph.node if n.op_type != "Constant"]
    given, names = together(report, garner, nodes, known, feeds)
    alone(report, garner, model, gathers, known)
    mended(report, garner, path, feeds)
    ends = [g["outputs"][0]["name"] for g in gathers if g["outputs"][0]["name"] in names]
    with tempfile.TemporaryDirectory() as folder:
        for end in ends:
            converted(report, command, cut(model, known, given, [end]), known, os.path.join(folder, "cut.onnx"))
    return report


def converted(report, command, part, known, path):
    """Converts a part of a model by garner and by OpenVINO, and runs each in its runtime and in garner."""
    onnx.save(part, path)
    feeds = {i.name: known[i.name] for i in part.graph.input}
    want = known[part.graph.output[0].name]
    ours, theirs, back = (path.replace("cut.onnx", n) for n in ("ours.xml", "theirs.xml", "back.onnx"))
    try:
        Garner(command, path)("convert", path, "-o", ours, "--quiet")
        report.same("results of IR by convert", part.graph.output[0].name, in_openvino(ours, feeds)[0], want)
    except Refused as e:
        report.refused["convert: " + reason(str(e))] += 1
        one_line(report, "refusals", str(e))
    model = ov.convert_model(path)
    ov.save_model(model, theirs, compress_to_fp16=False)
    names = [next(n for n in feeds if n in p.get_names()) for p in model.inputs]
    garner = Garner(command, theirs)
    count = sum(op.get_type_name() in ("Gather", "GatherND", "GatherElements") for op in ov.Core().read_model(theirs).get_ops())
    report.check("gathers of OpenVINO's IR", theirs, len(garner.model()["gathers"]), count)
    given = {n: feeds[n] for n in names}
    try:
        (got,) = garner.run(given).values()
        report.same("results of OpenVINO's IR", part.graph.output[0].name, got, in_openvino(theirs, given)[0])
        garner("convert", theirs, "-o", back, "--quiet")
        s = session(back)
        report.same("results of its ONNX by convert", part.graph.output[0].name, s.run(None, dict(zip([i.name for i in s.get_inputs()], given.values())))[0], got)
    except Refused as e:
        report.refused["IR: " + reason(str(e))] += 1
        one_line(report, "refusals", str(e))


if __name__ == "__main__":
    main(__doc__, [(p, i, s) for p, files in MODELS.items() for i, s in files.items()], compare)
