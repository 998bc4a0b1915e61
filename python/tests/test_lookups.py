"""Lookups into memory of the caller, and beside a close."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import garner
from garner import _native
from test_process import run

ROWS = 3_000_000  # 24 MB of a result: more than the library copies in one piece


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("lookups") / "rows.npy"
    np.save(path, np.random.default_rng(3).permutation(ROWS))
    with garner.Table(path) as t:
        yield t


@pytest.mark.parametrize("count", [9, 30_000, ROWS])
@pytest.mark.parametrize("by", [0, 7, -5, "half", "last"])
@pytest.mark.parametrize("how", ["plain", "strided", "int8"])
def test_an_out_over_its_numbers_is_refused(rows: Any, count: int, by: Any, how: str) -> None:
    shift = {"half": count // 2, "last": count - 1}.get(by, by)
    memory = np.zeros(2 * count + 20, np.int64)
    out = memory[5 + shift : 5 + shift + count]
    ids: Any
    if how == "plain":
        ids = memory[5 : 5 + count]
    elif how == "strided":
        ids = memory[5 : 5 + count].view(np.int32)[::2]
    else:
        ids = memory[5 : 5 + count].view(np.int8)[-count:]
    if how == "int8" and not np.may_share_memory(ids, out):
        out = memory[5 : 5 + count]
    with pytest.raises(garner.OverlapError, match="memory of its own"):
        rows.lookup(ids, out)
    assert not memory.any()


def test_an_out_beside_its_numbers_is_none_over_them(rows: Any) -> None:
    for count in (0, 9, ROWS // 2):
        memory = np.zeros(2 * count, np.int64)
        assert rows.lookup(memory[:count], memory[count:]) is not None
        memory[count:] = 1
        assert rows.lookup(memory[count:], memory[:count]) is not None


def test_an_out_of_narrow_elements_over_its_numbers(tmp_path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    path = tmp_path / "t.bin"
    path.write_bytes(bytes(range(16)))
    memory = np.zeros(64, np.int8)
    with garner.Table(path, dtype="i4", shape=[-1, 2]) as t, pytest.raises(garner.OverlapError):
        t.lookup(memory[:4], memory[2:10].view(t.dtype).reshape(4, 2))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_no_row_is_read_where_a_number_has_none(rows: Any, dtype: Any) -> None:
    ids = np.arange(ROWS, dtype=dtype)
    ids[-1], ids[-3] = ROWS, -1
    out = np.full(ROWS, -7)
    with pytest.raises(garner.IndexError, match=f"1 more of {ROWS}") as e:
        rows.lookup(ids, out)
    assert (e.value.position, e.value.value, e.value.axis, e.value.dim) == ((ROWS - 3,), -1, 0, ROWS)
    assert (out == -7).all()


def ways(t: garner.Table) -> list[Callable[[], Any]]:
    ids, long = np.arange(4), np.arange(ROWS // 2)
    out = np.empty(4, np.int64)
    return [lambda: t.lookup(ids, out), lambda: t.lookup(ids), lambda: t.lookup(ids[::2]), lambda: t[ids], lambda: t[1], lambda: t.lookup(long), lambda: t.lookup(long[::-1])]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("count", [5, 40_000, ROWS])
def test_numbers_of_every_type_are_one(rows: Any, dtype: str, count: int) -> None:
    """Rows of 40 bytes, of 320 KB, and of more than is copied on this thread; negative ones count from the end of t[ids] alone."""
    want = rows[:]
    ids = np.random.default_rng(count).integers(0, 100, count).astype(dtype)
    assert (rows.lookup(ids) == want[ids]).all() and (rows[ids] == want[ids]).all()
    if dtype[0] == "u":
        return
    ids[count // 2] = -3
    assert (rows[ids] == want[ids]).all()
    out = np.full(count, -7)
    with pytest.raises(garner.IndexError) as e:
        rows.lookup(ids, out)
    assert (e.value.position, e.value.value) == ((count // 2,), -3) and (out == -7).all()
    if dtype == "i8":
        ids[count // 2] = -ROWS - 1
        with pytest.raises(garner.IndexError, match=f"= {-ROWS - 1} is outside"):
            rows[ids]


def test_ranges(rows: Any) -> None:
    want = rows.lookup(np.arange(ROWS))
    some = (None, 0, 1, 7, 9000, ROWS - 5, ROWS, ROWS + 5, -1, -ROWS, -ROWS - 4)
    for start in some:
        for stop in some:
            for step in (1, 2, 17, -1, -8, 5_000_000, -5_000_000):
                got, of = rows[start:stop:step], want[start:stop:step]
                assert got.shape == of.shape and (got == of).all(), (start, stop, step)
    for n in (0, 5, ROWS - 1, -1, -ROWS, np.int8(-3), np.uint64(4)):
        assert type(rows[n]) is np.int64 and rows[n] == want[n]
    for n in (ROWS, -ROWS - 1, np.uint64(ROWS)):
        with pytest.raises(garner.IndexError):
            rows[n]


def test_a_file_that_is_cut_short(tmp_path: Path) -> None:
    """In every length of a lookup: what is copied on this thread, and what a job reads."""
    path = tmp_path / "cut.npy"
    for count in (2, 2000, 20_000):
        np.save(path, np.ones((20_000, 128)))
        with garner.Table(path) as t:
            ids = np.full(count, 19_990)
            assert t[ids].min() == 1
            os.truncate(path, 1 << 20)
            for look in (lambda: t[ids], lambda: t.lookup(ids), lambda: t[19_990 : 19_990 + min(count, 10)], lambda: t[-1], lambda: t[:]):
                with pytest.raises(OSError):
                    look()


def test_a_table_that_is_closed_in_the_middle_of_a_lookup(rows: Any) -> None:
    """The handle goes between the look whether the table is closed, and the lookup."""
    t = pickle.loads(pickle.dumps(rows))
    _native.load().garner_release(t._handle)
    for way in ways(t):
        with pytest.raises(garner.ClosedError, match="table is closed"):
            way()
    t.close()
    for way in ways(t):
        with pytest.raises(garner.ClosedError, match="table is closed"):
            way()


def test_close_beside_lookups(rows: Any) -> None:
    box, seen, ended = [pickle.loads(pickle.dumps(rows))], [0, 0], threading.Event()
    wrong: list[BaseException] = []

    def look(k: int) -> None:
        while not ended.is_set():
            try:
                ways(box[0])[k]()
                seen[0] += 1
            except garner.ClosedError:
                seen[1] += 1
            except BaseException as e:
                wrong.append(e)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=look, args=(k,)) for k in (0, 1, 3, 5)]
        for x in threads:
            x.start()
        for _ in range(40):
            old, box[0] = box[0], pickle.loads(pickle.dumps(rows))
            old.close()
            time.sleep(0.001)
        ended.set()
        for x in threads:
            x.join()
    finally:
        sys.setswitchinterval(before)
        ended.set()
    box[0].close()
    assert not wrong and seen[0] > 0, (wrong[:3], seen)


def test_refused_lookups_leave_nothing(rows: Any) -> None:
    """An error waits in the library until its number is read."""
    t = pickle.loads(pickle.dumps(rows))
    look = ways(t)[0]
    t.close()

    def refuse() -> None:
        for _ in range(60_000):
            try:
                look()
            except garner.ClosedError:
                pass

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def grew() -> int:
        before = resident()
        refuse()
        return resident() - before

    assert any(grew() < 1 << 20 for _ in range(15))  # each was 9 MB; some MB of one are what the engine has not collected yet


@pytest.mark.parametrize("key", ["t.lookup(ids, out)", "t[ids]", "t[:]", "t[strided]", "t[ids, :]"])
def test_close_during_a_lookup(npy: Path, tmp_path: Path, key: str) -> None:
    """The lookup has all its rows, close does not wait, the file is closed with the last lookup, and later calls are refused."""
    run(
        f"""
        path = "{tmp_path}/t.npy"
        count = 200_000
        values = np.ones((count, 256), np.float32)
        np.save(path, values)
        ids = np.random.default_rng(0).integers(0, count, count)
        strided, out, empty, made = np.stack([ids, ids], 1)[:, 0], np.empty((count, 256), np.float32), np.empty, []
        def seen(*given, **named):  # the rows, before the lookup has them
            rows = empty(*given, **named)
            if rows.dtype == out.dtype and rows.nbytes > out.nbytes // 4: rows.fill(0); made.append(rows)
            return rows
        np.empty = seen
        def there(): return made[:2][-1][::100, 0]
        during = 0  # closes that came when some rows were there, and back before all were; one that waits for the lookup never does
        for turn in range(200):
            t, found, begun, early = garner.Table(path), [], threading.Event(), turn % 4 == 3
            made[:] = [out]
            out.fill(0)
            def look():
                begun.set()
                try: found.append({key}.min())
                except garner.ClosedError: found.append("closed")  # not the error, whose frames keep the file
            x = threading.Thread(target=look); x.start()
            begun.wait()
            while not early and not found and not there().any(): pass
            t.close()
            at_work = not there().all()
            try: t.lookup(ids[:3])
            except garner.ClosedError: pass
            else: raise AssertionError
            try: t[ids[:3]]
            except garner.ClosedError: pass
            else: raise AssertionError
            x.join()
            assert found == [1] or early and found == ["closed"], found
            during += at_work and not early
            gc.collect()
            assert not any(path in line for line in open("/proc/self/maps"))
            if during == 3: break
        assert during == 3, during
        """,
        npy,
    )
