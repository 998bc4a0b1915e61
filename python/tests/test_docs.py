"""Docstrings in NumPy's form: every parameter, what is returned, what is raised, an example."""

from __future__ import annotations

import errno
import inspect
import multiprocessing
import pickle
import re
from typing import Any

import pytest

import garner
from garner import _native

FUNCTIONS = [(n, getattr(garner, n)) for n in garner.__all__ if inspect.isfunction(getattr(garner, n))]
METHODS = [("Table", garner.Table), ("Table.lookup", garner.Table.lookup)]
CLASSES = [(n, getattr(garner, n)) for n in ("Array", "Explanation", "Finding", "IndexError", "Operator", "ShapeError", "Table")]
ORDER = ["Parameters", "Attributes", "Returns", "Raises", "Examples"]


def sections(thing: Any) -> dict[str, str]:
    text = inspect.cleandoc(thing.__doc__ or "")
    parts = re.split(r"^([A-Z]\w+)\n(-+)\n", text, flags=re.M)
    found = {}
    for title, line, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        assert len(title) == len(line), title
        found[title] = body
    assert list(found) == [t for t in ORDER if t in found], f"sections {list(found)}"
    assert parts[0].strip().splitlines()[0].endswith(".")
    return found


def named(body: str) -> list[str]:
    names: list[str] = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            names += [n.strip().lstrip("*") for n in line.partition(" : ")[0].split(",")]
    return names


@pytest.mark.parametrize(("name", "thing"), FUNCTIONS + METHODS, ids=lambda x: x if isinstance(x, str) else "")
def test_parameters(name: str, thing: Any) -> None:
    parameters = [p for p in inspect.signature(thing).parameters if p not in ("self", "_table")]
    found = sections(thing)
    assert named(found.get("Parameters", "")) == parameters
    if not inspect.isclass(thing):
        assert found["Returns"].strip()
        if parameters:
            assert "Raises" in found, "it says no errors"
    if name not in ("lint", "Table.lookup"):
        assert ">>> " in found["Examples"]


@pytest.mark.parametrize(("name", "thing"), CLASSES, ids=lambda x: x if isinstance(x, str) else "")
def test_attributes(name: str, thing: Any) -> None:
    listed = named(sections(thing)["Attributes"])
    assert listed
    fields = getattr(thing, "__dataclass_fields__", None)
    if fields is not None:
        assert listed == list(fields)
    else:
        assert all(a in thing.__annotations__ or isinstance(getattr(thing, a, None), property) for a in listed)


def test_no_name_hides_one_of_python() -> None:
    import builtins

    assert not set(garner.__all__) & set(dir(builtins))
    assert garner.IndexError is not builtins.IndexError and garner.FileNotFoundError is not builtins.FileNotFoundError


def raised() -> list[garner.Error]:
    found: list[garner.Error] = []
    for kind in {*_native._CLASSES.values(), garner.FileNotFoundError}:
        e = kind("garner: words")
        if isinstance(e, garner.IndexError):
            e.position, e.value, e.axis, e.dim = (1, 2), 7, 0, 5
        if isinstance(e, garner.ShapeError):
            e.kind = "rank"
        found.append(e)
    return [*found, garner.FileNotFoundError(2, "garner: no such file", "/a"), garner.FileError(5, "garner: it cannot be read", "/a")]


def test_each_error_is_public_and_travels() -> None:
    for e in raised():
        kind = type(e)
        assert kind.__module__ == "garner" and getattr(garner, kind.__name__) is kind and kind.__qualname__ == kind.__name__
        again = pickle.loads(pickle.dumps(e))
        assert type(again) is kind and str(again) == str(e) and again.args == e.args and vars(again) == vars(e)
        if isinstance(e, OSError) and isinstance(again, OSError):
            assert (again.errno, again.filename) == (e.errno, e.filename)


def _table(path: str) -> object:
    return garner.Table(path)


def test_a_missing_file_of_a_worker_is_an_error_here() -> None:
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool, pytest.raises(garner.FileNotFoundError) as e:
            pool.apply_async(_table, ("/nowhere/at/all.npy",)).get(60)
        assert e.value.errno == errno.ENOENT and e.value.filename == "/nowhere/at/all.npy"
