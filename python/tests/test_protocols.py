"""Tables as arrays: their protocols, types that NumPy lacks, what operators take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garner


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "t.npy", np.arange(24.0).reshape(4, 2, 3))
    return tmp_path / "t.npy"


def test_a_table_as_an_array(path: Path) -> None:
    want = np.load(path)
    with garner.Table(path) as t:
        assert t.ndim == 3
        for got in (np.asarray(t), t[...], np.stack(list(t)), np.array(t, copy=True)):
            assert (got == want).all()
        assert np.asarray(t, np.float32).dtype == np.float32
        with pytest.raises(ValueError, match="copied"):
            np.array(t, copy=False)
        for key in ((..., 0), (0, ...), (..., slice(1), 2), (slice(None), [0, 1]), (slice(1, 3), 0, [2, 0]), (slice(None), ..., np.array([1])), ([0], [0]), (0, [1])):
            assert np.array_equal(t[key], want[key]), key
        with pytest.raises(garner.ShapeError):
            t[..., 0, ...]
    np.save(path, np.arange(300_000))
    with garner.Table(path) as t:
        assert sum(1 for _ in t) == 300_000


def test_out_is_returned_whatever_the_data() -> None:
    jnp = pytest.importorskip("jax.numpy")
    out = np.empty(2, np.float32)
    assert garner.gather("onnx.Gather", jnp.arange(5, dtype=jnp.float32), [4, 1], out=out) is out and out.tolist() == [4, 1]


def test_bf16_in_tensors_without_ml_dtypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    want = torch.arange(24).reshape(6, 4).to(torch.bfloat16)
    want.view(torch.int16).numpy().tofile(tmp_path / "t.raw")
    for lacks in (False, True):
        if lacks:
            monkeypatch.setitem(sys.modules, "ml_dtypes", None)
        with garner.Table(tmp_path / "t.raw", dtype=torch.bfloat16, shape=(-1, 4)) as t:
            ids = torch.tensor([5, 0])
            assert torch.equal(t[ids], want[ids]) and torch.equal(t[torch.tensor([-1])], want[-1:])
            out = torch.empty(2, 4, dtype=torch.bfloat16)
            assert t.lookup(ids, out) is out and torch.equal(out, want[ids])
            assert t.lookup(np.array([5, 0]), out) is out and len(t) == 6
            with pytest.raises(garner.DTypeError, match="out"):
                t.lookup(ids, torch.empty(2, 4))
            assert "bf" in repr(t)
            if lacks:
                for call in (lambda: t[[0]], lambda: t.dtype):
                    with pytest.raises(garner.DTypeError, match="install ml_dtypes"):
                        call()


def test_what_an_operator_takes() -> None:
    o = garner.operators("torch.embedding_bag")
    assert o.name == "torch.embedding_bag" and {"mode", "padding_idx"} <= set(o.attributes) and "offsets" in o.further and o.takes_indices
    assert [garner.operators(n).name for n in garner.operators()] == garner.operators()
    with pytest.raises(garner.OperatorError, match=r"garner\.operators\(\)"):
        garner.operators("nope")


def test_answers_of_nothing_are_errors() -> None:
    a = np.arange(4)
    with pytest.raises(garner.OperatorError, match="axs"):
        garner.answers(a, [1], axs=1)
    wrong: list[tuple[Any, Any]] = [(a, [1.0]), (None, None), ("abc", [1])]
    for data, indices in wrong:
        with pytest.raises(garner.OperatorError, match="no operator takes these operands; "):
            garner.answers(data, indices)
    assert "onnx.Gather-13" in garner.answers(a, [1], batch_dims=0)


def test_types_of_results(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    code = tmp_path / "typed.py"
    code.write_text(
        "import numpy as np\nfrom numpy.typing import NDArray\nimport garner\n\n"
        "def rows(t: garner.Table, ids: NDArray[np.int64]) -> NDArray[np.float32]:\n"
        "    for row in t: print(row)\n"
        "    try: return t[ids] if len(t) else t.lookup([1, 2])\n"
        "    except (garner.IndexError, garner.FileNotFoundError) as e: raise ValueError(str(e))\n",
        encoding="ascii",
    )
    out, err, status = api.run(["--strict", "--cache-dir", str(tmp_path / "cache"), str(code)])
    assert status == 0, out + err
