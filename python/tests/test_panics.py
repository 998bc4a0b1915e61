"""A panic of the engine is an exception of Python: a library with the tag garnerpanics, which no wheel has, provokes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import garner

SOURCE = Path(os.environ.get("GARNER_SOURCE", Path(__file__).parent.parent))
PACKAGE = Path(garner.__file__).parent

CALLS = {
    "garner_prepare": "garner.gather('onnx.Gather-13', [1], [0])",
    "garner_run": "garner.gather('onnx.Gather-13', [1], [0])",
    "garner_shape": "[garner.gather('onnx.Gather-13', [1, 2], np.arange(n) % 2) for n in (1, 2)]",
    "garner_open": "garner.Table(path)",
    "garner_job_adopt": "garner.Table(path)",
    "garner_lookup_now": "t.lookup([1])",
    "garner_rows": "t[1]",
    "garner_lookup": "t.lookup(long)",
    "garner_call": "garner.operators()",
    "garner_job_wait": "garner.lint(path)",
    "garner_error_read": "garner.Table('/nowhere.npy')",
    "take": "garner.take(a, ids)",
    "a job": "t[long]",
    "a job of a question": "garner.lint(path)",
}
EXPORTS = {"take": "garner_run", "a job": "garner_lookup", "a job of a question": "garner_call"}


@pytest.fixture(scope="module")
def provoking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (SOURCE / "abi" / "provoke.go").exists():
        pytest.skip("the sources of the library are not here; set GARNER_SOURCE to the folder of go.mod")
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: no library that panics can be built")
    root = tmp_path_factory.mktemp("provoking")
    shutil.copytree(PACKAGE, root / "garner", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    command = ["go", "build", "-buildmode=c-shared", "-buildvcs=false", "-tags", "garnerpanics", "-o", str(root / "garner" / "libgarner.so"), "./abi"]
    subprocess.run(command, cwd=SOURCE, check=True, env=dict(os.environ, CGO_ENABLED="1"))
    return root


# Of these no error comes back, so that nothing may happen: the name of the export, a call of it.
QUIET = {
    "garner_free": "garner.operators()",
    "garner_release": "t.close(); garner.Table(path)",
    "garner_job": "t.lookup(long)",
    "garner_forget": "_native.load().garner_forget(_native.NULL)",
    "garner_forget_text": "_native.load().garner_forget_text(_native.ffi.new('char **'))",
    "garner_forget_error": "_native.load().garner_forget_error(_native.ffi.new('garner_error *'))",
    "garner_job_cancel": "_native.load().garner_job_cancel(7)",
    "garner_job_progress": "_native.load().garner_job_progress(7, _native.NULL, _native.NULL)",
}


def ended(provoking: Path, npy: Path, name: str, code: str) -> None:
    script = textwrap.dedent(
        """
        import os, sys
        sys.path.insert(0, sys.argv[2])
        import numpy as np, garner
        from garner import _native
        garner._ops._moved = lambda *given: True  # no take beyond SMALL is left to NumPy
        assert garner.__file__.startswith(sys.argv[2])
        path = sys.argv[1]
        a, ids = np.arange(300_000.0), np.zeros(100_000, int) + 7
        long = ids[:20_000]  # 20 MB of rows, which are a job's
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script + textwrap.dedent(code), str(npy), str(provoking)], env=dict(os.environ, GARNER_PANIC=name), capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", CALLS)
def test_a_panic_is_an_exception(provoking: Path, npy: Path, name: str) -> None:
    export = EXPORTS.get(name, name)
    ended(
        provoking,
        npy,
        export,
        f"""
        if {CALLS[name]!r}[0] == "t": t = garner.Table(path)
        for turn in range(3):
            try:
                {CALLS[name]}
            except garner.InternalError as e:
                assert "provoked in {export}" in str(e) and "report" in str(e), str(e)
            else:
                raise SystemExit("no panic")
        assert garner.take([5, 6], [1]).tolist() == [6]
        """,
    )


@pytest.mark.parametrize("name", QUIET)
def test_a_panic_that_nothing_tells_of_ends_nothing(provoking: Path, npy: Path, name: str) -> None:
    ended(provoking, npy, name, f"t = garner.Table(path)\n{QUIET[name]}\nassert (t if not t.closed else garner.Table(path))[[1]].shape == (1, 256)")


def test_every_export_is_provoked() -> None:
    header = (PACKAGE / "garner.h").read_text()
    declared = {line.split("(")[0].split()[-1].lstrip("*") for line in header.splitlines() if line.startswith("extern ") and "(" in line}
    assert declared - {"garner_abi"} == (set(CALLS) | set(QUIET)) - set(EXPORTS)
