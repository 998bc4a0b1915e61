"""The code of the READMEs and of the notebook runs, and says what it prints."""

from __future__ import annotations

import doctest
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garner

HERE = Path(__file__).parent.parent
SAMPLES = {
    "torch_embedding.onnx": "onnx/modelproto/testdata/torch_embedding.onnx", "real.gguf": "format/gguf/testdata/real.gguf",
    "README.md": "README.md", "LICENSE": "LICENSE",
}  # fmt: skip


def beside(name: str) -> Path:
    """Return a file of the repository: where the script python/test puts it, or in the tree."""
    at = HERE / "beside" / name
    at = at if at.exists() else HERE.parent / SAMPLES[name]
    if not at.exists() and not os.environ.get("GARNER_INSTALLED"):
        pytest.skip(f"no {name} here: an sdist has none")
    return at


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("torch_embedding.onnx", "real.gguf"):
        shutil.copy(beside(name), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_code_of_the_readme(folder: Path) -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) > 8 and text.count("```") == 2 * len(blocks)
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", "README.md", 0))
    assert runner.tries > 15 and runner.failures == 0


def test_the_readme_names_every_public_function() -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8")
    for name in garner.__all__:
        if name not in ("Array", "Explanation", "Finding"):  # what info, explain and lint return
            assert re.search(rf"\b{name}\b", text), name


def test_the_section_of_the_repositorys_readme(folder: Path) -> None:
    text = beside("README.md").read_text(encoding="utf-8")
    section, = re.findall(r"^## In Python\n(.*?)^## ", text, re.M | re.S)
    lines = [line for line in section.splitlines() if line]
    assert len(lines) == 6
    code = [line.removeprefix("    ") for line in lines if line.startswith("    ") and "pip install" not in line]
    assert len(code) >= 3
    table = np.arange(50, dtype=np.float32).reshape(25, 2)
    np.save("table.npy", table)
    names: dict[str, Any] = {"garner": garner, "ids": np.array([3, -1])}
    names["data"] = table
    for line in code:
        exec(line.split("   # ")[0], names)  # noqa: S102


def test_licences() -> None:
    from importlib.metadata import distribution

    if not (HERE / "beside").exists():
        pytest.skip("of what is installed: python/test runs it")
    found = distribution("garner-gather")
    assert found.version == garner.__version__
    texts = {Path(str(f)).name: Path(str(f.locate())).read_text() for f in found.files or [] if "licenses" in str(f)}
    assert texts["LICENSE"] == beside("LICENSE").read_text()
    for part in ("The Go Authors", "golang.org/x/sys", "google.golang.org/protobuf"):
        assert part in texts["NOTICE"]
