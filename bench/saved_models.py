"""Holds garner against TensorFlow on SavedModels that nobody here made.

    python3 -m venv venv && venv/bin/pip install tensorflow-cpu==2.21.0
    go build -o garner ./cmd/garner
    venv/bin/python bench/saved_models.py --garner ./garner [--models FOLDER]

It downloads the packages below with pip into FOLDER, unless they are unpacked there, and
compares: the gathers of the signature that garner reads, with their operators and attributes,
with those that a walk over the graph and the functions that it calls finds; every variable
with load_checkpoint, bit for bit; and rows that every gather of a variable takes with those
that TensorFlow takes, bad indices too. It prints one line a model, and ends with 1 where
something differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

# In the place of this folder, whose python.py TensorFlow would take for a module of its own.
sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tensorflow", "graphdef", "testdata")

import numpy as np
import tensorflow as tf

import walk

MODELS = {
    "guesslang==2.2.1": "guesslang/data/model",
    "basic-pitch==0.4.0": "basic_pitch/saved_models/icassp_2022/nmp",
}


def unpacked(package, folder):
    """The folder of a package's wheel."""
    name = package.split("==")[0]
    path = os.path.join(folder, name)
    if not os.path.isdir(path):
        with tempfile.TemporaryDirectory() as wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, package], check=True)
            (wheel,) = os.listdir(wheels)
            with zipfile.ZipFile(os.path.join(wheels, wheel)) as z:
                z.extractall(path)
    return path


class Differences(list):
    def check(self, what, got, want):
        if got != want:
            self.append(f"{what}: garner has {got}, TensorFlow {want}")


def compare(garner, path, found):
    def run(*args):
        return subprocess.run([garner, *args], capture_output=True)

    graph, signatures = walk.read(path)
    functions = {f.signature.name: f for f in graph.library.function}
    signature = signatures["serving_default"]
    nodes = walk.reached(graph.node, [v.name for v in signature.outputs.values()])
    want = list(walk.gathers(nodes, functions))
    listed = run("model", path, "--json")
    if listed.returncode:
        found.append(listed.stderr.decode())
        return "it is refused"
    got = [g for g in json.loads(listed.stdout)["gathers"] if g["operator"]]
    found.check("gathers", len(got), len(want))
    left = [dict(op=g["op"], name=g["name"], attributes={k: v for k, v in g["attributes"].items() if v and k in ("batch_dims", "bad_indices_policy")}) for g in got]
    for g in want:
        same = [o for o in left if o["op"] == g["op"] and (o["name"] == g["name"] or o["name"].endswith("/" + g["name"])) and o["attributes"] == g["attributes"]]
        if same:
            left.remove(same[0])
        else:
            found.append(f"garner has no {g}")
    reader = tf.train.load_checkpoint(os.path.join(path, "variables", "variables"))
    keys = [k for k in reader.get_variable_to_shape_map() if not k.startswith("_CHECK")]
    info = {a["name"]: a for a in json.loads(run("info", path, "--json").stdout)["arrays"]}
    with tempfile.TemporaryDirectory() as scratch:
        for key in keys:
            value = np.asarray(reader.get_tensor(key))
            found.check(key + " shape", info[key]["shape"], list(value.shape))
            if value.ndim == 0 or value.dtype.kind not in "biufc":
                continue
            np.save(os.path.join(scratch, "all.npy"), np.arange(len(value)))
            made = run("gather", path + "#" + key, os.path.join(scratch, "all.npy"), "-o", os.path.join(scratch, "out.npy"))
            if made.returncode:
                found.append(f"{key}: {made.stderr.decode()}")
                continue
            found.check(key + " bytes", np.load(os.path.join(scratch, "out.npy")).tobytes() == value.tobytes(), True)
        ran = 0
        for g in got:
            data = g["inputs"][0]
            if data["from"] != "constant" or g["op"] not in ("GatherV2", "ResourceGather"):
                continue
            table = tf.constant(reader.get_tensor(data["constant"]["name"])) if data["constant"]["name"] in keys else None
            if table is None:
                continue
            dtype = next(i["dtype"] for i in g["inputs"] if i["role"] == "indices")
            for k in range(20):
                rng = np.random.default_rng(k)
                ids = rng.integers(0, table.shape[0], 17)
                if k % 5 == 4:
                    ids[rng.integers(17)] = rng.choice([-1, table.shape[0], 2**31 - 1])
                ids = ids.astype({"i32": np.int32, "i64": np.int64}[dtype])
                np.save(os.path.join(scratch, "ids.npy"), ids)
                out = os.path.join(scratch, f"rows{got.index(g)}-{k}")
                made = run("run", path, "--node", g["name"], "--input", "indices=" + os.path.join(scratch, "ids.npy"), "-o", out)
                try:
                    rows = tf.raw_ops.GatherV2(params=table, indices=ids, axis=0).numpy()
                except tf.errors.InvalidArgumentError:
                    found.check(g["name"] + " refuses", made.returncode, 1)
                    continue
                if made.returncode:
                    found.append(f"{g['name']}: {made.stderr.decode()}")
                    continue
                (file,) = os.listdir(out)
                found.check(g["name"] + " rows", np.load(os.path.join(out, file)).tobytes() == rows.tobytes(), True)
                ran += 1
    return f"{len(want)} gathers, {len(keys)} variables, {ran} runs of gathers"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--garner", required=True, help="the command")
    parser.add_argument("--models", default=os.path.join(tempfile.gettempdir(), "garner-models"), help="where the packages are unpacked")
    args = parser.parse_args()
    bad = False
    for package, inner in MODELS.items():
        found = Differences()
        text = compare(os.path.abspath(args.garner), os.path.join(unpacked(package, args.models), inner), found)
        print(f"{package}: {text}; {len(found)} differences")
        for line in found:
            print("   ", line)
        bad = bad or bool(found)
    sys.exit(bad)


main()
