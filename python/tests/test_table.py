"""Tables in files."""

from __future__ import annotations

import builtins
import os
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_fork import forks
from test_process import run

import garner


@pytest.mark.parametrize("pread", [False, True])
def test_rows(npy: Path, values: Any, pread: bool) -> None:
    with garner.Table(npy, pread=pread) as t:
        assert t.shape == values.shape and t.dtype == values.dtype and len(t) == len(values) and t.row_bytes == 1024
        for key in ([5, -1], 3, -2, np.int8(4), slice(2, 9, 2), slice(None, None, -7000), [[1, 2], [3, 4]], [], np.array([7], np.uint16)):
            got, want = t[key], values[np.zeros(0, int) if isinstance(key, list) and not key else key]
            assert got.shape == want.shape and (got == want).all()
        mask = np.zeros(len(values), bool)
        mask[[4, 9]] = True
        assert (t[mask] == values[mask]).all()
        assert (t[[3, 4], 2:5] == values[[3, 4], 2:5]).all()
        out = np.empty((2, 256), np.float32)
        for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"):
            assert t.lookup(np.array([1, 7], dtype), out) is out and (out == values[[1, 7]]).all()
        big = np.random.default_rng(1).integers(0, len(values), 5000)
        assert (t.lookup(big) == values[big]).all()
        assert (t.lookup(big[::2]) == values[big[::2]]).all()


def part(rng: np.random.Generator, n: int) -> Any:
    """One part of a key, for an axis of n."""
    low, high = (-n, n) if rng.random() < 0.9 else (-n - 2, n + 2)

    def numbers(shape: Any) -> Any:
        v = rng.integers(low, high, shape)
        return v.astype(rng.choice(["i8", "i4", "i1", ">i4"])) if rng.random() < 0.7 else np.abs(v).astype(rng.choice(["u1", "u2", "u8"]))

    def end() -> Any:
        return [None, 0, 1, n, n + 2, -1, -2, -n - 1, 10**30][rng.integers(9)]

    few = int(rng.choice([0, 1, 3]))
    kinds: list[Callable[[], Any]] = [
        lambda: int(rng.integers(low, high)), lambda: slice(end(), end(), [None, 1, 2, -1, -3][rng.integers(5)]), lambda: slice(end(), end()), lambda: numbers(few),
        lambda: numbers((2, few)), lambda: numbers(()), lambda: numbers(())[()], lambda: numbers(few).tolist(), lambda: numbers((2, 2)).tolist(), lambda: tuple(numbers(few).tolist()),
        lambda: rng.integers(0, 2, n + int(rng.random() < 0.1)).astype(bool), lambda: rng.integers(0, 2, n).astype(bool).tolist(), lambda: rng.integers(0, 2, (n, 2)).astype(bool),
        lambda: None, lambda: ..., lambda: [[], [[], []], 1.0, "a", [1.5], 2**70, [0, 2**63], range(2), np.zeros((2, 0), int)][rng.integers(9)], lambda: numbers((2, 2))[:, ::-1].T,
    ]  # fmt: skip
    return kinds[rng.integers(17)]()


@pytest.mark.parametrize("shape", [(6,), (6, 2), (5, 2, 3), (2, 2, 3, 2), (1, 1), (300, 2)])
def test_keys_are_those_of_numpy(tmp_path: Path, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    a = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    np.save(tmp_path / "t.npy", a)
    answered = 0
    with garner.Table(tmp_path / "t.npy") as t:
        for _ in range(600):
            key = tuple(part(rng, a.shape[min(n, a.ndim - 1)]) for n in range(rng.integers(1, a.ndim + 2)))
            key = key[0] if len(key) == 1 and rng.random() < 0.8 else key
            try:
                want = a[key]
            except builtins.IndexError as e:
                with pytest.raises(garner.Error) as told:
                    t[key]
                if " is out of bounds for axis " in str(e) and isinstance(told.value, garner.IndexError):
                    assert told.value.dim == a.shape[told.value.axis] and not -told.value.dim <= told.value.value < told.value.dim, key
                continue
            try:
                got = t[key]
            except garner.IndexError:
                assert want.size == 0, key  # garner looks at each index, also where there is no result
                continue
            assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape and (got == want).all(), key
            answered += 1
    assert answered > 150


def test_keys_of_several_axes(tmp_path: Path) -> None:
    a = np.arange(10).reshape(5, 2)
    bad: Any
    np.save(tmp_path / "t.npy", a)
    np.save(tmp_path / "v.npy", a[:, 0])
    with garner.Table(tmp_path / "t.npy") as t, garner.Table(tmp_path / "v.npy") as v:
        for key in (([[4, 0], [1, 2]], 1), (np.array([[4, 0]]), slice(0, 1)), (np.array(3), 1), (..., np.array([[1, 0]]), -1), ((1, 2), 0), (np.array([[1], [4]]), [[1, 0]]), (None, [4, 4]), ()):
            assert np.array_equal(t[key], a[key]) and np.shape(t[key]) == a[key].shape
        assert type(v[0, ...]) is np.ndarray and v[0, ...].shape == () and type(v[0]) is type(v[np.array(0)]) is np.int64
        for bad, axis, value, position in (((1, 5), 1, 5, (0,)), ((9, 5), 0, 9, (0,)), (([0, 1], [[1], [-3]]), 1, -3, (1, 0)), ((slice(2), np.array([0, 2], "u1")), 1, 2, (1,)), (2**70, 0, 2**70, (0,))):
            with pytest.raises(garner.IndexError) as e:
                t[bad]
            assert (e.value.axis, e.value.value, e.value.position, e.value.dim) == (axis, value, position, a.shape[axis]), bad
        many = [[k % 3] * 2 for k in range(80)]
        assert np.array_equal(t[many, [1, 0]], a[many, [1, 0]])
        for bad, kind, words in (((0, 0, 0), garner.ShapeError, "3 axes"), ((..., ...), garner.ShapeError, "one Ellipsis"), (([0, 1], [0, 1, 1]), garner.ShapeError, "do not broadcast"),
            (([1, 3], True), garner.DTypeError, "bool"), ((0, "a"), garner.DTypeError, "'a'"), ((0, 1.0), garner.DTypeError, "float"), (slice(1.5), garner.DTypeError, "slice"),
            (np.ones((5, 3), bool), garner.ShapeError, "mask"), ((0, np.ones(3, bool)), garner.ShapeError, "axis 1"), ([0, None], garner.DTypeError, "numbers")):  # fmt: skip
            with pytest.raises(kind, match=words):
                t[bad]
        assert t[:, 0].base is None  # no row is kept of which a column was asked for
    with pytest.raises(garner.ClosedError):
        t[0, 1]


def test_refusals(npy: Path) -> None:
    t = garner.Table(npy)
    with pytest.raises(garner.IndexError) as e:
        t.lookup([[0, -1]])
    assert (e.value.value, e.value.dim) == (-1, 20_000)
    batch = np.arange(6000).reshape(3, 50, 40)
    batch[2, 7, 1] = 20_000
    for ids, out in ((batch, None), (batch[2, 7:9, :3], None), (batch[2, 7:9, :3].copy(), np.empty((2, 3, 256), np.float32))):
        with pytest.raises(garner.IndexError) as e:
            t.lookup(ids, out)
        at = (2, 7, 1) if ids.ndim == 3 else (0, 1)
        assert e.value.position == at and f"indices[{','.join(map(str, at))}] = 20000 is outside" in str(e.value)
    with pytest.raises(garner.IndexError) as e:
        t[[[0, 1], [2, -20_001]]]
    assert e.value.position == (1, 1) and "indices[1,1] = -20001" in str(e.value)
    with pytest.raises(garner.IndexError) as e:
        t[[0, -20_001]]
    assert e.value.value == -20_001 and "-20001" in str(e.value)
    with pytest.raises(garner.DTypeError, match="integers"):
        t.lookup([0.5])
    with pytest.raises(garner.ShapeError, match="out"):
        t.lookup([0], np.empty((2, 256), np.float32))
    with pytest.raises(garner.DTypeError, match="out"):
        t.lookup([0], np.empty((1, 256)))
    with pytest.raises(garner.ShapeError, match="mask"):
        t[np.ones(3, bool)]
    t.close()
    t.close()
    with pytest.raises(garner.ClosedError, match="closed"):
        t.lookup([0])
    with pytest.raises(garner.ClosedError, match="closed"):
        t.lookup(np.array([0]), np.empty((1, 256), np.float32))
    with pytest.raises(FileNotFoundError):
        garner.Table("/nowhere/at/all.npy")
    with pytest.raises(garner.Error):
        garner.Table(__file__)


def test_pickle(npy: Path, values: Any) -> None:
    with garner.Table(npy) as t, pickle.loads(pickle.dumps(t)) as u:
        assert (u[[9]] == values[[9]]).all()


def test_formats(tmp_path: Path, values: Any) -> None:
    few = values[:100]
    np.savez(tmp_path / "a.npz", x=few)
    few.tofile(tmp_path / "a.bin")
    np.save(tmp_path / "part-1.npy", few[:60])
    np.save(tmp_path / "part-2.npy", few[60:])
    for t in (
        garner.Table(f"{tmp_path}/a.npz#x"),
        garner.Table(tmp_path / "a.bin", dtype="f32", shape=(-1, 256)),
        garner.Table(f"{tmp_path}/part-*.npy"),
    ):
        with t:
            assert (t[[99, 0, 61]] == few[[99, 0, 61]]).all()
    with garner.Table(tmp_path / "part-1.npy", to="f16") as half:
        assert half.dtype == np.float16 and (half[[5]] == few[[5]].astype("f2")).all()
    assert [a.name for a in garner.info(tmp_path / "a.npz")] == ["x"]


@pytest.mark.parametrize(("name", "of", "bits"), [("i4", "int4", 4), ("u4", "uint4", 4), ("i2", "int2", 2), ("u2", "uint2", 2), ("u1", "uint1", 1), ("f4e2m1", "float4_e2m1fn", 4)])
def test_elements_narrower_than_a_byte(tmp_path: Path, name: str, of: str, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import ml_dtypes

    want = np.random.default_rng(bits).integers(0, 1 << bits, (50, 16), dtype=np.uint8)
    packed = np.zeros((50, 16 * bits // 8), np.uint8)
    for k in range(8 // bits):
        packed |= want[:, k :: 8 // bits] << (bits * k)
    path = tmp_path / "t.bin"
    packed.tofile(path)
    with garner.Table(path, dtype=name, shape=(-1, 16)) as t:
        assert t.dtype == np.dtype(getattr(ml_dtypes, of)) and t.shape == (50, 16)
        for key in ([3, -1, 0], 7, slice(2, 40, 9), [[1, 2], [3, 4]]):
            got = t[key]
            assert got.dtype == t.dtype and (got.view(np.uint8) == want[key]).all()
        ids, out = np.array([[4, 9]]), np.zeros((1, 2, 16), t.dtype)
        assert t.lookup(ids, out) is out and (out.view(np.uint8) == want[ids]).all()
        for bad in (np.zeros((2, 16), t.dtype), np.zeros((1, 2, 16), np.uint8)):
            with pytest.raises(garner.ShapeError, match="out"):
                t.lookup(ids, bad)
        with pytest.raises(garner.IndexError):
            t.lookup([50])
        again = garner.gather("onnx.Gather-13", got, [1, -2, 0])  # in and out again
        assert again.dtype == t.dtype and (again.view(np.uint8) == got.view(np.uint8)[[1, -2, 0]]).all()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(garner.DTypeError, match="install ml_dtypes"):
        garner.Table(path, dtype=name, shape=(-1, 16))


def test_types_that_no_array_has(tmp_path: Path) -> None:
    (tmp_path / "t.bin").write_bytes(bytes(range(48)))
    with pytest.raises(garner.DTypeError, match='nf4; convert it with to="f32"'):
        garner.Table(tmp_path / "t.bin", dtype="nf4", shape=(-1, 16))
    with garner.Table(tmp_path / "t.bin", dtype="nf4", shape=(-1, 16), to="f32") as t:
        assert t.dtype == np.float32 and t[[0]][0, 1] == -1
    with pytest.raises(garner.ShapeError, match="gather from it"):
        garner.Table(tmp_path / "t.bin", dtype="i4", shape=(32, 3))  # rows end inside bytes


def test_strings(tmp_path: Path) -> None:
    words = np.array([["ab", "ü"], ["c", ""], ["xyz", "q"]])
    np.save(tmp_path / "s.npy", words)
    with garner.Table(tmp_path / "s.npy") as t:
        assert t.dtype == object and t.shape == (3, 2) and len(t) == 3
        for key in ([2, -1, 0], 1, slice(1, None), np.array([True, False, True])):
            assert (t[key] == words.astype(object)[key]).all()
        out = np.empty((2, 2), object)
        assert t.lookup(np.array([1, 0]), out) is out and out.tolist() == [["c", ""], ["ab", "ü"]]
        with pytest.raises(garner.IndexError) as e:
            t.lookup([[0], [-1]])
        assert (e.value.position, e.value.value, e.value.axis, e.value.dim) == ((1, 0), -1, 0, 3)
        got = pickle.loads(pickle.dumps(t))
        assert got[0].tolist() == ["ab", "ü"]
        got.close()
    with pytest.raises(garner.ClosedError):
        t.lookup([0])
    np.save(tmp_path / "b.npy", np.array([b"a\xff", b"c"]))
    with garner.Table(tmp_path / "b.npy") as t:
        assert t[0].encode("utf-8", "surrogateescape") == b"a\xff"


def test_threads(npy: Path, values: Any) -> None:
    errors: list[Any] = []
    with garner.Table(npy) as t:

        def work(seed: int) -> None:
            rng = np.random.default_rng(seed)
            for _ in range(300):
                ids = rng.integers(0, len(values), 16)
                if not (t[ids] == values[ids]).all():
                    errors.append(seed)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
    assert not errors


def test_a_file_that_is_written_to(tmp_path: Path, values: Any) -> None:
    path = tmp_path / "t.npy"
    np.save(path, values)
    with garner.Table(path) as t:
        t[[0]]
        os.truncate(path, 4096)
        with pytest.raises(OSError):
            t[[19_000]]


def test_gather_file(tmp_path: Path, npy: Path, values: Any) -> None:
    ids = np.random.default_rng(5).integers(0, len(values), 30_000)
    np.save(tmp_path / "ids.npy", ids)
    told: list[Any] = []
    out = tmp_path / "out.npy"
    assert garner.gather_file(npy, tmp_path / "ids.npy", out, axis=0, memory="8M", progress=lambda d, t: told.append((d, t))) == "f32[30000,256]"
    assert (np.load(out) == values[ids]).all()
    assert told and told[-1][0] == told[-1][1] > 0
    assert garner.gather_file(npy, tmp_path / "ids.npy", out, memory="8M", resume=True, progress=True) == "f32[30000,256]"
    ids[12_345] = 20_000
    np.save(tmp_path / "bad.npy", ids)
    with pytest.raises(garner.IndexError) as e:
        garner.gather_file(npy, tmp_path / "bad.npy", tmp_path / "none.npy")
    assert e.value.position == (12_345,) and not (tmp_path / "none.npy").exists()
    with pytest.raises(garner.OperatorError, match="memory"):
        garner.gather_file(npy, tmp_path / "ids.npy", out, memory="much")
    with pytest.raises(KeyError):
        garner.gather_file(npy, tmp_path / "ids.npy", tmp_path / "none.npy", memory="1M", progress=lambda d, t: dict[int, None]()[1])
    assert not (tmp_path / "none.npy").exists()


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_a_fork(work: Any) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    assert ended(child) == 0


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two folders, each with its e.npy, of 10 and 20 rows, and the working folder the first one."""
    for name, rows in (("a", 10), ("b", 20)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "e.npy", np.arange(2.0 * rows).reshape(rows, 2) * (1 if rows == 10 else -1))
        np.save(tmp_path / name / "s.npy", np.array([name, "z"]))
    monkeypatch.chdir(tmp_path / "a")
    return tmp_path


def test_a_table_of_another_folder_is_the_same(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("e.npy", "e*.npy", "s.npy"):
        with garner.Table(name) as t:
            want, told = t[[1, -1]], pickle.dumps(t)

            def work() -> None:
                os.chdir(two / "b")
                assert np.array_equal(t[[1, -1]], want) and len(t) == t.shape[0]
                with pickle.loads(told) as u:
                    assert np.array_equal(u[[1, -1]], want) and u.shape == t.shape

            in_a_fork(work)


def test_a_table_whose_file_is_another_one_is_an_error(two: Path) -> None:
    for name in ("e.npy", "s.npy"):
        with garner.Table(name) as t:
            first, told = t[-1], pickle.dumps(t)
            os.replace(two / "b" / name, name)
            assert np.array_equal(t[-1], first)  # as it was opened

            def work() -> None:
                if name == "e.npy":
                    for call in (lambda: t[-1], lambda: t[:], lambda: t[np.ones(20, bool)], lambda: t.lookup([0])):
                        with pytest.raises(garner.FileError, match="another file"):
                            call()
                    assert t.shape == (10, 2) and len(t) == 10
                else:
                    assert t[0] == "a"  # strings are in memory
                with pytest.raises(garner.FileError, match="another file"):
                    pickle.loads(told)
                os.remove(name)
                with pytest.raises(FileNotFoundError):
                    pickle.loads(told)

            in_a_fork(work)


def test_an_empty_table(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.zeros((0, 4)))
    with garner.Table(tmp_path / "e.npy") as t:
        assert len(t) == 0 and list(t) == [] and t[:].shape == t[[]].shape == t[np.zeros(0, bool)].shape == (0, 4)
        for call in (lambda: t[0], lambda: t[-1], lambda: t.lookup([0]), lambda: t.lookup(np.array([0]), np.zeros((1, 4)))):
            with pytest.raises(garner.IndexError) as e:
                call()
            assert e.value.dim == 0


def test_nothing_grows_with_the_rows_of_a_table(tmp_path: Path) -> None:
    import tracemalloc

    with open(tmp_path / "t.raw", "wb") as f:
        f.truncate(10**9)
    with garner.Table(tmp_path / "t.raw", dtype="u8", shape=(-1, 1)) as t:
        t[:1]
        tracemalloc.start()
        try:
            for key in (slice(5), slice(None, 2, -300_000_000), slice(-3, None), [0, -1], 7, -7):
                assert not t[key].any()
            assert len(t[-3:]) == 3 and t[999_999_998:].shape == (2, 1) and t[5:5].shape == (0, 1)
            assert tracemalloc.get_traced_memory()[1] < 1 << 20
        finally:
            tracemalloc.stop()


def test_a_lookup_beside_one_that_opens_the_table_again(npy: Path) -> None:
    """In a forked child, at each line of the opening: whoever sees the generation of the child asks the child's library."""
    forks(
        """
        for name, sign in (("a", 1), ("b", -1)): np.save(f"{path}.{name}.npy", sign * np.arange(4000.0).reshape(-1, 4))
        a, b = garner.Table(f"{path}.a.npy"), garner.Table(f"{path}.b.npy")
        ids = np.arange(3)
        def child():
            asked = []
            def line(frame, event, arg):
                if event == "line" and frame.f_code.co_name == "_open" and b._generation == garner._native.generation:
                    sys.settrace(None)
                    asked.append(b.lookup(ids)[1, 0])
                    sys.settrace(line)
                return line
            def begin(frame, event, arg):
                return line if frame.f_code.co_name in ("_open", "_ready", "lookup", "_found", "_lookup", "child") else None
            sys.settrace(begin)
            found = b.lookup(ids)
            sys.settrace(None)
            assert found[1, 0] == -4 and not [n for n in asked if n != -4], (found, asked)
        assert forked(child, limit=20) == 0
        """,
        npy,
    )


@pytest.mark.parametrize("changed", ["mode", "link", "link and back"])
@pytest.mark.parametrize("name", ["a.npy", "[ab].npy"])
def test_another_mode_or_link_is_no_other_file(tmp_path: Path, changed: str, name: str) -> None:
    a = tmp_path / "a.npy"
    np.save(a, np.arange(6).reshape(3, 2))
    np.save(tmp_path / "b.npy", np.arange(6).reshape(3, 2))
    np.save(tmp_path / "ids.npy", [2])
    with garner.Table(tmp_path / name) as t, garner.Table(tmp_path / "ids.npy") as ids:
        if changed == "mode":
            a.chmod(0o600)
        else:
            os.link(a, tmp_path / "link")
            os.chmod(tmp_path / "ids.npy", 0o600)
        if changed == "link and back":
            os.unlink(tmp_path / "link")
        with pickle.loads(pickle.dumps(t)) as again:
            assert again[2].tolist() == [4, 5]
        garner.gather_file(t, ids, tmp_path / "out.raw")
        assert np.fromfile(tmp_path / "out.raw", np.int64).tolist() == [4, 5]
        later = a.stat().st_mtime_ns + 10**9
        os.utime(a, ns=(later, later))
        with pytest.raises(garner.FileError, match="written to"):
            pickle.loads(pickle.dumps(t))
        with pytest.raises(garner.FileError, match="written to"):
            garner.gather_file(t, ids, tmp_path / "out2.raw")


@pytest.mark.skipif(sys.platform != "linux", reason="what is left of a limit of address space is read from /proc")
def test_a_limit_of_address_space_that_is_set_after_the_first_call(npy: Path) -> None:
    """An array that is inflated whole is asked for before: the runtime ends the process where it gets no memory."""
    out = run(
        """
        import resource
        large, small, words, swapped = (f"{path}.{n}.npz" for n in ("large", "small", "words", "swapped"))
        np.savez_compressed(large, a=np.zeros((400 << 10, 1024), np.uint8))
        np.savez_compressed(small, a=np.arange(6).reshape(3, 2))
        np.savez_compressed(words, a=np.full(4 << 20, "abcd"))
        np.savez_compressed(swapped, a=np.zeros((100 << 10, 1024), ">i4"))
        garner.operators()
        taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + (300 << 20),) * 2)
        for file in (large, f"{large}#a", words, swapped):
            for call in (garner.Table, lambda f: garner.gather_file(f, path, f"{path}.out.npy")):
                try: call(file)
                except garner.FileError as e:
                    assert "RLIMIT_AS leaves" in str(e) or call is not garner.Table and file is words, e
                else: raise SystemExit(f"it was read: {file}")
        assert garner.Table(small)[2].tolist() == [4, 5]
        assert [a.shape for a in garner.info(large)] == [(400 << 10, 1024)]
        print("whole")
        """,
        npy,
    )
    assert out.split() == ["whole"]
