# SPDX-License-Identifier: Apache-2.0
"""The trust boundary at the import: what an installation of tacet alone holds, and what it cannot import."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tacet
from tacet import trusted

PACKAGE = Path(tacet.__file__).parent
BUILD = PACKAGE.parent.parent


def symbols(path: Path, *options: str) -> set[str]:
    listed = subprocess.run(["nm", *options, path], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()}


def test_the_open_extension_has_no_symbol_of_the_gate_or_of_trusted_code() -> None:
    closed: set[str] = set()
    for ring in ("gate", "trusted", "served", "audit"):
        listed = subprocess.run(
            ["nm", "--defined-only", BUILD / "lib" / f"libtacet_{ring}.a"], check=True, capture_output=True, text=True
        ).stdout
        parts = [line.split() for line in listed.splitlines()]
        closed |= {part[2] for part in parts if len(part) == 3 and part[1].isupper()}
    assert len(closed) > 200
    (extension,) = PACKAGE.glob("_open*.so")
    assert "tacet_calibrate_gaussian" in symbols(extension)
    assert not closed & symbols(extension)
    assert not closed & symbols(BUILD / "lib" / "libtacet.so")
    (other,) = (PACKAGE / "trusted").glob("_trusted*.so")
    assert closed & symbols(other)  # the check can find something
    needed = subprocess.run(["ldd", extension], check=True, capture_output=True, text=True).stdout
    assert "libtacet.so" in needed and "libtacet-trusted" not in needed and "libpq" not in needed


def test_whoever_has_tacet_alone_cannot_import_trusted_code(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "tacet", ignore=shutil.ignore_patterns("trusted"))
    code = "import tacet; print(tacet.__version__)\ntry:\n import tacet.trusted\nexcept ImportError: print('refused')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.stdout.split() == [tacet.__version__, "refused"], done.stderr


def test_two_folders_make_one_package(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "a" / "tacet", ignore=shutil.ignore_patterns("trusted"))
    shutil.copytree(PACKAGE / "trusted", tmp_path / "b" / "tacet" / "trusted")
    (tmp_path / "b" / "tacet" / "__init__.py").touch()  # what pkgutil looks for
    code = "import tacet.trusted; print(tacet.trusted.__version__)"
    path = f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.stdout.strip() == trusted.__version__, done.stderr


def test_tacet_imports_neither_numpy_nor_trusted_code() -> None:
    code = "import sys, tacet; print([m for m in ('numpy', 'pandas', 'matplotlib', 'tacet.trusted') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_versions_agree() -> None:
    assert tacet.__version__ == trusted.__version__
    for project in ("tacet", "tacet-trusted"):
        text = (Path(__file__).resolve().parent.parent / project / "pyproject.toml").read_text()
        assert f'version = "{tacet.__version__}"' in text


@pytest.mark.parametrize("project", ["tacet"])
def test_it_installs_from_the_clone_without_a_network(project: str, tmp_path: Path) -> None:
    source = Path(__file__).resolve().parent.parent
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "v"], check=True)
    copy = tmp_path / "clone" / "python"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    (tmp_path / "clone" / "include").symlink_to(source.parent / "include")
    env = {**os.environ, "TACET_BUILD": str(BUILD), "PIP_NO_INDEX": "1"}
    env.pop("PYTHONPATH", None)
    pip = [tmp_path / "v" / "bin" / "pip", "install", "-q", "--no-build-isolation", copy / project]
    subprocess.run(pip, check=True, env=env, capture_output=True)
    code = "import tacet; print(tacet.calibrate.gaussian(eps=1, delta=1e-5)); import tacet.trusted"
    done = subprocess.run([tmp_path / "v" / "bin" / "python", "-c", code], env=env, capture_output=True, text=True)
    assert "sigma = 3.73064" in done.stdout and "No module named 'tacet.trusted'" in done.stderr
