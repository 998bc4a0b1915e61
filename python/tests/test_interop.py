"""Arrays of others in and out: which memory they have, what comes back, and every layout."""

from __future__ import annotations

import array
import ctypes
import mmap
import tracemalloc
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner
from garner import _native, _ops, _views

rng = np.random.default_rng(11)
ROWS, WIDTH = 4096, 256


class Producer:
    """An array of a library that NumPy does not know."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __dlpack__(self, **values: Any) -> Any:
        return self.a.__dlpack__(**values)

    def __dlpack_device__(self) -> Any:
        return self.a.__dlpack_device__()


class OldProducer(Producer):
    """One of the protocol before its versions."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
        return self.a.__dlpack__()


class Interface:
    def __init__(self, a: Any) -> None:
        self.a = a
        self.__array_interface__ = a.__array_interface__


def readonly(a: Any) -> Any:
    a = a.view()
    a.flags.writeable = False
    return a


def mapped(a: Any) -> Any:
    m = mmap.mmap(-1, a.nbytes)
    m[:] = a.tobytes()
    return m


def torch_of(a: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(a)


def jax_of(a: Any) -> Any:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    return jnp.asarray(a)


def address(x: Any) -> int:
    return int(_native.ffi.cast("intptr_t", x))


# What makes an array of 8 MiB of another kind, and where its memory is.
KINDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], int]]] = {
    "numpy": (lambda a: a, lambda x: int(x.ctypes.data)),
    "numpy, read-only": (readonly, lambda x: int(x.ctypes.data)),
    "numpy, column-major": (lambda a: np.asfortranarray(a), lambda x: int(x.ctypes.data)),
    "numpy, negative strides": (lambda a: a[::-1, ::-1], lambda x: int(x.ctypes.data)),
    "numpy, every second": (lambda a: a[::2, ::2], lambda x: int(x.ctypes.data)),
    "numpy, one row for all": (lambda a: np.broadcast_to(a[0], a.shape), lambda x: int(x.ctypes.data)),
    "numpy.memmap": (lambda a: a.view(np.memmap), lambda x: int(x.ctypes.data)),
    "memoryview": (lambda a: memoryview(a), lambda x: int(np.asarray(x).ctypes.data)),
    "memoryview, read-only": (lambda a: memoryview(a).toreadonly(), lambda x: int(np.asarray(x).ctypes.data)),
    "memoryview, backwards": (lambda a: memoryview(a)[::-1], lambda x: int(np.asarray(x).ctypes.data)),
    "bytearray": (lambda a: bytearray(a.tobytes()), lambda x: ctypes.addressof(ctypes.c_char.from_buffer(x))),
    "bytes": (lambda a: a.tobytes(), lambda x: int(np.frombuffer(x, np.uint8).ctypes.data)),
    "array.array": (lambda a: array.array("d", a.tobytes()), lambda x: x.buffer_info()[0]),
    "ctypes": (lambda a: (ctypes.c_double * a.size).from_buffer(bytearray(a.tobytes())), lambda x: ctypes.addressof(x)),
    "mmap": (mapped, lambda x: ctypes.addressof(ctypes.c_char.from_buffer(x))),
    "DLPack": (Producer, lambda x: int(x.a.ctypes.data)),
    "DLPack, of old": (OldProducer, lambda x: int(x.a.ctypes.data)),
    "DLPack, read-only": (lambda a: Producer(readonly(a)), lambda x: int(x.a.ctypes.data)),
    "__array_interface__": (Interface, lambda x: int(x.a.ctypes.data)),
    "torch": (torch_of, lambda x: int(x.data_ptr())),
    "torch, transposed": (lambda a: torch_of(a).t(), lambda x: int(x.data_ptr())),
    "torch, expanded": (lambda a: torch_of(a)[:1].expand(ROWS, WIDTH), lambda x: int(x.data_ptr())),
    "jax": (jax_of, lambda x: int(x.unsafe_buffer_pointer())),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_nothing_is_copied_in(kind: str) -> None:
    make, where = KINDS[kind]
    x = make(rng.random((ROWS, WIDTH)))
    assert address(_views.view(x).pointer) == where(x)
    ids = np.array([3, 0, 3])
    garner.gather("numpy.take", x, ids, axis=0)
    tracemalloc.start()
    try:
        got = garner.gather("numpy.take", x, ids, axis=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20, f"{peak} bytes were allocated to gather 3 rows"
    plain = np.asarray(x.a if isinstance(x, (Producer, Interface)) else memoryview(x) if isinstance(x, (bytes, bytearray, mmap.mmap)) else x)
    assert np.asarray(got).tobytes() == plain.take(ids, 0).tobytes()
    if kind.startswith("torch"):
        import torch

        assert isinstance(got, torch.Tensor)
    elif kind == "jax":
        import jax

        assert isinstance(got, jax.Array) and got.dtype == x.dtype
    else:
        assert type(got) is np.ndarray


@pytest.mark.parametrize("kind", ["numpy", "bytearray", "array.array", "mmap", "memoryview", "DLPack", "torch"])
def test_a_change_of_the_data_is_seen(kind: str) -> None:
    a = rng.random((64, 8))
    x = KINDS[kind][0](a)
    flat = np.asarray(memoryview(x)) if kind in ("bytearray", "array.array", "mmap") else a
    ids = np.array([1, 2])
    before = np.asarray(garner.gather("numpy.take", x, ids, axis=0)).copy()
    flat[1] = 1
    after = np.asarray(garner.gather("numpy.take", x, ids, axis=0))
    assert not (before[0] == after[0]).all() and (after[0] == 1).all() and (before[1] == after[1]).all()
    ids[0] = 2  # the indices too
    assert (np.asarray(garner.gather("numpy.take", x, ids, axis=0))[0] == before[1]).all()


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_what_goes_in_comes_out(library: str) -> None:
    make: Any = torch_of if library == "torch" else jax_of
    a, ids = rng.random((6, 5)).astype("f4"), np.array([[5, 0], [1, 1]])
    x, i = make(a), make(ids.astype("i4"))

    def same(got: Any, want: Any) -> None:
        assert type(got).__module__.partition(".")[0] == type(x).__module__.partition(".")[0], type(got)
        assert got.shape == want.shape and np.asarray(got).tobytes() == want.tobytes()

    for indices in (i, ids, ids.tolist()):
        same(garner.gather("onnx.Gather-13", x, indices), a[ids])
        same(garner.take(x, indices, axis=0), a[ids])
        same(garner.embedding(indices, x), a[ids])
    same(garner.take(x, i), a.take(ids))
    same(garner.take_along_axis(x, make(np.array([[1]] * 6)), axis=1), a[:, 1:2])
    same(garner.gather_nd(x, make(np.array([[1, 2], [3, 4]]))), a[[1, 3], [2, 4]])
    np.testing.assert_allclose(np.asarray(garner.embedding_bag(i, x, mode="sum")), a[ids].sum(1), rtol=1e-6)
    assert type(garner.gather("onnx.Gather-13", a, i)) is np.ndarray  # of the kind of the data
    found = garner.answers(x, i)
    same(found["onnx.Gather-13"], a[ids])


def test_torch_out() -> None:
    torch = pytest.importorskip("torch")
    a, ids = torch.rand(6, 5), torch.tensor([4, 4, 0])
    out = torch.zeros(3, 5)
    assert garner.gather("onnx.Gather-13", a, ids, out=out) is out and torch.equal(out, a[ids])
    view = out.numpy()
    assert garner.take(a, torch.tensor([1, 1, 1]), 0, view) is view and torch.equal(out, a[[1, 1, 1]])
    with pytest.raises(garner.ShapeError, match="row-major"):
        garner.gather("onnx.Gather-13", a, ids, out=torch.zeros(5, 3).t())
    with pytest.raises(garner.OverlapError):
        garner.gather("onnx.Gather-13", a, ids, out=a[:3])


def test_out_of_other_kinds() -> None:
    a = np.arange(6.0)
    for out in (array.array("d", [0, 0]), memoryview(bytearray(16)).cast("d"), (ctypes.c_double * 2)(), Producer(np.zeros(2))):
        assert garner.gather("onnx.Gather-13", a, [4, 1], out=out) is out
        plain = np.asarray(out.a if isinstance(out, Producer) else memoryview(out))
        assert plain.tolist() == [4, 1]


@pytest.mark.parametrize("kind", ["numpy, read-only", "bytes", "memoryview, read-only", "DLPack, read-only", "jax", "numpy, one row for all"])
def test_memory_that_is_not_to_be_written_is_not(kind: str) -> None:
    data = np.arange(16, dtype=np.uint8)
    make = KINDS[kind][0]
    a = np.zeros((2, 3), np.uint8)
    out = make(a) if kind != "bytes" else bytes(6)
    plain = np.asarray(out.a) if isinstance(out, Producer) else np.frombuffer(out, np.uint8) if kind == "bytes" else np.asarray(out)
    before = plain.tobytes()
    ids = [[1, 2, 3], [4, 5, 6]] if kind != "bytes" else [1, 2, 3, 4, 5, 6]
    with pytest.raises(garner.ShapeError, match="read-only|row-major"):
        garner.gather("onnx.Gather-13", data, ids, out=out)
    assert plain.tobytes() == before


def layouts(a: Any) -> list[tuple[str, Any]]:
    """Return arrays of the elements of a, in every layout."""
    if a.ndim == 0:
        return [("a scalar", a), ("a read-only scalar", readonly(a)), ("of another byte order", a.astype(a.dtype.newbyteorder()))]
    wide = np.zeros((*a.shape[:-1], 3 * a.shape[-1]), a.dtype)[..., 1::3]
    wide[...] = a
    packed = np.zeros(a.shape, np.dtype([("x", "u1"), ("y", a.dtype), ("z", "u1")]))
    packed["y"] = a
    odd = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    odd[...] = a
    swapped = a.astype(a.dtype.newbyteorder())
    order = tuple(range(a.ndim))[::-1]
    found = [
        ("row-major", a), ("column-major", np.asfortranarray(a)), ("every third", wide), ("fields of records", packed["y"]),
        ("at an odd address", odd), ("of another byte order", swapped), ("read-only", readonly(a)),
        ("transposed twice", np.ascontiguousarray(a.transpose(order)).transpose(order)),
    ]  # fmt: skip
    back = (slice(None, None, -1),) * a.ndim
    return [*found, ("backwards", np.ascontiguousarray(a[back])[back])]


SHAPES = [(), (1,), (0,), (7,), (4, 5), (4, 0, 3), (2, 3, 4), (2, 1, 3, 1, 2), (1,) * 62 + (2, 1), (1,) * 63 + (3,), (2,) * 3 + (1,) * 61]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{len(s)}:{'x'.join(map(str, s[:5]))}")
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16"])
def test_every_layout(shape: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are those of NumPy over the row-major array, of data, of indices and of both."""
    monkeypatch.setattr(_ops, "SMALL", -1)  # garner answers
    a = rng.integers(0, 200, shape).astype(dtype)
    tried = 0
    for axis in sorted({None, 0, a.ndim - 1, a.ndim // 2}, key=str):
        if axis is not None and not 0 <= axis < a.ndim:
            continue
        n = a.size if axis is None else a.shape[axis]
        i = rng.integers(-n, n, (2, 3)) if n else np.zeros((2, 0), int)
        if axis is not None and a.ndim + 1 > 64:
            i = i.reshape(-1)
        want = np.take(a, i, axis)
        for what, x in layouts(a):
            for of, ids in layouts(i) if what in ("row-major", "backwards") else [("row-major", i)]:
                for got in (garner.take(x, ids, axis), garner.gather("numpy.take", x, ids, axis=axis)):
                    assert got.shape == want.shape and got.dtype == want.dtype.newbyteorder("=") or got.dtype == x.dtype, (what, of)
                    assert (got == want).all(), (what, of, axis)
                    tried += 1
            if 0 < a.ndim < 64 and axis is not None and n:  # NumPy itself refuses 64 here
                along = rng.integers(-n, n, a.shape)
                expected = np.take_along_axis(a, along, axis)
                for of, ids in layouts(along)[:4]:
                    assert (garner.take_along_axis(x, ids, axis) == expected).all(), (what, of)
    assert tried >= 6


def test_zero_strides() -> None:
    row = np.arange(5.0)
    a = np.broadcast_to(row, (1 << 40, 5))  # 40 TiB, of which 40 bytes exist
    ids = np.array([0, (1 << 40) - 1, -1, 12345678901])
    assert (garner.gather("numpy.take", a, ids, axis=0) == row).all()
    many = np.broadcast_to(np.int64(3), (2, 100_000))
    assert (garner.take(row, many) == 3).all()
    with pytest.raises(garner.IndexError) as e:
        garner.gather("numpy.take", a, [1 << 40], axis=0)
    assert (e.value.value, e.value.dim) == (1 << 40, 1 << 40)


ML = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
      "float8_e8m0fnu", "int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"]  # fmt: skip


@pytest.mark.parametrize("name", ML)
def test_ml_dtypes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    monkeypatch.setattr(_ops, "SMALL", -1)
    dtype = np.dtype(getattr(ml_dtypes, name))
    a = (rng.integers(0, 2, (6, 4)) if name.startswith(("int", "uint")) else rng.integers(1, 3, (6, 4)).astype("f4")).astype(dtype)
    ids = np.array([5, -1, 0])
    for x in (a, a[::-1], a.T.copy().T, readonly(a)):
        for got in (garner.gather("numpy.take", x, ids, axis=0), garner.take(x, ids, 0), garner.take_along_axis(x, np.array([[0], [1]] * 3), 1)):
            assert got.dtype == dtype
        assert garner.gather("numpy.take", x, ids, axis=0).tobytes() == garner.take(x, ids, 0).tobytes() == x[ids].tobytes()
        assert garner.take_along_axis(x, np.array([[0], [1]] * 3), 1).tobytes() == np.take_along_axis(x, np.array([[0], [1]] * 3), 1).tobytes()
        out = np.zeros((3, 4), dtype)
        assert garner.gather("numpy.take", x, ids, axis=0, out=out) is out and out.tobytes() == x[ids].tobytes()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_ml_dtypes_of_jax(name: str) -> None:
    pytest.importorskip("jax")
    import jax
    import jax.numpy as jnp

    a = jnp.asarray(np.arange(24).reshape(6, 4) % 4).astype(getattr(jnp, name))
    got = garner.gather("jax.numpy.take", a, jnp.array([5, 0, 3]), axis=0)
    assert isinstance(got, jax.Array) and got.dtype == a.dtype
    assert np.asarray(got).tobytes() == np.asarray(jnp.take(a, jnp.array([5, 0, 3]), axis=0)).tobytes()


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_array_array(code: str) -> None:
    a = array.array(code, [1, 2, 3])
    got = garner.gather("onnx.Gather-13", a, [2, 0])
    assert got.dtype == np.dtype(code) and got.tolist() == [3, 1]
    if code not in "fd":
        assert garner.gather("numpy.take", np.arange(9), a).tolist() == [1, 2, 3]


def test_a_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.bin"
    a = rng.random((100, 8)).astype("f4")
    path.write_bytes(a.tobytes())
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
        got = garner.gather("onnx.Gather-13", np.frombuffer(m, np.float32).reshape(100, 8), [99, 0])
        assert (got == a[[99, 0]]).all()
        assert garner.gather("onnx.Gather-13", m, [0, 5]).tobytes() == bytes([m[0], m[5]])
        garner.gather("onnx.Gather-13", np.zeros(4, np.uint8), [1, 2], out=memoryview(m)[4:6])
        assert m[4:6] == b"\0\0"
        del got


@pytest.mark.parametrize("what", ["str", "S3", "O", "V3", "f2,u1", "f16"])
def test_elements_that_are_refused(what: str) -> None:
    dtype = np.dtype(what) if what != "f16" else np.dtype(np.longdouble)
    a = np.zeros(3, dtype)
    if what == "f16" and dtype.itemsize == 16:
        assert garner.gather("onnx.Gather-13", a, [0]).dtype == dtype  # moved
        return
    with pytest.raises(garner.DTypeError):
        garner.gather("onnx.Gather-13", a, [0])
    assert garner.take(a, [0, 2]).dtype == np.take(a, [0, 2]).dtype  # NumPy's own
