"""infer, explain, lint and info: what they tell, as objects."""

from __future__ import annotations

import html.parser
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garner


@pytest.mark.parametrize(
    ("operator", "data", "indices", "values", "want"),
    [
        ("onnx.GatherND-13", "f32[2,?,4]", "i64[8,2]", {}, "f32[8,4]"),
        ("onnx.Gather-13", "f32[?,4]", "i64[2,?]", {}, "f32[2,?,4]"),
        ("onnx.Gather-13", "bf16[5,1..3,4]", "i32[7]", {"axis": 2}, "bf16[5,1..3,7]"),
        ("openvino.Gather-8", "u8[2,5,4]", "i64[2,3]", {"axis": 1, "batch_dims": 1}, "u8[2,3,4]"),
        ("numpy.take", "f64[2,3]", "i64[4,5]", {"axis": None}, "f64[4,5]"),
        ("torch.embedding", "f16[10,3]", "i64[?,2]", {}, "f16[?,2,3]"),
    ],
)
def test_infer(operator: str, data: str, indices: str, values: Any, want: str) -> None:
    assert garner.infer(operator, data, indices, **values) == want


def test_infer_is_what_gather_gives() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        a = np.zeros(rng.integers(1, 5, rng.integers(1, 5)), np.float32)
        i = np.zeros(rng.integers(1, 4, rng.integers(0, 4)), np.int64)
        axis = int(rng.integers(-a.ndim, a.ndim))
        spec = [f"{name}[{','.join(map(str, x.shape))}]" for name, x in (("f32", a), ("i64", i))]
        got = garner.gather("onnx.Gather-13", a, i, axis=axis)
        assert garner.infer("onnx.Gather-13", *spec, axis=axis) == f"f32[{','.join(map(str, got.shape))}]"


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: garner.infer("onnx.Gather-13", "f32[2]", "f32[1]"), garner.DTypeError, "indices"),
        (lambda: garner.infer("onnx.Gather-13", "f32[2]", "i64[1]", axis=1), garner.ShapeError, "axis"),
        (lambda: garner.infer("onnx.Gather-13", "f33[2]", "i64[1]"), garner.Error, "f33"),
        (lambda: garner.infer("onnx.GatherND-13", "f32[2]", "i64[1,2]"), garner.ShapeError, "indices"),
        (lambda: garner.infer("no.Such-1", "f32[2]", "i64[1]"), garner.OperatorError, "no.Such-1"),
        (lambda: garner.explain("onnx.Gather-13", np.zeros((2, 3)), [0.5]), garner.DTypeError, "f64"),
    ],
)
def test_refusals(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_explain_shows_the_gather() -> None:
    a = np.array([[11, 22], [33, 44], [55, 66]], np.int32)
    e = garner.explain("openvino.GatherND-8", a, np.array([[2, 1], [0, 0]]))
    assert isinstance(e, garner.Explanation) and str(e) == e.text
    assert "openvino.GatherND-8" in e.text and "i32[3,2]" in e.text and "i32[2]" in e.text
    root = xml.etree.ElementTree.fromstring(e.svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    shown = "".join(root.itertext())
    for number in ("66", "11"):
        assert number in shown
    assert e._repr_svg_() == e.svg  # what a notebook shows
    assert "svg=" not in repr(e)
    with pytest.raises(AttributeError):
        e.text = ""  # type: ignore[misc]


class Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_picture_is_well_formed() -> None:
    e = garner.explain("onnx.Gather-13", np.array([[1, 2], [3, 4]]), [1, 0, 7])
    picture = e._repr_svg_()
    assert picture.startswith("<?xml")
    tags = Tags()
    tags.feed(picture)
    assert not tags.open and {"svg", "text"} <= tags.seen
    assert "7" in e.text and "outside" in e.text  # the bad index is part of the explanation


def model(folder: Path, node: str, indices: Any, **attributes: Any) -> Path:
    onnx = pytest.importorskip("onnx", reason="onnx makes the models of this test")
    helper = onnx.helper
    ids = onnx.numpy_helper.from_array(np.array(indices, np.int64), "i")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["d", "i"], ["o"], name=node, **attributes)], "g", [helper.make_tensor_value_info("d", 1, [3, 4])],
        [helper.make_tensor_value_info("o", 1, None)], [ids],
    )  # fmt: skip
    path = folder / f"{node}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def test_lint(tmp_path: Path) -> None:
    """A constant index past the end is an error of each runtime; a good model has no such finding."""
    findings = garner.lint(model(tmp_path, "past", [0, 9]))
    found = [f for f in findings if f.severity == "error"]
    assert found and all(isinstance(f, garner.Finding) for f in findings)
    first = found[0]
    assert first.node == "past" and first.operator.startswith("onnx.Gather") and first.rule.startswith("L.") and "9" in first.message
    assert first.title and first.remedy and first.runtimes and str(first).startswith(f"error {first.rule}: past (")
    assert isinstance(first.runtimes, tuple) and isinstance(first.line, int) and isinstance(first.column, int)
    assert not [f for f in garner.lint(model(tmp_path, "good", [0, 2])) if f.severity == "error"]
    one = garner.lint(str(tmp_path / "past.onnx"), runtimes=["onnxruntime"])
    assert one and all("onnxruntime" in f.runtimes for f in one)
    with pytest.raises(garner.OperatorError, match="nothing"):
        garner.lint(tmp_path / "past.onnx", runtimes=["nothing"])
    with pytest.raises(FileNotFoundError):
        garner.lint(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 40)
    with pytest.raises(garner.Error):
        garner.lint(tmp_path / "bad.onnx")


def test_lint_of_a_text_model(tmp_path: Path) -> None:
    """OpenVINO's model is text: findings have a place, and no other package makes it."""
    path = tmp_path / "m.xml"
    path.write_text(
        """<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="d" type="Parameter" version="opset1"><data shape="3,4" element_type="f32"/><output><port id="0" precision="FP32"><dim>3</dim><dim>4</dim></port></output></layer>
<layer id="1" name="i" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output><port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="2" name="a" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0" precision="I64"/></output></layer>
<layer id="3" name="rows" type="Gather" version="opset7"><data batch_dims="0"/><input><port id="0"><dim>3</dim><dim>4</dim></port><port id="1"><dim>2</dim></port><port id="2"/></input>
<output><port id="3" precision="FP32"><dim>2</dim><dim>4</dim></port></output></layer>
<layer id="4" name="o" type="Result" version="opset1"><input><port id="0"><dim>2</dim><dim>4</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/><edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>
"""
    )
    (tmp_path / "m.bin").write_bytes(bytes(8))
    findings = garner.lint(path)
    assert findings, "opset7's Gather reads a negative index as zeros, which other runtimes do not"
    assert {f.node for f in findings} == {"rows"} and all(f.line == 6 and f.column > 0 for f in findings)


def test_info(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 4), "f2"), y=np.zeros(5, "i8"))
    found = garner.info(tmp_path / "a.npz")
    assert [(a.name, a.dtype, a.shape, a.bytes, a.note) for a in found] == [("x", "f16", (3, 4), 24, ""), ("y", "i64", (5,), 40, "")]
    assert all(isinstance(a, garner.Array) and a.path.endswith("a.npz") and a.kind for a in found)
    with pytest.raises(FileNotFoundError):
        garner.info(tmp_path / "none.npz")


def test_a_table_with_a_conversion(tmp_path: Path) -> None:
    """The identity of a table is that of its file, whatever it is converted to; another file is still refused."""
    for file, save in (("t.npy", np.save), ("t.npz", lambda f, a: np.savez_compressed(f, a=a))):
        path, ids, out = tmp_path / file, tmp_path / "ids.npy", tmp_path / "out.npy"
        save(path, np.arange(24, dtype=np.float32).reshape(12, 2))
        np.save(ids, [1, 3])
        for of, to in (("f32", "f16"), ("f16", None), ("f16", "f32"), ("f32", "f32"), ("f16", "f64")):
            with garner.Table(path, to=of) as t:
                assert garner.gather_file(t, ids, out, to=to) == f"{to or of}[2,2]"
                assert np.load(out).tolist() == [[2, 3], [6, 7]]
        with garner.Table(path, to="f16") as t:
            save(path, np.ones((12, 2), np.float32))
            with pytest.raises(garner.FileError, match="another file"):
                garner.gather_file(t, ids, out)
