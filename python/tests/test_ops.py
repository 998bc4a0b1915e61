"""Operators over arrays in memory."""

from __future__ import annotations

import array
import gc
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner
from garner import _native, _ops, _views

MOVED = _ops._moved
rng = np.random.default_rng(3)
MOVED = _ops._moved


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "f8", "c8", "c16", "?", "M8[s]", ">f4"])
def test_take_is_numpys(axis: Any, mode: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a = rng.integers(0, 100, (300, 40, 3)).astype("i8").astype(dtype)
    length = a.size if axis is None else a.shape[axis]
    i = rng.integers(-length, length, (50, 4))
    if mode != "raise":
        i[3, 2] = length + 5
    want = np.take(a, i, axis, mode=mode)
    for small in (65_536, -1):  # numpy's own, and the library's
        monkeypatch.setattr(_ops, "SMALL", small)
        got = garner.take(a, i, axis, mode=mode)
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
        out = np.empty_like(want)
        assert garner.take(a, i, axis, out, mode) is out
        assert out.tobytes() == want.tobytes()
        for view in (a[::-1], a.transpose(2, 0, 1), a[:, ::2]):
            n = view.size if axis is None else view.shape[axis]
            assert (garner.take(view, i % n, axis, mode=mode) == np.take(view, i % n, axis, mode=mode)).all()


@pytest.mark.parametrize("small", [65_536, -1])
def test_take_tells_the_index(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ops, "SMALL", small)
    with pytest.raises(garner.IndexError) as e:
        garner.take(np.zeros((3, 5)), np.array([[0, 1], [2, -6]]), axis=1)
    assert (e.value.position, e.value.value, e.value.axis, e.value.dim) == ((1, 1), -6, 1, 5)
    assert isinstance(e.value, IndexError)


def test_the_index_is_told_whatever_the_elements(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((3, 5)))
    i = np.array([[0, 1], [2, -6]])
    record, unaligned = np.zeros((3, 5), "i4,i8"), np.zeros((3, 5), "u1,f8")["f1"]
    for a in (np.load(tmp_path / "a.npy", mmap_mode="r"), np.full((3, 5), "x"), np.full((3, 5), None), np.zeros((3, 5), ">i4"), record, unaligned, [[0.0] * 5] * 3):
        for ids in (i, np.array(i, ">i4"), i.tolist()):
            with pytest.raises(garner.IndexError) as e:
                garner.take(a, ids, axis=1)
            assert (e.value.position, e.value.value, e.value.axis, e.value.dim) == ((1, 1), -6, 1, 5)
    along = np.load(tmp_path / "a.npy", mmap_mode="r")
    with pytest.raises(garner.IndexError) as e:
        garner.take_along_axis(along, np.array([[0, 1], [5, 0], [0, 0]]), axis=1)
    assert (e.value.position, e.value.value) == ((1, 0), 5)
    with pytest.raises(IndexError) as plain:  # of an axis that is not there: NumPy's words
        garner.take(along, i, axis=2)
    assert not isinstance(plain.value, garner.IndexError)


def test_large_take_is_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    run = _ops._run

    def counted(*a: Any) -> Any:
        called.append(1)
        return run(*a)

    monkeypatch.setattr(_ops, "_run", counted)
    a, i = rng.random((1000, 64)), rng.integers(0, 1000, 20_000)
    assert (garner.take(a, i, 0) == a[i]).all()
    assert called


def test_what_is_left_to_numpy() -> None:
    """The sizes are those of the docstring of take."""
    text = " ".join((garner.take.__doc__ or "").split())
    for told in ("524,288 on, or 262,144 where `a` has more than 32 MiB", "16 MiB on, or 4 MiB where `a` has more than 32 MiB", "from 256 KiB and 65,537 elements on, those below 16 bytes from 4 MiB, and those below 64 bytes of such a large `a` from 2 MiB"):
        assert told in text
    near, far = np.zeros((8, 1024), np.int8), np.zeros((32 << 10, 1025), np.int8)

    def asked(a: Any, n: int, out: bool = False, mode: str = "raise", axis: Any = 0) -> bool:
        return MOVED(a, np.broadcast_to(0, n), axis, mode, True if out else None)

    assert [asked(near, n) for n in ((16 << 10) - 1, 16 << 10)] == [False, True]
    assert [asked(near.T, n, axis=1) for n in (511, 512)] == [False, True]
    assert [asked(far, n) for n in ((4 << 20) // 1025, (4 << 20) // 1025 + 1)] == [False, True]
    assert [asked(near.reshape(-1), n, axis=axis) for axis in (None, 0, -1) for n in ((1 << 19) - 1, 1 << 19)] == [False, True] * 3
    assert [asked(far, n, axis=None) for n in ((1 << 18) - 1, 1 << 18)] == [False, True]
    assert [asked(near, n, True) for n in (255, 256)] == [False, True]
    short = near.reshape(-1, 8)
    assert [asked(short, n, True) for n in ((1 << 19) - 1, 1 << 19)] == [False, True]
    assert [asked(short.view("i4").reshape(-1, 4), n, True) for n in ((1 << 14) - 1, 1 << 14)] == [False, True]
    for width, least in ((32, 1 << 16), (64, 1 << 12)):
        large = np.broadcast_to(np.int8(0), (2 << 20, width))
        assert large.nbytes > 32 << 20 and [asked(large, n, True) for n in (least - 1, least)] == [False, True]
    assert not asked(near, 256, True, "clip") and not asked(near.reshape(-1), 1 << 18, True)
    with pytest.MonkeyPatch.context() as m:
        m.setattr(_ops, "_moved", MOVED)
        m.setattr(_ops, "_run", lambda *given: pytest.fail("the library was called"))
        assert (garner.take(near, np.zeros(1000, int), 0) == 0).all()
        with pytest.raises(garner.IndexError) as e:
            garner.take(near, np.full(1000, 9), 0)
        assert e.value.position == (0,)


def test_wrap_ends_however_far_an_index_is() -> None:
    """NumPy subtracts the extent until an index is inside."""
    a = rng.random((70, 3))
    far = rng.integers(-(2**62), 2**62, 50)
    for ids in (far, far.astype("u8"), far.astype("i1"), far.astype("i4"), far.reshape(5, 10).T, far.tolist()):
        want = a[np.asarray(ids).astype("i8") % 70]  # NumPy takes u64 as i64
        for small in (65_536, -1):
            with pytest.MonkeyPatch.context() as m:
                m.setattr(_ops, "SMALL", small)
                assert np.array_equal(garner.take(a, ids, 0, mode="wrap"), want)
    masked = garner.take(np.ma.masked_less(a, 0.5), far, 0, mode="wrap")
    assert isinstance(masked, np.ma.MaskedArray) and np.array_equal(masked.data, a[far % 70])
    for axis in (0, 2, None):
        with pytest.raises(IndexError, match="empty"):
            garner.take(np.zeros((0, 3, 0)), [1], axis, mode="wrap")
    with pytest.raises(IndexError, match="axis 9"):
        garner.take(a, far, 9, mode="wrap")
    with pytest.raises(TypeError, match="integer"):
        garner.take(a, far, 0.0, mode="wrap")  # type: ignore[arg-type]


def test_layouts_in_turn() -> None:
    """What is kept of one call does not serve another of other layouts, and outputs that are none are numpy's."""
    a, i = rng.random((700, 64)), rng.integers(-700, 700, 5000)
    want = a[i]
    with pytest.raises(garner.IndexError) as e:
        garner.take(a, i + 700, 0)
    assert e.value.value == (i + 700)[e.value.position] >= 700
    cases: tuple[tuple[Any, Any, Any, Any], ...] = (
        (a, i, None, "raise"), (a, i, np.empty_like(want), "raise"), (a.T.copy().T, i, None, "raise"), (a.astype("f4"), i, None, "raise"),
        (a, i.astype("i4"), None, "raise"), (a, i, None, "wrap"), (a, np.repeat(i, 2)[::2], None, "raise"), (a.view("M8[s]"), i, None, "raise"),
        (a, i, np.empty((64, 5000)).T, "raise"), (a, i, np.empty((5000, 64), "f4"), "raise"), (a[::2], i // 2, None, "raise"), (a, i[:4000], None, "raise"),
        (a, i.reshape(50, 100), None, "raise"), (a, i.reshape(100, 50)[:, ::2], None, "raise"), (a, i.reshape(100, 50).T, None, "raise"),
    )  # fmt: skip
    for x, k, o, mode in cases * 2:
        garner.take(a, i, 0)
        try:
            expected = np.take(x, k, 0, None if o is None else o.copy(), mode)
        except TypeError:
            with pytest.raises(TypeError):
                garner.take(x, k, 0, o, mode)
            continue
        got = garner.take(x, k, 0, o, mode)
        assert (o is None or got is o) and got.dtype == expected.dtype and got.tobytes() == expected.tobytes()
    fixed = np.empty_like(want)
    fixed.flags.writeable = False
    with pytest.raises(ValueError):
        garner.take(a, i, 0, fixed)
    with pytest.raises(ValueError):
        garner.take(a, i, 0, np.empty((5000, 63)))
    with pytest.raises(TypeError):
        garner.take(a, i, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        garner.take(a, i, 9)
    assert garner.take(a, i, None).shape == (5000,)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows with each operator that is prepared; nothing is kept of tests before."""
    made: list[Any] = []
    begin = _views.Prepared.__init__

    def counted(self: Any, request: bytes, *x: Any) -> None:
        made.append(request)
        begin(self, request, *x)

    monkeypatch.setattr(_views.Prepared, "__init__", counted)
    monkeypatch.setattr(_ops, "_kept", {})
    monkeypatch.setattr(_ops, "_serves", {})
    return made


def test_one_prepared_serves_every_length(prepared: list[Any]) -> None:
    a, along = rng.random((300, 64)), rng.integers(0, 300, (4000, 64))
    for n in range(1030, 1090):
        i = rng.integers(-300, 300, n)
        assert (garner.take(a, i, 0) == a[i]).all()
    assert len(prepared) == 1
    for n in range(2, 60, 3):
        i = rng.integers(0, 300, (n, 50))
        assert (garner.take(a, i[:, ::2], 0) == a[i[:, ::2]]).all() and (garner.take(a, i.T, np.int32(-2)) == a[i.T]).all()
    assert len(prepared) == 3  # of another rank; of another axis
    for n in range(1100, 1130):
        assert (garner.take_along_axis(a, along[:n], 0) == np.take_along_axis(a, along[:n], 0)).all()
    assert len(prepared) == 4
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda i: garner.embedding(i, a), lambda i: garner.gather("onnx.Gather-13", a, i, axis=0), lambda i: garner.gather_nd(a, i[:, None]),
    )  # fmt: skip
    for call in calls:
        prepared.clear()
        for n in (*range(1, 40), 3, 1, 0):
            i = rng.integers(0, 300, n)
            got = call(i)
            assert got.shape == (n, 64) and (got == a[i]).all()
        assert len(prepared) <= 2  # gather_nd finds once that its tuples keep their length
    prepared.clear()
    tuples = rng.integers(0, 64, (30, 2))
    for n in range(1, 30):
        assert (garner.gather_nd(a, tuples[:n]) == a[tuple(tuples[:n].T)]).all()
    assert len(prepared) == 1  # of tuples of another length


def test_those_used_last_are_kept(prepared: list[Any]) -> None:
    a, i = rng.random((9, 5)), np.array([1, 2])
    for n in range(3 * _ops._MOST):
        garner.embedding(i, a)
        garner.embedding(i, np.empty((n + 10, 5)))
    assert len(prepared) == 3 * _ops._MOST + 1 and len(_ops._kept) <= _ops._MOST


def test_a_handler_gathers_while_something_is_kept(prepared: list[Any]) -> None:
    for n in range(_ops._MOST):
        garner.embedding(np.array([1]), np.empty((n + 10, 5)))
    inside: list[int] = []

    class Kept(dict[Any, Any]):
        def pop(self, *given: Any) -> Any:  # where a signal may come
            if not inside:
                inside.append(1)
                for n in range(_ops._MOST + 1):  # which drops some, too
                    assert (garner.gather("onnx.Gather-13", np.arange(n + 5), np.array([4])) == 4).all()
            return super().pop(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ops, "_kept", Kept(_ops._kept))
        assert (garner.gather("onnx.Gather-13", np.arange(9.0), np.array([4])) == 4).all()
        assert inside and len(prepared) == 2 * _ops._MOST + 2 > len(_ops._kept)


def test_what_a_call_is_known_by(prepared: list[Any]) -> None:
    """Values that Python takes for equal are none."""
    a, i = rng.random((4, 5)), np.array([0, 1])
    assert (garner.gather("onnx.Gather-13", a, i, axis=1) == a[:, i]).all()
    with pytest.raises(garner.OperatorError):
        garner.gather("onnx.Gather-13", a, i, axis=True)
    with pytest.raises(garner.OperatorError):
        garner.gather("onnx.Gather-13", a, i, axis=1.0)  # type: ignore[arg-type]
    outside = np.array([9, 0])
    for fill in (0.0, -0.0, 0.0):
        got = garner.gather("garner.Gather", a[:, 0].copy(), outside, outside=fill)
        assert got[0] == 0 and np.signbit(got[0]) == np.signbit(fill)
    big, many = rng.random((50, 700)), np.arange(2000) % 50
    prepared.clear()
    for axis in (np.int64(0), 0, np.int64(0)):
        assert (garner.take(big, many, axis) == big[many]).all() and len(prepared) == 1
    with pytest.raises(TypeError):
        garner.take(big, many, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["F", "columns", "rows", "backwards", "turned"])
@pytest.mark.parametrize("many", [90, 700, 40_000])
def test_layouts(layout: str, many: int) -> None:
    c = rng.integers(0, 100, (500, 200)).astype(np.float32)
    a = {"F": np.asfortranarray(c), "columns": c[:, ::2], "rows": c[::2], "backwards": c[:, ::-1], "turned": c.reshape(500, 50, 4).transpose(2, 1, 0)}[layout]
    for axis in (0, -1, None):
        i = rng.integers(0, a.size if axis is None else a.shape[axis], many if axis is not None else 100 * many)
        if i.size * (a.size // a.shape[axis] if axis is not None else 1) > 10_000_000:
            continue
        want = np.take(a, i, axis)
        out = np.empty_like(want, order="C")
        for mode in ("raise", "wrap", "clip"):
            assert np.array_equal(garner.take(a, i, axis, mode=mode), want)
            assert garner.take(a, i, axis, out, mode) is out and np.array_equal(out, want)
        i[-1] = 10**6
        with pytest.raises(garner.IndexError):
            garner.take(a, i, axis)
    for axis in range(a.ndim):
        along = rng.integers(0, a.shape[axis], a.shape)
        for ids in (along, np.asfortranarray(along)):
            assert np.array_equal(garner.take_along_axis(a, ids, axis), np.take_along_axis(a, ids, axis))


def test_one_core_leaves_to_numpy_what_is_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    a, i = np.zeros((600_000,), np.float32), np.zeros(600_000, int)
    rows, ids, out = np.zeros((5000, 64), np.float32), np.zeros(2000, int), np.empty((2000, 64), np.float32)
    for cores, singles in ((1, False), (2, True)):
        monkeypatch.setattr(_ops, "_cores", lambda: cores)
        assert MOVED(a, i, 0, "raise", None) is singles and MOVED(rows, ids, 0, "raise", out)


@pytest.mark.parametrize("dtype", ["i8", "i4", "u4", "u8", "i2", "u1"])
def test_wrap_looks_only_where_numpy_would_take_long(dtype: str) -> None:
    a = np.arange(7.0)
    top, low = int(np.iinfo(dtype).max), int(np.iinfo(dtype).min)
    for many in (3, 5000):
        for far in (3, 400, top, low):
            i = np.zeros(many, dtype)
            i[-1] = min(far, top) if dtype != "u8" else min(far, 2**63 - 1)
            assert garner.take(a, i, 0, mode="wrap")[-1] == int(i[-1]) % 7, (many, far)


@pytest.mark.parametrize("many", [10, 600_000])
def test_an_out_without_memory_is_named(many: int) -> None:
    with pytest.raises(garner.DTypeError, match="out is a list, which has no memory"):
        garner.take(np.arange(5.0), np.zeros(many, int), out=[0.0] * many)


@pytest.mark.parametrize("rows", [1, 40])
def test_a_bad_index_leaves_out_as_it_was(rows: int) -> None:
    a = rng.random((1000, rows))
    i = rng.integers(0, 1000, 70_000)
    i[69_000] = 1000
    out = np.full((70_000, rows), -7.0)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: garner.take(a, i, 0, out), lambda: garner.gather("onnx.Gather-13", a, i, out=out), lambda: garner.embedding(i, a, out=out),
    )  # fmt: skip
    for call in calls:
        for _ in range(2):
            with pytest.raises(garner.IndexError) as e:
                call()
            assert e.value.position == (69_000,) and (out == -7).all()
    i[69_000] = 0
    assert garner.take(a, i, 0, out) is out and (out == a[i]).all()
    assert garner.gather("onnx.Gather-13", a, i, out=out) is out


def test_threads_that_share_what_is_kept(prepared: list[Any]) -> None:
    tables = [rng.random((50 + n, 4)) for n in range(2 * _ops._MOST)]
    wrong: list[Any] = []

    def go(seed: int) -> None:
        own = np.random.default_rng(seed)
        for _ in range(600):
            a, axis = tables[own.integers(0, len(tables))], int(own.integers(0, 2))
            i = own.integers(0, 4, own.integers(1, 9))
            if not np.array_equal(garner.gather("onnx.Gather-13", a, i, axis=axis), a[i] if axis == 0 else a[:, i]):
                wrong.append((a.shape, axis))

    threads = [threading.Thread(target=go, args=(n,)) for n in range(6)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong and len(_ops._kept) <= _ops._MOST


def test_outputs_whose_dtypes_die() -> None:
    """A dtype of an unpickled array is no singleton: another may have its address after it, and a row of another size."""
    code = """
import pickle
import numpy as np, garner
garner._ops._moved = lambda *given: True
a, ids = np.arange(1 << 10, dtype=np.float32).reshape(64, 16), np.arange(6000) % 64
want = np.take(a, ids, 0)
def outs(t): return [pickle.loads(pickle.dumps(np.zeros((6000, 16), t))) for _ in range(4)]
garner.take(a, ids, 0, np.empty((6000, 16), np.float32))
for turn in range(100):
    for t in (np.float32, np.float16):
        for o in outs(t):
            try: assert np.array_equal(garner.take(a, ids, 0, o), want)
            except TypeError: assert t is np.float16
        del o
# The head of a larger buffer: what is written behind it is seen.
for k in range(200): garner.take(a, ids, 0, np.empty((6000, 16), np.dtype(np.float32, metadata={"k": k})))
for k in range(2000):
    all = np.zeros(6000 * 16 * 4, np.int8)
    out = all[: 6000 * 16].reshape(6000, 16).view(np.dtype(np.int8, metadata={"k": k}))
    try: garner.take(a, ids, 0, out)
    except TypeError: pass
    assert not all[out.size :].any()
print("done")
"""
    environment = dict(os.environ, MALLOC_PERTURB_="165", MALLOC_CHECK_="3")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150, env=environment)
    assert (done.returncode, done.stdout) == (0, "done\n"), (done.returncode, done.stdout, done.stderr)


def test_a_table_beside_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    both = np.arange(200_000.0)
    i = np.arange(80_000)
    for turn in range(2):
        assert (garner.take(both, i, out=both[:80_000]) == np.arange(80_000)).all(), turn  # as numpy.take has it


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("operand", ["a", "i", "out"])
@pytest.mark.parametrize("mode", ["raise", "clip"])
def test_take_of_a_file_cut_short(tmp_path: Any, when: str, operand: str, mode: str) -> None:
    code = f"""
import faulthandler, os, sys
import numpy as np, garner
garner._ops._moved = lambda *given: True
path = sys.argv[1]
if "{when}" == "before": faulthandler.enable()
of = dict(a=np.arange(300_000.0), i=np.arange(300_000), out=np.zeros(300_000))
of["{operand}"].tofile(path)
of["{operand}"] = np.asarray(np.memmap(path, dtype=of["{operand}"].dtype, mode="r+"))
a, i, out = of["a"], of["i"][200_000:], of["out"][200_000:]
for turn in range(3): assert garner.take(a, i, None, out, "{mode}")[-1] == 299_999
faulthandler.enable()
os.truncate(path, 4096)
for turn in range(3):
    try: garner.take(a, i, None, out, "{mode}")
    except OSError as e: print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "t.bin")], capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["refused"] * 3, (done.returncode, done.stderr)


def test_take_along_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ops, "SMALL", -1)
    a = rng.random((20, 30, 4))
    for axis in (0, 1, 2, -1):
        i = np.argsort(a, axis=axis)
        assert (garner.take_along_axis(a, i, axis) == np.take_along_axis(a, i, axis)).all()
    flat = np.argsort(a, axis=None)
    assert (garner.take_along_axis(a, flat, None) == np.take_along_axis(a, flat, None)).all()


def libraries() -> list[Callable[[Any], Any]]:
    found: list[Callable[[Any], Any]] = [np.asarray]
    for name, of in (("torch", "tensor"), ("jax.numpy", "asarray")):
        try:
            found.append(getattr(importlib.import_module(name), of))
        except ImportError:
            pass
    return found


def test_an_axis_of_none_is_flat_in_every_library() -> None:
    for of in libraries():
        a, flat = of(np.arange(6, dtype=np.int32).reshape(2, 3)), of(np.array([5, 0]))
        assert garner.take_along_axis(a, flat, None).tolist() == garner.take(a, flat, None).tolist() == [5, 0]
        assert garner.gather("numpy.take_along_axis", a, flat, axis=None).tolist() == [5, 0]
        assert garner.take_along_axis(a, of(np.array([[2, 0], [1, 1]]))).tolist() == [[2, 0], [4, 4]]
        with pytest.raises(ValueError):  # NumPy's, or garner's
            garner.take_along_axis(a, of(np.array([[2, 0], [1, 1]])), None)
    with pytest.raises(garner.OperatorError, match="axis needs a value"):
        garner.gather("onnx.Gather", np.arange(3), [0], axis=None)


def test_every_operator_answers() -> None:
    found = garner.answers(np.array([1, 2, 3]), np.array([0, -1, 7]))
    assert found["openvino.Gather-8"].tolist() == [1, 3, 0]
    assert isinstance(found["onnx.Gather-13"], garner.IndexError) and found["onnx.Gather-13"].position == (2,)
    assert len(found) > 20
    assert "torch.embedding_bag" in garner.operators()


def test_a_fill_is_a_number_of_the_elements() -> None:
    for dtype, value in (
        ("?", True), ("?", np.False_), ("i1", -3), ("i8", 2.0), ("u8", 2**64 - 1), ("f2", 2), ("f4", -0.0), ("f8", 1e300), ("f8", float("inf")),
        ("c8", 1 + 2j), ("c16", complex(-0.5, -1)), ("c16", complex(0, float("inf"))), ("f4", np.float64(0.1)), ("i4", np.int8(-1)),
    ):  # fmt: skip
        got = garner.gather("garner.Gather", np.ones(2, dtype), [0, 9], outside=value)
        assert got[1:].tobytes() == np.array([value]).astype(dtype).tobytes(), (dtype, value, got)
    got = garner.gather("garner.Gather", np.ones(2, "c16"), [9], outside=complex("nan+nanj"))
    assert np.isnan(got.real).all() and np.isnan(got.imag).all()
    for dtype, value in (("f4", True), ("i2", False), ("?", 1), ("?", 0.0)):
        assert garner.gather("garner.Gather", np.ones(2, dtype), [9], outside=value).tolist() == [value]
    for dtype, value in (("i4", 2.5), ("?", 2), ("u1", -1), ("f4", 1j)):
        with pytest.raises(garner.OperatorError, match="fill"):
            garner.gather("garner.Gather", np.ones(2, dtype), [9], outside=value)


def test_policies() -> None:
    a = np.array([1.0, 2.0], np.float32)
    assert garner.gather("onnx.Gather-13", a, [0, 7], outside="zero").tolist() == [1, 0]
    assert garner.gather("onnx.Gather-13", a, [0, 7], outside=-3).tolist() == [1, -3]
    assert garner.gather("onnx.Gather-13", a, [0, 7], outside="fill=inf").tolist() == [1, np.inf]
    assert garner.gather("garner.Gather", a, [-1], negative="from-end").tolist() == [2]
    with pytest.raises(garner.OperatorError, match="outside"):
        garner.gather("onnx.Gather-13", a, [0], outside="nowhere")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: garner.gather("onnx.Gathre", [1], [0]), garner.OperatorError, "Gather"),
        (lambda: garner.gather("onnx.Gather-13", [1], [0.5]), garner.DTypeError, "f64"),
        (lambda: garner.gather("onnx.Gather-13", [1], [0], axis=4), garner.ShapeError, "axis"),
        (lambda: garner.gather("onnx.Gather-13", ["a"], [0]), garner.DTypeError, "numpy.take"),
        (lambda: garner.gather("onnx.Gather-13", [1], [0], nothing=1), garner.OperatorError, "nothing"),
        (lambda: garner.gather("onnx.Gather-13", [1]), garner.OperatorError, "indices"),
        (lambda: garner.gather("onnx.Gather-13", np.arange(4), [0], out=np.empty(2, int)), garner.ShapeError, "out"),
        (lambda: garner.gather("onnx.Gather-13", np.arange(4), [0], out=np.empty(1, "f4")), garner.DTypeError, "out"),
        (lambda: garner.gather("onnx.Gather-13", np.arange(4), [0, 1], out=np.empty(4, int)[::2]), garner.ShapeError, "row-major"),
        (lambda: garner.embedding([0], np.ones((2, 2)), max_norm=1.0), garner.OperatorError, "max_norm"),
        (lambda: garner.embedding([0], np.ones((2, 2)), None, None, 2.0, True), garner.OperatorError, "scale_grad_by_freq of embedding"),
        (lambda: garner.embedding([0], np.ones((2, 2)), sparse=True), garner.OperatorError, "sparse of embedding"),
        (lambda: garner.embedding_bag([0], np.ones((2, 2)), [0], 1.0), garner.OperatorError, "max_norm"),
        (lambda: garner.embedding_bag([0], np.ones((2, 2)), [0], None, 2.0, False, "sum", True), garner.OperatorError, "sparse of embedding_bag"),
        (lambda: garner.infer("onnx.Gather-13", "f32[", "i64[1]"), garner.ShapeError, "f32"),
        (lambda: garner.explain("onnx.Gather-13", [1], [0], axis=3), garner.ShapeError, "axis"),
    ],
)
def test_refusals(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_out_is_of_the_same_elements() -> None:
    """Of types that are only moved, those of one width are not one."""
    eight: list[Any] = ["M8[D]", "M8[s]", ">M8[s]", "m8[s]", "u8", "i8", "f8", "c8", "V8", "i4,f4", [("lat", "f4"), ("lon", "f4")], [("lon", "f4"), ("lat", "f4")]]
    sixteen: list[Any] = ["c16", np.longdouble, "V16", "i8,f8"] if np.dtype(np.longdouble).itemsize == 16 else []
    taken = 0
    for of, to in [(a, b) for kind in (eight, sixteen) for a in kind for b in kind]:
        a, out = np.zeros(3, of), np.zeros(2, to)
        if a.dtype == out.dtype:
            assert garner.gather("onnx.Gather", a, [2, 0], out=out) is out
            taken += 1
        else:
            with pytest.raises(garner.DTypeError, match="out has elements"):
                garner.gather("onnx.Gather", a, [2, 0], out=out)
    assert taken == len(eight) + len(sixteen)


def test_out_with_an_extent_of_one_is_row_major() -> None:
    x = np.zeros((1, 10), np.float32)[:, :5]
    assert x.flags.c_contiguous and garner.gather("onnx.Gather", np.ones((3, 5), np.float32), [2], out=x) is x and (x == 1).all()


def test_overlap_is_refused() -> None:
    a = np.arange(8)
    with pytest.raises(garner.OverlapError):
        garner.gather("onnx.Gather-13", a, [0, 1], out=a[2:4])


def test_buffers_and_dlpack() -> None:
    assert garner.gather("onnx.Gather-13", memoryview(b"abc"), [2]).tolist() == [99]
    assert garner.gather("onnx.Gather-13", array.array("d", [1, 2]), array.array("i", [1])).tolist() == [2]
    read_only = np.arange(3)
    read_only.flags.writeable = False
    assert garner.gather("onnx.Gather-13", read_only, read_only).tolist() == [0, 1, 2]


def test_ml_dtypes() -> None:
    ml = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"):
        a = np.arange(6).astype(getattr(ml, name))
        got = garner.gather("onnx.Gather-13", a, [5, -1, 0])
        assert got.dtype == a.dtype and got.tobytes() == a[[5, -1, 0]].tobytes()
    bags = garner.embedding_bag([0, 1], np.ones((2, 2), ml.bfloat16), [0], mode="sum")
    assert bags.dtype == ml.bfloat16 and bags.tolist() == [[2, 2]]
    with pytest.raises(garner.DTypeError, match="int4"):
        garner.embedding_bag([0, 1], np.ones((2, 2), ml.int4), [0], mode="sum")


def test_ranks_to_64() -> None:
    a = np.arange(2).reshape((1,) * 62 + (2, 1))
    assert garner.gather("numpy.take", a, [1], axis=62).shape == (1,) * 64


def test_bags() -> None:
    w = rng.random((10, 4))
    got = garner.embedding_bag([1, 2, 3, 3], w, [0, 3], mode="sum", per_sample_weights=np.array([1.0, 2, 3, 4]))
    np.testing.assert_allclose(got, [w[1] + 2 * w[2] + 3 * w[3], 4 * w[3]])


def test_threads() -> None:
    a, i = rng.random((500, 64)), rng.integers(0, 500, (8, 2000))
    errors: list[Any] = []

    def work(k: int) -> None:
        for _ in range(50):
            if not (garner.take(a, i[k], 0) == a[i[k]]).all():
                errors.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def test_many_calls_keep_no_memory(npy: Any, tmp_path: Any) -> None:
    a, i = np.arange(1000.0), np.array([1, 5, 900])
    big, wide = rng.random(100_000), np.arange(70_000)
    bad, wrong = np.array([1, 5000]), np.arange(70_000) + 90_000
    out = np.empty((2, 256), np.float32)
    ids, many = np.array([3, 4]), np.arange(600) % 100
    calls = 0
    with garner.Table(npy) as t:

        def round_of(n: int) -> None:
            nonlocal calls
            for k in range(n):
                garner.gather("onnx.Gather-13", a, i)
                t.lookup(ids, out)
                t.lookup(ids)
                calls += 3
                if k % 4 == 0:
                    refused: tuple[Callable[[], Any], ...] = (
                        lambda: garner.gather("onnx.Gather-13", a, bad), lambda: t.lookup([99_999]), lambda: garner.gather("onnx.Gathre", a, i),
                    )  # fmt: skip
                    for call in refused:
                        with pytest.raises(garner.Error):
                            call()
                    calls += 3
                if k % 50 == 0:
                    t.lookup(many)  # by a job
                    garner.take(big, wide[: 65_537 + k % 4000])  # by ever other prepared operators
                    with pytest.raises(garner.IndexError):
                        garner.take(big, wrong)
                    with pytest.raises(KeyboardInterrupt):
                        interrupted(t, many)
                    garner.Table(npy).close()
                    calls += 5

        round_of(4_000)
        gc.collect()
        before = resident()
        round_of(26_000)
        gc.collect()
        assert calls > 100_000
        print(calls, "calls,", resident() - before, "bytes more")
        assert resident() - before < 16 << 20
        assert len(_ops._kept) <= _ops._MOST


def interrupted(t: Any, ids: Any) -> None:
    """Look rows up by a job that an exception ends."""
    library, out = _native.load(), np.empty((len(ids), 256), np.float32)
    code = _native.ffi.new("DLDataType *", {"code": 0, "bits": 64, "lanes": 1})
    begun, job = _native.generation, _native.begin(ids, out, code)  # which keeps them while the job writes

    def progress() -> None:
        raise KeyboardInterrupt

    try:
        assert library.garner_lookup(t._handle, _views.pointer(ids), len(ids), code, _views.pointer(out), out.nbytes, 0, job) == 0
        _native.wait(job, progress)
    finally:
        _native.settle(job, begun)
    raise KeyboardInterrupt  # it was done first


def test_a_signal_ends_a_long_take() -> None:
    """It prints how long that took; the alarm of each test is the only limit."""
    code = """
import os, signal, sys, threading, time
import numpy as np, garner
garner._ops._moved = lambda *given: True
a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(3000, int)
task = f"/proc/self/task/{os.getpid()}/schedstat"
def waited(): return int(open(task).read().split()[1]) / 1e6 if os.path.exists(task) else 0
def send():
    time.sleep(0.2)
    sent.append((time.perf_counter(), waited()))
    os.kill(os.getpid(), signal.SIGINT)
for turn in range(3):
    sent = []
    other = threading.Thread(target=send)
    other.start()
    try:
        while True: garner.take(a, ids, 0)
    except KeyboardInterrupt:
        took = (time.perf_counter() - sent[0][0]) * 1e3
        print(f"ended {took:.0f} ms after the signal, {waited() - sent[0][1]:.0f} ms of them without a core")
    other.join()
assert garner.take(a, ids[:1], 0).min() == 1
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0 and done.stdout.count("ended") == 3, (done.returncode, done.stdout, done.stderr)
    print(done.stdout)


def test_a_handler_that_calls_the_library() -> None:
    """A handler that runs in the middle of a run takes too, and what it raises comes out of the outer run."""
    code = """
import signal
import numpy as np, garner
garner._ops._moved = lambda *given: True
a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(1000, int)
garner.operators()  # loads the library, in which no handler may call it
seen = []
def handler(*x):
    seen.append(garner.take(np.arange(100_000.0), np.arange(70_000)).sum())
    try: garner.take(np.arange(10.0), np.full(70_000, 10))
    except IndexError: seen.append(None)
    if len(seen) > 4: raise LookupError("in the middle")
    signal.setitimer(signal.ITIMER_REAL, 0.05)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True: garner.take(a, ids, 0)
except LookupError as e:
    print(e, len(seen), garner._native.kept.args)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150)
    assert done.stdout == "in the middle 6 ()\n", (done.returncode, done.stdout, done.stderr)


def test_an_unknown_handle_is_an_error() -> None:
    library = _native.load()
    with pytest.raises(garner.Error, match="handle"):
        _native.fail(library.garner_run(987_654_321, _native.NULL, _native.NULL, _native.NULL, _native.NULL, _native.NULL, _native.NULL, 0))
    library.garner_release(987_654_321)
    assert library.garner_error_read(987_654_321, _native.ffi.new("garner_error *")) == -1
