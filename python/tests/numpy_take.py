"""A plugin of pytest for NumPy's own tests: reports every outcome, and puts garner in the place of NumPy's takes.

GARNER_REPORT names the file of the report, one JSON object a line. With GARNER_TAKES=1 np.take, np.take_along_axis and the
method take of np.ndarray are garner's, whose hand-over of small results to NumPy is switched off, and the report ends with
the numbers of takes that garner answered and of those that it left to NumPy, by reason. The command test-numpy runs both.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import gc
import json
import os
import sys
from typing import Any

import numpy as np
import pytest

answered: collections.Counter[str] = collections.Counter()
left: collections.Counter[str] = collections.Counter()
_outcomes: list[dict[str, str]] = []


def why(a: Any, indices: Any, out: Any) -> str:
    """Return the first reason for which a call is left to NumPy."""
    if type(a) is not np.ndarray:
        return "a is a subclass of ndarray" if isinstance(a, np.ndarray) else f"a is of {type(a).__module__}.{type(a).__name__}"
    if isinstance(indices, np.ndarray) and type(indices) is not np.ndarray:
        return "indices are of a subclass of ndarray"
    if a.dtype.hasobject or a.dtype.kind in "OSUTV":
        return "a has objects, text or records"
    if a.dtype.itemsize > 16:
        return "elements of a have more than 16 bytes"
    if not a.dtype.isnative:
        return "a has another byte order"
    try:
        i = np.asarray(indices)
    except Exception:
        return "indices are no array"
    if i.dtype.kind not in "iu" or i.dtype == np.uint64:
        return "indices are bool, float, text or uint64"
    if a.ndim == 0 or i.ndim == 0 and a.ndim == 1:
        return "a or the result is a scalar"
    if any(s % x.dtype.itemsize for x in (a, i) for s in x.strides):
        return "strides are of part elements"
    if out is not None:
        return "out is of another type or layout than the result"
    return f"no reason: {a.dtype} {a.shape} {a.strides}, {i.dtype} {i.shape}"


def replace() -> None:
    """Put garner's functions where NumPy's were."""
    import garner
    from garner import _ops

    assert _ops.SMALL > 0
    _ops.SMALL = -1  # garner answers what it can
    take, along = _ops.take, _ops.take_along_axis
    old_take, old_along, old_method = np.take, np.take_along_axis, np.ndarray.take
    assert _ops._take is old_method and _ops._numpy_take is old_take and _ops._take_along_axis is old_along
    numpys = [0]  # calls of NumPy by garner

    def back(f: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            numpys[0] += 1
            return f(*given, **named)

        return call

    for name in ("_take", "_numpy_take", "_take_along_axis"):
        setattr(_ops, name, back(getattr(_ops, name)))

    def count(name: str, before: int, a: Any, indices: Any, out: Any) -> None:
        if numpys[0] == before:
            answered[name] += 1
        elif sys.exc_info()[0] is not None:
            left["the call is an error, which NumPy words"] += 1
        else:
            left[why(a, indices, out)] += 1

    @functools.wraps(old_take)
    def np_take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        before = numpys[0]
        try:
            return take(a, indices, axis, out, mode)
        finally:
            count("np.take", before, a, indices, out)

    @functools.wraps(old_along)
    def np_along(arr: Any, indices: Any, axis: Any = -1) -> Any:
        before = numpys[0]
        try:
            return along(arr, indices, axis)
        finally:
            count("np.take_along_axis", before, arr, indices, None)

    @functools.wraps(old_method)
    def method(self: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        if type(self) is not np.ndarray:
            left[why(self, indices, out)] += 1
            return old_method(self, indices, axis, out, mode)
        before = numpys[0]
        try:
            return take(self, indices, axis, out, mode)
        finally:
            count("ndarray.take", before, self, indices, out)

    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").partition(".")[0] == "numpy":
            for old, new in ((old_take, np_take), (old_along, np_along)):
                for name in [k for k, v in vars(module).items() if v is old]:
                    setattr(module, name, new)
    gc.get_referents(np.ndarray.__dict__)[0]["take"] = method
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(np.ndarray))
    assert np.arange(3).take([1]).tolist() == [1] and answered == {"ndarray.take": 1}, "ndarray.take is still NumPy's"
    assert np.take(np.arange(3), np.array([1])).tolist() == [1] and answered["np.take"] == 1, "np.take is still NumPy's"
    answered.clear()
    left.clear()


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("GARNER_TAKES"):
        import numpy.lib.tests.test_shape_base  # the modules that the tests have NumPy's functions from
        import numpy.ma.extras  # noqa: F401

        replace()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        text = "" if outcome != "failed" else report.longreprtext
        _outcomes.append({"test": report.nodeid, "when": str(report.when), "outcome": outcome, "text": text})


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _outcomes.append({"test": report.nodeid, "when": "collect", "outcome": "failed", "text": report.longreprtext})


def pytest_sessionfinish() -> None:
    path = os.environ.get("GARNER_REPORT")
    if not path:
        return
    with open(path, "w") as f:
        for o in _outcomes:
            print(json.dumps(o), file=f)
        print(json.dumps({"answered": dict(answered), "left": dict(left)}), file=f)
