"""What the build hook refuses, by name."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

FILE = Path(__file__).parent.parent / "hatch_build.py"


@pytest.fixture
def hook() -> Any:
    pytest.importorskip("hatchling", reason="hatchling is not installed, which the build needs")
    spec = importlib.util.spec_from_file_location("hatch_build", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.CustomBuildHook.__new__(module.CustomBuildHook)
    made.module = module
    return made


@pytest.mark.parametrize("variable", ["SOABI", "HOST_GNU_TYPE"])
def test_musl(hook: Any, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: "x86_64-linux-musl" if name == variable else "")
    with pytest.raises(SystemExit, match="musl.*use an image of glibc"):
        hook.library(FILE.parent, {})


def test_windows(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook.module, "sys", SimpleNamespace(platform="win32"))
    with pytest.raises(SystemExit, match="Windows; use WSL"):
        hook.library(FILE.parent, {})


def test_without_go(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="needs Go 1.26 or later"):
        hook.library(FILE.parent, {})


def test_a_target_that_is_none(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARNER_TARGET", "riscv64")
    monkeypatch.setattr("shutil.which", lambda name: "go")
    with pytest.raises(SystemExit, match="give x86_64 or aarch64"):
        hook.library(FILE.parent, {"artifacts": []})


def test_nothing_that_a_build_makes_is_in_git() -> None:
    if not (FILE.parent.parent / ".git").exists():
        pytest.skip("no checkout")
    kept = subprocess.run(["git", "ls-files", "src/garner"], cwd=FILE.parent, capture_output=True, text=True, check=True).stdout.split()
    assert {Path(name).suffix for name in kept} == {".py", ".typed"}
