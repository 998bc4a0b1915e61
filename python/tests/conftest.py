from __future__ import annotations

import faulthandler
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest

import garner

ALARM = 1200  # seconds of one test, behind which the process ends with a traceback


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    faulthandler.dump_traceback_later(ALARM, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no take beyond SMALL to NumPy: what is tested is the library. test_what_is_left_to_numpy holds the rule."""
    monkeypatch.setattr(garner._ops, "_moved", lambda *given: True)


@pytest.fixture(scope="session")
def values() -> Any:
    return np.random.default_rng(7).random((20_000, 256), dtype=np.float32)


@pytest.fixture(scope="session")
def npy(tmp_path_factory: pytest.TempPathFactory, values: Any) -> Path:
    path = tmp_path_factory.mktemp("tables") / "table.npy"
    np.save(path, values)
    return path


@pytest.fixture(autouse=True)
def names(doctest_namespace: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    np.save(path, np.arange(8, dtype=np.float32).reshape(4, 2))
    doctest_namespace.update(np=np, garner=garner, path=str(path))
