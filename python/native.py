# SPDX-License-Identifier: Apache-2.0
"""Where the two packages find the C libraries when they are built. In this order:

- the build folder that `TACET_BUILD` names (of a sanitizer, of `tools/wheels`), or `build` of the clone;
- what pkg-config knows, of an installed tacet;
- else the library alone, and what `trusted.plan` runs, but no test, is built by cmake from the sources of the clone (or
  of the source archive) and put beside the extension, so that the installed package needs neither.

An extension that is linked to a library of a build folder has that folder as its run path, unless `TACET_NO_RUNPATH`
is set.
"""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
TARGETS = {"tacet": ["tacet_open_library_shared"], "tacet-trusted": ["tacet_trusted_library_shared", "tacet-plan"]}
_built_here: dict[str, Path] = {}


def located(library: str) -> dict[str, Any]:
    """Arguments of cffi's set_source for `tacet` or `tacet-trusted`."""
    sources = _sources()
    build = Path(os.environ.get("TACET_BUILD", (sources or HERE) / "build")).resolve()
    if sources is not None and (build / "lib" / f"lib{library}.so").exists():
        return _arguments(library, [str(sources / "include")], [str(build / "lib")], [str(build / "lib")])
    known = [_paths(library, option) for option in ("--cflags-only-I", "--libs-only-L")]
    if known[0] is not None and known[1] is not None:
        return _arguments(library, known[0], known[1], known[1])
    if sources is None:
        raise SystemExit(f"lib{library} is not known to pkg-config, and its sources are not here")
    folder = _build(library, sources)
    _built_here[library] = folder
    return _arguments(library, [str(sources / "include")], [str(folder)], ["$ORIGIN"])


def beside(library: str, package: str) -> type[build_ext]:
    """The command that builds the extension and, where the library was built for it, puts that beside it."""

    class Build(build_ext):
        def run(self) -> None:
            super().run()
            folder = _built_here.get(library)
            if folder is not None:
                target = Path(self.build_lib, *package.split("."))
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy2(next(folder.glob(f"lib{library}.so.[0-9]")), target)
                for program in TARGETS[library][1:]:
                    shutil.copy2(folder.parent / "bin" / program, target)

    return Build


def _arguments(library: str, include: list[str], folder: list[str], run: list[str]) -> dict[str, Any]:
    flags = os.environ.get("TACET_PYTHON_CFLAGS", "").split()
    return {
        "include_dirs": include,
        "library_dirs": folder,
        "runtime_library_dirs": [] if os.environ.get("TACET_NO_RUNPATH") else run,
        "libraries": [library],
        "extra_compile_args": ["-O2", "-fstack-protector-strong", *flags],
        "extra_link_args": ["-Wl,-z,relro,-z,now", *flags],
    }


def _sources() -> Path | None:
    """The C sources: in a source archive beside this file, in a clone one folder up."""
    folders = (HERE / "c", HERE.parent)
    return next((folder for folder in folders if (folder / "include" / "tacet").is_dir()), None)


def _build(library: str, sources: Path) -> Path:
    folder = sources / "build-python"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    try:
        configure = ["cmake", "-S", str(sources), "-B", str(folder), "-DBUILD_TESTING=OFF", "-DTACET_BENCH=OFF"]
        subprocess.run(configure, **quiet)  # type: ignore[call-overload]
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", str(folder), "-j", jobs, "--target", *TARGETS[library]], **quiet)  # type: ignore[call-overload]
    except FileNotFoundError:
        raise SystemExit(f"lib{library} must be built, and there is no cmake: run tools/setup --with-python") from None
    except subprocess.CalledProcessError:
        raise SystemExit(f"lib{library} could not be built: run tools/setup --with-python for what it needs") from None
    return folder / "lib"


def _paths(library: str, option: str) -> list[str] | None:
    """The folders that pkg-config names, without their -I or -L; None where it does not know the library."""
    try:
        answer = subprocess.run(["pkg-config", option, library], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [word[2:] for word in answer.stdout.split()]
