"""What a result may be written to."""

from __future__ import annotations

import array
import ctypes
from typing import Any, Callable

import numpy as np
import pytest

import garner


class Copies:
    """As xarray, h5py and zarr have it: an array is made anew each time."""

    def __init__(self) -> None:
        self.values = np.zeros(2, np.int64)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values.copy()


@pytest.mark.parametrize("make", [lambda: [0, 0], lambda: (0, 0), Copies, lambda: 7, lambda: "ab", object], ids=["list", "tuple", "copies", "int", "str", "object"])
def test_what_has_no_memory_is_refused(make: Callable[[], Any], tmp_path: Any) -> None:
    data, out = np.arange(5), make()
    table = np.arange(10).reshape(5, 2)
    np.save(tmp_path / "t.npy", data)
    calls: list[Callable[[], Any]] = [
        lambda: garner.gather("numpy.take", data, [3, 1], out=out), lambda: garner.gather_nd(data, [[3], [1]], out=out), lambda: garner.embedding([3, 1], table, out=out),
        lambda: garner.embedding_bag([3, 1], table.astype(float), [0, 1], out=out),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(garner.DTypeError, match=f"out is a {type(out).__name__}.*no memory"):
            call()
    with garner.Table(tmp_path / "t.npy") as t, pytest.raises(garner.Error, match="out"):
        t.lookup([3, 1], out)


def test_what_has_memory_is_written_to() -> None:
    data = np.arange(5)
    buffer = array.array("q", [0, 0])
    assert garner.gather("numpy.take", data, [3, 1], out=buffer) is buffer and list(buffer) == [3, 1]
    raw = bytearray(2)
    garner.gather("numpy.take", data.astype(np.uint8), [3, 1], out=raw)
    assert raw == bytes([3, 1])
    part = memoryview(bytearray(4))
    garner.gather("numpy.take", data.astype(np.uint8), [3, 1], out=part[1:3])
    assert bytes(part) == bytes([0, 3, 1, 0])
    subclass = np.zeros(2, np.int64).view(np.recarray)
    assert garner.gather("numpy.take", data, [3, 1], out=subclass) is subclass and subclass.tolist() == [3, 1]
    with pytest.raises(garner.ShapeError, match="read-only"):
        garner.gather("numpy.take", data.astype(np.uint8), [3, 1], out=b"ab")
    with pytest.raises(garner.ShapeError):
        garner.gather("numpy.take", data.astype(np.uint8), [3, 1], out=part[::2])


def test_a_copy_is_never_written_to() -> None:
    """What NumPy reads only as a copy would keep what it had."""
    data, packed = np.arange(5, dtype=np.float32), np.zeros(2, [("a", "u1"), ("f", "f4")])
    big = (ctypes.c_float.__ctype_be__ * 2)()
    swapped: Any = np.zeros(2, ">f4")
    field: Any = packed["f"]
    for out in (memoryview(swapped), big, memoryview(field)):
        with pytest.raises(garner.Error, match="out has (elements of >f4|strides of)"):
            garner.gather("numpy.take", data, [3, 1], out=out)
        with pytest.raises(garner.Error, match="out has (elements of >f4|strides of)"):
            garner.gather_nd(data, [[3], [1]], out=out)
    with pytest.raises(garner.Error):
        garner.gather("numpy.take", data, [3, 1], out=packed["f"])
    assert list(big) == [0, 0] and not packed["f"].any()


def test_a_fill_may_be_a_bool() -> None:
    for value in (True, False, np.True_, np.False_):
        got = garner.gather("numpy.take", np.array([not value]), [0, 9], outside=value)
        assert got.tolist() == [not value, bool(value)]


def test_strides_beyond_memory_are_refused() -> None:
    for far in (1 << 60, -(1 << 60), 1 << 62, (1 << 63) - 8, -(1 << 63)):
        for n in (2, 3, 9, 17):
            data = np.lib.stride_tricks.as_strided(np.zeros(64), shape=(n,), strides=(far,))
            ids = np.lib.stride_tricks.as_strided(np.zeros(64, np.int64), shape=(n,), strides=(far,))
            for a, i in ((data, [0]), (np.arange(4), ids)):
                with pytest.raises(garner.ShapeError, match="further apart than memory reaches"):
                    garner.gather("numpy.take", a, i)


def test_a_name_is_text_of_unicode(tmp_path: Any) -> None:
    np.save(tmp_path / "t.npy", np.zeros((4, 2), np.float32))
    np.save(tmp_path / "i.npy", [1])
    with pytest.raises(garner.OperatorError, match="surrogate"):
        garner.gather_file(tmp_path / "t.npy", tmp_path / "i.npy", tmp_path / "o.npz", name="\ud800")
