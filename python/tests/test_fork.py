"""Forks: children, their children, threads and signals of each. Each test runs in a process of its own, with an end."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
from test_process import run

TURNS = int(os.environ.get("GARNER_FORK_TURNS", "2"))  # of the tests that a race may fail

FORK = textwrap.dedent("""
def forked(f, *given, limit=300):
    pid = os.fork()
    if pid == 0:
        faulthandler.register(signal.SIGALRM, chain=True)  # not its watchdog, whose lock a fork leaves taken
        signal.alarm(limit)
        status = 1
        try:
            f(*given)
            status = 0
        finally:
            if status:
                import traceback
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(status)
    return os.waitpid(pid, 0)[1]
""")


def forks(code: str, path: Path) -> str:
    return run(FORK + textwrap.dedent(code), path)


@pytest.mark.parametrize("turn", range(TURNS))
@pytest.mark.parametrize("loaded", [True, False])
def test_children_and_theirs(npy: Path, loaded: bool, turn: int) -> None:
    forks(
        f"""
        t = None
        if {loaded}:
            t = garner.Table(path); check(t)
        def child(depth):
            check(t)
            try: garner.take(np.arange(9), [9])
            except IndexError as e: assert e.value == 9
            else: raise SystemExit("answered")
            if depth: assert forked(child, depth - 1) == 0
            check(t)
        for _ in range(3): assert forked(child, 3) == 0
        check(t)
        """,
        npy,
    )


def test_a_child_that_closed_its_files(npy: Path) -> None:
    """The loader knows a library again by its path: that of a copy has a number, which a child may use again."""
    forks(
        """
        check()
        seen = set()
        def child(depth):
            os.closerange(3, 256)
            check()
            at = int(garner._native.ffi.cast("intptr_t", garner._native.ffi.addressof(garner._native.lib, "garner_abi")))
            assert at not in seen, "the library of a parent"
            seen.add(at)
            if depth: assert forked(child, depth - 1) == 0
        assert forked(child, 3) == 0
        """,
        npy,
    )


@pytest.mark.parametrize("turn", range(TURNS))
def test_while_another_thread_loads(npy: Path, turn: int) -> None:
    out = forks(
        f"""
        started = threading.Event()
        def work():
            started.set(); check()
        x = threading.Thread(target=work); x.start()
        started.wait(); time.sleep({turn} % 10 * 0.004)
        was = garner._native.lib is not None
        assert forked(check) == 0
        print("loaded" if was else "loading", garner._native._fresh)
        x.join(); check()
        """,
        npy,
    )
    assert out.startswith("load")


def test_a_fork_waits_for_the_load(npy: Path) -> None:
    forks(
        """
        from garner import _native
        order = []
        path_of, declare = _native._path, _native._declare
        def slow():
            order.append("loading"); inside.set(); time.sleep(0.5); order.append("loaded")
            return path_of()
        inside = threading.Event()
        _native._path = slow
        x = threading.Thread(target=check); x.start()
        inside.wait()
        os.register_at_fork(after_in_parent=lambda: order.append("forked"))
        assert forked(check) == 0
        assert order == ["loading", "loaded", "forked"], order
        x.join()
        """,
        npy,
    )


def test_a_handler_that_forks_while_its_thread_loads(npy: Path) -> None:
    forks(
        """
        from garner import _native
        path_of = _native._path
        def slow():
            os.kill(os.getpid(), signal.SIGUSR1)  # its handler runs here
            _native._path = path_of
            return path_of()
        statuses = []
        def handler(*given):
            _native._path = path_of
            statuses.append(forked(check))
        signal.signal(signal.SIGUSR1, handler)
        _native._path = slow
        check()
        assert statuses == [0], statuses
        """,
        npy,
    )


def test_no_lock_of_cffi_is_taken_after_the_load(npy: Path) -> None:
    """A thread that another forks beside leaves its locks taken in the child for ever."""
    forks(
        """
        check()
        def child():
            garner._native.load()
            assert garner._native.ffi._lock.acquire(timeout=120)
            t = garner.Table(path); check(t)
            garner.take(np.ones((2000, 999)), np.zeros(1500, int), 0)
            for call in (lambda: garner.gather("onnx.Gather-13", np.arange(3), [3]), lambda: garner.gather("onnx.Gather-13", np.arange(3), [1], axis=4)):
                try: call()
                except garner.Error: pass
                else: raise SystemExit("answered")
            garner.gather("torch.embedding_bag", np.ones((3, 2)), [0, 1], offsets=[0], mode="sum", per_sample_weights=np.ones(2))
            garner.explain("onnx.Gather-13", np.arange(3), [1]); garner.infer("onnx.Gather-13", "f32[2]", "i64[1]"); garner.info(path)
            garner.answers(np.arange(3), np.array([1]))
            np.save("/tmp/garner-%d.npy" % os.getpid(), [1, 2])
            ids, out = "/tmp/garner-%d.npy" % os.getpid(), "/tmp/garner-%d-out.npy" % os.getpid()
            try: garner.gather_file(path, ids, out, progress=lambda d, t: None)
            finally:
                for p in (ids, out):
                    if os.path.exists(p): os.remove(p)
        assert forked(child) == 0
        """,
        npy,
    )


@pytest.mark.parametrize("turn", range(TURNS))
def test_while_jobs_run(npy: Path, turn: int) -> None:
    """The parent's long calls go on in other threads; the child's begin anew."""
    forks(
        """
        a, ids = np.ones((200, 1 << 16), np.uint8), np.zeros(600, int)
        stop = []
        def busy():
            while not stop:
                assert garner.take(a, ids, 0).min() == 1
        def lookups(t=garner.Table(path)):
            while not stop: check(t)
        threads = [threading.Thread(target=f) for f in (busy, lookups, busy)]
        for x in threads: x.start()
        def child():
            check()
            assert garner.take(a, ids, 0).min() == 1
            x = threading.Thread(target=check); x.start(); x.join()
        for _ in range(4): assert forked(child) == 0
        stop.append(1)
        for x in threads: x.join()
        """,
        npy,
    )


def test_from_a_thread(npy: Path) -> None:
    forks(
        """
        check()
        found = []
        x = threading.Thread(target=lambda: found.append(forked(check))); x.start(); x.join()
        assert found == [0], found
        """,
        npy,
    )


def test_signals_of_children(npy: Path) -> None:
    """A child ends by the signals by which it would without garner, before its first call and after it."""
    forks(
        """
        import ctypes, resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        check()
        def pipe():
            r, w = os.pipe(); os.close(r); os.write(w, b"x")
        def broken():
            try: pipe()
            except BrokenPipeError: return
            raise SystemExit("no BrokenPipeError")
        def unignored(): plain('SIGPIPE')
        def interrupt():
            try: os.kill(os.getpid(), signal.SIGINT); time.sleep(120)
            except KeyboardInterrupt: return
            raise SystemExit("no KeyboardInterrupt")
        def sent(n): return lambda: (signal.signal(n, signal.SIG_DFL), os.kill(os.getpid(), n), time.sleep(120))
        def quiet(): faulthandler.enable(open(os.devnull, "w"))
        def both(*fs): return lambda: [f() for f in fs]
        nothing = lambda: None
        for first in (nothing, check):
            for f, want in (
                (broken, 0), (both(first, unignored, pipe), signal.SIGPIPE), (both(unignored, first, pipe), signal.SIGPIPE),
                (lambda: ctypes.string_at(0), signal.SIGSEGV), (both(quiet, first, lambda: ctypes.string_at(0)), signal.SIGSEGV),
                (both(first, quiet, lambda: ctypes.string_at(0)), signal.SIGSEGV), (interrupt, 0), (os.abort, signal.SIGABRT),
                *((sent(n), n) for n in (signal.SIGFPE, signal.SIGBUS, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1)),
            ):
                status = forked(both(first, f))
                assert status == want, (first.__name__, status, want)
        check()
        """,
        npy,
    )


@pytest.mark.parametrize("faults", [True, False])
def test_a_file_cut_short_under_a_child(npy: Path, tmp_path: Path, faults: bool) -> None:
    copy = tmp_path / "copy.npy"
    copy.write_bytes(npy.read_bytes())
    forks(
        f"""
        t = garner.Table(path)
        ids = np.arange(15000, 15016)
        t[ids]
        def refused():
            try: t[ids]
            except OSError: return
            raise SystemExit("read")
        def child():
            if {faults}: faulthandler.enable()
            t[ids]
            os.truncate(path, 4096)
            refused()
        assert forked(child) == 0
        refused()
        """,
        copy,
    )


@pytest.mark.parametrize(
    ("method", "garner_first", "called"),
    [("fork", False, False), ("fork", False, True), ("fork", True, False), ("fork", True, True), ("forkserver", True, True), ("spawn", False, True)],
)
def test_a_data_loader(npy: Path, tmp_path: Path, method: str, garner_first: bool, called: bool) -> None:
    pytest.importorskip("torch")
    imports = ["import garner", "import torch"]
    (tmp_path / "rows.py").write_text(
        "\n".join(imports if garner_first else imports[::-1])
        + textwrap.dedent("""
        import sys
        class Rows(torch.utils.data.Dataset):
            def __init__(self, path): self.table = garner.Table(path)
            def __len__(self): return 90
            def __getitem__(self, i): return self.table[torch.tensor([i])][0]
            def __getitems__(self, ids): return list(self.table[torch.tensor(ids)])
        """)
    )
    run(
        f"""
        sys.path.insert(0, "{tmp_path}")
        os.environ["PYTHONPATH"] = "{tmp_path}" + os.pathsep + os.environ.get("PYTHONPATH", "")
        import rows
        torch = rows.torch
        torch.set_num_threads(1)
        s = rows.Rows(path)
        if {called}: check(s.table)
        want = torch.from_numpy(np.array(values[:90]))
        loader = torch.utils.data.DataLoader(s, batch_size=10, num_workers=2, timeout=300, multiprocessing_context="{method}", persistent_workers=True)
        for _ in range(2):
            assert torch.equal(torch.cat(list(loader)), want)
        check(s.table)
        del loader
        """,
        npy,
    )


def test_pools_of_threads_and_of_processes(npy: Path) -> None:
    forks(
        """
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        t = garner.Table(path)
        def work(i): return check(t)
        with ThreadPoolExecutor(4) as threads, ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("fork")) as processes:
            a, b = threads.map(work, range(40)), processes.map(work, range(40))
            assert list(a) == list(b) == [7] * 40
        """,
        npy,
    )
