# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a registry of their own, made-up people, keys, servers that are stopped again."""
from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Callable, Iterator

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import trusted


@pytest.fixture(autouse=True)
def registry(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACET_STATE", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def space() -> tacet.Space:
    return tacet.Space(
        age=tacet.Real(18, 90, unit=5), sex=tacet.Category("F", "M"), dose=tacet.Real(5, 200, unit=10)
    )


@pytest.fixture
def patients() -> pd.DataFrame:
    """400 people who do not exist; `effect` is best around 120 mg, and better for the old."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, 400).astype(float),
            "sex": rng.choice(["F", "M"], 400),
            "dose": rng.integers(5, 201, 400).astype(float),
        }
    )
    frame["effect"] = np.exp(-(((frame.dose - 120) / 50) ** 2)) * (0.5 + frame.age / 180)
    return frame


@pytest.fixture
def log() -> pd.DataFrame:
    """A log in which variant B sells better to the old and A to the young."""
    rng = np.random.default_rng(5)
    age = rng.integers(18, 91, 6000).astype(float)
    variant = rng.choice(["A", "B"], 6000)
    chance = np.where(variant == "B", (age - 18) / 90, 0.45)
    return pd.DataFrame({"variant": variant, "age": age, "bought": rng.random(6000) < chance, "p": 0.5})


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return trusted.desk_keys(tmp_path / "keys").parent


DOSE: dict[str, Any] = {
    "space": tacet.Space(mg=tacet.Real(5, 200)),
    "context": tacet.Space(age=tacet.Real(18, 90), sex=tacet.Category("F", "M")),
}


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: certifying the plan of a contextual study takes seconds."""
    folder = tmp_path_factory.mktemp("store") / "studies"
    trusted.Study.create(folder, name="dose", eps=2, candidates=8, rounds=20000, **DOSE).close()
    local = {
        "name": "taste", "trust": "local", "budget": {"eps": 2}, "rounds": 500,
        "domain": {"points": [[0.0], [0.5], [1.0]]}, "prior": {"lengthscale": 0.3, "reward": [0, 1]},
    }  # fmt: skip
    trusted.Study.create(folder, local).close()
    return folder


@pytest.fixture
def store(tmp_path: Path, made_store: Path) -> Path:
    """A store with a contextual study "dose" and a local one "taste"."""
    return Path(shutil.copytree(made_store, tmp_path / "store"))


@pytest.fixture
def serve(tmp_path: Path, store: Path) -> Iterator[Callable[..., tuple[str, str, Path]]]:
    """Starts a server on the store; gives its address, a token of a role, and the authority's file."""
    running: list[trusted.Server] = []

    def start(role: Any = "owner", study: str | None = None) -> tuple[str, str, Path]:
        keys = tmp_path / "server-keys"
        if not running:
            trusted.server_keys(keys)
            running.append(trusted.Server(store, keys=keys, listen="127.0.0.1:0"))
        return running[0].url, trusted.Store(store).token(role, study=study), keys / "ca.pem"

    yield start
    for server in running:
        server.close()
