"""What processes do: fork, spawn, threads, signals, faulthandler. Each runs in a process of its own, with an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

LIMIT = 480  # seconds of a process, which only a hang takes

HEAD = """
import atexit, faulthandler, gc, multiprocessing, os, signal, sys, threading, time
import numpy as np
import garner
atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # behind which Python takes its handlers away, and a signal ends it
exec("_moved = lambda *given: True", vars(garner._ops))  # no take beyond SMALL is left to NumPy
np.random  # which NumPy imports at its first use: not in a thread that another forks beside
path = sys.argv[1]
values = np.load(path, mmap_mode="r")
faulthandler.dump_traceback_later(450, exit=True)

def in_garner(frame):  # whether a handler runs within a call of the package
    while frame and os.path.dirname(frame.f_code.co_filename) != os.path.dirname(garner.__file__): frame = frame.f_back
    return frame is not None

def plain(name):  # a shell's job in the background inherits that some are ignored
    signal.signal(getattr(signal, name), signal.SIG_DFL) if name != "SIGKILL" else None

signal.signal(signal.SIGINT, signal.default_int_handler)

def check(t=None):
    t = t or garner.Table(path)
    ids = np.random.default_rng().integers(0, len(values), 40)
    assert (t[ids] == values[ids]).all()
    big = np.random.default_rng().integers(0, len(values), 3000)
    assert (garner.take(np.asarray(values), big, 0) == values[big]).all()
    return 7

class Set:
    def __init__(self): self.table = garner.Table(path)
    def __len__(self): return 200
    def __getitem__(self, i): return self.table[i]
"""


def run(code: str, path: Path, status: int = 0) -> str:
    script = textwrap.dedent(HEAD) + textwrap.dedent(code)
    got, out, err = ended([sys.executable, "-c", script, str(path)])
    assert got == status, (got, out, err)
    return out


def ended(command: list[str]) -> tuple[int, str, str]:
    """Run a command, and end it and its children after LIMIT: files in place of pipes, which a child would hold open."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        p = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        try:
            status = p.wait(LIMIT)
        except subprocess.TimeoutExpired:
            status = 124
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


@pytest.mark.parametrize("turn", range(4))
def test_fork(npy: Path, turn: int) -> None:
    run(
        """
        t = garner.Table(path)
        check(t)
        stop = []
        busy = [threading.Thread(target=lambda: [check(t) for _ in iter(lambda: not stop, False)]) for _ in range(2)]
        for b in busy: b.start()
        for _ in range(6):
            pid = os.fork()
            if pid == 0:
                signal.alarm(300)  # not faulthandler's watchdog, whose lock a fork leaves taken
                ok = 1
                try:
                    ok = 0 if check(t) == check() == 7 else 1
                    inner = os.fork()
                    if inner == 0:
                        signal.alarm(300)
                        os._exit(0 if check(t) == 7 else 1)
                    ok = ok or os.waitpid(inner, 0)[1]
                finally:
                    os._exit(ok)
            assert os.waitpid(pid, 0)[1] == 0
        stop.append(1)
        for b in busy: b.join()
        """,
        npy,
    )


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_multiprocessing(npy: Path, tmp_path: Path, method: str) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        textwrap.dedent(HEAD)
        + textwrap.dedent(f"""
        def work(i):
            return check(shared) + check()

        shared = garner.Table(path)
        if __name__ == "__main__":
            check(shared)
            with multiprocessing.get_context("{method}").Pool(3) as p:
                assert p.map_async(work, range(12)).get(300) == [14] * 12
        """)
    )
    status, out, err = ended([sys.executable, str(script), str(npy)])
    assert status == 0, (status, out, err)


@pytest.mark.parametrize("when", ["before", "after", "between", "never"])
def test_a_file_cut_short_is_an_error(npy: Path, tmp_path: Path, when: str) -> None:
    copy = tmp_path / "copy.npy"
    copy.write_bytes(npy.read_bytes())
    run(
        f"""
        when = "{when}"
        if when == "before": faulthandler.enable()
        t = garner.Table(path)
        ids = np.arange(15000, 15016)
        t[ids]
        if when == "between":
            faulthandler.enable(); t[ids]; faulthandler.disable(); faulthandler.enable()
        if when == "after": faulthandler.enable()
        os.truncate(path, 4096)
        try:
            t[ids]
        except OSError as e:
            print("refused", e)
        else:
            raise SystemExit("read")
        a = np.memmap(path, mode="r", dtype="u1")
        os.truncate(path, 0)
        try:
            garner.gather("onnx.Gather-13", a, [4000, 0])
        except OSError as e:
            print("refused", e)
        else:
            raise SystemExit("read")
        """,
        copy,
    )


def test_faults_of_others_are_theirs(npy: Path) -> None:
    script = textwrap.dedent(HEAD) + "t = garner.Table(path); t[[1]]; faulthandler.enable(); t[[1]]; faulthandler._sigsegv()"
    status, _, err = ended([sys.executable, "-c", script, str(npy)])
    assert status < 0 and "Segmentation fault" in err and "most recent call first" in err


@pytest.mark.parametrize("how", ["take", "lookup", "file"])
def test_interrupt(npy: Path, tmp_path: Path, how: str) -> None:
    out = run(
        f"""
        import _thread
        how, out = "{how}", "{tmp_path}/out.npy"
        a = np.ones((200, 1 << 20), np.uint8)
        ids = np.zeros(4000, int)  # 4 GB of result
        np.save("{tmp_path}/ids.npy", np.random.default_rng(0).integers(0, len(values), 4_000_000))
        check()
        many, ended = np.load("{tmp_path}/ids.npy"), False
        def interrupt(number, frame):
            came.append(1)
            if in_garner(frame): signal.default_int_handler(number, frame)
        signal.signal(signal.SIGINT, interrupt)
        for delay in [0.3, 0.1, 0.03, 0.01] * 10:  # the call may not have begun, or have ended, where the signal comes
            sent, came = [], []
            def send():
                time.sleep(delay)
                sent.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)
            x = threading.Thread(target=send); x.start()
            try:
                if how == "take": garner.take(a, ids, 0)
                if how == "lookup": garner.Table(path).lookup(many)
                if how == "file": garner.gather_file(path, "{tmp_path}/ids.npy", out)
            except KeyboardInterrupt:
                took, ended = time.perf_counter() - sent[0], True
                assert not os.path.exists(out)
            x.join()
            while not came: time.sleep(0.001)
            if ended: break
            if os.path.exists(out): os.remove(out)
        assert ended, "no signal came in the middle"
        print(took)
        check()
        """,
        npy,
    )
    print(f"{how}: ended {float(out) * 1e3:.0f} ms after the signal")  # on a busy machine most of it without a core


def test_a_handler_that_raises_and_one_that_does_not(npy: Path) -> None:
    run(
        """
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(1500, int)
        ticks = []
        signal.signal(signal.SIGALRM, lambda *x: ticks.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        while not ticks: assert garner.take(a, ids, 0).min() == 1
        def fail(*x):
            signal.setitimer(signal.ITIMER_REAL, 0)  # a second one would be raised behind the first
            raise RuntimeError("in the middle")
        try:
            signal.signal(signal.SIGALRM, fail)
            while True: garner.take(a, ids, 0)
        except RuntimeError as e:
            assert str(e) == "in the middle"
        check()
        """,
        npy,
    )


def test_the_gil_is_released(npy: Path) -> None:
    run(
        """
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(1500, int)
        seen, done = [], []
        def count():
            while not done:
                seen.append(1); time.sleep(0.001)
        x = threading.Thread(target=count); x.start()
        most = 0
        for turn in range(100):  # a busy machine may leave the other thread no core during one
            before = len(seen)
            garner.take(a, ids, 0)
            most = max(most, len(seen) - before)
            if most > 10: break
        done.append(1); x.join()
        assert most > 10, most
        """,
        npy,
    )


@pytest.mark.parametrize("other", ["torch", "jax", "onnxruntime"])
@pytest.mark.parametrize("first", [True, False])
def test_beside(npy: Path, other: str, first: bool) -> None:
    pytest.importorskip(other)
    lines = [f"import {other}", "check()"]
    run("\n".join(lines if first else lines[::-1]) + "\ncheck()\n", npy)


def test_a_data_loader(npy: Path) -> None:
    pytest.importorskip("torch")
    run(
        """
        import torch
        torch.set_num_threads(1)
        s = Set()
        check(s.table)
        got = torch.cat(list(torch.utils.data.DataLoader(s, batch_size=10, num_workers=3, timeout=300)))
        assert (got.numpy() == values[:200]).all()
        """,
        npy,
    )


def test_handlers_that_use_garner_while_the_library_is_loaded(npy: Path) -> None:
    """A handler may come anywhere in the first call, also where cffi holds its lock."""
    for call in ("garner.operators()", "garner.take(big, ids, 0)"):
        run(
            f"""
            from garner import _native
            big, ids = np.ones((3000, 64)), np.zeros(2000, int)
            answered, depth, steps = [], 0, 0
            def handler(*given):
                global depth
                depth += 1
                answered.append({call})
                depth -= 1
            signal.signal(signal.SIGALRM, handler)
            def each(frame, event, what):
                global steps
                steps += 1
                if depth == 0 and steps % 5 == 0 and _native.lib is None: signal.raise_signal(signal.SIGALRM)
            sys.setprofile(each)
            {call}
            sys.setprofile(None)
            assert answered, steps
            """,
            npy,
        )
    for pause in (0.002, 0.005, 0.01, 0.02, 0.03, 0.05):
        run(
            f"""
            answered = []
            signal.signal(signal.SIGALRM, lambda *given: answered.append(garner.operators()))
            signal.setitimer(signal.ITIMER_REAL, {pause})
            garner.operators()
            while not answered: time.sleep(0.01)
            """,
            npy,
        )


def test_a_handler_that_raises_while_the_library_is_loaded(npy: Path) -> None:
    run(
        """
        from garner import _native
        path_of = _native._path
        def slow():
            os.kill(os.getpid(), signal.SIGINT); time.sleep(0.3)
            return path_of()
        _native._path = slow
        try: garner.operators()
        except KeyboardInterrupt: pass
        else: raise SystemExit("answered")
        _native._path = path_of
        check()
        """,
        npy,
    )


def test_a_limit_of_address_space_is_an_error(npy: Path) -> None:
    run(
        """
        import resource
        def limit(mebibytes): resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, resource.RLIM_INFINITY))
        limit(1200)
        try: garner.operators()
        except garner.Error as e: assert "1200 MiB" in str(e), e
        else: raise SystemExit("answered")
        limit(2600)
        garner.operators()  # it is asked again
        pid = os.fork()
        if pid == 0:
            status = 1
            try: garner.operators()
            except garner.Error as e: status = 0 if "spawn" in str(e) else 2
            finally: os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0
        """,
        npy,
    )


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_FSIZE"])
def test_limits_are_errors(npy: Path, limit: str) -> None:
    """Those that leave the library no room, before the first call and in a forked child: an error by name, not the end of the process."""
    run(
        f"""
        import resource
        statm = [int(n) * 4096 for n in open("/proc/self/statm").read().split()]
        taken = {{"RLIMIT_AS": statm[0], "RLIMIT_DATA": statm[5], "RLIMIT_FSIZE": 0}}["{limit}"]
        if "{limit}" == "RLIMIT_FSIZE": garner.operators()
        for room in (32 << 20, 64 << 20, 100 << 20) if "{limit}" != "RLIMIT_FSIZE" else (0, 1 << 20):
            pid = os.fork()
            if pid == 0:
                signal.alarm(300)
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.{limit}, (taken + room, taken + room))
                try: garner.operators()
                except garner.Error as e: os._exit(0 if "limit" in str(e) else 3)
                except BaseException: os._exit(4)
                os._exit(5)
            assert os.waitpid(pid, 0)[1] == 0, room
        """,
        npy,
    )
