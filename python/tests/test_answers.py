"""garner.answers beside what the page of "garner play" answers to the same calls, operator by operator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garner
from garner import _views
from garner._ops import describe

CALLS = [json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text().splitlines()]
CLASSES = {"index-out-of-range": garner.IndexError}


def value(text: str) -> Any:
    return json.loads(text.replace("Inf", "Infinity").replace("-NaN", "NaN"))


def lacks(name: str, call: Any) -> bool:
    d = describe(name)
    names = {*d["attributes"], *d["inputs"]}
    return call["axis"] is not None and not names & {"axis", "dim"} or call["batch_dims"] is not None and "batch_dims" not in names


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_the_page_answers_the_same(number: int) -> None:
    call = CALLS[number]
    data = np.array(json.loads(call["data"]), _views.numpy_dtype(call["dtype"]))
    indices = np.array(json.loads(call["indices"]), _views.numpy_dtype(call["index_dtype"]))
    values = {} if call["batch_dims"] is None else {"batch_dims": call["batch_dims"]}
    got = garner.answers(data, indices, axis=call["axis"], **values)
    want = {name: (group, error) for group in call["answers"] for name, error in group["operators"].items()}
    assert not set(want) - set(got)
    for name in set(got) - set(want):
        # The page asks no operator that lacks the call's axis or batch dims, and no bags without their ends; answers
        # gives each attribute to the operators that have it.
        assert lacks(name, call) or "bag" in name.lower(), name
    for name, (group, error) in want.items():
        answer = got[name]
        if error:
            assert str(answer) == f"garner: {error}", name
            assert isinstance(answer, CLASSES.get(group["class"], garner.ShapeError)), name
        else:
            plain = np.array(value(group["values"]), _views.numpy_dtype(group["dtype"])).reshape(group["shape"])
            assert isinstance(answer, np.ndarray) and answer.dtype == plain.dtype and answer.shape == plain.shape, name
            np.testing.assert_array_equal(answer, plain, name)


def test_the_calls_are_of_every_kind() -> None:
    classes = {g["class"] for c in CALLS for g in c["answers"]}
    assert "index-out-of-range" in classes and "" in classes and len(classes) > 2
    assert len({name for c in CALLS for g in c["answers"] for name in g["operators"]}) > 35
    assert sum(len(g["operators"]) for c in CALLS for g in c["answers"]) > 1000
