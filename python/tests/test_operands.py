"""Tables in files as operands of gathers: rows are looked up, or the table is refused; none is read whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner


class Watched(garner.Table):
    """A table that is not read whole."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError("read whole")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "t.npy", np.arange(12, dtype=np.float32).reshape(6, 2))
    np.save(tmp_path / "v.npy", np.arange(6))
    np.save(tmp_path / "c.npy", np.arange(24.0).reshape(4, 3, 2))
    np.save(tmp_path / "ids.npy", [4, 0])
    return tmp_path


def test_rows_of_a_table_are_looked_up(folder: Path) -> None:
    a = np.load(folder / "t.npy")
    given: list[Any] = [[4, 0], [[1], [5]], 3, np.array([5, 0], "i4"), np.array(2), (1, 2), np.zeros((0, 2), int), []]
    with Watched(folder / "t.npy") as t, Watched(folder / "v.npy") as v, Watched(folder / "c.npy") as c:
        for ids in given:
            want = a[np.asarray(ids, int)]
            for got in (garner.embedding(ids, t), garner.embedding(ids, t, padding_idx=1), garner.take(t, ids, 0), garner.take(t, ids, axis=-2)):
                assert np.array_equal(got, want) and got.dtype == a.dtype and got.shape == want.shape, ids
        for axis in (0, -1, None):
            assert garner.take(v, [-1, 2], axis).tolist() == [5, 2] and garner.take(v, 3, axis) == 3
        assert np.array_equal(garner.take(c, [-1, 2], 0), np.load(folder / "c.npy")[[-1, 2]])
        assert np.array_equal(garner.take(t, [-1, 2], np.int64(0)), a[[-1, 2]])
        out = np.empty((2, 2), np.float32)
        assert garner.embedding([4, 0], t, out=out) is out and np.array_equal(out, a[[4, 0]])


def test_an_embedding_of_a_table_refuses_what_that_of_an_array_refuses(folder: Path) -> None:
    """The same calls over the same rows, in memory and in a file: both answer the same, or raise the same error."""
    pairs = [(np.load(folder / f), Watched(folder / f)) for f in ("t.npy", "v.npy", "c.npy")]
    bad: list[dict[str, Any]] = [
        {"input": i} for i in ([0, 6], [-1], [[0], [2**40]], [1.0], [True], ["a"], np.array([1], "u2"), np.array([1], "i1"), b"1", np.datetime64(1, "D"), None)
    ]  # fmt: skip
    bad += [{"input": [1], **more} for more in ({"padding_idx": 6}, {"padding_idx": -7}, {"padding_idx": -6}, {"padding_idx": "1"}, {"padding_idx": [1]}, {"max_norm": 1.0}, {"sparse": True})]
    refused = 0
    for a, t in pairs:
        for values in bad:
            try:
                want = garner.embedding(weight=a, **values)
            except garner.Error as e:
                with pytest.raises(type(e)) as told:
                    garner.embedding(weight=t, **values)
                if isinstance(told.value, garner.IndexError) and isinstance(e, garner.IndexError):
                    assert (told.value.position, told.value.value, told.value.axis, told.value.dim) == (e.position, e.value, e.axis, e.dim)
                refused += 1
            else:
                assert np.array_equal(garner.embedding(weight=t, **values), want), values
        t.close()
        with pytest.raises(garner.Error):
            garner.embedding([1], t)
    assert refused > 30


def test_a_table_as_data_is_refused_by_name(folder: Path) -> None:
    t = Watched(folder / "t.npy")
    out = np.empty((1, 2), np.float32)
    calls: list[Callable[[], Any]] = [
        *(lambda name=name: garner.gather(name, t, [[0, 1]]) for name in ("onnx.Gather", "garner.Gather", "torch.embedding", "onnx.GatherND", "tensorflow.gather", "numpy.take")),
        lambda: garner.take(t, [1]), lambda: garner.take(t, [1], 1), lambda: garner.take(t, [1], 0, mode="clip"), lambda: garner.take(t, [1], 0, mode="wrap"), lambda: garner.take(t, [1], 0, out),
        lambda: garner.take_along_axis(t, np.array([[1]]), 0), lambda: garner.gather_nd(t, [[1]]), lambda: garner.embedding_bag([[1]], t), lambda: garner.answers(t, [1]),
        lambda: garner.explain("onnx.Gather", t, [1]),
    ]  # fmt: skip
    for n, call in enumerate(calls):
        with pytest.raises(garner.OperatorError, match=r"a Table as data; give table\[:\], which reads all 48 bytes, or look rows up by table\[ids\], or use garner.gather_file") as e:
            call()
        assert isinstance(e.value, ValueError), n
    bad: list[tuple[Any, Any]] = [([1], 1.0), ([1], True), ([1], [0]), ([True], 0), ([1.0], 0), ("1", 0), (b"1", 0), (None, 0), (..., 0), (slice(2), 0)]
    for ids, axis in bad:
        with pytest.raises(garner.Error):
            garner.take(t, ids, axis)
    with pytest.raises(garner.IndexError) as told:
        garner.take(t, [[0], [-7]], 0)
    assert (told.value.position, told.value.value, told.value.dim) == ((1, 0), -7, 6)
    for wrong in (t, [0.0]):
        with pytest.raises(garner.Error, match="out"):
            garner.embedding([1], t, out=wrong)
        with pytest.raises(garner.ShapeError, match="out must be a row-major array"):
            t.lookup([1], wrong)
    with pytest.raises(garner.DTypeError, match="out is a Watched"):
        garner.gather("onnx.Gather", np.arange(3.0), [1], out=t)
    assert np.array_equal(garner.take(t[:], [1], 1), np.load(folder / "t.npy")[:, [1]])


def test_a_table_of_indices_is_read_whole(folder: Path) -> None:
    a = np.load(folder / "t.npy")
    with garner.Table(folder / "ids.npy") as ids, garner.Table(folder / "t.npy") as t:
        for got in (t[ids], t.lookup(ids), garner.gather("onnx.Gather", a, ids), garner.embedding(ids, t), garner.take(a, ids, 0), garner.take(t, ids, 0)):
            assert np.array_equal(got, a[[4, 0]])
        assert "i64[2]" in garner.explain("onnx.Gather", a, ids).text


def test_narrow_elements_and_strings(tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    (tmp_path / "t.raw").write_bytes(bytes(range(8)))
    with Watched(tmp_path / "t.raw", dtype="u4", shape=(4, 4)) as t:
        assert np.array_equal(garner.embedding([3, 0], t), t[[3, 0]]) and t.dtype == ml_dtypes.uint4
        with pytest.raises(garner.OperatorError, match="all 8 bytes"):
            garner.embedding_bag([[1]], t)
    with Watched(tmp_path / "t.raw", dtype="bf16", shape=(2, 2)) as b:
        assert garner.embedding([1], b).tobytes() == bytes(range(4, 8))


def test_rows_by_tensors_are_tensors(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    a = torch.from_numpy(np.load(folder / "t.npy"))
    with Watched(folder / "t.npy") as t:
        ids = torch.tensor([[5], [0]])
        for got in (garner.embedding(ids, t), garner.take(t, ids, 0), garner.take(t, ids - 6, 0)):
            assert isinstance(got, torch.Tensor) and torch.equal(got, a[ids])
        out = torch.empty(2, 1, 2)
        assert garner.embedding(ids, t, out=out) is out and torch.equal(out, a[ids])
        for bad in (torch.tensor([True]), torch.tensor([1.0])):
            with pytest.raises(garner.DTypeError):
                garner.embedding(bad, t)
            with pytest.raises(garner.DTypeError):
                garner.take(t, bad, 0)


def test_a_class_of_its_own_is_asked(folder: Path) -> None:
    """take asks table[ids] and embedding table.lookup, of a class that derives from Table too."""

    class Other(garner.Table):
        def __getitem__(self, key: Any) -> Any:
            return super().__getitem__(key) + 100

        def lookup(self, ids: Any, out: Any = None) -> Any:
            return super().lookup(ids, out) + 1000

    a = np.load(folder / "t.npy")
    with Other(folder / "t.npy") as t:
        assert np.array_equal(garner.take(t, [-1, 0], 0), a[[-1, 0]] + 100) and np.array_equal(garner.embedding([5], t), a[[5]] + 1000)
