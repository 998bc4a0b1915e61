"""PyTorch's own samples of its gathers (OpInfo), every dtype that it lists, bit for bit."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import garner

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch.testing needs it")

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

INFOS = {o.name: o for o in op_db if o.variant_test_name == ""}


def bits(t: Any) -> bytes:
    return bytes(t.detach().contiguous().clone().untyped_storage())


def named(operator: str, *attributes: str) -> Callable[..., Any]:
    """Return a call of an operator by PyTorch's arguments: those after the indices are attributes."""

    def call(data: Any, *given: Any, out: Any = None, **values: Any) -> Any:
        values.update(zip(attributes, given))
        return garner.gather(operator, data, values.pop("indices"), out=out, **values)

    return call


CALLS: dict[str, Callable[..., Any]] = {
    "gather": named("torch.gather", "dim", "indices"),
    "index_select": named("torch.index_select", "dim", "indices"),
    "take": named("torch.take", "indices"),
    "take_along_dim": named("torch.take_along_dim", "indices", "dim"),
    "nn.functional.embedding": lambda weight, ids, **values: garner.gather("torch.embedding", weight, ids, **values),
}
# Arguments of embedding that affect the gradient alone.
GRADIENT = {"scale_grad_by_freq", "sparse"}


@pytest.mark.parametrize("name", list(CALLS))
def test_samples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    info, call = INFOS[name], CALLS[name]
    equal = refused = 0
    samples = 0
    for dtype in sorted(info.dtypes, key=str):
        for s in info.sample_inputs("cpu", dtype, requires_grad=False):
            samples += 1
            values = {k: v for k, v in s.kwargs.items() if k not in GRADIENT}
            if name == "nn.functional.embedding" and values.get("max_norm") is not None:
                with pytest.raises(garner.OperatorError, match="max_norm"):
                    call(s.input, *s.args, **values)
                refused += 1
                continue
            want = info.op(s.input, *s.args, **s.kwargs)
            values.pop("norm_type", None)
            got = call(s.input, *s.args, **values)
            assert isinstance(got, torch.Tensor) and got.dtype == want.dtype == dtype
            assert got.shape == want.shape and bits(got) == bits(want), s
            out = torch.empty(want.shape, dtype=dtype)
            assert call(s.input, *s.args, out=out, **values) is out and bits(out) == bits(want)
            for other in strided(s.input):
                assert other.shape == s.input.shape and bits(call(other, *s.args, **values)) == bits(want)
            equal += 1
    with capsys.disabled():
        dtypes = ", ".join(sorted(str(d).removeprefix("torch.") for d in info.dtypes))
        print(f"\ntorch {torch.__version__} {name}: {samples} samples, {equal} equal bit for bit, {refused} with max_norm refused by name ({dtypes})")
    assert samples == equal + refused and equal > 0
    assert refused == 0 or name == "nn.functional.embedding"


def strided(t: Any) -> list[Any]:
    """Return tensors of the elements of t whose strides are other than row-major."""
    spread = torch.empty((*t.shape, 2), dtype=t.dtype)
    spread[..., 0] = t
    spread[..., 1] = 0
    return [t.t().contiguous().t(), spread[..., 0]] if t.dim() == 2 else [spread[..., 0]]


@pytest.mark.parametrize("name", list(CALLS))
def test_what_torch_refuses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    info, call = INFOS[name], CALLS[name]
    if info.error_inputs_func is None:
        pytest.skip(f"PyTorch has no bad samples of {name}")
    told = []
    for e in info.error_inputs("cpu"):
        s = e.sample_input
        with pytest.raises(e.error_type):
            info.op(s.input, *s.args, **s.kwargs)
        with pytest.raises(garner.Error) as refusal:
            call(s.input, *s.args, **{k: v for k, v in s.kwargs.items() if k not in GRADIENT})
        told.append((e.error_regex, str(refusal.value)))
    assert told
    with capsys.disabled():
        print(f"\ntorch {torch.__version__} {name}: {len(told)} bad samples, all refused")
        for theirs, ours in told:
            print(f"    {theirs!r}: {ours}")


def test_indices_without_elements() -> None:
    """PyTorch looks at neither the rank nor the extents of such indices of gather, and takes any integers."""
    for dtype in (torch.uint8, torch.int16, torch.int32, torch.int64):
        for shape in ((0,), (2, 0), (0, 7, 3)):
            index = torch.empty(shape, dtype=dtype)
            for data in (torch.rand(5), torch.rand(2, 3), torch.tensor(1.0), torch.empty(0)):
                want = torch.gather(data, 0, index)
                got = garner.gather("torch.gather", data, index, dim=0)
                assert got.shape == want.shape and got.dtype == want.dtype
    # PyTorch takes floats too where there are none; garner looks at the type first.
    with pytest.raises(garner.DTypeError, match="f32"):
        garner.gather("torch.gather", torch.rand(5), torch.empty(0), dim=0)
