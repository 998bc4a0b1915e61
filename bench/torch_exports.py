"""Holds `garner run` against ONNX Runtime on what torch.onnx.export makes of PyTorch's gathers.

    python3 -m venv venv && venv/bin/pip install torch==2.15.0 onnxscript==0.7.2 onnx==1.23.0 onnxruntime==1.31.1
    go build -o garner ./cmd/garner
    venv/bin/python bench/torch_exports.py --garner ./garner [--models FOLDER]

It exports each module below with dynamic dims, runs it with three feeds of other sizes in ONNX Runtime and in garner,
and compares the results bit for bit. It prints one line a model: equal, or why garner refuses it. It ends with 1 where
a result differs or a model is refused without a reason. The models stay in FOLDER, to compare their shapes:

    go build -o values ./internal/shapes/testdata/values
    venv/bin/python internal/shapes/testdata/compare.py ./values FOLDER/*.onnx
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings

sys.path.pop(0)  # this folder, which has a python.py
warnings.filterwarnings("ignore")

import numpy as np
import onnxruntime as ort
import torch
from torch import nn
from torch.export import Dim

ort.set_default_logger_severity(4)


class Of(nn.Module):
    """A module of a function, with tables that the function takes first."""

    def __init__(self, do, *tables):
        super().__init__()
        self.do = do
        self.tables = nn.ParameterList([nn.Parameter(t, requires_grad=False) for t in tables])

    def forward(self, *inputs):
        return self.do(*self.tables, *inputs)


def table(*shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) / 7


def f(*shape):
    return lambda r, n: torch.from_numpy(r.standard_normal([n if d == "n" else d for d in shape]).astype(np.float32))


def i(*shape, below=5, least=0):
    return lambda r, n: torch.from_numpy(r.integers(least, below, [n if d == "n" else d for d in shape]))


def embedding(**options):
    torch.manual_seed(0)
    return nn.Embedding(10, 4, **options)


def bag(mode, **options):
    torch.manual_seed(0)
    return nn.EmbeddingBag(10, 4, mode=mode, **options)


# By name: the module, its inputs, and which dim of each is dynamic.
MODELS = {
    "gather": (Of(lambda x, i: torch.gather(x, 1, i)), [f("n", 6), i("n", 3)], [0, 0]),
    "gather_of_table": (Of(lambda t, i: torch.gather(t, 0, i), table(5, 4)), [i("n", 4)], [0]),
    "index_select": (Of(lambda x, i: torch.index_select(x, 1, i)), [f("n", 6), i("n")], [0, 0]),
    "index_select_of_table": (Of(lambda t, i: t.index_select(0, i), table(5, 4)), [i("n")], [0]),
    "embedding": (embedding(), [i("n", 3, below=10)], [0]),
    "embedding_padding": (embedding(padding_idx=0), [i("n", 3, below=10)], [0]),
    "embedding_bag_sum": (bag("sum"), [i("n", 3, below=10)], [0]),
    "embedding_bag_mean": (bag("mean"), [i("n", 3, below=10)], [0]),
    "embedding_bag_max": (bag("max"), [i("n", 3, below=10)], [0]),
    "take_along_dim": (Of(lambda x, i: torch.take_along_dim(x, i, 1)), [f("n", 6), i("n", 3)], [0, 0]),
    "take": (Of(lambda x, i: torch.take(x, i)), [f("n", 6), i("n")], [0, 0]),
    "x[i]": (Of(lambda x, i: x[i]), [f(6, "n"), i("n")], [1, 0]),
    "x[:,i]": (Of(lambda x, i: x[:, i]), [f("n", 6), i("n")], [0, 0]),
    "x[i,j]": (Of(lambda x, i, j: x[i, j]), [f(6, 5, "n"), i("n"), i("n")], [2, 0, 0]),
    "x[i,:,j]": (Of(lambda x, i, j: x[i, :, j]), [f(6, "n", 5), i("n"), i("n")], [1, 0, 0]),
    "x[:,i,j]": (Of(lambda x, i, j: x[:, i, j]), [f("n", 6, 5), i("n"), i("n")], [0, 0, 0]),
    "x[i,j]_broadcast": (Of(lambda x, i, j: x[i, j]), [f(6, 5), i("n", 1), i(3)], [None, 0, None]),
    "x[...,i]": (Of(lambda x, i: x[..., i]), [f("n", 2, 6), i("n")], [0, 0]),
    "x[mask]": (Of(lambda x: x[x > 0]), [f("n", 6)], [0]),
    "x[arange,argmax]": (Of(lambda x: x[torch.arange(x.shape[0]), x.argmax(1)]), [f("n", 6)], [0]),
    "last": (Of(lambda x, i: x[torch.arange(x.shape[0]), i]), [f("n", 6, 4), i("n")], [0, 0]),
    "x[-i]": (Of(lambda x, i: x[-i - 1]), [f(6, "n"), i("n")], [1, 0]),
    "topk": (Of(lambda x: torch.gather(x, 1, torch.topk(x, 3, 1).indices)), [f("n", 6)], [0]),
    "sort": (Of(lambda x: x[torch.argsort(x[:, 0])]), [f("n", 6)], [0]),
    "clamped": (Of(lambda t, i: t[i.clamp(0, t.shape[0] - 1)], table(5, 4)), [i("n", least=-9, below=9)], [0]),
    "hashed": (Of(lambda t, i: nn.functional.embedding(i % 5, t), table(5, 4)), [i("n", 2, below=99)], [0]),
    "offsets": (Of(lambda t, i: nn.functional.embedding(i + torch.tensor([0, 5]), t), table(10, 4)), [i("n", 2)], [0]),
    "two_tables": (Of(lambda t, u, i: torch.cat([t[i[:, 0]], u[i[:, 1]]], 1), table(5, 4), table(5, 3)), [i("n", 2)], [0]),
    "positions": (Of(lambda t, x: x + t[torch.arange(x.shape[1])], table(20, 4)), [f(2, "n", 4)], [1]),
    "gather_expanded": (Of(lambda x, i: torch.gather(x, 1, i[:, :, None].expand(-1, -1, x.shape[2]))), [f("n", 6, 4), i("n", 3)], [0, 0]),
    "batched": (Of(lambda x, i: torch.stack([x[:, 0], x.gather(1, i[:, None])[:, 0]])), [f("n", 6), i("n")], [0, 0]),
    "reversed": (Of(lambda x: x.flip(0)[torch.arange(0, x.shape[0], 2)]), [f("n", 6)], [0]),
    "half": (Of(lambda t, i: t.half()[i], table(5, 4)), [i("n")], [0]),
    "one_row": (Of(lambda t, i: t[i[0]], table(5, 4)), [i("n")], [0]),
    "meshgrid": (Of(lambda x: x[torch.arange(x.shape[0])[:, None], torch.arange(3)[None, :]]), [f("n", 6)], [0]),
    "where": (Of(lambda t, i: torch.where((i >= 0)[:, None], t[i.clamp(min=0)], torch.zeros(())), table(5, 4)), [i("n", least=-2)], [0]),
}


def exported(name, module, inputs, dynamic, path, dynamo):
    module = module.eval()
    r = np.random.default_rng(0)
    example = tuple(make(r, 4) for make in inputs)
    names = [f"in{k}" for k in range(len(inputs))]
    if dynamo:
        for dim in (Dim.DYNAMIC, Dim("n")):  # each dim by itself; if the module compares them, all as one
            shapes = tuple({d: dim} if d is not None else None for d in dynamic)
            if isinstance(module, Of):
                shapes = (shapes,)  # of *inputs
            try:
                return torch.onnx.export(module, example, path, dynamo=True, dynamic_shapes=shapes, input_names=names, verbose=False)
            except Exception:
                if dim is not Dim.DYNAMIC:
                    raise
    else:
        torch.onnx.export(module, example, path, dynamo=False, input_names=names, opset_version=17, dynamic_axes={n: {d: f"d{k}"} for k, (n, d) in enumerate(zip(names, dynamic)) if d is not None})


def compare(garner, path, inputs, folder):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    runs = 0
    for n in (4, 1, 7):
        r = np.random.default_rng(n)
        feeds = {x.name: make(r, n).numpy() for x, make in zip(session.get_inputs(), inputs)}
        try:
            want = session.run(None, feeds)
        except Exception as e:
            print("   no run in ONNX Runtime:", str(e)[:120])
            continue
        args = []
        for k, v in feeds.items():
            np.save(os.path.join(folder, f"{k}.npy"), v)
            args += ["--input", f"{k}={os.path.join(folder, k + '.npy')}"]
        out = os.path.join(folder, "out")
        made = subprocess.run([garner, "run", path, *args, "-o", out], capture_output=True, text=True)
        if made.returncode:
            return "refused", re.sub(r"\s+", " ", made.stderr)[:300]
        for o, y in zip(session.get_outputs(), want):
            got = np.load(os.path.join(out, re.sub(r"[^\w.-]", "_", o.name) + ".npy"))
            if got.shape != y.shape or got.dtype != y.dtype or got.tobytes() != y.tobytes():
                return "differs", f"with n = {n}: {got.ravel()[:4]} {got.shape}, ONNX Runtime {y.ravel()[:4]} {y.shape}"
        runs += 1
    return ("equal" if runs else "no run"), f"{runs} runs"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--garner", required=True)
    p.add_argument("--models")
    a = p.parse_args()
    counts = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.models or temporary
        os.makedirs(folder, exist_ok=True)
        for dynamo in (True, False):
            for name, (module, inputs, dynamic) in MODELS.items():
                slug = name.replace("...", "dots").replace(":", "all").replace("-", "minus ")
                path = os.path.join(folder, re.sub(r"\W+", "_", slug).strip("_") + ("" if dynamo else "_script") + ".onnx")
                if not os.path.exists(path):
                    try:
                        exported(name, module, inputs, dynamic, path, dynamo)
                    except Exception as e:
                        print(f"{name}{'' if dynamo else ' (TorchScript)'}: not exported: {type(e).__name__} {str(e).strip()[:150]!r}", flush=True)
                        counts["not exported"] = counts.get("not exported", 0) + 1
                        continue
                with tempfile.TemporaryDirectory() as feeds:
                    kind, text = compare(a.garner, path, inputs, feeds)
                counts[kind] = counts.get(kind, 0) + 1
                print(f"{name}{'' if dynamo else ' (TorchScript)'}: {kind}: {text}", flush=True)
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    sys.exit(counts.get("differs", 0) + counts.get("no run", 0) > 0)


main()
