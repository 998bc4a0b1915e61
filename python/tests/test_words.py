"""What messages say: in words of Python, of what was given, and what to do."""

from __future__ import annotations

import json
import pathlib
import pickle
import re
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner
from garner import _native, _views

A = np.arange(12.0).reshape(6, 2)
G: Any = garner.gather


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("t.npy", A)
    np.save("ids.npy", [1, 2])
    Path("x.raw").write_bytes(bytes(64))


def refused(call: Callable[[], Any], kind: type[garner.Error], *words: str) -> garner.Error:
    with pytest.raises(kind) as e:
        call()
    text = str(e.value)
    assert text.startswith("garner: ") and text.isprintable(), text
    for w in words:
        assert w in text
    return e.value


def test_names_of_types() -> None:
    """A name is the same type to NumPy, or one of garner's own short names, or it is refused with what it is."""
    own = set(_views.CODES)
    assert {"i8", "u8", "i4", "u1"} <= own
    taken = set()
    for name in {n for n in np.sctypeDict if isinstance(n, str)} | {"float", "f4", "<f4", ">f4", "b1", "d", "e", "f8", "i1", "?", "U", "O", "f4,f4", "double", "half"}:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                numpys = np.dtype(name)
            except TypeError:
                continue
            try:
                ours = _views.name_of("dtype", name)
            except garner.DTypeError as e:
                assert repr(name)[1:-1] in str(e)
                continue
        if name not in own and name != "str":
            assert _views.numpy_dtype(ours) == numpys, name
            taken.add(name)
    assert {"float32", "float64", "int64", "half", "double"} <= taken
    for name, *words in (("float", "f64 to NumPy", "f32 to ONNX"), ("int", '"i64"'), ("single", '"f32"'), ("<f4", '"f32"'), ("b1", '"bool"'), ("d", '"f64"'), ("torch.bfloat16", "PyTorch", '"bf16"')):
        for call in (lambda: garner.Table("x.raw", dtype=name), lambda: garner.info("x.raw", dtype=name), lambda: garner.Table("t.npy", to=name)):
            refused(call, garner.DTypeError, repr(name)[1:-1], *words)
    with garner.Table("x.raw", dtype="i8") as small, garner.Table("x.raw", dtype=float) as wide:
        assert small.dtype == np.int8 and wide.dtype == np.float64


def test_infer_names_what_it_needs() -> None:
    for indices in (None, ""):
        refused(lambda: garner.infer("onnx.Gather-13", "f32[2,?,4]", indices), garner.OperatorError, "onnx.Gather-13 takes indices")
    assert garner.infer("gguf.dequantize", "u8[2,2]", type="F16") == "f32[2,1]"
    refused(lambda: garner.infer("torch.embedding_bag", "f32[4,2]", "i64[2]", offsets=[0, 1]), garner.OperatorError, "offsets=list")
    refused(lambda: garner.explain("onnx.Gather-13", A, None), garner.OperatorError, "takes indices")


def test_operands_that_are_no_arrays() -> None:
    with garner.Table("t.npy") as t:
        for given, *words in (("a", "text, 'a'"), ({1, 2}, "a set"), (object(), "an object"), (np.array(["a"]), "<U1")):
            for call, role in ((lambda: t[given], "numbers of rows"), (lambda: t.lookup(given), "numbers of rows"), (lambda: G("onnx.Gather-13", A, given), "indices")):
                refused(call, garner.DTypeError, role, *words, "give integers")
        refused(lambda: t.lookup(None), garner.DTypeError, "numbers of rows as None")
        refused(lambda: t.lookup(slice(0, 2)), garner.DTypeError, "as a slice", "table[slice]")
        for ragged in ([[1], [2, 3]], ([1], [2, 3])):
            for call in (lambda: t[list(ragged)], lambda: t.lookup(ragged), lambda: t[ragged, 0], lambda: G("onnx.Gather-13", A, ragged), lambda: G("onnx.Gather-13", ragged, [0])):
                assert isinstance(refused(call, garner.ShapeError, "parts differ in length"), ValueError)
    for data in ("t.npy", pathlib.Path("t.npy")):
        refused(lambda: G("onnx.Gather-13", data, [0]), garner.DTypeError, "data as text, 't.npy'", "garner.Table")
    refused(lambda: G("onnx.Gather-13", None, [0]), garner.DTypeError, "data as None")
    refused(lambda: G("onnx.Gather-13", ["a"], [0]), garner.DTypeError, "data as a list of <U1", "numpy.take")
    refused(lambda: G("onnx.Gather-13", A, [0], axis="0"), garner.OperatorError, 'axis cannot be "0"; it is an integer')


def test_a_module_of_torch_in_the_place_of_its_weight() -> None:
    torch = pytest.importorskip("torch")
    refused(lambda: garner.embedding([0], torch.nn.Embedding(3, 2)), garner.DTypeError, "data as an Embedding", "weight.detach()")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_missing_numbers_are_counted(library: str) -> None:
    module: Any = pytest.importorskip(library)
    make: list[Any] = []
    if library == "pyarrow":
        make = [module.array([0, None, 1])]
    elif library == "polars":
        make = [module.Series([0, None, 1])]
    else:
        make = [module.Series([0, None, 1]), module.Series([0, None, 1], dtype="Int64")]
    with garner.Table("t.npy") as t:
        for ids in make:
            for call, role in ((lambda: t[ids], "numbers of rows"), (lambda: t.lookup(ids), "numbers of rows"), (lambda: G("onnx.Gather-13", A, ids), "indices")):
                refused(call, garner.DTypeError, f"{role} with 1 missing value of 3")


def test_errors_of_files_begin_with_garner_and_name_the_file_once() -> None:
    for call, name in (
        (lambda: garner.Table("nope.npy"), "nope.npy"), (lambda: garner.info("nope.npy"), "nope.npy"), (lambda: garner.gather_file("t.npy", "ids.npy", "no/o.npy"), "no/o.npy"),
        (lambda: garner.gather_file("t.npy", "no.npy", "o.npy"), "no.npy"),
    ):  # fmt: skip
        e = refused(call, garner.FileNotFoundError, name)
        assert isinstance(e, OSError) and str(e.filename).endswith(name) and ".tmp" not in str(e.filename) and str(e).count(name) == 1
        again = pickle.loads(pickle.dumps(e))
        assert (str(again), again.errno, again.filename) == (str(e), e.errno, e.filename)


def test_no_text_has_an_option_of_go(monkeypatch: pytest.MonkeyPatch) -> None:
    note = garner.info("x.raw")[0].note
    assert note == "bytes; say what they are with dtype=, shape= and offset="
    for option, word in _native._OPTIONS.items():
        for text in (f"read it with Options.{option}", f"(Options.{option} f32), or Options.{option} with ?, Options.{option}"):
            assert not re.search(r"Options\.[A-Z]", _native._worded(text)) and word in _native._worded(text)
    assert _native._worded("with Options.OfTomorrow") == "with oftomorrow="

    text = "leave out Options.Signature"

    def answer(place: Any) -> str:
        finding = {"rule": "", "title": "", "severity": "", "node": "Options.Raw", "operator": "", "message": text, "remedy": text, "runtimes": [], "line": 0, "column": 0}
        return json.dumps({"findings": [finding], "text": text, "svg": text, "unjudged": [{"node": "Options.Raw", "why": text}]})

    monkeypatch.setattr(_native, "text", answer)
    monkeypatch.setattr(_native, "wait", answer)
    told = _native.ask({"do": "operators"})
    finding = told["findings"][0]
    assert {finding["message"], finding["remedy"], told["text"], told["svg"], told["unjudged"][0]["why"]} == {"leave out signature="}
    assert finding["node"] == "Options.Raw"  # a name of the model


IR = """<?xml version="1.0"?>
<net name="n" version="11"><layers>
<layer id="0" name="p" type="Parameter" version="opset1"><data shape="2" element_type=f32/><output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>
"""


def test_models_that_need_an_option() -> None:
    Path("m.xml").write_text(IR)
    for ask in (garner.lint, garner.info):
        refused(lambda: ask("m.xml"), garner.Error, "lenient=True")
        assert ask("m.xml", lenient=True) == []
        refused(lambda: ask("m.xml", lenient=True, signature="s"), garner.OperatorError, "leave it out", "signature=")
    for call in (lambda: garner.info("t.npy", lenient=True), lambda: garner.Table("t.npy", lenient=True)):
        refused(call, garner.OperatorError, "is no model", "lenient=True")
    for call in (lambda: garner.info("t.npy", signature="s"), lambda: garner.Table("t.npy", signature="s")):
        refused(call, garner.OperatorError, "is no model", "signature=")


def test_folders_of_other_formats_say_what_to_do() -> None:
    for name in ("hf/config.json", "hf/model.safetensors", "z.zarr/zarr.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("{}")
    refused(lambda: garner.Table("hf"), garner.FileError, "hf/model.safetensors#NAME")
    refused(lambda: garner.info("z.zarr"), garner.FileError, "of Zarr", "garner does not read", ".npy")
