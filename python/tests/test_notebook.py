"""notebook.ipynb runs without an error, and its outputs are those that it is committed with.

    python tests/test_notebook.py    runs it and writes the outputs, after a change; look at them
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from test_readme import beside

HERE = Path(__file__).parent.parent
NOTEBOOK = HERE / "notebook.ipynb"
MODEL = "onnx/modelproto/testdata/torch_embedding.onnx"
PICTURE = "image/svg+xml"


def read() -> Any:
    import nbformat

    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def executed(folder: Path) -> Any:
    """Return the notebook as a run in a folder leaves it."""
    import nbclient

    notebook = read()
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}, record_timing=False).execute()
    return notebook


def outputs(notebook: Any) -> list[Any]:
    return [[dict(o) for o in cell.get("outputs", [])] for cell in notebook.cells]


@pytest.mark.filterwarnings("ignore")
def test_the_notebook(tmp_path: Path) -> None:
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    model = beside(Path(MODEL).name)
    (tmp_path / MODEL).parent.mkdir(parents=True)
    shutil.copy(model, tmp_path / MODEL)
    (tmp_path / "python").mkdir()
    got, want = executed(tmp_path / "python"), read()
    for cell, is_now, was in zip(got.cells, outputs(got), outputs(want), strict=True):
        assert is_now == was, f"the outputs of this cell changed:\n{cell.source}"
    pictures = [o["data"][PICTURE] for cell in outputs(want) for o in cell if PICTURE in o.get("data", {})]
    assert len(pictures) == 1 and "<title>openvino.GatherND-8" in pictures[0]
    assert NOTEBOOK.stat().st_size < 100_000


if __name__ == "__main__":
    import nbformat

    made = executed(HERE)
    for each in made.cells:
        each.metadata.pop("execution", None)
    made.metadata.language_info = {"name": "python"}
    nbformat.write(made, NOTEBOOK)  # type: ignore[no-untyped-call]
    print(f"{NOTEBOOK}: {NOTEBOOK.stat().st_size} bytes", file=sys.stderr)
