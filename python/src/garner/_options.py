"""Options as the library has them: plain integers, bools and text, of NumPy's too, or an error that names the option."""

from __future__ import annotations

from operator import index as operator_index
from typing import Any, Iterable

import numpy as np

from ._native import OperatorError, raised

MOST = (1 << 63) - 1
CORES = (1 << 31) - 1


def whole(value: Any) -> bool:
    """Report whether a value is an integer of Python or NumPy; a timedelta64 is one by its class alone."""
    return isinstance(value, int) or isinstance(value, np.integer) and not isinstance(value, np.timedelta64)


def _of_time(value: Any) -> bool:
    """Report whether a value is of a datetime64 or a timedelta64, some of which NumPy gives as integers."""
    dtype = getattr(value, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "mM"


def integer(role: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """Return an integer of a range."""
    if whole(value) and not isinstance(value, bool):
        if least <= value <= most:
            return int(value)
        raise OperatorError(f"garner: {role}={shown(int(value))}; give an integer of {least} to {most}")
    raise OperatorError(f"garner: {role}={shown(value)}; give an integer")


def extents(role: str, value: Any) -> list[int]:
    """Return a shape, of which an extent may be -1."""
    return [integer(role, n, -1) for n in _listed(role, value, "a sequence of integers")]


def flag(role: str, value: Any) -> bool:
    """Return a bool, or the bool that 0 or 1 stands for."""
    if isinstance(value, (bool, np.bool_)) or whole(value) and value in (0, 1):
        return bool(value)
    raise OperatorError(f"garner: {role}={shown(value)}; give True or False")


def text(role: str, value: Any, remedy: str = "give text") -> str:
    """Return text."""
    if isinstance(value, str):
        if any("\ud800" <= c <= "\udfff" for c in value):
            raise OperatorError(f"garner: {role}={ascii(value)}, which has half a character: a surrogate without the other; give text of Unicode")
        return str(value)
    raise OperatorError(f"garner: {role}={shown(value)}; {remedy}")


def texts(role: str, value: Any) -> list[str]:
    """Return a list of texts, of which one may stand alone."""
    if isinstance(value, str):
        return [str(value)]
    return [text(role, v) for v in _listed(role, value, "a sequence of texts")]


def attribute(role: str, value: Any) -> Any:
    """Return an attribute of an operator as JSON has it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if whole(value):
        return integer(role, value, -MOST - 1)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (list, tuple)):
        return [attribute(role, v) for v in value]
    if isinstance(value, np.ndarray) and not _of_time(value):
        return attribute(role, value.tolist())
    try:
        return integer(role, operator_index(value), -MOST - 1)
    except TypeError as e:
        if not raised(e):
            raise
        raise OperatorError(f"garner: {role}={shown(value)}; an attribute is an integer, a list of them, a bool, a string or None") from None


def scalar(role: str, value: Any) -> Any:
    """Return one number of Python, NumPy or another library as Python has it."""
    try:
        value = value.item() if hasattr(value, "item") and not _of_time(value) else value
    except (ValueError, RuntimeError, TypeError) as e:
        if not raised(e):
            raise
        raise OperatorError(f"garner: {role}={shown(value)}; give one number") from None
    if isinstance(value, (float, complex, str)) or isinstance(value, int) and value.bit_length() <= 128:
        return value
    raise OperatorError(f"garner: {role}={shown(value)}; give a number or text")


def _listed(role: str, value: Any, remedy: str) -> Iterable[Any]:
    if not isinstance(value, (str, bytes, dict)):
        try:
            return list(value)
        except TypeError as e:
            if not raised(e):
                raise
    raise OperatorError(f"garner: {role}={shown(value)}; give {remedy}")


def shown(value: Any) -> str:
    """Return a value for a message: the begin of it where it is long."""
    try:
        text = repr(value)
    except ValueError as e:  # Python writes no integers of thousands of digits
        if not raised(e):
            raise
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
