"""Operators over arrays in memory."""

from __future__ import annotations

import builtins
import itertools
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from operator import index as operator_index
from types import EllipsisType
from typing import Any, Literal, Sequence, overload

import numpy as np

from . import _native, _options, _views
from ._native import NULL, DTypeError, Error, OperatorError, OverlapError, ShapeError, ffi
from ._table import Table

# Results of up to so many elements are numpy's: a call of it costs less than one of the library. _moved has what of the
# larger takes is. Below 0 all is the library's.
SMALL = 65_536
_MOST = 256  # prepared operators that are kept

_take = np.ndarray.take
_take_along_axis = np.take_along_axis
_ndarray = np.ndarray
_empty = np.empty


def describe(operator: str) -> dict[str, Any]:
    """Return what the engine says of an operator."""
    return _described(_options.text("operator", operator, "give a name, of those of garner.operators()"))


@lru_cache(maxsize=None)
def _described(operator: str) -> dict[str, Any]:
    d: dict[str, Any] = _native.ask({"do": "operator", "op": {"name": operator}})
    d["operands"] = tuple(n for n in d["further"] if n not in d["attributes"])  # behind the indices
    return d


@dataclass(frozen=True)
class Operator:
    """What an operator takes.

    Attributes
    ----------
    name : str
    spec : str
        Where it is specified.
    shape : str
        The shape of its result, in words.
    attributes : tuple of str
        Keywords of `gather` that are attributes.
    inputs : tuple of str
        Keywords that its framework gives as inputs of the call, such as an axis.
    further : tuple of str
        Keywords that are arrays, beside data and indices.
    takes_indices : bool
    """

    name: str
    spec: str
    shape: str
    attributes: tuple[str, ...]
    inputs: tuple[str, ...]
    further: tuple[str, ...]
    takes_indices: bool


@overload
def operators() -> list[str]: ...


@overload
def operators(name: str) -> Operator: ...


def operators(name: str | None = None) -> list[str] | Operator:
    """Return the names of all operators, or what one of them takes.

    Parameters
    ----------
    name : str, optional
        One of the names; without its version it is the newest.

    Returns
    -------
    list of str or Operator
        Names such as ``"onnx.Gather-13"``, dialect by dialect.

    Raises
    ------
    garner.OperatorError
        There is no operator of this name.

    Examples
    --------
    >>> "numpy.take" in garner.operators()
    True
    >>> garner.operators("onnx.Gather").attributes
    ('axis',)
    """
    if name is None:
        return [o["name"] for o in _native.ask({"do": "operators"})]
    d = describe(name)
    return Operator(d["name"], d["spec"], d["shape"], tuple(d["attributes"]), tuple(d["inputs"]), tuple(d["further"]), d["takes_indices"])


def _fill(value: Any, of: _views.View | None = None) -> str:
    """Return a value as the text of a fill, for elements of an operand where it is known."""
    value = _options.scalar("outside", value)
    if of is not None and of.code == _views.CODES["bool"] and value in (0, 1):
        value = bool(value)
    elif of is not None and isinstance(value, bool) and of.code != _views.CODES["bool"]:
        value = int(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, complex):
        return f"{_fill(value.real)}{'' if str(value.imag).startswith('-') else '+'}{_fill(value.imag)}i"
    if isinstance(value, float) and value.is_integer() and str(value) != "-0.0":
        return str(int(value))  # which integers take, too
    return str(value)


def _behind(values: dict[str, Any], names: Sequence[str]) -> list[Any]:
    """Take the operands behind the indices out of the keywords, up to the last that was given."""
    further = [values.pop(name, None) for name in names]
    while further and further[-1] is None:
        further.pop()
    return further


def operation(
    operator: str, axis: int | None | EllipsisType, negative: str | None, outside: Any, values: dict[str, Any], names: Sequence[str]
) -> tuple[dict[str, Any], list[Any]]:
    """Return an operation as JSON has it, and the further operands, by position."""
    further = _behind(values, names)
    attributes = {k: _options.attribute(k, v) for k, v in values.items()}
    if axis is not ...:
        attributes["axis"] = _options.attribute("axis", axis)
    op: dict[str, Any] = {"name": operator, "values": attributes}
    if negative is not None:
        op["negative"] = _options.text("negative", negative, 'give "reject" or "from-end"')
    if outside is not None:
        if not isinstance(outside, str):
            op["outside"], op["fill"] = "fill", _fill(outside)
        elif outside.startswith("fill="):
            op["outside"], op["fill"] = "fill", outside[5:]
        else:
            op["outside"] = outside
    return op, further


_PLAIN = frozenset({int, str, bool, type(None), EllipsisType})


@lru_cache(maxsize=1024, typed=True)
def _request(operator: str, axis: int | None | EllipsisType, negative: str | None, outside: Any, **values: Any) -> tuple[bytes, bool]:
    """Return an operation as garner_prepare takes it, and whether it fills."""
    op, _ = operation(operator, axis, negative, outside, values, ())
    return json.dumps(op).encode(), op.get("outside") == "fill"


def gather(
    operator: str, data: Any, indices: Any = None, *, axis: int | None | EllipsisType = ..., out: Any = None,
    negative: Literal["reject", "from-end"] | None = None, outside: Any = None, threads: int = 0, **values: Any,
) -> Any:  # fmt: skip
    """Run any operator by its name.

    A call over arrays of NumPy costs some 10 to 15 µs, and some 40 µs at the first one for an operator with its attributes and a shape and strides of `data`, or, of an
    operator of tuples, another length of these. The last 256 are kept. Calls with further operands, such as offsets, are prepared anew, which costs
    those 40 µs each time. For a few rows `numpy.take` and torch's own functions are therefore faster.

    Parameters
    ----------
    operator : str
        A name of `operators`, such as ``"openvino.Gather-8"``; without a version it is the newest.
    data : array_like
        The table: an array of NumPy, PyTorch or JAX, or anything with DLPack or the buffer protocol, which is not copied. A `Table` is
        refused, which would be read whole: give ``table[:]``, look rows up by ``table[ids]``, or use `gather_file`.
    indices : array_like of integers
        The indices, of any shape that the operator takes. A `Table` of indices is read whole. None for operators that decode all of `data`.
    axis : int, optional
        The gathered axis. The default is the operator's. None is as its framework has it: NumPy and JAX take data flat.
    out : array, optional
        A row-major array of the result's type and shape, which shares no memory with an operand. An index that is refused leaves it as it was.
    negative : {"reject", "from-end"}, optional
        What a negative index means. The default is the operator's.
    outside : {"error", "zero", "clamp", "wrap"}, "fill=VALUE" or a number, optional
        What an index outside its axis means. The default is the operator's.
    threads : int, optional
        The most cores that the call takes; 0 is all.
    **values
        The operator's attributes and further operands by their names, such as ``batch_dims=1`` or ``offsets=ends``.

    Returns
    -------
    array
        Of the kind of `data`: tensor in, tensor out. It is `out` where that is given.

    Raises
    ------
    garner.IndexError
        An index outside its axis, where the operator refuses those.
    garner.ShapeError, garner.DTypeError, garner.OperatorError, garner.OverlapError
        A call that the operator does not take.

    Examples
    --------
    >>> garner.gather("openvino.Gather-8", np.array([10, 20, 30]), [0, -1, 7])
    array([10, 30,  0])
    >>> garner.gather("onnx.Gather-13", np.array([10, 20, 30]), [0, 7])
    Traceback (most recent call last):
    garner.IndexError: garner: indices[1] = 7 is outside axis 0 of data, which has -3…2
    """
    d = describe(operator)
    if threads.__class__ is not int or threads:
        threads = _options.integer("threads", threads, 0, _options.CORES)
    if values:
        _unchanged(values.pop("max_norm", None))
    further, of = _behind(values, d["operands"]), _views.view(data)
    if outside is not None and not isinstance(outside, str):
        outside = "fill=" + _fill(outside, of)
    if type(axis) in _PLAIN and type(negative) in _PLAIN and (outside is None or type(outside) is str) and _PLAIN.issuperset(map(type, values.values())):
        request, fills = _request(operator, axis, negative, outside, **values)
    else:
        request, fills = _request.__wrapped__(operator, axis, negative, outside, **values)
    if indices is None and d["takes_indices"]:
        raise OperatorError(f"garner: {operator} takes indices")
    ids = None if indices is None else _views.operand("indices", indices)
    if of.moved and (further or fills):
        raise DTypeError(f"garner: {operator} over elements of {of.dtype}, which garner moves and cannot calculate with")
    if further or ids is None:
        more = [None if f is None else _views.operand(n, f) for n, f in zip(d["operands"], further)]
        prepared = _views.Prepared(request, [of, ids, *more], threads)
        shape, layout = prepared.shape, NULL
        others = ffi.new("void *[]", [NULL if m is None else m.pointer for m in more]) if more else NULL
    else:
        prepared = _kept_for(request, of, ids, threads)
        shape, others = prepared.shape_of(ids.shape), NULL
        layout = ids.shape + ids.strides + shape
    if out is None:
        made = of.empty(shape, of.dtype if prepared.code == of.code else _views.NAMES[prepared.code])
        result, flags = _views.view(made), 1
    else:
        result, flags = _output(out, shape, prepared.code, of), 3
    library = _native.load()
    look, around = _native.looking()
    try:
        failed = library.garner_run(prepared.handle, of.pointer, NULL if ids is None else ids.pointer, layout, result.pointer, others, look, flags)
        if failed:
            _native.fail(failed)
    except BaseException as e:
        if look is not NULL:
            by, _native.kept.args = _native.kept.args, around  # no call: a handler would run at its end
            if by is not around:
                _native.ended(e, by)
        raise
    return of.back(made) if out is None else out


def _unchanged(max_norm: Any) -> None:
    """Refuse what asks for a change of the data."""
    if max_norm is not None:
        raise OperatorError("garner: max_norm changes the rows of the table, which no gather does; renormalise them first")


def _output(out: Any, shape: tuple[int, ...], code: tuple[int, int], of: _views.View) -> _views.View:
    """Return the view of an output, once it is one."""
    result = _views.result(out)
    if result.owner is not out and isinstance(out, np.ndarray) and result.pointer != _views.pointer(np.asarray(out)):
        raise ShapeError("garner: out must be a row-major array of native elements")
    if result.shape != shape:
        raise ShapeError(f"garner: out has shape {list(result.shape)}, the result {list(shape)}")
    if result.code != code or (result.moved or code == of.code and of.moved) and result.dtype != of.dtype:
        raise DTypeError(f"garner: out has elements of {result.dtype}, the result of {of.dtype if code == of.code else _views.NAMES[code]}")
    if 0 not in shape and any(n > 1 and by != want for n, by, want in zip(shape, result.strides, _row_major(shape, result.size))):
        raise ShapeError("garner: out is not row-major; gather into a new array and copy it")
    if isinstance(result.owner, np.ndarray) and not result.owner.flags.writeable:  # also bytes, and what JAX has
        raise ShapeError("garner: out is read-only")
    return result


def _row_major(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides, n = [], size
    for extent in reversed(shape):
        strides.append(n)
        n *= extent
    return tuple(reversed(strides))


# What runs an operator, by its name and attributes, the types of data and indices, data's layout and the rank of the
# indices: one serves indices of all lengths. Each step of a change is whole, without a lock: a handler of a signal may gather within one.
_kept: dict[Any, _views.Prepared] = {}
_turns = itertools.count(1)
_serves: dict[Any, int] = {}  # of operators whose indices keep some extents, as Prepared.serves has it
_from_buffer, _BYTES = _native.from_buffer, _native.BYTES


def _keep(key: Any, prepared: _views.Prepared) -> None:
    """Keep it, in the place of those that were not used for the longest time."""
    prepared.used = next(_turns)
    if len(_kept) >= _MOST:
        for k, _ in sorted(_kept.copy().items(), key=lambda item: item[1].used)[: _MOST // 4]:
            _kept.pop(k, None)
    _kept[key] = prepared


def _kept_for(request: bytes, of: _views.View, ids: _views.View, threads: int) -> _views.Prepared:
    """Return what runs a request over these, from _kept if it is there."""
    rank = len(ids.shape)
    family = (request, rank)
    key: Any = (request, threads, of.code, of.shape, of.strides, ids.code, rank)
    serves = _serves.get(family, 2)
    if serves < 2:
        key += ids.shape[-1:] if serves else ids.shape
    found = _kept.get(key)
    if found is not None and found.generation == _native.generation:
        found.used = next(_turns)
        return found
    made = _views.Prepared(request, [of, ids], threads)
    if made.serves < serves:
        if len(_serves) >= 4 * _MOST:
            _serves.clear()
        _serves[family] = made.serves
        key = key[:7] + (ids.shape[-1:] if made.serves else ids.shape)
    _keep(key, made)
    return made


def _prepare(key: Any, name: str, a: Any, indices: Any, axis: Any, mode: Any) -> _views.Prepared | None:
    """Return what runs these; None where they are numpy's."""
    if not _ours(a, indices) or axis is None and indices.ndim == 0:  # of which numpy makes a scalar
        return None
    values: dict[str, Any] = {"axis": axis}
    if mode is not None:
        values["mode"] = mode
    try:
        made = _views.Prepared(json.dumps({"name": name, "values": values}).encode(), [_views.view(a), _views.view(indices)])
    except (ShapeError, DTypeError, OperatorError) as e:
        if not _native.raised(e):
            raise
        return None  # numpy has words for it, or does it
    if made.serves < 2:
        return None
    if mode is not None and axis is not None:
        made.before, made.after = a.shape[:axis], a.shape[axis % a.ndim + 1 :]
    _keep(key, made)
    return made


def _run(name: str, a: Any, indices: Any, axis: int | None, mode: str | None, out: Any) -> Any:
    """Run take or take_along_axis of NumPy by the library; NotImplemented where the call is numpy's."""
    if axis.__class__ is not int and axis is not None:
        if isinstance(axis, (bool, np.bool_)) or not hasattr(axis, "__index__"):
            return NotImplemented
        axis = operator_index(axis)
    if mode.__class__ is not str and mode is not None:
        return NotImplemented
    dtype, shape = a.dtype, indices.shape
    key = (name, axis, mode, dtype, a.shape, a.strides, indices.dtype, len(shape))
    prepared = _kept.get(key)
    if prepared is None or prepared.generation != _native.generation:
        prepared = _prepare(key, name, a, indices, axis, mode)
        if prepared is None:
            return NotImplemented
    else:
        prepared.used = next(_turns)
    if mode is not None:
        made = prepared.before + shape + prepared.after
    else:
        try:
            made = prepared.shape_of(shape)
        except ShapeError as e:
            if not _native.raised(e):
                raise
            return NotImplemented
    flags = 0 if _allocated(a) and _allocated(indices) and (out is None or _allocated(out)) else 1
    if out is None:
        out = _empty(made, dtype)
        to = _from_buffer(_BYTES, out)
    else:
        if type(out) is not _ndarray or out.shape != made or out.dtype != dtype:
            return NotImplemented
        try:
            to = _from_buffer(_BYTES, out, True)
        except (TypeError, ValueError, BufferError) as e:
            if not _native.raised(e):
                raise
            if not out.flags.c_contiguous or not out.flags.writeable:
                return NotImplemented
            to = _views.pointer(out)
        if mode == "raise":
            flags |= 2  # as numpy has it, which buffers: a bad index leaves out as it was
    try:
        of = _from_buffer(_BYTES, a)
    except (TypeError, ValueError, BufferError) as e:
        if not _native.raised(e):
            raise
        of = _views.pointer(a)  # strides, or a type that the buffer protocol lacks
    try:
        ids = _from_buffer(_BYTES, indices)
    except (TypeError, ValueError, BufferError) as e:
        if not _native.raised(e):
            raise
        size = indices.itemsize
        if any(s % size for s in indices.strides):
            return NotImplemented
        ids = _views.pointer(indices)
    look, around = _native.looking()
    try:
        failed = _native.lib.garner_run(prepared.handle, of, ids, shape + indices.strides + made, to, NULL, look, flags)
        if failed:
            _native.fail(failed)
    except BaseException as e:
        if look is not NULL:
            by, _native.kept.args = _native.kept.args, around  # as in gather
            if by is not around:
                _native.ended(e, by)
        raise
    return out


def _allocated(a: Any) -> bool:
    """Report whether NumPy allocated an array's memory: it is then of no mapped file."""
    base = a.base
    return base is None or type(base) is _ndarray and base.base is None


def _ours(a: Any, indices: Any) -> bool:
    """Report whether the library moves these: plain arrays of native elements, and integers."""
    if indices.dtype.kind not in "iu" or a.dtype.hasobject:
        return False
    size = a.dtype.itemsize
    if size not in _views._WIDTHS or not a.dtype.isnative or not indices.dtype.isnative or indices.dtype == np.uint64:
        return False
    if a.ndim == 0 or indices.ndim == 0 and a.ndim == 1 or a.dtype.kind in "SUVT":
        return False
    return not (any(s % size for s in a.strides) or any(s % indices.dtype.itemsize for s in indices.strides))


def _moved(a: Any, indices: Any, axis: Any, mode: Any, out: Any) -> bool:
    """Report whether the library takes more than SMALL elements faster than numpy does (docs/kernels.md)."""
    if SMALL < 0:
        return True
    each: int = 1 if axis is None else prod(a.shape[axis:][1:])  # elements in a row
    wide: bool = each * a.itemsize >= 64
    n = _size(a, indices, axis)
    size: int = n * a.itemsize
    far: bool = a.nbytes > 32 << 20  # beyond the caches
    buffered: bool = out is not None and mode == "raise"  # numpy fills a buffer of its own first
    if buffered and wide and size >= 1 << 18:
        return True
    if each == 1:
        return n >= (1 << 18 if far else 1 << 19) and _cores() > 1
    if buffered:
        short: bool = each * a.itemsize < (64 if far else 16)
        return size >= (1 << 18 if not short else 2 << 20 if far else 4 << 20) and _cores() > 1
    return size >= (4 << 20 if far else 16 << 20) and _cores() > 1


def _size(a: Any, indices: Any, axis: Any) -> int:
    """Return the elements of a result."""
    n: int = indices.size * (1 if axis is None else a.size // (a.shape[axis] or 1))
    return n


def _rows_whole(a: Any, axis: Any) -> bool:
    """Report whether the elements of a row follow each other in memory, at least 64 bytes of them."""
    if axis is None:
        return False
    row = a[(0,) * (axis % a.ndim + 1)]
    return row.nbytes >= 64 and bool(row.flags.c_contiguous)


def _cores() -> int:
    """Return how many cores this process may use now. One alone is no faster than numpy, but for long rows that numpy buffers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> Any:
    """Take elements along an axis, as `numpy.take` does.

    Scalars, strings, objects, subclasses of ndarray and whatever NumPy converts first are NumPy's own, and so are results for which
    NumPy is as fast. garner's are single elements from 524,288 on, or 262,144 where `a` has more than 32 MiB; and rows from 16 MiB on, or 4 MiB
    where `a` has more than 32 MiB. With `out` and the mode raise, for which NumPy fills a buffer first, rows are garner's from 256 KiB and 65,537
    elements on, those below 16 bytes from 4 MiB, and those below 64 bytes of such a large `a` from 2 MiB.
    These run on all cores once they take longer than about a millisecond, and a signal such as that of Ctrl-C ends them. In a process of one core all are NumPy's, but rows
    of 64 bytes or more with `out` and the mode raise. A strided `a` of which the result has more than an eighth is copied first, as NumPy copies it,
    unless its rows lie whole in memory.

    With the mode wrap the indices are looked at first, in some 0.1 ns each: NumPy's loop for one far outside does not end in time. Takes of single elements then
    cost up to 1.25 times NumPy's; a few rows cost some 0.5 µs more.

    A call of garner costs some 3 µs more than one of NumPy, and some 40 µs at the first one for a shape and strides of `a`, whatever the
    number of indices; docs/kernels.md has the figures. A call that is handed to NumPy costs 0.3 µs more than NumPy's own.

    With `out` and the mode raise, the indices are looked at first, in about a third of a nanosecond each: a bad one leaves `out` as it was.

    Parameters
    ----------
    a : array_like
        The table, of any shape.
        A `Table` gives its rows by axis 0 and the mode raise, as ``table[indices]``, and no others are read; another axis or mode, or `out`, is refused.
    indices : array_like of integers
        Positions along `axis`.
    axis : int, optional
        The axis; None takes from the flattened array.
    out : ndarray, optional
        An array for the result, of its shape. A bad index leaves it as it was.
    mode : {"raise", "wrap", "clip"}
        What an index outside means, as in NumPy.

    Returns
    -------
    array
        Of shape ``a.shape[:axis] + indices.shape + a.shape[axis+1:]``, of the kind of `a`.

    Raises
    ------
    garner.IndexError
        An index outside, with ``.position``, ``.value``, ``.axis`` and ``.dim``.

    Examples
    --------
    >>> garner.take([10, 20, 30], [2, -1])
    array([30, 30])
    """
    again = False
    try:
        if type(a) is _ndarray and type(indices) is _ndarray and (out is None or isinstance(out, _ndarray)):
            n = indices.size
            if type(axis) is not int and axis is not None:
                if isinstance(axis, (bool, np.bool_)) or not hasattr(axis, "__index__"):
                    return _take(a, indices, axis, out, mode)  # which refuses it
                axis = operator_index(axis)
            if axis is not None and n <= SMALL:
                n *= a.size // (a.shape[axis] or 1)
            if n > SMALL >= 0 and not a.flags.c_contiguous and 8 * _size(a, indices, axis) > a.size and not _rows_whole(a, axis):
                a = _views.contiguous(a)  # as numpy does: one pass over a costs less than strides for each element of the result
            if n > SMALL and _moved(a, indices, axis, mode, out):
                result = _run("numpy.take", a, indices, axis, mode, out)
                if result is not NotImplemented:
                    return result
            return _take(a, _wrapped(a, indices, axis) if mode == "wrap" else indices, axis, out, mode)
    except builtins.IndexError as e:
        if isinstance(e, _native.IndexError) or e.args == (_EMPTY,) or not _native.raised(e):
            raise
        _explain(e, "numpy.take", a, indices, axis, mode)
        again = True
    except OverlapError as e:  # out of a's own memory is numpy's, which copies first
        if not _native.raised(e):
            raise
        again = True
    if again:
        return _take(a, indices, axis, out, mode)  # in its words
    if isinstance(a, Table):
        return _rows_of(a, indices, axis, out, mode)
    if _views.foreign(a) or out is not None and not isinstance(out, _ndarray):
        values: dict[str, Any] = {"axis": axis, "mode": mode}
        return gather("numpy.take", a, indices, out=out, **values)
    try:
        if type(a) is not _ndarray and isinstance(a, _ndarray) or type(indices) is not _ndarray and isinstance(indices, _ndarray):
            if mode == "wrap" and isinstance(a, _ndarray) and isinstance(indices, _ndarray):
                indices = _wrapped(a, indices, axis)
            return _numpy_take(a, indices, axis, out, mode)
        return take_plain(a, indices, axis, out, mode)
    except builtins.IndexError as e:
        if not isinstance(e, _native.IndexError) and e.args != (_EMPTY,) and _native.raised(e):
            _explain(e, "numpy.take", a, indices, axis, mode)
        raise


_numpy_take = np.take


def _rows_of(table: Table, indices: Any, axis: Any, out: Any, mode: Any) -> Any:
    """Take rows of a table in a file."""
    along = table.ndim == 1 if axis is None else _options.integer("axis", _options.attribute("axis", axis), -_options.MOST) in (0, -table.ndim)
    if not along or mode != "raise" or out is not None:
        raise _views.unread(table)
    ids, back = _views.integers("indices", indices, len(table), -len(table))
    if ids.dtype.kind == "b":
        raise DTypeError("garner: indices of bool; give integers, or the mask to table[mask]")
    return table[ids if back is None else indices]


_STEPS = 1 << 26  # of numpy's loop, which take some 30 ms
_int64, _uint64 = np.dtype(np.int64), np.dtype(np.uint64)
_EMPTY = "cannot do a non-empty take from an empty axes."  # as numpy says it, where it does not go on for ever


def _wrapped(a: Any, indices: Any, axis: Any) -> Any:
    """Return indices of which numpy wraps each in some steps: it subtracts the extent until one is inside, where no signal ends it."""
    dtype, n = indices.dtype, indices.size
    if dtype.kind not in "iu" or n == 0:
        return indices
    dim = a.size if axis is None else a.shape[axis]
    if dim == 0:
        raise builtins.IndexError(_EMPTY)
    most = 64 * dim
    if dtype.itemsize < 8 and n * ((1 << 8 * dtype.itemsize) // dim) < _STEPS:
        return indices
    if n >= 2048 and dtype == _int64:  # one pass: negative ones are large
        plain = indices.view(_uint64)
        if plain.item(plain.argmax()) < most:
            return indices
    # argmax costs a fifth of max for a few indices, and as much for many
    if indices.item(indices.argmax()) < most and indices.item(indices.argmin()) >= -most:
        return indices
    made = _views.of_type(indices, np.intp)
    for key in _views.parts(made.shape, 8):
        made[key] %= dim
    return made


def take_plain(a: Any, indices: Any, axis: Any, out: Any, mode: Any) -> Any:
    """Take from what NumPy makes an array of."""
    if not isinstance(a, (_ndarray, list, tuple, int, float, complex, np.generic)):
        return _numpy_take(a, indices, axis, out, mode)
    array, ids = np.asarray(a), np.asarray(indices)
    if type(array) is _ndarray and type(ids) is _ndarray and ids.dtype.kind in "iu":
        return take(array, ids, axis, out, mode)
    return _numpy_take(a, indices, axis, out, mode)


def _explain(e: builtins.IndexError, name: str, a: Any, indices: Any, axis: Any, mode: Any) -> None:
    """Raise garner's error for NumPy's, where garner refuses the call too, whatever the elements are."""
    ids = np.asarray(indices)
    if ids.dtype.kind not in "iu":
        return
    shape = a.shape if isinstance(a, _ndarray) else np.asarray(a).shape
    every = _every(shape, np.dtype(np.int8))
    values: dict[str, Any] = {"axis": axis} if mode is None else {"axis": axis, "mode": mode}
    try:
        gather(name, every, ids, **values)
    except _native.IndexError as told:
        raise told from None
    except (Error, MemoryError) as told:
        if not _native.raised(told):
            raise


def _every(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array of one element that stands for all: np.broadcast_to takes a TypeError of a handler for one of its own."""
    return _ndarray(shape, dtype, bytes(dtype.itemsize), strides=(0,) * len(shape))


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Take one element per index along an axis, as `numpy.take_along_axis` does.

    Calls with up to 65,536 indices, and of subclasses, strings and objects, are NumPy's own. A call of garner costs as much as one of `take`.
    Results have the order of transposed indices where these are in Fortran order, and are row-major elsewhere.

    Parameters
    ----------
    arr : array_like
        The source. A `Table` is refused, as in `gather`.
    indices : array_like of integers
        Of the rank of `arr`; extents off the axis equal those of `arr`, or are 1.
    axis : int or None
        The axis; None flattens `arr`.

    Returns
    -------
    array
        Of the shape of `indices`, broadcast to `arr` off the axis, of the kind of `arr`.

    Raises
    ------
    garner.IndexError
        An index outside.

    Examples
    --------
    >>> garner.take_along_axis(np.array([[1, 2], [3, 4]]), np.array([[0], [1]]), axis=1)
    array([[1],
           [4]])
    """
    if isinstance(arr, Table):
        raise _views.unread(arr)
    if _views.foreign(arr):
        return gather("numpy.take_along_axis", arr, indices, axis=axis)
    if type(arr) is _ndarray and type(indices) is _ndarray and indices.size > SMALL and arr.size:
        of, ids, turned = arr, indices, False
        if type(axis) is int and -arr.ndim <= axis < arr.ndim and indices.ndim == arr.ndim and indices.flags.f_contiguous and not indices.flags.c_contiguous:
            # A result in the order of the indices, which is numpy's too, is written in one pass.
            of, ids, axis, turned = arr.T, indices.T, arr.ndim - 1 - axis % arr.ndim, True
        result = _run("numpy.take_along_axis", of, ids, axis, None, None)
        if result is not NotImplemented:
            return result.T if turned else result
        axis = arr.ndim - 1 - axis if turned and axis is not None else axis
    try:
        return _take_along_axis(arr, indices, axis)
    except builtins.IndexError as e:
        if isinstance(arr, _ndarray) and isinstance(indices, _ndarray) and indices.ndim == arr.ndim and _native.raised(e):
            _explain(e, "numpy.take_along_axis", arr, indices, axis, None)
        raise


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, out: Any = None) -> Any:
    """Take slices at index tuples, as ``tf.gather_nd`` does.

    Parameters
    ----------
    params : array_like
        The table, as `gather` takes it: no `Table`.
    indices : array_like of integers
        Tuples along the last axis, each of which addresses the axes of `params` after the first `batch_dims`.
    batch_dims : int
        How many leading axes both operands share.
    out : array, optional
        A row-major array for the result.

    Returns
    -------
    array
        Of shape ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``.

    Raises
    ------
    garner.IndexError
        An index that is negative or outside its axis.

    Examples
    --------
    >>> garner.gather_nd(np.array([[1, 2], [3, 4]]), [[0, 0], [1, 0]])
    array([1, 3])
    """
    return gather("tensorflow.gather_nd", params, indices, out=out, batch_dims=batch_dims)


def _gradients(name: str, scale_grad_by_freq: bool, sparse: bool) -> None:
    """Refuse what asks for another gradient than the default."""
    for option, value in (("scale_grad_by_freq", scale_grad_by_freq), ("sparse", sparse)):
        if _options.flag(option, value):
            raise OperatorError(f"garner: {option} of {name} is for gradients, which garner has none of; leave it out")


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False, *, out: Any = None,
) -> Any:  # fmt: skip
    """Take rows of an embedding, as ``torch.nn.functional.embedding`` does, with its parameters in its order.

    Parameters
    ----------
    input : array_like of integers
        Row numbers, of any shape.
    weight : array_like
        The table, of shape [rows, width]. Of a `Table` the rows are looked up by ``weight.lookup``, and no others are read.
    padding_idx : int, optional
        Taken for its callers: it affects the gradient alone.
    max_norm : None
        Refused: it changes the table.
    norm_type : float
        Of no effect without `max_norm`.
    scale_grad_by_freq, sparse : False
        Refused: they are for gradients.
    out : array, optional
        A row-major array for the result.

    Returns
    -------
    array
        Of shape ``input.shape + [width]``, of the kind of `weight`; of a `Table`, what its lookup gives.

    Raises
    ------
    garner.IndexError
        A number that is negative or not below the number of rows.

    Examples
    --------
    >>> garner.embedding([1, 1], np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[3., 4.],
           [3., 4.]])
    """
    _gradients("embedding", scale_grad_by_freq, sparse)
    if isinstance(weight, Table):
        _unchanged(max_norm)
        if input is None:
            raise OperatorError("garner: torch.embedding takes indices")
        _views.code_of(weight.dtype)  # which refuses strings
        request, _ = _request.__wrapped__("torch.embedding", ..., None, None, padding_idx=padding_idx)
        of, ids = _views.view(_every(weight.shape, weight.dtype)), _views.operand("indices", input)
        _kept_for(request, of, ids, 0)  # which refuses what the operator refuses, but for the numbers
        return weight.lookup(ids.owner if isinstance(input, (list, tuple, Table)) else input, out)
    return gather("torch.embedding", weight, input, out=out, padding_idx=padding_idx, max_norm=max_norm)


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
    mode: Literal["sum", "mean", "max"] = "mean", sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = None, *, out: Any = None,
) -> Any:  # fmt: skip
    """Reduce bags of rows of an embedding, as ``torch.nn.functional.embedding_bag`` does, with its parameters in its order.

    It adds in torch's order, for torch's bits. For sums and means torch is faster: for bags of 10 rows of f32 1.4 to 4 times on two cores, of bf16 and f16 up to
    13 times. For the greatest garner is 4 times faster or more.

    Parameters
    ----------
    input : array_like of integers
        Row numbers: a matrix of one bag a row, or a vector of which `offsets` says where each bag begins.
    weight : array_like
        The table, of shape [rows, width], as `gather` takes it: no `Table`.
    offsets : array_like of integers, optional
        The first term of each bag.
    max_norm : None
        Refused: it changes the table.
    norm_type : float
        Of no effect without `max_norm`.
    scale_grad_by_freq : False
        Refused: it is for gradients.
    mode : {"sum", "mean", "max"}
        What is made of the terms.
    sparse : False
        Refused, too.
    per_sample_weights : array_like, optional
        A factor for each term, of the type of `weight`.
    include_last_offset : bool
        Whether `offsets` has the end of the last bag too.
    padding_idx : int, optional
        Terms of this row are left out.
    out : array, optional
        A row-major array for the result.

    Returns
    -------
    array
        Of shape [bags, width], of the kind of `weight`.

    Raises
    ------
    garner.IndexError
        A number that is negative or not below the number of rows.

    Examples
    --------
    >>> garner.embedding_bag([0, 1, 1], np.array([[1.0, 2.0], [3.0, 4.0]]), [0, 1], mode="sum")
    array([[1., 2.],
           [6., 8.]])
    """
    _gradients("embedding_bag", scale_grad_by_freq, sparse)
    return gather(
        "torch.embedding_bag", weight, input, out=out, mode=mode, offsets=offsets, per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset, padding_idx=padding_idx, max_norm=max_norm,
    )  # fmt: skip


def answers(data: Any, indices: Any, *, axis: int | None = None, **values: Any) -> dict[str, Any]:
    """Ask every operator what it answers to the same operands.

    Operators that do not take these operands, by their types, their ranks or what they need besides, are left out.

    Parameters
    ----------
    data, indices : array_like
        As `gather` takes them: no `Table` as data.
    axis : int, optional
        For the operators that have an axis.
    **values
        Attributes, for the operators that have them.

    Returns
    -------
    dict of str to array or garner.Error
        The result of each operator by its name, or the error by which it refuses the call.

    Raises
    ------
    garner.OperatorError
        No operator takes these operands, or none has one of the attributes.

    Examples
    --------
    >>> a = garner.answers(np.array([1, 2, 3]), np.array([0, -1, 7]))
    >>> a["openvino.Gather-8"]
    array([1, 3, 0])
    >>> a["onnx.Gather-13"].value
    7
    """
    if isinstance(data, Table):
        raise _views.unread(data)
    found: dict[str, Any] = {}
    all_ = _native.ask({"do": "operators"})
    unknown = set(values) - {n for d in all_ for part in ("attributes", "inputs", "further") for n in d[part]}
    if unknown:
        raise OperatorError(f"garner: {', '.join(sorted(unknown))}: no operator has it; garner.operators(NAME) tells what one takes")
    refused = ""
    for d in all_:
        if not d["takes_indices"] or "offset_dims" in d["attributes"] and "offset_dims" not in values:
            continue  # windows need their dimension numbers
        names = set(d["attributes"]) | set(d["inputs"]) | set(d["further"])
        given = {k: v for k, v in values.items() if k in names}
        if axis is not None and ("axis" in names or "dim" in names):
            given["axis"] = axis
        try:
            found[d["name"]] = gather(d["name"], data, indices, **given)
        except (DTypeError, OperatorError) as e:
            if not _native.raised(e):
                raise
            refused = refused or f"{d['name']}: {e}"
        except ShapeError as e:
            if not _native.raised(e):
                raise
            if e.kind not in ("rank", ""):
                found[d["name"]] = e
            else:
                refused = refused or f"{d['name']}: {e}"
        except _native.IndexError as e:
            if not _native.raised(e):
                raise
            found[d["name"]] = e
    if not found:
        raise OperatorError(f"garner: no operator takes these operands; {refused}")
    return found
