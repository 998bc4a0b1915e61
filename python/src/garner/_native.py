"""The shared library: loaded by the first call, again in a forked child, and its errors."""

from __future__ import annotations

import _thread
import builtins
import errno
import functools
import json
import os
import re
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Any, Callable, NoReturn

import cffi

HERE = Path(__file__).parent
ABI = 1
POLL = 25  # milliseconds between two looks at Python's signals in a job

ffi: Any = cffi.FFI()
ffi.typeof("void *")  # what views take before the library is loaded; see load
NULL: Any = ffi.NULL
BYTES: Any = ffi.BCharA
from_buffer: Any = ffi._backend.from_buffer  # of BYTES; what ffi.from_buffer does around it takes as long again


class Error(Exception):
    """The base of all errors of garner.

    The messages begin with "garner: " and say what was found, where, and what to do.
    """


class DTypeError(Error, TypeError):
    """An element type that an operator, a file or a conversion does not take."""


class OperatorError(Error, ValueError):
    """An unknown operator or attribute, or a value that an attribute does not take."""


class ShapeError(Error, ValueError):
    """Ranks, axes or extents that do not fit.

    Attributes
    ----------
    kind : str
        ``rank``, ``axis-out-of-range``, ``batch-dims``, ``shape-mismatch``, or empty.
    """

    kind: str = ""


class OverlapError(Error, ValueError):
    """The output shares memory with an operand."""


class ClosedError(Error, ValueError):
    """A table that was closed."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or that changed or was cut short while it was open.

    Its text is the message alone, without the errno and the filename that other errors of the system show again.
    """

    def __str__(self) -> str:
        return str(self.args[1]) if len(self.args) > 1 else super().__str__()


class FileNotFoundError(FileError, builtins.FileNotFoundError):
    """No such file."""


class InternalError(Error, RuntimeError):
    """A mistake in garner. The message has the stack of the engine."""


class Cancelled(Error):
    """A run that was ended; callers see the exception of the signal's handler that ended it."""


class IndexError(Error, builtins.IndexError):
    """An index outside its axis: the first in row-major order.

    Attributes
    ----------
    position : tuple of int
        Coordinates of the index in the indices.
    value : int
        The index.
    axis : int
        The axis of the data that it addresses; -1 where the data is flattened, -2 for the bags of a result.
    dim : int
        The length of that axis, in elements.
    """

    position: tuple[int, ...] = ()
    value: int = 0
    axis: int = 0
    dim: int = 0


# As GARNER_… of garner.h.
_CLASSES: dict[int, type[Error]] = {
    1: Error, 2: DTypeError, 3: OperatorError, 4: ShapeError, 5: IndexError, 6: OverlapError, 7: FileError, 8: FileError,
    9: FileError, 10: ClosedError, 11: Cancelled, 12: FileError, 13: InternalError, 14: Error, 15: FileError,
}  # fmt: skip

# Every type that the package makes; load says why.
_TYPES = ("void *", "void *[]", "char **", "int64_t *", "int64_t[]", "DLDataType *", "DLTensor *", "DLTensor *[]", "garner_error *", "garner_prepared *")

lib: Any = None
generation = 0  # of the library: a forked child loads another, which knows none of the handles
_forked = False  # since the loader was asked: the runtime has no threads
_loading: Any = threading.RLock()  # held by a fork too
_fresh: dict[str, Any] = {"generation": 1}  # what of these is another in a forked child


def _declare() -> None:
    text = (HERE / "garner.h").read_text(encoding="ascii")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = text.replace("[GARNER_MAX_RANK]", "[64]")
    ffi.cdef(re.sub(r"^#.*$", "", text, flags=re.M), override=True)  # in the child of a fork that did not wait for the parent's


def _path() -> Path:
    if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "") or "musl" in (sysconfig.get_config_var("SOABI") or ""):
        raise ImportError("garner: this Python is of musl, whose dynamic loader has no room for Go's libraries; use an image of glibc, such as debian or python:slim")
    for name in ("libgarner.so", "libgarner.dylib", "garner.dll"):
        if (HERE / name).exists():
            return HERE / name
    raise ImportError(f"garner: {HERE} has no libgarner; install a wheel, or the sdist where Go and a C compiler are")


def load() -> Any:
    """Return the library, which the first call loads, and the first one in a forked child.

    The main thread lets another one load: its own work may be cut in two by a handler of a signal, which may then wait for
    ever for a lock of cffi that is taken below it.
    """
    if lib is not None:
        return lib
    if sys.is_finalizing():
        return _load_late()
    _fresh["generation"] = generation + 1
    if threading.get_ident() != threading.main_thread().ident or _loading._is_owned():  # by a fork, whose hooks call
        return _load()
    _room()  # without any, a thread ends before it begins to work
    told: list[BaseException] = []
    done = _thread.allocate_lock()  # no Event, and no Thread: their locks are of Python too
    done.acquire()

    def work() -> None:
        with _loading:  # until it is done: a handler may fork, and its child waits for no thread that it lacks
            try:
                _load(room=True)
            except BaseException as e:
                told.append(e)
            finally:
                done.release()

    mine = generation
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError as e:  # the interpreter ends
        if not raised(e):
            raise
        return _load(room=True)
    while not done.acquire(timeout=0.05) and generation == mine:
        pass
    if generation != mine:
        return load()
    if told:
        raise told[0]
    return lib


def _load_late() -> Any:
    """Load while the interpreter ends, as of a `__del__`: no other thread and no handler runs any more, and what Python imports may be gone."""
    if not _loading.acquire(blocking=False):
        raise Error("garner: the interpreter ends, and a thread that ended with it was about to load the library")
    try:
        return _load()
    except Error:
        raise
    except Exception as e:
        raise Error(f"garner: the interpreter ends, and the library cannot be loaded any more: {e}") from e
    finally:
        _loading.release()


# What the engine's runtime reserves of address space, and ends the process where it cannot. 1.6 to 1.75 GB were seen; little of
# it is ever memory.
_RESERVED = 1800 << 20


# What it has of memory that may be written to, beside the stacks of its threads: 85 MB were seen.
_DATA = 96 << 20


def _room() -> None:
    """Raise an error where a limit leaves no room for the library, whose runtime would end the process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = 4 + cores
    remedy = 'raise it, or use multiprocessing\'s start method "spawn"' if _forked else "raise it"
    numbers = _read("/proc/self/statm").split()
    if len(numbers) < 6 or not all(n.isdecimal() for n in numbers):
        return  # this is no Linux
    import resource

    infinite, page = resource.RLIM_INFINITY, resource.getpagesize()
    pages = [int(n) * page for n in numbers]
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    stacks = threads * (8 << 20 if stack == infinite else stack)
    limits = [
        ("address space", "ulimit -v", resource.getrlimit(resource.RLIMIT_AS)[0], pages[0], _RESERVED),
        ("data", "ulimit -d", resource.getrlimit(resource.RLIMIT_DATA)[0], pages[5], _DATA + stacks),
    ]
    most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    for what, name, limit, taken, need in limits:
        if limit != infinite and limit < taken + need:
            raise Error(
                f"garner: the limit of {what} is {limit >> 20} MiB ({name}), of which the process has {taken >> 20}; "
                f"the library reserves {need >> 20} MiB more: {remedy}"
            )
    for what, limit, taken in (*_of_groups(), *((("user (ulimit -u)", most, _of_user()),) if 0 <= most < 1 << 16 and os.getuid() != 0 else ())):
        if limit < taken + threads:
            raise Error(f"garner: the limit of threads of the {what} is {limit}, of which there are {taken}; the library begins {threads} more: raise it")


def _of_groups() -> list[tuple[str, int, int]]:
    """Return the limits of threads of the control groups that the process is in, and how many there are."""
    found = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, kinds, name = (line + "::").split(":", 2)
        if kinds and "pids" not in kinds.split(","):
            continue
        folder = Path("/sys/fs/cgroup", "pids" if kinds else "", name.removesuffix("::").lstrip("/"))
        at = folder
        while True:  # its parents, as a sequence of Path, end by an IndexError, which may be a handler's
            most, taken = _read(f"{at}/pids.max").strip(), _read(f"{at}/pids.current").strip()
            if most.isdecimal() and taken.isdecimal():  # and not "max"
                found.append((f"control group {at}", int(most), int(taken)))
            if at in (at.parent, Path("/sys/fs/cgroup")):
                break
            at = at.parent
    return found


def _read(path: str) -> str:
    """Return what a file of the system has, nothing where it cannot be read."""
    try:
        with open(path, "rb") as f:
            return f.read().decode("utf-8", "surrogateescape")
    except OSError as e:
        if not raised(e):
            raise
        return ""


def _of_user() -> int:
    """Return how many threads the user of this process has, as far as the system tells."""
    count, user = 0, os.getuid()
    for process in os.listdir("/proc"):
        if process.isdigit():
            try:
                if os.stat(f"/proc/{process}").st_uid == user:
                    count += os.stat(f"/proc/{process}/task").st_nlink - 2
            except OSError as e:
                if not raised(e):
                    raise
    return count


def _load(room: bool = False) -> Any:
    """Load the library; room says that there is some."""
    global lib, _look, _main
    with _loading:
        if lib is not None:
            return lib
        path = _path()
        if _look is None:
            _declare()
            _look = ffi.callback("int32_t(void)", _signals, error=1, onerror=kept.__init__)  # type: ignore[misc]
        if not room:
            _room()
        _fresh.update(lib=None, _forked=True)
        _main = threading.main_thread().ident
        if _forked:
            # Go's runtime does not survive a fork: its threads are gone. A copy in a file of
            # its own is another library to the loader, with a runtime of its own.
            if not hasattr(os, "memfd_create"):
                raise Error('garner: this process is a fork of one that used garner, which this system cannot load anew; use multiprocessing\'s start method "spawn"')
            try:
                fd = os.memfd_create("libgarner.so", os.MFD_CLOEXEC)
            except OSError as e:
                raise (_no_copy(e) if raised(e) else e) from None
            try:
                copy = path.read_bytes()
                try:
                    with open(fd, "wb", closefd=False) as to:
                        to.write(copy)
                except OSError as e:
                    raise (_no_copy(e) if raised(e) else e) from None
                # The loader knows a library again by its path, and the number may be that of a copy of a parent.
                loaded = ffi.dlopen(f"/proc/self/fd/{'./' * generation}{fd}")
            finally:
                os.close(fd)
        else:
            loaded = ffi.dlopen(str(path))
        found = loaded.garner_abi()
        if found != ABI:
            raise ImportError(f"garner: {path} has interface {found}, this package needs {ABI}: reinstall it")
        # cffi reads a type or a function at its first use, under a lock of its own, which a thread
        # may hold when another forks. After these reads none is left.
        for kind in _TYPES:
            ffi.typeof(kind)
        for name in dir(loaded):
            getattr(loaded, name)
        lib = loaded
    return lib


def _no_copy(e: OSError) -> Error:
    return FileError(
        e.errno, f"garner: this process is a fork of one that used garner, and has no room for a copy of its library ({e.strerror}): raise its limits, as of the size of files "
        '(ulimit -f), or use multiprocessing\'s start method "spawn"'
    )  # fmt: skip


# A handler of a signal may raise wherever Python runs, so a fork runs none of ours: all of these are C. The child of one that
# a handler kept from waiting has locks of threads that it lacks.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=functools.partial(globals().update, _fresh))
    for _lock in (_loading, ffi._lock):
        os.register_at_fork(after_in_child=_lock._at_fork_reinit)


def path(name: Any) -> str:
    """Return the name of a file as JSON has it: its bytes as UTF-8, and those that are none as surrogates."""
    return os.fsencode(name).decode("utf-8", "surrogateescape")


# Text and handles come to places that C frees, wherever a handler of a signal raises.


def place_of_text() -> Any:
    """Return a place for a text of the library."""
    return ffi.gc(ffi.new("char **"), load().garner_forget_text)


def place_of_handle(kind: str = "int64_t *") -> Any:
    """Return a place for a handle, which is released with it."""
    return ffi.gc(ffi.new(kind), load().garner_forget)


def text(place: Any) -> str:
    """Return the text at a place."""
    return _text(place[0])


def _text(chars: Any, errors: str = "replace") -> str:
    if chars == NULL:
        return ""
    s: str = ffi.string(chars).decode("utf-8", errors)
    return s


# Packages whose functions the package calls, and whose errors it may tell in its own words.
_CALLED = frozenset({"cffi", "garner", "jax", "jaxlib", "ml_dtypes", "numpy", "os", "torch"})


def raised(e: BaseException) -> bool:
    """Report whether an exception is of what the package called, and not of a handler of a signal or of other code of the caller's.

    What these raise comes out as it is. Their frames are below those of the package.
    """
    at = e.__traceback__
    while at is not None:
        name = str(at.tb_frame.f_globals.get("__name__"))
        if name.partition(".")[0] not in _CALLED or name.startswith("torch.utils.data"):  # which has a handler
            return False
        at = at.tb_next
    return True


# The options of Go that texts of the engine name, in Python. A test of the library compares them with Go's.
_OPTIONS = {
    "DType": "dtype=", "Shape": "shape=", "Offset": "offset=", "Raw": "raw=True", "Lenient": "lenient=True", "Signature": "signature=", "Memory": "memory=", "Threads": "threads=",
    "Name": "name=", "Resume": "resume=True",
}  # fmt: skip
# What the engine calls by names of Go, or of the command, and Python by its own.
_WORDS: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(r"Options\.DType (\w+)(?= …|[,)])"), r'dtype="\1"'), (re.compile(r"Options\.Shape with \?"), "shape= with -1"),
    (re.compile(r"Options\.([A-Z]\w*)"), lambda m: _OPTIONS.get(m[1], m[1].lower() + "=")),
    (re.compile(r'"garner ops" lists them'), "garner.operators() lists them"), (re.compile(r"read it with files\.Tensor"), "convert it"),
    (re.compile(r"\(--(\w+)"), r"(\1="),
]  # fmt: skip
_TEXTS = frozenset({"note", "message", "remedy", "text", "svg", "why"})  # of answers; others are data, such as names


def _worded(message: str) -> str:
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    return message


def _told(answer: Any, text: bool = False) -> Any:
    """Return an answer with its texts in words of Python."""
    if isinstance(answer, list):
        return [_told(a) for a in answer]
    if isinstance(answer, dict):
        return {k: _told(a, k in _TEXTS) for k, a in answer.items()}
    return _worded(answer) if text and isinstance(answer, str) else answer


def error(number: int) -> Error:
    """Return the error of a number as an exception."""
    e = ffi.gc(ffi.new("garner_error *"), load().garner_forget_error)
    if load().garner_error_read(number, e) != 0:
        return InternalError(f"garner: there is no error {number}")
    message, path = _worded(_text(e.text)), _text(e.path, "surrogateescape")
    if e.error_class == 12:
        message += "; resume=False begins anew"
    kind = _CLASSES.get(e.error_class, Error)
    if kind is FileError:
        system = e.error_number
        if system == errno.ENOENT:
            return FileNotFoundError(system, message, path or None)
        return FileError(system, message, path or None) if system else FileError(message)
    x = kind(message)
    if isinstance(x, IndexError):
        x.position = tuple(e.position[0 : e.rank])
        x.value = e.value if e.value_unsigned or e.value < 1 << 63 else e.value - (1 << 64)
        x.axis, x.dim = e.axis, e.dim
    if isinstance(x, ShapeError):
        x.kind = ffi.string(e.kind).decode()
    return x


def fail(number: int) -> NoReturn:
    """Raise the error of a number."""
    raise error(number) from None


class _Kept(BaseException):
    """Where cffi leaves what a handler of a signal raised in a run: its args are the type, the exception and the traceback.

    Its ``__init__`` is C. A function of Python would be a place where a second handler runs, and where its exception, which
    nobody catches there, ends the function before it has kept the first one.
    """


kept = _Kept()
_look: Any = None
_main = threading.main_thread().ident


def _signals() -> int:
    for _ in "ab":  # the interpreter runs handlers of signals at the end of each turn
        pass
    return 0


def looking() -> tuple[Any, Any]:
    """Return the function by which a run lets handlers of signals run, and what is kept of a run around this one.

    The function is NULL but in the main thread. A run is within another where a handler makes it. What is kept after it is
    its own where it is not the same object as before; it puts that back.
    """
    if threading.get_ident() != _main:
        return NULL, None
    return _look, kept.args


def ended(e: BaseException, by: Any) -> None:
    """Raise what a handler raised in a run, which ended it, as `kept` has it; e is what came out of the run since."""
    _, of, trace = by
    if of.__traceback__ is None:
        of.__traceback__ = trace
    if isinstance(e, (Cancelled, InternalError)):  # the second in a forked child, which does not know the error of its parent
        context = of.__context__
        try:
            raise of
        finally:
            of.__context__ = context  # and not e
    while e.__context__ is not None and e is not of:
        e = e.__context__
    if e is not of:
        e.__context__ = of  # a second handler raised behind the first one


# What jobs read and write that may still run, by their numbers: a job that is late keeps it, wherever a handler of a signal
# raised.
_held: dict[int, Any] = {}
_late: set[int] = set()  # those that nobody waits for
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.clear)
    os.register_at_fork(after_in_child=_late.clear)
_SETTLE = 1000  # milliseconds that a job that was ended gets to end; most take some 10


def begin(*held: Any) -> int:
    """Return a job, 0 where there is none. It keeps what it is given until it has ended."""
    library = load()
    for late in list(_late):
        if library.garner_job_wait(late, 0, NULL, NULL):
            release(late, generation)
    number: int = library.garner_job()
    if number:
        _held[number] = held
    return number


def wait(job: int, progress: Any = None) -> str:
    """Wait for a job, and return its text. Then `settle` or `release` it."""
    library, begun = load(), generation
    failed, answer = ffi.new("int64_t *"), place_of_text()
    while not library.garner_job_wait(job, POLL, failed, answer):
        if begun != generation:
            raise Error("garner: a handler of a signal forked during a call and came back in the child, which cannot end that call")
        if progress is not None:
            progress()
    if failed[0]:
        fail(failed[0])
    return text(answer)


def settle(job: int, begun: int) -> None:
    """End a job that is done, or that an exception left, as of a signal.

    One that reads from what is slow, such as a pipe or a file system of a network, ends by itself, later, and keeps its memory until then.
    """
    if begun != generation or not job:
        return
    _late.add(job)
    lib.garner_job_cancel(job)
    for _ in range(_SETTLE // POLL):
        if lib.garner_job_wait(job, POLL, NULL, NULL):
            release(job, begun)
            break
        if begun != generation:
            break


def release(job: int, begun: int) -> None:
    """Release a job that has ended, or has no memory of ours; a child that was forked since has no thread that could end it."""
    if begun == generation and job:
        lib.garner_release(job)
        _held.pop(job, None)
        _late.discard(job)


def opened(request: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Open a table, and return what the library tells of it, and what owns its handle."""
    library, begun = load(), generation
    asked = json.dumps(request).encode()
    owner, answer = place_of_handle(), place_of_text()
    job = begin()
    try:
        failed = library.garner_open(asked, len(asked), job, owner, answer)
        if failed:
            fail(failed)
        told: dict[str, Any] = json.loads(wait(job) if job else text(answer))
        # Both own it until the job no longer does: wherever an exception comes between, the table is closed.
        owner[0] = told["table"]
        failed = library.garner_job_adopt(job) if job else 0
        if failed:
            fail(failed)
        return told, owner
    finally:
        release(job, begun)  # which does not wait for a file system


def ask(question: dict[str, Any], operands: Any = (), keep: Any = None, job: bool = False, progress: Any = None) -> Any:
    """Ask a question of garner_call, and return its answer."""
    library, begun = load(), generation
    request = json.dumps(question).encode()
    given = ffi.new("DLTensor *[]", list(operands)) if operands else NULL
    answer = place_of_text()
    number = begin(operands, given, keep) if job else 0
    try:
        failed = library.garner_call(request, len(request), given, len(operands), number, answer)
        if failed:
            fail(failed)
        if number:
            watch = None if progress is None else (lambda: progress(number))
            return _told(json.loads(wait(number, watch)))
    finally:
        if operands or question["do"] == "gather_file":
            settle(number, begun)
        if not operands:
            release(number, begun)
    return _told(json.loads(text(answer)))


def alive() -> bool:
    """Report whether the library can still be called: not while the interpreter ends."""
    return lib is not None and not sys.is_finalizing()
