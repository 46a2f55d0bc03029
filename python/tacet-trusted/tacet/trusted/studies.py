# SPDX-License-Identifier: Apache-2.0
"""Studies in this process: ask and tell on a store, without a server and without a token."""
from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any, Mapping, Sequence

from tacet._native import Handle
from tacet._table import columns_of, pack
from tacet.errors import InvalidValue
from tacet.model import Model
from tacet.space import Space
from tacet.study import BaseStudy
from tacet.trusted._lib import ffi, lib, native


class Study(BaseStudy, Handle):
    """A study on a store: the same log, ledger and locks as a server's. Several threads may use one; any number of
    processes, servers among them, may work on one store.

    >>> study = Study.create("studies/", name="dose", space=Space(mg=Real(5, 200)), eps=1, delta=1e-6)   # doctest: +SKIP
    >>> s = study.suggest()                                                                               # doctest: +SKIP
    >>> s.observe(0.7)                                                                                    # doctest: +SKIP
    """

    def __init__(self, store: str | Path, name: str) -> None:
        out = ffi.new("tacet_study **")
        native.call(lib.tacet_study_open, out, str(store).encode(), name.encode())
        Handle.__init__(self, out[0], lib.tacet_study_close, "study")
        self.name = name
        self._begin(self.status())
        self._opened_at: int = self._events(2**62)["head"]  # rounds up to this one were taken before

    @classmethod
    def create(
        cls,
        store: str | Path,
        definition: Mapping[str, Any] | None = None,
        *,
        name: str = "study",
        space: Space | None = None,
        context: Space | None = None,
        eps: float = 1.0,
        delta: float = 0.0,
        policy: str | None = None,
        reward: tuple[float, float] = (0.0, 1.0),
        minimize: bool = False,
        rounds: int = 10000,
        candidates: int | None = None,
        person_rounds: int | None = None,
        ticket_seconds: int | None = None,
        open_most: int | None = None,
        features: int | None = None,
        late: int | None = None,
        known: Any = None,
        begin_with: Model | str | Path | None = None,
    ) -> Study:
        """Adds a study to a store, made when missing, and opens it; again with the same definition is harmless.

        A `definition` is that of docs/API.md. Otherwise it is made: over a `space` of points, of which the study
        proposes the best (where something is known already: among `candidates`); with a `context` space each round
        brings what is known of it. `person_rounds` (1) of each person count, `ticket_seconds` (a day) a report is waited for,
        `open_most` (1024) tickets may be open; `features` and `late` are those of docs/API.md.

        What is public already goes in first: `known`, a table with the columns of the space, `value` and perhaps `sd`;
        `begin_with`, a model that another study released, or its file."""
        if definition is None:
            if space is None:
                raise InvalidValue("a study needs a space, or a definition")
            domain: dict[str, Any] = {"space": json.loads(space.to_json())}
            if candidates is not None:
                domain["candidates"] = candidates
            if context is not None:
                domain["context"] = {"space": json.loads(context.to_json())}
            budget = {"eps": eps} if delta == 0 else {"eps": eps, "delta": delta}
            options = {"person_rounds": person_rounds, "ticket_seconds": ticket_seconds, "open_most": open_most,
                       "features": features, "late": late}  # fmt: skip
            definition = {
                "name": name, "trust": "central", "policy": policy or ("fixed" if context is None else "contextual"),
                "direction": "minimize" if minimize else "maximize", "rounds": rounds, "budget": budget,
                "domain": domain, "prior": {"reward": list(reward)},
                "options": {key: value for key, value in options.items() if value is not None},
            }  # fmt: skip
        definition = _with_known(definition, known, begin_with)
        text = json.dumps(definition).encode()
        called = native.returned(lib.tacet_study_create, str(store).encode(), text, len(text))
        return cls(store, called)

    def _text(self, kind: int) -> dict[str, Any]:
        return dict(json.loads(native.returned_by(lib.tacet_study_text, self._pointer, kind)))

    def status(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_STATUS)

    def account(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_LEDGER)

    def _release(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_RELEASE)

    def _best(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_BEST)

    def _model(self) -> dict[str, Any]:
        return self._text(lib.TACET_STUDY_MODEL)

    def _events(self, after: int) -> dict[str, Any]:
        return dict(json.loads(native.returned_by(lib.tacet_study_events, self._pointer, after)))

    def _earlier(self) -> list[dict[str, Any]]:
        return [row for row in self._rounds() if row["number"] <= self._opened_at]

    def _ask(self, round: dict[str, Any]) -> Any:
        raw = ffi.new("tacet_study_round *")
        kept = _fill_round(raw, round) if round else None  # lives until the call is over
        told = native.returned_by(lib.tacet_study_suggest_text, self._pointer, raw, round.get("count", 0))
        del kept
        return json.loads(told)

    def _observe(self, ticket: str, value: float) -> bool:
        taken = ffi.new("tacet_study_taken *")
        native.call(lib.tacet_study_observe, self._pointer, taken, ticket.encode(), value)
        return bool(taken.clipped)

    def _fail(self, ticket: str) -> None:
        native.call(lib.tacet_study_fail, self._pointer, ffi.NULL, ticket.encode())

    def __reduce__(self) -> Any:
        return Handle.__reduce__(self)


def _fill_round(raw: Any, round: dict[str, Any]) -> list[Any]:
    """What a round asks for, in the struct; gives the memory that it points to."""
    kept: list[Any] = []
    context, arms = round.get("context"), round.get("decision_set")
    if isinstance(context, dict):
        kept.append(ffi.new("char[]", json.dumps(context).encode()))
        raw.named = kept[-1]
    elif context is not None:
        kept.append(_numbers(context))
        raw.context, raw.context_dim = kept[-1], len(context)
    if arms is not None:
        kept.append(_numbers([value for arm in arms for value in arm]))
        raw.points, raw.d, raw.count = kept[-1], len(arms[0]), len(arms)
    for name in ("person", "key"):
        if name in round:
            kept.append(ffi.new("char[]", str(round[name]).encode()))
            setattr(raw, name, kept[-1])
    if round.get("count", 1) < 1:
        raise InvalidValue("a count of suggestions is 1 to 64")
    return kept


def _with_known(definition: Mapping[str, Any], known: Any, model: Model | str | Path | None) -> Mapping[str, Any]:
    """The definition with what is public before the study begins."""
    if known is None and model is None:
        return definition
    described = definition["domain"].get("space")
    if described is None:
        raise InvalidValue("what is known already needs a study over a space")
    with tempfile.TemporaryDirectory() as folder:
        settings, kept = ffi.new("tacet_study_known *"), []
        if known is not None:
            kept.append(ffi.new("char[]", str(_csv(Path(folder, "known.csv"), known, described["columns"])).encode()))
            settings.values = kept[-1]
        if model is not None:
            path = Path(folder, "model.json") if isinstance(model, Model) else Path(model)
            if isinstance(model, Model):
                model.save(path)
            kept.append(ffi.new("char[]", str(path).encode()))
            settings.model = kept[-1]
        text = ffi.new("char **", lib.strdup(json.dumps(definition).encode()))
        try:
            native.call(lib.tacet_study_begin_with, text, settings)
            return dict(json.loads(native.text(text[0])))
        finally:
            lib.free(text[0])


def _csv(path: Path, known: Any, columns: list[dict[str, Any]]) -> Path:
    table = columns_of(known)
    if table is None or "value" not in table:
        raise InvalidValue("what is known already is a table with the columns of the space, and `value`")
    more = [{"name": name, "kind": "real"} for name in ("value", "sd") if name in table]
    packed = pack(table, [*columns, *more])
    space = Space.from_json(json.dumps({"columns": columns}))
    width, flat = len(columns) + len(more), packed.flat()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([column["name"] for column in [*columns, *more]])
        for i in range(0, len(flat), width):
            row = space.rows([flat[i : i + len(columns)]])[0]
            writer.writerow([*row.values(), *(repr(float(x)) for x in flat[i + len(columns) : i + width])])
    return path


def _numbers(values: Sequence[float]) -> Any:
    return ffi.new("double[]", [float(value) for value in values])
