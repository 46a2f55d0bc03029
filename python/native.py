# SPDX-License-Identifier: Apache-2.0
"""Where the two packages find the C libraries when they are built: in the build folder of the clone, or by pkg-config.

`TACET_BUILD` names another build folder (the one of a sanitizer, say). The extension gets the library's folder as its
run path, so it finds the library that it was linked to without LD_LIBRARY_PATH, unless `TACET_NO_RUNPATH` is set.
"""
from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

CLONE = Path(__file__).resolve().parent.parent


def located(library: str) -> dict[str, Any]:
    """Arguments of cffi's set_source for `tacet` or `tacet-trusted`."""
    build = Path(os.environ.get("TACET_BUILD", CLONE / "build")).resolve()
    if (build / "lib" / f"lib{library}.so").exists():
        include, folder = [str(CLONE / "include")], [str(build / "lib")]
    else:
        include, folder = (_paths(library, option) for option in ("--cflags-only-I", "--libs-only-L"))
    flags = os.environ.get("TACET_PYTHON_CFLAGS", "").split()
    return {
        "include_dirs": include,
        "library_dirs": folder,
        "runtime_library_dirs": [] if os.environ.get("TACET_NO_RUNPATH") else folder,
        "libraries": [library],
        "extra_compile_args": ["-O2", *flags],
        "extra_link_args": flags,
    }


def _paths(library: str, option: str) -> list[str]:
    """The folders that pkg-config names, without their -I or -L."""
    try:
        answer = subprocess.run(["pkg-config", option, library], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(
            f"lib{library} is neither in {CLONE / 'build'} nor known to pkg-config: run `make build` in the clone, "
            "or `make install`"
        ) from None
    return [word[2:] for word in answer.stdout.split()]
