"""Holds garner against TensorFlow on SavedModels that nobody here made: compare.py runs it.

It compares, of each model: the gathers of every signature and of every function, with their operators and attributes,
with those that a walk over the graph and the functions that it calls finds; their number with that in the graph that
TensorFlow's own optimiser makes, which has all functions inlined; every variable with load_checkpoint, bit for bit; and
rows that every gather of a variable takes, bad indices too. Of the graph that TensorFlow freezes, every value that
"garner run" computes from the inputs, and from what the nodes make that it refuses, and inferred shapes, are those of a
session. Each gather alone, and with the part before it that runs, is cut out as a frozen graph of its own. There
TensorFlow, garner, and what "garner convert" makes of it, in ONNX Runtime and in OpenVINO, give the same; those alone
on bad indices too. Of guesslang there is also a part that TensorFlow saves as a model of its own: there the gathers
stand in functions that others call.
"""
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tensorflow", "graphdef", "testdata"))

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import convert_to_constants
from tensorflow.python.grappler import tf_optimizer

import walk
from common import NUMPY, Garner, Node, Refused, Report, indices, main, one_line, piece, random_like, together

v1 = tf.compat.v1
SOURCE = np.array(["import os\nprint(os.getcwd())\n", "int main() { return 0; }"], object)
# A part that TensorFlow saves as a model of its own: values that are given, and the result.
BAG = "dnn/input_from_feature_columns/input_layer/content_embedding_1/content_embedding_weights/embedding_lookup_sparse/"
PART = [BAG + "Unique:0"], BAG + "embedding_lookup/Identity_1:0"
MODELS = [
    ("guesslang", "guesslang/data/model", {"inputs": SOURCE}),
    ("guesslang", "guesslang/data/model", {"inputs": SOURCE, "part": PART}),
    ("basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp", {"input_2": np.random.default_rng(1).standard_normal((1, 43844, 1)).astype(np.float32)}),
]
TABLES = ("Gather", "GatherV2", "ResourceGather")
RUNS = 6  # of each gather alone, with random operands; every third has a bad index


def compare(command, path, feeds):
    """The report of one model; of a part of it, where feeds names one."""
    part = feeds.get("part")
    report = Report(path, "TensorFlow", "its rows of the table, saved as a model by TensorFlow" if part else "")
    feeds = {k: v for k, v in feeds.items() if k != "part"}
    with tempfile.TemporaryDirectory() as folder:
        if part:
            path, feeds = saved(path, feeds, *part, os.path.join(folder, "part"))
            want = tf.saved_model.load(path).signatures["serving_default"](**{k: tf.constant(v) for k, v in feeds.items()})["out"].numpy()
            listed(report, Garner(command, path), path, None)
            report.counts["values"] += 1
            piece(report, command, path, [(feeds, want)], "results")
        else:
            graph, inlined, signature = frozen(path)
            listed(report, Garner(command, path), path, inlined)
            run(report, command, graph, {signature.inputs[k].name.removesuffix(":0"): v for k, v in feeds.items()}, folder)
        variables(report, Garner(command, path), path)
    return report


def saved(path, feeds, given, end, to):
    """Saves a part of a model of TensorFlow 1, and gives its folder and the values that it is given."""
    with tf.Graph().as_default() as g, v1.Session(graph=g) as s:
        signature = v1.saved_model.load(s, ["serve"], path).signature_def["serving_default"]
        values = s.run(given, {signature.inputs[k].name: v for k, v in feeds.items()})
    loaded, module = tf.saved_model.load(path), tf.Module()
    module.variables_, module.part = loaded.variables, loaded.prune(given, {"out": end})
    tf.saved_model.save(module, to, signatures=module.part)
    return to, dict(zip((i.name.split(":")[0] for i in module.part.inputs), values))


def frozen(path):
    """The graph of the signature with constants in the place of variables; that with all functions inlined; and the signature."""
    with tf.Graph().as_default() as g, v1.Session(graph=g) as s:
        signature = v1.saved_model.load(s, ["serve"], path).signature_def["serving_default"]
        ends = sorted({v.name.split(":")[0] for v in signature.outputs.values()})
        graph = g.as_graph_def()
        inlined = flat(graph, signature)
        # Branches and loops stay functions where nothing else is one: a session has no value of what a branch does not run.
        called = any("PartitionedCall" in n.op for n in walk.reached(graph.node, ends))
        return convert_to_constants.convert_variables_to_constants_from_session_graph(s, inlined if called else graph, ends), inlined, signature


def flat(graph, signature):
    """A graph with all functions in the place of their calls, and branches and loops as nodes, by TensorFlow's optimiser."""
    with tf.Graph().as_default() as g:
        v1.import_graph_def(graph, name="")
        meta = v1.train.export_meta_graph(graph_def=g.as_graph_def(add_shapes=True), graph=g)
    meta.collection_def["train_op"].node_list.value.extend(sorted({v.name for v in signature.outputs.values()}))
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.min_graph_nodes = -1
    config.graph_options.rewrite_options.optimizers.append("function")
    made = tf_optimizer.OptimizeGraph(config, meta)
    # What freezes variables does not see them behind an Identity.
    same = {n.name: n.input[0] for n in made.node if n.op == "Identity" and n.attr["T"].type == tf.resource.as_datatype_enum}
    for n in made.node:
        for k, i in enumerate(n.input):
            while i in same:
                i = n.input[k] = same[i]
    return made


def listed(report, garner, path, inlined):
    """Compares the gathers of all signatures, of all functions, and of what TensorFlow inlines."""
    graph, signatures = walk.read(path)
    functions = {f.signature.name: f for f in graph.library.function}
    roots = {k: walk.reached(graph.node, [v.name for v in s.outputs.values()]) for k, s in signatures.items() if s.inputs}
    for key, nodes in [*roots.items(), *((k, f.node_def) for k, f in functions.items())]:
        want = list(walk.gathers(nodes, functions))
        try:
            got = [g for g in Garner(garner.command, path, "--signature", key).model()["gathers"] if g["operator"]]
        except Refused as e:
            report.differ("gathers", f"{key}: {e}")
            continue
        report.check("lists of gathers", key, len(got), len(want))
        left = [dict(op=g["op"], name=g["name"], attributes={k: v for k, v in g["attributes"].items() if v and k in ("batch_dims", "bad_indices_policy")}) for g in got]
        for g in want:
            same = [o for o in left if o["op"] == g["op"] and (o["name"] == g["name"] or o["name"].endswith("/" + g["name"]))]
            report.check("gathers", f"{key}: {g['name']}", len(same) > 0, True)
            if same:
                left.remove(same[0])
                report.check("attributes", f"{key}: {g['name']}", same[0]["attributes"], g["attributes"])
    if inlined is None:
        return
    got = sorted(g["op"] for g in garner.model()["gathers"] if g["operator"])
    report.check("lists of gathers", "inlined by TensorFlow", got, sorted(n.op for n in inlined.node if n.op in walk.GATHERS))


def variables(report, garner, path):
    """Compares every variable with load_checkpoint, and rows of it with those that TensorFlow takes."""
    reader = tf.train.load_checkpoint(os.path.join(path, "variables", "variables"))
    info = {a["name"]: a for a in garner.arrays()}
    keys = [k for k in reader.get_variable_to_shape_map() if not k.startswith("_CHECK")]
    for key in keys:
        value = np.asarray(reader.get_tensor(key))
        report.check("constants", key, key in info and info[key]["shape"], list(value.shape))
        if value.ndim and value.dtype.kind in "biufc":
            report.same("constants read whole", key, garner.rows(key, len(value)), value)
    for number, g in enumerate(garner.model()["gathers"]):
        data, ids = g["inputs"][:2]
        if data["from"] != "constant" or g["op"] not in TABLES or data["constant"]["name"] not in keys:
            continue
        table = reader.get_tensor(data["constant"]["name"])
        for k in range(RUNS):
            bad, random = k % 3 == 2, np.random.default_rng([number, k])
            at = random.integers(0, len(table), 17) if not bad else indices(random, 17, len(table), np.int64, True)
            at = at.astype(NUMPY[ids["dtype"]])
            want = called(lambda: tf.raw_ops.GatherV2(params=table, indices=at, axis=0).numpy(), bad)
            try:
                (got,) = garner.run({"indices": at}, node=g["name"]).values()
                if want is None:
                    report.differ("results of gathers alone", f"{g['name']}: garner answers what TensorFlow refuses")
                else:
                    report.same("results of gathers alone", g["name"], got, want)
            except Refused as e:
                if want is None:
                    one_line(report, "bad indices that both refuse", str(e))
                else:
                    report.differ("results of gathers alone", f"{g['name']}: {e}")


def called(f, bad):
    """What f gives; None where TensorFlow refuses bad indices."""
    try:
        return f()
    except tf.errors.InvalidArgumentError:
        if not bad:
            raise
        return None


def session(graph, results, feeds):
    """Values of a graph."""
    options = config_pb2.GraphOptions(optimizer_options=config_pb2.OptimizerOptions(opt_level=config_pb2.OptimizerOptions.L0))
    options.rewrite_options.disable_meta_optimizer = True  # which takes outputs away
    with tf.Graph().as_default() as g, v1.Session(graph=g, config=config_pb2.ConfigProto(graph_options=options)) as s:
        v1.import_graph_def(graph, name="")
        return s.run(results, {n if ":" in n else n + ":0": v for n, v in feeds.items()})


def run(report, command, graph, feeds, folder):
    """Compares the values and the gathers of a graph without variables."""
    path = os.path.join(folder, "frozen.pb")
    with open(path, "wb") as f:
        f.write(graph.SerializeToString())
    garner = Garner(command, path)
    with tf.Graph().as_default() as g:
        v1.import_graph_def(graph, name="")
        operations = g.get_operations()
    spelled = lambda t: t.name.removesuffix(":0")
    held = lambda t: t.dtype.is_numpy_compatible and t.dtype.as_numpy_dtype in (*map(np.dtype, NUMPY.values()),)
    value = lambda t: held(t) and (t.value_index == 0 or t.consumers())
    made = [t for o in operations for t in o.outputs if value(t) and o.type != "Placeholder"]
    known = dict(zip(map(spelled, made), session(graph, [t.name for t in made], feeds)))
    nodes = [Node(o.type, o.name, [spelled(t) for t in o.outputs if value(t)]) for o in operations if o.type not in ("Const", "Placeholder")]
    # What is made of texts and lists is given.
    given = {n: v for n, v in feeds.items() if v.dtype != object}
    for o in operations:
        if any(not held(t) for t in o.inputs) or o.type == "Placeholder" and o.name not in given:
            given |= {spelled(t): known[spelled(t)] for t in o.outputs if spelled(t) in known}
            report.refused[o.type] += any(held(t) for t in o.outputs)
    gathers = [g for g in garner.model()["gathers"] if g["operator"]]
    for g in gathers:
        for v in g["inputs"] + g["outputs"]:
            if v["name"] in known:
                report.shape(v["name"], v["dims"], known[v["name"]].shape)
    given, results = together(report, garner, nodes, known, given)
    for number, g in enumerate(gathers):
        end, (data, ids) = g["outputs"][0]["name"], [v["name"] for v in g["inputs"][:2]]
        if end in results:
            pieces(report, command, cut(graph, given, end), end, [(given, False)], folder, "results of the part before a gather")
        if data in known and g["op"] in (*TABLES, "GatherNd"):
            axis = next((known[v["name"]] for v in g["inputs"] if v["role"] == "axis"), 0)
            bound = min(known[data].shape[: known[ids].shape[-1]]) if g["op"] == "GatherNd" else known[data].shape[int(axis)]
            runs = []
            for k in range(RUNS):
                bad, random = k % 3 == 2, np.random.default_rng([number, k])
                at = indices(random, known[ids].shape, bound, known[ids].dtype, True) if bad else random.integers(0, bound, known[ids].shape).astype(known[ids].dtype)
                runs.append(({data: random_like(random, known[data].dtype, known[data].shape), ids: at}, bad))
            pieces(report, command, cut(graph, {n: known[n] for n in (data, ids)}, end), end, runs, folder, "results of gathers alone")


def cut(graph, given, end):
    """The part of a graph between values that are given and a result, with their shapes."""
    by, part, done, todo = {n.name: n for n in graph.node}, tf.compat.v1.GraphDef(versions=graph.versions), set(), [end]
    fed = {}
    while todo:
        value = todo.pop().lstrip("^").removesuffix(":0")
        if value in done:
            continue
        done.add(value)
        if value in given:
            fed[value] = given[value]
            n = part.node.add(name=value.replace(":", "_"), op="Placeholder")
            n.attr["dtype"].type = tf.as_dtype(given[value].dtype).as_datatype_enum
            n.attr["shape"].shape.CopyFrom(tf.TensorShape(given[value].shape).as_proto())
            continue
        name = value.split(":")[0]
        if name not in done or name == value:
            done.add(name)
            n = part.node.add()
            n.CopyFrom(by[name])
            for k, i in enumerate(n.input):
                if i.lstrip("^").removesuffix(":0") in given and ":" in i.removesuffix(":0"):
                    n.input[k] = i.replace(":", "_")
            todo += by[name].input
    return part


def pieces(report, command, part, end, feeds, folder, kind):
    """Runs a part of a graph in TensorFlow, by garner, and as what it converts it to; feeds has inputs, and whether an index is bad."""
    path = os.path.join(folder, "cut.pb")
    with open(path, "wb") as f:
        f.write(part.SerializeToString())
    inputs = {n.name for n in part.node if n.op == "Placeholder"}
    runs = []
    for given, bad in feeds:
        given = {n.replace(":", "_"): v for n, v in given.items() if n.replace(":", "_") in inputs}
        runs.append((given, called(lambda: session(part, end if ":" in end else end + ":0", given), bad)))
    piece(report, command, path, runs, kind)


if __name__ == "__main__":
    main(__doc__, MODELS, compare)
