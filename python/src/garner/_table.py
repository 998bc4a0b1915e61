"""Tables in files."""

from __future__ import annotations

import base64
import builtins
import copyreg
import os
import re
import sys
from types import EllipsisType, TracebackType
from typing import Any, Iterator, NoReturn, Sequence, TypeVar, Union, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _keys, _native, _options, _views
from ._native import ClosedError, DTypeError, OperatorError, OverlapError, ShapeError, ffi

_Numbers = Union[NDArray[Any], Sequence[int], Sequence[Sequence[int]]]  # those of which rows come as NumPy's
_Out = TypeVar("_Out", bound=object)
_Self = TypeVar("_Self", bound="Table")
_ndarray = np.ndarray
_from_buffer, _BYTES = _native.from_buffer, _native.BYTES
_int64 = np.dtype(np.int64)
_BRIEF, _FROM_END = 1, 2  # flags of garner.h
_LATER = -1  # what a brief lookup returns that is a job's
# The bits of numbers of rows, below 0 where they have a sign.
_BITS = {np.dtype(f"{kind}{size}"): size * by for kind, by in (("i", -8), ("u", 8)) for size in (1, 2, 4, 8)}


class Table(_views.Rows):
    """Rows of an array in a file, by their numbers.

    Nothing is read before a row is asked for. Rows that are in the page cache are copied from the mapped file; the others
    of a batch are read together, each once. Any number of threads may use one Table. In a process that was forked from
    the one that made it, and by pickle or a copy, it opens its file again, wherever that process works: by its absolute path.
    A file that is then another one, or was written to or moved since, is a FileError, and a closed Table is a ClosedError. A class that
    derives from Table keeps itself and its attributes, without a call of its ``__init__``.

    Elements that NumPy lacks have the types of ml_dtypes, and those narrower than a byte (i4, u4, i2, u2, u1, f4e2m1) a
    byte each, as there. Of nf4 there is none: convert it with ``to="f32"``. Strings are read whole, into an array of
    objects: each a str, bytes that are no UTF-8 as ``surrogateescape`` has them, which NumPy's StringDType cannot hold.

    Parameters
    ----------
    file : str, bytes or os.PathLike
        ``FILE`` or ``FILE#NAME``: .npy, .npz, .safetensors, .gguf, .onnx, .xml, .raw, .bin, a pattern such as ``part-*.npy``
        whose files are joined along axis 0, or a folder of shards.
    dtype : str or dtype, optional
        The type of the elements of a file that does not say it, such as ``"f32"`` or ``np.float32``. Text is a name of garner: ``"i8"`` has 8 bits.
    shape : sequence of int, optional
        The shape of such an array, -1 once for what the size of the file tells.
    offset : int, optional
        The bytes before the first element of such a file.
    raw : bool, optional
        Read blocks of quantised tensors as bytes instead of dequantising them to f32.
    to : {"f32", "f16", "bf16", "f64"} or dtype, optional
        Convert floats as they are read.
    pread : bool, optional
        Read by system calls and map nothing. A lookup of a few warm rows then takes some 40 to 80 µs, most of which a thread takes that handlers of signals can end.
    lenient : bool, optional
        Of a model: accept text of an .xml that OpenVINO refuses where it has one sensible meaning.
    signature : str, optional
        Of a model of TensorFlow or TFLite, whose signature (or function) has the constants.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        A DTypeError where NumPy has none without ml_dtypes, which is not installed. PyTorch's tensors may have it.
    ndim : int
    row_bytes : int
        Bytes of a row.

    Raises
    ------
    FileNotFoundError, garner.FileError
        No such file or array, or one that cannot be read.
    garner.ShapeError
        An array without rows of whole bytes.

    Examples
    --------
    >>> t = garner.Table(path)
    >>> t.shape, len(t), t[[2, 0]].tolist()
    ((4, 2), 4, [[4.0, 5.0], [0.0, 1.0]])
    >>> t.close()
    """

    __slots__ = (
        "_file", "_request", "_handle", "_owner", "_generation", "_opened", "_closed", "_tail", "_cffi_lookup", "_cffi_rows", "_shape", "_dtype", "_name", "_plain", "_row_bytes", "_rows", "_bits", "_strings",
        "__weakref__",
    )  # fmt: skip

    _shape: tuple[int, ...]
    _row_bytes: int
    _dtype: np.dtype[Any] | None  # None where NumPy lacks it, and torch has it

    def __init__(
        self, file: str | bytes | os.PathLike[Any], *, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None, offset: int = 0,
        raw: bool = False, to: DTypeLike | None = None, pread: bool = False, lenient: bool = False, signature: str | None = None,
    ) -> None:  # fmt: skip
        request = locate(file, dtype=dtype, shape=shape, offset=offset, raw=raw, to=to, pread=pread, lenient=lenient, signature=signature)
        self._begin(request["file"], {**request, "file": _absolute(request["file"])})  # it may be opened again in another folder

    def _begin(self, file: str, request: dict[str, Any]) -> None:
        self._file, self._request = file, request
        self._closed = False
        self._handle = 0
        self._owner: Any = None
        self._generation = -1
        self._opened: dict[int, Any] = {}  # by the generation
        self._strings: NDArray[Any] | None = None
        self._open()

    def _open(self) -> None:
        library, generation = _native.load(), _native.generation
        # No lock: a file system may not answer. Of threads that open it at once one comes first, and all set what that one was told.
        opened = _native.opened(self._request)
        told, self._owner = self._opened.setdefault(generation, opened)
        for other in self._opened.keys() - {generation}:
            self._opened.pop(other, None)
        self._request["identity"] = told["identity"]
        # The generation is the last that is set: a thread that sees that of this process asks, without a lock, by all of the others.
        self._handle, self._cffi_lookup, self._cffi_rows = told["table"], library.garner_lookup_now, library.garner_rows
        self._shape, self._row_bytes, self._bits = tuple(told["shape"]), told["row_bytes"], told["bits"]
        self._tail, self._rows = self._shape[1:], told["rows"]
        if self._bits == 0:
            found = np.empty(len(told["strings"]), object)
            found[:] = [base64.b64decode(s).decode("utf-8", "surrogateescape") for s in told["strings"]]
            self._strings = found.reshape(self._shape)
            self._dtype, self._name, self._plain = found.dtype, told["dtype"], False
            self._generation = generation
            return
        self._name, self._dtype = told["dtype"], None
        try:
            self._dtype = _views.numpy_dtype(self._name)
        except DTypeError as e:
            if not _native.raised(e):
                raise
            if self._bits < 8 or self._name not in _views._TORCH.values():
                self._generation = generation
                self.close()
                raise
        self._plain = self._bits >= 8 and self._dtype is not None
        self._generation = generation

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes."""
        return self._shape

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self._row_bytes

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements."""
        if self._dtype is None:
            return _views.numpy_dtype(self._name)
        return self._dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    def _ready(self) -> Any:
        """Return what keeps the file open, of this process: its last user closes it."""
        if not self._closed and self._generation != _native.generation and self._strings is None:
            self._open()
        owner = self._owner
        if self._closed:
            self.close()  # also what was opened since
            raise ClosedError("garner: the table is closed")
        return owner

    @overload
    def lookup(self, ids: _Numbers, out: None = None) -> NDArray[Any]: ...

    @overload
    def lookup(self, ids: Any, out: _Out) -> _Out: ...

    @overload
    def lookup(self, ids: Any, out: None = None) -> Any: ...

    def lookup(self, ids: Any, out: Any = None) -> Any:
        """Return rows by their numbers, strictly: a negative number is refused.

        Parameters
        ----------
        ids : array_like of integers
            Row numbers, of any shape. A tensor of PyTorch gives one back.
        out : ndarray, optional
            A row-major array of the result's type and shape.

        Returns
        -------
        array
            Of shape ``ids.shape + table.shape[1:]``.

        Raises
        ------
        garner.IndexError
            A number that is negative or not below ``len(table)``; no row is read then, and `out` is as it was.
        garner.OverlapError
            `out` shares memory with `ids`.
        OSError
            A file that was cut short, or written to some 10 ms ago or earlier, since it was opened; with ``pread=True`` only one cut short.
        garner.ClosedError
            The table is closed.
        """
        if type(ids) is _ndarray and self._plain and self._generation == _native.generation:
            bits = -64 if ids.dtype is _int64 else _BITS.get(ids.dtype)
            if bits is not None:
                if out is None:
                    made = np.empty(ids.shape + self._tail, self._dtype)
                    if self._copied(ids, bits, made, 0):
                        return made
                elif type(out) is _ndarray and out.dtype == self._dtype and out.shape == ids.shape + self._tail and out.flags.c_contiguous:
                    if self._copied(ids, bits, out, 0):
                        return out
        a, back = _views.integers("numbers of rows", ids, self._rows, 0)
        if a.dtype.kind == "b":
            raise DTypeError("garner: numbers of rows of bool; give integers, or the mask to table[mask]")
        return self._found(a, out, back)

    def _copied(self, ids: Any, bits: int, made: Any, flags: int) -> bool:
        """Copy rows; False where the memory of one of both is strided or read-only."""
        owner = self._owner  # which keeps the file open to the end, whatever closes the table
        try:
            of, to = _from_buffer(_BYTES, ids), _from_buffer(_BYTES, made, True)
        except (TypeError, ValueError, BufferError) as e:
            if not _native.raised(e):
                raise
            return False
        failed = self._cffi_lookup(self._handle, of, ids.size, bits, to, made.nbytes, flags | _BRIEF)
        if failed == _LATER:
            try:
                self._job(ids, made, flags)
            except _native.IndexError as e:
                raise _placed(e, ids.shape) from None
        elif failed:
            _fail(failed, ids.shape)
        return True

    def _from_start(self, a: Any) -> Any:
        """Return numbers of which negative ones count from the end as numbers that count from the start."""
        _views.check(a, 0, self._rows, -self._rows)
        if a.dtype.kind != "i" or not a.size or all(a[key].min() >= 0 for key in _views.parts(a.shape, 8)):
            return a
        made = np.empty(a.shape, np.int64)  # of a narrow type the sum would wrap
        for key in _views.parts(a.shape, 8):
            wide = a[key].astype(np.int64)
            made[key] = np.where(wide < 0, wide + self._rows, wide)
        return made

    def _range(self, first: int, step: int, made: Any, count: int) -> None:
        """Copy the rows first, first + step, … to made."""
        owner = self._owner
        failed = self._cffi_rows(self._handle, first, step, count, _from_buffer(_BYTES, made), made.nbytes, _BRIEF)
        if failed == _LATER:
            self._job(np.arange(first, first + count * step, step), made)
        elif failed:
            _native.fail(failed)

    def _found(self, a: Any, out: Any, back: Any) -> Any:
        try:
            return self._lookup(a, out, back)
        except _native.IndexError as e:
            raise _placed(e, a.shape) from None

    def _lookup(self, a: Any, out: Any, back: Any) -> Any:
        owner = self._ready()
        shape = a.shape + self._tail
        if self._bits < 8:
            return self._unpacked(a, out, back)
        given, a = a, _views.contiguous(a)
        tensor = None
        if out is None:
            if back is not None and _views.is_torch(back.owner):
                tensor = back.empty(shape, self._name)
                made = _memory(tensor)
            else:
                made = np.empty(shape, self.dtype)
        else:
            if _views.is_torch(out):
                v = _views.view(out)
                kind, fits, made = v.dtype, v.code == _views.CODES[self._name] and not v.moved, _memory(out)
            else:
                if not isinstance(out, _ndarray) and not _views.foreign(out):
                    raise ShapeError("garner: out must be a row-major array that can be written to")
                made = _views.view(out).owner if _views.foreign(out) else _views.plain(out)
                kind, fits = made.dtype, made.dtype == self.dtype
            if made.shape != shape:
                raise ShapeError(f"garner: out has shape {list(made.shape)}, the result {list(shape)}")
            if not fits:
                raise DTypeError(f"garner: out has elements of {kind}, the table of {self._name}")
            if not made.flags.c_contiguous or not made.flags.writeable:
                raise ShapeError("garner: out must be a row-major array that can be written to")
            _apart(given, made)
        self._fetch(a, made)
        if tensor is not None:
            return tensor
        if out is not None:
            return out
        return made if back is None else back.back(made)

    def _fetch(self, ids: Any, made: Any) -> None:
        """Copy the bytes of rows to an array of any type."""
        library = _native.load()
        failed = library.garner_lookup_now(self._handle, _views.pointer(ids), ids.size, _BITS[ids.dtype], _views.pointer(made), made.nbytes, _BRIEF)
        if failed == _LATER:
            self._job(ids, made)
        elif failed:
            _native.fail(failed)

    def _job(self, ids: Any, made: Any, flags: int = 0) -> None:
        """Copy the bytes of rows beside this thread, which a signal can end."""
        code = ffi.new("DLDataType *")
        (code.code, code.bits), code.lanes = _views.code_of(ids.dtype)[0], 1
        library, begun = _native.load(), _native.generation
        job = _native.begin(ids, made, code)
        try:
            failed = library.garner_lookup(self._handle, _views.pointer(ids), ids.size, code, _views.pointer(made), made.nbytes, flags, job)
            if failed:
                _native.fail(failed)
            if job:
                _native.wait(job)
        finally:
            _native.settle(job, begun)

    def _unpacked(self, ids: Any, out: Any, back: Any) -> Any:
        """Return rows of strings, or of elements narrower than a byte, which get one each."""
        shape = ids.shape + self._tail
        if back is not None and _views.is_torch(back.owner):
            raise DTypeError(f"garner: a table of {self.dtype}, which torch lacks; give the numbers as an array of NumPy")
        if out is not None and (type(out) is not _ndarray or out.shape != shape or out.dtype != self.dtype):
            raise ShapeError(f"garner: out must be an array of NumPy of {self.dtype} and of shape {list(shape)}")
        if out is not None:
            _apart(ids, out)
        if self._strings is not None:
            _views.check(ids, 0, self._rows, 0)
            made = self._strings[ids]
        else:
            packed = np.empty((ids.size, self._row_bytes), np.uint8)
            self._fetch(_views.contiguous(ids), packed)
            each = 8 // self._bits
            wide = np.empty((ids.size, self._row_bytes, each), np.uint8)
            for key in _views.parts(packed.shape, each):
                part = wide[key]
                for k in range(each):
                    np.right_shift(packed[key], self._bits * k, out=part[..., k])
                part &= (1 << self._bits) - 1
            made = wide.reshape(shape).view(self.dtype)
        if out is None:
            return made
        for key in _views.parts(shape, out.itemsize):
            out[key] = made[key]
        return out

    @overload
    def __getitem__(self, key: slice | _Numbers | EllipsisType) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Return what an array of NumPy returns for a key, as an array of its own.

        Numbers, slices, arrays of numbers, masks, None and Ellipsis, for every axis, mean what they mean to NumPy; negative numbers count from the end.
        Rows are read whole, each once, also where the key asks for few columns of them. A bool in the place of a number is refused;
        in a list it is the 0 or 1 that ``np.asarray`` makes of it, as for NumPy.

        Raises
        ------
        garner.IndexError
            A number outside its axis, with the ``.axis``; no row is read then.
        garner.ShapeError, garner.DTypeError
            A key that NumPy does not take either, a mask of another shape, or a bool.
        """
        if type(key) is _ndarray and self._plain and self._generation == _native.generation:
            bits = -64 if key.dtype is _int64 else _BITS.get(key.dtype)
            if bits is not None and key.ndim:
                return self._taken(key, bits)
        owner = self._ready()
        if isinstance(key, slice):
            return self._rows_of(_keys.split((key,), self._shape)[0])
        if _options.whole(key) and not isinstance(key, bool):
            if not -self._rows <= key < self._rows:
                raise _views.outside((), int(key), 0, self._rows, -self._rows)
            at = int(key) if key >= 0 else int(key) + self._rows
            return self._rows_of(range(at, at + 1))[0]
        if key is None or isinstance(key, (tuple, EllipsisType, bool, np.bool_)):
            return self._keyed(key if isinstance(key, tuple) else (key,))
        a, back = _views.integers("numbers of rows", key, self._rows, -self._rows)
        if back is None and (a.dtype.kind == "b" and a.shape != (self._rows,) or not a.ndim):
            return self._keyed((a,))
        if a.dtype.kind == "b":
            if a.shape != (self._rows,):
                raise ShapeError(f"garner: a mask of shape {list(a.shape)} for {self._rows} rows")
            a = _views.places(a)
        if back is None and self._plain and a.dtype in _BITS:
            return self._taken(a, _BITS[a.dtype])
        return self._found(self._from_start(a), None, back)

    def _keyed(self, key: tuple[Any, ...]) -> Any:
        """Return what an array of NumPy has at a key."""
        rows, within = _keys.split(key, self._shape)
        block = self._rows_of(rows)
        try:
            found = _keys.taken(block, within)
        except (builtins.IndexError, ValueError) as e:
            if not _native.raised(e):
                raise
            raise ShapeError(f"garner: {e}") from None
        if isinstance(found, _ndarray) and found.base is not None and 2 * found.nbytes <= block.nbytes:
            return _views.of_type(found, found.dtype)  # which keeps no row that nobody asked for
        return found

    def _rows_of(self, rows: Any) -> Any:
        """Return a range of rows, or those of a vector."""
        if self._plain and not isinstance(rows, range):
            made = np.empty((len(rows), *self._tail), self._dtype)
            if self._copied(rows, -64, made, 0):  # without a look whether the table was closed since
                return made
        if not self._plain or not isinstance(rows, range):
            ids = np.arange(rows.start, rows.stop, rows.step, dtype=np.int64) if isinstance(rows, range) else rows
            return self.lookup(ids)
        made = np.empty((len(rows), *self._tail), self._dtype)
        self._range(rows.start, rows.step, made, len(rows))
        return made

    def _taken(self, ids: Any, bits: int) -> Any:
        """Return rows by numbers of which negative ones count from the end."""
        made = np.empty(ids.shape + self._tail, self._dtype)
        if self._copied(ids, bits, made, _FROM_END):
            return made
        return self._found(self._from_start(ids), None, None)

    def __iter__(self) -> Iterator[Any]:
        each = (1 << 20) // max(self._row_bytes, 1) + 1
        for at in range(0, len(self), each):
            yield from self[at : at + each]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise OperatorError("garner: the rows of a table are copied; leave copy out")
        return np.asarray(self[:], dtype)

    def __len__(self) -> int:
        return int(self._rows)

    @property
    def closed(self) -> bool:
        """Whether the table is closed."""
        return self._closed

    def close(self) -> None:
        """Close the file. It waits for nothing.

        Lookups of other threads that have begun end as if it came later, and the last of them closes the file; later ones are a
        ClosedError.
        """
        self._closed = True
        self._generation = -1  # before the owner goes: who sees it asks whether the table is closed
        self._owner = None
        self._opened.clear()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<garner.Table {self._file} {self._dtype or self._name} {list(self.shape)}{' closed' if self._closed else ''}>"

    def __reduce__(self) -> Any:
        if self._closed:
            raise ClosedError("garner: the table is closed; open it anew, or pickle and copy it before")
        return _again, (self._file, self._request, type(self)), self.__getstate__()

    def __getstate__(self) -> Any:
        """Return the attributes of a class that derives from Table, as pickle has them; the table itself is opened again."""
        missing = object()
        found = {n: getattr(self, n, missing) for n in copyreg._slotnames(type(self)) if n not in Table.__slots__}  # type: ignore[attr-defined]
        slots = {n: v for n, v in found.items() if v is not missing}
        attributes = getattr(self, "__dict__", None)
        return (attributes, slots) if slots else attributes or None


def _apart(ids: Any, out: Any) -> None:
    """Refuse an out that shares memory with the numbers; the library sees a copy of those that are strided."""
    if np.may_share_memory(ids, out):
        raise OverlapError("garner: the rows would be written over the numbers that ask for them; give out memory of its own")


def _fail(number: int, shape: tuple[int, ...]) -> NoReturn:
    e = _native.error(number)
    raise (_placed(e, shape) if isinstance(e, _native.IndexError) else e) from None


def _placed(e: _native.IndexError, shape: tuple[int, ...]) -> _native.IndexError:
    """Put the place of an index among numbers of a shape, which the library has as a list."""
    if len(e.position) == 1 and len(shape) > 1 and _native.raised(e):
        flat = e.position[0]
        e.position = tuple(int(n) for n in np.unravel_index(flat, shape))
        e.args = (str(e).replace(f"indices[{flat}]", f"indices[{','.join(map(str, e.position))}]", 1),)
    return e


def _again(file: str, request: dict[str, Any], kind: type[Table] = Table) -> Table:
    table = Table.__new__(kind)
    table._begin(file, dict(request))
    return table


def _absolute(file: str) -> str:
    """Return a name of a file from any folder. It is not made shorter, because a NAME may be part of it."""
    if not file or os.path.isabs(file) or "://" in file:
        return file
    folder = os.getcwd()
    if re.search(r"[*?[\\]", folder) and re.search(r"[*?[]", file):
        return file  # a pattern, in which the folder's name would be one
    return os.path.join(folder, file)


def _memory(tensor: Any) -> Any:
    """Return the memory of a tensor of PyTorch as an array of NumPy, of the same width where NumPy lacks its type."""
    import torch

    bits = _bits(torch)
    return (tensor.view(bits[tensor.dtype]) if tensor.dtype in bits else tensor).numpy()


def _bits(torch: Any) -> Any:
    """Types of PyTorch that its numpy() refuses, each with one of the same width."""
    names = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")
    found = {getattr(torch, n): torch.uint8 for n in names if hasattr(torch, n)}
    found[torch.bfloat16] = torch.int16
    return found


def locate(
    file: str | bytes | os.PathLike[Any] | Table, *, dtype: Any = None, shape: Sequence[int] | None = None, offset: int = 0,
    raw: bool = False, to: Any = None, pread: bool = False, lenient: bool = False, signature: str | None = None, role: str = "file",
) -> dict[str, Any]:  # fmt: skip
    """Return a file and its options as JSON has them."""
    if isinstance(file, Table):
        file._ready()
        return {**file._request, **({"to": _views.name_of("to", to)} if to is not None else {})}
    try:
        path = _native.path(file)
    except TypeError as e:
        if not _native.raised(e):
            raise
        raise DTypeError(f"garner: {role} is of {type(file).__name__}; give the name of a file, as text or a path") from None
    if not path or "\0" in path:
        raise OperatorError(f"garner: {role} is {path!r}, which is no name of a file")
    at: dict[str, Any] = {"file": path}
    if dtype is not None:
        at["dtype"] = _views.name_of("dtype", dtype)
    if shape is not None:
        at["shape"] = _options.extents("shape", shape)
    if to is not None:
        at["to"] = _views.name_of("to", to)
    if _options.integer("offset", offset):
        at["offset"] = int(offset)
    if signature is not None:
        at["signature"] = _options.text("signature", signature)
    return {**at, **{k: True for k, v in (("raw", raw), ("pread", pread), ("lenient", lenient)) if _options.flag(k, v)}}


assert sys.byteorder == "little", "garner: arrays are little-endian; this machine is not"
