#!/usr/bin/env python3
"""Times the Python package beside NumPy, PyTorch, safetensors, TensorStore and h5py in one process.

    python.py [--only calls,take,table,cold,file] [--threads N] [--turns 15] [--full] [--alone] [--dir DIR] [--gib 2] [--json FILE]

Parts:
    calls   take of 16 rows of 64 bytes with out=: a call alone
    take    garner.take and take_along_axis beside NumPy's, of 65,537 to 10 million elements: types, rows of 1 to 1,024
            elements, near and far tables, orders, axes, modes, with out= and without, and strided tables; --full tries all combinations. Where
            NumPy is as fast, garner.take calls it: --alone leaves nothing to NumPy, and shows where that is
    table   lookup of 16 rows of 1 KiB from an open file whose pages are cached
    cold    20,000 random rows of 4 KiB of a .npy of --gib GiB in --dir that is not in the page cache
    file    garner.gather_file beside np.save of a memmap's rows, from files in the page cache

Each turn times every system once, one after the other, with the arrays that the first turn checked to be equal. A figure is
the median of the turns; "least" is that of the shortest times, which other work on the machine disturbs less. "times" is a
peer's time over garner's: above 1, garner is faster. A system that is not installed is named and left out.
"""
import argparse
import importlib
import itertools
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time

try:
    import numpy as np

    import garner
except ImportError as e:
    sys.exit(f"python.py needs numpy and garner: pip install garner-gather ({e})")

CLOCK = time.perf_counter
PEERS = ("torch", "safetensors", "tensorstore", "h5py")
found = {}
figures = []


def peers():
    """Imports the peers, and says which there are."""
    for name in PEERS:
        try:
            found[name] = importlib.import_module(name)
        except Exception as e:  # an installation that does not load is none
            print(f"{name}: not here ({str(e).splitlines()[0]})")
    if "safetensors" in found:
        importlib.import_module("safetensors.numpy")
    versions = {"numpy": np.__version__, "garner": garner.__version__, **{n: getattr(m, "__version__", "?") for n, m in found.items()}}
    print(", ".join(f"{n} {v}" for n, v in versions.items()), f"; Python {sys.version.split()[0]}, {os.cpu_count()} cores\n")


def turns(calls, count, many=1, before=None):
    """Times calls by name in turns; returns the times of each in seconds, sorted.

    The order is another one in each turn, as what a call leaves behind, threads and caches, is the next one's. One call that
    is not timed comes first, but before cold ones.
    """
    taken = {name: [] for name in calls}
    order, shuffled = list(calls.items()), random.Random(0)
    for _ in range(count):
        shuffled.shuffle(order)
        for name, call in order:
            (before or call)()
            start = CLOCK()
            for _ in range(many):
                call()
            taken[name].append((CLOCK() - start) / many)
    return {name: sorted(t) for name, t in taken.items()}


def show(part, what, taken, unit=1e6, bar=None):
    """Prints the times of one comparison."""
    ours = taken["garner"]
    for name, t in taken.items():
        median, least = statistics.median(t), t[0]
        line = f"  {name:32} {median * unit:12.2f} {least * unit:12.2f}"
        if name != "garner":
            line += f" {median / statistics.median(ours):8.2f} {least / ours[0]:8.2f}"
        elif bar is not None:
            line += f"   {'ok' if ours[0] * unit < bar else 'MISSED'}: the bar is {bar:g}"
        print(line)
        figures.append(dict(part=part, what=what, system=name, median=median, least=least, turns=len(t)))
    print()


def head(title, unit):
    print(f"{title}\n  {'':32} {'median ' + unit:>12} {'least ' + unit:>12} {'times':>8} {'least':>8}")


def same(want, got, name):
    if np.ascontiguousarray(want).tobytes() != np.ascontiguousarray(got).tobytes():
        sys.exit(f"{name}: WRONG")


def calls(o):
    head("calls: take of 16 rows of f32[1000,16] with out=", "µs")
    a, ids = np.random.default_rng(0).random((1000, 16), np.float32), np.arange(16) * 60
    out = np.empty((16, 16), np.float32)
    compared = {"garner": lambda: garner.take(a, ids, 0, out), "numpy.take": lambda: np.take(a, ids, 0, out), "numpy.take, mode clip": lambda: np.take(a, ids, 0, out, "clip")}
    if "torch" in found:
        torch = found["torch"]
        ta, ti, to = torch.from_numpy(a), torch.from_numpy(ids), torch.empty(16, 16)
        compared["torch.index_select"] = lambda: torch.index_select(ta, 0, ti, out=to)
        same(a[ids], torch.index_select(ta, 0, ti), "torch")
    same(a[ids], garner.take(a, ids, 0, out), "garner")
    show("calls", "take 16", turns(compared, o.turns, 2000), bar=2.5)


def cases(full):
    """The takes: a name, the data, the indices, the axis and the mode."""
    rng = np.random.default_rng(1)
    for dtype, row, where in itertools.product(("f4", "f8", "i1"), (1, 4, 16, 64, 1024), ("near", "far")):
        size = np.dtype(dtype).itemsize
        rows = max((256 << 10 if where == "near" else 128 << 20) // size // row, 8)
        base = (np.arange(rows * row) % 101).astype(dtype)
        axes = [(0, base.reshape(rows, row) if row > 1 else base)]
        if where == "near":
            axes.append((1, base.reshape((4, rows // 4) + ((row,) if row > 1 else ()))))
        if row == 1:
            axes.append((None, base.reshape(-1, 2)))
        for (axis, a), result in itertools.product(axes, (65_537, 300_000, 1_000_000, 10_000_000)):
            per = 1 if axis is None else a.size // a.shape[axis]
            length = a.size if axis is None else a.shape[axis]
            ids = rng.integers(0, length, -(-result // per))
            orders = (("random", ids), ("sorted", np.sort(ids))) if full else (("random", ids),)
            for (order, i), mode, given in itertools.product(orders, ("raise", "wrap", "clip") if full else ("raise", "clip"), (False, True)):
                yield f"{dtype} {where} row {row} axis {axis} {order} {mode} {'out' if given else 'new'}", result, a, i, axis, mode, given


def layouts():
    """Takes of strided data, as cases has them."""
    rng = np.random.default_rng(9)
    for dtype, result in itertools.product(("f4", "i1"), (70_000, 1_000_000, 5_000_000)):
        base = (np.arange(3000 * 1536) % 101).astype(dtype).reshape(3000, 1536)
        c = base[:, :768]
        for name, a in dict(F=np.asfortranarray(c), columns=base[:, ::2], backwards=base[:, 767::-1], rows=base[::2], turned=np.ascontiguousarray(c).reshape(768, 4, 750).transpose(2, 1, 0)).items():
            ids = rng.integers(0, len(a), max(result * len(a) // a.size, 1))
            for mode, given in itertools.product(("raise", "wrap", "clip"), (False, True)):
                yield f"{dtype} {name} axis 0 random {mode} {'out' if given else 'new'}", result, a, ids, 0, mode, given


def take(o):
    if o.alone:
        garner._ops.SMALL = -1
    print("take: numpy.take's time over garner's (least of the turns); all below 1, and a summary")
    print(f"  {'':52} {'elements':>10} {'garner µs':>11} {'numpy µs':>11} {'times':>7}")
    by = {}
    every = itertools.chain(((*c, "take") for c in cases(o.full)), ((*c, "strided") for c in layouts()))
    for name, result, a, ids, axis, mode, given, what in every:
        want = np.take(a, ids, axis, None, mode)
        out = np.empty_like(want) if given else None
        same(want, garner.take(a, ids, axis, out, mode), name)
        compared = {"garner": lambda: garner.take(a, ids, axis, out, mode), "numpy.take": lambda: np.take(a, ids, axis, out, mode)}
        taken = turns(compared, o.turns if result < 5_000_000 else max(5, o.turns // 3))
        ours, theirs = taken["garner"][0], taken["numpy.take"][0]
        note(by, result, what, name, ours, theirs, taken)
    for dtype, axis, result in itertools.product(("f4", "f8", "i1"), (0, 1), (65_537, 1_000_000, 10_000_000)):
        rows = -(-result // 256)
        a = (np.arange(4096 * 256) % 101).astype(dtype).reshape(4096, 256)
        ids = np.random.default_rng(2).integers(0, a.shape[axis], (rows, 256))
        a = a if axis == 0 else np.ascontiguousarray(a[np.arange(rows) % 4096])
        same(np.take_along_axis(a, ids, axis), garner.take_along_axis(a, ids, axis), "take_along_axis")
        compared = {"garner": lambda: garner.take_along_axis(a, ids, axis), "numpy": lambda: np.take_along_axis(a, ids, axis)}
        taken = turns(compared, o.turns if result < 5_000_000 else max(5, o.turns // 3))
        note(by, result, "along", f"{dtype} take_along_axis {axis}", taken["garner"][0], taken["numpy"][0], taken)
    print()
    for (what, result), ratios in sorted(by.items()):
        mean = math.exp(statistics.fmean(math.log(r) for r in ratios))
        print(f"  {what:7} {result:>11,} elements: {len(ratios):4} cases, mean {mean:5.2f}, least {min(ratios):5.2f}, {sum(r < 1 for r in ratios)} below 1, {sum(r < 0.9 for r in ratios)} below 0.9")
    print()


def note(by, result, what, name, ours, theirs, taken):
    """Keeps one comparison, and prints it where NumPy is faster."""
    by.setdefault((what, result), []).append(theirs / ours)
    if theirs < ours:
        print(f"  {name:52} {result:10,} {ours * 1e6:11.1f} {theirs * 1e6:11.1f} {theirs / ours:7.2f}", flush=True)
    figures.append(dict(part=what, what=name, elements=result, garner=taken["garner"], numpy=next(v for k, v in taken.items() if k != "garner")))


def table(o):
    head("table: 16 random rows of 1 KiB of f32[20000,256], pages cached", "µs")
    values = np.random.default_rng(3).random((20_000, 256), np.float32)
    ids = np.random.default_rng(4).choice(len(values), 16, replace=False)
    out = np.empty((16, 256), np.float32)
    path = os.path.join(o.dir, "warm.npy")
    np.save(path, values)
    mapped = np.load(path, mmap_mode="r")
    t = garner.Table(path)
    compared = {
        "garner": lambda: t.lookup(ids, out), "garner, a new array": lambda: t[ids],
        "numpy.memmap": lambda: mapped[ids], "numpy.take of a memmap, out=": lambda: np.take(mapped, ids, 0, out, "clip"),
    }  # fmt: skip
    asarray = np.asarray(mapped)
    compared["numpy.take of its array, out="] = lambda: np.take(asarray, ids, 0, out, "clip")
    if "torch" in found:
        torch = found["torch"]
        ti, to, tt = torch.from_numpy(ids), torch.empty(16, 256), torch.from_file(path, size=os.path.getsize(path) // 4, dtype=torch.float32)
        skip = (os.path.getsize(path) - values.nbytes) // 4
        rows = tt[skip:].view(20_000, 256)
        compared["torch.index_select of from_file"] = lambda: torch.index_select(rows, 0, ti, out=to)
    if "safetensors" in found:
        other = os.path.join(o.dir, "warm.safetensors")
        found["safetensors"].numpy.save_file({"x": values}, other)
        part = found["safetensors"].safe_open(other, "np").__enter__().get_slice("x")
        compared["safetensors, a slice a row"] = lambda: np.stack([part[int(i) : int(i) + 1][0] for i in ids])
    if "tensorstore" in found:
        store = found["tensorstore"].open(dict(driver="zarr3", kvstore=dict(driver="file", path=os.path.join(o.dir, "warm.zarr"))), create=True, delete_existing=True, dtype="float32", shape=list(values.shape)).result()
        store.write(values).result()
        compared["tensorstore"] = lambda: store[ids].read().result()
    if "h5py" in found:
        h = found["h5py"].File(os.path.join(o.dir, "warm.h5"), "w")
        h["x"] = values
        d, up, back = h["x"], np.sort(ids), np.argsort(np.argsort(ids))
        compared["h5py, sorted rows"] = lambda: d[up][back]
    for name, call in compared.items():
        same(values[ids], call(), name)
    show("table", "16 rows of 1 KiB", turns(compared, o.turns, 50), bar=4)
    t.close()


def cold(o):
    rows = (o.gib << 30) // 4096
    head(f"cold: 20,000 rows of 4 KiB of a .npy of {o.gib} GiB, not in the page cache", "s")
    path = os.path.join(o.dir, f"cold-{o.gib}.npy")
    if not os.path.exists(path):
        with open(path, "wb") as f:
            np.lib.format.write_array_header_1_0(f, dict(descr="<f4", fortran_order=False, shape=(rows, 1024)))
            rng = np.random.default_rng(5)
            for _ in range(o.gib * 16):
                f.write(rng.bytes(64 << 20))
            os.fsync(f.fileno())
    ids = np.random.default_rng(6).integers(0, rows, 20_000)

    def drop():
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)

    def ours():
        with garner.Table(path) as t:
            return t.lookup(ids)

    compared = {"garner": ours, "numpy.memmap": lambda: np.load(path, mmap_mode="r")[ids]}
    same(compared["numpy.memmap"](), ours(), "cold")
    show("cold", f"{o.gib} GiB", turns(compared, 3, before=drop), unit=1)


def file(o):
    head("file: 200,000 rows of 1 KiB into a .npy, from files in the page cache", "ms")
    path, at, to = (os.path.join(o.dir, n) for n in ("data.npy", "ids.npy", "out.npy"))
    np.save(path, np.random.default_rng(7).random((100_000, 256), np.float32))
    np.save(at, np.random.default_rng(8).integers(0, 100_000, 200_000))

    def numpys():
        np.save(to, np.load(path, mmap_mode="r")[np.load(at)])

    numpys()
    want = np.load(to)
    garner.gather_file(path, at, to)
    same(want, np.load(to), "gather_file")
    compared = {"garner": lambda: garner.gather_file(path, at, to), "garner, memory=64M": lambda: garner.gather_file(path, at, to, memory="64M"), "numpy: load, index, save": numpys}
    show("file", "200,000 rows", turns(compared, max(3, o.turns // 3)), unit=1e3)


def main():
    parts = dict(calls=calls, take=take, table=table, cold=cold, file=file)
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default=",".join(parts), metavar="PARTS", help="run these parts")
    p.add_argument("--threads", type=int, metavar="N", help="pin the process to N cores; all is the default")
    p.add_argument("--turns", type=int, default=15, metavar="N", help="turns of each comparison")
    p.add_argument("--full", action="store_true", help="all combinations of take")
    p.add_argument("--alone", action="store_true", help="take: nothing is left to NumPy")
    p.add_argument("--dir", metavar="DIR", help="files are made here; a temporary folder is the default")
    p.add_argument("--gib", type=int, default=2, metavar="N", help="size of the cold table")
    p.add_argument("--json", metavar="FILE", help="write every figure")
    o = p.parse_args()
    unknown = set(o.only.split(",")) - set(parts)
    if unknown:
        p.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    if o.threads:
        cores = sorted(os.sched_getaffinity(0))
        if o.threads > len(cores):
            p.error(f"{len(cores)} cores are there")
        os.sched_setaffinity(0, set(cores[: o.threads]))  # before the library is loaded: it then takes as many
    peers()
    if "torch" in found:
        found["torch"].set_num_threads(o.threads or os.cpu_count())
    with tempfile.TemporaryDirectory() as folder:
        o.dir = o.dir or folder
        for name in o.only.split(","):
            parts[name](o)
    if o.json:
        with open(o.json, "w") as f:
            json.dump(figures, f)


if __name__ == "__main__":
    main()
