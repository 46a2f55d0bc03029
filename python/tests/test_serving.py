# SPDX-License-Identifier: Apache-2.0
"""What used to need the command line: keys, stores, tokens, servers, disclosures."""
from __future__ import annotations

from pathlib import Path
from typing import Callable

import pandas as pd
import pytest

import tacet
from tacet import trusted


def test_keys_in_use_are_not_replaced(tmp_path: Path) -> None:
    ca = trusted.server_keys(tmp_path / "k", hosts=["studies.example.org"])
    assert ca.read_text().startswith("-----BEGIN CERTIFICATE")
    with pytest.raises(tacet.Conflict):
        trusted.server_keys(tmp_path / "k")
    for wrong in ({"days": 0}, {"hosts": []}):
        with pytest.raises(tacet.InvalidValue):
            trusted.server_keys(tmp_path / "wrong", **wrong)  # type: ignore[arg-type]


def test_tokens_are_made_renewed_and_withdrawn(serve: Callable[..., tuple[str, str, Path]], store: Path) -> None:
    url, token, ca = serve("analyst", "dose")
    kept = trusted.Store(store)
    (made,) = kept.tokens()
    assert made["role"] == "analyst" and made["study"] == "dose" and token not in str(kept.tokens())
    assert tacet.Client(url, token=token, ca=ca).study("dose").account()["budget_eps"] == 2
    other = kept.renew(made["id"], days=1)
    assert tacet.Client(url, token=other, ca=ca).study("dose").name == "dose"
    kept.withdraw(made["id"])
    with pytest.raises(tacet.NotFound):
        kept.withdraw(made["id"])
    with pytest.raises(tacet.InvalidValue):
        kept.token("king")  # type: ignore[arg-type]


def test_a_store_is_looked_after(store: Path, tmp_path: Path) -> None:
    kept = trusted.Store(store)
    assert {study["name"] for study in kept.studies()} == {"dose", "taste"}
    with trusted.Study(store, "taste") as taste:
        taste.suggest()
    assert kept.expire("taste") == 1 and kept.expire("taste") == 0
    assert {study["name"] for study in kept.check()} == {"dose", "taste"}
    kept.backup(tmp_path / "copy")
    kept.archive("taste")
    with trusted.Study(store, "taste") as taste, pytest.raises(tacet.StateError, match="archived"):
        taste.suggest(wait=30)
    assert trusted.Store(tmp_path / "copy").studies()[1]["state"] == "active"
    with pytest.raises(tacet.NotFound):
        trusted.Store(tmp_path / "nowhere").studies()


def test_a_server_ends_once(tmp_path: Path, store: Path) -> None:
    trusted.server_keys(tmp_path / "k")
    server = trusted.Server(store, keys=tmp_path / "k", listen="127.0.0.1:0")
    assert "dose" in server._repr_html_()
    with pytest.raises(tacet.Conflict):  # somebody listens there
        trusted.Server(store, keys=tmp_path / "k", listen=server.url.removeprefix("https://"))
    server.close()
    server.close()
    assert "closed" in repr(server)
    with pytest.raises(tacet.NotFound):
        trusted.Server(store, keys=tmp_path / "none", listen="127.0.0.1:0")


def test_disclosures_say_what_is_known_and_nothing_else(
    patients: pd.DataFrame, space: tacet.Space, store: Path, tmp_path: Path
) -> None:
    release = trusted.curate(patients, space=space, eps=3, values_unprotected=True, out=tmp_path / "r", ledger=tmp_path / "l.db")
    label = tacet.disclose(release, ledger=tmp_path / "l.db", facts={"name": "Doses"})
    assert "eps" in label and tacet.disclose(release.manifest, html=True).startswith("<!")
    entry = tacet.disclose(release, registry=True, facts={"name": "Doses"})
    assert "Doses" in entry and "not stated" in entry
    with trusted.Study(store, "dose") as dose:
        assert "eps" in tacet.disclose(dose)
    for wrong in (tmp_path, {"no": "tuning"}):
        with pytest.raises(tacet.Error):
            tacet.disclose(wrong)
