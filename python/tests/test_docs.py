"""Docstrings in NumPy's form: every parameter, what is returned, what is raised, an example."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import garner

FUNCTIONS = [(n, getattr(garner, n)) for n in garner.__all__ if inspect.isfunction(getattr(garner, n))]
METHODS = [("Table", garner.Table), ("Table.lookup", garner.Table.lookup)]
CLASSES = [(n, getattr(garner, n)) for n in ("Array", "Explanation", "Finding", "IndexError", "ShapeError", "Table")]
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
            assert "Raises" in found or name == "answers", "it says no errors"
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
        assert all(a in thing.__annotations__ for a in listed)
