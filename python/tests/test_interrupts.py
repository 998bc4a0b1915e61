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
        def end(number, frame):
            global came
            came = True
            if in_garner(frame): raise Ended
            if "FIFO" in {way!r}: signal.setitimer(signal.ITIMER_REAL, 0.1)  # before the call, which has no other end
        signal.signal(signal.SIGALRM, end)
        ended = 0
        for delay in [0.1, 0.05, 0.02, 0.01, 0.2] * 20:  # the call may not have begun, or have ended, where the signal comes
            came, began = False, time.monotonic()
            try: signal.setitimer(signal.ITIMER_REAL, delay); {WAYS[way]}
            except Ended: ended += 1
            while not came: time.sleep(0.001)
            print(round(time.monotonic() - began, 2), "s")
            if ended == 3: break
        check()
        print(ended, "ended")
        """,
        npy,
    )
    assert "3 ended" in out, out


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
            if pid: children.append(pid)
            else: signal.alarm(300)
        signal.signal(signal.SIGUSR1, fork)
        def write():  # which ends the open of a FIFO
            while not children: time.sleep(0.01)
            while not ended: os.close(os.open(fifo, os.O_RDWR)); time.sleep(0.05)
        statuses = set()
        for delay in [0.05, 0.02, 0.01, 0.005, 0.1] * 20:
            children.clear()
            ended = []
            x = threading.Timer(delay, lambda: os.kill(me, signal.SIGUSR1)); x.start()
            if "fifo" in {way!r}: y = threading.Thread(target=write); y.start()
            try: {way}
            except garner.Error as e:
                if os.getpid() != me:
                    if "forked" not in str(e): os._exit(3)
                    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
                    os._exit(0 if check(t) == check() == 7 else 4)
            if os.getpid() != me: os._exit(9)  # forked before the job began, or behind its end
            x.join()
            while not children and os.getpid() == me: time.sleep(0.001)
            if os.getpid() != me: os._exit(9)
            ended.append(1)
            if "fifo" in {way!r}: y.join()
            statuses.add(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
            if statuses != {{9}}: break
        print(statuses - {{9}}, "forked")
        """,
        npy,
    )
    assert out == "{0} forked\n", out


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
        def use(*given):
            assert (t[ids[:300]] == want[:300]).all() and (t[5] == values[5]).all(); ran.append(1)
            signal.setitimer(signal.ITIMER_REAL, 0.005)  # the next one, however long this one took
        signal.signal(signal.SIGALRM, use)
        signal.setitimer(signal.ITIMER_REAL, 0.005)
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
            signal.signal(signal.SIGALRM, signal.SIG_DFL); signal.alarm(300)
            if {way!r} in ("use", "both"):
                assert garner.gather("onnx.Gather-13", np.arange(5), [1]) == 1 and garner.take(a, ids, 0).min() == 1
            if {way!r} in ("raise", "both"): raise LookupError
        signal.signal(signal.SIGALRM, fork)
        for back in (True, False):
            seen = []
            for turn, delay in enumerate([0.003, 0.006, 0.012, 0.025, 0.05] * 20):  # a signal may come before the run, or behind it
                if turn >= 5 and set(seen) - {{1}}: break
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
        def first(number, frame):
            came.append(1)
            if in_garner(frame): raise Ended("first")
        signal.signal(signal.SIGALRM, first)
        met = 0
        for delay in [0.02, 0.01, 0.005, 0.04, 0.08] * 40:
            came, told = [], None
            signal.setitimer(signal.ITIMER_REAL, delay)
            try: garner.take(a, ids, 0)
            except Ended as e: told = [str(e), str(e.__context__)]
            while not came: time.sleep(0.001)
            assert told in ([["second", "first"]] if len(read) else [["first", "None"], None]), told
            assert not _native.kept.args, _native.kept.args
            met += len(read) > 0
            read.clear()
            if met == 3: break
        assert met == 3, met
        _native.error = real
        signal.signal(signal.SIGALRM, end)
        clean()
        ended = 0
        for turn in range(500):
            if ended == 25: break
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.01 / (1 + turn % 5), 0.0003)
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
            within.append(in_garner(frame))
            if not within[-1]: return
            if number == signal.SIGTERM: sys.exit(3)
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, end); signal.signal(signal.SIGTERM, end)
        me, seen = os.getpid(), []
        for delay in [0.05, 0.02, 0.1, 0.01] * 40:  # one of both may come before the run, or behind it
            within, raised = [], None
            def send(): time.sleep(delay); os.kill(me, signal.SIGINT); os.kill(me, signal.SIGTERM)
            x = threading.Thread(target=send); x.start()
            try: garner.take(a, ids, 0)
            except BaseException as e: raised = type(e).__name__, type(e.__context__).__name__
            x.join()
            while len(within) < 2: time.sleep(0.001)
            assert not garner._native.kept.args
            if all(within): seen.append(raised)
            if len(seen) == 8: break
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
            def raises(number, frame):
                if kind is Third or in_garner(frame): raise kind
            return raises
        def gathers(number, frame):
            within.append(in_garner(frame))
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
        met = 0
        for delay in [0.05, 0.02, 0.1, 0.01] * 25:  # one of both may come before the run, or behind it
            within, raised = [], False
            def send(): time.sleep(delay); os.kill(me, signal.SIGUSR1); os.kill(me, signal.SIGUSR2)
            ran.clear()
            x = threading.Thread(target=send); x.start()
            try: garner.take(a, ids, 0)
            except First as e:
                assert e.__context__ is None
                raised = True
            x.join()
            while not ran: time.sleep(0.001)
            assert len(ran) == 1 and not garner._native.kept.args
            met += raised and within == [True]
            if met == 4: break
        assert met == 4, met
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
        def end(number, frame):
            ran.append(1)
            if len(ran) % 3 == 0 and in_garner(frame): raise Ended
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
        for turn in range(9000):
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
    """What NumPy does within a call is done in pieces: each large array is left half made by some signal, as none is by work in one piece."""
    out = run(
        f"""
        import random
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
            mask[::32] = True
        else: big = np.zeros(1 << 26, ">f4")
        NOT_YET = 0xA5A5A5A5A5A5A5A5
        empty, count, made, counts = np.empty, np.count_nonzero, [], []
        def words(a): return a.reshape(-1).view(np.uint8)[: a.nbytes & -8].view(np.uint64)
        def moment(last): return 1e-4 + last * random.random() ** 3  # sooner rather than later: a sort may follow
        def seen(*given, **named):
            a = empty(*given, **named)
            if a.nbytes >= 1 << 24:
                at.append(time.monotonic())
                words(a).fill(NOT_YET)
                if target == len(made): signal.setitimer(signal.ITIMER_REAL, moment(lasts[target]))
                made.append(a); at.append(time.monotonic())
            return a
        def counting(a):
            if target == "the count" and not counts: signal.setitimer(signal.ITIMER_REAL, moment(lasts[0]))
            counts.append(a.size)
            return count(a)
        np.empty, np.count_nonzero = seen, counting
        def half(a): return 0 < count(words(a)[::512] == NOT_YET) < len(words(a)[::512])
        target, at = None, []
        {WORK[way]}
        at.append(time.monotonic())
        whole, lasts = sum(counts), [b - a for a, b in zip(at[1::2], at[2::2])]  # until the next array is made
        left = {{i for i, a in enumerate(made) if not (words(a) == NOT_YET).any()}} | ({{"the count"}} if "mask" in way else set())
        assert left
        class Ended(Exception): pass
        def end(*given): raise Ended
        signal.signal(signal.SIGALRM, end)
        for turn in range(500):
            target = random.choice(list(left))
            made.clear(); counts.clear()
            try:
                while True: {WORK[way]}; made.clear(); counts.clear()
            except Ended: pass
            left -= {{i for i, a in enumerate(made) if half(a)}}
            if 0 < sum(counts) < whole: left.discard("the count")
            if not left: break
        print(turn, "turns, never left half made:", left or "none")
        """,
        npy,
    )
    assert out.endswith(": none\n"), out
