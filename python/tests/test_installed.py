"""The package as it is installed: where it lies, what it exports, what it asks of the system."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import garner
from garner import _files, _native, _ops, _table

HERE = Path(garner.__file__).parent
TREE = Path(__file__).parent.parent


def test_it_is_the_wheel() -> None:
    if os.environ.get("GARNER_INSTALLED"):
        assert not HERE.is_relative_to(TREE)
    assert (HERE / "py.typed").exists()


def test_the_library_is_loaded_by_the_first_call() -> None:
    code = "import garner, sys; assert garner._native.lib is None; garner.operators(); assert garner._native.lib is not None"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_exports() -> None:
    found = subprocess.run(["nm", "-D", "--defined-only", str(HERE / "libgarner.so")], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in found.splitlines()}
    header = (HERE / "garner.h").read_text()
    declared = set(re.findall(r"^extern .*?\b(garner_\w+)\(", header, re.M))
    assert exported == declared
    assert len(declared) > 10


def test_glibc() -> None:
    found = subprocess.run(["readelf", "-V", str(HERE / "libgarner.so")], capture_output=True, text=True, check=True).stdout
    versions = [tuple(int(n) for n in v.split(".")) for v in re.findall(r"GLIBC_([\d.]+)", found)]
    assert versions
    if os.environ.get("GARNER_INSTALLED"):
        tag = metadata.distribution("garner-gather").read_text("WHEEL") or ""
        if "manylinux_2_17" in tag:
            assert max(versions) <= (2, 17)
        else:  # from the sdist, for this machine
            assert f"linux_{os.uname().machine}" in tag


@pytest.mark.parametrize("module", [_files, _native, _ops, _table])
def test_doctests(module: Any, doctest_namespace: dict[str, Any]) -> None:
    failed = 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    for t in doctest.DocTestFinder().find(module, globs=dict(doctest_namespace)):
        failed += runner.run(t).failed
    assert failed == 0
    if module in (_files, _ops, _table):
        assert runner.tries > 0


def test_every_public_function_has_a_docstring_in_numpys_form() -> None:
    for name in garner.__all__:
        thing = getattr(garner, name)
        assert thing.__doc__, name
        if callable(thing) and not isinstance(thing, type):
            assert "Returns\n" in thing.__doc__, name


def test_musl_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: "x86_64-linux-musl")
    with pytest.raises(ImportError, match="musl"):
        _native._path()
