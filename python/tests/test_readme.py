# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of both READMEs run as they stand; of python/README.md, the hospital in a thread beside its
consultant."""
from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any, Callable

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import tacet

PYTHON = Path(__file__).resolve().parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (PYTHON / "README.md").read_text(), re.S)
FIRST = re.findall(r"```python\n(.*?)```", (PYTHON.parent / "README.md").read_text(), re.S)


def test_the_first_examples_run_as_they_stand_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        names: dict[str, Any] = {}
        for block in FIRST:
            assert len(block.splitlines()) <= 10
            exec(block, names)
        assert "{'variant': 'B'} 0." in capsys.readouterr().out and abs(names["tuned"].params["x"] - 0.7) < 0.4


def test_the_blocks_run_as_they_stand(
    patients: pd.DataFrame, log: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., tuple[str, str, Path]], capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    server, token, _ = serve()
    names: dict[str, Any] = {"patients": patients, "log": log, "server": server, "token": token, "listen": "127.0.0.1:0",
                             "measure": lambda row: float(patients.effect[row])}  # fmt: skip
    hospital, *others = BLOCKS
    assert "desk.serve" in hospital and len(others) >= 5
    failed: list[BaseException] = []

    def at_the_hospital() -> None:
        try:
            exec(hospital, names)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=at_the_hospital)
    thread.start()
    while thread.is_alive() and not hasattr(names.get("desk"), "url"):
        time.sleep(0.02)
    assert not failed, failed
    names["url"] = names["desk"].url
    try:
        for block in others:
            exec(block, names)
    finally:
        names["desk"].stop()
        thread.join()
        plt.close("all")
    assert not failed, failed
    printed = capsys.readouterr().out
    assert "Best(row=" in printed and "sigma = 3.73064" in printed and "spent eps 3" in printed
    assert isinstance(names["model"], tacet.Model) and len(names["run"].values) == 40
