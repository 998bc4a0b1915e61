"""Arrays of every kind as the library sees them: a pointer, a shape, strides and a type."""

from __future__ import annotations

import math
import os
import sys
from functools import lru_cache
from typing import Any, Callable, Iterator

import numpy as np

from . import _native, _options
from ._native import DTypeError, OperatorError, ShapeError, ffi

# The code and the bits of DLPack's types.
CODES: dict[str, tuple[int, int]] = {
    "bool": (6, 8), "i8": (0, 8), "i16": (0, 16), "i32": (0, 32), "i64": (0, 64), "u8": (1, 8), "u16": (1, 16), "u32": (1, 32), "u64": (1, 64),
    "f16": (2, 16), "bf16": (4, 16), "f32": (2, 32), "f64": (2, 64), "complex64": (5, 64), "complex128": (5, 128),
    "f8e4m3fn": (10, 8), "f8e4m3fnuz": (11, 8), "f8e5m2": (12, 8), "f8e5m2fnuz": (13, 8), "f8e8m0": (14, 8),
    "u1": (1, 1), "i2": (0, 2), "u2": (1, 2), "i4": (0, 4), "u4": (1, 4), "f4e2m1": (17, 4),
}  # fmt: skip
NAMES = {code: name for name, code in CODES.items()}
_NUMPY = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
_ML = {
    "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2", "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu", "u1": "uint1", "u2": "uint2", "i2": "int2", "i4": "int4", "u4": "uint4", "f4e2m1": "float4_e2m1fn",
}  # fmt: skip
_ALIASES = {"half": "f16", "double": "f64", "str": "string"}  # names of garner that NumPy reads as the same
_OF_NUMPY = {v: k for k, v in {**_NUMPY, **_ML}.items()}
_NARROW = {"uint1", "int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"}  # of ml_dtypes, a byte each
_WIDER = {"int2": np.int8, "int4": np.int8, "uint1": np.uint8, "uint2": np.uint8, "uint4": np.uint8}
_WIDTHS = {1: (1, 8), 2: (1, 16), 4: (1, 32), 8: (1, 64), 16: (5, 128)}
_TORCH = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "complex64", "complex128": "complex128",
    "float8_e4m3fn": "f8e4m3fn", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2": "f8e5m2", "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0",
    "complex32": "u32",
}  # fmt: skip


_LONG = {np.dtype(name): name for name in _NUMPY.values()}


def _long_name(dtype: np.dtype[Any]) -> str:
    """Return what dtype.name is of a type that garner has, or nothing. NumPy's own is Python, which catches what a handler of a signal raises there."""
    return dtype.type.__name__ if dtype.isbuiltin == 2 else _LONG.get(dtype if dtype.isnative else dtype.newbyteorder("="), "")


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a type of garner; of those that NumPy lacks, that of ml_dtypes."""
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _ML:
        try:
            import ml_dtypes
        except ModuleNotFoundError as e:
            if e.name != "ml_dtypes":
                raise
            other = ", or convert it with to=\"f32\"" if "f" in name else ""
            raise DTypeError(f"garner: NumPy has no {name}; install ml_dtypes{other}") from None
        if not hasattr(ml_dtypes, _ML[name]):
            raise DTypeError(f"garner: this ml_dtypes has no {_ML[name]}; install a newer one")
        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML[name]))
        return found
    raise DTypeError(f"garner: neither NumPy nor ml_dtypes has {name}; convert it with to=\"f32\"")


_from_buffer, _BYTES = _native.from_buffer, _native.BYTES


def _own_name(role: str, name: str) -> str:
    """Return garner's name of a type for a name of garner or a long one of NumPy. Others that NumPy reads are refused with what they are."""
    if name in _OF_NUMPY:
        return _OF_NUMPY[name]
    if name in CODES or name in _ALIASES:
        return _ALIASES.get(name, name)
    try:
        found = _TORCH.get(name[6:]) if name.startswith("torch.") else _OF_NUMPY.get(_long_name(np.dtype(name)))
    except (TypeError, ValueError, SyntaxError) as e:  # as of a comma
        if not _native.raised(e):
            raise
        return name  # which the library refuses, and lists its own
    if name == "float":
        raise DTypeError(f'garner: {role}="float", which is f64 to NumPy and f32 to ONNX; give "f64" or "f32"')
    if found is None:
        raise DTypeError(f"garner: {role}={_options.shown(name)}, a type that garner lacks")
    whose = "PyTorch" if name.startswith("torch.") else "NumPy"
    raise DTypeError(f'garner: {role}={_options.shown(name)} is a name of {whose}; the names of garner count bits: give "{found}"')


def name_of(role: str, dtype: Any) -> str:
    """Return garner's name of a type."""
    if isinstance(dtype, str):
        return _own_name(role, dtype)
    name = str(dtype).removeprefix("torch.") if type(dtype).__module__.partition(".")[0] == "torch" else ""
    try:
        found = np.dtype(dtype) if not name else None
    except (TypeError, ValueError, OverflowError) as e:
        if not _native.raised(e):
            raise
        raise DTypeError(f'garner: {role}={_options.shown(dtype)}; give the name of a type, such as "f32", or a dtype') from None
    name = name if found is None else _long_name(found) if found.isnative else ""
    if name not in _OF_NUMPY:
        raise DTypeError(f"garner: {role}={_options.shown(dtype)}, a type that garner lacks")
    return _OF_NUMPY[name]


class Rows:
    """What reads its rows from a file: a Table. As data it would be read whole."""

    __slots__ = ()


def unread(table: Any) -> OperatorError:
    """Return the error of a table in the place of an array."""
    n = math.prod(table.shape) * table._bits // 8
    size = f"all {n} bytes" if n else "all"
    return OperatorError(f"garner: a Table as data; give table[:], which reads {size}, or look rows up by table[ids], or use garner.gather_file")


class View:
    """An operand: where its elements lie, and what makes a result of its kind."""

    __slots__ = ("owner", "pointer", "shape", "strides", "size", "code", "moved", "dtype", "empty", "back")

    def __init__(
        self, owner: Any, pointer: Any, shape: tuple[int, ...], strides: tuple[int, ...], size: int, code: tuple[int, int], moved: bool, dtype: Any,
        empty: Callable[[tuple[int, ...], Any], Any], back: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        self.owner, self.pointer, self.shape, self.strides, self.size = owner, pointer, shape, strides, size  # strides and size in bytes
        self.code, self.moved, self.dtype, self.empty, self.back = code, moved, dtype, empty, back


@lru_cache(maxsize=256)
def code_of(dtype: np.dtype[Any]) -> tuple[tuple[int, int], bool]:
    """Return DLPack's type of a dtype, and whether it only has the same width."""
    name = _long_name(dtype)
    if dtype.kind in "OSUT" or dtype.hasobject:
        raise DTypeError(f"garner: an array of {dtype}; give numbers, and take strings and objects by numpy.take")
    if name in _OF_NUMPY and name not in _NARROW and dtype.isnative:
        return CODES[_OF_NUMPY[name]], False
    if dtype.itemsize in _WIDTHS:
        return _WIDTHS[dtype.itemsize], True
    raise DTypeError(f"garner: an array of {dtype}, whose elements have {dtype.itemsize} bytes; there are types of 1, 2, 4, 8 and 16")


def _empty(shape: tuple[int, ...], dtype: Any) -> Any:
    return np.empty(shape, numpy_dtype(dtype) if isinstance(dtype, str) else dtype)


def _same(x: Any) -> Any:
    return x


def pointer(a: np.ndarray[Any, Any]) -> Any:
    """Return the address of an array's first element."""
    return ffi.cast("void *", a.__array_interface__["data"][0])


def first(mask: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the place of the first True."""
    return tuple([int(n[0]) for n in mask.nonzero()]) if mask.ndim else ()


_PIECE = 16 << 20  # bytes that NumPy copies between two turns of Python, in which handlers of signals run


def parts(shape: tuple[int, ...], size: int) -> Iterator[tuple[Any, ...]]:
    """Yield keys of the pieces of an array of elements of so many bytes, each of _PIECE bytes at most."""
    row = size * math.prod(shape[1:])
    if not shape or row * shape[0] <= _PIECE:
        yield ()
    elif row <= _PIECE:
        each = _PIECE // row
        for at in range(0, shape[0], each):
            yield (slice(at, at + each),)
    else:
        for i in range(shape[0]):
            for rest in parts(shape[1:], size):
                yield (i, *rest)


def outside(position: tuple[int, ...], value: int, axis: int, dim: int, least: int, others: int = 0, total: int = 0) -> _native.IndexError:
    """Return the error of an index outside an axis, from least on, in the words of the library (garner.IndexError in Go).

    Without a position it is an integer of the key itself.
    """
    where = f"[{','.join(map(str, position))}]" if position else ""
    text = f"garner: indices{where} = {_options.shown(value)} is outside axis {axis} of data, which "
    text += f"has {least}…{dim - 1}" if dim else "is empty"
    if others:
        text += f" ({others} more of {total} indices {'is' if others == 1 else 'are'} outside)"
    e = _native.IndexError(text)
    e.position, e.value, e.axis, e.dim = position or (0,), value, axis, dim
    return e


def check(a: np.ndarray[Any, Any], axis: int, dim: int, least: int) -> None:
    """Refuse indices of which one is not among least … dim-1."""
    first: tuple[Any, ...] | None = None
    count = 0
    for key in parts(a.shape, 8):
        part = a[key]
        if not part.size or part.min() >= least and part.max() < dim:
            continue
        bad = (part < least) | (part >= dim) if a.dtype.kind != "u" else part >= dim
        count += int(np.count_nonzero(bad))
        if first is None:
            at = [int(n[0]) for n in bad.nonzero()] if np.ndim(bad) else []  # np.argwhere takes a TypeError of a handler for its own
            whole = [k for k in key if isinstance(k, int)]
            if len(key) > len(whole):
                at[0] += key[-1].start
            first = (*whole, *at)
    if first is not None:
        raise outside(first, int(a[first]), axis, dim, least, count - 1, a.size)


def of_type(a: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Return a copy of an array, of another type or the same, made in pieces."""
    made: np.ndarray[Any, Any] = np.empty(a.shape, dtype)
    for key in parts(a.shape, max(made.itemsize, a.itemsize)):
        made[key] = a[key]
    return made


def counted(a: np.ndarray[Any, Any], dim: int) -> np.ndarray[Any, Any]:
    """Return indices of int64 that count from the start, of which negative ones counted from the end."""
    made = np.empty(a.shape, np.int64)
    for key in parts(a.shape, 8):
        made[key] = np.where(a[key] < 0, a[key] + dim, a[key])
    return made


def places(mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return where a vector of bools is true."""
    made = np.empty(sum(int(np.count_nonzero(mask[key])) for key in parts(mask.shape, 1)), np.int64)
    end = 0
    for key in parts(mask.shape, 1):
        found = mask[key].nonzero()[0]  # np.flatnonzero takes a TypeError of a handler for its own
        part = made[end : end + found.size]
        np.add(found, key[0].start if key else 0, out=part)
        end += found.size
    return made


def contiguous(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array as a row-major one of native elements, copied in pieces."""
    native = a.dtype.newbyteorder("=")
    if a.nbytes <= _PIECE or a.flags.c_contiguous and a.dtype.isnative:
        at_once: np.ndarray[Any, Any] = np.ascontiguousarray(a, native).reshape(a.shape)
        return at_once
    made: np.ndarray[Any, Any] = np.empty(a.shape, native)
    for key in parts(a.shape, native.itemsize):
        made[key] = a[key]
    return made


def _of_numpy(a: np.ndarray[Any, Any], back: Callable[[Any], Any]) -> View:
    dtype = a.dtype
    if not dtype.isnative and dtype.kind in "iufcb":
        a = contiguous(a)
        dtype = a.dtype
    code, moved = code_of(dtype)
    size = dtype.itemsize
    try:
        at = _from_buffer(_BYTES, a)
    except (TypeError, ValueError, BufferError) as e:
        if not _native.raised(e):
            raise
        if any(s % size for s in a.strides):
            a = contiguous(a)
        at = pointer(a)
    return View(a, at, a.shape, a.strides, size, code, moved, dtype, _empty, back)


def _empty_of_torch(shape: tuple[int, ...], dtype: Any) -> Any:
    import torch

    if isinstance(dtype, str):
        dtype = next(getattr(torch, k) for k, v in _TORCH.items() if v == dtype)
    return torch.empty(shape, dtype=dtype)


@lru_cache(maxsize=64)
def _code_of_torch(dtype: Any) -> tuple[tuple[int, int], bool]:
    name = str(dtype).removeprefix("torch.")
    if name not in _TORCH:
        raise DTypeError(f"garner: a tensor of torch.{name}, which garner lacks")
    return CODES[_TORCH[name]], name == "complex32"


def _of_torch(t: Any) -> View:
    torch = sys.modules["torch"]
    if torch._C._get_tracing_state() is not None:
        raise OperatorError("garner: a tensor of torch that is traced; the trace would have the memory of the result, and no gather")
    if t.requires_grad or t.device.type != "cpu" or t.layout is not torch.strided or t.is_quantized or t.is_conj() or t.is_neg():
        for what, found in (
            ("is not on the CPU", t.device.type != "cpu"), ("is not strided", t.layout != torch.strided), ("is quantised", t.is_quantized),
            ("is conjugated by a bit", t.is_conj()), ("is negated by a bit", t.is_neg()), ("requires grad", t.requires_grad),
        ):  # fmt: skip
            if found:
                remedy = {"requires grad": "detach()", "is not on the CPU": "cpu()", "is not strided": "to_dense()"}.get(what, "clone it plain: resolve_conj(), resolve_neg() or dequantize()")
                raise OperatorError(f"garner: a tensor of torch {what}; {remedy} it first")
    code, moved = _code_of_torch(t.dtype)
    size, shape = t.element_size(), tuple(t.shape)
    strides = tuple([s * size for s in t.stride()])
    if 0 not in shape:
        end = t.storage_offset() * size + sum([(n - 1) * by for n, by in zip(shape, strides)]) + size
        try:
            held = t.untyped_storage().nbytes()
        except (NotImplementedError, RuntimeError) as e:
            if not _native.raised(e):
                raise
            raise OperatorError(f"garner: a tensor of torch that has no memory of its own, as within vmap, grad or a FakeTensorMode: {type(t).__name__}; give a plain tensor, outside of it") from None
        if end > held:
            raise ShapeError(f"garner: a tensor of torch whose elements end at byte {end} of a storage of {held}; it was resized")
    return View(t, ffi.cast("void *", t.data_ptr()), shape, strides, size, code, moved, t.dtype, _empty_of_torch, _same)


def is_torch(x: Any) -> bool:
    """Report whether x is a tensor of PyTorch."""
    return "torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor)


def plain(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array of a subclass as one of NumPy's own, where that says the same."""
    if type(x) is not np.ndarray and getattr(type(x), "mask", None) is not None:
        raise DTypeError(f"garner: a {type(x).__name__}, whose mask no gather sees; give its filled() or compressed() values, or take by numpy.take")
    return np.asarray(x)


def _missing(x: Any) -> int:
    """Return how many values a series of pandas or polars, or an array of Arrow, lacks."""
    module = type(x).__module__.partition(".")[0]
    if module == "pandas" and hasattr(x, "isna"):
        return int(np.count_nonzero(np.asarray(x.isna())))
    if module in ("polars", "pyarrow"):
        count = getattr(x, "null_count", 0)
        count = count() if callable(count) else count
        return count if isinstance(count, int) else 0
    return 0


def _refused(role: str, x: Any, a: Any = None) -> DTypeError:
    """Return the error of what is no array of numbers; a is what NumPy makes of it."""
    if missing := _missing(x):
        return DTypeError(f"garner: {role} with {missing} missing value{'s' * (missing > 1)} of {len(x)}; fill or drop them first")
    rows = role == "numbers of rows"
    remedy = "give integers" if rows or role == "indices" else "give an array of numbers"
    if isinstance(x, (str, os.PathLike)):
        remedy = remedy if role != "data" else "open a file with garner.Table, or name files to garner.gather_file"
        return DTypeError(f"garner: {role} as text, {_options.shown(os.fspath(x))}; {remedy}")
    if isinstance(x, slice):
        remedy += ", or the slice to table[slice]" if rows else ""
    elif isinstance(x, (np.ndarray, list, tuple)) and a is not None:
        remedy = "give integers" if rows or role == "indices" else "give numbers, and take strings and objects by numpy.take"
        return DTypeError(f"garner: {role} as {'an array' if isinstance(x, np.ndarray) else 'a ' + type(x).__name__} of {a.dtype}; {remedy}")
    elif is_torch(getattr(x, "weight", None)):
        remedy = "give its weight.detach()"
    elif isinstance(x, (set, frozenset, dict)):
        remedy += ", as a list or an array"
    return DTypeError(f"garner: {role} as {'None' if x is None else _article(type(x).__name__)}; {remedy}")


def _article(name: str) -> str:
    return ("an " if name[:1] in "AEIOaeio" else "a ") + name


def array(role: str, x: Any) -> np.ndarray[Any, Any]:
    """Return what NumPy makes of a list or another object."""
    try:
        return np.asarray(x)
    except ValueError as e:
        if not _native.raised(e):
            raise
        if "inhomogeneous" in str(e):
            raise ShapeError(f"garner: {role} as a {type(x).__name__} whose parts differ in length; give parts of one length, or one part at a time") from None
        raise ShapeError(f"garner: {role} as a {type(x).__name__} that is no array: {e}") from None


def view(x: Any, role: str = "data") -> View:
    """Return the view of anything that is an array, without a copy where it has memory."""
    if isinstance(x, np.ndarray):
        if x.dtype.kind in "OSUT" or x.dtype.hasobject:
            raise _refused(role, x, x)
        return _of_numpy(plain(x), _same)
    module = type(x).__module__.partition(".")[0]
    if is_torch(x):
        return _of_torch(x)
    if isinstance(x, Rows):
        raise unread(x)
    if isinstance(x, np.generic):
        return _of_numpy(np.asarray(x), _same)  # its bytes are no elements
    if module in ("jax", "jaxlib"):
        import jax.numpy as jnp

        return _of_numpy(np.asarray(x), jnp.asarray)
    if module == "pyarrow" and _missing(x):
        raise _refused(role, x)
    if hasattr(x, "__dlpack__"):
        names = getattr(x, "__array_namespace__", None)
        make = getattr(names(), "from_dlpack", None) if names else None
        return _of_numpy(np.from_dlpack(x), make or _same)
    try:
        return _of_numpy(np.asarray(memoryview(x)), _same)
    except TypeError as e:
        if not _native.raised(e):
            raise
    a = array(role, x)
    if a.dtype.kind in "OSUT" or a.dtype.hasobject or role in _WHOLE and a.dtype.kind == "f" and _missing(x):
        raise _refused(role, x, a)
    return _of_numpy(a, _same)


_WHOLE = frozenset({"indices", "numbers of rows", "offsets"})  # roles of integers, which NumPy has as floats where some are missing


def result(out: Any) -> View:
    """Return the view of what a result is written to: an array, a tensor, or what gives its memory by the buffer protocol."""
    if isinstance(out, np.ndarray) or foreign(out):
        return view(out)
    try:
        a = np.asarray(memoryview(out))
    except (TypeError, ValueError, NotImplementedError) as e:
        if not _native.raised(e):
            raise
        raise DTypeError(f"garner: out is a {type(out).__name__}, which has no memory that a result could be written to; give an array") from None
    if not a.dtype.isnative:  # what is calculated with would be a copy, and so would what is written to
        raise DTypeError(f"garner: out has elements of {a.dtype}, in the other order of bytes; give one of {a.dtype.newbyteorder('=')}")
    if any(by % a.itemsize for by, n in zip(a.strides, a.shape) if n > 1):
        raise ShapeError(f"garner: out has strides of {list(a.strides)} bytes, which are no whole elements of {a.itemsize}; give memory without gaps")
    return _of_numpy(a, _same)


@lru_cache(maxsize=256)
def _wider(dtype: np.dtype[Any]) -> Any:
    """Return the type in which garner calculates with a narrow one; None for others. NumPy's name of a type is made by Python each time."""
    return _WIDER.get(_long_name(dtype))


def operand(role: str, x: Any) -> View:
    """Return the view of an operand that is calculated with, and not only moved: indices, offsets, weights."""
    if isinstance(x, (list, tuple)):
        a = array(role, x)
        if a.dtype.kind in "OSUT":
            raise _refused(role, x, a)
        x = a.astype(np.int64) if a.size == 0 and a.dtype == np.float64 else a  # an empty list has integers
    elif isinstance(x, Rows):
        x = np.asarray(x)  # of which all is needed
    elif isinstance(x, bytes):
        raise DTypeError(f"garner: {role} of bytes; give integers, or np.frombuffer of the bytes")
    v = view(x, role)
    if isinstance(v.owner, np.ndarray) and _wider(v.owner.dtype) is not None:
        return _of_numpy(of_type(v.owner, _wider(v.owner.dtype)), v.back)
    if v.moved:
        raise DTypeError(f"garner: {role} of {v.dtype}, which garner moves and cannot calculate with; give integers, or for weights floats")
    return v


def integers(role: str, x: Any, rows: int, least: int) -> tuple[np.ndarray[Any, Any], View | None]:
    """Return numbers or a mask of any library as NumPy has them, without a copy where it has memory, and what makes a result of their kind.

    A number beyond 64 bits is outside the rows, as any other that is too large.
    """
    given = x if isinstance(x, (list, tuple)) or _options.whole(x) else None
    if given is not None:
        x = array(role, x)
        x = x.astype(np.int64) if x.size == 0 and x.dtype == np.float64 else x  # an empty list has integers
    if type(x) is np.ndarray and x.dtype.kind in "iub":
        return x, None
    if given is not None and isinstance(x, np.ndarray) and x.dtype == np.float64:
        x = np.asarray(given, object)  # as which NumPy has integers of more than 63 bits
        x = x if all(isinstance(n, int) for n in x.flat) else x.astype(np.float64)
    if isinstance(x, np.ndarray) and x.dtype.kind == "O" and x.size and all(isinstance(n, int) for n in x.flat):
        at, far = next(((at or (0,), n) for at, n in np.ndenumerate(x) if not least <= n < rows), ((0,), 0))
        if far:
            others = sum(not least <= n < rows for n in x.flat) - 1
            raise outside(at if x.ndim else (), far, 0, rows, least, others, x.size)
    v = operand(role, x)
    a = v.owner if isinstance(v.owner, np.ndarray) else v.owner.numpy()
    if a.dtype.kind not in "iub":
        raise DTypeError(f"garner: {role} of {a.dtype}; give integers")
    return a, v if foreign(x) else None


def tensor(v: View) -> tuple[Any, Any]:
    """Return a DLTensor of a view, and what must live as long."""
    t = ffi.new("DLTensor *")
    shape, strides = ffi.new("int64_t[]", v.shape), ffi.new("int64_t[]", [s // v.size for s in v.strides])
    t.data, t.ndim, t.shape, t.strides = v.pointer, len(v.shape), shape, strides
    t.device.device_type = 1
    t.dtype.code, t.dtype.bits, t.dtype.lanes = v.code[0], v.code[1], 1
    return t, (shape, strides)


class Prepared:
    """An operator that was lowered for data of one layout; it is released with its last user.

    `serves` says of which extents the indices of a run may be: 2 any, 1 all but the last, 0 those that it was lowered for.
    """

    __slots__ = ("handle", "owner", "generation", "shape", "code", "serves", "before", "after", "used", "last")

    def __init__(self, request: bytes, operands: list[View | None], threads: int = 0) -> None:
        library = _native.load()
        tensors = [None if v is None else tensor(v) for v in operands]
        given = ffi.new("DLTensor *[]", [_native.NULL if t is None else t[0] for t in tensors])
        out = _native.place_of_handle("garner_prepared *")
        failed = library.garner_prepare(request, len(request), given, len(operands), threads, out)
        if failed:
            _native.fail(failed)
        self.owner = out
        self.handle, self.generation = out.handle, _native.generation
        self.shape = tuple(out.shape[0 : out.rank])
        self.code, self.serves = (out.dtype.code, out.dtype.bits), out.serves
        self.before: tuple[int, ...] = ()  # of the shape of a take's result
        self.after: tuple[int, ...] = ()
        self.used = 0  # when, by the counter of the cache that has it
        self.last = (None if operands[1] is None else operands[1].shape, self.shape)

    def shape_of(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the result for indices of these extents."""
        known, shape = self.last
        if known == extents:
            return shape
        to = ffi.new("int64_t[]", max(len(self.shape), 1))
        failed = _native.load().garner_shape(self.handle, extents, to)
        if failed:
            _native.fail(failed)
        shape = tuple(to[0 : len(self.shape)])
        self.last = (extents, shape)  # in one step, for other threads
        return shape


def foreign(x: Any) -> bool:
    """Report whether an array is of another library than NumPy."""
    return not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__")
