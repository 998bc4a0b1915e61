"""Handlers of signals that raise what the package itself catches, or while a fork runs: nothing is lost, held or left."""

from __future__ import annotations

import ast
import builtins
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_fork import forks
from test_process import run

import garner
from garner import _views

PACKAGE = Path(garner.__file__).parent
MODULES = {p.name: ast.parse(p.read_text("utf-8")) for p in sorted(PACKAGE.glob("*.py"))}


def caught() -> list[str]:
    """Return the classes of Python that the package catches somewhere, but for those of everything."""
    found = set()
    for tree in MODULES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and node.type is not None:
                for kind in node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]:
                    name = kind.attr if isinstance(kind, ast.Attribute) and isinstance(kind.value, ast.Name) and kind.value.id == "builtins" else getattr(kind, "id", "")
                    if isinstance(getattr(builtins, name, None), type):
                        found.add(name)
    return sorted(found - {"BaseException", "Exception"})


def test_what_is_caught() -> None:
    assert {"TypeError", "ValueError", "BufferError", "OSError", "IndexError", "RuntimeError", "MemoryError"} <= set(caught())


@pytest.mark.parametrize("kind", [*caught(), "garner.IndexError", "garner.ShapeError", "garner.DTypeError", "garner.OverlapError", "garner.OperatorError", "garner.Error"])
def test_what_a_handler_raises_comes_out(npy: Path, tmp_path: Path, kind: str) -> None:
    """Of every call, wherever the signal comes."""
    out = run(
        f"""
        import random
        t, paths = garner.Table(path), ["{tmp_path}/ids.npy", "{tmp_path}/out.npy"]
        from garner import _native
        few, many = np.arange(16), np.random.default_rng(0).integers(0, len(values), 3000)
        np.save(paths[0], few)
        shaped, made = many[:2000].reshape(2, -1), np.empty((3000, 256), np.float32)
        a, wide = np.random.rand(1000, 100), np.arange(1000)[::2]
        mask, minus, beyond, along, half = np.array(values[:, 0] > 0.5), -1 - few, many + 10**6, np.zeros((1000, 100), int), np.empty((500, 100))
        behind, past, pairs, little, two = -wide, wide + 1000, np.ascontiguousarray(wide[:, None]), a[:5], few[:2]
        ways = dict(
            few=lambda: t.lookup(few), lookup=lambda: t.lookup(many, made), shaped=lambda: t.lookup(shaped), listed=lambda: t.lookup([1, 2, 3]), strided=lambda: t.lookup(many[::2]),
            item=lambda: t[many], negative=lambda: t[minus], row=lambda: t[5], rows=lambda: t[10:2000], keyed=lambda: t[many, 0], mixed=lambda: t[[1, 2], [3, 4], None], mask=lambda: t[mask],
            take=lambda: garner.take(a, wide, 0), wrapped=lambda: garner.take(a, behind, 0, mode="wrap"), turned=lambda: garner.take(a.T, wide, 1), out=lambda: garner.take(a, wide, 0, half),
            along=lambda: garner.take_along_axis(a, along, 0), gather=lambda: garner.gather("onnx.Gather-13", a, wide), nd=lambda: garner.gather_nd(a, pairs),
            attribute=lambda: garner.gather("onnx.Gather-13", a, wide, axis=np.int64(0), outside=np.float32(2)), embedding=lambda: garner.embedding(wide, a), bag=lambda: garner.embedding_bag(wide, a, wide[:5]),
            answers=lambda: garner.answers(little, two), open=lambda: garner.Table(path), info=lambda: garner.info(path), infer=lambda: garner.infer("onnx.Gather-13", "f32[2]", "i64[1]"),
            explain=lambda: garner.explain("onnx.Gather-13", little, two), operators=garner.operators, room=_native._room, file=lambda: garner.gather_file(path, *paths), raw=lambda: refused(lambda: garner.info(path, dtype=np.float32, shape=[1])),
        )
        def refused(f):
            try: f()
            except garner.Error as e:
                if "mine" in str(e): raise
        ways.update(
            outside=lambda: refused(lambda: garner.take(a, past, 0)), far=lambda: refused(lambda: t[beyond]), ragged=lambda: refused(lambda: t[[[1], [2, 3]], 0]),
            shapes=lambda: refused(lambda: t[[1, 2], [1, 2, 3]]), given=lambda: refused(lambda: garner.gather("onnx.Gather-13", a, wide, out=[1])), axis=lambda: refused(lambda: garner.gather("onnx.Gather-13", a, wide, axis=object())),
        )
        ran = 0
        class Mine({kind}): pass
        def end(*given):
            global ran
            ran += 1
            raise Mine("mine")
        signal.signal(signal.SIGALRM, end)
        for f in ways.values(): f()
        lost = {{}}
        for name, f in ways.items():
            for turn in range(60):
                had, came = ran, None
                began = time.monotonic()
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(2e-5, 2e-3))
                    while ran == had: f()
                except Mine as e: came = e
                except BaseException as e: lost.setdefault(name, []).append(repr(e))
                if came is None and not lost.get(name): lost.setdefault(name, []).append("nothing")
                if came is not None and (str(came) != "mine" or came.__cause__): lost.setdefault(name, []).append(repr(came))
        assert not lost, lost
        assert t.lookup(many, made) is made and (made == values[many]).all()
        check(t); check()
        print(ran)
        """,
        npy,
    )
    assert int(out) >= 60 * 30


@pytest.mark.parametrize("dtype", ["float32", ">i4", "bfloat16", "M8[s]", np.float32, np.dtype("T"), ml_dtypes.int4, bool])
def test_no_python_of_numpys_runs_where_a_dtype_is_read(dtype: Any) -> None:
    """NumPy's dtype.name catches a TypeError, which may be a handler's."""
    ran = []

    def called(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and str(frame.f_globals.get("__name__")).startswith("numpy"):
            ran.append(frame.f_code.co_name)

    def read() -> None:
        for f in (lambda: _views.name_of("dtype", dtype), lambda: _views.code_of.__wrapped__(np.dtype(dtype))):
            try:
                f()
            except garner.Error:
                pass

    sys.setprofile(called)
    try:
        read()
    finally:
        sys.setprofile(None)
    assert not ran


FORKING = """
class Ended(Exception): pass
def end(*given): raise Ended
sys.unraisablehook = lambda told: None  # Python's word on what a handler raises in a fork's hook
signal.signal(signal.SIGALRM, end)
def answers(f):
    x = threading.Thread(target=f, daemon=True); x.start(); x.join(300)
    assert not x.is_alive(), "it hangs"
"""


@pytest.mark.parametrize("loaded", [True, False])
def test_a_handler_that_raises_while_a_fork_runs(npy: Path, loaded: bool) -> None:
    out = forks(
        FORKING
        + f"""
import random
if {loaded}: t = garner.Table(path); check(t)
me, ended, statuses = os.getpid(), 0, []
for turn in range(6000):
    if turn >= 150 and ended > 20: break
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 4e-3))
        pid = os.fork()
        if pid == 0: signal.alarm(300); os._exit(check() if turn % 50 == 0 else 0)
        status = os.waitpid(pid, 0)[1]
        if turn % 50 == 0: statuses.append(os.waitstatus_to_exitcode(status))
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Ended:
        ended += 1
        if os.getpid() != me: os._exit(9)
answers(garner.operators)
answers(lambda: forked(check))
assert forked(check) == 0
if {loaded}: check(t)
assert set(statuses) <= {{7}}, statuses
print(ended)
""",
        npy,
    )
    assert int(out) > 20


@pytest.mark.parametrize("where", ["_path", "_declare"])
def test_a_fork_that_a_handler_keeps_from_waiting(npy: Path, where: str) -> None:
    """Another thread loads, perhaps with cffi's lock; the child has neither the thread nor what it holds."""
    forks(
        FORKING
        + f"""
from garner import _native
real, inside, go, began, cut = _native.{where}, threading.Event(), threading.Event(), [], []
def slow():
    if threading.current_thread() is x:
        with _native.ffi._lock: inside.set(); go.wait()
    return real()
def end(*given):
    if go.is_set(): return
    signal.setitimer(signal.ITIMER_REAL, 0.1)  # again, until it came where the fork waits
    if began: cut.append(1); raise Ended
signal.signal(signal.SIGALRM, end)
os.register_at_fork(before=lambda: began.append(1), after_in_parent=began.clear)
os.register_at_fork(after_in_parent=go.set)  # the thread loads until the fork is made
_native.{where} = slow
x = threading.Thread(target=check); x.start()
inside.wait()
signal.setitimer(signal.ITIMER_REAL, 0.1)
assert forked(check) == 0
signal.setitimer(signal.ITIMER_REAL, 0)
assert cut, "the fork did not wait"
x.join(); check()
answers(garner.operators); answers(lambda: forked(check))
""",
        npy,
    )


def test_a_child_whose_hooks_a_handler_cuts_short(npy: Path) -> None:
    """It knows by no function of Python that it is one."""
    forks(
        FORKING
        + """
t = garner.Table(path); check(t)
def child():
    assert garner._native.lib is None and garner._native.generation == was + 1 and not garner._native._held
    check(t)
was = garner._native.generation
def cut(*given): raise Ended
os.register_at_fork(after_in_child=cut)
assert forked(child) == 0
from garner import _native
import types
hooks = [v for v in vars(_native).values() if isinstance(v, types.FunctionType) and "fork" in v.__name__]
assert not hooks, hooks
""",
        npy,
    )


def test_a_table_that_does_not_open_again_holds_nothing_else(npy: Path, tmp_path: Path) -> None:
    """A FIFO in the place of its file stands for a file system that does not answer."""
    slow = tmp_path / "slow.npy"
    slow.write_bytes(npy.read_bytes())
    forks(
        FORKING
        + f"""
slow = garner.Table("{slow}"); t = garner.Table(path); check(slow); check(t)
os.remove("{slow}"); os.mkfifo("{slow}")
def child():
    threading.Thread(target=lambda: slow[0], daemon=True).start()
    time.sleep(0.3)
    for f in (lambda: check(t), check, lambda: forked(check, limit=200)): answers(f)
    check(t); assert forked(lambda: check(t), limit=200) == 0  # one that waits for the FIFO has no end
    signal.signal(signal.SIGALRM, end)
    try: signal.setitimer(signal.ITIMER_REAL, 0.2); slow[0]; raise SystemExit("it opened")
    except Ended: pass
assert forked(child) == 0
""",
        npy,
    )


def test_threads_that_open_a_table_again_at_once(npy: Path) -> None:
    """All of them answer, and one open is left."""
    forks(
        """
        t = garner.Table(path); check(t)
        def child():
            gate, failed = threading.Barrier(8), []
            def use():
                gate.wait()
                for _ in range(50): check(t)
            threading.excepthook = lambda told: failed.append(told.exc_value)
            xs = [threading.Thread(target=use) for _ in range(8)]
            for x in xs: x.start()
            for x in xs: x.join()
            assert not failed, failed
            gc.collect()
            assert len(t._opened) == 1
            def mappings(): return len({line.split("-")[0] for line in open("/proc/self/maps") if path in line})
            had = mappings(); t.close(); gc.collect()
            assert had - mappings() == 1, (had, mappings())
        mapped = values; values = np.array(mapped); del mapped
        assert forked(child) == 0
        """,
        npy,
    )


def test_texts_of_calls_that_end_are_freed(npy: Path, tmp_path: Path) -> None:
    out = run(
        f"""
        import ctypes, random
        c = ctypes.CDLL(None)
        np.save("{tmp_path}/s.npy", np.array(["x" * 40] * 60_000))  # 4 MB of text
        strings = "{tmp_path}/s.npy"
        class Ended(Exception): pass
        def end(*given): raise Ended
        def memory(): gc.collect(); c.malloc_trim(0); return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20
        for _ in range(6): garner.Table(strings)
        began = time.monotonic(); garner.Table(strings); took = time.monotonic() - began
        before = memory()
        signal.signal(signal.SIGALRM, end)
        ended = 0
        real, places = garner._native.place_of_text, []
        def place():
            made = real(); places.append(made); return made
        garner._native.place_of_text = place
        for turn in range(3000):
            if turn >= 120 and ended > 20: break
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0.2 * took, took)); garner.Table(strings); signal.setitimer(signal.ITIMER_REAL, 0)
            except Ended: ended += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            for p in places: made = p
            places.clear()
        made = p = None
        print(ended, before, memory())
        """,
        npy,
    )
    ended, before, after = (int(n) for n in out.split())
    assert ended > 20 and after - before < 60, out  # each text that were left has 4 MB


def test_handles_and_errors_of_calls_that_end_are_forgotten(npy: Path) -> None:
    """Of what runs an operator, and of errors that nobody read."""
    run(
        """
        from garner import _native
        library = _native.load()
        numbers = [library.garner_job_adopt(1 << 40) for _ in range(5000)]
        e = _native.ffi.new("garner_error *")
        assert library.garner_error_read(numbers[0], e) == -1 and library.garner_error_read(numbers[900], e) == -1
        assert library.garner_error_read(numbers[-1], e) == 0 and library.garner_error_read(numbers[-4000], e) == 0
        made, given = [], []
        real = _native.place_of_handle
        def place(*kind):
            made.append(real(*kind)); return made[-1]
        _native.place_of_handle = place
        class Ended(Exception): pass
        def fail(number): raise Ended
        garner.gather("onnx.Gather-13", np.ones((3, 7)), np.array([1]))
        handle = made[0].handle
        assert handle and len(made) == 1
        made.clear(); garner._ops._kept.clear(); gc.collect()
        failed = library.garner_shape(handle, [1], _native.ffi.new("int64_t[]", 9))
        assert "closed" in str(_native.error(failed)) or "released" in str(_native.error(library.garner_shape(handle, [1], _native.ffi.new("int64_t[]", 9))))
        check()
        """,
        npy,
    )


# Names of Python that a module of the package gives another meaning, each where its callers write it so.
HIDDEN = {
    "_native.py": {"FileNotFoundError", "IndexError"},
    "__init__.py": {"FileNotFoundError", "IndexError"},
}
PARAMETERS = {"input", "bytes"}  # of PyTorch's functions; of Array


def bound(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names that a module binds, and those of parameters, attributes and variables of functions."""
    module: set[str] = set()
    inner: set[str] = set()
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        to = module if id(node) in top else inner
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            to.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            to.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            inner.add(node.id)
        elif isinstance(node, ast.arg):
            inner.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            inner.add(node.name)
    return module, inner


@pytest.mark.parametrize("module", list(MODULES))
def test_names_of_python_mean_what_they_mean(module: str) -> None:
    """A class of garner's with a name of Python is not what an except of its own module, or a bare name, takes for Python's."""
    tree, python = MODULES[module], set(dir(builtins)) - {"__doc__", "__name__"}
    hidden, inner = bound(tree)
    assert hidden & python == HIDDEN.get(module, set()), module
    assert inner & python <= PARAMETERS, inner & python
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            for name in ast.walk(node.type):
                assert not (isinstance(name, ast.Name) and name.id in HIDDEN.get(module, set())), f"{module}:{node.lineno}: except {name.id}: say builtins.{name.id}, or _native.{name.id}"


def test_a_system_that_tells_less(npy: Path) -> None:
    """What it says of memory may be short, or nothing."""
    for told in ("100 50 20", "", "no numbers at all, none at all"):
        run(
            f"""
            from garner import _native
            real, asked = _native._read, []
            def read(name):
                asked.append(name)
                return {told!r} if name == "/proc/self/statm" else real(name)
            _native._read = read
            check()
            assert asked.count("/proc/self/statm") == 1, asked  # looked at once
            """,
            npy,
        )


def test_no_lookup_waits_for_a_file_on_the_thread_of_handlers(npy: Path) -> None:
    """However small it is: one that has rows to read is a job's."""
    run(
        """
        from garner import _native, _table
        seen, jobs = [], []
        def seeing(call):
            def called(*given):
                failed = call(*given)
                seen.append((given[-1] & 1, failed))
                return failed
            return called
        library = _native.load()
        class Seen:
            def __getattr__(self, name):
                found = getattr(library, name)
                return seeing(found) if name in ("garner_lookup_now", "garner_rows") else found
        _native.lib = Seen()
        job = _table.Table._job
        def later(*given):
            jobs.append(1); return job(*given)
        _table.Table._job = later
        few = np.arange(6)
        for pread in (False, True):
            t = garner.Table(path, pread=pread)
            t[:20]  # and the pages are there
            seen.clear(); jobs.clear()
            ways = (lambda: t.lookup(few), lambda: t.lookup(few, np.empty((6, 256), np.float32)), lambda: t[few], lambda: t[-few - 1], lambda: t[5], lambda: t[3:9], lambda: t.lookup([1, 2]), lambda: t.lookup(few[::2]), lambda: t[few, 0])
            for f in ways:
                had = len(seen)
                f()
                assert len(seen) > had
            assert all(brief for brief, _ in seen), seen
            assert all(failed == (-1 if pread else 0) for _, failed in seen), (pread, seen)
            assert len(jobs) == (len(seen) if pread else 0)
            assert (t[few] == values[few]).all() and (t.lookup([7]) == values[7]).all()
        """,
        npy,
    )
