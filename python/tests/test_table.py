"""Tables in files."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    assert e.value.position == (1, 1) and "ids[1,1] = -20001" in str(e.value)
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
