"""Signals, threads, ends and other libraries of a process that calls garner. Each test runs in a process of its own, with an end."""

from __future__ import annotations

import signal
import textwrap
from pathlib import Path

import pytest
from test_process import run

SENT = ["SIGALRM", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGPIPE", "SIGTERM", "SIGHUP", "SIGCHLD", "SIGPROF", "SIGWINCH"]


@pytest.mark.parametrize("before", [True, False])
def test_handlers_of_python_run(npy: Path, before: bool) -> None:
    """Set before the first call or after it; from the process, from a thread, and in the middle of a long call."""
    out = run(
        f"""
        ran = []
        numbers = [getattr(signal, n) for n in {SENT}]
        def install():
            for n in numbers: signal.signal(n, lambda n, frame: ran.append(n))
        if {before}: install()
        check()
        if not {before}: install()
        check()
        for n in numbers:
            os.kill(os.getpid(), n); time.sleep(0.01)
            assert ran == [n], (n, ran)
            x = threading.Thread(target=signal.pthread_kill, args=(threading.main_thread().ident, n)); x.start(); x.join(); time.sleep(0.01)
            assert ran == [n, n], (n, ran)
            ran.clear()
        # The system sends SIGPIPE to the thread that wrote, and a thread within a call writes nothing: Go takes one that is sent there.
        during = [n for n in numbers if n != signal.SIGPIPE]
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(600, int)
        calls = 0
        def send():
            for n in during:
                time.sleep(0.02)
                os.kill(os.getpid(), n)
        x = threading.Thread(target=send); x.start()
        while x.is_alive():
            assert garner.take(a, ids, 0).min() == 1; calls += 1
        assert sorted(ran) == sorted(during), ran
        check()
        print(calls, "long calls,", len(ran), "signals")
        """,
        npy,
    )
    assert "signals" in out


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("ignored", [True, False])
def test_a_pipe_without_a_reader(npy: Path, before: bool, ignored: bool) -> None:
    """It is a BrokenPipeError, or an end by SIGPIPE where the program asked for the system's handling."""
    status = 0 if ignored else -signal.SIGPIPE
    run(
        f"""
        if not {before}: check()
        if not {ignored}: signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        check()
        r, w = os.pipe(); os.close(r)
        try: os.write(w, b"x")
        except BrokenPipeError: check()
        else: raise SystemExit("written")
        """,
        npy,
        status,
    )


@pytest.mark.parametrize("sent", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGKILL"])
def test_signals_without_a_handler_end_the_process(npy: Path, sent: str) -> None:
    run(f"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); plain('{sent}'); check(); os.kill(os.getpid(), signal.{sent}); time.sleep(20)", npy, -getattr(signal, sent))


def test_sigurg(npy: Path) -> None:
    """Go's runtime sends it to its own threads, and takes it at the first call. A handler set later sees those signals too."""
    run(
        """
        ran = []
        signal.signal(signal.SIGURG, lambda *given: ran.append(1))
        check()
        signal.signal(signal.SIGURG, lambda *given: ran.append(1))
        os.kill(os.getpid(), signal.SIGURG); time.sleep(0.05)
        assert ran
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(600, int)
        for _ in range(3): assert garner.take(a, ids, 0).min() == 1
        check()
        """,
        npy,
    )


@pytest.mark.parametrize("how", ["take", "lookup", "gather", "gather_file", "explain"])
def test_an_exception_in_the_middle(npy: Path, tmp_path: Path, how: str) -> None:
    """A handler raises again and again, at any place of a call: nothing hangs, and the next call answers."""
    out = run(
        f"""
        how, out = "{how}", "{tmp_path}/out.npy"
        a, ids = np.ones((200, 1 << 18), np.uint8), np.zeros(400, int)
        t = garner.Table(path)
        many = np.random.default_rng(0).integers(0, len(values), 100_000)
        np.save("{tmp_path}/ids.npy", many)
        calls = dict(
            take=lambda: garner.take(a, ids, 0), lookup=lambda: t.lookup(many), gather=lambda: garner.gather("onnx.Gather-13", a, ids),
            gather_file=lambda: garner.gather_file(path, "{tmp_path}/ids.npy", out, resume=True), explain=lambda: garner.explain("onnx.Gather-13", np.ones((20, 4)), [1, 2]),
        )
        class Middle(Exception): pass
        def fail(*given):
            raise Middle
        ended = whole = 0
        def turn(k):
            global ended, whole
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0017 * k)
                    calls[how]()
                    whole += 1
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Middle:
                ended += 1
        signal.signal(signal.SIGALRM, fail)
        for k in range(60): turn(k)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        calls[how](); check(t); check()
        print(ended, "ended,", whole, "whole")
        """,
        npy,
    )
    assert int(out.split()[0]) + int(out.split()[2]) >= 60


def test_threads_that_end(npy: Path) -> None:
    """Each thread of Python that calls is one that Go's runtime knows until it ends: 400 of them leave no others behind."""
    out = run(
        """
        t = garner.Table(path)
        def count(): return len(os.listdir("/proc/self/task"))
        def round_of(n):
            for _ in range(n):
                xs = [threading.Thread(target=check, args=(t,)) for _ in range(4)]
                for x in xs: x.start()
                for x in xs: x.join()
        round_of(20)
        before = count()
        round_of(100)
        time.sleep(0.2)
        print(before, count())
        """,
        npy,
    )
    before, after = (int(n) for n in out.split())
    assert after <= before + 4, out  # Go may begin a thread for another


def test_a_thread_that_ends_by_an_exception(npy: Path) -> None:
    run(
        """
        threading.excepthook = lambda args: seen.append(args.exc_type)
        seen = []
        t = garner.Table(path)
        def work():
            garner.take(np.ones((9, 9)), np.array([3, 9]), 0)
        for _ in range(50):
            x = threading.Thread(target=work); x.start(); x.join()
        assert seen == [garner.IndexError] * 50, seen[:3]
        check(t)
        """,
        npy,
    )


@pytest.mark.parametrize("how", ["return", "sys.exit", "os._exit", "exception", "thread", "SIGTERM"])
@pytest.mark.parametrize("job", ["take", "lookup", "file"])
def test_the_end_during_a_job(npy: Path, tmp_path: Path, how: str, job: str) -> None:
    want = {"exception": 1, "sys.exit": 3, "os._exit": 4, "SIGTERM": -signal.SIGTERM}.get(how, 0)
    run(
        f"""
        how, job = "{how}", "{job}"
        a, ids = np.ones((200, 1 << 20), np.uint8), np.zeros(500, int)
        t = garner.Table(path)
        many = np.random.default_rng(0).integers(0, len(values), 300_000)
        np.save("{tmp_path}/ids.npy", many)
        started = threading.Event()
        def work():
            while True:
                started.set()
                if job == "take": garner.take(a, ids, 0)
                elif job == "lookup": t.lookup(many)
                else: garner.gather_file(path, "{tmp_path}/ids.npy", "{tmp_path}/out.npy")
                if how == "thread": return
        x = threading.Thread(target=work, daemon=how != "thread"); x.start()
        started.wait(); time.sleep(0.05)
        if how == "sys.exit": sys.exit(3)
        if how == "os._exit": os._exit(4)
        if how == "exception": raise ValueError("the end")
        if how == "SIGTERM": os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)
        """,
        npy,
        want,
    )


def test_calls_at_exit(npy: Path) -> None:
    """Functions of atexit, finalizers and objects that outlive the module's end."""
    out = run(
        """
        import atexit, weakref
        t = garner.Table(path)
        atexit.register(lambda: print("atexit", check(t)))
        class Held:
            def __init__(self): self.table = garner.Table(path); self.table[[1]]
            def __del__(self):
                try: self.table[[1]]
                except BaseException: pass
                print("deleted")
        held = Held()
        held.me = held
        weakref.finalize(t, lambda: print("finalized"))
        prepared = garner.gather("onnx.Gather-13", np.arange(3), [1])
        check(t)
        """,
        npy,
    )
    assert "atexit 7" in out and "deleted" in out


@pytest.mark.parametrize("kept", ["a global", "a cycle", "a module"])
@pytest.mark.parametrize("call", ["garner.operators()", "garner.take(big, ids, 0)", "garner.Table(path)[:1]"])
def test_a_first_call_while_the_interpreter_ends(npy: Path, kept: str, call: str) -> None:
    """No thread that starts then comes to run. What the call needs of Python may be gone too, which is an error."""
    out = run(
        f"""
        faulthandler.dump_traceback_later(30, exit=True)
        big, ids = np.ones((3000, 64)), np.zeros(2000, int)
        class Held:
            def __del__(self, garner=garner, Errors=(garner.Error, ImportError), print=print, big=big, ids=ids, path=path):
                try: {call}
                except Errors as e: print("refused:", e)
                else: print("answered")
        held = Held()
        if {kept!r} == "a cycle": held.me = held
        if {kept!r} == "a module": sys.modules["held"] = held
        """,
        npy,
    )
    assert out == "answered\n" or out.startswith("refused: "), out
    if "operators" in call:
        assert "garner: the interpreter ends" in out or "answered" in out, out


def test_a_call_at_the_end_beside_a_thread_that_loads(npy: Path) -> None:
    out = run(
        """
        faulthandler.dump_traceback_later(30, exit=True)
        from garner import _native
        inside = threading.Event()
        def slow():
            inside.set(); time.sleep(60)
        _native._path = slow
        threading.Thread(target=garner.operators, daemon=True).start()
        inside.wait()
        class Held:
            def __del__(self, garner=garner, Error=garner.Error, print=print):
                try: garner.operators()
                except Error as e: print("refused:", e)
        import types
        sys.modules["held"] = types.ModuleType("held")  # the thread's frames hold the names of this module
        sys.modules["held"].held = Held()
        """,
        npy,
    )
    assert "a thread that ended with it" in out


def test_subinterpreters(npy: Path) -> None:
    """NumPy refuses them, or imports there; whichever, the main one goes on."""
    pytest.importorskip("_xxsubinterpreters", reason="this Python has no subinterpreters under that name")
    run(
        """
        import _xxsubinterpreters as interpreters
        check()
        other = interpreters.create()
        try:
            interpreters.run_string(other, "import garner, numpy\\nassert garner.take(numpy.arange(3), [1])[0] == 1\\ngarner.operators()")
        except Exception as e:
            print("refused:", str(e)[:200])
        check()
        interpreters.destroy(other)
        check()
        """,
        npy,
    )


CALLS = {
    "torch": "assert torch.equal(torch.embedding(torch.ones(3000, 64), torch.arange(3000) % 7), torch.ones(3000, 64)); assert float((torch.ones(400, 400) @ torch.ones(400, 400))[0, 0]) == 400; "
    "assert torch.equal(garner.embedding(torch.tensor([1, 2]), torch.ones(4, 3)), torch.ones(2, 3))",
    "jax": "import jax.numpy as jnp; assert float(jax.jit(lambda x: (x @ x).sum())(jnp.ones((300, 300)))) == 300 ** 3; assert isinstance(garner.gather('jax.numpy.take', jnp.ones((4, 3)), jnp.array([1])), jax.Array)",
    "onnxruntime": """
import onnx.helper as h
g = h.make_graph([h.make_node("Gather", ["a", "i"], ["o"])], "g", [h.make_tensor_value_info("a", 1, [None, 4]), h.make_tensor_value_info("i", 7, [None])], [h.make_tensor_value_info("o", 1, [None, 4])])
m = h.make_model(g, opset_imports=[h.make_opsetid("", 13)], ir_version=8)
s = onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
data, ids = np.random.rand(5000, 4).astype("f4"), np.random.randint(-5000, 5000, 4000)
assert (s.run(None, {"a": data, "i": ids})[0] == garner.gather("onnx.Gather-13", data, ids)).all()
""",
    "tqdm": "assert list(tqdm.tqdm([1], disable=True)) == [1]",
}
ORDERS = {
    "import, import, other, garner": ["import {0}", "theirs()", "check()"],
    "garner's call before the import": ["check()", "import {0}", "theirs()"],
    "the import, garner's call, the other's": ["import {0}", "check()", "theirs()"],
    "faulthandler between": ["check()", "faulthandler.enable()", "import {0}", "theirs()", "check()", "faulthandler.disable()"],
}


@pytest.mark.parametrize("other", list(CALLS))
@pytest.mark.parametrize("order", list(ORDERS))
def test_beside(npy: Path, other: str, order: str) -> None:
    pytest.importorskip(other)
    if other == "onnxruntime":
        pytest.importorskip("onnx")
    body = "\n".join(line.format(other) for line in ORDERS[order])
    threads = """
for _ in range(2):
    theirs(); check()
    xs = [threading.Thread(target=f) for f in (theirs, check, theirs, check)]
    for x in xs: x.start()
    for x in xs: x.join()
failed = []
threading.excepthook = failed.append
xs = [threading.Thread(target=f) for f in (theirs, check)]
for x in xs: x.start()
for x in xs: x.join()
assert not failed, failed
"""
    call = "def theirs():\n" + textwrap.indent(f"global {other}\nimport {other}\n" + CALLS[other], "    ") + "\n"
    run(call + body + "\n" + threads, npy)
