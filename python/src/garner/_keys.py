"""Keys of tables, as NumPy reads them."""

from __future__ import annotations

import threading
from operator import index as operator_index
from typing import Any

import numpy as np

from . import _native, _options, _views
from ._native import DTypeError, ShapeError

_ndarray = np.ndarray
_FEW = 64  # indices that are read faster than sorted
_LONG = 1 << 20  # indices of which NumPy takes some 5 ms


def split(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the rows that a key asks for, and the key that asks an array of these rows for the same.

    The rows are a range, or a vector of int64. NumPy reads the second key, so that what stands where in a result is its own.
    Every index and the shape of every mask is checked here, before a row is read.
    """
    if sum(k is Ellipsis for k in key) > 1:
        raise ShapeError("garner: a key of a table has one Ellipsis at most")
    parts = [k if k is Ellipsis or k is None or isinstance(k, slice) else _numbers(k) for k in key]
    taken = sum(1 if isinstance(k, (int, slice)) else (k.ndim if k.dtype == bool else 1) for k in parts if k is not Ellipsis and k is not None)
    if taken > len(shape):
        raise ShapeError(f"garner: a key of {taken} axes for a table of shape {list(shape)}")
    rows: Any = range(shape[0])
    at = 0
    made: list[Any] = []
    grown: list[tuple[int, ...]] = []
    for k in parts:
        if k is Ellipsis:
            # An Ellipsis stays where it stands: by it NumPy makes an array of no axes and not a scalar.
            at += len(shape) - taken
            made.append(k)
        elif k is None:
            made.append(k)
        elif isinstance(k, slice):
            try:
                r = range(*k.indices(shape[at]))
            except TypeError as e:
                if not _native.raised(e):
                    raise
                raise DTypeError(f"garner: {k} in a key of a table; a slice has integers") from None
            rows, k = (r, slice(None)) if at == 0 else (rows, k)
            made.append(k)
            at += 1
        elif isinstance(k, int):
            n = shape[at]
            if not -n <= k < n:
                raise _views.outside((), k, at, n, -n)
            if at == 0:
                k %= n
                rows, k = range(k, k + 1), 0
            made.append(k)
            at += 1
        else:
            for a in _masked(k, at, shape) if k.dtype == bool else [_checked(k, at, shape[at])]:
                grown.append(a.shape)
                if at == 0:
                    rows, a = _distinct(a, shape[0])
                made.append(a)
                at += 1
    if any(len({g[-d] for g in grown if len(g) >= d} - {1}) > 1 for d in range(1, 1 + max(map(len, grown), default=0))):
        raise ShapeError(f"garner: indices of shapes {', '.join(str(list(g)) for g in grown)} in one key, which do not broadcast")
    return rows, tuple(made)


def _numbers(k: Any) -> Any:
    """Return a part of a key as an int, or as an array of integers or bools."""
    if isinstance(k, (bool, np.bool_)) or isinstance(k, _ndarray) and k.ndim == 0 and k.dtype == bool:
        raise DTypeError("garner: a bool is no number of a row or a column; give an integer, or a mask")
    if _options.whole(k):
        return int(k)
    if _views.foreign(k):
        raise DTypeError(f"garner: {type(k).__name__} in a key of several parts; give the numbers as an array of NumPy")
    if isinstance(k, str):
        raise DTypeError(f"garner: {_options.shown(k)} in a key of a table; give integers, slices or masks")
    if not isinstance(k, (_ndarray, list, tuple)):
        try:
            return operator_index(k)
        except TypeError as e:
            if not _native.raised(e):
                raise
    a = _views.array("a part of a key", k)
    if a.size == 0 and not isinstance(k, _ndarray):
        a = a.astype(np.int64)  # an empty list has integers
    if a.dtype in (object, np.float64) and isinstance(k, (list, tuple)):
        wide = np.asarray(k, object)  # as which NumPy has integers of more than 63 bits
        if all(type(n) is int for n in wide.flat):
            return wide
    if a.dtype.kind not in "iub":
        raise DTypeError(f"garner: {type(k).__name__} of {a.dtype} in a key of a table; give integers, slices or masks")
    return int(a) if a.ndim == 0 else a


def _checked(a: Any, axis: int, n: int) -> Any:
    """Return indices, none of them outside, as int64."""
    _views.check(a, axis, n, -n)
    return _views.of_type(a, np.int64)


def _masked(mask: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """Return the indices of a mask, an array for each axis that it has."""
    of = shape[axis : axis + mask.ndim]
    if mask.shape != of:
        raise ShapeError(f"garner: a mask of shape {list(mask.shape)} for axes of {list(of)}, from axis {axis} on")
    return (_views.places(mask),) if mask.ndim == 1 else mask.nonzero()


def _distinct(a: Any, n: int) -> tuple[Any, Any]:
    """Return each row that is asked for once, or a few as they are, and the indices among these."""
    if a.size <= _FEW:
        return np.where(a < 0, a + n, a).ravel(), np.arange(a.size).reshape(a.shape)
    if n > 8 * a.size:
        found, again = _unique(_views.counted(a, n).ravel())
        return found, again.reshape(a.shape)
    # Marked and counted, in pieces: to sort them takes longer.
    asked, places = np.zeros(n, bool), np.empty(n, np.int64)
    for key in _views.parts(a.shape, 8):
        asked[a[key]] = True
    rows = _views.places(asked)
    for key in _views.parts(rows.shape, 8):
        start = key[0].start if key else 0
        places[rows[key]] = np.arange(start, start + rows[key].size)
    made = np.empty(a.shape, np.int64)
    for key in _views.parts(a.shape, 8):
        made[key] = places[a[key]]
    return rows, made


def taken(block: Any, key: tuple[Any, ...]) -> Any:
    """Return block[key] as NumPy has it; by arrays of one shape that begin at axis 0 in pieces."""
    arrays = [k for k in key if isinstance(k, _ndarray)]
    if not arrays or arrays[0].size < _LONG or key[0] is not arrays[0] or any(k.shape != arrays[0].shape for k in arrays):
        return block[key]
    flat = [k.ravel() if isinstance(k, _ndarray) else k for k in key]

    def part(at: slice) -> Any:
        return block[tuple([k[at] if isinstance(k, _ndarray) else k for k in flat])]

    row = part(slice(0, 0))
    made = np.empty((arrays[0].size, *row.shape[1:]), block.dtype)
    each = max(_LONG * 8 // max(made.nbytes // len(made), 8), 1)
    for at in range(0, len(made), each):
        made[at : at + each] = part(slice(at, at + each))
    return made.reshape(arrays[0].shape + made.shape[1:])


def _unique(flat: Any) -> tuple[Any, Any]:
    """Return the distinct numbers in order, and where each of all is among them.

    np.unique calls functions that take a TypeError of a handler of a signal for one of their own, and go on.
    """
    order = flat.argsort() if flat.size <= _LONG else _sorted(flat)
    again, distinct = np.empty(flat.size, np.intp), []
    before, last = -1, None
    for key in _views.parts(flat.shape, 8):
        part = flat[order[key]]
        first = np.empty(part.size, bool)
        first[:1] = last is None or part[:1] != last
        np.not_equal(part[1:], part[:-1], out=first[1:])
        again[order[key]] = first.cumsum() + before
        distinct.append(part[first])
        before, last = before + distinct[-1].size, part[-1:]
    return np.concatenate(distinct), again


def _sorted(flat: Any) -> Any:
    """Return flat.argsort(), made beside this thread: it takes a second for ten million numbers, and handlers of signals run meanwhile.

    One that raises leaves it to end by itself.
    """
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(flat.argsort()), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.025)
    return made[0]
