"""Files and models: what they hold, gathers between them, shapes, pictures, findings."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, Callable, Literal, Sequence

import numpy as np
from numpy.typing import DTypeLike

from . import _native, _ops, _options, _views
from ._native import OperatorError, ffi
from ._table import Table, locate


@dataclass(frozen=True)
class Array:
    """One array of a file, as its header says.

    Attributes
    ----------
    name : str
        Empty where the format has no names.
    dtype : str
        The type that a table has, such as ``"f32"``; empty where it is not read.
    kind : str
        The type as the file names it, such as ``"Q8_0"``.
    shape : tuple of int or None
    bytes : int
        The size of the elements in the file, -1 where it is not known.
    path : str
    note : str
        Why the array is not read, or only whole.
    """

    name: str
    dtype: str
    kind: str
    shape: tuple[int, ...] | None
    bytes: int
    path: str
    note: str = ""


def info(
    file: str | bytes | os.PathLike[Any], *, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None, offset: int = 0, raw: bool = False, lenient: bool = False,
    signature: str | None = None,
) -> list[Array]:  # fmt: skip
    """List the arrays of a file, of the files of a pattern or of a model. Headers alone are read.

    Parameters
    ----------
    file : str or os.PathLike
        As `Table` takes it; without ``#NAME`` all arrays.
    dtype, shape, offset, raw, lenient, signature
        As of `Table`.

    Returns
    -------
    list of Array

    Raises
    ------
    FileNotFoundError, garner.FileError, garner.Error
        No such file, or one that is damaged.

    Examples
    --------
    >>> [(a.dtype, a.shape) for a in garner.info(path)]
    [('f32', (4, 2))]
    """
    found = _native.ask({"do": "info", **locate(file, dtype=dtype, shape=shape, offset=offset, raw=raw, lenient=lenient, signature=signature)}, job=True)
    return [Array(**{**a, "shape": None if a["shape"] is None else tuple(a["shape"])}) for a in found]


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _bytes(size: Any) -> int:
    if size is None:
        return 0
    wrong = OperatorError(f'garner: memory={_options.shown(size)}; give bytes, or text such as "512M" or "2G"')
    if isinstance(size, str):
        m = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([KMGT]?)(?:i?B)?", size.strip(), re.I)
        if not m:
            raise wrong
        n = int(float(m[1]) * _UNITS[m[2].upper()])
    elif _options.whole(size) or isinstance(size, (float, np.floating)) and float(size).is_integer():
        n = int(size)
    else:
        raise wrong
    if n < 1 << 20:
        raise OperatorError(f"garner: memory={_options.shown(size)}; 1 MiB is the least")
    return _options.integer("memory", n, 1 << 20)


def gather_file(
    data: str | bytes | os.PathLike[Any] | Table, indices: str | bytes | os.PathLike[Any] | Table, out: str | bytes | os.PathLike[Any], *, operator: str = "garner.Gather",
    axis: int | None | EllipsisType = ..., memory: int | str | None = None, resume: bool = False, progress: bool | Callable[[int, int], None] = False,
    name: str | None = None, to: str | None = None, negative: Literal["reject", "from-end"] | None = None, outside: Any = None,
    threads: int = 0, **values: Any,
) -> str:  # fmt: skip
    """Gather from files into a file. Each may be larger than memory.

    The file appears whole or not at all. A result of 64 MiB or more, or one with `resume`, that is interrupted can be
    continued by the same call with ``resume=True``. The result is on the disk before it has its name, so that a power cut leaves no half of it:
    from files in the page cache, `np.save` of a memmap's rows, which waits for no disk, is faster.

    Parameters
    ----------
    data, indices : str, os.PathLike or Table
        Files, or Tables over those that need ``dtype=``, ``shape=``, ``offset=`` or ``raw=``.
    out : str or os.PathLike
        The result: a .npy, .npz, .safetensors, .gguf or .raw file.
    operator : str
        Any operator of `operators`. The default refuses every index outside 0 … dim-1.
    axis : int, optional
        The gathered axis. The default is the operator's.
    memory : int or str, optional
        The most bytes that the run holds, such as ``"512M"``. The default is as much as is fastest.
    resume : bool
        Continue an interrupted run; safe on a first one.
    progress : bool or callable
        True shows a bar where tqdm is installed; a callable gets the bytes that are written and their total.
    name : str, optional
        The array's name in a format with names.
    to : {"f32", "f16", "bf16", "f64"}, optional
        Convert the data's floats as they are read.
    negative, outside
        As of `gather`.
    threads : int
        The most cores; 0 is all.
    **values
        The operator's attributes, and its further operands as files or Tables.

    Returns
    -------
    str
        The type and the shape of the result, such as ``"f32[2,4]"``.

    Raises
    ------
    garner.IndexError
        An index that the operator refuses; no file is written.
    OSError
        A file that cannot be read or written, or that an earlier run left and this one cannot continue.

    Examples
    --------
    >>> import os
    >>> ids = os.path.join(os.path.dirname(path), "ids.npy")
    >>> np.save(ids, [2, 0])
    >>> garner.gather_file(path, ids, os.path.join(os.path.dirname(path), "rows.npy"), memory="64M")
    'f32[2,2]'
    """
    d = _ops.describe(operator)
    op, further = _ops.operation(operator, axis, negative, outside, values, d["further"])
    given = [{"file": ""} if f is None else locate(f, role=n) for n, f in zip(d["further"], further)]
    request = {
        "do": "gather_file", "op": op,
        "gather": {
            "data": locate(data, to=to, role="data"), "indices": locate(indices, role="indices"), "further": given, "out": locate(out, role="out")["file"],
            "name": "" if name is None else _options.text("name", name), "memory": _bytes(memory), "threads": _options.integer("threads", threads, 0, _options.CORES),
            "resume": _options.flag("resume", resume),
        },
    }  # fmt: skip
    bar, told = None, None
    if not callable(progress) and _options.flag("progress", progress):
        try:
            import tqdm
        except ModuleNotFoundError as e:
            if e.name != "tqdm":
                raise
        else:
            bar = tqdm.tqdm(total=0, unit="B", unit_scale=True, desc=os.path.basename(_native.path(out)))
    done, total = ffi.new("int64_t *"), ffi.new("int64_t *")
    if bar is not None or callable(progress):

        def told(job: int) -> None:
            _native.lib.garner_job_progress(job, done, total)
            if callable(progress):
                progress(done[0], total[0])
            elif bar is not None:
                bar.total = total[0]
                bar.update(done[0] - bar.n)

    try:
        answer = _native.ask(request, job=True, progress=told)
        if callable(progress):
            size = answer["bytes"]
            progress(size, size)
        elif bar is not None and bar.total:
            bar.update(bar.total - bar.n)
    finally:
        if bar is not None:
            bar.close()
    spec: str = answer["spec"]
    return spec


def infer(operator: str, data: str, indices: str | None = None, *, axis: int | None | EllipsisType = ..., **values: Any) -> str:
    """Infer the type and the shape of a result from those of its operands, as far as they are known.

    Parameters
    ----------
    operator : str
        A name of `operators`.
    data, indices : str
        A type with dims, which may be unknown or ranges: ``"f32[2,?,4]"``, ``"i64[1..8]"``. None for operators that decode all of `data`.
    axis : int, optional
        The gathered axis. The default is the operator's.
    **values
        Attributes, and the types of further operands.

    Returns
    -------
    str
        Such as ``"f32[8,?]"``.

    Raises
    ------
    garner.ShapeError, garner.DTypeError, garner.OperatorError
        Operands that the operator refuses whatever the unknown dims are.

    Examples
    --------
    >>> garner.infer("onnx.GatherND-13", "f32[2,?,4]", "i64[8,2]")
    'f32[8,4]'
    """
    d = _ops.describe(operator)
    names = d["further"]
    op, further = _ops.operation(operator, axis, None, None, values, names)
    if d["takes_indices"] and not indices:
        raise OperatorError(f"garner: {operator} takes indices; give their type too")
    given = [_spec("data", data), _spec("indices", indices), *(_spec(n, f) for n, f in zip(names, further))]
    answer: str = _native.ask({"do": "infer", "op": op, "specs": given}, job=True)
    return answer


def _spec(role: str, spec: Any) -> str:
    if spec is not None and not isinstance(spec, str):
        raise OperatorError(f'garner: {role}={type(spec).__name__}; infer takes types as text, such as "f32[2,?,4]"')
    return spec or ""


@dataclass(frozen=True)
class Explanation:
    """A gather in words and as a picture. A notebook shows the picture.

    Attributes
    ----------
    text : str
        One fact a line.
    svg : str
        Data, indices and result as grids, each cell of the result in the colour of its row of data.
    """

    text: str
    svg: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg


def explain(operator: str, data: Any, indices: Any, *, axis: int | None | EllipsisType = ..., negative: str | None = None, outside: Any = None, **values: Any) -> Explanation:
    """Explain a gather, and run nothing. An index outside is part of the explanation.

    Parameters
    ----------
    operator, data, indices, axis, negative, outside, **values
        As of `gather`.

    Returns
    -------
    Explanation

    Raises
    ------
    garner.ShapeError, garner.DTypeError, garner.OperatorError
        A call that the operator does not take.

    Examples
    --------
    >>> e = garner.explain("onnx.Gather-13", np.array([[1, 2], [3, 4]]), [1, 0])
    >>> "<svg" in e.svg
    True
    """
    d = _ops.describe(operator)
    names = [n for n in d["further"] if n not in d["attributes"]]
    op, further = _ops.operation(operator, axis, negative, outside, values, names)
    if indices is None and d["takes_indices"]:
        raise OperatorError(f"garner: {operator} takes indices")
    views = [_views.view(data), *(None if x is None else _views.operand(n, x) for n, x in zip(("indices", *names), (indices, *further)))]
    tensors = [None if v is None else _views.tensor(v) for v in views]
    answer = _native.ask({"do": "explain", "op": op}, [_native.NULL if t is None else t[0] for t in tensors], keep=(views, tensors), job=True)
    return Explanation(answer["text"], answer["svg"])


@dataclass(frozen=True)
class Finding:
    """A gather of a model that another runtime refuses, or answers differently.

    Attributes
    ----------
    rule, title : str
        The rule's number, such as ``"L.2"``, and its name.
    severity : {"note", "warning", "error"}
    node, operator : str
        The node, and its operator's name.
    message, remedy : str
    runtimes : tuple of str
        Those that the finding concerns.
    line, column : int
        The node's place in a file of text, from 1; 0 in others.
    """

    rule: str
    title: str
    severity: str
    node: str
    operator: str
    message: str
    remedy: str
    runtimes: tuple[str, ...]
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.severity} {self.rule}: {self.node} ({self.operator}): {self.message}"


def lint(model: str | bytes | os.PathLike[Any], *, runtimes: Sequence[str] = (), lenient: bool = False, signature: str | None = None) -> list[Finding]:
    """Find the gathers of a model that another runtime refuses or answers differently.

    Parameters
    ----------
    model : str or os.PathLike
        A model file, such as .onnx or .xml.
    runtimes : sequence of str, optional
        The runtimes to report on, such as ``"onnxruntime"``; all where it is empty.
    lenient : bool, optional
        Accept text of an .xml that OpenVINO refuses where it has one sensible meaning.
    signature : str, optional
        The signature of a model of TensorFlow or TFLite, or a function of TensorFlow. The default is ``"serving_default"`` or the only one, and all of TFLite.

    Returns
    -------
    list of Finding
        In the order of the nodes.

    Raises
    ------
    FileNotFoundError, garner.Error
        No such file, or one that is no model.
    """
    at = locate(model, lenient=lenient, signature=signature, role="model")
    if isinstance(model, Table):
        at = {"file": at["file"]}
    answer = _native.ask({"do": "lint", **at, "runtimes": _options.texts("runtimes", runtimes)}, job=True)
    return [Finding(**{**f, "runtimes": tuple(f["runtimes"])}) for f in answer["findings"]]
