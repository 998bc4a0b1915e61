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


@pytest.mark.parametrize("way", ["nothing", "use", "raise", "both"])
def test_a_handler_that_forks_and_comes_back_in_a_run(npy: Path, way: str) -> None:
    """The child cannot end the run, whatever it did before: it says so and exits. One that does not come back is not touched."""
    out = run(
        f"""
        a, ids = np.ones((20, 1 << 20), np.uint8), np.zeros(400, int)
        garner.take(a, ids[:9], 0)
        me, children, back = os.getpid(), [], True
        def fork(*given):
            pid = os.fork()
            if pid: children.append(pid); return
            if not back: os._exit(9)
            signal.signal(signal.SIGALRM, signal.SIG_DFL); signal.alarm(20)
            if {way!r} in ("use", "both"):
                assert garner.gather("onnx.Gather-13", np.arange(5), [1]) == 1 and garner.take(a, ids, 0).min() == 1
            if {way!r} in ("raise", "both"): raise LookupError
        signal.signal(signal.SIGALRM, fork)
        for back in (True, False):
            seen = []
            for delay in (0.003, 0.006, 0.012, 0.025, 0.05):  # a signal may come before the run, or behind it
                count = len(children)
                while len(children) == count:
                    try:
                        signal.setitimer(signal.ITIMER_REAL, delay)
                        assert garner.take(a, ids, 0).min() == 1
                        if os.getpid() == me: signal.setitimer(signal.ITIMER_REAL, 0)
                    finally:
                        if os.getpid() != me: os._exit(1)
                seen += [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children[count:]]
            print(set(seen) - {{1}})
        """,
        npy,
    )
    assert out == "{70}\n{9}\n", out


def test_exceptions_of_handlers_do_not_stay(npy: Path) -> None:
    """Signals come one behind the other, in the run, and while its error is read."""
    out = run(
        """
        from garner import _native
        class Ended(Exception): pass
        a, ids = np.ones((20, 1 << 20), np.uint8), np.zeros(400, int)
        garner.take(a, ids[:9], 0)
        def clean():
            for _ in range(3):
                try: garner.gather("onnx.Gather-13", a, [300])
                except garner.IndexError: pass
                else: raise SystemExit("no error")
        def end(*given): raise Ended("first")
        signal.signal(signal.SIGALRM, end)
        real, read = _native.error, []
        def error(number):
            read.append(real(number))
            raise Ended("second")
        _native.error = error
        for turn in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            try: garner.take(a, ids, 0)
            except Ended as e: told = [str(e), str(e.__context__)]
            assert told == (["second", "first"] if len(read) else ["first", "None"]), told
            assert not _native.kept.args, _native.kept.args
            read.clear()
        _native.error = real
        clean()
        ended = 0
        for turn in range(25):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.0003)
                    garner.take(a, ids, 0)
                finally:
                    while True:
                        try: signal.setitimer(signal.ITIMER_REAL, 0); break
                        except Ended: pass
            except Ended: ended += 1
            clean()
        print(ended, "ended")
        """,
        npy,
    )
    assert out == "25 ended\n"


def test_handlers_that_raise_at_one_look(npy: Path) -> None:
    """The second one's exception comes out, with the first one's as its context, as without garner."""
    out = run(
        """
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(1500, int)
        garner.take(a, ids[:9], 0)
        def end(number, frame):
            if number == signal.SIGTERM: sys.exit(3)
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, end); signal.signal(signal.SIGTERM, end)
        me, seen = os.getpid(), []
        for turn in range(8):
            def send(): time.sleep(0.05); os.kill(me, signal.SIGINT); os.kill(me, signal.SIGTERM)
            x = threading.Thread(target=send); x.start()
            try:
                try: garner.take(a, ids, 0)
                finally:
                    while x.is_alive(): pass  # a second signal that came late
            except BaseException as e: seen.append((type(e).__name__, type(e.__context__).__name__))
            assert not garner._native.kept.args
        assert set(seen) <= {("SystemExit", "KeyboardInterrupt")} and len(seen) == 8, seen
        """,
        npy,
    )
    assert not out


@pytest.mark.parametrize("way", ["answers", "refuses", "is ended"])
def test_a_handler_that_gathers_behind_one_that_raised(npy: Path, way: str) -> None:
    """It runs where the outer run has ended, and not told yet why: a run of its own takes nothing from it."""
    run(
        f"""
        class First(Exception): pass
        class Third(Exception): pass
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(1500, int)
        garner.take(a, ids[:9], 0)
        ran = []
        def raising(kind):
            def raises(*given): raise kind
            return raises
        def gathers(*given):
            try:
                if {way!r} == "refuses": garner.gather("onnx.Gather-13", a, [300])
                elif {way!r} == "answers": garner.take(a, ids[:300], 0)
                else:
                    signal.setitimer(signal.ITIMER_REAL, 0.04)
                    while True: garner.take(a, ids, 0)
            except (garner.IndexError, Third) as e: assert e.__context__ is None, e.__context__
            ran.append(1)
        signal.signal(signal.SIGUSR1, raising(First)); signal.signal(signal.SIGUSR2, gathers); signal.signal(signal.SIGALRM, raising(Third))
        me = os.getpid()
        for turn in range(4):
            def send(): time.sleep(0.05); os.kill(me, signal.SIGUSR1); os.kill(me, signal.SIGUSR2)
            x = threading.Thread(target=send); x.start()
            try: garner.take(a, ids, 0)
            except First as e: assert e.__context__ is None
            else: raise SystemExit("no error")
            x.join()
            assert not garner._native.kept.args
        assert len(ran) == 4, ran
        """,
        npy,
    )


def test_slow_files_of_gather_file(npy: Path, tmp_path: Path) -> None:
    """A FIFO that nobody writes to or reads from: a handler that raises ends the call, and one that does not raise runs."""
    run(
        f"""
        fifo, ids, out = "{tmp_path}/fifo.npy", "{tmp_path}/ids.npy", "{tmp_path}/out.npy"
        os.mkfifo(fifo)
        np.save(ids, [1, 2])
        check()
        class Ended(Exception): pass
        ran = []
        def end(*given):
            ran.append(1)
            if len(ran) % 3 == 0: raise Ended
        signal.signal(signal.SIGALRM, end)
        for given in ((fifo, ids, out), (path, fifo, out), (path, ids, fifo)):
            os.remove(fifo); os.mkfifo(fifo)  # what was left waits at the old one
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
            try: garner.gather_file(*given); raise AssertionError(given)
            except Ended: pass
            except garner.FileError as e: assert "fifo.npy" in str(e), e
            finally: signal.setitimer(signal.ITIMER_REAL, 0)
        check()
        assert garner.gather_file(path, ids, out) == "f32[2,256]"
        """,
        npy,
    )


def test_handlers_that_raise_leave_nothing_open(npy: Path) -> None:
    """At any place of Table(), and of what runs an operator."""
    out = run(
        """
        import random
        class Ended(Exception): pass
        def end(*given): raise Ended
        check(); gc.collect()
        def mappings(): return sum(path in line for line in open("/proc/self/maps"))
        before = len(os.listdir("/proc/self/fd")), mappings()
        signal.signal(signal.SIGALRM, end)
        handlers, caught = 0, 0
        a, ids, ends = np.ones((100, 100)), np.arange(100), np.arange(100)
        def end(*given):
            global handlers
            handlers += 1
            raise Ended
        signal.signal(signal.SIGALRM, end)
        while caught < 500:
            had = handlers
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 3e-3))
                while handlers == had:
                    t = garner.Table(path)
                    garner.embedding_bag(ids, a, ends)
                    t.close()
            except Ended: caught += 1
        t = None
        gc.collect()
        for turn in range(100):
            now = len(os.listdir("/proc/self/fd")), mappings()
            if now == before: break
            time.sleep(0.02)
        print(handlers, caught, before, now)
        assert now == before and handlers == caught > 100
        """,
        npy,
    )
    assert out


WORK = {
    "numbers narrower than a byte": "narrow[:]",
    "numbers from the end": "t[ends]",
    "strided numbers": "t.lookup(strided)",
    "the other order of bytes": "garner.gather('numpy.take', big, [0])",
    "a transposed array": "garner.take(turned, some, 0)",
    "rows and a column": "t[many, 0]",
    "rows far apart and a column": "t[far, 0]",
    "a mask": "t[mask]",
}


@pytest.mark.parametrize("way", WORK)
def test_a_signal_ends_work_of_numpy(npy: Path, tmp_path: Path, way: str) -> None:
    """What NumPy does within a call is done in pieces."""
    out = run(
        f"""
        way = {way!r}
        folder = "{tmp_path}/"
        np.save(folder + "t.npy", np.zeros((1 << 12, 1), np.uint8))
        t = garner.Table(folder + "t.npy")
        if "narrow" in way:
            with open(folder + "n.raw", "wb") as f: f.truncate(1 << 27)
            narrow = garner.Table(folder + "n.raw", dtype="i4", shape=[-1, 1 << 20])
        elif "end" in way: ends = np.full(1 << 26, -1)
        elif "strided" in way: strided = np.zeros((1 << 25, 2), np.int64)[:, 0]
        elif "transposed" in way: turned, some = np.ones((9000, 9000), np.float32).T, np.random.default_rng(0).integers(0, 9000, 6000)
        elif "apart" in way:
            with open(folder + "long.raw", "wb") as f: f.truncate(1 << 27)
            t, far = garner.Table(folder + "long.raw", dtype="u8", shape=[1 << 27, 1]), np.random.default_rng(0).integers(-(1 << 27), 1 << 27, 5_000_000)
        elif "column" in way: many = np.random.default_rng(0).integers(-4096, 4096, 20_000_000)
        elif "mask" in way:
            with open(folder + "long.raw", "wb") as f: f.truncate(1 << 29)
            t, mask = garner.Table(folder + "long.raw", dtype="u8", shape=[1 << 29, 1]), np.zeros(1 << 29, bool)
        else: big = np.zeros(1 << 26, ">f4")
        class Ended(Exception): pass
        sent = 0
        def end(*given): raise Ended
        def late(): time.sleep(delay); globals().update(sent=time.process_time()); os.kill(os.getpid(), signal.SIGALRM)
        signal.signal(signal.SIGALRM, end)
        took = []
        for delay in (0.02, 0.05, 0.1):
            x = threading.Thread(target=late)
            try:
                x.start()
                while True: {WORK[way]}
            except Ended: took.append(time.process_time() - sent)
            x.join()
        print(min(took))
        """,
        npy,
    )
    print(f"{way}: ended {float(out) * 1e3:.0f} ms of processor time after the signal")  # some 20; work in one piece takes all of its own
