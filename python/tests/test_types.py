# SPDX-License-Identifier: Apache-2.0
"""Types: both packages pass mypy, strictly."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("package", ["tacet/tacet", "tacet-trusted/tacet/trusted"])
def test_the_package_is_clean(package: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--config-file", str(FOLDER / "mypy.ini"), "--cache-dir", str(tmp_path)]
    done = subprocess.run([*command, package], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
