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
    (lambda: garner.gather(3, [1], [0]), garner.OperatorError, "operator 3"),  # type: ignore[arg-type]
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


def test_types_by_numpys_names() -> None:
    for dtype in ("f32", "float32", np.float32, np.dtype("f4")):
        Path("y.raw").write_bytes(bytes(24))
        with garner.Table("y.raw", dtype=dtype, shape=(-1, 3)) as t:
            assert t.dtype == np.float32 and t.shape == (2, 3)
    with garner.Table("t.npy", to=np.float16) as t:
        assert t.dtype == np.float16
    with garner.Table(b"t.npy") as t:  # type: ignore[arg-type]
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
