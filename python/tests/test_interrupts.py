"""Handlers of signals that raise, or fork, in calls that are not runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_process import run

WAYS = {
    "a FIFO": "garner.Table(fifo)",
    "info of a FIFO": "garner.info(fifo)",
    "a member": "garner.Table(npz + '#a')",
    "explain": "garner.explain('onnx.Gather-13', np.zeros((2_000_000, 4), np.float32), many)",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_signal_ends_it(npy: Path, tmp_path: Path, way: str) -> None:
    """A FIFO without a writer has no end but this; the others are told to end in their middle."""
    out = run(
        f"""
        fifo, npz = "{tmp_path}/fifo.npy", "{tmp_path}/z.npz"
        os.mkfifo(fifo)
        if {way!r} == "a member": np.savez_compressed(npz, a=np.zeros(1 << 26, np.float32))
        many = np.random.default_rng(0).integers(0, 2_000_000, 20_000_000) if {way!r} == "explain" else None
        check()
        class Ended(Exception): pass
        def end(*given): raise Ended
        signal.signal(signal.SIGALRM, end)
        ended = 0
        for turn in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            began = time.monotonic()
            try: {WAYS[way]}
            except Ended: ended += 1
            finally: signal.setitimer(signal.ITIMER_REAL, 0)
            print(round(time.monotonic() - began, 2), "s")
        check()
        print(ended, "ended")
        """,
        npy,
    )
    assert "3 ended" in out if "FIFO" in way else "ended" in out and "0 ended" not in out, out


@pytest.mark.parametrize("way", ["t.lookup(many)", "garner.gather_file(path, ids, out)", "garner.Table(fifo)"])
def test_a_handler_that_forks_and_comes_back_in_a_job(npy: Path, tmp_path: Path, way: str) -> None:
    out = run(
        f"""
        fifo, ids, out = "{tmp_path}/fifo.npy", "{tmp_path}/ids.npy", "{tmp_path}/out.npy"
        os.mkfifo(fifo)
        t = garner.Table(path)
        many = np.random.default_rng(0).integers(0, len(values), 400_000)
        np.save(ids, many)
        children, me = [], os.getpid()
        def fork(*given):
            pid = os.fork()
            if pid: children.append(pid); signal.setitimer(signal.ITIMER_REAL, 0)
            else: signal.alarm(60)
        class Ended(Exception): pass
        signal.signal(signal.SIGUSR1, fork)
        x = threading.Timer(0.05, lambda: os.kill(me, signal.SIGUSR1)); x.start()
        if "fifo" in {way!r}:  # it ends when somebody writes
            threading.Timer(3, lambda: os.close(os.open(fifo, os.O_RDWR))).start()
        try: {way}
        except garner.Error as e:
            if os.getpid() != me:
                if "forked" not in str(e): os._exit(3)
                signal.signal(signal.SIGUSR1, signal.SIG_DFL)
                os._exit(0 if check(t) == check() == 7 else 4)
        if os.getpid() != me: os._exit(0)  # forked before the job began, or behind its end
        x.join()
        for pid in children: assert os.waitpid(pid, 0)[1] == 0
        print(len(children), "forked")
        """,
        npy,
    )
    assert "1 forked" in out


@pytest.mark.parametrize("pread", [False, True])
@pytest.mark.parametrize("count", [1, 300, 10_000, 60_000])
def test_handlers_during_lookups(npy: Path, count: int, pread: bool) -> None:
    """One that uses the same table, and one that raises, in lookups on this thread and in jobs."""
    run(
        f"""
        t = garner.Table(path, pread={pread})
        ids = np.random.default_rng(0).integers(0, len(values), {count})
        want, out = values[ids], np.empty(({count}, 256), np.float32)
        ran, late = [], []
        def use(*given): assert (t[ids[:300]] == want[:300]).all() and (t[5] == values[5]).all(); ran.append(1)
        signal.signal(signal.SIGALRM, use)
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        while len(ran) < 20:
            assert (t.lookup(ids, out) == want).all() and (t[ids] == want).all()
        class Ended(Exception): pass
        def end(*given): raise Ended
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, end)
        for turn in range(20):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.0007 * turn)
                while True: t.lookup(ids, out)
            except Ended: pass
        assert (t.lookup(ids, out) == want).all()
        check(t)
        """,
        npy,
    )


def test_a_handler_that_forks_and_comes_back_in_a_run(npy: Path) -> None:
    """The child cannot end the run: it says so and exits. One that does not come back is not touched."""
    out = run(
        """
        a, ids = np.ones((20, 1 << 20), np.uint8), np.zeros(400, int)
        garner.take(a, ids[:9], 0)
        me, children, back = os.getpid(), [], True
        def fork(*given):
            pid = os.fork()
            if pid: children.append(pid)
            elif back: signal.signal(signal.SIGALRM, signal.SIG_DFL); signal.alarm(20)
            else: os._exit(9)
        signal.signal(signal.SIGALRM, fork)
        for back in (True, False):
            count = len(children)
            while len(children) == count:
                signal.setitimer(signal.ITIMER_REAL, 0.03)
                assert garner.take(a, ids, 0).min() == 1
                signal.setitimer(signal.ITIMER_REAL, 0)
                if os.getpid() != me: os._exit(1)  # forked outside the run
            print(sorted({os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children[count:]}))
        """,
        npy,
    )
    first, second = out.splitlines()
    assert first in ("[70]", "[1]", "[1, 70]") and second == "[9]", out


def test_exceptions_of_handlers_do_not_stay(npy: Path) -> None:
    """A second one comes while the first one's error is read."""
    run(
        """
        from garner import _native
        class Ended(Exception): pass
        real = _native.error
        def error(number):
            e = real(number)
            raise Ended("second")
        a, ids = np.ones((20, 1 << 20), np.uint8), np.zeros(400, int)
        garner.take(a, ids[:9], 0)
        def end(*given): raise Ended("first")
        signal.signal(signal.SIGALRM, end)
        _native.error = error
        for turn in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            try: garner.take(a, ids, 0)
            except Ended as e: assert str(e) in ("first", "second")
            assert not _native._raised, _native._raised
        _native.error = real
        assert issubclass(garner.IndexError, IndexError)
        try: garner.gather("onnx.Gather-13", a, [300])
        except IndexError: pass
        else: raise SystemExit("no error")
        """,
        npy,
    )
