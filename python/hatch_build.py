"""Builds the library for a wheel, and puts the engine's sources into an sdist.

GARNER_TARGET=x86_64 or aarch64 builds for Linux of glibc 2.17 by zig, which the package ziglang has. Without it Go and the C
compiler of this machine build for this machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GLIBC = "2.17"
TARGETS = {"x86_64": "amd64", "aarch64": "arm64"}
SKIPPED = {"beam", "bench", "cmd", "docs", "gathertest", "jobs", "python", "testdata"}  # below the root: no part of the library


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root)
        if self.target_name == "sdist":
            self.sources(here, build_data)
        else:
            self.library(here, build_data)

    def sources(self, here: Path, build_data: dict[str, Any]) -> None:
        """Put the sources of the root module into engine/."""
        root = here / "engine" if (here / "engine").is_dir() else here.parent
        for path in sorted(root.rglob("*")):
            part = path.relative_to(root)
            if not path.is_file() or part.parts[0] in SKIPPED or any(p.startswith(".") or p == "testdata" for p in part.parts):
                continue
            if path.suffix in (".go", ".s", ".h", ".txt", ".json", ".svg", ".tmpl") and not path.name.endswith("_test.go") or part.name in ("go.mod", "go.sum", "LICENSE", "NOTICE"):
                build_data["force_include"][str(path)] = f"engine/{part}"

    def library(self, here: Path, build_data: dict[str, Any]) -> None:
        if "musl" in (sysconfig.get_config_var("SOABI") or "") or "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
            raise SystemExit("garner: this Python is of musl, whose dynamic loader has no room for Go's libraries; use an image of glibc, such as debian or python:slim")
        if sys.platform == "win32":
            raise SystemExit("garner: there is no build for Windows; use WSL")
        if shutil.which("go") is None:
            raise SystemExit("garner: a build needs Go 1.26 or later, and a C compiler, on PATH")
        environment = dict(os.environ, CGO_ENABLED="1")
        name = "libgarner.dylib" if sys.platform == "darwin" else "libgarner.so"
        link = "-s -w -buildid="
        target = os.environ.get("GARNER_TARGET", "")
        if target:
            if target not in TARGETS:
                raise SystemExit(f"garner: GARNER_TARGET={target}; give x86_64 or aarch64")
            name = "libgarner.so"
            zig = f"{sys.executable} -m ziglang cc -target {target}-linux-gnu.{GLIBC}"
            environment.update(GOOS="linux", GOARCH=TARGETS[target], CC=zig)
            low = "manylinux_" + GLIBC.replace(".", "_")
            build_data["tag"] = f"py3-none-{low}_{target}.manylinux2014_{target}"
        else:
            build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if name.endswith(".so"):
            link += f' -extldflags "-Wl,--version-script={here / "abi" / "garner.map"}"'
        out = here / "src" / "garner"
        command = ["go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", str(out / name)]
        if (here / "engine").is_dir():  # in an sdist
            made = here / "build"
            made.mkdir(exist_ok=True)
            (made / "go.mod").write_text((here / "go.mod").read_text().replace("=> ../", "=> ./engine"))
            shutil.copy(here / "go.sum", made / "go.sum")
            command.append(f"-modfile={made / 'go.mod'}")
        subprocess.run([*command, "./abi"], cwd=here, env=environment, check=True)
        header = out / "libgarner.h"
        if header.exists():
            header.unlink()  # what cgo makes; garner.h is the interface
        shutil.copy(here / "abi" / "garner.h", out / "garner.h")
        build_data["pure_python"] = False
        build_data["artifacts"] += [f"src/garner/{name}", "src/garner/garner.h"]
