"""Errors of files and of arguments: their classes by kind, whatever the format, and their words."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner

FORMATS = {"npy": "", "npz": "#x", "safetensors": "#w", "gguf": "#w", "onnx": "#w", "xml": "#w", "csv": "", "json": ""}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("t.npy", np.arange(8.0).reshape(4, 2))
    np.save("ids.npy", [1, 2])
    np.save("one.npy", [1])
    np.savez("two.npz", a=np.zeros((2, 2)), b=np.zeros((2, 2)))
    Path("x.raw").write_bytes(bytes(33))
    Path("x.dat").write_bytes(bytes(33))


@pytest.mark.parametrize("extension", FORMATS)
def test_files(extension: str) -> None:
    name = FORMATS[extension]
    for call in (garner.Table, garner.info, lambda f: garner.gather_file(f, "ids.npy", "o.npy"), lambda f: garner.gather_file("t.npy", f, "o.npy")):
        with pytest.raises(garner.FileNotFoundError) as missing:
            call(f"absent.{extension}{name}")
        assert missing.value.errno == errno.ENOENT and str(missing.value.filename).endswith(f"absent.{extension}")
        for content in (b"garbage", b"", bytes(64)):
            Path(f"bad.{extension}").write_bytes(content)
            if extension == "xml" and call is garner.info:
                continue  # of models it lists the constants that it finds
            with pytest.raises(garner.FileError) as e:
                call(f"bad.{extension}{name}")
            assert not isinstance(e.value, FileNotFoundError)


def test_other_files() -> None:
    for name in ("absent", "absent.dat", "absent-*.npy", "absent/t.npy"):
        with pytest.raises(garner.FileNotFoundError):
            garner.Table(name)
    for name in ("x.dat", ".", "two.npz", "two.npz#c", "t.npy#name", "/dev/null"):
        with pytest.raises(garner.FileError) as e:
            garner.Table(name)
        assert not isinstance(e.value, FileNotFoundError)
    with pytest.raises(garner.FileError, match="33 bytes"):
        garner.Table("x.raw", dtype="f32")
    for out in ("t.npy", "o.xyz", "no/o.npy", "."):
        with pytest.raises(garner.FileError):
            garner.gather_file("t.npy", "ids.npy", out)
    for model in ("t.npy", "absent.onnx"):
        with pytest.raises(garner.FileError):
            garner.lint(model)


G: Any = garner.gather_file
WRONG: list[tuple[Callable[[], Any], type[garner.Error], str]] = [
    (lambda: garner.Table("x.raw"), garner.DTypeError, 'dtype="f32"'),
    (lambda: garner.Table("x.raw", dtype=np.float32, shape=(3,)), garner.FileError, "shape= with -1"),
    (lambda: garner.Table("t.npy", shape=(3,)), garner.OperatorError, "shape= and offset= are for"),
    (lambda: garner.Table("t.npy", raw=True), garner.OperatorError, "raw=True is for those of"),
    (lambda: garner.Table("x.raw", dtype="f99"), garner.DTypeError, "f99"),
    (lambda: garner.Table("x.raw", dtype=np.longdouble), garner.DTypeError, "dtype="),
    (lambda: garner.Table("t.npy", to=object()), garner.DTypeError, "to=<object"),  # type: ignore[arg-type]
    (lambda: garner.Table(""), garner.OperatorError, "no name of a file"),
    (lambda: garner.Table("a\0b"), garner.OperatorError, "no name of a file"),
    (lambda: garner.Table(3), garner.DTypeError, "file is of int"),  # type: ignore[arg-type]
    (lambda: garner.lint("t.npy", runtimes="o"), garner.OperatorError, 'runtime "o"; there are'),
    (lambda: garner.gather("nope", [1], [0]), garner.OperatorError, r"garner\.operators\(\) lists them"),
    (lambda: garner.gather(3, [1], [0]), garner.OperatorError, "operator=3; give a name"),  # type: ignore[arg-type]
    (lambda: garner.gather("onnx.Gather", [1], [0], negative=True), garner.OperatorError, "negative=True"),  # type: ignore[arg-type]
    (lambda: garner.infer("onnx.Gather", (2, 3), "i64[1]"), garner.OperatorError, "as text"),  # type: ignore[arg-type]
    (lambda: G("", "ids.npy", "o.npy"), garner.OperatorError, "data is ''"),
    (lambda: G("t.npy", "ids.npy", "o.npy", memory=[1]), garner.OperatorError, "memory"),
    (lambda: G("t.npy", "ids.npy", "o.npy", memory=1.5e7 + 0.5), garner.OperatorError, "memory"),
    (lambda: G("t.npy", "ids.npy", "o.npy", operator="torch.embedding_bag", offsets=np.array([0])), garner.DTypeError, "offsets is of ndarray"),
    (lambda: G("t.npy", "ids.npy", "o.npy", operator="torch.embedding_bag", offsets=np.array([0, 1])), garner.DTypeError, "offsets is of ndarray"),
]


@pytest.mark.parametrize("n", range(len(WRONG)))
def test_arguments(n: int) -> None:
    call, kind, words = WRONG[n]
    with pytest.raises(kind, match=words) as e:
        call()
    for alien in ("Options.", "json:", "Go struct", " --", '"garner ', "nil"):
        assert alien not in str(e.value)


def raw(**options: Any) -> garner.Table:
    return garner.Table("x.raw", **{"dtype": "u8", "shape": (-1,), **options})


A = np.arange(4.0)
OPTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {  # each with the kinds that it takes
    "gather_file threads": (lambda v: G("t.npy", "ids.npy", "o.npy", threads=v), "int"),
    "gather_file resume": (lambda v: G("t.npy", "ids.npy", "o.npy", resume=v), "int bool"),
    "gather_file progress": (lambda v: G("t.npy", "ids.npy", "o.npy", progress=v), "int bool"),
    "gather_file memory": (lambda v: G("t.npy", "ids.npy", "o.npy", memory=v), ""),
    "gather_file name": (lambda v: G("t.npy", "ids.npy", "o.npy", name=v), ""),
    "gather_file to": (lambda v: G("t.npy", "ids.npy", "o.npy", to=v), ""),
    "gather_file axis": (lambda v: G("t.npy", "one.npy", "o.npy", axis=v), "int"),
    "gather_file negative": (lambda v: G("t.npy", "ids.npy", "o.npy", negative=v), ""),
    "gather_file operator": (lambda v: G("t.npy", "ids.npy", "o.npy", operator=v), ""),
    "gather_file offsets": (lambda v: G("t.npy", "ids.npy", "o.npy", operator="torch.embedding_bag", offsets=v), ""),
    "gather_file values": (lambda v: G("t.npy", "ids.npy", "o.npy", offsets=v), ""),
    "gather threads": (lambda v: garner.gather("onnx.Gather", A, [1], threads=v), "int"),
    "gather axis": (lambda v: garner.gather("onnx.Gather", np.ones((4, 4)), [1], axis=v), "int"),
    "gather negative": (lambda v: garner.gather("onnx.Gather", A, [1], negative=v), ""),
    "gather outside": (lambda v: garner.gather("onnx.Gather", A, [1], outside=v), "int bool float huge"),
    "gather operator": (lambda v: garner.gather(v, A, [1]), ""),
    "gather batch_dims": (lambda v: garner.gather("openvino.Gather", np.ones((1, 4)), [[1]], axis=1, batch_dims=v), "int"),
    "Table shape": (lambda v: raw(shape=v), ""),
    "Table extent": (lambda v: raw(shape=(v, -1)), "int"),
    "Table offset": (lambda v: raw(offset=v), "int"),
    "Table dtype": (lambda v: raw(dtype=v), "bool"),
    "Table raw": (lambda v: raw(raw=v), ""),
    "Table pread": (lambda v: raw(pread=v), "int bool"),
    "Table to": (lambda v: garner.Table("t.npy", to=v), ""),
    "info extent": (lambda v: garner.info("x.raw", dtype="u8", shape=(v, -1)), "int"),
    "info offset": (lambda v: garner.info("x.raw", dtype="u8", shape=(-1,), offset=v), "int"),
    "lint runtimes": (lambda v: garner.lint("t.npy", runtimes=v), ""),
    "lint runtime": (lambda v: garner.lint("t.npy", runtimes=[v]), ""),
    "infer axis": (lambda v: garner.infer("onnx.Gather", "f32[2,2]", "i64[1]", axis=v), "int"),
    "infer operator": (lambda v: garner.infer(v, "f32[2]", "i64[1]"), ""),
    "explain outside": (lambda v: garner.explain("onnx.Gather", A, [1], outside=v), "int float huge"),
    "operators": (lambda v: garner.operators(v), ""),
}
GIVEN: list[tuple[str, Any]] = [
    ("int", np.int64(1)), ("int", np.int32(1)), ("bool", np.bool_(True)), ("float", 1.5), ("float", float("nan")), ("text", "2"), ("huge", 2**63), ("huge", 2**70), ("huge", -(2**70)),
    ("digits", 10**5000), ("negative", -3), ("list", ["x"]), ("list", [None]), ("array", np.arange(2)), ("array", np.arange(2.0)), ("dict", {}), ("object", object()), ("bytes", b"2"),
]  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name: str) -> None:
    """Whatever an option is given, it is taken or refused in words of Python, before the engine sees it."""
    call, takes = OPTIONS[name]
    for kind, value in GIVEN:
        if kind in takes.split():
            call(value)
        elif name in ("gather outside", "explain outside") and kind == "negative":
            call(value)
        else:
            with pytest.raises(garner.Error) as e:
                call(value)
            for alien in ("json", "JSON", "Go struct", "Options.", "digits"):
                assert alien not in str(e.value), (kind, str(e.value))


@pytest.mark.parametrize("far", [2**63, 2**64, 2**70, -(2**63) - 1, -(2**70)])
def test_numbers_of_rows_beyond_64_bits(far: int) -> None:
    with garner.Table("t.npy") as t:
        for call, at in ((lambda: t[far], (0,)), (lambda: t[[0, far]], (1,)), (lambda: t.lookup([[0], [far]]), (1, 0)), (lambda: t.lookup(far), (0,))):
            with pytest.raises(garner.IndexError, match="outside") as e:
                call()
            assert (e.value.value, e.value.dim, e.value.position) == (far, 4, at)
        with pytest.raises(garner.DTypeError):
            t[[0.5, far]]


def test_types_by_numpys_names() -> None:
    for dtype in ("f32", "float32", np.float32, np.dtype("f4")):
        Path("y.raw").write_bytes(bytes(24))
        with garner.Table("y.raw", dtype=dtype, shape=(-1, 3)) as t:
            assert t.dtype == np.float32 and t.shape == (2, 3)
    with garner.Table("t.npy", to=np.float16) as t:
        assert t.dtype == np.float16
    with garner.Table(b"t.npy") as t:
        assert len(t) == 4


def test_a_table_is_an_operand_of_gather_file() -> None:
    Path("x.raw").write_bytes(bytes(range(33)))
    told: list[Any] = []
    with garner.Table("x.raw", dtype="u8", shape=(-1, 3)) as t, garner.Table("ids.npy") as ids:
        assert G(t, ids, "o.npy", memory=64e6, progress=lambda *n: told.append(n)) == "u8[2,3]"
    assert np.load("o.npy").tolist() == [[3, 4, 5], [6, 7, 8]]
    assert told and all(total == 6 for _, total in told) and told[-1][0] == 6


def test_a_result_that_cannot_be_continued_says_what_begins_anew() -> None:
    np.save("big.npy", np.ones((1 << 16, 256), np.float32))
    np.save("many.npy", np.arange(1 << 16))

    def stop(done: int, total: int) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        G("big.npy", "many.npy", "o.npy", memory="1M", resume=True, progress=stop)
    if not list(Path().glob("*o.npy*")):
        pytest.skip("it was done before it was stopped")
    np.save("many.npy", np.arange(1 << 16)[::-1])
    with pytest.raises(garner.FileError, match="resume=False begins anew"):
        G("big.npy", "many.npy", "o.npy", memory="1M", resume=True)
