"""Tensors of PyTorch in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garner

torch = pytest.importorskip("torch")


def test_tensors_come_out() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.bool, torch.complex64, torch.complex32, torch.int8):
        a = torch.arange(24).reshape(6, 4).to(torch.float32).to(dtype)
        i = torch.tensor([5, 0, -1])
        got = garner.gather("onnx.Gather-13", a, i)
        assert isinstance(got, torch.Tensor) and got.dtype == dtype and got.shape == (3, 4)
        assert got.view(torch.uint8).tolist() == a[i % 6].contiguous().view(torch.uint8).tolist() if dtype != torch.bool else (got == a[i]).all()
    a = torch.rand(6, 4)
    out = torch.empty(2, 4)
    assert garner.embedding(torch.tensor([1, 2]), a, out=out) is out and torch.equal(out, a[[1, 2]])
    assert torch.equal(garner.take(a, torch.tensor([3, 1])), torch.take(a, torch.tensor([3, 1])))
    assert torch.equal(garner.gather("torch.gather", a.t(), torch.tensor([[0, 1]]), dim=1), torch.gather(a.t(), 1, torch.tensor([[0, 1]])))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: torch.rand(3, requires_grad=True), "detach"),
        (lambda: torch.rand(3).to_sparse(), "to_dense"),
        (lambda: torch.rand(3, dtype=torch.complex64).conj(), "conj"),
    ],
)
def test_refusals(make: Any, words: str) -> None:
    with pytest.raises(garner.OperatorError, match=words):
        garner.gather("onnx.Gather-13", make(), [0])


def test_table(npy: Path, values: Any) -> None:
    with garner.Table(npy) as t:
        got = t[torch.tensor([4, -1])]
        assert isinstance(got, torch.Tensor) and (got.numpy() == values[[4, -1]]).all()
        out = torch.empty(1, 256)
        assert t.lookup(torch.tensor([3]), out) is out and (out.numpy() == values[[3]]).all()


def test_table_of_bfloat16(tmp_path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    a = torch.rand(5, 8).bfloat16()
    (tmp_path / "a.bin").write_bytes(a.view(torch.int16).numpy().tobytes())
    with garner.Table(tmp_path / "a.bin", dtype="bf16", shape=(5, 8)) as t:
        assert torch.equal(t[torch.tensor([4, 1])], a[[4, 1]])


def test_a_tensor_beyond_its_storage_is_refused() -> None:
    x, short, none = torch.arange(10.0), torch.zeros(1000), torch.zeros(3)
    short.untyped_storage().resize_(16)
    none.untyped_storage().resize_(0)
    for data, ids, out in ((short, [999], None), (x, [1, 2, 3], none)):
        with pytest.raises(garner.ShapeError, match="resized"):
            garner.gather("torch.index_select", data, torch.tensor(ids), dim=0, out=out)
    empty = torch.zeros(0, 4)
    empty.untyped_storage().resize_(0)
    assert garner.gather("torch.index_select", empty.T, torch.tensor([1]), dim=0).shape == (1, 0)


def test_what_has_no_memory_is_refused_by_name() -> None:
    ids = torch.tensor([1])
    with pytest.raises(garner.OperatorError, match="traced"):
        torch.jit.trace(lambda x: garner.embedding(ids, x), torch.ones(3, 2))
    with pytest.raises(garner.OperatorError, match="no memory"):
        torch.func.vmap(lambda x: garner.gather("onnx.Gather", x, ids))(torch.ones(4, 3, 2))
    with torch._subclasses.FakeTensorMode(), pytest.raises(garner.Error):
        garner.gather("onnx.Gather", torch.ones(3, 2), np.array([1]))
