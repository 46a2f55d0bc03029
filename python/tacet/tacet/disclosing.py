# SPDX-License-Identifier: Apache-2.0
"""Disclosures: what a privacy officer is asked, made from what is public of a release, a model, a study or a tuning."""
from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any, Mapping

from tacet._lib import ffi, lib, native
from tacet.errors import InvalidValue
from tacet.model import Model
from tacet.modeler import Manifest
from tacet.study import BaseStudy


def disclose(
    what: Any,
    *,
    registry: bool = False,
    html: bool = False,
    ledger: str | Path | None = None,
    facts: Mapping[str, str] | None = None,
) -> str:
    """One page for the people whom a release is about, as text or `html`; or, with `registry`, the YAML of an entry in a
    public registry of deployments. `what` is a Manifest (or a Release), a Model, a study, or the mapping that
    `tacet tune --json` prints. `facts` are what only people know (name, data_curators, intended_use, …); what nobody
    said is written as "not stated".

    >>> print(disclose(tacet.load_model("model.json"), facts={"name": "Shop"}))       # doctest: +SKIP
    """
    raw, kept = ffi.new("tacet_disclosure *"), []

    def put(name: str, text: str) -> None:
        kept.append(ffi.new("char[]", text.encode()))
        setattr(raw, name, kept[-1])

    manifest = ffi.new("tacet_manifest *")
    lib.tacet_manifest_init(manifest)
    try:
        if isinstance(what, Model):
            put("model", what.to_json())
        elif isinstance(what, BaseStudy):
            put("study", json.dumps(what.status()))
        elif isinstance(what, Mapping):
            put("tuned", json.dumps(what))
        else:
            stated = what if isinstance(what, Manifest) else getattr(what, "manifest", None)
            if not isinstance(stated, Manifest):
                raise InvalidValue("a disclosure is of a release, a manifest, a model, a study or a tuning")
            text = stated.text.encode()
            native.call(lib.tacet_manifest_decode, manifest, text, len(text))
        raw.manifest = manifest
        put("date", str(datetime.datetime.now(datetime.timezone.utc).date()))
        if facts is not None:
            put("facts", json.dumps(dict(facts)))
        if ledger is not None:
            native.call(lib.tacet_disclose_ledger, raw, str(ledger).encode())
        if registry:
            return native.returned(lib.tacet_disclose_registry, raw)
        return native.returned(lib.tacet_disclose_label, raw, html)
    finally:
        lib.tacet_manifest_clear(manifest)
