"""Operators over arrays in memory."""

from __future__ import annotations

import array
import gc
import threading
from typing import Any

import numpy as np
import pytest

import garner
from garner import _native, _ops

rng = np.random.default_rng(3)


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


def test_take_along_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ops, "SMALL", -1)
    a = rng.random((20, 30, 4))
    for axis in (0, 1, 2, -1):
        i = np.argsort(a, axis=axis)
        assert (garner.take_along_axis(a, i, axis) == np.take_along_axis(a, i, axis)).all()
    flat = np.argsort(a, axis=None)
    assert (garner.take_along_axis(a, flat, None) == np.take_along_axis(a, flat, None)).all()


def test_every_operator_answers() -> None:
    found = garner.answers(np.array([1, 2, 3]), np.array([0, -1, 7]))
    assert found["openvino.Gather-8"].tolist() == [1, 3, 0]
    assert isinstance(found["onnx.Gather-13"], garner.IndexError) and found["onnx.Gather-13"].position == (2,)
    assert len(found) > 20
    assert "torch.embedding_bag" in garner.operators()


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
        (lambda: garner.embedding(np.ones((2, 2)), [0], max_norm=1.0), garner.OperatorError, "max_norm"),
        (lambda: garner.infer("onnx.Gather-13", "f32[", "i64[1]"), garner.ShapeError, "f32"),
        (lambda: garner.explain("onnx.Gather-13", [1], [0], axis=3), garner.ShapeError, "axis"),
    ],
)
def test_refusals(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


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


def test_many_calls_keep_no_memory(npy: Any) -> None:
    a, i = np.arange(1000.0), np.array([1, 5, 900])
    bad = np.array([1, 5000])
    out = np.empty((2, 256), np.float32)
    ids = np.array([3, 4])
    with garner.Table(npy) as t:

        def round_of(n: int) -> None:
            for k in range(n):
                garner.gather("onnx.Gather-13", a, i)
                t.lookup(ids, out)
                if k % 4 == 0:
                    try:
                        garner.gather("onnx.Gather-13", a, bad)
                    except IndexError:
                        pass

        round_of(5_000)
        gc.collect()
        before = resident()
        round_of(50_000)  # 112,500 calls
        gc.collect()
        assert resident() - before < 16 << 20


def test_an_unknown_handle_is_an_error() -> None:
    library = _native.load()
    with pytest.raises(garner.Error, match="handle"):
        _native.fail(library.garner_run(987_654_321, _native.NULL, _native.NULL, _native.NULL, _native.NULL, 0))
    library.garner_release(987_654_321)
    assert library.garner_error_read(987_654_321, _native.ffi.new("garner_error *")) == -1
