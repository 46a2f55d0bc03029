# SPDX-License-Identifier: Apache-2.0
"""The notebooks of python/notebooks run from beginning to end. With TACET_PICTURES their pictures are kept, to look at."""
from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor

import tacet

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


@pytest.mark.parametrize("name", ["hospital", "ab_log", "fleet", "tuning"])
def test_the_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(tacet.__file__).resolve().parent.parent))
    monkeypatch.delenv("TACET_BIN", raising=False)  # nothing needs the command line
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    outputs: list[Any] = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert pictures and any("text/html" in output.get("data", {}) for output in outputs)
    for number, picture in enumerate(pictures):
        if os.environ.get("TACET_PICTURES"):
            path = Path(os.environ["TACET_PICTURES"]) / f"{name}-{number}.png"
            path.write_bytes(base64.b64decode(picture))
