"""Classes that derive from Table, and closed tables: through pickle, copies and workers."""

from __future__ import annotations

import copy
import pickle
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_process import HEAD, ended

import garner

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Doubled(garner.Table):
    """A table whose rows are others, with attributes of its own."""

    def __init__(self, file: Any, extra: Any, **options: Any) -> None:
        super().__init__(file, **options)
        self.extra = extra

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) * 2


class Slotted(garner.Table):
    __slots__ = ("extra", "__hidden", "_unset")

    def __init__(self, file: Any, extra: Any) -> None:
        super().__init__(file)
        self.extra = extra
        self.__hidden = [extra]

    @property
    def hidden(self) -> Any:
        return self.__hidden


class Both(Slotted):
    """Slots and a __dict__."""

    own: Both


class Made(garner.Table):
    """Its own state, and a __new__ that asks for more."""

    def __new__(cls, file: Any, extra: Any) -> Made:
        return super().__new__(cls)

    def __init__(self, file: Any, extra: Any) -> None:
        super().__init__(file)
        self.extra = extra

    def __getstate__(self) -> Any:
        return {"kept": self.extra}

    def __setstate__(self, state: Any) -> None:
        self.extra = state["kept"]


def ways() -> list[Any]:
    return [copy.copy, copy.deepcopy, *(lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in PROTOCOLS)]


@pytest.mark.parametrize("way", range(len(ways())))
def test_a_class_and_its_attributes_stay(npy: Path, values: Any, way: int) -> None:
    again = ways()[way]
    with Doubled(npy, {"of": [1]}, pread=True) as t, again(t) as u:
        assert type(u) is Doubled and u.extra == {"of": [1]} and u is not t
        assert (u[[3, -1]] == 2 * values[[3, -1]]).all() and (u.lookup([3]) == values[[3]]).all()
        assert (u.extra is t.extra) == (again is copy.copy)
        u.close()
        assert not t.closed and (t[[3]] == 2 * values[[3]]).all()
    with Slotted(npy, 5) as s, again(s) as v:
        assert type(v) is Slotted and (v.extra, v.hidden) == (5, [5]) and not hasattr(v, "_unset") and not hasattr(v, "__dict__")
        assert (v[[3]] == values[[3]]).all()
    with Both(npy, 6) as b:
        b.own = b  # of itself, too
        with again(b) as c:
            assert type(c) is Both and (c.extra, c.hidden) == (6, [6]) and (c.own is c or again is copy.copy and c.own is b)
            assert (c[[3]] == values[[3]]).all()
    with Made(npy, 7) as m, again(m) as n:
        assert type(n) is Made and n.extra == 7 and (n[[3]] == values[[3]]).all()
    with garner.Table(npy) as p, again(p) as q:
        assert type(q) is garner.Table and (q[[3]] == values[[3]]).all()


@pytest.mark.parametrize("way", range(len(ways())))
def test_a_closed_table_is_not_opened_by_a_copy(npy: Path, way: int) -> None:
    for t in (garner.Table(npy), Doubled(npy, 1)):
        t.close()
        for given in (t, [t]):
            if given is not t and ways()[way] is copy.copy:
                continue
            with pytest.raises(garner.ClosedError, match="closed; open it anew"):
                ways()[way](given)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_get_the_class(npy: Path, tmp_path: Path, method: str) -> None:
    (tmp_path / "derived.py").write_text(
        textwrap.dedent("""
        import garner

        class Doubled(garner.Table):
            __slots__ = ("by", "__dict__")

            def __getitem__(self, key):
                return super().__getitem__(key) * self.by + self.more
        """)
    )
    script = tmp_path / "main.py"
    script.write_text(
        textwrap.dedent(HEAD)
        + textwrap.dedent(f"""
        from derived import Doubled

        def work(t, i):
            mine = t if t is not None else shared
            assert type(mine) is Doubled and mine.by == 2 and mine.more == 1, type(mine)
            assert (mine[[i, -1]] == values[[i, -1]] * 2 + 1).all()
            return i

        shared = Doubled(path)
        shared.by, shared.more = 2, 1
        if __name__ == "__main__":
            assert work(shared, 3) == 3
            closed = Doubled(path)
            closed.close()
            with multiprocessing.get_context("{method}").Pool(2) as p:
                assert p.starmap_async(work, [(t, i) for t in (shared, None) for i in range(4)]).get(60) == [0, 1, 2, 3] * 2
                try:
                    p.apply_async(work, (closed, 1)).get(60)
                except garner.ClosedError:
                    pass
                else:
                    raise SystemExit("a closed table was opened")
        """)
    )
    status, out, err = ended([sys.executable, str(script), str(npy)])
    assert status == 0, (status, out, err)


def test_what_a_table_says_of_itself_is_read_only(npy: Path) -> None:
    with garner.Table(npy) as t:
        for name in ("shape", "row_bytes", "dtype", "ndim", "closed"):
            was = getattr(t, name)
            with pytest.raises(AttributeError):
                setattr(t, name, was)
            assert getattr(t, name) == was
        assert t.shape == (20_000, 256) and t.row_bytes == 1024 and t[[1]].shape == (1, 256)
        assert np.asarray(t[:2]).nbytes == 2 * t.row_bytes
