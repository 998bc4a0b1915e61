"""Names of files are bytes, which need be no UTF-8."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garner

NAMES = ["plain.npy", "\u00e9\U0001f480.npy", "bad\udcff.npy", "\udce9\udc80x.npy", "a\\\\udcff.npy"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [str, os.fsencode, Path], ids=["str", "bytes", "Path"])
def test_a_name_is_its_file(tmp_path: Path, name: str, form: Any) -> None:
    try:
        np.save(tmp_path / name, np.arange(6).reshape(3, 2))
    except OSError as e:
        pytest.skip(f"the file system refuses {name!a}: {e}")
    if "\udcff" in name:  # what a JSON of text makes of it is another file
        np.save(tmp_path / name.replace("\udcff", "\ufffd"), np.arange(6).reshape(3, 2) + 100)
    given = form(str(tmp_path / name))
    with garner.Table(given) as t:
        assert t[1].tolist() == [2, 3] and t.lookup([2]).tolist() == [[4, 5]] and "garner.Table" in ascii(t)
        with pickle.loads(pickle.dumps(t)) as again:
            assert again[1].tolist() == [2, 3]
    assert [(a.path, a.shape) for a in garner.info(given)] == [(str(tmp_path / name), (3, 2))]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).symlink_to(tmp_path / name)
    for a in garner.info(form(str(folder / "*.npy"))):
        assert np.load(a.path).shape == a.shape
    ids, out = tmp_path / "ids.npy", "out" + name
    np.save(ids, [1])
    before = set(os.listdir(tmp_path))
    assert garner.gather_file(given, ids, form(str(tmp_path / out))) == "i64[1,2]"
    assert set(os.listdir(tmp_path)) - before == {out}
    assert np.load(tmp_path / out).tolist() == [[2, 3]]


def test_a_file_that_is_not_there_is_named_as_it_was(tmp_path: Path) -> None:
    for name in NAMES:
        with pytest.raises(FileNotFoundError) as e:
            garner.Table(tmp_path / name)
        assert os.path.basename(str(e.value.filename)) == name
        with pytest.raises((garner.Error, FileNotFoundError)):
            garner.lint(tmp_path / name)


def test_a_nul_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.arange(3))
    for given in (f"{tmp_path}/t.npy\0x", os.fsencode(f"{tmp_path}/t.npy\0x")):
        for call in (garner.Table, garner.info, garner.lint):
            with pytest.raises(ValueError, match="no name of a file"):
                call(given)
    with pytest.raises(TypeError):
        garner.Table(3)  # type: ignore[arg-type]
    with pytest.raises(garner.OperatorError, match=r"x\\x00y"):
        garner.gather("x\0y", np.arange(3), [1])
