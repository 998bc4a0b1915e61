"""Faults and signals that are not garner's go to the handlers that would have had them without it."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path

import pytest
from test_process import run

# Each order of these is a process of its own, forked before the library is loaded.
MOVES = {
    "enable": "faulthandler.enable()",
    "disable": "faulthandler.disable()",
    "call": "garner.take(a, i, 0)",
    "handler": "signal.signal(signal.SIGSEGV, lambda *given: None); signal.signal(signal.SIGBUS, lambda *given: None)",
    "default": "signal.signal(signal.SIGSEGV, signal.SIG_DFL); signal.signal(signal.SIGBUS, signal.SIG_DFL)",
    "ignore": "signal.signal(signal.SIGSEGV, signal.SIG_IGN); signal.signal(signal.SIGBUS, signal.SIG_IGN)",
}

RUN = """
    import resource, tempfile
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.cancel_dump_traceback_later()
    faulthandler.disable()
    plain("SIGSEGV"); plain("SIGBUS")
    a, i = np.zeros((2, 70000)), np.zeros(2, int)
    import garner._native as native
    ends = {
        "fault": "faulthandler._sigsegv()",
        "sent": "os.kill(os.getpid(), signal.SIGBUS); time.sleep(0.05); os.kill(os.getpid(), signal.SIGBUS); time.sleep(0.05); sys.stderr.write('lived')",
    }
    def end(order, how, with_calls):
        log = tempfile.TemporaryFile("w+")
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(log.fileno(), 2)
                signal.alarm(60)
                for move in order:
                    if move != "call" or with_calls: exec(moves[move])
                exec(ends[how])
            except BaseException as e: os.write(2, ("raised " + repr(e)).encode())
            finally: os._exit(0)
        status = os.waitpid(pid, 0)[1]
        log.seek(0)
        text = log.read(100_000)
        return os.waitstatus_to_exitcode(status), text.count("Fatal Python error"), "lived" in text, "raised" in text, len(text) < 50_000
    done = 0
    for order in orders:
        for how in hows:
            want, got = end(order, how, False), end(order, how, True)
            assert want == got, (order, how, "without garner", want, "with it", got)
            assert how == "sent" or got[0] == -signal.SIGSEGV, got
            done += 1
    print(done, "orders")
"""


def orders(of: list[str], length: int) -> list[tuple[str, ...]]:
    """Orders whose first call is not the last move alone, without one move twice in a row."""
    return [o for o in itertools.product(of, repeat=length) if "call" in o and all(x != y for x, y in zip(o, o[1:]))]


def compared(found: list[tuple[str, ...]], hows: list[str], npy: Path) -> None:
    head = f"moves, orders, hows = {MOVES!r}, {found!r}, {hows!r}\n"
    out = run(head + RUN.replace("\n    ", "\n"), npy)
    assert out.split()[0] == str(len(found) * len(hows))


@pytest.mark.parametrize("first", ["enable", "disable", "call"])
def test_orders_of_faulthandler(npy: Path, first: str) -> None:
    """All of length 5 that end in a call, which begin so."""
    compared([o for o in orders(["enable", "disable", "call"], 5) if o[0] == first], ["fault", "sent"], npy)


@pytest.mark.parametrize("first", ["enable", "default", "ignore", "call"])
def test_orders_of_pythons_handlers(npy: Path, first: str) -> None:
    """A fault of an instruction that a handler of Python lets begin again has no end, with garner and without: signals alone are sent."""
    compared([o for o in orders(["handler", "default", "ignore", "call", "enable"], 3) if o[0] == first], ["sent"], npy)


def test_a_fault_behind_pythons_handler_is_told_once(npy: Path) -> None:
    out = run(
        """
        import resource, subprocess
        code = '''
        import faulthandler, resource, signal, sys
        import numpy as np, garner
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(60)
        t = garner.Table(sys.argv[1]); t[[1]]
        for turn in range(40):
            faulthandler.enable(); t[[1]]; faulthandler.disable(); t[[1]]
            signal.signal(signal.SIGSEGV, signal.SIG_DFL); t[[1]]
        faulthandler.enable(); t[[1]]
        faulthandler._sigsegv()
        '''
        import textwrap
        p = subprocess.run([sys.executable, "-c", textwrap.dedent(code), path], capture_output=True, text=True)
        print(p.returncode, p.stderr.count("Fatal Python error"))
        """,
        npy,
    )
    assert out.split() == [str(-signal.SIGSEGV), "1"]
