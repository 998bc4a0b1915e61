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
@pytest.mark.parametrize("count", [1, 16, 3000])
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


def test_a_handler_of_sigbus_that_comes_during_a_long_call(npy: Path) -> None:
    """Another is installed in its middle, and the file is cut short 100 ms later."""
    run(
        """
        import ctypes, resource, tempfile
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        libc = ctypes.CDLL(None)
        libc.signal.restype, libc.signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
        def cut(name):
            time.sleep(0.1)
            libc.signal(signal.SIGBUS, None)
            time.sleep(0.15)
            os.truncate(name, 4096)
        name = tempfile.mkdtemp() + "/t.npy"
        for way in ("lookup", "gather", "thread"):
            np.save(name, np.ones((1 << 18, 64), np.float32))
            t, mapped, ended = garner.Table(name), np.load(name, mmap_mode="r"), []
            ids = np.random.default_rng(0).integers(0, 1 << 18, 1 << 20)
            out = np.empty((len(ids), 64), np.float32)
            def call():
                try:
                    while True: t.lookup(ids, out) if way == "lookup" else garner.gather("onnx.Gather-13", mapped, ids, out=out)
                except OSError: ended.append(1)
            x = threading.Thread(target=cut, args=(name,)); x.start()
            if way == "thread": y = threading.Thread(target=call); y.start(); y.join()
            else: call()
            x.join()
            assert ended, way
            t.close(); del mapped
        """,
        npy,
    )


def test_many_handlers_of_sigbus(npy: Path) -> None:
    """Beyond as many as there are places, what maps a file is refused, and nothing else."""
    out = run(
        """
        import ctypes
        t, p, mapped = garner.Table(path), garner.Table(path, pread=True), np.load(path, mmap_mode="r")
        a = np.arange(10)
        libc = ctypes.CDLL(None)
        libc.signal.restype, libc.signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
        kept, refused = [], {}
        for turn in range(300):
            kept.append(ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: None))
            libc.signal(signal.SIGBUS, ctypes.cast(kept[-1], ctypes.c_void_p).value)
            assert (p[[1]] == values[[1]]).all() and garner.gather("numpy.take", a, [1]) == 1
            for name, call in (("table", lambda: t[[1]]), ("gather", lambda: garner.gather("onnx.Gather-13", mapped, [1]))):
                try: call()
                except garner.Error as e: refused[name] = refused.get(name, []) + [(turn, str(e))]
        assert garner.Table(path, pread=True)[[1]].shape == (1, 256)
        assert refused["table"][0][0] > 200 and "pread=True" in refused["table"][0][1], refused["table"][0]
        assert "numpy.array" in refused["gather"][0][1], refused["gather"][0]
        """,
        npy,
    )
    assert out == ""
