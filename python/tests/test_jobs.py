"""Memory of long calls: none is freed while the library writes to it, wherever a signal's handler raises."""

from __future__ import annotations

from pathlib import Path

from test_process import run


def test_many_interrupts(npy: Path) -> None:
    """SIGINT each millisecond, also while the call before it ends: each array is freed, and its memory used again."""
    out = run(
        """
        ids = np.random.default_rng(0).integers(0, len(values), 20_000)
        t = garner.Table(path)
        ended = whole = wrong = 0
        left = 0
        def interrupt(*given):
            global left
            if left > 0:
                left -= 1
                raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while ended < 40:
            try:
                try:
                    try:
                        left = 3  # one for the call, one for its end, one for the next line
                        got = t.lookup(ids)
                    finally: left = 0
                finally: left = 0
                whole += 1
                del got
            except KeyboardInterrupt:
                ended += 1
                filled = np.full((20_000, 256), 7, np.float32)  # memory of the call before
                if not (filled == 7).all(): wrong += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(ended, whole, wrong)
        check(t); check()
        """,
        npy,
    )
    ended, whole, wrong = (int(n) for n in out.split())
    assert ended >= 40 and wrong == 0, out


def test_two_interrupts_of_one_call(npy: Path, tmp_path: Path) -> None:
    """The second comes while the first is on its way: the call ends by one, and nothing hangs."""
    out = run(
        f"""
        np.save("{tmp_path}/ids.npy", np.random.default_rng(0).integers(0, len(values), 2_000_000))
        check()
        def send():
            time.sleep(0.3)
            for _ in range(5): os.kill(os.getpid(), signal.SIGINT); time.sleep(0.005)
        x = threading.Thread(target=send)
        ended = 0
        try:
            x.start()
            garner.gather_file(path, "{tmp_path}/ids.npy", "{tmp_path}/out.npy")
            raise SystemExit("it ended before the signal")
        except KeyboardInterrupt:
            ended += 1
        while x.is_alive():
            try: x.join(0.01)
            except KeyboardInterrupt: ended += 1
        try: time.sleep(0.05)
        except KeyboardInterrupt: ended += 1
        assert not os.path.exists("{tmp_path}/out.npy")
        check()
        print(ended)
        """,
        npy,
    )
    assert int(out) >= 1
