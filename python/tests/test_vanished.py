"""Numbers of rows and results in mapped files that are cut short: an OSError that names them, and no end of the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_process import run

HEAD = """
    import mmap, tempfile
    folder = tempfile.mkdtemp()
    np.savez(folder + "/z.npz", a=np.asarray(values))
    np.savez_compressed(folder + "/c.npz", a=np.asarray(values))
    tables = {
        "mapped": garner.Table(path), "pread": garner.Table(path, pread=True), "memory": garner.Table(folder + "/c.npz#a"),
        "converted": garner.Table(path, to="f16"), "converted by pread": garner.Table(path, to="f16", pread=True),
    }
    made = 0
    def vanishing(a):
        global made
        made += 1
        name = f"{folder}/{made}"
        with open(name, "wb") as f: f.write(bytes(4096) + np.ascontiguousarray(a).tobytes() + bytes(8192))
        with open(name, "r+b") as f: m = mmap.mmap(f.fileno(), 0)
        b = np.frombuffer(m, a.dtype, a.size, 4096).reshape(a.shape)
        return b, lambda: os.truncate(name, 100)
    def told(words, f):
        try: f()
        except OSError as e: assert words in str(e) and not e.filename, e
        else: raise AssertionError(words)
"""


@pytest.mark.parametrize("what", ["ids", "out"])
@pytest.mark.parametrize("count", [1, 16, 200])
def test_cut_short_beside_a_table(npy: Path, what: str, count: int) -> None:
    run(
        HEAD
        + f"""
    for name, t in tables.items():
        for ids in (np.random.default_rng(0).integers(0, len(values), {count}), np.arange({count}, dtype=np.int32) % len(values)):
            want = t.lookup(ids)
            if {what!r} == "ids":
                gone, cut = vanishing(ids)
                cut()
                for call in (lambda: t.lookup(gone), lambda: t[gone], lambda: t.lookup(gone, np.empty_like(want))):
                    told("numbers of rows cannot be read", call)
            else:
                gone, cut = vanishing(want)
                cut()
                told("out cannot be written to", lambda: t.lookup(ids, gone))
            assert (t.lookup(ids) == want).all(), name
    check()
    """,
        npy,
    )


def test_cut_short_under_a_run(npy: Path) -> None:
    run(
        HEAD
        + """
    a, n = np.ones((300, 64), np.float32), 3000
    ids, ends, weights = np.zeros(n, int), np.arange(0, n, 10), np.ones(n, np.float32)
    for k in range(4):
        given = [a, ids, ends, weights]
        given[k], cut = vanishing(given[k])
        cut()
        d, i, e, w = given
        told("", lambda: garner.embedding_bag(i, d, e, mode="sum", per_sample_weights=w))
        if k < 2: told("", lambda: garner.gather("onnx.Gather-13", d, i))
        if k < 2: told("", lambda: garner.explain("onnx.Gather-13", d, i))
    out, cut = vanishing(np.zeros((n, 64), np.float32))
    cut()
    told("", lambda: garner.gather("onnx.Gather-13", a, ids, out=out))
    check()
    """,
        npy,
    )
