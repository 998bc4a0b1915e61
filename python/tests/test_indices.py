"""Numbers of rows and indices of every library and type."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner

ROWS = 300
LIBRARIES = ("numpy", "torch", "jax", "dlpack")


class Producer:
    """An array of a library that NumPy does not know."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __dlpack__(self, **values: Any) -> Any:
        return self.a.__dlpack__(**values)

    def __dlpack_device__(self) -> Any:
        return self.a.__dlpack_device__()


def of(library: str) -> Callable[[Any], Any]:
    if library == "torch":
        torch = pytest.importorskip("torch")
        return lambda a: torch.from_numpy(a.copy())
    if library == "jax":
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        return lambda a: jax.numpy.asarray(a)
    return Producer if library == "dlpack" else lambda a: a


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("indices") / "t.npy"
    np.save(path, np.arange(2 * ROWS).reshape(ROWS, 2))
    return path


@pytest.mark.parametrize("library", LIBRARIES)
def test_negatives_and_masks_are_numpys(table: Path, library: str) -> None:
    make, want = of(library), np.load(table)
    with garner.Table(table) as t:
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
            low = max(np.iinfo(name).min, -ROWS)
            top = min(np.iinfo(name).max, ROWS - 1)
            for list_ in ([low, top, 0], [0 if name[0] == "u" else -1, 2], [[1], [top]], []):
                ids = np.array(list_, name)
                assert (np.asarray(t[make(ids)]) == want[ids]).all(), (name, list_)
            with pytest.raises(garner.IndexError) as e:
                t[make(np.array([[0, np.iinfo(name).max]], name))] if top == ROWS - 1 else t.lookup(make(np.array([[0, low]], name))) if low < 0 else t[[[0, ROWS]]]
            assert e.value.position == (0, 1)
        mask = want[:, 0] % 7 == 3
        assert (np.asarray(t[make(mask)]) == want[mask]).all()
        with pytest.raises(garner.ShapeError, match="mask"):
            t[make(mask[1:])]
        for strict in (make(mask), make(np.array([0.5]))):
            with pytest.raises(garner.DTypeError, match="integers"):
                t.lookup(strict)
        with pytest.raises(garner.DTypeError, match="bool"):
            t[True]


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_numbers_narrower_than_a_byte_are_widened_by_value(table: Path, name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = np.arange(20)
    ids = np.array([-1, -2] if name[0] == "i" else [3, 1]).astype(getattr(ml_dtypes, name))
    want = ids.astype(np.int64)
    assert (garner.gather("onnx.Gather", data, ids) == data[want]).all()
    with garner.Table(table) as t:
        assert (t[ids] == np.load(table)[want]).all()
    assert "%d" % want[0] in garner.explain("onnx.Gather", data, ids).text


def wrong() -> list[Any]:
    found = [np.array([1], "m8[s]"), np.array([1], "M8[s]"), np.array([(0, 1)], "u2,u2"), np.zeros(1, "V4"), np.array(["1"]), np.array([1], object)]
    if "ml_dtypes" in sys.modules or pytest.importorskip("ml_dtypes"):
        import ml_dtypes

        found += [np.array([1.5], ml_dtypes.float6_e2m3fn), np.array([1.5], ml_dtypes.float4_e2m1fn)]
    return found


def test_what_is_no_integer_is_no_index(table: Path) -> None:
    data = np.arange(20.0)
    with garner.Table(table) as t:
        for bad in wrong():
            calls: list[Callable[[], Any]] = [
                lambda: garner.gather("onnx.Gather", data, bad), lambda: garner.explain("onnx.Gather", data, bad), lambda: t.lookup(bad), lambda: t[bad],
                lambda: garner.embedding_bag([0, 1], data.reshape(-1, 1), offsets=bad),
                lambda: garner.embedding_bag([0, 1], data.reshape(-1, 1), offsets=[0], per_sample_weights=bad, mode="sum"),
                lambda: garner.explain("torch.embedding_bag", data.reshape(-1, 1), [0, 1], offsets=bad),
            ]  # fmt: skip
            for call in calls:
                with pytest.raises(garner.DTypeError):
                    call()
    assert garner.gather("onnx.Gather", np.array([3, 4], "M8[s]"), [1]).dtype == "M8[s]"  # data is only moved


def test_half_complex_indices_of_torch() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(garner.DTypeError, match="complex32"):
        garner.gather("torch.index_select", torch.arange(5), torch.zeros(1).to(torch.complex32))


def test_a_masked_array_is_refused_by_name(table: Path) -> None:
    m = np.ma.array([[1.0, 2.0], [3.0, -9999.0]], mask=[[False, False], [False, True]])
    ids = np.ma.array([0, 1], mask=[False, True])
    out = np.ma.zeros((1, 2))
    with garner.Table(table) as t:
        calls: list[Callable[[], Any]] = [
            lambda: garner.gather("numpy.take", m, [1], axis=0), lambda: garner.embedding([1], m), lambda: garner.gather("onnx.Gather", m.data, ids),
            lambda: garner.gather("onnx.Gather", m.data, [1], out=out), lambda: t[ids], lambda: t.lookup(ids), lambda: t.lookup([1], np.ma.zeros((1, 2), int)),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(garner.DTypeError, match="mask"):
                call()
    taken = garner.take(m, [1], axis=0)  # NumPy's, which keeps the mask
    assert taken.mask.tolist() == [[False, True]]
    assert (garner.gather("onnx.Gather", m.data.view(np.recarray), [1]) == m.data[[1]]).all()


def test_explain_takes_operands_that_are_not_given() -> None:
    weights = np.array([[0.5, 2.0]])
    e = garner.explain("torch.embedding_bag", np.arange(8.0).reshape(4, 2), np.array([[1, 2]]), per_sample_weights=weights, mode="sum")
    assert "f64[1,2]" in e.text


@pytest.mark.parametrize("rows", ["plain", "narrow", "strings"])
def test_one_sentence_for_one_fault(tmp_path: Path, rows: str) -> None:
    """Each way into a table names the same range, which is the one that is allowed there."""
    path = str(tmp_path / "t.npy")
    if rows == "plain":
        np.save(path, np.arange(24, dtype=np.float32).reshape(12, 2))
        t = garner.Table(path)
    elif rows == "narrow":
        Path(tmp_path / "t.raw").write_bytes(bytes(12))
        t = garner.Table(tmp_path / "t.raw", dtype="u4", shape=[12, 2])
    else:
        np.save(path, np.array([["a", "b"]] * 12))
        t = garner.Table(path)
    for value in (12, -13, 1 << 70, -(1 << 70)):
        keys: list[Any] = [[3, value], ([3, value], 0), ([3, value], slice(None))]
        if abs(value) < 100:
            keys += [np.array([3, value]), np.array([3, value], np.int8), np.array([3, 0, value, 0])[::2]]
        if value == 12:
            keys += [np.array([3, 12], np.uint8), np.array([3, 12], np.uint64)]
        for key in keys:
            with pytest.raises(garner.IndexError) as found:
                t[key]
            assert str(found.value) == f"garner: indices[1] = {value} is outside axis 0 of data, which has -12…11", key
            assert (found.value.position, found.value.value, found.value.axis, found.value.dim) == ((1,), value, 0, 12)
        for ids in keys[:1] + keys[3:]:
            with pytest.raises(garner.IndexError) as found:
                t.lookup(ids)
            assert str(found.value) == f"garner: indices[1] = {value} is outside axis 0 of data, which has 0…11", ids
        for one in (value, (value, 0)):
            with pytest.raises(garner.IndexError, match=f"^garner: indices = {value} is outside axis 0 of data, which has -12…11$"):
                t[one]
    with pytest.raises(garner.IndexError, match=r"indices\[0,1\] = 12 .* has -12…11 \(1 more of 4 indices is outside\)$"):
        t[[[1, 12], [12, 0]]]
    with pytest.raises(garner.IndexError, match=r"indices\[0,1\] = 12 .* has -12…11 \(1 more of 4 indices is outside\)$"):
        t[[[1, 12], [12, 0]], 0]


SCALARS = [
    *(np.dtype(c).type(2) for c in "bhilqpBHILQPefdgFDG"), np.bool_(True), np.datetime64(2, "D"), np.timedelta64(2, "D"), np.timedelta64(2), np.str_("2"), np.bytes_(b"2"), np.void(b"\2"),
    np.array([(2, 0)], "i4,i4")[0], np.array([2], object)[0],
]  # fmt: skip


@pytest.mark.parametrize("n", range(len(SCALARS)))
def test_a_scalar_is_what_its_array_is(table: Path, n: int) -> None:
    """Of each type of NumPy. The bytes of a datetime64 are no eight numbers of rows."""
    scalar = SCALARS[n]
    array = np.asarray(scalar)
    assert array.ndim == 0
    data = np.load(table)
    with garner.Table(table) as t:
        calls: list[Callable[[Any], Any]] = [
            lambda x: t[x], lambda x: t.lookup(x), lambda x: t[x, 0], lambda x: t[0:3, x] if array.dtype.kind not in "iu" else t[0:3, x - 1], lambda x: garner.gather("onnx.Gather", data, x),
            lambda x: garner.embedding(x, data), lambda x: garner.embedding(x, t), lambda x: garner.take(t, x, 0), lambda x: garner.explain("onnx.Gather", data, x).text,
            lambda x: garner.gather("onnx.Gather", x, 0), lambda x: garner.gather("numpy.take", x, [0]), lambda x: garner.embedding_bag([0, 1], data, offsets=x),
        ]  # fmt: skip
        for at, call in enumerate(calls):
            try:
                want = call(array)
            except garner.Error as e:
                with pytest.raises(garner.Error) as told:
                    call(scalar)
                assert type(told.value) is type(e), at
            else:
                assert np.array_equal(call(scalar), want), at
        if array.dtype.kind in "iu":
            assert np.array_equal(t[scalar], data[2]) and np.array_equal(t.lookup(scalar), data[2])
        else:
            for refused in calls[:9]:
                with pytest.raises(garner.DTypeError):
                    refused(scalar)


def test_bytes_are_no_numbers(table: Path) -> None:
    data = np.load(table)
    with garner.Table(table) as t:
        for bad in (b"12", b"", np.bytes_(b"12")):
            calls: list[Callable[[], Any]] = [
                lambda: t[bad], lambda: t.lookup(bad), lambda: t[bad, 0], lambda: garner.embedding(bad, data), lambda: garner.embedding(bad, t), lambda: garner.gather("onnx.Gather", data, bad),
                lambda: garner.explain("onnx.Gather", data, bad), lambda: garner.embedding_bag([0, 1], data, offsets=bad),
            ]  # fmt: skip
            for call in calls:
                with pytest.raises(garner.DTypeError):
                    call()
        for taken in (bytearray(b"12"), memoryview(b"12")):  # which NumPy has as arrays of numbers
            assert np.array_equal(t[taken], data[taken]) and np.array_equal(t.lookup(taken), data[[49, 50]])
            assert np.array_equal(garner.gather("onnx.Gather", data, taken), data[[49, 50]])
    assert garner.gather("onnx.Gather", b"12", [1]).tolist() == [50]  # as data they are their bytes


def test_a_timedelta_is_no_option(table: Path) -> None:
    one: Any = np.timedelta64(1)
    calls: list[Callable[[], Any]] = [
        lambda: garner.gather("onnx.Gather", np.ones((2, 2)), [1], axis=one), lambda: garner.gather("onnx.Gather", np.ones(2), [1], threads=one),
        lambda: garner.embedding([0], np.ones((2, 2)), sparse=one), lambda: garner.gather_file("a", "b", "c", memory=np.timedelta64(1 << 30)),
        *(lambda v=v: garner.gather("onnx.Gather", np.ones(2), [1], outside=v) for v in (one, np.timedelta64(1, "ns"), np.datetime64(1, "ns"), np.array(1, "m8[ns]"))),
        lambda: garner.gather("torch.gather", np.ones((2, 2)), [[1]], dim=np.array(1, "m8[ns]")), lambda: garner.Table(table, dtype="f32", shape=[one]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(garner.OperatorError):
            call()


def test_a_list_means_what_numpy_makes_of_it(table: Path) -> None:
    """A bool in a list of integers is 0 or 1, as README.md says; a list of bools is a mask, and no list of numbers."""
    data = np.load(table)
    mixed: list[Any] = [1, True, False]
    with garner.Table(table) as t:
        for got in (t[mixed], t.lookup(mixed), garner.gather("onnx.Gather", data, mixed), garner.take(data, mixed, 0)):
            assert np.array_equal(got, data[np.asarray(mixed)])
        assert np.array_equal(t[[True] + [False] * (ROWS - 1)], data[:1])
        for bad in (True, np.True_, np.array(True)):
            for call in (lambda: t[bad], lambda: t.lookup(bad), lambda: t[0, bad], lambda: t.lookup([True, False]), lambda: garner.gather("onnx.Gather", data, [True, False])):
                with pytest.raises(garner.DTypeError):
                    call()
